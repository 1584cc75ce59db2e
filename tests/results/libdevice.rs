//! Mathematical functions from NVIDIA's libdevice (`--libdevice`).
//!
//! The accuracy of both libraries is measured on the simulator, with code compiled by the whole compiler, and printed
//! as one table. If libdevice is not available (`scripts/setup.sh` fetches it), tests that do not need the real one
//! use a library of our own with the same names.

use std::{
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};
use tile_interface::{CompileRequest, Compiler, InputKind};
use tile_rtlib::{Float, Function, Math, Mode};
use tile_rtlib_tests::{
    Stream,
    arguments::{argument, pair},
    error_f32,
    oracle::{Oracle, exact_f32},
};
use tile_targets::Target;
use tile_test_support::{Trial, functions, root, simulate};
use tileiras::compile::InProcess;

use simulate::{Input, run};

fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// NVIDIA's file, if it is available.
fn nvidia() -> Option<PathBuf> {
    let file = root().join(".tools/nvvm/libdevice/libdevice.10.bc");
    if !file.is_file() {
        println!("skipped: no libdevice in .tools/nvvm; scripts/fetch-nvvm.sh brings it");
    }
    Some(file).filter(|f| f.is_file())
}

/// The functions that both libraries have.
fn functions(float: Float) -> Vec<(Function, Math)> {
    let full = |f: Function| match f {
        Function::Math { operation, float: of, mode: Mode::Full } if of == float => Some((f, operation)),
        _ => None,
    };
    Function::all().into_iter().filter(|f| f.libdevice().is_some()).filter_map(full).collect()
}

/// The name of the operation in the public language.
fn spelling(operation: Math) -> &'static str {
    match operation {
        Math::Exp => "exp %x",
        Math::Exp2 => "exp2 %x",
        Math::Log => "log %x",
        Math::Log2 => "log2 %x",
        Math::Sin => "sin %x",
        Math::Cos => "cos %x",
        Math::Tan => "tan %x",
        Math::Sinh => "sinh %x",
        Math::Cosh => "cosh %x",
        Math::Tanh => "tanh %x",
        Math::Pow => "pow %x, %y",
        Math::Atan2 => "atan2 %x, %y",
        Math::Remf => "remf %x, %y",
        Math::Rsqrt => "rsqrt %x",
        Math::Sqrt | Math::Div => unreachable!("these are instructions"),
    }
}

const TILE: usize = 128;
const BLOCKS: usize = 8;
/// The number of arguments for each function.
const COUNT: usize = TILE * BLOCKS;

/// A kernel that computes function `k` at its own arguments, which start at `k * COUNT`.
fn kernel(float: Float, functions: &[(Function, Math)]) -> String {
    let ty = if float == Float::F32 { "f32" } else { "f64" };
    let total = functions.len() * COUNT;
    let view = format!("tensor_view<{total}x{ty}, strides=[1]>");
    let part = format!("partition_view<tile=({TILE}), {view}>");
    let mut text = format!(
        "cuda_tile.module @m {{\n  entry @k(%p0: tile<ptr<{ty}>>, %p1: tile<ptr<{ty}>>, %p2: tile<ptr<{ty}>>) {{\n"
    );
    for i in 0..3 {
        let _ = writeln!(text, "    %t{i} = make_tensor_view %p{i}, shape = [{total}], strides = [1] : {view}");
        let _ = writeln!(text, "    %v{i} = make_partition_view %t{i} : {part}");
    }
    let _ = writeln!(text, "    %bx, %by, %bz = get_tile_block_id : tile<i32>");
    for (k, (_, operation)) in functions.iter().enumerate() {
        let call = spelling(*operation).replace("%x", &format!("%x{k}")).replace("%y", &format!("%y{k}"));
        let tile = format!("tile<{TILE}x{ty}>");
        let _ = writeln!(text, "    %c{k} = constant <i32: {}> : tile<i32>", k * BLOCKS);
        let _ = writeln!(text, "    %i{k} = addi %bx, %c{k} : tile<i32>");
        for (name, view) in [("x", 0), ("y", 1)] {
            let _ = writeln!(
                text,
                "    %{name}{k}, %{name}t{k} = load_view_tko weak %v{view}[%i{k}] : {part}, tile<i32> -> {tile}, token"
            );
        }
        let _ = writeln!(text, "    %r{k} = {call} : {tile}");
        let _ =
            writeln!(text, "    %s{k} = store_view_tko weak %r{k}, %v2[%i{k}] : {tile}, {part}, tile<i32> -> token");
    }
    text + "    return\n  }\n}\n"
}

