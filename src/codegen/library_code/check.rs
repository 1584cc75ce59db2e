//! Checks of a library's code in LLVM IR, which LLVM has verified.
//!
//! Checked: the triple, the data layout, the architecture of each function, constructs that NVPTX cannot generate or
//! that reach beyond the library, the types of the called functions, and undefined symbols. Not checked: whether the
//! code does what the catalogue says, accesses only its fragments, or ends.

use super::{LibraryCode, PTX_KERNEL, TileLibraryError};
use inkwell::{
    attributes::AttributeLoc,
    module::Module,
    types::{AsTypeRef, BasicMetadataTypeEnum, PointerType},
    values::{AsValueRef, FunctionValue},
};
use llvm_sys::{LLVMOpcode::*, LLVMTailCallKind, core::*, prelude::*, target::*};
use tile_library::ptx::{LinkError, SYSTEM, runs_on};
use tile_targets::Target;

/// Shared memory in LLVM IR.
const SHARED: u32 = 3;
/// The function with which libdevice asks for the target. A pass of the optimizer replaces its calls.
const REFLECT: &str = "__nvvm_reflect";

/// # Safety
/// The value must be live and have a name.
unsafe fn name_of(value: LLVMValueRef) -> String {
    let mut length = 0;
    // SAFETY: the caller's promise; the name lives as long as the value.
    let bytes = unsafe { std::slice::from_raw_parts(LLVMGetValueName2(value, &mut length).cast::<u8>(), length) };
    String::from_utf8_lossy(bytes).into_owned()
}

/// Checks everything except the called functions and undefined symbols.
///
/// Errors: the first violation.
pub(super) fn module(library: &Module<'_>, code: &LibraryCode<'_>, target: &Target) -> Result<(), TileLibraryError> {
    let triple = library.get_triple().as_str().to_string_lossy().into_owned();
    if !triple.is_empty() && !triple.starts_with("nvptx64-") && triple != "nvptx64" {
        return Err(TileLibraryError::Triple { library: code.library.into(), triple });
    }
    layout(library, code)?;
    let refuse = |what: String| Err(TileLibraryError::Construct { library: code.library.into(), what });
    // SAFETY: the module is alive and nothing of it changes.
    unsafe {
        let raw = library.as_mut_ptr();
        let mut length = 0;
        LLVMGetModuleInlineAsm(raw, &mut length);
        if length > 0 {
            return refuse("module-level assembly".into());
        }
        let alias = LLVMGetFirstGlobalAlias(raw);
        if !alias.is_null() {
            return refuse(format!("the alias '{}'", name_of(alias)));
        }
        let resolver = LLVMGetFirstGlobalIFunc(raw);
        if !resolver.is_null() {
            return refuse(format!("the indirect function '{}'", name_of(resolver)));
        }
    }
    for g in library.get_globals() {
        // SAFETY: the variable is alive.
        let (name, is_local) = unsafe { (name_of(g.as_value_ref()), LLVMIsThreadLocal(g.as_value_ref()) != 0) };
        if is_local {
            return refuse(format!("the thread-local variable '{name}'"));
        }
        if matches!(name.as_str(), "llvm.global_ctors" | "llvm.global_dtors") {
            return refuse(format!("constructors or destructors, in '{name}'"));
        }
    }
    for f in library.get_functions().filter(|f| f.count_basic_blocks() > 0) {
        body(f, code)?;
        if let Some(cpu) = f.get_string_attribute(AttributeLoc::Function, "target-cpu") {
            let own = cpu.get_string_value().to_string_lossy().into_owned();
            if !runs_on(&own, target.name) {
                let (library, target) = (code.library.into(), target.name.into());
                return Err(LinkError::Target { library, code: own, target }.into());
            }
        }
    }
    Ok(())
}

