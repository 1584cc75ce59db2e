//! `tileiras explore`: a program at every level, in one page.
//!
//! A compilation leaves an [`Exploration`]: the program behind each pass, PTX and machine code, with the line of the
//! source that each line comes from, and remarks and resources. It is JSON, for programs, and [`page`] makes a page of
//! it that opens in a browser without a server and loads nothing else.
//!
//! * [`lines`]: which lines of LLVM IR, PTX and machine code come from which line of the source.
//! * [`changes`]: what a pass changed.
//! * [`page`]: the page. Its program is in `page/`, and gets one object.

#![deny(unsafe_code)]

pub mod changes;
pub mod lines;
mod page;

pub use page::page;

use serde::{Deserialize, Serialize};

/// What an exploration is written as. Readers refuse others.
pub const FORMAT: u32 = 1;

/// A program with everything that the compiler says of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exploration {
    /// [`FORMAT`].
    pub format: u32,
    /// The input, as the user named it.
    pub input: String,
    pub compiler: String,
    pub target: String,
    /// Arguments of the compilation besides the input.
    pub arguments: Vec<String>,
    /// The program that lines refer to: the input, or bytecode as text.
    pub source: String,
    /// For each line of [`Exploration::source`], where it comes from itself: file and line of a program in a language
    /// above, if the bytecode says so.
    pub origins: Vec<Option<String>>,
    /// The source, under an empty name, and what the passes did, in order.
    pub steps: Vec<Step>,
    /// LLVM IR, PTX and machine code, as far as there are any.
    pub outputs: Vec<Output>,
    pub remarks: Vec<Remark>,
    pub kernels: Vec<Kernel>,
    /// Modulo schedules of the loops as text, if the scheduler ran.
    pub schedules: Option<String>,
}

/// A pass.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    pub pass: String,
    /// The level that it leads to: `cuda-tile`, `tileaa`, `tileas` or `llvm`.
    pub level: String,
    /// The program behind it; none if it changed nothing.
    pub program: Option<Listing>,
}

/// A text, and for each of its lines the line of the source that it comes from, from 1; 0 where there is none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listing {
    pub text: String,
    pub lines: Vec<u32>,
}

/// A text that is not MLIR any more.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Output {
    /// `llvm-ir`, `ptx` or `sass`.
    pub level: String,
    pub program: Listing,
}

/// What a pass tells the user.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remark {
    /// `passed`, `missed`, `failed` or `analysis`.
    pub sort: String,
    pub pass: String,
    pub name: String,
    pub function: String,
    pub message: String,
    /// Line of the source; 0 if it has none.
    pub line: u32,
}

/// What a kernel takes. Sizes in bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kernel {
    pub name: String,
    pub threads: [u32; 3],
    pub cluster: [u32; 3],
    pub registers: u32,
    pub shared_memory: u64,
    pub stack_frame: u64,
    pub spill_stores: u64,
    pub spill_loads: u64,
}

impl Exploration {
    /// Reads what [`Exploration::to_json`] wrote.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub fn from_json(text: &[u8]) -> Result<Self, String> {
        let read: Self = serde_json::from_slice(text).map_err(|e| e.to_string())?;
        match read.format {
            FORMAT => Ok(read),
            other => Err(format!("it has format {other}, and {FORMAT} can be read")),
        }
    }

    pub fn to_json(&self) -> String {
        // Strings, numbers and lists of them cannot fail to be written.
        serde_json::to_string(self).unwrap_or_default()
    }
}
