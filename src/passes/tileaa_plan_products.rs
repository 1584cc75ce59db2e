//! `tileaa-plan-products`: which kernels multiply by warpgroups, and how.
//!
//! On targets with warpgroup products (`wgmma`) a kernel whose products multiply tiles that it loads is carried out by
//! *agents*: a warpgroup that keeps rings of tiles in shared memory filled by tensor copies, and one or more that
//! multiply. This pass looks whether a kernel can be, and lets `tile_plan` choose warpgroups, instructions, stages and
//! registers, by measured numbers of the machine. The answer becomes an attribute of the function
//! (`dialect::product_plan`), which later passes follow; a kernel without one is compiled as before.
//!
//! A kernel can be if
//!
//! * the operands of its products are tiles of views that nothing else uses, loaded next to the product, perhaps in
//!   another shape, or computed from such tiles element by element in as many bits; or they are there
//!   before the loop around the product, so that they go to shared memory once; or, on the left, they are computed from
//!   another product's result, in registers;
//! * tensor copies can load the tiles (`analysis::tensor_maps`);
//! * no access before them orders the loads, none that is ordered behind them comes before the product, and what their
//!   addresses and the control flow around them depend on can be computed twice (`analysis::producers`).
//!
//! Products that are alone in their blocks, all of one shape, are planned by their loop (`tile_plan::plan`); others
//! together, as a kernel (`kernel`). What is in the way is said by a remark.

mod kernel;

use crate::{
    analysis::{
        access::View,
        facts::Facts,
        producers::{Slice, Source, comes_from_product, stage_of},
        tensor_maps, tokens,
    },
    dialect::{
        behaviour::{self, LayoutRelation},
        dots::element_of,
        hints::{bool_hint, int_hint},
        layouts::{Tensor, storage_bits},
        nv_tileaa::{self, AnyOp, DotOp, MemTokenType, Ordering, TiledLoadOp, TiledStoreOp},
        nv_tileas::MemDescType,
        pass::{Failed, PassContext, RustPass, descriptors},
        product_plan::ProductPlan,
        remark::{self, remark},
        rt::*,
        shared_memory::SCRATCH_BYTES,
        target::target,
        upstream::Scf,
    },
    pass_descriptor,
};
use melior::{Context, ir::Attribute};
use rustc_hash::FxHashSet;
use tile_mma::Element;
use tile_plan::{APlace, Hints, Machine, Major, OperandType, Plan, ProductLoop};
use tile_targets::{Feature, Target};

#[derive(Clone, Default)]
pub struct PlanProducts;

impl RustPass for PlanProducts {
    pass_descriptor!(tileaa_plan_products);
    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileaa_plan_products::{Options, stat};
        let target = target(op, Options(cx).compute_capability())?;
        if !target.has(Feature::Wgmma) {
            return Ok(());
        }
        for function in collect_ops(op, nv_tileaa::FuncOp::cast) {
            let dots = collect_ops(function.op(), |o| match AnyOp::cast(o) {
                Some(AnyOp::DotOp(_) | AnyOp::DotScaledOp(_)) => Some(o),
                _ => None,
            });
            if dots.is_empty() || function.num_warps().is_some() {
                continue;
            }
            match plan(function, &dots, target) {
                Ok(plan) => {
                    cx.stat_add(stat::NUM_PLANNED, 1);
                    plan.attach(function.op(), context);
                }
                Err((op, reason)) => {
                    let reason = format!("products are those of single warps: {reason}");
                    remark(op, remark::NO_WARPGROUPS, reason, "");
                }
            }
        }
        Ok(())
    }
}

/// The op that is in the way, and why.
type Obstacle<'c> = (OpRef<'c>, String);

/// A product, and what the planner has to know of it.
struct Found<'c> {
    op: OpRef<'c>,
    product: ProductLoop,
    sides: [Side<'c>; 2],
}

