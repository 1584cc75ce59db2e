//! Dots: the layouts of accumulator and operands, and the registers of each instruction.
//!
//! The layout of the accumulator comes first. Copies of the instruction's fragment cover the tile, and warps divide
//! the rest. Everything else follows from it. A thread (for scalar arithmetic) or a warp (for `mma.sync`) that owns
//! some rows and columns of the accumulator needs the same rows of A and columns of B, along all of K. An operand's
//! layout is therefore the accumulator's layout without the coordinate that the operand lacks, and with K added in
//! registers. In a fragment, two lane bits select K instead of a column (see [`MmaShape`]).
//!
//! A tile may be smaller than the instruction. If a row or column bit is missing, its lane bit gets a zero vector:
//! lanes hold replicas and compute the same results. If a bit of K is missing, replicas would be added up. The lanes
//! and registers beyond K must supply zeros instead, in *both* operands, because zero times infinity is not zero.
//!
//! *Worked example.* An 8x4 by 4x8 dot of f16 with m16n8k16. Accumulator: `register = [n0], lane = [n1, n2, m0, m1,
//! m2]`; the tile lacks the register bit of rows 8 to 15, so half of each accumulator fragment is unused. A:
//! `register = [k0], lane = [k1, 0, m0, m1, m2]`; lane bit 1 selects bit 2 of K, which the tile lacks. Lanes with
//! this bit set supply zeros, and all lanes supply zeros in the registers of the instruction's other K bit that the
//! tile lacks.

use crate::error::{LayoutError, Result};
use crate::layout::{Input, LANE_BITS, Layout};
use crate::map::{LinearMap, combine, low_mask};
use crate::mma::{MmaShape, Operand};
use crate::shape::Shape;
use crate::subspace::Subspace;

/// The instruction that multiplies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Multiplier {
    /// One multiply-add per instruction.
    Scalar,
    /// A matrix instruction with its accumulator in registers, executed by one warp or by four.
    Matrix(MmaShape),
}

impl Multiplier {
    /// log2 of the rows, columns and depth of one instruction.
    fn log2(self) -> (u32, u32, u32) {
        match self {
            Self::Scalar => (0, 0, 0),
            Self::Matrix(i) => {
                let (m, n, k) = i.extents();
                (m.ilog2(), n.ilog2(), k.ilog2())
            }
        }
    }

    /// log2 of the elements along K that share one register of an operand.
    fn word(self) -> u32 {
        match self {
            Self::Scalar => 0,
            Self::Matrix(i) => i.per_word().ilog2(),
        }
    }

    /// log2 of the warps that execute one instruction together. They are the low bits of the warp number and select
    /// rows.
    fn group(self) -> u32 {
        match self {
            Self::Scalar => 0,
            Self::Matrix(i) => i.warps.ilog2(),
        }
    }
}

/// The number of warps along each coordinate, as log2. Warps beyond an extent hold replicas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct WarpGrid {
    pub batch: u32,
    pub m: u32,
    pub n: u32,
    /// Warps without a part of the tile.
    pub replicas: u32,
}

/// log2 of the distance between the rows and between the columns of one instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct FragmentStride {
    pub m: u32,
    pub n: u32,
}

/// The extents of a dot, as log2: `[batch,] m x k` times `[batch,] k x n`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DotShape {
    rank: usize,
    batch: u32,
    m: u32,
    n: u32,
    k: u32,
}

/// The registers of one instruction. An element that the tile lacks is `None`: zero in an operand, arbitrary in an
/// accumulator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DotStep {
    /// The first element along K.
    pub k: u32,
    pub accumulator: Vec<Option<u32>>,
    /// The elements in the order of the instruction's registers, word by word.
    pub lhs: Vec<Option<u32>>,
    pub rhs: Vec<Option<u32>>,
}

