//! `cargo xtask mutate`: mutates compiled programs and counts the mutants that the simulator and the expected results
//! kill.

use crate::words::Words;
use anyhow::{Context, bail};
use ptx_sim::mutate::Class;
use serde_json::{Value, json};
use std::path::Path;
use tile_driver::progress::Progress;
use tile_launch::corpus::{self, Lists, Program, TileRun};
use tile_launch::mutation::{self, MutantResult, Reason, Score, Setup, Subject, Verdict};

pub const USAGE: &str = "\
usage: cargo xtask mutate [options]

Compiles programs of the corpus, mutates their PTX one instruction at a time and runs each mutant on the simulator.
Prints for each class how many mutants were killed, proved equal or survived; then lists the survivors.

  --programs LIST  names; * matches any characters, as in 'matmul_*,fmha_f16.13.1' (default: all supported programs)
  --class LIST     classes, such as 'barrier,fence' (default: all)
  --sample N       run N mutants of each class instead of all
  --seed S         seed of the sample (default 0)
  --schedules LIST schedules of the simulator, as for tile-run --adversarial (default plain,1,2)
  --gpu-name NAME  target (default sm_90)
  --level N        optimization level (default 3)
  --jobs N         parallel runs (default: one for each processor)
  --json           print every mutant as JSON, with the scores
  --coverage       run no mutants: print the executed and total lines of each program, and the lines never executed
  --release        build tile-run with optimization

Survivors are printed with the reason that a list in tests/mutation gives. Exit status 1: a survivor has no reason, or
panicked.
";

/// The lists of reasons for survivors on a target: on sm_90 those of the slice that the tests run, and of other
/// programs.
fn lists_of_reasons(target: &str) -> Vec<String> {
    let lists = match target {
        "sm_90" => vec!["survivors".into(), "campaign".into()],
        target => vec![format!("campaign.{target}")],
    };
    lists.into_iter().map(|list| format!("tests/mutation/{list}.tsv")).collect()
}

/// Programs that also run on randomly drawn launches, with digests that the tests compare.
const DRAWN: &str = "tests/mutation/drawn.tsv";

struct Options {
    programs: Vec<String>,
    classes: Vec<Class>,
    sample: Option<usize>,
    seed: u64,
    schedules: Vec<Option<u64>>,
    target: String,
    level: u8,
    jobs: usize,
    json: bool,
    coverage: bool,
    release: bool,
}

fn parse(words: &[&str]) -> anyhow::Result<Options> {
    let mut o = Options {
        programs: vec!["*".into()],
        classes: Class::ALL.to_vec(),
        sample: None,
        seed: 0,
        schedules: vec![None, Some(1), Some(2)],
        target: "sm_90".into(),
        level: 3,
        jobs: std::thread::available_parallelism().map_or(1, usize::from),
        json: false,
        coverage: false,
        release: false,
    };
    let mut words = Words::new(words, USAGE);
    while let Some(word) = words.next()? {
        match word {
            "--programs" => o.programs = words.value()?.split(',').map(String::from).collect(),
            "--class" => o.classes = words.value()?.split(',').map(class).collect::<Result<_, _>>()?,
            "--sample" => o.sample = Some(words.parse()?),
            "--seed" => o.seed = words.parse()?,
            "--schedules" => o.schedules = words.value()?.split(',').map(schedule).collect::<Result<_, _>>()?,
            "--gpu-name" => o.target = words.value()?.into(),
            "--level" => o.level = words.parse()?,
            "--jobs" => o.jobs = words.parse()?,
            "--json" => o.json = true,
            "--coverage" => o.coverage = true,
            "--release" => o.release = true,
            _ => bail!("unknown option '{word}'\n{USAGE}"),
        }
    }
    o.classes.sort();
    o.classes.dedup();
    Ok(o)
}

fn class(name: &str) -> anyhow::Result<Class> {
    let names = || Class::ALL.map(Class::name).join(", ");
    Class::ALL
        .into_iter()
        .find(|c| c.name() == name)
        .with_context(|| format!("unknown class '{name}'; the classes are {}", names()))
}

fn schedule(word: &str) -> anyhow::Result<Option<u64>> {
    if word == "plain" { Ok(None) } else { word.parse().map(Some).context("--schedules") }
}

/// Returns survivors without a reason, and mutants that made the simulator panic.
pub fn run(root: &Path, words: &[&str]) -> anyhow::Result<Vec<String>> {
    let options = parse(words)?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), Into::into);
    let tile_run = crate::corpus::build(root, &target, "tile-run", options.release)?;
    let cases = corpus::cases(root, &target)?;
    let programs = programs(root, &options)?;
    let setup = Setup {
        tile_run: TileRun::Program(tile_run),
        target: &options.target,
        level: options.level,
        schedules: &options.schedules,
        scratch: &target.join("mutation"),
    };
    let subjects = subjects(&setup, &programs, &cases)?;
    if options.coverage {
        print_coverage(&subjects, options.json);
        return Ok(vec![]);
    }
    let mut reasons = vec![];
    // A target without a campaign has no list.
    for file in lists_of_reasons(&options.target).into_iter().filter(|file| root.join(file).exists()) {
        let list = std::fs::read_to_string(root.join(&file)).with_context(|| file.clone())?;
        reasons.extend(Reason::list(&list).map_err(|e| anyhow::anyhow!("{file}: {e}"))?);
    }
    let drawn = mutation::sample(&subjects, &options.classes, options.sample, options.seed);
    let progress = Progress::start("mutate", drawn.len() as u64, true);
    let mut judged = mutation::run_mutants(&drawn, options.jobs, &|_| progress.advance(""));
    drop(progress);
    let list = std::fs::read_to_string(root.join(DRAWN)).context(DRAWN)?;
    let list = mutation::drawn_list(&list);
    let further = |subject: &Subject| {
        let program = programs.iter().find(|p| p.name == subject.name && list.contains_key(&*p.name));
        let Some(program) = program else { return Ok(vec![]) };
        setup.drawn_cases(program, &cases.join(&program.entry).join("launch.json"), subject)
    };
    // Print the results first: an hour of runs is not lost if drawn launches fail, for example after a change of the
    // corpus.
    let further = mutation::look_further(&drawn, &mut judged, further).map_err(anyhow::Error::msg);
    if options.json {
        println!("{:#}", as_json(&judged, &reasons));
    } else {
        print_scores(&judged, &reasons);
        print_survivors(&judged, &reasons);
    }
    further.context("running the launches of tests/mutation/drawn.tsv, which kill further mutants")?;
    // Reasons for programs that did not run are not stale.
    Ok(mutation::problems(&judged, &mutation::of_survivors(reasons, &judged)))
}

