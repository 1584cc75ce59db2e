// Verifiers of the ops of nv_tileas that combine elements along one dimension.
//
// Checked here: shapes, types, bodies, and that the layouts of the results follow from the operands'. Not
// checked here: that bodies are associative and identities neutral, and that a reduction or scan stays within a warp,
// which only lowering requires.
#include "nv_tileaa/Aggregates.h"
#include "nv_tileas/Layouts.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace nv_tileas;

static RankedTensorType tensor(Value v) { return cast<RankedTensorType>(v.getType()); }
static LayoutAttr layout(Value v) { return cast<LayoutAttr>(tensor(v).getEncoding()); }

//===-- layouts -------------------------------------------------------------//

namespace {
// The span of bit vectors, kept as vectors with distinct highest bits.
class Span {
public:
  explicit Span(ArrayRef<int64_t> vectors) {
    for (int64_t v : vectors)
      insert(v);
  }
  void insert(int64_t v) {
    if (int64_t rest = reduce(v)) {
      basis.push_back(rest);
      llvm::sort(basis, std::greater<int64_t>());
    }
  }
  bool contains(int64_t v) const { return reduce(v) == 0; }
  bool containsAll(ArrayRef<int64_t> vectors) const {
    return llvm::all_of(vectors, [&](int64_t v) { return contains(v); });
  }

private:
  int64_t reduce(int64_t v) const {
    for (int64_t b : basis)
      v = std::min(v, v ^ b);
    return v;
  }
  SmallVector<int64_t> basis;
};
} // namespace

static SmallVector<int64_t> images(ArrayRef<int64_t> bases, function_ref<int64_t(int64_t)> map) {
  SmallVector<int64_t> list;
  for (int64_t b : bases)
    list.push_back(map(b));
  return list;
}

static bool threadsAreImages(LayoutAttr from, LayoutAttr to, function_ref<int64_t(int64_t)> map) {
  return ArrayRef<int64_t>(images(from.getLanes(), map)) == to.getLanes() &&
         ArrayRef<int64_t>(images(from.getWarps(), map)) == to.getWarps() &&
         ArrayRef<int64_t>(images(from.getBlocks(), map)) == to.getBlocks();
}

bool nv_tileas::isImageUpToRegisters(LayoutAttr from, LayoutAttr to, function_ref<int64_t(int64_t)> map) {
  SmallVector<int64_t> registers = images(from.getRegisters(), map);
  return threadsAreImages(from, to, map) && Span(registers).containsAll(to.getRegisters()) &&
         Span(to.getRegisters()).containsAll(registers);
}

bool nv_tileas::coversImage(LayoutAttr from, LayoutAttr to, ArrayRef<int64_t> also,
                            function_ref<int64_t(int64_t)> map) {
  Span held(to.getRegisters());
  return threadsAreImages(from, to, map) && held.containsAll(images(from.getRegisters(), map)) &&
         held.containsAll(also);
}

// A dimension of a shape as a bit field of the row-major index. Dimensions of extent one have no bits.
namespace {
struct Field {
  unsigned low, width;
  Field(ArrayRef<int64_t> shape, int64_t dim) : low(0), width(llvm::Log2_64(shape[dim])) {
    for (int64_t extent : shape.drop_front(dim + 1))
      low += llvm::Log2_64(extent);
  }
  int64_t mask() const { return ((int64_t(1) << width) - 1) << low; }
  // Returns the index without the field's bits, except those in `kept`, a mask of the coordinate. The remaining bits
  // move together.
  int64_t remove(int64_t index, int64_t kept = 0) const {
    int64_t out = index & ((int64_t(1) << low) - 1);
    unsigned at = low;
    for (unsigned i = 0; i < width; ++i)
      if (kept >> i & 1)
        out |= (index >> (low + i) & 1) << at++;
    return out | index >> (low + width) << at;
  }
};
} // namespace

// Invariant: extents are powers of two, so that coordinates are bit fields.
static LogicalResult verifyExtents(Operation *op, RankedTensorType type) {
  for (int64_t extent : type.getShape())
    if (extent <= 0 || !llvm::isPowerOf2_64(extent))
      return op->emitOpError("extents must be powers of two, got ") << type;
  return success();
}

//===-- operands, identities and bodies -------------------------------------//

// Invariants: at least one operand; all have the same shape and layout; dim is one of their dimensions; one result
// per operand.
static LogicalResult verifyOperands(Operation *op, ValueRange operands, ValueRange results, int64_t dim) {
  if (operands.empty() || results.size() != operands.size())
    return op->emitOpError("expected one result for each operand");
  RankedTensorType first = tensor(operands.front());
  if (failed(verifyExtents(op, first)))
    return failure();
  if (dim < 0 || dim >= first.getRank())
    return op->emitOpError("dim must be less than the rank ") << first.getRank();
  for (Value operand : operands)
    if (tensor(operand).getShape() != first.getShape() || tensor(operand).getEncoding() != first.getEncoding())
      return op->emitOpError("operands must have the same shape and layout");
  return success();
}

