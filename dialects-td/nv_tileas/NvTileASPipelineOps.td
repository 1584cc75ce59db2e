// Pipelines of nv_tileas: rings of stages in shared memory that a producer fills and a consumer empties. Included by
// NvTileASOps.td, which defines the classes used here.
#ifndef NV_TILEAS_PIPELINE_OPS_TD
#define NV_TILEAS_PIPELINE_OPS_TD

//===-- pipelines -----------------------------------------------------------//
// Each stage passes through a list of *phases*. Phase k of a stage has a barrier, which completes once per round, after
// a fixed number of arrivals. `create_pipeline` names the phases and gives their arrivals. An iterator holds the next
// stage and the parity of the round. Every agent has its own iterators and visits the stages in the same order.
//
// The simplest pipeline has the phases `full` and `empty`. The bytes that TMA loads write complete `full`; arrivals of
// the consumer's warps complete `empty`:
//
//   producer                                    consumer
//   %t = producer_acquire %p[%i] bytes 32768    consumer_wait %p[%i]
//   async.tiled_tma_load ... arrive %t          read stage %i
//   %i = inc_iter %i of %p                      consumer_release %p[%i]
//                                               %i = inc_iter %i of %p
//
// One program may do both, one stage at a time. It is then a sequential program with the same results.
//
// An agent waits for a phase and arrives at another. The op says how the phase is completed:
//
//   op                           waits for      arrives at    arrivals
//   producer_acquire             empty (old)
//   producer_acquire bytes N     empty (old)    full          one thread, and N bytes of copies
//   producer_commit                             full          one thread of each warp, after the warp's stores
//   producer_commit copies                      full          each thread, when its asynchronous copies complete
//   producer_commit dots                        full          one thread, when the dots that it has issued complete
//   consumer_wait                full
//   consumer_release                            empty         one thread of each warp, after the warp's reads
//   consumer_release dots                       empty         one thread, when the dots that it has issued complete
//
// `at NAME` names another phase. All stages are empty at the beginning, so `producer_acquire` waits for the phase of
// the previous round ("old").
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
// Agents between the producer and the consumer may change a stage before a dot reads it. Each of them waits for one
// phase and completes the next, and owns the stage in between. Only the producer waits for `empty`:
//
//   producer                converter                            consumer
//   producer_acquire %p     consumer_wait %p[%i]                 consumer_wait %p[%i] at converted
//   copy ... arrive         convert stage %i                     read stage %i
//                           producer_commit %p[%i] at converted  consumer_release %p[%i]
//
// Dots with accumulators in tensor memory are issued by one thread, which does not wait for them. Their completion
// empties the stages of their operands, and fills a stage of accumulators:
//
//   producer               matrix                               consumer
//                          producer_acquire %q[%j]
//   producer_acquire %p    loop: consumer_wait %p[%i]
//   copy ... arrive          async.dot ... into %acc[%j]
//                            consumer_release %p[%i] dots
//                          producer_commit %q[%j] dots          consumer_wait %q[%j]
//                                                               tmem_load %acc[%j]
//                                                               consumer_release %q[%j]

// The two CTAs of a cluster may share a pipeline. Each has its own stages and barriers. The phases that `leader` names
// are counted for both CTAs by the barriers of the first one, the *leader*. Dots of the leader complete a phase in both
// CTAs. All other arrivals at the other phases are at the CTA's own barriers:
//
//   leader                                          the other CTA
//   producer_acquire %p[%i] bytes N                 producer_acquire %p[%i] bytes N
//   copy ... arrive                                 copy ... arrive (at the leader's barrier)
//   consumer_wait %p[%i]    both CTAs' stages are full
//   async.dot ...           reads both stages
//   consumer_release %p[%i] dots                    (the stage is empty)
//
// Only the leader waits for the phases that it counts. Warps that change a stage between its copies and the dots
// therefore need a phase that their own CTA counts, at which the copies of the tiles that they change arrive:
//
//   leader                                          the other CTA
//   producer_acquire %p[%i] bytes N                 producer_acquire %p[%i] bytes N
//   producer_acquire %p[%i] bytes M fills scales    producer_acquire %p[%i] bytes M fills scales
//   consumer_wait %p[%i] at scales                  consumer_wait %p[%i] at scales
//   producer_commit %p[%i] at converted             producer_commit %p[%i] at converted (of the leader)
//   consumer_wait %p[%i]; consumer_wait %p[%i] at converted

