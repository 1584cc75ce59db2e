//! `tileas-materialize-async`: products of warpgroups and the loads of their operands become asynchronous.
//!
//! In a function with a plan (`dialect::dot_plan`),
//!
//! ```text
//! for i iter_args(c) { a = tiled_load ..; b = tiled_load ..; yield dot a, b, c }
//! ```
//!
//! becomes, with a ring of S stages for each operand and a pipeline of their barriers,
//!
//! ```text
//! for i iter_args(c, it, last, started) {
//!   elect { acquire [it]; copy a into ring[it]; copy b into ring[it] }
//!   wait [it]
//!   c = async.dot ring[it], ring[it], c
//!   dot_wait pending 1                     the product of the iteration before is done
//!   if started: release [last]             and its stage may be filled again
//!   yield c, next it, it, true
//! }
//! c = dot_wait c pending 0; if started: release [last]
//! ```
//!
//! A product whose sum the next iteration changes before it adds to it is waited for there, together with the first
//! product that is waited for anyway: attention's second product is under way while the next scores are computed. One
//! whose sum is used in the same iteration, or that is in no loop, is waited for at the use, or earlier where the ring
//! needs its stage before, and its stage is released then. One of 8-bit floats whose sums must be exact is waited for
//! at once: `promoted_dot` adds what the tensor cores sum up, a few elements of K at a time, to an accumulator that
//! they do not touch.
//!
//! The iterator of a pipeline is carried by all loops and branches around the product, so that a ring runs on from one
//! tile to the next. Products whose operands have stages alike share a ring. The program is sequential: an iteration
//! fills the stage that it multiplies. With two stages or more it never waits for itself. `tileas-specialize-agents`
//! makes a program of its own of what `elect` does.
//!
//! Products that multiply one tile take a stage together, which has it once beside their other tiles: they are started
//! one behind the other, and all are waited for before it is released. Each of them does nothing but add up in a loop.
//!
//! Where an operand is computed from what is loaded, element by element, or must be turned, threads change the stage
//! between the wait and the product (`prepare`), while the product before is under way. Where the plan has a
//! *converter*, its warps do so, and consumers wait for them:
//!
//! ```text
//!   elect { acquire [it]; copy a into ring[it] .. }
//!   produce_one prepares { wait [it]; change ring[it]; commit [it] prepared }
//!   wait [it] prepared;  c = async.dot ..
//! ```
//!
//! An operand that warps of the producer make (`produce_one`) is stored by them to its stage; they announce nothing,
//! but each of them arrives when it has stored its part:
//!
//! ```text
//!   produce_one { elect { acquire [it]; copy b .. };  a = ..;  acquire [it];  local_store a, ring[it];  commit [it] }
//! ```
//!
//! A tile that is loaded and nothing else goes there by copies of their own (`cp.async`), where these can do it: each
//! thread arrives once its copies are done, whenever that is, and all stages of the ring may be under way:
//!
//! ```text
//!   produce_one { pointers = ..;  acquire [it];  copy pointers into ring[it];  commit [it] copies }
//!   wait [it]; fence
//! ```
//!
//! Where it is not known when compiling whether a view lies in memory as a tensor map can say, and nothing else is in
//! the way of copies (`or_copy`), there are both programs, behind a test of all such views at the top of the function.
//! The barriers count the same arrivals in both:
//!
//! ```text
//!   if ready { produce_one { elect { acquire [it] bytes; copy b into ring[it] }  acquire [it]; commit [it] } }
//!   else     { produce_one { elect { acquire [it] bytes 0 }  b = ..;  acquire [it]; local_store b; commit [it] } }
//! ```
//!
//! An operand that the loop around the product does not change is stored to shared memory where it is computed, and one
//! that lies in fragments of the instruction already comes from registers.
//!
//! Rings have as many stages as the plan says. Where the loops of all their products are scheduled, they have as many
//! as the schedules take.
//!
//! Operands lie in shared memory as `tile_layout::HardwareLayout::panels` says. Maps of the views are made at the top
//! of the function, or, of views that a loop or branch makes, in front of the loop that copies by them.

mod addresses;
mod convert_stage;
mod readiness;
mod stream;
mod top;

