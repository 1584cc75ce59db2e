//! The text of the IR at each level, and the passes that produce it.

mod boundaries;
mod choices;
mod filecheck;
mod levels;
mod locations;
mod passes;
mod pipeline;
mod readable;
mod scaling;
mod schedule_contract;
mod shapes;

fn main() -> std::process::ExitCode {
    tile_test_support::run(&tile_test_support::suites![
        boundaries,
        choices,
        filecheck,
        levels,
        locations,
        passes,
        pipeline,
        readable,
        scaling,
        schedule_contract,
        shapes
    ])
}
