// Rewrite patterns and dialect conversion driven from Rust.
#include "capi/mlirx.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Rewrite.h"
#include "mlir/CAPI/Support.h"
#include "mlir/CAPI/Wrap.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/FoldUtils.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
using namespace mlir;

//===-- patterns ---------------------------------------------------------------//
DEFINE_C_API_PTR_METHODS(MlirRewritePatternSet, RewritePatternSet)
DEFINE_C_API_PTR_METHODS(MlirxTypeConverter, TypeConverter)
DEFINE_C_API_PTR_METHODS(MlirxConversionTarget, ConversionTarget)
namespace {
struct RustPattern : RewritePattern {
  RustPattern(StringRef root, PatternBenefit b, MLIRContext *c, MlirxPatternFn f, void *u)
      : RewritePattern(root, b, c), fn(f), user(u) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rw) const override {
    return success(fn(wrap(op), wrap(static_cast<RewriterBase *>(&rw)), user));
  }
  MlirxPatternFn fn;
  void *user;
};
struct RustConversion : ConversionPattern {
  RustConversion(const TypeConverter &tc, StringRef root, PatternBenefit b, MLIRContext *c,
                 MlirxConversionFn f, void *u)
      : ConversionPattern(tc, root, b, c), fn(f), user(u) {}
  LogicalResult matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                                ConversionPatternRewriter &rw) const override {
    static_assert(sizeof(Value) == sizeof(MlirValue));
    return success(fn(wrap(op), operands.size(), reinterpret_cast<const MlirValue *>(operands.data()),
                      wrap(static_cast<RewriterBase *>(&rw)), user));
  }
  MlirxConversionFn fn;
  void *user;
};
} // namespace
MlirRewritePatternSet mlirxPatternSetCreate(MlirContext c) { return wrap(new RewritePatternSet(unwrap(c))); }
void mlirxPatternSetDestroy(MlirRewritePatternSet s) { delete unwrap(s); }
void mlirxPatternSetAdd(MlirRewritePatternSet s, const char *root, unsigned b, MlirxPatternFn f, void *u) {
  unwrap(s)->add(std::make_unique<RustPattern>(root, b, unwrap(s)->getContext(), f, u));
}
MlirLogicalResult mlirxApplyPatternsGreedily(MlirOperation op, MlirRewritePatternSet s, bool *changed) {
  return wrap(applyPatternsGreedily(unwrap(op), FrozenRewritePatternSet(std::move(*unwrap(s))), {}, changed));
}
void mlirxFoldScalars(MlirOperation root) {
  auto isInteger = [](Type type) { return type.isIntOrIndex(); };
  SmallVector<Operation *> ops;
  unwrap(root)->walk([&](Operation *op) {
    if (isa<arith::ArithDialect>(op->getDialect()) && !isa<arith::ConstantOp>(op) &&
        llvm::all_of(op->getResultTypes(), isInteger) && llvm::all_of(op->getOperandTypes(), isInteger))
      ops.push_back(op);
  });
  OperationFolder folder(unwrap(root)->getContext());
  for (Operation *op : ops)
    (void)folder.tryToFold(op);
}
void mlirxWalkAndApplyPatterns(MlirOperation op, MlirRewritePatternSet s) {
  walkAndApplyPatterns(unwrap(op), FrozenRewritePatternSet(std::move(*unwrap(s))));
}
MlirxTypeConverter mlirxTypeConverterCreate() { return wrap(new TypeConverter()); }
void mlirxTypeConverterDestroy(MlirxTypeConverter t) { delete unwrap(t); }
void mlirxTypeConverterAdd(MlirxTypeConverter t, MlirxConvertTypeFn f, void *u) {
  unwrap(t)->addConversion([=](Type ty) -> std::optional<Type> {
    MlirType r = f(wrap(ty), u);
    if (!r.ptr)
      return std::nullopt;
    return unwrap(r);
  });
}
MlirType mlirxTypeConverterConvert(MlirxTypeConverter t, MlirType ty) { return wrap(unwrap(t)->convertType(unwrap(ty))); }
MlirxConversionTarget mlirxConversionTargetCreate(MlirContext c) { return wrap(new ConversionTarget(*unwrap(c))); }
void mlirxConversionTargetDestroy(MlirxConversionTarget t) { delete unwrap(t); }
void mlirxConversionTargetDialect(MlirxConversionTarget t, const char *ns, bool legal) {
  if (legal) unwrap(t)->addLegalDialect(ns); else unwrap(t)->addIllegalDialect(ns);
}
void mlirxConversionTargetDynamicOp(MlirxConversionTarget t, MlirContext c, const char *op, bool (*f)(MlirOperation, void *), void *u) {
  OperationName name(op, unwrap(c));
  unwrap(t)->addDynamicallyLegalOp(name, [=](Operation *o) -> std::optional<bool> { return f(wrap(o), u); });
}
void mlirxConversionPatternAdd(MlirRewritePatternSet s, MlirxTypeConverter tc, const char *root, unsigned b,
                               MlirxConversionFn f, void *u) {
  unwrap(s)->add(std::make_unique<RustConversion>(*unwrap(tc), root, b, unwrap(s)->getContext(), f, u));
}
void mlirxPopulateFunctionTypeConversion(MlirRewritePatternSet s, MlirxTypeConverter tc, MlirxConversionTarget t) {
  TypeConverter *conv = unwrap(tc);
  populateFunctionOpInterfaceTypeConversionPattern("func.func", *unwrap(s), *conv);
  unwrap(t)->addDynamicallyLegalOp(OperationName("func.func", unwrap(s)->getContext()), [conv](Operation *op) -> std::optional<bool> {
    auto f = cast<FunctionOpInterface>(op);
    return conv->isSignatureLegal(cast<FunctionType>(f.getFunctionType())) && conv->isLegal(&f.getFunctionBody());
  });
}
MlirLogicalResult mlirxApplyConversion(MlirOperation op, MlirxConversionTarget t, MlirRewritePatternSet s, bool full) {
  FrozenRewritePatternSet fs(std::move(*unwrap(s)));
  return wrap(full ? applyFullConversion(unwrap(op), *unwrap(t), fs)
                   : applyPartialConversion(unwrap(op), *unwrap(t), fs));
}
