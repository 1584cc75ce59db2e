//! Links the code of tile libraries that is LLVM bitcode or LLVM IR into a kernel's module, before optimization.
//!
//! ```text
//! declare void @sort__N4(ptr, i32)            the kernel's module calls it with a fragment and scratch memory
//!    +
//! define ptx_device void @sort__N4(ptr, ptr addrspace(3)) { ... call @helper ... }
//! define void @helper(...)                                              the library
//!    =
//! define internal void @sort__N4(ptr, i32) alwaysinline { ... inttoptr ... call @sort__N4.own }
//! define internal ptx_device void @sort__N4.own(ptr, ptr addrspace(3)) alwaysinline { ... }
//! define internal void @helper(...)
//! ```
//!
//! All definitions of a library become internal, so the optimizer inlines them, and fragments in local memory become
//! registers. A function that the catalogue names is inlined at every level unless it is `noinline`. Every function
//! is marked convergent, because front ends of C do not mark a function that synchronizes threads; the optimizer
//! removes the mark where it proves that nothing synchronizes.
//!
//! A parameter for local memory is a generic pointer. A parameter for shared memory is a 32-bit address or a pointer
//! to shared memory. If the types or the calling convention of the definition differ from the call's, a function with
//! the call's types converts the arguments.
//!
//! # Checks
//!
//! [`check`] rejects code that is for another target, that LLVM's NVPTX cannot generate, or that changes
//! more than its own functions: module-level assembly, constructors, named metadata. It also rejects undefined symbols,
//! except functions of libdevice, which the device library replaces, and functions of the driver. Bitcode of newer
//! releases of LLVM is rejected by LLVM's reader with its message. The reader itself may crash on malformed bitcode;
//! the caller reads it in a child process first (`src/compile/trial.rs`).

mod check;

use super::{CodegenError, messages};
use inkwell::{
    attributes::{Attribute, AttributeLoc},
    context::Context as LlvmContext,
    memory_buffer::MemoryBuffer,
    module::{Linkage, Module},
    types::{BasicMetadataTypeEnum, BasicTypeEnum},
    values::{AsValueRef, BasicMetadataValueEnum, FunctionValue},
};
use llvm_sys::core::*;
use std::collections::BTreeMap;
use tile_library::{CodeKind, ptx::LinkError};
use tile_targets::Target;

/// Code of a library that is bitcode or LLVM IR.
#[derive(Clone, Debug)]
pub struct LibraryCode<'a> {
    pub library: &'a str,
    pub kind: CodeKind,
    pub bytes: &'a [u8],
    /// The functions that kernels call.
    pub functions: Vec<&'a str>,
}

/// The reasons for which code of a library cannot be linked.
#[derive(Clone, Debug, thiserror::Error)]
pub enum TileLibraryError {
    #[error("the code of the library '{library}' cannot be read by LLVM 21: {why}")]
    Read { library: String, why: String },
    #[error("the code of the library '{library}' is not valid LLVM IR: {why}")]
    Invalid { library: String, why: String },
    #[error("the code of the library '{library}' is for '{triple}', but only nvptx64-nvidia-cuda can be linked")]
    Triple { library: String, triple: String },
    #[error("the code of the library '{library}' has the data layout '{layout}', in which {why}")]
    Layout { library: String, layout: String, why: String },
    #[error("the code of the library '{library}' has {what}, which cannot be linked")]
    Construct { library: String, what: String },
    #[error("the code of the library '{library}' uses '{symbol}', which nothing defines")]
    Used { library: String, symbol: String },
    #[error(
        "the code of the library '{library}' uses '{symbol}' of libdevice, which the device library lacks; use \
         --libdevice=FILE"
    )]
    Libdevice { library: String, symbol: String },
    #[error("the function '{symbol}' of the library '{library}' {why}")]
    Function { library: String, symbol: String, why: String },
    #[error("the code of the library '{library}' cannot be compiled: {why}")]
    Unsupported { library: String, why: String },
    #[error(transparent)]
    Linked(#[from] LinkError),
}

