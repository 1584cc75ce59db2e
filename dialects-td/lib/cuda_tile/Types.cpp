//===- Types.cpp - Types of the dialect: syntax and rules -----------------===//
//
// Invariants, in the order in which they are checked:
//   tile       element class, or a symbol; f4E2M1FN: an even extent; extents
//              positive, powers of two, at most 2^24 elements in all
//   ptr        pointee is a number
//   tensor     element is a number; sizes and strides of one rank, positive or
//              dynamic
//   views      rank not 0; rank of the tensor; one dim_map entry for each tile
//              dimension; extents positive, powers of two; dim_map a partial
//              permutation; tile rules; special padding only for floats; strided:
//              one positive traversal stride for each dimension
// Not checked: that 4-bit tensors have an even dimension of stride 1, and that
// strides do not overlap (overlap is legal).
//
//===----------------------------------------------------------------------===//
#include "cuda_tile/CudaTile.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace cuda_tile;

#define GET_TYPEDEF_CLASSES
#include "cuda_tile/CudaTileTypes.cpp.inc"
#include "cuda_tile/CudaTileTypeInterfaces.cpp.inc"

using EmitError = function_ref<InFlightDiagnostic()>;

void CudaTileDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "cuda_tile/CudaTileTypes.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Sets of types
//===----------------------------------------------------------------------===//

bool cuda_tile::isI1Element(Type t) { return t.isSignlessInteger(1); }
bool cuda_tile::isSmallIntElement(Type t) {
  return t.isSignlessInteger(1) || t.isSignlessInteger(8) ||
         t.isSignlessInteger(16) || t.isSignlessInteger(32);
}
bool cuda_tile::isI8Element(Type t) { return t.isSignlessInteger(8); }
bool cuda_tile::isI32Element(Type t) { return t.isSignlessInteger(32); }
bool cuda_tile::isI64Element(Type t) { return t.isSignlessInteger(64); }
bool cuda_tile::isF32Element(Type t) { return t.isF32(); }
bool cuda_tile::isIntElement(Type t) {
  return t.isSignlessInteger() &&
         llvm::is_contained({1u, 8u, 16u, 32u, 64u},
                            t.getIntOrFloatBitWidth());
}
bool cuda_tile::isBaseFloatElement(Type t) {
  return isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(t);
}
bool cuda_tile::isAnyFloatElement(Type t) {
  return isBaseFloatElement(t) ||
         isa<FloatTF32Type, Float8E4M3FNType, Float8E5M2Type,
             Float8E8M0FNUType, Float4E2M1FNType>(t) ||
         isF8E5M3Element(t);
}
bool cuda_tile::isF8E5M3Element(Type t) { return isa<FloatNV8E5M3FNUType>(t); }
unsigned cuda_tile::getElementBits(Type t) {
  return isF8E5M3Element(t) ? 8 : t.getIntOrFloatBitWidth();
}
TileType cuda_tile::getConstantType(TileType type) {
  if (!isF8E5M3Element(type.getElementType()))
    return type;
  return type.withElementType(IntegerType::get(type.getContext(), 8));
}
bool cuda_tile::holdsConstantsOf(Type attribute, Type type) {
  return attribute == getConstantType(cast<TileType>(type));
}
bool cuda_tile::isNumberElement(Type t) {
  return isIntElement(t) || isAnyFloatElement(t);
}
bool cuda_tile::isIntOrI4Element(Type t) {
  return isIntElement(t) || t.isSignlessInteger(4);
}
bool cuda_tile::isNumberOrI4Element(Type t) {
  return isNumberElement(t) || t.isSignlessInteger(4);
}
bool cuda_tile::isPointerElement(Type t) { return isa<PointerType>(t); }
bool cuda_tile::isMmafElement(Type t) {
  return isBaseFloatElement(t) ||
         isa<FloatTF32Type, Float8E4M3FNType, Float8E5M2Type>(t);
}
bool cuda_tile::isMmafAccElement(Type t) {
  return isa<Float16Type, Float32Type, Float64Type>(t);
}
bool cuda_tile::isMmafScaledElement(Type t) {
  return isa<Float8E4M3FNType, Float8E5M2Type, Float4E2M1FNType>(t);
}
bool cuda_tile::isMmafScaleElement(Type t) {
  return isa<Float8E4M3FNType, Float8E8M0FNUType>(t) || isF8E5M3Element(t);
}

