//! Dots that depend on each other on sm_100: accumulators and computed left operands in tensor memory. The programs are
//! those of `product_chains`, whose numbers are exact, so results are compared bit by bit.
//!
//! Each program runs with the ordinary schedule and with adversarial schedules and race detection.

use crate::product_chains::{CHAIN, Chain, Query};
use tile_interface::{DebugInfo, Emit};
use tile_interp::types::Number;
use tile_targets::Target;
use tile_test_support::{Trial, cubin, exact, functions, golden, sass};

/// The rows of an instruction that uses all lanes of tensor memory.
const ROWS: Chain = Chain { m: 128, ..CHAIN };

impl Chain {
    /// Two loops over the keys, of which the second one starts with the results of the first one.
    fn two_loops(&self, second: &str) -> String {
        let carried = ["%f#0", "%f#1", "%f#2"];
        self.queries("%x")
            + &self.looped("f", "%zero to %n, step %one", ["%top0", "%weight0", "%total0"], &self.step("f", "%j"))
            + &self.looped("g", second, carried, &self.step("g", "%j"))
            + &self.store("%g#1", "%g#2", "%x")
    }

    /// A loop over tiles: two of the first tile block, and none of the others.
    fn tile_after_tile(&self) -> String {
        format!(
            "%first = cmpi equal %x, %zero, signed : tile<i32> -> tile<i1>\n\
             %end = select %first, %two, %zero : tile<i1>, tile<i32>\n\
             for %tile in (%zero to %end, step %one) : tile<i32> {{\n{}continue\n}}\n",
            self.usual("%tile")
        )
    }

    fn in_tensor_memory(&self, body: &str) {
        exact::check_in_tensor_memory(&self.program(body), [2, 1, 1], self.parameters());
    }

    /// By the remainder of a seed divided by four, requests for the next tile block are granted or refused.
    fn taken_over(&self, body: &str) {
        let seeds = [None, Some(1), Some(2), Some(3), Some(4), Some(6)];
        let launch = ([self.blocks as u32, 1, 1], self.parameters());
        let names = ["clusterlaunchcontrol.try_cancel", "tcgen05.mma", "cp.async.bulk.tensor.2d.global"];
        exact::check_on(&seeds, "sm_100", &self.program(body), launch, &[], &names);
    }
}

/// The first iteration does not scale the results, and a loop that does not run leaves them at zero.
fn loops_of_any_count() {
    for (m, trips) in [(128, 0), (128, 1), (128, 2), (128, 3), (128, 4), (64, 0), (64, 3)] {
        let chain = Chain { m, trips, ..ROWS };
        chain.in_tensor_memory(&chain.usual("%x"));
    }
}

fn tiles_of_other_extents() {
    for (m, n, d, w) in [
        (128, 128, 128, 128),
        (128, 64, 128, 128),
        (128, 32, 64, 16),
        (128, 16, 16, 32),
        (128, 64, 32, 256),
        (256, 64, 64, 64),
        (256, 16, 32, 128),
        (64, 64, 64, 64),
        (64, 128, 128, 128),
        (64, 16, 16, 32),
        (64, 32, 64, 256),
    ] {
        let chain = Chain { m, n, d, w, trips: 2, ..CHAIN };
        chain.in_tensor_memory(&chain.usual("%x"));
    }
}

/// Weights take half of the columns of the scores, or a quarter.
fn other_types() {
    for (element, n, d) in
        [(Number::Bf16, 64, 64), (Number::E4m3, 64, 64), (Number::E5m2, 32, 128), (Number::E4m3, 128, 128)]
    {
        for (m, values_as_columns) in [(128, false), (128, true), (64, false), (64, true)] {
            let chain = Chain { m, element, n, d, values_as_columns, ..ROWS };
            chain.in_tensor_memory(&chain.usual("%x"));
        }
    }
}

/// Queries that are computed, and keys and values that are columns in memory.
fn other_operands() {
    for (query, keys_as_columns, values_as_columns) in
        [(Query::Computed, false, false), (Query::Loaded, true, false), (Query::Computed, true, true)]
    {
        let chain = Chain { query, keys_as_columns, values_as_columns, ..ROWS };
        chain.in_tensor_memory(&chain.usual("%x"));
    }
}

