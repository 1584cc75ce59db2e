//! Loads and stores between a distributed layout and a tile in shared memory.
//!
//! A [`SharedLayout`] is a linear map from offsets in shared memory to elements of a tile. Swizzles, power-of-two
//! padding and transposed orders are all choices of its basis. With such a layout, the byte offset of a slot is a
//! linear function of its register, lane and warp. An access plan splits that function into three parts:
//!
//! * the thread's part, computed once ([`SharedAccess::address`]);
//! * a constant for each instruction. It consists of an XOR part, on bits that the thread's part can also set, and a
//!   part on bits that no thread sets, which can be an immediate of the instruction: `address = (thread ^ xor) +
//!   add`;
//! * the position of each register in the vector of one instruction.
//!
//! `ldmatrix` and `stmatrix` move 8x8 matrices with rows of 16 bytes. Each row has its own address, so they apply
//! whenever the tile of one matrix divides the map from slots to offsets on the left. In that tile, lane bits 0 and 1
//! select the word within a row and lane bits 2 to 4 select the row. In a transposed matrix, lane bits 2 to 4 select
//! the element within a row.
//!
//! Matrices of bytes are transposed by 16x16. A word holds four rows of a column, lane bits 0 and 1 select among the
//! four words of a column, and lane bits 2 to 4 select among eight columns. A lane gets two words of each matrix, eight
//! columns apart:
//!
//! ```text
//! memory: 16 rows of K with 16 columns     register: byte j of word r of lane 4 g + t is row 4 t + j, column g + 8 r
//! ```

use crate::bank::{WORD_LOG2, phase_wavefronts};
use crate::error::{LayoutError, Result};
use crate::expr::LinearExpr;
use crate::layout::{InputMasks, Layout, WARP_SIZE};
use crate::map::{LinearMap, combine, low_mask};
use crate::shape::Shape;
use crate::subspace::Subspace;

/// log2 of the bytes of the widest shared-memory vector, and of one matrix row.
const ROW_LOG2: u32 = 4;

/// The layout of a tile in shared memory. Bit `i` of the element offset contributes the flattened tile index
/// `bases[i]`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SharedLayout {
    map: LinearMap,
    /// The map from tile index to offset, valid on the span of the bases.
    inverse: LinearMap,
}

impl SharedLayout {
    /// Creates the layout with the given offset bases, for a tile whose index has `tile_bits` bits.
    ///
    /// Errors: a basis vector outside the tile, or linearly dependent bases (two elements at one offset).
    pub fn new(bases: Vec<u64>, tile_bits: u32) -> Result<Self> {
        let map = LinearMap::new(bases, tile_bits)?;
        let inverse = map.left_inverse()?;
        Ok(Self { map, inverse })
    }

    /// Dense storage. `order` lists the dimensions from the fastest to the slowest.
    pub fn strided(shape: &Shape, order: &[usize]) -> Result<Self> {
        shape.check_order(order)?;
        let fields = shape.fields();
        let bits = order.iter().flat_map(|&d| (fields[d].0..fields[d].0 + fields[d].1).map(|bit| 1 << bit));
        Self::new(bits.collect(), shape.bits())
    }

    /// Dense storage as in [`SharedLayout::strided`], with the XOR swizzle that TMA and `wgmma` apply to the offset:
    /// the number of the 16-byte chunk within `span_bytes` (32, 64 or 128; 16 for no swizzle) is XORed with the
    /// number of the 128-byte line. The tile's fastest extent must not exceed the span.
    /// [`SharedLayout::swizzled_panels`] stores wider tiles, as panels of one span each.
    pub fn swizzled(shape: &Shape, order: &[usize], elem_bits: u32, span_bytes: u64) -> Result<Self> {
        let dense = Self::strided(shape, order)?;
        let eb = elem_log2_bytes(elem_bits)?;
        if !matches!(span_bytes, 16 | 32 | 64 | 128) {
            return Err(LayoutError::Mismatch { what: "swizzle span in bytes", expected: 128, found: span_bytes });
        }
        let chunks = span_bytes.ilog2() - ROW_LOG2;
        // Line bit i (byte bit 7 + i) flips chunk bit i (byte bit 4 + i). The offset of an element is its dense
        // offset plus these flips. The flips touch no line bit, so the map is its own inverse.
        let flip = |byte: u32| if (7..7 + chunks).contains(&byte) { 1u64 << (byte - 3) } else { 0 };
        let bases = (0..dense.map.in_bits()).map(|i| dense.map.apply(1 << i | flip(i + eb) >> eb));
        Self::new(bases.collect(), shape.bits())
    }

