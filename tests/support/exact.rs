//! Compiles and runs programs whose numbers are exact in any order of summation, and compares the results on the
//! simulators of sm_90, sm_100 and sm_120 with the reference interpreter.

use std::time::Duration;
use tile_fuzz::{
    case::{Case, Parameter},
    file::memory,
};
use tile_interface::{CompileRequest, Compiler, Emit, InputKind};
use tile_interp::{
    format::{Real, Round, encode},
    machine::Limits,
    scalar::Scalar,
    types::Number,
};
use tile_targets::Target;
use tileiras::compile::{self, InProcess};

/// A pseudorandom sequence that is the same in every run.
pub struct Numbers(u32);

impl Default for Numbers {
    fn default() -> Self {
        Self(1)
    }
}

impl Numbers {
    /// Integers from `-most` to `most`, each times `factor`.
    pub fn buffer(&mut self, count: usize, n: Number, most: i64, factor: f64) -> Parameter {
        let mut number = || {
            self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let v = i64::from(self.0 >> 16) % (2 * most + 1) - most;
            let float = || encode(Real::from_f64(v as f64 * factor), n, Round::NearestEven).bits;
            Scalar::exact(if n.is_integer() { v as u64 & n.mask() } else { float() })
        };
        let numbers: Vec<Scalar> = (0..count).map(|_| number()).collect();
        Parameter::Buffer { number: n, bytes: memory(&numbers, n) }
    }
}

pub fn scalar(bits: u64) -> Parameter {
    Parameter::Scalar { number: Number::I32, bits }
}

/// Runs a program for sm_90 on the ordinary schedule and on adversarial ones with race detection, and checks whether it
/// uses wgmma. Then runs it for sm_100 and sm_120, with whatever instructions the compiler chooses there.
pub fn check(text: &str, grid: [u32; 3], parameters: Vec<Parameter>, warpgroups: bool) {
    check_changed(text, grid, parameters, warpgroups, |ptx| ptx);
}

/// As [`check`], with PTX that `change` modifies.
pub fn check_changed(
    text: &str,
    grid: [u32; 3],
    parameters: Vec<Parameter>,
    warpgroups: bool,
    change: impl Fn(String) -> String,
) {
    let exact = Exact::new(text, grid, parameters);
    for level in [3, 2] {
        let ptx = change(compiled(text, level, Emit::Ptx));
        let found = ptx.contains("wgmma.mma_async");
        assert_eq!(found, warpgroups, "-O{level}: warpgroup instructions\n{text}");
        // Dots of single warps are tested elsewhere.
        let seeds = if !warpgroups || level == 2 { &[Some(7)][..] } else { &[None, Some(1), Some(2)] };
        exact.run(&ptx, seeds);
    }
    for target in ["sm_100", "sm_120"] {
        exact.run(&compiled_for(target, text, 3, Emit::Ptx, &[]), &[Some(3)]);
    }
}

/// Runs a program for sm_100, with one CTA for each tile block, on the ordinary schedule and on adversarial ones with
/// race detection, and checks that its dots accumulate in tensor memory.
pub fn check_in_tensor_memory(text: &str, grid: [u32; 3], parameters: Vec<Parameter>) {
    in_tensor_memory(text, grid, parameters, ("tcgen05.mma.cta_group::1", &[("num-ctas", "1")]));
}

/// Runs a program for sm_100 in the same way, and checks that its dots do not accumulate in tensor memory.
pub fn check_without_tensor_memory(text: &str, grid: [u32; 3], parameters: Vec<Parameter>) {
    let exact = Exact::new(text, grid, parameters);
    let ptx = compiled_for("sm_100", text, 3, Emit::Ptx, &[]);
    assert!(!ptx.contains("tcgen05"), "instructions of tensor memory\n{text}");
    exact.run(&ptx, &[None, Some(1)]);
}

/// The same for two CTAs that split each tile and run its dots together.
pub fn check_by_pairs(text: &str, grid: [u32; 3], parameters: Vec<Parameter>) {
    in_tensor_memory(text, grid, parameters, ("tcgen05.mma.cta_group::2", &[("num-ctas", "2")]));
}

/// The same for two CTAs that run neighbouring tile blocks together.
pub fn check_by_neighbours(text: &str, grid: [u32; 3], parameters: Vec<Parameter>) {
    in_tensor_memory(text, grid, parameters, ("tcgen05.mma.cta_group::2", &[]));
}

fn in_tensor_memory(text: &str, grid: [u32; 3], parameters: Vec<Parameter>, (dot, options): (&str, &[(&str, &str)])) {
    let exact = Exact::new(text, grid, parameters);
    let ptx = compiled_for("sm_100", text, 3, Emit::Ptx, options);
    let found = [dot, "mma.sync"].map(|name| ptx.contains(name));
    assert_eq!(found, [true, false], "instructions of tensor memory, and of warps\n{text}");
    exact.run(&ptx, &[None, Some(1), Some(2), Some(3)]);
}

