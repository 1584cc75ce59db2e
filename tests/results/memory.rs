//! Memory accesses, printing, and arithmetic on edge cases: programs run on the simulated device, and the results are
//! compared with models on the host.
//!
//! By default, tests run on sm_80 and sm_90 with the ordinary schedule and one adversarial schedule.
//! `TILEIRAS_TEST_FULL=1` runs four targets, three levels, five adversarial schedules, and every combination of the
//! tables. Every program is also assembled for all eleven targets.

use tile_test_support::{Failed, Trial};
mod atomics;
mod numbers;
mod output;
mod outside;
mod views;

fn trial(name: String, run: impl FnOnce() -> Result<(), String> + Send + 'static) -> Trial {
    Trial::test(format!("memory/{name}"), move || run().map_err(Failed::from))
}

pub fn trials() -> Vec<Trial> {
    let mut trials = vec![];
    for part in 0..atomics::parts() {
        trials.push(trial(format!("atomics/table/{part}"), move || atomics::table(part)));
        trials.push(trial(format!("atomics/assemble/{part}"), move || atomics::assembles(part)));
    }
    type Check = fn() -> Result<(), String>;
    let others: &[(&str, Check)] = &[
        ("atomics/special_sums", atomics::special_sums),
        ("views/sparse", views::sparse),
        ("views/sparse_assembles", views::sparse_assembles),
        ("views/updates", views::updates),
        ("views/outside", outside::tiles),
        ("output/prints", output::prints),
        ("output/assertions", output::assertions),
        ("numbers/extremes", numbers::extremes),
        ("numbers/conversions", numbers::conversions),
        ("data/globals", output::globals),
        ("data/scratch", output::scratch),
        ("data/constants", output::constants),
    ];
    trials.extend(others.iter().map(|(name, run)| trial(name.to_string(), run)));
    trials
}
