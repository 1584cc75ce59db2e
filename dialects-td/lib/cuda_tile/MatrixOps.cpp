//===- MatrixOps.cpp - Verifiers of matrix multiplication -----------------===//
//
// Invariants, in the order in which they are checked: rank 2 or 3; equal batch
// extents; K, M and N agree between the operands; the table lists the combination
// of element types. With scales: batch, M and N of the scales, K of both scales,
// types, divisibility of K, and the number of elements per scale.
//
//===----------------------------------------------------------------------===//
#include "cuda_tile/CudaTile.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace cuda_tile;

static void appendShape(InFlightDiagnostic &diag, ArrayRef<int64_t> shape) {
  diag << "(";
  llvm::interleaveComma(shape, diag);
  diag << ")";
}

namespace {
/// One operand with its name in diagnostics.
struct Side {
  StringRef name;
  ArrayRef<int64_t> shape;
};
} // namespace

static LogicalResult verifyEqualDims(Operation *op, Side a, int64_t dimA,
                                     Side b, int64_t dimB,
                                     StringRef prefix = "",
                                     bool withShapes = true) {
  if (a.shape[dimA] == b.shape[dimB])
    return success();
  auto diag = op->emitOpError(prefix);
  diag << "dim " << dimA << " of " << a.name << " (" << a.shape[dimA]
       << ") and dim " << dimB << " of " << b.name << " (" << b.shape[dimB]
       << ") must match";
  if (withShapes) {
    diag << ", but got " << a.name << " shape ";
    appendShape(diag, a.shape);
    diag << " and " << b.name << " shape ";
    appendShape(diag, b.shape);
  }
  return diag;
}

template <typename OpT> static LogicalResult verifyShapes(OpT op) {
  Side lhs{"lhs", op.getLhs().getType().getShape()};
  Side rhs{"rhs", op.getRhs().getType().getShape()};
  Side acc{"acc", op.getAcc().getType().getShape()};
  int64_t rank = lhs.shape.size();
  if (rank != 2 && rank != 3)
    return op.emitOpError("expects operands of rank 2 or 3, but got: ") << rank;
  int64_t m = rank - 2, n = rank - 1;
  if (rank == 3 && (failed(verifyEqualDims(op, lhs, 0, rhs, 0)) ||
                    failed(verifyEqualDims(op, lhs, 0, acc, 0))))
    return failure();
  if (failed(verifyEqualDims(op, lhs, n, rhs, m)) ||
      failed(verifyEqualDims(op, lhs, m, acc, m)))
    return failure();
  return verifyEqualDims(op, rhs, n, acc, n);
}

LogicalResult MmaIOp::verify() { return verifyShapes(*this); }

LogicalResult MmaFOp::verify() {
  if (failed(verifyShapes(*this)))
    return failure();
  Type input = getLhs().getType().getElementType();
  Type acc = getAcc().getType().getElementType();
  MLIRContext *context = getContext();
  SmallVector<Type, 2> allowed;
  if (isa<Float16Type, Float8E4M3FNType, Float8E5M2Type>(input))
    allowed = {Float16Type::get(context), Float32Type::get(context)};
  else if (isa<Float64Type>(input))
    allowed = {Float64Type::get(context)};
  else
    allowed = {Float32Type::get(context)};
  if (llvm::is_contained(allowed, acc))
    return success();
  auto diag = emitOpError("unsupported combination of element types. Input "
                          "type ");
  diag << input << " expects accumulator/result type to be one of {";
  llvm::interleaveComma(allowed, diag);
  return diag << "}, but got " << acc;
}

LogicalResult MmaFScaledOp::verify() {
  if (failed(verifyShapes(*this)))
    return failure();
  Side lhs{"lhs", getLhs().getType().getShape()};
  Side rhs{"rhs", getRhs().getType().getShape()};
  Side lhsScale{"lhs_scale", getLhsScale().getType().getShape()};
  Side rhsScale{"rhs_scale", getRhsScale().getType().getShape()};
  int64_t rank = lhs.shape.size();
  int64_t m = rank - 2, n = rank - 1;
  auto same = [&](Side a, int64_t dimA, Side b, int64_t dimB,
                  bool withShapes = false) {
    return verifyEqualDims(*this, a, dimA, b, dimB, "shape error: ",
                           withShapes);
  };
  if (rank == 3 && (failed(same(lhs, 0, lhsScale, 0)) ||
                    failed(same(rhs, 0, rhsScale, 0))))
    return failure();
  if (failed(same(lhs, m, lhsScale, m)) || failed(same(rhs, n, rhsScale, n)) ||
      failed(same(lhsScale, n, rhsScale, m, /*withShapes=*/true)))
    return failure();

  Type element = getLhs().getType().getElementType();
  Type scale = getLhsScale().getType().getElementType();
  bool isF4 = isa<Float4E2M1FNType>(element);
  bool isE4M3Scale = isa<Float8E4M3FNType>(scale);
  bool isE5M3Scale = isF8E5M3Element(scale);
  if ((isE4M3Scale || isE5M3Scale) && !isF4)
    return emitOpError("unsupported combination of element types. Scale type '")
           << getBareName(scale)
           << "' expects lhs and rhs element types to be 'f4E2M1FN', "
           << "but got " << element;

  int64_t k = lhs.shape[n], blocks = lhsScale.shape[n];
  if (k % blocks != 0)
    return emitOpError("shape error: dim ")
           << n << " of lhs (" << k << ") must be evenly divisible by dim " << n
           << " of lhs_scale (" << blocks << ")";
  int64_t factor = k / blocks;
  auto wrongFactor = [&](StringRef what, StringRef expected) {
    return emitOpError("shape error: ")
           << what << " requires block scale factor of lhs_scale and rhs_scale "
           << "to be " << expected << ", but got " << factor;
  };
  if (!isF4 && factor != 32)
    return wrongFactor("f8 element type", "32");
  if (isF4 && isE4M3Scale && factor != 16)
    return wrongFactor("f4E2M1FN element type with f8E4M3FN scales", "16");
  if (isF4 && !isE4M3Scale && factor != 16 && factor != 32)
    return wrongFactor("f4E2M1FN element type with " + getBareName(scale) +
                           " scales",
                       "16 or 32");
  return success();
}
