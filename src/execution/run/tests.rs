//! Tests of the whole command, with a compiler that accepts PTX as its input.

use crate::launch::{Argument, Launch};
use crate::npy::Array;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use tile_driver::Diagnostic;
use tile_interface::{CompileError, CompileOutput, CompileRequest, InputKind};
use tile_interp::program::{AccessOrder, Entry, FloatMode, Op, OpKind, Program, Promise, Value};
use tile_interp::types::{Element, Number, TensorType, TileType, Tiling, Type, ViewType};

/// `y[i] = a * x[i] + y[i]` for 32-bit floats: one thread per element, 32 threads per block, arrays of rank 1.
const SAXPY: &str = "
.version 8.8
.target sm_90
.address_size 64
.visible .entry saxpy(.param .f32 a, .param .u64 x, .param .u32 xn, .param .u32 xs,
                      .param .u64 y, .param .u32 yn, .param .u32 ys) .reqntid 32
{
    .reg .pred %p<2>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<6>;
    .reg .f32 %f<5>;
    ld.param.b32 %f1, [a];
    ld.param.b64 %rd1, [x];
    ld.param.b64 %rd2, [y];
    ld.param.b32 %r1, [yn];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %tid.x;
    shl.b32 %r4, %r2, 5;
    add.s32 %r5, %r4, %r3;
    setp.ge.s32 %p1, %r5, %r1;
    @%p1 bra done;
    mul.wide.s32 %rd3, %r5, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
    ld.global.b32 %f2, [%rd4];
    ld.global.b32 %f3, [%rd5];
    fma.rn.f32 %f4, %f1, %f2, %f3;
    st.global.b32 [%rd5], %f4;
done:
    ret;
}
";

/// Rejects `bad` and otherwise returns the input.
fn compiler(request: &CompileRequest<'_>, report: &mut dyn FnMut(Diagnostic)) -> Result<CompileOutput, CompileError> {
    let text = String::from_utf8_lossy(request.input).into_owned();
    if text == "bad" {
        report(Diagnostic::new(tile_diag::Severity::Error, "this is bad"));
        return Err(CompileError::Failed);
    }
    // A program marked `spoilt` is miscompiled if at least two optional passes run.
    let limit = request.pipeline_options.iter().find(|(name, _)| name == "pass-limit");
    let is_spoilt = text.contains("spoilt") && limit.is_none_or(|(_, n)| n.parse::<u32>().unwrap() >= 2);
    if text.contains("gap") && limit.is_some_and(|(_, n)| n == "1") {
        return Err(CompileError::Failed);
    }
    let text = if is_spoilt { text.replace("%f4, %f1, %f2, %f3", "%f4, %f1, %f2, %f1") } else { text };
    Ok(CompileOutput { text, ..CompileOutput::default() })
}

/// Returns the same program for any input: `y[i] = x[i] + x[i]` for 16 elements in each tile block. If the input asks
/// for it, the program promises that extents are multiples of 64.
fn reader(input: &[u8], _: InputKind, _: &mut dyn FnMut(Diagnostic)) -> Result<Program, CompileError> {
    let mut entry = Entry { name: "twice".into(), ..Entry::default() };
    let tensor = TensorType { element: Number::F32, shape: vec![None], strides: vec![Some(1)] };
    let tiling = Tiling::Partition { dim_map: vec![0] };
    let view = ViewType { tile: vec![16], tensor: tensor.clone(), tiling, padding: None };
    let pointer = Type::Tile(TileType::new(&[], Element::Pointer(Number::F32)));
    let scalar = Type::Tile(TileType::scalar(Number::I32));
    let tile = Type::Tile(TileType::of(&[16], Number::F32));
    let mut op = |kind, operands: &[Value], results: &[&Type]| {
        let results: Vec<Value> = results.iter().map(|t| entry.value((*t).clone())).collect();
        let op = Op { kind, operands: operands.to_vec(), results, regions: vec![], location: "twice".into() };
        entry.body.ops.push(op.clone());
        op.results
    };
    // Parameters are defined by an op that is removed afterwards.
    let p = op(OpKind::Return, &[], &[&pointer, &scalar, &scalar, &pointer, &scalar, &scalar]);
    let id = op(OpKind::GetTileBlockId, &[], &[&scalar, &scalar, &scalar])[0];
    let mut views = vec![];
    for base in [0, 3] {
        let mut extent = p[base + 1];
        if input == b"promise" {
            let promise = Promise::DivBy { divisor: 64, groups: None };
            extent = op(OpKind::Assume(promise), &[extent], &[&scalar])[0];
        }
        let t = op(OpKind::MakeTensorView, &[p[base], extent], &[&Type::Tensor(tensor.clone())]);
        views.push(op(OpKind::MakeView, &t, &[&Type::View(view.clone())])[0]);
    }
    let (access, token) = (AccessOrder::WEAK, false);
    let x = op(OpKind::LoadView { access, token, inbounds: vec![] }, &[views[0], id], &[&tile, &Type::Token])[0];
    let y = op(OpKind::AddF(FloatMode::default()), &[x, x], &[&tile])[0];
    op(OpKind::StoreView { access, token, inbounds: vec![] }, &[y, views[1], id], &[&Type::Token]);
    op(OpKind::Return, &[], &[]);
    entry.body.arguments = entry.body.ops.remove(0).results;
    Ok(Program { name: "m".into(), globals: vec![], entries: vec![entry] })
}

#[test]
fn the_reference_engine_runs_the_launch() {
    let dir = folder();
    let words = "@k.mlir --engine reference --out-dir @out --grid 3 @x.npy @y.npy";
    assert_eq!(tile_run(dir.path(), words), (0, String::new()));
    let doubled: Vec<f32> = (0..40).map(|i| 2.0 * i as f32).collect();
    assert_eq!(Array::read(&dir.path().join("out/y.npy")).unwrap(), floats(&doubled));
    let (status, text) = tile_run(dir.path(), &words.replace("--grid 3", "--grid 4"));
    assert_eq!(status, 6, "{text}");
    assert!(text.contains("reference: twice: 'load_view_tko' in tile block (3, 0, 0): undefined behavior"), "{text}");
    assert!(text.contains("the index space has size 3; ") && text.contains("--outside=masked"), "{text}");
    assert_eq!(tile_run(dir.path(), &words.replace("--grid 3", "--grid 4 --outside masked")), (0, String::new()));
    assert_eq!(Array::read(&dir.path().join("out/y.npy")).unwrap(), floats(&doubled));
    assert_eq!(tile_run(dir.path(), &words.replace("--grid 3", "--grid 4 --outside=undefined")).0, 6);
    let (status, text) = tile_run(dir.path(), "@k.mlir --engine reference --grid 3 @x.npy");
    assert_eq!(
        (status, text.contains("3 entry parameters (x.npy: 3) for entry 'twice', which has 6")),
        (6, true),
        "{text}"
    );
    let (status, text) = tile_run(dir.path(), "@k.mlir --engine fast --grid 3 @x.npy");
    assert_eq!((status, text.contains("unknown engine 'fast'")), (1, true), "{text}");
}