/// The second loop starts with the results of the first one.
fn two_loops() {
    for trips in [0, 1, 3] {
        let chain = Chain { trips, ..ROWS };
        chain.in_tensor_memory(&chain.two_loops("%one to %n, step %one"));
    }
}

/// New queries are stored after the dots of the previous tile have read theirs.
fn tile_after_tile() {
    for trips in [0, 1, 3] {
        let chain = Chain { trips, ..ROWS };
        chain.in_tensor_memory(&chain.tile_after_tile());
    }
}

/// Tiles of 256 rows: two warpgroups of consumers with barriers of their own, whose dots are issued in turn.
fn separate_warpgroups() {
    let rows = Chain { m: 256, element: Number::Bf16, n: 64, d: 64, w: 128, trips: 2, ..CHAIN };
    for (n, d, w, trips) in [
        (64, 128, 128, 0),
        (64, 128, 128, 1),
        (64, 128, 128, 3),
        (128, 128, 128, 0),
        (128, 128, 128, 1),
        (128, 128, 128, 2),
        (128, 64, 64, 2),
        (32, 64, 128, 2),
    ] {
        let chain = Chain { n, d, w, trips, ..rows };
        let body = chain.usual("%x");
        assert!(is_separate(&chain, &body), "256x{n}x{d}");
        chain.in_tensor_memory(&body);
    }
    rows.in_tensor_memory(&rows.two_loops("%one to %n, step %one"));
    let once = Chain { trips: 1, ..rows };
    once.in_tensor_memory(&once.tile_after_tile());
    let steps = rows.looped("f", "%zero to %n, step %two", ["%top0", "%weight0", "%total0"], &rows.step("f", "%j"));
    rows.in_tensor_memory(&(rows.queries("%x") + &steps + &rows.store("%f#1", "%f#2", "%x")));
    let bytes = Chain { element: Number::E4m3, values_as_columns: true, n: 128, ..rows };
    assert!(is_separate(&bytes, &bytes.usual("%x")));
    bytes.in_tensor_memory(&bytes.usual("%x"));
    // Consumers store these queries together.
    let computed = Chain { query: Query::Computed, ..rows };
    computed.in_tensor_memory(&computed.usual("%x"));
}

/// CTAs take over tile blocks. Results are stored in slices of columns while the next tile block begins, and its
/// queries are loaded after the last scores of this one.
fn taken_over() {
    let narrow = Chain { result: Number::F16, blocks: 3, ..ROWS };
    for (n, d, w, trips) in
        [(64, 128, 128, 0), (64, 128, 128, 1), (64, 128, 128, 3), (128, 128, 128, 2), (64, 64, 64, 3)]
    {
        let chain = Chain { n, d, w, trips, ..narrow };
        chain.taken_over(&chain.usual("%x"));
    }
    let columns = Chain { keys_as_columns: true, values_as_columns: true, result: Number::Bf16, ..narrow };
    columns.taken_over(&columns.usual("%x"));
    narrow.taken_over(&narrow.two_loops("%zero to %two, step %one"));
    // Two warpgroups of consumers.
    for (n, d, w, trips) in [(64, 128, 128, 0), (64, 128, 128, 1), (64, 128, 128, 2), (128, 128, 128, 1)] {
        let chain = Chain { m: 256, element: Number::Bf16, result: Number::Bf16, n, d, w, trips, ..narrow };
        let body = chain.usual("%x");
        assert!(is_separate(&chain, &body), "256x{n}x{d}");
        chain.taken_over(&body);
    }
}

/// Whether each warpgroup of consumers has barriers of its own for scores, weights and results.
fn is_separate(chain: &Chain, body: &str) -> bool {
    let plan = exact::compiled_for("sm_100", &chain.program(body), 3, Emit::TileAs, &[]);
    plan.matches("warpgroups 2").count() == 3
}

fn steps() {
    let chain = ROWS;
    for bounds in ["%one to %n, step %two", "%zero to %n, step %two", "%n to %two, step %n"] {
        let body = chain.queries("%x")
            + &chain.looped("f", bounds, ["%top0", "%weight0", "%total0"], &chain.step("f", "%j"))
            + &chain.store("%f#1", "%f#2", "%x");
        chain.in_tensor_memory(&body);
    }
}

