//! Line tables match the bytecode: file and line of each instruction, and the call sites that it was inlined at.
//!
//! The test reads the line table of the machine code with nvdisasm. The expected lines come directly from the
//! bytecode, without MLIR. By default one program of the corpus in four, at -O3 with `--lineinfo` and at -O0 with
//! `-g`; `TILEIRAS_TEST_FULL=1` takes all of them. If NVIDIA's compiler is installed, its tables are compared too.

use kernels::compile_with;
use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};
use tile_bytecode::{DebugAttr, DebugId, ReadOptions};
use tile_interface::{DebugInfo, Emit};
use tile_launch::corpus::{self, Lists, Program};
use tile_targets::Target;
use tile_test_support::{Failed, Trial, cubin, kernels, listed, sass, store};

/// A file and a line.
type Line = (String, u64);
/// A line, and the line that its function was inlined at.
type Row = (Line, Option<Line>);

pub fn trials() -> Vec<Trial> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let mut trials = vec![
        Trial::test("lines/a helper of another file is inlined at a line of the kernel", helper),
        Trial::test("lines/call sites within call sites", nested),
        Trial::test("lines/without them the PTX is the same", unchanged),
    ];
    if let Some(vendor) = Vendor::installed(&root) {
        let root = root.clone();
        trials.push(Trial::test("lines/beside NVIDIA's", move || vendor.compare(&root)));
    }
    trials.extend(listed("lines", cases(&root)));
    trials
}

fn cases(root: &Path) -> Result<Vec<Trial>, corpus::Error> {
    let full = tile_test_support::full();
    let lists = Lists::read(root)?;
    let mut trials = vec![];
    for (i, program) in corpus::programs(root)?.into_iter().filter(Program::is_readable).enumerate() {
        let wanted = full || i % 4 == 0 || program.name.starts_with("welford");
        if wanted && lists.pending_on(&program.name, "sm_90").is_none() {
            trials.push(Trial::test(format!("lines/{}", program.name), move || {
                check(&program, 3, DebugInfo::Lines)?;
                check(&program, 0, DebugInfo::Full)
            }));
        }
    }
    Ok(trials)
}

fn check(program: &Program, level: u8, debug: DebugInfo) -> Result<(), Failed> {
    let input = fs::read(&program.file)?;
    let said = Said::by(&input)?;
    let target = Target::by_name("sm_90").ok_or("no such target")?;
    let ptx = compile_with(&input, target, level, Emit::Ptx, debug)?.text;
    let found = rows_of_ptx(&program.name, &ptx, level, debug)?;
    let foreign: Vec<&Row> = found.difference(&said.rows).collect();
    // ptxas may merge stores of several lines into one when it optimizes; the PTX must still contain all of them.
    let written = if level == 0 { found.clone() } else { told(&ptx)? };
    let lost: Vec<&Row> = said.stores.difference(&written).collect();
    if found.is_empty() || !foreign.is_empty() || !lost.is_empty() {
        return Err(format!("-O{level}: not in the bytecode: {foreign:?}; lost: {lost:?}; found: {found:?}").into());
    }
    // A table without any call sites would also be a subset of the bytecode's rows. ptxas does not start a new row
    // for a function on the line that it is inlined at.
    let inlined = |rows: &BTreeSet<Row>| rows.iter().any(|(own, at)| at.as_ref().is_some_and(|at| at != own));
    if level == 0 && inlined(&said.rows) && !inlined(&found) {
        return Err("no call site is in the table".into());
    }
    Ok(())
}

/// NVIDIA's compiler, as installed by `scripts/fetch-tileiras.sh` and `scripts/fetch-nvcc.sh`.
struct Vendor {
    program: PathBuf,
    toolkit: PathBuf,
}

impl Vendor {
    fn installed(root: &Path) -> Option<Vendor> {
        let program = root.join(".tools/tileiras/nvidia/cu13/bin/tileiras");
        let toolkit = root.join(".tools/nvcc/nvidia/cu13");
        (program.exists() && toolkit.exists()).then_some(Vendor { program, toolkit })
    }

    /// Returns `None` for a program that it rejects.
    fn rows(&self, program: &Program) -> Result<Option<BTreeSet<Row>>, Failed> {
        let file = env::temp_dir().join(format!("lines-vendor-{}-{}.cubin", program.name, std::process::id()));
        let options = ["--gpu-name", "sm_90", "-O3", "--lineinfo", "-o"];
        let (input, words) = (fs::read(&program.file)?, options.join(" "));
        let key = [b"NVIDIA's compiler", &input[..], words.as_bytes()];
        let tools = [self.program.clone(), self.toolkit.join("bin/ptxas")];
        let image = store::output(&key, &tools, || -> Result<Vec<u8>, Failed> {
            let mut command = Command::new(&self.program);
            let done = command.arg(&program.file).args(options).arg(&file).env("CUDA_HOME", &self.toolkit).output()?;
            if !done.status.success() {
                return Ok(vec![]);
            }
            let image = fs::read(&file)?;
            fs::remove_file(&file)?;
            Ok(image)
        })?;
        if image.is_empty() { Ok(None) } else { rows_of(&image, &format!("vendor-{}", program.name)).map(Some) }
    }

