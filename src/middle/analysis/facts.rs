//! Divisibility, contiguity, constancy and ranges of integers and pointers.
//!
//! A fact about a tensor has three values per dimension `d`:
//! * `contiguity[d] = c`: along `d`, the elements form aligned groups of `c`. Within a group, each element is its
//!   predecessor plus one (for pointers: plus the size of the pointee);
//! * `divisor[d] = k`: the first element of every such group is a multiple of `k` (in bytes for pointers);
//! * `constancy[d] = s`: along `d`, the elements form aligned groups of `s` equal elements.
//!
//! All three are powers of two. Scalars have no dimensions and a single `divisor`. `range` bounds every element, as a
//! signed number. Example: `make_range : tensor<64xi32>` has contiguity 64, divisor 2^62 (the first element is zero),
//! constancy 1 and range 0 to 63. After the addition of a splat of `16 * x`, it has contiguity 64 and divisor 16.
//!
//! Facts originate from constants, ranges, `assume` and arithmetic. The analysis walks the structured program forward
//! once. Loop-carried values start with the facts of their initial values, which are met with the facts of the
//! yielded values until a fixed point; a range is dropped at its first change. All facts hold for every execution.
//!
//! *Bound on the work.* A loop is walked at most [`PASSES`] times while its facts decay step by step, and once more
//! per value whose facts are dropped then. An inner loop keeps its facts when an outer loop is walked again, so the
//! decay over all its walks is that of a single analysis. The walks of a loop nest therefore add up rather than
//! multiply, except for one walk of each inner loop that finds nothing new per walk of an outer loop.

use super::promises;
use crate::dialect::{
    arith::IntPredicate,
    behaviour::{LayoutRelation, layout_relation},
    elements,
    layouts::{Tensor, memory_bits, storage_bits},
    nv_tileaa, nv_tileas,
    rt::*,
    types::{integer_width, is_index, is_integer},
    upstream::{Arith, Scf},
};
use melior::ir::Attribute;
use rustc_hash::FxHashMap;

/// The divisor of zero, which is a multiple of everything.
pub const TOP: u64 = 1 << 62;

/// The minimal alignment, in bytes, of the heap and of lowered globals.
const HEAP_ALIGNMENT: u64 = 16;

/// The facts about an integer or pointer value. Lists have one entry per dimension of the tensor, or one entry for a
/// scalar.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    pub contiguity: Vec<u64>,
    pub divisor: Vec<u64>,
    pub constancy: Vec<u64>,
    /// Inclusive and signed.
    pub range: Option<(i64, i64)>,
}

fn gcd2(a: u64, b: u64) -> u64 {
    a.min(b)
}
fn pow2_of(v: i64) -> u64 {
    if v == 0 { TOP } else { 1 << v.trailing_zeros().min(62) }
}
fn mul2(a: u64, b: u64) -> u64 {
    a.saturating_mul(b).min(TOP)
}

