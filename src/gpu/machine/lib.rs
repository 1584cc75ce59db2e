//! The measured and published numbers of each GPU: rates, latencies and limits.
//!
//! A machine is a JSON file under `data`. Every number has a unit, a source, a date, and a kind: *measured* by the
//! GPU kit, *published* elsewhere, or *derived* from other numbers by the rule in its note. Code does not contain
//! numbers of machines; the simulator's timing model and the planner read these files.
//!
//! A file may name a machine of its family, whose numbers it takes over as derived ones, except for those listed under
//! `without`, and then contains only those that differ.
//!
//! ```
//! let machine = tile_machine::Machine::named("sm_90")?;
//! assert_eq!(machine.get("sm.schedulers")?, 4.0);
//! assert_eq!(machine.entry("wgmma.f16.n256.interval").unwrap().kind, tile_machine::Origin::Measured);
//! # Ok::<(), tile_machine::Error>(())
//! ```

use serde_json::Value;
use std::{collections::BTreeMap, sync::OnceLock};

/// The origin of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    Measured,
    Published,
    Derived,
}

/// A number with its origin.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub value: f64,
    pub unit: String,
    pub kind: Origin,
    pub source: String,
    pub date: String,
    pub note: String,
}

/// The numbers of one machine, by name.
#[derive(Clone, Debug)]
pub struct Machine {
    pub name: String,
    pub device: String,
    /// The machine whose numbers it takes over where it has none of its own.
    pub family: Option<String>,
    entries: BTreeMap<String, Entry>,
}

/// An error in a machine file, or in a request for a number.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("unknown machine '{name}'; known machines: {known}")]
    UnknownMachine { name: String, known: String },
    #[error("no machine for target '{target}'; known machines: {known}")]
    UnknownTarget { target: String, known: String },
    #[error("machine {machine} has no number '{key}'")]
    MissingKey { machine: String, key: String },
    #[error("machine file, {place}: {what}")]
    Malformed { place: String, what: String },
}

/// The files, by name.
const FILES: &[(&str, &str)] = &[
    ("sm_80", include_str!("data/sm_80.json")),
    ("sm_86", include_str!("data/sm_86.json")),
    ("sm_87", include_str!("data/sm_87.json")),
    ("sm_89", include_str!("data/sm_89.json")),
    ("sm_90", include_str!("data/sm_90.json")),
    ("sm_100", include_str!("data/sm_100.json")),
    ("sm_103", include_str!("data/sm_103.json")),
    ("sm_110", include_str!("data/sm_110.json")),
    ("sm_120", include_str!("data/sm_120.json")),
    ("sm_120_geforce", include_str!("data/sm_120_geforce.json")),
    ("sm_121", include_str!("data/sm_121.json")),
];

/// The names of all machines.
pub fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(name, _)| *name)
}

/// Targets without a file, and the machine of their family, whose numbers are used instead.
const FAMILIES: &[(&str, &str)] = &[("sm_88", "sm_80"), ("sm_107", "sm_100")];

/// The machine of a target such as `sm_90a`: its own or its family's. `None` for a target of another family.
pub fn of_target(target: &str) -> Option<&'static str> {
    let generic = target.trim_end_matches(|c: char| c.is_ascii_lowercase());
    let family = FAMILIES.iter().find(|(member, _)| *member == generic).map(|(_, machine)| *machine);
    names().find(|name| *name == family.unwrap_or(generic))
}

impl Machine {
    /// Returns a machine of this project. Each is parsed once.
    pub fn named(name: &str) -> Result<Machine, Error> {
        static PARSED: [OnceLock<Result<Machine, Error>>; FILES.len()] = [const { OnceLock::new() }; FILES.len()];
        let known = || Error::UnknownMachine { name: name.into(), known: names().collect::<Vec<_>>().join(", ") };
        let index = FILES.iter().position(|(n, _)| *n == name).ok_or_else(known)?;
        PARSED[index].get_or_init(|| Machine::parse(FILES[index].1)).clone()
    }

