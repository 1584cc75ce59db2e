// Every pass: argument, anchor, options, statistics, documentation. The bodies are in src/middle/passes/.
#ifndef TILEIRAS_PASSES_TD
#define TILEIRAS_PASSES_TD

include "mlir/Pass/PassBase.td"

def FuseFMA : Pass<"fuse-fma"> {
  let summary = "products that are added or subtracted become fused multiply-adds";
  let description = [{
    `addf (mulf a, b), c` and `addf c, (mulf a, b)` become `fma a, b, c`; `subf (mulf a, b), c` becomes
    `fma a, b, (negf c)`. The product must have no other use, and rounding and flushing must be the same in both
    operations. One rounding instead of two changes results, so no pipeline runs this pass unless asked to.
  }];
  let statistics = [
    Statistic<"numFused", "num-fused", "products fused">
  ];
  let dependentDialects = ["cuda_tile"];
}

def LoopSplit : Pass<"loop-split"> {
  let summary = "loops whose branches depend on where the induction variable is become two loops without the branch";
  let description = [{
    A `for` with an `if` whose condition compares the induction variable with a value from outside of the loop becomes
    two loops, which run one after the other: one in which the condition has its first value, one in which it has the
    other. Signedness of comparison and loop must agree. Bounds are computed so that nothing overflows.

    An `if` asks for it when one of its branches has at least `split-threshold` operations, or a load, a store, a matrix
    product, a reduction, an `if` or a `for`; with a threshold of 1 always, with 0 never. The integer attribute
    `cuda_tile.loop_split` on the `if`, the `for` or the function, the first of them that has one, replaces the option.
  }];
  let options = [
    Option<"splitThreshold", "split-threshold", "int64_t", "1", "operations in a branch that are worth a split, 0 for never">
  ];
  let statistics = [
    Statistic<"numSplit", "num-split", "loops split">
  ];
  let dependentDialects = ["cuda_tile"];
}

def SynthesizeDebugInfoScopes : Pass<"synthesize-debug-info-scopes"> {
  let summary = "a debug scope for each function that has none";
  let description = [{
    Functions whose location has no `di_loc` get a subprogram, made of their name and file location, in a compile unit
    made of the module's file location; each operation in them gets a `di_loc` of its own file location, or of the
    function's, in that scope. Functions with debug information stay as they are.

    Runs on a `cuda_tile.module`, whose functions get scopes of the public language, or on a module with functions of the
    LLVM dialect, which get LLVM's. There, ops without a place get that of their function.
  }];
  let options = [
    Option<"emissionKind", "emission-kind", "std::string", "\"LineTablesOnly\"",
           "what LLVM writes of the scopes that are made: None, LineTablesOnly, DebugDirectivesOnly, Full">
  ];
  let dependentDialects = ["cuda_tile"];
}

def ConvertCudaTileToTileAA : Pass<"convert-cudatile-to-tileaa", "::mlir::ModuleOp"> {
  let summary = "public tile language to alias-aware tiles";
  let description = [{
    Every `cuda_tile.module` becomes a `gpu.module`, every entry a `nv_tileaa.func`. Tiles of rank zero become
    scalars, others tensors. Early exits (`break`, `continue`, `return`) become structured control flow.

    `approx` and `ftz` relax all f32 arithmetic of the module: operations that have an approximate form and round to nearest
    even take it, and those that can flush subnormals do. What an operation says of itself comes first.

    `strict-types` refuses element types that NVIDIA's compiler refuses for the target.
  }];
  let options = [
    Option<"approx", "approx", "bool", "false", "approximate f32 division, roots, exponentials and tanh">,
    Option<"ftz", "ftz", "bool", "false", "flush subnormal f32 operands and results to zero">,
    Option<"strictTypes", "strict-types", "std::string", "\"\"", "target whose refusals hold, sm_NN; empty for none">
  ];
  let dependentDialects = ["arith", "gpu", "math", "nv_tileaa", "scf", "ub"];
}

def ConvertTileAAToTileAS : Pass<"convert-tileaa-to-tileas", "::mlir::ModuleOp"> {
  let summary = "alias-aware tiles to assembler-near tiles in default layouts";
  let description = [{
    The number of warps is what the function says, else what its hints say for the target, else the option, else what the
    function's tiles and matrix products ask for.
  }];
  let options = [
    Option<"numWarps", "num-warps", "int64_t", "0",
           "warps of a block, a power of two up to 32; 0 to choose. What an entry's hint says comes first">,
    Option<"computeCapability", "compute-capability", "std::string", "\"sm_100\"", "target, sm_NN">
  ];
  let dependentDialects = ["arith", "math", "nv_tileaa", "nv_tileas", "scf", "ub"];
}

