//! Dots on layouts, by an interpreter of `mma.sync` that knows only the fragments of the PTX ISA. Gathering the
//! registers that the steps name, multiplying, and scattering must compute the dot of the tiles, whatever their
//! extents.

mod common;

use common::*;
use proptest::prelude::*;
use std::collections::BTreeSet;
use tile_layout::*;

const INSTRUCTIONS: [(u32, u32, u32); 8] =
    [(16, 16, 16), (16, 8, 16), (16, 8, 32), (16, 4, 32), (8, 4, 64), (16, 32, 8), (16, 16, 8), (16, 64, 4)];

fn sync((m, k, operand_bits): (u32, u32, u32)) -> Multiplier {
    Multiplier::Matrix(MmaShape::warp(m, k, operand_bits))
}

/// A dot with its layouts.
struct Case {
    dot: DotShape,
    multiplier: Multiplier,
    extents: [i64; 4],
    acc: Layout,
    lhs: Layout,
    rhs: Layout,
}

fn shapes([batch, m, n, k]: [i64; 4]) -> (Shape, Shape, Shape) {
    if batch == 1 {
        (shape(&[m, k]), shape(&[k, n]), shape(&[m, n]))
    } else {
        (shape(&[batch, m, k]), shape(&[batch, k, n]), shape(&[batch, m, n]))
    }
}

fn case(multiplier: Multiplier, extents: [i64; 4], warps: u32, rows: bool) -> Case {
    case_apart(multiplier, extents, warps, rows, FragmentStride::default())
}

fn case_apart(multiplier: Multiplier, extents: [i64; 4], warps: u32, rows: bool, apart: FragmentStride) -> Case {
    let (a, b, c) = shapes(extents);
    let dot = DotShape::new(&a, &b, &c).unwrap();
    let grid = dot.arrange(multiplier, warps, rows);
    assert_eq!(grid.batch + grid.m + grid.n + grid.replicas, warps);
    let acc = dot.accumulator(multiplier, grid, apart).unwrap();
    assert_eq!(acc.warps(), 1 << warps);
    acc.validate(&c).unwrap();
    let lhs = dot.operand(multiplier, &acc, Operand::A).unwrap();
    let rhs = dot.operand(multiplier, &acc, Operand::B).unwrap();
    // With scalar arithmetic, a warp may hold only a part of the operand, but all warps together hold the whole tile.
    lhs.validate(&a).unwrap();
    rhs.validate(&b).unwrap();
    Case { dot, multiplier, extents, acc, lhs, rhs }
}

fn value(operand: i64, index: u64) -> i64 {
    (((index as i64 + 1) * (7919 + 31 * operand)) >> 3) % 19 - 9
}

/// The expected result, element by element.
fn reference([_, m, n, k]: [i64; 4], index: u64) -> i64 {
    let (row, column, batch) = (index as i64 / n % m, index as i64 % n, index as i64 / (m * n));
    (0..k).map(|i| value(0, ((batch * m + row) * k + i) as u64) * value(1, ((batch * k + i) * n + column) as u64)).sum()
}

