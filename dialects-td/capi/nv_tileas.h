// C API of the nv_tileas dialect.
#ifndef TILEIRAS_CAPI_NV_TILEAS_H
#define TILEIRAS_CAPI_NV_TILEAS_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(NvTileAS, nv_tileas);

// The check of dots against the table of matrix instructions and their fragments. Calls `report` once if the
// instruction of a dot does not exist for its types, or if an operand does not have the layout that the instruction
// takes. Shapes and ranks have already been verified. Verifiers run on several threads concurrently.
typedef void (*TileirDotCheck)(MlirOperation product, MlirStringCallback report, void *data);

// Makes every nv_tileas dialect that is loaded through the registry verify dots with `check`.
MLIR_CAPI_EXPORTED void tileirNvTileASSetDotCheck(MlirDialectRegistry registry, TileirDotCheck check);

#ifdef __cplusplus
}
#endif
#endif
