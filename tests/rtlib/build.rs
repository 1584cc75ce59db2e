//! Compiles the device library's sources for the host and writes the declarations of its functions for Rust.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use tile_rtlib::{Function, Runtime, Type};

const SOURCES: &str = "../../src/codegen/rtlib/c";

fn main() {
    println!("cargo:rerun-if-changed={SOURCES}");
    println!("cargo:rerun-if-changed=build.rs");
    let prefix = env::var_os("LLVM_SYS_211_PREFIX").unwrap_or_else(|| "/usr/lib/llvm-21".into());
    let clang = Path::new(&prefix).join("bin/clang");
    for (file, archive) in [("rtlib.c", "tileir_rtlib"), ("host.c", "tileir_rtlib_host")] {
        let mut build = cc::Build::new();
        build
            .compiler(&clang)
            .file(Path::new(SOURCES).join(file))
            .opt_level(2)
            .flag("-std=c23")
            .flag("-ffp-contract=off")
            .flag("-fno-math-errno")
            .flag("-Wno-missing-prototypes")
            .warnings_into_errors(true);
        if file == "host.c" {
            build.flag("-frounding-math");
        }
        // Fused operations are exact either way. With the instruction, the sweeps take a tenth of the time.
        #[cfg(target_arch = "x86_64")]
        if std::is_x86_feature_detected!("fma") && std::is_x86_feature_detected!("f16c") {
            build.flag("-mfma").flag("-mf16c");
        }
        build.compile(archive);
    }

    let mut text = String::from("unsafe extern \"C\" {\n");
    let mut table = String::from(
        "/// The address of a function's host version.\npub fn address(symbol: &str) -> Option<*const ()> {\n    Some(match symbol {\n",
    );
    for function in Function::all() {
        let (symbol, signature) = (function.symbol(), function.signature());
        let parameters: Vec<String> =
            signature.parameters.iter().enumerate().map(|(i, ty)| format!("x{i}: {}", rust(*ty))).collect();
        let _ = writeln!(text, "    fn {symbol}({}) -> {};", parameters.join(", "), rust(signature.result));
        let _ = writeln!(table, "        \"{symbol}\" => {symbol} as *const (),");
    }
    text.push_str("}\n\n");
    table.push_str("        _ => return None,\n    })\n}\n");
    let mut runtime = String::from("unsafe extern \"C\" {\n");
    for function in Runtime::ALL {
        let (parameters, result) = function.signature();
        let parameters: Vec<String> =
            parameters.into_iter().enumerate().map(|(i, ty)| format!("x{i}: {}", rust(ty))).collect();
        let result = result.map(|ty| format!(" -> {}", rust(ty))).unwrap_or_default();
        let _ = writeln!(runtime, "    pub fn {}({}){result};", function.symbol(), parameters.join(", "));
    }
    runtime.push_str("}\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    for (name, text) in [("ffi.rs", text + &table), ("runtime.rs", runtime)] {
        if let Err(error) = fs::write(out.join(name), text) {
            eprintln!("error: cannot write {name}: {error}");
            std::process::exit(1);
        }
    }
}

fn rust(ty: Type) -> &'static str {
    match ty {
        Type::I8 => "u8",
        Type::I16 => "u16",
        Type::I32 => "u32",
        Type::I64 => "u64",
        Type::F32 => "f32",
        Type::F64 => "f64",
    }
}
