//! Dots of every type and of many shapes, compiled from the public language, run on the simulated device, and
//! compared bit for bit with dots computed here. The operands are chosen such that every sum is exact, so a wrong
//! lane, register or scale cannot hide behind a tolerance.
//!
//! There is one test for each row of [`CASES`]. By default, cases rotate through targets and levels; with
//! `TILEIRAS_TEST_FULL=1`, each runs on four targets, at three levels and under five adversarial schedules.

use half::{bf16, f16};
use ptx_sim::{Module, RunOptions};
use tile_interface::Emit;
use tile_launch::{
    element::Element,
    execute::execute,
    launch::{Argument, ArrayArgument, Launch},
    npy::Array,
};
use tile_targets::Target;
use tile_test_support::{Failed, Trial, kernels};

/// The types of a dot. If memory holds another type, `cast` is the type that the kernel converts to after loading.
#[derive(Clone, Copy)]
struct Types {
    name: &'static str,
    load: Element,
    cast: Option<&'static str>,
    acc: Element,
    /// For integers, whether each operand is signed.
    signed: [bool; 2],
    /// The type of the scales and the number of elements that a scale covers.
    scale: Option<(Element, i64)>,
    values: Values,
}

/// How operands are computed from a number that differs for every element.
#[derive(Clone, Copy)]
enum Values {
    /// Whole numbers up to a bound.
    Whole(i64),
    /// More significand bits than a rounding format keeps.
    Fine(u32),
    /// All values of a byte.
    Bytes,
}

const fn types(name: &'static str, load: Element, acc: Element, values: Values) -> Types {
    Types { name, load, cast: None, acc, signed: [true; 2], scale: None, values }
}

const TYPES: &[Types] = &[
    types("f16", Element::F16, Element::F32, Values::Whole(8)),
    types("f16_acc16", Element::F16, Element::F16, Values::Whole(2)),
    types("bf16", Element::Bf16, Element::F32, Values::Whole(16)),
    Types { cast: Some("tf32"), ..types("tf32", Element::F32, Element::F32, Values::Whole(64)) },
    types("f32", Element::F32, Element::F32, Values::Fine(13)),
    types("f64", Element::F64, Element::F64, Values::Fine(40)),
    types("e4m3", Element::E4m3, Element::F32, Values::Whole(8)),
    types("e4m3_acc16", Element::E4m3, Element::F16, Values::Whole(2)),
    types("e5m2", Element::E5m2, Element::F32, Values::Whole(4)),
    types("e5m2_acc16", Element::E5m2, Element::F16, Values::Whole(2)),
    types("s8", Element::I8, Element::I32, Values::Bytes),
    Types { signed: [true, false], ..types("s8_u8", Element::I8, Element::I32, Values::Bytes) },
    Types { signed: [false, true], ..types("u8_s8", Element::I8, Element::I32, Values::Bytes) },
    Types { signed: [false; 2], ..types("u8", Element::I8, Element::I32, Values::Bytes) },
    Types { scale: Some((Element::E8m0, 32)), ..types("mx_e4m3", Element::E4m3, Element::F32, Values::Whole(8)) },
    Types { scale: Some((Element::E8m0, 32)), ..types("mx_e5m2", Element::E5m2, Element::F32, Values::Whole(4)) },
    Types {
        cast: Some("f4E2M1FN"),
        scale: Some((Element::E8m0, 32)),
        ..types("mx_e2m1", Element::F32, Element::F32, Values::Whole(4))
    },
    Types {
        cast: Some("f4E2M1FN"),
        scale: Some((Element::E8m0, 16)),
        ..types("mx_e2m1_16", Element::F32, Element::F32, Values::Whole(4))
    },
    Types {
        cast: Some("f4E2M1FN"),
        scale: Some((Element::E4m3, 16)),
        ..types("nv_e2m1", Element::F32, Element::F32, Values::Whole(4))
    },
];

/// Batch, M, N and K. A batch of 0 means a dot of rank 2. K is raised to at least the number of elements that a scale
/// covers.
const SHAPES: &[[i64; 4]] = &[
    [0, 64, 64, 64],
    [0, 128, 32, 32],
    [0, 32, 128, 32],
    [0, 16, 8, 16],
    [2, 32, 32, 32],
    [1, 16, 64, 16],
    // Smaller than an instruction in one dimension or in all.
    [0, 8, 64, 32],
    [0, 64, 4, 32],
    [0, 64, 32, 8],
    [0, 32, 16, 4],
    [0, 16, 16, 2],
    [0, 2, 2, 64],
    [0, 1, 128, 64],
    [0, 128, 1, 32],
    [0, 1, 1, 1],
    [4, 4, 8, 4],
];

