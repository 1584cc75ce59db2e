//! The table and the pool of tensor maps on the host: which slot a key gets, and what happens when threads race.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering};

use tile_rtlib::MapAnswer;
use tile_rtlib::maps::{ENTRIES, KEY_WORDS, MAP_BYTES, PROBES, SLOT_BYTES, SLOTS, entry_bytes};
use tile_rtlib_tests::Stream;
use tile_rtlib_tests::runtime::{map_claim, map_glance, map_publish, maps_borrow, maps_return};

/// Zeroed memory at an address that is a multiple of the size of a map.
struct Memory(Vec<[u128; 8]>);

impl Memory {
    fn new(bytes: u64) -> Self {
        Memory(vec![[0; 8]; bytes.div_ceil(MAP_BYTES) as usize])
    }
    fn table() -> Self {
        Memory::new(SLOTS * SLOT_BYTES)
    }
    fn address(&self) -> u64 {
        self.0.as_ptr() as u64
    }
}

/// A key of `length` words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key(u32, [u64; KEY_WORDS]);

impl Key {
    fn random(words: &mut Stream, length: usize) -> Self {
        let mut key = [0; KEY_WORDS];
        key[..length].fill_with(|| words.word());
        Key(length as u32, key)
    }
}

/// An answer of the search and the number of its slot.
fn answer(found: u32) -> (MapAnswer, u32) {
    let answers = [MapAnswer::Found, MapAnswer::Claimed, MapAnswer::Full];
    let kind = answers.into_iter().find(|a| *a as u32 == found & 3).expect("an answer");
    (kind, found >> 2)
}

/// Claims the slot of a new key and publishes it.
fn insert(table: &Memory, key: Key) -> u32 {
    let (kind, slot) = answer(map_claim(table.address(), key.0, key.1));
    assert_eq!(kind, MapAnswer::Claimed, "{key:?}");
    map_publish(table.address(), slot, key.0, key.1);
    slot
}

/// What the lanes of a key see together.
fn glance(table: &Memory, key: Key) -> i32 {
    (0..PROBES).map(|lane| map_glance(table.address(), lane, key.0, key.1) as i32).max().expect("lanes")
}

#[test]
fn keys_of_every_length_are_found_again() {
    let mut words = Stream::new(1);
    let table = Memory::table();
    let keys: Vec<Key> = (0..200).map(|i| Key::random(&mut words, 2 + i % (KEY_WORDS - 1))).collect();
    let slots: Vec<u32> = keys.iter().map(|&key| insert(&table, key)).collect();
    assert_eq!(slots.iter().collect::<BTreeSet<_>>().len(), keys.len(), "each key has a slot of its own");
    for (&key, &slot) in keys.iter().zip(&slots) {
        assert_eq!(glance(&table, key), slot as i32);
        assert_eq!(answer(map_claim(table.address(), key.0, key.1)), (MapAnswer::Found, slot));
        for changed in 0..key.0 as usize {
            let mut other = key;
            other.1[changed] ^= 1 << 40;
            assert_eq!(glance(&table, other), -1, "word {changed} of {key:?}");
        }
    }
}

/// A glance passes a slot that is being filled, and lanes beyond the probes look at the same slots again.
#[test]
fn a_glance_never_waits() {
    let mut words = Stream::new(2);
    let table = Memory::table();
    let key = Key::random(&mut words, 5);
    let (kind, slot) = answer(map_claim(table.address(), key.0, key.1));
    assert_eq!((kind, glance(&table, key)), (MapAnswer::Claimed, -1));
    map_publish(table.address(), slot, key.0, key.1);
    let seen: Vec<u32> = (0..32).map(|lane| map_glance(table.address(), lane, key.0, key.1)).collect();
    let expected: Vec<u32> = (0..32).map(|lane| if lane % PROBES == 0 { slot } else { u32::MAX }).collect();
    assert_eq!(seen, expected);
}

/// A key finds room in the slots after its own until other keys have all of them. It wraps around at the end.
#[test]
fn a_full_table_says_so() {
    let mut words = Stream::new(3);
    let table = Memory::table();
    let (mut full, mut wrapped) = (0, false);
    for _ in 0..4 * SLOTS {
        let key = Key::random(&mut words, 4);
        match answer(map_claim(table.address(), key.0, key.1)) {
            (MapAnswer::Claimed, slot) => {
                map_publish(table.address(), slot, key.0, key.1);
                assert_eq!(glance(&table, key), slot as i32);
                wrapped |= slot < PROBES
                    && (0..PROBES).any(|lane| lane > slot && map_glance(table.address(), lane, key.0, key.1) == slot);
            }
            (MapAnswer::Full, _) => {
                assert_eq!(glance(&table, key), -1);
                full += 1;
            }
            (MapAnswer::Found, slot) => panic!("{key:?} is new, but found in {slot}"),
        }
    }
    assert!(full > 0 && wrapped);
}

/// Threads that want the same keys agree on their slots, and exactly one of them fills each.
#[test]
fn racing_threads_agree() {
    const THREADS: usize = 8;
    let mut words = Stream::new(4);
    for round in 0..20 {
        let table = Memory::table();
        let keys: Vec<Key> = (0..64).map(|_| Key::random(&mut words, 6)).collect();
        let claims = AtomicU32::new(0);
        let (address, keys, claims_) = (table.address(), &keys, &claims);
        let slots: Vec<Vec<u32>> = std::thread::scope(|scope| {
            let run = |first: usize| {
                move || {
                    let mut slots = vec![0; keys.len()];
                    for i in 0..keys.len() {
                        let at = (i + first * 8) % keys.len();
                        let key = keys[at];
                        let (kind, slot) = answer(map_claim(address, key.0, key.1));
                        if kind == MapAnswer::Claimed {
                            claims_.fetch_add(1, Ordering::Relaxed);
                            map_publish(address, slot, key.0, key.1);
                        }
                        slots[at] = slot;
                    }
                    slots
                }
            };
            let threads: Vec<_> = (0..THREADS).map(|t| scope.spawn(run(t))).collect();
            threads.into_iter().map(|t| t.join().expect("no panic")).collect()
        });
        assert_eq!(claims.load(Ordering::Relaxed), keys.len() as u32, "round {round}");
        assert!(slots.iter().all(|s| *s == slots[0]), "round {round}");
    }
}

/// No two holders have the same entry of a pool, and a returned entry can be borrowed again.
#[test]
fn entries_are_borrowed_once() {
    for maps in [1u32, 3, 5] {
        let bytes = entry_bytes(maps.into());
        let pool = Memory::new(ENTRIES * bytes);
        let held: BTreeSet<u32> = (0..ENTRIES as u32).map(|cta| maps_borrow(pool.address(), maps, cta)).collect();
        assert_eq!(held, (0..ENTRIES as u32).collect(), "{maps} maps");
        maps_return(pool.address() + 77 * bytes);
        assert_eq!(maps_borrow(pool.address(), maps, 5), 77);
    }
}