#[test]
fn broken_promises_are_errors_or_told_or_ignored() {
    let dir = folder();
    fs::write(dir.path().join("p.mlir"), "promise").unwrap();
    fs::write(dir.path().join("free.ptx"), ".version 8.8\n.target sm_90\n.visible .entry k() { ret; }").unwrap();
    let broken = "element 0 is 0x28, which breaks the promise div_by<64>";
    for (option, status, said) in [
        ("", 6, format!("error: reference: twice: 'assume' in tile block (0, 0, 0): undefined behavior: {broken}\n")),
        (
            "--promises=check",
            6,
            format!("error: reference: twice: 'assume' in tile block (0, 0, 0): undefined behavior: {broken}\n"),
        ),
        // Two promises in each of three tile blocks, at a single source location.
        ("--promises report", 0, format!("warning: twice: in tile block (0, 0, 0): {broken} (and 5 more times)\n")),
        ("--promises=trust", 0, String::new()),
    ] {
        let words = format!("@p.mlir --engine reference {option} --grid 3 @x.npy @y.npy");
        assert_eq!(tile_run(dir.path(), &words), (status, said), "{option}");
    }
    for (words, said) in [
        (
            "@p.mlir --engine reference --promises=no --grid 3",
            "--promises: unknown value 'no' (expected trust, check or report)",
        ),
        ("@free.ptx --promises=trust --grid 1", "need --engine=reference, --check-each or --check-against"),
        ("@free.ptx --outside=masked --grid 1", "need --engine=reference, --check-each or --check-against"),
        ("@p.mlir --engine reference --outside=no --grid 3", "--outside: unknown value 'no' (expected masked or"),
    ] {
        let (status, text) = tile_run(dir.path(), words);
        assert_eq!((status, text.contains(said)), (1, true), "{text}");
    }
    // Also when results are compared with the interpreter's.
    let twice = SAXPY.replace(".param .f32 a, ", "").replace("ld.param.b32 %f1, [a];", "mov.f32 %f1, 0f3F800000;");
    fs::write(dir.path().join("t.ptx"), twice.replace("%f1, %f2, %f3", "%f1, %f2, %f2")).unwrap();
    let words = "--check-against @p.mlir @t.ptx --grid 3 @x.npy @y.npy";
    assert_eq!(tile_run(dir.path(), words).0, 6);
    assert_eq!(tile_run(dir.path(), &format!("{words} --promises=trust")), (0, String::new()));
}

fn floats(values: &[f32]) -> Array {
    let data = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    Array { descr: "f4".into(), shape: vec![values.len() as u64], fortran: false, data }
}

/// A folder with `k.ptx`, `k.mlir`, `x.npy` = 0, 1, ..., 39 and `y.npy` = ones.
fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::write(at("k.ptx"), SAXPY).unwrap();
    fs::write(at("k.mlir"), SAXPY).unwrap();
    floats(&(0..40).map(|i| i as f32).collect::<Vec<_>>()).write(&at("x.npy")).unwrap();
    floats(&[1.0; 40]).write(&at("y.npy")).unwrap();
    dir
}

/// The arguments in `words`. `@` before a name prefixes the folder.
fn arguments(dir: &Path, words: &str) -> Vec<OsString> {
    let place = |w: &str| match w.split_once('@') {
        Some((before, name)) => format!("{before}{}", dir.join(name).display()),
        None => w.to_string(),
    };
    words.split_whitespace().map(|w| place(w).into()).collect()
}

const TOOLS: crate::Tools<'static> = crate::Tools {
    compiler: &compiler,
    reader: &reader,
    optional_passes: &|_| Ok(["tidy", "spoil", "polish"].map(str::to_owned).to_vec()),
    host_loader: &|_, _| Ok(None),
};

/// Exit status and standard error of `tile-run`.
fn tile_run(dir: &Path, words: &str) -> (u8, String) {
    let (mut out, mut err) = (vec![], vec![]);
    let status = crate::run(&arguments(dir, words), TOOLS, &mut out, &mut err);
    (status, String::from_utf8(err).unwrap())
}

