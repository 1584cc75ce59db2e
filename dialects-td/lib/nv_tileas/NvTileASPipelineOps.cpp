// Verifiers of pipelines and of programs of one thread.
//
// Checked here: barriers are 64-bit words, two or three for each stage; who prepares stages, and waits for that, uses a
// pipeline that has converters; a stage whose bytes are announced is acquired by one thread, and one that warps commit by
// all of them; threads do not meet in a program of one thread; a producer's program yields the tile that it gives, or
// none if it changes a stage, and uses no tensor of other threads.
// Not checked here: that stages are acquired and released in turn (`tileas-check-synchronization`), and that the bytes
// announced are those that copies write.
#include "mlir/IR/OpImplementation.h"
#include "nv_tileas/NvTileAS.h"

using namespace mlir;
using namespace nv_tileas;

LogicalResult PipelineType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t stages) {
  if (stages < 1)
    return emitError() << "a pipeline has a stage or more, got " << stages;
  return success();
}

LogicalResult CreatePipelineOp::verify() {
  MemDescType barriers = getBarriers().getType();
  if (!barriers.getElementType().isSignlessInteger(64) || barriers.getShape().size() != 1)
    return emitOpError("barriers are a row of i64, got ") << barriers;
  int64_t each = getConverters() ? 3 : 2;
  if (barriers.getShape()[0] < each * getPipeline().getType().getStages())
    return emitOpError("needs ") << (each == 3 ? "three" : "two") << " barriers for each of "
                                 << getPipeline().getType().getStages() << " stages";
  return success();
}

// A pipeline whose making is not seen, because it is an argument, may have converters.
static LogicalResult verifyConverters(Operation *op, Value pipeline) {
  auto made = pipeline.getDefiningOp<CreatePipelineOp>();
  if (made && !made.getConverters())
    return op->emitOpError("is about stages that are converted, and the pipeline has no converters");
  return success();
}

LogicalResult ProducerAcquireOp::verify() {
  bool alone = (*this)->getParentOfType<ElectOp>() != nullptr;
  if (getBytes() && !alone)
    return emitOpError("stands in the program of one thread, 'nv_tileas.async.elect'");
  if (!getBytes() && alone)
    return emitOpError("announces nothing, so all threads wait, and not one alone");
  // What one phase of a barrier can count.
  if (getBytes().value_or(0) >= uint64_t(1) << 20)
    return emitOpError("announces ") << *getBytes() << " bytes, and a barrier counts less than 1048576";
  return success();
}

LogicalResult ProducerCommitOp::verify() {
  if ((*this)->getParentOfType<ElectOp>())
    return emitOpError("is for whole warps, and not for one thread");
  if (getCopies() && getConverted())
    return emitOpError("says that copies are done, or that a stage is converted, and not both");
  return getConverted() ? verifyConverters(*this, getPipeline()) : success();
}

LogicalResult ConsumerWaitOp::verify() {
  return getConverted() ? verifyConverters(*this, getPipeline()) : success();
}

LogicalResult ProduceOneOp::verifyRegions() {
  auto yield = dyn_cast<YieldOp>(getBody().front().getTerminator());
  if (!yield || yield.getOperands().size() != getOperation()->getNumResults())
    return emitOpError("does not end with a 'nv_tileas.yield' of what it gives");
  if (getConverts() && (getTile() || getOrCopy()))
    return emitOpError("changes a stage that is filled, and makes no tile");
  if (Value tile = getTile()) {
    auto given = dyn_cast<RankedTensorType>(yield.getOperands().front().getType());
    auto type = cast<RankedTensorType>(tile.getType());
    if (!given || given.getShape() != type.getShape() || given.getElementType() != type.getElementType())
      return emitOpError("yields ") << yield.getOperands().front().getType() << ", and gives " << type;
    if (getFast() >= uint64_t(type.getRank()))
      return emitOpError("has no dimension ") << getFast();
  }
  WalkResult result = getBody().walk([&](Operation *op) {
    for (Value v : op->getOperands()) {
      if (!isa<RankedTensorType>(v.getType()) || getBody().isAncestor(v.getParentRegion()))
        continue;
      op->emitOpError("uses a tensor in registers from outside of its producer");
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
    op->emitOpError("synchronises threads in the program of one thread");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}
