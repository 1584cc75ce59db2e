//! Neighbouring tile blocks whose dots two CTAs of sm_100 run together (`tileaa-pair-tile-blocks`). Results are exact
//! integers, compared with the interpreter's on the ordinary schedule and on five adversarial ones.

use tile_fuzz::case::Parameter;
use tile_interface::Emit;
use tile_interp::types::Number;
use tile_test_support::{
    Trial,
    exact::{Numbers, check_on, check_with, compiled_for, scalar},
    full, functions,
};

/// Rows, columns and depth of a tile.
const TILE: [usize; 3] = [128, 128, 64];
const PAIR: &str = "tcgen05.mma.cta_group::2";

/// A product of f16 with results of f32, on a grid of tile blocks.
#[derive(Clone)]
struct Product {
    /// Tiles of the result and of the depth, in memory.
    tiles: [usize; 3],
    /// Elements of the last tiles that are outside of the arrays: rows, columns, depth.
    outside: [usize; 3],
    grid: [u32; 3],
    /// Computes `%i` and `%j`, the row and column of the tile, from the id `%x`, `%y`, `%z` and the numbers of rows
    /// and columns of tiles, `%rows` and `%columns`.
    ids: String,
    /// Computes `%result` from `%sum`.
    end: String,
    /// The bound of the loop over the depth.
    depth: &'static str,
    /// Tile blocks loop over tiles, so that `ids` divides the number of a tile.
    loops: bool,
}

const BY_ROWS: &str = "%i = addi %x, %zero : tile<i32>\n%j = addi %y, %zero : tile<i32>\n";
const KEEP: &str = "%result = addf %sum, %init : tile<128x128xf32>\n";

impl Product {
    /// Tile blocks along x have the rows.
    fn new(rows: usize, columns: usize) -> Self {
        Self {
            tiles: [rows, columns, 2],
            outside: [5, 3, 9],
            grid: [rows as u32, columns as u32, 1],
            ids: BY_ROWS.into(),
            end: KEEP.into(),
            depth: "%n",
            loops: false,
        }
    }

    /// One dimension of tile blocks, which go down columns in groups of `group` rows.
    fn grouped(rows: usize, columns: usize, group: usize) -> Self {
        let ids = format!(
            "%size = constant <i32: {group}> : tile<i32>\n\
             %per = muli %columns, %size : tile<i32>\n\
             %number = divi %x, %per signed : tile<i32>\n\
             %first = muli %number, %size : tile<i32>\n\
             %rest = subi %rows, %first : tile<i32>\n\
             %height = mini %rest, %size signed : tile<i32>\n\
             %inside = remi %x, %per signed : tile<i32>\n\
             %down = remi %inside, %height signed : tile<i32>\n\
             %i = addi %first, %down : tile<i32>\n\
             %j = divi %inside, %height signed : tile<i32>\n"
        );
        Self { grid: [(rows * columns) as u32, 1, 1], ids, ..Self::new(rows, columns) }
    }

    fn extent(&self, d: usize) -> usize {
        self.tiles[d] * TILE[d] - self.outside[d]
    }

