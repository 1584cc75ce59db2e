//===- ViewOps.cpp - Views: syntax and verifiers --------------------------===//
//
// Invariants of accesses through views, in the order in which they are checked:
// number of indices, type of the tile, rules of the view for its indices, hints,
// memory model. Of make_tensor_view: pointee, number of dynamic sizes, number of
// dynamic strides, one common type.
//
//===----------------------------------------------------------------------===//
#include "cuda_tile/Directives.h"
#include "cuda_tile/Hints.h"
#include "cuda_tile/Memory.h"

#include "llvm/ADT/TypeSwitch.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace cuda_tile;

//===----------------------------------------------------------------------===//
// make_tensor_view
//===----------------------------------------------------------------------===//

namespace {
/// One list of sizes or strides as written: dynamic entries are operands.
struct ShapeList {
  SMLoc loc;
  SmallVector<int64_t> values;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
};
} // namespace

static ParseResult parseShapeList(OpAsmParser &parser, StringRef keyword,
                                  ShapeList &list) {
  if (parser.parseComma() || parser.parseKeyword(keyword) ||
      parser.parseEqual())
    return failure();
  list.loc = parser.getCurrentLocation();
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Square, [&]() -> ParseResult {
        int64_t literal;
        OptionalParseResult integer = parser.parseOptionalInteger(literal);
        if (integer.has_value()) {
          list.values.push_back(literal);
          return *integer;
        }
        SMLoc loc = parser.getCurrentLocation();
        OptionalParseResult operand =
            parser.parseOptionalOperand(list.operands.emplace_back());
        if (!operand.has_value())
          return parser.emitError(loc) << "expected either integer or SSA value";
        list.values.push_back(ShapedType::kDynamic);
        return *operand;
      });
}

static ParseResult checkShapeList(OpAsmParser &parser, StringRef name,
                                  const ShapeList &list,
                                  ArrayRef<int64_t> expected) {
  if (list.values.size() != expected.size())
    return parser.emitError(list.loc)
           << "expected " << name << " declaration to contain "
           << expected.size() << " elements due to tensor_view type, but "
           << list.values.size() << " were provided";
  auto describe = [](int64_t value) {
    return ShapedType::isDynamic(value) ? "dynamic" : std::to_string(value);
  };
  for (auto [i, given, wanted] : llvm::enumerate(list.values, expected))
    if (given != wanted)
      return parser.emitError(list.loc)
             << "input " << name << " dimension " << i
             << " does not match tensor_view type (expected "
             << describe(wanted) << ", got " << describe(given) << ")";
  return success();
}

ParseResult MakeTensorViewOp::parse(OpAsmParser &parser,
                                    OperationState &result) {
  OpAsmParser::UnresolvedOperand base;
  ShapeList shape, strides;
  if (parser.parseOperand(base) || parseShapeList(parser, "shape", shape) ||
      parseShapeList(parser, "strides", strides) ||
      parser.parseOptionalAttrDict(result.attributes) || parser.parseColon())
    return failure();
  // The type of the base is written only if its pointer has an attribute.
  Type baseType, indexType, type;
  bool isDynamic = !shape.operands.empty() || !strides.operands.empty();
  SMLoc typeLoc = parser.getCurrentLocation();
  if (parseBareType(parser, type))
    return failure();
  if (isTileOf(type, isPointerElement)) {
    baseType = type;
    if (isDynamic ? parser.parseComma() : parser.parseArrow())
      return failure();
    typeLoc = parser.getCurrentLocation();
    if (parseBareType(parser, type))
      return failure();
  }
  if (isDynamic) {
    indexType = type;
    if (parser.parseArrow())
      return failure();
    typeLoc = parser.getCurrentLocation();
    if (parseBareType(parser, type))
      return failure();
  }
  auto view = dyn_cast<TensorViewType>(type);
  if (!view)
    return parser.emitError(typeLoc) << "expected tensor_view, got " << type;
  if (checkShapeList(parser, "shape", shape, view.getShape()) ||
      checkShapeList(parser, "stride", strides, view.getStrides()))
    return failure();
  if (!baseType)
    baseType = TileType::get({}, PointerType::get(view.getElementType()));
  if (parser.resolveOperand(base, baseType, result.operands) ||
      parser.resolveOperands(shape.operands, indexType, result.operands) ||
      parser.resolveOperands(strides.operands, indexType, result.operands))
    return failure();
  result.addTypes(view);
  auto &segments =
      result.getOrAddProperties<Properties>().operandSegmentSizes;
  segments[0] = 1;
  segments[1] = shape.operands.size();
  segments[2] = strides.operands.size();
  return success();
}

