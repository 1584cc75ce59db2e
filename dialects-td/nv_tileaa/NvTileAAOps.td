// The ops of nv_tileaa.
#ifndef NV_TILEAA_OPS_TD
#define NV_TILEAA_OPS_TD

include "nv_tileaa/NvTileAADialect.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class NvTileAA_Op<string mnemonic, NvTileAA_Behaviour what, list<Trait> traits = []>
    : Op<NvTileAA_Dialect, mnemonic, traits # [TileOpInterface]> {
  NvTileAA_Behaviour behaviour = what;
  string moreDeclarations = "";
  let extraClassDeclaration = behaviour.declaration # moreDeclarations;
}

// A scalar represents a tile of rank zero.
class NvTileAA_Lift<Type element, string text> : AnyTypeOf<[element, RankedTensorOf<[element]>], text>;
def NvTileAA_AnyFloat : NvTileAA_Lift<AnyFloat, "float scalar or tensor">;
def NvTileAA_AnyInt : NvTileAA_Lift<AnySignlessInteger, "integer scalar or tensor">;
def NvTileAA_AnyPtr : NvTileAA_Lift<NvTileAA_PtrType, "pointer scalar or tensor">;
def NvTileAA_I1 : NvTileAA_Lift<I1, "i1 scalar or tensor">;
def NvTileAA_I64 : NvTileAA_Lift<I64, "i64 scalar or tensor">;
def NvTileAA_Value : AnyTypeOf<[AnyFloat, AnySignlessInteger, NvTileAA_PtrType,
    RankedTensorOf<[AnyFloat, AnySignlessInteger, NvTileAA_PtrType]>], "number or pointer, scalar or tensor">;
def NvTileAA_Scalar : AnyTypeOf<[AnyFloat, AnySignlessInteger, NvTileAA_PtrType], "number or pointer">;

//===-- functions -----------------------------------------------------------//

def NvTileAA_FuncOp : NvTileAA_Op<"func", NvTileAA_Program, [FunctionOpInterface, IsolatedFromAbove, AutomaticAllocationScope,
    ThreadScopeOpInterface]> {
  let summary = "tile kernel";
  let description = [{
    Runs once per tile block. Arguments are scalars. `hints` holds the optimization hints of the source. `numWarps` is
    the number of warps per CTA, if the function rather than the pipeline's option determines it.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
      OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs,
      OptionalAttr<DictionaryAttr>:$hints,
      OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$numWarps);
  let regions = (region MinSizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let moreDeclarations = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    int64_t getFirstWarp(unsigned) { return 0; }
    int64_t getWarpCount(unsigned) { return getNumWarps().value_or(-1); }
    bool runsConcurrently() { return false; }
  }];
}

