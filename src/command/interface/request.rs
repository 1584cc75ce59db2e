//! What a compiler is asked and what it answers.

use std::path::PathBuf;

use tile_diag::{Diagnostic, Location};
use tile_targets::Target;

use crate::remark::Remark;

/// The compiler as the driver sees it. Any function of this shape is one.
///
/// Diagnostics go to `report` as they occur. An implementation may panic: the driver reports that as an internal error.
pub trait Compiler {
    fn compile(
        &self,
        request: &CompileRequest<'_>,
        report: &mut dyn FnMut(Diagnostic),
    ) -> Result<CompileOutput, CompileError>;
}

impl<F> Compiler for F
where
    F: Fn(&CompileRequest<'_>, &mut dyn FnMut(Diagnostic)) -> Result<CompileOutput, CompileError>,
{
    fn compile(
        &self,
        request: &CompileRequest<'_>,
        report: &mut dyn FnMut(Diagnostic),
    ) -> Result<CompileOutput, CompileError> {
        self(request, report)
    }
}

/// Everything that can change the result.
#[derive(Debug, Clone)]
pub struct CompileRequest<'a> {
    pub input: &'a [u8],
    pub kind: InputKind,
    /// The level of the input, where it is not to be found from what the input holds.
    pub start_from: Option<Level>,
    /// The input's name as the user wrote it, for locations.
    pub input_name: &'a str,
    pub target: &'static Target,
    /// 0 to 3.
    pub opt_level: u8,
    /// Where to stop. What comes after [`Emit::Ptx`] is the driver's affair: the compiler is asked for that then.
    pub emit: Emit,
    pub debug: DebugInfo,
    /// `--pipeline-option=key=value`, in order; the pipeline decides which keys there are.
    pub pipeline_options: &'a [(String, String)],
    /// Libraries whose passes [`CompileRequest::insertions`] may name. Their code runs in this process.
    pub plugins: &'a [PathBuf],
    /// Passes that run besides those of the pipeline.
    pub insertions: &'a [Insertion],
    /// Who makes PTX of LLVM IR.
    pub backend: Backend,
    /// The file of NVIDIA's libdevice, to take mathematical functions from instead of the embedded library.
    pub libdevice: Option<PathBuf>,
    pub instrumentation: Instrumentation,
    /// Whether the text of each stage on the way is wanted in [`CompileOutput::stages`].
    pub keep_stages: bool,
    /// Whether the program behind each pass is wanted in [`CompileOutput::snapshots`]; printing it takes longer than
    /// most passes.
    pub keep_snapshots: bool,
    /// Whether [`CompileOutput::remarks`] and [`CompileOutput::places`] are wanted; to find them takes time.
    pub remarks: bool,
    /// Whether a plan that the compiler cannot carry through is an error, rather than a reason to compile again with a
    /// weaker one.
    pub strict_plans: bool,
}

impl<'a> CompileRequest<'a> {
    /// PTX of an input without a name, at the highest level, with defaults for everything else.
    pub fn new(input: &'a [u8], kind: InputKind, target: &'static Target) -> Self {
        CompileRequest {
            input,
            kind,
            start_from: None,
            input_name: "",
            target,
            opt_level: 3,
            emit: Emit::Ptx,
            debug: DebugInfo::None,
            pipeline_options: &[],
            plugins: &[],
            insertions: &[],
            backend: Backend::Llvm,
            libdevice: None,
            instrumentation: Instrumentation::default(),
            keep_stages: false,
            keep_snapshots: false,
            remarks: false,
            strict_plans: false,
        }
    }
}

/// Who makes PTX of LLVM IR.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Backend {
    /// LLVM's own NVPTX.
    #[default]
    Llvm,
    /// NVIDIA's libNVVM, the library in this file.
    LibNvvm(PathBuf),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputKind {
    /// Tile IR bytecode with the public magic `7F 54 69 6C 65 49 52 00`.
    PublicBytecode,
    /// Tile IR bytecode with the magic `06 03 80 54 69 6C 65 00`.
    SpecBytecode,
    /// A module in MLIR's textual form.
    Text,
    /// LLVM IR as text.
    LlvmIr,
}

/// A level of the program that can be printed, edited and compiled from there, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    CudaTile,
    TileAa,
    TileAs,
    Llvm,
}

impl Level {
    pub const ALL: &[Level] = &[Level::CudaTile, Level::TileAa, Level::TileAs, Level::Llvm];

    /// The stage that prints the level.
    pub fn emit(self) -> Emit {
        match self {
            Level::CudaTile => Emit::CudaTile,
            Level::TileAa => Emit::TileAa,
            Level::TileAs => Emit::TileAs,
            Level::Llvm => Emit::Llvm,
        }
    }

