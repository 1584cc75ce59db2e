//! The passes, one a file, named as on the command line.

mod convert_cudatile_to_tileaa;

use crate::dialect::pass::register;
use std::sync::Once;

/// Puts every pass, ours and the upstream ones that pipelines use, in MLIR's global registry. Later calls do nothing.
pub fn register_all() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        register::<convert_cudatile_to_tileaa::ConvertCudaTileToTileAA>();
        // SAFETY: plain registration, once a process.
        unsafe {
            mlir_sys::mlirRegisterTransformsPasses();
            mlir_sys::mlirRegisterConversionConvertNVVMToLLVMPass();
            crate::dialect::ffi::mlirxRegisterUpstreamPasses();
        }
    });
}
