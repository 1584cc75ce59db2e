//! Distributed layouts: which element of a tile each register of each thread holds.

use std::fmt;
use std::str::FromStr;

use crate::error::{LayoutError, Result};
use crate::map::{LinearMap, combine, low_mask};
use crate::shape::Shape;
use crate::subspace::Subspace;

/// The bits of a lane number; a warp has 32 lanes.
pub const LANE_BITS: u32 = 5;
/// Lanes of a warp.
pub const WARP_SIZE: u32 = 1 << LANE_BITS;

/// The input dimensions of a distributed layout, in their fixed order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Input {
    /// Index of one of the values that a thread holds.
    Register,
    /// Lane within the warp.
    Lane,
    /// Warp within the block, or within the agent that owns the tile.
    Warp,
    /// Block (CTA) within the cluster.
    Block,
}

impl Input {
    /// All input dimensions, in order.
    pub const ALL: [Self; 4] = [Self::Register, Self::Lane, Self::Warp, Self::Block];
}

/// A thread of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Thread {
    pub lane: u32,
    pub warp: u32,
    pub block: u32,
}

/// One register of one thread: the location of one element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Slot {
    pub register: u32,
    pub thread: Thread,
}

/// A mask of input bits for each input dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct InputMasks {
    pub register: u64,
    pub lane: u64,
    pub warp: u64,
    pub block: u64,
}

/// A distributed layout. For every bit of the register, lane, warp and block number it has a basis vector: the XOR of
/// flattened element indices that the bit contributes. The element in a slot is the XOR of the vectors of the slot's
/// set bits.
///
/// A layout does not store the shape of its tile; operations that need coordinates take it as an argument. The lane
/// dimension always has five bits. Two layouts are equal if they are the same map.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Layout {
    bases: [Vec<u64>; 4],
}

impl Layout {
    /// Creates the layout with the given basis vectors.
    ///
    /// Errors: `lane` does not have five vectors, there are more than 31 bits of registers, warps or blocks, or more
    /// than 64 input bits in all.
    pub fn new(register: Vec<u64>, lane: Vec<u64>, warp: Vec<u64>, block: Vec<u64>) -> Result<Self> {
        if lane.len() != LANE_BITS as usize {
            let found = lane.len() as u64;
            return Err(LayoutError::Mismatch { what: "lane bits of a layout", expected: LANE_BITS.into(), found });
        }
        for (what, bits) in [("registers", register.len()), ("warps", warp.len()), ("blocks", block.len())] {
            if bits > 31 {
                return Err(LayoutError::TooManyBits { what, bits, limit: 31 });
            }
        }
        let bits = register.len() + lane.len() + warp.len() + block.len();
        if bits > LinearMap::MAX_BITS {
            return Err(LayoutError::TooManyBits { what: "the input of a layout", bits, limit: LinearMap::MAX_BITS });
        }
        Ok(Self { bases: [register, lane, warp, block] })
    }

    /// Like [`Layout::new`], for vectors that are valid by construction. Callers inside the crate always pass five
    /// lane bits.
    pub(crate) fn from_bases(bases: [Vec<u64>; 4]) -> Self {
        debug_assert_eq!(bases[1].len(), LANE_BITS as usize);
        Self { bases }
    }

    /// The basis vectors of one input dimension.
    pub fn bases(&self, input: Input) -> &[u64] {
        &self.bases[input as usize]
    }

    pub fn register(&self) -> &[u64] {
        self.bases(Input::Register)
    }

    pub fn lane(&self) -> &[u64] {
        self.bases(Input::Lane)
    }

    pub fn warp(&self) -> &[u64] {
        self.bases(Input::Warp)
    }

    pub fn block(&self) -> &[u64] {
        self.bases(Input::Block)
    }

    /// The registers per thread, and so the values of the tile that a thread holds.
    pub fn registers(&self) -> u32 {
        1 << self.register().len()
    }

    pub fn warps(&self) -> u32 {
        1 << self.warp().len()
    }

    pub fn blocks(&self) -> u32 {
        1 << self.block().len()
    }

    /// Threads of one block.
    pub fn threads(&self) -> u32 {
        self.warps() * WARP_SIZE
    }

    /// The flattened index of the element in a slot.
    pub fn element(&self, slot: Slot) -> u64 {
        combine(self.register(), slot.register.into()) ^ self.thread_base(slot.thread)
    }

    /// The flattened index of the element in register 0 of a thread.
    pub fn thread_base(&self, thread: Thread) -> u64 {
        combine(self.lane(), thread.lane.into())
            ^ combine(self.warp(), thread.warp.into())
            ^ combine(self.block(), thread.block.into())
    }

