// Registration, types and attributes of nv_tileas.
#include "nv_tileas/NvTileAS.h"
#include "capi/nv_tileas.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FoldInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace nv_tileas;

#include "nv_tileas/NvTileASDialect.cpp.inc"
#include "nv_tileas/NvTileASEnums.cpp.inc"

static ParseResult parseAgents(AsmParser &parser, ArrayAttr &agents) { return parseAgentList(parser, agents); }
static void printAgents(AsmPrinter &printer, ArrayAttr agents) { printAgentList(printer, agents); }

#define GET_ATTRDEF_CLASSES
#include "nv_tileas/NvTileASAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "nv_tileas/NvTileASTypes.cpp.inc"

// Elements in row-major order, without a swizzle.
static bool isRowMajor(SharedLayoutAttr layout) {
  for (auto [bit, offset] : llvm::enumerate(layout.getOffsets()))
    if (offset != int64_t(1) << bit)
      return false;
  return true;
}
static SharedLayoutAttr rowMajor(MLIRContext *context, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> offsets;
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  for (int64_t offset = 1; offset < count; offset *= 2)
    offsets.push_back(offset);
  return SharedLayoutAttr::get(context, offsets);
}

namespace {
/// Constants remain in their agent, because tensors in registers cannot cross into another agent.
struct FoldInterface : DialectFoldInterface {
  using DialectFoldInterface::DialectFoldInterface;
  bool shouldMaterializeInto(Region *region) const final { return isa<AgentSwitchOp>(region->getParentOp()); }
};

/// Names for long attributes that recur: layouts, plans and lists of agents.
struct AliasInterface : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(Attribute attr, raw_ostream &os) const final {
    StringRef name = nameOf(attr);
    os << name;
    return name.empty() ? AliasResult::NoAlias : AliasResult::OverridableAlias;
  }
  AliasResult getAlias(Type type, raw_ostream &os) const final {
    StringRef name = nameOf(type);
    os << name;
    return name.empty() ? AliasResult::NoAlias : AliasResult::OverridableAlias;
  }

private:
  static StringRef nameOf(Attribute attr) {
    if (auto layout = dyn_cast<LayoutAttr>(attr))
      return isFragment(layout) ? "acc" : "layout";
    if (auto layout = dyn_cast<SharedLayoutAttr>(attr))
      return isRowMajor(layout) ? "" : "smem";
    if (isa<DotPlanAttr>(attr))
      return "plan";
    auto list = dyn_cast<ArrayAttr>(attr);
    return list && list.size() > 1 && llvm::all_of(list, llvm::IsaPred<AgentAttr>) ? "agents" : "";
  }
  /// Loops carry them, and a loop states all types in one line. Accumulators are the C of A * B + C.
  static StringRef nameOf(Type type) {
    if (isa<PipelineIteratorType>(type))
      return "it";
    auto tensor = dyn_cast<RankedTensorType>(type);
    auto layout = tensor ? dyn_cast_if_present<LayoutAttr>(tensor.getEncoding()) : LayoutAttr();
    return layout && tensor.getRank() == 2 && isFragment(layout) && tensor.getElementType().isF32() ? "c" : "";
  }
  /// Whether a thread has pairs of neighbors in a row, as in the accumulators and left operands of matrix instructions.
  static bool isFragment(LayoutAttr layout) {
    ArrayRef<int64_t> registers = layout.getRegisters(), lanes = layout.getLanes();
    return !registers.empty() && registers[0] == 1 && lanes[0] == 2 && lanes[1] == 4 && lanes[2] > 8;
  }
};
} // namespace

void NvTileASDialect::initialize() {
  addInterfaces<AliasInterface, FoldInterface>();
  registerTypes();
  registerAttrs();
  addOperations<
#define GET_OP_LIST
#include "nv_tileas/NvTileASOps.cpp.inc"
      >();
}
void NvTileASDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "nv_tileas/NvTileASTypes.cpp.inc"
      >();
}
void NvTileASDialect::registerAttrs() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "nv_tileas/NvTileASAttrs.cpp.inc"
      >();
}

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(NvTileAS, nv_tileas, NvTileASDialect)

