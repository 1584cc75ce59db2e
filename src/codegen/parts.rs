//! Splits large functions, for which LLVM takes superlinear time.
//!
//! Several passes update a dominator tree that is as deep as the function is long: rotating, hoisting out of and
//! unrolling a loop visit all blocks after it. If one address has very many uses, the kill flags of its last use are
//! cleared at each of them. No single pass is at fault, so this module shortens the function instead. A kernel of
//! more than [`LONG`] blocks is split into parts of some hundred blocks, each a separate function that neither LLVM
//! nor ptxas inlines. A call every few thousand instructions costs next to nothing at run time. ptxas, which compiles
//! a kernel together with its callees, takes no longer and uses no more registers.
//!
//! A part is a run of blocks, in the order in which structured control flow was lowered, that is entered only at its
//! first block and left only to one block. A part may therefore be within the body of a loop, or be a sequence of
//! loops or branches. Among the blocks at which a part may end, the one with the fewest live registers is chosen:
//!
//! ```text
//! a: br p                     a: br c
//!                             c: %r = call @k$0(%m, %x)     define internal {i32} @k$0(i32 %m, i32 %x) noinline
//! p: ... %m ... %x              %v = extractvalue %r, 0       p: ... %m ... %x
//! q: %v = ...; br t              br t                         q: %v = ...; ret %v
//! t: ... %v                   t: ... %v
//! ```
//!
//! Deeply nested loops have the same problem, because passes process each loop with everything inside it. Loops at
//! every [`DEEP`]th level therefore become parts too, and no function has deeper ones.
//!
//! The threads of a warp that execute an operation together must arrive at the call of its part together. They are
//! synchronized before the call.
//!
//! Three kinds of functions are not split: functions that are neither long nor deep; kernels with asynchronous dots
//! or agents, because a call would save registers that are in flight or have been handed over; and functions with
//! line information, because their instructions belong to the function of their scope.

