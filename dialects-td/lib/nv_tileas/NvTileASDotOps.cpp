// Verifiers of the dots of nv_tileas.
//
// Checked here: ranks, shapes and element types, and that no direct user reads an asynchronous dot in flight. Checked
// by the registered check of dots (see capi/nv_tileas.h), if there is one: that the instruction exists for the types,
// takes its operands from registers, and that the operands have the layouts that match the accumulator's. The table
// of instructions and the layout algebra are in Rust and not repeated here. Not checked: whether the target has the
// instruction, and how users treat a loop-carried dot in flight.
#include "nv_tileaa/Shapes.h"
#include "nv_tileas/NvTileAS.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace nv_tileas;

static RankedTensorType tensor(Value v) { return cast<RankedTensorType>(v.getType()); }

// Invariants: scalar arithmetic has no shape; an instruction has M, N and K, which are powers of two.
LogicalResult MmaAttr::verify(function_ref<InFlightDiagnostic()> emitError, MmaKind kind, ArrayRef<int64_t> shape) {
  if (kind == MmaKind::Fma)
    return shape.empty() ? success() : LogicalResult(emitError() << "fma has no shape");
  bool powers = shape.size() == 3 && llvm::all_of(shape, [](int64_t e) { return e > 0 && (e & (e - 1)) == 0; });
  return powers ? success() : LogicalResult(emitError() << "expected M, N and K, powers of two");
}

// Receives the error of a dot.
static void report(MlirStringRef message, void *data) {
  auto *error = static_cast<std::optional<std::string> *>(data);
  error->emplace(unwrap(message).str());
}

LogicalResult NvTileASDialect::checkProduct(Operation *op) const {
  std::optional<std::string> error;
  if (dotCheck)
    dotCheck(wrap(op), report, &error);
  return error ? op->emitOpError(*error) : success();
}

namespace nv_tileas {
struct DotCheckExtension : DialectExtension<DotCheckExtension, NvTileASDialect> {
  TileirDotCheck check;

  explicit DotCheckExtension(TileirDotCheck check) : check(check) {}
  void apply(MLIRContext *, NvTileASDialect *dialect) const final { dialect->setDotCheck(check); }
};
} // namespace nv_tileas

void tileirNvTileASSetDotCheck(MlirDialectRegistry registry, TileirDotCheck check) {
  unwrap(registry)->addExtension(TypeID::get<DotCheckExtension>(), std::make_unique<DotCheckExtension>(check));
}

static LogicalResult checkProduct(Operation *op) {
  return static_cast<NvTileASDialect *>(op->getDialect())->checkProduct(op);
}

LogicalResult DotOp::verify() {
  if (failed(nv_tileaa::verifyDot(*this, tensor(getLhs()), tensor(getRhs()), tensor(getAcc()))))
    return failure();
  return checkProduct(*this);
}

// Invariants: as for a dot and its scales.
LogicalResult DotScaledOp::verify() {
  RankedTensorType lhs = tensor(getLhs()), acc = tensor(getAcc());
  if (failed(nv_tileaa::verifyDot(*this, lhs, tensor(getRhs()), acc)) ||
      failed(nv_tileaa::verifyScales(*this, lhs, acc, tensor(getLhsScale()), tensor(getRhsScale()))))
    return failure();
  return checkProduct(*this);
}

// Whether a use of a dot in flight does not read it: a loop or branch that carries it, another dot that accumulates
// into it, or the wait for it.
static bool carries(OpOperand &use) {
  Operation *user = use.getOwner();
  if (auto dot = dyn_cast<AsyncDotOp>(user))
    return use.get() == dot.getAcc();
  return isa<AsyncDotWaitOp, RegionBranchTerminatorOpInterface>(user) || isa<LoopLikeOpInterface>(user);
}

static ArrayRef<int64_t> shapeOf(Type side) {
  auto memory = dyn_cast<MemDescType>(side);
  return memory ? memory.getShape() : cast<RankedTensorType>(side).getShape();
}

static bool isTensorMemory(Type side) {
  auto memory = dyn_cast<MemDescType>(side);
  return memory && memory.getSpace() == MemorySpace::Tensor;
}

// Tiles of rank two; tiles in memory are a single stage. M, N and K agree, if `ctas` CTAs divide the columns of rhs. Only
// a left operand may be in tensor memory, and only if the accumulator is too.
static LogicalResult verifyTiles(Operation *op, Type lhs, MemDescType rhs, Type acc, int64_t ctas = 1) {
  ArrayRef<int64_t> left = shapeOf(lhs), right = rhs.getShape(), sum = shapeOf(acc);
  if (left.size() != 2 || right.size() != 2 || sum.size() != 2)
    return op->emitOpError("operands must have rank two");
  if (left[0] != sum[0] || ctas * right[1] != sum[1] || left[1] != right[0])
    return op->emitOpError("shapes of lhs, rhs and acc do not form a matrix product");
  bool inTensorMemory = isTensorMemory(lhs) && isTensorMemory(acc);
  for (Type side : {inTensorMemory ? Type() : lhs, Type(rhs)})
    if (auto memory = dyn_cast_or_null<MemDescType>(side))
      if (memory.getStages() != 1 || memory.getSpace() != MemorySpace::Shared)
        return op->emitOpError("operands must be a single stage in shared memory, got ") << memory;
  if (inTensorMemory && cast<MemDescType>(lhs).getStages() != 1)
    return op->emitOpError("operands must be a single stage, got ") << lhs;
  return success();
}

