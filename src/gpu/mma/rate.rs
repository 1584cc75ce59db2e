//! The throughput of the units.
//!
//! A row states its rate relative to 16-bit floats on the same unit, which is the same on every target. [`PEAKS`]
//! gives the rate of a unit for 16-bit floats on the targets for which it is published. Rates are per multiprocessor,
//! with operands that arrive in time.

use crate::{Row, Unit};
use tile_targets::Target;

/// The multiply-adds of 16-bit floats per clock and multiprocessor.
#[derive(Clone, Copy, Debug)]
pub struct Peak {
    pub unit: Unit,
    pub target: &'static str,
    pub per_clock: u32,
    /// The narrowest and the widest elements for which the relative rates of the rows hold.
    pub bits: [u32; 2],
    pub device: Option<Device>,
    pub source: &'static str,
}

/// Published figures of a device, from which the rate follows.
#[derive(Clone, Copy, Debug)]
pub struct Device {
    /// Dense, with 16-bit floats.
    pub teraflops: f64,
    pub multiprocessors: u32,
    pub megahertz: u32,
}

const fn device(teraflops: f64, multiprocessors: u32, megahertz: u32) -> Option<Device> {
    Some(Device { teraflops, multiprocessors, megahertz })
}

/// The published rates, by target.
pub static PEAKS: &[Peak] = &[
    Peak {
        unit: Unit::Sync,
        target: "sm_80",
        per_clock: 1024,
        bits: [1, 64],
        device: device(312.0, 108, 1410),
        source: "A100",
    },
    Peak {
        unit: Unit::Sync,
        target: "sm_89",
        per_clock: 512,
        bits: [4, 32],
        device: device(330.3, 128, 2520),
        source: "RTX 4090, f16 accumulators; f32 accumulators halve the rate on GeForce",
    },
    Peak {
        unit: Unit::Warpgroup,
        target: "sm_90",
        per_clock: 2048,
        bits: [8, 32],
        device: device(989.4, 132, 1830),
        source: "H100 SXM",
    },
    Peak {
        unit: Unit::Tensor,
        target: "sm_100",
        per_clock: 4096,
        bits: [4, 32],
        device: None,
        source: "twice the rate of `wgmma` on sm_90, according to the CUTLASS documentation",
    },
    Peak {
        unit: Unit::Sync,
        target: "sm_120",
        per_clock: 512,
        bits: [4, 32],
        device: device(419.2, 170, 2407),
        source: "RTX 5090, f16 accumulators; f32 accumulators halve the rate on GeForce",
    },
];

impl Row {
    /// The peak multiply-adds per clock and multiprocessor of a target. `None` if no figure is published, or if the
    /// target lacks the instruction.
    pub fn rate_on(&self, target: &Target) -> Option<u32> {
        let unit = match self.unit {
            Unit::BlockScale => Unit::Sync,
            Unit::TensorPair => Unit::Tensor,
            unit => unit,
        };
        let peak = PEAKS.iter().find(|p| p.unit == unit && p.target == target.name)?;
        let known = (peak.bits[0]..=peak.bits[1]).contains(&self.container) && self.is_on(target);
        known.then(|| peak.per_clock * self.rate / 16)
    }
}
