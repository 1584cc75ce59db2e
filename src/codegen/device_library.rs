//! Links the mathematical functions that a module calls into it.
//!
//! The functions come from the library embedded in this program. If NVIDIA's libdevice is requested, it replaces each
//! function that it has. The rest, such as conversions of narrow formats and approximate functions, stays with the
//! embedded library. Library functions are internal to the module, and the optimizer removes uncalled ones at every
//! level. It also folds libdevice's queries with `__nvvm_reflect`: whether subnormals are flushed (they are not), and
//! the architecture.

use inkwell::{
    context::Context as LlvmContext,
    memory_buffer::MemoryBuffer,
    module::{Linkage, Module},
    values::FunctionValue,
};
use std::path::{Path, PathBuf};
use tile_rtlib::Function;

#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    #[error("the device library could not be linked: {0}")]
    Link(String),
    #[error("libdevice '{}' cannot be read: {why}", .file.display())]
    Read { file: PathBuf, why: String },
    #[error("'{}' is not NVIDIA's libdevice: it has no function {function} of the expected type", .file.display())]
    NotLibdevice { file: PathBuf, function: &'static str },
    #[error("libdevice '{}' has no function {function} of the type with which a tile library declares it", .file.display())]
    Lacks { file: PathBuf, function: String },
}

/// Links the functions that `module` calls.
pub(super) fn link<'l>(
    llvm: &'l LlvmContext,
    module: &Module<'l>,
    libdevice: Option<&Path>,
) -> Result<(), LibraryError> {
    if let Some(file) = libdevice {
        link_libdevice(llvm, module, file)?;
    }
    if missing(module).next().is_none() {
        return Ok(());
    }
    let error = |e: inkwell::support::LLVMString| LibraryError::Link(e.to_string());
    let buffer = MemoryBuffer::create_from_memory_range_copy(tile_rtlib::bitcode(), "tileir-library");
    let library = Module::parse_bitcode_from_buffer(&buffer, llvm).map_err(error)?;
    link_internally(module, library)
}

/// The functions of the embedded library that the module calls but does not define.
fn missing<'m>(module: &Module<'m>) -> impl Iterator<Item = FunctionValue<'m>> {
    module
        .get_functions()
        .filter(|f| f.count_basic_blocks() == 0 && f.get_name().to_bytes().starts_with(tile_rtlib::PREFIX.as_bytes()))
}

/// Redirects calls to the functions of NVIDIA's library, if it has them, and links it.
fn link_libdevice<'l>(llvm: &'l LlvmContext, module: &Module<'l>, file: &Path) -> Result<(), LibraryError> {
    let counterparts: Vec<(String, &'static str)> =
        Function::all().iter().filter_map(|f| Some((f.symbol(), f.libdevice()?))).collect();
    let named = |f: &FunctionValue<'l>| {
        counterparts.iter().find(|(ours, _)| f.get_name().to_bytes() == ours.as_bytes()).map(|(_, theirs)| *theirs)
    };
    let calls: Vec<_> = missing(module).filter_map(|f| Some((f, named(&f)?))).collect();
    // Code of tile libraries calls functions of libdevice by their names.
    let theirs: Vec<_> = module
        .get_functions()
        .filter(|f| f.count_basic_blocks() == 0 && f.get_name().to_bytes().starts_with(b"__nv_"))
        .collect();
    if calls.is_empty() && theirs.is_empty() {
        return Ok(());
    }
    let unreadable = |why: String| LibraryError::Read { file: file.to_owned(), why };
    let bytes = std::fs::read(file).map_err(|e| unreadable(e.to_string()))?;
    let buffer = MemoryBuffer::create_from_memory_range_copy(&bytes, "libdevice");
    let library =
        Module::parse_bitcode_from_buffer(&buffer, llvm).map_err(|e| unreadable(e.to_string_lossy().into_owned()))?;
    for f in theirs {
        let name = f.get_name().to_string_lossy().into_owned();
        let has = library.get_function(&name).is_some_and(|g| g.count_basic_blocks() > 0);
        if !has || library.get_function(&name).is_some_and(|g| g.get_type() != f.get_type()) {
            return Err(LibraryError::Lacks { file: file.to_owned(), function: name });
        }
    }
    for (ours, theirs) in calls {
        // Older releases of LLVM wrote the file, for other triples. Only the types have to match.
        let has = |f: FunctionValue<'l>| f.count_basic_blocks() > 0 && f.get_type() == ours.get_type();
        if !library.get_function(theirs).is_some_and(has) {
            return Err(LibraryError::NotLibdevice { file: file.to_owned(), function: theirs });
        }
        let declared =
            module.get_function(theirs).unwrap_or_else(|| module.add_function(theirs, ours.get_type(), None));
        ours.replace_all_uses_with(declared);
        // SAFETY: nothing uses the declaration any more.
        unsafe { ours.delete() };
    }
    link_internally(module, library)
}

/// Links a whole library with internal linkage. A symbol that is already internal to the library may share its name
/// with a function of the module.
fn link_internally<'l>(module: &Module<'l>, library: Module<'l>) -> Result<(), LibraryError> {
    library.set_data_layout(&module.get_data_layout());
    library.set_triple(&module.get_triple());
    let names = |m: &Module<'l>| -> Vec<std::ffi::CString> {
        let is_public = |f: &FunctionValue<'_>| f.count_basic_blocks() > 0 && f.get_linkage() != Linkage::Internal;
        m.get_functions().filter(is_public).map(|f| f.get_name().to_owned()).collect()
    };
    let functions = names(&library);
    let tables: Vec<_> = library.get_globals().filter(|g| g.get_initializer().is_some()).collect();
    tables.iter().for_each(|g| g.set_linkage(Linkage::Internal));
    super::messages::link(module, library).map_err(LibraryError::Link)?;
    for name in functions {
        if let Some(f) = name.to_str().ok().and_then(|n| module.get_function(n)) {
            f.set_linkage(Linkage::Internal);
        }
    }
    Ok(())
}
