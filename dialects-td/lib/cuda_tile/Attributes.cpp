//===- Attributes.cpp - Attributes of the dialect -------------------------===//
//
// Predicates of `assume` and the attributes of debug information. Optimization
// hints are in Hints.cpp.
//
// Invariants of the predicates, in the order in which they are checked:
//   div_by         divisor a power of two, at most 2^62; `every` and `along`
//                  together; value a tensor view (then without them) or a tile of
//                  integers or pointers; rank 0 without them; along a dimension;
//                  every inside that dimension
//   same_elements  tile of integers or pointers; one value for each dimension,
//                  each inside it
//   bounded        tile of integers; bounds inside the signed range; in order
//
//===----------------------------------------------------------------------===//
#include "cuda_tile/CudaTile.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace cuda_tile;

bool DILocalScopeAttr::classof(Attribute attr) {
  return isa<DISubprogramAttr, DILexicalBlockAttr>(attr);
}

DISubprogramAttr DILocalScopeAttr::getSubprogram() const {
  DILocalScopeAttr scope = *this;
  while (auto block = dyn_cast<DILexicalBlockAttr>(scope))
    scope = block.getScope();
  return cast<DISubprogramAttr>(scope);
}

#include "cuda_tile/CudaTileEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "cuda_tile/CudaTileAttrs.cpp.inc"
#include "cuda_tile/CudaTileAttrInterfaces.cpp.inc"

void CudaTileDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "cuda_tile/CudaTileAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// div_by
//===----------------------------------------------------------------------===//

Attribute DivByAttr::parse(AsmParser &parser, Type) {
  uint64_t divisor;
  std::optional<int64_t> every, along;
  if (parser.parseLess() || parser.parseInteger(divisor))
    return {};
  if (succeeded(parser.parseOptionalComma())) {
    every.emplace();
    along.emplace();
    if (parser.parseKeyword("every") || parser.parseInteger(*every) ||
        parser.parseKeyword("along") || parser.parseInteger(*along))
      return {};
  }
  if (parser.parseGreater())
    return {};
  return DivByAttr::get(parser.getContext(), divisor, every, along);
}

void DivByAttr::print(AsmPrinter &printer) const {
  printer << '<' << getDivisor();
  if (getEvery() && getAlong())
    printer << ", every " << *getEvery() << " along " << *getAlong();
  printer << '>';
}

static bool isTileOfIntsOrPointers(TileType tile) {
  return isIntOrI4Element(tile.getElementType()) ||
         isPointerElement(tile.getElementType());
}

LogicalResult DivByAttr::verifyWithAssumeOp(Operation *op, Type type) const {
  constexpr uint64_t maxDivisor = uint64_t(1) << 62;
  if (!llvm::isPowerOf2_64(getDivisor()))
    return op->emitOpError("'cuda_tile.div_by' divisor must be a power of 2");
  if (getEvery().has_value() != getAlong().has_value())
    return op->emitOpError(
        "'cuda_tile.div_by' 'every' and 'along' must be used together");
  if (getDivisor() > maxDivisor)
    return op->emitOpError("'cuda_tile.div_by' divisor is too large");
  if (isa<TensorViewType>(type)) {
    if (getEvery())
      return op->emitOpError("'cuda_tile.div_by' 'every'/'along' cannot be "
                             "used if the constrained value is a tensor_view");
    return success();
  }
  auto tile = dyn_cast<TileType>(type);
  if (!tile)
    return op->emitOpError("'cuda_tile.div_by' is valid only for tile of "
                           "integer/pointer or tensor_view values");
  if (tile.getRank() == 0 && getEvery())
    return op->emitOpError("'cuda_tile.div_by' 'every'/'along' cannot be used "
                           "if the constrained value is a 0D tile");
  if (!isTileOfIntsOrPointers(tile))
    return op->emitOpError("'cuda_tile.div_by' is valid only for tile of "
                           "integer/pointer or tensor_view values");
  if (!getEvery())
    return success();
  if (*getAlong() < 0 || *getAlong() >= tile.getRank())
    return op->emitOpError("'cuda_tile.div_by' every_dim (")
           << *getAlong() << ") must be >= 0 and < tile rank ("
           << tile.getRank() << ")";
  int64_t extent = tile.getShape()[*getAlong()];
  if (*getEvery() < 0 || *getEvery() > extent)
    return op->emitOpError("expected 'cuda_tile.div_by' every_dim to be within "
                           "0 and the size of the respective dimension (")
           << extent << ")";
  return success();
}

//===----------------------------------------------------------------------===//
// same_elements
//===----------------------------------------------------------------------===//

