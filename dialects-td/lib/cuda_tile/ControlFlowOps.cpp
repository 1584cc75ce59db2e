//===- ControlFlowOps.cpp - Branches, loops and their terminators ---------===//
//
// Invariants:
//   if        results need both branches; a branch that ends in `yield` yields the
//             types of the results (one that leaves otherwise is exempt); results
//             are not views
//   for       the counter has the type of the bounds; one block argument for each
//             initial value, of its type; carried values are not views
//   loop      the same without a counter; results are not views
//   break     under a loop, through `if` only; carries the results of the loop
//   continue  under for or loop, through `if` only; carries the results of a for,
//             the block arguments of a loop
//   return    under a function, through `if` only; carries its results
//
//===----------------------------------------------------------------------===//
#include "cuda_tile/Directives.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace cuda_tile;

void cuda_tile::ensureTerminator(Region &region, Builder &builder, Location loc,
                                 StringRef name) {
  OpBuilder detached(builder.getContext());
  // MLIR inserts the op that the callback returns, so it must not be inserted yet.
  mlir::impl::ensureRegionTerminator(
      region, detached, loc, [&](OpBuilder &, Location at) {
        return Operation::create(OperationState(at, name));
      });
}

//===----------------------------------------------------------------------===//
// Terminators that may be omitted
//===----------------------------------------------------------------------===//

/// Whether the last operation carries information that parsing would not restore.
template <typename TerminatorT> static bool isWorthPrinting(Region &region) {
  auto implicit = dyn_cast<TerminatorT>(region.front().back());
  return !implicit || implicit.getNumOperands() != 0 ||
         !implicit->getAttrs().empty();
}

static StringRef describeView(Type type) {
  if (isa<TensorViewType>(type))
    return "a tensor_view";
  return isa<TileView>(type) ? "a tile view" : "";
}

/// Views describe memory and are not data: no loop or branch carries them.
static LogicalResult verifyNoViews(Operation *op, StringRef what,
                                   TypeRange types) {
  for (auto [i, type] : llvm::enumerate(types))
    if (StringRef view = describeView(type); !view.empty())
      return op->emitOpError(what)
             << " " << i << " is " << view << ", which is not supported";
  return success();
}

//===----------------------------------------------------------------------===//
// if
//===----------------------------------------------------------------------===//

ParseResult IfOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::UnresolvedOperand condition;
  Type i1 = TileType::get({}, parser.getBuilder().getI1Type());
  Region *thenRegion = result.addRegion();
  Region *elseRegion = result.addRegion();
  if (parser.parseOperand(condition))
    return failure();
  if (succeeded(parser.parseOptionalArrow()) &&
      (parser.parseLParen() || parseBareTypes(parser, result.types) ||
       parser.parseRParen()))
    return failure();
  if (parser.parseRegion(*thenRegion))
    return failure();
  ensureTerminator(*thenRegion, parser.getBuilder(), result.location,
                   YieldOp::getOperationName());
  if (succeeded(parser.parseOptionalKeyword("else"))) {
    if (parser.parseRegion(*elseRegion))
      return failure();
    ensureTerminator(*elseRegion, parser.getBuilder(), result.location,
                     YieldOp::getOperationName());
  }
  // Parsed after the branches, when their names are out of scope: a name defined
  // only inside is undeclared here.
  return failure(parser.parseOptionalAttrDict(result.attributes) ||
                 parser.resolveOperand(condition, i1, result.operands));
}

void IfOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getCondition() << ' ';
  if (getNumResults() != 0) {
    printer << "-> (";
    printBareTypes(printer, *this, getResultTypes());
    printer << ") ";
  }
  printer.printRegion(getThenRegion(), /*printEntryBlockArgs=*/false,
                      isWorthPrinting<YieldOp>(getThenRegion()));
  if (!getElseRegion().empty()) {
    printer << " else ";
    printer.printRegion(getElseRegion(), /*printEntryBlockArgs=*/false,
                        isWorthPrinting<YieldOp>(getElseRegion()));
  }
  printer.printOptionalAttrDict((*this)->getAttrs());
}

LogicalResult IfOp::verify() {
  if (getNumResults() != 0 && getElseRegion().empty())
    return emitOpError("has non-empty return type, must define else branch");
  return verifyNoViews(*this, "result type", getResultTypes());
}

