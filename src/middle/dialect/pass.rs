//! Passes and analyses in Rust, based on the pass class of the C++ shim.

use super::{fallback::Blame, ffi::*, rt::*};
use melior::{Context, ContextRef};
use mlir_sys::*;
use std::{
    any::Any,
    cell::RefCell,
    collections::BTreeMap,
    ffi::{CStr, CString, c_void},
    marker::PhantomData,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{Mutex, PoisonError},
};

/// Pass descriptors generated from `Passes.td`: one module per pass, with `ARGUMENT`, `OPTIONS` and the like.
#[allow(clippy::all, dead_code)]
pub mod descriptors {
    use super::{super::ffi::*, PassContext};
    use std::ffi::CStr;
    include!(concat!(env!("OUT_DIR"), "/passes.rs"));
}

/// Proof that a pass has failed with a diagnostic: only [`fail`] and [`fail_with_note`], which emit one, create it.
#[derive(Debug)]
pub struct Failed(());

/// A running pass, as MLIR sees it: options, statistics, analyses.
pub struct PassContext {
    raw: MlirxPass,
    argument: &'static CStr,
    statistics: &'static [MlirxStatisticDesc],
}

/// The statistics of this process, by pass and number. MLIR's own counters are disabled in release builds of LLVM.
static COUNTS: Mutex<BTreeMap<(&'static CStr, usize), i64>> = Mutex::new(BTreeMap::new());

/// Returns and resets the statistics of this compiler's passes in this process, one per line, in MLIR's format.
pub fn take_statistics() -> String {
    let counts = std::mem::take(&mut *COUNTS.lock().unwrap_or_else(PoisonError::into_inner));
    let rule = format!("==={}===\n", "-".repeat(73));
    let mut text = format!("{rule}{:>29}Pass statistics report ...\n{rule}", "... ");
    let mut before = None;
    let known = registered();
    for ((argument, index), count) in counts {
        let argument = argument.to_string_lossy();
        let Some(pass) = known.iter().find(|p| p.argument == argument) else { continue };
        let Some([name, description]) = pass.statistics.get(index) else { continue };
        if before.as_deref() != Some(&*argument) {
            text.push_str(&format!("{argument}\n"));
            before = Some(argument.into_owned());
        }
        text.push_str(&format!("  (S) {count:>7} {name} - {description}\n"));
    }
    text
}

impl PassContext {
    pub fn opt_bool(&self, i: isize) -> bool {
        // SAFETY: the pass is running, and the index is within its descriptor.
        unsafe { mlirxPassOptBool(self.raw, i) }
    }
    pub fn opt_int(&self, i: isize) -> i64 {
        // SAFETY: as above.
        unsafe { mlirxPassOptInt(self.raw, i) }
    }
    pub fn opt_str(&self, i: isize) -> &str {
        // SAFETY: as above; the string lives in the pass.
        unsafe { raw_to_str(mlirxPassOptStr(self.raw, i)) }
    }
    pub fn opt_int_list(&self, i: isize) -> &[i64] {
        let mut p = std::ptr::null();
        // SAFETY: as above; the list lives in the pass.
        unsafe {
            let n = mlirxPassOptIntList(self.raw, i, &mut p);
            raw_slice(p, n)
        }
    }
    pub fn stat_add(&self, i: isize, n: i64) {
        if (i as usize) < self.statistics.len() {
            let mut counts = COUNTS.lock().unwrap_or_else(PoisonError::into_inner);
            *counts.entry((self.argument, i as usize)).or_default() += n;
        }
        // SAFETY: as above.
        unsafe { mlirxPassStatAdd(self.raw, i, n) }
    }
    pub fn preserve_all(&self) {
        // SAFETY: the pass is running.
        unsafe { mlirxPassPreserveAll(self.raw) }
    }
    pub fn preserve<A: Analysis>(&self) {
        // SAFETY: the pass is running and the slot registered.
        unsafe { mlirxPassPreserve(self.raw, mlirxAnalysisTypeId(A::SLOT)) }
    }
    /// # Panics
    /// If the analysis panics: the pass that requested it then ends as if it had panicked itself.
    pub fn analysis<A: Analysis>(&self) -> &A {
        // SAFETY: the analysis manager owns the object until the pass ends.
        let built = unsafe { (mlirxPassGetAnalysis(self.raw, A::SLOT) as *const A).as_ref() };
        built.unwrap_or_else(|| match ANALYSIS_PANIC.take() {
            Some(payload) => resume_unwind(payload),
            None => panic!("an analysis panicked earlier"),
        })
    }
    pub fn cached_analysis<A: Analysis>(&self) -> Option<&A> {
        // SAFETY: as above.
        unsafe { (mlirxPassGetCachedAnalysis(self.raw, A::SLOT) as *const A).as_ref() }
    }
}

/// A pass in Rust. It is `Send` because a nested pass manager clones the pass for each worker thread.
pub trait RustPass: Clone + Send + Default + 'static {
    const NAME: &'static CStr;
    const ARGUMENT: &'static CStr;
    const DESCRIPTION: &'static CStr;
    /// The op that the pass runs on; empty for any op.
    const ANCHOR: &'static CStr;
    const OPTIONS: &'static [MlirxOptionDesc];
    const STATISTICS: &'static [MlirxStatisticDesc];
    const DIALECTS: &'static [&'static str];
    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed>;
}

