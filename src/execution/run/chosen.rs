//! What the compiler chose and missed, for the report of a prediction.

use ptx_sim::timing::{Missed, Note, Notes, Prediction, Roof};
use std::collections::{BTreeMap, BTreeSet};
use tile_diag::Location;
use tile_interface::{Choice, Product, Remark, RemarkSubject};
use tile_machine::Machine;

/// Threads of a scheduler that execute an FMA per pass, and schedulers of an SM.
const LANES: f64 = 32.0;
const SCHEDULERS: f64 = 4.0;

/// The notes on `kernel`, or on all kernels if it is `None`.
pub(crate) fn notes(remarks: &[Remark], kernel: Option<&str>, p: &Prediction, machine: &Machine) -> Notes {
    let own = |r: &&Remark| kernel.is_none_or(|k| r.function == k) && r.subject != RemarkSubject::Detail;
    let (mut notes, mut roofs) = (Notes::default(), BTreeMap::new());
    for r in remarks.iter().filter(own) {
        if let Some(choice) = &r.choice {
            let place = r.location.as_ref().map_or("(no line)".to_owned(), shown);
            notes.choices.push(Note { place, text: format!("{}: {choice}", r.name) });
            if let Choice::Product(product) = choice
                && let Some((unit, faster, ratio)) = faster(product, machine)
            {
                // The product with the smallest gain bounds the gain of all.
                let least: &mut f64 = roofs.entry((unit, faster)).or_insert(ratio);
                *least = least.max(ratio);
            }
        } else if r.is_problem() {
            let lines: BTreeSet<(&str, u32)> = r.places().map(|l| (l.file.as_str(), l.line)).collect();
            let share = lines.into_iter().map(|(file, line)| p.share_of(file, line)).sum();
            let text = format!("{}: {} [{}]", r.name, r.text(), r.section());
            notes.missed.push(Missed { share, places: r.places().map(shown).collect(), text });
        }
    }
    notes.missed.sort_by(|a, b| b.share.total_cmp(&a.share));
    let busy = |unit: &str| p.busy.iter().find(|(name, _)| *name == unit).map(|(_, share)| share * p.microseconds);
    let roof = |((unit, faster), ratio): ((&'static str, String), f64)| {
        Some(Roof { unit, faster, microseconds: busy(unit)? * ratio })
    };
    notes.roofs = roofs.into_iter().filter_map(roof).collect();
    notes
}

fn shown(l: &Location) -> String {
    format!("{}:{}:{}", l.file, l.line, l.column)
}

/// The busy unit of a product, the faster unit that could execute it, and the time of the latter relative to the
/// former.
fn faster(product: &Product, machine: &Machine) -> Option<(&'static str, String, f64)> {
    let (faster, _) = product.faster.as_ref()?;
    let element = product.elements[0].as_str();
    let (busy, rate) = rate(product.unit, element, machine)?;
    // Tensor cores multiply f32 only after rounding.
    let (rounded, how) = if element == "f32" { ("tf32", " of tf32") } else { (element, "") };
    let (_, other) = self::rate(faster, rounded, machine)?;
    (other > rate).then(|| (busy, format!("{faster}{how}"), rate / other))
}

/// The name of a unit in predictions, and its multiply-adds per clock and SM for operands of a type. `None` if the
/// machine's file has no number, or the unit does not multiply the type.
fn rate(unit: &str, element: &str, machine: &Machine) -> Option<(&'static str, f64)> {
    let number = |key: &str| machine.get(key).ok();
    let bits = bits_of(element)?;
    // The elements of K in 32 bytes, the depth of an instruction.
    let depth = 256.0 / bits;
    match unit {
        "FMA" => {
            let key = if bits == 64.0 { "pipe.fma_double.interval" } else { "pipe.fma.interval" };
            Some(("fma", SCHEDULERS * LANES / number(key)?))
        }
        "mma.sync" => {
            let (key, products) = match element {
                "f64" => ("mma.f64.m8n8k4.interval", 8.0 * 8.0 * 4.0),
                "f32" => return None,
                "tf32" => ("mma.tf32.m16n8k8.interval", 16.0 * 8.0 * 8.0),
                _ if element.starts_with('i') => ("mma.i8.m16n8k32.interval", 16.0 * 8.0 * 32.0),
                _ if bits == 16.0 => ("mma.f16.m16n8k16.interval", 16.0 * 8.0 * 16.0),
                _ => ("mma.f8.m16n8k32.interval", 16.0 * 8.0 * 32.0),
            };
            Some(("tensor", SCHEDULERS * products / number(key)?))
        }
        "wgmma" if multiplies(element) => Some(("wgmma", 64.0 * 256.0 * depth / number("wgmma.f16.n256.interval")?)),
        "tcgen05" if multiplies(element) => {
            let of = match element {
                "tf32" => "tf32",
                _ if element.starts_with('i') => "i8",
                _ if bits == 16.0 => "f16",
                _ if bits == 4.0 => "f4",
                _ => "f8",
            };
            Some(("tcgen05", 128.0 * 256.0 * depth / number(&format!("tcgen05.{of}.n256.interval"))?))
        }
        _ => None,
    }
}

/// Whether warpgroups and tensor memory multiply elements of a type.
fn multiplies(element: &str) -> bool {
    !matches!(element, "f32" | "f64")
}

/// The bits of an element in shared memory, by the name of its type.
fn bits_of(element: &str) -> Option<f64> {
    let digits = element.trim_start_matches(|c: char| !c.is_ascii_digit());
    let digits: String = digits.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(unit: &str, element: &str, machine: &str) -> Option<(&'static str, f64)> {
        rate(unit, element, &Machine::named(machine).unwrap())
    }

    #[test]
    fn rates_of_units() {
        assert_eq!(of("wgmma", "f16", "sm_90"), Some(("wgmma", 2048.0)));
        assert_eq!(of("wgmma", "f8E4M3FN", "sm_90"), Some(("wgmma", 4096.0)));
        assert_eq!(of("tcgen05", "bf16", "sm_100"), Some(("tcgen05", 4096.0)));
        assert_eq!(of("mma.sync", "f16", "sm_80"), Some(("tensor", 1024.0)));
        assert_eq!(of("FMA", "f32", "sm_90"), Some(("fma", 128.0)));
        // No tensor core multiplies f32, and sm_80 has no warpgroup instructions.
        assert_eq!((of("wgmma", "f32", "sm_90"), of("wgmma", "f16", "sm_80")), (None, None));
    }

    #[test]
    fn a_faster_unit_has_a_roof() {
        let product = Product {
            extents: vec![32, 64, 32],
            elements: ["f16".into(), "f16".into(), "f32".into()],
            unit: "mma.sync",
            instruction: Some([16, 8, 16]),
            faster: Some(("wgmma", vec![])),
        };
        let sm_90 = Machine::named("sm_90").unwrap();
        let (busy, faster_unit, ratio) = faster(&product, &sm_90).unwrap();
        assert_eq!((busy, faster_unit.as_str()), ("tensor", "wgmma"));
        assert!((0.5..0.7).contains(&ratio), "{ratio}");
        let scalar = Product { elements: ["f32".into(), "f32".into(), "f32".into()], unit: "FMA", ..product };
        assert_eq!(faster(&scalar, &sm_90), Some(("fma", "wgmma of tf32".into(), 0.125)));
        assert_eq!(faster(&Product { faster: None, ..scalar }, &sm_90), None);
    }
}
