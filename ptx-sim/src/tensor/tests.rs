//! Whole matrix instructions, compared with plain matrix products. Operands are small integers that are exact in every
//! element type, so the results are exact too.

use super::tcgen05::{ASource, Participant};
use super::*;
use crate::num::{CvtOpts, Format, convert};

/// A small deterministic value for a position, exact in `element`.
fn value(element: Element, row: usize, col: usize, salt: usize) -> f64 {
    let hash = (row * 131 + col * 31 + salt * 17) ^ (row * col + 7);
    match element {
        Element::U8 | Element::U4 => (hash % 8) as f64,
        Element::S8 | Element::S4 => (hash % 15) as f64 - 7.0,
        Element::B1 => (hash % 3 % 2) as f64,
        Element::E2m1 => [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, -4.0, -6.0][hash % 8],
        Element::E3m2 | Element::E2m3 => [0.0, 0.5, 1.0, -1.5, 2.0, 3.5, -4.0, 6.0][hash % 8],
        _ => (hash % 9) as f64 - 4.0,
    }
}

/// The bit pattern of an exact value.
fn bits(element: Element, value: f64) -> u64 {
    match element.format() {
        Some(format) => convert(Format::F64, value.to_bits(), format, &CvtOpts::default()),
        None => (value as i64 as u64) & ((1 << element.bits()) - 1),
    }
}

fn accumulator_bits(d: Accumulator, value: f64) -> u64 {
    match d {
        Accumulator::F64 => value.to_bits(),
        Accumulator::F32 => (value as f32).to_bits().into(),
        Accumulator::F16 => half::f16::from_f64(value).to_bits().into(),
        Accumulator::S32 { .. } => u64::from(value as i32 as u32),
    }
}

/// A B + C in exact arithmetic; A is `m * k` by rows, B is `n * k` by columns.
fn product(op: Option<MmaBitOp>, a: &[f64], b: &[f64], k: usize, row: usize, col: usize) -> f64 {
    (0..k)
        .map(|i| (a[row * k + i], b[col * k + i]))
        .map(|(x, y)| match op {
            None => x * y,
            Some(MmaBitOp::And) => f64::from(x != 0.0 && y != 0.0),
            Some(MmaBitOp::Xor) => f64::from(x != y),
        })
        .sum()
}

fn matrices(a: Element, b: Element, m: usize, n: usize, k: usize) -> (Vec<f64>, Vec<f64>) {
    let left = (0..m * k).map(|i| value(a, i / k, i % k, 1)).collect();
    let right = (0..n * k).map(|i| value(b, i / k, i % k, 2)).collect();
    (left, right)
}

fn place(register: &mut u64, slot: usize, container: usize, element: Element, raw: u64) {
    let centred = if container == 8 && element == Element::E2m1 { raw << 2 } else { raw };
    *register |= centred << (slot * container);
}

