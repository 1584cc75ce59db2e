//! Fragments of the matrix instructions against the formulas of the PTX ISA, and tilings by them.
//!
//! For element `i` of a thread's fragment, the ISA gives the row and column as functions of `groupID = lane >> 2` and
//! `threadID_in_group = lane % 4`. The closures below restate those formulas one by one.

mod common;

use common::*;
use proptest::prelude::*;
use tile_layout::*;

fn sync(m: u32, k: u32, operand_bits: u32) -> MmaShape {
    MmaShape::warp(m, k, operand_bits)
}

/// Checks a fragment element by element: `at(warp, lane, i)` is the (row, column) of register `i`.
fn check_fragment(fragment: &Fragment, extents: [i64; 2], registers: u32, at: impl Fn(u32, u32, u32) -> (u32, u32)) {
    assert_eq!(fragment.shape, shape(&extents));
    assert_eq!(fragment.layout.registers(), registers);
    fragment.layout.validate(&fragment.shape).unwrap();
    for thread in fragment.layout.all_threads() {
        for (i, element) in fragment.layout.elements_of(thread).enumerate() {
            let (row, column) = at(thread.warp, thread.lane, i as u32);
            let found = fragment.shape.unflatten(element);
            assert_eq!(found, [row.into(), column.into()], "warp {} lane {} element {i}", thread.warp, thread.lane);
        }
    }
}

fn group(lane: u32) -> u32 {
    lane >> 2
}

fn member(lane: u32) -> u32 {
    lane % 4
}

#[test]
fn accumulators_of_m16n8() {
    for instruction in [sync(16, 16, 16), sync(16, 8, 32), sync(16, 32, 8), sync(16, 8, 64), sync(16, 64, 4)] {
        let c = instruction.fragment(Operand::Accumulator).unwrap();
        check_fragment(&c, [16, 8], 4, |_, lane, i| {
            (if i < 2 { group(lane) } else { group(lane) + 8 }, member(lane) * 2 + (i & 1))
        });
    }
}

#[test]
fn m16n8k16_of_halves() {
    let a = sync(16, 16, 16).fragment(Operand::A).unwrap();
    check_fragment(&a, [16, 16], 8, |_, lane, i| {
        let row = if i < 2 || (4..6).contains(&i) { group(lane) } else { group(lane) + 8 };
        let column = member(lane) * 2 + (i & 1) + if i >= 4 { 8 } else { 0 };
        (row, column)
    });
    assert_eq!(a.layout, layout(&[1, 128, 8], &[2, 4, 16, 32, 64], &[]));
    let b = sync(16, 16, 16).fragment(Operand::B).unwrap();
    check_fragment(&b, [16, 8], 4, |_, lane, i| (member(lane) * 2 + (i & 1) + if i >= 2 { 8 } else { 0 }, group(lane)));
}

#[test]
fn m16n8k8_of_halves() {
    let a = sync(16, 8, 16).fragment(Operand::A).unwrap();
    check_fragment(&a, [16, 8], 4, |_, lane, i| {
        (if i < 2 { group(lane) } else { group(lane) + 8 }, member(lane) * 2 + (i & 1))
    });
    let b = sync(16, 8, 16).fragment(Operand::B).unwrap();
    check_fragment(&b, [8, 8], 2, |_, lane, i| (member(lane) * 2 + i, group(lane)));
}

#[test]
fn m16n8k8_and_k4_of_tf32() {
    let a = sync(16, 8, 32).fragment(Operand::A).unwrap();
    check_fragment(&a, [16, 8], 4, |_, lane, i| {
        let row = if i == 0 || i == 2 { group(lane) } else { group(lane) + 8 };
        let column = if i < 2 { member(lane) } else { member(lane) + 4 };
        (row, column)
    });
    let b = sync(16, 8, 32).fragment(Operand::B).unwrap();
    check_fragment(&b, [8, 8], 2, |_, lane, i| (if i == 0 { member(lane) } else { member(lane) + 4 }, group(lane)));
    let a = sync(16, 4, 32).fragment(Operand::A).unwrap();
    check_fragment(&a, [16, 4], 2, |_, lane, i| (if i == 0 { group(lane) } else { group(lane) + 8 }, member(lane)));
    let b = sync(16, 4, 32).fragment(Operand::B).unwrap();
    check_fragment(&b, [4, 8], 1, |_, lane, _| (member(lane), group(lane)));
}

