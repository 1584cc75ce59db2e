//! The part of the verifier of dots that depends on instructions and fragments.
//!
//! Checked: the table has the instruction for the element types, the instruction takes all operands from registers,
//! the accumulator is laid out in its fragments, and the layouts of operands and scales match the accumulator's. Not
//! checked: that the target has the instruction and that the compiler can emit it; the lowering reports that.
//!
//! Checked for dots that read shared memory: the table has the instruction, the accumulator is laid out in its
//! fragments or as it adds in tensor memory, and the instruction can read the order, alignment and strides of both
//! operands.
//!
//! The dialect's C++ calls this check after it has verified ranks, shapes and equal element types. The layout algebra
//! and the table of instructions exist only in Rust, so C++ does not repeat the check.

use super::{
    dots::{AnyDot, Instruction, SharedDot, TensorDot, WarpgroupDot, element_of},
    layouts::{Tensor, layout_attr},
    nv_tileas::{MemDescType, MmaKind},
    pass::{INTERNAL_ERROR, context_of},
    rt::*,
};
use melior::{Context, ir::AttributeLike};
use mlir_sys::{MlirOperation, MlirStringCallback, MlirStringRef};
use std::{
    ffi::c_void,
    panic::{AssertUnwindSafe, catch_unwind},
};
use tile_layout::{DotShape, Layout, LayoutError, Multiplier, Operand, Shape, TensorMemory, warpgroups_of};
use tile_mma::Storage;

/// Called from C++: reports the error in a dot, if there is one.
pub(super) unsafe extern "C" fn check(op: MlirOperation, report: MlirStringCallback, data: *mut c_void) {
    let (op, Some(report)) = (op_ref(op), report) else { return };
    // A panic must not unwind into C++.
    let verdict = catch_unwind(AssertUnwindSafe(|| match (AnyDot::cast(op), SharedDot::cast(op)) {
        (Some(dot), _) => verdict(dot),
        (None, Some(SharedDot::Async(dot))) if MemDescType::cast(ty(dot.acc())).is_some() => {
            TensorDot::of(dot).map(drop)
        }
        (None, Some(dot)) => WarpgroupDot::of(dot).map(drop),
        (None, None) => Ok(()),
    }));
    let Err(message) = verdict.unwrap_or_else(|_| Err(format!("{INTERNAL_ERROR} in the verifier of dots"))) else {
        return;
    };
    let text = MlirStringRef { data: message.as_ptr().cast(), length: message.len() };
    // SAFETY: the callback copies the text, and `data` is the pointer that the caller passed for it.
    unsafe { report(text, data) };
}

/// The operands of a dot with their layouts.
struct Check<'c> {
    context: &'c Context,
    product: DotShape,
    multiplier: Multiplier,
    accumulator: Layout,
    dot: AnyDot<'c>,
}

