//===- CudaTileDialect.td - The cuda_tile dialect ----------*- tablegen -*-===//
#ifndef CUDA_TILE_DIALECT_TD
#define CUDA_TILE_DIALECT_TD

include "mlir/IR/OpBase.td"

def CudaTile_Dialect : Dialect {
  let name = "cuda_tile";
  let cppNamespace = "::cuda_tile";
  let summary = "Tile programs for CUDA devices";
  let description = [{
    The public language of CUDA Tile IR. A program operates on whole tiles of
    tensors and does not mention threads, memory spaces or synchronization
    within a tile block.

    Values are tiles (statically shaped, with power-of-two extents), tokens,
    which order memory accesses, and views, which describe how a tensor in
    global memory is divided into tiles. A program is a `cuda_tile.module` of
    globals and entries.

    The custom syntax of an operation may omit the prefix `!cuda_tile.` of
    types, and regions may omit the prefix `cuda_tile.` of operations.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = [{
    void registerTypes();
    void registerAttributes();
    void registerOperations();
    void registerInterfaces();
    // Names of this dialect's ops in the specification's documents.
    std::optional<ParseOpHook>
    getParseOperationHook(::llvm::StringRef name) const override;
    // Whether ops are printed under these names: the program comes from the
    // container that the documents describe.
    bool usesSpecificationNames = false;
  }];
}

#endif // CUDA_TILE_DIALECT_TD