/// Decides whether a program has the defect, and explains the answer.
#[test]
fn a_program_is_of_interest_while_it_has_the_defect() {
    let dir = folder();
    let asked = |words: &str, crash: Option<i32>| {
        let (mut out, mut err) = (vec![], vec![]);
        let words = arguments(dir.path(), words);
        let answer = crate::interesting::run(&words, crash, TOOLS, &mut out, &mut err);
        (answer, String::from_utf8(err).unwrap())
    };
    let write = |text: &str| fs::write(dir.path().join("k.mlir"), text).unwrap();
    let twice = SAXPY.replace(".param .f32 a, ", "").replace("ld.param.b32 %f1, [a];", "mov.f32 %f1, 0f3F800000;");
    let right = twice.replace("%f1, %f2, %f3", "%f1, %f2, %f2");
    // The miscompilation affects a sum with the third register, which holds `x` here.
    let spoilt = format!("// spoilt\n{}", twice.replace("%f3, [%rd5]", "%f3, [%rd4]"));
    let launch = "--grid 3 @x.npy @y.npy @k.mlir";

    write(&right);
    assert_eq!(asked(&format!("--wrong {launch}"), None), (0, String::new()));
    assert_eq!(asked(&format!("--wrong --explain {launch}"), None), (0, "not interesting: results are right\n".into()));
    write(&twice);
    assert_eq!(asked(&format!("--wrong {launch}"), None), (1, String::new()));
    let (answer, why) = asked(&format!("--wrong --explain {launch} "), None);
    assert!(answer == 1 && why.starts_with("interesting: arg 1: 39 of 40 wrong"), "{why}");
    assert_eq!(asked(&format!("--wrong --message=39 {launch}"), None).0, 1);
    let (answer, why) = asked(&format!("--wrong --message deadlock --explain {launch}"), None);
    assert!(answer == 0 && why.starts_with("not interesting: another defect: arg 1: 39 of 40"), "{why}");
    let (answer, why) = asked(&format!("--wrong-pass spoil --explain {launch}"), None);
    assert!(answer == 0 && why.starts_with("not interesting: wrong before the pass too"), "{why}");
    write("bad");
    let (answer, why) = asked(&format!("--wrong --explain {launch}"), None);
    assert_eq!((answer, why.as_str()), (0, "not interesting: it does not compile: this is bad\n"));
    // Undefined behavior that the interpreter finds is not a defect of the compiler.
    let (answer, why) = asked("--wrong --explain --grid 4 @x.npy @y.npy @k.mlir", None);
    assert!(answer == 0 && why.contains("undefined behavior"), "{why}");

    write(&spoilt);
    for (pass, expected) in [("tidy", 0), ("spoil", 1), ("polish", 0)] {
        let (answer, why) = asked(&format!("--wrong-pass {pass} --explain {launch}"), None);
        assert_eq!(answer, expected, "{pass}: {why}");
    }
    let (answer, why) = asked(&format!("--wrong-pass paint {launch}"), None);
    assert!(answer == 0 && why.contains("'paint' (the optional passes are tidy, spoil, polish)"), "{why}");

    write("bad");
    assert_eq!(asked("--fails @k.mlir", None).0, 1);
    assert_eq!(asked("--fails --message=bad @k.mlir", None).0, 1);
    assert_eq!(asked("--fails --message=good @k.mlir", None).0, 0);
    write(SAXPY);
    assert_eq!(asked("--fails --explain @k.mlir", None), (0, "not interesting: it compiles\n".into()));
    assert_eq!(asked("--fails --explain @k.mlir", Some(11)).1, "interesting: the compiler crashed with signal 11\n");
    assert_eq!(asked(&format!("--wrong {launch}"), Some(11)).0, 0);

    // A mistake on the command line must not make every program interesting.
    for (words, expected) in [
        ("--grid 3 @x.npy @y.npy @k.mlir", "one of --wrong, --wrong-pass and --fails"),
        ("--wrong --fails @k.mlir", "one of --wrong, --wrong-pass and --fails"),
        ("--wrong", "no kernel given"),
        ("--wrong @x.npy @k.mlir", "no --grid given"),
        ("--wrong --grid 3 @none.npy @k.mlir", "none.npy"),
        ("--wrong --unknown --grid 3 @k.mlir", "unknown option '--unknown'"),
        ("--wrong --message", "--message needs a value"),
    ] {
        let (answer, said) = asked(words, None);
        assert!(answer == 0 && said.contains(expected), "{words}: {said}");
    }
}

#[test]
fn the_pass_that_makes_results_wrong_is_named() {
    let dir = folder();
    let want: Vec<u8> = (0..40).flat_map(|i| (2.0 * f64::from(i) + 1.0).to_le_bytes()).collect();
    let want = Array { descr: "f8".into(), shape: vec![40], fortran: false, data: want };
    want.write(&dir.path().join("want.npy")).unwrap();
    let launch = r#"{"kernel": "k.mlir", "grid": [2], "args": [{"f32": 2}, {"array": "x.npy"}, {"array": "y.npy"}],
                     "expect": [{"arg": 2, "value": "want.npy"}]}"#;
    fs::write(dir.path().join("launch.json"), launch).unwrap();
    assert_eq!(tile_run(dir.path(), "--check-each --launch @launch.json"), (0, String::new()));
    fs::write(dir.path().join("k.mlir"), format!("// spoilt\n{SAXPY}")).unwrap();
    let (status, said) = tile_run(dir.path(), "--check-each --launch @launch.json");
    assert_eq!((status, said.contains("wrong after 'spoil' and right before it")), (7, true), "{said}");
    // A step that does not compile must not reuse the verdict of equal code before it.
    fs::write(dir.path().join("k.mlir"), format!("// gap\n{SAXPY}")).unwrap();
    assert_eq!(tile_run(dir.path(), "--check-each --launch @launch.json"), (0, String::new()));
    fs::write(dir.path().join("k.mlir"), SAXPY.replace("fma.rn.f32 %f4, %f1", "fma.rn.f32 %f4, %f2")).unwrap();
    let (status, said) = tile_run(dir.path(), "--check-each --launch @launch.json");
    assert_eq!((status, said.contains("without optional passes too")), (7, true), "{said}");
    // The interpreter provides the expected results if nothing else does.
    let twice = SAXPY.replace(".param .f32 a, ", "").replace("ld.param.b32 %f1, [a];", "mov.f32 %f1, 0f3F800000;");
    fs::write(dir.path().join("k.mlir"), twice.replace("%f1, %f2, %f3", "%f1, %f2, %f2")).unwrap();
    let words = "--check-each @k.mlir --grid 3 @x.npy @y.npy";
    assert_eq!(tile_run(dir.path(), words), (0, String::new()));
    fs::write(dir.path().join("k.mlir"), &twice).unwrap();
    assert_eq!(tile_run(dir.path(), words).0, 7);
    assert_eq!(tile_run(dir.path(), &format!("{words} --tolerance 1")).0, 0);
    for wrong in ["--engine reference", "--timing", "--tolerance -1"] {
        assert_eq!(tile_run(dir.path(), &format!("{words} {wrong}")).0, 1, "{wrong}");
    }
    assert_eq!(tile_run(dir.path(), "--tolerance 1 @k.mlir --grid 1").0, 1);
}

