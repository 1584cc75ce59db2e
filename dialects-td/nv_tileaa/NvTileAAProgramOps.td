// Ops of nv_tileaa that concern functions, tile blocks and agents: calls, launches, regions, queues, program ids.
// Included by NvTileAAOps.td, which defines their classes.
#ifndef NV_TILEAA_PROGRAM_OPS_TD
#define NV_TILEAA_PROGRAM_OPS_TD

//===-- calls ---------------------------------------------------------------//

def NvTileAA_CallOp : NvTileAA_Op<"call", NvTileAA_Program, [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "calls a function of the same module";
  let description = [{
    All threads of the tile block call it. Arguments and results have the function's types.

    ```mlir
    %y = nv_tileaa.call @f(%x) : (tensor<16xf32>) -> tensor<16xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$operands);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = "$callee `(` $operands `)` attr-dict `:` functional-type($operands, $results)";
}

def NvTileAA_LaunchFuncOp : NvTileAA_Op<"launch_func", NvTileAA_Program, [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "launches a grid of a kernel";
  let description = [{
    `kernel` names the module and the function in it. The grid has `gridX * gridY * gridZ` tile blocks.

    ```mlir
    nv_tileaa.launch_func @kernels::@k grid(%x, %y, %z) args(%p, %n) : !nv_tileaa.ptr<f32>, i32
    ```
  }];
  let arguments = (ins SymbolRefAttr:$kernel, I32:$gridX, I32:$gridY, I32:$gridZ,
      Variadic<AnyType>:$kernelOperands);
  let assemblyFormat = [{
    $kernel `grid` `(` $gridX `,` $gridY `,` $gridZ `)` (`args` `(` $kernelOperands^ `)` `:` type($kernelOperands))? attr-dict
  }];
}

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

//===-- queues --------------------------------------------------------------//

def NvTileAA_CreateQueueOp : NvTileAA_Op<"create_queue", NvTileAA_Program> {
  let summary = "an empty queue";
  let results = (outs NvTileAA_QueueType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def NvTileAA_QueuePutOp : NvTileAA_Op<"queue.put", NvTileAA_Program,
    [RecursiveMemoryEffects, SingleBlock, MemoryEffects<[NvTileAA_WritesMachine]>]> {
  let summary = "appends the value that the body computes; waits while the queue is full";
  let description = [{
    The body yields one value of the queue's element type through `queue.yield`.

    ```mlir
    nv_tileaa.queue.put %q : !nv_tileaa.queue<depth = 2, tensor<64x64xf16>> {
      %t, %token = nv_tileaa.tiled_load ...
      nv_tileaa.queue.yield %t : tensor<64x64xf16>
    }
    ```
  }];
  let arguments = (ins NvTileAA_QueueType:$queue);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$queue attr-dict `:` type($queue) $body";
  let hasRegionVerifier = 1;
}

def NvTileAA_QueueGetOp : NvTileAA_Op<"queue.get", NvTileAA_Program, [MemoryEffects<[NvTileAA_ReadsMachine, NvTileAA_WritesMachine]>]> {
  let summary = "removes the oldest value; waits while the queue is empty";
  let arguments = (ins NvTileAA_QueueType:$queue);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$queue attr-dict `:` type($queue) `->` type($result)";
  let hasVerifier = 1;
}

def NvTileAA_QueueYieldOp : NvTileAA_Op<"queue.yield", NvTileAA_Program, [Pure, HasParent<"QueuePutOp">, ReturnLike, Terminator]> {
  let summary = "yields the value to append";
  let arguments = (ins AnyType:$operand);
  let assemblyFormat = "$operand attr-dict `:` type($operand)";
}

//===-- tile blocks ---------------------------------------------------------//

def NvTileAA_CancelNextProgramIdOp : NvTileAA_Op<"cancel_next_program_id", NvTileAA_Program, [MemoryEffects<[NvTileAA_ReadsMachine, NvTileAA_WritesMachine]>]> {
  let summary = "takes over the work of a tile block that has not started";
  let description = [{
    Cancels the launch of a tile block of the grid and returns its coordinates, so that the current tile block can do
    its work. If all tile blocks have started, the coordinates are invalid, which `is_valid_program_id` tests.
  }];
  let results = (outs I32:$x, I32:$y, I32:$z);
  let assemblyFormat = "attr-dict";
}

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

def NvTileAA_PragmaOp : NvTileAA_Op<"pragma", NvTileAA_Program, [MemoryEffects<[NvTileAA_WritesMachine]>]> {
  let summary = "a named request to a pass, for the region that contains the op";
  let description = "The pass that handles the name removes the op; a remaining op is an error.";
  let arguments = (ins StrAttr:$name, OptionalAttr<AnyAttr>:$value);
  let assemblyFormat = "$name (`=` $value^)? attr-dict";
  let hasVerifier = 1;
}

#endif
