// The nv_tileaa dialect for C++ users.
#ifndef TILEIRAS_NV_TILEAA_H
#define TILEIRAS_NV_TILEAA_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <optional>

#include "nv_tileaa/NvTileAADialect.h.inc"
#include "nv_tileaa/NvTileAAEnums.h.inc"
#define GET_TYPEDEF_CLASSES
#include "nv_tileaa/NvTileAATypes.h.inc"
#define GET_ATTRDEF_CLASSES
#include "nv_tileaa/NvTileAAAttrs.h.inc"
#define GET_OP_CLASSES
#include "nv_tileaa/NvTileAAOps.h.inc"

#endif
