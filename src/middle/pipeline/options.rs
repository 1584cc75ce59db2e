//! The options of the `tileir` pipeline, their text form, and the passes that they select.

use super::{
    old_names::present,
    preserved::{self, CLEANUPS, GENERATE_CONSTRAINTS, MATERIALIZE_SCHEDULE},
};
use crate::dialect::debug_scope::Emission;
use std::{fmt::Write, ops::Range};
use tile_interface::{Boundary, DebugInfo, Insertion, Level, PipelineOption, Position};
use tile_mma::{Unit, pipeline_strategies, shared_memory_unit};
use tile_targets::Target;

/// How loops are pipelined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    None,
    /// Copies tiles asynchronously ahead of the dots that use them. The same warps copy and compute.
    Unspecialize,
    /// Splits kernels into agents: producer warps that copy and consumer warps that multiply. Loops without agents are
    /// pipelined as with `Unspecialize`.
    WarpSpecialize,
}

impl Strategy {
    fn by_name(name: &str) -> Option<Self> {
        Some(match name {
            "none" => Self::None,
            "unspecialize" => Self::Unspecialize,
            "warp-specialize" => Self::WarpSpecialize,
            _ => return None,
        })
    }

    /// Returns the command's default strategy: warp specialization where the target has agents.
    pub fn strongest(target: &Target) -> Self {
        let names = pipeline_strategies(target);
        names.last().and_then(|name| Self::by_name(name)).unwrap_or(Strategy::None)
    }

    fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Unspecialize => "unspecialize",
            Self::WarpSpecialize => "warp-specialize",
        }
    }
}

/// Which bits of results the program alone determines (`docs/numerics.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numerics {
    /// Results may depend on layouts, warps, hints, the optimization level and the target.
    Default,
    /// Reductions and scans combine elements in an order that depends on their shape alone.
    Pinned,
    /// As pinned, and without instructions whose bits PTX does not define.
    Portable,
}

impl Numerics {
    fn by_name(name: &str) -> Option<Self> {
        [Self::Default, Self::Pinned, Self::Portable].into_iter().find(|n| n.name() == name)
    }

    /// The spelling of the mode as an option value.
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Pinned => "pinned",
            Self::Portable => "portable",
        }
    }
}

/// A form of the program between the public language and the LLVM dialect that can be printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Snapshot {
    None,
    /// The compiler's input.
    InputIr,
    TileAa,
    /// After layouts, shared memory and barriers are assigned.
    TileAs,
    /// The program of a single thread.
    PostTileAs,
}

impl Snapshot {
    const ALL: [Self; 5] = [Self::None, Self::InputIr, Self::TileAa, Self::TileAs, Self::PostTileAs];

    fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|s| s.name() == name)
    }

    /// The spelling of the snapshot as an option value.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::InputIr => "inputIR",
            Self::TileAa => "tileaa",
            Self::TileAs => "tileas",
            Self::PostTileAs => "post-tileas",
        }
    }
}

/// The dialect level of the program after a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    TileAa,
    TileAs,
    Llvm,
}

impl Stage {
    pub const ALL: [Self; 3] = [Self::TileAa, Self::TileAs, Self::Llvm];

    pub fn level(self) -> Level {
        match self {
            Self::TileAa => Level::TileAa,
            Self::TileAs => Level::TileAs,
            Self::Llvm => Level::Llvm,
        }
    }
}

/// One pass of the pipeline.
#[derive(Clone, Debug)]
pub struct PipelineStep {
    /// The pass and its options, as text.
    pub pass: String,
    pub stage: Stage,
    /// The lowest optimization level whose tier includes the pass.
    pub tier: u8,
    /// Whether programs compile without the pass. Such a pass only makes code faster or more readable.
    pub optional: bool,
}

impl PipelineStep {
    /// The pass name without options.
    pub fn name(&self) -> &str {
        self.pass.split('{').next().unwrap_or_default()
    }
}