    fn text(&self) -> String {
        let [m, n, k] = [0, 1, 2].map(|d| self.extent(d));
        let view = |name: &str, of: &str, [rows, columns]: [usize; 2], [r, c]: [usize; 2], e: &str| {
            let stride = columns.next_multiple_of(16);
            let t = format!("tensor_view<{rows}x{columns}x{e}, strides=[{stride},1]>");
            let v = format!("partition_view<tile=({r}x{c}), padding_value = zero, {t}>");
            format!(
                "%p{name} = assume div_by<16>, %{of} : tile<ptr<{e}>>\n\
                 %t{name} = make_tensor_view %p{name}, shape = [{rows}, {columns}], strides = [{stride}, 1] : {t}\n\
                 %v{name} = make_partition_view %t{name} : {v}\n"
            )
        };
        let shape = |[rows, columns]: [usize; 2], [r, c]: [usize; 2], e: &str| {
            let stride = columns.next_multiple_of(16);
            format!(
                "partition_view<tile=({r}x{c}), padding_value = zero, tensor_view<{rows}x{columns}x{e}, \
                 strides=[{stride},1]>>"
            )
        };
        let (before, after) = if self.loops {
            let count = "%gx, %gy, %gz = get_num_tile_blocks : tile<i32>\n%tiles = muli %rows, %columns : tile<i32>\n";
            (format!("{count}for %tile in (%x to %tiles, step %gx) : tile<i32> {{\n"), "continue\n}\n")
        } else {
            (String::new(), "")
        };
        let [tm, tn, tk] = TILE;
        let (a, b, c) =
            (shape([m, k], [tm, tk], "f16"), shape([k, n], [tk, tn], "f16"), shape([m, n], [tm, tn], "f32"));
        format!(
            "cuda_tile.module @m {{\nentry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>, \
             %n: tile<i32>, %rows: tile<i32>, %columns: tile<i32>) {{\n\
             %zero = constant <i32: 0> : tile<i32>\n%one = constant <i32: 1> : tile<i32>\n\
             %init = constant <f32: 0.0> : tile<128x128xf32>\n\
             %x, %y, %z = get_tile_block_id : tile<i32>\n{}{}{}{before}{}\
             %sum = for %k in (%zero to {}, step %one) : tile<i32> iter_values(%acc = %init) -> (tile<128x128xf32>) {{\n\
             %l, %lt = load_view_tko weak %va[%i, %k] : {a}, tile<i32> -> tile<128x64xf16>, token\n\
             %r, %rt = load_view_tko weak %vb[%k, %j] : {b}, tile<i32> -> tile<64x128xf16>, token\n\
             %next = mmaf %l, %r, %acc : tile<128x64xf16>, tile<64x128xf16>, tile<128x128xf32>\n\
             continue %next : tile<128x128xf32>\n}}\n{}\
             %st = store_view_tko weak %result, %vc[%i, %j]{} : tile<128x128xf32>, {c}, tile<i32> -> token\n\
             {after}return\n}}\n}}\n",
            view("a", "a", [m, k], [tm, tk], "f16"),
            view("b", "b", [k, n], [tk, tn], "f16"),
            view("c", "c", [m, n], [tm, tn], "f32"),
            if self.loops { self.ids.replace("%x", "%tile") } else { self.ids.clone() },
            self.depth,
            self.end.replace("VIEW", &c),
            if self.end.contains("%ot") { " token = %ot" } else { "" },
        )
    }

    fn parameters(&self) -> Vec<Parameter> {
        let mut numbers = Numbers::default();
        let size = |rows: usize, columns: usize| self.extent(rows) * self.extent(columns).next_multiple_of(16);
        let [rows, columns, depth] = self.tiles.map(|n| scalar(n as u64));
        vec![
            numbers.buffer(size(0, 2), Number::F16, 2, 1.0),
            numbers.buffer(size(2, 1), Number::F16, 2, 1.0),
            numbers.buffer(size(0, 1), Number::F32, 2, 1.0),
            depth,
            rows,
            columns,
        ]
    }

    fn run(&self) {
        check_with("sm_100", &self.text(), (self.grid, self.parameters()), &[], &[PAIR]);
    }

    /// Runs the program, whose tile blocks must not be paired.
    fn runs_alone(&self) {
        check_with("sm_100", &self.text(), (self.grid, self.parameters()), &[], &["tcgen05.mma.cta_group::1"]);
    }
}

fn rows_along_x() {
    for rows in [1, 2, 3] {
        Product::new(rows, 2).run();
    }
}

fn rows_along_y() {
    let ids = "%i = addi %y, %zero : tile<i32>\n%j = addi %x, %zero : tile<i32>\n".to_string();
    Product { ids, grid: [2, 3, 1], ..Product::new(3, 2) }.run();
}

/// Groups whose numbers of rows are odd have pairs of tile blocks in different columns.
fn groups_of_rows() {
    for (rows, group) in [(5, 2), (3, 4), (4, 8)] {
        Product::grouped(rows, 2, group).run();
    }
}

