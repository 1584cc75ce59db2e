// The declaration of every pass: argument, anchor, options, statistics and documentation. The implementations are in
// src/middle/passes/.
#ifndef TILEIRAS_PASSES_TD
#define TILEIRAS_PASSES_TD

include "mlir/Pass/PassBase.td"

def FuseFMA : Pass<"fuse-fma"> {
  let summary = "fuse multiplications and additions into fused multiply-adds";
  let description = [{
    Rewrites `addf (mulf a, b), c` and `addf c, (mulf a, b)` to `fma a, b, c`, and `subf (mulf a, b), c` to `fma a, b,
    (negf c)`. The product must have no other use, and both operations must agree in rounding and in flushing of
    subnormals. Rounding once instead of twice changes results, so no pipeline runs this pass by default.
  }];
  let statistics = [
    Statistic<"numFused", "num-fused", "multiplications fused">
  ];
  let dependentDialects = ["cuda_tile"];
}

def LoopSplit : Pass<"loop-split"> {
  let summary = "split loops at branches that depend on the induction variable";
  let description = [{
    Splits a `for` that contains an `if` whose condition compares the induction variable with a loop-invariant value.
    The result is two consecutive loops: the condition has one value in the first loop and the other value in the
    second. The comparison and the loop must agree in signedness. The bounds are computed without overflow.

    An `if` triggers a split when one of its branches has at least `split-threshold` operations, or contains a load, a
    store, a matrix multiplication, a reduction, an `if` or a `for`. A threshold of 1 always splits; 0 never does. The
    integer attribute `cuda_tile.loop_split` on the `if`, the `for` or the function overrides the option; the
    innermost attribute wins.
  }];
  let options = [
    Option<"splitThreshold", "split-threshold", "int64_t", "1",
           "smallest branch, in operations, that is worth a split; 0 never splits">
  ];
  let statistics = [
    Statistic<"numSplit", "num-split", "loops split">
  ];
  let dependentDialects = ["cuda_tile"];
}

def SynthesizeDebugInfoScopes : Pass<"synthesize-debug-info-scopes"> {
  let summary = "add a debug scope to each function that lacks one";
  let description = [{
    Functions whose location has no `di_loc` get a subprogram, built from the function's name and file location, in a
    compile unit built from the module's file location. Each operation in them gets a `di_loc` in that scope, at its
    own file location or else at the function's. Functions that have debug information do not change.

    On a `cuda_tile.module`, functions get scopes of the `cuda_tile` dialect. On a module with functions of the LLVM
    dialect, they get LLVM's scopes; operations without a location get the function's.
  }];
  let options = [
    Option<"emissionKind", "emission-kind", "std::string", "\"LineTablesOnly\"",
           "LLVM emission kind of the new scopes: None, LineTablesOnly, DebugDirectivesOnly or Full">
  ];
  let dependentDialects = ["cuda_tile"];
}

def ConvertCudaTileToTileAA : Pass<"convert-cudatile-to-tileaa", "::mlir::ModuleOp"> {
  let summary = "convert cuda_tile to nv_tileaa";
  let description = [{
    Converts every `cuda_tile.module` to a `gpu.module` and every entry to a `nv_tileaa.func`. Tiles of rank zero
    become scalars, all others tensors. Early exits (`break`, `continue`, `return`) become structured control flow.

    `approx` and `ftz` relax all f32 arithmetic of the module: operations that round to nearest even and have an
    approximate form use it, and operations that can flush subnormals do so. An operation's own modifiers take
    precedence.

    `strict-types` rejects the element types that NVIDIA's compiler rejects for the given target.

    With `numerics=pinned` or `portable`, reductions and scans whose bits depend on the order of elements get
    `nv_tileaa.canonical`: later passes combine their elements in the canonical order of `docs/numerics.md`.
  }];
  let options = [
    Option<"approx", "approx", "bool", "false", "approximate f32 division, roots, exponentials and tanh">,
    Option<"ftz", "ftz", "bool", "false", "flush subnormal f32 operands and results to zero">,
    Option<"numerics", "numerics", "std::string", "\"default\"",
           "`pinned` or `portable` for results that do not depend on how the program is compiled">,
    Option<"strictTypes", "strict-types", "std::string", "\"\"",
           "target, sm_NN, whose type restrictions apply; empty for none">
  ];
  let dependentDialects = ["arith", "gpu", "math", "nv_tileaa", "scf", "ub"];
}

def ConvertTileAAToTileAS : Pass<"convert-tileaa-to-tileas", "::mlir::ModuleOp"> {
  let summary = "convert nv_tileaa to nv_tileas with default layouts";
  let description = [{
    Gives every tensor the default layout of its shape. The number of warps comes from the function, or else from its
    hints for the target, or else from the option. If none of them specifies it, the pass chooses it by the function's
    tiles and dots.
  }];
  let options = [
    Option<"numWarps", "num-warps", "int64_t", "0",
           "warps per CTA, a power of two up to 32; 0 to choose. An entry's hint takes precedence">,
    Option<"computeCapability", "compute-capability", "std::string", "\"sm_100\"", "target, sm_NN">
  ];
  let dependentDialects = ["arith", "math", "nv_tileaa", "nv_tileas", "scf", "ub"];
}

def TileASAssignLoadStoreLayouts : Pass<"tileas-assign-load-store-layouts", "::mlir::ModuleOp"> {
  let summary = "assign coalesced layouts, vector widths and bounds checks to global accesses";
  let description = [{
    Each global memory access gets the layout in which a warp touches the fewest sectors and the widest vector that
    its alignment allows. Layout conversions connect it to the rest of the program; `tileas-remove-layout-conversions`
    then removes most of them. The number of elements per atomic update depends on the target.
  }];
  let options = [
    Option<"computeCapability", "compute-capability", "std::string", "\"sm_100\"", "target, sm_NN">
  ];
  let dependentDialects = ["nv_tileas"];
}

