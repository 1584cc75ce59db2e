// Ops of nv_tileaa that concern tile blocks: regions, program ids, hints.
// Included by NvTileAAOps.td, which defines their classes.
#ifndef NV_TILEAA_PROGRAM_OPS_TD
#define NV_TILEAA_PROGRAM_OPS_TD

//===-- regions -------------------------------------------------------------//

def NvTileAA_ExecuteOp : NvTileAA_Op<"execute", NvTileAA_Program,
    [RecursiveMemoryEffects, SingleBlock]> {
  let summary = "a region that runs once, in place";
  let description = [{
    The results are the values that the region yields. The op groups ops, such as the work of one agent.
    `convert-tileaa-to-tileas` inlines the region.

    ```mlir
    %y = nv_tileaa.execute : () -> i32 {
      %z = arith.addi %x, %x : i32
      nv_tileaa.yield %z : i32
    }
    ```
  }];
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "attr-dict `:` functional-type(operands, results) $body";
  let hasRegionVerifier = 1;
}

//===-- tile blocks ---------------------------------------------------------//

def NvTileAA_IsValidProgramIdOp : NvTileAA_Op<"is_valid_program_id", NvTileAA_Program, [Pure]> {
  let summary = "whether the coordinates belong to a tile block of the grid";
  let arguments = (ins I32:$x, I32:$y, I32:$z);
  let results = (outs I1:$result);
  let assemblyFormat = "$x `,` $y `,` $z attr-dict";
}

//===-- hints ---------------------------------------------------------------//

def NvTileAA_MarkForReuseOp : NvTileAA_Op<"mark_for_reuse", NvTileAA_Program, [MemoryEffects<[NvTileAA_ReadsMachine, NvTileAA_WritesMachine]>]> {
  let summary = "hints that the memory of a view will be accessed again soon";
  let description = [{
    The token places the hint between accesses; the op has no other effect. No target uses it yet, and
    `convert-tileaa-to-tileas` drops it.
  }];
  let arguments = (ins AnyTypeOf<[NvTileAA_StridedMemRefType, NvTileAA_TiledViewType]>:$view,
      Optional<NvTileAA_MemTokenType>:$token);
  let results = (outs NvTileAA_MemTokenType:$resultToken);
  let assemblyFormat = "$view (`token` $token^)? attr-dict `:` type($view)";
}

#endif
