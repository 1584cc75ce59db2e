//! Options of the `tileir` pipeline, their text form, and the passes that they select.

use std::fmt::Write;
use tile_driver::DebugInfo;
use tile_targets::Target;

/// Which strategy pipelines loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    None,
    /// Asynchronous copies ahead of the products that use them, all by the same warps.
    Unspecialize,
}

impl Strategy {
    /// The strongest strategy that is built: what the command takes when nothing is asked for.
    pub const STRONGEST: Self = Strategy::Unspecialize;
}

/// The level of the program after a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    TileAa,
    TileAs,
    Llvm,
}

/// One pass of the pipeline.
#[derive(Clone, Debug)]
pub struct Step {
    /// The pass with its options, as text.
    pub pass: String,
    pub stage: Stage,
    /// The lowest level whose tier has the pass.
    pub tier: u8,
}

/// Above every tier.
const FINISH: u8 = 4;

/// Every option of the pipeline, in the order of its text form.
#[derive(Clone, Debug)]
pub struct Options {
    /// Tier of passes and level of code generation, 0 to 3.
    pub opt_level: u8,
    /// Warps of a block unless the entry says otherwise: a power of two up to 32. Without it, each kernel's tiles decide.
    pub num_warps: Option<u32>,
    pub target: &'static Target,
    /// How loops are pipelined at levels 2 and 3.
    pub strategy: Strategy,
    /// Most stages of a pipeline in shared memory.
    pub stages: u32,
    /// Source lines in the PTX, or all of DWARF.
    pub debug: DebugInfo,
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum OptionError {
    #[error("unknown pipeline option '{name}'; the options are {valid}")]
    Unknown { name: String, valid: String },
    #[error("option '{name}': '{value}' is not {expected}")]
    Value { name: &'static str, value: String, expected: &'static str },
    #[error("option '{name}': '{value}' is not built yet; the values are {valid}")]
    NotBuilt { name: &'static str, value: String, valid: &'static str },
}

impl Default for Options {
    fn default() -> Self {
        Options {
            opt_level: 2,
            num_warps: None,
            target: Target::default_target(),
            strategy: Strategy::None,
            stages: 4,
            debug: DebugInfo::None,
        }
    }
}

/// Names that the text form knows.
const NAMES: &[&str] = &[
    "opt-level",
    "v2-opt-level",
    "pipeline-strategy",
    "unspecialized-pipeline-num-stages",
    "num-warps",
    "num-ctas",
    "compute-capability",
];

impl Options {
    /// The options that the text between the braces of `tileir{...}` sets: `name=value`, separated by blanks.
    pub fn parse(text: &str) -> Result<Self, OptionError> {
        let mut options = Options::default();
        for part in text.split_whitespace() {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            options.set(name, value)?;
        }
        Ok(options)
    }

    /// Sets one option from its text form.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), OptionError> {
        let bad = |name, expected| OptionError::Value { name, value: value.to_string(), expected };
        let missing = |name, valid| OptionError::NotBuilt { name, value: value.to_string(), valid };
        match name {
            "opt-level" => {
                self.opt_level =
                    value.parse().ok().filter(|l| *l <= 3).ok_or_else(|| bad("opt-level", "a level from 0 to 3"))?;
            }
            "v2-opt-level" => match value {
                "0" => {}
                "1" | "2" | "3" => return Err(missing("v2-opt-level", "0")),
                _ => return Err(bad("v2-opt-level", "a level from 0 to 3")),
            },
            "pipeline-strategy" => match value {
                "none" => self.strategy = Strategy::None,
                "unspecialize" => self.strategy = Strategy::Unspecialize,
                "warp-specialize" => return Err(missing("pipeline-strategy", "none, unspecialize")),
                _ => return Err(bad("pipeline-strategy", "none, unspecialize or warp-specialize")),
            },
            "unspecialized-pipeline-num-stages" => {
                let valid = |s: &u32| (1..=64).contains(s);
                let expected = "a number of stages from 1 to 64";
                self.stages = value
                    .parse()
                    .ok()
                    .filter(valid)
                    .ok_or_else(|| bad("unspecialized-pipeline-num-stages", expected))?;
            }
            "num-warps" => {
                let valid = |w: &u32| w.is_power_of_two() && *w <= 32;
                let warps = value.parse().ok().filter(valid);
                self.num_warps = Some(warps.ok_or_else(|| bad("num-warps", "a power of two from 1 to 32"))?);
            }
            "num-ctas" => match value.parse::<u32>() {
                Ok(1) => {}
                Ok(n) if n.is_power_of_two() && n <= 16 => return Err(missing("num-ctas", "1")),
                _ => return Err(bad("num-ctas", "a power of two from 1 to 16")),
            },
            "compute-capability" => {
                self.target = Target::by_name(value).ok_or_else(|| bad("compute-capability", "a target, sm_NN"))?;
            }
            _ => return Err(OptionError::Unknown { name: name.to_string(), valid: NAMES.join(", ") }),
        }
        Ok(())
    }

