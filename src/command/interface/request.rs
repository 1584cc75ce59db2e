//! Compile requests and their results.

use std::path::PathBuf;

use tile_diag::{Diagnostic, Location};
use tile_targets::Target;

use crate::{boundary::Boundary, remark::Remark};

/// A compiler as the driver sees it. Every function with this signature is one.
///
/// Diagnostics go to `report` as they occur. An implementation may panic; the driver reports an internal error.
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

/// All inputs of a compilation.
#[derive(Debug, Clone)]
pub struct CompileRequest<'a> {
    pub input: &'a [u8],
    pub kind: InputKind,
    /// The level of the input, if it is not to be detected from the contents.
    pub start_from: Option<Level>,
    /// The boundary between passes at which the input was printed, if an attribute of the module does not tell.
    pub start_after: Option<Boundary>,
    /// The boundary at which to stop and print the module, in place of [`CompileRequest::emit`].
    pub print_after: Option<Boundary>,
    /// The input's name as written by the user, for locations.
    pub input_name: &'a str,
    pub target: &'static Target,
    /// 0 to 3.
    pub opt_level: u8,
    /// The last stage, at most [`Emit::Ptx`]. The driver itself does the stages after PTX.
    pub emit: Emit,
    pub debug: DebugInfo,
    /// `--pipeline-option=key=value`, in order. The pipeline defines the keys.
    pub pipeline_options: &'a [(String, String)],
    /// Shared libraries with the passes that [`CompileRequest::insertions`] may name. Their code runs in this
    /// process.
    pub plugins: &'a [PathBuf],
    /// Passes to run in addition to the pipeline.
    pub insertions: &'a [Insertion],
    /// The backend that translates LLVM IR to PTX.
    pub backend: Backend,
    /// NVIDIA's libdevice file, to take math functions from instead of the embedded library.
    pub libdevice: Option<PathBuf>,
    pub instrumentation: Instrumentation,
    /// Whether to return the text of each earlier stage in [`CompileOutput::stages`].
    pub keep_stages: bool,
    /// Whether to return the program after each pass in [`CompileOutput::snapshots`]. Printing it takes longer than
    /// most passes.
    pub keep_snapshots: bool,
    /// Whether to return [`CompileOutput::remarks`] and [`CompileOutput::locations`], which takes time.
    pub remarks: bool,
    /// Whether a plan that cannot be carried out is an error. Otherwise the compiler retries with a weaker plan.
    pub strict_plans: bool,
    /// Whether the program may use preview features.
    pub preview: bool,
    /// Tile libraries: the name and the contents of each file.
    pub libraries: &'a [(String, Vec<u8>)],
    /// The triple of the host to compile the launch functions for, which [`CompileOutput::host`] returns.
    pub host: Option<&'static str>,
}

impl<'a> CompileRequest<'a> {
    /// A request for PTX at the highest optimization level, from an unnamed input, with defaults for everything else.
    pub fn new(input: &'a [u8], kind: InputKind, target: &'static Target) -> Self {
        CompileRequest {
            input,
            kind,
            start_from: None,
            start_after: None,
            print_after: None,
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
            preview: false,
            libraries: &[],
            host: None,
        }
    }
}

/// A backend that translates LLVM IR to PTX.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Backend {
    /// LLVM's NVPTX backend.
    #[default]
    Llvm,
    /// NVIDIA's libNVVM, loaded from this file.
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

/// A level at which a program can be printed and compiled further. In order of lowering.
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

    /// The level with this name on the command line. `cuda_tile`, the name of the dialect, is also accepted.
    pub fn by_name(name: &str) -> Option<Level> {
        let name = if name == "cuda_tile" { "cuda-tile" } else { name };
        Level::ALL.iter().copied().find(|l| l.emit().name() == name)
    }
}

/// A stage of compilation. In order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Emit {
    CudaTile,
    TileAa,
    TileAs,
    Llvm,
    Ptx,
    Cubin,
    /// A host object that embeds the cubin.
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

    /// The file extension of the stage, without the first dot.
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

/// A user's passes and their position in the pipeline: `PLACE:PIPELINE` on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Insertion {
    pub position: Position,
    /// The text between the parentheses of `builtin.module(...)` in MLIR's pipeline syntax.
    pub pipeline: String,
}

/// A position in the pass pipeline. If a pass occurs several times, every occurrence counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Position {
    Before(String),
    After(String),
    /// After the last pass whose result is at this level.
    End(Level),
}

impl std::fmt::Display for Insertion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.position {
            Position::Before(pass) => write!(f, "before:{pass}")?,
            Position::After(pass) => write!(f, "after:{pass}")?,
            Position::End(level) => write!(f, "end:{}", level.emit().name())?,
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
        let position = match which {
            "before" => Position::Before(name.to_owned()),
            "after" => Position::After(name.to_owned()),
            "end" => match Level::by_name(name) {
                Some(level) if level != Level::CudaTile => Position::End(level),
                _ => {
                    return Err(format!("no pass produces the level '{name}'; the levels are tileaa, tileas and llvm"));
                }
            },
            _ => return Err(form()),
        };
        Ok(Insertion { position, pipeline })
    }
}

/// Environment variable: `1` makes every compilation strict, like [`CompileRequest::strict_plans`].
const STRICT_PLANS: &str = "TILEIRAS_STRICT_PLANS";

