//! Tests of the C library as users have it: installed below a prefix, found by pkg-config and CMake, used with gcc
//! and clang.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

fn root() -> &'static Path {
    static ROOT: OnceLock<PathBuf> = OnceLock::new();
    ROOT.get_or_init(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").canonicalize().unwrap())
}

fn run(command: &mut Command) -> Output {
    let out = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let text = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
    assert!(out.status.success(), "{command:?}: {}\n{}{}", out.status, text(&out.stdout), text(&out.stderr));
    out
}

/// The folder of this build, such as `target/debug`.
fn profile() -> PathBuf {
    // The test is in `<profile>/deps`.
    std::env::current_exe().unwrap().ancestors().nth(2).unwrap().to_owned()
}

/// Installs the build that this test belongs to.
fn install() -> tempfile::TempDir {
    let prefix = tempfile::tempdir().unwrap();
    run(Command::new(root().join("scripts/install.sh")).arg(prefix.path()).arg("--from").arg(profile()));
    prefix
}

/// Flags from pkg-config for the installed tree.
fn flags(prefix: &Path, what: &str) -> Vec<String> {
    let out = run(Command::new("pkg-config")
        .args([what, "tileiras"])
        .env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig"))
        .env("PKG_CONFIG_ALLOW_SYSTEM_LIBS", "1"));
    String::from_utf8(out.stdout).unwrap().split_whitespace().map(str::to_owned).collect()
}

fn compile(compiler: &str, source: &str, prefix: &Path) -> PathBuf {
    let program = prefix.join(format!("{source}-{compiler}"));
    run(Command::new(compiler)
        .args(["-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-pthread", "-o"])
        .arg(&program)
        .arg(root().join("tests/capi").join(source).with_extension("c"))
        .args(flags(prefix, "--cflags"))
        .args(flags(prefix, "--libs")));
    program
}

fn start(program: &Path, prefix: &Path) -> Command {
    let mut command = Command::new(program);
    // The library must not depend on the caller's environment.
    command.env_clear().env("LD_LIBRARY_PATH", prefix.join("lib"));
    command
}

fn input() -> PathBuf {
    root().join("examples/vadd_f32_div16.tileirbc")
}

fn toolkit() -> PathBuf {
    let tools = root().join(".tools/cuda");
    assert!(tools.join("bin/ptxas").exists(), "no ptxas in .tools/cuda: run scripts/setup.sh");
    tools
}

/// A directory that looks like a toolkit, whose ptxas writes an image immediately.
fn quick_toolkit(directory: &Path) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let file = directory.join("toolkit/bin/ptxas");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    // The header of a cubin, followed by a table of one section.
    let mut image = vec![0u8; 128];
    image[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
    for (at, byte) in [(16, 2), (18, 190), (40, 64), (52, 64), (58, 64), (60, 1)] {
        image[at] = byte;
    }
    std::fs::write(directory.join("image"), image).unwrap();
    let image = directory.join("image");
    let script = format!(
        "#!/bin/sh\nwhile [ $# -gt 0 ]; do [ \"$1\" = -o ] && out=$2; shift; done\nexec /bin/cat {} > \"$out\"\n",
        image.display()
    );
    std::fs::write(&file, script).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    directory.join("toolkit")
}

fn golden(name: &str) -> PathBuf {
    root().join("tests/bytecode/tilelib").join(name)
}

/// A tile library for the call of a golden file.
fn library(file: &Path) {
    let code = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .func sym(.param .b64 p)\n{\nret;\n}\n";
    let part = |name: &str| std::fs::read(golden(name)).unwrap();
    let parts = [part("impl_local1.tilebc"), code.into()];
    std::fs::write(file, tile_library::create(&part("iface_local1.tilebc"), &parts).unwrap()).unwrap();
}

#[test]
fn every_status_and_message() {
    let prefix = install();
    let library_file = prefix.path().join("l.tilelib");
    library(&library_file);
    for compiler in ["gcc", "clang-21"] {
        let program = compile(compiler, "table", prefix.path());
        let cache = prefix.path().join(format!("cache-{compiler}"));
        std::fs::create_dir(&cache).unwrap();
        let mut command = start(&program, prefix.path());
        command.arg(input()).arg(toolkit()).arg(prefix.path().join("bin/tileiras-core"));
        let out = run(command
            .arg(root().join("examples/twice.mlir"))
            .arg(cache)
            .arg(root().join("tests/capi/not_verified.tileirbc"))
            .arg(golden("call_local1.tilebc"))
            .arg(&library_file));
        assert_eq!(String::from_utf8(out.stdout).unwrap(), "ok\n");
        assert_eq!(String::from_utf8(out.stderr).unwrap(), "error: program is null\n", "{compiler}");
    }
}

