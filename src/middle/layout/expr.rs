//! Short expressions for thread-dependent indices.
//!
//! Once per thread, generated code needs the value of a linear map of the lane, warp and block number: a coordinate
//! of the thread's first element, or an offset into shared memory. Evaluating the map bit by bit would take three
//! instructions per bit. A run of input bits that move by the same distance needs only one mask and one shift. The
//! mask is redundant if the width of the input or the shift already implies it. A typical coordinate takes one or two
//! instructions.
//!
//! Registers add a constant. If no bit can be set by both the thread and a register, XOR equals addition, and the
//! constant can be an immediate offset of the address.

use std::fmt;

use crate::error::Result;
use crate::layout::{Input, LANE_BITS, Layout};
use crate::map::{combine, low_mask};
use crate::shape::Shape;

/// `(x & mask) << shift`, or `>> -shift` when `shift` is negative; `x` is the number of the lane, warp or block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Term {
    /// Never [`Input::Register`]: registers contribute constants.
    pub source: Input,
    pub mask: u64,
    pub shift: i32,
    /// Whether the mask is needed. The shift and the width of the source can make it redundant.
    pub needs_mask: bool,
}

impl Term {
    /// The value of the term when the source is `x`.
    pub fn eval(&self, x: u64) -> u64 {
        let masked = if self.needs_mask { x & self.mask } else { x };
        if self.shift >= 0 { masked << self.shift } else { masked >> -self.shift }
    }

    /// The bits of the result that the term can set.
    pub fn reach(&self) -> u64 {
        if self.shift >= 0 { self.mask << self.shift } else { self.mask >> -self.shift }
    }
}

/// A linear function of the thread: the XOR of its terms.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct LinearExpr {
    pub terms: Vec<Term>,
    /// Whether no two terms can set the same bit. OR and addition then give the same result as XOR.
    pub disjoint: bool,
}

/// A tile coordinate: the thread's part and a constant for each register.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Coordinate {
    pub thread: LinearExpr,
    /// The contribution of register `r`, to be XORed with the thread's part.
    pub registers: Vec<u64>,
    /// Whether no register sets a bit that the thread's part can set. OR and addition then give the same result as
    /// XOR.
    pub disjoint: bool,
}

impl LinearExpr {
    /// Creates the function that maps bit `i` of the lane to `lane[i]`, and so on, with as few terms as possible.
    pub fn new(lane: &[u64], warp: &[u64], block: &[u64]) -> Self {
        let mut terms: Vec<Term> = Vec::new();
        for (source, bases) in [(Input::Lane, lane), (Input::Warp, warp), (Input::Block, block)] {
            let first = terms.len();
            for (i, &base) in bases.iter().enumerate() {
                for j in (0..64).filter(|&j| base >> j & 1 == 1) {
                    let shift = j - i as i32;
                    match terms[first..].iter_mut().find(|t| t.shift == shift) {
                        Some(term) => term.mask |= 1 << i,
                        None => terms.push(Term { source, mask: 1 << i, shift, needs_mask: true }),
                    }
                }
            }
            for term in &mut terms[first..] {
                // A right shift drops the low bits, and bits above the source's width are zero.
                let dropped = if term.shift < 0 { low_mask(-term.shift as u32) } else { 0 };
                term.needs_mask = term.mask != low_mask(bases.len() as u32) & !dropped;
            }
            terms[first..].sort_by_key(|t| t.shift);
        }
        let mut seen = 0;
        let disjoint = terms.iter().all(|t| {
            let fresh = seen & t.reach() == 0;
            seen |= t.reach();
            fresh
        });
        Self { terms, disjoint }
    }

    pub fn eval(&self, lane: u32, warp: u32, block: u32) -> u64 {
        let input = |source| match source {
            Input::Register => 0,
            Input::Lane => lane.into(),
            Input::Warp => warp.into(),
            Input::Block => block.into(),
        };
        self.terms.iter().fold(0, |sum, t| sum ^ t.eval(input(t.source)))
    }

    /// The bits that the function can set.
    pub fn reach(&self) -> u64 {
        self.terms.iter().fold(0, |bits, t| bits | t.reach())
    }

    pub fn is_zero(&self) -> bool {
        self.terms.is_empty()
    }