def TileASRemoveLayoutConversions : Pass<"tileas-remove-layout-conversions", "::mlir::ModuleOp"> {
  let summary = "propagate layouts and remove redundant layout conversions";
  let statistics = [
    Statistic<"numRemoved", "num-removed", "layout conversions removed">,
    Statistic<"numKept", "num-kept", "layout conversions kept">
  ];
  let dependentDialects = ["nv_tileas"];
}

def TileAAHoistViews : Pass<"tileaa-hoist-views", "::mlir::ModuleOp"> {
  let summary = "hoist views out of branches and loops";
  let description = [{
    Moves views, and the ops that compute their operands, to the function's outermost block if they can be computed
    anywhere. A view there gets its tensor map once, before any copy; the map of a view in a loop would be looked up
    again in each iteration. Applies to functions with dots, on targets whose matrix instructions read tiles from
    shared memory.
  }];
  let options = [
    Option<"computeCapability", "compute-capability", "std::string", "\"sm_100\"", "target, sm_NN">
  ];
  let statistics = [
    Statistic<"numHoisted", "num-hoisted", "views hoisted">
  ];
  let dependentDialects = ["nv_tileaa"];
}

def TileAATransposeDots : Pass<"tileaa-transpose-dots", "::mlir::ModuleOp"> {
  let summary = "transpose dots whose right operand warps must compute";
  let description = [{
    Makes a computed right operand the left one, which `tcgen05.mma` reads from tensor memory and `wgmma` from
    registers. The accumulator that a loop carries is transposed too, and transposed back after the loop. Each element
    is the sum of the same products in the same order.
  }];
  let options = [
    Option<"computeCapability", "compute-capability", "std::string", "\"sm_100\"", "target, sm_NN">
  ];
  let statistics = [
    Statistic<"numTransposed", "num-transposed", "dots transposed">
  ];
  let dependentDialects = ["nv_tileaa"];
}

def TileAAPairTileBlocks : Pass<"tileaa-pair-tile-blocks", "::mlir::ModuleOp"> {
  let summary = "run neighbouring tile blocks by pairs of CTAs that share the right operand";
  let description = [{
    Two CTAs of a cluster take tile blocks that are neighbours along a dimension of the grid. Their dots then run
    together, and each CTA loads half of the right operand. If neighbours have the same right operand only mostly, a
    pair takes one step for each tile block where they do not. Applies on targets with `tcgen05.mma` where this is
    predicted to be faster.
  }];
  let options = [
    Option<"computeCapability", "compute-capability", "std::string", "\"sm_100\"", "target, sm_NN">
  ];
  let statistics = [
    Statistic<"numPaired", "num-paired", "functions whose tile blocks run in pairs">
  ];
  let dependentDialects = ["nv_tileaa", "nv_tileas"];
}

def TileAALoopOverTileBlocks : Pass<"tileaa-loop-over-tile-blocks", "::mlir::ModuleOp"> {
  let summary = "run the tile blocks of a large grid by one CTA for each SM";
  let description = [{
    The tile blocks of a kernel run in a loop: the first CTAs of the grid, one for each SM, run all of them, and the
    others end at once. The first tiles of the next tile block then arrive while the results of this one are stored.
    Applies to kernels with independent dots of `wgmma` on targets without cluster launch control, if the loops around
    the dots have the same trip counts in all tile blocks. Where these are not known, a test at run time decides.
  }];
  let options = [
    Option<"computeCapability", "compute-capability", "std::string", "\"sm_100\"", "target, sm_NN">
  ];
  let statistics = [
    Statistic<"numLoops", "num-loops", "functions whose CTAs run several tile blocks">
  ];
  let dependentDialects = ["arith", "nv_tileaa", "nv_tileas", "scf"];
}

def TileAANarrowLoads : Pass<"tileaa-narrow-loads", "::mlir::ModuleOp"> {
  let summary = "load only the extracted elements of a tile";
  let description = [{
    Rewrites a load whose tile is only used by extractions of single elements into one load per element. Fields of
    records, such as the descriptors of a list of arrays, thus become scalar loads, which every agent can repeat.
    Applies to functions with dots, on targets whose matrix instructions read tiles from shared memory.
  }];
  let options = [
    Option<"computeCapability", "compute-capability", "std::string", "\"sm_100\"", "target, sm_NN">
  ];
  let statistics = [
    Statistic<"numNarrowed", "num-narrowed", "elements loaded one by one">
  ];
  let dependentDialects = ["nv_tileaa"];
}

def TileAASplitOverCluster : Pass<"tileaa-split-over-cluster", "::mlir::ModuleOp"> {
  let summary = "split tiles over the CTAs of a cluster";
  let description = [{
    Slices stores, and the tensors that they depend on, along one dimension. Each CTA of the cluster computes the
    slice of its rank, without communication. A function that cannot be sliced does not change; a remark gives the
    reason.

    By default the pass slices functions whose dots are too large for the warpgroups of one CTA, and functions whose
    hint `num_cta_in_cga` requests it if the predicted time is about as good. It does so only for targets with
    warpgroup dots. `num-ctas` overrides the choice.
  }];
  let options = [
    Option<"numCtas", "num-ctas", "int64_t", "0", "CTAs per cluster to split over: 1, 2, 4 or 8; 0 to choose">,
    Option<"computeCapability", "compute-capability", "std::string", "\"sm_100\"", "target, sm_NN">
  ];
  let statistics = [
    Statistic<"numSliced", "num-sliced", "functions split over a cluster">
  ];
  let dependentDialects = ["arith", "nv_tileaa", "scf"];
}

