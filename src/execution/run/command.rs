//! The steps of `tile-run`: read, compile, launch, write back, compare.

use crate::assembled::{self, AssembleError};
use crate::chosen;
use crate::cl::{self, Engine, Options};
use crate::each;
use crate::execute::{self, Outcome, check, execute};
use crate::launch::{self, Argument, Launch};
use crate::place;
use crate::progress::Bar;
use crate::reference;
use crate::types;
use ptx_sim::{Class, ClockReads, Module, RunOptions, Stats};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use tile_diag::Diagnostic;
use tile_interface::input_kind;
use tile_interface::{CompileError, CompileRequest, Compiler, DebugInfo, InputKind, Remark};
use tile_interp::machine::BrokenPromise;

/// Returns the names of a compilation's optional passes.
pub type OptionalPasses<'a> = dyn Fn(&CompileRequest<'_>) -> Result<Vec<String>, CompileError> + 'a;

/// The functions of the binary that this crate needs, because it does not link MLIR.
#[derive(Clone, Copy)]
pub struct Tools<'a> {
    pub compiler: &'a dyn Compiler,
    pub reader: &'a reference::Reader<'a>,
    /// The optional passes of a compilation, in order.
    pub optional_passes: &'a OptionalPasses<'a>,
    /// Loads functions for the reference interpreter.
    pub host_loader: &'a reference::HostLoader<'a>,
}

/// The reasons for which the command failed. Each kind has its own exit status.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error("{0}; --help explains the command")]
    Usage(String),
    #[error("{path}: {error}")]
    Read { path: String, error: std::io::Error },
    #[error("{0}")]
    Launch(#[from] launch::Error),
    #[error("no kernel given, on the command line or in the description")]
    NoKernel,
    #[error("{path}: {message}")]
    Kernel { path: String, message: String },
    #[error("{path}: {message}")]
    Compile { path: String, message: String },
    /// The arguments do not have the types of the entry.
    #[error("{0}")]
    Arguments(Box<execute::Error>),
    #[error("{schedule}: {error}")]
    Execute { schedule: String, error: Box<execute::Error> },
    #[error("{}", .0.join("\n"))]
    Wrong(Vec<String>),
    #[error("{path}: {error}")]
    Write { path: String, error: std::io::Error },
}

impl Failure {
    pub fn status(&self) -> u8 {
        match self {
            Failure::Usage(_) | Failure::Read { .. } | Failure::Launch(_) | Failure::NoKernel => 1,
            Failure::Kernel { .. } => 3,
            Failure::Compile { .. } => 5,
            Failure::Arguments(_) | Failure::Execute { .. } => 6,
            Failure::Wrong(_) => 7,
            Failure::Write { .. } => 8,
        }
    }
}

/// Runs the command with the arguments after the program's name. Returns the exit status.
pub fn run(arguments: &[OsString], tools: Tools<'_>, stdout: &mut dyn Write, stderr: &mut dyn Write) -> u8 {
    match command(arguments, tools, stdout, stderr) {
        Ok(()) => 0,
        Err(failure) => {
            let text = failure.to_string();
            for line in text.lines() {
                // Ignore a closed standard error.
                let _ = writeln!(stderr, "error: {line}");
            }
            failure.status()
        }
    }
}

