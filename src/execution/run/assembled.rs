//! The machine code of a kernel. From its listing the timing model takes the order of instructions, which ptxas
//! changes, and the registers of a thread.

use ptx_sim::timing;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A kernel that could not be assembled and listed.
#[derive(Debug, thiserror::Error)]
pub enum AssembleError {
    #[error("'{}' cannot be started: {}", .0.display(), .1)]
    Start(PathBuf, std::io::Error),
    #[error("'{}' failed: {}", .0.display(), .1)]
    Failed(PathBuf, String),
    #[error("no temporary file for the image: {0}")]
    Scratch(std::io::Error),
}

/// Assembles the PTX in `file`. Returns its registers per thread, and the listing of the image by the `nvdisasm` next
/// to `ptxas`. The prediction is for the highest clock.
///
/// Errors: a tool is missing, or rejects the kernel.
pub fn assembled(ptxas: &Path, file: &Path, target: &str) -> Result<timing::Options, AssembleError> {
    let folder = tempfile::tempdir().map_err(AssembleError::Scratch)?;
    let image = folder.path().join("kernel.cubin");
    let mut assembler = Command::new(ptxas);
    let statistics = run(ptxas, assembler.arg(format!("-arch={target}")).args(["-v", "-o"]).arg(&image).arg(file))?.1;
    let used = statistics.split("Used ").nth(1);
    let registers = used.and_then(|rest| rest.split(' ').next()).and_then(|count| count.parse().ok());
    let disassembler = ptxas.with_file_name("nvdisasm");
    let listing = run(&disassembler, Command::new(&disassembler).args(["-c", "-hex"]).arg(&image))?.0;
    Ok(timing::Options { registers, listing: Some(listing), clock: timing::Clock::Highest })
}

/// Runs a tool. Returns what it writes to standard output and standard error.
fn run(tool: &Path, command: &mut Command) -> Result<(String, String), AssembleError> {
    let done = command.output().map_err(|error| AssembleError::Start(tool.into(), error))?;
    let [out, err] = [done.stdout, done.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    if done.status.success() { Ok((out, err)) } else { Err(AssembleError::Failed(tool.into(), err.trim().into())) }
}
