//! `tileas-choose-register-forms` chooses the form in which threads hold and access values where the types leave a
//! choice. It only sets attributes (`dialect::register_forms`); `convert-tileas-to-llvm` follows them.
//!
//! **Values that loops and branches carry.** A 16-bit accumulator that a dot may still be writing stays in words:
//! unpacking would read it. A left operand that a loop carries to its dots stays in the words that the dots take.
//! Loaded bytes stay packed in their words until they are used; otherwise LLVM would unpack and repack them in each
//! iteration. It does not do that to 16-bit halves.
//!
//! **Pinned registers.** LLVM would rematerialize constant initial accumulators where a loop without iterations exits,
//! and ptxas would take that for a write to accumulators in flight. It might also assign an accumulator the register
//! of a zero that has other uses, and copy the accumulator at the loop's exit. So initial accumulators are copied to
//! registers of their own. Accumulators that are awaited and then passed on are copied after the wait. Otherwise LLVM
//! copies them, possibly before the wait, while the dot still writes them.
//!
//! **One form of an access.** A checked access of single elements has a second, unchecked form for tiles inside the
//! view. In a function with very many accesses it has only the checked form, which is also one predicated instruction:
//! branches around thousands of accesses would cost ptxas and LLVM more than the checks cost at run time.
//!
//! **Rounding in pairs.** If both sides of a branch pack the same elements into words, LLVM rounds the elements one by
//! one before the branch, and ptxas rounds them in each side. If they are accumulators of `wgmma` dots, ptxas takes
//! the rounding for reads of accumulators in flight and waits for each dot as soon as it starts (C7514). So elements
//! that a branch uses are rounded in pairs, to words, before it.
//!
//! **One test for all elements.** Instructions that round to 8-bit floats saturate where the cast wants NaN or
//! infinity. Such values are rare. With enough elements, a warp tests once whether any element is that large.

use crate::{
    dialect::{
        attributes::{CHECKED_ONLY, IN_PAIRS, PACKED, PINNED, TESTED_ONCE, WORDS},
        dots::{LHS, SharedDot},
        layouts::{Tensor, storage_bits},
        nv_tileaa::{FpCastOp, FuncOp, Rounding},
        nv_tileas::{AnyOp, AsyncDotOp, AsyncDotWaitOp, Bounds, TiledLoadOp},
        pass::{Failed, PassContext, RustPass, descriptors},
        register_forms::set_numbers,
        rt::*,
        types::{is_bf16, is_e4m3, is_e5m2, is_f16, is_f32},
        upstream::{Arith, Scf},
    },
    pass_descriptor,
};
use melior::{Context, ir::Type};

/// The most checked accesses of a function that get two forms each.
const MOST_IN_TWO_FORMS: usize = 256;

/// With fewer elements per thread, testing whether all are in the format's range does not pay off.
const FEW: usize = 8;

/// The most loops and branches that the search for the origin of a value passes through. The bound ends the search in
/// nested loops that only pass values around.
const ROUNDS: u32 = 16;

#[derive(Clone, Default)]
pub struct ChooseRegisterForms;

impl RustPass for ChooseRegisterForms {
    pass_descriptor!(tileas_choose_register_forms);

    fn run<'c>(&mut self, op: OpRef<'c>, _: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileas_choose_register_forms::stat;
        for function in collect_ops(op, FuncOp::cast) {
            let checked = collect_ops(function.op(), |o| is_checked(o).then_some(o));
            if checked.len() > MOST_IN_TWO_FORMS {
                checked.into_iter().for_each(|o| CHECKED_ONLY.mark(o));
            }
        }
        for around in collect_ops(op, |o| matches!(Scf::of(o), Some(Scf::For | Scf::If)).then_some(o)) {
            let (words, packed) = carried(around);
            cx.stat_add(stat::NUM_CARRIED, (words.len() + packed.len()) as i64);
            set_numbers(around, WORDS, &words);
            set_numbers(around, PACKED, &packed);
            set_numbers(around, PINNED, &sums(around));
        }
        for wait in collect_ops(op, AsyncDotWaitOp::cast) {
            set_numbers(wait.op(), PINNED, &where_true(wait.results(), is_passed_on));
        }
        for rounding in collect_ops(op, |o| rounds_for_a_branch(o).then_some(o)) {
            IN_PAIRS.mark(rounding);
        }
        for cast in collect_ops(op, FpCastOp::cast).into_iter().filter(|cast| narrows_many(*cast)) {
            TESTED_ONCE.mark(cast.op());
        }
        Ok(())
    }
}

fn where_true<'c>(values: impl Iterator<Item = Val<'c>>, holds: impl Fn(Val<'c>) -> bool) -> Vec<i64> {
    values.enumerate().filter(|(_, v)| holds(*v)).map(|(i, _)| i as i64).collect()
}

/// Whether an access checks each element, unless its tile is inside the view.
fn is_checked(op: OpRef<'_>) -> bool {
    match AnyOp::cast(op) {
        Some(AnyOp::TiledLoadOp(x)) => x.bounds() == Bounds::Split,
        Some(AnyOp::TiledStoreOp(x)) => x.bounds() == Bounds::Split,
        _ => false,
    }
}

/// Returns the numbers of the values that a loop or branch carries in words, and of those that it carries packed.
fn carried(around: OpRef<'_>) -> (Vec<i64>, Vec<i64>) {
    let (mut words, mut packed) = (vec![], vec![]);
    for (i, v) in results(around).enumerate() {
        let Some(element) = Tensor::of_value(v).map(|t| t.element) else { continue };
        match storage_bits(element) {
            16 if is_f16(element) && is_in_flight(v) => words.push(i as i64),
            8 | 16 if is_carried_left(around, i) => words.push(i as i64),
            8 if yielded_as(v).any(is_loaded) => packed.push(i as i64),
            _ => {}
        }
    }
    (words, packed)
}

