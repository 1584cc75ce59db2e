//! `tileir-sink-shared-loads` sinks reads of shared memory to their uses.
//!
//! `convert-tileas-to-llvm` reads a whole tile before anything is computed from it. A dot of large tiles would hold
//! both operands in registers at once, in addition to its accumulator. In kernels with dots, the pass therefore sinks
//! reads of shared memory, and values computed only from them, to their first user. The instructions of a dot then
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
//! No op leaves its block, and no read moves past an op that may write shared memory or synchronize threads. The
//! matrix instructions keep their order, which is the schedule.
//!
//! The pass works on the LLVM dialect because it moves single instructions, many of which come from one op of
//! `nv_tileas`. It runs first on that program, before common subexpression elimination can merge parts of different
//! reads.

use crate::{
    dialect::{
        attributes::MULTIPLIES,
        behaviour::is_pure,
        gpu_module,
        llvm_types::SHARED,
        pass::{Failed, PassContext, RustPass, descriptors},
        rt::*,
        types::address_space,
        upstream::{Llvm, dialect_of},
    },
    pass_descriptor,
};
use melior::Context;
use rustc_hash::FxHashMap;

#[derive(Clone, Default)]
pub struct SinkSharedLoads;

impl RustPass for SinkSharedLoads {
    pass_descriptor!(tileir_sink_shared_loads);

    fn run<'c>(&mut self, op: OpRef<'c>, _: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileir_sink_shared_loads::stat;
        let multiplies = |f: &OpRef<'c>| MULTIPLIES.is_on(*f);
        for function in gpu_module::functions(op).into_iter().filter(multiplies) {
            let mut block = entry_block(region(function, 0));
            while let Some(b) = block {
                cx.stat_add(stat::NUM_MOVED, sink_in(b) as i64);
                block = next_block(b);
            }
        }
        Ok(())
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Role {
    /// Reads shared memory.
    Read,
    /// Computes its results only from its operands.
    Pure,
    /// Reads must not move past it.
    Fence,
    /// Is not visible to reads, but does not move.
    Other,
}

fn role(op: OpRef<'_>) -> Role {
    let shared = |v: Val<'_>| address_space(ty(v)) == Some(SHARED);
    let text = |name: &str| attr(op, name).map_or("", string_attr);
    match Llvm::of(op) {
        Some(Llvm::Load) if shared(operand(op, 0)) => Role::Read,
        Some(Llvm::CallIntrinsic) => match text("intrin") {
            name if name.contains(".mma.") || name.contains(".prmt") => Role::Pure,
            _ => Role::Fence,
        },
        Some(Llvm::Call) => match attr(op, "callee").map(|a| a.to_string()) {
            // Device library functions are pure.
            Some(name) if name.trim_start_matches('@').starts_with(tile_rtlib::PREFIX) => Role::Pure,
            _ => Role::Fence,
        },
        Some(Llvm::InlineAsm) if attr(op, "has_side_effects").is_none() => Role::Pure,
        Some(Llvm::InlineAsm) if text("asm_string").starts_with("ldmatrix") => Role::Read,
        Some(Llvm::InlineAsm) if text("asm_string").starts_with("mov.b") => Role::Other,
        Some(Llvm::Load | Llvm::Constant | Llvm::SpecialRegister) => Role::Other,
        _ if result_count(op) > 0 && region_count(op) == 0 && dialect_of(op) == "llvm" && is_pure(op) => Role::Pure,
        _ => Role::Fence,
    }
}

/// The position of an erased op.
const GONE: usize = usize::MAX;

/// Sinks the reads of one block. Returns the number of ops that moved.
fn sink_in(block: Blk<'_>) -> usize {
    let ops: Vec<OpRef<'_>> = ops_of(block).collect();
    let roles: Vec<Role> = ops.iter().map(|o| role(*o)).collect();
    if !roles.contains(&Role::Read) || !ops.iter().any(|o| is_instruction(*o)) {
        return 0;
    }
    // Find ops that depend on a read and on no op that must stay.
    let number: FxHashMap<usize, usize> = ops.iter().enumerate().map(|(i, o)| (op_key(*o), i)).collect();
    let mut from_read = vec![false; ops.len()];
    for (i, op) in ops.iter().enumerate() {
        let mut producers = operands(*op).filter_map(|v| defining_op(v).and_then(|p| number.get(&op_key(p))));
        from_read[i] = roles[i] == Role::Read || roles[i] == Role::Pure && producers.any(|&p| from_read[p]);
    }
    // For each op, the op that it moves before, or its own position if it stays. Users are visited before their
    // producers, so a producer moves to the lowest position of its users. Ops that move to the same position keep
    // their relative order.
    let mut place: Vec<usize> = (0..ops.len()).collect();
    let mut fence = ops.len();
    for i in (0..ops.len()).rev() {
        if from_read[i] && !is_instruction(ops[i]) {
            // Unused elements extracted from a word would hold the word back.
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

/// Whether an op is an instruction of a dot; their order is the schedule.
fn is_instruction(op: OpRef<'_>) -> bool {
    let text = match Llvm::of(op) {
        Some(Llvm::CallIntrinsic) => attr(op, "intrin").map(string_attr),
        Some(Llvm::InlineAsm) => attr(op, "asm_string").map(string_attr),
        Some(Llvm::Fma) => return true,
        _ => None,
    };
    text.is_some_and(|t| t.contains("mma."))
}
