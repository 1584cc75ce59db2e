//! A slice of mutation testing: changes of compiled programs that the simulator and the expected results have to find.
//!
//! `tests/mutation/survivors.tsv` lists those that they do not find, with the reason of each. One that is not in the
//! list is a hole in the checks: fix the simulator or the tolerance. An entry that no longer survives goes. Where the
//! compiler's code has changed, `cargo xtask mutate` with the options that a failure prints shows the same mutants.

use ptx_sim::mutate::Class;
use std::path::{Path, PathBuf};
use tile_launch::corpus::{self, Program};
use tile_launch::mutation::{self, Reason, Score, Setup, Subject, Verdict};
use tile_test_support::{Trial, functions, golden, root};

/// Programs of the slice: products by warpgroups with their barriers and copies, shuffles and shared memory, orders
/// between blocks, rounding, atomics.
const PROGRAMS: [&str; 7] = [
    "matmul_persistent.13.1",
    "softmax_f32.13.1",
    "reduce_axis0_f32.13.1",
    "acquire_flag.13.1",
    "spin_lock_accumulate.13.1",
    "rounding_ftz.13.1",
    "int_zoo.13.1",
];

/// Mutants of each class.
const SAMPLE: usize = 14;

/// The least share of mutants that are killed, in percent of those that are not equal.
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
    with(name, schedules, |setup, program, launch| setup.subject(program, launch))
}

/// Does something with a program of the corpus and its launch.
fn with<T>(
    name: &str,
    schedules: &[Option<u64>],
    what: impl FnOnce(&Setup<'_>, &Program, &Path) -> Result<T, String>,
) -> T {
    let scratch = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let cases = corpus::cases(root(), scratch.parent().unwrap()).unwrap();
    let programs = corpus::programs(root()).unwrap();
    let program: &Program = programs.iter().find(|p| p.name == name).unwrap();
    let launch = cases.join(&program.entry).join("launch.json");
    let tile_run = Path::new(env!("CARGO_BIN_EXE_tile-run"));
    let scratch = scratch.join("mutation");
    let setup = Setup { tile_run, target: "sm_90", level: 3, schedules, scratch: &scratch };
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
        with(&subject.name, &[None], |setup, program, launch| Ok(setup.drawn_cases(program, launch, subject)))
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

const DRAWN: &str = "tests/mutation/drawn.tsv";

fn drawn_list() -> String {
    std::fs::read_to_string(root().join(DRAWN)).unwrap()
}

/// Mutants are told from the original by the bits of drawn launches, so a compiler that changes these has to be seen
/// too. `cargo xtask bless mutation` renews the digests.
fn drawn_launches_leave_the_same_bits() -> Result<(), String> {
    let before = drawn_list();
    let digest = |name: &str| {
        let subject = subject(name, &[None]);
        let cases = with(name, &[None], |setup, program, launch| setup.drawn_cases(program, launch, &subject));
        format!("{:016x}", mutation::digest(&cases))
    };
    let list = mutation::drawn_list(&before);
    let remarks: String = before.lines().filter(|l| l.starts_with('#')).map(|l| format!("{l}\n")).collect();
    let now: String = list.keys().map(|name| format!("{name}\t{}\n", digest(name))).collect();
    let now = remarks + &now;
    golden::compare_file(DRAWN, "mutation", &now)
}

/// Mutants are told from the original by what they leave in the variables of the module, such as the slot of a tensor
/// map, where the next launch looks for it. `cargo xtask bless mutation` renews the digests.
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

/// What the tolerance of an approximate row hid in all others.
fn rounding_modes_are_found_where_rows_are_exact() {
    let survivors = |subject: Subject| {
        let subjects = [subject];
        let drawn = mutation::sample(&subjects, &[Class::Rounding], None, 0);
        let judged = mutation::run_mutants(&drawn, processors(), &|_| {});
        let rounding: Vec<_> = judged.into_iter().filter(|j| j.operator == "another rounding").collect();
        assert_eq!(rounding.len(), 6, "{rounding:?}");
        // Those that only change bits within a tolerance are not wrong.
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
        drawn_launches_leave_the_same_bits,
        variables_are_left_the_same,
        rounding_modes_are_found_where_rows_are_exact
    ]
}
