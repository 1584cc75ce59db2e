//! Grouped matrix products on sm_90: one kernel processes a list of problems, each with its own matrices. The
//! programs are compiled from the public language and run on the simulator, and the results are compared with the
//! reference interpreter.
//!
//! The start and size of each matrix are loaded in the loop over problems. A block takes every nth tile, where n is
//! the number of blocks, in a loop that checks each time whether there is another tile. So views and tensor maps are
//! created in loops.

use exact::{Numbers, scalar};
use std::fmt::Write;
use tile_fuzz::case::Parameter;
use tile_interface::Emit;
use tile_interp::types::Number;
use tile_test_support::{Trial, exact, functions};

/// Extents of an accumulator tile, and depth of an operand tile.
const M: usize = 64;
const N: usize = 32;
const K: usize = 64;
/// The depth of the largest matrices.
const DEPTH: usize = 192;

/// How a kernel iterates over the tiles of a problem.
#[derive(Clone, Copy, PartialEq)]
enum Over {
    /// `while tile < tiles`
    Asking,
    /// `for tile in range(block, tiles, blocks)`
    Counting,
}

/// For each problem, its rows (of the left operand and of the result) and its number of tiles along the depth.
type Problems<'a> = &'a [(usize, usize)];

/// The kernel. A record holds the problem's first row, its number of rows, and its number of tiles along the depth.
fn program(over: Over, problems: usize) -> String {
    let a = format!("tensor_view<?x{DEPTH}xf16, strides=[{DEPTH},1]>");
    let b = format!("tensor_view<{DEPTH}x{N}xf16, strides=[{N},1]>");
    let c = format!("tensor_view<?x{N}xf32, strides=[{N},1]>");
    let list = format!("tensor_view<{problems}x3xi32, strides=[3,1]>");
    let record = format!("partition_view<tile=(1x4), {list}>");
    let (va, vb) = (format!("partition_view<tile=({M}x{K}), padding_value = zero, {a}>"), {
        format!("partition_view<tile=({K}x{N}), padding_value = zero, {b}>")
    });
    let vc = format!("partition_view<tile=({M}x{N}), {c}>");
    let mut text = format!(
        "cuda_tile.module @m {{\nentry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>, \
         %list: tile<ptr<i32>>, %n: tile<i32>) {{\n\
         %zero = constant <i32: 0> : tile<i32>\n%one = constant <i32: 1> : tile<i32>\n\
         %two = constant <i32: 2> : tile<i32>\n%last = constant <i32: {}> : tile<i32>\n\
         %m = constant <i32: {M}> : tile<i32>\n%width = constant <i32: {DEPTH}> : tile<i32>\n\
         %columns = constant <i32: {N}> : tile<i32>\n%init = constant <f32: 0.0> : tile<{M}x{N}xf32>\n\
         %x, %y, %z = get_tile_block_id : tile<i32>\n%blocks, %u, %v = get_num_tile_blocks : tile<i32>\n\
         %pb = assume div_by<16>, %b : tile<ptr<f16>>\n\
         %tb = make_tensor_view %pb, shape = [{DEPTH}, {N}], strides = [{N}, 1] : {b}\n\
         %tl = make_tensor_view %list, shape = [{problems}, 3], strides = [3, 1] : {list}\n\
         %vl = make_partition_view %tl : {record}\n\
         for %g in (%zero to %n, step %one) : tile<i32> {{\n\
         %record, %k0 = load_view_tko weak %vl[%g, %zero] : {record}, tile<i32> -> tile<1x4xi32>, token\n",
        M - 1
    );
    for (i, (name, number)) in [("first", "%zero"), ("rows", "%one"), ("trips", "%two")].into_iter().enumerate() {
        let _ = write!(
            text,
            "%e{i} = extract %record[%zero, {number}] : tile<1x4xi32> -> tile<1x1xi32>\n\
             %{name} = reshape %e{i} : tile<1x1xi32> -> tile<i32>\n"
        );
    }
    let _ = write!(
        text,
        "%oa = muli %first, %width : tile<i32>\n%oc = muli %first, %columns : tile<i32>\n\
         %qa = offset %a, %oa : tile<ptr<f16>>, tile<i32> -> tile<ptr<f16>>\n\
         %qc = offset %c, %oc : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>\n\
         %pa = assume div_by<16>, %qa : tile<ptr<f16>>\n%pc = assume div_by<16>, %qc : tile<ptr<f32>>\n\
         %ta = make_tensor_view %pa, shape = [%rows, {DEPTH}], strides = [{DEPTH}, 1] : tile<i32> -> {a}\n\
         %tc = make_tensor_view %pc, shape = [%rows, {N}], strides = [{N}, 1] : tile<i32> -> {c}\n\
         %more = addi %rows, %last : tile<i32>\n%tiles = divi %more, %m signed : tile<i32>\n"
    );
    let tile = format!(
        "%sum = for %k in (%zero to %trips, step %one) : tile<i32> iter_values(%acc = %init) -> (tile<{M}x{N}xf32>) {{\n\
         %va = make_partition_view %ta : {va}\n%vb = make_partition_view %tb : {vb}\n\
         %left, %ka = load_view_tko weak %va[%t, %k] : {va}, tile<i32> -> tile<{M}x{K}xf16>, token\n\
         %right, %kb = load_view_tko weak %vb[%k, %zero] : {vb}, tile<i32> -> tile<{K}x{N}xf16>, token\n\
         %next = mmaf %left, %right, %acc : tile<{M}x{K}xf16>, tile<{K}x{N}xf16>, tile<{M}x{N}xf32>\n\
         continue %next : tile<{M}x{N}xf32>\n}}\n\
         %vc = make_partition_view %tc : {vc}\n\
         %kc = store_view_tko weak %sum, %vc[%t, %zero] : tile<{M}x{N}xf32>, {vc}, tile<i32> -> token\n"
    );
    text += &match over {
        Over::Counting => format!("for %t in (%x to %tiles, step %blocks) : tile<i32> {{\n{tile}continue\n}}\n"),
        Over::Asking => format!(
            "%end = loop iter_values(%t = %x) : tile<i32> -> tile<i32> {{\n\
             %goes_on = cmpi less_than %t, %tiles, signed : tile<i32> -> tile<i1>\n\
             if %goes_on {{\n}} else {{\nbreak %t : tile<i32>\n}}\n\
             {tile}%then = addi %t, %blocks : tile<i32>\ncontinue %then : tile<i32>\n}}\n"
        ),
    };
    text + "continue\n}\nreturn\n}\n}\n"
}

