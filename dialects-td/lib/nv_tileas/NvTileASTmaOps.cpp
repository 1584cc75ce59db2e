// Verifiers of tensor maps and of copies by them.
//
// Checked here: a map's lists have one length and its numbers are within the hardware's limits; it describes the view that
// it is made of; whole warps make it, once or behind the copies by the one before; a load stands in the program of one
// thread, and a store does not; a copy moves the view's elements and one tile of them, and uses a map that threads of its
// own scope have made.
// Not checked here: addresses and strides of the view, which are known at run time (`analysis::tensor_maps` proves them,
// or `tma_ready` tests them),
// and the layout of the destination, which the lowering compares with the map.
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "nv_tileas/NvTileAS.h"

using namespace mlir;
using namespace nv_tileas;

LogicalResult TmaDescType::verify(function_ref<InFlightDiagnostic()> emitError, Type element, ArrayRef<int64_t> dims,
                                  ArrayRef<int64_t> box, ArrayRef<int64_t> steps, int64_t swizzle, TmaFill) {
  if (!element.isIntOrFloat())
    return emitError() << "a tensor map has elements that are numbers, got " << element;
  if (dims.empty() || dims.size() > 5 || box.size() != dims.size() || steps.size() != dims.size())
    return emitError() << "a tensor map has 1 to 5 dimensions, and as many extents of the box and steps";
  if (swizzle != 16 && swizzle != 32 && swizzle != 64 && swizzle != 128)
    return emitError() << "the swizzle spans 16, 32, 64 or 128 bytes, got " << swizzle;
  for (int64_t extent : box)
    if (extent < 1 || extent > 256)
      return emitError() << "extents of a box are 1 to 256, got " << extent;
  for (int64_t step : steps)
    if (step < 1 || step > 8)
      return emitError() << "steps are 1 to 8, got " << step;
  return success();
}

// Whether copies by the map round f32 of the view to tf32.
static bool rounds(nv_tileaa::TiledViewType view, TmaDescType desc) {
  return view.getMemref().getElementType().isF32() && desc.getElementType().isTF32();
}

// The map has the view's element type, or is one that rounds, and each of the view's dimensions once. No dimension is
// indexed by a tensor. Maps do not change elements of tf32: to them these are f32.
static LogicalResult verifyMap(Operation *op, nv_tileaa::TiledViewType view, TmaDescType desc) {
  if (view.getSparseDim())
    return op->emitOpError("tensor maps have no dimension that a tensor of rows indexes");
  Type element = view.getMemref().getElementType();
  bool same = element.isTF32() ? desc.getElementType().isF32() : desc.getElementType() == element;
  if (!same && !rounds(view, desc))
    return op->emitOpError("map has elements ") << desc.getElementType() << ", and the view " << element;
  size_t rank = view.getTile().size();
  SmallVector<bool> seen(rank, false);
  for (int64_t d : desc.getDims()) {
    if (desc.getDims().size() != rank || d < 0 || d >= int64_t(rank) || seen[d])
      return op->emitOpError("map has each of the view's ") << rank << " dimensions once";
    seen[d] = true;
  }
  return success();
}

// The op whose region's warps run `op`, and that region.
static Region *scopeOf(Operation *op) {
  Region *region = op->getParentRegion();
  // A program of a producer's warps stands where it does for others, and moves to the maps.
  while (region &&
         (isa<ProduceOneOp>(region->getParentOp()) || !isa<nv_tileaa::ThreadScopeOpInterface>(region->getParentOp())))
    region = region->getParentRegion();
  return region;
}

LogicalResult MakeTiledTmaDescOp::verify() {
  if ((*this)->getParentOfType<ElectOp>())
    return emitOpError("is done by a whole warp, and stands in the program of one thread");
  if (getPipelines().size() != getIterators().size())
    return emitOpError("names ") << getPipelines().size() << " pipelines and " << getIterators().size() << " iterators";
  for (Operation *around = (*this)->getParentOp(); around && getPipelines().empty(); around = around->getParentOp()) {
    if (isa<nv_tileaa::ThreadScopeOpInterface>(around))
      break;
    if (isa<LoopLikeOpInterface>(around))
      return emitOpError("stands in a loop, and does not say behind which copies a borrowed map may be written over");
  }
  MemDescType scratch = getScratch().getType();
  if (scratch.getSpace() != MemorySpace::Shared || !scratch.getElementType().isSignlessInteger(8) ||
      scratch.getShape() != ArrayRef<int64_t>{128} || scratch.getStages() != 1)
    return emitOpError("scratch is 128 bytes of shared memory, got ") << scratch;
  return verifyMap(*this, getView().getType(), getDesc().getType());
}

LogicalResult TmaReadyOp::verify() { return verifyMap(*this, getView().getType(), cast<TmaDescType>(getDesc())); }

// A copy between one stage in shared memory and a tile of the view, by a map that threads of the same scope have made.
static LogicalResult verifyCopy(Operation *op, nv_tileaa::TiledViewType view, OperandRange indices,
                                TypedValue<TmaDescType> desc, MemDescType storage, StringRef role) {
  if (failed(verifyMap(op, view, desc.getType())))
    return failure();
  if (storage.getStages() != 1 || storage.getSpace() != MemorySpace::Shared)
    return op->emitOpError() << role << " must be one stage in shared memory";
  Type element = rounds(view, desc.getType()) ? desc.getType().getElementType() : view.getMemref().getElementType();
  if (storage.getShape() != view.getTile() || storage.getElementType() != element)
    return op->emitOpError() << role << " must have the shape of the view's tiles and elements of " << element;
  size_t rank = view.getTile().size();
  if (indices.size() != rank)
    return op->emitOpError("expected one index for each of ") << rank << " dimensions";
  for (Value index : indices)
    if (!index.getType().isSignlessInteger(32) && !index.getType().isSignlessInteger(64))
      return op->emitOpError("indices are i32 or i64, got ") << index.getType();
  Operation *made = desc.getDefiningOp();
  if (made && scopeOf(made) != scopeOf(op))
    return op->emitOpError("map is made by other warps, and valid in those only");
  return success();
}

LogicalResult AsyncTiledTmaLoadOp::verify() {
  if (!(*this)->getParentOfType<ElectOp>())
    return emitOpError("stands in the program of one thread, 'nv_tileas.async.elect'");
  return verifyCopy(*this, getView().getType(), getIndices(), getDesc(), getDest().getType(), "destination");
}

LogicalResult AsyncTiledTmaStoreOp::verify() {
  if ((*this)->getParentOfType<ElectOp>())
    return emitOpError("elects its thread, and stands in the program of one");
  TmaDescType desc = getDesc().getType();
  if (rounds(getView().getType(), desc))
    return emitOpError("does not round, and the map does");
  if (llvm::any_of(desc.getSteps(), [](int64_t step) { return step != 1; }))
    return emitOpError("writes elements that are next to each other, and the map has steps");
  return verifyCopy(*this, getView().getType(), getIndices(), getDesc(), getSource().getType(), "source");
}
