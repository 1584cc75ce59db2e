//! The command line of `tile-run`.

use crate::element::Element;
use crate::launch::{self, Argument};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tile_interface::{Insertion, NUMERICS, PipelineOption};
use tile_interp::machine::{Limits, Outside, Promises};
use tile_targets::Target;

pub const HELP: &str = "\
Runs a kernel on the simulated device, or on the reference interpreter.

usage: tile-run [options] KERNEL --grid X[,Y,Z] ARG...
       tile-run [options] --launch launch.json [KERNEL]

KERNEL is Tile IR (.tileirbc, .mlir), which is compiled first, or PTX (.ptx).

An ARG is one of
  FILE.npy[:TYPE][:i64]  an array: passes pointer, extents and strides (in elements, 32 bits; 64 bits with :i64);
                         with :ptr instead of :i64, passes only the pointer, for kernels without extents and strides;
                         TYPE is the element type where NumPy lacks it: bf16, e4m3, e5m2, e5m3, e8m0
  TYPE:VALUE             a scalar, such as i32:5, f32:1.5, f16:-inf, f32:0x7fc00000 (its bits)
  zeros:TYPE:NxM[:i64]   an array of zeros of this shape; or :ptr, as above

launch:
  --entry NAME           the entry (default: the kernel's only entry)
  --grid X[,Y,Z]         number of tile blocks in each dimension
  --block X[,Y,Z]        number of threads of a CTA, for PTX that does not specify it
  --dynamic-shared N     bytes of dynamic shared memory
  --launch FILE          read kernel, entry, grid, arguments and expected results from JSON; other options override it
  --out-dir DIR          write the arrays to this folder, as .npy files under their own names

engine:
  --engine NAME          'sim' compiles the kernel and runs it on the simulated device (default); 'reference' interprets
                         Tile IR, one element at a time, and reports undefined behavior and invalid accesses. It
                         ignores the options for compilation and simulation except --max-time

reference interpreter, also when results are compared with it:
  --host-functions FILE  take functions that compute calls of tile libraries from this shared library; may be repeated.
                         The call of @f becomes f(operands, results, constants): docs/interpreter.md
  --promises HOW         how to handle an 'assume' that does not hold: 'check' ends the run (default), 'report' warns
                         and continues, 'trust' does not check. A promise about the stride of a dimension with at most
                         one element always holds, because no address depends on it
  --outside HOW          how to handle a tile entirely outside its view, whose index is beyond the index space:
                         'undefined' ends the run, as in the language (default); 'masked' makes loads return the
                         padding and stores do nothing, as compiled code does unless tiles are known to divide the
                         extent

compilation:
  --gpu-name NAME        target, such as sm_90 (default sm_100)
  -O N                   optimization level, 0 to 3 (default 3)
  --save-ptx FILE        write the PTX to FILE
  --lineinfo             generate line information in the PTX
  --numerics MODE        as for tileiras; unless it is 'default', the reference interpreter follows the same order
  -l FILE                link a tile library, whose functions the kernel calls; may be repeated
  --pipeline-option K=V, --load-pass-plugin FILE, --insert-pass PLACE:PASSES
                         as for tileiras; each may be repeated

simulation:
  --adversarial SEED     run under an unfavorable schedule with race detection; a comma-separated list of seeds gives
                         one run each, and 'plain' in the list is the ordinary schedule
  --check-each           find the pass that makes results wrong: compile and run the kernel with none of the optional
                         passes, with the first of them, with the first two and so on. Results are compared with the
                         description's expectations, or with the reference interpreter
  --check-against FILE   compare results with those of FILE, which is Tile IR, on the reference interpreter: for PTX
                         that was compiled from it
  --tolerance R          for --check-... with the interpreter: maximum difference as a fraction of the largest number
                         (default 2^-40 for f64, 2^-12 for f32, 2^-6 for f16, 2^-5 for bf16 and 2^-1 for 8 bits);
                         integers must be equal. With 'promised' instead of R, every element must be as precise as the
                         language promises, which the interpreter tracks; elements that may be anything are counted
  --undefined            with --adversarial, report uses of uninitialized registers as errors
  --strict               also report what devices do although the PTX ISA does not promise it
  --max-time SECONDS     stop after this time
  --trace                print executed instructions
  --stats                print instruction counts, bytes, bank conflicts and waits
  --quiet                do not show a progress bar

timing:
  --timing[=MACHINE]     predict the launch's time on a machine (sm_90, sm_120_geforce, ...) instead of running it: a
                         few blocks are run, no results are computed. The default MACHINE is that of the program's
                         target or of its family
  --registers N          registers per thread as allocated by the assembler (default: an estimate)
  --timing-ptxas FILE    assemble the kernel with this ptxas, and predict from the order of its machine code and its
                         registers; the nvdisasm next to it lists the code (default: the order of the PTX)
  --timing-clock CLOCK   'highest' (default), 'sustained' (the clock within the machine's power limit when the launch is
                         repeated), or a number of MHz
  --timing-json FILE     write the prediction as JSON
  --timing-trace FILE    write the timeline of a block, for Perfetto
  --timing-html FILE     write the report with the timeline as a page
  --timing-run           also run the launch: %clock reads the predicted time, and results are checked and written

  --end-with-parent      end when the process that started this one ends (Linux)

  --version              print the version, as the first argument
  --help                 this text

examples:
  tile-run twice.mlir --grid 8 x.npy:ptr --out-dir out            run a kernel, and write the arrays to out
  tile-run twice.mlir --grid 8 zeros:f32:4096:ptr --timing=sm_90  predict its time
  tile-run twice.mlir --grid 8 x.npy:ptr --check-each             find the pass that makes a result wrong
";

/// The engine that runs the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    Simulator,
    Reference,
}

