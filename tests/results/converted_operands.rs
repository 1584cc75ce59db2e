//! Dots of warpgroups on sm_90 whose operands are converted in their ring stages before the dot. The programs are
//! compiled from the public language and run on the simulator, and the results are compared with the reference
//! interpreter. Operands are transposed (8-bit and 32-bit elements), rounded to tf32, or computed.

use product_kind::{HALVES, Kind, N, RAGGED};
use tile_interface::Emit;
use tile_interp::types::Number;
use tile_test_support::{Trial, exact, functions, product_kind};

fn bytes() {
    let turned = [false, true];
    for element in [Number::E4m3, Number::E5m2] {
        let kind = Kind { element, mode: "fast_acc", turned, ..RAGGED };
        kind.multiplied_by_warpgroups(&kind.usual());
    }
    for mode in ["signed signed", "unsigned unsigned"] {
        let kind = Kind { element: Number::I8, sum: Number::I32, mode, turned, ..RAGGED };
        kind.multiplied_by_warpgroups(&kind.usual());
    }
}

/// If 8-bit elements are not contiguous along the depth, threads transpose the tile.
fn bytes_across_the_depth() {
    for turned in [[false, false], [true, true], [true, false]] {
        let kind = Kind { element: Number::I8, sum: Number::I32, mode: "signed signed", turned, ..RAGGED };
        kind.multiplied_by_warpgroups(&kind.usual());
    }
    let parts = Kind { m: 128, n: 256, k: 128, trips: 2, ..HALVES };
    let parts = Kind { element: Number::I8, sum: Number::I32, mode: "unsigned unsigned", ..parts };
    parts.multiplied_by_warpgroups(&parts.usual());
}

/// Panels of 128x128 bytes are transposed square by square, either by any number of consumer warpgroups or by a
/// converter warpgroup.
fn panels_of_bytes_across_the_depth() {
    let panels = Kind { m: 128, n: 128, k: 128, outside: [5, 3, 9], ..HALVES };
    let bytes = Kind { element: Number::I8, sum: Number::I32, mode: "signed signed", ..panels };
    for (m, n, trips) in [(128, 128, 2), (128, 256, 3), (64, 128, 2), (64, 256, 1)] {
        let kind = Kind { m, n, trips, ..bytes };
        kind.multiplied_by_warpgroups(&kind.usual());
    }
    for (m, n, turned) in [(128, 128, [true, true]), (128, 64, [true, true]), (256, 128, [true, false])] {
        let kind = Kind { m, n, turned, trips: 2, ..bytes };
        kind.multiplied_by_warpgroups(&kind.usual());
    }
    // More iterations than stages, and no iterations.
    for (element, m, n, turned, trips) in [
        (Number::E4m3, 128, 128, [false, false], 8),
        (Number::E5m2, 128, 256, [false, false], 5),
        (Number::E4m3, 64, 256, [false, false], 1),
        (Number::E4m3, 128, 128, [true, true], 3),
        (Number::E5m2, 64, 128, [false, false], 0),
    ] {
        let outside = if trips == 0 { [0; 3] } else { panels.outside };
        let kind = Kind { element, m, n, turned, trips, outside, ..panels };
        let body = kind.usual();
        let text = exact::compiled(&kind.program(&body, kind.sum), 3, Emit::TileAs);
        assert!(text.contains("<\"converter\", warps = 4,"), "{text}");
        kind.multiplied_by_warpgroups(&body);
    }
}

/// Dots of 8-bit elements whose accumulators must be exact, with several instructions along the columns and along the
/// depth.
fn exact_sums_of_bytes() {
    for (m, n, k) in [(64, N, 64), (128, 128, 128), (64, 16, 256)] {
        for (element, turned) in [(Number::E4m3, [false, true]), (Number::E5m2, [false, false])] {
            let kind = Kind { element, turned, m, n, k, trips: 3, ..RAGGED };
            kind.multiplied_by_warpgroups(&kind.usual());
        }
    }
}

/// 32-bit words are rounded to tf32 in place, to nearest and not toward zero.
fn rounded_words() {
    for (m, n, k) in [(64, N, 32), (128, 64, 64), (64, 8, 8)] {
        for turned in [[false, true], [false, false], [true, true]] {
            // With 8 columns and a depth of 8 there are fewer elements than threads, so several threads read what one
            // thread writes.
            let kind = Kind { element: Number::F32, rounded: true, turned, m, n, k, ..RAGGED };
            let kind = Kind { outside: [5, 3, k / 4], ..kind };
            kind.multiplied_by_warpgroups(&kind.usual());
        }
    }
}

/// Other elementwise computations on operands are done in the stage as well.
fn computed_operands() {
    for (element, k) in [(Number::F16, 64), (Number::Bf16, 64), (Number::Bf16, 16)] {
        let kind = Kind { element, k, computed: true, ..RAGGED };
        kind.multiplied_by_warpgroups(&kind.usual());
    }
}

pub fn trials() -> Vec<Trial> {
    functions![
        bytes,
        bytes_across_the_depth,
        panels_of_bytes_across_the_depth,
        exact_sums_of_bytes,
        rounded_words,
        computed_operands
    ]
}
