//! Dots of warpgroups on sm_90 that depend on each other: attention with a softmax whose numbers are exact, so
//! results can be compared bit by bit.
//!
//! Scores are whole numbers, weights are from 1 to 8, and the previous total is halved if a row's maximum increases.

use exact::{Numbers, check_with, compiled, compiled_for, compiled_with, scalar};
use tile_fuzz::case::Parameter;
use tile_interface::{DebugInfo, Emit};
use tile_interp::types::Number;
use tile_targets::Target;
use tile_test_support::{Trial, cubin, exact, functions, golden, sass};

/// How the queries are obtained.
#[derive(Clone, Copy, PartialEq)]
pub enum Query {
    Loaded,
    /// Two times the loaded tile.
    Computed,
}

#[derive(Clone, Copy)]
pub struct Chain {
    pub element: Number,
    /// Rows of queries, keys per block, depth of both, and columns of values.
    pub m: usize,
    pub n: usize,
    pub d: usize,
    pub w: usize,
    /// The number of blocks of keys.
    pub trips: usize,
    pub query: Query,
    /// Whether the keys are columns in memory.
    pub keys_as_columns: bool,
    /// Whether the values of a key are a column in memory.
    pub values_as_columns: bool,
    /// The type of the stored results.
    pub result: Number,
    /// The number of tile blocks.
    pub blocks: usize,
}

pub const CHAIN: Chain = Chain {
    element: Number::F16,
    m: 64,
    n: 64,
    d: 64,
    w: 64,
    trips: 3,
    query: Query::Loaded,
    keys_as_columns: false,
    values_as_columns: false,
    result: Number::F32,
    blocks: 2,
};

impl Chain {
    pub fn sums(&self) -> String {
        format!("tile<{}x{}xf32>", self.m, self.w)
    }

    /// The type with one number per row.
    pub fn column(&self) -> String {
        format!("tile<{}x1xf32>", self.m)
    }

    /// Loads `%q`, the queries in row `i` of tiles.
    pub fn queries(&self, i: &str) -> String {
        let (m, d, e) = (self.m, self.d, self.element.keyword());
        let view = format!("partition_view<tile=({m}x{d}), tensor_view<{}x{d}x{e}, strides=[{d},1]>>", self.blocks * m);
        let raw = if self.query == Query::Loaded { "q" } else { "q_raw" };
        let mut text = format!(
            "%qv = make_partition_view %qt : {view}\n\
             %{raw}, %qk = load_view_tko weak %qv[{i}, %zero] : {view}, tile<i32> -> tile<{m}x{d}x{e}>, token\n"
        );
        if self.query == Query::Computed {
            text += &format!("%q = addf %q_raw, %q_raw : tile<{m}x{d}x{e}>\n");
        }
        text
    }

    /// `%s{suffix}`, the scores of block `j` of keys.
    pub fn scores(&self, suffix: &str, j: &str) -> String {
        let (m, n, d, e, all) = (self.m, self.n, self.d, self.element.keyword(), self.n * 4);
        let load = if self.keys_as_columns {
            let view = format!("partition_view<tile=({d}x{n}), tensor_view<{d}x{all}x{e}, strides=[{all},1]>>");
            format!(
                "%kv{suffix} = make_partition_view %kt : {view}\n\
                 %k{suffix}, %kk{suffix} = load_view_tko weak %kv{suffix}[%zero, {j}] : {view}, tile<i32> -> \
                 tile<{d}x{n}x{e}>, token\n"
            )
        } else {
            let view = format!("partition_view<tile=({n}x{d}), tensor_view<{all}x{d}x{e}, strides=[{d},1]>>");
            format!(
                "%kv{suffix} = make_partition_view %kt : {view}\n\
                 %kr{suffix}, %kk{suffix} = load_view_tko weak %kv{suffix}[{j}, %zero] : {view}, tile<i32> -> \
                 tile<{n}x{d}x{e}>, token\n\
                 %k{suffix} = permute %kr{suffix} [1, 0] : tile<{n}x{d}x{e}> -> tile<{d}x{n}x{e}>\n"
            )
        };
        format!(
            "{load}%s0{suffix} = constant <f32: 0.0> : tile<{m}x{n}xf32>\n\
             %s{suffix} = mmaf %q, %k{suffix}, %s0{suffix} : tile<{m}x{d}x{e}>, tile<{d}x{n}x{e}>, tile<{m}x{n}xf32>\n"
        )
    }

