//! Fragments of the matrix instructions, and tilings of larger tiles by them.
//!
//! Every fragment of `mma.sync`, `wgmma` and `tcgen05.ld` is a linear layout, and all share one structure: a *group*
//! of four lanes holds a row of 32-bit words, and eight groups hold eight rows. Let `p` be the number of elements in
//! a word. For an operand with rows along the reduction dimension, the low `log2 p` column bits are registers and the
//! next two are lane bits 0 and 1. Row bits 1, 2 and 4 are lane bits 2 to 4, row bit 8 is the next register bit, and
//! the remaining column bits are the register bits above it. Operand A has this form over (m, k), operand B over (n,
//! k) transposed. The accumulator has it over (m, n), with two elements per lane and row whatever their size. In
//! `wgmma` the four warps are row bits 16 and 32.

use crate::error::{LayoutError, Result};
use crate::layout::Layout;
use crate::shape::Shape;

/// The matrices of `d = a * b + c`. `c` and `d` have the same layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operand {
    /// m x k.
    A,
    /// k x n.
    B,
    /// m x n.
    Accumulator,
}

/// The parameters that determine the fragments of a matrix instruction: its extents, the width of its elements, and
/// the number of warps that execute it together.
///
/// This type does not know which instructions the hardware has: any shape of the form above has fragments. The table
/// of instructions is in the crate `tile-mma`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MmaShape {
    pub m: u32,
    pub n: u32,
    pub k: u32,
    /// The bits that an element of A or B takes in a register: 1, 4, 8, 16, 32 or 64.
    pub operand_bits: u32,
    /// One for `mma.sync`, four for `wgmma`.
    pub warps: u32,
}

/// The part of a matrix that one instruction processes, with a layout over its two dimensions.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Fragment {
    pub layout: Layout,
    pub shape: Shape,
}

impl MmaShape {
    /// `mma.sync`: eight columns, one warp.
    pub const fn warp(m: u32, k: u32, operand_bits: u32) -> Self {
        Self { m, n: 8, k, operand_bits, warps: 1 }
    }

    /// `wgmma`: 64 rows, four warps.
    pub const fn warpgroup(n: u32, k: u32, operand_bits: u32) -> Self {
        Self { m: 64, n, k, operand_bits, warps: 4 }
    }

    /// m, n and k.
    pub const fn extents(&self) -> (u32, u32, u32) {
        (self.m, self.n, self.k)
    }

    /// The number of elements of A or B that share a register.
    pub fn per_word(&self) -> u32 {
        (32 / self.operand_bits.max(1)).max(1)
    }

    /// Checks that the fragments are linear layouts: the extents are powers of two, a warp has eight or sixteen rows
    /// and a warpgroup 64, and a row of A has a word for each lane of a group.
    pub fn check(&self) -> Result<()> {
        let powers = [self.m, self.n, self.k, self.operand_bits].iter().all(|e| e.is_power_of_two());
        let rows = matches!((self.warps, self.m), (1, 8 | 16) | (4, 64));
        let deep = powers && self.operand_bits <= 64 && self.k >= 4 * self.per_word();
        // The accumulator of one warp is eight columns wide; a wider tile takes several instructions.
        let wide = if self.warps == 1 { self.n == 8 } else { (8..=256).contains(&self.n) };
        let expected = "extents of a matrix instruction";
        if rows && deep && wide {
            Ok(())
        } else {
            Err(LayoutError::UnsupportedElement { bits: self.operand_bits, expected })
        }
    }

    /// Checks that an operand may be in registers.
    pub(crate) fn in_registers(&self, operand: Operand) -> Result<()> {
        if operand == Operand::B && self.warps > 1 {
            let expected = "an operand that may be in registers; B of a warpgroup is in shared memory";
            return Err(LayoutError::UnsupportedElement { bits: self.operand_bits, expected });
        }
        Ok(())
    }

