//! `convert-tileas-to-nvgpu` lowers barriers and async copy groups.
//!
//! `convert-tileas-to-llvm` turns tiles into registers and leaves ops without registers alone: barriers and groups of
//! asynchronous copies. They become NVVM barriers and the group ops of NVGPU.
//!
//! ```text
//! nv_tileas.barrier                  nvvm.barrier0
//! nv_tileas.async.commit             nvgpu.device_async_create_group %token
//! nv_tileas.async.wait pending n     nvgpu.device_async_wait %token {numGroups = n}
//! ```
//!
//! Groups complete in order and a wait counts them, so a token carries no value at run time. Each op gets a token
//! cast from a constant; `convert-nvgpu-to-nvvm` and `reconcile-unrealized-casts` remove it.

use crate::{
    dialect::{
        nv_tileas::{AsyncCommitOp, AsyncWaitOp, BarrierOp},
        pass::{Failed, PassContext, RustPass, descriptors, fail},
        rt::*,
        upstream::is_llvm_func,
    },
    pass_descriptor,
};
use melior::{
    Context,
    ir::{Type, attribute::IntegerAttribute, r#type::IntegerType},
};

#[derive(Clone, Default)]
pub struct ConvertTileASToNVGPU;

impl RustPass for ConvertTileASToNVGPU {
    pass_descriptor!(convert_tileas_to_nvgpu);

    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::convert_tileas_to_nvgpu::stat;
        let (mut barriers, mut commits, mut waits) = (vec![], vec![], vec![]);
        walk(op, &mut |o| {
            if in_function_of_llvm(o) {
                barriers.extend(BarrierOp::cast(o));
                commits.extend(AsyncCommitOp::cast(o));
                waits.extend(AsyncWaitOp::cast(o));
            }
        });
        let i32: Type<'c> = IntegerType::new(context, 32).into();
        let token_type = Type::parse(context, "!nvgpu.device.async.token")
            .ok_or_else(|| fail(op, "the nvgpu dialect is not loaded"))?;
        let token = |b: &Builder<'c>| {
            let zero = IntegerAttribute::new(i32, 0).into();
            let nothing = b.value("llvm.mlir.constant", i32, &[], &[("value", zero)]);
            b.value("builtin.unrealized_conversion_cast", token_type, &[nothing], &[])
        };
        for barrier in &barriers {
            let b = Builder::before(context, barrier.op());
            match (barrier.id(), barrier.threads()) {
                (Some(id), Some(threads)) => {
                    let int = |v: i64| {
                        b.value("llvm.mlir.constant", i32, &[], &[("value", IntegerAttribute::new(i32, v).into())])
                    };
                    let operands = [int(id), int(threads)];
                    let mut s = b.state("nvvm.barrier");
                    s.operands(&operands);
                    s.segments(&[1, 1]);
                    b.insert(s).map_err(|e| fail(barrier.op(), e.to_string()))?;
                }
                _ => {
                    b.create("nvvm.barrier0", &[], &[], &[]);
                }
            }
            erase(barrier.op());
        }
        // Lower waits first: they use groups, which then have no other use.
        for wait in &waits {
            let b = Builder::before(context, wait.op());
            let pending = IntegerAttribute::new(i32, wait.pending()).into();
            b.create("nvgpu.device_async_wait", &[], &[token(&b)], &[("numGroups", pending)]);
            erase(wait.op());
        }
        for commit in &commits {
            if let Some((user, _)) = uses(commit.group()).first() {
                return Err(fail(*user, "a group of copies can only be waited for"));
            }
            let b = Builder::before(context, commit.op());
            b.create("nvgpu.device_async_create_group", &[token_type], &[token(&b)], &[]);
            erase(commit.op());
        }
        for (statistic, n) in
            [(stat::NUM_BARRIERS, barriers.len()), (stat::NUM_GROUPS, commits.len()), (stat::NUM_WAITS, waits.len())]
        {
            cx.stat_add(statistic, n as i64);
        }
        Ok(())
    }
}

/// Whether the op is in the program of a single thread.
fn in_function_of_llvm(mut op: OpRef<'_>) -> bool {
    while let Some(parent) = parent_op(op) {
        if is_llvm_func(parent) {
            return true;
        }
        op = parent;
    }
    false
}
