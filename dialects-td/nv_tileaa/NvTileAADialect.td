// The nv_tileaa dialect: its enums, attributes and types.
#ifndef NV_TILEAA_DIALECT_TD
#define NV_TILEAA_DIALECT_TD

include "nv_tileaa/NvTileAAInterfaces.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/IR/DialectBase.td"
include "mlir/IR/EnumAttr.td"

def NvTileAA_Dialect : Dialect {
  let name = "nv_tileaa";
  let cppNamespace = "::nv_tileaa";
  let summary = "Alias-aware tiles: pointer arithmetic, memory effects and aliasing in SSA form";
  let description = [{
    The level between `cuda_tile` and `nv_tileas`. A tile of rank one or more is a builtin `tensor` without an
    encoding; a tile of rank zero is a scalar that is uniform over the tile block. Elementwise arithmetic uses `arith`
    and `math` where their semantics match exactly, and ops of this dialect otherwise (rounding modes, flush to zero,
    narrow float formats). Control flow is `scf`. Only `mem_token` values order memory accesses.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    void registerTypes();
    void registerAttrs();
  }];
}

//===-- enums ---------------------------------------------------------------//

class NvTileAA_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::nv_tileaa";
  let genSpecializedAttr = 0;
}

def NvTileAA_Rounding : NvTileAA_Enum<"Rounding", "rounding of a floating-point operation", [
    I32EnumAttrCase<"NearestEven", 0, "nearest_even">,
    I32EnumAttrCase<"Zero", 1, "zero">,
    I32EnumAttrCase<"NegativeInf", 2, "negative_inf">,
    I32EnumAttrCase<"PositiveInf", 3, "positive_inf">,
    I32EnumAttrCase<"Approx", 4, "approx">,
    I32EnumAttrCase<"Full", 5, "full">]>;
def NvTileAA_RoundingAttr : EnumAttr<NvTileAA_Dialect, NvTileAA_Rounding, "rounding"> {
  let assemblyFormat = "`<` $value `>`";
}

def NvTileAA_FpKind : NvTileAA_Enum<"FpKind", "floating-point operation with modifiers", [
    I32EnumAttrCase<"Add", 0, "add">,
    I32EnumAttrCase<"Sub", 1, "sub">,
    I32EnumAttrCase<"Mul", 2, "mul">,
    I32EnumAttrCase<"Div", 3, "div">,
    I32EnumAttrCase<"Fma", 4, "fma">,
    I32EnumAttrCase<"Sqrt", 5, "sqrt">,
    I32EnumAttrCase<"Rsqrt", 6, "rsqrt">,
    I32EnumAttrCase<"Exp", 7, "exp">,
    I32EnumAttrCase<"Exp2", 8, "exp2">,
    I32EnumAttrCase<"Tanh", 9, "tanh">,
    I32EnumAttrCase<"Max", 10, "max">,
    I32EnumAttrCase<"Min", 11, "min">,
    I32EnumAttrCase<"MaxNan", 12, "max_nan">,
    I32EnumAttrCase<"MinNan", 13, "min_nan">]>;
def NvTileAA_FpKindAttr : EnumAttr<NvTileAA_Dialect, NvTileAA_FpKind, "fp_kind"> {
  let assemblyFormat = "`<` $value `>`";
}

def NvTileAA_Padding : NvTileAA_Enum<"Padding", "value of elements outside a view", [
    I32EnumAttrCase<"Zero", 0, "zero">,
    I32EnumAttrCase<"NegZero", 1, "neg_zero">,
    I32EnumAttrCase<"Nan", 2, "nan">,
    I32EnumAttrCase<"PosInf", 3, "pos_inf">,
    I32EnumAttrCase<"NegInf", 4, "neg_inf">,
    // All bits set: NaN in the formats that are represented as integers.
    I32EnumAttrCase<"Ones", 5, "ones">]>;
def NvTileAA_PaddingAttr : EnumAttr<NvTileAA_Dialect, NvTileAA_Padding, "padding"> {
  let assemblyFormat = "`<` $value `>`";
}

def NvTileAA_Ordering : NvTileAA_Enum<"Ordering", "memory ordering of an access", [
    I32EnumAttrCase<"Weak", 0, "weak">,
    I32EnumAttrCase<"Relaxed", 1, "relaxed">,
    I32EnumAttrCase<"Acquire", 2, "acquire">,
    I32EnumAttrCase<"Release", 3, "release">,
    I32EnumAttrCase<"AcqRel", 4, "acq_rel">]>;
