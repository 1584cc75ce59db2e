//! The shared-memory layouts that the asynchronous hardware of sm_90 supports, and their descriptors.
//!
//! `wgmma` reads operands from shared memory, and the tensor memory accelerator (TMA) writes them there. Both support
//! a small family of layouts. All are linear over F2, so a [`SharedLayout`] can express them. Comparing basis vectors
//! tells whether a layout belongs to the family, and which member it is.
//!
//! # The family
//!
//! Memory is divided into *chunks* of 16 bytes. A chunk holds neighbors along one dimension of the tile, the
//! *contiguous* dimension. The *span* of the swizzle is `S` = 16, 32, 64 or 128 bytes along that dimension; 16 means
//! no swizzle. One span times eight lines along a second dimension is an *atom* of `8 * S` bytes. An atom stores its
//! lines one after another and then permutes their chunks: address bit `7 + i` flips address bit `4 + i`, for the
//! `log2(S / 16)` bits of a chunk number. Atoms follow each other in any order of the remaining coordinate bits. From
//! low to high, the byte offset is
//!
//! ```text
//!    bits 0..4            chunk: the low bits of the contiguous coordinate
//!    bits 4..4+s          chunk number, s = log2(S / 16): its next bits, each flipped by a line bit
//!    bits 4+s..7+s        the three low bits of the line
//!    bits 7+s..           the order of atoms: the remaining bits of all dimensions, ascending within each dimension
//! ```
//!
//! `tcgen05.mma` reads 32-bit elements that are contiguous along M or N in another layout: a span of 128 bytes is
//! permuted in *units* of 32 bytes. Address bits 7 and 8 flip address bits 5 and 6, and an atom has four lines.
//!
//! *Worked example.* A 64x64 tile of bf16 with contiguous rows and the 128-byte swizzle: `s = 3`. Element (row 3,
//! column 20) is byte 40 of its row, which is byte 8 of chunk 2. Line 3 flips the chunk to `2 ^ 3 = 1`, so the
//! element is at `3 * 128 + 1 * 16 + 8 = 0x198`.
//!
//! # Alignment
//!
//! The hardware takes the line number from the *address*, not from the distance to the start of the tile. The start
//! must therefore be a multiple of the atom size: 1024 bytes for the 128-byte swizzle, 512 for 64 and for units of 32
//! bytes, 256 for 32, and 128 without a swizzle.
//!
//! # Descriptors
//!
//! One `wgmma` multiplies 64 x `k` by `k` x `n`, where `k` elements are 32 bytes. A 64-bit descriptor tells it where
//! an operand is: a start address, two strides and the swizzle. The meaning of the strides depends on the contiguous
//! dimension. Let an operand have `mn` rows (M of A, N of B) and depth K:
//!
//! | contiguous | swizzle | leading offset | stride offset |
//! |---|---|---|---|
//! | K | none | between the two chunks along K | between groups of eight rows |
//! | K | 32 to 128 | not used | between groups of eight rows |
//! | MN | none | between the two groups of eight along K | between chunks along MN |
//! | MN | 32 to 128 | between spans along MN | between the two groups of eight along K |
//! | MN | units of 32 bytes | between spans along MN | between the two groups of four along K |
//!
//! For `wgmma`, only 16-bit elements may be contiguous along MN. For `tcgen05.mma`, 8-bit elements may too, and 32-bit
//! elements in units of 32 bytes. The hardware
//! multiplies a stride by a number, so the coordinate bits that a stride covers must be at consecutive powers of two:
//! 256 rows of a K-contiguous operand need their bits 3 to 7 next to each other in the order of atoms. Everything else
//! is reached by moving the start address: by 32 bytes within a span for the next step along K, or by whatever the
//! order of atoms says. The bits by which a start address moves are never bits that the instruction covers itself. The
//! additions therefore never carry, and the swizzle, a function of the final address, stays correct.
#![deny(missing_docs)]

use thiserror::Error;

use crate::access::{SharedLayout, elem_log2_bytes};
use crate::error::LayoutError;
use crate::shape::Shape;

