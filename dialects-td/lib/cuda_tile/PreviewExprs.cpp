//===- PreviewExprs.cpp - Expressions and layouts of tile libraries -------===//
//
// Infix notation of expressions: `-` before a primary, then `*`, `/` (rounded down)
// and `/+` (rounded up), then `+` and `-`; all from left to right. A primary is an
// integer, a variable, `?`, an expression or a tuple in parentheses, or any
// attribute. Constants also have types and strings; layouts also have builtins
// (`context.num_threads`) and spaces around operators.
//
// Infix notation cannot express `expr_div`, which is rounded down as well. A list
// that contains it is printed as attributes. So is a name that would not be parsed as
// the same variable.
//
// Invariants:
//   operands       are expressions
//   variable       not empty, without a dot
//   builtin        the name starts with `context.`; the type is index
//   const_param    not empty; the type is index or a kind of this dialect, or none for
//                  the wildcard `?`
//   layout         shapes and strides of the same structure; extents positive, strides
//                  not negative, where they are constant
//   scratch        size not negative, alignment a power of two, where constant
//
//===----------------------------------------------------------------------===//
#include "cuda_tile/Preview.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace cuda_tile;

using EmitError = function_ref<InFlightDiagnostic()>;

bool cuda_tile::isSymbolicExpr(Attribute attr) {
  return isa<ExprIntAttr, ExprVarAttr, ExprMulAttr, ExprDivAttr, ExprAddAttr,
             ExprSubAttr, ExprFloorDivAttr, ExprCeilDivAttr, ExprNegAttr,
             ExprTupleAttr, ExprTypeAttr, ExprStringAttr, ExprBuiltinAttr>(attr);
}

namespace {
/// An operation of two operands, with its notation.
struct Binary {
  Attribute lhs, rhs;
  StringRef sign;
  int precedence;
};

constexpr int kSum = 1, kProduct = 2;

template <typename Attr>
Binary makeBinary(Attr attr, StringRef sign, int precedence) {
  return {attr.getLhs(), attr.getRhs(), sign, precedence};
}
} // namespace

