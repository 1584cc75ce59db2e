//===- Dialect.cpp - Registration, aliases and inlining -------------------===//
#include "cuda_tile/CudaTile.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

#include <atomic>

using namespace mlir;
using namespace cuda_tile;

#include "cuda_tile/CudaTileDialect.cpp.inc"

static std::atomic<bool> testingOps{false};

void cuda_tile::setTestingOps(bool enabled) { testingOps = enabled; }

namespace {
/// The attributes of debug information recur on every line, so they get names.
struct AliasInterface : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(Attribute attr, raw_ostream &os) const final {
    return TypeSwitch<Attribute, AliasResult>(attr)
        .Case<DIFileAttr, DICompileUnitAttr, DILexicalBlockAttr,
              DISubprogramAttr>([&](auto named) {
          os << named.getMnemonic();
          return AliasResult::OverridableAlias;
        })
        .Default([](Attribute) { return AliasResult::NoAlias; });
  }
};

/// Everything may be inlined. A `return` inside an `if` cannot simply become the
/// values of the call, so a body with such returns is wrapped into a loop that is
/// left by `break`:
///
///   if %c { return %a }         %r = loop : T {
///   return %b              =>     if %c { break %a }
///                                 break %b
///                               }
struct TileInliner : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Operation *, bool) const final {
    return true;
  }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final {
    return true;
  }
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }

  void processInlinedCallBlocks(
      Operation *call,
      iterator_range<Region::iterator> inlinedBlocks) const final {
    if (!llvm::hasSingleElement(inlinedBlocks))
      return;
    Block &body = *inlinedBlocks.begin();
    auto exit = dyn_cast<ReturnOp>(body.getTerminator());
    SmallVector<ReturnOp> early;
    body.walk([&](ReturnOp op) {
      if (op->getBlock() != &body)
        early.push_back(op);
    });
    if (early.empty())
      return;

    // Without a return at the end the block ends in an op that never falls
    // through; the results then come from the early returns alone.
    TypeRange results = (exit ? exit : early.front()).getOperandTypes();
    Location loc = call->getLoc();
    OpBuilder builder(body.getParent()->getContext());
    OperationState state(loc, LoopOp::getOperationName());
    state.addTypes(results);
    state.addRegion()->emplaceBlock();
    Operation *loop = Operation::create(state);
    Block &loopBody = loop->getRegion(0).front();
    loopBody.getOperations().splice(loopBody.end(), body.getOperations());
    body.push_back(loop);
    if (exit)
      early.push_back(exit);
    for (ReturnOp op : early) {
      builder.setInsertionPoint(op);
      builder.create<BreakOp>(op.getLoc(), op.getOperands());
      op.erase();
    }
    builder.setInsertionPointToEnd(&body);
    builder.create<ReturnOp>(loc, loop->getResults());
  }

  void handleTerminator(Operation *op, ValueRange replaced) const final {
    auto exit = cast<ReturnOp>(op);
    for (auto [old, value] : llvm::zip_equal(replaced, exit.getOperands()))
      old.replaceAllUsesWith(value);
  }
};
} // namespace

void CudaTileDialect::initialize() {
  registerTypes();
  registerAttributes();
  registerOperations();
  registerInterfaces();
}

namespace {
/// A list of operations that is registered one by one, so that the testing
/// operations can be left out.
template <typename... Ops> struct OperationList {
  template <typename Add> static void forEach(Add add) {
    (add(static_cast<Ops *>(nullptr)), ...);
  }
};
using AllOperations = OperationList<
#define GET_OP_LIST
#include "cuda_tile/CudaTileOps.cpp.inc"
    >;
} // namespace

void CudaTileDialect::registerOperations() {
  AllOperations::forEach([&](auto *op) {
    using Op = std::remove_pointer_t<decltype(op)>;
    if (!std::is_same_v<Op, TestingFuncOp> || testingOps)
      addOperations<Op>();
  });
}

void CudaTileDialect::registerInterfaces() {
  addInterfaces<AliasInterface, TileInliner>();
}

Operation *CudaTileDialect::materializeConstant(OpBuilder &builder,
                                                Attribute value, Type type,
                                                Location loc) {
  auto dense = dyn_cast<DenseIntOrFPElementsAttr>(value);
  if (!dense || dense.getType() != type)
    return nullptr;
  return builder.create<ConstantOp>(loc, type, dense);
}
