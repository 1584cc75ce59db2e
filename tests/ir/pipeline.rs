//! The command runs the pipeline that it prints and names the pass that failed; text keeps its file name.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};
use tile_test_support::{Trial, functions};

fn scratch(name: &str, bytes: &[u8]) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, bytes).unwrap();
    path
}

fn tileiras(input: &Path, arguments: &[&str]) -> Output {
    let output = input.with_extension("out");
    let mut command = Command::new(env!("CARGO_BIN_EXE_tileiras"));
    command.arg(input).args(["--gpu-name=sm_90", "-o"]).arg(output).args(arguments).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Returns the names of the passes of a textual pipeline, in order.
fn names(pipeline: &str) -> Vec<String> {
    let body = pipeline.trim().strip_prefix("builtin.module(").and_then(|p| p.strip_suffix(')')).expect(pipeline);
    let mut depth = 0;
    let mut passes = vec![String::new()];
    for c in body.chars() {
        depth += i32::from(c == '{') - i32::from(c == '}');
        match c {
            ',' if depth == 0 => passes.push(String::new()),
            '{' | '}' => {}
            _ if depth > 0 => {}
            c => passes.last_mut().unwrap().push(c),
        }
    }
    passes.retain(|p| !p.is_empty());
    passes
}

/// The dump, its re-parsed form, and the passes that ran agree at each level and strategy.
fn the_dump_is_what_runs() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/vadd_f32.13.1.tileirbc");
    for level in 0..=3 {
        for strategy in ["none", "unspecialize", "warp-specialize"] {
            let case = format!("-O{level} {strategy}");
            let input = scratch(&format!("dump-{level}-{strategy}.tileirbc"), &fs::read(&corpus).unwrap());
            let strategy = format!("--pipeline-option=pipeline-strategy={strategy}");
            let output = tileiras(
                &input,
                &[&format!("-O{level}"), &strategy, "--emit=ptx", "--dump-pass-pipeline", "--print-ir-after-all"],
            );
            let text = stderr(&output);
            assert!(output.status.success(), "{case}: {text}");
            let dumped: Vec<&str> = text.lines().filter(|l| l.starts_with("builtin.module(")).collect();
            assert_eq!(dumped.len(), 2, "{case}");
            // `// -----// IR Dump After Name (argument) //----- //`
            let ran: Vec<&str> = text
                .lines()
                .filter_map(|l| l.strip_prefix("// -----// IR Dump After ")?.split_once(" (")?.1.split_once(')'))
                .map(|(argument, _)| argument)
                .collect();
            let expected: Vec<String> = dumped.iter().flat_map(|p| names(p)).collect();
            assert_eq!(ran, expected, "{case}");
            for pipeline in dumped {
                assert_eq!(reparsed(pipeline), names(pipeline), "{case}");
            }
        }
    }
}

