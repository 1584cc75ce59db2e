//! What every op computes, by the tables and programs of `tests/semantics/`: see the README there.
//!
//! By default each is run on the interpreter and compiled for sm_90 at -O0 and -O3, sm_80 and sm_120 at -O3; the many
//! blocks of `special.txt` in one of these each, by turns. With `TILEIRAS_TEST_FULL=1`: sm_80, sm_90, sm_100 and sm_120
//! at both levels, and sm_89.

use libtest_mimic::{Arguments, Failed, Trial};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use tile_driver::InputKind;
use tile_fuzz::case::{self, Parameter};
use tile_fuzz::file::{self, File};
use tile_interp::format::{self, Real, decode};
use tile_interp::int;
use tile_interp::program::{Block, Kind, Signedness};
use tile_interp::scalar::Scalar;
use tile_interp::types::{Cut, Element, Number, Type};
use tile_targets::Target;
use tileiras::compile;
use tileiras::differential::{Configuration, compare, interpreted};

fn main() -> ExitCode {
    let trials = match trials(Path::new(env!("CARGO_MANIFEST_DIR"))) {
        Ok(trials) => trials,
        // Listing has to work for the failure to be seen by runners that list first.
        Err(message) => vec![Trial::test("semantics/setup", move || Err(Failed::from(message)))],
    };
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn full() -> bool {
    std::env::var_os("TILEIRAS_TEST_FULL").is_some_and(|v| v != "0")
}

fn configurations() -> Vec<Configuration> {
    let all: &[(&str, u8)] = match full() {
        false => &[("sm_90", 0), ("sm_90", 3), ("sm_80", 3), ("sm_120", 3)],
        true => &[
            ("sm_80", 0),
            ("sm_80", 3),
            ("sm_89", 3),
            ("sm_90", 0),
            ("sm_90", 3),
            ("sm_100", 0),
            ("sm_100", 3),
            ("sm_120", 0),
            ("sm_120", 3),
        ],
    };
    let make = |(name, level): &(&str, u8)| {
        Some(Configuration { target: Target::by_name(name)?, level: *level, adversarial: *level > 0 })
    };
    all.iter().filter_map(make).collect()
}

fn trials(root: &Path) -> Result<Vec<Trial>, String> {
    let folder = root.join("tests/semantics");
    let mut files = vec![];
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(&folder).map_err(|e| e.to_string())?.flatten().map(|e| e.path()).collect();
    paths.sort();
    for path in paths {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let read = || std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()));
        match path.extension().and_then(|e| e.to_str()) {
            Some("mlir") => {
                let file = File::parse(&read()?).map_err(|e| format!("{}: {e}", path.display()))?;
                files.push((stem, Source::Program(Box::new(file))));
            }
            Some("txt") if stem != "ops" => {
                files.extend(table(&stem, &read()?).map_err(|e| format!("{}:{e}", path.display()))?);
            }
            _ => {}
        }
    }
    let rows = ops(&std::fs::read_to_string(folder.join("ops.txt")).map_err(|e| format!("ops.txt: {e}"))?)?;
    let mut trials = vec![];
    let files = Arc::new(files);
    for i in 0..files.len() {
        let files = files.clone();
        let name = format!("semantics/{}", files[i].0);
        trials.push(Trial::test(name, move || {
            let (name, file) = &files[i];
            let all = configurations();
            let turn = [all[i % all.len()]];
            let here = if name.starts_with("special/") && !full() { &turn[..] } else { &all };
            let file = file.file()?;
            run(name, &file, here).map_err(Failed::from)
        }));
    }
    trials.push(Trial::test("semantics/every_op_has_its_tests", move || {
        let read = |(name, source): &(String, Source)| Ok((name.clone(), source.file()?.into_owned()));
        let files = files.iter().map(read).collect::<Result<Vec<_>, String>>()?;
        coverage(&files, &rows).map_err(Failed::from)
    }));
    Ok(trials)
}

fn run(name: &str, file: &File, configurations: &[Configuration]) -> Result<(), String> {
    let Some(case) = interpreted(file).map_err(|e| format!("on the interpreter: {e}"))? else { return Ok(()) };
    let meaning = file.meaning();
    configurations
        .iter()
        .try_for_each(|c| compare(&case, &file.text, &meaning, c, 1))
        .map_err(|e| format!("{name}: {e}"))
}