    /// The machine of a target: its own, or that of its family ([`of_target`]). [`Machine::name`] says which.
    pub fn of_target(target: &str) -> Result<Machine, Error> {
        let known = || Error::UnknownTarget { target: target.into(), known: names().collect::<Vec<_>>().join(", ") };
        Machine::named(of_target(target).ok_or_else(known)?)
    }

    /// Reads a machine file.
    pub fn parse(text: &str) -> Result<Machine, Error> {
        let bad = |place: &str, what: &str| Error::Malformed { place: place.into(), what: what.into() };
        let root: Value = serde_json::from_str(text).map_err(|e| bad("text", &e.to_string()))?;
        let word = |v: &Value, key: &str, place: &str| {
            v[key].as_str().map(str::to_owned).ok_or_else(|| bad(place, &format!("'{key}' is missing")))
        };
        let family = root["family"].as_str().map(Machine::named).transpose()?;
        let lacks =
            |key: &str| root["without"].as_array().is_some_and(|all| all.iter().any(|k| k.as_str() == Some(key)));
        let mut entries = BTreeMap::new();
        for (key, entry) in family.iter().flat_map(Machine::entries).filter(|(key, _)| !lacks(key)) {
            let source = format!("{}: {key}", root["family"].as_str().unwrap_or_default());
            let note = "as there: nobody has published another".into();
            entries.insert(key.into(), Entry { kind: Origin::Derived, source, note, ..entry.clone() });
        }
        for (key, v) in root["values"].as_object().ok_or_else(|| bad("values", "is missing"))? {
            let kind = match v["kind"].as_str() {
                Some("measured") => Origin::Measured,
                Some("published") => Origin::Published,
                Some("derived") => Origin::Derived,
                _ => return Err(bad(key, "'kind' must be measured, published or derived")),
            };
            let value = v["value"].as_f64().filter(|n| n.is_finite() && *n >= 0.0);
            let entry = Entry {
                value: value.ok_or_else(|| bad(key, "'value' must be a number from 0 up"))?,
                unit: word(v, "unit", key)?,
                kind,
                source: word(v, "source", key)?,
                date: word(v, "date", key)?,
                note: v["note"].as_str().unwrap_or_default().into(),
            };
            // A source names an entry of the file's list, followed by a location in it.
            let document = entry.source.split(':').next().unwrap_or_default().split(',').next().unwrap_or_default();
            if entry.kind != Origin::Derived && root["sources"].get(document.trim()).is_none() {
                return Err(bad(key, &format!("source '{document}' is not in 'sources'")));
            }
            entries.insert(key.clone(), entry);
        }
        let (name, device) = (word(&root, "name", "name")?, word(&root, "device", "device")?);
        Ok(Machine { name, device, family: family.map(|f| f.name), entries })
    }

    /// Returns a number by name.
    pub fn get(&self, key: &str) -> Result<f64, Error> {
        let missing = || Error::MissingKey { machine: self.name.clone(), key: key.into() };
        self.entries.get(key).map(|e| e.value).ok_or_else(missing)
    }

