// Invariants that accesses of global memory share.
#ifndef TILEIRAS_NV_TILEAS_ACCESS_H
#define TILEIRAS_NV_TILEAS_ACCESS_H

#include "nv_tileas/NvTileAS.h"

namespace nv_tileas {

// The tile of the view and the value agree; one index and one flag for each dimension; the index of a sparse dimension is a
// tensor that lies as the value's coordinates of that dimension do, every other one a scalar; the vector is a power of two.
mlir::LogicalResult verifyTiled(mlir::Operation *op, nv_tileaa::TiledViewType view, mlir::Value value,
                                mlir::ValueRange indices, std::optional<llvm::ArrayRef<bool>> inBounds,
                                int64_t vector);

// Pointers, values, masks and fill values of one access have one shape and layout; null values are skipped.
mlir::LogicalResult verifyPointerAccess(mlir::Operation *op, mlir::Value ptr, mlir::ValueRange others, int64_t vector);

} // namespace nv_tileas

#endif