#[test]
fn m16n8k32_and_k16_of_bytes() {
    let a = sync(16, 32, 8).fragment(Operand::A).unwrap();
    check_fragment(&a, [16, 32], 16, |_, lane, i| {
        let row = if i < 4 || (8..12).contains(&i) { group(lane) } else { group(lane) + 8 };
        let column = member(lane) * 4 + (i & 3) + if i < 8 { 0 } else { 16 };
        (row, column)
    });
    let b = sync(16, 32, 8).fragment(Operand::B).unwrap();
    check_fragment(&b, [32, 8], 8, |_, lane, i| (member(lane) * 4 + (i & 3) + if i < 4 { 0 } else { 16 }, group(lane)));
    let a = sync(16, 16, 8).fragment(Operand::A).unwrap();
    check_fragment(&a, [16, 16], 8, |_, lane, i| {
        (if i < 4 { group(lane) } else { group(lane) + 8 }, member(lane) * 4 + (i & 3))
    });
    let b = sync(16, 16, 8).fragment(Operand::B).unwrap();
    check_fragment(&b, [16, 8], 4, |_, lane, i| (member(lane) * 4 + (i & 3), group(lane)));
}

#[test]
fn m16n8k64_and_k32_of_nibbles() {
    let a = sync(16, 64, 4).fragment(Operand::A).unwrap();
    check_fragment(&a, [16, 64], 32, |_, lane, i| {
        let row = if i < 8 || (16..24).contains(&i) { group(lane) } else { group(lane) + 8 };
        let column = member(lane) * 8 + (i & 7) + if i < 16 { 0 } else { 32 };
        (row, column)
    });
    let b = sync(16, 64, 4).fragment(Operand::B).unwrap();
    check_fragment(&b, [64, 8], 16, |_, lane, i| {
        (member(lane) * 8 + (i & 7) + if i < 8 { 0 } else { 32 }, group(lane))
    });
    let b = sync(16, 32, 4).fragment(Operand::B).unwrap();
    check_fragment(&b, [32, 8], 8, |_, lane, i| (member(lane) * 8 + i, group(lane)));
}

#[test]
fn m8n8k4_of_doubles() {
    let instruction = sync(8, 4, 64);
    let a = instruction.fragment(Operand::A).unwrap();
    check_fragment(&a, [8, 4], 1, |_, lane, _| (lane >> 2, lane % 4));
    let b = instruction.fragment(Operand::B).unwrap();
    check_fragment(&b, [4, 8], 1, |_, lane, _| (lane % 4, lane >> 2));
    let c = instruction.fragment(Operand::Accumulator).unwrap();
    check_fragment(&c, [8, 8], 2, |_, lane, i| (lane >> 2, lane % 4 * 2 + i));
}

#[test]
fn m16n8_of_doubles() {
    for k in [4u32, 8, 16] {
        let a = sync(16, k, 64).fragment(Operand::A).unwrap();
        check_fragment(&a, [16, k.into()], k / 2, |_, lane, i| {
            (if i & 1 == 0 { group(lane) } else { group(lane) + 8 }, i / 2 * 4 + member(lane))
        });
        let b = sync(16, k, 64).fragment(Operand::B).unwrap();
        check_fragment(&b, [k.into(), 8], k / 4, |_, lane, i| (i * 4 + member(lane), group(lane)));
    }
}

#[test]
fn warpgroup_accumulators() {
    for n in [8u32, 16, 32, 64, 128, 256] {
        let instruction = MmaShape::warpgroup(n, 16, 16);
        let d = instruction.fragment(Operand::Accumulator).unwrap();
        check_fragment(&d, [64, n.into()], n / 2, |warp, lane, i| {
            (16 * warp + group(lane) + 8 * (i / 2 % 2), 8 * (i / 4) + 2 * member(lane) + i % 2)
        });
    }
}

