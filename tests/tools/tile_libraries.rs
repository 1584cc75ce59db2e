//! Files of tile libraries: the disassembly of NVIDIA's tool, and text that becomes the same file.

use melior::ir::{
    Module,
    operation::{OperationLike, OperationPrintingFlags},
};
use std::{fs, process::Command};
use tile_test_support::{Trial, functions, root};
use tileiras::{
    dialect, tools,
    translate::{Profile, ReadOptions, Version, export, import_with_options},
};

/// The files with the output of NVIDIA's disassembler for each.
fn listings() -> Vec<(String, String)> {
    let text = fs::read_to_string(root().join("tests/bytecode/tilelib/listings.txt")).unwrap();
    let parts = text.split("== ").filter(|part| !part.is_empty());
    let parts: Vec<_> = parts.map(|part| part.split_once('\n').unwrap()).collect();
    assert_eq!(parts.len(), 45);
    parts.into_iter().map(|(name, listing)| (name.to_owned(), listing.to_owned())).collect()
}

/// The disassembly, without spaces at the end of lines.
fn listing(module: &Module<'_>) -> String {
    tools::listing(module, false).lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

fn data(name: &str) -> Vec<u8> {
    fs::read(root().join("tests/bytecode/tilelib").join(name)).unwrap()
}

fn options() -> ReadOptions {
    ReadOptions { preview: true, ..ReadOptions::default() }
}

/// Text of a file is parsed again, and writing it yields a file with the same disassembly.
fn disassembly_and_round_trip_through_text() {
    let context = dialect::context();
    for (name, expected) in listings() {
        let module = import_with_options(&context, &data(&name), &options()).unwrap();
        assert_eq!(listing(&module), expected, "{name}");
        for flags in [OperationPrintingFlags::new(), OperationPrintingFlags::new().print_generic_operation_form()] {
            let text = module.as_operation().to_string_with_flags(flags).unwrap();
            let parsed = Module::parse(&context, &text).unwrap_or_else(|| panic!("{name}: {text}"));
            let written = export(&parsed, Version::new(13, 5), Profile::Public).unwrap();
            let again = import_with_options(&context, &written, &options()).unwrap();
            assert_eq!(listing(&again), expected, "{name}");
            let direct = export(&module, Version::new(13, 5), Profile::Public).unwrap();
            assert_eq!(written, direct, "{name}: text loses something");
        }
    }
}

fn the_disassembler_needs_the_feature() {
    let file = root().join("tests/bytecode/tilelib/call_local1.tilebc");
    let run = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_tileirdisasm")).args(arguments).arg(&file).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
        (output.status.code().unwrap(), text)
    };
    let (status, text) = run(&[]);
    assert_eq!(status, 3, "{text}");
    assert!(text.contains("public-preview bytecode requires at least one enabled preview feature"), "{text}");
    for arguments in [&["--preview=simt"][..], &["--preview", "simt"], &["--preview=simt,simt"]] {
        let (status, text) = run(arguments);
        assert_eq!(status, 0, "{text}");
        assert!(text.contains("preview$call @f("), "{text}");
    }
    for (list, name) in [("foo", "foo"), ("", ""), ("SIMT", "SIMT"), ("simt,", "")] {
        let (status, text) = run(&[&format!("--preview={list}")]);
        let message = format!(
            "tileirdisasm: for the --preview option: unknown preview feature '{name}'; supported features: simt\n"
        );
        assert_eq!((status, text), (1, message));
    }
}

/// A folder for the files of a test.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    /// Writes the library of a case with this code. Returns its path.
    fn library(&self, case: &str, name: &str, code: &[u8]) -> String {
        let [interface, catalogue] = ["iface", "impl"].map(|part| data(&format!("{part}_{case}.tilebc")));
        self.file(name, &tile_library::create(&interface, &[catalogue, code.to_vec()]).unwrap())
    }

    fn file(&self, name: &str, bytes: &[u8]) -> String {
        let path = self.0.path().join(name);
        fs::write(&path, bytes).unwrap();
        path.display().to_string()
    }

    /// Compiles a golden file to PTX. Returns the status and the messages.
    fn compile(&self, input: &str, options: &[&str]) -> (i32, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_tileiras"))
            .arg(root().join("tests/bytecode/tilelib").join(input))
            .args(["--gpu-name=sm_90", "--emit=ptx", "-o"])
            .arg(self.0.path().join("out.ptx"))
            .args(options)
            .output()
            .unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    }

    fn ptx(&self) -> String {
        fs::read_to_string(self.0.path().join("out.ptx")).unwrap()
    }
}

/// A library's code: a function with one parameter that adds a number to the first element.
fn code(symbol: &str, parameter: &str, number: u32) -> String {
    format!(
        ".version 7.0\n.target sm_80\n.address_size 64\n.visible .func {symbol}(.param .{parameter} p)\n{{\n\
         .reg .b64 %a;\n.reg .u32 %v;\nld.param.b64 %a, [p];\nld.u32 %v, [%a];\nadd.u32 %v, %v, {number};\n\
         st.u32 [%a], %v;\nret;\n}}\n"
    )
}