static void printBases(AsmPrinter &printer, StringRef name, ArrayRef<int64_t> bases) {
  printer << name << " = [";
  llvm::interleaveComma(bases, printer);
  printer << ']';
}
static ParseResult parseBases(AsmParser &parser, SmallVectorImpl<int64_t> &bases) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                        [&] { return parser.parseInteger(bases.emplace_back()); });
}
static LogicalResult verifyBases(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> bases) {
  for (int64_t b : bases)
    if (b < 0)
      return emitError() << "a basis is an element index, got " << b;
  return success();
}

//===-- layout --------------------------------------------------------------//

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> registers, lanes, warps, blocks;
  if (parser.parseLess())
    return {};
  do {
    StringRef key;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&key) || parser.parseEqual())
      return {};
    SmallVectorImpl<int64_t> *bases = key == "register" ? &registers
                                      : key == "lane"   ? &lanes
                                      : key == "warp"   ? &warps
                                      : key == "block"  ? &blocks
                                                        : nullptr;
    if (!bases)
      return parser.emitError(loc, "expected register, lane, warp or block, got '") << key << "'", Attribute();
    bases->clear();
    if (parseBases(parser, *bases))
      return {};
  } while (succeeded(parser.parseOptionalComma()));
  if (parser.parseGreater())
    return {};
  return parser.getChecked<LayoutAttr>(parser.getContext(), registers, lanes, warps, blocks);
}
void LayoutAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printBases(printer, "register", getRegisters());
  printBases(printer, ", lane", getLanes());
  printBases(printer, ", warp", getWarps());
  if (!getBlocks().empty())
    printBases(printer, ", block", getBlocks());
  printer << '>';
}
// Invariants: five lane bits; bases are element indices. The verifiers of the ops, where a layout is paired with a
// shape, check that the bases span the tensor.
LogicalResult LayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> registers,
                                 ArrayRef<int64_t> lanes, ArrayRef<int64_t> warps, ArrayRef<int64_t> blocks) {
  if (lanes.size() != 5)
    return emitError() << "a warp has five lane bits, got " << lanes.size();
  for (ArrayRef<int64_t> bases : {registers, lanes, warps, blocks})
    if (failed(verifyBases(emitError, bases)))
      return failure();
  return success();
}

Attribute SharedLayoutAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> offsets;
  if (parser.parseLess() || parser.parseKeyword("offset") || parser.parseEqual() || parseBases(parser, offsets) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<SharedLayoutAttr>(parser.getContext(), offsets);
}
void SharedLayoutAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printBases(printer, "offset", getOffsets());
  printer << '>';
}
LogicalResult SharedLayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> offsets) {
  return verifyBases(emitError, offsets);
}

//===-- agents --------------------------------------------------------------//

ParseResult nv_tileas::parseAgentList(AsmParser &parser, ArrayAttr &agents) {
  SmallVector<Attribute> list;
  auto parseAgent = [&]() -> ParseResult {
    list.push_back(AgentAttr::parse(parser, Type()));
    return success(list.back() != nullptr);
  };
  // Anything but a list is an alias.
  if (parser.parseOptionalLSquare())
    return parser.parseAttribute(agents);
  if (parser.parseOptionalRSquare() &&
      (parser.parseCommaSeparatedList(AsmParser::Delimiter::None, parseAgent) || parser.parseRSquare()))
    return failure();
  agents = ArrayAttr::get(parser.getContext(), list);
  return success();
}
void nv_tileas::printAgentList(AsmPrinter &printer, ArrayAttr agents) {
  if (succeeded(printer.printAlias(agents)))
    return;
  printer << '[';
  llvm::interleaveComma(agents.getAsRange<AgentAttr>(), printer, [&](AgentAttr agent) { agent.print(printer); });
  printer << ']';
}

LogicalResult AgentAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef name, int64_t warps,
                                std::optional<int64_t> registers, std::optional<int64_t> rank) {
  if (name.empty())
    return emitError() << "an agent needs a name";
  if (warps <= 0 || (warps & (warps - 1)))
    return emitError() << "an agent's warp count must be a power of two, got " << warps;
  if (registers.value_or(1) <= 0)
    return emitError() << "an agent's register count must be positive, got " << *registers;
  if (rank.value_or(0) < 0)
    return emitError() << "the rank of a CTA is not negative, got " << *rank;
  return success();
}

