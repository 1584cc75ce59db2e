// Folds and patterns of nv_tileaa. They eliminate unit batch dimensions: a dot with one becomes a plain dot between
// views. These views then cancel the surrounding views, or move out of loops and branches that would repeat them in
// each iteration.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "nv_tileaa/NvTileAA.h"

using namespace mlir;
using namespace nv_tileaa;

static RankedTensorType tensor(Value v) { return cast<RankedTensorType>(v.getType()); }

//===-- views ---------------------------------------------------------------//

// view x == x if the type does not change; view (view x) == view x.
OpFoldResult ViewOp::fold(FoldAdaptor) {
  if (getSource().getType() == getType())
    return getSource();
  auto inner = getSource().getDefiningOp<ViewOp>();
  if (!inner)
    return {};
  if (inner.getSource().getType() == getType())
    return inner.getSource();
  getSourceMutable().assign(inner.getSource());
  return getResult();
}

namespace {
/// A constant with equal elements has them in any shape.
struct ViewOfConstant : OpRewritePattern<ViewOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ViewOp op, PatternRewriter &rewriter) const final {
    auto constant = op.getSource().getDefiningOp<arith::ConstantOp>();
    auto value = constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : SplatElementsAttr();
    if (!value)
      return failure();
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, value.resizeSplat(tensor(op.getResult())));
    return success();
  }
};
} // namespace

void ViewOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ViewOfConstant>(context);
}

//===-- dots ----------------------------------------------------------------//

namespace {
/// A dot of 1xMxK and 1xKxN becomes a dot of MxK and KxN.
template <typename Product> struct DropUnitBatch : OpRewritePattern<Product> {
  using OpRewritePattern<Product>::OpRewritePattern;
  LogicalResult matchAndRewrite(Product op, PatternRewriter &rewriter) const final {
    RankedTensorType type = tensor(op.getAcc());
    if (type.getRank() != 3 || type.getDimSize(0) != 1)
      return failure();
    auto drop = [](RankedTensorType t) { return RankedTensorType::get(t.getShape().drop_front(), t.getElementType()); };
    SmallVector<Value> operands;
    for (Value v : op->getOperands())
      operands.push_back(rewriter.create<ViewOp>(op.getLoc(), drop(tensor(v)), v));
    Operation *product =
        rewriter.create(op.getLoc(), op->getName().getIdentifier(), operands, drop(type), op->getAttrs());
    rewriter.replaceOpWithNewOp<ViewOp>(op, type, product->getResult(0));
    return success();
  }
};
} // namespace

void DotOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropUnitBatch<DotOp>>(context);
}
void DotScaledOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropUnitBatch<DotScaledOp>>(context);
}

//===-- loops and branches --------------------------------------------------//

/// Returns the view that defines `v`, if it only adds unit dimensions. Patterns move such views outwards and insert
/// their inverses inside, never the reverse, so they terminate.
static ViewOp addsUnits(Value v) {
  auto view = v.getDefiningOp<ViewOp>();
  if (!view || tensor(view.getSource()).getRank() >= tensor(v).getRank())
    return {};
  auto extents = [](RankedTensorType t) {
    SmallVector<int64_t> list(t.getShape());
    llvm::erase(list, 1);
    return list;
  };
  return extents(tensor(view.getSource())) == extents(tensor(v)) ? view : ViewOp();
}

/// Whether some user views the value as another type.
static bool isViewedAs(Value v, Type type) {
  return llvm::any_of(v.getUsers(),
                      [&](Operation *user) { return isa<ViewOp>(user) && user->getResult(0).getType() == type; });
}

namespace {
/// If a loop views an argument and yields the inverse view of its next value, it carries the viewed value itself.
struct CarryWithoutView : OpRewritePattern<scf::ForOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(scf::ForOp op, PatternRewriter &rewriter) const final {
    auto yield = cast<scf::YieldOp>(op.getBody()->getTerminator());
    for (auto [i, v] : llvm::enumerate(yield.getOperands())) {
      ViewOp view = addsUnits(v);
      if (!view || !isViewedAs(op.getRegionIterArg(i), view.getSource().getType()))
        continue;
      carry(op, i, view.getSource(), rewriter);
      return success();
    }
    return failure();
  }

private:
/// Makes the loop carry `next` instead of a view of it.
  static void carry(scf::ForOp op, unsigned i, Value next, PatternRewriter &rewriter) {
    Location loc = op.getLoc();
    Type outside = op.getResult(i).getType();
    SmallVector<Value> inits(op.getInitArgs());
    inits[i] = rewriter.create<ViewOp>(loc, next.getType(), inits[i]);
    auto loop = rewriter.create<scf::ForOp>(loc, op.getLowerBound(), op.getUpperBound(), op.getStep(), inits);
    loop->setAttrs(op->getAttrs());

    auto yield = cast<scf::YieldOp>(op.getBody()->getTerminator());
    rewriter.modifyOpInPlace(yield, [&] { yield.setOperand(i, next); });
    Block *body = loop.getBody();
    SmallVector<Value> arguments(body->getArguments());
    rewriter.setInsertionPointToStart(body);
    Value &carried = arguments[op.getNumInductionVars() + i];
    carried = rewriter.create<ViewOp>(loc, outside, carried);
    rewriter.mergeBlocks(op.getBody(), body, arguments);

    SmallVector<Value> results(loop.getResults());
    rewriter.setInsertionPointAfter(loop);
    results[i] = rewriter.create<ViewOp>(loc, outside, results[i]);
    rewriter.replaceOp(op, results);
  }
};

/// A branch that yields a view of a value yields the value itself.
struct YieldWithoutView : OpRewritePattern<scf::IfOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(scf::IfOp op, PatternRewriter &rewriter) const final {
    for (OpResult result : op.getResults()) {
      for (scf::YieldOp yield : {op.thenYield(), op.elseYield()}) {
        ViewOp view = addsUnits(yield.getOperand(result.getResultNumber()));
        if (!view)
          continue;
        give(op, result, view.getSource().getType(), rewriter);
        return success();
      }
    }
    return failure();
  }

private:
/// Changes both branches to yield views of type `inside`.
  static void give(scf::IfOp op, OpResult result, Type inside, PatternRewriter &rewriter) {
    Type outside = result.getType();
    for (scf::YieldOp yield : {op.thenYield(), op.elseYield()}) {
      rewriter.setInsertionPoint(yield);
      Value v = rewriter.create<ViewOp>(yield.getLoc(), inside, yield.getOperand(result.getResultNumber()));
      rewriter.modifyOpInPlace(yield, [&] { yield.setOperand(result.getResultNumber(), v); });
    }
    rewriter.modifyOpInPlace(op, [&] { result.setType(inside); });
    rewriter.setInsertionPointAfter(op);
    auto view = rewriter.create<ViewOp>(op.getLoc(), outside, result);
    rewriter.replaceAllUsesExcept(result, view, view);
  }
};
} // namespace

void NvTileAADialect::getCanonicalizationPatterns(RewritePatternSet &patterns) const {
  patterns.add<CarryWithoutView, YieldWithoutView>(getContext());
}