fn compile(text: &str, level: u8, libdevice: Option<PathBuf>) -> Result<String, String> {
    let request = CompileRequest {
        input_name: "functions.mlir",
        opt_level: level,
        libdevice,
        ..CompileRequest::new(text.as_bytes(), InputKind::Text, Target::by_name("sm_90").expect("a target"))
    };
    let mut messages = String::new();
    let output = InProcess.compile(&request, &mut |d| messages.push_str(&format!("\n{d:?}")));
    output.map(|o| o.text).map_err(|e| format!("{e}{messages}"))
}

/// The arguments at which each function is evaluated.
fn arguments(float: Float, functions: &[(Function, Math)]) -> Vec<(f64, f64)> {
    let mut stream = Stream::new(41);
    let (low, high, bits) = if float == Float::F32 { (-149, 128, 24) } else { (-1074, 1024, 53) };
    let mut list = vec![];
    for (function, operation) in functions {
        let two = function.signature().parameters.len() == 2;
        let mut index = 0;
        let begin = list.len();
        while list.len() < begin + COUNT {
            let (x, y) = match (two, float) {
                (true, _) => pair(*operation, index, &mut stream, low, high, bits),
                (false, Float::F64) => (argument(*operation, index, &mut stream), 1.0),
                (false, Float::F32) => (in_single(*operation, index, &mut stream), 1.0),
            };
            let (x, y) = if float == Float::F32 { (f64::from(x as f32), f64::from(y as f32)) } else { (x, y) };
            // Other tests check special values.
            if x.is_finite() && y.is_finite() && x != 0.0 && y != 0.0 {
                list.push((x, y));
            }
            index += 1;
        }
    }
    list
}

/// Half of the arguments are from the range in which the f32 function varies, and half are of any size.
fn in_single(operation: Math, index: u32, stream: &mut Stream) -> f64 {
    let x = match (operation, index % 4) {
        (Math::Log | Math::Log2, 0) => stream.between(0.5, 2.0),
        (Math::Sin | Math::Cos | Math::Tan, 0) => stream.between(-4.0, 4.0),
        (Math::Sin | Math::Cos | Math::Tan, 1) => stream.between(0.0, 200_000.0).floor() * std::f64::consts::FRAC_PI_2,
        (Math::Exp | Math::Sinh | Math::Cosh, 0 | 1) => stream.between(-104.0, 89.0),
        (Math::Exp2, 0 | 1) => stream.between(-150.0, 129.0),
        (Math::Tanh, 0 | 1) => stream.between(-3.0, 3.0),
        _ => stream.spread(-149, 128),
    };
    if matches!(operation, Math::Log | Math::Log2 | Math::Rsqrt) { x.abs() } else { x }
}

/// Evaluates the functions at the arguments on the simulator.
fn results(ptx: &str, float: Float, arguments: &[(f64, f64)]) -> Vec<f64> {
    let bytes = |x: f64| -> Vec<u8> {
        if float == Float::F32 { (x as f32).to_le_bytes().into() } else { x.to_le_bytes().into() }
    };
    let size = bytes(0.0).len();
    let column = |pick: fn(&(f64, f64)) -> f64| Input::Buffer(arguments.iter().flat_map(|a| bytes(pick(a))).collect());
    let inputs = [column(|a| a.0), column(|a| a.1), Input::Buffer(vec![0; arguments.len() * size])];
    let (buffers, _) = run(ptx, "k", BLOCKS as u32, &inputs, None).unwrap_or_else(|e| panic!("{e}"));
    let number = |b: &[u8]| match float {
        Float::F32 => f64::from(f32::from_le_bytes(b.try_into().expect("four bytes"))),
        Float::F64 => f64::from_le_bytes(b.try_into().expect("eight bytes")),
    };
    buffers[2].chunks(size).map(number).collect()
}

/// The largest error of each function in units in the last place.
fn errors(functions: &[(Function, Math)], float: Float, arguments: &[(f64, f64)], results: &[f64]) -> Vec<f64> {
    let mut judge = Oracle::new().expect("constants of the oracle");
    let mut error = |operation, (x, y), got| match float {
        Float::F32 => error_f32(got as f32, exact_f32(operation, x, y)),
        Float::F64 => judge.error(operation, x, y, got),
    };
    let parts = arguments.chunks(COUNT).zip(results.chunks(COUNT));
    let largest = parts.zip(functions).map(|((arguments, results), (_, operation))| {
        arguments.iter().zip(results).map(|(a, got)| error(*operation, *a, *got)).fold(0.0, f64::max)
    });
    largest.collect()
}

