//! Limits the number of loops in a row through which a number is handed on.
//!
//! Whenever a pass replaces a value or changes a loop, LLVM's analysis of loop counters forgets all numbers that
//! follow from it. The stage numbers and phases of rings are handed from each loop to the next one, so a kernel of N
//! loops would take N steps for each of its loops. In a long function, a number is therefore handed on through at most
//! [`MAX_PHIS`] phis, and then by a copy whose type the analysis does not follow: a float with the same bits. The copy
//! costs nothing in ptxas. Functions with few blocks are not changed.
//!
//! ```text
//! %a = phi i32 [ %before, %entry ], [ %next, %body ]        the last phi of a chain
//! %f = call float asm "mov.b32 $0, $1;", "=f,r"(i32 %a)
//! %b = bitcast float %f to i32
//! %c = phi i32 [ %b, %exit ], ...                           the first phi of another chain
//! ```

use super::fan_out::{self, LONG, instructions};
use inkwell::{module::Module, values::AsValueRef};
use llvm_sys::{LLVMTypeKind, core::*, prelude::*};
use rustc_hash::FxHashMap;

/// The most phis through which a number is handed on.
const MAX_PHIS: u32 = 32;

/// Cuts long chains of phis. Returns the number of copies.
pub fn bound(module: &Module<'_>) -> usize {
    let is_long = |f: &inkwell::values::FunctionValue<'_>| f.count_basic_blocks() as usize > LONG;
    module.get_functions().filter(is_long).map(|f| bound_in(f.as_value_ref())).sum()
}

fn bound_in(function: LLVMValueRef) -> usize {
    // SAFETY: the function is live and has a body; its instructions stay, and copies are in predecessors of their
    // users.
    unsafe {
        let order = fan_out::reverse_post_order(LLVMGetEntryBasicBlock(function));
        let number: FxHashMap<_, _> = order.iter().enumerate().map(|(i, &b)| (b, i)).collect();
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(LLVMGetGlobalParent(function)));
        let mut depths: FxHashMap<LLVMValueRef, u32> = FxHashMap::default();
        let mut count = 0;
        for (at, &block) in order.iter().enumerate() {
            for i in instructions(block) {
                if !is_followed(LLVMTypeOf(i)) {
                    continue;
                }
                // The depth of a value that comes around a loop is not known yet, and does not count.
                let depth_of = |v: LLVMValueRef| depths.get(&v).copied().unwrap_or(0);
                let operands = (0..LLVMGetNumOperands(i) as u32).map(|n| (n, LLVMGetOperand(i, n)));
                let mut depth = 0;
                if LLVMIsAPHINode(i).is_null() {
                    depth = operands.map(|(_, v)| depth_of(v)).max().unwrap_or(0);
                } else {
                    // A block with two edges to this one has the same value on both.
                    let mut copies: FxHashMap<LLVMBasicBlockRef, LLVMValueRef> = FxHashMap::default();
                    for (n, value) in operands {
                        let from = LLVMGetIncomingBlock(i, n);
                        if depth_of(value) < MAX_PHIS || number.get(&from).is_none_or(|from| *from >= at) {
                            depth = depth.max(depth_of(value));
                        } else if let Some(copy) = copies.get(&from) {
                            LLVMSetOperand(i, n, *copy);
                        } else if let Some(copy) = copy_at_end(builder, value, from) {
                            LLVMSetOperand(i, n, copy);
                            copies.insert(from, copy);
                            count += 1;
                        }
                    }
                    depth += 1;
                }
                depths.insert(i, depth);
            }
        }
        LLVMDisposeBuilder(builder);
        count
    }
}

/// Whether LLVM's analysis of loop counters follows values of a type.
///
/// # Safety
/// The type must be live.
unsafe fn is_followed(ty: LLVMTypeRef) -> bool {
    // SAFETY: the caller's promise.
    let kind = unsafe { LLVMGetTypeKind(ty) };
    matches!(kind, LLVMTypeKind::LLVMIntegerTypeKind | LLVMTypeKind::LLVMPointerTypeKind)
}

