//! Limits the number of uses of a value, because some LLVM passes take quadratic time in it.
//!
//! A program with ten thousand accesses reads the thread index and the tensor's extent ten thousand times, and
//! several parts of LLVM visit all uses of a value for each use: `instcombine` at every branch that depends on it,
//! CodeGenPrepare at every use of an extended value, the register coalescer at every instruction that reads a
//! register for every copy of it. In such a program, a value is therefore used in at most [`MAX_BLOCKS`] blocks, and
//! further blocks use a copy. The copy is an inline PTX instruction that LLVM passes cannot see through and that
//! costs nothing in ptxas. Special registers such as the thread index are read once, at the beginning, because LLVM
//! visits all equal instructions when it meets one of them. Functions of at most [`LONG`] blocks are not changed.
//!
//! ```text
//! use %x, ... use %x            MAX_BLOCKS blocks
//! %y = asm "mov.b32 $0, $1;" (%x)
//! use %y, ... use %y            MAX_BLOCKS blocks, all dominated by the copy
//! ```

use inkwell::{module::Module, values::AsValueRef};
use llvm_sys::{LLVMTypeKind, core::*, prelude::*};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::hash_map::Entry;

/// The most blocks of a function that is not changed.
pub(super) const LONG: usize = 512;
/// The most blocks of a long function in which a value is used.
const MAX_BLOCKS: usize = 128;

/// Copies values that are used in too many blocks. Returns the number of copies.
pub fn bound(module: &Module<'_>) -> usize {
    module.get_functions().filter(|f| f.count_basic_blocks() as usize > LONG).map(|f| bound_in(f.as_value_ref())).sum()
}

