//! Dots of tiles of views on sm_90: cases where warpgroups use `wgmma` on tiles that TMA loads, and cases where they
//! must not. The programs are compiled from the public language and run on the simulator, and the results are
//! compared with the reference interpreter.
//!
//! Operands are small whole numbers, so sums are exact in any order. Each program runs with the ordinary schedule and
//! with adversarial schedules and race detection.

use product_kind::{HALVES, Kind, RAGGED};
use tile_interface::Emit;
use tile_interp::types::Number;
use tile_test_support::{Trial, exact, functions, product_kind};

//===-- shapes and types ----------------------------------------------------===//

fn loops_of_any_count() {
    for trips in [0, 1, 2, 9] {
        let kind = Kind { trips, ..RAGGED };
        kind.multiplied_by_warpgroups(&kind.usual());
    }
}

fn either_order_in_memory() {
    for turned in [[true, false], [false, true], [true, true]] {
        let kind = Kind { turned, ..RAGGED };
        kind.multiplied_by_warpgroups(&kind.usual());
    }
}

fn other_halves() {
    let bf16 = Kind { element: Number::Bf16, ..RAGGED };
    bf16.multiplied_by_warpgroups(&bf16.usual());
    let halves = Kind { sum: Number::F16, ..RAGGED };
    halves.multiplied_by_warpgroups(&halves.usual());
}

fn tiles_of_other_extents() {
    for (m, n, k) in [(64, 8, 16), (128, 16, 32), (64, 256, 16), (128, 64, 128)] {
        let kind = Kind { m, n, k, trips: 2, ..HALVES };
        kind.multiplied_by_warpgroups(&kind.usual());
    }
}

/// Batched matrices, one for each tile block. A batch dimension of 1 makes no difference.
fn batches_of_one() {
    for turned in [[false, false], [true, true]] {
        let kind = Kind { batched: true, turned, ..RAGGED };
        kind.multiplied_by_warpgroups(&kind.usual());
    }
    let rounded = Kind { element: Number::F32, rounded: true, k: 32, outside: [5, 3, 8], ..RAGGED };
    let bytes = Kind { element: Number::I8, sum: Number::I32, mode: "signed signed", ..RAGGED };
    for kind in [rounded, bytes, Kind { computed: true, ..RAGGED }] {
        let kind = Kind { batched: true, ..kind };
        kind.multiplied_by_warpgroups(&kind.usual());
    }
    // Values that are computed from the accumulators have the dimension too.
    let kind = Kind { batched: true, ..RAGGED };
    let carried = kind.product("sum", "%x", "%k", "%acc") + &kind.relu("next", "%sum");
    kind.multiplied_by_warpgroups(&(kind.looped("all", "%init", &carried) + &kind.store("%all", "%x")));
}

/// Loops that are known to be short: two CTAs share the registers of an SM.
fn short_loops_share_an_sm() {
    for trips in [1, 3, 7] {
        let kind = Kind { m: 128, n: 128, trips, ..RAGGED };
        let usual = kind.usual().replacen("to %n", "to %many", 1);
        let body = format!("%many = constant <i32: {trips}> : tile<i32>\n{usual}");
        let launch = ([2, 1, 1], kind.parameters(kind.sum));
        // Otherwise one CTA for each SM loops over tile blocks.
        let options = [("dynamic-persistent", "false")];
        let names = ["wgmma.mma_async", ".reqntid 256", ".maxnreg 128"];
        exact::check_with("sm_90", &kind.program(&body, kind.sum), launch, &options, &names);
    }
}

//===-- control flow --------------------------------------------------------===//

fn outside_of_a_loop() {
    let kind = Kind { trips: 1, ..RAGGED };
    kind.multiplied_by_warpgroups(&(kind.product("sum", "%x", "%zero", "%init") + &kind.store("%sum", "%x")));
}