/// An explicit request for agents that the target lacks is status 2. The command's own default is never one.
fn a_strategy_that_the_target_lacks_is_an_error() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/vadd_f32.13.1.tileirbc");
    let input = scratch("strategy.tileirbc", &fs::read(&corpus).unwrap());
    let agents = "--pipeline-option=pipeline-strategy=warp-specialize";
    let output = tileiras(&input, &["--gpu-name=sm_89", agents, "--emit=ptx"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    let text = "sm_89 has no agents for 'warp-specialize'; its strategies are none and unspecialize";
    assert!(stderr(&output).contains(text), "{}", stderr(&output));
    for arguments in [&["--gpu-name=sm_89", "--emit=ptx"][..], &["--gpu-name=sm_120", agents, "--emit=ptx"]] {
        let output = tileiras(&input, arguments);
        assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
    }
}

/// Returns the passes of a pipeline after MLIR has parsed and printed it.
fn reparsed(pipeline: &str) -> Vec<String> {
    let empty = scratch("empty.mlir", b"module {}");
    let mut opt = Command::new(env!("CARGO_BIN_EXE_tileiras-opt"));
    // MLIR requires at least one pass.
    if names(pipeline).is_empty() {
        return vec![];
    }
    let output =
        opt.arg(&empty).arg(format!("--pass-pipeline={pipeline}")).arg("--dump-pass-pipeline").output().unwrap();
    // MLIR prints one pass per line.
    let text = stderr(&output);
    let lines = text.lines().skip_while(|l| !l.starts_with("builtin.module("));
    let mut pipeline = String::new();
    for line in lines {
        pipeline.push_str(line.trim());
        if line.starts_with(')') {
            break;
        }
    }
    names(&pipeline)
}

fn a_failing_pass_is_named() {
    let text = "gpu.module @m {\n  llvm.func @k() attributes {nvvm.kernel} {\n    llvm.return\n  }\n}\n";
    let output = tileiras(&scratch("failing.mlir", text.as_bytes()), &["--emit=ptx"]);
    assert_eq!(output.status.code(), Some(5));
    assert!(stderr(&output).contains("the pass 'tileir-gpu-module-prepare' failed"), "{}", stderr(&output));
}

const KERNEL: &str = "cuda_tile.module @m {
  entry @k(%p: tile<ptr<i32>>) {
    %0 = make_token : token
    %1:3 = get_tile_block_id : tile<i32>
    %2 = store_ptr_tko weak %p, %1#0 token = %0 : tile<ptr<i32>>, tile<i32> -> token
    return
  }
}
";

