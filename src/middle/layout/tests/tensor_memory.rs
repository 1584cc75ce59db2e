//! Accumulators in tensor memory, and the loads that read them.

use std::collections::BTreeSet;
use tile_layout::{LayoutError, Shape, Slot, TensorMemory, Thread, TmemShape, TmemTile, tmem_layout};

/// Rows are lanes, and blocks of 128 rows follow each other along the columns.
#[test]
fn places_of_elements() {
    let shape = Shape::new(&[256, 64]).unwrap();
    let memory = TensorMemory::accumulator(&shape).unwrap();
    assert_eq!(memory.columns(), 128);
    for (row, column) in [(0, 0), (1, 0), (127, 63), (128, 0), (200, 5), (255, 63)] {
        let expected = ((row % 128) as u32, (row / 128 * 64 + column) as u32);
        assert_eq!(memory.place(row * 64 + column), Some(expected));
    }
    assert_eq!(memory.place(256 * 64), None);
    assert_eq!(TensorMemory::new(&shape, memory.bases().to_vec()).unwrap(), memory);
    // 64 rows are on the first 16 lanes of each quarter.
    let half = TensorMemory::accumulator(&Shape::new(&[64, 64]).unwrap()).unwrap();
    assert_eq!(half.columns(), 64);
    assert_eq!(half.place(17 * 64 + 3), Some((33, 3)));
    assert_eq!(half.place(63 * 64), Some((111, 0)));
}

/// Runs the loads for all threads: every register holds the element that the layout says, every element is read, and a
/// warp stays within its quarter of the lanes.
#[test]
fn loads_read_the_elements_of_the_layout() {
    for (rows, columns) in [(64, 32), (64, 256), (128, 8), (128, 64), (128, 256), (256, 128), (512, 32)] {
        for (warps, slices) in [4, 8, 16].into_iter().flat_map(|warps| [1, 2, 8].map(|slices| (warps, slices))) {
            let shape = Shape::new(&[rows, columns]).unwrap();
            let registers = TensorMemory::registers(&shape, warps, slices);
            if columns < 2 * i64::from(warps * slices) {
                let too_small = matches!(registers, Err(LayoutError::TileTooSmall { .. }));
                assert!(too_small, "{rows}x{columns} by {warps} warps in {slices} slices");
                continue;
            }
            let memory = TensorMemory::accumulator(&shape).unwrap();
            let layout = registers.unwrap();
            let loads = TensorMemory::loads(&shape, warps, slices).unwrap();
            let apart = TensorMemory::columns_of_warps(&shape, warps, slices).unwrap();
            // The highest bits of a register's number are the number of the slice.
            let in_slice = layout.registers() / slices;
            let width = columns as u64 / u64::from(slices);
            assert_eq!(loads.iter().map(|l| l.count).sum::<u32>(), layout.registers());
            let mut seen = BTreeSet::new();
            for warp in 0..warps {
                for load in &loads {
                    for (lane, i) in (0..32).flat_map(|lane| (0..load.count).map(move |i| (lane, i))) {
                        // The fragment of `tcgen05.ld.16x256b`: four registers for each eight columns.
                        let from_lane = warp % 4 * 32 + load.lane + lane / 4 + 8 * (i / 2 % 2);
                        let from_column = warp / 4 * apart + load.column + i / 4 * 8 + lane % 4 * 2 + i % 2;
                        let element = layout
                            .element(Slot { register: load.register + i, thread: Thread { lane, warp, block: 0 } });
                        assert_eq!(memory.place(element), Some((from_lane, from_column)), "{rows}x{columns}");
                        let column = element % columns as u64;
                        assert_eq!(column / width, u64::from((load.register + i) / in_slice));
                        seen.insert(element);
                    }
                }
            }
            assert_eq!(seen.len() as i64, rows * columns);
        }
    }
}

/// The same for loads of whole rows: a lane reads a lane of tensor memory, and further warps take further blocks of
/// rows before they divide the columns. Blocks of rows may have gaps between them.
#[test]
fn loads_read_whole_rows() {
    for (rows, columns) in [(128, 8), (128, 128), (256, 64), (512, 32), (128, 256)] {
        for (warps, most, gap) in [(4, 32, 0), (8, 32, 0), (8, 64, 1), (16, 16, 2)] {
            let shape = Shape::new(&[rows, columns]).unwrap();
            let memory = TensorMemory::spaced(&shape, gap).unwrap();
            assert_eq!(memory.gap(), if rows > 128 { gap } else { 0 });
            let blocks = rows as u32 / 128;
            assert_eq!(memory.columns(), (columns as u32 * blocks) << memory.gap(), "{rows}x{columns}");
            let layout = TensorMemory::rows(&shape, warps).unwrap();
            let loads = TensorMemory::row_loads(&shape, warps, most, gap).unwrap();
            let first = TensorMemory::columns_of_row_warps(&shape, warps, gap).unwrap();
            assert_eq!(loads.iter().map(|l| l.count).sum::<u32>(), layout.registers());
            assert!(loads.iter().all(|l| l.count <= most));
            let mut seen = BTreeSet::new();
            for warp in 0..warps {
                for load in &loads {
                    for (lane, i) in (0..32).flat_map(|lane| (0..load.count).map(move |i| (lane, i))) {
                        let element = layout
                            .element(Slot { register: load.register + i, thread: Thread { lane, warp, block: 0 } });
                        let column = first[warp as usize / 4] + load.column + i;
                        assert_eq!(memory.place(element), Some((warp % 4 * 32 + lane, column)), "{rows}x{columns}");
                        seen.insert(element);
                    }
                }
                // A thread has all columns of its rows, unless there are more warps than rows.
                let row = |register| layout.element(Slot { register, thread: Thread { lane: 3, warp, block: 0 } });
                let own = (0..layout.registers()).filter(|r| row(*r) / columns as u64 == row(0) / columns as u64);
                assert_eq!(own.count() as i64, (columns * 128 / (32 * i64::from(warps)) * (rows / 128)).min(columns));
            }
            assert_eq!(seen.len() as i64, rows * columns);
        }
    }
    let narrow = Shape::new(&[128, 2]).unwrap();
    assert!(matches!(TensorMemory::rows(&narrow, 16), Err(LayoutError::TileTooSmall { .. })));
}