#[test]
fn warpgroup_operands_in_registers() {
    let halves = MmaShape::warpgroup(64, 16, 16);
    check_fragment(&halves.fragment(Operand::A).unwrap(), [64, 16], 8, |warp, lane, i| {
        (16 * warp + group(lane) + 8 * (i / 2 % 2), 8 * (i / 4) + 2 * member(lane) + i % 2)
    });
    let bytes = MmaShape::warpgroup(64, 32, 8);
    check_fragment(&bytes.fragment(Operand::A).unwrap(), [64, 32], 16, |warp, lane, i| {
        (16 * warp + group(lane) + 8 * (i / 4 % 2), 16 * (i / 8) + 4 * member(lane) + i % 4)
    });
    let words = MmaShape::warpgroup(64, 8, 32);
    check_fragment(&words.fragment(Operand::A).unwrap(), [64, 8], 4, |warp, lane, i| {
        (16 * warp + group(lane) + 8 * (i % 2), 4 * (i / 2) + member(lane))
    });
    assert_eq!(halves.fragment(Operand::B).unwrap_err().code(), "layout-unsupported-element");
}

#[test]
fn shapes_without_fragments() {
    let none = [
        // Rows of fewer than four words, other numbers of rows or columns, and extents that are not powers of two.
        sync(16, 8, 8),
        sync(8, 2, 64),
        sync(32, 16, 16),
        sync(4, 16, 16),
        MmaShape { n: 16, ..sync(16, 16, 16) },
        MmaShape { n: 0, ..sync(16, 16, 16) },
        sync(0, 0, 0),
        sync(16, 24, 16),
        sync(16, 16, 6),
        sync(16, 512, 128),
        MmaShape { warps: 2, ..sync(16, 16, 16) },
        MmaShape { m: 128, ..MmaShape::warpgroup(64, 16, 16) },
        MmaShape::warpgroup(24, 16, 16),
        MmaShape::warpgroup(512, 16, 16),
        MmaShape::warpgroup(4, 16, 16),
        MmaShape::warpgroup(64, 8, 8),
    ];
    for instruction in none {
        for operand in [Operand::A, Operand::B, Operand::Accumulator] {
            assert_eq!(
                instruction.fragment(operand).unwrap_err().code(),
                "layout-unsupported-element",
                "{instruction:?}"
            );
        }
    }
}

#[test]
fn a_tiled_accumulator_literally() {
    // 64x32 by 2x2 warps: each has 32x16, that is 2x2 fragments.
    let c = mma_tiled(sync(16, 16, 16), Operand::Accumulator, &shape(&[64, 32]), [2, 2]).unwrap();
    assert_eq!(c, layout(&[1, 256, 8, 512], &[2, 4, 32, 64, 128], &[1024, 16]));
}

#[test]
fn operands_agree_with_their_accumulator() {
    // In the dot, the rows of a warp's A are the rows of its accumulator, and the columns of its B are its columns.
    let tilings = [
        (sync(16, 16, 16), 2, 2),
        (sync(16, 16, 16), 4, 1),
        (sync(16, 32, 8), 1, 4),
        (sync(16, 8, 32), 2, 4),
        (sync(8, 4, 64), 2, 2),
    ];
    for (instruction, m_warps, n_warps) in tilings {
        let tiling = MmaTiling { instruction, batch_warps: 1, m_warps, n_warps };
        let (m, n, k) = (shape(&[64, 32]), shape(&[32, 128]), shape(&[64, 128]));
        let a = tiling.layout(Operand::A, &m).unwrap();
        let b = tiling.layout(Operand::B, &n).unwrap();
        let c = tiling.layout(Operand::Accumulator, &k).unwrap();
        assert_eq!([a.warps(), b.warps(), c.warps()], [tiling.warps(); 3]);
        for warp in 0..tiling.warps() {
            let coordinates = |l: &Layout, s: &Shape, dim: usize| {
                let lanes = (0..32).map(|lane| Thread { lane, warp, block: 0 });
                let all = lanes.flat_map(|t| l.elements_of(t).collect::<Vec<_>>());
                all.map(|e| s.unflatten(e)[dim]).collect::<std::collections::BTreeSet<u64>>()
            };
            assert_eq!(coordinates(&a, &m, 0), coordinates(&c, &k, 0));
            assert_eq!(coordinates(&b, &n, 1), coordinates(&c, &k, 1));
            // Every warp has the whole reduction dimension.
            assert_eq!(coordinates(&a, &m, 1).len(), 32);
            assert_eq!(coordinates(&b, &n, 0).len(), 32);
        }
    }
}

