//===- CudaTileOps.td - Everything of the dialect ----------*- tablegen -*-===//
//
// The only file that TableGen is run on.
//
// The interfaces are defined here, before their users, because mlir-tblgen
// emits only interfaces that the main file itself defines. The other files are
// therefore only valid when included from this one.
//
//===----------------------------------------------------------------------===//
#ifndef CUDA_TILE_OPS_TD
#define CUDA_TILE_OPS_TD

include "cuda_tile/CudaTileDialect.td"

def CudaTile_TileViewInterface : TypeInterface<"TileView"> {
  let cppNamespace = "::cuda_tile";
  let description = [{
    A view divides a tensor into tiles and gives each tile an index. Loads and
    stores use only this interface, so a new kind of view needs no new memory
    operation.
  }];
  let methods = [
    InterfaceMethod<"Returns the number of coordinates that select one tile.",
      "int64_t", "getViewIndexRank">,
    InterfaceMethod<"Returns the type of the tile that one index selects.",
      "::mlir::ShapedType", "getViewTileType">,
    InterfaceMethod<[{
      Checks the types of the coordinates. An empty list is accepted: that the
      number of coordinates is right is checked by the operation.
    }], "::llvm::LogicalResult", "verifyIndexTypes",
      (ins "::llvm::function_ref<::mlir::InFlightDiagnostic()>":$emitError,
           "::mlir::TypeRange":$indexTypes)>
  ];
}

def CudaTile_AssumePredicateAttrInterface
    : AttrInterface<"AssumePredicateAttrInterface"> {
  let cppNamespace = "::cuda_tile";
  let description = [{
    A fact about a value that the program promises through `assume`. A violated
    promise is undefined behavior; nothing is checked at run time.
  }];
  let methods = [
    InterfaceMethod<"Checks that the predicate applies to the type of the value.",
      "::llvm::LogicalResult", "verifyWithAssumeOp",
      (ins "::mlir::Operation *":$assume, "::mlir::Type":$valueType)>
  ];
}

include "cuda_tile/ArithmeticOps.td"
include "cuda_tile/MathOps.td"
include "cuda_tile/ConversionOps.td"
include "cuda_tile/ShapeOps.td"
include "cuda_tile/MemoryOps.td"
include "cuda_tile/ViewOps.td"
include "cuda_tile/MatrixOps.td"
include "cuda_tile/AggregateOps.td"
include "cuda_tile/ControlFlowOps.td"
include "cuda_tile/ModuleOps.td"
include "cuda_tile/DebugOps.td"
include "cuda_tile/PreviewOps.td"
include "cuda_tile/TestingOps.td"

#endif // CUDA_TILE_OPS_TD
