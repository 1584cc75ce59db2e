//! The command-line grammar of LLVM's tools. Users of the drop-in command expect it down to the messages.
//!
//! The rules, given a table of [`Spec`]s:
//! * an option has one or two dashes; its value follows `=` or is the next argument; `--flag` needs no value;
//! * `--` ends the options; `-` is a file name; all other arguments are positional;
//! * the value of a *prefix* option is always glued to its name: `-O3`, not `-O 3`;
//! * *grouping* one-letter options may be glued together, but only if they take no value;
//! * an alias refers to another option, whose name appears in messages about the value;
//! * the last occurrence of a repeated option wins, except for lists;
//! * an unknown option is an error that names the nearest known one.
//!
//! All errors are collected, in order. An option that prints information ends parsing when it is reached.
//!
//! Example: `-ox.cubin`. No option is called `ox.cubin`. Its longest prefix that is an option and may be glued is
//! `o`, a grouping option. But `o` needs a value, so it `may not occur within a group!`. The argument is therefore
//! unknown, and the nearest option is `-o`.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// One option.
#[derive(Debug)]
pub struct Spec {
    /// Without dashes.
    pub name: &'static str,
    pub value: ValueKind,
    pub glue: Glue,
    /// The option that this one is an alias for.
    pub alias_for: Option<&'static str>,
    /// The placeholder in help, e.g. `filename`.
    pub placeholder: &'static str,
    pub help: &'static str,
    pub hidden: bool,
    pub category: &'static str,
    pub replay: Replay,
}

/// The use of an option in reproducers ([`crate::repro`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replay {
    /// Affects the output or the diagnostics, and accesses no file, program or library: a replay uses it.
    Use,
    /// Recorded, but not used by a replay.
    Ignore,
    /// Names files of this machine, or has already taken effect: not recorded.
    Omit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    /// True if the value is missing. `=true`, `=1`, `=false` and `=0` are allowed.
    Flag,
    /// Prints something and ends the command; takes no value.
    Action,
    Integer,
    /// One of a list of names, each with a description.
    Choice(&'static [(&'static str, &'static str)]),
    Text,
    /// Empty if the value is missing. A value must follow `=`; it is never the next argument.
    OptionalText,
    /// May be repeated. Every occurrence counts.
    List,
    /// Preview features, separated by commas. May be repeated.
    Features(&'static [&'static str]),
}

impl ValueKind {
    /// Whether a value must follow.
    pub fn is_required(self) -> bool {
        !matches!(self, ValueKind::Flag | ValueKind::OptionalText | ValueKind::Action)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Glue {
    None,
    /// The value is always glued: `-O3`.
    Prefix,
    /// A letter that may be glued to other letters.
    Group,
}

/// A checked value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OptionValue {
    Flag(bool),
    Integer(i64),
    Choice(&'static str),
    Text(OsString),
}

/// The result of parsing the arguments.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Parsed {
    /// In order, with aliases resolved.
    pub occurrences: Vec<(&'static str, OptionValue)>,
    pub positionals: Vec<OsString>,
    /// Complete lines, in order.
    pub errors: Vec<String>,
    /// The action that ended parsing.
    pub action: Option<&'static str>,
}

impl Parsed {
    fn last(&self, name: &str) -> Option<&OptionValue> {
        self.occurrences.iter().rev().find(|(n, _)| *n == name).map(|(_, v)| v)
    }

    pub fn flag(&self, name: &str) -> bool {
        matches!(self.last(name), Some(OptionValue::Flag(true)))
    }

    pub fn integer(&self, name: &str) -> Option<i64> {
        match self.last(name) {
            Some(OptionValue::Integer(n)) => Some(*n),
            _ => None,
        }
    }

    pub fn choice(&self, name: &str) -> Option<&'static str> {
        match self.last(name) {
            Some(OptionValue::Choice(c)) => Some(c),
            _ => None,
        }
    }

    pub fn text(&self, name: &str) -> Option<&OsStr> {
        match self.last(name) {
            Some(OptionValue::Text(t)) => Some(t),
            _ => None,
        }
    }

    pub fn list(&self, name: &str) -> Vec<OsString> {
        let texts = self.occurrences.iter().filter(|(n, _)| *n == name);
        texts.filter_map(|(_, v)| if let OptionValue::Text(t) = v { Some(t.clone()) } else { None }).collect()
    }
}

/// Parses the arguments; the first one is the program's name. At most `positional_limit` may be positional.
pub fn parse(specs: &'static [Spec], arguments: &[OsString], positional_limit: usize) -> Parsed {
    let argv0 = arguments.first().map(|a| a.to_string_lossy().into_owned()).unwrap_or_default();
    let program = argv0.rsplit('/').next().unwrap_or_default().to_owned();
    let mut parser = Parser { specs, program, argv0, out: Parsed::default() };
    let mut rest = arguments.iter().skip(1);
    while let Some(argument) = rest.next() {
        let bytes = argument.as_bytes();
        if bytes == b"--" {
            parser.out.positionals.extend(rest.by_ref().cloned());
        } else if bytes.len() < 2 || bytes[0] != b'-' {
            parser.out.positionals.push(argument.clone());
        } else {
            parser.option(argument, &mut rest);
            if parser.out.action.is_some() {
                return parser.out;
            }
        }
    }
    if parser.out.positionals.len() > positional_limit {
        parser.error("Too many positional arguments specified!");
        let line = format!("Can specify at most {positional_limit} positional arguments: See: {} --help", parser.argv0);
        parser.out.errors.push(line);
    }
    parser.out
}

struct Parser {
    specs: &'static [Spec],
    /// The last component of the program's path, which starts each message.
    program: String,
    argv0: String,
    out: Parsed,
}

impl Parser {
    fn error(&mut self, text: &str) {
        self.out.errors.push(format!("{}: {text}", self.program));
    }

