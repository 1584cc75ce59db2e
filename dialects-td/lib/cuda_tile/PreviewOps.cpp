//===- PreviewOps.cpp - Calls, declarations and implementations -----------===//
//
// Invariants:
//   preview$func         at least one parameter; parameters are tiles with an access;
//                        the results include the `out` and `inout` parameters in
//                        order; constants have distinct names and no wildcard; symbols
//                        in types are constants
//   preview$extern_impl  no results; parameters are fragments with an access; no
//                        `config`; all fragment maps have the same invocations and
//                        participants; a map covers the elements of its fragment; a
//                        fragment in shared memory is the same for all participants;
//                        participants fill the groups that synchronize; variables of
//                        fragments are constants
// Not checked: whether a call fits a declaration and an implementation. The command
// checks that when it links libraries.
//
//===----------------------------------------------------------------------===//
#include "cuda_tile/Directives.h"
#include "cuda_tile/Preview.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace cuda_tile;

static constexpr llvm::StringLiteral kAccess = "cuda_tile.preview$access";
static constexpr llvm::StringLiteral kWildcard = "?";

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

ParseResult cuda_tile::parseConstArgs(OpAsmParser &parser, ArrayAttr &list) {
  list = parser.getBuilder().getArrayAttr({});
  return parseOptionalExprs(parser, list);
}
void cuda_tile::printConstArgs(OpAsmPrinter &printer, Operation *, ArrayAttr list) {
  if (!list.empty())
    printExprs(printer, list);
}

/// `<[N: index, ?]>`; the list is null if there is none.
static ParseResult parseOptionalConstParams(OpAsmParser &parser, ArrayAttr &list) {
  if (failed(parser.parseOptionalLess()))
    return success();
  MLIRContext *context = parser.getContext();
  SmallVector<Attribute> params;
  auto parseParam = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    std::string name = kWildcard.str();
    Type type = NoneType::get(context);
    if (failed(parser.parseOptionalQuestion()) &&
        parser.parseKeywordOrString(&name))
      return failure();
    if (succeeded(parser.parseOptionalColon()) && parser.parseType(type))
      return failure();
    auto param = getChecked<ConstParamAttr>(
        parser, loc, StringAttr::get(context, name), type);
    params.push_back(param);
    return success(bool(param));
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseParam) ||
      parser.parseGreater())
    return failure();
  list = parser.getBuilder().getArrayAttr(params);
  return success();
}

static void printConstParams(OpAsmPrinter &printer, ArrayAttr list) {
  printer << "<[";
  llvm::interleaveComma(list.getAsRange<ConstParamAttr>(), printer,
                        [&](ConstParamAttr param) {
                          StringRef name = param.getName().getValue();
                          if (name == kWildcard)
                            printer << name;
                          else
                            printer.printKeywordOrString(name);
                          if (!isa<NoneType>(param.getType()))
                            printer << ": " << param.getType();
                        });
  printer << "]>";
}

/// `(%arg0: T {...}, ...) -> (T, ...)`
static ParseResult parseParameters(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  SmallVector<Type> inputs, results;
  SmallVector<Attribute> dictionaries;
  auto parseParameter = [&]() -> ParseResult {
    OpAsmParser::Argument argument;
    NamedAttrList attributes;
    if (parser.parseArgument(argument) || parser.parseColon() ||
        parseBareType(parser, inputs.emplace_back()) ||
        parser.parseOptionalAttrDict(attributes))
      return failure();
    dictionaries.push_back(attributes.getDictionary(parser.getContext()));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseParameter))
    return failure();
  if (succeeded(parser.parseOptionalArrow())) {
    auto parseResult = [&] {
      return parseBareType(parser, results.emplace_back());
    };
    bool isList = succeeded(parser.parseOptionalLParen());
    if (isList && succeeded(parser.parseOptionalRParen())) {
      // No results at all.
    } else if (isList) {
      if (parser.parseCommaSeparatedList(parseResult) || parser.parseRParen())
        return failure();
    } else if (parseResult()) {
      return failure();
    }
  }
  result.addAttribute("function_type",
                      TypeAttr::get(builder.getFunctionType(inputs, results)));
  result.addAttribute("arg_attrs", builder.getArrayAttr(dictionaries));
  result.addAttribute(SymbolTable::getVisibilityAttrName(),
                      builder.getStringAttr("private"));
  result.addRegion();
  return success();
}

