//! Dots of tiles of views on sm_100 whose accumulators are in tensor memory. The programs are compiled from the public
//! language and run on the simulator, and the results are compared with the reference interpreter.
//!
//! Operands are small whole numbers, so sums are exact in any order. Each program runs with the ordinary schedule and
//! with adversarial schedules and race detection. The programs of `warpgroup_products` run for sm_100 too.

use product_kind::{HALVES, Kind, RAGGED};
use tile_interface::Emit;
use tile_interp::types::Number;
use tile_test_support::{Trial, exact, functions, product_kind};

fn loops_of_any_count() {
    for trips in [0, 1, 2, 9] {
        let kind = Kind { m: 128, trips, ..RAGGED };
        kind.multiplied_in_tensor_memory(&kind.usual());
    }
}

/// The bounds are constants that show that the loop runs, so that nothing stores zeros before it.
fn loops_of_a_constant_count() {
    let kind = Kind { m: 128, trips: 2, ..RAGGED };
    let two = |name: &str, init: &str| {
        kind.looped(name, init, &kind.product("next", "%x", "%k", "%acc")).replace("to %n,", "to %two,")
    };
    kind.multiplied_in_tensor_memory(&(two("sum", "%init") + &kind.store("%sum", "%x")));
    let (sums, inner) = (kind.sums(), two("inner", "%outer"));
    kind.multiplied_in_tensor_memory(&format!(
        "%sum = for %again in (%zero to %two, step %one) : tile<i32> iter_values(%outer = %init) -> ({sums}) {{\n\
         {inner}continue %inner : {sums}\n}}\n{}",
        kind.store("%sum", "%x")
    ));
}

/// One instruction of 64 rows, of 128 rows, and two of 128 rows; few columns and many.
fn tiles_of_other_extents() {
    for (m, n, k) in [(64, 16, 16), (64, 256, 64), (128, 16, 128), (128, 256, 32), (256, 32, 64), (256, 128, 16)] {
        let kind = Kind { m, n, k, trips: 2, ..HALVES };
        kind.multiplied_in_tensor_memory(&kind.usual());
    }
}

fn either_order_in_memory() {
    let bytes = Kind { element: Number::I8, sum: Number::I32, mode: "signed signed", ..RAGGED };
    // Elements of 32 bits that are not contiguous along the depth are in units of 32 bytes.
    let words = Kind { element: Number::F32, rounded: true, k: 32, outside: [5, 3, 8], ..RAGGED };
    for kind in [RAGGED, bytes, Kind { element: Number::E4m3, ..RAGGED }, words] {
        for turned in [[true, false], [false, true], [true, true], [false, false]] {
            let kind = Kind { m: 128, n: 64, turned, ..kind };
            kind.multiplied_in_tensor_memory(&kind.usual());
        }
    }
    // Too few columns for units.
    let kind = Kind { m: 128, n: 16, ..words };
    kind.multiplied_in_tensor_memory(&kind.usual());
}

fn other_types() {
    let bytes = Kind { element: Number::I8, sum: Number::I32, ..RAGGED };
    let rounded = Kind { element: Number::F32, rounded: true, k: 32, outside: [5, 3, 8], ..RAGGED };
    for kind in [
        Kind { element: Number::Bf16, ..RAGGED },
        Kind { element: Number::E5m2, mode: "fast_acc", ..RAGGED },
        Kind { mode: "unsigned unsigned", ..bytes },
        Kind { turned: [false, true], ..rounded },
        Kind { batched: true, ..RAGGED },
    ] {
        let kind = Kind { m: 128, ..kind };
        kind.multiplied_in_tensor_memory(&kind.usual());
    }
}

fn outside_of_a_loop() {
    let kind = Kind { trips: 1, ..RAGGED };
    kind.multiplied_in_tensor_memory(&(kind.product("sum", "%x", "%zero", "%init") + &kind.store("%sum", "%x")));
}

/// Loops over tiles around the loop. Accumulators have two stages: the next tile starts while this one is stored.
fn tile_after_tile() {
    for (trips, m, n) in [(0, 64, 32), (1, 128, 256), (3, 256, 64)] {
        let kind = Kind { trips, m, n, flag: 0, ..HALVES };
        let tile = kind.looped("sum", "%init", &kind.product("next", "%tile", "%k", "%acc"))
            + &kind.relu("positive", "%sum")
            + &kind.store("%positive", "%tile");
        // The first tile block processes both tiles, and the second none.
        kind.multiplied_in_tensor_memory(&format!(
            "%first = cmpi equal %x, %flag, signed : tile<i32> -> tile<i1>\n\
             %end = select %first, %two, %zero : tile<i1>, tile<i32>\n\
             for %tile in (%zero to %end, step %one) : tile<i32> {{\n{tile}continue\n}}\n"
        ));
    }
}

