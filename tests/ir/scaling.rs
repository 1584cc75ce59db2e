//! Long and deep programs: their results, and the growth of compile-time work with their length.
//!
//! The tests count work, because times on a busy machine are unreliable. `benches/scaling.py` measures times.

use exact::{Numbers, compiled, scalar};
use std::{fmt::Write, path::Path, process::Command};
use tile_fuzz::case::Parameter;
use tile_interface::Emit;
use tile_interp::types::Number;
use tile_test_support::{Trial, exact, functions};

const I32: &str = "tile<i32>";
const VIEW: &str = "partition_view<tile=(128), tensor_view<?xi32, strides=[1]>>";
/// The number of elements of each buffer.
const LENGTH: usize = 1000;

fn program(body: &str) -> String {
    let mut text = format!(
        "cuda_tile.module @m {{\n  entry @k(%x: tile<ptr<i32>>, %y: tile<ptr<i32>>, %m: {I32}) {{\n    \
         %z = constant <i32: 0> : {I32}\n    %o = constant <i32: 1> : {I32}\n    %seven = constant <i32: 7> : {I32}\n"
    );
    text += body;
    text + "    return\n  }\n}\n"
}

fn check(body: &str, m: u64) {
    let mut numbers = Numbers::default();
    let mut buffer = || numbers.buffer(LENGTH, Number::I32, 1000, 1.0);
    let parameters: Vec<Parameter> = vec![buffer(), buffer(), scalar(m)];
    exact::check(&program(body), [1, 1, 1], parameters, false);
}

/// Stores a scalar at a separate location.
fn store(q: usize, value: &str) -> String {
    format!(
        "    %n{q} = constant <i32: {q}> : {I32}\n    \
         %p{q} = offset %y, %n{q} : tile<ptr<i32>>, {I32} -> tile<ptr<i32>>\n    \
         %w{q} = store_ptr_tko weak %p{q}, {value} : tile<ptr<i32>>, {I32} -> token\n"
    )
}

/// Consecutive loops, each on the result of the previous one.
fn loops(n: usize) -> String {
    let mut text = format!("    %s0 = constant <i32: 1> : {I32}\n");
    for q in 0..n {
        let next = q + 1;
        write!(
            text,
            "    %s{next} = for %i{q} in (%z to %m, step %o) : {I32} iter_values(%a{q} = %s{q}) -> ({I32}) {{\n      \
             %b{q} = muli %a{q}, %seven : {I32}\n      %c{q} = addi %b{q}, %i{q} : {I32}\n      \
             continue %c{q} : {I32}\n    }}\n"
        )
        .unwrap();
        text += &store(q, &format!("%s{next}"));
    }
    text
}

/// Consecutive branches, each on the result of the previous one.
fn branches(n: usize) -> String {
    let mut text = format!("    %s0 = constant <i32: 1> : {I32}\n");
    for q in 0..n {
        let next = q + 1;
        text += &store(q, &format!("%s{q}"));
        write!(
            text,
            "    %q{q} = cmpi greater_than %m, %n{q}, signed : {I32} -> tile<i1>\n    \
             %s{next} = if %q{q} -> ({I32}) {{\n      %b{q} = addi %s{q}, %n{q} : {I32}\n      yield %b{q} : {I32}\n    \
             }} else {{\n      %c{q} = muli %s{q}, %m : {I32}\n      yield %c{q} : {I32}\n    }}\n"
        )
        .unwrap();
    }
    text
}

fn make_view() -> String {
    format!(
        "    %p = assume div_by<16>, %x : tile<ptr<i32>>\n    \
         %v = make_tensor_view %p, shape = [%m], strides = [1] : {I32} -> tensor_view<?xi32, strides=[1]>\n    \
         %tiles = make_partition_view %v : {VIEW}\n    %t0 = make_token : token\n"
    )
}

/// Loads and stores of tiles, the last one partly out of bounds. Each must observe earlier stores of other threads.
fn views(n: usize) -> String {
    make_view() + &(0..n).map(view).collect::<String>()
}

