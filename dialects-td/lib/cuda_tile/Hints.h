//===- Hints.h - Checks of optimization hints -----------------------------===//
#ifndef CUDA_TILE_HINTS_H
#define CUDA_TILE_HINTS_H

#include "cuda_tile/CudaTile.h"

namespace cuda_tile {
/// The kinds of operations that can have hints.
enum class HintSite { Entry, PointerAccess, ViewAccess };

/// Reports the hints that a target would ignore, if the checks are enabled.
::llvm::LogicalResult verifyHints(::mlir::Operation *op,
                                  OptimizationHintsAttr hints, HintSite site);
} // namespace cuda_tile

#endif // CUDA_TILE_HINTS_H
