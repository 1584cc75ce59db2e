//! Values with very many uses, which cost LLVM the square of their number.
//!
//! A program of ten thousand accesses asks the number of its thread and the extent of its tensor ten thousand times,
//! and several parts of LLVM look at all uses of a value for each of them: `instcombine` at every branch that depends
//! on it, the preparation for code generation at every use of an extended one, the register coalescer at every
//! instruction that reads a register for every copy of it. So in such a program a value is used in at most [`MOST`]
//! blocks, and the blocks that they dominate use a copy of it. The copy is an instruction of inline PTX that no pass
//! sees through, and costs ptxas nothing. What a block reads of its own place is read once, at the beginning: LLVM
//! looks at all equal instructions where it meets one of them. Functions with fewer blocks stay as they are.
//!
//! ```text
//! use %x, ... use %x            MOST blocks
//! %y = asm "mov.b32 $0, $1;" (%x)
//! use %y, ... use %y            MOST blocks, all of them behind the copy
//! ```

use inkwell::{module::Module, values::AsValueRef};
use llvm_sys::{LLVMTypeKind, core::*, prelude::*};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::hash_map::Entry;

/// In how many blocks a value is used, at most.
const MOST: usize = 512;

/// Copies what is used in too many blocks. Returns the number of copies.
pub fn bound(module: &Module<'_>) -> usize {
    module.get_functions().filter(|f| f.count_basic_blocks() as usize > MOST).map(|f| bound_in(f.as_value_ref())).sum()
}

fn bound_in(function: LLVMValueRef) -> usize {
    let blocks = Blocks::of(function);
    // SAFETY: the function is live, and so is what is in it; copies do not take values away.
    unsafe {
        read_once(&blocks.order);
        let mut values: Vec<_> = (0..LLVMCountParams(function)).map(|i| LLVMGetParam(function, i)).collect();
        for &block in &blocks.order {
            values.extend(instructions(block));
        }
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(LLVMGetGlobalParent(function)));
        let copies = values.into_iter().map(|v| blocks.bound_uses(builder, v)).sum();
        LLVMDisposeBuilder(builder);
        copies
    }
}

/// What a thread reads of its place in the grid, which stays the same.
const PLACES: [&str; 7] = ["tid.", "ctaid.", "ntid.", "nctaid.", "clusterid.", "nclusterid.", "cluster.ctarank"];

/// Reads each place once, in the first block.
///
/// # Safety
/// The blocks must be those of a live function, the first one first.
pub(super) unsafe fn read_once(blocks: &[LLVMBasicBlockRef]) {
    let mut first: FxHashMap<LLVMValueRef, LLVMValueRef> = FxHashMap::default();
    // SAFETY: the caller's promise; a read has no operands, so that it may stand anywhere.
    unsafe {
        let builder =
            LLVMCreateBuilderInContext(LLVMGetModuleContext(LLVMGetGlobalParent(LLVMGetBasicBlockParent(blocks[0]))));
        let reads: Vec<_> = blocks.iter().flat_map(|b| instructions(*b)).filter(|i| is_place(*i)).collect();
        for read in reads {
            let kept = *first.entry(LLVMGetCalledValue(read)).or_insert_with(|| {
                LLVMInstructionRemoveFromParent(read);
                LLVMPositionBuilderBefore(builder, LLVMGetFirstInstruction(blocks[0]));
                LLVMInsertIntoBuilder(builder, read);
                read
            });
            if kept != read {
                LLVMReplaceAllUsesWith(read, kept);
                LLVMInstructionEraseFromParent(read);
            }
        }
        LLVMDisposeBuilder(builder);
    }
}

/// # Safety
/// The instruction must be live.
pub(super) unsafe fn is_place(instruction: LLVMValueRef) -> bool {
    // SAFETY: the caller's promise; the name lives as long as the callee.
    unsafe {
        if LLVMIsACallInst(instruction).is_null() {
            return false;
        }
        let mut length = 0;
        let name = LLVMGetValueName2(LLVMGetCalledValue(instruction), &mut length);
        let name = std::slice::from_raw_parts(name as *const u8, length);
        let place = name.strip_prefix(b"llvm.nvvm.read.ptx.sreg.");
        place.is_some_and(|place| PLACES.iter().any(|p| place.starts_with(p.as_bytes())))
    }
}