/// Checks that values in memory have the places that they have in kernels. Pointers to shared, constant and local
/// memory may have 32 or 64 bits.
fn layout(library: &Module<'_>, code: &LibraryCode<'_>) -> Result<(), TileLibraryError> {
    let context = library.get_context();
    let text = library.get_data_layout().as_str().to_string_lossy().into_owned();
    if text.is_empty() {
        return Ok(());
    }
    // SAFETY: the layout belongs to the module, which is alive.
    let wrong = unsafe {
        let layout = LLVMGetModuleDataLayout(library.as_mut_ptr());
        let aligned = |ty: LLVMTypeRef| LLVMABIAlignmentOfType(layout, ty);
        if LLVMByteOrder(layout) != LLVMByteOrdering::LLVMLittleEndian {
            Some("the most significant byte comes first".to_owned())
        } else if LLVMPointerSizeForAS(layout, 0) != 8 {
            Some(format!("a pointer has {} bits instead of 64", 8 * LLVMPointerSizeForAS(layout, 0)))
        } else {
            let types = [
                (LLVMInt16TypeInContext(context.raw()), "i16", 2),
                (LLVMInt32TypeInContext(context.raw()), "i32", 4),
                (LLVMInt64TypeInContext(context.raw()), "i64", 8),
                (LLVMFloatTypeInContext(context.raw()), "float", 4),
                (LLVMDoubleTypeInContext(context.raw()), "double", 8),
            ];
            let bad = types.into_iter().find(|(ty, _, bytes)| aligned(*ty) != *bytes);
            bad.map(|(ty, name, bytes)| format!("{name} is aligned to {} bytes instead of {bytes}", aligned(ty)))
        }
    };
    match wrong {
        None => Ok(()),
        Some(why) => Err(TileLibraryError::Layout { library: code.library.into(), layout: text, why }),
    }
}

/// Checks that NVPTX can generate a function.
fn body(f: FunctionValue<'_>, code: &LibraryCode<'_>) -> Result<(), TileLibraryError> {
    // SAFETY: the function and its instructions are alive and do not change.
    let what = unsafe {
        let raw = f.as_value_ref();
        if LLVMHasPersonalityFn(raw) != 0 {
            Some("handles exceptions")
        } else if !LLVMGetGC(raw).is_null() {
            Some("needs a garbage collector")
        } else {
            f.get_basic_block_iter().flat_map(|b| b.get_instructions()).find_map(|i| {
                let i = i.as_value_ref();
                match LLVMGetInstructionOpcode(i) {
                    LLVMIndirectBr => Some("jumps to a computed address"),
                    LLVMCallBr => Some("branches in inline assembly"),
                    LLVMInvoke | LLVMResume => Some("handles exceptions"),
                    LLVMCall if LLVMGetTailCallKind(i) == LLVMTailCallKind::LLVMTailCallKindMustTail => {
                        Some("requires a tail call")
                    }
                    _ => None,
                }
            })
        }
    };
    match what {
        None => Ok(()),
        Some(what) => {
            // SAFETY: the function is alive.
            let name = unsafe { name_of(f.as_value_ref()) };
            let what = format!("the function '{name}', which {what}");
            Err(TileLibraryError::Construct { library: code.library.into(), what })
        }
    }
}

/// Checks that a function fits its call: a generic pointer for each fragment in local memory, and a pointer to shared
/// memory or its 32 bits for others.
pub(super) fn function(
    library: &Module<'_>,
    code: &LibraryCode<'_>,
    symbol: &str,
    declared: FunctionValue<'_>,
) -> Result<(), TileLibraryError> {
    let f = library.get_function(symbol).filter(|f| f.count_basic_blocks() > 0);
    let Some(f) = f else {
        return Err(LinkError::Undefined { library: code.library.into(), symbol: symbol.into() }.into());
    };
    let wrong = |why: String| TileLibraryError::Function { library: code.library.into(), symbol: symbol.into(), why };
    if f.get_call_conventions() == PTX_KERNEL {
        return Err(wrong("is a kernel, which threads cannot call".into()));
    }
    if let Some(result) = f.get_type().get_return_type() {
        let result = result.print_to_string();
        return Err(wrong(format!("returns {}, but functions of libraries return nothing", result.to_string_lossy())));
    }
    if f.get_type().is_var_arg() {
        return Err(wrong("takes a variable number of arguments".into()));
    }
    let (own, needed) = (f.get_type().get_param_types(), declared.get_type().get_param_types());
    let is_by_value = (0..f.count_params()).any(|i| {
        ["byval", "sret", "inalloca", "preallocated", "swifterror"].iter().any(|name| {
            let kind = inkwell::attributes::Attribute::get_named_enum_kind_id(name);
            f.get_enum_attribute(AttributeLoc::Param(i), kind).is_some()
        })
    });
    let fits = own.len() == needed.len() && own.iter().zip(&needed).all(|(own, needed)| passes(*own, *needed));
    if fits && !is_by_value {
        return Ok(());
    }
    let words = |types: &[BasicMetadataTypeEnum<'_>]| -> String {
        let words: Vec<String> = types.iter().map(|t| word(*t)).collect();
        words.join(", ")
    };
    let (own, needed) = (words(&own), words(&needed));
    let how = if is_by_value { ", some of them by value," } else { "" };
    Err(wrong(format!("has the parameters ({own}){how} but its fragments are passed as ({needed})")))
}

