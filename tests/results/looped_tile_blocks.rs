//! Grids whose tile blocks the first CTAs run on sm_90 (`tileaa-loop-over-tile-blocks`). Results are exact integers,
//! compared with the interpreter's on the ordinary schedule, where each CTA runs one tile block, and on adversarial
//! ones, whose devices have one to four SMs.

use tile_interface::Emit;
use tile_test_support::{
    Trial,
    exact::{check_with, compiled_for, scalar},
    functions,
    grid_product::Product,
};

/// The special register that only such kernels read.
const SMS: &str = "%nsmid";

/// Runs a product whose tile blocks a loop runs.
fn run(product: &Product) {
    check_with("sm_90", &product.text(), (product.grid, product.parameters()), &[], &["wgmma", SMS]);
}

/// Runs a product, and checks that each CTA runs one tile block.
fn runs_alone(product: &Product, options: &[(&str, &str)]) {
    let ptx = compiled_for("sm_90", &product.text(), 3, Emit::Ptx, options);
    assert!(!ptx.contains(SMS), "{ptx}");
    check_with("sm_90", &product.text(), (product.grid, product.parameters()), options, &["wgmma"]);
}

fn rows_along_x() {
    for rows in [1, 2, 5] {
        run(&Product::new(rows, 2));
    }
}

fn rows_along_y() {
    let ids = "%i = addi %y, %zero : tile<i32>\n%j = addi %x, %zero : tile<i32>\n".to_string();
    run(&Product { ids, grid: [2, 3, 1], ..Product::new(3, 2) });
}

/// Rows are along x and z, columns along y.
fn three_dimensions() {
    let ids = "%two = constant <i32: 2> : tile<i32>\n%low = muli %z, %two : tile<i32>\n\
               %i = addi %low, %x : tile<i32>\n%j = addi %y, %zero : tile<i32>\n";
    run(&Product { ids: ids.into(), grid: [2, 2, 3], ..Product::new(6, 2) });
}

fn groups_of_rows() {
    run(&Product::grouped(5, 2, 2));
}

/// Trip counts of a single stage, and of none.
fn few_iterations() {
    for depth in [1, 0] {
        let product = Product { tiles: [3, 2, 1], ..Product::new(3, 2) };
        let mut parameters = product.parameters();
        parameters[3] = scalar(depth);
        check_with("sm_90", &product.text(), (product.grid, parameters), &[], &["wgmma", SMS]);
    }
}

/// A negative number of iterations fails the test for few of them at run time, so each CTA runs one tile block.
fn one_tile_block_each() {
    let product = Product { tiles: [3, 2, 1], ..Product::new(3, 2) };
    let mut parameters = product.parameters();
    parameters[3] = scalar(u64::from(u32::MAX));
    check_with("sm_90", &product.text(), (product.grid, parameters), &[], &["wgmma", SMS]);
}

/// A tile block reads the tile that it stores.
fn sums_in_place() {
    let end = "%old, %ot = load_view_tko weak %vc[%i, %j] : VIEW, tile<i32> -> tile<128x128xf32>, token\n\
               %result = addf %sum, %old : tile<128x128xf32>\n";
    run(&Product { end: end.into(), ..Product::new(3, 2) });
}

/// A trip count that depends on the tile block makes shares of equal numbers uneven.
fn depth_by_column() {
    let ids = Product::new(3, 2).ids + "%trips = addi %j, %one : tile<i32>\n";
    runs_alone(&Product { ids, depth: "%trips", ..Product::new(3, 2) }, &[]);
}

/// Many iterations that are known do not pay.
fn known_depth() {
    let product = |trips: usize| {
        let ids = Product::new(3, 1).ids + &format!("%trips = constant <i32: {trips}> : tile<i32>\n");
        Product { ids, depth: "%trips", tiles: [3, 1, trips], ..Product::new(3, 1) }
    };
    run(&product(2));
    let ptx = compiled_for("sm_90", &product(200).text(), 3, Emit::Ptx, &[]);
    assert!(ptx.contains("wgmma") && !ptx.contains(SMS), "{ptx}");
}

/// The program loops over tiles itself.
fn loops_over_tiles() {
    runs_alone(&Product { loops: true, grid: [3, 1, 1], ..Product::grouped(3, 2, 2) }, &[]);
}

fn turned_off() {
    runs_alone(&Product::new(3, 2), &[("dynamic-persistent", "false")]);
}

/// Atomic updates may order tile blocks.
fn atomic_updates() {
    let text = Product::new(3, 2).text();
    let (from, rest) = text.split_once("%st = ").expect("a store");
    let atomic = "%old, %at = atomic_rmw_tko relaxed device %counter, add, %one : tile<ptr<i32>>, tile<i32> -> \
                  tile<i32>, token\n%st = ";
    let text = format!("{from}{atomic}{rest}").replace("%n: tile<i32>", "%counter: tile<ptr<i32>>, %n: tile<i32>");
    let ptx = compiled_for("sm_90", &text, 3, Emit::Ptx, &[]);
    assert!(ptx.contains("wgmma") && !ptx.contains(SMS), "{ptx}");
}

/// The program asks for a number of CTAs per SM.
fn occupancy() {
    let text = Product::new(3, 2).text();
    let text =
        text.replace("%columns: tile<i32>) {", "%columns: tile<i32>) optimization_hints=<sm_90 = {occupancy = 1}> {");
    let ptx = compiled_for("sm_90", &text, 3, Emit::Ptx, &[]);
    assert!(ptx.contains("wgmma") && !ptx.contains(SMS), "{ptx}");
}

pub fn trials() -> Vec<Trial> {
    functions![
        rows_along_x,
        rows_along_y,
        three_dimensions,
        groups_of_rows,
        few_iterations,
        one_tile_block_each,
        sums_in_place,
        depth_by_column,
        known_depth,
        loops_over_tiles,
        turned_off,
        atomic_updates,
        occupancy
    ]
}
