//===- CudaTileEnums.td - Enumerations of the dialect ------*- tablegen -*-===//
//
// Most enumerations are attributes of this dialect and print as
// `#cuda_tile.<mnemonic><keyword>`. The three enumerations of the memory model
// are plain 32-bit integer attributes: the public language spells them so in
// generic form, and the keywords exist only in custom syntax.
//
// The integer of each case is also its bytecode encoding.
//
//===----------------------------------------------------------------------===//
#ifndef CUDA_TILE_ENUMS_TD
#define CUDA_TILE_ENUMS_TD

include "mlir/IR/EnumAttr.td"
include "cuda_tile/CudaTileDialect.td"

class CudaTile_I32Enum<string name, string text, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, text, cases> {
  let cppNamespace = "::cuda_tile";
  // The attribute class is CudaTile_EnumAttr's.
  let genSpecializedAttr = 0;
}

class CudaTile_EnumAttr<EnumInfo info, string mnemonic>
    : EnumAttr<CudaTile_Dialect, info, mnemonic> {
  let assemblyFormat = "`<` $value `>`";
}

// A plain integer attribute. The summary is empty so that MLIR generates the
// text "allowed 32-bit signless integer cases: ...".
class CudaTile_IntegerEnumAttr<string name, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, "", cases> {
  let cppNamespace = "::cuda_tile";
}

def CudaTile_Signedness : CudaTile_I32Enum<"Signedness",
    "interpretation of the bits of an integer", [
      I32EnumAttrCase<"Unsigned", 0, "unsigned">,
      I32EnumAttrCase<"Signed", 1, "signed">
    ]>;
def CudaTile_SignednessAttr
    : CudaTile_EnumAttr<CudaTile_Signedness, "signedness">;

def CudaTile_IntegerOverflow : CudaTile_I32Enum<"IntegerOverflow",
    "promises about integer overflow", [
      I32EnumAttrCase<"None", 0, "none">,
      I32EnumAttrCase<"NoSignedWrap", 1, "no_signed_wrap">,
      I32EnumAttrCase<"NoUnsignedWrap", 2, "no_unsigned_wrap">,
      I32EnumAttrCase<"NoWrap", 3, "no_wrap">
    ]>;
def CudaTile_IntegerOverflowAttr
    : CudaTile_EnumAttr<CudaTile_IntegerOverflow, "overflow">;

def CudaTile_RoundingMode : CudaTile_I32Enum<"RoundingMode",
    "rounding or approximation of a numeric operation", [
      I32EnumAttrCase<"NearestEven", 0, "nearest_even">,
      I32EnumAttrCase<"Zero", 1, "zero">,
      I32EnumAttrCase<"NegativeInf", 2, "negative_inf">,
      I32EnumAttrCase<"PositiveInf", 3, "positive_inf">,
      I32EnumAttrCase<"Approx", 4, "approx">,
      I32EnumAttrCase<"Full", 5, "full">,
      I32EnumAttrCase<"NearestIntToZero", 6, "nearest_int_to_zero">,
      I32EnumAttrCase<"NearestAway", 7, "nearest_away">
    ]>;
def CudaTile_RoundingModeAttr
    : CudaTile_EnumAttr<CudaTile_RoundingMode, "rounding">;

def CudaTile_ComparisonOrdering : CudaTile_I32Enum<"ComparisonOrdering",
    "result of a floating-point comparison with NaN", [
      I32EnumAttrCase<"Unordered", 0, "unordered">,
      I32EnumAttrCase<"Ordered", 1, "ordered">
    ]>;
def CudaTile_ComparisonOrderingAttr
    : CudaTile_EnumAttr<CudaTile_ComparisonOrdering, "comparison_ordering">;

def CudaTile_ComparisonPredicate : CudaTile_I32Enum<"ComparisonPredicate",
    "relation tested by a comparison", [
      I32EnumAttrCase<"Equal", 0, "equal">,
      I32EnumAttrCase<"NotEqual", 1, "not_equal">,
      I32EnumAttrCase<"LessThan", 2, "less_than">,
      I32EnumAttrCase<"LessThanOrEqual", 3, "less_than_or_equal">,
      I32EnumAttrCase<"GreaterThan", 4, "greater_than">,
      I32EnumAttrCase<"GreaterThanOrEqual", 5, "greater_than_or_equal">
    ]>;
def CudaTile_ComparisonPredicateAttr
    : CudaTile_EnumAttr<CudaTile_ComparisonPredicate, "comparison_predicate">;

def CudaTile_PaddingValue : CudaTile_I32Enum<"PaddingValue",
    "value of tile elements outside the tensor", [
      I32EnumAttrCase<"Zero", 0, "zero">,
      I32EnumAttrCase<"NegZero", 1, "neg_zero">,
      I32EnumAttrCase<"Nan", 2, "nan">,
      I32EnumAttrCase<"PosInf", 3, "pos_inf">,
      I32EnumAttrCase<"NegInf", 4, "neg_inf">
    ]>;
