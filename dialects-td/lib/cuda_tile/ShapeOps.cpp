//===- ShapeOps.cpp - Verifiers and names of shape operations -------------===//
//
// Invariants: iota has rank 1 and its last number fits in the element type;
// broadcast only repeats dimensions of size 1; reshape preserves the number of
// elements; permute has rank 2 or more and a permutation; the parts of cat agree in
// all other dimensions and add up in its dimension; the result of extract divides
// the source.
//
//===----------------------------------------------------------------------===//
#include "cuda_tile/CudaTile.h"
#include "cuda_tile/F8E5M3.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/APSInt.h"
#include "llvm/ADT/SmallBitVector.h"

#include <cmath>

using namespace mlir;
using namespace cuda_tile;

static std::string join(ArrayRef<int64_t> values) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(values, os);
  return text;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// `cst_<value>_<element>`, with the value only if it is a number that a name can
/// hold.
void ConstantOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  std::string name = "cst";
  llvm::raw_string_ostream os(name);
  Type element = getType().getElementType();
  if (isI1Element(element)) {
    if (!getValue().isSplat())
      return setName(getResult(), "cst_i1");
    return setName(getResult(),
                   getValue().getSplatValue<bool>() ? "true" : "false");
  }
  if (getValue().isSplat()) {
    if (isF8E5M3Element(element)) {
      double value =
          f8e5m3::decode(getValue().getSplatValue<APInt>().getZExtValue());
      if (std::isnan(value))
        os << "_NaN";
      else if (value == std::trunc(value))
        os << '_' << static_cast<int64_t>(value);
    } else if (isa<FloatType>(element)) {
      APFloat value = getValue().getSplatValue<APFloat>();
      APSInt integer(64, /*isUnsigned=*/true);
      bool exact = false;
      if (value.isNaN())
        os << "_NaN";
      else if (value.isFinite() &&
               value.convertToInteger(integer, APFloat::rmTowardZero, &exact) ==
                   APFloat::opOK &&
               exact)
        os << '_' << integer;
    } else {
      os << '_' << getValue().getSplatValue<APInt>().getSExtValue();
    }
  }
  os << '_' << getBareName(element);
  setName(getResult(), name);
}
void BroadcastOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), "bcast");
}
void ReshapeOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), "reshape");
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

LogicalResult IotaOp::verify() {
  TileType type = getType();
  if (type.getRank() != 1)
    return emitOpError("expects result type to be 1-d tile");
  unsigned width = type.getElementTypeBitWidth();
  int64_t count = type.getNumElements();
  if (width < 63 && count > (int64_t(1) << width))
    return emitOpError("the number of elements ")
           << count << " exceeds the maximum value of element type "
           << type.getElementType();
  return success();
}

LogicalResult BroadcastOp::verify() {
  ArrayRef<int64_t> from = getSource().getType().getShape();
  ArrayRef<int64_t> to = getType().getShape();
  for (auto [a, b] : llvm::zip_equal(from, to))
    if (a != b && a != 1)
      return emitOpError("expects the shape of source tile to be compatible "
                         "with that of the result tile, but got: ")
             << join(from) << " and " << join(to);
  return success();
}

LogicalResult ReshapeOp::verify() {
  if (getSource().getType().getNumElements() != getType().getNumElements())
    return emitOpError("expected source tile and result tile to have the same "
                       "number of elements");
  return success();
}