/// LLVM's number for the calling convention of kernels.
const PTX_KERNEL: u32 = 71;

/// Reads code and verifies it.
///
/// Errors: the text or bitcode is malformed.
pub fn read<'l>(llvm: &'l LlvmContext, code: &LibraryCode<'_>) -> Result<Module<'l>, TileLibraryError> {
    messages::collect(llvm);
    let library = || code.library.to_owned();
    let wrong = |why: String| TileLibraryError::Read { library: library(), why: one_line(&why) };
    let (module, _) = messages::apart(|| match code.kind {
        CodeKind::Assembly => {
            if let Some(at) = code.bytes.iter().position(|b| *b == 0) {
                return Err(wrong(format!("the text has a NUL byte at offset {at}")));
            }
            let buffer = MemoryBuffer::create_from_memory_range_copy(&[code.bytes, b"\0"].concat(), code.library);
            llvm.create_module_from_ir(buffer).map_err(|e| wrong(e.to_string_lossy().into_owned()))
        }
        _ => {
            let buffer = MemoryBuffer::create_from_memory_range_copy(code.bytes, code.library);
            Module::parse_bitcode_from_buffer(&buffer, llvm).map_err(|e| wrong(e.to_string_lossy().into_owned()))
        }
    });
    let module = module?;
    module
        .verify()
        .map_err(|e| TileLibraryError::Invalid { library: library(), why: one_line(&e.to_string_lossy()) })?;
    Ok(module)
}

/// The first line of a message of LLVM, without the place in a buffer.
fn one_line(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    line.trim_start_matches("error: ").to_owned()
}