/// The example compiles text and bytecode, with each library of the installed tree. Packing the static library takes
/// half a minute, so only the full tests do that; `make dist-test` links the example with that of a release.
#[test]
fn the_example() {
    let prefix = install();
    let source = root().join("examples/c/compile.c");
    let mut flags_of = vec![("shared", [flags(prefix.path(), "--cflags"), flags(prefix.path(), "--libs")].concat())];
    if std::env::var_os("TILEIRAS_TEST_FULL").is_some() {
        let mut pack = Command::new(env!("CARGO"));
        pack.args(["rustc", "-p", "tileiras-capi", "--lib", "--crate-type", "staticlib"]).current_dir(root());
        run(pack.arg("--target-dir").arg(profile().parent().unwrap()));
        let archive = prefix.path().join("lib/libtileiras.a");
        // Moved, because `install` would copy its 300 MB for every test.
        std::fs::copy(profile().join("libtileiras_capi.a"), &archive).unwrap();
        std::fs::remove_file(profile().join("libtileiras_capi.a")).unwrap();
        let mut all = flags(prefix.path(), "--cflags");
        let libraries = run(Command::new("pkg-config")
            .args(["--static", "--libs", "tileiras"])
            .env("PKG_CONFIG_PATH", prefix.path().join("lib/pkgconfig")));
        let libraries = String::from_utf8(libraries.stdout).unwrap();
        let words = libraries.split_whitespace();
        all.extend(
            words.map(|word| if word == "-ltileiras" { archive.display().to_string() } else { word.to_owned() }),
        );
        flags_of.push(("static", all));
    }
    for (kind, flags) in flags_of {
        let program = prefix.path().join(kind);
        let mut build = Command::new("gcc");
        build.args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-o"]).arg(&program).arg(&source).args(flags);
        run(&mut build);
        let example = || {
            let mut command = start(&program, prefix.path());
            // The libraries of LLVM are shared in a development build.
            let llvm = PathBuf::from(std::env::var_os("MLIR_SYS_210_PREFIX").unwrap()).join("lib");
            let libraries = std::env::join_paths([prefix.path().join("lib"), llvm]).unwrap();
            command.env("LD_LIBRARY_PATH", libraries).env("CUDA_HOME", toolkit()).current_dir(root());
            command
        };
        let compile = |input: &str, output: &str, cache: Option<&Path>| {
            let file = prefix.path().join(output);
            let out = run(example().args([input, "90"]).arg(&file).args(cache));
            (std::fs::read(file).unwrap(), String::from_utf8(out.stderr).unwrap())
        };
        let (ptx, said) = compile("examples/twice.mlir", "twice.ptx", None);
        assert!(String::from_utf8(ptx).unwrap().contains(".visible .entry twice"), "{kind}");
        assert!(said.starts_with("examples/twice.mlir:7:17: remark: Load: 512xf32: "), "{kind}: {said}");
        let cache = prefix.path().join(format!("{kind}-cache"));
        std::fs::create_dir(&cache).unwrap();
        let [first, second] = [0, 1].map(|_| compile("examples/vadd_f32_div16.tileirbc", "vadd.cubin", Some(&cache)));
        assert!(first.0.starts_with(b"\x7fELF") && first == second && first.1.is_empty(), "{kind}: {}", first.1);
        assert!(std::fs::read_dir(&cache).unwrap().count() > 0);
        let wrong = example().args(["Cargo.toml", "90", "x.ptx"]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&wrong.stderr), "error: input does not correspond to Tile IR bytecode\n");
        assert_eq!(wrong.status.code(), Some(1));
    }
}

#[test]
fn the_header_is_also_cpp_and_old_c() {
    let include = root().join("include");
    let source = tempfile::tempdir().unwrap();
    for (compiler, language, standard) in
        [("g++", "c++", "c++11"), ("clang++-21", "c++", "c++20"), ("gcc", "c", "c99"), ("clang-21", "c", "c17")]
    {
        let file = source.path().join(if language == "c" { "x.c" } else { "x.cpp" });
        std::fs::write(&file, "#include <tileiras.h>\nint main(void) { return tileirasProgramRelease(0); }\n").unwrap();
        run(Command::new(compiler)
            .args(["-fsyntax-only", "-Wall", "-Wextra", "-pedantic", "-Werror", &format!("-std={standard}"), "-I"])
            .arg(&include)
            .arg(&file));
    }
}

#[test]
fn cmake_finds_the_installed_tree() {
    let prefix = install();
    let project = prefix.path().join("project");
    std::fs::create_dir(&project).unwrap();
    std::fs::write(
        project.join("CMakeLists.txt"),
        "cmake_minimum_required(VERSION 3.20)\nproject(user LANGUAGES C)\n\
         find_package(Tileiras 0.1 REQUIRED CONFIG)\nadd_executable(user user.c)\n\
         target_link_libraries(user PRIVATE Tileiras::tileiras)\n",
    )
    .unwrap();
    std::fs::write(
        project.join("user.c"),
        "#include <stdio.h>\n#include <tileiras.h>\nint main(void) { puts(tileirasVersionString()); return 0; }\n",
    )
    .unwrap();
    let build = project.join("build");
    run(Command::new("cmake")
        .arg("-S")
        .arg(&project)
        .arg("-B")
        .arg(&build)
        .arg(format!("-DCMAKE_PREFIX_PATH={}", prefix.path().display())));
    run(Command::new("cmake").arg("--build").arg(&build));
    let out = run(start(&build.join("user"), prefix.path()).arg("x"));
    assert!(String::from_utf8(out.stdout).unwrap().starts_with("tileiras 0."));
}

