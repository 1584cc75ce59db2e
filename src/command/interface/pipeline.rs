//! The table of pipeline options: names, values, meaning, and effects other than code.
//!
//! The pipeline parses and sets options by this table. Reproducers and the cache of the driver, which does not link the
//! pipeline, query it for effects. Since the pipeline matches on [`PipelineOption`], an option cannot be missing here.

use std::fmt;

/// The values of an option. Displays as a noun for error messages: `a number from 0 to 3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// `true`, `1`, `false` or `0`.
    Bool,
    /// A natural number in the inclusive range.
    Number(u32, u32),
    /// A power of two up to the limit.
    PowerOfTwo(u32),
    OneOf(&'static [&'static str]),
    /// The name of a file, as far as the text form of a pipeline can represent it.
    File,
    /// Values that only the pipeline can check, with a description of them.
    Other(&'static str),
}

impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool => f.write_str("true or false"),
            Self::Number(0, u32::MAX) => f.write_str("a non-negative number"),
            Self::Number(first, last) => write!(f, "a number from {first} to {last}"),
            Self::PowerOfTwo(most) => write!(f, "a power of two from 1 to {most}"),
            Self::OneOf([names @ .., last]) => write!(f, "{} or {last}", names.join(", ")),
            Self::OneOf([]) => f.write_str("empty"),
            Self::File => f.write_str("a file name without spaces, quotes, braces, parentheses or commas"),
            Self::Other(text) => f.write_str(text),
        }
    }
}

impl Values {
    pub fn bool(self, text: &str) -> Option<bool> {
        match text {
            "true" | "1" => Some(true),
            "false" | "0" => Some(false),
            _ => None,
        }
    }
    /// Returns a number that the option admits.
    pub fn number(self, text: &str) -> Option<u32> {
        let value = text.parse().ok()?;
        let admitted = match self {
            Self::Number(first, last) => (first..=last).contains(&value),
            Self::PowerOfTwo(most) => value.is_power_of_two() && value <= most,
            Self::OneOf(names) => names.contains(&text),
            _ => false,
        };
        admitted.then_some(value)
    }
    /// Returns the name of a file. It may be empty.
    pub fn file(self, text: &str) -> Option<&str> {
        let is_special = |c: char| c.is_whitespace() || c.is_control() || "{}(),'\"".contains(c);
        (!text.chars().any(is_special)).then_some(text)
    }
}

/// The effects of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It only affects the output and the diagnostics. A replay of a reproducer keeps it.
    Output,
    /// It prints or writes something in addition to the output. A replay ignores it, and the cache is not used.
    Side,
}

macro_rules! options {
    ($($variant:ident: $name:literal, $values:expr, $effect:ident, $help:literal;)*) => {
        /// An option of the pipeline.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum PipelineOption {$(
            #[doc = $help]
            $variant,
        )*}
        impl PipelineOption {
            /// All options, in the order of the text form.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
            pub fn values(self) -> Values {
                match self { $(Self::$variant => $values,)* }
            }
            pub fn effect(self) -> Effect {
                match self { $(Self::$variant => Effect::$effect,)* }
            }
            /// The meaning of the option, in Markdown.
            pub fn help(self) -> &'static str {
                match self { $(Self::$variant => $help,)* }
            }
        }
    };
}

/// The values of [`PipelineOption::Numerics`], the default first.
pub const NUMERICS: &[&str] = &["default", "pinned", "portable"];

const SNAPSHOTS: Values = Values::OneOf(&["none", "inputIR", "tileaa", "tileas", "post-tileas"]);

