//! Measures the time to simulate a 128 x 256 tile of a bf16 matrix product, over four blocks of 64 along K.
//!
//! Run with `cargo run --release -p ptx-sim --example bench_tensor`. The tile is computed once with `ldmatrix` and
//! `mma.sync` by eight warps, and once with `wgmma` by two warpgroups fed by bulk copies; each plain and under an
//! adversarial schedule. The results are checked against a product computed here.

use ptx_sim::{Arg, Config, Device, LaunchConfig, Module, RunOptions};
use std::error::Error;
use std::fmt::Write as _;
use std::time::Instant;

const M: usize = 128;
const N: usize = 256;
/// Number of blocks along K, and the length of one.
const BLOCKS: usize = 4;
const DEPTH: usize = 64;

const HEADER: &str = ".version 8.8\n.target sm_90a\n.address_size 64\n";

/// Small integers, for which sums of products are exact.
fn a(row: usize, k: usize) -> f32 {
    ((row * 7 + k * 3) % 11) as f32 - 5.0
}

fn b(column: usize, k: usize) -> f32 {
    ((column * 5 + k * 9) % 13) as f32 - 6.0
}

/// `prefix`0, `prefix`1, ...: a list of registers.
fn list(prefix: &str, from: usize, count: usize) -> String {
    (from..from + count).map(|i| format!("{prefix}{i}")).collect::<Vec<_>>().join(", ")
}

