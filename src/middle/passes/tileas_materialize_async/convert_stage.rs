//! Conversion of stages in place, between the TMA load and the dot.
//!
//! ```text
//! whole = memdesc_reinterpret stage                the parts of the stage
//! x = local_load whole[0]; y = compute x           each thread converts some elements
//! barrier                                          omitted if each thread overwrites only its own elements
//! local_store y, transposed[0]
//! ... the other parts
//! ```
//!
//! Dots read the stage through the async proxy, so a fence follows. If the consumers convert, a barrier of the
//! consumers follows too; a converter warpgroup arrives at a barrier of the stage instead.
//!
//! An element-wise computation, such as rounding to tf32, treats the tile as a list of elements: each thread writes
//! where it has read. A tile that must be transposed is cut into parts that each keep their bytes
//! (`tile_layout::InPlace`). Warps transpose an 8-bit tile of whole panels independently of each other
//! (`local_transpose`).

use super::{Copied, DotGroup, FilledBy, StagedOperand};
use crate::dialect::{
    layouts::{Tensor, storage_bits, tensor_type},
    nv_tileas::{
        BarrierOp, LocalLoadOp, LocalStoreOp, LocalTransposeOp, MemDescReinterpretOp, MemDescSlotOp, MemDescType,
    },
    pass::{Failed, fail},
    rt::*,
    shared_memory::{ALIGNMENT, aligned_storage_type, shared_layout, vector_of, with_stages},
};
use melior::ir::Type;
use tile_layout::{Direction, InPlace, Layout, Shape, SharedAccess, SharedLayout, transposed_panels};

/// The maximum number of registers of a thread that hold elements at a time.
const REGISTERS: u64 = 16;

/// Converts the stages of the operands that need it, with all of `warps` warps.
pub(super) fn convert<'c>(b: &Builder<'c>, group: &DotGroup<'c>, slots: &[Val<'c>], warps: u32) -> Result<(), Failed> {
    for (side, slot) in group.sides.iter().zip(slots) {
        let FilledBy::Copied(copied) = &side.from else { continue };
        let Some(desc) = copied.converted else { continue };
        b.set_location(copied.copy.load.op().location());
        convert_one(b, copied.copy.load.op(), &copied.operand.computed, (*slot, desc), warps)?;
    }
    b.set_location(group.place().location());
    Ok(())
}

/// Returns the stages with the types that the dots read.
pub(super) fn converted<'c>(b: &Builder<'c>, group: &DotGroup<'c>, slots: &[Val<'c>]) -> Result<Vec<Val<'c>>, Failed> {
    let stage = |(side, slot): (&StagedOperand<'c>, &Val<'c>)| match &side.from {
        FilledBy::Copied(Copied { converted: Some(desc), .. }) => {
            MemDescReinterpretOp::build(b, (*desc).into(), *slot).map(|op| op.result())
        }
        _ => Ok(*slot),
    };
    let stages: Result<_, BuildError> = group.sides.iter().zip(slots).map(stage).collect();
    stages.map_err(|e| fail(group.place(), e.to_string()))
}

/// Converts a stage in place to the type `desc`. `op` is the load that filled the stage.
fn convert_one<'c>(
    b: &Builder<'c>,
    op: OpRef<'c>,
    computed: &[OpRef<'c>],
    (slot, desc): (Val<'c>, MemDescType<'c>),
    warps: u32,
) -> Result<(), Failed> {
    let not = |what: &str| fail(op, what);
    let error = |e: BuildError| fail(op, e.to_string());
    let from = MemDescType::cast(ty(slot)).ok_or_else(|| not("not a memdesc"))?;
    let layouts = shared_layout(from).zip(shared_layout(desc)).ok_or_else(|| not("storage has no layout"))?;
    let bits = storage_bits(desc.element_type());
    if bits == 8 && computed.is_empty() && transposed_panels(&layouts.0, &layouts.1).is_some() {
        let transposed = MemDescReinterpretOp::build(b, desc.into(), slot).map_err(error)?.result();
        LocalTransposeOp::build(b, slot, transposed).map_err(error)?;
        return Ok(());
    }
    let shape = Shape::new(from.shape()).map_err(|e| fail(op, e.to_string()))?;
    let most = REGISTERS * u64::from(32 / bits.min(32));
    let plan = InPlace::new(&shape, &layouts.0, &layouts.1, bits, warps, most).map_err(|e| fail(op, e.to_string()))?;
    let tile: Vec<i64> = plan.part.shape.extents().iter().map(|&e| e as i64).collect();
    // Returns the type of one part, the stage as an array of parts, and the number of elements per access.
    let parts = |element: Type<'c>, layout: &SharedLayout, direction| -> Result<_, Failed> {
        let one = aligned_storage_type(op, &tile, element, layout.bases(), ALIGNMENT).map_err(error)?;
        let all =
            with_stages(op, one, plan.parts as i64).ok_or_else(|| not("cannot build storage of that many parts"))?;
        let all = MemDescReinterpretOp::build(b, all.into(), slot).map_err(error)?.result();
        let access = SharedAccess::new(&plan.registers, layout, bits, direction, false);
        let vector = access.map(|a| vector_of(&a)).map_err(|e| fail(op, e.to_string()))?;
        Ok((one, all, i64_attr(b.context(), vector)))
    };
    let (read, before, wide) = parts(from.element_type(), &plan.part.from, Direction::Load)?;
    let (write, after, narrow) = parts(desc.element_type(), &plan.part.to, Direction::Store)?;
    let part_of = |all: Val<'c>, one: MemDescType<'c>, number: u64| {
        if plan.parts == 1 {
            return Ok(all);
        }
        MemDescSlotOp::build(b, one.into(), all, b.i32_constant(number as i64)).map(|s| s.result())
    };
    // With more threads than elements, several threads read an element that one of them writes.
    let free = plan.registers.free_variables();
    let alone = plan.part.keeps_order() && free.lane == 0 && free.warp == 0;
    for number in 0..plan.parts {
        let t = in_registers(b, &tile, from.element_type(), &plan.registers);
        let source = part_of(before, read, number).map_err(error)?;
        let mut value = LocalLoadOp::build(b, t, source, wide).map_err(error)?.result();
        for step in computed {
            value = compute(b, *step, value, &tile, &plan.registers)?;
        }
        if !alone {
            BarrierOp::build(b, None, None).map_err(error)?;
        }
        let dest = part_of(after, write, number).map_err(error)?;
        LocalStoreOp::build(b, value, dest, narrow).map_err(error)?;
    }
    Ok(())
}

fn in_registers<'c>(b: &Builder<'c>, shape: &[i64], element: Type<'c>, layout: &Layout) -> Type<'c> {
    let t = tensor_type(shape, element, None);
    Tensor::of(t).expect("a tensor").with_layout(b.context(), layout)
}

/// Applies `op`, an element-wise computation, to a part of the tile.
fn compute<'c>(
    b: &Builder<'c>,
    op: OpRef<'c>,
    value: Val<'c>,
    shape: &[i64],
    layout: &Layout,
) -> Result<Val<'c>, Failed> {
    let result_of = Tensor::of_value(result(op, 0)).ok_or_else(|| fail(op, "result is not a tensor"))?;
    let copy = clone_detached(op);
    set_operand(copy, 0, value);
    set_ty(result(copy, 0), in_registers(b, shape, result_of.element, layout));
    b.insert_op(copy);
    Ok(result(copy, 0))
}
