//===- CanonicalizeIf.cpp - Fold and patterns of `if` ---------------------===//
//
// Unlike in scf.if, a branch may end in `break`, `continue` or `return` instead of
// `yield`. Such a branch returns no results, and nothing after the `if` executes
// after it. Two rules follow: code is never moved into such a branch, and when it
// turns out to be the only branch, everything after the `if` is dead.
//
//===----------------------------------------------------------------------===//
#include "cuda_tile/Rewrites.h"


using namespace mlir;
using namespace cuda_tile;

/// The `yield` of a branch, or null if the branch is missing or exits.
static YieldOp getYield(Region &region) {
  return region.empty() ? YieldOp()
                        : dyn_cast<YieldOp>(region.front().back());
}
static bool exits(Region &region) {
  return !region.empty() && !getYield(region);
}
static bool holdsOnlyYield(Region &region) {
  return getYield(region) && llvm::hasSingleElement(region.front());
}

static bool isDefinedOutside(Value value, IfOp op) {
  return !op->isAncestor(value.getParentBlock()->getParentOp());
}

/// Erases everything after `op`, including the terminator.
static void eraseRestOfBlock(PatternRewriter &rewriter, Operation *op) {
  Block *block = op->getBlock();
  while (&block->back() != op) {
    rewriter.eraseOp(&block->back());
  }
}

/// Whether `select` supports the type.
static bool isSelectable(Type type) {
  auto tile = dyn_cast<TileType>(type);
  return tile && !isa<Float4E2M1FNType>(tile.getElementType());
}

/// `condition ? t : f`, with the scalar condition broadcast to the tile.
static Value createSelect(PatternRewriter &rewriter, Location loc,
                          Value condition, Value t, Value f) {
  if (t == f)
    return t;
  auto type = cast<TileType>(t.getType());
  if (type.getRank() != 0) {
    auto i1 = cast<TileType>(condition.getType());
    SmallVector<int64_t> ones(type.getRank(), 1);
    condition =
        rewriter.create<ReshapeOp>(loc, i1.withShape(ones), condition);
    condition = rewriter.create<BroadcastOp>(
        loc, i1.withShape(type.getShape()), condition);
  }
  return rewriter.create<SelectOp>(loc, type, condition, t, f);
}

/// Creates an `if` with the given result types and empty regions before `op`.
static IfOp createIf(PatternRewriter &rewriter, Operation *op, Value condition,
                     TypeRange results) {
  rewriter.setInsertionPoint(op);
  return rewriter.create<IfOp>(op->getLoc(), results, condition);
}

static void replaceYield(PatternRewriter &rewriter, YieldOp yield,
                         ValueRange operands) {
  rewriter.modifyOpInPlace(yield,
                           [&] { yield->setOperands(operands); });
}

// if !c { A } else { B } == if c { B } else { A }.
LogicalResult IfOp::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &) {
  Value condition = getNegated(getCondition());
  if (!condition || getElseRegion().empty())
    return failure();
  getConditionMutable().assign(condition);
  Region swapped;
  swapped.takeBody(getThenRegion());
  getThenRegion().takeBody(getElseRegion());
  getElseRegion().takeBody(swapped);
  return success();
}

namespace {
/// An unused result need not be yielded.
struct RemoveUnusedResults : OpRewritePattern<IfOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(IfOp op,
                                PatternRewriter &rewriter) const final {
    if (llvm::none_of(op.getResults(),
                      [](Value result) { return result.use_empty(); }))
      return failure();
    SmallVector<unsigned> used;
    SmallVector<Type> types;
    for (OpResult result : op.getResults())
      if (!result.use_empty()) {
        used.push_back(result.getResultNumber());
        types.push_back(result.getType());
      }
    bool anyYield = false;
    for (Region *region : {&op.getThenRegion(), &op.getElseRegion()})
      if (YieldOp yield = getYield(*region)) {
        anyYield = true;
        replaceYield(rewriter, yield,
                     llvm::map_to_vector(used, [&](unsigned i) {
                       return yield.getOperand(i);
                     }));
      }
    if (!anyYield)
      return failure();
    IfOp replacement = createIf(rewriter, op, op.getCondition(), types);
    replacement->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    replacement.getThenRegion().takeBody(op.getThenRegion());
    replacement.getElseRegion().takeBody(op.getElseRegion());
    SmallVector<Value> values(op.getNumResults());
    for (auto [i, result] : llvm::zip_equal(used, replacement.getResults()))
      values[i] = result;
    for (auto [result, value] : llvm::zip_equal(op.getResults(), values))
      if (value)
        rewriter.replaceAllUsesWith(result, value);
    rewriter.eraseOp(op);
    return success();
  }
};

