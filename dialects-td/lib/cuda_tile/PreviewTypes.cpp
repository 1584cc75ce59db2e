//===- PreviewTypes.cpp - Fragments ---------------------------------------===//
//
// Invariants of fragments, in the order in which they are checked:
//   shape       expressions that are integers; `sizes` repeats the constants
//   mem_layout  where it is constant, maps the elements to 0, 1, ... without gaps
//   alignment   positive, where it is constant
// The operation checks the fragment map, because its modes depend on each other.
//
//===----------------------------------------------------------------------===//
#include "cuda_tile/Preview.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace cuda_tile;

using EmitError = function_ref<InFlightDiagnostic()>;

//===----------------------------------------------------------------------===//
// Symbolic element types
//===----------------------------------------------------------------------===//

Type SymbolicType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  Attribute variable;
  if (parser.parseLess() || parseExpr(parser, ExprSite::Layout, variable) ||
      parser.parseGreater())
    return {};
  return cuda_tile::getChecked<SymbolicType>(parser, loc, variable);
}
void SymbolicType::print(AsmPrinter &printer) const {
  printer << '<';
  if (hasInfix(getVariable(), ExprSite::Layout))
    printInfix(printer, getVariable(), ExprSite::Layout);
  else
    printer << getVariable();
  printer << '>';
}
LogicalResult SymbolicType::verify(EmitError emitError, Attribute variable) {
  if (!isa<ExprVarAttr>(variable))
    return emitError()
           << "symbolic type expression must be a SymbolicExprVarAttr, got "
           << variable;
  return success();
}

//===----------------------------------------------------------------------===//
// Fragments: syntax
//===----------------------------------------------------------------------===//

/// `4x[N]x`
static ParseResult parseSizes(AsmParser &parser, SmallVectorImpl<Attribute> &shape,
                              SmallVectorImpl<int64_t> &sizes) {
  MLIRContext *context = parser.getContext();
  while (true) {
    SmallVector<int64_t> constants;
    if (parser.parseDimensionList(constants, /*allowDynamic=*/false))
      return failure();
    for (int64_t size : constants) {
      shape.push_back(ExprIntAttr::get(context, size));
      sizes.push_back(size);
    }
    if (failed(parser.parseOptionalLSquare()))
      return success();
    if (parseExpr(parser, ExprSite::Constant, shape.emplace_back()) ||
        parser.parseRSquare() || parser.parseXInDimensionList())
      return failure();
    sizes.push_back(ShapedType::kDynamic);
  }
}

Type FragmentType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  MLIRContext *context = parser.getContext();
  SmallVector<Attribute> shape;
  SmallVector<int64_t> sizes;
  Type element;
  StringRef keyword;
  if (parser.parseLess() || parseSizes(parser, shape, sizes) ||
      parseBareType(parser, element) || parser.parseComma())
    return {};
  SMLoc keywordLoc = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return {};
  std::optional<PreviewSpace> space = symbolizePreviewSpace(keyword);
  if (!space) {
    parser.emitError(keywordLoc) << "expected 'local' or 'smem'";
    return {};
  }
  Attribute layouts[2];
  for (auto [layout, name] : llvm::zip_equal(
           layouts, std::initializer_list<StringRef>{"mem_layout", "fragmap"})) {
    if (parser.parseComma() || parser.parseKeyword(name) || parser.parseEqual())
      return {};
    layout = LayoutAttr::parse(parser, Type());
    if (!layout)
      return {};
  }
  Attribute alignment = ExprIntAttr::get(context, 1);
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("alignment") || parser.parseEqual() ||
       parseExpr(parser, ExprSite::Constant, alignment)))
    return {};
  if (parser.parseGreater())
    return {};
  return cuda_tile::getChecked<FragmentType>(
      parser, loc, ExprTupleAttr::get(context, ArrayAttr::get(context, shape)),
      ArrayRef<int64_t>(sizes), element, *space, cast<LayoutAttr>(layouts[0]),
      cast<LayoutAttr>(layouts[1]), alignment);
}

static void printExpr(AsmPrinter &printer, Attribute expr) {
  if (hasInfix(expr, ExprSite::Constant))
    printInfix(printer, expr, ExprSite::Constant);
  else
    printer << expr;
}