LogicalResult IfOp::verifyRegions() {
  auto verifyBranch = [&](Region &region, StringRef name) -> LogicalResult {
    if (region.empty())
      return success();
    auto yield = dyn_cast<YieldOp>(region.front().back());
    if (!yield)
      return success();
    TypeRange results = getResultTypes(), yielded = yield.getOperandTypes();
    if (results == yielded)
      return success();
    if (results.empty())
      return emitOpError("does not return a value, but ")
             << name << " branch yields " << yielded;
    if (yielded.empty())
      return emitOpError("has return type of ")
             << results << " but " << name << " branch does not yield anything";
    return emitOpError("type does not match yield type, ")
           << name << " branch yields " << yielded << " but op result type is "
           << results;
  };
  if (failed(verifyBranch(getThenRegion(), "then")))
    return failure();
  return verifyBranch(getElseRegion(), "else");
}

//===----------------------------------------------------------------------===//
// Carried values
//===----------------------------------------------------------------------===//

namespace {
struct IterValues {
  SMLoc loc;
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> inits;
};
} // namespace

/// `(%x = %init, ...)`
static ParseResult parseIterValues(OpAsmParser &parser, IterValues &values) {
  values.loc = parser.getCurrentLocation();
  return parser.parseAssignmentList(values.arguments, values.inits);
}

static ParseResult setIterTypes(OpAsmParser &parser, IterValues &values,
                                ArrayRef<Type> types) {
  if (types.size() != values.inits.size())
    return parser.emitError(values.loc)
           << "found different number of iter_values and types";
  for (auto [argument, type] : llvm::zip(values.arguments, types))
    argument.type = type;
  return success();
}

static void printIterValues(OpAsmPrinter &printer,
                            Block::BlockArgListType arguments,
                            OperandRange inits) {
  printer << " iter_values(";
  llvm::interleaveComma(llvm::zip_equal(arguments, inits), printer,
                        [&](auto pair) {
                          printer << std::get<0>(pair) << " = "
                                  << std::get<1>(pair);
                        });
  printer << ")";
}

static LogicalResult verifyIterValues(Operation *op,
                                      Block::BlockArgListType arguments,
                                      OperandRange inits) {
  if (arguments.size() != inits.size())
    return op->emitOpError("mismatch in number of region iterator values and "
                           "loop iterator inits: ")
           << arguments.size() << " vs " << inits.size();
  for (auto [i, argument, init] : llvm::enumerate(arguments, inits))
    if (argument.getType() != init.getType())
      return op->emitOpError("init value ")
             << i << " and region iter_value " << i << " have different type: "
             << init.getType() << " != " << argument.getType();
  return verifyNoViews(op, "loop-carried value", inits.getTypes());
}

//===----------------------------------------------------------------------===//
// for
//===----------------------------------------------------------------------===//

ParseResult ForOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::Argument counter;
  OpAsmParser::UnresolvedOperand lower, upper, step;
  if (succeeded(parser.parseOptionalKeyword("unsigned")))
    result.getOrAddProperties<Properties>().unsignedCmp =
        parser.getBuilder().getUnitAttr();
  if (parser.parseArgument(counter) || parser.parseKeyword("in") ||
      parser.parseLParen() || parser.parseOperand(lower) ||
      parser.parseKeyword("to") || parser.parseOperand(upper) ||
      parser.parseComma() || parser.parseKeyword("step") ||
      parser.parseOperand(step) || parser.parseRParen() ||
      parser.parseColon() || parseBareType(parser, counter.type))
    return failure();
  IterValues values;
  if (succeeded(parser.parseOptionalKeyword("iter_values")) &&
      (parseIterValues(parser, values) || parser.parseArrow() ||
       parser.parseLParen() || parseBareTypes(parser, result.types) ||
       parser.parseRParen() || setIterTypes(parser, values, result.types)))
    return failure();
  values.arguments.insert(values.arguments.begin(), counter);
  Region *body = result.addRegion();
  // Operands after the body, for the same reason as in `if`.
  if (parser.parseRegion(*body, values.arguments) ||
      parser.resolveOperand(lower, counter.type, result.operands) ||
      parser.resolveOperand(upper, counter.type, result.operands) ||
      parser.resolveOperand(step, counter.type, result.operands) ||
      parser.resolveOperands(values.inits, result.types, values.loc,
                             result.operands))
    return failure();
  ensureTerminator(*body, parser.getBuilder(), result.location,
                   ContinueOp::getOperationName());
  return parser.parseOptionalAttrDict(result.attributes);
}

