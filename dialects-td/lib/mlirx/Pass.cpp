// Passes and analyses written in Rust, which appear to MLIR as ordinary C++ ones.
#include "capi/mlirx.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Pass.h"
#include "mlir/CAPI/Support.h"
#include "mlir/CAPI/Wrap.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include <variant>
using namespace mlir;

namespace {
//===-- RustPass -------------------------------------------------------------//
class RustPass : public Pass {
public:
  explicit RustPass(const MlirxPassDesc *d, void *st = nullptr)
      : Pass(unwrap(d->typeId), *d->opName ? std::optional<StringRef>(d->opName)
                                           : std::nullopt),
        desc(d), state(st ? st : d->create()) {
    init();
  }
  RustPass(const RustPass &o)
      : Pass(o), desc(o.desc), state(o.desc->clone(o.state)) {
    init();
  }
  ~RustPass() override { desc->destroy(state); }
  void init() {
    for (intptr_t i = 0; i < desc->nOptions; ++i) {
      const MlirxOptionDesc &o = desc->options[i];
      StringRef def(o.defaultValue);
      auto d = llvm::cl::desc(o.description);
      switch (o.kind) {
      case MlirxOptBool:
        options.emplace_back(std::make_unique<Option<bool>>(
            *this, o.name, d, llvm::cl::init(def == "true")));
        break;
      case MlirxOptInt: {
        int64_t v = 0;
        (void)def.getAsInteger(0, v);
        options.emplace_back(std::make_unique<Option<int64_t>>(
            *this, o.name, d, llvm::cl::init(v)));
        break;
      }
      case MlirxOptStr:
        options.emplace_back(std::make_unique<Option<std::string>>(
            *this, o.name, d, llvm::cl::init(def.str())));
        break;
      case MlirxOptIntList:
        options.emplace_back(std::make_unique<ListOption<int64_t>>(*this, o.name, d));
        break;
      case MlirxOptStrList:
        options.emplace_back(std::make_unique<ListOption<std::string>>(*this, o.name, d));
        break;
      }
    }
    for (intptr_t i = 0; i < desc->nStatistics; ++i)
      stats.push_back(std::make_unique<Statistic>(
          this, desc->statistics[i].name, desc->statistics[i].description));
  }
  StringRef getName() const override { return desc->name; }
  StringRef getArgument() const override { return desc->argument; }
  StringRef getDescription() const override { return desc->description; }
  void getDependentDialects(DialectRegistry &r) const override {
    if (desc->dependentDialects)
      desc->dependentDialects(wrap(&r));
  }
  bool canScheduleOn(RegisteredOperationName n) const override {
    return !*desc->opName || n.getStringRef() == desc->opName;
  }
  LogicalResult initialize(MLIRContext *c) override {
    return success(!desc->initialize ||
                   desc->initialize(state, wrap(c), MlirxPass{this}));
  }
  void runOnOperation() override {
    desc->run(state, wrap(Pass::getOperation()), MlirxPass{this});
  }
  std::unique_ptr<Pass> clonePass() const override {
    return std::make_unique<RustPass>(*this);
  }
  // Exposes protected members to the C functions below.
  using Pass::getAnalysisManager;
  using Pass::markAllAnalysesPreserved;
  using Pass::runPipeline;
  using Pass::signalPassFailure;
  void preserve(TypeID id) { markAnalysesPreserved(id); }
  template <class T> T &analysis() { return getAnalysis<T>(); }
  template <class T> T *cachedAnalysis() {
    auto a = getCachedAnalysis<T>();
    return a ? &a->get() : nullptr;
  }