fn bound_in(function: LLVMValueRef) -> usize {
    let blocks = Blocks::of(function);
    // SAFETY: the function and its contents are live; adding copies does not remove values.
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

/// The special registers that locate a thread in the grid. They do not change.
const SPECIAL_REGISTERS: [&str; 7] =
    ["tid.", "ctaid.", "ntid.", "nctaid.", "clusterid.", "nclusterid.", "cluster.ctarank"];

/// Reads each special register once, in the first block.
///
/// # Safety
/// The blocks must be all blocks of a live function, the first one first.
pub(super) unsafe fn read_once(blocks: &[LLVMBasicBlockRef]) {
    let mut first: FxHashMap<LLVMValueRef, LLVMValueRef> = FxHashMap::default();
    // SAFETY: the caller's promise; a read does not have operands, so it can be moved anywhere.
    unsafe {
        let builder =
            LLVMCreateBuilderInContext(LLVMGetModuleContext(LLVMGetGlobalParent(LLVMGetBasicBlockParent(blocks[0]))));
        let reads: Vec<_> = blocks.iter().flat_map(|b| instructions(*b)).filter(|i| is_special_register(*i)).collect();
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
pub(super) unsafe fn is_special_register(instruction: LLVMValueRef) -> bool {
    // SAFETY: the caller's promise; the name lives as long as the callee.
    unsafe {
        if LLVMIsACallInst(instruction).is_null() {
            return false;
        }
        let mut length = 0;
        let name = LLVMGetValueName2(LLVMGetCalledValue(instruction), &mut length);
        let name = std::slice::from_raw_parts(name as *const u8, length);
        let register = name.strip_prefix(b"llvm.nvvm.read.ptx.sreg.");
        register.is_some_and(|register| SPECIAL_REGISTERS.iter().any(|p| register.starts_with(p.as_bytes())))
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

/// The reachable blocks of a function, with the dominator tree.
struct Blocks {
    /// The blocks, each after its dominators.
    order: Vec<LLVMBasicBlockRef>,
    /// The interval of each block in the tree: its preorder and postorder numbers.
    interval: FxHashMap<LLVMBasicBlockRef, (usize, usize)>,
    /// The immediate dominator of each block.
    dominator: FxHashMap<LLVMBasicBlockRef, LLVMBasicBlockRef>,
}

/// A use of a value: the block in which it counts, the user, and the operand number.
struct Use {
    block: LLVMBasicBlockRef,
    user: LLVMValueRef,
    operand: u32,
}

/// A copy of a value, the block that holds it, and the number of blocks that use it.
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

    /// The highest dominator of `block`, or `block` itself, that does not dominate `other`. `other` must not be
    /// dominated by `block`.
    fn apart(&self, mut block: LLVMBasicBlockRef, other: LLVMBasicBlockRef) -> LLVMBasicBlockRef {
        while !self.dominates(self.dominator[&block], other) {
            block = self.dominator[&block];
        }
        block
    }

    /// The uses of a value in reachable blocks.
    ///
    /// # Safety
    /// The value must be live.
    unsafe fn uses(&self, value: LLVMValueRef) -> Vec<Use> {
        let mut uses = vec![];
        let mut seen = FxHashSet::default();
        // SAFETY: the caller's promise; all users of a function's values are instructions.
        unsafe {
            let mut next = LLVMGetFirstUse(value);
            while !next.is_null() {
                let user = LLVMGetUser(next);
                next = LLVMGetNextUse(next);
                // LLVM does not say which operand a use is, so all operands of a user are checked once.
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

    /// Redirects the uses of a value beyond the first [`MAX_BLOCKS`] blocks to copies.
    ///
    /// # Safety
    /// The value and the builder must be live.
    unsafe fn bound_uses(&self, builder: LLVMBuilderRef, value: LLVMValueRef) -> usize {
        // SAFETY: the caller's promise; a copy is at the beginning of a block that dominates its users, with no user
        // before it, and its operand dominates that block.
        unsafe {
            let Some(constraint) = constraint(value) else { return 0 };
            let mut uses = self.uses(value);
            if uses.len() <= MAX_BLOCKS {
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
                    if top.blocks > MAX_BLOCKS {
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

/// The reachable blocks in reverse post-order.
pub(super) fn reverse_post_order(entry: LLVMBasicBlockRef) -> Vec<LLVMBasicBlockRef> {
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

/// The immediate dominator of each block, by number; the first block is its own. Uses the algorithm of Cooper, Harvey
/// and Kennedy.
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

/// The PTX of a copy and the constraints of its operands, by the type of the value.
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

/// Copies a value at the beginning of a block.
///
/// # Safety
/// All must be live, and the value dominate the block.
unsafe fn copy(
    builder: LLVMBuilderRef,
    value: LLVMValueRef,
    block: LLVMBasicBlockRef,
    constraints: (&str, &str),
) -> LLVMValueRef {
    // SAFETY: the caller's promise.
    unsafe {
        let mut first = LLVMGetFirstInstruction(block);
        while !LLVMIsAPHINode(first).is_null() {
            first = LLVMGetNextInstruction(first);
        }
        LLVMPositionBuilderBefore(builder, first);
        call_asm(builder, LLVMTypeOf(value), value, constraints)
    }
}

/// Emits an inline PTX instruction with one operand.
///
/// # Safety
/// All must be live, the operand and the result fit the constraints, and the operand dominate the place of the builder.
pub(super) unsafe fn call_asm(
    builder: LLVMBuilderRef,
    result: LLVMTypeRef,
    mut value: LLVMValueRef,
    (text, constraints): (&str, &str),
) -> LLVMValueRef {
    // SAFETY: the caller's promise; the texts are copied.
    unsafe {
        let ty = LLVMFunctionType(result, &mut LLVMTypeOf(value), 1, 0);
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

    /// A sequence of branches that all use the same value: in the body of the branch, after it, and in a phi at the
    /// join.
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

    /// The number of copies, the most blocks in which a value is used, and the number of reads of the thread index.
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
        // The parameters %m and %p and the thread index. Each copy is a use of the value that it copies.
        assert!((3 * 4000 / MAX_BLOCKS..160).contains(&copies), "{copies}");
        assert!(most <= MAX_BLOCKS + 1, "{most}");
        assert_eq!(reads, 1);
    }

    #[test]
    fn ordinary_functions_stay_as_they_are() {
        // Each value is used in two of the three blocks of a branch.
        let branches = LONG / 3 - 1;
        assert_eq!(bounded(&program(branches)), (0, 2 * branches, branches));
    }
}
