//! Packed elements of four bits as pairs.

use tile_layout::{HardwareError, HardwareLayout, Layout, LayoutError, Pairs, Shape, SharedLayout, Slot};

/// A packed tile has the hardware layout of a tile of bytes, and each byte holds two neighbors.
#[test]
fn packed_tiles_are_tiles_of_bytes() {
    for (extents, dim) in [([128, 256], 1), ([256, 128], 0), ([64, 64], 1)] {
        let shape = Shape::new(&extents).unwrap();
        let bases = Pairs::unpacked::<HardwareError>(&shape, dim, |pairs| {
            HardwareLayout::panels(pairs, (dim, 1 - dim), 8)?.shared_layout()
        });
        let shared = SharedLayout::new(bases.unwrap(), shape.bits()).unwrap();
        let pairs = Pairs::of(&shape, &shared).unwrap();
        assert_eq!(pairs.dim, dim);
        assert!(HardwareLayout::recognise(&pairs.shared, &pairs.shape, 8).is_ok());
        let columns = extents[1] as u64;
        for element in 0..shape.elements() {
            let (row, column) = (element / columns, element % columns);
            let along = [row, column][dim];
            let pair = if dim == 0 { row / 2 * columns + column } else { row * (columns / 2) + column / 2 };
            assert_eq!(shared.offset(element), 2 * pairs.shared.offset(pair) + along % 2);
        }
    }
}

#[test]
fn elements_of_a_byte_are_neighbors() {
    let shape = Shape::new(&[4, 4]).unwrap();
    let apart = SharedLayout::new(vec![2, 1, 4, 8], 4).unwrap();
    assert!(matches!(Pairs::of(&shape, &apart), Err(LayoutError::Mismatch { .. })));
    let mixed = SharedLayout::new(vec![1, 2, 5, 8], 4).unwrap();
    assert!(matches!(Pairs::of(&shape, &mixed), Err(LayoutError::Mismatch { .. })));
    let line = Shape::new(&[4, 1]).unwrap();
    let none = Pairs::unpacked(&line, 1, |pairs| SharedLayout::strided(pairs, &[1, 0]));
    assert!(matches!(none, Err(LayoutError::TileTooSmall { .. })));
}

/// A thread that holds whole pairs holds the elements of pair `r` in registers `2 r` and `2 r + 1`.
#[test]
fn registers_of_pairs() {
    let shape = Shape::new(&[16, 64]).unwrap();
    let shared = SharedLayout::strided(&shape, &[1, 0]).unwrap();
    let pairs = Pairs::of(&shape, &shared).unwrap();
    let layout = |register: &[u64], lane: &[u64]| Layout::new(register.into(), lane.into(), vec![], vec![]).unwrap();
    let fragment = layout(&[1, 2, 4, 512, 32], &[8, 16, 64, 128, 256]);
    let of_pairs = pairs.registers(&shape, &fragment).unwrap();
    assert_eq!(of_pairs, layout(&[1, 2, 256, 16], &[4, 8, 32, 64, 128]));
    for thread in fragment.all_threads() {
        for register in 0..of_pairs.registers() {
            let pair = of_pairs.element(Slot { register, thread });
            for half in 0..2 {
                let element = fragment.element(Slot { register: 2 * register + half, thread });
                assert_eq!(element, 2 * pair + u64::from(half));
            }
        }
    }
    // The second element is in another register, or in another lane.
    for (register, lane) in [([2, 1, 4, 512, 32], [8, 16, 64, 128, 256]), ([8, 2, 4, 512, 32], [1, 16, 64, 128, 256])] {
        let apart = pairs.registers(&shape, &layout(&register, &lane));
        assert!(matches!(apart, Err(LayoutError::Mismatch { .. })));
    }
}
