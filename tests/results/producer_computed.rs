//! Dots on sm_90 whose operands cannot be loaded by TMA, so producer warps compute them. The programs are compiled
//! from the public language and run on the simulator, and the results are compared with the reference interpreter.
//!
//! Operands are small whole numbers, so sums are exact in any order. Each program runs with the ordinary schedule and
//! with adversarial schedules and race detection.

use exact::{Numbers, scalar};
use tile_fuzz::{case::Parameter, file::memory};
use tile_interface::Emit;
use tile_interp::{scalar::Scalar, types::Number};
use tile_test_support::{Trial, exact, functions};

/// Rows of the left operand in memory, and its columns, which are the rows of the right operand.
const ROWS: usize = 256;
const DEPTH: usize = 192;

/// A kernel of two blocks. Each sums the dots of `left` (128x64) and `right` (64x128) for `%k` up to `%n`.
#[derive(Clone, Copy)]
struct Program<'a> {
    /// Text before the loop.
    before: &'a str,
    /// Text that defines `%left`; `right` defines `%right`. Both are tiles of f16.
    left: &'a str,
    right: &'a str,
    /// The element types that `%a` and `%b` point to.
    from: [Number; 2],
    trips: usize,
    /// The contents of the memory that `%list` points to.
    list: &'a [u32],
}

/// The usual operands, which are loaded by TMA.
const LEFT: &str = "%left, %tl = load_view_tko weak %va[%x, %k] : partition_view<tile=(128x64), padding_value = zero, \
                    tensor_view<256x192xf16, strides=[192,1]>>, tile<i32> -> tile<128x64xf16>, token\n";
const RIGHT: &str = "%right, %tr = load_view_tko weak %vb[%k, %zero] : partition_view<tile=(64x128), padding_value = \
                     zero, tensor_view<192x128xf16, strides=[128,1]>>, tile<i32> -> tile<64x128xf16>, token\n";

const USUAL: Program<'static> = Program {
    before: "%va = make_partition_view %ta : partition_view<tile=(128x64), padding_value = zero, \
             tensor_view<256x192xf16, strides=[192,1]>>\n",
    left: LEFT,
    right: RIGHT,
    from: [Number::F16, Number::F16],
    trips: 3,
    list: &[0],
};

impl Program<'_> {
    fn text(&self, around: &str) -> String {
        let [a, b] = self.from.map(Number::keyword);
        let Self { before, left, right, .. } = self;
        let right_view = match self.from[1] {
            Number::F16 => {
                "%vb = make_partition_view %tb : partition_view<tile=(64x128), padding_value = zero, \
                 tensor_view<192x128xf16, strides=[128,1]>>\n"
            }
            _ => "",
        };
        let inner = format!(
            "{left}{right}%next = mmaf %left, %right, %acc : tile<128x64xf16>, tile<64x128xf16>, tile<128x128xf32>\n"
        );
        let body = around.replace("PRODUCT", &inner);
        format!(
            "cuda_tile.module @m {{\nentry @k(%a: tile<ptr<{a}>>, %b: tile<ptr<{b}>>, %c: tile<ptr<f32>>, \
             %list: tile<ptr<i32>>, %n: tile<i32>) {{\n\
             %zero = constant <i32: 0> : tile<i32>\n%one = constant <i32: 1> : tile<i32>\n\
             %two = constant <i32: 2> : tile<i32>\n%x, %y, %z = get_tile_block_id : tile<i32>\n\
             %init = constant <f32: 0.0> : tile<128x128xf32>\n\
             %pa = assume div_by<16>, %a : tile<ptr<{a}>>\n%pb = assume div_by<16>, %b : tile<ptr<{b}>>\n\
             %ta = make_tensor_view %pa, shape = [256, 192], strides = [192, 1] : \
             tensor_view<256x192x{a}, strides=[192,1]>\n\
             %tb = make_tensor_view %pb, shape = [192, 128], strides = [128, 1] : \
             tensor_view<192x128x{b}, strides=[128,1]>\n{right_view}{before}{body}\
             %tc = make_tensor_view %c, shape = [256, 128], strides = [128, 1] : \
             tensor_view<256x128xf32, strides=[128,1]>\n\
             %vc = make_partition_view %tc : partition_view<tile=(128x128), tensor_view<256x128xf32, strides=[128,1]>>\n\
             %tk = store_view_tko weak %sum, %vc[%x, %zero] : tile<128x128xf32>, \
             partition_view<tile=(128x128), tensor_view<256x128xf32, strides=[128,1]>>, tile<i32> -> token\n\
             return\n}}\n}}\n"
        )
    }

    fn parameters(&self) -> Vec<Parameter> {
        let mut numbers = Numbers::default();
        let list: Vec<Scalar> = self.list.iter().map(|&v| Scalar::exact(v.into())).collect();
        vec![
            // There are more rows than needed, because rows can start anywhere.
            numbers.buffer((ROWS + 2) * DEPTH, self.from[0], 2, 1.0),
            numbers.buffer(DEPTH * 128, self.from[1], 2, 1.0),
            numbers.buffer(ROWS * 128, Number::F32, 2, 1.0),
            Parameter::Buffer { number: Number::I32, bytes: memory(&list, Number::I32) },
            scalar(self.trips as u64),
        ]
    }

    fn run_around(&self, around: &str, warpgroups: bool) {
        exact::check(&self.text(around), [2, 1, 1], self.parameters(), warpgroups);
    }

    /// Runs one loop over the depth.
    fn run(&self) {
        self.run_around(LOOP, true);
    }
}

