//! Compiles, binds and links the C++ of the dialects.

use crate::{DIALECTS, tablegen::Paths};
use std::{
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    path::{Path, PathBuf},
};

/// Compiles `dialects-td/lib/<unit>/*.cpp` of every dialect and of the shim, each as its own archive, and skips those
/// whose inputs are as they were: a dialect of a hundred ops takes most of a minute.
pub fn compile(paths: &Paths, out: &Path) {
    let shared = inputs_hash(&paths.td.join("capi"));
    let mut upstream = shared;
    let mut units: Vec<&str> = vec!["mlirx"];
    units.extend(DIALECTS.iter().map(|d| d.name));
    for unit in units {
        let sources = sources(&paths.td.join("lib").join(unit));
        let mut hasher = DefaultHasher::new();
        // A dialect may include the headers of those before it.
        (upstream, inputs_hash(&paths.td.join("lib").join(unit)), inputs_hash(&paths.gen_dir.join(unit)))
            .hash(&mut hasher);
        let hash = hasher.finish();
        if unit != "mlirx" {
            upstream = hash;
        }
        let archive = out.join(format!("libtileiras_{unit}.a"));
        let stamp = out.join(format!("{unit}.stamp"));
        let fresh = archive.exists() && fs::read_to_string(&stamp).is_ok_and(|s| s == hash.to_string());
        if !fresh {
            let mut build = compiler(paths);
            build.files(&sources);
            if unit != "mlirx" {
                build.file(paths.gen_dir.join(unit).join("Wrappers.cpp"));
            }
            build.cargo_metadata(false).compile(&format!("tileiras_{unit}"));
            fs::write(stamp, hash.to_string()).unwrap();
        }
        println!("cargo:rustc-link-lib=static=tileiras_{unit}");
    }
    println!("cargo:rustc-link-search=native={}", out.display());
    println!("cargo:rustc-link-lib=stdc++");
}

fn compiler(paths: &Paths) -> cc::Build {
    let mut build = cc::Build::new();
    build
        .cpp(true)
        .compiler(paths.llvm.join("bin/clang++"))
        .std("c++17")
        .pic(true)
        .include(&paths.gen_dir)
        .include(paths.td.join("lib"))
        .include(&paths.td)
        .flag("-isystem")
        .flag(paths.llvm.join("include").display().to_string())
        .flag("-fno-rtti")
        .flag("-fno-exceptions")
        .flag("-funwind-tables")
        .flag("-fvisibility=hidden")
        .flag("-fvisibility-inlines-hidden")
        .flag("-Wno-unused-parameter")
        .define("NDEBUG", None)
        .define("_GNU_SOURCE", None)
        .define("__STDC_CONSTANT_MACROS", None)
        .define("__STDC_FORMAT_MACROS", None)
        .define("__STDC_LIMIT_MACROS", None)
        // One level in every profile: unoptimised objects are several times larger and hardly faster to build.
        .opt_level(1)
        .debug(false);
    build
}

fn sources(dir: &Path) -> Vec<PathBuf> {
    let mut list: Vec<PathBuf> = fs::read_dir(dir)
        .unwrap_or_else(|e| panic!("{}: {e}", dir.display()))
        .filter_map(|e| Some(e.ok()?.path()))
        .filter(|p| p.extension().is_some_and(|x| x == "cpp"))
        .collect();
    list.sort();
    list
}

/// Hash of every file directly in `dir`; a folder that does not exist has none.
fn inputs_hash(dir: &Path) -> u64 {
    let mut files: Vec<PathBuf> = fs::read_dir(dir)
        .into_iter()
        .flatten()
        .filter_map(|e| Some(e.ok()?.path()))
        .filter(|p| p.is_file())
        .collect();
    files.sort();
    let mut hasher = DefaultHasher::new();
    for file in files {
        file.file_name().hash(&mut hasher);
        fs::read(&file).unwrap().hash(&mut hasher);
    }
    hasher.finish()
}

/// Rust declarations of the C API.
pub fn bind(paths: &Paths, headers: &[String], out: &Path) {
    let includes: String = headers.iter().map(|h| format!("#include \"{h}\"\n")).collect();
    bindgen::builder()
        .header_contents("all.h", &includes)
        .clang_arg(format!("-I{}", paths.td.display()))
        .clang_arg(format!("-I{}", paths.gen_dir.display()))
        .clang_arg(format!("-I{}", paths.llvm.join("include").display()))
        .allowlist_function("mlirx.*|tileir.*|cudaTile.*|mlirGetDialectHandle__(cuda_tile|nv_tileaa|nv_tileas)__")
        .allowlist_type("Mlirx[A-Z].*")
        .blocklist_type("Mlir[A-WYZ].*|Mlir[A-Z][a-z]+.*")
        .allowlist_type("Mlirx[A-Z].*")
        .raw_line("use mlir_sys::*;")
        .generate()
        .expect("the C headers parse")
        .write_to_file(out.join("bindings.rs"))
        .unwrap();
}

/// mlir-sys asks for `-lMLIR-C`, which distributions do not ship: libMLIR.so leaves the C API out and only its archives
/// exist. A linker script of that name supplies them.
pub fn link(paths: &Paths, out: &Path) {
    let lib = paths.llvm.join("lib");
    println!("cargo:rustc-link-arg=-Wl,-rpath,{}", lib.display());
    if std::env::var("MLIR_SYS_LINK_SHARED").as_deref() != Ok("1") {
        return;
    }
    let mut names: Vec<String> = fs::read_dir(&lib)
        .unwrap()
        .filter_map(|e| e.ok()?.file_name().into_string().ok())
        .filter(|n| n.starts_with("libMLIRCAPI") && n.ends_with(".a"))
        .collect();
    names.sort();
    let list: Vec<String> = names.iter().map(|n| lib.join(n).display().to_string()).collect();
    let dir = out.join("capi");
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("libMLIR-C.so"), format!("INPUT ( {} )\n", list.join(" "))).unwrap();
    println!("cargo:rustc-link-search=native={}", dir.display());
}