    /// Like [`SharedLayout::swizzled`], for a fastest extent of any size. The fastest dimension is divided into
    /// panels of `span_bytes`, and each panel is stored whole before the next.
    pub fn swizzled_panels(shape: &Shape, order: &[usize], elem_bits: u32, span_bytes: u64) -> Result<Self> {
        shape.check_order(order)?;
        let eb = elem_log2_bytes(elem_bits)?;
        let Some(&fastest) = order.first() else { return Self::swizzled(shape, order, elem_bits, span_bytes) };
        let inner = span_bytes.max(1).ilog2().saturating_sub(eb).min(shape.log2()[fastest]);
        // Splitting the dimension into (panel, inner) does not change the flattened index.
        let mut log2 = shape.log2().to_vec();
        log2[fastest] -= inner;
        log2.insert(fastest + 1, inner);
        let renumber = |&d: &usize| if d > fastest { d + 1 } else { d };
        let slower = order[1..].iter().map(renumber);
        let split_order: Vec<usize> = [fastest + 1].into_iter().chain(slower).chain([fastest]).collect();
        Self::swizzled(&Shape::from_log2(log2)?, &split_order, elem_bits, span_bytes)
    }

    /// The flattened tile index that each offset bit contributes.
    pub fn bases(&self) -> &[u64] {
        self.map.columns()
    }

    /// The number of bits of an element offset.
    pub fn offset_bits(&self) -> u32 {
        self.map.in_bits()
    }

    /// The element at an offset.
    pub fn element(&self, offset: u64) -> u64 {
        self.map.apply(offset)
    }

    /// The offset, in elements, of an element that the layout stores.
    pub fn offset(&self, element: u64) -> u64 {
        self.inverse.apply(element)
    }
}

/// log2 of the bytes that an element takes in shared memory. Elements narrower than 8 bits take a byte each.
pub fn elem_log2_bytes(elem_bits: u32) -> Result<u32> {
    if elem_bits.is_power_of_two() && elem_bits <= 128 {
        Ok(elem_bits.max(8).ilog2() - 3)
    } else {
        Err(LayoutError::UnsupportedElement { bits: elem_bits, expected: "a power of two up to 128 bits" })
    }
}

/// The direction of an access to shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    Store,
    Load,
}

/// The instruction of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AccessMode {
    /// `ld.shared` / `st.shared` of `elements` consecutive elements.
    Vector { elements: u32 },
    /// `ldmatrix` / `stmatrix` of 1, 2 or 4 matrices. Each gives a lane one 32-bit word of `elements` elements.
    /// Transposed matrices of bytes are twice as large: there are 1 or 2, and each gives a lane two words.
    Matrix { matrices: u32, elements: u32, transposed: bool },
}

impl AccessMode {
    /// The rows of a matrix, each with its own address.
    pub fn matrix_rows(self) -> Option<u32> {
        match self {
            Self::Vector { .. } => None,
            Self::Matrix { elements: 4, transposed: true, .. } => Some(16),
            Self::Matrix { .. } => Some(8),
        }
    }
}

/// The matrix instructions that an access may use. `ldmatrix` and `stmatrix` of 16-bit elements also move rows of 16
/// bytes of other elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub enum Matrices {
    #[default]
    None,
    /// Matrices of 16-bit elements.
    Halves,
    /// These, and loads that transpose matrices of bytes.
    Bytes,
}

