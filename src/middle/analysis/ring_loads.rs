//! Finds the loads of a loop that can be software-pipelined without warp specialization.
//!
//! Such a load becomes an asynchronous copy into a ring of stages in shared memory, issued some iterations ahead:
//!
//! ```text
//! for i:
//!   a = load A[i]                       // becomes: copy A[i + 2] to stage (i + 2) % 3,
//!   acc = dot(convert(a), b, acc)       // then read stage i % 3
//! ```
//!
//! # Conditions on a load
//!
//! * It can be done as an asynchronous copy ([`super::thread_copies`]).
//! * Its only user is a layout conversion whose result becomes an operand of a dot and that moves elements between
//!   threads. Such a conversion uses shared memory anyway.
//! * Its token is created outside of the loop, so no access in the loop precedes it, and no access waits for the
//!   token that it returns. Issuing it early is therefore legal.
//! * Its address follows from the loop counter, from loop-invariant values and from *index loads*. The ops that compute
//!   the address are cloned for the iteration ahead.
//!
//! An index load reads a few integers that the address depends on, such as the number of a page. Its own address
//! depends on no other load of the loop. It is done one iteration before the copy ([`indices`]).
//!
//! # Rounding
//!
//! Targets without an instruction that rounds to tf32 need six for each number, and several warps have it in their
//! fragments. There each thread rounds what it has copied, in the stage: after it has waited for its copies, and before
//! the barrier after which all threads read them.
//!
//! # Resident operands
//!
//! A loop-invariant left operand, such as the queries of attention, would occupy registers together with all
//! accumulators. If registers are short, it may be resident in shared memory like a stage of a ring, and be read for
//! each dot.
//!
//! # Shared rings
//!
//! If two stages of every load do not fit shared memory, loads of equally large tiles may share one ring
//! ([`shared_ring`]): an iteration then reads as many stages as it has loads, one after another.
//!
//! # Bound on the work
//!
//! Linear in the ops of the loop for each load.

mod depths;
mod expansion;
mod indices;
mod shared_ring;

pub use depths::Depths;
pub use expansion::expand;

use super::{
    producers::rounds_to_tf32,
    registers::{register_bits, words},
    thread_copies::PlainLoad,
};
use crate::dialect::{
    behaviour::{self, LayoutRelation},
    dots::AnyDot,
    layouts::{Tensor, storage_bits},
    nv_tileaa::{FpCastOp, Ordering},
    nv_tileas::{AllocTensorOp, ConvertLayoutOp, LoadOp, MemDescType, ReduceOp, ScanOp, TiledLoadOp},
    rt::*,
    shared_memory::{loaded_matrices, memdesc_bytes, padded_bytes, storage_type},
    types,
};
use melior::ir::Type;
use rustc_hash::FxHashSet;
use tile_layout::{AccessMode, Run, SharedOptions, plan_shared};
use tile_targets::{Feature, Target};

/// The loads and operands of one loop that may be pipelined. The schedule and the expansion both start from this
/// list.
pub struct Candidates<'c> {
    pub op: OpRef<'c>,
    pub loads: Vec<RingLoad<'c>>,
    pub residents: Vec<Resident<'c>>,
    /// Whether the loads may share a ring. On other targets agents keep the rings of such loops filled.
    may_share: bool,
}

/// A load that can become a copy into a ring, with the conversion that is its only user.
pub struct RingLoad<'c> {
    pub op: OpRef<'c>,
    pub convert: ConvertLayoutOp<'c>,
    /// The type of one stage.
    pub desc: MemDescType<'c>,
    /// Elements that one instruction reads from the stage.
    pub vector: u32,
    /// What the operands of the load need.
    pub slice: Slice<'c>,
    /// The rounding to tf32, if the threads that copy a stage round it.
    pub rounding: Option<StageRounding<'c>>,
}

