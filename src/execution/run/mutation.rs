//! Mutation testing of compiled programs: determines which changes of their PTX the simulator and the expected
//! results detect.
//!
//! A [`Subject`] is a program with its launch; the original runs once on each schedule. [`run_mutants`] runs mutants
//! from [`ptx_sim::mutate`] on the same schedules and assigns each a verdict:
//!
//!  verdict | meaning |
//! ---|---|
//!  killed | a wrong result, other bits or variables, an error of the simulator, or a lost memory order of the source |
//!  equal | provably no difference in this launch; the verdict names the rule |
//!  survived | neither: a hole in the checks, or in the inputs |
//!  invalid | the mutant is not a module that can be launched |
//!
//! The rules for *equal*:
//!
//! * *not executed*: no lane executes the instruction.
//! * *same lanes*: only the guard was changed, and it always held for the same lanes.
//! * *same values*: the instruction always had the same results, and has no other effect. Two runs that agree in this
//!   cannot differ elsewhere.
//! * *no influence*: only registers depend on the results of the instruction, or on its results in the lanes that the
//!   guard disables, so they may be anything.
//! * *lost*: nothing in the arrays depends on the results, nor on the instructions in which the change disappears.
//!
//! A program runs on its launch in the corpus and on variants of it ([`crate::variant`]). It also runs with its table
//! of tensor maps full, and full of maps that nearly equal its own, as concurrent launches could have left the table
//! (`mutation/tables.rs`). Slots of other launches must remain unchanged, and borrowed entries must be returned.
//!
//! On the ordinary schedule, the results of the launch in the corpus must be the same bit by bit, even if a tolerance
//! permits more. A test of the corpus compares its arrays with `tests/corpus/results.tsv`. A test in
//! `tests/machine/mutation.rs` compares the module's variables, which the next launch reads, with
//! `tests/mutation/variables.tsv`. Programs in `tests/mutation/drawn.tsv` also run on launches with random numbers
//! ([`variant::other_numbers`]), whose bits a test compares too: [`look_further`].
//!
//! Everything is deterministic: schedules have seeds, limits count instructions, and [`sample`] selects by a digest.

use crate::corpus::{Program, TileRun};
use crate::execute::{Error, Outcome, check, execute};
use crate::launch::{ArrayArgument, Expect, Launch};
use crate::npy::Array;
use crate::orders::{self, Orders};
use crate::variant;
use ptx_sim::ir::Op;
use ptx_sim::mutate::{Class, Mutant, mutants};
use ptx_sim::{Arbitrary, Coverage, Executed, Module, RunOptions, SimErrorKind};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ffi::{OsStr, OsString};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use tables::{Others, Table};

mod tables;

/// An unchanged program.
#[derive(Debug)]
pub struct Subject {
    pub name: String,
    pub module: Module,
    /// The launch of the corpus, followed by variants of it.
    pub cases: Vec<Case>,
    /// The variants that could not be used, and why.
    pub unused: Vec<String>,
    /// The memory orders that the source requires, to be found in the PTX by line.
    pub orders: Orders,
}

/// A launch, and the program's behavior on it.
#[derive(Debug)]
pub struct Case {
    /// Empty for the launch of the corpus.
    pub name: String,
    pub launch: Launch,
    /// The table of tensor maps as other launches have left it.
    table: Option<Table>,
    runs: Vec<Baseline>,
    /// The results on the ordinary schedule, if a test compares them bit by bit.
    bits: Option<PinnedResults>,
}

/// The results of a launch.
#[derive(Debug, PartialEq)]
struct PinnedResults {
    arrays: Vec<Vec<Array>>,
    variables: BTreeMap<String, Vec<u8>>,
}

/// A run of the original program.
#[derive(Debug)]
struct Baseline {
    /// `None` is the ordinary schedule.
    schedule: Option<u64>,
    coverage: Coverage,
    /// Number of warp instructions after which a mutant counts as hung.
    limit: u64,
}

impl Case {
    /// Runs a program on each schedule. Returns an error if it does not run correctly.
    ///
    /// If `pinned`, the results on the ordinary schedule are kept, because a test compares them bit by bit.
    pub fn new(
        name: &str,
        module: &Module,
        launch: Launch,
        schedules: &[Option<u64>],
        pinned: bool,
    ) -> Result<Case, String> {
        Case::with_table(name, module, launch, schedules, pinned, None)
    }