impl Matrices {
    /// Matrices of 16-bit elements, if `allowed`.
    pub fn halves(allowed: bool) -> Self {
        if allowed { Self::Halves } else { Self::None }
    }
}

/// The bytes (or round numbers) that each bit of the thread number contributes, combined by XOR.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct ThreadBases {
    pub lane: Vec<u64>,
    pub warp: Vec<u64>,
    pub block: Vec<u64>,
}

impl ThreadBases {
    fn all(&self) -> impl Iterator<Item = u64> + '_ {
        self.lane.iter().chain(&self.warp).chain(&self.block).copied()
    }

    pub fn is_zero(&self) -> bool {
        self.all().all(|b| b == 0)
    }

    /// The value for one thread.
    pub fn eval(&self, lane: u32, warp: u32, block: u32) -> u64 {
        combine(&self.lane, lane.into()) ^ combine(&self.warp, warp.into()) ^ combine(&self.block, block.into())
    }

    /// The function as terms, for code generation.
    pub fn expr(&self) -> LinearExpr {
        LinearExpr::new(&self.lane, &self.warp, &self.block)
    }
}

/// One instruction of an access.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Instruction {
    /// The round of this instruction, to be XORed with the thread's [`SharedAccess::round`].
    pub round: u32,
    /// Byte constants. The address is `(thread ^ xor) + add`, relative to the buffer.
    pub xor: u64,
    pub add: u64,
    /// For vectors, the register of each element by ascending address. For matrices, the registers of matrix 0 from
    /// the low end of its word, then the registers of matrix 1, and so on.
    pub registers: Vec<u32>,
}

/// All instructions by which a warp moves its part of a tile to or from shared memory.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SharedAccess {
    pub direction: Direction,
    pub mode: AccessMode,
    /// The byte offset that the thread supplies: of its vector, or of a matrix row (lane `8 * i + r` supplies row `r`
    /// of matrix `i`, or lane `16 * i + r` if matrices have 16 rows).
    pub address: ThreadBases,
    /// The round number of the thread; all zero if rounds depend on registers only. An instruction executes in round
    /// `instruction.round ^ round(thread)`.
    pub round: ThreadBases,
    /// For stores: only threads whose masked lane and warp bits are all zero take part, because the others hold
    /// replicas. The `register` mask lists the register bits that are replicas, which no instruction names. `block`
    /// is always zero.
    pub guard: InputMasks,
    pub instructions: Vec<Instruction>,
    /// For loads: registers to copy after the loads, as (destination, source).
    pub copies: Vec<(u32, u32)>,
    /// The bank-conflict degree of each instruction; 1 means no conflicts.
    pub conflict_degree: u32,
    /// Shared-memory wavefronts of one warp for the whole access.
    pub wavefronts: u64,
}

impl SharedAccess {
    /// Returns the cheapest plan that stores `layout` to, or loads it from, a tile in `shared`, all in one round.
    /// `matrix` allows `ldmatrix` or `stmatrix` of 16-bit elements.
    pub fn new(
        layout: &Layout,
        shared: &SharedLayout,
        elem_bits: u32,
        direction: Direction,
        matrix: bool,
    ) -> Result<Self> {
        Self::with_matrices(layout, shared, elem_bits, direction, Matrices::halves(matrix))
    }

    /// Like [`SharedAccess::new`], with any matrix instructions.
    pub fn with_matrices(
        layout: &Layout,
        shared: &SharedLayout,
        elem_bits: u32,
        direction: Direction,
        matrices: Matrices,
    ) -> Result<Self> {
        Self::in_rounds(layout, shared, elem_log2_bytes(elem_bits)?, direction, matrices, 0)
    }

