//! The first level of the cache as far as local memory uses it: which words of which warp it holds.
//!
//! Lines of global memory lie there too, and push words out: those that are stored as well, as Accel-Sim has it of
//! Volta, where stores go through to L2 and take a line.
//!
//! Local memory is laid out by words: a word of all 32 lanes of a warp is one line. Stores go through to L2 and leave
//! what they wrote here; a load that finds all its bytes here ends here. The line that was used longest ago goes first.

use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Bytes of a lane's word.
const WORD: u32 = 4;

/// A word of a warp.
type Key = (usize, u32);

struct Held {
    age: u64,
    /// Bytes of the word that are here, a bit each.
    bytes: u8,
}

pub(crate) struct LocalCache {
    capacity: usize,
    lines: FxHashMap<Key, Held>,
    by_age: BTreeMap<u64, Key>,
    now: u64,
}

/// What an access of a warp comes to, in lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lines {
    pub all: u32,
    /// Loads: lines that come from L2; stores: lines of which only a part of each word is written.
    pub other: u32,
}

impl LocalCache {
    pub fn new(capacity: usize) -> LocalCache {
        LocalCache { capacity, lines: FxHashMap::default(), by_age: BTreeMap::new(), now: 0 }
    }

    pub fn load(&mut self, warp: usize, offset: u32, bytes: u32) -> Lines {
        self.access(warp, offset, bytes, true)
    }

    pub fn store(&mut self, warp: usize, offset: u32, bytes: u32) -> Lines {
        self.access(warp, offset, bytes, false)
    }

    /// Lines of global memory that come or go: they take their place among the words.
    pub fn others(&mut self, lines: u32) {
        // While no word is here there is nothing to push out.
        for _ in 0..if self.lines.is_empty() { 0 } else { lines } {
            self.now += 1;
            // No warp has such a number: each line is another one.
            let key = (usize::MAX - self.now as usize, 0);
            self.lines.insert(key, Held { age: self.now, bytes: 0 });
            self.by_age.insert(self.now, key);
            self.shrink();
        }
    }

    fn shrink(&mut self) {
        while self.lines.len() > self.capacity {
            let Some((_, oldest)) = self.by_age.pop_first() else { break };
            self.lines.remove(&oldest);
        }
    }

    fn access(&mut self, warp: usize, offset: u32, bytes: u32, load: bool) -> Lines {
        let mut found = Lines::default();
        for word in offset / WORD..=(offset + bytes.max(1) - 1) / WORD {
            let (from, to) = (offset.max(word * WORD), (offset + bytes.max(1)).min((word + 1) * WORD));
            let touched = (from..to).fold(0u8, |mask, at| mask | 1 << (at % WORD));
            self.now += 1;
            let held = self.lines.entry((warp, word)).or_insert(Held { age: 0, bytes: 0 });
            self.by_age.remove(&held.age);
            let here = held.bytes & touched == touched;
            // What comes from L2 is the whole word.
            held.bytes |= if load && !here { (1 << WORD) - 1 } else { touched };
            held.age = self.now;
            self.by_age.insert(self.now, (warp, word));
            found.all += 1;
            found.other += u32::from(if load { !here } else { to - from < WORD });
            self.shrink();
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_what_was_used_last() {
        let mut cache = LocalCache::new(2);
        assert_eq!(cache.store(0, 0, 8), Lines { all: 2, other: 0 });
        assert_eq!(cache.load(0, 0, 8), Lines { all: 2, other: 0 });
        // Another warp's word pushes the oldest out.
        assert_eq!(cache.store(1, 0, 4), Lines { all: 1, other: 0 });
        assert_eq!(cache.load(0, 4, 4).other, 0);
        assert_eq!(cache.load(0, 0, 4).other, 1);
    }

    /// Global memory takes the place of words that were used longer ago.
    #[test]
    fn global_memory_pushes_words_out() {
        let mut cache = LocalCache::new(4);
        cache.others(100);
        cache.store(0, 0, 8);
        cache.others(2);
        assert_eq!(cache.load(0, 0, 4).other, 0);
        cache.others(2);
        assert_eq!((cache.load(0, 4, 4).other, cache.load(0, 0, 4).other), (1, 0));
    }

    #[test]
    fn halves_of_words() {
        let mut cache = LocalCache::new(8);
        assert_eq!(cache.store(0, 2, 2), Lines { all: 1, other: 1 });
        assert_eq!(cache.load(0, 2, 2).other, 0);
        assert_eq!(cache.load(0, 0, 4).other, 1, "the other half has to come from L2");
        assert_eq!(cache.load(0, 0, 2).other, 0);
    }
}