    /// Computes, from the scores and the carried values (`%top`, `%weight`), the next carried values, the weights
    /// `%p`, and `%shrink`.
    pub fn softmax(&self, suffix: &str) -> String {
        let (m, n, e, column) = (self.m, self.n, self.element.keyword(), self.column());
        let scores = format!("tile<{m}x{n}xf32>");
        let reduce = |name: &str, of: &str, identity: &str, op: &str| {
            format!(
                "%{name}r{suffix} = reduce %{of}{suffix} dim=1 identities=[{identity} : f32] : {scores} -> \
                 tile<{m}xf32> (%e0: tile<f32>, %e1: tile<f32>) {{\n %e = {op} %e0, %e1 : tile<f32>\n yield %e : tile<f32>\n}}\n\
                 %{name}{suffix} = reshape %{name}r{suffix} : tile<{m}xf32> -> {column}\n"
            )
        };
        let constant =
            |name: &str, value: &str, of: &str| format!("%{name}{suffix} = constant <f32: {value}> : {of}\n");
        reduce("max", "s", "0xFF800000", "maxf")
            + &format!(
                "%top_next{suffix} = maxf %top, %max{suffix} : {column}\n\
                 %top_all{suffix} = broadcast %top_next{suffix} : {column} -> {scores}\n\
                 %below{suffix} = subf %s{suffix}, %top_all{suffix} : {scores}\n"
            )
            + &constant("least", "-7.0", &scores)
            + &constant("eight", "8.0", &scores)
            + &constant("half", "0.5", &column)
            + &constant("whole", "1.0", &column)
            + &format!(
                "%cut{suffix} = maxf %below{suffix}, %least{suffix} : {scores}\n\
                 %w{suffix} = addf %cut{suffix}, %eight{suffix} : {scores}\n\
                 %p{suffix} = ftof %w{suffix} : {scores} -> tile<{m}x{n}x{e}>\n\
                 %grown{suffix} = subf %top, %top_next{suffix} : {column}\n\
                 %left{suffix} = addf %grown{suffix}, %whole{suffix} : {column}\n\
                 %shrink{suffix} = maxf %left{suffix}, %half{suffix} : {column}\n"
            )
            + &reduce("sum", "w", "0.0", "addf")
            + &format!(
                "%old{suffix} = mulf %weight, %shrink{suffix} : {column}\n\
                 %weight_next{suffix} = addf %old{suffix}, %sum{suffix} : {column}\n"
            )
    }

    /// `%total_next`: the scaled previous total plus the weights times block `j` of values.
    pub fn values(&self, suffix: &str, j: &str, total: &str) -> String {
        let (m, n, w, e, all, sums) = (self.m, self.n, self.w, self.element.keyword(), self.n * 4, self.sums());
        let view = if self.values_as_columns {
            format!("partition_view<tile=({w}x{n}), tensor_view<{w}x{all}x{e}, strides=[{all},1]>>")
        } else {
            format!("partition_view<tile=({n}x{w}), tensor_view<{all}x{w}x{e}, strides=[{w},1]>>")
        };
        let load = if self.values_as_columns {
            format!(
                "%vr{suffix}, %vk{suffix} = load_view_tko weak %vv{suffix}[%zero, {j}] : {view}, tile<i32> -> \
                 tile<{w}x{n}x{e}>, token\n\
                 %v{suffix} = permute %vr{suffix} [1, 0] : tile<{w}x{n}x{e}> -> tile<{n}x{w}x{e}>\n"
            )
        } else {
            format!(
                "%v{suffix}, %vk{suffix} = load_view_tko weak %vv{suffix}[{j}, %zero] : {view}, tile<i32> -> \
                 tile<{n}x{w}x{e}>, token\n"
            )
        };
        format!(
            "%vv{suffix} = make_partition_view %vt : {view}\n\
             {load}%shrink_all{suffix} = broadcast %shrink{suffix} : {} -> {sums}\n\
             %kept{suffix} = mulf {total}, %shrink_all{suffix} : {sums}\n\
             %total_next{suffix} = mmaf %p{suffix}, %v{suffix}, %kept{suffix} : tile<{m}x{n}x{e}>, tile<{n}x{w}x{e}>, {sums}\n",
            self.column()
        )
    }

    pub fn step(&self, suffix: &str, j: &str) -> String {
        self.scores(suffix, j) + &self.softmax(suffix) + &self.values(suffix, j, "%total")
    }

