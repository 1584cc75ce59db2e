//! Files of tile libraries: the disassembly of NVIDIA's tool, and text that becomes the same file.

use melior::ir::{
    Module,
    operation::{OperationLike, OperationPrintingFlags},
};
use std::{fs, process::Command};
use tile_test_support::{Trial, functions, root};
use tileiras::{
    dialect,
    tools::listing,
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
        assert_eq!(listing(&module, false), expected, "{name}");
        for flags in [OperationPrintingFlags::new(), OperationPrintingFlags::new().print_generic_operation_form()] {
            let text = module.as_operation().to_string_with_flags(flags).unwrap();
            let parsed = Module::parse(&context, &text).unwrap_or_else(|| panic!("{name}: {text}"));
            let written = export(&parsed, Version::new(13, 5), Profile::Public).unwrap();
            let again = import_with_options(&context, &written, &options()).unwrap();
            assert_eq!(listing(&again, false), expected, "{name}");
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

pub fn trials() -> Vec<Trial> {
    functions![disassembly_and_round_trip_through_text, the_disassembler_needs_the_feature]
}
