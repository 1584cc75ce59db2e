//! Remarks on missed optimizations of the final program.
//!
//! Passes report their own decisions. `convert-tileas-to-llvm` calls this module, which reports outcomes that depend on
//! several passes and are only known at the end: dots without matrix instructions, masked tiles at the edge of a view,
//! updates and offsets that could be cheaper, and shared-memory bank conflicts.

use crate::{
    analysis::{
        access::View,
        atomics::{Form, Update},
    },
    dialect::{
        dots::{AnyDot, Instruction},
        layouts::{Tensor, storage_bits},
        loops::is_in_loop,
        nv_tileaa::{self, AtomicKind},
        nv_tileas::{AnyOp, Bounds, MemDescType, MmaKind},
        remark::{self, remark},
        rt::*,
        shared_memory::access_plan,
        types::{is_e2m1, is_e4m3, is_e5m2, is_e8m0, is_f32},
    },
};
use melior::ir::{Attribute, Type};
use tile_interface::Advice;
use tile_layout::{AccessMode, Direction};
use tile_targets::Target;

/// Reports missed optimizations of a function for `target`, with the given width of address arithmetic, if any.
pub fn remark_on_missed(function: OpRef<'_>, target: &'static Target, index_bits: Option<i64>) {
    if remark::wanted() {
        let missed = Missed { target, index_bits };
        walk(function, &mut |op| missed.missed(op));
    }
}

/// What the remarks depend on besides the program.
struct Missed {
    target: &'static Target,
    index_bits: Option<i64>,
}

impl Missed {
    fn missed(&self, op: OpRef<'_>) {
        if let Some(cast) = nv_tileaa::FpCastOp::cast(op) {
            self.emulated(cast);
            return;
        }
        match AnyOp::cast(op) {
            Some(AnyOp::DotOp(x)) => self.without_matrices(AnyDot::Plain(x), x.instruction()),
            Some(AnyOp::DotScaledOp(x)) => self.without_matrices(AnyDot::Scaled(x), x.instruction()),
            Some(AnyOp::TiledLoadOp(x)) => self.tile_access(op, x.view(), x.bounds()),
            Some(AnyOp::TiledStoreOp(x)) => self.tile_access(op, x.view(), x.bounds()),
            Some(AnyOp::AsyncTiledLoadOp(x)) => self.tile_access(op, x.view(), x.bounds()),
            Some(AnyOp::MultimemLoadReduceOp(x)) => self.tile_access(op, x.view(), x.bounds()),
            Some(AnyOp::MultimemReduceOp(x)) => self.tile_access(op, x.view(), x.bounds()),
            Some(AnyOp::MultimemStoreOp(x)) => self.tile_access(op, x.view(), x.bounds()),
            Some(AnyOp::TiledAtomicRmwOp(x)) => {
                self.tile_access(op, x.view(), x.bounds());
                self.update_of_one(op, x.kind(), Tensor::of_value(x.value()), x.vector());
            }
            Some(AnyOp::AtomicRmwOp(x)) => {
                self.update_of_one(op, x.kind(), Tensor::of_value(x.value()), x.vector());
            }
            Some(AnyOp::LocalLoadOp(x)) => self.shared_access(op, x.result(), x.source(), Direction::Load),
            Some(AnyOp::LocalStoreOp(x)) => self.shared_access(op, x.source(), x.dest(), Direction::Store),
            _ => {}
        }
    }