    /// As [`Self::new`], with the module's table of tensor maps as other launches have left it.
    fn with_table(
        name: &str,
        module: &Module,
        launch: Launch,
        schedules: &[Option<u64>],
        pinned: bool,
        table: Option<Table>,
    ) -> Result<Case, String> {
        let (mut runs, mut bits) = (vec![], None);
        for &schedule in schedules {
            let options = RunOptions {
                adversarial: schedule,
                coverage: true,
                undefined: true,
                strict: true,
                ..RunOptions::default()
            };
            let outcome = execute(module, &launch, &options).map_err(|e| e.to_string())?;
            if let Some(complaint) = check(&launch, &outcome).into_iter().next() {
                return Err(complaint);
            }
            if let Some(changed) = table.as_ref().and_then(|table| table.changed(&outcome.variables)) {
                return Err(changed);
            }
            let executed = outcome.report.stats.total_warp_instructions();
            let coverage = outcome.report.coverage.unwrap_or_default();
            if pinned && schedule.is_none() {
                bits = Some(PinnedResults { arrays: outcome.arrays, variables: outcome.variables });
            }
            runs.push(Baseline { schedule, coverage, limit: 4 * executed + 100_000 });
        }
        Ok(Case { name: name.into(), launch, table, runs, bits })
    }
}

impl Subject {
    /// A program with only the launch of the corpus.
    pub fn new(name: &str, ptx: &str, launch: Launch, schedules: &[Option<u64>]) -> Result<Subject, String> {
        let module = Module::parse(ptx).map_err(|e| format!("{name}: {e}"))?;
        let case = Case::new("", &module, launch.clone(), schedules, true).map_err(|e| format!("{name}: {e}"))?;
        let alike = case.bits.as_ref().and_then(|left| tables::alike(&left.variables));
        let mut subject =
            Subject { name: name.into(), module, cases: vec![case], unused: vec![], orders: Orders::default() };
        const FULL: &str = "table of maps full";
        let full = Table { others: Others::All, left: tables::entries_left(&subject.module, &launch) };
        // Maps whose searches start at the same slot need more slots.
        let tight = [8, 4, 2].map(|free| Table { others: Others::AllBut(free), left: 0 });
        let alike = alike.map(|keys| Table { others: Others::Alike(keys), left: 0 });
        let tables = [
            (FULL, vec![full]),
            ("table of maps nearly full", tight.into()),
            ("table of maps that are alike", alike.into_iter().collect()),
        ];
        for (what, tables) in tables {
            let mut problem = None;
            for table in tables {
                let Some(module) = table.of(&subject.module) else { continue };
                // The map that a search finds does not depend on the schedule, so one schedule suffices.
                let schedules = if matches!(table.others, Others::Alike(_)) { &schedules[..1] } else { schedules };
                match Case::with_table(what, &module, launch.clone(), schedules, false, Some(table)) {
                    Ok(case) => {
                        subject.cases.push(case);
                        problem = None;
                        break;
                    }
                    Err(why) => problem = Some(format!("{name}: {what}: {why}")),
                }
            }
            match problem {
                // Every program must be able to run with the entries that remain to be borrowed.
                Some(why) if what == FULL => return Err(why),
                problem => subject.unused.extend(problem),
            }
        }
        Ok(subject)
    }

    /// The program, or a mutant of it, with the table of each case that has one.
    fn modules(&self, module: &Module) -> Vec<Option<Module>> {
        self.cases.iter().map(|case| case.table.as_ref().and_then(|table| table.of(module))).collect()
    }

    fn runs(&self) -> impl Iterator<Item = (&Case, &Baseline)> {
        self.cases.iter().flat_map(|case| case.runs.iter().map(move |run| (case, run)))
    }