const LOOP: &str = "%sum = for %k in (%zero to %n, step %one) : tile<i32> iter_values(%acc = %init) -> \
                    (tile<128x128xf32>) {\nPRODUCT\ncontinue %next : tile<128x128xf32>\n}\n";

/// The rows that the list selects.
const ROWS_OF_LIST: &str = "%slots = iota : tile<128xi32>\n%c128 = constant <i32: 128> : tile<i32>\n\
    %start = muli %x, %c128 : tile<i32>\n%start1 = reshape %start : tile<i32> -> tile<1xi32>\n\
    %starts = broadcast %start1 : tile<1xi32> -> tile<128xi32>\n%slot = addi %slots, %starts : tile<128xi32>\n\
    %list1 = reshape %list : tile<ptr<i32>> -> tile<1xptr<i32>>\n\
    %lists = broadcast %list1 : tile<1xptr<i32>> -> tile<128xptr<i32>>\n\
    %at = offset %lists, %slot : tile<128xptr<i32>>, tile<128xi32> -> tile<128xptr<i32>>\n\
    %rows, %t0 = load_ptr_tko weak %at : tile<128xptr<i32>> -> tile<128xi32>, token\n\
    %width = constant <i32: 192> : tile<128xi32>\n%begin = muli %rows, %width : tile<128xi32>\n\
    %begin1 = reshape %begin : tile<128xi32> -> tile<128x1xi32>\n\
    %begins = broadcast %begin1 : tile<128x1xi32> -> tile<128x64xi32>\n\
    %pa1 = reshape %pa : tile<ptr<f16>> -> tile<1x1xptr<f16>>\n\
    %pas = broadcast %pa1 : tile<1x1xptr<f16>> -> tile<128x64xptr<f16>>\n";

/// The part of these rows at depth `%k`.
const GATHERED: &str = "%c64 = constant <i32: 64> : tile<i32>\n%depth = muli %k, %c64 : tile<i32>\n\
    %depth1 = reshape %depth : tile<i32> -> tile<1xi32>\n%depths = broadcast %depth1 : tile<1xi32> -> tile<64xi32>\n\
    %d0 = iota : tile<64xi32>\n%d = addi %d0, %depths : tile<64xi32>\n\
    %d1 = reshape %d : tile<64xi32> -> tile<1x64xi32>\n%ds = broadcast %d1 : tile<1x64xi32> -> tile<128x64xi32>\n\
    %offsets = addi %begins, %ds : tile<128x64xi32>\n\
    %address = offset %pas, %offsets : tile<128x64xptr<f16>>, tile<128x64xi32> -> tile<128x64xptr<f16>>\n\
    %left, %tl = load_ptr_tko weak %address : tile<128x64xptr<f16>> -> tile<128x64xf16>, token\n";

fn gathered(list: &[u32]) -> Program<'_> {
    Program { before: ROWS_OF_LIST, left: GATHERED, list, ..USUAL }
}

/// Rows of the left operand in mixed order, some of them twice.
fn list() -> Vec<u32> {
    (0..256).map(|i| i * 37 % 251).collect()
}