/// A dot in its own kernel.
#[derive(Clone, Copy)]
struct Case {
    types: Types,
    shape: [i64; 4],
    /// Whether the right operand is loaded transposed.
    transposed: bool,
}

impl Case {
    fn name(&self) -> String {
        let [b, m, n, k] = self.shape;
        let batch = if b > 0 { format!("{b}x") } else { String::new() };
        format!("{}/{batch}{m}x{n}x{k}{}", self.types.name, if self.transposed { "/transposed" } else { "" })
    }

    fn batch(&self) -> i64 {
        self.shape[0].max(1)
    }

    fn scales(&self) -> i64 {
        self.types.scale.map_or(0, |(_, v)| self.shape[3] / v)
    }
}

fn cases() -> Vec<Case> {
    let mut list = vec![];
    for &types in TYPES {
        for (i, &[b, m, n, k]) in SHAPES.iter().enumerate() {
            let shape = [b, m, n, k.max(types.scale.map_or(1, |(_, v)| v))];
            list.push(Case { types, shape, transposed: false });
            if b == 0 && i < 4 {
                list.push(Case { types, shape, transposed: true });
            }
        }
        if let Some((_, v)) = types.scale {
            list.push(Case { types, shape: [0, 64, 32, 4 * v], transposed: false });
        }
    }
    list
}

pub fn trials() -> Vec<Trial> {
    let full = tile_test_support::full();
    let configurations: Vec<(&'static str, u8)> =
        ["sm_80", "sm_90", "sm_100", "sm_120"].iter().flat_map(|&t| [0, 2, 3].map(|l| (t, l))).collect();
    cases()
        .into_iter()
        .enumerate()
        .map(|(i, case)| {
            // 5 is coprime to the number of configurations, so neighboring cases get different targets and levels.
            let mut mine =
                if full { configurations.clone() } else { vec![configurations[5 * i % configurations.len()]] };
            if case.types.scale.is_some() && mine.iter().all(|(target, _)| *target != "sm_120") {
                // A target whose instructions take scales.
                mine.push(("sm_120", [0, 2, 3][i % 3]));
            }
            Trial::test(format!("dots/{}", case.name()), move || check(&case, &mine, full))
        })
        .chain([
            Trial::test("dots/infinities/small_depth", || infinities(4)),
            Trial::test("dots/infinities/odd_lanes", || infinities(2)),
            Trial::test("dots/scales/not_a_number", nan_scale),
        ])
        .collect()
}

//===-- kernels ------------------------------------------------------------===//

fn mlir(e: Element) -> &'static str {
    match e {
        Element::E4m3 => "f8E4M3FN",
        Element::E5m2 => "f8E5M2",
        Element::E8m0 => "f8E8M0FNU",
        other => other.name(),
    }
}

fn by(extents: &[i64]) -> String {
    extents.iter().map(i64::to_string).collect::<Vec<_>>().join("x")
}

/// The extents of an operand in memory, slowest dimension first.
fn extents(case: &Case, operand: usize) -> Vec<i64> {
    let [b, m, n, k] = case.shape;
    let s = case.scales();
    let two = match operand {
        0 => [m, k],
        1 if case.transposed => [n, k],
        1 => [k, n],
        2 | 3 => [m, n],
        4 => [m, s],
        _ => [s, n],
    };
    if b > 0 { vec![b, two[0], two[1]] } else { two.to_vec() }
}

/// The element types of the operands: lhs, rhs, accumulator, result, and scales of lhs and rhs.
fn elements(case: &Case) -> Vec<Element> {
    let t = case.types;
    let mut list = vec![t.load, t.load, t.acc, t.acc];
    list.extend(t.scale.iter().flat_map(|(e, _)| [*e, *e]));
    list
}

