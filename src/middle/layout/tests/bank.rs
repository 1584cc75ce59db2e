//! Bank conflicts, and accesses to given shared-memory layouts: the rank formula against enumeration, hardware
//! swizzles, and matrix instructions.

mod common;

use common::*;
use proptest::prelude::*;
use tile_layout::*;

/// The conflict degree of an access with the given byte contribution of each lane bit, by enumeration of all lanes.
fn enumerated(lane: &[u64], vec: u64) -> Vec<u32> {
    let addresses: Vec<Option<u64>> = (0..32).map(|l| Some(combine(lane, l))).collect();
    phase_wavefronts(&addresses, vec).unwrap()
}

#[test]
fn textbook_conflicts() {
    let cases: [(&[u64; 5], u64, u32); 12] = [
        (&[4, 8, 16, 32, 64], 4, 1),           // neighbouring words
        (&[8, 16, 32, 64, 128], 4, 2),         // every other word
        (&[128, 256, 512, 1024, 2048], 4, 32), // a column of a 32-wide matrix
        (&[0, 0, 0, 0, 0], 4, 1),              // broadcast
        (&[0, 0, 4, 8, 16], 4, 1),             // groups of lanes share words
        (&[132, 264, 528, 1056, 2112], 4, 1),  // a column of a swizzled matrix
        (&[1, 2, 4, 8, 16], 1, 1),             // bytes: lanes share words
        (&[128, 1, 2, 4, 8], 1, 2),            // two rows of bytes
        (&[8, 16, 32, 64, 128], 8, 1),         // a half-warp fills all banks
        (&[16, 32, 64, 128, 256], 16, 1),      // a quarter-warp fills all banks
        (&[128, 256, 512, 16, 32], 16, 8),     // rows of 128 bytes, 16 at a time
        (&[16, 32, 64, 128, 128], 16, 1),      // later lanes are other phases
    ];
    for (lane, vec, degree) in cases {
        assert_eq!(conflict_degree(lane, vec).unwrap(), degree, "{lane:?}");
        assert_eq!(enumerated(lane, vec).into_iter().max(), Some(degree), "{lane:?}");
    }
}

#[test]
fn phases() {
    assert_eq!([1, 2, 4, 8, 16].map(phase_lane_bits), [5, 5, 5, 4, 3]);
    assert_eq!(enumerated(&[16, 32, 64, 128, 256], 16), [1, 1, 1, 1]);
    assert_eq!(enumerated(&[8, 16, 32, 64, 128], 8), [1, 1]);
    assert_eq!(wavefronts(&[Some(0), None, Some(128)], 4).unwrap(), 2);
    assert_eq!(wavefronts(&[None; 32], 16).unwrap(), 0);
    // An access that crosses a word touches both.
    assert_eq!(wavefronts(&[Some(0), Some(8), Some(128)], 8).unwrap(), 2);
}

#[test]
fn illegal_accesses() {
    assert_eq!(conflict_degree(&[4], 3).unwrap_err().code(), "layout-out-of-range");
    assert_eq!(conflict_degree(&[4], 32).unwrap_err().code(), "layout-out-of-range");
    assert_eq!(conflict_degree(&[4], 8).unwrap_err().code(), "layout-out-of-range");
    assert_eq!(phase_wavefronts(&[Some(0)], 0).unwrap_err().code(), "layout-out-of-range");
}

#[test]
fn sectors() {
    assert_eq!(global_sectors(&[4, 8, 16, 32, 64], 4), 4);
    assert_eq!(global_sectors(&[16, 32, 64, 128, 256], 16), 16);
    assert_eq!(global_sectors(&[4096, 8192, 16384, 32768, 65536], 4), 32);
    assert_eq!(global_sectors(&[0; 5], 4), 1);
}