/// The permitted difference from the interpreter's results.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Nearness {
    /// Up to this fraction of the largest number.
    Part(f64),
    /// As precise as the language promises.
    Promised,
}

/// A parsed command line.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    pub kernel: Option<PathBuf>,
    pub launch: Option<PathBuf>,
    pub entry: Option<String>,
    pub grid: Option<[u32; 3]>,
    pub block: Option<[u32; 3]>,
    pub dynamic_shared: Option<u32>,
    pub out_dir: Option<PathBuf>,
    pub engine: Engine,
    /// The interpreter's handling of undefined behavior, if specified.
    pub promises: Option<Promises>,
    pub outside: Option<Outside>,
    pub target: &'static Target,
    pub opt_level: u8,
    pub save_ptx: Option<PathBuf>,
    /// Options of the pass pipeline, as for the compiler.
    pub pipeline_options: Vec<(String, String)>,
    pub plugins: Vec<PathBuf>,
    pub library_files: Vec<PathBuf>,
    /// Shared libraries with host functions for the reference interpreter.
    pub host_functions: Vec<PathBuf>,
    /// Names and contents of the libraries, which the command reads.
    pub libraries: Vec<(String, Vec<u8>)>,
    pub insertions: Vec<Insertion>,
    pub check_each: bool,
    /// The program that the interpreter runs for comparison.
    pub check_against: Option<PathBuf>,
    pub tolerance: Option<Nearness>,
    pub undefined: bool,
    /// Whether to report what devices do although the PTX ISA does not promise it.
    pub strict: bool,
    pub lineinfo: bool,
    /// One run for each; `None` is the ordinary schedule.
    pub schedules: Vec<Option<u64>>,
    pub max_time: Option<Duration>,
    pub trace: bool,
    pub stats: bool,
    pub quiet: bool,
    /// Whether to predict the time.
    pub timing: bool,
    /// The specified machine. By default the program's target selects it.
    pub machine: Option<String>,
    pub registers: Option<u32>,
    pub timing_ptxas: Option<PathBuf>,
    pub timing_clock: Option<ptx_sim::timing::Clock>,
    pub timing_json: Option<PathBuf>,
    pub timing_trace: Option<PathBuf>,
    pub timing_html: Option<PathBuf>,
    pub timing_run: bool,
    pub end_with_parent: bool,
    pub help: bool,
    /// As on the command line.
    pub args: Vec<String>,
}