/// Loops over tiles around the loop: rings continue from one tile to the next.
fn tile_after_tile() {
    for trips in [0, 1, 3] {
        let kind = Kind { trips, flag: 0, ..RAGGED };
        let tile = kind.looped("sum", "%init", &kind.product("next", "%tile", "%k", "%acc"))
            + &kind.relu("positive", "%sum")
            + &kind.store("%positive", "%tile");
        // The first tile block processes both tiles, and the second none.
        kind.multiplied_by_warpgroups(&format!(
            "%first = cmpi equal %x, %flag, signed : tile<i32> -> tile<i1>\n\
             %end = select %first, %two, %zero : tile<i1>, tile<i32>\n\
             for %tile in (%zero to %end, step %one) : tile<i32> {{\n{tile}continue\n}}\n"
        ));
    }
}

fn nested_loops_carry_the_sum() {
    for batched in [false, true] {
        nested_loops(Kind { trips: 2, batched, ..RAGGED });
    }
}

fn nested_loops(kind: Kind) {
    let sums = kind.sums();
    let inner = format!(
        "%next = for %k in (%zero to %n, step %one) : tile<i32> iter_values(%sum = %acc) -> ({sums}) {{\n\
         {}continue %one_more : {sums}\n}}\n",
        kind.product("one_more", "%x", "%k", "%sum")
    );
    let outer = kind.looped("all", "%init", &inner).replacen("%k ", "%again ", 1);
    kind.multiplied_by_warpgroups(&(outer + &kind.store("%all", "%x")));
}

/// A loop with a dot in one branch, and with a dot in both branches.
fn in_branches() {
    for (flag, both) in [(0, false), (1, false), (0, true), (1, true)] {
        let kind = Kind { flag, batched: both, ..RAGGED };
        let sums = kind.sums();
        let other = if both { kind.product("other", "%x", "%zero", "%init") } else { String::new() };
        let given = if both { "%other" } else { "%init" };
        let taken = kind.looped("taken", "%init", &kind.product("next", "%x", "%k", "%acc"));
        kind.multiplied_by_warpgroups(&format!(
            "%condition = cmpi equal %flag, %one, signed : tile<i32> -> tile<i1>\n\
             %sum = if %condition -> ({sums}) {{\n{taken}yield %taken : {sums}\n}} else {{\n\
             {other}yield {given} : {sums}\n}}\n{}",
            kind.store("%sum", "%x")
        ));
    }
}

/// A branch in the loop that alternates between iterations.
fn around_the_product_only() {
    for (flag, both, batched) in [(0, false, false), (1, false, true), (0, true, false), (0, true, true)] {
        let kind = Kind { flag, batched, trips: 5, ..RAGGED };
        let sums = kind.sums();
        let other = if both { kind.product("other", "%x", "%zero", "%acc") } else { String::new() };
        let given = if both { "%other" } else { "%acc" };
        let body = format!(
            "%odd = andi %k, %one : tile<i32>\n\
             %condition = cmpi equal %odd, %flag, signed : tile<i32> -> tile<i1>\n\
             %next = if %condition -> ({sums}) {{\n{}yield %taken : {sums}\n}} else {{\n\
             {other}yield {given} : {sums}\n}}\n",
            kind.product("taken", "%x", "%k", "%acc")
        );
        kind.multiplied_by_warpgroups(&(kind.looped("sum", "%init", &body) + &kind.store("%sum", "%x")));
    }
}

/// A loop without a fixed number of iterations: each agent evaluates the condition itself.
fn in_a_loop_that_asks() {
    for trips in [0, 1, 4] {
        let kind = Kind { trips, ..RAGGED };
        let sums = kind.sums();
        let body = kind.product("next", "%x", "%i", "%acc");
        kind.multiplied_by_warpgroups(&format!(
            "%sum = loop iter_values(%i = %zero, %acc = %init) : tile<i32>, {sums} -> {sums} {{\n\
         %done = cmpi greater_than_or_equal %i, %n, signed : tile<i32> -> tile<i1>\n\
         if %done {{\nbreak %acc : {sums}\n}}\n\
         {body}%more = addi %i, %one : tile<i32>\ncontinue %more, %next : tile<i32>, {sums}\n}}\n{}",
            kind.store("%sum", "%x")
        ));
    }
}