/// log2 of the bytes of a chunk.
const CHUNK_LOG2: u32 = 4;
/// log2 of the lines of an atom, with chunks and with units of 32 bytes.
const LINES_LOG2: u32 = 3;
const LINES_OF_UNITS_LOG2: u32 = 2;
/// Address bit `LINE_BIT + i` flips address bit `CHUNK_LOG2 + i`, or the one above it if units of 32 bytes move.
const LINE_BIT: u32 = 7;
/// log2 of the bytes of an operand row that one instruction multiplies.
const STEP_LOG2: u32 = 5;
/// Addresses and strides in a descriptor are less than this and multiples of 16.
const DESCRIPTOR_LIMIT: u64 = 1 << 18;

/// The version of the descriptors of `tcgen05.mma`, in bits 46 to 48.
const TENSOR_VERSION: u64 = 1 << 46;

/// The permutation of 16-byte chunks within a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HardwareSwizzle {
    /// No permutation.
    None,
    /// Spans of 32 bytes.
    Bytes32,
    /// Spans of 64 bytes.
    Bytes64,
    /// Spans of 128 bytes.
    Bytes128,
    /// Spans of 128 bytes, in units of 32 bytes instead of chunks.
    Units32,
}

impl HardwareSwizzle {
    /// The swizzles that permute chunks, from the narrowest span.
    pub const OF_CHUNKS: [Self; 4] = [Self::None, Self::Bytes32, Self::Bytes64, Self::Bytes128];
    /// All swizzles.
    pub const ALL: [Self; 5] = [Self::None, Self::Bytes32, Self::Bytes64, Self::Bytes128, Self::Units32];

    /// Bits of a chunk number within a span.
    pub const fn chunk_bits(self) -> u32 {
        match self {
            Self::None => 0,
            Self::Bytes32 => 1,
            Self::Bytes64 => 2,
            Self::Bytes128 | Self::Units32 => 3,
        }
    }

    /// The bytes that keep their order: a chunk, or a unit.
    pub const fn unit(self) -> u32 {
        16 << self.unit_chunk_bits()
    }

    /// Bits of a chunk number within a unit.
    const fn unit_chunk_bits(self) -> u32 {
        matches!(self, Self::Units32) as u32
    }

    /// log2 of the lines of an atom.
    const fn lines_log2(self) -> u32 {
        if matches!(self, Self::Units32) { LINES_OF_UNITS_LOG2 } else { LINES_LOG2 }
    }

    /// The bytes within which chunks are permuted; 16 without a swizzle.
    pub const fn span(self) -> u32 {
        16 << self.chunk_bits()
    }

    /// The bytes of an atom, which is also the alignment of a tile; 128 without a swizzle.
    pub const fn atom_bytes(self) -> u32 {
        self.span() << self.lines_log2()
    }

    /// The code in bits 61 to 63 of a descriptor. Only `tcgen05.mma` reads units of 32 bytes.
    pub const fn descriptor_code(self) -> u64 {
        match self {
            Self::None => 0,
            Self::Units32 => 1,
            Self::Bytes128 => 2,
            Self::Bytes64 => 4,
            Self::Bytes32 => 6,
        }
    }

    /// The value of `tensormap.replace.swizzle_mode`.
    pub const fn tensor_map_code(self) -> u32 {
        self.chunk_bits()
    }

    /// The value of `tensormap.replace.swizzle_atomicity`; 0 for chunks of 16 bytes.
    pub const fn atomicity_code(self) -> u32 {
        self.unit_chunk_bits()
    }

    /// The widest swizzle of chunks with a span of at most `bytes`.
    pub fn widest(bytes: u64) -> Self {
        let fits = |s: &&Self| u64::from(s.span()) <= bytes;
        Self::OF_CHUNKS.iter().rev().find(fits).copied().unwrap_or(Self::None)
    }

    /// The byte-offset bit that bit `bit` of the byte offset flips, if any.
    pub(crate) const fn flipped_by(self, bit: u32) -> Option<u32> {
        let unit = self.unit_chunk_bits();
        let is_line = bit >= LINE_BIT && bit < LINE_BIT + self.chunk_bits() - unit;
        if is_line { Some(bit - LINE_BIT + CHUNK_LOG2 + unit) } else { None }
    }
}

