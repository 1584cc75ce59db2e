//! Dots whose left operands warps compute from tiles in stages: quantized weights with scales. On sm_100 a converter
//! stores them to tensor memory; on sm_90 and sm_120 consumers keep them in registers. The programs are compiled from
//! the public language and run on the simulator, and the results are compared with the reference interpreter.
//!
//! Weights and the other operands are small whole numbers and scales are powers of two, so sums are exact in any order.
//! Each program runs with the ordinary schedule and with adversarial schedules and race detection.

use tile_fuzz::case::Parameter;
use tile_interface::Emit;
use tile_interp::types::Number;
use tile_test_support::{
    Trial,
    exact::{self, Numbers, scalar},
    functions,
};

/// A product of dequantized weights with activations.
#[derive(Clone, Copy)]
struct Weights {
    /// The tile: rows of the weights, columns of the activations, depth.
    m: usize,
    n: usize,
    k: usize,
    trips: usize,
    /// The type of the weights in memory, and whether a byte holds two of them, each for a dot of its own.
    element: Number,
    packed: bool,
    /// Whether each row has a scale for the depth of a tile.
    scaled: bool,
    /// The type that the dots multiply.
    operand: Number,
    /// Whether the activations are contiguous along the columns rather than along the depth.
    by_columns: bool,
    /// Whether the result is stored transposed, as 16-bit elements.
    transposed: bool,
    /// Number of elements of the last tile that are outside the tensors: rows, columns, depth.
    outside: [usize; 3],
}

const USUAL: Weights = Weights {
    m: 128,
    n: 64,
    k: 64,
    trips: 3,
    element: Number::I8,
    packed: false,
    scaled: true,
    operand: Number::F16,
    by_columns: false,
    transposed: false,
    outside: [0; 3],
};

impl Weights {
    fn dots(&self) -> usize {
        if self.packed { 2 } else { 1 }
    }

    /// Extents of weights, scales, activations (depth x columns) and results.
    fn extents(&self) -> [[usize; 2]; 4] {
        let depth = (self.trips.max(1) * self.k).saturating_sub(self.outside[2]);
        let (rows, columns) = (2 * self.m - self.outside[0], self.n - self.outside[1]);
        [[rows, depth], [rows, self.trips.max(1)], [depth * self.dots(), columns], [rows, columns]]
    }

    fn stored(&self) -> Number {
        if self.transposed { Number::F16 } else { Number::F32 }
    }

    /// The tensor views of all matrices.
    fn views(&self) -> String {
        let [w, s, b, c] = self.extents();
        let view = |name: &str, [rows, columns]: [usize; 2], by_columns: bool, number: Number| {
            let stride = if by_columns { rows } else { columns }.next_multiple_of(16);
            let [of_type, strides] = if by_columns {
                [format!("1,{stride}"), format!("1, {stride}")]
            } else {
                [format!("{stride},1"), format!("{stride}, 1")]
            };
            let e = number.keyword();
            format!(
                "%p{name} = assume div_by<16>, %{name} : tile<ptr<{e}>>\n\
                 %t{name} = make_tensor_view %p{name}, shape = [{rows}, {columns}], strides = [{strides}] : \
                 tensor_view<{rows}x{columns}x{e}, strides=[{of_type}]>\n"
            )
        };
        let c = if self.transposed { [c[1], c[0]] } else { c };
        view("w", w, false, self.element)
            + &view("s", s, false, Number::F32)
            + &view("b", b, !self.by_columns, self.operand)
            + &view("c", c, false, self.stored())
    }

    fn partition(&self, extents: [usize; 2], by_columns: bool, number: Number, tile: [usize; 2], pads: bool) -> String {
        let [rows, columns] = extents;
        let stride = if by_columns { rows } else { columns }.next_multiple_of(16);
        let strides = if by_columns { format!("1,{stride}") } else { format!("{stride},1") };
        let padding = if pads { ", padding_value = zero" } else { "" };
        let e = number.keyword();
        format!(
            "partition_view<tile=({}x{}){padding}, tensor_view<{rows}x{columns}x{e}, strides=[{strides}]>>",
            tile[0], tile[1]
        )
    }