def TileASAssignLoadStoreLayouts : Pass<"tileas-assign-load-store-layouts", "::mlir::ModuleOp"> {
  let summary = "coalesced layouts, vector widths and bounds checks for global accesses";
  let description = [{
    Each access of global memory gets the layout whose warps touch the fewest sectors and the widest vector that
    alignment allows, between layout conversions that `tileas-remove-layout-conversions` then removes. How many elements one
    atomic update takes depends on the target.
  }];
  let options = [
    Option<"computeCapability", "compute-capability", "std::string", "\"sm_100\"", "target, sm_NN">
  ];
  let dependentDialects = ["nv_tileas"];
}

def TileASRemoveLayoutConversions : Pass<"tileas-remove-layout-conversions", "::mlir::ModuleOp"> {
  let summary = "propagates the layouts of accesses and drops the conversions that become the identity";
  let statistics = [
    Statistic<"numRemoved", "num-removed", "layout conversions removed">,
    Statistic<"numKept", "num-kept", "layout conversions left">
  ];
  let dependentDialects = ["nv_tileas"];
}

def TileAAHoistViews : Pass<"tileaa-hoist-views", "::mlir::ModuleOp"> {
  let summary = "views that are made in branches and loops are made in front of them";
  let description = [{
    A view in a function's outermost block gets its tensor map once, before any copy. The map of a view that a loop makes is
    looked up again in every iteration. What can be computed anywhere moves to the outermost block, in functions with
    products, where the target's products take tiles from shared memory.
  }];
  let options = [
    Option<"computeCapability", "compute-capability", "std::string", "\"sm_100\"", "target, sm_NN">
  ];
  let statistics = [
    Statistic<"numHoisted", "num-hoisted", "views hoisted">
  ];
  let dependentDialects = ["nv_tileaa"];
}

def TileAANarrowLoads : Pass<"tileaa-narrow-loads", "::mlir::ModuleOp"> {
  let summary = "elements that are taken out of a loaded tile one by one are loaded one by one";
  let description = [{
    So the fields of records, such as those of lists of arrays, are there for all threads, and agents load them each for
    itself. In functions with products, where the target's products take tiles from shared memory.
  }];
  let options = [
    Option<"computeCapability", "compute-capability", "std::string", "\"sm_100\"", "target, sm_NN">
  ];
  let statistics = [
    Statistic<"numNarrowed", "num-narrowed", "elements loaded alone">
  ];
  let dependentDialects = ["nv_tileaa"];
}

def TileAASplitOverCluster : Pass<"tileaa-split-over-cluster", "::mlir::ModuleOp"> {
  let summary = "the thread blocks of a cluster share a tile block, each with slices of its tensors";
  let description = [{
    Stores, and what they need, are sliced along one dimension, so that each thread block has the part of its rank and
    nothing is communicated. Functions in which something is in the way stay as they are, with a remark.

    Left to choose, functions are sliced whose products are too large for the warpgroups of one thread block, or whose
    hint `num_cta_in_cga` asks for it where the prediction is about as good. Only targets with products of warpgroups
    are chosen for.
  }];
  let options = [
    Option<"numCtas", "num-ctas", "int64_t", "0", "thread blocks that share a tile block: 1, 2, 4 or 8; 0 to choose">,
    Option<"computeCapability", "compute-capability", "std::string", "\"sm_100\"", "target, sm_NN">
  ];
  let statistics = [
    Statistic<"numSliced", "num-sliced", "functions whose tile blocks are shared">
  ];
  let dependentDialects = ["arith", "nv_tileaa", "scf"];
}

