//! Plugins: shared libraries of passes.
//!
//! A plugin written with this crate contains the dialects, the passes of this compiler, and its own passes.
//! [`plugin!`](crate::plugin!) turns a `cdylib` crate into one. The loading process may already contain the dialects
//! and passes: it may be a tool of this compiler, or an `mlir-opt` with another such plugin. Ops, types and
//! attributes are identified by the names of their classes, so the plugin's passes work on the process's dialects.
//! Passes that are already registered are not registered again. This is sound if both were built from the same
//! sources, which [`IDENTITY`] checks.
//!
//! The state of this crate, such as statistics and collected remarks, is separate in each library, so reports of the
//! tool do not include it. Diagnostics go through MLIR and reach the tool's user.
//!
//! `mlir-opt` parses its options before it loads plugins, so the options of the dialects are environment variables:
//! `CUDA_TILE_TESTING_OPS=1` registers the test ops, and `CUDA_TILE_HINTS=warn` or `error` reports hints that no
//! target supports.
//!
//! This compiler loads plugins with [`load`].

use crate::dialect::pass::descriptors::convert_cudatile_to_tileaa::ARGUMENT;
use crate::dialect::{self, ffi, rt::raw_str};
use mlir_sys::MlirDialectRegistry;
use std::{
    collections::BTreeSet,
    ffi::{CStr, c_char, c_void},
    fs,
    path::{Path, PathBuf},
    sync::{Mutex, Once, PoisonError},
};

/// Identifies the dialects of this build in the bytes of every binary that contains them.
pub static IDENTITY: [u8; IDENTITY_TEXT.len()] = {
    let mut bytes = [0; IDENTITY_TEXT.len()];
    bytes.copy_from_slice(IDENTITY_TEXT.as_bytes());
    bytes
};
const IDENTITY_TEXT: &str = concat!("tileiras dialects ", env!("TILEIRAS_DIALECTS"), "\n");

/// The version of the interface between `mlir-opt` and plugins.
const API: u32 = 1;

/// The description of a dialect plugin for `mlir-opt`.
#[repr(C)]
pub struct DialectPlugin {
    api: u32,
    name: *const c_char,
    version: *const c_char,
    register: unsafe extern "C" fn(*mut c_void),
}

/// The description of a pass plugin for `mlir-opt`.
#[repr(C)]
pub struct PassPlugin {
    api: u32,
    name: *const c_char,
    version: *const c_char,
    register: extern "C" fn(),
}

impl DialectPlugin {
    pub const fn new(name: &'static CStr, version: &'static CStr) -> Self {
        DialectPlugin { api: API, name: name.as_ptr(), version: version.as_ptr(), register: register_dialects }
    }
}

impl PassPlugin {
    pub const fn new(name: &'static CStr, version: &'static CStr, register: extern "C" fn()) -> Self {
        PassPlugin { api: API, name: name.as_ptr(), version: version.as_ptr(), register }
    }
}

/// # Safety
/// `registry` is a valid C++ dialect registry.
unsafe extern "C" fn register_dialects(registry: *mut c_void) {
    let setting = |name: &str| std::env::var(name).unwrap_or_default();
    let hints = setting("CUDA_TILE_HINTS");
    let registry = MlirDialectRegistry { ptr: registry };
    // SAFETY: the settings are made before a dialect is loaded; the caller guarantees a valid registry.
    unsafe {
        ffi::cudaTileRegisterTestingOps(!setting("CUDA_TILE_TESTING_OPS").is_empty());
        ffi::cudaTileSetHintChecks(!hints.is_empty(), hints == "error");
        dialect::insert_own(registry);
    }
}

/// Registers the passes and pipelines of this compiler, unless the process already has them. The tool registers the
/// upstream ones.
pub fn register_passes() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let one_of_ours = raw_str(ARGUMENT.to_str().unwrap_or_default());
        // SAFETY: only reads the registry of passes.
        if unsafe { ffi::mlirxPassIsRegistered(one_of_ours) } {
            crate::passes::register_analyses();
        } else {
            crate::passes::register_own();
        }
    });
}

