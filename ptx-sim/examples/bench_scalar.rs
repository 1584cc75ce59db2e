//! Measures the speed of scalar code and of parsing.
//!
//! Run with `cargo run --release -p ptx-sim --example bench_scalar`. Prints thread instructions per second for a loop
//! of integer and floating-point arithmetic and for a loop of global loads, and megabytes per second for the parser.

use ptx_sim::{Arg, Config, Device, LaunchConfig, Module, RunOptions};
use std::fmt::Write as _;
use std::time::Instant;

const HEADER: &str = ".version 8.8\n.target sm_90\n.address_size 64\n";

/// A kernel whose loop body is `body`, executed `n` times by 256 threads.
fn kernel(body: &str) -> String {
    format!(
        "{HEADER}.visible .entry k(.param .u64 p, .param .u32 n) .reqntid 256 {{
  .reg .b64 %rd<8>; .reg .b32 %r<16>; .reg .f32 %f<16>; .reg .pred %p<2>;
  ld.param.b64 %rd1, [p]; ld.param.b32 %r1, [n]; cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r2, %tid.x; mov.b32 %r3, 0; mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2;
  mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f3F000000; mov.f32 %f3, 0f3E800000;
L:
{body}
  add.s32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, %r1; @%p1 bra L;
  st.global.f32 [%rd3], %f1; ret; }}"
    )
}

fn run(name: &str, body: &str, n: u32) -> Result<(), Box<dyn std::error::Error>> {
    let module = Module::parse(&kernel(body))?;
    let mut device = Device::new(Config::default());
    let p = device.alloc_from(&[0; 1024]);
    let args = [Arg::Ptr(p), Arg::U32(n)];
    let launch = LaunchConfig { grid: [4, 1, 1], args: &args, ..LaunchConfig::default() };
    let start = Instant::now();
    let report = device.launch(&module, "k", &launch, &RunOptions::default())?;
    let seconds = start.elapsed().as_secs_f64();
    let rate = report.stats.total_thread_instructions() as f64 / seconds;
    println!("{name}: {:.0} million thread instructions per second", rate / 1e6);
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let alu = "  fma.rn.f32 %f1, %f1, %f2, %f3; mad.lo.s32 %r4, %r3, %r2, %r4; xor.b32 %r5, %r4, %r3; \
               add.f32 %f4, %f1, %f2; shl.b32 %r6, %r5, 3; mul.f32 %f5, %f4, %f3;";
    run("arithmetic", alu, 4000)?;
    run("global loads", "  ld.global.b32 %r7, [%rd3]; add.s32 %r8, %r7, %r3;", 4000)?;
    let mut text = kernel(alu);
    for i in 0..4000 {
        write!(text, "\n{}", kernel(alu).replace(HEADER, "").replace(" k(", &format!(" k{i}(")))?;
    }
    let start = Instant::now();
    let module = Module::parse(&text)?;
    let seconds = start.elapsed().as_secs_f64();
    let entries = module.entries().count();
    println!("parser: {:.1} MB/s ({entries} entries)", text.len() as f64 / 1e6 / seconds);
    Ok(())
}