/// In launches of more tile blocks than SMs (148), the two tile blocks of a pair in different columns run one after
/// the other, in smaller ones at the same time.
fn more_tiles_than_sms() {
    let product = Product { tiles: [3, 50, 1], ..Product::grouped(3, 50, 3) };
    let in_a_loop = Product { loops: true, grid: [5, 1, 1], ..product.clone() };
    for (product, seed) in [(in_a_loop, Some(1)), (product, None)].into_iter().take(if full() { 2 } else { 1 }) {
        check_on(&[seed], "sm_100", &product.text(), (product.grid, product.parameters()), &[], &[PAIR]);
    }
}

/// Neighbours are never in one column.
fn one_row_of_tiles() {
    Product::grouped(1, 3, 8).run();
}

/// Neighbours are in one row.
fn columns_along_x() {
    let ids = "%i = divi %x, %columns signed : tile<i32>\n%j = remi %x, %columns signed : tile<i32>\n".to_string();
    Product { ids, grid: [4, 1, 1], ..Product::new(2, 2) }.runs_alone();
}

/// The array has more tiles than the grid has tile blocks, and tiles divide its extents. The second CTA of the last
/// pair must store nothing.
fn a_part_of_the_result() {
    Product { outside: [0; 3], grid: [3, 1, 1], ..Product::new(4, 1) }.run();
    Product { outside: [0; 3], grid: [3, 1, 1], ..Product::grouped(4, 1, 8) }.run();
}

/// A tile block reads the tile that it stores.
fn sums_in_place() {
    let end = "%old, %ot = load_view_tko weak %vc[%i, %j] : VIEW, tile<i32> -> tile<128x128xf32>, token\n\
               %result = addf %sum, %old : tile<128x128xf32>\n";
    for product in [Product::new(3, 1), Product::grouped(3, 2, 4)] {
        Product { end: end.into(), ..product }.run();
    }
}

/// The trip count depends on the column.
fn depth_by_column() {
    let ids = Product::grouped(3, 2, 4).ids + "%trips = addi %j, %one : tile<i32>\n";
    Product { ids, depth: "%trips", ..Product::grouped(3, 2, 4) }.run();
}

/// Tile blocks loop over tiles: as many as CTAs, fewer, and more.
fn loops_over_tiles() {
    for (rows, columns, group, blocks) in [(4, 2, 8, 4), (3, 2, 2, 3), (5, 1, 2, 2), (2, 2, 2, 7), (1, 3, 8, 2)] {
        Product { loops: true, grid: [blocks, 1, 1], ..Product::grouped(rows, columns, group) }.run();
    }
}

/// Neighbouring tiles always share the right operand.
fn loops_over_rows() {
    let ids = "%i = addi %x, %zero : tile<i32>\n%j = addi %zero, %zero : tile<i32>\n".to_string();
    for blocks in [2, 3] {
        Product { ids: ids.clone(), loops: true, grid: [blocks, 1, 1], ..Product::new(5, 1) }.run();
    }
}

/// The loop over tiles has no iterations.
fn loops_over_nothing() {
    let product = Product { loops: true, grid: [3, 1, 1], ..Product::grouped(2, 2, 2) };
    let mut parameters = product.parameters();
    parameters[4] = scalar(0);
    check_with("sm_100", &product.text(), (product.grid, parameters), &[], &[PAIR]);
}

fn without_taking_over() {
    for product in [Product::new(3, 1), Product::grouped(3, 2, 4)] {
        let options = [("dynamic-persistent", "false")];
        check_with("sm_100", &product.text(), (product.grid, product.parameters()), &options, &[PAIR]);
    }
}

/// No pairs if one CTA per tile block is asked for.
fn one_cta() {
    let text = Product::new(2, 2).text();
    let ptx = compiled_for("sm_100", &text, 3, Emit::Ptx, &[("num-ctas", "1")]);
    assert!(ptx.contains("tcgen05.mma.cta_group::1") && !ptx.contains("cluster_ctarank"), "{ptx}");
}

pub fn trials() -> Vec<Trial> {
    functions![
        rows_along_x,
        rows_along_y,
        groups_of_rows,
        more_tiles_than_sms,
        one_row_of_tiles,
        columns_along_x,
        a_part_of_the_result,
        sums_in_place,
        depth_by_column,
        loops_over_tiles,
        loops_over_rows,
        loops_over_nothing,
        without_taking_over,
        one_cta
    ]
}