    /// A loop over blocks of keys that carries the values in `from`. Its results are `%name#0` to `%name#2`.
    pub fn looped(&self, name: &str, bounds: &str, from: [&str; 3], body: &str) -> String {
        let types = format!("{c}, {c}, {}", self.sums(), c = self.column());
        let [top, weight, total] = from;
        format!(
            "%{name}:3 = for %j in ({bounds}) : tile<i32> iter_values(%top = {top}, %weight = {weight}, %total = {total}) \
             -> ({types}) {{\n{body}continue %top_next{name}, %weight_next{name}, %total_next{name} : {types}\n}}\n"
        )
    }

    pub fn usual(&self, i: &str) -> String {
        self.queries(i)
            + &self.looped("f", "%zero to %n, step %one", ["%top0", "%weight0", "%total0"], &self.step("f", "%j"))
            + &self.store("%f#1", "%f#2", i)
    }

    /// Stores total plus weight as row `i` of tiles.
    pub fn store(&self, weight: &str, total: &str, i: &str) -> String {
        let (m, w, sums, e) = (self.m, self.w, self.sums(), self.result.keyword());
        let view = format!("partition_view<tile=({m}x{w}), tensor_view<{}x{w}x{e}, strides=[{w},1]>>", self.blocks * m);
        let stored = format!("tile<{m}x{w}x{e}>");
        let (out, rounded) = match self.result {
            Number::F32 => ("%out", String::new()),
            _ => ("%rounded", format!("%rounded = ftof %out : {sums} -> {stored}\n")),
        };
        format!(
            "%weight_all = broadcast {weight} : {} -> {sums}\n%out = addf {total}, %weight_all : {sums}\n{rounded}\
             %ov = make_partition_view %ot : {view}\n\
             %ok = store_view_tko weak {out}, %ov[{i}, %zero] : {stored}, {view}, tile<i32> -> token\n",
            self.column()
        )
    }

    pub fn program(&self, body: &str) -> String {
        let (m, n, d, w, e) = (self.blocks * self.m, 4 * self.n, self.d, self.w, self.element.keyword());
        let result = self.result.keyword();
        let (rows, columns) = if self.keys_as_columns { (d, n) } else { (n, d) };
        let view = |name: &str, of: &str, rows: usize, columns: usize, e: &str| {
            format!(
                "%p{of} = assume div_by<16>, %{of} : tile<ptr<{e}>>\n\
                 %{name} = make_tensor_view %p{of}, shape = [{rows}, {columns}], strides = [{columns}, 1] : \
                 tensor_view<{rows}x{columns}x{e}, strides=[{columns},1]>\n"
            )
        };
        let (lines, each) = if self.values_as_columns { (w, n) } else { (n, w) };
        let views = view("qt", "a", m, d, e)
            + &view("kt", "b", rows, columns, e)
            + &view("vt", "c", lines, each, e)
            + &view("ot", "o", m, w, result);
        let (column, sums) = (self.column(), self.sums());
        format!(
            "cuda_tile.module @m {{\nentry @k(%a: tile<ptr<{e}>>, %b: tile<ptr<{e}>>, %c: tile<ptr<{e}>>, \
             %o: tile<ptr<{result}>>, %n: tile<i32>, %flag: tile<i32>) {{\n\
             %zero = constant <i32: 0> : tile<i32>\n%one = constant <i32: 1> : tile<i32>\n\
             %two = constant <i32: 2> : tile<i32>\n%x, %y, %z = get_tile_block_id : tile<i32>\n\
             %top0 = constant <f32: -1000.0> : {column}\n%weight0 = constant <f32: 0.0> : {column}\n\
             %total0 = constant <f32: 0.0> : {sums}\n{views}{body}return\n}}\n}}\n"
        )
    }

    pub fn parameters(&self) -> Vec<Parameter> {
        let mut numbers = Numbers::default();
        let mut buffer = |count: usize, n: Number| numbers.buffer(count, n, 2, 1.0);
        vec![
            buffer(self.blocks * self.m * self.d, self.element),
            buffer(4 * self.n * self.d, self.element),
            buffer(4 * self.n * self.w, self.element),
            buffer(self.blocks * self.m * self.w, self.result),
            scalar(self.trips as u64),
            scalar(1),
        ]
    }

    fn by_warpgroups(&self, body: &str) {
        exact::check(&self.program(body), [2, 1, 1], self.parameters(), true);
    }

