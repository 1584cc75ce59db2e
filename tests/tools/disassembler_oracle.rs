//! NVIDIA's disassembler reads the bytecode that we write, and we read its output.
//!
//! `scripts/fetch-tileiras.sh` downloads two releases of it from PyPI; if that fails, the test says so and passes.
//! The disassembler is used as a black box: bytes in, text out. Set `TILEIR_DISASSEMBLER` to use another copy.

use melior::{Context, ir::Module};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};
use tile_test_support::{Trial, functions, root};
use tileiras::{
    dialect,
    tools::listing,
    translate::{Profile, Version, export, import},
};

/// The newest release that reads up to 13.4, and the first that reads 13.5.
const RELEASES: [&str; 2] = ["13.4.92", "13.5.37"];

/// Returns the program of a release, or the reason why it is not available.
fn disassembler(release: &str) -> Result<PathBuf, String> {
    if let Some(path) = std::env::var_os("TILEIR_DISASSEMBLER") {
        return Ok(path.into());
    }
    let output =
        Command::new(root().join("scripts/fetch-tileiras.sh")).arg(release).output().map_err(|e| e.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    Ok(Path::new(String::from_utf8_lossy(&output.stdout).trim()).join("nvidia/cu13/bin/tileirdisasm"))
}

/// Programs that verify: the corpus, identities with the sign bit, and the pieces of the files that test the
/// dialect's syntax.
fn programs<'c>(context: &'c Context) -> Vec<(String, Module<'c>)> {
    let mut programs = vec![];
    let files = |folder: &str, extension: &str| {
        let entries = fs::read_dir(root().join(folder)).unwrap().map(|e| e.unwrap().path());
        let mut files: Vec<PathBuf> = entries.filter(|p| p.extension().is_some_and(|x| x == extension)).collect();
        files.sort();
        files
    };
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    for path in files("tests/corpus", "tileirbc").into_iter().chain(files("tests/bytecode", "tileirbc")) {
        programs.push((name(&path), import(context, &fs::read(&path).unwrap()).unwrap()));
    }
    for path in files("tests/ir/cuda_tile", "mlir") {
        let text = fs::read_to_string(&path).unwrap();
        // The preview is read on request only; `tile_libraries` compares it with NVIDIA's text.
        for (i, piece) in text.split("// -----").enumerate().filter(|(_, piece)| !piece.contains("preview$")) {
            // Pieces with test functions do not parse here; pieces with errors are not programs.
            if let Some(module) = Module::parse(context, piece) {
                programs.push((format!("{} piece {i}", name(&path)), module));
            }
        }
    }
    programs
}

/// Removes the types of numbers in hints, which NVIDIA's disassembler omits.
fn without_hint_types(text: &str) -> String {
    text.replace(" : i32,", ",").replace(" : i32}", "}")
}

/// Expands the locations of operations, because attribute numbers depend on the other attributes.
fn located(listing: &str) -> String {
    let (attributes, ops): (Vec<&str>, Vec<&str>) = listing.lines().partition(|l| l.starts_with('#'));
    let mut values: BTreeMap<&str, String> = BTreeMap::new();
    // Each alias refers to earlier ones.
    for (name, value) in attributes.iter().filter_map(|l| l.split_once(" = ")) {
        let value = expand(value, &values);
        values.insert(name, value);
    }
    ops.iter().map(|l| without_hint_types(&expand(l, &values)) + "\n").collect()
}

fn expand(text: &str, values: &BTreeMap<&str, String>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('#') {
        let name = &rest[at..];
        let name = &name[..name[1..].find(|c: char| !c.is_alphanumeric() && c != '_').map_or(name.len(), |n| n + 1)];
        out += &rest[..at];
        out += values.get(name).map_or(name, String::as_str);
        rest = &rest[at + name.len()..];
    }
    out + rest
}

/// Returns the minor number of the newest version that both programs know: release 13.4.92 does not know 13.5.
fn newest_version(disassembler: &Path, file: &Path) -> u8 {
    let newest = Profile::Public.wire().max;
    let reads = |minor: &u8| {
        let version = Version::new(13, *minor);
        let empty = tile_bytecode::write(&tile_bytecode::Module::new(version), Profile::Public, version).unwrap();
        fs::write(file, empty).unwrap();
        Command::new(disassembler).arg(file).output().unwrap().status.success()
    };
    (1..=newest.minor).rev().find(reads).expect("the program reads some version")
}