def TileAASliceDots : Pass<"tileaa-slice-dots", "::mlir::ModuleOp"> {
  let summary = "loops over deep tiles of matrix products become loops over slices of them";
  let description = [{
    A loop that only adds up products of tiles that it loads is made to load thinner tiles, more often, where the
    target's shared memory would hold too few of the original ones for a pipeline of copies, or where tiles that
    cannot be copied would take too many registers on their way there.
  }];
  let options = [
    Option<"computeCapability", "compute-capability", "std::string", "\"sm_100\"", "target, sm_NN">,
    Option<"extendedSmem", "extended-smem", "bool", "false", "ptxas is told to grant all shared memory of a block">
  ];
  let statistics = [
    Statistic<"numSliced", "num-sliced", "loops sliced">
  ];
  let dependentDialects = ["arith", "nv_tileaa", "scf"];
}

def TileAAOutlineProducers : Pass<"tileaa-outline-producers", "::mlir::ModuleOp"> {
  let summary = "the programs that make operands of products go to the producer's warps";
  let description = [{
    Operands that `tileaa-plan-dots` has marked, because no tensor copy can bring them, are made in a
    `nv_tileas.async.pipeline.produce_one`, where layouts are those of the producer's warps.
  }];
  let statistics = [
    Statistic<"numOutlined", "num-outlined", "operands made by producers">
  ];
  let dependentDialects = ["nv_tileaa", "nv_tileas"];
}

def TileASPingPong : Pass<"tileas-ping-pong", "::mlir::ModuleOp"> {
  let summary = "warpgroups take turns with the tensor cores";
  let description = [{
    In agents of several warpgroups: loops whose products are started together, and whose sums are then computed with. A
    warpgroup starts its products when the one before has started its own, so that one computes while another multiplies.
    Where the tensor cores are not what bounds an iteration, turns would only be waited for, and there are none.
  }];
  let options = [
    Option<"computeCapability", "compute-capability", "std::string", "\"sm_100\"", "target, sm_NN">,
    Option<"when", "when", "std::string", "\"if-faster\"",
           "always where they are possible, never, or if-faster, which asks the numbers of the machine">
  ];
  let statistics = [
    Statistic<"numLoops", "num-loops", "loops whose warpgroups take turns">
  ];
  let dependentDialects = ["nv_tileas"];
}

def TileASPrefetchTiles : Pass<"tileas-prefetch-tiles", "::mlir::ModuleOp"> {
  let summary = "producers that make tiles load for the next one before they make this one";
  let description = [{
    Loops of agents that store a tile to a stage in each iteration carry what they load from one iteration to the next,
    if the agent's registers hold it twice.
  }];
  let statistics = [
    Statistic<"numLoads", "num-loads", "loads that are an iteration ahead">
  ];
  let dependentDialects = ["arith", "nv_tileaa", "nv_tileas", "scf"];
}

def TileAAPlanDots : Pass<"tileaa-plan-dots", "::mlir::ModuleOp"> {
  let summary = "which kernels multiply by warpgroups: how many, in how many stages, with how many registers";
  let description = [{
    Kernels whose products multiply tiles that tensor copies can load get the attribute `nv_tileas.dot_plan`, which later
    passes follow. Nothing happens on targets without warpgroup products.
  }];
  let options = [
    Option<"computeCapability", "compute-capability", "std::string", "\"sm_100\"", "target, sm_NN">
  ];
  let statistics = [
    Statistic<"numPlanned", "num-planned", "kernels planned">
  ];
  let dependentDialects = ["nv_tileaa", "nv_tileas"];
}

def TileASPrepareForScheduling
    : Pass<"tileas-prepare-for-scheduling", "::mlir::ModuleOp"> {
  let summary = "loops that are scheduled hold what each iteration has to do";
  let description = [{
    Tensors that are the same in each iteration of a loop with products or copies, and that cost something, are computed
    in front of it. Kernels with a plan of products stay as they are.
  }];
  let options = [
    Option<"computeCapability", "compute-capability", "std::string", "\"sm_100\"", "target, sm_NN">
  ];
  let statistics = [
    Statistic<"numMoved", "num-moved", "operations that left a loop">
  ];
}

def TileASRecomputeForScheduling
    : Pass<"tileas-recompute-for-scheduling", "::mlir::ModuleOp"> {
  let summary = "what costs next to nothing is computed next to each user";
  let description = [{
    In loops with products or copies, operations on tensors that cost next to nothing get a copy in front of each user,
    so that their results live in no stage of a schedule but that of the user. Kernels with a plan of products stay as
    they are.
  }];
  let options = [
    Option<"computeCapability", "compute-capability", "std::string", "\"sm_100\"", "target, sm_NN">
  ];
  let statistics = [
    Statistic<"numCopies", "num-copies", "copies">
  ];
}