fn check_mma(op: MmaSync, scales: Option<(u16, u16, u16)>) {
    let (m, n, k) = (op.m as usize, op.n as usize, op.k as usize);
    let (mut left, mut right) = matrices(op.a, op.b, m, n, k);
    let [ra, rb, rc, rd] = op.registers();
    let container = |e: Element| if op.byte_container { 8 } else { e.bits() as usize };
    let (ca, cb) = (container(op.a), container(op.b));
    let (ea, eb) = (32usize.div_ceil(ca), 32usize.div_ceil(cb));
    let (mut a, mut b, mut c) = (vec![0; 32 * ra], vec![0; 32 * rb], vec![0; 32 * rc]);
    for lane in 0..32 {
        for i in 0..ra * ea {
            let p = fragment::a(m, ea, lane, i);
            place(&mut a[lane * ra + i / ea], i % ea, ca, op.a, bits(op.a, left[p.row * k + p.col]));
        }
        for i in 0..rb * eb {
            let p = fragment::b(eb, lane, i);
            place(&mut b[lane * rb + i / eb], i % eb, cb, op.b, bits(op.b, right[p.col * k + p.row]));
        }
        for i in 0..m * n / 32 {
            let p = fragment::c(lane, i);
            let addend = accumulator_bits(op.c, (p.row * 3 + p.col) as f64);
            mma::accumulator_out(op.c, &mut c[lane * rc..], i, addend);
        }
    }
    // Scales 2^(row % 3) and 2^(col % 2) per chunk, supplied by the selected lanes only.
    let mut words = (vec![0xffff_ffffu32; 32], vec![0xffff_ffffu32; 32]);
    if let (Some(scale), Some((byte, ta, tb))) = (op.scale, scales) {
        let code = |exponent: usize| match scale.format {
            Format::Ue8m0 => 127 + exponent as u32,
            _ => convert(Format::F64, 2f64.powi(exponent as i32).to_bits(), Format::Ue4m3, &CvtOpts::default()) as u32,
        };
        let exponent = |line: usize, j: usize| (line + j) % 3;
        let chunk = k / scale.vector as usize;
        for j in 0..scale.vector as usize {
            let shift = 8 * (byte as usize + j);
            for row in 0..16 {
                let lane = 4 * (row % 8) + 2 * ta as usize + row / 8;
                words.0[lane] = words.0[lane] & !(0xff << shift) | code(exponent(row, j)) << shift;
                left[row * k + j * chunk..][..chunk].iter_mut().for_each(|x| *x *= f64::from(1 << exponent(row, j)));
            }
            for col in 0..8 {
                let lane = 4 * col + tb as usize;
                words.1[lane] = words.1[lane] & !(0xff << shift) | code(exponent(col, j)) << shift;
                right[col * k + j * chunk..][..chunk].iter_mut().for_each(|x| *x *= f64::from(1 << exponent(col, j)));
            }
        }
    }
    let operands = scales.map(|(byte, ta, tb)| {
        (ScaleOperand { words: &words.0, byte, thread: ta }, ScaleOperand { words: &words.1, byte, thread: tb })
    });
    let d = op.execute(&a, &b, &c, operands).unwrap();
    for lane in 0..32 {
        for i in 0..m * n / 32 {
            let p = fragment::c(lane, i);
            let expected = product(op.bit_op, &left, &right, k, p.row, p.col) + (p.row * 3 + p.col) as f64;
            let got = mma::accumulator_in(op.d, &d[lane * rd..], i);
            assert_eq!(got, accumulator_bits(op.d, expected), "{op:?} {p:?}");
        }
    }
}

const S32: Accumulator = Accumulator::S32 { saturate: false };

#[test]
fn every_dense_mma_shape() {
    use Element::*;
    let f32_ = Accumulator::F32;
    let rows: [(u32, u32, Element, Element, Accumulator); 28] = [
        (16, 8, F16, F16, f32_),
        (16, 16, F16, F16, f32_),
        (16, 8, F16, F16, Accumulator::F16),
        (16, 16, F16, F16, Accumulator::F16),
        (16, 8, Bf16, Bf16, f32_),
        (16, 16, Bf16, Bf16, f32_),
        (16, 4, Tf32, Tf32, f32_),
        (16, 8, Tf32, Tf32, f32_),
        (8, 4, F64, F64, Accumulator::F64),
        (16, 4, F64, F64, Accumulator::F64),
        (16, 8, F64, F64, Accumulator::F64),
        (16, 16, F64, F64, Accumulator::F64),
        (8, 16, S8, U8, S32),
        (16, 16, U8, S8, S32),
        (16, 32, S8, S8, S32),
        (8, 32, S4, U4, S32),
        (16, 32, U4, U4, S32),
        (16, 64, S4, S4, S32),
        (16, 16, E4m3, E5m2, f32_),
        (16, 32, E4m3, E4m3, f32_),
        (16, 32, E5m2, E4m3, Accumulator::F16),
        (16, 16, E5m2, E5m2, Accumulator::F16),
        (16, 32, E3m2, E2m3, f32_),
        (16, 32, E2m1, E4m3, f32_),
        (16, 32, E2m1, E2m1, Accumulator::F16),
        (16, 32, E2m3, E5m2, Accumulator::F16),
        (16, 32, S4, U4, S32),
        (16, 32, U8, U8, S32),
    ];
    for (m, k, a, b, d) in rows {
        check_mma(MmaSync::new(m, 8, k, a, b, d), None);
    }
    for (m, k) in [(8, 128), (16, 128), (16, 256)] {
        for op in [MmaBitOp::And, MmaBitOp::Xor] {
            check_mma(MmaSync { bit_op: Some(op), ..MmaSync::new(m, 8, k, B1, B1, S32) }, None);
        }
    }
}

