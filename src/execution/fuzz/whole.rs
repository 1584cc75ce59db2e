//! Bodies of the fuzz targets of the whole compiler, from a file to PTX, which a stable toolchain can also run.
//!
//! They take arbitrary bytes and panic only if one of these guarantees is broken:
//!
//! * The process does not end, nothing panics, and no error is an internal error of the compiler.
//! * The PTX of a program that compiles contains all its entries.
//! * A program that does not compile has an error with a reason, not just the name of the pass that failed.

use crate::compile::{InProcess, Session, is_conclusion};
use crate::dialect::pass::INTERNAL_ERROR;
use std::{cell::RefCell, path::Path};
use tile_bytecode::fuzzing;
use tile_diag::{Diagnostic, Severity};
use tile_interface::{CompileError, CompileRequest, Compiler, Emit, InputKind, input_kind};
use tile_targets::{TARGETS, Target};

/// Number of inputs in one context, because a context keeps every attribute and type that it creates.
const INPUTS: u32 = 200;

thread_local! {
    static SESSION: RefCell<(Option<Session>, u32)> = const { RefCell::new((None, 0)) };
}

/// The input is a bytecode file, [`fuzzing::INSTRUCTIONS`] bytes that describe how to damage a section (zeros: no
/// damage), and a byte that selects the target and the level.
pub fn bytecode(data: &[u8]) {
    let Some((choice, data)) = data.split_last() else { return };
    let file = match data.strip_suffix(&[0; fuzzing::INSTRUCTIONS]) {
        Some(file) => file.to_vec(),
        None => match fuzzing::damaged(data) {
            Some(file) => file,
            None => return,
        },
    };
    if let Ok(kind) = input_kind(Path::new("input"), &file) {
        compile(&file, kind, *choice);
    }
}

/// The input is a byte that selects the target and the level, and a text. It may also be bytecode, as in seeds of the
/// corpus.
pub fn text(data: &[u8]) {
    if let Some((choice, input)) = data.split_first() {
        compile(input, input_kind(Path::new("input"), input).unwrap_or(InputKind::Text), *choice);
    }
}

/// Converts a program in bytecode to text.
pub fn as_text(bytecode: &[u8]) -> Option<String> {
    let kind = input_kind(Path::new("input"), bytecode).ok()?;
    let target = Target::default_target();
    let request = CompileRequest { emit: Emit::CudaTile, ..CompileRequest::new(bytecode, kind, target) };
    Some(InProcess.compile(&request, &mut |_| {}).ok()?.text)
}

/// Compiles to PTX; `choice` encodes both the target and the level.
fn compile(input: &[u8], kind: InputKind, choice: u8) {
    let target = &TARGETS[usize::from(choice) % TARGETS.len()];
    let request =
        CompileRequest { input_name: "input", opt_level: choice / 64, ..CompileRequest::new(input, kind, target) };
    let mut messages = vec![];
    let result = SESSION.with_borrow_mut(|(session, inputs)| {
        let result = session.get_or_insert_with(Session::new).compile(&request, &mut |d| messages.push(d));
        *inputs += 1;
        if inputs.is_multiple_of(INPUTS) {
            *session = None;
        }
        result
    });
    let said = || messages.iter().map(tile_diag::render::plain).collect::<String>();
    // The message of a pass in which a panic was caught.
    assert!(!messages.iter().any(|d| d.message.contains(INTERNAL_ERROR)), "{}", said());
    match result {
        Ok(output) => has_entries(input, kind, &output.text),
        Err(CompileError::Internal(text)) => panic!("{text}\n{}", said()),
        Err(CompileError::Configuration(text)) => panic!("of default options: {text}"),
        Err(CompileError::Input | CompileError::Failed) => assert!(messages.iter().any(is_reason), "{}", said()),
    }
}

/// Whether the message describes an error in the program.
fn is_reason(message: &Diagnostic) -> bool {
    message.severity == Severity::Error && !is_conclusion(message)
}

/// Checks the entries of a bytecode file, whose names can be read without MLIR. For text, the compiler itself checks
/// them.
fn has_entries(input: &[u8], kind: InputKind, ptx: &str) {
    if kind == InputKind::Text {
        return;
    }
    let module = tile_bytecode::read(input, &tile_bytecode::ReadOptions::default()).expect("it has been compiled");
    let made = tile_targets::scan::scan(ptx).expect("PTX of the compiler's own").entries;
    for entry in &module.functions {
        let name = module.text(entry.name);
        assert!(made.iter().any(|m| m.name == name && m.body.is_some()), "no entry '{name}'");
    }
}