def TileASGenerateScheduleConstraints
    : Pass<"tileas-generate-schedule-constraints", "::mlir::ModuleOp"> {
  let summary = "what the modulo scheduler must know of loops";
  let description = [{
    Operations of loops with products, or with loads that can be copied ahead, get numbers, and `ScheduleAnalysis` holds
    what they cost. Operations with one `tileas.schedule.constraint.gid` are done in one stage; with `.leader_gid` and
    `.max_depth` at most so many stages after another group; a loop with `.force_serial_execution` one iteration after
    the other. `tileas-materialize-schedule` takes the analysis. Between them passes may take operations away.
  }];
  let options = [
    Option<"computeCapability", "compute-capability", "std::string", "\"sm_100\"", "target, sm_NN">
  ];
  let statistics = [
    Statistic<"numLoops", "num-loops", "loops with constraints">,
    Statistic<"numNodes", "num-nodes", "operations in them">
  ];
  let dependentDialects = ["nv_tileaa", "nv_tileas"];
}

def TileASMaterializeSchedule
    : Pass<"tileas-materialize-schedule", "::mlir::ModuleOp"> {
  let summary = "the modulo scheduler decides the stage of each operation of a loop";
  let description = [{
    Wants the `ScheduleAnalysis` of `tileas-generate-schedule-constraints`. Loops get `tileas.schedule.interval` and
    `.stages`, their operations `.stage` and `.clock`, and loads that can be copied ahead `nv_tileas.ahead`, which
    `tileas-unspecialized-pipeline` follows. Where products are those of warpgroups, loops are scheduled for agents:
    operations get `tileas.schedule.agent`, which `tileas-specialize-agents` follows, products `nv_tileas.stages`, the
    stages of their ring, for `tileas-materialize-async`, and `tileas-pipeline-dots` moves a product to the next
    iteration if the schedule does. Where no overlap is found, iterations stay one after the other; no interval up to
    `largest-interval` is an error.
  }];
  let options = [
    Option<"useSingleAgent", "use-single-agent", "bool", "false",
           "schedule nothing for agents: loops whose products are those of warpgroups stay as they are">,
    Option<"extendedSmem", "extended-smem", "bool", "false",
           "all shared memory of a block that the target has may be taken">,
    Option<"exhaustive", "exhaustive", "bool", "false", "search small loops exhaustively">,
    Option<"rrtSizeThreshold", "rrt-size-threshold", "int64_t", "4096",
           "rows of reservation tables above which several clocks share one; 0: no tables">,
    Option<"maxConstraintIterations", "max-constraint-iterations", "int64_t", "10",
           "times that a loop whose rings do not fit is scheduled again">,
    Option<"largestInterval", "largest-interval", "int64_t", "0",
           "clocks above which no interval is tried; 0: those of one iteration after the other">,
    Option<"scheduleTraceFile", "schedule-trace-file", "std::string", "\"\"",
           "file for the schedules: .html a page, .txt text, otherwise a trace for Chrome">
  ];
  let statistics = [
    Statistic<"numScheduled", "num-scheduled", "loops scheduled">
  ];
  let dependentDialects = ["nv_tileaa", "nv_tileas"];
}

def TileASPipelineDots : Pass<"tileas-pipeline-dots", "::mlir::ModuleOp"> {
  let summary = "loops start the first product of the next iteration before the last one of this";
  let description = [{
    In functions with `nv_tileas.dot_plan`: where a product needs nothing that a loop carries, and another reads registers
    that are computed from its result, the first is done an iteration ahead, next to the second. The first one of all
    stands in front of the loop, and the last iteration behind it.
  }];
  let statistics = [
    Statistic<"numPipelined", "num-pipelined", "loops rotated">
  ];
  let dependentDialects = ["arith", "nv_tileaa", "nv_tileas", "scf"];
}

def TileASMaterializeAsync : Pass<"tileas-materialize-async", "::mlir::ModuleOp"> {
  let summary = "products of warpgroups and the loads of their operands become asynchronous";
  let description = [{
    In functions with `nv_tileas.dot_plan`. Operands go through a ring of stages in shared memory, filled by tensor copies;
    products are waited for one iteration later where the loop carries nothing but their sums. The program stays one
    program: each iteration fills the stage that it multiplies. A ring has as many stages as the plan says, or, where all
    its products have been scheduled, as these need.
  }];
  let statistics = [
    Statistic<"numProducts", "num-products", "products made asynchronous">
  ];
  let dependentDialects = ["arith", "nv_tileaa", "nv_tileas", "scf"];
}