/// An operand.
enum Side<'c> {
    /// A ring of such stages holds it.
    Ring(MemDescType<'c>),
    /// It lies in shared memory while the loop around the product runs.
    Stays(Val<'c>),
    /// It comes from registers.
    Registers(Val<'c>),
}

/// Loads into rings, and what is computed where they are.
#[derive(Default)]
struct Loads<'c> {
    loads: Vec<OpRef<'c>>,
    computed: Vec<OpRef<'c>>,
}

fn plan<'c>(function: nv_tileaa::FuncOp<'c>, dots: &[OpRef<'c>], target: &Target) -> Result<ProductPlan, Obstacle<'c>> {
    let facts = Facts::of(function.op());
    let mut products: Vec<Found<'c>> = vec![];
    let mut loads = Loads::default();
    for &op in dots {
        let dot = DotOp::cast(op).ok_or_else(|| (op, "its operands have scales".to_string()))?;
        products.push(product(dot, function.op(), (&facts, target), &mut loads)?);
    }
    let is_token = |v: Val<'c>| MemTokenType::cast(ty(v)).is_some();
    Slice::of(function.op(), &loads.loads, &|_| false, &is_token)?;
    let first = &products[0];
    let machine = Machine::named(target.name).map_err(|e| (first.op, e.to_string()))?;
    let hints = hints(function, &loads.loads, target);
    let alone = |p: &Found<'c>| {
        let both = matches!(p.sides, [Side::Ring(_), Side::Ring(_)]);
        both && products.iter().all(|o| o.op == p.op || block_of(o.op) != block_of(p.op))
    };
    let alike = |p: &Found<'c>| {
        let of = |p: &Found<'c>| (p.product.m, p.product.n, p.product.operand);
        of(p) == of(first)
    };
    if !products.iter().all(|p| alone(p) && alike(p)) {
        return kernel::plan(function.op(), &products, &hints, &machine);
    }
    let op = first.op;
    // The deepest takes the largest stages.
    let deepest = products.iter().map(|p| p.product).max_by_key(|p| p.k).unwrap_or(first.product);
    let product = ProductLoop { over_tiles: loops(op) > 1, ..deepest };
    let plan = tile_plan::plan(&product, &hints, &machine).map_err(|e| (op, e.to_string()))?;
    let rings = rings(&products).len() as u32;
    let fit = |scratch: u32| stages(&plan, &product, rings, scratch);
    let least = least_scratch(plan.groups.0 * plan.groups.1);
    let mut scratch = scratch(function.op(), &product, &products, &loads.computed).max(least);
    // Rather than wait for memory in each iteration results go through shared memory in parts.
    while scratch > SCRATCH_BYTES as u32 && fit(scratch).is_none_or(|s| s < plan.stages.min(HIDING_STAGES)) {
        scratch /= 2;
    }
    let stages = fit(scratch).ok_or_else(|| (op, "shared memory holds no two stages of the operands".to_string()))?;
    let mut reasons = plan.reasons.clone();
    if stages < plan.stages {
        reasons.push(format!("{stages} stages beside {scratch} bytes for what else goes through shared memory"));
    }
    remark(op, remark::WARPGROUP_PLAN, reasons.join("; "), "");
    let registers = plan.registers;
    Ok(ProductPlan {
        groups: [plan.groups.0, plan.groups.1],
        columns: plan.columns,
        stages,
        registers: [registers.launch, registers.producer, registers.consumer],
        scratch,
    })
}

/// The stages of each ring: products whose operands are alike take turns with one.
fn rings<'c>(products: &[Found<'c>]) -> Vec<Vec<MemDescType<'c>>> {
    let mut all: Vec<Vec<MemDescType<'c>>> = vec![];
    for p in products {
        let stage: Vec<MemDescType<'c>> =
            p.sides.iter().filter_map(|s| if let Side::Ring(desc) = s { Some(*desc) } else { None }).collect();
        if !stage.is_empty() && !all.contains(&stage) {
            all.push(stage);
        }
    }
    all
}