/// The ops of a loop's body from which the operands of an op follow.
pub struct Slice<'c> {
    /// The ops to compute again for another iteration, in program order.
    pub ops: Vec<OpRef<'c>>,
    /// The loads whose values the ops need.
    pub indices: Vec<IndexLoad<'c>>,
}

/// A load of integers on which the address of another load depends.
pub struct IndexLoad<'c> {
    pub op: OpRef<'c>,
    /// The ops that compute its operands, in program order.
    pub slice: Vec<OpRef<'c>>,
}

impl<'c> IndexLoad<'c> {
    /// The loaded integers.
    pub fn value(&self) -> Val<'c> {
        result(self.op, 0)
    }
}

/// Rounds a stage to tf32.
#[derive(Clone, Copy)]
pub struct StageRounding<'c> {
    /// The op that rounds the fragments.
    pub cast: FpCastOp<'c>,
    /// The type of a rounded stage.
    pub desc: MemDescType<'c>,
    /// Elements that a thread copies, reads and writes together.
    pub vector: u32,
}

/// A loop-invariant left operand that the loop reads from shared memory.
pub struct Resident<'c> {
    pub convert: ConvertLayoutOp<'c>,
    /// The reshapes between the conversion and the dots, in program order.
    pub views: Vec<OpRef<'c>>,
    /// The dots that read the operand, in program order.
    pub dots: Vec<AnyDot<'c>>,
    pub desc: MemDescType<'c>,
    /// Elements that one instruction writes, and reads.
    pub vectors: [u32; 2],
    /// Whether the registers cannot hold the operand next to the accumulators.
    pub needed: bool,
}

/// Registers per thread from which an operand is worth a round trip through shared memory.
const RESIDENT_WORDS: u64 = 32;
/// Registers per thread for accumulators and resident operands. The others hold fragments, weights and addresses.
pub const HELD_WORDS: u64 = 192;
/// The most registers per thread for the value of an index load, which the loop carries.
const INDEX_WORDS: u64 = 4;

impl<'c> Candidates<'c> {
    /// Returns `None` if no load of the loop can be copied ahead.
    pub fn of(op: OpRef<'c>, target: &Target) -> Option<Self> {
        let body = entry_block(region(op, 0))?;
        // Future iterations are numbered in 64 bits. The step of a 64-bit counter must be small enough that its
        // multiples do not overflow.
        let width = types::integer_width(ty(arg(body, 0)));
        let step = behaviour::int_constant(operand(op, 2));
        if width > 32 && !step.is_some_and(|s| (1..1 << 32).contains(&s)) {
            return None;
        }
        let loads: Vec<RingLoad<'c>> = ops_of(body).filter_map(|load| RingLoad::of(load, (op, body), target)).collect();
        let dots: Vec<AnyDot<'c>> = ops_of(body).filter_map(AnyDot::cast).collect();
        let taken = |v: Val<'c>| Tensor::of_value(v).map_or(0, |t| words(t.element, register_bits(v).unwrap_or(0)));
        let may_share = tile_mma::shared_memory_unit(target).is_none();
        // A dot that adds to the result of another one has the same registers.
        let continues = |d: &AnyDot<'c>| may_share && defining_op(d.acc()).and_then(AnyDot::cast).is_some();
        let accumulators: u64 = dots.iter().filter(|d| !continues(d)).map(|d| taken(d.result())).sum();
        let budget = u64::from(target.limits.dot_registers);
        let is_short = |d: &AnyDot<'c>| taken(d.lhs()) >= RESIDENT_WORDS && accumulators + taken(d.lhs()) > budget;
        let mut residents: Vec<Resident<'c>> = vec![];
        for dot in dots.iter().filter(|d| is_short(d)) {
            if !residents.iter().any(|r| r.dots.iter().any(|other| other.op() == dot.op())) {
                let needed = accumulators + taken(dot.lhs()) > HELD_WORDS;
                residents
                    .extend(Resident::of(*dot, op, (&dots, target)).map(|resident| Resident { needed, ..resident }));
            }
        }
        (!loads.is_empty()).then_some(Self { op, loads, residents, may_share })
    }

