// What passes ask an op of nv_tileaa or nv_tileas: how the layouts of its tensors relate, what it costs to compute it again,
// whether it moves elements between threads, which memory it touches, how it synchronises.
//
// Every op answers. `Op` classes of both dialects take a behaviour as an argument, so an op without one does not build;
// ops with effects name the memory they touch, which tests/behaviour.rs checks for every op.
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
def NvTileAA_LayoutProduct : I32EnumAttrCase<"Product", 12, "product">;
def NvTileAA_LayoutControl : I32EnumAttrCase<"Control", 13, "control">;
def NvTileAA_LayoutRelation : NvTileAA_InterfaceEnum<"LayoutRelation",
    "how the layouts of an op's results follow from those of its operands", [
    // Nothing follows. Layouts of such an op are never changed.
    NvTileAA_LayoutNone,
    // Elementwise: operands and results of one shape lie alike.
    NvTileAA_LayoutSame,
    // An access of memory: all its tensors lie as the tile that it moves does.
    NvTileAA_LayoutAccess,
    // Row-major indices of elements do not change, and so the layout does not.
    NvTileAA_LayoutReshape,
    NvTileAA_LayoutPermute,
    NvTileAA_LayoutBroadcast,
    NvTileAA_LayoutCat,
    // Any layouts of source and result will do; what stays within a thread is cheapest.
    NvTileAA_LayoutSlice,
    // The result keeps the layout of what is put together.
    NvTileAA_LayoutInsert,
    // Elements are split into narrower ones, or joined.
    NvTileAA_LayoutPacking,
    // All operands lie alike; a result lies where they do when one dimension is forgotten.
    NvTileAA_LayoutReduce,
    // Results may lie anywhere, operands need nothing in particular.
    NvTileAA_LayoutLeaf,
    // A matrix product: operands lie as the instruction wants them.
    NvTileAA_LayoutProduct,
    // Carries values between regions.
    NvTileAA_LayoutControl]>;

def NvTileAA_CostCheap : I32EnumAttrCase<"Cheap", 0, "cheap">;
def NvTileAA_CostArithmetic : I32EnumAttrCase<"Arithmetic", 1, "arithmetic">;
def NvTileAA_CostHeavy : I32EnumAttrCase<"Heavy", 2, "heavy">;
def NvTileAA_Cost : NvTileAA_InterfaceEnum<"Cost", "what it costs to compute a result again", [
    // Less than keeping or moving it: addresses, ranges, splats, other shapes.
    NvTileAA_CostCheap,
    // An instruction or a few for each element.
    NvTileAA_CostArithmetic,
    // More than that, or not repeatable: memory, products, reductions.
    NvTileAA_CostHeavy]>;

def NvTileAA_MovementNone : I32EnumAttrCase<"None", 0, "none">;
def NvTileAA_MovementLayouts : I32EnumAttrCase<"Layouts", 1, "layouts">;
def NvTileAA_MovementThreads : I32EnumAttrCase<"Threads", 2, "threads">;
def NvTileAA_Movement : NvTileAA_InterfaceEnum<"Movement", "whether elements move between threads", [
    // Each thread computes from what it holds.
    NvTileAA_MovementNone,
    // If the layouts of source and result differ by more than the order of registers.
    NvTileAA_MovementLayouts,
    // Yes, through shuffles or shared memory.
    NvTileAA_MovementThreads]>;

/// The answers of an op. Named ones below.
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

// No tensors in registers that a layout could describe: functions, views and descriptors of memory, tokens, barriers.
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
def NvTileAA_Product : NvTileAA_Local<NvTileAA_LayoutProduct, NvTileAA_CostHeavy>;
def NvTileAA_Access : NvTileAA_Local<NvTileAA_LayoutAccess, NvTileAA_CostHeavy>;
def NvTileAA_Slicing : NvTileAA_Behaviour<NvTileAA_LayoutSlice, NvTileAA_CostHeavy, NvTileAA_MovementThreads>;
def NvTileAA_Reduction : NvTileAA_Behaviour<NvTileAA_LayoutReduce, NvTileAA_CostHeavy, NvTileAA_MovementThreads>;
// Operands and results lie alike, and threads exchange what they hold or found: scans, copies for other holders.
def NvTileAA_Collective : NvTileAA_Behaviour<NvTileAA_LayoutSame, NvTileAA_CostHeavy, NvTileAA_MovementThreads>;
// Between layouts that are fixed; within a thread if they differ by no more than the order of registers.
def NvTileAA_Conversion : NvTileAA_Behaviour<NvTileAA_LayoutSame, NvTileAA_CostArithmetic, NvTileAA_MovementLayouts>;
// Between registers and another memory space: any layout in registers will do.
def NvTileAA_Transfer : NvTileAA_Behaviour<NvTileAA_LayoutLeaf, NvTileAA_CostHeavy, NvTileAA_MovementThreads>;
def NvTileAA_ThreadExchange : NvTileAA_Behaviour<NvTileAA_LayoutNone, NvTileAA_CostHeavy, NvTileAA_MovementThreads>;
// What layouts say is final, within a thread.
def NvTileAA_FixedLayouts : NvTileAA_Local<NvTileAA_LayoutNone, NvTileAA_CostHeavy>;