    fn by_warps(&self, body: &str) {
        exact::check(&self.program(body), [2, 1, 1], self.parameters(), false);
    }

    /// Runs the program for sm_120, where TMA must load all operands, also the queries if no op computes them.
    fn staged(&self, body: &str) {
        let program = self.program(body);
        exact::check_from_stages(&program, [2, 1, 1], self.parameters());
        let text = compiled_for("sm_120", &program, 3, Emit::TileAs, &[]);
        let is_loaded = text.contains("nv_tileas.tiled_load ");
        assert_eq!(is_loaded, self.query == Query::Computed, "loads of the queries by warps\n{text}");
    }

    fn tileas(&self, body: &str) -> String {
        compiled(&self.program(body), 3, Emit::TileAs)
    }
}

//===-- shapes and types ----------------------------------------------------===//

fn loops_of_any_count() {
    for trips in [0, 1, 2, 4] {
        let chain = Chain { trips, ..CHAIN };
        chain.by_warpgroups(&chain.usual("%x"));
    }
}

fn tiles_of_other_extents() {
    for (m, n, d, w) in
        [(128, 64, 64, 64), (128, 128, 64, 64), (64, 32, 128, 64), (128, 16, 16, 32), (64, 128, 32, 128)]
    {
        let chain = Chain { m, n, d, w, trips: 2, ..CHAIN };
        chain.by_warpgroups(&chain.usual("%x"));
    }
}

fn other_halves() {
    let chain = Chain { element: Number::Bf16, m: 128, ..CHAIN };
    chain.by_warpgroups(&chain.usual("%x"));
}

/// Shuffles convert weights to 8-bit fragments. The accumulators of the second dot are promoted, and so are those of
/// the first dot if the tensor cores would accumulate over too many elements. Values, and keys that are columns, are
/// transposed in their stages.
fn floats_of_eight_bits() {
    for (element, m, d, keys_as_columns) in [
        (Number::E4m3, 64, 64, false),
        (Number::E4m3, 128, 128, false),
        (Number::E5m2, 64, 64, true),
        (Number::E5m2, 64, 256, false),
    ] {
        let chain = Chain { element, m, d, keys_as_columns, ..CHAIN };
        let body = chain.usual("%x");
        let text = chain.tileas(&body);
        assert_eq!(text.matches("promoted_dot").count() > text.matches("async.dot ").count(), d > 128, "{text}");
        chain.by_warpgroups(&body);
    }
}

/// If there are not enough registers for temporary sums in addition to an accumulator of 128 columns, instructions of
/// 64 columns are used. Between a softmax and its dot, four weights are packed in a register, and no code accesses
/// its bytes one by one.
fn floats_of_eight_bits_in_large_tiles() {
    let chain = Chain { element: Number::E4m3, m: 128, n: 128, d: 128, w: 128, trips: 2, ..CHAIN };
    chain.by_warpgroups(&chain.usual("%x"));
    let chain = Chain { values_as_columns: true, ..chain };
    let body = chain.usual("%x");
    let text = chain.tileas(&body);
    assert!(text.contains("by <warpgroup, [64, 64, 32]>"), "{text}");
    chain.by_warpgroups(&body);
    let ptx = compiled(&chain.program(&body), 3, Emit::Ptx);
    let target = Target::by_name("sm_90").expect("a target");
    let cubin = cubin::assemble(&ptx, target, 3, DebugInfo::None).unwrap_or_else(|e| panic!("{e}"));
    assert!(cubin.resources.iter().all(|k| k.spill_stores + k.spill_loads == 0), "it spills");
    let code = sass::disassemble(&cubin, "chain-of-eight-bits").unwrap_or_else(|e| panic!("{e}"));
    let loop_body = sass::innermost(&code, "GMMA").expect("a loop with products");
    let count = |of: &str| loop_body.iter().filter(|i| i.opcode.starts_with(of)).count();
    let (exchanged, bytes) = (count("SHFL"), count("PRMT") + count("LOP3"));
    assert!(exchanged <= 24 && bytes <= 96, "{exchanged} shuffles, {bytes} instructions on bytes");
}

/// Keys that are columns, and queries that are computed.
fn other_operands() {
    for keys_as_columns in [false, true] {
        let chain = Chain { keys_as_columns, query: Query::Computed, ..CHAIN };
        chain.by_warpgroups(&chain.usual("%x"));
    }
}

