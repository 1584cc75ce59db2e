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

namespace nv_tileaa {
// The resources that ops read and write: see NvTileAAInterfaces.td.
struct GlobalMemory : mlir::SideEffects::Resource::Base<GlobalMemory> {
  llvm::StringRef getName() final { return "GlobalMemory"; }
};
struct GlobalMemoryAsyncProxy : mlir::SideEffects::Resource::Base<GlobalMemoryAsyncProxy> {
  llvm::StringRef getName() final { return "GlobalMemoryAsyncProxy"; }
};
struct SharedMemory : mlir::SideEffects::Resource::Base<SharedMemory> {
  llvm::StringRef getName() final { return "SharedMemory"; }
};
struct SharedMemoryAsyncProxy : mlir::SideEffects::Resource::Base<SharedMemoryAsyncProxy> {
  llvm::StringRef getName() final { return "SharedMemoryAsyncProxy"; }
};
struct LocalMemory : mlir::SideEffects::Resource::Base<LocalMemory> {
  llvm::StringRef getName() final { return "LocalMemory"; }
};
struct TensorMemory : mlir::SideEffects::Resource::Base<TensorMemory> {
  llvm::StringRef getName() final { return "TensorMemory"; }
};
struct Machine : mlir::SideEffects::Resource::Base<Machine> {
  llvm::StringRef getName() final { return "Machine"; }
};
} // namespace nv_tileaa

#include "nv_tileaa/NvTileAAOpInterfaces.h.inc"

#define GET_TYPEDEF_CLASSES
#include "nv_tileaa/NvTileAATypes.h.inc"
#define GET_ATTRDEF_CLASSES
#include "nv_tileaa/NvTileAAAttrs.h.inc"
#define GET_OP_CLASSES
#include "nv_tileaa/NvTileAAOps.h.inc"

namespace nv_tileaa {
// Checks of multicast ops, shared by both dialects: instructions exist for the elements, and for the kind of a load
// or an update of them.
mlir::LogicalResult verifyMultimemKind(mlir::Operation *op, AtomicKind kind, mlir::Type element, bool loads);
mlir::LogicalResult verifyMultimemElement(mlir::Operation *op, mlir::Type element);
} // namespace nv_tileaa

#endif
