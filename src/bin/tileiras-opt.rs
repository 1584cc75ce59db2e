//! `mlir-opt` with the dialects and passes of this compiler; called `*-lsp-server` it is their language server.

use std::ffi::{CString, c_char};

fn main() {
    let args: Vec<CString> = own_flags().into_iter().filter_map(|a| CString::new(a).ok()).collect();
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

/// Takes the flags of our dialects off the command line; the rest is MLIR's.
fn own_flags() -> Vec<String> {
    let (mut testing, mut warn, mut error, mut remarks) = (false, false, false, false);
    let rest = std::env::args()
        .filter(|a| {
            let flag = match a.trim_start_matches('-') {
                "cuda-tile-testing-ops" => &mut testing,
                "Wunsupported-hints" => &mut warn,
                "Werr-hints" => &mut error,
                "remarks" => &mut remarks,
                _ => return true,
            };
            *flag = true;
            !a.starts_with('-')
        })
        .collect();
    if remarks {
        tileiras::dialect::remark::print_as_diagnostics();
    }
    // SAFETY: plain settings, made before any dialect is loaded.
    unsafe {
        tileiras::dialect::ffi::cudaTileRegisterTestingOps(testing);
        tileiras::dialect::ffi::cudaTileSetHintChecks(warn, error);
    }
    rest
}
