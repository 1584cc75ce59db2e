//! Copies between global and shared memory through a tensor map.
//!
//! A box is stored densely in shared memory, dimension 0 innermost, one line of `inner` bytes after another. The
//! swizzle then permutes address bits, so it depends on the absolute shared-memory address, not on the position within
//! the box:
//!
//! | mode | moved bits |
//! |---|---|
//! | 32 and 96 bytes | bit 4 ^= bit 7 |
//! | 64 bytes | bits 4-5 ^= bits 7-8 |
//! | 128 bytes | bits 4-6 ^= bits 7-9 |
//! | 128 bytes, 32-byte units | bits 5-6 ^= bits 7-8 |
//! | the same with 8-byte flip | and bit 3 ^= bit 7 |
//! | 128 bytes, 64-byte units | bit 6 ^= bit 7 |
//!
//! A load always writes, and counts, the whole box: elements outside the tensor become zeros or NaNs. Padding of 4- and
//! 6-bit elements is written but not counted. A store or reduction skips elements outside. Coordinates count elements.
//!
//! Two rules are not stated in the PTX ISA and were measured on an H100 (`run.py tensor-copies` of the GPU kit). A
//! copy that violates one fails there with an illegal instruction, and here with an error:
//!
//! * along dimension 0 a box begins at a multiple of 16 bytes from the start of the row;
//! * a load may begin before the tensor in any dimension, but a store or reduction may not. Both may begin after it.
//!
//! With an element stride `e` only every `e`-th element along a dimension is copied, `ceil(box / e)` in total.

use super::error::TmaError;
use super::reduce::{ReduceOp, ReduceType};
use super::tensor_map::{ElementType, Fill, Mode, TensorMap};
use crate::num::{CvtOpts, Format, convert};

/// The start of the box, dimension 0 first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coordinates<'a> {
    Tile(&'a [i32]),
    /// Base coordinates and the offsets of W, H and D.
    Im2col {
        base: &'a [i32],
        offsets: &'a [u16],
    },
    /// `.tile::gather4` and `.tile::scatter4`: a column and four rows.
    Rows4 {
        column: i32,
        rows: [i32; 4],
    },
}

/// Every swizzle permutes the bytes of aligned blocks of this size.
const SWIZZLED: usize = 128;

/// One line of the box: adjacent elements along dimension 0.
#[derive(Clone, Copy, Debug)]
struct BoxLine {
    /// Offset of the line in the dense box, in bytes.
    shared: u32,
    /// Address of element 0 of this line's row in the tensor; `None` if an outer coordinate is outside.
    global: Option<u64>,
}

impl TensorMap {
    /// Bytes that the box spans in shared memory, with the padding of 4- and 6-bit elements.
    pub fn box_bytes(&self, coordinates: &Coordinates<'_>) -> u32 {
        self.line_bytes() * self.line_count(coordinates)
    }

    /// Bytes that a load reports to its mbarrier: those of the box without padding.
    ///
    /// The PTX ISA leaves this open. CUTLASS, Triton and TileLang expect the packed bytes.
    pub fn transaction_bytes(&self, coordinates: &Coordinates<'_>) -> u32 {
        let (_, global, shared) = self.element.unit();
        self.box_bytes(coordinates) / shared * global
    }

    /// Copies a box into shared memory at `shared`. `read` fills a buffer from global memory. `write` receives the
    /// whole box, or, if the swizzle moves bytes out of its range of addresses, pieces of at most 16 bytes. Returns the
    /// bytes to report to the mbarrier.
    ///
    /// # Errors
    ///
    /// Coordinates that do not fit the map, a misaligned address, or an error of a callback.
    pub fn load<E: From<TmaError>>(
        &self,
        coordinates: &Coordinates<'_>,
        shared: u32,
        mut read: impl FnMut(u64, &mut [u8]) -> Result<(), E>,
        write: impl FnMut(u32, &[u8]) -> Result<(), E>,
    ) -> Result<u32, E> {
        self.check(coordinates, shared)?;
        let (unit, global_bytes, shared_bytes) = self.element.unit();
        let (first, units) = self.inner_range(coordinates)?;
        let mut dense = vec![0; self.box_bytes(coordinates) as usize];
        let mut packed = vec![0; (units * global_bytes) as usize];
        self.for_each_line::<E>(coordinates, |line| {
            let buffer = &mut dense[line.shared as usize..][..(units * shared_bytes) as usize];
            let inside = line.global.map_or(0..0, |_| self.inside(first, units, self.dims[0]));
            if inside.len() < units as usize {
                self.fill(buffer);
            }
            let Some(global) = line.global.filter(|_| !inside.is_empty()) else { return Ok(()) };
            let start = first / i64::from(unit) + i64::from(inside.start);
            let address = global.wrapping_add(start as u64 * u64::from(global_bytes));
            let target = &mut buffer[(inside.start * shared_bytes) as usize..(inside.end * shared_bytes) as usize];
            if global_bytes == shared_bytes {
                read(address, target)?;
                self.round(target);
                return Ok(());
            }
            let packed = &mut packed[..inside.len() * global_bytes as usize];
            read(address, packed)?;
            target.fill(0);
            for (to, from) in target.chunks_mut(shared_bytes as usize).zip(packed.chunks(global_bytes as usize)) {
                to[..from.len()].copy_from_slice(from);
            }
            Ok(())
        })?;
        self.scatter(shared, &dense, write)?;
        Ok(self.transaction_bytes(coordinates))
    }

