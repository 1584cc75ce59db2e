// Verifiers of copies, gathers, new dimensions and reinterpretations of nv_tileas.
//
// Checked here: pairs of memory spaces, shapes, element types, layouts that must agree, numbers of registers. Not
// checked here: that offsets stay in bounds, and that no other op accesses the storage of a copy.
#include "nv_tileas/NvTileAS.h"

using namespace mlir;
using namespace nv_tileas;

static RankedTensorType tensor(Value v) { return cast<RankedTensorType>(v.getType()); }

static StringRef spaceOf(Type type) {
  auto memory = dyn_cast<MemDescType>(type);
  if (!memory)
    return "registers";
  return memory.getSpace() == MemorySpace::Shared ? "shared memory" : "tensor memory";
}
static ArrayRef<int64_t> shapeOf(Type type) {
  auto memory = dyn_cast<MemDescType>(type);
  return memory ? memory.getShape() : cast<RankedTensorType>(type).getShape();
}
static Type elementOf(Type type) {
  auto memory = dyn_cast<MemDescType>(type);
  return memory ? memory.getElementType() : cast<RankedTensorType>(type).getElementType();
}

// Invariants: one destination; two different memory spaces; the same shape and element type; single-stage storage.
LogicalResult CopyOp::verify() {
  if (bool(getDest()) == bool(getResult()))
    return emitOpError("needs either a destination or a result");
  Type from = getSource().getType(), to = getDest() ? Type(getDest().getType()) : Type(getResult().getType());
  if (spaceOf(from) == spaceOf(to))
    return emitOpError("moves nothing: both sides are in ") << spaceOf(from);
  if (shapeOf(from) != shapeOf(to) || elementOf(from) != elementOf(to))
    return emitOpError("source and destination must have the same shape and element type");
  for (Type side : {from, to})
    if (auto memory = dyn_cast<MemDescType>(side); memory && memory.getStages() != 1)
      return emitOpError("storage must have one stage; take one with memdesc_slot");
  return success();
}

// Invariants: value, offsets, mask and fill values have the same shape and layout; offsets are integers, masks i1;
// the pointee is the element type.
static LogicalResult verifyGather(Operation *op, nv_tileaa::PtrType base, Value value, Value offsets, Value mask) {
  if (!tensor(offsets).getElementType().isSignlessInteger())
    return op->emitOpError("offsets must be integers");
  if (mask && !tensor(mask).getElementType().isInteger(1))
    return op->emitOpError("mask must be of i1");
  for (Value v : {value, mask})
    if (v && (tensor(v).getShape() != tensor(offsets).getShape() || tensor(v).getEncoding() != tensor(offsets).getEncoding()))
      return op->emitOpError("value, offsets and mask must have the same shape and layout");
  if (base.getPointee() != tensor(value).getElementType())
    return op->emitOpError("pointee and element type differ");
  return success();
}
LogicalResult GatherLoadOp::verify() {
  if (getOther() && getOther().getType() != getResult().getType())
    return emitOpError("fill values must have the type of the result");
  return verifyGather(*this, getBase().getType(), getResult(), getOffsets(), getMask());
}
LogicalResult ScatterStoreOp::verify() {
  return verifyGather(*this, getBase().getType(), getValue(), getOffsets(), getMask());
}

// Invariants: the axis is a dimension of the result, of extent one; without it, the types are equal, including the
// layouts.
LogicalResult ExpandDimsOp::verify() {
  RankedTensorType from = tensor(getSource()), to = tensor(getResult());
  if (int64_t(getAxis()) < 0 || int64_t(getAxis()) > from.getRank())
    return emitOpError("axis must be from 0 to the rank ") << from.getRank();
  SmallVector<int64_t> shape(from.getShape());
  shape.insert(shape.begin() + getAxis(), 1);
  if (to.getShape() != ArrayRef(shape) || to.getElementType() != from.getElementType())
    return emitOpError("result must be the source with an extent of one at ") << getAxis();
  if (from.getEncoding() != to.getEncoding())
    return emitOpError("row-major indices do not change, so the layout must not either");
  return success();
}

// Invariants: the same element type and the same numbers of registers, warps and CTAs.
LogicalResult ReinterpretOp::verify() {
  RankedTensorType from = tensor(getSource()), to = tensor(getResult());
  if (from.getElementType() != to.getElementType())
    return emitOpError("source and result must have the same element type");
  auto a = cast<LayoutAttr>(from.getEncoding()), b = cast<LayoutAttr>(to.getEncoding());
  if (a.getRegisters().size() != b.getRegisters().size() || a.getWarps().size() != b.getWarps().size() ||
      a.getBlocks().size() != b.getBlocks().size())
    return emitOpError("source and result must have the same numbers of registers, warps and CTAs");
  return success();
}
