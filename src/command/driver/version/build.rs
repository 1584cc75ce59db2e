//! Computes a fingerprint of the compiler's sources, and asks git and LLVM for their versions.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The files that generated code can depend on. Tests, documentation and tools are not in the list.
const SOURCES: &[&str] = &["src", "dialects-td", "build", "build.rs", "Cargo.toml", "Cargo.lock", ".cargo/config.toml"];

/// Directories that generated code cannot depend on: tests, and binaries, which only call the library.
const NOT_SOURCES: &[&str] = &["tests", "snapshots", "bin"];

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../..");
    let mut files = Vec::new();
    for source in SOURCES {
        collect(&root.join(source), &mut files);
    }
    files.sort();
    // List files, not directories, which would include the directories excluded above. A commit that adds a file also
    // changes an existing one.
    for file in &files {
        println!("cargo::rerun-if-changed={}", file.display());
    }

    let mut hash = Fnv::default();
    for file in &files {
        let name = file.strip_prefix(&root).unwrap_or(file);
        hash.add(name.as_os_str().as_encoded_bytes());
        hash.add(&fs::read(file).unwrap_or_default());
    }
    println!("cargo::rustc-env=TILE_SOURCES={:016x}", hash.0);
    println!("cargo::rustc-env=TILE_REVISION={}", revision(&root));
    println!("cargo::rustc-env=TILE_LLVM={}", llvm_version());
    println!("cargo::rerun-if-env-changed=LLVM_SYS_211_PREFIX");
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    if path.is_dir() {
        if path.file_name().and_then(|n| n.to_str()).is_some_and(|n| NOT_SOURCES.contains(&n)) {
            return;
        }
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            collect(&entry.path(), files);
        }
    } else if path.exists() {
        files.push(path.to_owned());
    }
}

/// The last commit that changed the sources, so that a commit to the documentation has no effect.
fn revision(root: &Path) -> String {
    let output = Command::new("git")
        .args(["log", "-1", "--format=%h", "--abbrev=12", "--"])
        .args(SOURCES)
        .current_dir(root)
        .output();
    match output {
        Ok(o) if o.status.success() && !o.stdout.is_empty() => String::from_utf8_lossy(&o.stdout).trim().to_owned(),
        _ => "unknown".to_owned(),
    }
}

/// The version that `llvm-config` prints, or else the release that the bindings support.
fn llvm_version() -> String {
    let prefix = std::env::var("LLVM_SYS_211_PREFIX").unwrap_or_else(|_| "/usr/lib/llvm-21".to_owned());
    match Command::new(Path::new(&prefix).join("bin/llvm-config")).arg("--version").output() {
        Ok(o) if o.status.success() => String::from_utf8_lossy(&o.stdout).trim().to_owned(),
        _ => "21.1".to_owned(),
    }
}

/// 64-bit FNV-1a over length-prefixed fields. Good enough to distinguish builds.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn add(&mut self, bytes: &[u8]) {
        for byte in (bytes.len() as u64).to_le_bytes().iter().chain(bytes) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