/// The notation of a binary operation. `expr_div` has none.
static std::optional<Binary> getBinary(Attribute attr) {
  using Result = std::optional<Binary>;
  return TypeSwitch<Attribute, Result>(attr)
      .Case([](ExprMulAttr a) -> Result { return makeBinary(a, "*", kProduct); })
      .Case([](ExprFloorDivAttr a) -> Result {
        return makeBinary(a, "/", kProduct);
      })
      .Case([](ExprCeilDivAttr a) -> Result {
        return makeBinary(a, "/+", kProduct);
      })
      .Case([](ExprAddAttr a) -> Result { return makeBinary(a, "+", kSum); })
      .Case([](ExprSubAttr a) -> Result { return makeBinary(a, "-", kSum); })
      .Default([](Attribute) -> Result { return std::nullopt; });
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

static bool isKeyword(StringRef name) {
  auto isTail = [](char c) { return llvm::isAlnum(c) || c == '_' || c == '$'; };
  return !name.empty() && (llvm::isAlpha(name.front()) || name.front() == '_') &&
         llvm::all_of(name, isTail);
}

/// Whether the keyword is, or looks like, a builtin type.
static bool looksLikeType(StringRef name) {
  if (llvm::is_contained({"index", "none", "memref", "tensor", "tuple",
                          "vector", "complex"},
                         name))
    return true;
  for (StringRef prefix : {"i", "si", "ui", "f", "bf", "tf"}) {
    StringRef rest = name;
    if (rest.consume_front(prefix) && !rest.empty() && llvm::isDigit(rest[0]))
      return true;
  }
  return false;
}

bool cuda_tile::hasInfix(Attribute attr, ExprSite site) {
  if (std::optional<Binary> binary = getBinary(attr))
    return hasInfix(binary->lhs, site) && hasInfix(binary->rhs, site);
  bool isLayout = site == ExprSite::Layout;
  return TypeSwitch<Attribute, bool>(attr)
      .Case([](ExprIntAttr) { return true; })
      .Case([&](ExprVarAttr variable) {
        StringRef name = variable.getName().getValue();
        return name == "?" ||
               (isKeyword(name) && (isLayout || !looksLikeType(name)));
      })
      .Case([&](ExprBuiltinAttr builtin) {
        StringRef name = builtin.getName().getValue();
        return isLayout && name.consume_front("context.") && isKeyword(name);
      })
      .Case([&](ExprNegAttr negation) {
        // Layouts would be parsed with a negative integer instead.
        Attribute operand = negation.getOperand();
        return hasInfix(operand, site) && !(isLayout && isa<ExprIntAttr>(operand));
      })
      .Case([&](ExprTupleAttr tuple) {
        return llvm::all_of(tuple.getElements(), [&](Attribute element) {
          return hasInfix(element, site);
        });
      })
      .Case<ExprTypeAttr, ExprStringAttr>([&](Attribute) { return !isLayout; })
      .Default([](Attribute) { return false; });
}

void cuda_tile::printInfix(AsmPrinter &printer, Attribute attr, ExprSite site,
                           int least) {
  if (std::optional<Binary> binary = getBinary(attr)) {
    StringRef space = site == ExprSite::Layout ? " " : "";
    bool needsParens = binary->precedence < least;
    printer << (needsParens ? "(" : "");
    printInfix(printer, binary->lhs, site, binary->precedence);
    printer << space << binary->sign << space;
    printInfix(printer, binary->rhs, site, binary->precedence + 1);
    printer << (needsParens ? ")" : "");
    return;
  }
  TypeSwitch<Attribute>(attr)
      .Case([&](ExprIntAttr integer) { printer << integer.getValue(); })
      .Case([&](ExprVarAttr variable) { printer << variable.getName().getValue(); })
      .Case([&](ExprBuiltinAttr builtin) {
        printer << builtin.getName().getValue();
      })
      .Case([&](ExprNegAttr negation) {
        Attribute operand = negation.getOperand();
        bool needsParens = getBinary(operand) || isa<ExprNegAttr>(operand);
        printer << (needsParens ? "-(" : "-");
        printInfix(printer, operand, site);
        printer << (needsParens ? ")" : "");
      })
      .Case([&](ExprTupleAttr tuple) {
        printer << '(';
        llvm::interleaveComma(tuple.getElements(), printer, [&](Attribute element) {
          printInfix(printer, element, site);
        });
        printer << (tuple.getElements().size() == 1 ? ",)" : ")");
      })
      .Case([&](ExprTypeAttr type) { printer << type.getType(); })
      .Case([&](ExprStringAttr string) { printer << string.getValue(); })
      .Default([&](Attribute other) { printer << other; });
}

void cuda_tile::printExprs(AsmPrinter &printer, ArrayAttr list) {
  bool isInfix = llvm::all_of(list, [](Attribute expr) {
    return hasInfix(expr, ExprSite::Constant);
  });
  printer << "<[";
  llvm::interleaveComma(list, printer, [&](Attribute expr) {
    if (isInfix)
      printInfix(printer, expr, ExprSite::Constant);
    else
      printer << expr;
  });
  printer << "]>";
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

namespace {
/// A parser by precedence. Nesting is bounded, so that no text exhausts the stack.
class ExprParser {
public:
  ExprParser(AsmParser &parser, ExprSite site) : parser(parser), site(site) {}

  ParseResult parse(Attribute &result, int least = kSum);
  /// `(a, b)` after the parenthesis. A single element in parentheses is that element,
  /// unless a comma follows it or the tuple is the whole mode list of a layout.
  ParseResult parseAfterParen(Attribute &result, bool isTuple = false);

private:
  static constexpr int kMaxDepth = 32;

  ParseResult parsePrimary(Attribute &result);
  ParseResult parseName(StringRef name, Attribute &result);
  ParseResult parseInteger(bool isNegative, Attribute &result, bool &found);
  std::optional<std::pair<int, StringRef>> parseSign(int least);

  MLIRContext *context() { return parser.getContext(); }

  AsmParser &parser;
  ExprSite site;
  int depth = 0;
};
} // namespace

std::optional<std::pair<int, StringRef>> ExprParser::parseSign(int least) {
  if (succeeded(parser.parseOptionalStar()))
    return std::pair(kProduct, StringRef("*"));
  if (succeeded(parser.parseOptionalSlash())) {
    bool isCeil = succeeded(parser.parseOptionalPlus());
    return std::pair(kProduct, isCeil ? StringRef("/+") : StringRef("/"));
  }
  if (least > kSum)
    return std::nullopt;
  if (succeeded(parser.parseOptionalPlus()))
    return std::pair(kSum, StringRef("+"));
  if (succeeded(parser.parseOptionalMinus()))
    return std::pair(kSum, StringRef("-"));
  return std::nullopt;
}

ParseResult ExprParser::parse(Attribute &result, int least) {
  if (++depth > kMaxDepth)
    return parser.emitError(parser.getCurrentLocation())
           << "expression is nested too deeply";
  if (parsePrimary(result))
    return failure();
  while (auto sign = parseSign(least)) {
    Attribute rhs;
    if (sign->first == kSum ? parse(rhs, kProduct) : parsePrimary(rhs))
      return failure();
    StringRef s = sign->second;
    if (s == "*")
      result = ExprMulAttr::get(context(), result, rhs);
    else if (s == "/")
      result = ExprFloorDivAttr::get(context(), result, rhs);
    else if (s == "/+")
      result = ExprCeilDivAttr::get(context(), result, rhs);
    else if (s == "+")
      result = ExprAddAttr::get(context(), result, rhs);
    else
      result = ExprSubAttr::get(context(), result, rhs);
  }
  --depth;
  return success();
}

ParseResult ExprParser::parseInteger(bool isNegative, Attribute &result,
                                     bool &found) {
  APInt value;
  SMLoc loc = parser.getCurrentLocation();
  OptionalParseResult parsed = parser.parseOptionalInteger(value);
  found = parsed.has_value();
  if (!found)
    return success();
  if (failed(*parsed))
    return failure();
  value = value.zext(std::max(value.getBitWidth(), 64u) + 1);
  if (isNegative)
    value.negate();
  if (!value.isSignedIntN(64))
    return parser.emitError(loc) << "integer does not fit in 64 bits";
  result = ExprIntAttr::get(context(), value.getSExtValue());
  return success();
}

ParseResult ExprParser::parseName(StringRef name, Attribute &result) {
  auto text = StringAttr::get(context(), name);
  SMLoc loc = parser.getCurrentLocation();
  if (name.contains('.'))
    result = getChecked<ExprBuiltinAttr>(parser, loc, text,
                                         Type(IndexType::get(context())));
  else
    result = getChecked<ExprVarAttr>(parser, loc, text);
  return failure(!result);
}

ParseResult ExprParser::parsePrimary(Attribute &result) {
  bool found = false;
  if (succeeded(parser.parseOptionalMinus())) {
    if (parseInteger(/*isNegative=*/true, result, found))
      return failure();
    if (found)
      return success();
    if (++depth > kMaxDepth)
      return parser.emitError(parser.getCurrentLocation())
             << "expression is nested too deeply";
    Attribute operand;
    if (parsePrimary(operand))
      return failure();
    --depth;
    result = ExprNegAttr::get(context(), operand);
    return success();
  }
  if (succeeded(parser.parseOptionalLParen()))
    return parseAfterParen(result);
  if (parseInteger(/*isNegative=*/false, result, found) || found)
    return failure(!found);
  if (succeeded(parser.parseOptionalQuestion()))
    return parseName("?", result);
  if (site == ExprSite::Constant) {
    std::string text;
    if (succeeded(parser.parseOptionalString(&text))) {
      result = ExprStringAttr::get(context(), StringAttr::get(context(), text));
      return success();
    }
    Type type;
    OptionalParseResult parsed = parser.parseOptionalType(type);
    if (parsed.has_value()) {
      if (succeeded(*parsed))
        result = ExprTypeAttr::get(context(), type);
      return *parsed;
    }
  }
  StringRef name;
  if (succeeded(parser.parseOptionalKeyword(&name)))
    return parseName(name, result);
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseAttribute(result))
    return failure();
  if (!isSymbolicExpr(result))
    return parser.emitError(loc) << "expected a symbolic expression, got "
                                 << result;
  return success();
}

ParseResult ExprParser::parseAfterParen(Attribute &result, bool isTuple) {
  SmallVector<Attribute> elements;
  if (failed(parser.parseOptionalRParen())) {
    while (true) {
      if (parse(elements.emplace_back()))
        return failure();
      if (failed(parser.parseOptionalComma()))
        break;
      isTuple = true;
      // A comma may end a tuple of one element.
      if (succeeded(parser.parseOptionalRParen())) {
        result = ExprTupleAttr::get(context(), ArrayAttr::get(context(), elements));
        return success();
      }
    }
    if (parser.parseRParen())
      return failure();
  } else {
    isTuple = true;
  }
  if (isTuple)
    result = ExprTupleAttr::get(context(), ArrayAttr::get(context(), elements));
  else
    result = elements.front();
  return success();
}

ParseResult cuda_tile::parseExpr(AsmParser &parser, ExprSite site,
                                 Attribute &result) {
  return ExprParser(parser, site).parse(result);
}

ParseResult cuda_tile::parseOptionalExprs(AsmParser &parser, ArrayAttr &list) {
  if (failed(parser.parseOptionalLess()))
    return success();
  SmallVector<Attribute> exprs;
  if (parser.parseCommaSeparatedList(
          AsmParser::Delimiter::Square,
          [&] {
            return parseExpr(parser, ExprSite::Constant, exprs.emplace_back());
          }) ||
      parser.parseGreater())
    return failure();
  list = ArrayAttr::get(parser.getContext(), exprs);
  return success();
}

//===----------------------------------------------------------------------===//
// Layouts: syntax
//===----------------------------------------------------------------------===//

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess())
    return {};
  ExprTupleAttr tuples[2];
  if (succeeded(parser.parseOptionalKeyword("shapes"))) {
    if (parser.parseEqual() || parser.parseAttribute(tuples[0]) ||
        parser.parseComma() || parser.parseKeyword("strides") ||
        parser.parseEqual() || parser.parseAttribute(tuples[1]))
      return {};
  } else {
    for (int i : {0, 1}) {
      Attribute modes;
      if ((i == 1 && parser.parseColon()) || parser.parseLParen() ||
          ExprParser(parser, ExprSite::Layout).parseAfterParen(modes, true))
        return {};
      tuples[i] = cast<ExprTupleAttr>(modes);
    }
  }
  if (parser.parseGreater())
    return {};
  return cuda_tile::getChecked<LayoutAttr>(parser, loc, tuples[0], tuples[1]);
}

