//! Tensor memory: where `tcgen05.mma` keeps an accumulator, and which part of it each thread reads.
//!
//! Tensor memory has 128 lanes of 512 columns of 32 bits. An instruction with 128 rows accumulates row `r` in lane `r`
//! and column `c` in column `c`. A tile of more rows takes several instructions, whose columns follow each other. An
//! instruction with 64 rows uses the first 16 lanes of each quarter. The position of an element is linear over F2: a
//! [`TensorMemory`] has one basis vector for each bit of a position, first the column, then the lane.
//!
//! A warp reaches only a quarter of the lanes: warp `w` those from `32 * (w % 4)` on. `tcgen05.ld.16x256b` gives the
//! threads of a warp the fragments of `mma.sync`, for 16 lanes and a multiple of eight columns. Four warps therefore
//! hold all rows, and further warps divide the columns.
//!
//! *Slices.* Code may process an accumulator in slices of its columns, to hold fewer elements at a time. All warps then
//! divide the columns of each slice, and the number of the slice is in the highest bits of a register's number.
//!
//! If each thread needs whole rows instead, `tcgen05.ld.32x32b` gives lane `l` of a warp the columns of one lane of
//! tensor memory ([`TensorMemory::rows`]). Reductions along rows then need no other thread. Warps beyond four take
//! further blocks of 128 rows before they divide the columns. An instruction with 64 rows leaves half of the lanes
//! empty. A warp then takes fragments, in which four threads share two rows and all threads have the same work.
//!
//! The left operand of a dot may be in tensor memory too: row `r` in lane `r`, and as many elements in a column of 32
//! bits as fit ([`TensorMemory::accumulator`]). A position then counts elements rather than columns. An operand that
//! replaces an accumulator needs fewer columns. Each block of rows then takes the first columns of the block that it
//! replaces ([`TensorMemory::spaced`]), and bits of a position without a basis vector are *gaps* between blocks.
//!
//! *Worked example.* 256x128 of f32: rows 0 to 127 are in columns 0 to 127, rows 128 to 255 in columns 128 to 255. With
//! eight warps, a warp reads 64 columns in four loads of 32 registers: of its lanes 0 to 15 and 16 to 31, for each
//! block of 128 rows.

use crate::error::{LayoutError, Result};
use crate::layout::Layout;
use crate::map::LinearMap;
use crate::shape::Shape;

/// log2 of the lanes of tensor memory.
const LANES_LOG2: usize = 7;
/// log2 of the rows of an instruction that uses half of the lanes.
const HALF_LOG2: usize = 6;

/// The place of each element of a tile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorMemory {
    /// log2 of the lanes that it uses.
    lanes: usize,
    bases: Vec<u64>,
    map: LinearMap,
}

/// The shape of an instruction that moves tensor memory to or from registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MoveShape {
    /// `16x256b`: 16 lanes, and eight columns for every four registers.
    Fragments,
    /// `16x128b`: 16 lanes, and four columns for every two registers.
    HalfFragments,
    /// `32x32b`: 32 lanes, and a column for each register.
    Rows,
}

/// A load of consecutive columns of some lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TensorLoad {
    /// The first register, and the number of consecutive registers.
    pub register: u32,
    pub count: u32,
    /// The first lane, relative to the warp's quarter.
    pub lane: u32,
    /// The first column, relative to the warp's columns.
    pub column: u32,
}

impl TensorMemory {
    /// The memory of an M x N accumulator that instructions of 128 rows add to, or of 64 rows if it has no more. The
    /// left operands of these instructions are in the same lanes.
    ///
    /// Errors: another rank, or fewer than 64 rows.
    pub fn accumulator(shape: &Shape) -> Result<Self> {
        let (rows, columns, lanes) = extents(shape)?;
        let column = (0..columns).map(|i| 1 << i);
        let block = (lanes..rows).map(|i| 1 << (columns + i));
        let lane = (0..lanes).map(|i| 1 << (columns + i));
        Self::new(shape, column.chain(block).chain(lane).collect())
    }

    /// The memory of an M x N tile with these bases: the element at each position with one bit.
    ///
    /// Errors: as [`Self::accumulator`], or other than one independent basis for each bit of an element's number, next
    /// to gaps of zero.
    pub fn new(shape: &Shape, bases: Vec<u64>) -> Result<Self> {
        let (rows, columns, lanes) = extents(shape)?;
        let map = LinearMap::new(bases.clone(), 64)?;
        let gaps = bases.iter().filter(|basis| **basis == 0).count();
        let (expected, found) = ((rows + columns) as u64, bases.len() as u64 - map.kernel().len() as u64);
        if expected != found || bases.len() != rows + columns + gaps {
            return Err(LayoutError::Mismatch { what: "bits of a position in tensor memory", expected, found });
        }
        Ok(Self { lanes, bases, map })
    }

