//===- Hints.h - Checks of optimisation hints -----------------------------===//
#ifndef CUDA_TILE_HINTS_H
#define CUDA_TILE_HINTS_H

#include "cuda_tile/CudaTile.h"

namespace cuda_tile {
/// The operations that hints are written on.
enum class HintSite { Entry, PointerAccess, ViewAccess };

/// Reports what a target would ignore, if the checks are switched on.
::llvm::LogicalResult verifyHints(::mlir::Operation *op,
                                  OptimizationHintsAttr hints, HintSite site);
} // namespace cuda_tile

#endif // CUDA_TILE_HINTS_H