static void printParameters(OpAsmPrinter &printer, FunctionOpInterface op) {
  printer << '(';
  unsigned index = 0;
  llvm::interleaveComma(op.getArgumentTypes(), printer, [&](Type type) {
    printer << "%arg" << index << ": ";
    printBareType(printer, type);
    printer.printOptionalAttrDict(op.getArgAttrs(index++));
  });
  printer << ')';
  ArrayRef<Type> results = op.getResultTypes();
  if (results.empty())
    return;
  printer << " -> ";
  if (results.size() == 1)
    return printBareType(printer, results.front());
  printer << '(';
  llvm::interleaveComma(results, printer,
                        [&](Type type) { printBareType(printer, type); });
  printer << ')';
}

ParseResult PreviewFuncOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  ArrayAttr params = parser.getBuilder().getArrayAttr({});
  if (parser.parseKeyword("extern") ||
      parser.parseSymbolName(name, SymbolTable::getSymbolAttrName(),
                             result.attributes) ||
      parseOptionalConstParams(parser, params) || parseParameters(parser, result))
    return failure();
  result.addAttribute("const_params", params);
  return parser.parseOptionalAttrDict(result.attributes);
}

void PreviewFuncOp::print(OpAsmPrinter &printer) {
  printer << " extern ";
  printer.printSymbolName(getSymName());
  if (!getConstParams().empty())
    printConstParams(printer, getConstParams());
  printParameters(printer, *this);
  printer << ' ';
  printer.printOptionalAttrDict(
      (*this)->getAttrs(), {"sym_name", "function_type", "arg_attrs", "res_attrs",
                            "const_params", "sym_visibility"});
}

ParseResult PreviewExternImplOp::parse(OpAsmParser &parser,
                                       OperationState &result) {
  StringAttr name, function;
  ArrayAttr params, arguments;
  if (parser.parseSymbolName(name, SymbolTable::getSymbolAttrName(),
                             result.attributes) ||
      parseOptionalConstParams(parser, params) ||
      parser.parseKeyword("implements") || parser.parseSymbolName(function) ||
      parseOptionalExprs(parser, arguments) || parseParameters(parser, result))
    return failure();
  result.addAttribute("implements", FlatSymbolRefAttr::get(function));
  if (params)
    result.addAttribute("const_params", params);
  if (arguments)
    result.addAttribute("const_args", arguments);
  if (succeeded(parser.parseOptionalKeyword("synchronization"))) {
    PreviewSyncAttr sync;
    if (parser.parseEqual() ||
        parser.parseAttribute(sync, "synchronization", result.attributes))
      return failure();
  }
  if (succeeded(parser.parseOptionalKeyword("scratch"))) {
    SMLoc loc = parser.getCurrentLocation();
    Attribute size, alignment;
    if (parser.parseLBrace() || parser.parseKeyword("smem.size") ||
        parser.parseEqual() || parser.parseAttribute(size) ||
        parser.parseComma() || parser.parseKeyword("smem.alignment") ||
        parser.parseEqual() || parser.parseAttribute(alignment) ||
        parser.parseRBrace())
      return failure();
    auto scratch =
        getChecked<ScratchAttr>(parser, loc, size, alignment);
    if (!scratch)
      return failure();
    result.addAttribute("scratch_smem", scratch);
  }
  if (succeeded(parser.parseOptionalKeyword("arch"))) {
    ArrayAttr arch;
    if (parser.parseEqual() ||
        parser.parseAttribute(arch, "arch", result.attributes))
      return failure();
  }
  return parser.parseOptionalAttrDict(result.attributes);
}

void PreviewExternImplOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  if (std::optional<ArrayAttr> params = getConstParams())
    printConstParams(printer, *params);
  printer << " implements ";
  printer.printSymbolName(getImplements());
  if (std::optional<ArrayAttr> arguments = getConstArgs())
    printExprs(printer, *arguments);
  printer << ' ';
  printParameters(printer, *this);
  if (PreviewSyncAttr sync = getSynchronizationAttr())
    printer << " synchronization = " << sync;
  if (std::optional<ScratchAttr> scratch = getScratchSmem())
    printer << " scratch {smem.size = " << scratch->getSize()
            << ", smem.alignment = " << scratch->getAlignment() << '}';
  if (std::optional<ArrayAttr> arch = getArch())
    printer << " arch = " << *arch;
  printer.printOptionalAttrDict(
      (*this)->getAttrs(),
      {"sym_name", "implements", "const_params", "const_args", "function_type",
       "arg_attrs", "res_attrs", "scratch_smem", "arch", "synchronization",
       "sym_visibility"});
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

