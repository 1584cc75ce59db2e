//! Tests that do not fit in a table row: texts, files, environments, crashes, concurrency.

use std::collections::BTreeSet;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use libtest_mimic::{Failed, Trial};

use crate::fixture::{Bench, cuda_root, place_program, sm_of};
use tile_driver::Code;

type Test = (&'static str, fn());

const TESTS: &[Test] = &[
    ("help texts", help_texts),
    ("version and lists", version_and_lists),
    ("no arguments", no_arguments),
    ("help is read line by line", help_is_read_line_by_line),
    ("a closed pipe is not an error", a_closed_pipe_is_not_an_error),
    ("errors before help", errors_before_help),
    ("outputs are replaced and equal", outputs_are_replaced_and_equal),
    ("output to standard output", output_to_standard_output),
    ("input from a pipe", input_from_a_pipe),
    ("stages", stages),
    ("save-temps", save_temps),
    ("remark files", remark_files),
    ("resource usage", resource_usage),
    ("ptxas options", ptxas_options),
    ("diagnostic formats", diagnostic_formats),
    ("too much shared memory", too_much_shared_memory),
    ("internal errors", internal_errors),
    ("ptxas is not found", ptxas_is_not_found),
    ("ptxas is too old", ptxas_is_too_old),
    ("ptxas hangs", ptxas_hangs),
    ("ptxas uses large allocations", ptxas_uses_large_allocations),
    ("wrong CUDA variables", wrong_cuda_variables),
    ("empty environment", empty_environment),
    ("unusable TMPDIR", unusable_tmpdir),
    ("nothing is left in TMPDIR", nothing_is_left_in_tmpdir),
    ("strange paths", strange_paths),
    ("a killed command leaves nothing", a_killed_command_leaves_nothing),
    ("many at once", many_at_once),
    ("where compilation begins", where_compilation_begins),
    ("the cache", the_cache),
    ("the cache under many writers", the_cache_under_many_writers),
    ("reproducers", reproducers),
    ("reproducers of a core program", reproducers_of_a_core_program),
    ("a core program", a_core_program),
    ("a core program that crashes", a_core_program_that_crashes),
];

pub fn trials() -> Vec<Trial> {
    TESTS
        .iter()
        .map(|(name, test)| {
            Trial::test(*name, move || {
                test();
                Ok::<(), Failed>(())
            })
        })
        .collect()
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn help_texts() {
    let bench = Bench::new();
    for (name, arguments) in [("help", ["--help"]), ("help-hidden", ["-help-hidden"]), ("help-list", ["--help-list"])] {
        let outcome = bench.run(&arguments);
        assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(0), ""));
        insta::assert_snapshot!(name, text(&outcome.stdout));
    }
    assert_eq!(bench.run(&["-h"]).stdout, bench.run(&["--help"]).stdout);
}

fn version_and_lists() {
    let bench = Bench::new();
    let outcome = bench.run(&["ok", "--version"]);
    assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(0), ""));
    insta::assert_snapshot!("version", text(&outcome.stdout));
    let outcome = bench.run(&["--list-versions"]);
    assert_eq!((outcome.status, text(&outcome.stdout).as_str()), (Some(0), "13.1\n13.2\n13.3\n13.4\n13.5\n"));
    // The file is not looked at. The order of checks is that of NVIDIA's command.
    let outcome = bench.run(&["ok", "--gpu-name=sm_90", "-o", "out", "--apply-controls=c.acf"]);
    let message = "error: --apply-controls is not supported on this platform\n\
                   note: pass the file to ptxas: --ptxas-option=--apply-controls=c.acf\n";
    assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(2), message));
    let outcome = bench.run(&["ok", "--gpu-name=sm_90", "-o", "out", "--apply-controls=c.acf", "--opt-level=4"]);
    assert!(outcome.status == Some(2) && !outcome.stderr.contains("apply-controls"), "{}", outcome.stderr);
    let outcome = bench.run(&["ok", "--gpu-name=sm_90", "--emit=ptx", "-o", "/dev/null", "--apply-controls="]);
    assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(0), ""));
    let outcome = bench.run(&["--explain=t0401"]);
    assert_eq!(outcome.status, Some(0));
    insta::assert_snapshot!("explain", text(&outcome.stdout));
    for code in Code::ALL {
        let outcome = bench.run(&["explain", code.text()]);
        let expected = format!("{code}: {}\n\n{}\n", code.title(), code.explanation());
        assert_eq!((outcome.status, text(&outcome.stdout)), (Some(0), expected));
    }
    assert_eq!(bench.new_files(), Vec::<String>::new());
}

fn no_arguments() {
    let bench = Bench::new();
    let outcome = bench.run(&[]);
    assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(1), "error: no input file provided\n"));
    assert_eq!(outcome.stdout, bench.run(&["--help"]).stdout);
}

