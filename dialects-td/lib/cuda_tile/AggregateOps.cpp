//===- AggregateOps.cpp - Reductions and scans ----------------------------===//
//
// Invariants of the operation: as many results and identities as operands; the
// dimension exists; identities are typed and have the element type of their operand
// (f16 and bf16 are interchangeable); a scan preserves the types. Invariants of the
// body: two scalar arguments per operand, element and accumulator, both of its
// element type; one yielded value of this type per operand; only pure operations,
// so that the order of combination is free. Inference checks the types of a
// reduction's results.
//
// Not checked, because it cannot be: that the body is associative.
//
//===----------------------------------------------------------------------===//
#include "cuda_tile/Directives.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace cuda_tile;

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

static ParseResult parseIdentities(OpAsmParser &parser,
                                   OperationState &result) {
  SmallVector<Attribute> identities;
  if (parser.parseKeyword("identities") || parser.parseEqual() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        return parser.parseAttribute(identities.emplace_back());
      }))
    return failure();
  result.addAttribute("identities",
                      parser.getBuilder().getArrayAttr(identities));
  return success();
}

static ParseResult parseBody(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> arguments;
  auto parseArgument = [&]() -> ParseResult {
    auto &argument = arguments.emplace_back();
    return failure(parser.parseArgument(argument) || parser.parseColon() ||
                   parseBareType(parser, argument.type) ||
                   parser.parseOptionalLocationSpecifier(argument.sourceLoc));
  };
  return failure(parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren,
                                                parseArgument) ||
                 parser.parseRegion(*result.addRegion(), arguments));
}

static ParseResult parseAggregate(OpAsmParser &parser, OperationState &result,
                                  bool hasReverse) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> types;
  SMLoc loc = parser.getCurrentLocation();
  Builder &builder = parser.getBuilder();
  int32_t dim;
  if (parser.parseOperandList(operands) || parser.parseKeyword("dim") ||
      parser.parseEqual() || parser.parseInteger(dim))
    return failure();
  result.addAttribute("dim", builder.getI32IntegerAttr(dim));
  if (hasReverse) {
    BoolAttr reverse;
    if (parser.parseKeyword("reverse") || parser.parseEqual() ||
        parser.parseAttribute(reverse))
      return failure();
    result.addAttribute("reverse", reverse);
  }
  if (parseIdentities(parser, result) ||
      parser.parseOptionalAttrDict(result.attributes) || parser.parseColon() ||
      parseBareTypes(parser, types) || parser.parseArrow() ||
      parseBareTypes(parser, result.types) ||
      parser.resolveOperands(operands, types, loc, result.operands))
    return failure();
  return parseBody(parser, result);
}

static void printAggregate(OpAsmPrinter &printer, Operation *op, int64_t dim,
                           std::optional<bool> reverse, ArrayAttr identities,
                           Region &body) {
  printer << ' ' << op->getOperands() << " dim=" << dim;
  if (reverse)
    printer << " reverse=" << (*reverse ? "true" : "false");
  printer << " identities=" << identities;
  printer.printOptionalAttrDict(op->getAttrs(),
                                {"dim", "reverse", "identities"});
  printer << " : ";
  printBareTypes(printer, op, op->getOperandTypes());
  printer << " -> ";
  printBareTypes(printer, op, op->getResultTypes());
  printer << ' ';
  printer.printNewline();
  printer << '(';
  llvm::interleaveComma(body.getArguments(), printer, [&](BlockArgument arg) {
    printer << arg << ": ";
    printBareType(printer, arg.getType());
  });
  printer << ") ";
  printer.printRegion(body, /*printEntryBlockArgs=*/false);
}

ParseResult ReduceOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseAggregate(parser, result, /*hasReverse=*/false);
}
void ReduceOp::print(OpAsmPrinter &printer) {
  printAggregate(printer, *this, getDim(), std::nullopt, getIdentities(),
                 getBody());
}
ParseResult ScanOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseAggregate(parser, result, /*hasReverse=*/true);
}
void ScanOp::print(OpAsmPrinter &printer) {
  printAggregate(printer, *this, getDim(), getReverse(), getIdentities(),
                 getBody());
}

void ReduceOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  if (getNumResults() != 0)
    setName(getResult(0), "reduce");
}
void ReduceOp::getAsmBlockArgumentNames(Region &region,
                                        OpAsmSetValueNameFn setName) {
  bool numbered = region.getNumArguments() > 2;
  for (BlockArgument arg : region.getArguments()) {
    unsigned i = arg.getArgNumber();
    std::string name = i % 2 == 0 ? "reduce_lhs" : "reduce_rhs";
    setName(arg, numbered ? name + std::to_string(i / 2) : name);
  }
}

//===----------------------------------------------------------------------===//
// Types of the results
//===----------------------------------------------------------------------===//

LogicalResult
ReduceOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                           ValueRange operands, DictionaryAttr attributes,
                           OpaqueProperties properties, RegionRange regions,
                           SmallVectorImpl<Type> &types) {
  ReduceOp::Adaptor adaptor(operands, attributes, properties, regions);
  int64_t dim = adaptor.getDim();
  for (Type operand : operands.getTypes()) {
    auto tile = dyn_cast<TileType>(operand);
    if (!tile || dim < 0 || dim >= tile.getRank())
      return emitOptionalError(loc, "cannot reduce dimension ", dim, " of ",
                               operand);
    SmallVector<int64_t> shape(tile.getShape());
    shape.erase(shape.begin() + dim);
    types.push_back(tile.withShape(shape));
  }
  return success();
}