bool cuda_tile::isTileOf(Type type, bool (*element)(Type)) {
  auto tile = dyn_cast<TileType>(type);
  return tile && element(tile.getElementType());
}
bool cuda_tile::isScalarTileOf(Type type, bool (*element)(Type)) {
  return isTileOf(type, element) && cast<TileType>(type).getShape().empty();
}
bool cuda_tile::haveSameShape(Type a, Type b) {
  return cast<TileType>(a).getShape() == cast<TileType>(b).getShape();
}
bool cuda_tile::isPointerTileTo(Type pointer, Type value) {
  auto pointee = dyn_cast<PointerType>(cast<TileType>(pointer).getElementType());
  return pointee && haveSameShape(pointer, value) &&
         pointee.getPointeeType() == cast<TileType>(value).getElementType();
}
bool cuda_tile::isI1TileOfSameShape(Type result, Type operand) {
  return isTileOf(result, isI1Element) && haveSameShape(result, operand);
}

//===----------------------------------------------------------------------===//
// Types without their prefix
//===----------------------------------------------------------------------===//

ParseResult cuda_tile::parseBareType(AsmParser &parser, Type &type) {
  // `token` comes first: later versions of MLIR have a builtin of that name.
  if (succeeded(parser.parseOptionalKeyword("token"))) {
    type = TokenType::get(parser.getContext());
    return success();
  }
  OptionalParseResult builtin = parser.parseOptionalType(type);
  if (builtin.has_value())
    return *builtin;
  SMLoc loc = parser.getCurrentLocation();
  StringRef mnemonic;
  OptionalParseResult bare = generatedTypeParser(parser, &mnemonic, type);
  if (bare.has_value())
    return *bare;
  return parser.emitError(loc) << "unknown type: " << mnemonic;
}

void cuda_tile::printBareType(AsmPrinter &printer, Type type) {
  if (failed(generatedTypePrinter(type, printer)))
    printer << type;
}

std::string cuda_tile::getBareName(Type type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (isF8E5M3Element(type))
    os << FloatNV8E5M3FNUType::getMnemonic();
  else
    os << type;
  return text;
}

//===----------------------------------------------------------------------===//
// Pointers and tiles
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral kNumberNames =
    "f16 or bf16 or f32 or tf32 or f64 or f8E4M3FN or f8E5M2 or f8E8M0FNU or "
    "f4E2M1FN or fnv8E5M3FNU or i1 or i8 or i16 or i32 or i64";

// `<none>` or `#cuda_tile.ptr_attr<none>`.
static ParseResult parsePointerKind(AsmParser &parser,
                                    std::optional<PointerKind> &kind) {
  PointerKindAttr attr;
  if (parser.parseCustomAttributeWithFallback(attr))
    return failure();
  kind = attr.getValue();
  return success();
}

Type PointerType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  Type pointee;
  std::optional<PointerKind> kind;
  if (parser.parseLess() || parseBareType(parser, pointee))
    return {};
  if (succeeded(parser.parseOptionalComma()) && parsePointerKind(parser, kind))
    return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<PointerType>(loc, parser.getContext(), pointee,
                                        kind);
}
void PointerType::print(AsmPrinter &printer) const {
  printer << '<';
  printBareType(printer, getPointeeType());
  if (std::optional<PointerKind> kind = getPtrAttr())
    printer << ", <" << stringifyPointerKind(*kind) << '>';
  printer << '>';
}
LogicalResult PointerType::verify(EmitError emitError, Type pointee,
                                  std::optional<PointerKind>) {
  if (!isNumberElement(pointee))
    return emitError() << "failed to verify 'pointeeType': " << kNumberNames;
  return success();
}