/// A client searches for a line that starts with `--gpu-name` and takes the following lines that start with `=`.
fn help_is_read_line_by_line() {
    let help = text(&Bench::new().run(&["--help"]).stdout);
    let mut lines = help.lines().map(str::trim).skip_while(|l| !l.starts_with("--gpu-name"));
    lines.next().unwrap();
    let names: Vec<&str> = lines
        .map_while(|l| l.strip_prefix('='))
        .map(|l| l.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap())
        .collect();
    let table: Vec<&str> = tile_targets::TARGETS.iter().map(|t| t.name).collect();
    assert_eq!(names, table);
}

fn a_closed_pipe_is_not_an_error() {
    let bench = Bench::new();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let status = bench.command(&["--help"]).stdout(writer).stderr(Stdio::null()).status().unwrap();
    assert_eq!(status.code(), Some(0));
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let status = bench.command(&["--help"]).stdout(full).stderr(Stdio::null()).status().unwrap();
    assert_eq!(status.code(), Some(1));
}

fn errors_before_help() {
    let outcome = Bench::new().run(&["--nope", "--help", "--nope"]);
    assert_eq!(outcome.status, Some(0));
    assert_eq!(outcome.stderr.matches("Unknown command line argument").count(), 1);
    assert!(text(&outcome.stdout).starts_with("OVERVIEW:"));
}

fn outputs_are_replaced_and_equal() {
    let bench = Bench::new();
    bench.put("out.cubin", b"");
    assert_eq!(bench.run(&["ok", "-o", "out.cubin", "--gpu-name", "sm_90"]).status, Some(0));
    let first = bench.get("out.cubin");
    assert_eq!(sm_of(&first), 90);
    for name in ["out.cubin", "other.cubin"] {
        assert_eq!(bench.run(&["ok", "-o", name, "--gpu-name", "sm_90"]).status, Some(0));
        assert_eq!(bench.get(name), first, "the same input gives the same bytes");
    }
    // A failure does not touch the old output.
    assert_eq!(bench.run(&["shared", "-o", "out.cubin"]).status, Some(5));
    assert_eq!(bench.get("out.cubin"), first);
    assert_eq!(bench.new_files(), ["other.cubin", "out.cubin"]);
}

fn output_to_standard_output() {
    let bench = Bench::new();
    for name in ["-", "/dev/stdout"] {
        let outcome = bench.run(&["ok", "-o", name, "--gpu-name=sm_120"]);
        assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(0), ""));
        assert_eq!(sm_of(&outcome.stdout), 120);
    }
    // If standard output is redirected to a file, that file gets the bytes.
    let file = std::fs::File::create(bench.at("redirected")).unwrap();
    assert!(bench.command(&["ok", "-o", "/dev/stdout"]).stdout(file).status().unwrap().success());
    assert_eq!(sm_of(&bench.get("redirected")), 100);
}

fn input_from_a_pipe() {
    let bench = Bench::new();
    let input = std::fs::File::open(bench.at("ok")).unwrap();
    let mut command = bench.command(&["/dev/stdin", "-o", "x"]);
    command.stdin(input);
    assert_eq!(bench.finish(command).status, Some(0));
    assert_eq!(sm_of(&bench.get("x")), 100);
}

fn stages() {
    let bench = Bench::new();
    for stage in ["cuda-tile", "tileaa", "tileas", "llvm"] {
        let outcome = bench.run(&["ok", &format!("--emit={stage}"), "--gpu-name=sm_90", "-O1"]);
        assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(0), ""));
        assert_eq!(text(&outcome.stdout), format!("// {stage} for sm_90 at -O1\n"));
    }
    // Text output needs no ptxas.
    let mut command = bench.command(&["ok", "--emit=ptx", "--gpu-name=sm_110", "-o", "x.ptx"]);
    command.env_remove("CUDA_HOME");
    let outcome = bench.finish(command);
    assert_eq!((outcome.status, outcome.stdout.len()), (Some(0), 0));
    let ptx = text(&bench.get("x.ptx"));
    let first = format!("// tileiras {}, an open compiler for CUDA Tile IR\n", env!("CARGO_PKG_VERSION"));
    let rest = ptx.strip_prefix(&first).unwrap_or_else(|| panic!("{ptx}"));
    assert!(
        rest.starts_with(
            "// Generated by LLVM NVPTX Back-End\n// Based on LLVM 21.0.0git\n\n.version 9.0\n.target sm_110a\n"
        ),
        "{ptx}"
    );
    assert_eq!(bench.new_files(), ["x.ptx"]);
}

