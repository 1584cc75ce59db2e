//===- CudaTile.h - C++ classes of the cuda_tile dialect ------------------===//
//
// The classes themselves are generated from `dialects-td/cuda_tile`. This file
// declares the functions that the generated code calls.
//
// Compile with clang only: the TypeID of a trait is a hash of the compiler's
// spelling of its name, which must match the spelling in libMLIR.
//
//===----------------------------------------------------------------------===//
#ifndef CUDA_TILE_CUDATILE_H
#define CUDA_TILE_CUDATILE_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "cuda_tile/CudaTileDialect.h.inc"
#include "cuda_tile/CudaTileEnums.h.inc"

namespace cuda_tile {
class TileType;
class TensorViewType;
class DISubprogramAttr;
class ExprTupleAttr;
class LayoutAttr;

/// Whether the attribute is an expression of a tile library.
bool isSymbolicExpr(::mlir::Attribute attr);

//===----------------------------------------------------------------------===//
// Element types, with one predicate per set that the language names.
//===----------------------------------------------------------------------===//

bool isI1Element(::mlir::Type type);
/// i1, i8, i16, i32.
bool isSmallIntElement(::mlir::Type type);
bool isI8Element(::mlir::Type type);
bool isI32Element(::mlir::Type type);
bool isI64Element(::mlir::Type type);
bool isF32Element(::mlir::Type type);
/// i1, i8, i16, i32, i64; not i4.
bool isIntElement(::mlir::Type type);
/// f16, bf16, f32, f64: the formats that support arithmetic.
bool isBaseFloatElement(::mlir::Type type);
/// fnv8E5M3FNU, which is not an MLIR type.
bool isF8E5M3Element(::mlir::Type type);
/// Returns the number of bits of an integer or floating-point element.
unsigned getElementBits(::mlir::Type type);
/// Returns the type of the constants of a tile type, which hold bits if MLIR lacks
/// an attribute for the numbers.
TileType getConstantType(TileType type);
/// Whether an attribute of the first type holds constants of the second.
bool holdsConstantsOf(::mlir::Type attribute, ::mlir::Type type);
/// The formats above and the storage-only formats.
bool isAnyFloatElement(::mlir::Type type);
/// Integers and all floating-point formats.
bool isNumberElement(::mlir::Type type);
bool isIntOrI4Element(::mlir::Type type);
bool isNumberOrI4Element(::mlir::Type type);
bool isPointerElement(::mlir::Type type);
bool isMmafElement(::mlir::Type type);
bool isMmafAccElement(::mlir::Type type);
bool isMmafScaledElement(::mlir::Type type);
bool isMmafScaleElement(::mlir::Type type);

bool isTileOf(::mlir::Type type, bool (*element)(::mlir::Type));
bool isScalarTileOf(::mlir::Type type, bool (*element)(::mlir::Type));
/// Whether `pointer` is a tile of pointers to elements of the type of the tile
/// `value`, with the same shape.
bool isPointerTileTo(::mlir::Type pointer, ::mlir::Type value);
bool isI1TileOfSameShape(::mlir::Type result, ::mlir::Type operand);
bool haveSameShape(::mlir::Type a, ::mlir::Type b);

//===----------------------------------------------------------------------===//
// Types without their prefix
//===----------------------------------------------------------------------===//

/// Returns the text of a type without its prefix.
std::string getBareName(::mlir::Type type);
/// Parses a type whose prefix `!cuda_tile.` may be omitted.
::mlir::ParseResult parseBareType(::mlir::AsmParser &parser,
                                  ::mlir::Type &type);
/// Prints a type of the dialect without its prefix, any other as usual.
void printBareType(::mlir::AsmPrinter &printer, ::mlir::Type type);

//===----------------------------------------------------------------------===//
// Switches. They must be set before any context loads the dialect.
//===----------------------------------------------------------------------===//

/// Sets whether unknown or ill-formed optimization hints are reported, and whether
/// a report fails verification. `error` has no effect without `warn`.
void setHintChecks(bool warn, bool error);
/// Sets whether the dialect registers the operations of TestingOps.td.
void setTestingOps(bool enabled);

//===----------------------------------------------------------------------===//
// Debug information
//===----------------------------------------------------------------------===//

/// A scope inside a compile unit: a subprogram or a lexical block.
class DILocalScopeAttr : public ::mlir::Attribute {
public:
  using ::mlir::Attribute::Attribute;
  static bool classof(::mlir::Attribute attr);
  /// The subprogram that the scope belongs to.
  DISubprogramAttr getSubprogram() const;
};
} // namespace cuda_tile

#include "cuda_tile/CudaTileTypeInterfaces.h.inc"
#include "cuda_tile/CudaTileAttrInterfaces.h.inc"

#define GET_TYPEDEF_CLASSES
#include "cuda_tile/CudaTileTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "cuda_tile/CudaTileAttrs.h.inc"

namespace cuda_tile {
/// Returns the debug location in `loc`, or null: the location itself, the caller of
/// a call site, the first part of a fusion that has one, the child of a name, the
/// fallback of an opaque location.
DILocAttr findDebugLoc(::mlir::LocationAttr loc);

class EntryOp;
class IfOp;
class LoopOp;
class ForOp;
class ReduceOp;
class ScanOp;
class TestingFuncOp;

/// Returns the function (entry or testing function) that contains `op`, or null.
::mlir::FunctionOpInterface getParentFunction(::mlir::Operation *op);
} // namespace cuda_tile

#define GET_OP_CLASSES
#include "cuda_tile/CudaTileOps.h.inc"

#endif // CUDA_TILE_CUDATILE_H
