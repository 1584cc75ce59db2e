//===- Literals.cpp - Typed literals of constants and globals -------------===//
//
//   literal ::= `<` element-type `:` value `>` `:` tile-type
//   value   ::= scalar | list | hex-string
//
// A scalar fills a tile of any shape. A list is nested as deep as the tile has
// dimensions, and has the shape of the tile. MLIR prints more than 100 different
// elements as a string of the raw bytes, "0x...", so that form is accepted too,
// although the public language does not mention it.
//
// Integers may be written as signed or unsigned numbers of their width.
// Floating-point numbers need a decimal point, or specify their bits in
// hexadecimal; both are MLIR's rules, and MLIR reports violations. Numbers of
// fnv8E5M3FNU look the same, but MLIR lacks the format: they are encoded and
// printed here, and the attribute holds their bits.
//
//===----------------------------------------------------------------------===//
#include "cuda_tile/Directives.h"
#include "cuda_tile/F8E5M3.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace cuda_tile;

static constexpr llvm::StringLiteral kElementNames =
    "i1 or i8 or i16 or i32 or i64 or f16 or bf16 or f32 or f64 or tf32 or "
    "f8E4M3FN or f8E5M2 or f8E8M0FNU or f4E2M1FN or fnv8E5M3FNU values";

namespace {
/// Reads the elements of one literal, in row-major order.
class LiteralParser {
public:
  LiteralParser(OpAsmParser &parser, Type element)
      : parser(parser), element(element) {}

  ParseResult parse() {
    loc = parser.getCurrentLocation();
    std::string text;
    if (succeeded(parser.parseOptionalString(&text))) {
      StringRef hex = text;
      if (!hex.consume_front("0x") || !llvm::tryGetFromHex(hex, bytes))
        return parser.emitError(loc)
               << "expected a string of hexadecimal digits that starts with 0x";
      isRaw = true;
      return success();
    }
    if (parser.getCurrentLocation().getPointer()[0] != '[') {
      isSplat = true;
      return parseScalar();
    }
    return parseList(shape);
  }

  DenseIntOrFPElementsAttr build(TileType resultType) {
    TileType type = getConstantType(resultType);
    if (isRaw)
      return buildFromBytes(type);
    if (!isSplat && ArrayRef<int64_t>(shape) != type.getShape()) {
      auto diag = parser.emitError(loc);
      diag << "inferred shape of elements literal ([";
      llvm::interleaveComma(shape, diag);
      diag << "]) does not match type ([";
      llvm::interleaveComma(type.getShape(), diag);
      diag << "])";
      return {};
    }
    DenseElementsAttr attr = isa<FloatType>(element)
                                 ? DenseElementsAttr::get(type, floats)
                                 : DenseElementsAttr::get(type, ints);
    return cast<DenseIntOrFPElementsAttr>(attr);
  }

private:
  ParseResult parseF8E5M3() {
    SMLoc valueLoc = parser.getCurrentLocation();
    if (StringRef(valueLoc.getPointer()).starts_with("0x")) {
      // Bits of any format of this width.
      APFloat bits(APFloat::Float8E4M3FN());
      if (parser.parseFloat(bits.getSemantics(), bits))
        return failure();
      ints.push_back(bits.bitcastToAPInt());
      return success();
    }
    double value;
    if (parser.parseFloat(value))
      return failure();
    if (value < 0)
      return parser.emitError(valueLoc)
             << "fnv8E5M3FNU has no numbers below zero";
    ints.emplace_back(8, f8e5m3::encode(value));
    return success();
  }

  ParseResult parseScalar() {
    if (isF8E5M3Element(element))
      return parseF8E5M3();
    if (auto floatType = dyn_cast<FloatType>(element)) {
      APFloat value(floatType.getFloatSemantics());
      if (parser.parseFloat(floatType.getFloatSemantics(), value))
        return failure();
      floats.push_back(value);
      return success();
    }
    SMLoc valueLoc = parser.getCurrentLocation();
    StringRef keyword;
    unsigned width = element.getIntOrFloatBitWidth();
    if (succeeded(parser.parseOptionalKeyword(&keyword, {"true", "false"}))) {
      if (width != 1)
        return parser.emitError(valueLoc) << "expected integer value";
      ints.emplace_back(1, keyword == "true");
      return success();
    }
    int64_t value;
    if (parser.parseInteger(value))
      return failure();
    // Any non-zero i1 is true, so -1 is as legal as 1.
    bool fits = width == 64 || llvm::isIntN(width, value) ||
                (value >= 0 && llvm::isUIntN(width, value));
    if (!fits)
      return parser.emitError(valueLoc)
             << "integer constant out of range for type";
    ints.emplace_back(width, static_cast<uint64_t>(value), /*isSigned=*/true,
                      /*implicitTrunc=*/true);
    return success();
  }

