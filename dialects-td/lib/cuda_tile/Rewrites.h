//===- Rewrites.h - Helpers of the canonicalisations ----------------------===//
#ifndef CUDA_TILE_REWRITES_H
#define CUDA_TILE_REWRITES_H

#include "cuda_tile/CudaTile.h"

namespace cuda_tile {
/// The one value of a constant i1 tile, if all lanes have it.
::std::optional<bool> getConstantCondition(::mlir::Attribute attr);
::std::optional<bool> getConstantCondition(::mlir::Value value);

/// `x` if the value is `xori x, true`, else null.
::mlir::Value getNegated(::mlir::Value value);

/// `xori value, true`.
::mlir::Value createNot(::mlir::PatternRewriter &rewriter, ::mlir::Location loc,
                        ::mlir::Value value);
} // namespace cuda_tile

#endif // CUDA_TILE_REWRITES_H
