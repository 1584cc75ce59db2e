//! Tensor memory: 128 lanes of 512 columns of 32 bits, per CTA.
//!
//! An address is `lane << 16 | column`. A warp can access the quarter of the lanes selected by its rank in the
//! warpgroup. `tcgen05.ld` and `.st` move a block of lanes and columns between tensor memory and registers. The shapes
//! differ in which (thread, register) holds which word:
//!
//! ```text
//! 32x32b    lane = t                        column = r
//! 16x64b    lane = t/4 + 8*(t&1)            column = (t>>1 & 1) + 2r
//! 16x128b   lane = t/4 + 8*(r&1)            column = t%4 + 4*(r>>1)
//! 16x256b   lane = t/4 + 8*(r>>1 & 1)       column = 2*(t%4) + (r&1) + 8*(r>>2)
//! 16x32bx2  lane = t%16                     column = r + split * (t/16)
//! ```
//!
//! With `.pack::16b` each register holds the low halves of two adjacent columns, so columns advance twice as fast.
//! `.unpack::16b` is the inverse and writes zeros to the upper halves.

use super::element::Element;
use super::error::TensorError;
use super::matrix_move::MatrixFormat;
use super::smem::{Major, SmemDescriptor};

pub const LANES: u32 = 128;
pub const COLUMNS: u32 = 512;

/// The tensor memory of one CTA.
#[derive(Clone, Debug)]
pub struct TensorMemory {
    words: Vec<u32>,
    /// One flag per 32 columns.
    allocated: [bool; 16],
    relinquished: bool,
    /// One bit per word: whether it was written since its column was allocated.
    written: Vec<u64>,
    /// Whether reading an operand that was never written is an error.
    pub trap_unwritten: bool,
}

/// The lane-by-bits shape of `tcgen05.ld` and `.st`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DataShape {
    L32x32b,
    L16x64b,
    L16x128b,
    L16x256b,
    /// Two halves of 16 threads; the second is `split` columns further.
    L16x32bx2 {
        split: u32,
    },
}

impl DataShape {
    /// Registers per thread for `.xN`.
    pub const fn registers(self, repeat: u32) -> usize {
        let words = match self {
            DataShape::L32x32b | DataShape::L16x64b | DataShape::L16x32bx2 { .. } => 1,
            DataShape::L16x128b => 2,
            DataShape::L16x256b => 4,
        };
        (words * repeat) as usize
    }

    /// Number of lanes accessed, from the base lane.
    pub const fn lanes(self) -> u32 {
        if matches!(self, DataShape::L32x32b) { 32 } else { 16 }
    }

    /// Lane and column, relative to the base address, of a thread's register.
    pub const fn position(self, thread: u32, register: u32) -> (u32, u32) {
        let (t, r) = (thread, register);
        match self {
            DataShape::L32x32b => (t, r),
            DataShape::L16x64b => (t / 4 + 8 * (t & 1), (t >> 1 & 1) + 2 * r),
            DataShape::L16x128b => (t / 4 + 8 * (r & 1), t % 4 + 4 * (r >> 1)),
            DataShape::L16x256b => (t / 4 + 8 * (r >> 1 & 1), 2 * (t % 4) + (r & 1) + 8 * (r >> 2)),
            // An invalid split points outside the memory, where the access is rejected.
            DataShape::L16x32bx2 { split } => (t % 16, r.saturating_add((t / 16) * (split & 0xffff))),
        }
    }
}

/// The shape of `tcgen05.cp`, with its multicast.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CopyShape {
    L128x256b,
    /// Four rows, copied to lanes 0, 32, 64 and 96.
    L4x256b,
    L128x128b,
    /// 64 rows: the first 32 go to warps 0 and 2, the others to warps 1 and 3.
    L64x128bWarpx2Pairs02And13,
    /// 64 rows: the first 32 go to warps 0 and 1, the others to warps 2 and 3.
    L64x128bWarpx2Pairs01And23,
    /// 32 rows, copied to every warp.
    L32x128bWarpx4,
}