LogicalResult ScanOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                       ValueRange operands, DictionaryAttr,
                                       OpaqueProperties, RegionRange,
                                       SmallVectorImpl<Type> &types) {
  llvm::append_range(types, operands.getTypes());
  return success();
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

static bool isHalfFloat(Type type) {
  return isa<Float16Type, BFloat16Type>(type);
}

template <typename OpT> static LogicalResult verifyAggregate(OpT op) {
  OperandRange operands = op.getOperands();
  if (operands.size() != op.getNumResults())
    return op.emitOpError("expect same number of operands and results");
  if (operands.empty())
    return op.emitOpError("expect at least one operand");
  ArrayAttr identities = op.getIdentities();
  if (identities.size() != operands.size())
    return op.emitOpError(
               "expect identities to match the number of operands but got: ")
           << operands.size() << " operands and " << identities.size()
           << " identities";
  int64_t rank = cast<TileType>(operands.front().getType()).getRank();
  if (static_cast<int64_t>(op.getDim()) >= rank)
    return op.emitOpError("dimension (")
           << op.getDim() << ") is out of bound [0, " << rank << ")";
  for (auto [i, operand, identity] : llvm::enumerate(operands, identities)) {
    auto typed = dyn_cast<TypedAttr>(identity);
    if (!typed)
      return op.emitOpError("expect identity at index: ")
             << i << " to be a typed attribute but got: " << identity;
    Type element = cast<TileType>(operand.getType()).getElementType();
    bool interchangeable = isHalfFloat(element) && isHalfFloat(typed.getType());
    if (element != typed.getType() && !interchangeable)
      return op.emitOpError("expect same type for operand at index: ")
             << i << " and identity at index: " << i << " but got: " << element
             << " and " << typed.getType();
  }
  return success();
}

LogicalResult ReduceOp::verify() { return verifyAggregate(*this); }

LogicalResult ScanOp::verify() {
  if (failed(verifyAggregate(*this)))
    return failure();
  for (auto [i, operand, result] : llvm::enumerate(getOperands(), getResults()))
    if (operand.getType() != result.getType())
      return emitOpError("expect same type for operand at index: ")
             << i << " and result at index: " << i << " but got: "
             << operand.getType() << " and " << result.getType();
  return success();
}

template <typename OpT> static LogicalResult verifyAggregateBody(OpT op) {
  OperandRange operands = op.getOperands();
  Block &body = op.getBody().front();
  if (body.getNumArguments() != 2 * operands.size())
    return op.emitOpError("expect ")
           << 2 * operands.size() << " block arguments but got: "
           << body.getNumArguments();
  for (BlockArgument arg : body.getArguments()) {
    auto tile = dyn_cast<TileType>(arg.getType());
    if (!tile || tile.getRank() != 0)
      return op.emitOpError("expect 0-rank tile type at index: ")
             << arg.getArgNumber() << " but got: " << arg.getType();
  }
  auto element = [](Value value) {
    return cast<TileType>(value.getType()).getElementType();
  };
  for (unsigned i = 0; i < operands.size(); ++i) {
    Type first = element(body.getArgument(2 * i));
    Type second = element(body.getArgument(2 * i + 1));
    if (first != second)
      return op.emitOpError(
                 "expect same element type for block argument at index: ")
             << 2 * i << " and " << 2 * i + 1 << " but got: " << first
             << " and " << second;
    if (element(operands[i]) != first)
      return op.emitOpError("expect same type for operand at index: ")
             << i << " and block argument at index: " << 2 * i << " but got: "
             << element(operands[i]) << " and " << first;
  }

  for (Operation &nested : body.without_terminator())
    if (!isPure(&nested))
      return nested.emitOpError("only pure operations are allowed inside '")
             << op->getName() << "'";

  auto yield = dyn_cast<YieldOp>(body.getTerminator());
  if (!yield)
    return op.emitOpError("expect body to end with a yield");
  if (yield.getNumOperands() != operands.size())
    return op.emitOpError("expect number of terminators operands (")
           << yield.getNumOperands() << ") to match number of operands ("
           << operands.size() << ")";
  for (auto [i, operand, yielded] :
       llvm::enumerate(operands, yield.getOperands())) {
    auto tile = dyn_cast<TileType>(yielded.getType());
    if (!tile || tile.getRank() != 0)
      return op.emitOpError("expect 0-rank tile type for terminator argument "
                            "at index: ")
             << i << " but got: " << yielded.getType();
    if (tile.getElementType() != element(operand))
      return op.emitOpError("expect same type for operand at index: ")
             << i << " and terminator argument at index: " << i << " but got: "
             << element(operand) << " and " << tile.getElementType();
  }
  return success();
}
LogicalResult ReduceOp::verifyRegions() { return verifyAggregateBody(*this); }
LogicalResult ScanOp::verifyRegions() { return verifyAggregateBody(*this); }