    /// Every pass from the public language to the LLVM dialect, in order. The tier table says which belong to the level's
    /// tier; the others are needed at every level and run afterwards, so the order of the whole never changes.
    pub fn steps(&self) -> Vec<Step> {
        let target = format!("compute-capability={}", self.target.name);
        let mut steps = vec![];
        let mut add = |stage, tier: u8, pass: String| steps.push(Step { pass, stage, tier });
        add(Stage::TileAa, 1, "convert-cudatile-to-tileaa".into());
        if self.opt_level >= 1 {
            add(Stage::TileAa, 1, "canonicalize".into());
            add(Stage::TileAa, 1, "cse".into());
        }
        let pipelined = self.strategy == Strategy::Unspecialize && self.opt_level >= 2;
        if pipelined {
            add(Stage::TileAa, 2, format!("tileaa-slice-products{{{target}}}"));
        }
        let warps = self.num_warps.map_or(String::new(), |w| format!("num-warps={w} "));
        add(Stage::TileAs, 2, format!("convert-tileaa-to-tileas{{{warps}{target}}}"));
        add(Stage::TileAs, 2, "tileas-slicing".into());
        add(Stage::TileAs, 2, format!("tileas-assign-dot-layouts{{{target}}}"));
        add(Stage::TileAs, 2, format!("tileas-assign-load-store-layouts{{{target}}}"));
        add(Stage::TileAs, 2, "tileas-remove-layout-conversions".into());
        if pipelined {
            let stages = format!("unspecialized-pipeline-num-stages={}", self.stages);
            add(Stage::TileAs, 2, format!("tileas-unspecialized-pipeline{{{target} {stages}}}"));
        }
        for pass in [
            "tileas-materialize-reductions",
            "tileas-materialize-convert-layout",
            "tileas-order-memory",
            "tileas-optimize-alloc-tensor",
        ] {
            add(Stage::TileAs, 2, pass.into());
        }
        let redundant = if self.opt_level > 0 { "{remove-redundant-barriers=true}" } else { "" };
        add(Stage::TileAs, 2, format!("tileas-check-synchronization{redundant}"));
        add(Stage::Llvm, 2, format!("convert-tileas-to-llvm{{{target}}}"));
        if self.opt_level >= 2 {
            add(Stage::Llvm, 2, "cse".into());
        }
        if self.opt_level >= 3 {
            add(Stage::Llvm, 3, "canonicalize".into());
            add(Stage::Llvm, 3, "cse".into());
        }
        add(Stage::Llvm, FINISH, "convert-nvvm-to-llvm".into());
        add(Stage::Llvm, FINISH, format!("tileir-attach-target{{{target} opt-level={}}}", self.opt_level));
        let kind = match self.debug {
            DebugInfo::None => return steps,
            DebugInfo::Lines => "DebugDirectivesOnly",
            DebugInfo::Full => "Full",
        };
        let scopes = format!("ensure-debug-info-scope-on-llvm-func{{emission-kind={kind}}}");
        steps.push(Step { pass: scopes, stage: Stage::Llvm, tier: FINISH });
        steps
    }

    /// Passes of the tier, as text: what `tileir` stands for.
    pub fn tier(&self) -> String {
        self.text(|step| step.tier <= self.opt_level)
    }

    /// Passes that are still needed after the tier, as text: what `tileir-finish` stands for.
    pub fn finish(&self) -> String {
        self.text(|step| step.tier > self.opt_level)
    }

    fn text(&self, keep: impl Fn(&Step) -> bool) -> String {
        let passes: Vec<String> = self.steps().into_iter().filter(keep).map(|s| s.pass).collect();
        passes.join(",")
    }