#[test]
fn warps_get_contiguous_parts() {
    let tile = shape(&[128, 256]);
    let instruction = MmaShape::warpgroup(256, 16, 16);
    let tiling = MmaTiling { instruction, batch_warps: 1, m_warps: 2, n_warps: 1 };
    let c = tiling.layout(Operand::Accumulator, &tile).unwrap();
    assert_eq!((c.registers(), c.warps()), (128, 8));
    for thread in c.all_threads() {
        for element in c.elements_of(thread) {
            let row = tile.unflatten(element)[0];
            assert_eq!(row / 64, u64::from(thread.warp / 4), "warpgroups split the rows in halves");
            assert_eq!(row / 16 % 4, u64::from(thread.warp % 4));
        }
    }
}

#[test]
fn batches_and_replicas() {
    let instruction = sync(16, 16, 16);
    let tiling = MmaTiling { instruction, batch_warps: 2, m_warps: 2, n_warps: 2 };
    let s = shape(&[4, 32, 16]);
    let a = tiling.layout(Operand::A, &s).unwrap();
    // m takes warp bit 0, n replicates on bit 1, batch takes bit 2 (its high bit); the low batch bit is a register.
    assert_eq!(a, layout(&[1, 128, 8, 512], &[2, 4, 16, 32, 64], &[256, 0, 1024]));
    a.validate(&s).unwrap();
    // More warps than fragments: the surplus warps hold replicas.
    let small = mma_tiled(instruction, Operand::Accumulator, &shape(&[16, 16]), [4, 2]).unwrap();
    assert_eq!(small, layout(&[1, 128], &[2, 4, 16, 32, 64], &[0, 0, 8]));
    assert_eq!(small.free_variables().warp, 3);
}

#[test]
fn tilings_that_do_not_fit() {
    let instruction = sync(16, 16, 16);
    let small = mma_tiled(instruction, Operand::A, &shape(&[8, 16]), [1, 1]).unwrap_err();
    let what = "the matrix instruction";
    assert_eq!(small, LayoutError::TileTooSmall { what, dim: 0, extent: 8, needed: 16 });
    let narrow = mma_tiled(instruction, Operand::B, &shape(&[8, 8]), [1, 1]).unwrap_err();
    assert_eq!(narrow, LayoutError::TileTooSmall { what, dim: 0, extent: 8, needed: 16 });
    assert_eq!(mma_tiled(instruction, Operand::A, &shape(&[256]), [1, 1]).unwrap_err().code(), "layout-mismatch");
    assert_eq!(mma_tiled(instruction, Operand::A, &shape(&[256]), [2, 1]).unwrap_err().code(), "layout-mismatch");
    assert_eq!(mma_tiled(instruction, Operand::A, &shape(&[64, 64]), [3, 1]).unwrap_err().code(), "layout-mismatch");
    let tiling = MmaTiling { instruction, batch_warps: 1, m_warps: 0, n_warps: 1 };
    assert_eq!(tiling.layout(Operand::A, &shape(&[64, 64])).unwrap_err().code(), "layout-mismatch");
    let tiling = MmaTiling { m_warps: 1, ..tiling };
    assert_eq!(tiling.layout(Operand::A, &shape(&[64])).unwrap_err().code(), "layout-mismatch");
    assert_eq!(tiling.layout(Operand::A, &shape(&[2, 2, 64, 64])).unwrap_err().code(), "layout-mismatch");
    let fragment = instruction.fragment(Operand::A).unwrap();
    assert_eq!(fragment.tiled(&shape(&[64, 64]), &[Some(2)]).unwrap_err().code(), "layout-no-such-dimension");
}

