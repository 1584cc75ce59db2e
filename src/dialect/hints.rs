//! Optimisation hints: dictionaries by target, with what is meant for all of them under `default`.

use super::rt::*;
use melior::ir::{Attribute, AttributeLike};
use mlir_sys::*;

/// The hint `name` for a target, or for all.
pub fn hint<'c>(hints: Attribute<'c>, target: &str, name: &str) -> Option<Attribute<'c>> {
    let of = |key: &str| entry(entry(hints, key)?, name);
    of(target).or_else(|| of("default"))
}

/// A hint that is a number; what is none counts as absent.
pub fn int_hint(hints: Attribute<'_>, target: &str, name: &str) -> Option<i64> {
    // SAFETY: the attribute is alive.
    hint(hints, target, name).filter(|a| unsafe { mlirAttributeIsAInteger(a.to_raw()) }).map(int_attr)
}

/// A hint that is true or false.
pub fn bool_hint(hints: Attribute<'_>, target: &str, name: &str) -> Option<bool> {
    // SAFETY: the attribute is alive.
    hint(hints, target, name).filter(|a| unsafe { mlirAttributeIsABool(a.to_raw()) }).map(bool_attr)
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
