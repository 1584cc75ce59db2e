//! Scale factors of block-scaled dots: the order in which `tcgen05.cp` copies them and `tcgen05.mma` reads them.
//!
//! A *line* is a row of the left operand or a column of the right one. Its scale factors are bytes, one for each block
//! of elements along K, and four of them make a word. An instruction reads the word of line `l` from lane `l % 32` and
//! column `l / 32`, and takes one, two or four of its bytes. Each quarter of the lanes needs a copy, which
//! `tcgen05.cp.32x128b.warpx4` makes: it copies 512 bytes, the words of 128 lines, to 32 lanes and four columns.
//!
//! ```text
//! bits of an offset in shared memory        bits of a position in tensor memory
//! 0, 1     factor 0, 1                      0, 1     factor 0, 1
//! 2, 3     line 5, 6                        2, 3     line 5, 6
//! 4 to 8   line 0 to 4                      4 ..     line 7 .., then factor 2 ..
//! 9 ..     factor 2 .., then line 7 ..      5 last   line 0 to 4, which are the lane
//! ```
//!
//! In tensor memory, lines of one word are in consecutive columns, so that an instruction can read more than 128 of
//! them. In shared memory, blocks of the same lines are consecutive, as programs store them in global memory.

use crate::error::{LayoutError, Result};
use crate::shape::Shape;

/// log2 of the lines of a block, and of the lanes that hold them.
const BLOCK_LINES_LOG2: usize = 7;
const LANES_LOG2: usize = 5;
/// log2 of the factors of a word.
const WORD_LOG2: usize = 2;
/// Columns of a block.
const BLOCK_COLUMNS: u32 = 4;

/// The scale factors of one operand, with enough lines and factors for whole blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScaleFactors {
    /// The index that each bit of a line's number adds, and each bit of a factor's number.
    lines: Vec<u64>,
    factors: Vec<u64>,
}

impl ScaleFactors {
    /// Bytes that an instruction copies.
    pub const BLOCK_BYTES: u64 = 512;
    /// The least lines and factors of a line.
    pub const LEAST: [i64; 2] = [1 << BLOCK_LINES_LOG2, 1 << WORD_LOG2];

    /// The scale factors of a tile whose dimension `lines` numbers the lines; the other one numbers their factors.
    ///
    /// Errors: another rank, or less than one block.
    pub fn new(shape: &Shape, lines: usize) -> Result<Self> {
        if shape.rank() != 2 || lines > 1 {
            let found = shape.rank() as u64;
            return Err(LayoutError::Mismatch { what: "rank of scale factors", expected: 2, found });
        }
        let bits = |dim: usize, least: usize| {
            let (low, width) = shape.field(dim)?;
            if (width as usize) < least {
                let (extent, needed) = (1 << width, 1 << least);
                return Err(LayoutError::TileTooSmall { what: "a block of scale factors", dim, extent, needed });
            }
            Ok((low..low + width).map(|bit| 1 << bit).collect())
        };
        Ok(Self { lines: bits(lines, BLOCK_LINES_LOG2)?, factors: bits(1 - lines, WORD_LOG2)? })
    }

    /// The index that each bit of an offset in shared memory adds.
    pub fn shared(&self) -> Vec<u64> {
        let word = self.factors[..WORD_LOG2].iter().chain(&self.lines[LANES_LOG2..BLOCK_LINES_LOG2]);
        let blocks = self.factors[WORD_LOG2..].iter().chain(&self.lines[BLOCK_LINES_LOG2..]);
        word.chain(&self.lines[..LANES_LOG2]).chain(blocks).copied().collect()
    }

    /// The index that each bit of a position in tensor memory adds.
    pub fn tensor(&self) -> Vec<u64> {
        let word = self.factors[..WORD_LOG2].iter().chain(&self.lines[LANES_LOG2..BLOCK_LINES_LOG2]);
        let blocks = self.lines[BLOCK_LINES_LOG2..].iter().chain(&self.factors[WORD_LOG2..]);
        word.chain(blocks).chain(&self.lines[..LANES_LOG2]).copied().collect()
    }

    /// log2 of the words of a line, and of the blocks of one word of all lines.
    fn blocks_log2(&self) -> [usize; 2] {
        [self.factors.len() - WORD_LOG2, self.lines.len() - BLOCK_LINES_LOG2]
    }

    /// The number of blocks of 512 bytes.
    pub fn blocks(&self) -> u32 {
        1 << self.blocks_log2().iter().sum::<usize>()
    }

    /// The first column of a block in shared memory.
    pub fn column_of_block(&self, block: u32) -> u32 {
        let [words, lines] = self.blocks_log2();
        (block >> words | (block & ((1 << words) - 1)) << lines) * BLOCK_COLUMNS
    }

    /// The column of tensor memory that holds a factor of a line, and the factor's byte in it.
    pub fn place(&self, line: u32, factor: u32) -> (u32, u32) {
        let lines = 1 << self.lines.len();
        let word = factor >> WORD_LOG2;
        ((word * lines + line) >> LANES_LOG2, factor % (1 << WORD_LOG2))
    }

    /// The number of columns of tensor memory that scale factors of this many lines take.
    pub fn columns(lines: u32, factors: u32) -> u32 {
        let [least_lines, least_factors] = Self::LEAST.map(|least| least as u32);
        lines.max(least_lines) / (1 << LANES_LOG2) * (factors.max(least_factors) >> WORD_LOG2)
    }
}