#[test]
fn block_scaled_mma() {
    use Element::*;
    let scaled = |k, a, b, vector, format| MmaSync {
        scale: Some(BlockScale { vector, format }),
        ..MmaSync::new(16, 8, k, a, b, Accumulator::F32)
    };
    for byte in 0..4 {
        for (ta, tb) in [(0, 0), (1, 3), (0, 2)] {
            check_mma(scaled(32, E4m3, E2m1, 1, Format::Ue8m0), Some((byte, ta, tb)));
            check_mma(scaled(32, E3m2, E5m2, 1, Format::Ue8m0), Some((byte, ta, tb)));
        }
    }
    for byte in [0, 2] {
        check_mma(scaled(64, E2m1, E2m1, 2, Format::Ue8m0), Some((byte, 1, 1)));
    }
    check_mma(scaled(64, E2m1, E2m1, 4, Format::Ue8m0), Some((0, 0, 3)));
    check_mma(scaled(64, E2m1, E2m1, 4, Format::Ue4m3), Some((0, 1, 0)));
    let op = scaled(64, E2m1, E2m1, 2, Format::Ue8m0);
    let words = [0; 32];
    let bad = ScaleOperand { words: &words, byte: 1, thread: 0 };
    let good = ScaleOperand { byte: 0, ..bad };
    let error = op.execute(&[0; 128], &[0; 64], &[0; 128], Some((bad, good))).unwrap_err();
    assert_eq!(error, TensorError::ScaleSelector { byte: 1, thread: 0, vector: 2 });
}

#[test]
fn volta_quad() {
    for (c, d) in [
        (Accumulator::F16, Accumulator::F16),
        (Accumulator::F32, Accumulator::F32),
        (Accumulator::F16, Accumulator::F32),
    ] {
        for layout in 0..4 {
            let op = MmaSync {
                c,
                a_column_major: layout & 1 == 1,
                b_column_major: layout & 2 == 2,
                ..MmaSync::new(8, 8, 4, Element::F16, Element::F16, d)
            };
            let [ra, rb, rc, rd] = op.registers();
            assert_eq!((ra, rb), (2, 2));
            let at = |product: usize, row: usize, col: usize, salt| value(Element::F16, row + 8 * product, col, salt);
            let position = |acc, lane, i| match acc {
                Accumulator::F16 => fragment::quad::c_f16(lane, i),
                _ => fragment::quad::c_f32(lane, i),
            };
            let (mut a, mut b, mut cc) = (vec![0; 64], vec![0; 64], vec![0; 32 * rc]);
            for lane in 0..32 {
                let q = fragment::quad::product(lane);
                for i in 0..4 {
                    let p = fragment::quad::a(op.a_column_major, lane, i);
                    place(&mut a[lane * 2 + i / 2], i % 2, 16, op.a, bits(op.a, at(q, p.row, p.col, 1)));
                    let p = fragment::quad::b(op.b_column_major, lane, i);
                    place(&mut b[lane * 2 + i / 2], i % 2, 16, op.b, bits(op.b, at(q, p.row, p.col, 2)));
                }
                for i in 0..8 {
                    let p = position(c, lane, i);
                    mma::accumulator_out(c, &mut cc[lane * rc..], i, accumulator_bits(c, (p.row + 9 * p.col) as f64));
                }
            }
            let out = op.execute(&a, &b, &cc, None).unwrap();
            for lane in 0..32 {
                let q = fragment::quad::product(lane);
                for i in 0..8 {
                    let p = position(d, lane, i);
                    let sum: f64 = (0..4).map(|k| at(q, p.row, k, 1) * at(q, k, p.col, 2)).sum();
                    let got = mma::accumulator_in(d, &out[lane * rd..], i);
                    assert_eq!(got, accumulator_bits(d, sum + (p.row + 9 * p.col) as f64));
                }
            }
        }
    }
}

#[test]
fn combinations_that_do_not_exist() {
    use Element::*;
    for (m, k, a, b, d) in [
        (16, 32, F16, F16, Accumulator::F32),
        (8, 8, F16, F16, Accumulator::F32),
        (16, 16, Bf16, F16, Accumulator::F32),
        (16, 16, Bf16, Bf16, Accumulator::F16),
        (16, 16, E2m1, E2m1, Accumulator::F32),
        (16, 64, E2m1, E2m1, Accumulator::F32),
        (16, 32, S8, S8, Accumulator::F32),
        (16, 128, B1, B1, S32),
    ] {
        let error = MmaSync::new(m, 8, k, a, b, d).validate().unwrap_err();
        assert_eq!(error, TensorError::Shape { m, n: 8, k, a, b, d });
    }
}