def NvTileAA_OrderingAttr : EnumAttr<NvTileAA_Dialect, NvTileAA_Ordering, "ordering"> {
  let assemblyFormat = "`<` $value `>`";
}

def NvTileAA_Scope : NvTileAA_Enum<"Scope", "threads that an ordered access synchronizes with", [
    I32EnumAttrCase<"Block", 0, "block">,
    I32EnumAttrCase<"Device", 1, "device">,
    I32EnumAttrCase<"System", 2, "system">]>;
def NvTileAA_ScopeAttr : EnumAttr<NvTileAA_Dialect, NvTileAA_Scope, "scope"> {
  let assemblyFormat = "`<` $value `>`";
}

def NvTileAA_AtomicKind : NvTileAA_Enum<"AtomicKind", "update of an atomic access", [
    I32EnumAttrCase<"And", 0, "and">,
    I32EnumAttrCase<"Or", 1, "or">,
    I32EnumAttrCase<"Xor", 2, "xor">,
    I32EnumAttrCase<"Add", 3, "add">,
    I32EnumAttrCase<"AddF", 4, "addf">,
    I32EnumAttrCase<"Max", 5, "max">,
    I32EnumAttrCase<"Min", 6, "min">,
    I32EnumAttrCase<"UMax", 7, "umax">,
    I32EnumAttrCase<"UMin", 8, "umin">,
    I32EnumAttrCase<"Xchg", 9, "xchg">]>;
def NvTileAA_AtomicKindAttr : EnumAttr<NvTileAA_Dialect, NvTileAA_AtomicKind, "atomic_kind"> {
  let assemblyFormat = "`<` $value `>`";
}

//===-- types ---------------------------------------------------------------//

class NvTileAA_Type<string name, string typeMnemonic, list<Trait> traits = []>
    : TypeDef<NvTileAA_Dialect, name, traits> {
  let mnemonic = typeMnemonic;
}

def NvTileAA_PtrType : NvTileAA_Type<"Ptr", "ptr"> {
  let summary = "pointer to global memory, `!nv_tileaa.ptr<f32>`";
  let description = [{
    The address of an element of type `pointee`. An `i1` pointee takes one byte.
  }];
  let parameters = (ins "::mlir::Type":$pointee);
  let assemblyFormat = "`<` $pointee `>`";
}

def NvTileAA_StridedMemRefType : NvTileAA_Type<"StridedMemRef", "memref"> {
  let summary = "strided view of global memory, `!nv_tileaa.memref<?x64xf32, strides = [?, 1]>`";
  let description = [{
    A base pointer, extents and element strides; `?` marks a dynamic value. Extents need not be powers of two.
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t", "extents, `ShapedType::kDynamic` when dynamic">:$shape,
    ArrayRefParameter<"int64_t", "strides in elements, `ShapedType::kDynamic` when dynamic">:$strides,
    "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def NvTileAA_TiledViewType : NvTileAA_Type<"TiledView", "tiled_view"> {
  let summary = "a memref divided into tiles";
  let description = [{
    Tile dimension `d` is dimension `dimMap[d]` of the memref. Consecutive tiles are `steps[d]` elements apart, which
    is the tile extent for a partition. Dimension `sparseDim`, if present, is indexed by a tensor of rows instead of a
    scalar. Elements outside the memref read as `padding`, or as unspecified values without it; stores to them are
    dropped.

    ```mlir
    !nv_tileaa.tiled_view<tile = [64, 32], memref<?x?xf32, strides = [?, 1]>, dim_map = [1, 0], padding = nan>
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t", "tile extents">:$tile,
    "::nv_tileaa::StridedMemRefType":$memref,
    ArrayRefParameter<"int64_t", "memref dimension of each tile dimension">:$dimMap,
    ArrayRefParameter<"int64_t", "distance of consecutive tiles in elements">:$steps,
    OptionalParameter<"::std::optional<::nv_tileaa::Padding>">:$padding,
    OptionalParameter<"::std::optional<int64_t>">:$sparseDim);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def NvTileAA_MemTokenType : NvTileAA_Type<"MemToken", "mem_token"> {
  let summary = "order of memory accesses, without a run-time value";
}

#endif