/// Factors are powers of two, and one where no maximum of a warp's rows increases.
fn rows_that_are_left_alone() {
    for (m, trips) in [(128, 1), (128, 4), (64, 4)] {
        let chain = Chain { m, trips, ..ROWS };
        let column = chain.column();
        let usual = chain.usual("%x");
        let body = usual.replace(
            &format!("%shrinkf = maxf %leftf, %halff : {column}"),
            &format!("%shrinkf = exp2 %grownf : {column}"),
        );
        assert_ne!(body, usual);
        chain.in_tensor_memory(&body);
    }
}

/// All scores of some rows, or of all rows, are infinitely small.
fn masked_rows() {
    for key in [0, 1, 100] {
        let chain = ROWS;
        let (m, n) = (chain.m, chain.n);
        let (ints, scores) = (format!("tile<{m}x{n}xi32>"), format!("tile<{m}x{n}xf32>"));
        let mask = format!(
            "%row = iota : tile<{m}xi32>\n%row_column = reshape %row : tile<{m}xi32> -> tile<{m}x1xi32>\n\
             %rows = broadcast %row_column : tile<{m}x1xi32> -> {ints}\n\
             %least = constant <i32: {key}> : {ints}\n\
             %counts = cmpi less_than %rows, %least, signed : {ints} -> tile<{m}x{n}xi1>\n\
             %far = constant <f32: 0xFF800000> : {scores}\n\
             %sf = select %counts, %s_allf, %far : tile<{m}x{n}xi1>, {scores}\n%maxrf = reduce"
        );
        let usual = chain.usual("%x");
        let body = usual.replace("%sf = mmaf", "%s_allf = mmaf").replace("%maxrf = reduce", &mask);
        assert_ne!(body, usual);
        chain.in_tensor_memory(&body);
    }
}

/// Loops that do more with the results than to multiply rows: registers hold them, and each dot starts at zero.
fn results_in_registers() {
    let chain = ROWS;
    let sums = chain.sums();
    let bounds = "%zero to %n, step %one";
    let early = format!("%seen = addf %total, %total : {sums}\n")
        + &chain.scores("f", "%j")
        + &chain.softmax("f")
        + &chain.values("f", "%j", "%seen");
    let body = chain.queries("%x")
        + &chain.looped("f", bounds, ["%top0", "%weight0", "%total0"], &early)
        + &chain.store("%f#1", "%f#2", "%x");
    chain.in_tensor_memory(&body);
    let used = chain.step("f", "%j") + &format!("%twice = addf %total_nextf, %total_nextf : {sums}\n");
    let looped = chain
        .looped("f", bounds, ["%top0", "%weight0", "%total0"], &used)
        .replace("%weight_nextf, %total_nextf", "%weight_nextf, %twice");
    chain.in_tensor_memory(&(chain.queries("%x") + &looped + &chain.store("%f#1", "%f#2", "%x")));
}

/// Keys that TMA can load only if their address is aligned: four warps of the producer load them otherwise.
fn keys_of_any_alignment() {
    let chain = ROWS;
    let aligned = chain.program(&chain.usual("%x"));
    let program = aligned.replace("%pb = assume div_by<16>, %b :", "%pb = assume div_by<2>, %b :");
    assert_ne!(program, aligned);
    exact::check_in_tensor_memory(&program, [2, 1, 1], chain.parameters());
}

/// Some tile blocks end early, after their queries have been computed.
fn early_end() {
    let chain = Chain { query: Query::Computed, ..ROWS };
    let queries = chain.queries("%x");
    let end = "%late = cmpi greater_than %x, %zero, signed : tile<i32> -> tile<i1>\nif %late {\nreturn\n}\n";
    let body = chain.usual("%x").replace(&queries, &(queries.clone() + end));
    chain.in_tensor_memory(&body);
}