// Warpgroups that run one program may each have their own rows of a stage in tensor memory. With `warpgroups N`, a stage
// has the barriers of its phases once for each of them, so that they do not wait for each other. A warpgroup waits for
// its own barriers and arrives at them. The thread that issues dots names the warpgroup:
//
//   matrix                                       each warpgroup of the consumers
//   producer_acquire %q[%j] warpgroup 0
//   async.dot ... into %acc[%j] row_block 0
//   producer_commit %q[%j] dots warpgroup 0      consumer_wait %q[%j]
//   producer_acquire %q[%j] warpgroup 1          tmem_load %acc[%j]
//   async.dot ... into %acc[%j] row_block 1      consumer_release %q[%j]
//   producer_commit %q[%j] dots warpgroup 1

def NvTileAS_CreatePipelineOp : NvTileAS_Op<"async.pipeline.create_pipeline", NvTileAA_Program,
    [MemoryEffects<[NvTileAA_ReadsMachine, NvTileAA_WritesMachine]>], "ring"> {
  let summary = "initialize the barriers of a ring; all stages are empty";
  let description = [{
    One thread initializes them, so a barrier must separate this op from the first use of the pipeline in other
    threads.

    `phases` lists the phases of a stage, each with the number of arrivals that complete it. There is always `full`;
    without `empty`, another pipeline orders the stores of a stage after the reads of its previous contents. The arrivals at `full` are
    one of the thread that announces TMA loads, if there are any; one of each warp that commits its stores; and one of
    each thread that commits its own copies. `barriers` holds 64 bits for each phase of each stage, and of each
    warpgroup if there are `warpgroups`.

    With `warpgroups`, each of the consumers' warpgroups has its own rows of a stage, and barriers of its own, which
    expect the arrivals of this warpgroup alone. The pipeline has no leader.

    With `leader`, the two CTAs of a cluster share the pipeline. Both CTAs arrive at the leader's barriers of the phases
    with these names, except that only one thread of the leader announces TMA loads.

    ```mlir
    %p = nv_tileas.async.pipeline.create_pipeline %b phases [full = 1, empty = 8, converted = 4]
      : !nv_tileas.memdesc<16xi64, #s> -> !nv_tileas.pipeline<4>
    %q = nv_tileas.async.pipeline.create_pipeline %c phases [full = 1, empty = 1] leader full
      : !nv_tileas.memdesc<8xi64, #s> -> !nv_tileas.pipeline<4>
    ```
  }];
  let arguments = (ins NvTileAS_DestStorage<NvTileAS_MemDescType>:$barriers, StrArrayAttr:$phases,
      DenseI64ArrayAttr:$arrivals, OptionalAttr<StrArrayAttr>:$leader,
      OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$warpgroups);
  let results = (outs NvTileAS_PipelineType:$pipeline);
  let assemblyFormat = [{
    $barriers `phases` custom<Phases>($phases, $arrivals) (`leader` custom<Names>($leader)^)?
    (`warpgroups` $warpgroups^)? attr-dict
    `:` type($barriers) `->` type($pipeline)
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

def NvTileAS_StageOp : NvTileAS_Op<"async.pipeline.stage", NvTileAA_Address, [Pure], "stage"> {
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
    Without `bytes`, nothing is announced: the threads that wait store to the stage themselves, or one thread inside
    `elect` issues dots that accumulate in the stage. The copies arrive at the phase that `fills` names, by default at
    `full`.
  }];
  let arguments = (ins NvTileAS_PipelineType:$pipeline, NvTileAS_PipelineIteratorType:$iterator,
      OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$bytes, OptionalAttr<StrAttr>:$fills,
      OptionalAttr<StrAttr>:$phase, OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$warpgroup);
  let results = (outs NvTileAS_ProducerTokenType:$token);
  let assemblyFormat = [{
    $pipeline `[` $iterator `]` (`bytes` $bytes^)? (`fills` custom<Name>($fills)^)? (`at` custom<Name>($phase)^)?
    (`warpgroup` $warpgroup^)? attr-dict `:` type($pipeline)
  }];
  let moreDeclarations = [{ llvm::StringRef getPhaseName() { return getPhase().value_or("empty"); } }];
  let hasVerifier = 1;
}

def NvTileAS_ProducerCommitOp : NvTileAS_Op<"async.pipeline.producer_commit", NvTileAA_Program,
    [NvTileAA_TouchesAll]> {
  let summary = "one thread of each warp arrives after the warp has stored its part of a stage";
  let description = [{
    Stores of the warp are ordered before reads of the stage by tensor cores.

    With `copies`, each thread arrives separately, at the time when all asynchronous copies that it has issued are
    complete. This does not order other accesses of the thread, and does not include a proxy fence.

    With `dots`, the op is inside `elect`: one arrival follows when all dots that the thread has issued complete. Their
    accumulators are in tensor memory.

    With `tensor`, the warp has stored its part to tensor memory. This does not include a proxy fence either.

    With `at`, the warp has changed a full stage for later agents instead of filling an empty one.
  }];
  let arguments = (ins NvTileAS_PipelineType:$pipeline, NvTileAS_PipelineIteratorType:$iterator, UnitAttr:$copies,
      UnitAttr:$dots, UnitAttr:$tensor, OptionalAttr<StrAttr>:$phase,
      OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$warpgroup);
  let assemblyFormat = [{
    $pipeline `[` $iterator `]` (`copies` $copies^)? (`dots` $dots^)? (`tensor` $tensor^)? (`at` custom<Name>($phase)^)?
    (`warpgroup` $warpgroup^)? attr-dict `:` type($pipeline)
  }];
  let moreDeclarations = [{ llvm::StringRef getPhaseName() { return getPhase().value_or("full"); } }];
  let hasVerifier = 1;
}

def NvTileAS_ConsumerWaitOp : NvTileAS_Op<"async.pipeline.consumer_wait", NvTileAA_Program, [NvTileAA_TouchesAll]> {
  let summary = "wait until a stage is full, or for a later phase";
  let arguments = (ins NvTileAS_PipelineType:$pipeline, NvTileAS_PipelineIteratorType:$iterator,
      OptionalAttr<StrAttr>:$phase, OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$warpgroup);
  let results = (outs NvTileAS_ConsumerTokenType:$token);
  let assemblyFormat = [{
    $pipeline `[` $iterator `]` (`at` custom<Name>($phase)^)? (`warpgroup` $warpgroup^)? attr-dict `:` type($pipeline)
  }];
  let moreDeclarations = [{ llvm::StringRef getPhaseName() { return getPhase().value_or("full"); } }];
  let hasVerifier = 1;
}

def NvTileAS_ConsumerReleaseOp : NvTileAS_Op<"async.pipeline.consumer_release", NvTileAA_Program,
    [NvTileAA_TouchesAll, AttrSizedOperandSegments]> {
  let summary = "one thread of each warp arrives after the warp has read a stage";
  let description = [{
    Does nothing if `predicate` is false. The release and everything after it must follow the computation of `after`:
    ptxas moves waits for dots up to accesses that it cannot move, and a dot in flight should not be awaited while
    there is other work.

    With `dots`, the op is inside `elect`: one arrival follows when all dots that the thread has issued complete. They
    read the stage, and their accumulators are in tensor memory.
  }];
  let arguments = (ins NvTileAS_PipelineType:$pipeline, NvTileAS_PipelineIteratorType:$iterator,
      Optional<I1>:$predicate, Optional<NvTileAS_Tensor>:$after, UnitAttr:$dots, OptionalAttr<StrAttr>:$phase,
      OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$warpgroup);
  let assemblyFormat = [{
    $pipeline `[` $iterator `]` (`dots` $dots^)? (`at` custom<Name>($phase)^)? (`warpgroup` $warpgroup^)?
    (`if` $predicate^)? (`after` $after^ `:` type($after) `,`)? attr-dict `:` type($pipeline)
  }];
  let moreDeclarations = [{ llvm::StringRef getPhaseName() { return getPhase().value_or("empty"); } }];
  let hasVerifier = 1;
}

def NvTileAS_ElectOp : NvTileAS_Op<"async.elect", NvTileAA_Program,
    [RecursiveMemoryEffects, NoRegionArguments, NoTerminator, SingleBlock]> {
  let summary = "a region that only the first thread of the agent runs, or of the CTA without agents";
  let description = [{
    The region must not contain barriers. Other threads do not wait for its end. Before `tileas-specialize-agents`, `of`
    names the agent that is to run the region; the default is the producer.
  }];
  let arguments = (ins OptionalAttr<StrAttr>:$agent);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "(`of` custom<Name>($agent)^)? $body attr-dict";
  let hasRegionVerifier = 1;
}

//===-- tile blocks ----------------------------------------------------------//
// A CTA, or a cluster, may take over tile blocks of the grid that have not started. A loop then runs the program for one
// tile block after another:
//
//   loop (%x, %y, %z = get_program_id) {
//     ... the program for the tile block %x, %y, %z ...
//     elect { producer_acquire %p[%i] bytes 16; async.cancel_tile_block into %slots[%i] }   asks for the next one
//     %nx, %ny, %nz, %more = async.next_tile_block %p[%i] from %slots[%i]
//   } while %more
//
// The producer asks after its last load, and the answer arrives while other agents still run the program. Every agent
// reads it.

def NvTileAS_CancelTileBlockOp : NvTileAS_Op<"async.cancel_tile_block", NvTileAA_Program, [NvTileAA_TouchesAll]> {
  let summary = "asks for a tile block that has not started, which then never starts";
  let description = [{
    The answer of 16 bytes goes to `slot`, and arrives at the stage of `token`. The op is inside `elect`. With a pair of
    CTAs, the leader asks, and both receive the answer. A CTA must not ask again after a refusal.
  }];
  let arguments = (ins NvTileAS_ProxyDestStorage<NvTileAS_MemDescType>:$slot, NvTileAS_ProducerTokenType:$token);
  let assemblyFormat = "`into` $slot `arrive` $token attr-dict `:` type($slot)";
  let hasVerifier = 1;
}

def NvTileAS_NextTileBlockOp : NvTileAS_Op<"async.next_tile_block", NvTileAA_Program,
    [NvTileAA_TouchesAll, AttrSizedOperandSegments]> {
  let summary = "the tile block that the CTA runs next, if there is one";
  let description = [{
    Waits for the answer of `async.cancel_tile_block`, reads it, and releases its stage: one arrival of each agent. If
    `more` is false, no tile block is left for this CTA, and the coordinates are zero. Before `tileas-materialize-async`
    the op has no operands.

    ```mlir
    %x, %y, %z, %more = nv_tileas.async.next_tile_block from %slot at %p[%i]
      : !nv_tileas.memdesc<4xi32, #s>, !nv_tileas.pipeline<2>, !nv_tileas.pipeline_iterator
    ```
  }];
  let arguments = (ins Optional<NvTileAS_MemDescType>:$slot, Optional<NvTileAS_PipelineType>:$pipeline,
      Optional<NvTileAS_PipelineIteratorType>:$iterator);
  let results = (outs I32:$x, I32:$y, I32:$z, I1:$more);
  let assemblyFormat = [{
    (`from` $slot^ `at` $pipeline `[` $iterator `]` `:` type($slot) `,` type($pipeline) `,` type($iterator))? attr-dict
  }];
  let hasVerifier = 1;
}

def NvTileAS_ProduceOneOp : NvTileAS_Op<"async.pipeline.produce_one", NvTileAA_Program,
    [RecursiveMemoryEffects, NoRegionArguments, SingleBlock, ThreadScopeOpInterface]> {
  let summary = "a region of another agent's warps that fills or changes a stage, placed where the stage is needed";
  let description = [{
    The region is run by `warps` warps, and layouts inside it refer to these warps. It ends with a `yield`: of the tile
    that it computes, as an operand of a dot, or without an operand if it stores the tile to a stage of a ring. `fast`
    is the dimension along which the tile is contiguous in its stage.

    With `or_copy` the tile is a load of a view, and TMA loads it if `tma_ready` holds for the view. `of` names the
    agent of the region; the default is the producer. Regions of other agents fill stages too, or change stages that
    others have filled.
    The region may use scalars, views and memory descriptors from outside, but no tensors in registers.

    `tileas-specialize-agents` moves the region to another agent; it cannot be lowered in place.

    ```mlir
    %a = nv_tileas.async.pipeline.produce_one warps 4 fast 1 {
      %x, %t = nv_tileaa.load weak %pointers ...
      nv_tileas.yield %x : tensor<128x64xf16>
    } : tensor<128x64xf16>
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntPositive]>:$warps, ConfinedAttr<I64Attr, [IntNonNegative]>:$fast,
      UnitAttr:$or_copy, OptionalAttr<StrAttr>:$agent);
  let results = (outs Optional<AnyRankedTensor>:$tile);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `warps` $warps `fast` $fast (`or_copy` $or_copy^)? (`of` custom<Name>($agent)^)? $body attr-dict
    (`:` type($tile)^)?
  }];
  let moreDeclarations = [{
    int64_t getFirstWarp(unsigned) { return 0; }
    int64_t getWarpCount(unsigned) { return getWarps(); }
    bool runsConcurrently() { return false; }
  }];
  let hasRegionVerifier = 1;
}

#endif
