//! Results with `numerics=pinned`: the same bits on every target, at every level and with any number of warps, and the
//! bits of the reference interpreter.
//!
//! The programs reduce and scan random floats, so another order of elements or another grouping changes the result. The
//! interpreter follows the canonical order (`docs/numerics.md`), and all its results are exact.
//!
//! By default a few configurations run. With `TILEIRAS_TEST_FULL=1`: four targets, four levels, 4 and 8 warps.

use std::time::Duration;
use tile_fuzz::case::{Case, Meaning, Parameter};
use tile_interface::{Choice, CompileRequest, Compiler, InputKind};
use tile_interp::{machine::Limits, scalar::Certainty, types::Number};
use tile_targets::Target;
use tile_test_support::{Failed, Trial, full};
use tileiras::{
    compile,
    fuzz::differential::{Configuration, compare},
};

/// The text of a body, from the scalars `%a0, %b0, %a1, ...` to `%c0, %c1, ...`, with its operands.
struct Body {
    name: &'static str,
    operands: &'static [Number],
    text: &'static str,
    /// The numbers of the operands are between these.
    range: (f64, f64),
}

const fn sum(name: &'static str, operands: &'static [Number]) -> Body {
    Body { name, operands, text: "%c0 = addf %a0, %b0 : tile<T>", range: (-1.0, 1.0) }
}

const BODIES: &[Body] = &[
    sum("sum_f32", &[Number::F32]),
    sum("sum_f16", &[Number::F16]),
    sum("sum_bf16", &[Number::Bf16]),
    sum("sum_f64", &[Number::F64]),
    Body { name: "product", operands: &[Number::F32], text: "%c0 = mulf %a0, %b0 : tile<f32>", range: (0.98, 1.02) },
    // Not associative, and different if the sides are swapped.
    Body {
        name: "weighted",
        operands: &[Number::F32],
        text: "%w = constant <f32: 0.75> : tile<f32>\n%c0 = fma %a0, %w, %b0 : tile<f32>",
        range: (-1.0, 1.0),
    },
    // Means, sums of squared deviations, and counts.
    Body {
        name: "moments",
        operands: &[Number::F32, Number::F32, Number::F32],
        text: "%d = subf %b0, %a0 : tile<f32>
%c2 = addf %a2, %b2 : tile<f32>
%f = divf %b2, %c2 : tile<f32>
%e = mulf %d, %f : tile<f32>
%c0 = addf %a0, %e : tile<f32>
%s = addf %a1, %b1 : tile<f32>
%g = mulf %d, %e : tile<f32>
%h = mulf %g, %a2 : tile<f32>
%c1 = addf %s, %h : tile<f32>",
        range: (0.5, 2.0),
    },
    // The first maximum and its index.
    Body {
        name: "arg_max",
        operands: &[Number::F32, Number::I32],
        text: "%t = cmpf greater_than ordered %b0, %a0 : tile<f32> -> tile<i1>
%c0 = select %t, %b0, %a0 : tile<i1>, tile<f32>
%c1 = select %t, %b1, %a1 : tile<i1>, tile<i32>",
        range: (-1.0, 1.0),
    },
];

/// Shapes with the dimension that is reduced.
const SHAPES: &[(&[i64], usize)] =
    &[(&[4096], 0), (&[2], 0), (&[64, 32], 0), (&[64, 32], 1), (&[4, 8, 128], 1), (&[32768], 0)];

/// Shapes with the dimension that is scanned, and whether from its end.
const SCANNED: &[(&[i64], usize, bool)] = &[
    (&[1024], 0, false),
    (&[512], 0, true),
    (&[2], 0, false),
    (&[64, 32], 0, true),
    (&[64, 32], 1, false),
    (&[4, 8, 128], 1, false),
    (&[8192], 0, true),
    (&[2, 8192], 1, false),
];

fn name_of(n: Number) -> &'static str {
    match n {
        Number::F16 => "f16",
        Number::Bf16 => "bf16",
        Number::F64 => "f64",
        Number::I32 => "i32",
        _ => "f32",
    }
}

/// The type of a tile or a view of tiles: `4x8xf32`.
fn joined(shape: &[i64], element: &str) -> String {
    shape.iter().map(|e| format!("{e}x")).collect::<String>() + element
}

fn list(values: impl Iterator<Item = i64>) -> String {
    values.map(|v| v.to_string()).collect::<Vec<_>>().join(", ")
}

/// The op under test.
#[derive(Clone, Copy, PartialEq)]
enum Combining {
    Reduce,
    Scan { reverse: bool },
}
use Combining::{Reduce, Scan};

