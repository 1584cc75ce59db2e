//===- Canonicalize.cpp - Folds and patterns of values --------------------===//
//
// The patterns of `if` are in CanonicalizeIf.cpp. Each rule is headed by the law
// that it uses. "true" and "false" are constants of i1 with the same value in all
// lanes; a negation is `xori x, true` with the constant on the right.
//
//===----------------------------------------------------------------------===//
#include "cuda_tile/Rewrites.h"

using namespace mlir;
using namespace cuda_tile;

//===----------------------------------------------------------------------===//
// Recognition
//===----------------------------------------------------------------------===//

std::optional<bool> cuda_tile::getConstantCondition(Attribute attr) {
  auto dense = dyn_cast_if_present<DenseIntElementsAttr>(attr);
  if (!dense || !isI1Element(dense.getElementType()) || !dense.isSplat())
    return std::nullopt;
  return dense.getSplatValue<bool>();
}
std::optional<bool> cuda_tile::getConstantCondition(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant ? getConstantCondition(constant.getValue()) : std::nullopt;
}

Value cuda_tile::getNegated(Value value) {
  auto xori = value.getDefiningOp<XOrIOp>();
  if (xori && getConstantCondition(xori.getRhs()) == true)
    return xori.getLhs();
  return {};
}

Value cuda_tile::createNot(PatternRewriter &rewriter, Location loc,
                           Value value) {
  auto type = cast<TileType>(value.getType());
  auto attr = cast<DenseIntOrFPElementsAttr>(
      DenseElementsAttr::get(type, rewriter.getBoolAttr(true)));
  Value yes = rewriter.create<ConstantOp>(loc, type, attr);
  return rewriter.create<XOrIOp>(loc, type, value, yes);
}

//===----------------------------------------------------------------------===//
// constant, assume, addf
//===----------------------------------------------------------------------===//

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

// assume p, (assume p, x) == assume p, x.
OpFoldResult AssumeOp::fold(FoldAdaptor) {
  auto inner = getValue().getDefiningOp<AssumeOp>();
  if (inner && inner.getPredicate() == getPredicate())
    return inner.getResult();
  return {};
}

// c + a * b == a * b + c, the form that fuse-fma matches.
LogicalResult AddFOp::canonicalize(AddFOp op, PatternRewriter &rewriter) {
  if (!op.getRhs().getDefiningOp<MulFOp>() ||
      op.getLhs().getDefiningOp<MulFOp>())
    return failure();
  Value lhs = op.getLhs(), rhs = op.getRhs();
  rewriter.modifyOpInPlace(op, [&] {
    op.getLhsMutable().assign(rhs);
    op.getRhsMutable().assign(lhs);
  });
  return success();
}

//===----------------------------------------------------------------------===//
// select: folds
//===----------------------------------------------------------------------===//

// (a == b) ? a : b == b, and (a != b) ? a : b == a, in any order of a and b.
static Value foldSelectOfCompared(SelectOp op) {
  auto cmp = op.getCond().getDefiningOp<CmpIOp>();
  if (!cmp)
    return {};
  Value t = op.getValIfTrue(), f = op.getValIfFalse();
  bool compared = (t == cmp.getLhs() && f == cmp.getRhs()) ||
                  (t == cmp.getRhs() && f == cmp.getLhs());
  if (!compared)
    return {};
  if (cmp.getComparisonPredicate() == ComparisonPredicate::Equal)
    return f;
  if (cmp.getComparisonPredicate() == ComparisonPredicate::NotEqual)
    return t;
  return {};
}