options! {
    OptLevel: "opt-level", Values::Number(0, 3), Output,
        "the tier of passes, and the level of code generation";
    V2OptLevel: "v2-opt-level", Values::Number(0, 3), Output,
        "scheduling: 0 off; 1 the modulo scheduler with one agent; 2 also with several; 3 also exhaustive search";
    PipelineStrategy: "pipeline-strategy", Values::OneOf(&["none", "unspecialize", "warp-specialize"]), Output,
        "how loops are pipelined: not, by rings of `cp.async`, or by agents; the command's default is the strongest \
         strategy of the target";
    NumStages: "unspecialized-pipeline-num-stages", Values::Number(1, 64), Output,
        "the most stages of a ring of `cp.async`";
    TableRows: "rrt-size-threshold", Values::Number(0, u32::MAX), Output,
        "the most rows of the scheduler's reservation tables; 0 for none";
    ConstraintIterations: "max-constraint-iterations", Values::Number(0, u32::MAX), Output,
        "how often the scheduler tightens constraints";
    PassLimit: "pass-limit", Values::Number(0, u32::MAX), Output,
        "runs only the first N optional passes";
    DisablePass: "disable-pass", Values::Other("a comma-separated list of optional passes"), Output,
        "leaves out optional passes";
    NumWarps: "num-warps", Values::PowerOfTwo(32), Output,
        "warps of a CTA; a hint of the entry overrides it";
    NumCtas: "num-ctas", Values::OneOf(&["0", "1", "2", "4", "8"]), Output,
        "CTAs over which a tile block is split; 0 lets the compiler choose";
    ComputeCapability: "compute-capability", Values::Other("a target, sm_NN"), Output,
        "the GPU to compile for";
    ExtendedSmem: "extended-smem", Values::Bool, Output,
        "lets kernels use all opt-in shared memory";
    IndexBitwidth: "index-bitwidth", Values::OneOf(&["32", "64"]), Output,
        "bits of address arithmetic";
    Approx: "approx", Values::Bool, Output,
        "all f32 arithmetic may be approximate";
    Ftz: "ftz", Values::Bool, Output,
        "all f32 arithmetic flushes subnormals";
    Numerics: "numerics", Values::OneOf(NUMERICS), Output,
        "`pinned` combines the elements of reductions and scans in an order that depends on their shape alone; `portable` \
         also avoids instructions whose bits PTX does not define";
    StrictTypes: "strict-types", Values::Bool, Output,
        "rejects the types that NVIDIA's compiler rejects for the target";
    UnitScales: "unit-scales", Values::Bool, Output,
        "on sm_120 and 121, dots of 8-bit floats use the instruction with block scales, all of them one (the default), \
         which GeForce GPUs run twice as fast";
    EmitLineInfo: "emit-line-info", SNAPSHOTS, Side,
        "prints the program at this level with the location of each op";
    SnapshotLines: "snapshot-lines", SNAPSHOTS, Side,
        "writes the program at this level to a file, whose lines the line information refers to";
    SnapshotFile: "snapshot-file", Values::File, Side,
        "the file of `snapshot-lines`; by default `tileir-snapshot.STAGE.mlir`";
    DynamicPersistent: "dynamic-persistent", Values::Bool, Output,
        "CTAs run several tile blocks; by default the compiler chooses, and true needs cluster launch control";
    ScheduleTraceFile: "schedule-trace-file", Values::File, Side,
        "writes the scheduler's schedules to a file";
    HostTriple: "host-triple", Values::Other("a target triple such as x86_64-unknown-linux-gnu"), Output,
        "the target of the host code of a launch";
    DumpHost: "dump-host", Values::File, Side,
        "writes the host code of a launch to a file";
}

impl PipelineOption {
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|option| option.name() == name)
    }
}

/// Returns the effect of a setting, `name=value`, or `None` if no option has this name.
pub fn effect(setting: &str) -> Option<Effect> {
    let (name, _) = setting.split_once('=')?;
    PipelineOption::by_name(name).map(PipelineOption::effect)
}

/// Returns the options as a Markdown table.
pub fn markdown() -> String {
    let mut text = String::from("| option | value | meaning |\n|---|---|---|\n");
    for option in PipelineOption::ALL {
        let values = match option.values() {
            Values::OneOf(names) => names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", "),
            values => values.to_string(),
        };
        text.push_str(&format!("| `{}` | {values} | {} |\n", option.name(), option.help()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_find_their_options() {
        let names: BTreeSet<&str> = PipelineOption::ALL.iter().map(|o| o.name()).collect();
        assert_eq!(names.len(), PipelineOption::ALL.len());
        assert!(PipelineOption::ALL.iter().all(|o| PipelineOption::by_name(o.name()) == Some(*o)));
        assert_eq!(PipelineOption::by_name("opt"), None);
    }

    #[test]
    fn values_are_checked() {
        let level = Values::Number(0, 3);
        assert_eq!(["3", "4", "-1", ""].map(|text| level.number(text)), [Some(3), None, None, None]);
        assert_eq!(
            ["0", "3", "32", "64"].map(|text| Values::PowerOfTwo(32).number(text)),
            [None, None, Some(32), None]
        );
        let counts = Values::OneOf(&["0", "8"]);
        assert_eq!(["8", "08", "4"].map(|text| counts.number(text)), [Some(8), None, None]);
        assert_eq!(["1", "false", "no"].map(|text| Values::Bool.bool(text)), [Some(true), Some(false), None]);
        assert_eq!(["a.mlir", "a{b"].map(|text| Values::File.file(text)), [Some("a.mlir"), None]);
        let texts = [level, Values::Number(0, u32::MAX), counts].map(|v| v.to_string());
        assert_eq!(texts, ["a number from 0 to 3", "a non-negative number", "0 or 8"]);
    }
}
