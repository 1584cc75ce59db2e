//! Cases as text: a program of the dialect with comments that describe its inputs and outputs.
//!
//! ```text
//! // The sum of both buffers.
//! //
//! // grid: 1 1 1
//! // buffer: f32 1.0 0x7f800000 -> 3.0~2 inf
//! // buffer: f32 2.0*2
//! // scalar: i32 7
//! // prints: block 0
//! cuda_tile.module @m { entry @k(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %n: tile<i32>) { ... } }
//! ```
//!
//! There is a line for each parameter of the entry, in order. A number is decimal, `0x` followed by its bits, `inf`,
//! `-inf` or `nan`; `*N` repeats it. The final contents of the buffer follow after `->`: `nan` matches any NaN, `~N`
//! permits an error of N units in the last place, and `?` matches anything. A buffer without `->` does not change.
//! `prints` is one line of output; tile blocks print in any order. `error` is a part of the interpreter's error
//! message for a program with undefined behavior.

use crate::case::{Meaning, Parameter, show};
use tile_interp::format::{self, Round, decode, encode};
use tile_interp::int;
use tile_interp::program::Signedness;
use tile_interp::scalar::{Certainty, Scalar};
use tile_interp::types::{Element, Number};

/// A case whose program is text.
#[derive(Clone, Debug, PartialEq)]
pub struct File {
    /// The comment lines before the launch, without comment markers.
    pub description: Vec<String>,
    pub grid: [u32; 3],
    pub parameters: Vec<Parameter>,
    /// The expected elements of each buffer.
    pub want: Vec<Vec<Scalar>>,
    pub prints: Vec<String>,
    /// The expected error of a program with undefined behavior.
    pub error: Option<String>,
    /// The program, without the comments that were parsed.
    pub text: String,
}

/// A number type by its keyword or its short name.
pub fn number(name: &str) -> Option<Number> {
    let short = match name {
        "e4m3" => Number::E4m3,
        "e5m2" => Number::E5m2,
        "e5m3" => Number::E5m3,
        "e8m0" => Number::E8m0,
        "e2m1" => Number::E2m1,
        _ => return Number::ALL.into_iter().find(|n| n.keyword() == name),
    };
    Some(short)
}

/// Parses a number, as an input or as an expected value.
pub fn scalar(word: &str, n: Number) -> Result<Scalar, String> {
    if word == "?" {
        return Ok(Scalar::unknown(0));
    }
    let (word, ulps) = match word.split_once('~') {
        Some((w, u)) => (w, Some(u.parse::<f64>().map_err(|e| format!("'{word}': {e}"))?)),
        None => (word, None),
    };
    if word == "nan" {
        return Ok(Scalar::nan(n));
    }
    let bad = || format!("'{word}' is not a number of type {n}");
    let bits = if let Some(hex) = word.strip_prefix("0x") {
        let bits = u64::from_str_radix(hex, 16).map_err(|_| bad())?;
        if bits & !n.mask() != 0 {
            return Err(bad());
        }
        bits
    } else if n.is_integer() {
        let v: i128 = match word {
            "true" => 1,
            "false" => 0,
            _ => word.parse().map_err(|_| bad())?,
        };
        let width = n.width();
        if v < -(1i128 << (width - 1)) || v >= 1i128 << width {
            return Err(bad());
        }
        v as u64 & n.mask()
    } else if n == Number::F32 {
        // Parse as f32 directly, so the value is rounded only once.
        u64::from(word.parse::<f32>().map_err(|_| bad())?.to_bits())
    } else {
        let v: f64 = word.parse().map_err(|_| bad())?;
        encode(format::Real::from_f64(v), n, Round::NearestEven).bits
    };
    Ok(Scalar { bits, certainty: ulps.map_or(Certainty::Exact, Certainty::Near) })
}

/// Parses numbers with repetitions.
fn scalars(text: &str, n: Number) -> Result<Vec<Scalar>, String> {
    let mut out = vec![];
    for word in text.split_whitespace() {
        let (word, count) = match word.split_once('*') {
            Some((w, c)) => (w, c.parse::<usize>().map_err(|e| format!("'{word}': {e}"))?),
            None => (word, 1),
        };
        out.resize(out.len() + count, scalar(word, n)?);
    }
    Ok(out)
}

