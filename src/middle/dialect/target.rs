//! The target of a pass.

use super::{
    pass::{Failed, fail},
    rt::OpRef,
};
use tile_targets::Target;

/// The target that option `compute-capability` of a pass on `op` names.
pub fn target(op: OpRef<'_>, name: &str) -> Result<&'static Target, Failed> {
    Target::by_name(name).ok_or_else(|| fail(op, format!("unknown target '{name}'")))
}

/// Bytes of shared memory that all storages of a block together may take; `extended` is option `extended-smem`.
pub fn shared_limit(target: &Target, extended: bool) -> u64 {
    target.limits.static_shared(extended).into()
}
