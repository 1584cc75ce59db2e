//! Warp-level matrix instructions. Operands are small integers or exact fractions, so every sum is exact and results
//! are compared bit by bit.

use half::{bf16, f16};

use super::harness::{Plain, Random, run};

/// Computes A times B, with B by columns, plus `start(row, col)`.
pub fn product(a: &[f64], b: &[f64], k: usize, n: usize, start: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    (0..a.len() / k * n)
        .map(|i| {
            let (row, col) = (i / n, i % n);
            (0..k).map(|j| a[row * k + j] * b[col * k + j]).sum::<f64>() + start(row, col)
        })
        .collect()
}

/// Packs elements of `bits` bits into 32-bit words.
pub fn pack(codes: &[u32], bits: usize) -> Vec<u32> {
    let per = 32 / bits;
    codes.chunks(per).map(|c| c.iter().enumerate().fold(0, |w, (i, x)| w | x << (i * bits))).collect()
}

pub fn singles(values: &[f64]) -> Vec<f32> {
    values.iter().map(|x| *x as f32).collect()
}

/// A code table: the value of each code of a small format.
struct Codes(Vec<f64>);

impl Codes {
    fn float(exponent: u32, fraction: u32) -> Self {
        let bias = (1 << (exponent - 1)) - 1;
        let width = exponent + fraction;
        let value = |code: u32| {
            let sign = if code >> width == 1 { -1.0 } else { 1.0 };
            let e = (code >> fraction & ((1 << exponent) - 1)) as i32;
            let f = f64::from(code & ((1 << fraction) - 1)) / f64::from(1 << fraction);
            sign * if e == 0 { f * 2f64.powi(1 - bias) } else { (1.0 + f) * 2f64.powi(e - bias) }
        };
        Self((0..2 << width).map(value).collect())
    }

    fn decode(&self, codes: &[u32]) -> Vec<f64> {
        codes.iter().map(|c| self.0[*c as usize]).collect()
    }
}

fn word_inputs<T: Plain>(k: &mut super::harness::Kernel, a: &[u32], b: &[u32], n: usize) -> super::harness::Buffer {
    k.input(a);
    k.input(b);
    k.output::<T>(n)
}

#[test]
fn halves_by_ldmatrix() {
    run("mma_f16", |k| {
        let mut random = Random::new(1);
        let (a, b) = (random.whole(256, -8, 8), random.whole(128, -8, 8));
        let bits = |v: &[f32]| v.iter().map(|x| f16::from_f32(*x).to_bits()).collect::<Vec<_>>();
        k.input(&bits(&a));
        k.input(&bits(&b));
        let out = k.output::<f32>(128);
        k.launch(1, 32);
        let columns: Vec<f64> = (0..128).map(|i| f64::from(b[i % 16 * 8 + i / 16])).collect();
        let a: Vec<f64> = a.iter().map(|x| f64::from(*x)).collect();
        let start = |row: usize, col: usize| 1.0 + (col % 2) as f64 + if row >= 8 { 2.0 } else { 0.0 };
        k.expect(out, &singles(&product(&a, &columns, 16, 8, start)));
    });
}

#[test]
fn half_accumulators() {
    run("mma_f16_acc", |k| {
        let mut random = Random::new(2);
        let (a, b) = (random.whole(128, -8, 8), random.whole(64, -8, 8));
        let words = |v: &[f32]| pack(&v.iter().map(|x| f16::from_f32(*x).to_bits().into()).collect::<Vec<_>>(), 16);
        let out = word_inputs::<u16>(k, &words(&a), &words(&b), 128);
        k.launch(1, 32);
        let wide = |v: &[f32]| v.iter().map(|x| f64::from(*x)).collect::<Vec<_>>();
        let d = product(&wide(&a), &wide(&b), 8, 8, |_, _| 0.0);
        k.expect(out, &d.iter().map(|x| f16::from_f64(*x).to_bits()).collect::<Vec<_>>());
    });
}

#[test]
fn bfloat() {
    run("mma_bf16", |k| {
        let mut random = Random::new(3);
        let (a, b) = (random.whole(256, -9, 9), random.whole(128, -9, 9));
        let words = |v: &[f32]| pack(&v.iter().map(|x| bf16::from_f32(*x).to_bits().into()).collect::<Vec<_>>(), 16);
        let out = word_inputs::<f32>(k, &words(&a), &words(&b), 128);
        k.launch(1, 32);
        let wide = |v: &[f32]| v.iter().map(|x| f64::from(*x)).collect::<Vec<_>>();
        k.expect(out, &singles(&product(&wide(&a), &wide(&b), 16, 8, |_, _| 0.0)));
    });
}

