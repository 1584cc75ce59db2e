//! Errors of the parser.

use crate::ir::Type;

/// A syntax or type error in PTX text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {kind}")]
pub struct ParseError {
    /// Line, from 1.
    pub line: u32,
    /// Column in bytes, from 1.
    pub column: u32,
    pub kind: ParseErrorKind,
}

/// The kinds of errors in PTX text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseErrorKind {
    #[error("expected {expected}, found {found}")]
    Expected { expected: String, found: String },
    #[error("unknown directive '{0}'")]
    UnknownDirective(String),
    #[error("unknown instruction '{0}'")]
    UnknownInstruction(String),
    #[error("modifier '.{modifier}' is not valid for '{instruction}'")]
    UnknownModifier { instruction: String, modifier: String },
    #[error("'{instruction}' lacks {missing}")]
    MissingModifier { instruction: String, missing: String },
    #[error("type .{ty} is not valid for '{instruction}'")]
    BadType { instruction: String, ty: Type },
    #[error("'{instruction}' takes {expected} operands, found {found}")]
    OperandCount { instruction: String, expected: String, found: usize },
    #[error("operand {index} of '{instruction}': expected {expected}, found {found}")]
    BadOperand { instruction: String, index: usize, expected: String, found: String },
    #[error("undefined name '{0}'")]
    Undefined(String),
    #[error("'{0}' is defined twice")]
    Redefined(String),
    #[error("malformed number '{0}'")]
    BadNumber(String),
    #[error("invalid value: {0}")]
    BadValue(String),
    #[error("the file is larger than 4 GiB")]
    TooLarge,
    #[error("not supported by the simulator: {0}")]
    Unsupported(String),
}

pub(crate) type Result<T> = std::result::Result<T, ParseError>;
