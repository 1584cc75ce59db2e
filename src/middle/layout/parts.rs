//! Conversion of a tile through a buffer that is much smaller than the tile, one part at a time, with the registers
//! in memory.
//!
//! [`plan_shared`] can also divide a conversion into rounds, but it lists every register of every round, and threads
//! may be idle in some rounds. That does not suit large tiles, which keep their registers in arrays that a loop
//! walks. Here every part is the same small conversion, and only the starting points change.
//!
//! Let the tile's index space have `n` bits and let there be `2^r` parts. Choose a subspace `V` of dimension `n - r`
//! and let the parts be its cosets. In every part, every thread must have the same number of registers on both sides.
//! This holds if `V` is a complement of some `A` in the span of the source's registers, and of some `B` in the span
//! of the target's registers, both of dimension `r`. Such a `V` exists whenever both sides have `r` register bits.
//! Take vectors common to both sides as long as there are some. For each further pair `a, b`, put the sum `a + b`
//! into `V`, so that `a` and `b` select the same coset. Then complete `V` with any vectors that are independent of
//! `A`, lanes and warps first.
//!
//! Every vector `v` outside `V` has exactly one `a(v)` in `A` with `v + a(v)` in `V`. In part `p`, a thread whose
//! lane and warp contribute `t` therefore holds its elements in the registers `a(t) + a(p)`, combined with the
//! registers in `V`. The number of its first register is a linear function of thread and part, and from there on all
//! threads and parts are alike. Replacing the lane and warp vectors by `v + a(v)`, and numbering `V`, gives two
//! layouts of one part, which [`plan_shared`] converts. For the target, the parts start at `b(p)` instead of `a(p)`.
//! The difference is in `V`; it goes into the address of the load, as the block vectors of a layout in which the
//! block number is the part.
//!
//! *Worked example.* Each thread has 4 registers, which hold rows on one side (`register = [r0, r1]`, lanes along
//! columns) and columns on the other. The two sides do not have a common vector. For two parts, take `a = r1` and `b
//! = c1`, and put `r1 + c1` into `V`. The first part has the two blocks on the diagonal of the tile, the second part
//! the other two. Lanes with `c1` are outside `V`, so they start at register `a`.

use crate::access::{SharedAccess, SharedLayout, ThreadBases};
use crate::error::{LayoutError, Result};
use crate::layout::{Input, Layout};
use crate::map::{LinearMap, combine};
use crate::shape::Shape;
use crate::subspace::Subspace;
use crate::swizzle::{SharedOptions, plan_shared};

/// The registers of one part of a conversion. Register `i` of the part is `combine(inner, i)` XOR the first register,
/// which is `combine(parts, part) ^ thread`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PartRegisters {
    pub inner: Vec<u64>,
    pub parts: Vec<u64>,
    pub thread: ThreadBases,
}

impl PartRegisters {
    /// The first register, as a function of lane, warp and part; the part takes the role of the block number.
    pub fn first(&self) -> ThreadBases {
        ThreadBases { block: self.parts.clone(), ..self.thread.clone() }
    }

    /// The number of the `i`-th register of a part, relative to the first.
    pub fn register(&self, i: u32) -> u64 {
        combine(&self.inner, i.into())
    }
}

/// A conversion in parts. For each part: barrier, store, barrier, load.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PartsPlan {
    /// log2 of the number of parts.
    pub log2: u32,
    /// The order of a part's elements in the buffer.
    pub layout: SharedLayout,
    /// Size of the buffer in bytes.
    pub bytes: u64,
    pub source: PartRegisters,
    pub target: PartRegisters,
    /// The register numbers in both plans count within one part. The address of the load depends on the part, which
    /// takes the role of the block number.
    pub store: SharedAccess,
    pub load: SharedAccess,
}

impl PartsPlan {
    /// Plans the conversion of a tile of `shape` from `src` to `dst` in parts of at most `options.max_bytes`. No
    /// register of either side may repeat an element of its thread (see [`Layout::squeeze_registers`]), and `src`
    /// must hold every element.
    ///
    /// Errors: as in [`plan_shared`]; also registers that repeat elements, layouts with block bits, and fewer
    /// registers than parts.
    pub fn new(src: &Layout, dst: &Layout, shape: &Shape, options: &SharedOptions) -> Result<Self> {
        src.validate(shape)?;
        dst.to_map(shape)?;
        if !src.block().is_empty() || !dst.block().is_empty() {
            return Err(LayoutError::CrossBlock);
        }
        let eb = crate::access::elem_log2_bytes(options.elem_bits)?;
        let max = options.max_bytes.max(1).ilog2();
        if max < eb {
            return Err(LayoutError::ScratchTooSmall { needed: 1 << eb, available: options.max_bytes });
        }
        let log2 = (shape.bits() + eb).saturating_sub(max);
        let cut = Cut::new(src, dst, shape.bits(), log2 as usize)?;
        let (source, sub_source) = cut.side(src, &cut.a, None)?;
        let starts: Vec<u64> = cut.a.iter().zip(&cut.b).map(|(a, b)| a ^ b).collect();
        let (target, sub_target) = cut.side(dst, &cut.b, Some(&starts))?;
        let part = Shape::from_log2(vec![shape.bits() - log2])?;
        let whole = SharedOptions { max_bytes: u64::MAX, ..*options };
        let plan = plan_shared(&sub_source, &sub_target, &part, &whole)?;
        Ok(Self { log2, layout: plan.layout, bytes: plan.bytes, source, target, store: plan.store, load: plan.load })
    }