/// (row, column) of register `r` of a lane in one access of a shape, from the tables of `tcgen05.ld`.
fn tmem_access(access: TmemShape, lane: u32, r: u32) -> (u32, u32) {
    match access {
        TmemShape::Lanes32Bits32 => (lane, r),
        TmemShape::Lanes16Bits64 => (lane / 4 + 8 * (lane % 2), lane / 2 % 2 + 2 * r),
        TmemShape::Lanes16Bits128 => (lane / 4 + 8 * (r % 2), lane % 4 + 4 * (r / 2)),
        TmemShape::Lanes16Bits256 => (lane / 4 + 8 * (r / 2 % 2), r % 2 + 2 * (lane % 4) + 8 * (r / 4)),
        TmemShape::Lanes16Bits32x2 => (lane % 16, r),
    }
}

#[test]
fn tensor_memory_of_128_rows() {
    for columns in [8u32, 64, 256] {
        let whole = tmem_layout(TmemShape::Lanes32Bits32, TmemTile::Rows128, columns.into(), 1).unwrap();
        check_fragment(&whole, [128, columns.into()], columns, |warp, lane, r| {
            let (row, column) = tmem_access(TmemShape::Lanes32Bits32, lane, r);
            (32 * warp + row, column)
        });
        for access in [TmemShape::Lanes16Bits64, TmemShape::Lanes16Bits128, TmemShape::Lanes16Bits256] {
            let half = tmem_layout(access, TmemTile::Rows128, columns.into(), 1).unwrap();
            check_fragment(&half, [128, columns.into()], columns, |warp, lane, r| {
                // The upper half of the registers is the access to lanes 16 to 31.
                let (upper, r) = (r / (columns / 2), r % (columns / 2));
                let (row, column) = tmem_access(access, lane, r);
                (32 * warp + 16 * upper + row, column)
            });
        }
    }
}

#[test]
fn tensor_memory_of_64_rows() {
    for access in [TmemShape::Lanes16Bits64, TmemShape::Lanes16Bits128, TmemShape::Lanes16Bits256] {
        let f = tmem_layout(access, TmemTile::Rows64, 64, 1).unwrap();
        check_fragment(&f, [64, 64], 32, |warp, lane, r| {
            let (row, column) = tmem_access(access, lane, r);
            (16 * warp + row, column)
        });
    }
    let split = tmem_layout(TmemShape::Lanes16Bits32x2, TmemTile::Rows64, 64, 1).unwrap();
    check_fragment(&split, [64, 64], 32, |warp, lane, r| (16 * warp + lane % 16, r + 32 * (lane / 16)));
    // The accumulator fragment of wgmma, register for register.
    let wgmma = MmaShape::warpgroup(64, 16, 16).fragment(Operand::Accumulator).unwrap();
    assert_eq!(tmem_layout(TmemShape::Lanes16Bits256, TmemTile::Rows64, 64, 1).unwrap(), wgmma);
}

#[test]
fn tensor_memory_of_a_block_pair() {
    let f = tmem_layout(TmemShape::Lanes32Bits32, TmemTile::Rows64Halves, 128, 1).unwrap();
    check_fragment(&f, [64, 128], 64, |warp, lane, r| {
        let tmem_lane = 32 * warp + lane;
        (tmem_lane % 64, r + 64 * (tmem_lane / 64))
    });
}

#[test]
fn tensor_memory_by_two_warpgroups() {
    let f = tmem_layout(TmemShape::Lanes32Bits32, TmemTile::Rows128, 128, 2).unwrap();
    check_fragment(&f, [128, 128], 64, |warp, lane, r| (32 * (warp % 4) + lane, r + 64 * (warp / 4)));
    let f = tmem_layout(TmemShape::Lanes16Bits32x2, TmemTile::Rows64, 64, 2).unwrap();
    check_fragment(&f, [64, 64], 16, |warp, lane, r| {
        (16 * (warp % 4) + lane % 16, r + 16 * (lane / 16) + 32 * (warp / 4))
    });
}

