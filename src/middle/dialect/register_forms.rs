//! Attributes that say in which form threads hold and access values. `tileas-choose-register-forms` writes them and
//! `convert-tileas-to-llvm` reads them.

use super::rt::*;
use melior::{Context, ir::Attribute};

/// On a loop or branch: the numbers of the values that it carries as words of 32 bits, without ever taking them apart:
/// accumulators of 16 bits that a dot may be writing, and left operands of dots.
pub const WORDS: &str = "nv_tileas.words";

/// On a loop or branch: the numbers of the values that it carries packed in words, from which users extract elements.
pub const PACKED: &str = "nv_tileas.packed";

/// On a loop or a wait for dots: the numbers of the values whose registers are copied by instructions that LLVM cannot
/// see through.
pub const PINNED: &str = "nv_tileas.pinned";

/// On an access of a tile with a check of each element: do not emit an unchecked form for tiles inside the view.
pub const CHECKED_ONLY: &str = "nv_tileas.checked_only";

/// On a rounding to 16 bits: round two elements to a word at a time.
pub const IN_PAIRS: &str = "nv_tileas.in_pairs";

/// On a cast to an 8-bit float: test once for all elements whether any is beyond the format's largest number.
pub const TESTED_ONCE: &str = "nv_tileas.tested_once";

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
pub fn numbers(op: OpRef<'_>, name: &str) -> Vec<i64> {
    discardable_attr(op, name).map(i64s_attr).unwrap_or_default()
}

/// Sets a list attribute of an op, unless the list is empty.
pub fn set_numbers<'c>(op: OpRef<'c>, context: &'c Context, name: &str, numbers: &[i64]) {
    if !numbers.is_empty() {
        set_discardable_attr(op, name, i64s_to_attr(context, numbers));
    }
}

/// Returns the forms of the first `count` values that an op carries.
pub fn forms(op: OpRef<'_>, count: usize) -> Vec<Form> {
    let mut forms = vec![Form::Elements; count];
    for (name, form) in [(WORDS, Form::Words), (PACKED, Form::Packed)] {
        let listed = numbers(op, name).into_iter().filter_map(|n| usize::try_from(n).ok());
        listed.filter(|n| *n < count).for_each(|n| forms[n] = form);
    }
    forms
}

/// Sets a unit attribute of an op.
pub fn mark<'c>(op: OpRef<'c>, context: &'c Context, name: &str) {
    set_discardable_attr(op, name, Attribute::unit(context));
}

/// Whether an op has an attribute.
pub fn is_marked(op: OpRef<'_>, name: &str) -> bool {
    discardable_attr(op, name).is_some()
}
