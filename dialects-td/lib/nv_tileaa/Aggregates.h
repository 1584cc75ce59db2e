// Invariants of reductions and scans, shared by nv_tileaa and nv_tileas.
#pragma once
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace nv_tileaa {

// Checks that the identities, one per operand, have the operands' element types.
inline mlir::LogicalResult verifyIdentities(mlir::Operation *op, mlir::ValueRange operands, mlir::ArrayAttr identities) {
  for (auto [operand, identity] : llvm::zip(operands, identities)) {
    mlir::Type element = mlir::cast<mlir::RankedTensorType>(operand.getType()).getElementType();
    auto typed = mlir::dyn_cast<mlir::TypedAttr>(identity);
    if (!typed || typed.getType() != element)
      return op->emitOpError("identity ") << identity << " is not of type " << element;
  }
  return mlir::success();
}

// The body takes an element and an accumulator per operand and yields one accumulator per operand.
template <typename Yield>
mlir::LogicalResult verifyBody(mlir::Operation *op, mlir::ValueRange operands, mlir::Block &body) {
  auto yield = mlir::dyn_cast<Yield>(body.getTerminator());
  if (!yield || body.getNumArguments() != 2 * operands.size() || yield.getNumOperands() != operands.size())
    return op->emitOpError("body must take two scalars and yield one for each operand");
  for (auto [i, operand] : llvm::enumerate(operands)) {
    mlir::Type element = mlir::cast<mlir::RankedTensorType>(operand.getType()).getElementType();
    if (body.getArgument(2 * i).getType() != element || body.getArgument(2 * i + 1).getType() != element ||
        yield.getOperand(i).getType() != element)
      return op->emitOpError("body must work on scalars of type ") << element << " for operand " << i;
  }
  return mlir::success();
}

} // namespace nv_tileaa
