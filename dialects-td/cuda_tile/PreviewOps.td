//===- PreviewOps.td - Calls of library functions ----------*- tablegen -*-===//
//
// The operations of the preview feature `simt`.
//
//===----------------------------------------------------------------------===//
#ifndef CUDA_TILE_PREVIEW_OPS_TD
#define CUDA_TILE_PREVIEW_OPS_TD

include "cuda_tile/ModuleOps.td"
include "cuda_tile/PreviewAttrs.td"

def CudaTile_ExprArrayAttr : TypedArrayAttrBase<
    Attr<CPred<"::cuda_tile::isSymbolicExpr($_self)">,
         "symbolic expression attribute">,
    "array of symbolic expression attribute values">;
def CudaTile_ConstParamArrayAttr : TypedArrayAttrBase<
    Attr<CPred<"::llvm::isa<::cuda_tile::ConstParamAttr>($_self)">,
         "Compile-time constant parameter declaration">,
    "array of Compile-time constant parameter declaration values">;

def CudaTile_PreviewCallOp : CudaTile_Op<"preview$call"> {
  let summary = "call of a library function";
  let description = [{
    `preview$call @f<[4]>(%tile, %token)`. The operands without the tokens are
    the parameters of the function. The results without the tokens are its `out`
    and `inout` parameters. Tokens only order the call.
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee,
    CudaTile_ExprArrayAttr:$const_args, OptionalAttr<DictArrayAttr>:$arg_attrs,
    OptionalAttr<DictArrayAttr>:$res_attrs, Variadic<AnyType>:$operands);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $callee `` custom<ConstArgs>($const_args) `` `(` $operands `)` attr-dict `:`
    functional-type($operands, $results)
  }];
}

class CudaTile_LibraryFunctionOp<string mnemonic>
    : CudaTile_Op<mnemonic, [FunctionOpInterface, IsolatedFromAbove]> {
  let regions = (region AnyRegion:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Region *getCallableRegion() { return nullptr; }
    bool isDeclaration() { return getBody().empty(); }
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() {
      return getFunctionType().getInputs();
    }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() {
      return getFunctionType().getResults();
    }
  }];
}

def CudaTile_PreviewFuncOp : CudaTile_LibraryFunctionOp<"preview$func"> {
  let summary = "declaration of a library function";
  let description = [{
    `preview$func extern @f<[N: index]>(%arg0: tile<32xf32> {...}) -> ...`. Each
    parameter has an access. The results are the `out` and `inout` parameters.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
    TypeAttrOf<FunctionType>:$function_type,
    OptionalAttr<DictArrayAttr>:$arg_attrs,
    OptionalAttr<DictArrayAttr>:$res_attrs,
    CudaTile_ConstParamArrayAttr:$const_params,
    OptionalAttr<StrAttr>:$sym_visibility);
}

def CudaTile_PreviewExternImplOp
    : CudaTile_LibraryFunctionOp<"preview$extern_impl"> {
  let summary = "implementation of a library function by threads";
  let description = [{
    `@sym implements @f` says that the code has a function `sym`, which each
    participating thread calls with addresses of its fragments.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
    FlatSymbolRefAttr:$implements,
    OptionalAttr<CudaTile_ConstParamArrayAttr>:$const_params,
    OptionalAttr<CudaTile_ExprArrayAttr>:$const_args,
    TypeAttrOf<FunctionType>:$function_type,
    OptionalAttr<DictArrayAttr>:$arg_attrs,
    OptionalAttr<DictArrayAttr>:$res_attrs,
    OptionalAttr<CudaTile_ScratchAttr>:$scratch_smem,
    OptionalAttr<DictionaryAttr>:$config,
    OptionalAttr<StrArrayAttr>:$arch,
    OptionalAttr<DictionaryAttr>:$frontendABI,
    OptionalAttr<CudaTile_PreviewSyncAttr>:$synchronization,
    OptionalAttr<I64Attr>:$provider_score,
    OptionalAttr<StrAttr>:$sym_visibility);
}

#endif // CUDA_TILE_PREVIEW_OPS_TD
