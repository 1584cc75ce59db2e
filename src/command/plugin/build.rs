//! Rejects the only way of linking with which the plugin cannot work.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=MLIR_SYS_LINK_SHARED");
    // Linked statically, the plugin would add a second copy of MLIR to mlir-opt, which then crashes.
    assert_eq!(
        std::env::var("MLIR_SYS_LINK_SHARED").as_deref(),
        Ok("1"),
        "the plugin must share MLIR with the tool that loads it: build it with MLIR_SYS_LINK_SHARED=1"
    );
}
