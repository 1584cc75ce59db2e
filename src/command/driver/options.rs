//! The options of the compiler: the table, and the parsed result.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use tile_targets::{TARGETS, Target};

use crate::cl::{Glue, Parsed, Replay, Spec, ValueKind};
use crate::hostobj::{HostArch, HostOs};
use crate::remarks::{RemarkFilter, RemarkFormat, RemarkOptions};
use crate::shared::{REMOTE_CACHE, RemoteUse};
use tile_interface::{DebugInfo, Emit, Instrumentation, Level, PipelineOption};

const GENERIC: &str = "Generic options";
const COMPILE: &str = "Compilation options";
const OUTPUT: &str = "Output options";
const STAGES: &str = "Stages and pipelines";
const TOOLS: &str = "Options for ptxas";
const REMARKS: &str = "Remarks";

/// The categories in the order of the help text.
pub const CATEGORIES: &[&str] = &[GENERIC, COMPILE, OUTPUT, STAGES, TOOLS, REMARKS];

/// The target table as choices.
static TARGET_NAMES: [(&str, &str); TARGETS.len()] = {
    let mut names = [("", ""); TARGETS.len()];
    let mut i = 0;
    while i < names.len() {
        names[i] = (TARGETS[i].name, TARGETS[i].devices);
        i += 1;
    }
    names
};

const REMARK_KINDS: &[(&str, &str)] = &[
    ("none", "no remarks"),
    ("all", "all remarks except details"),
    ("memory", "remarks on memory accesses"),
    ("tensorcore", "remarks on matrix multiplication"),
    ("verbose", "all remarks, and details such as the width of offsets"),
];

/// A visible option without an alias, whose value is never glued to its name.
const fn option(
    name: &'static str,
    value: ValueKind,
    placeholder: &'static str,
    category: &'static str,
    help: &'static str,
) -> Spec {
    Spec {
        name,
        value,
        glue: Glue::None,
        alias_for: None,
        placeholder,
        help,
        hidden: false,
        category,
        replay: Replay::Ignore,
    }
}

const fn hidden(spec: Spec) -> Spec {
    Spec { hidden: true, ..spec }
}

/// An option that a replay of a reproducer uses.
const fn replayed(spec: Spec) -> Spec {
    Spec { replay: Replay::Use, ..spec }
}

/// An option that reproducers do not record.
const fn local(spec: Spec) -> Spec {
    Spec { replay: Replay::Omit, ..spec }
}

const fn alias(
    name: &'static str,
    alias_for: &'static str,
    glue: Glue,
    category: &'static str,
    help: &'static str,
) -> Spec {
    Spec {
        name,
        value: ValueKind::Flag,
        glue,
        alias_for: Some(alias_for),
        placeholder: "",
        help,
        hidden: false,
        category,
        replay: Replay::Ignore,
    }
}

use ValueKind::{Action, Choice, Flag, Integer, List, OptionalText, Text};

/// The preview features of the language that the command knows.
pub const PREVIEW_FEATURES: &[&str] = &["simt"];