#[test]
fn shared_layouts_number_elements() {
    let s = shape(&[4, 4]);
    let rows = SharedLayout::strided(&s, &[1, 0]).unwrap();
    assert_eq!(rows.bases(), [1, 2, 4, 8]);
    let columns = SharedLayout::strided(&s, &[0, 1]).unwrap();
    assert_eq!(columns.bases(), [4, 8, 1, 2]);
    assert_eq!(columns.element(1), 4);
    assert_eq!(columns.offset(4), 1);
    let swizzled = SharedLayout::new(vec![1, 2, 4 ^ 1, 8 ^ 2], 4).unwrap();
    for offset in 0..16 {
        assert_eq!(swizzled.offset(swizzled.element(offset)), offset);
    }
    assert_eq!(SharedLayout::new(vec![1, 2, 3], 4).unwrap_err().code(), "layout-not-invertible");
    assert_eq!(SharedLayout::new(vec![16], 4).unwrap_err().code(), "layout-out-of-range");
    assert!(SharedLayout::strided(&s, &[0, 0]).is_err());
}

/// The TMA swizzle, from its definition on byte addresses: within a pattern of 1024, 512 or 256 bytes, the number of
/// the 16-byte chunk is XORed with the number of the 128-byte line.
fn hardware_swizzle(byte: u64, span: u64) -> u64 {
    let chunks = span / 16;
    let (line, chunk) = (byte / 128 % chunks, byte / 16 % chunks);
    byte - chunk * 16 + (chunk ^ line) * 16
}

#[test]
fn hardware_swizzles() {
    for elem_bits in [8u32, 16, 32, 64] {
        for span in [16u64, 32, 64, 128] {
            let columns = span * 8 / u64::from(elem_bits);
            let s = shape(&[64, columns as i64]);
            let l = SharedLayout::swizzled(&s, &[1, 0], elem_bits, span).unwrap();
            let bytes = u64::from(elem_bits / 8);
            for element in 0..s.elements() {
                assert_eq!(l.offset(element) * bytes, hardware_swizzle(element * bytes, span), "{elem_bits} {span}");
            }
        }
    }
    assert!(SharedLayout::swizzled(&shape(&[64, 64]), &[1, 0], 16, 48).is_err());
    assert!(SharedLayout::swizzled(&shape(&[64, 64]), &[1, 0], 24, 128).is_err());
}

#[test]
fn swizzled_panels() {
    // 64 rows of 128 halves: two panels of 64 columns, each 8 KiB.
    let s = shape(&[64, 128]);
    let l = SharedLayout::swizzled_panels(&s, &[1, 0], 16, 128).unwrap();
    for row in 0..64 {
        for column in 0..128 {
            let (panel, inner) = (column / 64, column % 64);
            let byte = panel * 8192 + hardware_swizzle(row * 128 + inner * 2, 128);
            assert_eq!(l.offset(row * 128 + column) * 2, byte);
        }
    }
    // The transposed tile: panels along the rows.
    let t = SharedLayout::swizzled_panels(&shape(&[128, 64]), &[0, 1], 16, 128).unwrap();
    for row in 0..128u64 {
        for column in 0..64 {
            assert_eq!(t.offset(row * 64 + column), l.offset(column * 128 + row));
        }
    }
    // Narrow tiles have one panel.
    let narrow = shape(&[64, 32]);
    let one = SharedLayout::swizzled_panels(&narrow, &[1, 0], 16, 128).unwrap();
    assert_eq!(one, SharedLayout::swizzled(&narrow, &[1, 0], 16, 128).unwrap());
    assert!(SharedLayout::swizzled_panels(&shape(&[]), &[], 16, 128).is_ok());
}

/// Checks an access against its layouts by running it: a store must write every element to its offset, and a load
/// must read it from there.
fn check_access(l: &Layout, shared: &SharedLayout, elem_bits: u32, direction: Direction, matrix: bool) -> SharedAccess {
    check_matrices(l, shared, elem_bits, direction, Matrices::halves(matrix))
}

