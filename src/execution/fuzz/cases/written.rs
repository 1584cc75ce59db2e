//! Written tests as programs: the files of `tests/semantics`, and the programs that its tables describe.
//!
//! The README of that folder describes the format of the tables.

use crate::case::Parameter;
use crate::file::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tile_interp::int;
use tile_interp::program::Signedness;
use tile_interp::scalar::Scalar;
use tile_interp::types::Number;

/// The programs in a file, or in a folder of tables and programs, with their names, in order.
pub fn programs(path: &Path) -> Result<Vec<(String, TestSource)>, String> {
    if !path.is_dir() {
        return of_file(path);
    }
    let entries = std::fs::read_dir(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    paths.sort();
    let mut all = vec![];
    for path in paths {
        all.extend(of_file(&path)?);
    }
    Ok(all)
}

/// The programs of one file; empty if it is neither a program nor a table.
fn of_file(path: &Path) -> Result<Vec<(String, TestSource)>, String> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    match path.extension().and_then(|e| e.to_str()) {
        Some("mlir") => Ok(vec![(stem, TestSource::Program(path.into()))]),
        // `ops.txt` lists the ops that the tests must cover.
        Some("txt") if stem != "ops" => table(&stem, &read(path)?).map_err(|e| format!("{}:{e}", path.display())),
        _ => Ok(vec![]),
    }
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

/// The source of a test program. [`TestSource::file`] reads it on demand, because a run needs few of the thousands.
pub enum TestSource {
    /// A file with the program and its data.
    Program(PathBuf),
    /// A block of a table, by the offsets of its lines.
    Block { table: Arc<str>, header: usize, rows: Vec<usize>, constants: bool },
}

impl TestSource {
    pub fn file(&self) -> Result<File, String> {
        let (table, header, rows, constants) = match self {
            TestSource::Program(path) => {
                return File::parse(&read(path)?).map_err(|e| format!("{}: {e}", path.display()));
            }
            TestSource::Block { table, header, rows, constants } => (table, header, rows, constants),
        };
        let line = |at: usize| table[at..].lines().next().unwrap_or_default();
        let error = |at: usize, e: String| format!("line {}: {e}", table[..at].lines().count() + 1);
        let head = line(*header).strip_prefix("== ").unwrap_or_default();
        let header = Header::parse(head).map_err(|e| error(*header, e))?;
        let row = |at: &usize| header.row(line(*at)).map_err(|e| error(*at, e));
        let rows: Vec<Vec<Scalar>> = rows.iter().map(row).collect::<Result<_, _>>()?;
        Ok(header.program(&rows, *constants))
    }
}

/// The blocks of a table.
fn table(stem: &str, text: &str) -> Result<Vec<(String, TestSource)>, String> {
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
        let block = |constants| TestSource::Block { table: table.clone(), header, rows: rows.clone(), constants };
        if stem == "special" {
            out.push((format!("{name}_of_constants"), block(true)));
        }
        out.push((name, block(false)));
    }
    Ok(out)
}

/// The first line of a block.
struct Header {
    /// The types of the operands and the result.
    types: Vec<Number>,
    op: String,
}

impl Header {
    fn parse(text: &str) -> Result<Header, String> {
        let (types, op) = text.split_once(" : ").ok_or("expected types and an op")?;
        let types = types
            .split_whitespace()
            .filter(|w| *w != "->")
            .map(|w| file::number(w).ok_or_else(|| format!("unknown type '{w}'")))
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

    /// A kernel that applies the op to all rows at once. Its operands are loaded from memory, or are constants that
    /// the compiler may fold.
    fn program(&self, rows: &[Vec<Scalar>], constants: bool) -> File {
        let narrow = self.types.iter().any(|n| n.width() == 4);
        let count = rows.len().next_power_of_two().max(if narrow { 2 } else { 1 });
        // The number of elements of a tile is a power of two, so the last row is repeated.
        let column = |c: usize| -> Vec<Scalar> { (0..count).map(|r| rows[r.min(rows.len() - 1)][c]).collect() };
        let result = self.types.len() - 1;
        let tile = |c: usize| format!("tile<{count}x{}>", self.types[c]);
        // 4-bit elements are stored as bytes that hold two of them.
        let stored = |c: usize| match self.types[c] {
            n if n.width() == 4 => (Number::I8, count / 2),
            n => (n, count),
        };
        // The language does not have constants of type i4.
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

/// Packs pairs of 4-bit elements into bytes, the first element in the low half.
fn bytes(elements: &[Scalar]) -> Vec<Scalar> {
    let byte = |pair: &[Scalar]| {
        let bits = pair.iter().rev().fold(0, |b, x| b << 4 | x.bits);
        if pair.iter().any(|x| x.is_unknown()) { Scalar::unknown(bits) } else { Scalar::exact(bits) }
    };
    elements.chunks(2).map(byte).collect()
}

/// Formats an element of a constant.
fn literal(bits: u64, n: Number) -> String {
    match n {
        Number::I1 => (bits != 0).to_string(),
        _ if n.is_integer() => int::value(bits, n, Signedness::Signed).to_string(),
        _ => format!("0x{bits:0digits$X}", digits = n.width().div_ceil(4) as usize),
    }
}