impl DotShape {
    /// Creates the shape from the shapes of the operands and the accumulator.
    ///
    /// Errors: ranks other than two or three, or extents that do not match.
    pub fn new(lhs: &Shape, rhs: &Shape, accumulator: &Shape) -> Result<Self> {
        let rank = accumulator.rank();
        if !(2..=3).contains(&rank) || lhs.rank() != rank || rhs.rank() != rank {
            let found = if (2..=3).contains(&rank) { lhs.rank().max(rhs.rank()) } else { rank };
            return Err(LayoutError::Mismatch { what: "rank of a dot", expected: 2, found: found as u64 });
        }
        let (a, b, c) = (lhs.log2(), rhs.log2(), accumulator.log2());
        let batch = if rank == 3 { c[0] } else { 0 };
        let (row, column) = (rank - 2, rank - 1);
        let dot = Self { rank, batch, m: c[row], n: c[column], k: a[column] };
        let checks = [
            ("rows of the dot", a[row], c[row]),
            ("columns of the dot", b[column], c[column]),
            ("depth of the dot", b[row], a[column]),
            ("batch of lhs", if rank == 3 { a[0] } else { 0 }, batch),
            ("batch of rhs", if rank == 3 { b[0] } else { 0 }, batch),
        ];
        match checks.into_iter().find(|(_, found, expected)| found != expected) {
            Some((what, found, expected)) => {
                Err(LayoutError::Mismatch { what, expected: 1 << expected, found: 1 << found })
            }
            None => Ok(dot),
        }
    }

    /// The same rows and columns with another depth, for the scales of blocks along K.
    pub fn with_depth(self, k: u32) -> Self {
        Self { k, ..self }
    }

    /// log2 of batch, rows, columns and depth.
    pub fn log2(&self) -> (u32, u32, u32, u32) {
        (self.batch, self.m, self.n, self.k)
    }

    pub fn rank(&self) -> usize {
        self.rank
    }

    fn at_n(&self, bit: u32) -> u64 {
        if bit < self.n { 1 << bit } else { 0 }
    }

    fn at_m(&self, bit: u32) -> u64 {
        if bit < self.m { 1 << (self.n + bit) } else { 0 }
    }

    fn at_batch(&self, bit: u32) -> u64 {
        if bit < self.batch { 1 << (self.n + self.m + bit) } else { 0 }
    }

    /// Bit `bit` of K in an operand's index, or zero beyond the depth.
    fn at_k(&self, operand: Operand, bit: u32) -> u64 {
        match operand {
            _ if bit >= self.k => 0,
            Operand::A => 1 << bit,
            _ => 1 << (self.n + bit),
        }
    }

    /// The operand index, at K = 0, of the row or column that an accumulator index names.
    fn project(&self, operand: Operand, index: u64) -> u64 {
        let batch = index >> (self.m + self.n);
        match operand {
            Operand::A => index >> self.n << self.k,
            Operand::B => index & low_mask(self.n) | batch << (self.k + self.n),
            Operand::Accumulator => index,
        }
    }

    /// Divides `warps` (log2 of their number) so that the part of each warp is large and close to square. Batches are
    /// divided first, because they share no operands, then the longer side. With `rows`, rows are divided before
    /// columns. Each warp then holds whole rows of the result, which suits a reduction along the columns or a second
    /// dot that takes the result as its left operand.
    ///
    /// If several warps execute an instruction together, the grid counts warpgroups.
    pub fn arrange(&self, multiplier: Multiplier, warps: u32, rows: bool) -> WarpGrid {
        let (fm, fn_, _) = multiplier.log2();
        let (mut batch, mut m, mut n) = (self.batch, self.m, self.n);
        // Scalar arithmetic uses a warp as eight by four lanes, with four columns each.
        let (least_m, least_n) = if multiplier == Multiplier::Scalar { (2, 5) } else { (fm, fn_) };
        let mut grid = WarpGrid::default();
        for _ in multiplier.group()..warps {
            let (free_m, free_n) = (m > least_m, n > least_n);
            if batch > 0 {
                batch -= 1;
                grid.batch += 1;
            } else if free_m && (rows || m >= n || !free_n) {
                m -= 1;
                grid.m += 1;
            } else if free_n {
                n -= 1;
                grid.n += 1;
            } else {
                grid.replicas += 1;
            }
        }
        grid
    }