/// # Safety
/// The block must be live.
pub(super) unsafe fn instructions(block: LLVMBasicBlockRef) -> impl Iterator<Item = LLVMValueRef> {
    // SAFETY: the caller's promise.
    let first = unsafe { LLVMGetFirstInstruction(block) };
    std::iter::successors((!first.is_null()).then_some(first), |i| {
        // SAFETY: the same.
        let next = unsafe { LLVMGetNextInstruction(*i) };
        (!next.is_null()).then_some(next)
    })
}

/// The blocks of a function that can be reached, with the tree of dominators.
struct Blocks {
    /// A block stands behind those that dominate it.
    order: Vec<LLVMBasicBlockRef>,
    /// Place in the tree by block: numbers at the way in and the way out, as a walk through the tree meets them.
    interval: FxHashMap<LLVMBasicBlockRef, (usize, usize)>,
    /// The block above each in the tree.
    dominator: FxHashMap<LLVMBasicBlockRef, LLVMBasicBlockRef>,
}

/// A use of a value: in which block it counts, by which instruction, as which operand.
struct Use {
    block: LLVMBasicBlockRef,
    user: LLVMValueRef,
    operand: u32,
}

/// A copy of a value, the block from which on it is used, and in how many blocks it is.
struct Copied {
    value: LLVMValueRef,
    from: Option<LLVMBasicBlockRef>,
    blocks: usize,
}

impl Blocks {
    fn of(function: LLVMValueRef) -> Blocks {
        // SAFETY: the function is live and has a body.
        let entry = unsafe { LLVMGetEntryBasicBlock(function) };
        let order = reverse_post_order(entry);
        let number: FxHashMap<_, _> = order.iter().enumerate().map(|(i, &b)| (b, i)).collect();
        let dominators = dominators(&order, &number);
        let mut children = vec![vec![]; order.len()];
        for (block, &dominator) in dominators.iter().enumerate().skip(1) {
            children[dominator].push(block);
        }
        let mut interval = vec![(0, 0); order.len()];
        let (mut clock, mut stack) = (0, vec![(0, 0)]);
        while let Some((block, next)) = stack.pop() {
            clock += 1;
            if next == 0 {
                interval[block].0 = clock;
            }
            match children[block].get(next) {
                Some(&child) => stack.extend([(block, next + 1), (child, 0)]),
                None => interval[block].1 = clock,
            }
        }
        Blocks {
            interval: order.iter().copied().zip(interval).collect(),
            dominator: order.iter().copied().zip(dominators.into_iter().map(|d| order[d])).collect(),
            order,
        }
    }

    fn dominates(&self, a: LLVMBasicBlockRef, b: LLVMBasicBlockRef) -> bool {
        let (a, b) = (self.interval[&a], self.interval[&b]);
        a.0 <= b.0 && b.1 <= a.1
    }

    /// The highest block that dominates `block`, or itself, and does not dominate `other`, which does not lie below it.
    fn apart(&self, mut block: LLVMBasicBlockRef, other: LLVMBasicBlockRef) -> LLVMBasicBlockRef {
        while !self.dominates(self.dominator[&block], other) {
            block = self.dominator[&block];
        }
        block
    }

    /// Uses of a value in blocks that can be reached.
    ///
    /// # Safety
    /// The value must be live.
    unsafe fn uses(&self, value: LLVMValueRef) -> Vec<Use> {
        let mut uses = vec![];
        let mut seen = FxHashSet::default();
        // SAFETY: the caller's promise; only instructions use what a function defines.
        unsafe {
            let mut next = LLVMGetFirstUse(value);
            while !next.is_null() {
                let user = LLVMGetUser(next);
                next = LLVMGetNextUse(next);
                // LLVM does not tell which operand it is: all of a user are looked at once.
                if !seen.insert(user) {
                    continue;
                }
                let is_phi = !LLVMIsAPHINode(user).is_null();
                for operand in 0..LLVMGetNumOperands(user) as u32 {
                    if LLVMGetOperand(user, operand) != value {
                        continue;
                    }
                    let block =
                        if is_phi { LLVMGetIncomingBlock(user, operand) } else { LLVMGetInstructionParent(user) };
                    if self.interval.contains_key(&block) {
                        uses.push(Use { block, user, operand });
                    }
                }
            }
        }
        uses
    }