/// The reasons why a tile in shared memory cannot be an operand of an asynchronous instruction.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum HardwareError {
    /// The element is not one of 8, 16, 32 or 64 bits.
    #[error("elements of {bits} bits have no hardware layout; supported are 8, 16, 32 and 64 bits")]
    Element {
        /// Size of the element.
        bits: u32,
    },
    /// An extent of the tile does not fill an atom.
    #[error("dimension {dim} has {extent} elements, but an atom needs {needed}")]
    TooSmall {
        /// Dimension of the tile.
        dim: usize,
        /// Its extent.
        extent: u64,
        /// The least extent.
        needed: u64,
    },
    /// A bit of the byte offset does not fit any member of the family.
    #[error("bit {bit} of the byte offset selects element {element:#x}, as in no hardware layout")]
    NoAtom {
        /// Bit of the byte offset.
        bit: u32,
        /// The flattened index that it contributes.
        element: u64,
    },
    /// The layout does not store every element of the tile exactly once.
    #[error("the layout has {found} offset bits, but the tile has {expected} index bits")]
    NotDense {
        /// Bits of the tile's index.
        expected: u32,
        /// Bits of the layout's offset.
        found: u32,
    },
    /// The dimensions named for an operand are not the two dimensions of the atom.
    #[error("dimensions {mn} and {k} of the tile are not the two dimensions of its atoms")]
    NotTheAtom {
        /// The dimension of the rows.
        mn: usize,
        /// The dimension of the depth.
        k: usize,
    },
    /// The instruction reads this operand only with K contiguous.
    #[error("elements of {bits} bits must be contiguous along K, but they are contiguous along M or N")]
    MustBeKMajor {
        /// Size of the element.
        bits: u32,
    },
    /// The instruction does not read this operand in units of 32 bytes.
    #[error(
        "only 32-bit elements that are contiguous along M or N are in units of 32 bytes, and only in `tcgen05.mma`"
    )]
    Units,
    /// One stride must cover several coordinate bits that are not adjacent.
    #[error(
        "the groups of dimension {dim} are not evenly spaced: \
         bit {bit} of its coordinate is at byte {found}, not {expected}"
    )]
    UnevenStride {
        /// Dimension of the tile.
        dim: usize,
        /// Bit of its coordinate.
        bit: u32,
        /// Its byte offset if the distances were equal.
        expected: u64,
        /// Its actual byte offset.
        found: u64,
    },
    /// The row count is not a power of two within the range of the instruction, or less than a chunk along MN.
    #[error("no instruction takes {rows} rows of this operand: the count must be a power of two from 8 to 256")]
    Rows {
        /// The requested rows.
        rows: u32,
    },
    /// An address or stride that does not fit 14 bits of 16-byte units.
    #[error("{bytes} bytes do not fit a descriptor field: it holds multiples of 16 below 2^18")]
    OutOfRange {
        /// Address or stride.
        bytes: u64,
    },
    /// An address without the alignment of the swizzle.
    #[error("address {address:#x} is not a multiple of {alignment}")]
    Misaligned {
        /// Address of the tile in shared memory.
        address: u32,
        /// The required alignment.
        alignment: u32,
    },
    /// An error of the layout algebra: a shape or dimension that does not exist.
    #[error(transparent)]
    Layout(#[from] LayoutError),
}

/// A layout of the family.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HardwareLayout {
    shape: Shape,
    elem_log2: u32,
    swizzle: HardwareSwizzle,
    contiguous: usize,
    lines: usize,
    /// The order of atoms: the dimension of each offset bit above the atom, from low to high.
    atoms: Vec<usize>,
}

impl HardwareLayout {
    /// Creates the layout with the given order of atoms. `atoms[i]` is the dimension that contributes its next bit as
    /// bit `i` of the atom number.
    ///
    /// Errors: an unsupported element size, a tile smaller than one atom, or an order that does not name every
    /// remaining bit.
    pub fn new(
        shape: &Shape,
        (contiguous, lines): (usize, usize),
        elem_bits: u32,
        swizzle: HardwareSwizzle,
        atoms: Vec<usize>,
    ) -> Result<Self, HardwareError> {
        let elem_log2 = element(elem_bits)?;
        let layout = Self { shape: shape.clone(), elem_log2, swizzle, contiguous, lines, atoms };
        shape.field(contiguous)?;
        shape.field(lines)?;
        for dim in 0..shape.rank() {
            let (width, inside) = (shape.log2()[dim], layout.bits_inside(dim));
            if width < inside {
                return Err(HardwareError::TooSmall { dim, extent: 1 << width, needed: 1 << inside });
            }
            let listed = layout.atoms.iter().filter(|&&d| d == dim).count() as u32;
            if listed != width - inside {
                let (expected, found) = ((width - inside).into(), listed.into());
                return Err(LayoutError::Mismatch {
                    what: "bits of a dimension in the order of atoms",
                    expected,
                    found,
                }
                .into());
            }
        }
        match layout.atoms.iter().find(|&&d| d >= shape.rank()) {
            Some(&dim) => Err(LayoutError::NoSuchDimension { dim, rank: shape.rank() }.into()),
            None if contiguous == lines => Err(HardwareError::NotTheAtom { mn: contiguous, k: lines }),
            None => Ok(layout),
        }
    }