static void printShaped(AsmPrinter &printer, ArrayRef<int64_t> shape,
                        Type element) {
  for (int64_t extent : shape) {
    if (ShapedType::isDynamic(extent))
      printer << "?x";
    else
      printer << extent << 'x';
  }
  printBareType(printer, element);
}

Type TileType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> shape;
  Type element;
  if (parser.parseLess() ||
      parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parseBareType(parser, element) || parser.parseGreater())
    return {};
  return parser.getChecked<TileType>(loc, parser.getContext(), shape, element);
}
void TileType::print(AsmPrinter &printer) const {
  printer << '<';
  printShaped(printer, getShape(), getElementType());
  printer << '>';
}

template <typename T>
static InFlightDiagnostic &appendList(InFlightDiagnostic &diag,
                                      ArrayRef<T> values) {
  llvm::interleaveComma(values, diag);
  return diag;
}

LogicalResult TileType::verify(EmitError emitError, ArrayRef<int64_t> shape,
                               Type element) {
  if (!isNumberOrI4Element(element) && !isPointerElement(element) &&
      !isa<SymbolicType>(element))
    return emitError() << "failed to verify 'elementType': " << kNumberNames
                       << " or Pointer type or i4";
  // Two elements share a byte, both in memory and when packed.
  if (isa<Float4E2M1FNType>(element) &&
      llvm::none_of(shape, [](int64_t extent) { return extent % 2 == 0; }))
    return emitError() << "F4E2M1FN tiles must have an even number of elements";
  int64_t numElements = 1;
  for (int64_t extent : shape) {
    if (extent <= 0) {
      auto diag = emitError();
      diag << "all dimensions must be positive constants, got ";
      return appendList(diag, shape);
    }
    if (!llvm::isPowerOf2_64(extent)) {
      auto diag = emitError();
      diag << "all dimensions must be powers of two, got ";
      return appendList(diag, shape);
    }
    if (extent > kMaxNumElements / numElements)
      return emitError() << "tile would exceed the maximum of "
                         << kMaxNumElements << " elements";
    numElements *= extent;
  }
  return success();
}

ShapedType TileType::cloneWith(std::optional<ArrayRef<int64_t>> shape,
                               Type element) const {
  return TileType::get(shape ? *shape : getShape(), element);
}

//===----------------------------------------------------------------------===//
// Tensor views
//===----------------------------------------------------------------------===//

static ParseResult parseStride(AsmParser &parser, int64_t &stride) {
  if (succeeded(parser.parseOptionalQuestion())) {
    stride = ShapedType::kDynamic;
    return success();
  }
  SMLoc loc = parser.getCurrentLocation();
  OptionalParseResult integer = parser.parseOptionalInteger(stride);
  if (!integer.has_value())
    return parser.emitError(loc)
           << "expected either 64-bit integer or question mark";
  if (failed(*integer))
    return failure();
  if (stride <= 0)
    return parser.emitError(loc)
           << "expected strictly positive integer, got " << stride;
  return success();
}

Type TensorViewType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> shape, strides;
  Type element;
  std::optional<PointerKind> kind;
  if (parser.parseLess() || parser.parseDimensionList(shape) ||
      parseBareType(parser, element))
    return {};
  if (shape.empty()) {
    SMLoc end = parser.getCurrentLocation();
    if (failed(parser.parseOptionalGreater())) {
      if (failed(parser.parseOptionalComma())) {
        parser.emitError(end)
            << "unexpected token after element type in 0-d tensor_view";
        return {};
      }
      if (succeeded(parser.parseOptionalKeyword("strides"))) {
        parser.emitError(end) << "strides must not be provided for 0-d tiles";
        return {};
      }
      if (parsePointerKind(parser, kind) || parser.parseGreater())
        return {};
    }
  } else if (failed(parser.parseOptionalComma())) {
    parser.emitError(parser.getCurrentLocation()) << "expected 'strides'";
    return {};
  } else if (parser.parseKeyword("strides") ||
             parser.parseEqual() ||
             parser.parseCommaSeparatedList(
                 AsmParser::Delimiter::Square,
                 [&] { return parseStride(parser, strides.emplace_back()); })) {
    return {};
  } else {
    if (succeeded(parser.parseOptionalComma()) &&
        parsePointerKind(parser, kind))
      return {};
    if (parser.parseGreater())
      return {};
  }
  return parser.getChecked<TensorViewType>(loc, parser.getContext(), element,
                                           shape, strides, kind);
}