/// The bytes of these numbers in memory.
pub fn memory(numbers: &[Scalar], n: Number) -> Vec<u8> {
    if n == Number::E2m1 {
        return numbers.chunks(2).map(|p| p.iter().rev().fold(0, |b, x| b << 4 | x.bits as u8)).collect();
    }
    let size = n.stored_bits() as usize / 8;
    let word = |x: &Scalar| if n == Number::Tf32 { x.bits << 13 } else { x.bits };
    numbers.iter().flat_map(|x| word(x).to_le_bytes()[..size].to_vec()).collect()
}

impl File {
    pub fn parse(text: &str) -> Result<File, String> {
        let mut file = File {
            description: vec![],
            grid: [1; 3],
            parameters: vec![],
            want: vec![],
            prints: vec![],
            error: None,
            text: String::new(),
        };
        for (i, line) in text.lines().enumerate() {
            let Some(comment) = line.strip_prefix("//") else {
                file.text += line;
                file.text.push('\n');
                continue;
            };
            // Empty lines replace the comments, so line numbers stay the same.
            file.text.push('\n');
            let comment = comment.strip_prefix(' ').unwrap_or(comment);
            let parts = comment.split_once(':').map(|(key, rest)| (key, rest.strip_prefix(' ').unwrap_or(rest)));
            match parts {
                Some((key @ ("grid" | "buffer" | "scalar" | "prints" | "error"), rest)) => {
                    file.directive(key, rest).map_err(|e| format!("line {}: {e}", i + 1))?;
                }
                _ => file.description.push(comment.to_string()),
            }
        }
        Ok(file)
    }

    fn directive(&mut self, key: &str, rest: &str) -> Result<(), String> {
        match key {
            "grid" => {
                let extents: Vec<u32> = rest.split_whitespace().filter_map(|w| w.parse().ok()).collect();
                self.grid = extents.try_into().map_err(|_| "expected three extents of the grid".to_string())?;
            }
            "prints" => self.prints.push(rest.to_string()),
            "error" => self.error = Some(rest.to_string()),
            _ => {
                let (name, rest) = rest.split_once(' ').ok_or("expected a type and numbers")?;
                let n = number(name).ok_or_else(|| format!("unknown type '{name}'"))?;
                if key == "scalar" {
                    let [one] = scalars(rest, n)?[..] else { return Err("expected one number".into()) };
                    self.parameters.push(Parameter::Scalar { number: n, bits: one.bits });
                    return Ok(());
                }
                let (before, after) = match rest.split_once("->") {
                    Some((b, a)) => (b, Some(a)),
                    None => (rest, None),
                };
                let before = scalars(before, n)?;
                let after = match after {
                    Some(text) => scalars(text, n)?,
                    None => before.iter().map(|x| x.assumed()).collect(),
                };
                if before.len() != after.len() {
                    return Err(format!("{} numbers before and {} after", before.len(), after.len()));
                }
                self.parameters.push(Parameter::Buffer { number: n, bytes: memory(&before, n) });
                self.want.push(after);
            }
        }
        Ok(())
    }

    /// The text of the file.
    pub fn print(&self) -> String {
        let mut out = String::new();
        for line in &self.description {
            out += format!("// {line}").trim_end();
            out.push('\n');
        }
        let [x, y, z] = self.grid;
        out += &format!("// grid: {x} {y} {z}\n");
        let mut want = self.want.iter();
        for p in &self.parameters {
            match p {
                Parameter::Scalar { number: n, bits } => {
                    out += &format!("// scalar: {n} {}\n", word(Scalar::exact(*bits), *n));
                }
                Parameter::Buffer { number: n, bytes } => {
                    let before = crate::case::numbers(bytes, *n);
                    let after = want.next().cloned().unwrap_or_default();
                    let changed = after != before;
                    let after = if changed { format!(" -> {}", words(&after, *n)) } else { String::new() };
                    out += &format!("// buffer: {n} {}{after}\n", words(&before, *n));
                }
            }
        }
        for line in &self.prints {
            out += &format!("// prints: {line}\n");
        }
        if let Some(error) = &self.error {
            out += &format!("// error: {error}\n");
        }
        out + &self.text
    }

    /// The results that the comments describe.
    pub fn meaning(&self) -> Meaning {
        Meaning {
            buffers: self.want.clone(),
            output: self.prints.iter().map(|l| format!("{l}\n")).collect(),
            failed_assertions: vec![],
            guess: None,
            ops: 0,
        }
    }