/// If the rows do not fit into the registers of two warpgroups, single-warp instructions are used.
fn too_many_registers() {
    let chain = Chain { m: 128, n: 256, w: 256, trips: 1, ..CHAIN };
    chain.by_warps(&chain.usual("%x"));
}

//===-- control flow --------------------------------------------------------===//

/// On sm_120 the queries pass through the ring of keys and values, or through a stage of their own.
fn loaded_to_stages() {
    for (m, n, d, w) in [(64, 64, 64, 64), (128, 64, 64, 64), (128, 64, 128, 128), (64, 32, 128, 64)] {
        let chain = Chain { m, n, d, w, trips: 2, ..CHAIN };
        chain.staged(&chain.usual("%x"));
    }
    for trips in [0, 1, 4] {
        let chain = Chain { m: 128, trips, ..CHAIN };
        chain.staged(&chain.usual("%x"));
    }
    for chain in [Chain { query: Query::Computed, ..CHAIN }, Chain { keys_as_columns: true, ..CHAIN }] {
        chain.staged(&chain.usual("%x"));
    }
}

/// Several loops read the queries, or each of several tiles has its own.
fn loaded_to_stages_again() {
    for chain in [CHAIN, Chain { m: 128, trips: 1, ..CHAIN }] {
        let carried = ["%f#0", "%f#1", "%f#2"];
        let body = chain.queries("%x")
            + &chain.looped("f", "%zero to %n, step %one", ["%top0", "%weight0", "%total0"], &chain.step("f", "%j"))
            + &chain.looped("g", "%zero to %two, step %one", carried, &chain.step("g", "%j"))
            + &chain.store("%g#1", "%g#2", "%x");
        chain.staged(&body);
        chain.staged(&format!(
            "%first = cmpi equal %x, %zero, signed : tile<i32> -> tile<i1>\n\
             %end = select %first, %two, %zero : tile<i1>, tile<i32>\n\
             for %tile in (%zero to %end, step %one) : tile<i32> {{\n{}continue\n}}\n",
            chain.usual("%tile")
        ));
    }
}

/// Two consecutive loops that share rings, as when only some blocks are masked.
fn two_loops() {
    for trips in [0, 1, 3] {
        let chain = Chain { trips, ..CHAIN };
        let carried = ["%f#0", "%f#1", "%f#2"];
        let body = chain.queries("%x")
            + &chain.looped("f", "%zero to %n, step %one", ["%top0", "%weight0", "%total0"], &chain.step("f", "%j"))
            + &chain.looped("g", "%zero to %two, step %one", carried, &chain.step("g", "%j"))
            + &chain.store("%g#1", "%g#2", "%x");
        chain.by_warpgroups(&body);
        let text = chain.tileas(&body);
        assert_eq!(text.matches("create_pipeline").count(), 1, "keys and values of one shape share a ring\n{text}");
    }
}

/// Agents whose loops are scheduled: rings have as many stages as the schedules need, and the schedule of one agent
/// does not change results.
fn scheduled_loops() {
    let run = |chain: Chain, body: &str| {
        let program = chain.program(body);
        let ptx = |level: &str| compiled_with(&program, 3, Emit::Ptx, &[("v2-opt-level", level)]);
        let (planned, single, scheduled, searched) = (ptx("0"), ptx("1"), ptx("2"), ptx("3"));
        assert_eq!(planned, single);
        // Rings have the plan's stages at all levels, so only another order would change the code.
        for ptx in [scheduled, searched] {
            exact::check_changed(&program, [2, 1, 1], chain.parameters(), true, |_| ptx.clone());
        }
    };
    for trips in [0, 1, 4] {
        let chain = Chain { trips, ..CHAIN };
        run(chain, &chain.usual("%x"));
    }
    // Two warpgroups; keys and values of different shapes, which have their own rings; and two loops that share a
    // ring.
    let chain = Chain { m: 128, w: 128, ..CHAIN };
    run(chain, &chain.usual("%x"));
    let chain = CHAIN;
    let carried = ["%f#0", "%f#1", "%f#2"];
    let body = chain.queries("%x")
        + &chain.looped("f", "%zero to %n, step %one", ["%top0", "%weight0", "%total0"], &chain.step("f", "%j"))
        + &chain.looped("g", "%zero to %two, step %one", carried, &chain.step("g", "%j"))
        + &chain.store("%g#1", "%g#2", "%x");
    run(chain, &body);
}

