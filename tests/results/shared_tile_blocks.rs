//! Tile blocks that are split over the CTAs of a cluster on sm_90, compiled from the public language and run on the
//! simulator. The results are compared with the reference interpreter.
//!
//! Operands are small whole numbers, so sums are exact in any order. Large tiles are split because one CTA cannot
//! hold their accumulators. Small tiles are split by an option, which is a cheaper way to test what programs do
//! besides dots.

use exact::{Numbers, scalar};
use std::time::Duration;
use tile_fuzz::case::{Case, Parameter};
use tile_interface::{CompileRequest, Compiler, InputKind};
use tile_interp::{machine::Limits, types::Number};
use tile_targets::Target;
use tile_test_support::{Trial, exact, functions};
use tileiras::compile::{self, InProcess};

/// A matrix product computed tile by tile, and an epilogue for the accumulator tiles.
struct Product<'a> {
    tile: [usize; 3],
    extents: [usize; 3],
    hints: &'a str,
    grid: [u32; 2],
    /// Text that computes the stored value `%out` from the accumulators `%sum`.
    epilogue: &'a str,
    out: Number,
    /// Whether each block processes every nth row of tiles, where n is the number of blocks.
    persistent: bool,
}

const PLAIN: Product<'_> = Product {
    tile: [64, 32, 64],
    extents: [128, 32, 128],
    hints: "",
    grid: [2, 1],
    epilogue: "",
    out: Number::F32,
    persistent: false,
};

const FORCED: &[(&str, &str)] = &[("num-ctas", "2")];