    /// Computes `%next` from `%k` and `%acc`.
    fn body(&self) -> String {
        let &Self { m, n, k, operand, .. } = self;
        let [w, s, b, _] = self.extents();
        let (e, o) = (self.element.keyword(), operand.keyword());
        let weights = self.partition(w, false, self.element, [m, k], true);
        let scales = self.partition(s, false, Number::F32, [m, 1], true);
        let right = self.partition(b, !self.by_columns, operand, [k, n], true);
        let mut text = format!(
            "%vw = make_partition_view %tw : {weights}\n\
             %w0, %kw = load_view_tko weak %vw[%x, %k] : {weights}, tile<i32> -> tile<{m}x{k}x{e}>, token\n\
             %vs = make_partition_view %ts : {scales}\n\
             %s0, %ks = load_view_tko weak %vs[%x, %k] : {scales}, tile<i32> -> tile<{m}x1xf32>, token\n\
             %scale = broadcast %s0 : tile<{m}x1xf32> -> tile<{m}x{k}xf32>\n"
        );
        if self.packed {
            text += &format!(
                "%wide = exti %w0 signed : tile<{m}x{k}x{e}> -> tile<{m}x{k}xi32>\n\
                 %low0 = andi %wide, %fifteen : tile<{m}x{k}xi32>\n%low1 = xori %low0, %eight : tile<{m}x{k}xi32>\n\
                 %low = subi %low1, %eight : tile<{m}x{k}xi32>\n\
                 %high = shri %wide, %four signed : tile<{m}x{k}xi32>\n"
            );
        }
        let mut acc = "%acc".to_string();
        for dot in 0..self.dots() {
            let source = if self.packed { ["%low", "%high"][dot] } else { "%w0" };
            text += &match (self.packed, self.element) {
                (true, _) => format!("%f{dot} = itof {source} signed : tile<{m}x{k}xi32> -> tile<{m}x{k}xf32>\n"),
                (_, Number::I8) => format!("%f{dot} = itof {source} signed : tile<{m}x{k}x{e}> -> tile<{m}x{k}xf32>\n"),
                _ => format!("%f{dot} = ftof {source} : tile<{m}x{k}x{e}> -> tile<{m}x{k}xf32>\n"),
            };
            let scaled = if self.scaled {
                text += &format!("%g{dot} = mulf %f{dot}, %scale : tile<{m}x{k}xf32>\n");
                format!("%g{dot}")
            } else {
                format!("%f{dot}")
            };
            let next = if dot + 1 == self.dots() { "%next".to_string() } else { format!("%sum{dot}") };
            text += &format!(
                "%a{dot} = ftof {scaled} : tile<{m}x{k}xf32> -> tile<{m}x{k}x{o}>\n\
                 %i{dot} = constant <i32: {dot}> : tile<i32>\n%j{dot} = muli %k, %dots : tile<i32>\n\
                 %l{dot} = addi %j{dot}, %i{dot} : tile<i32>\n\
                 %vb{dot} = make_partition_view %tb : {right}\n\
                 %b{dot}, %kb{dot} = load_view_tko weak %vb{dot}[%l{dot}, %zero] : {right}, tile<i32> -> \
                 tile<{k}x{n}x{o}>, token\n\
                 {next} = mmaf %a{dot}, %b{dot}, {acc} : tile<{m}x{k}x{o}>, tile<{k}x{n}x{o}>, tile<{m}x{n}xf32>\n"
            );
            acc = next;
        }
        text
    }

    fn store(&self, v: &str) -> String {
        let &Self { m, n, .. } = self;
        let [.., c] = self.extents();
        let (c, tile, at) =
            if self.transposed { ([c[1], c[0]], [n, m], "%zero, %x") } else { (c, [m, n], "%x, %zero") };
        let view = self.partition(c, false, self.stored(), tile, false);
        let moved = if self.transposed {
            format!(
                "%turned = permute {v} [1, 0] : tile<{m}x{n}xf32> -> tile<{n}x{m}xf32>\n\
                 %stored = ftof %turned : tile<{n}x{m}xf32> -> tile<{n}x{m}xf16>\n"
            )
        } else {
            String::new()
        };
        let v = if self.transposed { "%stored" } else { v };
        format!(
            "{moved}%vc = make_partition_view %tc : {view}\n\
             %kc = store_view_tko weak {v}, %vc[{at}] : tile<{}x{}x{}>, {view}, tile<i32> -> token\n",
            tile[0],
            tile[1],
            self.stored().keyword()
        )
    }

