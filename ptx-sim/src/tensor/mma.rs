//! `mma.sync`: one warp multiplies two register fragments.

use super::dot::{Accumulator, MmaBitOp};
use super::element::Element;
use super::error::TensorError;
use super::fragment::{self, Position, quad};
use crate::num::{CvtOpts, Format, convert};

const LANES: usize = 32;

/// Block scaling of an `mma.sync` (`.block_scale`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockScale {
    /// Scales per row of A and column of B: 1, 2 or 4.
    pub vector: u32,
    /// [`Format::Ue8m0`] or [`Format::Ue4m3`].
    pub format: Format,
}

/// One scale operand: the 32-bit word of every lane, and the selector.
#[derive(Clone, Copy, Debug)]
pub struct ScaleOperand<'a> {
    pub words: &'a [u32],
    pub byte: u16,
    pub thread: u16,
}

/// One `mma.sync` instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MmaSync {
    pub m: u32,
    pub n: u32,
    pub k: u32,
    pub a: Element,
    pub b: Element,
    pub c: Accumulator,
    pub d: Accumulator,
    /// `kind::f8f6f4` and `kind::mxf8f6f4`: every element occupies a byte.
    pub byte_container: bool,
    /// Layouts of A and B. Only m8n8k4 f16 allows a choice; elsewhere A is row-major and B column-major.
    pub a_column_major: bool,
    pub b_column_major: bool,
    pub bit_op: Option<MmaBitOp>,
    pub scale: Option<BlockScale>,
}

impl MmaSync {
    /// An instruction with row-major A, column-major B, no scaling, and C of the same type as D.
    ///
    /// 4- and 6-bit floats at `k = 32` use byte containers.
    pub const fn new(m: u32, n: u32, k: u32, a: Element, b: Element, d: Accumulator) -> Self {
        Self {
            m,
            n,
            k,
            a,
            b,
            c: d,
            d,
            byte_container: a.is_f8f6f4() && k <= 32,
            a_column_major: false,
            b_column_major: true,
            bit_op: None,
            scale: None,
        }
    }

    /// Checks that the shape and types are a legal combination.
    ///
    /// # Errors
    ///
    /// [`TensorError::Shape`] with the illegal combination.
    pub fn validate(&self) -> Result<(), TensorError> {
        use Element::{B1, Bf16, F16, F64, S4, S8, Tf32, U4, U8};
        let (m, k) = (self.m, self.k);
        let floats = matches!(self.d, Accumulator::F32 | Accumulator::F16);
        let same = self.a == self.b && self.c == self.d;
        let integer = matches!(self.d, Accumulator::S32 { .. }) && self.c == self.d && self.scale.is_none();
        let plain = self.scale.is_none() && self.bit_op.is_none();
        let ok = self.n == 8
            && match (self.a, self.b) {
                (F16, F16) if (m, k) == (8, 4) => {
                    plain && floats && matches!((self.c, self.d), (Accumulator::F16, _) | (_, Accumulator::F32))
                }
                (F16, F16) => plain && same && floats && m == 16 && matches!(k, 8 | 16),
                (Bf16, Bf16) => plain && same && self.d == Accumulator::F32 && m == 16 && matches!(k, 8 | 16),
                (Tf32, Tf32) => plain && same && self.d == Accumulator::F32 && m == 16 && matches!(k, 4 | 8),
                (F64, F64) => {
                    plain
                        && same
                        && self.d == Accumulator::F64
                        && matches!((m, k), (8, 4) | (16, 4) | (16, 8) | (16, 16))
                }
                (S8 | U8, S8 | U8) => plain && integer && matches!((m, k), (8, 16) | (16, 16) | (16, 32)),
                (S4 | U4, S4 | U4) => plain && integer && matches!((m, k), (8, 32) | (16, 32) | (16, 64)),
                (B1, B1) => self.bit_op.is_some() && integer && matches!((m, k), (8, 128) | (16, 128) | (16, 256)),
                (x, y) if x.is_f8f6f4() && y.is_f8f6f4() => self.validate_f8f6f4(floats),
                _ => false,
            };
        if ok {
            return Ok(());
        }
        Err(TensorError::Shape { m, n: self.n, k, a: self.a, b: self.b, d: self.d })
    }