impl CopyShape {
    /// Rows in shared memory and 16-byte chunks per row.
    const fn extent(self) -> (u32, u32) {
        match self {
            CopyShape::L128x256b => (128, 2),
            CopyShape::L4x256b => (4, 2),
            CopyShape::L128x128b => (128, 1),
            CopyShape::L64x128bWarpx2Pairs02And13 | CopyShape::L64x128bWarpx2Pairs01And23 => (64, 1),
            CopyShape::L32x128bWarpx4 => (32, 1),
        }
    }

    /// The lanes that are written, as a mask, and the number of columns.
    pub fn footprint(self) -> (u128, u32) {
        let (rows, chunks) = self.extent();
        let lanes = (0..rows).flat_map(|row| self.lanes(row)).fold(0, |mask, lane| mask | 1 << lane);
        (lanes, 4 * chunks)
    }

    /// The lanes that receive a row.
    fn lanes(self, row: u32) -> impl Iterator<Item = u32> {
        let (half, inner) = (row / 32, row % 32);
        let warps = match self {
            CopyShape::L128x256b | CopyShape::L128x128b => vec![half],
            CopyShape::L4x256b => return vec![32 * row].into_iter(),
            CopyShape::L64x128bWarpx2Pairs02And13 => vec![half, half + 2],
            CopyShape::L64x128bWarpx2Pairs01And23 => vec![2 * half, 2 * half + 1],
            CopyShape::L32x128bWarpx4 => vec![0, 1, 2, 3],
        };
        warps.into_iter().map(|w| 32 * w + inner).collect::<Vec<_>>().into_iter()
    }
}

impl Default for TensorMemory {
    fn default() -> Self {
        Self::new()
    }
}

impl TensorMemory {
    pub fn new() -> Self {
        let count = (LANES * COLUMNS) as usize;
        Self {
            words: vec![0; count],
            allocated: [false; 16],
            relinquished: false,
            written: vec![0; count / 64],
            trap_unwritten: true,
        }
    }

    /// `tcgen05.alloc`: returns the address of `columns` free columns, lowest first, or `None` if the caller must
    /// wait.
    ///
    /// # Errors
    ///
    /// A count that is not a power of two in 32..=512, or an allocation after the permit was relinquished.
    pub fn allocate(&mut self, columns: u32) -> Result<Option<u32>, TensorError> {
        if !columns.is_power_of_two() || !(32..=COLUMNS).contains(&columns) {
            return Err(TensorError::Invalid("tcgen05.alloc takes a power of two of 32 to 512 columns"));
        }
        if self.relinquished {
            return Err(TensorError::Invalid("tcgen05.alloc after relinquish_alloc_permit"));
        }
        let granules = (columns / 32) as usize;
        let start = (0..=16 - granules).find(|&i| self.allocated[i..i + granules].iter().all(|used| !used));
        Ok(start.map(|i| {
            self.allocated[i..i + granules].fill(true);
            for lane in 0..LANES as usize {
                for column in (32 * i..32 * (i + granules)).step_by(32) {
                    let bit = lane * COLUMNS as usize + column;
                    self.written[bit / 64] &= !(0xffff_ffff << (bit % 64));
                }
            }
            32 * i as u32
        }))
    }

    /// `tcgen05.dealloc`.
    ///
    /// # Errors
    ///
    /// An address or count that no allocation covers.
    pub fn deallocate(&mut self, address: u32, columns: u32) -> Result<(), TensorError> {
        let fail = |reason| Err(TensorError::TensorAddress { address, reason });
        if !columns.is_power_of_two() || !(32..=COLUMNS).contains(&columns) {
            return fail("tcgen05.dealloc takes a power of two of 32 to 512 columns");
        }
        if !address.is_multiple_of(32) || address >= COLUMNS || address + columns > COLUMNS {
            return fail("not the start of an allocation");
        }
        let range = (address / 32) as usize..((address + columns) / 32) as usize;
        if self.allocated[range.clone()].iter().any(|used| !used) {
            return fail("columns are not allocated");
        }
        self.allocated[range].fill(false);
        Ok(())
    }

    /// `tcgen05.relinquish_alloc_permit`.
    pub fn relinquish(&mut self) {
        self.relinquished = true;
    }

