// Verifiers of the ops of nv_tileas.
//
// Checked here: shapes, element types, and the relations of layouts: the result of view and permute is the image of
// the source; the source of a broadcast is the image of the result up to the order of registers; pointers, masks and
// values of an access agree. Not checked here: bank conflicts, missing barriers, overlapping offsets.
#include "nv_tileaa/Shapes.h"
#include "nv_tileas/Layouts.h"
#include "nv_tileas/NvTileASAccess.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace nv_tileas;

//===-- directives of assembly formats --------------------------------------===//

// `[full = 1, empty = 8]`
static ParseResult parsePhases(OpAsmParser &parser, ArrayAttr &phases, DenseI64ArrayAttr &arrivals) {
  SmallVector<Attribute> names;
  SmallVector<int64_t> counts;
  auto parsePhase = [&]() -> ParseResult {
    std::string name;
    if (parser.parseKeywordOrString(&name) || parser.parseEqual() || parser.parseInteger(counts.emplace_back()))
      return failure();
    names.push_back(parser.getBuilder().getStringAttr(name));
    return success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, parsePhase))
    return failure();
  phases = parser.getBuilder().getArrayAttr(names);
  arrivals = parser.getBuilder().getDenseI64ArrayAttr(counts);
  return success();
}

static void printPhases(OpAsmPrinter &printer, Operation *, ArrayAttr phases, DenseI64ArrayAttr arrivals) {
  printer << '[';
  llvm::interleaveComma(llvm::zip_equal(phases.getAsRange<StringAttr>(), arrivals.asArrayRef()), printer,
                        [&](auto phase) {
                          printer.printKeywordOrString(std::get<0>(phase).getValue());
                          printer << " = " << std::get<1>(phase);
                        });
  printer << ']';
}

// The type of an accumulator. A tensor is also the type of the result; an accumulator in memory has no result.
// One type for all operands and results.
static ParseResult parseOneType(OpAsmParser &parser, ArrayRef<OpAsmParser::UnresolvedOperand> values,
                                SmallVectorImpl<Type> &types, SmallVectorImpl<Type> &results) {
  Type type;
  if (parser.parseType(type))
    return failure();
  types.assign(values.size(), type);
  results.assign(values.size(), type);
  return success();
}
static void printOneType(OpAsmPrinter &printer, Operation *, OperandRange, TypeRange types, TypeRange) {
  if (!types.empty())
    printer << types.front();
}

static ParseResult parseAccumulator(OpAsmParser &parser, Type &accumulator, Type &result) {
  if (parser.parseType(accumulator))
    return failure();
  if (isa<RankedTensorType>(accumulator))
    result = accumulator;
  return success();
}

static void printAccumulator(OpAsmPrinter &printer, Operation *, Type accumulator, Type) {
  printer << accumulator;
}

// The name of a phase or of an agent.
static ParseResult parseName(OpAsmParser &parser, StringAttr &result) {
  std::string name;
  if (parser.parseKeywordOrString(&name))
    return failure();
  result = parser.getBuilder().getStringAttr(name);
  return success();
}

static void printName(OpAsmPrinter &printer, Operation *, StringAttr name) {
  printer.printKeywordOrString(name.getValue());
}

static ParseResult parseNames(OpAsmParser &parser, ArrayAttr &result) {
  SmallVector<Attribute> names;
  auto parseOne = [&]() -> ParseResult {
    StringAttr name;
    if (parseName(parser, name))
      return failure();
    names.push_back(name);
    return success();
  };
  if (parser.parseCommaSeparatedList(parseOne))
    return failure();
  result = parser.getBuilder().getArrayAttr(names);
  return success();
}

static void printNames(OpAsmPrinter &printer, Operation *op, ArrayAttr names) {
  llvm::interleaveComma(names.getAsRange<StringAttr>(), printer, [&](StringAttr name) { printName(printer, op, name); });
}

static ParseResult parseAgents(OpAsmParser &parser, ArrayAttr &agents) { return parseAgentList(parser, agents); }
static void printAgents(OpAsmPrinter &printer, Operation *, ArrayAttr agents) { printAgentList(printer, agents); }

//===-- generated code ------------------------------------------------------===//

