//! Compiles, binds and links the C++ of the dialects.

use crate::{DIALECTS, tablegen::Paths};
use std::{
    collections::BTreeMap,
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
};

/// Compiles `dialects-td/lib/<unit>/*.cpp` of every dialect and of the shim, each unit as an archive.
///
/// A dialect of a hundred ops takes minutes, so objects are kept in `cxx/` of the target directory under names that
/// hold the hash of everything they are made from. Cargo runs this script in a folder of its own for `check`, for
/// `build` and for every profile, and all of these need the same objects.
///
/// Nine tenths of the time for a file of verifiers go into the headers of MLIR and of its dialect, so these are
/// compiled once for each unit. A file still includes what it uses: cmake builds the same files without that.
pub fn compile(paths: &Paths, out: &Path) {
    let cache = out.ancestors().nth(4).expect("OUT_DIR is <target>/<profile>/build/<package>/out").join("cxx");
    fs::create_dir_all(&cache).unwrap();
    let mut headers: BTreeMap<&str, u64> = BTreeMap::new();
    let units = DIALECTS.iter().map(|d| (d.name, d.uses)).chain([("mlirx", &[][..]), ("upstream", &[][..])]);
    for (unit, uses) in units {
        let lib = paths.td.join("lib").join(unit);
        let used: Vec<u64> =
            uses.iter().map(|u| *headers.get(u).expect("a dialect stands after those it uses")).collect();
        let capi = paths.td.join(format!("capi/{unit}.h"));
        let own =
            hash((FLAGS, used, fs::read(capi).unwrap_or_default(), headers_hash(&[&lib, &paths.gen_dir.join(unit)])));
        let extra = extra_flags();
        let own = if extra.is_empty() { own } else { hash((own, extra)) };
        headers.insert(unit, own);

        // What is written by hand, and what the build script has written.
        let mut sources = sources(&lib);
        sources.extend(
            ["Wrappers.cpp", "Upstream.cpp"]
                .map(|f| paths.gen_dir.join(unit).join(f))
                .into_iter()
                .filter(|f| f.exists()),
        );
        let object = |source: &PathBuf| {
            let stem = source.file_stem().expect("a file").to_string_lossy().into_owned();
            cache.join(format!("{unit}-{stem}-{:016x}.o", hash((own, fs::read(source).unwrap()))))
        };
        let objects: Vec<PathBuf> = sources.iter().map(object).collect();
        let missing: Vec<usize> = (0..sources.len()).filter(|i| !objects[*i].exists()).collect();
        if !missing.is_empty() {
            let header = DIALECTS.iter().find(|d| d.name == unit).map(|d| format!("{}/{}.h", d.name, d.prefix));
            let precompiled = precompile(paths, out, unit, header.as_deref(), own);
            let jobs = std::env::var("NUM_JOBS").ok().and_then(|n| n.parse().ok()).unwrap_or(2);
            let next = AtomicUsize::new(0);
            // One by one, so that a file with an error costs the others nothing.
            std::thread::scope(|scope| {
                for _ in 0..missing.len().min(jobs) {
                    scope.spawn(|| {
                        while let Some(&i) = missing.get(next.fetch_add(1, Ordering::Relaxed)) {
                            let made = with_precompiled(compiler(paths), &precompiled)
                                .file(&sources[i])
                                .compile_intermediates();
                            // Whole or not at all: another build may be looking for it.
                            let partial = objects[i].with_extension(format!("{}.partial", std::process::id()));
                            fs::copy(&made[0], &partial).unwrap();
                            fs::rename(partial, &objects[i]).unwrap();
                        }
                    });
                }
            });
        }
        let mut archive = compiler(paths);
        for object in &objects {
            archive.object(object);
        }
        archive.cargo_metadata(false).compile(&format!("tileiras_{unit}"));
        println!("cargo:rustc-link-lib=static=tileiras_{unit}");
    }
    println!("cargo:rustc-link-search=native={}", out.display());
    println!("cargo:rustc-link-lib=stdc++");
}

/// Headers of MLIR that most files include.
const COMMON: &[&str] = &[
    "llvm/ADT/TypeSwitch.h",
    "mlir/CAPI/IR.h",
    "mlir/CAPI/Registration.h",
    "mlir/CAPI/Wrap.h",
    "mlir/IR/Builders.h",
    "mlir/IR/BuiltinTypes.h",
    "mlir/IR/DialectImplementation.h",
    "mlir/IR/Matchers.h",
    "mlir/IR/OpImplementation.h",
    "mlir/IR/PatternMatch.h",
    "mlir/IR/SymbolTable.h",
    "mlir/Interfaces/ControlFlowInterfaces.h",
    "mlir/Interfaces/FunctionImplementation.h",
    "mlir/Interfaces/SideEffectInterfaces.h",
];

