//! The contract of the modulo scheduler. This list gives, for each requirement of the specification's section on the
//! order of schedule analyses and its options, the tests that check it:
//!
//! * Constraint generation, cleanups and scheduling are separate passes. Any cleanups may run in between, and
//!   `canonicalize` and `cse` preserve the analysis: `any_cleanups_may_stand_between`.
//! * Constraint generation requires a program of threads whose functions do not change afterward:
//!   `constraints_want_a_program_of_threads`, `a_loop_that_is_another_one_is_an_error`.
//! * It only builds the analysis; the program and other analyses stay valid: `constraints_are_attributes_alone`.
//! * Each pass declares the analyses it preserves, which is checked when the pipeline is built:
//!   `passes_between_constraints_and_schedule_preserve_them` of `src/middle/pipeline/options/tests.rs`.
//!   In `tileiras-opt`: `a_pass_that_does_not_declare_the_analysis_preserved_is_an_error`.
//! * It is also checked at run time: a pass that does not preserve the analysis is a hard error with the specified
//!   text: `a_loop_that_is_another_one_is_an_error`.
//! * Nothing is silently recomputed: `nothing_is_described_twice`.
//! * Scheduling requires the analysis: `a_schedule_wants_the_analysis`.
//! * It produces attributes and the rings of pipelines: `a_schedule_is_attributes_and_rings`.
//! * An infeasible interval is an error that names loop, interval, operation, footprint, rows and pool:
//!   `an_interval_that_does_not_exist_is_told`, and `what_cannot_be_scheduled_says_why` of `tile-schedule`. Only a
//!   bound makes it an error; otherwise iterations stay serial and a remark says why:
//!   `loops_without_an_overlap_stay_serial`, `loops_whose_copies_do_not_fit_stay_serial`.
//! * Traces do not change the schedule: `traces_change_nothing`.
//! * `v2-opt-level` is independent of the optimization level: `levels_are_two_axes`.
//! * `rrt-size-threshold` selects between a light path and one with tables, whose passes prepare loops:
//!   `tables_come_with_preparation`, and the folders of the two passes in `tests/ir`.
//! * The pipeline that is dumped and parsed is the one that runs: `the_dump_is_what_runs` of `tests/ir/pipeline.rs`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tile_test_support::{Trial, functions};

const CONSTRAINTS: &str = "tileas-generate-schedule-constraints{compute-capability=sm_80}";
const SCHEDULE: &str = "tileas-materialize-schedule";
const INVALIDATED: &str = "cleanup pass invalidated ScheduleAnalysis; rerun constraint generation or remove the pass";

/// A dot in a loop, with tiles that can be copied ahead.
fn program() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ir/tileas-materialize-schedule/loop.mlir")
}

/// Returns the text that the passes produce for a program, or the error output if they fail.
fn run(input: &Path, passes: &[&str]) -> Result<String, String> {
    let pipeline = format!("--pass-pipeline=builtin.module({})", passes.join(","));
    let output = Command::new(env!("CARGO_BIN_EXE_tileiras-opt")).arg(input).arg(pipeline).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    if output.status.success() {
        return Ok(text(output.stdout));
    }
    assert!(output.stdout.is_empty(), "a program came out of a pipeline that failed");
    Err(text(output.stderr))
}

fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("schedule-contract-{name}"))
}

fn with_text(name: &str, text: &str) -> PathBuf {
    let file = scratch(name);
    std::fs::write(&file, text).unwrap();
    file
}

/// Returns a text without scheduling attributes.
fn without_schedule(text: &str) -> String {
    let mut out = text.to_string();
    while let Some(start) = out.find("tileas.schedule.") {
        let rest = &out[start..];
        // A number with its type, or a quoted name.
        let end = rest.find([',', '}']).expect("attributes end");
        let tail = if rest[end..].starts_with(", ") { end + 2 } else { end };
        out.replace_range(start..start + tail, "");
    }
    out.replace(", }", "}").replace(" {}", "")
}

fn any_cleanups_may_stand_between() {
    let alone = run(&program(), &[CONSTRAINTS, SCHEDULE]).unwrap();
    assert!(alone.contains("tileas.schedule.interval"), "{alone}");
    for cleanups in [&["canonicalize", "cse"][..], &["cse"], &["cse", "canonicalize", "cse", "canonicalize"]] {
        let mut passes = vec!["canonicalize", "cse", CONSTRAINTS];
        passes.extend(cleanups);
        passes.push(SCHEDULE);
        let with = run(&program(), &passes).unwrap();
        let without = run(&program(), &["canonicalize", "cse", CONSTRAINTS, SCHEDULE]).unwrap();
        assert_eq!(with, without, "{cleanups:?} have nothing to clean up");
    }
}

fn constraints_want_a_program_of_threads() {
    let text = "nv_tileaa.func @k() { nv_tileaa.return }\n";
    let said = run(&with_text("no-threads.mlir", text), &[CONSTRAINTS]).unwrap_err();
    assert!(said.contains("numWarps"), "{said}");
}

