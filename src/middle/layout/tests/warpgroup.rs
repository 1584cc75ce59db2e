//! Tiles of dots by `wgmma`. `hardware_swizzle.rs` executes them; these tests need no memory.

use tile_layout::*;

/// The accumulator of one dot is operand A of the next after a renaming of registers.
#[test]
fn chained_dots() {
    let dot = WarpgroupDot::new((128, 128, 64), 16, 128, (2, 1)).unwrap();
    let accumulator = dot.accumulator().unwrap();
    assert_eq!(accumulator.registers(), 64);
    let second = WarpgroupDot::new((128, 64, 128), 16, 64, (2, 1)).unwrap();
    let permutation = register_permutation(&accumulator, &second.a_registers().unwrap()).expect("no data moves");
    assert_eq!(permutation.len(), 64);
    // For 8-bit operands the fragments differ in lanes, so a renaming does not suffice.
    let bytes = WarpgroupDot::new((128, 64, 128), 8, 64, (2, 1)).unwrap();
    assert!(register_permutation(&accumulator, &bytes.a_registers().unwrap()).is_none());
}

/// The registers of a step are the registers in which the layout has the step's block.
#[test]
fn steps_name_the_registers_of_their_block() {
    for (extents, columns, groups) in [
        ((128, 256, 64), 256, (2, 1)),
        ((128, 256, 64), 128, (2, 1)),
        ((256, 128, 64), 64, (2, 1)),
        ((64, 256, 64), 128, (1, 2)),
        ((128, 64, 32), 8, (1, 4)),
    ] {
        let dot = WarpgroupDot::new(extents, 16, columns, groups).unwrap();
        let (_, n, k) = extents;
        let (accumulator, a) = (dot.accumulator().unwrap(), dot.a_registers().unwrap());
        let mut written = vec![0; accumulator.elements_of(Thread::default()).count()];
        for group in 0..dot.groups() {
            for step in dot.steps(group) {
                for warp in 4 * group..4 * group + 4 {
                    let slot = |register| Slot { register, thread: Thread { lane: 9, warp, block: 0 } };
                    for register in step.accumulator..step.accumulator + columns / 2 {
                        let element = accumulator.element(slot(register));
                        let block = (element / u64::from(n) / 64, element % u64::from(n) / u64::from(columns));
                        assert_eq!(block, (step.m.into(), step.n.into()));
                        written[register as usize] += u32::from(warp % 4 == 0);
                    }
                    for register in step.a..step.a + 8 {
                        let element = a.element(slot(register));
                        let block = (element / u64::from(k) / 64, element % u64::from(k) / 16);
                        assert_eq!(block, (step.m.into(), step.k.into()));
                    }
                }
            }
        }
        let depth = k / 16;
        assert!(written.iter().all(|&count| count == depth * dot.groups()));
    }
}

#[test]
fn dots_that_do_not_divide() {
    assert!(WarpgroupDot::new((64, 256, 64), 16, 256, (2, 1)).is_err());
    assert!(WarpgroupDot::new((64, 256, 8), 16, 256, (1, 1)).is_err());
    assert!(WarpgroupDot::new((64, 128, 64), 16, 256, (1, 1)).is_err());
    assert!(WarpgroupDot::new((64, 128, 64), 64, 128, (1, 1)).is_err());
    assert!(WarpgroupDot::new((64, 128, 64), 16, 96, (1, 1)).is_err());
    let steps = WarpgroupDot::new((128, 256, 64), 16, 128, (2, 1)).unwrap().steps(1);
    assert_eq!(steps.len(), 8);
    assert_eq!(steps[5], WarpgroupStep { m: 1, n: 1, k: 1, accumulator: 64, a: 8 });
}

/// The accumulator layout of a tile equals the dot's, and the layout tells how warpgroups share the tile.
#[test]
fn accumulators_name_their_warpgroups() {
    for (rows, columns, groups, n) in [
        (64, 8, (1, 1), 8),
        (128, 256, (2, 1), 256),
        (128, 256, (1, 2), 128),
        (256, 128, (2, 2), 32),
        (256, 64, (4, 1), 16),
        (128, 64, (1, 4), 8),
    ] {
        let shape = Shape::new(&[i64::from(rows), i64::from(columns)]).unwrap();
        let layout = warpgroup_accumulator(&shape, groups, n).unwrap();
        layout.validate(&shape).unwrap();
        assert_eq!(layout, WarpgroupDot::new((rows, columns, 16), 16, n, groups).unwrap().accumulator().unwrap());
        assert_eq!(warpgroups_of(&layout, &shape, n), Ok(groups));
        // A fragment is a run of registers: 64 rows by `n` columns of the whole tile.
        for thread in layout.all_threads() {
            let elements: Vec<u64> = layout.elements_of(thread).collect();
            for fragment in elements.chunks(n as usize / 2) {
                let block = |e: &u64| (e / u64::from(columns) / 64, e % u64::from(columns) / u64::from(n));
                assert!(fragment.iter().all(|e| block(e) == block(&fragment[0])));
            }
        }
    }
}

#[test]
fn accumulators_of_no_warpgroup() {
    let shape = |rows, columns| Shape::new(&[rows, columns]).unwrap();
    let code = |rows, columns, groups, n| warpgroup_accumulator(&shape(rows, columns), groups, n).unwrap_err().code();
    assert_eq!(code(64, 256, (2, 1), 256), "layout-tile-too-small");
    assert_eq!(code(128, 128, (1, 2), 128), "layout-tile-too-small");
    assert_eq!(code(256, 256, (3, 1), 256), "layout-mismatch");
    assert_eq!(code(64, 256, (1, 1), 24), "layout-unsupported-element");
    assert_eq!(warpgroup_accumulator(&Shape::new(&[64]).unwrap(), (1, 1), 8).unwrap_err().code(), "layout-mismatch");

    let tile = shape(128, 64);
    let layout = warpgroup_accumulator(&tile, (1, 1), 64).unwrap();
    // Wider instructions than the tile has columns.
    assert_eq!(warpgroups_of(&layout, &tile, 64), Ok((1, 1)));
    assert_eq!(warpgroups_of(&layout, &tile, 128).unwrap_err().code(), "layout-tile-too-small");
    let swapped = Layout::new(
        layout.register().iter().rev().copied().collect(),
        layout.lane().to_vec(),
        layout.warp().to_vec(),
        vec![],
    );
    let error = warpgroups_of(&swapped.unwrap(), &tile, 64).unwrap_err();
    assert_eq!(error, LayoutError::NotInFragments { columns: 64, groups: 1 });
    let one_warp = MmaTiling { instruction: MmaShape::warp(16, 16, 16), batch_warps: 1, m_warps: 1, n_warps: 1 };
    let one_warp = one_warp.layout(Operand::Accumulator, &tile).unwrap();
    assert_eq!(warpgroups_of(&one_warp, &tile, 64).unwrap_err().code(), "layout-mismatch");
}
