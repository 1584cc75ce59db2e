//! Optimization hints: dictionaries by target; `default` applies to all targets.

use super::{elements, rt::*};
use melior::ir::{Attribute, AttributeLike};
use mlir_sys::*;

/// Returns the hint `name` of a target, or else of all targets, as parsed by `read`. Values that `read` rejects count
/// as absent.
fn hint<'c, T>(hints: Attribute<'c>, target: &str, name: &str, read: impl Fn(Attribute<'c>) -> Option<T>) -> Option<T> {
    let of = |key: &str| read(entry(entry(hints, key)?, name)?);
    of(target).or_else(|| of("default"))
}

/// Returns an integer hint for which `valid` holds.
pub fn int_hint(hints: Attribute<'_>, target: &str, name: &str, valid: impl Fn(i64) -> bool) -> Option<i64> {
    hint(hints, target, name, |a| elements::integer(a).filter(|v| valid(*v)))
}

/// Returns a boolean hint.
pub fn bool_hint(hints: Attribute<'_>, target: &str, name: &str) -> Option<bool> {
    hint(hints, target, name, elements::boolean)
}

/// Returns an entry of a dictionary, or `None` for other attributes.
pub fn entry<'c>(dictionary: Attribute<'c>, key: &str) -> Option<Attribute<'c>> {
    // SAFETY: the attribute is alive; only dictionaries are queried.
    unsafe {
        mlirAttributeIsADictionary(dictionary.to_raw())
            .then(|| mlirDictionaryAttrGetElementByName(dictionary.to_raw(), raw_str(key)))
            .and_then(|a| Attribute::from_option_raw(a))
    }
}