def TileAASliceDots : Pass<"tileaa-slice-dots", "::mlir::ModuleOp"> {
  let summary = "slice loops of dots along K";
  let description = [{
    Rewrites a loop that only accumulates dots of loaded tiles so that it loads thinner tiles in more iterations. It
    does so where too few of the original tiles fit in shared memory for a pipeline of copies, or where tiles that
    cannot be copied asynchronously would take too many registers.
  }];
  let options = [
    Option<"computeCapability", "compute-capability", "std::string", "\"sm_100\"", "target, sm_NN">,
    Option<"extendedSmem", "extended-smem", "bool", "false", "ptxas runs with its extended shared memory limit">
  ];
  let statistics = [
    Statistic<"numSliced", "num-sliced", "loops sliced">
  ];
  let dependentDialects = ["arith", "nv_tileaa", "scf"];
}

def TileAASliceKeys : Pass<"tileaa-slice-keys", "::mlir::ModuleOp"> {
  let summary = "slice the tiles of keys and values in attention";
  let description = [{
    Applies to targets whose dots read fragments in registers, and to loops in which a dot multiplies the result of
    another one by a loaded tile. If shared memory holds too few of the loaded tiles for a ring, loads halves or
    quarters of them, and multiplies these one after another. On targets with TMA, it also loads keys in memory order, so
    that keys and values share a ring.
  }];
  let options = [
    Option<"computeCapability", "compute-capability", "std::string", "\"sm_100\"", "target, sm_NN">,
    Option<"extendedSmem", "extended-smem", "bool", "false", "ptxas runs with its extended shared memory limit">
  ];
  let statistics = [
    Statistic<"numSliced", "num-sliced", "pairs of dots sliced">
  ];
  let dependentDialects = ["arith", "nv_tileaa", "scf"];
}

def TileAASliceEpilogues : Pass<"tileaa-slice-epilogues", "::mlir::ModuleOp"> {
  let summary = "process accumulators in tensor memory in slices of their columns";
  let description = [{
    Applies to functions whose `nv_tileas.dot_plan` has more than one slice. Repeats the code from the accumulators to the
    stores for each slice, so that a thread holds fewer elements at a time.
  }];
  let statistics = [
    Statistic<"numSliced", "num-sliced", "blocks whose code was sliced">
  ];
  let dependentDialects = ["arith", "nv_tileaa"];
}

def TileASDynamicPersistent : Pass<"tileas-dynamic-persistent", "::mlir::ModuleOp"> {
  let summary = "let CTAs take over tile blocks that have not started";
  let description = [{
    Applies to functions that `tileaa-plan-dots` has marked with `nv_tileas.dynamic_persistent`. Runs the program in a
    loop over tile blocks: the first one is the CTA's own, and the hardware gives the others (cluster launch control).
    Loads of the next tile block then overlap with the end of this one.
  }];
  let statistics = [
    Statistic<"numLoops", "num-loops", "functions that take over tile blocks">
  ];
  let dependentDialects = ["arith", "nv_tileaa", "nv_tileas", "scf"];
}

def TileAAOutlineProducers : Pass<"tileaa-outline-producers", "::mlir::ModuleOp"> {
  let summary = "move the computation of dot operands to the producer's warps";
  let description = [{
    Moves the ops that compute an operand into a `nv_tileas.async.pipeline.produce_one`, whose layouts refer to the
    producer's warps. Applies to producer-computed operands, which `tileaa-plan-dots` has marked because TMA cannot
    load them.
  }];
  let statistics = [
    Statistic<"numOutlined", "num-outlined", "operands that producers compute">
  ];
  let dependentDialects = ["nv_tileaa", "nv_tileas"];
}

def TileASPingPong : Pass<"tileas-ping-pong", "::mlir::ModuleOp"> {
  let summary = "ping-pong warpgroups between tensor cores and arithmetic";
  let description = [{
    Applies to loops of agents with several warpgroups that issue their dots together and then compute with the
    accumulators. A warpgroup issues its dots after its predecessor has issued its own, so that one computes while
    another multiplies. If the tensor cores do not bound an iteration, the order would only add waits, and the loop
    does not change unless `when` is `always`.
  }];
  let options = [
    Option<"computeCapability", "compute-capability", "std::string", "\"sm_100\"", "target, sm_NN">,
    Option<"when", "when", "std::string", "\"if-faster\"",
           "always, wherever possible; never; or if-faster, according to the machine model">
  ];
  let statistics = [
    Statistic<"numLoops", "num-loops", "loops with ping-pong">
  ];
  let dependentDialects = ["nv_tileas"];
}

def TileASSeparateWarpgroups : Pass<"tileas-separate-warpgroups", "::mlir::ModuleOp"> {
  let summary = "give each warpgroup of the consumers barriers of its own";
  let description = [{
    Applies to dependent dots in tensor memory whose consumers have several warpgroups, each with the rows of one
    instruction of each dot. Pipelines between the consumers and the agent `matrix` get barriers for each warpgroup, and
    the dots are divided by rows. A warpgroup then does not wait for the others.
  }];
  let statistics = [
    Statistic<"numPipelines", "num-pipelines", "pipelines with barriers for each warpgroup">
  ];
  let dependentDialects = ["nv_tileas"];
}

