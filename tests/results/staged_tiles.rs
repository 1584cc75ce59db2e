//! Tiles that consumers read next to the operands of dots, through rings of their own. The programs are compiled from
//! the public language and run on the simulator, and the results are compared with the reference interpreter.
//!
//! Numbers are small and whole, so sums are exact in any order. Each program runs with the ordinary schedule and with
//! adversarial schedules and race detection, on sm_90, sm_100 and sm_120.

use tile_fuzz::case::Parameter;
use tile_interface::Emit;
use tile_interp::types::Number;
use tile_test_support::{
    Trial,
    exact::{self, Numbers, compiled_for, scalar},
    functions,
};

/// A program that adds products, each multiplied element by element by a tile of factors:
/// `sum += dot(a[i], b[i]) * f[x, i]`.
#[derive(Clone, Copy)]
struct Weighted {
    m: usize,
    n: usize,
    k: usize,
    trips: usize,
    /// The type of the factors.
    factors: Number,
    /// Whether columns of the factors are contiguous.
    columns: bool,
    /// Rows of the last tile of factors that are outside of its view.
    outside: usize,
    /// Loops over this many tiles around the loop.
    tiles: usize,
}

const USUAL: Weighted =
    Weighted { m: 128, n: 64, k: 32, trips: 3, factors: Number::F16, columns: false, outside: 0, tiles: 1 };

impl Weighted {
    /// The rows and columns of the factors in memory, without a tile's rows that are outside.
    fn extents(&self) -> (usize, usize) {
        (2 * self.tiles * self.m - self.outside, 4 * self.n)
    }

    fn program(&self) -> String {
        let Self { m, n, k, columns, tiles, .. } = *self;
        let (rows, width) = self.extents();
        let (f, f32_) = (self.factors.keyword(), format!("tile<{m}x{n}xf32>"));
        let (strides, promised) =
            if columns { (format!("[1, {rows}]"), "1,R") } else { (format!("[{width}, 1]"), "W,1") };
        let strides_type = promised.replace('R', &rows.to_string()).replace('W', &width.to_string());
        let depth = 4 * k;
        let view = |name: &str,
                    pointer: &str,
                    e: &str,
                    [d0, d1]: [usize; 2],
                    (list, ty): (&str, &str),
                    tile: [usize; 2],
                    padding: &str| {
            let tensor = format!("tensor_view<{d0}x{d1}x{e}, strides=[{ty}]>");
            let part = format!("partition_view<tile=({}x{}), {padding}{tensor}>", tile[0], tile[1]);
            let text = format!(
                "%{name}_t = make_tensor_view {pointer}, shape = [{d0}, {d1}], strides = {list} : {tensor}\n\
                 %{name} = make_partition_view %{name}_t : {part}\n"
            );
            (text, part)
        };
        let plain = |width: usize| (format!("[{width}, 1]"), format!("{width},1"));
        let (list, ty) = plain(depth);
        let (a, a_type) = view("av", "%pa", "f16", [m, depth], (&list, &ty), [m, k], "");
        let (list, ty) = plain(n);
        let (b, b_type) = view("bv", "%pb", "f16", [depth, n], (&list, &ty), [k, n], "");
        let (w, w_type) =
            view("fv", "%pf", f, [rows, width], (&strides, &strides_type), [m, n], "padding_value = zero, ");
        let (o, o_type) = view("ov", "%po", "f32", [2 * tiles * m, n], (&list, &ty), [m, n], "");
        let wide = match self.factors {
            Number::F32 => "%wide = addf %w, %w rounding<nearest_even> : ".to_string() + &f32_,
            e if e.is_integer() => {
                format!("%wide = itof %w signed rounding<nearest_even> : tile<{m}x{n}x{f}> -> {f32_}")
            }
            _ => format!("%wide = ftof %w : tile<{m}x{n}x{f}> -> {f32_}"),
        };
        let aligned = |(name, e): (&str, &str)| format!("%p{name} = assume div_by<16>, %{name} : tile<ptr<{e}>>\n");
        let aligned: String = [("a", "f16"), ("b", "f16"), ("f", f), ("o", "f32")].into_iter().map(aligned).collect();
        let pair = "tile<i32>, tile<i32>";
        format!(
            "cuda_tile.module @m {{\nentry @weighted(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %f: tile<ptr<{f}>>, \
             %o: tile<ptr<f32>>, %n: tile<i32>) {{\n\
             %zero = constant <i32: 0> : tile<i32>\n%one = constant <i32: 1> : tile<i32>\n\
             %tiles = constant <i32: {tiles}> : tile<i32>\n\
             {aligned}%init = constant <f32: 0.0> : {f32_}\n%x, %y, %z = get_tile_block_id : tile<i32>\n\
             {a}{b}{w}{o}\
             for %t in (%zero to %tiles, step %one) : tile<i32> {{\n\
             %first = muli %x, %tiles : tile<i32>\n%row = addi %first, %t : tile<i32>\n\
             %sum = for %i in (%zero to %n, step %one) : tile<i32> iter_values(%acc = %init) -> ({f32_}) {{\n\
             %l, %t0 = load_view_tko weak %av[%zero, %i] : {a_type}, {pair} -> tile<{m}x{k}xf16>, token\n\
             %r, %t1 = load_view_tko weak %bv[%i, %zero] : {b_type}, {pair} -> tile<{k}x{n}xf16>, token\n\
             %w, %t2 = load_view_tko weak %fv[%row, %i] : {w_type}, {pair} -> tile<{m}x{n}x{f}>, token\n\
             %d = mmaf %l, %r, %init : tile<{m}x{k}xf16>, tile<{k}x{n}xf16>, {f32_}\n\
             {wide}\n\
             %p = mulf %d, %wide rounding<nearest_even> : {f32_}\n\
             %next = addf %acc, %p rounding<nearest_even> : {f32_}\n\
             continue %next : {f32_}\n}}\n\
             %s = store_view_tko weak %sum, %ov[%row, %zero] : {f32_}, {o_type}, {pair} -> token\n\
             continue\n}}\nreturn\n}}\n}}\n"
        )
    }