    fn program(&self) -> String {
        let &Self { m, n, k, .. } = self;
        let sums = format!("tile<{m}x{n}xf32>");
        format!(
            "cuda_tile.module @m {{\nentry @k(%w: tile<ptr<{}>>, %s: tile<ptr<f32>>, %b: tile<ptr<{}>>, \
             %c: tile<ptr<{}>>, %n: tile<i32>) {{\n\
             %zero = constant <i32: 0> : tile<i32>\n%one = constant <i32: 1> : tile<i32>\n\
             %dots = constant <i32: {}> : tile<i32>\n%x, %y, %z = get_tile_block_id : tile<i32>\n\
             %fifteen = constant <i32: 15> : tile<{m}x{k}xi32>\n%eight = constant <i32: 8> : tile<{m}x{k}xi32>\n\
             %four = constant <i32: 4> : tile<{m}x{k}xi32>\n%init = constant <f32: 0.0> : {sums}\n{}\
             %sum = for %k in (%zero to %n, step %one) : tile<i32> iter_values(%acc = %init) -> ({sums}) {{\n{}\
             continue %next : {sums}\n}}\n{}return\n}}\n}}\n",
            self.element.keyword(),
            self.operand.keyword(),
            self.stored().keyword(),
            self.dots(),
            self.views(),
            self.body(),
            self.store("%sum"),
        )
    }

    fn parameters(&self) -> Vec<Parameter> {
        let [w, s, b, c] = self.extents();
        let elements = |[rows, columns]: [usize; 2], by_columns: bool| {
            let (lines, fast) = if by_columns { (columns, rows) } else { (rows, columns) };
            lines * fast.next_multiple_of(16)
        };
        let c = if self.transposed { [c[1], c[0]] } else { c };
        let mut numbers = Numbers::default();
        // The bytes of packed weights may have any bits; sums stay exact.
        let most = if self.packed { 127 } else { 2 };
        vec![
            numbers.buffer(elements(w, false), self.element, most, 1.0),
            numbers.buffer(elements(s, false), Number::F32, 1, 0.5),
            numbers.buffer(elements(b, !self.by_columns), self.operand, 1, 1.0),
            numbers.buffer(elements(c, false), self.stored(), 0, 1.0),
            scalar(self.trips as u64),
        ]
    }

    /// Runs the kernel for sm_100, where warps must store the left operands of its dots to tensor memory.
    fn check(&self) {
        let text = self.program();
        let tileas = exact::compiled_for("sm_100", &text, 3, Emit::TileAs, &[]);
        assert!(tileas.contains("\"converter\"") && tileas.contains("tmem_store"), "no converter\n{tileas}\n{text}");
        exact::check_in_tensor_memory(&text, [2, 1, 1], self.parameters());
        check_from_registers(&text, self.parameters());
    }
}

/// Runs a kernel for sm_90. Consumers must compute the left operands of its dots in registers, from tiles that TMA
/// loads.
fn check_from_registers(text: &str, parameters: Vec<Parameter>) {
    let tileas = exact::compiled_for("sm_90", text, 3, Emit::TileAs, &[]);
    assert!(tileas.contains("nv_tileas.local_load"), "{tileas}\n{text}");
    exact::check(text, [2, 1, 1], parameters, true);
}

fn loops_of_any_count() {
    for trips in [0, 1, 2, 3, 7] {
        Weights { trips, ..USUAL }.check();
        Weights { trips, packed: true, ..USUAL }.check();
    }
}

/// One instruction of 128 rows and two; few columns and many; stages of one line of 128 bytes and of two.
fn tiles_of_other_extents() {
    for (m, n, k) in [(128, 16, 64), (128, 128, 128), (128, 256, 32), (256, 64, 64), (256, 32, 128)] {
        Weights { m, n, k, ..USUAL }.check();
    }
}

