//! A custom pass: reports the number of loads in each entry, and fails if it exceeds an option.
//!
//! ```text
//! mlir-opt-21 --load-dialect-plugin=libcount_loads.so --load-pass-plugin=libcount_loads.so kernel.mlir \
//!     --pass-pipeline='builtin.module(cuda_tile.module(cuda_tile.entry(count-loads{limit=8})))'
//! ```

use melior::Context;
use std::ffi::CStr;
use tileiras::dialect::{
    cuda_tile::{EntryOp, LoadPtrTkoOp, LoadViewTkoOp},
    ffi::{MlirxOptionDesc, MlirxStatisticDesc},
    pass::{Failed, PassContext, RustPass, emit_remark, fail},
    rt::{OpRef, OpView, walk},
};

tileiras::plugin!(c"count-loads", c"0.1", CountLoads);

/// A pass is cloned for each thread that runs it. Its fields may hold state between operations.
#[derive(Clone, Default)]
struct CountLoads;

impl RustPass for CountLoads {
    const NAME: &'static CStr = c"CountLoads";
    const ARGUMENT: &'static CStr = c"count-loads";
    const DESCRIPTION: &'static CStr = c"loads of each entry";
    /// The operation that the pass runs on.
    const ANCHOR: &'static CStr = c"cuda_tile.entry";
    const OPTIONS: &'static [MlirxOptionDesc] = &[MlirxOptionDesc {
        name: c"limit".as_ptr(),
        description: c"maximum number of loads in an entry".as_ptr(),
        defaultValue: c"100".as_ptr(),
        // The option is an integer.
        kind: 1,
    }];
    const STATISTICS: &'static [MlirxStatisticDesc] = &[];
    /// The dialects of operations that the pass creates.
    const DIALECTS: &'static [&'static str] = &[];

    fn run<'c>(&mut self, op: OpRef<'c>, _: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        let mut loads = 0;
        walk(op, &mut |inner| {
            let is_load = LoadPtrTkoOp::cast(inner).is_some() || LoadViewTkoOp::cast(inner).is_some();
            loads += i64::from(is_load);
        });
        let entry = EntryOp::wrap(op);
        emit_remark(op, &format!("@{} has {loads} loads", entry.sym_name()));
        match cx.opt_int(0) {
            limit if loads > limit => Err(fail(op, format!("more than {limit} loads"))),
            _ => Ok(()),
        }
    }
}