    /// The layout that TMA fills with the fewest boxes: the widest swizzle that the contiguous extent allows, and
    /// whole panels of one span, each with all its lines, one after another. Other dimensions are slowest.
    pub fn panels(shape: &Shape, (contiguous, lines): (usize, usize), elem_bits: u32) -> Result<Self, HardwareError> {
        let bytes = shape.extents().get(contiguous).copied().unwrap_or(0) << element(elem_bits)?;
        Self::panels_of(HardwareSwizzle::widest(bytes), shape, (contiguous, lines), elem_bits)
    }

    /// The layout that TMA fills with the fewest boxes and that `tcgen05.mma` reads if 32-bit elements are contiguous
    /// along M or N: panels of 128 bytes in units of 32 bytes.
    pub fn panels_in_units(shape: &Shape, (contiguous, lines): (usize, usize)) -> Result<Self, HardwareError> {
        Self::panels_of(HardwareSwizzle::Units32, shape, (contiguous, lines), 32)
    }

    fn panels_of(
        swizzle: HardwareSwizzle,
        shape: &Shape,
        (contiguous, lines): (usize, usize),
        elem_bits: u32,
    ) -> Result<Self, HardwareError> {
        let others = (0..shape.rank()).rev().filter(|&d| d != contiguous && d != lines);
        let order: Vec<usize> = [lines, contiguous].into_iter().chain(others).collect();
        Self::with_atom_order(shape, (contiguous, lines), elem_bits, swizzle, &order)
    }

    /// The layout whose atoms cover whole dimensions in the given order, from the fastest.
    pub fn with_atom_order(
        shape: &Shape,
        (contiguous, lines): (usize, usize),
        elem_bits: u32,
        swizzle: HardwareSwizzle,
        order: &[usize],
    ) -> Result<Self, HardwareError> {
        shape.check_order(order)?;
        let (inner, elem_log2) = (CHUNK_LOG2 + swizzle.chunk_bits(), element(elem_bits)?);
        let left = |dim: usize| {
            let inside = [(contiguous, inner - elem_log2), (lines, swizzle.lines_log2())];
            let inside = inside.iter().find(|(d, _)| *d == dim).map_or(0, |(_, bits)| *bits);
            shape.log2()[dim].saturating_sub(inside) as usize
        };
        let atoms = order.iter().flat_map(|&dim| std::iter::repeat_n(dim, left(dim))).collect();
        Self::new(shape, (contiguous, lines), elem_bits, swizzle, atoms)
    }

