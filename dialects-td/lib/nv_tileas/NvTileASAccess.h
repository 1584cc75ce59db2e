// Invariants shared by global memory accesses.
#ifndef TILEIRAS_NV_TILEAS_ACCESS_H
#define TILEIRAS_NV_TILEAS_ACCESS_H

#include "nv_tileas/NvTileAS.h"

namespace nv_tileas {

// Invariants: the view's tile and the value agree; one index and one flag per dimension; the index of a sparse
// dimension is a tensor whose layout is the value's along that dimension, all other indices are scalars; the vector
// is a power of two.
mlir::LogicalResult verifyTiled(mlir::Operation *op, nv_tileaa::TiledViewType view, mlir::Value value,
                                mlir::ValueRange indices, std::optional<llvm::ArrayRef<bool>> inBounds,
                                int64_t vector);

// Invariants: pointers, values, masks and fill values of an access have the same shape and layout; null values are
// skipped.
mlir::LogicalResult verifyPointerAccess(mlir::Operation *op, mlir::Value ptr, mlir::ValueRange others, int64_t vector);

} // namespace nv_tileas

#endif