void LayoutAttr::print(AsmPrinter &printer) const {
  printer << '<';
  if (hasInfix(getShapes(), ExprSite::Layout) &&
      hasInfix(getStrides(), ExprSite::Layout)) {
    auto printModes = [&](ExprTupleAttr modes) {
      printer << '(';
      llvm::interleaveComma(modes.getElements(), printer, [&](Attribute mode) {
        printInfix(printer, mode, ExprSite::Layout);
      });
      printer << ')';
    };
    printModes(getShapes());
    printer << ':';
    printModes(getStrides());
  } else {
    printer << "shapes = " << getShapes() << ", strides = " << getStrides();
  }
  printer << '>';
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

std::optional<int64_t> cuda_tile::evaluate(Attribute attr) {
  if (auto integer = dyn_cast<ExprIntAttr>(attr))
    return integer.getValue();
  if (auto negation = dyn_cast<ExprNegAttr>(attr)) {
    std::optional<int64_t> value = evaluate(negation.getOperand());
    int64_t result;
    if (!value || llvm::SubOverflow<int64_t>(0, *value, result))
      return std::nullopt;
    return result;
  }
  std::optional<Binary> binary = getBinary(attr);
  if (auto quotient = dyn_cast<ExprDivAttr>(attr))
    binary = makeBinary(quotient, "/", kProduct);
  if (!binary)
    return std::nullopt;
  std::optional<int64_t> a = evaluate(binary->lhs), b = evaluate(binary->rhs);
  if (!a || !b)
    return std::nullopt;
  int64_t result;
  if (binary->sign == "*")
    return llvm::MulOverflow(*a, *b, result) ? std::nullopt
                                             : std::optional(result);
  if (binary->sign == "+")
    return llvm::AddOverflow(*a, *b, result) ? std::nullopt
                                             : std::optional(result);
  if (binary->sign == "-")
    return llvm::SubOverflow(*a, *b, result) ? std::nullopt
                                             : std::optional(result);
  if (*b == 0 || (*b == -1 && *a == std::numeric_limits<int64_t>::min()))
    return std::nullopt;
  return binary->sign == "/" ? llvm::divideFloorSigned(*a, *b)
                             : llvm::divideCeilSigned(*a, *b);
}

static LogicalResult verifyOperand(EmitError emitError, StringRef parameter,
                                   Attribute operand) {
  if (isSymbolicExpr(operand))
    return success();
  return emitError() << "expected attribute implementing "
                        "'::mlir::cuda_tile::SymbolicExprAttr' for parameter '"
                     << parameter << "', got " << operand;
}

static LogicalResult verifyOperands(EmitError emitError, Attribute lhs,
                                    Attribute rhs) {
  return failure(failed(verifyOperand(emitError, "lhs", lhs)) ||
                 failed(verifyOperand(emitError, "rhs", rhs)));
}
LogicalResult ExprMulAttr::verify(EmitError emitError, Attribute lhs,
                                  Attribute rhs) {
  return verifyOperands(emitError, lhs, rhs);
}
LogicalResult ExprDivAttr::verify(EmitError emitError, Attribute lhs,
                                  Attribute rhs) {
  return verifyOperands(emitError, lhs, rhs);
}
LogicalResult ExprAddAttr::verify(EmitError emitError, Attribute lhs,
                                  Attribute rhs) {
  return verifyOperands(emitError, lhs, rhs);
}
LogicalResult ExprSubAttr::verify(EmitError emitError, Attribute lhs,
                                  Attribute rhs) {
  return verifyOperands(emitError, lhs, rhs);
}
LogicalResult ExprFloorDivAttr::verify(EmitError emitError, Attribute lhs,
                                       Attribute rhs) {
  return verifyOperands(emitError, lhs, rhs);
}
LogicalResult ExprCeilDivAttr::verify(EmitError emitError, Attribute lhs,
                                      Attribute rhs) {
  return verifyOperands(emitError, lhs, rhs);
}
LogicalResult ExprNegAttr::verify(EmitError emitError, Attribute operand) {
  return verifyOperand(emitError, "operand", operand);
}
LogicalResult ExprTupleAttr::verify(EmitError emitError, ArrayAttr elements) {
  for (Attribute element : elements)
    if (failed(verifyOperand(emitError, "elements", element)))
      return failure();
  return success();
}

LogicalResult ExprVarAttr::verify(EmitError emitError, StringAttr name) {
  if (name.empty())
    return emitError() << "expression variable name cannot be empty";
  if (name.getValue().contains('.'))
    return emitError() << "expression variable name cannot contain '.'; dotted "
                          "names are reserved for builtins";
  return success();
}

LogicalResult ExprBuiltinAttr::verify(EmitError emitError, StringAttr name,
                                      Type type) {
  StringRef text = name.getValue();
  if (!text.consume_front("context.") || text.empty())
    return emitError()
           << "builtin expression name must be in the 'context.' namespace";
  if (!type.isIndex())
    return emitError() << "builtin expression result type must be index, got "
                       << type;
  return success();
}

LogicalResult ConstParamAttr::verify(EmitError emitError, StringAttr name,
                                     Type type) {
  if (name.empty())
    return emitError() << "constant parameter name cannot be empty";
  if (name.getValue() == "?" && isa<NoneType>(type))
    return success();
  if (!isa<IndexType, ShapeType, DatatypeType, StringType>(type))
    return emitError() << "constant parameter type must be index, "
                          "!cuda_tile.preview$shape, "
                          "!cuda_tile.preview$Datatype, or "
                          "!cuda_tile.preview$string, got "
                       << type;
  return success();
}

/// Checks one mode of a layout and its submodes.
static LogicalResult verifyMode(EmitError emitError, size_t mode,
                                Attribute shape, Attribute stride) {
  auto shapes = dyn_cast<ExprTupleAttr>(shape);
  auto strides = dyn_cast<ExprTupleAttr>(stride);
  auto getKind = [](ExprTupleAttr tuple) {
    return tuple ? "a tuple" : "an integer";
  };
  if (bool(shapes) != bool(strides))
    return emitError() << "shapes and strides must have the same nesting "
                          "structure, but mode "
                       << mode << " is " << getKind(shapes)
                       << " in shapes and " << getKind(strides) << " in strides";
  if (shapes) {
    ArrayAttr a = shapes.getElements(), b = strides.getElements();
    if (a.size() != b.size())
      return emitError() << "shapes and strides must have the same rank, got "
                         << a.size() << " vs " << b.size();
    for (auto [shape, stride] : llvm::zip_equal(a, b))
      if (failed(verifyMode(emitError, mode, shape, stride)))
        return failure();
    return success();
  }
  for (Attribute part : {shape, stride})
    if (isa<ExprTypeAttr, ExprStringAttr>(part))
      return emitError() << "modes of a layout must be integers, but mode "
                         << mode << " is " << part;
  if (std::optional<int64_t> extent = evaluate(shape); extent && *extent <= 0)
    return emitError() << "shape extents must be positive, but mode " << mode
                       << " is " << *extent;
  if (std::optional<int64_t> step = evaluate(stride); step && *step < 0)
    return emitError() << "strides must be non-negative, but mode " << mode
                       << " is " << *step;
  return success();
}

LogicalResult LayoutAttr::verify(EmitError emitError, ExprTupleAttr shapes,
                                 ExprTupleAttr strides) {
  ArrayAttr a = shapes.getElements(), b = strides.getElements();
  if (a.size() != b.size())
    return emitError() << "shapes and strides must have the same rank, got "
                       << a.size() << " vs " << b.size();
  for (size_t mode = 0; mode < a.size(); ++mode)
    if (failed(verifyMode(emitError, mode, a[mode], b[mode])))
      return failure();
  return success();
}

LogicalResult ScratchAttr::verify(EmitError emitError, Attribute size,
                                  Attribute alignment) {
  if (failed(verifyOperand(emitError, "size", size)) ||
      failed(verifyOperand(emitError, "alignment", alignment)))
    return failure();
  if (std::optional<int64_t> bytes = evaluate(size); bytes && *bytes < 0)
    return emitError() << "scratch size must be non-negative";
  std::optional<int64_t> align = evaluate(alignment);
  if (align && *align <= 0)
    return emitError() << "scratch alignment must be positive";
  if (align && !llvm::isPowerOf2_64(*align))
    return emitError() << "scratch alignment must be a power of two";
  return success();
}
