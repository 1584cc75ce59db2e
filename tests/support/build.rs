//! Sets the search path for LLVM's libraries in the program that fills the store.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=MLIR_SYS_210_PREFIX");
    println!("cargo:rerun-if-env-changed=MLIR_SYS_LINK_SHARED");
    let llvm = std::env::var("MLIR_SYS_210_PREFIX").expect("MLIR_SYS_210_PREFIX names the LLVM installation");
    if std::env::var("MLIR_SYS_LINK_SHARED").as_deref() == Ok("1") {
        println!("cargo:rustc-link-arg-bins=-Wl,-rpath,{llvm}/lib");
    }
}