/// All options. If two names are equally close to a mistyped one, the earlier one is suggested.
pub static SPECS: &[Spec] = &[
    replayed(option("gpu-name", Choice(&TARGET_NAMES), "value", COMPILE, "The GPU to compile for (default sm_100)")),
    alias("arch", "gpu-name", Glue::None, COMPILE, "Alias for --gpu-name"),
    alias("g", "device-debug", Glue::Group, COMPILE, "Alias for --device-debug"),
    alias("o", "output-file", Glue::Group, OUTPUT, "Alias for --output-file"),
    alias("O", "opt-level", Glue::Prefix, COMPILE, "Alias for --opt-level, as in -O2"),
    alias("h", "help", Glue::None, GENERIC, "Alias for --help"),
    replayed(option("opt-level", Integer, "N", COMPILE, "Optimization level, 0 to 3 (default 3)")),
    replayed(option("device-debug", Flag, "", COMPILE, "Full debug information; needs -O0")),
    replayed(option("lineinfo", Flag, "", COMPILE, "Source line information for profilers and debuggers")),
    replayed(option(
        "sanitize",
        Choice(&[("memcheck", "out-of-bounds accesses")]),
        "value",
        COMPILE,
        "Instrument the code for a sanitizer",
    )),
    replayed(option(
        "numerics",
        Choice(&[
            ("default", "results may depend on the GPU, hints and the optimization level"),
            ("pinned", "reductions and scans combine elements in an order that depends on their shape alone"),
            ("portable", "as pinned, without instructions whose bits PTX does not define"),
        ]),
        "mode",
        COMPILE,
        "Which bits of results the program alone determines",
    )),
    replayed(option("strict-types", Flag, "", COMPILE, "Reject the types that NVIDIA's compiler rejects for the GPU")),
    replayed(option(
        "host-arch",
        Choice(&[("x86_64", ""), ("aarch64", ""), ("arm64ec", "with --host-os=windows")]),
        "value",
        COMPILE,
        "Architecture of the host (default x86_64)",
    )),
    replayed(option(
        "host-os",
        Choice(&[("linux", ""), ("windows", "")]),
        "value",
        COMPILE,
        "Operating system of the host (default linux)",
    )),
    local(option(
        "output-file",
        Text,
        "filename",
        OUTPUT,
        "The output file (default elf.o for cubins, standard output for text; - is standard output)",
    )),
    replayed(option(
        "emit",
        Choice(&[
            ("cuda-tile", "the module as read and verified"),
            ("tileaa", "tiles as tensors, memory effects explicit"),
            ("tileas", "with layouts, pipelines and agents assigned"),
            ("llvm", "LLVM IR"),
            ("ptx", "PTX, as passed to ptxas"),
            ("cubin", "machine code for the GPU (default)"),
            ("obj", "a host object that embeds the cubin"),
        ]),
        "stage",
        STAGES,
        "Stop at this stage and write it",
    )),
    replayed(option(
        "start-from",
        Choice(&[
            ("cuda-tile", "the public dialect, as bytecode or text"),
            ("cuda_tile", "the same"),
            ("tileaa", "the output of --emit=tileaa"),
            ("tileas", "the output of --emit=tileas"),
            ("llvm", "the output of --emit=llvm"),
        ]),
        "level",
        STAGES,
        "The level of the input (default: detected from its text)",
    )),
    replayed(option(
        "start-after",
        Text,
        "pass",
        STAGES,
        "The input was printed after this pass (default: an attribute of --print-after)",
    )),
    replayed(option(
        "print-after",
        Text,
        "pass",
        STAGES,
        "Stop after this pass and write the module; PASS#2 is the second run of a pass",
    )),
    option("pipeline-option", List, "key=value", STAGES, "Set an option of the pass pipeline; may be repeated"),
    option("load-pass-plugin", List, "filename", STAGES, "Load a shared library of MLIR passes; may be repeated"),
    option(
        "insert-pass",
        List,
        "place:passes",
        STAGES,
        "Run passes before:PASS, after:PASS or at the end:LEVEL (tileaa, tileas, llvm); may be repeated",
    ),
    replayed(option(
        "strict-plans",
        Flag,
        "",
        STAGES,
        "Fail if a plan cannot be carried out, instead of using a weaker one",
    )),
    replayed(option(
        "dump-pass-pipeline",
        Flag,
        "",
        STAGES,
        "Print the pass pipelines to standard error before they run",
    )),
    replayed(option("mlir-timing", Flag, "", STAGES, "Print the time spent in each pass and scope to standard error")),
    alias("time-passes", "mlir-timing", Glue::None, STAGES, "Alias for --mlir-timing"),
    // The former name, which in tile-run predicts the time of a kernel.
    hidden(alias("timing", "mlir-timing", Glue::None, STAGES, "Alias for --mlir-timing")),
    replayed(option(
        "mlir-print-ir-before-all",
        Flag,
        "",
        STAGES,
        "Print the module before each pass to standard error",
    )),
    replayed(option("mlir-print-ir-after-all", Flag, "", STAGES, "Print the module after each pass to standard error")),
    hidden(alias(
        "print-ir-after-all",
        "mlir-print-ir-after-all",
        Glue::None,
        STAGES,
        "Alias for --mlir-print-ir-after-all",
    )),
    replayed(option("mlir-pass-statistics", Flag, "", STAGES, "Print the statistics of the passes to standard error")),
    replayed(option(
        "print-llvm-ir",
        Flag,
        "",
        STAGES,
        "Print LLVM IR before and after optimization to standard error",
    )),
    local(option(
        "cache-dir",
        Text,
        "directory",
        OUTPUT,
        "Cache outputs in this directory, keyed by content; not used with remarks, --save-temps and similar options",
    )),
    local(option("shared-cache", Flag, "", OUTPUT, "Trust every user who can write to the directory of --cache-dir")),
    local(option(
        "remote-cache",
        Text,
        "address",
        OUTPUT,
        "Share cached outputs through this Remote Execution API server, grpc[s]://host:port[/instance]",
    )),
    local(option(
        "remote-cache-timeout",
        Text,
        "ms",
        OUTPUT,
        "Longest delay, in milliseconds, of a lookup in the remote cache and of a store to it (default 1000)",
    )),
    local(option("crash-dir", Text, "directory", OUTPUT, "Write a reproducer here after an internal compiler failure")),
    local(option("anonymize", Flag, "", OUTPUT, "Remove the names of files and functions from reproducers")),
    local(option("save-temps", Flag, "", STAGES, "Save the text of each stage next to the output")),
    replayed(option(
        "backend",
        Choice(&[
            ("llvm", "LLVM's NVPTX backend (default)"),
            ("libnvvm", "NVIDIA's libNVVM, if it is found; sm_100 and later"),
        ]),
        "name",
        TOOLS,
        "The backend that translates LLVM IR to PTX",
    )),
    option("libnvvm-path", Text, "filename", TOOLS, "Use this libNVVM and search for no other"),
    option(
        "libdevice",
        OptionalText,
        "filename",
        COMPILE,
        "Take math functions from NVIDIA's libdevice: from this file, or from the CUDA toolkit",
    ),
    local(option("ptxas-path", Text, "filename", TOOLS, "Use this ptxas and search for no other")),
    option("ptxas-option", List, "argument", TOOLS, "Pass an argument to ptxas; may be repeated"),
    replayed(option("ptxas-timeout", Integer, "seconds", TOOLS, "Stop ptxas after this time (default 0: never)")),
    local(option(
        "resource-usage-file",
        Text,
        "filename",
        TOOLS,
        "Write registers, spills and memory of each kernel as JSON",
    )),
    replayed(option(
        "remarks",
        Choice(REMARK_KINDS),
        "kind",
        REMARKS,
        "Enable remarks of every type on these subjects",
    )),
    replayed(option(
        "remarks-passed",
        Choice(REMARK_KINDS),
        "kind",
        REMARKS,
        "Enable remarks on applied optimizations",
    )),
    replayed(option("remarks-missed", Choice(REMARK_KINDS), "kind", REMARKS, "Enable remarks on missed optimizations")),
    replayed(option(
        "remarks-failed",
        Choice(REMARK_KINDS),
        "kind",
        REMARKS,
        "Enable remarks on optimizations that failed",
    )),
    replayed(option(
        "remarks-analysis",
        Choice(REMARK_KINDS),
        "kind",
        REMARKS,
        "Enable remarks with the results of analyses",
    )),
    option(
        "remark-format",
        Choice(&[("command-line", "on standard error (default)"), ("yaml", "in a YAML file")]),
        "format",
        REMARKS,
        "Where and how remarks are written",
    ),
    local(option("remarks-output-file", Text, "filename", REMARKS, "The YAML file (default tileir_remarks.yaml)")),
    option("list-versions", Flag, "", GENERIC, "List the supported bytecode versions"),
    option("explain", Text, "code", GENERIC, "Explain an error code such as T0401"),
    replayed(option(
        "diagnostic-format",
        Choice(&[
            ("auto", "caret on a terminal, plain otherwise (default)"),
            ("plain", "one line per message"),
            ("caret", "with an excerpt of the source"),
            ("json", "one JSON object per line"),
        ]),
        "format",
        GENERIC,
        "The format of diagnostics",
    )),
    option("help", Action, "", GENERIC, "Display available options (--help-hidden for more)"),
    hidden(option("help-hidden", Action, "", GENERIC, "Display all available options")),
    option("help-list", Action, "", GENERIC, "Display list of available options (--help-list-hidden for more)"),
    hidden(option("help-list-hidden", Action, "", GENERIC, "Display list of all available options")),
    alias("resource-usage", "resource-usage-file", Glue::None, TOOLS, "Alias for --resource-usage-file"),
    hidden(option(
        "explore-data",
        Text,
        "filename",
        STAGES,
        "Write the data of 'tileiras explore': the module after each pass, with source lines, remarks and resources",
    )),
    hidden(option("print-options", Flag, "", GENERIC, "Accepted for compatibility; does nothing")),
    hidden(option("print-all-options", Flag, "", GENERIC, "Accepted for compatibility; does nothing")),
    option("version", Action, "", GENERIC, "Display the version of this program"),
    hidden(option("apply-controls", Text, "filename", COMPILE, "Recognized but not supported: controls")),
    Spec { glue: Glue::Group, ..option("l", List, "filename", COMPILE, "Link a tile library; may be repeated") },
    replayed(option(
        "preview",
        ValueKind::Features(PREVIEW_FEATURES),
        "feature[,feature...]",
        COMPILE,
        "Enable preview features of the language: simt",
    )),
    hidden(option(
        "preview-create-tile-lib",
        Flag,
        "",
        OUTPUT,
        "Make a tile library from --preview-interface and --preview-implementation",
    )),
    hidden(option("preview-interface", Text, "filename", OUTPUT, "The interface of the tile library")),
    hidden(option(
        "preview-implementation",
        List,
        "filename",
        OUTPUT,
        "The catalogue or the code of the tile library; twice",
    )),
];