/// Three dots, each of which reads the result of the one before.
fn three_dots() {
    for trips in [1, 3] {
        let chain = Chain { trips, ..ROWS };
        let (m, n, e, sums) = (chain.m, chain.n, chain.element.keyword(), chain.sums());
        let (tile, values) = (format!("tile<{m}x{n}x{e}>"), format!("tile<{n}x{n}x{e}>"));
        let third = format!(
            "%zeros = constant <f32: 0.0> : {sums}\n\
             %mid = mmaf %pf, %vf, %zeros : {tile}, {values}, {sums}\n\
             %high = constant <f32: 8.0> : {sums}\n%low = constant <f32: -8.0> : {sums}\n\
             %below_high = minf %mid, %high : {sums}\n%within = maxf %below_high, %low : {sums}\n\
             %u = ftof %within : {sums} -> {tile}\n\
             %v2, %vk2 = load_view_tko weak %vvf[%zero, %zero] : partition_view<tile=({n}x{n}), \
             tensor_view<{all}x{n}x{e}, strides=[{n},1]>>, tile<i32> -> {values}, token\n\
             %total_nextf = mmaf %u, %v2, %keptf : {tile}, {values}, {sums}\n",
            all = 4 * n
        );
        let usual = chain.usual("%x");
        let second = format!("%total_nextf = mmaf %pf, %vf, %keptf : {tile}, {values}, {sums}\n");
        let body = usual.replace(&second, &third);
        assert_ne!(body, usual);
        chain.in_tensor_memory(&body);
    }
}

//===-- machine code --------------------------------------------------------===//

/// Checks attention on sm_100: two CTAs per SM, or one with tiles of 256 rows, nothing spills, and the loop of the
/// consumers neither synchronizes the CTA nor carries an accumulator. One thread issues the dots of both products.
fn is_lean(chain: &Chain, program: &str, test: &str) {
    let &Chain { m, n, d, .. } = chain;
    // Tiles of more rows have one CTA per SM, and two warpgroups of consumers.
    let (columns_of_cta, memory_of_cta) = if m > 128 { (512, WHOLE_SM) } else { (256, HALF_OF_SM) };
    let bits = if chain.element == Number::Bf16 { 16 } else { 8 };
    let target = Target::by_name("sm_100").expect("a target");
    let plan = exact::compiled_for("sm_100", program, 3, Emit::TileAs, &[]);
    assert!(plan.contains("whole_rows = true"), "{m}x{n}x{d} has no plan\n{plan}");
    let columns = plan.split("tmem_allocate").nth(1).and_then(|rest| rest.split("columns ").nth(1)?.split(' ').next());
    assert!(
        columns.is_some_and(|c| c.parse::<u32>().is_ok_and(|c| c <= columns_of_cta)),
        "{columns:?} columns of tensor memory"
    );
    let ptx = exact::compiled_for("sm_100", program, 3, Emit::Ptx, &[]);
    assert_eq!(ptx.contains("clusterlaunchcontrol"), chain.result == Number::Bf16, "taking over of {m}x{n}x{d}");
    let shared = ptx.split("__tileir_shared[").nth(1).and_then(|rest| rest.split(']').next()?.parse().ok());
    assert!(
        shared.is_some_and(|bytes: u32| bytes <= memory_of_cta),
        "{shared:?} bytes of shared memory in {m}x{n}x{d}"
    );
    let cubin = cubin::assemble(&ptx, target, 3, DebugInfo::None).unwrap_or_else(|e| panic!("{e}"));
    assert!(cubin.resources.iter().all(|k| k.spill_stores + k.spill_loads == 0), "{m}x{n}x{d} spills");
    let code = sass::disassemble(&cubin, &format!("tensor-chain-{test}-{m}-{n}-{d}")).unwrap_or_else(|e| panic!("{e}"));
    let body = sass::innermost(&code, "MUFU.EX2").expect("a loop with exponentials");
    let count = |body: &[sass::Instruction], of: &str| body.iter().filter(|i| i.opcode.starts_with(of)).count();
    // The scores, and the results where they are scaled, which a warp skips if all of its factors are one.
    assert_eq!(count(body, "LDTM"), n / 32 + d / 16, "reads of tensor memory in {m}x{n}x{d}");
    let never = ["BAR", "LDG", "STG", "LDL", "STL", "LDS", "STS", "SHFL", "HMMA"];
    let other = body.iter().find(|i| never.iter().any(|of| i.opcode.starts_with(of)));
    assert!(other.is_none(), "{} in the loop of {m}x{n}x{d}", other.map_or("", |i| &i.opcode));
    let dots = sass::innermost(&code, "MMA").expect("a loop with dots");
    let products = dots.iter().filter(|i| i.opcode.starts_with("UTC") && i.opcode.contains("MMA")).count();
    // The completion of each dot empties a stage, and that of the first one also fills the scores. If these are issued
    // ahead, the last dot also empties the memory of the weights, and the loop may contain the first dot twice: LLVM
    // sometimes peels the first iteration.
    let ahead = usize::from(plan.contains("issue_ahead = true"));
    let commits = count(dots, "UTCBAR");
    // With several warpgroups, each announces its scores and releases its weights.
    let groups = m / 128;
    let agrees = |firsts: usize| {
        let steps = groups * (n + firsts * d) * bits / 256;
        products * (firsts * (groups + 1) + 1 + ahead * groups) == commits * steps
    };
    let most = if groups > 1 { 2 } else { 1 + ahead };
    assert!((1..=most).any(agrees), "{products} products and {commits} commits in {m}x{n}x{d}");
    let row = format!("tensor_chains::{test}/{m}x{n}x{d}");
    golden::gate(&row, body.len()).unwrap_or_else(|e| panic!("{e}"));
}