//===-- tables --------------------------------------------------------------//

/// A program, or what one can be made of: there are far more blocks than a run looks at.
enum Source {
    Program(Box<File>),
    Block { table: Arc<str>, header: usize, rows: Vec<usize>, constants: bool },
}

impl Source {
    fn file(&self) -> Result<Cow<'_, File>, String> {
        let (table, header, rows, constants) = match self {
            Source::Program(file) => return Ok(Cow::Borrowed(file)),
            Source::Block { table, header, rows, constants } => (table, header, rows, constants),
        };
        let line = |at: usize| table[at..].lines().next().unwrap_or_default();
        let error = |at: usize, e: String| format!("line {}: {e}", table[..at].lines().count() + 1);
        let head = line(*header).strip_prefix("== ").unwrap_or_default();
        let header = Header::parse(head).map_err(|e| error(*header, e))?;
        let row = |at: &usize| header.row(line(*at)).map_err(|e| error(*at, e));
        let rows: Vec<Vec<Scalar>> = rows.iter().map(row).collect::<Result<_, _>>()?;
        Ok(Cow::Owned(header.program(&rows, *constants)))
    }
}

/// The blocks of a table.
fn table(stem: &str, text: &str) -> Result<Vec<(String, Source)>, String> {
    let table: Arc<str> = text.into();
    let mut blocks: Vec<(String, usize, Vec<usize>)> = vec![];
    let mut at = 0;
    for (i, line) in text.split_inclusive('\n').enumerate() {
        let start = at;
        at += line.len();
        let line = line.trim_end();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let Some(head) = line.strip_prefix("== ") else {
            let Some((_, _, rows)) = blocks.last_mut() else {
                return Err(format!("{}: a row before the first block", i + 1));
            };
            rows.push(start);
            continue;
        };
        let op: String = head
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { ' ' })
            .collect::<String>()
            .split_whitespace()
            .filter(|w| !matches!(*w, "a" | "b" | "c" | "R" | "T0"))
            .collect::<Vec<_>>()
            .join("_");
        blocks.push((format!("{stem}/{op}"), start, vec![]));
    }
    let mut out = vec![];
    for (name, header, rows) in blocks {
        if rows.is_empty() {
            return Err(format!("{name} has no rows"));
        }
        let block = |constants| Source::Block { table: table.clone(), header, rows: rows.clone(), constants };
        if stem == "special" {
            out.push((format!("{name}_of_constants"), block(true)));
        }
        out.push((name, block(false)));
    }
    Ok(out)
}

/// The first line of a block.
struct Header {
    /// Of the operands and the result.
    types: Vec<Number>,
    op: String,
}