/// All options of the pipeline, in the order of the text form.
#[derive(Clone, Debug)]
pub struct Options {
    /// The tier of passes and the optimization level of code generation, 0 to 3.
    pub opt_level: u8,
    /// How loops are pipelined at levels 2 and 3.
    pub strategy: Strategy,
    /// The maximum number of stages of a shared-memory pipeline.
    pub stages: u32,
    /// Scheduling: 0 off; 1 the modulo scheduler with a single agent; 2 also with agents if the strategy uses them; 3
    /// also exhaustive search.
    pub v2_opt_level: u8,
    /// The maximum number of rows in the scheduler's resource tables; 0 schedules without tables.
    pub table_rows: u32,
    /// The maximum number of times the constraints of a schedule are tightened.
    pub constraint_iterations: u32,
    /// CTAs take over tile blocks that have not started. If unset, the compiler chooses.
    pub dynamic_persistent: Option<bool>,
    /// The file that schedules are written to; empty for none.
    pub schedule_trace: String,
    /// Run only the first N optional passes. Bisects a wrong result to its pass.
    pub pass_limit: Option<usize>,
    /// Optional passes to leave out, for measuring the benefit of each.
    pub disabled: Vec<&'static str>,
    /// Warps per CTA, a power of two up to 32, unless the entry sets it. If unset, the tiles of each kernel decide.
    pub num_warps: Option<u32>,
    /// CTAs of a cluster that split one tile, a power of two; 0 lets the compiler choose.
    pub num_ctas: u32,
    pub target: &'static Target,
    /// Kernels may use all the shared memory that the target provides per CTA. ptxas grants it with
    /// `--enable-extended-smem`. If unset, the limit is the amount that PTX guarantees.
    pub extended_smem: bool,
    /// Width of address arithmetic, 32 or 64 bits. If unset, 32 bits where offsets provably fit.
    pub index_bits: Option<u8>,
    /// All f32 arithmetic may be approximate.
    pub approx: bool,
    /// All f32 arithmetic flushes subnormals.
    pub ftz: bool,
    /// Which bits of results the program alone determines.
    pub numerics: Numerics,
    /// Reject the types that NVIDIA's compiler rejects for the target.
    pub strict_types: bool,
    /// Dots of 8-bit floats use the instruction with block scales, all of them one, where the target has it.
    pub unit_scales: bool,
    /// `emit-line-info`: the snapshot that is printed with op locations.
    pub printed_snapshot: Snapshot,
    /// The snapshot whose text line information refers to; `None` refers to the source.
    pub snapshot_lines: Snapshot,
    /// The file of that snapshot; the default is `tileir-snapshot.STAGE.mlir` in the current directory.
    pub snapshot_file: Option<String>,
    /// The host's target triple; empty for the native one.
    pub host_triple: String,
    /// The file for the host side of a launch; empty for none.
    pub dump_host: String,
    /// Whether the PTX carries source lines, or full DWARF.
    pub debug: DebugInfo,
    /// Passes that the user inserted. They have no text form.
    pub insertions: Vec<Insertion>,
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum OptionError {
    #[error("unknown pipeline option '{name}'; the options are {valid}")]
    Unknown { name: String, valid: String },
    #[error("option '{name}': '{value}' is not {expected}")]
    Value { name: &'static str, value: String, expected: String },
    #[error("option 'pipeline-strategy': {target} has no agents for '{name}'; its strategies are {valid}")]
    Strategy { name: &'static str, target: &'static str, valid: String },
    #[error(
        "option 'schedule-trace-file': nothing is scheduled at opt-level {level} and v2-opt-level {v2_level} with \
         pipeline-strategy '{strategy}'"
    )]
    NoSchedule { level: u8, v2_level: u8, strategy: &'static str },
    #[error("the pipeline has no pass '{pass}'; with these options its passes are {valid}")]
    NoSuchPass { pass: String, valid: String },
    #[error("{}", preserved::message(pass))]
    InvalidatesSchedule { pass: String },
}

impl Default for Options {
    fn default() -> Self {
        Options {
            opt_level: 2,
            strategy: Strategy::None,
            stages: 4,
            v2_opt_level: 0,
            table_rows: 4096,
            constraint_iterations: 10,
            dynamic_persistent: None,
            schedule_trace: String::new(),
            pass_limit: None,
            disabled: vec![],
            num_warps: None,
            num_ctas: 0,
            target: Target::default_target(),
            extended_smem: false,
            index_bits: None,
            approx: false,
            ftz: false,
            numerics: Numerics::Default,
            strict_types: false,
            unit_scales: true,
            printed_snapshot: Snapshot::None,
            snapshot_lines: Snapshot::None,
            snapshot_file: None,
            host_triple: String::new(),
            dump_host: String::new(),
            debug: DebugInfo::None,
            insertions: vec![],
        }
    }
}

/// Passes that can be left out, because later passes do not rely on their decisions. `tileaa-plan-dots` is optional;
/// the passes that carry out the plan are not.
const OPTIONAL: &[&str] = &[
    "canonicalize",
    "cse",
    "tileaa-hoist-views",
    "tileaa-loop-over-tile-blocks",
    "tileaa-narrow-loads",
    "tileaa-pair-tile-blocks",
    "tileaa-plan-dots",
    "tileaa-split-over-cluster",
    "tileaa-slice-dots",
    "tileaa-slice-keys",
    "tileaa-transpose-dots",
    "tileas-slicing",
    "tileas-assign-load-store-layouts",
    "tileas-remove-layout-conversions",
    "tileas-pipeline-dots",
    "tileas-separate-warpgroups",
    "tileas-issue-ahead",
    "tileas-ping-pong",
    "tileas-prefetch-tiles",
    "tileas-prepare-for-scheduling",
    "tileas-recompute-for-scheduling",
    "tileas-lower-tma-load-store-to-async",
    "tileas-unspecialized-pipeline",
    "tileas-delay-loads",
    "tileas-keep-addresses-in-loops",
    "tileas-skip-rescale",
    "tileas-hoist-scalars",
    "tileir-sink-shared-loads",
];

/// The passes that take a program from one level to the next.
const CONVERSIONS: [(&str, Level); 3] = [
    ("convert-cudatile-to-tileaa", Level::TileAa),
    ("convert-tileaa-to-tileas", Level::TileAs),
    ("convert-tileas-to-nvgpu", Level::Llvm),
];

impl Options {
    /// Parses the text between the braces of `tileir{...}`: `name=value` pairs separated by spaces.
    pub fn parse(text: &str) -> Result<Self, OptionError> {
        let mut options = Options::default();
        for part in text.split_whitespace() {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            options.set(name, value)?;
        }
        options.check()?;
        Ok(options)
    }