#[test]
fn integer_overflow() {
    let a = [100.0; 4];
    let wrap = S32.dot(&a, &a, i32::MAX as u64);
    assert_eq!(wrap as u32 as i32, i32::MAX.wrapping_add(40000));
    let clamp = Accumulator::S32 { saturate: true };
    assert_eq!(clamp.dot(&a, &a, i32::MAX as u64), i32::MAX as u64);
    assert_eq!(clamp.dot(&a, &[-100.0; 4], i32::MIN as u32 as u64), i32::MIN as u32 as u64);
}

#[test]
fn special_values_reach_the_result() {
    let f32_ = Accumulator::F32;
    assert_eq!(f32_.dot(&[f64::INFINITY, 1.0], &[1.0, 1.0], 0), 0x7f80_0000);
    assert_eq!(f32_.dot(&[f64::INFINITY, 1.0], &[0.0, 1.0], 0), 0x7fff_ffff);
    assert_eq!(Accumulator::F16.dot(&[300.0], &[300.0], 0), 0x7c00);
    assert_eq!(Accumulator::F16.dot(&[f64::NAN], &[1.0], 0), 0x7fff);
}

/// Shared memory as a flat array that instructions read by chunks.
struct Shared(Vec<u8>);

impl Shared {
    fn new() -> Self {
        Self(vec![0; 1 << 18])
    }

    fn read(&self, address: u32) -> [u8; 16] {
        let mut chunk = [0; 16];
        chunk.copy_from_slice(&self.0[address as usize..][..16]);
        chunk
    }

    /// Writes a matrix element by element at the addresses of its descriptor.
    fn fill(&mut self, d: &SmemDescriptor, major: Major, element: Element, container: u32, data: &[f64], k: usize) {
        for (i, x) in data.iter().enumerate() {
            let (address, bit) = d.element(major, (i / k) as u32, (i % k) as u32, container, element.bits());
            let raw = bits(element, *x) << bit;
            for byte in 0..8 {
                self.0[address as usize + byte] |= (raw >> (8 * byte)) as u8;
            }
        }
    }
}

fn wgmma_descriptor(start: u64, leading: u64, stride: u64, swizzle: u64) -> u64 {
    start >> 4 | (leading >> 4) << 16 | (stride >> 4) << 32 | swizzle << 62
}

/// Strides of a densely stored operand of `lines` rows or columns.
fn strides(major: Major, span: u64, k_bytes: u64, lines: u64) -> (u64, u64) {
    match (major, span) {
        // Eight lines of 16 bytes form a core matrix; along K, core matrices are 128 bytes apart.
        (Major::K, 16) => (128, 8 * k_bytes),
        (Major::K, _) => (0, 8 * span),
        (Major::Mn, 16) => (lines * 16, 128),
        (Major::Mn, _) => (span * 16, 8 * span),
    }
}

fn check_wgmma(op: Wgmma, swizzle: u64, a_in_registers: bool) {
    let (n, k) = (op.n as usize, op.k as usize);
    let (left, right) = matrices(op.a, op.b, 64, n, k);
    let span = [16, 128, 64, 32][swizzle as usize];
    let k_bytes = (op.k * op.a.bits() / 8) as u64;
    let mut shared = Shared::new();
    let (lead, stride) = strides(op.a_major, span, k_bytes, 64);
    let a_raw = wgmma_descriptor(0, lead, stride, swizzle);
    let (lead, stride) = strides(op.b_major, span, k_bytes, u64::from(op.n));
    let b_raw = wgmma_descriptor(0x10000, lead, stride, swizzle);
    shared.fill(&SmemDescriptor::wgmma(a_raw), op.a_major, op.a, op.a.bits(), &left, k);
    shared.fill(&SmemDescriptor::wgmma(b_raw), op.b_major, op.b, op.b.bits(), &right, k);
    let per = 32 / op.a.bits() as usize;
    let mut registers = vec![[0u32; 4]; 128];
    for (thread, words) in registers.iter_mut().enumerate() {
        for i in 0..4 * per {
            let p = fragment::wgmma_a(per, thread, i);
            words[i / per] |= (bits(op.a, left[p.row * k + p.col]) as u32) << (i % per * op.a.bits() as usize);
        }
    }
    let a = if a_in_registers { WgmmaA::Registers(&registers) } else { WgmmaA::Shared(a_raw) };
    let own = op.registers();
    let mut d = vec![0; 128 * own];
    for thread in 0..128 {
        (0..n / 2).for_each(|i| mma::accumulator_out(op.d, &mut d[thread * own..], i, accumulator_bits(op.d, 5.0)));
    }
    let read = |address| Ok::<_, TensorError>(shared.read(address));
    op.execute(a, b_raw, &mut d, read).unwrap();
    let sign = if op.negate_a != op.negate_b { -1.0 } else { 1.0 };
    for thread in 0..128 {
        for i in 0..n / 2 {
            let p = fragment::wgmma_d(thread, i);
            let start = if op.scale_d { 5.0 } else { 0.0 };
            let expected = sign * product(op.bit_op, &left, &right, k, p.row, p.col) + start;
            let got = mma::accumulator_in(op.d, &d[thread * own..], i);
            assert_eq!(got, accumulator_bits(op.d, expected), "{op:?} swizzle {swizzle} {p:?}");
        }
    }
}

