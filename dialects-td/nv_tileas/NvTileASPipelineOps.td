// Pipelines of nv_tileas: rings of stages in shared memory that a producer fills and a consumer empties.
// Included by NvTileASOps.td, whose classes they use.
#ifndef NV_TILEAS_PIPELINE_OPS_TD
#define NV_TILEAS_PIPELINE_OPS_TD

//===-- pipelines -----------------------------------------------------------//
// Stage s has two barriers. `full` is completed by the bytes that tensor copies write; `empty` by the arrivals of the
// consumer's warps. An iterator says which stage is next and by the parity of rounds which phase of its barriers.
// Producer and consumer step through one sequence of stages, each with an iterator of its own:
//
//   producer                                    consumer
//   %t = producer_acquire %p[%i] bytes 32768    consumer_wait %p[%i]
//   async.tiled_tma_load ... arrive %t          read stage %i
//   %i = inc_iter %i of %p                      consumer_release %p[%i]
//                                               %i = inc_iter %i of %p
//
// One program may do both, a stage at a time: it is then a sequential program with the same results.
//
// Where no copy can bring a tile, the warps of the producer make it and store it, and each of them says so:
//
//   producer_acquire %p[%i]          all threads wait until the stage is empty
//   local_store %tile, stage %i
//   producer_commit %p[%i]           one thread of each warp arrives at `full`
//
// A tile that is only loaded need not go through registers. The threads start copies of their own, and go on; each
// arrives when its copies are done:
//
//   producer_acquire %p[%i]
//   async.load %pointers into stage %i
//   producer_commit %p[%i] copies    an arrival of each thread at `full`, once its copies have come
//
// These copies write as threads do, and tensor cores read through a proxy of their own: who waits for the stage has an
// `async.fence` behind the wait.
//
// A stage that has to be changed before it is multiplied may be changed by warps between the producer and the consumer.
// It has a third barrier then, `converted`, which their arrivals complete. The stage is theirs once it is full, until they
// have arrived, and nobody waits for it to be empty but the producer:
//
//   producer                converter                            consumer
//   producer_acquire %p     consumer_wait %p[%i]                consumer_wait %p[%i] prepared
//   copy ... arrive         change stage %i                     read stage %i
//                           producer_commit %p[%i] prepared     consumer_release %p[%i]

def NvTileAS_CreatePipelineOp : NvTileAS_Op<"async.pipeline.create_pipeline", NvTileAA_Program,
    [MemoryEffects<[NvTileAA_ReadsMachine, NvTileAA_WritesMachine]>]> {
  let summary = "initialise the barriers of a ring; all stages are empty";
  let description = [{
    One thread initialises them: threads that use the pipeline must have met after it. `consumers` is the number of warps
    that release each stage. `arrivals` is how many there are before a stage is full: one of the thread that announces
    copies, if there are any, one of each warp that commits what it has stored, and one of each thread that commits its
    own copies; one where nothing is said. `converters` is the number of warps that change each stage before consumers
    have it, if there are such warps.
    `barriers` holds 64 bits for each barrier: two of them a stage, or three with `converters`.
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
  let summary = "the number of an iterator's stage, from zero";
  let arguments = (ins NvTileAS_PipelineIteratorType:$iterator);
  let results = (outs I32:$index);
  let assemblyFormat = "$iterator attr-dict";
}

def NvTileAS_ProducerAcquireOp : NvTileAS_Op<"async.pipeline.producer_acquire", NvTileAA_Program,
    [NvTileAA_TouchesAll]> {
  let summary = "wait until a stage is empty, and announce the bytes that copies will write to it";
  let description = [{
    With `bytes` it stands in `elect`: one thread waits and announces, perhaps that no copies will write anything. Without,
    all threads around wait and announce nothing: they store to the stage themselves.
  }];
  let arguments = (ins NvTileAS_PipelineType:$pipeline, NvTileAS_PipelineIteratorType:$iterator,
      OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$bytes);
  let results = (outs NvTileAS_ProducerTokenType:$token);
  let assemblyFormat = "$pipeline `[` $iterator `]` (`bytes` $bytes^)? attr-dict `:` type($pipeline)";
  let hasVerifier = 1;
}

def NvTileAS_ProducerCommitOp : NvTileAS_Op<"async.pipeline.producer_commit", NvTileAA_Program,
    [NvTileAA_TouchesAll]> {
  let summary = "one thread of each warp says that the warp has stored what it makes of a stage";
  let description = [{
    What the threads have stored is ordered before what tensor cores read of the stage.

    With `copies` it is each thread for itself, and not now, but when all asynchronous copies that it has started are
    done. Nothing else that it did is said to be done, and no proxy fence is part of it.

    With `converted` the warp has not filled the stage, but changed one that was full.
  }];
  let arguments = (ins NvTileAS_PipelineType:$pipeline, NvTileAS_PipelineIteratorType:$iterator, UnitAttr:$copies,
      UnitAttr:$converted);
  let assemblyFormat = [{
    $pipeline `[` $iterator `]` (`copies` $copies^)? (`converted` $converted^)? attr-dict `:` type($pipeline)
  }];
  let hasVerifier = 1;
}

def NvTileAS_ConsumerWaitOp : NvTileAS_Op<"async.pipeline.consumer_wait", NvTileAA_Program, [NvTileAA_TouchesAll]> {
  let summary = "wait until a stage is full, or until it has been changed, too";
  let arguments = (ins NvTileAS_PipelineType:$pipeline, NvTileAS_PipelineIteratorType:$iterator, UnitAttr:$converted);
  let results = (outs NvTileAS_ConsumerTokenType:$token);
  let assemblyFormat = "$pipeline `[` $iterator `]` (`converted` $converted^)? attr-dict `:` type($pipeline)";
  let hasVerifier = 1;
}

def NvTileAS_ConsumerReleaseOp : NvTileAS_Op<"async.pipeline.consumer_release", NvTileAA_Program,
    [NvTileAA_TouchesAll, AttrSizedOperandSegments]> {
  let summary = "one thread of each warp says that the warp has read a stage";
  let description = [{
    Nothing happens where `predicate` is false. The release, and what comes behind it, is not done before `after` has been
    computed: the finaliser moves waits for products up to accesses that it cannot move, and a product under way should
    not be waited for before there is nothing else to do.
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
  let summary = "a program that the first thread of the agent, or else of the block, runs alone";
  let description = "Threads do not meet inside, and do not wait for that thread at the end.";
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$body attr-dict";
  let hasRegionVerifier = 1;
}

def NvTileAS_ProduceOneOp : NvTileAS_Op<"async.pipeline.produce_one", NvTileAA_Program,
    [RecursiveMemoryEffects, NoRegionArguments, SingleBlock, ThreadScopeOpInterface]> {
  let summary = "a program of the warps that fill a ring, in the place of what needs it";
  let description = [{
    The region is run by `warps` warps, and layouts in it are theirs. It ends in a `yield` of the tile that it makes,
    for a product to multiply, or of nothing once the tile goes to a stage of a ring. `fast` is the dimension along which
    the tile is contiguous in its stage. With `or_copy` the tile is a load of a view, and a tensor copy fills the stage
    where `tma_ready` says so of the view. With `converts` the warps change a stage that others have filled, and are an
    agent of their own. Scalars, views and descriptors of memory come from outside, but no tensors in registers.
    `tileas-specialize-agents` makes a program beside the others of it, so it cannot be lowered in its place.

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