    /// Like [`SharedAccess::new`], but the top `round_bits` of an offset are the number of the round that reuses the
    /// buffer.
    pub(crate) fn in_rounds(
        layout: &Layout,
        shared: &SharedLayout,
        eb: u32,
        direction: Direction,
        matrices: Matrices,
        round_bits: u32,
    ) -> Result<Self> {
        let offsets = Offsets::new(layout, shared, eb, direction, round_bits)?;
        let mut best = offsets.vector();
        let bytes = (matrices == Matrices::Bytes && direction == Direction::Load).then(|| offsets.byte_matrix());
        let halves = [false, true].into_iter().filter(|_| matrices != Matrices::None);
        for plan in halves.map(|transposed| offsets.matrix(transposed)).chain(bytes).flatten() {
            if plan.cost() < best.cost() {
                best = plan;
            }
        }
        Ok(best)
    }

    /// The cost by which plans are compared: issue slots plus shared-memory wavefronts, per warp.
    pub fn cost(&self) -> u64 {
        self.instructions.len() as u64 + self.wavefronts
    }

    /// The instructions per warp that move elements between the words of registers and the words of shared memory.
    pub(crate) fn permutes(&self, eb: u32) -> u64 {
        let per_word = 1usize << WORD_LOG2.saturating_sub(eb);
        if per_word == 1 {
            return 0;
        }
        let words = self.instructions.iter().flat_map(|i| i.registers.chunks_exact(per_word));
        let whole = |word: &[u32]| word[0].is_multiple_of(per_word as u32) && word.is_sorted_by(|a, b| *b == a + 1);
        words.filter(|word| !whole(word)).count() as u64
    }

    /// Cuts the vectors into runs of `elements` registers and `bytes` bytes. Each run holds neighbors along dimension
    /// `dim` in every thread of `layout`, which must be the layout of this plan. Returns `None` if a vector is
    /// shorter than a run or does not consist of such runs; then no instruction can copy a run from memory that
    /// stores its elements contiguously.
    pub fn runs(
        &self,
        layout: &Layout,
        shape: &Shape,
        dim: usize,
        elements: u32,
        bytes: u64,
    ) -> Option<Vec<Instruction>> {
        let (low, width) = shape.field(dim).ok()?;
        let within = elements.trailing_zeros();
        if within > width || !matches!(self.mode, AccessMode::Vector { .. }) {
            return None;
        }
        // If every thread starts its runs at a multiple of the run length, neighbors differ only in these coordinate
        // bits.
        let field = low_mask(within) << low;
        let element = |register: u32| combine(layout.register(), register.into());
        let thread = layout.lane().iter().chain(layout.warp()).chain(layout.block());
        if thread.into_iter().any(|b| b & field != 0) {
            return None;
        }
        let mut runs = Vec::new();
        for i in &self.instructions {
            if i.registers.len() % elements as usize != 0 {
                return None;
            }
            for (n, registers) in (0u64..).zip(i.registers.chunks(elements as usize)) {
                let start = element(registers[0]);
                if start & field != 0 || (0u64..).zip(registers).any(|(k, &r)| element(r) != start ^ k << low) {
                    return None;
                }
                // Runs of one vector follow each other in memory.
                let (xor, add) = (i.xor, i.add + n * bytes);
                runs.push(Instruction { round: i.round, xor, add, registers: registers.to_vec() });
            }
        }
        Some(runs)
    }

    /// The number of distinct XOR constants. Each needs a separate address.
    pub fn distinct_xors(&self) -> usize {
        self.instructions.iter().map(|i| i.xor).collect::<std::collections::BTreeSet<_>>().len()
    }
}

/// The registers that a lane gets from one matrix.
struct MatrixWords {
    /// Register bits that number the elements of a word.
    elements: Vec<u64>,
    /// Register bits that number the words.
    words: Vec<u64>,
}

/// The map from slots to element offsets, with the data that vector and matrix plans share.
struct Offsets {
    direction: Direction,
    eb: u32,
    /// The number of offset bits within a round.
    within: u32,
    guard: InputMasks,
    registers: Vec<u64>,
    /// The register bits that are not replicas.
    kept: Vec<u32>,
    copies: Vec<(u32, u32)>,
    lane: Vec<u64>,
    warp: Vec<u64>,
    block: Vec<u64>,
}

