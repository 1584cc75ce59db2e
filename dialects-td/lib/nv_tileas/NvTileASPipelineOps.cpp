// Verifiers of pipelines and of programs of one thread.
//
// Checked here: barriers are 64-bit words, two for each stage; a stage is acquired by one thread; threads do not meet in
// a program of one thread.
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
  if (barriers.getShape()[0] < 2 * getPipeline().getType().getStages())
    return emitOpError("needs two barriers for each of ") << getPipeline().getType().getStages() << " stages";
  return success();
}

LogicalResult ProducerAcquireOp::verify() {
  if (!(*this)->getParentOfType<ElectOp>())
    return emitOpError("stands in the program of one thread, 'nv_tileas.async.elect'");
  // What one phase of a barrier can count.
  if (getBytes() >= int64_t(1) << 20)
    return emitOpError("announces ") << getBytes() << " bytes, and a barrier counts less than 1048576";
  return success();
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