/// The shared memory of each of two CTAs of an SM, and of one alone.
const HALF_OF_SM: u32 = 228 * 1024 / 2 - 1024;
const WHOLE_SM: u32 = 227 * 1024;

fn attention_has_few_instructions() {
    for (m, n, d) in [(128, 128, 128), (128, 64, 128), (128, 128, 64)] {
        let chain = Chain { element: Number::Bf16, m, n, d, w: d, ..CHAIN };
        let all = chain.attention("f", "%zero to %n, step %one", ["%top0", "%weight0", "%total0"], "");
        let program = chain.program(&(chain.queries("%x") + &all + &chain.store("%f#1", "%f#2", "%x")));
        is_lean(&chain, &program, "attention_has_few_instructions");
    }
}

/// CTAs take over tile blocks if results have 16 bits.
fn taken_over_attention_has_few_instructions() {
    for (m, n, d) in [(128, 128, 128), (128, 64, 128), (128, 128, 64), (256, 128, 128), (256, 64, 128), (256, 128, 64)]
    {
        let chain = Chain { element: Number::Bf16, result: Number::Bf16, m, n, d, w: d, ..CHAIN };
        let all = chain.attention("f", "%zero to %n, step %one", ["%top0", "%weight0", "%total0"], "");
        let program = chain.program(&(chain.queries("%x") + &all + &chain.store("%f#1", "%f#2", "%x")));
        is_lean(&chain, &program, "taken_over_attention_has_few_instructions");
    }
}

/// The masked blocks have the memory of the blocks before them.
fn causal_attention_has_few_instructions() {
    for (m, n, d) in [(128, 128, 128), (128, 64, 128), (128, 128, 64)] {
        let chain = Chain { element: Number::Bf16, m, n, d, w: d, ..CHAIN };
        let body = chain.causal();
        is_lean(&chain, &chain.program(&body), "causal_attention_has_few_instructions");
    }
}

fn attention_of_eight_bits_has_few_instructions() {
    let (m, n, d) = (128, 128, 128);
    let chain = Chain { element: Number::E4m3, m, n, d, w: d, values_as_columns: true, ..CHAIN };
    let all = chain.attention("f", "%zero to %n, step %one", ["%top0", "%weight0", "%total0"], "");
    let program = chain.program(&(chain.queries("%x") + &all + &chain.store("%f#1", "%f#2", "%x")));
    is_lean(&chain, &program, "attention_of_eight_bits_has_few_instructions");
}

pub fn trials() -> Vec<Trial> {
    functions![
        loops_of_any_count,
        tiles_of_other_extents,
        other_types,
        other_operands,
        two_loops,
        tile_after_tile,
        separate_warpgroups,
        taken_over,
        steps,
        rows_that_are_left_alone,
        masked_rows,
        results_in_registers,
        keys_of_any_alignment,
        early_end,
        three_dots,
        attention_has_few_instructions,
        taken_over_attention_has_few_instructions,
        causal_attention_has_few_instructions,
        attention_of_eight_bits_has_few_instructions
    ]
}
