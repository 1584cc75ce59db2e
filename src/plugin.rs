//! Plugins for the stock `mlir-opt`: shared libraries with the dialects, the passes of this compiler, and passes of
//! others.
//!
//! [`plugin!`](crate::plugin!) makes one of a `cdylib` crate. The library carries the dialects, so an `mlir-opt` takes
//! one of them: a second would bring dialects of the same names with other identities.
//!
//! `mlir-opt` reads its options before it loads plugins, so those of the dialects come from the environment here:
//! `CUDA_TILE_TESTING_OPS=1` registers the operations for tests, `CUDA_TILE_HINTS=warn` or `error` reports hints that
//! no target knows.

use crate::dialect::{self, ffi};
use mlir_sys::MlirDialectRegistry;
use std::{ffi::c_char, ffi::c_void, sync::Once};

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
    pub const fn new(name: &'static std::ffi::CStr, version: &'static std::ffi::CStr) -> Self {
        DialectPlugin { api: API, name: name.as_ptr(), version: version.as_ptr(), register: register_dialects }
    }
}

impl PassPlugin {
    pub const fn new(
        name: &'static std::ffi::CStr,
        version: &'static std::ffi::CStr,
        register: extern "C" fn(),
    ) -> Self {
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

/// Registers the passes and pipelines of this compiler, without the upstream ones, which the tool has.
pub fn register_passes() {
    static ONCE: Once = Once::new();
    ONCE.call_once(crate::passes::register_own);
}

/// Makes the crate a plugin of this name and version, with the passes of this compiler and those that are listed.
///
/// ```ignore
/// tileiras::plugin!(c"my-plugin", c"1.0", MyPass, MyOtherPass);
/// ```
#[macro_export]
macro_rules! plugin {
    ($name:expr, $version:expr $(, $pass:ty)* $(,)?) => {
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
