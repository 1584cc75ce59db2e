//! Invariants of the table.

use std::collections::BTreeSet;
use tile_layout::{MmaShape, Operand};
use tile_mma::*;
use tile_targets::{Feature, TARGETS, Target, requirements_of};

fn target(name: &str) -> &'static Target {
    Target::by_name(name).unwrap()
}

fn best(element: Element, k: u32, scaled: bool, on: &str) -> Option<(Unit, [u32; 2])> {
    candidates(element, k, scaled, target(on)).first().map(|r| (r.unit, [r.m, r.k]))
}

#[test]
fn choice_by_format_depth_and_target() {
    use Element::*;
    let sync = |m, k| Some((Unit::Sync, [m, k]));
    for on in ["sm_80", "sm_90", "sm_100", "sm_120"] {
        for element in [F16, Bf16] {
            assert_eq!(best(element, 64, false, on), sync(16, 16));
            assert_eq!(best(element, 8, false, on), sync(16, 8));
            assert_eq!(best(element, 2, false, on), sync(16, 8));
        }
        assert_eq!(best(Tf32, 8, false, on), sync(16, 8));
        assert_eq!(best(Tf32, 4, false, on), sync(16, 4));
        assert_eq!(best(Tf32, 1, false, on), sync(16, 4));
        assert_eq!(best(F64, 64, false, on), sync(8, 4));
        assert_eq!(best(S8, 32, false, on), sync(16, 32));
        assert_eq!(best(U8, 16, false, on), sync(16, 16));
        let fp8 = if on == "sm_80" { None } else { sync(16, 32) };
        assert_eq!(best(E4m3, 128, false, on), fp8);
        assert_eq!(best(E5m2, 16, false, on), fp8);
        assert_eq!(best(E2m1, 64, false, on), None);
        assert_eq!(best(F32, 64, false, on), None);
        let scaled = |k| (on == "sm_120").then_some((Unit::BlockScale, [16, k]));
        assert_eq!(best(E4m3, 64, true, on), scaled(32));
        assert_eq!(best(E2m1, 64, true, on), scaled(64));
        assert_eq!(best(F16, 64, true, on), None);
    }
}

#[test]
fn candidates_are_generated_and_on_the_target() {
    for t in TARGETS {
        for &element in Element::ALL {
            for (k, scaled) in [(4, false), (64, false), (64, true)] {
                for row in candidates(element, k, scaled, t) {
                    assert!(row.is_on(t) && row.is_lowered(element, element) && row.scales.is_some() == scaled);
                    // Instructions that read shared memory are chosen elsewhere.
                    assert!(row.storage(Operand::B).contains(&Storage::Register));
                }
            }
        }
    }
}

/// A dot names exactly one instruction: a shape with types belongs to one row, or to one that is generated.
#[test]
fn names_are_unambiguous() {
    let mut seen = BTreeSet::new();
    for row in ROWS {
        for i in row.instructions() {
            let scale = i.scale.map(|s| (s, row.scales.unwrap().block));
            let found = find(row.unit, [row.m, i.n, row.k], [i.a, i.b, i.accumulator], scale).unwrap();
            assert_eq!(
                (found.n, found.a, found.b, found.accumulator, found.scale),
                (i.n, i.a, i.b, i.accumulator, i.scale)
            );
            let same = found.row == row;
            // In the table twice: fp8 by 32 with and without a kind, and mxf4 as mxf4nvf4 with larger blocks.
            let twin =
                row.kind == "f8f6f4" && row.unit == Unit::Sync || row.kind == "mxf4nvf4" && scale.unwrap().1 == 32;
            assert!(same || twin && found.row.kind < row.kind, "{}", i.ptx());
            seen.insert(i.ptx());
        }
    }
    assert!(seen.len() > 400, "{}", seen.len());
    for missing in [
        find(Unit::Sync, [16, 8, 32], [Element::F16, Element::F16, Element::F32], None),
        find(Unit::Sync, [16, 16, 16], [Element::F16, Element::F16, Element::F32], None),
        find(Unit::Sync, [16, 8, 16], [Element::F16, Element::Bf16, Element::F32], None),
        find(Unit::Sync, [16, 8, 16], [Element::Bf16, Element::Bf16, Element::F16], None),
        find(Unit::BlockScale, [16, 8, 32], [Element::E4m3, Element::E4m3, Element::F32], None),
        find(Unit::BlockScale, [16, 8, 32], [Element::E4m3, Element::E4m3, Element::F32], Some((Element::Ue8m0, 16))),
        find(Unit::Warpgroup, [64, 512, 16], [Element::F16, Element::F16, Element::F32], None),
        find(Unit::Tensor, [256, 64, 16], [Element::F16, Element::F16, Element::F32], None),
    ] {
        assert_eq!(missing, None);
    }
}

