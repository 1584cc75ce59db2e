// Verifiers of returns, regions, gathers and histograms of nv_tileaa.
//
// Checked here: yielded values have the required types; shapes and element types. Not checked here: that offsets stay
// in bounds.
#include "nv_tileaa/NvTileAA.h"

using namespace mlir;
using namespace nv_tileaa;

static ArrayRef<int64_t> shapeOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.getShape() : ArrayRef<int64_t>();
}
static Type elementOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.getElementType() : type;
}

//===-- functions -----------------------------------------------------------//

// Invariant: the operands have the function's result types.
LogicalResult ReturnOp::verify() {
  auto function = cast<FuncOp>((*this)->getParentOp());
  if (getOperandTypes() != TypeRange(function.getResultTypes()))
    return emitOpError("returned types differ from the results of function '") << function.getName() << "'";
  return success();
}

// Invariants: at least one result; the region takes no arguments and yields the results.
LogicalResult ExecuteOp::verifyRegions() {
  if (getNumResults() == 0)
    return emitOpError("expected at least one result");
  Block &body = getBody().front();
  if (body.getNumArguments())
    return emitOpError("region takes no arguments");
  auto yield = dyn_cast<YieldOp>(body.getTerminator());
  if (!yield || yield.getOperandTypes() != getResultTypes())
    return emitOpError("region must yield values of the results' types");
  return success();
}

//===-- gathers and histograms ----------------------------------------------//

// Invariants: value, offsets, mask and fill values have the same shape; the pointee is the element type.
static LogicalResult verifyGather(Operation *op, PtrType base, Type value, Type offsets, Value mask) {
  if (shapeOf(value) != shapeOf(offsets) || (mask && shapeOf(mask.getType()) != shapeOf(offsets)))
    return op->emitOpError("value, offsets and mask must have the same shape");
  if (base.getPointee() != elementOf(value))
    return op->emitOpError("pointee and element type differ");
  return success();
}
LogicalResult GatherLoadOp::verify() {
  if (getOther() && getOther().getType() != getResult().getType())
    return emitOpError("fill values must have the type of the result");
  return verifyGather(*this, getBase().getType(), getResult().getType(), getOffsets().getType(), getMask());
}
LogicalResult ScatterStoreOp::verify() {
  return verifyGather(*this, getBase().getType(), getValue().getType(), getOffsets().getType(), getMask());
}

// Invariants: rank one on both sides; the mask has the source's shape.
LogicalResult HistogramOp::verify() {
  if (shapeOf(getSource().getType()).size() != 1 || shapeOf(getResult().getType()).size() != 1)
    return emitOpError("source and result must have rank one");
  if (getMask() && shapeOf(getMask().getType()) != shapeOf(getSource().getType()))
    return emitOpError("mask must have the shape of the source");
  return success();
}

// Invariants: the axis is a dimension of the result, of extent one; without it, the types are equal.
LogicalResult ExpandDimsOp::verify() {
  auto from = cast<RankedTensorType>(getSource().getType()), to = cast<RankedTensorType>(getResult().getType());
  if (int64_t(getAxis()) < 0 || int64_t(getAxis()) > from.getRank())
    return emitOpError("axis must be from 0 to the rank ") << from.getRank();
  SmallVector<int64_t> shape(from.getShape());
  shape.insert(shape.begin() + getAxis(), 1);
  if (to.getShape() != ArrayRef(shape) || to.getElementType() != from.getElementType())
    return emitOpError("result must be the source with an extent of one at ") << getAxis();
  return success();
}