/// The interpreter runs another file than the simulator.
#[test]
fn images_are_compared_with_a_program() {
    let dir = folder();
    let twice = SAXPY.replace(".param .f32 a, ", "").replace("ld.param.b32 %f1, [a];", "mov.f32 %f1, 0f3F800000;");
    let words = "--check-against @k.mlir @t.ptx --grid 3 @x.npy @y.npy";
    fs::write(dir.path().join("t.ptx"), twice.replace("%f1, %f2, %f3", "%f1, %f2, %f2")).unwrap();
    assert_eq!(tile_run(dir.path(), words), (0, String::new()));
    fs::write(dir.path().join("t.ptx"), &twice).unwrap();
    let (status, said) = tile_run(dir.path(), words);
    assert_eq!((status, said.starts_with("error: plain schedule: arg 1: 39 of 40 wrong")), (7, true), "{said}");
    assert_eq!(tile_run(dir.path(), &format!("{words} --tolerance 1")).0, 0);
    for wrong in ["--engine reference", "--timing", "--check-each"] {
        assert_eq!(tile_run(dir.path(), &format!("{words} {wrong}")).0, 1, "{wrong}");
    }
    // The language defines the result of doubling exactly.
    let (status, said) = tile_run(dir.path(), &format!("{words} --tolerance promised"));
    assert_eq!((status, said.starts_with("error: plain schedule: arg 1: 39 of 40 wrong")), (7, true), "{said}");
    // For an array that is passed in part, only that part is compared.
    let part = r#"{"array": "FILE", "extents": [20]}"#;
    let args = format!("[{}, {}]", part.replace("FILE", "x.npy"), part.replace("FILE", "y.npy"));
    fs::write(dir.path().join("part.json"), format!(r#"{{"grid": [2], "args": {args}}}"#)).unwrap();
    let part = "--check-against @k.mlir --launch @part.json @t.ptx";
    let (status, said) = tile_run(dir.path(), part);
    assert_eq!((status, said.starts_with("error: plain schedule: arg 1: 19 of 20 wrong")), (7, true), "{said}");
    fs::write(dir.path().join("t.ptx"), twice.replace("%f1, %f2, %f3", "%f1, %f2, %f2")).unwrap();
    assert_eq!(tile_run(dir.path(), part), (0, String::new()));
    assert_eq!(tile_run(dir.path(), &format!("{part} --tolerance promised")), (0, String::new()));
    assert_eq!(tile_run(dir.path(), &words.replace("@k.mlir", "@none.mlir")).0, 1);
}

#[test]
fn arrays_are_written_back() {
    let dir = folder();
    for kernel in ["@k.ptx", "@k.mlir"] {
        let words = format!("{kernel} --entry saxpy --grid 2 --out-dir @out f32:2 @x.npy @y.npy --stats --trace");
        let (status, err) = tile_run(dir.path(), &words);
        assert_eq!(status, 0, "{err}");
        assert!(err.contains("fma.rn.f32"), "{err}");
        // 40 elements of 4 bytes, read twice and written once.
        let global = err.lines().find(|l| l.trim_start().starts_with("global")).unwrap();
        assert_eq!(global.split_whitespace().collect::<Vec<_>>(), ["global", "320", "160"]);
        let want = floats(&(0..40).map(|i| 2.0 * i as f32 + 1.0).collect::<Vec<_>>());
        assert_eq!(Array::read(&dir.path().join("out/y.npy")).unwrap(), want);
        let x = Array::read(&dir.path().join("x.npy")).unwrap();
        assert_eq!(Array::read(&dir.path().join("out/x.npy")).unwrap(), x);
    }
}

#[test]
fn one_file_twice_gives_two_results() {
    let dir = folder();
    let (status, err) = tile_run(dir.path(), "@k.ptx --grid 2 --out-dir @out f32:2 @x.npy @x.npy");
    assert_eq!(status, 0, "{err}");
    let want = floats(&(0..40).map(|i| 3.0 * i as f32).collect::<Vec<_>>());
    assert_eq!(Array::read(&dir.path().join("out/arg2.0-x.npy")).unwrap(), want);
}

#[test]
fn expectations_are_checked() {
    let dir = folder();
    let want: Vec<u8> = (0..40).flat_map(|i| (2.0 * f64::from(i) + 1.0).to_le_bytes()).collect();
    let mut want = Array { descr: "f8".into(), shape: vec![40], fortran: false, data: want };
    let launch = r#"{"kernel": "k.ptx", "grid": [2], "args": [{"f32": 2}, {"array": "x.npy"}, {"array": "y.npy"}],
                     "expect": [{"arg": 2, "value": "want.npy"}]}"#;
    fs::write(dir.path().join("launch.json"), launch).unwrap();
    want.write(&dir.path().join("want.npy")).unwrap();
    assert_eq!(tile_run(dir.path(), "--launch @launch.json --adversarial plain,1,2"), (0, String::new()));
    want.data[8 * 7..8 * 8].copy_from_slice(&0f64.to_le_bytes());
    want.write(&dir.path().join("want.npy")).unwrap();
    let message = "error: adversarial schedule 4: arg 2: 1 of 40 wrong, first at (7): 15.0, expected 0.0\n";
    assert_eq!(tile_run(dir.path(), "--launch @launch.json --adversarial 4"), (7, message.into()));
    let (status, _) = tile_run(dir.path(), "--launch @launch.json --grid 1");
    assert_eq!(status, 7, "the command line's grid wins");
}

/// `q[i] = p[0] + i` for a structure of one 32-bit number in `p`; 32 threads.
const NUMBERS: &str = "
.version 8.8
.target sm_90
.address_size 64
.visible .entry numbers(.param .align 4 .b8 p[4], .param .u64 q) .reqntid 32
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    ld.param.b32 %r1, [p];
    ld.param.b64 %rd1, [q];
    mov.u32 %r2, %tid.x;
    add.s32 %r3, %r1, %r2;
    mul.wide.u32 %rd2, %r2, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.b32 [%rd3], %r3;
    ret;
}
";