fn save_temps() {
    let bench = Bench::new();
    assert_eq!(bench.run(&["ok", "--save-temps", "-o", "k.cubin"]).status, Some(0));
    assert_eq!(bench.new_files(), ["k.cubin", "k.cuda_tile.mlir", "k.ptx"]);
    let bench = Bench::new();
    assert_eq!(bench.run(&["wrong", "--save-temps", "-o", "-"]).status, Some(5));
    assert_eq!(bench.new_files(), ["wrong.cuda_tile.mlir", "wrong.ptx"]);
    // A device has no files next to it.
    let bench = Bench::new();
    let outcome = bench.run(&["ok", "--save-temps", "--emit=ptx", "-o", "/dev/null"]);
    assert_ne!(outcome.status, Some(0));
    assert!(outcome.stderr.contains("next to the output, but '/dev/null' is not a file"), "{}", outcome.stderr);
    assert!(bench.new_files().is_empty());
}

fn remark_files() {
    let bench = Bench::new();
    // The file is written even if there are no remarks.
    let yaml = ["--remark-format=yaml", "--remarks=all", "--remarks-output-file=r.yaml"];
    assert_eq!(bench.run(&[&["ok"], yaml.as_slice()].concat()).status, Some(0));
    assert_eq!(bench.get("r.yaml"), b"");
    let outcome = bench.run(&[&["remarks"], yaml.as_slice()].concat());
    assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(0), ""));
    assert!(text(&bench.get("r.yaml")).starts_with("--- !Passed\nPass:            \"tileas-assign-layouts\"\n"));
    assert_eq!(bench.run(&["remarks", "--remark-format=yaml", "--remarks=tensorcore"]).status, Some(0));
    assert_eq!(bench.get("tileir_remarks.yaml"), b"");

    let outcome = bench.run(&["remarks", "--remarks-passed=memory"]);
    assert_eq!(outcome.stderr, "k.py:7:1: remark: Vectorized: loads of 16 bytes\n");
    let outcome = bench.run(&["remarks", "--remarks-missed=memory"]);
    assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(0), ""));
    let outcome = bench.run(&["ok", "--remarks=all", "--remark-format=yaml", "--remarks-output-file=no/r.yaml"]);
    assert_eq!(outcome.status, Some(3));
    let message = "error: failed to enable optimization remarks\n\
                   note: Error opening remark output file 'no/r.yaml': No such file or directory\n";
    assert_eq!(outcome.stderr, message);
    // Without a category there are no remarks, and no file.
    let outcome = bench.run(&["ok", "--remark-format=yaml", "--remarks-output-file=none.yaml"]);
    assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(0), ""));
    assert!(!bench.at("none.yaml").exists());
}

fn resource_usage() {
    let bench = Bench::new();
    let outcome = bench.run(&["ok", "--gpu-name=sm_90", "--resource-usage-file=r.json"]);
    assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(0), ""));
    let usage: serde_json::Value = serde_json::from_slice(&bench.get("r.json")).unwrap();
    let kernel = &usage["kernels"][0];
    assert_eq!((kernel["name"].as_str(), kernel["target"].as_str()), (Some("kernel"), Some("sm_90a")));
    assert_eq!((kernel["spill_stores"].as_u64(), kernel["shared_memory"].as_u64()), (Some(0), Some(0)));
    assert!(kernel["registers"].as_u64().unwrap() > 0);
    assert_eq!((&kernel["block"], &kernel["parameters"]), (&serde_json::json!([128, 1, 1]), &serde_json::json!(1)));
}

fn ptxas_options() {
    let bench = Bench::new();
    let outcome = bench.run(&["ok", "--ptxas-option=--verbose", "--ptxas-option", "--warn-on-spills"]);
    assert_eq!(outcome.status, Some(0));
    assert!(
        outcome.stderr.contains("ptxas info    : Compiling entry function 'kernel' for 'sm_100a'"),
        "{}",
        outcome.stderr
    );
    let outcome = bench.run(&["ok", "--ptxas-option=--no-such-option"]);
    assert_eq!(outcome.status, Some(5));
    assert!(outcome.stderr.contains("no-such-option"), "{}", outcome.stderr);
    assert!(outcome.stderr.ends_with("error: failed to compile Tile IR program\n"));
}

fn diagnostic_formats() {
    let bench = Bench::new();
    let outcome = bench.run(&["invalid.mlir", "--diagnostic-format=caret"]);
    insta::assert_snapshot!("caret", outcome.stderr);
    let outcome = bench.run(&["failing", "--diagnostic-format=json"]);
    let objects: Vec<serde_json::Value> = outcome.stderr.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!((&objects[0]["location"]["line"], &objects[1]["code"]), (&3.into(), &"T0501".into()));
    let outcome = bench.run(&["wrong", "--diagnostic-format=json", "--nope"]);
    let object: serde_json::Value = serde_json::from_str(outcome.stderr.lines().next().unwrap()).unwrap();
    assert_eq!(object["code"], "T0101");
}