// Invariant: one identity of the element type per operand.
static LogicalResult verifyIdentities(Operation *op, ValueRange operands, ArrayAttr identities) {
  if (identities.size() != operands.size())
    return op->emitOpError("expected one identity for each operand");
  return nv_tileaa::verifyIdentities(op, operands, identities);
}

LogicalResult ReduceOp::verifyRegions() { return nv_tileaa::verifyBody<YieldOp>(*this, getOperands(), getBody().front()); }
LogicalResult ScanOp::verifyRegions() { return nv_tileaa::verifyBody<YieldOp>(*this, getOperands(), getBody().front()); }
LogicalResult CarryOp::verifyRegions() { return nv_tileaa::verifyBody<YieldOp>(*this, getScanned(), getBody().front()); }

//===-- results -------------------------------------------------------------//

// Invariants: the result lacks dim, or has one element along it per value of the kept bits; a result without
// dimensions is a scalar; the layout is the operand's without the removed bits.
static LogicalResult verifyProjection(Operation *op, Value operand, Value result, int64_t dim, int64_t kept) {
  RankedTensorType from = tensor(operand);
  SmallVector<int64_t> shape(from.getShape());
  if (kept)
    shape[dim] = int64_t(1) << llvm::popcount(uint64_t(kept));
  else
    shape.erase(shape.begin() + dim);
  Type element = from.getElementType();
  auto to = dyn_cast<RankedTensorType>(result.getType());
  if (shape.empty() ? result.getType() != element
                    : !to || to.getShape() != ArrayRef<int64_t>(shape) || to.getElementType() != element)
    return op->emitOpError("expected a result of shape [")
           << shape << "] and element type " << element << ", got " << result.getType();
  Field field(from.getShape(), dim);
  auto map = [&](int64_t index) { return field.remove(index, kept); };
  if (to && !isImageUpToRegisters(layout(operand), layout(result), map))
    return op->emitOpError("layout of the result must be the operand's without the bits of dimension ") << dim;
  return success();
}

LogicalResult ReduceOp::verify() {
  if (failed(verifyOperands(*this, getOperands(), getResults(), getDim())) ||
      failed(::verifyIdentities(*this, getOperands(), getIdentities())))
    return failure();
  int64_t kept = getKept().value_or(0);
  if (kept >= tensor(getOperands().front()).getDimSize(getDim()))
    return emitOpError("kept bits must be bits of a coordinate along dim");
  for (auto [operand, result] : llvm::zip(getOperands(), getResults()))
    if (failed(verifyProjection(*this, operand, result, getDim(), kept)))
      return failure();
  return success();
}

LogicalResult ScanOp::verify() {
  if (failed(verifyOperands(*this, getOperands(), getResults(), getDim())) ||
      failed(::verifyIdentities(*this, getOperands(), getIdentities())))
    return failure();
  if (getOperandTypes() != getResultTypes())
    return emitOpError("results must have the types of the operands");
  return success();
}

LogicalResult PickOp::verify() {
  RankedTensorType from = tensor(getSource());
  if (failed(verifyExtents(*this, from)))
    return failure();
  int64_t dim = getDim();
  if (dim < 0 || dim >= from.getRank())
    return emitOpError("dim must be less than the rank ") << from.getRank();
  if (int64_t(getAt()) >= from.getDimSize(dim))
    return emitOpError("at must be less than the extent ") << from.getDimSize(dim);
  return verifyProjection(*this, getSource(), getResult(), dim, 0);
}

// Invariants: one tensor of totals per scanned tensor, of its shape without the dimension after dim; results have the
// types of the scanned tensors; a thread holds the totals of all segments for its coordinates in the other
// dimensions.
LogicalResult CarryOp::verify() {
  ValueRange scanned = getScanned(), totals = getTotals();
  int64_t dim = getDim();
  if (failed(verifyOperands(*this, scanned, getResults(), dim)) ||
      failed(verifyOperands(*this, totals, getResults(), dim)))
    return failure();
  if (scanned.getTypes() != getResultTypes())
    return emitOpError("results must have the types of the scanned tensors");
  RankedTensorType type = tensor(scanned.front());
  if (dim + 1 >= type.getRank())
    return emitOpError("dim must number segments of the next dimension");
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + dim + 1);
  for (auto [s, t] : llvm::zip(scanned, totals))
    if (tensor(t).getShape() != ArrayRef<int64_t>(shape) || tensor(t).getElementType() != tensor(s).getElementType())
      return emitOpError("totals must lack the dimension after dim and have the element type of the scanned tensors");
  Field within(type.getShape(), dim + 1), segments(shape, dim);
  auto map = [&](int64_t index) { return within.remove(index) & ~segments.mask(); };
  SmallVector<int64_t> bits;
  for (unsigned i = 0; i < segments.width; ++i)
    bits.push_back(int64_t(1) << (segments.low + i));
  if (!coversImage(layout(scanned.front()), layout(totals.front()), bits, map))
    return emitOpError("every thread must hold the totals of all segments of its elements");
  return success();
}