    /// Returns the member of the family that equals `shared`. There is at most one, because bits 0 to 7 of the offset
    /// distinguish all members.
    ///
    /// Errors: the first offset bit that fits no member.
    pub fn recognise(shared: &SharedLayout, shape: &Shape, elem_bits: u32) -> Result<Self, HardwareError> {
        let elem_log2 = element(elem_bits)?;
        let bases = shared.bases();
        if shared.offset_bits() != shape.bits() {
            return Err(HardwareError::NotDense { expected: shape.bits(), found: shared.offset_bits() });
        }
        // The dimension and coordinate bit of a unit vector.
        let fields = shape.fields();
        let coordinate = |element: u64| {
            let bit = element.trailing_zeros();
            let unit = element.is_power_of_two();
            let dim = fields.iter().position(|&(low, width)| unit && (low..low + width).contains(&bit))?;
            Some((dim, bit - fields[dim].0))
        };
        let no_atom = |bit: u32| {
            let element = bases.get((bit - elem_log2) as usize).copied().unwrap_or(0);
            HardwareError::NoAtom { bit, element }
        };
        let Some((contiguous, 0)) = bases.first().and_then(|&b| coordinate(b)) else { return Err(no_atom(elem_log2)) };
        // The span ends at the first bit of another dimension.
        let run = bases.iter().zip(0..).take_while(|&(&b, i)| coordinate(b) == Some((contiguous, i))).count() as u32;
        let chunks = (run + elem_log2).saturating_sub(CHUNK_LOG2).min(3);
        let line_at = CHUNK_LOG2 + chunks;
        if run + elem_log2 < CHUNK_LOG2 {
            return Err(no_atom(run + elem_log2));
        }
        let with = |swizzle: HardwareSwizzle| {
            let straight = |bit: u32| {
                let basis = bases.get((bit - elem_log2) as usize)?;
                let flip = swizzle.flipped_by(bit).and_then(|chunk| bases.get((chunk - elem_log2) as usize));
                coordinate(basis ^ flip.copied().unwrap_or(0))
            };
            let Some((lines, 0)) = straight(line_at) else { return Err(no_atom(line_at)) };
            let atom_at = line_at + swizzle.lines_log2();
            let mut next = vec![0; shape.rank()];
            next[contiguous] = line_at - elem_log2;
            let mut atoms = Vec::new();
            for bit in line_at..shape.bits() + elem_log2 {
                match straight(bit) {
                    Some((dim, at)) if at == next[dim] && (bit >= atom_at || dim == lines) => next[dim] += 1,
                    _ => return Err(no_atom(bit)),
                }
                if bit >= atom_at {
                    atoms.extend(straight(bit).map(|(dim, _)| dim));
                }
            }
            Self::new(shape, (contiguous, lines), elem_bits, swizzle, atoms)
        };
        let of_chunks = with(HardwareSwizzle::OF_CHUNKS[chunks as usize]);
        match with(HardwareSwizzle::Units32) {
            Ok(of_units) if chunks == 3 && of_chunks.is_err() => Ok(of_units),
            _ => of_chunks,
        }
    }

    /// The layout as offset bases, for use with the rest of the algebra.
    pub fn shared_layout(&self) -> Result<SharedLayout, HardwareError> {
        let fields = self.shape.fields();
        let inner = CHUNK_LOG2 + self.swizzle.chunk_bits();
        let atoms = self.atoms.iter().copied();
        let dims = std::iter::repeat_n(self.contiguous, (inner - self.elem_log2) as usize)
            .chain(std::iter::repeat_n(self.lines, self.swizzle.lines_log2() as usize))
            .chain(atoms);
        let mut next = vec![0; self.shape.rank()];
        let mut bases: Vec<u64> = dims
            .map(|dim| {
                next[dim] += 1;
                1 << (fields[dim].0 + next[dim] - 1)
            })
            .collect();
        let dense = bases.clone();
        for (bit, basis) in (self.elem_log2..).zip(&mut bases) {
            if let Some(chunk) = self.swizzle.flipped_by(bit) {
                *basis ^= dense[(chunk - self.elem_log2) as usize];
            }
        }
        Ok(SharedLayout::new(bases, self.shape.bits())?)
    }

    /// The swizzle.
    pub fn swizzle(&self) -> HardwareSwizzle {
        self.swizzle
    }

    /// The tile.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Size of an element.
    pub fn elem_bits(&self) -> u32 {
        8 << self.elem_log2
    }

    /// The dimension with neighbors that are adjacent in memory.
    pub fn contiguous(&self) -> usize {
        self.contiguous
    }

    /// The dimension that numbers the lines of an atom.
    pub fn lines(&self) -> usize {
        self.lines
    }

    /// The required alignment of the tile's address, in bytes.
    pub fn alignment(&self) -> u32 {
        self.swizzle.atom_bytes()
    }

    /// Bytes of the tile.
    pub fn bytes(&self) -> u64 {
        self.shape.elements() << self.elem_log2
    }

    /// The coordinate bits of a dimension that are inside an atom.
    fn bits_inside(&self, dim: usize) -> u32 {
        if dim == self.contiguous {
            CHUNK_LOG2 + self.swizzle.chunk_bits() - self.elem_log2
        } else if dim == self.lines {
            self.swizzle.lines_log2()
        } else {
            0
        }
    }

    /// The byte offset of bit `bit` of the coordinate of `dim`, before the swizzle; `None` beyond the extent.
    pub fn bit_offset(&self, dim: usize, bit: u32) -> Option<u64> {
        let inside = self.bits_inside(dim);
        if bit >= *self.shape.log2().get(dim)? {
            None
        } else if bit < inside {
            let low = if dim == self.contiguous { self.elem_log2 } else { CHUNK_LOG2 + self.swizzle.chunk_bits() };
            Some(1 << (low + bit))
        } else {
            let mut numbered = self.atoms.iter().zip(0u32..).filter(|&(&d, _)| d == dim);
            let (_, at) = numbered.nth((bit - inside) as usize)?;
            Some(u64::from(self.swizzle.atom_bytes()) << at)
        }
    }

