//===- CAPI.cpp - C API of the cuda_tile dialect --------------------------===//
#include "../../capi/cuda_tile.h"

#include "cuda_tile/CudaTile.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/CAPI/Support.h"

using namespace mlir;
using namespace cuda_tile;

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(CUDATile, cuda_tile,
                                      ::cuda_tile::CudaTileDialect)

void cudaTileSetHintChecks(bool warn, bool error) {
  setHintChecks(warn, error);
}
void cudaTileUseSpecificationNames(MlirContext context, bool enabled) {
  unwrap(context)
      ->getOrLoadDialect<CudaTileDialect>()
      ->usesSpecificationNames = enabled;
}
void cudaTileRegisterTestingOps(bool enabled) { setTestingOps(enabled); }

bool cudaTileTypeIsATileView(MlirType type) {
  return isa<TileView>(unwrap(type));
}
intptr_t cudaTileTileViewGetIndexRank(MlirType view) {
  return cast<TileView>(unwrap(view)).getViewIndexRank();
}
MlirType cudaTileTileViewGetTileType(MlirType view) {
  return wrap(cast<TileView>(unwrap(view)).getViewTileType());
}

bool cudaTileHintsGetInteger(MlirAttribute hints, MlirStringRef arch,
                             MlirStringRef name, int64_t *value) {
  auto found = cast<OptimizationHintsAttr>(unwrap(hints))
                   .getInteger(unwrap(arch), unwrap(name));
  if (found)
    *value = *found;
  return found.has_value();
}
bool cudaTileHintsGetBool(MlirAttribute hints, MlirStringRef arch,
                          MlirStringRef name, bool *value) {
  auto found = cast<OptimizationHintsAttr>(unwrap(hints))
                   .getBool(unwrap(arch), unwrap(name));
  if (found)
    *value = *found;
  return found.has_value();
}

MlirAttribute cudaTileLocationFindDebugLoc(MlirLocation location) {
  return wrap(Attribute(findDebugLoc(unwrap(location))));
}
MlirLocation cudaTileDebugLocAsLocation(MlirAttribute loc) {
  return wrap(Location(cast<DILocAttr>(unwrap(loc))));
}
MlirAttribute cudaTileScopeGetSubprogram(MlirAttribute scope) {
  return wrap(
      Attribute(cast<DILocalScopeAttr>(unwrap(scope)).getSubprogram()));
}

bool cudaTileOperationIsPure(MlirOperation op) { return isPure(unwrap(op)); }
