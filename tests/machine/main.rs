//! PTX and machine code: their contents, size, and predicted run time.

mod big_ops;
mod intrinsics;
mod kernels;
mod libnvvm;
mod lines;
mod mutation;
mod products;
mod sass;
mod scaled_gates;
mod staged_gates;
mod synchronization;
mod tensor_gates;
mod timing;
mod warpgroup_gates;

fn main() -> std::process::ExitCode {
    tile_test_support::run(&tile_test_support::suites![
        big_ops,
        intrinsics,
        kernels,
        libnvvm,
        lines,
        mutation,
        products,
        sass,
        scaled_gates,
        staged_gates,
        synchronization,
        tensor_gates,
        timing,
        warpgroup_gates
    ])
}