impl Fact {
    pub fn unknown(rank: usize) -> Self {
        let one = vec![1; rank.max(1)];
        Fact { contiguity: one.clone(), divisor: one.clone(), constancy: one, range: None }
    }
    fn constant(v: i64, shape: &[i64]) -> Self {
        let rank = shape.len().max(1);
        Fact {
            contiguity: vec![1; rank],
            divisor: vec![pow2_of(v); rank],
            constancy: if shape.is_empty() { vec![1] } else { shape.iter().map(|&e| e as u64).collect() },
            range: Some((v, v)),
        }
    }
    /// Returns the divisor of a scalar.
    pub fn scalar_divisor(&self) -> u64 {
        self.divisor[0]
    }
    /// Returns the largest power of two that divides every element.
    fn every(&self, d: usize, unit: u64) -> u64 {
        if self.contiguity[d] > 1 { gcd2(self.divisor[d], unit) } else { self.divisor[d] }
    }
    fn meet(&self, other: &Self) -> Self {
        let zip = |a: &[u64], b: &[u64]| a.iter().zip(b).map(|(x, y)| *x.min(y)).collect::<Vec<_>>();
        let range = match (self.range, other.range) {
            (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
            _ => None,
        };
        let mut met = Fact {
            contiguity: zip(&self.contiguity, &other.contiguity),
            divisor: zip(&self.divisor, &other.divisor),
            constancy: zip(&self.constancy, &other.constancy),
            range,
        };
        // Shorter groups may start in the middle of longer groups.
        for d in 0..met.contiguity.len() {
            if met.contiguity[d] != self.contiguity[d] || met.contiguity[d] != other.contiguity[d] {
                met.divisor[d] = met.divisor[d].min(met.contiguity[d].max(1));
            }
        }
        met
    }
    /// Returns the facts that hold for both; a range that would grow is dropped.
    fn widened(&self, other: &Self) -> Self {
        let met = self.meet(other);
        let range = met.range.filter(|_| met.range == self.range);
        Fact { range, ..met }
    }
}

/// The number of passes over a loop after which facts that still change are dropped.
const PASSES: usize = 8;

/// The facts about all integer and pointer values of a function.
pub struct Facts {
    map: FxHashMap<usize, Fact>,
}

impl Facts {
    /// Analyzes the body of a function.
    pub fn of(function: OpRef<'_>) -> Self {
        let mut facts = Facts { map: FxHashMap::default() };
        for i in 0..region_count(function) {
            if let Some(block) = entry_block(region(function, i)) {
                facts.block(block);
            }
        }
        facts
    }
    /// Returns the facts about `v`; no facts if the analysis has not seen it.
    pub fn get(&self, v: Val<'_>) -> Fact {
        self.map.get(&key(v)).cloned().unwrap_or_else(|| Fact::unknown(rank(v)))
    }

    fn block(&mut self, block: Blk<'_>) {
        for op in ops_of(block) {
            self.op(op);
        }
    }

    fn op(&mut self, op: OpRef<'_>) {
        match Scf::of(op) {
            Some(Scf::For) => self.for_loop(op),
            Some(Scf::While) => self.while_loop(op),
            kind if region_count(op) > 0 => {
                for i in 0..region_count(op) {
                    if let Some(block) = entry_block(region(op, i)) {
                        self.block(block);
                    }
                }
                if kind == Some(Scf::If) && result_count(op) > 0 {
                    let yields: Vec<_> = (0..2).filter_map(|i| last_op(region(op, i))).collect();
                    for (i, r) in results(op).enumerate() {
                        let fact = yields.iter().map(|y| self.get(operand(*y, i))).reduce(|a, b| a.meet(&b));
                        self.set(r, fact.unwrap_or_else(|| Fact::unknown(rank(r))));
                    }
                }
            }
            _ => {
                for r in results(op) {
                    if is_tracked(r) {
                        let fact = self.transfer(op, r);
                        self.set(r, fact);
                    }
                }
            }
        }
    }

    fn set(&mut self, v: Val<'_>, fact: Fact) {
        self.map.insert(key(v), fact);
    }

    fn for_loop(&mut self, op: OpRef<'_>) {
        let body = entry_block(region(op, 0)).expect("a loop has a body");
        let (lb, ub, step) = (self.get(operand(op, 0)), self.get(operand(op, 1)), self.get(operand(op, 2)));
        let mut iv = Fact::unknown(0);
        iv.divisor[0] = gcd2(lb.divisor[0], step.divisor[0]);
        // The step is positive, so the induction variable stays between the bounds.
        iv.range = match (lb.range, ub.range) {
            (Some(l), Some(u)) => Some((l.0, u.1.saturating_sub(1).max(l.0))),
            (Some(l), None) if l.0 >= 0 => Some((l.0, i64::MAX)),
            _ => None,
        };
        self.set(arg(body, 0), iv);
        let carried: Vec<_> = operands(op).skip(3).collect();
        self.fix_point(body, 1, &carried, &|b| last_op_of(b).map(|y| operands(y).collect()).unwrap_or_default());
        for (i, r) in results(op).enumerate() {
            let fact = self.get(arg(body, i + 1));
            self.set(r, fact);
        }
    }