impl Header {
    fn parse(text: &str) -> Result<Header, String> {
        let (types, op) = text.split_once(" : ").ok_or("types and op were expected")?;
        let types = types
            .split_whitespace()
            .filter(|w| *w != "->")
            .map(|w| file::number(w).ok_or_else(|| format!("'{w}' is no type")))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Header { types, op: op.to_string() })
    }

    fn row(&self, text: &str) -> Result<Vec<Scalar>, String> {
        let words: Vec<&str> = text.split_whitespace().filter(|w| *w != "->").collect();
        if words.len() != self.types.len() {
            return Err(format!("{} numbers, expected {}", words.len(), self.types.len()));
        }
        words.iter().zip(&self.types).map(|(w, n)| file::scalar(w, *n)).collect()
    }

    /// A kernel that applies the op to all rows at once. Its operands come from memory, or are constants, which the compiler
    /// may compute with itself.
    fn program(&self, rows: &[Vec<Scalar>], constants: bool) -> File {
        let narrow = self.types.iter().any(|n| n.width() == 4);
        let count = rows.len().next_power_of_two().max(if narrow { 2 } else { 1 });
        // A tile has as many elements as the next power of two: the last row again.
        let column = |c: usize| -> Vec<Scalar> { (0..count).map(|r| rows[r.min(rows.len() - 1)][c]).collect() };
        let result = self.types.len() - 1;
        let tile = |c: usize| format!("tile<{count}x{}>", self.types[c]);
        // Elements of four bits are in memory as bytes of two of them.
        let stored = |c: usize| match self.types[c] {
            n if n.width() == 4 => (Number::I8, count / 2),
            n => (n, count),
        };
        // There are no constants of type i4.
        let in_memory = |c: usize| c == result || !constants || self.types[c] == Number::I4;
        let mut text = String::from("cuda_tile.module @m {\n  entry @k(");
        let list: Vec<String> =
            (0..=result).filter(|c| in_memory(*c)).map(|c| format!("%p{c}: tile<ptr<{}>>", stored(c).0)).collect();
        text += &format!("{}) {{\n", list.join(", "));
        for (c, n) in self.types.iter().enumerate() {
            let name = ["a", "b", "c", "d"][c];
            if !in_memory(c) {
                let values: Vec<String> = column(c).iter().map(|x| literal(x.bits, *n)).collect();
                text += &format!("    %{name} = constant <{n}: [{}]> : {}\n", values.join(", "), tile(c));
                continue;
            }
            let (m, length) = stored(c);
            text += &format!(
                "    %i{c} = iota : tile<{length}xi32>\n    \
                 %q{c} = reshape %p{c} : tile<ptr<{m}>> -> tile<1xptr<{m}>>\n    \
                 %r{c} = broadcast %q{c} : tile<1xptr<{m}>> -> tile<{length}xptr<{m}>>\n    \
                 %s{c} = offset %r{c}, %i{c} : tile<{length}xptr<{m}>>, tile<{length}xi32> -> tile<{length}xptr<{m}>>\n"
            );
            if c != result {
                let (value, of) =
                    (if m == *n { name } else { &format!("{name}_bytes") }, format!("tile<{length}x{m}>"));
                text += &format!(
                    "    %{value}, %t{c} = load_ptr_tko weak %s{c} : tile<{length}xptr<{m}>> -> {of}, token\n"
                );
                if m != *n {
                    text += &format!("    %{name} = unpack %{value} : {of} -> {}\n", tile(c));
                }
            }
        }
        let op = self.op.replace("T0", &tile(0)).replace("T1", &tile(1.min(result))).replace('R', &tile(result));
        let (m, length) = stored(result);
        text += &format!("    %x = {op}\n");
        if m != self.types[result] {
            text += &format!("    %x_bytes = pack %x : {} -> tile<{length}x{m}>\n", tile(result));
        }
        text += &format!(
            "    %t{result} = store_ptr_tko weak %s{result}, %{} : tile<{length}xptr<{m}>>, tile<{length}x{m}> -> token\n    \
             return\n  }}\n}}\n",
            if m == self.types[result] { "x" } else { "x_bytes" }
        );
        let mut want: Vec<Vec<Scalar>> = vec![];
        let mut parameters: Vec<Parameter> = vec![];
        for c in (0..=result).filter(|c| in_memory(*c)) {
            let (number, length) = stored(c);
            let elements = if length == count { column(c) } else { bytes(&column(c)) };
            let before = if c == result { vec![Scalar::exact(0); length] } else { elements.clone() };
            parameters.push(Parameter::Buffer { number, bytes: file::memory(&before, number) });
            want.push(if c == result { elements } else { elements.iter().map(|x| x.assumed()).collect() });
        }
        File { description: vec![], grid: [1; 3], parameters, want, prints: vec![], error: None, text }
    }
}

/// Pairs of elements of four bits as bytes, the first in the low half.
fn bytes(elements: &[Scalar]) -> Vec<Scalar> {
    let byte = |pair: &[Scalar]| {
        let bits = pair.iter().rev().fold(0, |b, x| b << 4 | x.bits);
        if pair.iter().any(|x| x.is_unknown()) { Scalar::unknown(bits) } else { Scalar::exact(bits) }
    };
    elements.chunks(2).map(byte).collect()
}

/// An element of a constant.
fn literal(bits: u64, n: Number) -> String {
    match n {
        Number::I1 => (bits != 0).to_string(),
        _ if n.is_integer() => int::value(bits, n, Signedness::Signed).to_string(),
        _ => format!("0x{bits:0digits$X}", digits = n.width().div_ceil(4) as usize),
    }
}

//===-- coverage ------------------------------------------------------------//