impl Product<'_> {
    fn program(&self) -> String {
        let ([m, n, k], [rows, columns, depth]) = (self.tile, self.extents);
        let (hints, out) = (self.hints, self.out.keyword());
        let view = |rows: &str, columns: &str, stride: &str, e: &str| {
            (format!("shape = [{rows}, {columns}], strides = [{stride}, 1] : tile<i32>"), {
                format!("tensor_view<?x?x{e}, strides=[?,1]>")
            })
        };
        let (sa, ta) = view("%m", "%k", "%k", "f16");
        let (sb, tb) = view("%k", "%n", "%n", "f16");
        let (sc, tc) = view("%m", "%n", "%n", out);
        let (va, vb) = (format!("partition_view<tile=({m}x{k}), padding_value = zero, {ta}>"), {
            format!("partition_view<tile=({k}x{n}), padding_value = zero, {tb}>")
        });
        let vc = format!("partition_view<tile=({m}x{n}), {tc}>");
        let (sums, results) = (format!("tile<{m}x{n}xf32>"), format!("tile<{m}x{n}x{out}>"));
        let (epilogue, stored) = if self.epilogue.is_empty() { ("", "%sum") } else { (self.epilogue, "%out") };
        let token = if self.persistent { " token=%t" } else { "" };
        let one_tile = format!(
            "%tiles:2 = get_index_space_shape %pa : {va} -> tile<i32>\n\
             %sum = for %i in (%zero to %tiles#1, step %one) : tile<i32> iter_values(%acc = %init) -> ({sums}) {{\n\
             %l, %w0 = load_view_tko weak %pa[%row, %i] : {va}, tile<i32> -> tile<{m}x{k}xf16>, token\n\
             %r, %w1 = load_view_tko weak %pb[%i, %y] : {vb}, tile<i32> -> tile<{k}x{n}xf16>, token\n\
             %next = mmaf %l, %r, %acc : tile<{m}x{k}xf16>, tile<{k}x{n}xf16>, {sums}\n\
             continue %next : {sums}\n}}\n{epilogue}\n\
             %done = store_view_tko weak {stored}, %pc[%row, %y]{token} : {results}, {vc}, tile<i32> -> token\n"
        );
        let body = if self.persistent {
            format!(
                "%blocks, %u, %v = get_num_tile_blocks : tile<i32>\n%start = make_token : token\n\
                 %all:2 = get_index_space_shape %pc : {vc} -> tile<i32>\n\
                 %end = for %row in (%x to %all#0, step %blocks) : tile<i32> iter_values(%t = %start) -> (token) {{\n\
                 {one_tile}continue %done : token\n}}\n"
            )
        } else {
            one_tile.replace("%row", "%x")
        };
        assert!(rows % 16 == 0 && columns % 16 == 0 && depth % 16 == 0);
        format!(
            "cuda_tile.module @m {{\nentry @k(%ap: tile<ptr<f16>>, %bp: tile<ptr<f16>>, %cp: tile<ptr<{out}>>, \
             %q: tile<ptr<f32>>, %m0: tile<i32>, %n0: tile<i32>, %k0: tile<i32>) {hints} {{\n\
             %a = assume div_by<16>, %ap : tile<ptr<f16>>\n%b = assume div_by<16>, %bp : tile<ptr<f16>>\n\
             %c = assume div_by<16>, %cp : tile<ptr<{out}>>\n%m = assume div_by<16>, %m0 : tile<i32>\n\
             %n = assume div_by<16>, %n0 : tile<i32>\n%k = assume div_by<16>, %k0 : tile<i32>\n\
             %zero = constant <i32: 0> : tile<i32>\n%one = constant <i32: 1> : tile<i32>\n\
             %init = constant <f32: 0.0> : {sums}\n%x, %y, %z = get_tile_block_id : tile<i32>\n\
             %av = make_tensor_view %a, {sa} -> {ta}\n%bv = make_tensor_view %b, {sb} -> {tb}\n\
             %cv = make_tensor_view %c, {sc} -> {tc}\n%pa = make_partition_view %av : {va}\n\
             %pb = make_partition_view %bv : {vb}\n%pc = make_partition_view %cv : {vc}\n{body}return\n}}\n}}\n"
        )
    }

    fn parameters(&self) -> Vec<Parameter> {
        let [rows, columns, depth] = self.extents;
        let mut numbers = Numbers::default();
        let mut buffer = |count: usize, n: Number| numbers.buffer(count, n, 2, 1.0);
        vec![
            buffer(rows * depth, Number::F16),
            buffer(depth * columns, Number::F16),
            buffer(rows * columns, self.out),
            buffer(1024, Number::F32),
            scalar(rows as u64),
            scalar(columns as u64),
            scalar(depth as u64),
        ]
    }

    /// Runs the program with the given cluster size; 1 means no cluster.
    fn check(&self, options: &[(&str, &str)], cluster: u32, warpgroups: bool, seeds: &[Option<u64>]) {
        let text = self.program();
        let ptx = compiled(&text, options);
        assert_eq!(ptx.contains("wgmma.mma_async"), warpgroups, "{text}");
        assert_eq!(ptx.contains(".blocksareclusters"), cluster > 1, "{text}");
        if cluster > 1 {
            assert!(ptx.contains(&format!(".reqnctapercluster {cluster}, 1, 1")), "{text}");
        }
        let mut messages = String::new();
        let mut sink = |d: tile_diag::Diagnostic| messages += &tile_diag::render::plain(&d);
        let program = compile::program(text.as_bytes(), InputKind::Text, &mut sink);
        let program = program.unwrap_or_else(|e| panic!("{e}: {messages}\n{text}"));
        let case = Case { program, grid: [self.grid[0], self.grid[1], 1], parameters: self.parameters() };
        let limits =
            Limits { ops: Some(1_000_000), time: Some(Duration::from_secs(120)), races: true, ..Limits::default() };
        let meaning = case.meaning(limits).unwrap_or_else(|e| panic!("the interpreter: {e}\n{text}"));
        for seed in seeds {
            let outcome = case.simulate(&ptx, *seed, Duration::from_secs(240));
            let outcome = outcome.unwrap_or_else(|e| panic!("seed {seed:?}: {e}\n{text}"));
            if let Some(difference) = case.difference(&meaning, &outcome) {
                panic!("seed {seed:?}: {difference}\n{text}");
            }
        }
    }
}