    fn while_loop(&mut self, op: OpRef<'_>) {
        let before = entry_block(region(op, 0)).expect("a loop has a body");
        let after = entry_block(region(op, 1)).expect("a loop has a body");
        // The second region yields the values for the next iteration, but its arguments are known only after the
        // first region. Nothing is therefore assumed about loop-carried values.
        for a in args(before) {
            self.set(a, Fact::unknown(rank(a)));
        }
        self.block(before);
        if let Some(condition) = last_op_of(before) {
            for (i, a) in args(after).enumerate() {
                let fact = self.get(operand(condition, i + 1));
                self.set(a, fact);
            }
            for (i, r) in results(op).enumerate() {
                let fact = self.get(operand(condition, i + 1));
                self.set(r, fact);
            }
        }
        self.block(after);
    }

    fn fix_point<'c>(
        &mut self,
        body: Blk<'c>,
        first: usize,
        init: &[Val<'c>],
        yields: &dyn Fn(Blk<'c>) -> Vec<Val<'c>>,
    ) {
        for (i, v) in init.iter().enumerate() {
            let (a, fact) = (arg(body, first + i), self.get(*v));
            // An inner loop is revisited with weaker facts, and continues from the facts that it already has.
            let fact = match self.map.get(&key(a)) {
                Some(found) => found.widened(&fact),
                None => fact,
            };
            self.set(a, fact);
        }
        for pass in 1.. {
            self.block(body);
            let mut changed = false;
            for (i, y) in yields(body).into_iter().enumerate() {
                let a = arg(body, first + i);
                let old = self.get(a);
                let met = old.widened(&self.get(y));
                if met != old {
                    changed = true;
                    self.set(a, if pass < PASSES { met } else { Fact::unknown(rank(a)) });
                }
            }
            if !changed {
                return;
            }
        }
    }

    /// Returns the facts about result `r` of an op without regions.
    fn transfer(&self, op: OpRef<'_>, r: Val<'_>) -> Fact {
        let shape = shape_of(r);
        let rank = shape.len();
        let get = |i: usize| self.get(operand(op, i));
        let same = || get(0);
        if let Some(kind) = Arith::of(op) {
            return self.arithmetic(op, kind, r);
        }
        match layout_relation(op) {
            LayoutRelation::Reshape => return self.reshape(&same(), &shape_of(operand(op, 0)), &shape),
            LayoutRelation::Broadcast => {
                let mut f = same();
                let from = shape_of(operand(op, 0));
                for d in 0..rank {
                    if from[d] != shape[d] {
                        f.divisor[d] = f.every(d, 1);
                        f.contiguity[d] = 1;
                        f.constancy[d] = shape[d] as u64;
                    }
                }
                return f;
            }
            LayoutRelation::Permute => {
                let f = same();
                let order: Vec<usize> =
                    attr(op, "order").map_or(vec![], |a| i32s_attr(a).iter().map(|&d| d as usize).collect());
                let pick = |v: &[u64]| order.iter().map(|&d| v[d]).collect();
                return Fact {
                    contiguity: pick(&f.contiguity),
                    divisor: pick(&f.divisor),
                    constancy: pick(&f.constancy),
                    range: f.range,
                };
            }
            _ => {}
        }
        if let Some(known) = nv_tileas::AnyOp::cast(op) {
            use nv_tileas::AnyOp::*;
            return match known {
                MakeRangeOp(_) => range(shape[0]),
                SplatOp(_) => splat(&get(0), &shape),
                UnsplatOp(_) => unsplat(&same()),
                ConvertLayoutOp(_) | ReplicateOp(_) => same(),
                AssumeOp(_) => promises::assume(op, r, get(result_number(r))),
                HeapAllocOp(_) => Fact { divisor: vec![HEAP_ALIGNMENT; rank.max(1)], ..Fact::unknown(rank) },
                _ => Fact::unknown(rank),
            };
        }
        use nv_tileaa::AnyOp::*;
        match nv_tileaa::AnyOp::cast(op) {
            Some(MakeRangeOp(_)) => range(shape[0]),
            Some(SplatOp(_)) => splat(&get(0), &shape),
            Some(UnsplatOp(_)) => unsplat(&same()),
            Some(GetGlobalOp(_)) => Fact { divisor: vec![HEAP_ALIGNMENT; rank.max(1)], ..Fact::unknown(rank) },
            Some(AssumeOp(_)) => promises::assume(op, r, same()),
            Some(NumProgramsOfCtaOp(_)) => Fact { range: Some((0, 1 << 30)), ..Fact::unknown(0) },
            Some(GetProgramIdOp(_) | ProgramOfCtaOp(_)) => Fact { range: Some((0, (1 << 24) - 1)), ..Fact::unknown(0) },
            // A cluster has at most 16 CTAs.
            Some(GetCtaRankOp(_)) => Fact { range: Some((0, 15)), ..Fact::unknown(0) },
            Some(GetNumProgramsOp(_)) => Fact { range: Some((1, (1 << 24) - 1)), ..Fact::unknown(0) },
            // Two 4-bit elements share a byte, so there are no runs of addresses.
            Some(AddPtrOp(_)) if pointee_shares_bytes(r) => Fact::unknown(rank),
            Some(AddPtrOp(_)) => {
                let size = u64::from(pointee_bytes(r));
                let offset = scale(&get(1), size);
                add(&get(0), &offset, size, size)
            }
            Some(PtrToIntOp(_) | IntToPtrOp(_) | PtrToPtrOp(_)) => {
                let f = same();
                let contiguity = vec![1; f.contiguity.len()];
                let divisor = (0..f.divisor.len()).map(|d| f.every(d, f.divisor[d].min(8))).collect();
                let divisor: Vec<u64> =
                    if f.contiguity.iter().any(|&c| c > 1) { vec![1; f.divisor.len()] } else { divisor };
                Fact { contiguity, divisor, constancy: f.constancy, range: None }
            }
            _ => Fact::unknown(rank),
        }
    }

    /// Returns the facts about result `r` of an `arith` op.
    fn arithmetic(&self, op: OpRef<'_>, kind: Arith, r: Val<'_>) -> Fact {
        let shape = shape_of(r);
        let rank = shape.len();
        let get = |i: usize| self.get(operand(op, i));
        let same = || get(0);
        match kind {
            Arith::Constant => attr(op, "value").and_then(|a| constant(a, &shape)).unwrap_or(Fact::unknown(rank)),
            Arith::AddI => with_range(add(&get(0), &get(1), 1, 1), &get(0), &get(1), r, i64::checked_add),
            Arith::SubI => with_range(sub(&get(0), &get(1)), &get(0), &get(1), r, i64::checked_sub),
            Arith::MulI => multiply(&get(0), &get(1), r),
            Arith::ExtSI => same(),
            Arith::ExtUI => {
                let f = same();
                // Only a value with a zero sign bit keeps its runs and range.
                if f.range.is_some_and(|(lo, _)| lo >= 0) {
                    f
                } else {
                    Fact {
                        range: None,
                        contiguity: vec![1; rank.max(1)],
                        divisor: (0..rank.max(1)).map(|d| f.every(d, 1)).collect(),
                        ..f
                    }
                }
            }
            Arith::TruncI => {
                let f = same();
                let bits = int_width(r);
                let fits =
                    f.range.is_some_and(|(lo, hi)| bits >= 64 || (lo >= -(1 << (bits - 1)) && hi < 1 << (bits - 1)));
                let limit = if bits >= 62 { TOP } else { 1 << bits };
                // Wrapping preserves runs that do not cross a multiple of the modulus, and aligned runs do not.
                let divisor = f.divisor.iter().map(|&d| if d >= limit { TOP } else { d }).collect();
                Fact { divisor, range: f.range.filter(|_| fits), ..f }
            }
            Arith::ShLI => match get(1).range {
                Some((a, b)) if a == b && (0..62).contains(&a) => {
                    let k = 1u64 << a;
                    let factor = Fact::constant(k as i64, &shape);
                    multiply(&get(0), &factor, r)
                }
                _ => Fact { constancy: both(&get(0).constancy, &get(1).constancy), ..Fact::unknown(rank) },
            },
            Arith::Select => {
                let (c, a, b) = (get(0), get(1), get(2));
                let mut f = a.meet(&b);
                for d in 0..f.constancy.len() {
                    let s = if c.constancy.len() == f.constancy.len() { c.constancy[d] } else { u64::MAX };
                    f.constancy[d] = f.constancy[d].min(s);
                    if f.contiguity[d] > s {
                        f.divisor[d] = f.divisor[d].min(s);
                        f.contiguity[d] = s;
                    }
                }
                f
            }
            Arith::CmpI => {
                Fact { constancy: compare(op, &get(0), &get(1)), range: Some((-1, 0)), ..Fact::unknown(rank) }
            }
            Arith::AndI
            | Arith::OrI
            | Arith::XOrI
            | Arith::DivSI
            | Arith::DivUI
            | Arith::RemSI
            | Arith::RemUI
            | Arith::FloorDivSI
            | Arith::CeilDivSI
            | Arith::CeilDivUI
            | Arith::ShRSI
            | Arith::ShRUI
            | Arith::MaxSI
            | Arith::MinSI
            | Arith::MaxUI
            | Arith::MinUI => bitwise(kind, &get(0), &get(1), rank),
            _ => Fact::unknown(rank),
        }
    }

    /// Facts survive a reshape in dimensions whose trailing volume does not change.
    fn reshape(&self, f: &Fact, from: &[i64], to: &[i64]) -> Fact {
        let mut out = Fact::unknown(to.len());
        out.range = f.range;
        let trailing = |shape: &[i64], d: usize| shape[d + 1..].iter().product::<i64>();
        for t in 0..to.len() {
            for s in 0..from.len() {
                // The row-major bits of dimensions t and s start at the same position: runs along s are runs along t.
                if trailing(to, t) == trailing(from, s) && from[s] > 1 {
                    let extent = to[t] as u64;
                    out.contiguity[t] = f.contiguity[s].min(extent);
                    out.constancy[t] = f.constancy[s].min(extent);
                    out.divisor[t] = if f.contiguity[s] > extent { f.divisor[s].min(extent) } else { f.divisor[s] };
                }
            }
            if to[t] == 1 {
                out.divisor[t] = (0..f.divisor.len()).map(|d| f.every(d, 1)).max().unwrap_or(1);
            }
        }
        out
    }
}

fn is_tracked(v: Val<'_>) -> bool {
    let element = Tensor::of_value(v).map_or(ty(v), |t| t.element);
    is_integer(element) || is_index(element) || nv_tileaa::PtrType::cast(element).is_some()
}
fn shape_of(v: Val<'_>) -> Vec<i64> {
    Tensor::of_value(v).map_or(vec![], |t| t.shape)
}
fn rank(v: Val<'_>) -> usize {
    Tensor::of_value(v).map_or(0, |t| t.shape.len())
}
fn int_width(v: Val<'_>) -> u32 {
    let element = Tensor::of_value(v).map_or(ty(v), |t| t.element);
    if is_integer(element) { integer_width(element) } else { 64 }
}
fn pointee_shares_bytes(v: Val<'_>) -> bool {
    let element = Tensor::of_value(v).map_or(ty(v), |t| t.element);
    nv_tileaa::PtrType::cast(element).is_some_and(|p| memory_bits(p.pointee()) < 8)
}
/// Returns the size in bytes of the pointee of a pointer value.
pub fn pointee_bytes(v: Val<'_>) -> u32 {
    let element = Tensor::of_value(v).map_or(ty(v), |t| t.element);
    nv_tileaa::PtrType::cast(element).map_or(1, |p| storage_bits(p.pointee()) / 8)
}
fn last_op<'c>(r: Rgn<'c>) -> Option<OpRef<'c>> {
    last_op_of(entry_block(r)?)
}
fn last_op_of<'c>(b: Blk<'c>) -> Option<OpRef<'c>> {
    ops_of(b).last()
}
fn both(a: &[u64], b: &[u64]) -> Vec<u64> {
    a.iter().zip(b).map(|(x, y)| *x.min(y)).collect()
}

