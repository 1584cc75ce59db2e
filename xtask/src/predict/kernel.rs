//! A timed kernel: its PTX, its arguments, and its prediction.

use anyhow::{Context, bail};
use ptx_sim::timing::{self, Prediction, predict};
use ptx_sim::{Arg, Config, Device, LaunchConfig, Module};
use std::path::{Path, PathBuf};
use std::process::Command;
use tile_machine::Machine;

/// Where kernels come from, and for what they are predicted.
pub struct Source<'a> {
    /// Folder with `VARIANT.ptx`, `VARIANT.ours.ptx` as the GPU kit's pack has them, or `VARIANT.tileirbc`.
    pub kernels: &'a Path,
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
    Ok(timing::Options { registers, listing: Some(listing), mhz: None })
}

impl Source<'_> {
    /// The prediction of a variant on a case, at the machine's highest clock or another.
    pub fn prediction(
        &self,
        variant: &str,
        case: &str,
        grid: [u32; 3],
        mhz: Option<f64>,
    ) -> anyhow::Result<Prediction> {
        let (text, file) = self.ptx(variant)?;
        let module = Module::parse(&text)?;
        let mut device = Device::new(Config::default());
        let args = arguments(&mut device, case)?;
        let entry = module.entries().next().context("no entry")?.to_owned();
        let launch = LaunchConfig { grid, args: &args, ..LaunchConfig::default() };
        let options = match self.ptxas {
            Some(tool) => assembled(tool, file.path(), &module.target)?,
            None => timing::Options::default(),
        };
        let options = timing::Options { mhz, ..options };
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

/// The arguments of a case, by its name: arrays of zeros, since the time of these kernels does not depend on values.
fn arguments(device: &mut Device, case: &str) -> anyhow::Result<Vec<Arg>> {
    let words: Vec<&str> = case.split(' ').collect();
    let (kind, dtype) = (words[0], words.get(1).copied().unwrap_or_default());
    let (source, result) = match dtype {
        "bf16" | "fp16" => (2, 2),
        "fp8" => (1, 2),
        "int8" => (1, 4),
        "tf32" | "f32" => (4, 4),
        _ => bail!("unknown type in case '{case}'"),
    };
    let mut out = Vec::new();
    let mut array = |shape: &[u64], bytes: u64| {
        out.push(Arg::Ptr(device.alloc_zeroed(shape.iter().product::<u64>() * bytes)));
        out.extend(shape.iter().map(|n| Arg::I32(*n as i32)));
        out.extend((0..shape.len()).map(|i| Arg::I32(shape[i + 1..].iter().product::<u64>() as i32)));
    };
    let numbers = |text: &str| -> anyhow::Result<Vec<u64>> {
        text.split('x').map(|n| n.parse().with_context(|| format!("'{n}' in case '{case}'"))).collect()
    };
    match kind {
        "mm" => {
            let [m, n, k] = numbers(words[2])?[..] else { bail!("extents in case '{case}'") };
            array(&[m, k], source);
            array(&if words.get(3) == Some(&"nt") { [n, k] } else { [k, n] }, source);
            array(&[m, n], result);
        }
        "attention" => {
            let field = |letter: char| {
                let word = words.iter().skip(2).find(|w| w.starts_with(letter) && w[1..].parse::<u64>().is_ok());
                word.and_then(|w| w[1..].parse::<u64>().ok()).with_context(|| format!("'{letter}' in case '{case}'"))
            };
            let shape = [field('b')? * field('h')?, field('s')?, field('d')?];
            (0..4).for_each(|_| array(&shape, source));
            out.push(Arg::F32(1.0 / (shape[2] as f32).sqrt()));
        }
        "vadd" => {
            let n = numbers(words[2])?;
            (0..3).for_each(|_| array(&n, source));
        }
        "softmax" | "layernorm" => {
            let shape = numbers(words[2])?;
            array(&shape, source);
            if kind == "layernorm" {
                (0..2).for_each(|_| array(&shape[1..], source));
            }
            array(&shape, result);
        }
        _ => bail!("unknown kind of case '{case}'"),
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_follow_the_names_of_cases() {
        let mut device = Device::new(Config::default());
        let mut count = |case: &str| arguments(&mut device, case).unwrap().len();
        assert_eq!(count("mm bf16 64x32x16 nt"), 15);
        assert_eq!(count("attention bf16 b2 h4 d8 s16 causal"), 4 * 7 + 1);
        assert_eq!(count("layernorm bf16 8x64"), 5 + 3 + 3 + 5);
        assert_eq!(count("vadd f32 128"), 9);
        assert!(arguments(&mut device, "mm q7 1x1x1 nt").is_err());
    }
}
