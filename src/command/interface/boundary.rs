//! Places between passes, at which a program can be printed and compiled further.

use std::fmt;
use std::str::FromStr;

/// The place after a pass of the pipeline: `PASS`, or `PASS#N` after the Nth run of a pass that runs several times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Boundary {
    pub pass: String,
    /// From 1.
    pub run: usize,
}

impl Boundary {
    /// Returns the boundary after each pass of a pipeline, given the names of the passes in order.
    pub fn all<'a>(passes: impl IntoIterator<Item = &'a str>) -> Vec<Boundary> {
        let mut found: Vec<Boundary> = vec![];
        for pass in passes {
            let run = found.iter().filter(|b| b.pass == pass).count() + 1;
            found.push(Boundary { pass: pass.to_owned(), run });
        }
        found
    }
}

impl fmt::Display for Boundary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.run {
            1 => f.write_str(&self.pass),
            run => write!(f, "{}#{run}", self.pass),
        }
    }
}

impl FromStr for Boundary {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (pass, run) = match text.split_once('#') {
            None => (text, Some(1)),
            Some((pass, run)) => (pass, run.parse().ok().filter(|run| *run > 0)),
        };
        match run {
            Some(run) if !pass.is_empty() => Ok(Boundary { pass: pass.to_owned(), run }),
            _ => Err(format!("'{text}' is not of the form PASS or PASS#N")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boundaries_round_trip() {
        let texts: Vec<String> = Boundary::all(["cse", "a-pass", "cse"]).iter().map(Boundary::to_string).collect();
        assert_eq!(texts, ["cse", "a-pass", "cse#2"]);
        for text in &texts {
            assert_eq!(text.parse::<Boundary>().map(|b| b.to_string()).as_ref(), Ok(text));
        }
        assert_eq!("cse#1".parse(), "cse".parse::<Boundary>());
        for text in ["", "#2", "cse#", "cse#0", "cse#x"] {
            assert!(text.parse::<Boundary>().is_err(), "{text}");
        }
    }
}
