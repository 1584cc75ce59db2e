//! `tileir-print-snapshot` prints the program with op locations on standard error.
//!
//! The snapshot lets users follow a source line through the compiler: each op is printed with the line it comes from.
//! The program does not change, so line information still refers to the source.

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
        let name = Options(cx).name();
        // Print locations inline, after their ops, instead of in a separate list.
        let flags = OperationPrintingFlags::new().enable_debug_info(true, false).use_local_scope();
        let text = op.to_string_with_flags(flags).map_err(|e| fail(op, format!("no snapshot: {e}")))?;
        // Use a single write, so that snapshots of programs compiled concurrently do not mix. Compilation does not
        // depend on the text: a closed standard error is not a failure.
        let _ = std::io::stderr().write_all(format!("// ----- snapshot {name} ----- //\n{text}\n").as_bytes());
        Ok(())
    }
}
