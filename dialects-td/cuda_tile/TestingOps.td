//===- TestingOps.td - Operations for tests only -----------*- tablegen -*-===//
//
// Not part of the public language. The operation exists only if testing
// operations were enabled before the dialect was loaded.
//
//===----------------------------------------------------------------------===//
#ifndef CUDA_TILE_TESTING_OPS_TD
#define CUDA_TILE_TESTING_OPS_TD

include "cuda_tile/ModuleOps.td"

def CudaTile_TestingFuncOp : CudaTile_FunctionOp<"testing$func"> {
  let summary = "function with any arguments and results, for tests";
  let arguments = (ins SymbolNameAttr:$sym_name,
    TypeAttrOf<FunctionType>:$function_type,
    OptionalAttr<DictArrayAttr>:$arg_attrs,
    OptionalAttr<DictArrayAttr>:$res_attrs);
}

#endif // CUDA_TILE_TESTING_OPS_TD
