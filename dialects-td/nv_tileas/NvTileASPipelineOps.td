// Pipelines of nv_tileas: rings of stages in shared memory that a producer fills and a consumer empties. Included by
// NvTileASOps.td, which defines the classes used here.
#ifndef NV_TILEAS_PIPELINE_OPS_TD
#define NV_TILEAS_PIPELINE_OPS_TD

//===-- pipelines -----------------------------------------------------------//
// Stage s has two barriers. The bytes that TMA loads write complete `full`; arrivals of the consumer's warps complete
// `empty`. An iterator holds the next stage and, as the parity of the round, the phase of its barriers. Producer and
// consumer each have an iterator and visit the stages in the same order:
//
//   producer                                    consumer
//   %t = producer_acquire %p[%i] bytes 32768    consumer_wait %p[%i]
//   async.tiled_tma_load ... arrive %t          read stage %i
//   %i = inc_iter %i of %p                      consumer_release %p[%i]
//                                               %i = inc_iter %i of %p
//
// One program may do both, one stage at a time. It is then a sequential program with the same results.
//
// If TMA cannot load a tile, warps of the producer compute it and store it, and each of these warps arrives:
//
//   producer_acquire %p[%i]          all threads wait until the stage is empty
//   local_store %tile, stage %i
//   producer_commit %p[%i]           one thread of each warp arrives at `full`
//
// A tile that is only loaded need not go through registers. Each thread issues asynchronous copies and continues; its
// arrival follows when its copies are complete:
//
//   producer_acquire %p[%i]
//   async.load %pointers into stage %i
//   producer_commit %p[%i] copies    each thread arrives at `full` when its copies complete
//
// These copies write through the generic proxy, and tensor cores read through the async proxy. Therefore each waiter
// executes an `async.fence` after its wait.
//
// Warps between the producer and the consumer may convert a stage before a dot reads it. The stage then has a third
// barrier, `converted`, which the arrivals of these warps complete. They own the stage from the time it is full until
// they arrive. Only the producer waits for `empty`:
//
//   producer                converter                            consumer
//   producer_acquire %p     consumer_wait %p[%i]                 consumer_wait %p[%i] converted
//   copy ... arrive         convert stage %i                     read stage %i
//                           producer_commit %p[%i] converted     consumer_release %p[%i]

def NvTileAS_CreatePipelineOp : NvTileAS_Op<"async.pipeline.create_pipeline", NvTileAA_Program,
    [MemoryEffects<[NvTileAA_ReadsMachine, NvTileAA_WritesMachine]>]> {
  let summary = "initialize the barriers of a ring; all stages are empty";
  let description = [{
    One thread initializes them, so a barrier must separate this op from the first use of the pipeline in other
    threads. `consumers` is the number of warps that release each stage.

    `arrivals` is the number of arrivals that make a stage full, one by default: one of the thread that announces TMA
    loads, if there are any; one of each warp that commits its stores; and one of each thread that commits its own
    copies.

    `converters` is the number of warps that convert each stage before consumers read it, if a converter exists.
    `barriers` holds 64 bits for each barrier: two barriers per stage, or three with `converters`.
  }];
  let arguments = (ins NvTileAS_DestStorage<NvTileAS_MemDescType>:$barriers,
      ConfinedAttr<I64Attr, [IntPositive]>:$consumers, OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$arrivals,
      OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$converters);
  let results = (outs NvTileAS_PipelineType:$pipeline);
  let assemblyFormat = [{
    $barriers `consumers` $consumers (`arrivals` $arrivals^)? (`converters` $converters^)? attr-dict `:` type($barriers) `->` type($pipeline)
  }];
  let hasVerifier = 1;
}

def NvTileAS_CreateIteratorOp : NvTileAS_Op<"async.pipeline.create_iterator", NvTileAA_Address, [Pure]> {
  let summary = "the first stage, in the first round";
  let arguments = (ins NvTileAS_PipelineType:$pipeline);
  let results = (outs NvTileAS_PipelineIteratorType:$iterator);
  let assemblyFormat = "$pipeline attr-dict `:` type($pipeline)";
}

def NvTileAS_IncIterOp : NvTileAS_Op<"async.pipeline.inc_iter", NvTileAA_Address, [Pure]> {
  let summary = "the stage after that of `iterator`";
  let arguments = (ins NvTileAS_PipelineIteratorType:$iterator, NvTileAS_PipelineType:$pipeline);
  let results = (outs NvTileAS_PipelineIteratorType:$next);
  let assemblyFormat = "$iterator `of` $pipeline attr-dict `:` type($pipeline)";
}

def NvTileAS_StageOp : NvTileAS_Op<"async.pipeline.stage", NvTileAA_Address, [Pure]> {
  let summary = "the stage number of an iterator, from zero";
  let arguments = (ins NvTileAS_PipelineIteratorType:$iterator);
  let results = (outs I32:$index);
  let assemblyFormat = "$iterator attr-dict";
}