#[test]
fn wgmma_types_layouts_and_swizzles() {
    use Element::*;
    for swizzle in 0..4 {
        for rs in [false, true] {
            check_wgmma(Wgmma::new(24, 16, F16, F16, Accumulator::F32), swizzle, rs);
            check_wgmma(Wgmma::new(16, 8, Tf32, Tf32, Accumulator::F32), swizzle, rs);
            check_wgmma(Wgmma::new(8, 32, E4m3, E5m2, Accumulator::F32), swizzle, rs);
            check_wgmma(Wgmma::new(64, 32, S8, U8, S32), swizzle, rs);
            check_wgmma(Wgmma::new(16, 16, F16, F16, Accumulator::F16), swizzle, rs);
            let b1 = Wgmma { bit_op: Some(MmaBitOp::And), ..Wgmma::new(16, 256, B1, B1, S32) };
            check_wgmma(b1, swizzle, rs);
        }
        for (a_major, b_major) in [(Major::Mn, Major::K), (Major::K, Major::Mn), (Major::Mn, Major::Mn)] {
            let op = Wgmma { a_major, b_major, ..Wgmma::new(128, 16, Bf16, Bf16, Accumulator::F32) };
            check_wgmma(op, swizzle, false);
        }
    }
    let negated = Wgmma { negate_a: true, scale_d: false, ..Wgmma::new(256, 16, Bf16, Bf16, Accumulator::F32) };
    check_wgmma(negated, 1, false);
    check_wgmma(Wgmma { negate_b: true, ..negated }, 1, true);
}

#[test]
fn wgmma_refuses_what_does_not_exist() {
    let base = Wgmma::new(64, 32, Element::E4m3, Element::E4m3, Accumulator::F32);
    assert!(Wgmma { b_major: Major::Mn, ..base }.validate().is_err());
    assert!(Wgmma { n: 12, ..base }.validate().is_err());
    assert!(Wgmma { n: 264, ..base }.validate().is_err());
    assert!(Wgmma::new(40, 32, Element::S8, Element::S8, S32).validate().is_err());
    assert!(Wgmma::new(40, 16, Element::F16, Element::F16, Accumulator::F32).validate().is_ok());
    assert!(Wgmma { negate_a: true, ..Wgmma::new(32, 32, Element::S8, Element::S8, S32) }.validate().is_err());
    let mut short = vec![0; 5];
    let read = |_| Ok::<_, TensorError>([0; 16]);
    assert!(base.execute(WgmmaA::Shared(0), 0, &mut short, read).is_err());
}

fn tcgen05_descriptor(start: u64, leading: u64, stride: u64, swizzle: u64) -> u64 {
    start >> 4 | (leading >> 4) << 16 | (stride >> 4) << 32 | 1 << 46 | swizzle << 61
}

struct Case {
    kind: Tcgen05Kind,
    idesc: u32,
    cta_group: u32,
    ws: bool,
    a_in_tensor: bool,
    scale_vector: u32,
}

