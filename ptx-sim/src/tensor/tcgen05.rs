//! `tcgen05.mma`: one CTA, or a pair of CTAs, multiplies into tensor memory.
//!
//! # Location of row `m`, column `n` of D
//!
//! | M | CTAs | form | lane | column |
//! |---|---|---|---|---|
//! | 256 | 2 | | CTA `m / 128`, `m % 128` | `n` |
//! | 128 | 2 | dense | CTA `m / 64`, `m % 64 + 64 * (n / (N/2))` | `n % (N/2)` |
//! | 128 | 1 | | `m` | `n` |
//! | 64 | 1 | `.ws` | `m + 64 * (n / (N/2))` | `n % (N/2)` |
//! | 64 | 1 | | `m % 16 + 32 * (m / 16)` | `n` |
//! | 32 | 1 | `.ws` | `m + 32 * (n / (N/4))` | `n % (N/4)` |
//!
//! A in tensor memory uses the lanes of D; if D uses several lanes per row, A is repeated in them. The scale factors
//! of row `m`, numbered within the CTA, are in lane `m % 32`, word `m / 32`. The scale factors of column `n` are in
//! lane `n % 32`, word `n / 32`, of each CTA. Each quarter of the lanes has a copy of them. In a pair with M = 128,
//! where the halves of the lanes hold different columns of D, each half has the scale factors of its own columns of B.
//!
//! Bits 30 and 31 of the address of scale factors may hold the number of the first byte, as in CUTLASS. The instruction
//! descriptor decides.
//!
//! In a pair, each CTA's shared memory holds its own rows of A and half of the columns of B, under the same
//! descriptors.

use super::dot::Accumulator;
use super::element::Element;
use super::error::TensorError;
use super::mma::scale_value;
use super::smem::read_matrix;
use super::smem::{Major, SmemDescriptor, Swizzle};
use super::tmem::TensorMemory;
use super::tmem::a_element;
use crate::num::Format;

/// The `.kind` of the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tcgen05Kind {
    F16,
    Tf32,
    F8f6f4,
    I8,
    Mxf8f6f4,
    Mxf4,
    Mxf4nvf4,
}

impl Tcgen05Kind {
    pub const fn is_block_scaled(self) -> bool {
        matches!(self, Tcgen05Kind::Mxf8f6f4 | Tcgen05Kind::Mxf4 | Tcgen05Kind::Mxf4nvf4)
    }

    /// K of one dense instruction.
    pub const fn k(self) -> u32 {
        match self {
            Tcgen05Kind::Tf32 => 8,
            Tcgen05Kind::F16 => 16,
            Tcgen05Kind::F8f6f4 | Tcgen05Kind::I8 | Tcgen05Kind::Mxf8f6f4 => 32,
            Tcgen05Kind::Mxf4 | Tcgen05Kind::Mxf4nvf4 => 64,
        }
    }

    /// Bytes of shared memory that the K values of a row of A or a column of B occupy. Elements of fewer than 8 bits
    /// are stored in bytes, except in the kinds that only have 4-bit elements.
    pub const fn line_bytes(self) -> u32 {
        let bits = match self {
            Tcgen05Kind::Tf32 => 32,
            Tcgen05Kind::F16 => 16,
            Tcgen05Kind::F8f6f4 | Tcgen05Kind::I8 | Tcgen05Kind::Mxf8f6f4 => 8,
            Tcgen05Kind::Mxf4 | Tcgen05Kind::Mxf4nvf4 => 4,
        };
        self.k() * bits / 8
    }
}

/// A decoded 32-bit instruction descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InstructionDescriptor {
    pub m: u32,
    pub n: u32,
    pub a: Element,
    pub b: Element,
    pub d: Accumulator,
    pub negate_a: bool,
    pub negate_b: bool,
    pub a_major: Major,
    pub b_major: Major,
    /// The scale type of a block-scaled kind.
    pub scale: Option<Format>,
    pub a_scale_id: u32,
    pub b_scale_id: u32,
}

impl InstructionDescriptor {
    /// Columns of tensor memory that D occupies in each CTA, whether or not it uses all of their lanes.
    pub const fn columns_of_d(&self, cta_group: u32, ws: bool) -> u32 {
        match (self.m, cta_group, ws) {
            (128, 2, _) | (64, _, true) => self.n / 2,
            (32, ..) => self.n / 4,
            _ => self.n,
        }
    }