/// The low 13 bits of the words are noise that the instruction ignores.
#[test]
fn tf32_ignores_low_bits() {
    run("mma_tf32", |k| {
        let mut random = Random::new(4);
        let (a, b) = (random.whole(128, -9, 9), random.whole(64, -9, 9));
        let noise =
            |v: &[f32]| v.iter().enumerate().map(|(i, x)| x.to_bits() | ((i as u32 * 77) & 0x1fff)).collect::<Vec<_>>();
        let out = word_inputs::<f32>(k, &noise(&a), &noise(&b), 128);
        k.launch(1, 32);
        let cut =
            |v: &[f32]| -> Vec<f64> { noise(v).iter().map(|w| f64::from(f32::from_bits(w & 0xffff_e000))).collect() };
        k.expect(out, &singles(&product(&cut(&a), &cut(&b), 8, 8, |_, _| 0.0)));
    });
}

#[test]
fn bytes_saturate() {
    run("mma_s8", |k| {
        let mut random = Random::new(5);
        let a = random.words(512, |x| x as u8);
        let b = random.words(256, |x| (x >> 9) as u8);
        let start: Vec<i32> = (0..128).map(|i| [0, 1000, i32::MAX - 5, i32::MIN + 5][i % 4]).collect();
        let words = |v: &[u8]| pack(&v.iter().map(|x| u32::from(*x)).collect::<Vec<_>>(), 8);
        k.input(&words(&a));
        k.input(&words(&b));
        k.input(&start);
        let out = k.output::<i32>(128);
        k.launch(1, 32);
        let left: Vec<f64> = a.iter().map(|x| f64::from(*x as i8)).collect();
        let right: Vec<f64> = b.iter().map(|x| f64::from(*x)).collect();
        let d = product(&left, &right, 32, 8, |r, c| f64::from(start[r * 8 + c]));
        k.expect(out, &d.iter().map(|x| *x as i32).collect::<Vec<_>>());
    });
}

#[test]
fn nibbles() {
    run("mma_s4", |k| {
        let mut random = Random::new(6);
        let a = random.words(16 * 64, |x| x as u32 & 15);
        let b = random.words(8 * 64, |x| (x >> 5) as u32 & 15);
        let out = word_inputs::<i32>(k, &pack(&a, 4), &pack(&b, 4), 128);
        k.launch(1, 32);
        let left: Vec<f64> = a.iter().map(|x| f64::from((*x as i32) << 28 >> 28)).collect();
        let right: Vec<f64> = b.iter().map(|x| f64::from(*x)).collect();
        let d = product(&left, &right, 64, 8, |_, _| 0.0);
        k.expect(out, &d.iter().map(|x| *x as i32).collect::<Vec<_>>());
    });
}

#[test]
fn bits() {
    run("mma_b1", |k| {
        let mut random = Random::new(7);
        let a = random.words(16 * 8, |x| x as u32);
        let b = random.words(8 * 8, |x| (x >> 5) as u32);
        let out = word_inputs::<i32>(k, &a, &b, 128);
        k.launch(1, 32);
        let count = |i: usize| (0..8).map(|j| (a[i / 8 * 8 + j] & b[i % 8 * 8 + j]).count_ones() as i32).sum();
        k.expect(out, &(0..128).map(count).collect::<Vec<i32>>());
    });
}

#[test]
fn doubles() {
    run("mma_f64", |k| {
        let mut random = Random::new(8);
        let a = random.words(32, |x| f64::from(x as i32) * 1e-3);
        let b = random.words(32, |x| f64::from(x as i32) * 1e-4);
        k.input(&a);
        k.input(&b);
        let out = k.output::<f64>(64);
        k.launch(1, 32);
        let expected: Vec<f64> = (0..64)
            .map(|i| {
                let start = if i % 2 == 0 { 0.5 } else { -0.5 };
                (0..4).fold(start, |s, j| a[i / 8 * 4 + j].mul_add(b[i % 8 * 4 + j], s))
            })
            .collect();
        k.expect(out, &expected);
    });
}

