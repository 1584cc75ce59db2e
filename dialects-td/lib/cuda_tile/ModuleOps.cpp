//===- ModuleOps.cpp - Modules, globals and functions ---------------------===//
//
// Invariants:
//   module    holds only operations of this dialect; only functions have debug
//             scopes
//   global    the value is a tile of rank 1
//   entry     a name; no results; tile arguments are scalars; legal hints
//   function  its location is not a call site; its debug scope, if any, is a
//             subprogram whose linkage name is the name of the function; operations
//             have a scope only if the function has one, in the same subprogram
//
//===----------------------------------------------------------------------===//
#include "cuda_tile/Directives.h"
#include "cuda_tile/Hints.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;
using namespace cuda_tile;

//===----------------------------------------------------------------------===//
// Default dialect
//===----------------------------------------------------------------------===//

StringRef cuda_tile::ModuleOp::getDefaultDialect() { return "cuda_tile"; }
StringRef EntryOp::getDefaultDialect() { return "cuda_tile"; }
StringRef TestingFuncOp::getDefaultDialect() { return "cuda_tile"; }
StringRef IfOp::getDefaultDialect() { return "cuda_tile"; }
StringRef ForOp::getDefaultDialect() { return "cuda_tile"; }
StringRef LoopOp::getDefaultDialect() { return "cuda_tile"; }
StringRef ReduceOp::getDefaultDialect() { return "cuda_tile"; }
StringRef ScanOp::getDefaultDialect() { return "cuda_tile"; }

//===----------------------------------------------------------------------===//
// Functions: syntax
//===----------------------------------------------------------------------===//

/// `@name(%a: T {attributes} loc, ...) [-> T | -> (T, ...)]`
static ParseResult
parseSignature(OpAsmParser &parser, OperationState &result,
               SmallVectorImpl<OpAsmParser::Argument> &arguments) {
  Builder &builder = parser.getBuilder();
  StringAttr name;
  if (parser.parseSymbolName(name, SymbolTable::getSymbolAttrName(),
                             result.attributes))
    return failure();
  auto parseArgument = [&]() -> ParseResult {
    auto &argument = arguments.emplace_back();
    NamedAttrList attributes;
    if (parser.parseArgument(argument) || parser.parseColon() ||
        parseBareType(parser, argument.type) ||
        parser.parseOptionalAttrDict(attributes) ||
        parser.parseOptionalLocationSpecifier(argument.sourceLoc))
      return failure();
    argument.attrs = attributes.getDictionary(parser.getContext());
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren,
                                     parseArgument))
    return failure();
  SmallVector<Type> inputs, results;
  for (const OpAsmParser::Argument &argument : arguments)
    inputs.push_back(argument.type);
  if (succeeded(parser.parseOptionalArrow())) {
    auto parseResult = [&] {
      return parseBareType(parser, results.emplace_back());
    };
    bool isList = succeeded(parser.parseOptionalLParen());
    if (isList && succeeded(parser.parseOptionalRParen())) {
      // No results at all.
    } else if (isList) {
      if (parser.parseCommaSeparatedList(parseResult) || parser.parseRParen())
        return failure();
    } else if (parseResult()) {
      return failure();
    }
  }
  result.addAttribute(
      "function_type",
      TypeAttr::get(builder.getFunctionType(inputs, results)));
  if (llvm::any_of(arguments, [](const OpAsmParser::Argument &argument) {
        return argument.attrs && !argument.attrs.empty();
      })) {
    SmallVector<Attribute> attributes;
    for (const OpAsmParser::Argument &argument : arguments)
      attributes.push_back(argument.attrs ? argument.attrs
                                          : builder.getDictionaryAttr({}));
    result.addAttribute("arg_attrs", builder.getArrayAttr(attributes));
  }
  return success();
}

static ParseResult parseFunctionBody(OpAsmParser &parser,
                                     OperationState &result,
                                     ArrayRef<OpAsmParser::Argument> arguments) {
  Region *body = result.addRegion();
  if (parser.parseRegion(*body, arguments, /*enableNameShadowing=*/false))
    return failure();
  ensureTerminator(*body, parser.getBuilder(), result.location,
                   ReturnOp::getOperationName());
  return parser.parseOptionalAttrDict(result.attributes);
}

static void printSignature(OpAsmPrinter &printer, FunctionOpInterface op) {
  printer << ' ';
  printer.printSymbolName(op.getName());
  printer << '(';
  llvm::interleaveComma(op.getArguments(), printer, [&](BlockArgument arg) {
    printer << arg << ": ";
    printBareType(printer, arg.getType());
    printer.printOptionalAttrDict(op.getArgAttrs(arg.getArgNumber()));
  });
  printer << ')';
  ArrayRef<Type> results = op.getResultTypes();
  if (results.empty())
    return;
  printer << " -> ";
  if (results.size() == 1)
    return printBareType(printer, results.front());
  printer << '(';
  llvm::interleaveComma(results, printer,
                        [&](Type type) { printBareType(printer, type); });
  printer << ')';
}

static void printFunctionBody(OpAsmPrinter &printer, FunctionOpInterface op) {
  printer << ' ';
  printer.printRegion(op.getFunctionBody(), /*printEntryBlockArgs=*/false);
  printer.printOptionalAttrDict(op->getAttrs(),
                                {"sym_name", "function_type", "arg_attrs",
                                 "res_attrs", "optimization_hints"});
}

