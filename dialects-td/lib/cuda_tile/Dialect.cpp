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
/// Aliases for the attributes of debug information, which recur on every line.
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

/// Everything can be inlined. A `return` inside an `if` cannot simply become the
/// values of the call, so a body with such returns is wrapped in a loop that is
/// left by `break`. The last return is handled in the hook that MLIR calls on the
/// dialect of the callee; it calls all others on the dialect of the call.
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

  // The block holds only the inlined body at this point.
  void handleTerminator(Operation *op, ValueRange replaced) const final {
    auto exit = cast<ReturnOp>(op);
    SmallVector<ReturnOp> early;
    exit->getBlock()->walk([&](ReturnOp other) {
      if (other != exit)
        early.push_back(other);
    });
    ValueRange values = exit.getOperands();
    if (!early.empty())
      values = wrapIntoLoop(exit, early)->getResults();
    for (auto [old, value] : llvm::zip_equal(replaced, values))
      old.replaceAllUsesWith(value);
  }

private:
  static Operation *wrapIntoLoop(ReturnOp exit, ArrayRef<ReturnOp> early) {
    Block *block = exit->getBlock();
    OperationState state(exit.getLoc(), LoopOp::getOperationName());
    state.addTypes(exit.getOperandTypes());
    state.addRegion()->emplaceBlock();
    Operation *loop = Operation::create(state);
    Block &body = loop->getRegion(0).front();
    body.getOperations().splice(body.end(), block->getOperations(),
                                block->begin(), exit->getIterator());
    block->getOperations().insert(exit->getIterator(), loop);

    OpBuilder builder(exit.getContext());
    for (ReturnOp other : early) {
      builder.setInsertionPoint(other);
      builder.create<BreakOp>(other.getLoc(), other.getOperands());
      other.erase();
    }
    builder.setInsertionPointToEnd(&body);
    builder.create<BreakOp>(exit.getLoc(), exit.getOperands());
    return loop;
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
/// A list of operations that are registered one by one, so that the testing
/// operations can be omitted.
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

std::optional<Dialect::ParseOpHook>
CudaTileDialect::getParseOperationHook(StringRef name) const {
  // The name of `fpowf` before version 13.4.
  if (name == "cuda_tile.pow")
    return ParseOpHook([](OpAsmParser &parser, OperationState &state) {
      state.name =
          OperationName(PowOp::getOperationName(), parser.getContext());
      return PowOp::parse(parser, state);
    });
  if (name != "cuda_tile.print")
    return std::nullopt;
  return ParseOpHook([](OpAsmParser &parser, OperationState &state) {
    state.name =
        OperationName(PrintTkoOp::getOperationName(), parser.getContext());
    return PrintTkoOp::parse(parser, state);
  });
}

Operation *CudaTileDialect::materializeConstant(OpBuilder &builder,
                                                Attribute value, Type type,
                                                Location loc) {
  auto dense = dyn_cast<DenseIntOrFPElementsAttr>(value);
  auto tile = dyn_cast<TileType>(type);
  if (!dense || !tile || dense.getType() != getConstantType(tile))
    return nullptr;
  return builder.create<ConstantOp>(loc, type, dense);
}
