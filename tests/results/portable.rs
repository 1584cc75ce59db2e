//! Functions with `numerics=portable` and `numerics=pinned`.
//!
//! * `portable/NAME/TYPE`: a function has the bits of the reference interpreter on every target, at arguments of all
//!   magnitudes, with subnormal numbers, infinities and NaN;
//! * `portable/libdevice`: NVIDIA's library is rejected;
//! * `portable/constants/MODE`: the bits of functions of constants are the same at all levels.

use std::time::Duration;
use tile_fuzz::case::{Case, Parameter};
use tile_interface::{CompileError, CompileRequest, Compiler, InputKind};
use tile_interp::{machine::Limits, types::Number};
use tile_targets::Target;
use tile_test_support::{Failed, Trial};
use tileiras::{
    compile,
    fuzz::differential::{Configuration, compare},
};

/// The elements of a tile.
const COUNT: usize = 2048;

/// The op of `%x` and `%y`, and the types for which the language has it.
const FUNCTIONS: &[(&str, &str, &[Number])] = &[
    ("exp", "exp %x", &[Number::F32, Number::F16, Number::Bf16]),
    ("exp_approx", "exp %x rounding<approx>", &[Number::F32]),
    ("exp2", "exp2 %x", &[Number::F32, Number::F16, Number::Bf16]),
    ("exp2_flush", "exp2 %x flush_to_zero", &[Number::F32]),
    ("tanh", "tanh %x", &[Number::F32, Number::F16, Number::Bf16]),
    ("tanh_approx", "tanh %x rounding<approx>", &[Number::F32]),
    ("rsqrt", "rsqrt %x", &[Number::F32, Number::F16, Number::Bf16]),
    ("rsqrt_flush", "rsqrt %x flush_to_zero", &[Number::F32]),
    ("sqrt_approx", "sqrt %x rounding<approx>", &[Number::F32]),
    ("sqrt_approx_flush", "sqrt %x rounding<approx> flush_to_zero", &[Number::F32]),
    ("div_approx", "divf %x, %y rounding<approx>", &[Number::F32]),
    ("div_approx_flush", "divf %x, %y rounding<approx> flush_to_zero", &[Number::F32]),
    ("div_full", "divf %x, %y rounding<full>", &[Number::F32]),
    ("div_full_flush", "divf %x, %y rounding<full> flush_to_zero", &[Number::F32]),
];

const PORTABLE: &[(&str, &str)] = &[("numerics", "portable")];

/// The targets with a level each.
const BUILDS: &[(&str, u8)] = &[("sm_80", 0), ("sm_90", 3), ("sm_100", 2), ("sm_120", 1)];

pub fn trials() -> Vec<Trial> {
    let mut trials = vec![];
    for &(name, op, types) in FUNCTIONS {
        for &n in types {
            trials.push(Trial::test(format!("portable/{name}/{n}"), move || agrees(op, n)));
        }
    }
    for mode in ["pinned", "portable"] {
        trials.push(Trial::test(format!("portable/constants/{mode}"), move || constants(mode)));
    }
    trials.push(Trial::test("portable/libdevice", libdevice_is_rejected));
    trials
}

/// The functions of libdevice have other bits on each GPU.
fn libdevice_is_rejected() -> Result<(), Failed> {
    let text = program("exp %x", Number::F32);
    let options = PORTABLE.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect::<Vec<_>>();
    let target = Target::by_name("sm_90").ok_or("no such target")?;
    let request = CompileRequest {
        pipeline_options: &options,
        libdevice: Some("libdevice.10.bc".into()),
        ..CompileRequest::new(text.as_bytes(), InputKind::Text, target)
    };
    match compile::InProcess.compile(&request, &mut |_| ()) {
        Err(CompileError::Configuration(why)) if why.contains("omit --libdevice") => Ok(()),
        other => Err(format!("{other:?}").into()),
    }
}

fn program(op: &str, n: Number) -> String {
    let (tensor, tile) = (format!("tensor_view<{COUNT}x{n}, strides=[1]>"), format!("tile<{COUNT}x{n}>"));
    let part = format!("partition_view<tile=({COUNT}), {tensor}>");
    let mut text = String::from("cuda_tile.module @m {\nentry @k(");
    text += &format!("%p0: tile<ptr<{n}>>, %p1: tile<ptr<{n}>>, %p2: tile<ptr<{n}>>) {{\n");
    text += "%z = constant <i32: 0> : tile<i32>\n";
    for i in 0..3 {
        text += &format!("%t{i} = make_tensor_view %p{i}, shape = [{COUNT}], strides = [1] : {tensor}\n");
        text += &format!("%v{i} = make_partition_view %t{i} : {part}\n");
    }
    for (i, name) in ["x", "y"].iter().enumerate() {
        text += &format!("%{name}, %k{i} = load_view_tko weak %v{i}[%z] : {part}, tile<i32> -> {tile}, token\n");
    }
    text += &format!("%r = {op} : {tile}\n");
    text += &format!("%s = store_view_tko weak %r, %v2[%z] : {tile}, {part}, tile<i32> -> token\n");
    text + "return\n}\n}\n"
}