fn one_loop_after_another() {
    for init in ["%init", "%first"] {
        let kind = RAGGED;
        let first = kind.looped("first", "%init", &kind.product("next", "%x", "%k", "%acc"));
        let second = kind.looped("second", init, &kind.product("next", "%x", "%k", "%acc"));
        let rest = kind.relu("positive", "%first") + &kind.plus("sum", "%positive", "%second");
        kind.multiplied_by_warpgroups(&(first + &second + &rest + &kind.store("%sum", "%x")));
    }
}

/// Two loops in a loop over tiles, whose accumulators start with the same zeros.
fn two_loops_for_each_tile() {
    let kind = Kind { m: 128, n: 8, turned: [false, true], ..RAGGED };
    let kind = Kind { element: Number::E5m2, mode: "fast_acc", ..kind };
    let first = kind.looped("first", "%init", &kind.product("next", "%x", "%k", "%acc"));
    let second = kind.looped("second", "%init", &kind.product("next", "%x", "%k", "%acc"));
    let sums = kind.sums();
    let rest = kind.plus("more", "%all", "%first") + &kind.relu("positive", "%more");
    let rest = rest + &kind.plus("both", "%positive", "%second");
    kind.multiplied_by_warpgroups(&format!(
        "%sum = for %tile in (%zero to %two, step %one) : tile<i32> iter_values(%all = %init) -> ({sums}) {{\n\
         {first}{second}{rest}continue %both : {sums}\n}}\n{}",
        kind.store("%sum", "%x")
    ));
}

//===-- uses of the accumulator --------------------------------------------===//

/// The accumulator is used in the loop, so each iteration waits for it.
fn used_in_the_loop() {
    let kind = RAGGED;
    let carried = kind.product("sum", "%x", "%k", "%acc") + &kind.relu("next", "%sum");
    kind.multiplied_by_warpgroups(&(kind.looped("all", "%init", &carried) + &kind.store("%all", "%x")));
    let fresh = kind.product("sum", "%x", "%k", "%init")
        + &kind.relu("positive", "%sum")
        + &kind.plus("next", "%acc", "%positive");
    kind.multiplied_by_warpgroups(&(kind.looped("all", "%init", &fresh) + &kind.store("%all", "%x")));
}

fn narrowed_and_stored() {
    for (m, n) in [(64, 32), (128, 128)] {
        let kind = Kind { m, n, trips: 2, ..HALVES };
        let cast = format!("%cast = ftof %positive : {} -> tile<{m}x{n}xf16>\n", kind.sums());
        let loops = kind.looped("sum", "%init", &kind.product("next", "%x", "%k", "%acc"));
        let rest = kind.relu("positive", "%sum") + &cast + &kind.store_as("%cast", "%x", Number::F16);
        kind.run(&(loops + &rest), Number::F16, true);
    }
}

/// A layout conversion that does not fit into its shared memory is done in parts, only by the agent's warps.
fn narrowed_in_parts() {
    let kind = Kind { m: 128, n: 256, k: 16, trips: 2, ..HALVES };
    let cast = format!("%cast = ftof %positive : {} -> tile<128x256xf16>\n", kind.sums());
    let loops = kind.looped("sum", "%init", &kind.product("next", "%x", "%k", "%acc"));
    let rest = kind.relu("positive", "%sum") + &cast + &kind.store_as("%cast", "%x", Number::F16);
    kind.run(&(loops + &rest), Number::F16, true);
}