fn other_types() {
    for (element, operand) in [(Number::E4m3, Number::F16), (Number::E5m2, Number::Bf16), (Number::I8, Number::Bf16)] {
        Weights { element, operand, ..USUAL }.check();
    }
}

fn without_scales() {
    Weights { scaled: false, ..USUAL }.check();
}

fn either_order_in_memory() {
    Weights { by_columns: true, ..USUAL }.check();
    Weights { by_columns: true, packed: true, ..USUAL }.check();
}

/// The result is stored in slices, each transposed.
fn transposed_results() {
    for n in [64, 128, 256] {
        Weights { n, transposed: true, ..USUAL }.check();
    }
}

/// Rows, columns and depth end inside of tiles.
fn ragged_edges() {
    for outside in [[5, 3, 16], [100, 63, 48], [127, 16, 0]] {
        Weights { outside, ..USUAL }.check();
    }
}

/// Two dots in an iteration add to one accumulator.
fn chains_of_dots() {
    for (m, n) in [(128, 128), (128, 256), (256, 64)] {
        let text = Weights { m, n, packed: true, ..USUAL };
        let tileas = exact::compiled_for("sm_100", &text.program(), 3, Emit::TileAs, &[]);
        let is_accumulator = |l: &&str| ["alloc_tensor", "xf32,", "space = tensor"].iter().all(|part| l.contains(part));
        let accumulators = tileas.lines().filter(is_accumulator);
        assert_eq!(accumulators.count(), 1, "one accumulator\n{tileas}");
        text.check();
    }
}

/// A product whose right operand is computed from weights of 128 rows, which become columns.
#[derive(Clone, Copy)]
struct RightWeights {
    /// Rows and depth of the tile.
    m: usize,
    k: usize,
    trips: usize,
    /// Whether dots multiply bytes: those of the left operand with the lower halves of the weights.
    of_bytes: bool,
    /// Rows of the last tile that are outside the tensors.
    outside: usize,
}

impl RightWeights {
    fn program(&self) -> String {
        let &Self { m, k, trips, outside, .. } = self;
        let (rows, depth) = (2 * m - outside, trips.max(1) * k);
        let (x, sum) = if self.of_bytes { ("i8", "i32") } else { ("f16", "f32") };
        let views = |name: &str, e: &str, [rows, columns]: [usize; 2]| {
            format!(
                "%p{name} = assume div_by<16>, %{name} : tile<ptr<{e}>>\n\
                 %t{name} = make_tensor_view %p{name}, shape = [{rows}, {columns}], strides = [{columns}, 1] : \
                 tensor_view<{rows}x{columns}x{e}, strides=[{columns},1]>\n"
            )
        };
        let partition = |e: &str, [rows, columns]: [usize; 2], tile: &str, padding: &str| {
            format!("partition_view<tile=({tile}){padding}, tensor_view<{rows}x{columns}x{e}, strides=[{columns},1]>>")
        };
        let pads = ", padding_value = zero";
        let left = partition(x, [rows, depth], &format!("{m}x{k}"), pads);
        let weights = partition("i8", [128, depth], &format!("128x{k}"), pads);
        let stored = partition(sum, [rows, 128], &format!("{m}x128"), "");
        let compute = if self.of_bytes {
            format!(
                "%w1 = andi %w0, %mask : tile<128x{k}xi8>\n\
                 %w2 = permute %w1 [1, 0] : tile<128x{k}xi8> -> tile<{k}x128xi8>\n\
                 %next = mmai %x0, %w2, %acc signed signed : tile<{m}x{k}xi8>, tile<{k}x128xi8>, tile<{m}x128xi32>\n"
            )
        } else {
            format!(
                "%w1 = itof %w0 signed : tile<128x{k}xi8> -> tile<128x{k}xf16>\n\
                 %w2 = permute %w1 [1, 0] : tile<128x{k}xf16> -> tile<{k}x128xf16>\n\
                 %next = mmaf %x0, %w2, %acc : tile<{m}x{k}xf16>, tile<{k}x128xf16>, tile<{m}x128xf32>\n"
            )
        };
        let zero = if self.of_bytes { "<i32: 0>" } else { "<f32: 0.0>" };
        format!(
            "cuda_tile.module @m {{\nentry @k(%x: tile<ptr<{x}>>, %w: tile<ptr<i8>>, %c: tile<ptr<{sum}>>, \
             %n: tile<i32>) {{\n%zero = constant <i32: 0> : tile<i32>\n%one = constant <i32: 1> : tile<i32>\n\
             %mask = constant <i8: 15> : tile<128x{k}xi8>\n%i, %j, %z = get_tile_block_id : tile<i32>\n\
             %init = constant {zero} : tile<{m}x128x{sum}>\n{}{}{}\
             %sum = for %k in (%zero to %n, step %one) : tile<i32> iter_values(%acc = %init) -> (tile<{m}x128x{sum}>) \
             {{\n%vx = make_partition_view %tx : {left}\n\
             %x0, %kx = load_view_tko weak %vx[%i, %k] : {left}, tile<i32> -> tile<{m}x{k}x{x}>, token\n\
             %vw = make_partition_view %tw : {weights}\n\
             %w0, %kw = load_view_tko weak %vw[%zero, %k] : {weights}, tile<i32> -> tile<128x{k}xi8>, token\n\
             {compute}continue %next : tile<{m}x128x{sum}>\n}}\n\
             %vc = make_partition_view %tc : {stored}\n\
             %kc = store_view_tko weak %sum, %vc[%i, %zero] : tile<{m}x128x{sum}>, {stored}, tile<i32> -> token\n\
             return\n}}\n}}\n",
            views("x", x, [rows, depth]),
            views("w", "i8", [128, depth]),
            views("c", sum, [rows, 128]),
        )
    }

