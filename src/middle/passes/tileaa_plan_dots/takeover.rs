//! Decides whether the CTAs of a kernel take over tile blocks that have not started (`tileas-dynamic-persistent`).

use crate::dialect::{
    attributes::STEPS_OF_PAIR,
    behaviour,
    nv_tileaa::{AnyOp, Ordering},
    pass::{Failed, Obstacle, fail},
    rt::*,
    upstream::Scf,
};
use tile_targets::{Feature, Target};

/// Whether kernels of a target take over tile blocks if they can. `asked` is the option of the pass.
///
/// Errors: the option is set on a target that cannot, or has another value.
pub(super) fn is_wanted(op: OpRef<'_>, asked: &str, target: &Target) -> Result<bool, Failed> {
    let can = target.has(Feature::ClusterLaunchControl);
    match asked {
        "true" if !can => {
            let text = "has no cluster launch control, so its CTAs cannot take over tile blocks";
            Err(fail(op, format!("dynamic-persistent=true: {} {text}", target.name)))
        }
        "auto" | "true" => Ok(can),
        "false" => Ok(false),
        other => Err(fail(op, format!("dynamic-persistent must be auto, true or false, got '{other}'"))),
    }
}

/// Checks that a kernel gains from taking over tile blocks, and that no tile block waits for another one: the CTA that
/// waits could be the one that would run the other later.
pub(super) fn check<'c>(function: OpRef<'c>, dots: &[OpRef<'c>]) -> Result<(), Obstacle<'c>> {
    let is_tile_block = |op: OpRef<'c>| op == function || STEPS_OF_PAIR.is_on(op) && parent_op(op) == Some(function);
    for dot in dots {
        let around = parent_op(*dot).filter(|around| Scf::of(*around) == Some(Scf::For));
        // A loop that stores results is a loop over tiles.
        let around = around.filter(|around| collect_ops(*around, |op| is_store(op).then_some(())).is_empty());
        if !around.and_then(parent_op).is_some_and(is_tile_block) {
            return Err((*dot, "the kernel is not one loop of dots for each tile block".into()));
        }
    }
    check_independent(function)
}

fn is_store(op: OpRef<'_>) -> bool {
    matches!(AnyOp::cast(op), Some(AnyOp::TiledStoreOp(_) | AnyOp::StoreOp(_) | AnyOp::ScatterStoreOp(_)))
}

/// Checks that no tile block waits for another one.
pub(super) fn check_independent<'c>(function: OpRef<'c>) -> Result<(), Obstacle<'c>> {
    let mut found = Ok(());
    walk(function, &mut |op| {
        if found.is_ok() && op != function && !is_independent(op) {
            found = Err((op, format!("'{}' may order tile blocks", op_name(op))));
        }
    });
    found
}

/// Whether an op neither waits for other tile blocks nor lets them wait.
fn is_independent(op: OpRef<'_>) -> bool {
    let weak = |ordering| ordering == Ordering::Weak;
    match AnyOp::cast(op) {
        Some(AnyOp::TiledLoadOp(x)) => weak(x.ordering()),
        Some(AnyOp::LoadOp(x)) => weak(x.ordering()),
        Some(AnyOp::GatherLoadOp(x)) => weak(x.ordering()),
        Some(AnyOp::TiledStoreOp(x)) => weak(x.ordering()),
        Some(AnyOp::StoreOp(x)) => weak(x.ordering()),
        Some(AnyOp::ScatterStoreOp(x)) => weak(x.ordering()),
        Some(AnyOp::ReduceOp(_) | AnyOp::ScanOp(_) | AnyOp::ReturnOp(_)) => true,
        _ => Scf::of(op).is_some() || behaviour::effects(op).is_some_and(|list| list.is_empty()),
    }
}
