//! The control flow of one call, from arguments to exit status.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tile_diag::{Code, Diagnostic, Severity, render};

use crate::batch;
use crate::cache;
use crate::cl;
use crate::completions::{self, Shell};
use crate::crash;
use crate::doctor::{self, Installation, PythonPackage, Verdict};
use crate::files;
use crate::hostobj;
use crate::manual;
use crate::options::{self, DiagnosticFormat, Options, SPECS};
use crate::output::{self, OutputError};
use crate::panics::last_panic;
use crate::ptxas::{self, Cubin, Job, Waiting};
use crate::remarks::{self, RemarkFormat};
use crate::resources::{self, KernelResources};
use crate::shared::RemoteUse;
use crate::subcommand::{self, Subcommand};
use crate::toolchain::{self, Surroundings};
use crate::{Core, Identity, help, io_text, response};
use tile_interface::{CompileError, CompileOutput, CompileRequest, Emit, InputKind, NotTileIr, input_kind, scope};

mod diff;
mod explore;
mod input;
mod libraries;
mod numerics;
mod remark_file;
mod reproducers;
mod schedules;
mod settings;
mod tune;

pub use input::is_module;
use settings::Settings;

/// The bytecode versions that `--list-versions` prints, oldest first. Clients emit the newest of them, so every
/// feature of a listed version must compile.
pub const BYTECODE_VERSIONS: &[(u8, u8)] = &[(13, 1), (13, 2), (13, 3), (13, 4), (13, 5)];

/// Environment variable that a program sets for the core program that it starts.
const DELEGATED: &str = "TILEIRAS_DELEGATED";

/// The values of [`DELEGATED`].
const REMOTE: [(&str, RemoteUse); 3] =
    [("1", RemoteUse::Full), ("missed", RemoteUse::StoreOnly), ("left-alone", RemoteUse::Off)];

/// What the program that started this core found out about the remote cache. `None` if no program started it.
fn delegated() -> Option<RemoteUse> {
    let word = std::env::var_os(DELEGATED)?;
    Some(REMOTE.iter().find(|(w, _)| word == *w).map_or(RemoteUse::Full, |(_, remote)| *remote))
}

/// The result of the cache lookup before the core is started.
enum CacheLookup {
    /// The output came from a cache and is written.
    Hit,
    /// How the core may use the remote cache.
    Miss(RemoteUse),
}

/// The closing line of every failed compilation.
const FAILED: &str = "failed to compile Tile IR program";

/// Ends the command. All diagnostics have been reported.
struct Exit(u8);

type Result<T, E = Exit> = std::result::Result<T, E>;

/// Runs the command and returns its exit status.
pub fn run(
    arguments: Vec<OsString>,
    identity: &Identity,
    core: &Core<'_>,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> u8 {
    let argv0 = arguments.first().cloned().unwrap_or_else(|| "tileiras".into());
    let last = matches!(core, Core::Guarded(_));
    let mut session =
        Session { stdout, stderr, format: DiagnosticFormat::Auto, source: None, kept: None, last_error: None, last };
    match session.run(arguments, &argv0, identity, core) {
        Ok(()) => 0,
        Err(Exit(status)) => status,
    }
}

struct Session<'a> {
    stdout: &'a mut dyn Write,
    stderr: &'a mut dyn Write,
    format: DiagnosticFormat,
    /// Name and text of a textual input, for excerpts.
    source: Option<(String, String)>,
    /// The diagnostics of this compilation, collected for the cache.
    kept: Option<cache::Messages>,
    /// The error that ended the command.
    last_error: Option<String>,
    /// Whether the process exits with the command.
    last: bool,
}