    fn option_error(&mut self, name: &str, text: &str) {
        self.error(&format!("for the {} option: {text}", dashed(name)));
    }

    fn find(&self, name: &[u8]) -> Option<&'static Spec> {
        self.specs.iter().find(|s| s.name.as_bytes() == name)
    }

    /// Parses one argument that starts with a dash.
    fn option<'a>(&mut self, argument: &OsStr, rest: &mut impl Iterator<Item = &'a OsString>) {
        let bytes = argument.as_bytes();
        let body = bytes.strip_prefix(b"--").unwrap_or(&bytes[1..]);
        let (name, value) = split_at_equals(body);
        match self.find(name).filter(|s| value.is_none() || s.glue != Glue::Prefix) {
            Some(spec) => self.occurrence(spec, value, Some(rest)),
            None => match self.glued(body) {
                Ok(Some((spec, value))) => self.occurrence(spec, value, None),
                Ok(None) => self.unknown(argument, self.nearest(body)),
                Err(spec) => self.unknown(argument, Some(dashed(spec.name))),
            },
        }
    }

    /// The prefix or grouping option at the start of `body`, and the text glued to it. `Err` is an option that takes
    /// a value in the middle of a group.
    #[allow(clippy::type_complexity, reason = "an option and its value, or none, or the offender")]
    fn glued<'b>(&mut self, mut body: &'b [u8]) -> Result<Option<(&'static Spec, Option<&'b [u8]>)>, &'static Spec> {
        loop {
            let can_be_glued = |n: &usize| self.find(&body[..*n]).filter(|s| s.glue != Glue::None).map(|s| (*n, s));
            let Some((length, spec)) = (1..=body.len()).rev().find_map(|n| can_be_glued(&n)) else { return Ok(None) };
            let rest = &body[length..];
            if rest.is_empty() {
                return Ok(Some((spec, None)));
            }
            if spec.glue == Glue::Prefix {
                return Ok(Some((spec, Some(rest))));
            }
            if let Some(value) = rest.strip_prefix(b"=") {
                return Ok(Some((spec, Some(value))));
            }
            if self.resolve(spec).value.is_required() {
                self.option_error(spec.name, "may not occur within a group!");
                return Err(spec);
            }
            self.occurrence(spec, None, None);
            body = rest;
        }
    }

    /// The option that an alias refers to; other options refer to themselves.
    fn resolve(&self, spec: &'static Spec) -> &'static Spec {
        spec.alias_for.and_then(|name| self.find(name.as_bytes())).unwrap_or(spec)
    }

    /// Records an option with its value. Consumes the next argument if a value is needed and need not be glued.
    fn occurrence(
        &mut self,
        spec: &'static Spec,
        value: Option<&[u8]>,
        rest: Option<&mut dyn Iterator<Item = &OsString>>,
    ) {
        let target = self.resolve(spec);
        let value = match value {
            Some(v) => Some(v.to_vec()),
            None if target.value.is_required() => {
                let next = rest.filter(|_| spec.glue != Glue::Prefix).and_then(Iterator::next);
                let Some(next) = next else {
                    return self.option_error(spec.name, "requires a value!");
                };
                Some(next.as_bytes().to_vec())
            }
            None => None,
        };
        if target.value == ValueKind::Action {
            match value {
                Some(v) => {
                    let text = format!("does not allow a value! '{}' specified.", String::from_utf8_lossy(&v));
                    self.option_error(target.name, &text);
                }
                None => self.out.action = Some(target.name),
            }
            return;
        }
        match check(target, value) {
            Ok(value) => self.out.occurrences.push((target.name, value)),
            Err(text) => self.option_error(target.name, &text),
        }
    }

    fn unknown(&mut self, argument: &OsStr, nearest: Option<String>) {
        let line =
            format!("Unknown command line argument '{}'.  Try: '{} --help'", argument.to_string_lossy(), self.argv0);
        self.error(&line);
        if let Some(nearest) = nearest {
            self.error(&format!("Did you mean '{nearest}'?"));
        }
    }

    /// The option with the smallest edit distance, the first one on a tie. A given value is carried over.
    fn nearest(&self, body: &[u8]) -> Option<String> {
        let (name, value) = split_at_equals(body);
        let written = |takes_value: bool| String::from_utf8_lossy(if takes_value { name } else { body }).into_owned();
        let takes_value = |s: &'static Spec| self.resolve(s).value != ValueKind::Action;
        let distance = |s: &'static Spec| edit_distance(s.name, &written(takes_value(s)));
        let best = self.specs.iter().filter(|s| !s.hidden).min_by_key(|s| distance(s))?;
        match value.filter(|v| !v.is_empty() && takes_value(best)) {
            Some(v) => Some(format!("{}={}", dashed(best.name), String::from_utf8_lossy(v))),
            None => Some(dashed(best.name)),
        }
    }
}