Attribute SameElementsAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> values;
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(
          AsmParser::Delimiter::Square,
          [&] { return parser.parseInteger(values.emplace_back()); }) ||
      parser.parseGreater())
    return {};
  return SameElementsAttr::get(parser.getContext(), values);
}

void SameElementsAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(getValues(), printer);
  printer << "]>";
}

LogicalResult SameElementsAttr::verifyWithAssumeOp(Operation *op,
                                                   Type type) const {
  auto tile = dyn_cast<TileType>(type);
  if (!tile || !isTileOfIntsOrPointers(tile))
    return op->emitOpError("'cuda_tile.same_elements' is valid only for tile "
                           "of integer/pointer values");
  if (static_cast<int64_t>(getValues().size()) != tile.getRank())
    return op->emitOpError(
               "expected number of values in 'cuda_tile.same_elements' (")
           << getValues().size() << ") to match rank of constrained tile ("
           << tile.getRank() << ")";
  for (auto [i, value] : llvm::enumerate(getValues())) {
    int64_t extent = tile.getShape()[i];
    if (value < 0 || value > extent)
      return op->emitOpError("expected 'cuda_tile.same_elements' value ")
             << i << " to be within 0 and the size of the respective dimension ("
             << extent << ")";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// bounded
//===----------------------------------------------------------------------===//

static ParseResult parseBound(AsmParser &parser,
                              std::optional<int64_t> &bound) {
  if (succeeded(parser.parseOptionalQuestion()))
    return success();
  return parser.parseInteger(bound.emplace());
}

Attribute BoundedAttr::parse(AsmParser &parser, Type) {
  std::optional<int64_t> lb, ub;
  if (parser.parseLess() || parseBound(parser, lb) || parser.parseComma() ||
      parseBound(parser, ub) || parser.parseGreater())
    return {};
  return BoundedAttr::get(parser.getContext(), lb, ub);
}

void BoundedAttr::print(AsmPrinter &printer) const {
  auto printBound = [&](std::optional<int64_t> bound) {
    if (bound)
      printer << *bound;
    else
      printer << '?';
  };
  printer << '<';
  printBound(getLb());
  printer << ", ";
  printBound(getUb());
  printer << '>';
}

LogicalResult BoundedAttr::verifyWithAssumeOp(Operation *op, Type type) const {
  auto tile = dyn_cast<TileType>(type);
  if (!tile || !isIntOrI4Element(tile.getElementType()))
    return op->emitOpError(
        "'cuda_tile.bounded' is valid only for tile of integer values");
  unsigned width = tile.getElementTypeBitWidth();
  int64_t min = llvm::minIntN(width), max = llvm::maxIntN(width);
  auto check = [&](std::optional<int64_t> bound,
                   StringRef name) -> LogicalResult {
    if (bound && (*bound < min || *bound > max))
      return op->emitOpError("'cuda_tile.bounded' expects ")
             << name << " bound to be within [" << min << ", " << max << "]";
    return success();
  };
  if (failed(check(getLb(), "lower")) || failed(check(getUb(), "upper")))
    return failure();
  if (getLb() && getUb() && *getLb() > *getUb())
    return op->emitOpError("'cuda_tile.bounded' expects lower bound to be less "
                           "than or equal to upper bound");
  return success();
}

//===----------------------------------------------------------------------===//
// Debug locations
//===----------------------------------------------------------------------===//

Attribute DILocAttr::parse(AsmParser &parser, Type) {
  LocationAttr location;
  DILocalScopeAttr scope;
  if (parser.parseLess())
    return {};
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseAttribute(location))
    return {};
  auto sourceLoc = dyn_cast<FileLineColLoc>(location);
  if (!sourceLoc) {
    parser.emitError(loc) << "expected a file, line and column location";
    return {};
  }
  if (parser.parseKeyword("in") || parser.parseAttribute(scope) ||
      parser.parseGreater())
    return {};
  return DILocAttr::get(parser.getContext(), sourceLoc, scope);
}

void DILocAttr::print(AsmPrinter &printer) const {
  printer << '<' << getSourceLoc() << " in " << getScope() << '>';
}

DILocAttr cuda_tile::findDebugLoc(LocationAttr loc) {
  return TypeSwitch<LocationAttr, DILocAttr>(loc)
      .Case([](DILocAttr found) { return found; })
      .Case([](CallSiteLoc site) { return findDebugLoc(site.getCaller()); })
      .Case([](FusedLoc fused) {
        for (Location part : fused.getLocations())
          if (DILocAttr found = findDebugLoc(part))
            return found;
        return DILocAttr();
      })
      .Case([](NameLoc name) { return findDebugLoc(name.getChildLoc()); })
      .Case([](OpaqueLoc opaque) {
        return findDebugLoc(opaque.getFallbackLocation());
      })
      .Default([](LocationAttr) { return DILocAttr(); });
}
