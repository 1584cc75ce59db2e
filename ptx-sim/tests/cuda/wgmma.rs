//! Warpgroup matrix instructions.

use half::{bf16, f16};
use ptx_sim::units::{ElementType, Fill};

use super::harness::{Random, Tile, run};
use super::mma::{product, singles};

fn wide(v: &[f32]) -> Vec<f64> {
    v.iter().map(|x| f64::from(*x)).collect()
}

fn halves(v: &[f32]) -> Vec<u16> {
    v.iter().map(|x| f16::from_f32(*x).to_bits()).collect()
}

fn bfloats(v: &[f32]) -> Vec<u16> {
    v.iter().map(|x| bf16::from_f32(*x).to_bits()).collect()
}

#[test]
fn steps_along_k() {
    run("wgmma_k_steps", |k| {
        let mut random = Random::new(1);
        let (a, b) = (random.whole(64 * 64, -5, 5), random.whole(16 * 64, -5, 5));
        k.input(&halves(&a));
        k.input(&halves(&b));
        let out = k.output::<f32>(64 * 16);
        k.launch(1, 128);
        k.expect(out, &singles(&product(&wide(&a), &wide(&b), 64, 16, |_, _| 0.0)));
    });
}

#[test]
fn core_matrices_and_negation() {
    run("wgmma_plain", |k| {
        let mut random = Random::new(2);
        let (a, b) = (random.whole(64 * 16, -9, 9), random.whole(24 * 16, -9, 9));
        k.input(&bfloats(&a));
        k.input(&bfloats(&b));
        let out = k.output::<f32>(64 * 24);
        k.launch(1, 128);
        let minus: Vec<f64> = a.iter().map(|x| -f64::from(*x)).collect();
        k.expect(out, &singles(&product(&minus, &wide(&b), 16, 24, |_, _| 7.0)));
    });
}

#[test]
fn tf32() {
    run("wgmma_tf32", |k| {
        let mut random = Random::new(3);
        let (a, b) = (random.whole(64 * 8, -9, 9), random.whole(64, -9, 9));
        k.input(&a);
        k.input(&b);
        let out = k.output::<f32>(64 * 8);
        k.launch(1, 128);
        k.expect(out, &singles(&product(&wide(&a), &wide(&b), 8, 8, |_, _| 7.0)));
    });
}

/// E4M3 and E5M2 codes of small powers of two with sign.
fn powers(random: &mut Random, n: usize, one: u8, step: u8) -> (Vec<u8>, Vec<f64>) {
    let picks = random.words(n, |x| ((x >> 20) % 5, x >> 60 & 1));
    let code = |(p, s): &(u64, u64)| (one - 2 * step + *p as u8 * step) | (*s as u8) << 7;
    let value = |(p, s): &(u64, u64)| 2f64.powi(*p as i32 - 2) * if *s == 1 { -1.0 } else { 1.0 };
    (picks.iter().map(code).collect(), picks.iter().map(value).collect())
}

#[test]
fn eight_bit_floats() {
    run("wgmma_fp8", |k| {
        let mut random = Random::new(4);
        let (a, left) = powers(&mut random, 64 * 32, 0x38, 8);
        let (b, right) = powers(&mut random, 32 * 32, 0x3c, 4);
        k.input(&a);
        k.input(&b);
        let out = k.output::<f32>(64 * 32);
        k.launch(1, 128);
        k.expect(out, &singles(&product(&left, &right, 32, 32, |_, _| 7.0)));
    });
}

#[test]
fn bytes() {
    run("wgmma_s8", |k| {
        let mut random = Random::new(5);
        let (a, b) = (random.words(64 * 32, |x| x as u8), random.words(16 * 32, |x| x as u8));
        k.input(&a);
        k.input(&b);
        let out = k.output::<i32>(64 * 16);
        k.launch(1, 128);
        let left: Vec<f64> = a.iter().map(|x| f64::from(*x as i8)).collect();
        let right: Vec<f64> = b.iter().map(|x| f64::from(*x)).collect();
        let d = product(&left, &right, 32, 16, |_, _| 7.0);
        k.expect(out, &d.iter().map(|x| *x as i32).collect::<Vec<_>>());
    });
}

/// The kernel's inputs are `k` rows of M (or N) values.
#[test]
fn transposed_operands() {
    run("wgmma_mn_major", |k| {
        let mut random = Random::new(6);
        let (a, b) = (random.whole(16 * 64, -9, 9), random.whole(16 * 64, -9, 9));
        k.input(&halves(&a));
        k.input(&halves(&b));
        let out = k.output::<f32>(64 * 64);
        k.launch(1, 128);
        let turn = |v: &[f32]| (0..1024).map(|i| f64::from(v[i % 16 * 64 + i / 16])).collect::<Vec<_>>();
        k.expect(out, &singles(&product(&turn(&a), &turn(&b), 16, 64, |_, _| 7.0)));
    });
}

#[test]
fn a_in_registers() {
    run("wgmma_registers", |k| {
        let mut random = Random::new(7);
        let (a, b) = (random.whole(64 * 32, -9, 9), random.whole(16 * 32, -9, 9));
        k.input(&bfloats(&a));
        k.input(&bfloats(&b));
        let out = k.output::<f32>(64 * 16);
        k.launch(1, 128);
        k.expect(out, &singles(&product(&wide(&a), &wide(&b), 32, 16, |_, _| 0.0)));
    });
}

#[test]
fn fed_by_tensor_copies() {
    run("wgmma_pipeline", |k| {
        let mut random = Random::new(8);
        let tiles = 5;
        let depth = 64 * tiles;
        let (a, b) = (random.whole(128 * depth, -3, 3), random.whole(32 * depth, -3, 3));
        let tile = |dims, box_dims| Tile {
            element: ElementType::Bf16,
            dims,
            strides: &[640],
            box_dims,
            steps: &[],
            swizzle: 3,
            fill: Fill::Zero,
        };
        k.map(&bfloats(&a), &tile(&[320, 128], &[64, 64]));
        k.map(&bfloats(&b), &tile(&[320, 32], &[64, 32]));
        let out = k.output::<f32>(128 * 32);
        k.scalar(tiles as i32);
        k.launch(2, 160);
        k.expect(out, &singles(&product(&wide(&a), &wide(&b), depth, 32, |_, _| 0.0)));
    });
}