// Invariants of a list of agents: there is at least one, all have different names, and all or none have registers.
LogicalResult nv_tileas::verifyAgents(function_ref<InFlightDiagnostic()> emitError, ArrayAttr agents) {
  llvm::SmallDenseSet<StringRef> names;
  bool registers = false;
  for (Attribute attribute : agents) {
    auto agent = dyn_cast<AgentAttr>(attribute);
    if (!agent)
      return emitError() << "expected a list of agents, got " << attribute;
    if (!names.insert(agent.getName()).second)
      return emitError() << "two agents have the name '" << agent.getName() << "'";
    if (names.size() > 1 && agent.getRegisters().has_value() != registers)
      return emitError() << "all agents or none need a register count";
    registers = agent.getRegisters().has_value();
  }
  if (names.empty())
    return emitError() << "has no agents";
  return success();
}

LogicalResult DotPlanAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> groups,
                                  int64_t columns, int64_t stages, int64_t scratch, int64_t launchRegisters,
                                  ArrayAttr agents, MmaKind unit, int64_t accumulators, int64_t slices,
                                  bool wholeRows, bool issueAhead) {
  if (failed(verifyAgents(emitError, agents)))
    return failure();
  if (unit != MmaKind::Warpgroup && unit != MmaKind::Tensor && unit != MmaKind::TensorPair && unit != MmaKind::Sync)
    return emitError() << "no plan uses the unit '" << stringifyMmaKind(unit) << "'";
  if (wholeRows && unit != MmaKind::Tensor)
    return emitError() << "whole_rows applies to accumulators in tensor memory";
  if (issueAhead && !wholeRows)
    return emitError() << "issue_ahead applies to accumulators of which threads read whole rows";
  if (groups.size() != 2 || groups[0] <= 0 || groups[1] <= 0)
    return emitError() << "groups must be two positive numbers";
  int64_t consumers = cast<AgentAttr>(agents[0]).getWarps();
  if (consumers != groups[0] * groups[1] * 4)
    return emitError() << groups[0] << " x " << groups[1] << " warpgroups need " << groups[0] * groups[1] * 4
                       << " warps, but the first agent has " << consumers;
  for (int64_t number : {columns, stages, scratch, launchRegisters, accumulators, slices})
    if (number <= 0)
      return emitError() << "all numbers of a plan are positive, got " << number;
  return success();
}

//===-- memdesc -------------------------------------------------------------//

// In bytes: one word in each bank. The storage of a kernel has this alignment anyway.
static constexpr int64_t DEFAULT_ALIGNMENT = 128;
// The size of a barrier.
static constexpr int64_t LEAST_ALIGNMENT = 8;

// The lanes of tensor memory.
static constexpr int64_t TMEM_LANES = 128;

Type MemDescType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  SharedLayoutAttr layout;
  int64_t stages = 1;
  MemorySpace space = MemorySpace::Shared;
  int64_t alignment = DEFAULT_ALIGNMENT;
  bool packed = false;
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false) || parser.parseType(element))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    StringRef key, value;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseOptionalKeyword(&key)) {
      if (layout || parser.parseAttribute(layout))
        return {};
      continue;
    }
    if (key == "packed") {
      packed = true;
      continue;
    }
    if (parser.parseEqual())
      return {};
    if (key == "stages") {
      if (parser.parseInteger(stages))
        return {};
    } else if (key == "space") {
      if (parser.parseKeyword(&value))
        return {};
      std::optional<MemorySpace> known = symbolizeMemorySpace(value);
      if (!known)
        return parser.emitError(loc, "expected space shared, tensor or scales, got '") << value << "'", Type();
      space = *known;
    } else if (key == "align") {
      if (parser.parseInteger(alignment))
        return {};
    } else {
      return parser.emitError(loc, "expected stages, space, align or packed, got '") << key << "'", Type();
    }
  }
  if (parser.parseGreater())
    return {};
  if (!layout)
    layout = rowMajor(parser.getContext(), shape);
  return parser.getChecked<MemDescType>(parser.getContext(), shape, element, layout, stages, space, alignment, packed);
}
void MemDescType::print(AsmPrinter &printer) const {
  printer << '<';
  for (int64_t extent : getShape())
    printer << extent << 'x';
  printer << getElementType();
  if (!isRowMajor(getLayout()))
    printer << ", " << getLayout();
  if (getStages() != 1)
    printer << ", stages = " << getStages();
  if (getSpace() != MemorySpace::Shared)
    printer << ", space = " << stringifyMemorySpace(getSpace());
  if (getAlignment() != DEFAULT_ALIGNMENT)
    printer << ", align = " << getAlignment();
  if (getPacked())
    printer << ", packed";
  printer << '>';
}
// Invariants: extents are powers of two; the layout has one offset bit per bit of the element index, next to gaps in
// tensor memory; at least one stage; the alignment is a power of two of at least 8; packed elements have four bits and
// are in shared memory.
LogicalResult MemDescType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape, Type element,
                                  SharedLayoutAttr layout, int64_t stages, MemorySpace space, int64_t alignment,
                                  bool packed) {
  if (packed && (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() != 4 || space != MemorySpace::Shared))
    return emitError() << "only elements of 4 bits in shared memory are packed, got " << element;
  if (alignment < LEAST_ALIGNMENT || (alignment & (alignment - 1)))
    return emitError() << "alignment must be a power of two of at least " << LEAST_ALIGNMENT << " bytes, got "
                       << alignment;
  if (stages < 1)
    return emitError() << "expected at least one stage, got " << stages;
  int64_t count = 1;
  for (int64_t e : shape) {
    if (e <= 0 || (e & (e - 1)))
      return emitError() << "extents must be powers of two, got " << e;
    count *= e;
  }
  if (space != MemorySpace::Shared && count < TMEM_LANES)
    return emitError() << "a tensor in tensor memory has at least one element for each of " << TMEM_LANES
                       << " lanes, got " << count;
  // In tensor memory, a zero is a gap between blocks of rows.
  int64_t gaps = space == MemorySpace::Tensor ? llvm::count(layout.getOffsets(), 0) : 0;
  int64_t covered = int64_t(1) << (layout.getOffsets().size() - gaps);
  if (covered != count)
    return emitError() << "layout covers " << covered << " elements, shape has " << count;
  return success();
}

