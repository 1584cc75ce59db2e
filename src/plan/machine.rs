//! The numbers of a machine: each has a unit, a source, a date and a kind, in a JSON file under `data`.

use std::collections::BTreeMap;

use serde_json::Value;
use thiserror::Error;

/// What is wrong with a machine file, or with a request for a number.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MachineError {
    #[error("no machine '{0}'")]
    Unknown(String),
    #[error("machine {machine} has no number '{key}'")]
    Missing { machine: String, key: String },
    #[error("machine file, {place}: {what}")]
    Malformed { place: String, what: String },
}

/// A number with its origin.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub value: f64,
    pub unit: String,
    /// `measured` by the GPU kit, `published`, or `derived` from such numbers as the note says.
    pub kind: String,
    pub source: String,
    pub date: String,
}

/// The numbers of one machine, by name.
#[derive(Debug, Clone)]
pub struct Machine {
    pub name: String,
    entries: BTreeMap<String, Entry>,
}

const FILES: [(&str, &str); 1] = [("sm_90", include_str!("data/sm_90.json"))];

impl Machine {
    pub fn named(name: &str) -> Result<Self, MachineError> {
        match FILES.iter().find(|(n, _)| *n == name) {
            Some((_, text)) => Self::parse(text),
            None => Err(MachineError::Unknown(name.to_owned())),
        }
    }

    /// Reads a machine file.
    pub fn parse(text: &str) -> Result<Self, MachineError> {
        let bad = |place: &str, what: String| MachineError::Malformed { place: place.to_owned(), what };
        let root: Value = serde_json::from_str(text).map_err(|e| bad("text", e.to_string()))?;
        let word = |v: &Value, key: &str, place: &str| match v[key].as_str() {
            Some(word) if !word.is_empty() => Ok(word.to_owned()),
            _ => Err(bad(place, format!("'{key}' is missing"))),
        };
        let values = root["values"].as_object().ok_or_else(|| bad("values", "is missing".to_owned()))?;
        let mut entries = BTreeMap::new();
        for (key, v) in values {
            let value = v["value"].as_f64().filter(|n| n.is_finite() && *n > 0.0);
            let entry = Entry {
                value: value.ok_or_else(|| bad(key, "'value' must be a positive number".to_owned()))?,
                unit: word(v, "unit", key)?,
                kind: word(v, "kind", key)?,
                source: word(v, "source", key)?,
                date: word(v, "date", key)?,
            };
            if !["measured", "published", "derived"].contains(&entry.kind.as_str()) {
                return Err(bad(key, "'kind' must be measured, published or derived".to_owned()));
            }
            entries.insert(key.clone(), entry);
        }
        Ok(Self { name: word(&root, "name", "name")?, entries })
    }

    pub fn get(&self, key: &str) -> Result<f64, MachineError> {
        let missing = || MachineError::Missing { machine: self.name.clone(), key: key.to_owned() };
        self.entries.get(key).map(|e| e.value).ok_or_else(missing)
    }

    pub fn entries(&self) -> impl Iterator<Item = (&str, &Entry)> {
        self.entries.iter().map(|(k, e)| (k.as_str(), e))
    }
}
