//! Running ptxas.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tile_diag::{Code, Diagnostic};
use tile_targets::{Feature, PtxVersion, Target};

use crate::child;
use crate::io_text;
use crate::resources::{self, KernelResources};
use crate::toolchain::{self, Search, Surroundings};
use tile_interface::scope;
use tile_interface::{DebugInfo, Emit};

/// One assembly job.
#[derive(Debug, Clone)]
pub struct Job<'a> {
    pub ptx: &'a str,
    pub target: &'static Target,
    /// 0 to 3.
    pub opt_level: u8,
    pub debug: DebugInfo,
    /// Whether kernels may use the maximum shared memory of a CTA, beyond what PTX guarantees.
    pub extended_shared: bool,
    /// The sanitizer to instrument the code for.
    pub sanitize: Option<&'a str>,
    /// Passed to ptxas after all other arguments.
    pub extra: &'a [OsString],
    /// Zero or `None`: no limit.
    pub timeout: Option<Duration>,
    /// The directory for temporary files.
    pub scratch: &'a Path,
    /// Whether to collect [`Cubin::resources`].
    pub statistics: bool,
}

/// The ptxas option that allows kernels to use the maximum shared memory of a CTA. Without it, static shared memory
/// is limited to 48 KiB up to sm_89.
const EXTENDED_SHARED: &str = "enable-extended-smem";

/// Whether to compile for ptxas with [`EXTENDED_SHARED`] by default: if the target has more memory, and the PTX is
/// assembled by this command and not by another assembler.
pub fn extends_shared(target: &Target, emit: Emit) -> bool {
    emit >= Emit::Cubin && target.limits.has_extended_shared()
}

/// The pipeline option of the compiler with the same meaning.
pub const EXTENDED_SMEM: &str = "extended-smem";

/// The result of ptxas.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cubin {
    pub image: Vec<u8>,
    /// The messages of ptxas, without the statistics.
    pub messages: Vec<u8>,
    pub resources: Vec<KernelResources>,
}

#[derive(Debug, thiserror::Error)]
pub enum PtxasError {
    #[error("ptxas, NVIDIA's assembler, was not found")]
    NotFound(Search),
    #[error("no installed ptxas can assemble PTX {needed} for {target}")]
    TooOld { found: Vec<(PathBuf, Option<String>)>, needed: String, target: &'static str, toolkit: &'static str },
    #[error("ptxas failed with {status}")]
    Failed { program: PathBuf, status: String, messages: Vec<u8> },
    #[error("ptxas did not finish within {} s", .0.as_secs_f32())]
    TimedOut(Duration),
    #[error("Failed to create temporary file: {}", io_text(.0))]
    Scratch(io::Error),
    #[error("'{}' cannot be started: {}", .0.display(), io_text(.1))]
    Start(PathBuf, io::Error),
}

/// Assembles with the first suitable ptxas. One that does not support the PTX version or the target is skipped.
pub fn assemble(
    job: &Job<'_>,
    explicit: Option<&Path>,
    surroundings: &Surroundings,
) -> (Vec<String>, Result<Cubin, PtxasError>) {
    assemble_by(None, job, explicit, surroundings)
}

/// [`assemble`] with a ptxas that was started for the same job before its PTX was complete.
pub fn assemble_by(
    waiting: Option<Waiting>,
    job: &Job<'_>,
    explicit: Option<&Path>,
    surroundings: &Surroundings,
) -> (Vec<String>, Result<Cubin, PtxasError>) {
    let _scope = scope::enter(scope::SERIALIZE_GPU_MODULE);
    let search = toolchain::search("ptxas", explicit, surroundings);
    let warnings = search.warnings.clone();
    match waiting.and_then(|waiting| waiting.assemble(job)) {
        Some(result) => (warnings, result),
        None => (warnings, assemble_with(job, search)),
    }
}

fn assemble_with(job: &Job<'_>, search: Search) -> Result<Cubin, PtxasError> {
    if search.found.is_empty() {
        return Err(PtxasError::NotFound(search));
    }
    for program in &search.found {
        match run(job, program) {
            Err(PtxasError::Failed { messages, .. }) if is_too_old(&messages) => {}
            result => return result,
        }
    }
    let found = search.found.iter().map(|p| (p.clone(), release_of(p))).collect();
    let version = tile_targets::scan::scan(job.ptx).ok().map(|m| m.version.value);
    Err(PtxasError::TooOld {
        found,
        needed: version.map_or("of this version".to_owned(), |v| v.to_string()),
        target: job.target.ptx_target,
        toolkit: version.map_or("13.0", PtxVersion::first_toolkit),
    })
}