//===-- tma_desc ------------------------------------------------------------//

// `dims` is omitted if the map has the view's dimensions from the last to the first, `steps` if all are one, and `fill`
// if it is zero.
Type TmaDescType::parse(AsmParser &parser) {
  Type element;
  SmallVector<int64_t> dims, box, steps;
  int64_t swizzle = 0, unit = 16;
  TmaFill fill = TmaFill::Zero;
  if (parser.parseLess() || parser.parseType(element))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    StringRef key, value;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&key) || parser.parseEqual())
      return {};
    SmallVectorImpl<int64_t> *list = key == "dims" ? &dims : key == "box" ? &box : key == "steps" ? &steps : nullptr;
    if (list) {
      if (parseBases(parser, *list))
        return {};
    } else if (key == "swizzle" || key == "unit") {
      if (parser.parseInteger(key == "unit" ? unit : swizzle))
        return {};
    } else if (key == "fill") {
      if (parser.parseKeyword(&value))
        return {};
      std::optional<TmaFill> known = symbolizeTmaFill(value);
      if (!known)
        return parser.emitError(loc, "expected fill zero or nan, got '") << value << "'", Type();
      fill = *known;
    } else {
      return parser.emitError(loc, "expected dims, box, steps, swizzle, unit or fill, got '") << key << "'", Type();
    }
  }
  if (parser.parseGreater())
    return {};
  if (dims.empty())
    for (int64_t d = box.size(); d > 0; --d)
      dims.push_back(d - 1);
  if (steps.empty())
    steps.assign(box.size(), 1);
  return parser.getChecked<TmaDescType>(parser.getContext(), element, dims, box, steps, swizzle, unit, fill);
}
void TmaDescType::print(AsmPrinter &printer) const {
  int64_t rank = getBox().size();
  bool reversed = int64_t(getDims().size()) == rank;
  for (auto [at, d] : llvm::enumerate(getDims()))
    reversed &= d == rank - 1 - int64_t(at);
  printer << '<' << getElementType();
  if (!reversed)
    printBases(printer, ", dims", getDims());
  printBases(printer, ", box", getBox());
  if (getSteps().size() != getBox().size() || llvm::any_of(getSteps(), [](int64_t step) { return step != 1; }))
    printBases(printer, ", steps", getSteps());
  printer << ", swizzle = " << getSwizzle();
  if (getUnit() != 16)
    printer << ", unit = " << getUnit();
  if (getFill() != TmaFill::Zero)
    printer << ", fill = " << stringifyTmaFill(getFill());
  printer << '>';
}