use super::fan_out;
use inkwell::{module::Module, values::AsValueRef};
use llvm_sys::{
    LLVMAttributeFunctionIndex, LLVMLinkage, LLVMOpcode, LLVMTypeKind, core::*, debuginfo::LLVMGetSubprogram,
    prelude::*,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

/// The most pieces of a function that is not split. A piece is a block, or a run of instructions of a long one.
const LONG: usize = 1024;
/// The instructions of a piece of a long block.
const PIECE: usize = 32;
/// The least, the preferred and the largest number of pieces of a part.
const MIN_PIECES: usize = 256;
const IDEAL_PIECES: usize = 512;
const MAX_PIECES: usize = 768;
/// The most 32-bit registers that are passed into a part or out of it.
const REGISTERS: i64 = 96;

/// The most levels of loops in a function.
const DEEP: usize = 32;

/// Whether [`cut`] would split any function.
pub fn is_large(module: &Module<'_>) -> bool {
    // SAFETY: the functions are live.
    module.get_functions().map(|f| f.as_value_ref()).any(|f| unsafe { is_long(f) || is_deep(f) })
}

unsafe fn is_long(function: LLVMValueRef) -> bool {
    // SAFETY: the function is live.
    unsafe {
        blocks_of(function).into_iter().map(|b| 1 + fan_out::instructions(b).count() / PIECE).sum::<usize>() > LONG
    }
}

unsafe fn is_deep(function: LLVMValueRef) -> bool {
    // SAFETY: the function is live.
    unsafe { LLVMCountBasicBlocks(function) as usize > 2 * DEEP && !Row::of(function).loops().is_empty() }
}

/// Splits large functions into parts. Returns the number of parts.
pub fn cut(module: &Module<'_>) -> usize {
    let mut count = 0;
    let functions: Vec<_> = module.get_functions().map(|f| f.as_value_ref()).collect();
    for function in functions {
        // SAFETY: the function is live, and its parts are.
        unsafe {
            let is_large = is_long(function) || is_deep(function);
            if !is_large || !LLVMGetSubprogram(function).is_null() || keeps_registers(function) {
                continue;
            }
            fan_out::read_once(&blocks_of(function));
            let row = Row::of(function);
            // From the inside out.
            let mut loops = row.loops();
            loops.reverse();
            let mut parts = take_out(function, &row, loops);
            count += parts.len();
            parts.push(function);
            for function in parts.into_iter().filter(|f| is_long(*f)) {
                let row = Row::of(function);
                count += take_out(function, &row, row.parts()).len();
            }
        }
    }
    count
}

/// Turns parts into functions. Each part is given with the piece that follows it.
///
/// # Safety
/// The row must be of the function, and must have returned the parts.
unsafe fn take_out(function: LLVMValueRef, row: &Row, parts: Vec<Cut>) -> Vec<LLVMValueRef> {
    // SAFETY: the caller's promise.
    unsafe {
        let ends: BTreeSet<_> = parts.iter().flat_map(|(part, after)| [part.start, part.end, *after]).collect();
        ends.into_iter().for_each(|piece| split_before(row.first[piece]));
        let block = |piece: usize| LLVMGetInstructionParent(row.first[piece]);
        // Find all blocks before the first part is removed, because phis at the start of pieces are replaced.
        let parts: Vec<_> = parts.into_iter().map(|(p, after)| [block(p.start), block(p.end), block(after)]).collect();
        // The block that replaces the first block of a removed part.
        let mut calls: FxHashMap<LLVMBasicBlockRef, LLVMBasicBlockRef> = FxHashMap::default();
        let mut taken = vec![];
        for [first, end, after] in parts {
            let [end, after] = [end, after].map(|b| *calls.get(&b).unwrap_or(&b));
            let blocks = blocks_between(first, end);
            let part = Part::new(function, &blocks, after);
            if part.is_narrow() {
                let (call, callee) = part.take_out(taken.len());
                calls.insert(first, call);
                taken.push(callee);
            }
        }
        taken
    }
}

unsafe fn blocks_of(function: LLVMValueRef) -> Vec<LLVMBasicBlockRef> {
    // SAFETY: the function is live.
    unsafe { blocks_between(LLVMGetFirstBasicBlock(function), std::ptr::null_mut()) }
}

/// The blocks from `first` up to `end`, exclusive.
unsafe fn blocks_between(first: LLVMBasicBlockRef, end: LLVMBasicBlockRef) -> Vec<LLVMBasicBlockRef> {
    let until = |b: LLVMBasicBlockRef| (!b.is_null() && b != end).then_some(b);
    // SAFETY: the blocks are live and of one function.
    std::iter::successors(until(first), |b| until(unsafe { LLVMGetNextBasicBlock(*b) })).collect()
}

/// Splits a block before an instruction. The preceding instructions move to a new block before it, so the phis of
/// later blocks need no update.
unsafe fn split_before(instruction: LLVMValueRef) {
    // SAFETY: the instruction is live, and is not a phi after another instruction.
    unsafe {
        let block = LLVMGetInstructionParent(instruction);
        if LLVMGetFirstInstruction(block) == instruction {
            return;
        }
        let context = LLVMGetModuleContext(LLVMGetGlobalParent(LLVMGetBasicBlockParent(block)));
        let entering = users(LLVMBasicBlockAsValue(block));
        let front = LLVMInsertBasicBlockInContext(context, block, c"".as_ptr());
        let builder = LLVMCreateBuilderInContext(context);
        LLVMPositionBuilderAtEnd(builder, front);
        let before: Vec<_> = fan_out::instructions(block).take_while(|i| *i != instruction).collect();
        for i in before {
            LLVMInstructionRemoveFromParent(i);
            LLVMInsertIntoBuilder(builder, i);
        }
        LLVMBuildBr(builder, block);
        LLVMDisposeBuilder(builder);
        for branch in entering {
            for n in (0..LLVMGetNumSuccessors(branch)).filter(|n| LLVMGetSuccessor(branch, *n) == block) {
                LLVMSetSuccessor(branch, n, front);
            }
        }
    }
}

/// Whether a function has instructions with registers that a call must not save.
///
/// # Safety
/// The function must be live.
unsafe fn keeps_registers(function: LLVMValueRef) -> bool {
    // SAFETY: the caller's promise.
    unsafe { calls_any(&blocks_of(function), &["wgmma", "tcgen05", "setmaxnreg"]) }
}

/// Whether a call in the blocks has one of the words in its name or in its inline PTX.
///
/// # Safety
/// The blocks must be live.
unsafe fn calls_any(blocks: &[LLVMBasicBlockRef], words: &[&str]) -> bool {
    // SAFETY: the caller's promise; texts and names live as long as their callees.
    unsafe {
        let all = blocks.iter().flat_map(|b| fan_out::instructions(*b));
        let mut calls = all.filter(|i| !LLVMIsACallInst(*i).is_null());
        calls.any(|i| {
            let (callee, mut length) = (LLVMGetCalledValue(i), 0);
            let is_inline = !LLVMIsAInlineAsm(callee).is_null();
            let text = if is_inline { LLVMGetInlineAsmAsmString } else { LLVMGetValueName2 }(callee, &mut length);
            let text = String::from_utf8_lossy(std::slice::from_raw_parts(text as *const u8, length));
            words.iter().any(|w| text.contains(w))
        })
    }
}

/// The pieces of a part, and the piece to which control goes from there.
type Cut = (Range<usize>, usize);

/// The pieces of a function in order, with the data needed to split it.
struct Row {
    /// The first instruction of each piece.
    first: Vec<LLVMValueRef>,
    successors: Vec<Vec<usize>>,
    /// The first and the last predecessor of each piece, if it has any.
    entered: Vec<(usize, usize)>,
    /// The live registers at the start of each piece.
    live: Vec<i64>,
    /// Whether a piece must stay in the function, because it returns or has an `alloca`.
    stays: Vec<bool>,
}

impl Row {
    /// # Safety
    /// The function must be live.
    unsafe fn of(function: LLVMValueRef) -> Row {
        let (mut first, mut stays, mut successors) = (vec![], vec![], vec![]);
        // The first and last piece of each block, and the piece of each instruction.
        let mut range: FxHashMap<LLVMBasicBlockRef, Range<usize>> = FxHashMap::default();
        let mut piece: FxHashMap<LLVMValueRef, usize> = FxHashMap::default();
        // SAFETY: the caller's promise; a phi's use is in the block that it comes from.
        unsafe {
            let blocks = blocks_of(function);
            for &block in &blocks {
                let begin = first.len();
                let mut length = 0;
                for i in fan_out::instructions(block) {
                    let opcode = LLVMGetInstructionOpcode(i);
                    if length == 0 || length >= PIECE && opcode != LLVMOpcode::LLVMPHI {
                        first.push(i);
                        stays.push(false);
                        length = 0;
                    }
                    length += 1;
                    piece.insert(i, first.len() - 1);
                    stays[first.len() - 1] |= matches!(opcode, LLVMOpcode::LLVMRet | LLVMOpcode::LLVMAlloca);
                }
                range.insert(block, begin..first.len() - 1);
            }
            for block in &blocks {
                let Range { start, end } = range[block];
                successors.extend((start..end).map(|p| vec![p + 1]));
                successors.push((0..).map_while(|n| fan_out::successor(*block, n)).map(|s| range[&s].start).collect());
            }
            let mut entered = vec![(usize::MAX, 0); first.len()];
            for (from, to) in successors.iter().enumerate().flat_map(|(i, s)| s.iter().map(move |s| (i, *s))) {
                entered[to] = (entered[to].0.min(from), entered[to].1.max(from));
            }
            // The change of live registers at the start of each piece.
            let mut more = vec![0; first.len() + 1];
            let mut note = |value: LLVMValueRef, defined: usize| {
                let ends_of = |phi| {
                    let from = incoming(phi).into_iter().filter(|(v, _)| *v == value);
                    from.map(|(_, b)| range[&b].end).max().unwrap_or(0)
                };
                let last_of = |user| if LLVMIsAPHINode(user).is_null() { piece[&user] } else { ends_of(user) };
                let last = users(value).into_iter().map(last_of).fold(defined, usize::max);
                let registers = if fan_out::is_special_register(value) { 0 } else { registers(LLVMTypeOf(value)) };
                more[defined + 1] += registers;
                more[last + 1] -= registers;
            };
            for n in 0..LLVMCountParams(function) {
                note(LLVMGetParam(function, n), 0);
            }
            for i in blocks.iter().flat_map(|b| fan_out::instructions(*b)) {
                note(i, piece[&i]);
            }
            let live = more.iter().scan(0, |live, more| {
                *live += more;
                Some(*live)
            });
            let live = live.take(first.len()).collect();
            Row { first, successors, entered, live, stays }
        }
    }

    /// The loops at each [`DEEP`]th level that can be parts, each with the piece that follows it, in order.
    fn loops(&self) -> Vec<Cut> {
        let mut end: BTreeMap<usize, usize> = BTreeMap::new();
        for (last, successors) in self.successors.iter().enumerate() {
            for &head in successors.iter().filter(|s| **s <= last) {
                end.insert(head, last + 1);
            }
        }
        let (mut open, mut loops): (Vec<usize>, _) = (vec![], vec![]);
        for (head, end) in end {
            while open.last().is_some_and(|end| *end <= head) {
                open.pop();
            }
            if !open.is_empty() && open.len() % DEEP == 0 {
                loops.extend(self.left_to(head..end).map(|after| (head..end, after)));
            }
            open.push(end);
        }
        loops
    }

    /// The single piece to which control leaves a run of pieces. Returns `None` if there are several, or if the run
    /// is entered anywhere but at its first piece.
    fn left_to(&self, part: Range<usize>) -> Option<usize> {
        let is_own = |piece: &usize| part.contains(piece);
        let is_entered_once = |p: usize| self.entered[p].0 >= part.start && self.entered[p].1 < part.end;
        let can_leave = part.start > 0 && part.end < self.first.len() && !self.stays[part.clone()].contains(&true);
        if !can_leave || !(part.start + 1..part.end).all(is_entered_once) {
            return None;
        }
        let mut left = part.clone().flat_map(|p| &self.successors[p]).filter(|s| !is_own(s));
        let after = *left.next()?;
        left.all(|s| *s == after).then_some(after)
    }

    /// The pieces of each part, with the piece that follows it. The first piece is never part of one.
    fn parts(&self) -> Vec<Cut> {
        let mut parts = vec![];
        let mut first = 1;
        while first + MIN_PIECES < self.live.len() {
            match self.part(first) {
                Some(part) => {
                    first = part.0.end;
                    parts.push(part);
                }
                None => first += 1,
            }
        }
        parts
    }

    /// The best part that begins at a piece.
    fn part(&self, first: usize) -> Option<Cut> {
        if self.live[first] > REGISTERS {
            return None;
        }
        // The pieces outside the part to which control leaves it.
        let mut targets: FxHashSet<usize> = FxHashSet::default();
        // The piece after the last one that enters the part.
        let mut whole = first;
        let mut best: Option<((i64, usize), Cut)> = None;
        for last in first..(first + MAX_PIECES).min(self.live.len() - 1) {
            let is_entered_elsewhere = last > first && self.entered[last].0 < first;
            if self.stays[last] || is_entered_elsewhere {
                break;
            }
            targets.remove(&last);
            if last > first {
                whole = whole.max(self.entered[last].1 + 1);
            }
            // Only the first piece may be entered from pieces after the part: it may be the header of a loop around
            // the part.
            targets.extend(self.successors[last].iter().filter(|s| **s < first || **s > last));
            let end = last + 1;
            let length = end - first;
            let [target] = *targets.iter().copied().collect::<Vec<_>>() else { continue };
            if length < MIN_PIECES || end < whole || self.live[end] > REGISTERS {
                continue;
            }
            let worth = (self.live[end], length.abs_diff(IDEAL_PIECES));
            if best.as_ref().is_none_or(|(least, _)| worth < *least) {
                best = Some((worth, (first..end, target)));
            }
        }
        best.map(|(_, part)| part)
    }
}

/// The approximate number of 32-bit registers of a value.
///
/// # Safety
/// The type must be live.
unsafe fn registers(ty: LLVMTypeRef) -> i64 {
    // SAFETY: the caller's promise; each question is asked of types that have an answer.
    unsafe {
        match LLVMGetTypeKind(ty) {
            LLVMTypeKind::LLVMVoidTypeKind => 0,
            LLVMTypeKind::LLVMIntegerTypeKind => i64::from(LLVMGetIntTypeWidth(ty).div_ceil(32)),
            LLVMTypeKind::LLVMDoubleTypeKind | LLVMTypeKind::LLVMPointerTypeKind => 2,
            LLVMTypeKind::LLVMVectorTypeKind => i64::from(LLVMGetVectorSize(ty)) * registers(LLVMGetElementType(ty)),
            LLVMTypeKind::LLVMArrayTypeKind => LLVMGetArrayLength2(ty) as i64 * registers(LLVMGetElementType(ty)),
            LLVMTypeKind::LLVMStructTypeKind => {
                (0..LLVMCountStructElementTypes(ty)).map(|n| registers(LLVMStructGetTypeAtIndex(ty, n))).sum()
            }
            _ => 1,
        }
    }
}

/// A part that is being moved out of its function.
struct Part<'b> {
    function: LLVMValueRef,
    blocks: &'b [LLVMBasicBlockRef],
    own: FxHashSet<LLVMBasicBlockRef>,
    after: LLVMBasicBlockRef,
    context: LLVMContextRef,
    builder: LLVMBuilderRef,
}