#[test]
fn buffers_structures_and_how_results_match() {
    let dir = folder();
    fs::write(dir.path().join("n.ptx"), NUMBERS).unwrap();
    let words = |values: &[u32], descr: &str| {
        let data = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        Array { descr: descr.into(), shape: vec![values.len() as u64], fortran: false, data }
    };
    // The 32 numbers are around the first NaN of single precision.
    let base = 0x7f80_0000u32 - 15;
    let good: Vec<u32> = (0..32).map(|i| base + i).collect();
    let mut nan = good.clone();
    nan[31] = 0x7fff_ffff;
    let mut wrong = good.clone();
    wrong[3] += 1;
    let turned: Vec<u32> = good.iter().rev().copied().collect();
    for (name, values) in [("good", &good), ("nan", &nan), ("wrong", &wrong), ("turned", &turned)] {
        words(values, "u4").write(&dir.path().join(format!("{name}.npy"))).unwrap();
    }
    for (value, how, dtype, message) in [
        ("good", "bits", "u32", ""),
        ("nan", "bits", "f32", "1 of 32 wrong, first at (31): NaN (0x7f800010), expected NaN (0x7fffffff)"),
        ("nan", "bits_or_nan", "f32", ""),
        ("wrong", "bits_or_nan", "f32", "1 of 32 wrong, first at (3)"),
        ("turned", "sorted", "u32", ""),
        ("turned", "bits", "u32", "32 of 32 wrong"),
        ("wrong", "sorted", "u32", "1 of 32 wrong after sorting, first at (3): 2139095028, expected 2139095029"),
        ("good", "value", "u32", ""),
    ] {
        let launch = format!(
            r#"{{"kernel": "n.ptx", "args": [{{"bytes": "f1ff7f7f"}}, {{"unwritten": [32], "dtype": "{dtype}"}}],
                "expect": [{{"arg": 1, "value": "{value}.npy", "match": "{how}"}}]}}"#
        );
        fs::write(dir.path().join("launch.json"), launch).unwrap();
        let (status, err) = tile_run(dir.path(), "--launch @launch.json");
        assert_eq!(status, if message.is_empty() { 0 } else { 7 }, "{value} {how}: {err}");
        assert!(err.contains(message), "{value} {how}: {err}");
    }
    let launch = r#"{"kernel": "n.ptx", "args": [{"bytes": "f1ff7f"}, {"buffer": "good.npy"}]}"#;
    fs::write(dir.path().join("launch.json"), launch).unwrap();
    let (status, err) = tile_run(dir.path(), "--launch @launch.json");
    assert_eq!(status, 6);
    assert!(err.contains("argument 0 has 3 bytes, but its parameter has 4"), "{err}");
    let map = r#"{"tensor_map": "good.npy", "element": "u32", "dims": [32], "strides": [], "box": [300]}"#;
    let launch = format!(r#"{{"kernel": "n.ptx", "args": [{map}, {{"buffer": "good.npy"}}]}}"#);
    fs::write(dir.path().join("launch.json"), launch).unwrap();
    let (status, err) = tile_run(dir.path(), "--launch @launch.json");
    assert_eq!(status, 6);
    assert!(err.contains("the tensor map of good.npy: "), "{err}");
}

/// Everything that a description can express survives writing and reading.
#[test]
fn descriptions_are_written_as_they_are_read() {
    let dir = folder();
    let text = r#"{"kernel": "k.ptx", "entry": "saxpy", "grid": [2, 3], "block": [32], "cluster": [2, 1, 1],
        "dynamic_shared": 48, "launches": 3, "stdout": ["a", "b"], "note": "why",
        "args": [{"f32": 1.1}, {"i8": -3}, {"e4m3": "0x38"}, {"bytes": "00ff10"},
                 {"array": "x.npy", "index": "i64"}, {"buffer": "y.npy", "dtype": "u32"},
                 {"unwritten": [2, 5], "dtype": "bf16"}, {"list": [{"array": "x.npy"}, {"array": "y.npy"}]},
                 {"multicast": [{"array": "x.npy"}, {"array": "x.npy"}]},
                 {"tensor_map": "x.npy", "element": "f32", "dims": [20, 2], "strides": [80], "box": [4, 1], "steps": [1, 2],
                  "swizzle": 1, "fill": "nan"}],
        "expect": [{"arg": 4, "value": "x.npy", "rtol": 0.5, "atol": 1e-9, "bad": 0.25},
                   {"arg": 5, "value": "y.npy", "match": "bits"}, {"arg": 9, "value": "y.npy", "match": "bits_or_nan"},
                   {"arg": 8, "value": ["x.npy", "x.npy"], "match": "bits"},
                   {"arg": 7, "value": ["x.npy", "y.npy"], "match": "sorted"}]}"#;
    let mut launch = Launch::parse(text.as_bytes(), dir.path()).unwrap();
    let copy = dir.path().join("copy");
    launch.kernel = Some(copy.join("k.ptx"));
    launch.write(&copy).unwrap();
    let again = Launch::read(&copy.join("launch.json")).unwrap();
    // Files are named after their argument; an array without a file has no name.
    let mut names = again.args.iter().flat_map(Argument::arrays).map(|a| a.name.as_str()).collect::<Vec<_>>();
    names.sort_unstable();
    assert_eq!(
        names,
        ["arg4.npy", "arg5.npy", "arg7_0.npy", "arg7_1.npy", "arg8_0.npy", "arg8_1.npy", "arg9.npy", "unwritten.npy"]
    );
    let nameless = |launch: &Launch| {
        let mut launch = launch.clone();
        for argument in &mut launch.args {
            match argument {
                Argument::Array(a) | Argument::Buffer(a) | Argument::TensorMap { of: a, .. } => a.name.clear(),
                Argument::List(list) | Argument::Multicast(list) => list.iter_mut().for_each(|a| a.name.clear()),
                Argument::Scalar { .. } | Argument::Bytes(_) => {}
            }
        }
        launch
    };
    assert_eq!(nameless(&again), nameless(&launch));
}

