//! Runs compiled programs on the simulator and compares the results with the reference interpreter or with known
//! results.

mod agents;
mod big_tiles;
mod computed_left;
mod converted_operands;
mod corpus;
mod digests;
mod dots;
mod extended_shared;
mod fuzz_bodies;
mod gpu_kit;
mod grouped_products;
mod index_loads;
mod libdevice;
mod library_code;
mod looped_tile_blocks;
mod memory;
mod movement;
mod multimem;
mod numerics;
mod paired_tile_blocks;
mod portable;
mod producer_computed;
mod product_chains;
mod reductions;
mod scaled_pairs;
mod scaled_products;
mod semantics;
mod shared_tile_blocks;
mod sliced_keys;
mod staged_products;
mod staged_tiles;
mod tensor_chains;
mod tensor_pairs;
mod tensor_products;
mod tile_libraries;
mod tma;
mod warpgroup_products;
mod warpgroups;

fn main() -> std::process::ExitCode {
    tile_test_support::run(&tile_test_support::suites![
        agents,
        big_tiles,
        computed_left,
        corpus,
        digests,
        dots,
        extended_shared,
        fuzz_bodies,
        gpu_kit,
        grouped_products,
        index_loads,
        libdevice,
        library_code,
        looped_tile_blocks,
        producer_computed,
        memory,
        movement,
        multimem,
        numerics,
        paired_tile_blocks,
        portable,
        converted_operands,
        product_chains,
        reductions,
        scaled_pairs,
        scaled_products,
        semantics,
        shared_tile_blocks,
        sliced_keys,
        staged_products,
        staged_tiles,
        tensor_chains,
        tensor_pairs,
        tensor_products,
        tile_libraries,
        tma,
        warpgroup_products,
        warpgroups
    ])
}