fn libdevice_and_our_library_keep_their_bounds() {
    let Some(libdevice) = nvidia() else { return };
    let (mut table, mut wrong) =
        (String::from("| function | bound | measured | libdevice | bound | measured |\n"), vec![]);
    table.push_str("|---|---|---|---|---|---|\n");
    for float in [Float::F32, Float::F64] {
        let functions = functions(float);
        assert_eq!(functions.len(), 14);
        let (text, arguments) = (kernel(float, &functions), arguments(float, &functions));
        let measured = |library: Option<&PathBuf>| {
            let ptx = compile(&text, 3, library.cloned()).unwrap_or_else(|e| panic!("{e}"));
            assert!(!ptx.contains("__nvvm_reflect"), "a question of libdevice is left");
            let results = results(&ptx, float, &arguments);
            (errors(&functions, float, &arguments, &results), results)
        };
        let ((ours, our_bits), (theirs, their_bits)) = (measured(None), measured(Some(&libdevice)));
        assert!(
            our_bits != their_bits,
            "the results of both libraries are the same bits: was one of them linked twice?"
        );
        for ((function, _), (ours, theirs)) in functions.iter().zip(ours.into_iter().zip(theirs)) {
            let name = function.libdevice().expect("listed for it");
            let bound = function.ulp_bound().expect("full functions have one");
            let their_bound = function.libdevice_bound().expect("listed for it");
            let _ = writeln!(table, "| `{function}` | {bound} | {ours:.3} | `{name}` | {their_bound} | {theirs:.3} |");
            // NVIDIA measures from the correctly rounded result.
            let half = if their_bound > 0.0 { 0.5 } else { 0.0 };
            if ours > bound || theirs > their_bound + half {
                wrong.push(name);
            }
        }
    }
    println!("{table}");
    assert!(wrong.is_empty(), "beyond its bound: {wrong:?}\n{table}");
}

/// The library is linked at each level, and half precision uses it too.
fn every_level_links_libdevice() {
    let Some(libdevice) = nvidia() else { return };
    let text = "cuda_tile.module @m {
  entry @k(%p: tile<ptr<f16>>) {
    %a, %at = load_ptr_tko weak %p : tile<ptr<f16>> -> tile<f16>, token
    %b = sinh %a : tile<f16>
    %s = store_ptr_tko weak %p, %b : tile<ptr<f16>>, tile<f16> -> token
    return
  }
}
";
    for level in 0..=3 {
        let [ours, theirs] = [None, Some(libdevice.clone())]
            .map(|l| compile(text, level, l).unwrap_or_else(|e| panic!("-O{level}: {e}")));
        assert!(ours != theirs, "-O{level}: libdevice changes nothing");
        assert!(!theirs.contains("__nv_sinhf") && !theirs.contains("__nvvm_reflect"), "-O{level}: {theirs}");
        // 1.0 is 0x3c00. sinh(1) is 1.1752, and the nearest f16 is 0x3cb3.
        let (buffers, _) =
            run(&theirs, "k", 1, &[Input::Buffer(vec![0, 0x3c])], None).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(buffers[0], [0xb3, 0x3c], "-O{level}");
    }
}

/// Assembles LLVM IR to bitcode with LLVM's own tool.
fn bitcode(name: &str, text: &str) -> PathBuf {
    let (source, file) = (scratch(&format!("{name}.ll")), scratch(&format!("{name}.bc")));
    fs::write(&source, text).unwrap();
    let tool = Path::new(env!("MLIR_SYS_210_PREFIX")).join("bin/llvm-as");
    assert!(Command::new(tool).arg(&source).arg("-o").arg(&file).status().unwrap().success());
    file
}

/// A function with the name of a libdevice function. It queries whether to flush subnormals.
const STAND_IN: &str = "
@flush = private unnamed_addr constant [11 x i8] c\"__CUDA_FTZ\\00\"
declare i32 @__nvvm_reflect(ptr)
define float @__nv_sinf(float %x) alwaysinline {
  %ask = call i32 @__nvvm_reflect(ptr @flush)
  %flushes = icmp ne i32 %ask, 0
  br i1 %flushes, label %yes, label %no
yes:
  ret float 1.0
no:
  %r = fadd float %x, 4.0e+01
  ret float %r
}
";

