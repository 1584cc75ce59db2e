//! Reads `launches.json`, which says how the GPU kit launches this compiler's kernels on its cases.
//! `gpu/packer/launches.py` writes it.

use anyhow::{Context, bail};
use ptx_sim::{Arg, Device};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// A launch of a variant. The first launch is the variant's own kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub kernel: String,
    pub grid: [u32; 3],
    /// Names of the parameters, in order.
    pub parameters: Vec<String>,
}

/// A case of the kit.
pub struct Case {
    pub name: String,
    /// Floating-point operations, or 0 for cases measured in bytes.
    pub flop: f64,
    pub bytes: f64,
    parameters: BTreeMap<String, Value>,
    pub variants: BTreeMap<String, Vec<Step>>,
}

/// All cases, in the kit's order.
pub struct Launches(pub Vec<Case>);

impl Launches {
    /// Reads `launches.json` of a folder of kernels.
    pub fn read(folder: &Path) -> anyhow::Result<Launches> {
        let path = folder.join("launches.json");
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("{} (gpu/packer/launches.py writes it)", path.display()))?;
        let cases: Vec<Value> = serde_json::from_str(&text)?;
        let cases = cases.iter().map(case).collect::<anyhow::Result<_>>();
        Ok(Launches(cases.with_context(|| path.display().to_string())?))
    }

    pub fn case(&self, name: &str) -> anyhow::Result<&Case> {
        self.0.iter().find(|c| c.name == name).with_context(|| format!("the kit has no case '{name}'"))
    }
}

fn case(about: &Value) -> anyhow::Result<Case> {
    let mut variants = BTreeMap::new();
    for (variant, steps) in about["variants"].as_object().context("no variants")? {
        let steps = steps.as_array().context("no launches")?.iter().map(step).collect::<anyhow::Result<_>>()?;
        variants.insert(variant.clone(), steps);
    }
    let parameters = about["parameters"].as_object().context("no parameters")?;
    Ok(Case {
        name: about["name"].as_str().context("no name")?.to_owned(),
        flop: about["flop"].as_f64().context("no operations")?,
        bytes: about["bytes"].as_f64().context("no bytes")?,
        parameters: parameters.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
        variants,
    })
}

fn step(about: &Value) -> anyhow::Result<Step> {
    let mut grid = [1; 3];
    for (i, n) in grid.iter_mut().enumerate() {
        *n = about["grid"][i].as_u64().and_then(|n| u32::try_from(n).ok()).context("no grid")?;
    }
    let names = about["parameters"].as_array().context("no parameters of a launch")?;
    let names = names.iter().map(|n| n.as_str().map(str::to_owned)).collect::<Option<_>>();
    Ok(Step {
        kernel: about["kernel"].as_str().context("no kernel")?.to_owned(),
        grid,
        parameters: names.context("a parameter without a name")?,
    })
}

impl Case {
    /// The launches of a variant.
    pub fn steps(&self, variant: &str) -> anyhow::Result<&[Step]> {
        let steps = self.variants.get(variant).map(Vec::as_slice);
        steps.with_context(|| format!("'{variant}' is not for '{}'", self.name))
    }

    /// Returns the arguments of a launch by the kernel launch ABI. Arrays are zeros, because the time of these kernels
    /// does not depend on their values. Arrays that determine the amount of work have their contents.
    pub fn arguments(&self, device: &mut Device, step: &Step) -> anyhow::Result<Vec<Arg>> {
        let mut out = Vec::new();
        for name in &step.parameters {
            let about = self.parameters.get(name).with_context(|| format!("no parameter '{name}'"))?;
            parameter(device, about, &mut out).with_context(|| format!("parameter '{name}' of '{}'", self.name))?;
        }
        Ok(out)
    }

    /// Returns the rate for a time, with its unit.
    pub fn rate(&self, microseconds: f64) -> String {
        if self.flop > 0.0 {
            format!("{:.0} TFLOP/s", self.flop / microseconds * 1e-6)
        } else {
            format!("{:.0} GB/s", self.bytes / microseconds * 1e-3)
        }
    }
}