    fn parameters(&self) -> Vec<Parameter> {
        let Self { m, n, k, trips, factors, tiles, .. } = *self;
        let (rows, width) = self.extents();
        let mut numbers = Numbers::default();
        vec![
            numbers.buffer(m * 4 * k, Number::F16, 2, 1.0),
            numbers.buffer(4 * k * n, Number::F16, 2, 1.0),
            numbers.buffer(rows * width, factors, 3, 1.0),
            numbers.buffer(2 * tiles * m * n, Number::F32, 0, 1.0),
            scalar(trips as u64),
        ]
    }

    /// Runs the program on targets with TMA, where a ring of two stages brings the factors.
    fn check(self) {
        let (text, grid) = (self.program(), [2, 1, 1]);
        // Two stages of a larger tile would leave few stages of operands in the shared memory of sm_120.
        let is_small = self.factors != Number::F32;
        for target in ["sm_90", "sm_100", "sm_120"].into_iter().filter(|t| *t != "sm_120" || is_small) {
            let level = compiled_for(target, &text, 3, Emit::TileAs, &[]);
            let staged = level.lines().filter(|l| l.contains("nv_tileas.local_load")).count();
            assert!(level.contains("<2>") && staged > 0, "{target}: no ring of two stages\n{text}\n{level}");
            assert!(!level.contains("nv_tileas.tiled_load"), "{target}: threads load a tile\n{text}\n{level}");
        }
        exact::check(&text, grid, self.parameters(), true);
        exact::check_in_tensor_memory(&text, grid, self.parameters());
        exact::check_from_stages(&text, grid, self.parameters());
    }
}

fn loops_of_any_count() {
    for trips in [0, 1, 2, 4] {
        Weighted { trips, ..USUAL }.check();
    }
}

fn other_extents_and_types() {
    for (m, n, factors) in
        [(128, 64, Number::F32), (64, 64, Number::F32), (128, 64, Number::Bf16), (64, 128, Number::I8)]
    {
        Weighted { m, n, factors, ..USUAL }.check();
    }
}

/// Threads read a tile in the layout of the accumulator, whatever its order in memory.
fn columns_in_memory() {
    for factors in [Number::F16, Number::F32] {
        Weighted { columns: true, factors, ..USUAL }.check();
    }
}

/// TMA fills rows outside of the view with zeros.
fn partly_outside() {
    Weighted { outside: 40, ..USUAL }.check();
}

/// The ring continues from one tile to the next.
fn tile_after_tile() {
    for trips in [1, 3] {
        Weighted { tiles: 3, trips, ..USUAL }.check();
    }
}

/// Threads load a few registers ahead, which costs less than a wait.
fn small_tiles_stay_loads() {
    let text = Weighted { n: 16, ..USUAL }.program();
    let level = compiled_for("sm_90", &text, 3, Emit::TileAs, &[]);
    assert!(level.contains("nv_tileas.tiled_load"), "{level}");
}

pub fn trials() -> Vec<Trial> {
    functions![
        loops_of_any_count,
        other_extents_and_types,
        columns_in_memory,
        partly_outside,
        tile_after_tile,
        small_tiles_stay_loads,
    ]
}
