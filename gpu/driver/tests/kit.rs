//! Tests the GPU kit's GPU support on this library, through the Python package of the driver API:
//! `gpu/tests/test_cuda.py`.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The library next to this test, as built by cargo.
fn library() -> PathBuf {
    let here = std::env::current_exe().expect("a running program has a path");
    let name = format!("{}sim_cuda{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let found = here.ancestors().skip(1).map(|folder| folder.join(&name)).find(|path| path.is_file());
    found.unwrap_or_else(|| panic!("no {name} beside {}", here.display()))
}

#[test]
fn the_kit_runs_on_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = Command::new("python3")
        .args(["-m", "unittest", "discover", "-s", "gpu/tests", "-t", "gpu", "-p", "test_cuda.py"])
        .current_dir(root)
        .env("SIM_CUDA", library())
        .output()
        .expect("python3 starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    // With the library there is no reason to skip any of them.
    assert!(said.contains("Ran ") && !said.contains("skipped") && !said.contains("Ran 0 tests"), "{said}");
}

/// A missing function must be reported, and an existing one must be found.
#[test]
fn functions_are_found_by_name() {
    let mut address = std::ptr::null();
    let mut look_up = |name: &std::ffi::CStr| {
        // SAFETY: a terminated string, and an output pointer to a local variable.
        unsafe { sim_cuda::cuGetProcAddress_v2(name.as_ptr(), &mut address, 13000, 0, std::ptr::null_mut()) }
    };
    assert_eq!(look_up(c"cuLaunchKernel"), 0);
    assert_eq!(look_up(c"cuMemcpyPeer"), 500);
    assert!(!address.is_null());
}
