// The properties of nv_tileaa and nv_tileas ops that passes query: how the layouts of their tensors are related, how
// expensive recomputation is, whether elements move between threads, which memory they access, and how they
// synchronize.
//
// Every op answers. The `Op` classes of both dialects take a behavior as an argument, so an op without one does not
// build. Ops with effects name the memory that they access; the build script checks this for every op.
#ifndef NV_TILEAA_INTERFACES_TD
#define NV_TILEAA_INTERFACES_TD

include "mlir/IR/EnumAttr.td"
include "mlir/IR/Interfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class NvTileAA_InterfaceEnum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::nv_tileaa";
  let genSpecializedAttr = 0;
}

//===-- behaviour -----------------------------------------------------------//

def NvTileAA_LayoutNone : I32EnumAttrCase<"None", 0, "none">;
def NvTileAA_LayoutSame : I32EnumAttrCase<"Same", 1, "same">;
def NvTileAA_LayoutAccess : I32EnumAttrCase<"Access", 2, "access">;
def NvTileAA_LayoutReshape : I32EnumAttrCase<"Reshape", 3, "reshape">;
def NvTileAA_LayoutPermute : I32EnumAttrCase<"Permute", 4, "permute">;
def NvTileAA_LayoutBroadcast : I32EnumAttrCase<"Broadcast", 5, "broadcast">;
def NvTileAA_LayoutCat : I32EnumAttrCase<"Cat", 6, "cat">;
def NvTileAA_LayoutSlice : I32EnumAttrCase<"Slice", 7, "slice">;
def NvTileAA_LayoutInsert : I32EnumAttrCase<"Insert", 8, "insert">;
def NvTileAA_LayoutPacking : I32EnumAttrCase<"Packing", 9, "packing">;
def NvTileAA_LayoutReduce : I32EnumAttrCase<"Reduce", 10, "reduce">;
def NvTileAA_LayoutLeaf : I32EnumAttrCase<"Leaf", 11, "leaf">;
def NvTileAA_LayoutDot : I32EnumAttrCase<"Dot", 12, "dot">;
def NvTileAA_LayoutControl : I32EnumAttrCase<"Control", 13, "control">;
def NvTileAA_LayoutRelation : NvTileAA_InterfaceEnum<"LayoutRelation",
    "relation between the layouts of an op's operands and results", [
    // No relation. The layouts of such an op never change.
    NvTileAA_LayoutNone,
    // Elementwise: operands and results of the same shape have the same layout.
    NvTileAA_LayoutSame,
    // A memory access: all tensors have the layout of the tile that it moves.
    NvTileAA_LayoutAccess,
    // Row-major indices of elements do not change, so neither does the layout.
    NvTileAA_LayoutReshape,
    NvTileAA_LayoutPermute,
    NvTileAA_LayoutBroadcast,
    NvTileAA_LayoutCat,
    // The layouts of source and result are arbitrary; a slice within each thread is cheapest.
    NvTileAA_LayoutSlice,
    // The result has the layout of the tensor that is updated.
    NvTileAA_LayoutInsert,
    // Elements are split into narrower elements, or joined.
    NvTileAA_LayoutPacking,
    // All operands have the same layout; a result has it without the reduced dimension.
    NvTileAA_LayoutReduce,
    // Any layout suits the results, and the operands do not matter.
    NvTileAA_LayoutLeaf,
    // A dot: the operands have the layouts that the instruction takes.
    NvTileAA_LayoutDot,
    // Carries values between regions.
    NvTileAA_LayoutControl]>;

def NvTileAA_CostCheap : I32EnumAttrCase<"Cheap", 0, "cheap">;
def NvTileAA_CostArithmetic : I32EnumAttrCase<"Arithmetic", 1, "arithmetic">;
def NvTileAA_CostHeavy : I32EnumAttrCase<"Heavy", 2, "heavy">;
def NvTileAA_Cost : NvTileAA_InterfaceEnum<"Cost", "cost of recomputing a result", [
    // Less than keeping or moving the result: addresses, ranges, splats, reshapes.
    NvTileAA_CostCheap,
    // One or a few instructions per element.
    NvTileAA_CostArithmetic,
    // More expensive, or not repeatable: memory accesses, dots, reductions.
    NvTileAA_CostHeavy]>;

