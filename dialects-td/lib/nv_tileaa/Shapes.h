// Invariants of shapes and element types, shared by nv_tileaa and nv_tileas, whether or not tensors have layouts.
#pragma once
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace nv_tileaa {

// Invariants: the same element count and element type.
inline mlir::LogicalResult verifyView(mlir::Operation *op, mlir::RankedTensorType from, mlir::RankedTensorType to) {
  if (from.getNumElements() != to.getNumElements() || from.getElementType() != to.getElementType())
    return op->emitOpError("source and result must have the same element count and element type");
  return mlir::success();
}

// Invariants: the same rank and element type; extents are equal, or one in the source.
inline mlir::LogicalResult verifyBroadcast(mlir::Operation *op, mlir::RankedTensorType from, mlir::RankedTensorType to) {
  if (from.getRank() != to.getRank() || from.getElementType() != to.getElementType())
    return op->emitOpError("source and result must have the same rank and element type");
  for (auto [f, t] : llvm::zip(from.getShape(), to.getShape()))
    if (f != t && f != 1)
      return op->emitOpError("only dimensions of extent one can be repeated");
  return mlir::success();
}

// Invariants: the order is a permutation of the dimensions that maps the extents; the same element type.
inline mlir::LogicalResult verifyPermute(mlir::Operation *op, mlir::ArrayRef<int32_t> order,
                                         mlir::RankedTensorType from, mlir::RankedTensorType to) {
  int64_t rank = from.getRank();
  if (order.size() != size_t(rank) || rank != to.getRank() || from.getElementType() != to.getElementType())
    return op->emitOpError("order, source and result must have the same rank, source and result the same element type");
  mlir::SmallVector<bool> seen(rank, false);
  for (auto [i, d] : llvm::enumerate(order)) {
    if (d < 0 || d >= rank || seen[d])
      return op->emitOpError("order must be a permutation");
    seen[d] = true;
    if (to.getDimSize(i) != from.getDimSize(d))
      return op->emitOpError("result dimension ") << i << " must have extent " << from.getDimSize(d);
  }
  return mlir::success();
}

// Invariants: the same rank, two or three; equal batch extents; M, N and K agree; operands have the same element
// type.
inline mlir::LogicalResult verifyDot(mlir::Operation *op, mlir::RankedTensorType lhs, mlir::RankedTensorType rhs,
                                         mlir::RankedTensorType acc) {
  int64_t rank = acc.getRank(), m = rank - 2, n = rank - 1;
  if (lhs.getRank() != rank || rhs.getRank() != rank || (rank != 2 && rank != 3))
    return op->emitOpError("operands must have the same rank, two or three");
  if (lhs.getElementType() != rhs.getElementType())
    return op->emitOpError("lhs and rhs must have the same element type");
  bool batch = rank == 2 || (lhs.getDimSize(0) == acc.getDimSize(0) && rhs.getDimSize(0) == acc.getDimSize(0));
  if (!batch || lhs.getDimSize(m) != acc.getDimSize(m) || rhs.getDimSize(n) != acc.getDimSize(n) ||
      lhs.getDimSize(n) != rhs.getDimSize(m))
    return op->emitOpError("shapes of lhs, rhs and acc do not form a matrix product");
  return mlir::success();
}

// Invariants of the scales of a verified dot: they agree with M and N, and their extents along K are equal and divide
// K.
inline mlir::LogicalResult verifyScales(mlir::Operation *op, mlir::RankedTensorType lhs, mlir::RankedTensorType acc,
                                        mlir::RankedTensorType left, mlir::RankedTensorType right) {
  int64_t rank = lhs.getRank(), m = rank - 2, n = rank - 1;
  if (left.getRank() != rank || right.getRank() != rank || left.getElementType() != right.getElementType())
    return op->emitOpError("scales must have the rank of the operands and the same element type");
  int64_t count = left.getDimSize(n);
  bool batch = rank == 2 || (left.getDimSize(0) == acc.getDimSize(0) && right.getDimSize(0) == acc.getDimSize(0));
  if (!batch || left.getDimSize(m) != acc.getDimSize(m) || right.getDimSize(n) != acc.getDimSize(n) ||
      right.getDimSize(m) != count || lhs.getDimSize(n) % count)
    return op->emitOpError("shapes of the scales do not fit the operands");
  return mlir::success();
}

} // namespace nv_tileaa
