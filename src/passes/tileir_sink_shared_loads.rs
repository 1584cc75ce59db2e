//! `tileir-sink-shared-loads`: reads of shared memory stand where their values are used.
//!
//! `convert-tileas-to-llvm` reads a tile whole before anything is computed from it. A product of large tiles would hold all
//! of both operands in registers at once, next to its accumulator. So in kernels with products of tiles what is read from
//! shared memory, and what is computed from that alone, moves down to its first user; the instructions of a product then
//! alternate with the reads of the fragments that they multiply:
//!
//! ```text
//! %a0 = ldmatrix; %a1 = ldmatrix                 %a0 = ldmatrix
//! %b = ldmatrix                                  %b = ldmatrix
//! mma %a0, %b                                    mma %a0, %b
//! mma %a1, %b                                    %a1 = ldmatrix
//!                                                mma %a1, %b
//! ```
//!
//! Nothing moves out of its block, and no read moves past what might write to shared memory or wait for other threads.
//! The order of the matrix instructions stays: it is the schedule.
//!
//! The pass works on the LLVM dialect because the unit that moves is one instruction, of which an op of `nv_tileas` stands
//! for many. It runs before anything else looks at that program, so that common subexpressions do not tie reads together.

use crate::{
    dialect::{
        gpu_module::{self, MULTIPLIES},
        llvm_types::SHARED,
        pass::{Failed, PassContext, RustPass, descriptors},
        rt::*,
    },
    pass_descriptor,
};
use melior::{
    Context,
    ir::{BlockLike, TypeLike},
};
use mlir_sys::*;
use rustc_hash::FxHashMap;

#[derive(Clone, Default)]
pub struct SinkSharedLoads;

impl RustPass for SinkSharedLoads {
    pass_descriptor!(tileir_sink_shared_loads);

    fn run<'c>(&mut self, op: OpRef<'c>, _: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileir_sink_shared_loads::stat;
        let multiplies = |f: &OpRef<'c>| discardable_attr(*f, MULTIPLIES).is_some();
        for function in gpu_module::functions(op).into_iter().filter(multiplies) {
            let mut block = entry_block(region(function, 0));
            while let Some(b) = block {
                cx.stat_add(stat::NUM_MOVED, sink_in(b) as i64);
                // SAFETY: `b` is alive.
                let next = unsafe { mlirBlockGetNextInRegion(b.to_raw()) };
                // SAFETY: not null.
                block = (!next.ptr.is_null()).then(|| unsafe { Blk::from_raw(next) });
            }
        }
        Ok(())
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Role {
    /// A read of shared memory.
    Read,
    /// Computes its results from its operands and nothing else.
    Pure,
    /// Reads must not pass it.
    Fence,
    /// Touches nothing that reads could see, but stays.
    Other,
}

fn role(op: OpRef<'_>) -> Role {
    let shared = |v: Val<'_>| {
        // SAFETY: the type is alive, and asked for its kind before its address space.
        unsafe {
            let t = ty(v).to_raw();
            mlirTypeIsALLVMPointerType(t) && mlirLLVMPointerTypeGetAddressSpace(t) == SHARED
        }
    };
    match op_name(op) {
        "llvm.load" if shared(operand(op, 0)) => Role::Read,
        "llvm.call_intrinsic" => match attr(op, "intrin").map(string_attr) {
            Some(name) if name.contains(".mma.") || name.contains(".prmt") => Role::Pure,
            _ => Role::Fence,
        },
        "llvm.call" => match attr(op, "callee").map(|a| a.to_string()) {
            // The device library computes and does nothing else.
            Some(name) if name.trim_start_matches('@').starts_with(tile_rtlib::PREFIX) => Role::Pure,
            _ => Role::Fence,
        },
        "llvm.inline_asm" if attr(op, "has_side_effects").is_none() => Role::Pure,
        "llvm.inline_asm" if attr(op, "asm_string").map(string_attr).is_some_and(|t| t.starts_with("ldmatrix")) => {
            Role::Read
        }
        "llvm.inline_asm" if attr(op, "asm_string").map(string_attr).is_some_and(|t| t.starts_with("mov.b")) => {
            Role::Other
        }
        "llvm.load" | "llvm.mlir.constant" | "llvm.mlir.addressof" => Role::Other,
        name if region_count(op) == 0 && is_pure(name) => Role::Pure,
        name if name.starts_with("nvvm.read.ptx.sreg") => Role::Other,
        _ => Role::Fence,
    }
}