    /// Decodes a descriptor for a kind.
    ///
    /// # Errors
    ///
    /// A field value that the kind does not define. Sparse operands and K = 96 are rejected as unsupported.
    pub fn decode(kind: Tcgen05Kind, raw: u32) -> Result<Self, TensorError> {
        let fail = |reason| TensorError::InstructionDescriptor { descriptor: raw, reason };
        let field = |low: u32, width: u32| raw >> low & ((1 << width) - 1);
        if field(2, 1) == 1 {
            return Err(fail("sparse matrices are not supported"));
        }
        let packed = matches!(kind, Tcgen05Kind::Mxf4 | Tcgen05Kind::Mxf4nvf4);
        if packed && field(31, 1) == 1 {
            return Err(fail("K = 96 is not supported"));
        }
        let element = |code: u32| match (kind, code) {
            (Tcgen05Kind::F16, 0) => Some(Element::F16),
            (Tcgen05Kind::F16, 1) => Some(Element::Bf16),
            (Tcgen05Kind::Tf32, 2) => Some(Element::Tf32),
            (Tcgen05Kind::F8f6f4 | Tcgen05Kind::Mxf8f6f4, 0) => Some(Element::E4m3),
            (Tcgen05Kind::F8f6f4 | Tcgen05Kind::Mxf8f6f4, 1) => Some(Element::E5m2),
            (Tcgen05Kind::F8f6f4 | Tcgen05Kind::Mxf8f6f4, 3) => Some(Element::E2m3),
            (Tcgen05Kind::F8f6f4 | Tcgen05Kind::Mxf8f6f4, 4) => Some(Element::E3m2),
            (Tcgen05Kind::F8f6f4 | Tcgen05Kind::Mxf8f6f4, 5) => Some(Element::E2m1),
            (Tcgen05Kind::I8, 0) => Some(Element::U8),
            (Tcgen05Kind::I8, 1) => Some(Element::S8),
            (Tcgen05Kind::Mxf4 | Tcgen05Kind::Mxf4nvf4, 1) => Some(Element::E2m1),
            _ => None,
        };
        let b_code = if packed { field(10, 2) } else { field(10, 3) };
        let d = match (kind, field(4, 2)) {
            (k, _) if k.is_block_scaled() => Accumulator::F32,
            (Tcgen05Kind::F16 | Tcgen05Kind::F8f6f4, 0) => Accumulator::F16,
            (Tcgen05Kind::F16 | Tcgen05Kind::F8f6f4 | Tcgen05Kind::Tf32, 1) => Accumulator::F32,
            (Tcgen05Kind::I8, 2) => Accumulator::S32 { saturate: field(3, 1) == 1 },
            _ => return Err(fail("D type does not exist for this kind")),
        };
        let major = |bit: u32| if field(bit, 1) == 1 { Major::Mn } else { Major::K };
        let scale = match (kind, field(23, 1)) {
            (Tcgen05Kind::Mxf4nvf4, 0) => Some(Format::Ue4m3),
            (k, 1) if k.is_block_scaled() => Some(Format::Ue8m0),
            (k, _) if k.is_block_scaled() => return Err(fail("scale type does not exist for this kind")),
            _ => None,
        };
        let decoded = Self {
            m: if kind.is_block_scaled() { field(27, 2) << 7 } else { field(24, 5) << 4 },
            n: field(17, 6) << 3,
            a: element(field(7, 3)).ok_or_else(|| fail("A type does not exist for this kind"))?,
            b: element(b_code).ok_or_else(|| fail("B type does not exist for this kind"))?,
            d,
            negate_a: field(13, 1) == 1,
            negate_b: field(14, 1) == 1,
            a_major: major(15),
            b_major: major(16),
            scale,
            a_scale_id: if scale.is_some() { field(29, 2) } else { 0 },
            b_scale_id: if scale.is_some() { field(4, 2) } else { 0 },
        };
        let small = decoded.a.bits() < 8 && decoded.a_major == Major::Mn
            || decoded.b.bits() < 8 && decoded.b_major == Major::Mn;
        if packed && small {
            return Err(fail("packed 4-bit matrices are K-major"));
        }
        if kind == Tcgen05Kind::I8 && (decoded.negate_a || decoded.negate_b) {
            return Err(fail("integer matrices cannot be negated"));
        }
        Ok(decoded)
    }
}

/// The bits of the address of scale factors that are lane and column.
const SCALE_ADDRESS: u32 = 0x3fff_ffff;

/// The source of operand A.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ASource {
    /// A shared-memory descriptor.
    Shared(u64),
    /// A tensor-memory address.
    Tensor(u32),
}