fn check_tcgen05(case: &Case) {
    let decoded = InstructionDescriptor::decode(case.kind, case.idesc).unwrap();
    let (m, n, k) = (decoded.m as usize, decoded.n as usize, case.kind.k() as usize);
    let groups = case.cta_group as usize;
    let container = |e: Element| match case.kind {
        Tcgen05Kind::F8f6f4 | Tcgen05Kind::Mxf8f6f4 => 8,
        _ => e.bits(),
    };
    let (left, right) = matrices(decoded.a, decoded.b, m, n, k);
    // K-major with 32-byte swizzle, MN-major with 128-byte swizzle.
    let descriptor = |start, major| match major {
        Major::K => tcgen05_descriptor(start, 0, 256, 6),
        Major::Mn => tcgen05_descriptor(start, 2048, 1024, 2),
    };
    let (a_raw, b_raw) = (descriptor(0, decoded.a_major), descriptor(0x20000, decoded.b_major));
    let (scale_a, scale_b, d_column) = (256, 320, 0);
    let op = Tcgen05Mma {
        kind: case.kind,
        descriptor: decoded,
        cta_group: case.cta_group,
        ws: case.ws,
        d: d_column,
        a: if case.a_in_tensor { ASource::Tensor(400) } else { ASource::Shared(a_raw) },
        b: b_raw,
        accumulate: true,
        scale_input_d: 0,
        disabled_lanes: [1 << 5, 0, 0, 0, 0, 0, 0, 0],
        // The numbers of the first bytes are ignored in the addresses.
        scales: case.kind.is_block_scaled().then_some((scale_a | 2 << 30, scale_b | 1 << 30)),
        scale_vector: case.scale_vector,
    };
    let exponent = |line: usize, j: usize| (line + j) % 3;
    let (mut shared, mut tensors) = (Vec::new(), Vec::new());
    for cta in 0..groups {
        let (rows, columns) = (m / groups, n / groups);
        let mut memory = Shared::new();
        let d = SmemDescriptor::tcgen05(a_raw).unwrap();
        memory.fill(&d, decoded.a_major, decoded.a, container(decoded.a), &left[cta * rows * k..][..rows * k], k);
        let d = SmemDescriptor::tcgen05(b_raw).unwrap();
        let half = &right[cta * columns * k..][..columns * k];
        memory.fill(&d, decoded.b_major, decoded.b, container(decoded.b), half, k);
        shared.push(memory);
        let mut tensor = TensorMemory::new();
        tensor.allocate(512).unwrap();
        for lane in 0..128 {
            (0..256).for_each(|c| tensor.set(lane, c, accumulator_bits(decoded.d, 3.0) as u32).unwrap());
        }
        if case.a_in_tensor {
            let width = container(decoded.a) as usize;
            for row in 0..rows {
                let (_, lane, _) = op.position((cta * rows + row) as u32, 0);
                for word in 0..k * width / 32 {
                    let mut packed = 0;
                    for slot in 0..32 / width {
                        let x = left[(cta * rows + row) * k + word * (32 / width) + slot];
                        place(&mut packed, slot, width, decoded.a, bits(decoded.a, x));
                    }
                    tensor.set(lane, 400 + word as u32, packed as u32).unwrap();
                }
            }
        }
        if let Some(format) = decoded.scale {
            let code = |e: usize| convert(Format::F64, f64::from(1 << e).to_bits(), format, &CvtOpts::default()) as u32;
            let word = |line: usize, id: u32| {
                (0..case.scale_vector).fold(0, |w, j| w | code(exponent(line, j as usize)) << (8 * (id + j)))
            };
            for partition in 0..4 {
                for row in 0..rows {
                    let lane = 32 * partition + row as u32 % 32;
                    let w = word(cta * rows + row, decoded.a_scale_id);
                    tensor.set(lane, scale_a + row as u32 / 32, w).unwrap();
                }
                // In a pair of 128 rows, each half of the lanes has the columns of its own half of D.
                let split = if groups == 2 && m == 128 { n / 2 } else { n };
                for col in (0..n).filter(|col| split == n || col / split == partition as usize / 2) {
                    let (lane, line) = (32 * partition + (col % split) as u32 % 32, (col % split) as u32 / 32);
                    tensor.set(lane, scale_b + line, word(col, decoded.b_scale_id)).unwrap();
                }
            }
        }
        tensors.push(tensor);
    }
    let mut ctas: Vec<_> = tensors
        .iter_mut()
        .zip(&shared)
        .map(|(tensor, memory)| Participant { tensor, read: |address, _| Ok::<_, TensorError>(memory.read(address)) })
        .collect();
    op.execute(&mut ctas).unwrap();
    let chunk = k / case.scale_vector as usize;
    for row in 0..m {
        for col in 0..n {
            let scaled: f64 = (0..k)
                .map(|i| {
                    let j = i / chunk;
                    let factor = if decoded.scale.is_some() { 1 << (exponent(row, j) + exponent(col, j)) } else { 1 };
                    left[row * k + i] * right[col * k + i] * f64::from(factor)
                })
                .sum();
            let (cta, lane, column) = op.position(row as u32, col as u32);
            let disabled = cta == 0 && lane == 5;
            let expected = if disabled { 3.0 } else { scaled + 3.0 };
            let got = tensors[cta as usize].get(lane, column).unwrap();
            let want = accumulator_bits(decoded.d, expected) as u32;
            assert_eq!(got, want, "{:?} m{m}n{n} row {row} col {col}", case.kind);
        }
    }
}