def NvTileAS_ProducerAcquireOp : NvTileAS_Op<"async.pipeline.producer_acquire", NvTileAA_Program,
    [NvTileAA_TouchesAll]> {
  let summary = "wait until a stage is empty, and announce the bytes that copies will write to it";
  let description = [{
    With `bytes` the op is inside `elect`: one thread waits and announces that number of bytes, which may be zero.
    Without `bytes`, all threads wait and none announces anything: they store to the stage themselves.
  }];
  let arguments = (ins NvTileAS_PipelineType:$pipeline, NvTileAS_PipelineIteratorType:$iterator,
      OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$bytes);
  let results = (outs NvTileAS_ProducerTokenType:$token);
  let assemblyFormat = "$pipeline `[` $iterator `]` (`bytes` $bytes^)? attr-dict `:` type($pipeline)";
  let hasVerifier = 1;
}

def NvTileAS_ProducerCommitOp : NvTileAS_Op<"async.pipeline.producer_commit", NvTileAA_Program,
    [NvTileAA_TouchesAll]> {
  let summary = "one thread of each warp arrives after the warp has stored its part of a stage";
  let description = [{
    Stores of the warp are ordered before reads of the stage by tensor cores.

    With `copies`, each thread arrives separately, at the time when all asynchronous copies that it has issued are
    complete. This does not order other accesses of the thread, and does not include a proxy fence.

    With `converted`, the warp has converted a full stage instead of filling an empty one.
  }];
  let arguments = (ins NvTileAS_PipelineType:$pipeline, NvTileAS_PipelineIteratorType:$iterator, UnitAttr:$copies,
      UnitAttr:$converted);
  let assemblyFormat = [{
    $pipeline `[` $iterator `]` (`copies` $copies^)? (`converted` $converted^)? attr-dict `:` type($pipeline)
  }];
  let hasVerifier = 1;
}

def NvTileAS_ConsumerWaitOp : NvTileAS_Op<"async.pipeline.consumer_wait", NvTileAA_Program, [NvTileAA_TouchesAll]> {
  let summary = "wait until a stage is full, or full and converted";
  let arguments = (ins NvTileAS_PipelineType:$pipeline, NvTileAS_PipelineIteratorType:$iterator, UnitAttr:$converted);
  let results = (outs NvTileAS_ConsumerTokenType:$token);
  let assemblyFormat = "$pipeline `[` $iterator `]` (`converted` $converted^)? attr-dict `:` type($pipeline)";
  let hasVerifier = 1;
}

def NvTileAS_ConsumerReleaseOp : NvTileAS_Op<"async.pipeline.consumer_release", NvTileAA_Program,
    [NvTileAA_TouchesAll, AttrSizedOperandSegments]> {
  let summary = "one thread of each warp arrives after the warp has read a stage";
  let description = [{
    Does nothing if `predicate` is false. The release and everything after it must follow the computation of `after`:
    ptxas moves waits for dots up to accesses that it cannot move, and a dot in flight should not be awaited while
    there is other work.
  }];
  let arguments = (ins NvTileAS_PipelineType:$pipeline, NvTileAS_PipelineIteratorType:$iterator,
      Optional<I1>:$predicate, Optional<NvTileAS_Tensor>:$after);
  let assemblyFormat = [{
    $pipeline `[` $iterator `]` (`if` $predicate^)? (`after` $after^ `:` type($after) `,`)? attr-dict
    `:` type($pipeline)
  }];
}

def NvTileAS_ElectOp : NvTileAS_Op<"async.elect", NvTileAA_Program,
    [RecursiveMemoryEffects, NoRegionArguments, NoTerminator, SingleBlock]> {
  let summary = "a region that only the first thread of the agent runs, or of the CTA without agents";
  let description = "The region must not contain barriers. Other threads do not wait for its end.";
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$body attr-dict";
  let hasRegionVerifier = 1;
}

def NvTileAS_ProduceOneOp : NvTileAS_Op<"async.pipeline.produce_one", NvTileAA_Program,
    [RecursiveMemoryEffects, NoRegionArguments, SingleBlock, ThreadScopeOpInterface]> {
  let summary = "a region of the producer's warps that fills a stage, placed where the stage is needed";
  let description = [{
    The region is run by `warps` warps, and layouts inside it refer to these warps. It ends with a `yield`: of the tile
    that it computes, as an operand of a dot, or without an operand if it stores the tile to a stage of a ring. `fast`
    is the dimension along which the tile is contiguous in its stage.

    With `or_copy` the tile is a load of a view, and TMA loads it if `tma_ready` holds for the view. With `converts`
    the warps convert a stage that others have filled, and are an agent by themselves. The region may use scalars,
    views and memory descriptors from outside, but no tensors in registers.

    `tileas-specialize-agents` moves the region to another agent; it cannot be lowered in place.

    ```mlir
    %a = nv_tileas.async.pipeline.produce_one warps 4 fast 1 {
      %x, %t = nv_tileaa.load weak %pointers ...
      nv_tileas.yield %x : tensor<128x64xf16>
    } : tensor<128x64xf16>
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntPositive]>:$warps, ConfinedAttr<I64Attr, [IntNonNegative]>:$fast,
      UnitAttr:$or_copy, UnitAttr:$converts);
  let results = (outs Optional<AnyRankedTensor>:$tile);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `warps` $warps `fast` $fast (`or_copy` $or_copy^)? (`converts` $converts^)? $body attr-dict (`:` type($tile)^)?
  }];
  let moreDeclarations = [{
    int64_t getFirstWarp(unsigned) { return 0; }
    int64_t getWarpCount(unsigned) { return getWarps(); }
    bool runsConcurrently() { return false; }
  }];
  let hasRegionVerifier = 1;
}

#endif