    /// The level of a name on the command line. The language is also known by the name of its dialect.
    pub fn by_name(name: &str) -> Option<Level> {
        let name = if name == "cuda_tile" { "cuda-tile" } else { name };
        Level::ALL.iter().copied().find(|l| l.emit().name() == name)
    }
}

/// A stage of compilation, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Emit {
    CudaTile,
    TileAa,
    TileAs,
    Llvm,
    Ptx,
    Cubin,
    /// The cubin in an object for the host.
    Obj,
}

impl Emit {
    pub const ALL: &[Emit] =
        &[Emit::CudaTile, Emit::TileAa, Emit::TileAs, Emit::Llvm, Emit::Ptx, Emit::Cubin, Emit::Obj];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Emit::CudaTile => "cuda-tile",
            Emit::TileAa => "tileaa",
            Emit::TileAs => "tileas",
            Emit::Llvm => "llvm",
            Emit::Ptx => "ptx",
            Emit::Cubin => "cubin",
            Emit::Obj => "obj",
        }
    }

    /// The extension of a file with this stage, without the first dot.
    pub fn extension(self) -> &'static str {
        match self {
            Emit::CudaTile => "cuda_tile.mlir",
            Emit::TileAa => "nv_tileaa.mlir",
            Emit::TileAs => "nv_tileas.mlir",
            Emit::Llvm => "ll",
            Emit::Ptx => "ptx",
            Emit::Cubin => "cubin",
            Emit::Obj => "o",
        }
    }
}

/// Passes of the user, and where in the pipeline they run: `PLACE:PIPELINE` on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Insertion {
    pub place: Place,
    /// As MLIR parses what is between the parentheses of `builtin.module(...)`.
    pub pipeline: String,
}

/// A place in the pipeline of passes. A pass that occurs several times is meant each time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    Before(String),
    After(String),
    /// Behind the last pass whose result is of this level.
    End(Level),
}

impl std::fmt::Display for Insertion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.place {
            Place::Before(pass) => write!(f, "before:{pass}")?,
            Place::After(pass) => write!(f, "after:{pass}")?,
            Place::End(level) => write!(f, "end:{}", level.emit().name())?,
        }
        write!(f, ":{}", self.pipeline)
    }
}

impl std::str::FromStr for Insertion {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form =
            || format!("'{text}' is not of the form before:PASS:PIPELINE, after:PASS:PIPELINE or end:LEVEL:PIPELINE");
        let mut parts = text.splitn(3, ':');
        let mut part = || parts.next().filter(|p| !p.is_empty()).ok_or_else(form);
        let (which, name, pipeline) = (part()?, part()?, part()?.to_owned());
        let place = match which {
            "before" => Place::Before(name.to_owned()),
            "after" => Place::After(name.to_owned()),
            "end" => match Level::by_name(name) {
                Some(level) if level != Level::CudaTile => Place::End(level),
                _ => return Err(format!("no pass makes the level '{name}'; the levels are tileaa, tileas and llvm")),
            },
            _ => return Err(form()),
        };
        Ok(Insertion { place, pipeline })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DebugInfo {
    None,
    /// `--lineinfo`: source lines only.
    Lines,
    /// `-g`.
    Full,
}

/// What to print while compiling. The compiler prints it to standard error itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Instrumentation {
    /// The pass pipelines, in their textual form, before they run.
    pub dump_pass_pipeline: bool,
    /// The module before each pass.
    pub print_ir_before_all: bool,
    /// The module after each pass.
    pub print_ir_after_all: bool,
    /// The time spent in each pass.
    pub timing: bool,
    /// What passes counted.
    pub statistics: bool,
    /// LLVM IR as it is translated and as it is optimised.
    pub print_llvm: bool,
}

/// What a pass did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The pass's command-line name.
    pub pass: String,
    /// What the pass is on the way to; of the input, its own level.
    pub stage: Emit,
    /// The program behind it; `None` if it changed nothing.
    pub program: Option<Listing>,
}

/// A program as text, with the places in the source that it comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    pub text: String,
    /// The files that [`Listing::places`] counts.
    pub files: Vec<String>,
    /// For each line of the text, the file, as an index, and the line there, from 1, of what begins first in it.
    pub places: Vec<Option<(usize, u32)>>,
}