    /// The byte offset of `coordinate` along one dimension, before the swizzle. The offsets of several dimensions add
    /// up.
    pub fn linear_offset(&self, dim: usize, coordinate: u64) -> u64 {
        let bits = (0..u64::BITS).filter(|&bit| coordinate >> bit & 1 == 1);
        bits.filter_map(|bit| self.bit_offset(dim, bit)).sum()
    }

    /// The tile as an operand of `wgmma` with its rows (M of A, N of B) along `mn` and its depth along `k`. `rows` is
    /// the number of rows per instruction: 64 for A, a power of two from 8 to 256 for B.
    ///
    /// Errors: dimensions other than the two of the atom, a tile smaller than the instruction, elements contiguous
    /// along `mn` that are not 16 bits wide, or uneven strides.
    pub fn operand(&self, mn: usize, k: usize, rows: u32) -> Result<WarpgroupOperand, HardwareError> {
        self.operand_of(|bits, swizzle| bits == 16 && swizzle != HardwareSwizzle::Units32, (mn, k), rows)
    }

    /// The tile as an operand of `tcgen05.mma`, as [`Self::operand`]. `rows` is 128 for A.
    ///
    /// Errors: as there, but elements contiguous along `mn` may also be 8 bits wide, or 32 bits in units of 32 bytes.
    pub fn tensor_operand(&self, mn: usize, k: usize, rows: u32) -> Result<WarpgroupOperand, HardwareError> {
        let reads = |bits, swizzle| (bits == 32) == (swizzle == HardwareSwizzle::Units32) && bits <= 32;
        self.operand_of(reads, (mn, k), rows)
    }

    /// `reads_mn_major` tells whether elements of a size may be contiguous along `mn`, with a swizzle.
    fn operand_of(
        &self,
        reads_mn_major: impl Fn(u32, HardwareSwizzle) -> bool,
        (mn, k): (usize, usize),
        rows: u32,
    ) -> Result<WarpgroupOperand, HardwareError> {
        let major = match (self.contiguous, self.lines) {
            dims if dims == (k, mn) => Major::K,
            dims if dims == (mn, k) => Major::Mn,
            _ => return Err(HardwareError::NotTheAtom { mn, k }),
        };
        let is_in_units = self.swizzle == HardwareSwizzle::Units32;
        match major {
            Major::K if is_in_units => return Err(HardwareError::Units),
            Major::Mn if !reads_mn_major(self.elem_bits(), self.swizzle) => {
                let bits = self.elem_bits();
                return Err(if is_in_units { HardwareError::Units } else { HardwareError::MustBeKMajor { bits } });
            }
            _ => {}
        }
        if self.elem_log2 > 2 {
            return Err(HardwareError::Element { bits: self.elem_bits() });
        }
        if !rows.is_power_of_two() || !(8..=256).contains(&rows) {
            return Err(HardwareError::Rows { rows });
        }
        let chunk = CHUNK_LOG2 - self.elem_log2;
        if major == Major::Mn && rows < 1 << chunk {
            return Err(HardwareError::Rows { rows });
        }
        let extents = self.shape.extents();
        let depth = 1u64 << (STEP_LOG2 - self.elem_log2);
        for (dim, needed) in [(mn, rows.into()), (k, depth)] {
            if extents[dim] < needed {
                return Err(HardwareError::TooSmall { dim, extent: extents[dim], needed });
            }
        }
        let span = chunk + self.swizzle.chunk_bits();
        let (rows_log2, depth_log2) = (rows.ilog2(), depth.ilog2());
        let none = self.swizzle == HardwareSwizzle::None;
        let line = self.swizzle.lines_log2();
        // The coordinate bits that the leading offset and the stride offset cover.
        let (leading, stride) = match (major, none) {
            (Major::K, true) => ((k, chunk..depth_log2), (mn, line..rows_log2)),
            (Major::K, false) => ((k, 0..0), (mn, line..rows_log2)),
            (Major::Mn, true) => ((k, line..depth_log2), (mn, chunk..rows_log2)),
            (Major::Mn, false) => ((mn, span..rows_log2), (k, line..depth_log2)),
        };
        let descriptor = MatrixDescriptor {
            swizzle: self.swizzle,
            leading: self.even_stride(leading.0, leading.1)?,
            stride: self.even_stride(stride.0, stride.1)?,
        };
        let steps = |dim: usize, of: u64| (0..extents[dim] / of).map(|i| self.linear_offset(dim, i * of)).collect();
        Ok(WarpgroupOperand { major, descriptor, rows, k_offsets: steps(k, depth), mn_offsets: steps(mn, rows.into()) })
    }