def TileASIssueAhead : Pass<"tileas-issue-ahead", "::mlir::ModuleOp"> {
  let summary = "issue the first dots of an iteration before the last dots of the previous one";
  let description = [{
    Applies to loops of the agent `matrix` if the plan says `issue_ahead`: the dots before the first operand that
    consumers compute are issued an iteration ahead. The tensor cores then work while consumers compute the operand.

    If the warpgroups of the consumers have barriers of their own, all dots of one warpgroup are issued before the next
    one's, in any plan. Without `issue_ahead` the first dots of the next iteration follow the last ones of this one.
  }];
  let statistics = [
    Statistic<"numLoops", "num-loops", "loops whose first dots are issued ahead">
  ];
  let dependentDialects = ["arith", "nv_tileas", "scf"];
}

def TileASPrefetchTiles : Pass<"tileas-prefetch-tiles", "::mlir::ModuleOp"> {
  let summary = "start loads of agents one iteration ahead";
  let description = [{
    In loops of agents that store a tile to a stage in each iteration, issues the loads of the next tile before the
    current tile is computed. In other loops that wait for stages, issues loads of a few registers for the next
    iteration after the last use of the current values. The loop carries the loaded values. Nothing happens if the agent
    lacks the registers for two sets of them.
  }];
  let statistics = [
    Statistic<"numLoads", "num-loads", "loads issued an iteration ahead">
  ];
  let dependentDialects = ["arith", "nv_tileaa", "nv_tileas", "scf"];
}

def TileAAPlanDots : Pass<"tileaa-plan-dots", "::mlir::ModuleOp"> {
  let summary = "plan warpgroups, stages and registers for kernels with dots";
  let description = [{
    Attaches `nv_tileas.dot_plan`, which later passes follow, to kernels whose dots multiply tiles that TMA can load
    or that producer warps can compute. Does nothing on targets without warpgroup dots. A remark gives the reason for
    a kernel without a plan.

    Marks kernels whose CTAs take over tile blocks with `nv_tileas.dynamic_persistent`, on targets with cluster launch
    control.
  }];
  let options = [
    Option<"computeCapability", "compute-capability", "std::string", "\"sm_100\"", "target, sm_NN">,
    Option<"dynamicPersistent", "dynamic-persistent", "std::string", "\"auto\"",
           "whether CTAs take over tile blocks: auto, true or false">
  ];
  let statistics = [
    Statistic<"numPlanned", "num-planned", "kernels planned">
  ];
  let dependentDialects = ["nv_tileaa", "nv_tileas"];
}

def TileASPrepareForScheduling
    : Pass<"tileas-prepare-for-scheduling", "::mlir::ModuleOp"> {
  let summary = "hoist loop-invariant tensors before scheduling";
  let description = [{
    Hoists tensors that are invariant in a loop with dots or copies, if they cost anything to compute. Kernels with a
    dot plan do not change.
  }];
  let options = [
    Option<"computeCapability", "compute-capability", "std::string", "\"sm_100\"", "target, sm_NN">
  ];
  let statistics = [
    Statistic<"numMoved", "num-moved", "operations hoisted">
  ];
}

def TileASRecomputeForScheduling
    : Pass<"tileas-recompute-for-scheduling", "::mlir::ModuleOp"> {
  let summary = "duplicate nearly free operations for each user";
  let description = [{
    In loops with dots or copies, copies tensor operations that cost next to nothing to each of their users, so that
    their results are live only in the user's stage of the schedule. Kernels with a dot plan do not change.
  }];
  let options = [
    Option<"computeCapability", "compute-capability", "std::string", "\"sm_100\"", "target, sm_NN">
  ];
  let statistics = [
    Statistic<"numCopies", "num-copies", "operations duplicated">
  ];
}

