//! Refuses the one way of linking in which the plugin cannot work.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=MLIR_SYS_LINK_SHARED");
    // With MLIR inside, the plugin would bring a second MLIR into mlir-opt, which then crashes.
    assert_eq!(
        std::env::var("MLIR_SYS_LINK_SHARED").as_deref(),
        Ok("1"),
        "the plugin shares MLIR with the tool that loads it: build it with MLIR_SYS_LINK_SHARED=1"
    );
}
