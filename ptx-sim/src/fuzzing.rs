//! Bodies of the fuzz targets, so that a stable toolchain can run them too.
//!
//! Each body takes arbitrary text and panics only if the crate breaks a guarantee:
//!
//! * [`parse`]: parsing returns a module, or an error located within the text, and is deterministic;
//! * [`run`]: a parsed module can be launched, the launch ends within its limits with a result or an error, and
//!   repeating it gives the same result.
//!
//! [`mutate`] changes tokens and lines of PTX rather than bytes, so that a good share of the results still parses.

use crate::{Arg, Config, Device, LaunchConfig, Module, RunOptions, SimError, SimErrorKind};
use std::time::{Duration, Instant};

/// No input of the size of a test kernel may occupy the parser or simulator for longer.
const PATIENCE: Duration = Duration::from_secs(60);

/// Time limit of one launch. The instruction limit usually applies first, except for matrix multiplications.
const LIMIT: Duration = Duration::from_secs(1);

/// Feeds arbitrary text to the parser.
pub fn parse(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    match Module::parse(&text) {
        Ok(module) => {
            let again = Module::parse(&text).unwrap_or_else(|e| panic!("parsed once and not again: {e}"));
            assert_eq!(module.functions.len(), again.functions.len(), "parsed differently");
        }
        Err(e) => {
            let line = text.lines().nth(e.line.saturating_sub(1) as usize).unwrap_or("");
            let lines = text.lines().count() + 1;
            assert!(e.line >= 1 && e.line as usize <= lines, "{e}: the text has {lines} lines");
            assert!(e.column >= 1 && e.column as usize <= line.len() + 2, "{e}: the line has {} bytes", line.len());
            assert!(!e.to_string().is_empty());
        }
    }
}

/// Parses a module and launches every entry, twice.
pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let started = Instant::now();
    let Ok(module) = Module::parse(&text) else { return };
    // Dimensions and schedule depend only on the input.
    let seed = data.iter().fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3));
    let entries: Vec<&str> = module.entries().collect();
    for (n, entry) in entries.into_iter().take(4).enumerate() {
        let mut random = Random(seed ^ n as u64 | 1);
        let (block, grid) = (1 + random.below(130) as u32, 1 + random.below(3) as u32);
        let adversarial = (random.below(3) > 0).then(|| random.word());
        let first = launch(&module, entry, grid, block, adversarial);
        let second = launch(&module, entry, grid, block, adversarial);
        match (first, second) {
            (Err(e), _) | (_, Err(e)) if e.kind == SimErrorKind::TimeLimit => {}
            (Ok(a), Ok(b)) => assert!(a == b, "two launches of {entry} differ"),
            (Err(a), Err(b)) => assert_eq!(a, b, "two launches of {entry} fail differently"),
            (a, b) => panic!("two launches of {entry}: {:?} and {:?}", a.err(), b.err()),
        }
    }
    assert!(started.elapsed() < PATIENCE, "not done after {:?}", started.elapsed());
}

/// The final contents of the kernel's buffers, and its printed text.
type Outcome = (Vec<Vec<u8>>, String);

/// Launches once on a fresh device: parameters of eight bytes point to buffers, others are small numbers.
fn launch(module: &Module, entry: &str, grid: u32, block: u32, adversarial: Option<u64>) -> Result<Outcome, SimError> {
    let mut device = Device::new(Config::default());
    let function = module.function(entry);
    let params = function.map_or(&[][..], |f| &f.params[..]);
    let mut buffers = vec![];
    let mut args = vec![];
    for p in params.iter().take(64) {
        if p.size == 8 {
            let data: Vec<u8> = (0..4096u32).map(|i| if i % 4 == 0 { (i / 4 % 7) as u8 } else { 0 }).collect();
            let buffer = device.alloc_from(&data);
            buffers.push(buffer);
            args.push(Arg::Ptr(buffer));
        } else {
            let bytes = (0..p.size.min(4096)).map(|i| if i == 0 { 3 } else { 0 }).collect();
            args.push(Arg::Bytes(bytes));
        }
    }
    let directives = function.map(|f| &f.directives);
    let sized = directives.is_some_and(|d| d.reqntid.is_some());
    let config = LaunchConfig {
        grid: [grid, 1, 1],
        block: (!sized).then_some([block, 1, 1]),
        cluster: None,
        dynamic_shared: 512,
        args: &args,
    };
    let options =
        RunOptions { adversarial, max_instructions: Some(20_000), max_time: Some(LIMIT), ..RunOptions::default() };
    let report = device.launch(module, entry, &config, &options)?;
    let contents = buffers.iter().map(|b| {
        let mut bytes = vec![0; 4096];
        device.read_unchecked(*b, &mut bytes).map(|()| bytes)
    });
    Ok((contents.collect::<Result<_, _>>()?, report.output))
}