fn constraints_are_attributes_alone() {
    let before = run(&program(), &[]).unwrap_or_else(|_| run(&program(), &["canonicalize{max-iterations=0}"]).unwrap());
    let after = run(&program(), &[CONSTRAINTS]).unwrap();
    assert!(after.contains("tileas.schedule.constraint.gid = 0"), "{after}");
    assert_eq!(without_schedule(&after), before);
}

/// The rings of a pipeline are not the loads that the constraints describe.
fn a_loop_that_is_another_one_is_an_error() {
    let pipeline = "tileas-unspecialized-pipeline{compute-capability=sm_80}";
    let said = run(&program(), &[CONSTRAINTS, pipeline, SCHEDULE]).unwrap_err();
    assert!(said.contains(INVALIDATED), "{said}");
}

/// The declaration counts, not the effect: none of these passes changes the loop.
fn a_pass_that_does_not_declare_the_analysis_preserved_is_an_error() {
    let order = "tileas-order-memory";
    for pass in ["symbol-dce", "sccp", "loop-invariant-code-motion", "tileas-slicing", order, "nv_tileaa.func(sccp)"] {
        let said = run(&program(), &[CONSTRAINTS, "cse", pass, SCHEDULE]).unwrap_err();
        let name = pass.split(['(', ')']).nth(1).unwrap_or(pass);
        assert!(said.contains(&format!("{INVALIDATED} '{name}'")), "{pass}: {said}");
        // Without a schedule after it, the pass is harmless, and so it is if the constraints are generated again.
        assert!(run(&program(), &[CONSTRAINTS, pass]).is_ok(), "{pass}");
        assert!(run(&program(), &[CONSTRAINTS, pass, CONSTRAINTS, SCHEDULE]).is_ok(), "{pass}");
    }
}

/// After a pass that changes loops, scheduling fails even if one of the new loops could be scheduled. It succeeds if
/// the constraints are generated again.
fn nothing_is_described_twice() {
    let recompute = "tileas-recompute-for-scheduling{compute-capability=sm_80}";
    let shared = std::fs::read_to_string(program()).unwrap();
    let twice = shared
        .replace("%arg3: i32) attributes", "%arg3: i32, %f: f32) attributes")
        .replace(
            "%10 = arith.addf %9, %half",
            "%s = nv_tileas.splat %f : f32 -> tensor<64x64xf32, #l0>\n%10 = arith.addf %9, %s",
        )
        .replace("%11 = arith.mulf %10, %half", "%11 = arith.mulf %10, %s");
    assert_ne!(twice, shared);
    let input = with_text("twice.mlir", &twice);
    let said = run(&input, &[CONSTRAINTS, recompute, SCHEDULE]).unwrap_err();
    assert!(said.contains(INVALIDATED), "{said}");
    assert!(run(&input, &[CONSTRAINTS, recompute, CONSTRAINTS, SCHEDULE]).is_ok());
}

fn a_schedule_wants_the_analysis() {
    let said = run(&program(), &[SCHEDULE]).unwrap_err();
    assert!(
        said.contains("no ScheduleAnalysis is available; run tileas-generate-schedule-constraints first"),
        "{said}"
    );
}

fn a_schedule_is_attributes_and_rings() {
    let text = run(&program(), &[CONSTRAINTS, SCHEDULE]).unwrap();
    for name in ["interval", "stages", "stage", "clock"] {
        assert!(text.contains(&format!("tileas.schedule.{name} = ")), "no {name}: {text}");
    }
    assert!(!text.contains("tileas.schedule.constraint.machine"), "{text}");
    let pipeline = "tileas-unspecialized-pipeline{compute-capability=sm_80}";
    let rings = run(&program(), &[CONSTRAINTS, SCHEDULE, pipeline]).unwrap();
    assert!(rings.contains("stages = 3") && rings.contains("nv_tileas.async.commit"), "{rings}");
}

fn an_interval_that_does_not_exist_is_told() {
    let bounded = |clocks: u32| format!("{SCHEDULE}{{largest-interval={clocks}}}");
    let said = run(&program(), &[CONSTRAINTS, &bounded(100)]).unwrap_err();
    assert!(said.contains("modulo scheduler returned no feasible II: the largest tried is 100"), "{said}");
    assert!(said.contains("loop.mlir:"), "{said}");
    // A bound that is not an obstacle changes nothing.
    assert_eq!(run(&program(), &[CONSTRAINTS, &bounded(1_000_000)]), run(&program(), &[CONSTRAINTS, SCHEDULE]));
}

