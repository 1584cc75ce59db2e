//===- MemoryOps.cpp - Verifiers of access through pointers ---------------===//
//
// Invariants: the memory model (Memory.h); atomics have an ordering other than
// weak, a pointee with the type of their operands, a type that the mode supports,
// and a mask of their shape; the alignment of alloca is a power of two and at least
// the size of an element; the global whose address is taken exists and has the
// element type of the pointer; join_tokens joins at least two tokens.
//
//===----------------------------------------------------------------------===//
#include "cuda_tile/Directives.h"
#include "cuda_tile/Hints.h"
#include "cuda_tile/Memory.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace cuda_tile;

//===----------------------------------------------------------------------===//
// Memory model
//===----------------------------------------------------------------------===//

LogicalResult cuda_tile::verifyMemoryModel(Operation *op, AccessKind kind,
                                           MemoryOrderingSemantics ordering,
                                           std::optional<MemoryScope> scope) {
  bool isLoad = kind == AccessKind::Load;
  StringRef access = isLoad ? "load" : "store";
  auto special = isLoad ? MemoryOrderingSemantics::Acquire
                        : MemoryOrderingSemantics::Release;
  StringRef name = stringifyMemoryOrderingSemantics(ordering);
  if (ordering != MemoryOrderingSemantics::Weak &&
      ordering != MemoryOrderingSemantics::Relaxed && ordering != special)
    return op->emitOpError("expect one of: weak, relaxed, or ")
           << stringifyMemoryOrderingSemantics(special) << ", but got: "
           << name;
  bool isWeak = ordering == MemoryOrderingSemantics::Weak;
  if (isWeak && scope)
    return op->emitOpError("weak ") << access << " must not have memory scope";
  if (!isWeak && !scope)
    return op->emitOpError("memory scope is required for ")
           << name << " " << access;
  return success();
}

//===----------------------------------------------------------------------===//
// load_ptr_tko
//===----------------------------------------------------------------------===//

namespace {
/// An optional operand and its type, which is parsed later.
struct OptionalOperand {
  SmallVector<OpAsmParser::UnresolvedOperand, 1> operand;
  SmallVector<Type, 1> type;
  SMLoc loc;

  ParseResult parse(OpAsmParser &parser) {
    loc = parser.getCurrentLocation();
    return parser.parseOperand(operand.emplace_back());
  }
  ParseResult resolve(OpAsmParser &parser, SmallVectorImpl<Value> &operands) {
    return parser.resolveOperands(operand, type, loc, operands);
  }
};
} // namespace

// Bytecode can hold a padding value without a mask, which prints as the only
// operand after the address. The operand is a padding value if it is not a mask and
// has the result's type.
static bool isPadding(Type type, Type result) {
  auto tile = dyn_cast_if_present<TileType>(type);
  return tile && type == result && !tile.getElementType().isInteger(1);
}

