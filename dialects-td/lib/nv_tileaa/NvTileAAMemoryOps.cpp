// Verifiers of memory accesses and memory objects of nv_tileaa.
#include "nv_tileaa/NvTileAA.h"

using namespace mlir;
using namespace nv_tileaa;

static Type elementOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.getElementType() : type;
}
static ArrayRef<int64_t> shapeOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.getShape() : ArrayRef<int64_t>();
}

// The combinations that multicast memory supports, on loads if `loads` is set.
LogicalResult nv_tileaa::verifyMultimemKind(Operation *op, AtomicKind kind, Type element, bool loads) {
  bool half = element.isF16() || element.isBF16();
  bool floats = half || element.isF32() || element.isF64();
  bool words = element.isInteger(32) || element.isInteger(64);
  bool fits = kind == AtomicKind::AddF                              ? floats
              : kind == AtomicKind::Max || kind == AtomicKind::Min ? words || (loads && half)
                                                                   : words && kind != AtomicKind::Xchg;
  if (!fits)
    return op->emitOpError("kind ") << stringifyAtomicKind(kind) << " does not apply to " << element;
  return success();
}
LogicalResult nv_tileaa::verifyMultimemElement(Operation *op, Type element) {
  if (element.isInteger(32) || element.isInteger(64) || element.isF16() || element.isBF16() || element.isF32() ||
      element.isF64())
    return success();
  return op->emitOpError("multicast memory has no elements of type ") << element;
}

// Invariants of an access through pointers: pointers, values and mask have the same shape; the pointee is the element
// type.
static LogicalResult verifyAccess(Operation *op, Type ptr, Type value, Value mask) {
  if (shapeOf(ptr) != shapeOf(value) || (mask && shapeOf(mask.getType()) != shapeOf(ptr)))
    return op->emitOpError("pointers, values and mask must have the same shape");
  if (cast<PtrType>(elementOf(ptr)).getPointee() != elementOf(value))
    return op->emitOpError("pointee and element type differ");
  return success();
}

// Invariants: as for an access; fill values have the type of the result.
LogicalResult LoadOp::verify() {
  if (getOther() && getOther().getType() != getResult().getType())
    return emitOpError("fill values must have the type of the result");
  return verifyAccess(*this, getPtr().getType(), getResult().getType(), getMask());
}

// Invariants: as for an access.
LogicalResult StoreOp::verify() { return verifyAccess(*this, getPtr().getType(), getValue().getType(), getMask()); }

// Invariants of an access through a view: the value is a tile of the view; one index per dimension, an integer, or
// for the sparse dimension a tensor with one integer per row of the tile.
static LogicalResult verifyTiled(Operation *op, TiledViewType view, Type value, ValueRange indices) {
  if (shapeOf(value) != view.getTile() || elementOf(value) != view.getMemref().getElementType())
    return op->emitOpError("value must have the shape and element type of the view's tiles");
  if (indices.size() != view.getTile().size())
    return op->emitOpError("expected ") << view.getTile().size() << " indices, got " << indices.size();
  for (auto [d, index] : llvm::enumerate(indices)) {
    SmallVector<int64_t, 1> shape;
    if (view.getSparseDim() == int64_t(d))
      shape.push_back(view.getTile()[d]);
    if (shapeOf(index.getType()) != ArrayRef(shape) || !elementOf(index.getType()).isSignlessInteger())
      return op->emitOpError("index ") << d << " of type " << index.getType() << " does not fit the view";
  }
  return success();
}
LogicalResult TiledLoadOp::verify() {
  return verifyTiled(*this, getView().getType(), getResult().getType(), getIndices());
}
LogicalResult TiledStoreOp::verify() {
  return verifyTiled(*this, getView().getType(), getValue().getType(), getIndices());
}

// Invariants of multicast accesses: as for an access of a view; the elements and the kind have an instruction.
LogicalResult MultimemLoadReduceOp::verify() {
  if (failed(verifyTiled(*this, getView().getType(), getResult().getType(), getIndices())))
    return failure();
  return verifyMultimemKind(*this, getKind(), elementOf(getResult().getType()), true);
}
LogicalResult MultimemReduceOp::verify() {
  if (failed(verifyTiled(*this, getView().getType(), getValue().getType(), getIndices())))
    return failure();
  return verifyMultimemKind(*this, getKind(), elementOf(getValue().getType()), false);
}
LogicalResult MultimemStoreOp::verify() {
  if (failed(verifyTiled(*this, getView().getType(), getValue().getType(), getIndices())))
    return failure();
  return verifyMultimemElement(*this, elementOf(getValue().getType()));
}

// Invariants: as for an access; the kind applies to the element type.
LogicalResult AtomicRmwOp::verify() {
  if (failed(verifyAccess(*this, getPtr().getType(), getValue().getType(), getMask())))
    return failure();
  Type element = elementOf(getValue().getType());
  bool fits = getKind() == AtomicKind::Xchg || isa<FloatType>(element) == (getKind() == AtomicKind::AddF);
  if (!fits)
    return emitOpError("kind ") << stringifyAtomicKind(getKind()) << " does not apply to " << element;
  return success();
}

// Invariants: as for an access.
LogicalResult AtomicCasOp::verify() {
  return verifyAccess(*this, getPtr().getType(), getValue().getType(), getMask());
}

// Invariants: the value has rank one; the alignment is zero or a power of two.
LogicalResult GlobalOp::verify() {
  if (cast<ShapedType>(getValue().getType()).getRank() != 1)
    return emitOpError("value must have rank one");
  if (getAlignment() & (getAlignment() - 1))
    return emitOpError("alignment must be zero or a power of two");
  return success();
}

// Invariants: the symbol is a global, and the pointee its element type.
LogicalResult GetGlobalOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto global = symbols.lookupNearestSymbolFrom<GlobalOp>(*this, getNameAttr());
  if (!global)
    return emitOpError("'") << getName() << "' is not a global";
  Type element = cast<ShapedType>(global.getValue().getType()).getElementType();
  if (getType().getPointee() != element)
    return emitOpError("pointee ") << getType().getPointee() << " is not the element type " << element
                                   << " of the global";
  return success();
}

// Invariants: the count is not negative; the alignment is a power of two.
LogicalResult AllocaOp::verify() {
  if (getCount() < 0)
    return emitOpError("count must not be negative");
  if (getAlignment() <= 0 || (getAlignment() & (getAlignment() - 1)))
    return emitOpError("alignment must be a power of two");
  return success();
}
