//! Remarks: messages to the user about a decision of a pass, with the reason and advice.
//!
//! Passes call [`remark`]. The caller of the passes decides where remarks go: the compiler collects them for the
//! driver ([`collect`]), and `tileiras-opt --remarks` prints them as diagnostics ([`print_as_diagnostics`]). By
//! default they are dropped.
//!
//! A pass that decides against TMA or the fastest matrix unit for an op records the reason by [`against`]. The last
//! pass reports the [`Choice`] for each op ([`chosen`]), with the recorded reasons. Ops are identified by kernel and
//! source location, because passes replace them.

use super::{ffi, location, loops::loops_around, nv_tileaa, rt::*};
use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    fmt::Display,
    sync::atomic::{AtomicBool, Ordering},
};
use tile_diag::Location;
use tile_interface::{Advice, Choice, Remark, RemarkSort, RemarkSubject};

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
pub const WIDE_OFFSETS: Category = analysis(RemarkSubject::Detail, "WideOffsets");
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
/// Two CTAs run the dots of neighbouring tile blocks together.
pub const PAIRED_TILE_BLOCKS: Category = analysis(RemarkSubject::Other, "PairedTileBlocks");
/// One CTA for each SM runs all tile blocks of a large grid.
pub const LOOPED_TILE_BLOCKS: Category = analysis(RemarkSubject::Other, "LoopedTileBlocks");
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

/// A hint of the program that cannot change anything on the target.
pub const UNUSED_HINT: Category = missed(RemarkSubject::Other, "UnusedHint");

/// The unit and the instruction of a product.
pub const PRODUCT: Category = analysis(RemarkSubject::TensorCore, "Product");
/// The instructions of a load.
pub const LOAD: Category = analysis(RemarkSubject::Memory, "Load");
/// The instructions of a store.
pub const STORE: Category = analysis(RemarkSubject::Memory, "Store");
/// The order in which a reduction or a scan combines elements.
pub const ORDER: Category = analysis(RemarkSubject::Other, "Order");
/// A result that depends on the order of events at run time.
pub const DEPENDS_ON_TIMING: Category = analysis(RemarkSubject::Other, "DependsOnTiming");
/// A result of a portable kernel that may differ between GPUs.
pub const NOT_PORTABLE: Category = analysis(RemarkSubject::Other, "NotPortable");
/// The agents, registers and rings of a loop.
pub const LOOP: Category = analysis(RemarkSubject::Other, "Loop");

/// A compiler defect: a plan could not be carried through, and a loop or kernel was recompiled with a weaker plan.
pub const FALLBACK: Category = Category { sort: RemarkSort::Failed, subject: RemarkSubject::Other, name: "Fallback" };
/// Shared memory did not suffice for the passes' choices, and a kernel was recompiled with less.
pub const SHARED_MEMORY_FALLBACK: Category = missed(RemarkSubject::Memory, "SharedMemoryFallback");

impl Category {
    /// Creates a remark of this category on a function.
    pub fn remark(self, pass: &str, function: String, message: String) -> Remark {
        Remark {
            sort: self.sort,
            subject: self.subject,
            pass: pass.to_owned(),
            name: self.name.to_owned(),
            function,
            location: None,
            others: vec![],
            loops: 0,
            message,
            advice: None,
            choice: None,
        }
    }
}

/// A better way to execute an op, against which a pass may decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Better {
    /// TMA moves the tile.
    Tma,
    /// The fastest matrix unit of the target multiplies.
    Unit,
}

/// The remarks of a compilation, and the reasons recorded so far, by kernel, file, line and column.
#[derive(Default)]
struct Collected {
    remarks: Vec<Remark>,
    reasons: BTreeMap<(Better, String, String, u32, u32), Vec<String>>,
}

thread_local! {
    static COLLECTED: RefCell<Option<Collected>> = const { RefCell::new(None) };
    static PASS: Cell<&'static str> = const { Cell::new("") };
}
static PRINT: AtomicBool = AtomicBool::new(false);