impl Session<'_> {
    fn run(&mut self, arguments: Vec<OsString>, argv0: &OsString, identity: &Identity, core: &Core<'_>) -> Result<()> {
        let program = Path::new(argv0).file_name().unwrap_or_default().to_string_lossy().into_owned();
        let arguments = match response::expand(arguments) {
            Ok(arguments) => arguments,
            Err(e) => return Err(self.command_line_error(&format!("{program}: {e}"))),
        };
        if let Some((subcommand, rest)) = subcommand::of(&arguments) {
            return self.subcommand(subcommand, rest, identity, core);
        }
        let parsed = cl::parse(SPECS, &arguments, 1);
        self.format = options::diagnostic_format(&parsed);
        for line in &parsed.errors {
            self.command_line_error(line);
        }
        if let Some(action) = parsed.action {
            return self.write_stdout(&action_text(action, &program, identity));
        }
        if !parsed.errors.is_empty() {
            return Err(Exit(1));
        }
        if parsed.flag("list-versions") {
            let lines: String = BYTECODE_VERSIONS.iter().map(|(major, minor)| format!("{major}.{minor}\n")).collect();
            return self.write_stdout(&lines);
        }
        if let Some(code) = parsed.text("explain") {
            return self.explain(&code.to_string_lossy());
        }
        if parsed.flag("preview-create-tile-lib") {
            return self.create_library(&parsed);
        }
        let Some(input) = parsed.positionals.first() else {
            self.write_stdout(&help::COMPILER.text(&program, false, false))?;
            return Err(self.fail(Diagnostic::error(Code::NoInput, "no input file provided")));
        };
        let mut options = options::options(&parsed, PathBuf::from(input));
        options.remote = delegated().unwrap_or_default();
        match core {
            Core::Program(name) => {
                let remote = match self.look_up(&options, identity)? {
                    CacheLookup::Hit => return Ok(()),
                    CacheLookup::Miss(remote) => remote,
                };
                // This program outlives a crash of the core, so it writes the reproducer.
                let done = self.delegate(name, &arguments, argv0, remote);
                self.write_reproducer(done, &options, &arguments, identity)
            }
            Core::Guarded(compiler) => {
                let done = match crash::forerunner() {
                    Some(signal) => Err(self.report_signal(signal)),
                    None => self.compile_guarded(&options, &arguments, identity, *compiler),
                };
                self.write_reproducer(done, &options, &arguments, identity)
            }
            Core::InProcess(compiler) => {
                let done = self.compile(&options, identity, *compiler);
                if delegated().is_some() { done } else { self.write_reproducer(done, &options, &arguments, identity) }
            }
        }
    }

    /// Prints requested text. A closed pipe is not an error: its reader has read enough.
    fn write_stdout(&mut self, text: &str) -> Result<()> {
        match self.stdout.write_all(text.as_bytes()).and_then(|()| self.stdout.flush()) {
            Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
                Err(self.fail(Diagnostic::error(Code::WriteFailed, OutputError::Write(e).to_string())))
            }
            _ => Ok(()),
        }
    }

    fn subcommand(
        &mut self,
        subcommand: &Subcommand,
        rest: &[OsString],
        identity: &Identity,
        core: &Core<'_>,
    ) -> Result<()> {
        match (subcommand.name(), rest) {
            (_, [only]) if only == "--help" || only == "-h" => self.write_stdout(&subcommand.help()),
            ("doctor", []) => self.doctor(identity, core),
            ("batch", [_, ..]) => self.batch(rest),
            ("tune", [_, ..]) => self.tune(rest, identity, core),
            ("replay", [file]) => self.replay(file),
            ("explain-schedule", [_, ..]) => self.explain_schedule(rest),
            ("explore", [_, ..]) => self.explore(rest, identity),
            ("diff", [_, ..]) => self.diff(rest, identity),
            ("numerics", [_, ..]) => self.numerics(rest, identity),
            ("completions", [shell]) => self.completions(&shell.to_string_lossy()),
            ("man", []) => {
                self.write_stdout(&manual::page(&help::COMPILER, "tileiras", &format!("tileiras {}", identity.version)))
            }
            ("explain", [code]) => self.explain(&code.to_string_lossy()),
            _ => Err(self.command_line_error(&format!("tileiras: usage: tileiras {}", subcommand.usage))),
        }
    }

    fn doctor(&mut self, identity: &Identity, core: &Core<'_>) -> Result<()> {
        let installation = Installation {
            program: std::env::current_exe().ok(),
            core: match core {
                Core::Program(name) => Some((*name).to_owned()),
                Core::InProcess(_) | Core::Guarded(_) => None,
            },
            version: version_text(identity).lines().next().unwrap_or_default().to_owned(),
            surroundings: Surroundings::of_process(),
            package: PythonPackage::of_process(),
            scratch: scratch_directory(),
            timeout: Duration::from_secs(60),
        };
        let findings = doctor::examine(&installation);
        self.write_stdout(&doctor::text(&findings))?;
        match findings.iter().find(|f| f.verdict == Verdict::Failure) {
            None => Ok(()),
            Some(_) => Err(Exit(Code::PtxasNotFound.exit_status())),
        }
    }

    fn batch(&mut self, arguments: &[OsString]) -> Result<()> {
        let call = batch::call(arguments).map_err(|e| self.command_line_error(&format!("tileiras: batch: {e}")))?;
        let name = call.manifest.display();
        let text = files::read_text(&call.manifest).map_err(|e| {
            let text = format!("unable to read input file '{name}': {}", io_text(&e));
            self.fail(Diagnostic::error(Code::UnreadableInput, text))
        })?;
        let items = batch::parse(&text)
            .map_err(|e| self.fail(Diagnostic::error(Code::BadConfiguration, format!("the manifest '{name}': {e}"))))?;
        let program = std::env::current_exe().map_err(|e| {
            self.fail(Diagnostic::error(
                Code::CoreNotFound,
                format!("the path of this program is unknown: {}", io_text(&e)),
            ))
        })?;
        let base = call.manifest.parent().unwrap_or(Path::new(""));
        // Compilations share findings through this directory. They work without it.
        let common = output::private_directory(&scratch_directory()).ok();
        let failed = batch::run(&program, (base, common.as_deref()), &items, call.jobs, self.stdout);
        if let Some(directory) = common {
            // A leftover directory is harmless.
            let _ = std::fs::remove_dir_all(directory);
        }
        let failed =
            failed.map_err(|e| self.fail(Diagnostic::error(Code::WriteFailed, OutputError::Write(e).to_string())))?;
        match failed {
            0 => Ok(()),
            n => {
                let text = format!("{n} of {} compilations failed", items.len());
                Err(self.fail(Diagnostic::error(Code::CompileFailed, text)))
            }
        }
    }

    fn completions(&mut self, shell: &str) -> Result<()> {
        match Shell::by_name(shell) {
            Some(shell) => self.write_stdout(&completions::script(&help::COMPILER, "tileiras", shell)),
            None => {
                let line = format!("tileiras: completions: '{shell}' is not one of bash, zsh and fish");
                Err(self.command_line_error(&line))
            }
        }
    }

    fn explain(&mut self, text: &str) -> Result<()> {
        match Code::parse(text) {
            Some(code) => self.write_stdout(&format!("{code}: {}\n\n{}\n", code.title(), code.explanation())),
            None => {
                let known: Vec<&str> = Code::ALL.iter().map(|c| c.text()).collect();
                let d = Diagnostic::error(Code::CommandLine, format!("unknown error code '{text}'"));
                Err(self.fail(d.note(format!("the codes are {}", known.join(", ")))))
            }
        }
    }

    /// Reports a line that is already formatted.
    fn command_line_error(&mut self, line: &str) -> Exit {
        if self.format == DiagnosticFormat::Json {
            self.report(&Diagnostic::error(Code::CommandLine, line));
        } else {
            self.write_stderr(&format!("{line}\n"));
        }
        Exit(1)
    }

    /// Writes to standard error. A failure is ignored because there is nowhere left to report it.
    fn write_stderr(&mut self, text: &str) {
        let _ = self.stderr.write_all(text.as_bytes()).and_then(|()| self.stderr.flush());
    }

    fn report(&mut self, diagnostic: &Diagnostic) {
        if let Some(kept) = &mut self.kept {
            kept.add_diagnostic(diagnostic);
        }
        let terminal = io::stderr().is_terminal();
        let source = |file: &str| match &self.source {
            Some((name, text)) if name == file => Some(text.clone()),
            _ => None,
        };
        let text = match self.format {
            DiagnosticFormat::Json => render::json(diagnostic),
            DiagnosticFormat::Plain => render::plain(diagnostic),
            DiagnosticFormat::Caret => render::caret(diagnostic, &source, terminal),
            DiagnosticFormat::Auto if terminal => render::caret(diagnostic, &source, true),
            DiagnosticFormat::Auto => render::plain(diagnostic),
        };
        self.write_stderr(&text);
    }

    /// Reports the error that ends the command.
    fn fail(&mut self, diagnostic: Diagnostic) -> Exit {
        self.report(&diagnostic);
        self.last_error = Some(diagnostic.message.clone());
        Exit(diagnostic.code.map_or(70, Code::exit_status))
    }

    /// Runs another program that does the work, and reports a crash of it.
    fn delegate(&mut self, name: &str, arguments: &[OsString], argv0: &OsString, remote: RemoteUse) -> Result<()> {
        let here = std::env::current_exe().map_err(|e| self.core_missing(name, None, &io_text(&e)))?;
        let program = here.with_file_name(name);
        let mut command = Command::new(&program);
        let word = REMOTE.iter().find(|(_, r)| *r == remote).map_or("1", |(word, _)| word);
        command.args(&arguments[1..]).arg0(argv0).env(DELEGATED, word);
        let status =
            crate::child::run_as_part(command).map_err(|e| self.core_missing(name, Some(&program), &io_text(&e)))?;
        self.exit_like(status)
    }

    /// Compiles in this process, with the guard that reports crashes.
    fn compile_guarded(
        &mut self,
        options: &Options,
        arguments: &[OsString],
        identity: &Identity,
        compiler: &dyn crate::Compiler,
    ) -> Result<()> {
        // Without the guard a crash goes unreported; everything else still works.
        let _ = crash::guard(arguments);
        let done = self.compile(options, identity, compiler);
        // The process exits without flushing standard output.
        match self.stdout.flush() {
            Err(e) if done.is_ok() => {
                Err(self.fail(Diagnostic::error(Code::WriteFailed, OutputError::Write(e).to_string())))
            }
            _ => done,
        }
    }

    /// Creates a directory for temporary files that only this user can access. The caller removes it.
    fn private_scratch(&mut self) -> Result<PathBuf> {
        output::private_directory(&scratch_directory()).map_err(|e| {
            let text = format!("Failed to create temporary file: {}", io_text(&e));
            self.fail(Diagnostic::error(Code::TemporaryFile, text))
        })
    }

    /// Compiles in a child process started like a user's command. `arguments` extends its command line.
    fn compile_in_child(&mut self, arguments: impl FnOnce(&mut Command)) -> Result<()> {
        let status = std::env::current_exe().and_then(|program| {
            let mut command = Command::new(program);
            arguments(&mut command);
            crate::child::run_as_part(command)
        });
        let status = status.map_err(|e| {
            let text = format!("cannot start this program again: {}", io_text(&e));
            self.fail(Diagnostic::error(Code::CoreNotFound, text))
        })?;
        self.exit_like(status)
    }

    /// Exits with the status of the process that did the work.
    fn exit_like(&mut self, status: std::process::ExitStatus) -> Result<()> {
        match (status.code(), status.signal()) {
            (Some(0), _) => Ok(()),
            (Some(code), _) => Err(Exit(u8::try_from(code).unwrap_or(70))),
            (None, signal) => Err(self.report_signal(signal.unwrap_or_default())),
        }
    }

    /// Reports a compiler that a signal ended.
    fn report_signal(&mut self, signal: i32) -> Exit {
        let d = Diagnostic::error(Code::Internal, format!("internal error: stopped by {}", crash::signal_name(signal)));
        let hint = match signal {
            libc::SIGKILL => "it was killed from outside, perhaps because memory ran out",
            libc::SIGXCPU | libc::SIGXFSZ => {
                "it exceeded a resource limit of the process; 'ulimit -a' shows the limits"
            }
            _ => "please report this with the input and the command line",
        };
        self.fail(d.note(hint))
    }

    fn core_missing(&mut self, name: &str, program: Option<&Path>, reason: &str) -> Exit {
        let mut d =
            Diagnostic::error(Code::CoreNotFound, format!("the compiler's core '{name}' cannot be started: {reason}"));
        if let Some(program) = program {
            d = d.note(format!("it is expected at '{}'", program.display()));
        }
        self.fail(d)
    }

    /// Reads the input and does every check that does not need the compiler.
    fn prepare(&mut self, options: &Options, identity: &Identity) -> Result<Prepared> {
        let input = files::read_or_stdin(&options.input).map_err(|e| {
            let text = format!("unable to read input file '{}': {}", options.input.display(), io_text(&e));
            self.fail(Diagnostic::error(Code::UnreadableInput, text))
        })?;
        let kind = input_kind(&options.input, &input)
            .or_else(|e| if e == NotTileIr::Unknown && input::is_module(&input) { Ok(InputKind::Text) } else { Err(e) })
            .map_err(|e: NotTileIr| self.fail(Diagnostic::error(Code::NotTileIr, e.to_string())))?;
        let kind = self.kind_with_level(kind, &input, options.start_from)?;
        let settings = self.check(options)?;
        let surroundings = Surroundings::of_process();
        let slot = cache::slot(options, settings.opt_level, &input, kind, identity, &surroundings);
        let slot = slot.map_err(|why| self.fail(Diagnostic::error(Code::BadConfiguration, why)))?;
        if matches!(kind, InputKind::Text | InputKind::LlvmIr) {
            let name = options.input.to_string_lossy().into_owned();
            self.source = String::from_utf8(input.clone()).ok().map(|text| (name, text));
        }
        Ok(Prepared { input, kind, settings, slot })
    }

    /// Writes the output if a cache has it. Otherwise returns what the core need not look up again.
    fn look_up(&mut self, options: &Options, identity: &Identity) -> Result<CacheLookup> {
        // A pipe can be read only once, so the compiling process must read it.
        if !cache::is_requested(options) || !options.input.is_file() {
            return Ok(CacheLookup::Miss(RemoteUse::Full));
        }
        let prepared = self.prepare(options, identity)?;
        let Some(slot) = prepared.slot else { return Ok(CacheLookup::Miss(RemoteUse::Full)) };
        let found = self.load_entry(&slot);
        match found.entry {
            Some(entry) => self.replay_entry(options, &prepared.settings.output, &entry).map(|()| CacheLookup::Hit),
            None if found.warnings.is_empty() => Ok(CacheLookup::Miss(RemoteUse::StoreOnly)),
            None => Ok(CacheLookup::Miss(RemoteUse::Off)),
        }
    }

    /// Looks the output up in the caches and reports their warnings.
    fn load_entry(&mut self, slot: &cache::Slot) -> cache::Found {
        let found = slot.load();
        found.warnings.iter().for_each(|text| self.report(&Diagnostic::warning(text.as_str())));
        found
    }

    /// Writes a cached output and replays its diagnostics.
    fn replay_entry(&mut self, options: &Options, output: &Path, entry: &cache::Entry) -> Result<()> {
        let (own, relayed) = entry.messages.read();
        own.iter().for_each(|diagnostic| self.report(diagnostic));
        if options.emit >= Emit::Cubin {
            // These warnings describe the current installation, so they are not cached.
            let search = toolchain::search("ptxas", options.ptxas.path.as_deref(), &Surroundings::of_process());
            search.warnings.into_iter().for_each(|text| self.report(&Diagnostic::warning(text)));
        }
        relayed.iter().for_each(|text| self.forward_messages(text.as_bytes()));
        self.write(output, &entry.output)
    }

    fn compile(&mut self, options: &Options, identity: &Identity, compiler: &dyn crate::Compiler) -> Result<()> {
        let Prepared { input, kind, mut settings, slot } = self.prepare(options, identity)?;
        if let Some(entry) = slot.as_ref().and_then(|slot| self.load_entry(slot).entry) {
            return self.replay_entry(options, &settings.output, &entry);
        }
        let input_name = options.input.to_string_lossy().into_owned();
        // From here on, diagnostics are cached with the output.
        self.kept = slot.as_ref().map(|_| cache::Messages::default());
        let asked = settings.pipeline_options.len();
        if !settings.pipeline_options.iter().any(|(name, _)| name == ptxas::EXTENDED_SMEM)
            && ptxas::extends_shared(options.target, options.emit)
        {
            settings.pipeline_options.push((ptxas::EXTENDED_SMEM.into(), "true".into()));
        }
        let request = CompileRequest {
            input: &input,
            kind,
            start_from: options.start_from,
            start_after: settings.start_after.clone(),
            print_after: settings.print_after.clone(),
            input_name: &input_name,
            target: options.target,
            opt_level: settings.opt_level,
            emit: options.emit.min(Emit::Ptx),
            debug: options.debug(),
            pipeline_options: &settings.pipeline_options,
            plugins: &options.plugins,
            insertions: &settings.insertions,
            backend: settings.backend.clone(),
            libdevice: settings.libdevice.clone(),
            instrumentation: options.instrumentation,
            keep_stages: options.save_temps || options.explore_data.is_some(),
            keep_snapshots: options.explore_data.is_some(),
            remarks: options.remarks.any() || options.explore_data.is_some(),
            strict_plans: options.strict_plans,
            preview: options.preview,
            libraries: &settings.libraries,
            host: hostobj::triple(options.host_arch, options.host_os).filter(|_| options.emit == Emit::Obj),
        };
        if options.save_temps {
            output::check_beside(&settings.output).map_err(|d| self.fail(d))?;
        }
        // ptxas starts up while the compiler works.
        let waiting = (options.emit >= Emit::Cubin).then(|| {
            let scratch = scratch_directory();
            let job = job(options, &settings, &settings.pipeline_options, ("", &scratch));
            Waiting::start(&job, options.ptxas.path.as_deref(), &Surroundings::of_process())
        });
        if self.last {
            // Must follow the start of ptxas: after a fork, pages that both processes share are copied on write one
            // small page at a time.
            crate::child::use_large_allocations();
        }
        let mut output = self.call(compiler, &request)?;
        self.save_stages(options, &settings.output, &output)?;
        let (mut cubin, mut resources) = (vec![], vec![]);
        if options.emit >= Emit::Cubin {
            let all = &settings.pipeline_options;
            (cubin, resources) = match self.assemble(waiting.flatten(), options, &settings, all, &mut output)? {
                Some(assembled) => assembled,
                None => {
                    // Only an old ptxas lacks the option, and only running it shows that.
                    let less = &all[..asked];
                    output = self.call(compiler, &CompileRequest { pipeline_options: less, ..request })?;
                    self.save_stages(options, &settings.output, &output)?;
                    self.assemble(None, options, &settings, less, &mut output)?.unwrap_or_default()
                }
            };
        }
        if let Some(file) = &options.explore_data {
            let source = self.source.as_ref().map(|(_, text)| text.as_str());
            let data = explore::exploration(options, source, &output, &resources).to_json();
            self.write(file, data.as_bytes())?;
        }
        let bytes = match options.emit {
            Emit::Cubin => cubin,
            Emit::Obj => {
                let stem = hostobj::symbol_stem(&settings.output);
                if hostobj::triple(options.host_arch, options.host_os).is_none() {
                    self.report(&hostobj::without_launch_functions());
                }
                hostobj::object(&cubin, options.target, &stem, (options.host_arch, options.host_os), &output.host)
                    .map_err(|e| self.fail(Diagnostic::error(Code::Internal, format!("internal error: {e}"))))?
            }
            _ => std::mem::take(&mut output.text).into_bytes(),
        };

        let selected = options.remarks.select(&output.remarks);
        match options.remarks.output_file() {
            Some(file) => self.write_remarks(&file, &remarks::yaml(&selected))?,
            None if options.remarks.format == RemarkFormat::CommandLine => {
                for diagnostic in remarks::diagnostics(&selected) {
                    self.report(&diagnostic);
                }
            }
            None => {}
        }
        let times = scope::take_times();
        if options.instrumentation.timing {
            for (name, spent) in times {
                self.write_stderr(&format!("timing: {} {:.1} ms\n", name.to_string_lossy(), spent.as_secs_f64() * 1e3));
            }
        }
        let entry = cache::Entry { messages: self.kept.take().unwrap_or_default(), output: bytes };
        for warning in slot.map(|slot| slot.store(&entry)).unwrap_or_default() {
            self.report(&Diagnostic::warning(warning));
        }
        // Written last: an output implies that everything else was written.
        self.write(&settings.output, &entry.output)
    }

    /// Calls the compiler and reports its failure.
    fn call(&mut self, compiler: &dyn crate::Compiler, request: &CompileRequest<'_>) -> Result<CompileOutput> {
        let mut errors = 0;
        let result = {
            let mut report = |d: Diagnostic| {
                errors += usize::from(d.severity == Severity::Error);
                self.report(&d);
            };
            catch_unwind(AssertUnwindSafe(|| compiler.compile(request, &mut report)))
                .unwrap_or_else(|_| Err(CompileError::Internal(last_panic())))
        };
        match result {
            Ok(output) => Ok(output),
            Err(CompileError::Input) if request.kind == InputKind::Text => match errors {
                0 => Err(self.fail(Diagnostic::error(Code::BadModule, CompileError::Input.to_string()))),
                _ => Err(Exit(Code::BadModule.exit_status())),
            },
            Err(CompileError::Input) => {
                Err(self.fail(Diagnostic::error(Code::BadModule, NotTileIr::Unknown.to_string())))
            }
            Err(CompileError::Configuration(text)) => Err(self.fail(Diagnostic::error(Code::BadConfiguration, text))),
            Err(CompileError::Failed) => Err(self.fail(Diagnostic::error(Code::CompileFailed, FAILED))),
            Err(CompileError::Internal(text)) => {
                let d = Diagnostic::error(Code::Internal, format!("internal error: {text}"));
                Err(self.fail(d.note("please report this with the input and the command line")))
            }
        }
    }

    fn save_stages(&mut self, options: &Options, output: &Path, compiled: &CompileOutput) -> Result<()> {
        if !options.save_temps {
            return Ok(());
        }
        // Next to the output. If that is standard output, in the current directory under the input's name.
        let stem = match output.to_str() {
            Some("-") => PathBuf::from(output::stem_of(&options.input).file_name().unwrap_or_default()),
            _ => output::stem_of(output),
        };
        let last = options.emit.min(Emit::Ptx);
        let stages = compiled.stages.iter().map(|(stage, text)| (*stage, text));
        for (stage, text) in stages.chain([(last, &compiled.text)]) {
            let mut file = stem.clone().into_os_string();
            file.push(format!(".{}", stage.extension()));
            self.write(Path::new(&file), text.as_bytes())?;
        }
        Ok(())
    }

    /// Returns the image and the resources of its kernels, or `None` if ptxas needs a program with less shared memory.
    fn assemble(
        &mut self,
        waiting: Option<Waiting>,
        options: &Options,
        settings: &Settings,
        pipeline_options: &[(String, String)],
        compiled: &mut CompileOutput,
    ) -> Result<Option<(Vec<u8>, Vec<KernelResources>)>> {
        let scratch = scratch_directory();
        let job = job(options, settings, pipeline_options, (&compiled.text, &scratch));
        let path = options.ptxas.path.as_deref();
        let (warnings, result) = ptxas::assemble_by(waiting, &job, path, &Surroundings::of_process());
        // These warnings describe the installation, not the output, so they are not cached.
        let kept = self.kept.take();
        for text in warnings {
            self.report(&Diagnostic::warning(text));
        }
        self.kept = kept;
        match result {
            Ok(Cubin { image, messages, resources }) => {
                self.forward_messages(&messages);
                compiled.remarks.extend(remarks::of_spills(&resources, &compiled.locations));
                if let Some(file) = &options.resource_usage_file {
                    self.write(file, resources::json(&resources).as_bytes())?;
                }
                Ok(Some((image, resources)))
            }
            Err(error) if job.extended_shared && error.lacks_extended_shared() => Ok(None),
            Err(error) => {
                let exit = self.fail(error.diagnostic());
                self.forward_messages(error.messages());
                if exit.0 == Code::CompileFailed.exit_status() {
                    return Err(self.fail(Diagnostic::error(Code::CompileFailed, FAILED)));
                }
                Err(exit)
            }
        }
    }

    /// Forwards another program's messages as valid UTF-8 without terminal control sequences.
    fn forward_messages(&mut self, messages: &[u8]) {
        let text = render::escape_control(&String::from_utf8_lossy(messages));
        let kept = self.kept.take();
        if self.format == DiagnosticFormat::Json {
            for line in text.lines() {
                self.report(&Diagnostic::new(Severity::Note, line));
            }
        } else {
            self.write_stderr(&text);
            if !text.is_empty() && !text.ends_with('\n') {
                self.write_stderr("\n");
            }
        }
        self.kept = kept.map(|mut kept| {
            kept.add_output(&text);
            kept
        });
    }

    fn write(&mut self, path: &Path, bytes: &[u8]) -> Result<()> {
        output::write(path, bytes, self.stdout).map_err(|e| self.output_failed(&e))
    }

    fn output_failed(&mut self, error: &OutputError) -> Exit {
        let code = match error {
            OutputError::Open(..) => Code::UnopenableOutput,
            OutputError::Write(_) => Code::WriteFailed,
        };
        self.fail(Diagnostic::error(code, error.to_string()))
    }
}