impl Offsets {
    fn new(layout: &Layout, shared: &SharedLayout, eb: u32, direction: Direction, round_bits: u32) -> Result<Self> {
        let mut seen = Subspace::default();
        let mut free = |bases: &[u64]| {
            let bases = bases.iter().enumerate();
            bases.fold(0, |mask, (i, &b)| if seen.insert(b) { mask } else { mask | 1 << i })
        };
        // A store writes each element once. A load serves all lanes, so it only skips registers that repeat within a
        // thread.
        let guard = match direction {
            Direction::Store => {
                let (lane, warp) = (free(layout.lane()), free(layout.warp()));
                InputMasks { register: free(layout.register()), lane, warp, block: 0 }
            }
            Direction::Load => InputMasks { register: free(layout.register()), ..InputMasks::default() },
        };
        let offsets = |bases: &[u64], mask: u64| -> Vec<u64> {
            let bases = bases.iter().enumerate();
            bases.map(|(i, &b)| if mask >> i & 1 == 1 { 0 } else { shared.offset(b) }).collect()
        };
        let kept: Vec<u32> = (0..layout.register().len() as u32).filter(|&i| guard.register >> i & 1 == 0).collect();
        let mut copies = Vec::new();
        if direction == Direction::Load && guard.register != 0 {
            let bases = LinearMap::new(layout.register().to_vec(), 64)?;
            for r in 0..layout.registers() {
                // The solution uses only the first independent registers, which are exactly the kept ones.
                match bases.solve(bases.apply(r.into())) {
                    Some(source) if source != u64::from(r) => copies.push((r, source as u32)),
                    _ => {}
                }
            }
        }
        Ok(Self {
            direction,
            eb,
            within: shared.offset_bits().saturating_sub(round_bits),
            guard,
            registers: offsets(layout.register(), 0),
            kept,
            copies,
            lane: offsets(layout.lane(), guard.lane),
            warp: offsets(layout.warp(), guard.warp),
            block: offsets(layout.block(), 0),
        })
    }

    fn offset(&self, register: u64) -> u64 {
        combine(&self.registers, register)
    }

    fn round_of(&self, offset: u64) -> u64 {
        offset.checked_shr(self.within).unwrap_or(0)
    }

    fn bytes_of(&self, offset: u64) -> u64 {
        (offset & low_mask(self.within)) << self.eb
    }