    /// Number of columns still allocated; a kernel must free all of them.
    pub fn allocated_columns(&self) -> u32 {
        32 * self.allocated.iter().filter(|used| **used).count() as u32
    }

    /// Reads one word.
    ///
    /// # Errors
    ///
    /// A lane or column outside the memory or outside every allocation.
    pub fn get(&self, lane: u32, column: u32) -> Result<u32, TensorError> {
        Ok(self.words[self.index(lane, column)?])
    }

    /// Reads one word as an operand.
    ///
    /// # Errors
    ///
    /// Like [`TensorMemory::get`], and for a word that was never written.
    pub fn operand(&self, lane: u32, column: u32) -> Result<u32, TensorError> {
        let index = self.index(lane, column)?;
        if self.trap_unwritten && self.written[index / 64] >> (index % 64) & 1 == 0 {
            let address = lane << 16 | column;
            return Err(TensorError::TensorAddress { address, reason: "the operand was never written" });
        }
        Ok(self.words[index])
    }

    /// Writes one word.
    ///
    /// # Errors
    ///
    /// Like [`TensorMemory::get`].
    pub fn set(&mut self, lane: u32, column: u32, word: u32) -> Result<(), TensorError> {
        let index = self.index(lane, column)?;
        self.words[index] = word;
        self.written[index / 64] |= 1 << (index % 64);
        Ok(())
    }

    fn index(&self, lane: u32, column: u32) -> Result<usize, TensorError> {
        let address = lane << 16 | column & 0xffff;
        if lane >= LANES || column >= COLUMNS {
            return Err(TensorError::TensorAddress { address, reason: "outside 128 lanes by 512 columns" });
        }
        if !self.allocated[(column / 32) as usize] {
            return Err(TensorError::TensorAddress { address, reason: "column is not allocated" });
        }
        Ok((lane * COLUMNS + column) as usize)
    }

    /// `tcgen05.ld` by warp `warp`. The registers are indexed `thread * registers + r`.
    ///
    /// # Errors
    ///
    /// An address outside the warp's quarter of the lanes, or outside an allocation.
    pub fn load(
        &self,
        warp: u32,
        address: u32,
        shape: DataShape,
        repeat: u32,
        pack: bool,
    ) -> Result<Vec<u32>, TensorError> {
        let base = base_lane(warp, address, shape)?;
        let registers = shape.registers(repeat);
        let mut out = Vec::with_capacity(32 * registers);
        for thread in 0..32 {
            for register in 0..registers as u32 {
                let (lane, column) = shape.position(thread, register);
                let (lane, column) = (base + lane, (address & 0xffff) + column);
                out.push(if pack {
                    let column = (address & 0xffff) + 2 * (column - (address & 0xffff));
                    self.get(lane, column)? & 0xffff | self.get(lane, column + 1)? << 16
                } else {
                    self.get(lane, column)?
                });
            }
        }
        Ok(out)
    }

    /// `tcgen05.st`, the inverse of [`TensorMemory::load`].
    ///
    /// # Errors
    ///
    /// Like [`TensorMemory::load`], and for a wrong number of registers.
    pub fn store(
        &mut self,
        warp: u32,
        address: u32,
        shape: DataShape,
        repeat: u32,
        unpack: bool,
        values: &[u32],
    ) -> Result<(), TensorError> {
        let base = base_lane(warp, address, shape)?;
        let registers = shape.registers(repeat);
        if values.len() != 32 * registers {
            return Err(TensorError::Registers { operand: 'r', expected: registers, found: values.len() / 32 });
        }
        let start = address & 0xffff;
        for thread in 0..32 {
            for register in 0..registers {
                let (lane, column) = shape.position(thread, register as u32);
                let value = values[thread as usize * registers + register];
                if unpack {
                    self.set(base + lane, start + 2 * column, value & 0xffff)?;
                    self.set(base + lane, start + 2 * column + 1, value >> 16)?;
                } else {
                    self.set(base + lane, start + column, value)?;
                }
            }
        }
        Ok(())
    }

