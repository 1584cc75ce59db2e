// Verifiers of the ops on tensor memory.
//
// Checked here: the storage is in tensor memory, the tensor has its shape and elements or one element for each row, a
// slice is inside its storage, the address goes to a 32-bit word of shared memory, and the number of columns can be
// allocated. Not checked: that the layout of the tensor assigns
// to each warp lanes that it can reach (`convert-tileas-to-llvm` does).
#include "nv_tileas/NvTileAS.h"

using namespace mlir;
using namespace nv_tileas;

LogicalResult TmemAllocateOp::verify() {
  MemDescType slot = getSlot().getType();
  if (slot.getSpace() != MemorySpace::Shared || !slot.getElementType().isSignlessInteger(32))
    return emitOpError("stores the address in an i32 in shared memory, got ") << slot;
  int64_t columns = getColumns().value_or(32);
  if (columns < 32 || columns > 512 || (columns & (columns - 1)))
    return emitOpError("columns must be a power of two from 32 to 512, got ") << columns;
  return success();
}

LogicalResult TmemSliceOp::verify() {
  MemDescType from = getSource().getType(), to = getResult().getType();
  for (MemDescType memory : {from, to})
    if (memory.getSpace() != MemorySpace::Tensor || memory.getStages() != 1 || memory.getShape().size() != 2)
      return emitOpError("needs a single stage of rank two in tensor memory, got ") << memory;
  if (from.getShape()[0] != to.getShape()[0] || from.getElementType() != to.getElementType())
    return emitOpError("keeps the rows and elements of ") << from << ", got " << to;
  if (from.getShape()[0] > 128)
    return emitOpError("divides accumulators of at most 128 rows, got ") << from;
  int64_t end = int64_t(getColumn()) + to.getShape()[1];
  if (end > from.getShape()[1])
    return emitOpError("ends at column ") << end << " of " << from;
  return success();
}

// Checks the storage of a move between tensor memory and a tensor in registers.
static LogicalResult verifyMove(Operation *op, MemDescType memory, Type registers) {
  auto tensor = cast<RankedTensorType>(registers);
  if (memory.getSpace() != MemorySpace::Tensor || memory.getStages() != 1)
    return op->emitOpError("needs a single stage in tensor memory, got ") << memory;
  if (memory.getShape() != tensor.getShape() || memory.getElementType() != tensor.getElementType())
    return op->emitOpError("moves a tensor of the shape and element type of ") << memory << ", got " << tensor;
  return success();
}

LogicalResult TmemLoadOp::verify() { return verifyMove(*this, getSource().getType(), getResult().getType()); }

LogicalResult TmemStoreOp::verify() { return verifyMove(*this, getDest().getType(), getSource().getType()); }

LogicalResult TmemCopyOp::verify() {
  MemDescType from = getSource().getType(), to = getDest().getType();
  if (from.getSpace() != MemorySpace::Shared || to.getSpace() != MemorySpace::Scales)
    return emitOpError("copies scale factors from shared to tensor memory, got ") << from << " and " << to;
  if (from.getStages() != 1 || to.getStages() != 1)
    return emitOpError("needs single stages, got ") << from << " and " << to;
  if (from.getShape() != to.getShape() || from.getElementType() != to.getElementType())
    return emitOpError("source and destination must have the same shape and element type");
  if (!(*this)->getParentOfType<ElectOp>())
    return emitOpError("must be inside 'nv_tileas.async.elect'");
  return success();
}

LogicalResult TmemScaleOp::verify() {
  MemDescType memory = getMemory().getType();
  auto factor = cast<RankedTensorType>(getFactor().getType());
  if (memory.getSpace() != MemorySpace::Tensor || memory.getStages() != 1)
    return emitOpError("needs a single stage in tensor memory, got ") << memory;
  if (factor.getNumElements() != memory.getShape()[0] || factor.getElementType() != memory.getElementType())
    return emitOpError("needs one factor for each row of ") << memory << ", got " << factor;
  if (!memory.getElementType().isF32())
    return emitOpError("multiplies elements of f32, got ") << memory;
  return success();
}