static PreviewAccessAttr getAccess(FunctionOpInterface op, unsigned index) {
  return op.getArgAttrOfType<PreviewAccessAttr>(index, kAccess);
}

/// Checks the names of constants and collects them.
static LogicalResult verifyConstParams(Operation *op, ArrayAttr params,
                                       bool allowsWildcards,
                                       llvm::StringSet<> &names) {
  for (auto [i, param] : llvm::enumerate(params.getAsRange<ConstParamAttr>())) {
    StringRef name = param.getName().getValue();
    if (name == kWildcard) {
      if (allowsWildcards)
        continue;
      return op->emitOpError("const_params[")
             << i << "]: '?' wildcard is only valid in extern_impl const_params";
    }
    if (!names.insert(name).second)
      return op->emitOpError("duplicate constant parameter name: '")
             << name << "'";
  }
  return success();
}

/// The first variable in an attribute or type that is not in `names`.
template <typename T>
static StringAttr findUndeclared(T root, const llvm::StringSet<> &names) {
  StringAttr found;
  AttrTypeWalker walker;
  walker.addWalk([&](ExprVarAttr variable) {
    if (!found && !names.contains(variable.getName().getValue()))
      found = variable.getName();
  });
  walker.walk(root);
  return found;
}

LogicalResult PreviewFuncOp::verify() {
  if (!getBody().empty())
    return emitOpError("must be extern when serialized to bytecode");
  ArrayRef<Type> inputs = getArgumentTypes(), results = getResultTypes();
  if (inputs.empty())
    return emitOpError("extern functions must declare at least one input");
  unsigned bound = 0;
  for (auto [i, input] : llvm::enumerate(inputs)) {
    if (!isa<TileType>(input))
      return emitOpError("input type ")
             << i << " must be a cuda_tile.tile, got " << input;
    PreviewAccessAttr access = getAccess(*this, i);
    if (!access)
      return emitOpError("extern function argument ")
             << i << " must have a '" << kAccess << "' arg attr";
    if (access.getValue() == PreviewAccess::In)
      continue;
    if (bound == results.size())
      return emitOpError(
          "number of bound inouts exceeded the number of results");
    if (results[bound] != input)
      return emitOpError("extern function argument ")
             << i << " must match result " << bound;
    ++bound;
  }
  llvm::StringSet<> names;
  if (failed(verifyConstParams(*this, getConstParams(),
                               /*allowsWildcards=*/false, names)))
    return failure();
  for (Type input : inputs)
    if (StringAttr name = findUndeclared(input, names))
      return emitOpError("input type references undeclared symbolic variable '")
             << name.getValue() << "'";
  return success();
}

/// The number of elements of a mode, if it is constant.
static std::optional<int64_t> getModeSize(Attribute mode) {
  auto tuple = dyn_cast<ExprTupleAttr>(mode);
  if (!tuple)
    return evaluate(mode);
  int64_t size = 1;
  for (Attribute part : tuple.getElements()) {
    std::optional<int64_t> factor = getModeSize(part);
    if (!factor || llvm::MulOverflow(size, *factor, size))
      return std::nullopt;
  }
  return size;
}

/// Whether the strides of all submodes with more than one element are zero, where both
/// are constant.
static bool isBroadcast(Attribute shape, Attribute stride) {
  if (auto shapes = dyn_cast<ExprTupleAttr>(shape)) {
    ArrayAttr strides = cast<ExprTupleAttr>(stride).getElements();
    return llvm::all_of(llvm::zip_equal(shapes.getElements(), strides),
                        [](auto pair) {
                          auto [a, b] = pair;
                          return isBroadcast(a, b);
                        });
  }
  return evaluate(shape) == 1 || evaluate(stride).value_or(0) == 0;
}

