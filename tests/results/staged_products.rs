//! Dots of tiles of views on sm_120, whose operands a producer loads into rings and whose warps use `mma.sync`. The
//! programs are compiled from the public language and run on the simulator, and the results are compared with the
//! reference interpreter.
//!
//! Operands are small whole numbers, so sums are exact in any order. Each program runs with the ordinary schedule and
//! with adversarial schedules and race detection. The programs of `warpgroup_products` run for sm_120 too.

use product_kind::{HALVES, Kind, RAGGED};
use scaled_kind::{MXF8, ScaledKind};
use tile_interp::types::Number;
use tile_test_support::{Trial, functions, product_kind, scaled_kind};

fn loops_of_any_count() {
    for trips in [0, 1, 2, 9] {
        let kind = Kind { trips, ..RAGGED };
        kind.multiplied_from_stages(&kind.usual());
    }
}

/// Eight warps and four, few rows and few columns, and accumulators that need `setmaxnreg`.
fn tiles_of_other_extents() {
    for (m, n, k) in [(64, 8, 16), (16, 64, 64), (64, 64, 64), (128, 128, 64), (256, 32, 32), (128, 256, 32)] {
        let kind = Kind { m, n, k, trips: 2, ..HALVES };
        kind.multiplied_from_stages(&kind.usual());
    }
}

/// `ldmatrix` transposes 16-bit elements and, by 16x16, 8-bit elements. Elements of 32 bits are read one by one, and
/// TMA rounds them.
fn either_order_in_memory() {
    for element in [Number::F16, Number::Bf16] {
        for turned in [[true, false], [false, true], [true, true], [false, false]] {
            let kind = Kind { element, turned, n: 64, ..RAGGED };
            kind.multiplied_from_stages(&kind.usual());
        }
    }
    let bytes = Kind { element: Number::I8, sum: Number::I32, mode: "signed signed", ..RAGGED };
    let words = Kind { element: Number::F32, rounded: true, outside: [5, 3, 8], ..RAGGED };
    let narrow = Kind { element: Number::E4m3, ..RAGGED };
    for kind in [bytes, narrow, Kind { element: Number::E5m2, sum: Number::F16, ..narrow }, words] {
        for turned in [[true, false], [true, true], [false, false]] {
            for (m, n, k) in [(64, 64, 32), (128, 32, 64)] {
                let kind = Kind { turned, m, n, k, ..kind };
                kind.multiplied_from_stages(&kind.usual());
            }
        }
    }
}

fn other_types() {
    let bytes = Kind { element: Number::I8, sum: Number::I32, mode: "signed signed", turned: [false, true], ..RAGGED };
    let rounded = Kind { element: Number::F32, rounded: true, k: 32, outside: [5, 3, 8], ..RAGGED };
    for kind in [
        Kind { sum: Number::F16, ..RAGGED },
        bytes,
        Kind { mode: "unsigned unsigned", ..bytes },
        Kind { element: Number::E4m3, turned: [false, true], ..RAGGED },
        Kind { element: Number::E5m2, mode: "fast_acc", turned: [false, true], ..RAGGED },
        Kind { element: Number::E4m3, sum: Number::F16, turned: [false, true], ..RAGGED },
        Kind { turned: [false, true], ..rounded },
        Kind { batched: true, ..RAGGED },
    ] {
        kind.multiplied_from_stages(&kind.usual());
    }
}

/// Scale factors, which each warp loads for 32 rows or columns at a time.
fn block_scales() {
    let narrow = ScaledKind { element: Number::E5m2, m: 64, n: 32, ..MXF8 };
    for kind in [MXF8, narrow, ScaledKind { trips: 0, ..narrow }, ScaledKind { trips: 9, ..MXF8 }] {
        kind.multiplied_from_stages(&kind.usual());
    }
    for across in [[true, false], [false, true], [true, true]] {
        let kind = ScaledKind { across, trips: 2, ..MXF8 };
        kind.multiplied_from_stages(&kind.usual());
        let kind = ScaledKind { scales_across: across, trips: 2, ..MXF8 };
        kind.multiplied_from_stages(&kind.usual());
    }
    let blocked = ScaledKind { blocked: true, n: 128, trips: 2, ..MXF8 };
    blocked.multiplied_from_stages(&blocked.usual());
    for (m, n, k, outside) in [(128, 128, 64, [5, 3, 9]), (64, 64, 256, [63, 31, 70]), (128, 64, 128, [127, 15, 127])] {
        let kind = ScaledKind { m, n, k, outside, ..MXF8 };
        kind.multiplied_from_stages(&kind.usual());
    }
}