fn rows_that_a_list_names() {
    for trips in 0..=3 {
        Program { trips, ..gathered(&list()) }.run();
    }
}

/// Masked elements get the value that the program gives.
fn masked_elements() {
    let left = GATHERED.replace(
        "%left, %tl = load_ptr_tko weak %address : tile<128x64xptr<f16>> -> tile<128x64xf16>, token\n",
        "%end = constant <i32: 150> : tile<128x64xi32>\n\
         %inside = cmpi less_than %ds, %end, signed : tile<128x64xi32> -> tile<128x64xi1>\n\
         %other = constant <f16: 3.0> : tile<128x64xf16>\n\
         %left, %tl = load_ptr_tko weak %address, %inside, %other : tile<128x64xptr<f16>>, tile<128x64xi1>, \
         tile<128x64xf16> -> tile<128x64xf16>, token\n",
    );
    Program { left: &left, ..gathered(&list()) }.run();
}

/// Masked elements are zero, which the copies fill in. They copy two elements at a time because the end can be
/// anywhere.
fn masked_elements_are_zeros() {
    for other in ["", ", %other"] {
        let (end, t) = if other.is_empty() { ("", "") } else { (other, ", tile<128x64xf16>") };
        let left = GATHERED.replace(
            "%left, %tl = load_ptr_tko weak %address : tile<128x64xptr<f16>> -> tile<128x64xf16>, token\n",
            &format!(
                "%end = constant <i32: 150> : tile<128x64xi32>\n\
                 %inside = cmpi less_than %ds, %end, signed : tile<128x64xi32> -> tile<128x64xi1>\n\
                 %other = constant <f16: 0.0> : tile<128x64xf16>\n\
                 %loaded, %tl = load_ptr_tko weak %address, %inside{end} : tile<128x64xptr<f16>>, \
                 tile<128x64xi1>{t} -> tile<128x64xf16>, token\n"
            ),
        );
        // Undefined elements must not be multiplied.
        let left = match other {
            "" => left + "%left = select %inside, %loaded, %other : tile<128x64xi1>, tile<128x64xf16>\n",
            _ => left.replace("%loaded", "%left"),
        };
        let rows = list();
        let program = Program { left: &left, ..gathered(&rows) };
        let ptx = exact::compiled(&program.text(LOOP), 3, Emit::Ptx);
        assert_eq!(ptx.contains("cp.async.ca.shared.global"), !other.is_empty(), "{ptx}");
        program.run();
    }
}

/// 8-bit elements of the left operand, or of the right operand (contiguous along columns), are widened.
fn widened_bytes() {
    let left = "%bytes, %tl = load_view_tko weak %va[%x, %k] : partition_view<tile=(128x64), padding_value = zero, \
                tensor_view<256x192xi8, strides=[192,1]>>, tile<i32> -> tile<128x64xi8>, token\n\
                %left = itof %bytes signed : tile<128x64xi8> -> tile<128x64xf16>\n";
    let before = USUAL.before.replace("f16", "i8");
    Program { before: &before, left, from: [Number::I8, Number::F16], ..USUAL }.run();
    let right = "%bytes, %tr = load_view_tko weak %vw[%k, %zero] : partition_view<tile=(64x128), padding_value = zero, \
                 tensor_view<192x128xi8, strides=[128,1]>>, tile<i32> -> tile<64x128xi8>, token\n\
                 %right = itof %bytes signed : tile<64x128xi8> -> tile<64x128xf16>\n";
    let before = USUAL.before.to_string()
        + "%vw = make_partition_view %tb : partition_view<tile=(64x128), padding_value = zero, \
           tensor_view<192x128xi8, strides=[128,1]>>\n";
    Program { before: &before, right, from: [Number::F16, Number::I8], ..USUAL }.run();
}

/// One operand is the sum of two tiles of the tensor, and the other is also used in registers.
fn computed_from_two_tiles() {
    let left = LEFT.replace("%left,", "%one_tile,")
        + &LEFT.replace("%left, %tl", "%two_tile, %tm").replace("[%x, %k]", "[%zero, %k]")
        + "%left = addf %one_tile, %two_tile : tile<128x64xf16>\n";
    Program { left: &left, ..USUAL }.run();
}

