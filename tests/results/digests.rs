//! The bits of the corpus with `--numerics=pinned` and `--numerics=portable` (`docs/numerics.md`). The tests are:
//!
//! * `digests/PROGRAM/TARGET/pinned`: all compilations for one target have results with the same bits: at each level,
//!   with each number of warps, with the program's hints and without them;
//! * `digests/PROGRAM/portable`: the same over all targets, and no approximate instruction is left.
//!
//! Products of f32 have these bits by default too (`digests/PROGRAM/default`).
//!
//! A program with products has one digest for each matrix unit, because PTX does not define how a unit adds products.
//! Programs with atomic sums of floats are left out. Both tests compare with the reference interpreter, without any
//! tolerance, unless the program has products on matrix units, or a function that the interpreter computes with more
//! precision.
//!
//! By default a slice of the programs and of the compilations runs. With `TILEIRAS_TEST_FULL=1`, all programs run on
//! four targets, at four levels, with 4 and 8 warps, with hints and without. Compilations to the same PTX run once.

use crate::corpus::runner;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::path::{Path, PathBuf};
use tile_interface::{CompileRequest, Compiler, Emit, InputKind};
use tile_launch::corpus::{self, Engine, Job, Lists, Program, Runner};
use tile_targets::Target;
use tile_test_support::{Failed, Trial, full, listed, root};
use tileiras::compile::InProcess;

/// One compilation.
#[derive(Clone, Copy)]
struct Build {
    target: &'static str,
    level: u8,
    warps: &'static str,
    /// Whether the program keeps its hints.
    hints: bool,
}

impl Display for Build {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Build { target, level, warps, hints } = self;
        write!(f, "{target}-O{level}-{warps}{}", if *hints { "" } else { "-unhinted" })
    }
}

const TARGETS: [&str; 4] = ["sm_80", "sm_90", "sm_100", "sm_120"];

/// The targets whose pinned bits are compared by default.
const PINNED_TARGETS: [&str; 2] = ["sm_90", "sm_100"];

/// The level, the number of warps and the hints of pinned compilations by default.
const PINNED: &[(u8, &str, bool)] = &[(0, "4", true), (3, "8", false), (3, "2", true)];

/// The compilations of portable programs by default.
const PORTABLE: &[Build] = &[
    Build { target: "sm_80", level: 0, warps: "4", hints: true },
    Build { target: "sm_90", level: 3, warps: "8", hints: false },
    Build { target: "sm_100", level: 2, warps: "4", hints: true },
    Build { target: "sm_120", level: 1, warps: "8", hints: true },
];

/// The programs that are compared by default, pinned and portable.
const PROGRAMS: &[(&str, bool, bool)] = &[
    ("softmax_f32.13.1", true, true),
    ("layernorm.13.1", true, true),
    ("rmsnorm_bf16.13.1", true, true),
    ("reduce_all_f32.13.1", true, false),
    ("reduce_axis0_f32.13.1", true, false),
    ("reduce_axis1_f16.13.1", true, false),
    ("cumsum_rows.13.1", true, true),
    ("welford.13.1", true, true),
    ("gram_f32.13.1", true, true),
    ("matmul_f16.13.1", true, false),
    ("matmul_e5m2.13.1", true, false),
    ("attention_fp8.13.1", true, false),
    ("mma_mx.13.3", true, false),
    ("adam_step_f32.13.1", true, true),
    ("gelu_silu_bf16.13.1", false, true),
    ("swiglu_f16.13.1", false, true),
    ("fmha_f16.13.1", false, true),
];

/// A program with products of f32 and no reduction. By default too, its bits depend on nothing but the program.
const PRODUCTS: &str = "gram_f32.13.1";

pub fn trials() -> Vec<Trial> {
    listed("digests", list(root()))
}