    /// Both tables cover nearly the same rows of the bytecode. NVIDIA's has a few lines that the bytecode does not
    /// name.
    fn compare(&self, root: &Path) -> Result<(), Failed> {
        let target = Target::by_name("sm_90").ok_or("no such target")?;
        let lists = Lists::read(root).map_err(|e| e.to_string())?;
        let (mut shared, mut theirs, mut ours) = (0, 0, 0);
        for program in corpus::programs(root).map_err(|e| e.to_string())?.into_iter().filter(Program::is_readable) {
            if lists.pending_on(&program.name, "sm_90").is_some() {
                continue;
            }
            let Some(their_rows) = self.rows(&program)? else { continue };
            let input = fs::read(&program.file)?;
            let ptx = compile_with(&input, target, 3, Emit::Ptx, DebugInfo::Lines)?.text;
            let our_rows = rows_of_ptx(&program.name, &ptx, 3, DebugInfo::Lines)?;
            shared += their_rows.intersection(&our_rows).count();
            theirs += their_rows.len();
            ours += our_rows.len();
        }
        println!("rows of both tables {shared}, of NVIDIA's {theirs}, of ours {ours}");
        if shared * 10 < theirs.max(ours) * 9 {
            return Err(format!("only {shared} rows are in both tables, of {theirs} and {ours}").into());
        }
        Ok(())
    }
}

/// The rows of the bytecode.
struct Said {
    rows: BTreeSet<Row>,
    /// Rows of operations that no pass can remove.
    stores: BTreeSet<Row>,
}

impl Said {
    fn by(input: &[u8]) -> Result<Said, Failed> {
        let module = tile_bytecode::read(input, &ReadOptions::default())?;
        let mut said = Said { rows: BTreeSet::new(), stores: BTreeSet::new() };
        for function in &module.functions {
            let head = chain(&module, function.location.flatten());
            said.rows.extend(pairs(&head));
            for op in function.body.all_ops() {
                let rows = pairs(&chain(&module, op.location()));
                // Stores stay in any case.
                if matches!(op.spec.name, "store_ptr_tko" | "store_view_tko") {
                    said.stores.extend(rows.iter().cloned());
                }
                said.rows.extend(rows);
            }
        }
        // The code before the first statement has the line of the function's head.
        for attribute in &module.debug {
            if let DebugAttr::Subprogram(s) = attribute
                && let Some(DebugAttr::File { name, directory }) = s.file.map(|f| &module.debug[f.index()])
            {
                let file = Path::new(&module.text(*directory)).join(module.text(*name)).to_string_lossy().into_owned();
                said.rows.extend([s.line, s.scope_line].map(|line| ((file.clone(), line), None)));
            }
        }
        Ok(said)
    }
}

/// Returns the lines of a location, innermost first.
fn chain(module: &tile_bytecode::Module, location: Option<DebugId>) -> Vec<Line> {
    match location.map(|l| &module.debug[l.index()]) {
        Some(DebugAttr::Loc { file, line, .. }) => vec![(module.text(*file), *line)],
        Some(DebugAttr::CallSite { callee, caller }) => {
            let mut lines = chain(module, *callee);
            lines.extend(chain(module, *caller));
            lines
        }
        _ => vec![],
    }
}

/// Pairs each line with the line that it is inlined at.
fn pairs(chain: &[Line]) -> Vec<Row> {
    (0..chain.len()).map(|i| (chain[i].clone(), chain.get(i + 1).cloned())).collect()
}

/// Returns the rows that the PTX declares: `.loc 1 7 4, function_name $name, inlined_at 1 9 4`.
fn told(ptx: &str) -> Result<BTreeSet<Row>, Failed> {
    let mut files = BTreeMap::new();
    let mut places = vec![];
    for line in ptx.lines().map(str::trim) {
        if let Some(file) = line.strip_prefix(".file\t") {
            let (number, name) = file.trim().split_once(' ').ok_or(line)?;
            files.insert(number, name.split('"').nth(1).ok_or(line)?);
        } else if let Some(place) = line.strip_prefix(".loc\t") {
            places.push(place.split_once("inlined_at").map_or((place, None), |(own, at)| (own, Some(at))));
        }
    }
    let line = |place: &str| -> Result<Line, Failed> {
        let mut words = place.split_whitespace();
        let file = words.next().and_then(|n| files.get(n)).ok_or(place)?;
        Ok((file.to_string(), words.next().ok_or(place)?.parse()?))
    };
    places.into_iter().map(|(own, at)| Ok((line(own)?, at.map(line).transpose()?))).collect()
}