/// A line of `ops.txt`: an op, the element types its tests have to have it on, and programs that are about it.
struct Row {
    op: String,
    types: Vec<String>,
    /// Empty for ops that tables are about.
    programs: Vec<String>,
}

fn ops(text: &str) -> Result<Vec<Row>, String> {
    let words = |text: &str| text.split_whitespace().map(String::from).collect::<Vec<_>>();
    let mut classes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut rows = vec![];
    for line in text.lines().filter(|l| !l.trim().is_empty() && !l.starts_with('#')) {
        if let Some((name, types)) = line.split_once(" = ") {
            classes.insert(name.trim().into(), words(types));
            continue;
        }
        let parts: Vec<&str> = line.split(" : ").collect();
        let [op, types, tests] = parts[..] else { return Err(format!("ops.txt: '{line}'")) };
        let types = words(types).into_iter().filter(|t| t != "-");
        let types = types.flat_map(|t| classes.get(&t).cloned().unwrap_or_else(|| vec![t])).collect();
        let programs = words(tests).into_iter().filter(|t| t != "tables").collect();
        rows.push(Row { op: op.trim().into(), types, programs });
    }
    Ok(rows)
}

/// Which ops a test has, and the element types of their operands and results.
type Seen = BTreeMap<String, BTreeSet<String>>;

/// Every op of the opcode table has its line in `ops.txt`, and its tests have it on all of these types. Tables apply it
/// to the special values of each type.
fn coverage(files: &[(String, File)], rows: &[Row]) -> Result<(), String> {
    let mut complaints = vec![];
    let all = tile_bytecode::schema::OPS.iter().map(|o| o.name).filter(|n| !n.starts_with("testing$"));
    let all: BTreeSet<&str> = all.collect();
    let listed: BTreeSet<&str> = rows.iter().map(|r| r.op.as_str()).collect();
    complaints.extend(all.difference(&listed).map(|op| format!("{op}: no line in ops.txt")));
    complaints.extend(listed.difference(&all).map(|op| format!("{op}: no op, but a line in ops.txt")));
    let mut by_test: BTreeMap<&str, Seen> = BTreeMap::new();
    let mut in_tables: BTreeMap<(String, String), BTreeSet<&str>> = BTreeMap::new();
    for (name, file) in files {
        let program = compile::program(file.text.as_bytes(), InputKind::Text, &mut |_| {});
        let program = program.map_err(|e| format!("{name}: {e}"))?;
        let seen = by_test.entry(name).or_default();
        seen.entry("module".into()).or_default();
        for g in &program.globals {
            seen.entry("global".into()).or_default().insert(g.element.to_string());
        }
        for e in &program.entries {
            let types = e.body.arguments.iter().flat_map(|v| names(e.ty(*v)));
            seen.entry("entry".into()).or_default().extend(types);
            note(&e.body, &e.types, seen);
        }
        if let Some((_, head)) = name.split_once('/') {
            let Some(op) = rows.iter().map(|r| &r.op).find(|op| block_is_about(head, op)) else { continue };
            let operands = file.parameters.len().saturating_sub(1);
            for p in &file.parameters[..operands] {
                if let Parameter::Buffer { number, bytes } = p {
                    let kinds = case::numbers(bytes, *number).into_iter().flat_map(|s| special(s.bits, *number));
                    in_tables.entry((op.clone(), number.to_string())).or_default().extend(kinds);
                }
            }
        }
    }
    let nothing = BTreeSet::new();
    for row in rows {
        let tests: Vec<&Seen> = match row.programs.is_empty() {
            true => by_test.iter().filter(|(n, _)| n.contains('/')).map(|(_, s)| s).collect(),
            false => {
                by_test.iter().filter(|(n, _)| row.programs.iter().any(|p| matches(p, n))).map(|(_, s)| s).collect()
            }
        };
        for p in &row.programs {
            if !by_test.iter().any(|(n, s)| matches(p, n) && s.contains_key(&row.op)) {
                complaints.push(format!("{}: the program '{p}' is none, or does not have it", row.op));
            }
        }
        let types: BTreeSet<&String> = tests.iter().filter_map(|s| s.get(&row.op)).flatten().collect();
        let missing: Vec<&str> = row.types.iter().filter(|t| !types.contains(t)).map(String::as_str).collect();
        if !missing.is_empty() {
            complaints.push(format!("{}: not on {}", row.op, missing.join(", ")));
        }
        for t in row.types.iter().filter(|_| row.programs.is_empty()) {
            let have = in_tables.get(&(row.op.clone(), t.clone())).unwrap_or(&nothing);
            let missing: Vec<&str> = specials(t).iter().copied().filter(|s| !have.contains(s)).collect();
            if !missing.is_empty() {
                complaints.push(format!("{}: not on these of {t}: {}", row.op, missing.join(", ")));
            }
        }
    }
    if complaints.is_empty() { Ok(()) } else { Err(complaints.join("\n")) }
}