fn compiled(text: &str, options: &[(&str, &str)]) -> String {
    let options: Vec<(String, String)> = options.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    let request = CompileRequest {
        input_name: "products.mlir",
        pipeline_options: &options,
        ..CompileRequest::new(text.as_bytes(), InputKind::Text, Target::by_name("sm_90").expect("a target"))
    };
    let mut messages = String::new();
    let output = InProcess.compile(&request, &mut |d| messages += &tile_diag::render::plain(&d));
    output.unwrap_or_else(|e| panic!("{e}: {messages}\n{text}")).text
}

const SEEDS: &[Option<u64>] = &[None, Some(1), Some(2)];

//===-- tiles that exceed one CTA ------------------------------------------===//

fn rows_of_256() {
    let product = Product { tile: [256, 256, 64], extents: [512, 256, 128], ..PLAIN };
    product.check(&[], 2, true, &[None, Some(1)]);
}

/// In the last row of tiles, a whole slice is out of bounds; in others, a part of a slice is.
fn ragged_edges() {
    let tile = [256, 256, 64];
    Product { tile, extents: [304, 240, 80], ..PLAIN }.check(&[], 2, true, &[None, Some(1)]);
}

/// Four CTAs are used regardless of the hint, because two cannot hold the tile.
fn rows_of_512() {
    let hints = "optimization_hints=<sm_90 = {num_cta_in_cga = 2}>";
    let product = Product { tile: [512, 256, 64], extents: [400, 256, 64], hints, grid: [1, 1], ..PLAIN };
    product.check(&[], 4, true, &[None, Some(1)]);
}

fn columns_of_512() {
    let product = Product { tile: [128, 512, 64], extents: [128, 464, 128], grid: [1, 1], ..PLAIN };
    product.check(&[], 2, true, &[None, Some(1)]);
}

fn a_loop_over_tiles() {
    let epilogue = "%out = ftof %sum : tile<256x256xf32> -> tile<256x256xf16>";
    let product = Product { tile: [256, 256, 64], extents: [592, 256, 64], epilogue, out: Number::F16, ..PLAIN };
    Product { persistent: true, ..product }.check(&[], 2, true, &[None, Some(1)]);
}

/// One CTA can hold the tile, so it is not split.
fn what_fits_is_not_shared() {
    PLAIN.check(&[], 1, true, &[None]);
    // The option takes precedence, also if it prevents a split.
    PLAIN.check(&[("num-ctas", "1")], 1, true, &[None]);
    let large = Product { tile: [256, 256, 64], extents: [256, 256, 64], grid: [1, 1], ..PLAIN };
    large.check(&[("num-ctas", "1")], 1, false, &[]);
}

//===-- other ops ----------------------------------------------------------===//

/// Uses single-warp instructions, or warpgroups if the slices have enough rows.
fn small_tiles_on_demand() {
    for m in [64, 128] {
        let extents = [2 * m - 16, 32, 144];
        Product { tile: [m, 32, 64], extents, ..PLAIN }.check(FORCED, 2, m == 128, SEEDS);
        Product { tile: [m, 32, 64], extents, persistent: true, ..PLAIN }.check(FORCED, 2, m == 128, SEEDS);
    }
}

