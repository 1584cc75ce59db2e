//! `tileaa-slice-dots` splits loops over deep tiles into loops over slices along K.
//!
//! A software pipeline keeps several tiles of both operands in shared memory. With 48 KiB per CTA, 128x64 and 64x128
//! tiles of 16-bit elements fit only once, so no tile can be copied ahead. A loop that only accumulates dots of
//! loaded tiles can be sliced:
//!
//! ```text
//! for i in l .. u { c = dot load A[.., i], load B[i, ..], c }                  tiles that are K deep
//! ```
//!
//! computes the same sum as
//!
//! ```text
//! for i in f*l .. f*u { c = dot load A'[.., i], load B'[i, ..], c }            tiles that are K/f deep
//! ```
//!
//! Tile `f*i + j` of `A'` is slice `j` of tile `i` of `A`; scales, if present, are sliced the same way. The order of
//! the sum along K does not change, and bounds and padding apply to the same elements. The new loop counts in 64
//! bits, because `f` times a 32-bit counter may overflow 32 bits.
//!
//! Whole slices of the last tile may be outside the view. They are tested element by element like any other edge. If
//! the extent is known to be a multiple of the slice but not of the tile, no test would be generated, so the loop
//! does not change.
//!
//! The pass slices if the target's shared memory holds fewer than [`WANTED`] tiles of both operands. It uses the
//! smallest factor that makes them fit, as long as slices keep [`ROW_BYTES`] along K, so that rows that are
//! contiguous along K cover whole memory sectors.
//!
//! The pass also slices to reduce register pressure. Elements loaded in pieces smaller than four bytes cannot
//! be copied asynchronously and pass through registers, one per piece. Two 128x64 tiles of 16-bit elements with
//! unknown alignment take 128 registers of each of 128 threads, in addition to 128 for accumulators. The factor is
//! chosen to bring the total down to [`HELD`].

use crate::{
    analysis::{dot_warps::for_products, facts::Facts, sliced_tiles::SlicedTile},
    dialect::{
        behaviour,
        dot_plan::DotPlan,
        dots::{ACC, LHS, LHS_SCALE, RHS, RHS_SCALE},
        fallback::Fallback,
        layouts::Tensor,
        nv_tileaa::{DotOp, DotScaledOp, FuncOp, MakeTiledViewOp},
        pass::{Failed, PassContext, RustPass, descriptors, fail},
        rt::*,
        target::{shared_limit, target},
        types::integer_width,
        upstream::Scf,
    },
    pass_descriptor,
};
use melior::{
    Context,
    ir::{Region, RegionLike, Type, operation::OperationLike, r#type::IntegerType},
};
use rustc_hash::FxHashMap;

/// The desired number of pipeline stages: one is multiplied, one is in flight, one is spare.
const WANTED: u64 = 3;
/// The minimum bytes of a slice along K if slicing only deepens the pipeline, and if it makes a pipeline possible.
const ROW_BYTES: u64 = 64;
const LEAST_ROW_BYTES: u64 = 32;
const FACTORS: [i64; 2] = [2, 4];
/// The registers per thread for accumulators and data on its way to shared memory. The remaining registers hold
/// addresses and operands.
const HELD: u64 = 192;
/// The default number of warps of a CTA with dots.
const WARPS: i64 = 4;

#[derive(Clone, Default)]
pub struct SliceDots;

impl RustPass for SliceDots {
    pass_descriptor!(tileaa_slice_dots);
    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileaa_slice_dots::{Options, stat};
        let target = target(op, Options(cx).compute_capability())?;
        let shared = shared_limit(target, Options(cx).extended_smem());
        let mut loops = vec![];
        walk(op, &mut |o| {
            if Scf::of(o) == Some(Scf::For) {
                loops.push(o);
            }
        });
        let facts = Facts::of(op);
        let mut warps = FxHashMap::default();
        for op in loops {
            // Slices are meant for rings.
            if DotPlan::around(op).is_some() || Fallback::around(op) == Fallback::Synchronous {
                continue;
            }
            let Some(found) = Loop::find(op) else { continue };
            let function = std::iter::successors(Some(op), |o| parent_op(*o)).find(|o| FuncOp::cast(*o).is_some());
            let function = function.unwrap_or(op);
            let of_function = || for_products(function, Some(target), WARPS);
            let threads = 32 * warps.entry(op_key(function)).or_insert_with(of_function).unsigned_abs();
            let deeper = found.factor(shared, &facts);
            let Some(factor) = deeper.max(found.factor_for_registers(threads, &facts)) else { continue };
            cx.stat_add(stat::NUM_SLICED, 1);
            found.slice(factor, context)?;
        }
        Ok(())
    }
}

