//===- CudaTileOpBase.td - Constraints shared by the ops ---*- tablegen -*-===//
//
// The verifier reports a bad operand with the summary of the violated
// constraint, so these summaries are part of the language's contract, word for
// word.
//
// Every operation prints types through the directive `BareType`, which omits
// the prefix `!cuda_tile.`, and most enumerations through custom directives:
// the contract also fixes their diagnostics, which differ from MLIR's.
//
//===----------------------------------------------------------------------===//
#ifndef CUDA_TILE_OP_BASE_TD
#define CUDA_TILE_OP_BASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/LoopLikeInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "cuda_tile/CudaTileAttrs.td"
include "cuda_tile/CudaTileTypes.td"

class CudaTile_Op<string mnemonic, list<Trait> traits = []>
    : Op<CudaTile_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// Type constraints
//===----------------------------------------------------------------------===//

// A set of element types: a C++ predicate over the element type, and its text.
class CudaTile_Elements<string p, string t> {
  string predicate = "::cuda_tile::" # p;
  string text = t;
}
def CudaTile_IntElements
    : CudaTile_Elements<"isIntElement", "i1 or i8 or i16 or i32 or i64">;
def CudaTile_FloatElements
    : CudaTile_Elements<"isBaseFloatElement", "f16 or bf16 or f32 or f64">;
def CudaTile_AnyFloatElements
    : CudaTile_Elements<"isAnyFloatElement",
        "f16 or bf16 or f32 or f64 or tf32 or f8E4M3FN or f8E5M2 or "
        "f8E8M0FNU or f4E2M1FN or fnv8E5M3FNU">;
def CudaTile_NumberElements
    : CudaTile_Elements<"isNumberElement",
        !strconcat(CudaTile_IntElements.text, " or ",
                   CudaTile_AnyFloatElements.text)>;
def CudaTile_IntOrI4Elements
    : CudaTile_Elements<"isIntOrI4Element",
        !strconcat(CudaTile_IntElements.text, " or i4")>;
def CudaTile_NumberOrI4Elements
    : CudaTile_Elements<"isNumberOrI4Element",
        !strconcat(CudaTile_NumberElements.text, " or i4")>;
def CudaTile_PtrElements
    : CudaTile_Elements<"isPointerElement", "Pointer type">;
def CudaTile_SmallIntElements
    : CudaTile_Elements<"isSmallIntElement", "i1 or i8 or i16 or i32">;
def CudaTile_I1Elements : CudaTile_Elements<"isI1Element", "i1">;
def CudaTile_I8Elements : CudaTile_Elements<"isI8Element", "i8">;
def CudaTile_I32Elements : CudaTile_Elements<"isI32Element", "i32">;
def CudaTile_I64Elements : CudaTile_Elements<"isI64Element", "i64">;
def CudaTile_F32Elements : CudaTile_Elements<"isF32Element", "f32">;
def CudaTile_MmafElements
    : CudaTile_Elements<"isMmafElement",
        "f16 or bf16 or f32 or f64 or tf32 or f8E4M3FN or f8E5M2">;
def CudaTile_MmafAccElements
    : CudaTile_Elements<"isMmafAccElement", "f16 or f32 or f64">;
def CudaTile_MmafScaledElements
    : CudaTile_Elements<"isMmafScaledElement",
        "f8E4M3FN or f8E5M2 or f4E2M1FN">;
def CudaTile_MmafScaleElements
    : CudaTile_Elements<"isMmafScaleElement",
        "f8E4M3FN or f8E8M0FNU or fnv8E5M3FNU">;

class CudaTile_TileOf<CudaTile_Elements elements, string prefix = "tile of ">
    : Type<CPred<"::cuda_tile::isTileOf($_self, " # elements.predicate # ")">,
           prefix # elements.text # " values", "::cuda_tile::TileType">;