/// Whether a program has this name, or one that starts with it where it ends in `*`.
fn matches(pattern: &str, name: &str) -> bool {
    !name.contains('/') && pattern.strip_suffix('*').map_or(pattern == name, |start| name.starts_with(start))
}

/// Whether a block of a table, by its name without the table's, applies `op`: types come first.
fn block_is_about(name: &str, op: &str) -> bool {
    name.split('_').find(|w| file::number(w).is_none()) == Some(op)
}

/// What a number has to be tried on.
fn specials(number: &str) -> &'static [&'static str] {
    match number {
        "i1" => &["0", "1"],
        "i8" | "i16" | "i32" | "i64" => &["0", "-1", "lowest", "highest"],
        "f16" | "bf16" | "f32" | "f64" => &["0", "-0", "subnormal", "largest", "inf", "-inf", "nan"],
        "tf32" | "f8E5M2" => &["0", "-0", "subnormal", "largest", "inf", "-inf", "nan"],
        "f8E4M3FN" => &["0", "-0", "subnormal", "largest", "nan"],
        "f8E8M0FNU" => &["smallest", "largest", "nan"],
        _ => &[],
    }
}

/// Which of these a number is.
fn special(bits: u64, n: Number) -> Vec<&'static str> {
    if n == Number::E8m0 {
        return [(0, "smallest"), (254, "largest"), (255, "nan")]
            .into_iter()
            .filter(|(b, _)| *b == bits)
            .map(|(_, s)| s)
            .collect();
    }
    let Some(f) = format::format(n) else {
        let (mask, top) = (n.mask(), 1 << (n.width() - 1));
        let all = [(0, "0"), (1, "1"), (mask, "-1"), (top, "lowest"), (top - 1, "highest")];
        return all.into_iter().filter(|(b, _)| *b == bits).map(|(_, s)| s).collect();
    };
    let negative = bits & f.sign_bit() != 0;
    vec![match decode(bits, n) {
        Real::Nan => "nan",
        Real::Infinite { .. } => {
            if negative {
                "-inf"
            } else {
                "inf"
            }
        }
        Real::Zero { .. } => {
            if negative {
                "-0"
            } else {
                "0"
            }
        }
        Real::Finite(_) if (bits & !f.sign_bit()) >> f.mantissa_bits == 0 => "subnormal",
        Real::Finite(_) if bits & !f.sign_bit() == f.largest() => "largest",
        Real::Finite(_) => "finite",
    }]
}

/// The element type of a type, if it has one.
fn names(t: &Type) -> Option<String> {
    match t {
        Type::Tile(t) => Some(match t.element {
            Element::Number(n) | Element::Pointer(n) => n.to_string(),
        }),
        Type::Tensor(t) => Some(t.element.to_string()),
        Type::View(v) => Some(v.tensor.element.to_string()),
        Type::Token => None,
    }
}

fn note(block: &Block, types: &[Type], seen: &mut Seen) {
    for op in &block.ops {
        let view = op.results.first().map(|r| &types[r.index()]);
        let name = match (&op.kind, view) {
            (Kind::MakeView, Some(Type::View(v))) => match v.cut {
                Cut::Partition { .. } => "make_partition_view",
                Cut::Strided { .. } => "make_strided_view",
                Cut::GatherScatter { .. } => "make_gather_scatter_view",
            },
            (kind, _) => kind.mnemonic(),
        };
        let values = op.operands.iter().chain(&op.results);
        seen.entry(name.into()).or_default().extend(values.filter_map(|v| names(&types[v.index()])));
        op.regions.iter().for_each(|r| note(r, types, seen));
    }
}
