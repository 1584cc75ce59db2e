// MLIR's reducer for the dialects registered from Rust, and a pass that shrinks Tile IR programs.
//
// The reducer keeps a candidate if the test finds it interesting, so a candidate need not preserve semantics.
// Candidates only use generic properties of operations: their regions, operands, results and types. The only op known
// by name is the one that makes a token.
//
// The candidates are not patterns for MLIR's own pass, `reduction-tree`: it first applies all patterns to all
// operations of a region, and version 21 crashes if the result is not interesting.
#include "capi/mlirx.h"
#include "mlir/CAPI/IR.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypeInterfaces.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Reducer/Passes.h"
#include "mlir/Reducer/Tester.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"
#include "llvm/Support/MathExtras.h"
using namespace mlir;

namespace {
/// Whether the op is cheap to keep because it needs no other operation.
bool isLeaf(Operation *op) {
  return op->hasTrait<OpTrait::ConstantLike>() || op->getName().getStringRef() == "cuda_tile.make_token";
}

Value operandOf(Operation *op, Type type) {
  for (Value operand : op->getOperands())
    if (operand.getType() == type)
      return operand;
  return {};
}

/// Returns a value that needs no other operation, or null for types that lack one.
Value simplest(Operation *op, Type type, OpBuilder &builder) {
  if (type.getAbstractType().getName() == "cuda_tile.token") {
    OperationState state(op->getLoc(), "cuda_tile.make_token");
    state.addTypes(type);
    return builder.create(state)->getResult(0);
  }
  Attribute zero;
  if (auto shaped = dyn_cast<ShapedType>(type)) {
    if (shaped.hasStaticShape() && shaped.getElementType().isIntOrFloat())
      zero = DenseElementsAttr::get(shaped, builder.getZeroAttr(shaped.getElementType()));
  } else {
    zero = builder.getZeroAttr(type);
  }
  if (!zero)
    return {};
  if (Operation *made = op->getDialect()->materializeConstant(builder, zero, type, op->getLoc()))
    return made->getResult(0);
  auto typed = dyn_cast<TypedAttr>(zero);
  if (!typed || typed.getType() != type || !op->getContext()->getLoadedDialect<arith::ArithDialect>())
    return {};
  return builder.create<arith::ConstantOp>(op->getLoc(), typed);
}

//===-- candidates -------------------------------------------------------------//
// Each candidate changes an operation, if it applies.

/// Erases an operation without users, whatever its effects; functions too.
void erase(Operation *op) {
  if (op->use_empty())
    op->erase();
}

/// Replaces a loop by its first iteration, and a branch by its first block.
void inlineFirstRegion(Operation *op) {
  if (op->hasTrait<OpTrait::IsIsolatedFromAbove>() || op->getNumRegions() == 0 || !op->getRegion(0).hasOneBlock())
    return;
  Block &body = op->getRegion(0).front();
  Operation *terminator = body.empty() ? nullptr : &body.back();
  if (!terminator || !terminator->hasTrait<OpTrait::IsTerminator>() ||
      terminator->getOperandTypes() != op->getResultTypes())
    return;
  // Loop-carried values come last, both in the operands and in the block arguments.
  SmallVector<Value> given;
  for (BlockArgument argument : body.getArguments()) {
    unsigned left = body.getNumArguments() - argument.getArgNumber();
    bool isCarried = left <= op->getNumResults() && left <= op->getNumOperands();
    Value value = isCarried ? op->getOperand(op->getNumOperands() - left) : operandOf(op, argument.getType());
    if (!value || value.getType() != argument.getType())
      return;
    given.push_back(value);
  }
  for (auto [argument, value] : llvm::zip_equal(body.getArguments(), given))
    argument.replaceAllUsesWith(value);
  op->replaceAllUsesWith(terminator->getOperands());
  terminator->erase();
  op->getBlock()->getOperations().splice(op->getIterator(), body.getOperations());
  op->erase();
}

/// Replaces results by operands of the same type; without such operands, or without `operandsFirst`, by zeros and new
/// tokens.
void replace(Operation *op, bool operandsFirst) {
  OpBuilder builder(op);
  for (Value result : op->getResults()) {
    if (result.use_empty())
      continue;
    Value other = operandsFirst ? operandOf(op, result.getType()) : Value();
    if (!other)
      other = simplest(op, result.getType(), builder);
    if (other)
      result.replaceAllUsesWith(other);
  }
  erase(op);
}

/// The same, including ops that only computed its operands.
void eraseWithOperands(Operation *op) {
  SetVector<Operation *> dead;
  dead.insert(op);
  while (!dead.empty()) {
    Operation *next = dead.pop_back_val();
    if (next == op ? !op->use_empty() : !isOpTriviallyDead(next))
      continue;
    for (Value operand : next->getOperands())
      if (Operation *made = operand.getDefiningOp())
        dead.insert(made);
    next->erase();
  }
}

struct Candidate {
  bool (*fits)(Operation *);
  void (*apply)(Operation *);
};
const Candidate candidates[] = {
    {[](Operation *op) { return op->use_empty(); }, eraseWithOperands},
    {[](Operation *op) { return op->getNumRegions() != 0; }, inlineFirstRegion},
    {[](Operation *op) { return op->getNumResults() != 0 && !isLeaf(op); }, [](Operation *op) { replace(op, true); }},
    {[](Operation *op) { return op->getNumResults() != 0 && !isLeaf(op); }, [](Operation *op) { replace(op, false); }},
};

//===-- search -----------------------------------------------------------------//

/// Tries each kind of candidate on ever smaller groups of operations, until the program no longer shrinks.
struct Shrink : PassWrapper<Shrink, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Shrink)
  Shrink(StringRef test, ArrayRef<std::string> arguments) : test(test), arguments(arguments) {}

  void runOnOperation() override {
    Tester tester(test, arguments);
    auto [interesting, bytes] = tester.isInteresting(getOperation());
    if (interesting != Tester::Interestingness::True) {
      getOperation().emitError("the test does not find the program interesting, so there is nothing to keep");
      return signalPassFailure();
    }
    size = sizeOf(getOperation(), bytes);
    for (bool changed = true; changed;) {
      changed = false;
      for (const Candidate &candidate : candidates)
        changed |= shrink(candidate, tester);
    }
  }

