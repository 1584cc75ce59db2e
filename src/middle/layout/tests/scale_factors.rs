//! Scale factors in shared and in tensor memory.

use std::collections::BTreeSet;
use tile_layout::{LayoutError, ScaleFactors, Shape, SharedLayout};

/// `tcgen05.cp.32x128b.warpx4` of each block brings the factors of all lines to the columns where the dot finds them.
#[test]
fn blocks_are_copied_to_the_places_of_factors() {
    for (lines, factors) in [(128, 4), (128, 16), (256, 4), (256, 8), (512, 16)] {
        for dim in [0, 1] {
            let extents = if dim == 0 { [lines, factors] } else { [factors, lines] };
            let shape = Shape::new(&extents).unwrap();
            let scales = ScaleFactors::new(&shape, dim).unwrap();
            let shared = SharedLayout::new(scales.shared(), shape.bits()).unwrap();
            let tensor = SharedLayout::new(scales.tensor(), shape.bits()).unwrap();
            assert_eq!(i64::from(scales.blocks()), lines / 128 * (factors / 4));
            assert_eq!(i64::from(ScaleFactors::columns(lines as u32, factors as u32)), lines * factors / 128);
            let mut seen = BTreeSet::new();
            for (line, factor) in (0..lines).flat_map(|l| (0..factors).map(move |f| (l, f))) {
                let element = (if dim == 0 { line * factors + factor } else { factor * lines + line }) as u64;
                let (column, byte) = scales.place(line as u32, factor as u32);
                let at = shared.offset(element);
                // A lane copies 16 bytes of each block to four columns.
                let (block, lane, within) = (at / 512, at % 512 / 16, at % 16);
                assert_eq!(lane as i64, line % 32);
                let copied = u64::from(scales.column_of_block(block as u32)) + within / 4;
                assert_eq!((copied, within % 4), (column.into(), byte.into()));
                // The lane is in the high bits of a position.
                let columns = 4 * (lines * factors / 128) as u64;
                assert_eq!(tensor.offset(element), lane * columns + u64::from(4 * column + byte));
                assert!(seen.insert(at));
            }
        }
    }
}

/// Fewer lines or factors than a block has must be filled up before.
#[test]
fn less_than_a_block() {
    for extents in [[64, 4], [128, 2]] {
        let scales = ScaleFactors::new(&Shape::new(&extents).unwrap(), 0);
        assert!(matches!(scales, Err(LayoutError::TileTooSmall { .. })));
    }
    assert!(ScaleFactors::new(&Shape::new(&[2, 128, 4]).unwrap(), 1).is_err());
    assert_eq!(ScaleFactors::columns(16, 2), 4);
}