    /// The runs of all cases, each with the case's own module or `module`.
    fn runs_of<'r>(
        &'r self,
        module: &'r Module,
        own: &'r [Option<Module>],
    ) -> impl Iterator<Item = (&'r Case, &'r Baseline, &'r Module)> {
        let with_own = self.cases.iter().zip(own);
        with_own
            .flat_map(move |(case, own)| case.runs.iter().map(move |run| (case, run, own.as_ref().unwrap_or(module))))
    }

    /// The PTX lines with instructions, and whether a lane executed one of them on some schedule. A branch that was
    /// not taken counts as executed.
    pub fn lines(&self) -> BTreeMap<u32, bool> {
        let mut lines = BTreeMap::new();
        for (function, f) in self.module.functions.iter().enumerate() {
            for (at, inst) in f.body.iter().enumerate() {
                let branch = matches!(inst.op, Op::Bra { .. });
                let executed = self.runs().map(|(_, r)| r.coverage.of(function, at));
                let executed = executed.map(|e| if branch { e.reached } else { e.effective }).any(|n| n > 0);
                *lines.entry(inst.line).or_default() |= executed;
            }
        }
        lines
    }
}

/// The verdict on a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// With the check that detected it.
    Killed(&'static str),
    /// With the rule.
    Equal(&'static str),
    Survived,
    /// With the error.
    Invalid(String),
    /// The simulator panicked, which is a defect of the simulator.
    Panicked,
}

/// A mutant and its verdict.
#[derive(Clone, Debug)]
pub struct MutantResult {
    pub program: String,
    pub class: Class,
    pub operator: &'static str,
    pub line: u32,
    /// The original instruction.
    pub text: String,
    pub verdict: Verdict,
}

/// Selects mutants of the classes: all, or `count` of each class. The selection depends only on the seed.
pub fn sample<'s>(
    subjects: &'s [Subject],
    classes: &[Class],
    count: Option<usize>,
    seed: u64,
) -> Vec<(&'s Subject, Mutant)> {
    let mut drawn = vec![];
    for class in classes {
        let mut of_class = vec![];
        for (n, subject) in subjects.iter().enumerate() {
            for (m, mutant) in mutants(&subject.module).into_iter().filter(|m| m.class == *class).enumerate() {
                of_class.push((draw(seed, &subject.name, mutant.operator, m), n, m, subject, mutant));
            }
        }
        of_class.sort_by_key(|(digest, n, m, ..)| (*digest, *n, *m));
        of_class.truncate(count.unwrap_or(usize::MAX));
        of_class.sort_by_key(|(_, n, m, ..)| (*n, *m));
        drawn.extend(of_class.into_iter().map(|(.., subject, mutant)| (subject, mutant)));
    }
    drawn
}