    /// Both pipelines as MLIR parses them.
    pub fn dump(&self) -> String {
        let mut text = String::new();
        for (name, passes) in [("tileir", self.tier()), ("tileir-finish", self.finish())] {
            writeln!(text, "// {name}").expect("strings take text");
            writeln!(text, "builtin.module({passes})").expect("strings take text");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{dialect, passes};
    use melior::{pass::PassManager, utility::parse_pass_pipeline};

    fn with(settings: &[(&str, &str)]) -> Options {
        let mut options = Options::default();
        for (name, value) in settings {
            options.set(name, value).unwrap_or_else(|e| panic!("{name}={value}: {e}"));
        }
        options
    }

    #[test]
    fn options_are_set() {
        let o = with(&[("opt-level", "1"), ("num-warps", "8"), ("compute-capability", "sm_90")]);
        assert_eq!((o.opt_level, o.num_warps, o.target.name), (1, Some(8), "sm_90"));
        // What is built so far can be asked for by name.
        with(&[("v2-opt-level", "0"), ("pipeline-strategy", "none"), ("num-ctas", "1")]);
        with(&[("pipeline-strategy", "unspecialize"), ("unspecialized-pipeline-num-stages", "3")]);
    }

    #[test]
    fn an_unknown_option_is_told_the_known_ones() {
        let error = Options::default().set("warps", "4").unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("unknown pipeline option 'warps'; the options are "), "{text}");
        for name in NAMES {
            assert!(text.contains(name), "{text} lacks {name}");
            // Every name that is told is known.
            let error = Options::default().set(name, "nonsense").unwrap_err();
            assert!(matches!(error, OptionError::Value { name: n, .. } if n == *name), "{name}: {error}");
        }
    }

    #[test]
    fn bad_values_leave_the_options_alone() {
        let cases = [
            ("opt-level", "4"),
            ("opt-level", "-1"),
            ("opt-level", ""),
            ("v2-opt-level", "4"),
            ("pipeline-strategy", "fast"),
            ("unspecialized-pipeline-num-stages", "0"),
            ("unspecialized-pipeline-num-stages", "many"),
            ("num-warps", "0"),
            ("num-warps", "3"),
            ("num-warps", "64"),
            ("num-warps", "4 "),
            ("num-ctas", "0"),
            ("num-ctas", "3"),
            ("num-ctas", "32"),
            ("compute-capability", "sm_75"),
        ];
        for (name, value) in cases {
            let mut options = Options::default();
            let before = options.dump();
            let error = options.set(name, value).expect_err(value);
            assert!(matches!(error, OptionError::Value { .. }), "{name}={value}: {error}");
            assert!(error.to_string().contains(&format!("'{value}'")), "{error}");
            assert_eq!(options.dump(), before, "{name}={value}");
        }
    }

    #[test]
    fn what_is_not_built_is_said_to_be_so() {
        let cases = [("v2-opt-level", "2"), ("pipeline-strategy", "warp-specialize"), ("num-ctas", "2")];
        for (name, value) in cases {
            let error = Options::default().set(name, value).expect_err(value);
            assert!(matches!(error, OptionError::NotBuilt { .. }), "{name}={value}: {error}");
            let text = error.to_string();
            assert!(text.contains("is not built yet; the values are"), "{text}");
        }
    }

    #[test]
    fn stages_and_order_do_not_depend_on_the_level() {
        for level in 0..=3 {
            let steps = Options { opt_level: level, ..Options::default() }.steps();
            assert!(steps.is_sorted_by_key(|s| s.stage), "-O{level}");
            // The tier is a prefix, so that running it and the rest is running all in order.
            assert!(steps.is_sorted_by_key(|s| s.tier > level), "-O{level}");
        }
    }

    #[test]
    fn the_dump_is_a_pipeline_of_the_same_passes() {
        passes::register_all();
        let context = dialect::context();
        let text = |pipeline: &str| {
            let manager = PassManager::new(&context);
            parse_pass_pipeline(manager.as_operation_pass_manager(), pipeline)
                .unwrap_or_else(|e| panic!("{pipeline}: {e}"));
            manager.as_operation_pass_manager().to_string()
        };
        for opt_level in 0..=3 {
            for debug in [DebugInfo::None, DebugInfo::Lines, DebugInfo::Full] {
                let options = Options { opt_level, debug, num_warps: Some(8), ..Options::default() };
                let dump = options.dump();
                let pipelines: Vec<&str> = dump.lines().filter(|l| !l.starts_with("//")).collect();
                let steps = options.steps();
                assert_eq!(pipelines.len(), 2, "{dump}");
                let (tier, finish): (Vec<&Step>, Vec<&Step>) = steps.iter().partition(|s| s.tier <= opt_level);
                for (pipeline, steps) in pipelines.into_iter().zip([tier, finish]) {
                    let printed = text(pipeline);
                    assert_eq!(text(&printed), printed);
                    // Printing adds options that have their defaults; names and order must be those of the steps.
                    let mut rest = printed.as_str();
                    for step in steps {
                        let name = step.pass.split('{').next().unwrap_or_default();
                        let at = rest.find(name).unwrap_or_else(|| panic!("{name} is missing or late in {printed}"));
                        rest = &rest[at + name.len()..];
                    }
                }
            }
        }
    }
}