fn check_matrices(
    l: &Layout,
    shared: &SharedLayout,
    elem_bits: u32,
    direction: Direction,
    matrices: Matrices,
) -> SharedAccess {
    let access = SharedAccess::with_matrices(l, shared, elem_bits, direction, matrices).unwrap();
    let bytes = 1 << (shared.offset_bits() + elem_log2_bytes(elem_bits).unwrap());
    // The other side is a simple access with one register per element, which is tested elsewhere.
    let plain = |direction| {
        let bits = shared.offset_bits();
        let units: Vec<u64> = (0..bits).map(|i| shared.bases()[i as usize]).collect();
        let lane: Vec<u64> = (0..5).map(|i| units.get(i).copied().unwrap_or(0)).collect();
        let other = Layout::new(units.get(5..).unwrap_or(&[]).to_vec(), lane, vec![0; l.warp().len()], vec![]).unwrap();
        (SharedAccess::new(&other, shared, elem_bits, direction, false).unwrap(), other)
    };
    let (src, dst, store, load) = match direction {
        Direction::Store => {
            let (load, other) = plain(Direction::Load);
            (l.clone(), other, access.clone(), load)
        }
        Direction::Load => {
            let (store, other) = plain(Direction::Store);
            (other, l.clone(), store, access.clone())
        }
    };
    let plan = SharedPlan { layout: shared.clone(), bytes, rounds: 1, store, load };
    check_conversion(&src, &dst, &Conversion::SharedMemory(Box::new(plan)), elem_bits);
    access
}

/// Operand A of m16n8k16 on one 16x16 tile of halves.
fn operand_a() -> Layout {
    layout(&[1, 128, 8], &[2, 4, 16, 32, 64], &[])
}

#[test]
fn ldmatrix_reads_an_operand() {
    let s = shape(&[16, 16]);
    let shared = SharedLayout::strided(&s, &[1, 0]).unwrap();
    let access = check_access(&operand_a(), &shared, 16, Direction::Load, true);
    assert_eq!(access.mode, AccessMode::Matrix { matrices: 4, elements: 2, transposed: false });
    // Lanes 0-7: rows 0-7; lanes 8-15: rows 8-15 (register bit 1); lanes 16-31: the right half (register bit 2).
    assert_eq!(access.address.lane, [32, 64, 128, 256, 16]);
    assert_eq!(access.instructions.len(), 1);
    assert_eq!(access.instructions[0].registers, [0, 1, 2, 3, 4, 5, 6, 7]);
    // Eight rows of 32 bytes span 256 bytes, so two share each bank.
    assert_eq!((access.conflict_degree, access.wavefronts), (2, 8));
    // Without matrix instructions: pairs.
    let plain = check_access(&operand_a(), &shared, 16, Direction::Load, false);
    assert_eq!(plain.mode, AccessMode::Vector { elements: 2 });
    assert_eq!(plain.instructions.len(), 4);
}

#[test]
fn ldmatrix_of_a_swizzled_tile_is_free_of_conflicts() {
    // 64x64 halves with the 128-byte swizzle, read as A by four warps along m.
    let s = shape(&[64, 64]);
    let tiling = MmaTiling { instruction: MmaShape::warp(16, 16, 16), batch_warps: 1, m_warps: 4, n_warps: 1 };
    let a = tiling.layout(Operand::A, &s).unwrap();
    let shared = SharedLayout::swizzled(&s, &[1, 0], 16, 128).unwrap();
    let access = check_access(&a, &shared, 16, Direction::Load, true);
    assert_eq!(access.mode, AccessMode::Matrix { matrices: 4, elements: 2, transposed: false });
    assert_eq!((access.conflict_degree, access.instructions.len(), access.wavefronts), (1, 4, 16));
    let dense = SharedLayout::strided(&s, &[1, 0]).unwrap();
    let conflicts = check_access(&a, &dense, 16, Direction::Load, true);
    assert_eq!(conflicts.conflict_degree, 8);
}

#[test]
fn ldmatrix_trans_reads_a_row_major_b() {
    // B is k x n with n fastest in memory; its fragment runs along k.
    let s = shape(&[16, 64]);
    let instruction = MmaShape::warp(16, 16, 16);
    let b = mma_tiled(instruction, Operand::B, &s, [1, 1]).unwrap();
    let shared = SharedLayout::swizzled(&s, &[1, 0], 16, 128).unwrap();
    let access = check_access(&b, &shared, 16, Direction::Load, true);
    assert_eq!(access.mode, AccessMode::Matrix { matrices: 4, elements: 2, transposed: true });
    assert_eq!((access.conflict_degree, access.instructions.len()), (1, 4));
    assert_eq!(access.address.lane[..3], [128 ^ 16, 256 ^ 32, 512 ^ 64]);
    // With k fastest in memory the same operand needs no transposition.
    let columns = SharedLayout::strided(&s, &[0, 1]).unwrap();
    let access = check_access(&b, &columns, 16, Direction::Load, true);
    assert_eq!(access.mode, AccessMode::Matrix { matrices: 4, elements: 2, transposed: false });
}

