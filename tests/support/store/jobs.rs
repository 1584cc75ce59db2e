//! The entries that a run of all tests needs. A list that lacks one is not wrong: the test that needs it makes it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::{cached, full, root};
use crate::{cubin, kernels::KERNELS};
use tile_driver::toolchain::Surroundings;
use tile_interface::{CompileRequest, Compiler, DebugInfo, InputKind};
use tile_launch::{corpus, orders};
use tile_targets::Target;
use tileiras::compile::Session;

/// Targets and levels, as in the suites that run the corpus.
const RUN: &[(&str, u8)] = &[("sm_90", 0), ("sm_90", 3), ("sm_100", 3)];
const ORDERS: &[(&str, u8)] = &[
    ("sm_80", 0),
    ("sm_80", 3),
    ("sm_90", 0),
    ("sm_90", 3),
    ("sm_100", 0),
    ("sm_100", 3),
    ("sm_120", 0),
    ("sm_120", 3),
];
const KERNELS_AT: &[(&str, u8)] = &[("sm_90", 0), ("sm_80", 3), ("sm_90", 3), ("sm_100", 3)];

/// PTX to make, and its cubin if a test needs that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work {
    pub program: String,
    file: PathBuf,
    target: &'static str,
    opt_level: u8,
    debug: DebugInfo,
    has_cubin: bool,
}

/// All work of this run, each entry once. The order is that of the corpus.
///
/// # Errors
/// The corpus cannot be listed.
pub fn jobs() -> Result<Vec<Work>, String> {
    let programs = corpus::programs(root()).map_err(|e| e.to_string())?;
    let lists = corpus::Lists::read(root()).map_err(|e| e.to_string())?;
    let all_levels = ["sm_80", "sm_90", "sm_100", "sm_120"].map(|t| [0, 2, 3].map(|level| (t, level)));
    let run = if full() { all_levels.as_flattened() } else { RUN };
    // Program, target, level and debug information, and whether there is a cubin.
    let mut all: BTreeMap<(usize, &str, u8, u8), (DebugInfo, bool)> = BTreeMap::new();
    for (number, program) in programs.iter().enumerate().filter(|(_, p)| p.is_readable()) {
        let mut add = |(target, level), debug, has_cubin| {
            let entry = all.entry((number, target, level, debug as u8)).or_insert((debug, false));
            entry.1 |= has_cubin;
        };
        let works = |target: &str| lists.pending_on(&program.name, target).is_none();
        for &(target, level) in run.iter().filter(|(target, _)| works(target)) {
            add((target, level), DebugInfo::Lines, false);
        }
        let bytecode = std::fs::read(&program.file).map_err(|e| format!("{}: {e}", program.file.display()))?;
        if orders::asked_for(&bytecode).is_ok_and(|orders| !orders.is_empty()) {
            ORDERS.iter().for_each(|&at| add(at, DebugInfo::Lines, false));
        }
        // `levels` and `sass`.
        add(("sm_90", 3), DebugInfo::None, !program.name.ends_with(".13.4"));
        let is_kernel = program.name.strip_suffix(".13.1").is_some_and(|name| KERNELS.iter().any(|k| k.name == name));
        if is_kernel {
            KERNELS_AT.iter().for_each(|&at| add(at, DebugInfo::None, true));
        }
        if is_kernel || full() || number % 4 == 0 {
            add(("sm_90", 3), DebugInfo::Lines, true);
            add(("sm_90", 0), DebugInfo::Full, true);
        }
    }
    let work = |((number, target, opt_level, _), (debug, has_cubin)): ((usize, &'static str, u8, u8), _)| Work {
        program: programs[number].name.clone(),
        file: programs[number].file.clone(),
        target,
        opt_level,
        debug,
        has_cubin,
    };
    Ok(all.into_iter().map(work).collect())
}

impl Work {
    /// Makes what is missing.
    ///
    /// # Errors
    /// The program does not compile or assemble. Its tests find no entry and fail in the same way.
    pub fn run(&self, session: &Session) -> Result<(), String> {
        let input = std::fs::read(&self.file).map_err(|e| e.to_string())?;
        let target = Target::by_name(self.target).ok_or("no such target")?;
        let request = CompileRequest {
            opt_level: self.opt_level,
            debug: self.debug,
            ..CompileRequest::new(&input, InputKind::PublicBytecode, target)
        };
        let store = cached(session);
        let ptx = store.compile(&request, &mut |_| {}).map_err(|e| e.to_string())?.text;
        if !self.has_cubin {
            return Ok(());
        }
        let scratch = std::env::temp_dir();
        let job = cubin::job(&ptx, target, self.opt_level, self.debug, &scratch);
        store.assemble(&job, &Surroundings::of_process()).map(drop).map_err(|e| e.to_string())
    }
}

impl std::fmt::Display for Work {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} on {} at -O{}", self.program, self.target, self.opt_level)
    }
}
