//===- Memory.h - Rules shared by memory operations -----------------------===//
#ifndef CUDA_TILE_MEMORY_H
#define CUDA_TILE_MEMORY_H

#include "cuda_tile/CudaTile.h"

namespace cuda_tile {
enum class AccessKind { Load, Store };

/// Loads are weak, relaxed or acquire; stores are weak, relaxed or release. All
/// accesses except weak ones have a scope.
::llvm::LogicalResult
verifyMemoryModel(::mlir::Operation *op, AccessKind kind,
                  MemoryOrderingSemantics ordering,
                  ::std::optional<MemoryScope> scope);

/// Checks that the atomic mode supports the element type.
::llvm::LogicalResult verifyAtomicMode(::mlir::Operation *op,
                                       AtomicRMWMode mode,
                                       ::mlir::Type element);
} // namespace cuda_tile

#endif // CUDA_TILE_MEMORY_H