/// Of 64 rows, threads hold fragments: also of elements that share columns, as `tcgen05.st.16x128b` writes them, four
/// columns for each two registers. A thread has the factors of its two rows.
#[test]
fn fragments_of_half_the_lanes() {
    for ((columns, bits), (warps, most)) in
        [(64, 32), (128, 16), (128, 8), (32, 16)].into_iter().flat_map(|t| [(4, 16), (4, 64), (8, 32)].map(|w| (t, w)))
    {
        let shape = Shape::new(&[64, columns]).unwrap();
        let memory = TensorMemory::accumulator(&shape).unwrap();
        let layout = TensorMemory::operand(&shape, warps, bits).unwrap();
        let factors = TensorMemory::row_factors(&shape, warps).unwrap();
        let packed = 32 / bits;
        let loads = TensorMemory::loads_of_columns(&shape, warps, most * packed).unwrap();
        let apart = TensorMemory::columns_of_warps(&shape, warps, 1).unwrap();
        let mut seen = BTreeSet::new();
        for warp in 0..warps {
            for load in &loads {
                assert!(load.count * 2 <= most * packed);
                for (lane, i) in (0..32).flat_map(|lane| (0..load.count).map(move |i| (lane, i))) {
                    let thread = Thread { lane, warp, block: 0 };
                    let element = layout.element(Slot { register: load.register + i, thread });
                    // The register's number in the instruction, and the element in the register.
                    let (word, part) = (i / packed, i % packed);
                    let (row, column) = match packed {
                        1 => (word / 2 % 2, word / 4 * 8 + lane % 4 * 2 + word % 2),
                        _ => (word % 2, word / 2 * 4 + lane % 4),
                    };
                    let from_lane = warp % 4 * 32 + lane / 4 + 8 * row;
                    let from_column = (warp / 4 * apart + load.column) / packed + column;
                    let place = Some((from_lane, from_column * packed + part));
                    assert_eq!(memory.place(element), place, "{columns} of {bits} bits by {warps} warps");
                    let factor = factors.element(Slot { register: row, thread });
                    assert_eq!(factor, element / columns as u64);
                    seen.insert(element);
                }
            }
        }
        assert_eq!(seen.len() as i64, 64 * columns);
    }
}

/// The registers agree with the general layout of this access.
#[test]
fn registers_are_fragments() {
    for (rows, tile) in [(128, TmemTile::Rows128), (64, TmemTile::Rows64)] {
        let shape = Shape::new(&[rows, 128]).unwrap();
        for warpgroups in [1, 2, 4] {
            let of_access = tmem_layout(TmemShape::Lanes16Bits256, tile, 128, warpgroups).unwrap().layout;
            let registers = TensorMemory::registers(&shape, 4 * warpgroups, 1).unwrap();
            assert_eq!(registers, of_access);
            assert_eq!(TensorMemory::slices_of(&shape, &registers), Some(1));
            let sliced = TensorMemory::registers(&shape, 4 * warpgroups, 4).unwrap();
            // Slices of 64 rows that four warps read differ in nothing from a whole tile.
            let expected = if sliced == registers { 1 } else { 4 };
            assert_eq!(TensorMemory::slices_of(&shape, &sliced), Some(expected));
            assert_eq!(sliced == registers, (rows, warpgroups) == (64, 1));
        }
    }
}

#[test]
fn tiles_without_accumulators() {
    let short = Shape::new(&[32, 64]).unwrap();
    assert!(matches!(TensorMemory::accumulator(&short), Err(LayoutError::TileTooSmall { .. })));
    let line = Shape::new(&[128]).unwrap();
    assert!(matches!(TensorMemory::accumulator(&line), Err(LayoutError::Mismatch { .. })));
    let tile = Shape::new(&[128, 64]).unwrap();
    for warps in [2, 6, 12] {
        assert!(matches!(TensorMemory::registers(&tile, warps, 1), Err(LayoutError::Mismatch { .. })), "{warps} warps");
    }
    assert!(matches!(TensorMemory::registers(&tile, 4, 3), Err(LayoutError::Mismatch { .. })), "three slices");
    let mut bases: Vec<u64> = (0..13).map(|i| 1 << i).collect();
    assert!(TensorMemory::new(&tile, bases.clone()).is_ok());
    bases[4] = 3;
    assert!(TensorMemory::new(&tile, bases.clone()).is_err(), "dependent bases");
    bases.pop();
    assert!(TensorMemory::new(&tile, bases).is_err(), "too few bases");
}
