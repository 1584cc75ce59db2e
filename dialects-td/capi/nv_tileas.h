// C API of the nv_tileas dialect.
#ifndef TILEIRAS_CAPI_NV_TILEAS_H
#define TILEIRAS_CAPI_NV_TILEAS_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(NvTileAS, nv_tileas);

#ifdef __cplusplus
}
#endif
#endif