    /// Compares computed elements with the file's expectations, which may be weaker than the computed results.
    pub fn complaint(&self, got: &Meaning) -> Option<String> {
        let numbers = self.parameters.iter().filter_map(|p| match p {
            Parameter::Buffer { number, .. } => Some(*number),
            Parameter::Scalar { .. } => None,
        });
        for (i, ((want, got), n)) in self.want.iter().zip(&got.buffers).zip(numbers).enumerate() {
            for (e, (w, g)) in want.iter().zip(got).enumerate() {
                if !w.admits(g.bits, Element::Number(n)) {
                    let have = show(g.bits, n);
                    return Some(format!("buffer {i}, element {e}: {have}, expected {}", word(*w, n)));
                }
                let promised = w.certainty == Certainty::Exact && g.certainty != Certainty::Exact;
                if promised {
                    return Some(format!("buffer {i}, element {e}: {} is not exact: {:?}", word(*w, n), g.certainty));
                }
            }
        }
        let sorted = |text: &str| {
            let mut lines: Vec<String> = text.lines().map(String::from).collect();
            lines.sort_unstable();
            lines
        };
        let want = self.meaning().output;
        (sorted(&want) != sorted(&got.output)).then(|| format!("printed {:?}, expected {want:?}", got.output))
    }
}

/// Formats a number as [`scalar`] parses it.
fn word(x: Scalar, n: Number) -> String {
    let digits = n.width().div_ceil(4) as usize;
    let value = match x.certainty {
        Certainty::Unknown => return "?".into(),
        _ if n.is_integer() => int::value(x.bits, n, Signedness::Signed).to_string(),
        Certainty::Near(_) if decode(x.bits, n).is_nan() => return "nan".into(),
        _ => format!("0x{:0digits$x}", x.bits),
    };
    match x.certainty {
        Certainty::Near(u) => format!("{value}~{u}"),
        _ => value,
    }
}

fn words(all: &[Scalar], n: Number) -> String {
    let mut out: Vec<String> = vec![];
    let mut rest = all;
    while let Some(first) = rest.first() {
        let run = rest.iter().take_while(|x| *x == first).count();
        let one = word(*first, n);
        if run > 2 {
            out.push(format!("{one}*{run}"));
        } else {
            out.extend(vec![one; run]);
        }
        rest = &rest[run..];
    }
    out.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
// Two lines
// of text.
// grid: 2 1 1
// buffer: f32 0x3f800000 0x00000000*7 -> 0x40400000~2 nan ?*6
// scalar: i32 -7
// buffer: f8E4M3FN 0x38 0x39
// prints: a b
module
";

    #[test]
    fn files_are_written_as_they_are_read() {
        let file = File::parse(TEXT).unwrap();
        assert_eq!(file.grid, [2, 1, 1]);
        assert_eq!(file.parameters[1], Parameter::Scalar { number: Number::I32, bits: 0xffff_fff9 });
        assert_eq!(file.parameters[2], Parameter::Buffer { number: Number::E4m3, bytes: vec![0x38, 0x39] });
        assert_eq!(file.want[0][0], Scalar { bits: 0x4040_0000, certainty: Certainty::Near(2.0) });
        assert_eq!(file.want[1], [0x38, 0x39].map(Scalar::exact));
        let mut again = file.clone();
        again.text = "module\n".into();
        assert_eq!(again.print(), TEXT);
    }

    #[test]
    fn numbers() {
        let good = [
            ("1.5", Number::F32, 0x3fc0_0000),
            ("-inf", Number::F16, 0xfc00),
            ("-1", Number::I8, 0xff),
            ("255", Number::I8, 0xff),
            ("true", Number::I1, 1),
            ("448", Number::E4m3, 0x7e),
            ("0x1fc00", Number::Tf32, 0x1fc00),
        ];
        for (text, n, bits) in good {
            assert_eq!(scalar(text, n), Ok(Scalar::exact(bits)), "{text}");
        }
        for (text, n) in [("256", Number::I8), ("x", Number::F32), ("0x100", Number::E4m3), ("1.0", Number::I32)] {
            assert!(scalar(text, n).is_err(), "{text}");
        }
        assert!(File::parse("// buffer: f32 1.0 -> 1.0 2.0").is_err());
        assert!(File::parse("// buffer: f33 1.0").is_err());
        assert_eq!(memory(&[1, 2, 3, 4].map(Scalar::exact), Number::E2m1), [0x21, 0x43]);
    }
}