/// Runs a program with dots of tf32 for a target without TMA, on the ordinary schedule and on adversarial ones with
/// race detection, and checks that warps round what they copy to stages.
pub fn check_rounded_in_stages(target: &str, text: &str, grid: [u32; 3], parameters: Vec<Parameter>) {
    let exact = Exact::new(text, grid, parameters);
    let options = [("extended-smem", "true")];
    let plan = compiled_for(target, text, 3, Emit::TileAs, &options);
    // An operand of which each warp has its own part is rounded in registers.
    let is_stored = |line: &str| line.contains("local_store") && line.contains("xtf32,");
    assert!(plan.lines().any(is_stored), "no stage is rounded\n{plan}");
    let ptx = compiled_for(target, text, 3, Emit::Ptx, &options);
    assert!(ptx.contains("cp.async.c"), "no copies\n{text}");
    exact.run(&ptx, &[None, Some(1), Some(2), Some(3), Some(4), Some(5)]);
}

/// Runs a program for sm_120 on the ordinary schedule and on adversarial ones with race detection, and checks that
/// warps read the operands of its dots from stages that another agent fills.
pub fn check_from_stages(text: &str, grid: [u32; 3], parameters: Vec<Parameter>) {
    let exact = Exact::new(text, grid, parameters);
    let ptx = compiled_for("sm_120", text, 3, Emit::Ptx, &[]);
    for name in ["cp.async.bulk.tensor", "mbarrier.try_wait", "mma.sync"] {
        assert!(ptx.contains(name), "no {name}\n{text}");
    }
    // Fragments of words are read by plain loads if both operands lie across K. TMA rounds words.
    let words = text.contains("xtf32>");
    assert!(ptx.contains("ldmatrix.sync") || words && ptx.contains("ld.shared.b32"), "no fragments\n{text}");
    let rounds = ["cvt.rn.tf32", "cvt.rna.tf32"].iter().any(|name| ptx.contains(name));
    assert!(!(words && rounds), "warps round\n{text}");
    assert!(!ptx.contains("cp.async.c"), "warps copy\n{text}");
    exact.run(&ptx, &[None, Some(1), Some(2), Some(3), Some(4), Some(5)]);
}

/// Runs a program for `target`, compiled with options of the pipeline, on the ordinary schedule and on five adversarial
/// ones with race detection, and checks that its PTX contains `names`.
pub fn check_with(
    target: &str,
    text: &str,
    launch: ([u32; 3], Vec<Parameter>),
    options: &[(&str, &str)],
    names: &[&str],
) {
    check_on(&[None, Some(1), Some(2), Some(3), Some(4), Some(5)], target, text, launch, options, names);
}

/// The same on the given schedules: the ordinary one, `None`, or adversarial ones by seed.
pub fn check_on(
    seeds: &[Option<u64>],
    target: &str,
    text: &str,
    (grid, parameters): ([u32; 3], Vec<Parameter>),
    options: &[(&str, &str)],
    names: &[&str],
) {
    let exact = Exact::new(text, grid, parameters);
    let ptx = compiled_for(target, text, 3, Emit::Ptx, options);
    for name in names {
        assert!(ptx.contains(name), "{target}: no {name}\n{ptx}");
    }
    exact.run(&ptx, seeds);
}

/// A program with its inputs and results.
struct Exact<'a> {
    text: &'a str,
    case: Case,
    meaning: tile_fuzz::case::Meaning,
}

impl<'a> Exact<'a> {
    fn new(text: &'a str, grid: [u32; 3], parameters: Vec<Parameter>) -> Self {
        let mut messages = String::new();
        let mut sink = |d: tile_diag::Diagnostic| messages += &tile_diag::render::plain(&d);
        let program = compile::program(text.as_bytes(), InputKind::Text, &mut sink);
        let program = program.unwrap_or_else(|e| panic!("{e}: {messages}\n{text}"));
        let case = Case { program, grid, parameters };
        let time = Some(Duration::from_secs(60));
        let limits = Limits { ops: Some(1_000_000), time, races: true, ..Limits::default() };
        let meaning = case.meaning(limits).unwrap_or_else(|e| panic!("the interpreter: {e}\n{text}"));
        assert!(meaning.guess.is_none());
        Self { text, case, meaning }
    }

    fn run(&self, ptx: &str, seeds: &[Option<u64>]) {
        for seed in seeds {
            let outcome = self.case.simulate(ptx, *seed, Duration::from_secs(120));
            let outcome = outcome.unwrap_or_else(|e| panic!("seed {seed:?}: {e}\n{}", self.text));
            if let Some(difference) = self.case.difference(&self.meaning, &outcome) {
                panic!("seed {seed:?}: {difference}\n{}", self.text);
            }
        }
    }
}

/// Compiles for sm_90.
pub fn compiled(text: &str, level: u8, emit: Emit) -> String {
    compiled_with(text, level, emit, &[])
}

/// As [`compiled`], with options of the pipeline.
pub fn compiled_with(text: &str, level: u8, emit: Emit, options: &[(&str, &str)]) -> String {
    compiled_for("sm_90", text, level, emit, options)
}

/// As [`compiled_with`], for any target.
pub fn compiled_for(target: &str, text: &str, level: u8, emit: Emit, options: &[(&str, &str)]) -> String {
    let options: Vec<(String, String)> = options.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
    let request = CompileRequest {
        input_name: "products.mlir",
        opt_level: level,
        emit,
        pipeline_options: &options,
        ..CompileRequest::new(text.as_bytes(), InputKind::Text, Target::by_name(target).expect("a target"))
    };
    let mut messages = String::new();
    let output = InProcess.compile(&request, &mut |d| messages += &tile_diag::render::plain(&d));
    output.unwrap_or_else(|e| panic!("{e}: {messages}\n{text}")).text
}
