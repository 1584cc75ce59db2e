//! Dots by `wgmma`: the instructions of a tile, with their registers and their parts of shared memory.
//!
//! This module builds a tile from the fragments of [`MmaShape::warpgroup`]. Warpgroups divide the tile's rows, and
//! its columns if there are more warpgroups than rows to divide. The part of a warpgroup is divided into blocks of 64
//! rows by `n` columns. The accumulator of a block is a run of registers, and the block's instructions along K form a
//! *chain*: they accumulate into the same registers and need no wait between them.
//!
//! *Worked example.* 128x256x64 of bf16 by two warpgroups with `n = 256`. Each warpgroup has 64 rows, one block, 128
//! accumulator registers, and a chain of four instructions with `k = 16`. With `n = 128` it has two blocks of 64
//! registers each.

use crate::error::{LayoutError, Result};
use crate::layout::Layout;
use crate::mma::{MmaShape, MmaTiling, Operand};
use crate::shape::Shape;

/// The rows of every `wgmma`.
pub const WARPGROUP_ROWS: u32 = 64;

/// The accumulator layout of an M x N tile, by instructions of `n` columns, on `groups` warpgroups along rows and
/// columns.
///
/// A warpgroup has contiguous rows and contiguous columns; the low bits of its number select the rows. Its registers
/// hold one fragment after another: for each block of 64 rows, the fragments of `n` columns each.
///
/// Errors: another rank, an `n` without a fragment, counts that are not powers of two, or a tile that does not divide
/// into whole fragments for every warpgroup.
pub fn warpgroup_accumulator(shape: &Shape, groups: (u32, u32), n: u32) -> Result<Layout> {
    let [rows, columns] = shape.extents()[..] else {
        let found = shape.rank() as u64;
        return Err(LayoutError::Mismatch { what: "rank of a matrix tile", expected: 2, found });
    };
    // The accumulator does not depend on the depth or on the operands' elements.
    let tiling =
        MmaTiling { instruction: MmaShape::warpgroup(n, 16, 16), batch_warps: 1, m_warps: groups.0, n_warps: groups.1 };
    tiling.instruction.check()?;
    for (what, dim, extent, unit, parts) in
        [("each warpgroup", 0, rows, WARPGROUP_ROWS, groups.0), ("each warpgroup", 1, columns, n, groups.1)]
    {
        let needed = u64::from(unit) * u64::from(parts);
        if extent < needed {
            return Err(LayoutError::TileTooSmall { what, dim, extent, needed });
        }
    }
    tiling.layout(Operand::Accumulator, shape)
}

/// The layout of the left operand of such a dot in registers: an M x K tile of elements of `bits`. Warpgroups with
/// the same rows hold the same elements. The registers hold one fragment after another: for each block of 64 rows,
/// the fragments of each step along K.
///
/// Errors: another rank, or a tile that does not divide into whole fragments for every warpgroup.
pub fn warpgroup_left(shape: &Shape, groups: (u32, u32), bits: u32) -> Result<Layout> {
    let [rows, depth] = shape.extents()[..] else {
        let found = shape.rank() as u64;
        return Err(LayoutError::Mismatch { what: "rank of a matrix tile", expected: 2, found });
    };
    if !matches!(bits, 8 | 16 | 32) {
        return Err(LayoutError::UnsupportedElement { bits, expected: "operands of 8, 16 or 32 bits" });
    }
    // The left operand does not depend on the columns of the dot.
    let instruction = MmaShape::warpgroup(8, 256 / bits, bits);
    for (what, dim, extent, needed) in [
        ("each warpgroup", 0, rows, u64::from(WARPGROUP_ROWS * groups.0)),
        ("one instruction", 1, depth, u64::from(instruction.k)),
    ] {
        if extent < needed {
            return Err(LayoutError::TileTooSmall { what, dim, extent, needed });
        }
    }
    let tiling = MmaTiling { instruction, batch_warps: 1, m_warps: groups.0, n_warps: groups.1 };
    tiling.layout(Operand::A, shape)
}

/// Returns the warpgroups along rows and columns for which [`warpgroup_accumulator`] gives this layout, with
/// instructions of `n` columns.
///
/// Errors: no division into warpgroups gives this layout.
pub fn warpgroups_of(accumulator: &Layout, shape: &Shape, n: u32) -> Result<(u32, u32)> {
    let groups = accumulator.warps() / 4;
    let mut last =
        LayoutError::Mismatch { what: "warps of warpgroups", expected: 4, found: accumulator.warps().into() };
    for rows in (0..31).map(|bit| 1 << bit).filter(|rows| groups > 0 && groups.is_multiple_of(*rows)) {
        match warpgroup_accumulator(shape, (rows, groups / rows), n) {
            Ok(layout) if layout == *accumulator => return Ok((rows, groups / rows)),
            Ok(_) => last = LayoutError::NotInFragments { columns: n, groups },
            Err(e) if !matches!(last, LayoutError::NotInFragments { .. }) => last = e,
            Err(_) => {}
        }
    }
    Err(last)
}