/// Rows that can start at any 2-byte element.
fn rows_that_begin_anywhere() {
    let before = "%tu = make_tensor_view %pa, shape = [256, 192], strides = [193, 1] : \
                  tensor_view<256x192xf16, strides=[193,1]>\n\
                  %va = make_partition_view %tu : partition_view<tile=(128x64), padding_value = zero, \
                  tensor_view<256x192xf16, strides=[193,1]>>\n";
    let left = LEFT.replace("strides=[192,1]", "strides=[193,1]");
    Program { before, left: &left, ..USUAL }.run();
}

/// Whether TMA can load a view of the left operand, the right operand, or both is known only when the kernel runs. If
/// rows start at multiples of 16 bytes, TMA loads them; otherwise threads do. The sums are the same.
fn alignment_is_tested_when_the_kernel_runs() {
    // The list starts with an element offset that is unknown at compile time and is added to an address and to a
    // stride.
    let step = "%step, %ts = load_ptr_tko weak %list : tile<ptr<i32>> -> tile<i32>, token\n";
    let of_left = "%w = constant <i32: 192> : tile<i32>\n%width = addi %w, %step : tile<i32>\n\
                   %pu = offset %pa, %step : tile<ptr<f16>>, tile<i32> -> tile<ptr<f16>>\n\
                   %tu = make_tensor_view %pu, shape = [240, 192], strides = [%width, 1] : tile<i32> -> \
                   tensor_view<240x192xf16, strides=[?,1]>\n\
                   %va = make_partition_view %tu : partition_view<tile=(128x64), padding_value = zero, \
                   tensor_view<240x192xf16, strides=[?,1]>>\n";
    let left = LEFT.replace("256x192xf16, strides=[192,1]", "240x192xf16, strides=[?,1]");
    let of_right = "%pv = offset %pb, %step : tile<ptr<f16>>, tile<i32> -> tile<ptr<f16>>\n\
                    %tv = make_tensor_view %pv, shape = [180, 128], strides = [128, 1] : \
                    tensor_view<180x128xf16, strides=[128,1]>\n\
                    %vu = make_partition_view %tv : partition_view<tile=(64x128), padding_value = zero, \
                    tensor_view<180x128xf16, strides=[128,1]>>\n";
    let right = RIGHT.replace("%vb", "%vu").replace("192x128xf16", "180x128xf16");
    let tests = [
        (step.to_string() + of_left, left.as_str(), RIGHT),
        (step.to_string() + USUAL.before + of_right, LEFT, right.as_str()),
        (step.to_string() + of_left + of_right, left.as_str(), right.as_str()),
    ];
    for (i, (before, left, right)) in tests.iter().enumerate() {
        for (step, trips) in [(0, 3), (8, 3), (3, 3), (0, 0), (3, 1)] {
            let list = [step];
            let program = Program { before, left, right, trips, list: &list, ..USUAL };
            if (step, trips) == (0, 3) {
                let ptx = exact::compiled(&program.text(LOOP), 3, Emit::Ptx);
                let loads = ptx.matches("ld.global.b16").count() + ptx.matches("ld.global.nc.b16").count();
                assert!(ptx.contains("cp.async.bulk.tensor.2d") && loads > 0, "{ptx}");
            }
            // Short loops do the same with one operand.
            if trips == 3 || i == 2 {
                program.run();
            }
        }
    }
}

/// If rows start at multiples of 8 bytes, threads copy them up to the end of the view: of the left operand, of the
/// right operand, and of both, in which case there are no TMA loads in the stage.
fn rows_of_eight_bytes() {
    let left = LEFT.replace("strides=[192,1]", "strides=[196,1]").replace("256x192", "250x188");
    let before = "%tu = make_tensor_view %pa, shape = [250, 188], strides = [196, 1] : \
                  tensor_view<250x188xf16, strides=[196,1]>\n\
                  %va = make_partition_view %tu : partition_view<tile=(128x64), padding_value = zero, \
                  tensor_view<250x188xf16, strides=[196,1]>>\n";
    let right = RIGHT.replace("%vb", "%vu").replace("192x128xf16, strides=[128,1]", "180x116xf16, strides=[124,1]");
    let view = "%tw = make_tensor_view %pb, shape = [180, 116], strides = [124, 1] : \
                tensor_view<180x116xf16, strides=[124,1]>\n\
                %vu = make_partition_view %tw : partition_view<tile=(64x128), padding_value = zero, \
                tensor_view<180x116xf16, strides=[124,1]>>\n";
    let of_left = Program { before, left: &left, ..USUAL };
    let with_view = USUAL.before.to_string() + view;
    let of_right = Program { before: &with_view, right: &right, ..USUAL };
    let both = before.to_string() + view;
    let of_both = Program { before: &both, left: &left, right: &right, ..USUAL };
    for program in [of_left, of_right, of_both] {
        let ptx = exact::compiled(&program.text(LOOP), 3, Emit::Ptx);
        assert!(ptx.contains("cp.async.ca.shared.global") && ptx.contains(", 8,"), "{ptx}");
        program.run();
    }
}