  using Opt = std::variant<std::unique_ptr<Option<bool>>, std::unique_ptr<Option<int64_t>>,
                           std::unique_ptr<Option<std::string>>,
                           std::unique_ptr<ListOption<int64_t>>,
                           std::unique_ptr<ListOption<std::string>>>;
  const MlirxPassDesc *desc;
  void *state;
  std::vector<Opt> options;
  std::vector<std::unique_ptr<Statistic>> stats;
};
RustPass &P(MlirxPass p) { return *static_cast<RustPass *>(p.ptr); }

//===-- analyses -------------------------------------------------------------//
const MlirxAnalysisDesc *analysisDescs[MLIRX_ANALYSIS_SLOTS];
template <int N> struct RustAnalysis {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RustAnalysis)
  explicit RustAnalysis(Operation *op) : state(analysisDescs[N]->build(wrap(op))) {}
  ~RustAnalysis() { analysisDescs[N]->destroy(state); }
  bool isInvalidated(const AnalysisManager::PreservedAnalyses &pa) {
    return analysisDescs[N]->isInvalidated(state, pa.isAll() || pa.isPreserved<RustAnalysis>());
  }
  void *state;
};
template <class F, size_t... I>
auto forSlot(intptr_t slot, F f, std::index_sequence<I...>) {
  using R = decltype(f(std::integral_constant<int, 0>{}));
  R r{};
  ((slot == (intptr_t)I ? (r = f(std::integral_constant<int, I>{}), 0) : 0), ...);
  return r;
}
template <class F> auto forSlot(intptr_t slot, F f) {
  return forSlot(slot, f, std::make_index_sequence<MLIRX_ANALYSIS_SLOTS>{});
}
} // namespace

MlirPass mlirxPassCreate(const MlirxPassDesc *d) { return wrap(static_cast<Pass *>(new RustPass(d))); }
void mlirxPassRegister(const MlirxPassDesc *d) {
  registerPass([d]() -> std::unique_ptr<Pass> { return std::make_unique<RustPass>(d); });
}
bool mlirxPassIsRegistered(MlirStringRef arg) { return PassInfo::lookup(unwrap(arg)) != nullptr; }
void mlirxPipelineRegister(const char *arg, const char *desc, void (*build)(MlirOpPassManager)) {
  PassPipelineRegistration<>(arg, desc, [build](OpPassManager &pm) { build(wrap(&pm)); });
}
void mlirxPipelineRegisterWithOptions(const char *arg, const char *desc,
                                      bool (*build)(MlirOpPassManager, MlirStringRef options, void *error)) {
  registerPassPipeline(
      arg, desc,
      [build](OpPassManager &pm, StringRef options, function_ref<LogicalResult(const Twine &)> error) {
        return success(build(wrap(&pm), wrap(options), &error));
      },
      [](function_ref<void(const detail::PassOptions &)>) {});
}
void mlirxPipelineError(void *error, MlirStringRef message) {
  (void)(*static_cast<function_ref<LogicalResult(const Twine &)> *>(error))(unwrap(message));
}
void mlirxPassSignalFailure(MlirxPass p) { P(p).signalPassFailure(); }
bool mlirxPassOptBool(MlirxPass p, intptr_t i) { return *std::get<0>(P(p).options[i]); }
int64_t mlirxPassOptInt(MlirxPass p, intptr_t i) { return *std::get<1>(P(p).options[i]); }
MlirStringRef mlirxPassOptStr(MlirxPass p, intptr_t i) {
  std::string &s = std::get<2>(P(p).options[i])->getValue();
  return wrap(StringRef(s));
}
intptr_t mlirxPassOptIntList(MlirxPass p, intptr_t i, const int64_t **data) {
  auto &l = *std::get<3>(P(p).options[i]);
  ArrayRef<int64_t> a = l;
  *data = a.data();
  return a.size();
}
void mlirxPassStatAdd(MlirxPass p, intptr_t i, int64_t d) { *P(p).stats[i] += d; }
void mlirxPassPreserveAll(MlirxPass p) { P(p).markAllAnalysesPreserved(); }
void mlirxPassPreserve(MlirxPass p, MlirTypeID id) { P(p).preserve(unwrap(id)); }
MlirLogicalResult mlirxPassRunPipeline(MlirxPass p, MlirOpPassManager pm, MlirOperation op) {
  return wrap(P(p).runPipeline(*unwrap(pm), unwrap(op)));
}
MlirxDominance mlirxPassGetDominance(MlirxPass p) { return {&P(p).analysis<DominanceInfo>()}; }
MlirTypeID mlirxDominanceTypeId() { return wrap(TypeID::get<DominanceInfo>()); }
bool mlirxDominates(MlirxDominance d, MlirOperation a, MlirOperation b) {
  return static_cast<DominanceInfo *>(d.ptr)->properlyDominates(unwrap(a), unwrap(b));
}
void mlirxAnalysisRegister(intptr_t s, const MlirxAnalysisDesc *d) { analysisDescs[s] = d; }
void *mlirxPassGetAnalysis(MlirxPass p, intptr_t s) {
  return forSlot(s, [&](auto n) -> void * { return P(p).analysis<RustAnalysis<decltype(n)::value>>().state; });
}
void *mlirxPassGetCachedAnalysis(MlirxPass p, intptr_t s) {
  return forSlot(s, [&](auto n) -> void * {
    auto *a = P(p).cachedAnalysis<RustAnalysis<decltype(n)::value>>();
    return a ? a->state : nullptr;
  });
}
MlirTypeID mlirxAnalysisTypeId(intptr_t s) {
  return forSlot(s, [&](auto n) { return wrap(TypeID::get<RustAnalysis<decltype(n)::value>>()); });
}