def TileOpInterface : OpInterface<"TileOpInterface"> {
  let cppNamespace = "::nv_tileaa";
  let description = "What a pass may assume of an op without knowing its name.";
  let methods = [
    InterfaceMethod<"How layouts of results follow from those of operands.",
        "::nv_tileaa::LayoutRelation", "getLayoutRelation">,
    InterfaceMethod<"What it costs to compute a result again, effects and speculation aside.",
        "::nv_tileaa::Cost", "getRecomputationCost">,
    InterfaceMethod<"Whether elements move between threads.", "::nv_tileaa::Movement", "getMovement">];
}

//===-- memory --------------------------------------------------------------//
// The asynchronous proxy is that of TMA and of the operands that tensor cores read from shared memory: between it and
// accesses of threads stands a fence. An op that returns an `async_token` touches memory until the token has been waited for.

def NvTileAA_GlobalMemory : Resource<"::nv_tileaa::GlobalMemory">;
def NvTileAA_GlobalMemoryAsyncProxy : Resource<"::nv_tileaa::GlobalMemoryAsyncProxy">;
def NvTileAA_SharedMemory : Resource<"::nv_tileaa::SharedMemory">;
def NvTileAA_SharedMemoryAsyncProxy : Resource<"::nv_tileaa::SharedMemoryAsyncProxy">;
// Arrays of one thread.
def NvTileAA_LocalMemory : Resource<"::nv_tileaa::LocalMemory">;
def NvTileAA_TensorMemory : Resource<"::nv_tileaa::TensorMemory">;
// State that is no memory of the program: barriers' phases, groups of copies, the console, the grid's queue of blocks.
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

// What an op that orders accesses of other threads touches: nothing moves past it.
def NvTileAA_TouchesAll : MemoryEffects<[
    NvTileAA_ReadsGlobal, NvTileAA_WritesGlobal, NvTileAA_ReadsShared, NvTileAA_WritesShared,
    NvTileAA_ReadsTensor, NvTileAA_WritesTensor, NvTileAA_ReadsMachine, NvTileAA_WritesMachine]>;

//===-- synchronisation -----------------------------------------------------//

def NvTileAA_SyncNone : I32EnumAttrCase<"None", 0, "none">;
def NvTileAA_SyncBarrier : I32EnumAttrCase<"Barrier", 1, "barrier">;
def NvTileAA_SyncCommit : I32EnumAttrCase<"Commit", 2, "commit">;
def NvTileAA_SyncWait : I32EnumAttrCase<"Wait", 3, "wait">;
def NvTileAA_SyncScratch : I32EnumAttrCase<"Scratch", 4, "scratch">;
def NvTileAA_SyncScratchAndMeet : I32EnumAttrCase<"ScratchAndMeet", 5, "scratch_and_meet">;
def NvTileAA_SyncKind : NvTileAA_InterfaceEnum<"SyncKind", "how an op orders accesses", [
    NvTileAA_SyncNone,
    // Threads of the scope meet.
    NvTileAA_SyncBarrier,
    // Asynchronous work becomes a group that can be waited for.
    NvTileAA_SyncCommit,
    // The calling thread waits for what tokens name.
    NvTileAA_SyncWait,
    // For each part of a tensor threads meet, write to scratch storage, meet, and read from it.
    NvTileAA_SyncScratch,
    // The same, and threads meet once more at the end. Nothing of the kind happens without scratch storage.
    NvTileAA_SyncScratchAndMeet]>;

def NvTileAA_ScopeThread : I32EnumAttrCase<"Thread", 0, "thread">;
def NvTileAA_ScopeWarp : I32EnumAttrCase<"Warp", 1, "warp">;
def NvTileAA_ScopeAgent : I32EnumAttrCase<"Agent", 2, "agent">;
def NvTileAA_ScopeBlock : I32EnumAttrCase<"Block", 3, "block">;
def NvTileAA_ScopeCluster : I32EnumAttrCase<"Cluster", 4, "cluster">;
def NvTileAA_SyncScope : NvTileAA_InterfaceEnum<"SyncScope", "the threads that an op synchronises", [
    // The calling thread with asynchronous work that it has started.
    NvTileAA_ScopeThread,
    NvTileAA_ScopeWarp,
    // All threads of the innermost region with threads of its own: an agent's, or else the block's.
    NvTileAA_ScopeAgent,
    NvTileAA_ScopeBlock,
    NvTileAA_ScopeCluster]>;

def SyncOpInterface : OpInterface<"SyncOpInterface"> {
  let cppNamespace = "::nv_tileaa";
  let description = "An op that orders accesses of threads.";
  let methods = [
    InterfaceMethod<"What it does.", "::nv_tileaa::SyncKind", "getSyncKind">,
    InterfaceMethod<"Which threads it synchronises.", "::nv_tileaa::SyncScope", "getSyncScope">];
}

//===-- regions and the threads that run them --------------------------------//

def ThreadScopeOpInterface : OpInterface<"ThreadScopeOpInterface"> {
  let cppNamespace = "::nv_tileaa";
  let description = [{
    An op whose regions are run by whole groups of warps: a kernel by all warps of the block, an agent by some of them.
    Warps, threads and barriers are numbered within the group, and "uniform" means equal in all of its threads.
  }];
  let methods = [
    InterfaceMethod<"Number of the region's first warp in the scope around.", "int64_t", "getFirstWarp",
        (ins "unsigned":$region)>,
    InterfaceMethod<"Number of warps that run the region; -1 where it has not been decided.", "int64_t",
        "getWarpCount", (ins "unsigned":$region)>,
    InterfaceMethod<"Whether several regions run at the same time.", "bool", "runsConcurrently">];
}

#endif