    /// Gives warps twice as many rows and half as many columns, if they have twice as many columns as rows. They read
    /// as many elements, but more of them from the left operand.
    pub fn with_more_rows(&self, grid: WarpGrid) -> WarpGrid {
        let (m, n) = (self.m.saturating_sub(grid.m), self.n.saturating_sub(grid.n));
        if n == m + 1 && grid.m > 0 { WarpGrid { m: grid.m - 1, n: grid.n + 1, ..grid } } else { grid }
    }

    /// The layout of the accumulator. The low bits of the warp number select rows, the next ones columns, then
    /// batches.
    ///
    /// An instruction may take any rows and columns of the tile together. With `apart`, they are `2^apart` from each
    /// other, as far as the warp's part allows, and the rows and columns between them belong to the same thread. The
    /// thread then reads that many neighbors at once from an operand that is contiguous along M or N, and writes as
    /// many neighbors of the result.
    pub fn accumulator(&self, multiplier: Multiplier, grid: WarpGrid, apart: FragmentStride) -> Result<Layout> {
        let (fm, fn_, _) = multiplier.log2();
        let (mut register, mut lane, mut warp) = (Vec::new(), Vec::new(), Vec::new());
        let mut between = Vec::new();
        let (low_m, low_n) = match multiplier {
            Multiplier::Matrix(_) => {
                let shift = |extent: u32, warps: u32, fragment: u32, apart: u32| {
                    extent.saturating_sub(warps).saturating_sub(fragment).min(apart)
                };
                let (dm, dn) = (shift(self.m, grid.m, fm, apart.m), shift(self.n, grid.n, fn_, apart.n));
                if self.n > 0 {
                    register.push(self.at_n(dn));
                }
                if fm > 3 && self.m > 3 {
                    register.push(self.at_m(dm + 3));
                }
                register.extend((3..fn_).map(|i| self.at_n(dn + i)).filter(|&b| b != 0));
                lane.extend([1, 2].map(|i| self.at_n(dn + i)));
                lane.extend([0, 1, 2].map(|i| self.at_m(dm + i)));
                warp.extend((0..multiplier.group()).map(|i| self.at_m(dm + 4 + i)));
                between.extend((0..dn).map(|i| self.at_n(i)));
                between.extend((0..dm).map(|i| self.at_m(i)));
                (fm + dm, fn_ + dn)
            }
            Multiplier::Scalar => {
                // Four neighbors per thread, eight lanes along the columns, the other lanes along the rows.
                let vector = self.n.min(2);
                let mut columns = (self.n - vector).min(3);
                let rows = self.m.min(LANE_BITS - columns);
                columns = (self.n - vector).min(LANE_BITS - rows);
                register.extend((0..vector).map(|i| self.at_n(i)));
                lane.extend((vector..vector + columns).map(|i| self.at_n(i)));
                lane.extend((0..rows).map(|i| self.at_m(i)));
                lane.resize(LANE_BITS as usize, 0);
                (rows, vector + columns)
            }
        };
        let own =
            |extent: u32, low: u32, warps: u32| (low.min(extent), extent.saturating_sub(warps).max(low.min(extent)));
        let (n_range, m_range, b_range) =
            (own(self.n, low_n, grid.n), own(self.m, low_m, grid.m), own(self.batch, 0, grid.batch));
        register.extend(between);
        register.extend((n_range.0..n_range.1).map(|i| self.at_n(i)));
        register.extend((m_range.0..m_range.1).map(|i| self.at_m(i)));
        register.extend((b_range.0..b_range.1).map(|i| self.at_batch(i)));
        warp.extend((0..grid.m).map(|i| self.at_m(m_range.1 + i)));
        warp.extend((0..grid.n).map(|i| self.at_n(n_range.1 + i)));
        warp.extend((0..grid.batch).map(|i| self.at_batch(b_range.1 + i)));
        warp.extend((0..grid.replicas).map(|_| 0));
        Layout::new(register, lane, warp, Vec::new())
    }

