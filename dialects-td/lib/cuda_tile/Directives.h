//===- Directives.h - Custom directives of the assembly formats -----------===//
//
// Declarations for the generated parsers and printers. The attribute directives
// differ from MLIR's own enumeration syntax in their diagnostics, and in that a
// default value prints nothing.
//
//===----------------------------------------------------------------------===//
#ifndef CUDA_TILE_DIRECTIVES_H
#define CUDA_TILE_DIRECTIVES_H

#include "cuda_tile/CudaTile.h"

#include "mlir/IR/Builders.h"

namespace cuda_tile {
using ::mlir::Operation;
using ::mlir::OpAsmParser;
using ::mlir::OpAsmPrinter;
using ::mlir::ParseResult;
using ::mlir::Type;
using ::mlir::TypeRange;
using Operands = ::llvm::ArrayRef<OpAsmParser::UnresolvedOperand>;
using Types = ::llvm::SmallVectorImpl<Type>;

ParseResult parseBareTypes(OpAsmParser &parser, Types &types);
void printBareType(OpAsmPrinter &printer, Operation *op, Type type);
void printBareTypes(OpAsmPrinter &printer, Operation *op, TypeRange types);

// Operands that are required after their keyword. MLIR's own optional group would
// accept `token=` without a token.
ParseResult
parseOperand(OpAsmParser &parser,
             ::std::optional<OpAsmParser::UnresolvedOperand> &operand);
void printOperand(OpAsmPrinter &printer, Operation *op, ::mlir::Value operand);
ParseResult parseOperands(
    OpAsmParser &parser,
    ::llvm::SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands);
void printOperands(OpAsmPrinter &printer, Operation *op,
                   ::mlir::OperandRange operands);

// `<[a, b]>`, or nothing for an empty list.
ParseResult parseConstArgs(OpAsmParser &parser, ::mlir::ArrayAttr &list);
void printConstArgs(OpAsmPrinter &printer, Operation *op, ::mlir::ArrayAttr list);

ParseResult parseSignedness(OpAsmParser &parser, SignednessAttr &attr);
void printSignedness(OpAsmPrinter &printer, Operation *op, SignednessAttr attr);

ParseResult parseComparisonPredicate(OpAsmParser &parser,
                                     ComparisonPredicateAttr &attr);
void printComparisonPredicate(OpAsmPrinter &printer, Operation *op,
                              ComparisonPredicateAttr attr);
ParseResult parseComparisonOrdering(OpAsmParser &parser,
                                    ComparisonOrderingAttr &attr);
void printComparisonOrdering(OpAsmPrinter &printer, Operation *op,
                             ComparisonOrderingAttr attr);

// `rounding<mode>`, with the modes and the default of the operation.
ParseResult parseConversionRounding(OpAsmParser &parser,
                                    RoundingModeAttr &attr);
void printConversionRounding(OpAsmPrinter &printer, Operation *op,
                             RoundingModeAttr attr);
ParseResult parseIEEERounding(OpAsmParser &parser, RoundingModeAttr &attr);
void printIEEERounding(OpAsmPrinter &printer, Operation *op,
                       RoundingModeAttr attr);
ParseResult parseDivRounding(OpAsmParser &parser, RoundingModeAttr &attr);
void printDivRounding(OpAsmPrinter &printer, Operation *op,
                      RoundingModeAttr attr);
ParseResult parseSqrtRounding(OpAsmParser &parser, RoundingModeAttr &attr);
void printSqrtRounding(OpAsmPrinter &printer, Operation *op,
                       RoundingModeAttr attr);
ParseResult parseApproxOrFullRounding(OpAsmParser &parser,
                                      RoundingModeAttr &attr);
void printApproxOrFullRounding(OpAsmPrinter &printer, Operation *op,
                               RoundingModeAttr attr);
ParseResult parseIntegralRounding(OpAsmParser &parser, RoundingModeAttr &attr);
void printIntegralRounding(OpAsmPrinter &printer, Operation *op,
                           RoundingModeAttr attr);

// An ordering and an optional scope. Accesses through pointers use MLIR's
// enumeration syntax and diagnostics; accesses through views use the language's
// diagnostics, and a weak access must not have a scope.
ParseResult parsePointerMemoryAttributes(OpAsmParser &parser,
                                         MemoryOrderingSemanticsAttr &ordering,
                                         MemoryScopeAttr &scope);
void printPointerMemoryAttributes(OpAsmPrinter &printer, Operation *op,
                                  MemoryOrderingSemanticsAttr ordering,
                                  MemoryScopeAttr scope);
ParseResult parseMemoryAttributes(OpAsmParser &parser,
                                  MemoryOrderingSemanticsAttr &ordering,
                                  MemoryScopeAttr &scope);
void printMemoryAttributes(OpAsmPrinter &printer, Operation *op,
                           MemoryOrderingSemanticsAttr ordering,
                           MemoryScopeAttr scope);

// `<element: literal> : type`
ParseResult parseTypedLiteral(OpAsmParser &parser,
                              ::mlir::DenseIntOrFPElementsAttr &value,
                              Type &type);
void printTypedLiteral(OpAsmPrinter &printer, Operation *op,
                       ::mlir::DenseIntOrFPElementsAttr value, Type type);
ParseResult parseGlobalLiteral(OpAsmParser &parser,
                               ::mlir::DenseIntOrFPElementsAttr &value,
                               ::mlir::TypeAttr &elementType);
void printGlobalLiteral(OpAsmPrinter &printer, Operation *op,
                        ::mlir::DenseIntOrFPElementsAttr value,
                        ::mlir::TypeAttr elementType);

// Nothing, one type for all indices, or one type for each.
ParseResult parseIndexAndTokenTypes(
    OpAsmParser &parser,
    ::llvm::ArrayRef<OpAsmParser::UnresolvedOperand> indices,
    ::llvm::SmallVectorImpl<::mlir::Type> &types,
    const std::optional<OpAsmParser::UnresolvedOperand> &token);
void printIndexAndTokenTypes(OpAsmPrinter &printer, Operation *op,
                             ::mlir::OperandRange indices,
                             ::mlir::TypeRange types, ::mlir::Value token);
ParseResult parseIndexTypes(OpAsmParser &parser, Operands indices,
                            Types &types);
void printIndexTypes(OpAsmPrinter &printer, Operation *op,
                     ::mlir::OperandRange indices, TypeRange types);

// The type of a view, which contains the type of the tensor view.
ParseResult parsePartitionViewType(OpAsmParser &parser, Type &tensorView,
                                   Type &view);
void printPartitionViewType(OpAsmPrinter &printer, Operation *op,
                            Type tensorView, Type view);
ParseResult parseStridedViewType(OpAsmParser &parser, Type &tensorView,
                                 Type &view);
void printStridedViewType(OpAsmPrinter &printer, Operation *op, Type tensorView,
                          Type view);
ParseResult parseGatherScatterViewType(OpAsmParser &parser, Type &tensorView,
                                       Type &view);
void printGatherScatterViewType(OpAsmPrinter &printer, Operation *op,
                                Type tensorView, Type view);

ParseResult parseAssumePredicate(OpAsmParser &parser,
                                 AssumePredicateAttrInterface &predicate);
void printAssumePredicate(OpAsmPrinter &printer, Operation *op,
                          AssumePredicateAttrInterface predicate);

ParseResult parseVisibility(OpAsmParser &parser, SymbolVisibilityAttr &attr);
void printVisibility(OpAsmPrinter &printer, Operation *op,
                     SymbolVisibilityAttr attr);

/// `inbounds = [true, false]`, or nothing.
ParseResult parseInbounds(OpAsmParser &parser,
                          ::mlir::DenseBoolArrayAttr &attr);
void printInbounds(OpAsmPrinter &printer, Operation *op,
                   ::mlir::DenseBoolArrayAttr attr);

/// Appends the operation `name`, without operands, unless the region already ends
/// in a terminator.
void ensureTerminator(::mlir::Region &region, ::mlir::Builder &builder,
                      ::mlir::Location loc, ::llvm::StringRef name);
} // namespace cuda_tile

#endif // CUDA_TILE_DIRECTIVES_H