    /// The number of parts.
    pub fn parts(&self) -> u64 {
        1 << self.log2
    }
}

/// The division of the index space.
struct Cut {
    /// Bases of A and B. The i-th vectors of both select the same part.
    a: Vec<u64>,
    b: Vec<u64>,
    /// A basis of V. Its order numbers the elements of a part.
    v: Vec<u64>,
}

impl Cut {
    fn new(src: &Layout, dst: &Layout, bits: u32, r: usize) -> Result<Self> {
        let span = |l: &Layout| Subspace::span(l.register().iter().copied());
        let (from, to) = (span(src), span(dst));
        for (layout, space) in [(src, &from), (dst, &to)] {
            let expected = layout.register().len() as u64;
            if space.dim() as u64 != expected {
                let what = "registers that repeat no element of their thread";
                return Err(LayoutError::Mismatch { what, expected, found: space.dim() as u64 });
            }
            if space.dim() < r {
                let what = "register bits for the number of parts";
                return Err(LayoutError::Mismatch { what, expected: r as u64, found: space.dim() as u64 });
            }
        }
        // Common vectors, the last registers first, because the first ones are likely to form vector accesses.
        let common = from.intersect(&to);
        let last = |l: &Layout| l.register().iter().rev().copied().filter(|&v| common.contains(v)).collect::<Vec<_>>();
        let mut chosen = Subspace::default();
        let mut shared = chosen.extend(last(src).into_iter().chain(common.basis().iter().rev().copied()));
        shared.truncate(r);
        let missing = r - shared.len();
        let beyond = |l: &Layout| -> Vec<u64> {
            let mut seen = common.clone();
            let mut found = seen.extend(l.register().iter().copied());
            found.reverse();
            found.truncate(missing);
            found
        };
        let (own_a, own_b) = (beyond(src), beyond(dst));
        let (mut a, mut b) = (shared.clone(), shared);
        let pairs: Vec<u64> = own_a.iter().zip(&own_b).map(|(x, y)| x ^ y).collect();
        a.extend(own_a);
        b.extend(own_b);

        // V: the sums of the pairs, then vectors that are independent of A. Threads come first, so that most stay
        // where they are.
        let mut clear: Subspace = a.iter().copied().collect();
        let inputs = [Input::Lane, Input::Warp, Input::Register].into_iter();
        let natural = inputs.flat_map(|i| [src, dst].into_iter().flat_map(move |l| l.bases(i))).copied();
        let rest = (0..bits).map(|i| 1u64 << i);
        let v = clear.extend(pairs.into_iter().chain(natural).chain(rest));
        debug_assert_eq!(v.len() + r, bits as usize);
        Ok(Self { a, b, v })
    }

    /// Returns the registers of one side and its layout of a part. `lift` spans the complement of V in the side's
    /// registers.
    fn side(&self, layout: &Layout, lift: &[u64], starts: Option<&[u64]>) -> Result<(PartRegisters, Layout)> {
        // Coordinates in a frame of V's basis and `lift`.
        let columns: Vec<u64> = self.v.iter().chain(lift).copied().collect();
        let frame = LinearMap::new(columns, 64)?;
        let n = self.v.len();
        let split = |x: u64| {
            let c = frame.solve(x).unwrap_or_default();
            (c & crate::map::low_mask(n as u32), c.checked_shr(n as u32).unwrap_or(0))
        };
        let registers = LinearMap::new(layout.register().to_vec(), 64)?;
        let number = |x: u64| registers.solve(x).unwrap_or_default();
        let parts: Vec<u64> = lift.iter().map(|&x| number(x)).collect();

        // Registers in V: combinations without a part.
        let part_of: Vec<u64> = layout.register().iter().map(|&x| split(x).1).collect();
        let inner = LinearMap::new(part_of, lift.len() as u32)?.kernel();
        let sub = |x: u64| split(x).0;
        let register = inner.iter().map(|&r| sub(registers.apply(r))).collect();
        let of_thread = |bases: &[u64]| -> (Vec<u64>, Vec<u64>) {
            // A vector of A moves a vector outside V into V, so the V part is the one that the frame gives.
            bases.iter().map(|&x| split(x)).map(|(v, p)| (v, combine(&parts, p))).unzip()
        };
        let (lane, lane_first) = of_thread(layout.lane());
        let (warp, warp_first) = of_thread(layout.warp());
        let block = starts.unwrap_or_default().iter().map(|&x| sub(x)).collect();
        let thread = ThreadBases { lane: lane_first, warp: warp_first, block: Vec::new() };
        let whole = Layout::new(register, lane, warp, block)?;
        Ok((PartRegisters { inner, parts, thread }, whole))
    }
}
