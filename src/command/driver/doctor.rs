//! `tileiras doctor`: checks this installation and suggests fixes.
//!
//! The checks follow the steps of a compilation, but continue after a failure: the core program, a compilation to
//! PTX, the CUDA variables, each candidate ptxas, an assembly, temporary files, and other programs named `tileiras`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tile_targets::{DEFAULT_TARGET, TARGETS, Target};

use crate::child::{self, Finished};
use crate::io_text;
use crate::ptxas::{self, Job};
use crate::toolchain::{self, Surroundings};
use tile_interface::DebugInfo;

/// The outcome of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    Good,
    /// Works, but perhaps not as intended.
    Doubtful,
    /// Prevents compilation.
    Bad,
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub verdict: Verdict,
    /// The thing checked.
    pub subject: &'static str,
    pub text: String,
    /// The suggested fix. Empty if none is needed.
    pub fix: String,
}

/// The installation to examine.
#[derive(Debug, Clone)]
pub struct Installation {
    /// The path of the running program, with links resolved.
    pub program: Option<PathBuf>,
    /// The name of the core program. `None` if the compiler is part of this one.
    pub core: Option<String>,
    /// The first line of `--version` of this program.
    pub version: String,
    pub surroundings: Surroundings,
    /// The Python package that started the program, if one did.
    pub package: Option<PythonPackage>,
    pub scratch: PathBuf,
    /// The time after which a tool counts as hanging.
    pub timeout: Duration,
}

/// The Python package that contains the program. A launcher script in its environment starts it.
#[derive(Debug, Clone)]
pub struct PythonPackage {
    pub launcher: PathBuf,
    pub python: PathBuf,
}

impl PythonPackage {
    /// Reads the package of this process from two variables that its launcher sets.
    pub fn of_process() -> Option<PythonPackage> {
        let variable = |name| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        Some(PythonPackage { launcher: variable("TILEIRAS_LAUNCHER")?, python: variable("TILEIRAS_PYTHON")? })
    }
}

/// A module with one empty kernel.
const MODULE: &str = "cuda_tile.module @doctor {\n  entry @doctor() {\n    return\n  }\n}\n";

/// The oldest CUDA release that supports all targets.
const OLDEST_RELEASE: (u32, u32) = (13, 0);

const INSTALL_TOOLKIT: &str = "install a CUDA toolkit of release 13.0 or newer, or NVIDIA's Python package nvidia-cuda-nvcc, \
                               and set CUDA_HOME to it or put its bin directory on PATH";

/// Runs all checks.
pub fn examine(installation: &Installation) -> Vec<Finding> {
    let mut report = Report::default();
    let core = check_core(installation, &mut report);
    let scratch = check_scratch(installation, &mut report);
    if core && scratch {
        check_compilation(installation, &mut report);
    }
    check_variables(installation, &mut report);
    if let Some(ptxas) = check_ptxas(installation, &mut report)
        && scratch
    {
        check_assembly(installation, &ptxas, &mut report);
    }
    check_path(installation, &mut report);
    check_python_packages(installation, &mut report);
    report.findings
}

/// Formats the findings: one line each, followed by its fix, and a summary line.
pub fn text(findings: &[Finding]) -> String {
    let mut out = String::new();
    for f in findings {
        let word = match f.verdict {
            Verdict::Good => "ok  ",
            Verdict::Doubtful => "warn",
            Verdict::Bad => "FAIL",
        };
        let _ = writeln!(out, "{word}  {:<12} {}", f.subject, f.text);
        if !f.fix.is_empty() {
            let _ = writeln!(out, "      {:<12} -> {}", "", f.fix);
        }
    }
    let count = |v| findings.iter().filter(|f| f.verdict == v).count();
    let _ = match (count(Verdict::Bad), count(Verdict::Doubtful)) {
        (0, 0) => writeln!(out, "This installation works."),
        (0, n) => writeln!(out, "This installation works, with {n} warning{}.", if n == 1 { "" } else { "s" }),
        (n, _) => writeln!(out, "This installation does not work: {n} failure{}.", if n == 1 { "" } else { "s" }),
    };
    out
}

#[derive(Default)]
struct Report {
    findings: Vec<Finding>,
}

