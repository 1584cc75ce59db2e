//! Programs as text, compiled in this process and run on the simulated device.

use crate::{cubin, full, kernels};
use ptx_sim::{Arg, Config, Device, DevicePtr, LaunchConfig, Module, Report, RunOptions, SimError};
use std::time::Duration;
use tile_interface::{DebugInfo, Emit};
use tile_targets::Target;

pub const ALL_TARGETS: &[&str] =
    &["sm_80", "sm_86", "sm_87", "sm_88", "sm_89", "sm_90", "sm_100", "sm_103", "sm_107", "sm_110", "sm_120", "sm_121"];

/// Targets and levels of this run: one target before sm_90 and one after; with the full tests, one of each generation
/// at three levels.
pub fn configurations() -> Vec<(&'static str, u8)> {
    if full() {
        ["sm_80", "sm_90", "sm_100", "sm_120"].iter().flat_map(|&t| [0, 2, 3].map(|l| (t, l))).collect()
    } else {
        vec![("sm_80", 3), ("sm_90", 0), ("sm_90", 3)]
    }
}

/// Schedules of this run; `None` is the ordinary one.
pub fn schedules() -> &'static [Option<u64>] {
    if full() { &[None, Some(1), Some(2), Some(3), Some(4), Some(5)] } else { &[None, Some(1)] }
}

/// Compiles a module in the public language to PTX.
pub fn compile(text: &str, target: &str, opt_level: u8) -> Result<String, String> {
    let target = Target::by_name(target).ok_or("no such target")?;
    let output = kernels::compile(text.as_bytes(), target, opt_level, Emit::Ptx);
    output.map(|o| o.text).map_err(|e| format!("{e}\n{text}"))
}

/// Compiles for each of the eleven targets, and checks that ptxas assembles the PTX without a message.
pub fn assemble_everywhere(text: &str, opt_level: u8) -> Result<(), String> {
    for name in ALL_TARGETS {
        let target = Target::by_name(name).ok_or("no such target")?;
        cubin::assemble(&compile(text, name, opt_level)?, target, opt_level, DebugInfo::None)?;
    }
    Ok(())
}

/// A device and the arguments of a launch.
pub struct Run {
    pub device: Device,
    pub arguments: Vec<Arg>,
}

impl Default for Run {
    fn default() -> Run {
        Run { device: Device::new(Config::default()), arguments: vec![] }
    }
}

impl Run {
    /// Allocates memory with the given contents and appends a pointer to it to the arguments.
    pub fn memory(&mut self, bytes: &[u8]) -> DevicePtr {
        let p = self.device.alloc_from(bytes);
        self.arguments.push(Arg::Ptr(p));
        p
    }
    pub fn scalar(&mut self, value: i32) {
        self.arguments.push(Arg::I32(value));
    }
    pub fn launch(
        &mut self,
        module: &Module,
        entry: &str,
        blocks: u32,
        schedule: Option<u64>,
    ) -> Result<Report, SimError> {
        let config = LaunchConfig { grid: [blocks, 1, 1], args: &self.arguments, ..LaunchConfig::default() };
        let options = RunOptions {
            adversarial: schedule,
            strict: true,
            max_time: Some(Duration::from_secs(60)),
            ..RunOptions::default()
        };
        self.device.launch(module, entry, &config, &options)
    }
    pub fn read(&self, p: DevicePtr, bytes: usize) -> Vec<u8> {
        let mut out = vec![0; bytes];
        self.device.read(p, &mut out).expect("it is allocated and written");
        out
    }
}

/// A pseudorandom sequence that is the same in every run.
pub struct Numbers(pub u64);
impl Numbers {
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        self.0 >> 24
    }
    pub fn below(&mut self, n: u64) -> u64 {
        self.draw() % n
    }
}

/// Little-endian bytes of the low `bits` of each number. Two 4-bit numbers make a byte.
pub fn pack(values: &[u64], bits: u32) -> Vec<u8> {
    match bits {
        4 => values.chunks(2).map(|pair| (pair[0] | pair.get(1).map_or(0, |high| high << 4)) as u8).collect(),
        _ => values.iter().flat_map(|v| v.to_le_bytes()[..bits as usize / 8].to_vec()).collect(),
    }
}
pub fn unpack(bytes: &[u8], bits: u32) -> Vec<u64> {
    if bits == 4 {
        return bytes.iter().flat_map(|b| [u64::from(b & 15), u64::from(b >> 4)]).collect();
    }
    let number = |c: &[u8]| c.iter().rev().fold(0, |v, b| v << 8 | u64::from(*b));
    bytes.chunks(bits as usize / 8).map(number).collect()
}
