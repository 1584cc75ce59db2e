//! The PTX instructions for multicast memory, by action and element type, from sm_90 on.
//!
//! | action | elements | instruction |
//! |---|---|---|
//! | load or update by `and`, `or`, `xor` | i32, i64 | `.b32`, `.b64` |
//! | by `add` | i32, i64 | `.u32`, `.u64` |
//! | by `max`, `min` | i32, i64 | `.s32`, `.s64` |
//! | by `umax`, `umin` | i32, i64 | `max.u32` and so on |
//! | by `addf` | f32, f64 | `add.f32`, `add.f64`; four f32 at once |
//! | by `addf` | f16, bf16 | `add.f16x2` and so on, up to four of them; a load sums in f32 |
//! | load by `max`, `min` | f16, bf16 | `max.f16x2` and so on, up to four of them |
//! | store | any of these | `.b32`, `.b64`, and the floating-point types as above |
//!
//! The smallest access is 32 bits, so f16 and bf16 come in pairs. `passes/convert_tileas_to_llvm/multimem.rs` handles
//! single elements.

use super::atomics::{Element, classify};
use crate::dialect::nv_tileaa::AtomicKind;
use melior::ir::Type;

/// The effect of an op on multicast memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Load(AtomicKind),
    Update(AtomicKind),
    Store,
}

/// An instruction and the largest number of adjacent elements that it accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Multimem {
    /// Includes the leading dot; empty for a store.
    pub operation: &'static str,
    /// The type of one register: an element, or a pair of 16-bit floats.
    pub kind: &'static str,
    pub width: u64,
}

impl Multimem {
    /// Returns `None` for a type without this combination in the language.
    pub fn of(action: Action, element: Type<'_>) -> Option<Multimem> {
        use AtomicKind::*;
        let element = classify(element)?;
        let loads = matches!(action, Action::Load(_));
        let of = |operation, kind, width| Some(Multimem { operation, kind, width });
        let pick = |operation, narrow, wide| match element {
            Element::Int(32) => of(operation, narrow, 1),
            Element::Int(64) => of(operation, wide, 1),
            _ => None,
        };
        let float = |operation, of_halves| match element {
            Element::F32 => of(operation, "f32", 4),
            Element::F64 => of(operation, "f64", 1),
            Element::F16 => of(of_halves, "f16x2", 8),
            Element::Bf16 => of(of_halves, "bf16x2", 8),
            Element::Int(_) => None,
        };
        let is_half = matches!(element, Element::F16 | Element::Bf16);
        let (Action::Load(kind) | Action::Update(kind)) = action else {
            return pick("", "b32", "b64").or_else(|| float("", ""));
        };
        match kind {
            And => pick(".and", "b32", "b64"),
            Or => pick(".or", "b32", "b64"),
            Xor => pick(".xor", "b32", "b64"),
            Add => pick(".add", "u32", "u64"),
            UMax => pick(".max", "u32", "u64"),
            UMin => pick(".min", "u32", "u64"),
            Max if is_half && loads => float("", ".max"),
            Min if is_half && loads => float("", ".min"),
            Max => pick(".max", "s32", "s64"),
            Min => pick(".min", "s32", "s64"),
            AddF if loads => float(".add", ".add.acc::f32"),
            AddF => float(".add", ".add"),
            Xchg => None,
        }
    }

    /// Whether elements come in pairs.
    pub fn is_paired(&self) -> bool {
        self.kind.ends_with("x2")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use melior::{Context, ir::r#type::IntegerType};

    #[test]
    fn what_the_verifier_of_the_language_accepts_has_an_instruction() {
        use AtomicKind::*;
        let c = Context::new();
        let halves = [Type::float16(&c), Type::bfloat16(&c)];
        let floats = [halves[0], halves[1], Type::float32(&c), Type::float64(&c)];
        let ints: Vec<Type> = [32, 64].iter().map(|w| IntegerType::new(&c, *w).into()).collect();
        let has = |action, t| Multimem::of(action, t).is_some();
        for &t in &ints {
            for kind in [And, Or, Xor, Add, Max, Min, UMax, UMin] {
                assert!(has(Action::Load(kind), t) && has(Action::Update(kind), t), "{kind:?} {t}");
            }
            assert!(has(Action::Store, t) && !has(Action::Load(AddF), t) && !has(Action::Update(Xchg), t));
        }
        for &t in &floats {
            assert!(has(Action::Load(AddF), t) && has(Action::Update(AddF), t) && has(Action::Store, t), "{t}");
            assert!(!has(Action::Update(Max), t) && !has(Action::Load(Add), t));
            assert_eq!(has(Action::Load(Min), t), halves.contains(&t), "{t}");
        }
        let narrow = IntegerType::new(&c, 16).into();
        assert!(!has(Action::Store, narrow) && !has(Action::Load(Add), narrow));
    }

    #[test]
    fn halves_come_in_pairs_and_sum_in_f32() {
        let c = Context::new();
        let load = Multimem::of(Action::Load(AtomicKind::AddF), Type::bfloat16(&c));
        assert_eq!(load, Some(Multimem { operation: ".add.acc::f32", kind: "bf16x2", width: 8 }));
        assert!(load.is_some_and(|m| m.is_paired()));
        let update = Multimem::of(Action::Update(AtomicKind::AddF), Type::float32(&c));
        assert_eq!(update, Some(Multimem { operation: ".add", kind: "f32", width: 4 }));
    }
}