fn constant(a: Attribute<'_>, shape: &[i64]) -> Option<Fact> {
    elements::splat_integer(a).map(|v| Fact::constant(v, shape))
}

fn scale(f: &Fact, by: u64) -> Fact {
    Fact {
        contiguity: f.contiguity.clone(),
        divisor: f.divisor.iter().map(|&d| mul2(d, by)).collect(),
        constancy: f.constancy.clone(),
        range: None,
    }
}

/// The sum of values whose runs increase by `unit_a` and `unit_b`.
fn add(a: &Fact, b: &Fact, unit_a: u64, unit_b: u64) -> Fact {
    let n = a.contiguity.len();
    let mut f = Fact::unknown(n);
    for d in 0..n {
        // A run plus equal elements is a run.
        let left = a.contiguity[d].min(b.constancy[d]);
        let right = b.contiguity[d].min(a.constancy[d]);
        f.contiguity[d] = left.max(right).max(1);
        f.constancy[d] = a.constancy[d].min(b.constancy[d]);
        let start = |x: &Fact, unit: u64| {
            if x.contiguity[d] > f.contiguity[d] { x.divisor[d].min(mul2(f.contiguity[d], unit)) } else { x.divisor[d] }
        };
        f.divisor[d] = if f.contiguity[d] > 1 {
            gcd2(start(a, unit_a), start(b, unit_b))
        } else {
            gcd2(a.every(d, unit_a), b.every(d, unit_b))
        };
    }
    f
}

