// C API of the nv_tileaa dialect.
#ifndef TILEIRAS_CAPI_NV_TILEAA_H
#define TILEIRAS_CAPI_NV_TILEAA_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(NvTileAA, nv_tileaa);

#ifdef __cplusplus
}
#endif
#endif