    /// Returns a number with its origin.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries.get(key)
    }

    /// All numbers, by name.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &Entry)> {
        self.entries.iter().map(|(k, e)| (k.as_str(), e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_read_and_every_number_has_an_origin() {
        for name in names() {
            let machine = Machine::named(name).unwrap();
            assert_eq!(machine.name, name);
            for (key, entry) in machine.entries() {
                assert!(!entry.source.is_empty() && entry.date.len() >= 7, "{key}: {entry:?}");
                assert!(entry.kind != Origin::Measured || entry.source.starts_with("run"), "{key}: {entry:?}");
            }
        }
    }

    /// Measured numbers agree with the results that the file names.
    #[test]
    fn measured_numbers_are_those_of_the_results() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../");
        let mut compared = 0;
        for (name, text) in FILES {
            let file: Value = serde_json::from_str(text).unwrap();
            let Some(path) = file["sources"]["run"].as_str() else { continue };
            let results: Value =
                serde_json::from_str(&std::fs::read_to_string(format!("{root}{path}")).unwrap()).unwrap();
            for (key, entry) in Machine::named(name).unwrap().entries() {
                let constant = entry.source.strip_prefix("run: ").map(|c| &results["constants"][c]);
                if let Some(constant) = constant.filter(|_| entry.kind == Origin::Measured) {
                    assert!((constant["value"].as_f64().unwrap() - entry.value).abs() < 0.001, "{name}: {key}");
                    assert_eq!(constant["unit"].as_str().unwrap(), entry.unit, "{name}: {key}");
                    compared += 1;
                }
            }
        }
        assert!(compared >= 30, "{compared}");
    }

    /// The numbers that a machine lacks, and why. `*` matches any part of a key.
    const LACKING: &[(&str, &[(&str, &str)])] = &[
        ("sm_80", NO_WARPGROUPS),
        ("sm_80", NO_POWER),
        ("sm_80", NO_TENSOR_MEMORY),
        ("sm_80", &[("mma.f8.*", "no dots of 8-bit floats"), ("mma.f4.*", "no dots of 4-bit floats")]),
        ("sm_80", &[("tma.*", "no copy engine"), ("setmaxnreg.*", "an instruction of sm_90")]),
        ("sm_80", NO_LAUNCH_CONTROL),
        ("sm_80", NO_BLOCK_SCALES),
        ("sm_89", NO_WARPGROUPS),
        ("sm_89", NO_POWER),
        ("sm_89", NO_TENSOR_MEMORY),
        ("sm_89", &[("mma.f4.*", "no dots of 4-bit floats")]),
        ("sm_89", &[("tma.*", "no copy engine"), ("setmaxnreg.*", "an instruction of sm_90")]),
        ("sm_89", NO_LAUNCH_CONTROL),
        ("sm_89", NO_BLOCK_SCALES),
        ("sm_90", NO_TENSOR_MEMORY),
        ("sm_90", &[("mma.f4.*", "an instruction of sm_120")]),
        ("sm_90", NO_LAUNCH_CONTROL),
        ("sm_90", NO_BLOCK_SCALES),
        ("sm_100", NO_WARPGROUPS),
        ("sm_100", NO_POWER),
        ("sm_100", &[("mma.f4.*", "an instruction of sm_120; here it is one of tcgen05")]),
        ("sm_100", NO_BLOCK_SCALES),
        ("sm_103", NO_WARPGROUPS),
        ("sm_103", NO_POWER),
        ("sm_103", &[("mma.f4.*", "an instruction of sm_120; here it is one of tcgen05")]),
        ("sm_103", NO_BLOCK_SCALES),
        ("sm_103", &[("tcgen05.i8.*", "ptxas knows no kind::i8 for sm_103")]),
        ("sm_120", NO_WARPGROUPS),
        ("sm_120", NO_POWER),
        ("sm_120", NO_TENSOR_MEMORY),
    ];
    const NO_LAUNCH_CONTROL: &[(&str, &str)] = &[("clc.*", "an instruction of sm_100")];
    const NO_BLOCK_SCALES: &[(&str, &str)] = &[("mma.mxf8.*", "an instruction of sm_120")];
    const NO_POWER: &[(&str, &str)] = &[("power.*", "the power of kernels has not been measured")];
    const NO_TENSOR_MEMORY: &[(&str, &str)] = &[("tcgen05.*", "instructions of sm_100 only")];
    const NO_WARPGROUPS: &[(&str, &str)] = &[
        ("wgmma.*", "an instruction of sm_90 only"),
        ("pipe.*.beside_wgmma", "the same"),
        ("epilogue.*", "measured after such dots, for their planner"),
        ("clock.sustained_products", "not published"),
    ];

    fn fits(key: &str, pattern: &str) -> bool {
        pattern.split_once('*').map_or(key == pattern, |(first, last)| key.starts_with(first) && key.ends_with(last))
    }

    /// All machines have the same numbers, except for the listed ones.
    #[test]
    fn machines_differ_in_the_numbers_that_are_listed() {
        let machines: Vec<Machine> = names().map(|n| Machine::named(n).unwrap()).collect();
        let all: std::collections::BTreeSet<&str> = machines.iter().flat_map(|m| m.entries().map(|(k, _)| k)).collect();
        for machine in &machines {
            // A machine lacks what its family lacks, unless the list names it.
            let own = LACKING.iter().any(|(name, _)| *name == machine.name);
            let listed_as = if own { &machine.name } else { machine.family.as_ref().unwrap_or(&machine.name) };
            let of_machine = LACKING.iter().filter(|(name, _)| name == listed_as);
            let patterns: Vec<&str> = of_machine.flat_map(|(_, lacking)| lacking.iter().map(|(p, _)| *p)).collect();
            for key in &all {
                let listed = patterns.iter().filter(|p| fits(key, p)).count();
                assert_eq!(listed, usize::from(machine.entry(key).is_none()), "{}: {key}", machine.name);
            }
            for pattern in patterns {
                assert!(all.iter().any(|key| fits(key, pattern)), "{}: nothing is '{pattern}'", machine.name);
            }
        }
    }

    /// A number copied from another machine equals that machine's number, and every derived number states its rule.
    #[test]
    fn numbers_of_other_machines_are_theirs() {
        let mut compared = 0;
        for machine in names().map(|n| Machine::named(n).unwrap()) {
            for (key, entry) in machine.entries().filter(|(_, e)| e.kind == Origin::Derived) {
                let own = machine.name == "sm_90";
                assert!(own || !entry.note.is_empty(), "{}: {key} does not say by which rule", machine.name);
                if let Some((other, key)) = entry.source.split_once(": ").filter(|_| entry.note.starts_with("as there"))
                {
                    assert_eq!(Machine::named(other).unwrap().get(key), Ok(entry.value), "{}: {key}", machine.name);
                    compared += 1;
                }
            }
            let measured = machine.entries().filter(|(_, e)| e.kind == Origin::Measured).count();
            assert_eq!(measured > 0, machine.name == "sm_90", "{}", machine.name);
        }
        assert!(compared > 50, "{compared}");
    }

    #[test]
    fn targets_without_a_file_have_the_machine_of_their_family() {
        let of = |target| Machine::of_target(target).map(|m| m.name);
        for (target, machine) in [("sm_90", "sm_90"), ("sm_90a", "sm_90"), ("sm_107a", "sm_100"), ("sm_121", "sm_121")]
        {
            assert_eq!(of(target).as_deref(), Ok(machine));
        }
        for (member, machine) in FAMILIES {
            assert!(Machine::named(member).is_err() && Machine::named(machine).is_ok(), "{member}");
        }
        let error = of("sm_75").unwrap_err().to_string();
        assert!(error.starts_with("no machine for target 'sm_75'; known machines: sm_80"), "{error}");
    }

    #[test]
    fn errors_name_what_is_wrong() {
        let error = |text: &str| Machine::parse(text).unwrap_err().to_string();
        assert!(error("{").starts_with("machine file, text:"));
        assert_eq!(error("{}"), "machine file, values: is missing");
        let value = |v: &str| format!(r#"{{"name":"x","device":"y","sources":{{"s":"S"}},"values":{{"k":{v}}}}}"#);
        assert!(error(&value(r#"{"kind":"guessed"}"#)).contains("k: 'kind' must be"));
        assert!(error(&value(r#"{"kind":"measured","value":-1}"#)).contains("k: 'value' must be"));
        let other = r#"{"kind":"measured","value":1,"unit":"clk","source":"t: 1","date":"2026-01"}"#;
        assert!(error(&value(other)).contains("source 't' is not in 'sources'"));
        assert!(Machine::named("sm_00").unwrap_err().to_string().contains("known machines: sm_80, sm_86"));
        assert!(
            Machine::named("sm_90").unwrap().get("nothing").unwrap_err().to_string().contains("no number 'nothing'")
        );
    }
}