fn parameters(problems: Problems<'_>) -> Vec<Parameter> {
    let mut first = 0;
    let mut records = vec![];
    for &(rows, trips) in problems {
        records.extend([first, rows, trips].map(|v| v as i32).map(i32::to_le_bytes).into_iter().flatten());
        first += rows;
    }
    let mut numbers = Numbers::default();
    vec![
        numbers.buffer(first * DEPTH, Number::F16, 2, 1.0),
        numbers.buffer(DEPTH * N, Number::F16, 2, 1.0),
        numbers.buffer(first * N, Number::F32, 2, 1.0),
        Parameter::Buffer { number: Number::I32, bytes: records },
        scalar(problems.len() as u64),
    ]
}

/// Problems of any size, some without rows or without depth, use `wgmma` and TMA loads.
fn problems_of_any_size() {
    let problems = [(70, 3), (0, 2), (150, 1), (5, 0), (64, 2), (130, 3)];
    for (over, blocks) in [(Over::Asking, 1), (Over::Asking, 3), (Over::Counting, 2)] {
        let text = program(over, problems.len());
        let ptx = exact::compiled(&text, 3, Emit::Ptx);
        assert!(ptx.contains("cp.async.bulk.tensor"), "{text}");
        exact::check(&text, [blocks, 1, 1], parameters(&problems), true);
    }
    exact::check(&program(Over::Asking, 1), [2, 1, 1], parameters(&problems[..1]), true);
}

/// PTX whose table of tensor maps is filled with other maps.
fn with_full_table(ptx: String) -> String {
    const SLOT: usize = 256;
    let (name, end) = ("__tileir_tensor_maps[", "];");
    let size = ptx.find(name).map(|at| at + name.len()).expect("a table");
    let length = ptx[size..].find(end).expect("its size");
    let bytes: usize = ptx[size..size + length].parse().expect("a number");
    // The state of a slot says that it is ready, and no view has a key of zeros.
    let mut slot = vec!["0"; SLOT];
    slot[SLOT / 2] = "2";
    let values = vec![slot.join(","); bytes / SLOT].join(",");
    let behind = size + length;
    format!("{}] = {{{values}}};{}", &ptx[..behind], &ptx[behind + end.len()..])
}

/// If the table of maps is full, a block borrows one entry for the maps of all its problems. It overwrites the entry
/// when the copies that use the previous map are done.
fn a_full_table() {
    let problems = [(70, 3), (0, 2), (64, 1), (5, 0), (130, 3)];
    for over in [Over::Asking, Over::Counting] {
        let text = program(over, problems.len());
        exact::check_changed(&text, [2, 1, 1], parameters(&problems), true, with_full_table);
    }
}

pub fn trials() -> Vec<Trial> {
    functions![problems_of_any_size, a_full_table]
}