/// Any overlap of this loop holds too many registers, at any interval.
fn loops_without_an_overlap_stay_serial() {
    let trace = scratch("serial.txt");
    let file = format!("--pipeline-option=schedule-trace-file={}", trace.display());
    // Whole tiles of keys need more registers than slices.
    let whole = "--pipeline-option=disable-pass=tileaa-slice-keys";
    let options = ["--pipeline-option=v2-opt-level=1", whole, &*file, "--remarks=all"];
    let output = tileiras_for("sm_120", &corpus("fmha_bf16_d128_causal"), &options);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let text = std::fs::read_to_string(trace).unwrap();
    assert!(text.contains("serial") && text.contains("overlapped, 'threads' would hold "), "{text}");
    assert!(said.contains("iterations are not overlapped: with overlap, 'threads' would hold "), "{said}");
}

/// The first schedule starts copies too far ahead for shared memory, and the option forbids another round.
fn loops_whose_copies_do_not_fit_stay_serial() {
    let remarks = |rounds: u32| {
        let rounds = format!("--pipeline-option=max-constraint-iterations={rounds}");
        let output = tileiras(&corpus("matmul_tf32"), &["--pipeline-option=v2-opt-level=1", &rounds, "--remarks=all"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stderr).unwrap()
    };
    let told = "iterations are not overlapped: copies that start ahead take more than 49152 bytes of shared memory";
    assert!(
        remarks(0).contains(told) && !remarks(10).contains("iterations are not overlapped"),
        "{}{}",
        remarks(0),
        remarks(10)
    );
}

fn corpus(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/corpus/{name}.13.1.tileirbc"))
}

fn tileiras(input: &Path, options: &[&str]) -> Output {
    tileiras_for("sm_80", input, options)
}

fn tileiras_for(target: &str, input: &Path, options: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tileiras"));
    command.arg(input).args(["--gpu-name", target, "--emit=ptx", "-o", "-"]).args(options).output().unwrap()
}

fn traces_change_nothing() {
    let plain = run(&program(), &[CONSTRAINTS, SCHEDULE]).unwrap();
    for kind in ["txt", "html", "json"] {
        let file = scratch(&format!("trace.{kind}"));
        let traced = format!("{SCHEDULE}{{schedule-trace-file={}}}", file.display());
        assert_eq!(run(&program(), &[CONSTRAINTS, &traced]).unwrap(), plain, "{kind}");
        assert!(std::fs::metadata(&file).unwrap().len() > 100, "{kind}");
    }
}

/// Returns the passes of the pipeline with these options.
fn passes(options: &[&str]) -> String {
    let output = tileiras(&corpus("vadd_f32"), &[&["--dump-pass-pipeline"], options].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stderr).unwrap()
}

fn levels_are_two_axes() {
    for level in 0..=3 {
        for v2 in 0..=3 {
            let (o, v) = (format!("-O{level}"), format!("--pipeline-option=v2-opt-level={v2}"));
            let strategy = "--pipeline-option=pipeline-strategy=unspecialize";
            let text = passes(&[&o, &v, strategy]);
            if v2 == 2 {
                assert_eq!(text, passes(&[&o, strategy]), "2 is the command's default");
            }
            let places = ["tileas-generate-schedule-constraints", SCHEDULE].map(|p| text.find(p));
            let [first, second] = places;
            assert_eq!([first.is_some(), second.is_some()], [v2 > 0 && level >= 2; 2], "-O{level} v2={v2}: {text}");
            assert!(first <= second, "-O{level} v2={v2}: {text}");
            assert_eq!(text.contains("exhaustive=true"), v2 == 3 && level >= 2, "-O{level} v2={v2}: {text}");
        }
    }
}

fn tables_come_with_preparation() {
    let of = |rows: u32| {
        let option = format!("--pipeline-option=rrt-size-threshold={rows}");
        passes(&["--pipeline-option=v2-opt-level=1", "--pipeline-option=pipeline-strategy=unspecialize", &option])
    };
    let heavy = of(4096);
    let order =
        ["tileas-prepare-for-scheduling", "tileas-recompute-for-scheduling", "tileas-generate-schedule-constraints"];
    let places: Vec<usize> = order.iter().map(|p| heavy.find(p).unwrap_or_else(|| panic!("no {p}: {heavy}"))).collect();
    assert!(places.is_sorted(), "{heavy}");
    let light = of(0);
    assert!(!light.contains("-for-scheduling") && light.contains(SCHEDULE), "{light}");
}

pub fn trials() -> Vec<Trial> {
    functions![
        any_cleanups_may_stand_between,
        constraints_want_a_program_of_threads,
        constraints_are_attributes_alone,
        a_loop_that_is_another_one_is_an_error,
        a_pass_that_does_not_declare_the_analysis_preserved_is_an_error,
        nothing_is_described_twice,
        a_schedule_wants_the_analysis,
        a_schedule_is_attributes_and_rings,
        an_interval_that_does_not_exist_is_told,
        loops_without_an_overlap_stay_serial,
        loops_whose_copies_do_not_fit_stay_serial,
        traces_change_nothing,
        levels_are_two_axes,
        tables_come_with_preparation
    ]
}