const SIMT: &str = "--preview=simt";

fn calls_are_linked() {
    let folder = Folder::new();
    let library = folder.library("local1", "l.tilelib", code("sym", "b64", 1).as_bytes());
    let (status, text) = folder.compile("call_local1.tilebc", &[SIMT, "-l", &library]);
    assert_eq!((status, text.as_str()), (0, ""));
    let ptx = folder.ptx();
    assert!(ptx.contains(".visible .func sym(") && !ptx.contains(".extern .func sym"), "{ptx}");
    // Records without kernels compile to nothing.
    for input in ["iface_local1.tilebc", "impl_local1.tilebc"] {
        let (status, text) = folder.compile(input, &[SIMT]);
        assert_eq!((status, text.as_str()), (0, ""), "{input}");
        assert!(!folder.ptx().contains(".entry"), "{input}");
    }
    // Names and statuses of a library are part of the key of the cache, and so is its content.
    let cache = format!("--cache-dir={}", folder.0.path().join("cache").display());
    let mut texts = vec![];
    for number in [1, 2, 1] {
        folder.library("local1", "l.tilelib", code("sym", "b64", number).as_bytes());
        assert_eq!(folder.compile("call_local1.tilebc", &[SIMT, "-l", &library, &cache]).0, 0);
        texts.push(folder.ptx());
    }
    assert!(texts[0] != texts[1] && texts[0] == texts[2]);
}

fn errors_name_the_call_and_the_library() {
    let folder = Folder::new();
    let good = folder.library("local1", "good.tilelib", code("sym", "b64", 1).as_bytes());
    let again = folder.library("local32", "again.tilelib", code("sym", "b64", 1).as_bytes());
    let other = folder.library("local1", "other.tilelib", code("other", "b64", 1).as_bytes());
    let narrow = folder.library("local1", "narrow.tilelib", code("sym", "b32", 1).as_bytes());
    let newer = code("sym", "b64", 1).replace("sm_80", "sm_100");
    let newer = folder.library("local1", "newer.tilelib", newer.as_bytes());
    let clash = folder.library("local1", "clash.tilelib", (code("sym", "b64", 1) + ".func k() { ret; }\n").as_bytes());
    let cubin = folder.library("local1", "cubin.tilelib", b"\x7fELF\x02\x01\x01\x41");
    let less = folder.library("cover_less", "less.tilelib", code("sym", "b64", 1).as_bytes());
    let symbolic = folder.library("symbolic", "symbolic.tilelib", code("sym__N4", "b64", 1).as_bytes());
    let text = folder.file("text.tilelib", b"#!/bin/sh\n");
    let broken = "verification failed for deserialized cuda_tile::ModuleOp";
    let cases: &[(&str, &[&str], i32, &[&str])] = &[
        ("call_local1.tilebc", &[], 3, &["public-preview bytecode requires at least one enabled preview feature"]),
        ("call_local1.tilebc", &[SIMT], 5, &["no library declares the function '@f'", "name the library with -l FILE"]),
        ("call_local1.tilebc", &[SIMT, "-l", &text], 5, &["The file was not recognized as a valid object file"]),
        ("call_local1.tilebc", &[SIMT, "-l", &good, "-l", &again], 5, &["redefinition of symbol named 'f'", broken]),
        ("call_local32.tilebc", &[SIMT, "-l", &good], 5, &["op operand type mismatch at index 0", broken]),
        (
            "call_local1.tilebc",
            &[SIMT, "-l", &symbolic],
            5,
            &[
                "'cuda_tile.preview$call' op constant argument count (0) must match extern function constant parameter \
               count (1)",
                broken,
            ],
        ),
        ("call_cover_less.tilebc", &[SIMT, "-l", &less], 5, &["has no implementation of '@f'", "'@sym' does not fit"]),
        ("call_local1.tilebc", &[SIMT, "-l", &other], 5, &["no library defines the function 'sym'"]),
        ("call_local1.tilebc", &[SIMT, "-l", &narrow], 5, &["the parameters (b32), but its fragments are passed as"]),
        ("call_local1.tilebc", &[SIMT, "-l", &newer], 5, &["is for sm_100, which does not run on sm_90"]),
        ("call_local1.tilebc", &[SIMT, "-l", &clash], 5, &["both the program and the library", "define 'k'"]),
        (
            "call_local1.tilebc",
            &[SIMT, "-l", &cubin],
            5,
            &["is an ELF object, perhaps a cubin; only PTX, LLVM bitcode and"],
        ),
    ];
    for (input, options, expected, messages) in cases {
        let (status, text) = folder.compile(input, options);
        assert_eq!(status, *expected, "{options:?}: {text}");
        for message in *messages {
            assert!(text.contains(message), "{options:?}: {text}");
        }
    }
    // Text needs the feature as well.
    let context = dialect::context();
    let module = import_with_options(&context, &data("call_local1.tilebc"), &options()).unwrap();
    let input = folder.file("call.mlir", module.as_operation().to_string().as_bytes());
    let (status, text) = folder.compile(&input, &["--emit=cubin"]);
    assert_eq!(status, 5, "{text}");
    assert!(text.contains("a call of a library function requires the 'simt' preview feature"), "{text}");
}