/// The options of a command line. Values that need more than a parse are checked later.
#[derive(Debug, Clone)]
pub struct Options {
    pub input: PathBuf,
    /// `None` when not given: the default depends on the stage.
    pub output: Option<PathBuf>,
    pub target: &'static Target,
    /// As written. Only 0 to 3 are valid.
    pub opt_level: i64,
    pub device_debug: bool,
    pub lineinfo: bool,
    pub sanitize: Option<&'static str>,
    /// Whether preview features are enabled, of which there is one.
    pub preview: bool,
    /// Tile libraries.
    pub libraries: Vec<PathBuf>,
    /// A file with controls of the compilation, which cannot be applied. An empty name counts as absent.
    pub controls: Option<PathBuf>,
    pub emit: Emit,
    /// `None`: detected from the text of the input.
    pub start_from: Option<Level>,
    /// As written. Boundaries have the form of [`tile_interface::Boundary`].
    pub start_after: Option<OsString>,
    pub print_after: Option<OsString>,
    pub strict_plans: bool,
    pub host_arch: HostArch,
    pub host_os: HostOs,
    /// Whether the command line names the operating system.
    pub is_host_os_given: bool,
    pub pipeline_options: Vec<OsString>,
    /// Shared libraries of passes.
    pub plugins: Vec<PathBuf>,
    /// As written. Most have the form of [`tile_interface::Insertion`].
    pub insertions: Vec<OsString>,
    pub instrumentation: Instrumentation,
    pub save_temps: bool,
    /// The file for the data of `tileiras explore`.
    pub explore_data: Option<PathBuf>,
    pub cache_dir: Option<PathBuf>,
    /// Whether every user who can write to `cache_dir` is trusted.
    pub shared_cache: bool,
    /// The address of a server, and the longest delay of a call in milliseconds, both as written.
    pub remote_cache: Option<OsString>,
    pub remote_cache_timeout: Option<OsString>,
    /// The state of the server as the parent process left it.
    pub remote: RemoteUse,
    pub crash_dir: Option<PathBuf>,
    pub anonymize: bool,
    /// Whether libNVVM generates the PTX, and the library to use.
    pub libnvvm: bool,
    pub libnvvm_path: Option<PathBuf>,
    /// Whether math functions come from NVIDIA's libdevice.
    pub libdevice: Option<Libdevice>,
    pub ptxas: PtxasOptions,
    pub resource_usage_file: Option<PathBuf>,
    pub remarks: RemarkOptions,
    pub format: DiagnosticFormat,
}

