//! Body of the fuzz target of the text parser, which a stable toolchain can also run.
//!
//! It takes arbitrary bytes and panics only if one of these guarantees is broken:
//!
//! * The parser never crashes.
//! * A program that parses and verifies can be printed and parsed again, and is then printed as the same text. This
//!   holds for both forms.
//! * Bytecode that was written can be read, and is then written as the same bytes.

use crate::{dialect, translate};
use melior::{
    Context,
    ir::{
        Module,
        operation::{OperationLike, OperationPrintingFlags},
    },
};
use std::cell::RefCell;

/// Number of inputs in one context, because a context keeps every attribute and type that it creates.
const INPUTS: u32 = 500;

thread_local! {
    static CONTEXT: RefCell<Option<(Context, u32)>> = const { RefCell::new(None) };
}

/// Passes arbitrary bytes to the parser.
pub fn text(data: &[u8]) {
    let Ok(source) = std::str::from_utf8(data) else { return };
    if source.contains('\0') {
        return;
    }
    CONTEXT.with_borrow_mut(|slot| {
        let (context, inputs) = slot.get_or_insert_with(|| (fresh(), 0));
        check(context, source);
        *inputs += 1;
        if *inputs == INPUTS {
            *slot = None;
        }
    });
}

fn fresh() -> Context {
    // SAFETY: this changes a setting before the dialect is loaded.
    unsafe { dialect::ffi::cudaTileRegisterTestingOps(true) };
    let context = dialect::context();
    context.attach_diagnostic_handler(|_| true);
    context
}

fn check(context: &Context, source: &str) {
    let Some(module) = Module::parse(context, source) else { return };
    for generic in [false, true] {
        let first = print(&module, generic);
        let again =
            Module::parse(context, &first).unwrap_or_else(|| panic!("what was printed does not parse:\n{first}"));
        let second = print(&again, generic);
        assert!(first == second, "printed again:\n{second}\ninstead of\n{first}");
    }
    let version = translate::Version::new(13, 3);
    if let Ok(bytes) = translate::export(&module, version, translate::Profile::Public) {
        let read = translate::import(context, &bytes).unwrap_or_else(|e| panic!("{}", e.lines().join("\n")));
        let again =
            translate::export(&read, version, translate::Profile::Public).expect("what was read can be written");
        assert!(bytes == again, "the second writing differs");
    }
}

fn print(module: &Module, generic: bool) -> String {
    let flags = OperationPrintingFlags::new();
    let flags = if generic { flags.print_generic_operation_form() } else { flags };
    module.as_operation().to_string_with_flags(flags).expect("MLIR prints UTF-8")
}
