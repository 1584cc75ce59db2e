// Registration, types and attributes of nv_tileaa.
#include "nv_tileaa/NvTileAA.h"
#include "capi/nv_tileaa.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace nv_tileaa;

#include "nv_tileaa/NvTileAADialect.cpp.inc"
#include "nv_tileaa/NvTileAAEnums.cpp.inc"
#include "nv_tileaa/NvTileAAOpInterfaces.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "nv_tileaa/NvTileAATypes.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "nv_tileaa/NvTileAAAttrs.cpp.inc"

namespace {
/// A name for the type of the memory that several views share.
struct AliasInterface : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(Type type, raw_ostream &os) const final {
    auto memref = dyn_cast<StridedMemRefType>(type);
    if (!memref || memref.getStrides().empty())
      return AliasResult::NoAlias;
    os << "memref";
    return AliasResult::OverridableAlias;
  }
};
} // namespace

void NvTileAADialect::initialize() {
  addInterfaces<AliasInterface>();
  registerTypes();
  registerAttrs();
  addOperations<
#define GET_OP_LIST
#include "nv_tileaa/NvTileAAOps.cpp.inc"
      >();
}
void NvTileAADialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "nv_tileaa/NvTileAATypes.cpp.inc"
      >();
}
void NvTileAADialect::registerAttrs() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "nv_tileaa/NvTileAAAttrs.cpp.inc"
      >();
}

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(NvTileAA, nv_tileaa, NvTileAADialect)

static ParseResult parseExtent(AsmParser &parser, int64_t &value) {
  if (succeeded(parser.parseOptionalQuestion())) {
    value = ShapedType::kDynamic;
    return success();
  }
  return parser.parseInteger(value);
}
static void printExtent(AsmPrinter &printer, int64_t value) {
  if (ShapedType::isDynamic(value))
    printer << '?';
  else
    printer << value;
}
static void printList(AsmPrinter &printer, ArrayRef<int64_t> values) {
  printer << '[';
  llvm::interleaveComma(values, printer, [&](int64_t v) { printExtent(printer, v); });
  printer << ']';
}
static ParseResult parseList(AsmParser &parser, SmallVectorImpl<int64_t> &values) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return parseExtent(parser, values.emplace_back());
  });
}

//===-- memref --------------------------------------------------------------//

Type StridedMemRefType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape, strides;
  Type element;
  if (parser.parseLess() || parser.parseDimensionList(shape) || parser.parseType(element))
    return {};
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("strides") || parser.parseEqual() || parseList(parser, strides)))
    return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<StridedMemRefType>(parser.getContext(), shape, strides, element);
}
void StridedMemRefType::print(AsmPrinter &printer) const {
  printer << '<';
  for (int64_t extent : getShape()) {
    printExtent(printer, extent);
    printer << 'x';
  }
  printer << getElementType();
  if (!getStrides().empty()) {
    printer << ", strides = ";
    printList(printer, getStrides());
  }
  printer << '>';
}
// Invariants: one stride per extent; static extents and strides are positive.
LogicalResult StridedMemRefType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape,
                                 ArrayRef<int64_t> strides, Type element) {
  if (shape.size() != strides.size())
    return emitError() << "expected one stride for each of " << shape.size() << " dimensions, got " << strides.size();
  for (int64_t v : llvm::concat<const int64_t>(shape, strides))
    if (!ShapedType::isDynamic(v) && v <= 0)
      return emitError() << "extents and strides must be positive, got " << v;
  return success();
}

//===-- tiled_view ----------------------------------------------------------//

Type TiledViewType::parse(AsmParser &parser) {
  SmallVector<int64_t> tile, dimMap, steps;
  std::optional<Padding> padding;
  std::optional<int64_t> sparse;
  StridedMemRefType memref;
  if (parser.parseLess() || parser.parseKeyword("tile") || parser.parseEqual() || parseList(parser, tile) ||
      parser.parseComma())
    return {};
  if (succeeded(parser.parseOptionalKeyword("memref")))
    memref = llvm::cast_if_present<StridedMemRefType>(StridedMemRefType::parse(parser));
  else if (parser.parseType(memref))
    return {};
  if (!memref)
    return {};
  for (int64_t d = 0, e = tile.size(); d < e; ++d)
    dimMap.push_back(d);
  steps = tile;
  while (succeeded(parser.parseOptionalComma())) {
    StringRef key;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&key) || parser.parseEqual())
      return {};
    if (key == "dim_map") {
      dimMap.clear();
      if (parseList(parser, dimMap))
        return {};
    } else if (key == "steps") {
      steps.clear();
      if (parseList(parser, steps))
        return {};
    } else if (key == "padding") {
      StringRef name;
      if (parser.parseKeyword(&name))
        return {};
      padding = symbolizePadding(name);
      if (!padding)
        return parser.emitError(loc, "unknown padding '") << name << "'", Type();
    } else if (key == "sparse_dim") {
      if (parser.parseInteger(sparse.emplace()))
        return {};
    } else {
      return parser.emitError(loc, "expected dim_map, steps, padding or sparse_dim, got '") << key << "'", Type();
    }
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<TiledViewType>(parser.getContext(), tile, memref, dimMap, steps, padding, sparse);
}
void TiledViewType::print(AsmPrinter &printer) const {
  printer << "<tile = ";
  printList(printer, getTile());
  printer << ", ";
  if (failed(printer.printAlias(getMemref()))) {
    printer << "memref";
    getMemref().print(printer);
  }
  bool identity = true;
  for (auto [d, m] : llvm::enumerate(getDimMap()))
    identity &= int64_t(d) == m;
  if (!identity) {
    printer << ", dim_map = ";
    printList(printer, getDimMap());
  }
  if (getSteps() != getTile()) {
    printer << ", steps = ";
    printList(printer, getSteps());
  }
  if (getPadding())
    printer << ", padding = " << stringifyPadding(*getPadding());
  if (getSparseDim())
    printer << ", sparse_dim = " << *getSparseDim();
  printer << '>';
}
// Invariants: tile, dim_map and steps have the memref's rank; dim_map is a permutation; tile extents are powers of two;
// steps are positive; sparse_dim is a dimension.
LogicalResult TiledViewType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> tile,
                                    StridedMemRefType memref, ArrayRef<int64_t> dimMap, ArrayRef<int64_t> steps,
                                    std::optional<Padding> padding, std::optional<int64_t> sparse) {
  size_t rank = memref.getShape().size();
  if (tile.size() != rank || dimMap.size() != rank || steps.size() != rank)
    return emitError() << "tile, dim_map and steps must have the memref's rank " << rank;
  SmallVector<bool> seen(rank, false);
  for (int64_t d : dimMap) {
    if (d < 0 || d >= int64_t(rank) || seen[d])
      return emitError() << "dim_map must be a permutation";
    seen[d] = true;
  }
  for (int64_t t : tile)
    if (t <= 0 || (t & (t - 1)))
      return emitError() << "tile extents must be powers of two, got " << t;
  for (int64_t s : steps)
    if (s <= 0)
      return emitError() << "steps must be positive, got " << s;
  if (sparse && (*sparse < 0 || *sparse >= int64_t(rank)))
    return emitError() << "sparse_dim must be less than the rank " << rank;
  return success();
}
