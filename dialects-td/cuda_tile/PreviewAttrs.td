//===- PreviewAttrs.td - Types and attributes of previews --*- tablegen -*-===//
//
// Tile libraries describe functions whose sizes may be symbolic. An expression is
// an integer, a variable, arithmetic on expressions, a tuple of expressions, an
// element type, a string, or a fact about the launch. A layout maps coordinates to
// numbers: a tuple of extents and a tuple of strides of the same structure.
//
// Mnemonics contain `$`, so MLIR prints `#cuda_tile<preview$access<in>>`.
//
//===----------------------------------------------------------------------===//
#ifndef CUDA_TILE_PREVIEW_ATTRS_TD
#define CUDA_TILE_PREVIEW_ATTRS_TD

include "cuda_tile/CudaTileAttrs.td"
include "cuda_tile/CudaTileTypes.td"

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

class CudaTile_Expr<string name, string mnemonic>
    : CudaTile_AttrDef<name, "preview$" # mnemonic>;

def CudaTile_ExprIntAttr : CudaTile_Expr<"ExprInt", "expr_int"> {
  let summary = "integer";
  let parameters = (ins "int64_t":$value);
  let assemblyFormat = "`<` $value `>`";
}

def CudaTile_ExprVarAttr : CudaTile_Expr<"ExprVar", "expr_var"> {
  let summary = "variable";
  let description = "The name of a constant parameter. It has no dot.";
  let parameters = (ins "::mlir::StringAttr":$name);
  let assemblyFormat = "`<` $name `>`";
  let genVerifyDecl = 1;
}

class CudaTile_BinaryExpr<string name, string mnemonic>
    : CudaTile_Expr<name, mnemonic> {
  let parameters = (ins "::mlir::Attribute":$lhs, "::mlir::Attribute":$rhs);
  let assemblyFormat = "`<` $lhs `,` $rhs `>`";
  let genVerifyDecl = 1;
}
def CudaTile_ExprMulAttr : CudaTile_BinaryExpr<"ExprMul", "expr_mul"> {
  let summary = "product";
}
def CudaTile_ExprDivAttr : CudaTile_BinaryExpr<"ExprDiv", "expr_div"> {
  let summary = "quotient, rounded down";
}
def CudaTile_ExprAddAttr : CudaTile_BinaryExpr<"ExprAdd", "expr_add"> {
  let summary = "sum";
}
def CudaTile_ExprSubAttr : CudaTile_BinaryExpr<"ExprSub", "expr_sub"> {
  let summary = "difference";
}
def CudaTile_ExprFloorDivAttr
    : CudaTile_BinaryExpr<"ExprFloorDiv", "expr_floor_div"> {
  let summary = "quotient, rounded down";
}
def CudaTile_ExprCeilDivAttr
    : CudaTile_BinaryExpr<"ExprCeilDiv", "expr_ceil_div"> {
  let summary = "quotient, rounded up";
}

def CudaTile_ExprNegAttr : CudaTile_Expr<"ExprNeg", "expr_neg"> {
  let summary = "negation";
  let parameters = (ins "::mlir::Attribute":$operand);
  let assemblyFormat = "`<` $operand `>`";
  let genVerifyDecl = 1;
}

def CudaTile_ExprTupleAttr : CudaTile_Expr<"ExprTuple", "symbolic_tuple"> {
  let summary = "tuple of expressions";
  let parameters = (ins "::mlir::ArrayAttr":$elements);
  let assemblyFormat = "`<` $elements `>`";
  let genVerifyDecl = 1;
}

def CudaTile_ExprTypeAttr : CudaTile_Expr<"ExprType", "concrete_type"> {
  let summary = "type";
  let parameters = (ins "::mlir::Type":$type);
  let assemblyFormat = "`<` $type `>`";
}

def CudaTile_ExprStringAttr : CudaTile_Expr<"ExprString", "expr_const_str"> {
  let summary = "string";
  let parameters = (ins "::mlir::StringAttr":$value);
  let assemblyFormat = "`<` $value `>`";
}

def CudaTile_ExprBuiltinAttr : CudaTile_Expr<"ExprBuiltin", "expr_builtin"> {
  let summary = "fact about the launch";
  let description = "`context.num_threads` is the number of threads of a CTA.";
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::Type":$type);
  let assemblyFormat = "`<` $name `,` $type `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Layouts and descriptions of functions
//===----------------------------------------------------------------------===//

def CudaTile_LayoutAttr : CudaTile_Expr<"Layout", "layout"> {
  let summary = "map from coordinates to numbers";
  let description = [{
    `<(4, (2, N)):(1, (4, 8))>` has two modes, the second of two submodes. A
    coordinate counts through the submodes from the first one on, and adds the
    stride of each. A layout that infix notation cannot express prints as
    `<shapes = ..., strides = ...>`.
  }];
  let parameters = (ins "::cuda_tile::ExprTupleAttr":$shapes,
                        "::cuda_tile::ExprTupleAttr":$strides);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def CudaTile_ScratchAttr : CudaTile_Expr<"Scratch", "scratch_request"> {
  let summary = "shared memory that a library function needs";
  let parameters = (ins "::mlir::Attribute":$size,
                        "::mlir::Attribute":$alignment);
  let assemblyFormat = [{
    `<` `smem.size` `=` $size `,` `smem.alignment` `=` $alignment `>`
  }];
  let genVerifyDecl = 1;
}

def CudaTile_ConstParamAttr : CudaTile_Expr<"ConstParam", "const_param"> {
  let summary = "compile-time parameter of a library function";
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::Type":$type);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

def CudaTile_SymbolicType : CudaTile_TypeDef<"Symbolic", "preview$sym_t"> {
  let summary = "element type that a constant parameter names";
  let parameters = (ins "::mlir::Attribute":$variable);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}
def CudaTile_DatatypeType : CudaTile_TypeDef<"Datatype", "preview$Datatype"> {
  let summary = "kind of constant parameters that are element types";
}
def CudaTile_ShapeType : CudaTile_TypeDef<"Shape", "preview$shape"> {
  let summary = "kind of constant parameters that are shapes";
}
def CudaTile_StringType : CudaTile_TypeDef<"String", "preview$string"> {
  let summary = "kind of constant parameters that are strings";
}

def CudaTile_FragmentType : CudaTile_TypeDef<"Fragment", "preview$fragment"> {
  let summary = "part of a tile that one call of a library function gets";
  let description = [{
    `preview$fragment<4xf32, local, mem_layout = <(4):(1)>, fragmap = <(1, 32,
    4):(0, 4, 1)>>`. The modes of the fragment map are invocation, participant
    and footprint; it maps them to the column-major number of an element of the
    tile. The memory layout maps coordinates of the fragment to offsets. `sizes`
    repeats the shape, with dynamic sizes for expressions.
  }];
  let parameters = (ins "::cuda_tile::ExprTupleAttr":$shape,
    ArrayRefParameter<"int64_t">:$sizes, "::mlir::Type":$elementType,
    "::cuda_tile::PreviewSpace":$space,
    "::cuda_tile::LayoutAttr":$memLayout, "::cuda_tile::LayoutAttr":$fragmap,
    "::mlir::Attribute":$alignment);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

#endif // CUDA_TILE_PREVIEW_ATTRS_TD
