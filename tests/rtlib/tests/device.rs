//! Compiles the embedded bitcode with LLVM 21 as the compiler does: linked into a module with one kernel for each
//! function, internalized, optimized and translated for every target family. The test checks that
//!
//! * the registry and the bitcode agree on names and types;
//! * linking gives no warning, with 64-bit and with short pointers;
//! * nothing of the library remains except code inside the kernels and the functions for rare arguments;
//! * sines, cosines and tangents branch once, around the call of such a function;
//! * no kernel uses local memory;
//! * portable functions have no approximate instruction;
//! * the assembler cannot fuse a multiplication and an addition (each states its rounding);
//! * `ptxas`, if present, accepts the result without using a stack.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use tile_rtlib::{Function, PREFIX, Runtime, Type, bitcode};

const TARGETS: [(&str, &str); 5] =
    [("sm_80", "+ptx70"), ("sm_89", "+ptx78"), ("sm_90", "+ptx80"), ("sm_100", "+ptx86"), ("sm_120", "+ptx87")];

fn tool(name: &str) -> PathBuf {
    let prefix = std::env::var_os("LLVM_SYS_211_PREFIX").unwrap_or_else(|| "/usr/lib/llvm-21".into());
    Path::new(&prefix).join("bin").join(name)
}

/// Runs a tool that must succeed without messages. Returns its standard output.
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && complaints.is_empty(), "{command:?}: {complaints}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn directory(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&path).expect("a directory for intermediate files");
    path
}

/// The library with the data layout of the kernel's module, as `set_data_layout` would set it.
fn library(directory: &Path, layout: Option<&str>) -> PathBuf {
    let path = directory.join("rtlib.bc");
    std::fs::write(&path, bitcode()).expect("the bitcode can be written");
    if let Some(layout) = layout {
        let text = run(Command::new(tool("llvm-dis")).arg(&path).args(["-o", "-"]));
        let source = directory.join("rtlib.ll");
        std::fs::write(&source, format!("target datalayout = \"{layout}\"\n{text}")).expect("it can be written");
        run(Command::new(tool("llvm-as")).arg(&source).arg("-o").arg(&path));
    }
    path
}

/// A function, its parameters and its result.
struct Entry {
    symbol: String,
    parameters: Vec<Type>,
    result: Option<Type>,
}

/// All functions of the library.
fn entries() -> Vec<Entry> {
    let math = Function::all().into_iter().map(|f| {
        let signature = f.signature();
        Entry { symbol: f.symbol(), parameters: signature.parameters, result: Some(signature.result) }
    });
    let runtime = Runtime::ALL.into_iter().map(|f| {
        let (parameters, result) = f.signature();
        Entry { symbol: f.symbol(), parameters, result }
    });
    math.chain(runtime).collect()
}

/// One kernel for each function: arguments from an array of 64-bit slots, the result to another.
fn kernels(layout: Option<&str>) -> String {
    let mut text = String::new();
    if let Some(layout) = layout {
        let _ = writeln!(text, "target datalayout = \"{layout}\"");
    }
    text.push_str("target triple = \"nvptx64-nvidia-cuda\"\ndeclare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n");
    for Entry { symbol, parameters, result } in entries() {
        let types: Vec<&str> = parameters.iter().map(|ty| ty.llvm()).collect();
        let (result, has_result) = (result.map_or("void", Type::llvm), result.is_some());
        let _ = writeln!(text, "declare {result} @{symbol}({})", types.join(", "));
        let _ = writeln!(text, "define ptx_kernel void @test{symbol}(ptr addrspace(1) %in, ptr addrspace(1) %out) {{");
        text.push_str("  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n");
        let mut arguments = Vec::new();
        for (index, ty) in types.iter().enumerate() {
            let _ = writeln!(text, "  %p{index} = getelementptr [16 x i64], ptr addrspace(1) %in, i32 %t, i32 {index}");
            let _ = writeln!(text, "  %a{index} = load {ty}, ptr addrspace(1) %p{index}");
            arguments.push(format!("{ty} %a{index}"));
        }
        let to = if has_result { "%r = " } else { "" };
        let _ = writeln!(text, "  {to}call {result} @{symbol}({})", arguments.join(", "));
        text.push_str("  %o = getelementptr i64, ptr addrspace(1) %out, i32 %t\n");
        if has_result {
            let _ = writeln!(text, "  store {result} %r, ptr addrspace(1) %o");
        }
        text.push_str("  ret void\n}\n");
    }
    text
}

/// The PTX of all kernels for one target.
fn translate(name: &str, target: (&str, &str), layout: Option<&str>, short_pointers: bool) -> String {
    translate_with(name, target, layout, short_pointers, "default<O3>", "-O3")
}