/// The shape of the results.
fn left(op: Combining, shape: &[i64], dim: usize) -> Vec<i64> {
    let mut rest = shape.to_vec();
    if op == Reduce {
        rest.remove(dim);
    }
    rest
}

/// A program that loads a tile of each operand, combines them, and stores the results.
fn program(op: Combining, body: &Body, shape: &[i64], dim: usize) -> String {
    let rest = left(op, shape, dim);
    let n = body.operands.len();
    let parameters: Vec<String> =
        (0..2 * n).map(|i| format!("%p{i}: tile<ptr<{}>>", name_of(body.operands[i % n]))).collect();
    let mut text = format!("cuda_tile.module @m {{\nentry @k({}) {{\n", parameters.join(", "));
    text += "%z = constant <i32: 0> : tile<i32>\n";
    let view = |i: usize, shape: &[i64]| {
        let element = name_of(body.operands[i % n]);
        let strides: Vec<i64> = (0..shape.len()).map(|d| shape[d + 1..].iter().product()).collect();
        let (sizes, strides) = (list(shape.iter().copied()), list(strides.into_iter()));
        let tensor = format!("tensor_view<{}, strides=[{strides}]>", joined(shape, element));
        let tiles: Vec<String> = shape.iter().map(i64::to_string).collect();
        let made = format!("partition_view<tile=({}), {tensor}>", tiles.join("x"));
        let zeros = vec!["%z"; shape.len()].join(", ");
        let code = format!(
            "%t{i} = make_tensor_view %p{i}, shape = [{sizes}], strides = [{strides}] : {tensor}\n\
             %v{i} = make_partition_view %t{i} : {made}\n"
        );
        (code, made, zeros)
    };
    for i in 0..n {
        let (code, made, zeros) = view(i, shape);
        let tile = joined(shape, name_of(body.operands[i]));
        text += &code;
        text +=
            &format!("%x{i}, %k{i} = load_view_tko weak %v{i}[{zeros}] : {made}, tile<i32> -> tile<{tile}>, token\n");
    }
    let elements: Vec<&str> = body.operands.iter().map(|n| name_of(*n)).collect();
    let each = |f: &dyn Fn(usize) -> String| (0..n).map(f).collect::<Vec<_>>().join(", ");
    let identity = |i: usize| if elements[i] == "i32" { "0 : i32".into() } else { format!("0.0 : {}", elements[i]) };
    let name = match op {
        Reduce => format!("reduce {} dim={dim}", each(&|i| format!("%x{i}"))),
        Scan { reverse } => format!("scan {} dim={dim} reverse={reverse}", each(&|i| format!("%x{i}"))),
    };
    text += &format!(
        "%r:{n} = {name} identities=[{}] : {} -> {}\n({}) {{\n{}\nyield {} : {}\n}}\n",
        each(&identity),
        each(&|i| format!("tile<{}>", joined(shape, elements[i]))),
        each(&|i| format!("tile<{}>", joined(&rest, elements[i]))),
        each(&|i| format!("%a{i}: tile<{0}>, %b{i}: tile<{0}>", elements[i])),
        body.text.replace('T', elements[0]),
        each(&|i| format!("%c{i}")),
        each(&|i| format!("tile<{}>", elements[i])),
    );
    for (i, element) in elements.iter().enumerate() {
        let (p, tile) = (n + i, joined(&rest, element));
        if rest.is_empty() {
            text +=
                &format!("%s{i} = store_ptr_tko weak %p{p}, %r#{i} : tile<ptr<{element}>>, tile<{element}> -> token\n");
            continue;
        }
        let (code, made, zeros) = view(p, &rest);
        text += &code;
        text +=
            &format!("%s{i} = store_view_tko weak %r#{i}, %v{p}[{zeros}] : tile<{tile}>, {made}, tile<i32> -> token\n");
    }
    text + "return\n}\n}\n"
}

/// A buffer of `count` numbers in the range, the same in every run.
fn buffer(seed: &mut u64, n: Number, count: i64, (low, high): (f64, f64)) -> Parameter {
    use tile_interp::format::{Real, Round, encode};
    let mut bytes = vec![];
    for i in 0..count {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let part = (*seed >> 11) as f64 / (1u64 << 53) as f64;
        let real = Real::from_f64(low + (high - low) * part);
        let bits = if n.is_integer() { i as u64 } else { encode(real, n, Round::NearestEven).bits };
        bytes.extend_from_slice(&bits.to_le_bytes()[..n.stored_bits() as usize / 8]);
    }
    Parameter::Buffer { number: n, bytes }
}

