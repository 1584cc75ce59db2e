// Verifiers of agents and barriers.
//
// Checked here: the warps of each region are a power of two and within the CTA; agents are not nested; no tensor in
// registers crosses into an agent; a barrier has an id if and only if it has a thread count; the threads of a
// ping-pong are whole warpgroups of one agent, and its ops are in that agent, outside `elect`.
//
// Not checked here: each `ping_pong_wait` has an arrival, accesses of different agents are ordered
// (`tileas-check-synchronization`), and register counts (`tileas-check-register-budget`).
#include "mlir/IR/OpImplementation.h"
#include "nv_tileas/NvTileAS.h"

using namespace mlir;
using namespace nv_tileas;

int64_t AgentSwitchOp::getWarpCount(unsigned region) { return cast<AgentAttr>(getAgents()[region]).getWarps(); }

int64_t AgentSwitchOp::getFirstWarp(unsigned region) {
  int64_t first = 0;
  for (unsigned before = 0; before < region; ++before)
    first += getWarpCount(before);
  return first;
}

LogicalResult AgentSwitchOp::verify() {
  if (failed(verifyAgents([&] { return emitOpError(); }, getAgents())))
    return failure();
  if (getAgents().size() != getPrograms().size())
    return emitOpError("has ") << getPrograms().size() << " regions but " << getAgents().size() << " agents";
  Operation *around = (*this)->getParentOp();
  while (around && !isa<nv_tileaa::ThreadScopeOpInterface>(around))
    around = around->getParentOp();
  if (!around)
    return success();
  if (isa<AgentSwitchOp>(around))
    return emitOpError("agents cannot be nested");
  int64_t block = cast<nv_tileaa::ThreadScopeOpInterface>(around).getWarpCount(0);
  int64_t needed = getFirstWarp(getAgents().size());
  if (block >= 0 && needed > block)
    return emitOpError("needs ") << needed << " warps, but the CTA has " << block;
  return success();
}

LogicalResult AgentSwitchOp::verifyRegions() {
  for (Region &agent : getPrograms()) {
    WalkResult result = agent.walk([&](Operation *op) {
      for (Value v : op->getOperands()) {
        if (!isa<RankedTensorType>(v.getType()) || agent.isAncestor(v.getParentRegion()))
          continue;
        op->emitOpError("uses a tensor in registers from outside its agent");
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
    return emitOpError("needs both an id and a thread count, or neither");
  if (getId().value_or(0) > 15)
    return emitOpError("a barrier id must be from 0 to 15, got ") << *getId();
  if (getThreads().value_or(32) % 32)
    return emitOpError("the thread count must be a multiple of 32, got ") << *getThreads();
  return success();
}

LogicalResult PingPongType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t groups) {
  if (groups < 2 || groups > 8)
    return emitError() << "a ping-pong has 2 to 8 warpgroups, got " << groups;
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
    return emitOpError("applies to whole warpgroups and cannot be inside 'nv_tileas.async.elect'");
  if (Region *agent = agentOf(*this)) {
    auto scope = cast<nv_tileaa::ThreadScopeOpInterface>(agent->getParentOp());
    int64_t warps = scope.getWarpCount(agent->getRegionNumber());
    int64_t groups = getPingPong().getType().getGroups();
    if (warps >= 0 && warps != 4 * groups)
      return emitOpError("is for ") << groups << " warpgroups, but the agent has " << warps << " warps";
    if (scope.getFirstWarp(agent->getRegionNumber()) % 4)
      return emitOpError("needs an agent that starts at a warpgroup boundary");
  }
  Block *block = (*this)->getBlock();
  EndPingPongOp end;
  for (Operation *user : getPingPong().getUsers()) {
    if (auto other = dyn_cast<EndPingPongOp>(user)) {
      if (end || other->getBlock() != block)
        return emitOpError("needs exactly one 'end_ping_pong', in the same block");
      end = other;
    }
  }
  if (!end)
    return emitOpError("needs exactly one 'end_ping_pong', in the same block");
  for (Operation *user : getPingPong().getUsers()) {
    Operation *here = block->findAncestorOpInBlock(*user);
    if (here && here != end && end->isBeforeInBlock(here))
      return user->emitOpError("follows the end of its ping-pong");
  }
  return success();
}

// Checks an op that refers to a ping-pong: the same threads run it and the op that created the ping-pong.
static LogicalResult verifyPingPong(Operation *op, Value pingPong) {
  if (!pingPong.getDefiningOp<CreatePingPongOp>())
    return op->emitOpError("needs the result of 'nv_tileas.async.pipeline.create_ping_pong'");
  if (op->getParentOfType<ElectOp>())
    return op->emitOpError("applies to whole warpgroups and cannot be inside 'nv_tileas.async.elect'");
  if (agentOf(op) != agentOf(pingPong.getDefiningOp()))
    return op->emitOpError("refers to the ping-pong of another agent");
  return success();
}

LogicalResult PingPongWaitOp::verify() { return verifyPingPong(*this, getPingPong()); }
LogicalResult PingPongArriveOp::verify() { return verifyPingPong(*this, getPingPong()); }
LogicalResult EndPingPongOp::verify() { return verifyPingPong(*this, getPingPong()); }