/// Tile after tile: new queries are stored after all warps have read the previous ones.
fn tile_after_tile() {
    for trips in [0, 1, 2] {
        let chain = Chain { trips, ..CHAIN };
        chain.by_warpgroups(&format!(
            "%first = cmpi equal %x, %zero, signed : tile<i32> -> tile<i1>\n\
             %end = select %first, %two, %zero : tile<i1>, tile<i32>\n\
             for %tile in (%zero to %end, step %one) : tile<i32> {{\n{}continue\n}}\n",
            chain.usual("%tile")
        ));
    }
}

/// The queries of the next tile arrive while the results of this one are stored, both by TMA.
fn queries_of_the_next_tile() {
    for (m, trips) in [(64, 0), (64, 1), (64, 3), (128, 2)] {
        let chain = Chain { m, trips, result: Number::F16, blocks: 3, ..CHAIN };
        let body = format!(
            "%all = constant <i32: 3> : tile<i32>\n\
             for %tile in (%x to %all, step %one) : tile<i32> {{\n{}continue\n}}\n",
            chain.usual("%tile")
        );
        let program = chain.program(&body);
        let plan = compiled(&program, 3, Emit::TileAs);
        assert!(plan.contains("] : <2xi64> -> <1>"), "no stage for queries\n{plan}");
        let launch = ([1, 1, 1], chain.parameters());
        check_with("sm_90", &program, launch, &[], &["wgmma", "cp.async.bulk.tensor.2d.global"]);
    }
}

/// Steps other than one, and upper bounds that are not reached exactly.
fn steps() {
    let chain = CHAIN;
    let loop_of = |bounds: &str| {
        chain.queries("%x")
            + &chain.looped("f", bounds, ["%top0", "%weight0", "%total0"], &chain.step("f", "%j"))
            + &chain.store("%f#1", "%f#2", "%x")
    };
    chain.by_warpgroups(&loop_of("%one to %n, step %two"));
    chain.by_warpgroups(&loop_of("%zero to %n, step %two"));
    chain.by_warpgroups(&loop_of("%n to %two, step %n"));
}

/// Accumulators are scaled by powers of two. If no maximum of a warp's rows increases, the factors are one and the
/// scaling is skipped.
fn sums_that_are_left_alone() {
    for trips in [1, 4] {
        let chain = Chain { m: 128, trips, ..CHAIN };
        let column = chain.column();
        let usual = chain.usual("%x");
        let body = usual.replace(
            &format!("%shrinkf = maxf %leftf, %halff : {column}"),
            &format!("%shrinkf = exp2 %grownf : {column}"),
        );
        assert_ne!(body, usual);
        assert!(chain.tileas(&body).contains("nv_tileas.often_one"));
        chain.by_warpgroups(&body);
    }
}

/// Two dots that do not use each other's result, and a total that an iteration uses before its scores: these loops
/// are not pipelined, but use warpgroups.
fn loops_that_stay() {
    let chain = CHAIN;
    let sums = chain.sums();
    let early = format!("%seen = addf %total, %total : {sums}\n")
        + &chain.scores("f", "%j")
        + &chain.softmax("f")
        + &chain.values("f", "%j", "%seen");
    let body = chain.queries("%x")
        + &chain.looped("f", "%zero to %n, step %one", ["%top0", "%weight0", "%total0"], &early)
        + &chain.store("%f#1", "%f#2", "%x");
    // The addition can also come after the scores, because its operand is complete by then.
    chain.by_warpgroups(&body);
    let used = chain.step("f", "%j") + &format!("%twice = addf %total_nextf, %total_nextf : {sums}\n");
    let looped = chain
        .looped("f", "%zero to %n, step %one", ["%top0", "%weight0", "%total0"], &used)
        .replace("%weight_nextf, %total_nextf", "%weight_nextf, %twice");
    chain.by_warpgroups(&(chain.queries("%x") + &looped + &chain.store("%f#1", "%f#2", "%x")));
}

//===-- machine code --------------------------------------------------------===//

