//===- ControlFlowOps.td - Structured control flow ---------*- tablegen -*-===//
//
// Branches and loops are structured, except that `break`, `continue` and
// `return` may appear inside an `if`. Therefore `if` and the loops do not
// implement RegionBranchOpInterface: its successors are only the op's own
// regions and results, so an analysis that trusts it would miss those exits.
//
//===----------------------------------------------------------------------===//
#ifndef CUDA_TILE_CONTROL_FLOW_OPS_TD
#define CUDA_TILE_CONTROL_FLOW_OPS_TD

include "cuda_tile/CudaTileOpBase.td"

def CudaTile_IfOp : CudaTile_Op<"if",
    [NoRegionArguments, RecursiveMemoryEffects, SingleBlock,
     CudaTile_RegionAsm]> {
  let summary = "two-way branch";
  let arguments = (ins CudaTile_ScalarI1:$condition);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$thenRegion,
                        MaxSizedRegion<1>:$elseRegion);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    ::mlir::Block *thenBlock() { return &getThenRegion().front(); }
    /// Null if there is no else branch.
    ::mlir::Block *elseBlock() {
      return getElseRegion().empty() ? nullptr : &getElseRegion().front();
    }
  }];
}

def CudaTile_ForOp : CudaTile_Op<"for",
    [AutomaticAllocationScope, RecursiveMemoryEffects, SingleBlock,
     CudaTile_SameType<["lowerBound", "upperBound", "step"]>,
     CudaTile_SameType<["initValues", "resultValues"]>,
     DeclareOpInterfaceMethods<LoopLikeOpInterface,
       ["getLoopInductionVars", "getLoopLowerBounds", "getLoopUpperBounds",
        "getLoopSteps", "getInitsMutable", "getRegionIterArgs",
        "getLoopResults"]>,
     CudaTile_AsmInterface<["getDefaultDialect", "getAsmResultNames",
                            "getAsmBlockArgumentNames"]>]> {
  let summary = "counted loop over a half-open interval";
  let arguments = (ins CudaTile_ScalarInt:$lowerBound,
                       CudaTile_ScalarInt:$upperBound,
                       CudaTile_ScalarInt:$step,
                       Variadic<AnyType>:$initValues,
                       UnitAttr:$unsignedCmp);
  let results = (outs Variadic<AnyType>:$resultValues);
  let regions = (region SizedRegion<1>:$region);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Block *getBody() { return &getRegion().front(); }
    ::mlir::BlockArgument getInductionVar() {
      return getRegion().getArgument(0);
    }
  }];
}

def CudaTile_LoopOp : CudaTile_Op<"loop",
    [AutomaticAllocationScope, RecursiveMemoryEffects, SingleBlock,
     DeclareOpInterfaceMethods<LoopLikeOpInterface>, CudaTile_RegionAsm]> {
  let summary = "loop that repeats until a break";
  let description = [{
    The operands of `continue` become the block arguments, and the operands of
    `break` become the results. The two lists may differ.
  }];
  let arguments = (ins Variadic<AnyType>:$initValues);
  let results = (outs Variadic<AnyType>:$resultValues);
  let regions = (region SizedRegion<1>:$region);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Block *getBody() { return &getRegion().front(); }
  }];
}

class CudaTile_TerminatorOp<string mnemonic, Type carried, list<Trait> traits>
    : CudaTile_Op<mnemonic, traits> {
  let arguments = (ins Variadic<carried>:$operands);
  let assemblyFormat = [{
    ($operands^)? attr-dict (`:` custom<BareTypes>(type($operands))^)?
  }];
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
}

def CudaTile_BreakOp : CudaTile_TerminatorOp<"break", CudaTile_AnyValue,
    [ReturnLike, Terminator, ParentOneOf<["IfOp", "LoopOp"]>]> {
  let summary = "exits the innermost loop";
  let hasVerifier = 1;
}
def CudaTile_ContinueOp : CudaTile_TerminatorOp<"continue", CudaTile_AnyValue,
    [Terminator, ParentOneOf<["ForOp", "IfOp", "LoopOp"]>]> {
  let summary = "continues with the next iteration of the innermost loop";
  let hasVerifier = 1;
}
def CudaTile_YieldOp : CudaTile_TerminatorOp<"yield", CudaTile_AnyValue,
    [Pure, ReturnLike, Terminator, ParentOneOf<["IfOp", "ReduceOp", "ScanOp"]>]> {
  let summary = "yields the results of a region";
}
def CudaTile_ReturnOp : CudaTile_TerminatorOp<"return", AnyType,
    [ReturnLike, Terminator, ParentOneOf<["EntryOp", "IfOp", "TestingFuncOp"]>]> {
  let summary = "returns from the function";
  let hasVerifier = 1;
}

#endif // CUDA_TILE_CONTROL_FLOW_OPS_TD