#[test]
fn bad_command_lines() {
    let dir = folder();
    fs::write(dir.path().join("bad.mlir"), "bad").unwrap();
    fs::write(dir.path().join("bad.ptx"), ".version 8.8\n.target sm_90\n.visible .entry k() { frob; }").unwrap();
    fs::write(dir.path().join("binary.ptx"), [0xff, 0xfe, 0x00]).unwrap();
    fs::write(dir.path().join("nothing.ptx"), ".version 8.8\n.target sm_90\n.address_size 64\n").unwrap();
    fs::write(dir.path().join("empty.ptx"), "").unwrap();
    fs::write(dir.path().join("what.bin"), "hello").unwrap();
    fs::write(dir.path().join("bad.npy"), "hello").unwrap();
    let entry = |head: &str, body: &str| format!("{head}.visible .entry k() {{ {body} }}");
    let head = ".version 8.8\n.target sm_90\n.address_size 64\n";
    fs::write(dir.path().join("free.ptx"), entry(head, "ret;")).unwrap();
    fs::write(dir.path().join("loop.ptx"), entry(head, "L: bra L;").replace("k()", "k() .reqntid 32")).unwrap();
    fs::write(dir.path().join("big.ptx"), entry(&format!("{head}.global .b64 x[0x7fffffff];"), "ret;")).unwrap();
    let table = [
        ("", 1, "no kernel given"),
        ("@k.ptx", 1, "no --grid"),
        ("@k.ptx --grid", 1, "--grid needs a value"),
        ("@k.ptx --grid x", 1, "'x' is not a number"),
        ("@k.ptx --grid 1,2,3,4", 1, "more than three"),
        ("@k.ptx --grid 0", 1, "empty dimension"),
        ("@k.ptx --grid -1", 1, "'-1' is not a number"),
        ("@k.ptx --grid 99999999999", 1, "not a number in range"),
        ("@k.ptx --grid 4294967295,4294967295,4294967295 f32:2 @x.npy @y.npy", 6, "exceeds [2147483647, 65535, 65535]"),
        ("@k.ptx --grid 1 --block 65536,65536,65536 f32:2 @x.npy @y.npy", 6, "differs from .reqntid"),
        ("@free.ptx --grid 1 --block 65536,65536,65536", 6, "(must be 1 to 1024)"),
        ("@free.ptx --grid 1", 6, "no block size given"),
        ("@free.ptx --grid 1,1,70000 --block 1", 6, "exceeds [2147483647, 65535, 65535]"),
        ("@free.ptx --grid 1 --block 1 i32:1", 6, "1 entry parameters (i32: 1) for entry 'k', which has 0"),
        ("@big.ptx --grid 1", 6, "variables take more than 4 GiB"),
        ("@k.ptx --grid 2 f32:2 @x.npy @", 1, "neither FILE.npy nor TYPE:VALUE"),
        ("@ --grid 2", 1, "Is a directory"),
        ("--launch @", 1, "Is a directory"),
        ("@k.ptx --grid 2 --launch", 1, "--launch needs a value"),
        ("@k.ptx --grid 1 --max-time 0 f32:2 @x.npy @y.npy", 6, "the time limit was reached"),
        ("@loop.ptx --grid 1 --max-time 0.2", 6, "the time limit was reached"),
        ("@free.ptx --grid 2147483647,65535,65535 --block 1 --max-time 0.2", 6, "the time limit was reached"),
        ("@k.ptx --grid 1 --frob", 1, "unknown option '--frob'"),
        ("@k.ptx --grid 1 --stats=yes", 1, "takes no value"),
        ("@k.ptx --grid 1 -O4", 1, "unknown level 4"),
        ("@k.ptx --grid 1 -Ox", 1, "not a number"),
        ("@k.ptx --grid 1 -O\u{e9}", 1, "not a number"),
        ("@k.ptx --grid 1 --gpu-name sm_1", 1, "unknown target 'sm_1'"),
        ("@k.ptx --grid 1 --adversarial 1,x", 1, "'x' is not a number"),
        ("@k.ptx --grid 1 --max-time -3", 1, "not a time"),
        ("@k.ptx --grid 1 --max-time nan", 1, "not a time"),
        ("@missing.ptx --grid 1", 1, "missing.ptx: No such file"),
        ("@k.ptx --grid 2 f32:2 @missing.npy", 1, "missing.npy: No such file"),
        ("@k.ptx --grid 2 f32:2 @bad.npy", 1, "not a .npy file"),
        ("@k.ptx --grid 2 f32:x", 1, "'x' is not a value of type f32"),
        ("@k.ptx --grid 2 i32:9999999999", 1, "out of the range of 32 bits"),
        ("@k.ptx --grid 2 g32:1", 1, "neither FILE.npy nor TYPE:VALUE"),
        ("@k.ptx --grid 2 f32", 1, "neither FILE.npy nor TYPE:VALUE"),
        ("@k.ptx --grid 2 @x.npy:bf16", 1, "elements of 4 bytes cannot be of type bf16"),
        ("--launch @missing.json", 1, "No such file"),
        ("--launch @k.ptx", 1, "expected value at line"),
        ("--launch @missing.json @k.ptx f32:1", 1, "unexpected argument 'f32:1'"),
        ("@what.bin --grid 1", 3, "does not correspond to Tile IR"),
        ("@bad.ptx --grid 1", 3, "unknown instruction 'frob'"),
        ("@binary.ptx --grid 1", 3, "not UTF-8"),
        ("@bad.mlir --grid 1", 5, "this is bad"),
        ("@nothing.ptx --grid 1", 6, "no entry"),
        ("@k.ptx --grid 1 --entry frob", 6, "no entry 'frob' in the kernel (it has: saxpy)"),
        ("@k.ptx --grid 2 f32:2 @x.npy", 6, "4 entry parameters (f32: 1, x.npy: 3) for entry 'saxpy', which has 7"),
        ("@k.ptx --grid 2 f64:2 @x.npy @y.npy", 6, "argument 0 has 8 bytes, but its parameter has 4"),
        ("@k.ptx --grid 2 f32:2 @x.npy:i64 @y.npy", 6, "argument 2 has 8 bytes, but its parameter has 4"),
        ("@k.ptx --grid 1 --block 64 f32:2 @x.npy @y.npy", 6, "differs from .reqntid"),
        ("@k.ptx --grid 1 --dynamic-shared 4000000000 f32:2 @x.npy @y.npy", 6, "bytes of shared memory"),
        ("@k.ptx --grid 1 --save-ptx @no/such/file f32:2 @x.npy @y.npy", 8, "No such file"),
        ("@k.ptx --grid 1 --out-dir @k.ptx f32:2 @x.npy @y.npy", 8, "exists"),
    ];
    for (words, status, message) in table {
        let (found, err) = tile_run(dir.path(), words);
        assert_eq!(found, status, "{words}: {err}");
        assert!(err.contains(message), "{words}: {err}");
    }
    // An empty module is an error, however it is interpreted.
    assert_ne!(tile_run(dir.path(), "@empty.ptx --grid 1").0, 0);
}

