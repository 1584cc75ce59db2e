//! `cargo xtask fuzz-kernels`: builds `tile-fuzz` and runs it.

use anyhow::Context;
use std::path::Path;
use std::process::Command;

/// Runs the command with `words`, except for `--release`, which selects the build profile. Returns a problem if the
/// command fails or finds something.
pub fn run(root: &Path, words: &[&str]) -> anyhow::Result<Vec<String>> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), Into::into);
    let release = words.contains(&"--release");
    let executable = crate::corpus::build(root, &target, "tile-fuzz", release)?;
    let rest = words.iter().filter(|w| **w != "--release");
    let status = Command::new(executable).current_dir(root).args(rest).status().context("cannot run tile-fuzz")?;
    Ok(if status.success() { vec![] } else { vec![format!("tile-fuzz ended with {status}")] })
}