use crate::{
    analysis::{
        access::View,
        facts::Facts,
        producers::{
            LoadedOperand, Source, behind_conversions, bring_together, computed_stage, converted_stage_of,
            groups_by_tiles,
        },
        schedule::agents::stages_of,
        tensor_map_ops::TensorMaps,
        tensor_maps,
        thread_copies::PlainLoad,
        tile_programs::{is_unordered_load, may_leave_loops},
    },
    dialect::{
        dot_plan::DotPlan,
        dots::{AnyDot, element_of, promotes},
        layouts::Tensor,
        nv_tileaa,
        nv_tileas::{
            BarrierOp, ConvertLayoutOp, DotOp, MemDescPermuteOp, MemDescType, MemDescViewOp, MmaKind, PermuteOp,
            PipelineIteratorType, ProduceOneOp, SharedLayoutAttr, TiledLoadOp, TmaDescType,
        },
        pass::{Failed, PassContext, RustPass, descriptors, fail},
        rt::*,
        shared_memory::aligned_storage_type,
    },
    pass_descriptor,
};
use melior::{Context, ir::Type};
use stream::{Placed, Stream};
use tile_plan::PROMOTION;
use top::Residents;

#[derive(Clone, Default)]
pub struct MaterializeAsync;

impl RustPass for MaterializeAsync {
    pass_descriptor!(tileas_materialize_async);
    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileas_materialize_async::stat;
        for function in collect_ops(op, nv_tileaa::FuncOp::cast) {
            let Some(plan) = DotPlan::of(function.op()) else { continue };
            let dots = collect_ops(function.op(), |o| {
                let by = AnyDot::cast(o)?.instruction()?;
                DotOp::cast(o).filter(|_| by.kind == MmaKind::Warpgroup)
            });
            if dots.is_empty() {
                continue;
            }
            cx.stat_add(stat::NUM_PRODUCTS, dots.len() as i64);
            let entry = entry_block(function.body()).ok_or_else(|| fail(op, "function has no body"))?;
            let first = ops_of(entry).next().ok_or_else(|| fail(op, "function has no terminator"))?;
            let top = Builder::before(context, first);
            top.set_location(function.op().location());
            // Storage and pipelines stand in front of everything else, and a barrier behind them.
            let facts = Facts::of(function.op());
            let mut residents = Residents::default();
            let tiles: Vec<Vec<usize>> = dots.iter().map(|dot| tiles_of(*dot)).collect();
            let mut products: Vec<Product<'c>> = vec![];
            for group in groups_by_tiles(&tiles) {
                products.push(Product::of(group.into_iter().map(|i| dots[i]).collect(), &facts)?);
            }
            let ready = readiness::test(context, entry, &mut products)?;
            let mut maps = TensorMaps::default();
            let mut streams: Vec<Stream<'c>> = vec![];
            let rings: Vec<RingPlan> = products.iter().map(|p| ring(p, &products, plan)).collect::<Result<_, _>>()?;
            for (product, ring) in products.into_iter().zip(rings) {
                let alike = streams.iter_mut().find(|s| s.takes(&product));
                let stream = match alike {
                    Some(stream) => stream,
                    None => {
                        streams.push(Stream::new(&product, &top, plan, ring)?);
                        streams.last_mut().expect("one was added")
                    }
                };
                let place = product.place();
                let mut map = |c: &TiledCopy<'c>| maps.of(place, c.load.view(), c.map, &top);
                let maps = product.copies(true).map(|(_, c)| map(&c)).collect::<Result<_, _>>()?;
                let mut tiles = vec![];
                for dot in 0..product.dots.len() {
                    let [lhs, rhs] = [0, 1].map(|number| residents.of(&product, (dot, number), &top));
                    tiles.push([lhs?, rhs?]);
                }
                stream.products.push(Placed::new(product, tiles, (maps, ready)));
            }
            BarrierOp::build(&top, None, None).map_err(|e| fail(op, e.to_string()))?;
            for stream in &streams {
                stream.rewrite(entry)?;
            }
        }
        Ok(())
    }
}

/// What a ring is like.
#[derive(Clone, Copy)]
struct RingPlan {
    stages: u32,
    /// Whether others than the consumers change its stages before these have them.
    converted: bool,
}

