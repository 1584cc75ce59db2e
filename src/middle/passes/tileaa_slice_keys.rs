//! `tileaa-slice-keys` slices the tiles of keys and values in attention.
//!
//! In attention, one dot multiplies queries by a tile of keys, and another one the weights by a tile of values:
//!
//! ```text
//! for i { s = dot q, load K[i], 0;  p = softmax s;  o = dot p, load V[i], o' }          128 keys in a tile
//! ```
//!
//! With 99 KB of shared memory, three tiles of 128 keys and 128 columns of 16 bits fit. A ring of them hides little of
//! the latency of loads. Halves of these tiles are stages of a ring twice as long:
//!
//! ```text
//! for i {
//!   s0 = dot q, load K'[2 i], 0;  s1 = dot q, load K'[2 i + 1], 0;  s = cat s0, s1      64 keys in a tile
//!   p = softmax s
//!   o0 = dot (slice 0 of p), load V'[2 i], o'
//!   o = dot (slice 1 of p), load V'[2 i + 1], o0
//! }
//! ```
//!
//! The program's softmax still sees 128 keys at once. `cat` and the slices of `p` move no elements between threads,
//! because each warp has whole rows of the scores. The order of the sum along K does not change, and bounds and padding
//! apply to the same elements. Slices are numbered in 64 bits, because a multiple of a 32-bit number may overflow.
//!
//! The pass applies to loops with exactly these two dots, on targets whose dots read fragments in registers. Units that
//! read operands from shared memory prefer large tiles. It uses the smallest factor with which enough slices fit shared
//! memory, as long as slices keep [`LEAST_KEYS`] keys; if there is none, the largest one that is possible. Queries that
//! the registers cannot hold next to the accumulators are resident in shared memory, and leave less room for the ring.
//!
//! If there are enough whole tiles, and a producer fills the ring, the pass still loads them in memory order and
//! permutes them afterwards. Keys that the program loads as columns and values then have one shape, and share a ring.
//!
//! # Bound on the work
//!
//! Linear in the ops of each loop.

use crate::{
    analysis::{facts::Facts, producers::is_computed_from_dot, ring_loads::HELD_WORDS, sliced_tiles::SlicedTile},
    dialect::{
        behaviour::is_constant,
        dots::{ACC, LHS, RHS},
        elements,
        fallback::Fallback,
        layouts::{Tensor, storage_bits, tensor_type},
        nv_tileaa::{CatOp, DotOp, ExtractSliceOp, TiledLoadOp},
        pass::{Failed, PassContext, RustPass, descriptors, fail},
        rt::*,
        target::{shared_limit, target},
        types,
        upstream::Scf,
    },
    pass_descriptor,
};
use melior::Context;

/// The number of stages that hides the latency of loads.
const WANTED: u64 = 4;
/// The least keys of a slice: the depth of an instruction.
const LEAST_KEYS: i64 = 16;
/// The threads of eight warps, the most that multiply.
const THREADS: u64 = 256;
const FACTORS: [i64; 2] = [2, 4];

#[derive(Clone, Default)]
pub struct SliceKeys;

impl RustPass for SliceKeys {
    pass_descriptor!(tileaa_slice_keys);
    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileaa_slice_keys::{Options, stat};
        let target = target(op, Options(cx).compute_capability())?;
        if tile_mma::shared_memory_unit(target).is_some() {
            return Ok(());
        }
        // The rings of agents always use all of shared memory.
        let has_agents = tile_mma::agent_unit(target).is_some();
        let shared = shared_limit(target, Options(cx).extended_smem() || has_agents);
        let loops = collect_ops(op, |o| (Scf::of(o) == Some(Scf::For)).then_some(o));
        let facts = Facts::of(op);
        for around in loops.into_iter().filter(|o| Fallback::around(*o) != Fallback::Synchronous) {
            let Some(pair) = Pair::find(around) else { continue };
            let room = shared.saturating_sub(pair.resident_bytes());
            match pair.factor(room, &facts) {
                Some(factor) => pair.slice(factor, context)?,
                None if has_agents && pair.changes_in_memory_order() => pair.slice(1, context)?,
                None => continue,
            }
            cx.stat_add(stat::NUM_SLICED, 1);
        }
        Ok(())
    }
}