/// The reason why a plugin cannot be used. Printed after the plugin's name.
#[derive(Debug, thiserror::Error)]
pub enum PluginError {
    #[error("cannot be loaded: {0}")]
    Load(#[from] libloading::Error),
    #[error("cannot be read: {0}")]
    Read(#[from] std::io::Error),
    #[error("has interface version {0}, but this compiler supports version {API}")]
    Version(u32),
    #[error(
        "contains a different version of this tool's dialects: build it with the crate of this version, or load it into \
         'mlir-opt-21 --load-dialect-plugin=FILE --load-pass-plugin=FILE'"
    )]
    Dialects,
}

/// Whether a library contains the dialects of this compiler in another version, or as plain C++. Its passes would
/// look for the ops of their own copy. They would find none in our programs and report so, or misinterpret ours.
pub fn carries_other_dialects(bytes: &[u8]) -> bool {
    /// Op names that a library contains if it contains the dialect. No single pass would contain both.
    const OPS: [&[u8]; 2] = [b"cuda_tile.get_num_tile_blocks", b"cuda_tile.mmaf_scaled"];
    let has = |text: &[u8]| memchr::memmem::find(bytes, text).is_some();
    OPS.iter().all(|op| has(op)) && !has(&IDENTITY)
}

/// Loads a library of passes permanently and registers them, once per file. Its code runs in this process. MLIR
/// aborts the process if a pass has the name of a registered one.
///
/// # Errors
/// The library is unusable; no pass is registered.
pub fn load(file: &Path) -> Result<(), PluginError> {
    static LOADED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    // dlopen would search the system's directories for a name without a directory.
    let file = fs::canonicalize(file)?;
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if loaded.contains(&file) {
        return Ok(());
    }
    if carries_other_dialects(&fs::read(&file)?) {
        return Err(PluginError::Dialects);
    }
    // SAFETY: users trust the plugins that they name. The library is never unloaded, because MLIR keeps pointers into
    // it.
    let plugin = unsafe {
        let library = std::mem::ManuallyDrop::new(libloading::Library::new(&file)?);
        let info = library.get::<unsafe extern "C" fn() -> PassPlugin>(b"mlirGetPassPluginInfo\0")?;
        info()
    };
    if plugin.api != API {
        return Err(PluginError::Version(plugin.api));
    }
    (plugin.register)();
    loaded.insert(file);
    Ok(())
}

/// Turns the crate into a plugin of this name and version, with the passes of this compiler and the listed ones. Two
/// libraries with the same pass cannot be loaded together.
///
/// ```ignore
/// tileiras::plugin!(c"my-plugin", c"1.0", MyPass, MyOtherPass);
/// ```
#[macro_export]
macro_rules! plugin {
    ($name:expr, $version:expr $(, $pass:ty)* $(,)?) => {
        /// Tools that contain the same dialects check this symbol.
        #[unsafe(no_mangle)]
        pub static tileirasDialects: &[u8] = &$crate::plugin::IDENTITY;

        /// The entry point for `mlir-opt --load-dialect-plugin`.
        #[unsafe(no_mangle)]
        pub extern "C" fn mlirGetDialectPluginInfo() -> $crate::plugin::DialectPlugin {
            $crate::plugin::DialectPlugin::new($name, $version)
        }

        /// The entry point for `mlir-opt --load-pass-plugin`.
        #[unsafe(no_mangle)]
        pub extern "C" fn mlirGetPassPluginInfo() -> $crate::plugin::PassPlugin {
            extern "C" fn register() {
                $crate::plugin::register_passes();
                $($crate::dialect::pass::register::<$pass>();)*
            }
            $crate::plugin::PassPlugin::new($name, $version, register)
        }
    };
}