fn sub(a: &Fact, b: &Fact) -> Fact {
    // Runs of the subtrahend become decreasing, so only the minuend's survive.
    let mut flat = b.clone();
    for d in 0..b.contiguity.len() {
        flat.divisor[d] = b.every(d, 1);
        flat.contiguity[d] = 1;
    }
    let mut f = add(a, &flat, 1, 1);
    for d in 0..f.contiguity.len() {
        f.contiguity[d] = a.contiguity[d].min(b.constancy[d]).max(1);
    }
    f
}

fn multiply(a: &Fact, b: &Fact, r: Val<'_>) -> Fact {
    let n = a.contiguity.len();
    let mut f = Fact::unknown(n);
    let is = |x: &Fact, v: i64| x.range == Some((v, v));
    if is(a, 1) {
        return b.clone();
    }
    if is(b, 1) {
        return a.clone();
    }
    for d in 0..n {
        f.constancy[d] = a.constancy[d].min(b.constancy[d]);
        f.divisor[d] = mul2(a.every(d, 1), b.every(d, 1));
    }
    let range = a.range.zip(b.range).and_then(|((al, ah), (bl, bh))| {
        let products = [al.checked_mul(bl)?, al.checked_mul(bh)?, ah.checked_mul(bl)?, ah.checked_mul(bh)?];
        Some((*products.iter().min()?, *products.iter().max()?))
    });
    f.range = range.filter(|&(lo, hi)| fits(lo, hi, int_width(r)));
    f
}

