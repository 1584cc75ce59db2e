//! Sets the library's soname and the search path for LLVM's libraries.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=MLIR_SYS_210_PREFIX");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libtileiras.so.0");
    let llvm = std::env::var("MLIR_SYS_210_PREFIX").expect("MLIR_SYS_210_PREFIX names the LLVM installation");
    println!("cargo:rerun-if-env-changed=MLIR_SYS_LINK_SHARED");
    if std::env::var("MLIR_SYS_LINK_SHARED").as_deref() == Ok("1") {
        println!("cargo:rustc-link-arg=-Wl,-rpath,{llvm}/lib");
    }
}
