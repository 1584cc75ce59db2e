//! The package for C++ users: it installs, `find_package(TileIR)` finds it, and the example of an out-of-tree pass
//! builds against it and runs in the stock `mlir-opt`.
//!
//! Archives and headers come from the cargo build, which uses the same compiler and flags. `TILEIRAS_TEST_FULL=1` has
//! cmake compile them, which takes minutes, and runs the tests of the dialect on its plugin.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::Command,
};
use tile_test_support::{Trial, functions, root, stock};

fn run(program: impl AsRef<OsStr>, arguments: &[&dyn AsRef<OsStr>]) {
    let mut command = Command::new(program);
    arguments.iter().for_each(|a| _ = command.arg(a));
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{command:?}\n{}{}", text(&output.stdout), text(&output.stderr));
}

fn define(name: &str, value: impl AsRef<OsStr>) -> String {
    format!("-D{name}={}", value.as_ref().to_string_lossy())
}

/// Configures and builds a project with the tools of the LLVM installation.
fn build(source: &Path, folder: &Path, settings: &[String]) {
    let llvm = Path::new(env!("MLIR_SYS_210_PREFIX"));
    let mut arguments = vec![
        "-S".to_owned(),
        source.display().to_string(),
        "-B".to_owned(),
        folder.display().to_string(),
        define("CMAKE_CXX_COMPILER", stock::llvm("clang++")),
        define("CMAKE_C_COMPILER", stock::llvm("clang")),
        define("MLIR_DIR", llvm.join("lib/cmake/mlir")),
    ];
    arguments.extend_from_slice(settings);
    let arguments: Vec<&dyn AsRef<OsStr>> = arguments.iter().map(|a| a as &dyn AsRef<OsStr>).collect();
    run("cmake", &arguments);
    run("cmake", &[&"--build", &folder, &"--parallel", &"2"]);
}

