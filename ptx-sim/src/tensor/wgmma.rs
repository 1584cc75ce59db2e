//! `wgmma.mma_async`: a warpgroup multiplies with B, and optionally A, in shared memory. The function here performs
//! the completed operation; the executor decides when it takes effect.

use super::dot::{Accumulator, MmaBitOp};
use super::element::Element;
use super::error::TensorError;
use super::fragment::{self, Position};
use super::mma::{accumulator_in, accumulator_out};
use super::smem::read_matrix;
use super::smem::{Major, SmemDescriptor};

const THREADS: usize = 128;
const M: usize = 64;

/// One `wgmma.mma_async`, without its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wgmma {
    pub n: u32,
    pub k: u32,
    pub a: Element,
    pub b: Element,
    pub d: Accumulator,
    /// `imm-trans-a` and `imm-trans-b`: 1 selects MN-major.
    pub a_major: Major,
    pub b_major: Major,
    /// Whether `imm-scale-a` and `imm-scale-b` are -1.
    pub negate_a: bool,
    pub negate_b: bool,
    /// `scale-d`: if false, computes A * B without C.
    pub scale_d: bool,
    pub bit_op: Option<MmaBitOp>,
}

/// The source of operand A.
#[derive(Clone, Copy, Debug)]
pub enum WgmmaA<'a> {
    /// A matrix descriptor.
    Shared(u64),
    /// Four 32-bit registers of each of 128 threads.
    Registers(&'a [[u32; 4]]),
}

impl Wgmma {
    /// A K-major, non-negating, accumulating operation.
    pub const fn new(n: u32, k: u32, a: Element, b: Element, d: Accumulator) -> Self {
        Self {
            n,
            k,
            a,
            b,
            d,
            a_major: Major::K,
            b_major: Major::K,
            negate_a: false,
            negate_b: false,
            scale_d: true,
            bit_op: None,
        }
    }

    /// Checks that shape, types and layouts are a legal combination.
    ///
    /// # Errors
    ///
    /// [`TensorError::Shape`] or [`TensorError::Invalid`].
    pub fn validate(&self) -> Result<(), TensorError> {
        use Element::{B1, Bf16, E4m3, E5m2, F16, S8, Tf32, U8};
        let float = matches!(self.d, Accumulator::F32 | Accumulator::F16);
        let types = match (self.a, self.b) {
            (F16, F16) => self.k == 16 && float,
            (Bf16, Bf16) => self.k == 16 && self.d == Accumulator::F32,
            (Tf32, Tf32) => self.k == 8 && self.d == Accumulator::F32,
            (E4m3 | E5m2, E4m3 | E5m2) => self.k == 32 && float,
            (S8 | U8, S8 | U8) => self.k == 32 && matches!(self.d, Accumulator::S32 { .. }),
            (B1, B1) => {
                self.k == 256 && self.d == Accumulator::S32 { saturate: false } && self.bit_op == Some(MmaBitOp::And)
            }
            _ => false,
        };
        let integer = !self.a.is_float();
        let columns = self.n.is_multiple_of(8)
            && (8..=256).contains(&self.n)
            && (!integer || self.n <= 32 || self.n.is_multiple_of(16));
        if !types || !columns || (self.a != B1 && self.bit_op.is_some()) {
            return Err(TensorError::Shape { m: 64, n: self.n, k: self.k, a: self.a, b: self.b, d: self.d });
        }
        let transposed = self.a_major == Major::Mn || self.b_major == Major::Mn;
        if transposed && self.a.bits() != 16 {
            return Err(TensorError::Invalid("wgmma transposes 16-bit matrices only"));
        }
        if integer && (self.negate_a || self.negate_b) {
            return Err(TensorError::Invalid("wgmma negates floating-point matrices only"));
        }
        Ok(())
    }

    /// Accumulator registers per thread: N/2, or N/4 for packed f16.
    pub const fn registers(&self) -> usize {
        (self.n * self.d.bits() / 64) as usize
    }

    /// Executes the operation for a warpgroup. `d` is indexed `thread * registers + register`. `read` receives the
    /// address of an aligned 16-byte chunk of shared memory.
    ///
    /// # Errors
    ///
    /// An invalid combination, a wrong register count, or an error of `read`.
    pub fn execute<E: From<TensorError>>(
        &self,
        a: WgmmaA<'_>,
        b: u64,
        d: &mut [u64],
        mut read: impl FnMut(u32) -> Result<[u8; 16], E>,
    ) -> Result<(), E> {
        self.validate()?;
        let registers = self.registers();
        if d.len() != THREADS * registers {
            let found = d.len() / THREADS;
            return Err(TensorError::Registers { operand: 'd', expected: registers, found }.into());
        }
        let (n, k) = (self.n as usize, self.k as usize);
        let mut left = match a {
            WgmmaA::Shared(raw) => {
                let descriptor = SmemDescriptor::wgmma(raw);
                read_matrix(&descriptor, self.a_major, self.a, self.a.bits(), (M, k), |a, _| read(a))?
            }
            WgmmaA::Registers(words) => {
                if words.len() != THREADS {
                    return Err(TensorError::Registers { operand: 'a', expected: 4, found: 0 }.into());
                }
                self.a_from_registers(words)
            }
        };
        let descriptor = SmemDescriptor::wgmma(b);
        let mut right = read_matrix(&descriptor, self.b_major, self.b, self.b.bits(), (n, k), |a, _| read(a))?;
        if self.negate_a {
            left.iter_mut().for_each(|x| *x = -*x);
        }
        if self.negate_b {
            right.iter_mut().for_each(|x| *x = -*x);
        }
        for (thread, own) in d.chunks_mut(registers).enumerate() {
            for i in 0..n / 2 {
                let Position { row, col } = fragment::wgmma_d(thread, i);
                let start = if self.scale_d { accumulator_in(self.d, own, i) } else { 0 };
                let (x, y) = (&left[row * k..][..k], &right[col * k..][..k]);
                let value = match self.bit_op {
                    Some(op) => self.d.dot_bits(op, x, y, start),
                    None => self.d.dot(x, y, start),
                };
                accumulator_out(self.d, own, i, value);
            }
        }
        Ok(())
    }

    fn a_from_registers(&self, words: &[[u32; 4]]) -> Vec<f64> {
        let k = self.k as usize;
        let bits = self.a.bits() as usize;
        let per_register = 32 / bits;
        let mask = u64::MAX >> (64 - bits);
        let mut left = vec![0.0; M * k];
        for (thread, registers) in words.iter().enumerate() {
            for i in 0..4 * per_register {
                let Position { row, col } = fragment::wgmma_a(per_register, thread, i);
                let raw = u64::from(registers[i / per_register]) >> (i % per_register * bits) & mask;
                left[row * k + col] = self.a.value(raw);
            }
        }
        left
    }
}
