// Verifiers of agents and of barriers.
//
// Checked here: every region has warps of its own, a power of two of them and all within the block; agents are not nested; no
// tensor in registers crosses into an agent; a barrier names its threads if it names itself.
// Not checked here: that accesses of different agents are ordered (`tileas-check-synchronization`), and registers.
#include "mlir/IR/OpImplementation.h"
#include "nv_tileas/NvTileAS.h"

using namespace mlir;
using namespace nv_tileas;

int64_t AgentSwitchOp::getFirstWarp(unsigned region) {
  int64_t first = 0;
  for (int64_t warps : getWarps().take_front(region))
    first += warps;
  return first;
}

LogicalResult AgentSwitchOp::verify() {
  if (getWarps().size() != getAgents().size())
    return emitOpError("has ") << getAgents().size() << " regions and warps for " << getWarps().size();
  if (getAgents().empty())
    return emitOpError("has no regions");
  for (int64_t warps : getWarps())
    if (warps <= 0 || (warps & (warps - 1)))
      return emitOpError("an agent has a power of two of warps, got ") << warps;
  Operation *around = (*this)->getParentOp();
  while (around && !isa<nv_tileaa::ThreadScopeOpInterface>(around))
    around = around->getParentOp();
  if (!around)
    return success();
  if (isa<AgentSwitchOp>(around))
    return emitOpError("stands inside of an agent");
  int64_t block = cast<nv_tileaa::ThreadScopeOpInterface>(around).getWarpCount(0);
  int64_t needed = getFirstWarp(getWarps().size());
  if (block >= 0 && needed > block)
    return emitOpError("needs ") << needed << " warps, and the block has " << block;
  return success();
}

LogicalResult AgentSwitchOp::verifyRegions() {
  for (Region &agent : getAgents()) {
    WalkResult result = agent.walk([&](Operation *op) {
      for (Value v : op->getOperands()) {
        if (!isa<RankedTensorType>(v.getType()) || agent.isAncestor(v.getParentRegion()))
          continue;
        op->emitOpError("uses a tensor in registers from outside of its agent");
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
  }
  return success();
}

LogicalResult BarrierOp::verify() {
  if (getId().has_value() != getThreads().has_value())
    return emitOpError("has an id without a number of threads, or the other way round");
  if (getId().value_or(0) > 15)
    return emitOpError("a block has barriers 0 to 15, got ") << *getId();
  if (getThreads().value_or(32) % 32)
    return emitOpError("whole warps meet, got ") << *getThreads() << " threads";
  return success();
}