def NvTileAA_MovementNone : I32EnumAttrCase<"None", 0, "none">;
def NvTileAA_MovementLayouts : I32EnumAttrCase<"Layouts", 1, "layouts">;
def NvTileAA_MovementThreads : I32EnumAttrCase<"Threads", 2, "threads">;
def NvTileAA_Movement : NvTileAA_InterfaceEnum<"Movement", "whether elements move between threads", [
    // Each thread computes from its own elements.
    NvTileAA_MovementNone,
    // If the layouts of source and result differ by more than a permutation of registers.
    NvTileAA_MovementLayouts,
    // Always, through shuffles or shared memory.
    NvTileAA_MovementThreads]>;

/// The answers of an op. The named behaviors are below.
class NvTileAA_Behaviour<I32EnumAttrCase layoutRelation, I32EnumAttrCase recomputation, I32EnumAttrCase elementMovement> {
  I32EnumAttrCase layout = layoutRelation;
  I32EnumAttrCase cost = recomputation;
  I32EnumAttrCase movement = elementMovement;
  string declaration =
      "::nv_tileaa::LayoutRelation getLayoutRelation() { return ::nv_tileaa::LayoutRelation::" # layout.symbol # "; }\n"
      # "::nv_tileaa::Cost getRecomputationCost() { return ::nv_tileaa::Cost::" # cost.symbol # "; }\n"
      # "::nv_tileaa::Movement getMovement() { return ::nv_tileaa::Movement::" # movement.symbol # "; }\n";
}

class NvTileAA_Local<I32EnumAttrCase layout, I32EnumAttrCase cost>
    : NvTileAA_Behaviour<layout, cost, NvTileAA_MovementNone>;

// No tensors in registers with a layout: functions, views and memory descriptors, tokens, barriers.
def NvTileAA_Address : NvTileAA_Local<NvTileAA_LayoutLeaf, NvTileAA_CostCheap>;
def NvTileAA_Program : NvTileAA_Local<NvTileAA_LayoutLeaf, NvTileAA_CostHeavy>;
def NvTileAA_Elementwise : NvTileAA_Local<NvTileAA_LayoutSame, NvTileAA_CostArithmetic>;
def NvTileAA_CheapElementwise : NvTileAA_Local<NvTileAA_LayoutSame, NvTileAA_CostCheap>;
def NvTileAA_Leaf : NvTileAA_Local<NvTileAA_LayoutLeaf, NvTileAA_CostCheap>;
def NvTileAA_Reshape : NvTileAA_Local<NvTileAA_LayoutReshape, NvTileAA_CostCheap>;
def NvTileAA_Permutation : NvTileAA_Local<NvTileAA_LayoutPermute, NvTileAA_CostCheap>;
def NvTileAA_Broadcasting : NvTileAA_Local<NvTileAA_LayoutBroadcast, NvTileAA_CostCheap>;
def NvTileAA_Concatenation : NvTileAA_Local<NvTileAA_LayoutCat, NvTileAA_CostHeavy>;
def NvTileAA_Packing : NvTileAA_Local<NvTileAA_LayoutPacking, NvTileAA_CostHeavy>;
def NvTileAA_Insertion : NvTileAA_Local<NvTileAA_LayoutInsert, NvTileAA_CostHeavy>;
def NvTileAA_Product : NvTileAA_Local<NvTileAA_LayoutDot, NvTileAA_CostHeavy>;
def NvTileAA_Access : NvTileAA_Local<NvTileAA_LayoutAccess, NvTileAA_CostHeavy>;
def NvTileAA_Slicing : NvTileAA_Behaviour<NvTileAA_LayoutSlice, NvTileAA_CostHeavy, NvTileAA_MovementThreads>;
def NvTileAA_Reduction : NvTileAA_Behaviour<NvTileAA_LayoutReduce, NvTileAA_CostHeavy, NvTileAA_MovementThreads>;
// Operands and results have the same layout, and threads exchange elements or results: scans, replication.
def NvTileAA_Collective : NvTileAA_Behaviour<NvTileAA_LayoutSame, NvTileAA_CostHeavy, NvTileAA_MovementThreads>;
// Conversion between fixed layouts; within a thread if they differ only by a permutation of registers.
def NvTileAA_Conversion : NvTileAA_Behaviour<NvTileAA_LayoutSame, NvTileAA_CostArithmetic, NvTileAA_MovementLayouts>;
// Between registers and another memory space; any layout in registers is possible.
def NvTileAA_Transfer : NvTileAA_Behaviour<NvTileAA_LayoutLeaf, NvTileAA_CostHeavy, NvTileAA_MovementThreads>;
def NvTileAA_ThreadExchange : NvTileAA_Behaviour<NvTileAA_LayoutNone, NvTileAA_CostHeavy, NvTileAA_MovementThreads>;
// The layouts are final, and no element moves between threads.
def NvTileAA_FixedLayouts : NvTileAA_Local<NvTileAA_LayoutNone, NvTileAA_CostHeavy>;

