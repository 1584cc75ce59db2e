//! Compiles `c/rtlib.c` for nvptx64 with clang 21, makes the module neutral, and assembles it to bitcode.
//!
//! A neutral module links into any NVPTX module without a warning and leaves no trace of this build: no data layout
//! (the consumer sets it), no module flags, no target processor or features on functions (they would prevent inlining
//! into kernels for another target), and no compiler identification. Clang marks inline assembly as convergent; here
//! it never is.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn main() {
    if let Err(message) = build() {
        eprintln!("error: {message}");
        std::process::exit(1);
    }
}

fn build() -> Result<(), String> {
    println!("cargo:rerun-if-changed=c");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=LLVM_SYS_211_PREFIX");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    let text = out.join("rtlib.ll");
    let bitcode = out.join("rtlib.bc");

    run(Command::new(tool("clang"))
        .args(["--target=nvptx64-nvidia-cuda", "-nogpulib", "-nogpuinc", "-march=sm_80"])
        .args(["-std=c23", "-ffreestanding", "-O2", "-ffp-contract=off", "-fno-math-errno"])
        .args(["-Wall", "-Wextra", "-Werror", "-S", "-emit-llvm", "-o"])
        .arg(&text)
        .arg("c/rtlib.c"))?;

    let raw = fs::read_to_string(&text).map_err(|e| format!("cannot read {}: {e}", text.display()))?;
    fs::write(&text, neutral(&raw)).map_err(|e| format!("cannot write {}: {e}", text.display()))?;
    run(Command::new(tool("llvm-as")).arg("-o").arg(&bitcode).arg(&text))
}

/// The LLVM 21 tool of this name, from the configured installation or else from the search path.
fn tool(name: &str) -> PathBuf {
    let prefix = env::var_os("LLVM_SYS_211_PREFIX").unwrap_or_else(|| "/usr/lib/llvm-21".into());
    let path = Path::new(&prefix).join("bin").join(name);
    if path.exists() { path } else { PathBuf::from(format!("{name}-21")) }
}

fn run(command: &mut Command) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command.status().map_err(|e| format!("cannot run {program} (LLVM 21 is needed): {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("{program} failed: {status}")) }
}

fn neutral(module: &str) -> String {
    let mut text = String::with_capacity(module.len());
    for line in module.lines() {
        let dropped = ["; ModuleID", "source_filename", "target datalayout", "!llvm.module.flags", "!llvm.ident"];
        if dropped.iter().any(|prefix| line.starts_with(prefix)) {
            continue;
        }
        if let Some(at) = line.find(", !srcloc") {
            text.push_str(&line[..at]);
        } else if line.starts_with("attributes #") {
            // All attributes in quotes are target settings or code generation options of this compilation.
            let words: Vec<&str> = line.split(' ').filter(|w| !w.starts_with('"') && *w != "convergent").collect();
            // A group must not be empty. No code for a GPU unwinds.
            text.push_str(&words.join(" ").replace("{ }", "{ nounwind }"));
        } else {
            text.push_str(line);
        }
        text.push('\n');
    }
    text
}
