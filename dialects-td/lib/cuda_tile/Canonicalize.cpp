#include "cuda_tile/CudaTile.h"
#include "mlir/IR/Builders.h"
using namespace mlir;
using namespace cuda_tile;
OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }
OpFoldResult AssumeOp::fold(FoldAdaptor) { return {}; }
OpFoldResult SelectOp::fold(FoldAdaptor) { return {}; }
LogicalResult IfOp::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &) { return failure(); }
LogicalResult AddFOp::canonicalize(AddFOp, PatternRewriter &) { return failure(); }
void SelectOp::getCanonicalizationPatterns(RewritePatternSet &, MLIRContext *) {}
void IfOp::getCanonicalizationPatterns(RewritePatternSet &, MLIRContext *) {}
