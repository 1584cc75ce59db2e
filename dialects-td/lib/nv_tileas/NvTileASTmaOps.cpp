// Verifiers of tensor maps and TMA copies.
//
// Checked here: a map's lists have the same length and its numbers are within the hardware's limits; it describes its
// view; whole warps build it, once or after the copies through the previous map; a load is in the program of one
// thread, and a store is not; a copy moves elements of the view and one of its tiles, through a map built by threads
// of the same scope. Not checked here: addresses and strides of the view, which are known only at run time
// (`analysis::tensor_maps` proves them, or `tma_ready` tests them), and the layout of the destination, which the
// lowering compares with the map.
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "nv_tileas/NvTileAS.h"

using namespace mlir;
using namespace nv_tileas;

LogicalResult TmaDescType::verify(function_ref<InFlightDiagnostic()> emitError, Type element, ArrayRef<int64_t> dims,
                                  ArrayRef<int64_t> box, ArrayRef<int64_t> steps, int64_t swizzle, int64_t unit,
                                  TmaFill) {
  if (!element.isIntOrFloat())
    return emitError() << "a tensor map needs numeric elements, got " << element;
  if (dims.empty() || dims.size() > 5 || box.size() != dims.size() || steps.size() != dims.size())
    return emitError() << "a tensor map has 1 to 5 dimensions, with one box extent and one step each";
  if (swizzle != 16 && swizzle != 32 && swizzle != 64 && swizzle != 128)
    return emitError() << "the swizzle spans 16, 32, 64 or 128 bytes, got " << swizzle;
  if (unit != 16 && (unit != 32 || swizzle != 128))
    return emitError() << "the unit is 16 bytes, or 32 bytes in a span of 128, got " << unit;
  for (int64_t extent : box)
    if (extent < 1 || extent > 256)
      return emitError() << "box extents are 1 to 256, got " << extent;
  for (int64_t step : steps)
    if (step < 1 || step > 8)
      return emitError() << "steps are 1 to 8, got " << step;
  return success();
}

// Whether copies through the map round f32 of the view to tf32.
static bool rounds(nv_tileaa::TiledViewType view, TmaDescType desc) {
  return view.getMemref().getElementType().isF32() && desc.getElementType().isTF32();
}

// The map has the view's element type or rounds it, and has each dimension of the view once. No dimension is sparse.
// To a map, tf32 elements are f32 and do not change.
static LogicalResult verifyMap(Operation *op, nv_tileaa::TiledViewType view, TmaDescType desc) {
  if (view.getSparseDim())
    return op->emitOpError("tensor maps do not support a sparse dimension");
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

// Returns the region whose warps run `op`.
static Region *scopeOf(Operation *op) {
  Region *region = op->getParentRegion();
  // A producer's region is still inside its user's scope, but will move to the scope that builds the maps.
  while (region &&
         (isa<ProduceOneOp>(region->getParentOp()) || !isa<nv_tileaa::ThreadScopeOpInterface>(region->getParentOp())))
    region = region->getParentRegion();
  return region;
}

LogicalResult MakeTiledTmaDescOp::verify() {
  if ((*this)->getParentOfType<ElectOp>())
    return emitOpError("needs a whole warp, but is in the program of one thread");
  if (getPipelines().size() != getIterators().size())
    return emitOpError("lists ") << getPipelines().size() << " pipelines and " << getIterators().size() << " iterators";
  for (Operation *around = (*this)->getParentOp(); around && getPipelines().empty(); around = around->getParentOp()) {
    if (isa<nv_tileaa::ThreadScopeOpInterface>(around))
      break;
    if (isa<LoopLikeOpInterface>(around))
      return emitOpError("is in a loop, but lists no pipelines whose copies must end before the map is overwritten");
  }
  MemDescType scratch = getScratch().getType();
  if (scratch.getSpace() != MemorySpace::Shared || !scratch.getElementType().isSignlessInteger(8) ||
      scratch.getShape() != ArrayRef<int64_t>{128} || scratch.getStages() != 1)
    return emitOpError("scratch is 128 bytes of shared memory, got ") << scratch;
  return verifyMap(*this, getView().getType(), getDesc().getType());
}

LogicalResult TmaReadyOp::verify() { return verifyMap(*this, getView().getType(), cast<TmaDescType>(getDesc())); }

// A copy between a single stage in shared memory and a tile of the view.
static LogicalResult verifyTile(Operation *op, nv_tileaa::TiledViewType view, OperandRange indices, Type element,
                                MemDescType storage, StringRef role) {
  if (storage.getStages() != 1 || storage.getSpace() != MemorySpace::Shared)
    return op->emitOpError() << role << " must be one stage in shared memory";
  if (storage.getShape() != view.getTile() || storage.getElementType() != element)
    return op->emitOpError() << role << " must have the shape of the view's tiles and elements of " << element;
  size_t rank = view.getTile().size();
  if (indices.size() != rank)
    return op->emitOpError("expected one index for each of ") << rank << " dimensions";
  for (Value index : indices)
    if (!index.getType().isSignlessInteger(32) && !index.getType().isSignlessInteger(64))
      return op->emitOpError("indices are i32 or i64, got ") << index.getType();
  return success();
}

// The same through a map built by threads of the same scope.
static LogicalResult verifyCopy(Operation *op, nv_tileaa::TiledViewType view, OperandRange indices,
                                TypedValue<TmaDescType> desc, MemDescType storage, StringRef role) {
  Type element = rounds(view, desc.getType()) ? desc.getType().getElementType() : view.getMemref().getElementType();
  if (failed(verifyMap(op, view, desc.getType())) || failed(verifyTile(op, view, indices, element, storage, role)))
    return failure();
  Operation *made = desc.getDefiningOp();
  if (made && scopeOf(made) != scopeOf(op))
    return op->emitOpError("map is built by other warps and valid only in those");
  return success();
}

LogicalResult AsyncTiledTmaLoadOp::verify() {
  if (!(*this)->getParentOfType<ElectOp>())
    return emitOpError("must be inside 'nv_tileas.async.elect'");
  return verifyCopy(*this, getView().getType(), getIndices(), getDesc(), getDest().getType(), "destination");
}

LogicalResult AsyncBulkLoadOp::verify() {
  if (!(*this)->getParentOfType<ElectOp>())
    return emitOpError("must be inside 'nv_tileas.async.elect'");
  nv_tileaa::TiledViewType view = getView().getType();
  return verifyTile(*this, view, getIndices(), view.getMemref().getElementType(), getDest().getType(), "destination");
}

LogicalResult AsyncTiledTmaStoreOp::verify() {
  if ((*this)->getParentOfType<ElectOp>())
    return emitOpError("elects a thread itself, but is in the program of one thread");
  TmaDescType desc = getDesc().getType();
  if (rounds(getView().getType(), desc))
    return emitOpError("does not round, but the map does");
  if (llvm::any_of(desc.getSteps(), [](int64_t step) { return step != 1; }))
    return emitOpError("writes contiguous elements, but the map has steps larger than 1");
  return verifyCopy(*this, getView().getType(), getIndices(), getDesc(), getSource().getType(), "source");
}