static LogicalResult verifyFragmap(PreviewExternImplOp op, unsigned index,
                                   FragmentType fragment) {
  enum { Invocation, Participant, Footprint, NumModes };
  ArrayAttr shapes = fragment.getFragmap().getShapes().getElements();
  ArrayAttr strides = fragment.getFragmap().getStrides().getElements();
  auto report = [&] {
    return op.emitOpError("fragment arg ") << index << ' ';
  };
  if (shapes.size() != NumModes)
    return report() << "fragmap must have 3 shape modes (invocation, "
                       "participant, footprint), got "
                    << shapes.size();
  std::optional<int64_t> footprint = getModeSize(shapes[Footprint]);
  std::optional<int64_t> elements = getModeSize(fragment.getShape());
  if (footprint && elements && *footprint != *elements)
    return report() << "fragmap footprint mode size (" << *footprint
                    << ") must equal the fragment element count (" << *elements
                    << ")";
  if (fragment.getSpace() == PreviewSpace::Shared &&
      !isBroadcast(shapes[Participant], strides[Participant]))
    return report() << "smem fragmap participant mode must have zero stride for "
                       "every non-unit submode";
  auto first = cast<FragmentType>(op.getArgumentTypes().front());
  ArrayAttr firstShapes = first.getFragmap().getShapes().getElements();
  auto compare = [&](unsigned mode, StringRef name,
                     StringRef reason) -> LogicalResult {
    std::optional<int64_t> size = getModeSize(shapes[mode]);
    std::optional<int64_t> expected = getModeSize(firstShapes[mode]);
    if (!size || !expected || *size == *expected)
      return success();
    return report() << "fragmap " << name << " mode size (" << *size
                    << ") must match arg 0's (" << *expected << ")" << reason;
  };
  return failure(
      failed(compare(Invocation, "invocation", "")) ||
      failed(compare(Participant, "participant",
                     "; all args of one invocation use the same participants")));
}

static LogicalResult verifySynchronization(PreviewExternImplOp op) {
  PreviewSyncAttr sync = op.getSynchronizationAttr();
  auto first = cast<FragmentType>(op.getArgumentTypes().front());
  std::optional<int64_t> threads =
      getModeSize(first.getFragmap().getShapes().getElements()[1]);
  if (!sync || !threads)
    return success();
  int64_t group = sync.getValue() == PreviewSync::Warp        ? 32
                  : sync.getValue() == PreviewSync::Warpgroup ? 128
                                                              : 1;
  if (*threads > 0 && *threads % group == 0)
    return success();
  return op.emitOpError("synchronization '")
         << stringifyPreviewSync(sync.getValue())
         << "' requires the fragmap participant mode size (" << *threads
         << ") to be a positive multiple of " << group;
}

LogicalResult PreviewExternImplOp::verify() {
  if (!getBody().empty())
    return emitOpError("expects an empty body");
  if (size_t count = getResultTypes().size())
    return emitOpError("extern_impl must not declare results; outputs are "
                       "represented as 'out' or 'inout' fragment args, got ")
           << count << " result(s)";
  ArrayRef<Type> inputs = getArgumentTypes();
  if (inputs.empty() || !llvm::all_of(inputs, llvm::IsaPred<FragmentType>))
    return emitOpError("function_type must have at least one input and all "
                       "inputs must be fragment types");
  for (unsigned i = 0; i < inputs.size(); ++i)
    if (!getAccess(*this, i))
      return emitOpError("extern_impl argument ")
             << i << " must carry a '" << kAccess << "' arg attr";
  if (getConfig())
    return emitOpError("extern_impl must not carry 'config'");
  llvm::StringSet<> names;
  if (failed(verifyConstParams(*this,
                               getConstParams().value_or(
                                   ArrayAttr::get(getContext(), {})),
                               /*allowsWildcards=*/true, names)))
    return failure();
  for (auto [i, input] : llvm::enumerate(inputs)) {
    auto fragment = cast<FragmentType>(input);
    std::pair<StringRef, Attribute> fields[] = {
        {"shape", fragment.getShape()},
        {"mem_layout", fragment.getMemLayout()},
        {"fragmap", fragment.getFragmap()}};
    for (auto [field, attr] : fields)
      if (StringAttr name = findUndeclared(attr, names))
        return emitOpError("argument ")
               << i << " field " << field
               << " references an undeclared symbolic variable "
               << name.getValue();
    if (failed(verifyFragmap(*this, i, fragment)))
      return failure();
  }
  return verifySynchronization(*this);
}