/// if c { yield x } else { yield x } == x, with true and false: c, with false and
/// true: !c.
struct ReplaceYieldWithValue : OpRewritePattern<IfOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(IfOp op,
                                PatternRewriter &rewriter) const final {
    YieldOp thenYield = getYield(op.getThenRegion());
    YieldOp elseYield = getYield(op.getElseRegion());
    if (!thenYield || !elseYield)
      return failure();
    bool changed = false;
    for (OpResult result : op.getResults()) {
      if (result.use_empty())
        continue;
      unsigned i = result.getResultNumber();
      Value t = thenYield.getOperand(i), f = elseYield.getOperand(i);
      Value value;
      if (t == f) {
        value = t;
      } else if (result.getType() == op.getCondition().getType()) {
        auto whenTrue = getConstantCondition(t), whenFalse = getConstantCondition(f);
        if (whenTrue == true && whenFalse == false) {
          value = op.getCondition();
        } else if (whenTrue == false && whenFalse == true) {
          rewriter.setInsertionPoint(op);
          value = createNot(rewriter, op.getLoc(), op.getCondition());
        }
      }
      if (!value)
        continue;
      rewriter.replaceAllUsesWith(result, value);
      changed = true;
    }
    return success(changed);
  }
};

/// A branch on a constant is the branch that is taken.
struct RemoveStaticCondition : OpRewritePattern<IfOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(IfOp op,
                                PatternRewriter &rewriter) const final {
    auto condition = getConstantCondition(op.getCondition());
    if (!condition)
      return failure();
    Region &taken = *condition ? op.getThenRegion() : op.getElseRegion();
    if (taken.empty()) {
      rewriter.eraseOp(op);
      return success();
    }
    if (exits(taken)) {
      eraseRestOfBlock(rewriter, op);
      Block *parent = op->getBlock();
      rewriter.inlineBlockBefore(&taken.front(), parent, parent->end());
      rewriter.eraseOp(op);
      return success();
    }
    YieldOp yield = getYield(taken);
    SmallVector<Value> values(yield.getOperands());
    rewriter.inlineBlockBefore(&taken.front(), op);
    rewriter.eraseOp(yield);
    rewriter.replaceOp(op, values);
    return success();
  }
};

/// if c { yield x } else { yield y } == c ? x : y where x and y are defined before.
/// A branch that exits does not affect the value.
struct ConvertToSelect : OpRewritePattern<IfOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(IfOp op,
                                PatternRewriter &rewriter) const final {
    YieldOp thenYield = getYield(op.getThenRegion());
    YieldOp elseYield = getYield(op.getElseRegion());
    if ((!thenYield && !elseYield) ||
        !llvm::all_of(op.getResultTypes(), llvm::IsaPred<TileType>))
      return failure();
    auto known = [&](YieldOp yield, unsigned i) {
      return !yield || isDefinedOutside(yield.getOperand(i), op);
    };
    bool changed = false;
    rewriter.setInsertionPoint(op);
    for (OpResult result : op.getResults()) {
      unsigned i = result.getResultNumber();
      if (result.use_empty() || !known(thenYield, i) || !known(elseYield, i))
        continue;
      Value value;
      if (!thenYield || !elseYield)
        value = (thenYield ? thenYield : elseYield).getOperand(i);
      else if (isSelectable(result.getType()))
        value = createSelect(rewriter, op.getLoc(), op.getCondition(),
                             thenYield.getOperand(i), elseYield.getOperand(i));
      else
        continue;
      // The result is now unused; RemoveUnusedResults removes it from the yields.
      rewriter.replaceAllUsesWith(result, value);
      changed = true;
    }
    return success(changed);
  }
};

/// An else branch that does nothing can be removed.
struct RemoveEmptyElseBranch : OpRewritePattern<IfOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(IfOp op,
                                PatternRewriter &rewriter) const final {
    if (op.getNumResults() != 0 || !holdsOnlyYield(op.getElseRegion()))
      return failure();
    rewriter.startOpModification(op);
    rewriter.eraseBlock(&op.getElseRegion().front());
    rewriter.finalizeOpModification(op);
    return success();
  }
};

/// if c { A } else { B }; if c { C } else { D } == if c { A; C } else { B; D }, and
/// with C and D swapped when the second condition is the negation.
struct CombineIfs : OpRewritePattern<IfOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(IfOp next,
                                PatternRewriter &rewriter) const final {
    auto prev = dyn_cast_or_null<IfOp>(next->getPrevNode());
    if (!prev)
      return failure();
    Region *nextThen = &next.getThenRegion(), *nextElse = &next.getElseRegion();
    Value a = prev.getCondition(), b = next.getCondition();
    if (getNegated(b) == a || getNegated(a) == b)
      std::swap(nextThen, nextElse);
    else if (a != b)
      return failure();

    SmallVector<Type> types(prev.getResultTypes());
    llvm::append_range(types, next.getResultTypes());
    IfOp combined = createIf(rewriter, prev, a, types);
    combined->setDiscardableAttrs(prev->getDiscardableAttrDictionary());
    combined.getThenRegion().takeBody(prev.getThenRegion());
    combined.getElseRegion().takeBody(prev.getElseRegion());
    append(rewriter, combined.getThenRegion(), *nextThen, prev);
    append(rewriter, combined.getElseRegion(), *nextElse, prev);

    ResultRange results = combined.getResults();
    unsigned split = prev.getNumResults();
    rewriter.replaceOp(prev, results.take_front(split));
    rewriter.replaceOp(next, results.drop_front(split));
    return success();
  }

