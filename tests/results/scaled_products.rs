//! Block-scaled dots of tiles of views on sm_100, with accumulators and scale factors in tensor memory. The programs
//! are compiled from the public language and run on the simulator, and the results are compared with the reference
//! interpreter.
//!
//! Operands are small whole numbers and scale factors are powers of two, so sums are exact in any order. Each program
//! runs with the ordinary schedule and with adversarial schedules and race detection.

use scaled_kind::{MXF8, ScaledKind};
use tile_interface::Emit;
use tile_interp::types::Number;
use tile_test_support::{Trial, exact, functions, scaled_kind};

/// The same with elements of four bits.
const FP4: ScaledKind = ScaledKind { element: Number::E2m1, scale: Number::E4m3, block: 16, k: 256, ..MXF8 };

fn loops_of_any_count() {
    for trips in [0, 1, 2, 3, 4, 9] {
        let kind = ScaledKind { trips, ..MXF8 };
        kind.multiplied_in_tensor_memory(&kind.usual());
    }
}

/// Fewer columns than a block of scale factors has, as many, and more; one scale factor for each row, two, four and
/// eight; one instruction of 128 rows and two.
fn tiles_of_other_extents() {
    for (m, n, k) in [(128, 16, 128), (128, 32, 32), (128, 128, 64), (128, 256, 128), (128, 64, 256), (256, 32, 128)] {
        let kind = ScaledKind { m, n, k, trips: 2, ..MXF8 };
        kind.multiplied_in_tensor_memory(&kind.usual());
    }
}

/// Operands and scale factors that are contiguous along either dimension.
fn either_order_in_memory() {
    for across in [[true, false], [false, true], [true, true]] {
        let kind = ScaledKind { across, n: 128, trips: 2, ..MXF8 };
        kind.multiplied_in_tensor_memory(&kind.usual());
        let kind = ScaledKind { scales_across: across, n: 128, trips: 2, ..MXF8 };
        kind.multiplied_in_tensor_memory(&kind.usual());
    }
}

fn other_types() {
    let kind = ScaledKind { element: Number::E5m2, ..MXF8 };
    kind.multiplied_in_tensor_memory(&kind.usual());
}

/// Elements of four bits, two in a byte, with 4, 8 and 16 scale factors for each row.
fn packed_elements() {
    for (scale, block) in [(Number::E8m0, 32), (Number::E8m0, 16), (Number::E4m3, 16)] {
        for (n, k) in [(64, 64), (16, 128), (128, 256), (256, 256)] {
            let kind = ScaledKind { n, k, scale, block, ..FP4 };
            kind.multiplied_in_tensor_memory(&kind.usual());
        }
    }
    for trips in [0, 1, 4] {
        let kind = ScaledKind { trips, ..FP4 };
        kind.multiplied_in_tensor_memory(&kind.usual());
    }
    for outside in [[5, 3, 6], [127, 63, 254]] {
        for scales_across in [[false, false], [true, true]] {
            let kind = ScaledKind { outside, scales_across, ..FP4 };
            kind.multiplied_in_tensor_memory(&kind.usual());
        }
    }
}

/// Scale factors in blocks, which are copied as they are. Without enough columns for a block, warps bring them.
fn scales_in_blocks() {
    for (kind, outside) in [(MXF8, [0, 0, 0]), (FP4, [0, 0, 0]), (MXF8, [5, 3, 9]), (FP4, [127, 100, 6])] {
        for n in [128, 256] {
            let kind = ScaledKind { n, outside, trips: 4, blocked: true, ..kind };
            let text = kind.program(&kind.usual());
            let code = exact::compiled_for("sm_100", &text, 3, Emit::Ptx, &[]);
            assert!(code.contains("cp.async.bulk.shared::cluster.global.mbarrier"), "no bulk copy\n{text}");
            kind.multiplied_in_tensor_memory(&kind.usual());
        }
    }
}

