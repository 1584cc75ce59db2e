//! Remarks: what a pass tells the user about a decision, with the reason and what would change it.
//!
//! Passes call [`remark`]. Where the remarks go is up to who runs the passes: the compiler collects them for the driver
//! ([`collect`]), `tileiras-opt --remarks` prints them as diagnostics ([`print_as_diagnostics`]), anybody else gets
//! none.

use super::{ffi, location, nv_tileaa, rt::*};
use std::{
    cell::{Cell, RefCell},
    fmt::Display,
    sync::atomic::{AtomicBool, Ordering},
};
use tile_diag::Location;
use tile_interface::{Remark, RemarkSort, RemarkSubject};

/// What a remark is about. Each has one constant, so that the names that tools filter by are listed in one place.
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

/// An access of global memory moves less than 16 bytes at a time.
pub const NARROW_ACCESS: Category = missed(RemarkSubject::Memory, "NarrowAccess");
/// A tensor changes its layout through shared memory in every iteration of a loop.
pub const CONVERSION_IN_LOOP: Category = missed(RemarkSubject::Memory, "ConversionInLoop");
/// A tensor is larger than what a conversion may keep in shared memory, and goes through it part by part.
pub const CONVERSION_IN_PARTS: Category = missed(RemarkSubject::Memory, "ConversionInParts");
/// A tensor does not fit into registers and lies in local memory.
pub const LOCAL_MEMORY: Category = missed(RemarkSubject::Memory, "LocalMemory");
/// Tiles at the edge of a view are accessed element by element.
pub const MASKED_EDGE: Category = missed(RemarkSubject::Memory, "MaskedEdge");
/// Offsets into a view are computed in 64 bits.
pub const WIDE_OFFSETS: Category = analysis(RemarkSubject::Memory, "WideOffsets");
/// Atomic updates are made one element at a time although an instruction could do several.
pub const NARROW_ATOMIC: Category = missed(RemarkSubject::Memory, "NarrowAtomic");
/// An atomic update is a loop around compare and swap.
pub const ATOMIC_LOOP: Category = missed(RemarkSubject::Memory, "AtomicLoop");
/// Threads want the same bank of shared memory.
pub const BANK_CONFLICTS: Category = missed(RemarkSubject::Memory, "BankConflicts");
/// An operand of a matrix instruction is read from shared memory element by element.
pub const NO_LDMATRIX: Category = missed(RemarkSubject::TensorCore, "NoLdmatrix");
/// A product is computed by scalar instructions.
pub const NO_TENSOR_CORE: Category = missed(RemarkSubject::TensorCore, "NoTensorCore");
/// Products are computed by instructions of single warps although the target has those of warpgroups.
pub const NO_WARPGROUPS: Category = missed(RemarkSubject::TensorCore, "NoWarpgroups");
/// How the products of a kernel are shared out among warpgroups, and why so.
pub const WARPGROUP_PLAN: Category = analysis(RemarkSubject::TensorCore, "WarpgroupPlan");
/// Whether warpgroups take turns with the tensor cores, and why so.
pub const PING_PONG: Category = analysis(RemarkSubject::TensorCore, "PingPong");
/// The thread blocks of a cluster share each tile block.
pub const SPLIT_TILE: Category = analysis(RemarkSubject::Other, "SplitTile");
/// Several thread blocks would do what is too large for one, and something keeps them from sharing a tile block.
pub const NOT_SPLIT: Category = missed(RemarkSubject::Other, "NotSplit");
/// A product is computed by matrix instructions of a wider type.
pub const WIDENED_OPERANDS: Category = missed(RemarkSubject::TensorCore, "WidenedOperands");
/// A conversion of a narrow type takes several instructions.
pub const EMULATED_TYPE: Category = missed(RemarkSubject::Other, "EmulatedType");
/// A load of a product's operand is not started ahead of its iteration.
pub const NOT_PIPELINED: Category = missed(RemarkSubject::Memory, "NotPipelined");
/// Iterations of a loop are scheduled one after the other: neither registers nor shared memory allow an overlap.
pub const NOT_OVERLAPPED: Category = missed(RemarkSubject::Other, "NotOverlapped");
/// Shared memory has no room for as many stages as the pipeline may have.
pub const FEWER_STAGES: Category = missed(RemarkSubject::Memory, "FewerStages");
/// The instruction that multiplies takes no scales: each block's sum is scaled in registers.
pub const SCALES_IN_REGISTERS: Category = missed(RemarkSubject::TensorCore, "ScalesInRegisters");

/// The compiler could not carry a plan through, and has compiled a loop or a kernel again with a weaker one. A defect.
pub const FALLBACK: Category = Category { sort: RemarkSort::Failed, subject: RemarkSubject::Other, name: "Fallback" };
/// Shared memory had no room for what the passes chose, and a kernel has been compiled again with less.
pub const SHARED_MEMORY_FALLBACK: Category = missed(RemarkSubject::Memory, "SharedMemoryFallback");

impl Category {
    /// A remark of this category on a function.
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

/// Runs `f`, and gives what it remarked on this thread. Passes run on the calling thread unless the context has
/// several.
pub fn collect<T>(f: impl FnOnce() -> T) -> (T, Vec<Remark>) {
    let outer = COLLECTED.replace(Some(vec![]));
    let result = f();
    let remarks = COLLECTED.replace(outer).unwrap_or_default();
    (result, remarks)
}

/// From now on remarks that nobody collects become diagnostics of MLIR.
pub fn print_as_diagnostics() {
    PRINT.store(true, Ordering::Relaxed);
}

/// Whether a remark would reach anybody: what costs time to find out need not be found out otherwise.
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

/// Remarks on `op`: `reason` says what is and why, `suggestion` what the user can do about it; it may be empty.
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

/// Name of the kernel around `op`.
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

    /// Those who filter by names find each of them described, and no others.
    #[test]
    fn names_are_documented() {
        let after = |text: &'static str, mark: &str| text.split_once(mark).map(|(_, rest)| rest);
        let constants = include_str!("remark.rs").lines().filter(|l| l.starts_with("pub const "));
        let mut names: BTreeSet<&str> =
            constants.map(|l| after(l, "\"").and_then(|l| l.split('"').next()).expect("a name")).collect();
        // ptxas tells of it, to the driver.
        names.insert("Spilled");
        let rows = include_str!("../../../docs/remarks.md").lines().filter_map(|l| after(l, "| `"));
        let documented: Vec<&str> = rows.filter_map(|l| l.split('`').next()).collect();
        assert!(documented.is_sorted());
        assert_eq!(documented.into_iter().collect::<BTreeSet<_>>(), names);
    }
}
