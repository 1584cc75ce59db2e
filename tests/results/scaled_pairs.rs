//! Block-scaled dots of tiles of 256 rows on sm_100 that two CTAs run together. Each CTA has 128 rows of operands and
//! scale factors, half of the columns of the right operand, and the scale factors of all columns. Programs run and are
//! checked as in `scaled_products`.

use scaled_kind::{MXF8, ScaledKind};
use tile_interface::Emit;
use tile_interp::types::Number;
use tile_test_support::{Trial, exact, functions, scaled_kind};

const PAIRED: ScaledKind = ScaledKind { m: 256, n: 128, ..MXF8 };
/// The same with elements of four bits.
const FP4: ScaledKind = ScaledKind { element: Number::E2m1, scale: Number::E4m3, block: 16, k: 256, ..PAIRED };

/// Copies bring the scale factors, and converters of both CTAs rearrange them.
fn loops_of_any_count() {
    for trips in [0, 1, 2, 4, 9] {
        let kind = ScaledKind { trips, ..PAIRED };
        kind.multiplied_by_pairs(&kind.usual());
    }
}

/// Scale factors in blocks: converters pass them on as copies bring them. Each CTA has whole blocks.
fn scales_in_blocks() {
    for (kind, outside) in [(PAIRED, [0, 0, 0]), (FP4, [0, 0, 0]), (PAIRED, [100, 3, 9]), (FP4, [127, 100, 6])] {
        for n in [128, 256] {
            let kind = ScaledKind { n, outside, trips: 4, blocked: true, ..kind };
            let text = kind.program(&kind.usual());
            let code = exact::compiled_for("sm_100", &text, 3, Emit::Ptx, &[("num-ctas", "2")]);
            assert!(code.contains("cp.async.bulk.shared::cluster.global.mbarrier"), "no bulk copy\n{text}");
            kind.multiplied_by_pairs(&kind.usual());
        }
    }
}

/// Scale factors that TMA cannot load: warps of both CTAs arrive at the leader's barriers.
fn scales_by_warps() {
    for (n, k) in [(64, 128), (128, 64), (256, 32)] {
        let kind = ScaledKind { n, k, trips: 3, ..PAIRED };
        kind.multiplied_by_pairs(&kind.usual());
    }
}

fn either_order_in_memory() {
    for across in [[true, false], [false, true], [true, true]] {
        let kind = ScaledKind { across, trips: 2, ..PAIRED };
        kind.multiplied_by_pairs(&kind.usual());
        let kind = ScaledKind { scales_across: across, trips: 2, ..PAIRED };
        kind.multiplied_by_pairs(&kind.usual());
    }
}

/// Elements of four bits, two in a byte, with 8 and 16 scale factors for each row; and the other 8-bit elements.
fn other_types() {
    let fives = ScaledKind { element: Number::E5m2, ..PAIRED };
    for kind in [FP4, ScaledKind { n: 256, ..FP4 }, ScaledKind { scale: Number::E8m0, block: 32, ..FP4 }, fives] {
        kind.multiplied_by_pairs(&kind.usual());
    }
}

/// Rows, columns and depth end inside of tiles; one CTA of the last pair has no rows.
fn ragged_edges() {
    for (n, outside) in [(64, [5, 3, 9]), (128, [200, 77, 70]), (256, [255, 15, 127])] {
        let kind = ScaledKind { n, outside, ..PAIRED };
        kind.multiplied_by_pairs(&kind.usual());
    }
}

/// Loops over tiles. The first cluster processes both tiles, and the second none.
fn tile_after_tile() {
    for (trips, n) in [(0, 128), (1, 256), (3, 64)] {
        let kind = ScaledKind { trips, n, flag: 0, ..PAIRED };
        let tile =
            kind.looped("sum", "%init", &kind.product("next", "%tile", "%k", "%acc")) + &kind.store("%sum", "%tile");
        kind.multiplied_by_pairs(&format!(
            "%first = cmpi equal %x, %flag, signed : tile<i32> -> tile<i1>\n\
             %end = select %first, %two, %zero : tile<i1>, tile<i32>\n\
             for %tile in (%zero to %end, step %one) : tile<i32> {{\n{tile}continue\n}}\n"
        ));
    }
}

/// A loop of dots in one branch.
fn in_branches() {
    for flag in [0, 1] {
        let kind = ScaledKind { flag, ..PAIRED };
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

/// Without an option, tiles whose accumulators leave no columns for scale factors go to pairs.
fn chosen_for_large_tiles() {
    for (kind, blocked) in [(PAIRED, false), (PAIRED, true), (FP4, false), (FP4, true)] {
        let kind = ScaledKind { n: 256, trips: 2, blocked, outside: [100, 9, 6], ..kind };
        let text = kind.program(&kind.usual());
        let code = exact::compiled_for("sm_100", &text, 3, Emit::Ptx, &[]);
        assert!(code.contains("tcgen05.mma.cta_group::2"), "no dots of pairs\n{text}");
        kind.multiplied_by_pairs(&kind.usual());
    }
}

/// Neighbouring tile blocks of 128 rows, of which the grid has two and each has its own row of tiles.
fn neighbours() {
    for (kind, blocked) in [(PAIRED, false), (PAIRED, true), (FP4, false), (FP4, true)] {
        for trips in [1, 4] {
            let kind = ScaledKind { m: 128, trips, blocked, outside: [100, 9, 6], ..kind };
            kind.multiplied_by_neighbours(&kind.usual());
        }
    }
}

pub fn trials() -> Vec<Trial> {
    functions![
        loops_of_any_count,
        scales_in_blocks,
        scales_by_warps,
        either_order_in_memory,
        other_types,
        ragged_edges,
        tile_after_tile,
        in_branches,
        chosen_for_large_tiles,
        neighbours
    ]
}