/// Executes the steps; every accumulator register must end with the expected result.
fn run(c: &Case) {
    let steps = c.dot.steps(c.multiplier, &c.acc, &c.lhs, &c.rhs).unwrap();
    let (m, n, k, word) = match c.multiplier {
        Multiplier::Scalar => (1, 1, 1, 1),
        Multiplier::Matrix(i) => {
            let (m, n, k) = i.extents();
            (m, n, k, i.per_word())
        }
    };
    let zero = c.dot.zero_lanes(c.multiplier);
    for warp in 0..c.acc.warps() {
        let mut acc = vec![vec![0i64; c.acc.registers() as usize]; 32];
        for step in &steps {
            let read = |layout: &Layout, operand, lane: u32, register: Option<u32>| match register {
                Some(register) if lane & zero == 0 => {
                    value(operand, layout.element(Slot { register, thread: Thread { lane, warp, block: 0 } }))
                }
                _ => 0,
            };
            if c.multiplier == Multiplier::Scalar {
                for (lane, held) in acc.iter_mut().enumerate() {
                    let a = read(&c.lhs, 0, lane as u32, step.lhs[0]);
                    held[step.accumulator[0].unwrap() as usize] += a * read(&c.rhs, 1, lane as u32, step.rhs[0]);
                }
                continue;
            }
            // Registers of A alternate between rows g and g + 8 if the instruction has sixteen rows.
            let tall = m / 8;
            let mut a = vec![0; (m * k) as usize];
            let mut b = vec![0; (k * n) as usize];
            for lane in 0..32u32 {
                let (g, t) = (lane / 4, lane % 4);
                for (i, register) in (0u32..).zip(&step.lhs) {
                    let (r, e) = (i / word, i % word);
                    let (row, column) = (g + 8 * (r % tall), 4 * word * (r / tall) + word * t + e);
                    a[(row * k + column) as usize] = read(&c.lhs, 0, lane, *register);
                }
                for (i, register) in (0u32..).zip(&step.rhs) {
                    let (r, e) = (i / word, i % word);
                    b[((4 * word * r + word * t + e) * n + g) as usize] = read(&c.rhs, 1, lane, *register);
                }
            }
            assert_eq!((step.lhs.len() as u32, step.rhs.len() as u32), (m * k / 32, k * n / 32));
            assert_eq!(step.accumulator.len() as u32, m * n / 32);
            for lane in 0..32u32 {
                for (i, register) in (0u32..).zip(&step.accumulator) {
                    let (row, column) = (lane / 4 + 8 * (i / 2), 2 * (lane % 4) + i % 2);
                    let sum: i64 = (0..k).map(|x| a[(row * k + x) as usize] * b[(x * n + column) as usize]).sum();
                    if let Some(r) = register {
                        acc[lane as usize][*r as usize] += sum;
                    }
                }
            }
        }
        for (lane, held) in (0u32..).zip(&acc) {
            let elements = c.acc.elements_of(Thread { lane, warp, block: 0 });
            for (element, found) in elements.zip(held) {
                assert_eq!(*found, reference(c.extents, element), "element {element} of {:?}", c.extents);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn steps_multiply(
        i in 0..=INSTRUCTIONS.len(),
        logs in (0u32..2, 0u32..7, 0u32..7, 0u32..7),
        warps in 0u32..4,
        rows: bool,
        apart in (0u32..3, 0u32..3),
    ) {
        let multiplier = INSTRUCTIONS.get(i).map_or(Multiplier::Scalar, |&i| sync(i));
        let apart = FragmentStride { m: apart.0, n: apart.1 };
        run(&case_apart(multiplier, [1 << logs.0, 1 << logs.1, 1 << logs.2, 1 << logs.3], warps, rows, apart));
    }
}

#[test]
fn warps_take_square_parts() {
    let grid = |m, n, warps, rows| {
        let (a, b, c) = (shape(&[m, 64]), shape(&[64, n]), shape(&[m, n]));
        let dot = DotShape::new(&a, &b, &c).unwrap();
        let grid = dot.arrange(sync((16, 16, 16)), warps, rows);
        (grid.m, grid.n, grid.replicas)
    };
    assert_eq!(grid(128, 128, 2, false), (1, 1, 0));
    assert_eq!(grid(128, 256, 3, false), (1, 2, 0));
    assert_eq!(grid(256, 64, 2, false), (2, 0, 0));
    assert_eq!(grid(16, 128, 2, false), (0, 2, 0));
    assert_eq!(grid(16, 16, 2, false), (0, 1, 1));
    assert_eq!(grid(128, 64, 2, true), (2, 0, 0));
    assert_eq!(grid(32, 256, 3, true), (1, 2, 0));
    // Batches share nothing, so they go first.
    let (a, b, c) = shapes([2, 32, 32, 32]);
    let dot = DotShape::new(&a, &b, &c).unwrap();
    assert_eq!(dot.arrange(sync((16, 16, 16)), 2, false), WarpGrid { batch: 1, m: 1, n: 0, replicas: 0 });
}

#[test]
fn warps_take_more_rows_of_oblong_parts() {
    let grid = |m, n, warps| {
        let (a, b, c) = (shape(&[m, 64]), shape(&[64, n]), shape(&[m, n]));
        let dot = DotShape::new(&a, &b, &c).unwrap();
        let grid = dot.with_more_rows(dot.arrange(sync((16, 16, 16)), warps, false));
        (grid.m, grid.n)
    };
    // 64x32 instead of 32x64.
    assert_eq!(grid(128, 128, 3), (1, 2));
    assert_eq!(grid(64, 128, 2), (0, 2));
    // 64x64, and 64x32, which has more rows already.
    assert_eq!(grid(128, 256, 3), (1, 2));
    assert_eq!(grid(128, 32, 1), (1, 0));
    // All rows are one warp's.
    assert_eq!(grid(16, 128, 2), (0, 2));
}

/// The accumulator of one dot becomes the left operand of the next without leaving its thread: the registers are only
/// renumbered.
#[test]
fn chained_dots_need_no_exchange() {
    let first = case(sync((16, 16, 16)), [1, 128, 64, 64], 2, true);
    let second = case(sync((16, 16, 16)), [1, 128, 64, 64], 2, true);
    assert!(register_permutation(&first.acc, &second.lhs).is_some());
}

/// Columns four apart: a thread holds eight neighbors of the result, and reads four neighbors of a right operand that
/// is contiguous along its columns.
#[test]
fn columns_apart_give_vectors() {
    let bytes = sync((16, 32, 8));
    let c = case_apart(bytes, [1, 64, 64, 32], 2, false, FragmentStride { m: 0, n: 2 });
    let (a, b) = (shape(&[64, 64]), shape(&[32, 64]));
    assert_eq!(c.acc.vector_width(&a, &[1, 0], 16), Ok(8));
    assert_eq!(c.rhs.vector_width(&b, &[1, 0], 16), Ok(4));
    // Not further apart than the warp's part allows.
    let narrow = case_apart(bytes, [1, 64, 16, 32], 2, true, FragmentStride { m: 0, n: 2 });
    assert_eq!(narrow.acc.vector_width(&shape(&[64, 16]), &[1, 0], 16), Ok(4));
}

/// The worked example of the module.
#[test]
fn small_tiles_repeat_rows_and_fill_depth() {
    let c = case(sync((16, 16, 16)), [1, 8, 8, 4], 0, false);
    assert_eq!(c.acc, layout(&[1], &[2, 4, 8, 16, 32], &[]));
    assert_eq!(c.lhs, layout(&[1], &[2, 0, 4, 8, 16], &[]));
    assert_eq!(c.dot.zero_lanes(c.multiplier), 2);
    let steps = c.dot.steps(c.multiplier, &c.acc, &c.lhs, &c.rhs).unwrap();
    assert_eq!(steps.len(), 1);
    assert_eq!(steps[0].accumulator, [Some(0), Some(1), None, None]);
    assert_eq!(steps[0].lhs, [Some(0), Some(1), None, None, None, None, None, None]);
}

/// The four matrices of an `ldmatrix` belong to one step along K, so that no word waits for the next step while
/// others are loaded.
#[test]
fn what_is_loaded_together_is_multiplied_together() {
    for instruction in INSTRUCTIONS.into_iter().filter(|i| (8..=32).contains(&i.2)) {
        let (_, depth, bits) = instruction;
        let c = case(sync(instruction), [1, 64, 128, 128], 2, false);
        for (operand, layout, tile) in [(Operand::A, &c.lhs, [64, 128]), (Operand::B, &c.rhs, [128, 128])] {
            // Contiguous along K.
            let order = if operand == Operand::A { [1, 0] } else { [0, 1] };
            let memory = SharedLayout::swizzled_panels(&shape(&tile), &order, bits, 128).unwrap();
            let access = SharedAccess::new(layout, &memory, bits, Direction::Load, true).unwrap();
            assert!(matches!(access.mode, AccessMode::Matrix { matrices: 4, .. }), "{instruction:?} {operand:?}");
            for i in &access.instructions {
                let element = |&register: &u32| layout.element(Slot { register, thread: Thread::default() });
                let k = |index: u64| if operand == Operand::A { index % 128 } else { index / 128 };
                let step = |r: &u32| k(element(r)) / u64::from(depth);
                // A has two matrices in a step of half the depth, and continues along K there.
                let half = depth * bits == 128 && operand == Operand::A;
                let steps = if half { 2 } else { 1 };
                assert_eq!(i.registers.iter().map(step).collect::<BTreeSet<_>>().len(), steps, "{instruction:?}");
            }
        }
    }
}

#[test]
fn scales_of_scalar_operands_are_those_of_the_row() {
    let c = case(sync((16, 16, 16)), [1, 64, 32, 128], 2, false);
    let blocks = c.dot.with_depth(2);
    let scales = blocks.operand(Multiplier::Scalar, &c.acc, Operand::A).unwrap();
    for block in 0..4 {
        let registers = blocks.scale_registers(&c.acc, &scales, Operand::A, block).unwrap();
        for thread in c.acc.all_threads() {
            for (register, &scale) in (0u32..).zip(&registers) {
                let row = c.acc.element(Slot { register, thread }) / 32;
                assert_eq!(scales.element(Slot { register: scale, thread }), row * 4 + u64::from(block));
            }
        }
    }
}

/// The instruction reads the scales of row g from lane 4g and of row g + 8 from lane 4g + 1, or from the lanes after
/// these. It reads the scales of column g from any of four lanes. Four scales along K are in a register.
#[test]
fn scales_of_instructions() {
    let multiplier = sync((16, 32, 8));
    let c = case(multiplier, [1, 32, 16, 128], 0, false);
    let blocks = c.dot.with_depth(2);
    let left = blocks.scales(multiplier, &c.acc, Operand::A).unwrap();
    let right = blocks.scales(multiplier, &c.acc, Operand::B).unwrap();
    for lane in 0..32 {
        for register in 0..4 {
            let slot = Slot { register, thread: Thread { lane, ..Thread::default() } };
            let (row, column) = (lane / 4 + 8 * (lane % 4), lane / 4 + 8 * (lane % 2));
            assert_eq!(left.element(slot), u64::from(row * 4 + register));
            assert_eq!(right.element(slot), u64::from(register * 16 + column));
        }
    }
}

/// The scales of a dot, in the layout that the instruction requires. `block` elements along K share one.
fn check_scales(multiplier: Multiplier, extents: [i64; 4], warps: u32, apart: FragmentStride, block: u32) {
    let c = case_apart(multiplier, extents, warps, false, apart);
    let [_, m, n, k] = extents.map(|e| e as u64);
    let Multiplier::Matrix(instruction) = multiplier else { unreachable!("scalars have no scales of their own") };
    let count = (k as u32).min(instruction.extents().2) / block;
    let blocks = c.dot.with_depth((k as u32 / block).ilog2());
    let scales = k / u64::from(block);
    let left = blocks.scales(multiplier, &c.acc, Operand::A).unwrap();
    let right = blocks.scales(multiplier, &c.acc, Operand::B).unwrap();
    for step in c.dot.steps(multiplier, &c.acc, &c.lhs, &c.rhs).unwrap() {
        let origin = step.accumulator[0].unwrap();
        let slot = |layout, side, block| blocks.scale_of_fragment(&c.acc, layout, side, block, origin).unwrap();
        let first = step.k / block;
        let ((a, pair), (b, lane)) = (slot(&left, Operand::A, first), slot(&right, Operand::B, first));
        assert!(pair < 2 && lane < 4);
        assert!(a % 4 + count <= 4 && b % 4 + count <= 4, "scales of an instruction share a word");
        for i in 0..count {
            let along = u64::from(first + i);
            for warp in 0..1 << warps {
                let at = |layout: &Layout, register, lane| {
                    layout.element(Slot { register, thread: Thread { lane, warp, ..Thread::default() } })
                };
                for g in 0..8 {
                    // Row g, row g + 8 and column g of the fragment, according to the accumulator.
                    let in_left = |index: u64| index / n * scales + along;
                    assert_eq!(at(&left, a + i, 4 * g + 2 * pair), in_left(at(&c.acc, origin, 4 * g)));
                    if let Some(below) = step.accumulator[2] {
                        assert_eq!(at(&left, a + i, 4 * g + 2 * pair + 1), in_left(at(&c.acc, below, 4 * g)));
                    }
                    if let Some(column) = step.accumulator[g as usize % 2] {
                        let index = at(&c.acc, column, g / 2);
                        assert_eq!(at(&right, b + i, 4 * g + lane), (index / (m * n) * scales + along) * n + index % n);
                    }
                }
            }
        }
    }
}

#[test]
fn scales_are_where_instructions_ask_for_them() {
    for apart in [FragmentStride::default(), FragmentStride { m: 0, n: 2 }, FragmentStride { m: 2, n: 0 }] {
        for extents in
            [[1, 64, 64, 256], [1, 128, 32, 32], [2, 16, 16, 64], [1, 4, 8, 64], [4, 2, 2, 128], [1, 16, 1, 64]]
        {
            for warps in 0..3 {
                check_scales(sync((16, 32, 8)), extents, warps, apart, 32);
                for block in [16, 32] {
                    check_scales(sync((16, 64, 4)), extents, warps, apart, block);
                }
            }
        }
    }
    check_scales(sync((16, 64, 4)), [1, 32, 32, 16], 1, FragmentStride::default(), 16);
}

#[test]
fn invalid_dots_are_rejected() {
    let error = |a: &[i64], b: &[i64], c: &[i64]| DotShape::new(&shape(a), &shape(b), &shape(c)).unwrap_err();
    assert!(matches!(error(&[4], &[4], &[4]), LayoutError::Mismatch { what: "rank of a dot", .. }));
    assert!(matches!(error(&[4, 8], &[4, 8], &[4, 8]), LayoutError::Mismatch { what: "depth of the dot", .. }));
    assert!(matches!(error(&[4, 8], &[8, 8], &[8, 8]), LayoutError::Mismatch { what: "rows of the dot", .. }));
    assert!(matches!(error(&[2, 4, 8], &[1, 8, 8], &[2, 4, 8]), LayoutError::Mismatch { what: "batch of rhs", .. }));
    // Layouts that do not belong together.
    let c = case(sync((16, 16, 16)), [1, 64, 64, 64], 2, false);
    let steps = c.dot.steps(c.multiplier, &c.acc, &c.rhs, &c.lhs);
    assert!(matches!(steps, Err(LayoutError::Mismatch { what: "registers of a dot", .. })));
}

#[test]
fn dots_of_a_warpgroup() {
    for (n, warps, grid) in [(64, 2, [0, 0]), (64, 3, [1, 0]), (128, 3, [1, 0]), (256, 2, [0, 0])] {
        let shape = MmaShape::warpgroup(n, 16, 16);
        let multiplier = Multiplier::Matrix(shape);
        let (a, b, c) = shapes([1, 128, 256, 64]);
        let dot = DotShape::new(&a, &b, &c).unwrap();
        let found = dot.arrange(multiplier, warps, true);
        assert_eq!([found.m, found.n], grid);
        let acc = dot.accumulator(multiplier, found, FragmentStride::default()).unwrap();
        assert!(dot.is_accumulator(multiplier, &acc));
        // The tiling by fragments, which has separate tests, has the same registers, lanes and warps.
        let tiling = MmaTiling { instruction: shape, batch_warps: 1, m_warps: 1 << grid[0], n_warps: 1 };
        assert_eq!(acc, tiling.layout(Operand::Accumulator, &c).unwrap());
        let lhs = dot.operand(multiplier, &acc, Operand::A).unwrap();
        lhs.validate(&a).unwrap();
        assert_eq!(lhs, tiling.layout(Operand::A, &a).unwrap());
        let rhs = dot.operand(multiplier, &acc, Operand::B);
        assert_eq!(rhs.unwrap_err().code(), "layout-unsupported-element");
    }
}

#[test]
fn what_may_be_an_accumulator() {
    let dot = |extents| {
        let (a, b, c) = shapes(extents);
        DotShape::new(&a, &b, &c).unwrap()
    };
    let (tall, multiplier) = (dot([1, 16, 8, 16]), sync((16, 16, 16)));
    let good = |register: &[u64], lane: &[u64]| tall.is_accumulator(multiplier, &layout(register, lane, &[]));
    assert!(good(&[1, 64], &[2, 4, 8, 16, 32]));
    // Rows in another order are valid; columns, and sums of rows and columns, are not.
    assert!(good(&[1, 32], &[2, 4, 8, 16, 64]));
    assert!(!good(&[8, 64], &[2, 4, 1, 16, 32]));
    assert!(!good(&[1, 64], &[10, 4, 8, 16, 32]));
    // A coordinate of the tile must not be missing.
    assert!(!good(&[1], &[2, 4, 8, 16, 32]));
    assert!(!good(&[1, 64], &[2, 0, 8, 16, 32]));
    // A coordinate that the tile lacks must not occur.
    let small = dot([1, 8, 8, 16]);
    assert!(small.is_accumulator(multiplier, &layout(&[1], &[2, 4, 8, 16, 32], &[])));
    assert!(!small.is_accumulator(multiplier, &layout(&[1], &[2, 4, 8, 16, 0], &[])));
    assert!(small.is_accumulator(Multiplier::Scalar, &layout(&[], &[8, 4, 1, 2, 16], &[])));
    // The rows of a warpgroup continue in its warps.
    let group = Multiplier::Matrix(MmaShape::warpgroup(16, 16, 16));
    let wide = dot([1, 64, 16, 16]);
    let good = |warp: &[u64]| wide.is_accumulator(group, &layout(&[1, 128, 8], &[2, 4, 16, 32, 64], warp));
    assert!(good(&[256, 512]));
    assert!(!good(&[256]));
    assert!(!good(&[256, 0]));
    assert!(!good(&[8, 512]));
}