fn case(op: Combining, body: &Body, (shape, dim): (&[i64], usize), text: &str) -> Result<(Case, Meaning), Failed> {
    let mut said = String::new();
    let program = compile::program(text.as_bytes(), InputKind::Text, &mut |d| said += &tile_diag::render::plain(&d));
    let program = program.map_err(|e| format!("{e}: {said}\n{text}"))?;
    let (mut seed, count) = (1, shape.iter().product::<i64>());
    let inputs = body.operands.iter().map(|n| buffer(&mut seed, *n, count, body.range)).collect::<Vec<_>>();
    let outputs = body.operands.iter().map(|n| buffer(&mut 1, *n, left(op, shape, dim).iter().product(), (0.0, 0.0)));
    let case = Case { program, grid: [1, 1, 1], parameters: inputs.into_iter().chain(outputs).collect() };
    let limits = Limits { time: Some(Duration::from_secs(60)), canonical: true, ..Limits::default() };
    let meaning = case.meaning(limits).map_err(|e| e.to_string())?;
    let exact = meaning.buffers.iter().flatten().all(|s| s.certainty == Certainty::Exact);
    if exact { Ok((case, meaning)) } else { Err("a result of the interpreter is not exact".into()) }
}

const FOUR: &[(&str, &str)] = &[("numerics", "pinned"), ("num-warps", "4")];
const EIGHT: &[(&str, &str)] = &[("numerics", "pinned"), ("num-warps", "8")];
const ONE: &[(&str, &str)] = &[("numerics", "pinned"), ("num-warps", "1")];
const CHOSEN: &[(&str, &str)] = &[("numerics", "pinned")];

fn configurations() -> Vec<Configuration> {
    let mut list = vec![("sm_90", 0, FOUR), ("sm_120", 3, EIGHT), ("sm_80", 2, ONE), ("sm_100", 1, CHOSEN)];
    if full() {
        for target in ["sm_80", "sm_90", "sm_100", "sm_120"] {
            list.extend((0..4).flat_map(|level| [FOUR, EIGHT].map(|options| (target, level, options))));
        }
    }
    let make = |(name, level, options)| {
        Some(Configuration { target: Target::by_name(name)?, level, adversarial: level == 3, options })
    };
    list.into_iter().filter_map(make).collect()
}

pub fn trials() -> Vec<Trial> {
    let title = "numerics/the_default_order_depends_on_the_warps";
    let mut trials = vec![Trial::test(title, the_default_order_depends_on_the_warps)];
    trials.push(Trial::test("numerics/formulas_give_the_bits", formulas_give_the_bits));
    for body in BODIES {
        for &(shape, dim) in SHAPES {
            trials.push(trial(Reduce, body, shape, dim));
        }
        for &(shape, dim, reverse) in SCANNED {
            trials.push(trial(Scan { reverse }, body, shape, dim));
        }
    }
    trials
}

/// By default the order of a sum follows the layout, so the number of warps shows in the bits. Otherwise the other
/// tests would prove nothing.
fn the_default_order_depends_on_the_warps() -> Result<(), Failed> {
    let (body, shape, dim) = (&BODIES[0], &[4096][..], 0);
    let text = program(Reduce, body, shape, dim);
    let (case, meaning) = case(Reduce, body, (shape, dim), &text)?;
    let agrees = |options| {
        let target = Target::by_name("sm_90").expect("a target");
        let configuration = Configuration { target, level: 3, adversarial: false, options };
        compare(&case, &text, &meaning, &configuration, 1).is_ok()
    };
    let found = [agrees(&FOUR[1..]), agrees(&EIGHT[1..]), agrees(FOUR)];
    if found == [false, false, true] { Ok(()) } else { Err(format!("{found:?}").into()) }
}

