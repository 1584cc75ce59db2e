// Sinks instructions into the branch that needs them.
//
// LLVM's own sinking goes further. `instcombine` moves an instruction into the block of its only user, and so does
// the code generator, even if that block is on the same path and runs equally often. If the terms of a sum are
// computed in consecutive blocks, each addition moves to the next block, and all terms are live until the last one.
// NVPTX has unlimited registers, so no LLVM pass notices; ptxas spills:
//
//   a: %t1 = ...; %s1 = fadd %s0, %t1; br b               a: %t1 = ...; br b
//   b: %t2 = ...; %s2 = fadd %s1, %t2; br c      ->       b: %t2 = ...; br c
//   c: use %s2                                            c: %s1 = fadd %s0, %t1; %s2 = fadd %s1, %t2; use %s2
//
// Both are therefore disabled, and this pass replaces them. It sinks an instruction without effects whose users are
// all dominated by a block that does not always run after the instruction. The instruction moves to the beginning of
// that block, or the first of the equally frequent blocks above it, but never into a loop. Users are visited first,
// so chains move as a whole. A load only moves if no write intervenes. Values with many or distant users do not move,
// which keeps the running time linear.
#include "capi/mlirx.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
using namespace llvm;

namespace {
constexpr unsigned MostUses = 16;
// Limit of steps up the dominator tree.
constexpr unsigned MostSteps = 64;

class Sinker {
public:
  explicit Sinker(Function &function) : dominators(function), postDominators(function), loops(dominators) {
    dominators.updateDFSNumbers();
    postDominators.updateDFSNumbers();
  }

  unsigned run(Function &function) {
    unsigned count = 0;
    for (BasicBlock *block : post_order(&function)) {
      bool isWritten = false;
      for (Instruction &op : make_early_inc_range(reverse(*block))) {
        count += sink(op, isWritten);
        isWritten |= op.mayWriteToMemory();
      }
    }
    return count;
  }

private:
  bool sink(Instruction &op, bool isWritten) {
    if (!canMove(op) || op.use_empty() || op.hasNUsesOrMore(MostUses + 1))
      return false;
    BasicBlock *to = target(op);
    if (!to || (op.mayReadFromMemory() && (isWritten || to->getUniquePredecessor() != op.getParent())))
      return false;
    op.moveBefore(*to, to->getFirstInsertionPt());
    return true;
  }

  static bool canMove(const Instruction &op) {
    if (isa<PHINode, AllocaInst>(op) || op.isTerminator() || op.isEHPad() || op.mayHaveSideEffects())
      return false;
    // A call of a function may be convergent, which needs all threads of a warp.
    if (auto *call = dyn_cast<CallBase>(&op))
      return isa<IntrinsicInst>(call) && !call->isConvergent() && !call->mayReadFromMemory();
    auto *load = dyn_cast<LoadInst>(&op);
    return load ? load->isSimple() : !op.mayReadFromMemory();
  }

  // Returns a less frequent block that dominates all users, or null if there is none.
  BasicBlock *target(Instruction &op) {
    DomTreeNode *from = dominators.getNode(op.getParent()), *node = nullptr;
    unsigned steps = 0;
    for (Use &use : op.uses()) {
      auto *user = cast<Instruction>(use.getUser());
      auto *phi = dyn_cast<PHINode>(user);
      DomTreeNode *other = dominators.getNode(phi ? phi->getIncomingBlock(use) : user->getParent());
      if (!other)
        return nullptr;
      for (node = node ? node : other; node != other; ++steps) {
        if (steps == MostSteps)
          return nullptr;
        (node->getLevel() < other->getLevel() ? other : node) =
            (node->getLevel() < other->getLevel() ? other : node)->getIDom();
      }
    }
    // Goes up, out of loops, to the first of the equally frequent blocks.
    BasicBlock *found = nullptr;
    for (; node != from; node = node->getIDom(), ++steps) {
      if (steps == MostSteps)
        return nullptr;
      BasicBlock *block = node->getBlock(), *above = node->getIDom()->getBlock();
      bool isFirst = node->getIDom() == from || !runsAsOften(above, block);
      if (!found && isFirst && loops.getLoopFor(block) == loops.getLoopFor(op.getParent()) &&
          !postDominators.dominates(block, op.getParent()) && block->getFirstInsertionPt() != block->end())
        found = block;
    }
    return found;
  }

  bool runsAsOften(BasicBlock *above, BasicBlock *below) {
    return loops.getLoopFor(above) == loops.getLoopFor(below) && postDominators.dominates(below, above);
  }

  DominatorTree dominators;
  PostDominatorTree postDominators;
  LoopInfo loops;
};
} // namespace

unsigned mlirxLLVMModuleSinkIntoBranches(void *module) {
  unsigned count = 0;
  for (Function &function : *static_cast<Module *>(module))
    if (function.size() > 1)
      count += Sinker(function).run(function);
  return count;
}