fn split_at_equals(body: &[u8]) -> (&[u8], Option<&[u8]>) {
    match body.iter().position(|b| *b == b'=') {
        Some(at) => (&body[..at], Some(&body[at + 1..])),
        None => (body, None),
    }
}

/// The name with its dashes as messages show it: one for a one-letter option, two for others.
pub fn dashed(name: &str) -> String {
    format!("{}{name}", if name.chars().count() == 1 { "-" } else { "--" })
}

fn check(spec: &Spec, value: Option<Vec<u8>>) -> Result<OptionValue, String> {
    let text = value.as_deref().map(|v| String::from_utf8_lossy(v).into_owned()).unwrap_or_default();
    match spec.value {
        ValueKind::Flag => match text.as_str() {
            "" | "true" | "TRUE" | "True" | "1" => Ok(OptionValue::Flag(true)),
            "false" | "FALSE" | "False" | "0" => Ok(OptionValue::Flag(false)),
            _ => Err(format!("'{text}' is invalid value for boolean argument! Try 0 or 1")),
        },
        ValueKind::Integer => parse_integer(&text)
            .map(OptionValue::Integer)
            .ok_or_else(|| format!("'{text}' value invalid for integer argument!")),
        ValueKind::Choice(choices) => match choices.iter().find(|(name, _)| *name == text) {
            Some((name, _)) => Ok(OptionValue::Choice(name)),
            None => Err(format!("Cannot find option named '{text}'!")),
        },
        ValueKind::Features(known) => match text.split(',').find(|name| !known.contains(name)) {
            Some(unknown) => {
                Err(format!("unknown preview feature '{unknown}'; supported features: {}", known.join(", ")))
            }
            None => Ok(OptionValue::Text(OsString::from_vec(value.unwrap_or_default()))),
        },
        ValueKind::Text | ValueKind::OptionalText | ValueKind::List | ValueKind::Action => {
            Ok(OptionValue::Text(OsString::from_vec(value.unwrap_or_default())))
        }
    }
}

/// Parses a signed 32-bit number in decimal, or with the prefix `0x`, `0b`, `0o` or the old octal `0`.
fn parse_integer(text: &str) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let lower = digits.to_ascii_lowercase();
    let (radix, digits) = match lower.as_bytes() {
        [b'0', b'x', ..] => (16, &lower[2..]),
        [b'0', b'b', ..] => (2, &lower[2..]),
        [b'0', b'o', ..] => (8, &lower[2..]),
        [b'0', b'0'..=b'9', ..] => (8, &lower[1..]),
        _ => (10, lower.as_str()),
    };
    if !digits.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return None;
    }
    let magnitude = i64::from_str_radix(digits, radix).ok()?;
    let number = if negative { -magnitude } else { magnitude };
    i32::try_from(number).ok().map(i64::from)
}