/// The dots of a loop of attention, and their right operands.
struct Pair<'c> {
    early: DotOp<'c>,
    late: DotOp<'c>,
    keys: SlicedTile<'c>,
    values: SlicedTile<'c>,
}

impl<'c> Pair<'c> {
    fn find(around: OpRef<'c>) -> Option<Self> {
        let body = entry_block(region(around, 0))?;
        let dots = collect_ops(around, DotOp::cast);
        let &[early, late] = &dots[..] else { return None };
        let is_here = |dot: &DotOp<'c>| block_around(dot.op()).is_some_and(|b| block_key(b) == block_key(body));
        if ![early, late].iter().all(is_here) || is_computed_from_dot(early.lhs()) || !is_computed_from_dot(late.lhs())
        {
            return None;
        }
        let keys = SlicedTile::find(early.rhs(), 1, around)?;
        let values = SlicedTile::find(late.rhs(), 0, around)?;
        // Partial sums of 8-bit floats depend on the depth of a dot.
        let bits = storage_bits(Tensor::of_value(late.rhs())?.element);
        (keys.depth() == values.depth() && bits >= 16).then_some(Self { early, late, keys, values })
    }

    /// Returns the bytes of queries that are resident in shared memory, because registers are too few for them and both
    /// accumulators.
    fn resident_bytes(&self) -> u64 {
        let bytes = |v: Val<'c>| {
            let bits = |t: Tensor<'c>| t.elements().unsigned_abs() * u64::from(storage_bits(t.element));
            Tensor::of_value(v).map_or(0, bits) / 8
        };
        let queries = bytes(self.early.lhs());
        let words = (queries + bytes(self.early.acc()) + bytes(self.late.acc())) / (4 * THREADS);
        if words > HELD_WORDS { queries } else { 0 }
    }

    /// Returns the number of slices of a tile, or `None` if the tiles are small enough or cannot be sliced.
    fn factor(&self, shared: u64, facts: &Facts) -> Option<i64> {
        let tiles = [&self.keys, &self.values];
        let largest = tiles.iter().map(|t| t.bytes()).max().unwrap_or(0).max(1);
        let stages = |factor: i64| shared * factor as u64 / largest;
        let is_possible = |f: &i64| {
            self.keys.depth() % f == 0
                && self.keys.depth() / f >= LEAST_KEYS
                && tiles.iter().all(|t| t.is_tested(*f, facts))
        };
        let mut possible = FACTORS.into_iter().filter(is_possible);
        let enough = possible.clone().find(|f| stages(*f) >= WANTED);
        if stages(1) >= WANTED { None } else { enough.or_else(|| possible.next_back()) }
    }

    /// Whether keys and values have one shape in memory order, but not as they are loaded.
    fn changes_in_memory_order(&self) -> bool {
        let [keys, values] = [&self.keys, &self.values].map(SlicedTile::shapes);
        let (Some(keys), Some(values)) = (keys, values) else { return false };
        keys.as_loaded != values.as_loaded && keys.in_memory == values.in_memory
    }

    fn slice(self, factor: i64, context: &'c Context) -> Result<(), Failed> {
        let (early, late) = (self.early, self.late);
        let keys = slices(self.keys, factor, context)?;
        let values = slices(self.values, factor, context)?;
        Self::slice_early(early, &keys, context).map_err(|e| fail(early.op(), e.to_string()))?;
        Self::slice_late(late, &values, context).map_err(|e| fail(late.op(), e.to_string()))?;
        for tile in [early.rhs(), late.rhs()] {
            erase_tile(tile);
        }
        Ok(())
    }

    /// Replaces the scores by the scores of each slice of the keys, side by side.
    fn slice_early(dot: DotOp<'c>, keys: &[Val<'c>], context: &'c Context) -> Result<(), BuildError> {
        let b = Builder::before(context, dot.op());
        let mut parts = vec![];
        for (i, slice) in keys.iter().enumerate() {
            let acc = slice_of(&b, dot.acc(), keys.len(), i)?;
            parts.push(with_operands(&b, dot, &[(RHS, *slice), (ACC, acc)]));
        }
        while parts.len() > 1 {
            let pairs = parts.chunks(2).map(|pair| {
                let t = Tensor::of_value(pair[0]).ok_or_else(|| BuildError("the scores are not a tensor".into()))?;
                let to = tensor_type(&[t.shape[0], 2 * t.shape[1]], t.element, None);
                Ok(CatOp::build(&b, to, pair[0], pair[1], i64_attr(context, 1))?.result())
            });
            parts = pairs.collect::<Result<_, BuildError>>()?;
        }
        replace_all_uses(dot.result(), parts[0]);
        Ok(())
    }

    /// Multiplies the slices of the weights by the slices of the values, one after another.
    fn slice_late(dot: DotOp<'c>, values: &[Val<'c>], context: &'c Context) -> Result<(), BuildError> {
        let b = Builder::before(context, dot.op());
        let mut acc = dot.acc();
        for (i, slice) in values.iter().enumerate() {
            let weights = slice_of(&b, dot.lhs(), values.len(), i)?;
            acc = with_operands(&b, dot, &[(LHS, weights), (RHS, *slice), (ACC, acc)]);
        }
        replace_all_uses(dot.result(), acc);
        Ok(())
    }
}