void TensorViewType::print(AsmPrinter &printer) const {
  printer << '<';
  printShaped(printer, getShape(), getElementType());
  if (getRank() != 0) {
    printer << ", strides=[";
    llvm::interleave(
        getStrides(),
        [&](int64_t stride) {
          if (ShapedType::isDynamic(stride))
            printer << '?';
          else
            printer << stride;
        },
        [&] { printer << ','; });
    printer << ']';
  }
  if (std::optional<PointerKind> kind = getPtrAttr())
    printer << ", " << PointerKindAttr::get(getContext(), *kind);
  printer << '>';
}

static bool isPositiveOrDynamic(int64_t value) {
  return value > 0 || ShapedType::isDynamic(value);
}

LogicalResult TensorViewType::verify(EmitError emitError, Type element,
                                     ArrayRef<int64_t> shape,
                                     ArrayRef<int64_t> strides,
                                     std::optional<PointerKind>) {
  if (!isNumberElement(element))
    return emitError() << "failed to verify 'elementType': " << kNumberNames;
  if (shape.size() != strides.size())
    return emitError() << "expected shape and stride to be of same rank but "
                          "got shape of rank "
                       << shape.size() << " and stride of rank "
                       << strides.size();
  if (!llvm::all_of(shape, isPositiveOrDynamic)) {
    auto diag = emitError();
    diag << "dimensions must have strictly positive constant sizes but got [";
    return appendList(diag, shape) << ']';
  }
  if (!llvm::all_of(strides, isPositiveOrDynamic)) {
    auto diag = emitError();
    diag << "dimensions must have strictly positive constant strides but got [";
    return appendList(diag, strides) << ']';
  }
  return success();
}

int64_t TensorViewType::getNumDynamicSizes() const {
  return llvm::count_if(getShape(), ShapedType::isDynamic);
}
int64_t TensorViewType::getNumDynamicStrides() const {
  return llvm::count_if(getStrides(), ShapedType::isDynamic);
}

//===----------------------------------------------------------------------===//
// Syntax shared by the views
//===----------------------------------------------------------------------===//

static ParseResult parseTileShape(AsmParser &parser,
                                  SmallVectorImpl<int32_t> &tileShape) {
  SmallVector<int64_t> extents;
  if (parser.parseKeyword("tile") || parser.parseEqual() ||
      parser.parseLParen())
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseDimensionList(extents, /*allowDynamic=*/false,
                                /*withTrailingX=*/false))
    return failure();
  constexpr int64_t maxExtent = std::numeric_limits<int32_t>::max();
  for (auto [i, extent] : llvm::enumerate(extents)) {
    if (extent <= 0 || extent > maxExtent)
      return parser.emitError(loc)
             << "tile dimension " << i << " exceeds i32 limitations (got "
             << extent
             << ", expected strictly positive and less than or equal to "
             << maxExtent << ")";
    tileShape.push_back(extent);
  }
  return failure(parser.parseRParen() || parser.parseComma());
}

static ParseResult parsePadding(AsmParser &parser,
                                std::optional<PaddingValue> &padding) {
  if (failed(parser.parseOptionalKeyword("padding_value")))
    return success();
  StringRef keyword;
  if (parser.parseEqual())
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return failure();
  padding = symbolizePaddingValue(keyword);
  if (!padding)
    return parser.emitError(loc)
           << "expected padding value to be one of: 'zero', 'neg_zero', "
              "'nan', 'pos_inf', 'neg_inf', got: '"
           << keyword << "'";
  return parser.parseComma();
}

