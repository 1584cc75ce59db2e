//! Conversions in parts, executed for all threads with registers as arrays.

mod common;

use common::*;
use proptest::prelude::*;
use tile_layout::*;

/// Runs the plan as documented, and checks the final registers of every thread. Also checks that parts are alike:
/// every thread stores and loads the same number of registers in each.
fn check(src: &Layout, dst: &Layout, s: &Shape, options: &SharedOptions) -> PartsPlan {
    let plan = PartsPlan::new(src, dst, s, options).unwrap();
    let bytes = u64::from(options.elem_bits.max(8) / 8);
    assert!(plan.bytes <= options.max_bytes);
    assert_eq!(plan.bytes * plan.parts(), s.elements() * bytes);
    let warps = src.warps().max(dst.warps());
    let threads: Vec<Thread> =
        (0..warps).flat_map(|warp| (0..32).map(move |lane| Thread { lane, warp, block: 0 })).collect();
    let mut got: Vec<Vec<Option<u64>>> = vec![vec![None; dst.registers() as usize]; threads.len()];
    for part in 0..plan.parts() {
        let first = |r: &PartRegisters, t: Thread| r.first().eval(t.lane, t.warp, part as u32);
        let mut memory: Vec<Option<u64>> = vec![None; (plan.bytes / bytes) as usize];
        for &t in &threads {
            let guard = &plan.store.guard;
            if u64::from(t.lane) & guard.lane != 0 || u64::from(t.warp) & guard.warp != 0 {
                continue;
            }
            let held: Vec<u64> = src.elements_of(t).collect();
            for (address, i) in accesses(&plan.store, t, 0, bytes) {
                let register = first(&plan.source, t) ^ plan.source.register(i);
                let slot = &mut memory[(address / bytes) as usize];
                assert_eq!(slot.replace(held[register as usize]), None, "stored twice");
            }
        }
        for (t, mine) in threads.iter().zip(&mut got) {
            let mut part_values = vec![None; 1 << plan.target.inner.len()];
            for (address, i) in accesses(&plan.load, *t, part as u32, bytes) {
                part_values[i as usize] = memory[(address / bytes) as usize];
            }
            for &(to, from) in &plan.load.copies {
                part_values[to as usize] = part_values[from as usize];
            }
            for (i, v) in part_values.into_iter().enumerate() {
                let register = first(&plan.target, *t) ^ plan.target.register(i as u32);
                assert!(v.is_some(), "part {part} reads data that was not written");
                assert_eq!(std::mem::replace(&mut mine[register as usize], v), None, "loaded twice");
            }
        }
    }
    for (t, mine) in threads.iter().zip(got) {
        let wanted: Vec<Option<u64>> = dst.elements_of(*t).map(Some).collect();
        assert_eq!(mine, wanted, "thread {t:?} of\n  {src}\n  {dst}\n  {plan:?}");
    }
    plan
}

fn accesses(access: &SharedAccess, t: Thread, block: u32, bytes: u64) -> Vec<(u64, u32)> {
    let AccessMode::Vector { .. } = access.mode else { panic!("no matrices were requested") };
    let mut list = vec![];
    for i in &access.instructions {
        assert_eq!(i.round, 0);
        let start = (access.address.eval(t.lane, t.warp, block) ^ i.xor) + i.add;
        list.extend(i.registers.iter().enumerate().map(|(e, &r)| (start + e as u64 * bytes, r)));
    }
    list
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_element_arrives(
        src in any_permuted_layout(11, 1, 1),
        dst in any_permuted_layout(11, 1, 1),
        elem_log2 in 3u32..7,
        less in 0u32..4,
    ) {
        let (src, dst) = (src.squeeze_registers().0, dst.squeeze_registers().0);
        let whole = 11 + elem_log2 - 3;
        let parts = less.min(src.register().len().min(dst.register().len()) as u32);
        let options = SharedOptions { max_bytes: 1 << (whole - parts), ..SharedOptions::new(1 << elem_log2) };
        let plan = check(&src, &dst, &shape(&[2048]), &options);
        prop_assert_eq!(plan.log2, parts);
    }

    #[test]
    fn every_element_arrives_from_mixed_bases(
        src in any_layout(10, 1, 2),
        dst in any_layout(10, 1, 2),
        less in 0u32..3,
    ) {
        let (src, dst) = (src.squeeze_registers().0, dst.squeeze_registers().0);
        let parts = less.min(src.register().len().min(dst.register().len()) as u32);
        let options = SharedOptions { max_bytes: 1 << (12 - parts), ..SharedOptions::new(32) };
        let plan = check(&src, &dst, &shape(&[32, 32]), &options);
        prop_assert_eq!(plan.log2, parts);
    }
}

#[test]
fn the_essay_s_transpose() {
    // Rows of four in registers, columns over lanes, and the reverse; the other three lane bits are replicas.
    let s = shape(&[4, 4]);
    let rows = layout(&[4, 8], &[1, 2, 0, 0, 0], &[]);
    let columns = layout(&[1, 2], &[4, 8, 0, 0, 0], &[]);
    let options = SharedOptions { max_bytes: 32, ..SharedOptions::new(32) };
    let plan = check(&rows, &columns, &s, &options);
    assert_eq!(plan.log2, 1);
    // Lanes with one column bit start at another register.
    assert_eq!(plan.source.parts, [2]);
    assert_eq!(plan.source.thread.lane.iter().filter(|&&r| r != 0).count(), 1);
}

#[test]
fn a_large_transpose_is_free_of_conflicts() {
    // 1024 x 1024 floats over 16 warps, 2048 registers a thread.
    let s = shape(&[1024, 1024]);
    let rows = Layout::coalesced(&s, 32, &[1, 0], 4, 16).unwrap();
    let columns = Layout::coalesced(&s, 32, &[0, 1], 4, 16).unwrap();
    let options = SharedOptions { max_bytes: 32 << 10, ..SharedOptions::new(32) };
    let plan = PartsPlan::new(&rows, &columns, &s, &options).unwrap();
    assert_eq!((plan.log2, plan.bytes), (7, 32 << 10));
    assert_eq!((plan.store.conflict_degree, plan.load.conflict_degree), (1, 1));
    assert_eq!(plan.source.inner.len(), 4);
}

#[test]
fn what_cannot_be_cut() {
    let s = shape(&[64]);
    let l = layout(&[1], &[2, 4, 8, 16, 32], &[]);
    let options = |max_bytes| SharedOptions { max_bytes, ..SharedOptions::new(32) };
    // Four parts, two registers.
    assert!(PartsPlan::new(&l, &l, &s, &options(64)).is_err());
    // A register that repeats another.
    let twice = layout(&[1, 1], &[2, 4, 8, 16, 32], &[]);
    assert!(PartsPlan::new(&twice, &l, &s, &options(128)).is_err());
    // Not even one element.
    assert!(PartsPlan::new(&l, &l, &s, &options(2)).is_err());
}
