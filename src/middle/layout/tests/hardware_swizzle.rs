//! Hardware layouts of shared memory: recognition, descriptors compared element by element with the simulator's
//! decoder, and whole dots by `wgmma`.

mod common;
#[path = "common/wgmma.rs"]
mod wgmma;

use common::shape;
use proptest::prelude::*;
use ptx_sim::tensor::{self, SmemDescriptor};
use tile_layout::*;
use wgmma::{Left, Type, check_dot};

/// A layout of the family for a tile of rank 2, or of rank 3 with a slow dimension of stages.
fn any_member() -> impl Strategy<Value = HardwareLayout> {
    let element = prop_oneof![Just(8u32), Just(16), Just(32)];
    (element, 0u32..5, 3u32..9, 0u32..4, any::<bool>(), 0u32..3, any::<u64>()).prop_map(
        |(bits, swizzle, lines, extra, rows_contiguous, stages, order)| {
            let swizzle = HardwareSwizzle::ALL[swizzle as usize];
            let contiguous = (swizzle.span() * 8 / bits).ilog2() + extra;
            let log2 = if rows_contiguous { vec![stages, lines, contiguous] } else { vec![stages, contiguous, lines] };
            let dims = if rows_contiguous { (2, 1) } else { (1, 2) };
            let mut atoms: Vec<usize> = std::iter::repeat_n(dims.0, extra as usize)
                .chain(std::iter::repeat_n(dims.1, (lines - lines_log2(swizzle)) as usize))
                .chain(std::iter::repeat_n(0, stages as usize))
                .collect();
            for i in 1..atoms.len() {
                atoms.swap(i, (order >> (4 * i) & 15) as usize % (i + 1));
            }
            HardwareLayout::new(&Shape::from_log2(log2).unwrap(), dims, bits, swizzle, atoms).unwrap()
        },
    )
}

fn lines_log2(swizzle: HardwareSwizzle) -> u32 {
    (swizzle.atom_bytes() / swizzle.span()).ilog2()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// A layout of the family is recognized as itself, and its bases store every element once.
    #[test]
    fn members_are_recognised(layout in any_member()) {
        let shared = layout.shared_layout().unwrap();
        prop_assert_eq!(shared.offset_bits(), layout.shape().bits());
        let found = HardwareLayout::recognise(&shared, layout.shape(), layout.elem_bits()).unwrap();
        prop_assert_eq!(found, layout);
    }

    /// No other layout is recognized: a recognized layout has the same bases.
    #[test]
    fn recognition_is_exact(layout in any_member(), at in 0usize..32, other in 0usize..32, swap in any::<bool>()) {
        let mut bases = layout.shared_layout().unwrap().bases().to_vec();
        let (i, j) = (at % bases.len(), other % bases.len());
        if swap { bases.swap(i, j) } else if i != j { bases[i] ^= bases[j] }
        let Ok(changed) = SharedLayout::new(bases.clone(), layout.shape().bits()) else { return Ok(()) };
        if let Ok(found) = HardwareLayout::recognise(&changed, layout.shape(), layout.elem_bits()) {
            let again = found.shared_layout().unwrap();
            prop_assert_eq!(again.bases(), &bases[..]);
        }
    }

    /// Every element of an operand is where the simulator's descriptor decoder looks for it, for all rows and steps.
    #[test]
    fn descriptors_point_at_every_element(
        layout in any_member(), rows_log2 in 3u32..9, stage in 0u64..4, tile in 0u32..8, tensor in any::<bool>(),
    ) {
        let (mn, k) = (1, 2);
        let (contiguous, bits) = (layout.contiguous(), layout.elem_bits());
        let extents = layout.shape().extents();
        let rows = 1 << rows_log2;
        let depth = u64::from(256 / bits);
        let in_units = layout.swizzle() == HardwareSwizzle::Units32;
        let reads_mn_major = if tensor { in_units == (bits == 32) } else { bits == 16 && !in_units };
        let found = if tensor { layout.tensor_operand(mn, k, rows) } else { layout.operand(mn, k, rows) };
        let operand = match found {
            Ok(operand) => operand,
            Err(error) => {
                let expected = (contiguous == mn && !reads_mn_major)
                    || (contiguous == k && in_units)
                    || (contiguous == mn && rows * bits < 128)
                    || extents[mn] < rows.into()
                    || extents[k] < depth
                    || matches!(error, HardwareError::UnevenStride { .. });
                prop_assert!(expected, "{error}");
                return Ok(());
            }
        };
        let shared = layout.shared_layout().unwrap();
        let base = tile * layout.alignment();
        let stage = stage % extents[0];
        let major = if operand.major == Major::K { tensor::Major::K } else { tensor::Major::Mn };
        for (i, j) in (0..operand.mn_offsets.len()).flat_map(|i| (0..operand.k_offsets.len()).map(move |j| (i, j))) {
            let start = operand.offset(i, j).unwrap() + layout.linear_offset(0, stage);
            let Ok(raw) = operand.descriptor.at(base, start) else {
                prop_assert!(u64::from(base) + start >= 1 << 18);
                continue;
            };
            let version = operand.descriptor.tensor_constant() ^ operand.descriptor.constant();
            let decoded =
                if tensor { SmemDescriptor::tcgen05(raw | version).unwrap() } else { SmemDescriptor::wgmma(raw) };
            for row in 0..u64::from(rows) {
                for d in 0..depth {
                    let point = [stage, i as u64 * u64::from(rows) + row, j as u64 * depth + d];
                    let offset = shared.offset(layout.shape().flatten(&point)) * u64::from(bits / 8);
                    let (address, bit) = decoded.element(major, row as u32, d as u32, bits, bits);
                    prop_assert_eq!((u64::from(address), bit), (u64::from(base) + offset, 0));
                }
            }
        }
    }
}

