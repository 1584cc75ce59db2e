//! The clock under a power limit: the power that a launch draws, and the clock that a device sustains within its
//! limit.
//!
//! Each unit that is always busy at the highest clock adds a number of watts to the idle power. Voltage falls with the
//! clock, so power falls faster than the clock. A device averages over a window: a launch shorter than the window
//! keeps the highest clock regardless of its power, and a launch that follows other work starts at the clock of that
//! work.

use super::costs::Pipe;
use super::replay::Replay;
use tile_machine::{Error, Machine};

/// A machine's power numbers, in watts unless stated otherwise.
#[derive(Clone, Debug)]
pub struct PowerModel {
    pub limit: f64,
    pub idle: f64,
    /// Power added by each unit when always busy at the highest clock. `wgmma` includes reading its operands from
    /// shared memory.
    pub tensor: f64,
    pub wgmma: f64,
    pub wgmma_8bit: f64,
    pub shared: f64,
    pub l2: f64,
    pub memory: f64,
    /// Power is proportional to the clock raised to this exponent.
    pub exponent: f64,
    /// Averaging window of the device, in seconds.
    pub window: f64,
    /// The highest clock, in MHz.
    pub highest: f64,
}

/// The power that a launch draws.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Power {
    /// Watts at the highest clock, averaged over the launch.
    pub demand: f64,
    /// Watts at the clock of the prediction.
    pub watts: f64,
    pub limit: f64,
    /// The clock in MHz that the device sustains when the launch is repeated for longer than its window.
    pub sustained: f64,
}

impl PowerModel {
    /// Reads the power numbers; fails if the machine file has no measurements.
    pub fn of(machine: &Machine) -> Result<PowerModel, Error> {
        Ok(PowerModel {
            limit: machine.get("power.limit")?,
            idle: machine.get("power.idle")?,
            tensor: machine.get("power.tensor")?,
            wgmma: machine.get("power.wgmma")?,
            wgmma_8bit: machine.get("power.wgmma_8bit")?,
            shared: machine.get("power.shared")?,
            l2: machine.get("power.l2")?,
            memory: machine.get("power.memory")?,
            exponent: machine.get("power.exponent")?,
            window: machine.get("power.window")?,
            highest: machine.get("clock.max")?,
        })
    }

    /// The clock in MHz at which a load of `demand` watts at the highest clock stays within the limit.
    pub fn clock(&self, demand: f64) -> f64 {
        let (may, wants) = (self.limit - self.idle, demand - self.idle);
        if wants <= may { self.highest } else { self.highest * (may / wants).powf(self.exponent.recip()) }
    }

    /// The power of a launch of which one SM was replayed. `active` is the share of SM time in which CTAs are
    /// resident, and `mhz` the clock of the prediction.
    pub(super) fn launch(&self, replay: &Replay, schedulers: f64, active: f64, mhz: f64) -> Power {
        let span = replay.ends.iter().copied().fold(1.0, f64::max);
        let busy = &replay.busy;
        let of_schedulers = (self.tensor * busy.pipes[Pipe::Tensor as usize]
            + self.wgmma * (busy.wgmma - busy.wgmma_8bit)
            + self.wgmma_8bit * busy.wgmma_8bit)
            / schedulers;
        let of_all = self.shared * busy.shared + self.l2 * busy.l2 + self.memory * busy.dram;
        let added = active * (of_schedulers + of_all) / span;
        let watts = self.idle + added * (mhz / self.highest).powf(self.exponent);
        let demand = self.idle + added;
        Power { demand, watts, limit: self.limit, sustained: self.clock(demand) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At the sustained clock the device draws its limit; below the limit it keeps the highest clock.
    #[test]
    fn clocks_keep_within_the_limit() {
        let model = PowerModel::of(&Machine::named("sm_90").unwrap()).unwrap();
        assert_eq!(model.clock(model.limit), model.highest);
        assert_eq!(model.clock(model.idle), model.highest);
        for more in [1.1, 1.5, 3.0] {
            let demand = model.idle + more * (model.limit - model.idle);
            let at = (model.clock(demand) / model.highest).powf(model.exponent);
            assert!((model.idle + (demand - model.idle) * at - model.limit).abs() < 1e-6, "{more}");
        }
        assert!(PowerModel::of(&Machine::named("sm_80").unwrap()).unwrap_err().to_string().contains("power."));
    }
}