#[test]
fn tensor_memory_misuse() {
    let error = |access, tile, columns, groups| tmem_layout(access, tile, columns, groups).unwrap_err().code();
    assert_eq!(error(TmemShape::Lanes32Bits32, TmemTile::Rows64, 64, 1), "layout-unsupported-element");
    assert_eq!(error(TmemShape::Lanes16Bits256, TmemTile::Rows128, 4, 1), "layout-tile-too-small");
    assert_eq!(error(TmemShape::Lanes32Bits32, TmemTile::Rows128, 1, 2), "layout-tile-too-small");
    assert_eq!(error(TmemShape::Lanes32Bits32, TmemTile::Rows128, 48, 1), "layout-not-power-of-two");
    assert_eq!(error(TmemShape::Lanes32Bits32, TmemTile::Rows128, 64, 3), "layout-mismatch");
}

#[test]
fn probabilities_are_operands_for_free() {
    // In attention, the accumulator of the first dot is operand A of the second. For 16-bit operands the two layouts
    // agree up to a permutation of registers, on both generations.
    let s = shape(&[64, 128]);
    for (instruction, m_warps) in [(MmaShape::warpgroup(128, 16, 16), 1), (sync(16, 16, 16), 4)] {
        let tiling = MmaTiling { instruction, batch_warps: 1, m_warps, n_warps: 1 };
        let (c, a) = (tiling.layout(Operand::Accumulator, &s).unwrap(), tiling.layout(Operand::A, &s).unwrap());
        let plan = convert(&c, &a, &s, &ConvertOptions::new(16)).unwrap();
        assert!(matches!(plan, Conversion::Identity | Conversion::RegisterPermute { .. }), "{plan:?}");
        check_conversion(&c, &a, &plan, 16);
    }
    // For bytes they do not: the lanes of a group exchange words.
    let instruction = MmaShape::warpgroup(128, 32, 8);
    let tiling = MmaTiling { instruction, batch_warps: 1, m_warps: 1, n_warps: 1 };
    let (c, a) = (tiling.layout(Operand::Accumulator, &s).unwrap(), tiling.layout(Operand::A, &s).unwrap());
    let plan = convert(&c, &a, &s, &ConvertOptions::new(8)).unwrap();
    assert!(matches!(plan, Conversion::WarpShuffle(_)), "{plan:?}");
    check_conversion(&c, &a, &plan, 8);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn tilings_cover_their_tiles(
        which in 0usize..12, m_log2 in 4u32..8, n_log2 in 3u32..8, k_log2 in 6u32..8, mw in 0u32..3,
        nw in 0u32..3, batch in 0u32..2,
    ) {
        let instruction = [
            sync(16, 32, 4), sync(16, 64, 4), sync(16, 16, 8), sync(16, 32, 8), sync(16, 8, 16), sync(16, 16, 16),
            sync(16, 4, 32), sync(16, 8, 32), sync(8, 4, 64), sync(16, 4, 64), sync(16, 8, 64), sync(16, 16, 64),
        ][which];
        let tiling = MmaTiling { instruction, batch_warps: 1 << batch, m_warps: 1 << mw, n_warps: 1 << nw };
        for (operand, rows, columns) in [
            (Operand::A, m_log2, k_log2), (Operand::B, k_log2, n_log2), (Operand::Accumulator, m_log2, n_log2),
        ] {
            let s = Shape::from_log2(vec![batch, rows, columns]).unwrap();
            let l = tiling.layout(operand, &s).unwrap();
            prop_assert_eq!(l.validate(&s), Ok(()));
            prop_assert_eq!(l.warps(), tiling.warps());
            // The fragment divides the tiling: registers start with it, and every further register is a whole copy.
            let fragment = instruction.fragment(operand).unwrap();
            let own = fragment.layout.register().len();
            let moved = |v: u64| {
                let c = fragment.shape.log2()[1];
                v & low_mask(c) | v >> c << columns
            };
            for (i, &b) in fragment.layout.register().iter().enumerate() {
                prop_assert_eq!(l.register()[i], moved(b));
            }
            let within = moved(fragment.shape.elements() - 1);
            prop_assert!(l.register()[own..].iter().all(|&b| b & within == 0));
        }
    }
}