/// The feature of a row is the feature that the table of requirements finds in its name.
#[test]
fn features_agree_with_the_requirements_of_ptx() {
    for row in ROWS {
        for i in row.instructions() {
            let required: BTreeSet<Feature> = requirements_of(&i.ptx()).filter_map(|r| r.feature).collect();
            match row.feature {
                Some(feature) => assert!(required.contains(&feature), "{}: {required:?}", i.ptx()),
                None => assert!(required.is_empty(), "{}: {required:?}", i.ptx()),
            }
            // Targets with the row also have all other required features.
            for t in TARGETS.iter().filter(|t| row.is_on(t)) {
                assert!(required.iter().all(|f| t.has(*f)), "{} on {}", i.ptx(), t.name);
            }
        }
    }
}

#[test]
fn operands_are_where_the_unit_has_them() {
    for row in ROWS {
        let in_shared = [Operand::A, Operand::B].iter().any(|o| row.storage(*o).contains(&Storage::Shared));
        assert_eq!(in_shared, !row.majors.is_empty());
        for operand in [Operand::A, Operand::B, Operand::Accumulator] {
            let n = row.n.iter().next().unwrap();
            let in_registers = row.storage(operand).contains(&Storage::Register);
            assert_eq!(row.fragment(n, operand).is_ok(), in_registers, "{row:?} {operand:?}");
        }
    }
    let wgmma = ROWS.iter().find(|r| r.unit == Unit::Warpgroup && r.operands == [Element::F16]).unwrap();
    assert_eq!(wgmma.fragments(128), Some(MmaShape::warpgroup(128, 16, 16)));
    assert_eq!(wgmma.storage(Operand::A), [Storage::Register, Storage::Shared]);
    assert_eq!(wgmma.majors, [Major::K, Major::Mn]);
    assert_eq!(wgmma.n.iter().collect::<Vec<_>>(), (8..=256).step_by(8).collect::<Vec<_>>());
    // 24 columns exist but are not a linear layout.
    assert!(wgmma.fragment(24, Operand::Accumulator).is_err());
}

/// The rates follow from the published figures, rounded to a power of two.
#[test]
fn peaks_follow_from_their_products() {
    for peak in PEAKS {
        let t = target(peak.target);
        assert!(ROWS.iter().any(|r| r.unit == peak.unit && r.is_on(t)), "{peak:?}");
        let Some(p) = peak.device else { continue };
        let per_clock = p.teraflops * 1e12 / (2.0 * f64::from(p.multiprocessors) * f64::from(p.megahertz) * 1e6);
        assert!((per_clock / f64::from(peak.per_clock) - 1.0).abs() < 0.02, "{peak:?}: {per_clock}");
    }
    let rate = |unit, element: Element, on: &str| {
        let row = ROWS.iter().rfind(|r| r.unit == unit && r.multiplies(element, element)).unwrap();
        row.rate_on(target(on))
    };
    assert_eq!(rate(Unit::Sync, Element::S8, "sm_80"), Some(2048));
    assert_eq!(rate(Unit::Warpgroup, Element::E4m3, "sm_90"), Some(4096));
    assert_eq!(rate(Unit::Warpgroup, Element::E4m3, "sm_100"), None);
    assert_eq!(rate(Unit::BlockScale, Element::E2m1, "sm_120"), Some(2048));
    assert_eq!(rate(Unit::TensorPair, Element::Tf32, "sm_100"), Some(2048));
}

#[test]
fn names_in_ptx() {
    let name = |unit, shape, types, scale| find(unit, shape, types, scale).unwrap().ptx();
    use Element::*;
    assert_eq!(
        name(Unit::Sync, [16, 8, 32], [E4m3, E5m2, F32], None),
        "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32"
    );
    assert_eq!(
        name(Unit::Sync, [16, 8, 256], [B1, B1, S32], None),
        "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc"
    );
    assert_eq!(
        name(Unit::BlockScale, [16, 8, 64], [E2m1, E2m1, F32], Some((Ue4m3, 16))),
        "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3"
    );
    assert_eq!(
        name(Unit::Warpgroup, [64, 24, 16], [Bf16, Bf16, F32], None),
        "wgmma.mma_async.sync.aligned.m64n24k16.f32.bf16.bf16"
    );
    assert_eq!(
        name(Unit::TensorPair, [256, 256, 32], [E4m3, E4m3, F32], Some((Ue8m0, 32))),
        "tcgen05.mma.cta_group::2.kind::mxf8f6f4.block_scale.scale_vec::1X"
    );
}