/// A loop of dots in one branch, or in both.
fn in_branches() {
    for (flag, both) in [(0, false), (1, false), (0, true), (1, true)] {
        let kind = Kind { m: 128, flag, ..RAGGED };
        let sums = kind.sums();
        let other = if both { kind.product("other", "%x", "%zero", "%init") } else { String::new() };
        let given = if both { "%other" } else { "%init" };
        let taken = kind.looped("taken", "%init", &kind.product("next", "%x", "%k", "%acc"));
        kind.multiplied_in_tensor_memory(&format!(
            "%condition = cmpi equal %flag, %one, signed : tile<i32> -> tile<i1>\n\
             %sum = if %condition -> ({sums}) {{\n{taken}yield %taken : {sums}\n}} else {{\n\
             {other}yield {given} : {sums}\n}}\n{}",
            kind.store("%sum", "%x")
        ));
    }
}

/// Two loops whose results are added, each with an accumulator of its own.
fn one_loop_after_another() {
    let kind = Kind { m: 128, ..RAGGED };
    let first = kind.looped("first", "%init", &kind.product("next", "%x", "%k", "%acc"));
    let second = kind.looped("second", "%init", &kind.product("next", "%x", "%k", "%acc"));
    let rest = kind.relu("positive", "%first") + &kind.plus("sum", "%positive", "%second");
    kind.multiplied_in_tensor_memory(&(first + &second + &rest + &kind.store("%sum", "%x")));
}

/// Warps of the producer compute the left operand.
fn computed_operands() {
    for (m, n) in [(64, 32), (128, 256), (256, 64)] {
        let kind = Kind { m, n, computed: true, ..RAGGED };
        kind.multiplied_in_tensor_memory(&kind.usual());
    }
}

/// Two loops in a row, one of which has a computed operand. The warps that compute it have no work in the other loop.
fn computed_in_one_of_two_loops() {
    for (trips, flag, step) in [(2, 1, "%one"), (3, 0, "%two"), (9, 9, "%one")] {
        let plain = Kind { m: 128, trips, flag, ..RAGGED };
        let computed = Kind { computed: true, ..plain };
        let bounds = format!("to %flag, step {step}");
        for (kinds, init) in [([plain, computed], "%first"), ([computed, plain], "%init")] {
            let [first, second] = kinds.map(|kind| kind.product("next", "%x", "%k", "%acc"));
            let loops = plain.looped("first", "%init", &first)
                + &plain.looped("second", init, &second).replace("to %n, step %one", &bounds);
            let rest = plain.relu("positive", "%first") + &plain.plus("sum", "%positive", "%second");
            plain.multiplied_in_tensor_memory(&(loops + &rest + &plain.store("%sum", "%x")));
        }
    }
}

/// Tensors after the loops that fit the registers in slices of columns only. The loops may not run, and edges cut
/// slices.
fn in_slices() {
    for (trips, n, outside) in [(0, 256, [5, 3, 9]), (2, 256, [5, 70, 9]), (3, 128, [0, 0, 0])] {
        let kind = Kind { m: 128, n, trips, outside, ..HALVES };
        let first = kind.looped("first", "%init", &kind.product("next", "%x", "%k", "%acc"));
        let second = kind.looped("second", "%init", &kind.product("next", "%x", "%k", "%acc"));
        let rest = kind.relu("positive", "%first")
            + &kind.plus("sum", "%positive", "%second")
            + &kind.relu("most", "%sum")
            + &kind.plus("all", "%most", "%first");
        kind.multiplied_in_tensor_memory(&(first + &second + &rest + &kind.store("%all", "%x")));
    }
}

/// Results of 16 bits that TMA stores in slices of 64 columns. Two slices are in shared memory: threads write one while
/// TMA reads the other one. Edges cut slices, or leave nothing of them; the stores still count. Columns that might end
/// within 16 bytes are stored by threads, after a run-time test.
fn copied_in_slices() {
    for (n, columns, trips, known) in
        [(256, 256, 2, true), (256, 136, 3, true), (128, 40, 0, true), (256, 131, 2, false)]
    {
        let kind = Kind { m: 128, n, trips, flag: columns, ..HALVES };
        let tensor = format!("tensor_view<256x?xf16, strides=[{n},1]>");
        let view = format!("partition_view<tile=(128x{n}), {tensor}>");
        let promise = if known {
            "%width = assume div_by<8>, %flag : tile<i32>"
        } else {
            "%width = addi %flag, %zero : tile<i32>"
        };
        let tile = kind.looped("sum", "%init", &kind.product("next", "%tile", "%k", "%acc"));
        let sums = kind.sums();
        let body = format!(
            "%pc = assume div_by<16>, %c : tile<ptr<f16>>\n{promise}\n\
             %tc = make_tensor_view %pc, shape = [256, %width], strides = [{n}, 1] : tile<i32> -> {tensor}\n\
             %vc = make_partition_view %tc : {view}\n\
             %first = cmpi equal %x, %zero, signed : tile<i32> -> tile<i1>\n\
             %end = select %first, %two, %zero : tile<i1>, tile<i32>\n\
             for %tile in (%zero to %end, step %one) : tile<i32> {{\n{tile}\
             %cast = ftof %sum : {sums} -> tile<128x{n}xf16>\n\
             %done = store_view_tko weak %cast, %vc[%tile, %zero] : tile<128x{n}xf16>, {view}, tile<i32> -> token\n\
             continue\n}}\n"
        );
        let program = kind.program(&body, Number::F16);
        let ptx = exact::compiled_for("sm_100", &program, 3, Emit::Ptx, &[]);
        assert_eq!(ptx.contains("cp.async.bulk.wait_group.read 1;"), known, "{body}");
        exact::check_in_tensor_memory(&program, [2, 1, 1], kind.parameters(Number::F16));
    }
}