fn installed_package_and_example() {
    let full = tile_test_support::full();
    // Installed headers keep their modification times, so objects built with the headers of the other mode would
    // count as up to date.
    let tmp = Path::new(env!("CARGO_TARGET_TMPDIR")).join(if full { "cmake-full" } else { "cmake" });
    let (package, prefix, example) = (tmp.join("package"), tmp.join("prefix"), tmp.join("example"));
    // Files installed by an older version must not be found.
    let _ = fs::remove_dir_all(&prefix);
    let prebuilt = if full { PathBuf::new() } else { env!("OUT_DIR").into() };
    build(
        &root().join("cmake"),
        &package,
        &[define("CMAKE_INSTALL_PREFIX", &prefix), define("TILEIR_PREBUILT", &prebuilt)],
    );
    run("cmake", &[&"--install", &package]);
    for file in ["cuda_tile/CudaTile.h", "cuda_tile/CudaTileOps.td", "nv_tileas/NvTileASOps.h.inc", "capi/cuda_tile.h"]
    {
        assert!(prefix.join("include/tileir").join(file).exists(), "{file} is not installed");
    }

    build(&root().join("examples/pass-cpp"), &example, &[define("CMAKE_PREFIX_PATH", &prefix)]);
    let run_example = |limit: u32| {
        let output = stock::mlir_opt(&example.join("libcount_loads.so"))
            .arg(root().join("examples/relu_f32.mlir"))
            .arg(format!(
                "--pass-pipeline=builtin.module(cuda_tile.module(cuda_tile.entry(count-loads{{limit={limit}}})))"
            ))
            .output()
            .unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (success, report) = run_example(8);
    assert!(success && report.contains("remark: @relu_f32 has 1 loads"), "{report}");
    let (success, report) = run_example(0);
    assert!(!success && report.contains("error: more than 0 loads"), "{report}");

    // The plugin built by cmake, without any Rust.
    let mut tests: Vec<PathBuf> =
        fs::read_dir(root().join("tests/ir/cuda_tile")).unwrap().map(|e| e.unwrap().path()).collect();
    tests.retain(|t| {
        t.extension().is_some_and(|x| x == "mlir")
            && !fs::read_to_string(t).is_ok_and(|text| text.contains("tileiras-translate"))
    });
    tests.sort();
    assert!(tests.len() > 20, "{tests:?}");
    if !full {
        tests.truncate(8);
    }
    let mut command = Command::new("python3");
    command.arg(root().join("cmake/run_tests.py")).arg(package.join("libcuda_tile_plugin.so")).args(&tests);
    let output = command.env("LLVM_BIN", Path::new(env!("MLIR_SYS_210_PREFIX")).join("bin")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

/// `examples/pass-plugin` inside the compiler: where its pass runs, what it changes, and which uses are rejected.
fn n04_a_pass_of_the_users_in_the_compiler() {
    let tmp = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cmake");
    let (folder, cache) = (tmp.join("pass-plugin"), tmp.join("plugin-cache"));
    let _ = fs::remove_dir_all(&cache);
    build(&root().join("examples/pass-plugin"), &folder, &[]);
    let load = format!("--load-pass-plugin={}", folder.join("libcontract_floats.so").display());
    let compile = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tileiras"));
        command.arg(root().join("tests/corpus/mandelbrot.13.1.tileirbc")).args(["--gpu-name=sm_90", "-o", "-"]);
        let output = command.args(arguments).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let fused = |ptx: &str| ptx.matches("fma.rn.f32").count();
    let cached = format!("--cache-dir={}", cache.display());
    let (_, without, _) = compile(&["--emit=ptx", &cached]);
    let insert = "--insert-pass=after:convert-to-llvm:contract-floats";
    // The second run hits the cache, which distinguishes the two programs.
    for _ in 0..2 {
        let (status, with, said) = compile(&["--emit=ptx", &load, insert, &cached]);
        assert_eq!(status, Some(0), "{said}");
        assert!(said.starts_with("remark: ") && said.ends_with(" operations may be contracted\n"), "{said}");
        assert!(fused(&with) > fused(&without), "{with}");
    }
    // At points where floating-point operations are not in the LLVM dialect yet, and at several points.
    for place in ["end:tileas", "before:cse"] {
        let (status, with, said) = compile(&["--emit=ptx", &load, &format!("--insert-pass={place}:contract-floats")]);
        assert_eq!(status, Some(0), "{said}");
        assert!(said.contains("remark: 0 operations may be contracted\n"), "{said}");
        assert_eq!(fused(&with) > fused(&without), place == "before:cse", "{place}");
    }
    // The compiler's own passes do not need a plugin.
    let (status, tileas, said) = compile(&["--emit=tileas", "--insert-pass=end:tileas:strip-debuginfo,cse"]);
    assert_eq!((status, said.as_str()), (Some(0), ""));
    assert!(tileas.contains("nv_tileas."), "{tileas}");

    let missing = "--load-pass-plugin=/none.so";
    let no_library = format!("--load-pass-plugin={}", root().join("README.md").display());
    let ours = tmp.join("ours.so");
    fs::write(&ours, "..cuda_tile.get_num_tile_blocks..cuda_tile.mmaf_scaled..").unwrap();
    let with_dialects = format!("--load-pass-plugin={}", ours.display());
    let stock = stock::llvm("../lib/libLLVM.so.21.1");
    let no_plugin = format!("--load-pass-plugin={}", stock.display());
    for (arguments, expected) in [
        (&["--emit=ptx", insert][..], "'contract-floats' does not refer to a registered pass"),
        (&["--emit=ptx", missing], "the plugin '/none.so' cannot be read: No such file"),
        (&["--emit=ptx", &no_library], "README.md' cannot be loaded: "),
        (&["--emit=ptx", &with_dialects], "ours.so' contains a different version of this tool's dialects"),
        (&["--emit=ptx", &no_plugin], "undefined symbol: mlirGetPassPluginInfo"),
        (&["--emit=tileas", &load, insert], "no pass at that position runs between the level of the input and"),
        (&["--emit=ptx", "--insert-pass=after:x:cse"], "the pipeline has no pass 'x'; with these options its passes"),
        (&["-O0", "--emit=ptx", "--insert-pass=after:canonicalize:cse"], "the pipeline has no pass 'canonicalize'"),
        (&["--emit=ptx", "--insert-pass=cse"], "'cse' is not of the form before:PASS:PIPELINE"),
        (&["--emit=ptx", "--insert-pass=end:ptx:cse"], "no pass produces the level 'ptx'"),
        (&["--emit=ptx", "--insert-pass=after:cse:cse),builtin.module(cse"], "--insert-pass=after:cse:cse),builtin"),
    ] {
        let (status, written, said) = compile(arguments);
        assert_eq!((status, written.as_str()), (Some(2), ""), "{arguments:?}: {said}");
        assert!(said.contains(expected), "{arguments:?}: {said}");
    }
}

/// LLVM IR input does not go through passes, so none can be inserted.
fn n04_no_place_for_a_pass_in_llvm_ir() {
    let input = Path::new(env!("CARGO_TARGET_TMPDIR")).join("n04.ll");
    fs::write(&input, "define void @f() {\n  ret void\n}\n").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_tileiras"))
        .arg(&input)
        .args(["--gpu-name=sm_90", "--emit=ptx", "-o", "-", "--insert-pass=after:cse:cse"])
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("no pass at that position runs between the level of the input and the emitted stage"),
        "{said}"
    );
}

pub fn trials() -> Vec<Trial> {
    functions![
        installed_package_and_example,
        n04_a_pass_of_the_users_in_the_compiler,
        n04_no_place_for_a_pass_in_llvm_ir
    ]
}