#[test]
fn bad_descriptions() {
    let dir = folder();
    let table = [
        ("", "EOF"),
        ("[]", "the description: expected an object"),
        (r#"{"frob": 1}"#, "unknown field 'frob'"),
        (r#"{"kernel": 1}"#, "kernel: expected a string"),
        (r#"{"grid": 5}"#, "grid: expected one to three"),
        (r#"{"grid": []}"#, "grid: expected one to three"),
        (r#"{"grid": [1, 0]}"#, "grid: expected one to three"),
        (r#"{"grid": [1.5]}"#, "grid: expected one to three"),
        (r#"{"dynamic_shared": -1}"#, "dynamic_shared: expected a size"),
        (r#"{"args": {}}"#, "args: expected a list"),
        (r#"{"args": [1]}"#, "args[0]: expected an object"),
        (r#"{"args": [{}]}"#, "args[0]: expected 'array'"),
        (r#"{"args": [{"f32": 1, "i32": 2}]}"#, "args[0]: expected 'array'"),
        (r#"{"args": [{"f31": 1}]}"#, "args[0]: unknown type 'f31'"),
        (r#"{"args": [{"i32": 1.5}]}"#, "args[0]: '1.5' is not a value of type i32"),
        (r#"{"args": [{"i32": [1]}]}"#, "args[0]: expected a number"),
        (r#"{"args": [{"array": 1}]}"#, "args[0]: expected a string"),
        (r#"{"args": [{"array": "x.npy", "dtype": "f16"}]}"#, "elements of 4 bytes cannot be of type f16"),
        (r#"{"args": [{"array": "x.npy", "index": "i16"}]}"#, "index type 'i16'"),
        (r#"{"args": [{"array": "x.npy", "frob": 1}]}"#, "unknown field 'frob'"),
        (r#"{"args": [{"list": 1}]}"#, "args[0]: expected a list of arrays"),
        (r#"{"args": [{"list": [{"f32": 1}]}]}"#, "args[0].list[0]: expected 'array'"),
        (r#"{"args": [{"multicast": {}}]}"#, "args[0]: expected a list of arrays"),
        (r#"{"args": [{"multicast": []}]}"#, "args[0]: expected at least one member"),
        (
            r#"{"args": [{"multicast": [{"array": "x.npy"}, {"array": "x.npy", "dtype": "u32"}]}]}"#,
            "args[0]: expected members of one shape and type",
        ),
        (r#"{"expect": [{"arg": 0, "value": "x.npy"}]}"#, "1 values for argument 0 with 0 arrays"),
        (r#"{"args": [{"array": "x.npy"}], "expect": [{"arg": 0}]}"#, "expect[0]: expected 'value'"),
        (r#"{"args": [{"array": "x.npy"}], "expect": [{"value": "x.npy"}]}"#, "expect[0]: expected 'arg'"),
        (r#"{"args": [{"array": "x.npy"}], "expect": [{"arg": 0, "value": "x.npy", "rtol": -1}]}"#, "rtol: expected"),
        (r#"{"stdout": "x"}"#, "stdout: expected a list"),
        (r#"{"launches": 0}"#, "launches: expected a positive number"),
        (r#"{"launches": 1.5}"#, "launches: expected an integer"),
        (r#"{"cluster": [0]}"#, "cluster: expected one to three"),
        (r#"{"note": 1}"#, "note: expected a string"),
        (r#"{"args": [{"buffer": "missing.npy"}]}"#, "missing.npy: No such file"),
        (r#"{"args": [{"buffer": "x.npy", "unwritten": [1]}]}"#, "either 'buffer' or 'unwritten'"),
        (r#"{"args": [{"unwritten": [1]}]}"#, "'dtype' with 'unwritten'"),
        (r#"{"args": [{"unwritten": 1, "dtype": "f32"}]}"#, "args[0]: expected a list of numbers"),
        (r#"{"args": [{"unwritten": [-1], "dtype": "f32"}]}"#, "args[0]: expected integers"),
        (r#"{"args": [{"unwritten": [4294967296, 4294967296], "dtype": "f32"}]}"#, "a smaller array"),
        (r#"{"args": [{"unwritten": [99999999999], "dtype": "f32"}]}"#, "a smaller array"),
        (r#"{"args": [{"bytes": "0"}]}"#, "bytes in hexadecimal"),
        (r#"{"args": [{"bytes": "0g"}]}"#, "bytes in hexadecimal"),
        (r#"{"args": [{"bytes": "00", "f32": 1}]}"#, "unknown field 'f32'"),
        (r#"{"args": [{"tensor_map": "x.npy"}]}"#, "args[0].element: expected a string"),
        (r#"{"args": [{"tensor_map": "x.npy", "element": "f31"}]}"#, "unknown element type 'f31'"),
        (r#"{"args": [{"tensor_map": "x.npy", "element": "f32"}]}"#, "'dims', a list of numbers"),
        (
            r#"{"args": [{"tensor_map": "x.npy", "element": "f32", "dims": [40], "strides": [], "box": [-1]}]}"#,
            "integers",
        ),
        (
            r#"{"args": [{"tensor_map": "x.npy", "element": "f32", "dims": [40], "strides": [], "box": [4], "fill": "x"}]}"#,
            "fill 'x'",
        ),
        (
            r#"{"args": [{"array": "x.npy"}], "expect": [{"arg": 0, "value": "x.npy", "match": "x"}]}"#,
            "match 'x' (expected value, bits",
        ),
        (
            r#"{"args": [{"array": "x.npy"}], "expect": [{"arg": 0, "value": "x.npy", "match": "bits", "rtol": 1}]}"#,
            "a tolerance with 'value' only",
        ),
        (r#"{"grid": [1]}"#, "no kernel given"),
    ];
    for (text, message) in table {
        fs::write(dir.path().join("launch.json"), text).unwrap();
        let (status, err) = tile_run(dir.path(), "--launch @launch.json");
        assert_eq!(status, 1, "{text}: {err}");
        assert!(err.contains(message), "{text}: {err}");
    }
}

/// Every prefix of a description and of an array, and both with every byte replaced, are either read or rejected.
#[test]
fn damaged_files_are_refused_or_read() {
    let dir = folder();
    let text = br#"{"kernel": "k.ptx", "grid": [2, 1], "launches": 2, "args": [{"f32": 1.5}, {"bytes": "00ff"},
        {"array": "x.npy", "dtype": "u32", "index": "i64"}, {"unwritten": [3, 4], "dtype": "f16"},
        {"tensor_map": "x.npy", "element": "f32", "dims": [20, 2], "strides": [80], "box": [4, 1], "swizzle": 1}],
        "expect": [{"arg": 2, "value": "x.npy", "rtol": 1e-5, "match": "value"}], "stdout": ["a"]}"#;
    assert!(Launch::parse(text, dir.path()).is_ok());
    let array = fs::read(dir.path().join("x.npy")).unwrap();
    assert!(Array::parse(&array).is_ok());
    let damage = |whole: &[u8], read: &dyn Fn(&[u8])| {
        for n in 0..whole.len() {
            read(&whole[..n]);
            for byte in [b'"', b'{', b']', b'9', b'-', b',', 0, 0xff] {
                let mut damaged = whole.to_vec();
                damaged[n] = byte;
                read(&damaged);
            }
        }
    };
    damage(text, &|text| drop(Launch::parse(text, dir.path())));
    damage(&array, &|bytes| drop(Array::parse(bytes)));
}

/// Every prefix of a program, and the program with every byte replaced, is either parsed or rejected.
#[test]
fn damaged_programs_are_refused_or_parsed() {
    for n in 0..SAXPY.len() {
        let prefix = &SAXPY[..n];
        let _ = ptx_sim::Module::parse(prefix);
        for byte in ['.', '%', '{', '}', '9', '"', ','] {
            let damaged = format!("{prefix}{byte}{}", &SAXPY[n + 1..]);
            let _ = ptx_sim::Module::parse(&damaged);
        }
    }
}

/// Stores the extent of each array in a list of rank-1 arrays into the array's first element, one thread per array.
const EXTENTS: &str = "
.version 8.8
.target sm_90
.address_size 64
.visible .entry extents(.param .u64 list, .param .u32 length) .reqntid 32
{
    .reg .pred %p<2>;
    .reg .b32 %r<3>;
    .reg .b64 %rd<6>;
    ld.param.b64 %rd1, [list];
    ld.param.b32 %r1, [length];
    mov.u32 %r2, %tid.x;
    setp.ge.s32 %p1, %r2, %r1;
    @%p1 bra done;
    mul.wide.s32 %rd2, %r2, 24;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.b64 %rd4, [%rd3];
    ld.global.b64 %rd5, [%rd3+8];
    st.global.b64 [%rd4], %rd5;
done:
    ret;
}
";

#[test]
fn lists_pass_descriptors() {
    let dir = folder();
    fs::write(dir.path().join("list.ptx"), EXTENTS).unwrap();
    for n in [2usize, 3, 5] {
        let array = Array { descr: "i8".into(), shape: vec![n as u64], fortran: false, data: vec![0; 8 * n] };
        array.write(&dir.path().join(format!("a{n}.npy"))).unwrap();
    }
    let launch = r#"{"kernel": "list.ptx", "args": [
                     {"list": [{"array": "a2.npy"}, {"array": "a3.npy"}, {"array": "a5.npy"}]}]}"#;
    fs::write(dir.path().join("launch.json"), launch).unwrap();
    assert_eq!(tile_run(dir.path(), "--launch @launch.json --out-dir @out"), (0, String::new()));
    for n in [2u64, 3, 5] {
        let array = Array::read(&dir.path().join(format!("out/a{n}.npy"))).unwrap();
        assert_eq!(array.data[..8], n.to_le_bytes());
    }
}

/// With `--timing-run`, a kernel that reads its clock sees the predicted time: here that of a chain of additions, in
/// each warp of each block.
#[test]
fn timed_kernels_read_predicted_clocks() {
    let chain = "add.rn.f32 %f1, %f1, 0f3F800000;\n".repeat(100);
    let kernel = format!(
        ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out) .reqntid 64 {{\n\
         .reg .f32 %f<2>;\n.reg .b32 %r<4>;\n.reg .b64 %d<8>;\n\
         ld.param.u64 %d1, [out];\ncvta.to.global.u64 %d1, %d1;\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n\
         mad.lo.u32 %r3, %r2, 64, %r1;\nmul.wide.u32 %d2, %r3, 8;\nadd.u64 %d1, %d1, %d2;\n\
         cvt.rn.f32.u32 %f1, %r1;\nmov.u64 %d3, %clock64;\n{chain}cvt.rzi.u64.f32 %d5, %f1;\n\
         mov.u64 %d4, %clock64;\nsub.u64 %d6, %d4, %d3;\nmul.lo.u64 %d6, %d6, 1000;\nadd.u64 %d6, %d6, %d5;\n\
         st.global.u64 [%d1], %d6;\nret;\n}}\n"
    );
    let dir = folder();
    fs::write(dir.path().join("chain.ptx"), kernel).unwrap();
    let latency = tile_machine::Machine::named("sm_90").unwrap().get("latency.fma").unwrap();
    let clocks = |words: &str| {
        let line = format!("@chain.ptx --grid 3 zeros:u64:192:ptr --out-dir @out {words}");
        assert_eq!(tile_run(dir.path(), &line), (0, String::new()));
        let array = Array::read(&dir.path().join("out/zeros.npy")).unwrap();
        let numbers: Vec<u64> = array.data.chunks(8).map(|b| u64::from_le_bytes(b.try_into().unwrap())).collect();
        // The result is the same as without a prediction.
        assert!(numbers.iter().enumerate().all(|(i, n)| n % 1000 == i as u64 % 64 + 100));
        numbers.into_iter().map(|n| n / 1000).collect::<Vec<_>>()
    };
    assert!(clocks("").iter().all(|n| *n == 102), "instructions");
    let predicted = clocks("--timing --timing-run");
    let least = 100.0 * latency;
    assert!(predicted.iter().all(|n| (least..least + 40.0).contains(&(*n as f64))), "{predicted:?}");
    assert_eq!(tile_run(dir.path(), "@k.ptx --grid 1 --timing-run").0, 1);
}

/// `--timing` predicts instead of running, and writes the prediction in all formats.
#[test]
fn timing_predicts_and_writes_files() {
    let dir = folder();
    let launch = "@k.ptx --grid 4096 f32:2 zeros:f32:131072 zeros:f32:131072";
    let files = "--timing-json @t.json --timing-trace @t.trace --timing-html @t.html";
    let (status, err) = tile_run(dir.path(), &format!("{launch} --timing {files}"));
    assert_eq!(status, 0, "{err}");
    let file = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap();
    let json: serde_json::Value = serde_json::from_str(&file("t.json")).unwrap();
    // The launch overhead plus 1.5 MiB at memory bandwidth, and not many times more.
    let us = json["us"].as_f64().unwrap();
    assert!((1.5..20.0).contains(&us), "{us}");
    assert_eq!(json["resident"], 32);
    let (status, err) = tile_run(dir.path(), &format!("{launch} --timing=sm_80 --timing-clock sustained"));
    assert!(status != 0 && err.contains("machine sm_80 has no number 'power."), "{err}");
    assert!(json["power"]["watts"].as_f64().unwrap() > 100.0, "{}", json["power"]);
    assert!(file("t.html").contains("<svg") && file("t.trace").contains("traceEvents"));

    for (words, message) in [
        ("--timing=sm_1", "unknown machine 'sm_1'; known machines: sm_80, sm_86"),
        ("--registers 8", "need --timing"),
        ("--timing-clock 1500", "need --timing"),
        ("--timing --timing-clock slow", "unknown clock 'slow'"),
        ("--timing zeros:f33:8", "is not zeros:TYPE:NxM"),
    ] {
        let (status, err) = tile_run(dir.path(), &format!("{launch} {words}"));
        assert_eq!(status, 1, "{words}: {err}");
        assert!(err.contains(message), "{words}: {err}");
    }
}