fn list(root: &Path) -> Result<Vec<Trial>, corpus::Error> {
    let lists = Lists::read(root)?;
    let mut trials = vec![];
    for program in corpus::programs(root)?.into_iter().filter(Program::is_readable) {
        let row = PROGRAMS.iter().find(|(name, ..)| *name == program.name);
        let (pinned, portable) = row.map_or((full(), full()), |(_, a, b)| (*a || full(), *b || full()));
        let works = |target: &str| lists.pending_on(&program.name, target).is_none();
        for target in TARGETS.into_iter().filter(|t| pinned && works(t) && (full() || PINNED_TARGETS.contains(t))) {
            let program = program.clone();
            let title = format!("digests/{}/{target}/pinned", program.name);
            trials.push(Trial::test(title, move || same_bits(&program, "pinned", &pinned_builds(target))));
        }
        if program.name == PRODUCTS {
            let program = program.clone();
            let title = format!("digests/{PRODUCTS}/default");
            trials.push(Trial::test(title, move || same_bits(&program, "default", &portable_builds())));
        }
        let builds: Vec<Build> = portable_builds().into_iter().filter(|b| portable && works(b.target)).collect();
        if !builds.is_empty() {
            let title = format!("digests/{}/portable", program.name);
            trials.push(Trial::test(title, move || same_bits(&program, "portable", &builds)));
        }
    }
    trials.push(Trial::test("digests/programs", every_row_is_a_program));
    trials.push(Trial::test("digests/nan_have_one_form", nan_have_one_form));
    Ok(trials)
}

fn every_row_is_a_program() -> Result<(), Failed> {
    let programs = corpus::programs(root()).map_err(|e| e.to_string())?;
    let missing = PROGRAMS.iter().find(|(name, ..)| programs.iter().all(|p| p.name != *name));
    missing.map_or(Ok(()), |(name, ..)| Err(format!("the corpus has no program {name}").into()))
}

fn matrix(targets: &[&'static str]) -> Vec<Build> {
    let mut builds = vec![];
    for &target in targets {
        for level in 0..4 {
            for warps in ["4", "8"] {
                builds.extend([true, false].map(|hints| Build { target, level, warps, hints }));
            }
        }
    }
    builds
}

fn pinned_builds(target: &'static str) -> Vec<Build> {
    let slice = PINNED.iter().map(|&(level, warps, hints)| Build { target, level, warps, hints });
    if full() { matrix(&[target]) } else { slice.collect() }
}

fn portable_builds() -> Vec<Build> {
    if full() { matrix(&TARGETS) } else { PORTABLE.to_vec() }
}

/// A program in both forms.
struct Source<'a> {
    program: &'a Program,
    bytecode: Vec<u8>,
    text: String,
    /// The text without hints, if there are any.
    unhinted: Option<String>,
}

impl<'a> Source<'a> {
    fn new(program: &'a Program) -> Result<Self, Failed> {
        let bytecode = std::fs::read(&program.file)?;
        let target = Target::by_name("sm_90").ok_or("no such target")?;
        let request = CompileRequest::new(&bytecode, InputKind::PublicBytecode, target);
        let text = compiled(&CompileRequest { emit: Emit::CudaTile, ..request })?;
        let unhinted = without_hints(&text);
        Ok(Source { program, bytecode, text, unhinted })
    }

    /// The PTX of a compilation.
    fn ptx(&self, mode: &str, build: &Build) -> Result<String, Failed> {
        let (bytes, kind) = match &self.unhinted {
            Some(text) if !build.hints => (text.as_bytes(), InputKind::Text),
            _ => (&self.bytecode[..], InputKind::PublicBytecode),
        };
        let target = Target::by_name(build.target).ok_or("no such target")?;
        let options = [("numerics".to_owned(), mode.to_owned()), ("num-warps".to_owned(), build.warps.to_owned())];
        let request = CompileRequest {
            opt_level: build.level,
            pipeline_options: &options,
            ..CompileRequest::new(bytes, kind, target)
        };
        compiled(&request)
    }