ParseResult EntryOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> arguments;
  if (parseSignature(parser, result, arguments))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("optimization_hints"))) {
    OptimizationHintsAttr hints;
    if (parser.parseEqual() || parser.parseCustomAttributeWithFallback(hints))
      return failure();
    result.addAttribute("optimization_hints", hints);
  }
  return parseFunctionBody(parser, result, arguments);
}

void EntryOp::print(OpAsmPrinter &printer) {
  printSignature(printer, *this);
  if (auto hints = getOptimizationHintsAttr();
      hints && !hints.getValue().empty()) {
    printer << " optimization_hints=";
    hints.print(printer);
  }
  printFunctionBody(printer, *this);
}

ParseResult TestingFuncOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> arguments;
  return failure(parseSignature(parser, result, arguments) ||
                 parseFunctionBody(parser, result, arguments));
}

void TestingFuncOp::print(OpAsmPrinter &printer) {
  printSignature(printer, *this);
  printFunctionBody(printer, *this);
}

//===----------------------------------------------------------------------===//
// Functions: debug scopes
//===----------------------------------------------------------------------===//

static LogicalResult verifyFunctionScope(FunctionOpInterface op) {
  auto report = [&](const Twine &reason) -> LogicalResult {
    auto diag = op->emitOpError("invalid function debug info scope");
    diag.attachNote() << reason;
    return diag;
  };
  LocationAttr loc = op->getLoc();
  DILocAttr debugLoc = findDebugLoc(loc);
  auto subprogram = debugLoc
                        ? dyn_cast<DISubprogramAttr>(debugLoc.getScope())
                        : DISubprogramAttr();
  if (isa<CallSiteLoc>(loc) || (debugLoc && !subprogram))
    return report("Function location must have cuda_tile.di_subprogram debug "
                  "info scope");
  if (subprogram && subprogram.getLinkageName() != op.getNameAttr())
    return report("Function name \"" + op.getName() +
                  "\" does not match subprogram scope linkage name \"" +
                  subprogram.getLinkageName().getValue() + "\"");
  return success();
}

static LogicalResult verifyScopesInside(FunctionOpInterface function) {
  DILocAttr functionLoc = findDebugLoc(function->getLoc());
  DISubprogramAttr subprogram =
      functionLoc ? functionLoc.getScope().getSubprogram() : DISubprogramAttr();
  WalkResult walked = function.getFunctionBody().walk([&](Operation *op) {
    DILocAttr loc = findDebugLoc(op->getLoc());
    if (!loc || loc.getScope().getSubprogram() == subprogram)
      return WalkResult::advance();
    auto diag = op->emitOpError("invalid operation debug info scope");
    diag.attachNote() << (subprogram ? "Operation debug info scope does not "
                                       "match function debug info scope"
                                     : "Operation has debug info scope, but "
                                       "function debug info scope is undefined");
    return WalkResult::interrupt();
  });
  return failure(walked.wasInterrupted());
}

LogicalResult EntryOp::verifyRegions() { return verifyScopesInside(*this); }
LogicalResult TestingFuncOp::verifyRegions() {
  return verifyScopesInside(*this);
}

LogicalResult EntryOp::verify() {
  if (getSymName().empty())
    return emitOpError("entry op must have a name");
  if (!getFunctionType().getResults().empty())
    return emitOpError("entry op must not return values");
  for (Type input : getFunctionType().getInputs())
    if (auto tile = dyn_cast<TileType>(input); tile && tile.getRank() != 0)
      return emitOpError(
          "entry op must have scalar types (rank 0 !cuda_tile.tile)");
  if (failed(verifyHints(*this, getOptimizationHintsAttr(), HintSite::Entry)))
    return failure();
  return verifyFunctionScope(*this);
}

LogicalResult TestingFuncOp::verify() { return verifyFunctionScope(*this); }

FunctionOpInterface cuda_tile::getParentFunction(Operation *op) {
  while (op && !isa<EntryOp, TestingFuncOp>(op))
    op = op->getParentOp();
  return cast_or_null<FunctionOpInterface>(op);
}

//===----------------------------------------------------------------------===//
// Modules and globals
//===----------------------------------------------------------------------===//

LogicalResult cuda_tile::ModuleOp::verifyRegions() {
  for (Operation &op : getBody().front()) {
    if (!isa<FunctionOpInterface>(op) && findDebugLoc(op.getLoc())) {
      auto diag = op.emitOpError("invalid operation debug info scope");
      diag.attachNote() << "Global variables must not have scope";
      return diag;
    }
    if (!isa_and_present<CudaTileDialect>(op.getDialect())) {
      auto diag = emitOpError("only ops from the 'cuda_tile' dialect are "
                              "allowed");
      // By location: a remark on the op would print it, which verifies its parents.
      mlir::emitRemark(op.getLoc(), "this op is from another dialect");
      return diag;
    }
  }
  return success();
}

LogicalResult GlobalOp::verify() {
  auto type = dyn_cast<TileType>(getValue().getType());
  if (!type)
    return emitOpError("type must be a tile");
  if (type.getRank() != 1)
    return emitOpError("type must have rank 1");
  // Nothing else checks generic syntax, so it may contain any type.
  if (std::optional<Type> element = getElementType())
    if (!isF8E5M3Element(*element) || !isI8Element(type.getElementType()))
      return emitOpError("a value of ")
             << type << " does not hold elements of " << *element;
  // 0 is the natural alignment of the elements.
  if (uint64_t alignment = getAlignment(); alignment & (alignment - 1))
    return emitOpError("'alignment' must be power of two");
  return success();
}
