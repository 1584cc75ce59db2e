//! Hostile input, files and tools.

mod campaign;

fn main() -> std::process::ExitCode {
    tile_test_support::run(&tile_test_support::suites![campaign])
}
