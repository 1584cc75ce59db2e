//===- AggregateOps.td - Reductions and scans --------------*- tablegen -*-===//
#ifndef CUDA_TILE_AGGREGATE_OPS_TD
#define CUDA_TILE_AGGREGATE_OPS_TD

include "cuda_tile/CudaTileOpBase.td"

class CudaTile_AggregateOp<string mnemonic, CudaTile_AsmInterface asm>
    : CudaTile_Op<mnemonic,
        [SameOperandsShape, RecursiveMemoryEffects, SingleBlock,
         DeclareOpInterfaceMethods<InferTypeOpInterface>, asm]> {
  let description = [{
    The body combines the current element and the accumulator of each operand.
    It must be associative and free of effects. `identities` are the initial
    values of the accumulators.
  }];
  let results = (outs Variadic<CudaTile_AnyTile>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def CudaTile_ReduceOp : CudaTile_AggregateOp<"reduce",
    CudaTile_AsmInterface<["getDefaultDialect", "getAsmResultNames",
                           "getAsmBlockArgumentNames"]>> {
  let summary = "reduces a tile along one dimension";
  let arguments = (ins Variadic<CudaTile_AnyTile>:$operands,
                       CudaTile_DimAttr:$dim, ArrayAttr:$identities);
}

def CudaTile_ScanOp
    : CudaTile_AggregateOp<"scan", CudaTile_RegionAsm> {
  let summary = "inclusive scan along one dimension";
  let arguments = (ins Variadic<CudaTile_AnyTile>:$operands,
                       CudaTile_DimAttr:$dim, BoolAttr:$reverse,
                       ArrayAttr:$identities);
}

#endif // CUDA_TILE_AGGREGATE_OPS_TD