    /// The layout of an operand for an accumulator in `layout`.
    ///
    /// Errors: operand B of a warpgroup instruction, which is never in registers.
    pub fn operand(&self, multiplier: Multiplier, layout: &Layout, operand: Operand) -> Result<Layout> {
        if let (Multiplier::Matrix(shape), Operand::B) = (multiplier, operand) {
            shape.in_registers(operand)?;
        }
        let project = |v: &u64| self.project(operand, *v);
        let along_k = |range: std::ops::Range<u32>| range.map(|i| self.at_k(operand, i)).collect::<Vec<_>>();
        let (mut register, lane) = match multiplier {
            Multiplier::Scalar => {
                let mut register = along_k(0..self.k);
                register.extend(layout.register().iter().map(project));
                (register, layout.lane().iter().map(project).collect::<Vec<_>>())
            }
            Multiplier::Matrix(_) => {
                let fragment = self.fragment(multiplier, layout);
                let word = multiplier.word();
                let mut register = along_k(0..word.min(self.k));
                if operand == Operand::A {
                    register.push(project(&fragment.rows[3]));
                }
                let (_, _, depth) = multiplier.log2();
                register.extend(along_k(word + 2..depth.min(self.k)));
                if operand == Operand::B {
                    // `ldmatrix` loads four matrices, two bits of a register number: the matrices of one step along
                    // K.
                    let columns = fragment.copies.iter().map(project).filter(|&b| b != 0);
                    register.extend(columns.take((word + 4).saturating_sub(depth) as usize));
                }
                register.extend(along_k(depth..self.k.max(depth)));
                register.extend(fragment.copies.iter().map(project));
                let outer = if operand == Operand::A { &fragment.rows[..3] } else { &fragment.columns[..] };
                let mut lane = along_k(word..word + 2);
                lane.extend(outer.iter().map(project));
                (register, lane)
            }
        };
        let mut seen = Subspace::default();
        register.retain(|&b| seen.insert(b));
        let outer = |input| layout.bases(input).iter().map(project).collect();
        Layout::new(register, lane, outer(Input::Warp), outer(Input::Block))
    }

    /// The layout of an operand's scales, for block-scaled instructions; the depth of `self` is the number of scales
    /// along K. Four scales along K share a register.
    ///
    /// An instruction reads the scales of row g from the first lane of a pair of lanes of a group of four, `4g` or
    /// `4g + 2`, and the scales of row `g + 8` from the second. It reads the scales of column g from any lane of the
    /// group. The lanes of a group therefore hold the scales of two instructions along M, or of four along N: a
    /// register serves 32 rows or columns.
    pub fn scales(&self, multiplier: Multiplier, layout: &Layout, operand: Operand) -> Result<Layout> {
        let fragment = self.fragment(multiplier, layout);
        let project = |v: &u64| self.project(operand, *v);
        let mut register: Vec<u64> = (0..self.k).map(|i| self.at_k(operand, i)).collect();
        let along_k = register.len();
        register.extend(fragment.copies.iter().map(project));
        let mut seen = Subspace::default();
        register.retain(|&b| seen.insert(b));
        let mut copies = register.split_off(along_k.min(register.len())).into_iter();
        let (group, outer) = match operand {
            Operand::A => ([project(&fragment.rows[3]), copies.next().unwrap_or(0)], &fragment.rows[..3]),
            _ => ([copies.next().unwrap_or(0), copies.next().unwrap_or(0)], &fragment.columns[..]),
        };
        register.extend(copies);
        let lane = group.into_iter().chain(outer.iter().map(project)).collect();
        let outer = |input| layout.bases(input).iter().map(project).collect();
        Layout::new(register, lane, outer(Input::Warp), outer(Input::Block))
    }

    /// Splits an accumulator layout into the bits of its fragment and the copies of the fragment.
    fn fragment(&self, multiplier: Multiplier, layout: &Layout) -> FragmentBits {
        let mut registers = layout.register().iter().copied();
        let mut take = |there: bool| if there { registers.next().unwrap_or(0) } else { 0 };
        let first = take(self.n > 0);
        let eighth = take(self.m > 3 && multiplier.log2().0 > 3);
        let lane = layout.lane();
        let wide = (3..multiplier.log2().1).map(|i| take(self.n > i)).collect();
        FragmentBits {
            columns: [first, lane[0], lane[1]],
            rows: [lane[2], lane[3], lane[4], eighth],
            wide,
            copies: registers.collect(),
        }
    }

