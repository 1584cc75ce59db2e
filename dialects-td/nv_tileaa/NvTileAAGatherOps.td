// Ops of nv_tileaa that are shorthands for several simpler ops: gathers and scatters by offsets, histograms, new
// dimensions. Included by NvTileAAOps.td, which defines their classes.
#ifndef NV_TILEAA_GATHER_OPS_TD
#define NV_TILEAA_GATHER_OPS_TD

def NvTileAA_GatherLoadOp : NvTileAA_Op<"gather_load", NvTileAA_Access, [AttrSizedOperandSegments, MemoryEffects<[NvTileAA_ReadsGlobal]>]> {
  let summary = "reads elements at offsets from one pointer";
  let description = [{
    Element `i` of the result is the element at `base + offsets[i]`. Lanes whose mask is false read nothing and return
    `other`, or an unspecified value without it. `convert-tileaa-to-tileas` lowers it to a `load` through `addptr`.
  }];
  let arguments = (ins NvTileAA_PtrType:$base, RankedTensorOf<[AnySignlessInteger]>:$offsets,
      Optional<NvTileAA_I1>:$mask, Optional<NvTileAA_Value>:$other, Optional<NvTileAA_MemTokenType>:$token,
      NvTileAA_OrderingAttr:$ordering, OptionalAttr<NvTileAA_ScopeAttr>:$scope,
      OptionalAttr<DictionaryAttr>:$hints);
  let results = (outs NvTileAA_Value:$result, NvTileAA_MemTokenType:$resultToken);
  let assemblyFormat = [{
    $ordering (`scope` $scope^)? $base `[` $offsets `]` (`mask` $mask^ `:` type($mask))?
    (`other` $other^ `:` type($other))? (`token` $token^)? (`hints` $hints^)? attr-dict
    `:` type($base) `[` type($offsets) `]` `->` type($result)
  }];
  let hasVerifier = 1;
}

def NvTileAA_ScatterStoreOp : NvTileAA_Op<"scatter_store", NvTileAA_Access, [AttrSizedOperandSegments, MemoryEffects<[NvTileAA_WritesGlobal]>]> {
  let summary = "writes elements at offsets from one pointer";
  let description = [{
    Element `i` of the value is stored at `base + offsets[i]`. If several elements have the same address, any one of
    them remains. Lanes whose mask is false write nothing. `convert-tileaa-to-tileas` lowers it to a `store` through
    `addptr`.
  }];
  let arguments = (ins NvTileAA_Value:$value, NvTileAA_PtrType:$base, RankedTensorOf<[AnySignlessInteger]>:$offsets,
      Optional<NvTileAA_I1>:$mask, Optional<NvTileAA_MemTokenType>:$token,
      NvTileAA_OrderingAttr:$ordering, OptionalAttr<NvTileAA_ScopeAttr>:$scope,
      OptionalAttr<DictionaryAttr>:$hints);
  let results = (outs NvTileAA_MemTokenType:$resultToken);
  let assemblyFormat = [{
    $ordering (`scope` $scope^)? $value `,` $base `[` $offsets `]` (`mask` $mask^ `:` type($mask))?
    (`token` $token^)? (`hints` $hints^)? attr-dict `:` type($value) `,` type($base) `[` type($offsets) `]`
  }];
  let hasVerifier = 1;
}

def NvTileAA_HistogramOp : NvTileAA_Op<"histogram", NvTileAA_Reduction, [Pure]> {
  let summary = "counts the occurrences of each number, starting from zero";
  let description = "Element `b` of the result counts the elements equal to `b`. Out-of-range and masked-off elements are not counted.";
  let arguments = (ins RankedTensorOf<[AnySignlessInteger]>:$source, Optional<NvTileAA_I1>:$mask);
  let results = (outs RankedTensorOf<[AnySignlessInteger]>:$result);
  let assemblyFormat = "$source (`mask` $mask^ `:` type($mask))? attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def NvTileAA_ExpandDimsOp : NvTileAA_Op<"expand_dims", NvTileAA_Reshape, [Pure]> {
  let summary = "inserts a dimension of extent one before dimension `axis`";
  let arguments = (ins AnyRankedTensor:$source, I64Attr:$axis);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source `,` $axis attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

#endif
