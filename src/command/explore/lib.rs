//! `tileiras explore`: a program at every level, on one page.
//!
//! A compilation writes an [`Exploration`]: the program after each pass, PTX and SASS, with the source line of each
//! of their lines, and remarks and resources. It is stored as JSON, for programs. [`page`] converts it to a
//! self-contained page for browsers that needs no server.
//!
//! * [`lines`]: maps the lines of LLVM IR, PTX and SASS to source lines.
//! * [`changes`]: the changes made by a pass.
//! * [`compare()`]: the differences of two explorations, pass by pass.
//! * [`page`]: the page. The script in `page/` receives its data as one object.

#![deny(unsafe_code)]

pub mod changes;
mod compare;
pub mod lines;
mod page;

pub use compare::compare;
pub use page::{page, page_of_two};

use serde::{Deserialize, Serialize};

/// The version of the JSON format. Readers reject other versions.
pub const FORMAT: u32 = 1;

/// A program at every level, with the diagnostics and measurements of the compiler.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exploration {
    /// [`FORMAT`].
    pub format: u32,
    /// The input's name as given by the user.
    pub input: String,
    pub compiler: String,
    pub target: String,
    /// The compiler options, without the input.
    pub arguments: Vec<String>,
    /// The program that line numbers refer to: the input, converted to text if it is bytecode.
    pub source: String,
    /// For each line of [`Exploration::source`], its own origin: file and line of a program in a higher-level
    /// language, if the bytecode contains it.
    pub origins: Vec<Option<String>>,
    /// The source under an empty name, then the passes in order.
    pub steps: Vec<Pass>,
    /// LLVM IR, PTX and SASS, as far as they exist.
    pub outputs: Vec<Output>,
    pub remarks: Vec<Remark>,
    pub kernels: Vec<Kernel>,
    /// The modulo schedules of the loops as text, if the scheduler ran.
    pub schedules: Option<String>,
}

/// A pass and its result.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pass {
    pub pass: String,
    /// The level that the pass contributes to: `cuda-tile`, `tileaa`, `tileas` or `llvm`.
    pub level: String,
    /// The program after the pass. `None` if the pass changed nothing.
    pub program: Option<Listing>,
}

/// A text with the source line of each of its lines, from 1, or 0 if there is none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listing {
    pub text: String,
    pub lines: Vec<u32>,
}

/// A program below the MLIR levels.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Output {
    /// `llvm-ir`, `ptx` or `sass`.
    pub level: String,
    pub program: Listing,
}

/// A remark of a pass.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remark {
    /// `passed`, `missed`, `failed` or `analysis`.
    pub sort: String,
    pub pass: String,
    pub name: String,
    pub function: String,
    /// The decision, its reason, and advice.
    pub message: String,
    /// The source line, or 0.
    pub line: u32,
    /// Further lines with the same cause.
    #[serde(default)]
    pub others: Vec<u32>,
    /// The section of the documentation on a missed optimization; empty for others.
    #[serde(default)]
    pub section: String,
    /// What was chosen, for programs: names and values.
    #[serde(default)]
    pub facts: Vec<(String, String)>,
}

/// The resources of a kernel. Sizes are in bytes.
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
    /// Parses the output of [`Exploration::to_json`].
    ///
    /// # Errors
    /// The first error in the text.
    pub fn from_json(text: &[u8]) -> Result<Self, String> {
        let read: Self = serde_json::from_slice(text).map_err(|e| e.to_string())?;
        match read.format {
            FORMAT => Ok(read),
            other => Err(format!("format {other} is not supported, only format {FORMAT}")),
        }
    }

    pub fn to_json(&self) -> String {
        // Serializing strings, numbers and lists of them cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }
}
