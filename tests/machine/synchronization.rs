//! Mutations of synchronization: in every pipelined program of the corpus, each barrier, wait and commit is removed
//! or moved past its neighbor in either direction, one at a time.
//!
//! `tileas-check-synchronization` must reject the mutant, or the mutation must be harmless: the PTX is unchanged, or
//! the simulator with race detection and adversarial schedules finds the expected results. A mutant that is accepted
//! and gives wrong results fails the test. `tests/mutation/synchronization.tsv` has the counts; `cargo xtask bless
//! synchronization` updates it.
//!
//! The rings of a program are equally deep. A few programs with other schedules on their loads cover rings of
//! different depth.
//!
//! By default a few programs; `TILEIRAS_TEST_FULL=1` takes all.

use melior::{ir::Module, ir::operation::OperationLike, pass::PassManager, utility::parse_pass_pipeline};
use std::{fs, path::Path, time::Duration};
use tile_launch::corpus::{self, Program};
use tile_test_support::{Failed, Trial, full, golden, listed, root, simulate, store};
use tileiras::{
    dialect::{
        self,
        attributes::AHEAD,
        behaviour::{self, SyncKind},
        loops,
        nv_tileas::{AsyncCommitOp, AsyncCreateNoneOp, LoadOp, TiledLoadOp},
        rt::*,
    },
    passes,
    pipeline::Options,
    translate,
};

use simulate::{From, How};

const HOW: How = How { from: From::Checked, target: "sm_90", level: 3 };
const SCHEDULES: &str = "plain,1,2,3,4";
const PIPELINE: &str = "tileas-unspecialized-pipeline";
const CHECK: &str = "tileas-check-synchronization";
/// Small programs with rings of different depth, a resident operand, and conversions between dots.
const SLICE: &[&str] = &["matmul_f16.13.1", "fmha_f16.13.1", "matmul_tf32.13.1"];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mutation {
    Remove,
    Earlier,
    Later,
}

/// The outcomes of the mutants of one program.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
struct Counts {
    /// Rejected by the checker.
    refused: usize,
    /// Accepted, and shown to be correct.
    redundant: usize,
}

const TABLE: &str = "tests/mutation/synchronization.tsv";

pub fn trials() -> Vec<Trial> {
    listed("synchronization", corpus::programs(root()).map(list))
}

fn list(programs: Vec<Program>) -> Vec<Trial> {
    let is_small = |p: &Program| SLICE.contains(&p.name.as_str());
    let uneven: Vec<Program> = programs.iter().filter(|p| is_small(p)).cloned().collect();
    let uneven = uneven
        .into_iter()
        .map(|program| Trial::test(format!("synchronization/uneven/{}", program.name), move || run_unevenly(&program)));
    let mutated = programs.into_iter().filter(|p| full() || is_small(p)).map(|program| {
        Trial::test(format!("synchronization/{}", program.name), move || {
            let counts = mutate_all(&program)?;
            let Counts { refused, redundant } = counts;
            println!("{}: {refused} refused, {redundant} redundant", program.name);
            let row = (counts != Counts::default()).then(|| format!("{refused}\t{redundant}"));
            Ok(golden::compare_row(TABLE, "synchronization", &program.name, row.as_deref())?)
        })
    });
    mutated.chain(uneven).collect()
}

/// Returns the passes up to the checker, split before the pipelining pass.
fn steps() -> [Vec<String>; 2] {
    let mut options = Options::default();
    options.set("opt-level", "3").expect("a level");
    options.set("compute-capability", HOW.target).expect("a target");
    options.set("pipeline-strategy", "unspecialize").expect("a strategy");
    let mut steps: Vec<String> = options.steps().into_iter().map(|s| s.pass).collect();
    let position = |steps: &[String], name| steps.iter().position(|s| s.starts_with(name)).expect("a pass of the list");
    steps.truncate(position(&steps, CHECK) + 1);
    let second = steps.split_off(position(&steps, PIPELINE));
    [steps, second]
}

