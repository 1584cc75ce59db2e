//! What the compiler says about a program, as part of the report of a prediction.

use super::prediction::Prediction;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Notes of the compiler. Places are `file:line:column`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Notes {
    /// The choice for each product, load, store and loop, in the order of the source.
    pub choices: Vec<Note>,
    /// Missed optimizations, the costliest first.
    pub missed: Vec<Missed>,
    /// The least times of faster units.
    pub roofs: Vec<Roof>,
}

/// A statement about an op of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    pub place: String,
    pub text: String,
}

/// A missed optimization.
#[derive(Clone, Debug, PartialEq)]
pub struct Missed {
    /// The share of all waits that its source lines cause.
    pub share: f64,
    pub places: Vec<String>,
    pub text: String,
}

/// A unit that could do the work of another one in less time.
#[derive(Clone, Debug, PartialEq)]
pub struct Roof {
    /// The busy unit, as named in [`Prediction::busy`].
    pub unit: &'static str,
    pub faster: String,
    /// The least time of the faster unit for the same work.
    pub microseconds: f64,
}

impl Notes {
    /// The lines on the roofs of faster units, which follow the line of a busy unit.
    pub(super) fn roofs_text(&self, unit: &str) -> String {
        let mut out = String::new();
        for roof in self.roofs.iter().filter(|r| r.unit == unit) {
            let text = format!("could be {}", roof.faster);
            // Writing to a string cannot fail.
            let _ = writeln!(out, "    {text:<31} {:>10.1} us", roof.microseconds);
        }
        out
    }

    pub(super) fn text(&self) -> String {
        let mut out = String::new();
        if !self.choices.is_empty() {
            out.push_str("chosen by the compiler:\n");
        }
        for note in &self.choices {
            let _ = writeln!(out, "  {}  {}", note.place, note.text);
        }
        if !self.missed.is_empty() {
            out.push_str("missed optimizations by the time that warps wait for their lines:\n");
        }
        for missed in &self.missed {
            let _ = writeln!(out, "  {:5.1} %  {}  {}", 100.0 * missed.share, missed.places.join(", "), missed.text);
        }
        out
    }

    pub(super) fn json(&self) -> Value {
        let choices: Vec<Value> = self.choices.iter().map(|n| json!({"place": n.place, "text": n.text})).collect();
        let missed: Vec<Value> =
            self.missed.iter().map(|m| json!({"share": m.share, "places": m.places, "text": m.text})).collect();
        let roofs: Vec<Value> =
            self.roofs.iter().map(|r| json!({"unit": r.unit, "faster": r.faster, "us": r.microseconds})).collect();
        json!({"choices": choices, "missed": missed, "roofs": roofs})
    }

    pub(super) fn html(&self, escape: impl Fn(&str) -> String) -> String {
        let mut out = String::new();
        if !self.choices.is_empty() {
            out.push_str("<h2>Chosen by the compiler</h2><table>");
            for note in &self.choices {
                let _ = write!(out, "<tr><td>{}<td>{}", escape(&note.place), escape(&note.text));
            }
            out.push_str("</table>");
        }
        if !self.missed.is_empty() {
            out.push_str("<h2>Missed optimizations</h2><p>By the time that warps wait for their lines.</p><table>");
            for m in &self.missed {
                let (places, text) = (escape(&m.places.join(", ")), escape(&m.text));
                let _ = write!(out, "<tr><td class=n>{:.1} %<td>{places}<td>{text}", 100.0 * m.share);
            }
            out.push_str("</table>");
        }
        out
    }
}

impl Prediction {
    /// The share of all waits that a line of the program causes. The file may be named by a longer path.
    pub fn share_of(&self, file: &str, line: u32) -> f64 {
        let is_same = |named: &str| named == file || named.strip_suffix(file).is_some_and(|rest| rest.ends_with('/'));
        let found = self.costliest(usize::MAX).find(|(s, _)| s.line == line && is_same(&s.file));
        found.map_or(0.0, |(_, share)| share)
    }
}