ParseResult LoadPtrTkoOp::parse(OpAsmParser &parser, OperationState &result) {
  auto &properties = result.getOrAddProperties<Properties>();
  MemoryOrderingSemanticsAttr ordering;
  MemoryScopeAttr scope;
  if (parsePointerMemoryAttributes(parser, ordering, scope))
    return failure();
  properties.memory_ordering_semantics = ordering;
  if (scope)
    properties.memory_scope = scope;

  OptionalOperand source, mask, padding, token;
  if (source.parse(parser) ||
      (succeeded(parser.parseOptionalComma()) && mask.parse(parser)) ||
      (succeeded(parser.parseOptionalComma()) && padding.parse(parser)) ||
      (succeeded(parser.parseOptionalKeyword("token")) &&
       (parser.parseEqual() || token.parse(parser))))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("optimization_hints"))) {
    OptimizationHintsAttr hints;
    if (parser.parseEqual() || parser.parseCustomAttributeWithFallback(hints))
      return failure();
    properties.optimization_hints = hints;
  }
  SMLoc attributes = parser.getCurrentLocation();
  if (parser.parseOptionalAttrDict(result.attributes) ||
      failed(verifyInherentAttrs(result.name, result.attributes, [&] {
        return parser.emitError(attributes)
               << "'" << result.name.getStringRef() << "' op ";
      })))
    return failure();

  auto parseType = [&](OptionalOperand &operand) {
    return parseBareType(parser, operand.type.emplace_back());
  };
  if (parser.parseColon() || parseType(source) ||
      (succeeded(parser.parseOptionalComma()) && parseType(mask)) ||
      (succeeded(parser.parseOptionalComma()) && parseType(padding)))
    return failure();
  result.types.resize(2);
  if (parser.parseArrow() || parseBareType(parser, result.types[0]) ||
      parser.parseComma() || parseBareType(parser, result.types[1]))
    return failure();
  if (!token.operand.empty())
    token.type.push_back(TokenType::get(parser.getContext()));
  if (padding.operand.empty() && padding.type.empty() && !mask.type.empty() &&
      isPadding(mask.type.front(), result.types[0]))
    std::swap(mask, padding);

  llvm::copy(ArrayRef<int32_t>({1, static_cast<int32_t>(mask.operand.size()),
                                static_cast<int32_t>(padding.operand.size()),
                                static_cast<int32_t>(token.operand.size())}),
             properties.operandSegmentSizes.begin());
  return failure(source.resolve(parser, result.operands) ||
                 mask.resolve(parser, result.operands) ||
                 padding.resolve(parser, result.operands) ||
                 token.resolve(parser, result.operands));
}

void LoadPtrTkoOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printPointerMemoryAttributes(printer, *this, getMemoryOrderingSemanticsAttr(),
                               getMemoryScopeAttr());
  printer << ' ' << getSource();
  for (Value operand : {getMask(), getPaddingValue()})
    if (operand)
      printer << ", " << operand;
  if (getToken())
    printer << " token=" << getToken();
  if (getOptimizationHintsAttr()) {
    printer << " optimization_hints = ";
    printer.printStrippedAttrOrType(getOptimizationHintsAttr());
  }
  printer.printOptionalAttrDict((*this)->getAttrs(),
                                {"operandSegmentSizes",
                                 getMemoryOrderingSemanticsAttrName(),
                                 getMemoryScopeAttrName(),
                                 getOptimizationHintsAttrName()});
  printer << " : ";
  printBareType(printer, getSource().getType());
  for (Value operand : {getMask(), getPaddingValue()})
    if (operand) {
      printer << ", ";
      printBareType(printer, operand.getType());
    }
  printer << " -> ";
  printBareType(printer, getResult().getType());
  printer << ", ";
  printBareType(printer, getResultToken().getType());
}

LogicalResult LoadPtrTkoOp::verify() {
  if (failed(verifyHints(*this, getOptimizationHintsAttr(),
                         HintSite::PointerAccess)))
    return failure();
  return verifyMemoryModel(*this, AccessKind::Load,
                           getMemoryOrderingSemantics(), getMemoryScope());
}

