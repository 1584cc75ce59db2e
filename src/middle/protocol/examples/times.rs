//! Measures the time to check typical protocols: `cargo run --release -p tile-protocol --example times`.

#[path = "../tests/common/mod.rs"]
mod common;

use std::time::Instant;

fn main() {
    let programs = [
        common::gemm(4, 2, true),
        common::gemm(6, 2, true),
        common::single_agent(4),
        common::copies_in_groups(4),
        common::attention(2),
        common::persistent(4, 2),
    ];
    for program in programs {
        let times = (0..5).map(|_| {
            let start = Instant::now();
            let verdict = program.check();
            (start.elapsed(), verdict.is_ok())
        });
        let (best, accepted) = times.min().unwrap_or_default();
        let stages = program.barriers.first().map_or(0, |b| b.len());
        println!("{:30} {stages} stages: {:8.3} ms, accepted: {accepted}", program.name, best.as_secs_f64() * 1e3);
    }
}