    /// Has the uses of a value beyond the first so many blocks use copies.
    ///
    /// # Safety
    /// The value and the builder must be live.
    unsafe fn bound_uses(&self, builder: LLVMBuilderRef, value: LLVMValueRef) -> usize {
        // SAFETY: the caller's promise; a copy stands at the beginning of a block that dominates its users and no user
        // before them, and its operand dominates that block.
        unsafe {
            let Some(constraint) = constraint(value) else { return 0 };
            let mut uses = self.uses(value);
            if uses.len() <= MOST {
                return 0;
            }
            uses.sort_by_key(|u| self.interval[&u.block].0);
            let mut copies = vec![Copied { value, from: None, blocks: 1 }];
            let (mut count, mut last) = (0, None);
            for u in uses {
                while copies.last().and_then(|c| c.from).is_some_and(|from| !self.dominates(from, u.block)) {
                    copies.pop();
                }
                let before = last.replace(u.block).filter(|b| *b != u.block);
                if let (Some(before), Some(top)) = (before, copies.last_mut()) {
                    top.blocks += 1;
                    if top.blocks > MOST {
                        let from = self.apart(u.block, before);
                        let value = copy(builder, top.value, from, constraint);
                        copies.push(Copied { value, from: Some(from), blocks: 1 });
                        count += 1;
                    }
                }
                if let Some(Copied { value, from: Some(_), .. }) = copies.last() {
                    LLVMSetOperand(u.user, u.operand, *value);
                }
            }
            count
        }
    }
}

