//! The form in which a loop or branch carries a value in registers, as attributes of the op say.

use super::{
    attributes::{I64s, Key, PACKED, WORDS},
    rt::*,
};

/// How a loop or branch carries a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Each element in a register.
    Elements,
    /// See [`WORDS`].
    Words,
    /// See [`PACKED`].
    Packed,
}

/// Returns the numbers in a list attribute of an op, in ascending order.
pub fn numbers(op: OpRef<'_>, list: Key<I64s>) -> Vec<i64> {
    list.get(op).unwrap_or_default()
}

/// Sets a list attribute of an op, unless the list is empty.
pub fn set_numbers(op: OpRef<'_>, list: Key<I64s>, numbers: &[i64]) {
    if !numbers.is_empty() {
        list.set(op, numbers.to_vec());
    }
}

/// Returns the forms of the first `count` values that an op carries.
pub fn forms(op: OpRef<'_>, count: usize) -> Vec<Form> {
    let mut forms = vec![Form::Elements; count];
    for (list, form) in [(WORDS, Form::Words), (PACKED, Form::Packed)] {
        let listed = numbers(op, list).into_iter().filter_map(|n| usize::try_from(n).ok());
        listed.filter(|n| *n < count).for_each(|n| forms[n] = form);
    }
    forms
}
