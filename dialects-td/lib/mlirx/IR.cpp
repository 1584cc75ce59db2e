// IR queries that MLIR-C 21 lacks.
#include "capi/mlirx.h"
#include "mlir-c/Dialect/Arith.h"
#include "mlir-c/Dialect/ControlFlow.h"
#include "mlir-c/Dialect/Func.h"
#include "mlir-c/Dialect/GPU.h"
#include "mlir-c/Dialect/LLVM.h"
#include "mlir-c/Dialect/Math.h"
#include "mlir-c/Dialect/NVGPU.h"
#include "mlir-c/Dialect/NVVM.h"
#include "mlir-c/Dialect/SCF.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/CAPI/Wrap.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/SourceMgr.h"
using namespace mlir;

//===-- IR ---------------------------------------------------------------------//
intptr_t mlirxOperationOperands(MlirOperation o, MlirValue *out, intptr_t cap) {
  Operation *op = unwrap(o);
  intptr_t n = op->getNumOperands();
  for (intptr_t i = 0; i < n && i < cap; ++i)
    out[i] = wrap(op->getOperand(i));
  return n;
}
MlirOperation mlirxOperationPrev(MlirOperation o) { return wrap(unwrap(o)->getPrevNode()); }
void mlirxOperationSetLocation(MlirOperation o, MlirLocation l) { unwrap(o)->setLoc(unwrap(l)); }
MlirLocation mlirxLocationOpaqueFallback(MlirLocation l) {
  auto opaque = dyn_cast<OpaqueLoc>(unwrap(l));
  return opaque ? wrap(Location(opaque.getFallbackLocation())) : MlirLocation{nullptr};
}
bool mlirxOperationIsTerminatorTrait(MlirOperation o) { return unwrap(o)->hasTrait<OpTrait::IsTerminator>(); }
bool mlirxOperationIsPure(MlirOperation o) { return isPure(unwrap(o)); }
bool mlirxOperationEffects(MlirOperation o, void (*each)(MlirxEffectKind, MlirStringRef, intptr_t, void *), void *user) {
  Operation *op = unwrap(o);
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  if (!interface)
    return op->hasTrait<OpTrait::HasRecursiveMemoryEffects>();
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  for (const MemoryEffects::EffectInstance &effect : effects) {
    MlirxEffectKind kind = isa<MemoryEffects::Allocate>(effect.getEffect()) ? MlirxAllocates
                           : isa<MemoryEffects::Free>(effect.getEffect())   ? MlirxFrees
                           : isa<MemoryEffects::Read>(effect.getEffect())   ? MlirxReads
                                                                            : MlirxWrites;
    auto *operand = effect.getEffectValue<OpOperand *>();
    each(kind, wrap(effect.getResource()->getName()), operand ? intptr_t(operand->getOperandNumber()) : intptr_t(-1), user);
  }
  return true;
}
void mlirxEmitRemark(MlirLocation location, MlirStringRef message) { emitRemark(unwrap(location)) << unwrap(message); }
void mlirxEmitErrorWithNote(MlirLocation location, MlirStringRef message, MlirLocation noteLocation,
                            MlirStringRef note) {
  InFlightDiagnostic error = emitError(unwrap(location)) << unwrap(message);
  error.attachNote(unwrap(noteLocation)) << unwrap(note);
}
void mlirxContextDialects(MlirContext context, MlirxWriteFn write, void *out) {
  for (StringRef name : unwrap(context)->getAvailableDialects()) {
    write(wrap(name), out);
    write(wrap(StringRef("\n")), out);
  }
}
void mlirxLLVMModuleSortUses(void *raw) {
  auto &module = *static_cast<llvm::Module *>(raw);
  llvm::DenseMap<const llvm::User *, unsigned> number;
  llvm::SetVector<llvm::Value *> values;
  for (llvm::GlobalVariable &global : module.globals())
    values.insert(&global);
  for (llvm::Function &function : module) {
    values.insert(&function);
    for (llvm::Argument &argument : function.args())
      values.insert(&argument);
    for (llvm::BasicBlock &block : function) {
      values.insert(&block);
      for (llvm::Instruction &op : block) {
        number[&op] = number.size() + 1;
        values.insert(&op);
        for (llvm::Value *operand : op.operands())
          if (isa<llvm::ConstantExpr>(operand))
            values.insert(operand);
      }
    }
  }
  // Later uses come first, as after parsing the text.
  auto place = [&](const llvm::Use &use) { return std::pair(number.lookup(use.getUser()), use.getOperandNo()); };
  for (llvm::Value *value : values)
    value->sortUseList([&](const llvm::Use &a, const llvm::Use &b) { return place(a) > place(b); });
}
size_t mlirxLLVMModuleSplitBlocks(void *raw, size_t most) {
  auto &module = *static_cast<llvm::Module *>(raw);
  SmallVector<llvm::Instruction *> starts;
  for (llvm::Function &function : module)
    for (llvm::BasicBlock &block : function) {
      size_t count = 0;
      for (llvm::Instruction &op : block) {
        if (count++ < most || isa<llvm::PHINode>(op) || op.isTerminator())
          continue;
        starts.push_back(&op);
        count = 1;
      }
    }
  // The last first: a split moves all instructions after it.
  for (llvm::Instruction *start : llvm::reverse(starts))
    start->getParent()->splitBasicBlock(start);
  return starts.size();
}
void mlirxLLVMModuleDropNamedMetadata(void *raw) {
  auto &module = *static_cast<llvm::Module *>(raw);
  while (!module.named_metadata_empty())
    module.eraseNamedMetadata(&*module.named_metadata_begin());
}
// The name of a value in the text without the number that makes it unique, unless it is only a number.
static StringRef nameOf(SMRange place) {
  const char *begin = place.Start.getPointer(), *end = place.End.getPointer();
  if (!begin || end <= begin + 1 || *begin != '%' || llvm::isDigit(begin[1]))
    return {};
  StringRef name(begin + 1, end - begin - 1), stem = name.rtrim("0123456789");
  return stem.size() < name.size() && stem.consume_back("_") ? stem : name;
}
// Whether an op has this name for its first result anyway.
static bool isDefault(Operation *op, StringRef name) {
  auto known = dyn_cast<OpAsmOpInterface>(op);
  bool same = false;
  if (known)
    known.getAsmResultNames([&](Value value, StringRef given) { same |= value == op->getResult(0) && given == name; });
  return same;
}
// Whether MLIR gives arguments names of this form.
static bool isArgument(StringRef name) {
  return name.consume_front("arg") && name.find_if_not(llvm::isDigit) == StringRef::npos;
}
// Keeps the names of values in their locations, from where printing takes them.
static void keepNames(AsmParserState &state, MLIRContext *context) {
  for (const AsmParserState::OperationDefinition &each : state.getOpDefs())
    if (!each.resultGroups.empty())
      if (StringRef name = nameOf(each.resultGroups.front().definition.loc); !name.empty() && !isDefault(each.op, name))
        each.op->setLoc(NameLoc::get(StringAttr::get(context, name), each.op->getLoc()));
  for (const AsmParserState::BlockDefinition &each : state.getBlockDefs())
    for (auto [argument, definition] : llvm::zip(each.block->getArguments(), each.arguments))
      if (StringRef name = nameOf(definition.loc); !name.empty() && !isArgument(name))
        argument.setLoc(NameLoc::get(StringAttr::get(context, name), argument.getLoc()));
}
MlirModule mlirxModuleParse(MlirContext context, MlirStringRef text, MlirStringRef name) {
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(unwrap(text), unwrap(name)), SMLoc());
  ParserConfig config(unwrap(context));
  Block top;
  AsmParserState state;
  OwningOpRef<ModuleOp> module;
  if (succeeded(parseAsmSourceFile(sources, &top, config, &state))) {
    auto place = FileLineColLoc::get(unwrap(context), unwrap(name), /*line=*/0, /*column=*/0);
    keepNames(state, unwrap(context));
    module = mlir::detail::constructContainerOpForParserIfNecessary<ModuleOp>(&top, unwrap(context), place);
  }
  // Escapes can spell any byte, but two names that are not UTF-8 would look alike to readers of names as text.
  WalkResult walked = !module ? WalkResult::interrupt() : module->walk([](Operation *op) {
    WalkResult strings = op->getAttrDictionary().walk([&](StringAttr string) {
      const auto *begin = reinterpret_cast<const llvm::UTF8 *>(string.getValue().bytes_begin());
      if (llvm::isLegalUTF8String(&begin, string.getValue().bytes_end()))
        return WalkResult::advance();
      op->emitError("the string ") << Attribute(string) << " is not UTF-8";
      return WalkResult::interrupt();
    });
    return strings.wasInterrupted() ? WalkResult::interrupt() : WalkResult::advance();
  });
  return wrap(walked.wasInterrupted() ? ModuleOp() : module.release());
}
bool mlirxIsLLVMLocalScope(MlirAttribute a) { return isa<LLVM::DILocalScopeAttr>(unwrap(a)); }
bool mlirxIsLLVMSubprogram(MlirAttribute a) { return isa<LLVM::DISubprogramAttr>(unwrap(a)); }
MlirAttribute mlirxLLVMSubprogramGet(MlirAttribute unit, MlirAttribute file, MlirAttribute name,
                                     MlirAttribute linkageName, unsigned line, unsigned scopeLine, bool optimized,
                                     MlirxSubprogramExtras extras) {
  MLIRContext *context = unwrap(unit).getContext();
  auto id = DistinctAttr::create(UnitAttr::get(context));
  auto source = cast<LLVM::DIFileAttr>(unwrap(file));
  auto flags = LLVM::DISubprogramFlags::Definition | LLVM::DISubprogramFlags(extras.spFlags);
  if (optimized)
    flags = flags | LLVM::DISubprogramFlags::Optimized;
  SmallVector<LLVM::DINodeAttr> annotations;
  for (auto [name, value] : {std::pair<StringRef, uint64_t>("flags", extras.flags), {"purpose", extras.purpose}})
    if (value)
      annotations.push_back(LLVM::DIAnnotationAttr::get(context, StringAttr::get(context, name),
                                                        StringAttr::get(context, Twine(value))));
  auto type = LLVM::DISubroutineTypeAttr::get(context, llvm::dwarf::DW_CC_normal, {});
  return wrap(LLVM::DISubprogramAttr::get(context, id, cast<LLVM::DICompileUnitAttr>(unwrap(unit)), source,
                                          cast<StringAttr>(unwrap(name)), cast<StringAttr>(unwrap(linkageName)),
                                          source, line, scopeLine, flags, type, /*retainedNodes=*/{},
                                          annotations));
}
void mlirxDialectRegistryInsertUpstream(MlirDialectRegistry r) {
  DialectRegistry &reg = *unwrap(r);
  for (MlirDialectHandle h :
       {mlirGetDialectHandle__arith__(), mlirGetDialectHandle__cf__(),
        mlirGetDialectHandle__func__(), mlirGetDialectHandle__gpu__(),
        mlirGetDialectHandle__llvm__(), mlirGetDialectHandle__math__(),
        mlirGetDialectHandle__nvgpu__(), mlirGetDialectHandle__nvvm__(),
        mlirGetDialectHandle__scf__()})
    mlirDialectHandleInsertDialect(h, r);
  reg.insert<ub::UBDialect>();
  // Interfaces that convert-to-llvm queries from the dialects.
  arith::registerConvertArithToLLVMInterface(reg);
  registerConvertFuncToLLVMInterface(reg);
  registerConvertNVVMToLLVMInterface(reg);
  registerBuiltinDialectTranslation(reg);
  registerGPUDialectTranslation(reg);
  registerLLVMDialectTranslation(reg);
  registerNVVMDialectTranslation(reg);
}
