//! The numbers of a machine, from the crate `tile-machine`. Each has a unit, a source, a date and a kind.

use std::collections::BTreeMap;

use thiserror::Error;
use tile_machine::Origin;

/// A malformed machine file, an unknown machine, or a missing number.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MachineError {
    #[error("no machine '{0}'")]
    Unknown(String),
    #[error("machine {machine} has no number '{key}'")]
    Missing { machine: String, key: String },
    #[error("machine file, {place}: {what}")]
    Malformed { place: String, what: String },
}

impl MachineError {
    fn of(error: tile_machine::Error) -> Self {
        match error {
            tile_machine::Error::UnknownMachine { name, .. } => Self::Unknown(name),
            tile_machine::Error::UnknownTarget { target, .. } => Self::Unknown(target),
            tile_machine::Error::MissingKey { machine, key } => Self::Missing { machine, key },
            tile_machine::Error::Malformed { place, what } => Self::Malformed { place, what },
        }
    }
}

/// A number with its origin.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub value: f64,
    pub unit: String,
    /// `measured` by the GPU kit, `published`, or `derived` from other numbers as its source explains.
    pub kind: String,
    /// The measurement or publication.
    pub source: String,
    pub date: String,
}

/// The numbers of one machine by key.
#[derive(Debug, Clone)]
pub struct Machine {
    /// The name of the machine file.
    pub name: String,
    entries: BTreeMap<String, Entry>,
}

impl Machine {
    fn of(machine: tile_machine::Machine) -> Self {
        let entry = |e: &tile_machine::Entry| Entry {
            value: e.value,
            unit: e.unit.clone(),
            kind: match e.kind {
                Origin::Measured => "measured",
                Origin::Published => "published",
                Origin::Derived => "derived",
            }
            .to_owned(),
            source: e.source.clone(),
            date: e.date.clone(),
        };
        let entries = machine.entries().map(|(key, e)| (key.to_owned(), entry(e))).collect();
        Self { name: machine.name, entries }
    }

    /// Returns a machine by its name, such as `sm_90`.
    ///
    /// Errors: no such machine, or a malformed machine file.
    pub fn named(name: &str) -> Result<Self, MachineError> {
        tile_machine::Machine::named(name).map(Self::of).map_err(MachineError::of)
    }

    /// Parses a machine file.
    pub fn parse(text: &str) -> Result<Self, MachineError> {
        tile_machine::Machine::parse(text).map(Self::of).map_err(MachineError::of)
    }

    /// Returns the value of `key` in the entry's unit.
    ///
    /// Errors: the machine lacks this number.
    pub fn get(&self, key: &str) -> Result<f64, MachineError> {
        let missing = || MachineError::Missing { machine: self.name.clone(), key: key.to_owned() };
        self.entries.get(key).map(|e| e.value).ok_or_else(missing)
    }

    /// All keys with their entries, in alphabetical order.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &Entry)> {
        self.entries.iter().map(|(k, e)| (k.as_str(), e))
    }
}
