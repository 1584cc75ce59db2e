//! Integer arithmetic.

use super::harness::{Random, run};

fn pairs() -> (Vec<i64>, Vec<i64>) {
    let mut random = Random::new(3);
    let mut a = random.words(24, |x| x as i64 >> (x % 50));
    let mut b = random.words(24, |x| (x as i64 >> (x % 57 + 5)) | 1);
    a.extend([0, 1, -1, i64::from(i32::MIN), i64::from(u32::MAX), i64::MIN + 5, 7, -7]);
    b.extend([1, -1, 3, 7, -3, 10, -2, 2]);
    (a, b)
}

#[test]
fn division() {
    run("int_div", |k| {
        let (a, b) = pairs();
        k.input(&a);
        k.input(&b);
        let out = k.output::<i64>(8 * 32);
        k.launch(1, 32);
        let expected: Vec<i64> = a
            .iter()
            .zip(&b)
            .flat_map(|(&a, &b)| {
                let (x, y, ux, uy) = (a as i32, b as i32, a as u32, b as u32);
                [
                    x.wrapping_div(y).into(),
                    x.wrapping_rem(y).into(),
                    (ux / uy).into(),
                    (ux % uy).into(),
                    a.wrapping_div(b),
                    a.wrapping_rem(b),
                    (a as u64 / b as u64) as i64,
                    (a as u64 % b as u64) as i64,
                ]
            })
            .collect();
        k.expect(out, &expected);
    });
}

#[test]
fn products() {
    run("mul_forms", |k| {
        let mut random = Random::new(5);
        let (a, b) = (random.words(32, |x| x as i32), random.words(32, |x| (x >> 7) as i32));
        k.input(&a);
        k.input(&b);
        let out = k.output::<i64>(8 * 32);
        k.launch(1, 32);
        let low24 = |x: i32| i64::from(x << 8 >> 8);
        let expected: Vec<i64> = (0..32)
            .flat_map(|i| {
                let (x, y) = (i64::from(a[i]), i64::from(b[i]));
                let (ux, uy) = (u64::from(a[i] as u32), u64::from(b[i] as u32));
                [
                    (x * y) >> 32,
                    ((ux * uy) >> 32) as i64,
                    x * y,
                    (ux * uy) as i64,
                    i64::from((low24(a[i]) * low24(b[i])) as i32),
                    ((i128::from(x << 20) * i128::from(y << 13)) >> 64) as i64,
                    i64::from(a[i].wrapping_mul(b[i]).wrapping_add(i as i32)),
                    i64::from(i32::from(a[i] as i16) * i32::from(b[i] as i16)),
                ]
            })
            .collect();
        k.expect(out, &expected);
    });
}

fn byte_perm(x: u32, y: u32, selector: u32) -> u32 {
    let bytes = (u64::from(y) << 32 | u64::from(x)).to_le_bytes();
    u32::from_le_bytes(std::array::from_fn(|i| {
        let s = selector >> (4 * i) & 15;
        let byte = bytes[(s & 7) as usize];
        if s & 8 != 0 { (byte as i8 >> 7) as u8 } else { byte }
    }))
}

#[test]
fn bits() {
    run("bit_tricks", |k| {
        let mut a = Random::new(9).words(28, |x| x >> (x % 40));
        a.extend([0, 1, u64::MAX, 1 << 63]);
        k.input(&a);
        let out = k.output::<u32>(12 * 32);
        k.launch(1, 32);
        let expected: Vec<u32> = a
            .iter()
            .enumerate()
            .flat_map(|(i, &a)| {
                let (x, y) = (a as u32, (a >> 32) as u32);
                let wide = u64::from(y) << 32 | u64::from(x);
                let signed = if (x as i32) < 0 { !x } else { x };
                [
                    x.count_ones(),
                    a.count_ones(),
                    x.leading_zeros(),
                    a.leading_zeros(),
                    x.reverse_bits(),
                    if x == 0 { 0 } else { x.trailing_zeros() + 1 },
                    byte_perm(x, y, 0x7531),
                    byte_perm(x, y, y & 0xffff & 0x7777),
                    (wide << (i % 32) >> 32) as u32,
                    (wide >> (2 * i).min(32)) as u32,
                    a.reverse_bits() as u32,
                    if signed == 0 { u32::MAX } else { 31 - signed.leading_zeros() },
                ]
            })
            .collect();
        k.expect(out, &expected);
    });
}

#[test]
fn packed_dot_products() {
    run("dp4a", |k| {
        let mut random = Random::new(11);
        let (a, b) = (random.words(32, |x| x as i32), random.words(32, |x| (x >> 9) as i32));
        k.input(&a);
        k.input(&b);
        let out = k.output::<i32>(128);
        k.launch(1, 32);
        let expected: Vec<i32> = (0..32)
            .flat_map(|i| {
                let (x, y) = (a[i].to_le_bytes(), b[i].to_le_bytes());
                let signed: i32 = (0..4).map(|j| i32::from(x[j] as i8) * i32::from(y[j] as i8)).sum();
                let unsigned: i32 = (0..4).map(|j| i32::from(x[j]) * i32::from(y[j])).sum();
                let halves = [i32::from(a[i] as i16), a[i] >> 16];
                let dp2 = |from: usize| (0..2).map(|j| halves[j] * i32::from(y[from + j] as i8)).sum::<i32>();
                [signed + i as i32, unsigned + i as i32, dp2(0) + 5, dp2(2) + 7]
            })
            .collect();
        k.expect(out, &expected);
    });
}

