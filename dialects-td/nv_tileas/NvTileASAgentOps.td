// Ops of nv_tileas that divide a block's warps among programs. Included by NvTileASOps.td, whose classes they use.
#ifndef NV_TILEAS_AGENT_OPS_TD
#define NV_TILEAS_AGENT_OPS_TD

def NvTileAS_AgentSwitchOp : NvTileAS_Op<"async.pipeline.agent_switch", NvTileAA_Program,
    [RecursiveMemoryEffects, NoRegionArguments, NoTerminator, ThreadScopeOpInterface]> {
  let summary = "agents: groups of warps that run different programs at the same time";
  let description = [{
    Region `i` is run by `warps[i]` warps, counted from the first warp of the block on; warps that are left over do
    nothing. In a region, warps, threads and barriers are numbered within the agent, layouts have the agent's warps, and
    "uniform" means equal in all of its threads.

    From outside come scalars, views, tokens and descriptors of memory, which are the same in all threads, but no
    tensors in registers. Nothing comes out but through memory. Agents do not meet at the end: what follows them and
    reads what another agent wrote needs a barrier of the block.

    With `registers`, threads of agent `i` have `registers[i]` registers each from the start of its region on, taken from
    what the block was launched with. Agents are whole warpgroups then, four warps aligned.

    ```mlir
    nv_tileas.async.pipeline.agent_switch warps [1, 4] {
      nv_tileas.local_store %x, %m vector 4 : tensor<128xf32, #one_warp>, !nv_tileas.memdesc<128xf32, #s>
    }, {
      nv_tileas.barrier   // of the four warps
    }
    ```
  }];
  let arguments = (ins DenseI64ArrayAttr:$warps, OptionalAttr<DenseI64ArrayAttr>:$registers);
  let regions = (region VariadicRegion<SizedRegion<1>>:$agents);
  let assemblyFormat = "`warps` $warps (`registers` $registers^)? $agents attr-dict";
  let moreDeclarations = [{
    int64_t getFirstWarp(unsigned region);
    int64_t getWarpCount(unsigned region) { return getWarps()[region]; }
    bool runsConcurrently() { return true; }
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

//===-- turns ---------------------------------------------------------------//
// Warpgroups that run one program may keep what they do with a unit apart: between `ping_pong_wait` and `ping_pong_arrive` there is
// one of them at a time, the first, the second and so on to the last, and then the first again.
//
//   %t = create_ping_pong : <2>      the first warpgroup may begin
//   loop {
//     ping_pong_wait %t               until the warpgroup before has given its turn
//     start products
//     ping_pong_arrive %t               the warpgroup behind may start its own
//     wait for the products, compute with them
//   }
//   end_ping_pong %t                 nobody's turn is left over
//
// Nothing but time depends on it. Accesses of memory are not ordered, and a program without these ops has the same
// results. All warpgroups take turns equally often, since what an agent branches on is the same in all of its threads.
// Threads of the agent must not meet between `ping_pong_wait` and `ping_pong_arrive`.

def NvTileAS_CreatePingPongOp : NvTileAS_Op<"async.pipeline.create_ping_pong", NvTileAA_Program, [NvTileAA_TouchesAll]> {
  let summary = "the warpgroups of the agent will take turns; the first one begins";
  let description = [{
    The agent, or else the block, has four warps for each of the type's `groups`. Each of these takes one of the barriers
    that a block has by number.
  }];
  let results = (outs NvTileAS_PingPongType:$ping_pong);
  let assemblyFormat = "attr-dict `:` type($ping_pong)";
  let hasVerifier = 1;
}

def NvTileAS_PingPongWaitOp : NvTileAS_Op<"async.pipeline.ping_pong_wait", NvTileAA_Program, [NvTileAA_TouchesAll]> {
  let summary = "wait until it is the warpgroup's turn";
  let arguments = (ins NvTileAS_PingPongType:$ping_pong);
  let assemblyFormat = "$ping_pong attr-dict `:` type($ping_pong)";
  let hasVerifier = 1;
}

def NvTileAS_PingPongArriveOp : NvTileAS_Op<"async.pipeline.ping_pong_arrive", NvTileAA_Program, [NvTileAA_TouchesAll]> {
  let summary = "it is the next warpgroup's turn";
  let arguments = (ins NvTileAS_PingPongType:$ping_pong);
  let assemblyFormat = "$ping_pong attr-dict `:` type($ping_pong)";
  let hasVerifier = 1;
}

def NvTileAS_EndPingPongOp : NvTileAS_Op<"async.pipeline.end_ping_pong", NvTileAA_Program, [NvTileAA_TouchesAll]> {
  let summary = "no more turns: the first warpgroup takes the one that the last has given";
  let arguments = (ins NvTileAS_PingPongType:$ping_pong);
  let assemblyFormat = "$ping_pong attr-dict `:` type($ping_pong)";
  let hasVerifier = 1;
}

#endif