static ParseResult parseTensorView(AsmParser &parser, TensorViewType &view) {
  SMLoc loc = parser.getCurrentLocation();
  Type type;
  if (parseBareType(parser, type))
    return failure();
  view = dyn_cast<TensorViewType>(type);
  if (!view)
    return parser.emitError(loc)
           << "expected 'tensor_view' type, but got " << type;
  return success();
}

static ParseResult parseI32List(AsmParser &parser,
                                SmallVectorImpl<int32_t> &values) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return parser.parseInteger(values.emplace_back());
  });
}

// `, dim_map=[...]`, or nothing for the identity.
static ParseResult parseDimMap(AsmParser &parser, size_t rank,
                               SmallVectorImpl<int32_t> &dimMap) {
  if (failed(parser.parseOptionalComma())) {
    llvm::append_range(dimMap, llvm::seq<int32_t>(0, rank));
    return success();
  }
  return failure(parser.parseKeyword("dim_map") || parser.parseEqual() ||
                 parseI32List(parser, dimMap));
}

static void printTileShape(AsmPrinter &printer, ArrayRef<int32_t> tileShape) {
  printer << "<tile=(";
  llvm::interleave(tileShape, printer.getStream(), "x");
  printer << "), ";
}
static void printPadding(AsmPrinter &printer,
                         std::optional<PaddingValue> padding) {
  if (padding)
    printer << "padding_value = " << stringifyPaddingValue(*padding) << ", ";
}
static void printDimMap(AsmPrinter &printer, ArrayRef<int32_t> dimMap) {
  if (llvm::equal(dimMap, llvm::seq<int32_t>(0, dimMap.size())))
    return;
  printer << ", dim_map=[";
  llvm::interleaveComma(dimMap, printer);
  printer << ']';
}

//===----------------------------------------------------------------------===//
// Rules shared by the views
//===----------------------------------------------------------------------===//

static ShapedType getViewTile(ArrayRef<int32_t> tileShape,
                              TensorViewType view) {
  return TileType::get(SmallVector<int64_t>(tileShape), view.getElementType());
}

static LogicalResult verifyTileRank(EmitError emitError,
                                    ArrayRef<int32_t> tileShape,
                                    TensorViewType view) {
  if (tileShape.empty())
    return emitError() << "0-dimension tile shape is not supported";
  if (static_cast<int64_t>(tileShape.size()) != view.getRank())
    return emitError() << "expected tensor_view rank and tile rank to match, "
                          "got tensor_view of rank "
                       << view.getRank() << " and tiles of rank "
                       << tileShape.size();
  return success();
}

static LogicalResult verifyTileExtents(EmitError emitError,
                                       ArrayRef<int32_t> tileShape) {
  auto report = [&](StringRef what) -> LogicalResult {
    auto diag = emitError();
    diag << "tile shape dimensions must have " << what << " length but got [";
    return appendList(diag, tileShape) << ']';
  };
  if (llvm::any_of(tileShape, [](int32_t extent) { return extent <= 0; }))
    return report("strictly positive");
  if (!llvm::all_of(tileShape,
                    [](int32_t extent) { return llvm::isPowerOf2_32(extent); }))
    return report("power of two");
  return success();
}

static LogicalResult verifyTileAndPadding(EmitError emitError,
                                          ArrayRef<int32_t> tileShape,
                                          TensorViewType view,
                                          std::optional<PaddingValue> padding) {
  if (failed(TileType::verify(emitError, SmallVector<int64_t>(tileShape),
                              view.getElementType())))
    return failure();
  if (padding && *padding != PaddingValue::Zero &&
      !isAnyFloatElement(view.getElementType()))
    return emitError() << "padding value '" << stringifyPaddingValue(*padding)
                       << "' is only supported for floating-point element "
                          "types, but got "
                       << view.getElementType();
  return success();
}