/// Combinations of all properties, a sample of them at random.
fn combinations() {
    let mut state = 7u32;
    let mut pick = |count: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) as usize % count
    };
    let mxf4 = ScaledKind { scale: Number::E8m0, block: 32, ..FP4 };
    for _ in 0..if tile_test_support::full() { 100 } else { 4 } {
        let kind = [MXF8, ScaledKind { element: Number::E5m2, ..MXF8 }, FP4, mxf4][pick(4)];
        let (n, k) = ([16, 32, 64, 128, 256][pick(5)], kind.k >> pick(3));
        let is_packed = kind.element == Number::E2m1;
        let depth = pick(k) / 2 * 2;
        let kind = ScaledKind {
            n,
            k,
            trips: pick(5),
            across: if is_packed { [false; 2] } else { [pick(2) > 0, pick(2) > 0] },
            scales_across: [pick(2) > 0, pick(2) > 0],
            blocked: n >= 128 && k / kind.block >= 4 && pick(2) > 0,
            outside: [pick(128), pick(n), if pick(2) > 0 { depth } else { 0 }],
            ..kind
        };
        kind.multiplied_in_tensor_memory(&kind.usual());
    }
}

/// What instructions into tensor memory cannot multiply: tiles of 64 rows, packed elements that are contiguous across
/// the depth, and an odd number of them in a row.
fn other_instructions() {
    ScaledKind { m: 64, ..MXF8 }.multiplied_otherwise();
    ScaledKind { across: [true, false], trips: 1, ..FP4 }.multiplied_otherwise();
    ScaledKind { outside: [0, 0, 5], trips: 1, ..FP4 }.multiplied_otherwise();
}

/// Rows, columns and depth end inside of tiles.
fn ragged_edges() {
    for (n, outside) in [(64, [5, 3, 9]), (128, [100, 77, 70]), (16, [127, 15, 127])] {
        let kind = ScaledKind { n, outside, ..MXF8 };
        kind.multiplied_in_tensor_memory(&kind.usual());
    }
}

fn outside_of_a_loop() {
    let kind = ScaledKind { trips: 1, ..MXF8 };
    kind.multiplied_in_tensor_memory(&(kind.product("sum", "%x", "%zero", "%init") + &kind.store("%sum", "%x")));
}

/// Loops over tiles around the loop.
fn tile_after_tile() {
    for (trips, n) in [(0, 32), (1, 256), (3, 64)] {
        let kind = ScaledKind { trips, n, flag: 0, ..MXF8 };
        let tile =
            kind.looped("sum", "%init", &kind.product("next", "%tile", "%k", "%acc")) + &kind.store("%sum", "%tile");
        // The first tile block processes both tiles, and the second none.
        kind.multiplied_in_tensor_memory(&format!(
            "%first = cmpi equal %x, %flag, signed : tile<i32> -> tile<i1>\n\
             %end = select %first, %two, %zero : tile<i1>, tile<i32>\n\
             for %tile in (%zero to %end, step %one) : tile<i32> {{\n{tile}continue\n}}\n"
        ));
    }
}

/// A loop of dots in one branch.
fn in_branches() {
    for flag in [0, 1] {
        let kind = ScaledKind { flag, ..MXF8 };
        let sums = kind.sums();
        let taken = kind.looped("taken", "%init", &kind.product("next", "%x", "%k", "%acc"));
        kind.multiplied_in_tensor_memory(&format!(
            "%condition = cmpi equal %flag, %one, signed : tile<i32> -> tile<i1>\n\
             %sum = if %condition -> ({sums}) {{\n{taken}yield %taken : {sums}\n}} else {{\n\
             yield %init : {sums}\n}}\n{}",
            kind.store("%sum", "%x")
        ));
    }
}

pub fn trials() -> Vec<Trial> {
    functions![
        loops_of_any_count,
        tiles_of_other_extents,
        either_order_in_memory,
        other_types,
        packed_elements,
        scales_in_blocks,
        other_instructions,
        combinations,
        ragged_edges,
        outside_of_a_loop,
        tile_after_tile,
        in_branches
    ]
}
