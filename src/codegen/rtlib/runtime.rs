//! The functions of the library that kernels share data through, or that print. They are not mathematical: they have
//! side effects, and addresses are integers.

use crate::registry::Type;

/// A run-time function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Runtime {
    /// `(table, lane, key)`: looks at one slot of the table of tensor maps, by the lane's number. Returns the number of
    /// the slot if it is ready with the key, and -1 otherwise.
    MapGlance,
    /// `(table, key)`: finds the slot of a key or claims one for it. Returns its number times four plus a
    /// [`MapAnswer`].
    MapClaim,
    /// `(table, slot, key)`: publishes a claimed slot whose map is written.
    MapPublish,
    /// `(pool, maps, cta)`: borrows an entry for `maps` maps. Returns its number.
    MapsBorrow,
    /// `(entry)`: returns a borrowed entry.
    MapsReturn,
    /// `(format, buffer, texts, stride, closed, rank, index, value)`: prints an element of a tile and the brackets
    /// before it.
    PrintElement,
    /// `(format, buffer, word, first, thread, bases, fields, rank)`: prints the coordinates of the registers whose bits
    /// are set in a word.
    PrintFailures,
}

/// How a search in the table of tensor maps ended: the low two bits of the result of [`Runtime::MapClaim`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapAnswer {
    /// The slot has the map.
    Found = 0,
    /// The caller must write the map and publish the slot.
    Claimed = 1,
    /// All slots of the key belong to other keys.
    Full = 2,
}

/// The sizes of the table of tensor maps and of the pools, as `c/maps.c` has them.
pub mod maps {
    /// The number of slots of the table.
    pub const SLOTS: u64 = 1024;
    /// The size of a slot in bytes. It begins with the map.
    pub const SLOT_BYTES: u64 = 256;
    /// The number of slots that may hold a key: a power of two.
    pub const PROBES: u32 = 8;
    /// The largest number of words of a key. A key is passed as its length and this many words, the last ones zero.
    pub const KEY_WORDS: usize = 10;
    /// The size of a map in bytes.
    pub const MAP_BYTES: u64 = 128;
    /// The number of entries of a pool.
    pub const ENTRIES: u64 = 2048;

    /// Returns the size of a pool entry for `maps` maps, in bytes: its state, then the maps.
    pub const fn entry_bytes(maps: u64) -> u64 {
        MAP_BYTES * (maps + 1)
    }
}

impl Runtime {
    /// Every run-time function.
    pub const ALL: [Runtime; 7] = {
        use Runtime::*;
        [MapGlance, MapClaim, MapPublish, MapsBorrow, MapsReturn, PrintElement, PrintFailures]
    };

    /// The name in the bitcode.
    pub fn symbol(self) -> String {
        let name = match self {
            Runtime::MapGlance => "map_glance",
            Runtime::MapClaim => "map_claim",
            Runtime::MapPublish => "map_publish",
            Runtime::MapsBorrow => "maps_borrow",
            Runtime::MapsReturn => "maps_return",
            Runtime::PrintElement => "print_element",
            Runtime::PrintFailures => "print_failures",
        };
        format!("{}{name}", crate::PREFIX)
    }

    /// Returns the types of the parameters and of the result.
    pub fn signature(self) -> (Vec<Type>, Option<Type>) {
        use Type::{I32, I64};
        let with_key = |mut first: Vec<Type>| {
            first.push(I32);
            first.extend([I64; maps::KEY_WORDS]);
            first
        };
        match self {
            Runtime::MapGlance => (with_key(vec![I64, I32]), Some(I32)),
            Runtime::MapClaim => (with_key(vec![I64]), Some(I32)),
            Runtime::MapPublish => (with_key(vec![I64, I32]), None),
            Runtime::MapsBorrow => (vec![I64, I32, I32], Some(I32)),
            Runtime::MapsReturn => (vec![I64], None),
            Runtime::PrintElement => (vec![I64, I64, I64, I32, I64, I32, I32, I64], None),
            Runtime::PrintFailures => (vec![I64, I64, I32, I32, I32, I64, I64, I32], None),
        }
    }
}