/// Eight warps, two along M by four along N, 64 x 64 each. The rows of a block are 144 bytes apart in shared memory;
/// every thread copies 16 bytes at a time.
fn mma_kernel() -> Result<String, std::fmt::Error> {
    let mut t = format!(
        "{HEADER}.shared .align 16 .b8 s[{}];
.visible .entry k(.param .u64 out, .param .u64 pa, .param .u64 pb) .reqntid 256 {{
.reg .b64 %rd<16>; .reg .b32 %r<32>; .reg .b32 %a<16>; .reg .b32 %b<16>; .reg .f32 %f<128>; .reg .pred %p<4>; .reg .b32 %v<4>;
ld.param.b64 %rd1, [out]; ld.param.b64 %rd2, [pa]; ld.param.b64 %rd3, [pb]; mov.u32 %r1, %tid.x; mov.b32 %r2, s; mov.b32 %r20, 0;
shr.u32 %r3, %r1, 3; and.b32 %r4, %r1, 7; shl.b32 %r5, %r4, 4; mad.lo.u32 %r6, %r3, 144, %r5; add.u32 %r6, %r6, %r2;
mad.lo.u32 %r7, %r3, {row}, %r5; cvt.u64.u32 %rd4, %r7; add.s64 %rd2, %rd2, %rd4; add.s64 %rd3, %rd3, %rd4;
shr.u32 %r8, %r1, 5; and.b32 %r9, %r1, 31; and.b32 %r10, %r8, 1; shr.u32 %r11, %r8, 1;
and.b32 %r12, %r9, 15; shr.u32 %r13, %r9, 4; shl.b32 %r14, %r10, 6; add.u32 %r12, %r12, %r14; mul.lo.u32 %r12, %r12, 144; shl.b32 %r13, %r13, 4;
add.u32 %r15, %r12, %r13; add.u32 %r15, %r15, %r2;
and.b32 %r12, %r9, 7; shr.u32 %r13, %r9, 4; shl.b32 %r13, %r13, 3; add.u32 %r12, %r12, %r13; shl.b32 %r14, %r11, 6; add.u32 %r12, %r12, %r14;
mul.lo.u32 %r12, %r12, 144; shr.u32 %r13, %r9, 3; and.b32 %r13, %r13, 1; shl.b32 %r13, %r13, 4; add.u32 %r16, %r12, %r13; add.u32 %r16, %r16, %r2;\n",
        (M + N) * 144,
        row = 2 * BLOCKS * DEPTH,
    );
    for i in 0..128 {
        writeln!(t, "mov.f32 %f{i}, 0f00000000;")?;
    }
    t += "LOOP:\n";
    for (base, pointer, rows) in [(0, "%rd2", M), (M * 144, "%rd3", N)] {
        for i in 0..rows / 32 {
            let (from, to) = (i * 32 * 2 * BLOCKS * DEPTH, base + i * 32 * 144);
            writeln!(t, "ld.global.v4.b32 {{{}}}, [{pointer}+{from}];", list("%v", 0, 4))?;
            writeln!(t, "st.shared.v4.b32 [%r6+{to}], {{{}}};", list("%v", 0, 4))?;
        }
    }
    t += "bar.sync 0;\n";
    for k in 0..DEPTH / 16 {
        for i in 0..4 {
            let at = i * 16 * 144 + 32 * k;
            writeln!(t, "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{{}}}, [%r15+{at}];", list("%a", 4 * i, 4))?;
            let at = M * 144 + at;
            writeln!(t, "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{{}}}, [%r16+{at}];", list("%b", 4 * i, 4))?;
        }
        for i in 0..4 {
            for j in 0..8 {
                let d = list("%f", 32 * i + 4 * j, 4);
                let (x, y) = (list("%a", 4 * i, 4), list("%b", 2 * j, 2));
                writeln!(t, "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {{{d}}}, {{{x}}}, {{{y}}}, {{{d}}};")?;
            }
        }
    }
    write!(
        t,
        "bar.sync 0; add.s64 %rd2, %rd2, {step}; add.s64 %rd3, %rd3, {step}; add.u32 %r20, %r20, 1; setp.lt.u32 %p1, %r20, {BLOCKS}; @%p1 bra LOOP;
shr.u32 %r21, %r9, 2; shl.b32 %r22, %r10, 6; add.u32 %r21, %r21, %r22; and.b32 %r23, %r9, 3; shl.b32 %r23, %r23, 1; shl.b32 %r24, %r11, 6; add.u32 %r23, %r23, %r24;
mad.lo.u32 %r25, %r21, {N}, %r23; mul.wide.u32 %rd5, %r25, 4; add.s64 %rd1, %rd1, %rd5;\n",
        step = 2 * DEPTH
    )?;
    for i in 0..4 {
        for j in 0..8 {
            for half in 0..2 {
                let at = 4 * ((16 * i + 8 * half) * N + 8 * j);
                let d = 32 * i + 4 * j + 2 * half;
                writeln!(t, "st.global.v2.f32 [%rd1+{at}], {{%f{d}, %f{}}};", d + 1)?;
            }
        }
    }
    t += "ret; }";
    Ok(t)
}

/// Two warpgroups, 64 x 256 each. Thread 0 copies the blocks, which are stored in global memory as the instruction
/// expects them: rows of 128 bytes, swizzled.
fn wgmma_kernel() -> Result<String, std::fmt::Error> {
    let (a_bytes, b_bytes) = (M * 128, N * 128);
    let all = a_bytes + b_bytes;
    let mut t = format!(
        "{HEADER}.shared .align 1024 .b8 s[{}]; .shared .align 8 .b64 full[{BLOCKS}];
.visible .entry k(.param .u64 out, .param .u64 pa, .param .u64 pb) .reqntid 256 {{
.reg .b64 %rd<32>; .reg .b32 %r<32>; .reg .f32 %f<128>; .reg .pred %p<4>;
ld.param.b64 %rd1, [out]; ld.param.b64 %rd2, [pa]; ld.param.b64 %rd3, [pb]; mov.u32 %r1, %tid.x; mov.b32 %r2, s; mov.b32 %r3, full;
setp.ne.u32 %p1, %r1, 0; @%p1 bra READY;\n",
        BLOCKS * all
    );
    for i in 0..BLOCKS {
        writeln!(t, "mbarrier.init.shared::cta.b64 [%r3+{}], 1;", 8 * i)?;
    }
    t += "fence.mbarrier_init.release.cluster;\n";
    for i in 0..BLOCKS {
        let copy = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes";
        let (bar, place) = (8 * i, i * all);
        writeln!(t, "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3+{bar}], {all};")?;
        writeln!(t, "add.u32 %r4, %r3, {bar}; {copy} [%r2+{place}], [%rd2+{}], {a_bytes}, [%r4];", i * a_bytes)?;
        writeln!(t, "{copy} [%r2+{}], [%rd3+{}], {b_bytes}, [%r4];", place + a_bytes, i * b_bytes)?;
    }
    write!(
        t,
        "READY: bar.sync 0; shr.u32 %r5, %r1, 7; mad.lo.u32 %r6, %r5, {}, %r2; shr.u32 %r6, %r6, 4; cvt.u64.u32 %rd4, %r6; or.b64 %rd4, %rd4, 0x4000004000010000;
add.u32 %r7, %r2, {a_bytes}; shr.u32 %r7, %r7, 4; cvt.u64.u32 %rd5, %r7; or.b64 %rd5, %rd5, 0x4000004000010000; wgmma.fence.sync.aligned;\n",
        64 * 128
    )?;
    let d = list("%f", 0, 128);
    for i in 0..BLOCKS {
        writeln!(
            t,
            "L{i}: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3+{}], 0; @!%p2 bra L{i}; wgmma.fence.sync.aligned;",
            8 * i
        )?;
        for k in 0..DEPTH / 16 {
            let at = (i * all + 32 * k) / 16;
            writeln!(t, "add.s64 %rd6, %rd4, {at}; add.s64 %rd7, %rd5, {at}; setp.ne.u32 %p3, {}, 0;", i + k)?;
            writeln!(t, "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {{{d}}}, %rd6, %rd7, %p3, 1, 1, 0, 0;")?;
        }
        t += "wgmma.commit_group.sync.aligned;\n";
    }
    write!(
        t,
        "wgmma.wait_group.sync.aligned 0; shr.u32 %r10, %r1, 5; shl.b32 %r10, %r10, 4; and.b32 %r11, %r1, 31; shr.u32 %r12, %r11, 2; add.u32 %r10, %r10, %r12;
and.b32 %r13, %r11, 3; shl.b32 %r13, %r13, 1; mad.lo.u32 %r14, %r10, {N}, %r13; mul.wide.u32 %rd9, %r14, 4; add.s64 %rd1, %rd1, %rd9;\n"
    )?;
    for j in 0..N / 8 {
        for half in 0..2 {
            let (at, d) = (4 * (8 * half * N + 8 * j), 4 * j + 2 * half);
            writeln!(t, "st.global.v2.f32 [%rd1+{at}], {{%f{d}, %f{}}};", d + 1)?;
        }
    }
    t += "ret; }";
    Ok(t)
}

fn bf16(value: f32) -> [u8; 2] {
    half::bf16::from_f32(value).to_le_bytes()
}

/// A matrix stored row by row along all of K.
fn rows(count: usize, value: fn(usize, usize) -> f32) -> Vec<u8> {
    (0..count).flat_map(|r| (0..BLOCKS * DEPTH).flat_map(move |k| bf16(value(r, k)))).collect()
}

/// A matrix stored block by block, each with its rows in the 128-byte swizzle.
fn swizzled(count: usize, value: fn(usize, usize) -> f32) -> Vec<u8> {
    let mut out = vec![0; count * 2 * BLOCKS * DEPTH];
    for block in 0..BLOCKS {
        for r in 0..count {
            for k in 0..DEPTH {
                let at = (block * count + r) * 128 + ((k / 8) ^ (r % 8)) * 16 + k % 8 * 2;
                out[at..at + 2].copy_from_slice(&bf16(value(r, block * DEPTH + k)));
            }
        }
    }
    out
}

fn run(name: &str, ptx: &str, left: &[u8], right: &[u8], adversarial: Option<u64>) -> Result<(), Box<dyn Error>> {
    let module = Module::parse(ptx)?;
    let mut device = Device::new(Config::default());
    let out = device.alloc(4 * (M * N) as u64);
    let args = [Arg::Ptr(out), Arg::Ptr(device.alloc_from(left)), Arg::Ptr(device.alloc_from(right))];
    let launch = LaunchConfig { grid: [1, 1, 1], args: &args, ..LaunchConfig::default() };
    let options = RunOptions { adversarial, ..RunOptions::default() };
    let start = Instant::now();
    let report = device.launch(&module, "k", &launch, &options)?;
    let seconds = start.elapsed().as_secs_f64();
    let mut bytes = vec![0; 4 * M * N];
    device.read(out, &mut bytes)?;
    for (i, raw) in bytes.chunks_exact(4).enumerate() {
        let found = f32::from_le_bytes([raw[0], raw[1], raw[2], raw[3]]);
        let want: f32 = (0..BLOCKS * DEPTH).map(|k| a(i / N, k) * b(i % N, k)).sum();
        if found != want {
            return Err(format!("{name}: row {}, column {} is {found}, expected {want}", i / N, i % N).into());
        }
    }
    let schedule = if adversarial.is_some() { "adversarial" } else { "plain" };
    let rate = report.stats.tensor_macs as f64 / seconds / 1e6;
    println!("{name}, {schedule}: {:.0} ms, {rate:.0} million multiply-adds per second", 1e3 * seconds);
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    for adversarial in [None, Some(1)] {
        run("mma.sync", &mma_kernel()?, &rows(M, a), &rows(N, b), adversarial)?;
        run("wgmma", &wgmma_kernel()?, &swizzled(M, a), &swizzled(N, b), adversarial)?;
    }
    Ok(())
}