void MakeTensorViewOp::print(OpAsmPrinter &printer) {
  auto printList = [&](StringRef name, ArrayRef<int64_t> values,
                       OperandRange operands) {
    printer << ", " << name << " = [";
    auto operand = operands.begin();
    llvm::interleaveComma(values, printer, [&](int64_t value) {
      if (ShapedType::isDynamic(value))
        printer << *operand++;
      else
        printer << value;
    });
    printer << "]";
  };
  printer << " " << getBase();
  printList("shape", getType().getShape(), getDynamicShape());
  printList("strides", getType().getStrides(), getDynamicStrides());
  printer.printOptionalAttrDict((*this)->getAttrs(),
                                {getOperandSegmentSizesAttrName()});
  printer << " : ";
  auto base = cast<PointerType>(getBase().getType().getElementType());
  bool isDynamic = getNumOperands() > 1;
  if (base.getPtrAttr()) {
    printBareType(printer, getBase().getType());
    printer << (isDynamic ? ", " : " -> ");
  }
  if (isDynamic) {
    printBareType(printer, getOperand(1).getType());
    printer << " -> ";
  }
  printBareType(printer, getType());
}

LogicalResult MakeTensorViewOp::verify() {
  TensorViewType view = getType();
  auto base = cast<PointerType>(getBase().getType().getElementType());
  Type pointee = base.getPointeeType();
  if (pointee != view.getElementType())
    return emitOpError("expected pointer to ")
           << view.getElementType()
           << " to build tensor_view of this type, got " << pointee;
  if (std::optional<PointerKind> kind = base.getPtrAttr()) {
    if (view.getPtrAttr() != kind)
      return emitOpError("tensor_view must preserve ptr_attr from base pointer (")
             << PointerKindAttr::get(getContext(), *kind) << ")";
  } else if (view.getPtrAttr()) {
    return emitOpError("pointer base without ptr_attr cannot produce "
                       "tensor_view with ptr_attr");
  }
  auto checkCount = [&](StringRef what, int64_t expected,
                        int64_t got) -> LogicalResult {
    if (expected != got)
      return emitOpError("expected ")
             << expected << " dynamic " << what << " operands, got " << got;
    return success();
  };
  if (failed(checkCount("shape", view.getNumDynamicSizes(),
                        getDynamicShape().size())) ||
      failed(checkCount("stride", view.getNumDynamicStrides(),
                        getDynamicStrides().size())))
    return failure();
  // The custom syntax has room for a single type.
  if (!llvm::all_equal(llvm::drop_begin(getOperandTypes())))
    return emitOpError(
        "expected all dynamic shape and stride operands to have the same type");
  return success();
}

void MakeTensorViewOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), "tview");
}

//===----------------------------------------------------------------------===//
// Views of tensors
//===----------------------------------------------------------------------===//

template <typename OpT> static LogicalResult verifyMakeView(OpT op) {
  TensorViewType expected = op.getType().getTensorView();
  if (op.getTensorView().getType() != expected)
    return op.emitOpError("expected operand of type ")
           << expected << " (based on view type), got "
           << op.getTensorView().getType();
  return success();
}
LogicalResult MakePartitionViewOp::verify() { return verifyMakeView(*this); }
LogicalResult MakeStridedViewOp::verify() { return verifyMakeView(*this); }
LogicalResult MakeGatherScatterViewOp::verify() {
  return verifyMakeView(*this);
}

void MakePartitionViewOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), "pview");
}
void MakeStridedViewOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), "sview");
}
void MakeGatherScatterViewOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), "gsview");
}

//===----------------------------------------------------------------------===//
// Access through views
//===----------------------------------------------------------------------===//

static LogicalResult verifyViewAccess(Operation *op, TileView view,
                                      TileType tile, OperandRange index) {
  if (static_cast<int64_t>(index.size()) != view.getViewIndexRank())
    return op->emitOpError("expected ")
           << view.getViewIndexRank()
           << " index operands (based on view type), got " << index.size();
  if (view.getViewTileType() != tile)
    return op->emitOpError("expected tile type to be ")
           << view.getViewTileType() << " (based on view type), got " << tile;
  return view.verifyIndexTypes([&] { return op->emitOpError(); },
                               index.getTypes());
}

/// Checks that there is one promise per dimension of the index, or none at all.
static LogicalResult verifyInbounds(Operation *op,
                                    std::optional<ArrayRef<bool>> inbounds,
                                    TileView view) {
  int64_t dims = view.getViewIndexRank();
  if (inbounds && static_cast<int64_t>(inbounds->size()) != dims)
    return op->emitOpError("inbounds size (")
           << inbounds->size()
           << ") must match the number of index dimensions (" << dims << ")";
  return success();
}

static std::optional<PointerKind> getPointerKind(TileView view) {
  return TypeSwitch<Type, std::optional<PointerKind>>(view)
      .Case<PartitionViewType, StridedViewType, GatherScatterViewType>(
          [](auto type) { return type.getTensorView().getPtrAttr(); });
}

/// Only multimem operations may access multicast memory.
static LogicalResult verifyNoMulticast(Operation *op, TileView view) {
  if (getPointerKind(view) == PointerKind::Multicast)
    return op->emitOpError("multicast ptr_attr is not allowed");
  return success();
}

LogicalResult LoadViewTkoOp::verify() {
  if (failed(verifyNoMulticast(*this, getView().getType())) ||
      failed(verifyViewAccess(*this, getView().getType(), getTile().getType(),
                              getIndex())) ||
      failed(verifyInbounds(*this, getInbounds(), getView().getType())) ||
      failed(verifyHints(*this, getOptimizationHintsAttr(),
                         HintSite::ViewAccess)))
    return failure();
  return verifyMemoryModel(*this, AccessKind::Load,
                           getMemoryOrderingSemantics(), getMemoryScope());
}

LogicalResult StoreViewTkoOp::verify() {
  if (failed(verifyNoMulticast(*this, getView().getType())) ||
      failed(verifyViewAccess(*this, getView().getType(), getTile().getType(),
                              getIndex())) ||
      failed(verifyInbounds(*this, getInbounds(), getView().getType())) ||
      failed(verifyHints(*this, getOptimizationHintsAttr(),
                         HintSite::ViewAccess)))
    return failure();
  return verifyMemoryModel(*this, AccessKind::Store,
                           getMemoryOrderingSemantics(), getMemoryScope());
}

static std::optional<PaddingValue> getPadding(TileView view) {
  if (auto partition = dyn_cast<PartitionViewType>(view))
    return partition.getPaddingValue();
  if (auto strided = dyn_cast<StridedViewType>(view))
    return strided.getPaddingValue();
  return std::nullopt;
}