/// One operand is loaded and the other is computed; the stage must be complete with both.
fn copied_and_computed() {
    let right = RIGHT.replace("%right,", "%one_tile,") + "%right = addf %one_tile, %one_tile : tile<64x128xf16>\n";
    Program { right: &right, ..gathered(&list()) }.run();
}

/// Rows that another list selects in each iteration: the producer waits for the list, but not for the rows.
fn rows_of_each_iteration() {
    let before = ROWS_OF_LIST.split("%rows, %t0").next().expect("a list").to_string();
    let rest = &ROWS_OF_LIST[before.len()..];
    let left = format!("{rest}{GATHERED}");
    let rows = list();
    let program = Program { before: &before, left: &left, ..gathered(&rows) };
    let tileas = exact::compiled(&program.text(LOOP), 3, Emit::TileAs);
    assert!(tileas.contains("nv_tileas.async.load"), "{tileas}");
    program.run();
}

/// The coordinates and the number of copies can come from memory; each agent loads them.
fn coordinates_and_counts_from_memory() {
    let loaded = "%place = offset %list, %k : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>\n\
                  %kk, %tp = load_ptr_tko weak %place : tile<ptr<i32>> -> tile<i32>, token\n";
    let right = loaded.to_string() + &RIGHT.replace("[%k, %zero]", "[%kk, %zero]");
    let copied = Program { right: &right, list: &[2, 0, 1], ..USUAL };
    copied.run();
    let counted = format!(
        "%count, %tn = load_ptr_tko weak %list : tile<ptr<i32>> -> tile<i32>, token\n{}",
        LOOP.replace("to %n", "to %count")
    );
    copied.run_around(&counted, true);
    Program { list: &[3], ..USUAL }.run_around(&counted, true);
    // If warps compute the other tile, all of them load it.
    let rows: Vec<u32> = [2, 0, 1].into_iter().chain(3..256).collect();
    Program { right: &right, ..gathered(&rows) }.run();
}

/// The memory that holds a loop's count is stored to after the load, so another agent must not load the count again.
fn counts_that_are_stored_to() {
    let around = format!(
        "%count, %tn = load_ptr_tko weak %list : tile<ptr<i32>> -> tile<i32>, token\n{}\
         %stored = store_ptr_tko weak %list, %zero token = %tn : tile<ptr<i32>>, tile<i32> -> token\n",
        LOOP.replace("to %n", "to %count")
    );
    let program = Program { list: &[3], ..USUAL };
    let text = program.text(&around);
    exact::check(&text, [1, 1, 1], program.parameters(), false);
}

/// The ring of a computed tile continues from one accumulator tile to the next.
fn tile_after_tile() {
    let around = "%all = for %i in (%zero to %two, step %one) : tile<i32> iter_values(%total = %init) -> \
                  (tile<128x128xf32>) {\n\
                  %part = for %k in (%zero to %n, step %one) : tile<i32> iter_values(%acc = %init) -> \
                  (tile<128x128xf32>) {\nPRODUCT\ncontinue %next : tile<128x128xf32>\n}\n\
                  %both = addf %total, %part : tile<128x128xf32>\n\
                  continue %both : tile<128x128xf32>\n}\n%sum = addf %all, %init : tile<128x128xf32>\n";
    for trips in [0, 1, 3] {
        Program { trips, ..gathered(&list()) }.run_around(around, true);
    }
}