/// A digest with a final mix.
fn draw(seed: u64, program: &str, operator: &str, number: usize) -> u64 {
    let bytes = seed.to_le_bytes().into_iter().chain(program.bytes()).chain(operator.bytes());
    let digest = fnv(bytes.chain((number as u64).to_le_bytes()));
    (digest ^ digest >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Tests mutants, `parallel` at a time. The results are in the order of the mutants.
pub fn run_mutants(
    mutants: &[(&Subject, Mutant)],
    parallel: usize,
    done: &(dyn Fn(usize) + Sync),
) -> Vec<MutantResult> {
    let next = AtomicUsize::new(0);
    let finished = AtomicUsize::new(0);
    let results = Mutex::new(vec![]);
    thread::scope(|scope| {
        for _ in 0..parallel.clamp(1, mutants.len().max(1)) {
            scope.spawn(|| {
                while let Some((n, (subject, mutant))) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|n| Some((n, mutants.get(n)?)))
                {
                    let verdict = catch_unwind(AssertUnwindSafe(|| verdict(subject, mutant)));
                    let text = mutant.text(&subject.module).split_whitespace().collect::<Vec<_>>().join(" ");
                    let one = MutantResult {
                        program: subject.name.clone(),
                        class: mutant.class,
                        operator: mutant.operator,
                        line: mutant.line,
                        text,
                        verdict: verdict.unwrap_or(Verdict::Panicked),
                    };
                    results.lock().unwrap_or_else(|e| e.into_inner()).push((n, one));
                    done(finished.fetch_add(1, Ordering::Relaxed) + 1);
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_else(|e| e.into_inner());
    results.sort_by_key(|(n, _)| *n);
    results.into_iter().map(|(_, one)| one).collect()
}

fn verdict(subject: &Subject, mutant: &Mutant) -> Verdict {
    let guard = mutant.changes_guard_only();
    let executed = |run: &Baseline| {
        let e = mutant.original(&run.coverage);
        if guard { e.reached > 0 } else { e.effective > 0 }
    };
    if !subject.runs().any(|(_, run)| executed(run)) {
        return Verdict::Equal("not executed");
    }
    let module = mutant.of(&subject.module);
    let own = subject.modules(&module);
    for (case, run, module) in subject.runs_of(&module, &own) {
        if let Err(verdict) = observe(case, module, run, false) {
            return verdict;
        }
    }
    if !orders::missing(&subject.orders, &module).is_empty() {
        return Verdict::Killed("lost order");
    }
    if has_no_influence(subject, mutant) {
        return Verdict::Equal("no influence");
    }
    // Digests are slow, so only survivors run with them.
    let executed = |(case, run, module)| observe(case, module, run, true).ok().and_then(|o| o.report.coverage);
    let Some(after): Option<Vec<Coverage>> = subject.runs_of(&module, &own).map(executed).collect() else {
        return Verdict::Survived;
    };
    let same = |digest: fn(Executed) -> u64| {
        let mut runs = subject.runs().zip(&after);
        runs.all(|((_, run), after)| digest(mutant.changed(after)) == digest(mutant.original(&run.coverage)))
    };
    if guard && same(|e| e.lanes) {
        return Verdict::Equal("same lanes");
    }
    if !guard && mutant.gives_values_only() && same(|e| e.values) {
        return Verdict::Equal("same values");
    }
    let is_lost =
        |((_, run), after): ((&Case, &Baseline), &Coverage)| mutant.is_lost(&subject.module, &run.coverage, after);
    if !guard && subject.runs().zip(&after).all(is_lost) {
        return Verdict::Equal("lost");
    }
    Verdict::Survived
}

/// Whether nothing depends on the original instruction's results in the lanes that the mutant changes.
fn has_no_influence(subject: &Subject, mutant: &Mutant) -> bool {
    let Some(lanes) = mutant.lanes_with_other_values(&subject.module) else { return false };
    let arbitrary = Some(Arbitrary { function: mutant.function, at: mutant.at, lanes });
    let own = subject.modules(&subject.module);
    subject.runs_of(&subject.module, &own).all(|(case, run, module)| {
        let options = RunOptions { adversarial: run.schedule, arbitrary, strict: true, ..RunOptions::default() };
        execute(module, &case.launch, &options).is_ok()
    })
}

/// Runs a mutant on one schedule. `Err` if it was detected.
fn observe(case: &Case, module: &Module, run: &Baseline, coverage: bool) -> Result<Outcome, Verdict> {
    let launch = &case.launch;
    let max_instructions = Some(run.limit);
    let schedule = run.schedule;
    let options = RunOptions {
        adversarial: schedule,
        undefined: true,
        strict: true,
        coverage,
        max_instructions,
        ..RunOptions::default()
    };
    let outcome = execute(module, launch, &options).map_err(|error| match &error {
        Error::Run { error: e, .. } => found(&e.kind),
        Error::Launch(e) => found(&e.kind),
        other => Verdict::Invalid(other.to_string()),
    })?;
    if !check(launch, &outcome).is_empty() {
        return Err(Verdict::Killed("wrong result"));
    }
    if case.table.as_ref().is_some_and(|table| table.changed(&outcome.variables).is_some()) {
        return Err(Verdict::Killed("maps of others"));
    }
    match &case.bits {
        Some(bits) if run.schedule.is_none() && outcome.arrays != bits.arrays => Err(Verdict::Killed("other bits")),
        Some(bits) if run.schedule.is_none() && outcome.variables != bits.variables => {
            Err(Verdict::Killed("other variables"))
        }
        _ => Ok(outcome),
    }
}

/// Also runs survivors on the random launches of their programs, which `drawn_cases` returns.
pub fn look_further(
    mutants: &[(&Subject, Mutant)],
    results: &mut [MutantResult],
    mut drawn_cases: impl FnMut(&Subject) -> Result<Vec<Case>, String>,
) -> Result<(), String> {
    let mut cases: BTreeMap<&str, Vec<Case>> = BTreeMap::new();
    for ((subject, mutant), one) in mutants.iter().zip(results).filter(|(_, one)| one.verdict == Verdict::Survived) {
        let cases = match cases.entry(&subject.name) {
            Entry::Occupied(e) => e.into_mut(),
            Entry::Vacant(e) => e.insert(drawn_cases(subject)?),
        };
        let module = mutant.of(&subject.module);
        let mut runs = cases.iter().flat_map(|case| case.runs.iter().map(move |run| (case, run)));
        if let Some(verdict) = runs.find_map(|(case, run)| observe(case, &module, run, false).err()) {
            one.verdict = verdict;
        }
    }
    Ok(())
}

/// A digest of the results of pinned cases on the ordinary schedule.
pub fn digest(cases: &[Case]) -> u64 {
    let arrays = cases.iter().flat_map(|case| &case.bits).flat_map(|left| &left.arrays).flatten();
    fnv(arrays.flat_map(|array| array.data.iter().copied()))
}

/// A digest of the module's variables after those cases; `None` if there are no variables.
pub fn digest_of_variables(cases: &[Case]) -> Option<u64> {
    let variables: Vec<_> = cases.iter().flat_map(|case| &case.bits).flat_map(|left| &left.variables).collect();
    (!variables.is_empty())
        .then(|| fnv(variables.into_iter().flat_map(|(name, bytes)| name.bytes().chain(bytes.iter().copied()))))
}

/// Parses the list of programs with random launches: their names, and digests of their results.
pub fn drawn_list(text: &str) -> BTreeMap<&str, &str> {
    text.lines().filter(|l| !l.starts_with('#')).filter_map(|l| l.split_once('\t')).collect()
}

/// FNV-1a, which does not depend on the version of the standard library.
fn fnv(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3))
}

/// The verdict for an error of the simulator.
fn found(kind: &SimErrorKind) -> Verdict {
    Verdict::Killed(match kind {
        SimErrorKind::Load(_) | SimErrorKind::Launch(_) | SimErrorKind::Unsupported(_) => {
            return Verdict::Invalid(kind.to_string());
        }
        SimErrorKind::Race(_) => "data race",
        SimErrorKind::MissingProxyFence(_) => "missing proxy fence",
        SimErrorKind::MissingTensorFence(_) => "missing tcgen05 fence",
        SimErrorKind::Deadlock(_) => "deadlock",
        SimErrorKind::Livelock { .. } | SimErrorKind::InstructionLimit(_) | SimErrorKind::TimeLimit => "hang",
        SimErrorKind::OutOfBounds { .. } => "out of bounds",
        SimErrorKind::Misaligned { .. } => "misaligned",
        SimErrorKind::Uninitialised { .. } | SimErrorKind::UndefinedRegister(_) => "uninitialized read",
        SimErrorKind::Barrier(_) | SimErrorKind::Mbarrier(_) => "barrier misuse",
        SimErrorKind::AsyncCopy(_) | SimErrorKind::Tensor(_) => "asynchronous misuse",
        _ => "another error",
    })
}

/// The numbers of mutants of a class by verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Score {
    pub killed: usize,
    /// Equal by a rule.
    pub equal: usize,
    /// Survivors with a reason why they are correct for all inputs.
    pub argued: usize,
    /// Other survivors.
    pub survived: usize,
}

impl Score {
    /// The percentage of killed mutants among those not known to be equal; 100 if there are none.
    pub fn percent(self) -> f64 {
        match self.killed + self.survived {
            0 => 100.0,
            all => 100.0 * self.killed as f64 / all as f64,
        }
    }
}

/// The score of each class with a mutant.
pub fn scores(results: &[MutantResult], reasons: &[Reason]) -> BTreeMap<Class, Score> {
    let mut scores: BTreeMap<Class, Score> = BTreeMap::new();
    for one in results {
        let score = scores.entry(one.class).or_default();
        match one.verdict {
            Verdict::Killed(_) => score.killed += 1,
            Verdict::Equal(_) => score.equal += 1,
            Verdict::Survived if reasons.iter().any(|r| r.is_equal && r.explains(one)) => score.argued += 1,
            Verdict::Survived => score.survived += 1,
            Verdict::Invalid(_) | Verdict::Panicked => {}
        }
    }
    scores
}

/// A reason why mutants survive: a line of a list of survivors, with tab-separated columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// Name of the program. `*` matches any characters.
    pub program: String,
    pub operator: String,
    /// The original instruction. `*` matches any characters.
    pub text: String,
    pub reason: String,
    /// Whether the reason begins with `equal: `: the mutant is correct for all inputs, so no test can detect it.
    pub is_equal: bool,
}

impl Reason {
    /// Parses a list. Lines that begin with `#` are comments.
    pub fn list(text: &str) -> Result<Vec<Reason>, String> {
        let lines = text.lines().enumerate().filter(|(_, l)| !l.trim().is_empty() && !l.starts_with('#'));
        let read = |(n, line): (usize, &str)| {
            let columns: Vec<&str> = line.split('\t').map(str::trim).collect();
            match columns[..] {
                [program, operator, text, reason] if !reason.is_empty() => Ok(Reason {
                    program: program.into(),
                    operator: operator.into(),
                    text: text.into(),
                    reason: reason.into(),
                    is_equal: reason.starts_with("equal: "),
                }),
                _ => Err(format!("line {}: expected program, operator, instruction and reason", n + 1)),
            }
        };
        lines.map(read).collect()
    }

    /// Whether the reason applies to this survivor.
    pub fn explains(&self, one: &MutantResult) -> bool {
        self.operator == one.operator && matches(&self.program, &one.program) && matches(&self.text, &one.text)
    }
}

/// The reasons that explain a survivor.
pub fn of_survivors(reasons: Vec<Reason>, results: &[MutantResult]) -> Vec<Reason> {
    let explains = |r: &Reason| results.iter().any(|j| j.verdict == Verdict::Survived && r.explains(j));
    reasons.into_iter().filter(explains).collect()
}

/// Whether a text matches a pattern, in which `*` matches any characters.
pub fn matches(pattern: &str, text: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(text) = text.strip_prefix(head) else { return false };
    (0..=text.len()).any(|n| text.get(n..).is_some_and(|tail| matches(rest, tail)))
}

/// Returns the problems: survivors without a reason, reasons without a survivor, and mutants on which the simulator
/// panicked.
pub fn problems(results: &[MutantResult], reasons: &[Reason]) -> Vec<String> {
    let mut problems = vec![];
    let survivors: Vec<&MutantResult> = results.iter().filter(|j| j.verdict == Verdict::Survived).collect();
    for j in &survivors {
        if !reasons.iter().any(|r| r.explains(j)) {
            problems.push(format!(
                "survived without a reason: {}\t{}\t{} (line {})",
                j.program, j.operator, j.text, j.line
            ));
        }
    }
    for r in reasons {
        if !survivors.iter().any(|j| r.explains(j)) {
            problems.push(format!("no longer survives: {}\t{}\t{}", r.program, r.operator, r.text));
        }
    }
    for j in results.iter().filter(|j| j.verdict == Verdict::Panicked) {
        problems.push(format!("the simulator panicked: {}\t{}\t{} (line {})", j.program, j.operator, j.text, j.line));
    }
    problems
}

/// Converts programs of the corpus to subjects.
pub struct Setup<'a> {
    pub tile_run: TileRun,
    pub target: &'a str,
    pub level: u8,
    pub schedules: &'a [Option<u64>],
    /// A folder for temporary files.
    pub scratch: &'a Path,
}

impl Setup<'_> {
    /// Compiles a program and finds its cases: its launch in the corpus, and the first variant of each kind that both
    /// the reference interpreter and the compiled program can run.
    pub fn subject(&self, program: &Program, launch: &Path) -> Result<Subject, String> {
        let folder =
            self.scratch.join(format!("{}.{}.O{}.{}", program.name, self.target, self.level, std::process::id()));
        std::fs::create_dir_all(&folder).map_err(|e| shown(&folder, e))?;
        let subject = self.subject_in(program, launch, &folder);
        std::fs::remove_dir_all(&folder).map_err(|e| shown(&folder, e))?;
        subject
    }

    fn subject_in(&self, program: &Program, path: &Path, folder: &Path) -> Result<Subject, String> {
        let ptx = folder.join("kernel.ptx");
        let level = self.level.to_string();
        let options = ["--gpu-name", self.target, "-O", &level, "--lineinfo", "--save-ptx"].map(OsStr::new);
        self.run(program, path, options.into_iter().chain([ptx.as_os_str()]))?;
        let ptx = std::fs::read_to_string(&ptx).map_err(|e| shown(&ptx, e))?;
        let launch = Launch::read(path).map_err(|e| e.to_string())?;
        let mut subject = Subject::new(&program.name, &ptx, launch.clone(), self.schedules)?;
        let bytecode = std::fs::read(&program.file).map_err(|e| shown(&program.file, e))?;
        subject.orders = orders::asked_for(&bytecode).map_err(|e| format!("{}: {e}", program.name))?;
        if let Some(complaint) = orders::missing(&subject.orders, &subject.module).into_iter().next() {
            return Err(format!("{}: {complaint}", program.name));
        }
        for kind in variant::candidates(&launch) {
            for (name, mut candidate) in kind {
                let case = self.reference(program, &launch, &candidate, &folder.join(&name)).and_then(|expect| {
                    candidate.expect = expect;
                    Case::new(&name, &subject.module, candidate, self.schedules, false)
                });
                match case {
                    Ok(case) => {
                        subject.cases.push(case);
                        break;
                    }
                    Err(why) => subject.unused.push(format!("{}: {name}: {why}", program.name)),
                }
            }
        }
        Ok(subject)
    }

    /// Launches of a program with random numbers, on the ordinary schedule. In the first ones the arrays also end
    /// elsewhere, if both the reference interpreter and the compiled program can run that.
    pub fn drawn_cases(&self, program: &Program, launch: &Path, subject: &Subject) -> Result<Vec<Case>, String> {
        let folder = self.scratch.join(format!("{}.drawn.{}", program.name, std::process::id()));
        let launch = Launch::read(launch).map_err(|e| e.to_string())?;
        let case = |name: String, launch: Launch| Case::new(&name, &subject.module, launch, &[None], true);
        let mut cases = vec![];
        for n in 0..16 {
            let numbers = variant::other_numbers(&launch, n);
            let elsewhere = variant::other_ends(&numbers, n).and_then(|mut elsewhere| {
                elsewhere.expect = self.reference(program, &launch, &elsewhere, &folder).ok()?;
                case(format!("drawn {n}, other ends"), elsewhere).ok()
            });
            cases.push(elsewhere.map_or_else(|| case(format!("drawn {n}"), numbers), Ok)?);
        }
        for n in 16..64 {
            cases.push(case(format!("drawn {n}"), variant::other_numbers(&launch, n))?);
        }
        if folder.is_dir() {
            std::fs::remove_dir_all(&folder).map_err(|e| shown(&folder, e))?;
        }
        Ok(cases)
    }

    /// The results of a variant on the reference interpreter.
    fn reference(
        &self,
        program: &Program,
        launch: &Launch,
        variant: &Launch,
        folder: &Path,
    ) -> Result<Vec<Expect>, String> {
        variant.write(folder).map_err(|e| shown(folder, e))?;
        let path = folder.join("launch.json");
        let results = folder.join("results");
        let options = ["--engine", "reference", "--out-dir"].map(OsStr::new);
        self.run(program, &path, options.into_iter().chain([results.as_os_str()]))?;
        let written = Launch::read(&path).map_err(|e| e.to_string())?;
        let read = |a: &ArrayArgument| Array::read(&results.join(&a.name)).map_err(|e| e.to_string());
        let arrays = written.args.iter().map(|argument| argument.arrays().iter().map(read).collect());
        let arrays = arrays.collect::<Result<Vec<Vec<Array>>, String>>()?;
        Ok(variant::expect(launch, &arrays))
    }

    /// Runs `tile-run` on a launch.
    fn run<'o>(
        &self,
        program: &Program,
        launch: &Path,
        options: impl Iterator<Item = &'o OsStr>,
    ) -> Result<(), String> {
        let mut arguments: Vec<OsString> = options.map(OsString::from).collect();
        arguments.extend(["--launch".into(), launch.into(), program.file.clone().into()]);
        let done = self.tile_run.run(arguments, None);
        done.map_err(|said| format!("{}: {}", program.name, crate::corpus::first_error(&said)))
    }
}

fn shown(path: &Path, error: std::io::Error) -> String {
    format!("{}: {error}", path.display())
}
