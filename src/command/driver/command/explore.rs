//! `tileiras explore`: a page that shows a program at every level.
//!
//! The compilation runs in child processes, started as a user would start them. Bytecode is first converted to text,
//! so that everything else can refer to lines of one source. The text is then compiled with line information.
//! `--explore-data` makes the compilation write its data; this process adds the SASS listing and renders the page.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tile_diag::{Code, Diagnostic};
use tile_explore::{Exploration, Kernel, Listing, Pass, Remark, lines};
use tile_interface::{Choice, CompileOutput, Emit, InputKind, RemarkSort, input_kind};

use super::{Exit, Result, Session, schedules};
use crate::cl::{self, Parsed};
use crate::options::{self, Options, SPECS};
use crate::resources::KernelResources;
use crate::toolchain::{self, Surroundings};
use crate::{Identity, files, io_text, output};

/// The option that makes the compilation write its data, see [`super::options`].
const DATA: &str = "--explore-data=";
const TRACE: &str = "--pipeline-option=schedule-trace-file=";
/// Source files larger than this many bytes are not quoted.
const LARGEST_ORIGIN: u64 = 4 << 20;

/// The parsed arguments of `explore`.
pub(super) struct Call {
    input: PathBuf,
    /// The compiler options, without input and output.
    arguments: Vec<OsString>,
    /// The parsed form of `arguments`.
    options: Options,
    output: PathBuf,
}

impl Call {
    pub(super) fn new(arguments: &[OsString]) -> Result<Self, Vec<String>> {
        let parse = |arguments: &[OsString]| {
            let all: Vec<OsString> = std::iter::once("tileiras".into()).chain(arguments.iter().cloned()).collect();
            cl::parse(SPECS, &all, 1)
        };
        let Some(schedules::Call { arguments, output }) = schedules::call(arguments) else {
            return Err(vec!["tileiras: explore: -o needs a file name".to_owned()]);
        };
        let parsed: Parsed = parse(&arguments);
        if !parsed.errors.is_empty() {
            return Err(parsed.errors);
        }
        let Some(input) = parsed.positionals.first() else { return Err(vec![]) };
        // The input may be spelled like an option's value. Removing the right argument leaves no positional argument.
        let rest = (0..arguments.len()).rev().filter(|i| arguments[*i] == *input).find_map(|i| {
            let mut rest = [&arguments[..i], &arguments[i + 1..]].concat();
            // `--` no longer precedes anything, and would end the options that are added later.
            rest.retain(|a| a != "--");
            let parsed = parse(&rest);
            (parsed.errors.is_empty() && parsed.positionals.is_empty()).then_some(rest)
        });
        let options = options::options(&parsed, input.into());
        let page = || Path::new(input.as_os_str()).with_extension("html").file_name().map(PathBuf::from);
        let output = output.map(PathBuf::from).or_else(page).unwrap_or_else(|| "explore.html".into());
        Ok(Self { input: input.into(), arguments: rest.unwrap_or_default(), options, output })
    }
}