private:
  /// Moves the branch `from` of the second `if` to the end of the branch `to` of
  /// the first, whose results it may use.
  static void append(PatternRewriter &rewriter, Region &to, Region &from,
                     IfOp prev) {
    if (exits(to))
      return; // Never gets to the second `if`.
    if (from.empty())
      return; // The second `if` has no results.
    if (to.empty()) {
      to.takeBody(from);
      return; // The first `if` has no results.
    }
    YieldOp first = getYield(to);
    SmallVector<Value> values(first.getOperands());
    for (auto [result, value] : llvm::zip_equal(prev.getResults(), values))
      rewriter.replaceUsesWithIf(result, value, [&](OpOperand &use) {
        return from.isAncestor(use.getOwner()->getParentRegion());
      });
    rewriter.eraseOp(first);
    Block *block = &to.front();
    rewriter.inlineBlockBefore(&from.front(), block, block->end());
    if (YieldOp second = getYield(to)) {
      llvm::append_range(values, second.getOperands());
      replaceYield(rewriter, second, values);
    }
  }
};

/// if a { if b { X } } == if a & b { X }. The values that the empty branches yield
/// are selected by a.
struct CombineNestedIfs : OpRewritePattern<IfOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(IfOp outer,
                                PatternRewriter &rewriter) const final {
    YieldOp outerThen = getYield(outer.getThenRegion());
    if (!outerThen || !llvm::hasNItems(outer.getThenRegion().front(), 2))
      return failure();
    auto inner = dyn_cast<IfOp>(outer.getThenRegion().front().front());
    if (!inner || !isTrivial(outer.getElseRegion()) ||
        !isTrivial(inner.getElseRegion()))
      return failure();
    YieldOp innerThen = getYield(inner.getThenRegion());
    YieldOp innerElse = getYield(inner.getElseRegion());
    YieldOp outerElse = getYield(outer.getElseRegion());
    if (!innerThen && innerElse)
      return failure();
    // The inner condition is computed before the outer `if` anyway: its branch
    // contains nothing else.
    SmallVector<std::pair<Value, Value>> whenNot; // by a: true, false
    SmallVector<Value> thenValues;
    for (unsigned i = 0; i < outer.getNumResults(); ++i) {
      Value value = outerThen.getOperand(i), other = outerElse.getOperand(i);
      Value notB = value, both = value;
      if (value.getDefiningOp() == inner) {
        unsigned k = cast<OpResult>(value).getResultNumber();
        both = innerThen.getOperand(k);
        notB = innerElse.getOperand(k);
      }
      if (notB != other && !isSelectable(notB.getType()))
        return failure();
      thenValues.push_back(both);
      whenNot.emplace_back(notB, other);
    }

    rewriter.setInsertionPoint(outer);
    Location loc = outer.getLoc();
    SmallVector<Value> elseValues;
    for (auto [notB, other] : whenNot)
      elseValues.push_back(
          createSelect(rewriter, loc, outer.getCondition(), notB, other));
    Value both = rewriter.create<AndIOp>(loc, outer.getCondition().getType(),
                                         outer.getCondition(),
                                         inner.getCondition());
    IfOp combined = createIf(rewriter, outer, both, outer.getResultTypes());
    combined->setDiscardableAttrs(outer->getDiscardableAttrDictionary());
    combined.getThenRegion().takeBody(inner.getThenRegion());
    if (innerThen)
      replaceYield(rewriter, innerThen, thenValues);
    if (outer.getNumResults() != 0) {
      rewriter.createBlock(&combined.getElseRegion());
      rewriter.create<YieldOp>(loc, elseValues);
    }
    rewriter.replaceOp(outer, combined.getResults());
    return success();
  }

private:
  static bool isTrivial(Region &region) {
    return region.empty() || holdsOnlyYield(region);
  }
};

/// if c { A; exit } else { B; exit } == if c { A; exit }; B; exit.
struct MoveTerminatorToParent : OpRewritePattern<IfOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(IfOp op,
                                PatternRewriter &rewriter) const final {
    if (!exits(op.getThenRegion()) || !exits(op.getElseRegion()))
      return failure();
    eraseRestOfBlock(rewriter, op);
    IfOp replacement = createIf(rewriter, op, op.getCondition(), {});
    replacement->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    replacement.getThenRegion().takeBody(op.getThenRegion());
    Block *parent = op->getBlock();
    rewriter.inlineBlockBefore(&op.getElseRegion().front(), parent,
                               parent->end());
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void IfOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                       MLIRContext *context) {
  patterns.add<RemoveUnusedResults, ReplaceYieldWithValue,
               RemoveStaticCondition, ConvertToSelect, RemoveEmptyElseBranch,
               CombineIfs, CombineNestedIfs, MoveTerminatorToParent>(context);
}