    /// Copies a box from shared to global memory, without the elements outside the tensor. `write` receives one run of
    /// adjacent elements at a time.
    ///
    /// Along dimension 0 the hardware writes whole 16-byte units, even if the tensor ends within one. On an H200, rows
    /// of 62 16-bit elements became 64.
    ///
    /// # Errors
    ///
    /// Like [`TensorMap::load`].
    pub fn store<E: From<TmaError>>(
        &self,
        coordinates: &Coordinates<'_>,
        shared: u32,
        read: impl FnMut(u32, &mut [u8]) -> Result<(), E>,
        write: impl FnMut(u64, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let (unit, global_bytes, _) = self.element.unit();
        let whole = if unit == 1 { 16 / u64::from(global_bytes) } else { 1 };
        self.put(coordinates, shared, self.dims[0].next_multiple_of(whole), read, write)
    }

    /// Copies a box from shared memory to a tensor with `extent` elements along dimension 0.
    fn put<E: From<TmaError>>(
        &self,
        coordinates: &Coordinates<'_>,
        shared: u32,
        extent: u64,
        mut read: impl FnMut(u32, &mut [u8]) -> Result<(), E>,
        mut write: impl FnMut(u64, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.check(coordinates, shared)?;
        if let Coordinates::Tile(c) = coordinates
            && c.iter().any(|c| *c < 0)
        {
            return Err(TmaError::Copy("a store or reduction begins before the tensor").into());
        }
        if self.element == ElementType::B4x16P64 {
            return Err(TmaError::Copy("padded 4-bit elements cannot be stored").into());
        }
        let (unit, global_bytes, shared_bytes) = self.element.unit();
        let (first, units) = self.inner_range(coordinates)?;
        let mut buffer = vec![0; (units * shared_bytes) as usize];
        self.for_each_line(coordinates, |line| {
            let inside = self.inside(first, units, extent);
            let Some(global) = line.global.filter(|_| !inside.is_empty()) else { return Ok(()) };
            self.gather(shared + line.shared, &mut buffer, &mut read)?;
            let kept = &buffer[(inside.start * shared_bytes) as usize..(inside.end * shared_bytes) as usize];
            let start = first / i64::from(unit) + i64::from(inside.start);
            let address = global.wrapping_add(start as u64 * u64::from(global_bytes));
            if global_bytes == shared_bytes {
                return write(address, kept);
            }
            write(address, &kept.chunks(16).flat_map(pack_six_bits).collect::<Vec<u8>>())
        })
    }

    /// The reduction form of [`TensorMap::store`]: `update` receives the address and the new value of each element
    /// inside the tensor.
    ///
    /// # Errors
    ///
    /// Like [`TensorMap::store`], and for an element type that does not support the operation.
    pub fn reduce<E: From<TmaError>>(
        &self,
        coordinates: &Coordinates<'_>,
        shared: u32,
        op: ReduceOp,
        read: impl FnMut(u32, &mut [u8]) -> Result<(), E>,
        mut update: impl FnMut(u64, ReduceType, u64) -> Result<(), E>,
    ) -> Result<(), E> {
        let ty = self.reduce_type().ok_or(TmaError::Copy("element type cannot be reduced"))?;
        if op.apply(ty, 0, 0).is_none() {
            return Err(TmaError::Copy("element type does not support this reduction").into());
        }
        self.put(coordinates, shared, self.dims[0], read, |address, bytes| {
            for (i, element) in bytes.chunks(ty.size()).enumerate() {
                let mut word = [0; 8];
                word[..element.len()].copy_from_slice(element);
                update(address + (i * ty.size()) as u64, ty, u64::from_le_bytes(word))?;
            }
            Ok(())
        })
    }

    /// The arithmetic type of the elements, for reductions.
    pub const fn reduce_type(&self) -> Option<ReduceType> {
        Some(match self.element {
            ElementType::U8 => ReduceType::U8,
            ElementType::U16 => ReduceType::U16,
            ElementType::U32 => ReduceType::U32,
            ElementType::S32 => ReduceType::S32,
            ElementType::U64 => ReduceType::U64,
            ElementType::S64 => ReduceType::S64,
            ElementType::F16 => ReduceType::F16,
            ElementType::Bf16 => ReduceType::Bf16,
            ElementType::F32 | ElementType::Tf32 => ReduceType::F32,
            ElementType::F32Ftz | ElementType::Tf32Ftz => ReduceType::F32Ftz,
            ElementType::F64 => ReduceType::F64,
            _ => return None,
        })
    }

    /// The swizzled address of the byte at a dense address.
    pub const fn swizzled(&self, address: u32) -> u32 {
        let line = address >> 7;
        address
            ^ match (self.swizzle_mode, self.swizzle_atomicity) {
                (1 | 4, _) => (line & 1) << 4,
                (2, _) => (line & 3) << 4,
                (3, 0) => (line & 7) << 4,
                (3, 1) => (line & 3) << 5,
                (3, 2) => (line & 3) << 5 | (line & 1) << 3,
                (3, _) => (line & 1) << 6,
                _ => 0,
            }
    }

    fn check(&self, coordinates: &Coordinates<'_>, shared: u32) -> Result<(), TmaError> {
        if !shared.is_multiple_of(128) {
            return Err(TmaError::SharedAlignment { address: shared, alignment: 128 });
        }
        if let Coordinates::Tile([first, ..]) | Coordinates::Rows4 { column: first, .. } = coordinates {
            let (unit, bytes, _) = self.element.unit();
            if unit == 1 && i64::from(*first) * i64::from(bytes) % 16 != 0 {
                return Err(TmaError::Copy("the box does not begin at a multiple of 16 bytes in its row"));
            }
        }
        match (coordinates, self.mode) {
            (Coordinates::Tile(c), Mode::Tile) if c.len() == self.rank => Ok(()),
            (Coordinates::Im2col { base, offsets }, Mode::Im2col { .. })
                if base.len() == self.rank && offsets.len() == self.rank - 2 =>
            {
                Ok(())
            }
            (Coordinates::Rows4 { .. }, Mode::Tile) if self.rank == 2 && self.box_dims[1] == 1 => Ok(()),
            (Coordinates::Rows4 { .. }, Mode::Tile) => {
                Err(TmaError::Copy("gather4 and scatter4 need rank 2 and one row per box"))
            }
            _ => Err(TmaError::Copy("coordinates do not fit the rank and mode of the tensor map")),
        }
    }

    /// Elements copied along dimension `i`.
    pub(super) const fn extent(&self, i: usize) -> u32 {
        self.box_dims[i].div_ceil(self.element_strides[i])
    }

    fn line_bytes(&self) -> u32 {
        let (unit, _, shared_bytes) = self.element.unit();
        let inner = match self.mode {
            Mode::Tile => self.box_dims[0],
            Mode::Im2col { channels, .. } => channels,
        };
        inner / unit * shared_bytes
    }

    fn line_count(&self, coordinates: &Coordinates<'_>) -> u32 {
        match (coordinates, self.mode) {
            (Coordinates::Rows4 { .. }, _) => 4,
            (_, Mode::Im2col { pixels, .. }) => pixels,
            (_, Mode::Tile) => (1..self.rank).map(|i| self.extent(i)).product(),
        }
    }

    /// First coordinate along dimension 0 and the number of units in a line.
    fn inner_range(&self, coordinates: &Coordinates<'_>) -> Result<(i64, u32), TmaError> {
        let (unit, _, shared_bytes) = self.element.unit();
        let first = match coordinates {
            Coordinates::Tile(c) => c[0],
            Coordinates::Im2col { base, .. } => base[0],
            Coordinates::Rows4 { column, .. } => *column,
        };
        if i64::from(first) % i64::from(unit) != 0 {
            return Err(TmaError::Copy("packed elements start at a multiple of 16"));
        }
        Ok((first.into(), self.line_bytes() / shared_bytes))
    }

    /// The units of a line that are inside a tensor with `extent` elements per row.
    fn inside(&self, first: i64, units: u32, extent: u64) -> std::ops::Range<u32> {
        let unit = i64::from(self.element.unit().0);
        let (first, size) = (first / unit, extent as i64 / unit);
        let start = (-first).clamp(0, units.into());
        let end = (size - first).clamp(start, units.into());
        start as u32..end as u32
    }

    fn for_each_line<E>(
        &self,
        coordinates: &Coordinates<'_>,
        mut visit: impl FnMut(BoxLine) -> Result<(), E>,
    ) -> Result<(), E> {
        let pitch = self.line_bytes();
        let row = |outer: &[i64]| {
            outer.iter().enumerate().try_fold(self.address, |address, (i, &c)| {
                let inside = (0..self.dims[i + 1] as i64).contains(&c);
                inside.then(|| address.wrapping_add((c as u64).wrapping_mul(self.strides[i])))
            })
        };
        match (coordinates, self.mode) {
            (Coordinates::Rows4 { rows, .. }, _) => {
                for (i, &y) in rows.iter().enumerate() {
                    visit(BoxLine { shared: i as u32 * pitch, global: row(&[y.into()]) })?;
                }
            }
            (Coordinates::Im2col { base, offsets }, Mode::Im2col { lower, upper, pixels, .. }) => {
                // Spatial dimensions are 1..rank-1, images are the last one.
                let spatial = self.rank - 2;
                let mut at: Vec<i64> = base[1..].iter().map(|&c| c.into()).collect();
                for pixel in 0..pixels {
                    let shifted: Vec<i64> =
                        at.iter().enumerate().map(|(i, &c)| c + offsets.get(i).map_or(0, |&o| o.into())).collect();
                    visit(BoxLine { shared: pixel * pitch, global: row(&shifted) })?;
                    // Steps along W; leaving the bounding box carries into H, D, N.
                    for i in 0..=spatial {
                        if i == spatial {
                            at[i] += 1;
                            break;
                        }
                        at[i] += i64::from(self.element_strides[i + 1]);
                        if at[i] < self.dims[i + 1] as i64 + i64::from(upper[i]) {
                            break;
                        }
                        at[i] = lower[i].into();
                    }
                }
            }
            (Coordinates::Tile(c), _) => {
                let outer = self.rank - 1;
                for index in 0..self.line_count(coordinates) {
                    let mut rest = index;
                    let mut at = [0i64; 4];
                    for i in 0..outer {
                        let extent = self.extent(i + 1);
                        at[i] = i64::from(c[i + 1]) + i64::from(rest % extent * self.element_strides[i + 1]);
                        rest /= extent;
                    }
                    visit(BoxLine { shared: index * pitch, global: row(&at[..outer]) })?;
                }
            }
            // Rejected by `check`.
            (Coordinates::Im2col { .. }, Mode::Tile) => {}
        }
        Ok(())
    }

    /// Writes a dense box that begins at `address`: at once if the swizzle permutes bytes within the box, otherwise in
    /// pieces that it keeps contiguous.
    fn scatter<E>(
        &self,
        address: u32,
        bytes: &[u8],
        mut write: impl FnMut(u32, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.swizzle_mode == 0 {
            return write(address, bytes);
        }
        let piece = self.piece();
        let mut pieces = (address..).step_by(piece).map(|at| self.swizzled(at)).zip(bytes.chunks(piece));
        if !bytes.len().is_multiple_of(SWIZZLED) {
            return pieces.try_for_each(|(at, chunk)| write(at, chunk));
        }
        let mut moved = vec![0; bytes.len()];
        for (at, chunk) in pieces {
            moved[(at - address) as usize..][..chunk.len()].copy_from_slice(chunk);
        }
        write(address, &moved)
    }

    fn gather<E>(
        &self,
        address: u32,
        bytes: &mut [u8],
        read: &mut impl FnMut(u32, &mut [u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let piece = self.piece();
        bytes
            .chunks_mut(piece)
            .zip(0u32..)
            .try_for_each(|(chunk, i)| read(self.swizzled(address + i * piece as u32), chunk))
    }

    /// The bytes that every swizzle keeps together.
    pub(crate) const fn piece(&self) -> usize {
        if self.swizzle_mode == 3 && self.swizzle_atomicity == 2 { 8 } else { 16 }
    }

    fn fill(&self, buffer: &mut [u8]) {
        // The bits with which an H100 fills f32 elements; they are a NaN in every float format of at least 16 bits.
        let pattern = if self.fill == Fill::Nan { 0x7ff7u16.to_le_bytes() } else { [0; 2] };
        buffer.iter_mut().zip(pattern.into_iter().cycle()).for_each(|(b, p)| *b = p);
    }

    /// The rounding of the `.tf32` element types, as on an H200: to nearest, ties to even, and all NaNs become one
    /// value. Despite the `Ftz` name nothing is flushed to zero here; flushing applies to reductions.
    fn round(&self, elements: &mut [u8]) {
        if !matches!(self.element, ElementType::Tf32 | ElementType::Tf32Ftz) {
            return;
        }
        for element in elements.as_chunks_mut::<4>().0 {
            let bits = u32::from_le_bytes(*element);
            let rounded = if f32::from_bits(bits).is_nan() {
                0x7fff_e000
            } else {
                convert(Format::F32, bits.into(), Format::Tf32, &CvtOpts::default()) as u32
            };
            *element = rounded.to_le_bytes();
        }
    }
}

/// Packs sixteen bytes of 6 bits each into twelve bytes.
fn pack_six_bits(bytes: &[u8]) -> Vec<u8> {
    let word = bytes.iter().rev().fold(0u128, |w, b| w << 6 | u128::from(b & 63));
    word.to_le_bytes()[..12].to_vec()
}
