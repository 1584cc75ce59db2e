//! Errors of a launch.

use super::program::LoadError;

/// The location of an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    pub function: String,
    /// Line in the PTX text, from 1.
    pub line: u32,
    /// The instruction as written.
    pub text: String,
    pub cta: [u32; 3],
    /// A thread of the warp that executed the instruction; the failing one if known.
    pub thread: [u32; 3],
}

impl std::fmt::Display for Site {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [cx, cy, cz] = self.cta;
        let [tx, ty, tz] = self.thread;
        write!(
            f,
            "{} line {}: `{}` in CTA ({cx},{cy},{cz}) thread ({tx},{ty},{tz})",
            self.function, self.line, self.text
        )
    }
}

/// A failed launch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{kind}", .at.as_ref().map(|s| format!("{s}: ")).unwrap_or_default())]
pub struct SimError {
    pub kind: SimErrorKind,
    pub at: Option<Box<Site>>,
}

impl SimError {
    pub(crate) fn new(kind: SimErrorKind) -> SimError {
        SimError { kind, at: None }
    }
}

impl From<LoadError> for SimError {
    fn from(e: LoadError) -> SimError {
        SimError::new(SimErrorKind::Load(e))
    }
}

/// The kinds of failure.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SimErrorKind {
    #[error("cannot load the module: {0}")]
    Load(LoadError),
    #[error("invalid launch: {0}")]
    Launch(String),
    #[error("out of bounds: {access} of {bytes} bytes at {space} address {address:#x}{hint}")]
    OutOfBounds { access: &'static str, space: &'static str, address: u64, bytes: u32, hint: String },
    #[error("misaligned: {access} of {bytes} bytes at {space} address {address:#x}")]
    Misaligned { access: &'static str, space: &'static str, address: u64, bytes: u32 },
    #[error(
        "uninitialized read of {bytes} bytes at {space} address {address:#x} (byte {address_of_byte:#x}{name} {why})"
    )]
    Uninitialised {
        space: &'static str,
        address: u64,
        bytes: u32,
        address_of_byte: u64,
        /// The shared variable that contains the byte, as ` (name+offset)`, or empty.
        name: String,
        why: String,
    },
    #[error("undefined register: {0} was never written, or was computed from a register that was not")]
    UndefinedRegister(String),
    #[error("write to read-only memory at address {address:#x}")]
    ReadOnly { address: u64 },
    #[error("data race: {0}")]
    Race(Box<RaceReport>),
    #[error("missing proxy fence: {0}")]
    MissingProxyFence(Box<RaceReport>),
    #[error("missing tcgen05 fence: {0}")]
    MissingTensorFence(Box<RaceReport>),
    #[error("deadlock: no thread can proceed\n{0}")]
    Deadlock(String),
    #[error("no progress: {instructions} warp instructions without any effect on memory or barriers\n{waits}")]
    Livelock { instructions: u64, waits: String },
    #[error("the limit of {0} warp instructions was reached")]
    InstructionLimit(u64),
    #[error("the time limit was reached")]
    TimeLimit,
    #[error("trap")]
    Trap,
    #[error("breakpoint")]
    Breakpoint,
    #[error("assertion failed: {message} at {file}:{line}, function {function}")]
    Assert { message: String, file: String, line: u32, function: String },
    #[error("barrier misuse: {0}")]
    Barrier(String),
    #[error("mbarrier misuse: {0}")]
    Mbarrier(String),
    #[error("asynchronous copy: {0}")]
    AsyncCopy(String),
    #[error("tensor instruction: {0}")]
    Tensor(String),
    #[error("call: {0}")]
    Call(String),
    #[error("not supported by the simulator: {0}")]
    Unsupported(String),
    #[error("invalid operand: {0}")]
    InvalidOperand(String),
}

/// Two unordered accesses to the same bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RaceReport {
    pub space: &'static str,
    pub address: u64,
    /// The shared variable at the address, as ` (name+offset)`, or empty.
    pub name: String,
    pub first: AccessReport,
    pub second: AccessReport,
    /// The synchronization that would order them.
    pub advice: String,
}

/// One side of a race.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessReport {
    /// "read", "write", "atomic", or one of these by the asynchronous proxy.
    pub what: String,
    pub line: u32,
    pub text: String,
    pub warp: String,
}

impl std::fmt::Display for AccessReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} by {} at line {} (`{}`)", self.what, self.warp, self.line, self.text)
    }
}

impl std::fmt::Display for RaceReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let RaceReport { space, address, name, first, second, advice } = self;
        write!(f, "{space} address {address:#x}{name}: {first} and {second}; {advice}")
    }
}