    /// Checks the options that depend on each other.
    ///
    /// # Errors
    /// The target lacks the strategy, or a trace of schedules is requested where nothing is scheduled.
    pub fn check(&self) -> Result<(), OptionError> {
        let (name, valid) = (self.strategy.name(), pipeline_strategies(self.target));
        if !valid.contains(&name) {
            return Err(OptionError::Strategy { name, target: self.target.name, valid: valid.join(" and ") });
        }
        if self.schedule_trace.is_empty() || self.is_scheduled() {
            return Ok(());
        }
        Err(OptionError::NoSchedule { level: self.opt_level, v2_level: self.v2_opt_level, strategy: name })
    }

    fn is_scheduled(&self) -> bool {
        self.strategy != Strategy::None && self.opt_level >= 2 && self.v2_opt_level > 0
    }

    /// Sets one option from its text form.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), OptionError> {
        let option = PipelineOption::by_name(name).ok_or_else(|| {
            let valid: Vec<&str> = PipelineOption::ALL.iter().map(|o| o.name()).collect();
            OptionError::Unknown { name: name.to_string(), valid: valid.join(", ") }
        })?;
        let values = option.values();
        let bad = |expected: &str| OptionError::Value {
            name: option.name(),
            value: value.to_string(),
            expected: expected.to_string(),
        };
        let invalid = || bad(&values.to_string());
        let truth = || values.bool(value).ok_or_else(invalid);
        let number = || values.number(value).ok_or_else(invalid);
        let file = || values.file(value).map(str::to_owned).ok_or_else(invalid);
        let snapshot = || Snapshot::by_name(value).ok_or_else(invalid);
        match option {
            PipelineOption::OptLevel => self.opt_level = number()? as u8,
            PipelineOption::V2OptLevel => self.v2_opt_level = number()? as u8,
            PipelineOption::PipelineStrategy => {
                self.strategy = Strategy::by_name(value).ok_or_else(invalid)?;
            }
            PipelineOption::NumStages => self.stages = number()?,
            PipelineOption::TableRows => self.table_rows = number()?,
            PipelineOption::ConstraintIterations => self.constraint_iterations = number()?,
            PipelineOption::PassLimit => self.pass_limit = Some(number()? as usize),
            PipelineOption::DisablePass => {
                let known = |pass| {
                    let pass = present(pass);
                    OPTIONAL.iter().find(|optional| **optional == pass).copied()
                };
                let passes: Option<Vec<&'static str>> = value.split(',').map(known).collect();
                self.disabled = passes.ok_or_else(|| bad(&format!("{values}, which are {}", OPTIONAL.join(", "))))?;
            }
            PipelineOption::NumWarps => self.num_warps = Some(number()?),
            PipelineOption::NumCtas => self.num_ctas = number()?,
            PipelineOption::ComputeCapability => self.target = Target::by_name(value).ok_or_else(invalid)?,
            PipelineOption::ExtendedSmem => self.extended_smem = truth()?,
            PipelineOption::IndexBitwidth => self.index_bits = Some(number()? as u8),
            PipelineOption::Approx => self.approx = truth()?,
            PipelineOption::Ftz => self.ftz = truth()?,
            PipelineOption::Numerics => self.numerics = Numerics::by_name(value).ok_or_else(invalid)?,
            PipelineOption::StrictTypes => self.strict_types = truth()?,
            PipelineOption::UnitScales => self.unit_scales = truth()?,
            PipelineOption::EmitLineInfo => self.printed_snapshot = snapshot()?,
            PipelineOption::SnapshotLines => self.snapshot_lines = snapshot()?,
            PipelineOption::SnapshotFile => self.snapshot_file = Some(file()?),
            PipelineOption::DynamicPersistent => {
                self.dynamic_persistent = Some(truth()?);
            }
            PipelineOption::ScheduleTraceFile => self.schedule_trace = file()?,
            PipelineOption::HostTriple => {
                let is_triple = value.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b));
                self.host_triple = is_triple.then(|| value.to_string()).ok_or_else(invalid)?;
            }
            PipelineOption::DumpHost => self.dump_host = file()?,
        }
        Ok(())
    }

    /// The kind of debug information to emit: the requested kind, but at least lines if they refer to a snapshot.
    pub fn emission(&self) -> Emission {
        match self.debug {
            DebugInfo::Full => Emission::Full,
            DebugInfo::Lines => Emission::Directives,
            DebugInfo::None if self.snapshot_lines != Snapshot::None => Emission::Directives,
            DebugInfo::None => Emission::None,
        }
    }

    /// Returns every pass from the public language to the LLVM dialect, in order. The tier table says which passes
    /// belong to the level's tier. The others are needed at every level and run afterward, so the overall order
    /// never changes.
    pub fn steps(&self) -> Vec<PipelineStep> {
        let mut list = Steps { list: vec![], target: format!("compute-capability={}", self.target.name) };
        self.to_tileaa(&mut list);
        self.to_tileas(&mut list);
        self.to_llvm(&mut list);
        list.list.retain(|step| !self.disabled.contains(&step.name()));
        let last: Vec<bool> = (0..list.list.len())
            .map(|i| list.list.get(i + 1).is_none_or(|next| next.stage != list.list[i].stage))
            .collect();
        let with = |(step, last): (PipelineStep, bool)| {
            let inserted = |before: bool| -> Vec<PipelineStep> {
                let here = self.insertions.iter().filter(|i| match &i.position {
                    Position::Before(pass) => before && pass == step.name(),
                    Position::After(pass) => !before && pass == step.name(),
                    Position::End(level) => !before && last && *level == step.stage.level(),
                });
                here.map(|i| PipelineStep { pass: i.pipeline.clone(), optional: true, ..step.clone() }).collect()
            };
            [inserted(true), vec![step.clone()], inserted(false)].concat()
        };
        let mut left = self.pass_limit.unwrap_or(usize::MAX);
        let mut is_run = |step: &PipelineStep| {
            if step.optional && left == 0 {
                return false;
            }
            left -= usize::from(step.optional);
            true
        };
        list.list.into_iter().zip(last).flat_map(with).filter(|step| is_run(step)).collect()
    }

    /// Returns the boundary after each of [`Options::steps`].
    pub fn boundaries(&self) -> Vec<Boundary> {
        Boundary::all(self.steps().iter().map(PipelineStep::name))
    }

    /// Returns the number of steps up to a boundary.
    ///
    /// # Errors
    /// No pass of the pipeline has this name, or it runs less often.
    pub fn steps_before(&self, boundary: &Boundary) -> Result<usize, OptionError> {
        let all = self.boundaries();
        let at = all.iter().position(|b| b == boundary).ok_or_else(|| {
            let valid: Vec<String> = all.iter().map(Boundary::to_string).collect();
            OptionError::NoSuchPass { pass: boundary.to_string(), valid: valid.join(", ") }
        })?;
        Ok(at + 1)
    }

    /// Returns the level of a program after the first `count` of [`Options::steps`], judging by the conversions.
    pub fn level_after(&self, count: usize) -> Level {
        let level = |step: &PipelineStep| CONVERSIONS.iter().find(|(name, _)| *name == step.name()).map(|c| c.1);
        self.steps()[..count].iter().filter_map(level).next_back().unwrap_or(Level::CudaTile)
    }

    /// Returns the stages that run an insertion's passes, or an error if the pipeline lacks the insertion point.
    pub fn stages_of(&self, insertion: &Insertion) -> Result<Vec<Stage>, OptionError> {
        let pass = match &insertion.position {
            Position::End(level) => return Ok(Stage::ALL.into_iter().filter(|s| s.level() == *level).collect()),
            Position::Before(pass) | Position::After(pass) => pass,
        };
        let steps = Options { insertions: vec![], pass_limit: None, ..self.clone() }.steps();
        self.check_schedule(insertion, pass, &steps)?;
        let mut stages: Vec<Stage> = steps.iter().filter(|s| s.name() == pass).map(|s| s.stage).collect();
        stages.dedup();
        if !stages.is_empty() {
            return Ok(stages);
        }
        let mut valid: Vec<&str> = steps.iter().map(PipelineStep::name).collect();
        valid.sort_unstable();
        valid.dedup();
        Err(OptionError::NoSuchPass { pass: pass.clone(), valid: valid.join(", ") })
    }

    /// The first step to run on a program from the boundary before step `first`: an analysis that is built before the
    /// boundary and used after it is not in the program, so it is built again.
    pub fn before_analyses(&self, first: usize) -> usize {
        let steps = self.steps();
        let place = |name: &str| steps.iter().position(|s| s.name() == name);
        match (place(GENERATE_CONSTRAINTS), place(MATERIALIZE_SCHEDULE)) {
            (Some(built), Some(used)) if (built + 1..=used).contains(&first) => built,
            _ => first,
        }
    }

    /// Checks that user passes inserted between generating and using schedule constraints preserve the constraints.
    fn check_schedule(&self, insertion: &Insertion, pass: &str, steps: &[PipelineStep]) -> Result<(), OptionError> {
        let place = |name: &str| steps.iter().position(|s| s.name() == name);
        let (Some(first), Some(last)) = (place(GENERATE_CONSTRAINTS), place(MATERIALIZE_SCHEDULE)) else {
            return Ok(());
        };
        let before = matches!(insertion.position, Position::Before(_));
        let between = |at: usize| if before { first < at && at <= last } else { first <= at && at < last };
        let here = (first..=last).any(|at| steps[at].name() == pass && between(at));
        match preserved::undeclared(&insertion.pipeline).filter(|_| here) {
            Some(pass) => Err(OptionError::InvalidatesSchedule { pass: pass.to_owned() }),
            None => Ok(()),
        }
    }

    fn to_tileaa(&self, list: &mut Steps) {
        self.snapshot(list, Stage::TileAa, 1, Snapshot::InputIr);
        let relaxed = [("approx", self.approx), ("ftz", self.ftz)];
        let relaxed = relaxed.into_iter().filter(|(_, on)| *on).map(|(name, _)| format!("{name}=true"));
        let numerics = (self.numerics != Numerics::Default).then(|| format!("numerics={}", self.numerics.name()));
        let strict = self.strict_types.then(|| format!("strict-types={}", self.target.name));
        list.add(Stage::TileAa, 1, "convert-cudatile-to-tileaa", relaxed.chain(numerics).chain(strict));
        self.snapshot(list, Stage::TileAa, 1, Snapshot::TileAa);
        self.scopes(list, Stage::TileAa, 1, "tileir-insert-debug-scope");
        if self.opt_level >= 1 {
            list.add(Stage::TileAa, 1, "canonicalize", None);
            list.add(Stage::TileAa, 1, "cse", None);
        }
    }

    fn to_tileas(&self, list: &mut Steps) {
        let target = list.target.clone();
        let limits = [target.clone(), format!("extended-smem={}", self.extended_smem)];
        let pipelined = self.strategy != Strategy::None && self.opt_level >= 2;
        let specialized = self.strategy == Strategy::WarpSpecialize && self.opt_level >= 2;
        let shared = specialized && self.num_ctas == 0 || self.opt_level >= 2 && self.num_ctas > 1;
        if shared {
            let count = (self.num_ctas > 1).then(|| format!("num-ctas={}", self.num_ctas));
            list.add(Stage::TileAa, 2, "tileaa-split-over-cluster", count.into_iter().chain([target.clone()]));
        }
        if pipelined && shared_memory_unit(self.target).is_none() {
            list.add(Stage::TileAa, 2, "tileaa-slice-keys", limits.clone());
        }
        if specialized {
            list.add(Stage::TileAa, 2, "tileaa-narrow-loads", [target.clone()]);
            list.add(Stage::TileAa, 2, "tileaa-hoist-views", [target.clone()]);
            if shared_memory_unit(self.target).is_some() {
                list.add(Stage::TileAa, 2, "tileaa-transpose-dots", [target.clone()]);
            }
            if shared_memory_unit(self.target) == Some(Unit::Tensor) && self.num_ctas == 0 {
                list.add(Stage::TileAa, 2, "tileaa-pair-tile-blocks", [target.clone()]);
            }
            if shared_memory_unit(self.target) == Some(Unit::Warpgroup) && self.dynamic_persistent != Some(false) {
                list.add(Stage::TileAa, 2, "tileaa-loop-over-tile-blocks", [target.clone()]);
            }
            let taken_over = self.dynamic_persistent.map(|chosen| format!("dynamic-persistent={chosen}"));
            list.add(Stage::TileAa, 2, "tileaa-plan-dots", [target.clone()].into_iter().chain(taken_over));
            if shared_memory_unit(self.target) == Some(Unit::Tensor) {
                list.add(Stage::TileAa, 2, "tileaa-slice-epilogues", None);
                list.add(Stage::TileAa, 2, "tileas-dynamic-persistent", None);
            }
        }
        if pipelined {
            list.add(Stage::TileAa, 2, "tileaa-slice-dots", limits.clone());
        }
        if specialized {
            list.add(Stage::TileAa, 2, "tileaa-outline-producers", None);
        }
        let mut add = |name: &str, options: &[String]| list.add(Stage::TileAs, 2, name, options.iter().cloned());
        let warps = self.num_warps.map(|w| format!("num-warps={w}"));
        add("convert-tileaa-to-tileas", &[warps.as_slice(), std::slice::from_ref(&target)].concat());
        add("tileas-slicing", &[]);
        let exact = self.numerics != Numerics::Default;
        let plain = (!self.unit_scales || exact).then(|| "unit-scales=false".to_string());
        add("tileas-assign-dot-layouts", &[std::slice::from_ref(&target), plain.as_slice()].concat());
        add("tileas-assign-load-store-layouts", std::slice::from_ref(&target));
        add("tileas-remove-layout-conversions", &[]);
        if self.is_scheduled() {
            let option = |name: &str, value: &dyn std::fmt::Display| format!("{name}={value}");
            let mut options = vec![
                option("extended-smem", &self.extended_smem),
                option("rrt-size-threshold", &self.table_rows),
                option("max-constraint-iterations", &self.constraint_iterations),
            ];
            options.extend((self.v2_opt_level == 1).then(|| option("use-single-agent", &true)));
            options.extend((self.v2_opt_level == 3).then(|| option("exhaustive", &true)));
            let trace = (!self.schedule_trace.is_empty()).then(|| option("schedule-trace-file", &self.schedule_trace));
            options.extend(trace);
            // From level 2 on, a loop without agents follows its schedule only if that is predicted to be faster, so
            // it is not reshaped for it. Without resource tables the scheduler does not need reshaped loops either.
            options.extend((self.v2_opt_level >= 2).then(|| option("simple-stages", &self.stages)));
            if self.table_rows > 0 && self.v2_opt_level == 1 {
                add("tileas-prepare-for-scheduling", std::slice::from_ref(&target));
                add("tileas-recompute-for-scheduling", std::slice::from_ref(&target));
            }
            // Each program of a producer warp has separate constants, which cleanups would merge with the other
            // warps' constants. Constraints describe loops, so canonicalization removes loops of one iteration before.
            let cleanups: &[&str] = if specialized { &[] } else { &CLEANUPS };
            cleanups.first().into_iter().for_each(|pass| add(pass, &[]));
            add(GENERATE_CONSTRAINTS, std::slice::from_ref(&target));
            cleanups.iter().for_each(|pass| add(pass, &[]));
            add(MATERIALIZE_SCHEDULE, &options);
        }
        if specialized {
            add("tileas-pipeline-dots", &[]);
            add("tileas-materialize-async", &[]);
            add("tileas-specialize-agents", &[]);
            add("tileas-separate-warpgroups", &[]);
            add("tileas-issue-ahead", &[]);
            add("tileas-ping-pong", std::slice::from_ref(&target));
            add("tileas-prefetch-tiles", &[]);
            add("tileas-check-register-budget", std::slice::from_ref(&target));
            add("tileas-lower-tma-load-store-to-async", std::slice::from_ref(&target));
        }
        if pipelined {
            let stages = format!("unspecialized-pipeline-num-stages={}", self.stages);
            add("tileas-unspecialized-pipeline", &[limits.as_slice(), &[stages]].concat());
        }
        add("tileas-delay-loads", &[]);
        add("tileas-materialize-reductions", &[]);
        add("tileas-materialize-convert-layout", std::slice::from_ref(&target));
        add("tileas-order-memory", &[]);
        add("tileas-optimize-alloc-tensor", &[]);
        let redundant = (self.opt_level > 0).then(|| "remove-redundant-barriers=true".to_string());
        add("tileas-check-synchronization", redundant.as_slice());
        add("tileas-materialize-register-loops", &[]);
        add("tileas-clamp-indices", &[]);
        add("tileas-keep-addresses-in-loops", &[]);
        if specialized {
            add("tileas-skip-rescale", &[]);
        }
        add("tileas-choose-register-forms", &[]);
        if self.opt_level > 0 {
            add("tileas-hoist-scalars", &[]);
        }
        self.snapshot(list, Stage::TileAs, 2, Snapshot::TileAs);
    }

    fn to_llvm(&self, list: &mut Steps) {
        let llvm = Stage::Llvm;
        let target = list.target.clone();
        let text = |name, value: &str| (!value.is_empty()).then(|| format!("{name}={value}"));
        let host = [text("host-triple", &self.host_triple), text("dump-host", &self.dump_host)];
        list.add(llvm, 2, "tileir-emit-host-wrapper", host.into_iter().flatten());
        let bits = self.index_bits.map(|bits| format!("index-bitwidth={bits}"));
        list.add(llvm, 2, "convert-tileas-to-llvm", [target.clone()].into_iter().chain(bits));
        list.add(llvm, 2, "tileir-sink-shared-loads", None);
        if self.opt_level >= 2 {
            list.add(llvm, 2, "cse", None);
        }
        self.snapshot(list, llvm, 2, Snapshot::PostTileAs);
        list.add(llvm, 2, "convert-tileas-to-nvgpu", None);

        let clean = |list: &mut Steps| {
            if self.opt_level >= 3 {
                list.add(llvm, 3, "canonicalize", None);
                list.add(llvm, 3, "cse", None);
            }
        };
        let extended = format!("extended-smem={}", self.extended_smem);
        list.add(llvm, 3, "tileir-verify-ops-analysis", [target.clone(), extended]);
        self.scopes(list, llvm, 3, "tileir-insert-debug-scope");
        list.add(llvm, 3, "tileir-gpu-module-prepare", None);
        clean(list);
        list.add(llvm, 3, "convert-to-llvm", None);
        list.add(llvm, 3, "convert-nvgpu-to-nvvm", None);
        list.add(llvm, 3, "reconcile-unrealized-casts", None);
        self.scopes(list, llvm, 3, "synthesize-debug-info-scopes");
        list.add(llvm, 3, "convert-target-to-nvvm", [target, format!("opt-level={}", self.opt_level)]);
        clean(list);
        list.add(llvm, 3, "tileir-post-nvvm-finalize", None);
    }

    fn scopes(&self, list: &mut Steps, stage: Stage, tier: u8, pass: &str) {
        list.add(stage, tier, pass, [format!("emission-kind={}", self.emission().name())]);
    }

    /// Prints the program if `which` is the printed snapshot. Writes it to a file and points op locations at its
    /// lines if it is the one that lines refer to.
    fn snapshot(&self, list: &mut Steps, stage: Stage, tier: u8, which: Snapshot) {
        if self.printed_snapshot == which {
            list.add(stage, tier, "tileir-print-snapshot", [format!("name={}", which.name())]);
        }
        if self.snapshot_lines == which {
            let default = || format!("tileir-snapshot.{}.mlir", which.name());
            let file = self.snapshot_file.clone().unwrap_or_else(default);
            list.add(stage, tier, "snapshot-op-locations", [format!("filename={file}")]);
        }
    }

    /// Returns the passes of the tier as text: the expansion of `tileir`.
    pub fn tier(&self) -> String {
        self.text(|step| step.tier <= self.opt_level)
    }

    /// Returns the passes that are still needed after the tier as text: the expansion of `tileir-finish`.
    pub fn finish(&self) -> String {
        self.text(|step| step.tier > self.opt_level)
    }

    /// Returns the parts of both pipelines that produce the given stage, in order and in MLIR's syntax. Only the steps
    /// in `range` count, which numbers them as [`Options::steps`] does.
    pub fn pipelines(&self, stage: Stage, range: &Range<usize>) -> Vec<String> {
        let steps = self.steps();
        let part = |finish: bool| -> Vec<&str> {
            let wanted = |s: &&PipelineStep| s.stage == stage && (s.tier > self.opt_level) == finish;
            steps[range.clone()].iter().filter(wanted).map(|s| s.pass.as_str()).collect()
        };
        let parts = [part(false), part(true)].into_iter().filter(|passes| !passes.is_empty());
        parts.map(|passes| format!("builtin.module({})", passes.join(","))).collect()
    }

    fn text(&self, keep: impl Fn(&PipelineStep) -> bool) -> String {
        let passes: Vec<String> = self.steps().into_iter().filter(keep).map(|s| s.pass).collect();
        passes.join(",")
    }

    /// Returns both pipelines in MLIR's syntax.
    pub fn dump(&self) -> String {
        let mut text = String::new();
        for (name, passes) in [("tileir", self.tier()), ("tileir-finish", self.finish())] {
            writeln!(text, "// {name}").expect("strings take text");
            writeln!(text, "builtin.module({passes})").expect("strings take text");
        }
        text
    }
}

/// The pass list under construction.
struct Steps {
    list: Vec<PipelineStep>,
    /// The `compute-capability` option of passes that need the target.
    target: String,
}

impl Steps {
    fn add(&mut self, stage: Stage, tier: u8, name: &str, options: impl IntoIterator<Item = String>) {
        let options: Vec<String> = options.into_iter().collect();
        let braces = if options.is_empty() { String::new() } else { format!("{{{}}}", options.join(" ")) };
        let optional = OPTIONAL.contains(&name);
        self.list.push(PipelineStep { pass: format!("{name}{braces}"), stage, tier, optional });
    }
}

#[cfg(test)]
mod tests;
