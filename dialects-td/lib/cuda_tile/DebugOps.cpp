//===- DebugOps.cpp - Promises and printing -------------------------------===//
//
// Invariants: a predicate fits the value it is assumed of; a format has as many
// expressions as there are operands, and each of them ends.
//
//===----------------------------------------------------------------------===//
#include "cuda_tile/CudaTile.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace cuda_tile;

LogicalResult AssumeOp::verify() {
  return getPredicate().verifyWithAssumeOp(*this, getValue().getType());
}

/// Takes the name of the value along, so that a chain stays readable.
void AssumeOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  std::string name = "assume";
  if (auto producer = getValue().getDefiningOp<OpAsmOpInterface>())
    producer.getAsmResultNames([&](Value value, StringRef suggested) {
      if (value == getValue() && !suggested.empty())
        name += "_" + suggested.str();
    });
  setName(getResult(), name);
}

/// Number of expressions of a printf format, or failure if one does not end.
/// `%%` is a literal percent sign; otherwise an expression runs from `%` to the
/// next conversion character, whatever stands between.
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

LogicalResult PrintTkoOp::verify() {
  FailureOr<size_t> expressions = countFormatExpressions(getStr());
  if (failed(expressions))
    return emitOpError("found unterminated format expression");
  if (*expressions != getArgs().size())
    return emitOpError("incorrect number of operands: expected ")
           << *expressions << ", found " << getArgs().size();
  return success();
}