/// A NumPy file with words.
fn npy(words: &[i32]) -> Vec<u8> {
    let header = format!("{{'descr': '<i4', 'fortran_order': False, 'shape': ({},), }}", words.len());
    let header = format!("{header:<117}\n");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(words.iter().flat_map(|w| w.to_le_bytes()));
    file
}

/// Host functions for the reference interpreter: sorts rows, and fails.
const HOST: &str = "#include <stdint.h>
int sort_rows(const void *const *operands, void *const *results, const int64_t *constants) {
  const int32_t *from = operands[0];
  int32_t *to = results[0];
  for (int i = 0; i < 128; ++i) {
    int smaller = 0;
    for (int j = i / 32 * 32; j < i / 32 * 32 + 32; ++j)
      smaller += from[j] < from[i] || (from[j] == from[i] && j < i);
    to[i / 32 * 32 + smaller] = from[i];
  }
  return 0;
}
";

/// `tile-run` links libraries, also where it compares each pass with the interpreter, which calls host functions.
fn kernels_with_calls_run() {
    let folder = Folder::new();
    let at = |name: &str| folder.0.path().join(name);
    let llvm = std::path::Path::new(env!("MLIR_SYS_210_PREFIX")).join("bin");
    let tools = std::path::Path::new(env!("CARGO_BIN_EXE_tileiras")).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{}:{path}", tools.display(), llvm.display());
    let build = root().join("examples/tile-libraries/build.sh");
    let done = Command::new("sh").arg(build).arg("bc").arg(at("")).arg("sort").env("PATH", &path).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let host = |name: &str, text: &str| {
        let source = folder.file(&format!("{name}.c"), text.as_bytes());
        let library = at(&format!("lib{name}.so"));
        let mut clang = Command::new(llvm.join("clang"));
        clang.args(["-shared", "-fPIC", "-O1", &source, "-o"]).arg(&library);
        assert!(clang.status().unwrap().success());
        library.display().to_string()
    };
    let good = host("good", HOST);
    let lazy = host("lazy", &HOST.replace("to[i / 32 * 32 + smaller] = from[i]", "to[i] = from[i]"));
    let failing = host("failing", &HOST.replace("return 0", "return 3"));
    let empty = host("empty", "int nothing;\n");

    let keys: Vec<i32> = (0..512).map(|i| i * 7919 % 1009 - 500).collect();
    let mut sorted = keys.clone();
    sorted.chunks_mut(32).for_each(<[i32]>::sort);
    let keys = folder.file("keys.npy", &npy(&keys)) + ":ptr";
    let kernel = root().join("examples/tile-libraries/sort/kernel.mlir");
    let library = at("sort.tilelib").display().to_string();
    let run = |options: &[&str]| {
        let _ = fs::remove_dir_all(at("out"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_tile-run"));
        command.arg(&kernel).args(["--grid=4", "--gpu-name=sm_90", "--quiet", &keys, "--out-dir"]).arg(at("out"));
        let output = command.args(options).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
        (output.status.code().unwrap(), said, fs::read(at("out/keys.npy")).ok())
    };
    let expected = Some(npy(&sorted));
    let reference = "--engine=reference";
    for options in
        [&["-l", &library][..], &["-l", &library, "--adversarial=1"], &[reference, "--host-functions", &good]]
    {
        let (status, said, after) = run(options);
        assert_eq!((status, said.as_str()), (0, ""), "{options:?}");
        assert!(after == expected, "{options:?}");
    }
    // The first library that has the function is used.
    let found = run(&[reference, "--host-functions", &empty, "--host-functions", &good]);
    assert!(found.0 == 0 && found.2 == expected, "{}", found.1);
    let each =
        |host: &str| run(&["-l", &library, "--check-each", "--host-functions", host, "--pipeline-option=pass-limit=1"]);
    let (status, said, _) = each(&good);
    assert_eq!(status, 0, "{said}");
    let (status, said, _) = each(&lazy);
    assert!(status == 7 && said.contains("wrong"), "{status}: {said}");
    for (options, status, message) in [
        (&[][..], 5, "no library declares the function '@sort_rows'"),
        (&["-l", "none"], 1, "none: No such file or directory"),
        (&[reference], 6, "no host function is registered for the function '@sort_rows'"),
        (&[reference, "--host-functions", &empty], 6, "no host function is registered"),
        (&[reference, "--host-functions", &failing], 6, "the host function of '@sort_rows' failed: it returned 3"),
        (&[reference, "--host-functions", "none.so"], 1, "none.so"),
        (&["--host-functions", &good], 1, "--host-functions needs --engine=reference"),
    ] {
        let (found, said, _) = run(options);
        assert!(found == status && said.contains(message), "{options:?}: {found}: {said}");
    }
}

pub fn trials() -> Vec<Trial> {
    functions![
        disassembly_and_round_trip_through_text,
        the_disassembler_needs_the_feature,
        calls_are_linked,
        errors_name_the_call_and_the_library,
        kernels_with_calls_run
    ]
}