    /// The digest of the results of a compilation on the simulator.
    fn digest(&self, mode: &str, build: &Build, ptx: &str) -> Result<String, Failed> {
        let folder = folder(&format!("{}-{mode}-{build}", self.program.name))?;
        let file = folder.with_extension("ptx");
        std::fs::write(&file, ptx)?;
        let program = Program { file: file.clone(), ..self.program.clone() };
        let engine = Engine::Simulator { target: build.target.into(), level: build.level, schedules: "plain".into() };
        Runner { out_dir: Some(folder.clone()), ..runner()? }.run(&Job { program, engine })?;
        std::fs::remove_file(file)?;
        digest_of(&folder)
    }

    /// The digest of the interpreter's results.
    fn reference(&self, mode: &str) -> Result<String, Failed> {
        // Tests of other targets compute the same reference at the same time.
        let folder = folder(&format!("{}-{mode}-reference-{}", self.program.name, std::process::id()))?;
        let options = vec![format!("--numerics={mode}")];
        let job = Job { program: self.program.clone(), engine: Engine::Reference };
        Runner { out_dir: Some(folder.clone()), options, ..runner()? }.run(&job)?;
        digest_of(&folder)
    }

    /// Whether the interpreter computes a function of the program with more precision than compiled code.
    fn is_more_precise(&self, mode: &str) -> bool {
        let portable: &[&str] = if mode == "portable" { PORTABLE_FUNCTIONS } else { &[] };
        let doubles = self.text.contains("f64");
        self.text.lines().any(|line| {
            let name = line.split_once(" = ").and_then(|(_, op)| op.split_whitespace().next()).unwrap_or_default();
            FUNCTIONS.contains(&name) && (doubles || !portable.contains(&name))
        })
    }
}

/// The ops that are functions of the device library, whose last bit the language leaves open.
const FUNCTIONS: &[&str] =
    &["atan2", "cos", "cosh", "exp", "exp2", "fpowi", "log", "log2", "pow", "rsqrt", "sin", "sinh", "tan", "tanh"];

/// Those that the interpreter computes as portable code does.
const PORTABLE_FUNCTIONS: &[&str] = &["exp", "exp2", "rsqrt", "tanh"];

fn folder(name: &str) -> Result<PathBuf, Failed> {
    let all = Path::new(env!("CARGO_TARGET_TMPDIR")).join("digests");
    std::fs::create_dir_all(&all)?;
    Ok(all.join(name.replace('.', "_")))
}

fn compiled(request: &CompileRequest<'_>) -> Result<String, Failed> {
    let mut said = String::new();
    let output = InProcess.compile(request, &mut |d| said += &tile_diag::render::plain(&d));
    output.map(|output| output.text).map_err(|e| format!("{e}\n{said}").into())
}

/// Removes each `optimization_hints=<..>`. Returns `None` if all are empty.
fn without_hints(text: &str) -> Option<String> {
    let (mut rest, mut out, mut some) = (text, String::new(), false);
    while let Some((before, after)) = rest.split_once("optimization_hints") {
        out += before;
        let mut depth = 0;
        let end = after.find(|c| {
            depth += match c {
                '<' => 1,
                '>' => -1,
                _ => 0,
            };
            c == '>' && depth == 0
        });
        let (hints, others) = after.split_at(end.map_or(after.len(), |end| end + 1));
        some |= hints.replace("{}", "").contains('{');
        rest = others;
    }
    some.then(|| out + rest)
}

/// A digest of the arrays in a folder, which is then removed. All NaN count as the same: nothing pins their payload.
fn digest_of(folder: &Path) -> Result<String, Failed> {
    let files: Result<Vec<PathBuf>, Failed> = std::fs::read_dir(folder)?.map(|f| Ok(f?.path())).collect();
    let mut files = files?;
    files.sort();
    let mut digest = Sha256::new();
    for file in files {
        digest.update(file.file_name().unwrap_or_default().as_encoded_bytes());
        let mut bytes = std::fs::read(&file)?;
        unify_nan(&mut bytes);
        digest.update(bytes);
    }
    std::fs::remove_dir_all(folder)?;
    Ok(digest.finalize().iter().take(8).map(|b| format!("{b:02x}")).collect())
}