    /// Bytes of shared memory that the loop uses if copy `i` is issued `ahead[i]` iterations ahead.
    pub fn bytes(&self, ahead: &[i64]) -> u64 {
        self.own_bytes(ahead).saturating_add(allocated(self))
    }

    /// Like [`Self::bytes`], but without existing allocations of the body, such as the rings of inner loops.
    pub fn own_bytes(&self, ahead: &[i64]) -> u64 {
        let ring = |stage: MemDescType<'c>, ahead: i64| {
            if ahead > 0 { padded_bytes(stage).saturating_mul(ahead as u64 + 1) } else { 0 }
        };
        self.loads.iter().zip(ahead).fold(scratch(self), |sum, (l, &a)| sum.saturating_add(ring(l.desc, a)))
    }
}

impl<'c> RingLoad<'c> {
    fn of(op: OpRef<'c>, (parent, body): (OpRef<'c>, Blk<'c>), target: &Target) -> Option<Self> {
        let load = PlainLoad::of(op)?;
        let [(user, _)] = uses(load.value)[..] else { return None };
        let convert = ConvertLayoutOp::cast(user)?;
        // Accesses ordered after the load follow the arrival of its copy, because an iteration begins with the wait
        // for it.
        let early = load.token.is_none_or(|t| !is_inside(t, parent));
        if !early || !behaviour::moves_between_threads(convert.op()) || !feeds_dot(convert.result()) {
            return None;
        }
        // The ring's layout must avoid bank conflicts for the copy and the reads, with copies as wide as the load.
        let tensor = &load.tensor;
        let (from, to) = (tensor.layout()?, Tensor::of_value(convert.result())?.layout()?);
        let shape = tensor.tile_shape();
        let run = Run { low: shape.field(load.dim).ok()?.0, log2: load.vector.ilog2() };
        let options = SharedOptions {
            ldmatrix: loaded_matrices(target),
            run: Some(run),
            ..SharedOptions::new(storage_bits(tensor.element))
        };
        let plan = plan_shared(&from, &to, &shape, &options).ok()?;
        plan.store.runs(&from, &shape, load.dim, load.vector, load.bytes)?;
        let desc = storage_type(op, &tensor.shape, tensor.element, plan.layout.bases()).ok()?;
        let slice = backward_slice(op, (parent, body))?;
        let (AccessMode::Vector { elements: vector } | AccessMode::Matrix { elements: vector, .. }) = plan.load.mode;
        let rounding = rounding(convert, target).and_then(|(cast, element)| {
            let desc = storage_type(op, &tensor.shape, element, plan.layout.bases()).ok()?;
            Some(StageRounding { cast, desc, vector: load.vector })
        });
        Some(Self { op, convert, desc, vector, slice, rounding })
    }
}

/// Returns the rounding to tf32 that each thread should apply to what it has copied, and the type: the only use of the
/// fragments, possibly through reshapes, on a target without an instruction for it. Several threads must have each
/// element in their fragments.
fn rounding<'c>(convert: ConvertLayoutOp<'c>, target: &Target) -> Option<(FpCastOp<'c>, Type<'c>)> {
    let held = |v| register_bits(v).unwrap_or(0);
    if target.has(Feature::Tf32RoundEven) || held(convert.result()) <= held(convert.source()) {
        return None;
    }
    let mut v = convert.result();
    loop {
        let [(user, _)] = uses(v)[..] else { return None };
        if rounds_to_tf32(user) {
            let cast = FpCastOp::cast(user)?;
            return Some((cast, Tensor::of_value(cast.result())?.element));
        }
        let moves = matches!(behaviour::layout_relation(user), LayoutRelation::Reshape | LayoutRelation::Permute);
        v = moves.then(|| result(user, 0))?;
    }
}

