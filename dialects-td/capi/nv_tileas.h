// C API of the nv_tileas dialect.
#ifndef TILEIRAS_CAPI_NV_TILEAS_H
#define TILEIRAS_CAPI_NV_TILEAS_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(NvTileAS, nv_tileas);

// What knows the matrix instructions and their fragments: calls `report` once if the instruction of a product does not
// exist for its types, or if an operand does not lie as the instruction takes it. Shapes and ranks have been verified
// before. Verifiers run on several threads at once.
typedef void (*TileirProductCheck)(MlirOperation product, MlirStringCallback report, void *data);

// Every nv_tileas dialect that is loaded by way of the registry verifies products with `check`.
MLIR_CAPI_EXPORTED void tileirNvTileASSetDotCheck(MlirDialectRegistry registry, TileirProductCheck check);

#ifdef __cplusplus
}
#endif
#endif