/// A ptxas that waits for its input. It is started while the PTX is still being generated, which hides its start-up
/// time.
///
/// It reads a pipe that can hold the whole text, so that neither side blocks on the other. With debug information
/// ptxas reads its input twice, which a pipe does not support.
#[derive(Debug)]
pub struct Waiting {
    running: child::Running,
    program: PathBuf,
    input: io::PipeWriter,
    capacity: usize,
    output: File,
}

impl Waiting {
    /// Starts the first ptxas that is found, without the job's PTX. On `None`, [`assemble_by`] uses the regular path,
    /// which reports errors.
    pub fn start(job: &Job<'_>, explicit: Option<&Path>, surroundings: &Surroundings) -> Option<Waiting> {
        const LONGEST: usize = 1 << 20;
        if job.debug != DebugInfo::None {
            return None;
        }
        let program = toolchain::search("ptxas", explicit, surroundings).found.into_iter().next()?;
        let output = child::memory_file(job.scratch).ok()?;
        let (reader, input, capacity) = child::pipe_with_capacity(LONGEST).ok()?;
        let command = command(job, &program, &reader, &output);
        let running = child::Running::start(&command, &[reader.as_raw_fd(), output.as_raw_fd()]).ok()?;
        Some(Waiting { running, program, input, capacity, output })
    }

    /// Sends the PTX. `None` if another ptxas must be tried, or if the text is too long for the pipe.
    fn assemble(self, job: &Job<'_>) -> Option<Result<Cubin, PtxasError>> {
        let Waiting { running, program, mut input, capacity, output } = self;
        if job.ptx.len() > capacity {
            return None;
        }
        // If ptxas has already exited, its output says why.
        let _ = input.write_all(job.ptx.as_bytes());
        drop(input);
        let done = running.finish(job.timeout).ok()?;
        match conclude(job, &program, done, output) {
            Err(PtxasError::Failed { messages, .. }) if is_too_old(&messages) => None,
            result => Some(result),
        }
    }
}

fn run(job: &Job<'_>, program: &Path) -> Result<Cubin, PtxasError> {
    // These files vanish however this process ends.
    let scratch = || child::memory_file(job.scratch).map_err(PtxasError::Scratch);
    let (mut input, output) = (scratch()?, scratch()?);
    input.write_all(job.ptx.as_bytes()).and_then(|()| input.rewind()).map_err(PtxasError::Scratch)?;
    let files = [input.as_raw_fd(), output.as_raw_fd()];
    let command = command(job, program, &input, &output);
    let done = child::run(command, &files, job.timeout).map_err(|e| PtxasError::Start(program.to_owned(), e))?;
    conclude(job, program, done, output)
}

fn command(job: &Job<'_>, program: &Path, input: &impl AsRawFd, output: &File) -> Command {
    let mut command = Command::new(program);
    // For a small kernel, ptxas spends a fifth of its time in page faults of its heap.
    child::request_large_allocations(&mut command);
    command.args(["-arch", job.target.ptx_target, "--opt-level", &job.opt_level.to_string()]);
    match job.debug {
        DebugInfo::None => {}
        DebugInfo::Lines => {
            command.arg("-lineinfo");
        }
        DebugInfo::Full => {
            command.arg("-g");
        }
    }
    if let Some(tool) = job.sanitize {
        command.args(["--sanitize", tool]);
        if job.target.has(Feature::Tcgen05) {
            command.arg("-g-tmem-access-check");
        }
    }
    if job.extended_shared {
        command.arg(format!("--{EXTENDED_SHARED}=true"));
    }
    if job.statistics {
        command.arg("--verbose");
    }
    command.arg(child::descriptor_path(input)).arg("-o").arg(child::descriptor_path(output)).args(job.extra);
    command
}

/// Evaluates a finished ptxas.
fn conclude(job: &Job<'_>, program: &Path, done: child::Finished, mut output: File) -> Result<Cubin, PtxasError> {
    if done.timed_out {
        return Err(PtxasError::TimedOut(job.timeout.unwrap_or_default()));
    }
    let failed = |status: String, messages| PtxasError::Failed { program: program.to_owned(), status, messages };
    if !done.status.success() {
        return Err(failed(done.status.to_string(), done.output));
    }
    let mut image = Vec::new();
    output.rewind().and_then(|()| output.read_to_end(&mut image)).map_err(PtxasError::Scratch)?;
    if let Some(wrong) = image_defect(&image) {
        return Err(failed(format!("success, but {wrong}"), done.output));
    }
    let (messages, resources) = if job.statistics {
        let text = String::from_utf8_lossy(&done.output);
        let kept: String = text.split_inclusive('\n').filter(|l| !resources::is_statistics(l)).collect();
        let mut kernels = resources::parse(&text);
        resources::complete(&mut kernels, job.ptx);
        (kept.into_bytes(), kernels)
    } else {
        (done.output, Vec::new())
    };
    Ok(Cubin { image, messages, resources })
}

