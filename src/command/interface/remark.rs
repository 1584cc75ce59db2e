//! Optimization remarks: what a pass did, failed to do, or found.

use tile_diag::Location;

/// One remark of a pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    pub sort: RemarkSort,
    pub subject: RemarkSubject,
    /// The pass's command-line name.
    pub pass: String,
    /// A short name of the subject, for example `Pipelined`.
    pub name: String,
    /// The kernel.
    pub function: String,
    pub location: Option<Location>,
    pub message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemarkSort {
    Passed,
    Missed,
    Failed,
    Analysis,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemarkSubject {
    Memory,
    TensorCore,
    Other,
}
