//! `libtileiras_dialects.so` in the unmodified `mlir-opt` of the LLVM installation.

#[path = "../support/lit.rs"]
mod lit;
#[path = "../support/stock.rs"]
mod stock;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};
use stock::{library, llvm, mlir_opt, options_to_environment};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn tool(name: &str, arguments: &mut Vec<String>) -> Result<Command, String> {
    match name {
        "tileiras-opt" => {
            let mut command = mlir_opt(&library("tileiras_dialects"));
            options_to_environment(&mut command, arguments);
            lit::spell_out(arguments);
            Ok(command)
        }
        "FileCheck" | "split-file" => Ok(Command::new(llvm(name))),
        _ => Err(format!("unknown command '{name}'")),
    }
}

/// The tests of dialects and passes also pass with the stock tool.
#[test]
fn the_tests_of_our_own_tool_pass() {
    let tmp = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let mut files = vec![];
    for folder in [
        "cuda_tile",
        "nv_tileaa",
        "nv_tileas",
        "fuse-fma",
        "loop-split",
        "synthesize-debug-info-scopes",
        "convert-cudatile-to-tileaa",
        "convert-tileaa-to-tileas",
        "tileas-order-memory",
        "convert-tileas-to-llvm",
    ] {
        let folder = root().join("tests/ir").join(folder);
        let entries = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        let paths = entries.map(|e| e.unwrap().path());
        files.extend(paths.filter(|p| p.extension().is_some_and(|x| x == "mlir")));
    }
    // The stock tool parses its command line before it loads plugins. Our passes therefore have no flags there, only
    // names in pipelines, and there is no flag for remarks.
    let ours_only = [" --fuse-fma", " --loop-split", " --remarks", "tileiras-translate"];
    files.retain(|f| {
        let text = fs::read_to_string(f).unwrap();
        let runs = text.lines().filter(|l| l.contains("RUN:"));
        !runs.into_iter().any(|l| ours_only.iter().any(|o| l.contains(o)))
    });
    files.sort();
    assert!(files.len() > 40);
    let failed: Vec<String> = files
        .iter()
        .filter_map(|file| lit::run_file(file, tmp, &tool).err().map(|e| format!("{}: {e}", file.display())))
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// Between the two passes of the scheduler, each pass must declare that it preserves `ScheduleAnalysis`, even if it
/// changes nothing. The tool builds the pipeline itself, so this is found when the passes run.
#[test]
fn passes_between_constraints_and_schedule_are_watched() {
    let run = |between: &str, options: &[&str]| {
        let last = "tileas-materialize-schedule";
        let pipeline = format!("tileas-generate-schedule-constraints{{compute-capability=sm_80}},{between},{last}");
        let output = mlir_opt(&library("tileiras_dialects"))
            .arg(root().join("tests/ir/tileas-materialize-schedule/loop.mlir"))
            .arg(format!("--pass-pipeline=builtin.module({pipeline})"))
            .args(options)
            .output()
            .unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for harmless in ["canonicalize,cse", "print-op-stats", "nv_tileaa.func(cse)"] {
        let (done, text) = run(harmless, &[]);
        assert!(done, "{harmless}: {text}");
    }
    let culprit = |pass: &str| {
        format!("cleanup pass invalidated ScheduleAnalysis; rerun constraint generation or remove the pass '{pass}'")
    };
    for (between, pass) in [
        ("symbol-dce", "symbol-dce"),
        ("canonicalize,sccp,cse", "sccp"),
        ("nv_tileaa.func(loop-invariant-code-motion)", "loop-invariant-code-motion"),
        ("tileas-order-memory,symbol-dce", "tileas-order-memory"),
    ] {
        let (done, text) = run(between, &[]);
        assert!(!done && text.contains(&culprit(pass)), "{between}: {text}");
    }
    // With a handler of the tool, only the program counts.
    let (done, text) = run("symbol-dce", &["--log-actions-to=-"]);
    assert!(done, "{text}");
}

/// From a kernel to the LLVM dialect in one call.
#[test]
fn a_kernel_goes_through_all_passes() {
    let output = mlir_opt(&library("tileiras_dialects"))
        .arg(root().join("examples/relu_f32.mlir"))
        .arg("--pass-pipeline=builtin.module(tileir{opt-level=2 compute-capability=sm_90},tileir-finish{compute-capability=sm_90})")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("llvm.func @relu_f32") && text.contains("nvvm.kernel"), "{text}");
}

/// Runs each pass of the reference separately in the stock tool: those of the pipeline in consecutive processes, each
/// of which reads the previous output, and the others on the kernel.
#[test]
fn every_pass_runs_alone() {
    let reference = fs::read_to_string(root().join("docs/reference/passes.md")).unwrap();
    let mut anchors: Vec<(&str, &str)> = vec![];
    for line in reference.lines() {
        if let Some(name) = line.strip_prefix("## `") {
            anchors.push((name.trim_end_matches('`'), ""));
        } else if let Some(anchor) = line.strip_prefix("Runs on `") {
            anchors.last_mut().unwrap().1 = anchor.trim_end_matches("`.");
        }
    }
    assert!(anchors.len() >= 17, "{anchors:?}");

    let kernel = root().join("examples/relu_f32.mlir");
    let run = |input: &Path, pipeline: &str| {
        let mut command = mlir_opt(&library("tileiras_dialects"));
        let output = command
            .arg(input)
            .arg(format!("--pass-pipeline=builtin.module({pipeline})"))
            .arg("--dump-pass-pipeline")
            .output()
            .unwrap();
        let report = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{pipeline}: {report}");
        (String::from_utf8(output.stdout).unwrap(), report)
    };
    let (expected, dump) =
        run(&kernel, "tileir{opt-level=3 compute-capability=sm_90},tileir-finish{compute-capability=sm_90}");
    let lines = dump.lines().filter_map(|l| l.strip_prefix("  "));
    let pipeline: Vec<&str> = lines.map(|l| l.trim_end_matches(',')).collect();
    let text = Path::new(env!("CARGO_TARGET_TMPDIR")).join("one-pass-at-a-time.mlir");
    fs::copy(&kernel, &text).unwrap();
    for pass in &pipeline {
        let (after, _) = run(&text, pass);
        fs::write(&text, after).unwrap();
    }
    assert_eq!(fs::read_to_string(&text).unwrap(), expected);

    // A schedule needs its constraints, which are not part of the text.
    let pair = ["tileas-generate-schedule-constraints", "tileas-materialize-schedule"];
    run(&kernel, &pair.join(","));
    for (name, anchor) in anchors {
        if pair.contains(&name) || pipeline.iter().any(|p| p.split('{').next() == Some(name)) {
            continue;
        }
        let pipeline = match anchor {
            "builtin.module" => name.to_owned(),
            "cuda_tile.module" => format!("cuda_tile.module({name})"),
            "cuda_tile.entry" => format!("cuda_tile.module(cuda_tile.entry({name}))"),
            // The kernel has no op for this pass, but the pass must be registered and accept its place.
            other => format!("gpu.module({other}({name}))"),
        };
        let (_, dump) = run(&kernel, &pipeline);
        assert!(dump.contains(name), "{name}: {dump}");
    }
}

/// An invalid option is an error of the tool, not a crash.
#[test]
fn errors_are_reported() {
    let run = |pipeline: &str| {
        let output = mlir_opt(&library("tileiras_dialects"))
            .arg(root().join("examples/relu_f32.mlir"))
            .arg(format!("--pass-pipeline=builtin.module({pipeline})"))
            .output()
            .unwrap();
        assert!(output.status.code().is_some_and(|c| c != 0), "{output:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(run("convert-tileaa-to-tileas{warps=4}").contains("no such option warps"));
    assert!(run("convert-tileaa-to-tileas{num-warps=3}").contains("num-warps must be a power of two"));
}

/// Two plugins, or a plugin and a tool, must not see each other's symbols.
#[test]
fn exports_match_the_symbols_that_the_tool_loads() {
    let output = Command::new(llvm("llvm-nm"))
        .args(["-D", "--defined-only", "--format=just-symbols"])
        .arg(library("tileiras_dialects"))
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut symbols: Vec<&str> = text.lines().collect();
    symbols.sort();
    assert_eq!(symbols, ["mlirGetDialectPluginInfo", "mlirGetPassPluginInfo", "tileirasDialects"]);
}