fn verdict(dot: AnyDot<'_>) -> Result<(), String> {
    let error = |e: LayoutError| e.to_string();
    let tensor = |v| Tensor::of_value(v).ok_or("operand is not a tensor");
    let (lhs, rhs, acc) = (tensor(dot.lhs())?, tensor(dot.rhs())?, tensor(dot.acc())?);
    let shape = |t: &Tensor<'_>| Shape::new(&t.shape).map_err(error);
    let product = DotShape::new(&shape(&lhs)?, &shape(&rhs)?, &shape(&acc)?).map_err(error)?;
    let instruction = dot.instruction().ok_or("expected M, N and K of an instruction")?;
    let context = context_of(dot.op());
    let name = instruction.to_attr(context);
    let multiplier = match dot.matrix_instruction() {
        None if instruction == Instruction::FMA => Multiplier::Scalar,
        None if scales_otherwise(dot, instruction) => {
            return Err("no instruction supports these elements with scales of these blocks".into());
        }
        None => {
            return Err(format!("no instruction {name} multiplies '{}' into '{}'", lhs.element, acc.element));
        }
        // The operands are still in registers; `tileas-materialize-async` will move them to shared memory.
        Some(i) if instruction.kind == MmaKind::Warpgroup => {
            let accumulator = acc.layout().ok_or("acc has no layout")?;
            return warpgroups_of(&accumulator, &shape(&acc)?, i.n).map(|_| ()).map_err(error);
        }
        // The accumulator will be in tensor memory; until then it has the layout in which it is read from there.
        Some(_) if matches!(instruction.kind, MmaKind::Tensor | MmaKind::TensorPair) => {
            let accumulator = acc.layout().ok_or("acc has no layout")?;
            let (shape, warps) = (shape(&acc)?, accumulator.warps());
            let in_rows = TensorMemory::rows(&shape, warps).is_ok_and(|layout| layout == accumulator);
            let is_read = in_rows || TensorMemory::slices_of(&shape, &accumulator).is_some();
            let wrong = || format!("accumulator is not laid out in fragments or rows of {name}");
            return if is_read { Ok(()) } else { Err(wrong()) };
        }
        Some(i) => {
            for (what, operand) in [("lhs", Operand::A), ("rhs", Operand::B), ("acc", Operand::Accumulator)] {
                let places = i.row.storage(operand);
                if !places.contains(&Storage::Register) {
                    let places: Vec<_> = places.iter().map(|p| p.name()).collect();
                    return Err(format!("{what} of {name} must be in {}, not in registers", places.join(" or ")));
                }
            }
            let shape = i.row.fragments(i.n).ok_or("the instruction has no fragments")?;
            Multiplier::Matrix(shape)
        }
    };
    let accumulator = acc.layout().ok_or("acc has no layout")?;
    if !product.is_accumulator(multiplier, &accumulator) {
        return Err(format!("accumulator is not laid out in fragments of {name}"));
    }
    let check = Check { context, product, multiplier, accumulator, dot };
    check.operand("lhs", dot.lhs(), check.product.operand(multiplier, &check.accumulator, Operand::A))?;
    check.operand("rhs", dot.rhs(), check.product.operand(multiplier, &check.accumulator, Operand::B))?;
    check.scales(instruction)
}

/// Whether the instruction exists for these elements, but with other scales or other scale blocks.
fn scales_otherwise(dot: AnyDot<'_>, instruction: Instruction) -> bool {
    let element = Tensor::of_value(dot.lhs()).and_then(|t| element_of(t.element, false));
    let unit = instruction.unit().filter(|_| instruction.kind == MmaKind::BlockScale);
    let (Some(unit), Some(element)) = (unit, element) else { return false };
    tile_mma::rows_of(unit, instruction.shape, element, element).next().is_some()
}

impl<'c> Check<'c> {
    fn scales(&self, instruction: Instruction) -> Result<(), String> {
        let AnyDot::Scaled(op) = self.dot else { return Ok(()) };
        let scales = Tensor::of_value(op.lhs_scale()).ok_or("operand is not a tensor")?;
        let scales = Shape::new(&scales.shape).map_err(|e| e.to_string())?;
        let blocks = self.product.with_depth(scales.log2().last().copied().unwrap_or(0));
        let wanted = |side| match instruction.kind {
            MmaKind::BlockScale => blocks.scales(self.multiplier, &self.accumulator, side),
            _ => blocks.operand(Multiplier::Scalar, &self.accumulator, side),
        };
        self.operand("the scales of lhs", op.lhs_scale(), wanted(Operand::A))?;
        self.operand("the scales of rhs", op.rhs_scale(), wanted(Operand::B))
    }

    /// Checks the layout of one operand.
    fn operand(&self, what: &str, v: Val<'c>, wanted: Result<Layout, LayoutError>) -> Result<(), String> {
        let wanted = layout_attr(self.context, &wanted.map_err(|e| e.to_string())?);
        let found = Tensor::of_value(v).and_then(|t| t.encoding);
        if found.is_some_and(|found| found.to_raw().ptr == wanted.to_raw().ptr) {
            return Ok(());
        }
        Err(format!("layout of {what} does not match the accumulator's; expected {wanted}"))
    }
}