LogicalResult StorePtrTkoOp::verify() {
  if (failed(verifyHints(*this, getOptimizationHintsAttr(),
                         HintSite::PointerAccess)))
    return failure();
  return verifyMemoryModel(*this, AccessKind::Store,
                           getMemoryOrderingSemantics(), getMemoryScope());
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

static bool is32Or64Bit(Type element) {
  return isNumberElement(element) &&
         llvm::is_contained({32u, 64u}, getElementBits(element));
}

LogicalResult cuda_tile::verifyAtomicMode(Operation *op, AtomicRMWMode mode,
                                          Type element) {
  StringRef name = stringifyAtomicRMWMode(mode);
  switch (mode) {
  case AtomicRMWMode::AddF:
    if (!isBaseFloatElement(element))
      return op->emitOpError("'")
             << name << "' works only with floats f16, bf16, f32, and f64";
    return success();
  case AtomicRMWMode::Xchg:
    if (!is32Or64Bit(element))
      return op->emitOpError("'")
             << name
             << "' works only with integers or float of 32 or 64 bitwidth";
    return success();
  case AtomicRMWMode::And:
  case AtomicRMWMode::Or:
  case AtomicRMWMode::Xor:
  case AtomicRMWMode::Add:
  case AtomicRMWMode::Max:
  case AtomicRMWMode::Min:
  case AtomicRMWMode::UMax:
  case AtomicRMWMode::UMin:
    if (!isI32Element(element) && !isI64Element(element))
      return op->emitOpError("'")
             << name << "' works only with integers i32 and i64";
    return success();
  }
  llvm_unreachable("unknown mode of an atomic operation");
}

static LogicalResult verifyAtomicOrdering(Operation *op,
                                          MemoryOrderingSemantics ordering) {
  if (ordering == MemoryOrderingSemantics::Weak)
    return op->emitOpError("memory ordering semantics must be one of: relaxed, "
                           "acquire, release, acq_rel");
  return success();
}

static LogicalResult verifyPointee(Operation *op, TileType pointers,
                                   TileType value, StringRef name) {
  Type pointee =
      cast<PointerType>(pointers.getElementType()).getPointeeType();
  if (pointee != value.getElementType())
    return op->emitOpError("expected pointee type (")
           << pointee << ") to match element type of '" << name << "' ("
           << value.getElementType() << ")";
  return success();
}

static LogicalResult verifyAtomicMask(Operation *op, TileType pointers,
                                      Value mask, StringRef names) {
  if (mask && !haveSameShape(mask.getType(), pointers))
    return op->emitOpError("failed to verify that all of {")
           << names << "} have same shape";
  return success();
}

LogicalResult AtomicCASTkoOp::verify() {
  TileType pointers = getPointers().getType(), value = getVal().getType();
  if (failed(verifyAtomicOrdering(*this, getMemoryOrderingSemantics())) ||
      failed(verifyAtomicMask(*this, pointers, getMask(),
                              "pointers, cmp, val, mask")) ||
      failed(verifyPointee(*this, pointers, value, "val")))
    return failure();
  if (!is32Or64Bit(value.getElementType()))
    return emitOpError("expect only float or integer types with 32 or 64 bit");
  return success();
}

LogicalResult AtomicRMWTkoOp::verify() {
  TileType pointers = getPointers().getType(), value = getArg().getType();
  if (failed(verifyAtomicOrdering(*this, getMemoryOrderingSemantics())) ||
      failed(verifyAtomicMask(*this, pointers, getMask(),
                              "pointers, arg, mask")) ||
      failed(verifyPointee(*this, pointers, value, "arg")))
    return failure();
  return verifyAtomicMode(*this, getMode(), value.getElementType());
}

//===----------------------------------------------------------------------===//
// Addresses and tokens
//===----------------------------------------------------------------------===//

LogicalResult AllocaOp::verify() {
  Type element =
      cast<PointerType>(getType().getElementType()).getPointeeType();
  int64_t alignment = static_cast<int64_t>(getAlignment());
  if (!llvm::isPowerOf2_64(alignment))
    return emitOpError("'alignment' must be power of two");
  // An i1 takes a byte; formats narrower than a byte require no alignment.
  int64_t size = isI1Element(element) ? 1 : getElementBits(element) / 8;
  if (alignment < size)
    return emitOpError("'alignment' (")
           << alignment << ") must be at least the natural size (" << size
           << " bytes) for element type " << element;
  return success();
}

LogicalResult GetGlobalOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto global = symbols.lookupNearestSymbolFrom<GlobalOp>(*this, getNameAttr());
  if (!global)
    return emitOpError("'") << getName() << "' does not reference a valid global";
  auto pointer = cast<PointerType>(getType().getElementType());
  Type element = global.getVariableType();
  if (pointer.getPointeeType() != element)
    return emitOpError("pointee type of result type ")
           << pointer << " does not match type " << element
           << " of the global @" << getName();
  return success();
}

LogicalResult JoinTokensOp::verify() {
  if (getTokens().size() < 2)
    return emitOpError("expect two or more tokens");
  return success();
}