class CudaTile_ScalarOf<CudaTile_Elements elements>
    : Type<CPred<"::cuda_tile::isScalarTileOf($_self, " # elements.predicate #
                 ")">,
           "0D tile of " # elements.text # " values", "::cuda_tile::TileType">;

def CudaTile_AnyTile
    : Type<CPred<"::llvm::isa<::cuda_tile::TileType>($_self)">, "Tile type",
           "::cuda_tile::TileType">;
def CudaTile_IntTile : CudaTile_TileOf<CudaTile_IntElements>;
def CudaTile_FloatTile : CudaTile_TileOf<CudaTile_FloatElements>;
def CudaTile_AnyFloatTile : CudaTile_TileOf<CudaTile_AnyFloatElements>;
def CudaTile_NumberTile : CudaTile_TileOf<CudaTile_NumberElements>;
def CudaTile_IntOrI4Tile : CudaTile_TileOf<CudaTile_IntOrI4Elements>;
def CudaTile_NumberOrI4Tile : CudaTile_TileOf<CudaTile_NumberOrI4Elements>;
def CudaTile_PtrTile : CudaTile_TileOf<CudaTile_PtrElements>;
def CudaTile_SmallIntTile : CudaTile_TileOf<CudaTile_SmallIntElements>;
def CudaTile_I1Tile : CudaTile_TileOf<CudaTile_I1Elements>;
def CudaTile_I8Tile : CudaTile_TileOf<CudaTile_I8Elements>;
def CudaTile_I64Tile : CudaTile_TileOf<CudaTile_I64Elements>;

def CudaTile_ScalarInt : CudaTile_ScalarOf<CudaTile_IntElements>;
def CudaTile_ScalarPtr : CudaTile_ScalarOf<CudaTile_PtrElements>;

// Each of these two denotes a single type, so that formats need not spell it.
def CudaTile_ScalarI1 : CudaTile_ScalarOf<CudaTile_I1Elements>,
    BuildableType<"::cuda_tile::TileType::get({}, $_builder.getI1Type())">;
def CudaTile_ScalarI32 : CudaTile_ScalarOf<CudaTile_I32Elements>,
    BuildableType<"::cuda_tile::TileType::get({}, $_builder.getI32Type())">;

def CudaTile_MmafTile : CudaTile_TileOf<CudaTile_MmafElements,
    "mmaf operand tile type of ">;
def CudaTile_MmafAccTile : CudaTile_TileOf<CudaTile_MmafAccElements,
    "mmaf acc/result tile type of ">;
def CudaTile_MmaiTile : CudaTile_TileOf<CudaTile_I8Elements,
    "mmai operand tile type of ">;
def CudaTile_MmaiAccTile : CudaTile_TileOf<CudaTile_I32Elements,
    "mmai acc/result tile type of ">;
def CudaTile_MmafScaledTile : CudaTile_TileOf<CudaTile_MmafScaledElements,
    "mmaf_scaled operand tile type of ">;
def CudaTile_MmafScaledAccTile : CudaTile_TileOf<CudaTile_F32Elements,
    "mmaf_scaled result tile type of ">;
def CudaTile_MmafScaleTile : CudaTile_TileOf<CudaTile_MmafScaleElements,
    "mmaf_scaled scale tile type of ">;

def CudaTile_Token
    : Type<CPred<"::llvm::isa<::cuda_tile::TokenType>($_self)">,
           "cuda tile token type", "::cuda_tile::TokenType">,
      BuildableType<"::cuda_tile::TokenType::get($_builder.getContext())">;
def CudaTile_TensorView
    : Type<CPred<"::llvm::isa<::cuda_tile::TensorViewType>($_self)">,
           "tensor view type", "::cuda_tile::TensorViewType">;
class CudaTile_ViewOf<string typeClass, string text>
    : Type<CPred<"::llvm::isa<::cuda_tile::" # typeClass # ">($_self)">, text,
           "::cuda_tile::" # typeClass>;
