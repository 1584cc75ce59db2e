//===- cuda_tile.h - C API of the cuda_tile dialect -----------------------===//
//
// What cannot be generated from the TableGen records. Accessors and builders of
// types, attributes and operations are generated elsewhere.
//
// No function here takes ownership of, or gives away, anything.
//
//===----------------------------------------------------------------------===//
#ifndef CUDA_TILE_CAPI_CUDA_TILE_H
#define CUDA_TILE_CAPI_CUDA_TILE_H

#include "mlir-c/IR.h"
#include "mlir-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(CUDATile, cuda_tile);

/// Whether optimisation hints that no target knows are reported as warnings, and
/// whether such a warning fails verification (only together with `warn`). Off by
/// default; process-wide.
MLIR_CAPI_EXPORTED void cudaTileSetHintChecks(bool warn, bool error);

/// Whether dialects that are loaded from now on have the operations that exist for
/// tests only. Off by default; process-wide.
MLIR_CAPI_EXPORTED void cudaTileRegisterTestingOps(bool enabled);

/// Whether the type implements the TileView interface.
MLIR_CAPI_EXPORTED bool cudaTileTypeIsATileView(MlirType type);
/// Number of coordinates that select a tile of the view. `view` must be one.
MLIR_CAPI_EXPORTED intptr_t cudaTileTileViewGetIndexRank(MlirType view);
/// Type of one tile of the view. `view` must be one.
MLIR_CAPI_EXPORTED MlirType cudaTileTileViewGetTileType(MlirType view);

/// Value of hint `name` for the target `arch` ("sm_90"): its own entry, else the
/// one called "default"; illegal values count as absent. Returns whether there is
/// one. `hints` must be an OptimizationHintsAttr.
MLIR_CAPI_EXPORTED bool cudaTileHintsGetInteger(MlirAttribute hints,
                                                MlirStringRef arch,
                                                MlirStringRef name,
                                                int64_t *value);
MLIR_CAPI_EXPORTED bool cudaTileHintsGetBool(MlirAttribute hints,
                                             MlirStringRef arch,
                                             MlirStringRef name, bool *value);

/// The DILocAttr inside a location (through call sites to the caller, fusions,
/// names and opaque locations), or a null attribute.
MLIR_CAPI_EXPORTED MlirAttribute
cudaTileLocationFindDebugLoc(MlirLocation location);
/// The location that a DILocAttr is.
MLIR_CAPI_EXPORTED MlirLocation cudaTileDebugLocAsLocation(MlirAttribute loc);
/// The subprogram around a scope, which is a subprogram or a lexical block.
MLIR_CAPI_EXPORTED MlirAttribute cudaTileScopeGetSubprogram(MlirAttribute scope);

/// Whether an operation has neither effects nor undefined behaviour, so that it
/// may be executed speculatively: what bodies of reduce and scan may hold.
MLIR_CAPI_EXPORTED bool cudaTileOperationIsPure(MlirOperation op);

#ifdef __cplusplus
}
#endif

#endif // CUDA_TILE_CAPI_CUDA_TILE_H