    /// Runs the kernel for sm_100, where its dots must be transposed.
    fn check(&self) {
        let &Self { m, k, trips, outside, .. } = self;
        let (rows, depth) = (2 * m - outside, trips.max(1) * k);
        let text = self.program();
        let tileas = exact::compiled_for("sm_100", &text, 3, Emit::TileAs, &[]);
        assert!(tileas.contains("\"converter\""), "no converter\n{tileas}\n{text}");
        let mut numbers = Numbers::default();
        let (left, sum) = if self.of_bytes { (Number::I8, Number::I32) } else { (Number::F16, Number::F32) };
        let parameters = vec![
            numbers.buffer(rows * depth, left, 2, 1.0),
            numbers.buffer(128 * depth, Number::I8, if self.of_bytes { 127 } else { 3 }, 1.0),
            numbers.buffer(rows * 128, sum, 0, 1.0),
            scalar(trips as u64),
        ];
        exact::check_in_tensor_memory(&text, [2, 1, 1], parameters.clone());
        check_from_registers(&text, parameters);
    }
}

/// The dots are transposed: weights become the left operand, and the rows of the other one become columns.
fn right_operands() {
    let usual = RightWeights { m: 32, k: 64, trips: 3, of_bytes: false, outside: 0 };
    for trips in [0, 1, 2, 5] {
        RightWeights { trips, ..usual }.check();
    }
    for (m, k, outside) in [(8, 128, 3), (128, 64, 100), (256, 32, 0)] {
        RightWeights { m, k, outside, ..usual }.check();
    }
    RightWeights { k: 128, of_bytes: true, ..usual }.check();
}

/// On sm_120, consumers compute fragments of `mma.sync` in the same way.
fn fragments_of_warps() {
    for kind in [
        USUAL,
        Weights { trips: 0, ..USUAL },
        Weights { trips: 5, packed: true, ..USUAL },
        Weights { element: Number::E4m3, ..USUAL },
        Weights { scaled: false, outside: [5, 3, 8], ..USUAL },
    ] {
        let text = kind.program();
        exact::check_from_stages(&text, [2, 1, 1], kind.parameters());
    }
}

pub fn trials() -> Vec<Trial> {
    functions![
        fragments_of_warps,
        loops_of_any_count,
        tiles_of_other_extents,
        other_types,
        without_scales,
        either_order_in_memory,
        transposed_results,
        ragged_edges,
        chains_of_dots,
        right_operands
    ]
}