/// Returns the program after all passes up to the checker, with `between` called before the pipelining pass; `None`
/// for a program without a pipeline.
fn checked(program: &Program, between: impl Fn(OpRef<'_>)) -> Result<Option<String>, Failed> {
    passes::register_all();
    let context = dialect::context();
    let bytes = fs::read(&program.file)?;
    // Another test covers versions that cannot be read yet.
    let Ok(mut module) = translate::import(&context, &bytes) else { return Ok(None) };
    let [first, second] = steps();
    run_passes(&context, &mut module, &first.join(","))?;
    between(op_ref(module.as_operation().to_raw()));
    run_passes(&context, &mut module, &second.join(","))?;
    let text = module.as_operation().to_string();
    Ok(text.contains("nv_tileas.async.wait").then_some(text))
}

/// Gives the loads of a loop different schedules: their copies start one, two, three, one... iterations ahead.
fn schedule_unevenly(root: OpRef<'_>) {
    let loads = collect_ops(root, |o| (TiledLoadOp::cast(o).is_some() || LoadOp::cast(o).is_some()).then_some(o));
    for (i, load) in loads.into_iter().filter(|o| loops::is_in_loop(*o)).enumerate() {
        AHEAD.set(load, 1 + i as i64 % 3);
    }
}

/// Rings of different depth in one loop: the checker accepts them, and the results are correct.
fn run_unevenly(program: &Program) -> Result<(), Failed> {
    let text = checked(program, schedule_unevenly)?.ok_or("the program has no pipeline")?;
    if !(text.contains("stages = 2") && text.contains("stages = 3")) {
        return Err("the rings are equally deep".into());
    }
    simulate_ptx(program, &simulate::ptx(&text, HOW)?, "uneven")
}

fn run_passes(context: &melior::Context, module: &mut Module<'_>, passes: &str) -> Result<(), Failed> {
    let manager = PassManager::new(context);
    parse_pass_pipeline(manager.as_operation_pass_manager(), &format!("builtin.module({passes})"))
        .map_err(|e| e.to_string())?;
    manager.run(module).map_err(|_| Failed::from("a pass failed"))
}

fn mutate_all(program: &Program) -> Result<Counts, Failed> {
    let Some(text) = checked(program, |_| {})? else { return Ok(Counts::default()) };
    let original = simulate::ptx(&text, HOW)?;
    let mut counts = Counts::default();
    for n in 0.. {
        let mut exists = false;
        for mutation in [Mutation::Remove, Mutation::Earlier, Mutation::Later] {
            match mutant(&text, n, mutation)? {
                Mutant::NoSuchOp => continue,
                Mutant::NoProgram => exists = true,
                Mutant::Refused => {
                    exists = true;
                    counts.refused += 1;
                }
                Mutant::Accepted(mutated) => {
                    exists = true;
                    let ptx = simulate::ptx(&mutated, HOW)?;
                    if ptx != original {
                        simulate_ptx(program, &ptx, &format!("{n}-{mutation:?}")).map_err(|e| {
                            format!(
                                "{mutation:?} of synchronisation {n} is accepted, and wrong:\n{}",
                                e.message().unwrap_or_default()
                            )
                        })?;
                    }
                    counts.redundant += 1;
                }
            }
        }
        if !exists {
            break;
        }
    }
    Ok(counts)
}

enum Mutant {
    NoSuchOp,
    /// The mutation does not give a valid program, or changes nothing.
    NoProgram,
    Refused,
    Accepted(String),
}

fn mutant(text: &str, n: usize, mutation: Mutation) -> Result<Mutant, Failed> {
    let context = dialect::context();
    context.attach_diagnostic_handler(|_| true);
    let mut module = Module::parse(&context, text).ok_or("the checked program does not parse")?;
    let root = op_ref(module.as_operation().to_raw());
    let is_sync =
        |o: &OpRef<'_>| matches!(behaviour::sync_kind(*o), SyncKind::Barrier | SyncKind::Commit | SyncKind::Wait);
    let Some(op) = collect_ops(root, |o| is_sync(&o).then_some(o)).into_iter().nth(n) else {
        return Ok(Mutant::NoSuchOp);
    };
    if !apply(op, mutation) || !module.as_operation().verify() {
        return Ok(Mutant::NoProgram);
    }
    let mutated = module.as_operation().to_string();
    match run_passes(&context, &mut module, CHECK) {
        Err(_) => Ok(Mutant::Refused),
        Ok(()) => Ok(Mutant::Accepted(mutated)),
    }
}

/// Applies the mutation. Returns whether it is possible.
fn apply(op: OpRef<'_>, mutation: Mutation) -> bool {
    let Some(block) = parent_block(op) else { return false };
    let ops: Vec<OpRef<'_>> = ops_of(block).collect();
    let at = ops.iter().position(|o| *o == op).expect("an op of its block");
    // Only ops with effects, or with regions, matter; moving past other ops is not a mutation.
    let matters = |o: &&OpRef<'_>| region_count(**o) > 0 || !behaviour::is_pure(**o);
    let context = dialect::pass::context_of(op);
    match mutation {
        Mutation::Remove => {
            if AsyncCommitOp::cast(op).is_some() {
                let none = AsyncCreateNoneOp::build(&Builder::before(context, op), ty(result(op, 0)));
                replace_all_uses(result(op, 0), none.expect("a token").token());
            }
            erase(op);
        }
        Mutation::Earlier => {
            let Some(before) = ops[..at].iter().rev().find(matters) else { return false };
            let moved = AsyncCommitOp::cast(op).filter(|c| c.copies().any(|v| defining_op(v) == Some(*before)));
            match moved {
                // The group is closed before its copies start, so it is empty.
                Some(commit) => {
                    let b = Builder::before(context, *before);
                    let empty = AsyncCommitOp::build(&b, ty(commit.group()), &[]).expect("a commit");
                    replace_all_uses(commit.group(), empty.group());
                    erase(op);
                }
                None => move_before(op, *before),
            }
        }
        Mutation::Later => {
            let Some(after) = ops[at + 1..ops.len() - 1].iter().position(|o| matters(&o)) else { return false };
            move_before(op, ops[at + 2 + after]);
        }
    }
    true
}

fn parent_block<'c>(op: OpRef<'c>) -> Option<Blk<'c>> {
    let parent = parent_op(op)?;
    (0..region_count(parent)).filter_map(|i| entry_block(region(parent, i))).find(|b| ops_of(*b).any(|o| o == op))
}

/// Runs the PTX against the expected results, with race detection.
fn simulate_ptx(program: &Program, ptx: &str, name: &str) -> Result<(), Failed> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let cases = corpus::cases(root(), folder.parent().unwrap_or(folder)).map_err(|e| e.to_string())?;
    let file = folder.join(format!("synchronization-{}-{name}.ptx", program.name));
    fs::write(&file, ptx)?;
    let launch = cases.join(&program.entry).join("launch.json");
    let arguments = ["--adversarial".into(), SCHEDULES.into(), "--launch".into(), launch.into(), file.clone().into()];
    let done = store::tile_run().run(arguments.into(), Some(Duration::from_secs(300)));
    fs::remove_file(&file)?;
    Ok(done?)
}
