//===- Directives.cpp - Custom directives of the assembly formats ---------===//
#include "cuda_tile/Directives.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace cuda_tile;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

ParseResult cuda_tile::parseBareTypes(OpAsmParser &parser, Types &types) {
  return parser.parseCommaSeparatedList(
      [&] { return parseBareType(parser, types.emplace_back()); });
}
void cuda_tile::printBareType(OpAsmPrinter &printer, Operation *, Type type) {
  printBareType(printer, type);
}
void cuda_tile::printBareTypes(OpAsmPrinter &printer, Operation *,
                               TypeRange types) {
  llvm::interleaveComma(types, printer,
                        [&](Type type) { printBareType(printer, type); });
}

ParseResult cuda_tile::parseOperand(
    OpAsmParser &parser,
    std::optional<OpAsmParser::UnresolvedOperand> &operand) {
  return parser.parseOperand(operand.emplace());
}
void cuda_tile::printOperand(OpAsmPrinter &printer, Operation *,
                             Value operand) {
  printer << operand;
}
ParseResult cuda_tile::parseOperands(
    OpAsmParser &parser,
    SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands) {
  return parser.parseCommaSeparatedList(
      [&] { return parser.parseOperand(operands.emplace_back()); });
}
void cuda_tile::printOperands(OpAsmPrinter &printer, Operation *,
                              OperandRange operands) {
  printer << operands;
}

ParseResult cuda_tile::parseIndexTypes(OpAsmParser &parser, Operands indices,
                                       Types &types) {
  SMLoc loc = parser.getCurrentLocation();
  if (indices.empty()) {
    // The verifier knows the expected number and reports it.
    SmallVector<Type> unused;
    if (succeeded(parser.parseOptionalComma()))
      return parseBareTypes(parser, unused);
    return success();
  }
  if (parser.parseComma() || parseBareTypes(parser, types))
    return failure();
  if (types.size() == 1)
    types.assign(indices.size(), Type(types.front()));
  if (types.size() != indices.size())
    return parser.emitError(loc)
           << "expected one type for all index operands or " << indices.size()
           << " types, got " << types.size();
  return success();
}
void cuda_tile::printIndexTypes(OpAsmPrinter &printer, Operation *op,
                                OperandRange, TypeRange types) {
  if (types.empty())
    return;
  printer << ", ";
  printBareTypes(printer, op,
                 llvm::all_equal(types) ? types.take_front() : types);
}

// The type of the token ends the list, so the directive above cannot parse the list
// of indices.
ParseResult cuda_tile::parseIndexAndTokenTypes(
    OpAsmParser &parser, ArrayRef<OpAsmParser::UnresolvedOperand> indices,
    SmallVectorImpl<Type> &types,
    const std::optional<OpAsmParser::UnresolvedOperand> &token) {
  SMLoc loc = parser.getCurrentLocation();
  while (succeeded(parser.parseOptionalComma()))
    if (parseBareType(parser, types.emplace_back()))
      return failure();
  if (token) {
    if (types.empty() || !isa<TokenType>(types.back()))
      return parser.emitError(loc) << "expected the token's type at the end";
    types.pop_back();
  }
  if (types.size() == 1 && !indices.empty())
    types.assign(indices.size(), Type(types.front()));
  if (types.size() != indices.size())
    return parser.emitError(loc)
           << "expected one type for all index operands or " << indices.size()
           << " types, got " << types.size();
  return success();
}
void cuda_tile::printIndexAndTokenTypes(OpAsmPrinter &printer, Operation *op,
                                        OperandRange indices, TypeRange types,
                                        Value token) {
  printIndexTypes(printer, op, indices, types);
  if (token) {
    printer << ", ";
    printBareType(printer, token.getType());
  }
}