/// Implements the constants of [`RustPass`] from a generated descriptor.
#[macro_export]
macro_rules! pass_descriptor {
    ($module:ident) => {
        const NAME: &'static std::ffi::CStr = $crate::dialect::pass::descriptors::$module::NAME;
        const ARGUMENT: &'static std::ffi::CStr = $crate::dialect::pass::descriptors::$module::ARGUMENT;
        const DESCRIPTION: &'static std::ffi::CStr = $crate::dialect::pass::descriptors::$module::DESCRIPTION;
        const ANCHOR: &'static std::ffi::CStr = $crate::dialect::pass::descriptors::$module::ANCHOR;
        const OPTIONS: &'static [$crate::dialect::ffi::MlirxOptionDesc] =
            $crate::dialect::pass::descriptors::$module::OPTIONS;
        const STATISTICS: &'static [$crate::dialect::ffi::MlirxStatisticDesc] =
            $crate::dialect::pass::descriptors::$module::STATISTICS;
        const DIALECTS: &'static [&'static str] = $crate::dialect::pass::descriptors::$module::DIALECTS;
    };
}

fn emit_error(op: OpRef<'_>, message: &str) {
    let message = CString::new(message.replace('\0', " ")).expect("no NUL left");
    // SAFETY: `op` is alive; MLIR copies the text.
    unsafe { mlirEmitError(op.location().to_raw(), message.as_ptr()) }
}

/// Emits `message` at `op` with a note at another op, and returns the failure.
pub fn fail_with_note(op: OpRef<'_>, message: &str, other: OpRef<'_>, note: &str) -> Failed {
    // SAFETY: both ops are alive; MLIR copies the texts.
    unsafe {
        mlirxEmitErrorWithNote(op.location().to_raw(), raw_str(message), other.location().to_raw(), raw_str(note));
    }
    blame(op);
    Failed(())
}

/// Emits a remark at `op`.
pub fn emit_remark(op: OpRef<'_>, message: &str) {
    // SAFETY: `op` is alive; MLIR copies the text.
    unsafe { mlirxEmitRemark(op.location().to_raw(), raw_str(message)) }
}

/// Emits `message` at `op` and returns the failure.
pub fn fail(op: OpRef<'_>, message: impl AsRef<str>) -> Failed {
    emit_error(op, message.as_ref());
    blame(op);
    Failed(())
}

