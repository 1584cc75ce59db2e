//! Bodies of the fuzz targets of the whole path, from a file to PTX, so that a stable tool chain can run them too.
//!
//! They take arbitrary bytes and panic only if a promise is broken:
//!
//! * nothing ends the process, nothing panics, and no error is a defect of the compiler's own;
//! * each entry of a program that compiles is in its PTX;
//! * a program that does not compile has an error that says why, not only that a pass failed.

use crate::compile::{InProcess, Session};
use std::{cell::RefCell, path::Path};
use tile_bytecode::fuzzing;
use tile_diag::{Diagnostic, Severity};
use tile_interface::{CompileError, CompileRequest, Compiler, Emit, InputKind, input_kind};
use tile_targets::{TARGETS, Target};

/// Inputs that one context takes: it keeps every attribute and type that it ever saw.
const INPUTS: u32 = 200;

thread_local! {
    static SESSION: RefCell<(Option<Session>, u32)> = const { RefCell::new((None, 0)) };
}

/// A bytecode file, [`fuzzing::INSTRUCTIONS`] bytes that say how to damage a section (zeros: not at all), and a byte
/// that chooses the target and the level.
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

/// A byte that chooses the target and the level, and a text; or bytecode, which is a seed that has yet to become one.
pub fn text(data: &[u8]) {
    if let Some((choice, input)) = data.split_first() {
        compile(input, input_kind(Path::new("input"), input).unwrap_or(InputKind::Text), *choice);
    }
}

/// The text of a program in bytecode.
pub fn as_text(bytecode: &[u8]) -> Option<String> {
    let kind = input_kind(Path::new("input"), bytecode).ok()?;
    let target = Target::default_target();
    let request = CompileRequest { emit: Emit::CudaTile, ..CompileRequest::new(bytecode, kind, target) };
    Some(InProcess.compile(&request, &mut |_| {}).ok()?.text)
}

/// Compiles to PTX; `choice` is a number of both the target and the level.
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
    // What a pass makes of a panic.
    assert!(!messages.iter().any(|d| d.message.contains("internal error")), "{}", said());
    match result {
        Ok(output) => has_entries(input, kind, &output.text),
        Err(CompileError::Internal(text)) => panic!("{text}\n{}", said()),
        Err(CompileError::Configuration(text)) => panic!("of default options: {text}"),
        Err(CompileError::Input | CompileError::Failed) => assert!(messages.iter().any(is_reason), "{}", said()),
    }
}

/// Whether the message says what is wrong with the program.
fn is_reason(message: &Diagnostic) -> bool {
    let text = &message.message;
    let is_ours = text.starts_with("the pass '") || text == "the module is invalid after the passes";
    message.severity == Severity::Error && !is_ours
}

/// The entries of a bytecode file, which has its names where a reader that knows no MLIR finds them. Those of a text
/// the compiler itself looks for.
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
