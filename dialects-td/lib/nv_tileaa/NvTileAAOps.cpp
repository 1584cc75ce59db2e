// Verifiers and assembly of the ops of nv_tileaa.
#include "nv_tileaa/NvTileAA.h"
#include "nv_tileaa/Shapes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;
using namespace nv_tileaa;

#define GET_OP_CLASSES
#include "nv_tileaa/NvTileAAOps.cpp.inc"

//===-- func ----------------------------------------------------------------//

ParseResult FuncOp::parse(OpAsmParser &parser, OperationState &result) {
  auto type = [](Builder &b, ArrayRef<Type> in, ArrayRef<Type> out, function_interface_impl::VariadicFlag,
                 std::string &) { return b.getFunctionType(in, out); };
  return function_interface_impl::parseFunctionOp(parser, result, /*allowVariadic=*/false,
                                                  getFunctionTypeAttrName(result.name), type,
                                                  getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}
void FuncOp::print(OpAsmPrinter &p) {
  function_interface_impl::printFunctionOp(p, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
                                           getArgAttrsAttrName(), getResAttrsAttrName());
}

//===-- views ---------------------------------------------------------------//

// Invariants: one operand per dynamic extent and stride, all of the same integer type; the pointee is the element
// type.
LogicalResult MakeMemRefOp::verify() {
  StridedMemRefType type = getType();
  if (getBase().getType().getPointee() != type.getElementType())
    return emitOpError("pointee and element type differ");
  size_t shape = llvm::count_if(type.getShape(), ShapedType::isDynamic);
  size_t strides = llvm::count_if(type.getStrides(), ShapedType::isDynamic);
  if (getDynamicShape().size() != shape || getDynamicStrides().size() != strides)
    return emitOpError("expected ") << shape << " dynamic extents and " << strides << " dynamic strides";
  Type index;
  for (Value v : llvm::concat<Value>(getDynamicShape(), getDynamicStrides())) {
    if (index && index != v.getType())
      return emitOpError("dynamic extents and strides must have the same type");
    index = v.getType();
  }
  return success();
}
LogicalResult MakeTiledViewOp::verify() {
  if (getMemref().getType() != getType().getMemref())
    return emitOpError("view is over ") << getType().getMemref() << ", operand is " << getMemref().getType();
  return success();
}

//===-- shapes --------------------------------------------------------------//

static RankedTensorType tensor(Value v) { return cast<RankedTensorType>(v.getType()); }

LogicalResult SplatOp::verify() {
  if (tensor(getResult()).getElementType() != getSource().getType())
    return emitOpError("source must have the element type of the result");
  return success();
}
LogicalResult UnsplatOp::verify() {
  if (tensor(getSource()).getElementType() != getResult().getType() || tensor(getSource()).getNumElements() != 1)
    return emitOpError("source must have one element, of the type of the result");
  return success();
}
LogicalResult BroadcastOp::verify() { return verifyBroadcast(*this, tensor(getSource()), tensor(getResult())); }
LogicalResult ViewOp::verify() { return verifyView(*this, tensor(getSource()), tensor(getResult())); }
LogicalResult PermuteOp::verify() {
  return verifyPermute(*this, getOrder(), tensor(getSource()), tensor(getResult()));
}
LogicalResult CatOp::verify() {
  RankedTensorType lhs = tensor(getLhs()), rhs = tensor(getRhs()), to = tensor(getResult());
  int64_t dim = getDim();
  if (dim < 0 || dim >= to.getRank() || lhs != rhs || lhs.getRank() != to.getRank() ||
      lhs.getElementType() != to.getElementType())
    return emitOpError("operands must have the same type, and the rank and element type of the result");
  for (int64_t d = 0; d < to.getRank(); ++d)
    if (to.getDimSize(d) != lhs.getDimSize(d) * (d == dim ? 2 : 1))
      return emitOpError("wrong extent of result dimension ") << d;
  return success();
}
LogicalResult ExtractSliceOp::verify() {
  RankedTensorType from = tensor(getSource()), to = tensor(getResult());
  if (from.getRank() != to.getRank() || from.getElementType() != to.getElementType() ||
      getIndices().size() != size_t(from.getRank()))
    return emitOpError("source, result and indices must have the same rank");
  for (auto [f, t] : llvm::zip(from.getShape(), to.getShape()))
    if (f % t)
      return emitOpError("source extents must be multiples of result extents");
  return success();
}

// Invariants: the number of operands matches the kind; approx and full only for kinds that have them.
LogicalResult FpOp::verify() {
  size_t want = 2;
  bool approximable = false;
  switch (getKind()) {
  case FpKind::Fma: want = 3; break;
  case FpKind::Sqrt: case FpKind::Rsqrt: case FpKind::Exp: case FpKind::Exp2: case FpKind::Tanh:
    want = 1;
    approximable = true;
    break;
  case FpKind::Div: approximable = true; break;
  default: break;
  }
  if (getNumOperands() != want)
    return emitOpError("expected ") << want << " operands";
  if ((getRounding() == Rounding::Approx || getRounding() == Rounding::Full) && !approximable)
    return emitOpError("has no approximate form");
  return success();
}