impl Drop for Part<'_> {
    fn drop(&mut self) {
        // SAFETY: only the part uses its builder.
        unsafe { LLVMDisposeBuilder(self.builder) }
    }
}

/// A phi of the block after a part, and the value that it receives from the part.
struct Joined {
    phi: LLVMValueRef,
    operand: u32,
    value: LLVMValueRef,
}

impl<'b> Part<'b> {
    /// # Safety
    /// The function must be live, and the blocks be in it.
    unsafe fn new(function: LLVMValueRef, blocks: &'b [LLVMBasicBlockRef], after: LLVMBasicBlockRef) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            let context = LLVMGetModuleContext(LLVMGetGlobalParent(function));
            let builder = LLVMCreateBuilderInContext(context);
            Part { function, blocks, own: blocks.iter().copied().collect(), after, context, builder }
        }
    }

    /// Whether the inputs and outputs fit in [`REGISTERS`].
    ///
    /// # Safety
    /// That of `take_out`.
    unsafe fn is_narrow(&self) -> bool {
        // SAFETY: the caller's promise.
        let sum = |values: Vec<LLVMValueRef>| values.iter().map(|v| unsafe { registers(LLVMTypeOf(*v)) }).sum::<i64>();
        // SAFETY: the same.
        unsafe { sum(self.inputs(None).0) <= REGISTERS && sum(self.outputs()) <= REGISTERS }
    }

    /// Moves the part into a new function and calls it. Returns the block of the call and the function.
    ///
    /// # Safety
    /// The part must be entered only at its first block and left only to the block after it.
    unsafe fn take_out(mut self, number: usize) -> (LLVMBasicBlockRef, LLVMValueRef) {
        // SAFETY: the caller's promise; replaced values do not have uses when they are erased.
        unsafe {
            let first = self.blocks[0];
            let call_block = LLVMInsertBasicBlockInContext(self.context, first, c"".as_ptr());
            let entered = self.enter_by(call_block);
            let leave = LLVMAppendBasicBlockInContext(self.context, self.function, c"".as_ptr());
            let joined = self.leave_by(leave, call_block);
            self.own.insert(leave);

            let (mut inputs, mut places) = self.inputs(Some(leave));
            for value in entered.iter().map(|(_, v)| *v).filter(|v| is_local(*v)) {
                let list = if fan_out::is_special_register(value) { &mut places } else { &mut inputs };
                if !list.contains(&value) {
                    list.push(value);
                }
            }
            let mut outputs = self.outputs();
            for value in joined.iter().map(|j| j.value).filter(|v| self.is_own(*v)) {
                if !outputs.contains(&value) {
                    outputs.push(value);
                }
            }

            let mut types: Vec<_> = outputs.iter().map(|v| LLVMTypeOf(*v)).collect();
            let result = if types.is_empty() {
                LLVMVoidTypeInContext(self.context)
            } else {
                LLVMStructTypeInContext(self.context, types.as_mut_ptr(), types.len() as u32, 0)
            };
            let mut types: Vec<_> = inputs.iter().map(|v| LLVMTypeOf(*v)).collect();
            let ty = LLVMFunctionType(result, types.as_mut_ptr(), types.len() as u32, 0);
            let callee = self.declare(ty, number);

            let entry = LLVMAppendBasicBlockInContext(self.context, callee, c"".as_ptr());
            let mut last = entry;
            for &block in self.blocks.iter().chain([&leave]) {
                LLVMMoveBasicBlockAfter(block, last);
                last = block;
            }
            LLVMPositionBuilderAtEnd(self.builder, entry);
            let mut inner: FxHashMap<LLVMValueRef, LLVMValueRef> =
                inputs.iter().enumerate().map(|(n, v)| (*v, LLVMGetParam(callee, n as u32))).collect();
            for place in places {
                let read = LLVMInstructionClone(place);
                LLVMInsertIntoBuilder(self.builder, read);
                inner.insert(place, read);
            }
            LLVMBuildBr(self.builder, first);
            for (phi, value) in entered {
                LLVMAddIncoming(phi, &mut { *inner.get(&value).unwrap_or(&value) }, &mut { entry }, 1);
            }
            self.rename(leave, &inner);

            LLVMPositionBuilderAtEnd(self.builder, leave);
            if outputs.is_empty() {
                LLVMBuildRetVoid(self.builder);
            } else {
                let mut results = self.written(&outputs);
                LLVMBuildAggregateRet(self.builder, results.as_mut_ptr(), results.len() as u32);
            }

            LLVMPositionBuilderAtEnd(self.builder, call_block);
            // Diverged threads of a warp would not synchronize inside the call.
            if calls_any(self.blocks, &[".sync"]) {
                self.meet();
            }
            let mut arguments = self.written(&inputs);
            let count = arguments.len() as u32;
            let call = LLVMBuildCall2(self.builder, ty, callee, arguments.as_mut_ptr(), count, c"".as_ptr());
            let mut outer = FxHashMap::default();
            for (n, output) in outputs.iter().enumerate() {
                let value = LLVMBuildExtractValue(self.builder, call, n as u32, c"".as_ptr());
                self.replace_outside(*output, value);
                outer.insert(*output, value);
            }
            for Joined { phi, operand, value } in joined {
                LLVMSetOperand(phi, operand, *outer.get(&value).unwrap_or(&value));
            }
            LLVMBuildBr(self.builder, self.after);
            (call_block, callee)
        }
    }

    /// Redirects edges into the part to the block of the call. Returns the remaining phis of the first block, each
    /// with the value that the call passes for it, which is still to be added.
    unsafe fn enter_by(&self, call_block: LLVMBasicBlockRef) -> Vec<(LLVMValueRef, LLVMValueRef)> {
        // SAFETY: that of `take_out`.
        unsafe {
            let first = self.blocks[0];
            let mut entered = vec![];
            for phi in phis(first) {
                let (inside, outside): (Vec<_>, Vec<_>) =
                    incoming(phi).into_iter().partition(|(_, b)| self.own.contains(b));
                LLVMPositionBuilderAtEnd(self.builder, call_block);
                let value = match outside[..] {
                    [(value, _)] => value,
                    _ => self.phi(LLVMTypeOf(phi), &outside),
                };
                if inside.is_empty() {
                    LLVMReplaceAllUsesWith(phi, value);
                } else {
                    LLVMPositionBuilderBefore(self.builder, phi);
                    let new = self.phi(LLVMTypeOf(phi), &inside);
                    LLVMReplaceAllUsesWith(phi, new);
                    entered.push((new, value));
                }
                LLVMInstructionEraseFromParent(phi);
            }
            self.redirect(first, call_block, false);
            entered
        }
    }

    /// Redirects edges out of the part to its last block. Returns the values that the phis of the following block
    /// receive from the call.
    unsafe fn leave_by(&self, leave: LLVMBasicBlockRef, call_block: LLVMBasicBlockRef) -> Vec<Joined> {
        // SAFETY: that of `take_out`.
        unsafe {
            let (mut joined, mut renewed) = (vec![], FxHashMap::default());
            for phi in phis(self.after) {
                let ty = LLVMTypeOf(phi);
                let (inside, mut outside): (Vec<_>, Vec<_>) =
                    incoming(phi).into_iter().partition(|(_, b)| self.own.contains(b));
                let is_same = inside.iter().all(|(v, _)| *v == inside[0].0);
                LLVMPositionBuilderAtEnd(self.builder, leave);
                let value = if is_same { inside[0].0 } else { self.phi(ty, &inside) };
                outside.push((LLVMGetPoison(ty), call_block));
                LLVMPositionBuilderBefore(self.builder, phi);
                let new = self.phi(ty, &outside);
                LLVMReplaceAllUsesWith(phi, new);
                renewed.insert(phi, new);
                joined.push(Joined { phi: new, operand: outside.len() as u32 - 1, value });
            }
            // Around a loop, the value of one phi may be another phi.
            for j in &mut joined {
                j.value = *renewed.get(&j.value).unwrap_or(&j.value);
            }
            renewed.into_keys().for_each(|phi| LLVMInstructionEraseFromParent(phi));
            self.redirect(self.after, leave, true);
            joined
        }
    }

    /// Freezes the values, because an undefined value must not be passed.
    unsafe fn written(&self, values: &[LLVMValueRef]) -> Vec<LLVMValueRef> {
        // SAFETY: that of `take_out`.
        values.iter().map(|v| unsafe { LLVMBuildFreeze(self.builder, *v, c"".as_ptr()) }).collect()
    }

    /// Emits a warp synchronization.
    unsafe fn meet(&self) {
        const NAME: &std::ffi::CStr = c"llvm.nvvm.bar.warp.sync";
        // SAFETY: that of `take_out`; the name is LLVM's.
        unsafe {
            let word = LLVMInt32TypeInContext(self.context);
            let id = LLVMLookupIntrinsicID(NAME.as_ptr(), NAME.count_bytes());
            let module = LLVMGetGlobalParent(self.function);
            let callee = LLVMGetIntrinsicDeclaration(module, id, std::ptr::null_mut(), 0);
            let ty = LLVMGlobalGetValueType(callee);
            LLVMBuildCall2(self.builder, ty, callee, &mut LLVMConstAllOnes(word), 1, c"".as_ptr());
        }
    }

    unsafe fn phi(&self, ty: LLVMTypeRef, from: &[(LLVMValueRef, LLVMBasicBlockRef)]) -> LLVMValueRef {
        // SAFETY: that of `take_out`.
        unsafe {
            let phi = LLVMBuildPhi(self.builder, ty, c"".as_ptr());
            let (mut values, mut blocks): (Vec<_>, Vec<_>) = from.iter().copied().unzip();
            LLVMAddIncoming(phi, values.as_mut_ptr(), blocks.as_mut_ptr(), from.len() as u32);
            phi
        }
    }

    /// Redirects branches to a block, inside or outside the part, to another block.
    unsafe fn redirect(&self, from: LLVMBasicBlockRef, to: LLVMBasicBlockRef, inside: bool) {
        // SAFETY: that of `take_out`; only terminators use a block.
        unsafe {
            for user in users(LLVMBasicBlockAsValue(from)) {
                if self.own.contains(&LLVMGetInstructionParent(user)) == inside {
                    for n in (0..LLVMGetNumSuccessors(user)).filter(|n| LLVMGetSuccessor(user, *n) == from) {
                        LLVMSetSuccessor(user, n, to);
                    }
                }
            }
        }
    }

    unsafe fn is_own(&self, value: LLVMValueRef) -> bool {
        // SAFETY: that of `take_out`.
        unsafe { !LLVMIsAInstruction(value).is_null() && self.own.contains(&LLVMGetInstructionParent(value)) }
    }

    /// The values that the part uses but does not define. Special registers are separate, because the part reads them
    /// itself.
    unsafe fn inputs(&self, leave: Option<LLVMBasicBlockRef>) -> (Vec<LLVMValueRef>, Vec<LLVMValueRef>) {
        let (mut inputs, mut places, mut seen) = (vec![], vec![], FxHashSet::default());
        // SAFETY: that of `take_out`.
        unsafe {
            for i in self.blocks.iter().copied().chain(leave).flat_map(|b| fan_out::instructions(b)) {
                for value in (0..LLVMGetNumOperands(i) as u32).map(|n| LLVMGetOperand(i, n)) {
                    if is_local(value) && !self.is_own(value) && seen.insert(value) {
                        if fan_out::is_special_register(value) { &mut places } else { &mut inputs }.push(value);
                    }
                }
            }
        }
        (inputs, places)
    }

    /// The values that the part defines and others use.
    unsafe fn outputs(&self) -> Vec<LLVMValueRef> {
        // SAFETY: that of `take_out`.
        unsafe {
            let all = self.blocks.iter().flat_map(|b| fan_out::instructions(*b));
            all.filter(|v| users(*v).iter().any(|u| !self.own.contains(&LLVMGetInstructionParent(*u)))).collect()
        }
    }

    /// Replaces the inputs within the part by its parameters.
    unsafe fn rename(&self, leave: LLVMBasicBlockRef, inner: &FxHashMap<LLVMValueRef, LLVMValueRef>) {
        // SAFETY: that of `take_out`.
        unsafe {
            for i in self.blocks.iter().chain([&leave]).flat_map(|b| fan_out::instructions(*b)) {
                for n in 0..LLVMGetNumOperands(i) as u32 {
                    if let Some(value) = inner.get(&LLVMGetOperand(i, n)) {
                        LLVMSetOperand(i, n, *value);
                    }
                }
            }
        }
    }

    /// Replaces the uses of an output outside the part.
    unsafe fn replace_outside(&self, value: LLVMValueRef, new: LLVMValueRef) {
        // SAFETY: that of `take_out`.
        unsafe {
            for user in users(value).into_iter().filter(|u| !self.own.contains(&LLVMGetInstructionParent(*u))) {
                for n in (0..LLVMGetNumOperands(user) as u32).filter(|n| LLVMGetOperand(user, *n) == value) {
                    LLVMSetOperand(user, n, new);
                }
            }
        }
    }

    /// Declares a function that is not inlined: LLVM writes `.noinline` for ptxas.
    unsafe fn declare(&self, ty: LLVMTypeRef, number: usize) -> LLVMValueRef {
        // SAFETY: that of `take_out`; the name is copied.
        unsafe {
            let mut length = 0;
            let name = LLVMGetValueName2(self.function, &mut length);
            let mut name = std::slice::from_raw_parts(name as *const u8, length).to_vec();
            name.extend(format!("${number}\0").bytes());
            let callee = LLVMAddFunction(LLVMGetGlobalParent(self.function), name.as_ptr().cast(), ty);
            LLVMSetLinkage(callee, LLVMLinkage::LLVMInternalLinkage);
            for attribute in [c"noinline", c"convergent", c"nounwind"] {
                let kind = LLVMGetEnumAttributeKindForName(attribute.as_ptr(), attribute.count_bytes());
                let attribute = LLVMCreateEnumAttribute(self.context, kind, 0);
                LLVMAddAttributeAtIndex(callee, LLVMAttributeFunctionIndex, attribute);
            }
            callee
        }
    }
}