    /// The elements of a thread, register by register.
    pub fn elements_of(&self, thread: Thread) -> impl Iterator<Item = u64> + '_ {
        let base = self.thread_base(thread);
        (0..u64::from(self.registers())).map(move |r| combine(self.register(), r) ^ base)
    }

    /// All threads, lanes fastest and blocks slowest.
    pub fn all_threads(&self) -> impl Iterator<Item = Thread> + use<> {
        let (warps, blocks) = (self.warps(), self.blocks());
        let warps = move |block| (0..warps).map(move |warp| (block, warp));
        let lanes = |(block, warp)| (0..WARP_SIZE).map(move |lane| Thread { lane, warp, block });
        (0..blocks).flat_map(warps).flat_map(lanes)
    }

    /// All basis vectors in the order register, lane, warp, block.
    pub fn all_bases(&self) -> impl Iterator<Item = u64> + '_ {
        self.bases.iter().flatten().copied()
    }

    /// The layout as one map, with the input bits in the order register, lane, warp, block.
    pub fn to_map(&self, shape: &Shape) -> Result<LinearMap> {
        LinearMap::new(self.all_bases().collect(), shape.bits())
    }

    /// Checks that the layout covers the tile.
    ///
    /// Errors: a vector outside the tile, or an element that no thread holds.
    pub fn validate(&self, shape: &Shape) -> Result<()> {
        let (reached, total) = (self.to_map(shape)?.rank(), shape.bits());
        if reached == total { Ok(()) } else { Err(LayoutError::NotSurjective { reached, total }) }
    }

    /// The map from each element to the first slot that holds it, in the order of input bits. The slot is packed as
    /// register, lane, warp, block from the low end.
    pub fn owner_map(&self, shape: &Shape) -> Result<LinearMap> {
        self.to_map(shape)?.right_inverse()
    }

    /// The first slot that holds an element.
    pub fn owner(&self, shape: &Shape, element: u64) -> Result<Slot> {
        let mut packed = self.owner_map(shape)?.apply(element);
        let mut take = |input| {
            let bits = self.bases(input).len() as u32;
            let value = packed & low_mask(bits);
            packed >>= bits;
            value as u32
        };
        let [register, lane, warp, block] = Input::ALL.map(&mut take);
        Ok(Slot { register, thread: Thread { lane, warp, block } })
    }

    /// The input bits with a zero vector. Flipping one does not change the element.
    pub fn zero_bits(&self) -> InputMasks {
        let mask = |input| {
            let bases = self.bases(input).iter().enumerate();
            bases.fold(0, |mask, (i, &b)| if b == 0 { mask | 1 << i } else { mask })
        };
        let [register, lane, warp, block] = Input::ALL.map(mask);
        InputMasks { register, lane, warp, block }
    }

    /// The free variables: input bits to fix at zero so that every element has exactly one holder. A store or an
    /// atomic guarded by them happens once per element.
    ///
    /// Bits with a zero vector are always free. If vectors of different dimensions depend on each other, lanes are
    /// kept before warps, warps before blocks, and blocks before registers, so that the work stays spread over the
    /// machine.
    pub fn free_variables(&self) -> InputMasks {
        let mut seen = Subspace::default();
        let mut free = |input| {
            let bases = self.bases(input).iter().enumerate();
            bases.fold(0, |mask, (i, &b)| if seen.insert(b) { mask } else { mask | 1 << i })
        };
        let (lane, warp, block) = (free(Input::Lane), free(Input::Warp), free(Input::Block));
        InputMasks { register: free(Input::Register), lane, warp, block }
    }

    /// Returns the layout without the registers that are free variables, and the old number of each remaining
    /// register. In it, the threads whose free lane, warp and block bits are zero hold each element once: they *own*
    /// it.
    pub fn owned(&self) -> (Self, Vec<u32>) {
        let free = self.free_variables().register;
        let bits: Vec<usize> = (0..self.register().len()).filter(|i| free >> i & 1 == 0).collect();
        let old = |new: u32| bits.iter().enumerate().fold(0, |r, (i, &bit)| r | (new >> i & 1) << bit);
        let bases = bits.iter().map(|&bit| self.register()[bit]).collect();
        (self.with(Input::Register, bases), (0..1u32 << bits.len()).map(old).collect())
    }

    /// Like [`Layout::free_variables`], but registers are kept before lanes. The threads whose free bits are all zero
    /// hold each element once. They may store any of their registers, as long as no two of those repeat an element of
    /// the thread.
    pub fn free_threads(&self) -> InputMasks {
        let mut seen = Subspace::default();
        let mut free = |input| {
            let bases = self.bases(input).iter().enumerate();
            bases.fold(0, |mask, (i, &b)| if seen.insert(b) { mask } else { mask | 1 << i })
        };
        let [register, lane, warp, block] = Input::ALL.map(&mut free);
        InputMasks { register, lane, warp, block }
    }

    /// Whether both layouts give every thread the same set of elements, regardless of the register order.
    pub fn same_ownership(&self, other: &Self) -> bool {
        let span = Subspace::span(self.register().iter().copied());
        span == Subspace::span(other.register().iter().copied())
            && [Input::Lane, Input::Warp, Input::Block].into_iter().all(|input| {
                let (a, b) = (self.bases(input), other.bases(input));
                let at = |bases: &[u64], i: usize| bases.get(i).copied().unwrap_or(0);
                (0..a.len().max(b.len())).all(|i| span.contains(at(a, i) ^ at(b, i)))
            })
    }

    /// Returns the layout with each element once per thread, and the map from old register numbers to new ones.
    /// Registers with vectors that are independent of the earlier ones stay, in order.
    pub fn squeeze_registers(&self) -> (Self, LinearMap) {
        let mut seen = Subspace::default();
        let kept: Vec<u64> = self.register().iter().copied().filter(|&b| seen.insert(b)).collect();
        let as_map = |columns: Vec<u64>| LinearMap::new(columns, 64).unwrap_or_else(|_| LinearMap::zero(0, 64));
        // Every old vector is a sum of kept ones, so the equation has exactly one solution.
        let (old, new) = (as_map(self.register().to_vec()), as_map(kept.clone()));
        let map = new.solve_map(&old).unwrap_or_else(|| LinearMap::zero(old.in_bits(), new.in_bits()));
        (self.with(Input::Register, kept), map)
    }

    /// The canonical form of all layouts that differ only by a renumbering of registers. Each thread holds each of
    /// its elements once, in ascending order of the part of the index that varies within the thread.
    pub fn canonicalise(&self) -> Self {
        let span = Subspace::span(self.register().iter().copied());
        self.with(Input::Register, span.basis().to_vec())
    }

    /// Returns the layout with other vectors for one input dimension, which must not be the lane.
    pub(crate) fn with(&self, input: Input, bases: Vec<u64>) -> Self {
        let mut result = self.clone();
        result.bases[input as usize] = bases;
        result
    }

    /// The layout after a linear change of the element index.
    pub(crate) fn map_bases(&self, f: impl Fn(u64) -> u64) -> Self {
        Self::from_bases(self.bases.each_ref().map(|bases| bases.iter().map(|&b| f(b)).collect()))
    }
}