fn what_we_write_is_read_and_what_it_prints_parses() {
    RELEASES.into_iter().for_each(reads_and_prints);
}

fn reads_and_prints(release: &str) {
    let disassembler = match disassembler(release) {
        Ok(path) => path,
        Err(reason) => {
            println!("skipped: NVIDIA's tileirdisasm {release} cannot be had: {reason}");
            return;
        }
    };
    let context = dialect::context();
    // Some pieces do not parse, as expected; ignore their diagnostics.
    context.attach_diagnostic_handler(|_| true);
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("oracle.tileirbc");
    let newest = newest_version(&disassembler, &file);
    let mut read = vec![0; newest.into()];
    let mut operations = BTreeSet::new();
    for (name, module) in programs(&context) {
        for (minor, read) in (1..).zip(&mut read) {
            let version = Version::new(13, minor);
            // The writer detects features that a version cannot express; other tests cover that.
            let Ok(bytes) = export(&module, version, Profile::Public) else { continue };
            fs::write(&file, &bytes).unwrap();
            let output = Command::new(&disassembler).arg(&file).output().unwrap();
            let errors = String::from_utf8_lossy(&output.stderr);
            // Release 13.5 checks the arguments of entries, which the dialect leaves to the compiler.
            if errors.contains("unsupported type in bytecode for entry argument") {
                continue;
            }
            assert!(output.status.success(), "{name} at 13.{minor}: {errors}");
            let text = String::from_utf8(output.stdout).unwrap();
            let wrapped = format!("cuda_tile.module @kernels {{\n{text}\n}}");
            let parsed = Module::parse(&context, &wrapped).unwrap_or_else(|| panic!("{name} at 13.{minor}:\n{text}"));
            let ours = import(&context, &bytes).unwrap();
            assert_eq!(text, listing(&ours, false), "{name} at 13.{minor}");
            assert_eq!(listing(&parsed, false), listing(&ours, false), "{name} at 13.{minor}");
            // With locations too; it numbers their aliases in another order.
            let debug = Command::new(&disassembler).arg("-g").arg(&file).output().unwrap();
            let text = String::from_utf8(debug.stdout).unwrap();
            assert_eq!(text, listing(&ours, true), "{name} at 13.{minor}");
            let (attributes, ops): (Vec<&str>, Vec<&str>) = text.lines().partition(|l| l.starts_with('#'));
            // The enclosing modules do not have a location, as when bytecode is read.
            let wrapped = format!(
                "module {{\ncuda_tile.module @kernels {{\n{}\n}} loc(unknown)\n}} loc(unknown)\n{}",
                ops.join("\n"),
                attributes.join("\n")
            );
            let parsed = Module::parse(&context, &wrapped).unwrap_or_else(|| panic!("{name} at 13.{minor}:\n{text}"));
            assert_eq!(located(&listing(&parsed, true)), located(&listing(&ours, true)), "{name} at 13.{minor}");
            *read += 1;
            let wire = tile_bytecode::read(&bytes, &Default::default()).unwrap();
            operations.extend(wire.functions.iter().flat_map(|f| f.body.all_ops()).map(|op| op.spec.name));
        }
    }
    println!("read {read:?} files of versions 13.1 to 13.{newest} with {} operations", operations.len());
    assert!(read.iter().all(|n| *n > 100));
    // All operations except the three module-level ones, which do not have a record, and the preview.
    let known = tile_bytecode::schema::OPS.iter().filter(|op| Version::new(13, newest).at_least(op.since));
    let all = known.map(|op| op.name);
    let missing: Vec<&str> =
        all.filter(|n| !operations.contains(n) && !["entry", "global", "module", "preview$call"].contains(n)).collect();
    assert!(missing.is_empty(), "no file has {missing:?}");
}

pub fn trials() -> Vec<Trial> {
    functions![what_we_write_is_read_and_what_it_prints_parses]
}