/// A client finds the two numbers in this message and tries a smaller tile.
fn too_much_shared_memory() {
    let bench = Bench::new();
    let outcome = bench.run(&["shared", "--gpu-name=sm_90"]);
    assert_eq!(outcome.status, Some(5));
    assert!(outcome.stderr.starts_with("error: ptxas failed with exit status: "), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("uses too much shared data (0x493e0 bytes, 0x38c00 max)"), "{}", outcome.stderr);
    assert!(outcome.stderr.ends_with("error: failed to compile Tile IR program\n"));
    assert_eq!(bench.new_files(), Vec::<String>::new());
}

fn internal_errors() {
    let bench = Bench::new();
    let report = "note: please report this with the input and the command line\n";
    let outcome = bench.run(&["internal"]);
    assert_eq!(
        (outcome.status, outcome.stderr),
        (Some(70), format!("error: internal error: no layout for %3\n{report}"))
    );
    let outcome = bench.run(&["panic"]);
    assert_eq!(outcome.status, Some(70));
    assert!(outcome.stderr.starts_with("error: internal error: index out of bounds at "), "{}", outcome.stderr);
    assert_eq!(outcome.stderr.lines().count(), 2);
}

fn ptxas_is_not_found() {
    let bench = Bench::new();
    // A program outside a checkout finds no tools in parent directories.
    let away = tempfile::tempdir().unwrap();
    let program = away.path().join("tileiras");
    place_program(&program);
    let mut command = std::process::Command::new(&program);
    command.args(["ok", "-o", "x"]).current_dir(bench.dir.path()).env_clear().env("TILEIRAS_FIXTURE", "whole");
    command.env("CUDA_ROOT", "/none").env("PATH", "/nowhere:/neither");
    let outcome = bench.finish(command);
    let stderr = outcome.stderr.replace(&away.path().display().to_string(), "AWAY");
    assert_eq!(outcome.status, Some(4), "{stderr}");
    insta::assert_snapshot!("ptxas-not-found", stderr);

    let outcome = bench.run(&["ok", "--ptxas-path=nowhere/ptxas"]);
    assert_eq!(outcome.status, Some(4));
    assert!(outcome.stderr.contains("note: looked for 'nowhere/ptxas' (--ptxas-path)\n"), "{}", outcome.stderr);
    assert_eq!(bench.new_files(), Vec::<String>::new());
}

pub fn script(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn ptxas_is_too_old() {
    let bench = Bench::new();
    let old = bench.at("old/bin/ptxas");
    script(
        &old,
        "case \"$1\" in --version) echo 'Cuda compilation tools, release 12.4, V12.4.131';;\n\
         *) echo \"ptxas fatal   : Unsupported .version 8.8; current version is '8.4'\" >&2; exit 255;; esac",
    );
    // The next one is tried.
    let mut command = bench.command(&["ok", "-o", "x"]);
    command.env("CUDA_ROOT", bench.at("old"));
    let outcome = bench.finish(command);
    assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(0), ""));
    let mut command = bench.command(&["ok", "-o", "y"]);
    command.arg(format!("--ptxas-path={}", old.display()));
    let outcome = bench.finish(command);
    assert_eq!(outcome.status, Some(4));
    assert_eq!(
        outcome.stderr,
        "error: no installed ptxas can assemble PTX 8.8 for sm_100a\n\
         note: found 'DIR/old/bin/ptxas', release 12.4.131\n\
         note: install a CUDA toolkit of release 12.9 or newer, or name its ptxas with --ptxas-path\n"
    );
}

fn ptxas_hangs() {
    let bench = Bench::new();
    script(&bench.at("slow/bin/ptxas"), "sleep 60");
    let start = Instant::now();
    let run = |argument: Option<&str>, variable: Option<&str>| {
        let mut command = bench.command(&["ok", "-o", "x"]);
        command.args(argument).env("CUDA_ROOT", bench.at("slow")).env("PATH", "/usr/bin:/bin");
        command.envs(variable.map(|seconds| ("TILEIRAS_PTXAS_TIMEOUT", seconds)));
        bench.finish(command)
    };
    for outcome in [run(Some("--ptxas-timeout=1"), Some("60")), run(None, Some("1"))] {
        assert_eq!(outcome.status, Some(5), "{}", outcome.stderr);
        assert!(outcome.stderr.starts_with("error: ptxas did not finish within 1 s\n"), "{}", outcome.stderr);
    }
    assert_eq!(run(None, Some("soon")).status, Some(2));
    assert!(start.elapsed() < Duration::from_secs(20));
    assert_eq!(bench.new_files(), ["slow"]);
}

