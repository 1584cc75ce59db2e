//! Remarks: messages to the user about a decision of a pass, with the reason and a suggestion.
//!
//! Passes call [`remark`]. The caller of the passes decides where remarks go: the compiler collects them for the
//! driver ([`collect`]), and `tileiras-opt --remarks` prints them as diagnostics ([`print_as_diagnostics`]). By
//! default they are dropped.

use super::{ffi, location, nv_tileaa, rt::*};
use std::{
    cell::{Cell, RefCell},
    fmt::Display,
    sync::atomic::{AtomicBool, Ordering},
};
use tile_diag::Location;
use tile_interface::{Remark, RemarkSort, RemarkSubject};

/// The subject of a remark. Each category has one constant, so that the names that tools filter by are listed in one
/// place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Category {
    pub sort: RemarkSort,
    pub subject: RemarkSubject,
    pub name: &'static str,
}

const fn missed(subject: RemarkSubject, name: &'static str) -> Category {
    Category { sort: RemarkSort::Missed, subject, name }
}

const fn analysis(subject: RemarkSubject, name: &'static str) -> Category {
    Category { sort: RemarkSort::Analysis, subject, name }
}

/// A global memory access moves less than 16 bytes at a time.
pub const NARROW_ACCESS: Category = missed(RemarkSubject::Memory, "NarrowAccess");
/// A tensor changes its layout through shared memory in every iteration of a loop.
pub const CONVERSION_IN_LOOP: Category = missed(RemarkSubject::Memory, "ConversionInLoop");
/// A tensor exceeds the shared memory that a conversion may use, so the conversion proceeds part by part.
pub const CONVERSION_IN_PARTS: Category = missed(RemarkSubject::Memory, "ConversionInParts");
/// A tensor exceeds the registers and is stored in local memory.
pub const LOCAL_MEMORY: Category = missed(RemarkSubject::Memory, "LocalMemory");
/// Tiles at the edge of a view are accessed element by element.
pub const MASKED_EDGE: Category = missed(RemarkSubject::Memory, "MaskedEdge");
/// Offsets into a view are computed in 64 bits.
pub const WIDE_OFFSETS: Category = analysis(RemarkSubject::Memory, "WideOffsets");
/// Atomic updates process one element at a time although an instruction could process several.
pub const NARROW_ATOMIC: Category = missed(RemarkSubject::Memory, "NarrowAtomic");
/// An atomic update is a compare-and-swap loop.
pub const ATOMIC_LOOP: Category = missed(RemarkSubject::Memory, "AtomicLoop");
/// Threads access the same bank of shared memory.
pub const BANK_CONFLICTS: Category = missed(RemarkSubject::Memory, "BankConflicts");
/// An operand of a matrix instruction is read from shared memory element by element.
pub const NO_LDMATRIX: Category = missed(RemarkSubject::TensorCore, "NoLdmatrix");
/// A dot is computed by scalar instructions.
pub const NO_TENSOR_CORE: Category = missed(RemarkSubject::TensorCore, "NoTensorCore");
/// Dots use instructions of single warps although the target has warpgroup instructions.
pub const NO_WARPGROUPS: Category = missed(RemarkSubject::TensorCore, "NoWarpgroups");
/// The distribution of a kernel's dots over warpgroups, with the reason.
pub const WARPGROUP_PLAN: Category = analysis(RemarkSubject::TensorCore, "WarpgroupPlan");
/// Whether warpgroups ping-pong between tensor cores and arithmetic, with the reason.
pub const PING_PONG: Category = analysis(RemarkSubject::TensorCore, "PingPong");
/// Each tile is split over the CTAs of a cluster.
pub const SPLIT_TILE: Category = analysis(RemarkSubject::Other, "SplitTile");
/// A tile is too large for one CTA and cannot be split over a cluster.
pub const NOT_SPLIT: Category = missed(RemarkSubject::Other, "NotSplit");
/// A dot is computed by matrix instructions of a wider type.
pub const WIDENED_OPERANDS: Category = missed(RemarkSubject::TensorCore, "WidenedOperands");
/// A conversion of a narrow type takes several instructions.
pub const EMULATED_TYPE: Category = missed(RemarkSubject::Other, "EmulatedType");
/// The load of a dot operand is not issued ahead of its iteration.
pub const NOT_PIPELINED: Category = missed(RemarkSubject::Memory, "NotPipelined");
/// The iterations of a loop do not overlap, because registers or shared memory do not suffice.
pub const NOT_OVERLAPPED: Category = missed(RemarkSubject::Other, "NotOverlapped");
/// Shared memory has room for fewer stages than the pipeline may have.
pub const FEWER_STAGES: Category = missed(RemarkSubject::Memory, "FewerStages");
/// A dot without scales uses the matrix instruction with scales.
pub const UNIT_SCALES: Category = analysis(RemarkSubject::TensorCore, "UnitScales");
/// The matrix instruction takes no scales: the sum of each block is scaled in registers.
pub const SCALES_IN_REGISTERS: Category = missed(RemarkSubject::TensorCore, "ScalesInRegisters");