/// Text for results that are written by TMA stores: `%v` narrowed to `number`, as the tile in row `i` of a view with
/// `%flag` rows.
fn copied(kind: &Kind, v: &str, i: &str, number: Number, token: &str) -> String {
    let (m, n, e) = (kind.m, kind.n, number.keyword());
    let tensor = format!("tensor_view<?x{n}x{e}, strides=[{n},1]>");
    let view = format!("partition_view<tile=({m}x{n}), {tensor}>");
    format!(
        "%cast = ftof {v} : {} -> tile<{m}x{n}x{e}>\n\
         %done = store_view_tko weak %cast, %vc[{i}, %zero]{token} : tile<{m}x{n}x{e}>, {view}, tile<i32> -> token\n",
        kind.sums()
    )
}

/// The view that [`copied`] stores to.
fn view_of_results(kind: &Kind, number: Number) -> String {
    let (m, n, e) = (kind.m, kind.n, number.keyword());
    let tensor = format!("tensor_view<?x{n}x{e}, strides=[{n},1]>");
    format!(
        "%pc = assume div_by<16>, %c : tile<ptr<{e}>>\n\
         %tc = make_tensor_view %pc, shape = [%flag, {n}], strides = [{n}, 1] : tile<i32> -> {tensor}\n\
         %vc = make_partition_view %tc : partition_view<tile=({m}x{n}), {tensor}>\n"
    )
}

/// Runs the kernel around `body` and checks whether its results are written by TMA stores.
fn run_copied(kind: &Kind, body: &str, out: Number, copied: bool) {
    let body = view_of_results(kind, out) + body;
    let ptx = exact::compiled(&kind.program(&body, out), 3, Emit::Ptx);
    assert_eq!(ptx.contains("cp.async.bulk.commit_group"), copied, "{body}");
    kind.run(&body, out, true);
}

/// Out-of-bounds elements are not written.
fn copied_to_views_of_any_extent() {
    for (m, n, number) in [(64, 32, Number::F16), (128, 128, Number::Bf16), (64, 64, Number::Bf16)] {
        for rows in [2 * m, 2 * m - 5, m + 1] {
            let kind = Kind { m, n, flag: rows as u64, trips: 2, ..HALVES };
            let loops = kind.looped("sum", "%init", &kind.product("next", "%x", "%k", "%acc"));
            run_copied(&kind, &(loops + &copied(&kind, "%sum", "%x", number, "")), number, true);
        }
    }
}

/// The storage of a tile is reused after the previous store has read it. Stores to the same tile are written in
/// order.
fn copied_tile_after_tile() {
    for (place, trips) in [("%tile", 0), ("%tile", 3), ("%one", 1)] {
        let kind = Kind { flag: 128, trips, ..RAGGED };
        let body = kind.looped("sum", "%init", &kind.product("next", "%tile", "%k", "%acc"))
            + &kind.relu("positive", "%sum")
            + &copied(&kind, "%positive", place, Number::F16, " token = %before");
        // The first tile block processes both tiles, and the second none.
        let body = format!(
            "%first = cmpi equal %x, %zero, signed : tile<i32> -> tile<i1>\n\
             %end = select %first, %two, %zero : tile<i1>, tile<i32>\n\
             %nothing = make_token : token\n\
             %all = for %tile in (%zero to %end, step %one) : tile<i32> iter_values(%before = %nothing) -> (token) {{\n\
             {body}continue %done : token\n}}\n"
        );
        run_copied(&kind, &body, Number::F16, true);
    }
}

/// The map of the results is created after the dot, in memory that threads have read.
fn copied_by_a_map_that_is_made_late() {
    let kind = Kind { element: Number::E4m3, n: 64, trips: 1, flag: 128, mode: "fast_acc", ..HALVES };
    let body = kind.product("sum", "%x", "%zero", "%init")
        + &view_of_results(&kind, Number::F16)
        + &copied(&kind, "%sum", "%x", Number::F16, "");
    let ptx = exact::compiled(&kind.program(&body, Number::F16), 3, Emit::Ptx);
    assert!(ptx.contains("cp.async.bulk.commit_group"), "{body}");
    kind.run(&body, Number::F16, true);
}