/// Each iteration reads the accumulator of its dot, which starts at zero.
fn used_in_the_loop() {
    let kind = Kind { m: 128, ..RAGGED };
    let fresh = kind.product("sum", "%x", "%k", "%init")
        + &kind.relu("positive", "%sum")
        + &kind.plus("next", "%acc", "%positive");
    kind.multiplied_in_tensor_memory(&(kind.looped("all", "%init", &fresh) + &kind.store("%all", "%x")));
}

/// A loop that starts at another value than zero, for which the consumers add it at the end.
fn with_another_start() {
    for trips in [0, 3] {
        let kind = Kind { m: 128, trips, ..RAGGED };
        let first = kind.product("first", "%x", "%zero", "%init") + &kind.relu("positive", "%first");
        let second = kind.looped("second", "%positive", &kind.product("next", "%x", "%k", "%acc"));
        kind.multiplied_in_tensor_memory(&(first + &second + &kind.store("%second", "%x")));
    }
    let bytes = Kind { element: Number::I8, sum: Number::I32, m: 64, mode: "signed signed", ..RAGGED };
    for kind in [Kind { m: 128, ..RAGGED }, bytes] {
        let added = kind.product("first", "%x", "%k", "%acc") + &kind.product("next", "%x", "%zero", "%first");
        kind.multiplied_in_tensor_memory(&(kind.looped("all", "%init", &added) + &kind.store("%all", "%x")));
    }
}

/// The loop changes the accumulator between dots, so that each iteration has an accumulator of its own.
fn changed_in_the_loop() {
    let kind = Kind { m: 128, ..RAGGED };
    let changed = kind.product("sum", "%x", "%k", "%acc") + &kind.relu("next", "%sum");
    kind.multiplied_in_tensor_memory(&(kind.looped("all", "%init", &changed) + &kind.store("%all", "%x")));
}

/// Loops of dots that load nothing, and whose counts are known at run time only: of tiles from outside of the loop, of
/// constants, and of both in two loops with counts of their own.
fn resident_dots() {
    for (trips, flag) in [(0, 2), (1, 0), (1, 1), (2, 2), (3, 0), (3, 5)] {
        let kind = Kind { m: 128, trips, flag, ..RAGGED };
        let (m, n, k, e) = (kind.m, kind.n, kind.k, kind.element.keyword());
        let ones = format!(
            "%ones_a = constant <{e}: 1.0> : tile<{m}x{k}x{e}>\n%ones_b = constant <{e}: 1.0> : tile<{k}x{n}x{e}>\n"
        );
        let loaded = kind.product("first", "%x", "%k", "%acc");
        let last = kind.multiplied("next", "%inner").replace("%next_a, %next_b", "%ones_a, %ones_b");
        let (loaded_pair, ones_pair) = (["%first_a", "%first_b"], ["%ones_a", "%ones_b"]);
        for inner in [
            kind.repeated("inner", "%first", "%flag", ones_pair),
            kind.repeated("inner", "%first", "%flag", loaded_pair),
            // The count differs from iteration to iteration.
            kind.repeated("inner", "%first", "%k", ones_pair),
            kind.repeated("other", "%first", "%flag", ones_pair) + &kind.repeated("inner", "%other", "%k", loaded_pair),
        ] {
            let body = ones.clone() + &loaded + &inner + &last;
            kind.multiplied_in_tensor_memory(&(kind.looped("sum", "%init", &body) + &kind.store("%sum", "%x")));
        }
    }
}

/// Slices of the columns divide the extent of the result, and tiles do not: the last slices are outside of the view.
fn slices_outside_of_the_view() {
    for (n, outside) in [(64, 32), (128, 64), (256, 96)] {
        let kind = Kind { n, outside: [5, outside, 0], ..RAGGED };
        kind.multiplied_in_tensor_memory(&kind.usual());
    }
}

pub fn trials() -> Vec<Trial> {
    functions![
        loops_of_any_count,
        loops_of_a_constant_count,
        tiles_of_other_extents,
        either_order_in_memory,
        other_types,
        outside_of_a_loop,
        tile_after_tile,
        in_branches,
        one_loop_after_another,
        computed_operands,
        computed_in_one_of_two_loops,
        in_slices,
        slices_outside_of_the_view,
        copied_in_slices,
        used_in_the_loop,
        resident_dots,
        with_another_start,
        changed_in_the_loop
    ]
}
