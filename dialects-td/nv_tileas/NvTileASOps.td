// The ops of nv_tileas.
#ifndef NV_TILEAS_OPS_TD
#define NV_TILEAS_OPS_TD

include "nv_tileas/NvTileASDialect.td"
include "nv_tileaa/NvTileAADialect.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// `named` is the name of the result in text, by default the name of the source's value.
class NvTileAS_Op<string mnemonic, NvTileAA_Behaviour what, list<Trait> traits = [], string named = "">
    : Op<NvTileAS_Dialect, mnemonic, traits # [TileOpInterface] # !if(!empty(named), [], [OpAsmOpInterface])> {
  NvTileAA_Behaviour behaviour = what;
  string moreDeclarations = "";
  string resultName = !if(!empty(named), "",
      "void getAsmResultNames(::mlir::OpAsmSetValueNameFn set) { set(getOperation()->getResult(0), \"" # named # "\"); }\n");
  let extraClassDeclaration = behaviour.declaration # resultName # moreDeclarations;
}

// An op that orders the accesses of threads.
class NvTileAS_SyncOp<string mnemonic, NvTileAA_Behaviour what, I32EnumAttrCase kind, I32EnumAttrCase scope,
                      list<Trait> traits = []> : NvTileAS_Op<mnemonic, what, traits # [SyncOpInterface]> {
  string syncKind = kind.symbol;
  string syncScope = scope.symbol;
  let moreDeclarations =
      "::nv_tileaa::SyncKind getSyncKind() { return ::nv_tileaa::SyncKind::" # syncKind # "; }\n"
      # "::nv_tileaa::SyncScope getSyncScope() { return ::nv_tileaa::SyncScope::" # syncScope # "; }\n";
}

// Operands in shared memory, with the effects of the op on them.
class NvTileAS_SourceStorage<Constraint type> : Arg<type, "", [NvTileAA_ReadsShared]>;
class NvTileAS_DestStorage<Constraint type> : Arg<type, "", [NvTileAA_WritesShared]>;
class NvTileAS_ProxySourceStorage<Constraint type> : Arg<type, "", [NvTileAA_ReadsSharedAsyncProxy]>;
class NvTileAS_ProxyDestStorage<Constraint type> : Arg<type, "", [NvTileAA_WritesSharedAsyncProxy]>;
class NvTileAS_ScratchStorage<Constraint type> : Arg<type, "", [NvTileAA_ReadsShared, NvTileAA_WritesShared]>;

def NvTileAS_HasLayout : CPred<
    "::llvm::isa_and_nonnull<::nv_tileas::LayoutAttr>(::llvm::cast<::mlir::RankedTensorType>($_self).getEncoding())">;
def NvTileAS_Tensor : Type<And<[AnyRankedTensor.predicate, NvTileAS_HasLayout]>,
    "tensor with a layout", "::mlir::RankedTensorType">;
def NvTileAS_Scalar : AnyTypeOf<[AnyFloat, AnySignlessInteger, NvTileAA_PtrType], "number or pointer">;
def NvTileAS_Value : AnyTypeOf<[NvTileAS_Scalar, NvTileAS_Tensor], "scalar or tensor with a layout">;
def NvTileAS_TensorOrArray : AnyTypeOf<[NvTileAS_Tensor, NvTileAS_RegisterArrayType],
    "tensor with a layout, in registers or in local memory">;

//===-- promises ------------------------------------------------------------//

def NvTileAS_AssumeOp : NvTileAS_Op<"assume", NvTileAA_Address, [Pure]> {
  let summary = "identity of scalars of one type that carries promises about each";
  let description = [{
    Each result is the operand of the same number. `predicates` are assume predicates of `cuda_tile`, which hold in this
    order. A violated promise is undefined behavior. `tileas-hoist-scalars` merges `nv_tileaa.assume` ops into this op.

    ```mlir
    %1:2 = nv_tileas.assume [#cuda_tile.bounded<0, ?>, #cuda_tile.div_by<16>], %m, %n : i32
    ```
  }];
  let arguments = (ins ArrayAttr:$predicates, Variadic<NvTileAS_Scalar>:$values);
  let results = (outs Variadic<NvTileAS_Scalar>:$results);
  let assemblyFormat = "$predicates `,` $values attr-dict `:` custom<OneType>(ref($values), type($values), type($results))";
  let hasVerifier = 1;
}

