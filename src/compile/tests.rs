//! How a compilation ends when a pass does.

use super::*;
use crate::dialect::pass::{self, Failed, PassContext, RustPass};
use std::ffi::CStr;

/// A pass that ends as its type says.
macro_rules! ending {
    ($type:ident, $argument:literal, $end:expr) => {
        #[derive(Clone, Default)]
        struct $type;

        impl RustPass for $type {
            const NAME: &'static CStr = $argument;
            const ARGUMENT: &'static CStr = $argument;
            const DESCRIPTION: &'static CStr = c"Ends badly";
            const ANCHOR: &'static CStr = c"";
            const OPTIONS: &'static [ffi::MlirxOptionDesc] = &[];
            const STATISTICS: &'static [ffi::MlirxStatisticDesc] = &[];
            const DIALECTS: &'static [&'static str] = &[];

            fn run<'c>(&mut self, op: OpRef<'c>, _: &'c Context, _: &PassContext) -> Result<(), Failed> {
                let end: fn(OpRef<'_>) -> Failed = $end;
                Err(end(op))
            }
        }
    };
}

ending!(Panics, c"test-panics", |op| panic!("no way to go on from {}", op_name(op)));
ending!(Fails, c"test-fails", |op| pass::fail(op, "no way to do this"));

const KERNEL: &str = "cuda_tile.module @m {\n  entry @k() {\n    return\n  }\n}\n";

/// How the kernel's compilation ends with the passes put in, and what it says.
fn compiled(session: &Session, insertions: &[&str]) -> (Result<CompileOutput, CompileError>, Vec<String>) {
    let insertions: Vec<_> = insertions.iter().map(|text| text.parse().unwrap()).collect();
    let target = tile_targets::Target::by_name("sm_90").unwrap();
    let request =
        CompileRequest { insertions: &insertions, ..CompileRequest::new(KERNEL.as_bytes(), InputKind::Text, target) };
    let mut said = vec![];
    let result = session.compile(&request, &mut |d| said.push(d.message));
    (result, said)
}

/// A pass that panics is a defect of the compiler, at any depth, and one that refuses a program is not.
#[test]
fn a_panic_in_a_pass_is_an_internal_error() {
    let session = Session::new();
    pass::register::<Panics>();
    pass::register::<Fails>();
    let panicked = |op: &str| {
        let (text, said) = (format!("no way to go on from {op}"), "internal error in test-panics");
        let error = CompileError::Internal(format!("the pass 'test-panics' panicked: {text}"));
        (Err(error), vec![format!("{said}: {text}")])
    };
    let failed =
        (Err(CompileError::Failed), vec!["no way to do this".to_owned(), "the pass 'test-fails' failed".to_owned()]);
    assert_eq!(compiled(&session, &["end:tileaa:test-panics"]), panicked("builtin.module"));
    assert_eq!(compiled(&session, &["end:llvm:gpu.module(test-panics)"]), panicked("gpu.module"));
    // The panic before is forgotten, and the first pass to fail counts.
    assert_eq!(compiled(&session, &["end:tileaa:test-fails"]), failed);
    assert_eq!(compiled(&session, &["end:tileaa:test-fails", "end:tileas:test-panics"]), failed);
    assert!(compiled(&session, &[]).0.is_ok());
}