/// Returns the rows of the machine code's table.
fn rows_of_ptx(name: &str, ptx: &str, level: u8, debug: DebugInfo) -> Result<BTreeSet<Row>, Failed> {
    let target = Target::by_name("sm_90").ok_or("no such target")?;
    let cubin = cubin::assemble(ptx, target, level, debug)?;
    rows_of(&cubin.image, &format!("{level}-{name}"))
}

/// Returns the rows of the table in a cubin.
fn rows_of(image: &[u8], name: &str) -> Result<BTreeSet<Row>, Failed> {
    let text = sass::listing("nvdisasm", "-gi", image, &format!("lines-{name}"))?;
    text.lines().filter_map(|l| l.trim().strip_prefix("//## File ")).map(row).collect()
}

/// Parses `"a.py", line 7 inlined at "b.py", line 9`; without the second half for code of the kernel itself.
fn row(text: &str) -> Result<Row, Failed> {
    let line = |text: &str| -> Option<Line> {
        let (file, line) = text.trim().strip_prefix('"')?.split_once("\", line ")?;
        Some((file.to_string(), line.trim().parse().ok()?))
    };
    let (own, at) = match text.split_once(" inlined at ") {
        Some((own, at)) => (own, Some(at)),
        None => (text, None),
    };
    let row = line(own).map(|own| (own, at.map(line)));
    match row {
        Some((own, None)) => Ok((own, None)),
        Some((own, Some(Some(at)))) => Ok((own, Some(at))),
        _ => Err(format!("not a line of a table: {text}").into()),
    }
}

/// Returns the text of a kernel whose only arithmetic is at `place`.
fn text(place: &str) -> String {
    format!(
        r#"
        cuda_tile.module @m {{
          entry @k(%p: tile<ptr<i32>>) {{
            %0 = make_token : token loc("/src/a.py":11:5)
            %1:3 = get_tile_block_id : tile<i32> loc("/src/a.py":12:5)
            %2 = muli %1#0, %1#0 : tile<i32> loc({place})
            %3 = store_ptr_tko weak %p, %2 token = %0 : tile<ptr<i32>>, tile<i32> -> token loc("/src/a.py":14:5)
            return loc("/src/a.py":15:5)
          }} loc("/src/a.py":10:1)
        }}"#
    )
}

fn rows_of_text(name: &str, place: &str, level: u8, debug: DebugInfo) -> Result<BTreeSet<Row>, Failed> {
    let target = Target::by_name("sm_90").ok_or("no such target")?;
    let ptx = compile_with(text(place).as_bytes(), target, level, Emit::Ptx, debug)?.text;
    rows_of_ptx(name, &ptx, level, debug)
}

fn at(file: &str, line: u64) -> Line {
    (file.to_string(), line)
}

/// The documented example: NVIDIA's compiler prints `/lib/helper.py, line 777 inlined at /src/a.py, line 13` for it.
fn helper() -> Result<(), Failed> {
    for (level, debug) in [(3, DebugInfo::Lines), (0, DebugInfo::Lines), (0, DebugInfo::Full)] {
        let place = r#"callsite("helper"("/lib/helper.py":777:3) at "/src/a.py":13:5)"#;
        let found = rows_of_text("helper", place, level, debug)?;
        assert!(found.contains(&(at("/lib/helper.py", 777), Some(at("/src/a.py", 13)))), "-O{level}: {found:?}");
        let wrong = found.iter().find(|(own, _)| own.0 == "/src/a.py" && !(10..=15).contains(&own.1));
        assert_eq!(wrong, None, "-O{level}: {found:?}");
    }
    Ok(())
}

fn nested() -> Result<(), Failed> {
    let place = r#"callsite("in"("/lib/in.py":5:3) at callsite("helper"("/lib/helper.py":777:3) at "/src/a.py":13:5))"#;
    for (level, debug) in [(3, DebugInfo::Lines), (0, DebugInfo::Full)] {
        let found = rows_of_text("nested", place, level, debug)?;
        for row in [
            (at("/lib/in.py", 5), Some(at("/lib/helper.py", 777))),
            (at("/lib/helper.py", 777), Some(at("/src/a.py", 13))),
        ] {
            assert!(found.contains(&row), "-O{level}: {row:?} is missing in {found:?}");
        }
    }
    Ok(())
}

/// Line information does not change the instructions.
fn unchanged() -> Result<(), Failed> {
    store::leave_out();
    let target = Target::by_name("sm_90").ok_or("no such target")?;
    let input = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/welford.13.1.tileirbc"))?;
    let instructions = |debug| -> Result<Vec<String>, Failed> {
        let ptx = compile_with(&input, target, 3, Emit::Ptx, debug)?.text;
        let is_code = |l: &&str| l.starts_with('\t') && l.ends_with(';') && !l.starts_with("\t.");
        Ok(ptx.lines().filter(is_code).map(str::to_string).collect())
    };
    let plain = instructions(DebugInfo::None)?;
    assert!(!plain.is_empty());
    assert_eq!(plain, instructions(DebugInfo::Lines)?);
    Ok(())
}
