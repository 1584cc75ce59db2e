//===- CountLoads.cpp - A custom pass on the dialects ---------------------===//
//
// Reports the number of loads in each entry, and fails if it exceeds an option.
//
//===----------------------------------------------------------------------===//
#include "cuda_tile/CudaTile.h"
#include "nv_tileaa/NvTileAA.h"
#include "nv_tileas/NvTileAS.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

using namespace mlir;

namespace {
struct CountLoads
    : public PassWrapper<CountLoads, OperationPass<cuda_tile::EntryOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CountLoads)

  CountLoads() = default;
  // A pass is copied for each thread that runs it; options are copied by MLIR.
  CountLoads(const CountLoads &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "count-loads"; }
  StringRef getDescription() const override { return "loads of each entry"; }

  void runOnOperation() override {
    int64_t loads = 0;
    getOperation().walk([&](Operation *op) {
      loads += isa<cuda_tile::LoadPtrTkoOp, cuda_tile::LoadViewTkoOp>(op);
    });
    getOperation().emitRemark()
        << "@" << getOperation().getSymName() << " has " << loads << " loads";
    if (loads > limit) {
      getOperation().emitError() << "more than " << limit.getValue() << " loads";
      signalPassFailure();
    }
  }

  Option<int64_t> limit{*this, "limit",
                        llvm::cl::desc("maximum number of loads in an entry"),
                        llvm::cl::init(100)};
};
} // namespace

extern "C" __attribute__((visibility("default"))) DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "count-loads", "0.1",
          [](DialectRegistry *registry) {
            registry->insert<cuda_tile::CudaTileDialect,
                             nv_tileaa::NvTileAADialect,
                             nv_tileas::NvTileASDialect>();
          }};
}

extern "C" __attribute__((visibility("default"))) PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "count-loads", "0.1",
          [] { PassRegistration<CountLoads>(); }};
}