/// The forms of a B tile (k x n) for a type: contiguous along K and, if the instruction supports it, along N.
fn b_layouts(ty: Type, k: i64, n: i64, swizzle: HardwareSwizzle) -> Vec<HardwareLayout> {
    let tile = shape(&[k, n]);
    let fits = |extent: i64| extent as u64 * u64::from(ty.bits() / 8) >= swizzle.span().into();
    let mut layouts = Vec::new();
    for (dims, allowed) in [((0, 1), fits(k)), ((1, 0), fits(n) && ty.bits() == 16)] {
        for order in [[0, 1], [1, 0]].iter().filter(|_| allowed) {
            layouts.push(HardwareLayout::with_atom_order(&tile, dims, ty.bits(), swizzle, order).unwrap());
        }
    }
    layouts
}

/// Every swizzle, both majors of both operands and both orders of atoms, two warpgroups, several steps along K.
#[test]
fn dots_of_halves() {
    for swizzle in HardwareSwizzle::OF_CHUNKS {
        for b in b_layouts(Type::F16, 64, 32, swizzle) {
            check_dot(Type::F16, (128, 32, 64), 32, (2, 1), Left::Registers, &b);
            let tile = shape(&[128, 64]);
            for (dims, order) in [((1, 0), [0, 1]), ((1, 0), [1, 0]), ((0, 1), [0, 1]), ((0, 1), [1, 0])] {
                let a = HardwareLayout::with_atom_order(&tile, dims, 16, swizzle, &order).unwrap();
                check_dot(Type::F16, (128, 32, 64), 32, (2, 1), Left::Shared(&a), &b);
            }
        }
    }
}

/// More K than a span and more columns than an instruction: steps across atoms in both dimensions.
#[test]
fn steps_across_atoms() {
    let a = HardwareLayout::panels(&shape(&[64, 128]), (1, 0), 16).unwrap();
    for b in b_layouts(Type::Bf16, 128, 128, HardwareSwizzle::Bytes128) {
        check_dot(Type::Bf16, (64, 128, 128), 64, (1, 1), Left::Shared(&a), &b);
        check_dot(Type::Bf16, (64, 128, 128), 64, (1, 2), Left::Shared(&a), &b);
    }
    // Columns of an instruction that are half a span.
    let b = HardwareLayout::panels(&shape(&[32, 64]), (1, 0), 16).unwrap();
    assert_eq!(b.swizzle(), HardwareSwizzle::Bytes128);
    check_dot(Type::Bf16, (64, 64, 32), 32, (1, 1), Left::Registers, &b);
}

#[test]
fn dots_of_other_widths() {
    for ty in [Type::Tf32, Type::E4m3, Type::S8] {
        let k = 512 / i64::from(ty.bits());
        for swizzle in HardwareSwizzle::OF_CHUNKS {
            for b in b_layouts(ty, 2 * k, 32, swizzle) {
                let tile = shape(&[64, 2 * k]);
                let a = HardwareLayout::with_atom_order(&tile, (1, 0), ty.bits(), swizzle, &[0, 1]).unwrap();
                check_dot(ty, (64, 32, 2 * k as u32), 16, (1, 1), Left::Shared(&a), &b);
                check_dot(ty, (64, 32, 2 * k as u32), 32, (1, 1), Left::Registers, &b);
            }
        }
    }
}

