//! Runs the `.mlir` files under `tests/ir/`, one test per file, by their `RUN:` lines (see `support/lit.rs`), with
//! our `tileiras-opt`, `tileiras-translate` and `tileirdisasm`, and LLVM's `FileCheck` and `split-file`. Tables of
//! diagnostics (`.tsv`: a text, and the annotation that expects it or the reason for its absence) are checked against
//! the files.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};
use tile_test_support::{Failed, Trial, golden, lit};

pub fn trials() -> Vec<Trial> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ir");
    let mut files = vec![];
    find(&root, &mut files);
    files.sort();
    files
        .into_iter()
        .map(|file| {
            let name = file.strip_prefix(&root).expect("found below it").display().to_string();
            Trial::test(format!("filecheck/{name}"), move || {
                let tmp = Path::new(env!("CARGO_TARGET_TMPDIR"));
                let result = if file.extension().is_some_and(|x| x == "tsv") {
                    check_table(&file)
                } else if golden::renews() && is_listing(&file) {
                    lit::renew(&file, tmp, &tool)
                } else {
                    lit::run_file(&file, tmp, &tool)
                };
                result.map_err(Failed::from)
            })
        })
        .collect()
}

/// Whether the CHECK lines of a file are the complete output of a command.
fn is_listing(file: &Path) -> bool {
    fs::read_to_string(file).is_ok_and(|text| text.contains("cargo xtask bless"))
}

fn find(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            find(&path, files);
        } else if path.extension().is_some_and(|x| x == "mlir" || x == "tsv") {
            files.push(path);
        }
    }
}

fn tool(name: &str, arguments: &mut Vec<String>) -> Result<Command, String> {
    if name == "tileiras-opt" {
        lit::spell_out(arguments);
    }
    let llvm = || Path::new(env!("MLIR_SYS_210_PREFIX")).join("bin").join(name);
    match name {
        "tileiras-opt" => Ok(Command::new(env!("CARGO_BIN_EXE_tileiras-opt"))),
        "tileiras-translate" => Ok(Command::new(env!("CARGO_BIN_EXE_tileiras-translate"))),
        "tileirdisasm" => Ok(Command::new(env!("CARGO_BIN_EXE_tileirdisasm"))),
        "FileCheck" | "split-file" => Ok(Command::new(llvm())),
        _ => Err(format!("unknown command '{name}'")),
    }
}

/// Checks that each row names the annotation that expects its text, as `FILE:LINE`, so that no text is unused.
fn check_table(table: &Path) -> Result<(), String> {
    let text = fs::read_to_string(table).map_err(|e| e.to_string())?;
    let mut wrong = vec![];
    for row in text.lines().skip(1) {
        let Some((text, place)) = row.split_once('\t') else {
            wrong.push(format!("no place: {row}"));
            continue;
        };
        let Some((file, line)) = place.split_once(':').filter(|(file, _)| file.ends_with(".mlir")) else {
            wrong.push(format!("no place: {row}"));
            continue;
        };
        let source = fs::read_to_string(table.with_file_name(file)).unwrap_or_default();
        let annotation = line.parse::<usize>().ok().and_then(|n| source.lines().nth(n.checked_sub(1)?));
        if !annotation.is_some_and(|a| a.contains("expected-error") && a.contains(text)) {
            wrong.push(format!("not expected at {place}: {text}"));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}