struct Dot<'c> {
    op: OpRef<'c>,
    /// The operands that are sliced along K, by number: both sides, and their scales if present.
    operands: Vec<(usize, SlicedTile<'c>)>,
}

impl<'c> Dot<'c> {
    fn sides(&self) -> impl Iterator<Item = &SlicedTile<'c>> {
        self.operands.iter().filter(|(i, _)| [LHS, RHS].contains(i)).map(|(_, o)| o)
    }
}

struct Loop<'c> {
    op: OpRef<'c>,
    dots: Vec<Dot<'c>>,
}

impl<'c> Loop<'c> {
    /// Returns the loop if it does nothing but accumulate dots of tiles that it loads.
    fn find(op: OpRef<'c>) -> Option<Self> {
        let body = entry_block(region(op, 0))?;
        let counter = arg(body, 0);
        let narrow = integer_width(ty(counter)) <= 32;
        if !narrow || behaviour::int_constant(operand(op, 2)) != Some(1) {
            return None;
        }
        let last = ops_of(body).last()?;
        let mut dots = vec![];
        for (i, v) in operands(last).enumerate() {
            let dot = defining_op(v)?;
            // K is the last dimension of lhs and its scales, and the second to last of rhs and its scales.
            let along: &[(usize, usize)] = match () {
                _ if DotOp::cast(dot).is_some() => &[(LHS, 1), (RHS, 2)],
                _ if DotScaledOp::cast(dot).is_some() => &[(LHS, 1), (RHS, 2), (LHS_SCALE, 1), (RHS_SCALE, 2)],
                _ => return None,
            };
            let acc = operand(dot, ACC);
            if acc != arg(body, i + 1) || uses(result(dot, 0)).len() != 1 || uses(acc).len() != 1 {
                return None;
            }
            let rank = Tensor::of_value(acc)?.shape.len();
            let find = |&(i, back): &(usize, usize)| Some((i, SlicedTile::find(operand(dot, i), rank - back, op)?));
            let operands: Vec<(usize, SlicedTile<'c>)> = along.iter().map(find).collect::<Option<_>>()?;
            if !operands.iter().all(|(_, tile)| tile.is_counted(op, body)) {
                return None;
            }
            dots.push(Dot { op: dot, operands });
        }
        // The body must not contain other ops, and no other op may depend on the induction variable.
        let mut expected = 1;
        let mut loads = vec![];
        for p in &dots {
            for (_, o) in &p.operands {
                expected += o.ops();
                loads.push(o.load.op());
            }
            expected += 1;
        }
        let views = ops_of(body).filter(|o| MakeTiledViewOp::cast(*o).is_some()).count();
        let known = uses(counter).iter().all(|(user, _)| loads.contains(user)) && uses(counter).len() == loads.len();
        (!dots.is_empty() && known && ops_of(body).count() == expected + views).then_some(Self { op, dots })
    }

    /// Returns the smallest number of slices for which enough tiles fit shared memory.
    fn factor(&self, shared: u64, facts: &Facts) -> Option<i64> {
        let stage: u64 = self.dots.iter().flat_map(Dot::sides).map(SlicedTile::bytes).sum();
        let stages = |factor: i64| shared * factor as u64 / stage.max(1);
        if stages(1) >= WANTED {
            return None;
        }
        let enough =
            |wanted, bytes| FACTORS.into_iter().find(|&f| stages(f) >= wanted && self.has_slices(f, bytes, facts));
        enough(WANTED, ROW_BYTES).or_else(|| if stages(1) < 2 { enough(2, LEAST_ROW_BYTES) } else { None })
    }

    /// Whether the tiles can be sliced, with at least `row_bytes` along K in each slice.
    fn has_slices(&self, factor: i64, row_bytes: u64, facts: &Facts) -> bool {
        let mut rows = self.dots.iter().filter_map(|p| p.sides().next()).map(SlicedTile::depth_bytes);
        let mut all = self.dots.iter().flat_map(|p| &p.operands).map(|(_, o)| o);
        // Each slice must contain whole scale blocks.
        rows.all(|bytes| bytes / factor as u64 >= row_bytes)
            && all.all(|o| o.depth() % factor == 0 && o.is_tested(factor, facts))
    }

    /// Returns the smallest number of slices for which a thread's registers suffice, or `None` if they suffice
    /// without slicing or never do.
    fn factor_for_registers(&self, threads: u64, facts: &Facts) -> Option<i64> {
        let held = |factor: i64| {
            let dots = self.dots.iter().map(|p| {
                let sums = Tensor::of_value(operand(p.op, ACC)).map_or(0, |t| t.elements() as u64);
                let pieces: u64 = p.sides().map(|o| o.pieces_through_registers(facts)).sum();
                sums / threads + pieces / factor as u64 / threads
            });
            dots.sum::<u64>()
        };
        let suffices = |f: &i64| held(*f) <= HELD && self.has_slices(*f, LEAST_ROW_BYTES, facts);
        if held(1) > HELD { FACTORS.into_iter().find(suffices) } else { None }
    }

    fn slice(&self, factor: i64, context: &'c Context) -> Result<(), Failed> {
        let op = self.op;
        let error = |e: BuildError| fail(op, e.to_string());
        let b = Builder::before(context, op);
        let wide: Type<'c> = IntegerType::new(context, 64).into();
        let unsigned = attr(op, "unsignedCmp").is_some();
        let times = |v: Val<'c>| b.muli(b.resized(v, wide, unsigned), b.i64_constant(factor));
        let mut inits = vec![times(operand(op, 0)), times(operand(op, 1)), b.i64_constant(1)];
        inits.extend(operands(op).skip(3));
        let types: Vec<Type<'c>> = results(op).map(ty).collect();
        let mut state = b.state("scf.for");
        state.results(&types);
        state.operands(&inits);
        if unsigned {
            state.attr("unsignedCmp", b.unit());
        }
        let block_args: Vec<_> = [wide].into_iter().chain(types.iter().copied()).map(|t| (t, op.location())).collect();
        let body = Region::new();
        body.append_block(melior::ir::Block::new(&block_args));
        state.region(body);
        let new = b.insert(state).map_err(error)?;
        let body = entry_block(region(new, 0)).ok_or_else(|| fail(new, "loop has no body"))?;

        b.set_end(body);
        let mut yields = vec![];
        for (i, p) in self.dots.iter().enumerate() {
            let sliced = |o: &SlicedTile<'c>| o.sliced(&b, (&o.view(&b, factor, false)?, factor), arg(body, 0));
            let slices: Vec<(usize, Val<'c>)> =
                p.operands.iter().map(|(n, o)| Ok((*n, sliced(o)?))).collect::<Result<_, Failed>>()?;
            let dot = clone_detached(p.op);
            slices.into_iter().for_each(|(n, v)| set_operand(dot, n, v));
            set_operand(dot, ACC, arg(body, i + 1));
            b.insert_op(dot);
            yields.push(result(dot, 0));
        }
        let mut state = b.state("scf.yield");
        state.operands(&yields);
        b.insert(state).map_err(error)?;
        for (old, new) in results(op).zip(results(new)) {
            replace_all_uses(old, new);
        }
        erase(op);
        Ok(())
    }
}
