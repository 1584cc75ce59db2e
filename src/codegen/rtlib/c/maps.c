// The table of tensor maps, and the pool of maps that kernels borrow.
//
// A slot of the table belongs to the first key that claims it, forever. A key can be in any of TL_PROBES slots from
// its hash on. The state of a slot goes from empty to busy, by the thread that claims it, and from busy to ready, by
// the same thread after it has written the map and the key. Readers acquire what that release published.
//
// An entry of a pool is empty or busy, and is followed by room for the maps of one kernel.
//
// The functions act for one thread. Addresses are integers: kernels keep them in global memory, tests on the host.

#define TL_SLOTS 1024u
// A power of two: the lanes that look at the slots of one key.
#define TL_PROBES 8u
#define TL_MAP_BYTES 128u
// More than the agents that copy at once on any target. A CTA with two such agents has 256 threads and too many
// accumulators for four CTAs to share an SM, so no agent waits for an entry that the other agent of its CTA holds.
#define TL_ENTRIES 2048u
// The longest key: base, static fields, element strides, three words of extents, four strides.
#define TL_KEY_WORDS 10

enum { TL_EMPTY, TL_BUSY, TL_READY };
// Answers of a search: the slot of the key, a slot to fill, or no slot. The number of the slot is in the bits above.
enum { TL_FOUND, TL_CLAIMED, TL_FULL };

typedef tl_u64 tl_pair __attribute__((ext_vector_type(2)));

typedef struct {
  tl_u8 map[TL_MAP_BYTES];
  tl_u32 state;
  tl_u32 unused[3];
  // The words after the key are zero.
  tl_pair key[7];
} tl_slot;

// The words after the first `length` are zero.
typedef struct {
  tl_u32 length;
  tl_u64 words[TL_KEY_WORDS];
} tl_key;

#define TL_KEY_PARAMETERS                                                                                              \
  tl_u32 length, tl_u64 w0, tl_u64 w1, tl_u64 w2, tl_u64 w3, tl_u64 w4, tl_u64 w5, tl_u64 w6, tl_u64 w7, tl_u64 w8,   \
      tl_u64 w9
#define TL_KEY ((tl_key){length, {w0, w1, w2, w3, w4, w5, w6, w7, w8, w9}})

TL_INLINE TL_GLOBAL tl_slot *tl_slot_of(tl_u64 table, tl_u32 number) {
  return (TL_GLOBAL tl_slot *)table + number % TL_SLOTS;
}

// The slot at which the search for a key begins: the highest bits of a sum of independent products. Zeros at the end
// of a key do not change it.
TL_INLINE tl_u32 tl_hash(tl_key key) {
  tl_u64 sum = 0;
  for (int i = 0; i < TL_KEY_WORDS; i++) sum += key.words[i] * (0x9e3779b97f4a7c15u * (2u * (tl_u64)i + 1u));
  return (tl_u32)(sum >> 54);
}

// Whether a slot that is ready has this key. All words are loaded before the first is compared.
TL_INLINE int tl_has_key(const TL_GLOBAL tl_slot *slot, tl_key key) {
  tl_u64 different = 0;
  for (int i = 0; i < TL_KEY_WORDS / 2; i++) {
    if (2 * (tl_u32)i < key.length) {
      tl_pair pair = slot->key[i];
      different |= (pair.x ^ key.words[2 * i]) | (pair.y ^ key.words[2 * i + 1]);
    }
  }
  return different == 0;
}

// Looks at one of the slots of a key, by the lane's number: returns the slot's number if it is ready with the key,
// and -1 otherwise. Never waits.
TL_EXPORT tl_u32 __tileir_map_glance(tl_u64 table, tl_u32 lane, TL_KEY_PARAMETERS) {
  tl_key key = TL_KEY;
  tl_u32 number = (tl_hash(key) + lane % TL_PROBES) % TL_SLOTS;
  TL_GLOBAL tl_slot *slot = tl_slot_of(table, number);
  if (tl_load_acquire(&slot->state) != TL_READY) return -1u;
  return tl_has_key(slot, key) ? number : -1u;
}

// Finds the slot of a key, or claims one for it. Waits for a busy slot: its kernel is running.
TL_EXPORT tl_u32 __tileir_map_claim(tl_u64 table, TL_KEY_PARAMETERS) {
  tl_key key = TL_KEY;
  tl_u32 first = tl_hash(key);
  TL_ROLLED for (tl_u32 probe = 0; probe < TL_PROBES; probe++) {
    tl_u32 number = (first + probe) % TL_SLOTS;
    TL_GLOBAL tl_slot *slot = tl_slot_of(table, number);
    for (tl_u32 state; (state = tl_load_acquire(&slot->state)) != TL_READY;) {
      if (state == TL_EMPTY && tl_swap_relaxed(&slot->state, TL_EMPTY, TL_BUSY) == TL_EMPTY) {
        return number << 2 | TL_CLAIMED;
      }
    }
    if (tl_has_key(slot, key)) return number << 2 | TL_FOUND;
  }
  return TL_FULL;
}

// Publishes a claimed slot, after its map has been written.
TL_EXPORT void __tileir_map_publish(tl_u64 table, tl_u32 number, TL_KEY_PARAMETERS) {
  tl_key key = TL_KEY;
  TL_GLOBAL tl_slot *slot = tl_slot_of(table, number);
  for (int i = 0; i < TL_KEY_WORDS / 2; i++) {
    if (2 * (tl_u32)i < key.length) slot->key[i] = (tl_pair){key.words[2 * i], key.words[2 * i + 1]};
  }
  tl_store_release(&slot->state, TL_READY);
}

TL_INLINE TL_GLOBAL tl_u32 *tl_entry_of(tl_u64 pool, tl_u32 maps, tl_u32 number) {
  return (TL_GLOBAL tl_u32 *)(pool + (tl_u64)number * (TL_MAP_BYTES * (maps + 1)));
}

// Borrows an entry of a pool with room for `maps` maps, and returns its number. The search starts at a place that
// differs between CTAs.
TL_EXPORT tl_u32 __tileir_maps_borrow(tl_u64 pool, tl_u32 maps, tl_u32 cta) {
  tl_u32 number = (cta * 0x9e3779b1u >> 16) % TL_ENTRIES;
  while (tl_swap_acquire(tl_entry_of(pool, maps, number), TL_EMPTY, TL_BUSY) != TL_EMPTY) {
    number = (number + 1) % TL_ENTRIES;
  }
  return number;
}

// Returns a borrowed entry, when the copies by its maps are done.
TL_EXPORT void __tileir_maps_return(tl_u64 entry) { tl_store_release((TL_GLOBAL tl_u32 *)entry, TL_EMPTY); }