/// Runs `f`, and returns its result with the remarks made on this thread. Passes run on the calling thread unless the
/// context is multi-threaded.
pub fn collect<T>(f: impl FnOnce() -> T) -> (T, Vec<Remark>) {
    let outer = COLLECTED.replace(Some(Collected::default()));
    let result = f();
    let collected = COLLECTED.replace(outer).unwrap_or_default();
    (result, collected.remarks)
}

/// Prints all later remarks that are not collected as MLIR diagnostics.
pub fn print_as_diagnostics() {
    PRINT.store(true, Ordering::Relaxed);
}

/// Whether remarks are collected or printed. If not, passes can skip expensive computations of reasons.
pub fn wanted() -> bool {
    is_collecting() || PRINT.load(Ordering::Relaxed)
}

/// Whether the remarks of all passes of a compilation are collected.
pub fn is_collecting() -> bool {
    COLLECTED.with_borrow(Option::is_some)
}

/// Runs `f` as the body of the pass with this command-line name.
pub(super) fn in_pass<T>(argument: &'static str, f: impl FnOnce() -> T) -> T {
    let outer = PASS.replace(argument);
    let result = f();
    PASS.set(outer);
    result
}

/// Emits a remark on `op`. `reason` states the decision and its cause; `advice`, what the user can change.
pub fn remark(op: OpRef<'_>, category: Category, reason: impl Display, advice: impl Into<Option<Advice>>) {
    if wanted() {
        emit(op, Remark { advice: advice.into(), ..category.remark(PASS.get(), function_of(op), reason.to_string()) });
    }
}

/// Emits the choice for `op`. A single pass of `tileiras-opt` does not know the reasons of the others, and emits none.
pub fn chosen(op: OpRef<'_>, choice: Choice) {
    if is_collecting() {
        let category = match &choice {
            Choice::Product(_) => PRODUCT,
            Choice::Transfer(t) if t.is_store => STORE,
            Choice::Transfer(_) => LOAD,
            Choice::Loop(_) => LOOP,
            Choice::Order(_) => ORDER,
        };
        let remark = category.remark(PASS.get(), function_of(op), choice.to_string());
        emit(op, Remark { choice: Some(choice), ..remark });
    }
}

fn emit(op: OpRef<'_>, remark: Remark) {
    let remark = Remark { location: place_of(op), loops: loops_around(op).count() as u32, ..remark };
    let text = format!("{}: {}", remark.name, remark.text());
    let collected = COLLECTED.with_borrow_mut(|all| all.as_mut().map(|all| all.remarks.push(remark)));
    if collected.is_none() {
        // SAFETY: `op` is alive; MLIR copies the text.
        unsafe { ffi::mlirxEmitRemark(op.location().to_raw(), raw_str(&text)) }
    }
}

/// Records a reason against a better way to execute `op`. Ops without a location keep no reasons.
pub fn against(op: OpRef<'_>, better: Better, reason: impl Display) {
    COLLECTED.with_borrow_mut(|all| {
        let Some((all, place)) = all.as_mut().zip(place_of(op)) else { return };
        let reasons = all.reasons.entry((better, function_of(op), place.file, place.line, place.column)).or_default();
        let reason = reason.to_string();
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    });
}

/// The reasons that passes have recorded for the source of `op`.
pub fn reasons(op: OpRef<'_>, better: Better) -> Vec<String> {
    COLLECTED
        .with_borrow(|all| {
            let (all, place) = all.as_ref().zip(place_of(op))?;
            all.reasons.get(&(better, function_of(op), place.file, place.line, place.column)).cloned()
        })
        .unwrap_or_default()
}

/// The source location of an op.
pub fn place_of(op: OpRef<'_>) -> Option<Location> {
    location::file_line(op.location()).map(|p| Location::new(p.file, p.line, p.column))
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
        let headings = include_str!("../../../docs/remarks.md").lines().filter_map(|l| l.strip_prefix("### "));
        let documented: Vec<&str> = headings.collect();
        assert!(documented.is_sorted());
        assert_eq!(documented.into_iter().collect::<BTreeSet<_>>(), names);
    }
}
