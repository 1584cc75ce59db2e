//! Derives the device's clock during each short timing from the log of the run.
//!
//! The log says when each timing ended and how long a launch took, and therefore which kernels ran just before. The
//! power of our kernels is predicted. The power of other kernels follows from their rate of operations. The device
//! averages power over a window and lowers its clock to stay within its limit: see `ptx_sim::timing::PowerModel`.

use anyhow::Context;
use ptx_sim::timing::PowerModel;
use serde_json::Value;
use std::collections::BTreeMap;
use tile_machine::Machine;

/// The GPU kit (`gpu/kit/peers/backend.py`) times replays of a graph with as many launches as fit into this time.
const REPLAY_US: f64 = 40_000.0;
/// Short timing: a checked launch, a launch that determines the graph's size, a first replay, and three timed replays.
const SHORT: Way = Way { most: 4.0, single: 2.0, replays: 4.0 };
const SHORT_COUNTED: f64 = 3.0;
/// Precise timing, interleaved with competitors.
const PRECISE: Way = Way { most: 10.0, single: 1.0, replays: 15.0 };

struct Way {
    most: f64,
    single: f64,
    replays: f64,
}

impl Way {
    fn per_replay(&self, us: f64) -> f64 {
        (REPLAY_US / us.max(1.0)).floor().clamp(2.0, self.most)
    }

    /// Returns how long the device works, in seconds.
    fn seconds(&self, us: f64) -> f64 {
        (self.single + self.replays * self.per_replay(us)) * us * 1e-6
    }
}

/// The number of points of a timing at which the clock is computed.
const LOOKS: u32 = 4;

/// A period in which the device drew `added` watts above idle, at its highest clock.
#[derive(Debug, PartialEq)]
struct Stretch {
    from: f64,
    to: f64,
    added: f64,
}

/// A timing of the log.
struct Entry {
    case: String,
    who: String,
    variant: String,
    us: f64,
    at: f64,
    precise: bool,
}

/// Case and variant.
pub type Key = (String, String);

/// Returns the clocks in MHz of the kernels in `demands`, which gives their predicted watts at the highest clock.
pub fn clocks(
    log: &str,
    who: &str,
    machine: &Machine,
    demands: &BTreeMap<Key, f64>,
) -> anyhow::Result<BTreeMap<Key, f64>> {
    let model = PowerModel::of(machine)?;
    let added = |e: &Entry| -> anyhow::Result<f64> {
        let known = demands.get(&(e.case.clone(), e.variant.clone())).filter(|_| e.who == who);
        known.map_or_else(|| others(e, machine, &model), |watts| Ok(watts - model.idle))
    };
    let (mut stretches, mut wanted): (Vec<Stretch>, Vec<(Key, f64, f64)>) = (Vec::new(), Vec::new());
    let mut before = 0.0;
    let entries = entries(log)?;
    // Interleaved timings end together.
    for together in entries.chunk_by(|a, b| a.precise && b.precise && a.case == b.case) {
        let to = together[0].at;
        let way = if together[0].precise { PRECISE } else { SHORT };
        let (mut busy, mut work) = (0.0, 0.0);
        for e in together.iter().filter(|e| !e.who.is_empty()) {
            let seconds = way.seconds(e.us);
            busy += seconds;
            work += seconds * added(e)?;
            if !e.precise && e.who == who {
                let counted = SHORT_COUNTED * way.per_replay(e.us) * e.us * 1e-6;
                wanted.push(((e.case.clone(), e.variant.clone()), to - counted, to));
            }
        }
        if busy > 0.0 {
            stretches.push(Stretch { from: f64::max(before, to - busy), to, added: work / busy });
        }
        before = to;
    }
    let clock = |(from, to): (f64, f64)| {
        let at = |i: u32| from + (to - from) * (f64::from(i) + 0.5) / f64::from(LOOKS);
        (0..LOOKS).map(|i| model.clock(model.idle + mean(&stretches, at(i), model.window))).sum::<f64>()
            / f64::from(LOOKS)
    };
    Ok(wanted.into_iter().map(|(key, from, to)| (key, clock((from, to)))).collect())
}

/// Returns the mean power above idle over a window that ends at `at`.
fn mean(stretches: &[Stretch], at: f64, window: f64) -> f64 {
    let overlap = |s: &Stretch| (s.to.min(at) - s.from.max(at - window)).max(0.0);
    stretches.iter().map(|s| overlap(s) * s.added).sum::<f64>() / window
}