impl Options {
    /// The debug information to emit. Full information includes line information.
    pub fn debug(&self) -> DebugInfo {
        match (self.device_debug, self.lineinfo) {
            (true, _) => DebugInfo::Full,
            (false, true) => DebugInfo::Lines,
            (false, false) => DebugInfo::None,
        }
    }
}

/// The libdevice to use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Libdevice {
    /// The one in the CUDA toolkit.
    Toolkit,
    File(PathBuf),
}

impl Libdevice {
    /// The file, if one was named.
    pub fn file(&self) -> Option<&std::path::Path> {
        match self {
            Libdevice::Toolkit => None,
            Libdevice::File(file) => Some(file),
        }
    }
}

/// How to find and call ptxas.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PtxasOptions {
    pub path: Option<PathBuf>,
    pub extra: Vec<OsString>,
    /// `None`: taken from the environment. Zero: ptxas is never stopped.
    pub timeout: Option<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiagnosticFormat {
    Auto,
    Plain,
    Caret,
    Json,
}

/// The requested format of diagnostics. Usable even if other arguments are wrong.
pub fn diagnostic_format(parsed: &Parsed) -> DiagnosticFormat {
    match parsed.choice("diagnostic-format") {
        Some("plain") => DiagnosticFormat::Plain,
        Some("caret") => DiagnosticFormat::Caret,
        Some("json") => DiagnosticFormat::Json,
        _ => DiagnosticFormat::Auto,
    }
}

