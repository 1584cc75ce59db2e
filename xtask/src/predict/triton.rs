//! Reads Triton's kernels: PTX, and for each a JSON file that describes its launch. `gpu/packer/triton_export.py`
//! writes both.

use anyhow::{Context, bail};
use ptx_sim::timing::{self, Prediction, predict};
use ptx_sim::{Arg, Config, Device, LaunchConfig, Module};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tile_launch::assembled::assembled;
use tile_machine::Machine;

/// The launch of a variant on a case.
pub struct Launch {
    ptx: PathBuf,
    kernel: String,
    grid: [u32; 3],
    shared: u32,
    args: Vec<Value>,
}

/// The kernels of a folder.
pub struct Folder {
    /// Launches by case and variant.
    pub launches: BTreeMap<(String, String), Launch>,
    /// Triton's version.
    pub version: String,
}

impl Folder {
    pub fn read(folder: &Path) -> anyhow::Result<Folder> {
        let (mut launches, mut version) = (BTreeMap::new(), String::new());
        for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
            let path = entry?.path();
            if path.extension().is_none_or(|e| e != "json") {
                continue;
            }
            let about: Value = serde_json::from_str(&std::fs::read_to_string(&path)?)?;
            let word = |key: &str| about[key].as_str().map(str::to_owned).with_context(|| format!("no {key}"));
            let launch = launch(&about, path.with_extension("ptx")).with_context(|| path.display().to_string())?;
            version = word("triton")?;
            launches.insert((word("case")?, word("config")?), launch);
        }
        if launches.is_empty() {
            bail!("no launches in {}", folder.display());
        }
        Ok(Folder { launches, version })
    }
}

fn launch(about: &Value, ptx: PathBuf) -> anyhow::Result<Launch> {
    let number = |v: &Value| v.as_u64().and_then(|n| u32::try_from(n).ok()).context("not a number");
    let kernel = about["kernel"].as_str().context("no kernel")?.to_owned();
    let mut grid = [1; 3];
    for (i, n) in grid.iter_mut().enumerate() {
        *n = number(&about["grid"][i])?;
    }
    let args = about["args"].as_array().context("no arguments")?.clone();
    Ok(Launch { ptx, kernel, grid, shared: number(&about["shared"])?, args })
}

impl Launch {
    /// Predicts the kernel at the machine's highest clock or at `mhz`.
    pub fn prediction(&self, ptxas: Option<&Path>, machine: &Machine, mhz: Option<f64>) -> anyhow::Result<Prediction> {
        let text = std::fs::read_to_string(&self.ptx).with_context(|| self.ptx.display().to_string())?;
        let module = Module::parse(&text)?;
        let mut device = Device::new(Config::default());
        let args = self.args.iter().map(|v| argument(&mut device, v)).collect::<anyhow::Result<Vec<Arg>>>()?;
        let launch =
            LaunchConfig { grid: self.grid, dynamic_shared: self.shared, args: &args, ..LaunchConfig::default() };
        let options = match ptxas {
            Some(tool) => assembled(tool, &self.ptx, &module.target)?,
            None => timing::Options::default(),
        };
        let clock = mhz.map_or(timing::Clock::Highest, timing::Clock::At);
        let options = timing::Options { clock, ..options };
        Ok(predict(&mut device, &module, &self.kernel, &launch, machine, &options)?)
    }
}

/// Returns an argument. Arrays are zeros, because the time of these kernels does not depend on their values.
fn argument(device: &mut Device, value: &Value) -> anyhow::Result<Arg> {
    let kind = value["kind"].as_str().unwrap_or_default();
    let number = &value["value"];
    let missing = || format!("argument {value}");
    Ok(match kind {
        "array" | "scratch" => {
            let bytes = value["bytes"].as_u64().with_context(missing)?;
            // A kernel that needs no scratch memory gets a null pointer.
            if bytes == 0 { Arg::U64(0) } else { Arg::Ptr(device.alloc_zeroed(bytes)) }
        }
        "i32" => Arg::I32(i32::try_from(number.as_i64().with_context(missing)?)?),
        "i64" => Arg::I64(number.as_i64().with_context(missing)?),
        "fp32" => Arg::F32(number.as_f64().with_context(missing)? as f32),
        _ => bail!("argument {value} is of unknown kind"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launches_are_read() {
        let about = serde_json::json!({
            "kernel": "k", "grid": [7, 2, 1], "shared": 1024,
            "args": [{"kind": "array", "bytes": 64}, {"kind": "i32", "value": -3}, {"kind": "fp32", "value": 0.5},
                     {"kind": "scratch", "bytes": 0}],
        });
        let launch = launch(&about, PathBuf::from("k.ptx")).unwrap();
        assert_eq!((launch.grid, launch.shared, launch.kernel.as_str()), ([7, 2, 1], 1024, "k"));
        let mut device = Device::new(Config::default());
        let args: Vec<Arg> = launch.args.iter().map(|v| argument(&mut device, v).unwrap()).collect();
        assert!(matches!(args[..], [Arg::Ptr(_), Arg::I32(-3), Arg::F32(0.5), Arg::U64(0)]));
        assert!(argument(&mut device, &serde_json::json!({"kind": "descriptor"})).is_err());
    }
}
