// The nv_tileas dialect for C++ users.
#ifndef TILEIRAS_NV_TILEAS_H
#define TILEIRAS_NV_TILEAS_H

#include "capi/nv_tileas.h"
#include "nv_tileaa/NvTileAA.h"

#include "nv_tileas/NvTileASDialect.h.inc"
#include "nv_tileas/NvTileASEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "nv_tileas/NvTileASAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "nv_tileas/NvTileASTypes.h.inc"
#define GET_OP_CLASSES
#include "nv_tileas/NvTileASOps.h.inc"

namespace nv_tileas {
/// Lists of agents, such as `[<"consumers", warps = 8>, <"producer", warps = 4>]`.
mlir::ParseResult parseAgentList(mlir::AsmParser &parser, mlir::ArrayAttr &agents);
void printAgentList(mlir::AsmPrinter &printer, mlir::ArrayAttr agents);
mlir::LogicalResult verifyAgents(llvm::function_ref<mlir::InFlightDiagnostic()> emitError, mlir::ArrayAttr agents);
} // namespace nv_tileas

#endif
