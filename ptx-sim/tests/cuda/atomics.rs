//! Atomic operations, orders and scopes.

use super::harness::{Random, run};
#[test]
fn histogram() {
    run("histogram", |k| {
        let a = Random::new(1).words(1000, |x| x as u8);
        k.input(&a);
        let out = k.input(&[0i32; 64]);
        k.scalar::<i32>(1000);
        k.launch(3, 96);
        let mut bins = [0; 64];
        a.iter().for_each(|x| bins[usize::from(x & 63)] += 1);
        k.expect(out, &bins);
    });
}

#[test]
fn every_integer_operation() {
    run("atomic_kinds", |k| {
        let a = Random::new(2).words(64, |x| x as i32);
        k.input(&a);
        let words = k.input(&[0i32, 0, -1, -1, 0, 0, 0, 0, 0]);
        let wide = k.input(&[0u64, 0]);
        k.launch(1, 64);
        let unsigned = |x: &i32| *x as u32;
        let fold = |f: fn(i32, i32) -> i32, start| a.iter().fold(start, |s, x| f(s, *x));
        // 64 increments modulo 21, and 64 decrements that wrap from 0 to 20.
        let expected = [
            fold(i32::min, 0),
            fold(i32::max, 0),
            a.iter().map(unsigned).min().unwrap() as i32,
            fold(|s, x| s & x, -1),
            fold(|s, x| s | x, 0),
            fold(|s, x| s ^ x, 0),
            64 % 21,
            21 - 64 % 21,
            fold(i32::wrapping_sub, 0),
        ];
        k.expect(words, &expected);
        let sum = a.iter().fold(0i64, |s, x| s + i64::from(*x));
        let largest = a.iter().map(|x| i64::from(*x) as u64).max().unwrap();
        k.expect(wide, &[sum as u64, largest]);
    });
}

/// The exchanges form one chain through all threads.
#[test]
fn compare_and_swap() {
    run("atomic_cas", |k| {
        let a: Vec<f32> = Random::new(3).floats(128, 1000.0).iter().map(|x| x.abs()).collect();
        k.input(&a);
        let best = k.input(&[0u32]);
        let chain = k.input(&[-1i32]);
        let out = k.output::<i32>(128);
        k.launch(2, 64);
        k.expect(best, &[a.iter().fold(0f32, |m, x| m.max(*x)).to_bits()]);
        k.note("arguments 2 and 3 together hold each number from -1 to 127 once");
        let mut seen = k.read::<i32>(out);
        seen.extend(k.read::<i32>(chain));
        seen.sort_unstable();
        assert_eq!(seen, (-1..128).collect::<Vec<_>>());
    });
}

#[test]
fn floating_additions() {
    run("atomic_float", |k| {
        let f = k.input(&[0.5f32]);
        let d = k.input(&[0.0f64]);
        let h = k.input(&[0u16, 0]);
        let b = k.input(&[0u16, 0]);
        let v = k.input(&[0f32; 4]);
        k.launch(1, 64);
        k.expect(f, &[0.5 + 2016.0f32]);
        k.expect(d, &[504.0]);
        k.expect(h, &[half::f16::from_f32(64.0).to_bits(), half::f16::from_f32(96.0).to_bits()]);
        k.expect(b, &[half::bf16::from_f32(128.0).to_bits(), half::bf16::from_f32(-64.0).to_bits()]);
        k.expect(v, &[64.0f32, 2016.0, 128.0, 32.0]);
    });
}

#[test]
fn last_block_finishes() {
    run("last_block", |k| {
        let a = Random::new(5).words(320, |x| x as i32 % 100);
        k.input(&a);
        k.output::<i32>(5);
        let out = k.output::<i32>(1);
        k.launch(5, 64);
        k.expect(out, &[a.iter().sum::<i32>()]);
    });
}

#[test]
fn acquire_and_release() {
    run("acquire_release", |k| {
        k.output::<i32>(32);
        k.input(&[0i32]);
        let out = k.output::<i32>(32);
        k.launch(1, 64);
        k.expect(out, &(0..32).map(|i| (31 - i) * (31 - i)).collect::<Vec<_>>());
    });
}

#[test]
fn scopes_and_orders() {
    run("scoped_atomics", |k| {
        let words = k.input(&[0i32; 4]);
        let out = k.output::<i32>(32);
        k.launch(1, 32);
        k.expect(words, &[32, 31, 496, 0]);
        k.expect_sorted(out, &(0..32).collect::<Vec<i32>>());
    });
}
