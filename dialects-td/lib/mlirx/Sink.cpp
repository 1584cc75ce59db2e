// Moves what only a branch needs into the branch.
//
// LLVM's own passes that sink do more. `instcombine` moves an instruction into the block of its only user and the
// generator does the same, also where that block runs as often and is only further down the same path. Of a sum whose
// terms are computed in a row of blocks all terms live to the last block then, because each addition moves to the next
// one. NVPTX has no limit of registers, so that nothing in LLVM sees it; ptxas sees it and spills:
//
//   a: %t1 = ...; %s1 = fadd %s0, %t1; br b               a: %t1 = ...; br b
//   b: %t2 = ...; %s2 = fadd %s1, %t2; br c      ->       b: %t2 = ...; br c
//   c: use %s2                                            c: %s1 = fadd %s0, %t1; %s2 = fadd %s1, %t2; use %s2
//
// So both are switched off, and this is done in their place: an instruction without effects whose users are all below
// a block that does not always run after it goes to the beginning of that block, the first one of those that run
// equally often, and into no loop. Users come first, so that chains move as a whole. A load moves where nothing writes
// between. Values with many users stay, as do those whose users are far away, so that the time is linear.
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
// Steps up the tree of dominators.
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
    // A call of a function may need all threads of a warp.
    if (auto *call = dyn_cast<CallBase>(&op))
      return isa<IntrinsicInst>(call) && !call->isConvergent() && !call->mayReadFromMemory();
    auto *load = dyn_cast<LoadInst>(&op);
    return load ? load->isSimple() : !op.mayReadFromMemory();
  }

  // Where all users are and less often is run; null if there is no such place.
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
    // Up, out of loops and to the first block of those that run equally often.
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
