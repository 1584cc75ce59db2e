//! Reports the ops of a portable function whose results differ between GPUs all the same (`docs/numerics.md`).
//!
//! | op | reason |
//! |---|---|
//! | product on a matrix unit | PTX does not define how an instruction adds its products |
//! | call of a library function | the library has its own code for each GPU |
//!
//! Ops whose results depend on timing are reported in every mode ([`timing`](super::timing)).

use crate::dialect::{
    attributes::PORTABLE,
    dots::{AnyDot, SharedDot},
    nv_tileas::ExternCallOp,
    remark::{self, remark},
    rt::*,
};

/// Reports each such op of a function, if the function is portable.
pub fn remark_on_portability(function: OpRef<'_>) {
    if !remark::wanted() || !PORTABLE.is_on(function) {
        return;
    }
    walk(function, &mut |op| {
        let dot = AnyDot::cast(op).and_then(AnyDot::instruction);
        let dot = dot.or_else(|| SharedDot::cast(op).and_then(SharedDot::instruction));
        if let Some(unit) = dot.and_then(|by| by.unit()) {
            let unit = unit.title();
            remark(
                op,
                remark::NOT_PORTABLE,
                format!("PTX does not define how {unit} adds the products of a step"),
                None,
            );
        } else if ExternCallOp::cast(op).is_some() {
            remark(op, remark::NOT_PORTABLE, "a library defines the bits of the function on each GPU", None);
        }
    });
}
