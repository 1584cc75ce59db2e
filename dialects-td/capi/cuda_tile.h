//===- cuda_tile.h - C API of the cuda_tile dialect -----------------------===//
//
// The functions that are not generated from the TableGen records, unlike accessors
// and builders of types, attributes and operations.
//
// No function here takes or transfers ownership.
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

/// Sets whether optimization hints that no target knows are reported as warnings,
/// and whether such a warning fails verification (only together with `warn`). Off
/// by default; process-wide.
MLIR_CAPI_EXPORTED void cudaTileSetHintChecks(bool warn, bool error);
/// Whether this context prints operations under their names in the documents of the
/// specification.
MLIR_CAPI_EXPORTED void cudaTileUseSpecificationNames(MlirContext context,
                                                      bool enabled);

/// Sets whether dialects that are loaded from now on have the test-only operations.
/// Off by default; process-wide.
MLIR_CAPI_EXPORTED void cudaTileRegisterTestingOps(bool enabled);

/// Whether the type implements the TileView interface.
MLIR_CAPI_EXPORTED bool cudaTileTypeIsATileView(MlirType type);
/// Returns the number of coordinates that select a tile of `view`, which must be a
/// view.
MLIR_CAPI_EXPORTED intptr_t cudaTileTileViewGetIndexRank(MlirType view);
/// Returns the type of one tile of `view`, which must be a view.
MLIR_CAPI_EXPORTED MlirType cudaTileTileViewGetTileType(MlirType view);

/// Looks up hint `name` for the target `arch` ("sm_90"): its own entry, or else the
/// entry "default"; illegal values count as absent. Returns whether there is one.
/// `hints` must be an OptimizationHintsAttr.
MLIR_CAPI_EXPORTED bool cudaTileHintsGetInteger(MlirAttribute hints,
                                                MlirStringRef arch,
                                                MlirStringRef name,
                                                int64_t *value);
MLIR_CAPI_EXPORTED bool cudaTileHintsGetBool(MlirAttribute hints,
                                             MlirStringRef arch,
                                             MlirStringRef name, bool *value);

/// Returns the DILocAttr in a location (through the callers of call sites, fusions,
/// names and opaque locations), or a null attribute.
MLIR_CAPI_EXPORTED MlirAttribute
cudaTileLocationFindDebugLoc(MlirLocation location);
/// Returns a DILocAttr as a location.
MLIR_CAPI_EXPORTED MlirLocation cudaTileDebugLocAsLocation(MlirAttribute loc);
/// Returns the subprogram that contains a scope, which is a subprogram or a lexical
/// block.
MLIR_CAPI_EXPORTED MlirAttribute cudaTileScopeGetSubprogram(MlirAttribute scope);

/// Whether an operation has neither effects nor undefined behavior, so that it may
/// be speculated. Bodies of reduce and scan consist of such operations.
MLIR_CAPI_EXPORTED bool cudaTileOperationIsPure(MlirOperation op);

#ifdef __cplusplus
}
#endif

#endif // CUDA_TILE_CAPI_CUDA_TILE_H