/// The same between branches that only the first thread takes.
fn mixed(n: usize) -> String {
    let mut text = make_view();
    for q in 0..n {
        write!(
            text,
            "    %h{q} = constant <i32: {q}> : {I32}\n    \
             %q{q} = cmpi greater_than %h{q}, %m, signed : {I32} -> tile<i1>\n    if %q{q} {{\n{}    }}\n",
            store(q, "%m")
        )
        .unwrap();
        text += &view(q);
    }
    text
}

fn view(q: usize) -> String {
    let (next, from, to) = (q + 1, q % 8, (q * 3 + 1) % 8);
    format!(
        "    %f{q} = constant <i32: {from}> : {I32}\n    %g{q} = constant <i32: {to}> : {I32}\n    \
             %a{q}, %r{q} = load_view_tko weak %tiles[%f{q}] token=%t{q} : {VIEW}, {I32} -> tile<128xi32>, token\n    \
             %b{q} = addi %a{q}, %a{q} : tile<128xi32>\n    \
             %t{next} = store_view_tko weak %b{q}, %tiles[%g{q}] token=%r{q} : tile<128xi32>, {VIEW}, {I32} -> token\n"
    )
}

/// Consecutive stores through pointers.
fn pointers(n: usize) -> String {
    (0..n).map(|q| store(q, &format!("%{}", ["m", "o", "seven"][q % 3]))).collect()
}

/// Nested loops, each with a trip count from a kernel argument.
fn nest(n: usize) -> String {
    let mut text = format!("    %a0 = constant <i32: 1> : {I32}\n");
    for q in 0..n {
        let next = q + 1;
        writeln!(
            text,
            "    %s{q} = for %i{q} in (%z to %m, step %o) : {I32} iter_values(%a{next} = %a{q}) -> ({I32}) {{"
        )
        .unwrap();
    }
    writeln!(text, "    %b = muli %a{n}, %seven : {I32}\n    %s{n} = addi %b, %i0 : {I32}").unwrap();
    for q in (0..n).rev() {
        writeln!(text, "    continue %s{} : {I32}\n    }}", q + 1).unwrap();
    }
    text + &store(0, "%s0")
}

/// Returns the bodies of functions in PTX: kernels and their parts.
fn functions(body: &str) -> Vec<String> {
    let ptx = compiled(&program(body), 3, Emit::Ptx);
    ptx.split("\n}").map(str::to_owned).filter(|f| f.contains("\n{")).collect()
}

fn longest(functions: &[String]) -> usize {
    functions.iter().map(|f| f.lines().count()).max().unwrap()
}

/// Returns a statistic of a pass for a program.
fn counted(name: &str, program: &str, target: &str, statistic: &str) -> usize {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.mlir"));
    std::fs::write(&file, program).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_tileiras"));
    command.args(["--gpu-name", target, "--emit=tileas", "--mlir-pass-statistics", "-o", "/dev/null"]).arg(file);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let line = said.lines().find(|l| l.contains(statistic)).unwrap_or_else(|| panic!("{said}"));
    line.split_whitespace().find_map(|word| word.parse().ok()).unwrap_or_else(|| panic!("{line}"))
}