void ForOp::print(OpAsmPrinter &printer) {
  if (getUnsignedCmp())
    printer << " unsigned";
  printer << ' ' << getInductionVar() << " in (" << getLowerBound() << " to "
          << getUpperBound() << ", step " << getStep() << ") : ";
  printBareType(printer, getInductionVar().getType());
  if (!getInitValues().empty()) {
    printIterValues(printer, getRegionIterArgs(), getInitValues());
    printer << " -> (";
    printBareTypes(printer, *this, getResultTypes());
    printer << ")";
  }
  printer << ' ';
  printer.printRegion(getRegion(), /*printEntryBlockArgs=*/false,
                      isWorthPrinting<ContinueOp>(getRegion()));
  printer.printOptionalAttrDict((*this)->getAttrs(),
                                {getUnsignedCmpAttrName()});
}

LogicalResult ForOp::verify() {
  if (getRegion().getNumArguments() == 0 ||
      getInductionVar().getType() != getLowerBound().getType())
    return emitOpError("expected induction variable to be same type as bounds");
  return verifyIterValues(*this, getRegionIterArgs(), getInitValues());
}

LogicalResult ForOp::verifyRegions() {
  if (!isa<ContinueOp>(getBody()->back()))
    return emitOpError("expects body to end with 'cuda_tile.continue'");
  return success();
}

void ForOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  if (getNumResults() != 0)
    setName(getResult(0), "for");
}
void ForOp::getAsmBlockArgumentNames(Region &region,
                                     OpAsmSetValueNameFn setName) {
  for (BlockArgument arg : region.getArguments()) {
    unsigned i = arg.getArgNumber();
    setName(arg, i == 0 ? "loopIdx" : "iterArg" + std::to_string(i - 1));
  }
}

SmallVector<Region *> ForOp::getLoopRegions() { return {&getRegion()}; }
std::optional<SmallVector<Value>> ForOp::getLoopInductionVars() {
  return SmallVector<Value>{getInductionVar()};
}
std::optional<SmallVector<OpFoldResult>> ForOp::getLoopLowerBounds() {
  return SmallVector<OpFoldResult>{OpFoldResult(getLowerBound())};
}
std::optional<SmallVector<OpFoldResult>> ForOp::getLoopUpperBounds() {
  return SmallVector<OpFoldResult>{OpFoldResult(getUpperBound())};
}
std::optional<SmallVector<OpFoldResult>> ForOp::getLoopSteps() {
  return SmallVector<OpFoldResult>{OpFoldResult(getStep())};
}
MutableArrayRef<OpOperand> ForOp::getInitsMutable() {
  return getInitValuesMutable();
}
Block::BlockArgListType ForOp::getRegionIterArgs() {
  return getRegion().getArguments().drop_front(1);
}
std::optional<ResultRange> ForOp::getLoopResults() { return getResults(); }

//===----------------------------------------------------------------------===//
// loop
//===----------------------------------------------------------------------===//

ParseResult LoopOp::parse(OpAsmParser &parser, OperationState &result) {
  IterValues values;
  SmallVector<Type> initTypes;
  if (succeeded(parser.parseOptionalKeyword("iter_values"))) {
    if (parseIterValues(parser, values) || parser.parseColon() ||
        parseBareTypes(parser, initTypes))
      return failure();
    if (succeeded(parser.parseOptionalArrow()) &&
        parseBareTypes(parser, result.types))
      return failure();
  } else if (succeeded(parser.parseOptionalColon()) &&
             parseBareTypes(parser, result.types)) {
    return failure();
  }
  Region *body = result.addRegion();
  if (setIterTypes(parser, values, initTypes) ||
      parser.parseRegion(*body, values.arguments) ||
      parser.resolveOperands(values.inits, initTypes, values.loc,
                             result.operands))
    return failure();
  ensureTerminator(*body, parser.getBuilder(), result.location,
                   ContinueOp::getOperationName());
  return parser.parseOptionalAttrDict(result.attributes);
}

