// Verifiers of agents and of barriers.
//
// Checked here: every region has warps of its own, a power of two of them and all within the block; agents are not nested; no
// tensor in registers crosses into an agent; a barrier names its threads if it names itself; those that take turns are
// whole warpgroups of one agent, not one thread of it, and what they take is given and ended in the same agent.
// Not checked here: that turns are given as often as they are taken and accesses of different agents are ordered
// (`tileas-check-synchronization`), and registers.
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

LogicalResult PingPongType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t groups) {
  if (groups < 2 || groups > 8)
    return emitError() << "2 to 8 warpgroups take turns, got " << groups;
  return success();
}

// The region whose warps run `op`.
static Region *agentOf(Operation *op) {
  Region *region = op->getParentRegion();
  while (region && !isa<nv_tileaa::ThreadScopeOpInterface>(region->getParentOp()))
    region = region->getParentRegion();
  return region;
}

LogicalResult CreatePingPongOp::verify() {
  if ((*this)->getParentOfType<ElectOp>())
    return emitOpError("is for whole warpgroups, and not for one thread");
  if (Region *agent = agentOf(*this)) {
    auto scope = cast<nv_tileaa::ThreadScopeOpInterface>(agent->getParentOp());
    int64_t warps = scope.getWarpCount(agent->getRegionNumber());
    int64_t groups = getPingPong().getType().getGroups();
    if (warps >= 0 && warps != 4 * groups)
      return emitOpError("is for ") << groups << " warpgroups, and the agent has " << warps << " warps";
    if (scope.getFirstWarp(agent->getRegionNumber()) % 4)
      return emitOpError("stands in an agent that does not begin with a warpgroup");
  }
  Block *block = (*this)->getBlock();
  EndPingPongOp end;
  for (Operation *user : getPingPong().getUsers()) {
    if (auto other = dyn_cast<EndPingPongOp>(user)) {
      if (end || other->getBlock() != block)
        return emitOpError("has turns that end once, in the same block");
      end = other;
    }
  }
  if (!end)
    return emitOpError("has turns that end once, in the same block");
  for (Operation *user : getPingPong().getUsers()) {
    Operation *here = block->findAncestorOpInBlock(*user);
    if (here && here != end && end->isBeforeInBlock(here))
      return user->emitOpError("comes behind the end of its turns");
  }
  return success();
}

// Turns belong to the threads that run both ops.
static LogicalResult verifyPingPong(Operation *op, Value turns) {
  if (!turns.getDefiningOp<CreatePingPongOp>())
    return op->emitOpError("has turns that no 'nv_tileas.async.pipeline.create_ping_pong' has made");
  if (op->getParentOfType<ElectOp>())
    return op->emitOpError("is for whole warpgroups, and not for one thread");
  if (agentOf(op) != agentOf(turns.getDefiningOp()))
    return op->emitOpError("has the turns of another agent");
  return success();
}

LogicalResult PingPongWaitOp::verify() { return verifyPingPong(*this, getPingPong()); }
LogicalResult PingPongArriveOp::verify() { return verifyPingPong(*this, getPingPong()); }
LogicalResult EndPingPongOp::verify() { return verifyPingPong(*this, getPingPong()); }