/// Dots of tiles of `size` by `size`: `rows` consecutive nests of `depth` loops. Each loop has `products` dots of
/// loaded tiles before the inner loop and as many after it, all on one accumulator.
fn product_nests(size: usize, depth: usize, products: usize, rows: usize) -> String {
    const ARRAY: &str = "tensor_view<1024x1024xf16, strides=[1024,1]>";
    let tile = format!("{size}x{size}");
    let sums_type = format!("tile<{tile}xf32>");
    let view = format!("partition_view<tile=({tile}), padding_value = zero, {ARRAY}>");
    let mut text =
        String::from("cuda_tile.module @m {\n  entry @k(%n: tile<i32>, %p: tile<ptr<f16>>, %q: tile<ptr<f32>>) {\n");
    writeln!(text, "    %a = assume div_by<16>, %p : tile<ptr<f16>>").unwrap();
    writeln!(text, "    %t = make_tensor_view %a, shape = [1024, 1024], strides = [1024, 1] : {ARRAY}").unwrap();
    writeln!(text, "    %v = make_partition_view %t : {view}").unwrap();
    writeln!(text, "    %z = constant <i32: 0> : {I32}\n    %o = constant <i32: 1> : {I32}").unwrap();
    let mut next = 0;
    let mut fresh = || {
        next += 1;
        next
    };
    let mut multiply = |text: &mut String, index: usize, sums: String| {
        let x = fresh();
        // Identical loads would be merged.
        writeln!(text, "    %n{x} = constant <i32: {x}> : {I32}").unwrap();
        for (name, place) in [("x", format!("%n{x}, %i{index}")), ("y", format!("%i{index}, %n{x}"))] {
            let load = format!("load_view_tko weak %v[{place}] : {view}, {I32} -> tile<{tile}xf16>, token");
            writeln!(text, "    %{name}{x}, %{name}k{x} = {load}").unwrap();
        }
        writeln!(text, "    %s{x} = mmaf %x{x}, %y{x}, {sums} : tile<{tile}xf16>, tile<{tile}xf16>, {sums_type}")
            .unwrap();
        format!("%s{x}")
    };
    let mut sums = String::from("%zero");
    writeln!(text, "    %zero = constant <f32: 0.0> : {sums_type}").unwrap();
    for row in 0..rows {
        let mut given = vec![];
        for level in row * depth..(row + 1) * depth {
            let head = format!("%r{level} = for %i{level} in (%z to %n, step %o) : {I32}");
            writeln!(text, "    {head} iter_values(%c{level} = {sums}) -> ({sums_type}) {{").unwrap();
            sums = (0..products).fold(format!("%c{level}"), |sums, _| multiply(&mut text, level, sums));
            given.push(level);
        }
        while let Some(level) = given.pop() {
            sums = (0..products).fold(sums, |sums, _| multiply(&mut text, level, sums));
            writeln!(text, "    continue {sums} : {sums_type}\n    }}").unwrap();
            sums = format!("%r{level}");
        }
    }
    let out = format!("tensor_view<{tile}xf32, strides=[{size},1]>");
    writeln!(text, "    %b = make_tensor_view %q, shape = [{size}, {size}], strides = [{size}, 1] : {out}").unwrap();
    writeln!(text, "    %w = make_partition_view %b : partition_view<tile=({tile}), {out}>").unwrap();
    let stored = format!("{sums_type}, partition_view<tile=({tile}), {out}>, {I32} -> token");
    writeln!(text, "    %e = store_view_tko weak {sums}, %w[%z, %z] : {stored}\n    return\n  }}\n}}").unwrap();
    text
}

/// `tileas-check-synchronization` propagates facts over nodes. Nesting does not add facts, and rings multiply them at
/// most by the number of rings. Consecutive loops add as many facts as nodes.
fn synchronization_is_checked_in_few_steps() {
    let facts = |depth, products, rows| {
        let name = format!("nest{depth}_{products}_{rows}");
        counted(&name, &product_nests(32, depth, products, rows), "sm_100", "num-facts")
    };
    let by_depth = [1, 2, 3, 4, 5].map(|depth| facts(depth, 1, 1));
    assert!(by_depth[0] > 100, "{by_depth:?}");
    // Another level adds nodes and rings: their product grows quadratically, not exponentially.
    for (depth, pair) in by_depth.windows(2).enumerate() {
        let levels = (depth + 2) as f64 / (depth + 1) as f64;
        assert!(pair[1] as f64 <= 1.5 * levels * levels * pair[0] as f64, "{by_depth:?}");
    }
    let by_products = [1, 2, 4].map(|products| facts(2, products, 1));
    assert!(by_products.windows(2).all(|pair| pair[1] <= 5 * pair[0]), "{by_products:?}");
    // The accesses of one ring are alike in consecutive loops of agents, of which one thread issues the dots.
    // On sm_120 the threads read the stages, at the same bytes in each loop.
    for target in ["sm_90", "sm_120"] {
        let name = |rows| format!("row{rows}_{target}");
        let of_loops = |rows| counted(&name(rows), &product_nests(64, 1, 1, rows), target, "num-facts");
        let by_loops = [8, 16, 32].map(of_loops);
        assert!(by_loops.windows(2).all(|pair| 10 * pair[1] <= 22 * pair[0]), "{target} {by_loops:?}");
    }
    // Consecutive nests share neither rings nor scalars.
    let by_rows = [1, 4, 16].map(|rows| facts(2, 1, rows));
    assert!(by_rows.windows(2).all(|pair| pair[1] <= 5 * pair[0]), "{by_rows:?}");
}