def NvTileAA_ReturnOp : NvTileAA_Op<"return", NvTileAA_Program, [Pure, HasParent<"FuncOp">, ReturnLike, Terminator]> {
  let summary = "ends a function and returns its results; a kernel has none";
  let arguments = (ins Variadic<AnyType>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
  let hasVerifier = 1;
}

//===-- program -------------------------------------------------------------//

def NvTileAA_GetProgramIdOp : NvTileAA_Op<"get_program_id", NvTileAA_Program, [Pure]> {
  let summary = "coordinates of this tile block in the grid";
  let results = (outs I32:$x, I32:$y, I32:$z);
  let assemblyFormat = "attr-dict";
}

def NvTileAA_GetNumProgramsOp : NvTileAA_Op<"get_num_programs", NvTileAA_Program, [Pure]> {
  let summary = "extents of the grid in tile blocks";
  let results = (outs I32:$x, I32:$y, I32:$z);
  let assemblyFormat = "attr-dict";
}

def NvTileAA_NumProgramsOfCtaOp : NvTileAA_Op<"num_programs_of_cta", NvTileAA_Program, [Pure]> {
  let summary = "number of tile blocks that this CTA runs";
  let description = [{
    If `many` is true, the first CTAs of the grid run all tile blocks, one CTA for each SM. CTA `c` of `n` runs tile
    blocks `c`, `c + n`, `c + 2 n` and so on, counted along x first; other CTAs run none. If `many` is false, or if the
    grid has more than 2^30 tile blocks, each CTA runs one. A CTA must loop over its tile blocks with
    `program_of_cta`.
  }];
  let arguments = (ins I1:$many);
  let results = (outs I32:$result);
  let assemblyFormat = "$many attr-dict";
}

def NvTileAA_ProgramOfCtaOp : NvTileAA_Op<"program_of_cta", NvTileAA_Program, [Pure]> {
  let summary = "coordinates of one of the tile blocks that this CTA runs";
  let description = [{
    `index` is less than `num_programs_of_cta`.
  }];
  let arguments = (ins I32:$index, I1:$many);
  let results = (outs I32:$x, I32:$y, I32:$z);
  let assemblyFormat = "$index `,` $many attr-dict";
}

def NvTileAA_GetCtaRankOp : NvTileAA_Op<"get_cta_rank", NvTileAA_Program, [Pure]> {
  let summary = "rank of this CTA in its cluster, from zero";
  let description = [{
    A tile is split over the CTAs of a cluster (`tileaa-split-over-cluster`), or they run neighbouring tile blocks
    (`tileaa-pair-tile-blocks`). Both passes attach their number to the function, as `nv_tileas.num_ctas`. Without that
    attribute the rank is zero.
  }];
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}

def NvTileAA_AssumeOp : NvTileAA_Op<"assume", NvTileAA_CheapElementwise, [Pure, AllTypesMatch<["value", "result"]>]> {
  let summary = "identity that carries a promise about its operand";
  let description = [{
    `predicate` is one of the assume predicates of `cuda_tile`. A violated promise is undefined behavior.
  }];
  let arguments = (ins AnyType:$value, AnyAttr:$predicate);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$predicate `,` $value attr-dict `:` type($value)";
}

//===-- pointers and views --------------------------------------------------//

def NvTileAA_AddPtrOp : NvTileAA_Op<"addptr", NvTileAA_CheapElementwise, [Pure, AllTypesMatch<["ptr", "result"]>,
    Elementwise, SameOperandsAndResultShape]> {
  let summary = "pointer plus a signed offset in elements";
  let arguments = (ins NvTileAA_AnyPtr:$ptr, NvTileAA_AnyInt:$offset);
  let results = (outs NvTileAA_AnyPtr:$result);
  let assemblyFormat = "$ptr `,` $offset attr-dict `:` type($ptr) `,` type($offset)";
}

class NvTileAA_PtrCast<string mnemonic, Type from, Type to>
    : NvTileAA_Op<mnemonic, NvTileAA_CheapElementwise, [Pure, Elementwise, SameOperandsAndResultShape]> {
  let arguments = (ins from:$source);
  let results = (outs to:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
}
def NvTileAA_IntToPtrOp : NvTileAA_PtrCast<"int_to_ptr", NvTileAA_I64, NvTileAA_AnyPtr> {
  let summary = "converts an address to a pointer";
}
def NvTileAA_PtrToIntOp : NvTileAA_PtrCast<"ptr_to_int", NvTileAA_AnyPtr, NvTileAA_I64> {
  let summary = "converts a pointer to its address";
}
def NvTileAA_PtrToPtrOp : NvTileAA_PtrCast<"ptr_to_ptr", NvTileAA_AnyPtr, NvTileAA_AnyPtr> {
  let summary = "changes the pointee type of a pointer";
}

def NvTileAA_MakeMemRefOp : NvTileAA_Op<"make_memref", NvTileAA_Address, [Pure, AttrSizedOperandSegments]> {
  let summary = "creates a view of memory from a base pointer, dynamic extents and dynamic strides";
  let description = [{
    Dynamic values are unsigned and of the same integer type, one per `?` of the type.
  }];
  let arguments = (ins NvTileAA_PtrType:$base, Variadic<AnySignlessInteger>:$dynamicShape,
      Variadic<AnySignlessInteger>:$dynamicStrides);
  let results = (outs NvTileAA_StridedMemRefType:$result);
  let assemblyFormat = [{
    $base `,` `shape` `=` `[` ($dynamicShape^ `:` type($dynamicShape))? `]` `,`
    `strides` `=` `[` ($dynamicStrides^ `:` type($dynamicStrides))? `]` attr-dict `:` type($base) `->` type($result)
  }];
  let hasVerifier = 1;
}

def NvTileAA_MakeTiledViewOp : NvTileAA_Op<"make_tiled_view", NvTileAA_Address, [Pure]> {
  let summary = "divides a memref into tiles";
  let arguments = (ins NvTileAA_StridedMemRefType:$memref);
  let results = (outs NvTileAA_TiledViewType:$result);
  let assemblyFormat = "$memref attr-dict `:` type($memref) `->` type($result)";
  let hasVerifier = 1;
}

def NvTileAA_DimOp : NvTileAA_Op<"dim", NvTileAA_Address, [Pure]> {
  let summary = "the extent of one dimension of a memref";
  let arguments = (ins NvTileAA_StridedMemRefType:$memref, I64Attr:$index);
  let results = (outs AnySignlessInteger:$result);
  let assemblyFormat = "$memref `,` $index attr-dict `:` type($memref) `->` type($result)";
}

def NvTileAA_NumTilesOp : NvTileAA_Op<"num_tiles", NvTileAA_Address, [Pure]> {
  let summary = "the number of tiles of a view along one tile dimension";
  let arguments = (ins NvTileAA_TiledViewType:$view, I64Attr:$index);
  let results = (outs AnySignlessInteger:$result);
  let assemblyFormat = "$view `,` $index attr-dict `:` type($view) `->` type($result)";
}

//===-- memory accesses -----------------------------------------------------//
// Each access takes at most one token, which it follows, and returns one, which later accesses follow.

def NvTileAA_TiledLoadOp : NvTileAA_Op<"tiled_load", NvTileAA_Access, [AttrSizedOperandSegments, MemoryEffects<[NvTileAA_ReadsGlobal]>]> {
  let summary = "reads one tile of a view";
  let description = "`in_bounds` lists the dimensions in which the program promises that the tile is inside the view.";
  let arguments = (ins NvTileAA_TiledViewType:$view, Variadic<AnyType>:$indices,
      Optional<NvTileAA_MemTokenType>:$token,
      NvTileAA_OrderingAttr:$ordering, OptionalAttr<NvTileAA_ScopeAttr>:$scope,
      OptionalAttr<DictionaryAttr>:$hints, OptionalAttr<DenseBoolArrayAttr>:$inBounds);
  let results = (outs NvTileAA_Value:$result, NvTileAA_MemTokenType:$resultToken);
  let assemblyFormat = [{
    $ordering (`scope` $scope^)? $view `[` $indices `]` (`token` $token^)? (`in_bounds` $inBounds^)? (`hints` $hints^)? attr-dict
    `:` type($view) `[` type($indices) `]` `->` type($result)
  }];
  let hasVerifier = 1;
}

def NvTileAA_TiledStoreOp : NvTileAA_Op<"tiled_store", NvTileAA_Access, [AttrSizedOperandSegments, MemoryEffects<[NvTileAA_WritesGlobal]>]> {
  let summary = "writes one tile of a view";
  let description = "`in_bounds` lists the dimensions in which the program promises that the tile is inside the view.";
  let arguments = (ins NvTileAA_Value:$value, NvTileAA_TiledViewType:$view, Variadic<AnyType>:$indices,
      Optional<NvTileAA_MemTokenType>:$token,
      NvTileAA_OrderingAttr:$ordering, OptionalAttr<NvTileAA_ScopeAttr>:$scope,
      OptionalAttr<DictionaryAttr>:$hints, OptionalAttr<DenseBoolArrayAttr>:$inBounds);
  let results = (outs NvTileAA_MemTokenType:$resultToken);
  let assemblyFormat = [{
    $ordering (`scope` $scope^)? $value `,` $view `[` $indices `]` (`token` $token^)? (`in_bounds` $inBounds^)? (`hints` $hints^)? attr-dict
    `:` type($value) `,` type($view) `[` type($indices) `]`
  }];
  let hasVerifier = 1;
}

def NvTileAA_LoadOp : NvTileAA_Op<"load", NvTileAA_Access, [AttrSizedOperandSegments, MemoryEffects<[NvTileAA_ReadsGlobal]>]> {
  let summary = "reads through a pointer, or gathers through a tensor of pointers";
  let description = [{
    Lanes whose mask is false read nothing and return `other`, or an unspecified value without it.
  }];
  let arguments = (ins NvTileAA_AnyPtr:$ptr, Optional<NvTileAA_I1>:$mask, Optional<NvTileAA_Value>:$other,
      Optional<NvTileAA_MemTokenType>:$token,
      NvTileAA_OrderingAttr:$ordering, OptionalAttr<NvTileAA_ScopeAttr>:$scope,
      OptionalAttr<DictionaryAttr>:$hints);
  let results = (outs NvTileAA_Value:$result, NvTileAA_MemTokenType:$resultToken);
  let assemblyFormat = [{
    $ordering (`scope` $scope^)? $ptr (`mask` $mask^ `:` type($mask))? (`other` $other^ `:` type($other))?
    (`token` $token^)? (`hints` $hints^)? attr-dict `:` type($ptr) `->` type($result)
  }];
  let hasVerifier = 1;
}

def NvTileAA_StoreOp : NvTileAA_Op<"store", NvTileAA_Access, [AttrSizedOperandSegments, MemoryEffects<[NvTileAA_WritesGlobal]>]> {
  let summary = "writes through a pointer, or scatters through a tensor of pointers";
  let arguments = (ins NvTileAA_AnyPtr:$ptr, NvTileAA_Value:$value, Optional<NvTileAA_I1>:$mask,
      Optional<NvTileAA_MemTokenType>:$token,
      NvTileAA_OrderingAttr:$ordering, OptionalAttr<NvTileAA_ScopeAttr>:$scope,
      OptionalAttr<DictionaryAttr>:$hints);
  let results = (outs NvTileAA_MemTokenType:$resultToken);
  let assemblyFormat = [{
    $ordering (`scope` $scope^)? $ptr `,` $value (`mask` $mask^ `:` type($mask))?
    (`token` $token^)? (`hints` $hints^)? attr-dict `:` type($ptr) `,` type($value)
  }];
  let hasVerifier = 1;
}

def NvTileAA_CreateMemTokenOp : NvTileAA_Op<"create_mem_token", NvTileAA_Program, [Pure]> {
  let summary = "a token that follows no access";
  let results = (outs NvTileAA_MemTokenType:$result);
  let assemblyFormat = "attr-dict";
}

def NvTileAA_JoinMemTokenOp : NvTileAA_Op<"join_mem_token", NvTileAA_Program, [Pure]> {
  let summary = "a token that follows all of its operands";
  let arguments = (ins Variadic<NvTileAA_MemTokenType>:$tokens);
  let results = (outs NvTileAA_MemTokenType:$result);
  let assemblyFormat = "$tokens attr-dict";
}

// Atomic updates act on each element separately, in no particular order among elements. `ordering` and `scope` apply
// to each update.

def NvTileAA_AtomicRmwOp : NvTileAA_Op<"atomic_rmw", NvTileAA_Access, [AttrSizedOperandSegments,
    MemoryEffects<[NvTileAA_ReadsGlobal, NvTileAA_WritesGlobal]>, AllTypesMatch<["value", "result"]>]> {
  let summary = "atomic read-modify-write through a pointer or a tensor of pointers";
  let description = [{
    Returns the old values. Lanes whose mask is false access nothing and return unspecified values.
  }];
  let arguments = (ins NvTileAA_AtomicKindAttr:$kind, NvTileAA_AnyPtr:$ptr, NvTileAA_Value:$value,
      Optional<NvTileAA_I1>:$mask, Optional<NvTileAA_MemTokenType>:$token,
      NvTileAA_OrderingAttr:$ordering, NvTileAA_ScopeAttr:$scope);
  let results = (outs NvTileAA_Value:$result, NvTileAA_MemTokenType:$resultToken);
  let assemblyFormat = [{
    $kind $ordering $scope $ptr `,` $value (`mask` $mask^ `:` type($mask))? (`token` $token^)?
    attr-dict `:` type($ptr) `,` type($value)
  }];
  let hasVerifier = 1;
}

def NvTileAA_AtomicCasOp : NvTileAA_Op<"atomic_cas", NvTileAA_Access, [AttrSizedOperandSegments,
    MemoryEffects<[NvTileAA_ReadsGlobal, NvTileAA_WritesGlobal]>, AllTypesMatch<["compare", "value", "result"]>]> {
  let summary = "atomic compare-and-swap; the comparison is bitwise, also for floats";
  let description = [{
    Returns the old values. Lanes whose mask is false access nothing and return `compare`.
  }];
  let arguments = (ins NvTileAA_AnyPtr:$ptr, NvTileAA_Value:$compare, NvTileAA_Value:$value,
      Optional<NvTileAA_I1>:$mask, Optional<NvTileAA_MemTokenType>:$token,
      NvTileAA_OrderingAttr:$ordering, NvTileAA_ScopeAttr:$scope);
  let results = (outs NvTileAA_Value:$result, NvTileAA_MemTokenType:$resultToken);
  let assemblyFormat = [{
    $ordering $scope $ptr `,` $compare `,` $value (`mask` $mask^ `:` type($mask))? (`token` $token^)?
    attr-dict `:` type($ptr) `,` type($value)
  }];
  let hasVerifier = 1;
}

def NvTileAA_TiledAtomicRmwOp : NvTileAA_Op<"tiled_atomic_rmw", NvTileAA_Access, [AttrSizedOperandSegments,
    MemoryEffects<[NvTileAA_ReadsGlobal, NvTileAA_WritesGlobal]>]> {
  let summary = "atomic update of one tile of a view, which returns no values";
  let description = [{
    Elements outside the memref are not accessed. `in_bounds` lists the dimensions in which the program promises that
    the tile is inside the view.
  }];
  let arguments = (ins NvTileAA_AtomicKindAttr:$kind, NvTileAA_Value:$value, NvTileAA_TiledViewType:$view,
      Variadic<AnyType>:$indices, Optional<NvTileAA_MemTokenType>:$token,
      NvTileAA_OrderingAttr:$ordering, NvTileAA_ScopeAttr:$scope, OptionalAttr<DenseBoolArrayAttr>:$inBounds);
  let results = (outs NvTileAA_MemTokenType:$resultToken);
  let assemblyFormat = [{
    $kind $ordering $scope $value `,` $view `[` $indices `]` (`token` $token^)? (`in_bounds` $inBounds^)? attr-dict
    `:` type($value) `,` type($view) `[` type($indices) `]`
  }];
}

// Multicast memory: one address denotes a location in each of several memories. Multicast views have ordinary view
// types; only the op makes the difference.

def NvTileAA_MultimemLoadReduceOp : NvTileAA_Op<"multimem_load_reduce", NvTileAA_Access, [AttrSizedOperandSegments,
    MemoryEffects<[NvTileAA_ReadsGlobal]>]> {
  let summary = "reads one tile of a multicast view in each memory and combines them";
  let description = [{
    The order in which the memories are combined is unspecified. `max` and `min` also apply to f16 and bf16.
    `in_bounds` lists the dimensions in which the program promises that the tile is inside the view.
  }];
  let arguments = (ins NvTileAA_AtomicKindAttr:$kind, NvTileAA_TiledViewType:$view, Variadic<AnyType>:$indices,
      Optional<NvTileAA_MemTokenType>:$token, NvTileAA_OrderingAttr:$ordering, OptionalAttr<NvTileAA_ScopeAttr>:$scope,
      OptionalAttr<DenseBoolArrayAttr>:$inBounds);
  let results = (outs NvTileAA_Value:$result, NvTileAA_MemTokenType:$resultToken);
  let assemblyFormat = [{
    $kind $ordering (`scope` $scope^)? $view `[` $indices `]` (`token` $token^)? (`in_bounds` $inBounds^)? attr-dict
    `:` type($view) `[` type($indices) `]` `->` type($result)
  }];
  let hasVerifier = 1;
}

def NvTileAA_MultimemReduceOp : NvTileAA_Op<"multimem_reduce", NvTileAA_Access, [AttrSizedOperandSegments,
    MemoryEffects<[NvTileAA_ReadsGlobal, NvTileAA_WritesGlobal]>]> {
  let summary = "atomic update of one tile of a multicast view in each memory";
  let description = [{
    Elements outside the memref are not accessed. `in_bounds` lists the dimensions in which the program promises that
    the tile is inside the view.
  }];
  let arguments = (ins NvTileAA_AtomicKindAttr:$kind, NvTileAA_Value:$value, NvTileAA_TiledViewType:$view,
      Variadic<AnyType>:$indices, Optional<NvTileAA_MemTokenType>:$token,
      NvTileAA_OrderingAttr:$ordering, NvTileAA_ScopeAttr:$scope, OptionalAttr<DenseBoolArrayAttr>:$inBounds);
  let results = (outs NvTileAA_MemTokenType:$resultToken);
  let assemblyFormat = [{
    $kind $ordering $scope $value `,` $view `[` $indices `]` (`token` $token^)? (`in_bounds` $inBounds^)? attr-dict
    `:` type($value) `,` type($view) `[` type($indices) `]`
  }];
  let hasVerifier = 1;
}

def NvTileAA_MultimemStoreOp : NvTileAA_Op<"multimem_store", NvTileAA_Access, [AttrSizedOperandSegments,
    MemoryEffects<[NvTileAA_WritesGlobal]>]> {
  let summary = "writes one tile of a multicast view in each memory";
  let description = "`in_bounds` lists the dimensions in which the program promises that the tile is inside the view.";
  let arguments = (ins NvTileAA_Value:$value, NvTileAA_TiledViewType:$view, Variadic<AnyType>:$indices,
      Optional<NvTileAA_MemTokenType>:$token, NvTileAA_OrderingAttr:$ordering, OptionalAttr<NvTileAA_ScopeAttr>:$scope,
      OptionalAttr<DenseBoolArrayAttr>:$inBounds);
  let results = (outs NvTileAA_MemTokenType:$resultToken);
  let assemblyFormat = [{
    $ordering (`scope` $scope^)? $value `,` $view `[` $indices `]` (`token` $token^)? (`in_bounds` $inBounds^)? attr-dict
    `:` type($value) `,` type($view) `[` type($indices) `]`
  }];
  let hasVerifier = 1;
}

//===-- memory objects ------------------------------------------------------//

def NvTileAA_GlobalOp : NvTileAA_Op<"global", NvTileAA_Program, [Symbol]> {
  let summary = "variable in global memory with an initial value";
  let description = "`alignment` is in bytes; zero means the natural alignment of the element.";
  let arguments = (ins SymbolNameAttr:$sym_name, ElementsAttr:$value, DefaultValuedAttr<I64Attr, "0">:$alignment,
      UnitAttr:$constant);
  let assemblyFormat = [{
    (`constant` $constant^)? $sym_name (`alignment` `=` $alignment^)? `=` $value attr-dict
  }];
  let hasVerifier = 1;
}

def NvTileAA_GetGlobalOp : NvTileAA_Op<"get_global", NvTileAA_Program, [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the address of a global";
  let arguments = (ins FlatSymbolRefAttr:$name);
  let results = (outs NvTileAA_PtrType:$result);
  let assemblyFormat = "$name attr-dict `:` type($result)";
}

def NvTileAA_AllocaOp : NvTileAA_Op<"alloca", NvTileAA_Program, [MemoryEffects<[NvTileAA_AllocatesGlobal]>]> {
  let summary = "scratch memory with the lifetime of its tile block";
  let description = [{
    Allocates `count` elements at a multiple of `alignment` bytes. With `global`, other tile blocks may access the
    memory.
  }];
  let arguments = (ins I64Attr:$count, I64Attr:$alignment, UnitAttr:$global);
  let results = (outs NvTileAA_PtrType:$result);
  let assemblyFormat = "$count `align` $alignment (`global` $global^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

//===-- shapes --------------------------------------------------------------//

def NvTileAA_MakeRangeOp : NvTileAA_Op<"make_range", NvTileAA_Leaf, [Pure]> {
  let summary = "0, 1, 2, ... as a tensor of rank one";
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

class NvTileAA_ShapeOp<string mnemonic, NvTileAA_Behaviour what, string text> : NvTileAA_Op<mnemonic, what, [Pure]> {
  let summary = text;
  let arguments = (ins AnyRankedTensor:$source);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}
def NvTileAA_SplatOp : NvTileAA_Op<"splat", NvTileAA_Leaf, [Pure]> {
  let summary = "tensor filled with one scalar";
  let arguments = (ins NvTileAA_Scalar:$source);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}
def NvTileAA_UnsplatOp : NvTileAA_Op<"unsplat", NvTileAA_Program, [Pure]> {
  let summary = "the element of a one-element tensor, as a scalar";
  let arguments = (ins AnyRankedTensor:$source);
  let results = (outs NvTileAA_Scalar:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}
def NvTileAA_BroadcastOp : NvTileAA_ShapeOp<"broadcast", NvTileAA_Broadcasting, "repeats the source along dimensions of extent one">;
def NvTileAA_ViewOp
    : NvTileAA_ShapeOp<"view", NvTileAA_Reshape, "the same elements in row-major order in another shape"> {
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}
def NvTileAA_PermuteOp : NvTileAA_Op<"permute", NvTileAA_Permutation, [Pure]> {
  let summary = "reorders the dimensions: result dimension i is source dimension order[i]";
  let arguments = (ins AnyRankedTensor:$source, DenseI32ArrayAttr:$order);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source $order attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}
def NvTileAA_CatOp : NvTileAA_Op<"cat", NvTileAA_Concatenation, [Pure]> {
  let summary = "concatenates two tensors of equal shape along one dimension";
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs, I64Attr:$dim);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$lhs `,` $rhs `,` $dim attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)";
  let hasVerifier = 1;
}
def NvTileAA_ExtractSliceOp : NvTileAA_Op<"extract_slice", NvTileAA_Slicing, [Pure]> {
  let summary = "extracts the slice with the given slice numbers, one per dimension";
  let arguments = (ins AnyRankedTensor:$source, Variadic<I32>:$indices);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source `[` $indices `]` attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

//===-- arithmetic that arith and math lack ---------------------------------//

def NvTileAA_FpOp : NvTileAA_Op<"fp", NvTileAA_Elementwise, [Pure, Elementwise, SameOperandsAndResultType]> {
  let summary = "floating-point operation with a rounding mode or flush to zero";
  let description = [{
    ```mlir
    %r = nv_tileaa.fp <add> %a, %b rounding <zero> ftz : tensor<128xf32>
    ```
  }];
  let arguments = (ins NvTileAA_FpKindAttr:$kind, Variadic<NvTileAA_AnyFloat>:$operands_,
      DefaultValuedAttr<NvTileAA_RoundingAttr, "::nv_tileaa::Rounding::NearestEven">:$rounding,
      UnitAttr:$ftz);
  let results = (outs NvTileAA_AnyFloat:$result);
  let assemblyFormat = "$kind $operands_ (`rounding` $rounding^)? (`ftz` $ftz^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def NvTileAA_FpCastOp : NvTileAA_Op<"fp_cast", NvTileAA_Elementwise, [Pure, Elementwise, SameOperandsAndResultShape]> {
  let summary = "conversion between float formats of which at least one is narrow";
  let arguments = (ins NvTileAA_AnyFloat:$source,
      DefaultValuedAttr<NvTileAA_RoundingAttr, "::nv_tileaa::Rounding::NearestEven">:$rounding);
  let results = (outs NvTileAA_AnyFloat:$result);
  let assemblyFormat = "$source (`rounding` $rounding^)? attr-dict `:` type($source) `->` type($result)";
}

def NvTileAA_BitcastOp : NvTileAA_Op<"bitcast", NvTileAA_Elementwise, [Pure, Elementwise, SameOperandsAndResultShape]> {
  let summary = "reinterprets the bits as another element type of the same width";
  let arguments = (ins NvTileAA_Value:$source);
  let results = (outs NvTileAA_Value:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
}

//===-- bytes ---------------------------------------------------------------//

def NvTileAA_PackOp : NvTileAA_Op<"pack", NvTileAA_Packing, [Pure]> {
  let summary = "the bytes of a tensor of rank one";
  let description = "Narrow elements fill a byte from the low end: element 0 of a four-bit type is the low nibble of byte 0.";
  let arguments = (ins AnyRankedTensor:$source);
  let results = (outs RankedTensorOf<[I8]>:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}
def NvTileAA_UnpackOp : NvTileAA_Op<"unpack", NvTileAA_Packing, [Pure]> {
  let summary = "bytes as a tensor of rank one; the inverse of `pack`";
  let arguments = (ins RankedTensorOf<[I8]>:$source);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

//===-- dots ----------------------------------------------------------------//

def NvTileAA_DotOp : NvTileAA_Op<"dot", NvTileAA_Product, [Pure, AllTypesMatch<["acc", "result"]>]> {
  let summary = "lhs * rhs + acc";
  let description = [{
    The shapes are `MxK`, `KxN` and `MxN`, or the same after one batch dimension, which `canonicalize` drops if its
    extent is one. Integer operands are signed unless the operand's flag says otherwise. `fast_acc` permits an
    accumulator of lower precision between instructions.
  }];
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs, AnyRankedTensor:$acc,
      UnitAttr:$lhsUnsigned, UnitAttr:$rhsUnsigned, UnitAttr:$fastAcc);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` $acc (`lhs_unsigned` $lhsUnsigned^)? (`rhs_unsigned` $rhsUnsigned^)? (`fast_acc` $fastAcc^)?
    attr-dict `:` type($lhs) `,` type($rhs) `,` type($acc)
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def NvTileAA_DotScaledOp : NvTileAA_Op<"dot_scaled", NvTileAA_Product, [Pure, AllTypesMatch<["acc", "result"]>]> {
  let summary = "block-scaled dot: operands have one scale per block of elements along K";
  let description = [{
    `lhsScale` is `MxS` and `rhsScale` is `SxN`, where `S` divides `K`; each scale covers `K/S` consecutive elements.
  }];
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs, AnyRankedTensor:$acc,
      AnyRankedTensor:$lhsScale, AnyRankedTensor:$rhsScale);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $lhs `scale` $lhsScale `,` $rhs `scale` $rhsScale `,` $acc attr-dict
    `:` type($lhs) `,` type($lhsScale) `,` type($rhs) `,` type($rhsScale) `,` type($acc)
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

//===-- reductions and scans ------------------------------------------------//

class NvTileAA_AggregateOp<string mnemonic, NvTileAA_Behaviour what>
    : NvTileAA_Op<mnemonic, what, [RecursiveMemoryEffects, RecursivelySpeculatable, SingleBlock]> {
  let description = [{
    For each operand, the body takes an element and an accumulator, all scalars, and yields the new accumulators. It
    is associative, and `identities` are its neutral elements.
  }];
  let results = (outs Variadic<NvTileAA_Value>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}
def NvTileAA_ReduceOp : NvTileAA_AggregateOp<"reduce", NvTileAA_Reduction> {
  let summary = "reduces a tensor along one dimension, which the results lack";
  let arguments = (ins Variadic<AnyRankedTensor>:$operands, I64Attr:$dim, ArrayAttr:$identities);
  let assemblyFormat = [{
    $operands `dim` $dim `identities` $identities attr-dict `:` type($operands) `->` type($results) $body
  }];
}
def NvTileAA_ScanOp : NvTileAA_AggregateOp<"scan", NvTileAA_Collective> {
  let summary = "inclusive scan along one dimension, starting from the last element with reverse";
  let arguments = (ins Variadic<AnyRankedTensor>:$operands, I64Attr:$dim, UnitAttr:$reverse, ArrayAttr:$identities);
  let assemblyFormat = [{
    $operands `dim` $dim (`reverse` $reverse^)? `identities` $identities attr-dict
    `:` type($operands) `->` type($results) $body
  }];
}
def NvTileAA_YieldOp : NvTileAA_Op<"yield", NvTileAA_Program, [Pure, ReturnLike, Terminator, ParentOneOf<["ExecuteOp", "ReduceOp", "ScanOp"]>]> {
  let summary = "yields the new accumulators, or the results of a region";
  let arguments = (ins Variadic<AnyType>:$operands);
  let assemblyFormat = "$operands attr-dict `:` type($operands)";
}

//===-- debugging -----------------------------------------------------------//

def NvTileAA_AssertOp : NvTileAA_Op<"assert", NvTileAA_Elementwise, [MemoryEffects<[NvTileAA_WritesMachine]>]> {
  let summary = "run-time check of each element";
  let arguments = (ins NvTileAA_I1:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict `:` type($condition)";
}

//===-- order with respect to other grids and aliases -----------------------//

class NvTileAA_TokenOrderOp<string mnemonic>
    : NvTileAA_Op<mnemonic, NvTileAA_Program, [NvTileAA_TouchesAll]> {
  let arguments = (ins Optional<NvTileAA_MemTokenType>:$token);
  let results = (outs NvTileAA_MemTokenType:$resultToken);
  let assemblyFormat = "(`token` $token^)? attr-dict";
}

def NvTileAA_LaunchDependentsOp : NvTileAA_TokenOrderOp<"launch_dependents"> {
  let summary = "permits dependent grids to start once all tile blocks have executed it";
}

def NvTileAA_WaitForGridsOp : NvTileAA_TokenOrderOp<"wait_for_grids"> {
  let summary = "waits for the grids that this one depends on to end; their writes are then visible";
}

def NvTileAA_FenceAliasOp : NvTileAA_TokenOrderOp<"fence_alias"> {
  let summary = "orders accesses to the same memory through different virtual addresses";
}

def NvTileAA_PrintOp : NvTileAA_Op<"print", NvTileAA_Program, [AttrSizedOperandSegments, MemoryEffects<[NvTileAA_WritesMachine]>]> {
  let summary = "printf-like output, once per tile block";
  let arguments = (ins StrAttr:$format, Variadic<NvTileAA_Value>:$args, Optional<NvTileAA_MemTokenType>:$token);
  let results = (outs NvTileAA_MemTokenType:$resultToken);
  let assemblyFormat = "$format (`,` $args^ `:` type($args))? (`token` $token^)? attr-dict";
}

def NvTileAA_ExternCallOp : NvTileAA_Op<"extern_call", NvTileAA_Program,
    [AttrSizedOperandSegments, NvTileAA_TouchesAll]> {
  let summary = "call of a function of a tile library";
  let description = [{
    Participating threads call `symbol` with the addresses of their fragments, and with the address of `scratchSize`
    bytes of shared memory, if there are any. `fragments` has a type of `cuda_tile` for each argument, without
    variables, and `access` the number of its access: in, out or inout. The results are the `out` and `inout` arguments
    in order. `synchronization` is the number of the group of threads that the function may synchronize.

    ```mlir
    %r, %t = nv_tileaa.extern_call "f"(%x) {fragments = [!cuda_tile<preview$fragment<...>>], access = array<i32: 2>,
      scratchSize = 0, scratchAlignment = 1, synchronization = 0 : i32} : (tensor<32xf32>) -> tensor<32xf32>
    ```
  }];
  let arguments = (ins StrAttr:$symbol, TypeArrayAttr:$fragments, DenseI32ArrayAttr:$access, I64Attr:$scratchSize,
      I64Attr:$scratchAlignment, I32Attr:$synchronization, Variadic<NvTileAA_Value>:$args,
      Optional<NvTileAA_MemTokenType>:$token);
  let results = (outs Variadic<NvTileAA_Value>:$results, NvTileAA_MemTokenType:$resultToken);
  let assemblyFormat = [{
    $symbol `(` $args `)` (`token` $token^)? attr-dict `:` functional-type($args, $results)
  }];
}

include "nv_tileaa/NvTileAAProgramOps.td"
include "nv_tileaa/NvTileAAGatherOps.td"

#endif