/// A type as in LLVM IR.
fn word(ty: BasicMetadataTypeEnum<'_>) -> String {
    match ty {
        BasicMetadataTypeEnum::PointerType(p) if space(p) == 0 => "ptr".into(),
        BasicMetadataTypeEnum::PointerType(p) => format!("ptr addrspace({})", space(p)),
        BasicMetadataTypeEnum::IntType(t) => format!("i{}", t.get_bit_width()),
        other => other.print_to_string().to_string_lossy().into_owned(),
    }
}

/// The address space of a type of pointers.
fn space(ty: PointerType<'_>) -> u32 {
    // SAFETY: the type is alive as long as its context.
    unsafe { LLVMGetPointerAddressSpace(ty.as_type_ref()) }
}

/// Whether an argument of the declared type can become a parameter.
fn passes(own: BasicMetadataTypeEnum<'_>, needed: BasicMetadataTypeEnum<'_>) -> bool {
    use BasicMetadataTypeEnum::{IntType, PointerType as Pointer};
    match (own, needed) {
        (Pointer(own), Pointer(needed)) => space(own) == space(needed),
        (IntType(own), Pointer(_)) => own.get_bit_width() == 64,
        (Pointer(own), IntType(_)) => space(own) == SHARED,
        (IntType(own), IntType(needed)) => own.get_bit_width() == needed.get_bit_width(),
        _ => false,
    }
}

/// Checks that used declarations are intrinsics of LLVM, functions of the device library, the driver or, with
/// `libdevice`, of that file. Removes unused ones.
pub(super) fn symbols(library: &Module<'_>, code: &LibraryCode<'_>, libdevice: bool) -> Result<(), TileLibraryError> {
    let is_used = |value: LLVMValueRef| {
        // SAFETY: the value is alive.
        unsafe { !LLVMGetFirstUse(value).is_null() }
    };
    let declared: Vec<_> = library.get_functions().filter(|f| f.count_basic_blocks() == 0).collect();
    for f in declared {
        // SAFETY: the function is alive; it is deleted only without uses.
        let name = unsafe { name_of(f.as_value_ref()) };
        if !is_used(f.as_value_ref()) {
            // SAFETY: as above.
            unsafe { f.delete() };
            continue;
        }
        let symbol = || name.clone();
        if name.starts_with("llvm.") || name.starts_with(tile_rtlib::PREFIX) || name == REFLECT {
            continue;
        }
        if let Some(types) = driver(&name) {
            let own = f.get_type().print_to_string().to_string_lossy().into_owned();
            if own != types {
                let why = format!("is declared as '{own}', but is a function of the driver: '{types}'");
                return Err(TileLibraryError::Function { library: code.library.into(), symbol: symbol(), why });
            }
            continue;
        }
        match name.starts_with("__nv_") {
            true if libdevice => {}
            true => return Err(TileLibraryError::Libdevice { library: code.library.into(), symbol: symbol() }),
            false => return Err(TileLibraryError::Used { library: code.library.into(), symbol: symbol() }),
        }
    }
    for g in library.get_globals().filter(|g| g.get_initializer().is_none()) {
        if is_used(g.as_value_ref()) {
            // SAFETY: the variable is alive.
            let symbol = unsafe { name_of(g.as_value_ref()) };
            return Err(TileLibraryError::Used { library: code.library.into(), symbol });
        }
    }
    Ok(())
}

/// The type of a function of the driver.
fn driver(name: &str) -> Option<&'static str> {
    const TYPES: [&str; 4] = ["i32 (ptr, ptr)", "void (ptr, ptr, i32, ptr, i64)", "ptr (i64)", "void (ptr)"];
    let at = SYSTEM.iter().position(|system| *system == name)?;
    TYPES.get(at).copied()
}