void FragmentType::print(AsmPrinter &printer) const {
  printer << '<';
  for (Attribute size : getShape().getElements()) {
    if (auto constant = dyn_cast<ExprIntAttr>(size)) {
      printer << constant.getValue() << 'x';
    } else {
      printer << '[';
      printExpr(printer, size);
      printer << "]x";
    }
  }
  printBareType(printer, getElementType());
  printer << ", " << stringifyPreviewSpace(getSpace()) << ", mem_layout = ";
  getMemLayout().print(printer);
  printer << ", fragmap = ";
  getFragmap().print(printer);
  if (getAlignment() != ExprIntAttr::get(getContext(), 1)) {
    printer << ", alignment = ";
    printExpr(printer, getAlignment());
  }
  printer << '>';
}

//===----------------------------------------------------------------------===//
// Fragments: rules
//===----------------------------------------------------------------------===//

/// Adds the extents and strides of a mode. Returns whether all of them are constant.
static bool addModes(Attribute shape, Attribute stride,
                     SmallVectorImpl<std::pair<int64_t, int64_t>> &modes) {
  if (auto shapes = dyn_cast<ExprTupleAttr>(shape)) {
    for (auto [a, b] :
         llvm::zip_equal(shapes.getElements(),
                         cast<ExprTupleAttr>(stride).getElements()))
      if (!addModes(a, b, modes))
        return false;
    return true;
  }
  std::optional<int64_t> extent = evaluate(shape), step = evaluate(stride);
  if (extent && step)
    modes.emplace_back(*step, *extent);
  return extent && step;
}

/// Checks that the layout numbers all elements. Sorted by stride, each mode of such a
/// layout begins where the previous ones end.
static LogicalResult verifyMemLayout(EmitError emitError, LayoutAttr layout,
                                     ArrayRef<int64_t> sizes) {
  SmallVector<std::pair<int64_t, int64_t>> modes;
  if (llvm::any_of(sizes, ShapedType::isDynamic) ||
      !addModes(layout.getShapes(), layout.getStrides(), modes))
    return success();
  int64_t elements = 1;
  for (int64_t size : sizes)
    if (size <= 0 || llvm::MulOverflow(elements, size, elements))
      return emitError() << "the fragment has too many elements";
  // The modes of one element do not matter.
  llvm::erase_if(modes, [](auto mode) { return mode.second == 1; });
  llvm::sort(modes);
  int64_t span = 1, next = 1;
  bool isCompact = true, overflows = false;
  for (auto [stride, extent] : modes) {
    int64_t reach;
    isCompact &= stride == next;
    overflows |= llvm::MulOverflow(extent - 1, stride, reach);
    overflows |= llvm::AddOverflow(span, reach, span);
    overflows |= llvm::MulOverflow(next, extent, next);
  }
  if (overflows || next != elements || span != elements)
    return emitError() << "mem_layout must be a bijection on the footprint "
                          "elements (a permutation of [0, "
                       << elements << ")), but its codomain spans " << span
                       << " element(s)";
  if (!isCompact)
    return emitError() << "mem_layout must be a bijection on the footprint "
                          "elements (a permutation of [0, "
                       << elements << ")), but it maps two to one offset";
  return success();
}

LogicalResult FragmentType::verify(EmitError emitError, ExprTupleAttr shape,
                                   ArrayRef<int64_t> sizes, Type,
                                   PreviewSpace, LayoutAttr memLayout,
                                   LayoutAttr, Attribute alignment) {
  ArrayAttr extents = shape.getElements();
  if (extents.size() != sizes.size())
    return emitError() << "concrete shape cache has " << sizes.size()
                       << " dimensions, but the symbolic shape has "
                       << extents.size();
  for (auto [i, pair] : llvm::enumerate(llvm::zip_equal(extents, sizes))) {
    auto [extent, size] = pair;
    if (!isSymbolicExpr(extent) ||
        isa<ExprDivAttr, ExprTupleAttr, ExprTypeAttr, ExprStringAttr>(extent))
      return emitError() << "shape dimension " << i
                         << " must be an integer-valued expression";
    auto constant = dyn_cast<ExprIntAttr>(extent);
    if (!constant && !ShapedType::isDynamic(size))
      return emitError() << "concrete shape cache dimension " << i
                         << " must be dynamic for a symbolic shape dimension";
    if (constant && constant.getValue() != size)
      return emitError() << "concrete shape cache dimension " << i
                         << " does not match symbolic shape";
  }
  if (failed(verifyMemLayout(emitError, memLayout, sizes)))
    return failure();
  if (!isSymbolicExpr(alignment))
    return emitError() << "fragment alignment must be an expression";
  if (std::optional<int64_t> value = evaluate(alignment); value && *value <= 0)
    return emitError()
           << "fragment alignment must be a positive number of elements";
  return success();
}
