// Verifiers of packing, matrix products, reductions and scans of nv_tileaa.
#include "nv_tileaa/Aggregates.h"
#include "nv_tileaa/NvTileAA.h"

using namespace mlir;
using namespace nv_tileaa;

static RankedTensorType tensor(Value v) { return cast<RankedTensorType>(v.getType()); }

//===-- bytes ---------------------------------------------------------------//

// Invariants: rank one on both sides; as many bits.
static LogicalResult verifyBytes(Operation *op, RankedTensorType wide, RankedTensorType bytes) {
  if (wide.getRank() != 1 || bytes.getRank() != 1)
    return op->emitOpError("operand and result must have rank one");
  Type element = wide.getElementType();
  // A value of tf32 occupies a word.
  int64_t width = isa<FloatTF32Type>(element) ? 32 : element.getIntOrFloatBitWidth();
  if (width * wide.getNumElements() != 8 * bytes.getNumElements())
    return op->emitOpError("operand and result must have as many bits");
  return success();
}
LogicalResult PackOp::verify() { return verifyBytes(*this, tensor(getSource()), tensor(getResult())); }
LogicalResult UnpackOp::verify() { return verifyBytes(*this, tensor(getResult()), tensor(getSource())); }

//===-- matrix products -----------------------------------------------------//

// Invariants: one rank, two or three; equal batch extents; M, N and K agree; operands have one element type.
static LogicalResult verifyProduct(Operation *op, RankedTensorType lhs, RankedTensorType rhs, RankedTensorType acc) {
  int64_t rank = acc.getRank();
  if (lhs.getRank() != rank || rhs.getRank() != rank || (rank != 2 && rank != 3))
    return op->emitOpError("operands must have one rank, two or three");
  if (lhs.getElementType() != rhs.getElementType())
    return op->emitOpError("lhs and rhs must have one element type");
  int64_t m = rank - 2, n = rank - 1;
  bool batch = rank == 2 || (lhs.getDimSize(0) == acc.getDimSize(0) && rhs.getDimSize(0) == acc.getDimSize(0));
  if (!batch || lhs.getDimSize(m) != acc.getDimSize(m) || rhs.getDimSize(n) != acc.getDimSize(n) ||
      lhs.getDimSize(n) != rhs.getDimSize(m))
    return op->emitOpError("shapes of lhs, rhs and acc do not form a matrix product");
  return success();
}
LogicalResult DotOp::verify() { return verifyProduct(*this, tensor(getLhs()), tensor(getRhs()), tensor(getAcc())); }

// Invariants: those of a product; scales agree with M and N, their extents along K are equal and divide K.
LogicalResult DotScaledOp::verify() {
  RankedTensorType lhs = tensor(getLhs()), rhs = tensor(getRhs());
  RankedTensorType lhsScale = tensor(getLhsScale()), rhsScale = tensor(getRhsScale());
  if (failed(verifyProduct(*this, lhs, rhs, tensor(getAcc()))))
    return failure();
  int64_t rank = lhs.getRank(), m = rank - 2, n = rank - 1;
  if (lhsScale.getRank() != rank || rhsScale.getRank() != rank ||
      lhsScale.getElementType() != rhsScale.getElementType())
    return emitOpError("scales must have the rank of the operands and one element type");
  bool batch = rank == 2 || (lhsScale.getDimSize(0) == lhs.getDimSize(0) && rhsScale.getDimSize(0) == rhs.getDimSize(0));
  if (!batch || lhsScale.getDimSize(m) != lhs.getDimSize(m) || rhsScale.getDimSize(n) != rhs.getDimSize(n) ||
      lhsScale.getDimSize(n) != rhsScale.getDimSize(m) || lhs.getDimSize(n) % lhsScale.getDimSize(n))
    return emitOpError("shapes of the scales do not fit the operands");
  return success();
}

//===-- reductions and scans ------------------------------------------------//

// Invariants: at least one operand; all operands of one shape; dim is one of its dimensions; one result and one typed
// identity for each operand, the identity of the element type.
static LogicalResult verifyAggregate(Operation *op, ValueRange operands, ValueRange results, ArrayAttr identities,
                                     int64_t dim) {
  if (operands.empty() || results.size() != operands.size() || identities.size() != operands.size())
    return op->emitOpError("expected one result and one identity for each operand");
  RankedTensorType first = tensor(operands.front());
  if (dim < 0 || dim >= first.getRank())
    return op->emitOpError("dim must be less than the rank ") << first.getRank();
  for (Value operand : operands)
    if (tensor(operand).getShape() != first.getShape())
      return op->emitOpError("operands must have one shape");
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