fn translate_with(
    name: &str,
    target: (&str, &str),
    layout: Option<&str>,
    short_pointers: bool,
    passes: &str,
    level: &str,
) -> String {
    let directory = directory(name);
    let (source, linked, inlined) =
        (directory.join("kernels.ll"), directory.join("linked.bc"), directory.join("optimized.bc"));
    std::fs::write(&source, kernels(layout)).expect("the kernels can be written");
    run(Command::new(tool("llvm-link")).arg(&source).arg(library(&directory, layout)).arg("-o").arg(&linked));
    let public: Vec<String> = entries().iter().map(|f| format!("test{}", f.symbol)).collect();
    run(Command::new(tool("opt"))
        .arg(format!("-passes=internalize,{passes},globaldce"))
        .args(["-mcpu", target.0])
        .arg(format!("-internalize-public-api-list={}", public.join(",")))
        .arg(&linked)
        .arg("-o")
        .arg(&inlined));
    let mut llc = Command::new(tool("llc"));
    llc.args([level, "-mcpu", target.0, "-mattr", target.1]);
    if short_pointers {
        llc.arg("-nvptx-short-ptr");
    }
    run(llc.arg(&inlined).args(["-o", "-"]))
}

/// The instructions of each kernel: lines that end in a semicolon and are not directives.
fn bodies(ptx: &str) -> BTreeMap<String, Vec<&str>> {
    let mut bodies = BTreeMap::new();
    let mut current = None;
    for line in ptx.lines() {
        if let Some((_, rest)) = line.split_once(".entry test") {
            current = Some(rest.trim_end_matches(['(', ')']).to_owned());
        } else if line.starts_with('}') {
            current = None;
        }
        let text = line.trim();
        if let Some(name) = &current
            && text.ends_with(';')
            && !text.starts_with('.')
        {
            bodies.entry(name.clone()).or_insert_with(Vec::new).push(text);
        }
    }
    bodies
}

/// The prefix of the functions for rare arguments, which kernels call.
const FAR: &str = "tl_far_";
/// The function of the driver that prints.
const DRIVER: &str = "vprintf";

fn check(ptx: &str, target: &str) {
    for forbidden in [".local", "__local_depot", ".extern", "trap"] {
        let word = |line: &&str| line.split([' ', '\t', ';', '.']).any(|w| w == forbidden.trim_matches('.'));
        let found = ptx.lines().filter(|line| !line.contains(DRIVER)).find(word);
        assert!(found.is_none(), "{target}: {found:?}");
    }
    for line in ptx.lines().filter(|line| line.contains(".func ") || line.contains("call")) {
        assert!(line.contains(FAR) || line.contains("callseq") || line.contains(DRIVER), "{target}: {line}");
    }
    let bodies = bodies(ptx);
    for function in Function::all().into_iter().filter(|f| f.portable() == *f) {
        let approximate = |line: &&&str| line.contains(".approx") || line.contains("div.full");
        let found = bodies.get(&function.symbol()).and_then(|body| body.iter().find(approximate));
        assert!(found.is_none(), "{target}: the bits of {function} depend on the machine: {found:?}");
    }
    for Entry { symbol: function, .. } in entries() {
        let body = bodies.get(&function).unwrap_or_else(|| panic!("{target}: no kernel for {function}"));
        for line in body {
            let operation = line.split_whitespace().find(|w| !w.starts_with('@')).unwrap_or("");
            let fusible = ["add.f", "sub.f", "mul.f", "add.ftz", "mul.ftz"].iter().any(|p| operation.starts_with(p));
            assert!(!fusible, "{target}: {function} leaves the rounding of `{line}` open");
        }
    }
}

#[test]
fn registry_and_bitcode_agree() {
    let directory = directory("agree");
    let text = run(Command::new(tool("llvm-dis")).arg(library(&directory, None)).args(["-o", "-"]));
    for foreign in ["target datalayout", "target-cpu", "llvm.module.flags", "convergent", "alloca", "__nvvm_reflect"] {
        assert!(!text.contains(foreign), "{foreign} in the bitcode");
    }
    let mut defined = BTreeMap::new();
    let is_rare = |line: &str| line.starts_with("define internal") && line.contains(&format!("@{FAR}"));
    for line in text.lines().filter(|line| line.starts_with("define") && !is_rare(line)) {
        let (head, rest) = line.split_once(&format!("@{PREFIX}")).expect("only public functions are left");
        let (name, rest) = rest.split_once('(').expect("a parameter list");
        let (parameters, rest) = rest.split_once(')').expect("its end");
        assert!(rest.contains('#'), "{name} has attributes");
        let first = |text: &str| {
            let words = ["i8", "i16", "i32", "i64", "float", "double", "void"];
            text.split_whitespace().find(|w| words.contains(w)).unwrap_or("?").to_owned()
        };
        let types: Vec<String> = parameters.split(',').map(first).collect();
        defined.insert(format!("{PREFIX}{name}"), (types, first(head)));
    }
    let expected: BTreeMap<String, (Vec<String>, String)> = entries()
        .into_iter()
        .map(|Entry { symbol, parameters, result }| {
            let types = parameters.iter().map(|ty| ty.llvm().to_owned()).collect();
            (symbol, (types, result.map_or("void", Type::llvm).to_owned()))
        })
        .collect();
    assert_eq!(defined, expected);
}

