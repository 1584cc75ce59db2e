// The stock command-line mains (opt, LSP) over a registry made in Rust.
#include "capi/mlirx.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Wrap.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
using namespace mlir;

int mlirxOptMain(int argc, char **argv, const char *tool, MlirDialectRegistry r) {
  return asMainReturnCode(MlirOptMain(argc, argv, tool, *unwrap(r)));
}
int mlirxLspServerMain(int argc, char **argv, MlirDialectRegistry r) {
  return asMainReturnCode(MlirLspServerMain(argc, argv, *unwrap(r)));
}
void mlirxRegisterUpstreamPasses(void) { LLVM::registerLLVMPasses(); }