    /// Whether `layout` is a valid accumulator layout. For a matrix instruction, its low bits must form a fragment:
    /// each must move along rows or along columns as the fragment requires, and must not be zero if the tile has that
    /// bit. Which row or column it selects is free (see [`DotShape::accumulator`]).
    pub fn is_accumulator(&self, multiplier: Multiplier, layout: &Layout) -> bool {
        let Multiplier::Matrix(shape) = multiplier else { return true };
        let (eighth, group) = (shape.m > 8, multiplier.group());
        if layout.lane().len() != LANE_BITS as usize || (layout.warp().len() as u32) < group {
            return false;
        }
        let fragment = self.fragment(multiplier, layout);
        let on_columns = |v: u64| v & !low_mask(self.n) == 0;
        let on_rows = |v: u64| v & !(low_mask(self.m) << self.n) == 0;
        let rows = fragment.rows.iter().take(3 + usize::from(eighth)).chain(&layout.warp()[..group as usize]);
        fragment
            .columns
            .iter()
            .chain(&fragment.wide)
            .enumerate()
            .all(|(i, &v)| on_columns(v) && (v != 0) == (self.n > i as u32))
            && rows.enumerate().all(|(i, &v)| on_rows(v) && (v != 0) == (self.m > i as u32))
    }

    /// The lane bits that select elements beyond K. A lane with one of these bits set must supply zeros in both
    /// operands.
    pub fn zero_lanes(&self, multiplier: Multiplier) -> u32 {
        match multiplier {
            Multiplier::Scalar => 0,
            Multiplier::Matrix(_) => {
                let word = multiplier.word();
                (0..2).filter(|i| word + i >= self.k).fold(0, |mask, i| mask | 1 << i)
            }
        }
    }

    /// Returns all instructions, or all scalar multiply-adds, in an order that needs few operand registers at a time:
    /// batches, then K, then rows, then columns.
    ///
    /// Errors: layouts that do not belong to the same dot.
    pub fn steps(&self, multiplier: Multiplier, acc: &Layout, lhs: &Layout, rhs: &Layout) -> Result<Vec<DotStep>> {
        let map = |l: &Layout| LinearMap::new(l.register().to_vec(), 64);
        let (acc_map, a, b) = (map(acc)?, map(lhs)?, map(rhs)?);
        let wrong = LayoutError::Mismatch { what: "registers of a dot", expected: 1, found: 0 };
        let find = |map: &LinearMap, index: u64| map.solve(index).map(|r| r as u32).ok_or_else(|| wrong.clone());
        let (_, _, fk) = multiplier.log2();
        let word = multiplier.word();
        // The offsets of the elements of one instruction, low positions first; `None` for a bit that the tile lacks.
        let bit = |v: u64| (v != 0).then_some(v);
        let k_bit = |operand, i| bit(self.at_k(operand, i));
        let (in_acc, in_lhs, in_rhs, copies): (Vec<_>, Vec<_>, Vec<_>, Vec<u64>) = match multiplier {
            Multiplier::Scalar => (vec![], vec![], vec![], acc.register().to_vec()),
            Multiplier::Matrix(i) => {
                let f = self.fragment(multiplier, acc);
                let tall = i.m > 8;
                let mut in_acc = vec![bit(f.columns[0])];
                let mut in_lhs: Vec<_> = (0..word).map(|i| k_bit(Operand::A, i)).collect();
                let mut in_rhs: Vec<_> = (0..word).map(|i| k_bit(Operand::B, i)).collect();
                if tall {
                    in_acc.push(bit(f.rows[3]));
                    in_lhs.push(bit(self.project(Operand::A, f.rows[3])));
                }
                in_acc.extend(f.wide.iter().map(|&b| bit(b)));
                in_lhs.extend((word + 2..fk).map(|i| k_bit(Operand::A, i)));
                in_rhs.extend((word + 2..fk).map(|i| k_bit(Operand::B, i)));
                (in_acc, in_lhs, in_rhs, f.copies)
            }
        };
        let elements = |offsets: &[Option<u64>], base: u64, map: &LinearMap| -> Result<Vec<Option<u32>>> {
            (0..1u64 << offsets.len())
                .map(|position| {
                    let mut index = base;
                    for (i, offset) in offsets.iter().enumerate().filter(|(i, _)| position >> i & 1 == 1) {
                        debug_assert!(i < 64);
                        match offset {
                            Some(v) => index ^= v,
                            None => return Ok(None),
                        }
                    }
                    find(map, index).map(Some)
                })
                .collect()
        };
        // Copies in the order of batch, rows, columns, so that the instructions of a batch are adjacent.
        let batch_of = |v: u64| v >> (self.m + self.n) != 0;
        let (batches, within): (Vec<u64>, Vec<u64>) = copies.into_iter().partition(|&v| batch_of(v));
        let depth = self.k.saturating_sub(fk);
        let mut steps = Vec::new();
        for batch in 0..1u64 << batches.len() {
            for slice in 0..1u64 << depth {
                for copy in 0..1u64 << within.len() {
                    let base = combine(&batches, batch) ^ combine(&within, copy);
                    let k = slice << fk;
                    let along =
                        |operand| (0..self.k).filter(|i| k >> i & 1 == 1).fold(0, |v, i| v ^ self.at_k(operand, i));
                    let operand = |operand, offsets: &[Option<u64>], map: &LinearMap| {
                        elements(offsets, self.project(operand, base) ^ along(operand), map)
                    };
                    steps.push(DotStep {
                        k: k as u32,
                        accumulator: elements(&in_acc, base, &acc_map)?,
                        lhs: operand(Operand::A, &in_lhs, &a)?,
                        rhs: operand(Operand::B, &in_rhs, &b)?,
                    });
                }
            }
        }
        Ok(steps)
    }