/// Links libraries into a module, which declares their functions. With `libdevice`, functions of that file stay
/// declared.
///
/// Errors: the first reason for which code does not fit.
pub(super) fn link<'l>(
    llvm: &'l LlvmContext,
    module: &Module<'l>,
    codes: &[LibraryCode<'_>],
    target: &Target,
    libdevice: bool,
) -> Result<(), CodegenError> {
    let mut owners: BTreeMap<Vec<u8>, String> = BTreeMap::new();
    for f in module.get_functions().filter(|f| f.count_basic_blocks() > 0) {
        owners.insert(f.get_name().to_bytes().to_vec(), "the program".into());
    }
    owners.extend(module.get_globals().map(|g| (g.get_name().to_bytes().to_vec(), "the program".into())));
    for code in codes {
        let wanted: Vec<(&str, FunctionValue<'l>)> =
            code.functions.iter().filter_map(|name| Some((*name, module.get_function(name)?))).collect();
        let used: Vec<_> = wanted.into_iter().filter(|(_, f)| f.count_basic_blocks() == 0).collect();
        if used.is_empty() {
            continue;
        }
        let library = read(llvm, code)?;
        library.strip_debug_info();
        check::module(&library, code, target)?;
        claim(&library, code, &mut owners)?;
        for (name, declared) in &used {
            check::function(&library, code, name, *declared)?;
        }
        prepare(llvm, &library, code, &used);
        math(llvm, &library, code, libdevice)?;
        check::symbols(&library, code, libdevice)?;
        library.set_data_layout(&module.get_data_layout());
        library.set_triple(&module.get_triple());
        library.verify().map_err(|e| TileLibraryError::Invalid {
            library: code.library.into(),
            why: one_line(&e.to_string_lossy()),
        })?;
        let why = |why: String| TileLibraryError::Unsupported { library: code.library.into(), why };
        super::unsupported::check(&library, target).map_err(|e| why(e.to_string()))?;
        super::intrinsics::check(&library, target).map_err(|e| why(e.to_string()))?;
        messages::link(module, library)
            .map_err(|text| TileLibraryError::Invalid { library: code.library.into(), why: one_line(&text) })?;
        for (name, _) in used {
            if let Some(f) = module.get_function(name) {
                f.set_linkage(Linkage::Internal);
            }
        }
    }
    Ok(())
}

/// Notes the owner of each public definition of a library.
///
/// Errors: two libraries, or a library and the program, define a symbol.
fn claim(
    library: &Module<'_>,
    code: &LibraryCode<'_>,
    owners: &mut BTreeMap<Vec<u8>, String>,
) -> Result<(), TileLibraryError> {
    let functions = library.get_functions().filter(|f| f.count_basic_blocks() > 0);
    let functions = functions.map(|f| (f.get_name().to_bytes().to_vec(), f.get_linkage()));
    let globals = library.get_globals().filter(|g| g.get_initializer().is_some());
    let globals = globals.map(|g| (g.get_name().to_bytes().to_vec(), g.get_linkage()));
    for (name, linkage) in functions.chain(globals) {
        // Other linkages permit several definitions, or hide the symbol.
        if !matches!(linkage, Linkage::External | Linkage::Common) || name.starts_with(b"llvm.") {
            continue;
        }
        let owner = format!("the library '{}'", code.library);
        if let Some(first) = owners.insert(name.clone(), owner) {
            let symbol = String::from_utf8_lossy(&name).into_owned();
            return Err(LinkError::Clash { first, library: code.library.into(), symbol }.into());
        }
    }
    Ok(())
}

/// Makes all definitions internal except the called functions, and removes everything that would change other code.
fn prepare<'l>(
    llvm: &'l LlvmContext,
    library: &Module<'l>,
    code: &LibraryCode<'_>,
    used: &[(&str, FunctionValue<'l>)],
) {
    let kind = Attribute::get_named_enum_kind_id;
    let flag = |name: &str| llvm.create_enum_attribute(kind(name), 0);
    // SAFETY: the module is alive, and nothing else refers to its lists of used symbols or its metadata.
    unsafe {
        for list in [c"llvm.used", c"llvm.compiler.used"] {
            let list = LLVMGetNamedGlobal(library.as_mut_ptr(), list.as_ptr());
            if !list.is_null() {
                LLVMDeleteGlobal(list);
            }
        }
        crate::dialect::ffi::mlirxLLVMModuleDropNamedMetadata(library.as_mut_ptr().cast());
    }
    for g in library.get_globals().filter(|g| g.get_initializer().is_some()) {
        // SAFETY: the variable is alive; without a group it is linked by itself.
        unsafe { llvm_sys::comdat::LLVMSetComdat(g.as_value_ref(), std::ptr::null_mut()) }
        g.set_linkage(Linkage::Internal);
    }
    let defined: Vec<_> = library.get_functions().filter(|f| f.count_basic_blocks() > 0).collect();
    for f in defined {
        // SAFETY: as for variables.
        unsafe { llvm_sys::comdat::LLVMSetComdat(f.as_value_ref(), std::ptr::null_mut()) }
        for key in ["target-cpu", "target-features", "tune-cpu"] {
            f.remove_string_attribute(AttributeLoc::Function, key);
        }
        f.add_attribute(AttributeLoc::Function, flag("convergent"));
        let name = f.get_name().to_string_lossy().into_owned();
        match used.iter().find(|(called, _)| *called == name) {
            None => f.set_linkage(Linkage::Internal),
            Some((_, declared)) => {
                f.set_linkage(Linkage::External);
                let is_inlined = f.get_enum_attribute(AttributeLoc::Function, kind("noinline")).is_none();
                if is_inlined {
                    f.add_attribute(AttributeLoc::Function, flag("alwaysinline"));
                }
                convert(llvm, library, f, *declared);
            }
        }
    }
    library.set_name(code.library);
}

/// Gives a called function the types and the calling convention of its declaration: a function with its name calls
/// it.
fn convert<'l>(llvm: &'l LlvmContext, library: &Module<'l>, own: FunctionValue<'l>, declared: FunctionValue<'l>) {
    if own.get_type() == declared.get_type() && own.get_call_conventions() == declared.get_call_conventions() {
        return;
    }
    let name = own.get_name().to_string_lossy().into_owned();
    // SAFETY: the function is alive. Another number makes the name unique if it exists.
    unsafe {
        let inner = format!("{name}.own");
        LLVMSetValueName2(own.as_value_ref(), inner.as_ptr().cast(), inner.len());
    }
    own.set_linkage(Linkage::Internal);
    let outer = library.add_function(&name, declared.get_type(), None);
    outer.set_call_conventions(declared.get_call_conventions());
    let flag = |name: &str| llvm.create_enum_attribute(Attribute::get_named_enum_kind_id(name), 0);
    outer.add_attribute(AttributeLoc::Function, flag("alwaysinline"));
    outer.add_attribute(AttributeLoc::Function, flag("convergent"));
    let b = llvm.create_builder();
    b.position_at_end(llvm.append_basic_block(outer, ""));
    let converted = |(value, to): (inkwell::values::BasicValueEnum<'l>, BasicMetadataTypeEnum<'l>)| match (value, to) {
        (v, BasicMetadataTypeEnum::PointerType(p)) if v.is_int_value() => {
            b.build_int_to_ptr(v.into_int_value(), p, "").map(Into::into)
        }
        (v, BasicMetadataTypeEnum::IntType(t)) if v.is_pointer_value() => {
            b.build_ptr_to_int(v.into_pointer_value(), t, "").map(Into::into)
        }
        (v, _) => Ok(v.into()),
    };
    let types = own.get_type().get_param_types();
    let arguments: Result<Vec<BasicMetadataValueEnum<'l>>, _> =
        outer.get_param_iter().zip(types).map(converted).collect();
    let call = arguments.and_then(|arguments| b.build_call(own, &arguments, ""));
    // The builder is at the end of a block, and the checks of the function admit only these types.
    if let Ok(call) = call {
        call.set_call_convention(own.get_call_conventions());
    }
    let _ = b.build_return(None);
}

/// Replaces functions of libdevice by functions of the device library that compute the same.
fn math<'l>(
    llvm: &'l LlvmContext,
    library: &Module<'l>,
    code: &LibraryCode<'_>,
    libdevice: bool,
) -> Result<(), TileLibraryError> {
    if libdevice {
        return Ok(());
    }
    let calls: Vec<_> = library.get_functions().filter(|f| f.count_basic_blocks() == 0).collect();
    for f in calls {
        let name = f.get_name().to_string_lossy().into_owned();
        let own = tile_rtlib::Function::all().into_iter().find(|own| own.libdevice() == Some(&name));
        let Some(own) = own else { continue };
        let signature = own.signature();
        let ty = |t: tile_rtlib::Type| -> BasicTypeEnum<'l> {
            match t {
                tile_rtlib::Type::I8 => llvm.i8_type().into(),
                tile_rtlib::Type::I16 => llvm.i16_type().into(),
                tile_rtlib::Type::I32 => llvm.i32_type().into(),
                tile_rtlib::Type::I64 => llvm.i64_type().into(),
                tile_rtlib::Type::F32 => llvm.f32_type().into(),
                tile_rtlib::Type::F64 => llvm.f64_type().into(),
            }
        };
        let parameters: Vec<BasicTypeEnum<'l>> = signature.parameters.iter().map(|t| ty(*t)).collect();
        let result = ty(signature.result);
        let is_same = f.get_type().get_return_type() == Some(result)
            && f.get_type().get_param_types() == parameters.iter().map(|t| (*t).into()).collect::<Vec<_>>();
        if !is_same {
            let why = "is declared with other types than in libdevice".into();
            return Err(TileLibraryError::Function { library: code.library.into(), symbol: name, why });
        }
        let symbol = own.symbol();
        let ours = library.get_function(&symbol).unwrap_or_else(|| library.add_function(&symbol, f.get_type(), None));
        f.replace_all_uses_with(ours);
        // SAFETY: nothing uses the declaration any more.
        unsafe { f.delete() };
    }
    Ok(())
}