/// The reason why an image is not a cubin, that is, a complete ELF file for NVIDIA GPUs. `None` if it is one.
fn image_defect(image: &[u8]) -> Option<&'static str> {
    const GPU: u64 = 190;
    if !image.starts_with(b"\x7fELF") {
        return Some("it wrote no image");
    }
    let number = |at: usize, bytes: usize| {
        let field = image.get(at..at + bytes)?;
        Some(field.iter().rev().fold(0u64, |number, byte| number << 8 | u64::from(*byte)))
    };
    // 64 bits, little-endian.
    if image.get(4..6) != Some(&[2, 1]) || number(18, 2) != Some(GPU) {
        return Some("its image is not for a GPU");
    }
    let table = |at: usize, size: usize, count: usize| {
        number(at, 8)?.checked_add(number(size, 2)? * number(count, 2)?).filter(|end| *end <= image.len() as u64)
    };
    let whole =
        table(32, 54, 56).and(table(40, 58, 60)).is_some() && number(60, 2).is_some_and(|sections| sections > 0);
    (!whole).then_some("its image is incomplete")
}

/// Whether these messages come from a ptxas that is older than its PTX.
fn is_too_old(messages: &[u8]) -> bool {
    let text = String::from_utf8_lossy(messages);
    text.contains("Unsupported .version") || text.contains("is not defined for option 'gpu-name'")
}

fn release_of(program: &Path) -> Option<String> {
    let mut command = Command::new(program);
    command.arg("--version");
    let done = child::run(command, &[], Some(Duration::from_secs(10))).ok()?;
    toolchain::release_in(&String::from_utf8_lossy(&done.output))
}

impl PtxasError {
    /// The diagnostic to report. The output of ptxas is not part of it: see [`PtxasError::messages`].
    pub fn diagnostic(&self) -> Diagnostic {
        let text = self.to_string();
        match self {
            PtxasError::NotFound(search) => {
                let mut d = Diagnostic::error(Code::PtxasNotFound, text);
                for (file, why) in &search.tried {
                    d = d.note(format!("looked for '{}' ({why})", file.display()));
                }
                if search.tried.is_empty() {
                    d = d.note("there was nothing to search: neither CUDA_HOME nor PATH is set");
                }
                d.note(
                    "install a CUDA toolkit of release 13.0 or newer or the Python package nvidia-cuda-nvcc and set CUDA_HOME, or name the file with \
                     --ptxas-path; --emit=ptx needs no ptxas",
                )
            }
            PtxasError::TooOld { found, toolkit, .. } => {
                let mut d = Diagnostic::error(Code::PtxasTooOld, text);
                for (file, release) in found {
                    let release = release.as_deref().unwrap_or("unknown");
                    d = d.note(format!("found '{}', release {release}", file.display()));
                }
                d.note(format!(
                    "install a CUDA toolkit of release {toolkit} or newer, or name its ptxas with --ptxas-path"
                ))
            }
            PtxasError::Failed { program, .. } => {
                Diagnostic::error(Code::PtxasFailed, text).note(format!("ptxas is '{}'", program.display()))
            }
            PtxasError::TimedOut(_) => Diagnostic::error(Code::PtxasTimeout, text),
            PtxasError::Scratch(_) => Diagnostic::error(Code::TemporaryFile, text),
            PtxasError::Start(..) => Diagnostic::error(Code::PtxasFailed, text),
        }
    }

    /// Whether this ptxas is too old for [`EXTENDED_SHARED`], so that the program must be compiled with less memory.
    pub fn lacks_extended_shared(&self) -> bool {
        let text = String::from_utf8_lossy(self.messages());
        text.contains("Unknown option") && text.contains(EXTENDED_SHARED)
    }

    /// The output of ptxas, to be relayed unchanged.
    pub fn messages(&self) -> &[u8] {
        match self {
            PtxasError::Failed { messages, .. } => messages,
            _ => &[],
        }
    }
}