/// The Levenshtein distance of two names.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn spec(name: &'static str, value: ValueKind, glue: Glue, alias_for: Option<&'static str>) -> Spec {
        Spec {
            name,
            value,
            glue,
            alias_for,
            placeholder: "",
            help: "",
            hidden: false,
            category: "",
            replay: Replay::Ignore,
        }
    }

    static SPECS: &[Spec] = &[
        spec("level", ValueKind::Integer, Glue::None, None),
        spec("O", ValueKind::Integer, Glue::Prefix, Some("level")),
        spec("out", ValueKind::Text, Glue::None, None),
        spec("o", ValueKind::Flag, Glue::Group, Some("out")),
        spec("g", ValueKind::Flag, Glue::Group, None),
        spec("v", ValueKind::Flag, Glue::Group, None),
        spec("mode", ValueKind::Choice(&[("fast", ""), ("small", "")]), Glue::None, None),
        spec("item", ValueKind::List, Glue::None, None),
        spec("help", ValueKind::Action, Glue::None, None),
    ];

    fn run(text: &str) -> Parsed {
        let arguments: Vec<OsString> =
            std::iter::once("dir/tool").chain(text.split_whitespace()).map(Into::into).collect();
        parse(SPECS, &arguments, 1)
    }

    #[test]
    fn values_have_three_spellings() {
        for text in
            ["-level=2", "--level=2", "-level 2", "--level 2", "-O2", "--O2", "-O1 -O2", "--level=0x2", "-level 0b10"]
        {
            let parsed = run(text);
            assert_eq!((parsed.integer("level"), parsed.errors.as_slice()), (Some(2), [].as_slice()), "{text}");
        }
        assert_eq!(run("-o -O3").text("out"), Some(OsStr::new("-O3")));
        assert_eq!(run("-o=").text("out"), Some(OsStr::new("")));
        assert_eq!(run("--item a --item=b -item c").list("item"), ["a", "b", "c"]);
        assert!(run("-gv").flag("g") && run("-gv").flag("v"));
        assert!(!run("-g -g=0").flag("g"));
        assert_eq!(run("-mode=small").choice("mode"), Some("small"));
    }

    #[test]
    fn positionals() {
        assert_eq!(run("- ").positionals, ["-"]);
        assert_eq!(run("-g -- -g").positionals, ["-g"]);
        assert_eq!(
            run("a b").errors,
            [
                "tool: Too many positional arguments specified!",
                "Can specify at most 1 positional arguments: See: dir/tool --help"
            ]
        );
    }

    #[test]
    fn errors_are_collected_in_order() {
        let cases: &[(&str, &[&str])] = &[
            ("-O", &["tool: for the -O option: requires a value!"]),
            ("-O=2", &["tool: for the --level option: '=2' value invalid for integer argument!"]),
            ("-level=9999999999", &["tool: for the --level option: '9999999999' value invalid for integer argument!"]),
            ("-o", &["tool: for the -o option: requires a value!"]),
            ("-g=maybe", &["tool: for the -g option: 'maybe' is invalid value for boolean argument! Try 0 or 1"]),
            ("--mode=", &["tool: for the --mode option: Cannot find option named ''!"]),
            ("--help=1", &["tool: for the --help option: does not allow a value! '1' specified."]),
            (
                "-oz -mde=fast",
                &[
                    "tool: for the -o option: may not occur within a group!",
                    "tool: Unknown command line argument '-oz'.  Try: 'dir/tool --help'",
                    "tool: Did you mean '-o'?",
                    "tool: Unknown command line argument '-mde=fast'.  Try: 'dir/tool --help'",
                    "tool: Did you mean '--mode=fast'?",
                ],
            ),
        ];
        for (text, errors) in cases {
            assert_eq!(run(text).errors, *errors, "{text}");
        }
        let parsed = run("-nope -help -nope");
        assert_eq!((parsed.action, parsed.errors.len()), (Some("help"), 2));
    }

    #[test]
    fn edit_distance_of_names() {
        for (a, b, d) in
            [("", "", 0), ("abc", "", 3), ("", "ab", 2), ("kitten", "sitting", 3), ("gpu-nam", "gpu-name", 1)]
        {
            assert_eq!(edit_distance(a, b), d, "{a} {b}");
        }
    }

    proptest::proptest! {
        #[test]
        fn arbitrary_arguments_do_not_panic(arguments in proptest::collection::vec("[-=@ a-zO0-9]{0,8}", 0..6)) {
            let arguments: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
            let parsed = parse(SPECS, &arguments, 1);
            proptest::prop_assert!(parsed.occurrences.len() <= arguments.iter().map(|a| a.len()).sum());
        }
    }
}