    /// The fragment of one operand.
    ///
    /// Errors: as in [`MmaShape::check`], and operand B of a warpgroup, which is never in registers.
    pub fn fragment(&self, operand: Operand) -> Result<Fragment> {
        self.check()?;
        let Self { m, n, k, .. } = *self;
        let (rows, columns, pack) = match operand {
            Operand::A => (m, k, self.per_word()),
            Operand::B => (n, k, self.per_word()),
            Operand::Accumulator => (m, n, 2),
        };
        self.in_registers(operand)?;
        let shape = Shape::new(&[rows.into(), columns.into()])?;
        let row = |bit: u32| u64::from(columns) << bit;
        let column_bits: Vec<u64> = (0..columns.ilog2()).map(|i| 1 << i).collect();
        let (in_word, rest) = column_bits.split_at(pack.ilog2() as usize);
        let (in_group, repeats) = rest.split_at(2);
        let eight = (rows > 8).then(|| row(3));
        let register = in_word.iter().copied().chain(eight).chain(repeats.iter().copied()).collect();
        let lane = in_group.iter().copied().chain((0..3).map(row)).collect();
        let warp = if self.warps == 4 { vec![row(4), row(5)] } else { Vec::new() };
        let layout = Layout::new(register, lane, warp, Vec::new())?;
        let fragment = Fragment { layout, shape };
        if operand == Operand::B { fragment.transposed() } else { Ok(fragment) }
    }
}

impl Fragment {
    fn transposed(&self) -> Result<Self> {
        let (layout, shape) = self.layout.permute(&self.shape, &[1, 0])?;
        Ok(Self { layout, shape })
    }

    /// The layout of a tile that copies of the fragment cover along its last two dimensions.
    ///
    /// `warps[i]` is the dimension that bit `i` of the warp number splits into contiguous parts; for a warpgroup
    /// fragment, the bit is above the fragment's own warp bits. `None` means that the bit selects replicas. Warps
    /// beyond the extent of their dimension hold replicas as well. The registers are the fragment's registers, then
    /// the copies along the last dimension, then along the one before it, and so on.
    ///
    /// Errors: a tile of rank below two, or smaller than the fragment.
    pub fn tiled(&self, tile: &Shape, warps: &[Option<usize>]) -> Result<Layout> {
        let rank = tile.rank();
        if rank < 2 {
            return Err(LayoutError::Mismatch { what: "rank of a matrix tile", expected: 2, found: rank as u64 });
        }
        let fields = tile.fields();
        let mut taken = vec![0; rank];
        for (i, dim) in [(0, rank - 2), (1, rank - 1)] {
            let (extent, needed) = (tile.extents()[dim], self.shape.extents()[i]);
            if extent < needed {
                return Err(LayoutError::TileTooSmall { what: "the matrix instruction", dim, extent, needed });
            }
            taken[dim] = self.shape.log2()[i];
        }
        let (columns, row_at) = (self.shape.log2()[1], fields[rank - 2].0);
        // The fragment's own index is (row, column), so its column bits are already in place.
        let placed = self.layout.map_bases(|v| v & crate::map::low_mask(columns) | v >> columns << row_at);
        let mut warp = placed.warp().to_vec();
        // Contiguous parts: warps take the highest bits of a dimension, in ascending order.
        let mut split = vec![0; rank];
        for &dim in warps.iter().flatten() {
            if dim >= rank {
                return Err(LayoutError::NoSuchDimension { dim, rank });
            }
            split[dim] += u32::from(split[dim] < fields[dim].1 - taken[dim]);
        }
        let mut next: Vec<u32> = (0..rank).map(|d| fields[d].1 - split[d]).collect();
        for dim in warps {
            warp.push(match *dim {
                Some(d) if next[d] < fields[d].1 => {
                    next[d] += 1;
                    1 << (fields[d].0 + next[d] - 1)
                }
                _ => 0,
            });
        }
        let mut register = placed.register().to_vec();
        for d in (0..rank).rev() {
            register.extend((taken[d]..fields[d].1 - split[d]).map(|i| 1u64 << (fields[d].0 + i)));
        }
        Layout::new(register, placed.lane().to_vec(), warp, Vec::new())
    }
}