// Invariants, in order: kind of view, no padding, element type, shape, mode, types
// of the mode, ordering, scope, number of indices, indices.
LogicalResult AtomicRedViewTkoOp::verify() {
  TileView view = getView().getType();
  if (failed(verifyNoMulticast(*this, view)))
    return failure();
  if (isa<GatherScatterViewType>(view))
    return emitOpError(
        "gather_scatter_view is not supported; use partition_view instead");
  if (getPadding(view))
    return emitOpError(
        "views with padding_value are not supported for atomic reductions");
  ShapedType tile = view.getViewTileType();
  TileType value = getValue().getType();
  if (tile.getElementType() != value.getElementType())
    return emitOpError("view element type (")
           << tile.getElementType() << ") must match value element type ("
           << value.getElementType() << ")";
  if (tile.getShape() != value.getShape()) {
    auto diag = emitOpError("view tile shape ");
    llvm::interleaveComma(tile.getShape(), diag);
    diag << " must match value shape ";
    llvm::interleaveComma(value.getShape(), diag);
    return diag << " for element-wise atomic operations";
  }
  if (getMode() == AtomicRMWMode::Xchg)
    return emitOpError("atomic_red_view_tko op cannot use xchg operation");
  if (failed(verifyAtomicMode(*this, getMode(), value.getElementType())))
    return failure();
  if (getMemoryOrderingSemantics() != MemoryOrderingSemantics::Relaxed)
    return emitOpError("only 'relaxed' memory ordering is supported for "
                       "view-based atomic reductions");
  if (getMemoryScope() == MemoryScope::System)
    return emitOpError("memory scope 'sys' is not supported for view-based "
                       "atomic reductions; use 'tl_blk' or 'device' for TMA "
                       "compatibility");
  int64_t rank = view.getViewIndexRank();
  if (static_cast<int64_t>(getIndex().size()) != rank)
    return emitOpError("expected ")
           << rank << " index operand(s) for view with tile rank " << rank
           << ", got " << getIndex().size();
  for (auto [i, index] : llvm::enumerate(getIndex())) {
    auto type = cast<TileType>(index.getType());
    if (type.getRank() == 0)
      continue;
    auto diag = emitOpError("index operand ");
    diag << i << " must be a scalar tile (rank 0), got shape ";
    llvm::interleaveComma(type.getShape(), diag);
    return diag;
  }
  return verifyInbounds(*this, getInbounds(), view);
}

// Checks shared by the multimem operations. The instructions determine the element
// types.
static LogicalResult verifyMultimem(Operation *op, TileView view, TileType tile,
                                    OperandRange index,
                                    std::optional<ArrayRef<bool>> inbounds) {
  PointerKind kind = getPointerKind(view).value_or(PointerKind::None);
  if (kind != PointerKind::Multicast)
    return op->emitOpError("expected a multicast pointer, but got ")
           << stringifyPointerKind(kind);
  if (failed(verifyViewAccess(op, view, tile, index)) ||
      failed(verifyInbounds(op, inbounds, view)))
    return failure();
  Type element = tile.getElementType();
  if (isIntElement(element)) {
    unsigned width = element.getIntOrFloatBitWidth();
    if (width != 32 && width != 64)
      return op->emitOpError("multimem requires 32- or 64-bit integer/index "
                             "element types; got ")
             << width << " bits";
  } else if (!isBaseFloatElement(element)) {
    return op->emitOpError("multimem supports only f16, bf16, f32, and f64 "
                           "floating-point element types");
  }
  return success();
}

LogicalResult MultimemLoadReduceViewTkoOp::verify() {
  TileType tile = getReducedValues().getType();
  if (failed(verifyMultimem(*this, getView().getType(), tile, getIndex(),
                            getInbounds())) ||
      failed(verifyMemoryModel(*this, AccessKind::Load,
                               getMemoryOrderingSemantics(),
                               getMemoryScope())))
    return failure();
  Type element = tile.getElementType();
  if (isIntElement(element) || getReduction() == MultimemReductionKind::Add)
    return success();
  if (getReduction() != MultimemReductionKind::Min &&
      getReduction() != MultimemReductionKind::Max)
    return emitOpError(
        "and/or/xor/umin/umax reductions require integer element types");
  if (!element.isF16() && !element.isBF16())
    return emitOpError("min/max supports f16 and bf16 float types only; got ")
           << element;
  return success();
}