impl Options {
    /// The limits and checks of the interpreter's run.
    pub fn limits(&self) -> Limits {
        let (promises, outside) = (self.promises.unwrap_or_default(), self.outside.unwrap_or_default());
        let numerics = self.pipeline_options.iter().rev().find(|(name, _)| name == PipelineOption::Numerics.name());
        let canonical = numerics.is_some_and(|(_, value)| value != NUMERICS[0]);
        let portable = numerics.is_some_and(|(_, value)| value == NUMERICS[2]);
        Limits { time: self.max_time, promises, outside, canonical, portable, ..Limits::default() }
    }
}

/// Parses the arguments after the program's name. `Err` is a message for the user.
pub fn parse(arguments: &[OsString]) -> Result<Options, String> {
    let mut o = Options {
        kernel: None,
        launch: None,
        entry: None,
        grid: None,
        block: None,
        dynamic_shared: None,
        out_dir: None,
        engine: Engine::Simulator,
        promises: None,
        outside: None,
        target: Target::default_target(),
        opt_level: 3,
        save_ptx: None,
        pipeline_options: vec![],
        plugins: vec![],
        library_files: vec![],
        host_functions: vec![],
        libraries: vec![],
        insertions: vec![],
        check_each: false,
        check_against: None,
        tolerance: None,
        undefined: false,
        strict: false,
        lineinfo: false,
        schedules: vec![],
        max_time: None,
        trace: false,
        stats: false,
        quiet: false,
        timing: false,
        machine: None,
        registers: None,
        timing_ptxas: None,
        timing_clock: None,
        timing_json: None,
        timing_trace: None,
        timing_html: None,
        timing_run: false,
        end_with_parent: false,
        help: false,
        args: vec![],
    };
    let mut words = vec![];
    for a in arguments {
        words.push(a.to_str().ok_or_else(|| format!("the argument {a:?} is not UTF-8"))?);
    }
    let mut positional = vec![];
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        if word == "--" {
            positional.extend(words.by_ref());
            break;
        }
        if !word.starts_with('-') || word == "-" {
            positional.push(word);
            continue;
        }
        let (name, mut inline) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None if word.starts_with("-O") && word.len() > 2 && word.is_char_boundary(2) => ("-O", Some(&word[2..])),
            None => (word, None),
        };
        if name == "--timing" {
            // The machine is part of the word, so the next word is not taken for it.
            o.timing = true;
            o.machine = inline.take().map(Into::into);
            continue;
        }
        let mut value = || inline.take().or_else(|| words.next()).ok_or_else(|| format!("{name} needs a value"));
        match name {
            "--entry" => o.entry = Some(value()?.into()),
            "--grid" => o.grid = Some(extents(name, value()?)?),
            "--block" => o.block = Some(extents(name, value()?)?),
            "--dynamic-shared" => o.dynamic_shared = Some(number(name, value()?)?),
            "--launch" => o.launch = Some(value()?.into()),
            "--out-dir" => o.out_dir = Some(value()?.into()),
            "--engine" => {
                o.engine = match value()? {
                    "sim" => Engine::Simulator,
                    "reference" => Engine::Reference,
                    other => return Err(format!("{name}: unknown engine '{other}' (expected sim or reference)")),
                };
            }
            "--promises" => {
                o.promises = Some(match value()? {
                    "trust" => Promises::Trust,
                    "check" => Promises::Check,
                    "report" => Promises::Report,
                    other => return Err(format!("{name}: unknown value '{other}' (expected trust, check or report)")),
                });
            }
            "--outside" => {
                o.outside = Some(match value()? {
                    "masked" => Outside::Masked,
                    "undefined" => Outside::Undefined,
                    other => return Err(format!("{name}: unknown value '{other}' (expected masked or undefined)")),
                });
            }
            "--gpu-name" => o.target = target(value()?)?,
            "-O" | "--opt-level" => {
                let level = value()?;
                o.opt_level = number::<u8>(name, level)?;
                if o.opt_level > 3 {
                    return Err(format!("{name}: unknown level {level} (expected 0 to 3)"));
                }
            }
            "--save-ptx" => o.save_ptx = Some(value()?.into()),
            "--adversarial" => {
                for seed in value()?.split(',') {
                    o.schedules.push(if seed == "plain" { None } else { Some(number(name, seed)?) });
                }
            }
            "--pipeline-option" => {
                let text = value()?;
                let (key, set) = text.split_once('=').ok_or_else(|| format!("{name}: '{text}' is not KEY=VALUE"))?;
                o.pipeline_options.push((key.into(), set.into()));
            }
            "--numerics" => o.pipeline_options.push((PipelineOption::Numerics.name().into(), value()?.into())),
            "--load-pass-plugin" => o.plugins.push(value()?.into()),
            "--host-functions" => o.host_functions.push(value()?.into()),
            "-l" => o.library_files.push(value()?.into()),
            "--insert-pass" => o.insertions.push(value()?.parse().map_err(|e| format!("{name}: {e}"))?),
            "--check-each" => o.check_each = true,
            "--check-against" => o.check_against = Some(value()?.into()),
            "--tolerance" => {
                o.tolerance = Some(match value()? {
                    "promised" => Nearness::Promised,
                    part => {
                        let part: f64 = number(name, part)?;
                        Nearness::Part(
                            Some(part).filter(|p| p.is_finite() && *p >= 0.0).ok_or("--tolerance: not negative")?,
                        )
                    }
                });
            }
            "--undefined" => o.undefined = true,
            "--strict" => o.strict = true,
            "--lineinfo" => o.lineinfo = true,
            "--max-time" => {
                let text = value()?;
                let time = text.parse::<f64>().ok().and_then(|s| Duration::try_from_secs_f64(s).ok());
                o.max_time = Some(time.ok_or_else(|| format!("{name}: '{text}' is not a time in seconds"))?);
            }
            "--registers" => o.registers = Some(number(name, value()?)?),
            "--timing-clock" => {
                use ptx_sim::timing::Clock;
                let positive = |text: &str| text.parse().ok().filter(|mhz: &f64| mhz.is_finite() && *mhz > 0.0);
                o.timing_clock = Some(match value()? {
                    "highest" => Clock::Highest,
                    "sustained" => Clock::Sustained,
                    mhz => Clock::At(positive(mhz).ok_or_else(|| {
                        format!("{name}: unknown clock '{mhz}' (expected highest, sustained or a number of MHz)")
                    })?),
                });
            }
            "--timing-ptxas" => o.timing_ptxas = Some(value()?.into()),
            "--timing-json" => o.timing_json = Some(value()?.into()),
            "--timing-trace" => o.timing_trace = Some(value()?.into()),
            "--timing-html" => o.timing_html = Some(value()?.into()),
            "--timing-run" => o.timing_run = true,
            "--trace" => o.trace = true,
            "--stats" => o.stats = true,
            "--quiet" => o.quiet = true,
            "--end-with-parent" => o.end_with_parent = true,
            "--help" | "-h" => o.help = true,
            _ => return Err(format!("unknown option '{word}'")),
        }
        if let Some(value) = inline {
            return Err(format!("{name} takes no value, got '{value}'"));
        }
    }
    if o.schedules.is_empty() {
        o.schedules.push(None);
    }
    let mut positional = positional.into_iter();
    o.kernel = positional.next().map(PathBuf::from);
    o.args = positional.map(str::to_string).collect();
    if o.help {
        return Ok(o);
    }
    let files = [&o.timing_json, &o.timing_trace, &o.timing_html, &o.timing_ptxas];
    if o.registers.is_some() && o.timing_ptxas.is_some() {
        return Err("--timing-ptxas reports the registers; it excludes --registers".into());
    }
    let of_timing = o.registers.is_some() || o.timing_clock.is_some() || o.timing_run;
    if !o.timing && (of_timing || files.into_iter().any(Option::is_some)) {
        return Err("--registers and --timing-... need --timing".into());
    }
    if o.check_each && (o.engine == Engine::Reference || o.timing) {
        return Err("--check-each compiles and runs the kernel; it excludes --engine=reference and --timing".into());
    }
    if o.check_against.is_some() && (o.check_each || o.engine == Engine::Reference || o.timing) {
        return Err(
            "--check-against runs compiled code; it excludes --check-each, --engine=reference and --timing".into()
        );
    }
    let interprets = o.engine == Engine::Reference || o.check_each || o.check_against.is_some();
    if (o.promises.is_some() || o.outside.is_some()) && !interprets {
        return Err("--promises and --outside need --engine=reference, --check-each or --check-against".into());
    }
    if !o.host_functions.is_empty() && !interprets {
        return Err("--host-functions needs --engine=reference, --check-each or --check-against".into());
    }
    if o.tolerance.is_some() && !o.check_each && o.check_against.is_none() {
        return Err("--tolerance needs --check-each or --check-against".into());
    }
    match (&o.launch, &o.kernel) {
        (None, None) => return Err("no kernel given".into()),
        (None, Some(_)) if o.grid.is_none() => return Err("no --grid given".into()),
        (Some(_), _) if !o.args.is_empty() => {
            return Err(format!("arguments come from --launch; unexpected argument '{}'", o.args[0]));
        }
        _ => {}
    }
    Ok(o)
}