impl Report {
    fn good(&mut self, subject: &'static str, text: impl Into<String>) {
        self.add(Verdict::Good, subject, text, "");
    }
    fn doubtful(&mut self, subject: &'static str, text: impl Into<String>, fix: impl Into<String>) {
        self.add(Verdict::Doubtful, subject, text, fix);
    }
    fn bad(&mut self, subject: &'static str, text: impl Into<String>, fix: impl Into<String>) {
        self.add(Verdict::Bad, subject, text, fix);
    }
    fn add(&mut self, verdict: Verdict, subject: &'static str, text: impl Into<String>, fix: impl Into<String>) {
        self.findings.push(Finding { verdict, subject, text: text.into(), fix: fix.into() });
    }
}

/// The program that contains the compiler.
fn compiler(installation: &Installation) -> Option<PathBuf> {
    let program = installation.program.as_ref()?;
    Some(match &installation.core {
        Some(core) => program.with_file_name(core),
        None => program.clone(),
    })
}

fn call(installation: &Installation, mut command: Command) -> std::io::Result<Finished> {
    command.env("TMPDIR", &installation.scratch);
    child::run(command, &[], Some(installation.timeout))
}

fn check_core(installation: &Installation, report: &mut Report) -> bool {
    const SUBJECT: &str = "compiler";
    let reinstall = "reinstall tileiras; tileiras and tileiras-core must be of one version, in one directory";
    let Some(program) = compiler(installation) else {
        report.bad(SUBJECT, "the path of this program is unknown", "mount /proc");
        return false;
    };
    if !program.exists() {
        report.bad(SUBJECT, format!("'{}' is missing", program.display()), reinstall);
        return false;
    }
    let mut command = Command::new(&program);
    command.arg("--version");
    let done = match call(installation, command) {
        Ok(done) => done,
        Err(e) => {
            report.bad(SUBJECT, format!("'{}' cannot be started: {}", program.display(), io_text(&e)), reinstall);
            return false;
        }
    };
    let said = String::from_utf8_lossy(&done.output).into_owned();
    let first = said.lines().next().unwrap_or_default().to_owned();
    if done.timed_out {
        report.bad(SUBJECT, format!("'{}' does not respond", program.display()), reinstall);
    } else if said.contains("error while loading shared libraries") {
        let fix =
            "install LLVM and MLIR 21.1 (Debian: libmlir-21t64, libllvm21), or add their directory to LD_LIBRARY_PATH";
        report.bad(SUBJECT, first, fix);
    } else if !done.status.success() {
        report.bad(SUBJECT, format!("'{}' failed with {}: {first}", program.display(), done.status), reinstall);
    } else if first != installation.version {
        let text = format!("'{}' has version '{first}', but this is '{}'", program.display(), installation.version);
        report.bad(SUBJECT, text, reinstall);
    } else {
        report.good(SUBJECT, first);
        return true;
    }
    false
}

fn check_scratch(installation: &Installation, report: &mut Report) -> bool {
    const SUBJECT: &str = "TMPDIR";
    let directory = &installation.scratch;
    let file = child::unnamed_file(directory).and_then(|mut f| {
        use std::io::Write;
        f.write_all(&[0; 64 * 1024])
    });
    match file {
        Ok(()) => {
            report.good(SUBJECT, format!("'{}' is writable", directory.display()));
            true
        }
        Err(e) => {
            let fix = "set TMPDIR to a writable directory with free space";
            report.bad(SUBJECT, format!("'{}' cannot be used: {}", directory.display(), io_text(&e)), fix);
            false
        }
    }
}

fn check_compilation(installation: &Installation, report: &mut Report) {
    const SUBJECT: &str = "compilation";
    let defect = "please report this with the text above";
    let Some(program) = compiler(installation) else { return };
    let input = installation.scratch.join(format!("tileiras-doctor-{}.mlir", std::process::id()));
    if let Err(e) = std::fs::write(&input, MODULE) {
        report.bad(SUBJECT, format!("cannot write '{}': {}", input.display(), io_text(&e)), "see TMPDIR");
        return;
    }
    let mut command = Command::new(&program);
    command.arg(&input).args(["--emit=ptx", "-o", "-"]);
    let done = call(installation, command);
    // A file that cannot be removed is in a directory for temporary files.
    let _ = std::fs::remove_file(&input);
    match done {
        Ok(d) if d.status.success() && String::from_utf8_lossy(&d.output).contains(".entry ") => {
            report.good(SUBJECT, "a small module compiles to PTX");
        }
        Ok(d) if d.timed_out => report.bad(SUBJECT, "compiling a small module takes too long", defect),
        Ok(d) => {
            let said = String::from_utf8_lossy(&d.output);
            let first = said.lines().next().unwrap_or("no output");
            report.bad(SUBJECT, format!("a small module does not compile ({}): {first}", d.status), defect);
        }
        Err(e) => report.bad(SUBJECT, format!("a small module does not compile: {}", io_text(&e)), defect),
    }
}

