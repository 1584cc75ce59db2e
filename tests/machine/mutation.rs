//! A slice of mutation testing: changes of compiled programs that the simulator and the expected results must detect.
//!
//! `tests/mutation/survivors.tsv` lists the mutants that they do not detect, with the reason for each. A survivor
//! that is not in the list is a gap in the checks: fix the simulator or the tolerance. Remove an entry that no longer
//! survives. After a change of the compiler's code, `cargo xtask mutate` with the options that a failure prints shows
//! the same mutants.

use ptx_sim::mutate::Class;
use std::path::{Path, PathBuf};
use tile_launch::corpus::{self, Program};
use tile_launch::mutation::{self, Reason, Score, Setup, Subject, Verdict};
use tile_test_support::{Trial, functions, golden, root, store};

/// The programs of the slice: warpgroup dots with barriers and copies, shuffles and shared memory, ordering between
/// CTAs, rounding, atomics.
const PROGRAMS: [&str; 7] = [
    "matmul_persistent.13.1",
    "softmax_f32.13.1",
    "reduce_axis0_f32.13.1",
    "acquire_flag.13.1",
    "spin_lock_accumulate.13.1",
    "rounding_ftz.13.1",
    "int_zoo.13.1",
];

/// The number of mutants of each class.
const SAMPLE: usize = 14;

/// The minimum percentage of non-equivalent mutants that must be killed.
const LEAST: [(Class, f64); 11] = [
    (Class::Barrier, 92.0),
    (Class::Mbarrier, 100.0),
    (Class::Asynchronous, 100.0),
    (Class::Fence, 100.0),
    (Class::Predicate, 100.0),
    (Class::Address, 92.0),
    (Class::Shuffle, 100.0),
    (Class::Rounding, 75.0),
    (Class::Order, 100.0),
    (Class::Initialisation, 100.0),
    (Class::Arithmetic, 100.0),
];

fn subject(name: &str, schedules: &[Option<u64>]) -> Subject {
    with(name, "sm_90", schedules, |setup, program, launch| setup.subject(program, launch))
}