def TileASSpecializeAgents : Pass<"tileas-specialize-agents", "::mlir::ModuleOp"> {
  let summary = "a program that fills pipelines becomes an agent of its own";
  let description = [{
    What one thread does for a pipeline goes to a producer, with the loops, branches and addresses that it depends on. The
    rest is the consumer, with what `tileas.schedule.agent` leaves to it. Both run at the same time, and the pipelines'
    barriers order them.
  }];
  let statistics = [
    Statistic<"numSpecialized", "num-specialized", "kernels with agents">
  ];
  let dependentDialects = ["arith", "nv_tileaa", "nv_tileas", "scf"];
}

def TileASCheckRegisterBudget : Pass<"tileas-check-register-budget", "::mlir::ModuleOp"> {
  let summary = "the registers that agents ask for are there";
  let description = [{
    An error for agents whose numbers of registers the instruction that moves them does not take, or that together ask for
    more than the block has at launch: they would wait for ever.
  }];
  let options = [
    Option<"computeCapability", "compute-capability", "std::string", "\"sm_100\"", "target, sm_NN">
  ];
  let statistics = [
    Statistic<"numBudgets", "num-budgets", "kernels whose agents ask for registers">
  ];
}

def TileASLowerTmaLoadStoreToAsync : Pass<"tileas-lower-tma-load-store-to-async", "::mlir::ModuleOp"> {
  let summary = "agents store tiles by tensor copies";
  let description = [{
    In agents, a weak store of a tile goes through shared memory, from where one thread copies it while the others go on,
    where a tensor map of the view can be proved right, memory for the tile is free, and no access but other such stores
    is ordered with it. Loads become tensor copies earlier, with the products that they feed (`tileas-materialize-async`).
  }];
  let options = [
    Option<"computeCapability", "compute-capability", "std::string", "\"sm_100\"", "target, sm_NN">
  ];
  let statistics = [
    Statistic<"numStores", "num-stores", "stores that became tensor copies">
  ];
  let dependentDialects = ["nv_tileaa", "nv_tileas"];
}

def TileASAssignDotLayouts : Pass<"tileas-assign-dot-layouts", "::mlir::ModuleOp"> {
  let summary = "instructions and layouts of matrix products";
  let description = [{
    Each product gets the instruction that the target has for its types, warps arranged over batch, M and N so that the
    tile of a warp is as large and as square as can be, its accumulator in copies of the instruction's fragment and its
    operands where that instruction takes them. Operands of a type that no instruction of the target multiplies are
    widened first.
  }];
  let options = [
    Option<"computeCapability", "compute-capability", "std::string", "\"sm_100\"", "target, sm_NN">
  ];
  let dependentDialects = ["arith", "nv_tileaa", "nv_tileas"];
}

def TileASUnspecializedPipeline : Pass<"tileas-unspecialized-pipeline", "::mlir::ModuleOp"> {
  let summary = "software pipelines of asynchronous copies for loops that feed matrix products";
  let description = [{
    Loads of a loop whose only purpose is an operand of a matrix product become asynchronous copies into a ring of
    stages in shared memory, started as many iterations ahead as there are stages less one.
  }];
  let options = [
    Option<"computeCapability", "compute-capability", "std::string", "\"sm_100\"", "target, sm_NN">,
    Option<"extendedSmem", "extended-smem", "bool", "false", "ptxas is told to grant all shared memory of a block">,
    Option<"numStages", "unspecialized-pipeline-num-stages", "int64_t", "4", "most stages of a ring">
  ];
  let statistics = [
    Statistic<"numLoops", "num-loops", "loops pipelined">,
    Statistic<"numLoads", "num-loads", "loads made asynchronous">
  ];
  let dependentDialects = ["arith", "nv_tileaa", "nv_tileas", "scf"];
}