impl<'c> Resident<'c> {
    /// Returns `None` unless the left operand of `dot` is converted to its layout before the loop, for this dot
    /// and others of the loop alone.
    fn of(dot: AnyDot<'c>, parent: OpRef<'c>, (all, target): (&[AnyDot<'c>], &Target)) -> Option<Self> {
        let (mut v, mut views) = (dot.lhs(), vec![]);
        let dots: Vec<AnyDot<'c>> = all.iter().filter(|d| d.lhs() == v).copied().collect();
        if uses(v).len() != dots.len() {
            return None;
        }
        let convert = loop {
            let is_only = v == dot.lhs() || uses(v).len() == 1;
            let op = defining_op(v).filter(|_| !is_inside(v, parent) && is_only)?;
            if let Some(convert) = ConvertLayoutOp::cast(op) {
                break convert;
            }
            if behaviour::layout_relation(op) != LayoutRelation::Reshape {
                return None;
            }
            views.push(op);
            v = operand(op, 0);
        };
        if !behaviour::moves_between_threads(convert.op()) || parent_op(convert.op()) != parent_op(parent) {
            return None;
        }
        views.reverse();
        let tensor = Tensor::of_value(convert.source())?;
        let (from, to) = (tensor.layout()?, Tensor::of_value(convert.result())?.layout()?);
        let options =
            SharedOptions { ldmatrix: loaded_matrices(target), ..SharedOptions::new(storage_bits(tensor.element)) };
        let plan = plan_shared(&from, &to, &tensor.tile_shape(), &options).ok()?;
        let op = convert.op();
        let desc = storage_type(op, &tensor.shape, tensor.element, plan.layout.bases()).ok()?;
        let vectors = [&plan.store, &plan.load].map(|access| match access.mode {
            AccessMode::Vector { elements } | AccessMode::Matrix { elements, .. } => elements,
        });
        Some(Self { convert, views, dots, desc, vectors, needed: false })
    }
}

/// What the operands of `op` need to be computed for another iteration of the loop `parent`. Returns `None` if that is
/// impossible, because an op has effects or a value is carried by the loop.
pub fn backward_slice<'c>(op: OpRef<'c>, (parent, body): (OpRef<'c>, Blk<'c>)) -> Option<Slice<'c>> {
    let (ops, loads) = needed_ops(op, body, &|load| is_index_load(load, parent))?;
    let index = |op: OpRef<'c>| Some(IndexLoad { op, slice: needed_ops(op, body, &|_| false)?.0 });
    Some(Slice { ops, indices: loads.into_iter().map(index).collect::<Option<_>>()? })
}

/// The ops of the body that compute the operands of `op`, and those among their sources that `is_leaf` selects, both in
/// program order.
fn needed_ops<'c>(
    op: OpRef<'c>,
    body: Blk<'c>,
    is_leaf: &dyn Fn(OpRef<'c>) -> bool,
) -> Option<(Vec<OpRef<'c>>, Vec<OpRef<'c>>)> {
    let (mut needed, mut leaves) = (FxHashSet::default(), FxHashSet::default());
    let mut work: Vec<Val<'c>> = operands(op).collect();
    while let Some(v) = work.pop() {
        if v == arg(body, 0) {
            continue;
        }
        if args(body).any(|a| a == v) {
            return None;
        }
        let Some(producer) = defining_op(v) else { continue };
        if !ops_of(body).any(|o| op_key(o) == op_key(producer)) {
            // Defined outside of the loop, or in a nested region.
            continue;
        }
        if v == result(producer, 0) && is_leaf(producer) {
            leaves.insert(op_key(producer));
            continue;
        }
        if !behaviour::computes_speculatively(producer) {
            return None;
        }
        if needed.insert(op_key(producer)) {
            work.extend(operands(producer));
        }
    }
    let of = |keys: FxHashSet<usize>| ops_of(body).filter(|o| keys.contains(&op_key(*o))).collect();
    Some((of(needed), of(leaves)))
}