/// Runs a closure on a program of the corpus and its launch.
fn with<T>(
    name: &str,
    target: &str,
    schedules: &[Option<u64>],
    what: impl FnOnce(&Setup<'_>, &Program, &Path) -> Result<T, String>,
) -> T {
    let scratch = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let cases = corpus::cases(root(), scratch.parent().unwrap()).unwrap();
    let programs = corpus::programs(root()).unwrap();
    let program: &Program = programs.iter().find(|p| p.name == name).unwrap();
    let launch = cases.join(&program.entry).join("launch.json");
    let scratch = scratch.join("mutation");
    let setup = Setup { tile_run: store::tile_run(), target, level: 3, schedules, scratch: &scratch };
    what(&setup, program, &launch).unwrap()
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn survivors_are_explained_and_scores_hold() {
    let subjects = PROGRAMS.map(|name| subject(name, &[None, Some(1), Some(2)]));
    let drawn = mutation::sample(&subjects, &Class::ALL, Some(SAMPLE), 0);
    let mut judged = mutation::run_mutants(&drawn, processors(), &|_| {});
    let list = drawn_list();
    let further = |subject: &Subject| {
        if !mutation::drawn_list(&list).contains_key(&*subject.name) {
            return Ok(vec![]);
        }
        with(&subject.name, "sm_90", &[None], |setup, program, launch| Ok(setup.drawn_cases(program, launch, subject)))
    };
    mutation::look_further(&drawn, &mut judged, further).unwrap();
    let reasons = std::fs::read_to_string(root().join("tests/mutation/survivors.tsv")).unwrap();
    let reasons = Reason::list(&reasons).unwrap();
    let mut problems = mutation::problems(&judged, &reasons);
    let scores = mutation::scores(&judged, &reasons);
    for (class, least) in LEAST {
        let score = scores.get(&class).copied().unwrap_or_default();
        let Score { killed, survived, .. } = score;
        if killed == 0 || score.percent() < least {
            let share = format!("{killed} of {}", killed + survived);
            problems.push(format!("{}: {share} mutants were killed, which is less than {least} %", class.name()));
        }
    }
    let options = format!("--programs {} --sample {SAMPLE}", PROGRAMS.join(","));
    assert!(problems.is_empty(), "{}\ncargo xtask mutate {options}", problems.join("\n"));
}

/// The synchronization of a dot by `tcgen05` in pairs of CTAs: commits, arrivals of both CTAs, permits, accumulators in
/// tensor memory. The ring and the accumulators are used several times, since the seeds leave CTAs to take over.
fn synchronization_of_tensor_memory_is_checked() {
    const PROGRAM: &str = "matmul_bf16.13.1";
    const CLASSES: [Class; 4] = [Class::Barrier, Class::Mbarrier, Class::Asynchronous, Class::Fence];
    const SAMPLE: usize = 4;
    const REASONS: &str = "tests/mutation/campaign.sm_100.tsv";
    let mut subject =
        with(PROGRAM, "sm_100", &[None, Some(4), Some(5)], |setup, program, launch| setup.subject(program, launch));
    subject.cases.truncate(1);
    let subjects = [subject];
    let drawn = mutation::sample(&subjects, &CLASSES, Some(SAMPLE), 0);
    let judged = mutation::run_mutants(&drawn, processors(), &|_| {});
    let reasons = Reason::list(&std::fs::read_to_string(root().join(REASONS)).unwrap()).unwrap();
    let reasons = mutation::of_survivors(reasons, &judged);
    let mut problems = mutation::problems(&judged, &reasons);
    let scores = mutation::scores(&judged, &reasons);
    problems.extend(
        CLASSES
            .iter()
            .filter(|c| scores.get(c).is_none_or(|s| s.killed == 0))
            .map(|class| format!("{}: no mutant was killed", class.name())),
    );
    let options = format!("--programs {PROGRAM} --gpu-name sm_100 --schedules plain,4,5 --sample {SAMPLE}");
    assert!(problems.is_empty(), "{}\ncargo xtask mutate {options}", problems.join("\n"));
}

const DRAWN: &str = "tests/mutation/drawn.tsv";

fn drawn_list() -> String {
    std::fs::read_to_string(root().join(DRAWN)).unwrap()
}

/// Mutants are distinguished from the original by the bits that randomized launches leave, so a compiler change that
/// alters these bits must be noticed too. `cargo xtask bless mutation` updates the digests.
fn drawn_launches_leave_the_same_bits() -> Result<(), String> {
    let before = drawn_list();
    let digest = |name: &str| {
        let subject = subject(name, &[None]);
        let cases = with(name, "sm_90", &[None], |setup, program, launch| setup.drawn_cases(program, launch, &subject));
        format!("{:016x}", mutation::digest(&cases))
    };
    let list = mutation::drawn_list(&before);
    let remarks: String = before.lines().filter(|l| l.starts_with('#')).map(|l| format!("{l}\n")).collect();
    let now: String = list.keys().map(|name| format!("{name}\t{}\n", digest(name))).collect();
    let now = remarks + &now;
    golden::compare_file(DRAWN, "mutation", &now)
}

/// Mutants are distinguished from the original by the module variables that they leave behind, such as the slot of a
/// tensor map, which the next launch looks up. `cargo xtask bless mutation` updates the digests.
fn variables_are_left_the_same() -> Result<(), String> {
    const VARIABLES: &str = "tests/mutation/variables.tsv";
    let before = std::fs::read_to_string(root().join(VARIABLES)).unwrap();
    let remarks: String = before.lines().filter(|l| l.starts_with('#')).map(|l| format!("{l}\n")).collect();
    let row = |name: &str| {
        let digest = mutation::digest_of_variables(&subject(name, &[None]).cases[..1])?;
        Some(format!("{name}\t{digest:016x}\n"))
    };
    let now = remarks + &PROGRAMS.into_iter().filter_map(row).collect::<String>();
    golden::compare_file(VARIABLES, "mutation", &now)
}

/// Mutants that the tolerance of an approximate row hid from all other tests.
fn rounding_modes_are_found_where_rows_are_exact() {
    store::leave_out();
    let survivors = |subject: Subject| {
        let subjects = [subject];
        let drawn = mutation::sample(&subjects, &[Class::Rounding], None, 0);
        let judged = mutation::run_mutants(&drawn, processors(), &|_| {});
        let rounding: Vec<_> = judged.into_iter().filter(|j| j.operator == "another rounding").collect();
        assert_eq!(rounding.len(), 6, "{rounding:?}");
        // Mutants that only change bits within a tolerance are not wrong.
        rounding.into_iter().filter(|j| j.verdict != Verdict::Killed("wrong result")).count()
    };
    let exact = subject("rounding_ftz.13.1", &[None]);
    let mut loose = subject("rounding_ftz.13.1", &[None]);
    loose.cases[0].launch.expect.iter_mut().for_each(|e| e.loose = None);
    assert_eq!((survivors(exact), survivors(loose)), (0, 4));
}

pub fn trials() -> Vec<Trial> {
    functions![
        survivors_are_explained_and_scores_hold,
        synchronization_of_tensor_memory_is_checked,
        drawn_launches_leave_the_same_bits,
        variables_are_left_the_same,
        rounding_modes_are_found_where_rows_are_exact
    ]
}