    fn columns(&self) -> impl Iterator<Item = u64> + '_ {
        self.lane.iter().chain(&self.warp).chain(&self.block).copied()
    }

    /// For each of the low `count` offset bits, the registers that flip that bit alone. Stops at the first bit
    /// without such registers.
    fn flips(&self, count: u32) -> Vec<u64> {
        let kept: Vec<u64> = self.kept.iter().map(|&i| self.registers[i as usize]).collect();
        let Ok(map) = LinearMap::new(kept, 64) else { return Vec::new() };
        let spread = |x: u64| self.kept.iter().enumerate().fold(0, |r, (i, &bit)| r | (x >> i & 1) << bit);
        (0..count.min(self.within)).map_while(|i| map.solve(1 << i)).map(spread).collect()
    }

    /// The kept register bits that are independent of the `low` offset bits and of each other.
    fn beyond(&self, low: u32) -> Vec<u64> {
        let mut seen: Subspace = (0..low).map(|i| 1u64 << i).collect();
        self.kept.iter().filter(|&&i| seen.insert(self.registers[i as usize])).map(|&i| 1u64 << i).collect()
    }

    fn thread_bases(&self, lane: &[u64], part: impl Fn(u64) -> u64) -> ThreadBases {
        let apply = |list: &[u64]| list.iter().map(|&o| part(o)).collect();
        ThreadBases { lane: apply(lane), warp: apply(&self.warp), block: apply(&self.block) }
    }

    fn vector(&self) -> SharedAccess {
        let mut flips = self.flips(ROW_LOG2.saturating_sub(self.eb));
        // If a thread's base had bits within the vector, its elements would be rotated.
        let aligned = self.columns().map(u64::trailing_zeros).min().unwrap_or(64);
        flips.truncate(aligned as usize);
        let elements = 1u32 << flips.len();
        let start = |start: u64| start ^ combine(&flips, self.offset(start));
        let free = self.beyond(flips.len() as u32);
        let registers = |start: u64| (0..elements.into()).map(|s| (start ^ combine(&flips, s)) as u32).collect();
        let starts = (0..1u64 << free.len()).map(|g| start(combine(&free, g)));
        let instructions = starts.map(|s| (s, registers(s))).collect();
        let bytes = 1 << (self.eb + flips.len() as u32).min(ROW_LOG2);
        self.finish(AccessMode::Vector { elements }, self.lane.clone(), bytes, instructions)
    }

    fn matrix(&self, transposed: bool) -> Option<SharedAccess> {
        let row = ROW_LOG2.checked_sub(self.eb)?;
        let word = WORD_LOG2.checked_sub(self.eb)?;
        let lanes_along_row = if transposed { 2..5 } else { 0..2 };
        let in_row = if transposed { 0..row } else { word..row };
        let along: Vec<u64> = in_row.map(|i| 1 << i).collect();
        if (transposed && word != 1) || self.guard.lane != 0 || self.lane[lanes_along_row.clone()] != along {
            return None;
        }
        // The registers of a word hold consecutive elements of the row or, transposed, elements of two neighboring
        // rows.
        let (flips, free) = if transposed {
            let mut free = self.beyond(row);
            // A transposed fragment does not have registers along the row.
            if free.is_empty() || free.len() != self.kept.len() {
                return None;
            }
            (vec![free.remove(0)], free)
        } else {
            (self.flips(word), self.beyond(word))
        };
        if flips.len() != word as usize {
            return None;
        }
        let start = |start: u64| if transposed { start } else { start ^ combine(&flips, self.offset(start)) };
        let mut rows: Vec<u64> = if transposed { vec![self.offset(flips[0])] } else { Vec::new() };
        rows.extend((0..5).filter(|i| !lanes_along_row.contains(i)).map(|i| self.lane[i]));
        let free = free.iter().map(|&f| start(f)).collect();
        self.of_rows(transposed, MatrixWords { elements: flips, words: vec![] }, rows, free)
    }

    /// The plan of `ldmatrix` that transposes matrices of bytes.
    fn byte_matrix(&self) -> Option<SharedAccess> {
        // A row of 16 bytes is along lane bits 2 to 4 and one register bit.
        if self.eb != 0 || self.guard.lane != 0 || self.lane[2..5] != [1, 2, 4] {
            return None;
        }
        let kept: Vec<u64> = self.kept.iter().map(|&i| self.registers[i as usize]).collect();
        let along = LinearMap::new(kept, 64).ok()?.solve(1 << 3).filter(|_| self.within > 3)?;
        let along = self.kept.iter().enumerate().fold(0, |r, (i, &bit)| r | (along >> i & 1) << bit);
        // The bytes of a word come from four rows.
        let mut free = self.beyond(ROW_LOG2);
        // All other register bits are beyond the row.
        if free.len() < WORD_LOG2 as usize || free.len() + 1 != self.kept.len() {
            return None;
        }
        let elements: Vec<u64> = free.drain(..WORD_LOG2 as usize).collect();
        let rows = elements.iter().map(|&r| self.offset(r)).chain(self.lane[..2].iter().copied()).collect();
        self.of_rows(true, MatrixWords { elements, words: vec![along] }, rows, free)
    }

    /// The plan of matrices whose rows have the offset bases `rows`. `free` are the register bits that select a matrix.
    fn of_rows(&self, transposed: bool, of: MatrixWords, mut rows: Vec<u64>, free: Vec<u64>) -> Option<SharedAccess> {
        let row = ROW_LOG2 - self.eb;
        let others = self.warp.iter().chain(&self.block).copied();
        let anywhere = rows.iter().copied().chain(others).chain(free.iter().map(|&s| self.offset(s)));
        // Everything outside the matrix must preserve whole rows, and the rows of one instruction must be in one
        // round.
        if anywhere.into_iter().any(|o| o & low_mask(row) != 0) || rows.iter().any(|&o| self.round_of(o) != 0) {
            return None;
        }
        let (same, later): (Vec<u64>, Vec<u64>) = free.iter().partition(|&&s| self.round_of(self.offset(s)) == 0);
        // 32 lanes give the addresses of rows.
        let most = (WARP_SIZE.ilog2() as usize).saturating_sub(rows.len());
        let together: Vec<u64> = same.iter().take(most).copied().collect();
        let free: Vec<u64> = same.iter().skip(most).chain(&later).copied().collect();
        rows.extend(together.iter().map(|&s| self.offset(s)));
        rows.resize(5, 0);
        let (matrices, elements) = (1u32 << together.len(), 1u32 << of.elements.len());
        let (of, together) = (&of, &together);
        let registers = |start: u64| {
            let matrices = (0..u64::from(matrices)).map(move |m| start ^ combine(together, m));
            let words = matrices.flat_map(|m| (0..1u64 << of.words.len()).map(move |w| m ^ combine(&of.words, w)));
            words
                .flat_map(|w| (0..u64::from(elements)).map(move |e| (w, e)))
                .map(|(w, e)| (w ^ combine(&of.elements, e)) as u32)
        };
        let starts = (0..1u64 << free.len()).map(|g| combine(&free, g));
        let instructions = starts.map(|s| (s, registers(s).collect())).collect();
        Some(self.finish(AccessMode::Matrix { matrices, elements, transposed }, rows, 1 << ROW_LOG2, instructions))
    }

    fn finish(&self, mode: AccessMode, lane: Vec<u64>, bytes: u64, list: Vec<(u64, Vec<u32>)>) -> SharedAccess {
        let address = self.thread_bases(&lane, |o| self.bytes_of(o));
        let round = match mode {
            AccessMode::Vector { .. } => self.thread_bases(&lane, |o| self.round_of(o)),
            // Here the lane parts are rows, all in round 0.
            AccessMode::Matrix { .. } => self.thread_bases(&[0; 5], |o| self.round_of(o)),
        };
        let reach = address.all().fold(0, |bits, b| bits | b);
        let instruction = |(start, registers): (u64, Vec<u32>)| {
            let offset = self.offset(start);
            let constant = self.bytes_of(offset);
            let round = self.round_of(offset) as u32;
            Instruction { round, xor: constant & reach, add: constant & !reach, registers }
        };
        let instructions: Vec<Instruction> = list.into_iter().map(instruction).collect();
        // The lanes that supply an address: all that the guard admits, or the rows of the matrices.
        let active = |l: u64| match mode {
            AccessMode::Vector { .. } => l & self.guard.lane == 0 && combine(&round.lane, l) == 0,
            AccessMode::Matrix { matrices, .. } => l < u64::from(mode.matrix_rows().unwrap_or(0)) * u64::from(matrices),
        };
        let address_of = |l: u64| active(l).then(|| combine(&address.lane, l));
        let addresses: Vec<Option<u64>> = (0..WARP_SIZE.into()).map(address_of).collect();
        let turns = phase_wavefronts(&addresses, bytes).unwrap_or_default();
        // If the round depends on the lane, every instruction executes once for each round in the warp.
        let executions = instructions.len() as u64 * (1 << Subspace::span(round.lane.iter().copied()).dim());
        // Elements wider than 16 bytes take several instructions each.
        let pieces = 1u64 << (self.eb.saturating_sub(ROW_LOG2));
        SharedAccess {
            direction: self.direction,
            mode,
            address,
            round,
            guard: self.guard,
            copies: self.copies.clone(),
            conflict_degree: turns.iter().copied().max().unwrap_or(1).max(1),
            wavefronts: executions * pieces * turns.iter().map(|&t| u64::from(t)).sum::<u64>(),
            instructions,
        }
    }
}