/// One `tcgen05.mma`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tcgen05Mma {
    pub kind: Tcgen05Kind,
    pub descriptor: InstructionDescriptor,
    /// Number of participating CTAs: 1 or 2.
    pub cta_group: u32,
    /// The weight-stationary form.
    pub ws: bool,
    /// Tensor-memory address of D.
    pub d: u32,
    pub a: ASource,
    pub b: u64,
    /// `enable-input-d`.
    pub accumulate: bool,
    /// `scale-input-d`: D is multiplied by `2^-x` first; kinds f16 and tf32 only.
    pub scale_input_d: u32,
    /// Lanes whose D is not written; bit `l % 32` of word `4 * cta + l / 32`.
    pub disabled_lanes: [u32; 8],
    /// Tensor-memory addresses of the scales of A and B.
    pub scales: Option<(u32, u32)>,
    /// Scales per row along K: 1, 2 or 4.
    pub scale_vector: u32,
}

/// The memories of one participating CTA.
pub struct Participant<'a, R> {
    pub tensor: &'a mut TensorMemory,
    /// Reads a 16-byte chunk of shared memory, given its address and how many of its bytes are elements.
    pub read: R,
}

impl Tcgen05Mma {
    /// Checks that the kind supports the shape.
    ///
    /// # Errors
    ///
    /// [`TensorError::Shape`] or [`TensorError::Invalid`].
    pub fn validate(&self) -> Result<(), TensorError> {
        let InstructionDescriptor { m, n, a, b, d, .. } = self.descriptor;
        let scaled = self.kind.is_block_scaled();
        let rows = match (self.cta_group, self.ws, scaled) {
            (1, true, false) => matches!(m, 32 | 64 | 128),
            (1, false, false) => matches!(m, 64 | 128),
            (1, false, true) => m == 128,
            (2, false, _) => matches!(m, 128 | 256),
            _ => false,
        };
        let step = match (self.cta_group, self.kind) {
            (1, Tcgen05Kind::I8) if n > 32 => 16,
            (1, _) => 8,
            (_, Tcgen05Kind::I8) => 32,
            _ => 16,
        };
        let columns = if self.ws { matches!(n, 64 | 128 | 256) } else { n.is_multiple_of(step) && n > 0 && n <= 256 };
        if !rows || !columns {
            return Err(TensorError::Shape { m, n, k: self.kind.k(), a, b, d });
        }
        let vector = match self.kind {
            Tcgen05Kind::Mxf8f6f4 => self.scale_vector == 1,
            Tcgen05Kind::Mxf4 => self.scale_vector == 2,
            Tcgen05Kind::Mxf4nvf4 => {
                self.scale_vector == 4 || self.scale_vector == 2 && self.descriptor.scale == Some(Format::Ue8m0)
            }
            _ => true,
        };
        if !vector || scaled != self.scales.is_some() {
            return Err(TensorError::Invalid("scale vector size does not exist for this kind"));
        }
        let ids_ok = |id: u32| match self.scale_vector {
            1 => true,
            2 => matches!(id, 0 | 2),
            _ => id == 0,
        };
        if scaled && !(ids_ok(self.descriptor.a_scale_id) && ids_ok(self.descriptor.b_scale_id)) {
            return Err(TensorError::Invalid("scale factor id does not exist for this scale vector size"));
        }
        if self.scale_input_d != 0 && !matches!(self.kind, Tcgen05Kind::F16 | Tcgen05Kind::Tf32)
            || self.scale_input_d > 15
        {
            return Err(TensorError::Invalid("scale-input-d is 0..15, for kinds f16 and tf32"));
        }
        let sources = [(self.a, self.descriptor.a_major), (ASource::Shared(self.b), self.descriptor.b_major)];
        let turned = sources.into_iter().filter_map(|(source, major)| match source {
            ASource::Shared(raw) if self.kind == Tcgen05Kind::Tf32 && major == Major::Mn => Some(raw),
            _ => None,
        });
        let swizzles: Vec<Swizzle> =
            turned.map(|raw| Ok(SmemDescriptor::tcgen05(raw)?.swizzle)).collect::<Result<_, TensorError>>()?;
        if swizzles.iter().any(|swizzle| *swizzle != Swizzle::B128Atom32) {
            return Err(TensorError::Invalid("an MN-major tf32 matrix needs the 128-byte swizzle of 32-byte units"));
        }
        Ok(())
    }

    /// How many columns of B the scale factors of a half of the lanes are for, if the halves differ.
    const fn scale_half(&self) -> Option<u32> {
        if self.cta_group == 2 && self.descriptor.m == 128 { Some(self.descriptor.n / 2) } else { None }
    }

