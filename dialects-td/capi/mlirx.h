// Dialect-agnostic additions to the MLIR C API, used by the Rust passes.
#ifndef TILEIRAS_CAPI_MLIRX_H
#define TILEIRAS_CAPI_MLIRX_H
#include "mlir-c/IR.h"
#include "mlir-c/Pass.h"
#include "mlir-c/Rewrite.h"
#include "mlir-c/Support.h"
#ifdef __cplusplus
extern "C" {
#endif
//===-- passes ---------------------------------------------------------------//
typedef struct MlirxPass { void *ptr; } MlirxPass;
enum MlirxOptionKind { MlirxOptBool, MlirxOptInt, MlirxOptStr, MlirxOptIntList, MlirxOptStrList };
typedef struct { const char *name, *description, *defaultValue; enum MlirxOptionKind kind; } MlirxOptionDesc;
typedef struct { const char *name, *description; } MlirxStatisticDesc;
typedef struct {
  const char *name, *argument, *description, *opName; // opName "": any op
  MlirTypeID typeId;
  intptr_t nOptions;    const MlirxOptionDesc *options;
  intptr_t nStatistics; const MlirxStatisticDesc *statistics;
  // Inserts every dependent dialect in the registry.
  void (*dependentDialects)(MlirDialectRegistry);
  void *(*create)(void);
  void *(*clone)(const void *);
  void (*destroy)(void *);
  bool (*initialize)(void *, MlirContext, MlirxPass);
  void (*run)(void *, MlirOperation, MlirxPass);
} MlirxPassDesc; // must outlive every pass created from it: use a static

MLIR_CAPI_EXPORTED MlirPass mlirxPassCreate(const MlirxPassDesc *desc);
MLIR_CAPI_EXPORTED void mlirxPassRegister(const MlirxPassDesc *desc);
// Whether a pass with this argument is already registered in the process.
MLIR_CAPI_EXPORTED bool mlirxPassIsRegistered(MlirStringRef argument);
MLIR_CAPI_EXPORTED void mlirxPipelineRegister(const char *argument, const char *description,
                                       void (*build)(MlirOpPassManager));
// Registers a pipeline with options: `build` adds the passes for the text between the braces, and returns false after
// mlirxPipelineError.
MLIR_CAPI_EXPORTED void mlirxPipelineRegisterWithOptions(const char *argument, const char *description,
                                       bool (*build)(MlirOpPassManager, MlirStringRef options, void *error));
MLIR_CAPI_EXPORTED void mlirxPipelineError(void *error, MlirStringRef message);
MLIR_CAPI_EXPORTED void mlirxPassSignalFailure(MlirxPass pass);
MLIR_CAPI_EXPORTED bool mlirxPassOptBool(MlirxPass, intptr_t idx);
MLIR_CAPI_EXPORTED int64_t mlirxPassOptInt(MlirxPass, intptr_t idx);
MLIR_CAPI_EXPORTED MlirStringRef mlirxPassOptStr(MlirxPass, intptr_t idx);
MLIR_CAPI_EXPORTED intptr_t mlirxPassOptIntList(MlirxPass, intptr_t idx, const int64_t **data);
MLIR_CAPI_EXPORTED void mlirxPassStatAdd(MlirxPass, intptr_t idx, int64_t delta);
MLIR_CAPI_EXPORTED void mlirxPassPreserveAll(MlirxPass);
MLIR_CAPI_EXPORTED void mlirxPassPreserve(MlirxPass, MlirTypeID analysis);
MLIR_CAPI_EXPORTED MlirLogicalResult mlirxPassRunPipeline(MlirxPass, MlirOpPassManager, MlirOperation);
// C++ analyses.
typedef struct MlirxDominance { void *ptr; } MlirxDominance;
MLIR_CAPI_EXPORTED MlirxDominance mlirxPassGetDominance(MlirxPass);
MLIR_CAPI_EXPORTED MlirTypeID mlirxDominanceTypeId(void);
MLIR_CAPI_EXPORTED bool mlirxDominates(MlirxDominance, MlirOperation a, MlirOperation b);
// Rust analyses: a fixed number of C++ slots carries type-erased Rust objects through the AnalysisManager, which
// caches and invalidates them like any other analysis.
#define MLIRX_ANALYSIS_SLOTS 8
typedef struct {
  void *(*build)(MlirOperation);
  void (*destroy)(void *);
  bool (*isInvalidated)(void *, bool preserved);
} MlirxAnalysisDesc;
MLIR_CAPI_EXPORTED void mlirxAnalysisRegister(intptr_t slot, const MlirxAnalysisDesc *desc);
MLIR_CAPI_EXPORTED void *mlirxPassGetAnalysis(MlirxPass, intptr_t slot);
MLIR_CAPI_EXPORTED void *mlirxPassGetCachedAnalysis(MlirxPass, intptr_t slot);
MLIR_CAPI_EXPORTED MlirTypeID mlirxAnalysisTypeId(intptr_t slot);
//===-- pass manager ---------------------------------------------------------//
MLIR_CAPI_EXPORTED void mlirxPassManagerEnableTiming(MlirPassManager);
MLIR_CAPI_EXPORTED void mlirxPassManagerEnableStatistics(MlirPassManager);
MLIR_CAPI_EXPORTED void mlirxPassManagerEnableCrashReproducer(MlirPassManager, MlirStringRef file, bool local);
MLIR_CAPI_EXPORTED void mlirxPassManagerEnableIRPrintingFiltered(
    MlirPassManager, bool (*filter)(MlirStringRef passArg, bool before, void *), void *user,
    bool moduleScope, bool onlyOnChange);
// Called with the argument of each pass; the argument of an adaptor, which only runs other passes, is empty. A pass
// also counts as failed if its result does not verify.
typedef struct {
  void (*before)(MlirStringRef argument, MlirOperation, void *);
  void (*after)(MlirStringRef argument, MlirOperation, bool failed, void *);
  void *user;
} MlirxInstrumentation;
// Reports the argument of each pass that has run on the context, from now on, on the thread that ran it. A pass
// may call this. False if the context already has a handler of actions, which may be a handler of this function.
MLIR_CAPI_EXPORTED bool mlirxContextWatchPasses(MlirContext, void (*ran)(MlirContext, MlirStringRef argument));
MLIR_CAPI_EXPORTED void mlirxPassManagerAddInstrumentation(MlirPassManager, MlirxInstrumentation);
//===-- tools ----------------------------------------------------------------//
// `check` gets the text of the pipeline before it runs and returns null or an error message.
MLIR_CAPI_EXPORTED int mlirxOptMain(int argc, char **argv, const char *tool, MlirDialectRegistry,
                                    const char *(*check)(MlirStringRef pipeline));
MLIR_CAPI_EXPORTED int mlirxLspServerMain(int argc, char **argv, MlirDialectRegistry);
// Includes the pipeline tile-reduce.
MLIR_CAPI_EXPORTED int mlirxReduceMain(int argc, char **argv, MlirDialectRegistry);
MLIR_CAPI_EXPORTED int mlirxQueryMain(int argc, char **argv, MlirDialectRegistry);
// Adds options to MLIR's. They must be registered before a main function parses the command line, which then calls
// `set`. For a text option, `set` returns null or an error message.
MLIR_CAPI_EXPORTED void mlirxOptionFlag(const char *name, const char *description, void (*set)(bool));
MLIR_CAPI_EXPORTED void mlirxOptionText(const char *name, const char *description, const char *valueName,
                                        const char *(*set)(MlirStringRef));
// Hides the options registered so far from --help, but not from --help-hidden: a shared libLLVM registers the options
// of all its targets.
MLIR_CAPI_EXPORTED void mlirxHideOptions(void);
// Sets the first lines of --version.
MLIR_CAPI_EXPORTED void mlirxVersionText(const char *text);
// Translations of mlirxTranslateMain, selected by --<name>.
typedef void (*MlirxWriteFn)(MlirStringRef part, void *out);
// Writes an operation; returns false after a diagnostic.
typedef bool (*MlirxFromMlirFn)(MlirOperation, MlirxWriteFn write, void *out);
// Creates an operation, which the caller owns, from the input and its file name; returns null after a diagnostic.
typedef MlirOperation (*MlirxToMlirFn)(MlirStringRef input, MlirStringRef name, MlirContext);
MLIR_CAPI_EXPORTED void mlirxRegisterFromMlir(const char *name, const char *description, MlirxFromMlirFn,
                                              MlirDialectRegistry);
MLIR_CAPI_EXPORTED void mlirxRegisterToMlir(const char *name, const char *description, MlirxToMlirFn,
                                            MlirDialectRegistry);
MLIR_CAPI_EXPORTED int mlirxTranslateMain(int argc, char **argv, const char *tool);
// Upstream passes that MLIR-C does not export.
MLIR_CAPI_EXPORTED void mlirxRegisterUpstreamPasses(void);
//===-- patterns ---------------------------------------------------------------//
typedef bool (*MlirxPatternFn)(MlirOperation, MlirRewriterBase, void *user);
MLIR_CAPI_EXPORTED MlirRewritePatternSet mlirxPatternSetCreate(MlirContext);
MLIR_CAPI_EXPORTED void mlirxPatternSetDestroy(MlirRewritePatternSet);
MLIR_CAPI_EXPORTED void mlirxPatternSetAdd(MlirRewritePatternSet, const char *rootOp, unsigned benefit,
                                    MlirxPatternFn, void *user);
MLIR_CAPI_EXPORTED MlirLogicalResult mlirxApplyPatternsGreedily(MlirOperation root, MlirRewritePatternSet, bool *changed);
// Folds integer arithmetic on scalars inside the op, and adds constants for the results.
MLIR_CAPI_EXPORTED void mlirxFoldScalars(MlirOperation root);
MLIR_CAPI_EXPORTED void mlirxWalkAndApplyPatterns(MlirOperation root, MlirRewritePatternSet);
//===-- dialect conversion -----------------------------------------------------//
typedef struct MlirxTypeConverter { void *ptr; } MlirxTypeConverter;
typedef struct MlirxConversionTarget { void *ptr; } MlirxConversionTarget;
// Returns a null type for "not mine", or the input itself for "already legal".
typedef MlirType (*MlirxConvertTypeFn)(MlirType, void *user);
MLIR_CAPI_EXPORTED MlirxTypeConverter mlirxTypeConverterCreate(void);
MLIR_CAPI_EXPORTED void mlirxTypeConverterDestroy(MlirxTypeConverter);
MLIR_CAPI_EXPORTED void mlirxTypeConverterAdd(MlirxTypeConverter, MlirxConvertTypeFn, void *user);
MLIR_CAPI_EXPORTED MlirType mlirxTypeConverterConvert(MlirxTypeConverter, MlirType);
MLIR_CAPI_EXPORTED MlirxConversionTarget mlirxConversionTargetCreate(MlirContext);
MLIR_CAPI_EXPORTED void mlirxConversionTargetDestroy(MlirxConversionTarget);
MLIR_CAPI_EXPORTED void mlirxConversionTargetDialect(MlirxConversionTarget, const char *ns, bool legal);
MLIR_CAPI_EXPORTED void mlirxConversionTargetDynamicOp(MlirxConversionTarget, MlirContext, const char *op,
                                                bool (*legal)(MlirOperation, void *), void *user);
// The operands have already been converted to the target types.
typedef bool (*MlirxConversionFn)(MlirOperation, intptr_t n, const MlirValue *operands,
                                  MlirRewriterBase, void *user);
MLIR_CAPI_EXPORTED void mlirxConversionPatternAdd(MlirRewritePatternSet, MlirxTypeConverter,
                                           const char *rootOp, unsigned benefit,
                                           MlirxConversionFn, void *user);
MLIR_CAPI_EXPORTED void mlirxPopulateFunctionTypeConversion(MlirRewritePatternSet, MlirxTypeConverter,
                                                     MlirxConversionTarget);
MLIR_CAPI_EXPORTED MlirLogicalResult mlirxApplyConversion(MlirOperation, MlirxConversionTarget,
                                                   MlirRewritePatternSet, bool full);
//===-- IR conveniences ----------------------------------------------------------//
MLIR_CAPI_EXPORTED intptr_t mlirxOperationOperands(MlirOperation, MlirValue *out, intptr_t cap);
MLIR_CAPI_EXPORTED MlirOperation mlirxOperationPrev(MlirOperation);
MLIR_CAPI_EXPORTED bool mlirxOperationIsTerminatorTrait(MlirOperation);
MLIR_CAPI_EXPORTED bool mlirxOperationIsPure(MlirOperation);
enum MlirxEffectKind { MlirxAllocates, MlirxFrees, MlirxReads, MlirxWrites };
// Calls `each` for every memory effect of an operation, excluding its regions, with the name of the resource
// and the number of the affected operand, or -1. Returns false if the effects are unknown.
MLIR_CAPI_EXPORTED bool mlirxOperationEffects(MlirOperation, void (*each)(enum MlirxEffectKind, MlirStringRef resource,
                                                                          intptr_t operand, void *), void *user);
MLIR_CAPI_EXPORTED void mlirxEmitRemark(MlirLocation, MlirStringRef message);
MLIR_CAPI_EXPORTED void mlirxEmitErrorWithNote(MlirLocation, MlirStringRef message, MlirLocation noteLocation,
                                               MlirStringRef note);
// Prints an operation as the command line's options specify (--mlir-print-debuginfo and the like).
MLIR_CAPI_EXPORTED void mlirxOperationPrint(MlirOperation, bool generic, MlirxWriteFn write, void *out);
// Prints an operation in its custom form without aliases. For each operation inside, calls `place` with its location and the line and
// column of the text where it begins, from 0, in no particular order.
MLIR_CAPI_EXPORTED void mlirxOperationPrintWithPlaces(MlirOperation, MlirxWriteFn write,
                                                      void (*place)(MlirLocation, unsigned line, unsigned column,
                                                                    void *out),
                                                      void *out);
MLIR_CAPI_EXPORTED void mlirxOperationSetLocation(MlirOperation, MlirLocation);
// Returns the fallback of an opaque location, and null for other locations.
MLIR_CAPI_EXPORTED MlirLocation mlirxLocationOpaqueFallback(MlirLocation);
// Writes the names of the context's dialects, each followed by a newline.
MLIR_CAPI_EXPORTED void mlirxContextDialects(MlirContext, MlirxWriteFn write, void *out);
// Parses a module from text, with locations in a file of this name; returns null after diagnostics.
MLIR_CAPI_EXPORTED MlirModule mlirxModuleParse(MlirContext, MlirStringRef text, MlirStringRef name);
// Debug information of the LLVM dialect.
MLIR_CAPI_EXPORTED bool mlirxIsLLVMLocalScope(MlirAttribute);
MLIR_CAPI_EXPORTED bool mlirxIsLLVMSubprogram(MlirAttribute);
// Numbers of a front end's subprogram: LLVM's flags of subprograms, and two that become annotations unless 0.
typedef struct {
  uint64_t flags, purpose;
  uint32_t spFlags;
} MlirxSubprogramExtras;
// Returns a distinct definition of a function; unit and file are attributes of the LLVM dialect, the names strings.
MLIR_CAPI_EXPORTED MlirAttribute mlirxLLVMSubprogramGet(MlirAttribute unit, MlirAttribute file, MlirAttribute name,
                                                        MlirAttribute linkageName, unsigned line, unsigned scopeLine,
                                                        bool optimized, MlirxSubprogramExtras);
MLIR_CAPI_EXPORTED void mlirxDialectRegistryInsertUpstream(MlirDialectRegistry);
// Sorts the uses of each value in a module of LLVM IR (an LLVMModuleRef) into the order of the printed text.
MLIR_CAPI_EXPORTED void mlirxLLVMModuleSortUses(void *module);
// Splits blocks of such a module with more than `most` instructions into blocks that follow each other. Returns the
// number of new blocks.
MLIR_CAPI_EXPORTED size_t mlirxLLVMModuleSplitBlocks(void *module, size_t most);
// Removes the flags of such a module, annotations of its kernels, and all other named metadata.
MLIR_CAPI_EXPORTED void mlirxLLVMModuleDropNamedMetadata(void *module);
// Sinks instructions of such a module that only one branch needs into that branch. Returns their number.
MLIR_CAPI_EXPORTED unsigned mlirxLLVMModuleSinkIntoBranches(void *module);
#ifdef __cplusplus
}
#endif
#endif
