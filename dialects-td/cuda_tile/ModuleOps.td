//===- ModuleOps.td - Modules, globals and entries ---------*- tablegen -*-===//
#ifndef CUDA_TILE_MODULE_OPS_TD
#define CUDA_TILE_MODULE_OPS_TD

include "cuda_tile/CudaTileOpBase.td"

def CudaTile_ModuleOp : CudaTile_Op<"module",
    [IsolatedFromAbove, NoRegionArguments, SingleBlock, SymbolTable,
     Symbol, NoTerminator,
     RegionKindInterface, HasOnlyGraphRegion, CudaTile_RegionAsm]> {
  let summary = "a unit of globals and entries";
  let arguments = (ins SymbolNameAttr:$sym_name,
                       OptionalAttr<StrAttr>:$producer);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
}

def CudaTile_GlobalOp : CudaTile_Op<"global", [Symbol]> {
  let summary = "variable in global memory with an initial value";
  let description = [{
    `global @table <i32: [1, 2]> : tile<2xi32>`. `element_type` is present if
    the attribute holds only the bits of the elements, because it cannot
    represent their type.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
    CudaTile_DenseElementsAttr:$value,
    OptionalAttr<TypeAttr>:$element_type,
    DefaultValuedAttr<CudaTile_NonNegativeI64Attr, "0">:$alignment,
    UnitAttr:$constant,
    DefaultValuedAttr<CudaTile_SymbolVisibilityAttr,
                      "::cuda_tile::SymbolVisibility::Public">:$symbol_visibility);
  let assemblyFormat = [{
    custom<Visibility>($symbol_visibility) (`constant` $constant^)? $sym_name
    (`alignment` `=` $alignment^)? attr-dict custom<GlobalLiteral>($value, $element_type)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The type of the variable's elements.
    ::mlir::Type getVariableType() {
      return getElementType().value_or(getValue().getElementType());
    }
  }];
}

class CudaTile_FunctionOp<string mnemonic>
    : CudaTile_Op<mnemonic,
        [FunctionOpInterface, IsolatedFromAbove, SingleBlock,
         CudaTile_RegionAsm]> {
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  code functionMethods = [{
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() {
      return getFunctionType().getInputs();
    }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() {
      return getFunctionType().getResults();
    }
  }];
  let extraClassDeclaration = functionMethods;
}

def CudaTile_EntryOp : CudaTile_FunctionOp<"entry"> {
  let summary = "kernel that the host launches";
  let arguments = (ins SymbolNameAttr:$sym_name,
    TypeAttrOf<FunctionType>:$function_type,
    OptionalAttr<DictArrayAttr>:$arg_attrs,
    OptionalAttr<DictArrayAttr>:$res_attrs,
    OptionalAttr<CudaTile_OptimizationHintsAttr>:$optimization_hints);
}

class CudaTile_GridOp<string mnemonic, list<string> names>
    : CudaTile_Op<mnemonic, [Pure, CudaTile_SameType<names>]> {
  let assemblyFormat =
    "attr-dict `:` custom<BareType>(type($" # !head(names) # "))";
}
def CudaTile_GetTileBlockIdOp : CudaTile_GridOp<"get_tile_block_id",
    ["blockId_x", "blockId_y", "blockId_z"]> {
  let summary = "coordinates of this tile block in the grid";
  let results = (outs CudaTile_ScalarI32:$blockId_x,
                      CudaTile_ScalarI32:$blockId_y,
                      CudaTile_ScalarI32:$blockId_z);
}
def CudaTile_GetNumTileBlocksOp : CudaTile_GridOp<"get_num_tile_blocks",
    ["gridSize_x", "gridSize_y", "gridSize_z"]> {
  let summary = "extents of the grid";
  let results = (outs CudaTile_ScalarI32:$gridSize_x,
                      CudaTile_ScalarI32:$gridSize_y,
                      CudaTile_ScalarI32:$gridSize_z);
}

#endif // CUDA_TILE_MODULE_OPS_TD