/// A variable configures ptxas' allocator, unless the caller has set it.
fn ptxas_uses_large_allocations() {
    let bench = Bench::new();
    script(&bench.at("telling/bin/ptxas"), "echo \"$GLIBC_TUNABLES\" > told; exit 1");
    let told = |own: Option<&str>| {
        let mut command = bench.command(&["ok", "-o", "x"]);
        command.env("CUDA_ROOT", bench.at("telling")).env("PATH", "/usr/bin:/bin").env_remove("GLIBC_TUNABLES");
        command.envs(own.map(|value| ("GLIBC_TUNABLES", value)));
        assert_eq!(bench.finish(command).status, Some(5));
        text(&bench.get("told")).trim().to_owned()
    };
    assert_eq!(
        told(None),
        "glibc.malloc.hugetlb=1:glibc.malloc.top_pad=16777216:glibc.malloc.mmap_threshold=16777216:\
         glibc.malloc.trim_threshold=1073741824"
    );
    assert_eq!(told(Some("glibc.malloc.perturb=85")), "glibc.malloc.perturb=85");
}

fn wrong_cuda_variables() {
    let bench = Bench::new();
    let mut command = bench.command(&["ok", "-o", "x"]);
    command.env("CUDA_ROOT", "/none").env("CUDA_HOME", "/nowhere").env("CUDA_PATH", cuda_root());
    let outcome = bench.finish(command);
    assert_eq!(outcome.status, Some(0));
    assert_eq!(
        outcome.stderr,
        "warning: CUDA_ROOT is '/none', which does not contain bin/ptxas\n\
         warning: CUDA_HOME is '/nowhere', which does not contain bin/ptxas\n"
    );
}

/// Without PATH, HOME and TMPDIR, the tools next to the program suffice.
fn empty_environment() {
    let bench = Bench::new();
    std::fs::remove_file(bench.at("tileiras")).unwrap();
    place_program(&bench.at("tileiras"));
    std::os::unix::fs::symlink(cuda_root().join("bin/ptxas"), bench.at("ptxas")).unwrap();
    let mut command = bench.command(&["ok", "-o", "x"]);
    command.env_clear().env("TILEIRAS_FIXTURE", "whole");
    let outcome = bench.finish(command);
    assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(0), ""));
}

fn unusable_tmpdir() {
    let bench = Bench::new();
    let mut command = bench.command(&["ok", "-o", "x"]);
    command.env("TMPDIR", bench.at("missing"));
    let outcome = bench.finish(command);
    assert_eq!(outcome.status, Some(5));
    assert_eq!(
        outcome.stderr,
        "error: Failed to create temporary file: No such file or directory\nerror: failed to compile Tile IR program\n"
    );
    assert_eq!(bench.new_files(), Vec::<String>::new());
}

fn nothing_is_left_in_tmpdir() {
    let bench = Bench::new();
    let scratch = tempfile::tempdir().unwrap();
    for order in ["ok", "shared", "wrong", "panic"] {
        let mut command = bench.command(&[order, "-o", "x"]);
        command.env("TMPDIR", scratch.path());
        bench.finish(command);
        assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0, "{order}");
    }
}

fn strange_paths() {
    let bench = Bench::new();
    let directory = bench.at("with space \u{fc}\u{f1} \u{7684} \"q\"");
    std::fs::create_dir(&directory).unwrap();
    std::fs::copy(bench.at("ok"), directory.join("in put")).unwrap();
    std::os::unix::fs::symlink(bench.at("tileiras"), directory.join("tile iras")).unwrap();
    let mut command = std::process::Command::new(directory.join("tile iras"));
    command.arg(directory.join("in put")).arg("-o").arg(directory.join("out put")).env_clear();
    command.env("TILEIRAS_FIXTURE", "whole").env("CUDA_HOME", cuda_root()).env("TMPDIR", &directory);
    let outcome = bench.finish(command);
    assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(0), ""));
    assert_eq!(sm_of(&std::fs::read(directory.join("out put")).unwrap()), 100);

    // File names need not be UTF-8; messages about them are.
    use std::os::unix::ffi::OsStrExt;
    let mut command = bench.command(&[]);
    command.arg(std::ffi::OsStr::from_bytes(b"no\xffsuch"));
    assert!(bench.finish(command).stderr.starts_with("error: unable to read input file 'no\u{fffd}such'"));
}

pub fn is_running(pid: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|s| !s.contains(") Z") && !s.contains(") X"))
}

pub fn wait_for(what: &str, condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(20), "timed out: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn a_killed_command_leaves_nothing() {
    let bench = Bench::new();
    script(&bench.at("slow/bin/ptxas"), "echo $$ > pid.tmp; mv pid.tmp pid; exec sleep 60");
    let scratch = tempfile::tempdir().unwrap();
    let mut command = bench.command(&["ok", "-o", "x"]);
    command.env("CUDA_ROOT", bench.at("slow")).env("PATH", "/usr/bin:/bin").env("TMPDIR", scratch.path());
    let mut running = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for("ptxas to start", || bench.at("pid").exists());
    let pid = text(&bench.get("pid")).trim().to_owned();
    assert!(is_running(&pid));
    running.kill().unwrap();
    running.wait().unwrap();
    // Both pipes are closed: no other process holds them.
    let mut rest = Vec::new();
    running.stdout.take().unwrap().read_to_end(&mut rest).unwrap();
    running.stderr.take().unwrap().read_to_end(&mut rest).unwrap();
    wait_for("ptxas to die", || !is_running(&pid));
    assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0);
    assert_eq!(bench.new_files(), ["pid", "slow"]);
}

