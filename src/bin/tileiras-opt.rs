//! `mlir-opt` with the dialects and passes of this compiler; called `*-lsp-server` it is their language server.

use std::ffi::{CString, c_char};

fn main() {
    let args: Vec<CString> = std::env::args().filter_map(|a| CString::new(a).ok()).collect();
    let mut argv: Vec<*mut c_char> = args.iter().map(|a| a.as_ptr() as *mut c_char).collect();
    tileiras::passes::register_all();
    let registry = tileiras::dialect::registry();
    let lsp = args.first().is_some_and(|a| a.to_string_lossy().ends_with("lsp-server"));
    // SAFETY: the arguments outlive the call; MLIR only reads them.
    let code = unsafe {
        if lsp {
            tileiras::dialect::ffi::mlirxLspServerMain(argv.len() as i32, argv.as_mut_ptr(), registry.to_raw())
        } else {
            let tool = c"tileiras optimizer driver";
            tileiras::dialect::ffi::mlirxOptMain(argv.len() as i32, argv.as_mut_ptr(), tool.as_ptr(), registry.to_raw())
        }
    };
    std::process::exit(code);
}