#define GET_OP_CLASSES
#include "nv_tileas/NvTileASOps.cpp.inc"

static RankedTensorType tensor(Value v) { return cast<RankedTensorType>(v.getType()); }
static LayoutAttr layout(Value v) { return cast<LayoutAttr>(tensor(v).getEncoding()); }

// Applies `map` to every basis of `from` and compares the result with `to`.
static bool isImage(LayoutAttr from, LayoutAttr to, function_ref<int64_t(int64_t)> map) {
  auto same = [&](ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
    return llvm::equal(a, b, [&](int64_t x, int64_t y) { return map(x) == y; });
  };
  return same(from.getRegisters(), to.getRegisters()) && same(from.getLanes(), to.getLanes()) &&
         same(from.getWarps(), to.getWarps()) && same(from.getBlocks(), to.getBlocks());
}

LogicalResult ViewOp::verify() {
  if (failed(nv_tileaa::verifyView(*this, tensor(getSource()), tensor(getResult()))))
    return failure();
  if (layout(getSource()) != layout(getResult()))
    return emitOpError("row-major indices do not change, so the layout must not either");
  return success();
}
LogicalResult ConvertLayoutOp::verify() {
  RankedTensorType from = tensor(getSource()), to = tensor(getResult());
  if (from.getShape() != to.getShape() || from.getElementType() != to.getElementType())
    return emitOpError("source and result must differ only in layout");
  return success();
}
LogicalResult BroadcastOp::verify() {
  RankedTensorType from = tensor(getSource()), to = tensor(getResult());
  if (failed(nv_tileaa::verifyBroadcast(*this, from, to)))
    return failure();
  // The source element for a result index: coordinates of repeated dimensions become zero.
  auto project = [&](int64_t index) {
    int64_t out = 0, scale = 1;
    for (int64_t d = to.getRank(); d-- > 0;) {
      int64_t c = index % to.getDimSize(d);
      index /= to.getDimSize(d);
      if (from.getDimSize(d) != 1)
        out += c * scale;
      scale *= from.getDimSize(d);
    }
    return out;
  };
  if (!isImageUpToRegisters(layout(getResult()), layout(getSource()), project))
    return emitOpError("layout of the source must be the projection of the result's");
  return success();
}
LogicalResult PermuteOp::verify() {
  RankedTensorType from = tensor(getSource()), to = tensor(getResult());
  ArrayRef<int32_t> order = getOrder();
  int64_t rank = from.getRank();
  if (failed(nv_tileaa::verifyPermute(*this, order, from, to)))
    return failure();
  auto move = [&](int64_t index) {
    SmallVector<int64_t> coord(rank);
    for (int64_t d = rank; d-- > 0; index /= from.getDimSize(d))
      coord[d] = index % from.getDimSize(d);
    int64_t out = 0;
    for (int64_t i = 0; i < rank; ++i)
      out = out * to.getDimSize(i) + coord[order[i]];
    return out;
  };
  if (!isImage(layout(getSource()), layout(getResult()), move))
    return emitOpError("layout of the result must be the image of the source's");
  return success();
}

//===-- accesses ------------------------------------------------------------//

// Returns the coordinate along `dim` of a row-major index.
static int64_t coordinate(int64_t index, ArrayRef<int64_t> shape, int64_t dim) {
  for (int64_t d = shape.size(); --d > dim;)
    index /= shape[d];
  return index % shape[dim];
}

static LogicalResult verifyIndex(Operation *op, RankedTensorType tile, int64_t d, Type type, bool sparse) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  Type element = tensor ? tensor.getElementType() : type;
  if (sparse != bool(tensor) || !element.isSignlessInteger() ||
      (tensor && tensor.getShape() != ArrayRef(tile.getDimSize(d))))
    return op->emitOpError("index ") << d << " of type " << type << " does not fit the view";
  if (!tensor)
    return success();
  auto from = dyn_cast_if_present<LayoutAttr>(tile.getEncoding());
  auto to = dyn_cast_if_present<LayoutAttr>(tensor.getEncoding());
  auto along = [&](int64_t index) { return coordinate(index, tile.getShape(), d); };
  if (!from || !to || !isImage(from, to, along))
    return op->emitOpError("layout of index ") << d << " must be the tile's along that dimension";
  return success();
}