/// Builds the options of a command line that parsed without errors and names an input.
pub fn options(parsed: &Parsed, input: PathBuf) -> Options {
    let path = |name| parsed.text(name).map(PathBuf::from);
    // A flag overrides the pipeline option of the same meaning, which overrides the default.
    let pipeline_options = merged_pipeline_options(parsed);
    let pipeline = |name: &str| {
        let last =
            pipeline_options.iter().rev().filter_map(|o| o.to_str()?.split_once('=')).find(|(key, _)| *key == name);
        last.map(|(_, value)| value)
    };
    let target = parsed.choice("gpu-name").or(pipeline("compute-capability")).and_then(Target::by_name);
    let emit = parsed.choice("emit").and_then(|name| Emit::ALL.iter().copied().find(|e| e.name() == name));
    let kind = |name| parsed.choice(name).map_or(RemarkFilter::None, RemarkFilter::from_name);
    Options {
        input,
        output: path("output-file"),
        target: target.unwrap_or_else(Target::default_target),
        opt_level: parsed.integer("opt-level").or(pipeline("opt-level").and_then(|v| v.parse().ok())).unwrap_or(3),
        device_debug: parsed.flag("device-debug"),
        lineinfo: parsed.flag("lineinfo"),
        sanitize: parsed.choice("sanitize"),
        preview: !parsed.list("preview").is_empty(),
        libraries: parsed.list("l").into_iter().map(PathBuf::from).collect(),
        controls: parsed.text("apply-controls").filter(|file| !file.is_empty()).map(PathBuf::from),
        // The text of a boundary takes the place of PTX.
        emit: if parsed.text("print-after").is_some() { Emit::Ptx } else { emit.unwrap_or(Emit::Cubin) },
        start_from: parsed.choice("start-from").and_then(Level::by_name),
        start_after: parsed.text("start-after").map(OsString::from),
        print_after: parsed.text("print-after").map(OsString::from),
        strict_plans: parsed.flag("strict-plans"),
        host_arch: match parsed.choice("host-arch") {
            Some("aarch64") => HostArch::Aarch64,
            Some("arm64ec") => HostArch::Arm64Ec,
            _ => HostArch::X86_64,
        },
        host_os: match parsed.choice("host-os") {
            Some("windows") => HostOs::Windows,
            _ => HostOs::Linux,
        },
        is_host_os_given: parsed.choice("host-os").is_some(),
        pipeline_options: pipeline_options.clone(),
        plugins: parsed.list("load-pass-plugin").into_iter().map(PathBuf::from).collect(),
        insertions: parsed.list("insert-pass"),
        instrumentation: Instrumentation {
            dump_pass_pipeline: parsed.flag("dump-pass-pipeline"),
            print_ir_before_all: parsed.flag("mlir-print-ir-before-all"),
            print_ir_after_all: flag_or_variable(parsed, "mlir-print-ir-after-all"),
            timing: flag_or_variable(parsed, "mlir-timing"),
            statistics: flag_or_variable(parsed, "mlir-pass-statistics"),
            print_llvm: flag_or_variable(parsed, "print-llvm-ir"),
        },
        save_temps: parsed.flag("save-temps"),
        explore_data: path("explore-data"),
        cache_dir: path("cache-dir"),
        shared_cache: parsed.flag("shared-cache"),
        remote_cache: value_or_variable(parsed, "remote-cache"),
        remote_cache_timeout: value_or_variable(parsed, "remote-cache-timeout"),
        remote: RemoteUse::default(),
        crash_dir: path("crash-dir"),
        anonymize: parsed.flag("anonymize"),
        libnvvm: parsed.choice("backend") == Some("libnvvm"),
        libnvvm_path: path("libnvvm-path"),
        libdevice: path("libdevice")
            .map(|file| if file.as_os_str().is_empty() { Libdevice::Toolkit } else { Libdevice::File(file) }),
        ptxas: PtxasOptions {
            path: path("ptxas-path"),
            extra: parsed.list("ptxas-option"),
            timeout: parsed.integer("ptxas-timeout").map(|s| Duration::from_secs(s.max(0).unsigned_abs())),
        },
        resource_usage_file: path("resource-usage-file"),
        remarks: RemarkOptions {
            all: kind("remarks"),
            passed: kind("remarks-passed"),
            missed: kind("remarks-missed"),
            failed: kind("remarks-failed"),
            analysis: kind("remarks-analysis"),
            format: match parsed.choice("remark-format") {
                Some("yaml") => RemarkFormat::Yaml,
                _ => RemarkFormat::CommandLine,
            },
            file: path("remarks-output-file"),
        },
        format: diagnostic_format(parsed),
    }
}