/// Estimates the power above idle of a kernel of which only the time is known: from the rate of its operations for
/// matmuls and attention, as memory-bound for others.
fn others(e: &Entry, machine: &Machine, model: &PowerModel) -> anyhow::Result<f64> {
    let words: Vec<&str> = e.case.split(' ').collect();
    let field = |letter: char| words.iter().skip(2).find_map(|w| w.strip_prefix(letter)?.parse::<f64>().ok());
    let products = match words[0] {
        "mm" => words[2].split('x').map(|n| n.parse::<f64>()).product::<Result<f64, _>>().context(e.case.clone())?,
        "attention" => {
            let part = if words.last() == Some(&"causal") { 0.5 } else { 1.0 };
            let all = ['b', 'h', 's', 's', 'd'].map(field).into_iter().product::<Option<f64>>();
            2.0 * part * all.context(e.case.clone())?
        }
        _ => return Ok(model.memory),
    };
    // 16-bit multiply-adds per clock: one 64x256x16 instruction per interval and SM.
    let rate = 64.0 * 256.0 * 16.0 / machine.get("wgmma.f16.n256.interval")? * machine.get("sm.count")?;
    let (watts, width) = match words[1] {
        "fp8" | "int8" => (model.wgmma_8bit, 2.0),
        "tf32" => (model.wgmma, 0.5),
        _ => (model.wgmma, 1.0),
    };
    // Fast kernels use L2 for about the same share of the time.
    Ok((watts + model.l2) * products / (rate * width * machine.get("clock.max")? * e.us))
}

/// Returns the timed kernels of the log. Other records only say when other work ended; their `who` is empty.
fn entries(log: &str) -> anyhow::Result<Vec<Entry>> {
    let mut found = Vec::new();
    for line in log.lines() {
        let r: Value = serde_json::from_str(line)?;
        let Some(at) = r["t"].as_f64().filter(|_| r["record"] == "measurement" || r["record"] == "case") else {
            continue;
        };
        let timed = r["record"] == "measurement" && r["part"] == "peers";
        let word = |key: &str| r[key].as_str().filter(|_| timed).unwrap_or_default().to_owned();
        found.push(Entry {
            case: word("name"),
            who: word("impl"),
            variant: word("config"),
            us: r["us"]["median"].as_f64().unwrap_or(0.0),
            at,
            precise: r["precise"] == true,
        });
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(at: f64, who: &str, us: f64, precise: bool) -> String {
        format!(
            r#"{{"record":"measurement","part":"peers","t":{at},"name":"mm bf16 8192x8192x8192 nt","impl":"{who}","config":"{who}","precise":{precise},"us":{{"median":{us}}}}}"#
        )
    }

    /// A kernel above the power limit lowers the clock of the next kernel, but not after a pause.
    #[test]
    fn others_leave_their_clock() {
        let machine = Machine::named("sm_90").unwrap();
        let log = |pause: f64| {
            let library = |at| record(at, "library", 1500.0, false);
            [library(9.97), library(10.0), record(10.02 + pause, "ours", 1000.0, false)].join("\n")
        };
        let key = ("mm bf16 8192x8192x8192 nt".to_owned(), "ours".to_owned());
        let at = |pause: f64, watts: f64| {
            clocks(&log(pause), "ours", &machine, &BTreeMap::from([(key.clone(), watts)])).unwrap()[&key]
        };
        assert!(at(0.0, 600.0) < 1900.0, "{}", at(0.0, 600.0));
        assert_eq!(at(1.0, 600.0), 1980.0);
        // A short kernel ends before the window reflects its power.
        assert_eq!(at(1.0, 900.0), 1980.0);
    }

    #[test]
    fn time_of_the_device() {
        assert_eq!(SHORT.seconds(1000.0), 18e-3);
        assert_eq!(SHORT.seconds(25_000.0), 0.25);
        assert_eq!(PRECISE.seconds(1000.0), 0.151);
        let stretches = [Stretch { from: 1.0, to: 2.0, added: 500.0 }];
        assert_eq!((mean(&stretches, 2.5, 1.0), mean(&stretches, 3.5, 1.0)), (250.0, 0.0));
    }
}
