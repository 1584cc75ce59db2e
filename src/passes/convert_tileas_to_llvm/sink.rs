//! Reads of shared memory stand where their values are used.
//!
//! The translation reads a tile whole before anything is computed from it. A product of large tiles would hold all of
//! both operands in registers at once, next to its accumulator. So what is read from shared memory, and what is
//! computed from that alone, moves down to its first user; the instructions of a product then alternate with the reads
//! of the slices that they multiply. Nothing moves past what might write to shared memory or wait for other threads.

use crate::dialect::{llvm_types::SHARED, rt::*};
use melior::ir::{BlockLike, TypeLike};
use mlir_sys::*;
use rustc_hash::FxHashMap;

/// Rearranges the blocks of a function of the LLVM dialect that multiply.
pub(super) fn sink(function: OpRef<'_>) {
    let mut block = entry_block(region(function, 0));
    while let Some(b) = block {
        sink_in(b);
        // SAFETY: `b` is alive.
        let next = unsafe { mlirBlockGetNextInRegion(b.to_raw()) };
        // SAFETY: not null.
        block = (!next.ptr.is_null()).then(|| unsafe { Blk::from_raw(next) });
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

fn sink_in(block: Blk<'_>) {
    let ops: Vec<OpRef<'_>> = ops_of(block).collect();
    let roles: Vec<Role> = ops.iter().map(|o| role(*o)).collect();
    if !roles.contains(&Role::Read) || !ops.iter().any(|o| is_instruction(*o)) {
        return;
    }
    // Ops that depend on a read and on nothing else that could not move.
    let number: FxHashMap<usize, usize> = ops.iter().enumerate().map(|(i, o)| (op_key(*o), i)).collect();
    let mut from_read = vec![false; ops.len()];
    for (i, op) in ops.iter().enumerate() {
        let mut producers = operands(*op).filter_map(|v| defining_op(v).and_then(|p| number.get(&op_key(p))));
        from_read[i] = roles[i] == Role::Read || roles[i] == Role::Pure && producers.any(|&p| from_read[p]);
    }
    // For each op the op before which it will stand, its own place if it stays. Users are seen before their producers,
    // so a producer goes to the least place of its users. Ops that go to one place keep their order among themselves.
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
    for (i, &to) in place.iter().enumerate().filter(|(i, to)| i != *to && **to != GONE) {
        // SAFETY: both ops are alive and in one block.
        unsafe { mlirOperationMoveBefore(ops[i].to_raw(), ops[to].to_raw()) }
    }
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
