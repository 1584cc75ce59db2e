//! Tests the results of every op with the tables and programs of `tests/semantics/` (see the README there).
//!
//! By default, each test runs on the interpreter and is compiled for sm_90 at -O0 and -O3, and for sm_80 and sm_120
//! at -O3. The many blocks of `special.txt` rotate through these configurations. With `TILEIRAS_TEST_FULL=1`, the
//! configurations are sm_80, sm_90, sm_100 and sm_120 at both levels, and sm_89.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use tile_fuzz::case::{self, Parameter};
use tile_fuzz::file::{self, File};
use tile_fuzz::written::{self, TestSource};
use tile_interface::InputKind;
use tile_interp::format::{self, Real, decode};
use tile_interp::program::{Block, OpKind};
use tile_interp::types::{Element, Number, Tiling, Type};
use tile_targets::Target;
use tile_test_support::{Failed, Trial, full, listed, root};
use tileiras::compile;
use tileiras::fuzz::differential::{Configuration, compare, interpreted};

pub fn trials() -> Vec<Trial> {
    listed("semantics", list(root()))
}

fn configurations() -> Vec<Configuration> {
    let all: &[(&str, u8)] = if full() {
        &[
            ("sm_80", 0),
            ("sm_80", 3),
            ("sm_89", 3),
            ("sm_90", 0),
            ("sm_90", 3),
            ("sm_100", 0),
            ("sm_100", 3),
            ("sm_120", 0),
            ("sm_120", 3),
        ]
    } else {
        &[("sm_90", 0), ("sm_90", 3), ("sm_80", 3), ("sm_120", 3)]
    };
    let make = |(name, level): &(&str, u8)| {
        Some(Configuration { target: Target::by_name(name)?, level: *level, adversarial: *level > 0, options: &[] })
    };
    all.iter().filter_map(make).collect()
}

fn list(root: &Path) -> Result<Vec<Trial>, String> {
    let folder = root.join("tests/semantics");
    let files = written::programs(&folder)?;
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
        let read = |(name, source): &(String, TestSource)| Ok((name.clone(), source.file()?));
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

//===-- coverage ------------------------------------------------------------//

/// A line of `ops.txt`: an op, the element types that its tests must cover, and the programs that test it.
struct Row {
    op: String,
    types: Vec<String>,
    /// Empty for ops that are tested by tables.
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

/// Which ops a test contains, and the element types of their operands and results.
type Seen = BTreeMap<String, BTreeSet<String>>;

/// Checks that every op of the opcode table has a line in `ops.txt` and that its tests cover all the types there.
/// Tables apply the op to the special values of each type.
fn coverage(files: &[(String, File)], rows: &[Row]) -> Result<(), String> {
    let mut complaints = vec![];
    // Multicast objects cannot be arguments of these tests, and calls need libraries. `tests/results/multimem.rs` and
    // `tests/results/tile_libraries.rs` test them.
    let elsewhere = ["testing$", "multimem_", "preview$"];
    let is_left_out = |name: &str| elsewhere.iter().any(|prefix| name.starts_with(prefix));
    let all = tile_bytecode::schema::OPS.iter().map(|o| o.name).filter(|n| !is_left_out(n));
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
        let tests: Vec<&Seen> = if row.programs.is_empty() {
            by_test.iter().filter(|(n, _)| n.contains('/')).map(|(_, s)| s).collect()
        } else {
            by_test.iter().filter(|(n, _)| row.programs.iter().any(|p| matches(p, n))).map(|(_, s)| s).collect()
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

/// Whether a program has this name, or a name that starts with the pattern if the pattern ends in `*`.
fn matches(pattern: &str, name: &str) -> bool {
    !name.contains('/') && pattern.strip_suffix('*').map_or(pattern == name, |start| name.starts_with(start))
}

/// Whether a block of a table applies `op`. The name (without the table's name) starts with types.
fn block_is_about(name: &str, op: &str) -> bool {
    name.split('_').find(|w| file::number(w).is_none()) == Some(op)
}

/// The special values that a number type must be tested with.
fn specials(number: &str) -> &'static [&'static str] {
    match number {
        "i1" => &["0", "1"],
        "i8" | "i16" | "i32" | "i64" => &["0", "-1", "lowest", "highest"],
        "f16" | "bf16" | "f32" | "f64" => &["0", "-0", "subnormal", "largest", "inf", "-inf", "nan"],
        "tf32" | "f8E5M2" => &["0", "-0", "subnormal", "largest", "inf", "-inf", "nan"],
        "f8E4M3FN" => &["0", "-0", "subnormal", "largest", "nan"],
        "fnv8E5M3FNU" => &["0", "subnormal", "largest", "nan"],
        "f8E8M0FNU" => &["smallest", "largest", "nan"],
        _ => &[],
    }
}

/// The special values that a number matches.
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
            (OpKind::MakeView, Some(Type::View(v))) => match v.tiling {
                Tiling::Partition { .. } => "make_partition_view",
                Tiling::Strided { .. } => "make_strided_view",
                Tiling::GatherScatter { .. } => "make_gather_scatter_view",
            },
            (kind, _) => kind.mnemonic(),
        };
        let values = op.operands.iter().chain(&op.results);
        seen.entry(name.into()).or_default().extend(values.filter_map(|v| names(&types[v.index()])));
        op.regions.iter().for_each(|r| note(r, types, seen));
    }
}
