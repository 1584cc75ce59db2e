//! Layout conversion through shared memory with an optimal swizzle.
//!
//! The conversion stores the tile from layout `src`, waits at a barrier, and loads it into layout `dst`. The order of
//! the elements in shared memory is a free choice: any basis of the tile's index space will do. If an element takes
//! `e` bytes, a 128-byte row of all banks holds `2^q` elements with `q = 7 - log2(e)`. The basis has three parts,
//! from low to high offset bits:
//!
//! * `low`: the elements that one instruction moves. Vectors in the register spans of both sides make both accesses
//!   wide. A side with registers that cover only a prefix of `low` uses narrower vectors. For `ldmatrix`, `low` is a
//!   matrix row. `low` covers at least one 4-byte word, because accesses within a word never conflict.
//! * `bank`: completes `low` to `q` bits.
//! * `segment`: the rest. Two elements that differ only in their segment part are in the same bank.
//!
//! One phase of an access touches the elements `W`, the span of the phase's lanes, the vector and the word: at most
//! `q` dimensions. The phase is free of conflicts if `segment` and `W` intersect only in zero. `segment` should
//! therefore be a common complement of `W` of the store and `W'` of the load. Two subspaces of equal dimension have a
//! common complement over any field. Take all vectors outside `W + W'`. If that is not enough, take sums `a + b` of
//! an `a` in `W` but not `W'` and a `b` in `W'` but not `W`. A combination of such sums that is in `W` would also
//! have its `b` part in `W`, so it is zero. The sums `a + b` are the familiar XOR swizzle.
//!
//! Both accesses can therefore be free of conflicts whenever `low` is common to both sides. If one side uses wider
//! vectors than the other, the sums may need an `a` inside the vector. A lane of the wide side with that sum in its
//! index would then find its vector rotated, so narrower vectors must be used. `low` has to be chosen case by case.
//! All plausible candidates are built and compared by instructions and shared-memory wavefronts. For narrow elements
//! that share a word in shared memory but not in registers, the instructions that rearrange them are counted as well.
//!
//! *Worked example.* Transpose a 32x32 tile of 4-byte elements. Leaving warps aside, the store has its lanes on the
//! column bits `c` and the load has them on the row bits `r`. No register is common, so `low` is empty and `q = 5`.
//! `W = span(c)` and `W' = span(r)`. Nothing is outside `W + W'`, so `segment = {c0 + r0, ..., c4 + r4}` and `bank =
//! c`. Element `(r, c)` is stored at row `r`, bank `c ^ r`: the textbook swizzle.
//!
//! If the buffer is smaller than the tile, the tile passes through it in rounds. The round number is a linear
//! function of the element. It is chosen to vanish on the vectors, then on the lanes, then on the warps of both sides
//! if possible, so that a round is a subset of every thread's registers.

use crate::access::{Direction, Matrices, SharedAccess, SharedLayout, elem_log2_bytes};
use crate::bank::{PHASE_LOG2, WORD_LOG2, phase_lane_bits};
use crate::error::{LayoutError, Result};
use crate::layout::{Input, Layout};
use crate::shape::Shape;
use crate::subspace::Subspace;

/// A conversion through shared memory.
///
/// For each round: store, barrier, load, and a barrier before the next round overwrites the buffer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SharedPlan {
    /// The order of the elements. Offset bits beyond the buffer's size number the rounds.
    pub layout: SharedLayout,
    /// Size of the buffer in bytes. The buffer must be aligned to 128 bytes, or to its size if it is smaller.
    pub bytes: u64,
    pub rounds: u32,
    pub store: SharedAccess,
    pub load: SharedAccess,
}

impl SharedPlan {
    /// Required alignment of the buffer in bytes.
    pub fn alignment(&self) -> u64 {
        self.bytes.clamp(1, 128)
    }

    /// Issue slots plus shared-memory wavefronts, per warp.
    pub fn cost(&self) -> u64 {
        self.store.cost() + self.load.cost()
    }
}

/// The capabilities of the target and the limit on shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SharedOptions {
    /// Size of an element in bits; a power of two. Elements below 8 bits are stored as bytes.
    pub elem_bits: u32,
    /// The largest buffer, in bytes.
    pub max_bytes: u64,
    /// The matrices that `ldmatrix` may load.
    pub ldmatrix: Matrices,
    /// Whether `stmatrix` may be used (sm_90 and later).
    pub stmatrix: bool,
    /// Elements that must be contiguous in shared memory as they are along a dimension of the tile, because one
    /// asynchronous copy moves them together.
    pub run: Option<Run>,
}

