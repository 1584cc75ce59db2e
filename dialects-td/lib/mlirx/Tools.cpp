// The stock command-line tools (opt, LSP, translate) for the dialects registered from Rust.
#include "capi/mlirx.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/CAPI/Wrap.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/SourceMgr.h"
#include <string>
using namespace mlir;

int mlirxOptMain(int argc, char **argv, const char *tool, MlirDialectRegistry r) {
  return asMainReturnCode(MlirOptMain(argc, argv, tool, *unwrap(r)));
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