/// What the program asks for.
fn hints<'c>(function: nv_tileaa::FuncOp<'c>, loads: &[OpRef<'c>], target: &Target) -> Hints {
    let of = |hints: Option<Attribute<'c>>, name: &str, most: i64| {
        let value = int_hint(hints?, target.name, name, |v| (1..=most).contains(&v))?;
        u32::try_from(value).ok()
    };
    let latencies = loads.iter().filter_map(|o| of(TiledLoadOp::cast(*o)?.hints(), "latency", 10));
    Hints {
        latency: latencies.max(),
        occupancy: of(function.hints(), "occupancy", 32).or_else(|| of(function.hints(), "min_ctas_per_sm", 32)),
        worker_warps: of(function.hints(), "num_worker_warps_per_cta", 32),
    }
}

/// Stages of each ring, with room beside them for what the kernel moves through shared memory; none if fewer than two
/// fit.
fn stages(plan: &Plan, product: &ProductLoop, rings: u32, scratch: u32) -> Option<u32> {
    let room = plan.shared_available.checked_sub(scratch + OTHER_BYTES)?;
    let fit = room / rings / product.stage_bytes().next_multiple_of(1024);
    Some(plan.stages.min(fit)).filter(|s| *s >= 2)
}

/// Bytes that conversions need beside the rings. Where tensors are computed with only behind all products they use the
/// rings' memory. In a loop over tiles a result should go through shared memory at once.
/// `in_stages` is what is computed where the operands lie.
fn scratch(function: OpRef<'_>, product: &ProductLoop, products: &[Found<'_>], in_stages: &[OpRef<'_>]) -> u32 {
    let outermost = |op: OpRef<'_>| -> usize {
        let ancestors = std::iter::successors(Some(op), |o| parent_op(*o).filter(|p| op_key(*p) != op_key(function)));
        ancestors.last().map_or(0, op_key)
    };
    let of_products: Vec<usize> = products.iter().map(|p| outermost(p.op)).collect();
    let body = entry_block(region(function, 0));
    let mut before = true;
    let mut computes = false;
    for op in body.into_iter().flat_map(ops_of) {
        let holds = of_products.contains(&op_key(op));
        walk(op, &mut |o| {
            let of_product = DotOp::cast(o).is_some() || TiledLoadOp::cast(o).is_some() || in_stages.contains(&o);
            let moves = behaviour::layout_relation(o) != LayoutRelation::Leaf && !of_product && region_count(o) == 0;
            let shape = matches!(behaviour::layout_relation(o), LayoutRelation::Reshape | LayoutRelation::Permute);
            let has_tensors = results(o).any(|r| Tensor::of_value(r).is_some());
            let stores = result_count(o) > 0 && TiledStoreOp::cast(o).is_some();
            computes |= (before || holds) && (moves && !shape && has_tensors || stores);
        });
        before &= !holds;
    }
    if product.over_tiles {
        product.result_bytes().max(SCRATCH_BYTES as u32)
    } else if computes {
        SCRATCH_BYTES as u32
    } else {
        0
    }
}

/// Stages with which loads are hidden, if barely.
const HIDING_STAGES: u32 = 3;

/// What every kernel may move beside the rings: an element of eight bytes of each thread of so many warpgroups. Tensors
/// that are larger go through it in parts, in each of which every thread moves something.
fn least_scratch(groups: u32) -> u32 {
    groups * 128 * 8
}

/// Barriers, tensor maps under construction, sums that warps exchange.
const OTHER_BYTES: u32 = 4096;

/// Loops around an op.
fn loops(op: OpRef<'_>) -> usize {
    std::iter::successors(parent_op(op), |o| parent_op(*o)).filter(|o| Scf::of(*o) == Some(Scf::For)).count()
}