//===-- pass manager ---------------------------------------------------------//
void mlirxPassManagerEnableTiming(MlirPassManager pm) { unwrap(pm)->enableTiming(); }
void mlirxPassManagerEnableStatistics(MlirPassManager pm) { unwrap(pm)->enableStatistics(); }
void mlirxPassManagerEnableCrashReproducer(MlirPassManager pm, MlirStringRef f, bool local) {
  unwrap(pm)->enableCrashReproducerGeneration(unwrap(f), local);
}
void mlirxPassManagerEnableIRPrintingFiltered(MlirPassManager pm,
    bool (*filter)(MlirStringRef, bool, void *), void *user, bool scope, bool change) {
  unwrap(pm)->enableIRPrinting(
      [=](Pass *p, Operation *) { return filter(wrap(p->getArgument()), true, user); },
      [=](Pass *p, Operation *) { return filter(wrap(p->getArgument()), false, user); },
      scope, change, /*printAfterOnlyOnFailure=*/false, llvm::errs(), OpPrintingFlags().printNameLocAsPrefix());
}
namespace {
struct CInstrumentation : PassInstrumentation {
  explicit CInstrumentation(MlirxInstrumentation i) : i(i) {}
  void runBeforePass(Pass *p, Operation *op) override { if (i.before) i.before(wrap(p->getArgument()), wrap(op), i.user); }
  void runAfterPass(Pass *p, Operation *op) override { if (i.after) i.after(wrap(p->getArgument()), wrap(op), false, i.user); }
  void runAfterPassFailed(Pass *p, Operation *op) override { if (i.after) i.after(wrap(p->getArgument()), wrap(op), true, i.user); }
  MlirxInstrumentation i;
};
} // namespace
bool mlirxContextWatchPasses(MlirContext c, void (*ran)(MlirContext, MlirStringRef)) {
  MLIRContext *context = unwrap(c);
  if (context->hasActionHandler())
    return false;
  context->registerActionHandler([=](function_ref<void()> run, const tracing::Action &action) {
    run();
    if (action.getTag() == PassExecutionAction::tag)
      ran(c, wrap(static_cast<const PassExecutionAction &>(action).getPass().getArgument()));
  });
  return true;
}
void mlirxPassManagerAddInstrumentation(MlirPassManager pm, MlirxInstrumentation i) {
  unwrap(pm)->addInstrumentation(std::make_unique<CInstrumentation>(i));
}