template <typename ViewT>
static ParseResult parseViewType(OpAsmParser &parser, StringRef name,
                                 Type &tensorView, Type &view) {
  SMLoc loc = parser.getCurrentLocation();
  if (parseBareType(parser, view))
    return failure();
  auto typed = dyn_cast<ViewT>(view);
  if (!typed)
    return parser.emitError(loc)
           << "expected '" << name << "' type, but got " << view;
  tensorView = typed.getTensorView();
  return success();
}
ParseResult cuda_tile::parsePartitionViewType(OpAsmParser &parser,
                                              Type &tensorView, Type &view) {
  return parseViewType<PartitionViewType>(parser, "partition_view", tensorView,
                                          view);
}
ParseResult cuda_tile::parseStridedViewType(OpAsmParser &parser,
                                            Type &tensorView, Type &view) {
  return parseViewType<StridedViewType>(parser, "strided_view", tensorView,
                                        view);
}
ParseResult cuda_tile::parseGatherScatterViewType(OpAsmParser &parser,
                                                  Type &tensorView,
                                                  Type &view) {
  return parseViewType<GatherScatterViewType>(parser, "gather_scatter_view",
                                              tensorView, view);
}
void cuda_tile::printPartitionViewType(OpAsmPrinter &printer, Operation *, Type,
                                       Type view) {
  printBareType(printer, view);
}
void cuda_tile::printStridedViewType(OpAsmPrinter &printer, Operation *, Type,
                                     Type view) {
  printBareType(printer, view);
}
void cuda_tile::printGatherScatterViewType(OpAsmPrinter &printer, Operation *,
                                           Type, Type view) {
  printBareType(printer, view);
}

//===----------------------------------------------------------------------===//
// Keywords
//===----------------------------------------------------------------------===//

/// Parses one of the keywords of an enumeration. Reports twice when there is no
/// keyword at all: MLIR's "expected valid keyword", then the list.
template <typename EnumT>
static ParseResult parseEnum(OpAsmParser &parser, StringRef what,
                             StringRef keywords,
                             std::optional<EnumT> (*symbolize)(StringRef),
                             EnumT &value) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  std::optional<EnumT> symbol;
  if (succeeded(parser.parseKeyword(&keyword)))
    symbol = symbolize(keyword);
  if (!symbol)
    return parser.emitError(loc)
           << "expected " << what << " to be one of: {" << keywords << "}";
  value = *symbol;
  return success();
}

ParseResult cuda_tile::parseSignedness(OpAsmParser &parser,
                                       SignednessAttr &attr) {
  Signedness value;
  if (parseEnum(parser, "signedness", "'signed', 'unsigned'",
                symbolizeSignedness, value))
    return failure();
  attr = SignednessAttr::get(parser.getContext(), value);
  return success();
}
void cuda_tile::printSignedness(OpAsmPrinter &printer, Operation *,
                                SignednessAttr attr) {
  printer << stringifySignedness(attr.getValue());
}

ParseResult
cuda_tile::parseComparisonPredicate(OpAsmParser &parser,
                                    ComparisonPredicateAttr &attr) {
  ComparisonPredicate value;
  if (parseEnum(parser, "'comparison_predicate'",
                "'equal', 'not_equal', 'less_than', 'less_than_or_equal', "
                "'greater_than', 'greater_than_or_equal'",
                symbolizeComparisonPredicate, value))
    return failure();
  attr = ComparisonPredicateAttr::get(parser.getContext(), value);
  return success();
}
void cuda_tile::printComparisonPredicate(OpAsmPrinter &printer, Operation *,
                                         ComparisonPredicateAttr attr) {
  printer << stringifyComparisonPredicate(attr.getValue());
}

ParseResult cuda_tile::parseComparisonOrdering(OpAsmParser &parser,
                                               ComparisonOrderingAttr &attr) {
  ComparisonOrdering value;
  if (parseEnum(parser, "'comparison_ordering'", "'ordered', 'unordered'",
                symbolizeComparisonOrdering, value))
    return failure();
  attr = ComparisonOrderingAttr::get(parser.getContext(), value);
  return success();
}
void cuda_tile::printComparisonOrdering(OpAsmPrinter &printer, Operation *,
                                        ComparisonOrderingAttr attr) {
  printer << stringifyComparisonOrdering(attr.getValue());
}

