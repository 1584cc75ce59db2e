// MLIR's query tool for the dialects registered from Rust.
#include "capi/mlirx.h"
#include "mlir/CAPI/IR.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Query/Matcher/MatchersInternal.h"
#include "mlir/Query/Matcher/Registry.h"
#include "mlir/Query/Matcher/SliceMatchers.h"
#include "mlir/Support/LogicalResult.h"
#include "mlir/Tools/mlir-query/MlirQueryMain.h"
using namespace mlir;
using namespace mlir::query::matcher;

namespace {
/// Matches an op with an operand or result whose type contains a text.
struct HasTypeWith {
  HasTypeWith(StringRef part) : part(part) {}
  bool match(Operation *op) {
    auto has = [&](Type type) {
      std::string text;
      llvm::raw_string_ostream(text) << type;
      return StringRef(text).contains(part);
    };
    return llvm::any_of(op->getOperandTypes(), has) || llvm::any_of(op->getResultTypes(), has);
  }
  std::string part;
};
/// Matches an operation of a dialect.
struct IsOfDialect {
  IsOfDialect(StringRef name) : name(name) {}
  bool match(Operation *op) { return op->getName().getDialectNamespace() == name; }
  std::string name;
};
HasTypeWith hasTypeWith(StringRef part) { return part; }
IsOfDialect isOfDialect(StringRef name) { return name; }
} // namespace

int mlirxQueryMain(int argc, char **argv, MlirDialectRegistry r) {
  Registry matchers;
  // mlir-query's matchers, under their names.
  matchers.registerMatcher("allOf", internal::allOf);
  matchers.registerMatcher("anyOf", internal::anyOf);
  matchers.registerMatcher("getAllDefinitions", m_GetAllDefinitions<DynMatcher>);
  matchers.registerMatcher("getDefinitions", m_GetDefinitions<DynMatcher>);
  matchers.registerMatcher("getDefinitionsByPredicate", m_GetDefinitionsByPredicate<DynMatcher, DynMatcher>);
  matchers.registerMatcher("getUsersByPredicate", m_GetUsersByPredicate<DynMatcher, DynMatcher>);
  matchers.registerMatcher("hasOpAttrName", static_cast<detail::AttrOpMatcher (*)(StringRef)>(m_Attr));
  matchers.registerMatcher("hasOpName", static_cast<detail::NameOpMatcher (*)(StringRef)>(m_Op));
  matchers.registerMatcher("isConstantOp", static_cast<detail::constant_op_matcher (*)()>(m_Constant));
  // Our own matchers.
  matchers.registerMatcher("hasTypeWith", hasTypeWith);
  matchers.registerMatcher("isOfDialect", isOfDialect);
  MLIRContext context(*unwrap(r));
  return failed(mlirQueryMain(argc, argv, context, matchers));
}