impl Session<'_> {
    /// Compiles, then writes the page or its data.
    pub(super) fn explore(&mut self, arguments: &[OsString], identity: &Identity) -> Result<()> {
        let call = Call::new(arguments).map_err(|errors| match &errors[..] {
            [] => self.command_line_error("tileiras: explore: no input file provided"),
            errors => errors.iter().map(|e| self.command_line_error(e)).last().unwrap_or(Exit(1)),
        })?;
        output::check(&call.output).map_err(|e| self.output_failed(&e))?;
        let scratch = self.private_scratch()?;
        let explored = self.build_exploration(&call, &scratch, identity);
        // Leftovers are in a directory for temporary files.
        let _ = std::fs::remove_dir_all(&scratch);
        let exploration = explored?;
        let is_data = call.output.extension().is_some_and(|e| e == "json");
        let text = if is_data { exploration.to_json() } else { tile_explore::page(&exploration) };
        self.write(&call.output, text.as_bytes())
    }

    /// Compiles a program and collects its data.
    pub(super) fn build_exploration(
        &mut self,
        call: &Call,
        scratch: &Path,
        identity: &Identity,
    ) -> Result<Exploration> {
        let name = call.input.display();
        let bytes = files::read_or_stdin(&call.input).map_err(|e| {
            let text = format!("unable to read input file '{name}': {}", io_text(&e));
            self.fail(Diagnostic::error(Code::UnreadableInput, text))
        })?;
        let kind = input_kind(&call.input, &bytes);
        if kind == Ok(InputKind::LlvmIr) {
            let text = format!("'{name}' is LLVM IR; 'tileiras explore' needs Tile IR, or MLIR lowered from it");
            return Err(self.fail(Diagnostic::error(Code::BadConfiguration, text)));
        }
        let mut input = call.input.clone();
        if !input.is_file() {
            // A pipe can be read only once.
            input = scratch.join("input");
            self.keep(&input, &bytes)?;
        }
        let mut origins = vec![];
        if matches!(kind, Ok(InputKind::PublicBytecode | InputKind::SpecBytecode)) {
            let text = scratch.join(call.input.with_extension("mlir").file_name().unwrap_or(OsStr::new("input.mlir")));
            let read = self.compiled(call, &input, &text, scratch, &["--emit=cuda-tile"])?;
            // Unlike the emitted text, the listing has an op in each line, to which the origins refer.
            self.keep(&text, read.source.as_bytes())?;
            origins = read.origins.iter().map(|o| o.as_deref().map(quoted)).collect();
            input = text;
        }
        let mut more = vec![];
        if !call.options.device_debug {
            more.push("--lineinfo");
        }
        if call.options.emit == Emit::Obj {
            more.push("--emit=cubin");
        }
        let surroundings = Surroundings::of_process();
        let has_assembler =
            !toolchain::search("ptxas", call.options.ptxas.path.as_deref(), &surroundings).found.is_empty();
        if call.options.emit >= Emit::Cubin && !has_assembler {
            self.report(&Diagnostic::warning("ptxas was not found, so the page stops at PTX"));
            more.push("--emit=ptx");
        }
        let image = scratch.join("image");
        let mut exploration = self.compiled(call, &input, &image, scratch, &more)?;
        if call.options.emit >= Emit::Cubin && has_assembler {
            match disassembled(&image, &surroundings) {
                Ok(text) => exploration.outputs.push(tile_explore::Output {
                    level: "sass".to_owned(),
                    program: lines::of_sass(&text, &input.to_string_lossy()),
                }),
                Err(why) => self.report(&Diagnostic::warning(format!("machine code cannot be shown: {why}"))),
            }
        }
        exploration.schedules = std::fs::read_to_string(scratch.join("schedules.txt")).ok().filter(|s| !s.is_empty());
        exploration.input = call.input.to_string_lossy().into_owned();
        exploration.compiler = super::version_text(identity).lines().next().unwrap_or_default().to_owned();
        exploration.arguments = call.arguments.iter().map(|a| a.to_string_lossy().into_owned()).collect();
        if !origins.is_empty() {
            exploration.origins = origins;
        }
        Ok(exploration)
    }

    fn keep(&mut self, file: &Path, bytes: &[u8]) -> Result<()> {
        std::fs::write(file, bytes).map_err(|e| {
            let text = format!("Failed to write temporary file: {}", io_text(&e));
            self.fail(Diagnostic::error(Code::TemporaryFile, text))
        })
    }

    /// Compiles an input and reads the data that the compilation wrote.
    fn compiled(&mut self, call: &Call, input: &Path, to: &Path, scratch: &Path, more: &[&str]) -> Result<Exploration> {
        let file = scratch.join("data.json");
        let mut data = OsString::from(DATA);
        data.push(&file);
        let mut trace = OsString::from(TRACE);
        trace.push(scratch.join("schedules.txt"));
        // The compiler rejects a trace where nothing is scheduled.
        let trace = is_scheduled(&call.options).then_some(trace);
        self.compile_in_child(|command| {
            command.args(trace).arg(data).args(&call.arguments).args(more).arg("-o").arg(to).arg("--").arg(input);
        })?;
        let read = std::fs::read(&file).map_err(|e| io_text(&e)).and_then(|text| Exploration::from_json(&text));
        read.map_err(|why| self.fail(Diagnostic::error(Code::Internal, format!("internal error: no data: {why}"))))
    }
}