/// Whether the environment makes every compilation strict.
pub fn has_strict_plans() -> bool {
    std::env::var_os(STRICT_PLANS).is_some_and(|value| value == "1")
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DebugInfo {
    None,
    /// `--lineinfo`: source lines only.
    Lines,
    /// `-g`.
    Full,
}

/// Debug output of the compiler, which it prints to standard error itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Instrumentation {
    /// Print the pass pipelines in textual form before they run.
    pub dump_pass_pipeline: bool,
    /// Print the module before each pass.
    pub print_ir_before_all: bool,
    /// Print the module after each pass.
    pub print_ir_after_all: bool,
    /// Print the time spent in each pass.
    pub timing: bool,
    /// Print the statistics of passes.
    pub statistics: bool,
    /// Print LLVM IR before and after optimization.
    pub print_llvm: bool,
}

/// The program after a pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The pass's command-line name.
    pub pass: String,
    /// The boundary after the pass, where a compilation can resume. `None` for the input and for inserted passes.
    pub boundary: Option<Boundary>,
    /// The stage that the pass contributes to. For the input, its own level.
    pub stage: Emit,
    /// `None` if the pass changed nothing.
    pub program: Option<Listing>,
}

/// A program as text, with the source locations of its lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    pub text: String,
    /// The files that [`Listing::locations`] refers to.
    pub files: Vec<String>,
    /// For each line of the text, the location of the first op that starts in it: an index into `files`, and a line
    /// from 1.
    pub locations: Vec<Option<(usize, u32)>>,
}

/// A successful compilation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CompileOutput {
    /// The text of the requested stage. PTX is final.
    pub text: String,
    /// The earlier stages, if requested.
    pub stages: Vec<(Emit, String)>,
    /// The input under an empty name, then the program after each pass, if requested.
    pub snapshots: Vec<Snapshot>,
    pub remarks: Vec<Remark>,
    /// The source location of each kernel in the PTX by name, if known.
    pub locations: Vec<(String, Location)>,
    /// The launch functions as a relocatable object, if requested together with PTX.
    pub host: Vec<u8>,
}

/// The reason why there is no output. The diagnostics have the details.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompileError {
    /// The input is not a valid module.
    #[error("the input is not a valid Tile IR module")]
    Input,
    /// A pipeline option or another setting is invalid.
    #[error("{0}")]
    Configuration(String),
    /// The module is valid but cannot be compiled for this target.
    #[error("failed to compile Tile IR program")]
    Failed,
    /// An internal error, that is, a defect of the compiler.
    #[error("{0}")]
    Internal(String),
}

/// Detects the kind of an input from its name and first bytes.
///
/// The magic number decides. Bytes that are almost a magic number are bytecode too, so that the reader reports the
/// wrong byte. Otherwise, a name that ends in `.mlir` means text. A name that ends in `.ll`, or a first line typical of
/// LLVM IR, means LLVM IR. `Err` describes other files.
pub fn input_kind(name: &std::path::Path, bytes: &[u8]) -> Result<InputKind, NotTileIr> {
    const MLIR: &[u8] = &[0x4d, 0x4c, 0xef, 0x52];
    let containers = [(PUBLIC, InputKind::PublicBytecode), (SPEC, InputKind::SpecBytecode)];
    if let Some((_, kind)) = containers.iter().find(|(magic, _)| bytes.starts_with(*magic)) {
        Ok(*kind)
    } else if let Some((_, kind)) = containers.iter().find(|(magic, _)| is_almost(magic, bytes)) {
        Ok(*kind)
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

const PUBLIC: &[u8; 8] = b"\x7fTileIR\0";
const SPEC: &[u8; 8] = b"\x06\x03\x80Tile\0";

/// Whether the first eight bytes differ from a magic number in at most two places. Text does not count.
fn is_almost(magic: &[u8; 8], bytes: &[u8]) -> bool {
    let Some(first) = bytes.first_chunk::<8>() else { return false };
    let is_text = first.iter().all(|b| b.is_ascii_graphic() || b.is_ascii_whitespace());
    !is_text && magic.iter().zip(first).filter(|(a, b)| a != b).count() <= 2
}

/// Whether the text starts like a module of LLVM IR. MLIR has neither comments of this kind nor these words.
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
    fn almost_a_magic_is_bytecode() {
        let kind = |bytes: &[u8]| input_kind(Path::new(""), bytes);
        for bytes in [b"\x7fTileIR\x01", b"\x7eTileIR\0", b"\x7fTileJS\0", b"\x7ftileIR\0"] {
            assert_eq!(kind(bytes), Ok(InputKind::PublicBytecode), "{bytes:?}");
        }
        for bytes in [b"\x06\x03\x80Tile\n", b"\x06\x03\x81Tile\0", b"\x07\x03\x80tile\0"] {
            assert_eq!(kind(bytes), Ok(InputKind::SpecBytecode), "{bytes:?}");
        }
        for bytes in [&b"\x7fELF\x02\x01\x01\0"[..], b"#TileIR ", b"\x7fTile", b"\x7fTimeJS\x01"] {
            assert_eq!(kind(bytes), Err(NotTileIr::Unknown), "{bytes:?}");
        }
    }

    #[test]
    fn insertions_round_trip() {
        let read = |text: &str| text.parse::<Insertion>();
        for text in ["before:cse:a,b", "after:canonicalize:any(a{b=c:d})", "end:tileas:x", "end:llvm:x"] {
            assert_eq!(read(text).map(|i| i.to_string()), Ok(text.to_owned()));
        }
        let position = Position::After("cse".into());
        assert_eq!(read("after:cse:p{x=a:b}"), Ok(Insertion { position, pipeline: "p{x=a:b}".into() }));
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