fn kernel(case: &Case) -> String {
    let t = case.types;
    let elements = elements(case);
    let mut parameters = vec![];
    let mut body = String::from("    %zero = constant <i32: 0> : tile<i32>\n    %token = make_token : token\n");
    for (i, e) in elements.iter().enumerate() {
        let shape = extents(case, i);
        parameters.push(format!("%p{i}: tile<ptr<{}>>", mlir(*e)));
        for (j, _) in shape.iter().chain(&shape).enumerate() {
            parameters.push(format!("%p{i}_{j}: tile<i32>"));
        }
        let strides: Vec<String> =
            (0..shape.len()).map(|d| shape[d + 1..].iter().product::<i64>().to_string()).collect();
        let tensor = format!("tensor_view<{}x{}, strides=[{}]>", by(&shape), mlir(*e), strides.join(","));
        let list = |v: &[String]| v.join(", ");
        let extents: Vec<String> = shape.iter().map(i64::to_string).collect();
        let view = format!("partition_view<tile=({}), {tensor}>", by(&shape));
        let zeros = vec!["%zero"; shape.len()].join(", ");
        body += &format!(
            "    %q{i} = assume div_by<16>, %p{i} : tile<ptr<{}>>\n    \
             %m{i} = make_tensor_view %q{i}, shape = [{}], strides = [{}] : {tensor}\n    \
             %v{i} = make_partition_view %m{i} : {view}\n",
            mlir(*e),
            list(&extents),
            list(&strides)
        );
        if i != 3 {
            let tile = format!("tile<{}x{}>", by(&shape), mlir(*e));
            body += &format!(
                "    %x{i}, %t{i} = load_view_tko weak %v{i}[{zeros}] token = %token : {view}, tile<i32> -> {tile}, token\n"
            );
        }
    }
    let mut operands = [(0, "%x0".to_string()), (1, "%x1".to_string())];
    let operand_type = t.cast.unwrap_or(mlir(t.load));
    for (i, name) in &mut operands {
        let shape = extents(case, *i);
        if let Some(to) = t.cast {
            let from = format!("tile<{}x{}>", by(&shape), mlir(t.load));
            body += &format!("    %y{i} = ftof {name} : {from} -> tile<{}x{to}>\n", by(&shape));
            *name = format!("%y{i}");
        }
        if *i == 1 && case.transposed {
            let turned: Vec<i64> = shape.iter().rev().copied().collect();
            let (from, to) = (by(&shape), by(&turned));
            body +=
                &format!("    %z = permute {name} [1, 0] : tile<{from}x{operand_type}> -> tile<{to}x{operand_type}>\n");
            *name = "%z".into();
        }
    }
    let plain = Case { transposed: false, ..*case };
    let tile = |i: usize, e: &str| format!("tile<{}x{e}>", by(&extents(&plain, i)));
    let types = [tile(0, operand_type), tile(1, operand_type), tile(2, mlir(t.acc))].join(", ");
    let (a, b) = (&operands[0].1, &operands[1].1);
    body += &match (t.scale, t.load) {
        (Some((e, _)), _) => format!(
            "    %d = mmaf_scaled {a}, {b}, %x2, %x4, %x5 : {types}, {}, {}\n",
            tile(4, mlir(e)),
            tile(5, mlir(e))
        ),
        (None, Element::I8) => {
            let sign = |s: bool| if s { "signed" } else { "unsigned" };
            format!("    %d = mmai {a}, {b}, %x2 {} {} : {types}\n", sign(t.signed[0]), sign(t.signed[1]))
        }
        _ => format!("    %d = mmaf {a}, {b}, %x2 : {types}\n"),
    };
    let shape = extents(case, 3);
    let zeros = vec!["%zero"; shape.len()].join(", ");
    let strides: Vec<String> = (0..shape.len()).map(|d| shape[d + 1..].iter().product::<i64>().to_string()).collect();
    let tensor = format!("tensor_view<{}x{}, strides=[{}]>", by(&shape), mlir(t.acc), strides.join(","));
    body += &format!(
        "    %t3 = store_view_tko weak %d, %v3[{zeros}] token = %token : {}, partition_view<tile=({}), {tensor}>, tile<i32> -> token\n",
        tile(3, mlir(t.acc)),
        by(&shape)
    );
    format!("cuda_tile.module @kernels {{\n  entry @dot({}) {{\n{body}    return\n  }}\n}}\n", parameters.join(", "))
}

//===-- values -------------------------------------------------------------===//

