//! What compiled programs compute, on the simulator, against the reference interpreter or known results.

mod agents;
mod big_tiles;
mod corpus;
mod dots;
mod extended_shared;
mod fuzz_bodies;
mod gpu_kit;
mod grouped_products;
mod libdevice;
mod made_products;
mod memory;
mod movement;
mod multimem;
mod prepared_products;
mod product_chains;
mod reductions;
mod semantics;
mod shared_tile_blocks;
mod tma;
mod warpgroup_products;
mod warpgroups;

fn main() -> std::process::ExitCode {
    tile_test_support::run(&tile_test_support::suites![
        agents,
        big_tiles,
        corpus,
        dots,
        extended_shared,
        fuzz_bodies,
        gpu_kit,
        grouped_products,
        libdevice,
        made_products,
        memory,
        movement,
        multimem,
        prepared_products,
        product_chains,
        reductions,
        semantics,
        shared_tile_blocks,
        tma,
        warpgroup_products,
        warpgroups
    ])
}