/// A dot of `m x k` by `k x n` tiles, divided among warpgroups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct WarpgroupDot {
    m: u32,
    n: u32,
    k: u32,
    instruction: MmaShape,
    m_groups: u32,
    n_groups: u32,
}

/// One instruction of one warpgroup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct WarpgroupStep {
    /// The block of 64 rows, counted over the whole tile.
    pub m: u32,
    /// The block of the instruction's columns, counted over the whole tile.
    pub n: u32,
    /// The step along K.
    pub k: u32,
    /// The first register of the accumulator.
    pub accumulator: u32,
    /// The first element of A in the thread's registers, if A is in registers.
    pub a: u32,
}

impl WarpgroupDot {
    /// Creates the dot of tiles of the given extents, by instructions of `columns` columns, on `groups` warpgroups
    /// along rows and columns.
    ///
    /// Errors: an instruction that does not exist, or a tile that does not divide into whole blocks for every
    /// warpgroup.
    pub fn new((m, n, k): (u32, u32, u32), operand_bits: u32, columns: u32, groups: (u32, u32)) -> Result<Self> {
        if !matches!(operand_bits, 8 | 16 | 32) {
            let expected = "operands of 8, 16 or 32 bits";
            return Err(LayoutError::UnsupportedElement { bits: operand_bits, expected });
        }
        let instruction = MmaShape::warpgroup(columns, 256 / operand_bits, operand_bits);
        instruction.check()?;
        let (m_groups, n_groups) = groups;
        for (what, dim, extent, unit, parts) in [
            ("each warpgroup", 0, m, WARPGROUP_ROWS, m_groups),
            ("each warpgroup", 1, n, columns, n_groups),
            ("one instruction", 2, k, 256 / operand_bits, 1),
        ] {
            let needed = u64::from(unit) * u64::from(parts);
            if !extent.is_power_of_two() || !parts.is_power_of_two() || u64::from(extent) < needed {
                return Err(LayoutError::TileTooSmall { what, dim, extent: extent.into(), needed });
            }
        }
        Ok(Self { m, n, k, instruction, m_groups, n_groups })
    }

    /// The instruction.
    pub fn instruction(&self) -> MmaShape {
        self.instruction
    }

    /// The columns of one instruction.
    pub fn columns(&self) -> u32 {
        self.instruction.extents().1
    }

    /// The number of warpgroups that share the tile.
    pub fn groups(&self) -> u32 {
        self.m_groups * self.n_groups
    }

    fn tiling(&self) -> MmaTiling {
        let (instruction, m_warps, n_warps) = (self.instruction, self.m_groups, self.n_groups);
        MmaTiling { instruction, batch_warps: 1, m_warps, n_warps }
    }

    /// The accumulator layout, over (m, n).
    pub fn accumulator(&self) -> Result<Layout> {
        self.tiling().layout(Operand::Accumulator, &Shape::new(&[self.m.into(), self.n.into()])?)
    }

    /// The layout of A in registers, over (m, k). Warpgroups with the same rows hold the same elements.
    pub fn a_registers(&self) -> Result<Layout> {
        let shape = Shape::new(&[self.m.into(), self.k.into()])?;
        warpgroup_left(&shape, (self.m_groups, self.n_groups), self.instruction.operand_bits)
    }

    /// The instructions of a warpgroup, chain by chain. Warpgroups are numbered along m first.
    pub fn steps(&self, group: u32) -> Vec<WarpgroupStep> {
        let (_, columns, depth) = self.instruction.extents();
        let (m_group, n_group) = (group % self.m_groups, group / self.m_groups % self.n_groups);
        let m_blocks = self.m / WARPGROUP_ROWS / self.m_groups;
        let n_blocks = self.n / columns / self.n_groups;
        let k_steps = self.k / depth;
        // The registers of a thread: a fragment, its copies along the last dimension, then the copies along m.
        let a_elements = WARPGROUP_ROWS * depth / 128;
        let mut steps = Vec::new();
        for m in 0..m_blocks {
            for n in 0..n_blocks {
                steps.extend((0..k_steps).map(|k| WarpgroupStep {
                    m: m_group * m_blocks + m,
                    n: n_group * n_blocks + n,
                    k,
                    accumulator: (m * n_blocks + n) * columns / 2,
                    a: (m * k_steps + k) * a_elements,
                }));
            }
        }
        steps
    }
}