/// The protocol of agents is checked for combinations of trip counts, which are too numerous with many loops.
fn protocols_of_many_loops_are_checked() {
    let accesses = |rows| counted(&format!("loops{rows}"), &product_nests(64, 2, 1, rows), "sm_90", "num-accesses");
    let [few, many] = [1, 16].map(accesses);
    assert!(many > 10 * few, "{few} {many}");
}

fn long_programs_mean_the_same() {
    for (body, m) in [(loops(400), 3), (branches(400), 150), (mixed(400), 1000)] {
        assert!(functions(&body).len() > 1);
        check(&body, m);
    }
    check(&views(140), 930);
}

fn deep_programs_mean_the_same() {
    // Two iterations per loop would take exponential time.
    check(&nest(80), 1);
    check(&nest(80), 0);
}

/// A kernel with many blocks is cut into parts, so functions of a program twice as long are equally long.
fn long_programs_are_cut() {
    for (name, short, long) in [("loops", loops(400), loops(800)), ("branches", branches(400), branches(800))] {
        let [short, long] = [short, long].map(|body| functions(&body));
        assert!(short.len() > 1 && long.len() > short.len(), "{name}: {} and {}", short.len(), long.len());
        let [s, l] = [longest(&short), longest(&long)];
        assert!(l as f64 <= 1.25 * s as f64, "{name}: {s} and {l} lines");
    }
    // A single long block is cut too.
    assert!(functions(&pointers(17_000)).len() > 1);
    // Shorter kernels stay one function.
    for body in [loops(300), branches(250), views(250), nest(30)] {
        assert_eq!(functions(&body).len(), 1);
    }
}

/// No function nests more than 32 loops.
fn deep_programs_are_cut() {
    let [deep, twice] = [nest(70), nest(140)].map(|body| functions(&body));
    assert!(deep.len() > 1 && twice.len() >= 2 * deep.len() - 1, "{} {}", deep.len(), twice.len());
    let [deep, twice] = [longest(&deep), longest(&twice)];
    assert!(twice as f64 <= 1.25 * deep as f64, "{deep} {twice} lines");
}

/// In programs with many single-element accesses, each access has one form instead of a branch around the check.
fn many_checked_accesses_have_one_form() {
    let branches = |n| functions(&views(n)).iter().map(|f| f.matches("bra").count()).sum::<usize>();
    let [few, many] = [120, 130].map(branches);
    assert!(few > 100 && many == 0, "{few} {many}");
}

/// `tileas-order-memory` walks nested loops about as often as there are loops.
fn order_is_found_in_few_walks() {
    let walks = |n: usize| -> usize {
        let mut text = String::from("    %t0 = make_token : token\n");
        for q in 0..n {
            let next = q + 1;
            text += &format!(
                "    %u{q} = for %i{q} in (%z to %m, step %o) : {I32} iter_values(%t{next} = %t{q}) -> (token) {{\n"
            );
        }
        text += &format!(
            "    %v, %r = load_ptr_tko weak %y token=%t{n} : tile<ptr<i32>> -> {I32}, token\n    \
             %u{n} = store_ptr_tko weak %y, %v token=%r : tile<ptr<i32>>, {I32} -> token\n"
        );
        (0..n).rev().for_each(|q| text += &format!("    continue %u{} : token\n    }}\n", q + 1));
        counted(&format!("walks{n}"), &program(&text), "sm_90", "num-walks")
    };
    let [few, many] = [walks(60), walks(240)];
    assert!(many <= 4 * few + 20, "{few} walks through 60 loops, {many} through 240");
    assert!(few <= 60 * 8, "{few}");
}

pub fn trials() -> Vec<Trial> {
    functions![
        synchronization_is_checked_in_few_steps,
        protocols_of_many_loops_are_checked,
        long_programs_mean_the_same,
        deep_programs_mean_the_same,
        long_programs_are_cut,
        deep_programs_are_cut,
        many_checked_accesses_have_one_form,
        order_is_found_in_few_walks
    ]
}