fn many_at_once() {
    let bench = Bench::new();
    let mut running = Vec::new();
    for i in 0..100 {
        let mut command = bench.command(&["ok", "-o", &format!("out{i}"), "--gpu-name=sm_90"]);
        running.push(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
        // In addition, all of them write one common file.
        let mut command = bench.command(&["ok", "-o", "common", "--gpu-name=sm_90"]);
        running.push(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    }
    for mut child in running {
        assert!(child.wait().unwrap().success());
    }
    let images: BTreeSet<Vec<u8>> =
        (0..100).map(|i| bench.get(&format!("out{i}"))).chain([bench.get("common")]).collect();
    assert_eq!(images.len(), 1);
    assert_eq!(bench.new_files().len(), 101);
}

/// A bench whose `tileiras` starts `tileiras-core`.
fn with_core() -> Bench {
    let bench = Bench::new();
    std::fs::remove_file(bench.at("tileiras")).unwrap();
    for name in ["tileiras", "tileiras-core"] {
        place_program(&bench.at(name));
    }
    bench
}

fn a_core_program() {
    let bench = with_core();
    let run = |arguments: &[&str]| {
        let mut command = bench.command(arguments);
        command.env("TILEIRAS_FIXTURE", "front");
        bench.finish(command)
    };
    bench.put("resp", b"ok -o 'x y'");
    let outcome = run(&["@resp"]);
    assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(0), ""));
    assert_eq!(sm_of(&bench.get("x y")), 100);
    // Status and messages come from the core, with the program name that the user typed.
    let outcome = run(&["ok", "-O4"]);
    assert_eq!(outcome.status, Some(2));
    let outcome = run(&["garbage"]);
    assert_eq!(
        (outcome.status, outcome.stderr.as_str()),
        (Some(1), "error: unable to read input file 'garbage': No such file or directory\n")
    );
    // Informational options do not need the core.
    std::fs::remove_file(bench.at("tileiras-core")).unwrap();
    for question in ["--version", "--help", "--list-versions"] {
        assert_eq!(run(&[question]).status, Some(0));
    }
    let outcome = run(&["ok"]);
    assert_eq!(outcome.status, Some(4));
    assert_eq!(
        outcome.stderr,
        "error: the compiler's core 'tileiras-core' cannot be started: No such file or directory\nnote: it is expected at 'ARGV0-core'\n"
    );
}

fn a_core_program_that_crashes() {
    let bench = with_core();
    let mut command = bench.command(&["abort", "-o", "x"]);
    command.env("TILEIRAS_FIXTURE", "front");
    let outcome = bench.finish(command);
    assert_eq!(outcome.status, Some(70));
    assert!(outcome.stderr.contains("error: internal error: stopped by SIGABRT (signal 6)\n"), "{}", outcome.stderr);

    // The core dies with the command.
    let mut command = bench.command(&["sleep"]);
    command.env("TILEIRAS_FIXTURE", "front").stdout(Stdio::piped()).stderr(Stdio::null());
    let mut running = command.spawn().unwrap();
    let mut children = String::new();
    wait_for("the core to start", || {
        std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", running.id()))
            .is_ok_and(|c| !c.trim().is_empty())
    });
    children.push_str(&std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", running.id())).unwrap());
    running.kill().unwrap();
    running.wait().unwrap();
    let mut rest = Vec::new();
    running.stdout.take().unwrap().read_to_end(&mut rest).unwrap();
    wait_for("the core to die", || !is_running(children.trim()));
}

/// A level that the input cannot have is rejected before the compilation.
fn where_compilation_begins() {
    let bench = Bench::new();
    bench.put("text.mlir", b"ok");
    bench.put("code.ll", b"; ModuleID = 'm'\nsource_filename = \"m\"\n");
    for (file, level, what) in [
        ("ok", "tileaa", "Tile IR bytecode"),
        ("ok", "tileas", "Tile IR bytecode"),
        ("ok", "llvm", "Tile IR bytecode"),
        ("code.ll", "cuda-tile", "LLVM IR"),
        ("code.ll", "tileas", "LLVM IR"),
    ] {
        let outcome = bench.run(&[file, "--emit=ptx", "-o", "x.ptx", &format!("--start-from={level}")]);
        let text = format!("error: --start-from={level} does not match the input, which is {what}\n");
        assert_eq!((outcome.status, outcome.stderr), (Some(2), text), "{file}");
    }
    for (file, level) in [("ok", "cuda-tile"), ("text.mlir", "tileas"), ("text.mlir", "tileaa")] {
        let outcome = bench.run(&[file, "--emit=ptx", "-o", "x.ptx", &format!("--start-from={level}")]);
        assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(0), ""), "{file} {level}");
    }
    let outcome = bench.run(&["ok", "--start-from=nowhere"]);
    assert_eq!(outcome.status, Some(1));
    assert!(outcome.stderr.contains("'nowhere'"), "{}", outcome.stderr);
}