/// A matrix multiplication of tiles by one instruction: `[batch,] m x k` times `[batch,] k x n`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MmaTiling {
    pub instruction: MmaShape,
    /// Warps (or warpgroups, for [`MmaShape::warpgroup`]) along batch, m and n; powers of two. The low bits of the
    /// warp number select m, the next ones n, then batch.
    pub batch_warps: u32,
    pub m_warps: u32,
    pub n_warps: u32,
}

impl MmaTiling {
    /// The layout of an operand or of the accumulator for a tile of its shape: rank 2, or 3 with a leading batch
    /// dimension.
    ///
    /// Errors: counts that are not powers of two, a tile of another rank or smaller than the fragment, and the errors
    /// of [`MmaShape::fragment`].
    pub fn layout(&self, operand: Operand, tile: &Shape) -> Result<Layout> {
        let rank = tile.rank();
        if !(2..=3).contains(&rank) {
            return Err(LayoutError::Mismatch { what: "rank of a matrix tile", expected: 2, found: rank as u64 });
        }
        let (row, column) = (rank - 2, rank - 1);
        let (m_dim, n_dim) = match operand {
            Operand::A => (Some(row), None),
            Operand::B => (None, Some(column)),
            Operand::Accumulator => (Some(row), Some(column)),
        };
        let batch_dim = (rank == 3).then_some(0);
        let mut warps = Vec::new();
        for (count, dim) in [(self.m_warps, m_dim), (self.n_warps, n_dim), (self.batch_warps, batch_dim)] {
            if !count.is_power_of_two() {
                let expected = u64::from(count).checked_next_power_of_two().unwrap_or(1);
                return Err(LayoutError::Mismatch { what: "warps along a dimension", expected, found: count.into() });
            }
            warps.extend((0..count.ilog2()).map(|_| dim));
        }
        self.instruction.fragment(operand)?.tiled(tile, &warps)
    }

    /// The total number of warps.
    pub fn warps(&self) -> u32 {
        self.batch_warps * self.m_warps * self.n_warps * self.instruction.warps
    }
}

/// The layout of a matrix tile by copies of `instruction`'s fragment of `operand`, with `warps_per_dim` warps (or
/// warpgroups) along the two dimensions of the tile.
pub fn mma_tiled(instruction: MmaShape, operand: Operand, tile: &Shape, warps_per_dim: [u32; 2]) -> Result<Layout> {
    let rank = tile.rank();
    let mut warps = Vec::new();
    for (i, count) in warps_per_dim.into_iter().enumerate() {
        if !count.is_power_of_two() {
            let expected = u64::from(count).checked_next_power_of_two().unwrap_or(1);
            return Err(LayoutError::Mismatch { what: "warps along a dimension", expected, found: count.into() });
        }
        warps.extend((0..count.ilog2()).map(|_| Some((rank + i).saturating_sub(2))));
    }
    instruction.fragment(operand)?.tiled(tile, &warps)
}

/// The shapes of `tcgen05.ld` and `tcgen05.st`: lanes of tensor memory by bits, before the repetition along the
/// columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TmemShape {
    /// One lane of tensor memory per thread.
    Lanes32Bits32,
    Lanes16Bits64,
    Lanes16Bits128,
    /// The accumulator fragment of `mma.sync`.
    Lanes16Bits256,
    /// Two groups of columns, half the width apart; lanes 16 to 31 access the second.
    Lanes16Bits32x2,
}

/// How tensor memory stores the accumulator tile of one CTA of the cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TmemTile {
    /// 128 rows on 128 lanes.
    Rows128,
    /// 64 rows of a `cta_group::1` instruction: 16 on each 32-lane quarter.
    Rows64,
    /// 64 rows, the CTA's half of a `cta_group::2` instruction with m = 128. The rows are on lanes 0 to 63 for the
    /// left half of the columns and on lanes 64 to 127 for the right half.
    Rows64Halves,
}

