// The stock command-line tools (opt, LSP, translate) for the dialects registered from Rust.
#include "capi/mlirx.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/CAPI/Wrap.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"
#include <string>
using namespace mlir;

static LogicalResult optMain(int argc, char **argv, const char *tool, DialectRegistry &registry,
                             const char *(*check)(MlirStringRef)) {
  auto [input, output] = registerAndParseCLIOptions(argc, argv, tool, registry);
  MlirOptMainConfig given = MlirOptMainConfig::createFromCLOptions();
  if (given.shouldShowDialects() || given.shouldListPasses())
    return MlirOptMain(argc, argv, input, output, registry);
  MlirOptMainConfig checked = given;
  // The passes of a reproducer are in the pass manager already.
  checked.setPassPipelineSetupFn([&given, check](PassManager &pm) -> LogicalResult {
    if (failed(given.setupPassPipeline(pm)))
      return failure();
    std::string pipeline;
    llvm::raw_string_ostream os(pipeline);
    pm.printAsTextualPipeline(os);
    if (const char *wrong = check(wrap(StringRef(pipeline))))
      return emitError(UnknownLoc::get(pm.getContext()), wrong);
    return success();
  });
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> buffer = openInputFile(input, &message);
  std::unique_ptr<llvm::ToolOutputFile> file = buffer ? openOutputFile(output, &message) : nullptr;
  if (!file) {
    llvm::errs() << message << '\n';
    return failure();
  }
  if (failed(MlirOptMain(file->os(), std::move(buffer), registry, checked)))
    return failure();
  file->keep();
  return success();
}
int mlirxOptMain(int argc, char **argv, const char *tool, MlirDialectRegistry r,
                 const char *(*check)(MlirStringRef)) {
  llvm::InitLLVM guard(argc, argv);
  return asMainReturnCode(optMain(argc, argv, tool, *unwrap(r), check));
}
int mlirxLspServerMain(int argc, char **argv, MlirDialectRegistry r) {
  return asMainReturnCode(MlirLspServerMain(argc, argv, *unwrap(r)));
}
int mlirxTranslateMain(int argc, char **argv, const char *tool) {
  return asMainReturnCode(mlirTranslateMain(argc, argv, tool));
}
void mlirxRegisterUpstreamPasses(void) { LLVM::registerLLVMPasses(); }

//===-- options ----------------------------------------------------------------//
// Options register themselves when constructed and live until the process ends.
void mlirxOptionFlag(const char *name, const char *description, void (*set)(bool)) {
  new llvm::cl::opt<bool>(StringRef(name), llvm::cl::desc(description),
                          llvm::cl::callback([set](const bool &value) { set(value); }));
}
namespace {
struct CheckedText : llvm::cl::parser<std::string> {
  using llvm::cl::parser<std::string>::parser;
  bool parse(llvm::cl::Option &o, StringRef, StringRef text, std::string &value) {
    value = text.str();
    const char *wrong = set(wrap(text));
    return wrong && o.error(wrong);
  }
  const char *(*set)(MlirStringRef) = nullptr;
};
} // namespace
void mlirxOptionText(const char *name, const char *description, const char *valueName,
                     const char *(*set)(MlirStringRef)) {
  auto *option = new llvm::cl::opt<std::string, false, CheckedText>(
      StringRef(name), llvm::cl::desc(description), llvm::cl::value_desc(valueName));
  option->getParser().set = set;
}
void mlirxHideOptions(void) {
  for (auto &entry : llvm::cl::getRegisteredOptions())
    if (entry.first() != "help" && entry.first() != "version" && entry.first() != "color")
      entry.second->setHiddenFlag(llvm::cl::Hidden);
}
void mlirxVersionText(const char *text) {
  llvm::cl::SetVersionPrinter([text = std::string(text)](raw_ostream &os) { os << text; });
}

//===-- translations -----------------------------------------------------------//
static void writeTo(MlirStringRef part, void *out) { *static_cast<raw_ostream *>(out) << unwrap(part); }
void mlirxRegisterFromMlir(const char *name, const char *description, MlirxFromMlirFn run,
                           MlirDialectRegistry dialects) {
  TranslateFromMLIRRegistration(
      name, description,
      [run](Operation *op, raw_ostream &os) { return success(run(wrap(op), writeTo, &os)); },
      [dialects](DialectRegistry &r) { unwrap(dialects)->appendTo(r); });
}
void mlirxRegisterToMlir(const char *name, const char *description, MlirxToMlirFn run,
                         MlirDialectRegistry dialects) {
  TranslateToMLIRRegistration(
      name, description,
      [run](llvm::SourceMgr &sources, MLIRContext *context) {
        const llvm::MemoryBuffer *input = sources.getMemoryBuffer(sources.getMainFileID());
        MlirStringRef name = wrap(input->getBufferIdentifier());
        return OwningOpRef<Operation *>(unwrap(run(wrap(input->getBuffer()), name, wrap(context))));
      },
      [dialects](DialectRegistry &r) { unwrap(dialects)->appendTo(r); });
}
void mlirxOperationPrint(MlirOperation op, bool generic, MlirxWriteFn write, void *out) {
  OpPrintingFlags flags;
  if (generic)
    flags.printGenericOpForm();
  flags.printNameLocAsPrefix();
  std::string text;
  llvm::raw_string_ostream os(text);
  unwrap(op)->print(os, flags);
  write(wrap(StringRef(text)), out);
}
void mlirxOperationPrintWithPlaces(MlirOperation op, MlirxWriteFn write,
                                   void (*place)(MlirLocation, unsigned, unsigned, void *), void *out) {
  AsmState::LocationMap places;
  AsmState state(unwrap(op), OpPrintingFlags().useLocalScope().printNameLocAsPrefix(), &places);
  std::string text;
  llvm::raw_string_ostream os(text);
  unwrap(op)->print(os, state);
  write(wrap(StringRef(text)), out);
  for (auto [each, at] : places)
    place(wrap(each->getLoc()), at.first, at.second, out);
}
