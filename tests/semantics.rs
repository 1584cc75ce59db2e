//! What every op computes, by the tables and programs of `tests/semantics/`: see the README there.
//!
//! By default each is run on the interpreter and compiled for sm_90 at -O0 and -O3, sm_80 and sm_120 at -O3. With
//! `TILEIRAS_TEST_FULL=1`: all of them at both levels, and sm_89 and sm_100.

use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use tile_driver::InputKind;
use tile_fuzz::case::Parameter;
use tile_fuzz::file::{self, File};
use tile_interp::program::{Block, Kind};
use tile_interp::scalar::Scalar;
use tile_interp::types::{Cut, Number, Type};
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

fn configurations() -> Vec<Configuration> {
    let full = std::env::var_os("TILEIRAS_TEST_FULL").is_some_and(|v| v != "0");
    let all: &[(&str, u8)] = match full {
        false => &[("sm_90", 0), ("sm_90", 3), ("sm_80", 3), ("sm_120", 3)],
        true => &[
            ("sm_80", 0),
            ("sm_80", 3),
            ("sm_89", 3),
            ("sm_90", 0),
            ("sm_90", 3),
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

/// What does not work yet: targets (none for all) and a part of the failure.
type Pending = BTreeMap<String, (Option<Vec<String>>, String)>;

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
            Some("mlir") => files.push((stem, File::parse(&read()?).map_err(|e| format!("{}: {e}", path.display()))?)),
            Some("txt") if stem != "pending" => {
                files.extend(table(&stem, &read()?).map_err(|e| format!("{}:{e}", path.display()))?);
            }
            _ => {}
        }
    }
    let pending = Arc::new(pending(&folder)?);
    let mut trials = vec![];
    let names: BTreeSet<&String> = files.iter().map(|(n, _)| n).collect();
    if let Some(stray) = pending.keys().find(|n| !names.contains(n)) {
        return Err(format!("pending.txt names '{stray}', which is no test"));
    }
    let files = Arc::new(files);
    for i in 0..files.len() {
        let (files, pending) = (files.clone(), pending.clone());
        let name = format!("semantics/{}", files[i].0);
        trials.push(Trial::test(name, move || {
            let (name, file) = &files[i];
            run(name, file, &pending).map_err(Failed::from)
        }));
    }
    trials.push(Trial::test("semantics/every_op_occurs", move || every_op_occurs(&files).map_err(Failed::from)));
    Ok(trials)
}

fn pending(folder: &Path) -> Result<Pending, String> {
    let text = std::fs::read_to_string(folder.join("pending.txt")).map_err(|e| format!("pending.txt: {e}"))?;
    let mut out = Pending::new();
    for line in text.lines().filter(|l| !l.trim().is_empty() && !l.starts_with('#')) {
        let words: Vec<&str> = line.splitn(3, ' ').collect();
        let [name, targets, reason] = words[..] else { return Err(format!("pending.txt: '{line}'")) };
        let targets = (targets != "all").then(|| targets.split(',').map(String::from).collect());
        out.insert(name.into(), (targets, reason.into()));
    }
    Ok(out)
}

fn run(name: &str, file: &File, pending: &Pending) -> Result<(), String> {
    let case = interpreted(file).map_err(|e| format!("on the interpreter: {e}"))?;
    let Some(case) = case else { return Ok(()) };
    let meaning = file.meaning();
    for c in configurations() {
        let here =
            |targets: &Option<Vec<String>>| targets.as_ref().is_none_or(|t| t.iter().any(|t| t == c.target.name));
        let expected = pending.get(name).filter(|(targets, _)| here(targets)).map(|(_, reason)| reason);
        match (compare(&case, &file.text, &meaning, &c, 1), expected) {
            (Ok(()), None) => {}
            (Ok(()), Some(reason)) => {
                return Err(format!("works on {}: take it from pending.txt ({reason})", c.target.name));
            }
            (Err(e), Some(reason)) if e.to_string().contains(reason.as_str()) => {}
            (Err(e), _) => return Err(e.to_string()),
        }
    }
    Ok(())
}

//===-- tables --------------------------------------------------------------//

