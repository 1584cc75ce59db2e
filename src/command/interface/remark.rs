//! Optimization remarks: what a pass did, failed to do, or found.

use tile_diag::Location;

use crate::{Advice, Choice};

/// One remark of a pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    pub sort: RemarkSort,
    pub subject: RemarkSubject,
    /// The pass's command-line name.
    pub pass: String,
    /// A short name of the subject, for example `Pipelined`.
    pub name: String,
    /// The kernel.
    pub function: String,
    pub location: Option<Location>,
    /// Further locations with the same cause, in the order of the program.
    pub others: Vec<Location>,
    /// The number of loops around the op.
    pub loops: u32,
    /// The decision and its reason, without advice.
    pub message: String,
    /// What the user can change.
    pub advice: Option<Advice>,
    /// The choice that the remark reports, if it reports one.
    pub choice: Option<Choice>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemarkSort {
    Passed,
    Missed,
    Failed,
    Analysis,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemarkSubject {
    Memory,
    TensorCore,
    Other,
    /// Frequent, and rarely of interest.
    Detail,
}

impl Remark {
    /// The message, followed by the advice in the spelling of the front end that wrote the program.
    pub fn text(&self) -> String {
        let file = self.location.as_ref().map(|l| l.file.as_str());
        match self.advice {
            Some(advice) => format!("{}; {}", self.message, advice.in_terms_of(file)),
            None => self.message.clone(),
        }
    }

    /// All locations, the first one first.
    pub fn places(&self) -> impl Iterator<Item = &Location> {
        self.location.iter().chain(&self.others)
    }

    /// Whether the remark reports a missed optimization or a defect.
    pub fn is_problem(&self) -> bool {
        matches!(self.sort, RemarkSort::Missed | RemarkSort::Failed)
    }

    /// The section of the documentation that explains the remark.
    pub fn section(&self) -> String {
        format!("docs/remarks.md#{}", self.name.to_lowercase())
    }

    fn is_like(&self, other: &Remark) -> bool {
        let of = |r: &Remark| (r.sort, r.advice);
        self.choice.is_none()
            && other.choice.is_none()
            && of(self) == of(other)
            && (&self.name, &self.function, &self.message) == (&other.name, &other.function, &other.message)
    }
}

/// Prepares remarks for a report. Those with the same cause become one, with all locations. Defects come first, then
/// choices and analyses, and then missed optimizations, those in the deepest loops first.
pub fn gathered(remarks: Vec<Remark>) -> Vec<Remark> {
    let mut all: Vec<Remark> = vec![];
    for remark in remarks {
        if all.contains(&remark) {
            continue;
        }
        match all.iter_mut().find(|r| r.is_like(&remark)) {
            None => all.push(remark),
            Some(first) => {
                first.loops = first.loops.max(remark.loops);
                let Some(place) = remark.location else { continue };
                if first.location.is_none() {
                    first.location = Some(place);
                } else if !first.places().any(|p| *p == place) {
                    first.others.push(place);
                }
            }
        }
    }
    all.sort_by_key(|r| match r.sort {
        RemarkSort::Failed => (0, 0),
        _ if r.choice.is_some() => (1, 0),
        RemarkSort::Passed | RemarkSort::Analysis => (2, 0),
        RemarkSort::Missed => (3, u32::MAX - r.loops),
    });
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Copying, Transfer};

    fn remark(sort: RemarkSort, message: &str, line: u32) -> Remark {
        Remark {
            sort,
            subject: RemarkSubject::Memory,
            pass: "p".into(),
            name: "NarrowAccess".into(),
            function: "k".into(),
            location: Some(Location::new("k.py", line, 1)),
            others: vec![],
            loops: 0,
            message: message.into(),
            advice: Some(Advice::AlignBase),
            choice: None,
        }
    }

    #[test]
    fn one_remark_per_cause() {
        use RemarkSort::{Analysis, Failed, Missed};
        let in_loop = Remark { loops: 2, ..remark(Missed, "b", 5) };
        let elsewhere = Remark { function: "other".into(), ..remark(Missed, "a", 3) };
        let all = vec![
            remark(Missed, "a", 3),
            remark(Missed, "a", 4),
            remark(Missed, "a", 3),
            elsewhere,
            in_loop,
            remark(Analysis, "c", 1),
            remark(Failed, "d", 9),
        ];
        let shown = |r: &Remark| (r.message.clone(), r.places().map(|p| p.line).collect::<Vec<_>>());
        let found: Vec<_> = gathered(all).iter().map(shown).collect();
        let expected = [("d", vec![9]), ("c", vec![1]), ("b", vec![5]), ("a", vec![3, 4]), ("a", vec![3])]
            .map(|(m, l)| (m.into(), l));
        assert_eq!(found, expected);
    }

    #[test]
    fn each_choice_has_a_line() {
        let load = Transfer {
            is_store: false,
            tile: "8xf32".into(),
            by: vec![Copying::Tma],
            stages: None,
            against_tma: vec![],
        };
        let choice = Some(Choice::Transfer(load));
        let of = |line| Remark { choice: choice.clone(), ..remark(RemarkSort::Analysis, "load", line) };
        assert_eq!(gathered(vec![of(1), of(2), of(1)]).len(), 2);
    }

    #[test]
    fn advice_follows_the_message() {
        let text = remark(RemarkSort::Missed, "4 bytes at a time", 1).text();
        assert!(text.starts_with("4 bytes at a time; pass arrays at multiples of 16 bytes"), "{text}");
        assert_eq!(remark(RemarkSort::Missed, "", 1).section(), "docs/remarks.md#narrowaccess");
    }
}