/// A pseudorandom number computed from an element's position.
fn mix(operand: usize, index: i64) -> u64 {
    let mut x = (index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (operand as u64) << 32;
    x ^= x >> 29;
    x = x.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x ^ x >> 32
}

/// Encodes a number that the format represents exactly.
fn encode(e: Element, x: f64) -> Vec<u8> {
    match e {
        Element::F16 => f16::from_f64(x).to_le_bytes().to_vec(),
        Element::Bf16 => bf16::from_f64(x).to_le_bytes().to_vec(),
        Element::F32 => (x as f32).to_le_bytes().to_vec(),
        Element::F64 => x.to_le_bytes().to_vec(),
        Element::I8 => vec![x as i64 as u8],
        Element::I32 => (x as i64 as i32).to_le_bytes().to_vec(),
        // The only byte that decodes to this number.
        _ => vec![(0..=255u8).find(|b| e.decode(&[*b]).to_f64() == x).expect("a number of the format")],
    }
}

fn value(case: &Case, operand: usize, index: i64) -> f64 {
    let r = mix(operand, index);
    let within = |bound: i64| (r % (2 * bound as u64 + 1)) as i64 - bound;
    match (operand, case.types.values) {
        (4 | 5, _) => match case.types.scale {
            // Powers of two around one, and for e4m3 also sums of two of them.
            Some((Element::E8m0, _)) => 2f64.powi((r % 7) as i32 - 3),
            _ => 2f64.powi((r % 5) as i32 - 2) * if r >> 9 & 1 == 1 { 1.5 } else { 1.0 },
        },
        (2, _) => within(16) as f64,
        (_, Values::Whole(bound)) => within(bound) as f64,
        // Only one operand uses all bits, so that products are exact.
        (0, Values::Fine(bits)) => (r >> 8 & ((1 << bits) - 1)) as f64 / (1u64 << (bits - 2)) as f64 - 2.0,
        (_, Values::Fine(_)) => within(2) as f64,
        (_, Values::Bytes) => {
            let signed = case.types.signed[operand.min(1)];
            if signed { f64::from(r as u8 as i8) } else { f64::from(r as u8) }
        }
    }
}

fn array(case: &Case, operand: usize, value: &dyn Fn(&Case, usize, i64) -> f64) -> Argument {
    let e = elements(case)[operand];
    let shape = extents(case, operand);
    let count = shape.iter().product::<i64>();
    let data =
        (0..count).flat_map(|i| if operand == 3 { vec![0xa5; e.size()] } else { encode(e, value(case, operand, i)) });
    let kind = if e.is_integer() {
        "i"
    } else if e.size() == 1 {
        "u"
    } else {
        "f"
    };
    let descr = if e == Element::Bf16 { "u2".to_string() } else { format!("{kind}{}", e.size()) };
    Argument::Array(ArrayArgument {
        name: format!("operand{operand}.npy"),
        array: Array { descr, shape: shape.iter().map(|&x| x as u64).collect(), fortran: false, data: data.collect() },
        element: e,
        strides: None,
        extents: None,
        unwritten: false,
        wide_index: false,
    })
}

/// Element `(batch, row, column)` of the result in double precision, which is exact for these operands.
fn expected(case: &Case, value: &dyn Fn(&Case, usize, i64) -> f64, [batch, row, column]: [i64; 3]) -> f64 {
    let [_, m, n, k] = case.shape;
    let at = |operand, index| value(case, operand, index);
    let scales = case.scales();
    let product = |i: i64| {
        let a = at(0, (batch * m + row) * k + i);
        let b = at(1, if case.transposed { column * k + i } else { (batch * k + i) * n + column });
        let Some((_, covers)) = case.types.scale else { return a * b };
        let block = i / covers;
        a * b * at(4, (batch * m + row) * scales + block) * at(5, (batch * scales + block) * n + column)
    };
    (0..k).map(product).sum::<f64>() + at(2, (batch * m + row) * n + column)
}

//===-- checks -------------------------------------------------------------===//

fn compile(text: &str, target: &'static Target, opt_level: u8) -> Result<String, String> {
    let output = kernels::compile(text.as_bytes(), target, opt_level, Emit::Ptx);
    output.map(|o| o.text).map_err(|e| format!("{e}\n{text}"))
}

/// Runs a case and compares its results element by element.
fn run(
    case: &Case,
    module: &Module,
    seed: Option<u64>,
    value: &dyn Fn(&Case, usize, i64) -> f64,
) -> Result<Vec<f64>, String> {
    let args = (0..elements(case).len()).map(|i| array(case, i, value)).collect();
    let launch = Launch { grid: [1; 3], args, ..Launch::default() };
    let options = RunOptions { adversarial: seed, strict: true, ..RunOptions::default() };
    let outcome = execute(module, &launch, &options).map_err(|e| e.to_string())?;
    let e = case.types.acc;
    Ok(outcome.arrays[3][0].data.chunks(e.size()).map(|bytes| e.decode(bytes).to_f64()).collect())
}

fn check(case: &Case, configurations: &[(&'static str, u8)], full: bool) -> Result<(), Failed> {
    let text = kernel(case);
    let [_, m, n, _] = case.shape;
    let mut problems = vec![];
    for &(target, level) in configurations {
        let ptx = compile(&text, Target::by_name(target).ok_or("no such target")?, level)?;
        let module = Module::parse(&ptx).map_err(|e| e.to_string())?;
        let seeds: &[Option<u64>] =
            if full { &[None, Some(1), Some(2), Some(3), Some(4), Some(5)] } else { &[None, Some(1)] };
        for seed in seeds {
            let found = run(case, &module, *seed, &value)?;
            let wrong = |i: &i64| {
                let want = expected(case, &value, [i / (m * n), i / n % m, i % n]);
                let have = found[*i as usize];
                // For these shapes, sums of 8-bit products do not wrap in 32 bits.
                (have != want).then(|| format!("{target} -O{level} {seed:?}: element {i} is {have}, not {want}"))
            };
            problems.extend((0..case.batch() * m * n).find_map(|i| wrong(&i)));
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n").into()) }
}

/// If the tile is less deep than the instruction, the padding must be zero in both operands, because zero times
/// infinity is NaN.
fn infinities(depth: i64) -> Result<(), Failed> {
    let case = Case { types: TYPES[0], shape: [0, 16, 16, depth], transposed: false };
    let value = |case: &Case, operand: usize, index: i64| match operand {
        0 if index % case.shape[3] == case.shape[3] - 1 => f64::INFINITY,
        0 | 1 => 1.0,
        _ => 0.0,
    };
    for target in ["sm_80", "sm_90"] {
        let ptx = compile(&kernel(&case), Target::by_name(target).ok_or("no such target")?, 3)?;
        let module = Module::parse(&ptx).map_err(|e| e.to_string())?;
        let found = run(&case, &module, None, &value)?;
        if let Some(x) = found.iter().find(|x| **x != f64::INFINITY) {
            return Err(format!("{target}: {x} instead of infinity").into());
        }
    }
    Ok(())
}

/// A NaN scale makes the elements of its row NaN and no others, even if scales of several rows share a word or the
/// tile has fewer blocks than the instruction.
fn nan_scale() -> Result<(), Failed> {
    for (name, k) in [("mx_e4m3", 64), ("mx_e4m3", 32), ("mx_e2m1", 32), ("mx_e2m1_16", 16), ("nv_e2m1", 32)] {
        let types = *TYPES.iter().find(|t| t.name == name).ok_or("no such types")?;
        let case = Case { types, shape: [0, 64, 16, k], transposed: false };
        for target in ["sm_90", "sm_120"] {
            nan_scale_of(&case, Target::by_name(target).ok_or("no such target")?)
                .map_err(|e| format!("{target} {}: {e}", case.name()))?;
        }
    }
    Ok(())
}

/// Checks a dot in which the scale of the last block of row 5 is NaN.
fn nan_scale_of(case: &Case, target: &'static Target) -> Result<(), String> {
    let ptx = compile(&kernel(case), target, 3)?;
    let module = Module::parse(&ptx).map_err(|e| e.to_string())?;
    let mut args: Vec<Argument> = (0..6).map(|i| array(case, i, &value)).collect();
    if let Argument::Array(a) = &mut args[4] {
        let none = if case.types.scale.is_some_and(|(e, _)| matches!(e, Element::E4m3)) { 0x7f } else { 0xff };
        a.array.data[(6 * case.scales() - 1) as usize] = none;
    }
    let launch = Launch { grid: [1; 3], args, ..Launch::default() };
    let outcome = execute(&module, &launch, &RunOptions::default()).map_err(|e| e.to_string())?;
    for (i, bytes) in outcome.arrays[3][0].data.chunks(4).enumerate() {
        let x = Element::F32.decode(bytes).to_f64();
        if x.is_nan() != (i / 16 == 5) {
            return Err(format!("element {i} is {x}"));
        }
    }
    Ok(())
}
