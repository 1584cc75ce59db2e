//===- ArithmeticOps.cpp - Verifiers of arithmetic and mathematics --------===//
//
// Invariants, in the order in which they are checked: the operation has the
// rounding mode; `approx` and `full` require f32; `flush_to_zero` requires f32;
// unsigned integer division does not round to negative infinity; negation promises
// nothing about unsigned overflow.
//
// The parsers accept only legal modes, so the mode checks matter for generic
// syntax, bytecode and builders.
//
//===----------------------------------------------------------------------===//
#include "cuda_tile/CudaTile.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace cuda_tile;

static LogicalResult verifyMode(Operation *op, RoundingMode mode,
                                ArrayRef<RoundingMode> modes) {
  if (llvm::is_contained(modes, mode))
    return success();
  auto diag =
      op->emitOpError("invalid rounding mode specified, expect one of [");
  llvm::interleaveComma(modes, diag, [&](RoundingMode candidate) {
    diag << stringifyRoundingMode(candidate);
  });
  return diag << "]";
}

static LogicalResult verifyF32Only(Operation *op, StringRef modifier,
                                   bool present, TileType type) {
  if (!present || type.getElementType().isF32())
    return success();
  return op->emitOpError(modifier)
         << " modifier only supported for f32 data type, but got: "
         << type.getElementType();
}

static LogicalResult verifyFlush(Operation *op, bool present, TileType type) {
  return verifyF32Only(op, "flush_to_zero", present, type);
}

static LogicalResult verifyApproximation(Operation *op, RoundingMode mode,
                                         TileType type) {
  if (failed(verifyF32Only(op, "approx", mode == RoundingMode::Approx, type)))
    return failure();
  return verifyF32Only(op, "full", mode == RoundingMode::Full, type);
}

static constexpr RoundingMode kIEEEModes[] = {
    RoundingMode::NearestEven, RoundingMode::Zero, RoundingMode::NegativeInf,
    RoundingMode::PositiveInf};
static constexpr RoundingMode kSqrtModes[] = {
    RoundingMode::NearestEven, RoundingMode::Zero, RoundingMode::NegativeInf,
    RoundingMode::PositiveInf, RoundingMode::Approx};
static constexpr RoundingMode kDivModes[] = {
    RoundingMode::NearestEven, RoundingMode::Zero,   RoundingMode::NegativeInf,
    RoundingMode::PositiveInf, RoundingMode::Approx, RoundingMode::Full};
static constexpr RoundingMode kApproxModes[] = {RoundingMode::Approx,
                                                RoundingMode::Full};

template <typename OpT> static LogicalResult verifyIEEE(OpT op) {
  if (failed(verifyMode(op, op.getRoundingMode(), kIEEEModes)))
    return failure();
  return verifyFlush(op, op.getFlushToZero(), op.getType());
}
LogicalResult AddFOp::verify() { return verifyIEEE(*this); }
LogicalResult SubFOp::verify() { return verifyIEEE(*this); }
LogicalResult MulFOp::verify() { return verifyIEEE(*this); }
LogicalResult FmaOp::verify() { return verifyIEEE(*this); }

LogicalResult DivFOp::verify() {
  if (failed(verifyMode(*this, getRoundingMode(), kDivModes)) ||
      failed(verifyFlush(*this, getFlushToZero(), getType())))
    return failure();
  return verifyApproximation(*this, getRoundingMode(), getType());
}
LogicalResult SqrtOp::verify() {
  if (failed(verifyMode(*this, getRoundingMode(), kSqrtModes)) ||
      failed(verifyFlush(*this, getFlushToZero(), getType())))
    return failure();
  return verifyApproximation(*this, getRoundingMode(), getType());
}

LogicalResult MaxFOp::verify() {
  return verifyFlush(*this, getFlushToZero(), getType());
}
LogicalResult MinFOp::verify() {
  return verifyFlush(*this, getFlushToZero(), getType());
}
LogicalResult RsqrtOp::verify() {
  return verifyFlush(*this, getFlushToZero(), getType());
}
LogicalResult Exp2Op::verify() {
  return verifyFlush(*this, getFlushToZero(), getType());
}

// `full` is the default here and legal for every format.
template <typename OpT> static LogicalResult verifyApproxOrFull(OpT op) {
  if (failed(verifyMode(op, op.getRoundingMode(), kApproxModes)))
    return failure();
  return verifyF32Only(op, "approx",
                       op.getRoundingMode() == RoundingMode::Approx,
                       op.getType());
}
LogicalResult ExpOp::verify() { return verifyApproxOrFull(*this); }
LogicalResult TanHOp::verify() { return verifyApproxOrFull(*this); }

LogicalResult NegIOp::verify() {
  if (getOverflow() == IntegerOverflow::NoUnsignedWrap)
    return emitOpError("'no_unsigned_wrap' overflow flag is not supported");
  return success();
}

LogicalResult DivIOp::verify() {
  static constexpr RoundingMode modes[] = {
      RoundingMode::Zero, RoundingMode::NegativeInf, RoundingMode::PositiveInf};
  if (failed(verifyMode(*this, getRounding(), modes)))
    return failure();
  if (getRounding() == RoundingMode::NegativeInf &&
      getSignedness() == Signedness::Unsigned)
    return emitOpError("rounding mode 'negative_inf' is not allowed with "
                       "'unsigned' flag");
  return success();
}

LogicalResult SelectOp::verify() {
  // Two elements share a byte, so lanes cannot be selected separately.
  if (isa<Float4E2M1FNType>(getType().getElementType()))
    return emitOpError("cannot operate on sub-byte type F4E2M1FN");
  return success();
}