    /// The memory of an M x N tile whose blocks of 128 rows are `2^gap` times as far apart as their columns need. Less
    /// than two blocks have no gap.
    ///
    /// Errors: as [`Self::accumulator`].
    pub fn spaced(shape: &Shape, gap: u32) -> Result<Self> {
        let ((rows, columns, lanes), mut bases) = (extents(shape)?, Self::accumulator(shape)?.bases);
        let gap = if rows > lanes { gap } else { 0 };
        bases.splice(columns..columns, (0..gap).map(|_| 0));
        Self::new(shape, bases)
    }

    /// log2 of the distance of blocks of rows, in units of their columns.
    pub fn gap(&self) -> u32 {
        self.bases.iter().filter(|basis| **basis == 0).count() as u32
    }

    /// The [`Self::gap`], if the tile is laid out as an accumulator apart from it.
    pub fn gap_of_accumulator(&self, shape: &Shape) -> Option<u32> {
        (Self::spaced(shape, self.gap()).as_ref() == Ok(self)).then(|| self.gap())
    }

    /// The element at each position with one bit.
    pub fn bases(&self) -> &[u64] {
        &self.bases
    }

    /// The columns of the tile, including gaps: of 32 bits if each holds one element.
    pub fn columns(&self) -> u32 {
        1 << (self.bases.len() - self.lanes)
    }

    /// The lane and the column of an element; `None` if it is not in the tile.
    pub fn place(&self, element: u64) -> Option<(u32, u32)> {
        let position = self.map.solve(element)?;
        let columns = u64::from(self.columns());
        let (lane, column) = ((position / columns) as u32, (position % columns) as u32);
        Some((if self.lanes == HALF_LOG2 { lane % 16 + lane / 16 * 32 } else { lane }, column))
    }

    /// The registers of `warps` warps that read an M x N accumulator in slices of its columns, in fragments of
    /// `mma.sync`.
    ///
    /// Errors: another rank, fewer than 64 rows, a number of warps that is not four times a power of two, a number of
    /// slices that is not a power of two, or fewer than eight columns of a slice for each four warps.
    pub fn registers(shape: &Shape, warps: u32, slices: u32) -> Result<Layout> {
        let ((rows, columns, lanes), own) = (extents(shape)?, own_columns(shape, warps, slices)?);
        let slice = columns - slices.ilog2() as usize;
        let row = |i: usize| 1 << (columns + i);
        let column = |i: usize| 1 << i;
        let register = [column(0), row(3)].into_iter().chain((FRAGMENT_LOG2..own).map(column));
        // Two loads reach the lanes of a quarter.
        let half = (lanes == LANES_LOG2).then(|| row(4));
        let register = register.chain(half).chain((lanes..rows).map(row)).chain((slice..columns).map(column));
        let register = register.collect();
        let lane = vec![column(1), column(2), row(0), row(1), row(2)];
        let warp = (lanes - 2..lanes).map(row).chain((own..slice).map(column));
        Layout::new(register, lane, warp.collect(), vec![])
    }

    /// The loads of a thread that read an accumulator to these registers. The columns of each four warps are relative
    /// to the columns of the first four; they are [`Self::columns_of_warps`] apart.
    ///
    /// Errors: as [`Self::registers`].
    pub fn loads(shape: &Shape, warps: u32, slices: u32) -> Result<Vec<TensorLoad>> {
        let ((rows, columns, lanes), own) = (extents(shape)?, own_columns(shape, warps, slices)?);
        let slice = columns - slices.ilog2() as usize;
        let count = 1 << (own - 1);
        let blocks = 1u32 << (rows - lanes);
        let halves = if lanes == LANES_LOG2 { 2 } else { 1 };
        let in_slice = (0..blocks).flat_map(|block| (0..halves).map(move |half| (block << columns, 16 * half)));
        let places =
            (0..slices).flat_map(|i| in_slice.clone().map(move |(column, lane)| (column + (i << slice), lane)));
        let load = |(i, (column, lane))| TensorLoad { register: i * count, count, lane, column };
        Ok((0..).zip(places).map(load).collect())
    }

    /// The same loads in parts of at most `most` columns.
    ///
    /// Errors: as [`Self::registers`].
    pub fn loads_of_columns(shape: &Shape, warps: u32, most: u32) -> Result<Vec<TensorLoad>> {
        let part = |load: TensorLoad| {
            // Two registers for each column pair of eight rows.
            let count = load.count.min(most / 2);
            (0..load.count / count).map(move |i| TensorLoad {
                register: load.register + i * count,
                count,
                column: load.column + i * 2 * count,
                ..load
            })
        };
        Ok(Self::loads(shape, warps, 1)?.into_iter().flat_map(part).collect())
    }

