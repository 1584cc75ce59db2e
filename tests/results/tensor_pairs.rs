//! Dots of tiles of 256 rows on sm_100 that two CTAs run together. Each CTA has 128 rows, and half of the columns of
//! the right operand. Programs run and are checked as in `tensor_products`.

use product_kind::{HALVES, Kind, RAGGED};
use tile_interp::types::Number;
use tile_test_support::{Trial, functions, product_kind};

const PAIRED: Kind = Kind { m: 256, n: 128, ..RAGGED };

fn loops_of_any_count() {
    for trips in [0, 1, 2, 9] {
        let kind = Kind { trips, ..PAIRED };
        kind.multiplied_by_pairs(&kind.usual());
    }
}

fn all_columns() {
    for (n, k) in [(64, 64), (256, 16), (256, 64)] {
        let kind = Kind { n, k, outside: [130, 3, 0], ..PAIRED };
        kind.multiplied_by_pairs(&kind.usual());
    }
}

fn either_order_in_memory() {
    let bytes = Kind { element: Number::I8, sum: Number::I32, mode: "signed signed", ..PAIRED };
    // Elements of 32 bits that are not contiguous along the depth are in units of 32 bytes.
    let words = Kind { element: Number::F32, rounded: true, k: 32, outside: [5, 3, 8], ..PAIRED };
    for kind in [PAIRED, bytes, Kind { element: Number::E4m3, ..PAIRED }, words] {
        for turned in [[true, false], [false, true], [true, true], [false, false]] {
            let kind = Kind { turned, ..kind };
            kind.multiplied_by_pairs(&kind.usual());
        }
    }
}

fn other_types() {
    let rounded = Kind { element: Number::F32, rounded: true, k: 32, outside: [5, 3, 8], ..PAIRED };
    for kind in [
        Kind { element: Number::Bf16, ..PAIRED },
        Kind { element: Number::E5m2, mode: "fast_acc", ..PAIRED },
        Kind { turned: [false, true], ..rounded },
        Kind { batched: true, ..PAIRED },
    ] {
        kind.multiplied_by_pairs(&kind.usual());
    }
}

fn outside_of_a_loop() {
    let kind = Kind { trips: 1, ..PAIRED };
    kind.multiplied_by_pairs(&(kind.product("sum", "%x", "%zero", "%init") + &kind.store("%sum", "%x")));
}

/// Loops over tiles. The first cluster processes both tiles, and the second none.
fn tile_after_tile() {
    for (trips, n) in [(0, 128), (1, 256), (3, 64)] {
        let kind = Kind { trips, n, flag: 0, outside: [0, 0, 0], ..PAIRED };
        let tile = kind.looped("sum", "%init", &kind.product("next", "%tile", "%k", "%acc"))
            + &kind.relu("positive", "%sum")
            + &kind.store("%positive", "%tile");
        kind.multiplied_by_pairs(&format!(
            "%first = cmpi equal %x, %flag, signed : tile<i32> -> tile<i1>\n\
             %end = select %first, %two, %zero : tile<i1>, tile<i32>\n\
             for %tile in (%zero to %end, step %one) : tile<i32> {{\n{tile}continue\n}}\n"
        ));
    }
}

fn in_branches() {
    for flag in [0, 1] {
        let kind = Kind { flag, ..PAIRED };
        let sums = kind.sums();
        let taken = kind.looped("taken", "%init", &kind.product("next", "%x", "%k", "%acc"));
        kind.multiplied_by_pairs(&format!(
            "%condition = cmpi equal %flag, %one, signed : tile<i32> -> tile<i1>\n\
             %sum = if %condition -> ({sums}) {{\n{taken}yield %taken : {sums}\n}} else {{\n\
             yield %init : {sums}\n}}\n{}",
            kind.store("%sum", "%x")
        ));
    }
}

fn one_loop_after_another() {
    let first = PAIRED.looped("first", "%init", &PAIRED.product("next", "%x", "%k", "%acc"));
    let second = PAIRED.looped("second", "%init", &PAIRED.product("next", "%x", "%k", "%acc"));
    let rest = PAIRED.relu("positive", "%first") + &PAIRED.plus("sum", "%positive", "%second");
    PAIRED.multiplied_by_pairs(&(first + &second + &rest + &PAIRED.store("%sum", "%x")));
}

fn used_in_the_loop() {
    let fresh = PAIRED.product("sum", "%x", "%k", "%init")
        + &PAIRED.relu("positive", "%sum")
        + &PAIRED.plus("next", "%acc", "%positive");
    PAIRED.multiplied_by_pairs(&(PAIRED.looped("all", "%init", &fresh) + &PAIRED.store("%all", "%x")));
}

fn without_ragged_edges() {
    let kind = Kind { m: 256, n: 256, ..HALVES };
    kind.multiplied_by_pairs(&kind.usual());
}

pub fn trials() -> Vec<Trial> {
    functions![
        loops_of_any_count,
        all_columns,
        either_order_in_memory,
        other_types,
        outside_of_a_loop,
        tile_after_tile,
        in_branches,
        one_loop_after_another,
        used_in_the_loop,
        without_ragged_edges
    ]
}
