//===- Plugin.cpp - The dialect as a plugin for the stock mlir-opt --------===//
//
// mlir-opt parses its options before it loads plugins, so the options of the
// dialect are environment variables here:
//   CUDA_TILE_TESTING_OPS=1          register the test ops
//   CUDA_TILE_HINTS=warn|error       report hints that no target supports
//
//===----------------------------------------------------------------------===//
#include "cuda_tile/CudaTile.h"

#include "mlir/Tools/Plugins/DialectPlugin.h"

#include <cstdlib>

static void registerDialect(mlir::DialectRegistry *registry) {
  auto get = [](const char *name) {
    const char *value = std::getenv(name);
    return llvm::StringRef(value ? value : "");
  };
  cuda_tile::setTestingOps(!get("CUDA_TILE_TESTING_OPS").empty());
  llvm::StringRef hints = get("CUDA_TILE_HINTS");
  cuda_tile::setHintChecks(/*warn=*/!hints.empty(),
                           /*error=*/hints == "error");
  registry->insert<cuda_tile::CudaTileDialect>();
}

extern "C" __attribute__((visibility("default")))
::mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "cuda_tile", "1.0", registerDialect};
}