/// Both operands of bytes, contiguous along M or N, by `ldmatrix.m16n16.trans.b8`: two matrices at a time, without
/// conflicts, and each word whole.
#[test]
fn ldmatrix_transposes_bytes() {
    let instruction = MmaShape::warp(16, 32, 8);
    for (operand, extents, order) in [(Operand::A, [64, 64], [0, 1]), (Operand::B, [64, 64], [1, 0])] {
        let s = shape(&extents);
        let fragment = mma_tiled(instruction, operand, &s, [1, 1]).unwrap();
        for span in [64, 128] {
            let shared = SharedLayout::swizzled_panels(&s, &order, 8, span).unwrap();
            let access = check_matrices(&fragment, &shared, 8, Direction::Load, Matrices::Bytes);
            assert_eq!(access.mode, AccessMode::Matrix { matrices: 2, elements: 4, transposed: true }, "{operand:?}");
            assert_eq!((access.conflict_degree, access.instructions.len()), (1, 8), "{operand:?}");
            let words = access.instructions.iter().flat_map(|i| i.registers.chunks(4));
            assert!(words.clone().all(|w| w[0] % 4 == 0 && w.is_sorted_by(|a, b| a + 1 == *b)), "{operand:?}");
            // Without the instruction, the bytes are loaded one at a time.
            let older = check_access(&fragment, &shared, 8, Direction::Load, true);
            assert_eq!(older.mode, AccessMode::Vector { elements: 1 });
            // Nothing is transposed if memory is contiguous along K.
            let along = SharedLayout::swizzled_panels(&s, &[order[1], order[0]], 8, span).unwrap();
            let access = check_matrices(&fragment, &along, 8, Direction::Load, Matrices::Bytes);
            assert_eq!(access.mode, AccessMode::Matrix { matrices: 4, elements: 4, transposed: false });
        }
    }
    // A lane bit without an element, as in a fragment that is larger than its tile.
    let s = shape(&[16, 16]);
    let shared = SharedLayout::strided(&s, &[1, 0]).unwrap();
    let whole = layout(&[16, 32, 8], &[64, 128, 1, 2, 4], &[]);
    let access = check_matrices(&whole, &shared, 8, Direction::Load, Matrices::Bytes);
    assert_eq!(access.mode, AccessMode::Matrix { matrices: 1, elements: 4, transposed: true });
    let narrow = layout(&[16, 32, 8, 4], &[64, 128, 1, 2, 0], &[]);
    let access = check_matrices(&narrow, &shared, 8, Direction::Load, Matrices::Bytes);
    assert!(matches!(access.mode, AccessMode::Vector { .. }));
    // Stores and other widths do not have the instruction.
    let access = check_matrices(&whole, &shared, 8, Direction::Store, Matrices::Bytes);
    assert!(matches!(access.mode, AccessMode::Vector { .. }));
}

#[test]
fn stmatrix_writes_an_accumulator() {
    // 64x64 halves of an accumulator, four warps along m.
    let s = shape(&[64, 64]);
    let instruction = MmaShape::warp(16, 16, 16);
    let c = mma_tiled(instruction, Operand::Accumulator, &s, [4, 1]).unwrap();
    let shared = SharedLayout::swizzled(&s, &[1, 0], 16, 128).unwrap();
    let access = check_access(&c, &shared, 16, Direction::Store, true);
    assert_eq!(access.mode, AccessMode::Matrix { matrices: 4, elements: 2, transposed: false });
    assert_eq!((access.conflict_degree, access.instructions.len(), access.wavefronts), (1, 4, 16));
    // Transposed storage takes the transposed instruction.
    let transposed = SharedLayout::swizzled(&s, &[0, 1], 16, 128).unwrap();
    let access = check_access(&c, &transposed, 16, Direction::Store, true);
    assert_eq!(access.mode, AccessMode::Matrix { matrices: 4, elements: 2, transposed: true });
    assert_eq!(access.conflict_degree, 1);
}