def TileOpInterface : OpInterface<"TileOpInterface"> {
  let cppNamespace = "::nv_tileaa";
  let description = "The properties of an op that a pass may rely on without knowing the op.";
  let methods = [
    InterfaceMethod<"Returns the relation between the layouts of operands and results.",
        "::nv_tileaa::LayoutRelation", "getLayoutRelation">,
    InterfaceMethod<"Returns the cost of recomputing a result, disregarding effects and speculation.",
        "::nv_tileaa::Cost", "getRecomputationCost">,
    InterfaceMethod<"Returns whether elements move between threads.", "::nv_tileaa::Movement", "getMovement">];
}

//===-- memory --------------------------------------------------------------//
// TMA copies, and tensor cores reading operands from shared memory, use the async proxy. A fence must separate their
// accesses from threads' accesses. An op that returns an `async_token` accesses memory until the token has been
// awaited.

def NvTileAA_GlobalMemory : Resource<"::nv_tileaa::GlobalMemory">;
def NvTileAA_GlobalMemoryAsyncProxy : Resource<"::nv_tileaa::GlobalMemoryAsyncProxy">;
def NvTileAA_SharedMemory : Resource<"::nv_tileaa::SharedMemory">;
def NvTileAA_SharedMemoryAsyncProxy : Resource<"::nv_tileaa::SharedMemoryAsyncProxy">;
// Arrays of a single thread.
def NvTileAA_LocalMemory : Resource<"::nv_tileaa::LocalMemory">;
def NvTileAA_TensorMemory : Resource<"::nv_tileaa::TensorMemory">;
// State outside the program's memory: barrier phases, groups of copies, the console, the grid's queue of blocks.
def NvTileAA_Machine : Resource<"::nv_tileaa::Machine">;

def NvTileAA_ReadsGlobal : MemRead<NvTileAA_GlobalMemory>;
def NvTileAA_WritesGlobal : MemWrite<NvTileAA_GlobalMemory>;
def NvTileAA_WritesGlobalAsyncProxy : MemWrite<NvTileAA_GlobalMemoryAsyncProxy>;
def NvTileAA_ReadsShared : MemRead<NvTileAA_SharedMemory>;
def NvTileAA_WritesShared : MemWrite<NvTileAA_SharedMemory>;
def NvTileAA_ReadsSharedAsyncProxy : MemRead<NvTileAA_SharedMemoryAsyncProxy>;
def NvTileAA_WritesSharedAsyncProxy : MemWrite<NvTileAA_SharedMemoryAsyncProxy>;
def NvTileAA_AllocatesLocal : MemAlloc<NvTileAA_LocalMemory>;
def NvTileAA_ReadsLocal : MemRead<NvTileAA_LocalMemory>;
def NvTileAA_WritesLocal : MemWrite<NvTileAA_LocalMemory>;
def NvTileAA_ReadsTensor : MemRead<NvTileAA_TensorMemory>;
def NvTileAA_WritesTensor : MemWrite<NvTileAA_TensorMemory>;
def NvTileAA_AllocatesGlobal : MemAlloc<NvTileAA_GlobalMemory>;
def NvTileAA_FreesGlobal : MemFree<NvTileAA_GlobalMemory>;
def NvTileAA_AllocatesShared : MemAlloc<NvTileAA_SharedMemory>;
def NvTileAA_ReadsMachine : MemRead<NvTileAA_Machine>;
def NvTileAA_WritesMachine : MemWrite<NvTileAA_Machine>;

