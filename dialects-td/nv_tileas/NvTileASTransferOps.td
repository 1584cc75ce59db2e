// Ops of nv_tileas that stand for several simpler ones, or for nothing at run time: copies between memory spaces, gathers and
// scatters by offsets, new dimensions, registers under another type. Included by NvTileASOps.td, whose classes they use.
#ifndef NV_TILEAS_TRANSFER_OPS_TD
#define NV_TILEAS_TRANSFER_OPS_TD

def NvTileAS_CopyOp : NvTileAS_Op<"copy", NvTileAA_Transfer> {
  let summary = "a tensor from one memory space to another";
  let description = [{
    Tensors with a layout are in registers, a `memdesc` says where it is. The pairs are registers and shared memory, registers
    and tensor memory, shared and tensor memory, in both directions. What goes to registers is the result; what goes to
    memory overwrites `dest`. `tileas-materialize-convert-layout` makes copies between registers and shared memory
    `local_store` and `local_load`; no target uses tensor memory yet.

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
  let summary = "read elements at offsets from one pointer";
  let description = [{
    Element `i` of the result is what lies `offsets[i]` elements behind `base`; result, offsets, mask and fill values have one
    layout. `tileas-assign-load-store-layouts` makes it a `load` through `addptr`.
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
  let summary = "write elements at offsets from one pointer";
  let description = [{
    Element `i` of the value goes `offsets[i]` elements behind `base`. `tileas-assign-load-store-layouts` makes it a `store`
    through `addptr`.
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
  let summary = "a new dimension of extent one in front of dimension `axis`";
  let description = "Row-major indices of elements do not change, and so the layout does not.";
  let arguments = (ins NvTileAS_Tensor:$source, I64Attr:$axis);
  let results = (outs NvTileAS_Tensor:$result);
  let assemblyFormat = "$source `,` $axis attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def NvTileAS_ReinterpretOp : NvTileAS_Op<"reinterpret", NvTileAA_FixedLayouts, [Pure]> {
  let summary = "the registers of a tensor as those of another tensor";
  let description = [{
    Register `r` of each thread of the result is register `r` of the source; which element that is, is what the layout and shape of
    the result say. Nothing is moved. Both sides have one element type and as many registers and warps.
  }];
  let arguments = (ins NvTileAS_Tensor:$source);
  let results = (outs NvTileAS_Tensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

#endif
