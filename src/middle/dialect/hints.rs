//! Optimisation hints: dictionaries by target, with what is meant for all of them under `default`.

use super::rt::*;
use melior::ir::{Attribute, AttributeLike};
use mlir_sys::*;

/// The hint `name` for a target, or else for all, as `read` understands it; what it does not counts as absent.
fn hint<'c, T>(hints: Attribute<'c>, target: &str, name: &str, read: impl Fn(Attribute<'c>) -> Option<T>) -> Option<T> {
    let of = |key: &str| read(entry(entry(hints, key)?, name)?);
    of(target).or_else(|| of("default"))
}

/// A hint that is a number for which `valid` holds.
pub fn int_hint(hints: Attribute<'_>, target: &str, name: &str, valid: impl Fn(i64) -> bool) -> Option<i64> {
    // SAFETY: the attribute is alive.
    let is_int = |a: Attribute<'_>| unsafe { mlirAttributeIsAInteger(a.to_raw()) };
    hint(hints, target, name, |a| is_int(a).then(|| int_attr(a)).filter(|v| valid(*v)))
}

/// A hint that is true or false.
pub fn bool_hint(hints: Attribute<'_>, target: &str, name: &str) -> Option<bool> {
    // SAFETY: the attribute is alive.
    let is_bool = |a: Attribute<'_>| unsafe { mlirAttributeIsABool(a.to_raw()) };
    hint(hints, target, name, |a| is_bool(a).then(|| bool_attr(a)))
}

/// An entry of a dictionary; none of anything else.
pub fn entry<'c>(dictionary: Attribute<'c>, key: &str) -> Option<Attribute<'c>> {
    // SAFETY: the attribute is alive; only dictionaries are asked.
    unsafe {
        mlirAttributeIsADictionary(dictionary.to_raw())
            .then(|| mlirDictionaryAttrGetElementByName(dictionary.to_raw(), raw_str(key)))
            .and_then(|a| Attribute::from_option_raw(a))
    }
}