/// An instruction descriptor of the unscaled kinds.
fn idesc(d: u32, a: u32, b: u32, m: u32, n: u32) -> u32 {
    d << 4 | a << 7 | b << 10 | n >> 3 << 17 | m >> 4 << 24
}

#[test]
fn tcgen05_kinds_and_data_paths() {
    let case = |kind, idesc, cta_group| Case { kind, idesc, cta_group, ws: false, a_in_tensor: false, scale_vector: 1 };
    check_tcgen05(&case(Tcgen05Kind::F16, idesc(1, 1, 1, 128, 64), 1));
    check_tcgen05(&case(Tcgen05Kind::F16, idesc(0, 0, 0, 64, 32), 1));
    check_tcgen05(&case(Tcgen05Kind::F16, idesc(1, 0, 0, 256, 64), 2));
    check_tcgen05(&case(Tcgen05Kind::F16, idesc(1, 0, 0, 128, 64), 2));
    check_tcgen05(&case(Tcgen05Kind::F16, idesc(1, 1, 1, 128, 64) | 3 << 15, 1));
    check_tcgen05(&case(Tcgen05Kind::Tf32, idesc(1, 2, 2, 128, 24), 1));
    check_tcgen05(&case(Tcgen05Kind::F8f6f4, idesc(1, 0, 1, 128, 16), 1));
    check_tcgen05(&case(Tcgen05Kind::F8f6f4, idesc(1, 5, 3, 64, 16), 1));
    check_tcgen05(&case(Tcgen05Kind::F8f6f4, idesc(1, 4, 5, 128, 16), 1));
    check_tcgen05(&case(Tcgen05Kind::I8, idesc(2, 1, 0, 128, 48), 1));
    for (m, n) in [(32, 64), (64, 128), (128, 64)] {
        check_tcgen05(&Case { ws: true, ..case(Tcgen05Kind::F16, idesc(1, 0, 0, m, n), 1) });
    }
    for (kind, raw, group) in [
        (Tcgen05Kind::F16, idesc(1, 1, 1, 128, 32), 1),
        (Tcgen05Kind::F16, idesc(1, 1, 1, 256, 32), 2),
        (Tcgen05Kind::F16, idesc(1, 0, 0, 64, 32), 1),
        (Tcgen05Kind::Tf32, idesc(1, 2, 2, 128, 16), 1),
        (Tcgen05Kind::F8f6f4, idesc(1, 5, 0, 128, 16), 1),
        (Tcgen05Kind::I8, idesc(2, 1, 1, 64, 16), 1),
    ] {
        check_tcgen05(&Case { a_in_tensor: true, ..case(kind, raw, group) });
    }
}

#[test]
fn tcgen05_block_scales() {
    let scaled = |a: u32, b: u32, m: u32, n: u32, ue8m0: u32, sfa: u32, sfb: u32| {
        sfb << 4 | a << 7 | b << 10 | n >> 3 << 17 | ue8m0 << 23 | m >> 7 << 27 | sfa << 29
    };
    let case = |kind, idesc, cta_group, scale_vector| Case {
        kind,
        idesc,
        cta_group,
        ws: false,
        a_in_tensor: false,
        scale_vector,
    };
    check_tcgen05(&case(Tcgen05Kind::Mxf8f6f4, scaled(0, 5, 128, 64, 1, 3, 1), 1, 1));
    check_tcgen05(&case(Tcgen05Kind::Mxf8f6f4, scaled(1, 4, 256, 64, 1, 0, 2), 2, 1));
    check_tcgen05(&case(Tcgen05Kind::Mxf4, scaled(1, 1, 128, 40, 1, 2, 0), 1, 2));
    check_tcgen05(&case(Tcgen05Kind::Mxf4nvf4, scaled(1, 1, 128, 64, 0, 0, 0), 1, 4));
    check_tcgen05(&case(Tcgen05Kind::Mxf4nvf4, scaled(1, 1, 256, 64, 1, 0, 0), 2, 4));
    check_tcgen05(&case(Tcgen05Kind::Mxf8f6f4, scaled(0, 0, 128, 96, 1, 1, 2), 2, 1));
    check_tcgen05(&case(Tcgen05Kind::Mxf4nvf4, scaled(1, 1, 128, 64, 0, 0, 0), 2, 4));
    check_tcgen05(&Case { a_in_tensor: true, ..case(Tcgen05Kind::Mxf4, scaled(1, 1, 128, 16, 1, 0, 2), 1, 2) });
}