fn check_variables(installation: &Installation, report: &mut Report) {
    for (name, value) in &installation.surroundings.cuda_variables {
        let value = Path::new(value);
        if !value.is_dir() {
            let fix = format!("set {name} to the root of a CUDA toolkit, or unset it");
            report.doubtful(name, format!("'{}' is not a directory", value.display()), fix);
        } else if !value.join("bin/ptxas").exists() {
            let fix = format!("set {name} to the root of a CUDA toolkit, or unset it");
            report.doubtful(name, format!("'{}' does not contain bin/ptxas", value.display()), fix);
        } else {
            report.good(name, format!("'{}'", value.display()));
        }
    }
}

/// Checks each ptxas that a compilation would consider, and returns the one that it would use.
fn check_ptxas(installation: &Installation, report: &mut Report) -> Option<PathBuf> {
    const SUBJECT: &str = "ptxas";
    let search = toolchain::search("ptxas", None, &installation.surroundings);
    if search.found.is_empty() {
        for (file, why) in &search.tried {
            if std::fs::metadata(file).is_ok_and(|m| m.is_file()) {
                let text = format!("'{}' ({why}) is not executable", file.display());
                report.doubtful(SUBJECT, text, format!("chmod +x '{}'", file.display()));
            }
        }
        let places: Vec<String> = search.tried.iter().map(|(f, why)| format!("'{}' ({why})", f.display())).collect();
        let places = if places.is_empty() { "nothing".to_owned() } else { places.join(", ") };
        report.bad(SUBJECT, format!("not found; looked for {places}"), INSTALL_TOOLKIT);
        return None;
    }
    let mut usable = None;
    for file in &search.found {
        let mut command = Command::new(file);
        command.arg("--version");
        let broken = format!("remove '{}' or put a working ptxas before it", file.display());
        match call(installation, command) {
            Err(e) => {
                report.doubtful(SUBJECT, format!("'{}' cannot be started: {}", file.display(), io_text(&e)), broken)
            }
            Ok(d) if d.timed_out => report.doubtful(SUBJECT, format!("'{}' does not respond", file.display()), broken),
            Ok(d) => match toolchain::release_in(&String::from_utf8_lossy(&d.output)) {
                None => report.doubtful(SUBJECT, format!("'{}' does not print its release", file.display()), broken),
                Some(release) if is_old(&release) => {
                    let text = format!("'{}' is release {release}, too old for some targets", file.display());
                    report.doubtful(SUBJECT, text, INSTALL_TOOLKIT);
                    usable.get_or_insert_with(|| file.clone());
                }
                Some(release) => {
                    report.good(SUBJECT, format!("'{}', release {release}", file.display()));
                    usable.get_or_insert_with(|| file.clone());
                }
            },
        }
    }
    if usable.is_none() {
        report.bad(SUBJECT, "none of the installed ptxas works", INSTALL_TOOLKIT);
    }
    usable
}

fn is_old(release: &str) -> bool {
    let mut numbers = release.split('.').map(|n| n.parse::<u32>().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) < OLDEST_RELEASE
}

/// Assembles an empty kernel for each target.
fn check_assembly(installation: &Installation, ptxas: &Path, report: &mut Report) {
    const SUBJECT: &str = "assembly";
    let mut failed = Vec::new();
    let mut reason = String::new();
    for target in TARGETS {
        let ptx = format!(
            ".version {}\n.target {}\n.address_size 64\n.visible .entry doctor()\n{{\n\tret;\n}}\n",
            target.ptx_floor, target.ptx_target
        );
        if let Err(text) = assemble(installation, ptxas, target, &ptx) {
            failed.push(target.name);
            reason = text;
        }
    }
    let default_fails = failed.contains(&DEFAULT_TARGET);
    match failed.len() {
        0 => report.good(SUBJECT, "ptxas assembles for all targets"),
        n if n == TARGETS.len() => {
            report.bad(SUBJECT, format!("ptxas fails for all targets: {reason}"), INSTALL_TOOLKIT)
        }
        _ => {
            let verdict = if default_fails { Verdict::Bad } else { Verdict::Doubtful };
            report.add(verdict, SUBJECT, format!("ptxas fails for {}: {reason}", failed.join(", ")), INSTALL_TOOLKIT);
        }
    }
}

