//===- Hints.cpp - Optimization hints -------------------------------------===//
//
// A hint is a request of the program to the compiler for one target. A compiler may
// ignore it, so by default only the structure is checked: a dictionary of
// dictionaries without duplicate keys. With the checks enabled (setHintChecks),
// every hint is checked against the table below: known names, the ops that they
// apply to, and legal values.
//
// The checks emit warnings even when they fail verification: the error is a second
// diagnostic on the operation.
//
//===----------------------------------------------------------------------===//
#include "cuda_tile/Hints.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

#include <atomic>

using namespace mlir;
using namespace cuda_tile;

static std::atomic<bool> warnAboutHints{false};
static std::atomic<bool> failOnHints{false};

void cuda_tile::setHintChecks(bool warn, bool error) {
  warnAboutHints = warn;
  failOnHints = error;
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

namespace {
enum class HintKind { ClusterSize, WorkerWarps, Range, RangeFromZero, Bool, Text };
struct Hint {
  StringLiteral name;
  HintKind kind;
  int64_t max;
  bool onEntry, onPointer, onView;
};
} // namespace

static constexpr Hint kHints[] = {
    {"num_cta_in_cga", HintKind::ClusterSize, 16, true, false, false},
    {"num_worker_warps_per_cta", HintKind::WorkerWarps, 32, true, false, false},
    {"occupancy", HintKind::Range, 32, true, false, false},
    {"min_ctas_per_sm", HintKind::RangeFromZero, 32, true, false, false},
    {"discardable_perf_hints", HintKind::Text, 0, true, true, true},
    {"latency", HintKind::Range, 10, false, true, true},
    {"allow_tma", HintKind::Bool, 0, false, false, true},
};

static constexpr StringLiteral kKeys[] = {
    "sm_80",  "sm_86",  "sm_87",  "sm_88",  "sm_89",  "sm_90",
    "sm_100", "sm_103", "sm_107", "sm_110", "sm_120", "sm_121", "default"};

// Targets without thread block clusters.
static bool hasNoClusters(StringRef key) {
  return llvm::is_contained({"sm_80", "sm_86", "sm_87", "sm_88", "sm_89"}, key);
}

static const Hint *lookupHint(StringRef name) {
  for (const Hint &hint : kHints)
    if (hint.name == name)
      return &hint;
  return nullptr;
}

static bool isAllowedAt(const Hint &hint, HintSite site) {
  switch (site) {
  case HintSite::Entry:
    return hint.onEntry;
  case HintSite::PointerAccess:
    return hint.onPointer;
  case HintSite::ViewAccess:
    return hint.onView;
  }
  llvm_unreachable("unknown site of a hint");
}

/// Returns an empty string if `value` is legal, or else the expected values.
static std::string checkHint(const Hint &hint, StringRef key, Attribute value) {
  std::string path = (key + "." + hint.name).str();
  if (hint.kind == HintKind::Bool)
    return isa<BoolAttr>(value) ? "" : "boolean value expected for " + path;
  if (hint.kind == HintKind::Text)
    return isa<StringAttr>(value) ? "" : "string value expected for " + path;
  auto integer = dyn_cast<IntegerAttr>(value);
  if (!integer || isa<BoolAttr>(value) || integer.getValue().getBitWidth() > 64)
    return "integer value expected for " + path;
  int64_t v = integer.getValue().getSExtValue();
  if (hint.kind == HintKind::Range || hint.kind == HintKind::RangeFromZero) {
    int64_t least = hint.kind == HintKind::Range ? 1 : 0;
    if (v >= least && v <= hint.max)
      return "";
    return "integer value in the range [" + std::to_string(least) + ", " +
           std::to_string(hint.max) + "] is expected for " + path;
  }
  if (hint.kind == HintKind::ClusterSize && hasNoClusters(key))
    return v == 1 ? "" : "expected 1 for " + path;
  if (v >= 1 && v <= hint.max && llvm::isPowerOf2_64(v))
    return "";
  return "expected power-of-two \u2264 " + std::to_string(hint.max) + " for " +
         path;
}

LogicalResult cuda_tile::verifyHints(Operation *op, OptimizationHintsAttr hints,
                                     HintSite site) {
  if (!hints || !warnAboutHints)
    return success();
  bool clean = true;
  auto warn = [&](const Twine &text) {
    clean = false;
    emitWarning(op->getLoc(), text);
  };
  for (NamedAttribute entry : hints.getValue()) {
    StringRef key = entry.getName();
    if (!llvm::is_contained(kKeys, key)) {
      warn("unknown hint key " + key);
      continue;
    }
    for (NamedAttribute named : cast<DictionaryAttr>(entry.getValue())) {
      const Hint *hint = lookupHint(named.getName());
      if (!hint || !isAllowedAt(*hint, site)) {
        warn(named.getName().getValue() +
             " is not known hint for current Operation");
        continue;
      }
      std::string text = checkHint(*hint, key, named.getValue());
      if (!text.empty())
        warn(text);
    }
  }
  if (!clean && failOnHints)
    return op->emitOpError("Optimization hints verification failed");
  return success();
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

/// Returns the legal value of a hint in one entry, or null.
static Attribute getLegalHint(OptimizationHintsAttr hints, StringRef key,
                              StringRef name) {
  const Hint *hint = lookupHint(name);
  auto entry = hints.getValue().getAs<DictionaryAttr>(key);
  Attribute value = entry && hint ? entry.get(name) : Attribute();
  return value && checkHint(*hint, key, value).empty() ? value : Attribute();
}

static Attribute findHint(OptimizationHintsAttr hints, StringRef arch,
                          StringRef name) {
  if (Attribute value = getLegalHint(hints, arch, name))
    return value;
  return getLegalHint(hints, "default", name);
}

std::optional<int64_t>
OptimizationHintsAttr::getInteger(StringRef arch, StringRef name) const {
  auto value = dyn_cast_if_present<IntegerAttr>(findHint(*this, arch, name));
  if (!value || isa<BoolAttr>(value))
    return std::nullopt;
  int64_t v = value.getValue().getSExtValue();
  // Fewer than one warp group, or more than two, is never worth it.
  if (name == "num_worker_warps_per_cta")
    v = std::clamp<int64_t>(v, 4, 8);
  return v;
}

std::optional<bool> OptimizationHintsAttr::getBool(StringRef arch,
                                                   StringRef name) const {
  auto value = dyn_cast_if_present<BoolAttr>(findHint(*this, arch, name));
  return value ? std::optional<bool>(value.getValue()) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Syntax and structure
//===----------------------------------------------------------------------===//

// The type of a number that is written without a type.
static Type shortestType(IntegerAttr number) {
  bool isShort = number.getValue().isSignedIntN(32);
  return IntegerType::get(number.getContext(), isShort ? 32 : 64);
}

// Parses the value of a hint. Numbers without a type have 32 bits, as clients write
// them in bytecode; MLIR would read them with 64.
static ParseResult parseHint(AsmParser &parser, Attribute &value) {
  // Keywords that the parser reads as numbers.
  for (bool truth : {false, true})
    if (succeeded(parser.parseOptionalKeyword(truth ? "true" : "false"))) {
      value = parser.getBuilder().getBoolAttr(truth);
      return success();
    }
  APInt number;
  SMLoc loc = parser.getCurrentLocation();
  OptionalParseResult isNumber = parser.parseOptionalInteger(number);
  if (!isNumber.has_value())
    return parser.parseAttribute(value);
  if (failed(*isNumber))
    return failure();
  Type type = parser.getBuilder().getI32Type();
  if (succeeded(parser.parseOptionalColon())) {
    if (parser.parseType(type))
      return failure();
  } else if (!number.isSignedIntN(32)) {
    type = parser.getBuilder().getI64Type();
  }
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || !number.isSignedIntN(integer.getWidth()))
    return parser.emitError(loc)
           << "expected a number that " << type << " can hold";
  value = IntegerAttr::get(type, number.sextOrTrunc(integer.getWidth()));
  return success();
}

// Parses the rest of a dictionary of hints after its opening brace.
static ParseResult parseHints(AsmParser &parser, Attribute &value) {
  NamedAttrList hints;
  if (failed(parser.parseOptionalRBrace())) {
    do {
      SMLoc loc = parser.getCurrentLocation();
      std::string name;
      if (failed(parser.parseOptionalKeywordOrString(&name)))
        return parser.emitError(loc) << "expected attribute name";
      Attribute hint = parser.getBuilder().getUnitAttr();
      if (succeeded(parser.parseOptionalEqual()) && parseHint(parser, hint))
        return failure();
      if (hints.get(name))
        return parser.emitError(loc)
               << "duplicate key '" << name << "' in dictionary attribute";
      hints.append(name, hint);
    } while (succeeded(parser.parseOptionalComma()));
    if (parser.parseRBrace())
      return failure();
  }
  value = hints.getDictionary(parser.getContext());
  return success();
}

Attribute OptimizationHintsAttr::parse(AsmParser &parser, Type) {
  NamedAttrList entries;
  auto parseEntry = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    std::string key;
    if (failed(parser.parseOptionalKeywordOrString(&key)))
      return parser.emitError(loc) << "expected valid keyword or string";
    if (parser.parseEqual())
      return failure();
    Attribute value;
    SMLoc valueLoc = parser.getCurrentLocation();
    if (succeeded(parser.parseOptionalLBrace()) ? parseHints(parser, value)
                                                : parser.parseAttribute(value))
      return failure();
    if (!isa<DictionaryAttr>(value))
      return parser.emitError(valueLoc)
             << "expected dictionary attribute for optimization_hints entry `"
             << key << "` got value=" << value;
    if (entries.get(key))
      return parser.emitError(loc)
             << "duplicate key `" << key << "` in optimization_hints";
    entries.append(key, value);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     parseEntry))
    return {};
  return OptimizationHintsAttr::get(
      parser.getContext(), entries.getDictionary(parser.getContext()));
}

// Like MLIR's printer for dictionaries, except for the types of numbers that have
// 32 bits or that do not fit in 32 bits.
static void printHints(AsmPrinter &printer, DictionaryAttr hints) {
  llvm::interleaveComma(hints, printer, [&](NamedAttribute entry) {
    printer.printKeywordOrString(entry.getName());
    Attribute value = entry.getValue();
    if (isa<UnitAttr>(value))
      return;
    printer << " = ";
    if (auto inner = dyn_cast<DictionaryAttr>(value)) {
      printer << '{';
      printHints(printer, inner);
      printer << '}';
    } else if (auto number = dyn_cast<IntegerAttr>(value);
               number && number.getType() == shortestType(number)) {
      printer.printAttributeWithoutType(number);
    } else {
      printer << value;
    }
  });
}

void OptimizationHintsAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printHints(printer, getValue());
  printer << '>';
}

LogicalResult
OptimizationHintsAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                              DictionaryAttr value) {
  for (NamedAttribute entry : value)
    if (!isa<DictionaryAttr>(entry.getValue()))
      return emitError()
             << "expected dictionary attribute for optimization_hints entry `"
             << entry.getName().getValue()
             << "` got value=" << entry.getValue();
  return success();
}