// Partition and strided views, whose tiles step along tensor dimensions.
static LogicalResult verifyGrid(EmitError emitError,
                                ArrayRef<int32_t> tileShape,
                                TensorViewType view, ArrayRef<int32_t> dimMap,
                                std::optional<PaddingValue> padding) {
  if (failed(verifyTileRank(emitError, tileShape, view)))
    return failure();
  if (dimMap.size() != tileShape.size())
    return emitError() << "expected dim_map to map exactly all "
                       << tileShape.size() << " dimensions of the tile, got "
                       << dimMap.size() << " mappings";
  if (failed(verifyTileExtents(emitError, tileShape)))
    return failure();
  SmallVector<int32_t> mappedBy(view.getRank(), -1);
  for (auto [tileDim, target] : llvm::enumerate(dimMap)) {
    if (target < 0)
      return emitError() << "target dimension must not be negative, got "
                         << target;
    if (target >= view.getRank())
      return emitError() << "target dimension is outside of tensor view "
                            "dimensions, expected strictly less than "
                         << view.getRank() << ", got " << target;
    if (mappedBy[target] >= 0)
      return emitError() << "target dimension " << target
                         << " mapped at least twice (for tile dimensions "
                         << mappedBy[target] << " and " << tileDim << ")";
    mappedBy[target] = tileDim;
  }
  return verifyTileAndPadding(emitError, tileShape, view, padding);
}

static LogicalResult verifyScalarIndices(EmitError emitError,
                                         TypeRange indices,
                                         std::optional<uint32_t> skip) {
  Type common;
  for (auto [i, type] : llvm::enumerate(indices)) {
    if (skip && *skip == i)
      continue;
    auto tile = dyn_cast<TileType>(type);
    if (!tile || tile.getRank() != 0)
      return emitError() << "expected index type to be a scalar tile, got "
                         << type;
    if (common && common != type)
      return emitError() << "expected index type " << i
                         << " to be the same as other index types (" << common
                         << "), got " << type;
    common = type;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Partition views
//===----------------------------------------------------------------------===//

Type PartitionViewType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int32_t> tileShape, dimMap;
  std::optional<PaddingValue> padding;
  TensorViewType view;
  if (parser.parseLess() || parseTileShape(parser, tileShape) ||
      parsePadding(parser, padding) || parseTensorView(parser, view) ||
      parseDimMap(parser, tileShape.size(), dimMap) || parser.parseGreater())
    return {};
  return parser.getChecked<PartitionViewType>(loc, parser.getContext(),
                                              tileShape, view, dimMap, padding);
}
void PartitionViewType::print(AsmPrinter &printer) const {
  printTileShape(printer, getTileShape());
  printPadding(printer, getPaddingValue());
  printBareType(printer, getTensorView());
  printDimMap(printer, getDimMap());
  printer << '>';
}
LogicalResult PartitionViewType::verify(EmitError emitError,
                                        ArrayRef<int32_t> tileShape,
                                        TensorViewType view,
                                        ArrayRef<int32_t> dimMap,
                                        std::optional<PaddingValue> padding) {
  return verifyGrid(emitError, tileShape, view, dimMap, padding);
}
int64_t PartitionViewType::getViewIndexRank() const {
  return getTileShape().size();
}
ShapedType PartitionViewType::getViewTileType() const {
  return getViewTile(getTileShape(), getTensorView());
}
LogicalResult PartitionViewType::verifyIndexTypes(EmitError emitError,
                                                  TypeRange indices) const {
  return verifyScalarIndices(emitError, indices, std::nullopt);
}

//===----------------------------------------------------------------------===//
// Strided views
//===----------------------------------------------------------------------===//

Type StridedViewType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int32_t> tileShape, strides, dimMap;
  std::optional<PaddingValue> padding;
  TensorViewType view;
  if (parser.parseLess() || parseTileShape(parser, tileShape) ||
      parser.parseKeyword("traversal_strides") || parser.parseEqual() ||
      parseI32List(parser, strides) || parser.parseComma() ||
      parsePadding(parser, padding) || parseTensorView(parser, view) ||
      parseDimMap(parser, tileShape.size(), dimMap) || parser.parseGreater())
    return {};
  return parser.getChecked<StridedViewType>(loc, parser.getContext(), tileShape,
                                            strides, view, dimMap, padding);
}
void StridedViewType::print(AsmPrinter &printer) const {
  printTileShape(printer, getTileShape());
  printer << "traversal_strides=[";
  llvm::interleave(getTraversalStrides(), printer.getStream(), ",");
  printer << "], ";
  printPadding(printer, getPaddingValue());
  printBareType(printer, getTensorView());
  printDimMap(printer, getDimMap());
  printer << '>';
}
LogicalResult StridedViewType::verify(EmitError emitError,
                                      ArrayRef<int32_t> tileShape,
                                      ArrayRef<int32_t> strides,
                                      TensorViewType view,
                                      ArrayRef<int32_t> dimMap,
                                      std::optional<PaddingValue> padding) {
  if (failed(verifyGrid(emitError, tileShape, view, dimMap, padding)))
    return failure();
  if (strides.size() != tileShape.size())
    return emitError() << "expected " << tileShape.size()
                       << " traversal strides, got " << strides.size();
  if (llvm::any_of(strides, [](int32_t stride) { return stride <= 0; })) {
    auto diag = emitError();
    diag << "traversal strides must be strictly positive but got [";
    return appendList(diag, strides) << ']';
  }
  return success();
}
int64_t StridedViewType::getViewIndexRank() const {
  return getTileShape().size();
}
ShapedType StridedViewType::getViewTileType() const {
  return getViewTile(getTileShape(), getTensorView());
}
LogicalResult StridedViewType::verifyIndexTypes(EmitError emitError,
                                                TypeRange indices) const {
  return verifyScalarIndices(emitError, indices, std::nullopt);
}

