// Verifiers of pipelines and of programs of one thread.
//
// Checked here: barriers are 64-bit words, one for each phase of each stage and each warpgroup; phases have different
// names and at least one arrival, and ops name phases and warpgroups of their pipeline; one thread announces bytes, and
// one thread signals for its dots, while other ops signal for whole warps; a program of one thread does not contain
// barriers; the region of `produce_one` yields its tile, or nothing if it changes a stage, and does not use tensors of
// other threads.
//
// Not checked here: the order in which stages are acquired and released (`tileas-check-synchronization`), and that the
// announced bytes are the bytes that copies write.
#include "mlir/IR/OpImplementation.h"
#include "nv_tileas/NvTileAS.h"

using namespace mlir;
using namespace nv_tileas;

LogicalResult PipelineType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t stages) {
  if (stages < 1)
    return emitError() << "a pipeline needs at least one stage, got " << stages;
  return success();
}

LogicalResult CreatePipelineOp::verify() {
  MemDescType barriers = getBarriers().getType();
  if (!barriers.getElementType().isSignlessInteger(64) || barriers.getShape().size() != 1)
    return emitOpError("barriers must be a 1-D memdesc of i64, got ") << barriers;
  if (getPhases().size() != getArrivals().size())
    return emitOpError("names ") << getPhases().size() << " phases but has arrivals for " << getArrivals().size();
  llvm::SmallDenseSet<StringAttr> names;
  for (auto name : getPhases().getAsRange<StringAttr>())
    if (!names.insert(name).second)
      return emitOpError("names the phase ") << name << " twice";
  if (!names.contains(StringAttr::get(getContext(), "full")))
    return emitOpError("has no phase 'full'");
  for (Attribute leader : getLeaderAttr() ? getLeaderAttr().getValue() : ArrayRef<Attribute>())
    if (!names.contains(cast<StringAttr>(leader)))
      return emitOpError("has no phase '") << cast<StringAttr>(leader).getValue() << "' for its leader to count";
  // The largest count of an mbarrier.
  for (int64_t count : getArrivals())
    if (count < 1 || count >= int64_t(1) << 20)
      return emitOpError("a phase needs from 1 to 1048575 arrivals, got ") << count;
  if (getWarpgroups() && getLeader())
    return emitOpError("cannot have both 'warpgroups' and a leader");
  int64_t ofStage = getPhases().size() * getWarpgroups().value_or(1);
  int64_t needed = ofStage * getPipeline().getType().getStages();
  if (barriers.getShape()[0] < needed)
    return emitOpError("needs ") << needed << " barriers, " << ofStage << " for each of "
                                 << getPipeline().getType().getStages() << " stages";
  return success();
}

// Checks that a pipeline has the phase that an op names. The phases of a block argument are unknown.
static LogicalResult verifyPhase(Operation *op, Value pipeline, StringRef phase) {
  auto creator = pipeline.getDefiningOp<CreatePipelineOp>();
  if (!creator || llvm::is_contained(creator.getPhases().getAsValueRange<StringAttr>(), phase))
    return success();
  return op->emitOpError("refers to the phase '") << phase << "', which the pipeline does not have";
}

// Checks that one thread names a warpgroup that the pipeline has, and that other threads name none: they mean their
// own.
static LogicalResult verifyWarpgroup(Operation *op, Value pipeline, std::optional<uint64_t> warpgroup) {
  auto creator = pipeline.getDefiningOp<CreatePipelineOp>();
  if (!creator)
    return success();
  bool alone = op->getParentOfType<ElectOp>() != nullptr;
  std::optional<uint64_t> count = creator.getWarpgroups();
  if (warpgroup && *warpgroup >= count.value_or(0))
    return op->emitOpError("refers to warpgroup ") << *warpgroup << ", which the pipeline does not have";
  if (warpgroup && !alone)
    return op->emitOpError("names a warpgroup, but is not inside 'nv_tileas.async.elect'");
  if (count && alone && !warpgroup)
    return op->emitOpError("must name one of the ") << *count << " warpgroups of its pipeline";
  return success();
}

LogicalResult ProducerAcquireOp::verify() {
  bool alone = (*this)->getParentOfType<ElectOp>() != nullptr;
  if (getBytes() && !alone)
    return emitOpError("must be inside 'nv_tileas.async.elect'");
  // The maximum transaction count of one phase of an mbarrier.
  if (getBytes().value_or(0) >= uint64_t(1) << 20)
    return emitOpError("announces ") << *getBytes() << " bytes, but a barrier counts at most 1048575";
  if (getFills() && !getBytes())
    return emitOpError("announces no bytes that fill '") << *getFills() << "'";
  if (failed(verifyPhase(*this, getPipeline(), getFills().value_or("full"))) ||
      failed(verifyWarpgroup(*this, getPipeline(), getWarpgroup())))
    return failure();
  return verifyPhase(*this, getPipeline(), getPhaseName());
}