LogicalResult nv_tileas::verifyTiled(Operation *op, nv_tileaa::TiledViewType view, Value value, ValueRange indices,
                                     std::optional<ArrayRef<bool>> inBounds, int64_t vector) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return op->emitOpError("tile must be a tensor");
  if (type.getShape() != view.getTile() || type.getElementType() != view.getMemref().getElementType())
    return op->emitOpError("tile must have the shape and element type of the view's tiles");
  size_t rank = view.getTile().size();
  if (indices.size() != rank || (inBounds && inBounds->size() != rank))
    return op->emitOpError("expected one index and one flag for each of ") << rank << " dimensions";
  for (auto [d, index] : llvm::enumerate(indices))
    if (failed(verifyIndex(op, type, d, index.getType(), view.getSparseDim() == int64_t(d))))
      return failure();
  if (vector & (vector - 1))
    return op->emitOpError("vector must be a power of two");
  return success();
}
LogicalResult TiledLoadOp::verify() {
  return verifyTiled(*this, getView().getType(), getResult(), getIndices(), getInBounds(), getVector());
}
LogicalResult TiledStoreOp::verify() {
  return verifyTiled(*this, getView().getType(), getValue(), getIndices(), getInBounds(), getVector());
}

LogicalResult nv_tileas::verifyPointerAccess(Operation *op, Value ptr, ValueRange others, int64_t vector) {
  auto type = dyn_cast<RankedTensorType>(ptr.getType());
  for (Value v : others) {
    if (!v)
      continue;
    auto other = dyn_cast<RankedTensorType>(v.getType());
    if (bool(type) != bool(other) ||
        (type && (type.getShape() != other.getShape() || type.getEncoding() != other.getEncoding())))
      return op->emitOpError("pointers and values must have the same shape and layout");
  }
  if (vector & (vector - 1))
    return op->emitOpError("vector must be a power of two");
  return success();
}
LogicalResult LoadOp::verify() {
  SmallVector<Value> others{getResult()};
  if (getMask())
    others.push_back(getMask());
  if (getOther())
    others.push_back(getOther());
  return verifyPointerAccess(*this, getPtr(), others, getVector());
}
LogicalResult StoreOp::verify() {
  SmallVector<Value> others{getValue()};
  if (getMask())
    others.push_back(getMask());
  return verifyPointerAccess(*this, getPtr(), others, getVector());
}

static LogicalResult verifyLocal(Operation *op, Value value, MemDescType memory) {
  if (tensor(value).getShape() != memory.getShape() || tensor(value).getElementType() != memory.getElementType())
    return op->emitOpError("tensor and storage must have the same shape and element type");
  return success();
}
LogicalResult LocalStoreOp::verify() {
  if (getDest().getType().getPacked())
    return emitOpError("threads do not store to packed storage, got ") << getDest().getType();
  return verifyLocal(*this, getSource(), getDest().getType());
}
LogicalResult LocalLoadOp::verify() { return verifyLocal(*this, getResult(), getSource().getType()); }

LogicalResult LocalTransposeOp::verify() {
  auto alias = getDest().getDefiningOp<MemDescReinterpretOp>();
  if (!alias || alias.getSource() != getSource())
    return emitOpError("destination must be the source's storage under another type");
  MemDescType from = getSource().getType(), to = getDest().getType();
  if (from.getShape() != to.getShape() || from.getElementType() != to.getElementType())
    return emitOpError("source and destination must have the same shape and element type");
  if (from.getElementType().getIntOrFloatBitWidth() != 8)
    return emitOpError("transposes only tiles of bytes, got ") << from.getElementType();
  return success();
}

//===-- assume --------------------------------------------------------------//

// Invariants: one result per operand, all of the same type; at least one predicate.
LogicalResult AssumeOp::verify() {
  if (getPredicates().empty())
    return emitOpError("promises nothing");
  if (getNumOperands() != getNumResults())
    return emitOpError("has ") << getNumOperands() << " operands and " << getNumResults() << " results";
  for (Type type : llvm::concat<const Type>(getOperandTypes(), getResultTypes()))
    if (type != getOperand(0).getType())
      return emitOpError("values have different types");
  return success();
}