#[test]
fn bit_fields() {
    run("bitfield", |k| {
        let mut random = Random::new(13);
        let (a, b) = (random.words(64, |x| x as u32), random.words(64, |x| (x >> 20) as u32));
        k.input(&a);
        k.input(&b);
        let out = k.output::<u32>(8 * 64);
        k.launch(1, 64);
        let expected: Vec<u32> = (0..64u32)
            .flat_map(|i| {
                let (x, y) = (a[i as usize], b[i as usize]);
                let (pos, len) = (i % 40, (i * 7) % 40);
                let bit = |v: u32, n: u32| if n < 32 { v >> n & 1 } else { 0 };
                let unsigned = (0..len.min(32)).fold(0, |r, j| r | bit(x, pos + j) << j);
                // The sign is the top bit of the field, or bit 31 if the field extends beyond it.
                let sign = if len == 0 { 0 } else { bit(x, (pos + len - 1).min(31)) };
                let signed =
                    (0..32).fold(0, |r, j| r | if j < len && pos + j < 32 { bit(x, pos + j) } else { sign } << j);
                let inserted = (0..32)
                    .fold(0, |r, j| r | if j >= pos && j - pos < len { bit(x, j - pos) } else { bit(y, j) } << j);
                let c = pos.wrapping_mul(0x0101_0101);
                let majority = x & y | x & c | y & c;
                let bytes = (u64::from(y) << 32 | u64::from(x)).to_le_bytes();
                let step = (i & 3) as usize;
                let forward = u32::from_le_bytes(std::array::from_fn(|j| bytes[step + j]));
                let rc16 = u32::from_le_bytes(std::array::from_fn(|j| bytes[2 * (step & 1) + (j & 1)]));
                let extend = if len == 0 {
                    0
                } else if len >= 32 {
                    x
                } else {
                    ((x << (32 - len)) as i32 >> (32 - len)) as u32
                };
                [unsigned, signed, inserted, majority, forward, rc16, byte_perm(x, y, 0xba98), extend]
            })
            .collect();
        k.expect(out, &expected);
    });
}

#[test]
fn carry_chains() {
    run("wide_add", |k| {
        let mut random = Random::new(17);
        let mut a = random.words(60, |x| x);
        let mut b = random.words(60, |x| x >> (x % 60));
        a.extend([u64::MAX, 0, u64::MAX, u64::MAX]);
        b.extend([1, 0, u64::MAX, u64::MAX]);
        k.input(&a);
        k.input(&b);
        let out = k.output::<u64>(6 * 32);
        k.launch(1, 32);
        let expected: Vec<u64> = (0..32)
            .flat_map(|i| {
                let wide = |v: &[u64]| u128::from(v[2 * i + 1]) << 64 | u128::from(v[2 * i]);
                let (x, y) = (wide(&a), wide(&b));
                [x.wrapping_add(y), x.wrapping_sub(y), x.wrapping_mul(y)]
                    .into_iter()
                    .flat_map(|r| [r as u64, (r >> 64) as u64])
            })
            .collect();
        k.expect(out, &expected);
    });
}

#[test]
fn shifts_clamp() {
    run("clamped_shifts", |k| {
        let a = Random::new(19).words(32, |x| x as u32);
        k.input(&a);
        let out = k.output::<u64>(128);
        k.launch(1, 32);
        let expected: Vec<u64> = a
            .iter()
            .zip(0u32..)
            .flat_map(|(&x, i)| {
                let n = i * 3;
                [
                    x.checked_shl(n).unwrap_or(0).into(),
                    x.checked_shr(n).unwrap_or(0).into(),
                    ((x as i32 >> n.min(31)) as u32).into(),
                    u64::from(x).checked_shl(i * 5).unwrap_or(0),
                ]
            })
            .collect();
        k.expect(out, &expected);
    });
}

#[test]
fn minima_and_differences() {
    run("int_minmax", |k| {
        let mut random = Random::new(23);
        let (a, b) = (random.words(32, |x| x as i32), random.words(32, |x| (x >> 11) as i32));
        k.input(&a);
        k.input(&b);
        let out = k.output::<i32>(6 * 32);
        k.launch(1, 32);
        let expected: Vec<i32> = a
            .iter()
            .zip(&b)
            .flat_map(|(&x, &y)| {
                let halves = |v: i32| [v as u16, (v as u32 >> 16) as u16];
                let low = halves(x)[0].min(halves(y)[0]);
                let high = halves(x)[1].min(halves(y)[1]);
                [
                    x.min(y),
                    (x as u32).max(y as u32) as i32,
                    x.wrapping_abs(),
                    (x.abs_diff(y) as i32).wrapping_add(9),
                    ((i64::from(x) + i64::from(y)) >> 1) as i32,
                    (u32::from(high) << 16 | u32::from(low)) as i32,
                ]
            })
            .collect();
        k.expect(out, &expected);
    });
}
