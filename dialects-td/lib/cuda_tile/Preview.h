//===- Preview.h - Expressions of tile libraries --------------------------===//
//
// Notation and values of the expressions that types, layouts and operations of the
// preview feature `simt` share.
//
//===----------------------------------------------------------------------===//
#ifndef CUDA_TILE_PREVIEW_H
#define CUDA_TILE_PREVIEW_H

#include "cuda_tile/CudaTile.h"

namespace cuda_tile {
/// The places of expressions, which differ in notation.
enum class ExprSite {
  /// Constants and sizes: `N*2`, types, strings.
  Constant,
  /// Modes of layouts: `N * 2`, `context.num_threads`.
  Layout,
};

/// Whether infix notation can express the attribute so that it is parsed again.
bool hasInfix(::mlir::Attribute expr, ExprSite site);
/// Prints an expression, in parentheses if it binds less tightly than `least`.
void printInfix(::mlir::AsmPrinter &printer, ::mlir::Attribute expr,
                ExprSite site, int least = 0);
::mlir::ParseResult parseExpr(::mlir::AsmParser &parser, ExprSite site,
                              ::mlir::Attribute &expr);
/// `<[a, b]>`; the list is null if there is none.
void printExprs(::mlir::AsmPrinter &printer, ::mlir::ArrayAttr list);
::mlir::ParseResult parseOptionalExprs(::mlir::AsmParser &parser,
                                       ::mlir::ArrayAttr &list);

/// The attribute or type of these parameters, or null after an error at `loc`. The
/// arguments must have the types of the parameters: MLIR's template of the same purpose
/// needs the storage class, which only one file has.
template <typename T, typename... Args>
T getChecked(::mlir::AsmParser &parser, ::llvm::SMLoc loc, Args... args) {
  auto emit = [&] { return parser.emitError(loc); };
  return T::getChecked(
      ::llvm::function_ref<::mlir::InFlightDiagnostic()>(emit),
      parser.getContext(), args...);
}

/// The value of an expression without variables and builtins, if it fits in 64 bits.
std::optional<int64_t> evaluate(::mlir::Attribute expr);
} // namespace cuda_tile

#endif // CUDA_TILE_PREVIEW_H