fn number<T: std::str::FromStr>(name: &str, text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{name}: '{text}' is not a number in range"))
}

fn extents(name: &str, text: &str) -> Result<[u32; 3], String> {
    let mut out = [1; 3];
    let parts: Vec<&str> = text.split(',').collect();
    if parts.len() > 3 {
        return Err(format!("{name}: '{text}' has more than three dimensions"));
    }
    for (o, part) in out.iter_mut().zip(parts) {
        *o = number(name, part)?;
        if *o == 0 {
            return Err(format!("{name}: '{text}' has an empty dimension"));
        }
    }
    Ok(out)
}

fn target(name: &str) -> Result<&'static Target, String> {
    Target::by_name(name).ok_or_else(|| format!("unknown target '{name}'"))
}

/// Parses one argument of the kernel and reads its file.
pub fn argument(text: &str) -> Result<Argument, launch::Error> {
    if let Some(rest) = text.strip_prefix("zeros:") {
        return zeros(rest).ok_or_else(|| {
            launch::Error::Argument(format!(
                "argument '{text}' is not zeros:TYPE:NxM, optionally followed by :i64 or :ptr (types: {})",
                Element::names()
            ))
        });
    }
    if let Some((name, value)) = text.split_once(':')
        && let Some(element) = Element::by_name(name)
    {
        let bytes = element.parse(value).map_err(launch::Error::Argument)?;
        return Ok(Argument::Scalar { element, bytes });
    }
    let (mut path, mut element, mut wide, mut bare) = (text, None, false, false);
    while let Some((rest, suffix)) = path.rsplit_once(':') {
        match (suffix, Element::by_name(suffix)) {
            ("i64", _) => wide = true,
            ("i32", _) => wide = false,
            ("ptr", _) => bare = true,
            (_, Some(e)) => element = Some(e),
            _ => break,
        }
        path = rest;
    }
    if !path.ends_with(".npy") {
        return Err(launch::Error::Argument(format!(
            "argument '{text}' is neither FILE.npy nor TYPE:VALUE (types: {})",
            Element::names()
        )));
    }
    let array = launch::load(Path::new(path), element, wide || bare)?;
    Ok(if bare {
        Argument::Buffer(launch::ArrayArgument { wide_index: false, ..array })
    } else {
        Argument::Array(array)
    })
}

/// An array of zeros, `TYPE:NxM[:i64]`, or `TYPE:NxM:ptr` for its address alone.
fn zeros(text: &str) -> Option<Argument> {
    let mut parts = text.split(':');
    let element = Element::by_name(parts.next()?)?;
    let shape: Vec<u64> = parts.next()?.split('x').map(|n| n.parse().ok()).collect::<Option<_>>()?;
    let (wide_index, bare) = match (parts.next(), parts.next()) {
        (None, None) | (Some("i32"), None) => (false, false),
        (Some("i64"), None) => (true, false),
        (Some("ptr"), None) => (false, true),
        _ => return None,
    };
    let array = launch::ArrayArgument::unwritten(shape, element)?;
    let array = launch::ArrayArgument { wide_index, unwritten: false, name: "zeros.npy".into(), ..array };
    Some(if bare { Argument::Buffer(array) } else { Argument::Array(array) })
}