/// The product as the planner wants it; its loads, and what is computed of what they load, are added to the lists.
fn product<'c>(
    dot: DotOp<'c>,
    function: OpRef<'c>,
    (facts, target): (&Facts, &Target),
    loads: &mut Loads<'c>,
) -> Result<Found<'c>, Obstacle<'c>> {
    let op = dot.op();
    let not = |reason: &str| (op, reason.to_string());
    let tensor = |v| Tensor::of_value(v).ok_or_else(|| not("operand is no tensor"));
    let (lhs, rhs, acc) = (tensor(dot.lhs())?, tensor(dot.rhs())?, tensor(dot.acc())?);
    let [m, k] = lhs.shape[..] else { return Err(not("it has a batch dimension")) };
    let n = rhs.shape[1];
    let operand = operand_type(&dot).ok_or_else(|| not("no warpgroup instruction multiplies these types"))?;
    let sums = element_of(acc.element, false);
    let instruction_exists = match operand {
        OperandType::S8 | OperandType::U8 => sums == Some(Element::S32),
        OperandType::F16 => matches!(sums, Some(Element::F32 | Element::F16)),
        _ => sums == Some(Element::F32),
    };
    if !instruction_exists {
        return Err(not("no warpgroup instruction multiplies these types"));
    }
    let extent = |e: i64| u32::try_from(e).unwrap_or(u32::MAX);
    let mut product = ProductLoop::new((extent(m), extent(n), extent(k)), operand);
    product.exact_sums = !dot.fast_acc();
    product.result_bits = stored_bits(function, m * n).unwrap_or(storage_bits(acc.element));
    let mut sides = vec![];
    for (i, (v, depth)) in [(dot.lhs(), 1), (dot.rhs(), 0)].into_iter().enumerate() {
        let name = ["lhs", "rhs"][i];
        let found = match Source::of(v, op) {
            Source::Loaded(found) => found,
            Source::Stays => {
                sides.push(Side::Stays(v));
                continue;
            }
            Source::Computed => {
                // A tile that is loaded into registers waits for memory in each iteration.
                if i > 0 || operand.bits() != 16 || !comes_from_product(v) {
                    return Err(not(&format!("{name} is not a tile that is loaded for it alone")));
                }
                product.a_place = APlace::Registers { extra: 0 };
                sides.push(Side::Registers(v));
                continue;
            }
        };
        let load = TiledLoadOp::cast(found.load).ok_or_else(|| not("operand is not loaded from a view"))?;
        check_load(load, op, function)?;
        if load.hints().and_then(|h| bool_hint(h, target.name, "allow_tma")) == Some(false) {
            return Err((load.op(), "the hint allow_tma forbids tensor copies".into()));
        }
        let view = View::of(load.view()).ok_or_else(|| not("its view is not made in this function"))?;
        // The map is made once, before everything else.
        if parent_op(view.make.op()) != Some(function) {
            return Err((load.op(), "its tensor differs from iteration to iteration, or is made in a branch".into()));
        }
        let indices: Vec<Val<'c>> = load.indices().collect();
        let promised = bool_list(load.in_bounds());
        let stage = stage_of(load.op(), &view)
            .and_then(|stage| tensor_maps::plan_copy(&view, &indices, &promised, stage, facts).map(|_| stage))
            .map_err(|reason| (load.op(), format!("{name} is not copied by a tensor map: {reason}")))?;
        if found.contiguous_dimension(&view) != Some(depth) {
            *[&mut product.a_major, &mut product.b_major][i] = Major::Mn;
        }
        product.computed[i] = !found.computed.is_empty();
        loads.computed.extend(found.computed);
        loads.loads.push(load.op());
        sides.push(Side::Ring(stage));
    }
    let sides: [Side<'c>; 2] = sides.try_into().map_err(|_| not("it has no two operands"))?;
    Ok(Found { op, product, sides })
}

/// Bits of the elements of the largest tile that is stored, if it is as large as the result.
fn stored_bits(function: OpRef<'_>, elements: i64) -> Option<u32> {
    let stored = collect_ops(function, |o| TiledStoreOp::cast(o).and_then(|s| Tensor::of_value(s.value())));
    stored.iter().filter(|t| t.elements() >= elements).map(|t| storage_bits(t.element)).max()
}

fn operand_type(dot: &DotOp<'_>) -> Option<OperandType> {
    let of = |v, unsigned| element_of(Tensor::of_value(v)?.element, unsigned);
    let (left, right) = (of(dot.lhs(), dot.lhs_unsigned())?, of(dot.rhs(), dot.rhs_unsigned())?);
    if left != right {
        return None;
    }
    Some(match left {
        Element::F16 => OperandType::F16,
        Element::Bf16 => OperandType::Bf16,
        Element::Tf32 => OperandType::Tf32,
        Element::E4m3 => OperandType::E4m3,
        Element::E5m2 => OperandType::E5m2,
        Element::S8 => OperandType::S8,
        Element::U8 => OperandType::U8,
        _ => return None,
    })
}

/// Whether a load may be started by other threads, before its turn.
fn check_load<'c>(load: TiledLoadOp<'c>, dot: OpRef<'c>, function: OpRef<'c>) -> Result<(), Obstacle<'c>> {
    let not = |reason: &str| Err((load.op(), reason.to_string()));
    if block_of(load.op()) != block_of(dot) {
        return not("the operand is not loaded next to the product");
    }
    if load.ordering() != Ordering::Weak || !is_over_for_others(load, dot) {
        return not("other accesses are ordered after the load");
    }
    if !load.token().is_none_or(|token| is_free(token, function)) {
        return not("the load is ordered after another access");
    }
    // A branch or a counted loop can be gone through twice, anything else cannot.
    let mut at = parent_op(load.op());
    while let Some(op) = at.filter(|o| *o != function) {
        if !matches!(Scf::of(op), Some(Scf::For | Scf::If)) {
            return not("the load is in a loop without a count");
        }
        at = parent_op(op);
    }
    Ok(())
}