/// A bias for each column, a bias for each row, a mask, and a maximum of each row.
fn epilogues() {
    let load = "%range = iota : tile<32xi32>\n%rows = iota : tile<128xi32>\n\
         %q1 = reshape %q : tile<ptr<f32>> -> tile<1xptr<f32>>\n\
         %qc = broadcast %q1 : tile<1xptr<f32>> -> tile<32xptr<f32>>\n\
         %qr = broadcast %q1 : tile<1xptr<f32>> -> tile<128xptr<f32>>\n\
         %pcol = offset %qc, %range : tile<32xptr<f32>>, tile<32xi32> -> tile<32xptr<f32>>\n\
         %prow = offset %qr, %rows : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>\n\
         %bc, %e0 = load_ptr_tko weak %pcol : tile<32xptr<f32>> -> tile<32xf32>, token\n\
         %br, %e1 = load_ptr_tko weak %prow : tile<128xptr<f32>> -> tile<128xf32>, token\n\
         %bc1 = reshape %bc : tile<32xf32> -> tile<1x32xf32>\n\
         %br1 = reshape %br : tile<128xf32> -> tile<128x1xf32>\n\
         %bc2 = broadcast %bc1 : tile<1x32xf32> -> tile<128x32xf32>\n\
         %br2 = broadcast %br1 : tile<128x1xf32> -> tile<128x32xf32>\n\
         %s1 = addf %sum, %bc2 : tile<128x32xf32>\n%s2 = addf %s1, %br2 : tile<128x32xf32>\n";
    let most = "%most = reduce %s2 dim=1 identities=[-100000.0 : f32] : tile<128x32xf32> -> tile<128xf32>\n\
         (%e: tile<f32>, %f: tile<f32>) {\n%g = maxf %e, %f : tile<f32>\nyield %g : tile<f32>\n}\n\
         %m1 = reshape %most : tile<128xf32> -> tile<128x1xf32>\n\
         %m2 = broadcast %m1 : tile<128x1xf32> -> tile<128x32xf32>\n\
         %out = subf %s2, %m2 : tile<128x32xf32>\n";
    let epilogue = format!("{load}{most}");
    let product = Product { tile: [128, 32, 64], extents: [240, 32, 64], epilogue: &epilogue, ..PLAIN };
    product.check(FORCED, 2, true, SEEDS);
}

/// Sums of columns, for which the tile must be sliced along its columns, and a number that only one rank stores.
fn sums_of_columns() {
    let epilogue = "%total = reduce %sum dim=0 identities=[0.0 : f32] : tile<64x64xf32> -> tile<64xf32>\n\
         (%e: tile<f32>, %f: tile<f32>) {\n%g = addf %e, %f : tile<f32>\nyield %g : tile<f32>\n}\n\
         %range = iota : tile<64xi32>\n%q1 = reshape %q : tile<ptr<f32>> -> tile<1xptr<f32>>\n\
         %qc = broadcast %q1 : tile<1xptr<f32>> -> tile<64xptr<f32>>\n\
         %ptrs = offset %qc, %range : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>\n\
         %stored = store_ptr_tko weak %ptrs, %total : tile<64xptr<f32>>, tile<64xf32> -> token\n\
         %far = constant <i32: 512> : tile<i32>\n\
         %place = offset %q, %far : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>\n\
         %number = itof %n signed : tile<i32> -> tile<f32>\n\
         %noted = store_ptr_tko weak %place, %number : tile<ptr<f32>>, tile<f32> -> token\n\
         %out = negf %sum : tile<64x64xf32>";
    let product = Product { tile: [64, 64, 64], extents: [48, 48, 64], grid: [1, 1], epilogue, ..PLAIN };
    product.check(FORCED, 2, true, SEEDS);
}

/// If an op needs the whole tile block, the program is not split and stays the same.
fn what_cannot_be_shared_stays() {
    let epilogue = "%far = constant <i32: 512> : tile<i32>\n\
         %place = offset %q, %far : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>\n\
         %unit = constant <f32: 1.0> : tile<f32>\n\
         %old, %noted = atomic_rmw_tko relaxed device %place, addf, %unit : \
         tile<ptr<f32>>, tile<f32> -> tile<f32>, token\n\
         %out = negf %sum : tile<64x32xf32>";
    Product { epilogue, ..PLAIN }.check(FORCED, 1, true, SEEDS);
}

pub fn trials() -> Vec<Trial> {
    functions![
        rows_of_256,
        ragged_edges,
        rows_of_512,
        columns_of_512,
        a_loop_over_tiles,
        what_fits_is_not_shared,
        small_tiles_on_demand,
        epilogues,
        sums_of_columns,
        what_cannot_be_shared_stays
    ]
}
