// Verifiers of packing, dots, reductions and scans of nv_tileaa.
#include "nv_tileaa/Aggregates.h"
#include "nv_tileaa/NvTileAA.h"
#include "nv_tileaa/Shapes.h"

using namespace mlir;
using namespace nv_tileaa;

static RankedTensorType tensor(Value v) { return cast<RankedTensorType>(v.getType()); }

//===-- bytes ---------------------------------------------------------------//

// Invariants: rank one on both sides; the same number of bits.
static LogicalResult verifyBytes(Operation *op, RankedTensorType wide, RankedTensorType bytes) {
  if (wide.getRank() != 1 || bytes.getRank() != 1)
    return op->emitOpError("operand and result must have rank one");
  Type element = wide.getElementType();
  // A tf32 value takes 32 bits.
  int64_t width = isa<FloatTF32Type>(element) ? 32 : element.getIntOrFloatBitWidth();
  if (width * wide.getNumElements() != 8 * bytes.getNumElements())
    return op->emitOpError("operand and result must have the same number of bits");
  return success();
}
LogicalResult PackOp::verify() { return verifyBytes(*this, tensor(getSource()), tensor(getResult())); }
LogicalResult UnpackOp::verify() { return verifyBytes(*this, tensor(getResult()), tensor(getSource())); }

//===-- dots ----------------------------------------------------------------//

LogicalResult DotOp::verify() { return verifyDot(*this, tensor(getLhs()), tensor(getRhs()), tensor(getAcc())); }

// Invariants: as for a dot and its scales.
LogicalResult DotScaledOp::verify() {
  RankedTensorType lhs = tensor(getLhs()), acc = tensor(getAcc());
  if (failed(verifyDot(*this, lhs, tensor(getRhs()), acc)))
    return failure();
  return verifyScales(*this, lhs, acc, tensor(getLhsScale()), tensor(getRhsScale()));
}

//===-- reductions and scans ------------------------------------------------//

// Invariants: at least one operand; all have the same shape; dim is one of their dimensions; one result and one typed
// identity per operand, the identity of the element type.
static LogicalResult verifyAggregate(Operation *op, ValueRange operands, ValueRange results, ArrayAttr identities,
                                     int64_t dim) {
  if (operands.empty() || results.size() != operands.size() || identities.size() != operands.size())
    return op->emitOpError("expected one result and one identity for each operand");
  RankedTensorType first = tensor(operands.front());
  if (dim < 0 || dim >= first.getRank())
    return op->emitOpError("dim must be less than the rank ") << first.getRank();
  for (Value operand : operands)
    if (tensor(operand).getShape() != first.getShape())
      return op->emitOpError("operands must have the same shape");
  return verifyIdentities(op, operands, identities);
}
LogicalResult ReduceOp::verify() {
  if (failed(verifyAggregate(*this, getOperands(), getResults(), getIdentities(), getDim())))
    return failure();
  for (auto [operand, result] : llvm::zip(getOperands(), getResults())) {
    SmallVector<int64_t> shape(tensor(operand).getShape());
    shape.erase(shape.begin() + getDim());
    Type element = tensor(operand).getElementType();
    Type want = shape.empty() ? element : Type(RankedTensorType::get(shape, element));
    if (result.getType() != want)
      return emitOpError("expected a result of type ") << want << ", got " << result.getType();
  }
  return success();
}
LogicalResult ScanOp::verify() {
  if (failed(verifyAggregate(*this, getOperands(), getResults(), getIdentities(), getDim())))
    return failure();
  if (getOperandTypes() != getResultTypes())
    return emitOpError("results must have the types of the operands");
  return success();
}

LogicalResult ReduceOp::verifyRegions() { return verifyBody<YieldOp>(*this, getOperands(), getBody().front()); }
LogicalResult ScanOp::verifyRegions() { return verifyBody<YieldOp>(*this, getOperands(), getBody().front()); }