/// Each quarter of the lanes needs the scale factors.
#[test]
fn scale_factors_in_one_quarter_are_not_enough() {
    let idesc = 1 << 23 | 1 << 27 | 16 >> 3 << 17;
    let descriptor = InstructionDescriptor::decode(Tcgen05Kind::Mxf8f6f4, idesc).unwrap();
    let raw = tcgen05_descriptor(0, 0, 256, 6);
    let op = Tcgen05Mma {
        kind: Tcgen05Kind::Mxf8f6f4,
        descriptor,
        cta_group: 1,
        ws: false,
        d: 0,
        a: ASource::Shared(raw),
        b: raw,
        accumulate: false,
        scale_input_d: 0,
        disabled_lanes: [0; 8],
        scales: Some((64, 96)),
        scale_vector: 1,
    };
    let run = |quarters: u32, other: u32| {
        let mut tensor = TensorMemory::new();
        tensor.allocate(128).unwrap();
        for lane in 0..32 * quarters {
            let word = if lane / 32 == 2 { other } else { 0x7f7f_7f7f };
            (64..128).for_each(|column| tensor.set(lane, column, word).unwrap());
        }
        let read = |_: u32, _: usize| Ok::<_, TensorError>([0; 16]);
        op.execute(&mut [Participant { tensor: &mut tensor, read }]).map_err(|e| e.to_string())
    };
    assert_eq!(run(4, 0x7f7f_7f7f), Ok(()));
    // Only the first byte of a word is a factor of this instruction.
    assert_eq!(run(4, 0x8080_807f), Ok(()));
    assert!(run(1, 0).unwrap_err().contains("the operand was never written"));
    assert!(run(4, 0x80).unwrap_err().contains("scale factors differ between the quarters"));
}

/// tf32 along MN exists only in units of 32 bytes.
#[test]
fn turned_tf32_needs_units_of_32_bytes() {
    let descriptor = InstructionDescriptor::decode(Tcgen05Kind::Tf32, idesc(1, 2, 2, 128, 32) | 1 << 16).unwrap();
    let op = |swizzle| Tcgen05Mma {
        kind: Tcgen05Kind::Tf32,
        descriptor,
        cta_group: 1,
        ws: false,
        d: 0,
        a: ASource::Shared(tcgen05_descriptor(0, 0, 256, 6)),
        b: tcgen05_descriptor(0, 4096, 512, swizzle),
        accumulate: false,
        scale_input_d: 0,
        disabled_lanes: [0; 8],
        scales: None,
        scale_vector: 1,
    };
    assert_eq!(op(1).validate(), Ok(()));
    for swizzle in [0, 2, 4, 6] {
        assert!(op(swizzle).validate().unwrap_err().to_string().contains("units"), "{swizzle}");
    }
}

#[test]
fn tcgen05_instruction_descriptors() {
    let decode = InstructionDescriptor::decode;
    let d = decode(Tcgen05Kind::F16, 1 << 4 | 1 << 7 | 1 << 10 | 1 << 13 | 1 << 16 | 32 << 17 | 8 << 24).unwrap();
    assert_eq!((d.m, d.n, d.a, d.d), (128, 256, Element::Bf16, Accumulator::F32));
    assert_eq!((d.negate_a, d.negate_b, d.a_major, d.b_major), (true, false, Major::K, Major::Mn));
    let d = decode(Tcgen05Kind::I8, idesc(2, 1, 0, 64, 16) | 1 << 3).unwrap();
    assert_eq!((d.a, d.b, d.d), (Element::S8, Element::U8, Accumulator::S32 { saturate: true }));
    for (kind, raw) in [
        (Tcgen05Kind::F16, 1 << 2),
        (Tcgen05Kind::Tf32, idesc(1, 0, 2, 128, 8)),
        (Tcgen05Kind::F16, idesc(2, 0, 0, 128, 8)),
        (Tcgen05Kind::Mxf4, 1 << 31),
        (Tcgen05Kind::Mxf8f6f4, 0),
    ] {
        let error = decode(kind, raw).unwrap_err();
        assert!(matches!(error, TensorError::InstructionDescriptor { .. }), "{kind:?} {raw:#x}");
    }
}