/// The ring of a product. It has as many stages as the schedules of all products that share it take, or as the plan
/// says; if stages of any of these are changed by others, all of them go through their hands.
fn ring<'c>(product: &Product<'c>, all: &[Product<'c>], plan: DotPlan) -> Result<RingPlan, Failed> {
    let alike = || all.iter().filter(|p| p.is_like(product));
    let converted = plan.converter.is_some() && alike().any(Product::is_converted);
    let scheduled: Option<Vec<u32>> = alike().map(|p| p.dots.iter().find_map(|dot| stages_of(dot.op()))).collect();
    let Some(most) = scheduled.and_then(|s| s.into_iter().max()) else {
        return Ok(RingPlan { stages: plan.stages, converted });
    };
    if !(2..=plan.stages).contains(&most) {
        let text =
            format!("its schedule takes a ring of {most} stages, and the plan has room for 2 to {}", plan.stages);
        return Err(fail(product.place(), text));
    }
    Ok(RingPlan { stages: most, converted })
}

/// The loads whose tiles a product multiplies.
fn tiles_of(dot: DotOp<'_>) -> Vec<usize> {
    let load = |v| match Source::of(v, dot.op()) {
        Source::Loaded(operand) => Some(op_key(operand.load)),
        _ => None,
    };
    [dot.lhs(), dot.rhs()].into_iter().filter_map(load).collect()
}

/// A tile that comes through a ring, as an operand of products.
struct StagedOperand<'c> {
    /// What it is an operand of. A tile that is made, or that threads change, has one place.
    places: Vec<OperandUse<'c>>,
    /// One stage.
    desc: MemDescType<'c>,
    from: FilledBy<'c>,
}

/// An operand of a product that takes a stage.
struct OperandUse<'c> {
    /// Which of the products that take it together.
    dot: usize,
    /// Of the left operand 0, of the right one 1.
    number: usize,
    /// What gives the tile in the stage the operand's shape.
    moved: Vec<OpRef<'c>>,
}

/// Who fills a stage.
enum FilledBy<'c> {
    /// Tensor copies.
    Copied(Copied<'c>),
    /// Warps of the producer.
    ProducerComputed(ProducerComputed<'c>),
}

/// What warps of the producer bring.
#[derive(Clone, Copy)]
struct ProducerComputed<'c> {
    by: ProduceOneOp<'c>,
    /// The load that is all of it, where copies of the threads can do it.
    load: Option<OpRef<'c>>,
    /// What does it where the view is ready.
    if_ready: Option<TiledCopy<'c>>,
}

/// What is copied into a ring.
struct Copied<'c> {
    operand: LoadedOperand<'c>,
    copy: TiledCopy<'c>,
    /// What threads make of a stage before it is multiplied, where they have to.
    converted: Option<MemDescType<'c>>,
}

/// A tensor copy in the place of a load.
#[derive(Clone, Copy)]
struct TiledCopy<'c> {
    load: TiledLoadOp<'c>,
    /// Type of the map, and bytes of the tile.
    map: TmaDescType<'c>,
    bytes: u32,
}

/// A product, or several that share tiles.
struct Product<'c> {
    dots: Vec<DotOp<'c>>,
    /// Operands that come through rings.
    sides: Vec<StagedOperand<'c>>,
}

impl<'c> Product<'c> {
    fn of(dots: Vec<DotOp<'c>>, facts: &Facts) -> Result<Self, Failed> {
        let mut sides: Vec<StagedOperand<'c>> = vec![];
        for (i, dot) in dots.iter().enumerate() {
            for (number, v) in [dot.lhs(), dot.rhs()].into_iter().enumerate() {
                match Source::of(v, dot.op()) {
                    Source::Loaded(operand) => {
                        let place = OperandUse { dot: i, number, moved: operand.moved.clone() };
                        match sides.iter_mut().find(|s| s.is_tile_of(operand.load)) {
                            Some(side) => side.places.push(place),
                            None => sides.push(StagedOperand::copied(dot.op(), (place, operand), facts)?),
                        }
                    }
                    Source::ProducerComputed(by) => {
                        let place = OperandUse { dot: i, number, moved: vec![] };
                        sides.push(StagedOperand::made(dot.op(), (place, by), facts)?);
                    }
                    Source::Resident | Source::Computed => {}
                }
            }
        }
        bring_together(&dots.iter().map(|dot| dot.op()).collect::<Vec<_>>());
        Ok(Self { dots, sides })
    }