fn assemble(installation: &Installation, ptxas: &Path, target: &'static Target, ptx: &str) -> Result<(), String> {
    let job = Job {
        ptx,
        target,
        opt_level: 0,
        debug: DebugInfo::None,
        extended_shared: false,
        sanitize: None,
        extra: &[],
        timeout: Some(installation.timeout),
        scratch: &installation.scratch,
        statistics: false,
    };
    let (_, result) = ptxas::assemble(&job, Some(ptxas), &installation.surroundings);
    result.map(|_| ()).map_err(|e| {
        let said = String::from_utf8_lossy(e.messages()).lines().next().map(str::to_owned);
        said.unwrap_or_else(|| e.to_string())
    })
}

/// Checks whether the command `tileiras` runs this program.
fn check_path(installation: &Installation, report: &mut Report) {
    const SUBJECT: &str = "PATH";
    let (Some(program), Some(path)) = (&installation.program, &installation.surroundings.path) else { return };
    let launcher = installation.package.as_ref().map(|p| &p.launcher);
    let first = std::env::split_paths(path)
        .filter(|d| !d.as_os_str().is_empty())
        .map(|d| d.join("tileiras"))
        .find(|f| f.is_file());
    match first {
        None => {
            let directory = launcher.unwrap_or(program).parent();
            let fix = directory.map_or(String::new(), |d| format!("put '{}' on PATH", d.display()));
            report.doubtful(SUBJECT, "tileiras is not on PATH", fix);
        }
        Some(file) if is_same(&file, program) || launcher.is_some_and(|l| is_same(&file, l)) => {
            report.good(SUBJECT, format!("'tileiras' is '{}'", file.display()));
        }
        Some(file) => {
            let text = format!("'tileiras' is '{}', not this program '{}'", file.display(), program.display());
            report.doubtful(SUBJECT, text, "put this program's directory first on PATH");
        }
    }
}

fn is_same(a: &Path, b: &Path) -> bool {
    std::fs::canonicalize(a).ok() == std::fs::canonicalize(b).ok()
}

/// Checks which compiler cuTile Python uses. It prefers NVIDIA's packages over PATH if all three are installed in the
/// same version. Checks the environment of our Python package and the one on PATH.
fn check_python_packages(installation: &Installation, report: &mut Report) {
    let path = installation.surroundings.path.iter().flat_map(std::env::split_paths);
    let on_path = path.map(|d| d.join("python3")).find(|f| f.is_file());
    let of_package = installation.package.as_ref().map(|p| p.python.clone());
    // Links in the same directory belong to one environment. Links in different directories do not, whatever their
    // target.
    let is_other = |f: &PathBuf| of_package.as_ref().is_none_or(|p| p.parent() != f.parent() || !is_same(p, f));
    let pythons: Vec<PathBuf> = of_package.iter().cloned().chain(on_path.filter(is_other)).collect();
    let script = "import importlib.metadata as m\n\
                  names = ['nvidia-cuda-tileiras', 'nvidia-cuda-nvcc', 'nvidia-nvvm']\n\
                  def version(n):\n    try: return m.version(n)\n    except m.PackageNotFoundError: return None\n\
                  found = [version(n) for n in names]\n\
                  series = {'.'.join(v.split('.')[:2]) for v in found if v}\n\
                  shadowed = all(found) and len(series) == 1\n\
                  print('shadowed' if shadowed else 'free' if version('cuda-tile') else 'none')\n";
    for python in pythons {
        const SUBJECT: &str = "cuTile Python";
        let mut command = Command::new(&python);
        command.arg("-c").arg(script);
        let Ok(done) = call(installation, command) else { continue };
        match String::from_utf8_lossy(&done.output).trim() {
            "shadowed" => report.doubtful(
                SUBJECT,
                format!(
                    "the environment of '{}' contains NVIDIA's tileiras, which cuTile prefers over PATH",
                    python.display()
                ),
                "run 'pip uninstall nvidia-cuda-tileiras', or, with the Python package of this compiler, run scripts with \
                 'python -m tileiras.cutile SCRIPT'",
            ),
            "free" => {
                report.good(SUBJECT, format!("'{}' uses the first tileiras on PATH", python.display()))
            }
            _ => {}
        }
    }
}