/// Loads the slices of a tile, before the load of the tile. In memory order, slices of keys and values have one shape
/// and may share a ring.
fn slices<'c>(tile: SlicedTile<'c>, factor: i64, context: &'c Context) -> Result<Vec<Val<'c>>, Failed> {
    let b = Builder::before(context, tile.load.op());
    let view = tile.view(&b, factor, true)?;
    if factor == 1 {
        return Ok(vec![tile.sliced(&b, (&view, 1), tile.index())?]);
    }
    let first = b.muli(b.resized(tile.index(), types::int(context, 64), false), b.i64_constant(factor));
    let index = |i: i64| if i == 0 { first } else { b.addi(first, b.i64_constant(i)) };
    (0..factor).map(|i| tile.sliced(&b, (&view, factor), index(i))).collect()
}

/// The slice of a tensor that has part `number` of its columns.
fn slice_of<'c>(b: &Builder<'c>, v: Val<'c>, parts: usize, number: usize) -> Result<Val<'c>, BuildError> {
    let t = Tensor::of_value(v).ok_or_else(|| BuildError("the operand of a dot is not a tensor".into()))?;
    if parts == 1 {
        return Ok(v);
    }
    let to = tensor_type(&[t.shape[0], t.shape[1] / parts as i64], t.element, None);
    let constant = defining_op(v).filter(|op| is_constant(*op));
    let splat = constant.and_then(|op| attr(op, "value")).and_then(elements::splat);
    if let Some(element) = splat {
        return Ok(b.constant(to, elements::dense(to, element)));
    }
    let indices = [b.i32_constant(0), b.i32_constant(number as i64)];
    Ok(ExtractSliceOp::build(b, to, v, &indices)?.result())
}

/// Copies a dot with other operands. The result has the type of the accumulator.
fn with_operands<'c>(b: &Builder<'c>, dot: DotOp<'c>, changed: &[(usize, Val<'c>)]) -> Val<'c> {
    let copy = clone_detached(dot.op());
    changed.iter().for_each(|(i, v)| set_operand(copy, *i, *v));
    set_ty(result(copy, 0), ty(operand(copy, ACC)));
    b.insert_op(copy);
    result(copy, 0)
}

/// Erases the dot that reads a tile, and the ops between the load of the tile and the dot.
fn erase_tile(tile: Val<'_>) {
    let [(dot, _)] = uses(tile)[..] else { return };
    erase(dot);
    let mut next = defining_op(tile);
    while let Some(op) = next.filter(|op| results(*op).all(|r| !has_uses(r))) {
        next = if TiledLoadOp::cast(op).is_some() { None } else { defining_op(operand(op, 0)) };
        erase(op);
    }
}