private:
  /// The number of operations that do something, then the number of characters.
  using Size = std::pair<size_t, size_t>;
  static Size sizeOf(ModuleOp module, size_t bytes) {
    size_t count = 0;
    module.walk([&](Operation *op) { count += !isLeaf(op); });
    return {count, bytes};
  }

  /// The operations to which a candidate may apply, outer ones before inner ones.
  static SmallVector<Operation *> fitting(const Candidate &candidate, ModuleOp module) {
    SmallVector<Operation *> all;
    module.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op != module && !op->hasTrait<OpTrait::IsTerminator>() && candidate.fits(op))
        all.push_back(op);
    });
    return all;
  }

  bool shrink(const Candidate &candidate, const Tester &tester) {
    bool changed = false;
    for (size_t group = llvm::PowerOf2Ceil(fitting(candidate, getOperation()).size()); group != 0; group /= 2) {
      // Starts at the end, where the results have the fewest other users.
      size_t end = fitting(candidate, getOperation()).size();
      while (end != 0) {
        size_t start = end > group ? end - group : 0;
        changed |= tryGroup(candidate, start, end, tester);
        end = std::min(start, fitting(candidate, getOperation()).size());
      }
    }
    return changed;
  }

  /// Applies a candidate to a group of operations and keeps the program if it is smaller and interesting.
  bool tryGroup(const Candidate &candidate, size_t start, size_t end, const Tester &tester) {
    OwningOpRef<ModuleOp> changed = getOperation().clone();
    SmallVector<Operation *> all = fitting(candidate, *changed);
    // Inner operations first: an outer one may erase its contents.
    for (Operation *op : llvm::reverse(ArrayRef(all).slice(start, end - start)))
      candidate.apply(op);
    {
      ScopedDiagnosticHandler quiet(&getContext(), [](Diagnostic &) { return success(); });
      if (failed(verify(*changed)))
        return false;
    }
    if (sizeOf(*changed, 0).first > size.first)
      return false;
    auto [interesting, bytes] = tester.isInteresting(*changed);
    Size smaller = sizeOf(*changed, bytes);
    if (interesting != Tester::Interestingness::True || !(smaller < size))
      return false;
    size = smaller;
    getOperation().getBody()->clear();
    getOperation().getBody()->getOperations().splice(getOperation().getBody()->begin(),
                                                     changed->getBody()->getOperations());
    return true;
  }

  std::string test;
  std::vector<std::string> arguments;
  Size size;
};

struct ReduceOptions : PassPipelineOptions<ReduceOptions> {
  Option<std::string> test{*this, "test",
                           llvm::cl::desc("program that exits with a status other than 0 for an interesting file")};
  ListOption<std::string> arguments{*this, "test-arg", llvm::cl::desc("arguments of the test program, before the file")};
};

void buildReduce(OpPassManager &passes, const ReduceOptions &options) {
  SmallVector<std::string> arguments(options.arguments.begin(), options.arguments.end());
  auto shrink = [&] { passes.addPass(std::make_unique<Shrink>(options.test, arguments)); };
  shrink();
  for (const char *pass : {"canonicalize", "cse"})
    passes.addPass(createOptReductionPass({pass, options.test, arguments}));
  shrink();
}
} // namespace

int mlirxReduceMain(int argc, char **argv, MlirDialectRegistry registry) {
  static PassPipelineRegistration<ReduceOptions> reduce(
      "tile-reduce", "Shrink a program as long as the test finds it interesting", buildReduce);
  MLIRContext context(*unwrap(registry));
  return failed(mlirReduceMain(argc, argv, context));
}
