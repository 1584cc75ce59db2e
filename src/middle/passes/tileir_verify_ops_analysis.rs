//! `tileir-verify-ops-analysis` checks that the program of one thread can run on the target.
//!
//! It checks for each `gpu.module` that
//!
//! * no op of the tile dialects is left; an op that no pass lowers is an error at its location;
//! * CTAs have at most as many threads as the target allows;
//! * the shared memory of a CTA fits the target's limit for a kernel;
//! * kernel parameters fit the parameter space of the PTX version.
//!
//! Register counts are not checked, because ptxas allocates registers. `tileas-check-synchronization` checks
//! barriers.

use crate::{
    dialect::{
        attributes::{NUM_WARPS, NVVM_KERNEL, REQNTID, SHARED_EXCEEDED},
        gpu_module::{functions, gpu_modules},
        pass::{Failed, PassContext, RustPass, descriptors, fail},
        rt::*,
        target::{shared_limit, target},
        upstream::{dialect_of, is_llvm_global},
    },
    pass_descriptor,
};
use melior::{
    Context,
    ir::{Type, TypeLike},
};
use mlir_sys::*;
use tile_targets::{PtxVersion, Target};

#[derive(Clone, Default)]
pub struct VerifyOpsAnalysis;

impl RustPass for VerifyOpsAnalysis {
    pass_descriptor!(tileir_verify_ops_analysis);

    fn run<'c>(&mut self, op: OpRef<'c>, _: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileir_verify_ops_analysis::{Options, stat};
        let target = target(op, Options(cx).compute_capability())?;
        let (mut left, mut ops) = (None, 0);
        walk(op, &mut |o| {
            ops += 1;
            if left.is_none() && TILE_DIALECTS.contains(&dialect_of(o)) {
                left = Some(o);
            }
        });
        if let Some(o) = left {
            return Err(fail(o, format!("'{}' was not lowered by any earlier pass", op_name(o))));
        }
        for module in gpu_modules(op) {
            shared_memory(module, target, Options(cx).extended_smem())?;
        }
        for function in functions(op).into_iter().filter(|f| NVVM_KERNEL.is_on(*f)) {
            threads(function, target)?;
            parameters(function, target)?;
        }
        cx.stat_add(stat::NUM_OPS, ops);
        cx.preserve_all();
        Ok(())
    }
}

const TILE_DIALECTS: &[&str] = &["cuda_tile", "nv_tileaa", "nv_tileas", "scf", "tensor"];

fn threads(kernel: OpRef<'_>, target: &Target) -> Result<(), Failed> {
    let threads = match (NUM_WARPS.get(kernel), REQNTID.get(kernel)) {
        (Some(warps), _) => warps * 32,
        (None, Some(block)) => block.into_iter().map(i64::from).product(),
        (None, None) => return Ok(()),
    };
    let most = i64::from(target.limits.threads_per_block);
    if threads > most {
        return Err(fail(
            kernel,
            format!("a block of {threads} threads exceeds the limit of {most} on {}", target.name),
        ));
    }
    Ok(())
}

fn shared_memory(module: OpRef<'_>, target: &Target, extended: bool) -> Result<(), Failed> {
    let (mut bytes, mut first) = (0, None);
    for global in entry_block(region(module, 0)).into_iter().flat_map(ops_of) {
        let space = attr(global, "addr_space").map_or(0, int_attr);
        if is_llvm_global(global) && space == 3 {
            first = first.or(Some(global));
            bytes += attr(global, "global_type").map_or(0, |t| size_of(held_type(t)));
        }
    }
    let most = shared_limit(target, extended);
    match first {
        Some(global) if bytes > most => {
            // The caller can retry with smaller requirements.
            SHARED_EXCEEDED.set(module, bytes as i64);
            let text =
                format!("tiles take {bytes} bytes of shared memory, but a block has only {most} on {}", target.name);
            Err(fail(global, text))
        }
        _ => Ok(()),
    }
}

/// PTX 8.1 raised the limit on kernel parameters.
const LARGE_PARAMETERS: PtxVersion = PtxVersion { major: 8, minor: 1 };

fn parameters(kernel: OpRef<'_>, target: &Target) -> Result<(), Failed> {
    let Some(entry) = entry_block(region(kernel, 0)) else { return Ok(()) };
    let bytes = args(entry).map(|a| size_of(ty(a))).fold(0u64, |end, size| end.next_multiple_of(size.max(1)) + size);
    let most = if target.llvm_ptx >= LARGE_PARAMETERS { 32_764 } else { 4_096 };
    if bytes > most {
        let text = format!("parameters take {bytes} bytes, but kernels for {} can take at most {most}", target.name);
        return Err(fail(kernel, text));
    }
    Ok(())
}

/// Returns the size in bytes of a lowered type: a number, a pointer, or an array or vector of them.
fn size_of(t: Type<'_>) -> u64 {
    // SAFETY: the type is alive, and its kind is checked before each accessor.
    unsafe {
        let raw = t.to_raw();
        if let Some(count) = array_count(t) {
            count * size_of(Type::from_raw(mlirLLVMArrayTypeGetElementType(raw)))
        } else if mlirTypeIsALLVMPointerType(raw) {
            8
        } else if mlirTypeIsAInteger(raw) {
            u64::from(mlirIntegerTypeGetWidth(raw)).div_ceil(8)
        } else if mlirTypeIsAFloat(raw) {
            u64::from(mlirFloatTypeGetWidth(raw)).div_ceil(8)
        } else if mlirTypeIsAVector(raw) {
            let element = Type::from_raw(mlirShapedTypeGetElementType(raw));
            (0..mlirShapedTypeGetRank(raw)).map(|d| mlirShapedTypeGetDimSize(raw, d as isize) as u64).product::<u64>()
                * size_of(element)
        } else {
            0
        }
    }
}

/// Returns the element count of an array type, which MLIR's C API does not expose.
fn array_count(t: Type<'_>) -> Option<u64> {
    t.to_string().strip_prefix("!llvm.array<")?.split_once(" x ")?.0.parse().ok()
}