/// Whether the compiler schedules loops with these options.
fn is_scheduled(options: &Options) -> bool {
    let pairs = || options.pipeline_options.iter().rev().filter_map(|o| o.to_str()?.split_once('='));
    let value = |name: &str| pairs().find(|(key, _)| *key == name).map(|(_, value)| value);
    options.opt_level >= 2 && value("v2-opt-level") != Some("0") && value("pipeline-strategy") != Some("none")
}

/// The disassembly of an image, with comments that give line numbers.
fn disassembled(image: &Path, surroundings: &Surroundings) -> Result<String, String> {
    let Some(program) = toolchain::search("nvdisasm", None, surroundings).found.into_iter().next() else {
        return Err("nvdisasm was found neither next to ptxas nor on PATH".to_owned());
    };
    let run = Command::new(&program).args(["-g", "-c"]).arg(image).stdin(Stdio::null()).output();
    let Output { status, stdout, stderr } = run.map_err(|e| format!("'{}': {}", program.display(), io_text(&e)))?;
    if status.success() {
        return Ok(String::from_utf8_lossy(&stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&stderr).lines().next().unwrap_or_default().to_owned();
    Err(format!("'{}' failed: {}", program.display(), tile_diag::render::escape_control(&said)))
}

/// Formats a location as `file:line`, followed by the text of that line if the file can be read.
fn quoted(place: &str) -> String {
    let text = || {
        let (file, line) = place.rsplit_once(':')?;
        if std::fs::metadata(file).ok().filter(|m| m.is_file())?.len() > LARGEST_ORIGIN {
            return None;
        }
        let text = std::fs::read_to_string(file).ok()?;
        Some(text.lines().nth(line.parse::<usize>().ok()?.checked_sub(1)?)?.trim().to_owned())
    };
    let short = place.rsplit('/').next().unwrap_or_default();
    text().map_or_else(|| short.to_owned(), |text| format!("{short}  {text}"))
}

/// The data of a compilation, for the page.
pub(super) fn exploration(
    options: &Options,
    source: Option<&str>,
    compiled: &CompileOutput,
    kernels: &[KernelResources],
) -> Exploration {
    let input = options.input.to_string_lossy().into_owned();
    let mut origins = vec![];
    let mut steps = vec![];
    for snapshot in &compiled.snapshots {
        let program = snapshot.program.as_ref().map(|listing| {
            let own = |place: &Option<(usize, u32)>| match place {
                Some((file, line)) if listing.files[*file] == input => *line,
                _ => 0,
            };
            Listing { text: listing.text.clone(), lines: listing.locations.iter().map(own).collect() }
        });
        if let (Some(listing), true) = (&snapshot.program, origins.is_empty()) {
            let other = |place: &Option<(usize, u32)>| {
                let (file, line) = (*place)?;
                let file = &listing.files[file];
                (*file != input && !file.is_empty()).then(|| format!("{file}:{line}"))
            };
            origins = listing.locations.iter().map(other).collect();
        }
        steps.push(Pass { pass: snapshot.pass.clone(), level: snapshot.stage.name().to_owned(), program });
    }
    // If the source is text, show it as the user wrote it, with comments.
    if let (Some(text), Some(first)) = (source, steps.first_mut()) {
        let lines = (1..).take(text.lines().count()).collect();
        first.program = Some(Listing { text: text.to_owned(), lines });
        origins.clear();
    }
    let stages = compiled.stages.iter().map(|(stage, text)| (*stage, text));
    let outputs = stages.chain([(options.emit.min(Emit::Ptx), &compiled.text)]).filter_map(|(stage, text)| {
        let (level, program) = match stage {
            Emit::Llvm => ("llvm-ir", lines::of_llvm(text, &input)),
            Emit::Ptx => ("ptx", lines::of_ptx(text, &input)),
            _ => return None,
        };
        Some(tile_explore::Output { level: level.to_owned(), program })
    });
    Exploration {
        format: tile_explore::FORMAT,
        target: options.target.name.to_owned(),
        source: steps.first().and_then(|s| s.program.as_ref()).map(|p| p.text.clone()).unwrap_or_default(),
        origins,
        outputs: outputs.collect(),
        remarks: crate::remarks::notable(&compiled.remarks).map(|r| remark(r, &input)).collect(),
        kernels: kernels.iter().map(kernel).collect(),
        steps,
        ..Exploration::default()
    }
}

fn remark(remark: &tile_interface::Remark, input: &str) -> Remark {
    Remark {
        sort: match remark.sort {
            RemarkSort::Passed => "passed",
            RemarkSort::Missed => "missed",
            RemarkSort::Failed => "failed",
            RemarkSort::Analysis => "analysis",
        }
        .to_owned(),
        pass: remark.pass.clone(),
        name: remark.name.clone(),
        function: remark.function.clone(),
        message: remark.text(),
        line: remark.location.as_ref().filter(|l| l.file == input).map_or(0, |l| l.line),
        others: remark.others.iter().filter(|l| l.file == input).map(|l| l.line).collect(),
        section: if remark.is_problem() { remark.section() } else { String::new() },
        facts: remark.choice.iter().flat_map(Choice::facts).map(|(name, value)| (name.to_owned(), value)).collect(),
    }
}

fn kernel(kernel: &KernelResources) -> Kernel {
    Kernel {
        name: kernel.name.clone(),
        threads: kernel.launch.block,
        cluster: kernel.launch.cluster,
        registers: kernel.registers,
        shared_memory: kernel.shared_memory,
        stack_frame: kernel.stack_frame,
        spill_stores: kernel.spill_stores,
        spill_loads: kernel.spill_loads,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(text: &str) -> Result<Call, Vec<String>> {
        Call::new(&text.split_whitespace().map(Into::into).collect::<Vec<OsString>>())
    }

    #[test]
    fn the_input_is_recognized() {
        let of = |text: &str| {
            let call = call(text).unwrap();
            (call.input, call.arguments.join(OsStr::new(" ")), call.output)
        };
        let expected = |input: &str, rest: &str, output: &str| (input.into(), rest.into(), output.into());
        assert_eq!(of("d/k.mlir --gpu-name sm_90 -O2"), expected("d/k.mlir", "--gpu-name sm_90 -O2", "k.html"));
        assert_eq!(of("--crash-dir k k"), expected("k", "--crash-dir k", "k.html"));
        assert_eq!(of("k.mlir -o p.json").2, PathBuf::from("p.json"));
    }

    #[test]
    fn loops_are_scheduled_at_high_levels() {
        let of = |text: &str| is_scheduled(&call(&format!("k.mlir {text}")).unwrap().options);
        assert!(of("") && of("-O2") && of("--pipeline-option=v2-opt-level=1"));
        assert!(!of("-O1") && !of("-O0") && !of("--pipeline-option=opt-level=1"));
        assert!(!of("--pipeline-option=v2-opt-level=0") && !of("--pipeline-option=pipeline-strategy=none"));
    }

    #[test]
    fn invalid_arguments_are_reported() {
        assert_eq!(call("--gpu-name sm_90").err(), Some(vec![]));
        assert!(call("k.mlir -o").err().is_some_and(|e| e[0].ends_with("-o needs a file name")));
        assert!(call("k.mlir --no-such-option").err().is_some_and(|e| e[0].contains("no-such-option")));
    }

    #[test]
    fn available_origins_are_quoted() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("k.py");
        std::fs::write(&file, "a = 1\n    b = a + 1\n").unwrap();
        assert_eq!(quoted(&format!("{}:2", file.display())), "k.py:2  b = a + 1");
        assert_eq!(quoted(&format!("{}:9", file.display())), "k.py:9");
        assert_eq!(quoted("/nowhere/k.py:2"), "k.py:2");
    }
}