    /// `tcgen05.cp`: copies from the K-major matrix of a descriptor. `source` is [`MatrixFormat::B8`] for a plain
    /// copy; the packed formats expand each element into a byte. `read` receives the address of a 16-byte chunk and how
    /// many of its bytes are elements.
    ///
    /// # Errors
    ///
    /// An error of `read`, an invalid descriptor or an invalid address.
    pub fn copy<E: From<TensorError>>(
        &mut self,
        address: u32,
        descriptor: u64,
        shape: CopyShape,
        source: MatrixFormat,
        mut read: impl FnMut(u32, usize) -> Result<[u8; 16], E>,
    ) -> Result<(), E> {
        let decoded = SmemDescriptor::tcgen05(descriptor)?;
        let (first, address) = (address >> 16, address & 0xffff);
        let (rows, chunks) = shape.extent();
        for row in 0..rows {
            for chunk in 0..chunks {
                let bytes = expand(read(decoded.chunk(Major::K, row, chunk), source.row_bytes())?, source);
                for lane in shape.lanes(row) {
                    for word in 0..4 {
                        let value = (bytes >> (32 * word)) as u32;
                        self.set(first + lane, address + 4 * chunk + word, value)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// `tcgen05.shift.down`: in the 32 lanes from the address, over 8 columns, moves each row to the next lower lane;
    /// the last lane keeps its data. No program that runs on a device has confirmed the direction.
    ///
    /// # Errors
    ///
    /// A lane that is not a multiple of 32, or an unallocated column.
    pub fn shift_down(&mut self, address: u32) -> Result<(), TensorError> {
        let (lane, column) = (address >> 16, address & 0xffff);
        if !lane.is_multiple_of(32) {
            return Err(TensorError::TensorAddress { address, reason: "tcgen05.shift needs a lane multiple of 32" });
        }
        for c in column..column + 8 {
            for l in lane..lane + 31 {
                let word = self.get(l + 1, c)?;
                self.set(l, c, word)?;
            }
        }
        Ok(())
    }
}

fn base_lane(warp: u32, address: u32, shape: DataShape) -> Result<u32, TensorError> {
    let (lane, quarter) = (address >> 16, 32 * (warp % 4));
    if lane < quarter || lane + shape.lanes() > quarter + 32 {
        return Err(TensorError::TensorAddress { address, reason: "lanes outside the warp's quarter" });
    }
    if !lane.is_multiple_of(16) {
        return Err(TensorError::TensorAddress { address, reason: "lane is not a multiple of 16" });
    }
    Ok(lane)
}

/// Expands 16 packed elements into 16 bytes. A 4-bit float occupies the middle of its byte, a 6-bit float the low
/// bits.
fn expand(chunk: [u8; 16], source: MatrixFormat) -> u128 {
    let word = u128::from_le_bytes(chunk);
    let (bits, shift) = match source {
        MatrixFormat::B4x16P64 => (4, 2),
        MatrixFormat::B6x16P32 => (6, 0),
        MatrixFormat::B8 | MatrixFormat::B16 => return word,
    };
    (0..16).fold(0, |out, i| out | (word >> (i * bits) & ((1 << bits) - 1)) << (8 * i + shift))
}

/// The value of element `k` of a row of A in tensor memory.
pub(super) fn a_element(
    memory: &TensorMemory,
    (lane, column): (u32, u32),
    k: u32,
    element: Element,
    container: u32,
) -> Result<f64, TensorError> {
    let per_word = 32 / container;
    let word = memory.operand(lane, column + k / per_word)?;
    let raw = u64::from(word >> (k % per_word * container)) & ((1u64 << container) - 1);
    Ok(element.value(if container == 8 && element == Element::E2m1 { raw >> 2 & 15 } else { raw }))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const SHAPES: [DataShape; 5] = [
        DataShape::L32x32b,
        DataShape::L16x64b,
        DataShape::L16x128b,
        DataShape::L16x256b,
        DataShape::L16x32bx2 { split: 16 },
    ];

    fn memory() -> TensorMemory {
        let mut memory = TensorMemory::new();
        assert_eq!(memory.allocate(512), Ok(Some(0)));
        memory
    }

    #[test]
    fn literal_positions() {
        assert_eq!(DataShape::L32x32b.position(9, 3), (9, 3));
        assert_eq!(DataShape::L16x64b.position(0, 0), (0, 0));
        assert_eq!(DataShape::L16x64b.position(1, 0), (8, 0));
        assert_eq!(DataShape::L16x64b.position(2, 0), (0, 1));
        assert_eq!(DataShape::L16x64b.position(31, 1), (15, 3));
        assert_eq!(DataShape::L16x128b.position(5, 1), (9, 1));
        assert_eq!(DataShape::L16x128b.position(5, 2), (1, 5));
        assert_eq!(DataShape::L16x256b.position(5, 0), (1, 2));
        assert_eq!(DataShape::L16x256b.position(5, 1), (1, 3));
        assert_eq!(DataShape::L16x256b.position(5, 2), (9, 2));
        assert_eq!(DataShape::L16x256b.position(5, 4), (1, 10));
        assert_eq!(DataShape::L16x32bx2 { split: 64 }.position(17, 2), (1, 66));
    }

    #[test]
    fn shapes_are_bijective() {
        for shape in SHAPES {
            let registers = shape.registers(16) as u32;
            let all: BTreeSet<(u32, u32)> =
                (0..32).flat_map(|t| (0..registers).map(move |r| shape.position(t, r))).collect();
            assert_eq!(all.len() as u32, 32 * registers);
            assert!(all.iter().all(|p| p.0 < shape.lanes()));
            assert_eq!(all.iter().map(|p| p.1).max(), Some(32 * registers / shape.lanes() - 1));
        }
    }

    #[test]
    fn stores_and_loads_agree_across_shapes() {
        for shape in SHAPES {
            let mut memory = memory();
            let count = 32 * shape.registers(16);
            let values: Vec<u32> = (0..count as u32).map(|i| i * 0x1_0001 + 7).collect();
            memory.store(5, 32 << 16 | 8, shape, 16, false, &values).unwrap();
            assert_eq!(memory.load(5, 32 << 16 | 8, shape, 16, false).unwrap(), values);
            memory.store(5, 32 << 16 | 8, shape, 16, true, &values).unwrap();
            assert_eq!(memory.load(5, 32 << 16 | 8, shape, 16, true).unwrap(), values);
            // Unpacked data is in the low halves of adjacent columns.
            assert_eq!(memory.get(32, 8).unwrap(), values[0] & 0xffff);
            assert_eq!(memory.get(32, 9).unwrap(), values[0] >> 16);
        }
    }

    #[test]
    fn access_rules() {
        let memory = memory();
        let load = |warp, address| memory.load(warp, address, DataShape::L32x32b, 1, false).is_ok();
        assert!(load(1, 32 << 16) && load(5, 32 << 16));
        assert!(!load(0, 32 << 16) && !load(1, 48 << 16) && !load(1, 33 << 16));
        assert!(!load(0, 512));
        assert!(memory.load(0, 16 << 16, DataShape::L16x64b, 1, false).is_ok());
    }

    #[test]
    fn allocation() {
        let mut memory = TensorMemory::new();
        assert!(memory.allocate(48).is_err());
        assert_eq!(memory.allocate(256), Ok(Some(0)));
        assert_eq!(memory.allocate(128), Ok(Some(256)));
        assert_eq!(memory.allocate(256), Ok(None));
        assert!(memory.get(0, 400).is_err());
        memory.deallocate(0, 256).unwrap();
        assert!(memory.deallocate(0, 256).is_err());
        assert!(memory.deallocate(u32::MAX - 31, 512).is_err());
        assert_eq!(memory.allocate(32), Ok(Some(0)));
        assert_eq!(memory.allocated_columns(), 160);
        memory.relinquish();
        assert!(memory.allocate(32).is_err());
    }

    fn descriptor(start: u64, lbo: u64, sbo: u64) -> u64 {
        start >> 4 | (lbo >> 4) << 16 | (sbo >> 4) << 32 | 1 << 46
    }

    #[test]
    fn copies_reach_their_lanes() {
        // Each 16-byte chunk contains its own address in all four words.
        let read = |address: u32, _: usize| {
            let mut chunk = [0; 16];
            chunk.chunks_mut(4).for_each(|w| w.copy_from_slice(&address.to_le_bytes()));
            Ok::<_, TensorError>(chunk)
        };
        let raw = descriptor(0x1000, 0x4000, 128);
        let mut memory = memory();
        memory.copy(4, raw, CopyShape::L128x256b, MatrixFormat::B8, read).unwrap();
        assert_eq!(memory.get(9, 4).unwrap(), 0x1000 + 128 + 16);
        assert_eq!(memory.get(9, 8).unwrap(), 0x1000 + 128 + 16 + 0x4000);
        memory.copy(0, raw, CopyShape::L64x128bWarpx2Pairs02And13, MatrixFormat::B8, read).unwrap();
        let row = |r: u32| 0x1000 + r / 8 * 128 + r % 8 * 16;
        for (lane, expected) in [(3, 3), (35, 35), (67, 3), (99, 35)] {
            assert_eq!(memory.get(lane, 3).unwrap(), row(expected));
        }
        memory.copy(0, raw, CopyShape::L64x128bWarpx2Pairs01And23, MatrixFormat::B8, read).unwrap();
        for (lane, expected) in [(3, 3), (35, 3), (67, 35), (99, 35)] {
            assert_eq!(memory.get(lane, 3).unwrap(), row(expected));
        }
        memory.copy(0, raw, CopyShape::L32x128bWarpx4, MatrixFormat::B8, read).unwrap();
        assert!((0..4).all(|w| memory.get(32 * w + 9, 0).unwrap() == row(9)));
        memory.copy(0, raw, CopyShape::L4x256b, MatrixFormat::B8, read).unwrap();
        assert_eq!(memory.get(96, 0).unwrap(), row(3));
        // A lane in the address moves the whole copy.
        memory.copy(5 << 16, raw, CopyShape::L4x256b, MatrixFormat::B8, read).unwrap();
        assert_eq!((memory.get(101, 0).unwrap(), memory.get(5, 0).unwrap()), (row(3), row(0)));
        assert!(memory.copy(32 << 16, raw, CopyShape::L4x256b, MatrixFormat::B8, read).is_err());
        let packed = |_, bytes| {
            assert_eq!(bytes, 8);
            Ok::<_, TensorError>((0..16u128).fold(0, |w, i| w | i << (4 * i)).to_le_bytes())
        };
        memory.copy(0, raw, CopyShape::L32x128bWarpx4, MatrixFormat::B4x16P64, packed).unwrap();
        assert_eq!(memory.get(0, 1).unwrap().to_le_bytes(), [4 << 2, 5 << 2, 6 << 2, 7 << 2]);
    }

    #[test]
    fn operands_must_have_been_written() {
        let mut memory = TensorMemory::new();
        memory.allocate(64).unwrap();
        memory.set(5, 40, 7).unwrap();
        assert_eq!(memory.operand(5, 40), Ok(7));
        assert!(memory.operand(5, 41).is_err() && memory.get(5, 41).is_ok());
        memory.deallocate(32, 32).unwrap();
        memory.allocate(32).unwrap();
        assert!(memory.operand(5, 40).is_err());
        memory.trap_unwritten = false;
        assert_eq!(memory.operand(5, 40), Ok(7));
    }

    #[test]
    fn shift_moves_thirty_one_rows() {
        let mut memory = memory();
        for lane in 0..128 {
            (0..16).for_each(|c| memory.set(lane, c, lane * 100 + c).unwrap());
        }
        memory.shift_down(32 << 16 | 4).unwrap();
        assert_eq!(memory.get(32, 4).unwrap(), 3304);
        assert_eq!(memory.get(33, 11).unwrap(), 3411);
        assert_eq!(memory.get(62, 4).unwrap(), 6304);
        assert_eq!(memory.get(63, 4).unwrap(), 6304);
        assert_eq!(memory.get(33, 12).unwrap(), 3312);
        assert_eq!(memory.get(64, 4).unwrap(), 6404);
        assert!(memory.shift_down(16 << 16).is_err());
    }
}
