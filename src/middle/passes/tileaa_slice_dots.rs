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
//! The pass also slices to reduce register pressure. Elements loaded in pieces smaller than [`COPIED_BYTES`] cannot
//! be copied asynchronously and pass through registers, one per piece. Two 128x64 tiles of 16-bit elements with
//! unknown alignment take 128 registers of each of 128 threads, in addition to 128 for accumulators. The factor is
//! chosen to bring the total down to [`HELD`].

use crate::{
    analysis::{
        access::{View, tiled_access},
        dot_warps::for_products,
        facts::Facts,
    },
    dialect::{
        behaviour::{self, LayoutRelation},
        dot_plan::DotPlan,
        dots::{ACC, LHS, LHS_SCALE, RHS, RHS_SCALE},
        fallback::Fallback,
        layouts::{Tensor, storage_bits, tensor_type},
        nv_tileaa::{self, DotOp, DotScaledOp, FuncOp, MakeTiledViewOp, PermuteOp, TiledLoadOp, TiledViewType},
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

/// The desired number of pipeline stages: one is multiplied, one is in flight, one is spare.
const WANTED: u64 = 3;
/// The minimum bytes of a slice along K if slicing only deepens the pipeline, and if it makes a pipeline possible.
const ROW_BYTES: u64 = 64;
const LEAST_ROW_BYTES: u64 = 32;
const FACTORS: [i64; 2] = [2, 4];
/// The minimum size of an asynchronous copy in bytes.
const COPIED_BYTES: u64 = 4;
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
        for op in loops {
            // Slices are meant for rings.
            if DotPlan::around(op).is_some() || Fallback::around(op) == Fallback::Synchronous {
                continue;
            }
            let Some(found) = Loop::find(op) else { continue };
            let function = std::iter::successors(Some(op), |o| parent_op(*o)).find(|o| FuncOp::cast(*o).is_some());
            let threads = 32 * for_products(function.unwrap_or(op), Some(target), WARPS).unsigned_abs();
            let deeper = found.factor(shared, &facts);
            let Some(factor) = deeper.max(found.factor_for_registers(threads, &facts)) else { continue };
            cx.stat_add(stat::NUM_SLICED, 1);
            found.slice(factor, context)?;
        }
        Ok(())
    }
}

/// An operand of a dot: the load, and the ops between the load and the dot, in program order.
struct Operand<'c> {
    load: TiledLoadOp<'c>,
    view: MakeTiledViewOp<'c>,
    chain: Vec<OpRef<'c>>,
    /// The dimension of the loaded tile that becomes K.
    dim: usize,
}

struct Dot<'c> {
    op: OpRef<'c>,
    /// The operands that are sliced along K, by number: both sides, and their scales if present.
    operands: Vec<(usize, Operand<'c>)>,
}

