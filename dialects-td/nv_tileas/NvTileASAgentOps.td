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

#endif
