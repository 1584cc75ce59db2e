//===- DebugOps.cpp - Promises and printing -------------------------------===//
//
// Invariants: a predicate applies to the type of its value; a format has one
// expression per operand, and every expression ends.
//
//===----------------------------------------------------------------------===//
#include "cuda_tile/CudaTile.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace cuda_tile;

LogicalResult AssumeOp::verify() {
  return getPredicate().verifyWithAssumeOp(*this, getValue().getType());
}

/// Propagates the name of the value, so that a chain remains readable.
void AssumeOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  std::string name = "assume";
  if (auto producer = getValue().getDefiningOp<OpAsmOpInterface>())
    producer.getAsmResultNames([&](Value value, StringRef suggested) {
      if (value == getValue() && !suggested.empty())
        name += "_" + suggested.str();
    });
  setName(getResult(), name);
}

/// Returns the number of expressions of a printf format, or failure if one does not
/// end. `%%` is a literal percent sign; otherwise an expression extends from `%` to
/// the next conversion character, whatever is in between.
static FailureOr<size_t> countFormatExpressions(StringRef format) {
  static constexpr StringLiteral conversions = "diuoxXeEfFgGaAcsSpn%";
  size_t count = 0;
  for (size_t i = format.find('%'); i != StringRef::npos;
       i = format.find('%', i)) {
    if (format.substr(i + 1).starts_with("%")) {
      i += 2;
      continue;
    }
    size_t end = format.find_first_of(conversions, i + 1);
    if (end == StringRef::npos)
      return failure();
    ++count;
    i = end + 1;
  }
  return count;
}

OperationName::PrintAssemblyFn PrintTkoOp::getPrintAssemblyFn() {
  return [](Operation *op, OpAsmPrinter &p, StringRef defaultDialect) {
    bool renamed =
        cast<CudaTileDialect>(op->getDialect())->usesSpecificationNames;
    if (defaultDialect != CudaTileDialect::getDialectNamespace())
      p << CudaTileDialect::getDialectNamespace() << '.';
    p << (renamed ? "print" : "print_tko");
    cast<PrintTkoOp>(op).print(p);
  };
}

LogicalResult PrintTkoOp::verify() {
  FailureOr<size_t> expressions = countFormatExpressions(getStr());
  if (failed(expressions))
    return emitOpError("found unterminated format expression");
  if (*expressions != getArgs().size())
    return emitOpError("incorrect number of operands: expected ")
           << *expressions << ", found " << getArgs().size();
  return success();
}
