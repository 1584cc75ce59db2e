//! Products of matrices on a grid of tile blocks, with any order of tile blocks.

use crate::exact::{Numbers, scalar};
use tile_fuzz::case::Parameter;
use tile_interp::types::Number;

/// Rows, columns and depth of a tile.
pub const TILE: [usize; 3] = [128, 128, 64];

/// A product of f16 with results of f32, on a grid of tile blocks.
#[derive(Clone)]
pub struct Product {
    /// Tiles of the result and of the depth, in memory.
    pub tiles: [usize; 3],
    /// Elements of the last tiles that are outside of the arrays: rows, columns, depth.
    pub outside: [usize; 3],
    pub grid: [u32; 3],
    /// Computes `%i` and `%j`, the row and column of the tile, from the id `%x`, `%y`, `%z` and the numbers of rows
    /// and columns of tiles, `%rows` and `%columns`.
    pub ids: String,
    /// Computes `%result` from `%sum`.
    pub end: String,
    /// The bound of the loop over the depth.
    pub depth: &'static str,
    /// Tile blocks loop over tiles, so that `ids` divides the number of a tile.
    pub loops: bool,
}

pub const BY_ROWS: &str = "%i = addi %x, %zero : tile<i32>\n%j = addi %y, %zero : tile<i32>\n";
pub const KEEP: &str = "%result = addf %sum, %init : tile<128x128xf32>\n";

impl Product {
    /// Tile blocks along x have the rows.
    pub fn new(rows: usize, columns: usize) -> Self {
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
    pub fn grouped(rows: usize, columns: usize, group: usize) -> Self {
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

    pub fn text(&self) -> String {
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

    pub fn parameters(&self) -> Vec<Parameter> {
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
}
