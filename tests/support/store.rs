//! Results that tests share: the PTX of the corpus, cubins, and their disassembly.
//!
//! Many suites look at the same programs, and nextest starts a process for each test. So results are kept in the
//! compiler's own cache, in `test-store` of the target folder. The name of a PTX entry contains the fingerprint of the
//! compiler's sources, so an edit of the compiler invalidates it. The name of a cubin contains the PTX and the digest
//! of ptxas, and that of a disassembly the cubin, so they last until their PTX changes. A test that finds no entry
//! makes it: each test can run alone.
//!
//! `cargo xtask fill-store` makes the entries that a run of all tests needs, in few processes ([`jobs`]).
//!
//! A test that must not depend on the store calls [`leave_out`].

mod jobs;

use std::env;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::{full, root};
use tile_driver::cache::Cached;
use tile_driver::ptxas::{self, Cubin, Job, PtxasError};
use tile_driver::toolchain::Surroundings;
use tile_interface::{CompileError, CompileOutput, CompileRequest, Compiler, DebugInfo, InputKind};
use tile_launch::corpus::TileRun;
use tile_targets::Target;
use tileiras::compile::{InProcess, TOOLS};

pub use jobs::{Work, jobs};

/// The folder of the store.
pub fn directory() -> &'static Path {
    static DIRECTORY: OnceLock<PathBuf> = OnceLock::new();
    DIRECTORY.get_or_init(|| {
        let program = env::current_exe().unwrap_or_default();
        let built = program.ancestors().find(|a| a.join("CACHEDIR.TAG").is_file()).map(Path::to_path_buf);
        // Elsewhere, an archive of the tests runs.
        built.unwrap_or_else(|| root().join("target")).join("test-store")
    })
}

static IS_LEFT_OUT: AtomicBool = AtomicBool::new(false);

/// Makes this process compile and assemble everything itself.
pub fn leave_out() {
    IS_LEFT_OUT.store(true, Ordering::Relaxed);
}

fn is_left_out() -> bool {
    IS_LEFT_OUT.load(Ordering::Relaxed)
}

/// A compiler with the store.
pub fn cached(compiler: &dyn Compiler) -> Cached<'_> {
    Cached { compiler, identity: &tile_version::IDENTITY, directory: directory() }
}

/// Takes results from the store. Compiles in this process what is missing.
pub struct Stored;

impl Compiler for Stored {
    fn compile(
        &self,
        request: &CompileRequest<'_>,
        report: &mut dyn FnMut(tile_diag::Diagnostic),
    ) -> Result<CompileOutput, CompileError> {
        let shared = request.kind == InputKind::PublicBytecode && !is_left_out();
        if shared { cached(&InProcess).compile(request, report) } else { InProcess.compile(request, report) }
    }
}

/// The result of ptxas.
pub fn assemble(job: &Job<'_>) -> Result<Cubin, PtxasError> {
    let surroundings = Surroundings::of_process();
    if is_left_out() {
        return ptxas::assemble(job, None, &surroundings).1;
    }
    cached(&InProcess).assemble(job, &surroundings)
}

/// The output of another program, which `key` and the contents of `files` determine.
pub fn output<E>(key: &[&[u8]], files: &[PathBuf], run: impl FnOnce() -> Result<Vec<u8>, E>) -> Result<Vec<u8>, E> {
    if is_left_out() { run() } else { cached(&InProcess).output(key, files, run) }
}

/// `tile-run` in this process, with the store.
pub fn tile_run() -> TileRun {
    TileRun::Here(|| tile_launch::Tools { compiler: &Stored, ..TOOLS })
}

/// The PTX that the command prints for a file of the corpus.
///
/// # Errors
/// The messages of the compiler.
pub fn ptx(file: &Path, target: &str, opt_level: u8, debug: DebugInfo) -> Result<String, String> {
    let input = std::fs::read(file).map_err(|e| format!("{}: {e}", file.display()))?;
    let target = Target::by_name(target).ok_or("no such target")?;
    let mut said = String::new();
    let request = CompileRequest { opt_level, debug, ..CompileRequest::new(&input, InputKind::PublicBytecode, target) };
    let output = Stored.compile(&request, &mut |d| said += &tile_diag::render::plain(&d));
    output.map(|output| output.text).map_err(|e| format!("{e}\n{said}"))
}

/// Removes the oldest entries until the store has at most `largest` bytes. Returns their number.
pub fn prune(largest: u64) -> usize {
    let list = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path());
    let state = |file: PathBuf| {
        let metadata = file.metadata().ok().filter(std::fs::Metadata::is_file)?;
        Some((metadata.modified().ok()?, metadata.len(), file))
    };
    let mut entries: Vec<_> = list(directory()).flat_map(|folder| list(&folder)).filter_map(state).collect();
    entries.sort();
    let mut size: u64 = entries.iter().map(|(_, length, _)| length).sum();
    let mut removed = 0;
    for (_, length, file) in entries {
        if size <= largest {
            break;
        }
        size -= length;
        // Another process may have removed it.
        removed += usize::from(std::fs::remove_file(file).is_ok());
    }
    removed
}