ParseResult cuda_tile::parseVisibility(OpAsmParser &parser,
                                       SymbolVisibilityAttr &attr) {
  SymbolVisibility value = SymbolVisibility::Public;
  if (succeeded(parser.parseOptionalKeyword("private")))
    value = SymbolVisibility::Private;
  else
    (void)parser.parseOptionalKeyword("public");
  attr = SymbolVisibilityAttr::get(parser.getContext(), value);
  return success();
}
void cuda_tile::printVisibility(OpAsmPrinter &printer, Operation *,
                                SymbolVisibilityAttr attr) {
  // With the blank that NVIDIA's printer emits after the keyword.
  if (attr && attr.getValue() == SymbolVisibility::Private)
    printer << stringifySymbolVisibility(attr.getValue()) << ' ';
}

// A directive that prints nothing still leaves a blank, as in NVIDIA's printer.
ParseResult cuda_tile::parseInbounds(OpAsmParser &parser,
                                     DenseBoolArrayAttr &attr) {
  if (failed(parser.parseOptionalKeyword("inbounds")))
    return success();
  if (parser.parseEqual())
    return failure();
  attr = dyn_cast_or_null<DenseBoolArrayAttr>(
      DenseBoolArrayAttr::parse(parser, Type()));
  return success(static_cast<bool>(attr));
}
void cuda_tile::printInbounds(OpAsmPrinter &printer, Operation *,
                              DenseBoolArrayAttr attr) {
  if (!attr)
    return;
  printer << "inbounds = ";
  printer.printStrippedAttrOrType(attr);
}

//===----------------------------------------------------------------------===//
// Rounding
//===----------------------------------------------------------------------===//

/// `[rounding<mode>]` with one of `modes`. Operations that quote the offending
/// keyword reject every other mode here; all others leave the modes of other
/// operations to their verifiers.
static ParseResult parseRounding(OpAsmParser &parser,
                                 ArrayRef<RoundingMode> modes, bool quoteGot,
                                 RoundingMode defaultMode,
                                 RoundingModeAttr &attr) {
  if (failed(parser.parseOptionalKeyword("rounding"))) {
    attr = RoundingModeAttr::get(parser.getContext(), defaultMode);
    return success();
  }
  if (parser.parseLess())
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  std::optional<RoundingMode> mode;
  if (succeeded(parser.parseKeyword(&keyword)))
    mode = symbolizeRoundingMode(keyword);
  if (!mode || (quoteGot && !llvm::is_contained(modes, *mode))) {
    auto diag = parser.emitError(loc);
    diag << "expected rounding mode to be one of: ";
    llvm::interleaveComma(modes, diag, [&](RoundingMode candidate) {
      diag << "'" << stringifyRoundingMode(candidate) << "'";
    });
    if (quoteGot)
      diag << ", got: '" << keyword << "'";
    return diag;
  }
  attr = RoundingModeAttr::get(parser.getContext(), *mode);
  return parser.parseGreater();
}

static void printRounding(OpAsmPrinter &printer, RoundingModeAttr attr,
                          RoundingMode defaultMode) {
  if (attr && attr.getValue() != defaultMode)
    printer << "rounding<" << stringifyRoundingMode(attr.getValue()) << ">";
}

static constexpr RoundingMode kIEEEModes[] = {
    RoundingMode::NearestEven, RoundingMode::Zero, RoundingMode::NegativeInf,
    RoundingMode::PositiveInf};
static constexpr RoundingMode kConversionModes[] = {
    RoundingMode::NearestEven, RoundingMode::Zero, RoundingMode::NegativeInf,
    RoundingMode::PositiveInf, RoundingMode::NearestAway};
static constexpr RoundingMode kSqrtModes[] = {
    RoundingMode::NearestEven, RoundingMode::Zero, RoundingMode::NegativeInf,
    RoundingMode::PositiveInf, RoundingMode::Approx};
static constexpr RoundingMode kDivModes[] = {
    RoundingMode::NearestEven, RoundingMode::Zero,   RoundingMode::NegativeInf,
    RoundingMode::PositiveInf, RoundingMode::Approx, RoundingMode::Full};
static constexpr RoundingMode kApproxModes[] = {RoundingMode::Approx,
                                                RoundingMode::Full};
static constexpr RoundingMode kIntegralModes[] = {
    RoundingMode::NearestIntToZero};