/// Elements of four bits, two in a byte, with 2 to 16 scale factors for each row.
fn packed_elements() {
    let packed = ScaledKind { element: Number::E2m1, k: 128, ..MXF8 };
    for (scale, block) in [(Number::E8m0, 32), (Number::E8m0, 16), (Number::E4m3, 16)] {
        for (m, n, k) in [(128, 64, 64), (64, 128, 128), (128, 128, 256)] {
            let kind = ScaledKind { m, n, k, scale, block, ..packed };
            kind.multiplied_from_stages(&kind.usual());
        }
    }
    for (trips, outside, scales_across) in
        [(0, [0; 3], [false; 2]), (9, [0; 3], [true; 2]), (3, [5, 3, 6], [false; 2]), (2, [63, 31, 126], [true, false])]
    {
        let kind = ScaledKind { trips, outside, scales_across, scale: Number::E4m3, block: 16, ..packed };
        kind.multiplied_from_stages(&kind.usual());
    }
}

/// Loops over tiles around the loop: rings continue from one tile to the next.
fn tile_after_tile() {
    for (trips, m, n) in [(0, 64, 32), (1, 128, 128), (3, 128, 64)] {
        let kind = Kind { trips, m, n, flag: 0, ..HALVES };
        let tile = kind.looped("sum", "%init", &kind.product("next", "%tile", "%k", "%acc"))
            + &kind.relu("positive", "%sum")
            + &kind.store("%positive", "%tile");
        // The first tile block processes both tiles, and the second none.
        kind.multiplied_from_stages(&format!(
            "%first = cmpi equal %x, %flag, signed : tile<i32> -> tile<i1>\n\
             %end = select %first, %two, %zero : tile<i1>, tile<i32>\n\
             for %tile in (%zero to %end, step %one) : tile<i32> {{\n{tile}continue\n}}\n"
        ));
    }
}

/// A loop of dots in one branch, or in both.
fn in_branches() {
    for (flag, both) in [(0, false), (1, false), (0, true), (1, true)] {
        let kind = Kind { flag, ..RAGGED };
        let sums = kind.sums();
        let other = if both { kind.product("other", "%x", "%zero", "%init") } else { String::new() };
        let given = if both { "%other" } else { "%init" };
        let taken = kind.looped("taken", "%init", &kind.product("next", "%x", "%k", "%acc"));
        kind.multiplied_from_stages(&format!(
            "%condition = cmpi equal %flag, %one, signed : tile<i32> -> tile<i1>\n\
             %sum = if %condition -> ({sums}) {{\n{taken}yield %taken : {sums}\n}} else {{\n\
             {other}yield {given} : {sums}\n}}\n{}",
            kind.store("%sum", "%x")
        ));
    }
}

/// Two loops whose results are added.
fn one_loop_after_another() {
    let first = RAGGED.looped("first", "%init", &RAGGED.product("next", "%x", "%k", "%acc"));
    let second = RAGGED.looped("second", "%init", &RAGGED.product("next", "%x", "%k", "%acc"));
    let rest = RAGGED.relu("positive", "%first") + &RAGGED.plus("sum", "%positive", "%second");
    RAGGED.multiplied_from_stages(&(first + &second + &rest + &RAGGED.store("%sum", "%x")));
}

/// An iteration computes with the result of its dot, or changes the accumulator before it.
fn used_and_changed_in_the_loop() {
    let fresh = RAGGED.product("sum", "%x", "%k", "%init")
        + &RAGGED.relu("positive", "%sum")
        + &RAGGED.plus("next", "%acc", "%positive");
    let changed = RAGGED.product("sum", "%x", "%k", "%acc") + &RAGGED.relu("next", "%sum");
    for body in [fresh, changed] {
        RAGGED.multiplied_from_stages(&(RAGGED.looped("all", "%init", &body) + &RAGGED.store("%all", "%x")));
    }
}

pub fn trials() -> Vec<Trial> {
    functions![
        loops_of_any_count,
        tiles_of_other_extents,
        either_order_in_memory,
        other_types,
        block_scales,
        packed_elements,
        tile_after_tile,
        in_branches,
        one_loop_after_another,
        used_and_changed_in_the_loop
    ]
}