/// A checked compilation, ready to run.
struct Prepared {
    input: Vec<u8>,
    kind: InputKind,
    settings: Settings,
    /// The cache slot of the output.
    slot: Option<cache::Slot>,
}

/// The ptxas job of a compilation.
fn job<'a>(
    options: &'a Options,
    settings: &Settings,
    pipeline_options: &[(String, String)],
    (ptx, scratch): (&'a str, &'a Path),
) -> Job<'a> {
    let extended = pipeline_options.iter().rev().find(|(name, _)| name == ptxas::EXTENDED_SMEM);
    Job {
        ptx,
        target: options.target,
        opt_level: settings.opt_level,
        debug: options.debug(),
        extended_shared: extended.is_some_and(|(_, value)| value == "true" || value == "1"),
        sanitize: options.sanitize,
        extra: &options.ptxas.extra,
        timeout: settings.timeout.filter(|t| !t.is_zero()),
        scratch,
        statistics: options.resource_usage_file.is_some() || options.remarks.any() || options.explore_data.is_some(),
    }
}

/// The directory for temporary files.
fn scratch_directory() -> PathBuf {
    std::env::var_os("TMPDIR").filter(|v| !v.is_empty()).unwrap_or_else(|| "/tmp".into()).into()
}

fn action_text(action: &str, program: &str, identity: &Identity) -> String {
    match action {
        "version" => version_text(identity),
        "help-hidden" => help::COMPILER.text(program, true, false),
        "help-list" => help::COMPILER.text(program, false, true),
        "help-list-hidden" => help::COMPILER.text(program, true, true),
        _ => help::COMPILER.text(program, false, false),
    }
}