/// The tile of the fastest dots: one n256 instruction, with literal descriptors.
#[test]
fn literal_descriptors() {
    let b = HardwareLayout::panels(&shape(&[256, 64]), (1, 0), 16).unwrap();
    let operand = b.operand(0, 1, 256).unwrap();
    assert_eq!(operand.descriptor.constant(), 0x4000_0040_0001_0000);
    assert_eq!((operand.k_offsets, operand.mn_offsets), (vec![0, 32, 64, 96], vec![0]));
    assert_eq!((b.alignment(), b.bytes()), (1024, 32768));
    assert_eq!(operand.descriptor.at(0x2c00, 32), Ok(0x4000_0040_0001_0000 | 0x2c2));
    // N contiguous: a panel of 64 columns has all 64 of K, so panels are 8 KB apart and groups along K 1 KB.
    let b = HardwareLayout::panels(&shape(&[64, 256]), (1, 0), 16).unwrap();
    let operand = b.operand(1, 0, 256).unwrap();
    assert_eq!((operand.descriptor.leading, operand.descriptor.stride), (8192, 1024));
    assert_eq!(operand.k_offsets, [0, 2048, 4096, 6144]);
    // The same for 32-bit elements of tcgen05: a panel of 32 columns has 32 of K in groups of four.
    let b = HardwareLayout::panels_in_units(&shape(&[32, 256]), (1, 0)).unwrap();
    let operand = b.tensor_operand(1, 0, 256).unwrap();
    assert_eq!((operand.descriptor.leading, operand.descriptor.stride), (4096, 512));
    assert_eq!(operand.descriptor.tensor_constant(), 0x2000_4020_0100_0000);
    assert_eq!(operand.k_offsets, [0, 1024, 2048, 3072]);
    assert_eq!(b.operand(1, 0, 256), Err(HardwareError::Units));
    let rows = HardwareLayout::panels(&shape(&[32, 256]), (1, 0), 32).unwrap();
    assert_eq!(rows.tensor_operand(1, 0, 256), Err(HardwareError::MustBeKMajor { bits: 32 }));
}

#[test]
fn refusals_say_why() {
    let text = |r: std::result::Result<WarpgroupOperand, HardwareError>| r.unwrap_err().to_string();
    let panels = |extents: &[i64], dims, bits| HardwareLayout::panels(&shape(extents), dims, bits).unwrap();
    assert_eq!(
        text(panels(&[64, 128], (0, 1), 8).operand(0, 1, 64)),
        "elements of 8 bits must be contiguous along K, but they are contiguous along M or N"
    );
    assert_eq!(
        text(panels(&[32, 64], (1, 0), 16).operand(0, 1, 64)),
        "dimension 0 has 32 elements, but an atom needs 64"
    );
    assert_eq!(
        text(panels(&[64, 64], (1, 0), 16).operand(0, 1, 48)),
        "no instruction takes 48 rows of this operand: the count must be a power of two from 8 to 256"
    );
    assert_eq!(
        text(panels(&[64, 8], (1, 0), 16).operand(0, 1, 64)),
        "dimension 1 has 8 elements, but an atom needs 16"
    );
    // Row bits 3 and 4 with a panel bit between them.
    let atoms = vec![0, 1, 0, 0];
    let torn = HardwareLayout::new(&shape(&[64, 128]), (1, 0), 16, HardwareSwizzle::Bytes128, atoms).unwrap();
    assert_eq!(
        text(torn.operand(0, 1, 64)),
        "the groups of dimension 0 are not evenly spaced: bit 4 of its coordinate is at byte 4096, not 2048"
    );
    assert!(torn.operand(0, 1, 16).is_ok());
    let operand = panels(&[64, 64], (1, 0), 16).operand(0, 1, 64).unwrap();
    assert_eq!(operand.descriptor.at(0x200, 0).unwrap_err().to_string(), "address 0x200 is not a multiple of 1024");
    assert_eq!(operand.descriptor.at(1 << 18, 0), Err(HardwareError::OutOfRange { bytes: 1 << 18 }));
    // Plain row-major storage is not a hardware layout, and the message names the first wrong bit.
    let plain = SharedLayout::strided(&shape(&[64, 64]), &[1, 0]).unwrap();
    assert_eq!(
        HardwareLayout::recognise(&plain, &shape(&[64, 64]), 16).unwrap_err().to_string(),
        "bit 7 of the byte offset selects element 0x40, as in no hardware layout"
    );
    assert_eq!(
        HardwareLayout::panels(&shape(&[64, 64]), (1, 0), 4).unwrap_err().to_string(),
        "elements of 4 bits have no hardware layout; supported are 8, 16, 32 and 64 bits"
    );
}

/// The swizzled layouts of this crate belong to the family if their tile fills an atom.
#[test]
fn panels_of_the_algebra_are_members() {
    for (extents, order) in [([128, 64], [1, 0]), ([64, 256], [1, 0]), ([64, 64], [0, 1])] {
        let s = shape(&extents);
        let shared = SharedLayout::swizzled_panels(&s, &order, 16, 128).unwrap();
        let found = HardwareLayout::recognise(&shared, &s, 16).unwrap();
        assert_eq!(found, HardwareLayout::panels(&s, (order[0], order[1]), 16).unwrap());
    }
}

/// `stmatrix` stores accumulators without conflicts into 64 columns with the 128-byte swizzle.
#[test]
fn accumulators_in_epilogues() {
    let chunk = shape(&[64, 64]);
    let memory = HardwareLayout::panels(&chunk, (1, 0), 16).unwrap().shared_layout().unwrap();
    let fragment = WarpgroupDot::new((64, 64, 64), 16, 64, (1, 1)).unwrap().accumulator().unwrap();
    let store = SharedAccess::new(&fragment, &memory, 16, Direction::Store, true).unwrap();
    assert_eq!(store.mode, AccessMode::Matrix { matrices: 4, elements: 2, transposed: false });
    assert_eq!(store.conflict_degree, 1);
}