/// 64 threads with a handle each, then one thread with many: identical bytes everywhere, and memory use that does not
/// grow.
#[test]
fn many_threads_and_many_compilations() {
    let prefix = install();
    let tools = quick_toolkit(prefix.path());
    let program = compile("gcc", "many", prefix.path());
    let full = std::env::var_os("TILEIRAS_TEST_FULL").is_some();
    for (threads, count) in [(64, 128), (1, if full { 10_000 } else { 200 })] {
        let out =
            run(start(&program, prefix.path()).arg(input()).arg(&tools).args([threads.to_string(), count.to_string()]));
        let text = String::from_utf8(out.stdout).unwrap();
        let numbers: Vec<u64> = text.split_whitespace().map(|n| n.parse().unwrap()).collect();
        let [before, after] = numbers[..] else { panic!("{text}") };
        println!("{threads} threads, {count} compilations: resident {before} KB after a tenth, {after} KB at the end");
        // Allocators keep the memory of the concurrent phase; a leak in the single-threaded phase would show as
        // growth.
        if threads == 1 {
            assert!(after < before + before / 5, "resident memory grew from {before} KB to {after} KB");
        }
    }
}

/// The Python module calls the library of the installed tree, with the same results as the command's.
#[test]
fn python_calls_the_library() {
    let prefix = install();
    let paths = [root().join("python/src"), root().join(".tools/python")];
    let mut command = Command::new("python3");
    command.args(["-B", "-m", "unittest", "-q", "python/tests/test_library.py"]).current_dir(root());
    command.env("TILEIRAS_BIN", prefix.path().join("bin")).env("CUDA_HOME", toolkit());
    run(command.env("PYTHONPATH", std::env::join_paths(paths).unwrap()));
}

/// The library finds entries of another process, and the command finds entries of the library. A server that is gone
/// causes one warning.
#[test]
fn a_remote_cache() {
    let prefix = install();
    let tools = quick_toolkit(prefix.path());
    let program = compile("gcc", "remote", prefix.path());
    let mut fake = tile_remote_tests::Fake::start();
    let address = fake.address();
    let library = |address: &str, times: usize| {
        let mut command = start(&program, prefix.path());
        command.env("TILEIRAS_REMOTE_CACHE_TIMEOUT", "20000");
        command.arg(input()).arg(&tools).args([address, &times.to_string()]);
        command
    };
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let plain = run(&mut library("-", 1));
    // A miss, then hits over the same connection, then a hit with the address from the environment.
    let out = run(&mut library(&address, 3));
    assert_eq!((text(&out.stderr), out.stdout == plain.stdout), (String::new(), true));
    let calls = |name| fake.calls(name);
    assert_eq!((calls("GetActionResult"), calls("UpdateActionResult"), calls("GetCapabilities")), (3, 1, 1));
    let out = run(library("-", 1).env("TILEIRAS_REMOTE_CACHE", &address));
    assert_eq!((out.stdout == plain.stdout, calls("GetActionResult"), calls("UpdateActionResult")), (true, 4, 1));
    // An empty address disables the cache, whatever the environment says.
    run(library("", 1).env("TILEIRAS_REMOTE_CACHE", &address));
    assert_eq!(calls("GetActionResult"), 4);
    let cubin = prefix.path().join("cubin");
    let mut command = start(&prefix.path().join("bin/tileiras"), prefix.path());
    command.env("CUDA_HOME", &tools).arg(input()).args(["--gpu-name=sm_90", "-o"]).arg(&cubin);
    command.arg(format!("--remote-cache={address}")).arg("--remote-cache-timeout=20000");
    run(&mut command);
    assert_eq!((std::fs::read(&cubin).unwrap() == plain.stdout, fake.results()), (true, 1));
    assert_eq!((fake.calls("GetActionResult"), fake.calls("UpdateActionResult")), (5, 1));
    fake.kill();
    let out = run(&mut library(&address, 3));
    let warning =
        format!("warning: the remote cache '{address}' cannot be reached: Connection refused; compiling without it\n");
    assert_eq!((text(&out.stderr), out.stdout == plain.stdout), (warning, true));
    let out = library("http://x:1", 1).output().unwrap();
    assert_eq!(out.status.code(), Some(5));
    assert!(text(&out.stderr).contains("the remote cache 'http://x:1' has the scheme 'http'"), "{}", text(&out.stderr));
}
