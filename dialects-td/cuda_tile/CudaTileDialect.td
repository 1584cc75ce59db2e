//===- CudaTileDialect.td - The cuda_tile dialect ----------*- tablegen -*-===//
#ifndef CUDA_TILE_DIALECT_TD
#define CUDA_TILE_DIALECT_TD

include "mlir/IR/OpBase.td"

def CudaTile_Dialect : Dialect {
  let name = "cuda_tile";
  let cppNamespace = "::cuda_tile";
  let summary = "Tile programs for CUDA devices";
  let description = [{
    The public language of CUDA Tile IR: one program works on whole tiles of a
    tensor, and says nothing about threads, memory spaces or synchronisation
    inside a tile block.

    Values are tiles (statically shaped, every extent a power of two), tokens
    that order memory accesses, and views that describe how a tensor in global
    memory is cut into tiles. A program is a `cuda_tile.module` of globals and
    entries.

    Inside the custom syntax of an operation the prefix `!cuda_tile.` of types,
    and inside regions the prefix `cuda_tile.` of operations, may be left out.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = [{
    void registerTypes();
    void registerAttributes();
    void registerOperations();
    void registerInterfaces();
    // Names that the specification's documents have for ops of this dialect.
    std::optional<ParseOpHook>
    getParseOperationHook(::llvm::StringRef name) const override;
  }];
}

#endif // CUDA_TILE_DIALECT_TD