/// A pseudo-random generator of test inputs (xorshift).
pub struct Random(pub u64);

impl Random {
    pub fn word(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    /// A number below `n`, which must not be zero.
    pub fn below(&mut self, n: usize) -> usize {
        self.word() as usize % n
    }
}

/// Numbers at the limits of types and tables.
const NUMBERS: [&str; 24] = [
    "0",
    "1",
    "2",
    "3",
    "7",
    "8",
    "15",
    "16",
    "31",
    "32",
    "33",
    "64",
    "128",
    "255",
    "256",
    "1024",
    "65535",
    "65536",
    "-1",
    "0x7fffffff",
    "0x80000000",
    "0xffffffff",
    "0x7fffffffffffffff",
    "0f7FC00000",
];

/// Changes `text` in a few places, taking lines and words from the program `donor`. The result is at most slightly
/// longer than `text`.
pub fn mutate(text: &str, donor: &str, random: &mut Random) -> String {
    let mut out = text.to_string();
    for _ in 0..=random.below(4) {
        out = match random.below(8) {
            0..=2 => replace_token(&out, donor, random),
            3..=5 => change_line(&out, donor, random),
            6 => replace_token(&out, text, random),
            _ => damage_byte(&out, random),
        };
    }
    out
}

/// The kind of a token, for replacement.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TokenKind {
    Register,
    Modifier,
    Number,
    Word,
}

/// The tokens of a text, as start, end and kind. Space, comments and punctuation are omitted.
fn tokens(text: &str) -> Vec<(usize, usize, TokenKind)> {
    let bytes = text.as_bytes();
    let name = |c: u8| c.is_ascii_alphanumeric() || c == b'_' || c == b'$' || c == b':';
    let mut out = vec![];
    let mut at = 0;
    while at < bytes.len() {
        let kind = match bytes[at] {
            b'%' => TokenKind::Register,
            b'.' => TokenKind::Modifier,
            b'0'..=b'9' => TokenKind::Number,
            c if name(c) => TokenKind::Word,
            _ => {
                at += 1;
                continue;
            }
        };
        let mut end = at + 1;
        while end < bytes.len() && name(bytes[end]) {
            end += 1;
        }
        out.push((at, end, kind));
        at = end;
    }
    out
}

/// Replaces a token by another of its kind, from either program, or by a number from the table.
fn replace_token(text: &str, donor: &str, random: &mut Random) -> String {
    let here = tokens(text);
    if here.is_empty() {
        return damage_byte(text, random);
    }
    let (start, end, kind) = here[random.below(here.len())];
    let new = if kind == TokenKind::Number && random.below(2) == 0 {
        NUMBERS[random.below(NUMBERS.len())]
    } else {
        let there = tokens(donor);
        // Registers of the donor are not declared here.
        let (from, list) =
            if kind == TokenKind::Register || there.is_empty() { (text, &here) } else { (donor, &there) };
        let same: Vec<&(usize, usize, TokenKind)> = list.iter().filter(|t| t.2 == kind).collect();
        if same.is_empty() {
            "x"
        } else {
            let (a, b, _) = same[random.below(same.len())];
            &from[*a..*b]
        }
    };
    format!("{}{new}{}", &text[..start], &text[end..])
}

/// Drops, duplicates or moves a line, or inserts one from the donor.
fn change_line(text: &str, donor: &str, random: &mut Random) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let others: Vec<&str> = donor.lines().collect();
    if lines.is_empty() || others.is_empty() {
        return text.into();
    }
    let at = random.below(lines.len());
    match random.below(5) {
        0 => {
            lines.remove(at);
        }
        1 => lines.insert(at, lines[random.below(lines.len())]),
        2 => {
            let other = random.below(lines.len());
            lines.swap(at, other);
        }
        3 => lines.insert(at, others[random.below(others.len())]),
        _ => lines[at] = others[random.below(others.len())],
    }
    lines.join("\n")
}

/// Changes, adds or removes a byte, or repeats a piece.
fn damage_byte(text: &str, random: &mut Random) -> String {
    const ALPHABET: &[u8] = b"{}[](),;:.@!%|+-0x1f9_ \n\"/*ab<>=\0\xff";
    let mut bytes = text.as_bytes().to_vec();
    if bytes.is_empty() {
        return text.into();
    }
    let at = random.below(bytes.len());
    let letter = ALPHABET[random.below(ALPHABET.len())];
    match random.below(4) {
        0 => bytes[at] = letter,
        1 => bytes.insert(at, letter),
        2 => {
            bytes.remove(at);
        }
        _ => {
            let from = random.below(bytes.len());
            let piece = bytes[from..(from + random.below(40)).min(bytes.len())].to_vec();
            bytes.splice(at..at, piece);
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
