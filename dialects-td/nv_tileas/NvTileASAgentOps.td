// Ops of nv_tileas that divide the warps of a CTA among programs. Included by NvTileASOps.td, which defines the
// classes used here.
#ifndef NV_TILEAS_AGENT_OPS_TD
#define NV_TILEAS_AGENT_OPS_TD

def NvTileAS_AgentSwitchOp : NvTileAS_Op<"async.pipeline.agent_switch", NvTileAA_Program,
    [RecursiveMemoryEffects, NoRegionArguments, NoTerminator, SingleBlock, ThreadScopeOpInterface]> {
  let summary = "agents: groups of warps that run different programs at the same time";
  let description = [{
    Agent `i` runs region `i`. The agents take consecutive warps, from the first warp of the CTA; remaining warps do
    nothing. Inside a region, warps, threads and barriers are numbered within the agent, layouts
    refer to the agent's warps, and "uniform" means equal in all threads of the agent.

    A region may use scalars, views, tokens and memory descriptors from outside, which are the same in all threads. It
    must not use tensors in registers from outside. Results leave an agent only through memory. Agents do not
    synchronize at the end: later code that reads what another agent wrote needs a CTA barrier.

    If the agents have `registers`, each of their threads has that many from the start of its region. They come from
    the registers that the CTA has at launch. The hardware moves registers between warpgroups (four aligned warps). An
    agent then consists of whole warpgroups, or is a part of one, and agents of one warpgroup have equal counts.

    ```mlir
    nv_tileas.async.pipeline.agent_switch agents [<"first", warps = 1>, <"others", warps = 4>] {
      nv_tileas.local_store %x, %m vector 4 : tensor<128xf32, #one_warp>, !nv_tileas.memdesc<128xf32, #s>
    }, {
      nv_tileas.barrier   // of the four warps
    }
    ```
  }];
  let arguments = (ins ArrayAttr:$agents);
  let regions = (region VariadicRegion<SizedRegion<1>>:$programs);
  let assemblyFormat = "`agents` custom<Agents>($agents) $programs attr-dict";
  let moreDeclarations = [{
    int64_t getFirstWarp(unsigned region);
    int64_t getWarpCount(unsigned region);
    bool runsConcurrently() { return true; }
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

//===-- ping-pong -----------------------------------------------------------//
// The warpgroups that run one program may alternate on a unit such as the tensor cores. Only one of them at a time is
// between `ping_pong_wait` and `ping_pong_arrive`: the first, then the second, and so on to the last, then the first
// again.
//
//   %t = create_ping_pong : <2>      the first warpgroup may begin
//   loop {
//     ping_pong_wait %t              wait for the arrival of the previous warpgroup
//     issue dots
//     ping_pong_arrive %t            the next warpgroup may issue its dots
//     wait for the dots, compute with the results
//   }
//   end_ping_pong %t                 consume the last arrival
//
// These ops affect only timing. They do not order memory accesses, and a program without them has the same results.
// All warpgroups execute them equally often, since the branches of an agent are uniform. The agent must not contain a
// barrier of all its threads between `ping_pong_wait` and `ping_pong_arrive`.

def NvTileAS_CreatePingPongOp : NvTileAS_Op<"async.pipeline.create_ping_pong", NvTileAA_Program, [NvTileAA_TouchesAll]> {
  let summary = "start a ping-pong of the agent's warpgroups; the first one may begin";
  let description = [{
    The agent, or the CTA if there are no agents, has four warps for each of the type's `groups`. Each group takes one
    of the CTA's named barriers.
  }];
  let results = (outs NvTileAS_PingPongType:$ping_pong);
  let assemblyFormat = "attr-dict `:` type($ping_pong)";
  let hasVerifier = 1;
}

def NvTileAS_PingPongWaitOp : NvTileAS_Op<"async.pipeline.ping_pong_wait", NvTileAA_Program, [NvTileAA_TouchesAll]> {
  let summary = "wait until the previous warpgroup arrives";
  let arguments = (ins NvTileAS_PingPongType:$ping_pong);
  let assemblyFormat = "$ping_pong attr-dict `:` type($ping_pong)";
  let hasVerifier = 1;
}

def NvTileAS_PingPongArriveOp : NvTileAS_Op<"async.pipeline.ping_pong_arrive", NvTileAA_Program, [NvTileAA_TouchesAll]> {
  let summary = "let the next warpgroup begin";
  let arguments = (ins NvTileAS_PingPongType:$ping_pong);
  let assemblyFormat = "$ping_pong attr-dict `:` type($ping_pong)";
  let hasVerifier = 1;
}

def NvTileAS_EndPingPongOp : NvTileAS_Op<"async.pipeline.end_ping_pong", NvTileAA_Program, [NvTileAA_TouchesAll]> {
  let summary = "end a ping-pong: the first warpgroup consumes the arrival of the last";
  let arguments = (ins NvTileAS_PingPongType:$ping_pong);
  let assemblyFormat = "$ping_pong attr-dict `:` type($ping_pong)";
  let hasVerifier = 1;
}

#endif