LogicalResult MultimemReduceViewTkoOp::verify() {
  TileType tile = getTile().getType();
  if (failed(verifyMultimem(*this, getView().getType(), tile, getIndex(),
                            getInbounds())))
    return failure();
  if (getMemoryOrderingSemantics() != MemoryOrderingSemantics::Relaxed &&
      getMemoryOrderingSemantics() != MemoryOrderingSemantics::Release)
    return emitOpError(
        "memory ordering semantics must be one of: relaxed, release");
  if (isIntElement(tile.getElementType()) ||
      getReduction() == MultimemReductionKind::Add)
    return success();
  if (getReduction() != MultimemReductionKind::Min &&
      getReduction() != MultimemReductionKind::Max)
    return emitOpError(
        "and/or/xor/umin/umax reductions require integer element types");
  return emitOpError("supports only add for floating-point element types");
}

LogicalResult MultimemStoreViewTkoOp::verify() {
  if (failed(verifyMultimem(*this, getView().getType(), getTile().getType(),
                            getIndex(), getInbounds())))
    return failure();
  return verifyMemoryModel(*this, AccessKind::Store,
                           getMemoryOrderingSemantics(), getMemoryScope());
}

//===----------------------------------------------------------------------===//
// Queries: one result for each dimension, written as a single type
//===----------------------------------------------------------------------===//

static ParseResult parseShapeQuery(OpAsmParser &parser, OperationState &result,
                                   function_ref<FailureOr<int64_t>(Type, SMLoc)>
                                       getRank) {
  OpAsmParser::UnresolvedOperand source;
  Type sourceType, resultType;
  if (parser.parseOperand(source) || parser.parseColon())
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  if (parseBareType(parser, sourceType))
    return failure();
  FailureOr<int64_t> rank = getRank(sourceType, loc);
  if (failed(rank) || parser.parseArrow() ||
      parseBareType(parser, resultType) ||
      parser.resolveOperand(source, sourceType, result.operands))
    return failure();
  result.types.append(*rank, resultType);
  return success();
}

static void printShapeQuery(OpAsmPrinter &printer, Value source,
                            ResultRange results) {
  printer << " " << source << " : ";
  printBareType(printer, source.getType());
  printer << " -> ";
  if (!results.empty())
    printBareType(printer, results.front().getType());
  else // Rank 0: no result, yet the syntax wants a type.
    printBareType(printer,
                  TileType::get({}, IntegerType::get(source.getContext(), 32)));
}

ParseResult GetTensorShapeOp::parse(OpAsmParser &parser,
                                    OperationState &result) {
  return parseShapeQuery(
      parser, result, [&](Type type, SMLoc loc) -> FailureOr<int64_t> {
        if (auto view = dyn_cast<TensorViewType>(type))
          return view.getRank();
        return parser.emitError(loc) << "expected tensor_view, got " << type;
      });
}
void GetTensorShapeOp::print(OpAsmPrinter &printer) {
  printShapeQuery(printer, getSrc(), getResult());
}
LogicalResult GetTensorShapeOp::verify() {
  int64_t rank = getSrc().getType().getRank();
  if (static_cast<int64_t>(getNumResults()) != rank)
    return emitOpError("expected ")
           << rank << " results due to tensor rank, but got "
           << getNumResults();
  return success();
}

ParseResult GetIndexSpaceShapeOp::parse(OpAsmParser &parser,
                                        OperationState &result) {
  return parseShapeQuery(
      parser, result, [&](Type type, SMLoc loc) -> FailureOr<int64_t> {
        if (auto view = dyn_cast<TileView>(type))
          return view.getViewIndexRank();
        return parser.emitError(loc) << "expected tile view, got " << type;
      });
}
void GetIndexSpaceShapeOp::print(OpAsmPrinter &printer) {
  printShapeQuery(printer, getSrc(), getResult());
}
LogicalResult GetIndexSpaceShapeOp::verify() {
  int64_t rank = getSrc().getType().getViewIndexRank();
  if (static_cast<int64_t>(getNumResults()) != rank)
    return emitOpError("expected ")
           << rank << " results due to view index space rank, but got "
           << getNumResults();
  return success();
}
