//! Tensor memory and the fifth-generation matrix instructions.

use half::{bf16, f16};

use super::harness::{Random, run};
use super::mma::{product, singles};

#[test]
fn moving_through_tensor_memory() {
    run("tmem_move", |k| {
        let a = Random::new(1).words(512, |x| x as u32);
        k.input(&a);
        let out = k.output::<u32>(7 * 128);
        k.launch(1, 128);
        // Lane `l` of the memory holds the four words of thread `l`.
        let at = |lane: usize, column: usize| a[4 * lane + column];
        let expected: Vec<u32> = (0..128)
            .flat_map(|i| {
                let (base, t) = (i / 32 * 32, i % 32);
                let square = |r: usize| at(base + t / 4 + 8 * (t % 2), t / 2 % 2 + 2 * r);
                let wide = |r: usize| at(base + 16 + t / 4 + 8 * r, t % 4);
                let packed = |r: usize| at(i, 2 * r) & 0xffff | at(i, 2 * r + 1) << 16;
                [square(0), square(1), wide(0), wide(1), packed(0), packed(1), at(base + t % 16, t / 16 * 2)]
            })
            .collect();
        k.expect(out, &expected);
    });
}

#[test]
fn operands_in_shared_memory() {
    run("tcgen05_f16", |k| {
        let mut random = Random::new(2);
        let (a, b) = (random.whole(128 * 64, -5, 5), random.whole(32 * 64, -5, 5));
        let bits = |v: &[f32]| v.iter().map(|x| bf16::from_f32(*x).to_bits()).collect::<Vec<_>>();
        k.input(&bits(&a));
        k.input(&bits(&b));
        let out = k.output::<f32>(128 * 32);
        k.launch_3d([1, 1, 1], [128, 1, 1], (128 + 32) * 128);
        let wide = |v: &[f32]| v.iter().map(|x| f64::from(*x)).collect::<Vec<_>>();
        k.expect(out, &singles(&product(&wide(&a), &wide(&b), 64, 32, |_, _| 0.0)));
    });
}

#[test]
fn a_in_tensor_memory() {
    run("tcgen05_a_tmem", |k| {
        let mut random = Random::new(3);
        let (a, b) = (random.words(128 * 32, |x| x as u8), random.words(16 * 32, |x| x as u8));
        k.input(&a);
        k.input(&b);
        let out = k.output::<i32>(128 * 16);
        k.launch(1, 128);
        let left: Vec<f64> = a.iter().map(|x| f64::from(*x as i8)).collect();
        let right: Vec<f64> = b.iter().map(|x| f64::from(*x)).collect();
        let d = product(&left, &right, 32, 16, |_, col| col as f64);
        k.expect(out, &d.iter().map(|x| *x as i32).collect::<Vec<_>>());
    });
}

/// The value of an E4M3 (4, 3) or E5M2 (5, 2) code.
fn float8(code: u8, exponent: u32, fraction: u32) -> f64 {
    let bias = (1 << (exponent - 1)) - 1;
    let e = i32::from(code) >> fraction & ((1 << exponent) - 1);
    let f = f64::from(code & ((1 << fraction) - 1)) / f64::from(1 << fraction);
    let magnitude = if e == 0 { f * 2f64.powi(1 - bias) } else { (1.0 + f) * 2f64.powi(e - bias) };
    if code >> 7 == 1 { -magnitude } else { magnitude }
}

#[test]
fn block_scales() {
    run("tcgen05_scaled", |k| {
        let mut random = Random::new(4);
        let code = |x: u64| (0x34 + (x >> 40) as u8 % 16) | (x as u8 & 0x80);
        let (a, b) = (random.words(128 * 32, code), random.words(32 * 32, code));
        let scales = random.words(256, |x| (x as u32 & 0x0303_0303) + 0x7d7d_7d7d);
        k.input(&a);
        k.input(&b);
        k.input(&scales);
        let out = k.output::<f32>(128 * 32);
        k.launch(1, 128);
        // Lane l, word c of a scale block is word 4 l + c of the copied matrix.
        let power = |block: usize, line: usize, byte: u32| {
            2f64.powi((scales[128 * block + 4 * (line % 32) + line / 32] >> (8 * byte) & 0xff) as i32 - 127)
        };
        let left: Vec<f64> = a.iter().enumerate().map(|(i, x)| float8(*x, 4, 3) * power(0, i / 32, 2)).collect();
        let right: Vec<f64> = b.iter().enumerate().map(|(i, x)| float8(*x, 5, 2) * power(1, i / 32, 0)).collect();
        k.expect(out, &singles(&product(&left, &right, 32, 32, |_, _| 0.0)));
    });
}

#[test]
fn a_pair_of_ctas() {
    run("tcgen05_pair", |k| {
        let mut random = Random::new(5);
        let (a, b) = (random.whole(256 * 16, -9, 9), random.whole(32 * 16, -9, 9));
        let bits = |v: &[f32]| v.iter().map(|x| f16::from_f32(*x).to_bits()).collect::<Vec<_>>();
        k.input(&bits(&a));
        k.input(&bits(&b));
        let out = k.output::<f32>(256 * 32);
        k.launch(2, 128);
        let wide = |v: &[f32]| v.iter().map(|x| f64::from(*x)).collect::<Vec<_>>();
        k.expect(out, &singles(&product(&wide(&a), &wide(&b), 16, 32, |_, _| 0.0)));
    });
}
