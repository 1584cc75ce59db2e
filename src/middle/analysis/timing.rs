//! Reports the ops whose results depend on the order of events at run time (`docs/numerics.md`).
//!
//! | op | depends on the order of arrival |
//! |---|---|
//! | atomic addition of floats | the sum, because each addition rounds |
//! | exchange, compare-and-swap | the last value, and the value that is returned |
//! | any other atomic update | only the old value, if it is used |
//! | sum of floats over the devices of a multicast object | the sum |
//!
//! Other updates commute, so the memory has the same bits in the end. The CTAs of a cluster exchange tiles through
//! barriers, in program order, so none of these exchanges is in the list.

use crate::dialect::{
    nv_tileaa::AtomicKind,
    nv_tileas::AnyOp,
    remark::{self, remark},
    rt::*,
};

/// Reports each such op of a function.
pub fn remark_on_timing(function: OpRef<'_>) {
    if !remark::wanted() {
        return;
    }
    walk(function, &mut |op| {
        if let Some(reason) = reason(op) {
            remark(op, remark::DEPENDS_ON_TIMING, reason, None);
        }
    });
}

const SUM: &str = "floats are added in the order of arrival, so the bits of the sum may differ from run to run";
const LAST: &str = "the order of arrival decides which value stays and which ones are returned";
const OLD: &str = "the old value depends on the order of arrival";
const DEVICES: &str = "PTX does not define the order in which the values of the devices are added";

fn reason(op: OpRef<'_>) -> Option<&'static str> {
    let updates = |kind: AtomicKind, returns: bool| match kind {
        AtomicKind::AddF => Some(SUM),
        AtomicKind::Xchg => Some(LAST),
        _ => returns.then_some(OLD),
    };
    match AnyOp::cast(op)? {
        AnyOp::AtomicRmwOp(x) => updates(x.kind(), has_uses(x.result())),
        AnyOp::TiledAtomicRmwOp(x) => updates(x.kind(), false),
        AnyOp::AtomicCasOp(_) => Some(LAST),
        AnyOp::MultimemReduceOp(x) => updates(x.kind(), false),
        AnyOp::MultimemLoadReduceOp(x) => (x.kind() == AtomicKind::AddF).then_some(DEVICES),
        _ => None,
    }
}
