//! The clients of the compiler: front ends, editors, package managers.

mod calls;
mod contrib;

fn main() -> std::process::ExitCode {
    tile_test_support::run(&tile_test_support::suites![calls, contrib])
}