/// Environment variables that set a flag if they are `1`, for use when another program writes the command line.
const SWITCHES: [(&str, &str); 4] = [
    ("TILEIRAS_MLIR_DUMP", "mlir-print-ir-after-all"),
    ("TILEIRAS_TIMING", "mlir-timing"),
    ("TILEIRAS_STATISTICS", "mlir-pass-statistics"),
    ("TILEIRAS_LLVM_DUMP", "print-llvm-ir"),
];

/// Environment variables that supply the value of an option.
const VALUES: [(&str, &str); 2] =
    [(REMOTE_CACHE, "remote-cache"), ("TILEIRAS_REMOTE_CACHE_TIMEOUT", "remote-cache-timeout")];

/// The option's value, falling back to its environment variable. An empty value counts as unset.
fn value_or_variable(parsed: &Parsed, option: &str) -> Option<OsString> {
    let variable = || std::env::var_os(VALUES.iter().find(|(_, o)| *o == option)?.0);
    parsed.text(option).map(OsString::from).or_else(variable).filter(|value| !value.is_empty())
}

/// Whether a flag or its environment variable is set.
fn flag_or_variable(parsed: &Parsed, flag: &str) -> bool {
    let mut variables = SWITCHES.iter().filter(|(_, f)| *f == flag);
    parsed.flag(flag) || variables.any(|(name, _)| std::env::var_os(name).is_some_and(|v| v == "1"))
}