fn fits(lo: i64, hi: i64, bits: u32) -> bool {
    bits >= 64 || (lo >= -(1i64 << (bits - 1)) && hi < 1i64 << (bits - 1))
}

fn with_range(mut f: Fact, a: &Fact, b: &Fact, r: Val<'_>, op: fn(i64, i64) -> Option<i64>) -> Fact {
    f.range = a.range.zip(b.range).and_then(|((al, ah), (bl, bh))| {
        let ends = [op(al, bl)?, op(al, bh)?, op(ah, bl)?, op(ah, bh)?];
        Some((*ends.iter().min()?, *ends.iter().max()?))
    });
    f.range = f.range.filter(|&(lo, hi)| fits(lo, hi, int_width(r)));
    f
}

/// `0, 1, 2, ...`
fn range(extent: i64) -> Fact {
    Fact { contiguity: vec![extent as u64], divisor: vec![TOP], constancy: vec![1], range: Some((0, extent - 1)) }
}

/// A tensor with all elements equal to the scalar `s`.
fn splat(s: &Fact, shape: &[i64]) -> Fact {
    Fact {
        contiguity: vec![1; shape.len()],
        divisor: vec![s.divisor[0]; shape.len()],
        constancy: shape.iter().map(|&e| e as u64).collect(),
        range: s.range,
    }
}

