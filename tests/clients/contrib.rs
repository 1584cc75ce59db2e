//! Tests the contents of `contrib/` with the programs that use them: settings of editors and front ends, Compiler
//! Explorer, packages.

mod clients;
mod compiler_explorer;
mod editors;
mod packages;

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};
use tile_test_support::{Trial, root};

/// Returns the folder with the programs of this build.
fn programs() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_tileiras")).parent().unwrap()
}

/// Returns an empty folder.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("contrib").join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// Returns a value for `PATH`: the programs of this build, then a folder of NVIDIA's tools, then the rest.
fn path_variable() -> std::ffi::OsString {
    let rest = std::env::var_os("PATH").unwrap_or_default();
    let ours = [programs().to_owned(), root().join(".tools/cuda/bin")];
    std::env::join_paths(ours.into_iter().chain(std::env::split_paths(&rest))).unwrap()
}

fn run(command: &mut Command) -> Output {
    command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"))
}

/// Returns the standard output of a command that succeeds.
fn said(command: &mut Command) -> String {
    let output = run(command);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{out}{err}", output.status);
    out
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Finds a program on `PATH`.
fn on_path(name: &str) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?).map(|d| d.join(name)).find(|f| f.is_file())
}

pub fn trials() -> Vec<Trial> {
    [clients::trials(), compiler_explorer::trials(), editors::trials(), packages::trials()]
        .into_iter()
        .flatten()
        .collect()
}
