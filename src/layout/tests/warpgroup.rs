//! Tiles of products by `wgmma`. `hardware_swizzle.rs` runs them; here is what needs no memory.

use tile_layout::*;

/// The accumulator of one product is the A operand of the next by a renaming of registers.
#[test]
fn chained_products() {
    let product = WarpgroupProduct::new((128, 128, 64), 16, 128, (2, 1)).unwrap();
    let accumulator = product.accumulator().unwrap();
    assert_eq!(accumulator.registers(), 64);
    let second = WarpgroupProduct::new((128, 64, 128), 16, 64, (2, 1)).unwrap();
    let permutation = register_permutation(&accumulator, &second.a_registers().unwrap()).expect("no data moves");
    assert_eq!(permutation.len(), 64);
    // For 8-bit operands the fragments differ in lanes: a renaming is not enough.
    let bytes = WarpgroupProduct::new((128, 64, 128), 8, 64, (2, 1)).unwrap();
    assert!(register_permutation(&accumulator, &bytes.a_registers().unwrap()).is_none());
}

/// The registers that a step names are those that the layout puts into the step's block.
#[test]
fn steps_name_the_registers_of_their_block() {
    for (extents, columns, groups) in [
        ((128, 256, 64), 256, (2, 1)),
        ((128, 256, 64), 128, (2, 1)),
        ((256, 128, 64), 64, (2, 1)),
        ((64, 256, 64), 128, (1, 2)),
        ((128, 64, 32), 8, (1, 4)),
    ] {
        let product = WarpgroupProduct::new(extents, 16, columns, groups).unwrap();
        let (_, n, k) = extents;
        let (accumulator, a) = (product.accumulator().unwrap(), product.a_registers().unwrap());
        let mut written = vec![0; accumulator.elements_of(Thread::default()).count()];
        for group in 0..product.groups() {
            for step in product.steps(group) {
                for warp in 4 * group..4 * group + 4 {
                    let place = |register| Place { register, thread: Thread { lane: 9, warp, block: 0 } };
                    for register in step.accumulator..step.accumulator + columns / 2 {
                        let element = accumulator.element(place(register));
                        let block = (element / u64::from(n) / 64, element % u64::from(n) / u64::from(columns));
                        assert_eq!(block, (step.m.into(), step.n.into()));
                        written[register as usize] += u32::from(warp % 4 == 0);
                    }
                    for register in step.a..step.a + 8 {
                        let element = a.element(place(register));
                        let block = (element / u64::from(k) / 64, element % u64::from(k) / 16);
                        assert_eq!(block, (step.m.into(), step.k.into()));
                    }
                }
            }
        }
        let depth = k / 16;
        assert!(written.iter().all(|&count| count == depth * product.groups()));
    }
}

#[test]
fn products_that_do_not_divide() {
    assert!(WarpgroupProduct::new((64, 256, 64), 16, 256, (2, 1)).is_err());
    assert!(WarpgroupProduct::new((64, 256, 8), 16, 256, (1, 1)).is_err());
    assert!(WarpgroupProduct::new((64, 128, 64), 16, 256, (1, 1)).is_err());
    assert!(WarpgroupProduct::new((64, 128, 64), 64, 128, (1, 1)).is_err());
    assert!(WarpgroupProduct::new((64, 128, 64), 16, 96, (1, 1)).is_err());
    let steps = WarpgroupProduct::new((128, 256, 64), 16, 128, (2, 1)).unwrap().steps(1);
    assert_eq!(steps.len(), 8);
    assert_eq!(steps[5], WarpgroupStep { m: 1, n: 1, k: 1, accumulator: 64, a: 8 });
}