/// Whether a load reads whole words of bytes.
fn is_loaded(v: Val<'_>) -> bool {
    let load = defining_op(v).and_then(TiledLoadOp::cast);
    load.is_some_and(|load| load.vector() * 8 >= 32)
}

/// Whether `v` is the result of a dot that has not been waited for, or is carried from one by a loop or a branch.
fn is_in_flight(v: Val<'_>) -> bool {
    comes_from_dot(v, ROUNDS)
}

fn comes_from_dot(v: Val<'_>, rounds: u32) -> bool {
    rounds > 0
        && (defining_op(v).is_some_and(|op| AsyncDotOp::cast(op).is_some())
            || yielded_as(v).filter(|y| *y != v).any(|y| comes_from_dot(y, rounds - 1)))
}

/// Returns the values that the regions of a loop or branch yield for `v`, a result of the op or an argument of the
/// loop's body.
fn yielded_as<'c>(v: Val<'c>) -> impl Iterator<Item = Val<'c>> {
    let place = match defining_op(v) {
        Some(op) => results(op).position(|r| r == v).map(|i| (op, i)),
        None => {
            let block = owner_of(v);
            // The induction variable precedes the loop-carried arguments.
            let at = args(block).position(|a| a == v).and_then(|i| i.checked_sub(1));
            parent_of_block(block).zip(at)
        }
    };
    let place = place.filter(|(op, _)| matches!(Scf::of(*op), Some(Scf::For | Scf::If)));
    place.into_iter().flat_map(|(op, i)| {
        let blocks = (0..region_count(op)).filter_map(move |n| entry_block(region(op, n)));
        blocks
            .filter_map(|b| ops_of(b).last())
            .filter(move |last| i < operand_count(*last))
            .map(move |last| operand(last, i))
    })
}

/// Whether the only uses of a value that a loop carries are as the left operand of dots.
fn is_carried_left(around: OpRef<'_>, i: usize) -> bool {
    if Scf::of(around) != Some(Scf::For) {
        return false;
    }
    let inside = entry_block(region(around, 0)).map(|body| arg(body, i + 1));
    let users: Vec<_> = inside.into_iter().chain([result(around, i)]).flat_map(uses).collect();
    !users.is_empty() && users.iter().all(|(user, at)| *at == LHS && SharedDot::cast(*user).is_some())
}

/// Returns the numbers of the values that a loop yields from dots in flight.
fn sums(around: OpRef<'_>) -> Vec<i64> {
    let body = entry_block(region(around, 0)).filter(|_| Scf::of(around) == Some(Scf::For));
    let Some(last) = body.and_then(|body| ops_of(body).last()) else { return vec![] };
    where_true(operands(last), |v| defining_op(v).is_some_and(|o| AsyncDotOp::cast(o).is_some()))
}

/// Whether a loop or branch yields an accumulator, or carries it to the next iteration, other than as the value that
/// the dot updates in place.
fn is_passed_on(sum: Val<'_>) -> bool {
    uses(sum).into_iter().any(|(user, i)| match (Scf::of(user), parent_op(user)) {
        (Some(Scf::Yield), Some(around)) if Scf::of(around) == Some(Scf::For) => {
            let carried = entry_block(region(around, 0)).map(|body| arg(body, i + 1));
            carried.is_none_or(|carried| !adds_in_place(sum, carried))
        }
        (Some(Scf::Yield | Scf::Condition), _) => true,
        _ => false,
    })
}

/// Whether `sum` is `carried` after dots that are its only uses on the way.
fn adds_in_place<'c>(mut sum: Val<'c>, carried: Val<'c>) -> bool {
    while sum != carried {
        let Some(op) = defining_op(sum) else { return false };
        let before = if let Some(wait) = AsyncDotWaitOp::cast(op) {
            wait.results().zip(wait.sources()).find(|(r, _)| *r == sum).map(|(_, source)| source)
        } else {
            AsyncDotOp::cast(op).map(|dot| dot.acc())
        };
        match before {
            Some(before) if uses(before).len() == 1 => sum = before,
            _ => return false,
        }
    }
    true
}

/// Whether an op rounds an even number of f32 registers to 16 bits, and a branch uses them.
fn rounds_for_a_branch(op: OpRef<'_>) -> bool {
    if Arith::of(op) != Some(Arith::TruncF) {
        return false;
    }
    let (Some(from), Some(to)) = (Tensor::of_value(operand(op, 0)), Tensor::of_value(result(op, 0))) else {
        return false;
    };
    let in_branch = || uses(result(op, 0)).iter().any(|(user, _)| block_of(*user) != block_of(op));
    is_f32(from.element) && is_half(to.element) && registers(&to).is_multiple_of(2) && in_branch()
}

/// Whether an op rounds many registers to an 8-bit float with NaN or infinity.
fn narrows_many(cast: FpCastOp<'_>) -> bool {
    let (Some(from), Some(to)) = (Tensor::of_value(cast.source()), Tensor::of_value(cast.result())) else {
        return false;
    };
    (is_f32(from.element) || is_half(from.element))
        && (is_e4m3(to.element) || is_e5m2(to.element))
        && cast.rounding() == Rounding::NearestEven
        && registers(&to) >= FEW
}

fn is_half(t: Type<'_>) -> bool {
    is_f16(t) || is_bf16(t)
}

/// Returns the number of registers of a tensor in each thread.
fn registers(tensor: &Tensor<'_>) -> usize {
    tensor.layout().map_or(0, |layout| layout.registers() as usize)
}
