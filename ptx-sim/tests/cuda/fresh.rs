//! Compares the checked-in PTX with the output of the compiler, if it is installed.

use std::process::Command;

use super::harness::folder;

/// The compiler that `scripts/fetch-nvcc.sh` installs.
const NVCC: &str = "../.tools/nvcc/nvidia/cu13/bin/nvcc";

/// Every kernel has PTX, every PTX has a kernel, and each names its target.
#[test]
fn sources_and_ptx_belong_together() {
    let names = |path: std::path::PathBuf, suffix: &str| -> Vec<String> {
        let mut all: Vec<String> = std::fs::read_dir(path)
            .unwrap()
            .filter_map(|entry| entry.unwrap().file_name().to_str()?.strip_suffix(suffix).map(str::to_string))
            .collect();
        all.sort();
        all
    };
    let sources = names(folder(), ".cu");
    assert_eq!(sources, names(folder().join("ptx"), ".ptx"));
    assert!(sources.len() >= 60, "only {} kernels", sources.len());
    for name in &sources {
        let arch = arch(name);
        let ptx = std::fs::read_to_string(folder().join(format!("ptx/{name}.ptx"))).unwrap();
        assert!(ptx.contains(&format!(".target {arch}")), "{name}: PTX is not for {arch}");
    }
}

/// Compiles every kernel again and compares the output. This takes a minute of CPU time, so it only runs if
/// `PTX_SIM_NVCC` is set; the value may name a compiler.
#[test]
fn fresh_ptx_is_the_same() {
    let Ok(wanted) = std::env::var("PTX_SIM_NVCC") else { return };
    let own = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(NVCC);
    let nvcc = if std::path::Path::new(&wanted).is_file() { wanted.into() } else { own };
    assert!(nvcc.is_file(), "no compiler at {}; run scripts/fetch-nvcc.sh", nvcc.display());
    for entry in std::fs::read_dir(folder()).unwrap() {
        let source = entry.unwrap().path();
        let Some(name) = source.file_name().and_then(|n| n.to_str()).and_then(|n| n.strip_suffix(".cu")) else {
            continue;
        };
        let target = std::env::temp_dir().join(format!("ptx-sim-{}-{name}.ptx", std::process::id()));
        let status = Command::new(&nvcc)
            .args(["-ptx", "-std=c++17", &format!("-arch={}", arch(name)), "-o"])
            .args([&target, &source])
            .status()
            .unwrap();
        assert!(status.success(), "nvcc on {name}");
        let fresh = std::fs::read_to_string(&target).unwrap();
        std::fs::remove_file(&target).unwrap();
        let kept = std::fs::read_to_string(folder().join(format!("ptx/{name}.ptx"))).unwrap();
        assert_eq!(instructions(&fresh), instructions(&kept), "{name}: scripts/cuda-ptx.sh brings it up to date");
    }
}

/// PTX without comments and version directives, which change with the compiler's build.
fn instructions(ptx: &str) -> Vec<&str> {
    ptx.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with("//") && !l.starts_with(".version")).collect()
}

fn arch(name: &str) -> String {
    let text = std::fs::read_to_string(folder().join(format!("{name}.cu"))).unwrap();
    let first = text.lines().next().unwrap_or_default();
    first.strip_prefix("// arch: ").unwrap_or_else(|| panic!("{name}: no target in the first line")).to_string()
}