// Operands in shared memory are read through the async proxy, and one may be in tensor memory; groups are machine state.
static void getProductEffects(ArrayRef<OpOperand *> sides, SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  for (OpOperand *side : sides)
    if (isTensorMemory(side->get().getType()))
      effects.emplace_back(MemoryEffects::Read::get(), side, nv_tileaa::TensorMemory::get());
    else if (isa<MemDescType>(side->get().getType()))
      effects.emplace_back(MemoryEffects::Read::get(), side, nv_tileaa::SharedMemoryAsyncProxy::get());
  effects.emplace_back(MemoryEffects::Read::get(), nv_tileaa::Machine::get());
  effects.emplace_back(MemoryEffects::Write::get(), nv_tileaa::Machine::get());
}

void AsyncDotOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  getProductEffects({&getLhsMutable(), &getRhsMutable()}, effects);
  if (!isa<MemDescType>(getAcc().getType()))
    return;
  effects.emplace_back(MemoryEffects::Read::get(), &getAccMutable(), nv_tileaa::TensorMemory::get());
  effects.emplace_back(MemoryEffects::Write::get(), &getAccMutable(), nv_tileaa::TensorMemory::get());
  for (MutableOperandRange scales : {getLhsScaleMutable(), getRhsScaleMutable()})
    for (OpOperand &scale : scales)
      effects.emplace_back(MemoryEffects::Read::get(), &scale, nv_tileaa::TensorMemory::get());
}

void PromotedDotOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  getProductEffects({&getLhsMutable(), &getRhsMutable()}, effects);
}

// Scale factors are in tensor memory, of both operands or of none.
static LogicalResult verifyScaleFactors(AsyncDotOp op) {
  if (bool(op.getLhsScale()) != bool(op.getRhsScale()) || bool(op.getLhsScale()) != bool(op.getScaleBlock()))
    return op.emitOpError("has scale factors of both operands and the size of a block, or none of these");
  for (Value scale : {op.getLhsScale(), op.getRhsScale()})
    if (scale)
      if (auto memory = cast<MemDescType>(scale.getType());
          memory.getSpace() != MemorySpace::Scales || memory.getStages() != 1 || memory.getShape().size() != 2)
        return op.emitOpError("scale factors are a single stage of rank two in 'space = scales', got ") << memory;
  return success();
}

// Invariants: as for its tiles; nothing reads the result. An accumulator in memory is a single stage of tensor memory
// that one thread adds to, and only such a dot has scale factors.
LogicalResult AsyncDotOp::verify() {
  int64_t ctas = getInstruction().getKind() == MmaKind::TensorPair ? 2 : 1;
  if (failed(verifyTiles(*this, getLhs().getType(), getRhs().getType(), getAcc().getType(), ctas)))
    return failure();
  if (failed(verifyScaleFactors(*this)))
    return failure();
  if (auto memory = dyn_cast<MemDescType>(getAcc().getType())) {
    if (memory.getSpace() != MemorySpace::Tensor || memory.getStages() != 1)
      return emitOpError("an accumulator in memory must be a single stage in tensor memory, got ") << memory;
    if (!(*this)->getParentOfType<ElectOp>())
      return emitOpError("with an accumulator in tensor memory must be inside 'nv_tileas.async.elect'");
    if (!isa<MemDescType>(getLhs().getType()))
      return emitOpError("with an accumulator in tensor memory reads lhs from memory");
    ArrayRef<int64_t> shape = getInstruction().getShape();
    if (std::optional<uint64_t> block = getRowBlock();
        block && (shape.empty() || int64_t(*block + 1) * (shape[0] / ctas) > memory.getShape()[0]))
      return emitOpError("has no row block ") << *block;
    return checkProduct(*this);
  }
  if (getRowBlock())
    return emitOpError("'row_block' applies to accumulators in memory");
  if (getAccumulate())
    return emitOpError("'accumulate' applies to accumulators in memory");
  if (getLhsScale())
    return emitOpError("scale factors apply to accumulators in memory");
  for (OpOperand &use : getResult().getUses())
    if (!carries(use)) {
      InFlightDiagnostic error = emitOpError("result is read before 'async.dot_wait'");
      error.attachNote(use.getOwner()->getLoc()) << "read here";
      return error;
    }
  return checkProduct(*this);
}

// Invariants: as for its tiles; the accumulator is f32; the depth is a multiple of the instruction's K and divides
// the tiles' K.
LogicalResult PromotedDotOp::verify() {
  RankedTensorType acc = tensor(getAcc());
  if (failed(verifyTiles(*this, getLhs().getType(), getRhs().getType(), acc)))
    return failure();
  if (!acc.getElementType().isF32())
    return emitOpError("accumulator must be f32, got ") << acc.getElementType();
  ArrayRef<int64_t> shape = getInstruction().getShape();
  int64_t depth = getDepth(), all = shapeOf(getLhs().getType())[1];
  if (shape.size() != 3 || depth % shape[2] != 0 || all % depth != 0)
    return emitOpError("a depth of ") << depth << " must be a multiple of the instruction's K and divide " << all;
  return checkProduct(*this);
}

LogicalResult AsyncDotWaitOp::verify() {
  if (getSources().getTypes() != getResults().getTypes())
    return emitOpError("results must have the types of the sources");
  return success();
}