fn is_pure(name: &str) -> bool {
    matches!(
        name,
        "llvm.add"
            | "llvm.and"
            | "llvm.ashr"
            | "llvm.bitcast"
            | "llvm.extractelement"
            | "llvm.extractvalue"
            | "llvm.fadd"
            | "llvm.fcmp"
            | "llvm.fmul"
            | "llvm.fneg"
            | "llvm.fpext"
            | "llvm.fptrunc"
            | "llvm.fsub"
            | "llvm.getelementptr"
            | "llvm.icmp"
            | "llvm.insertelement"
            | "llvm.intr.fma"
            | "llvm.lshr"
            | "llvm.mlir.poison"
            | "llvm.mlir.zero"
            | "llvm.mul"
            | "llvm.or"
            | "llvm.select"
            | "llvm.sext"
            | "llvm.shl"
            | "llvm.sub"
            | "llvm.trunc"
            | "llvm.xor"
            | "llvm.zext"
    )
}

/// The place of an op that has been erased.
const GONE: usize = usize::MAX;

/// Sinks what is read in one block; how many ops moved.
fn sink_in(block: Blk<'_>) -> usize {
    let ops: Vec<OpRef<'_>> = ops_of(block).collect();
    let roles: Vec<Role> = ops.iter().map(|o| role(*o)).collect();
    if !roles.contains(&Role::Read) || !ops.iter().any(|o| is_instruction(*o)) {
        return 0;
    }
    // Ops that depend on a read and on nothing else that could not move.
    let number: FxHashMap<usize, usize> = ops.iter().enumerate().map(|(i, o)| (op_key(*o), i)).collect();
    let mut from_read = vec![false; ops.len()];
    for (i, op) in ops.iter().enumerate() {
        let mut producers = operands(*op).filter_map(|v| defining_op(v).and_then(|p| number.get(&op_key(p))));
        from_read[i] = roles[i] == Role::Read || roles[i] == Role::Pure && producers.any(|&p| from_read[p]);
    }
    // For each op the op before which it will stand, its own place if it stays. Users are seen before their producers, so
    // a producer goes to the least place of its users. Ops that go to one place keep their order among themselves.
    let mut place: Vec<usize> = (0..ops.len()).collect();
    let mut fence = ops.len();
    for i in (0..ops.len()).rev() {
        if from_read[i] && !is_instruction(ops[i]) {
            // Elements that were taken out of a word and never used would hold the word back.
            if results(ops[i]).all(|r| !has_uses(r)) {
                erase(ops[i]);
                place[i] = GONE;
                continue;
            }
            let users: Option<Vec<usize>> =
                results(ops[i]).flat_map(uses).map(|(user, _)| number.get(&op_key(user)).copied()).collect();
            let first = users.and_then(|users| users.into_iter().map(|u| place[u]).min());
            let limit = if roles[i] == Role::Read { fence } else { ops.len() };
            place[i] = first.map_or(i, |first| first.min(limit));
        }
        if roles[i] == Role::Fence {
            fence = i;
        }
    }
    let moved = place.iter().enumerate().filter(|(i, to)| i != *to && **to != GONE);
    moved.map(|(i, &to)| move_before(ops[i], ops[to])).count()
}

/// The instructions of products, whose order is the schedule.
fn is_instruction(op: OpRef<'_>) -> bool {
    let text = match op_name(op) {
        "llvm.call_intrinsic" => attr(op, "intrin").map(string_attr),
        "llvm.inline_asm" => attr(op, "asm_string").map(string_attr),
        "llvm.intr.fma" => return true,
        _ => None,
    };
    text.is_some_and(|t| t.contains("mma."))
}
