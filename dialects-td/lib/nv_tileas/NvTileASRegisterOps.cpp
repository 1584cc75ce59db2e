// Verifiers of register loops and of arrays in local memory.
//
// Checked here: shapes, element types and numbers of registers; that a chunk belongs to its tensor, with the chunk
// bits after all warp bits, and that the loop has as many chunks. Not checked here: that arrays in the same slot have
// disjoint lifetimes, and that a gather stays within the thread; the lowering reports the latter.
#include "nv_tileas/NvTileAS.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nv_tileas;

static RankedTensorType tensorOf(Type type) {
  if (auto array = dyn_cast<RegisterArrayType>(type))
    type = array.getTensor();
  return cast<RankedTensorType>(type);
}
static RankedTensorType tensorOf(Value v) { return tensorOf(v.getType()); }
static LayoutAttr layoutOf(Value v) { return cast<LayoutAttr>(tensorOf(v).getEncoding()); }

// Invariant: a tensor with a layout.
LogicalResult RegisterArrayType::verify(function_ref<InFlightDiagnostic()> emitError, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !isa_and_nonnull<LayoutAttr>(tensor.getEncoding()))
    return emitError() << "an array holds the registers of a tensor with a layout, got " << type;
  return success();
}

// Invariants: the number of chunks is a power of two; the body takes the chunk number and yields one token per
// result.
LogicalResult RegisterLoopOp::verifyRegions() {
  if (!llvm::isPowerOf2_64(getChunks()))
    return emitOpError("the number of chunks must be a power of two, got ") << getChunks();
  Block &body = getBody().front();
  if (body.getNumArguments() != 1 || !body.getArgument(0).getType().isSignlessInteger(32))
    return emitOpError("the body takes the number of a chunk, an i32");
  auto yield = dyn_cast<YieldOp>(body.back());
  if (!yield || yield->getOperandTypes() != getTokens().getTypes())
    return emitOpError("the body must yield one token for each result");
  return success();
}

// Whether `part` has the bases of `whole` with its last register bits moved after the warp bits. `whole` may
// have fewer warps than the CTA, in which case zeros fill the gap.
static LogicalResult verifyChunk(Operation *op, Value whole, Value part, Value chunk) {
  RankedTensorType all = tensorOf(whole), some = tensorOf(part);
  if (all.getShape() != some.getShape() || all.getElementType() != some.getElementType())
    return op->emitOpError("tensor and array must have the same shape and element type");
  LayoutAttr from = layoutOf(whole), to = layoutOf(part);
  if (!chunk)
    return from == to ? success() : op->emitOpError("without a chunk, tensor and array must have the same layout");
  ArrayRef<int64_t> registers = from.getRegisters(), warps = to.getWarps();
  size_t kept = to.getRegisters().size();
  bool fits = kept <= registers.size() && warps.size() >= registers.size() - kept + from.getWarps().size();
  if (fits) {
    ArrayRef<int64_t> moved = registers.drop_front(kept);
    ArrayRef<int64_t> actual = warps.drop_back(moved.size());
    ArrayRef<int64_t> added = actual.drop_front(from.getWarps().size());
    fits = to.getRegisters() == registers.take_front(kept) && warps.take_back(moved.size()) == moved &&
           actual.take_front(from.getWarps().size()) == from.getWarps() &&
           llvm::all_of(added, [](int64_t basis) { return basis == 0; }) && to.getLanes() == from.getLanes() &&
           to.getBlocks() == from.getBlocks();
  }
  if (!fits)
    return op->emitOpError("layout of a chunk must have the array's last register bits as its last warp bits");
  auto number = dyn_cast<BlockArgument>(chunk);
  auto loop = number ? dyn_cast<RegisterLoopOp>(number.getOwner()->getParentOp()) : nullptr;
  if (loop && loop.getChunks() != uint64_t(1) << (registers.size() - kept))
    return op->emitOpError("the loop has ") << loop.getChunks() << " chunks, the tensor "
                                            << (uint64_t(1) << (registers.size() - kept));
  return success();
}
LogicalResult ArrayLoadOp::verify() { return verifyChunk(*this, getSource(), getResult(), getChunk()); }
LogicalResult ArrayStoreOp::verify() { return verifyChunk(*this, getDest(), getValue(), getChunk()); }

// Invariants: the same rank and element type. With indices: one per dimension, and extents that divide the source's.
// Without: source extents equal to the result's or one.
LogicalResult GatherRegistersOp::verify() {
  RankedTensorType from = tensorOf(getSource()), to = tensorOf(getResult());
  if (from.getRank() != to.getRank() || from.getElementType() != to.getElementType())
    return emitOpError("source and result must have the same rank and element type");
  bool sliced = !getIndices().empty();
  if (sliced && getIndices().size() != size_t(from.getRank()))
    return emitOpError("expected one index for each of ") << from.getRank() << " dimensions";
  for (auto [f, t] : llvm::zip(from.getShape(), to.getShape())) {
    if (sliced && (t == 0 || f % t))
      return emitOpError("extents of the slice must divide those of the whole");
    if (!sliced && f != t && f != 1)
      return emitOpError("only dimensions of extent one can be repeated");
  }
  return success();
}

// Invariants: one index per dimension; the slice's extents divide the array's.
LogicalResult ArrayInsertOp::verify() {
  RankedTensorType to = tensorOf(getDest()), slice = tensorOf(getSlice());
  if (slice.getElementType() != to.getElementType() || slice.getRank() != to.getRank())
    return emitOpError("slice and array must have the same rank and element type");
  if (getIndices().size() != size_t(to.getRank()))
    return emitOpError("expected one index for each of ") << to.getRank() << " dimensions";
  for (auto [w, s] : llvm::zip(to.getShape(), slice.getShape()))
    if (s == 0 || w % s)
      return emitOpError("extents of the slice must divide those of the whole");
  return success();
}

// Invariants: the result has twice the operands' extent along dim, and their other extents and element type.
LogicalResult ArrayCatOp::verify() {
  RankedTensorType from = tensorOf(getLhs()), to = tensorOf(getResult());
  int64_t dim = getDim(), rank = from.getRank();
  if (dim < 0 || dim >= rank)
    return emitOpError("dim must be less than the rank ") << rank;
  SmallVector<int64_t> extents(from.getShape());
  extents[dim] *= 2;
  if (to.getShape() != ArrayRef<int64_t>(extents) || to.getElementType() != from.getElementType())
    return emitOpError("result must have twice the extent of the operands along dim, and their element type");
  return success();
}

// Invariants: arrays of the same tensor in two layouts; storage of the element type, not larger than the tensor.
LogicalResult ArrayExchangeOp::verify() {
  RankedTensorType from = tensorOf(getSource()), to = tensorOf(getDest());
  MemDescType storage = getStorage().getType();
  if (from.getShape() != to.getShape() || from.getElementType() != to.getElementType())
    return emitOpError("source and destination must differ only in layout");
  int64_t count = 1;
  for (int64_t extent : storage.getShape())
    count *= extent;
  if (storage.getElementType() != from.getElementType() || count > from.getNumElements())
    return emitOpError("storage must have the tensor's element type and at most its number of elements");
  return success();
}