    /// The columns that four warps read of each block of 128 rows, in each slice.
    ///
    /// Errors: as [`Self::registers`].
    pub fn columns_of_warps(shape: &Shape, warps: u32, slices: u32) -> Result<u32> {
        own_columns(shape, warps, slices).map(|own| 1 << own)
    }

    /// The number of slices in which these registers hold an accumulator; `None` if they do not.
    pub fn slices_of(shape: &Shape, registers: &Layout) -> Option<u32> {
        let warps = registers.warps();
        (0..=MOST_SLICES_LOG2)
            .map(|i| 1 << i)
            .find(|n| Self::registers(shape, warps, *n).ok().as_ref() == Some(registers))
    }
}

/// The division of a tile among warps that hold whole rows.
struct RowParts {
    rows: usize,
    columns: usize,
    /// log2 of the blocks of 128 rows of a warp, and of its columns.
    blocks: usize,
    own: usize,
}

impl RowParts {
    fn of(shape: &Shape, warps: u32) -> Result<Self> {
        let (rows, columns) = whole_lanes(shape)?;
        let groups = groups_of(warps)?;
        let all = rows - LANES_LOG2;
        let blocks = all.saturating_sub(groups);
        let divided = groups - (all - blocks);
        if columns < divided {
            let (what, extent, needed) = ("a tensor-memory access", 1 << columns, 1 << divided);
            return Err(LayoutError::TileTooSmall { what, dim: 1, extent, needed });
        }
        Ok(Self { rows, columns, blocks, own: columns - divided })
    }
}

impl TensorMemory {
    /// The registers of `warps` warps that hold whole rows of a tile, or equal parts of rows if there are more warps
    /// than rows. Of a tile of 64 rows, they hold fragments.
    ///
    /// Errors: another rank, fewer than 64 rows, or a number of warps that is not four times a power of two.
    pub fn rows(shape: &Shape, warps: u32) -> Result<Layout> {
        if is_half(shape) {
            return Self::registers(shape, warps, 1);
        }
        let RowParts { rows, columns, blocks, own } = RowParts::of(shape, warps)?;
        let row = |i: usize| 1 << (columns + i);
        let column = |i: usize| 1 << i;
        let register = (0..own).map(column).chain((LANES_LOG2..LANES_LOG2 + blocks).map(row)).collect();
        let warp = (5..LANES_LOG2).chain(LANES_LOG2 + blocks..rows).map(row).chain((own..columns).map(column));
        Layout::new(register, (0..5).map(row).collect(), warp.collect(), vec![])
    }

    /// Whether each of `warps` warps holds whole rows of a tile in the registers of [`Self::rows`].
    pub fn holds_rows(shape: &Shape, warps: u32) -> bool {
        !is_half(shape) && RowParts::of(shape, warps).is_ok_and(|parts| parts.own == parts.columns)
    }

    /// The registers of a left operand with elements of `bits` bits: as [`Self::rows`], except for fragments of 8-bit
    /// elements, of which four share a register and a column.
    ///
    /// Errors: as [`Self::rows`].
    pub fn operand(shape: &Shape, warps: u32, bits: u32) -> Result<Layout> {
        if !is_half(shape) || bits != 8 {
            return Self::rows(shape, warps);
        }
        let ((rows, columns, _), own) = (extents(shape)?, own_columns(shape, warps, 1)?);
        let row = |i: usize| 1 << (columns + i);
        let column = |i: usize| 1 << i;
        let register = [column(0), column(1), row(3)].into_iter().chain((BYTES_LOG2..own).map(column)).collect();
        let lane = vec![column(2), column(3), row(0), row(1), row(2)];
        let warp = (4..rows).map(row).chain((own..columns).map(column));
        Layout::new(register, lane, warp.collect(), vec![])
    }

    /// The registers of one element for each row, in the threads that hold the rows.
    ///
    /// Errors: as [`Self::rows`].
    pub fn row_factors(shape: &Shape, warps: u32) -> Result<Layout> {
        if is_half(shape) {
            let (rows, columns, _) = extents(shape)?;
            let own = own_columns(shape, warps, 1)?;
            let row = |i: usize| 1 << i;
            let warp = (4..rows).map(row).chain((own..columns).map(|_| 0));
            return Layout::new(vec![row(3)], vec![0, 0, row(0), row(1), row(2)], warp.collect(), vec![]);
        }
        let RowParts { rows, columns, blocks, own } = RowParts::of(shape, warps)?;
        let row = |i: usize| 1 << i;
        let register = (LANES_LOG2..LANES_LOG2 + blocks).map(row).collect();
        let warp = (5..LANES_LOG2).chain(LANES_LOG2 + blocks..rows).map(row).chain((own..columns).map(|_| 0));
        Layout::new(register, (0..5).map(row).collect(), warp.collect(), vec![])
    }

