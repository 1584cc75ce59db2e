//! The L1 cache as used by local memory: which words of which warp it holds.
//!
//! Lines of global memory occupy space too and evict words. This includes stored lines, following Accel-Sim's model of
//! Volta, in which stores write through to L2 and allocate a line.
//!
//! Local memory is interleaved by words: one word of all 32 lanes of a warp is one line. Stores write through to L2
//! and leave their data in L1. A load hits if all its bytes are present. Replacement is LRU.

use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Bytes of one lane's word.
const WORD: u32 = 4;

/// Warp and word.
type WordKey = (usize, u32);

struct CachedWord {
    age: u64,
    /// Bytes of the word that are present, one bit each.
    bytes: u8,
}

pub(crate) struct LocalCache {
    capacity: usize,
    lines: FxHashMap<WordKey, CachedWord>,
    by_age: BTreeMap<u64, WordKey>,
    now: u64,
}

/// The lines of a warp's access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lines {
    pub all: u32,
    /// For loads, lines that come from L2; for stores, lines in which each word is written only in part.
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

    /// Allocates lines of global memory, which may evict words.
    pub fn others(&mut self, lines: u32) {
        // Without words in the cache there is nothing to evict.
        for _ in 0..if self.lines.is_empty() { 0 } else { lines } {
            self.now += 1;
            // An unused warp number makes each line distinct.
            let key = (usize::MAX - self.now as usize, 0);
            self.lines.insert(key, CachedWord { age: self.now, bytes: 0 });
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
            let held = self.lines.entry((warp, word)).or_insert(CachedWord { age: 0, bytes: 0 });
            self.by_age.remove(&held.age);
            let here = held.bytes & touched == touched;
            // L2 delivers the whole word.
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
        // A word of another warp evicts the oldest.
        assert_eq!(cache.store(1, 0, 4), Lines { all: 1, other: 0 });
        assert_eq!(cache.load(0, 4, 4).other, 0);
        assert_eq!(cache.load(0, 0, 4).other, 1);
    }

    /// Lines of global memory evict the least recently used words.
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
