//! The example of an out-of-tree pass in Rust: `examples/pass-rust`.

#[path = "../support/stock.rs"]
mod stock;

use std::path::Path;
use stock::{library, mlir_opt};

fn run(limit: u32) -> (bool, String) {
    let output = mlir_opt(&library("count_loads"))
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../relu_f32.mlir"))
        .arg(format!("--pass-pipeline=builtin.module(cuda_tile.module(cuda_tile.entry(count-loads{{limit={limit}}})))"))
        .output()
        .unwrap();
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn loads_are_counted() {
    let (success, report) = run(8);
    assert!(success, "{report}");
    assert!(report.contains("remark: @relu_f32 has 1 loads"), "{report}");
}

#[test]
fn the_limit_is_an_option() {
    let (success, report) = run(0);
    assert!(!success && report.contains("error: more than 0 loads"), "{report}");
}