/// An access that reads the results again, ordered by a token, needs more than a TMA store guarantees.
fn not_copied_where_others_read() {
    let kind = Kind { flag: 128, trips: 2, ..HALVES };
    let (m, n) = (kind.m, kind.n);
    let view = format!("partition_view<tile=({m}x{n}), tensor_view<?x{n}xf16, strides=[{n},1]>>");
    let loops = kind.looped("sum", "%init", &kind.product("next", "%x", "%k", "%acc"));
    let rest = copied(&kind, "%sum", "%x", Number::F16, "")
        + &format!(
            "%again, %read = load_view_tko weak %vc[%x, %zero] token = %done : {view}, tile<i32> -> \
             tile<{m}x{n}xf16>, token\n\
             %twice = addf %again, %again : tile<{m}x{n}xf16>\n\
             %end = store_view_tko weak %twice, %vc[%x, %zero] token = %read : tile<{m}x{n}xf16>, {view}, tile<i32> \
             -> token\n"
        );
    run_copied(&kind, &(loops + &rest), Number::F16, false);
}

/// Pointers need more bits than anything else that goes through shared memory next to the rings. They are converted
/// in several parts.
fn scattered() {
    let kind = Kind { n: 16, k: 16, trips: 1, sum: Number::F16, turned: [true, true], ..HALVES };
    let rest = "%all = iota : tile<1024xi32>\n\
         %numbers = reshape %all : tile<1024xi32> -> tile<64x16xi32>\n\
         %mask = constant <i32: 485> : tile<64x16xi32>\n\
         %mixed = xori %numbers, %mask : tile<64x16xi32>\n\
         %size = constant <i32: 1024> : tile<i32>\n\
         %begin = muli %x, %size : tile<i32>\n\
         %one_begin = reshape %begin : tile<i32> -> tile<1x1xi32>\n\
         %begins = broadcast %one_begin : tile<1x1xi32> -> tile<64x16xi32>\n\
         %offsets = addi %mixed, %begins : tile<64x16xi32>\n\
         %base = reshape %c : tile<ptr<f16>> -> tile<1x1xptr<f16>>\n\
         %bases = broadcast %base : tile<1x1xptr<f16>> -> tile<64x16xptr<f16>>\n\
         %places = offset %bases, %offsets : tile<64x16xptr<f16>>, tile<64x16xi32> -> tile<64x16xptr<f16>>\n\
         %k0 = store_ptr_tko weak %places, %sum : tile<64x16xptr<f16>>, tile<64x16xf16> -> token\n";
    kind.multiplied_by_warpgroups(&(kind.product("sum", "%x", "%zero", "%init") + rest));
}

/// The maximum of each column is combined across the warps of the consumers.
fn reduced() {
    let kind = RAGGED;
    let (sums, n) = (kind.sums(), kind.n);
    let largest = format!(
        "%largest = reduce %sum dim=0 identities=[0xFF800000 : f32] : {sums} -> tile<{n}xf32>\n\
         (%p: tile<f32>, %q: tile<f32>) {{\n%r = maxf %p, %q : tile<f32>\nyield %r : tile<f32>\n}}\n\
         %row = reshape %largest : tile<{n}xf32> -> tile<1x{n}xf32>\n\
         %rows = broadcast %row : tile<1x{n}xf32> -> {sums}\n"
    );
    let loops = kind.looped("sum", "%init", &kind.product("next", "%x", "%k", "%acc"));
    let rest = largest + &kind.plus("all", "%rows", "%sum") + &kind.store("%all", "%x");
    kind.multiplied_by_warpgroups(&(loops + &rest));
}

//===-- cases without TMA or wgmma -----------------------------------------===//