/// Blocks that can be reached, each behind those that dominate it.
fn reverse_post_order(entry: LLVMBasicBlockRef) -> Vec<LLVMBasicBlockRef> {
    let mut order = vec![];
    let mut seen: FxHashMap<LLVMBasicBlockRef, u32> = FxHashMap::from_iter([(entry, 0)]);
    let mut stack = vec![entry];
    while let Some(&block) = stack.last() {
        let Some(next) = seen.get_mut(&block) else { break };
        match successor(block, *next) {
            Some(successor) => {
                *next += 1;
                if let Entry::Vacant(new) = seen.entry(successor) {
                    new.insert(0);
                    stack.push(successor);
                }
            }
            None => {
                order.push(block);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}

pub(super) fn successor(block: LLVMBasicBlockRef, n: u32) -> Option<LLVMBasicBlockRef> {
    // SAFETY: the block is live, and a valid function's block has a terminator.
    unsafe {
        let terminator = LLVMGetBasicBlockTerminator(block);
        (n < LLVMGetNumSuccessors(terminator)).then(|| LLVMGetSuccessor(terminator, n))
    }
}

/// The number of each block's immediate dominator, by its own; the first block's is its own. The algorithm is that of
/// Cooper, Harvey and Kennedy.
fn dominators(order: &[LLVMBasicBlockRef], number: &FxHashMap<LLVMBasicBlockRef, usize>) -> Vec<usize> {
    let mut predecessors = vec![vec![]; order.len()];
    for (i, &block) in order.iter().enumerate() {
        for successor in (0..).map_while(|n| successor(block, n)) {
            predecessors[number[&successor]].push(i);
        }
    }
    const UNKNOWN: usize = usize::MAX;
    let mut dominator = vec![UNKNOWN; order.len()];
    dominator[0] = 0;
    let mut is_changed = true;
    while is_changed {
        is_changed = false;
        for block in 1..order.len() {
            let known = predecessors[block].iter().copied().filter(|p| dominator[*p] != UNKNOWN);
            let common = known.reduce(|mut a, mut b| {
                while a != b {
                    (a, b) = if a > b { (dominator[a], b) } else { (a, dominator[b]) };
                }
                a
            });
            if let Some(common) = common.filter(|c| *c != dominator[block]) {
                dominator[block] = common;
                is_changed = true;
            }
        }
    }
    dominator
}

/// The PTX of a copy, and the constraints of its operands, by a value's type.
///
/// # Safety
/// The value must be live.
unsafe fn constraint(value: LLVMValueRef) -> Option<(&'static str, &'static str)> {
    // SAFETY: the caller's promise; the width is asked of integers only.
    unsafe {
        let ty = LLVMTypeOf(value);
        Some(match (LLVMGetTypeKind(ty), ty) {
            (LLVMTypeKind::LLVMIntegerTypeKind, ty) => match LLVMGetIntTypeWidth(ty) {
                1 => ("mov.pred $0, $1;", "=b,b"),
                16 => ("mov.b16 $0, $1;", "=h,h"),
                32 => ("mov.b32 $0, $1;", "=r,r"),
                64 => ("mov.b64 $0, $1;", "=l,l"),
                _ => return None,
            },
            (LLVMTypeKind::LLVMPointerTypeKind, ty) => match LLVMGetPointerAddressSpace(ty) {
                0 | 1 => ("mov.b64 $0, $1;", "=l,l"),
                _ => return None,
            },
            (LLVMTypeKind::LLVMFloatTypeKind, _) => ("mov.b32 $0, $1;", "=f,f"),
            (LLVMTypeKind::LLVMDoubleTypeKind, _) => ("mov.b64 $0, $1;", "=d,d"),
            _ => return None,
        })
    }
}

/// A copy of a value at the beginning of a block.
///
/// # Safety
/// All must be live, and the value dominate the block.
unsafe fn copy(
    builder: LLVMBuilderRef,
    mut value: LLVMValueRef,
    block: LLVMBasicBlockRef,
    (text, constraints): (&str, &str),
) -> LLVMValueRef {
    // SAFETY: the caller's promise; the texts are copied.
    unsafe {
        let mut first = LLVMGetFirstInstruction(block);
        while !LLVMIsAPHINode(first).is_null() {
            first = LLVMGetNextInstruction(first);
        }
        LLVMPositionBuilderBefore(builder, first);
        let mut parameter = LLVMTypeOf(value);
        let ty = LLVMFunctionType(parameter, &mut parameter, 1, 0);
        let (text, constraints) = (text.as_bytes(), constraints.as_bytes());
        let asm = LLVMGetInlineAsm(
            ty,
            text.as_ptr().cast(),
            text.len(),
            constraints.as_ptr().cast(),
            constraints.len(),
            0,
            0,
            llvm_sys::LLVMInlineAsmDialect::LLVMInlineAsmDialectATT,
            0,
        );
        LLVMBuildCall2(builder, ty, asm, &mut value, 1, c"".as_ptr())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inkwell::{context::Context, memory_buffer::MemoryBuffer};
    use std::fmt::Write;

    /// A row of branches, the same value used in each, in the body of the branch and behind it, and at last by a node
    /// that joins.
    fn program(branches: usize) -> String {
        let mut text = String::from(
            "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n\
             define ptx_kernel void @f(i32 %m, ptr addrspace(1) %p, i1 %q) {\n  br label %h0\n",
        );
        for i in 0..branches {
            let next = i + 1;
            writeln!(
                text,
                "h{i}:\n  %c{i} = icmp sgt i32 %m, {i}\n  br i1 %c{i}, label %b{i}, label %j{i}\n\
                 b{i}:\n  %t{i} = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n  %s{i} = add i32 %t{i}, %m\n  \
                 store volatile i32 %s{i}, ptr addrspace(1) %p\n  br label %j{i}\n\
                 j{i}:\n  %x{i} = phi i32 [ %m, %h{i} ], [ %s{i}, %b{i} ]\n  \
                 store volatile i32 %x{i}, ptr addrspace(1) %p\n  br label %h{next}"
            )
            .unwrap();
        }
        writeln!(text, "h{branches}:\n  ret void\n}}").unwrap();
        text
    }

    /// The copies made, the most blocks in which a value is used, and how often a thread asks for its number.
    fn bounded(text: &str) -> (usize, usize, usize) {
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(format!("{text}\0").as_bytes(), "test");
        let module = context.create_module_from_ir(buffer).unwrap();
        let copies = bound(&module);
        module.verify().unwrap();
        let function = module.get_function("f").unwrap().as_value_ref();
        let blocks = Blocks::of(function);
        let mut most = 0;
        // SAFETY: the function is live.
        let values = unsafe {
            let parameters = (0..LLVMCountParams(function)).map(|i| LLVMGetParam(function, i));
            parameters.chain(blocks.order.iter().flat_map(|b| instructions(*b))).collect::<Vec<_>>()
        };
        for value in values {
            // SAFETY: the value is live.
            let uses = unsafe { blocks.uses(value) };
            most = most.max(uses.iter().map(|u| u.block).collect::<FxHashSet<_>>().len());
        }
        let printed = module.print_to_string().to_string();
        (copies, most, printed.matches("call i32 @llvm.nvvm.read.ptx.sreg.tid.x").count())
    }

    #[test]
    fn no_value_is_used_in_too_many_blocks() {
        let (copies, most, reads) = bounded(&program(4000));
        // The parameters %m and %p and the number of the thread; each copy is a use of what it copies.
        assert!((3 * 4000 / MOST..40).contains(&copies), "{copies}");
        assert!(most <= MOST + 1, "{most}");
        assert_eq!(reads, 1);
    }

    #[test]
    fn ordinary_functions_stay_as_they_are() {
        // Each of the values is used in two of the three blocks of a branch.
        let branches = MOST / 3 - 1;
        assert_eq!(bounded(&program(branches)), (0, 2 * branches, branches));
    }
}
