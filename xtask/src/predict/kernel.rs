//! The PTX of a timed kernel, and its prediction on a case.

use super::launches::{Case, Launches, Step};
use anyhow::{Context, bail};
use ptx_sim::timing::{self, Prediction, predict};
use ptx_sim::{Config, Device, LaunchConfig, Module};
use std::path::{Path, PathBuf};
use std::process::Command;
use tile_launch::assembled::assembled;
use tile_machine::Machine;

/// The kernels' files and launches, and the machine to predict for.
pub struct Source<'a> {
    /// Folder with `VARIANT.ptx`, `VARIANT.ours.ptx` as packed by the GPU kit, or `VARIANT.tileirbc`.
    pub kernels: &'a Path,
    /// The launches of the variants.
    pub launches: &'a Launches,
    /// Options for the compiler that compiles bytecode.
    pub compile: &'a [String],
    pub ptxas: Option<&'a Path>,
    pub machine: &'a Machine,
}

impl Source<'_> {
    /// Predicts a variant on a case, at the machine's highest clock or at `mhz`. `grid` is the grid of the first
    /// kernel. The times of further kernels are added; the rest of the prediction describes the first.
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

    /// Returns the PTX of a variant without its name, to compare the code of variants.
    pub fn code(&self, variant: &str) -> anyhow::Result<String> {
        Ok(self.ptx(variant)?.0.replace(variant, "KERNEL"))
    }

    /// Returns the PTX of a variant, and a file that contains it.
    fn ptx(&self, variant: &str) -> anyhow::Result<(String, PtxFile)> {
        let found = [".ptx", ".ours.ptx", ".tileirbc"].map(|ending| self.kernels.join(format!("{variant}{ending}")));
        let Some(path) = found.iter().find(|p| p.is_file()) else {
            bail!("there is no {}, .ours.ptx or .tileirbc", found[0].display());
        };
        let file = if path.extension().is_some_and(|e| e == "tileirbc") {
            self.compiled(path)?
        } else {
            PtxFile::Given(path.clone())
        };
        let text = std::fs::read_to_string(file.path()).with_context(|| file.path().display().to_string())?;
        Ok((text, file))
    }

    /// Compiles bytecode to PTX with the `tileiras` next to this program.
    fn compiled(&self, bytecode: &Path) -> anyhow::Result<PtxFile> {
        let tileiras = std::env::current_exe()?.with_file_name("tileiras");
        let name = bytecode.file_stem().unwrap_or_default().to_string_lossy();
        let file = PtxFile::Scratch(scratch(&format!("{name}.ptx")));
        let mut command = Command::new(&tileiras);
        command.arg(format!("--gpu-name={}", self.machine.name)).args(["-O3", "--emit=ptx"]).args(self.compile);
        let done = command.arg(bytecode).arg("-o").arg(file.path()).output();
        let done =
            done.with_context(|| format!("{} (build it: cargo build --workspace --bins)", tileiras.display()))?;
        if !done.status.success() {
            let said = String::from_utf8_lossy(&done.stderr);
            bail!("the compiler rejects it: {}", said.lines().next().unwrap_or_default());
        }
        Ok(file)
    }
}

/// A PTX file: one that was given, or a temporary one that is deleted when it is dropped.
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
            // A leftover temporary file does no harm.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Returns a path in the temporary folder that no other thread or process uses.
fn scratch(name: &str) -> PathBuf {
    let thread = std::thread::current().id();
    std::env::temp_dir().join(format!("predict-{}-{thread:?}-{name}", std::process::id()))
}