#[test]
fn every_function_survives_every_target() {
    for target in TARGETS {
        let ptx = translate(target.0, target, None, false);
        check(&ptx, target.0);
        assemble(&ptx, target.0);
    }
}

/// As in a debug build: inlining by attribute and nothing else.
#[test]
fn unoptimized_kernels_inline_too() {
    check(&translate_with("debug", TARGETS[2], None, false, "always-inline", "-O0"), "O0");
}

#[test]
fn links_into_modules_with_a_layout() {
    let ordinary = "e-p6:32:32-i64:64-i128:128-v16:16-v32:32-n16:32:64";
    let short = "e-p:64:64-p3:32:32-p4:32:32-p5:32:32-p6:32:32-i64:64-i128:128-v16:16-v32:32-n16:32:64";
    check(&translate("layout", TARGETS[2], Some(ordinary), false), "64-bit pointers");
    check(&translate("short", TARGETS[2], Some(short), true), "short pointers");
}

/// A kernel branches around the call, and has at most two more jumps, to the call and back.
#[test]
fn trigonometry_branches_once() {
    let rare = |line: &&&str| line.contains("call.uni");
    let mut failures = String::new();
    for target in TARGETS {
        let ptx = translate(&format!("branches-{}", target.0), target, None, false);
        let bodies = bodies(&ptx);
        for (name, limit) in
            [("sin_f32", 48), ("cos_f32", 48), ("tan_f32", 66), ("sin_f64", 80), ("cos_f64", 80), ("tan_f64", 100)]
        {
            let body = &bodies[&format!("{PREFIX}{name}")];
            let conditional = body.iter().filter(|line| line.starts_with('@') && line.contains("bra")).count();
            let (branches, calls) =
                (body.iter().filter(|l| l.contains("bra")).count(), body.iter().filter(rare).count());
            println!("{} {name}: {} PTX instructions, {branches} branches", target.0, body.len());
            if conditional != 1 || branches > 3 || calls != 1 || body.len() > limit {
                let _ = writeln!(failures, "{} {name}: {} > {limit}\n{body:#?}", target.0, body.len());
            }
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

/// The two functions that determine the speed of softmax and gelu stay as short as they are.
#[test]
fn hot_functions_are_short() {
    let ptx = translate("count", TARGETS[2], None, false);
    let bodies = bodies(&ptx);
    let overhead = ["ld.", "st.", "mov.", "cvta", "mul.wide", "add.s64", "ret", "shl.b64"];
    let mut failures = String::new();
    for (name, limit) in
        [("exp_f32", 8), ("exp_f32_poly", 23), ("exp2_f32", 1), ("tanh_f32", 18), ("tanh_f32_approx", 1)]
    {
        let body = &bodies[&format!("{PREFIX}{name}")];
        let own: Vec<_> = body.iter().filter(|line| !overhead.iter().any(|o| line.starts_with(o))).collect();
        println!("{name}: {} PTX instructions", own.len());
        if own.len() > limit {
            let _ = writeln!(failures, "{name}: {} > {limit}\n{own:#?}", own.len());
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

/// `ptxas` from the project's tool directory or the search path.
fn ptxas() -> Option<PathBuf> {
    let local = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.tools/cuda/bin/ptxas");
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::iter::once(local).chain(std::env::split_paths(&paths).map(|p| p.join("ptxas"))).find(|path| path.is_file())
}

fn assemble(ptx: &str, target: &str) {
    let Some(ptxas) = ptxas() else {
        println!("{target}: no ptxas found, assembly not checked");
        return;
    };
    let directory = directory(target);
    let source = directory.join("kernels.ptx");
    std::fs::write(&source, ptx).expect("the PTX can be written");
    let output = Command::new(ptxas)
        .args(["-v", "-arch", target])
        .arg(&source)
        .arg("-o")
        .arg(directory.join("kernels.cubin"))
        .output()
        .expect("ptxas runs");
    let report = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{target}: {report}");
    let mut kernel = "";
    for line in report.lines() {
        if let Some((_, rest)) = line.split_once("Function properties for ") {
            kernel = rest;
        } else if line.contains("bytes stack frame") {
            assert!(line.trim().starts_with("0 bytes stack frame, 0 bytes spill"), "{target}: {kernel}: {line}");
        }
    }
}

/// LLVM's names of types.
#[test]
fn type_names() {
    let names = [Type::I8, Type::I16, Type::I32, Type::I64, Type::F32, Type::F64].map(Type::llvm);
    assert_eq!(names, ["i8", "i16", "i32", "i64", "float", "double"]);
}