fn parameter(device: &mut Device, about: &Value, out: &mut Vec<Arg>) -> anyhow::Result<()> {
    match about["kind"].as_str() {
        Some("f32") => out.push(Arg::F32(about["value"].as_f64().context("no value")? as f32)),
        Some("i32") => out.push(Arg::I32(about["value"].as_f64().context("no value")? as i32)),
        Some("array") => {
            let (address, sizes) = array(device, about)?;
            out.push(Arg::Ptr(address));
            out.extend(sizes.into_iter().map(|n| Arg::I32(n as i32)));
        }
        Some("list") => {
            let items = about["items"].as_array().context("no items")?;
            let mut words = Vec::new();
            for item in items {
                let (address, sizes) = array(device, item)?;
                words.push(address.0);
                words.extend(sizes);
            }
            let bytes: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
            out.push(Arg::Ptr(device.alloc_from(&bytes)));
            out.push(Arg::I32(i32::try_from(items.len())?));
        }
        _ => bail!("a parameter of unknown kind"),
    }
    Ok(())
}

/// Allocates an array. Returns its address, and its extents and strides in elements.
fn array(device: &mut Device, about: &Value) -> anyhow::Result<(ptx_sim::DevicePtr, Vec<u64>)> {
    let shape = about["shape"].as_array().context("no extents")?;
    let shape: Vec<u64> =
        shape.iter().map(Value::as_u64).collect::<Option<_>>().context("an extent is not a number")?;
    let address = match about["values"].as_array() {
        Some(values) => {
            let values = values.iter().map(|v| v.as_i64().and_then(|v| i32::try_from(v).ok()));
            let values: Vec<i32> = values.collect::<Option<_>>().context("the contents are not 32-bit integers")?;
            device.alloc_from(&values.into_iter().flat_map(i32::to_le_bytes).collect::<Vec<u8>>())
        }
        None => device.alloc_zeroed(about["bytes"].as_u64().context("no size")?),
    };
    let strides = (0..shape.len()).map(|i| shape[i + 1..].iter().product::<u64>());
    Ok((address, shape.iter().copied().chain(strides).collect()))
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A case with a list, contents and two launches.
    pub fn sample() -> Launches {
        let about = serde_json::json!({
            "name": "both bf16 4x8", "flop": 0.0, "bytes": 3e6,
            "parameters": {
                "x": {"kind": "array", "shape": [4, 8], "bytes": 64},
                "at": {"kind": "array", "shape": [2], "bytes": 8, "values": [3, -1]},
                "all": {"kind": "list", "items": [{"kind": "array", "shape": [4], "bytes": 8}]},
                "scale": {"kind": "f32", "value": 0.5}, "window": {"kind": "i32", "value": 7.0},
            },
            "variants": {"first": [
                {"kernel": "first", "grid": [7, 2, 1], "parameters": ["x", "scale", "window"]},
                {"kernel": "second", "grid": [4, 1, 1], "parameters": ["at", "all"]},
            ]},
        });
        Launches(vec![case(&about).unwrap()])
    }

    #[test]
    fn launches_are_read() {
        let launches = sample();
        let case = launches.case("both bf16 4x8").unwrap();
        let steps = case.steps("first").unwrap();
        assert_eq!((steps[0].grid, steps[1].kernel.as_str()), ([7, 2, 1], "second"));
        let mut device = Device::new(ptx_sim::Config::default());
        let args = case.arguments(&mut device, &steps[0]).unwrap();
        use Arg::{F32, I32, Ptr};
        assert!(matches!(args[..], [Ptr(_), I32(4), I32(8), I32(8), I32(1), F32(0.5), I32(7)]));
        let args = case.arguments(&mut device, &steps[1]).unwrap();
        let [Ptr(at), I32(2), I32(1), Ptr(list), I32(1)] = args[..] else { panic!("other arguments") };
        let mut bytes = [0; 8];
        device.read(at, &mut bytes).unwrap();
        assert_eq!(bytes, [3, 0, 0, 0, 255, 255, 255, 255]);
        let mut words = [0; 24];
        device.read(list, &mut words).unwrap();
        assert_eq!(words[8..], [4, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(case.rate(1000.0), "3 GB/s");
    }

    #[test]
    fn what_is_not_there_is_told() {
        let launches = sample();
        assert!(launches.case("neither").is_err());
        assert!(launches.0[0].steps("third").is_err());
    }
}
