//! Optimization hints: dictionaries by target; `default` applies to all targets.

use super::{
    elements, nv_tileaa,
    remark::{UNUSED_HINT, remark},
    rt::*,
};
use melior::ir::{Attribute, AttributeLike};
use mlir_sys::*;
use std::collections::BTreeMap;
use tile_mma::{Unit, agent_unit, shared_memory_unit};
use tile_targets::{Feature, Target};

/// Returns the hint `name` of a target, or else of all targets, as parsed by `read`. Values that `read` rejects count
/// as absent.
fn hint<'c, T>(hints: Attribute<'c>, target: &str, name: &str, read: impl Fn(Attribute<'c>) -> Option<T>) -> Option<T> {
    let of = |key: &str| read(entry(entry(hints, key)?, name)?);
    of(target).or_else(|| of("default"))
}

/// The cost factor of a plan that ignores a hint.
pub const IGNORED_HINT: f64 = 1.03;

/// Returns an integer hint for which `valid` holds.
pub fn int_hint(hints: Attribute<'_>, target: &str, name: &str, valid: impl Fn(i64) -> bool) -> Option<i64> {
    hint(hints, target, name, |a| elements::integer(a).filter(|v| valid(*v)))
}

/// Returns a boolean hint.
pub fn bool_hint(hints: Attribute<'_>, target: &str, name: &str) -> Option<bool> {
    hint(hints, target, name, elements::boolean)
}

/// Reports the hints of a function that cannot change anything on the target, once each, at the first op with the hint.
pub fn report_unused(function: nv_tileaa::FuncOp<'_>, target: &Target) {
    let mut unused: BTreeMap<String, (OpRef<'_>, String)> = BTreeMap::new();
    walk(function.op(), &mut |op| {
        for (key, hints) in attr(op, "hints").into_iter().flat_map(entries) {
            let mut note = |name: &str, text: String| {
                unused.entry(name.to_owned()).or_insert((op, text));
            };
            if key != target.name && key != "default" {
                note(key, format!("the hints for {key} do not apply to {}", target.name));
                continue;
            }
            for (name, _) in entries(hints) {
                if let Some(why) = unused_because(name, target) {
                    note(name, format!("the hint '{name}' changes nothing on {}: {why}", target.name));
                }
            }
        }
    });
    for (op, text) in unused.into_values() {
        remark(op, UNUSED_HINT, text, None);
    }
}

/// Returns why no pass uses a hint on a target, or `None` if one does.
fn unused_because(name: &str, target: &Target) -> Option<&'static str> {
    let (is_used, why) = match name {
        "num_worker_warps_per_cta" | "min_ctas_per_sm" => return None,
        "num_cta_in_cga" => (shared_memory_unit(target).is_some(), "tiles are not split over a cluster"),
        "occupancy" => {
            (matches!(agent_unit(target), Some(Unit::Warpgroup | Unit::Sync)), "no plan chooses the CTAs per SM")
        }
        "latency" => (agent_unit(target) == Some(Unit::Warpgroup), "no plan depends on the latency of loads"),
        "allow_tma" => (target.has(Feature::Tma), "it has no TMA"),
        _ => (false, "no pass uses it"),
    };
    (!is_used).then_some(why)
}

/// The entries of a dictionary, by name; none for other attributes.
fn entries<'c>(dictionary: Attribute<'c>) -> impl Iterator<Item = (&'c str, Attribute<'c>)> {
    let raw = dictionary.to_raw();
    // SAFETY: the attribute is alive; only dictionaries are queried.
    let count = unsafe { if mlirAttributeIsADictionary(raw) { mlirDictionaryAttrGetNumElements(raw) } else { 0 } };
    (0..count).map(move |i| {
        // SAFETY: the index is within the dictionary; names live as long as the context.
        unsafe {
            let named = mlirDictionaryAttrGetElement(raw, i);
            (raw_to_str(mlirIdentifierStr(named.name)), Attribute::from_raw(named.attribute))
        }
    })
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