def TileASGenerateScheduleConstraints
    : Pass<"tileas-generate-schedule-constraints", "::mlir::ModuleOp"> {
  let summary = "collect the modulo scheduler's constraints and costs";
  let description = [{
    Numbers the operations of loops that contain dots, or loads that can be copied ahead, and records their costs in
    `ScheduleAnalysis`. Operations with the same `tileas.schedule.constraint.gid` share a stage. An operation with
    `.leader_gid` and `.max_depth` is scheduled at most that many stages after the leader's group. The iterations of a
    loop with `.force_serial_execution` do not overlap. `tileas-materialize-schedule` consumes the analysis; passes in
    between may only erase operations.
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
  let summary = "run the modulo scheduler and rewrite loops as it says";
  let description = [{
    Requires the `ScheduleAnalysis` of `tileas-generate-schedule-constraints`. Loops get `tileas.schedule.interval`
    and `.stages`, their operations `.stage` and `.clock`. If no overlap is found, iterations remain serial. It is an
    error if no interval up to `largest-interval` works.

    A loop without agents is rewritten: loads become copies into rings, which start as many iterations ahead as the
    schedule says, and the other operations are put into its order. In functions with `nv_tileas.dot_plan`, loads only
    get `nv_tileas.ahead`, which `tileas-unspecialized-pipeline` follows. With `simple-stages`, a loop follows its
    schedule only if copies that start that many stages ahead, without a schedule, are predicted to be slower.

    Loops of warpgroup dots are scheduled for agents. A dot moves to the next iteration if the schedule moves it.
    Operations get `tileas.schedule.agent` for `tileas-specialize-agents`, and dots get `nv_tileas.stages`, the depth of
    their ring, for `tileas-materialize-async`. With `simple-stages`, `nv_tileas.stages` is not set: the rings have the
    stages of the plan.

    Loops in their final form are `tileas.schedule.materialized`.
  }];
  let options = [
    Option<"useSingleAgent", "use-single-agent", "bool", "false",
           "do not schedule for agents: loops of warpgroup dots do not change">,
    Option<"extendedSmem", "extended-smem", "bool", "false",
           "use all shared memory that the target offers a CTA">,
    Option<"exhaustive", "exhaustive", "bool", "false", "search for shorter intervals exhaustively, within a bound on the work">,
    Option<"rrtSizeThreshold", "rrt-size-threshold", "int64_t", "4096",
           "rows of a reservation table above which several clocks share a row; 0: no tables">,
    Option<"maxConstraintIterations", "max-constraint-iterations", "int64_t", "10",
           "most reschedulings of a loop whose rings do not fit">,
    Option<"simpleStages", "simple-stages", "int64_t", "0",
           "stages of the rings of a loop without a schedule; 0: schedules always count">,
    Option<"largestInterval", "largest-interval", "int64_t", "0",
           "largest initiation interval to try, in clocks; 0: that of serial iterations">,
    Option<"scheduleTraceFile", "schedule-trace-file", "std::string", "\"\"",
           "output file for the schedules: .html page, .txt text, otherwise a Chrome trace">
  ];
  let statistics = [
    Statistic<"numScheduled", "num-scheduled", "loops scheduled">
  ];
  let dependentDialects = ["nv_tileaa", "nv_tileas"];
}

def TileASPipelineDots : Pass<"tileas-pipeline-dots", "::mlir::ModuleOp"> {
  let summary = "software-pipeline dependent dots";
  let description = [{
    Applies to functions with `nv_tileas.dot_plan`, to loops in which one dot does not depend on loop-carried values
    and a second dot reads registers computed from the first dot's result. The first dot of iteration i+1 is issued
    together with the second dot of iteration i. The prologue, with the first dot of the first iteration, is placed
    before the loop, and the last iteration is peeled after it.
  }];
  let statistics = [
    Statistic<"numPipelined", "num-pipelined", "loops pipelined">
  ];
  let dependentDialects = ["arith", "nv_tileaa", "nv_tileas", "scf"];
}

def TileASMaterializeAsync : Pass<"tileas-materialize-async", "::mlir::ModuleOp"> {
  let summary = "make warpgroup dots and their operand loads asynchronous";
  let description = [{
    Applies to functions with `nv_tileas.dot_plan`. Operands go through a ring of stages in shared memory, filled by
    TMA loads. If the loop carries only the accumulators, each dot is awaited one iteration later. The program remains
    sequential: each iteration fills the stage that it multiplies.

    A ring is as deep as the plan says, or as deep as the schedule requires if all its dots have been scheduled.
  }];
  let statistics = [
    Statistic<"numDots", "num-dots", "dots made asynchronous">
  ];
  let dependentDialects = ["arith", "nv_tileaa", "nv_tileas", "scf"];
}

def TileASSpecializeAgents : Pass<"tileas-specialize-agents", "::mlir::ModuleOp"> {
  let summary = "split off the program that fills pipelines as a producer agent";
  let description = [{
    Moves the code that a single thread runs for a pipeline to a producer agent, together with the loops, branches and
    addresses that it depends on. The rest, including everything that `tileas.schedule.agent` assigns to it, becomes
    the consumer. The agents run concurrently; the pipelines' barriers order them.
  }];
  let statistics = [
    Statistic<"numSpecialized", "num-specialized", "kernels with agents">
  ];
  let dependentDialects = ["arith", "nv_tileaa", "nv_tileas", "scf"];
}

def TileASCheckRegisterBudget : Pass<"tileas-check-register-budget", "::mlir::ModuleOp"> {
  let summary = "prove that setmaxnreg cannot deadlock";
  let description = [{
    Reports an error for agents whose register counts `setmaxnreg` does not accept, and for agents that together
    request more registers than the launch provides: they would wait forever.
  }];
  let options = [
    Option<"computeCapability", "compute-capability", "std::string", "\"sm_100\"", "target, sm_NN">
  ];
  let statistics = [
    Statistic<"numBudgets", "num-budgets", "kernels whose agents request registers">
  ];
}

def TileASLowerTmaLoadStoreToAsync : Pass<"tileas-lower-tma-load-store-to-async", "::mlir::ModuleOp"> {
  let summary = "turn the stores of agents into TMA stores";
  let description = [{
    In agents, a weak store of a tile goes through shared memory, from which one thread copies it while the other
    threads continue. This requires that a tensor map of the view is provably valid, that shared memory for the tile
    is free, and that the store is ordered only with other such stores. Loads become TMA loads earlier, together with
    their dots (`tileas-materialize-async`).
  }];
  let options = [
    Option<"computeCapability", "compute-capability", "std::string", "\"sm_100\"", "target, sm_NN">
  ];
  let statistics = [
    Statistic<"numStores", "num-stores", "stores turned into TMA stores">
  ];
  let dependentDialects = ["nv_tileaa", "nv_tileas"];
}

def TileASAssignDotLayouts : Pass<"tileas-assign-dot-layouts", "::mlir::ModuleOp"> {
  let summary = "assign instructions and layouts to dots";
  let description = [{
    Each dot gets the target's instruction for its types. Warps are arranged over batch, M and N so that the tile of
    each warp is as large and as square as possible. The accumulator is laid out in copies of the instruction's
    fragment, and the operands as the instruction takes them. Operands of a type that no instruction of the target
    multiplies are widened first. With `unit-scales`, 8-bit floats use the instruction with block scales if the target
    has one: all scales are one, and some GPUs run it twice as fast.
  }];
  let options = [
    Option<"computeCapability", "compute-capability", "std::string", "\"sm_100\"", "target, sm_NN">,
    Option<"unitScales", "unit-scales", "bool", "true", "use instructions with block scales for plain dots">
  ];
  let dependentDialects = ["arith", "nv_tileaa", "nv_tileas"];
}

def TileASUnspecializedPipeline : Pass<"tileas-unspecialized-pipeline", "::mlir::ModuleOp"> {
  let summary = "software-pipeline asynchronous copies for loops that feed dots";
  let description = [{
    In a loop, loads whose only purpose is to feed a dot become asynchronous copies into a ring of stages in shared
    memory. With N stages, the copies of an iteration are issued N - 1 iterations ahead, or as far ahead as
    `nv_tileas.ahead` says. `unspecialized-pipeline-num-stages` limits N.

    On targets without an instruction that rounds to tf32, stages whose elements several threads multiply are rounded
    in place, before they are read.
  }];
  let options = [
    Option<"computeCapability", "compute-capability", "std::string", "\"sm_100\"", "target, sm_NN">,
    Option<"extendedSmem", "extended-smem", "bool", "false", "ptxas runs with its extended shared memory limit">,
    Option<"numStages", "unspecialized-pipeline-num-stages", "int64_t", "4", "most stages per ring">
  ];
  let statistics = [
    Statistic<"numLoops", "num-loops", "loops pipelined">,
    Statistic<"numLoads", "num-loads", "loads made asynchronous">
  ];
  let dependentDialects = ["arith", "nv_tileaa", "nv_tileas", "scf"];
}

def TileASDelayLoads : Pass<"tileas-delay-loads", "::mlir::ModuleOp"> {
  let summary = "sink loads to limit register pressure";
  let description = [{
    In a block that holds more loaded tiles than a thread has registers, sinks loads that no token orders until the
    loaded values that still have uses fit in 64 registers, or to their first user.

    If the operands and the accumulator of a dot take more than 128 registers, sinks the reads of its operands past
    changes of layout, whose barriers would keep the reads of all fragments before the first instruction.
  }];
  let statistics = [
    Statistic<"numMoved", "num-moved", "loads sunk">
  ];
  let dependentDialects = ["nv_tileaa", "nv_tileas"];
}

def TileASMaterializeReductions : Pass<"tileas-materialize-reductions", "::mlir::ModuleOp"> {
  let summary = "lower cross-warp reductions and scans to steps within warps";
  let description = [{
    A reduction along a dimension that several warps share keeps one element per warp; a second reduction combines
    these. A scan is split into segments that one warp scans alone; `nv_tileas.carry` adds the totals of earlier
    segments. Warps exchange the partial results through shared memory, with barriers.
  }];
  let statistics = [
    Statistic<"numReductions", "num-reductions", "reductions that cross warps">,
    Statistic<"numScans", "num-scans", "scans split into segments">,
    Statistic<"numConverted", "num-converted", "reductions and scans whose operands were converted to another layout">
  ];
  let dependentDialects = ["nv_tileas"];
}

def TileASMaterializeConvertLayout : Pass<"tileas-materialize-convert-layout", "::mlir::ModuleOp"> {
  let summary = "lower cross-thread layout conversions to shuffles and swizzled shared memory";
  let description = [{
    A conversion that only permutes the registers of each thread does not change. A conversion within warps becomes
    shuffles if few suffice. All others become a store to and a load from shared memory, with barriers.
  }];
  let options = [
    Option<"computeCapability", "compute-capability", "std::string", "\"sm_100\"", "target, sm_NN">
  ];
  let dependentDialects = ["nv_tileas"];
}

def TileASOrderMemory : Pass<"tileas-order-memory", "::mlir::ModuleOp"> {
  let summary = "insert barriers between token-ordered accesses that may conflict";
  let statistics = [
    Statistic<"numBarriers", "num-barriers", "barriers inserted for tokens">,
    Statistic<"numWalks", "num-walks", "traversals of loop bodies">
  ];
  let dependentDialects = ["nv_tileas"];
}

def TileASOptimizeAllocTensor : Pass<"tileas-optimize-alloc-tensor", "::mlir::ModuleOp"> {
  let summary = "assign shared memory offsets by liveness";
  let dependentDialects = ["nv_tileas"];
}

def TileASSlicing : Pass<"tileas-slicing", "::mlir::ModuleOp"> {
  let summary = "slice scans and dots of tiles that exceed the registers";
  let description = [{
    A tensor that gives a thread more elements than it has registers is processed in chunks
    (`tileas-materialize-register-loops`). The chunks of scans and dots depend on each other, so this pass rewrites
    these ops first, as loops over slices: `extract_slice`, the op on slices, and `insert_slice` into a loop-carried
    result.
  }];
  let statistics = [
    Statistic<"numScans", "num-scans", "scans turned into loops">,
    Statistic<"numDots", "num-dots", "dots turned into loops">
  ];
  let dependentDialects = ["arith", "nv_tileas", "scf", "ub"];
}

def TileASCheckSynchronization : Pass<"tileas-check-synchronization", "::mlir::ModuleOp"> {
  let summary = "prove that barriers separate conflicting accesses of shared memory";
  let description = [{
    A conflict is a pair of accesses to the same byte by different threads, at least one of them a write, that is not
    separated by a barrier on some path. Each conflict is an error at the later access, with a note at the earlier
    one. Shared memory must have its offsets (`tileas-optimize-alloc-tensor`).

    With `remove-redundant-barriers`, barriers that only guard the reuse of storage are removed if the proof succeeds
    without them.
  }];
  let options = [
    Option<"removeRedundant", "remove-redundant-barriers", "bool", "false",
           "remove barriers that guard the reuse of storage if the proof succeeds without them">
  ];
  let statistics = [
    Statistic<"numAccesses", "num-accesses", "accesses of shared memory checked">,
    Statistic<"numRemoved", "num-removed", "barriers removed">,
    Statistic<"numFacts", "num-facts", "facts propagated through the flow graph">
  ];
  let dependentDialects = ["nv_tileas"];
}

def TileASMaterializeRegisterLoops : Pass<"tileas-materialize-register-loops", "::mlir::ModuleOp"> {
  let summary = "process tensors that exceed the registers in loops over chunks";
  let description = [{
    Ops on a tensor that gives a thread more elements than it should hold in registers move into a
    `nv_tileas.register_loop`, whose body processes a few registers at a time. Values that outlive such a loop are
    stored in a `register_array` in local memory; cheap values are recomputed in every loop. `tileas-slicing` has
    already rewritten the ops that cannot be processed in chunks.
  }];
  let statistics = [
    Statistic<"numLoops", "num-loops", "loops over chunks">,
    Statistic<"numArrays", "num-arrays", "arrays in local memory">
  ];
  let dependentDialects = ["nv_tileas", "scf"];
}

def TileASClampIndices : Pass<"tileas-clamp-indices", "::mlir::ModuleOp"> {
  let summary = "clamp tile indices that may be negative to a tile outside the view";
  let description = [{
    Bounds checks compute with 32 bits, so a negative index could wrap around into the view. An index that is not known
    to be nonnegative becomes `minui(index, extent / step + 1)` in the dimensions that are tested.
  }];
  let statistics = [
    Statistic<"numClamped", "num-clamped", "indices clamped">
  ];
  let dependentDialects = ["nv_tileas", "arith"];
}

def TileASHoistScalars : Pass<"tileas-hoist-scalars", "::mlir::ModuleOp"> {
  let summary = "state scalars, promises and views once per kernel";
  let description = [{
    Each agent's program begins with its own copies of constants, promises and views, none of which generate code. This
    pass folds arithmetic on constants, moves such ops out of agents, loops and branches, merges equal ones, and merges
    the promises about each value. Promises in branches remain there. The generated code does not change.
  }];
  let statistics = [
    Statistic<"numOps", "num-ops", "ops removed">
  ];
  let dependentDialects = ["nv_tileaa", "nv_tileas", "arith"];
}

def TileASKeepAddressesInLoops : Pass<"tileas-keep-addresses-in-loops", "::mlir::ModuleOp"> {
  let summary = "keep address arithmetic inside loops with dots";
  let description = [{
    LLVM would hoist every loop-invariant address, and loops with dots lack the registers to hold them. The outermost
    loop around each dot gets `nv_tileas.addresses_in_loop`; `convert-tileas-to-llvm` then hides the addresses of
    accesses in it from LLVM.
  }];
  let statistics = [
    Statistic<"numLoops", "num-loops", "loops marked">
  ];
  let dependentDialects = ["nv_tileas", "scf"];
}

def TileASSkipRescale : Pass<"tileas-skip-rescale", "::mlir::ModuleOp"> {
  let summary = "skip the rescale of accumulators when all factors are one";
  let description = [{
    Applies to functions with `nv_tileas.dot_plan`. Marks multiplications in loops by `exp(a - max(a, b))`, the factor
    by which a running maximum has grown, if a thread uses one factor for many elements. Marked ops get
    `nv_tileas.often_one`: `convert-tileas-to-llvm` emits a branch that skips them when all factors of a warp are one.
  }];
  let statistics = [
    Statistic<"numSkipped", "num-skipped", "multiplications marked">
  ];
  let dependentDialects = ["arith", "nv_tileaa", "nv_tileas"];
}

def TileASChooseRegisterForms : Pass<"tileas-choose-register-forms", "::mlir::ModuleOp"> {
  let summary = "choose the form in which threads hold and access values";
  let description = [{
    Sets attributes that `convert-tileas-to-llvm` follows. Loops and branches carry the values numbered in
    `nv_tileas.words` and `nv_tileas.packed` as words of 32 bits: accumulators and left operands of dots, and loaded
    bytes. Values numbered in `nv_tileas.pinned` of a loop or a wait for dots are copied to registers of their own, so
    that LLVM does not copy accumulators in flight. In functions with more than 256 checked accesses of tiles, each is
    `nv_tileas.checked_only`. Roundings for a branch are `nv_tileas.in_pairs`. Casts of eight or more registers to an
    8-bit float are `nv_tileas.tested_once`.
  }];
  let statistics = [
    Statistic<"numCarried", "num-carried", "values that loops and branches carry in words">
  ];
  let dependentDialects = ["arith", "nv_tileaa", "nv_tileas", "scf"];
}

def ConvertTileASToLLVM : Pass<"convert-tileas-to-llvm", "::mlir::ModuleOp"> {
  let summary = "convert nv_tileas to the LLVM dialect, one thread's program";
  let description = [{
    A tensor becomes one SSA value per element that the thread holds. Structured control flow becomes branches.
    Barriers and groups of asynchronous copies, which involve the whole CTA and no registers, are left to
    `convert-tileas-to-nvgpu`.
  }];
  let options = [
    Option<"computeCapability", "compute-capability", "std::string", "\"sm_100\"", "target, sm_NN">,
    Option<"indexBitwidth", "index-bitwidth", "int64_t", "0",
           "bits of address arithmetic, 32 or 64; 0: 32 where offsets provably fit, else 64">
  ];
  let dependentDialects = ["llvm", "nv_tileas", "nvvm"];
}

def TileIRSinkSharedLoads : Pass<"tileir-sink-shared-loads", "::mlir::ModuleOp"> {
  let summary = "sink shared memory reads to their first user";
  let description = [{
    `convert-tileas-to-llvm` reads whole dot operands before the first matrix instruction. In functions with
    `nv_tileas.multiplies`, this pass sinks reads of shared memory, and ops that depend only on them, to their users,
    so that a thread holds few of the values at a time.
  }];
  let statistics = [
    Statistic<"numMoved", "num-moved", "ops sunk">
  ];
  let dependentDialects = ["llvm"];
}

def ConvertTileASToNVGPU : Pass<"convert-tileas-to-nvgpu", "::mlir::ModuleOp"> {
  let summary = "convert barriers and groups of asynchronous copies to NVVM and NVGPU";
  let description = [{
    Converts the ops that `convert-tileas-to-llvm` leaves, which have no registers: barriers, and the ops that commit
    and await groups of asynchronous copies. They become `nvvm.barrier0`, `nvgpu.device_async_create_group` and
    `nvgpu.device_async_wait`.
  }];
  let statistics = [
    Statistic<"numBarriers", "num-barriers", "barriers lowered">,
    Statistic<"numGroups", "num-groups", "groups of copies lowered">,
    Statistic<"numWaits", "num-waits", "waits lowered">
  ];
  let dependentDialects = ["llvm", "nvgpu", "nvvm"];
}

def ConvertTargetToNVVM : Pass<"convert-target-to-nvvm", "::mlir::ModuleOp"> {
  let summary = "attach the NVVM target to every gpu.module";
  let options = [
    Option<"computeCapability", "compute-capability", "std::string", "\"sm_100\"", "target, sm_NN">,
    Option<"optLevel", "opt-level", "int64_t", "2", "code generation level, 0 to 3">
  ];
  let dependentDialects = ["gpu", "nvvm"];
}

def TileIRInsertDebugScope : Pass<"tileir-insert-debug-scope", "::mlir::ModuleOp"> {
  let summary = "add debug scopes to kernels and locations to their ops";
  let description = [{
    Kernels without an LLVM subprogram get one, built from the `cuda_tile` debug information, or else from the symbol
    and location of the kernel. Ops without a file location get the kernel's. Scopes with emission kind `None` only
    serve diagnostics and do not reach the output.
  }];
  let options = [
    Option<"emissionKind", "emission-kind", "std::string", "\"None\"",
           "LLVM emission kind of the new scopes: None, LineTablesOnly, DebugDirectivesOnly or Full">
  ];
  let statistics = [
    Statistic<"numScopes", "num-scopes", "functions given a scope">,
    Statistic<"numPlaces", "num-places", "ops given the location of their function">
  ];
  let dependentDialects = ["llvm"];
}

def TileIRPrintSnapshot : Pass<"tileir-print-snapshot", "::mlir::ModuleOp"> {
  let summary = "print the program with the location of each op";
  let description = [{
    Prints to standard error and changes nothing, to follow a source line through the compiler. `emit-line-info` adds
    it to the pipeline.
  }];
  let options = [
    Option<"name", "name", "std::string", "\"\"", "the name of the snapshot, for the headline">
  ];
}

def TileIREmitHostWrapper : Pass<"tileir-emit-host-wrapper", "::mlir::ModuleOp"> {
  let summary = "emit a host module with a launch function per kernel";
  let description = [{
    For `gpu.module @m`, creates a module `@m_host` with a function `k_launch(kernel, x, y, z, stream, arguments...)`
    for each kernel `k`. It packs the arguments and calls `cuLaunchKernel` with a grid of `x * y * z` CTAs of the
    kernel's size. The pass needs the number of warps, and so runs after `convert-tileaa-to-tileas`.
  }];
  let options = [
    Option<"hostTriple", "host-triple", "std::string", "\"\"", "target triple of the host; empty for the native one">,
    Option<"dumpHost", "dump-host", "std::string", "\"\"", "file to write the wrapper to as well, as LLVM IR">
  ];
  let statistics = [
    Statistic<"numWrappers", "num-wrappers", "kernels given a wrapper">
  ];
  let dependentDialects = ["llvm"];
}

def TileIRVerifyOpsAnalysis : Pass<"tileir-verify-ops-analysis", "::mlir::ModuleOp"> {
  let summary = "check that the target can run each kernel";
  let description = [{
    Reports an error for ops of the tile dialects that no pass has lowered, for kernels with more threads or more
    shared memory than the target allows, and for parameters that do not fit.
  }];
  let options = [
    Option<"computeCapability", "compute-capability", "std::string", "\"sm_100\"", "target, sm_NN">,
    Option<"extendedSmem", "extended-smem", "bool", "false", "ptxas runs with its extended shared memory limit">
  ];
  let statistics = [
    Statistic<"numOps", "num-ops", "ops checked">
  ];
}

def TileIRGpuModulePrepare : Pass<"tileir-gpu-module-prepare", "::mlir::ModuleOp"> {
  let summary = "attach launch bounds to kernels as NVVM attributes";
  let description = [{
    `nv_tileas.num_warps` becomes `nvvm.reqntid`; `nv_tileas.multiplies`, on kernels with dots, becomes
    `nvvm.minctasm`. Functions that are not kernels become internal.
  }];
  let statistics = [
    Statistic<"numKernels", "num-kernels", "kernels prepared">,
    Statistic<"numInternal", "num-internal", "functions made internal">
  ];
  let dependentDialects = ["llvm", "nvvm"];
}

def TileIRPostNvvmFinalize : Pass<"tileir-post-nvvm-finalize", "::mlir::ModuleOp"> {
  let summary = "remove unused symbols and check that the rest is translatable";
  let description = [{
    Removes internal data and declarations without users, and attributes of the tile dialects. Reports an error for
    ops without a translation to LLVM IR, and for functions that are called but neither defined in the module or the
    device library nor supplied by the driver.
  }];
  let statistics = [
    Statistic<"numRemoved", "num-removed", "symbols removed">
  ];
}

#endif