    /// The function as a tree of shifts, masks and combinations.
    pub fn to_bit_expr(&self) -> BitExpr {
        let term = |t: &Term| {
            let x = BitExpr::Source(t.source);
            let x = if t.needs_mask { BitExpr::And(Box::new(x), t.mask) } else { x };
            match t.shift {
                0 => x,
                1.. => BitExpr::Shl(Box::new(x), t.shift as u32),
                _ => BitExpr::Shr(Box::new(x), t.shift.unsigned_abs()),
            }
        };
        let join = if self.disjoint { BitExpr::Or } else { BitExpr::Xor };
        let terms = self.terms.iter().map(term);
        terms.reduce(|a, b| join(Box::new(a), Box::new(b))).unwrap_or(BitExpr::Constant(0))
    }
}

/// An expression over the lane, warp and block number. Operations act on unsigned integers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum BitExpr {
    Constant(u64),
    Source(Input),
    And(Box<Self>, u64),
    Shl(Box<Self>, u32),
    Shr(Box<Self>, u32),
    /// The operands share no bit, so OR, XOR and addition agree.
    Or(Box<Self>, Box<Self>),
    Xor(Box<Self>, Box<Self>),
}

impl BitExpr {
    pub fn eval(&self, lane: u32, warp: u32, block: u32) -> u64 {
        let go = |e: &Self| e.eval(lane, warp, block);
        match self {
            Self::Constant(c) => *c,
            Self::Source(Input::Lane) => lane.into(),
            Self::Source(Input::Warp) => warp.into(),
            Self::Source(Input::Block) => block.into(),
            Self::Source(Input::Register) => 0,
            Self::And(e, mask) => go(e) & mask,
            Self::Shl(e, by) => go(e) << by,
            Self::Shr(e, by) => go(e) >> by,
            Self::Or(a, b) => go(a) | go(b),
            Self::Xor(a, b) => go(a) ^ go(b),
        }
    }

    /// The number of machine operations.
    pub fn operations(&self) -> u32 {
        match self {
            Self::Constant(_) | Self::Source(_) => 0,
            Self::And(e, _) | Self::Shl(e, _) | Self::Shr(e, _) => 1 + e.operations(),
            Self::Or(a, b) | Self::Xor(a, b) => 1 + a.operations() + b.operations(),
        }
    }
}

impl fmt::Display for BitExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant(c) => write!(f, "{c}"),
            Self::Source(Input::Register) => write!(f, "register"),
            Self::Source(Input::Lane) => write!(f, "lane"),
            Self::Source(Input::Warp) => write!(f, "warp"),
            Self::Source(Input::Block) => write!(f, "block"),
            Self::And(e, mask) => write!(f, "({e} & {mask})"),
            Self::Shl(e, by) => write!(f, "({e} << {by})"),
            Self::Shr(e, by) => write!(f, "({e} >> {by})"),
            Self::Or(a, b) => write!(f, "({a} | {b})"),
            Self::Xor(a, b) => write!(f, "({a} ^ {b})"),
        }
    }
}

impl Layout {
    /// The coordinate of a slot along dimension `dim`, as a function of the thread and a constant for each register.
    pub fn coordinate_expr(&self, shape: &Shape, dim: usize) -> Result<Coordinate> {
        let (low, width) = shape.field(dim)?;
        let part = |bases: &[u64]| -> Vec<u64> { bases.iter().map(|&b| b >> low & low_mask(width)).collect() };
        Ok(self.expression(part))
    }

    /// The flattened row-major index of a slot, as a function of the thread and a constant for each register.
    pub fn index_expr(&self) -> Coordinate {
        self.expression(<[u64]>::to_vec)
    }

    fn expression(&self, part: impl Fn(&[u64]) -> Vec<u64>) -> Coordinate {
        let [register, lane, warp, block] = Input::ALL.map(|input| part(self.bases(input)));
        debug_assert_eq!(lane.len(), LANE_BITS as usize);
        let thread = LinearExpr::new(&lane, &warp, &block);
        let constants = register.iter().fold(0, |bits, &b| bits | b);
        let disjoint = thread.reach() & constants == 0;
        let registers = (0..1u64 << register.len()).map(|r| combine(&register, r)).collect();
        Coordinate { thread, registers, disjoint }
    }
}