/// Two lines. Clients search them for `V13.5.0` and `release 13.5`, and use the whole text in cache keys.
pub fn version_text(identity: &Identity) -> String {
    let Identity { version, revision, sources, llvm } = identity;
    format!(
        "tileiras {version} (revision {revision}, sources {sources}, LLVM {llvm})\n\
         Tile IR compatible: Cuda compilation tools, release 13.5, V13.5.0\n"
    )
}

/// Parses a command line as [`run`] does. For tests of the option table.
#[cfg(test)]
fn parse_line(line: &str) -> cl::Parsed {
    let arguments: Vec<OsString> = std::iter::once("tileiras").chain(line.split_whitespace()).map(Into::into).collect();
    cl::parse(SPECS, &arguments, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The argument orders and spellings of all known clients.
    #[test]
    fn client_command_lines() {
        let lines = [
            "IN.bytecode -o OUT.cubin --gpu-name sm_90 -O2 --lineinfo",
            "IN.bytecode -o OUT.cubin --gpu-name sm_90 -O3 --lineinfo --remark-format=yaml --remarks=all --remarks-output-file=F",
            "--gpu-name sm_90 --opt-level 3 -o OUT.cubin IN.bytecode",
            "--gpu-name=sm_90 --opt-level=3 IN.bytecode -o OUT.cubin",
            "IN.bytecode -o OUT.cubin --gpu-name sm_90",
        ];
        for line in lines {
            let parsed = parse_line(line);
            assert_eq!(parsed.errors, Vec::<String>::new(), "{line}");
            assert_eq!(parsed.positionals, ["IN.bytecode"], "{line}");
            let o = options::options(&parsed, "IN.bytecode".into());
            assert_eq!((o.target.name, o.output.as_deref()), ("sm_90", Some(Path::new("OUT.cubin"))), "{line}");
        }
    }

    #[test]
    fn the_version_text_has_what_clients_look_for() {
        let identity = Identity { version: "0.1.0", revision: "r", sources: "s", llvm: "21.1.8" };
        let text = version_text(&identity);
        assert_eq!(text.lines().count(), 2);
        assert!(text.contains("release 13.5, V13.5.0"));
        // A client searches for the first `V` that is followed by a version.
        assert_eq!(
            text.match_indices('V').filter(|(at, _)| text[at + 1..].starts_with(|c: char| c.is_ascii_digit())).count(),
            1
        );
    }
}