/// The loop increments pointers, as in Triton. The address in an iteration follows from the iteration number.
fn pointers_that_the_loop_advances() {
    let before = ROWS_OF_LIST.to_string()
        + "%d0 = iota : tile<64xi32>\n%d1 = reshape %d0 : tile<64xi32> -> tile<1x64xi32>\n\
           %ds = broadcast %d1 : tile<1x64xi32> -> tile<128x64xi32>\n\
           %offsets = addi %begins, %ds : tile<128x64xi32>\n\
           %start_at = offset %pas, %offsets : tile<128x64xptr<f16>>, tile<128x64xi32> -> tile<128x64xptr<f16>>\n\
           %further = constant <i32: 32> : tile<128x64xi32>\n";
    let left = "%left, %tl = load_ptr_tko weak %ptrs : tile<128x64xptr<f16>> -> tile<128x64xf16>, token\n\
                %later = offset %ptrs, %further : tile<128x64xptr<f16>>, tile<128x64xi32> -> tile<128x64xptr<f16>>\n";
    // The loop counts in steps of two, and each step advances the pointers by 32 elements.
    let around = "%four = constant <i32: 4> : tile<i32>\n\
                  %sum, %end = for %k2 in (%two to %n, step %two) : tile<i32> iter_values(%acc = %init, \
                  %ptrs = %start_at) -> (tile<128x128xf32>, tile<128x64xptr<f16>>) {\n\
                  %k3 = subi %k2, %two : tile<i32>\n%k = divi %k3, %two signed : tile<i32>\nPRODUCT\n\
                  continue %next, %later : tile<128x128xf32>, tile<128x64xptr<f16>>\n}\n";
    for trips in [2, 3, 7, 8] {
        Program { before: &before, left, trips, ..gathered(&list()) }.run_around(around, true);
    }
}

/// The dot is in a branch that some iterations take.
fn in_branches() {
    let around = "%sum = for %k in (%zero to %n, step %one) : tile<i32> iter_values(%acc = %init) -> \
                  (tile<128x128xf32>) {\n%odd = andi %k, %one : tile<i32>\n\
                  %even = cmpi equal %odd, %zero, signed : tile<i32> -> tile<i1>\n\
                  %new = if %even -> (tile<128x128xf32>) {\nPRODUCT\nyield %next : tile<128x128xf32>\n} else {\n\
                  yield %acc : tile<128x128xf32>\n}\ncontinue %new : tile<128x128xf32>\n}\n";
    gathered(&list()).run_around(around, true);
}

/// If the producer stores computed elements, its loads are one iteration ahead of its stores. Elements that are only
/// loaded are copied asynchronously.
fn loads_are_under_way_ahead() {
    let rows = list();
    let doubled = GATHERED.replace("%left,", "%once,") + "%left = addf %once, %once : tile<128x64xf16>\n";
    let stored = Program { left: &doubled, ..gathered(&rows) };
    let tileas = exact::compiled(&stored.text(LOOP), 3, Emit::TileAs);
    let (_, producer) = tileas.split_once("}, {").expect("two agents");
    let body = producer.split("scf.for").nth(1).expect("a loop");
    let (load, store) = (body.find("nv_tileas.load <weak>"), body.find("nv_tileas.local_store"));
    assert!(load < store && load.is_some(), "{producer}");
    assert!(body.contains("producer_commit"), "{producer}");
    let tileas = exact::compiled(&gathered(&rows).text(LOOP), 3, Emit::TileAs);
    let (_, producer) = tileas.split_once("}, {").expect("two agents");
    let body = producer.split("scf.for").nth(1).expect("a loop");
    let (empty, copy) = (body.rfind("producer_acquire"), body.find("nv_tileas.async.load"));
    assert!(empty < copy && empty.is_some(), "{producer}");
    assert!(!body.contains("nv_tileas.load <weak>") && !body.contains("nv_tileas.local_store"), "{producer}");
    // The list is loaded once, before the loop.
    assert!(!body.contains("nv_tileaa.ptr<i32>"), "{producer}");
}

pub fn trials() -> Vec<Trial> {
    functions![
        rows_that_a_list_names,
        masked_elements,
        masked_elements_are_zeros,
        widened_bytes,
        computed_from_two_tiles,
        rows_that_begin_anywhere,
        alignment_is_tested_when_the_kernel_runs,
        rows_of_eight_bytes,
        copied_and_computed,
        rows_of_each_iteration,
        coordinates_and_counts_from_memory,
        counts_that_are_stored_to,
        tile_after_tile,
        pointers_that_the_loop_advances,
        in_branches,
        loads_are_under_way_ahead
    ]
}