  ParseResult parseList(SmallVectorImpl<int64_t> &dims) {
    int64_t count = 0;
    SmallVector<int64_t> inner;
    auto parseElement = [&]() -> ParseResult {
      SmallVector<int64_t> current;
      SMLoc elementLoc = parser.getCurrentLocation();
      if (elementLoc.getPointer()[0] == '[') {
        if (parseList(current))
          return failure();
      } else if (parseScalar()) {
        return failure();
      }
      if (count++ != 0 && current != inner)
        return parser.emitError(loc)
               << "tensor literal is invalid; ranks are not consistent between "
                  "elements";
      inner = std::move(current);
      return success();
    };
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                       parseElement))
      return failure();
    if (count == 0)
      return parser.emitError(loc) << "expected at least one element in a list";
    dims.push_back(count);
    llvm::append_range(dims, inner);
    return success();
  }

  DenseIntOrFPElementsAttr buildFromBytes(TileType type) {
    // Later versions of MLIR keep and print a byte per i1.
    if (type.getElementType().isInteger(1) && type.getNumElements() > 1 &&
        static_cast<int64_t>(bytes.size()) == type.getNumElements())
      return cast<DenseIntOrFPElementsAttr>(DenseElementsAttr::get(
          type, llvm::to_vector(llvm::map_range(
                    bytes, [](char byte) { return byte != 0; }))));
    ArrayRef<char> raw(bytes.data(), bytes.size());
    bool detectedSplat;
    if (!DenseElementsAttr::isValidRawBuffer(type, raw, detectedSplat)) {
      parser.emitError(loc)
          << "elements hex data size is invalid for provided type: " << type;
      return {};
    }
    return cast<DenseIntOrFPElementsAttr>(
        DenseElementsAttr::getFromRawBuffer(type, raw));
  }

  OpAsmParser &parser;
  Type element;
  SMLoc loc;
  SmallVector<int64_t> shape;
  SmallVector<APInt> ints;
  SmallVector<APFloat> floats;
  std::string bytes;
  bool isSplat = false, isRaw = false;
};
} // namespace

ParseResult cuda_tile::parseTypedLiteral(OpAsmParser &parser,
                                         DenseIntOrFPElementsAttr &value,
                                         Type &type) {
  Type element;
  if (parser.parseLess())
    return failure();
  SMLoc elementLoc = parser.getCurrentLocation();
  // A type that cannot be parsed is reported twice, by the parser and here.
  if (parseBareType(parser, element) || !isNumberElement(element))
    return parser.emitError(elementLoc)
           << "expect element type to be one of " << kElementNames
           << ", but got " << element;
  LiteralParser literal(parser, element);
  if (parser.parseColon() || literal.parse() || parser.parseGreater() ||
      parser.parseColon())
    return failure();
  SMLoc typeLoc = parser.getCurrentLocation();
  if (parseBareType(parser, type))
    return failure();
  if (!isTileOf(type, isNumberElement))
    return parser.emitError(typeLoc) << "result #0 must be tile of "
                                     << kElementNames << ", but got " << type;
  auto tile = cast<TileType>(type);
  if (tile.getElementType() != element)
    return parser.emitError(elementLoc)
           << "mismatch between the element type: " << element
           << " and the tile element type " << tile.getElementType();
  value = literal.build(tile);
  return success(static_cast<bool>(value));
}

void cuda_tile::printTypedLiteral(OpAsmPrinter &printer, Operation *,
                                  DenseIntOrFPElementsAttr value, Type type) {
  // MLIR prints `dense<body>`; this extracts the body.
  std::string text;
  llvm::raw_string_ostream os(text);
  value.print(os, /*elideType=*/true);
  StringRef body = text;
  body.consume_front("dense<");
  body.consume_back(">");
  // MLIR prints the bits as two's complement numbers.
  bool isF8E5M3 = false;
  if (auto tile = dyn_cast<TileType>(type))
    isF8E5M3 = isF8E5M3Element(tile.getElementType());
  if (isF8E5M3 && !body.starts_with("\"")) {
    std::string numbers;
    while (!body.empty()) {
      int8_t bits;
      if (body.consumeInteger(10, bits)) {
        numbers += body.front();
        body = body.drop_front();
      } else {
        numbers += f8e5m3::format(static_cast<uint8_t>(bits));
      }
    }
    text = std::move(numbers);
    body = text;
  }
  // Bytes instead of bits, as NVIDIA's printer emits values that it prints in
  // hexadecimal.
  if (value.getElementType().isInteger(1) && body.starts_with("\"0x")) {
    std::string bytes = "\"0x";
    for (bool bit : value.getValues<bool>())
      bytes += bit ? "01" : "00";
    text = bytes + '"';
    body = text;
  }
  printer << '<';
  printBareType(printer, cast<TileType>(type).getElementType());
  printer << ": " << body << "> : ";
  printBareType(printer, type);
}

ParseResult cuda_tile::parseGlobalLiteral(OpAsmParser &parser,
                                          DenseIntOrFPElementsAttr &value,
                                          TypeAttr &elementType) {
  Type type;
  if (parseTypedLiteral(parser, value, type))
    return failure();
  if (value.getType() != type)
    elementType = TypeAttr::get(cast<TileType>(type).getElementType());
  return success();
}
void cuda_tile::printGlobalLiteral(OpAsmPrinter &printer, Operation *op,
                                   DenseIntOrFPElementsAttr value,
                                   TypeAttr elementType) {
  Type type = value.getType();
  if (auto tile = dyn_cast<TileType>(type); tile && elementType)
    type = tile.withElementType(elementType.getValue());
  printTypedLiteral(printer, op, value, type);
}