ParseResult cuda_tile::parseIEEERounding(OpAsmParser &parser,
                                         RoundingModeAttr &attr) {
  return parseRounding(parser, kIEEEModes, /*quoteGot=*/true,
                       RoundingMode::NearestEven, attr);
}
void cuda_tile::printIEEERounding(OpAsmPrinter &printer, Operation *,
                                  RoundingModeAttr attr) {
  printRounding(printer, attr, RoundingMode::NearestEven);
}
ParseResult cuda_tile::parseConversionRounding(OpAsmParser &parser,
                                               RoundingModeAttr &attr) {
  return parseRounding(parser, kConversionModes, /*quoteGot=*/true,
                       RoundingMode::NearestEven, attr);
}
void cuda_tile::printConversionRounding(OpAsmPrinter &printer, Operation *,
                                        RoundingModeAttr attr) {
  printRounding(printer, attr, RoundingMode::NearestEven);
}
ParseResult cuda_tile::parseDivRounding(OpAsmParser &parser,
                                        RoundingModeAttr &attr) {
  return parseRounding(parser, kDivModes, /*quoteGot=*/false,
                       RoundingMode::NearestEven, attr);
}
void cuda_tile::printDivRounding(OpAsmPrinter &printer, Operation *,
                                 RoundingModeAttr attr) {
  printRounding(printer, attr, RoundingMode::NearestEven);
}
ParseResult cuda_tile::parseSqrtRounding(OpAsmParser &parser,
                                         RoundingModeAttr &attr) {
  return parseRounding(parser, kSqrtModes, /*quoteGot=*/false,
                       RoundingMode::NearestEven, attr);
}
void cuda_tile::printSqrtRounding(OpAsmPrinter &printer, Operation *,
                                  RoundingModeAttr attr) {
  printRounding(printer, attr, RoundingMode::NearestEven);
}
ParseResult cuda_tile::parseApproxOrFullRounding(OpAsmParser &parser,
                                                 RoundingModeAttr &attr) {
  return parseRounding(parser, kApproxModes, /*quoteGot=*/false,
                       RoundingMode::Full, attr);
}
void cuda_tile::printApproxOrFullRounding(OpAsmPrinter &printer, Operation *,
                                          RoundingModeAttr attr) {
  printRounding(printer, attr, RoundingMode::Full);
}
ParseResult cuda_tile::parseIntegralRounding(OpAsmParser &parser,
                                             RoundingModeAttr &attr) {
  return parseRounding(parser, kIntegralModes, /*quoteGot=*/true,
                       RoundingMode::NearestIntToZero, attr);
}
void cuda_tile::printIntegralRounding(OpAsmPrinter &printer, Operation *,
                                      RoundingModeAttr attr) {
  printRounding(printer, attr, RoundingMode::NearestIntToZero);
}

//===----------------------------------------------------------------------===//
// Memory model
//===----------------------------------------------------------------------===//

ParseResult
cuda_tile::parseMemoryAttributes(OpAsmParser &parser,
                                 MemoryOrderingSemanticsAttr &ordering,
                                 MemoryScopeAttr &scope) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return failure();
  auto order = symbolizeMemoryOrderingSemantics(keyword);
  if (!order)
    return parser.emitError(loc)
           << "invalid memory_ordering_semantics attribute specification. Got "
              "\""
           << keyword
           << "\" but expect one of: weak, relaxed, acquire, release, acq_rel";
  ordering = MemoryOrderingSemanticsAttr::get(parser.getContext(), *order);

  loc = parser.getCurrentLocation();
  if (failed(parser.parseOptionalKeyword(&keyword)))
    return success();
  auto symbol = symbolizeMemoryScope(keyword);
  if (!symbol)
    return parser.emitError(loc)
           << "invalid memory_scope attribute specification. Got \"" << keyword
           << "\" but expect one of: tl_blk, device, sys";
  if (*order == MemoryOrderingSemantics::Weak)
    return parser.emitError(loc)
           << "operation specifies weak memory ordering semantics, but then "
              "provides \""
           << keyword << "\" scope, expected no memory scope.";
  scope = MemoryScopeAttr::get(parser.getContext(), *symbol);
  return success();
}
/// Parses a keyword or string of these, as MLIR parses enumerations; returns an
/// empty result if there is neither.
static ParseResult parseEnumerator(OpAsmParser &parser,
                                   ArrayRef<StringRef> names,
                                   StringRef &keyword) {
  if (succeeded(parser.parseOptionalKeyword(&keyword, names)))
    return success();
  StringAttr string;
  OptionalParseResult result = parser.parseOptionalAttribute(
      string, parser.getBuilder().getNoneType());
  keyword = {};
  if (!result.has_value())
    return success();
  if (succeeded(*result))
    keyword = string.getValue();
  return *result;
}

