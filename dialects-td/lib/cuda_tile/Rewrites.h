//===- Rewrites.h - Helpers of the canonicalizations ----------------------===//
#ifndef CUDA_TILE_REWRITES_H
#define CUDA_TILE_REWRITES_H

#include "cuda_tile/CudaTile.h"

namespace cuda_tile {
/// Returns the value of a constant i1 tile if all lanes have the same.
::std::optional<bool> getConstantCondition(::mlir::Attribute attr);
::std::optional<bool> getConstantCondition(::mlir::Value value);

/// Returns `x` if the value is `xori x, true`, else null.
::mlir::Value getNegated(::mlir::Value value);

/// Creates `xori value, true`.
::mlir::Value createNot(::mlir::PatternRewriter &rewriter, ::mlir::Location loc,
                        ::mlir::Value value);
} // namespace cuda_tile

#endif // CUDA_TILE_REWRITES_H
