//===- ContractFloats.cpp - A custom pass inside tileiras -----------------===//
//
// Allows the contraction of multiplications and additions to fused
// multiply-adds, in all operations of the LLVM dialect with fast-math flags.
//
// A plugin of tileiras links the dialects of MLIR but not the dialects of Tile IR. It
// identifies their operations by name: `op->getName().getStringRef()`.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

using namespace mlir;

namespace {
struct ContractFloats : public PassWrapper<ContractFloats, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ContractFloats)

  StringRef getArgument() const override { return "contract-floats"; }
  StringRef getDescription() const override {
    return "let products and sums be contracted";
  }

  void runOnOperation() override {
    int64_t changed = 0;
    getOperation()->walk([&](LLVM::FastmathFlagsInterface op) {
      auto flags = LLVM::FastmathFlags::none;
      if (LLVM::FastmathFlagsAttr known = op.getFastmathAttr())
        flags = known.getValue();
      op->setAttr(op.getFastmathAttrName(),
                  LLVM::FastmathFlagsAttr::get(
                      &getContext(), flags | LLVM::FastmathFlags::contract));
      ++changed;
    });
    emitRemark(getOperation()->getLoc())
        << changed << " operations may be contracted";
  }
};
} // namespace

extern "C" __attribute__((visibility("default"))) PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "contract-floats", "0.1",
          [] { PassRegistration<ContractFloats>(); }};
}