/// The op that prevents a transformation, and the reason.
pub type Obstacle<'c> = (OpRef<'c>, String);

thread_local! {
    /// The message of the panic that ended the last pass on this thread, if any.
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
    /// The panic of the last analysis on this thread, until the requesting pass resumes it.
    static ANALYSIS_PANIC: RefCell<Option<Box<dyn Any + Send>>> = const { RefCell::new(None) };
    /// The first failure of the last pass on this thread, if it has a known location.
    static BLAME: RefCell<Option<Blame>> = const { RefCell::new(None) };
}

/// Records the location of a failure of the running pass; the first failure counts.
fn blame(op: OpRef<'_>) {
    BLAME.with_borrow_mut(|kept| *kept = kept.take().or_else(|| Blame::of(op)));
}

/// Returns and resets the location of the last pass's failure on this thread; see [`take_panic`].
pub fn take_blame() -> Option<Blame> {
    BLAME.take()
}

/// The start of the message on an op whose pass or verifier panicked.
pub const INTERNAL_ERROR: &str = "internal error";

/// A panic must not unwind into C++: it becomes a diagnostic and a failed pass, and [`take_panic`] returns its
/// message.
fn guard(op: OpRef<'_>, what: &str, f: impl FnOnce() -> Result<(), Failed>) -> bool {
    PANIC.set(None);
    BLAME.set(None);
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(r) => r.is_ok(),
        Err(p) => {
            let text = p.downcast_ref::<String>().map(String::as_str).or(p.downcast_ref::<&str>().copied());
            let text = text.unwrap_or("panic");
            emit_error(op, &format!("{INTERNAL_ERROR} in {what}: {text}"));
            PANIC.set(Some(text.to_owned()));
            false
        }
    }
}

/// Returns and resets the message of the panic that ended the last pass on this thread, or `None` if no panic did.
/// MLIR calls a pass's instrumentation on the thread that ran the pass, so a failure hook can distinguish a compiler
/// defect from an error in the program.
pub fn take_panic() -> Option<String> {
    PANIC.take()
}