//===----------------------------------------------------------------------===//
// Gather/scatter views
//===----------------------------------------------------------------------===//

Type GatherScatterViewType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int32_t> tileShape;
  std::optional<PaddingValue> padding;
  TensorViewType view;
  uint32_t sparseDim;
  if (parser.parseLess() || parseTileShape(parser, tileShape) ||
      parsePadding(parser, padding) || parseTensorView(parser, view) ||
      parser.parseComma() || parser.parseKeyword("sparse_dim") ||
      parser.parseEqual() || parser.parseInteger(sparseDim) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<GatherScatterViewType>(
      loc, parser.getContext(), tileShape, view, sparseDim, padding);
}
void GatherScatterViewType::print(AsmPrinter &printer) const {
  printTileShape(printer, getTileShape());
  printPadding(printer, getPaddingValue());
  printBareType(printer, getTensorView());
  printer << ", sparse_dim=" << getSparseDim() << '>';
}
LogicalResult
GatherScatterViewType::verify(EmitError emitError, ArrayRef<int32_t> tileShape,
                              TensorViewType view, uint32_t sparseDim,
                              std::optional<PaddingValue> padding) {
  if (failed(verifyTileRank(emitError, tileShape, view)) ||
      failed(verifyTileExtents(emitError, tileShape)))
    return failure();
  if (sparseDim >= view.getRank())
    return emitError() << "sparse_dim is outside of tensor view dimensions, "
                          "expected strictly less than "
                       << view.getRank() << ", got " << sparseDim;
  return verifyTileAndPadding(emitError, tileShape, view, padding);
}
int64_t GatherScatterViewType::getViewIndexRank() const {
  return getTileShape().size();
}
ShapedType GatherScatterViewType::getViewTileType() const {
  return getViewTile(getTileShape(), getTensorView());
}
LogicalResult GatherScatterViewType::verifyIndexTypes(EmitError emitError,
                                                      TypeRange indices) const {
  if (indices.size() > getSparseDim()) {
    Type type = indices[getSparseDim()];
    auto tile = dyn_cast<TileType>(type);
    int32_t length = getTileShape()[getSparseDim()];
    if (!tile || tile.getRank() != 1 || tile.getShape()[0] != length)
      return emitError() << "expected index type " << getSparseDim()
                         << " to be a rank-1 tile of " << length
                         << " elements, got " << type;
  }
  return verifyScalarIndices(emitError, indices, getSparseDim());
}
