//! Options of the `tileir` pipeline, their text form, and the passes that they select.

use std::fmt::Write;
use tile_targets::Target;

/// Which strategy pipelines loops. Only `None` is built so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    None,
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
    /// Warps of a block unless the entry says otherwise: a power of two up to 32.
    pub num_warps: u32,
    pub target: &'static Target,
    /// Line tables in the PTX.
    pub line_info: bool,
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
        Options { opt_level: 2, num_warps: 4, target: Target::default_target(), line_info: false }
    }
}

/// Names that the text form knows.
const NAMES: &[&str] =
    &["opt-level", "v2-opt-level", "pipeline-strategy", "num-warps", "num-ctas", "compute-capability"];

impl Options {
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
                "none" => {}
                "unspecialize" | "warp-specialize" => return Err(missing("pipeline-strategy", "none")),
                _ => return Err(bad("pipeline-strategy", "none, unspecialize or warp-specialize")),
            },
            "num-warps" => {
                let valid = |w: &u32| w.is_power_of_two() && *w <= 32;
                self.num_warps =
                    value.parse().ok().filter(valid).ok_or_else(|| bad("num-warps", "a power of two from 1 to 32"))?;
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
        add(Stage::TileAs, 2, format!("convert-tileaa-to-tileas{{num-warps={}}}", self.num_warps));
        for pass in [
            "tileas-assign-load-store-layouts",
            "tileas-remove-layout-conversions",
            "tileas-order-memory",
            "tileas-materialize-convert-layout",
            "tileas-optimize-alloc-tensor",
        ] {
            add(Stage::TileAs, 2, pass.into());
        }
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
        if self.line_info {
            add(
                Stage::Llvm,
                FINISH,
                "llvm.func(ensure-debug-info-scope-on-llvm-func{emission-kind=DebugDirectivesOnly})".into(),
            );
        }
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
