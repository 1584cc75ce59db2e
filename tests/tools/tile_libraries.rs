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
        ("call_local1.tilebc", &[SIMT, "-l", &cubin], 5, &["is an ELF object, perhaps a cubin; only PTX text"]),
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

pub fn trials() -> Vec<Trial> {
    functions![
        disassembly_and_round_trip_through_text,
        the_disassembler_needs_the_feature,
        calls_are_linked,
        errors_name_the_call_and_the_library
    ]
}
