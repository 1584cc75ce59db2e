//! LLVM's own `mlir-opt` with a plugin of this workspace.
//!
//! Tests of plugins include this file, because they must not be linked with the compiler.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// A program of the LLVM installation.
pub fn llvm(name: &str) -> PathBuf {
    Path::new(env!("MLIR_SYS_210_PREFIX")).join("bin").join(name)
}

/// The shared library of a crate, which is in the folder of the running test.
pub fn library(name: &str) -> PathBuf {
    let deps = std::env::current_exe().expect("a test has a path").with_file_name("");
    let path = deps.join(format!("lib{name}.so"));
    assert!(path.exists(), "{} is not built", path.display());
    path
}

/// `mlir-opt` with the dialects and passes of the library.
pub fn mlir_opt(library: &Path) -> Command {
    let mut command = Command::new(llvm("mlir-opt"));
    for kind in ["dialect", "pass"] {
        command.arg(format!("--load-{kind}-plugin={}", library.display()));
    }
    command
}

/// Removes the options of the dialects from a command line, because the stock tool does not know them. The plugin
/// reads them from the environment.
#[allow(dead_code, reason = "one of the tests that share this file has no use for it")]
pub fn options_to_environment(command: &mut Command, arguments: &mut Vec<String>) {
    let mut take = |option: &str| {
        let before = arguments.len();
        arguments.retain(|a| a.trim_start_matches('-') != option);
        arguments.len() < before
    };
    if take("cuda-tile-testing-ops") {
        command.env("CUDA_TILE_TESTING_OPS", "1");
    }
    match (take("Wunsupported-hints"), take("Werr-hints")) {
        (true, true) => _ = command.env("CUDA_TILE_HINTS", "error"),
        (true, false) => _ = command.env("CUDA_TILE_HINTS", "warn"),
        _ => {}
    }
}