fn programs(root: &Path, options: &Options) -> anyhow::Result<Vec<Program>> {
    let lists = Lists::read(root)?;
    let wanted = |p: &Program| {
        let here = lists.supported.contains(&p.name) && lists.pending_on(&p.name, &options.target).is_none();
        here && options.programs.iter().any(|pattern| mutation::matches(pattern, &p.name))
    };
    let programs: Vec<Program> = corpus::programs(root)?.into_iter().filter(wanted).collect();
    if programs.is_empty() {
        bail!("no supported program matches {}", options.programs.join(" or "));
    }
    Ok(programs)
}

fn subjects(setup: &Setup<'_>, programs: &[Program], cases: &Path) -> anyhow::Result<Vec<Subject>> {
    let mut subjects = vec![];
    for program in programs {
        let launch = cases.join(&program.entry).join("launch.json");
        let subject = setup.subject(program, &launch).map_err(anyhow::Error::msg)?;
        for case in subject.cases.iter().skip(1) {
            eprintln!("{}: also {}", subject.name, case.name);
        }
        for why in &subject.unused {
            eprintln!("not used: {why}");
        }
        subjects.push(subject);
    }
    Ok(subjects)
}

fn print_scores(judged: &[MutantResult], reasons: &[Reason]) {
    let heads = ["mutants", "killed", "equal", "argued", "survived", "score"];
    println!("{:10}  {}", "class", heads.map(|head| format!("{head:>8}")).join("  "));
    let line = |name: &str, s: &Score| {
        let all = s.killed + s.equal + s.argued + s.survived;
        let counts = [all, s.killed, s.equal, s.argued, s.survived].map(|n| format!("{n:8}")).join("  ");
        println!("{name:10}  {counts}  {:6.1} %", s.percent());
    };
    let scores = mutation::scores(judged, reasons);
    let mut all = Score::default();
    for (class, s) in &scores {
        line(class.name(), s);
        all.killed += s.killed;
        all.equal += s.equal;
        all.argued += s.argued;
        all.survived += s.survived;
    }
    line("all", &all);
}

/// Prints survivors that have a reason, and invalid mutants.
fn print_survivors(judged: &[MutantResult], reasons: &[Reason]) {
    for j in judged {
        let MutantResult { program, class, operator, line, text, verdict } = j;
        let what = match verdict {
            Verdict::Survived => reasons.iter().find(|r| r.explains(j)).map(|r| r.reason.as_str()),
            Verdict::Invalid(why) => Some(why.as_str()),
            _ => None,
        };
        // Survivors without a reason are problems, which are printed last.
        let Some(what) = what else { continue };
        let word = if *verdict == Verdict::Survived { "survived" } else { "invalid" };
        println!("{word}: {program}:{line}: {}: {operator}: {text}: {what}", class.name());
    }
}

fn as_json(judged: &[MutantResult], reasons: &[Reason]) -> Value {
    let mutants: Vec<Value> = judged.iter().map(mutant).collect();
    let scores: serde_json::Map<String, Value> = mutation::scores(judged, reasons)
        .into_iter()
        .map(|(class, s)| {
            let score = json!({
                "killed": s.killed, "equal": s.equal, "argued": s.argued, "survived": s.survived,
                "percent": s.percent(),
            });
            (class.name().to_string(), score)
        })
        .collect();
    json!({ "scores": scores, "mutants": mutants })
}

fn mutant(j: &MutantResult) -> Value {
    let (verdict, by) = match &j.verdict {
        Verdict::Killed(by) => ("killed", *by),
        Verdict::Equal(rule) => ("equal", *rule),
        Verdict::Survived => ("survived", ""),
        Verdict::Invalid(why) => ("invalid", why.as_str()),
        Verdict::Panicked => ("panicked", ""),
    };
    json!({
        "program": j.program, "class": j.class.name(), "operator": j.operator, "line": j.line, "text": j.text,
        "verdict": verdict, "by": by,
    })
}

fn print_coverage(subjects: &[Subject], json: bool) {
    let mut programs = serde_json::Map::new();
    let width = subjects.iter().map(|s| s.name.len()).max().unwrap_or(0);
    for subject in subjects {
        let lines = subject.lines();
        let executed = lines.values().filter(|e| **e).count();
        let never: Vec<u32> = lines.iter().filter(|(_, e)| !**e).map(|(line, _)| *line).collect();
        if json {
            let counts = json!({ "executed": executed, "lines": lines.len(), "never": never });
            programs.insert(subject.name.clone(), counts);
            continue;
        }
        println!("{:width$}  {executed:5} of {:5} lines", subject.name, lines.len());
        for line in never {
            let text = subject.module.source.lines().nth(line as usize - 1).unwrap_or("").trim();
            println!("  {line}: {text}");
        }
    }
    if json {
        println!("{:#}", Value::Object(programs));
    }
}