ParseResult cuda_tile::parsePointerMemoryAttributes(
    OpAsmParser &parser, MemoryOrderingSemanticsAttr &ordering,
    MemoryScopeAttr &scope) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (parseEnumerator(parser,
                      {"weak", "relaxed", "acquire", "release", "acq_rel"},
                      keyword))
    return failure();
  if (keyword.empty())
    return parser.emitError(loc)
           << "expected string or keyword containing one of the following enum "
              "values for attribute 'memory_ordering_semantics' [weak, relaxed, "
              "acquire, release, acq_rel]";
  auto order = symbolizeMemoryOrderingSemantics(keyword);
  if (!order)
    return parser.emitError(loc)
           << "invalid memory_ordering_semantics attribute specification: \""
           << keyword << '"';
  ordering = MemoryOrderingSemanticsAttr::get(parser.getContext(), *order);

  loc = parser.getCurrentLocation();
  if (parseEnumerator(parser, {"tl_blk", "device", "sys"}, keyword))
    return failure();
  if (keyword.empty())
    return success();
  auto symbol = symbolizeMemoryScope(keyword);
  if (!symbol)
    return parser.emitError(loc)
           << "invalid memory_scope attribute specification: \"" << keyword
           << '"';
  scope = MemoryScopeAttr::get(parser.getContext(), *symbol);
  return success();
}
void cuda_tile::printPointerMemoryAttributes(
    OpAsmPrinter &printer, Operation *op, MemoryOrderingSemanticsAttr ordering,
    MemoryScopeAttr scope) {
  printMemoryAttributes(printer, op, ordering, scope);
}
void cuda_tile::printMemoryAttributes(OpAsmPrinter &printer, Operation *,
                                      MemoryOrderingSemanticsAttr ordering,
                                      MemoryScopeAttr scope) {
  printer << stringifyMemoryOrderingSemantics(ordering.getValue());
  if (scope)
    printer << ' ' << stringifyMemoryScope(scope.getValue());
}

//===----------------------------------------------------------------------===//
// Predicates of assume
//===----------------------------------------------------------------------===//

ParseResult
cuda_tile::parseAssumePredicate(OpAsmParser &parser,
                                AssumePredicateAttrInterface &predicate) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  Attribute attr;
  if (succeeded(parser.parseOptionalKeyword(&keyword))) {
    if (keyword == DivByAttr::getMnemonic())
      attr = DivByAttr::parse(parser, {});
    else if (keyword == SameElementsAttr::getMnemonic())
      attr = SameElementsAttr::parse(parser, {});
    else if (keyword == BoundedAttr::getMnemonic())
      attr = BoundedAttr::parse(parser, {});
    else
      return parser.emitError(loc)
             << "expected assume predicate to be one of: 'div_by', "
                "'same_elements', 'bounded', got: '"
             << keyword << "'";
    if (!attr)
      return failure();
  } else if (parser.parseAttribute(attr)) {
    return failure();
  }
  predicate = dyn_cast<AssumePredicateAttrInterface>(attr);
  if (!predicate)
    return parser.emitError(loc) << "expected assume predicate attribute";
  return success();
}
void cuda_tile::printAssumePredicate(OpAsmPrinter &printer, Operation *,
                                     AssumePredicateAttrInterface predicate) {
  auto printBare = [&](auto attr) {
    printer << attr.getMnemonic();
    attr.print(printer);
  };
  if (auto divBy = dyn_cast<DivByAttr>(predicate))
    printBare(divBy);
  else if (auto same = dyn_cast<SameElementsAttr>(predicate))
    printBare(same);
  else if (auto bounded = dyn_cast<BoundedAttr>(predicate))
    printBare(bounded);
  else
    printer << predicate;
}