/// Checks the loop of a chain: the dots of one block are in flight during the softmax of another, nothing spills, and
/// ptxas keeps the dots asynchronous (a warning about them would be an error).
fn stays_under_way((m, n, d): (usize, usize, usize), program: &str, test: &str) {
    let ptx = compiled(program, 3, Emit::Ptx);
    let target = Target::by_name("sm_90").expect("a target");
    let cubin = cubin::assemble(&ptx, target, 3, DebugInfo::None).unwrap_or_else(|e| panic!("{e}"));
    assert!(cubin.resources.iter().all(|k| k.spill_stores + k.spill_loads == 0), "{m}x{n}x{d} spills");
    let code = sass::disassemble(&cubin, &format!("chain-{test}-{m}-{n}-{d}")).unwrap_or_else(|e| panic!("{e}"));
    let body = sass::innermost(&code, "GMMA").expect("a loop with products");
    let waits: Vec<usize> = (0..body.len()).filter(|&i| body[i].opcode.contains("DEPBAR")).collect();
    let [first, second] = waits[..] else { panic!("{} waits for products in {m}x{n}x{d}", waits.len()) };
    let computed = (first..second).filter(|&i| body[i].opcode.starts_with("FMNMX")).count();
    assert!(computed >= m * n / 256, "{computed} maxima between the waits of {m}x{n}x{d}");
    // Warpgroups can be ping-ponged: one barrier to wait at and one to arrive at, with the dots between them.
    let barriers = body.iter().filter(|i| i.opcode.starts_with("BAR")).map(|i| i.opcode.as_str()).collect::<Vec<_>>();
    let turns = matches!(barriers[..], [sync, arrive] if sync.starts_with("BAR.SYNC") && arrive.starts_with("BAR.ARV"));
    assert!(barriers.is_empty() || turns, "{barriers:?} in the loop of {m}x{n}x{d}");
    let never = ["LDG", "LDL", "STL", "LDS", "STS"];
    let other = body.iter().find(|i| never.iter().any(|of| i.opcode.starts_with(of)));
    assert!(other.is_none(), "{} in the loop of {m}x{n}x{d}", other.map_or("", |i| &i.opcode));
    let row = format!("product_chains::{test}/{m}x{n}x{d}");
    golden::gate(&row, body.len() - barriers.len()).unwrap_or_else(|e| panic!("{e}"));
}

fn products_stay_under_way() {
    for (m, n, d) in [(128, 128, 128), (128, 64, 128), (128, 128, 64)] {
        let chain = Chain { element: Number::Bf16, m, n, d, w: d, ..CHAIN };
        stays_under_way((m, n, d), &chain.program(&chain.usual("%x")), "products_stay_under_way");
    }
}

impl Chain {
    /// A loop over blocks of keys as front ends write attention: weights are powers of two of the difference between
    /// the scaled scores and their maximum. If `mask` is not empty, it computes `%s{suffix}` from `%s_all{suffix}`.
    pub fn attention(&self, suffix: &str, bounds: &str, from: [&str; 3], mask: &str) -> String {
        let (column, scores) = (self.column(), format!("tile<{}x{}xf32>", self.m, self.n));
        let mut step = self.step(suffix, "%j");
        let mut replace = |simple: String, real: String| {
            assert!(step.contains(&simple), "{simple}");
            step = step.replace(&simple, &real);
        };
        replace(
            format!("%top_next{suffix} = maxf %top, %max{suffix} : {column}"),
            format!(
                "%scale{suffix} = constant <f32: 0.125> : {column}\n\
                 %scaled{suffix} = mulf %max{suffix}, %scale{suffix} : {column}\n\
                 %top_next{suffix} = maxf %top, %scaled{suffix} : {column}"
            ),
        );
        replace(
            format!("%below{suffix} = subf %s{suffix}, %top_all{suffix} : {scores}"),
            format!(
                "%low{suffix} = negf %top_all{suffix} : {scores}\n\
                 %factor{suffix} = constant <f32: 0.125> : {scores}\n\
                 %below{suffix} = fma %s{suffix}, %factor{suffix}, %low{suffix} : {scores}"
            ),
        );
        replace(
            format!("%w{suffix} = addf %cut{suffix}, %eight{suffix} : {scores}"),
            format!("%w{suffix} = exp2 %below{suffix} flush_to_zero : {scores}"),
        );
        replace(
            format!("%shrink{suffix} = maxf %left{suffix}, %half{suffix} : {column}"),
            format!("%shrink{suffix} = exp2 %grown{suffix} flush_to_zero : {column}"),
        );
        if !mask.is_empty() {
            replace(format!("%s{suffix} = mmaf"), format!("%s_all{suffix} = mmaf"));
            let maximum = format!("%maxr{suffix} = reduce");
            replace(maximum.clone(), format!("{mask}{maximum}"));
        }
        self.looped(suffix, bounds, from, &step)
    }
}