/// The bits of sums by the formula that the compiler reports, in the mode with these options.
fn formulas_give_the_bits() -> Result<(), Failed> {
    let body = &BODIES[0];
    let cases = [(Reduce, &[4096][..], 0), (Reduce, &[64, 32], 0), (Reduce, &[64, 32], 1), (Reduce, &[32768], 0)];
    let scans = [(&[1024][..], 0, false), (&[64, 32], 0, true), (&[4, 8, 128], 1, false), (&[4, 8, 128], 2, true)];
    let scans = scans.map(|(shape, dim, reverse)| (Scan { reverse }, shape, dim));
    for (op, shape, dim) in cases.into_iter().chain(scans) {
        let text = program(op, body, shape, dim);
        let (case, _) = case(op, body, (shape, dim), &text)?;
        for options in [&FOUR[1..], &EIGHT[1..], &ONE[1..], FOUR, EIGHT] {
            let options: Vec<(String, String)> = options.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
            let request = CompileRequest {
                remarks: true,
                pipeline_options: &options,
                ..CompileRequest::new(text.as_bytes(), InputKind::Text, Target::by_name("sm_90").expect("a target"))
            };
            let output = compile::InProcess.compile(&request, &mut |_| ()).map_err(|e| e.to_string())?;
            let mut orders = output.remarks.iter().filter_map(|r| match &r.choice {
                Some(Choice::Order(order)) => Some(order),
                _ => None,
            });
            let order = orders.next().ok_or("no order is reported")?;
            if orders.next().is_some() || order.pinned != (options[0].0 == "numerics") {
                return Err(format!("{options:?}: {order:?}").into());
            }
            let outcome = case.simulate(&output.text, None, Duration::from_secs(60))?;
            let floats = |bytes: &[u8]| -> Vec<f32> {
                bytes.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect()
            };
            let input = floats(&outcome.buffers[0]);
            let found = floats(&outcome.buffers[1]);
            let expected = by_formula(op, &order.formula, &input, shape, dim);
            if found.iter().zip(&expected).any(|(a, b)| a.to_bits() != b.to_bits()) || found.len() != expected.len() {
                return Err(format!("{options:?} along {dim} of {shape:?}: {} has other bits", order.formula).into());
            }
        }
    }
    Ok(())
}

/// Evaluates a formula along a dimension of a tile.
fn by_formula(op: Combining, formula: &str, input: &[f32], shape: &[i64], dim: usize) -> Vec<f32> {
    let (extent, inner) = (shape[dim] as usize, shape[dim + 1..].iter().product::<i64>() as usize);
    let levels: Vec<(&str, Vec<u32>)> = formula
        .split(" then ")
        .map(|level| {
            let (name, bits) = level.trim_end_matches(')').split_once("(bits").expect("a list of bits");
            (name, bits.split_whitespace().map(|b| b.parse().expect("a number")).collect())
        })
        .collect();
    let mut out = vec![0.0; if op == Reduce { input.len() / extent } else { input.len() }];
    for start in (0..input.len()).filter(|i| i / inner % extent == 0) {
        let mut row: Vec<f32> = (0..extent).map(|i| input[start + i * inner]).collect();
        match op {
            Reduce => {
                for bit in &levels[0].1 {
                    for i in (0..extent).filter(|i| i >> bit & 1 == 0) {
                        row[i] += row[i | 1 << bit];
                    }
                }
                out[start / (inner * extent) * inner + start % inner] = row[0];
            }
            Scan { reverse } => {
                if reverse {
                    row.reverse();
                }
                scan_levels(&mut row, &levels);
                if reverse {
                    row.reverse();
                }
                row.iter().enumerate().for_each(|(i, v)| out[start + i * inner] = *v);
            }
        }
    }
    out
}

/// Scans groups by the first level, the last elements of the groups by the others, and adds the group before.
fn scan_levels(row: &mut [f32], levels: &[(&str, Vec<u32>)]) {
    let Some(((name, bits), rest)) = levels.split_first() else { return };
    let size = 1 << bits.len();
    for group in row.chunks_mut(size) {
        match *name {
            "chain" => (1..size).for_each(|i| group[i] += group[i - 1]),
            _ => {
                for k in 0..bits.len() {
                    let half = 1 << k;
                    for i in (0..size).filter(|i| i & half != 0) {
                        group[i] += group[i & !(2 * half - 1) | (half - 1)];
                    }
                }
            }
        }
    }
    let mut totals: Vec<f32> = row.chunks(size).map(|group| group[size - 1]).collect();
    scan_levels(&mut totals, rest);
    for (i, group) in row.chunks_mut(size).enumerate() {
        let (last, others) = group.split_last_mut().expect("groups have elements");
        if i > 0 {
            others.iter_mut().for_each(|v| *v += totals[i - 1]);
        }
        *last = totals[i];
    }
}

fn trial(op: Combining, body: &'static Body, shape: &'static [i64], dim: usize) -> Trial {
    let name = match op {
        Reduce => "reduce",
        Scan { reverse: false } => "scan",
        Scan { reverse: true } => "scan_reverse",
    };
    let extents = joined(shape, "");
    let title = format!("numerics/{name}/{}/{}/{dim}", body.name, extents.trim_end_matches('x'));
    Trial::test(title, move || combines_in_order(op, body, shape, dim))
}

fn combines_in_order(op: Combining, body: &Body, shape: &[i64], dim: usize) -> Result<(), Failed> {
    let text = program(op, body, shape, dim);
    let (case, meaning) = case(op, body, (shape, dim), &text)?;
    for configuration in configurations() {
        compare(&case, &text, &meaning, &configuration, 1).map_err(|e| e.to_string())?;
    }
    Ok(())
}