fn command(
    arguments: &[OsString],
    tools: Tools<'_>,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> Result<(), Failure> {
    let mut options = cl::parse(arguments).map_err(Failure::Usage)?;
    let unprintable = |error| Failure::Write { path: "standard output".into(), error };
    if options.help {
        return stdout.write_all(cl::HELP.as_bytes()).map_err(unprintable);
    }
    if options.end_with_parent {
        tile_driver::child::end_with_parent()
            .map_err(|e| Failure::Usage(format!("--end-with-parent is not available: {e}")))?;
    }
    for file in &options.library_files {
        let path = file.display().to_string();
        let contents = tile_driver::files::read(file);
        let contents = contents.map_err(|error| Failure::Read { path: path.clone(), error })?;
        options.libraries.push((path, contents));
    }
    let options = options;
    let mut launch = describe(&options)?;
    let kernel = options.kernel.as_deref().or(launch.kernel.as_deref()).ok_or(Failure::NoKernel)?;
    if options.engine == Engine::Reference {
        return interpret(kernel, &options, &launch, tools, stdout, stderr);
    }
    check_types(kernel, &launch, tools)?;
    if options.check_each {
        return each::check_each(kernel, &options, &launch, tools, stdout, stderr);
    }
    if let Some(program) = &options.check_against {
        let (input, kind) = read(program)?;
        let path = program.display().to_string();
        launch.expect = each::expectations((&path, &input, kind), &options, &launch, tools, stderr)?;
    }
    let (ptx, remarks) = ptx(kernel, &options, tools.compiler, stderr)?;
    if let Some(path) = &options.save_ptx {
        std::fs::write(path, &ptx).map_err(|error| Failure::Write { path: path.display().to_string(), error })?;
    }
    let path = kernel.display().to_string();
    let module = Module::parse(&ptx).map_err(|e| Failure::Kernel { path, message: e.to_string() })?;
    let mut clocks = None;
    if options.timing {
        let read = timing((&module, &ptx, &remarks), &launch, &options, stdout)?;
        if !options.timing_run {
            return Ok(());
        }
        clocks = Some(Arc::new(read));
    }
    let mut complaints = vec![];
    let mut last = None;
    for schedule in &options.schedules {
        let shown = schedule.map_or("plain schedule".into(), |seed| format!("adversarial schedule {seed}"));
        let done = Arc::new(AtomicU64::new(0));
        let run = RunOptions {
            adversarial: *schedule,
            undefined: options.undefined,
            strict: options.strict,
            stats: options.stats,
            trace: options.trace,
            max_time: options.max_time,
            finished: Some(done.clone()),
            clocks: clocks.clone(),
            ..RunOptions::default()
        };
        let outcome = {
            let total = launch.grid.iter().fold(1u64, |n, extent| n.saturating_mul(u64::from(*extent)));
            let _bar = Bar::start(done, total, !options.quiet);
            execute(&module, &launch, &run)
        };
        if let Err(execute::Error::Run { printed, .. }) = &outcome {
            stdout.write_all(printed.as_bytes()).map_err(unprintable)?;
        }
        let outcome = outcome.map_err(|error| {
            let error = Box::new(with_line(error, &ptx));
            Failure::Execute { schedule: shown.clone(), error }
        })?;
        stdout.write_all(outcome.report.output.as_bytes()).map_err(unprintable)?;
        report(&outcome, &options, stderr);
        complaints.extend(check(&launch, &outcome).into_iter().map(|c| format!("{shown}: {c}")));
        last = Some(outcome);
    }
    stdout.flush().map_err(unprintable)?;
    if let (Some(folder), Some(outcome)) = (&options.out_dir, &last) {
        write_back(folder, &launch, outcome)?;
    }
    if complaints.is_empty() { Ok(()) } else { Err(Failure::Wrong(complaints)) }
}

/// Checks the types of the arguments if the kernel is in the public language. The compiler reports invalid programs.
fn check_types(kernel: &Path, launch: &Launch, tools: Tools<'_>) -> Result<(), Failure> {
    if kernel.extension().is_some_and(|e| e == "ptx") {
        return Ok(());
    }
    let (input, kind) = read(kernel)?;
    let Ok(program) = (tools.reader)(&input, kind, &mut |_| {}) else { return Ok(()) };
    types::check(&program, launch).map_err(|error| Failure::Arguments(Box::new(error)))
}

/// Adds the line of the source to an error while the kernel ran.
fn with_line(error: execute::Error, ptx: &str) -> execute::Error {
    match error {
        execute::Error::Run { error, printed, place } => {
            let line = place::line(&error, ptx).map_or(String::new(), |text| format!("\n  in {text}"));
            execute::Error::Run { error, printed, place: line + &place }
        }
        other => other,
    }
}

/// Predicts the launch's time. Returns the clock values for the kernel to read.
fn timing(
    (module, ptx, remarks): (&Module, &str, &[Remark]),
    launch: &Launch,
    options: &Options,
    stdout: &mut dyn Write,
) -> Result<ClockReads, Failure> {
    let failed = |e: execute::Error| Failure::Execute { schedule: "timing".into(), error: Box::new(e) };
    let machine = match options.machine.as_deref() {
        Some(name) => tile_machine::Machine::named(name),
        None => tile_machine::Machine::of_target(&module.target),
    };
    let machine = machine.map_err(|e| Failure::Usage(e.to_string()))?;
    let clock = options.timing_clock.unwrap_or_default();
    let known = match &options.timing_ptxas {
        Some(ptxas) => machine_code(ptxas, ptx, &module.target)?,
        None => ptx_sim::timing::Options { registers: options.registers, ..Default::default() },
    };
    let known = ptx_sim::timing::Options { clock, ..known };
    let mut p = execute::predict(module, launch, &machine, &known).map_err(failed)?;
    // The sources may not exist here; then the prediction contains only line numbers.
    p.read_sources(|file| std::fs::read_to_string(file).ok());
    p.notes = chosen::notes(remarks, launch.entry.as_deref(), &p, &machine);
    let files = [
        (&options.timing_json, format!("{:#}\n", p.json())),
        (&options.timing_trace, format!("{}\n", p.perfetto())),
        (&options.timing_html, p.html()),
    ];
    for (path, text) in files {
        if let Some(path) = path {
            std::fs::write(path, text).map_err(|error| Failure::Write { path: path.display().to_string(), error })?;
        }
    }
    let unprintable = |error| Failure::Write { path: "standard output".into(), error };
    stdout.write_all(p.text().as_bytes()).map_err(unprintable)?;
    stdout.flush().map_err(unprintable)?;
    Ok(p.clock_reads)
}