/// The blocks of a table, each as a program.
fn table(stem: &str, text: &str) -> Result<Vec<(String, File)>, String> {
    let mut out: Vec<(String, File)> = vec![];
    let mut open: Option<(String, Header, Vec<Vec<Scalar>>)> = None;
    let mut close = |open: &mut Option<(String, Header, Vec<Vec<Scalar>>)>| {
        if let Some((name, header, rows)) = open.take() {
            out.push((name, header.program(&rows)));
        }
    };
    for (i, line) in text.lines().enumerate() {
        let error = |e: String| format!("{}: {e}", i + 1);
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(head) = line.strip_prefix("== ") {
            close(&mut open);
            let header = Header::parse(head).map_err(error)?;
            let op: String = head
                .chars()
                .map(|c| if c.is_ascii_alphanumeric() { c } else { ' ' })
                .collect::<String>()
                .split_whitespace()
                .filter(|w| !matches!(*w, "a" | "b" | "c" | "R" | "T0"))
                .collect::<Vec<_>>()
                .join("_");
            open = Some((format!("{stem}/{op}"), header, vec![]));
            continue;
        }
        let Some((_, header, rows)) = &mut open else { return Err(error("a row before the first block".into())) };
        rows.push(header.row(line).map_err(error)?);
    }
    close(&mut open);
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

    /// A kernel that applies the op to all rows at once.
    fn program(&self, rows: &[Vec<Scalar>]) -> File {
        let count = rows.len().next_power_of_two();
        // A tile has as many elements as the next power of two: the last row again.
        let column = |c: usize| -> Vec<Scalar> { (0..count).map(|r| rows[r.min(rows.len() - 1)][c]).collect() };
        let result = self.types.len() - 1;
        let tile = |c: usize| format!("tile<{count}x{}>", self.types[c]);
        let mut text = String::from("cuda_tile.module @m {\n  entry @k(");
        let parameters: Vec<String> =
            self.types.iter().enumerate().map(|(c, n)| format!("%p{c}: tile<ptr<{n}>>")).collect();
        text += &format!("{}) {{\n    %i = iota : tile<{count}xi32>\n", parameters.join(", "));
        for (c, n) in self.types.iter().enumerate() {
            text += &format!(
                "    %q{c} = reshape %p{c} : tile<ptr<{n}>> -> tile<1xptr<{n}>>\n    \
                 %r{c} = broadcast %q{c} : tile<1xptr<{n}>> -> tile<{count}xptr<{n}>>\n    \
                 %s{c} = offset %r{c}, %i : tile<{count}xptr<{n}>>, tile<{count}xi32> -> tile<{count}xptr<{n}>>\n"
            );
            if c != result {
                let name = ["a", "b", "c"][c];
                let t = tile(c);
                text +=
                    &format!("    %{name}, %t{c} = load_ptr_tko weak %s{c} : tile<{count}xptr<{n}>> -> {t}, token\n");
            }
        }
        let op = self.op.replace("T0", &tile(0)).replace("T1", &tile(1.min(result))).replace('R', &tile(result));
        let n = self.types[result];
        text += &format!(
            "    %x = {op}\n    %t{result} = store_ptr_tko weak %s{result}, %x : tile<{count}xptr<{n}>>, {} -> token\n    \
             return\n  }}\n}}\n",
            tile(result)
        );
        let mut want: Vec<Vec<Scalar>> = (0..result).map(|c| column(c).iter().map(|x| x.assumed()).collect()).collect();
        let mut parameters: Vec<Parameter> = vec![];
        for (c, n) in self.types.iter().enumerate() {
            let before = if c == result { vec![Scalar::exact(0); count] } else { column(c) };
            parameters.push(Parameter::Buffer { number: *n, bytes: file::memory(&before, *n) });
        }
        want.push(column(result));
        File { description: vec![], grid: [1; 3], parameters, want, prints: vec![], error: None, text }
    }
}

//===-- coverage ------------------------------------------------------------//

/// Every op of the opcode table is in some test.
fn every_op_occurs(files: &[(String, File)]) -> Result<(), String> {
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for (name, file) in files {
        let program = compile::program(file.text.as_bytes(), InputKind::Text, &mut |_| {});
        let program = program.map_err(|e| format!("{name}: {e}"))?;
        seen.insert("module".into());
        if !program.globals.is_empty() {
            seen.insert("global".into());
        }
        for e in &program.entries {
            seen.insert("entry".into());
            note(&e.body, &e.types, &mut seen);
        }
    }
    let all = tile_bytecode::schema::OPS.iter().map(|o| o.name).filter(|n| !n.starts_with("testing$"));
    let missing: Vec<&str> = all.filter(|n| !seen.contains(*n)).collect();
    if missing.is_empty() { Ok(()) } else { Err(format!("no test has: {}", missing.join(", "))) }
}

fn note(block: &Block, types: &[Type], seen: &mut BTreeSet<String>) {
    for op in &block.ops {
        let view = op.results.first().map(|r| &types[r.index()]);
        seen.insert(match (&op.kind, view) {
            (Kind::MakeView, Some(Type::View(v))) => match v.cut {
                Cut::Partition { .. } => "make_partition_view".into(),
                Cut::Strided { .. } => "make_strided_view".into(),
                Cut::GatherScatter { .. } => "make_gather_scatter_view".into(),
            },
            (kind, _) => kind.mnemonic().to_string(),
        });
        op.regions.iter().for_each(|r| note(r, types, seen));
    }
}