/// The element of a one-element tensor.
fn unsplat(f: &Fact) -> Fact {
    let mut out = Fact::unknown(0);
    out.divisor[0] = *f.divisor.iter().min().unwrap_or(&1);
    out.range = f.range;
    out
}

fn bitwise(kind: Arith, a: &Fact, b: &Fact, rank: usize) -> Fact {
    let mut f = Fact::unknown(rank);
    f.constancy = both(&a.constancy, &b.constancy);
    let non_negative = |x: &Fact| x.range.is_some_and(|(lo, _)| lo >= 0);
    let n = f.divisor.len();
    match kind {
        // The low zero bits of either operand (of both, for or and xor) remain zero.
        Arith::AndI => {
            f.divisor = (0..n).map(|d| a.every(d, 1).max(b.every(d, 1))).collect();
            f.range = match (a.range.filter(|_| non_negative(a)), b.range.filter(|_| non_negative(b))) {
                (Some(x), Some(y)) => Some((0, x.1.min(y.1))),
                (Some(x), None) | (None, Some(x)) => Some((0, x.1)),
                _ => None,
            };
        }
        Arith::OrI | Arith::XOrI => f.divisor = (0..n).map(|d| gcd2(a.every(d, 1), b.every(d, 1))).collect(),
        Arith::DivSI | Arith::DivUI | Arith::FloorDivSI if non_negative(a) => {
            if let (Some((lo, hi)), Some((k, m))) = (a.range, b.range)
                && k > 0
            {
                f.range = Some((lo / m, hi / k));
                if k == m && (k as u64).is_power_of_two() {
                    // Dividing a run of k elements that starts at a multiple of k gives equal quotients.
                    for d in 0..n {
                        if a.divisor[d] >= k as u64 && a.contiguity[d] >= k as u64 {
                            f.constancy[d] = k as u64;
                        }
                        f.divisor[d] = if a.contiguity[d] > 1 { 1 } else { (a.divisor[d] / k as u64).max(1) };
                    }
                }
            }
        }
        Arith::RemSI | Arith::RemUI if non_negative(a) => {
            if let Some((_, m)) = b.range.filter(|&(k, _)| k > 0) {
                f.range = Some((0, m - 1));
            }
        }
        Arith::MaxSI | Arith::MinSI => {
            f.divisor = (0..n).map(|d| gcd2(a.every(d, 1), b.every(d, 1))).collect();
            f.range = a.range.zip(b.range).map(|(x, y)| {
                if kind == Arith::MaxSI { (x.0.max(y.0), x.1.max(y.1)) } else { (x.0.min(y.0), x.1.min(y.1)) }
            });
        }
        _ => {}
    }
    f
}

/// Returns the sizes of groups of equal results of a comparison. A run of `c` elements that starts at a multiple of
/// `c` is entirely on one side of a bound that is a multiple of `c`. This holds for the ordering predicates, and for
/// runs that do not wrap around.
fn compare(op: OpRef<'_>, a: &Fact, b: &Fact) -> Vec<u64> {
    use IntPredicate::{Sge, Sgt, Sle, Slt, Uge, Ugt, Ule, Ult};
    let predicate = IntPredicate::of(op);
    (0..a.contiguity.len())
        .map(|d| {
            let equal = a.constancy[d].min(b.constancy[d]);
            let group = |run: &Fact, bound: &Fact| {
                let c = run.contiguity[d].min(bound.constancy[d]);
                c.min(run.divisor[d]).min(bound.every(d, 1)).max(1)
            };
            // `run < bound` and `run >= bound` are exact.
            let by_run = match predicate {
                Some(Slt | Sge | Ult | Uge) => group(a, b),
                Some(Sle | Sgt | Ule | Ugt) => group(b, a),
                _ => 1,
            };
            equal.max(by_run)
        })
        .collect()
}