def TileASDelayLoads : Pass<"tileas-delay-loads", "::mlir::ModuleOp"> {
  let summary = "blocks load no more than registers hold before they use what they have loaded";
  let description = [{
    In a block that holds more loaded tiles than a thread has registers, loads that no token orders move down: until what is
    loaded and not used up fits into 64 registers, or to their first user.
  }];
  let statistics = [
    Statistic<"numMoved", "num-moved", "loads that moved down">
  ];
  let dependentDialects = ["nv_tileaa", "nv_tileas"];
}

def TileASMaterializeReductions : Pass<"tileas-materialize-reductions", "::mlir::ModuleOp"> {
  let summary = "reductions and scans across warps become steps within warps and an exchange through shared memory";
  let description = [{
    A reduction along a dimension that warps share keeps one element for each warp, and a second one combines those. A scan
    is split into segments that a warp scans alone; the totals of earlier segments are added by `nv_tileas.carry`. What the
    warps tell each other goes through shared memory, with barriers.
  }];
  let statistics = [
    Statistic<"numReductions", "num-reductions", "reductions that cross warps">,
    Statistic<"numScans", "num-scans", "scans that were split into segments">,
    Statistic<"numConverted", "num-converted", "reductions and scans whose operands were converted to another layout">
  ];
  let dependentDialects = ["nv_tileas"];
}

def TileASMaterializeConvertLayout : Pass<"tileas-materialize-convert-layout", "::mlir::ModuleOp"> {
  let summary = "layout conversions that cross threads go through swizzled shared memory";
  let description = [{
    A conversion that only permutes registers stays. Others become a store to and a load from shared memory, with barriers.
  }];
  let options = [
    Option<"computeCapability", "compute-capability", "std::string", "\"sm_100\"", "target, sm_NN">
  ];
  let dependentDialects = ["nv_tileas"];
}

def TileASOrderMemory : Pass<"tileas-order-memory", "::mlir::ModuleOp"> {
  let summary = "barriers between token-ordered accesses that may touch the same bytes from different threads";
  let statistics = [
    Statistic<"numBarriers", "num-barriers", "barriers that tokens ask for">,
    Statistic<"numWalks", "num-walks", "walks through the body of a loop">
  ];
  let dependentDialects = ["nv_tileas"];
}

def TileASOptimizeAllocTensor : Pass<"tileas-optimize-alloc-tensor", "::mlir::ModuleOp"> {
  let summary = "byte offsets in shared memory by liveness";
  let dependentDialects = ["nv_tileas"];
}

def TileASSlicing : Pass<"tileas-slicing", "::mlir::ModuleOp"> {
  let summary = "scans and matrix products of tiles that do not fit into registers become loops over slices";
  let description = [{
    A tensor that gives a thread more elements than it has registers for is worked on a chunk at a time
    (`tileas-materialize-register-loops`), which scans and matrix products do not allow: their chunks depend on each other. They are
    done slice by slice: `extract_slice`, the op on slices, `insert_slice` into the result that the loop carries.
  }];
  let statistics = [
    Statistic<"numScans", "num-scans", "scans that became loops">,
    Statistic<"numDots", "num-dots", "matrix products that became loops">
  ];
  let dependentDialects = ["arith", "nv_tileas", "scf", "ub"];
}

def TileASCheckSynchronization : Pass<"tileas-check-synchronization", "::mlir::ModuleOp"> {
  let summary = "proves that barriers separate the accesses of shared memory that may conflict";
  let description = [{
    A conflict is a pair of accesses of one byte by different warps, at least one of them a write, that no barrier separates on
    some path. Each is an error at the later access with a note at the earlier one. Storage must have its offsets.
  }];
  let options = [
    Option<"removeRedundant", "remove-redundant-barriers", "bool", "false",
           "drop barriers that guard the reuse of storage where the analysis shows nothing to guard">
  ];
  let statistics = [
    Statistic<"numAccesses", "num-accesses", "accesses of shared memory checked">,
    Statistic<"numRemoved", "num-removed", "barriers removed">,
    Statistic<"numFacts", "num-facts", "facts that the analysis has carried over nodes of the flow graph">
  ];
  let dependentDialects = ["nv_tileas"];
}