    /// Address and width in columns of the scale factors of A and of B at these addresses.
    pub fn scale_words(&self, a: u32, b: u32) -> [(u32, u32); 2] {
        let rows = self.descriptor.m / self.cta_group.max(1);
        let columns = self.scale_half().unwrap_or(self.descriptor.n);
        [(a & SCALE_ADDRESS, rows.div_ceil(32)), (b & SCALE_ADDRESS, columns.div_ceil(32))]
    }

    /// CTA, lane (from the base) and column (from the base) of an element of D.
    pub const fn position(&self, row: u32, col: u32) -> (u32, u32, u32) {
        let InstructionDescriptor { m, n, .. } = self.descriptor;
        match (m, self.cta_group, self.ws) {
            (256, _, _) => (row / 128, row % 128, col),
            (128, 2, _) => (row / 64, row % 64 + 64 * (col / (n / 2)), col % (n / 2)),
            (64, _, true) => (0, row + 64 * (col / (n / 2)), col % (n / 2)),
            (64, _, false) => (0, row % 16 + 32 * (row / 16), col),
            (32, _, _) => (0, row + 32 * (col / (n / 4)), col % (n / 4)),
            _ => (0, row, col),
        }
    }

    /// The container width of an element in shared or tensor memory.
    fn container(&self, element: Element) -> u32 {
        match self.kind {
            Tcgen05Kind::F8f6f4 | Tcgen05Kind::Mxf8f6f4 => 8,
            _ => element.bits(),
        }
    }

    /// The lanes of a CTA that hold its part of D, as a mask, and the number of columns.
    pub fn extent_of_d(&self, cta: u32) -> (u128, u32) {
        let InstructionDescriptor { m, n, .. } = self.descriptor;
        let rows = m / self.cta_group.max(1);
        let (mut lanes, mut width) = (0u128, 0);
        for row in 0..rows {
            for col in 0..n {
                let (_, lane, column) = self.position(cta * rows + row, col);
                let lane = lane + (self.d >> 16);
                let word = self.disabled_lanes[(4 * cta + lane / 32) as usize % 8];
                if lane < 128 && word >> (lane % 32) & 1 == 0 {
                    lanes |= 1 << lane;
                }
                width = width.max(column + 1);
            }
        }
        (lanes, width)
    }

    /// The number of columns of A in tensor memory.
    pub fn columns_of_a(&self) -> u32 {
        (self.kind.k() * self.container(self.descriptor.a)).div_ceil(32)
    }

