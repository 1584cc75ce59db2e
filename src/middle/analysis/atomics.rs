//! The instruction that each target has for a kind of atomic update and an element type.
//!
//! | kind | elements | instruction |
//! |---|---|---|
//! | `and`, `or`, `xor` | i32, i64 | `.b32`, `.b64` |
//! | `add` | i32, i64 | `.u32`, `.u64` |
//! | `max`, `min` | i32, i64 | `.s32`, `.s64` |
//! | `umax`, `umin` | i32, i64 | `max.u32` and so on |
//! | `xchg` | 32 or 64 bits | `exch.b32`, `exch.b64` |
//! | `addf` | f32, f64 | `add.f32`, `add.f64`; four f32 at once from sm_90 on |
//! | `addf` | f16 | `add.noftz.f16`, two as `f16x2`; up to eight at once from sm_90 on |
//!  `addf` | bf16 | the same from sm_90 on; before, a compare-and-swap loop over one element or two |
//!
//! An instruction with several elements makes that many separate updates: neither the hardware nor the language
//! specifies their order.

use crate::dialect::{
    nv_tileaa::AtomicKind,
    types::{integer_width, is_bf16, is_f16, is_f32, is_f64, is_integer},
};
use melior::ir::Type;
use tile_targets::{Feature, Target};

/// The way in which one instruction updates elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `atom.<op>.<type>`, or `red`.
    Native(&'static str),
    /// A compare-and-swap loop that computes the new value from the old one.
    Loop,
}

/// An instruction and the largest number of adjacent elements that it updates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Update {
    pub form: Form,
    pub width: u64,
}

/// The element types that instructions combine.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Element {
    Int(u32),
    F16,
    Bf16,
    F32,
    F64,
}

pub(super) fn classify(t: Type<'_>) -> Option<Element> {
    Some(match () {
        _ if is_integer(t) => Element::Int(integer_width(t)),
        _ if is_f16(t) => Element::F16,
        _ if is_bf16(t) => Element::Bf16,
        _ if is_f32(t) => Element::F32,
        _ if is_f64(t) => Element::F64,
        _ => return None,
    })
}

impl Update {
    /// Returns the widest instruction of `target`, or `None` for a type without this update in the language.
    pub fn of(kind: AtomicKind, element: Type<'_>, target: &Target) -> Option<Update> {
        use AtomicKind::*;
        let element = classify(element)?;
        let wide = target.features.contains(Feature::VectorReduction);
        let one = |op| Some(Update { form: Form::Native(op), width: 1 });
        let pick = |narrow, wide| match element {
            Element::Int(32) => one(narrow),
            Element::Int(64) => one(wide),
            _ => None,
        };
        match kind {
            And => pick("and.b32", "and.b64"),
            Or => pick("or.b32", "or.b64"),
            Xor => pick("xor.b32", "xor.b64"),
            Add => pick("add.u32", "add.u64"),
            Max => pick("max.s32", "max.s64"),
            Min => pick("min.s32", "min.s64"),
            UMax => pick("max.u32", "max.u64"),
            UMin => pick("min.u32", "min.u64"),
            Xchg => match element {
                Element::Int(32) | Element::F32 => one("exch.b32"),
                Element::Int(64) | Element::F64 => one("exch.b64"),
                _ => None,
            },
            AddF => Some(match element {
                Element::F32 => Update { form: Form::Native("add.f32"), width: if wide { 4 } else { 1 } },
                Element::F64 => Update { form: Form::Native("add.f64"), width: 1 },
                Element::F16 => Update { form: Form::Native("add.noftz.f16"), width: if wide { 8 } else { 2 } },
                Element::Bf16 if target.features.contains(Feature::Bf16Atomic) => {
                    Update { form: Form::Native("add.noftz.bf16"), width: if wide { 8 } else { 2 } }
                }
                Element::Bf16 => Update { form: Form::Loop, width: 2 },
                Element::Int(_) => return None,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use melior::{Context, ir::r#type::IntegerType};

    #[test]
    fn every_target_has_every_update_of_the_language() {
        use AtomicKind::*;
        let c = Context::new();
        let (f16, bf16) = (Type::float16(&c), Type::bfloat16(&c));
        let (f32, f64) = (Type::float32(&c), Type::float64(&c));
        let ints: Vec<Type> = [32, 64].iter().map(|w| IntegerType::new(&c, *w).into()).collect();
        for target in tile_targets::TARGETS {
            for kind in [And, Or, Xor, Add, Max, Min, UMax, UMin] {
                for t in &ints {
                    let update = Update::of(kind, *t, target).expect("native");
                    assert!(
                        matches!(update, Update { form: Form::Native(_), width: 1 }),
                        "{kind:?} {t} {}",
                        target.name
                    );
                }
                assert_eq!(Update::of(kind, f32, target), None);
            }
            for t in [ints[0], ints[1], f32, f64] {
                assert!(Update::of(Xchg, t, target).is_some());
            }
            assert_eq!(Update::of(Xchg, f16, target), None);
            let modern = target.sm >= 90;
            let add = |t| Update::of(AddF, t, target).expect("some form");
            assert_eq!(add(f32).width, if modern { 4 } else { 1 }, "{}", target.name);
            assert_eq!(add(f64).width, 1);
            assert_eq!(add(f16), Update { form: Form::Native("add.noftz.f16"), width: if modern { 8 } else { 2 } });
            assert_eq!(add(bf16).form == Form::Loop, !modern, "{}", target.name);
            assert_eq!(Update::of(AddF, ints[0], target), None);
            assert_eq!(Update::of(Add, IntegerType::new(&c, 16).into(), target), None);
        }
    }
}