/// Whether a load of the loop `parent` reads few integers and may be done in an earlier iteration.
fn is_index_load<'c>(op: OpRef<'c>, parent: OpRef<'c>) -> bool {
    let (value, token, ordering) = match (TiledLoadOp::cast(op), LoadOp::cast(op)) {
        (Some(x), _) => (x.result(), x.token(), x.ordering()),
        (_, Some(x)) => (x.result(), x.token(), x.ordering()),
        _ => return false,
    };
    let held = || if types::is_tensor(ty(value)) { register_bits(value) } else { Some(0) };
    let element = types::element(ty(value));
    ordering == Ordering::Weak
        && token.is_none_or(|t| !is_inside(t, parent))
        && types::is_integer(element)
        && held().is_some_and(|bits| words(element, bits) <= INDEX_WORDS)
}

/// Whether the value becomes an operand of a dot, possibly after widening, reshapes or layout conversions.
pub fn feeds_dot(v: Val<'_>) -> bool {
    uses(v).iter().any(|(user, _)| {
        let moved = matches!(behaviour::layout_relation(*user), LayoutRelation::Reshape | LayoutRelation::Permute);
        let through = moved || ConvertLayoutOp::cast(*user).is_some() || behaviour::widens(*user);
        AnyDot::cast(*user).is_some() || (through && feeds_dot(result(*user, 0)))
    })
}

/// Whether a value is defined inside a region of `op`.
pub fn is_inside<'c>(v: Val<'c>, op: OpRef<'c>) -> bool {
    let mut at = match defining_op(v) {
        Some(producer) => parent_op(producer),
        None => parent_of_block(owner_of(v)),
    };
    while let Some(p) = at {
        if p == op {
            return true;
        }
        at = parent_op(p);
    }
    false
}

/// Bytes of shared memory through which a reduction or scan combines the parts of different warps.
fn combined_bytes(op: OpRef<'_>) -> u64 {
    let dim = match (ReduceOp::cast(op), ScanOp::cast(op)) {
        (Some(x), _) => x.dim(),
        (_, Some(x)) => x.dim(),
        _ => return 0,
    } as usize;
    let bytes = |t: Tensor<'_>| {
        let shape = t.tile_shape();
        let (layout, (low, width)) = (t.layout()?, shape.field(dim).ok()?);
        let along = |basis: &&u64| (**basis >> low) & ((1 << width) - 1) != 0;
        let parts = layout.warp().iter().filter(along).count();
        let lines = t.elements() as u64 >> width;
        (parts > 0).then(|| (lines << parts) * u64::from(storage_bits(t.element)) / 8)
    };
    operands(op).filter_map(|v| Tensor::of_value(v).and_then(bytes)).sum()
}

/// Bytes of shared memory that the body uses in addition to the rings, with `resident` bytes of resident operands.
pub fn taken_beside(found: &Candidates<'_>, resident: u64) -> u64 {
    resident + allocated(found) + scratch(found)
}

fn allocated(found: &Candidates<'_>) -> u64 {
    let mut bytes = 0;
    walk(found.op, &mut |o| {
        if let Some(desc) = AllocTensorOp::cast(o).and_then(|a| MemDescType::cast(ty(a.result()))) {
            bytes += memdesc_bytes(desc);
        }
    });
    bytes
}

/// The largest temporary allocation of an op of the body. Ops reuse this memory one by one.
fn scratch(found: &Candidates<'_>) -> u64 {
    let mut scratch = 0;
    walk(found.op, &mut |o| {
        scratch = scratch.max(combined_bytes(o));
        if let Some(c) = ConvertLayoutOp::cast(o)
            && found.loads.iter().all(|l| l.convert.op() != o)
            && behaviour::moves_between_threads(c.op())
            && let Some(t) = Tensor::of_value(c.result())
        {
            scratch = scratch.max(t.elements() as u64 * u64::from(storage_bits(t.element)) / 8);
        }
    });
    scratch
}