def TileASMaterializeRegisterLoops : Pass<"tileas-materialize-register-loops", "::mlir::ModuleOp"> {
  let summary = "tensors that do not fit into registers become arrays in local memory and loops over chunks";
  let description = [{
    Ops on a tensor that gives a thread more elements than it should hold in registers move into `nv_tileas.register_loop`,
    whose body works on a few registers at a time. What lives longer than such a loop is in a `register_array`; what is cheap to
    compute is computed again in every loop. `tileas-slicing` has made loops of the ops that this does not fit.
  }];
  let statistics = [
    Statistic<"numLoops", "num-loops", "loops over chunks">,
    Statistic<"numArrays", "num-arrays", "arrays in local memory">
  ];
  let dependentDialects = ["nv_tileas", "scf"];
}

def TileASKeepAddressesInLoops : Pass<"tileas-keep-addresses-in-loops", "::mlir::ModuleOp"> {
  let summary = "loops that multiply tiles compute their addresses themselves";
  let description = [{
    LLVM would hoist every address that does not change out of a loop, and around matrix products there are no registers for
    them. The outermost loop around each product gets `nv_tileas.addresses_in_loop`: `convert-tileas-to-llvm` then hides
    the addresses of accesses inside from LLVM.
  }];
  let statistics = [
    Statistic<"numLoops", "num-loops", "loops marked">
  ];
  let dependentDialects = ["nv_tileas", "scf"];
}

def TileASSkipRescale : Pass<"tileas-skip-rescale", "::mlir::ModuleOp"> {
  let summary = "sums are not multiplied by factors that are one";
  let description = [{
    In functions with `nv_tileas.dot_plan`: multiplications in loops by how much a maximum has grown,
    `exp(a - max(a, b))`, one factor for many elements of a thread. They get `nv_tileas.often_one`:
    `convert-tileas-to-llvm` then leaves them out where all factors of a warp are one.
  }];
  let statistics = [
    Statistic<"numSkipped", "num-skipped", "multiplications marked">
  ];
  let dependentDialects = ["arith", "nv_tileaa", "nv_tileas"];
}

def ConvertTileASToLLVM : Pass<"convert-tileas-to-llvm", "::mlir::ModuleOp"> {
  let summary = "assembler-near tiles to one thread's program";
  let description = [{
    A tensor becomes one SSA value for each element that the thread holds. Structured control flow becomes branches. What
    the threads of a block do together stays: barriers, and groups of asynchronous copies.
  }];
  let options = [
    Option<"computeCapability", "compute-capability", "std::string", "\"sm_100\"", "target, sm_NN">,
    Option<"indexBitwidth", "index-bitwidth", "int64_t", "0",
           "bits of address arithmetic, 32 or 64; 0 for 32 where offsets provably fit, else 64">
  ];
  let dependentDialects = ["llvm", "nv_tileas", "nvvm"];
}

def TileIRSinkSharedLoads : Pass<"tileir-sink-shared-loads", "::mlir::ModuleOp"> {
  let summary = "in kernels that multiply tiles, reads of shared memory move down to their first user";
  let description = [{
    `convert-tileas-to-llvm` reads an operand of a product whole before the first instruction that multiplies. In functions
    with `nv_tileas.multiplies` reads of shared memory, and what is computed from them alone, move to where their values
    are used, so that a thread holds few of them at a time.
  }];
  let statistics = [
    Statistic<"numMoved", "num-moved", "ops moved">
  ];
  let dependentDialects = ["llvm"];
}

def ConvertTileASToNVGPU : Pass<"convert-tileas-to-nvgpu", "::mlir::ModuleOp"> {
  let summary = "barriers and groups of asynchronous copies to NVVM and NVGPU";
  let description = [{
    `convert-tileas-to-llvm` leaves alone what has no registers: barriers, and the ops that close groups of asynchronous
    copies and wait for them. They become `nvvm.barrier0`, `nvgpu.device_async_create_group` and `nvgpu.device_async_wait`.
  }];
  let statistics = [
    Statistic<"numBarriers", "num-barriers", "barriers lowered">,
    Statistic<"numGroups", "num-groups", "groups of copies lowered">,
    Statistic<"numWaits", "num-waits", "waits lowered">
  ];
  let dependentDialects = ["llvm", "nvgpu", "nvvm"];
}

def ConvertTargetToNVVM : Pass<"convert-target-to-nvvm", "::mlir::ModuleOp"> {
  let summary = "attaches the NVVM target to every gpu.module";
  let options = [
    Option<"computeCapability", "compute-capability", "std::string", "\"sm_100\"", "target, sm_NN">,
    Option<"optLevel", "opt-level", "int64_t", "2", "code generation level, 0 to 3">
  ];
  let dependentDialects = ["gpu", "nvvm"];
}