LogicalResult PermuteOp::verify() {
  ArrayRef<int64_t> source = getSource().getType().getShape();
  ArrayRef<int64_t> result = getType().getShape();
  ArrayRef<int32_t> permutation = getPermutation();
  int64_t rank = source.size();
  if (rank < 2)
    return emitOpError("expects at least rank 2, but got: ") << rank;
  if (static_cast<int64_t>(permutation.size()) != rank)
    return emitOpError("expect permutation size (")
           << permutation.size() << ") to equal the rank of the source ("
           << rank << ")";
  for (auto [i, dim] : llvm::enumerate(permutation))
    if (dim < 0 || dim >= rank)
      return emitOpError("permutation element at index ")
             << i << " (" << dim << ") is out of bound [0, " << rank << ")";
  llvm::SmallBitVector seen(rank);
  for (int32_t dim : permutation) {
    if (seen.test(dim))
      return emitOpError("expect permutation elements to be unique");
    seen.set(dim);
  }
  for (auto [i, dim] : llvm::enumerate(permutation))
    if (result[i] != source[dim])
      return emitOpError("result shape invalid at index ")
             << i << ", expected: " << source[dim] << ", but got: "
             << result[i];
  return success();
}

LogicalResult CatOp::verify() {
  ArrayRef<int64_t> lhs = getLhs().getType().getShape();
  ArrayRef<int64_t> rhs = getRhs().getType().getShape();
  ArrayRef<int64_t> result = getType().getShape();
  int64_t rank = result.size();
  int64_t dim = static_cast<int64_t>(getDim());
  if (dim < 0 || dim >= rank)
    return emitOpError("expect dim to be [0, ")
           << rank << "), but got: " << dim;
  for (int64_t i = 0; i < rank; ++i) {
    if (i == dim) {
      if (lhs[i] + rhs[i] != result[i])
        return emitOpError("invalid concat at position ")
               << i << ", expected: " << lhs[i] + rhs[i]
               << " but got: " << result[i];
      continue;
    }
    if (lhs[i] != rhs[i])
      return emitOpError(
                 "expect lhs and rhs shapes to match at non-concat position ")
             << i << ", expected: " << lhs[i] << " but got: " << rhs[i];
    if (lhs[i] != result[i])
      return emitOpError(
                 "expect lhs and result shapes to match at non-concat position ")
             << i << ", expected: " << lhs[i] << " but got: " << result[i];
  }
  return success();
}

LogicalResult InsertOp::verify() {
  TileType source = getSource().getType(), result = getType();
  if (source.getRank() != result.getRank())
    return emitOpError("source and result must have the same rank");
  if (source.getElementType() != result.getElementType())
    return emitOpError("source and result element type do not match");
  if (static_cast<int64_t>(getIndices().size()) != source.getRank())
    return emitOpError("expected ")
           << source.getRank() << " indices, but got " << getIndices().size();
  for (auto [i, extents] : llvm::enumerate(
           llvm::zip_equal(source.getShape(), result.getShape()))) {
    auto [slice, whole] = extents;
    if (whole % slice != 0)
      return emitOpError("result dimension ")
             << i << " size (" << whole
             << ") must be evenly divisible by source dimension " << i
             << " size (" << slice << ")";
  }
  return success();
}

LogicalResult ExtractOp::verify() {
  TileType source = getSource().getType(), result = getType();
  if (source.getElementType() != result.getElementType())
    return emitOpError("source and result element type do not match");
  if (static_cast<int64_t>(getIndices().size()) != source.getRank())
    return emitOpError("expected ")
           << source.getRank() << " indices, but got " << getIndices().size();
  for (auto [i, extents, index] :
       llvm::enumerate(llvm::zip_equal(source.getShape(), result.getShape()),
                       getIndices())) {
    auto [from, to] = extents;
    if (from % to != 0)
      return emitOpError("source dimension ")
             << i << " size (" << from
             << ") must be evenly divisible by result dimension " << i
             << " size (" << to << ")";
    // Undefined behavior only if the operation executes, so this is a warning. It
    // is emitted by location: a warning on the op would print and thus verify it.
    DenseIntElementsAttr constant;
    if (!matchPattern(index, m_Constant(&constant)))
      continue;
    uint64_t slice = constant.getSplatValue<APInt>().getZExtValue();
    if (slice >= static_cast<uint64_t>(from / to))
      mlir::emitWarning(getLoc())
          << "slice index " << slice << " is out of bounds for dimension " << i
          << " with " << from / to << " slices";
  }
  return success();
}