    fn validate_f8f6f4(&self, floats: bool) -> bool {
        let wide = |e: Element| e.bits() == 8;
        let base = self.m == 16 && self.c == self.d && self.bit_op.is_none();
        base && match self.scale {
            // k16 exists for the 8-bit types only; smaller types need byte containers.
            None => {
                floats
                    && match self.k {
                        16 => wide(self.a) && wide(self.b),
                        32 => self.byte_container,
                        _ => false,
                    }
            }
            Some(BlockScale { vector, format }) => {
                self.d == Accumulator::F32
                    && match self.k {
                        32 => self.byte_container && vector == 1 && format == Format::Ue8m0,
                        64 => {
                            let packed = self.a == Element::E2m1 && self.b == Element::E2m1 && !self.byte_container;
                            packed && matches!((vector, format), (2 | 4, Format::Ue8m0) | (4, Format::Ue4m3))
                        }
                        _ => false,
                    }
            }
        }
    }

    fn container_bits(&self, element: Element) -> usize {
        match element {
            Element::F64 => 64,
            _ if self.byte_container => 8,
            other => other.bits() as usize,
        }
    }

    fn per_register(&self, element: Element) -> usize {
        if element == Element::F64 { 1 } else { 32 / self.container_bits(element) }
    }

    fn is_quad(&self) -> bool {
        self.a == Element::F16 && self.m == 8
    }

    /// Registers per thread of A, B, C and D.
    pub fn registers(&self) -> [usize; 4] {
        let products = if self.is_quad() { 4 } else { 1 };
        let count = |elements: u32, per_register: usize| (elements as usize) * products / (LANES * per_register);
        let wide = |acc: Accumulator| if acc == Accumulator::F16 { 2 } else { 1 };
        [
            count(self.m * self.k, self.per_register(self.a)),
            count(self.n * self.k, self.per_register(self.b)),
            count(self.m * self.n, wide(self.c)),
            count(self.m * self.n, wide(self.d)),
        ]
    }

    /// Executes the instruction for a warp.
    ///
    /// `a`, `b` and `c` are indexed `lane * registers + register`, each register in the low bits of its word; the
    /// result is D in the same form. `scales` are the scale operands of A and B if the instruction has block scales.
    ///
    /// # Errors
    ///
    /// An illegal combination, a wrong register count, or a scale selector out of range.
    pub fn execute(
        &self,
        a: &[u64],
        b: &[u64],
        c: &[u64],
        scales: Option<(ScaleOperand<'_>, ScaleOperand<'_>)>,
    ) -> Result<Vec<u64>, TensorError> {
        self.validate()?;
        let counts = self.registers();
        for (operand, given, count) in [('a', a, counts[0]), ('b', b, counts[1]), ('c', c, counts[2])] {
            if given.len() != LANES * count {
                return Err(TensorError::Registers { operand, expected: count, found: given.len() / LANES });
            }
        }
        if self.is_quad() {
            return Ok(self.execute_quad(a, b, c));
        }
        let (m, n, k) = (self.m as usize, self.n as usize, self.k as usize);
        let (ea, eb) = (self.per_register(self.a), self.per_register(self.b));
        let mut left = vec![0.0; m * k];
        for lane in 0..LANES {
            for i in 0..counts[0] * ea {
                let Position { row, col } = fragment::a(m, ea, lane, i);
                left[row * k + col] = self.element(self.a, a[lane * counts[0] + i / ea], i % ea);
            }
        }
        // B is stored by columns, so that a dot product walks both operands along K.
        let mut right = vec![0.0; n * k];
        for lane in 0..LANES {
            for i in 0..counts[1] * eb {
                let Position { row, col } = fragment::b(eb, lane, i);
                right[col * k + row] = self.element(self.b, b[lane * counts[1] + i / eb], i % eb);
            }
        }
        match (self.scale, scales) {
            (Some(scale), Some((sa, sb))) => {
                scale.check(&sa, 2)?;
                scale.check(&sb, 4)?;
                scale.apply(&mut left, k, |row| row % 8 * 4 + 2 * sa.thread as usize + row / 8, &sa);
                scale.apply(&mut right, k, |col| col * 4 + sb.thread as usize, &sb);
            }
            (None, None) => {}
            _ => return Err(TensorError::Invalid("block scales and scale operands must be given together")),
        }
        let mut d = vec![0; LANES * counts[3]];
        for lane in 0..LANES {
            for i in 0..m * n / LANES {
                let Position { row, col } = fragment::c(lane, i);
                let addend = accumulator_in(self.c, &c[lane * counts[2]..], i);
                let (x, y) = (&left[row * k..][..k], &right[col * k..][..k]);
                let value = match self.bit_op {
                    Some(op) => self.d.dot_bits(op, x, y, addend),
                    None => self.d.dot(x, y, addend),
                };
                accumulator_out(self.d, &mut d[lane * counts[3]..], i, value);
            }
        }
        Ok(d)
    }

