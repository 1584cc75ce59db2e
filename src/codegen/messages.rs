//! Collects LLVM's messages for the caller of the compiler.
//!
//! By default, LLVM writes its messages to standard error and exits on errors. This module collects them instead
//! ([`collect`], [`take`]). A fatal error still ends the process, because LLVM cannot continue, but its reason is
//! reported like other messages first ([`reporting`]).

use inkwell::{
    context::{AsContextRef, Context},
    module::Module,
};
use llvm_sys::{
    LLVMDiagnosticSeverity, core::*, error_handling::LLVMInstallFatalErrorHandler, prelude::LLVMDiagnosticInfoRef,
};
use std::{
    cell::{Cell, RefCell},
    ffi::{CStr, c_char, c_void},
};
use tile_diag::{Code, Diagnostic, Severity};

/// The receiver of a compilation's messages.
type Report = dyn FnMut(Diagnostic);

thread_local! {
    static SAID: RefCell<Vec<Diagnostic>> = const { RefCell::new(vec![]) };
    static REPORT: Cell<Option<*mut Report>> = const { Cell::new(None) };
}

/// Starts collecting messages about modules of the context, for the thread that works on them.
pub fn collect(context: &Context) {
    // SAFETY: the context is alive, and the handler only uses its arguments.
    unsafe { LLVMContextSetDiagnosticHandler(context.as_ctx_ref(), Some(hear), std::ptr::null_mut()) }
}

/// Runs `work` and returns the messages that it causes on this thread, which are not collected.
pub fn apart<T>(work: impl FnOnce() -> T) -> (T, Vec<Diagnostic>) {
    let before = SAID.take();
    let done = work();
    (done, SAID.replace(before))
}

/// Links a module into another one. Messages are collected as before; `link_in_module` would leave a handler that
/// writes to its stack frame.
///
/// Errors: LLVM's messages.
pub fn link<'l>(module: &Module<'l>, other: Module<'l>) -> Result<(), String> {
    // SAFETY: both modules are alive and of one context. Linking consumes the other one, which is therefore not
    // dropped. The handler only uses its arguments.
    let (failed, said) = apart(|| unsafe {
        let raw = other.as_mut_ptr();
        LLVMContextSetDiagnosticHandler(LLVMGetModuleContext(raw), Some(hear), std::ptr::null_mut());
        std::mem::forget(other);
        llvm_sys::linker::LLVMLinkModules2(module.as_mut_ptr(), raw) != 0
    });
    if failed {
        let errors: Vec<String> =
            said.into_iter().filter(|d| d.severity == Severity::Error).map(|d| d.message).collect();
        return Err(errors.join("; "));
    }
    SAID.with_borrow_mut(|all| all.extend(said));
    Ok(())
}

/// Takes the messages collected on this thread.
pub fn take() -> Vec<Diagnostic> {
    SAID.take()
}

/// The errors collected so far, as one text.
pub fn errors() -> Option<String> {
    SAID.with_borrow(|said| {
        let errors: Vec<&str> =
            said.iter().filter(|d| d.severity == Severity::Error).map(|d| d.message.as_str()).collect();
        (!errors.is_empty()).then(|| errors.join("; "))
    })
}

extern "C" fn hear(info: LLVMDiagnosticInfoRef, _: *mut c_void) {
    // SAFETY: LLVM's description of the message is alive during the call; the text is ours to give back.
    let (severity, text) = unsafe {
        let text = LLVMGetDiagInfoDescription(info);
        let copy = CStr::from_ptr(text).to_string_lossy().into_owned();
        LLVMDisposeMessage(text);
        (LLVMGetDiagInfoSeverity(info), copy)
    };
    let severity = match severity {
        LLVMDiagnosticSeverity::LLVMDSError => Severity::Error,
        LLVMDiagnosticSeverity::LLVMDSWarning => Severity::Warning,
        // Remarks of LLVM's optimizer are about generated code.
        _ => return,
    };
    SAID.with_borrow_mut(|said| said.push(Diagnostic::new(severity, text)));
}

/// Runs `work`. The reason of a fatal error on this thread goes to `report` meanwhile.
pub fn reporting<T>(report: &mut dyn FnMut(Diagnostic), work: impl FnOnce() -> T) -> T {
    struct Restore(Option<*mut Report>);
    impl Drop for Restore {
        fn drop(&mut self) {
            REPORT.set(self.0);
        }
    }
    static ONCE: std::sync::Once = std::sync::Once::new();
    // SAFETY: the handler is a function of this library, which is never unloaded while a compilation runs.
    ONCE.call_once(|| unsafe { LLVMInstallFatalErrorHandler(Some(fatal)) });
    // SAFETY: the pointer is taken out again before the reference ends, however `work` ends.
    let pointer = unsafe { std::mem::transmute::<*mut (dyn FnMut(Diagnostic) + '_), *mut Report>(report) };
    let _restore = Restore(REPORT.replace(Some(pointer)));
    work()
}

/// Drops the receiver of fatal errors on this thread, for a child process of which nothing is heard.
pub fn silence() {
    REPORT.set(None);
}

/// Called on a fatal error. LLVM ends the process when this returns.
extern "C" fn fatal(reason: *const c_char) {
    // SAFETY: a text that ends with zero.
    let reason = unsafe { CStr::from_ptr(reason) }.to_string_lossy();
    let text = format!("internal error: fatal error in LLVM: {reason}");
    match REPORT.take() {
        // SAFETY: `reporting`, further up on this thread, has the reference and does not use it meanwhile.
        Some(report) => unsafe { (*report)(Diagnostic::error(Code::Internal, text)) },
        None => eprintln!("error: {text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_of_a_fatal_error_is_reported() {
        let mut heard = vec![];
        reporting(&mut |d| heard.push(d.message), || fatal(c"no such thing".as_ptr()));
        assert_eq!(heard, ["internal error: fatal error in LLVM: no such thing"]);
    }

    /// LLVM warns about a loop that should have been unrolled but was not.
    #[test]
    fn warnings_are_collected() {
        use crate::codegen::{TRIPLE, initialise};
        use inkwell::{memory_buffer::MemoryBuffer, passes::PassBuilderOptions, targets::*};
        initialise();
        let text = "define void @f(ptr %p) {\n  br label %l\nl:\n  store volatile i32 0, ptr %p\n  \
                    br i1 false, label %l, label %e, !llvm.loop !0\ne:\n  ret void\n}\n\
                    !0 = distinct !{!0, !1}\n!1 = !{!\"llvm.loop.unroll.enable\"}\n\0";
        let context = Context::create();
        collect(&context);
        let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "test");
        let module = context.create_module_from_ir(buffer).unwrap();
        let triple = TargetTriple::create(TRIPLE);
        let (level, reloc, model) = (inkwell::OptimizationLevel::Default, RelocMode::Default, CodeModel::Default);
        let target = Target::from_triple(&triple).unwrap();
        let machine = target.create_target_machine(&triple, "sm_90", "+ptx83", level, reloc, model).unwrap();
        module.run_passes("function(transform-warning)", &machine, PassBuilderOptions::create()).unwrap();
        let said = take();
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].severity == Severity::Warning && said[0].message.contains("not unrolled"), "{said:?}");
    }
}