/// Codes between `low` and `high` with either sign; `sign` is the sign bit.
fn codes(random: &mut Random, n: usize, low: u32, high: u32, sign: u32) -> Vec<u32> {
    random.words(n, |x| (low + (x >> 30) as u32 % (high - low)) | if x >> 60 & 1 == 1 { sign } else { 0 })
}

#[test]
fn eight_bit_floats() {
    run("mma_fp8", |k| {
        let mut random = Random::new(9);
        // Exponents near the middle keep all sums exact.
        let a = codes(&mut random, 512, 0x28, 0x48, 0x80);
        let b = codes(&mut random, 256, 0x34, 0x44, 0x80);
        let out = word_inputs::<f32>(k, &pack(&a, 8), &pack(&b, 8), 128);
        k.launch(1, 32);
        let (left, right) = (Codes::float(4, 3).decode(&a), Codes::float(5, 2).decode(&b));
        k.expect(out, &singles(&product(&left, &right, 32, 8, |_, _| 0.0)));
    });
}

#[test]
fn small_floats_in_bytes() {
    run("mma_f8f6f4", |k| {
        let mut random = Random::new(10);
        let a = codes(&mut random, 512, 0, 8, 8);
        let b = codes(&mut random, 256, 0, 32, 32);
        // A 4-bit float occupies the middle of its byte, a 6-bit float the low bits.
        let placed: Vec<u32> = a.iter().map(|x| x << 2).collect();
        let out = word_inputs::<f32>(k, &pack(&placed, 8), &pack(&b, 8), 128);
        k.launch(1, 32);
        let (left, right) = (Codes::float(2, 1).decode(&a), Codes::float(3, 2).decode(&b));
        k.expect(out, &singles(&product(&left, &right, 32, 8, |_, _| 0.0)));
    });
}

#[test]
fn block_scales() {
    run("mma_mxf8", |k| {
        let mut random = Random::new(11);
        let a = codes(&mut random, 512, 0x30, 0x48, 0x80);
        let b = codes(&mut random, 256, 0x30, 0x48, 0x80);
        let (sa, sb) = (
            random.words(32, |x| (x as u32 & 0x0303_0303) + 0x7d7d_7d7d),
            random.words(32, |x| ((x >> 9) as u32 & 0x0303_0303) + 0x7d7d_7d7d),
        );
        k.input(&pack(&a, 8));
        k.input(&pack(&b, 8));
        k.input(&sa);
        k.input(&sb);
        let out = k.output::<f32>(128);
        k.launch(1, 32);
        let (mut left, mut right) = (Codes::float(4, 3).decode(&a), Codes::float(4, 3).decode(&b));
        let power = |word: u32, byte: u32| 2f64.powi((word >> (8 * byte) & 0xff) as i32 - 127);
        // Selectors {2, 1} and {1, 3}: byte 2 of the upper pair, byte 1 of thread 3.
        for row in 0..16 {
            let factor = power(sa[row % 8 * 4 + 2 + row / 8], 2);
            left[row * 32..][..32].iter_mut().for_each(|x| *x *= factor);
        }
        for col in 0..8 {
            let factor = power(sb[col * 4 + 3], 1);
            right[col * 32..][..32].iter_mut().for_each(|x| *x *= factor);
        }
        k.expect(out, &singles(&product(&left, &right, 32, 8, |_, _| 0.0)));
    });
}

#[test]
fn four_scales_a_row() {
    run("mma_nvf4", |k| {
        let mut random = Random::new(12);
        let a = codes(&mut random, 1024, 0, 8, 8);
        let b = codes(&mut random, 512, 0, 8, 8);
        let scale = |x: u64| (x as u32 & 0x0707_0707) + 0x3434_3434;
        let (sa, sb) = (random.words(32, scale), random.words(32, scale));
        k.input(&pack(&a, 4));
        k.input(&pack(&b, 4));
        k.input(&sa);
        k.input(&sb);
        let out = k.output::<f32>(128);
        k.launch(1, 32);
        let e4m3 = Codes::float(4, 3);
        let (mut left, mut right) = (Codes::float(2, 1).decode(&a), Codes::float(2, 1).decode(&b));
        for chunk in 0..4 {
            let factor = |word: u32| e4m3.0[(word >> (8 * chunk) & 0xff) as usize];
            for row in 0..16 {
                let f = factor(sa[row % 8 * 4 + row / 8]);
                left[row * 64 + 16 * chunk..][..16].iter_mut().for_each(|x| *x *= f);
            }
            for col in 0..8 {
                let f = factor(sb[col * 4 + 2]);
                right[col * 64 + 16 * chunk..][..16].iter_mut().for_each(|x| *x *= f);
            }
        }
        k.expect(out, &singles(&product(&left, &right, 64, 8, |_, _| 0.0)));
    });
}