/// Assembles a kernel for a prediction.
fn machine_code(ptxas: &Path, ptx: &str, target: &str) -> Result<ptx_sim::timing::Options, Failure> {
    let written = |error| Failure::Write { path: "temporary file".into(), error };
    let folder = tempfile::tempdir().map_err(written)?;
    let file = folder.path().join("kernel.ptx");
    std::fs::write(&file, ptx).map_err(written)?;
    assembled::assembled(ptxas, &file, target).map_err(|error| match error {
        AssembleError::Start(..) => Failure::Usage(error.to_string()),
        _ => Failure::Compile { path: "--timing-ptxas".into(), message: error.to_string() },
    })
}

/// Runs the launch on the reference interpreter.
fn interpret(
    kernel: &Path,
    options: &Options,
    launch: &Launch,
    tools: Tools<'_>,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> Result<(), Failure> {
    let (input, kind) = read(kernel)?;
    let mut report = |d: Diagnostic| {
        let _ = writeln!(stderr, "{}", tile_diag::render::plain(&d).trim_end());
    };
    let path = kernel.display().to_string();
    let program = (tools.reader)(&input, kind, &mut report)
        .map_err(|e| Failure::Kernel { path: path.clone(), message: e.to_string() })?;
    types::check(&program, launch).map_err(|error| Failure::Arguments(Box::new(error)))?;
    let host = reference::host_functions(&program, &options.host_functions, tools.host_loader);
    let host = host.map_err(Failure::Usage)?;
    let outcome = reference::execute(&program, launch, options.limits(), &host, &mut |broken| warn(broken, stderr));
    let unprintable = |error| Failure::Write { path: "standard output".into(), error };
    if let Err(execute::Error::Assertion { printed, .. }) = &outcome {
        stdout.write_all(printed.as_bytes()).map_err(unprintable)?;
    }
    let failed = |error| Failure::Execute { schedule: "reference".into(), error: Box::new(error) };
    let outcome = outcome.map_err(failed)?.outcome;
    stdout.write_all(outcome.report.output.as_bytes()).map_err(unprintable)?;
    stdout.flush().map_err(unprintable)?;
    if let Some(folder) = &options.out_dir {
        write_back(folder, launch, &outcome)?;
    }
    let complaints = check(launch, &outcome);
    if complaints.is_empty() { Ok(()) } else { Err(Failure::Wrong(complaints)) }
}

/// Reports a broken promise.
pub(crate) fn warn(broken: &BrokenPromise, stderr: &mut dyn Write) {
    let _ = writeln!(stderr, "warning: {broken}");
}

/// Reads a file of Tile IR.
pub(crate) fn read(kernel: &Path) -> Result<(Vec<u8>, InputKind), Failure> {
    let path = || kernel.display().to_string();
    let input = tile_driver::files::read(kernel).map_err(|error| Failure::Read { path: path(), error })?;
    let kind = input_kind(kernel, &input).map_err(|e| Failure::Kernel { path: path(), message: e.to_string() })?;
    Ok((input, kind))
}

/// The launch of the command line, or the described one with the changes of the command line.
pub(crate) fn describe(options: &Options) -> Result<Launch, Failure> {
    let mut launch = match &options.launch {
        Some(path) => Launch::read(path)?,
        None => {
            let args = options.args.iter().map(|a| cl::argument(a)).collect::<Result<_, _>>()?;
            Launch { args, grid: [1; 3], ..Launch::default() }
        }
    };
    if let Some(entry) = &options.entry {
        launch.entry = Some(entry.clone());
    }
    launch.grid = options.grid.unwrap_or(launch.grid);
    launch.block = options.block.or(launch.block);
    launch.dynamic_shared = options.dynamic_shared.unwrap_or(launch.dynamic_shared);
    Ok(launch)
}

