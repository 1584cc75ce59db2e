//! The target of a pass.

use super::{
    pass::{Failed, fail},
    rt::OpRef,
};
use tile_targets::Target;

/// Returns the target named by the option `compute-capability` of a pass on `op`.
pub fn target(op: OpRef<'_>, name: &str) -> Result<&'static Target, Failed> {
    Target::by_name(name).ok_or_else(|| fail(op, format!("unknown target '{name}'")))
}

/// Returns the limit, in bytes, on all shared storage of a CTA; `extended` is the option `extended-smem`.
pub fn shared_limit(target: &Target, extended: bool) -> u64 {
    target.limits.static_shared(extended).into()
}
