//===- ViewOps.td - Views and access through them ----------*- tablegen -*-===//
#ifndef CUDA_TILE_VIEW_OPS_TD
#define CUDA_TILE_VIEW_OPS_TD

include "cuda_tile/CudaTileOpBase.td"

def CudaTile_MakeTensorViewOp : CudaTile_Op<"make_tensor_view",
    [AttrSizedOperandSegments, NoMemoryEffect, CudaTile_NamesResult]> {
  let summary = "creates a strided tensor from a base address, sizes and strides";
  let description = [{
    ```mlir
    make_tensor_view %p, shape = [%n, 64], strides = [64, 1]
      : tile<i32> -> tensor_view<?x64xf32, strides=[64,1]>
    ```
    Sizes and strides are unsigned.
  }];
  let arguments = (ins CudaTile_ScalarPtr:$base,
                       Variadic<CudaTile_ScalarInt>:$dynamicShape,
                       Variadic<CudaTile_ScalarInt>:$dynamicStrides);
  let results = (outs CudaTile_TensorView:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

class CudaTile_MakeViewOp<string mnemonic, string directive, Type view>
    : CudaTile_Op<mnemonic, [Pure, CudaTile_NamesResult]> {
  let arguments = (ins CudaTile_TensorView:$tensor_view);
  let results = (outs view:$result);
  let assemblyFormat = "$tensor_view attr-dict `:` custom<" # directive #
                       ">(type($tensor_view), type($result))";
  let hasVerifier = 1;
}
def CudaTile_MakePartitionViewOp
    : CudaTile_MakeViewOp<"make_partition_view", "PartitionViewType",
                          CudaTile_PartitionView> {
  let summary = "divides a tensor into disjoint tiles";
}
def CudaTile_MakeStridedViewOp
    : CudaTile_MakeViewOp<"make_strided_view", "StridedViewType",
                          CudaTile_StridedView> {
  let summary = "traverses a tensor by tiles at arbitrary distances";
}
def CudaTile_MakeGatherScatterViewOp
    : CudaTile_MakeViewOp<"make_gather_scatter_view", "GatherScatterViewType",
                          CudaTile_GatherScatterView> {
  let summary = "selects rows of a tensor by an index tile";
}

def CudaTile_LoadViewTkoOp : CudaTile_Op<"load_view_tko",
    [AttrSizedOperandSegments]> {
  let summary = "loads one tile of a view";
  let description = [{
    `inbounds` promises, per dimension of the index, that the tile is within
    the view; a violated promise is undefined behavior. In the other dimensions,
    out-of-bounds elements are padded on loads.
  }];
  let arguments = (ins
    CudaTile_MemoryOrderingSemantics:$memory_ordering_semantics,
    OptionalAttr<CudaTile_MemoryScope>:$memory_scope,
    CudaTile_AnyTileView:$view, Variadic<CudaTile_IntTile>:$index,
    Optional<CudaTile_Token>:$token,
    OptionalAttr<CudaTile_OptimizationHintsAttr>:$optimization_hints,
    OptionalAttr<DenseBoolArrayAttr>:$inbounds);
  let results = (outs CudaTile_AnyTile:$tile, CudaTile_Token:$result_token);
  let assemblyFormat = [{
    custom<MemoryAttributes>($memory_ordering_semantics, $memory_scope)
    $view `` `[` $index `]` (`token` `=` custom<Operand>($token)^)?
    (`optimization_hints` `=` $optimization_hints^)?
    (`inbounds` `=` $inbounds^)? attr-dict-with-keyword
    `:` custom<BareType>(type($view))
    `` custom<IndexTypes>(ref($index), type($index))
    `->` custom<BareType>(type($tile)) `,`
    custom<BareType>(type($result_token))
  }];
  let hasVerifier = 1;
}

def CudaTile_StoreViewTkoOp : CudaTile_Op<"store_view_tko",
    [AttrSizedOperandSegments]> {
  let summary = "stores one tile of a view";
  let description = [{
    `inbounds` promises, per dimension of the index, that the tile is within
    the view; a violated promise is undefined behavior. In the other dimensions,
    out-of-bounds elements are not stored.
  }];
  let arguments = (ins
    CudaTile_MemoryOrderingSemantics:$memory_ordering_semantics,
    OptionalAttr<CudaTile_MemoryScope>:$memory_scope,
    CudaTile_AnyTile:$tile, CudaTile_AnyTileView:$view,
    Variadic<CudaTile_IntTile>:$index, Optional<CudaTile_Token>:$token,
    OptionalAttr<CudaTile_OptimizationHintsAttr>:$optimization_hints,
    OptionalAttr<DenseBoolArrayAttr>:$inbounds);
  let results = (outs CudaTile_Token:$result_token);
  let assemblyFormat = [{
    custom<MemoryAttributes>($memory_ordering_semantics, $memory_scope)
    $tile `,` $view `` `[` $index `]` (`token` `=` custom<Operand>($token)^)?
    (`optimization_hints` `=` $optimization_hints^)?
    (`inbounds` `=` $inbounds^)? attr-dict-with-keyword
    `:` custom<BareType>(type($tile)) `,` custom<BareType>(type($view))
    `` custom<IndexTypes>(ref($index), type($index))
    `->` custom<BareType>(type($result_token))
  }];
  let hasVerifier = 1;
}

def CudaTile_AtomicRedViewTkoOp : CudaTile_Op<"atomic_red_view_tko",
    [AttrSizedOperandSegments]> {
  let summary = "atomic update of one tile of a view, which returns no values";
  let arguments = (ins
    CudaTile_MemoryOrderingSemantics:$memory_ordering_semantics,
    CudaTile_MemoryScope:$memory_scope,
    CudaTile_AnyTileView:$view, Variadic<CudaTile_IntTile>:$index,
    CudaTile_AtomicRMWMode:$mode, CudaTile_AnyTile:$value,
    Optional<CudaTile_Token>:$token,
    OptionalAttr<DenseBoolArrayAttr>:$inbounds);
  let results = (outs CudaTile_Token:$result_token);
  let assemblyFormat = [{
    $memory_ordering_semantics $memory_scope
    $view `` `[` $index `]` `,` $mode `,` $value (`token` `=` custom<Operand>($token)^)?
    (`inbounds` `=` $inbounds^)? attr-dict-with-keyword
    `:` custom<BareType>(type($value)) `,` custom<BareType>(type($view))
    `` custom<IndexTypes>(ref($index), type($index))
    `->` custom<BareType>(type($result_token))
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Views of multicast memory
//===----------------------------------------------------------------------===//

def CudaTile_MultimemLoadReduceViewTkoOp
    : CudaTile_Op<"multimem_load_reduce_view_tko",
        [AttrSizedOperandSegments]> {
  let summary = "loads one tile from each memory of a multicast object and combines them";
  let description = [{
    The view is of multicast pointers. For each element, `reduction` combines
    the values in all memories of the object.
  }];
  let arguments = (ins
    CudaTile_MemoryOrderingSemantics:$memory_ordering_semantics,
    OptionalAttr<CudaTile_MemoryScope>:$memory_scope,
    CudaTile_AnyTileView:$view, Variadic<CudaTile_IntTile>:$index,
    Optional<CudaTile_Token>:$token,
    DefaultValuedAttr<CudaTile_MultimemReductionKindAttr,
        "::cuda_tile::MultimemReductionKind::Add">:$reduction,
    OptionalAttr<DenseBoolArrayAttr>:$inbounds);
  let results = (outs CudaTile_AnyTile:$reduced_values,
                      CudaTile_Token:$result_token);
  let assemblyFormat = [{
    custom<MemoryAttributes>($memory_ordering_semantics, $memory_scope)
    $view `` `[` $index `]` (`token` `=` custom<Operand>($token)^)?
    custom<Inbounds>($inbounds) attr-dict-with-keyword
    `:` custom<BareType>(type($view))
    `` custom<IndexAndTokenTypes>(ref($index), type($index), ref($token))
    `->` custom<BareType>(type($reduced_values)) `,`
    custom<BareType>(type($result_token))
  }];
  let hasVerifier = 1;
}

def CudaTile_MultimemReduceViewTkoOp
    : CudaTile_Op<"multimem_reduce_view_tko", [AttrSizedOperandSegments]> {
  let summary = "updates one tile in each memory of a multicast object";
  let description = [{
    The view is of multicast pointers. `reduction` combines the tile into each
    memory of the object.
  }];
  let arguments = (ins
    CudaTile_MemoryOrderingSemantics:$memory_ordering_semantics,
    CudaTile_MemoryScope:$memory_scope,
    CudaTile_AnyTileView:$view, CudaTile_AnyTile:$tile,
    Variadic<CudaTile_IntTile>:$index, Optional<CudaTile_Token>:$token,
    DefaultValuedAttr<CudaTile_MultimemReductionKindAttr,
        "::cuda_tile::MultimemReductionKind::Add">:$reduction,
    OptionalAttr<DenseBoolArrayAttr>:$inbounds);
  let results = (outs CudaTile_Token:$result_token);
  let assemblyFormat = [{
    $memory_ordering_semantics $memory_scope
    $view `,` $tile `` `[` $index `]` (`token` `=` custom<Operand>($token)^)?
    custom<Inbounds>($inbounds) attr-dict-with-keyword
    `:` custom<BareType>(type($view)) `,` custom<BareType>(type($tile))
    `` custom<IndexAndTokenTypes>(ref($index), type($index), ref($token))
    `->` custom<BareType>(type($result_token))
  }];
  let hasVerifier = 1;
}

def CudaTile_MultimemStoreViewTkoOp
    : CudaTile_Op<"multimem_store_view_tko", [AttrSizedOperandSegments]> {
  let summary = "stores one tile to each memory of a multicast object";
  let description = "The view is of multicast pointers.";
  let arguments = (ins
    CudaTile_MemoryOrderingSemantics:$memory_ordering_semantics,
    OptionalAttr<CudaTile_MemoryScope>:$memory_scope,
    CudaTile_AnyTileView:$view, CudaTile_AnyTile:$tile,
    Variadic<CudaTile_IntTile>:$index, Optional<CudaTile_Token>:$token,
    OptionalAttr<DenseBoolArrayAttr>:$inbounds);
  let results = (outs CudaTile_Token:$result_token);
  let assemblyFormat = [{
    custom<MemoryAttributes>($memory_ordering_semantics, $memory_scope)
    $view `,` $tile `` `[` $index `]` (`token` `=` custom<Operand>($token)^)?
    custom<Inbounds>($inbounds) attr-dict-with-keyword
    `:` custom<BareType>(type($view)) `,` custom<BareType>(type($tile))
    `` custom<IndexAndTokenTypes>(ref($index), type($index), ref($token))
    `->` custom<BareType>(type($result_token))
  }];
  let hasVerifier = 1;
}

class CudaTile_ShapeQueryOp<string mnemonic, Type source>
    : CudaTile_Op<mnemonic, [NoMemoryEffect]> {
  let arguments = (ins source:$src);
  let results = (outs Variadic<CudaTile_ScalarInt>:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}
def CudaTile_GetTensorShapeOp
    : CudaTile_ShapeQueryOp<"get_tensor_shape", CudaTile_TensorView> {
  let summary = "sizes of a tensor";
}
def CudaTile_GetIndexSpaceShapeOp
    : CudaTile_ShapeQueryOp<"get_index_space_shape", CudaTile_AnyTileView> {
  let summary = "number of tiles of a view along each dimension";
}

#endif // CUDA_TILE_VIEW_OPS_TD
