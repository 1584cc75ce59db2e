//! `cargo xtask fill-store`: builds and runs the program that fills the store of results that tests share.

use anyhow::Context;
use std::path::Path;
use std::process::Command;

/// Returns a problem if the store could not be filled. Programs that do not compile are no problem here: their tests
/// fail.
pub fn run(root: &Path) -> anyhow::Result<Vec<String>> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), Into::into);
    let executable = crate::corpus::build(root, &target, "tile-test-store", false)?;
    let status = Command::new(executable).current_dir(root).status().context("cannot run tile-test-store")?;
    Ok(if status.success() { vec![] } else { vec![format!("tile-test-store ended with {status}")] })
}
