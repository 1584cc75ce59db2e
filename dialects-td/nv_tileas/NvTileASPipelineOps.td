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

def NvTileAS_CreatePipelineOp : NvTileAS_Op<"async.pipeline.create_pipeline", NvTileAA_Program,
    [MemoryEffects<[NvTileAA_ReadsMachine, NvTileAA_WritesMachine]>]> {
  let summary = "initialise the barriers of a ring; all stages are empty";
  let description = [{
    One thread initialises them: threads that use the pipeline must have met after it. `consumers` is the number of warps
    that release each stage. `barriers` holds 64 bits for each barrier, two of them a stage.
  }];
  let arguments = (ins NvTileAS_DestStorage<NvTileAS_MemDescType>:$barriers,
      ConfinedAttr<I64Attr, [IntPositive]>:$consumers);
  let results = (outs NvTileAS_PipelineType:$pipeline);
  let assemblyFormat = "$barriers `consumers` $consumers attr-dict `:` type($barriers) `->` type($pipeline)";
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
  let summary = "wait until a stage is empty, and announce the bytes that will be written to it";
  let description = "Stands in `elect`: one thread waits and announces.";
  let arguments = (ins NvTileAS_PipelineType:$pipeline, NvTileAS_PipelineIteratorType:$iterator,
      ConfinedAttr<I64Attr, [IntPositive]>:$bytes);
  let results = (outs NvTileAS_ProducerTokenType:$token);
  let assemblyFormat = "$pipeline `[` $iterator `]` `bytes` $bytes attr-dict `:` type($pipeline)";
  let hasVerifier = 1;
}

def NvTileAS_ConsumerWaitOp : NvTileAS_Op<"async.pipeline.consumer_wait", NvTileAA_Program, [NvTileAA_TouchesAll]> {
  let summary = "wait until a stage is full";
  let arguments = (ins NvTileAS_PipelineType:$pipeline, NvTileAS_PipelineIteratorType:$iterator);
  let results = (outs NvTileAS_ConsumerTokenType:$token);
  let assemblyFormat = "$pipeline `[` $iterator `]` attr-dict `:` type($pipeline)";
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

#endif
