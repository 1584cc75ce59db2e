//! Layout conversion through shared memory with an optimal swizzle.
//!
//! One side stores the tile with layout `src`, a barrier, the other loads it with layout `dst`. The order of the
//! elements in between is ours: any basis of the tile's index space will do. Let an element take `e` bytes, so that a
//! 128-byte row of all banks holds `2^q` elements, `q = 7 - log2(e)`. The basis has three parts, from low to high
//! offset bits:
//!
//! * `low`: what one instruction moves. Vectors common to the register spans of both sides make both accesses wide; a
//!   side whose registers cover only a prefix of `low` uses narrower vectors. For `ldmatrix` it is a matrix row. `low`
//!   covers at least one 4-byte word, since sub-words of a word never conflict.
//! * `bank`: completes `low` to `q` bits.
//! * `segment`: the rest. Two elements whose difference has a segment part and no other lie in the same bank.
//!
//! One phase of an access touches the elements `W`, the span of the phase's lanes, the vector and the word: at most `q`
//! dimensions. It is free of conflicts when `segment` meets `W` in zero only. So `segment` must be a common complement
//! of `W` of the store and `W'` of the load, and over any field two subspaces of equal dimension have one: take all
//! vectors outside `W + W'`; and if that is not enough, sums `a + b` of an `a` in `W` but not `W'` and a `b` in `W'`
//! but not `W`. A combination of those that lies in `W` would have its `b` part in `W` as well, so it is zero. The sums
//! `a + b` are the familiar XOR swizzle. Hence both accesses can always be made free of conflicts when `low` is common
//! to both sides. When one side uses wider vectors than the other, the sums may need an `a` inside the vector, and then
//! a lane of the wide side whose index contains that sum would find its vector rotated: narrower vectors must do. So
//! `low` is a choice to be made case by case. All sensible candidates are built, measured, and compared by instructions
//! and turns of shared memory. Narrow elements that share a word in shared memory but not in registers count as the
//! instructions that rearrange them.
//!
//! *Worked example.* Transpose a 32x32 tile of 4-byte elements: warps aside, the store has the lanes on the column bits
//! `c`, the load on the row bits `r`. No register is common, so `low` is empty and `q = 5`. `W = span(c)`, `W' =
//! span(r)`; nothing lies outside `W + W'`, so `segment = {c0 + r0, ..., c4 + r4}` and `bank = c`. Element `(r, c)`
//! lands at row `r`, bank `c ^ r`: the textbook answer.
//!
//! When the buffer may only have part of the tile's size, the tile goes through it in rounds. The number of the round
//! is a linear function of the element, chosen to vanish on the vectors, then on the lanes, then on the warps of both
//! sides where possible, so that a round is a subset of the registers of every thread.

use crate::access::{Direction, SharedAccess, SharedLayout, elem_log2_bytes};
use crate::bank::{PHASE_LOG2, WORD_LOG2, phase_lane_bits};
use crate::error::{LayoutError, Result};
use crate::layout::{Input, Layout};
use crate::shape::Shape;
use crate::subspace::Subspace;

/// A conversion through shared memory.
///
/// For each round in turn: store, barrier, load, and a barrier before the next round overwrites the buffer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SharedPlan {
    /// The order of the elements; offsets beyond the buffer's size are rounds.
    pub layout: SharedLayout,
    /// Size of the buffer in bytes. It must be aligned to 128 bytes, or to its size when smaller.
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

    /// Issue slots plus shared-memory turns per warp.
    pub fn cost(&self) -> u64 {
        self.store.cost() + self.load.cost()
    }
}

/// What the target and the allocation allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SharedOptions {
    /// Size of an element; a power of two. Elements below 8 bits are stored as bytes.
    pub elem_bits: u32,
    /// Largest buffer in bytes.
    pub max_bytes: u64,
    /// `ldmatrix` may be used (sm_75 and later).
    pub ldmatrix: bool,
    /// `stmatrix` may be used (sm_90 and later).
    pub stmatrix: bool,
    /// Elements that must be neighbours in shared memory as they are along a dimension of the tile: those that an
    /// asynchronous copy moves at once.
    pub run: Option<Run>,
}

/// `2^log2` neighbours along the dimension whose field starts at bit `low` of the tile's index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Run {
    pub low: u32,
    pub log2: u32,
}

impl SharedOptions {
    /// No matrix instructions and no limit on the buffer.
    pub fn new(elem_bits: u32) -> Self {
        Self { elem_bits, max_bytes: u64::MAX, ldmatrix: false, stmatrix: false, run: None }
    }
}

/// What one side offers to the choice of a swizzle.
struct Side<'a> {
    layout: &'a Layout,
    registers: Subspace,
}

/// The part of the index space that one phase of an access touches, given how the access will be made.
#[derive(Clone, Copy)]
enum Form {
    Vector,
    Matrix,
    MatrixTransposed,
}

impl<'a> Side<'a> {
    fn new(layout: &'a Layout) -> Self {
        Self { layout, registers: layout.register().iter().copied().collect() }
    }

    /// The elements of a thread block, apart from the block's own part.
    fn span(&self) -> Subspace {
        let inputs = [Input::Register, Input::Lane, Input::Warp];
        inputs.into_iter().flat_map(|i| self.layout.bases(i)).copied().collect()
    }

