//! A sparse map with one entry for every four bytes of memory.

use rustc_hash::FxHashMap;
use std::hash::Hash;

/// Granules per page. The accesses of a warp are mostly adjacent, so one lookup serves all of them, and neighboring
/// granules share cache lines.
const PAGE: usize = 16;

/// Holds one `T` for each four-byte granule of a memory `M` that was accessed, and for the rest of its page.
#[derive(Clone, Debug)]
pub(super) struct Shadow<M, T> {
    numbers: FxHashMap<(M, u64), usize>,
    pages: Vec<Box<[T; PAGE]>>,
    /// The page of the last access.
    last: Option<(M, u64, usize)>,
}

// Not derived, because deriving would require `M: Default` and `T: Default`.
impl<M, T> Default for Shadow<M, T> {
    fn default() -> Self {
        Shadow { numbers: FxHashMap::default(), pages: vec![], last: None }
    }
}

impl<M: Copy + Eq + Hash, T: Default> Shadow<M, T> {
    /// The state of a granule, which is `granule * 4` bytes from the start of a memory.
    pub fn at(&mut self, mem: M, granule: u64) -> &mut T {
        let page = granule / PAGE as u64;
        let number = match self.last {
            Some((m, p, number)) if (m, p) == (mem, page) => number,
            _ => {
                let next = self.pages.len();
                let number = *self.numbers.entry((mem, page)).or_insert(next);
                if number == next {
                    self.pages.push(Box::default());
                }
                self.last = Some((mem, page, number));
                number
            }
        };
        &mut self.pages[number][granule as usize % PAGE]
    }

    /// The state of a granule, if its page was accessed.
    pub fn get(&self, mem: M, granule: u64) -> Option<&T> {
        let number = *self.numbers.get(&(mem, granule / PAGE as u64))?;
        Some(&self.pages[number][granule as usize % PAGE])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn granules_are_told_apart() {
        let mut shadow = Shadow::<u8, u64>::default();
        let locations = [0, 1, 2];
        let granules = [0, 1, 15, 16, 17, 255, 1 << 40, u64::MAX / 4];
        for (m, mem) in locations.into_iter().enumerate() {
            for (g, granule) in granules.into_iter().enumerate() {
                *shadow.at(mem, granule) += (10 * m + g) as u64;
            }
        }
        for (m, mem) in locations.into_iter().enumerate() {
            for (g, granule) in granules.into_iter().enumerate() {
                assert_eq!(shadow.get(mem, granule), Some(&((10 * m + g) as u64)));
            }
            assert_eq!((shadow.get(mem, 2), shadow.get(mem, 1 << 20)), (Some(&0), None));
        }
    }
}