/// `2^log2` neighbors along the dimension with a field that starts at bit `low` of the tile's index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Run {
    pub low: u32,
    pub log2: u32,
}

impl SharedOptions {
    /// Options without matrix instructions and without a limit on the buffer.
    pub fn new(elem_bits: u32) -> Self {
        Self { elem_bits, max_bytes: u64::MAX, ldmatrix: Matrices::None, stmatrix: false, run: None }
    }
}

/// One side of a conversion: the store or the load.
struct Side<'a> {
    layout: &'a Layout,
    registers: Subspace,
}

/// The kind of access, which determines the part of the index space that one phase touches.
#[derive(Clone, Copy)]
enum Form {
    Vector,
    Matrix,
    MatrixTransposed,
    BytesTransposed,
}

impl<'a> Side<'a> {
    fn new(layout: &'a Layout) -> Self {
        Self { layout, registers: layout.register().iter().copied().collect() }
    }

    /// The elements of a block, without the block's own part.
    fn span(&self) -> Subspace {
        let inputs = [Input::Register, Input::Lane, Input::Warp];
        inputs.into_iter().flat_map(|i| self.layout.bases(i)).copied().collect()
    }

    /// The elements along a matrix row, if the layout can be the fragment of a matrix instruction.
    fn matrix_row(&self, eb: u32, transposed: bool) -> Option<Vec<u64>> {
        let lane = self.layout.lane();
        let row: Vec<u64> = if transposed {
            // A word consists of two registers.
            if eb != 1 || self.layout.register().is_empty() {
                return None;
            }
            lane[2..5].to_vec()
        } else {
            let word = WORD_LOG2.checked_sub(eb)? as usize;
            self.layout.register().get(..word)?.iter().chain(&lane[..2]).copied().collect()
        };
        (Subspace::span(row.iter().copied()).dim() == row.len()).then_some(row)
    }

    /// The elements along a row of a matrix of bytes that `ldmatrix` transposes: lanes, and one of the registers that
    /// follow the word. Returns the possible rows.
    fn byte_rows(&self, eb: u32) -> Vec<Vec<u64>> {
        let (lane, words) = (self.layout.lane(), self.layout.register().get(WORD_LOG2 as usize..).unwrap_or_default());
        let rows = words.iter().filter(|_| eb == 0).map(|&r| lane[2..5].iter().copied().chain([r]).collect());
        rows.filter(|row: &Vec<u64>| Subspace::span(row.iter().copied()).dim() == row.len()).collect()
    }

    fn phase(&self, low: &[u64], word: &[u64], eb: u32, form: Form) -> Subspace {
        let lane = self.layout.lane();
        let mut phase: Subspace = word.iter().copied().collect();
        match form {
            Form::Vector => {
                let vector = low.iter().take_while(|&&v| self.registers.contains(v)).count();
                phase.extend(low[..vector].iter().copied());
                let lanes = phase_lane_bits(1 << (eb + vector as u32).min(4)) as usize;
                phase.extend(lane[..lanes].iter().copied());
            }
            Form::Matrix => {
                phase.extend(low.iter().chain(&lane[2..5]).copied());
            }
            Form::MatrixTransposed => {
                phase.extend(low.iter().chain(&self.layout.register()[..1]).chain(&lane[..2]).copied());
            }
            Form::BytesTransposed => {
                phase.extend(low.iter().chain(&self.layout.register()[..2]).chain(&lane[..1]).copied());
            }
        }
        phase
    }
}

/// Extends `low` by the reduced basis of `more`, up to `limit` vectors.
fn extended(low: &[u64], more: &Subspace, limit: usize) -> Vec<u64> {
    let mut seen: Subspace = low.iter().copied().collect();
    let mut result = low.to_vec();
    result.extend(seen.extend(more.basis().iter().copied()));
    result.truncate(limit);
    result
}

