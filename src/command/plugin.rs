//! Plugins: shared libraries of passes that tools load.
//!
//! One that is written with this crate carries the dialects, the passes of this compiler, and passes of others.
//! [`plugin!`](crate::plugin!) makes it of a `cdylib` crate. What loads it may have the dialects and the passes
//! already, be it a tool of this compiler or an `mlir-opt` with another such plugin: operations, types and attributes
//! are identified by the names of their classes, so those of the process are the ones that the plugin's passes know,
//! and only passes that nobody has registered yet are. That is sound where both were made of the same sources, which
//! [`IDENTITY`] tells.
//!
//! State of this crate, such as statistics and collected remarks, is the library's own, and no report of the tool has
//! it; diagnostics are MLIR's and reach the tool's user.
//!
//! `mlir-opt` reads its options before it loads plugins, so those of the dialects come from the environment here:
//! `CUDA_TILE_TESTING_OPS=1` registers the operations for tests, `CUDA_TILE_HINTS=warn` or `error` reports hints that
//! no target knows.
//!
//! This compiler itself loads plugins with [`load`].

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

/// Names the dialects of this build in the bytes of all that carries them.
pub static IDENTITY: [u8; IDENTITY_TEXT.len()] = {
    let mut bytes = [0; IDENTITY_TEXT.len()];
    bytes.copy_from_slice(IDENTITY_TEXT.as_bytes());
    bytes
};
const IDENTITY_TEXT: &str = concat!("tileiras dialects ", env!("TILEIRAS_DIALECTS"), "\n");

/// Version of the interface between `mlir-opt` and plugins.
const API: u32 = 1;

/// What `mlir-opt` asks a plugin with dialects for.
#[repr(C)]
pub struct DialectPlugin {
    api: u32,
    name: *const c_char,
    version: *const c_char,
    register: unsafe extern "C" fn(*mut c_void),
}

/// What `mlir-opt` asks a plugin with passes for.
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
/// `registry` is a live dialect registry of C++.
unsafe extern "C" fn register_dialects(registry: *mut c_void) {
    let setting = |name: &str| std::env::var(name).unwrap_or_default();
    let hints = setting("CUDA_TILE_HINTS");
    let registry = MlirDialectRegistry { ptr: registry };
    // SAFETY: settings are made before a dialect is loaded; the registry is alive by the caller's promise.
    unsafe {
        ffi::cudaTileRegisterTestingOps(!setting("CUDA_TILE_TESTING_OPS").is_empty());
        ffi::cudaTileSetHintChecks(!hints.is_empty(), hints == "error");
        dialect::insert_own(registry);
    }
}

/// Registers the passes and pipelines of this compiler, unless the process has them; the tool has the upstream ones.
pub fn register_passes() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let one_of_ours = raw_str(ARGUMENT.to_str().unwrap_or_default());
        // SAFETY: a look into the registry of passes.
        if unsafe { ffi::mlirxPassIsRegistered(one_of_ours) } {
            crate::passes::register_analyses();
        } else {
            crate::passes::register_own();
        }
    });
}

/// Why a plugin cannot be used here; what the plugin is called comes before it.
#[derive(Debug, thiserror::Error)]
pub enum PluginError {
    #[error("cannot be loaded: {0}")]
    Load(#[from] libloading::Error),
    #[error("cannot be read: {0}")]
    Read(#[from] std::io::Error),
    #[error("has an interface of version {0}; this compiler knows version {API}")]
    Version(u32),
    #[error(
        "carries the dialects that this tool has, and was built with others of these names: build it with the crate of this \
         version, or load it into 'mlir-opt-21 --load-dialect-plugin=FILE --load-pass-plugin=FILE'"
    )]
    Dialects,
}

/// Whether a library carries the dialects of this compiler in another version than ours, or in C++ alone. Its passes
/// look for ops of its own copy, find none in a program of ours, and say so as if it were the truth; or take them for
/// what they are not.
pub fn carries_other_dialects(bytes: &[u8]) -> bool {
    /// Names of ops that a library has if it has the dialect, and that no pass alone would have together.
    const OPS: [&[u8]; 2] = [b"cuda_tile.get_num_tile_blocks", b"cuda_tile.mmaf_scaled"];
    let has = |text: &[u8]| memchr::memmem::find(bytes, text).is_some();
    OPS.iter().all(|op| has(op)) && !has(&IDENTITY)
}

/// Loads a library of passes for good, and registers them; once for each file. Its code runs in this process, and MLIR
/// ends the process where a pass has the name of another.
///
/// # Errors
/// Nothing is registered then.
pub fn load(file: &Path) -> Result<(), PluginError> {
    static LOADED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    // A name without a folder would be looked for in the system's.
    let file = fs::canonicalize(file)?;
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if loaded.contains(&file) {
        return Ok(());
    }
    if carries_other_dialects(&fs::read(&file)?) {
        return Err(PluginError::Dialects);
    }
    // SAFETY: whoever names a plugin trusts its code. It stays, since MLIR keeps pointers into it.
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

/// Makes the crate a plugin of this name and version, with the passes of this compiler and those that are listed.
/// Libraries of the same passes cannot be loaded together.
///
/// ```ignore
/// tileiras::plugin!(c"my-plugin", c"1.0", MyPass, MyOtherPass);
/// ```
#[macro_export]
macro_rules! plugin {
    ($name:expr, $version:expr $(, $pass:ty)* $(,)?) => {
        /// What tools with the same dialects look for.
        #[unsafe(no_mangle)]
        pub static tileirasDialects: &[u8] = &$crate::plugin::IDENTITY;

        /// What `mlir-opt --load-dialect-plugin` looks for.
        #[unsafe(no_mangle)]
        pub extern "C" fn mlirGetDialectPluginInfo() -> $crate::plugin::DialectPlugin {
            $crate::plugin::DialectPlugin::new($name, $version)
        }

        /// What `mlir-opt --load-pass-plugin` looks for.
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
