//! Builds the dialects: TableGen to C++ and JSON, C++ to a static library, and JSON to C accessors and typed Rust
//! views.
//!
//! The C++ is compiled by LLVM's own clang with `NDEBUG`, whatever the host compiler is: MLIR derives the identities
//! of traits from the compiler's spelling of type names, and some of its classes change size with `NDEBUG`.

#[path = "build/cpp.rs"]
mod cpp;
#[path = "build/dialects.rs"]
mod dialects;
#[path = "build/records.rs"]
mod records;
#[path = "build/tablegen.rs"]
mod tablegen;
#[path = "build/upstream.rs"]
mod upstream;
#[path = "build/views.rs"]
mod views;
#[path = "build/wrappers.rs"]
mod wrappers;

use dialects::{DIALECTS, Dialect};
use std::{env, fs, path::PathBuf};

fn main() {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").unwrap());
    let out = PathBuf::from(env::var("OUT_DIR").unwrap());
    let llvm = PathBuf::from(env::var("MLIR_SYS_210_PREFIX").expect("MLIR_SYS_210_PREFIX names the LLVM installation"));
    for path in ["build.rs", "build", "dialects-td"] {
        println!("cargo:rerun-if-changed={}", root.join(path).display());
    }
    for name in ["MLIR_SYS_210_PREFIX", "MLIR_SYS_LINK_SHARED", "TILEIRAS_CXXFLAGS"] {
        println!("cargo:rerun-if-env-changed={name}");
    }

    let paths = tablegen::Paths { td: root.join("dialects-td"), gen_dir: out.join("gen"), llvm };
    let mut headers = vec!["capi/mlirx.h".to_string()];
    for dialect in DIALECTS {
        tablegen::generate(&paths, dialect);
        let records = records::Records::load(&paths, &format!("{0}/{1}Ops.td", dialect.name, dialect.prefix));
        wrappers::write_c(&paths, dialect, &records);
        fs::write(out.join(format!("{}.rs", dialect.name)), views::dialect(dialect, &records)).unwrap();
        headers.push(format!("capi/{}.h", dialect.name));
        headers.push(format!("{}/Wrappers.h.inc", dialect.name));
    }
    headers.push(upstream::generate(&paths, &out));
    let passes = records::Records::load(&paths, "Passes.td");
    fs::write(out.join("passes.rs"), views::passes(&passes)).unwrap();

    println!("cargo:rustc-env=TILEIRAS_DIALECTS={}", cpp::identity(&paths));
    cpp::compile(&paths, &out);
    cpp::bind(&paths, &headers, &out);
    cpp::link(&paths, &out);
}
