//! Multicast memory: every action on every element type, compiled from the public language and run on the simulated
//! device with objects of one to three members. The results are compared bit for bit with the reference interpreter.
//!
//! Values are chosen such that every sum is exact, so the order of members does not matter. By default, cases rotate
//! through targets and levels; `TILEIRAS_TEST_FULL=1` runs all of them with more adversarial schedules.

use half::{bf16, f16};
use ptx_sim::{Module, RunOptions};
use tile_interface::{Emit, InputKind};
use tile_interp::machine::Limits;
use tile_launch::{
    element::Element,
    execute::execute,
    launch::{Argument, ArrayArgument, Launch},
    npy::Array,
    reference,
};
use tile_targets::Target;
use tile_test_support::{Failed, Trial, kernels};
use tileiras::compile;

/// What a program does. `kind` is the reduction, if it is not an addition.
#[derive(Clone, Copy)]
enum Action {
    Load { order: &'static str, kind: &'static str },
    Update { order: &'static str, kind: &'static str },
    Store { order: &'static str },
}

/// How much the program says about the memory that it accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Known {
    /// Extents and strides. Tiles are part of the array.
    Sizes,
    /// The alignment of base and rows, but no extents.
    Alignment,
    /// Nothing.
    Nothing,
    /// Only that every tile is in bounds.
    Inside,
}

#[derive(Clone, Copy)]
struct Case {
    action: Action,
    element: Element,
    known: Known,
    members: usize,
}

const TILE: [u64; 2] = [4, 16];

impl Case {
    fn name(&self) -> String {
        let (action, order, kind) = match self.action {
            Action::Load { order, kind } => ("load", order, kind),
            Action::Update { order, kind } => ("update", order, kind),
            Action::Store { order } => ("store", order, ""),
        };
        let words = [action, order, kind, self.element.name(), &format!("{:?}", self.known).to_lowercase()];
        let words: Vec<&str> = words.into_iter().filter(|w| !w.is_empty()).collect();
        format!("{}/{}", words.join("_").replace(' ', "_"), self.members)
    }

    /// Extents of the array. They are multiples of the tile only if the program promises that.
    fn extents(&self) -> [u64; 2] {
        match self.known {
            Known::Sizes | Known::Inside => [8, 48],
            Known::Alignment => [7, 40],
            Known::Nothing => [6, 35],
        }
    }

    fn is_half(&self) -> bool {
        matches!(self.element, Element::F16 | Element::Bf16)
    }

    /// There is no instruction for a store of a single 16-bit element that is not weak.
    fn is_possible(&self) -> bool {
        let weak = !matches!(self.action, Action::Store { order } if order != "weak");
        weak || !self.is_half() || self.known == Known::Sizes
    }
}

fn cases() -> Vec<Case> {
    use Element::*;
    let mut actions = vec![];
    for element in [F16, Bf16, F32, F64, I32, I64] {
        actions.push((Action::Load { order: "weak", kind: "" }, element));
        actions.push((Action::Load { order: "acquire sys", kind: "" }, element));
        actions.push((Action::Update { order: "relaxed sys", kind: "" }, element));
        actions.push((Action::Store { order: "weak" }, element));
        actions.push((Action::Store { order: "release sys" }, element));
    }
    actions.push((Action::Update { order: "release device", kind: "" }, F32));
    actions.push((Action::Load { order: "relaxed tl_blk", kind: "" }, F32));
    for (element, kinds) in [
        (F16, &["min", "max"][..]),
        (Bf16, &["min", "max"]),
        (I32, &["min", "max", "and", "or", "xor", "umin", "umax"]),
        (I64, &["min", "max", "and", "or", "xor", "umin", "umax"]),
    ] {
        for kind in kinds {
            actions.push((Action::Load { order: "weak", kind }, element));
            if element.is_integer() {
                actions.push((Action::Update { order: "relaxed sys", kind }, element));
            }
        }
    }
    let mut list = vec![];
    for (i, (action, element)) in actions.into_iter().enumerate() {
        for (k, known) in [Known::Sizes, Known::Alignment, Known::Nothing, Known::Inside].into_iter().enumerate() {
            list.push(Case { action, element, known, members: (i + k) % 3 + 1 });
        }
    }
    list
}

const TARGETS: [&str; 3] = ["sm_90", "sm_100", "sm_120"];