/// Numbers of all magnitudes: random bits, then numbers around one, then special ones.
fn arguments(seed: u64, n: Number) -> Vec<u8> {
    let (mut state, width) = (seed, n.stored_bits());
    let (mantissa, bias) = match n {
        Number::F16 => (10, 15),
        Number::Bf16 => (7, 127),
        _ => (23, 127),
    };
    let special = [
        0,
        1,
        (1 << mantissa) - 1,
        1 << mantissa,
        bias << mantissa,
        (2 * bias + 1) << mantissa,
        (1 << (width - 1)) - 1,
    ];
    let mut bytes = vec![];
    for i in 0..COUNT as u64 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let random = state >> (64 - width);
        let sign = random >> (width - 1) << (width - 1);
        let bits = match i {
            0..64 => sign | special[i as usize % special.len()],
            64..1024 => random,
            // Exponents from -8 to 7.
            _ => sign | (bias - 8 + (random >> mantissa & 15)) << mantissa | random & ((1 << mantissa) - 1),
        };
        bytes.extend_from_slice(&bits.to_le_bytes()[..width as usize / 8]);
    }
    bytes
}

fn read(text: &str) -> Result<tile_interp::program::Program, Failed> {
    let mut said = String::new();
    let program = compile::program(text.as_bytes(), InputKind::Text, &mut |d| said += &tile_diag::render::plain(&d));
    program.map_err(|e| format!("{e}: {said}\n{text}").into())
}

fn agrees(op: &str, n: Number) -> Result<(), Failed> {
    let text = program(op, n);
    let buffer = |bytes| Parameter::Buffer { number: n, bytes };
    let zeros = vec![0; COUNT * n.stored_bits() as usize / 8];
    let parameters = vec![buffer(arguments(1, n)), buffer(arguments(2, n)), buffer(zeros)];
    let case = Case { program: read(&text)?, grid: [1, 1, 1], parameters };
    let limits = Limits { time: Some(Duration::from_secs(60)), canonical: true, portable: true, ..Limits::default() };
    let meaning = case.meaning(limits).map_err(|e| e.to_string())?;
    if meaning.buffers.iter().flatten().any(|s| s.is_unknown() || s.is_approximate(n)) {
        return Err("a result of the interpreter is not exact".into());
    }
    for &(name, level) in BUILDS {
        let target = Target::by_name(name).ok_or("no such target")?;
        let configuration = Configuration { target, level, adversarial: false, options: PORTABLE };
        compare(&case, &text, &meaning, &configuration, 1).map_err(|e| e.to_string())?;
    }
    Ok(())
}

/// MLIR would evaluate each of these functions by the C library of this machine, at the levels above 0.
fn constants(mode: &str) -> Result<(), Failed> {
    let functions =
        ["exp %c", "exp2 %c", "log %c", "log2 %c", "sin %c", "cos %c", "tan %c", "tanh %c", "rsqrt %c", "pow %c, %d"];
    let mut text = String::from("cuda_tile.module @m {\nentry @k(%p: tile<ptr<f32>>) {\n");
    text += "%c = constant <f32: 2.7> : tile<f32>\n%d = constant <f32: -1.3> : tile<f32>\n";
    for (i, function) in functions.iter().enumerate() {
        text += &format!("%i{i} = constant <i32: {i}> : tile<i32>\n%r{i} = {function} : tile<f32>\n");
        text += &format!("%q{i} = offset %p, %i{i} : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>\n");
        text += &format!("%s{i} = store_ptr_tko weak %q{i}, %r{i} : tile<ptr<f32>>, tile<f32> -> token\n");
    }
    text += "return\n}\n}\n";
    let zeros = Parameter::Buffer { number: Number::F32, bytes: vec![0; 4 * functions.len()] };
    let case = Case { program: read(&text)?, grid: [1, 1, 1], parameters: vec![zeros] };
    let options = [("numerics".to_owned(), mode.to_owned())];
    let mut first: Option<Vec<u8>> = None;
    for opt_level in 0..4 {
        let target = Target::by_name("sm_90").ok_or("no such target")?;
        let request = CompileRequest {
            opt_level,
            pipeline_options: &options,
            ..CompileRequest::new(text.as_bytes(), InputKind::Text, target)
        };
        let output = compile::InProcess.compile(&request, &mut |_| ()).map_err(|e| e.to_string())?;
        let outcome = case.simulate(&output.text, None, Duration::from_secs(60))?;
        let found = outcome.buffers[0].clone();
        let unset = found.chunks(4).any(|bits| bits == [0; 4]);
        match &first {
            _ if unset => return Err(format!("a result is not stored: {found:x?}").into()),
            None => first = Some(found),
            Some(same) if *same == found => {}
            Some(same) => return Err(format!("-O{opt_level}: {found:x?}, not {same:x?}").into()),
        }
    }
    Ok(())
}