#[test]
fn matrix_instructions_of_other_widths() {
    // Bytes: four elements per word, rows of 16.
    let s = shape(&[16, 32]);
    let instruction = MmaShape::warp(16, 32, 8);
    let a = mma_tiled(instruction, Operand::A, &s, [1, 1]).unwrap();
    let shared = SharedLayout::strided(&s, &[1, 0]).unwrap();
    let access = check_access(&a, &shared, 8, Direction::Load, true);
    assert_eq!(access.mode, AccessMode::Matrix { matrices: 4, elements: 4, transposed: false });
    // Words: rows of four tf32.
    let s = shape(&[16, 8]);
    let instruction = MmaShape::warp(16, 8, 32);
    let a = mma_tiled(instruction, Operand::A, &s, [1, 1]).unwrap();
    let shared = SharedLayout::strided(&s, &[1, 0]).unwrap();
    let access = check_access(&a, &shared, 32, Direction::Load, true);
    assert_eq!(access.mode, AccessMode::Matrix { matrices: 4, elements: 1, transposed: false });
    // 64-bit elements do not fit in the word of a fragment.
    let instruction = MmaShape::warp(16, 8, 64);
    let a = mma_tiled(instruction, Operand::A, &s, [1, 1]).unwrap();
    let access = check_access(&a, &shared, 64, Direction::Load, true);
    assert!(matches!(access.mode, AccessMode::Vector { .. }));
    // One and two matrices.
    let small = layout(&[1], &[2, 4, 8, 16, 32], &[]);
    let access =
        check_access(&small, &SharedLayout::strided(&shape(&[8, 8]), &[1, 0]).unwrap(), 16, Direction::Load, true);
    assert!(matches!(access.mode, AccessMode::Vector { .. }), "one load either way: the plain one is preferred");
    let two = layout(&[1, 64], &[2, 4, 8, 16, 32], &[]);
    let access =
        check_access(&two, &SharedLayout::strided(&shape(&[16, 8]), &[1, 0]).unwrap(), 16, Direction::Load, true);
    assert_eq!(access.mode, AccessMode::Matrix { matrices: 2, elements: 2, transposed: false });
}

#[test]
fn registers_along_the_row_rule_out_the_transposed_fragment() {
    // A transposed fragment with a second register bit that repeats lane bit 2: the instruction would skip it.
    let l = layout(&[8, 1], &[16, 32, 1, 2, 4], &[]);
    let shared = SharedLayout::strided(&shape(&[8, 8]), &[1, 0]).unwrap();
    let access = check_access(&l, &shared, 16, Direction::Load, true);
    assert!(matches!(access.mode, AccessMode::Vector { .. }));
    let without = layout(&[8], &[16, 32, 1, 2, 4], &[]);
    let access = check_access(&without, &shared, 16, Direction::Load, true);
    assert_eq!(access.mode, AccessMode::Matrix { matrices: 1, elements: 2, transposed: true });
    // The same along the row of a plain fragment, at lane bit 0.
    let l = layout(&[1, 2], &[2, 4, 8, 16, 32], &[]);
    let access = check_access(&l, &shared, 16, Direction::Load, true);
    assert!(matches!(access.mode, AccessMode::Vector { .. }));
}

#[test]
fn stores_of_replicas_are_guarded() {
    let s = shape(&[32]);
    let shared = SharedLayout::strided(&s, &[0]).unwrap();
    let l = layout(&[1, 1], &[2, 4, 8, 16, 0], &[0, 1]);
    let access = check_access(&l, &shared, 32, Direction::Store, false);
    // Lane bit 4 and warp bit 0 are replicas, and warp bit 1 repeats the registers, so no register bit is left.
    assert_eq!(access.guard, InputMasks { register: 3, lane: 16, warp: 1, block: 0 });
    assert_eq!(access.instructions.len(), 1);
    let access = check_access(&l, &shared, 32, Direction::Load, false);
    assert_eq!(access.guard, InputMasks { register: 2, ..InputMasks::default() });
    assert_eq!(access.copies, [(2, 1), (3, 0)]);
}