/// Plans the conversion of a tile from `src` to `dst` through shared memory.
///
/// Errors: vectors outside the tile, elements that `src` and `dst` hold in different blocks of the cluster, an
/// element size that is not a power of two, a limit below the size of one element, or a run that is not in the tile
/// or is longer than a round.
pub fn plan_shared(src: &Layout, dst: &Layout, shape: &Shape, options: &SharedOptions) -> Result<SharedPlan> {
    src.to_map(shape)?;
    dst.to_map(shape)?;
    let eb = elem_log2_bytes(options.elem_bits)?;
    let (from, to) = (Side::new(src), Side::new(dst));
    let space = from.span();
    let block = |l: &Layout, i: usize| l.block().get(i).copied().unwrap_or(0);
    let blocks = src.block().len().max(dst.block().len());
    let local = (0..blocks).all(|i| space.contains(block(src, i) ^ block(dst, i)));
    if !local || !space.contains_all(to.span().basis()) {
        return Err(LayoutError::CrossBlock);
    }
    let elements = space.dim() as u32;
    let max = options.max_bytes.max(1).ilog2();
    if options.max_bytes == 0 || max < eb {
        return Err(LayoutError::ScratchTooSmall { needed: 1 << eb, available: options.max_bytes });
    }
    let round_bits = (elements + eb).saturating_sub(max);
    let within = elements - round_bits;
    let problem = Problem { from, to, eb, space, within, tile_bits: shape.bits() };

    let mut candidates = Vec::new();
    if round_bits == 0 && elements == shape.bits() {
        candidates.push((0..elements).map(|i| 1 << i).collect());
    }
    let limit = (4u32.saturating_sub(eb)).min(within) as usize;
    let common = extended(&[], &problem.from.registers.intersect(&problem.to.registers), limit);
    candidates.push(problem.basis(&common, Form::Vector, Form::Vector));
    for side in [&problem.from, &problem.to] {
        let widest = extended(&common, &side.registers, limit);
        for length in common.len() + 1..=widest.len() {
            candidates.push(problem.basis(&widest[..length], Form::Vector, Form::Vector));
        }
    }
    let ldmatrix = options.ldmatrix != Matrices::None;
    for (transposed, form) in [(false, Form::Matrix), (true, Form::MatrixTransposed)] {
        let row = |side: &Side, allowed: bool| {
            side.matrix_row(eb, transposed).filter(|row| allowed && row.len() <= within as usize)
        };
        if let Some(low) = row(&problem.to, ldmatrix) {
            candidates.push(problem.basis(&low, Form::Vector, form));
        }
        if let Some(low) = row(&problem.from, options.stmatrix) {
            candidates.push(problem.basis(&low, form, Form::Vector));
            if row(&problem.to, ldmatrix).is_some_and(|other| other == low) {
                candidates.push(problem.basis(&low, form, form));
            }
        }
        // A transposing conversion can use both kinds, because the rows of one side are the columns of the other.
        let other = if transposed { Form::Matrix } else { Form::MatrixTransposed };
        let crossed = problem.to.matrix_row(eb, !transposed);
        if let Some(low) = row(&problem.from, options.stmatrix && ldmatrix).filter(|l| Some(l) == crossed.as_ref()) {
            candidates.push(problem.basis(&low, form, other));
        }
    }

    if options.ldmatrix == Matrices::Bytes {
        let rows = problem.to.byte_rows(eb).into_iter().filter(|low| low.len() <= within as usize);
        candidates.extend(rows.map(|low| problem.basis(&low, Form::Vector, Form::BytesTransposed)));
    }

    let run: Vec<u64> = options.run.into_iter().flat_map(|r| (r.low..r.low + r.log2).map(|bit| 1 << bit)).collect();
    if !run.is_empty() && run.len() <= within as usize && problem.space.contains_all(&run) {
        candidates.push(problem.basis(&run, Form::Vector, Form::Vector));
        candidates.push(problem.basis(&extended(&run, &problem.to.registers, limit), Form::Vector, Form::Vector));
    }
    candidates.retain(|bases: &Vec<u64>| bases.starts_with(&run));

    let mut best: Option<([u64; 3], SharedPlan)> = None;
    for bases in candidates {
        let layout = SharedLayout::new(bases, problem.tile_bits)?;
        // The load's block part is relative to the elements that the same block stored.
        let relative = (0..blocks).map(|i| block(src, i) ^ block(dst, i)).collect();
        // If one side has fewer warps, its extra warps hold replicas, which must be explicit in the layout.
        let warps = src.warp().len().max(dst.warp().len());
        let padded = |l: &Layout, block| {
            let warp = (0..warps).map(|i| l.warp().get(i).copied().unwrap_or(0)).collect();
            l.with(Input::Warp, warp).with(Input::Block, block)
        };
        let (source, target) = (padded(src, Vec::new()), padded(dst, relative));
        let access =
            |l: &Layout, direction, matrix| SharedAccess::in_rounds(l, &layout, eb, direction, matrix, round_bits);
        let store = access(&source, Direction::Store, Matrices::halves(options.stmatrix))?;
        let load = access(&target, Direction::Load, options.ldmatrix)?;
        let plan = SharedPlan { bytes: 1 << (within + eb), rounds: 1 << round_bits, layout, store, load };
        // Conflicts and address arithmetic break ties between plans of equal cost.
        let addresses =
            |a: &SharedAccess| u64::from(a.address.expr().to_bit_expr().operations()) + a.distinct_xors() as u64;
        let degree = plan.store.conflict_degree.max(plan.load.conflict_degree);
        let permutes = plan.store.permutes(eb) + plan.load.permutes(eb);
        let cost = [plan.cost() + permutes, degree.into(), addresses(&plan.store) + addresses(&plan.load)];
        if best.as_ref().is_none_or(|(least, _)| cost < *least) {
            best = Some((cost, plan));
        }
    }
    // The common vectors always give a candidate, so only a run can be impossible.
    let (found, expected) = (0, 1 << run.len());
    best.map(|(_, plan)| plan).ok_or(LayoutError::Mismatch {
        what: "length of a run in shared memory",
        expected,
        found,
    })
}