    /// Reports a dot that uses scalar instructions, or matrix instructions of a wider type than its operands.
    fn without_matrices<'c>(&self, dot: AnyDot<'c>, instruction: Attribute<'c>) {
        let Some(instruction) = Instruction::of(instruction) else { return };
        let Some(lhs) = Tensor::of_value(dot.lhs()) else { return };
        let (element, target) = (lhs.element, self.target.name);
        if instruction.kind == MmaKind::Fma {
            let reason = format!(
                "{target} has no matrix instruction for operands of type {element}: the dot uses scalar instructions"
            );
            let advice = is_f32(element).then_some(Advice::RoundOperands);
            remark(dot.op(), remark::NO_TENSOR_CORE, reason, advice);
        } else if let Some(from) = widened(dot.lhs()) {
            let reason = format!(
                "{target} has no matrix instruction for operands of type {from}: they are widened to {element}, which halves the rate"
            );
            remark(dot.op(), remark::WIDENED_OPERANDS, reason, None);
        }
    }

    fn tile_access<'c>(&self, op: OpRef<'c>, view: Val<'c>, bounds: Bounds) {
        let Some(view) = View::of(view) else { return };
        if bounds == Bounds::Split {
            remark(
                op,
                remark::MASKED_EDGE,
                "tiles at the edge are accessed one element at a time: the view's extent is not known to be a multiple of the vector width",
                Advice::DivideExtent,
            );
        }
        if !view.has_narrow_offsets(self.index_bits) {
            // Once for all accesses of the view.
            remark(
                view.make.op(),
                remark::WIDE_OFFSETS,
                "offsets need 64 bits: the view may span 4 GiB or more",
                Advice::NarrowOffsets,
            );
        }
    }

    /// Reports an update of one element at a time where one instruction could update several.
    fn update_of_one<'c>(&self, op: OpRef<'c>, kind: AtomicKind, value: Option<Tensor<'c>>, vector: i64) {
        let Some(value) = value else { return };
        let Some(update) = Update::of(kind, value.element, self.target) else { return };
        if update.form == Form::Loop {
            let reason = format!(
                "{} has no atomic addition of {}: a compare-and-swap loop emulates it",
                self.target.name, value.element
            );
            remark(op, remark::ATOMIC_LOOP, reason, Advice::SumInF32);
        } else if update.width > 1 && vector == 1 {
            let reason = format!(
                "elements are updated one at a time although one instruction could update {}: they are not known to be contiguous and aligned",
                update.width
            );
            remark(op, remark::NARROW_ATOMIC, reason, Advice::AlignUpdate);
        }
    }

    /// Reports bank conflicts of a shared-memory access in a loop, and operands that are loaded without `ldmatrix`.
    fn shared_access<'c>(&self, op: OpRef<'c>, value: Val<'c>, memory: Val<'c>, direction: Direction) {
        let layout = Tensor::of_value(value).and_then(|t| t.layout());
        let (Some(layout), Some(desc)) = (layout, MemDescType::cast(ty(memory))) else { return };
        if !is_in_loop(op) {
            return;
        }
        let Some(Ok(plan)) = access_plan(&layout, desc, direction, self.target) else { return };
        if plan.conflict_degree > 1 {
            let degree = plan.conflict_degree;
            let reason = format!("{degree}-way bank conflict in shared memory: each access takes {degree} passes");
            remark(op, remark::BANK_CONFLICTS, reason, None);
        }
        let multiplied = direction == Direction::Load && uses(value).iter().any(|(user, _)| is_matrix_product(*user));
        let bits = storage_bits(desc.element_type());
        // 64-bit operands have no faster path.
        if multiplied && bits < 64 && !matches!(plan.mode, AccessMode::Matrix { .. }) {
            let reason = format!(
                "an operand of {bits}-bit elements is read from shared memory without ldmatrix: its layout there does not match 8x8 matrices of 16-bit elements"
            );
            remark(op, remark::NO_LDMATRIX, reason, Advice::ContiguousOperand);
        }
    }

    /// Reports a conversion that the target has no instruction for.
    fn emulated<'c>(&self, cast: nv_tileaa::FpCastOp<'c>) {
        let element = |v: Val<'c>| Tensor::of_value(v).map_or(ty(v), |t| t.element);
        let types = [element(cast.source()), element(cast.result())];
        if let Some(narrow) = types.into_iter().find(|t| is_narrow(*t)) {
            let reason = format!("conversions from and to {narrow} take several instructions");
            remark(cast.op(), remark::EMULATED_TYPE, reason, Advice::ConvertOutside);
        }
    }
}

/// Whether the type is f8 or narrower.
fn is_narrow(t: Type<'_>) -> bool {
    is_e4m3(t) || is_e5m2(t) || is_e8m0(t) || is_e2m1(t)
}

/// Returns the narrow type that a dot's operand was widened from.
fn widened(mut v: Val<'_>) -> Option<Type<'_>> {
    loop {
        let op = defining_op(v)?;
        if let Some(cast) = nv_tileaa::FpCastOp::cast(op) {
            let from = Tensor::of_value(cast.source())?.element;
            return is_narrow(from).then_some(from);
        }
        match AnyOp::cast(op)? {
            AnyOp::ConvertLayoutOp(_) | AnyOp::ShuffleOp(_) | AnyOp::ViewOp(_) | AnyOp::PermuteOp(_) => {
                v = operand(op, 0);
            }
            _ => return None,
        }
    }
}

fn is_matrix_product(op: OpRef<'_>) -> bool {
    let instruction = match AnyOp::cast(op) {
        Some(AnyOp::DotOp(x)) => x.instruction(),
        _ => return false,
    };
    Instruction::of(instruction).is_some_and(|i| i.kind != MmaKind::Fma)
}