    /// The last of the products: all start there, behind everything that any of them needs.
    fn place(&self) -> OpRef<'c> {
        self.dots[self.dots.len() - 1].op()
    }

    /// Whether the operands of another product come in the same stages, by the same means.
    fn is_like(&self, other: &Self) -> bool {
        let by = |s: &StagedOperand<'c>| match &s.from {
            FilledBy::Copied(_) => None,
            FilledBy::ProducerComputed(made) => Some((made.load.is_some(), made.if_ready.is_some())),
        };
        let stages = |p: &Self| p.sides.iter().map(|s| (s.desc, by(s))).collect::<Vec<_>>();
        stages(self) == stages(other)
    }

    /// The operands that copies bring.
    fn copied(&self) -> impl Iterator<Item = (&StagedOperand<'c>, &Copied<'c>)> {
        self.sides.iter().filter_map(|s| if let FilledBy::Copied(copied) = &s.from { Some((s, copied)) } else { None })
    }

    /// Whether threads change a stage before it is multiplied.
    fn is_converted(&self) -> bool {
        self.copied().any(|(_, c)| c.converted.is_some())
    }

    /// Tensor copies with the numbers of the sides that they fill: those of every launch, and also those that views are
    /// tested for.
    fn copies(&self, if_ready: bool) -> impl Iterator<Item = (usize, TiledCopy<'c>)> {
        self.sides.iter().enumerate().filter_map(move |(i, s)| match &s.from {
            FilledBy::Copied(copied) => Some((i, copied.copy)),
            FilledBy::ProducerComputed(made) => made.if_ready.filter(|_| if_ready).map(|copy| (i, copy)),
        })
    }

    /// The sides that warps of the producer make, with their numbers.
    fn made(&self) -> impl Iterator<Item = (usize, ProducerComputed<'c>)> {
        let made = |(i, s): (usize, &StagedOperand<'c>)| {
            if let FilledBy::ProducerComputed(made) = s.from { Some((i, made)) } else { None }
        };
        self.sides.iter().enumerate().filter_map(made)
    }

    /// Whether threads of the producer copy an operand, and whether they store one.
    fn by_threads(&self) -> (bool, bool) {
        let any = |copies| self.made().any(|(_, made)| made.load.is_some() == copies);
        (any(true), any(false))
    }
}

/// Whether the sums of the tensor cores are not exact enough: those of 8-bit floats.
fn is_promoted(dot: DotOp<'_>) -> bool {
    let Some(lhs) = Tensor::of_value(dot.lhs()) else { return false };
    let sum = (behind_conversions(dot.acc()), lhs.shape[1]);
    element_of(lhs.element, false).is_some_and(|e| promotes(e, dot.fast_acc(), sum, PROMOTION))
}

impl<'c> StagedOperand<'c> {
    fn made(op: OpRef<'c>, (place, by): (OperandUse<'c>, ProduceOneOp<'c>), facts: &Facts) -> Result<Self, Failed> {
        let tile = by.tile().next().ok_or_else(|| fail(by.op(), "it makes no tile"))?;
        let desc = computed_stage(by.op(), tile, by.fast() as usize).map_err(|e| fail(op, e))?;
        let if_ready = by.or_copy().then(|| TiledCopy::of(by, desc, facts)).transpose()?;
        Ok(Self {
            places: vec![place],
            desc,
            from: FilledBy::ProducerComputed(ProducerComputed { by, load: plain_load(by, desc), if_ready }),
        })
    }

    fn copied(
        op: OpRef<'c>,
        (place, operand): (OperandUse<'c>, LoadedOperand<'c>),
        facts: &Facts,
    ) -> Result<Self, Failed> {
        let load = TiledLoadOp::cast(operand.load).ok_or_else(|| fail(op, "operand is not loaded from a view"))?;
        let view = View::of(load.view()).ok_or_else(|| fail(load.op(), "its view is not made here"))?;
        let desc = operand.stage(&view).map_err(|e| fail(load.op(), e))?;
        let (map, bytes) = tensor_maps::plan(load, desc, facts).map_err(|e| fail(load.op(), e))?;
        let transposed = operand.must_be_transposed(&view, 1 - place.number);
        let converted = if transposed || !operand.computed.is_empty() {
            let v = self::operand(op, place.number);
            let element = Tensor::of_value(v).ok_or_else(|| fail(op, "operand is no tensor"))?.element;
            Some(converted_stage_of(load.op(), &view, element, transposed).map_err(|e| fail(load.op(), e))?)
        } else {
            None
        };
        Ok(Self {
            places: vec![place],
            desc,
            from: FilledBy::Copied(Copied { operand, copy: TiledCopy { load, map, bytes }, converted }),
        })
    }