pub fn trials() -> Vec<Trial> {
    let full = tile_test_support::full();
    let configurations: Vec<(&'static str, u8)> = TARGETS.iter().flat_map(|&t| [0, 2, 3].map(|l| (t, l))).collect();
    let trials = cases().into_iter().enumerate().map(|(i, case)| {
        // 4 is coprime to the number of configurations.
        let mine = if full { configurations.clone() } else { vec![configurations[4 * i % configurations.len()]] };
        Trial::test(format!("multimem/{}", case.name()), move || {
            if case.is_possible() { check(&case, &mine, full) } else { refuse(&case, "no release store of a single") }
        })
    });
    let trials = trials.chain([
        Trial::test("multimem/older_target", older_target),
        Trial::test("multimem/what_the_members_hold", what_the_members_hold),
        Trial::test("multimem/not_an_object", not_an_object),
    ]);
    trials.collect()
}

//===-- programs -----------------------------------------------------------===//

fn mlir(e: Element) -> &'static str {
    match e {
        Element::F16 => "f16",
        Element::Bf16 => "bf16",
        Element::F32 => "f32",
        Element::F64 => "f64",
        Element::I32 => "i32",
        _ => "i64",
    }
}

/// A program that reads the object into the array, or writes the array to the object, tile by tile.
fn program(case: &Case) -> String {
    let t = mlir(case.element);
    let ([m, n], sized) = (case.extents(), case.known == Known::Sizes);
    let [rows, columns] = TILE;
    let (sizes, row) =
        if sized { (format!("{m}x{n}x{t}"), n.to_string()) } else { (format!("?x?x{t}"), "?".to_string()) };
    let object = format!("tensor_view<{sizes}, strides=[{row},1], <multicast>>");
    let array = format!("tensor_view<{sizes}, strides=[{row},1]>");
    let tiles = |of: &str| format!("partition_view<tile=({rows}x{columns}), padding_value = neg_zero, {of}>");
    let tiles = |of: &str| {
        // Integers have no negative zero.
        if case.element.is_integer() { tiles(of).replace("neg_zero", "zero") } else { tiles(of) }
    };
    let (object_tiles, array_tiles) = (tiles(&object), tiles(&array));
    let tile = format!("tile<{rows}x{columns}x{t}>");
    let pointer = format!("tile<ptr<{t}, <multicast>>>");
    let aligned = match case.known {
        Known::Alignment | Known::Sizes => {
            format!(
                "%p = assume div_by<16>, %p0 : {pointer}\n    %q = assume div_by<16>, %q0 : tile<ptr<{t}>>\n    \
                 %r = assume div_by<8>, %r0 : tile<i32>"
            )
        }
        _ => format!(
            "%p = assume div_by<{0}>, %p0 : {pointer}\n    %q = assume div_by<{0}>, %q0 : tile<ptr<{t}>>\n    \
             %r = assume div_by<1>, %r0 : tile<i32>",
            case.element.size()
        ),
    };
    let shape = if sized { format!("[{m}, {n}]") } else { "[%m, %n]".into() };
    let strides = if sized { format!("[{n}, 1]") } else { "[%r, 1]".into() };
    let dynamic = if sized { "" } else { ", tile<i32>" };
    let plain = if sized { "" } else { "tile<i32> -> " };
    let inside = if case.known == Known::Inside { " inbounds = [true, true]" } else { "" };
    let by = |kind: &str| match kind {
        "" => String::new(),
        kind => format!(" attributes {{reduction = #cuda_tile.multimem_reduction_kind<{kind}>}}"),
    };
    let load = format!("%x, %t0 = load_view_tko weak %a[%i, %j] : {array_tiles}, tile<i32> -> {tile}, token");
    let body = match case.action {
        Action::Load { order, kind } => format!(
            "%x, %t0 = multimem_load_reduce_view_tko {order} %o[%i, %j]{inside}{} : {object_tiles}, tile<i32> -> \
             {tile}, token\n    %t1 = store_view_tko weak %x, %a[%i, %j] token = %t0 : {tile}, {array_tiles}, \
             tile<i32> -> token",
            by(kind)
        ),
        Action::Update { order, kind } => format!(
            "{load}\n    %t1 = multimem_reduce_view_tko {order} %o, %x[%i, %j] token = %t0{inside}{} : \
             {object_tiles}, {tile}, tile<i32>, token -> token",
            by(kind)
        ),
        Action::Store { order } => format!(
            "{load}\n    %t1 = multimem_store_view_tko {order} %o, %x[%i, %j] token = %t0{inside} : {object_tiles}, \
             {tile}, tile<i32>, token -> token"
        ),
    };
    format!(
        "cuda_tile.module @m {{
  entry @k(%p0: {pointer}, %m: tile<i32>, %n: tile<i32>, %r0: tile<i32>, %one: tile<i32>,
           %q0: tile<ptr<{t}>>, %qm: tile<i32>, %qn: tile<i32>, %qr: tile<i32>, %qone: tile<i32>) {{
    %i, %j, %unused = get_tile_block_id : tile<i32>
    {aligned}
    %object = make_tensor_view %p, shape = {shape}, strides = {strides} : {pointer}{dynamic} -> {object}
    %o = make_partition_view %object : {object_tiles}
    %array = make_tensor_view %q, shape = {shape}, strides = {strides} : {plain}{array}
    %a = make_partition_view %array : {array_tiles}
    {body}
    return
  }}
}}
"
    )
}

