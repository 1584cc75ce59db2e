//! Neighbouring tile blocks whose dots two CTAs of sm_100 run together (`tileaa-pair-tile-blocks`). Results are exact
//! integers, compared with the interpreter's on the ordinary schedule and on five adversarial ones.

use tile_interface::Emit;
use tile_test_support::{
    Trial,
    exact::{check_on, check_with, compiled_for, scalar},
    full, functions,
    grid_product::Product,
};

const PAIR: &str = "tcgen05.mma.cta_group::2";

/// Runs a product in pairs.
fn run(product: Product) {
    check_with("sm_100", &product.text(), (product.grid, product.parameters()), &[], &[PAIR]);
}

/// Runs a product whose tile blocks must not be paired.
fn runs_alone(product: Product) {
    let names = &["tcgen05.mma.cta_group::1"];
    check_with("sm_100", &product.text(), (product.grid, product.parameters()), &[], names);
}

fn rows_along_x() {
    for rows in [1, 2, 3] {
        run(Product::new(rows, 2));
    }
}

fn rows_along_y() {
    let ids = "%i = addi %y, %zero : tile<i32>\n%j = addi %x, %zero : tile<i32>\n".to_string();
    run(Product { ids, grid: [2, 3, 1], ..Product::new(3, 2) });
}

/// Groups whose numbers of rows are odd have pairs of tile blocks in different columns.
fn groups_of_rows() {
    for (rows, group) in [(5, 2), (3, 4), (4, 8)] {
        run(Product::grouped(rows, 2, group));
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
    run(Product::grouped(1, 3, 8));
}

/// Neighbours are in one row.
fn columns_along_x() {
    let ids = "%i = divi %x, %columns signed : tile<i32>\n%j = remi %x, %columns signed : tile<i32>\n".to_string();
    runs_alone(Product { ids, grid: [4, 1, 1], ..Product::new(2, 2) });
}

/// The array has more tiles than the grid has tile blocks, and tiles divide its extents. The second CTA of the last
/// pair must store nothing.
fn a_part_of_the_result() {
    run(Product { outside: [0; 3], grid: [3, 1, 1], ..Product::new(4, 1) });
    run(Product { outside: [0; 3], grid: [3, 1, 1], ..Product::grouped(4, 1, 8) });
}

/// A tile block reads the tile that it stores.
fn sums_in_place() {
    let end = "%old, %ot = load_view_tko weak %vc[%i, %j] : VIEW, tile<i32> -> tile<128x128xf32>, token\n\
               %result = addf %sum, %old : tile<128x128xf32>\n";
    for product in [Product::new(3, 1), Product::grouped(3, 2, 4)] {
        run(Product { end: end.into(), ..product });
    }
}

/// The trip count depends on the column.
fn depth_by_column() {
    let ids = Product::grouped(3, 2, 4).ids + "%trips = addi %j, %one : tile<i32>\n";
    run(Product { ids, depth: "%trips", ..Product::grouped(3, 2, 4) });
}

/// Tile blocks loop over tiles: as many as CTAs, fewer, and more.
fn loops_over_tiles() {
    for (rows, columns, group, blocks) in [(4, 2, 8, 4), (3, 2, 2, 3), (5, 1, 2, 2), (2, 2, 2, 7), (1, 3, 8, 2)] {
        run(Product { loops: true, grid: [blocks, 1, 1], ..Product::grouped(rows, columns, group) });
    }
}

/// Neighbouring tiles always share the right operand.
fn loops_over_rows() {
    let ids = "%i = addi %x, %zero : tile<i32>\n%j = addi %zero, %zero : tile<i32>\n".to_string();
    for blocks in [2, 3] {
        run(Product { ids: ids.clone(), loops: true, grid: [blocks, 1, 1], ..Product::new(5, 1) });
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