fn rows_that_begin_anywhere() {
    let kind = Kind { skew: 1, ..RAGGED };
    kind.multiplied_by_warps(&kind.usual());
}

fn padding_that_tensor_copies_lack() {
    let kind = Kind { padding: "neg_zero", ..RAGGED };
    kind.multiplied_by_warps(&kind.usual());
}

/// A dot with too few rows also prevents warpgroups for the dots of other loops, because a kernel has only one
/// partition into agents.
fn few_rows() {
    let few = Kind { m: 32, ..HALVES };
    few.multiplied_by_warps(&few.usual());
    let kind = Kind { trips: 2, ..HALVES };
    let small = "%left = constant <f16: 1.0> : tile<16x16xf16>\n%none = constant <f32: 0.0> : tile<16x16xf32>\n\
         %other = mmaf %left, %left, %none : tile<16x16xf16>, tile<16x16xf16>, tile<16x16xf32>\n\
         %first = extract %other[%zero, %zero] : tile<16x16xf32> -> tile<1x1xf32>\n\
         %all = broadcast %first : tile<1x1xf32> -> tile<64x32xf32>\n";
    let loops = kind.looped("sum", "%init", &kind.product("next", "%x", "%k", "%acc"));
    kind.multiplied_by_warps(&(loops + small + &kind.plus("both", "%sum", "%all") + &kind.store("%both", "%x")));
}

/// A load that a token orders after a store must see the stored value.
fn behind_a_store() {
    let kind = Kind { trips: 1, ..HALVES };
    // Each tile block writes a one to the first element of its own tile of the left operand.
    let [rows, columns, stride] = kind.tensor(0);
    let tensor = format!("tensor_view<{rows}x{columns}xf16, strides=[{stride},1]>");
    let view = format!("partition_view<tile=(64x1), {tensor}>");
    let store = format!(
        "%value = constant <f16: 1.0> : tile<64x1xf16>\n%sv = make_partition_view %t0 : {view}\n\
         %token = store_view_tko weak %value, %sv[%x, %zero] : tile<64x1xf16>, {view}, tile<i32> -> token\n"
    );
    let product = kind.product_behind("sum", "%x", "%zero", "%init", " token = %token");
    kind.multiplied_by_warps(&(store + &product + &kind.store("%sum", "%x")));
}

/// An access that is ordered after a load, here a store to the loaded memory through tokens that the loop carries,
/// can come after the dot has started, but not between the load and the dot.
fn before_others() {
    for (between, trips) in [(false, 3), (true, 1)] {
        let kind = Kind { trips, ..HALVES };
        let [rows, columns, stride] = kind.tensor(0);
        let tensor = format!("tensor_view<{rows}x{columns}xf16, strides=[{stride},1]>");
        let view = format!("partition_view<tile=(64x1), {tensor}>");
        let store = |name: &str, column: &str, token: &str| {
            format!(
                "%{name} = store_view_tko weak %value, %sv[%x, {column}] token = {token} : tile<64x1xf16>, {view}, \
                 tile<i32> -> token\n"
            )
        };
        let loads = kind.load(0, "next_a", "%x", "%k", "") + &kind.load(1, "next_b", "%k", "%zero", "");
        let [inner, last] = if between {
            [store("mid", "%k", "%next_a_k"), String::new()]
        } else {
            [String::new(), store("last", "%zero", "%all")]
        };
        let sums = kind.sums();
        let body = format!(
            "%value = constant <f16: 1.0> : tile<64x1xf16>\n%sv = make_partition_view %t0 : {view}\n\
             %start = make_token : token\n\
             %sum, %all = for %k in (%zero to %n, step %one) : tile<i32> iter_values(%acc = %init, %seen = %start) -> \
             ({sums}, token) {{\n\
             {loads}{inner}{}\
             %both = join_tokens %seen, %next_a_k : token\n\
             continue %next, %both : {sums}, token\n}}\n",
            kind.multiplied("next", "%acc"),
        );
        kind.run(&(body + &last + &kind.store("%sum", "%x")), kind.sum, !between);
    }
}