    /// The elements along a matrix row, if the layout can be the fragment of a matrix instruction.
    fn matrix_row(&self, eb: u32, transposed: bool) -> Option<Vec<u64>> {
        let lane = self.layout.lane();
        let row: Vec<u64> = if transposed {
            // A word is made of two registers.
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
        }
        phase
    }
}

/// Extends `low` within `limit` vectors by the reduced basis of `more`.
fn extended(low: &[u64], more: &Subspace, limit: usize) -> Vec<u64> {
    let mut seen: Subspace = low.iter().copied().collect();
    let mut result = low.to_vec();
    result.extend(seen.extend(more.basis().iter().copied()));
    result.truncate(limit);
    result
}

/// The conversion of a tile from `src` to `dst` through shared memory.
///
/// Errors: vectors outside the tile, elements that `src` holds in another block of the cluster than `dst` wants them
/// in, an element size that is not a power of two, a limit below the size of one element, or a run that is not in the
/// tile or longer than a round.
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
    for (transposed, form) in [(false, Form::Matrix), (true, Form::MatrixTransposed)] {
        let row = |side: &Side, allowed: bool| {
            side.matrix_row(eb, transposed).filter(|row| allowed && row.len() <= within as usize)
        };
        if let Some(low) = row(&problem.to, options.ldmatrix) {
            candidates.push(problem.basis(&low, Form::Vector, form));
        }
        if let Some(low) = row(&problem.from, options.stmatrix) {
            candidates.push(problem.basis(&low, form, Form::Vector));
            if row(&problem.to, options.ldmatrix).is_some_and(|other| other == low) {
                candidates.push(problem.basis(&low, form, form));
            }
        }
        // A transposing conversion can use both kinds: rows of one side are columns of the other.
        let other = if transposed { Form::Matrix } else { Form::MatrixTransposed };
        let crossed = problem.to.matrix_row(eb, !transposed);
        if let Some(low) =
            row(&problem.from, options.stmatrix && options.ldmatrix).filter(|l| Some(l) == crossed.as_ref())
        {
            candidates.push(problem.basis(&low, form, other));
        }
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
        // The load's block part is relative to what the same block stored.
        let relative = (0..blocks).map(|i| block(src, i) ^ block(dst, i)).collect();
        // A side with fewer warps is repeated by the others: they must know that they hold replicas.
        let warps = src.warp().len().max(dst.warp().len());
        let padded = |l: &Layout, block| {
            let warp = (0..warps).map(|i| l.warp().get(i).copied().unwrap_or(0)).collect();
            l.with(Input::Warp, warp).with(Input::Block, block)
        };
        let (source, target) = (padded(src, Vec::new()), padded(dst, relative));
        let access =
            |l: &Layout, direction, matrix| SharedAccess::in_rounds(l, &layout, eb, direction, matrix, round_bits);
        let store = access(&source, Direction::Store, options.stmatrix)?;
        let load = access(&target, Direction::Load, options.ldmatrix)?;
        let plan = SharedPlan { bytes: 1 << (within + eb), rounds: 1 << round_bits, layout, store, load };
        // Conflicts and address arithmetic decide between plans of equal cost.
        let addresses =
            |a: &SharedAccess| u64::from(a.address.expr().to_bit_expr().operations()) + a.distinct_xors() as u64;
        let degree = plan.store.conflict_degree.max(plan.load.conflict_degree);
        let permutes = plan.store.permutes(eb) + plan.load.permutes(eb);
        let cost = [plan.cost() + permutes, degree.into(), addresses(&plan.store) + addresses(&plan.load)];
        if best.as_ref().is_none_or(|(least, _)| cost < *least) {
            best = Some((cost, plan));
        }
    }
    // The common vectors always give a candidate: only a run may be impossible.
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
    /// Offset bits of one round.
    within: u32,
    tile_bits: u32,
}

impl Problem<'_> {
    /// The offset basis with the given low vectors, for accesses of the given forms.
    fn basis(&self, low: &[u64], store: Form, load: Form) -> Vec<u64> {
        // A basis of the whole space by falling reluctance to be split over rounds. The vectors past `within` number
        // the rounds, so the round function vanishes on all earlier ones.
        let layouts = [self.from.layout, self.to.layout];
        let natural = [Input::Lane, Input::Warp, Input::Register].into_iter();
        let natural = natural.flat_map(|input| layouts.into_iter().flat_map(move |l| l.bases(input))).copied();
        let mut seen = Subspace::default();
        let mut natural = seen.extend(low.iter().copied().chain(natural));
        debug_assert_eq!(natural.len(), self.space.dim());
        let rounds = natural.split_off(self.within as usize);
        let round: Subspace = natural.iter().copied().collect();

        // Complete the low vectors to a word, out of the lanes of the store.
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
            // The last vectors are registers: as segments they are plain additions to the address.
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
        // If one side's phase is not a full complement, fewer segments may have been found; natural vectors follow.
        let mut seen: Subspace = low.iter().chain(&segment).copied().collect();
        let banks = seen.extend(natural.iter().copied());
        low.into_iter().chain(banks).chain(segment).chain(rounds).collect()
    }
}