/// Copies a number at the end of a block; `None` if its type has no float of the same width.
///
/// # Safety
/// All must be live, and the value dominate the end of the block.
unsafe fn copy_at_end(builder: LLVMBuilderRef, value: LLVMValueRef, block: LLVMBasicBlockRef) -> Option<LLVMValueRef> {
    // SAFETY: the caller's promise; the width is asked of integers only.
    unsafe {
        let ty = LLVMTypeOf(value);
        if LLVMGetTypeKind(ty) != LLVMTypeKind::LLVMIntegerTypeKind {
            return None;
        }
        let context = LLVMGetTypeContext(ty);
        let (float, constraints) = match LLVMGetIntTypeWidth(ty) {
            1 | 32 => (LLVMFloatTypeInContext(context), ("mov.b32 $0, $1;", "=f,r")),
            64 => (LLVMDoubleTypeInContext(context), ("mov.b64 $0, $1;", "=d,l")),
            _ => return None,
        };
        LLVMPositionBuilderBefore(builder, LLVMGetBasicBlockTerminator(block));
        let is_bit = LLVMGetIntTypeWidth(ty) == 1;
        let word = LLVMInt32TypeInContext(context);
        let wide = if is_bit { LLVMBuildZExt(builder, value, word, c"".as_ptr()) } else { value };
        let bits = fan_out::call_asm(builder, float, wide, constraints);
        let copy = LLVMBuildBitCast(builder, bits, LLVMTypeOf(wide), c"".as_ptr());
        Some(if is_bit { LLVMBuildTrunc(builder, copy, ty, c"".as_ptr()) } else { copy })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inkwell::{context::Context, memory_buffer::MemoryBuffer};
    use std::fmt::Write;

    /// Loops in a row, of two blocks each. Each hands on a stage and whether it was entered.
    fn program(loops: usize) -> String {
        let mut text = String::from(
            "define ptx_kernel void @f(i32 %m, ptr addrspace(1) %p) {\nentry:\n  \
             %s0 = load volatile i32, ptr addrspace(1) %p\n  %q0 = icmp eq i32 %s0, 7\n  br label %l0\n",
        );
        for i in 0..loops {
            let (next, before) = (i + 1, if i == 0 { "%entry".into() } else { format!("%e{}", i - 1) });
            writeln!(
                text,
                "l{i}:\n  %a{i} = phi i32 [ %s{i}, {before} ], [ %b{i}, %l{i} ]\n  \
                 %x{i} = phi i1 [ %q{i}, {before} ], [ %y{i}, %l{i} ]\n  \
                 %n{i} = phi i32 [ 0, {before} ], [ %o{i}, %l{i} ]\n  %b{i} = add i32 %a{i}, 8\n  \
                 %y{i} = xor i1 %x{i}, true\n  %o{i} = add i32 %n{i}, 1\n  \
                 store volatile i32 %b{i}, ptr addrspace(1) %p\n  %c{i} = icmp slt i32 %o{i}, %m\n  \
                 br i1 %c{i}, label %l{i}, label %e{i}\n\
                 e{i}:\n  %s{next} = add i32 %b{i}, 1\n  %q{next} = xor i1 %y{i}, true\n  br label %l{next}"
            )
            .unwrap();
        }
        writeln!(
            text,
            "l{loops}:\n  %z = zext i1 %q{loops} to i32\n  %w = add i32 %z, %s{loops}\n  \
             store i32 %w, ptr addrspace(1) %p\n  ret void\n}}"
        )
        .unwrap();
        text
    }

    /// The number of copies, and the most instructions that follow from one through integers.
    fn bounded(text: &str) -> (usize, usize) {
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(format!("{text}\0").as_bytes(), "test");
        let module = context.create_module_from_ir(buffer).unwrap();
        let copies = bound(&module);
        module.verify().unwrap();
        let function = module.get_function("f").unwrap().as_value_ref();
        // SAFETY: the function and its instructions are live.
        let most = unsafe {
            let blocks = fan_out::reverse_post_order(LLVMGetEntryBasicBlock(function));
            blocks.iter().flat_map(|b| instructions(*b)).map(|i| followers(i)).max().unwrap()
        };
        (copies, most)
    }

    /// # Safety
    /// The instruction must be live.
    unsafe fn followers(instruction: LLVMValueRef) -> usize {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut work = vec![instruction];
        while let Some(i) = work.pop() {
            // SAFETY: the caller's promise; users of an instruction are instructions.
            unsafe {
                if !is_followed(LLVMTypeOf(i)) || !seen.insert(i) {
                    continue;
                }
                let mut next = LLVMGetFirstUse(i);
                while !next.is_null() {
                    work.push(LLVMGetUser(next));
                    next = LLVMGetNextUse(next);
                }
            }
        }
        seen.len()
    }

    #[test]
    fn few_values_follow_from_one() {
        let most = |loops: usize| bounded(&program(loops));
        let (copies, few) = most(LONG);
        let (twice, same) = most(2 * LONG);
        // The two numbers have chains of their own.
        assert!(copies >= 2 * (LONG / MAX_PHIS as usize - 1) && twice >= 2 * copies, "{copies} {twice}");
        assert!(few == same && few <= 10 * MAX_PHIS as usize, "{few} {same}");
    }

    #[test]
    fn two_edges_of_a_block_have_one_copy() {
        let text = program(LONG);
        let last = format!("l{LONG}:\n");
        let ends = format!("%w = add i32 %z, %s{LONG}");
        let both = format!(
            "{last}  br i1 %q{LONG}, label %end, label %end\nend:\n  \
             %both = phi i32 [ %s{LONG}, %l{LONG} ], [ %s{LONG}, %l{LONG} ]\n"
        );
        let changed = text.replace(&last, &both).replace(&ends, "%w = add i32 %z, %both");
        assert_eq!(bounded(&changed).0, bounded(&text).0 + 1);
    }

    #[test]
    fn ordinary_functions_stay_as_they_are() {
        let loops = LONG / 2 - 2;
        let (copies, most) = bounded(&program(loops));
        assert_eq!(copies, 0);
        assert!(most > 3 * loops, "{most}");
    }
}
