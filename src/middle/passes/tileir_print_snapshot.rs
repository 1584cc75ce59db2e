//! `tileir-print-snapshot`: the program as text on standard error, with the place of each op.
//!
//! For those who want to follow a line of the source through the compiler: the text names, op by op, the line that it
//! comes from. Nothing is changed, so line information leads to the source as without it.

use crate::{
    dialect::{
        pass::{Failed, PassContext, RustPass, descriptors, fail},
        rt::*,
    },
    pass_descriptor,
};
use melior::{
    Context,
    ir::operation::{OperationLike, OperationPrintingFlags},
};
use std::io::Write;

#[derive(Clone, Default)]
pub struct PrintSnapshot;

impl RustPass for PrintSnapshot {
    pass_descriptor!(tileir_print_snapshot);

    fn run<'c>(&mut self, op: OpRef<'c>, _: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileir_print_snapshot::Options;
        let after = Options(cx).after();
        // Places stand behind their ops instead of in a list of their own.
        let flags = OperationPrintingFlags::new().enable_debug_info(true, false).use_local_scope();
        let text = op.to_string_with_flags(flags).map_err(|e| fail(op, format!("no snapshot: {e}")))?;
        // One write, so that snapshots of programs that are compiled at the same time do not mix. Nobody who compiles
        // depends on the text: a closed standard error is no failure.
        let _ = std::io::stderr().write_all(format!("// ----- snapshot after {after} ----- //\n{text}\n").as_bytes());
        Ok(())
    }
}
