// Every pass: argument, anchor, options, statistics, documentation. The bodies are in src/passes/.
#ifndef TILEIRAS_PASSES_TD
#define TILEIRAS_PASSES_TD

include "mlir/Pass/PassBase.td"

def FuseFMA : Pass<"fuse-fma"> {
  let summary = "products that are added or subtracted become fused multiply-adds";
  let description = [{
    `addf (mulf a, b), c` and `addf c, (mulf a, b)` become `fma a, b, c`; `subf (mulf a, b), c` becomes
    `fma a, b, (negf c)`. The product must have no other use, and rounding and flushing must be the same in both
    operations. One rounding instead of two changes results, so no pipeline runs this pass unless asked to.
  }];
  let statistics = [
    Statistic<"numFused", "num-fused", "products fused">
  ];
  let dependentDialects = ["cuda_tile"];
}

def LoopSplit : Pass<"loop-split"> {
  let summary = "loops whose branches depend on where the induction variable is become two loops without the branch";
  let description = [{
    A `for` with an `if` whose condition compares the induction variable with a value from outside of the loop becomes
    two loops, which run one after the other: one in which the condition has its first value, one in which it has the
    other. Signedness of comparison and loop must agree. Bounds are computed so that nothing overflows.

    An `if` asks for it when one of its branches has at least `split-threshold` operations, or a load, a store, a matrix
    product, a reduction, an `if` or a `for`; with a threshold of 1 always, with 0 never. The integer attribute
    `cuda_tile.loop_split` on the `if`, the `for` or the function, the first of them that has one, replaces the option.
  }];
  let options = [
    Option<"splitThreshold", "split-threshold", "int64_t", "1", "operations in a branch that are worth a split, 0 for never">
  ];
  let statistics = [
    Statistic<"numSplit", "num-split", "loops split">
  ];
  let dependentDialects = ["cuda_tile"];
}

def SynthesizeDebugInfoScopes : Pass<"synthesize-debug-info-scopes", "cuda_tile::ModuleOp"> {
  let summary = "a debug scope for each function that has none";
  let description = [{
    Functions whose location has no `di_loc` get a subprogram, made of their name and file location, in a compile unit
    made of the module's file location; each operation in them gets a `di_loc` of its own file location, or of the
    function's, in that scope. Functions with debug information stay as they are.
  }];
  let dependentDialects = ["cuda_tile"];
}

def ConvertCudaTileToTileAA : Pass<"convert-cudatile-to-tileaa", "::mlir::ModuleOp"> {
  let summary = "public tile language to alias-aware tiles";
  let description = [{
    Every `cuda_tile.module` becomes a `gpu.module`, every entry a `nv_tileaa.func`. Tiles of rank zero become
    scalars, others tensors. Early exits (`break`, `continue`, `return`) become structured control flow.
  }];
  let dependentDialects = ["arith", "gpu", "math", "nv_tileaa", "scf", "ub"];
}

def ConvertTileAAToTileAS : Pass<"convert-tileaa-to-tileas", "::mlir::ModuleOp"> {
  let summary = "alias-aware tiles to assembler-near tiles in default layouts";
  let options = [
    Option<"numWarps", "num-warps", "int64_t", "4", "warps of a block, a power of two up to 32">
  ];
  let dependentDialects = ["arith", "math", "nv_tileaa", "nv_tileas", "scf", "ub"];
}

def TileASAssignLoadStoreLayouts : Pass<"tileas-assign-load-store-layouts", "::mlir::ModuleOp"> {
  let summary = "coalesced layouts, vector widths and bounds checks for global accesses";
  let description = [{
    Each access of global memory gets the layout whose warps touch the fewest sectors and the widest vector that
    alignment allows, between layout conversions that `tileas-remove-layout-conversions` then removes.
  }];
  let dependentDialects = ["nv_tileas"];
}

def TileASRemoveLayoutConversions : Pass<"tileas-remove-layout-conversions", "::mlir::ModuleOp"> {
  let summary = "propagates the layouts of accesses and drops the conversions that become the identity";
  let statistics = [
    Statistic<"numRemoved", "num-removed", "layout conversions removed">,
    Statistic<"numKept", "num-kept", "layout conversions left">
  ];
  let dependentDialects = ["nv_tileas"];
}

def TileASMaterializeConvertLayout : Pass<"tileas-materialize-convert-layout", "::mlir::ModuleOp"> {
  let summary = "layout conversions that cross threads go through swizzled shared memory";
  let description = [{
    A conversion that only permutes registers stays. Others become a store to and a load from shared memory, with barriers.
  }];
  let dependentDialects = ["nv_tileas"];
}

def TileASOrderMemory : Pass<"tileas-order-memory", "::mlir::ModuleOp"> {
  let summary = "barriers between token-ordered accesses that may touch the same bytes from different threads";
  let dependentDialects = ["nv_tileas"];
}

def TileASOptimizeAllocTensor : Pass<"tileas-optimize-alloc-tensor", "::mlir::ModuleOp"> {
  let summary = "byte offsets in shared memory by liveness";
  let dependentDialects = ["nv_tileas"];
}

def ConvertTileASToLLVM : Pass<"convert-tileas-to-llvm", "::mlir::ModuleOp"> {
  let summary = "assembler-near tiles to one thread's program";
  let description = [{
    A tensor becomes one SSA value for each element that the thread holds. Structured control flow becomes branches.
  }];
  let options = [
    Option<"computeCapability", "compute-capability", "std::string", "\"sm_100\"", "target, sm_NN">
  ];
  let dependentDialects = ["llvm", "nvvm"];
}

def TileIRAttachTarget : Pass<"tileir-attach-target", "::mlir::ModuleOp"> {
  let summary = "attaches the NVVM target to every gpu.module";
  let options = [
    Option<"computeCapability", "compute-capability", "std::string", "\"sm_100\"", "target, sm_NN">,
    Option<"optLevel", "opt-level", "int64_t", "2", "code generation level, 0 to 3">
  ];
  let dependentDialects = ["gpu", "nvvm"];
}

#endif