/// A compiler defect: a plan could not be carried through, and a loop or kernel was recompiled with a weaker plan.
pub const FALLBACK: Category = Category { sort: RemarkSort::Failed, subject: RemarkSubject::Other, name: "Fallback" };
/// Shared memory did not suffice for the passes' choices, and a kernel was recompiled with less.
pub const SHARED_MEMORY_FALLBACK: Category = missed(RemarkSubject::Memory, "SharedMemoryFallback");

impl Category {
    /// Creates a remark of this category on a function.
    pub fn remark(self, pass: &str, function: String, message: String) -> Remark {
        let name = self.name.to_owned();
        Remark {
            sort: self.sort,
            subject: self.subject,
            pass: pass.to_owned(),
            name,
            function,
            location: None,
            message,
        }
    }
}

thread_local! {
    static COLLECTED: RefCell<Option<Vec<Remark>>> = const { RefCell::new(None) };
    static PASS: Cell<&'static str> = const { Cell::new("") };
}
static PRINT: AtomicBool = AtomicBool::new(false);

/// Runs `f`, and returns its result with the remarks made on this thread. Passes run on the calling thread unless the
/// context is multi-threaded.
pub fn collect<T>(f: impl FnOnce() -> T) -> (T, Vec<Remark>) {
    let outer = COLLECTED.replace(Some(vec![]));
    let result = f();
    let remarks = COLLECTED.replace(outer).unwrap_or_default();
    (result, remarks)
}

/// Prints all later remarks that are not collected as MLIR diagnostics.
pub fn print_as_diagnostics() {
    PRINT.store(true, Ordering::Relaxed);
}

/// Whether remarks are collected or printed. If not, passes can skip expensive computations of reasons.
pub fn wanted() -> bool {
    COLLECTED.with_borrow(Option::is_some) || PRINT.load(Ordering::Relaxed)
}

/// Runs `f` as the body of the pass with this command-line name.
pub(super) fn in_pass<T>(argument: &'static str, f: impl FnOnce() -> T) -> T {
    let outer = PASS.replace(argument);
    let result = f();
    PASS.set(outer);
    result
}

/// Emits a remark on `op`. `reason` states the decision and its cause; `suggestion`, which may be empty, what the
/// user can change.
pub fn remark(op: OpRef<'_>, category: Category, reason: impl Display, suggestion: impl Display) {
    if !wanted() {
        return;
    }
    let suggestion = suggestion.to_string();
    let message = if suggestion.is_empty() { reason.to_string() } else { format!("{reason}; {suggestion}") };
    let collected = COLLECTED.with_borrow_mut(|list| {
        list.as_mut().map(|list| {
            list.push(Remark {
                sort: category.sort,
                subject: category.subject,
                pass: PASS.get().to_string(),
                name: category.name.to_string(),
                function: function_of(op),
                location: location::file_line(op.location()).map(|p| Location::new(p.file, p.line, p.column)),
                message: message.clone(),
            });
        })
    });
    if collected.is_none() {
        let text = format!("{}: {message}", category.name);
        // SAFETY: `op` is alive; MLIR copies the text.
        unsafe { ffi::mlirxEmitRemark(op.location().to_raw(), raw_str(&text)) }
    }
}

/// Returns the name of the kernel that contains `op`.
fn function_of(op: OpRef<'_>) -> String {
    let mut at = Some(op);
    while let Some(op) = at {
        if let Some(function) = nv_tileaa::FuncOp::cast(op) {
            return function.sym_name().to_string();
        }
        at = parent_op(op);
    }
    String::new()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    /// Every name that users can filter by is documented, and no others.
    #[test]
    fn names_are_documented() {
        let after = |text: &'static str, mark: &str| text.split_once(mark).map(|(_, rest)| rest);
        let constants = include_str!("remark.rs").lines().filter(|l| l.starts_with("pub const "));
        let mut names: BTreeSet<&str> =
            constants.map(|l| after(l, "\"").and_then(|l| l.split('"').next()).expect("a name")).collect();
        // The driver reports it, based on ptxas' output.
        names.insert("Spilled");
        let rows = include_str!("../../../docs/remarks.md").lines().filter_map(|l| after(l, "| `"));
        let documented: Vec<&str> = rows.filter_map(|l| l.split('`').next()).collect();
        assert!(documented.is_sorted());
        assert_eq!(documented.into_iter().collect::<BTreeSet<_>>(), names);
    }
}