struct Problem<'a> {
    from: Side<'a>,
    to: Side<'a>,
    eb: u32,
    space: Subspace,
    /// The offset bits of one round.
    within: u32,
    tile_bits: u32,
}

impl Problem<'_> {
    /// The offset basis with the given low vectors, for accesses of the given forms.
    fn basis(&self, low: &[u64], store: Form, load: Form) -> Vec<u64> {
        // A basis of the whole space. The vectors that should stay within a round come first. The vectors past
        // `within` number the rounds, so the round function vanishes on all earlier ones.
        let layouts = [self.from.layout, self.to.layout];
        let natural = [Input::Lane, Input::Warp, Input::Register].into_iter();
        let natural = natural.flat_map(|input| layouts.into_iter().flat_map(move |l| l.bases(input))).copied();
        let mut seen = Subspace::default();
        let mut natural = seen.extend(low.iter().copied().chain(natural));
        debug_assert_eq!(natural.len(), self.space.dim());
        let rounds = natural.split_off(self.within as usize);
        let round: Subspace = natural.iter().copied().collect();

        // Complete the low vectors to a word, with lanes of the store.
        let mut low = low.to_vec();
        let word = (WORD_LOG2.saturating_sub(self.eb)).min(self.within) as usize;
        if low.len() < word {
            let mut seen: Subspace = low.iter().copied().collect();
            low.extend(seen.extend(natural.iter().copied()).into_iter().take(word - low.len()));
        }
        let phase = |side: &Side, form| side.phase(&low, &low[..word], self.eb, form).intersect(&round);
        let (w, w2) = (phase(&self.from, store), phase(&self.to, load));

        let segments = natural.len().saturating_sub((PHASE_LOG2.saturating_sub(self.eb)) as usize);
        let segments = segments.min(natural.len() - low.len());
        let mut sum = w.clone();
        sum.extend(w2.basis().iter().chain(&low).copied());
        let mut segment = sum.extend(natural.iter().copied());
        if segment.len() >= segments {
            // The last vectors are registers. As segments, they are plain additions to the address.
            segment.drain(..segment.len() - segments);
        } else {
            let common = w.intersect(&w2);
            let outside = |side: &Subspace, prefer: &Layout| {
                let natural = prefer.lane().iter().copied().filter(|&v| side.contains(v));
                let own: Vec<u64> = natural.chain(side.basis().iter().copied()).collect();
                common.clone().extend(own)
            };
            let pairs = outside(&w, self.from.layout).into_iter().zip(outside(&w2, self.to.layout));
            let missing = segments - segment.len();
            segment.extend(pairs.map(|(a, b)| a ^ b).take(missing));
        }
        // If the phase of one side is not a full complement, there may be too few segments; natural vectors follow.
        let mut seen: Subspace = low.iter().chain(&segment).copied().collect();
        let banks = seen.extend(natural.iter().copied());
        low.into_iter().chain(banks).chain(segment).chain(rounds).collect()
    }
}
