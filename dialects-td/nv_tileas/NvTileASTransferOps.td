// Ops of nv_tileas that are shorthands for simpler ops or generate no code: copies between memory spaces, gathers and
// scatters by offsets, new dimensions, reinterpreted registers. Included by NvTileASOps.td, which defines their
// classes.
#ifndef NV_TILEAS_TRANSFER_OPS_TD
#define NV_TILEAS_TRANSFER_OPS_TD

def NvTileAS_CopyOp : NvTileAS_Op<"copy", NvTileAA_Transfer> {
  let summary = "copies a tensor from one memory space to another";
  let description = [{
    Tensors with a layout are in registers; a `memdesc` names its memory space. The op copies, in both directions,
    between registers and shared memory, registers and tensor memory, and shared and tensor memory. A copy to
    registers returns a result; a copy to memory overwrites `dest`. `tileas-materialize-convert-layout` lowers copies
    between registers and shared memory to `local_store` and `local_load`. The passes of the compiler build those two
    ops, and `tmem_store`, `tmem_load` and `tmem_copy` for tensor memory. `copy` is for programs that start as text.

    ```mlir
    nv_tileas.copy %x into %m : tensor<64xf32, #l> into !nv_tileas.memdesc<64xf32, #s>
    %y = nv_tileas.copy %m : !nv_tileas.memdesc<64xf32, #s> -> tensor<64xf32, #l>
    ```
  }];
  let arguments = (ins
      Arg<AnyTypeOf<[NvTileAS_Tensor, NvTileAS_MemDescType]>, "", [NvTileAA_ReadsShared, NvTileAA_ReadsTensor]>:$source,
      Arg<Optional<NvTileAS_MemDescType>, "", [NvTileAA_WritesShared, NvTileAA_WritesTensor]>:$dest);
  let results = (outs Optional<NvTileAS_Tensor>:$result);
  let assemblyFormat = [{
    $source (`into` $dest^)? attr-dict `:` type($source) (`into` type($dest)^)? (`->` type($result)^)?
  }];
  let hasVerifier = 1;
}

def NvTileAS_GatherLoadOp : NvTileAS_Op<"gather_load", NvTileAA_Access, [AttrSizedOperandSegments, MemoryEffects<[NvTileAA_ReadsGlobal]>]> {
  let summary = "reads elements at offsets from one pointer";
  let description = [{
    Element `i` of the result is the element at `base + offsets[i]`. Result, offsets, mask and fill values have the
    same layout. `tileas-assign-load-store-layouts` lowers it to a `load` through `addptr`.
  }];
  let arguments = (ins NvTileAA_PtrType:$base, NvTileAS_Tensor:$offsets, Optional<NvTileAS_Tensor>:$mask,
      Optional<NvTileAS_Tensor>:$other, Optional<NvTileAA_MemTokenType>:$token,
      NvTileAA_OrderingAttr:$ordering, OptionalAttr<NvTileAA_ScopeAttr>:$scope,
      OptionalAttr<DictionaryAttr>:$hints);
  let results = (outs NvTileAS_Tensor:$result, NvTileAA_MemTokenType:$resultToken);
  let assemblyFormat = [{
    $ordering (`scope` $scope^)? $base `[` $offsets `]` (`mask` $mask^ `:` type($mask))?
    (`other` $other^ `:` type($other))? (`token` $token^)? (`hints` $hints^)? attr-dict
    `:` type($base) `[` type($offsets) `]` `->` type($result)
  }];
  let hasVerifier = 1;
}

def NvTileAS_ScatterStoreOp : NvTileAS_Op<"scatter_store", NvTileAA_Access, [AttrSizedOperandSegments, MemoryEffects<[NvTileAA_WritesGlobal]>]> {
  let summary = "writes elements at offsets from one pointer";
  let description = [{
    Element `i` of the value is stored at `base + offsets[i]`. `tileas-assign-load-store-layouts` lowers it to a
    `store` through `addptr`.
  }];
  let arguments = (ins NvTileAS_Tensor:$value, NvTileAA_PtrType:$base, NvTileAS_Tensor:$offsets,
      Optional<NvTileAS_Tensor>:$mask, Optional<NvTileAA_MemTokenType>:$token,
      NvTileAA_OrderingAttr:$ordering, OptionalAttr<NvTileAA_ScopeAttr>:$scope,
      OptionalAttr<DictionaryAttr>:$hints);
  let results = (outs NvTileAA_MemTokenType:$resultToken);
  let assemblyFormat = [{
    $ordering (`scope` $scope^)? $value `,` $base `[` $offsets `]` (`mask` $mask^ `:` type($mask))?
    (`token` $token^)? (`hints` $hints^)? attr-dict `:` type($value) `,` type($base) `[` type($offsets) `]`
  }];
  let hasVerifier = 1;
}

def NvTileAS_ExpandDimsOp : NvTileAS_Op<"expand_dims", NvTileAA_Reshape, [Pure]> {
  let summary = "inserts a dimension of extent one before dimension `axis`";
  let description = "The row-major indices of elements do not change, so neither does the layout.";
  let arguments = (ins NvTileAS_Tensor:$source, I64Attr:$axis);
  let results = (outs NvTileAS_Tensor:$result);
  let assemblyFormat = "$source `,` $axis attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def NvTileAS_ReinterpretOp : NvTileAS_Op<"reinterpret", NvTileAA_FixedLayouts, [Pure]> {
  let summary = "reinterprets the registers of a tensor as another tensor";
  let description = [{
    In each thread, register `r` of the result is register `r` of the source; the layout and shape of the result
    determine which element it is. No data moves. Both sides have the same element type and the same numbers of
    registers and warps.
  }];
  let arguments = (ins NvTileAS_Tensor:$source);
  let results = (outs NvTileAS_Tensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

#endif