const SINE_AND_CAST: &str = "cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>) {
    %a, %at = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token
    %b = sin %a : tile<f32>
    %c = ftof %b : tile<f32> -> tile<f8E5M2>
    %d = ftof %c : tile<f8E5M2> -> tile<f32>
    %s = store_ptr_tko weak %p, %d : tile<ptr<f32>>, tile<f32> -> token
    return
  }
}
";

/// The given file is linked instead of our functions. Our library still provides what the file lacks, and the
/// reflection queries of the file are resolved.
fn a_library_with_the_names_of_libdevice_is_linked() {
    let library = bitcode("stand-in", STAND_IN);
    for level in [0, 3] {
        let ptx = compile(SINE_AND_CAST, level, Some(library.clone())).unwrap_or_else(|e| panic!("{e}"));
        let input = Input::Buffer(2f32.to_le_bytes().into());
        let (buffers, _) = run(&ptx, "k", 1, &[input], None).unwrap_or_else(|e| panic!("{e}\n{ptx}"));
        // 2 + 40 rounds to 40 in f8E5M2, whose numbers are 8 apart here.
        assert_eq!(buffers[0], 40f32.to_le_bytes(), "-O{level}");
    }
}

fn tileiras(arguments: &[&str], environment: &[(&str, &Path)]) -> Output {
    let input = scratch("libdevice-sine.mlir");
    fs::write(&input, SINE_AND_CAST).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_tileiras"));
    command.env_remove("CUDA_ROOT").env_remove("CUDA_PATH").env_remove("CUDA_HOME");
    command.envs(environment.iter().copied()).arg(input).args(["--gpu-name=sm_90", "--emit=llvm", "-o", "-"]);
    command.args(arguments).output().unwrap()
}

/// The file comes from the option, or from the toolkit that an environment variable names.
fn libdevice_is_taken_from_the_option_or_the_cuda_root() {
    let library = bitcode("stand-in-root", STAND_IN);
    let cuda = scratch("cuda-root");
    fs::create_dir_all(cuda.join("nvvm/libdevice")).unwrap();
    fs::copy(&library, cuda.join("nvvm/libdevice/libdevice.10.bc")).unwrap();
    let named = format!("--libdevice={}", library.display());
    for (arguments, environment) in [
        (named.as_str(), vec![]),
        ("--libdevice", vec![("CUDA_HOME", cuda.as_path())]),
        ("--libdevice", vec![("CUDA_ROOT", &cuda)]),
    ] {
        let output = tileiras(&[arguments], &environment);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("4.000000e+01"), "{arguments}: {output:?}");
    }
    let without = tileiras(&[], &[("CUDA_HOME", &cuda)]);
    assert!(without.status.success() && !String::from_utf8_lossy(&without.stdout).contains("4.000000e+01"));
}

fn what_is_no_libdevice_is_an_error() {
    let wrong_type = bitcode("wrong-type", "define double @__nv_sinf(double %x) {\n  ret double %x\n}\n");
    let cases = [
        (root().join("Cargo.toml"), 2, "error: libdevice '{}' cannot be read: "),
        (
            bitcode("empty", ""),
            2,
            "error: '{}' is not NVIDIA's libdevice: it has no function __nv_sinf of the expected type",
        ),
        (wrong_type, 2, "error: '{}' is not NVIDIA's libdevice: it has no function __nv_sinf of the expected type"),
        (
            scratch("nowhere.bc"),
            4,
            "error: libdevice, NVIDIA's library of math functions, was not found\nnote: looked for '{}' (--libdevice)",
        ),
    ];
    for (file, status, message) in cases {
        let output = tileiras(&[&format!("--libdevice={}", file.display())], &[]);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{text}");
        assert!(text.contains(&message.replace("{}", &file.display().to_string())), "{text}");
    }
}

pub fn trials() -> Vec<Trial> {
    functions![
        libdevice_and_our_library_keep_their_bounds,
        every_level_links_libdevice,
        a_library_with_the_names_of_libdevice_is_linked,
        libdevice_is_taken_from_the_option_or_the_cuda_root,
        what_is_no_libdevice_is_an_error
    ]
}