fn cache_files(bench: &Bench) -> Vec<std::path::PathBuf> {
    let list = |d: &Path| -> Vec<std::path::PathBuf> {
        std::fs::read_dir(d).into_iter().flatten().map(|e| e.unwrap().path()).collect()
    };
    // Some entries are digests of tools. Their length differs from that of all other entries.
    let is_entry = |file: &std::path::PathBuf| file.metadata().unwrap().len() != 16 + 32 + 32 + 8 + 32;
    list(&bench.at("cache")).iter().flat_map(|d| list(d)).filter(is_entry).collect()
}

fn the_cache() {
    // The front looks the output up: on a hit the core is not needed.
    let bench = with_core();
    bench.put("ptxas.log", b"");
    script(
        &bench.at("cuda/bin/ptxas"),
        &format!("echo run >> ptxas.log; exec {}/bin/ptxas \"$@\"", cuda_root().display()),
    );
    let run = |arguments: &[&str]| {
        let mut command = bench.command(arguments);
        command.env("TILEIRAS_FIXTURE", "front").env("CUDA_HOME", bench.at("cuda")).env("PATH", "/usr/bin:/bin");
        let outcome = bench.finish(command);
        assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(0), ""), "{arguments:?}");
        bench.get("ptxas.log").len() / 4
    };
    assert_eq!(run(&["ok", "-o", "a", "--cache-dir=cache"]), 1);
    let [entry] = &cache_files(&bench)[..] else { panic!("one entry") };
    let core = bench.at("tileiras-core");
    std::fs::rename(&core, bench.at("away")).unwrap();
    assert_eq!(run(&["ok", "-o", "b", "--cache-dir", "cache"]), 1);
    assert_eq!(bench.get("a"), bench.get("b"));
    std::fs::rename(bench.at("away"), &core).unwrap();
    // Every option that can change the output changes the entry.
    let options =
        ["-O2", "--gpu-name=sm_90", "--lineinfo", "--ptxas-option=--warn-on-spills", "--start-from=cuda-tile"];
    for (n, more) in options.iter().enumerate() {
        assert_eq!(run(&["ok", "-o", "c", "--cache-dir=cache", more]), 2 + n, "{more}");
        assert_eq!(run(&["ok", "-o", "c", "--cache-dir=cache", more]), 2 + n, "{more}");
    }
    assert_eq!(cache_files(&bench).len(), 6);
    // A damaged entry is a miss and is repaired. The checks cover every byte.
    let sound = std::fs::read(entry).unwrap();
    for at in [0, 20, 50, 79, 81, sound.len() - 1] {
        let mut damaged = sound.clone();
        damaged[at] ^= 1;
        std::fs::write(entry, &damaged).unwrap();
        let before = bench.get("ptxas.log").len() / 4;
        assert_eq!(run(&["ok", "-o", "d", "--cache-dir=cache"]), before + 1, "byte {at}");
        assert_eq!((bench.get("d"), std::fs::read(entry).unwrap()), (bench.get("a"), sound.clone()));
    }
    std::fs::write(entry, &sound[..40]).unwrap();
    run(&["ok", "-o", "e", "--cache-dir=cache"]);
    assert_eq!((bench.get("e"), std::fs::read(entry).unwrap()), (bench.get("a"), sound));
    // Compilations with additional outputs do not use the cache.
    run(&["ok", "-o", "f", "--cache-dir=cache", "--save-temps"]);
    assert!(bench.at("f.ptx").exists());
    // Failures are not cached, and an unwritable cache is not a failure.
    let outcome = bench.run(&["failing", "-o", "g", "--cache-dir=cache"]);
    assert_eq!((outcome.status, cache_files(&bench).len()), (Some(5), 6));
    let outcome = bench.run(&["ok", "-o", "h", "--cache-dir=ok"]);
    assert_eq!(outcome.status, Some(0));
    assert!(outcome.stderr.starts_with("warning: cannot write to the cache: "), "{}", outcome.stderr);
}

fn the_cache_under_many_writers() {
    let bench = Bench::new();
    std::thread::scope(|s| {
        for i in 0..24 {
            let bench = &bench;
            s.spawn(move || {
                let level = format!("-O{}", i % 3);
                let outcome = bench.run(&["ok", "-o", &format!("out{i}"), "--cache-dir=cache", &level]);
                assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(0), ""));
            });
        }
    });
    assert_eq!(cache_files(&bench).len(), 3);
    for i in 3..24 {
        assert_eq!(bench.get(&format!("out{i}")), bench.get(&format!("out{}", i % 3)));
    }
}