/// The bits of a number that differs for every position and is exact in every type.
fn bits(e: Element, seed: u64) -> Vec<u8> {
    let r = (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 24;
    let x = (r % 63) as f64 / 4.0 - 7.75;
    match e {
        Element::F16 => f16::from_f64(x).to_le_bytes().to_vec(),
        Element::Bf16 => bf16::from_f64(x).to_le_bytes().to_vec(),
        Element::F32 => (x as f32).to_le_bytes().to_vec(),
        Element::F64 => x.to_le_bytes().to_vec(),
        Element::I32 => (r as u32).to_le_bytes().to_vec(),
        _ => (r.wrapping_mul(0x9e37_79b9_7f4a_7c15)).to_le_bytes().to_vec(),
    }
}

fn array(case: &Case, number: u64) -> ArrayArgument {
    let e = case.element;
    let shape = case.extents();
    let count = shape.iter().product::<u64>();
    let kind = if e.is_integer() { "i" } else { "f" };
    let descr = if e == Element::Bf16 { "u2".to_string() } else { format!("{kind}{}", e.size()) };
    ArrayArgument {
        name: format!("array{number}.npy"),
        array: Array {
            descr,
            shape: shape.to_vec(),
            fortran: false,
            data: (0..count).flat_map(|i| bits(e, 1000 * number + i)).collect(),
        },
        element: e,
        extents: None,
        strides: None,
        unwritten: false,
        wide_index: false,
    }
}

fn launch(case: &Case) -> Launch {
    let members = (0..case.members as u64).map(|i| array(case, i + 1)).collect();
    let args = vec![Argument::Multicast(members), Argument::Array(array(case, 0))];
    let blocks = |d: usize| case.extents()[d].div_ceil(TILE[d]) as u32;
    Launch { grid: [blocks(0), blocks(1), 1], args, ..Launch::default() }
}

//===-- checks -------------------------------------------------------------===//

fn compiled(text: &str, target: &str, level: u8) -> Result<Module, String> {
    let target = Target::by_name(target).ok_or("no such target")?;
    let ptx = kernels::compile(text.as_bytes(), target, level, Emit::Ptx).map_err(|e| format!("{e}\n{text}"))?.text;
    if !ptx.contains("multimem.") {
        return Err(format!("no instruction of multicast memory:\n{ptx}"));
    }
    Module::parse(&ptx).map_err(|e| format!("{e}\n{ptx}"))
}

fn check(case: &Case, configurations: &[(&'static str, u8)], full: bool) -> Result<(), Failed> {
    let (text, launch) = (program(case), launch(case));
    let meaning = compile::program(text.as_bytes(), InputKind::Text, &mut |_| {}).map_err(|e| e.to_string())?;
    let limits = Limits { races: true, ..Limits::default() };
    let want = reference::execute(&meaning, &launch, limits, &[], &mut |_| {})
        .map_err(|e| format!("{e}\n{text}"))?
        .outcome
        .arrays;
    for &(target, level) in configurations {
        let module = compiled(&text, target, level)?;
        let seeds: &[Option<u64>] = if full { &[None, Some(1), Some(2), Some(3)] } else { &[None, Some(1)] };
        for seed in seeds {
            let options = RunOptions { adversarial: *seed, strict: true, ..RunOptions::default() };
            let found = execute(&module, &launch, &options).map_err(|e| e.to_string())?.arrays;
            if found != want {
                return Err(format!("{target} -O{level} {seed:?}: not what the interpreter says\n{text}").into());
            }
        }
    }
    let before: Vec<Vec<Array>> =
        launch.args.iter().map(|a| a.arrays().iter().map(|a| a.array.clone()).collect()).collect();
    if before == want { Err("the program does nothing".into()) } else { Ok(()) }
}

fn refuse(case: &Case, expected: &str) -> Result<(), Failed> {
    let text = program(case);
    for target in TARGETS {
        let target = Target::by_name(target).ok_or("no such target")?;
        let Err(error) = kernels::compile(text.as_bytes(), target, 3, Emit::Ptx) else {
            return Err(format!("{} compiles it", target.name).into());
        };
        let error = error.to_string();
        if !error.contains(expected) || !error.contains(target.name) || !error.contains(mlir(case.element)) {
            return Err(error.into());
        }
    }
    Ok(())
}

/// Targets before sm_90 do not support multicast memory; the error names the type and the target.
fn older_target() -> Result<(), Failed> {
    for case in cases().iter().filter(|c| c.known == Known::Sizes) {
        for name in ["sm_80", "sm_89"] {
            let target = Target::by_name(name).ok_or("no such target")?;
            let Err(error) = kernels::compile(program(case).as_bytes(), target, 3, Emit::Ptx) else {
                return Err(format!("{name} compiles {}", case.name()).into());
            };
            let t = mlir(case.element);
            let text = format!("multicast memory of {t} needs sm_90 or newer: {name} has no instructions for it");
            if !error.to_string().contains(&text) {
                return Err(error.to_string().into());
            }
        }
    }
    Ok(())
}

/// Results computed by hand, because the interpreter and the simulator could have the same error.
fn what_the_members_hold() -> Result<(), Failed> {
    let fill = |case: &Case, numbers: [f32; 3]| {
        let mut launch = launch(case);
        let fill = |a: &mut ArrayArgument, x: f32| {
            a.array.data = a.array.data.chunks(4).flat_map(|_| x.to_le_bytes()).collect();
        };
        let [first, second, other] = numbers;
        if let Argument::Multicast(members) = &mut launch.args[0] {
            fill(&mut members[0], first);
            fill(&mut members[1], second);
        }
        if let Argument::Array(a) = &mut launch.args[1] {
            fill(a, other);
        }
        launch
    };
    let table = [
        (Action::Load { order: "weak", kind: "" }, [1.5, 2.0, 3.5]),
        (Action::Update { order: "relaxed sys", kind: "" }, [11.5, 12.0, 10.0]),
        (Action::Store { order: "weak" }, [10.0, 10.0, 10.0]),
    ];
    for (action, after) in table {
        let case = Case { action, element: Element::F32, known: Known::Nothing, members: 2 };
        let module = compiled(&program(&case), "sm_90", 3)?;
        let found = execute(&module, &fill(&case, [1.5, 2.0, 10.0]), &RunOptions::default());
        let want: Vec<Vec<Array>> =
            fill(&case, after).args.iter().map(|a| a.arrays().iter().map(|a| a.array.clone()).collect()).collect();
        if found.map_err(|e| e.to_string())?.arrays != want {
            return Err(case.name().into());
        }
    }
    Ok(())
}

/// If the address is in ordinary memory, the simulator and the interpreter report an error.
fn not_an_object() -> Result<(), Failed> {
    let case =
        Case { action: Action::Store { order: "weak" }, element: Element::F32, known: Known::Nothing, members: 1 };
    let mut launch = launch(&case);
    launch.args[0] = Argument::Array(array(&case, 1));
    let text = program(&case);
    let module = compiled(&text, "sm_90", 3)?;
    let found = execute(&module, &launch, &RunOptions::default()).map(|_| ()).map_err(|e| e.to_string());
    if !found.as_ref().is_err_and(|e| e.contains("(not a multicast address)")) {
        return Err(format!("{found:?}").into());
    }
    let meaning = compile::program(text.as_bytes(), InputKind::Text, &mut |_| {}).map_err(|e| e.to_string())?;
    let found = reference::execute(&meaning, &launch, Limits::default(), &[], &mut |_| {})
        .map(|_| ())
        .map_err(|e| e.to_string());
    if !found.as_ref().is_err_and(|e| e.contains("is not an address of multicast memory")) {
        return Err(format!("{found:?}").into());
    }
    Ok(())
}