/// Compiles the headers of a unit, unless that is done. The result refers to the generated headers of this build, so it
/// is kept beside them.
fn precompile(paths: &Paths, out: &Path, unit: &str, header: Option<&str>, own: u64) -> PathBuf {
    // An update of LLVM's package may keep its version.
    let stamp = |f: &str| fs::metadata(paths.llvm.join(f)).and_then(|m| m.modified()).ok();
    let llvm = (&paths.llvm, stamp("include/llvm/Config/llvm-config.h"), stamp("bin/clang++"));
    let folder = out.join("precompiled").join(unit);
    let precompiled = folder.join(format!("{:016x}.pch", hash((own, llvm, COMMON))));
    if precompiled.exists() {
        return precompiled;
    }
    // What was made of earlier headers is large.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let includes: String = COMMON.iter().copied().chain(header).map(|h| format!("#include \"{h}\"\n")).collect();
    let source = folder.join("headers.h");
    fs::write(&source, includes).unwrap();
    let partial = precompiled.with_extension("partial");
    let status = compiler(paths)
        .get_compiler()
        .to_command()
        .args(["-x", "c++-header", "-Xclang", "-fpch-instantiate-templates", "-o"])
        .args([&partial, &source])
        .status()
        .expect("clang++ can be started");
    assert!(status.success(), "clang++ could not compile the headers of {unit}: {status}");
    // Whole or not at all: the script may be stopped.
    fs::rename(partial, &precompiled).unwrap();
    precompiled
}

fn with_precompiled(mut build: cc::Build, precompiled: &Path) -> cc::Build {
    build.flag("-include-pch").flag(precompiled.display().to_string());
    // The script writes generated headers anew each time, often the same; the name has the hash of what is in them.
    build.flag("-Xclang").flag("-fno-validate-pch");
    build
}

/// What tells dialects of one build from those of another: two libraries of a process may share them if it is the same.
pub fn identity(paths: &Paths) -> String {
    let mut files = vec![];
    let mut folders = vec![paths.td.clone()];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()) {
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    let contents = files.iter().map(|f| (f.strip_prefix(&paths.td).unwrap(), fs::read(f).unwrap()));
    format!("{:016x}", hash((FLAGS, extra_flags(), contents.collect::<Vec<_>>())))
}

fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

const FLAGS: &[&str] = &[
    "-fno-rtti",
    "-fno-exceptions",
    "-funwind-tables",
    "-fvisibility=hidden",
    "-fvisibility-inlines-hidden",
    "-Wno-unused-parameter",
];

/// Flags from the environment, such as those that instrument code for a fuzzer.
fn extra_flags() -> Vec<String> {
    let flags = std::env::var("TILEIRAS_CXXFLAGS").unwrap_or_default();
    flags.split_whitespace().map(str::to_owned).collect()
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
        .define("NDEBUG", None)
        .define("_GNU_SOURCE", None)
        .define("__STDC_CONSTANT_MACROS", None)
        .define("__STDC_FORMAT_MACROS", None)
        .define("__STDC_LIMIT_MACROS", None)
        // One level in every profile: unoptimised objects are several times larger and hardly faster to build.
        .opt_level(1)
        .debug(false);
    for flag in FLAGS {
        build.flag(flag);
    }
    for flag in extra_flags() {
        build.flag(flag);
    }
    build
}

fn sources(dir: &Path) -> Vec<PathBuf> {
    let mut list: Vec<PathBuf> = fs::read_dir(dir)
        .into_iter()
        .flatten()
        .filter_map(|e| Some(e.ok()?.path()))
        .filter(|p| p.extension().is_some_and(|x| x == "cpp"))
        .collect();
    list.sort();
    list
}

/// Hash of every header directly in the folders.
fn headers_hash(dirs: &[&Path]) -> u64 {
    let mut files: Vec<PathBuf> = dirs
        .iter()
        .flat_map(|dir| fs::read_dir(dir).into_iter().flatten())
        .filter_map(|e| Some(e.ok()?.path()))
        .filter(|p| p.extension().is_some_and(|x| x == "h" || x == "inc"))
        .collect();
    files.sort_by(|a, b| a.file_name().cmp(&b.file_name()));
    hash(files.iter().map(|f| (f.file_name(), fs::read(f).unwrap())).collect::<Vec<_>>())
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
    if std::env::var("MLIR_SYS_LINK_SHARED").as_deref() != Ok("1") {
        // A program at a fixed address has nothing to relocate when it starts.
        println!("cargo:rustc-link-arg-bin=tileiras-standalone=-no-pie");
        return;
    }
    println!("cargo:rustc-link-arg=-Wl,-rpath,{}", lib.display());
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