/// Two halves of a row, packed as in a register.
fn pair(rows: &[u16], row: usize, col: usize) -> u32 {
    u32::from(rows[row * 8 + col]) | u32::from(rows[row * 8 + col + 1]) << 16
}

fn column_pair(rows: &[u16], row: usize, col: usize) -> u32 {
    u32::from(rows[row * 8 + col]) | u32::from(rows[(row + 1) * 8 + col]) << 16
}

#[test]
fn ldmatrix() {
    run("ldmatrix_kinds", |k| {
        let tile = Random::new(13).words(256, |x| x as u16);
        k.input(&tile);
        let out = k.output::<u32>(11 * 32);
        k.launch(1, 32);
        let expected: Vec<u32> = (0..32)
            .flat_map(|i| {
                let (g, t) = (i / 4, i % 4);
                let plain = |m: usize| pair(&tile[64 * m..], g, 2 * t);
                let turned = |m: usize| column_pair(&tile[64 * m..], 2 * t, g);
                let mut row = vec![plain(0), turned(0), turned(1)];
                row.extend((0..4).map(plain));
                row.extend((0..4).map(turned));
                row
            })
            .collect();
        k.expect(out, &expected);
    });
}

#[test]
fn stmatrix() {
    run("stmatrix_kinds", |k| {
        let regs = Random::new(14).words(128, |x| x as u32);
        k.input(&regs);
        let out = k.output::<u16>(512);
        k.launch(1, 32);
        let half = |m: usize, row: usize, col: usize| (regs[4 * (4 * row + col / 2) + m] >> (16 * (col % 2))) as u16;
        let plain = (0..256).map(|i| half(i / 64, i / 8 % 8, i % 8));
        let turned = (0..256).map(|i| half(i / 64, i % 8, i / 8 % 8));
        k.expect(out, &plain.chain(turned).collect::<Vec<_>>());
    });
}

#[test]
fn movmatrix() {
    run("movmatrix", |k| {
        let words = Random::new(15).words(32, |x| x as u32);
        k.input(&words);
        let out = k.output::<u32>(32);
        k.launch(1, 32);
        let half = |row: usize, col: usize| words[4 * row + col / 2] >> (16 * (col % 2)) & 0xffff;
        let expected: Vec<u32> =
            (0..32).map(|i| half(2 * (i % 4), i / 4) | half(2 * (i % 4) + 1, i / 4) << 16).collect();
        k.expect(out, &expected);
    });
}

#[test]
fn byte_matrices() {
    run("byte_matrices", |k| {
        let tile = Random::new(16).words(512, |x| x as u8);
        k.input(&tile);
        let out = k.output::<u32>(7 * 32);
        let stored = k.output::<u8>(128);
        k.launch(1, 32);
        let word = |f: &dyn Fn(usize) -> u8| u32::from_le_bytes(std::array::from_fn(f));
        let bits = |row: usize, i: usize, width: usize| {
            let chunk: [u8; 16] = tile[16 * row..][..16].try_into().unwrap();
            (u128::from_le_bytes(chunk) >> (width * i)) as u8 & ((1 << width) - 1)
        };
        let mut expected = Vec::new();
        for i in 0..32 {
            let (g, t) = (i / 4, i % 4);
            for register in 0..4 {
                let (matrix, column) = (register / 2, g + 8 * (register % 2));
                expected.push(word(&|j| tile[16 * (16 * matrix + 4 * t + j) + column]));
            }
            expected.push(word(&|j| bits(g, 4 * t + j, 4)));
            expected.push(word(&|j| bits(g, 4 * t + j, 6)));
            expected.push(word(&|j| bits(8 + g, 4 * t + j, 6)));
        }
        k.expect(out, &expected);
        let mut back = vec![0u8; 128];
        for i in 0..32 {
            let bytes = expected[7 * i].to_le_bytes();
            for (j, byte) in bytes.into_iter().enumerate() {
                back[16 * (2 * (i % 4) + j % 2) + i / 4 + 8 * (j / 2)] = byte;
            }
        }
        k.expect(stored, &back);
    });
}
