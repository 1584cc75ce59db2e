//! Machine code for the host: the module of `tileir-emit-host-wrapper` as a relocatable object.

use super::CodegenError;
use crate::dialect::rt::OpRef;
use inkwell::{
    OptimizationLevel,
    context::Context,
    module::Module,
    targets::{CodeModel, FileType, RelocMode, Target, TargetTriple},
};
use llvm_sys::target::*;
use std::sync::Once;

/// Sets up LLVM's code generators for hosts once per process.
fn initialise() {
    static ONCE: Once = Once::new();
    // SAFETY: the functions only add to LLVM's list of targets.
    ONCE.call_once(|| unsafe {
        LLVMInitializeX86TargetInfo();
        LLVMInitializeX86Target();
        LLVMInitializeX86TargetMC();
        LLVMInitializeX86AsmPrinter();
        LLVMInitializeAArch64TargetInfo();
        LLVMInitializeAArch64Target();
        LLVMInitializeAArch64TargetMC();
        LLVMInitializeAArch64AsmPrinter();
    });
}

/// Compiles a module in the LLVM dialect for a host.
///
/// # Errors
/// LLVM has no code generator for the triple, or it fails.
pub fn object(host: OpRef<'_>, triple: &str) -> Result<Vec<u8>, CodegenError> {
    initialise();
    let llvm = Context::create();
    // SAFETY: both contexts are alive; the result belongs to `llvm`.
    let module = unsafe {
        let raw = mlir_sys::mlirTranslateModuleToLLVMIR(host.to_raw(), llvm.raw() as *mut _);
        if raw.is_null() {
            return Err(CodegenError::Translate);
        }
        Module::new(raw as *mut _)
    };
    module.strip_debug_info();
    let triple = TargetTriple::create(triple);
    let no_target = |_| CodegenError::Target(triple.as_str().to_string_lossy().into_owned());
    let target = Target::from_triple(&triple).map_err(no_target)?;
    let level = OptimizationLevel::Default;
    let machine = target.create_target_machine(&triple, "generic", "", level, RelocMode::PIC, CodeModel::Default);
    let machine = machine.ok_or_else(|| CodegenError::Target(triple.as_str().to_string_lossy().into_owned()))?;
    module.set_triple(&triple);
    module.set_data_layout(&machine.get_target_data().get_data_layout());
    // The functions cannot throw, so they need no tables for unwinding.
    let nounwind = inkwell::attributes::Attribute::get_named_enum_kind_id("nounwind");
    for function in module.get_functions() {
        let attribute = llvm.create_enum_attribute(nounwind, 0);
        function.add_attribute(inkwell::attributes::AttributeLoc::Function, attribute);
    }
    let bytes = machine.write_to_memory_buffer(&module, FileType::Object);
    Ok(bytes.map_err(|e| CodegenError::Emit(e.to_string()))?.as_slice().to_vec())
}