/// Borrows the context of an op for the context's lifetime.
///
/// A reference needs a handle that lives as long as the context, but melior's `ContextRef::to_ref` refers to a handle
/// that dies with the statement. Therefore one handle is leaked per address that a context has had.
#[expect(clippy::disallowed_methods, reason = "the handle is leaked")]
pub fn context_of<'c>(op: OpRef<'c>) -> &'c Context {
    static HANDLES: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());
    // SAFETY: `op` is alive.
    let raw = unsafe { mlirOperationGetContext(op.to_raw()) };
    let mut handles = HANDLES.lock().unwrap_or_else(|e| e.into_inner());
    let handle = *handles.entry(raw.ptr as usize).or_insert_with(|| {
        // SAFETY: the context is alive.
        Box::into_raw(Box::new(unsafe { ContextRef::<'static>::from_raw(raw) })) as usize
    });
    // SAFETY: the handle is leaked; the context outlives its ops.
    unsafe { (*(handle as *const ContextRef<'c>)).to_ref() }
}

struct Hooks<P>(PhantomData<P>);
impl<P: RustPass> Hooks<P> {
    unsafe extern "C" fn create() -> *mut c_void {
        Box::into_raw(Box::new(P::default())) as *mut c_void
    }
    unsafe extern "C" fn clone(p: *const c_void) -> *mut c_void {
        // SAFETY: `p` came from `create` or `clone`.
        Box::into_raw(Box::new(unsafe { &*(p as *const P) }.clone())) as *mut c_void
    }
    unsafe extern "C" fn destroy(p: *mut c_void) {
        // SAFETY: as above; MLIR destroys a pass once.
        drop(unsafe { Box::from_raw(p as *mut P) })
    }
    unsafe extern "C" fn run(p: *mut c_void, op: MlirOperation, raw: MlirxPass) {
        let op = op_ref(op);
        let context = context_of(op);
        // SAFETY: as above; one thread runs one clone.
        let pass = unsafe { &mut *(p as *mut P) };
        let argument = P::ARGUMENT.to_str().unwrap_or_default();
        let body = || {
            guard(op, argument, || {
                #[cfg(test)]
                faults::raise(op, argument)?;
                pass.run(op, context, &PassContext { raw, argument: P::ARGUMENT, statistics: P::STATISTICS })
            })
        };
        if !super::remark::in_pass(argument, body) {
            // SAFETY: the pass is running.
            unsafe { mlirxPassSignalFailure(raw) }
        }
    }
    unsafe extern "C" fn dependents(registry: MlirDialectRegistry) {
        for name in P::DIALECTS {
            match super::handle(name) {
                // SAFETY: the registry is alive.
                Some(handle) => unsafe { mlirDialectHandleInsertDialect(handle, registry) },
                // Dialects without a C handle are part of the registry that every tool starts from.
                None => unsafe { mlirxDialectRegistryInsertUpstream(registry) },
            }
        }
    }
}

/// Injected faults, for tests of the compiler's reaction to failing passes.
#[cfg(test)]
pub mod faults {
    use super::*;
    use std::cell::Cell;

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Fault {
        /// The pass rejects the first function with a diagnostic.
        Failure,
        Panic,
    }

    thread_local! {
        /// The pass or analysis, its fault, and the number of remaining times.
        static NEXT: Cell<Option<(&'static str, Fault, usize)>> = const { Cell::new(None) };
    }

    /// Makes the pass, or the analysis of this type, end with `fault` the next `times` times on this thread.
    pub fn plant(pass: &'static str, fault: Fault, times: usize) {
        NEXT.set(Some((pass, fault, times)));
    }

    pub(super) fn raise(op: OpRef<'_>, argument: &str) -> Result<(), Failed> {
        let Some(fault) = planted(argument) else { return Ok(()) };
        let functions = collect_ops(op, |o| attr(o, "function_type").is_some().then_some(o));
        match fault {
            Fault::Failure => Err(fail(functions.first().copied().unwrap_or(op), "planted")),
            Fault::Panic => panic!("planted"),
        }
    }

    /// An analysis can only fail by panicking.
    pub(super) fn raise_in_analysis(name: &str) {
        assert!(planted(name).is_none(), "planted");
    }

    /// Returns the fault of a pass or an analysis for this run, if any.
    fn planted(name: &str) -> Option<Fault> {
        let (pass, fault, times) = NEXT.get().filter(|(pass, _, times)| *pass == name && *times > 0)?;
        NEXT.set(Some((pass, fault, times - 1)));
        Some(fault)
    }
}

fn descriptor<P: RustPass>() -> &'static MlirxPassDesc {
    #[repr(align(8))]
    struct Id(#[allow(unused)] u64);
    let id: &'static Id = Box::leak(Box::new(Id(0)));
    Box::leak(Box::new(MlirxPassDesc {
        name: P::NAME.as_ptr(),
        argument: P::ARGUMENT.as_ptr(),
        description: P::DESCRIPTION.as_ptr(),
        opName: P::ANCHOR.as_ptr(),
        // SAFETY: the object is static and aligned as type identities must be.
        typeId: unsafe { mlirTypeIDCreate(id as *const Id as *const c_void) },
        nOptions: P::OPTIONS.len() as isize,
        options: P::OPTIONS.as_ptr(),
        nStatistics: P::STATISTICS.len() as isize,
        statistics: P::STATISTICS.as_ptr(),
        dependentDialects: Some(Hooks::<P>::dependents),
        create: Some(Hooks::<P>::create),
        clone: Some(Hooks::<P>::clone),
        destroy: Some(Hooks::<P>::destroy),
        initialize: None,
        run: Some(Hooks::<P>::run),
    }))
}

/// The declaration of a registered pass.
#[derive(Clone, Debug)]
pub struct PassInfo {
    pub argument: String,
    pub summary: String,
    /// The op that the pass runs on; empty for any op.
    pub anchor: String,
    /// The name, default and description of each option.
    pub options: Vec<[String; 3]>,
    /// The name and description of each statistic.
    pub statistics: Vec<[String; 2]>,
}

static REGISTERED: Mutex<Vec<PassInfo>> = Mutex::new(vec![]);

/// Returns the registered passes of this compiler, sorted by name.
pub fn registered() -> Vec<PassInfo> {
    let mut list = REGISTERED.lock().unwrap_or_else(|e| e.into_inner()).clone();
    list.sort_by(|a, b| a.argument.cmp(&b.argument));
    list
}

fn info<P: RustPass>() -> PassInfo {
    // SAFETY: the texts of descriptors are static and null-terminated.
    let text = |p| unsafe { CStr::from_ptr(p) }.to_string_lossy().into_owned();
    PassInfo {
        argument: P::ARGUMENT.to_string_lossy().into_owned(),
        summary: P::DESCRIPTION.to_string_lossy().into_owned(),
        anchor: P::ANCHOR.to_string_lossy().into_owned(),
        options: P::OPTIONS.iter().map(|o| [text(o.name), text(o.defaultValue), text(o.description)]).collect(),
        statistics: P::STATISTICS.iter().map(|s| [text(s.name), text(s.description)]).collect(),
    }
}

/// Registers the pass globally with MLIR, so that pass pipelines can name it. Call once per process.
pub fn register<P: RustPass>() {
    REGISTERED.lock().unwrap_or_else(|e| e.into_inner()).push(info::<P>());
    // SAFETY: the descriptor is static.
    unsafe { mlirxPassRegister(descriptor::<P>()) }
}

/// An analysis that MLIR's analysis manager caches in one of the shim's type-erased slots.
pub trait Analysis: Sized + Send + 'static {
    const SLOT: isize;
    fn build(op: OpRef<'_>) -> Self;
    fn is_invalidated(&self, preserved: bool) -> bool {
        !preserved
    }
}

/// Binds `A` to its slot. Call once per process, before any pass requests it.
///
/// A panic must not unwind into the analysis manager either. There, an analysis that panicked is a null pointer, and
/// [`PassContext::analysis`] resumes the panic on the Rust side.
pub fn register_analysis<A: Analysis>() {
    unsafe extern "C" fn build<A: Analysis>(op: MlirOperation) -> *mut c_void {
        let build = || {
            #[cfg(test)]
            faults::raise_in_analysis(std::any::type_name::<A>());
            A::build(op_ref(op))
        };
        match catch_unwind(AssertUnwindSafe(build)) {
            Ok(built) => Box::into_raw(Box::new(built)) as *mut c_void,
            Err(payload) => {
                ANALYSIS_PANIC.set(Some(payload));
                std::ptr::null_mut()
            }
        }
    }
    unsafe extern "C" fn destroy<A: Analysis>(p: *mut c_void) {
        if !p.is_null() {
            // SAFETY: `p` came from `build`.
            drop(unsafe { Box::from_raw(p as *mut A) })
        }
    }
    unsafe extern "C" fn invalid<A: Analysis>(p: *mut c_void, preserved: bool) -> bool {
        // SAFETY: `p` came from `build`.
        let Some(built) = (unsafe { (p as *const A).as_ref() }) else { return true };
        // If the check itself panics, the analysis is rebuilt.
        catch_unwind(AssertUnwindSafe(|| built.is_invalidated(preserved))).unwrap_or(true)
    }
    let d = Box::leak(Box::new(MlirxAnalysisDesc {
        build: Some(build::<A>),
        destroy: Some(destroy::<A>),
        isInvalidated: Some(invalid::<A>),
    }));
    // SAFETY: the descriptor is static.
    unsafe { mlirxAnalysisRegister(A::SLOT, d) }
}