/// A successful compilation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CompileOutput {
    /// The text of the stage that was asked for; for [`Emit::Ptx`] it is finalised.
    pub text: String,
    /// The earlier stages, when asked for.
    pub stages: Vec<(Emit, String)>,
    /// The input, under an empty name, and what each pass made of it, when asked for.
    pub snapshots: Vec<Snapshot>,
    pub remarks: Vec<Remark>,
    /// Where each kernel of the PTX stands in the source, by its name, if that is known.
    pub places: Vec<(String, Location)>,
}

/// Why there is no output. The details went to the diagnostics.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompileError {
    /// The input is no valid module.
    #[error("the input is not a valid Tile IR module")]
    Input,
    /// A pipeline option or another setting is wrong.
    #[error("{0}")]
    Configuration(String),
    /// The module is valid and cannot be compiled for this target.
    #[error("failed to compile Tile IR program")]
    Failed,
    /// A defect.
    #[error("{0}")]
    Internal(String),
}

/// Reads what an input is from its name and first bytes.
///
/// The magic decides; without one, a name that ends in `.mlir` is text, and what ends in `.ll` or begins as LLVM IR
/// does is LLVM IR. `Err` says what the file seems to be.
pub fn input_kind(name: &std::path::Path, bytes: &[u8]) -> Result<InputKind, NotTileIr> {
    const PUBLIC: &[u8] = &[0x7f, b'T', b'i', b'l', b'e', b'I', b'R', 0];
    const SPEC: &[u8] = &[0x06, 0x03, 0x80, b'T', b'i', b'l', b'e', 0];
    const MLIR: &[u8] = &[0x4d, 0x4c, 0xef, 0x52];
    if bytes.starts_with(PUBLIC) {
        Ok(InputKind::PublicBytecode)
    } else if bytes.starts_with(SPEC) {
        Ok(InputKind::SpecBytecode)
    } else if bytes.starts_with(MLIR) {
        Err(NotTileIr::MlirBytecode)
    } else if name.extension().is_some_and(|e| e == "mlir") {
        Ok(InputKind::Text)
    } else if name.extension().is_some_and(|e| e == "ll") || is_llvm_ir(bytes) {
        Ok(InputKind::LlvmIr)
    } else {
        Err(NotTileIr::Unknown)
    }
}

/// Whether the text begins as modules of LLVM IR do. MLIR has neither comments of this kind nor these words.
fn is_llvm_ir(bytes: &[u8]) -> bool {
    const WORDS: [&[u8]; 4] = [b"source_filename", b"target ", b"define ", b"declare "];
    let mut lines = bytes.split(|b| *b == b'\n').map(|line| line.trim_ascii_start());
    let first = lines.find(|line| !line.is_empty() && !line.starts_with(b";"));
    first.is_some_and(|line| WORDS.iter().any(|word| line.starts_with(word)))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotTileIr {
    #[error("input does not correspond to Tile IR bytecode")]
    Unknown,
    #[error("input does not correspond to Tile IR bytecode (it looks like MLIR bytecode instead)")]
    MlirBytecode,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn kinds_of_text() {
        let kind = |name: &str, text: &str| input_kind(Path::new(name), text.as_bytes());
        let texts = ["; ModuleID = 'x'\nsource_filename = \"x\"\n", "\ntarget triple = \"n\"", "define void @f() {"];
        for text in texts {
            assert_eq!(kind("", text), Ok(InputKind::LlvmIr), "{text}");
            assert_eq!(kind("k.mlir", text), Ok(InputKind::Text), "{text}");
        }
        assert_eq!(kind("k.ll", "@x = global i32 0"), Ok(InputKind::LlvmIr));
        for text in ["", ";", "; only a comment", "module {", "definex", "module @target {"] {
            assert_eq!(kind("", text), Err(NotTileIr::Unknown), "{text}");
        }
    }

    #[test]
    fn insertions_read_back() {
        let read = |text: &str| text.parse::<Insertion>();
        for text in ["before:cse:a,b", "after:canonicalize:any(a{b=c:d})", "end:tileas:x", "end:llvm:x"] {
            assert_eq!(read(text).map(|i| i.to_string()), Ok(text.to_owned()));
        }
        let place = Place::After("cse".into());
        assert_eq!(read("after:cse:p{x=a:b}"), Ok(Insertion { place, pipeline: "p{x=a:b}".into() }));
        for text in ["", "cse", "after:cse", "after:cse:", "after::x", "behind:cse:x", "end:cse:x", "end:cuda-tile:x"] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn levels_have_the_names_of_their_stages() {
        for level in Level::ALL {
            assert_eq!(Level::by_name(level.emit().name()), Some(*level));
        }
        assert_eq!(Level::by_name("cuda_tile"), Some(Level::CudaTile));
        assert_eq!(Level::by_name("ptx"), None);
    }
}
