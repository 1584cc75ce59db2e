// MLIR's reducer over what is registered from Rust, and a pass for it that makes programs of Tile IR smaller.
//
// The reducer keeps what its test finds interesting, so that a candidate need not mean the same. Candidates come from what
// operations have in common, their regions, operands, results and types; the only one with a name here is the operation that
// makes a token.
//
// They are not patterns for MLIR's own pass, `reduction-tree`: it applies all patterns to all operations of a region first,
// and version 21 crashes where that is not interesting.
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
/// What is cheap to keep: it needs no other operation.
bool isLeaf(Operation *op) {
  return op->hasTrait<OpTrait::ConstantLike>() || op->getName().getStringRef() == "cuda_tile.make_token";
}

Value operandOf(Operation *op, Type type) {
  for (Value operand : op->getOperands())
    if (operand.getType() == type)
      return operand;
  return {};
}

/// A value that needs no other; null for the types that have none.
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
// Each changes what it is given, if it can be changed so.

/// An operation whose results nobody needs, whatever else it does: functions too.
void erase(Operation *op) {
  if (op->use_empty())
    op->erase();
}

/// A loop becomes its first iteration, and a branch its first block.
void inlineFirstRegion(Operation *op) {
  if (op->hasTrait<OpTrait::IsIsolatedFromAbove>() || op->getNumRegions() == 0 || !op->getRegion(0).hasOneBlock())
    return;
  Block &body = op->getRegion(0).front();
  Operation *terminator = body.empty() ? nullptr : &body.back();
  if (!terminator || !terminator->hasTrait<OpTrait::IsTerminator>() ||
      terminator->getOperandTypes() != op->getResultTypes())
    return;
  // What a loop carries comes last, both in its operands and in the arguments of its block.
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

/// Results become operands of the same type, or else, or where `operandsFirst` is not set, zeros and new tokens.
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

/// The same, with what is only there for its operands.
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

/// Tries each kind of candidate on ever smaller groups of operations, until nothing gets smaller any more.
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
  /// Operations that do something, and then characters.
  using Size = std::pair<size_t, size_t>;
  static Size sizeOf(ModuleOp module, size_t bytes) {
    size_t count = 0;
    module.walk([&](Operation *op) { count += !isLeaf(op); });
    return {count, bytes};
  }

  /// What a candidate may fit, those outside before those inside.
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
      // From the end, where nobody else needs the results.
      size_t end = fitting(candidate, getOperation()).size();
      while (end != 0) {
        size_t start = end > group ? end - group : 0;
        changed |= tryGroup(candidate, start, end, tester);
        end = std::min(start, fitting(candidate, getOperation()).size());
      }
    }
    return changed;
  }

  /// Keeps the program with some operations changed if it is smaller and interesting.
  bool tryGroup(const Candidate &candidate, size_t start, size_t end, const Tester &tester) {
    OwningOpRef<ModuleOp> changed = getOperation().clone();
    SmallVector<Operation *> all = fitting(candidate, *changed);
    // Those inside first: what contains them may go with all that is in it.
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
                           llvm::cl::desc("program that ends with a status other than 0 for a file that is of interest")};
  ListOption<std::string> arguments{*this, "test-arg", llvm::cl::desc("arguments of it, in front of the file")};
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
      "tile-reduce", "Leave out what a program can do without and still be of interest", buildReduce);
  MLIRContext context(*unwrap(registry));
  return failed(mlirReduceMain(argc, argv, context));
}