//===-- shapes: the source's layout determines the result's ------------------//

def NvTileAS_MakeRangeOp : NvTileAS_Op<"make_range", NvTileAA_Leaf, [Pure]> {
  let summary = "0, 1, 2, ... as a tensor of rank one";
  let results = (outs NvTileAS_Tensor:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

class NvTileAS_ShapeOp<string mnemonic, NvTileAA_Behaviour what, string text> : NvTileAS_Op<mnemonic, what, [Pure]> {
  let summary = text;
  let arguments = (ins NvTileAS_Tensor:$source);
  let results = (outs NvTileAS_Tensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}
def NvTileAS_SplatOp : NvTileAS_Op<"splat", NvTileAA_Leaf, [Pure]> {
  let summary = "tensor filled with one scalar";
  let arguments = (ins NvTileAS_Scalar:$source);
  let results = (outs NvTileAS_Tensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
}
def NvTileAS_UnsplatOp : NvTileAS_Op<"unsplat", NvTileAA_Leaf, [Pure]> {
  let summary = "the element of a one-element tensor, in every thread";
  let arguments = (ins NvTileAS_Tensor:$source);
  let results = (outs NvTileAS_Scalar:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
}
def NvTileAS_BroadcastOp : NvTileAS_ShapeOp<"broadcast", NvTileAA_Broadcasting, "repeats the source along dimensions of extent one">;
def NvTileAS_ViewOp : NvTileAS_ShapeOp<"view", NvTileAA_Reshape, "the same elements in row-major order in another shape">;
def NvTileAS_ConvertLayoutOp : NvTileAS_ShapeOp<"convert_layout", NvTileAA_Conversion, "the same tensor in another layout">;
def NvTileAS_PermuteOp : NvTileAS_Op<"permute", NvTileAA_Permutation, [Pure]> {
  let summary = "reorders the dimensions: result dimension i is source dimension order[i]";
  let arguments = (ins NvTileAS_Tensor:$source, DenseI32ArrayAttr:$order);
  let results = (outs NvTileAS_Tensor:$result);
  let assemblyFormat = "$source $order attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

//===-- global memory -------------------------------------------------------//

def NvTileAS_TiledLoadOp : NvTileAS_Op<"tiled_load", NvTileAA_Access, [AttrSizedOperandSegments, MemoryEffects<[NvTileAA_ReadsGlobal]>]> {
  let summary = "reads one tile of a view, `vector` elements at a time";
  let arguments = (ins NvTileAA_TiledViewType:$view, Variadic<AnyType>:$indices,
      Optional<NvTileAA_MemTokenType>:$token,
      NvTileAA_OrderingAttr:$ordering, OptionalAttr<NvTileAA_ScopeAttr>:$scope,
      OptionalAttr<DictionaryAttr>:$hints,
      ConfinedAttr<I64Attr, [IntPositive]>:$vector, NvTileAS_BoundsAttr:$bounds,
      OptionalAttr<DenseBoolArrayAttr>:$inBounds);
  let results = (outs NvTileAS_Value:$result, NvTileAA_MemTokenType:$resultToken);
  let assemblyFormat = [{
    $ordering (`scope` $scope^)? $view `[` $indices `]` (`token` $token^)? (`hints` $hints^)?
    `vector` $vector `bounds` $bounds (`in_bounds` $inBounds^)? attr-dict `:` type($view) `[` type($indices) `]` `->` type($result)
  }];
  let hasVerifier = 1;
}

def NvTileAS_TiledStoreOp : NvTileAS_Op<"tiled_store", NvTileAA_Access, [AttrSizedOperandSegments, MemoryEffects<[NvTileAA_WritesGlobal]>]> {
  let summary = "writes one tile of a view, `vector` elements at a time";
  let arguments = (ins NvTileAS_Value:$value, NvTileAA_TiledViewType:$view, Variadic<AnyType>:$indices,
      Optional<NvTileAA_MemTokenType>:$token,
      NvTileAA_OrderingAttr:$ordering, OptionalAttr<NvTileAA_ScopeAttr>:$scope,
      OptionalAttr<DictionaryAttr>:$hints,
      ConfinedAttr<I64Attr, [IntPositive]>:$vector, NvTileAS_BoundsAttr:$bounds,
      OptionalAttr<DenseBoolArrayAttr>:$inBounds);
  let results = (outs NvTileAA_MemTokenType:$resultToken);
  let assemblyFormat = [{
    $ordering (`scope` $scope^)? $value `,` $view `[` $indices `]` (`token` $token^)? (`hints` $hints^)?
    `vector` $vector `bounds` $bounds (`in_bounds` $inBounds^)? attr-dict `:` type($value) `,` type($view) `[` type($indices) `]`
  }];
  let hasVerifier = 1;
}

def NvTileAS_LoadOp : NvTileAS_Op<"load", NvTileAA_Access, [AttrSizedOperandSegments, MemoryEffects<[NvTileAA_ReadsGlobal]>]> {
  let summary = "reads through pointers, `vector` adjacent elements along dimension `along` at a time";
  let arguments = (ins NvTileAS_Value:$ptr, Optional<NvTileAS_Value>:$mask, Optional<NvTileAS_Value>:$other,
      Optional<NvTileAA_MemTokenType>:$token,
      NvTileAA_OrderingAttr:$ordering, OptionalAttr<NvTileAA_ScopeAttr>:$scope,
      OptionalAttr<DictionaryAttr>:$hints, ConfinedAttr<I64Attr, [IntPositive]>:$vector,
      DefaultValuedAttr<I64Attr, "0">:$along);
  let results = (outs NvTileAS_Value:$result, NvTileAA_MemTokenType:$resultToken);
  let assemblyFormat = [{
    $ordering (`scope` $scope^)? $ptr (`mask` $mask^ `:` type($mask))? (`other` $other^ `:` type($other))?
    (`token` $token^)? (`hints` $hints^)? `vector` $vector (`along` $along^)? attr-dict `:` type($ptr) `->` type($result)
  }];
  let hasVerifier = 1;
}

def NvTileAS_StoreOp : NvTileAS_Op<"store", NvTileAA_Access, [AttrSizedOperandSegments, MemoryEffects<[NvTileAA_WritesGlobal]>]> {
  let summary = "writes through pointers, `vector` adjacent elements along dimension `along` at a time";
  let arguments = (ins NvTileAS_Value:$ptr, NvTileAS_Value:$value, Optional<NvTileAS_Value>:$mask,
      Optional<NvTileAA_MemTokenType>:$token,
      NvTileAA_OrderingAttr:$ordering, OptionalAttr<NvTileAA_ScopeAttr>:$scope,
      OptionalAttr<DictionaryAttr>:$hints, ConfinedAttr<I64Attr, [IntPositive]>:$vector,
      DefaultValuedAttr<I64Attr, "0">:$along);
  let results = (outs NvTileAA_MemTokenType:$resultToken);
  let assemblyFormat = [{
    $ordering (`scope` $scope^)? $ptr `,` $value (`mask` $mask^ `:` type($mask))?
    (`token` $token^)? (`hints` $hints^)? `vector` $vector (`along` $along^)? attr-dict `:` type($ptr) `,` type($value)
  }];
  let hasVerifier = 1;
}

//===-- shared memory -------------------------------------------------------//

def NvTileAS_AllocTensorOp : NvTileAS_Op<"alloc_tensor", NvTileAA_Program, [MemoryEffects<[NvTileAA_AllocatesShared]>]> {
  let summary = "allocates shared memory or tensor memory for a tensor";
  let description = [{
    `offset` is the byte offset in the CTA's shared memory, or the first column of its tensor memory. It is assigned by
    `tileas-optimize-alloc-tensor`. An allocation in tensor memory follows `tmem_allocate` and a barrier, at the top
    level of the kernel.
  }];
  let arguments = (ins OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$offset);
  let results = (outs NvTileAS_MemDescType:$result);
  let assemblyFormat = "(`offset` $offset^)? attr-dict `:` type($result)";
}

def NvTileAS_LocalStoreOp : NvTileAS_Op<"local_store", NvTileAA_FixedLayouts> {
  let summary = "stores a tensor to shared memory, `vector` elements at a time";
  let arguments = (ins NvTileAS_Tensor:$source, NvTileAS_DestStorage<NvTileAS_MemDescType>:$dest,
      ConfinedAttr<I64Attr, [IntPositive]>:$vector);
  let assemblyFormat = "$source `,` $dest `vector` $vector attr-dict `:` type($source) `,` type($dest)";
  let hasVerifier = 1;
}

def NvTileAS_LocalLoadOp : NvTileAS_Op<"local_load", NvTileAA_FixedLayouts> {
  let summary = "loads a tensor from shared memory, `vector` elements at a time";
  let arguments = (ins NvTileAS_SourceStorage<NvTileAS_MemDescType>:$source,
      ConfinedAttr<I64Attr, [IntPositive]>:$vector);
  let results = (outs NvTileAS_Tensor:$result);
  let assemblyFormat = "$source `vector` $vector attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def NvTileAS_LocalTransposeOp : NvTileAS_Op<"local_transpose", NvTileAA_Program> {
  let summary = "transposes a tile of bytes in place in shared memory: the dimension along which bytes are contiguous "
                "changes";
  let description = [{
    The dimension along which bytes are contiguous changes. `dest` is the same storage as `source`, with a type that
    describes the layout after the op (`memdesc_reinterpret`). Both consist of panels of 128 rows of 128 bytes. The
    16-byte chunk `c` of row `r` is stored at chunk `c ^ (r & 7)`, the swizzle that TMA and `wgmma` use.

    All warps of the agent participate, or all warps of the CTA outside agents. The warps move disjoint bytes, so they
    need no barrier before or during the op, but they need one before any of them uses the result.
  }];
  let arguments = (ins NvTileAS_SourceStorage<NvTileAS_MemDescType>:$source,
      NvTileAS_DestStorage<NvTileAS_MemDescType>:$dest);
  let assemblyFormat = "$source `,` $dest attr-dict `:` type($source) `,` type($dest)";
  let hasVerifier = 1;
}

def NvTileAS_BarrierOp : NvTileAS_SyncOp<"barrier", NvTileAA_Program, NvTileAA_SyncBarrier, NvTileAA_ScopeAgent,
    [NvTileAA_TouchesAll]> {
  let summary = "barrier for all threads of an agent, or of the CTA outside agents; makes earlier accesses visible";
  let description = [{
    `id` is the number of the hardware barrier and `threads` the number of participating threads. Both are absent
    until lowering to one thread's program, because they follow from the enclosing region.
  }];
  let arguments = (ins OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$id,
      OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$threads);
  let assemblyFormat = "(`id` $id^)? (`threads` $threads^)? attr-dict";
  let hasVerifier = 1;
}

include "nv_tileas/NvTileASMoveOps.td"
include "nv_tileas/NvTileASDotOps.td"
include "nv_tileas/NvTileASAsyncOps.td"
include "nv_tileas/NvTileASReductionOps.td"
include "nv_tileas/NvTileASMemoryOps.td"
include "nv_tileas/NvTileASTransferOps.td"
include "nv_tileas/NvTileASAgentOps.td"
include "nv_tileas/NvTileASPipelineOps.td"
include "nv_tileas/NvTileASTmaOps.td"
include "nv_tileas/NvTileASRegisterOps.td"
include "nv_tileas/NvTileASTensorMemoryOps.td"

#endif