    /// The distance between the groups that `bits` of a coordinate number; 0 for a single group.
    fn even_stride(&self, dim: usize, bits: std::ops::Range<u32>) -> Result<u64, HardwareError> {
        let Some(first) = self.bit_offset(dim, bits.start).filter(|_| !bits.is_empty()) else { return Ok(0) };
        for (bit, i) in bits.zip(0..) {
            let (expected, found) = (first << i, self.bit_offset(dim, bit).unwrap_or(0));
            if expected != found {
                return Err(HardwareError::UnevenStride { dim, bit, expected, found });
            }
        }
        field(first)?;
        Ok(first)
    }
}

/// The contiguous dimension of an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Major {
    /// Contiguous along K: `imm-trans` is 0.
    K,
    /// Contiguous along M or N: `imm-trans` is 1.
    Mn,
}

/// The part of a `wgmma` matrix descriptor that does not depend on the tile's address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MatrixDescriptor {
    /// Swizzle of the tile.
    pub swizzle: HardwareSwizzle,
    /// Leading offset in bytes; 0 if unused.
    pub leading: u64,
    /// Stride offset in bytes; 0 if unused.
    pub stride: u64,
}

impl MatrixDescriptor {
    /// The descriptor with a start address of zero. Add the start address in units of 16 bytes.
    pub fn constant(&self) -> u64 {
        // An unused leading offset is encoded as one unit, as the instruction set assumes.
        self.leading.max(16) >> 4 << 16 | self.stride >> 4 << 32 | self.swizzle.descriptor_code() << 61
    }

    /// The descriptor of `tcgen05.mma` with a start address of zero. It differs from that of `wgmma` by a version.
    pub fn tensor_constant(&self) -> u64 {
        self.constant() | TENSOR_VERSION
    }

    /// The descriptor for the part of a tile at address `tile` that starts `offset` bytes into the tile.
    ///
    /// Errors: a tile without the alignment of its swizzle, or an end beyond the reach of a descriptor.
    pub fn at(&self, tile: u32, offset: u64) -> Result<u64, HardwareError> {
        let alignment = self.swizzle.atom_bytes();
        if !tile.is_multiple_of(alignment) {
            return Err(HardwareError::Misaligned { address: tile, alignment });
        }
        Ok(self.constant() | field(u64::from(tile) + offset)?)
    }
}

/// A tile as an operand of `wgmma`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WarpgroupOperand {
    /// The contiguous dimension.
    pub major: Major,
    /// Strides and swizzle, which are the same for all parts of the tile.
    pub descriptor: MatrixDescriptor,
    /// Rows of one instruction.
    pub rows: u32,
    /// The byte offset of each step along K, 32 bytes of elements each.
    pub k_offsets: Vec<u64>,
    /// The byte offset of each group of `rows` rows.
    pub mn_offsets: Vec<u64>,
}

impl WarpgroupOperand {
    /// The byte offset of the part of the tile that instruction `k` along K and `mn` along the rows reads.
    pub fn offset(&self, mn: usize, k: usize) -> Option<u64> {
        // The two use different bits of the offset.
        Some(self.mn_offsets.get(mn)? + self.k_offsets.get(k)?)
    }
}

/// A byte count as 14 bits of 16-byte units.
fn field(bytes: u64) -> Result<u64, HardwareError> {
    if bytes < DESCRIPTOR_LIMIT && bytes.is_multiple_of(16) {
        Ok(bytes >> CHUNK_LOG2)
    } else {
        Err(HardwareError::OutOfRange { bytes })
    }
}

/// log2 of the bytes of an element.
pub(crate) fn element(bits: u32) -> Result<u32, HardwareError> {
    match bits {
        8 | 16 | 32 | 64 => Ok(elem_log2_bytes(bits)?),
        _ => Err(HardwareError::Element { bits }),
    }
}