/// The pipeline options, followed by the flags that override them: the last value of a key wins.
fn merged_pipeline_options(parsed: &Parsed) -> Vec<OsString> {
    let mut list = parsed.list("pipeline-option");
    let named = |name: &str| {
        list.iter().any(|o| o.to_str().and_then(|text| text.split_once('=')).is_some_and(|(key, _)| key == name))
    };
    let level = parsed.integer("opt-level").filter(|_| named("opt-level"));
    let target = parsed.choice("gpu-name").filter(|_| named("compute-capability"));
    let flags = [level.map(|l| format!("opt-level={l}")), target.map(|t| format!("compute-capability={t}"))];
    list.extend(flags.into_iter().flatten().map(OsString::from));
    list.extend(parsed.choice("numerics").map(|mode| format!("{}={mode}", PipelineOption::Numerics.name()).into()));
    list.extend(parsed.flag("strict-types").then(|| "strict-types=true".into()));
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_aliases_resolve() {
        for (i, spec) in SPECS.iter().enumerate() {
            assert!(SPECS[..i].iter().all(|s| s.name != spec.name), "{}", spec.name);
            assert!(CATEGORIES.contains(&spec.category), "{}", spec.name);
            if let Some(target) = spec.alias_for {
                assert!(SPECS.iter().any(|s| s.name == target && s.alias_for.is_none()), "{}", spec.name);
            }
            assert!(!spec.help.is_empty() && !spec.help.ends_with('.'), "{}", spec.name);
        }
    }

    #[test]
    fn the_choices_of_numerics_are_those_of_the_pipeline() {
        let spec = SPECS.iter().find(|s| s.name == PipelineOption::Numerics.name()).unwrap();
        let ValueKind::Choice(choices) = spec.value else { panic!("{:?}", spec.value) };
        assert!(choices.iter().map(|c| c.0).eq(tile_interface::NUMERICS.iter().copied()));
    }

    #[test]
    fn flags_override_pipeline_options_and_both_override_defaults() {
        let parse = |arguments: &[&str]| {
            let arguments: Vec<OsString> = ["tileiras", "k.mlir"].iter().chain(arguments).map(Into::into).collect();
            let o = options(&crate::cl::parse(SPECS, &arguments, 1), "k.mlir".into());
            (o.opt_level, o.target.name, o.pipeline_options.last().cloned().unwrap_or_default())
        };
        let level = "--pipeline-option=opt-level=1";
        let target = "--pipeline-option=compute-capability=sm_90";
        assert_eq!(parse(&[]), (3, "sm_100", "".into()));
        assert_eq!(parse(&[level, target]), (1, "sm_90", "compute-capability=sm_90".into()));
        assert_eq!(parse(&["-O2", level]), (2, "sm_100", "opt-level=2".into()));
        assert_eq!(parse(&[target, "--gpu-name=sm_80"]), (3, "sm_80", "compute-capability=sm_80".into()));
        assert_eq!(parse(&["--strict-types"]), (3, "sm_100", "strict-types=true".into()));
        let pinned = "--pipeline-option=numerics=pinned";
        assert_eq!(parse(&["--numerics=default", pinned]), (3, "sm_100", "numerics=default".into()));
        // Flags without a pipeline option of the same meaning are not added.
        assert_eq!(parse(&["-O2", "--pipeline-option=num-warps=8"]), (2, "sm_100", "num-warps=8".into()));
    }
}