    fn execute_quad(&self, a: &[u64], b: &[u64], c: &[u64]) -> Vec<u64> {
        let [_, _, c_regs, d_regs] = self.registers();
        let position = |acc: Accumulator, lane, i| match acc {
            Accumulator::F16 => quad::c_f16(lane, i),
            _ => quad::c_f32(lane, i),
        };
        let mut d = vec![0; LANES * d_regs];
        for product in 0..4 {
            let lanes = || (0..LANES).filter(move |&l| quad::product(l) == product);
            let (mut left, mut right, mut addend) = ([0.0; 32], [0.0; 32], [0.0f64; 64]);
            for lane in lanes() {
                for i in 0..4 {
                    let p = quad::a(self.a_column_major, lane, i);
                    left[p.row * 4 + p.col] = self.element(self.a, a[lane * 2 + i / 2], i % 2);
                    let p = quad::b(self.b_column_major, lane, i);
                    right[p.col * 4 + p.row] = self.element(self.b, b[lane * 2 + i / 2], i % 2);
                }
                for i in 0..8 {
                    let p = position(self.c, lane, i);
                    let raw = accumulator_in(self.c, &c[lane * c_regs..], i);
                    addend[p.row * 8 + p.col] = match self.c {
                        Accumulator::F16 => Element::F16.value(raw),
                        _ => f64::from(f32::from_bits(raw as u32)),
                    };
                }
            }
            for lane in lanes() {
                for i in 0..8 {
                    let p = position(self.d, lane, i);
                    // C may be narrower than D; widening is exact.
                    let raw = addend[p.row * 8 + p.col];
                    let start = match self.d {
                        Accumulator::F16 => half::f16::from_f64(raw).to_bits().into(),
                        _ => (raw as f32).to_bits().into(),
                    };
                    let value = self.d.dot(&left[p.row * 4..][..4], &right[p.col * 4..][..4], start);
                    accumulator_out(self.d, &mut d[lane * d_regs..], i, value);
                }
            }
        }
        d
    }

    fn element(&self, element: Element, register: u64, index: usize) -> f64 {
        let bits = self.container_bits(element);
        let raw = register >> (index * bits) & if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
        // A 4-bit float occupies the middle of its byte.
        element.value(if self.byte_container && element == Element::E2m1 { raw >> 2 & 15 } else { raw })
    }
}

impl BlockScale {
    fn check(&self, operand: &ScaleOperand<'_>, threads: u16) -> Result<(), TensorError> {
        let byte_ok = match self.vector {
            1 => operand.byte < 4,
            2 => matches!(operand.byte, 0 | 2),
            _ => operand.byte == 0,
        };
        if operand.words.len() != LANES {
            return Err(TensorError::Registers { operand: 's', expected: 1, found: operand.words.len() / LANES });
        }
        if byte_ok && operand.thread < threads {
            return Ok(());
        }
        Err(TensorError::ScaleSelector { byte: operand.byte, thread: operand.thread, vector: self.vector })
    }

    /// Multiplies each chunk of every line of `k` values by its scale. `lane` maps a line to the thread that supplies
    /// its scales.
    fn apply(&self, values: &mut [f64], k: usize, lane: impl Fn(usize) -> usize, operand: &ScaleOperand<'_>) {
        let chunk = k / self.vector as usize;
        for (line, row) in values.chunks_mut(k).enumerate() {
            let word = operand.words[lane(line)];
            for (j, part) in row.chunks_mut(chunk).enumerate() {
                let byte = word >> (8 * (operand.byte as usize + j)) & 0xff;
                let factor = scale_value(self.format, byte as u8);
                part.iter_mut().for_each(|x| *x *= factor);
            }
        }
    }
}

/// The value of one scale byte.
pub(super) fn scale_value(format: Format, byte: u8) -> f64 {
    f64::from_bits(convert(format, byte.into(), Format::F64, &CvtOpts::default()))
}

/// Element `i` of one thread's accumulator registers.
pub(super) fn accumulator_in(acc: Accumulator, registers: &[u64], i: usize) -> u64 {
    match acc {
        Accumulator::F16 => registers[i / 2] >> (16 * (i % 2)) & 0xffff,
        _ => registers[i],
    }
}

pub(super) fn accumulator_out(acc: Accumulator, registers: &mut [u64], i: usize, value: u64) {
    match acc {
        Accumulator::F16 => {
            let shift = 16 * (i % 2);
            registers[i / 2] = registers[i / 2] & !(0xffff << shift) | value << shift;
        }
        _ => registers[i] = value,
    }
}
