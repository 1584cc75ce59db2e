// Verifiers of the ops of nv_tileas that happen once per element.
//
// Checked here: shapes, layouts and element types of an update agree; its kind and ordering are valid; the scratch of
// a print matches its tensors. Not checked here: that results that only owners hold go through `replicate`.
#include "nv_tileas/NvTileASAccess.h"

using namespace mlir;
using namespace nv_tileas;
using nv_tileaa::AtomicKind;
using nv_tileaa::Ordering;

static RankedTensorType tensor(Value v) { return cast<RankedTensorType>(v.getType()); }

static LogicalResult verifyOrdering(Operation *op, Ordering ordering) {
  if (ordering == Ordering::Weak)
    return op->emitOpError("an atomic update cannot be weak");
  return success();
}

static bool isWord(Type t) { return t.isInteger(32) || t.isInteger(64) || t.isF32() || t.isF64(); }

static LogicalResult verifyKind(Operation *op, AtomicKind kind, Type element) {
  bool fits = kind == AtomicKind::Xchg   ? isWord(element)
              : kind == AtomicKind::AddF ? element.isF16() || element.isBF16() || element.isF32() || element.isF64()
                                         : element.isInteger(32) || element.isInteger(64);
  if (!fits)
    return op->emitOpError("kind ") << stringifyAtomicKind(kind) << " does not apply to " << element;
  return success();
}

static LogicalResult verifyPointee(Operation *op, Value ptr, Value value) {
  auto pointer = dyn_cast<nv_tileaa::PtrType>(tensor(ptr).getElementType());
  if (!pointer || pointer.getPointee() != tensor(value).getElementType())
    return op->emitOpError("pointee and element type differ");
  return success();
}

LogicalResult AtomicRmwOp::verify() {
  SmallVector<Value> others{getValue()};
  if (getMask())
    others.push_back(getMask());
  if (failed(verifyPointerAccess(*this, getPtr(), others, getVector())) ||
      failed(verifyPointee(*this, getPtr(), getValue())) || failed(verifyOrdering(*this, getOrdering())))
    return failure();
  if (int64_t(getAlong()) >= tensor(getPtr()).getRank())
    return emitOpError("along must be a dimension of the tensor");
  return verifyKind(*this, getKind(), tensor(getValue()).getElementType());
}

LogicalResult AtomicCasOp::verify() {
  SmallVector<Value> others{getCompare(), getValue()};
  if (getMask())
    others.push_back(getMask());
  if (failed(verifyPointerAccess(*this, getPtr(), others, 1)) ||
      failed(verifyPointee(*this, getPtr(), getValue())) || failed(verifyOrdering(*this, getOrdering())))
    return failure();
  Type element = tensor(getValue()).getElementType();
  if (!isWord(element))
    return emitOpError("compare and swap does not apply to ") << element;
  return success();
}

LogicalResult TiledAtomicRmwOp::verify() {
  if (getView().getType().getSparseDim())
    return emitOpError("atomic updates do not support views with a sparse dimension");
  if (failed(verifyTiled(*this, getView().getType(), getValue(), getIndices(), getInBounds(), getVector())) ||
      failed(verifyOrdering(*this, getOrdering())))
    return failure();
  if (getKind() == AtomicKind::Xchg)
    return emitOpError("'xchg' needs a result; use a store instead");
  return verifyKind(*this, getKind(), tensor(getValue()).getElementType());
}

LogicalResult MultimemLoadReduceOp::verify() {
  if (failed(verifyTiled(*this, getView().getType(), getResult(), getIndices(), getInBounds(), getVector())))
    return failure();
  return nv_tileaa::verifyMultimemKind(*this, getKind(), tensor(getResult()).getElementType(), true);
}
LogicalResult MultimemReduceOp::verify() {
  if (failed(verifyTiled(*this, getView().getType(), getValue(), getIndices(), getInBounds(), getVector())))
    return failure();
  if (getOrdering() != Ordering::Relaxed && getOrdering() != Ordering::Release)
    return emitOpError("multicast updates must be relaxed or release");
  return nv_tileaa::verifyMultimemKind(*this, getKind(), tensor(getValue()).getElementType(), false);
}
LogicalResult MultimemStoreOp::verify() {
  if (failed(verifyTiled(*this, getView().getType(), getValue(), getIndices(), getInBounds(), getVector())))
    return failure();
  return nv_tileaa::verifyMultimemElement(*this, tensor(getValue()).getElementType());
}

LogicalResult HeapAllocOp::verify() {
  RankedTensorType type = tensor(getResult());
  if (type.getNumElements() != 1 || !isa<nv_tileaa::PtrType>(type.getElementType()))
    return emitOpError("result must be one pointer");
  return success();
}

// Invariants: no scratch at all, or one piece per tensor, of rank one and of its element type.
LogicalResult PrintOp::verify() {
  if (getScratch().empty())
    return success();
  SmallVector<Type> elements;
  for (Type type : getArgs().getTypes()) {
    if (auto array = dyn_cast<RegisterArrayType>(type))
      type = array.getTensor();
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      elements.push_back(tensor.getElementType());
  }
  if (elements.size() != getScratch().size())
    return emitOpError("expected one piece of scratch for each of ") << elements.size() << " tensors";
  for (auto [element, scratch] : llvm::zip(elements, getScratch())) {
    auto memory = cast<MemDescType>(scratch.getType());
    if (memory.getShape().size() != 1 || memory.getElementType() != element)
      return emitOpError("scratch must have rank one and the tensor's element type");
  }
  return success();
}