impl<'c> Dot<'c> {
    fn sides(&self) -> impl Iterator<Item = &Operand<'c>> {
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
            let find =
                |&(i, back): &(usize, usize)| Some((i, Operand::find(operand(dot, i), rank - back, op, counter)?));
            dots.push(Dot { op: dot, operands: along.iter().map(find).collect::<Option<_>>()? });
        }
        // The body must not contain other ops, and no other op may depend on the induction variable.
        let mut expected = 1;
        let mut loads = vec![];
        for p in &dots {
            for (_, o) in &p.operands {
                expected += 1 + o.chain.len();
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
        let stage: u64 = self.dots.iter().flat_map(Dot::sides).map(Operand::bytes).sum();
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
        let mut rows = self.dots.iter().filter_map(|p| p.sides().next()).map(Operand::depth_bytes);
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
            let slices: Vec<(usize, Val<'c>)> = p
                .operands
                .iter()
                .map(|(n, o)| Ok((*n, o.sliced(&b, factor, arg(body, 0))?)))
                .collect::<Result<_, Failed>>()?;
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

impl<'c> Operand<'c> {
    /// Interprets `v` as an operand with K along dimension `dim`. Returns `None` unless it is loaded from a tile
    /// whose index along K is the induction variable.
    fn find(v: Val<'c>, mut dim: usize, parent: OpRef<'c>, counter: Val<'c>) -> Option<Self> {
        let body = entry_block(region(parent, 0))?;
        let (mut at, mut chain) = (v, vec![]);
        loop {
            let op = defining_op(at).filter(|o| parent_op(*o) == Some(parent))?;
            if uses(at).len() != 1 {
                return None;
            }
            if let Some(load) = TiledLoadOp::cast(op) {
                let view = defining_op(load.view()).and_then(MakeTiledViewOp::cast)?;
                let t = TiledViewType::cast(ty(load.view()))?;
                let inside = |v: Val<'c>| defining_op(v).is_some_and(|o| parent_op(o) == Some(parent));
                let carried = |v: Val<'c>| args(body).any(|a| a == v);
                let numbered = load
                    .indices()
                    .enumerate()
                    .all(|(d, i)| if d == dim { i == counter } else { !carried(i) && !inside(i) });
                let partition = t.steps()[dim] == t.tile()[dim] && t.sparse_dim().is_none();
                let quiet = load.ordering() == nv_tileaa::Ordering::Weak && !has_uses(load.result_token());
                let early = load.token().is_none_or(|t| !inside(t) && !carried(t));
                if !numbered || !partition || !quiet || !early || inside(view.memref()) {
                    return None;
                }
                chain.reverse();
                return Some(Self { load, view, chain, dim });
            }
            let to = Tensor::of_value(at)?;
            dim = match behaviour::layout_relation(op) {
                LayoutRelation::Same if behaviour::widens(op) => dim,
                LayoutRelation::Permute => PermuteOp::cast(op)?.order()[dim] as usize,
                LayoutRelation::Reshape => {
                    let from = Tensor::of_value(operand(op, 0))?;
                    // The dimension with the same extent and the same elements per index.
                    let behind = |t: &Tensor<'_>, d: usize| (t.shape[d], t.shape[d + 1..].iter().product::<i64>());
                    (0..from.shape.len()).find(|&d| behind(&from, d) == behind(&to, dim))?
                }
                _ => return None,
            };
            chain.push(op);
            at = operand(op, 0);
        }
    }

    /// Whether accesses to slices outside the view are bounds-checked.
    fn is_tested(&self, factor: i64, facts: &Facts) -> bool {
        View::of(self.load.view()).is_some_and(|view| view.tests_slices(self.dim, factor, facts))
    }

    fn tensor(&self) -> Option<Tensor<'c>> {
        Tensor::of_value(self.load.result())
    }

    /// Returns the size of the loaded tile in bytes.
    fn bytes(&self) -> u64 {
        self.tensor().map_or(0, |t| t.elements() as u64 * u64::from(storage_bits(t.element)) / 8)
    }

    /// Returns the number of pieces that are loaded individually because they are too small for an asynchronous copy.
    fn pieces_through_registers(&self, facts: &Facts) -> u64 {
        let Some(view) = View::of(self.load.view()) else { return 0 };
        let indices: Vec<Val<'c>> = self.load.indices().collect();
        let access = tiled_access(facts, &view, &indices, &[]);
        let elements = self.tensor().map_or(0, |t| t.elements() as u64);
        if access.vector * access.element_bytes < COPIED_BYTES { elements / access.vector.max(1) } else { 0 }
    }

    /// Returns the elements of the loaded tile along K.
    fn depth(&self) -> i64 {
        self.tensor().map_or(0, |t| t.shape[self.dim])
    }

    /// Returns the bytes of the loaded tile along K.
    fn depth_bytes(&self) -> u64 {
        self.tensor().map_or(0, |t| self.depth() as u64 * u64::from(storage_bits(t.element)) / 8)
    }

    /// Builds slice number `index` of the operand.
    fn sliced(&self, b: &Builder<'c>, factor: i64, index: Val<'c>) -> Result<Val<'c>, Failed> {
        let op = self.load.op();
        let error = |e: BuildError| fail(op, e.to_string());
        let unexpected = || fail(op, "the operand of a dot is loaded in an unexpected form");
        b.set_location(op.location());
        let t = TiledViewType::cast(ty(self.load.view())).ok_or_else(unexpected)?;
        let mut tile = t.tile().to_vec();
        let mut steps = t.steps().to_vec();
        tile[self.dim] /= factor;
        steps[self.dim] /= factor;
        let memref = t.memref();
        let view_type =
            TiledViewType::get(op.location(), &tile, memref, t.dim_map(), &steps, t.padding(), t.sparse_dim())
                .ok_or_else(unexpected)?;
        let view = MakeTiledViewOp::build(b, view_type.into(), self.view.memref()).map_err(error)?;
        let element = self.tensor().ok_or_else(unexpected)?.element;
        let mut indices: Vec<Val<'c>> = self.load.indices().collect();
        indices[self.dim] = index;
        let load = TiledLoadOp::build(
            b,
            tensor_type(&tile, element, None),
            ty(self.load.result_token()),
            view.result(),
            &indices,
            self.load.token(),
            self.load.ordering(),
            self.load.scope(),
            self.load.hints(),
            self.load.in_bounds(),
        )
        .map_err(error)?;
        let (mut value, mut dim) = (load.result(), self.dim);
        for &step in &self.chain {
            b.set_location(step.location());
            let old = Tensor::of_value(result(step, 0)).ok_or_else(unexpected)?;
            let before = Tensor::of_value(operand(step, 0)).ok_or_else(unexpected)?;
            dim = match behaviour::layout_relation(step) {
                LayoutRelation::Permute => {
                    let order = PermuteOp::cast(step).ok_or_else(unexpected)?.order();
                    order.iter().position(|&d| d as usize == dim).ok_or_else(unexpected)?
                }
                LayoutRelation::Reshape => {
                    let behind = |t: &Tensor<'_>, d: usize| (t.shape[d], t.shape[d + 1..].iter().product::<i64>());
                    (0..old.shape.len()).find(|&d| behind(&old, d) == behind(&before, dim)).ok_or_else(unexpected)?
                }
                _ => dim,
            };
            let mut shape = old.shape.clone();
            shape[dim] /= factor;
            let copy = clone_detached(step);
            set_operand(copy, 0, value);
            set_ty(result(copy, 0), tensor_type(&shape, old.element, None));
            b.insert_op(copy);
            value = result(copy, 0);
        }
        Ok(value)
    }
}