// The effects of an op that orders the accesses of other threads: no access moves across it.
def NvTileAA_TouchesAll : MemoryEffects<[
    NvTileAA_ReadsGlobal, NvTileAA_WritesGlobal, NvTileAA_ReadsShared, NvTileAA_WritesShared,
    NvTileAA_ReadsTensor, NvTileAA_WritesTensor, NvTileAA_ReadsMachine, NvTileAA_WritesMachine]>;

//===-- synchronization -----------------------------------------------------//

def NvTileAA_SyncNone : I32EnumAttrCase<"None", 0, "none">;
def NvTileAA_SyncBarrier : I32EnumAttrCase<"Barrier", 1, "barrier">;
def NvTileAA_SyncCommit : I32EnumAttrCase<"Commit", 2, "commit">;
def NvTileAA_SyncWait : I32EnumAttrCase<"Wait", 3, "wait">;
def NvTileAA_SyncScratch : I32EnumAttrCase<"Scratch", 4, "scratch">;
def NvTileAA_SyncScratchAndMeet : I32EnumAttrCase<"ScratchAndMeet", 5, "scratch_and_meet">;
def NvTileAA_SyncKind : NvTileAA_InterfaceEnum<"SyncKind", "the way an op orders accesses", [
    NvTileAA_SyncNone,
    // Barrier of all threads of the scope.
    NvTileAA_SyncBarrier,
    // Asynchronous operations become a group that can be awaited.
    NvTileAA_SyncCommit,
    // The calling thread waits for the operations that the tokens name.
    NvTileAA_SyncWait,
    // For each part of a tensor: barrier, writes to scratch storage, barrier, reads from it.
    NvTileAA_SyncScratch,
    // The same, and one more barrier at the end. Without scratch storage, neither kind synchronizes.
    NvTileAA_SyncScratchAndMeet]>;

def NvTileAA_ScopeThread : I32EnumAttrCase<"Thread", 0, "thread">;
def NvTileAA_ScopeWarp : I32EnumAttrCase<"Warp", 1, "warp">;
def NvTileAA_ScopeAgent : I32EnumAttrCase<"Agent", 2, "agent">;
def NvTileAA_ScopeBlock : I32EnumAttrCase<"Block", 3, "block">;
def NvTileAA_ScopeCluster : I32EnumAttrCase<"Cluster", 4, "cluster">;
def NvTileAA_SyncScope : NvTileAA_InterfaceEnum<"SyncScope", "the threads that an op synchronizes", [
    // The calling thread with its own asynchronous operations.
    NvTileAA_ScopeThread,
    NvTileAA_ScopeWarp,
    // All threads of the innermost region with its own threads: an agent, or else the CTA.
    NvTileAA_ScopeAgent,
    NvTileAA_ScopeBlock,
    NvTileAA_ScopeCluster]>;

def SyncOpInterface : OpInterface<"SyncOpInterface"> {
  let cppNamespace = "::nv_tileaa";
  let description = "An op that orders the accesses of threads.";
  let methods = [
    InterfaceMethod<"Returns the way in which the op orders accesses.", "::nv_tileaa::SyncKind", "getSyncKind">,
    InterfaceMethod<"Returns the threads that the op synchronizes.", "::nv_tileaa::SyncScope", "getSyncScope">];
}

//===-- regions and the threads that run them --------------------------------//

def ThreadScopeOpInterface : OpInterface<"ThreadScopeOpInterface"> {
  let cppNamespace = "::nv_tileaa";
  let description = [{
    An op whose regions are run by whole groups of warps: a kernel by all warps of the CTA, an agent by some of them.
    Warps, threads and barriers are numbered within the group, and "uniform" means equal in all of its threads.
  }];
  let methods = [
    InterfaceMethod<"Returns the number of the region's first warp in the enclosing scope.", "int64_t", "getFirstWarp",
        (ins "unsigned":$region)>,
    InterfaceMethod<"Returns the number of warps that run the region, or -1 if it is undecided.", "int64_t",
        "getWarpCount", (ins "unsigned":$region)>,
    InterfaceMethod<"Returns whether the regions run concurrently.", "bool", "runsConcurrently">];
}

#endif
