//! Subspaces of F2^64: spans, sums, intersections and complements of sets of bit vectors.
//!
//! A subspace is stored as its *reduced* basis, sorted by leading (highest) bit: no other basis vector contains the
//! leading bit of a basis vector. The reduced basis is unique, so equal subspaces are equal structures, and
//! [`Subspace::reduce`] picks one representative of every coset.

/// A linear subspace of F2^64 in reduced form.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Subspace {
    basis: Vec<u64>,
}

fn leading(v: u64) -> u32 {
    63 - v.leading_zeros()
}

impl Subspace {
    /// The smallest subspace that contains all `vectors`.
    pub fn span<I: IntoIterator<Item = u64>>(vectors: I) -> Self {
        let mut result = Self::default();
        result.extend(vectors);
        result
    }

    /// The dimension over F2; the subspace has `2^dim` members.
    pub fn dim(&self) -> usize {
        self.basis.len()
    }

    /// The reduced basis in ascending order.
    pub fn basis(&self) -> &[u64] {
        &self.basis
    }

    /// The representative of the coset `v + self` without any leading bit of the basis.
    pub fn reduce(&self, v: u64) -> u64 {
        // No other basis vector contains a leading bit, so the order of the steps does not matter.
        self.basis.iter().fold(v, |v, &b| if v >> leading(b) & 1 == 1 { v ^ b } else { v })
    }

    pub fn contains(&self, v: u64) -> bool {
        self.reduce(v) == 0
    }

    pub fn contains_all<'a, I: IntoIterator<Item = &'a u64>>(&self, vectors: I) -> bool {
        vectors.into_iter().all(|&v| self.contains(v))
    }

    /// Adds a vector. Returns false if it was already a member.
    pub fn insert(&mut self, v: u64) -> bool {
        let v = self.reduce(v);
        if v == 0 {
            return false;
        }
        let lead = leading(v);
        for b in &mut self.basis {
            if *b >> lead & 1 == 1 {
                *b ^= v;
            }
        }
        let at = self.basis.partition_point(|&b| leading(b) < lead);
        self.basis.insert(at, v);
        true
    }

    /// Adds vectors and returns the ones that enlarged the subspace, in order: a basis of the new part.
    pub fn extend<I: IntoIterator<Item = u64>>(&mut self, vectors: I) -> Vec<u64> {
        vectors.into_iter().filter(|&v| self.insert(v)).collect()
    }

    /// The members of both subspaces.
    pub fn intersect(&self, other: &Self) -> Self {
        // Zassenhaus: eliminate on pairs (x, x) for x of self and (y, 0) for y of other. If the first half of a pair
        // vanishes, its second half is a sum of vectors of self that is also a sum of vectors of other.
        let mut rows: Vec<(u64, u64)> = Vec::new();
        let mut result = Self::default();
        let pairs = self.basis.iter().map(|&x| (x, x)).chain(other.basis.iter().map(|&y| (y, 0)));
        for (mut a, mut b) in pairs {
            for &(ra, rb) in &rows {
                if a >> leading(ra) & 1 == 1 {
                    a ^= ra;
                    b ^= rb;
                }
            }
            if a == 0 {
                result.insert(b);
            } else {
                let lead = leading(a);
                let at = rows.partition_point(|&(r, _)| leading(r) > lead);
                rows.insert(at, (a, b));
            }
        }
        result
    }

    /// All members, in the order of binary counting over the basis.
    pub fn members(&self) -> impl Iterator<Item = u64> + '_ {
        (0..1u64 << self.dim()).map(|i| crate::map::combine(&self.basis, i))
    }
}

impl FromIterator<u64> for Subspace {
    fn from_iter<I: IntoIterator<Item = u64>>(vectors: I) -> Self {
        Self::span(vectors)
    }
}