impl fmt::Display for Layout {
    /// Prints the body of the attribute: `register = [1, 2], lane = [4, 8, 16, 32, 64], warp = [], block = []`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, name) in NAMES.into_iter().enumerate() {
            let separator = if i == 0 { "" } else { ", " };
            write!(f, "{separator}{name} = {:?}", self.bases[i])?;
        }
        Ok(())
    }
}

const NAMES: [&str; 4] = ["register", "lane", "warp", "block"];

impl FromStr for Layout {
    type Err = LayoutError;

    /// Parses the printed form of a [`Layout`]. White space between tokens is optional.
    fn from_str(text: &str) -> Result<Self> {
        let mut cursor = Cursor { text, at: 0 };
        let mut bases: [Vec<u64>; 4] = Default::default();
        for (i, name) in NAMES.into_iter().enumerate() {
            if i > 0 {
                cursor.expect(",", "`,`")?;
            }
            cursor.expect(name, "`register`, `lane`, `warp`, `block` in this order")?;
            cursor.expect("=", "`=`")?;
            bases[i] = cursor.list()?;
        }
        cursor.end()?;
        let [register, lane, warp, block] = bases;
        Self::new(register, lane, warp, block)
    }
}

struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn rest(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        let trimmed = rest.trim_start();
        self.at += rest.len() - trimmed.len();
        trimmed
    }

    fn accept(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        self.at += if found { token.len() } else { 0 };
        found
    }

    fn expect(&mut self, token: &str, expected: &'static str) -> Result<()> {
        if self.accept(token) { Ok(()) } else { Err(LayoutError::Syntax { at: self.at, expected }) }
    }

    fn list(&mut self) -> Result<Vec<u64>> {
        self.expect("[", "`[`")?;
        let mut values = Vec::new();
        while !self.accept("]") {
            if !values.is_empty() {
                self.expect(",", "`,` or `]`")?;
            }
            let rest = self.rest();
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let expected = "an integer below 2^64";
            values.push(rest[..digits].parse().map_err(|_| LayoutError::Syntax { at: self.at, expected })?);
            self.at += digits;
        }
        Ok(values)
    }

    fn end(&mut self) -> Result<()> {
        if self.rest().is_empty() { Ok(()) } else { Err(LayoutError::Syntax { at: self.at, expected: "the end" }) }
    }
}