    /// The loads of a thread that read an accumulator to the registers of [`Self::rows`], at most `most` columns each.
    /// The columns are relative to the warp's first ([`Self::columns_of_row_warps`]). Blocks of rows are apart as
    /// [`Self::gap`] says.
    ///
    /// Errors: as [`Self::rows`].
    pub fn row_loads(shape: &Shape, warps: u32, most: u32, gap: u32) -> Result<Vec<TensorLoad>> {
        let RowParts { columns, blocks, own, .. } = RowParts::of(shape, warps)?;
        let count = most.min(1 << own);
        let parts = (1 << own) / count;
        let load = |i: u32| {
            let (block, part) = (i / parts, i % parts);
            TensorLoad { register: i * count, count, lane: 0, column: (block << (columns as u32 + gap)) + part * count }
        };
        Ok((0..parts << blocks).map(load).collect())
    }

    /// The first column, in [`Self::rows`], of each group of four warps. Blocks of rows are apart as [`Self::gap`]
    /// says.
    ///
    /// Errors: as [`Self::rows`].
    pub fn columns_of_row_warps(shape: &Shape, warps: u32, gap: u32) -> Result<Vec<u32>> {
        let RowParts { rows, columns, blocks, own } = RowParts::of(shape, warps)?;
        let of_blocks = 1u32 << (rows - LANES_LOG2 - blocks);
        let apart = blocks + columns + gap as usize;
        let first = |group: u32| ((group % of_blocks) << apart) + ((group / of_blocks) << own);
        Ok((0..warps / 4).map(first).collect())
    }
}

/// Whether a tile uses half of the lanes.
fn is_half(shape: &Shape) -> bool {
    extents(shape).is_ok_and(|(_, _, lanes)| lanes == HALF_LOG2)
}

/// log2 of the rows and columns of a tile that uses all lanes.
fn whole_lanes(shape: &Shape) -> Result<(usize, usize)> {
    let (rows, columns, lanes) = extents(shape)?;
    if lanes < LANES_LOG2 {
        let (extent, needed) = (1 << rows, 1 << LANES_LOG2);
        return Err(LayoutError::TileTooSmall { what: "one instruction", dim: 0, extent, needed });
    }
    Ok((rows, columns))
}

/// log2 of the groups of four warps.
fn groups_of(warps: u32) -> Result<usize> {
    let groups = warps / 4;
    if groups * 4 != warps || !groups.is_power_of_two() {
        let what = "groups of four warps";
        return Err(LayoutError::Mismatch { what, expected: 1, found: groups.into() });
    }
    Ok(groups.ilog2() as usize)
}

/// log2 of the columns of a fragment.
const FRAGMENT_LOG2: usize = 3;

/// log2 of the 8-bit columns of a fragment.
const BYTES_LOG2: usize = 4;

/// log2 of the maximum number of slices: fragments of 512 columns.
const MOST_SLICES_LOG2: u32 = 6;

/// log2 of the columns that four of `warps` warps read of a slice.
fn own_columns(shape: &Shape, warps: u32, slices: u32) -> Result<usize> {
    let (_, columns, _) = extents(shape)?;
    if !slices.is_power_of_two() {
        return Err(LayoutError::Mismatch { what: "slices of an accumulator", expected: 1, found: slices.into() });
    }
    let divided = groups_of(warps)? + slices.ilog2() as usize;
    let needed = FRAGMENT_LOG2 + divided;
    if columns < needed {
        let (what, extent, needed) = ("a tensor-memory access", 1 << columns, 1 << needed);
        return Err(LayoutError::TileTooSmall { what, dim: 1, extent, needed });
    }
    Ok(columns - divided)
}

/// log2 of the rows and columns of an accumulator, and of the lanes that it uses.
fn extents(shape: &Shape) -> Result<(usize, usize, usize)> {
    let [rows, columns] = shape.log2()[..] else {
        let found = shape.rank() as u64;
        return Err(LayoutError::Mismatch { what: "rank of an accumulator", expected: 2, found });
    };
    let (rows, columns) = (rows as usize, columns as usize);
    let (extent, needed) = (1 << rows, 1 << HALF_LOG2);
    if extent < needed {
        return Err(LayoutError::TileTooSmall { what: "one instruction", dim: 0, extent, needed });
    }
    Ok((rows, columns, rows.min(LANES_LOG2)))
}