fn reproducers() {
    let bench = Bench::new();
    let outcome = bench.run(&["panic", "-o", "x", "-O2", "--gpu-name=sm_90", "--crash-dir=crashes"]);
    assert_eq!(outcome.status, Some(70));
    assert!(
        outcome.stderr.ends_with(
            "note: a reproducer was written to 'crashes/tileiras-crash-1.json': 'tileiras replay' runs it; \
             it contains the input unchanged; --anonymize removes names\n"
        ),
        "{}",
        outcome.stderr
    );
    let file: serde_json::Value = serde_json::from_slice(&bench.get("crashes/tileiras-crash-1.json")).unwrap();
    assert_eq!(file["arguments"], serde_json::json!(["-O2", "--gpu-name=sm_90"]));
    assert_eq!((file["status"].as_u64(), file["input_name"].as_str()), (Some(70), Some("panic")));
    assert!(file["ended"].as_str().unwrap().starts_with("internal error: index out of bounds"), "{file}");

    let outcome = bench.run(&["replay", "crashes/tileiras-crash-1.json"]);
    assert_eq!(outcome.status, Some(70));
    assert!(text(&outcome.stdout).starts_with("reproduced: status 70 (internal error: index out of bounds"));
    // The next reproducer gets the next number. An ordinary failure writes none.
    assert_eq!(bench.run(&["internal", "-o", "x", "--crash-dir=crashes", "--anonymize"]).status, Some(70));
    assert_eq!(bench.run(&["failing", "-o", "x", "--crash-dir=crashes"]).status, Some(5));
    let mut files: Vec<_> = std::fs::read_dir(bench.at("crashes")).unwrap().map(|e| e.unwrap().file_name()).collect();
    files.sort();
    assert_eq!(files, ["tileiras-crash-1.json", "tileiras-crash-2.json"]);
    let file: serde_json::Value = serde_json::from_slice(&bench.get("crashes/tileiras-crash-2.json")).unwrap();
    assert_eq!(file["input_name"], "input");

    // A reproducer whose failure has been fixed, or has changed.
    for (order, status, words) in
        [("ok", 0, "not reproduced: the input compiles\n"), ("failing", 5, "not reproduced: status 5, expected 70\n")]
    {
        use base64::Engine as _;
        let mut changed = file.clone();
        changed["input"] = base64::engine::general_purpose::STANDARD.encode(bench.get(order)).into();
        bench.put("changed.json", changed.to_string().as_bytes());
        let outcome = bench.run(&["replay", "changed.json"]);
        assert_eq!((outcome.status, text(&outcome.stdout).as_str()), (Some(status), words));
    }
    for (file, bytes) in [("bad1.json", "{"), ("bad2.json", "{\"compiler\": 1}")] {
        bench.put(file, bytes.as_bytes());
        let outcome = bench.run(&["replay", file]);
        assert_eq!(outcome.status, Some(1));
        assert!(outcome.stderr.starts_with(&format!("error: the reproducer '{file}': ")), "{}", outcome.stderr);
    }
    assert_eq!(bench.run(&["replay", "gone.json"]).status, Some(1));
    // The contents of a pipe cannot be read again.
    assert!(std::process::Command::new("mkfifo").arg(bench.at("pipe")).status().unwrap().success());
    std::thread::scope(|threads| {
        threads.spawn(|| std::fs::write(bench.at("pipe"), bench.get("panic")));
        let outcome = bench.run(&["pipe", "-o", "x", "--crash-dir=crashes"]);
        assert_eq!(outcome.status, Some(70));
        let why = "the input is not a regular file and cannot be read again";
        let warning = format!("warning: cannot write a reproducer: {why}\n");
        assert!(outcome.stderr.ends_with(&warning), "{}", outcome.stderr);
    });
    // An unwritable directory does not hide the failure.
    let outcome = bench.run(&["panic", "-o", "x", "--crash-dir=ok"]);
    assert_eq!(outcome.status, Some(70));
    assert!(outcome.stderr.contains("warning: cannot write a reproducer: "), "{}", outcome.stderr);
}

/// However the core dies, the program that started it writes one reproducer.
fn reproducers_of_a_core_program() {
    let bench = with_core();
    for (order, n) in [("abort", 1), ("panic", 2)] {
        let mut command = bench.command(&[order, "-o", "x", "--crash-dir=crashes"]);
        command.env("TILEIRAS_FIXTURE", "front");
        let outcome = bench.finish(command);
        assert_eq!(outcome.status, Some(70));
        assert_eq!(outcome.stderr.matches("a reproducer was written").count(), 1, "{}", outcome.stderr);
        assert_eq!(std::fs::read_dir(bench.at("crashes")).unwrap().count(), n);
    }
}