    /// Whether it holds what an op loads.
    fn is_tile_of(&self, load: OpRef<'c>) -> bool {
        matches!(&self.from, FilledBy::Copied(copied) if copied.operand.load == load)
    }
}

impl<'c> TiledCopy<'c> {
    /// The copy that fills a stage where the view of the only load of a program is ready.
    fn of(by: ProduceOneOp<'c>, stage: MemDescType<'c>, facts: &Facts) -> Result<Self, Failed> {
        let load = computed_tile(by).map(behind_conversions).and_then(defining_op).and_then(TiledLoadOp::cast);
        let load = load.ok_or_else(|| fail(by.op(), "what it makes is not a tile of a view"))?;
        let (map, bytes) = tensor_maps::plan_if_ready(load, stage, facts).map_err(|e| fail(load.op(), e))?;
        Ok(Self { load, map, bytes })
    }
}

/// What a producer's program makes, inside of it.
fn computed_tile(by: ProduceOneOp<'_>) -> Option<Val<'_>> {
    let last = entry_block(region(by.op(), 0)).and_then(|body| ops_of(body).last())?;
    operands(last).next()
}

/// The load that is all of a producer's program, if copies of the threads can bring its tile to a stage.
fn plain_load<'c>(by: ProduceOneOp<'c>, stage: MemDescType<'c>) -> Option<OpRef<'c>> {
    let body = entry_block(region(by.op(), 0))?;
    let mut v = computed_tile(by)?;
    // A copy needs no other layout than that of the load.
    while uses(v).len() == 1
        && let Some(convert) = defining_op(v).and_then(ConvertLayoutOp::cast)
    {
        v = convert.source();
    }
    let load = PlainLoad::of(defining_op(v)?)?;
    let here = block_of(load.op) == block_key(body) && uses(v).len() == 1;
    // What need not be loaded in each iteration would be.
    (here && is_unordered_load(load.op) && !may_leave_loops(load.op) && load.suits(stage)).then_some(load.op)
}

fn iterator_type(op: OpRef<'_>) -> Result<Type<'_>, Failed> {
    PipelineIteratorType::get(op.location()).map(Into::into).ok_or_else(|| fail(op, "no type of iterators"))
}

/// What `op` does to a tensor, done to storage of one.
fn reshaped<'c>(b: &Builder<'c>, op: OpRef<'c>, memory: Val<'c>) -> Result<Val<'c>, Failed> {
    let error = |e: BuildError| fail(op, e.to_string());
    let from = MemDescType::cast(ty(memory)).ok_or_else(|| fail(op, "not a memdesc"))?;
    let to = Tensor::of_value(result(op, 0)).ok_or_else(|| fail(op, "result is no tensor"))?;
    let bases: Vec<u64> = SharedLayoutAttr::cast(from.layout().ok_or_else(|| fail(op, "storage has no layout"))?)
        .map(|l| l.offsets().iter().map(|&b| b as u64).collect())
        .ok_or_else(|| fail(op, "storage has no layout"))?;
    let Some(permute) = PermuteOp::cast(op) else {
        let desc = aligned_storage_type(op, &to.shape, from.element_type(), &bases, from.alignment()).map_err(error)?;
        return Ok(MemDescViewOp::build(b, desc.into(), memory).map_err(error)?.result());
    };
    let order: Vec<i32> = permute.order().to_vec();
    let (source, target) = (from.shape().to_vec(), to.shape.clone());
    // Where an element's index goes when its coordinates change places.
    let moved = |index: u64| {
        let mut rest = index;
        let mut coordinates = vec![0; source.len()];
        for d in (0..source.len()).rev() {
            coordinates[d] = rest % source[d] as u64;
            rest /= source[d] as u64;
        }
        order.iter().zip(&target).fold(0, |out, (&d, &extent)| out * extent as u64 + coordinates[d as usize])
    };
    let bases: Vec<u64> = bases.into_iter().map(moved).collect();
    let desc = aligned_storage_type(op, &to.shape, from.element_type(), &bases, from.alignment()).map_err(error)?;
    let order = attr(op, "order").ok_or_else(|| fail(op, "no order"))?;
    Ok(MemDescPermuteOp::build(b, desc.into(), memory, order).map_err(error)?.result())
}
