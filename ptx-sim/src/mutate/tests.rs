//! Checks that mutants match their operators, and that their launches differ as expected.

use super::*;
use crate::{Arg, Config, Device, LaunchConfig, RunOptions, SimError};

fn module(body: &str) -> Module {
    let text = format!(
        ".version 8.8 .target sm_90 .address_size 64\n.visible .entry k(.param .u64 p) .reqntid 32 {{\n\
         .reg .b64 %rd<8>; .reg .b32 %r<8>; .reg .pred %p<4>; .reg .f32 %f<4>;\n\
         ld.param.b64 %rd1, [p]; mov.u32 %r1, %tid.x;\nmad.wide.u32 %rd2, %r1, 4, %rd1;\n{body}\nret; }}"
    );
    Module::parse(&text).unwrap()
}

/// Class, operator and first word of each mutant from the fourth instruction on.
fn listed(body: &str) -> Vec<(Class, &'static str, String)> {
    let m = module(body);
    let word = |x: &Mutant| x.text(&m).split_whitespace().next().unwrap().to_string();
    mutants(&m).iter().filter(|x| x.at > 2).map(|x| (x.class, x.operator, word(x))).collect()
}

/// The final contents of the buffer, and how the instructions were executed.
fn run(module: &Module) -> Result<(Vec<u32>, Coverage), SimError> {
    let mut device = Device::new(Config::default());
    let p = device.alloc_from(&(0..33u32).flat_map(u32::to_le_bytes).collect::<Vec<_>>());
    let launch = LaunchConfig { grid: [1, 1, 1], args: &[Arg::Ptr(p)], ..LaunchConfig::default() };
    let options = RunOptions { coverage: true, max_instructions: Some(1000), ..RunOptions::default() };
    let report = device.launch(module, "k", &launch, &options)?;
    let mut bytes = [0; 128];
    device.read(p, &mut bytes)?;
    let words = bytes.chunks(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect();
    Ok((words, report.coverage.unwrap()))
}

#[test]
fn operators_apply_where_they_should() {
    let table: &[(&str, &[(Class, &str)])] = &[
        ("bar.sync 0;", &[(Class::Barrier, "drop barrier")]),
        ("bar.sync 1, 64;", &[(Class::Barrier, "drop barrier"), (Class::Barrier, "32 threads more")]),
        ("fence.proxy.async;", &[(Class::Fence, "drop fence")]),
        (
            "wgmma.wait_group.sync.aligned 1;",
            &[(Class::Asynchronous, "drop wait"), (Class::Asynchronous, "one group more in flight")],
        ),
        (
            "add.rz.f32 %f1, %f2, %f3;",
            &[
                (Class::Rounding, "another rounding"),
                (Class::Rounding, "toggle flush to zero"),
                (Class::Arithmetic, "another operation"),
            ],
        ),
        (
            "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 32;",
            &[
                (Class::Mbarrier, "drop arrival"),
                (Class::Mbarrier, "drop expectation"),
                (Class::Mbarrier, "16 bytes more"),
                (Class::Mbarrier, "16 bytes less"),
            ],
        ),
        (
            "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], %r3;",
            &[(Class::Mbarrier, "drop wait"), (Class::Mbarrier, "flip parity")],
        ),
        (
            "ld.acquire.gpu.global.b32 %r2, [%rd2];",
            &[
                (Class::Address, "access + 1"),
                (Class::Address, "access - 1"),
                (Class::Address, "16 bytes off"),
                (Class::Order, "narrow scope"),
                (Class::Order, "weaken ordering"),
            ],
        ),
        (
            "shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;",
            &[(Class::Shuffle, "another lane"), (Class::Shuffle, "half the warp"), (Class::Shuffle, "another mode")],
        ),
        (
            "mov.b32 %r2, 0;",
            &[
                (Class::Initialisation, "drop zero"),
                (Class::Arithmetic, "constant + 1"),
                (Class::Arithmetic, "constant - 1"),
            ],
        ),
    ];
    for (body, want) in table {
        let got: Vec<_> = listed(body).into_iter().map(|(class, name, _)| (class, name)).collect();
        assert_eq!(got, *want, "{body}");
    }
}

#[test]
fn every_mutant_of_a_loop_runs_or_is_refused() {
    // A counted loop. A constant in a register makes operators insert an instruction before a label's target.
    let m = module(
        "mov.b32 %r2, 0; mov.b32 %r3, 4;\nL: add.s32 %r2, %r2, 1;\nsetp.lt.s32 %p1, %r2, %r3;\n@%p1 bra L;\n\
         shfl.sync.idx.b32 %r4, %r1, %r2, 31, -1;\nst.global.b32 [%rd2], %r4;",
    );
    let (want, coverage) = run(&m).unwrap();
    assert_eq!(want, [4; 32]);
    let all = mutants(&m);
    let mut surviving = vec![];
    for mutant in &all {
        if let Ok((words, after)) = run(&mutant.of(&m)) {
            let (a, b) = (mutant.original(&coverage), mutant.changed(&after));
            // The proof of equality never contradicts the result.
            assert!(a.values != b.values || !mutant.gives_values_only() || words == want, "{}", mutant.operator);
            if words == want {
                surviving.push((mutant.operator, mutant.line));
            }
        }
    }
    // The counter ends at 4 from any start, and in steps of 2 as well; a plain run initializes registers to 0; and the
    // counter is not negative.
    let want = [("drop zero", 6), ("constant + 1", 6), ("constant - 1", 6), ("constant + 1", 7), ("another sign", 8)];
    assert_eq!(surviving, want);
    let lane = all.iter().find(|x| x.operator == "another lane").unwrap();
    assert_eq!(run(&lane.of(&m)).unwrap().0, [5; 32]);
}

#[test]
fn coverage_tells_reached_from_effective() {
    let m = module("setp.eq.s32 %p1, %r1, 40;\n@%p1 st.global.b32 [%rd2], 7;\nbra E;\nst.global.b32 [%rd2], 9;\nE:");
    let (words, coverage) = run(&m).unwrap();
    assert_eq!(words[3], 3);
    let of = |line: usize| coverage.functions[0].iter().map(|e| (e.reached, e.effective)).nth(line).unwrap();
    assert_eq!((of(3), of(4), of(5), of(6), of(7)), ((1, 1), (1, 0), (1, 1), (0, 0), (1, 1)));
}

#[test]
fn a_guard_that_always_holds_may_be_dropped() {
    let m = module("setp.lt.s32 %p1, %r1, 40;\n@%p1 st.global.b32 [%rd2], 7;");
    let (_, coverage) = run(&m).unwrap();
    let of = |name: &str| mutants(&m).into_iter().find(|x| x.operator == name).unwrap();
    let (drop, negate) = (of(operators::DROP_GUARD), of(operators::NEGATE_GUARD));
    assert!(drop.changes_guard_only() && negate.changes_guard_only());
    let lanes = |x: &Mutant| x.changed(&run(&x.of(&m)).unwrap().1).lanes;
    assert_eq!(lanes(&drop), drop.original(&coverage).lanes);
    assert_ne!(lanes(&negate), negate.original(&coverage).lanes);
}

/// A change of the constant 256 to 512, which adding a large number rounds away.
#[test]
fn what_is_lost_where_arrays_do_not_matter() {
    let lost = |body: &str| {
        let m = module(body);
        let (want, before) = run(&m).unwrap();
        let mutant = mutants(&m).into_iter().find(|x| x.operator == "constant doubled").unwrap();
        let (words, after) = run(&mutant.of(&m)).unwrap();
        let lost = mutant.is_lost(&m, &before, &after);
        // The proof never contradicts the result.
        assert!(words == want || !lost, "{body}");
        lost
    };
    let number = "cvt.rn.f32.u32 %f1, %r1;\nadd.rn.f32 %f2, %f1, 0f43800000;";
    let large = "mov.b32 %f3, 0f7A000000;\nadd.rn.f32 %f3, %f2, %f3;";
    let end = "mov.b32 %r2, %f3; st.global.b32 [%rd2], %r2;";
    assert!(lost(&format!("{number}\n{large}\n{end}")));
    // The change is lost after passing through another instruction.
    assert!(lost(&format!("{number}\nmul.rn.f32 %f2, %f2, 0f3F800000;\n{large}\n{end}")));
    // Not lost: the change is visible; it is stored; it is lost only for some array contents; its source is an array.
    assert!(!lost(&format!("{number}\nmov.b32 %f3, 0f3F800000;\nadd.rn.f32 %f3, %f2, %f3;\n{end}")));
    assert!(!lost(&format!("{number}\n{large}\nst.global.b32 [%rd2], %f2;")));
    assert!(!lost(&format!(
        "{number}\nld.global.b32 %f3, [%rd2];\nadd.rn.f32 %f3, %f3, 0f7A000000;\nadd.rn.f32 %f3, %f2, %f3;\n{end}"
    )));
    assert!(!lost(&format!("ld.global.b32 %r1, [%rd2];\n{number}\n{large}\n{end}")));
    // With another array the control flow might differ.
    let way = "ld.global.b32 %r3, [%rd2];\nsetp.eq.u32 %p1, %r3, 77;\n@%p1 bra E;";
    assert!(!lost(&format!("{number}\n{large}\n{way}\nE: {end}")));
}