#[test]
fn immediates_and_xors() {
    // Lanes that own a row of a swizzled tile: the column constants overlap with the lane's bits.
    let s = shape(&[32, 32]);
    let shared = SharedLayout::new((0..5).map(|i| 1 << i).chain((0..5).map(|i| 33 << i)).collect(), 10).unwrap();
    let rows = layout(&[1, 2, 4, 8, 16], &[32, 64, 128, 256, 512], &[]);
    let access = check_access(&rows, &shared, 32, Direction::Load, false);
    assert_eq!(access.mode, AccessMode::Vector { elements: 1 });
    assert_eq!(access.distinct_xors(), 32);
    assert!(access.instructions.iter().all(|i| i.add == 0));
    // Lanes that own a column: rows are immediates, except for the swizzle.
    let dense = SharedLayout::strided(&s, &[1, 0]).unwrap();
    let columns = layout(&[32, 64, 128, 256, 512], &[1, 2, 4, 8, 16], &[]);
    let access = check_access(&columns, &dense, 32, Direction::Load, false);
    assert_eq!(access.distinct_xors(), 1);
    assert_eq!(access.instructions[31].add, 31 * 128);
    assert_eq!(access.address.expr().to_bit_expr().to_string(), "(lane << 2)");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_rank_formula_agrees_with_enumeration(
        lane in proptest::collection::vec(0u64..1 << 12, 5), vec_log2 in 0u32..5
    ) {
        let lane: Vec<u64> = lane.into_iter().map(|b| b >> vec_log2 << vec_log2).collect();
        let degree = conflict_degree(&lane, 1 << vec_log2).unwrap();
        let turns = enumerated(&lane, 1 << vec_log2);
        // For linear maps, all phases are alike.
        prop_assert!(turns.iter().all(|&t| t == degree), "{turns:?} is not {degree}");
    }

    #[test]
    fn xor_constants_do_not_change_the_degree(
        lane in proptest::collection::vec(0u64..1 << 12, 5), constant in 0u64..1 << 12, vec_log2 in 0u32..5,
    ) {
        let align = |b: u64| b >> vec_log2 << vec_log2;
        let lane: Vec<u64> = lane.into_iter().map(align).collect();
        let addresses: Vec<Option<u64>> = (0..32).map(|l| Some(combine(&lane, l) ^ align(constant))).collect();
        prop_assert_eq!(phase_wavefronts(&addresses, 1 << vec_log2).unwrap(), enumerated(&lane, 1 << vec_log2));
    }

    #[test]
    fn sectors_agree_with_enumeration(lane in proptest::collection::vec(0u64..1 << 12, 5), vec_log2 in 0u32..5) {
        let lane: Vec<u64> = lane.into_iter().map(|b| b >> vec_log2 << vec_log2).collect();
        let mut sectors: Vec<u64> = (0..32).map(|l| combine(&lane, l) >> 5).collect();
        sectors.sort_unstable();
        sectors.dedup();
        prop_assert_eq!(global_sectors(&lane, 1 << vec_log2), sectors.len() as u64);
    }

    #[test]
    fn accesses_to_random_shared_layouts(
        l in any_layout(8, 1, 2), shared in any_permuted_layout(8, 0, 0), elem_log2 in 3u32..8, store in any::<bool>(),
        matrix in any::<bool>(),
    ) {
        let shared = SharedLayout::new(shared.all_bases().filter(|&b| b != 0).collect(), 8).unwrap();
        let direction = if store { Direction::Store } else { Direction::Load };
        check_access(&l, &shared, 1 << elem_log2, direction, matrix);
    }

    #[test]
    fn accesses_to_swizzled_tiles(
        l in any_permuted_layout(10, 1, 2), store in any::<bool>(), span in 4u32..8, elem_log2 in 3u32..6
    ) {
        let shared = SharedLayout::swizzled_panels(&shape(&[32, 32]), &[1, 0], 1 << elem_log2, 1 << span).unwrap();
        let direction = if store { Direction::Store } else { Direction::Load };
        check_access(&l, &shared, 1 << elem_log2, direction, true);
    }
}