/// The PTX of a kernel: the file itself, or the result of compiling it, with remarks for a prediction.
fn ptx(
    kernel: &Path,
    options: &Options,
    compiler: &dyn Compiler,
    stderr: &mut dyn Write,
) -> Result<(String, Vec<Remark>), Failure> {
    let path = || kernel.display().to_string();
    if kernel.extension().is_some_and(|e| e == "ptx") {
        let input = tile_driver::files::read(kernel).map_err(|error| Failure::Read { path: path(), error })?;
        return String::from_utf8(input)
            .map(|text| (text, vec![]))
            .map_err(|e| Failure::Kernel { path: path(), message: format!("the text is not UTF-8: {e}") });
    }
    let (input, kind) = read(kernel)?;
    let request = CompileRequest {
        input_name: &path(),
        opt_level: options.opt_level,
        pipeline_options: &options.pipeline_options,
        plugins: &options.plugins,
        insertions: &options.insertions,
        preview: true,
        libraries: &options.libraries,
        // Predictions and errors refer to lines of the source. Line information changes no instruction.
        debug: if options.lineinfo || options.save_ptx.is_none() { DebugInfo::Lines } else { DebugInfo::None },
        remarks: options.timing,
        ..CompileRequest::new(&input, kind, options.target)
    };
    let mut report = |d| {
        let _ = writeln!(stderr, "{}", tile_diag::render::plain(&d).trim_end());
    };
    compiler.compile(&request, &mut report).map(|output| (output.text, output.remarks)).map_err(|e| match e {
        CompileError::Input => Failure::Kernel { path: path(), message: e.to_string() },
        _ => Failure::Compile { path: path(), message: e.to_string() },
    })
}

/// Trace and statistics go to standard error, because standard output belongs to the kernel.
fn report(outcome: &Outcome, options: &Options, stderr: &mut dyn Write) {
    for line in &outcome.report.trace {
        let _ = writeln!(stderr, "{line}");
    }
    if options.stats {
        let _ = stderr.write_all(stats(&outcome.report.stats).as_bytes());
    }
}

fn stats(s: &Stats) -> String {
    let mut out = format!("{:<16}{:>16}{:>16}\n", "instructions", "warp", "thread");
    for class in Class::ALL {
        if s.warp_instructions(class) > 0 {
            let name = format!("{class:?}").to_lowercase();
            out += &format!("  {name:<14}{:>16}{:>16}\n", s.warp_instructions(class), s.thread_instructions(class));
        }
    }
    out += &format!("  {:<14}{:>16}{:>16}\n", "all", s.total_warp_instructions(), s.total_thread_instructions());
    out += &format!("{:<16}{:>16}{:>16}\n", "bytes", "read", "written");
    for space in Stats::SPACES {
        let (read, written) = s.bytes(space);
        if read + written > 0 {
            out += &format!("  {space:<14}{read:>16}{written:>16}\n");
        }
    }
    for (name, n) in [
        ("blocks", s.ctas),
        ("shared-memory bank conflicts", s.bank_conflicts),
        ("barrier arrivals of warps", s.barrier_arrivals),
        ("waits on mbarriers", s.mbarrier_waits),
        ("divergent branches", s.divergent_branches),
        ("bytes of asynchronous copies", s.async_bytes),
        ("multiply-adds of matrix instructions", s.tensor_macs),
    ] {
        out += &format!("{name:<38}{n:>10}\n");
    }
    out
}

/// Writes every array under its own name. A name that occurs more than once is prefixed with the argument's number.
fn write_back(folder: &Path, launch: &Launch, outcome: &Outcome) -> Result<(), Failure> {
    let failed = |path: &Path, error| Failure::Write { path: path.display().to_string(), error };
    std::fs::create_dir_all(folder).map_err(|e| failed(folder, e))?;
    let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
    for a in launch.args.iter().flat_map(Argument::arrays) {
        *uses.entry(&a.name).or_default() += 1;
    }
    for (n, (argument, arrays)) in launch.args.iter().zip(&outcome.arrays).enumerate() {
        for (i, (a, array)) in argument.arrays().iter().zip(arrays).enumerate() {
            let name = match uses.get(a.name.as_str()) {
                Some(1) => a.name.clone(),
                _ => format!("arg{n}.{i}-{}", a.name),
            };
            let path = folder.join(name);
            array.write(&path).map_err(|e| failed(&path, e))?;
        }
    }
    Ok(())
}