/// Whether a value is local to a function: an instruction or a parameter.
unsafe fn is_local(value: LLVMValueRef) -> bool {
    // SAFETY: the value is live.
    unsafe { !LLVMIsAInstruction(value).is_null() || !LLVMIsAArgument(value).is_null() }
}

/// The users of a value, each once.
unsafe fn users(value: LLVMValueRef) -> Vec<LLVMValueRef> {
    let (mut users, mut seen) = (vec![], FxHashSet::default());
    // SAFETY: the value is live.
    unsafe {
        let mut next = LLVMGetFirstUse(value);
        while !next.is_null() {
            let user = LLVMGetUser(next);
            if seen.insert(user) {
                users.push(user);
            }
            next = LLVMGetNextUse(next);
        }
    }
    users
}

/// The phis at the beginning of a block.
unsafe fn phis(block: LLVMBasicBlockRef) -> Vec<LLVMValueRef> {
    // SAFETY: the block is live.
    unsafe { fan_out::instructions(block).take_while(|i| !LLVMIsAPHINode(*i).is_null()).collect() }
}

unsafe fn incoming(phi: LLVMValueRef) -> Vec<(LLVMValueRef, LLVMBasicBlockRef)> {
    // SAFETY: the phi is live.
    unsafe {
        (0..LLVMCountIncoming(phi)).map(|n| (LLVMGetIncomingValue(phi, n), LLVMGetIncomingBlock(phi, n))).collect()
    }
}