void LoopOp::print(OpAsmPrinter &printer) {
  bool hasInits = !getInitValues().empty();
  if (hasInits) {
    printIterValues(printer, getRegion().getArguments(), getInitValues());
    printer << " : ";
    printBareTypes(printer, *this, getInitValues().getTypes());
  }
  if (getNumResults() != 0) {
    printer << (hasInits ? " -> " : " : ");
    printBareTypes(printer, *this, getResultTypes());
  }
  printer << ' ';
  printer.printRegion(getRegion(), /*printEntryBlockArgs=*/false,
                      isWorthPrinting<ContinueOp>(getRegion()));
  printer.printOptionalAttrDict((*this)->getAttrs());
}

LogicalResult LoopOp::verify() {
  if (failed(verifyIterValues(*this, getRegion().getArguments(),
                              getInitValues())))
    return failure();
  return verifyNoViews(*this, "result type", getResultTypes());
}

LogicalResult LoopOp::verifyRegions() {
  if (!isa<BreakOp, ContinueOp>(getBody()->back()))
    return emitOpError("expects body to end with 'cuda_tile.break' or "
                       "'cuda_tile.continue'");
  return success();
}

SmallVector<Region *> LoopOp::getLoopRegions() { return {&getRegion()}; }

//===----------------------------------------------------------------------===//
// Terminators
//===----------------------------------------------------------------------===//

/// Returns the closest ancestor of one of the kinds `Targets`, if only `if` ops are
/// in between; otherwise reports an error with `chain`, the text of the ops that
/// may be in between.
template <typename... Targets>
static FailureOr<Operation *> findTarget(Operation *op, StringRef chain) {
  Operation *ancestor = op->getParentOp();
  while (isa_and_present<IfOp>(ancestor))
    ancestor = ancestor->getParentOp();
  if (isa_and_present<Targets...>(ancestor))
    return ancestor;
  auto diag = op->emitOpError(
                  "can only be nested within a ancestor chain of ")
              << chain << " operations";
  if (ancestor)
    diag.attachNote(ancestor->getLoc()) << "see unexpected ancestor operation";
  return failure();
}

LogicalResult BreakOp::verify() {
  FailureOr<Operation *> loop = findTarget<LoopOp>(
      *this, "'cuda_tile.loop', 'cuda_tile.if'");
  if (failed(loop))
    return failure();
  if (getOperandTypes() != (*loop)->getResultTypes())
    return emitOpError(
        "operand types must correspond to the parent loop result types");
  return success();
}

LogicalResult ContinueOp::verify() {
  FailureOr<Operation *> loop = findTarget<ForOp, LoopOp>(
      *this, "'cuda_tile.for', 'cuda_tile.loop', 'cuda_tile.if'");
  if (failed(loop))
    return failure();
  auto check = [&](StringRef name, StringRef what,
                   TypeRange expected) -> LogicalResult {
    if (getOperandTypes() == expected)
      return success();
    return emitOpError("`")
           << name << "` is missing a valid terminator. `continue` op should "
           << "have operand types that match the parent loop " << what << ": ("
           << expected << "), but found: (" << getOperandTypes() << ")";
  };
  if (isa<ForOp>(*loop))
    return check("for", "return types", (*loop)->getResultTypes());
  return check("loop", "iter_values",
               TypeRange((*loop)->getRegion(0).getArgumentTypes()));
}

LogicalResult ReturnOp::verify() {
  FailureOr<Operation *> target = findTarget<EntryOp, TestingFuncOp>(
      *this, "'cuda_tile.entry', 'cuda_tile.if'");
  if (failed(target))
    return failure();
  auto function = cast<FunctionOpInterface>(*target);
  ArrayRef<Type> results = function.getResultTypes();
  if (getNumOperands() != results.size())
    return emitOpError("has ")
           << getNumOperands() << " operands, but enclosing function (@"
           << function.getName() << ") returns " << results.size();
  for (auto [i, operand, result] :
       llvm::enumerate(getOperandTypes(), results))
    if (operand != result)
      return emitOpError("type of return operand ")
             << i << " (" << operand << ") doesn't match function result type ("
             << result << ") in function @" << function.getName();
  return success();
}
