//! A timed kernel: its PTX, and its prediction on a case.

use super::launches::{Case, Launches, Step};
use anyhow::{Context, bail};
use ptx_sim::timing::{self, Prediction, predict};
use ptx_sim::{Config, Device, LaunchConfig, Module};
use std::path::{Path, PathBuf};
use std::process::Command;
use tile_machine::Machine;

/// Where kernels come from, and for what they are predicted.
pub struct Source<'a> {
    /// Folder with `VARIANT.ptx`, `VARIANT.ours.ptx` as the GPU kit's pack has them, or `VARIANT.tileirbc`.
    pub kernels: &'a Path,
    /// How they are launched.
    pub launches: &'a Launches,
    /// Options for the compiler of bytecode.
    pub compile: &'a [String],
    pub ptxas: Option<&'a Path>,
    pub machine: &'a Machine,
}

/// What the assembler makes of a kernel: registers of a thread, and the image as `nvdisasm` beside it lists it.
pub fn assembled(ptxas: &Path, path: &Path, target: &str) -> anyhow::Result<timing::Options> {
    let arch = format!("-arch={target}");
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let image = scratch(&format!("{name}.cubin"));
    let done = Command::new(ptxas).args([&arch, "-v", "-o"]).arg(&image).arg(path).output();
    let text = String::from_utf8(done.with_context(|| ptxas.display().to_string())?.stderr)?;
    let registers = text.split("Used ").nth(1).and_then(|rest| rest.split(' ').next()).and_then(|n| n.parse().ok());
    let disassembler = ptxas.with_file_name("nvdisasm");
    let listing = Command::new(&disassembler).args(["-c", "-hex"]).arg(&image).output();
    let listing = String::from_utf8(listing.with_context(|| disassembler.display().to_string())?.stdout)?;
    std::fs::remove_file(&image).with_context(|| format!("{}: {text}", image.display()))?;
    Ok(timing::Options { registers, listing: Some(listing), clock: timing::Clock::Highest })
}

impl Source<'_> {
    /// The prediction of a variant on a case, at the machine's highest clock or another. `grid` is that of its own
    /// kernel; those behind it add their time, and everything else is said of the first.
    pub fn prediction(
        &self,
        variant: &str,
        case: &str,
        grid: [u32; 3],
        mhz: Option<f64>,
    ) -> anyhow::Result<Prediction> {
        let case = self.launches.case(case)?;
        let Some((first, behind)) = case.steps(variant)?.split_first() else { bail!("no launches") };
        let mut total = self.step(case, &Step { grid, ..first.clone() }, mhz)?;
        for step in behind {
            total.microseconds += self.step(case, step, mhz)?.microseconds;
        }
        Ok(total)
    }

    fn step(&self, case: &Case, step: &Step, mhz: Option<f64>) -> anyhow::Result<Prediction> {
        let (text, file) = self.ptx(&step.kernel)?;
        let module = Module::parse(&text)?;
        let mut device = Device::new(Config::default());
        let args = case.arguments(&mut device, step)?;
        let entry = module.entries().next().context("no entry")?.to_owned();
        let launch = LaunchConfig { grid: step.grid, args: &args, ..LaunchConfig::default() };
        let options = match self.ptxas {
            Some(tool) => assembled(tool, file.path(), &module.target)?,
            None => timing::Options::default(),
        };
        let clock = mhz.map_or(timing::Clock::Highest, timing::Clock::At);
        let options = timing::Options { clock, ..options };
        Ok(predict(&mut device, &module, &entry, &launch, self.machine, &options)?)
    }

    /// What tells a variant's code from that of others: the PTX without its name.
    pub fn code(&self, variant: &str) -> anyhow::Result<String> {
        Ok(self.ptx(variant)?.0.replace(variant, "KERNEL"))
    }

    /// The PTX of a variant, and a file that holds it.
    fn ptx(&self, variant: &str) -> anyhow::Result<(String, PtxFile)> {
        let found = [".ptx", ".ours.ptx", ".tileirbc"].map(|ending| self.kernels.join(format!("{variant}{ending}")));
        let Some(path) = found.iter().find(|p| p.is_file()) else {
            bail!("there is neither {} nor the like", found[0].display());
        };
        let file = if path.extension().is_some_and(|e| e == "tileirbc") {
            self.compiled(path)?
        } else {
            PtxFile::Given(path.clone())
        };
        let text = std::fs::read_to_string(file.path()).with_context(|| file.path().display().to_string())?;
        Ok((text, file))
    }

    /// The PTX that the compiler beside this program makes of bytecode.
    fn compiled(&self, bytecode: &Path) -> anyhow::Result<PtxFile> {
        let tileiras = std::env::current_exe()?.with_file_name("tileiras");
        let name = bytecode.file_stem().unwrap_or_default().to_string_lossy();
        let file = PtxFile::Scratch(scratch(&format!("{name}.ptx")));
        let mut command = Command::new(&tileiras);
        command.arg(format!("--gpu-name={}", self.machine.name)).args(["-O3", "--emit=ptx"]).args(self.compile);
        let done = command.arg(bytecode).arg("-o").arg(file.path()).output();
        let done = done.with_context(|| format!("{} (cargo build --workspace --bins makes it)", tileiras.display()))?;
        if !done.status.success() {
            let said = String::from_utf8_lossy(&done.stderr);
            bail!("the compiler refuses it: {}", said.lines().next().unwrap_or_default());
        }
        Ok(file)
    }
}

/// A file of PTX: one that was there, or one that goes when nobody needs it.
enum PtxFile {
    Given(PathBuf),
    Scratch(PathBuf),
}

impl PtxFile {
    fn path(&self) -> &Path {
        match self {
            PtxFile::Given(path) | PtxFile::Scratch(path) => path,
        }
    }
}

impl Drop for PtxFile {
    fn drop(&mut self) {
        if let PtxFile::Scratch(path) = self {
            // It lies among temporary files: one that stays is a nuisance at most.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// A place of this thread's own among the temporary files.
fn scratch(name: &str) -> PathBuf {
    let thread = std::thread::current().id();
    std::env::temp_dir().join(format!("predict-{}-{thread:?}-{name}", std::process::id()))
}
