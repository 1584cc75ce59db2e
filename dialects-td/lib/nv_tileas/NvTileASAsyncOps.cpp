// Verifiers of asynchronous copies and of views of storage.
//
// Checked here: shapes, element types, and that views of storage relate layouts correctly. Not checked here: that the
// copies are awaited, and that the hardware can copy the vector.
#include "nv_tileas/NvTileAS.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace nv_tileas;

//===-- views of storage ----------------------------------------------------//

LogicalResult MemDescSlotOp::verify() {
  MemDescType from = getSource().getType(), to = getResult().getType();
  if (to.getStages() != 1 || from.getShape() != to.getShape() || from.getElementType() != to.getElementType() ||
      from.getLayout() != to.getLayout() || from.getPacked() != to.getPacked())
    return emitOpError("result must be one stage of the source");
  return success();
}

LogicalResult MemDescViewOp::verify() {
  MemDescType from = getSource().getType(), to = getResult().getType();
  // A layout has one basis per bit of the element count.
  auto bits = [](MemDescType t) { return t.getLayout().getOffsets().size(); };
  if (bits(from) != bits(to) || from.getElementType() != to.getElementType() || from.getStages() != to.getStages())
    return emitOpError("source and result must have the same element count, element type and number of stages");
  if (from.getLayout() != to.getLayout() || from.getPacked() != to.getPacked())
    return emitOpError("row-major indices do not change, so the layout must not either");
  return success();
}

LogicalResult MemDescReinterpretOp::verify() {
  MemDescType from = getSource().getType(), to = getResult().getType();
  // An element narrower than a byte takes one byte; tf32 takes four, like f32.
  auto bytes = [](MemDescType t) {
    return int64_t(llvm::PowerOf2Ceil(llvm::divideCeil(t.getElementType().getIntOrFloatBitWidth(), 8)));
  };
  auto elements = [](MemDescType t) { return t.getStages() * ShapedType::getNumElements(t.getShape()); };
  // A tile of narrower elements takes the first columns, of each block of rows if there are gaps.
  if (from.getSpace() == MemorySpace::Tensor && to.getSpace() == MemorySpace::Tensor) {
    auto extent = [&](MemDescType t) { return bytes(t) << t.getLayout().getOffsets().size(); };
    if (from.getStages() != to.getStages() || extent(to) > extent(from))
      return emitOpError("the result takes more columns of tensor memory, or other stages, than the source");
    return success();
  }
  if (from.getPacked() || to.getPacked())
    return emitOpError("packed elements have no other type");
  if (!from.getElementType().isIntOrFloat() || !to.getElementType().isIntOrFloat() || bytes(from) != bytes(to))
    return emitOpError("source and result must have numeric elements of the same width");
  if (from.getSpace() != to.getSpace() || elements(from) != elements(to))
    return emitOpError("source and result must have the same memory space and number of elements");
  // The distance of stages is a multiple of the alignment.
  for (MemDescType t : {from, to})
    if (t.getStages() > 1 && ShapedType::getNumElements(t.getShape()) * bytes(t) % t.getAlignment() != 0)
      return emitOpError("stages of ") << t << " are not contiguous";
  if (from.getAlignment() % to.getAlignment() != 0)
    return emitOpError("alignment ") << to.getAlignment() << " does not divide the source's alignment "
                                     << from.getAlignment();
  return success();
}

LogicalResult MemDescPermuteOp::verify() {
  MemDescType from = getSource().getType(), to = getResult().getType();
  ArrayRef<int32_t> order = getOrder();
  int64_t rank = from.getShape().size();
  if (order.size() != size_t(rank) || rank != int64_t(to.getShape().size()) ||
      from.getElementType() != to.getElementType() || from.getStages() != to.getStages() ||
      from.getPacked() != to.getPacked())
    return emitOpError("order, source and result must have the same rank, and source and result the same element type "
                       "and number of stages");
  SmallVector<bool> seen(rank, false);
  for (auto [i, d] : llvm::enumerate(order)) {
    if (d < 0 || d >= rank || seen[d])
      return emitOpError("order must be a permutation");
    seen[d] = true;
    if (to.getShape()[i] != from.getShape()[d])
      return emitOpError("result dimension ") << i << " must have extent " << from.getShape()[d];
  }
  auto move = [&](int64_t index) {
    SmallVector<int64_t> coord(rank);
    for (int64_t d = rank; d-- > 0; index /= from.getShape()[d])
      coord[d] = index % from.getShape()[d];
    int64_t out = 0;
    for (int64_t i = 0; i < rank; ++i)
      out = out * to.getShape()[i] + coord[order[i]];
    return out;
  };
  if (!llvm::equal(from.getLayout().getOffsets(), to.getLayout().getOffsets(),
                   [&](int64_t x, int64_t y) { return move(x) == y; }))
    return emitOpError("layout of the result must be the image of the source's");
  return success();
}

//===-- copies --------------------------------------------------------------//

// Invariants: a single stage; the storage has the shape and element type of the tile; one index and one flag per
// dimension; the vector is a power of two.
LogicalResult AsyncTiledLoadOp::verify() {
  nv_tileaa::TiledViewType view = getView().getType();
  MemDescType dest = getDest().getType();
  if (dest.getStages() != 1)
    return emitOpError("destination must be one stage");
  if (dest.getShape() != view.getTile() || dest.getElementType() != view.getMemref().getElementType())
    return emitOpError("destination must have the shape and element type of the view's tiles");
  size_t rank = view.getTile().size();
  if (getIndices().size() != rank || (getInBounds() && getInBounds()->size() != rank))
    return emitOpError("expected one index and one flag for each of ") << rank << " dimensions";
  if (getVector() & (getVector() - 1))
    return emitOpError("vector must be a power of two");
  return success();
}

// Invariants: pointers, mask and destination have the same shape, pointers and mask the same layout; a single stage;
// the vector is a power of two.
LogicalResult AsyncLoadOp::verify() {
  auto ptr = cast<RankedTensorType>(getPtr().getType());
  MemDescType dest = getDest().getType();
  auto pointer = dyn_cast<nv_tileaa::PtrType>(ptr.getElementType());
  if (!pointer)
    return emitOpError("source must be a tensor of pointers");
  if (dest.getStages() != 1)
    return emitOpError("destination must be one stage");
  if (dest.getShape() != ptr.getShape() || dest.getElementType() != pointer.getPointee())
    return emitOpError("destination must have the shape and the pointee of the pointers");
  if (getMask()) {
    auto mask = cast<RankedTensorType>(getMask().getType());
    if (mask.getShape() != ptr.getShape() || mask.getEncoding() != ptr.getEncoding())
      return emitOpError("pointers and mask must have the same shape and layout");
  }
  if (getVector() & (getVector() - 1))
    return emitOpError("vector must be a power of two");
  return success();
}