    /// Returns, for each register of the accumulator, the register with the scale of the operand's block `block`. The
    /// scales must have the layout of an operand of scalar arithmetic; the depth of `self` is the number of scales
    /// along K.
    pub fn scale_registers(&self, acc: &Layout, scales: &Layout, operand: Operand, block: u32) -> Result<Vec<u32>> {
        (0..acc.registers()).map(|r| self.scale_register(acc, scales, operand, block, r)).collect()
    }

    /// Returns the register and the thread selector of the scale that a block-scaled instruction applies to the first
    /// accumulator register of a fragment.
    ///
    /// Errors: another register, whose row or column lanes select.
    pub fn scale_of_fragment(
        &self,
        acc: &Layout,
        scales: &Layout,
        operand: Operand,
        block: u32,
        register: u32,
    ) -> Result<(u32, u32)> {
        let selectors = if operand == Operand::A { 1..2 } else { 0..2 };
        let lanes = scales.lane()[selectors].iter().copied();
        let bases = scales.register().iter().copied().chain(lanes).collect();
        let found = self.scale_at(bases, acc, operand, block, register)?;
        let bits = scales.register().len();
        Ok(((found & low_mask(bits as u32)) as u32, (found >> bits) as u32))
    }

    /// Returns the register with the scale for one accumulator register, for scalar arithmetic.
    pub fn scale_register(
        &self,
        acc: &Layout,
        scales: &Layout,
        operand: Operand,
        block: u32,
        register: u32,
    ) -> Result<u32> {
        self.scale_at(scales.register().to_vec(), acc, operand, block, register).map(|r| r as u32)
    }

    /// The combination of `bases` that is the scale for an accumulator register.
    fn scale_at(&self, bases: Vec<u64>, acc: &Layout, operand: Operand, block: u32, register: u32) -> Result<u64> {
        let map = LinearMap::new(bases, 64)?;
        let along = (0..self.k).filter(|i| block >> i & 1 == 1).fold(0, |v, i| v ^ self.at_k(operand, i));
        let index = self.project(operand, combine(acc.register(), register.into())) ^ along;
        let wrong = LayoutError::Mismatch { what: "registers of scales", expected: 1, found: 0 };
        map.solve(index).ok_or(wrong)
    }
}

struct FragmentBits {
    /// The vectors of the three column bits and the four row bits of a fragment; zero for bits that the tile lacks.
    columns: [u64; 3],
    rows: [u64; 4],
    /// The column bits of an instruction that is wider than eight columns.
    wide: Vec<u64>,
    copies: Vec<u64>,
}
