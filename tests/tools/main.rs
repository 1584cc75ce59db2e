//! The commands, and the formats in which they read and write programs.

mod cmake;
mod commands;
mod demo;
mod disassembler_oracle;
mod explore;
mod fuzz_command;
mod progress;
mod python;
mod second_encoder;
mod tile_libraries;
mod translate;
mod tune;
mod tutorials;

fn main() -> std::process::ExitCode {
    tile_test_support::run(&tile_test_support::suites![
        cmake,
        commands,
        demo,
        disassembler_oracle,
        explore,
        fuzz_command,
        progress,
        python,
        second_encoder,
        tile_libraries,
        translate,
        tune,
        tutorials
    ])
}