/// Both agents wait for the previous grids. The next grids can start as soon as the dots have started.
fn between_grids() {
    let kind = Kind { trips: 3, ..HALVES };
    let sums = kind.sums();
    let loads = kind.product_behind("next", "%x", "%k", "%acc", " token = %come");
    let body = format!(
        "%come = gdc_wait_tko -> token\n\
         %sum, %all = for %k in (%zero to %n, step %one) : tile<i32> iter_values(%acc = %init, %seen = %come) -> \
         ({sums}, token) {{\n\
         {loads}%both = join_tokens %seen, %next_a_k, %next_b_k : token\n\
         continue %next, %both : {sums}, token\n}}\n\
         %gone = gdc_launch_dependents_tko token = %all -> token\n"
    ) + &kind.store("%sum", "%x");
    let ptx = exact::compiled(&kind.program(&body, kind.sum), 3, Emit::Ptx);
    assert_eq!(ptx.matches("griddepcontrol.wait").count(), 2, "{ptx}");
    kind.multiplied_by_warpgroups(&body);
}

/// A tensor whose start changes in each iteration has no map, so producer threads copy its tiles.
fn tensor_in_the_loop() {
    let kind = Kind { trips: 2, ..HALVES };
    let tensor = "tensor_view<64x64xf16, strides=[192,1]>";
    let view = format!("partition_view<tile=(64x64), {tensor}>");
    let body = format!(
        "%depth = constant <i32: 64> : tile<i32>\n%at = muli %k, %depth : tile<i32>\n\
         %begin = offset %pa, %at : tile<ptr<f16>>, tile<i32> -> tile<ptr<f16>>\n\
         %tensor = make_tensor_view %begin, shape = [64, 64], strides = [192, 1] : {tensor}\n\
         %moving = make_partition_view %tensor : {view}\n\
         %next_a, %next_t = load_view_tko weak %moving[%zero, %zero] : {view}, tile<i32> -> tile<64x64xf16>, token\n{}{}",
        kind.load(1, "next_b", "%k", "%zero", ""),
        kind.multiplied("next", "%acc")
    );
    kind.multiplied_by_warpgroups(&(kind.looped("sum", "%init", &body) + &kind.store("%sum", "%x")));
}

/// The tile is also used in registers: producer threads copy it, and the consumers load it as well.
fn operand_with_another_use() {
    let kind = Kind { n: 64, ..HALVES };
    let body = kind.product("product", "%x", "%k", "%acc")
        + &format!("%wide = ftof %product_a : tile<64x64xf16> -> {}\n", kind.sums())
        + &kind.plus("next", "%product", "%wide");
    kind.multiplied_by_warpgroups(&(kind.looped("sum", "%init", &body) + &kind.store("%sum", "%x")));
}

pub fn trials() -> Vec<Trial> {
    functions![
        loops_of_any_count,
        either_order_in_memory,
        other_halves,
        tiles_of_other_extents,
        batches_of_one,
        short_loops_share_an_sm,
        outside_of_a_loop,
        tile_after_tile,
        nested_loops_carry_the_sum,
        in_branches,
        around_the_product_only,
        in_a_loop_that_asks,
        one_loop_after_another,
        two_loops_for_each_tile,
        used_in_the_loop,
        narrowed_and_stored,
        narrowed_in_parts,
        copied_to_views_of_any_extent,
        copied_tile_after_tile,
        copied_by_a_map_that_is_made_late,
        not_copied_where_others_read,
        scattered,
        reduced,
        rows_that_begin_anywhere,
        padding_that_tensor_copies_lack,
        few_rows,
        behind_a_store,
        before_others,
        between_grids,
        tensor_in_the_loop,
        operand_with_another_use
    ]
}