OpFoldResult SelectOp::fold(FoldAdaptor adaptor) {
  // c ? x : x == x.
  if (getValIfTrue() == getValIfFalse())
    return getValIfTrue();
  // true ? x : y == x, false ? x : y == y.
  if (auto condition = getConstantCondition(adaptor.getCond()))
    return *condition ? getValIfTrue() : getValIfFalse();
  // c ? true : false == c.
  if (getConstantCondition(adaptor.getValIfTrue()) == true &&
      getConstantCondition(adaptor.getValIfFalse()) == false)
    return getCond();
  if (Value value = foldSelectOfCompared(*this))
    return value;
  // !c ? x : y == c ? y : x.
  if (Value condition = getNegated(getCond())) {
    Value t = getValIfTrue(), f = getValIfFalse();
    getCondMutable().assign(condition);
    getValIfTrueMutable().assign(f);
    getValIfFalseMutable().assign(t);
    return getResult();
  }
  // c ? (c ? x : y) : z == c ? x : z, c ? x : (c ? y : z) == c ? x : z.
  auto inner = getValIfTrue().getDefiningOp<SelectOp>();
  if (inner && inner.getCond() == getCond()) {
    getValIfTrueMutable().assign(inner.getValIfTrue());
    return getResult();
  }
  inner = getValIfFalse().getDefiningOp<SelectOp>();
  if (inner && inner.getCond() == getCond()) {
    getValIfFalseMutable().assign(inner.getValIfFalse());
    return getResult();
  }
  return {};
}

//===----------------------------------------------------------------------===//
// select: patterns
//===----------------------------------------------------------------------===//

namespace {
/// c ? false : true == !c.
struct SelectToNot : OpRewritePattern<SelectOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SelectOp op,
                                PatternRewriter &rewriter) const final {
    if (getConstantCondition(op.getValIfTrue()) != false ||
        getConstantCondition(op.getValIfFalse()) != true)
      return failure();
    rewriter.replaceOp(op, createNot(rewriter, op.getLoc(), op.getCond()));
    return success();
  }
};

/// A selection between constants by constants is a constant, lane by lane.
struct SelectOfConstants : OpRewritePattern<SelectOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SelectOp op,
                                PatternRewriter &rewriter) const final {
    auto cond = op.getCond().getDefiningOp<ConstantOp>();
    auto t = op.getValIfTrue().getDefiningOp<ConstantOp>();
    auto f = op.getValIfFalse().getDefiningOp<ConstantOp>();
    if (!cond || !t || !f)
      return failure();
    TileType type = op.getType();
    TileType stored = getConstantType(type);
    DenseElementsAttr value = isa<FloatType>(stored.getElementType())
                                  ? choose<APFloat>(stored, cond, t, f)
                                  : choose<APInt>(stored, cond, t, f);
    rewriter.replaceOpWithNewOp<ConstantOp>(
        op, type, cast<DenseIntOrFPElementsAttr>(value));
    return success();
  }

private:
  template <typename T>
  static DenseElementsAttr choose(TileType type, ConstantOp cond, ConstantOp t,
                                  ConstantOp f) {
    SmallVector<T> values;
    values.reserve(type.getNumElements());
    for (auto [c, a, b] : llvm::zip_equal(cond.getValue().getValues<bool>(),
                                          t.getValue().getValues<T>(),
                                          f.getValue().getValues<T>()))
      values.push_back(c ? a : b);
    return DenseElementsAttr::get(type, values);
  }
};

/// c ? 1 : 0 == zext(c), c ? 0 : 1 == zext(!c).
struct SelectToExtend : OpRewritePattern<SelectOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SelectOp op,
                                PatternRewriter &rewriter) const final {
    Type element = op.getType().getElementType();
    if (!isIntElement(element) || isI1Element(element))
      return failure();
    auto t = getSplat(op.getValIfTrue()), f = getSplat(op.getValIfFalse());
    if (!t || !f)
      return failure();
    bool plain = t->isOne() && f->isZero();
    if (!plain && !(t->isZero() && f->isOne()))
      return failure();
    Value cond = plain ? Value(op.getCond())
                       : createNot(rewriter, op.getLoc(), op.getCond());
    rewriter.replaceOpWithNewOp<ExtIOp>(op, op.getType(), cond,
                                        Signedness::Unsigned);
    return success();
  }

private:
  static std::optional<APInt> getSplat(Value value) {
    auto constant = value.getDefiningOp<ConstantOp>();
    if (!constant || !constant.getValue().isSplat())
      return std::nullopt;
    return constant.getValue().getSplatValue<APInt>();
  }
};
} // namespace

void SelectOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *context) {
  patterns.add<SelectToNot, SelectOfConstants, SelectToExtend>(context);
}