def TileIRInsertDebugScope : Pass<"tileir-insert-debug-scope", "::mlir::ModuleOp"> {
  let summary = "a scope of debug information for every kernel, and a place for every op in it";
  let description = [{
    Kernels without a subprogram of LLVM's get one, made of what the public language says of them, else of their symbol and
    the place of their head. Ops without a place in a file get that of their kernel. Scopes with emission kind `None` serve
    messages and never reach the output.
  }];
  let options = [
    Option<"emissionKind", "emission-kind", "std::string", "\"None\"",
           "what LLVM writes of the scopes that are made: None, LineTablesOnly, DebugDirectivesOnly, Full">
  ];
  let statistics = [
    Statistic<"numScopes", "num-scopes", "functions that got a scope">,
    Statistic<"numPlaces", "num-places", "ops that got the place of their function">
  ];
  let dependentDialects = ["llvm"];
}

def TileIRPrintSnapshot : Pass<"tileir-print-snapshot", "::mlir::ModuleOp"> {
  let summary = "the program as text on standard error, with the place of each op";
  let description = [{
    For those who want to follow a line of the source through the compiler. Nothing is changed. `emit-line-info` puts two
    of them into the pipeline.
  }];
  let options = [
    Option<"after", "after", "std::string", "\"\"",
           "the pass behind which this one stands, for the headline">
  ];
}

def TileIREmitHostWrapper : Pass<"tileir-emit-host-wrapper", "::mlir::ModuleOp"> {
  let summary = "a module for the host with a function that launches each kernel";
  let description = [{
    For `gpu.module @m` a module `@m_host` with `k_launch(kernel, x, y, z, stream, arguments...)` for each kernel `k`: it
    packs the arguments and calls `cuLaunchKernel` with a grid of `x * y * z` blocks of as many threads as the kernel has.
    Needs the number of warps, and so stands behind `convert-tileaa-to-tileas`.
  }];
  let options = [
    Option<"hostTriple", "host-triple", "std::string", "\"\"", "target triple of the host, none for the native one">,
    Option<"dumpHost", "dump-host", "std::string", "\"\"", "file that the wrapper is also written to, as LLVM IR">
  ];
  let statistics = [
    Statistic<"numWrappers", "num-wrappers", "kernels that got a wrapper">
  ];
  let dependentDialects = ["llvm"];
}

def TileIRVerifyOpsAnalysis : Pass<"tileir-verify-ops-analysis", "::mlir::ModuleOp"> {
  let summary = "checks that the program of one thread is one that the target can run";
  let description = [{
    Errors are ops of the tile dialects that no pass has lowered, blocks with more threads than the target allows, more
    shared memory than a kernel may declare, and parameters that do not fit.
  }];
  let options = [
    Option<"computeCapability", "compute-capability", "std::string", "\"sm_100\"", "target, sm_NN">,
    Option<"extendedSmem", "extended-smem", "bool", "false", "ptxas is told to grant all shared memory of a block">
  ];
  let statistics = [
    Statistic<"numOps", "num-ops", "ops checked">
  ];
}

def TileIRGpuModulePrepare : Pass<"tileir-gpu-module-prepare", "::mlir::ModuleOp"> {
  let summary = "what the launch of each kernel is like, as attributes of NVVM";
  let description = [{
    `nv_tileas.num_warps` becomes `nvvm.reqntid`, and `nv_tileas.multiplies`, on kernels with products of tiles,
    `nvvm.minctasm`. Functions that are not kernels become internal.
  }];
  let statistics = [
    Statistic<"numKernels", "num-kernels", "kernels prepared">,
    Statistic<"numInternal", "num-internal", "functions made internal">
  ];
  let dependentDialects = ["llvm", "nvvm"];
}

def TileIRPostNvvmFinalize : Pass<"tileir-post-nvvm-finalize", "::mlir::ModuleOp"> {
  let summary = "removes what the kernels do not use, and checks that the rest can be translated";
  let description = [{
    Internal data and declarations without users go, as do attributes of the tile dialects. Errors are ops without a
    translation to LLVM IR, and functions that are called and defined nowhere: neither in the device library nor
    among those that the driver supplies.
  }];
  let statistics = [
    Statistic<"numRemoved", "num-removed", "symbols removed">
  ];
}

#endif