/// Whether what is ordered behind a load comes when the product has been started, and so has what was loaded.
fn is_over_for_others<'c>(load: TiledLoadOp<'c>, dot: OpRef<'c>) -> bool {
    let home = block_of(dot);
    let in_block = |op| std::iter::successors(Some(op), |o| parent_op(*o)).find(|o| block_of(*o) == home);
    let Some(block) = block_around(dot) else { return false };
    let before: Vec<usize> = ops_of(block).take_while(|o| *o != dot).map(op_key).collect();
    tokens::users(load.result_token()).is_some_and(|users| {
        users.iter().all(|user| user.carried || in_block(user.op).is_none_or(|op| !before.contains(&op_key(op))))
    })
}

/// Whether a token makes a load wait for nothing but grids before this one, at the top of the function, where the
/// producer waits for them too. Weak loads do not wait for each other.
fn is_free<'c>(token: Val<'c>, function: OpRef<'c>) -> bool {
    let (mut work, mut seen) = (vec![token], FxHashSet::default());
    while let Some(token) = work.pop() {
        let Some(sources) = tokens::sources(token) else { return false };
        for op in sources.into_iter().filter(|op| seen.insert(op_key(*op))) {
            match AnyOp::cast(op) {
                Some(AnyOp::CreateMemTokenOp(_)) => {}
                Some(AnyOp::WaitForGridsOp(x)) if parent_op(op) == Some(function) => work.extend(x.token()),
                Some(AnyOp::TiledLoadOp(x)) if x.ordering() == Ordering::Weak => work.extend(x.token()),
                Some(AnyOp::LoadOp(x)) if x.ordering() == Ordering::Weak => work.extend(x.token()),
                _ => return false,
            }
        }
    }
    true
}