impl Chain {
    /// Attention whose blocks below the diagonal come first and are not masked.
    pub fn causal(&self) -> String {
        let (m, n) = (self.m, self.n);
        let below = self.attention("f", "%zero to %edge, step %one", ["%top0", "%weight0", "%total0"], "");
        let masked = self.attention("g", "%edge to %n, step %one", ["%f#0", "%f#1", "%f#2"], &causal_mask(m, n));
        let edge = format!(
            "%high = constant <i32: {m}> : tile<i32>\n%wide = constant <i32: {n}> : tile<i32>\n\
             %above = muli %x, %high : tile<i32>\n\
             %edge = divi %above, %wide signed rounding<zero> : tile<i32>\n"
        );
        self.queries("%x") + &edge + &below + &masked + &self.store("%g#1", "%g#2", "%x")
    }
}

fn attention_has_few_instructions() {
    for (m, n, d, stages) in [(128, 128, 128, 6), (128, 64, 128, 8), (128, 128, 64, 8)] {
        let chain = Chain { element: Number::Bf16, m, n, d, w: d, ..CHAIN };
        let all = chain.attention("f", "%zero to %n, step %one", ["%top0", "%weight0", "%total0"], "");
        let program = chain.program(&(chain.queries("%x") + &all + &chain.store("%f#1", "%f#2", "%x")));
        // The number of stages is even, so the last stage is always used by keys or always by values.
        let plan = compiled(&program, 3, Emit::TileAs);
        assert!(plan.contains(&format!("-> <{stages}>")), "no ring of {stages} stages\n{plan}");
        stays_under_way((m, n, d), &program, "attention_has_few_instructions");
    }
}

fn causal_attention_has_few_instructions() {
    for (m, n, d) in [(128, 128, 128), (128, 64, 128), (128, 128, 64)] {
        let chain = Chain { element: Number::Bf16, m, n, d, w: d, ..CHAIN };
        let body = chain.causal();
        stays_under_way((m, n, d), &chain.program(&body), "causal_attention_has_few_instructions");
    }
}

/// The scores of keys after the row's position are far below all others.
fn causal_mask(m: usize, n: usize) -> String {
    let (ints, scores) = (format!("tile<{m}x{n}xi32>"), format!("tile<{m}x{n}xf32>"));
    format!(
        "%row_in = iota : tile<{m}xi32>\n%row_from0 = reshape %above : tile<i32> -> tile<1xi32>\n\
         %row_from = broadcast %row_from0 : tile<1xi32> -> tile<{m}xi32>\n\
         %row = addi %row_in, %row_from : tile<{m}xi32>\n\
         %row_column = reshape %row : tile<{m}xi32> -> tile<{m}x1xi32>\n\
         %rows = broadcast %row_column : tile<{m}x1xi32> -> {ints}\n\
         %key_in = iota : tile<{n}xi32>\n%before = muli %j, %wide : tile<i32>\n\
         %key_from0 = reshape %before : tile<i32> -> tile<1xi32>\n\
         %key_from = broadcast %key_from0 : tile<1xi32> -> tile<{n}xi32>\n\
         %key = addi %key_in, %key_from : tile<{n}xi32>\n\
         %key_row = reshape %key : tile<{n}xi32> -> tile<1x{n}xi32>\n\
         %keys = broadcast %key_row : tile<1x{n}xi32> -> {ints}\n\
         %counts = cmpi greater_than_or_equal %rows, %keys, signed : {ints} -> tile<{m}x{n}xi1>\n\
         %far = constant <f32: -1.0e30> : {scores}\n\
         %sg = select %counts, %s_allg, %far : tile<{m}x{n}xi1>, {scores}\n"
    )
}

pub fn trials() -> Vec<Trial> {
    functions![
        loops_of_any_count,
        tiles_of_other_extents,
        other_halves,
        floats_of_eight_bits,
        floats_of_eight_bits_in_large_tiles,
        other_operands,
        too_many_registers,
        loaded_to_stages,
        loaded_to_stages_again,
        two_loops,
        scheduled_loops,
        tile_after_tile,
        queries_of_the_next_tile,
        steps,
        sums_that_are_left_alone,
        loops_that_stay,
        products_stay_under_way,
        attention_has_few_instructions,
        causal_attention_has_few_instructions
    ]
}