// Checks that an op that signals for whole warps is outside `elect`, and one that signals for the dots of one thread
// inside.
static LogicalResult verifyThreads(Operation *op, bool dots) {
  bool alone = op->getParentOfType<ElectOp>() != nullptr;
  if (alone && !dots)
    return op->emitOpError("applies to whole warps and cannot be inside 'nv_tileas.async.elect'");
  if (!alone && dots)
    return op->emitOpError("with 'dots' must be inside 'nv_tileas.async.elect'");
  return success();
}

LogicalResult ProducerCommitOp::verify() {
  if (getCopies() && getDots())
    return emitOpError("cannot have both 'copies' and 'dots'");
  if (failed(verifyThreads(*this, getDots())) || failed(verifyWarpgroup(*this, getPipeline(), getWarpgroup())))
    return failure();
  return verifyPhase(*this, getPipeline(), getPhaseName());
}

LogicalResult ConsumerWaitOp::verify() {
  if (failed(verifyWarpgroup(*this, getPipeline(), getWarpgroup())))
    return failure();
  return verifyPhase(*this, getPipeline(), getPhaseName());
}

LogicalResult ConsumerReleaseOp::verify() {
  if (getDots() && (getPredicate() || getAfter()))
    return emitOpError("with 'dots' is unconditional and follows the dots");
  if (failed(verifyThreads(*this, getDots())) || failed(verifyWarpgroup(*this, getPipeline(), getWarpgroup())))
    return failure();
  return verifyPhase(*this, getPipeline(), getPhaseName());
}

// Checks the storage of an answer to a request for a tile block.
static LogicalResult verifyAnswer(Operation *op, MemDescType slot) {
  if (slot.getSpace() == MemorySpace::Shared && slot.getShape() == ArrayRef<int64_t>(4) && slot.getStages() == 1 &&
      slot.getElementType().isSignlessInteger(32))
    return success();
  return op->emitOpError("needs a stage of four i32 in shared memory, got ") << slot;
}

LogicalResult CancelTileBlockOp::verify() {
  if (!(*this)->getParentOfType<ElectOp>())
    return emitOpError("must be inside 'nv_tileas.async.elect'");
  return verifyAnswer(*this, getSlot().getType());
}

LogicalResult NextTileBlockOp::verify() {
  bool slot = getSlot() != nullptr, pipeline = getPipeline() != nullptr, iterator = getIterator() != nullptr;
  if (slot != pipeline || slot != iterator)
    return emitOpError("has a slot, a pipeline and an iterator, or none of them");
  return slot ? verifyAnswer(*this, getSlot().getType()) : success();
}

LogicalResult ProduceOneOp::verifyRegions() {
  auto yield = dyn_cast<YieldOp>(getBody().front().getTerminator());
  if (!yield || yield.getOperands().size() != getOperation()->getNumResults())
    return emitOpError("must end with a 'nv_tileas.yield' of its results");
  if (getAgent().value_or("producer") != "producer" && getOrCopy())
    return emitOpError("of an agent other than the producer cannot have 'or_copy'");
  if (Value tile = getTile()) {
    auto given = dyn_cast<RankedTensorType>(yield.getOperands().front().getType());
    auto type = cast<RankedTensorType>(tile.getType());
    if (!given || given.getShape() != type.getShape() || given.getElementType() != type.getElementType())
      return emitOpError("yields ") << yield.getOperands().front().getType() << ", but its result is " << type;
    if (getFast() >= uint64_t(type.getRank()))
      return emitOpError("'fast' is not a dimension of the tile: ") << getFast();
  }
  WalkResult result = getBody().walk([&](Operation *op) {
    for (Value v : op->getOperands()) {
      if (!isa<RankedTensorType>(v.getType()) || getBody().isAncestor(v.getParentRegion()))
        continue;
      op->emitOpError("uses a tensor in registers from outside its region");
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult ElectOp::verifyRegions() {
  WalkResult result = getBody().walk([&](Operation *op) {
    auto sync = dyn_cast<nv_tileaa::SyncOpInterface>(op);
    if (!sync || sync.getSyncKind() == nv_tileaa::SyncKind::None)
      return WalkResult::advance();
    op->emitOpError("cannot synchronize threads inside 'nv_tileas.async.elect'");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}
