//! Conversion of a tile through a buffer that is much smaller, part by part, with registers in memory.
//!
//! [`plan_shared`] can split a conversion over rounds, but it lists every register of every round, and threads may have
//! nothing to do in some rounds. That is wrong for large tiles, whose registers are arrays that a loop walks. Here each
//! part is the same small conversion, of which only the starting points change.
//!
//! Let the tile's index space have `n` bits, and the number of parts be `2^r`. Choose a subspace `V` of dimension `n -
//! r` and let the parts be its cosets. In every part every thread shall have the same number of registers, on both
//! sides. That holds when `V` is a complement of some `A` in the span of the source's registers and of some `B` in that
//! of the target's, both of dimension `r`. Such a `V` exists whenever both sides have `r` register bits: take common
//! vectors as long as there are some; of further pairs `a, b` put the sum `a + b` into `V`, so that `a` and `b` lead to
//! the same coset; then complete `V` by any vectors that stay clear of `A`, lanes and warps first.
//!
//! A vector `v` outside `V` has one `a(v)` in `A` with `v + a(v)` in `V`. So in part `p` a thread `t` whose lane and
//! warp contribute `t` holds the elements of the part in the registers of `a(t) + a(p)`, plus those that stay in `V`:
//! the number of its first register is a linear function of thread and part, and from there on all threads and parts
//! are alike. Replacing the vectors of lanes and warps by `v + a(v)`, and numbering `V`, gives two layouts of one part,
//! which [`plan_shared`] converts. The parts as the target sees them start at `b(p)` and not at `a(p)`; the difference
//! lies in `V` and goes into the address of the load as the vectors of a block, whose number is the part.
//!
//! *Worked example.* 4 registers a thread hold rows on one side (`register = [r0, r1]`, lanes along columns) and
//! columns on the other. With two parts there is no common vector. `a = r1`, `b = c1`, and `r1 + c1` is in `V`: the
//! first part has the two blocks on the diagonal of the tile, the second the other two. Lanes with `c1` are outside of
//! `V`, so they start at register `a`.

use crate::access::{SharedAccess, SharedLayout, ThreadBases};
use crate::error::{LayoutError, Result};
use crate::layout::{Input, Layout};
use crate::map::{LinearMap, combine};
use crate::shape::Shape;
use crate::subspace::Subspace;
use crate::swizzle::{SharedOptions, plan_shared};

/// Registers that take part in one part of a conversion: register `combine(inner, i)` XOR the first one, which is
/// `combine(parts, part) ^ thread`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PartRegisters {
    pub inner: Vec<u64>,
    pub parts: Vec<u64>,
    pub thread: ThreadBases,
}

impl PartRegisters {
    /// The first register as a function of lane, warp, and the part as the number of the block.
    pub fn first(&self) -> ThreadBases {
        ThreadBases { block: self.parts.clone(), ..self.thread.clone() }
    }

    /// Number of the `i`-th register of a part, relative to the first.
    pub fn register(&self, i: u32) -> u64 {
        combine(&self.inner, i.into())
    }
}

/// A conversion part by part. For each part: barrier, store, barrier, load.
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
    /// Registers in the plans are those of one part. The load's address depends on the part, as the number of the
    /// block.
    pub store: SharedAccess,
    pub load: SharedAccess,
}

impl PartsPlan {
    /// The conversion of a tile of `shape` from `src` to `dst` in parts of at most `options.max_bytes`. No register of
    /// either side may repeat an element of its thread (see [`Layout::squeeze_registers`]), and `src` must hold every
    /// element.
    ///
    /// Errors: those of [`plan_shared`]; registers that repeat; a tile that has blocks; fewer registers than parts.
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

    pub fn parts(&self) -> u64 {
        1 << self.log2
    }
}

/// The division of the index space.
struct Cut {
    /// A basis of A, and of B: the i-th of each lead to the same part.
    a: Vec<u64>,
    b: Vec<u64>,
    /// A basis of V, whose order numbers the elements of a part.
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
        // Common vectors, the last registers first: the first ones are likely to be vectors.
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

        // V: the sums of the pairs, then whatever keeps clear of A, threads first so that most stay where they are.
        let mut clear: Subspace = a.iter().copied().collect();
        let inputs = [Input::Lane, Input::Warp, Input::Register].into_iter();
        let natural = inputs.flat_map(|i| [src, dst].into_iter().flat_map(move |l| l.bases(i))).copied();
        let rest = (0..bits).map(|i| 1u64 << i);
        let v = clear.extend(pairs.into_iter().chain(natural).chain(rest));
        debug_assert_eq!(v.len() + r, bits as usize);
        Ok(Self { a, b, v })
    }

    /// The registers of one side, and its layout of a part. `lift` spans the complement of V in the side's registers.
    fn side(&self, layout: &Layout, lift: &[u64], starts: Option<&[u64]>) -> Result<(PartRegisters, Layout)> {
        // Coordinates: a vector is a sum of V's basis and of `lift`.
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

        // Registers that stay in V: combinations without a part.
        let part_of: Vec<u64> = layout.register().iter().map(|&x| split(x).1).collect();
        let inner = LinearMap::new(part_of, lift.len() as u32)?.kernel();
        let sub = |x: u64| split(x).0;
        let register = inner.iter().map(|&r| sub(registers.apply(r))).collect();
        let of_thread = |bases: &[u64]| -> (Vec<u64>, Vec<u64>) {
            // In the frame of A a vector outside of V is moved by a vector of A: its V part is that of the frame.
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
