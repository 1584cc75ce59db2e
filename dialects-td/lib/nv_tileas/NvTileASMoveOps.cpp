// Verifiers of the ops of nv_tileas that move elements.
//
// Checked here: shapes, element types and widths, and the layouts of cat, pack and unpack, whose lowering renames
// registers. Not checked here: that a shuffle stays within warps and that storage is large enough; the lowering plans
// the movement and reports an error if it cannot.
#include "nv_tileas/NvTileAS.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace nv_tileas;

static RankedTensorType tensor(Value v) { return cast<RankedTensorType>(v.getType()); }
static LayoutAttr layout(Value v) { return cast<LayoutAttr>(tensor(v).getEncoding()); }

static bool equalImage(ArrayRef<int64_t> from, ArrayRef<int64_t> to, function_ref<int64_t(int64_t)> map) {
  return llvm::equal(from, to, [&](int64_t f, int64_t t) { return map(f) == t; });
}

//===-- parts of tensors ----------------------------------------------------//

// Invariants: the result has twice the operands' extent along dim, which is not empty; the operands' layout is the
// result's without the bit that selects the half.
LogicalResult CatOp::verify() {
  RankedTensorType from = tensor(getLhs()), to = tensor(getResult());
  int64_t dim = getDim(), rank = from.getRank();
  if (dim < 0 || dim >= rank)
    return emitOpError("dim must be less than the rank ") << rank;
  SmallVector<int64_t> extents(from.getShape());
  extents[dim] *= 2;
  if (to.getShape() != ArrayRef<int64_t>(extents) || to.getElementType() != from.getElementType())
    return emitOpError("result must have twice the extent of the operands along dim, and their element type");
  int64_t half = 1;
  for (int64_t d = dim; d < rank; ++d)
    half *= from.getDimSize(d);
  auto without = [&](int64_t basis) { return (basis & (half - 1)) | ((basis >> 1) & ~(half - 1)); };
  LayoutAttr source = layout(getLhs()), result = layout(getResult());
  SmallVector<int64_t> registers(result.getRegisters());
  if (auto *it = llvm::find(registers, half); it != registers.end())
    registers.erase(it);
  if (!equalImage(registers, source.getRegisters(), without) ||
      !equalImage(result.getLanes(), source.getLanes(), without) ||
      !equalImage(result.getWarps(), source.getWarps(), without) ||
      !equalImage(result.getBlocks(), source.getBlocks(), without))
    return emitOpError("layout of the operands must be the result's without the bit that selects the half");
  return success();
}

// Invariants: one index per dimension; the result's extents divide the source's.
static LogicalResult verifySlice(Operation *op, ArrayRef<int64_t> whole, Type element, RankedTensorType slice,
                                 size_t indices) {
  if (slice.getElementType() != element || slice.getRank() != int64_t(whole.size()))
    return op->emitOpError("source and result must have the same rank and element type");
  if (indices != whole.size())
    return op->emitOpError("expected one index for each of ") << whole.size() << " dimensions";
  for (auto [w, s] : llvm::zip(whole, slice.getShape()))
    if (s == 0 || w % s)
      return op->emitOpError("extents of the slice must divide those of the whole");
  return success();
}
LogicalResult ExtractSliceOp::verify() {
  RankedTensorType from = tensor(getSource());
  return verifySlice(*this, from.getShape(), from.getElementType(), tensor(getResult()), getIndices().size());
}
LogicalResult InsertSliceOp::verify() {
  RankedTensorType to = tensor(getDest());
  return verifySlice(*this, to.getShape(), to.getElementType(), tensor(getSlice()), getIndices().size());
}
LogicalResult LocalLoadSliceOp::verify() {
  MemDescType from = getSource().getType();
  return verifySlice(*this, from.getShape(), from.getElementType(), tensor(getResult()), getIndices().size());
}

//===-- element widths ------------------------------------------------------//

static unsigned packedBits(Type element) {
  return isa<FloatTF32Type>(element) ? 32 : element.getIntOrFloatBitWidth();
}
// Invariants: rank one; the same number of bits on both sides; bytes on the packed side; matching layouts.
static LogicalResult verifyPacking(Operation *op, Value elements, Value bytes) {
  RankedTensorType a = tensor(elements), b = tensor(bytes);
  if (a.getRank() != 1 || b.getRank() != 1 || !b.getElementType().isInteger(8) ||
      !a.getElementType().isIntOrFloat())
    return op->emitOpError("expected a tensor of numbers and a tensor of bytes, both of rank one");
  if (packedBits(a.getElementType()) * a.getNumElements() != 8 * b.getNumElements())
    return op->emitOpError("source and result must have the same number of bits");
  bool byteIsWhole = a.getNumElements() > b.getNumElements();
  LayoutAttr fine = layout(byteIsWhole ? elements : bytes), coarse = layout(byteIsWhole ? bytes : elements);
  int64_t ratio = byteIsWhole ? a.getNumElements() / b.getNumElements() : b.getNumElements() / a.getNumElements();
  unsigned q = 0;
  while (int64_t(1) << q < ratio)
    ++q;
  ArrayRef<int64_t> registers = fine.getRegisters();
  bool fits = registers.size() >= q;
  for (unsigned i = 0; fits && i < q; ++i)
    fits = registers[i] == int64_t(1) << i;
  auto scaled = [&](int64_t basis) { return basis << q; };
  if (!fits || !equalImage(coarse.getRegisters(), registers.drop_front(q), scaled) ||
      !equalImage(coarse.getLanes(), fine.getLanes(), scaled) ||
      !equalImage(coarse.getWarps(), fine.getWarps(), scaled) ||
      !equalImage(coarse.getBlocks(), fine.getBlocks(), scaled))
    return op->emitOpError("a thread must hold all parts of an element, in its first registers");
  return success();
}
LogicalResult PackOp::verify() { return verifyPacking(*this, getSource(), getResult()); }
LogicalResult UnpackOp::verify() { return verifyPacking(*this, getResult(), getSource()); }

//===-- movement between threads --------------------------------------------//

static LogicalResult verifyConversion(Operation *op, RankedTensorType from, RankedTensorType to) {
  if (from.getShape() != to.getShape() || from.getElementType() != to.getElementType())
    return op->emitOpError("source and result must differ only in layout");
  return success();
}
LogicalResult ShuffleOp::verify() {
  RankedTensorType from = tensor(getSource()), to = tensor(getResult());
  if (getIndices().empty())
    return verifyConversion(*this, from, to);
  return verifySlice(*this, from.getShape(), from.getElementType(), to, getIndices().size());
}
// Invariants: storage of the element type, not larger than the tensor.
LogicalResult ExchangeOp::verify() {
  RankedTensorType from = tensor(getSource());
  MemDescType storage = getStorage().getType();
  if (failed(verifyConversion(*this, from, tensor(getResult()))))
    return failure();
  int64_t count = 1;
  for (int64_t extent : storage.getShape())
    count *= extent;
  if (storage.getElementType() != from.getElementType() || count > from.getNumElements())
    return emitOpError("storage must have the tensor's element type and at most its number of elements");
  return success();
}
