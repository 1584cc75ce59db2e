//! Runs the tests of the GPU kit (`gpu/tests`), which are written in Python and need no GPU. Each file is one test.

use std::path::{Path, PathBuf};
use std::process::Command;
use tile_test_support::{Failed, Trial};

pub fn trials() -> Vec<Trial> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    match modules(&root.join("gpu/tests")) {
        Ok(names) if !names.is_empty() => names
            .into_iter()
            .map(|name| {
                let root = root.clone();
                Trial::test(format!("gpu_kit/{name}"), move || run(&root, &name))
            })
            .collect(),
        // Listing must succeed: some runners list tests first and would not show the failure otherwise.
        other => {
            vec![Trial::test("gpu_kit/setup", move || Err(Failed::from(format!("no tests in gpu/tests: {other:?}"))))]
        }
    }
}

/// The names of the test files in sorted order.
fn modules(folder: &Path) -> std::io::Result<Vec<String>> {
    let mut names = vec![];
    for entry in std::fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if let Some(stem) = name.strip_suffix(".py").filter(|s| s.starts_with("test_")) {
            names.push(stem.to_string());
        }
    }
    names.sort();
    Ok(names)
}

/// Runs a test file with the binaries of this build.
fn run(root: &Path, name: &str) -> Result<(), Failed> {
    let binaries = Path::new(env!("CARGO_BIN_EXE_tileiras")).parent().ok_or("the binaries have no folder")?;
    let output = Command::new("python3")
        .args(["-m", "unittest", "discover", "-s", "gpu/tests", "-t", "gpu", "-p", &format!("{name}.py")])
        .current_dir(root)
        .env("TILEIRAS_BIN", binaries)
        .output()
        .map_err(|e| format!("cannot run python3: {e}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    // A file without tests is a mistake too. Whether Python itself reports that depends on its version.
    if output.status.success() && !said.contains("Ran 0 tests") {
        return Ok(());
    }
    Err(format!("{}{said}", String::from_utf8_lossy(&output.stdout)).into())
}
