//===- ConversionOps.cpp - Verifiers of conversions -----------------------===//
//
// Invariants: exti widens, trunci narrows; ftof changes the type and supports the
// modes of its formats; ftoi truncates; itof rounds to nearest even and cannot
// convert to f8E8M0FNU; bitcast preserves the width of an element; pack and unpack
// preserve the number of bytes of a tile of rank 1, and change the width of its
// elements.
//
//===----------------------------------------------------------------------===//
#include "cuda_tile/CudaTile.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace cuda_tile;

LogicalResult ExtIOp::verify() {
  if (getFrom().getType().getElementTypeBitWidth() >=
      getTo().getType().getElementTypeBitWidth())
    return emitOpError("extending to smaller or identical integer");
  return success();
}

LogicalResult TruncIOp::verify() {
  if (getFrom().getType().getElementTypeBitWidth() <=
      getTo().getType().getElementTypeBitWidth())
    return emitOpError("truncating to larger or identical integer");
  return success();
}

/// The modes of a conversion, and the diagnostic for all others.
struct ConversionModes {
  SmallVector<RoundingMode, 5> modes;
  const char *message;
};

static ConversionModes getConversionModes(Type from, Type to) {
  constexpr auto NearestEven = RoundingMode::NearestEven,
                 Zero = RoundingMode::Zero,
                 NegativeInf = RoundingMode::NegativeInf,
                 PositiveInf = RoundingMode::PositiveInf,
                 NearestAway = RoundingMode::NearestAway;
  auto isSmall = [](Type type) {
    return isa<Float8E4M3FNType, Float8E5M2Type, Float4E2M1FNType>(type) ||
           isF8E5M3Element(type);
  };
  // The format holds only powers of two, so there is no even neighbor.
  if (isa<Float8E8M0FNUType>(to))
    return {{Zero, PositiveInf},
            " for conversion to f8E8M0FNU. Only 'zero' and 'positive_inf' are "
            "supported"};
  if (isSmall(to))
    return {{NearestEven},
            " for conversion to low-precision type. Only 'nearest_even' is "
            "supported"};
  ConversionModes exact = {
      {NearestEven, Zero, NegativeInf, PositiveInf, NearestAway},
      " for widening conversion. Only IEEE float rounding modes are supported: "
      "'nearest_even', 'zero', 'negative_inf', 'positive_inf', "
      "'nearest_away'"};
  if (to.isF64())
    return exact;
  if (from.isF64() && to.isF32())
    return {{NearestEven, Zero, NegativeInf, PositiveInf},
            " for conversion from f64 to f32. Only 'nearest_even', 'zero', "
            "'negative_inf', and 'positive_inf' are supported"};
  if (from.isF32() && to.isTF32())
    return {{NearestEven, Zero, NearestAway},
            " for conversion from f32 to tf32. Only 'nearest_even', 'zero', and "
            "'nearest_away' are supported"};
  // The largest numbers of the format exceed f16's.
  bool narrows = isF8E5M3Element(from) && to.isF16();
  if ((isSmall(from) && !narrows) || (!from.isF64() && to.isF32()) ||
      ((from.isBF16() || from.isF16()) && to.isTF32()))
    if (!isa<Float8E8M0FNUType>(from))
      return exact;
  return {{NearestEven, Zero},
          ". Only 'nearest_even' and 'zero' are supported for narrowing "
          "conversions to standard types"};
}

LogicalResult FToFOp::verify() {
  Type from = getFrom().getType().getElementType();
  Type to = getTo().getType().getElementType();
  if (from == to)
    return emitOpError("converting tiles must not be a no-op");
  auto [modes, message] = getConversionModes(from, to);
  if (!llvm::is_contained(modes, getRoundingMode()))
    return emitOpError("invalid rounding mode specified") << message;
  return success();
}

LogicalResult FToIOp::verify() {
  if (getRoundingMode() != RoundingMode::NearestIntToZero)
    return emitOpError("invalid rounding mode specified. Only "
                       "'nearest_int_to_zero' is supported");
  return success();
}

LogicalResult IToFOp::verify() {
  if (isa<Float8E8M0FNUType>(getTo().getType().getElementType()))
    return emitOpError("integer to f8E8M0FNU conversion is not supported, "
                       "please first convert to another float type");
  if (getRoundingMode() != RoundingMode::NearestEven)
    return emitOpError("invalid rounding mode specified. Only 'nearest_even' "
                       "is supported");
  return success();
}

LogicalResult BitcastOp::verify() {
  if (getElementBits(getSource().getType().getElementType()) !=
      getElementBits(getType().getElementType()))
    return emitOpError("types must be equal width");
  return success();
}

/// The bits that an element takes in a packed tile. tf32 has 19 significant bits
/// but takes 32.
static int64_t getStorageBits(TileType tile) {
  if (isa<FloatTF32Type>(tile.getElementType()))
    return 32;
  return getElementBits(tile.getElementType());
}

static LogicalResult verifyPacking(Operation *op, TileType source,
                                   TileType result) {
  if (source.getRank() != 1 || result.getRank() != 1)
    return op->emitOpError("expects source and result to be rank-1 tiles");
  int64_t sourceWidth = getStorageBits(source);
  int64_t resultWidth = getStorageBits(result);
  if (sourceWidth == resultWidth)
    return op->emitOpError(
        "expects source and result to have different element type widths");
  int64_t sourceBits = source.getNumElements() * sourceWidth;
  int64_t resultBits = result.getNumElements() * resultWidth;
  if (sourceBits % 8 != 0 || resultBits % 8 != 0)
    return op->emitOpError(
               "expects source and result to be byte aligned, but got source "
               "tile size ")
           << sourceBits << " bits and result tile size " << resultBits
           << " bits";
  if (sourceBits != resultBits)
    return op->emitOpError("expects source and result to have the same size in "
                           "bytes, but got source tile size ")
           << sourceBits / 8 << " bytes and result tile size "
           << resultBits / 8 << " bytes";
  return success();
}
LogicalResult PackOp::verify() {
  return verifyPacking(*this, getSource().getType(), getType());
}
LogicalResult UnpackOp::verify() {
  return verifyPacking(*this, getSource().getType(), getType());
}