def CudaTile_PaddingValueAttr
    : CudaTile_EnumAttr<CudaTile_PaddingValue, "padding_value">;

def CudaTile_PointerKind : CudaTile_I32Enum<"PointerKind",
    "kind of object that an address refers to", [
      I32EnumAttrCase<"None", 0, "none">,
      I32EnumAttrCase<"Unicast", 1, "unicast">,
      I32EnumAttrCase<"Multicast", 2, "multicast">
    ]>;
def CudaTile_PointerKindAttr
    : CudaTile_EnumAttr<CudaTile_PointerKind, "ptr_attr">;

def CudaTile_MultimemReductionKind
    : CudaTile_I32Enum<"MultimemReductionKind",
        "combination of the memories of a multicast object", [
      I32EnumAttrCase<"Add", 0, "add">,
      I32EnumAttrCase<"Min", 1, "min">,
      I32EnumAttrCase<"Max", 2, "max">,
      I32EnumAttrCase<"And", 3, "and">,
      I32EnumAttrCase<"Or", 4, "or">,
      I32EnumAttrCase<"Xor", 5, "xor">,
      I32EnumAttrCase<"UMin", 6, "umin">,
      I32EnumAttrCase<"UMax", 7, "umax">
    ]>;
def CudaTile_MultimemReductionKindAttr
    : CudaTile_EnumAttr<CudaTile_MultimemReductionKind,
                        "multimem_reduction_kind">;

def CudaTile_SymbolVisibility : CudaTile_I32Enum<"SymbolVisibility",
    "visibility of a global", [
      I32EnumAttrCase<"Public", 0, "public">,
      I32EnumAttrCase<"Private", 1, "private">
    ]>;
def CudaTile_SymbolVisibilityAttr
    : CudaTile_EnumAttr<CudaTile_SymbolVisibility, "symbol_visibility">;

def CudaTile_PreviewSpace : CudaTile_I32Enum<"PreviewSpace",
    "memory that holds a fragment", [
      I32EnumAttrCase<"Local", 0, "local">,
      I32EnumAttrCase<"Shared", 1, "smem">
    ]>;
def CudaTile_PreviewSpaceAttr
    : CudaTile_EnumAttr<CudaTile_PreviewSpace, "preview$memory_space">;

def CudaTile_PreviewSync : CudaTile_I32Enum<"PreviewSync",
    "threads that a library function may synchronize", [
      I32EnumAttrCase<"None", 0, "none">,
      I32EnumAttrCase<"Warp", 1, "warp">,
      I32EnumAttrCase<"Warpgroup", 2, "warpgroup">,
      I32EnumAttrCase<"Cta", 3, "cta">
    ]>;
def CudaTile_PreviewSyncAttr
    : CudaTile_EnumAttr<CudaTile_PreviewSync, "preview$synchronization">;

def CudaTile_PreviewAccess : CudaTile_I32Enum<"PreviewAccess",
    "how a library function uses a parameter", [
      I32EnumAttrCase<"In", 0, "in">,
      I32EnumAttrCase<"Out", 1, "out">,
      I32EnumAttrCase<"Inout", 2, "inout">
    ]>;
def CudaTile_PreviewAccessAttr
    : CudaTile_EnumAttr<CudaTile_PreviewAccess, "preview$access">;

def CudaTile_AtomicRMWMode : CudaTile_IntegerEnumAttr<"AtomicRMWMode", [
      I32EnumAttrCase<"And", 0, "and">,
      I32EnumAttrCase<"Or", 1, "or">,
      I32EnumAttrCase<"Xor", 2, "xor">,
      I32EnumAttrCase<"Add", 3, "add">,
      I32EnumAttrCase<"AddF", 4, "addf">,
      I32EnumAttrCase<"Max", 5, "max">,
      I32EnumAttrCase<"Min", 6, "min">,
      I32EnumAttrCase<"UMax", 7, "umax">,
      I32EnumAttrCase<"UMin", 8, "umin">,
      I32EnumAttrCase<"Xchg", 9, "xchg">
    ]>;

def CudaTile_MemoryScope : CudaTile_IntegerEnumAttr<"MemoryScope", [
      I32EnumAttrCase<"TileBlock", 0, "tl_blk">,
      I32EnumAttrCase<"Device", 1, "device">,
      I32EnumAttrCase<"System", 2, "sys">
    ]>;

def CudaTile_MemoryOrderingSemantics
    : CudaTile_IntegerEnumAttr<"MemoryOrderingSemantics", [
      I32EnumAttrCase<"Weak", 0, "weak">,
      I32EnumAttrCase<"Relaxed", 1, "relaxed">,
      I32EnumAttrCase<"Acquire", 2, "acquire">,
      I32EnumAttrCase<"Release", 3, "release">,
      I32EnumAttrCase<"AcqRel", 4, "acq_rel">
    ]>;

#endif // CUDA_TILE_ENUMS_TD
