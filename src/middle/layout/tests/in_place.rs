//! Tiles that are transposed or rewritten in shared memory, executed for all threads.

use tile_layout::{Direction, HardwareLayout, InPlace, Layout, Shape, SharedAccess, SharedLayout, transposed_panels};

fn panels(shape: &Shape, fast: usize, lines: usize, bits: u32) -> SharedLayout {
    HardwareLayout::panels(shape, (fast, lines), bits).unwrap().shared_layout().unwrap()
}

fn access(layout: &Layout, shared: &SharedLayout, bits: u32, direction: Direction) -> SharedAccess {
    SharedAccess::new(layout, shared, bits, direction, false).unwrap()
}

/// Every element is held, and parts are consecutive in both layouts.
fn check(tile: &InPlace, shape: &Shape, from: &SharedLayout, to: &SharedLayout, warps: u32) {
    let part = &tile.part;
    assert_eq!(tile.parts * part.shape.elements(), shape.elements());
    let held: std::collections::BTreeSet<u64> = (0..warps)
        .flat_map(|warp| (0..32).map(move |lane| (lane, warp)))
        .flat_map(|(lane, warp)| {
            (0..tile.registers.registers()).map(move |register| {
                let slot = tile_layout::Slot { register, thread: tile_layout::Thread { lane, warp, block: 0 } };
                tile.registers.element(slot)
            })
        })
        .collect();
    assert_eq!(held.len() as u64, part.shape.elements());
    // An element of a part, found by its offset before the change, is at its offset in the whole tile afterwards.
    for number in 0..tile.parts {
        for offset in 0..part.shape.elements() {
            let inside = part.from.element(offset);
            let whole = from.element(number * part.shape.elements() + offset);
            let expected = if part.keeps_order() { offset } else { to.offset(whole) % part.shape.elements() };
            assert_eq!(part.to.offset(inside), expected);
            if !part.keeps_order() {
                assert_eq!(to.offset(whole) / part.shape.elements(), number);
            }
        }
    }
}

#[test]
fn transposed_without_conflicts() {
    for (rows, columns) in [(128, 256), (128, 128), (64, 256), (256, 64), (32, 128), (128, 32)] {
        for (bits, warps) in [(8, 8), (8, 4), (32, 8), (32, 4)] {
            let shape = Shape::new(&[rows, columns]).unwrap();
            let (from, to) = (panels(&shape, 1, 0, bits), panels(&shape, 0, 1, bits));
            let tile = InPlace::new(&shape, &from, &to, bits, warps, 64).unwrap();
            check(&tile, &shape, &from, &to, warps);
            let word = 32 / bits;
            for (layout, direction) in [(&tile.part.from, Direction::Load), (&tile.part.to, Direction::Store)] {
                let plan = access(&tile.registers, layout, bits, direction);
                let what = format!("{rows}x{columns} of {bits} bits, {warps} warps, {direction:?}");
                assert_eq!(plan.instructions[0].registers.len() as u32, word, "{what}");
                // Two lines share a bank if rows are shorter than the banks: 32 bytes of 128.
                let narrow = rows.min(columns) * i64::from(bits / 8) < 128;
                assert!(plan.conflict_degree <= if narrow { 4 } else { 1 }, "{what}: {}", plan.conflict_degree);
            }
        }
    }
}

#[test]
fn cut_into_parts_that_lie_apart() {
    let shape = Shape::new(&[128, 256]).unwrap();
    let (from, to) = (panels(&shape, 1, 0, 8), panels(&shape, 0, 1, 8));
    let tile = InPlace::new(&shape, &from, &to, 8, 8, 64).unwrap();
    assert_eq!((tile.parts, tile.part.shape.extents()), (2, vec![128, 128]));
    assert_eq!(tile.registers.registers(), 64);
    // A tile that cannot be divided further stays whole.
    let tile = InPlace::new(&shape, &from, &to, 8, 8, 1).unwrap();
    assert_eq!(tile.part.shape.extents(), vec![128, 128]);
}

#[test]
fn rewritten_in_order() {
    let shape = Shape::new(&[256, 32]).unwrap();
    let layout = panels(&shape, 1, 0, 32);
    let tile = InPlace::new(&shape, &layout, &layout, 32, 8, 8).unwrap();
    check(&tile, &shape, &layout, &layout, 8);
    assert!(tile.part.keeps_order());
    assert_eq!((tile.parts, tile.registers.registers()), (4, 8));
    let plan = access(&tile.registers, &tile.part.from, 32, Direction::Load);
    assert_eq!((plan.instructions[0].registers.len(), plan.conflict_degree), (4, 1));
}

#[test]
fn errors() {
    let shape = Shape::new(&[64, 64]).unwrap();
    let layout = panels(&shape, 1, 0, 8);
    assert!(InPlace::new(&shape, &layout, &layout, 8, 3, 8).is_err());
    assert!(InPlace::new(&shape, &layout, &layout, 24, 4, 8).is_err());
}

/// Pairs of 16x16-byte squares of a panel are exchanged.
#[test]
fn panels_are_transposed_square_by_square() {
    for (rows, columns, fast, expected) in
        [(128, 128, 1, 1), (128, 256, 1, 2), (128, 512, 1, 4), (128, 128, 0, 1), (256, 128, 0, 2), (256, 128, 1, 2)]
    {
        let shape = Shape::new(&[rows, columns]).unwrap();
        let (from, to) = (panels(&shape, fast, 1 - fast, 8), panels(&shape, 1 - fast, fast, 8));
        assert_eq!(transposed_panels(&from, &to), Some(expected), "{rows}x{columns}");
        // The panel, the square, and the position within the square of a byte, as rows and columns.
        let place = |offset: u64| {
            let (panel, row, column) = (offset >> 14, offset >> 7 & 127, offset & 127);
            let column = column ^ (row & 7) << 4;
            (panel, (row >> 4, column >> 4), (row & 15, column & 15))
        };
        for element in 0..shape.elements() {
            let (before, after) = (place(from.offset(element)), place(to.offset(element)));
            assert_eq!(after, (before.0, (before.1.1, before.1.0), (before.2.1, before.2.0)));
        }
    }
    // Other rows, other elements, and layouts that are not transposed.
    for (rows, columns, bits) in [(64, 256, 8), (128, 64, 8), (256, 256, 8), (128, 128, 32), (128, 128, 16)] {
        let shape = Shape::new(&[rows, columns]).unwrap();
        assert_eq!(
            transposed_panels(&panels(&shape, 1, 0, bits), &panels(&shape, 0, 1, bits)),
            None,
            "{rows}x{columns}"
        );
    }
    let shape = Shape::new(&[128, 128]).unwrap();
    let same = panels(&shape, 1, 0, 8);
    assert_eq!(transposed_panels(&same, &same), None);
}