    /// Executes the completed operation on the CTAs of the group, in rank order.
    ///
    /// # Errors
    ///
    /// An invalid combination, an invalid address, or an error of a read callback.
    pub fn execute<E, R>(&self, ctas: &mut [Participant<'_, R>]) -> Result<(), E>
    where
        E: From<TensorError>,
        R: FnMut(u32, usize) -> Result<[u8; 16], E>,
    {
        self.validate()?;
        if ctas.len() != self.cta_group as usize {
            return Err(TensorError::Invalid("one participant per CTA of the group").into());
        }
        let InstructionDescriptor { m, n, d, .. } = self.descriptor;
        let k = self.kind.k() as usize;
        let b_half = self.read_b(ctas)?;
        for cta in 0..self.cta_group {
            let rows = m / self.cta_group;
            let left = self.read_a(&mut ctas[cta as usize], cta, rows)?;
            let right = self.scaled_b(&b_half, ctas[cta as usize].tensor)?;
            let tensor = &mut *ctas[cta as usize].tensor;
            for row in 0..rows {
                for col in 0..n {
                    let (_, lane, column) = self.position(cta * rows + row, col);
                    let lane = lane + (self.d >> 16);
                    let disabled = self.disabled_lanes[(4 * cta + lane / 32) as usize % 8] >> (lane % 32) & 1 == 1;
                    if disabled {
                        continue;
                    }
                    let column = (self.d & 0xffff) + column;
                    let start = if self.accumulate { self.input_d(tensor.operand(lane, column)?) } else { 0 };
                    let (x, y) = (&left[row as usize * k..][..k], &right[col as usize * k..][..k]);
                    tensor.set(lane, column, d.dot(x, y, start) as u32)?;
                }
            }
        }
        Ok(())
    }

    fn input_d(&self, word: u32) -> u64 {
        let factor = f64::from(1u32 << self.scale_input_d).recip();
        match self.descriptor.d {
            // Multiplying by a power of two is exact here, except below the smallest subnormal.
            Accumulator::F32 if self.scale_input_d > 0 => {
                ((f64::from(f32::from_bits(word)) * factor) as f32).to_bits().into()
            }
            Accumulator::F16 => {
                let value = half::f16::from_bits(word as u16).to_f64() * factor;
                half::f16::from_f64(value).to_bits().into()
            }
            _ => word.into(),
        }
    }

    /// B by columns, unscaled; each CTA of a pair supplies half of the columns.
    fn read_b<E, R>(&self, ctas: &mut [Participant<'_, R>]) -> Result<Vec<f64>, E>
    where
        E: From<TensorError>,
        R: FnMut(u32, usize) -> Result<[u8; 16], E>,
    {
        let i = &self.descriptor;
        let descriptor = SmemDescriptor::tcgen05(self.b)?;
        let extent = ((i.n / self.cta_group) as usize, self.kind.k() as usize);
        let mut all = Vec::new();
        for cta in ctas {
            all.extend(read_matrix(&descriptor, i.b_major, i.b, self.container(i.b), extent, &mut cta.read)?);
        }
        if i.negate_b {
            all.iter_mut().for_each(|x| *x = -*x);
        }
        Ok(all)
    }

    /// One CTA's rows of A, scaled.
    fn read_a<E, R>(&self, cta: &mut Participant<'_, R>, rank: u32, rows: u32) -> Result<Vec<f64>, E>
    where
        E: From<TensorError>,
        R: FnMut(u32, usize) -> Result<[u8; 16], E>,
    {
        let i = &self.descriptor;
        let k = self.kind.k();
        let mut left = match self.a {
            ASource::Shared(raw) => {
                let descriptor = SmemDescriptor::tcgen05(raw)?;
                let extent = (rows as usize, k as usize);
                read_matrix(&descriptor, i.a_major, i.a, self.container(i.a), extent, &mut cta.read)?
            }
            ASource::Tensor(address) => {
                let mut left = Vec::with_capacity((rows * k) as usize);
                for row in 0..rows {
                    let (_, lane, _) = self.position(rank * rows + row, 0);
                    let place = (lane + (address >> 16), address & 0xffff);
                    for col in 0..k {
                        left.push(a_element(cta.tensor, place, col, i.a, self.container(i.a))?);
                    }
                }
                left
            }
        };
        if i.negate_a {
            left.iter_mut().for_each(|x| *x = -*x);
        }
        if let (Some((address, _)), Some(format)) = (self.scales, i.scale) {
            self.scale(&mut left, cta.tensor, address, (i.a_scale_id, format), None)?;
        }
        Ok(left)
    }

    fn scaled_b(&self, b: &[f64], tensor: &TensorMemory) -> Result<Vec<f64>, TensorError> {
        let mut right = b.to_vec();
        if let (Some((_, address)), Some(format)) = (self.scales, self.descriptor.scale) {
            let id = self.descriptor.b_scale_id;
            self.scale(&mut right, tensor, address, (id, format), self.scale_half())?;
        }
        Ok(right)
    }

    /// Multiplies each chunk of each line of K values by its scale factor, which begins at byte `id` of its word. With
    /// `half`, that many lines have their factors in the lower half of the lanes and the others in the upper half.
    fn scale(
        &self,
        values: &mut [f64],
        tensor: &TensorMemory,
        address: u32,
        (id, format): (u32, Format),
        half: Option<u32>,
    ) -> Result<(), TensorError> {
        let k = self.kind.k() as usize;
        let chunk = k / self.scale_vector as usize;
        let (first, start) = ((address & SCALE_ADDRESS) >> 16, address & 0xffff);
        for (line, row) in values.chunks_mut(k).enumerate() {
            let line = line as u32;
            let (upper, line, quarters) = half.map_or((0, line, 4), |half| (line / half, line % half, 2));
            let (lane, column) = (first + 64 * upper + line % 32, start + line / 32);
            let factors = |lane| Ok(tensor.operand(lane, column)? >> (8 * id));
            let word = factors(lane)?;
            for copy in 1..quarters {
                let lane = lane + 32 * copy;
                let differing = (factors(lane)? ^ word).to_le_bytes();
                if differing[..self.scale_vector as usize].iter().any(|byte| *byte != 0) {
                    let (address, reason) =
                        (lane << 16 | column, "scale factors differ between the quarters of the lanes");
                    return Err(TensorError::TensorAddress { address, reason });
                }
            }
            for (j, part) in row.chunks_mut(chunk).enumerate() {
                let factor = scale_value(format, word.to_le_bytes()[j]);
                part.iter_mut().for_each(|x| *x *= factor);
            }
        }
        Ok(())
    }
}