/// Locations, `.file` and the excerpt of a message refer to the file.
fn text_keeps_the_name_of_its_file() {
    let input = scratch("named.mlir", KERNEL.as_bytes());
    let name = input.to_str().unwrap();
    let output = tileiras(&input, &["--emit=ptx", "--lineinfo"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let ptx = fs::read_to_string(input.with_extension("out")).unwrap();
    assert!(ptx.contains(&format!("\"{name}\"")) && !ptx.contains(".file\t1 \"-\""), "{ptx}");
    assert!(ptx.contains(".loc\t1 5 10"), "{ptx}");

    let wrong = scratch("wrong.mlir", KERNEL.replace("make_token", "make_tokens").as_bytes());
    let output = tileiras(&wrong, &["--emit=ptx", "--diagnostic-format=caret"]);
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.contains(&format!("{}:3:10", wrong.display())), "{text}");
    assert!(text.contains("%0 = make_tokens : token"), "{text}");
}

/// ptxas accepts the line information for any file names, including names of inlined functions and their call sites.
/// A PTX string cannot contain a quote, and a name must not end with a separator.
fn names_of_files_that_ptx_cannot_say() {
    let kernel = KERNEL.replace(": tile<i32>\n", ": tile<i32> loc(\"c\\\"d\\\\.py\":3:1)\n");
    let call = "tile<i32> -> token loc(callsite(\"e\\\"\\0A.py\":7:2 at \"é\\\" g\\\\\":9:4))\n";
    let kernel = kernel.replace("tile<i32> -> token\n", call);
    assert_eq!(kernel.matches(" loc(").count(), 2);
    let input = scratch("a\"b.mlir", kernel.as_bytes());
    for lines in ["--lineinfo", "--device-debug"] {
        let output = tileiras(&input, &["--emit=ptx", "-O0", lines]);
        assert!(output.status.success(), "{}", stderr(&output));
        let ptx = fs::read_to_string(input.with_extension("out")).unwrap();
        let files: Vec<&str> = ptx.lines().filter(|l| l.trim_start().starts_with(".file")).collect();
        for name in ["a'b.mlir\"", "c'd\\\\.py\"", "e'\\n.py\"", "' g\\\\_\""] {
            assert!(files.iter().any(|f| f.ends_with(name)), "{name} {files:?}");
        }
        let output = tileiras(&input, &["--emit=cubin", "-O0", lines]);
        assert!(output.status.success(), "{}", stderr(&output));
    }
    for name in ["", "/", "a/", "a\\\\"] {
        let kernel = KERNEL.replace(": tile<i32>\n", &format!(": tile<i32> loc(\"{name}\":3:1)\n"));
        let output = tileiras(&scratch("ending.mlir", kernel.as_bytes()), &["--emit=cubin", "--lineinfo"]);
        assert!(output.status.success(), "{name}: {}", stderr(&output));
    }
}

/// Each value prints its own snapshot, and nothing else changes: lines still refer to the source files, and there are
/// none unless they are requested.
fn snapshots_are_printed_and_change_nothing() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/welford.13.1.tileirbc");
    let input = scratch("snapshots.tileirbc", &fs::read(&corpus).unwrap());
    let ptx = |arguments: &[&str]| {
        let output = tileiras(&input, &[&["--emit=ptx"], arguments].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        (fs::read_to_string(input.with_extension("out")).unwrap(), stderr(&output))
    };
    let (plain, silence) = ptx(&[]);
    assert_eq!(silence, "");
    assert!(!plain.contains("\t.loc\t"), "{plain}");
    let (lines, _) = ptx(&["--lineinfo"]);
    assert!(lines.contains("\t.loc\t") && lines.contains(".py\""), "{lines}");
    let of_each = [
        ("inputIR", "entry @", "nv_tileaa."),
        ("tileaa", "nv_tileaa.func @", "nv_tileas."),
        ("tileas", "nv_tileas.", "llvm.func @"),
        ("post-tileas", "llvm.func @", "nv_tileas.tiled_load"),
    ];
    for (value, part, of_another) in of_each {
        let value = format!("--pipeline-option=emit-line-info={value}");
        let (without, printed) = ptx(&[&value]);
        assert_eq!(without, plain, "{value}");
        assert_eq!(ptx(&[&value, "--lineinfo"]).0, lines, "{value}");
        let headlines: Vec<&str> = printed.lines().filter(|l| l.starts_with("// ----- snapshot")).collect();
        let name = value.rsplit('=').next().unwrap_or_default();
        assert_eq!(headlines, [format!("// ----- snapshot {name} ----- //")], "{value}");
        assert!(printed.contains(part) && printed.contains(".py\":"), "{value}: no {part} in {printed}");
        assert!(!printed.contains(of_another), "{value}: {of_another} in {printed}");
    }
    // A cache hit would not print anything.
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("snapshots.cache");
    let cache = format!("--cache-dir={}", cache.display());
    for _ in 0..2 {
        let (_, printed) = ptx(&[&cache, "--pipeline-option=emit-line-info=tileas"]);
        assert!(printed.contains("// ----- snapshot"), "{printed}");
    }
}

/// Lines refer to the program of a stage if the separate option requests it.
fn lines_lead_to_a_snapshot_on_demand() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("led.mlir");
    let _ = fs::remove_file(&file);
    let file_option = format!("--pipeline-option=snapshot-file={}", file.display());
    let input = scratch("leading.mlir", KERNEL.as_bytes());
    let output = tileiras(&input, &["--emit=ptx", "--pipeline-option=snapshot-lines=tileas", &file_option]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(stderr(&output), "");
    let ptx = fs::read_to_string(input.with_extension("out")).unwrap();
    assert!(ptx.contains("led.mlir\"") && !ptx.contains("leading.mlir"), "{ptx}");
    assert!(fs::read_to_string(&file).unwrap().contains("nv_tileas"));
}

fn a_nul_byte_in_text_is_an_error() {
    let input = scratch("nul.mlir", KERNEL.replace("weak", "we\0k").as_bytes());
    let output = tileiras(&input, &["--emit=ptx"]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stderr(&output).contains("the text contains a NUL byte in line 5"), "{}", stderr(&output));
}

pub fn trials() -> Vec<Trial> {
    functions![
        the_dump_is_what_runs,
        a_strategy_that_the_target_lacks_is_an_error,
        a_failing_pass_is_named,
        text_keeps_the_name_of_its_file,
        names_of_files_that_ptx_cannot_say,
        snapshots_are_printed_and_change_nothing,
        lines_lead_to_a_snapshot_on_demand,
        a_nul_byte_in_text_is_an_error
    ]
}