def CudaTile_PartitionView
    : CudaTile_ViewOf<"PartitionViewType", "partition view type">;
def CudaTile_StridedView
    : CudaTile_ViewOf<"StridedViewType", "strided view type">;
def CudaTile_GatherScatterView
    : CudaTile_ViewOf<"GatherScatterViewType", "gather/scatter view type">;
def CudaTile_AnyTileView
    : Type<CPred<"::llvm::isa<::cuda_tile::TileView>($_self)">,
           "TileView instance", "::cuda_tile::TileView">;

// The operands of break, continue and yield.
def CudaTile_AnyValue
    : Type<CPred<"::cuda_tile::isNumberElement($_self) || "
                 "::llvm::isa<::cuda_tile::CudaTileDialect>("
                 "$_self.getDialect())">,
           "number or type of the cuda_tile dialect">;

//===----------------------------------------------------------------------===//
// Attribute constraints
//===----------------------------------------------------------------------===//

def CudaTile_DimAttr : ConfinedAttr<I32Attr, [IntNonNegative]>;
def CudaTile_NonNegativeI64Attr : ConfinedAttr<I64Attr, [IntMinValue<0>]>;

def CudaTile_DenseElementsAttr
    : ElementsAttrBase<
        CPred<"::llvm::isa<::mlir::DenseIntOrFPElementsAttr>($_self)">,
        "An Attribute containing a dense multi-dimensional array of integer or "
        "floating-point values"> {
  let storageType = "::mlir::DenseIntOrFPElementsAttr";
  let returnType = "::mlir::DenseIntOrFPElementsAttr";
  let convertFromStorage = "$_self";
}

//===----------------------------------------------------------------------===//
// Traits
//===----------------------------------------------------------------------===//

class CudaTile_SameType<list<string> names> : AllTypesMatch<names>;
// A constant's attribute has the type of the result or the type of its bits.
def CudaTile_ConstantType
    : PredOpTrait<"all of {value, result} have same type",
        CPred<"::cuda_tile::holdsConstantsOf(getValue().getType(), "
              "$result.getType())">>;
class CudaTile_SameShape<list<string> names> : AllShapesMatch<names>;
class CudaTile_SameRank<list<string> names> : AllRanksMatch<names>;

// AllElementTypesMatch, but with the article of the language's text.
class CudaTile_SameElementType<list<string> names>
    : PredOpTrait<"all of {" # !interleave(names, ", ") #
                  "} have the same element type",
        AllMatchSameOperatorPred<names, ElementType<"_self">.result>>;

class CudaTile_PointerTo<string pointer, string value>
    : PredOpTrait<"`" # pointer # "` type is expected a pointer type of `" #
                  value # "` type",
        CPred<"::cuda_tile::isPointerTileTo($" # pointer # ".getType(), $" #
              value # ".getType())">>;

def CudaTile_I1ResultOfLhsShape
    : PredOpTrait<"Result type has i1 element type and same shape as operands",
        CPred<"::cuda_tile::isI1TileOfSameShape($result.getType(), "
              "$lhs.getType())">>;

// The text fixes the order of the operands. The predicate uses the accessor of
// the mask: `$mask` would be the first element of a list that may be empty.
class CudaTile_MaskShape<string other, string text>
    : PredOpTrait<text,
        CPred<"!getMask() || ::cuda_tile::haveSameShape("
              "getMask().getType(), $" # other # ".getType())">>;

// Regions whose operations may omit the prefix of the dialect.
class CudaTile_AsmInterface<list<string> methods = []>
    : DeclareOpInterfaceMethods<OpAsmOpInterface, methods>;
def CudaTile_RegionAsm : CudaTile_AsmInterface<["getDefaultDialect"]>;
def CudaTile_NamesResult : CudaTile_AsmInterface<["getAsmResultNames"]>;

#endif // CUDA_TILE_OP_BASE_TD