/// The registers of a tensor-memory access to a tile of 32-bit columns. Four warps access their 32-lane quarters, and
/// `warpgroups` share the columns in contiguous parts. `columns` is the width of the tile.
///
/// Errors: `columns` or `warpgroups` is not a power of two, the tile is narrower than one access, or a 32-lane access
/// to a tile that fills only half of each quarter.
pub fn tmem_layout(access: TmemShape, tile: TmemTile, columns: i64, warpgroups: u32) -> Result<Fragment> {
    let rows = if tile == TmemTile::Rows128 { 128 } else { 64 };
    let shape = Shape::new(&[rows, columns])?;
    let width = shape.log2()[1];
    let row = |bit: u32| 1u64 << (width + bit);
    if !warpgroups.is_power_of_two() {
        return Err(LayoutError::Mismatch { what: "warpgroups", expected: 1, found: warpgroups.into() });
    }
    // The column bits that the access may use, from the low end. The halves of `Rows64Halves` and the warpgroups take
    // the top bits.
    let halves = u32::from(tile == TmemTile::Rows64Halves);
    let own = width.saturating_sub(halves + warpgroups.ilog2());
    let column: Vec<u64> = (0..own).map(|i| 1 << i).collect();
    let needed = match access {
        TmemShape::Lanes32Bits32 => 0,
        TmemShape::Lanes16Bits64 | TmemShape::Lanes16Bits32x2 => 1,
        TmemShape::Lanes16Bits128 => 2,
        TmemShape::Lanes16Bits256 => 3,
    };
    if own < needed || width < own + halves + warpgroups.ilog2() {
        let (extent, needed) = (columns as u64, 1 << (needed + halves + warpgroups.ilog2()));
        return Err(LayoutError::TileTooSmall { what: "the tensor-memory access", dim: 1, extent, needed });
    }
    // Each warp accesses 32 lanes of tensor memory. In `Rows64` tiles only the first 16 hold rows.
    let rows_in_quarter = if tile == TmemTile::Rows64 { 4 } else { 5 };
    let (mut register, lane): (Vec<u64>, Vec<u64>) = match access {
        TmemShape::Lanes32Bits32 => (column.clone(), (0..5).map(row).collect()),
        TmemShape::Lanes16Bits64 => (column[1..].to_vec(), vec![row(3), column[0], row(0), row(1), row(2)]),
        TmemShape::Lanes16Bits128 => {
            let register = std::iter::once(row(3)).chain(column[2..].iter().copied()).collect();
            (register, vec![column[0], column[1], row(0), row(1), row(2)])
        }
        TmemShape::Lanes16Bits256 => {
            let register = [column[0], row(3)].into_iter().chain(column[3..].iter().copied()).collect();
            (register, vec![column[1], column[2], row(0), row(1), row(2)])
        }
        TmemShape::Lanes16Bits32x2 => {
            let (last, others) = (column[column.len() - 1], &column[..column.len() - 1]);
            (others.to_vec(), vec![row(0), row(1), row(2), row(3), last])
        }
    };
    match (access, rows_in_quarter) {
        (TmemShape::Lanes32Bits32, 4) => {
            let expected = "a 16-lane access: the tile fills 16 lanes of each quarter";
            return Err(LayoutError::UnsupportedElement { bits: 32, expected });
        }
        // A second access covers lanes 16 to 31 of the quarter.
        (TmemShape::Lanes32Bits32, _) | (_, 4) => {}
        _ => register.push(row(4)),
    }
    let mut warp = match tile {
        TmemTile::Rows128 => vec![row(5), row(6)],
        TmemTile::Rows64 => vec![row(4), row(5)],
        TmemTile::Rows64Halves => vec![row(5), 1 << (width - 1)],
    };
    warp.extend((own..width - halves).map(|i| 1u64 << i));
    Ok(Fragment { layout: Layout::new(register, lane, warp, Vec::new())?, shape })
}