/// Replaces each NaN of a file in the format of NumPy.
fn unify_nan(file: &mut [u8]) {
    let Some(start) = file.iter().position(|b| *b == b'\n').map(|end| end + 1) else { return };
    let (header, numbers) = file.split_at_mut(start);
    let header = String::from_utf8_lossy(header);
    let (size, infinity) = match ["<f2", "<f4", "<f8"].iter().position(|name| header.contains(name)) {
        Some(0) => (2, 0x7c00),
        Some(1) => (4, 0x7f80_0000),
        Some(2) => (8, 0x7ff0_0000_0000_0000),
        _ => return,
    };
    for number in numbers.chunks_exact_mut(size) {
        let mut wide = [0; 8];
        wide[..size].copy_from_slice(number);
        let magnitude = u64::from_le_bytes(wide) & (u64::MAX >> (65 - 8 * size));
        if magnitude > infinity {
            number.fill(0xff);
        }
    }
}

fn nan_have_one_form() -> Result<(), Failed> {
    let mut file = b"..'descr': '<f4'..\n".to_vec();
    let start = file.len();
    for bits in [0x7fff_ffff_u32, 0xffc0_0000, 0x7f80_0000, 0xbf80_0000] {
        file.extend(bits.to_le_bytes());
    }
    unify_nan(&mut file);
    let expected: Vec<u8> =
        [u32::MAX, u32::MAX, 0x7f80_0000, 0xbf80_0000].into_iter().flat_map(u32::to_le_bytes).collect();
    if file[start..] == expected { Ok(()) } else { Err(format!("{:x?}", &file[start..]).into()) }
}

fn is_approximate(line: &str) -> bool {
    line.contains(".approx") || line.contains("div.full")
}

/// The matrix units that PTX uses.
fn units(ptx: &str) -> Vec<&'static str> {
    ["mma.sync", "wgmma.mma_async", "tcgen05.mma"].into_iter().filter(|name| ptx.contains(name)).collect()
}

/// Whether the order of arrival decides about bits.
fn depends_on_timing(ptx: &str) -> bool {
    let floats = |line: &str| [".f32", ".f16", ".bf16", ".f64"].iter().any(|t| line.contains(t));
    ptx.lines().any(|line| {
        let atomic = ["atom.", "red."].iter().any(|name| line.trim_start().contains(name));
        atomic && (line.contains(".add") && floats(line) || line.contains(".cas"))
    })
}

/// Compiles and runs a program in all configurations. All digests of one matrix unit must be equal.
fn same_bits(program: &Program, mode: &str, builds: &[Build]) -> Result<(), Failed> {
    let source = Source::new(program)?;
    let mut known: BTreeMap<String, String> = BTreeMap::new();
    let mut first: BTreeMap<Vec<&str>, (Build, String)> = BTreeMap::new();
    let (mut wrong, mut approximate) = (vec![], false);
    for build in builds.iter().filter(|b| b.hints || source.unhinted.is_some() || !full()) {
        let ptx = source.ptx(mode, build).map_err(|e| format!("{build}: {e:?}"))?;
        if depends_on_timing(&ptx) {
            return Ok(());
        }
        if let Some(line) = ptx.lines().find(|line| is_approximate(line)) {
            approximate = true;
            if mode == "portable" {
                wrong.push(format!("{build} has {}", line.trim()));
            }
        }
        let digest = match known.get(&ptx) {
            Some(digest) => digest.clone(),
            None => source.digest(mode, build, &ptx).map_err(|e| format!("{build}: {e:?}"))?,
        };
        known.insert(ptx.clone(), digest.clone());
        let (other, same) = first.entry(units(&ptx)).or_insert_with(|| (*build, digest.clone()));
        if *same != digest {
            wrong.push(format!("{build} has other bits than {other}"));
        }
    }
    if let Some((build, digest)) = first.remove(&vec![])
        && first.is_empty()
        && mode != "default"
        && !approximate
        && !source.is_more_precise(mode)
        && source.reference(mode)? != digest
    {
        wrong.push(format!("{build} has other bits than the interpreter"));
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}
