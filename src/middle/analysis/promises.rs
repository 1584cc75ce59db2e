//! Facts from promises of the program.
//!
//! A violated promise is undefined behavior, with one exception: front ends promise divisibility for strides that no
//! address uses because the extent is 1, and such a stride may be any constant. A promise that contradicts known
//! facts, such as `div_by<8>` of the constant 1, is therefore ignored. Promises about values that are unknown at
//! compile time are trusted.

use super::facts::{Fact, TOP};
use crate::dialect::{cuda_tile, layouts::Tensor, nv_tileaa::AssumeOp, nv_tileas, rt::*, upstream::Arith};
use melior::ir::{Attribute, AttributeLike};
use mlir_sys::*;

/// Promises about constants with more elements than this are ignored, because they are too expensive to check.
const MOST_ELEMENTS: usize = 1 << 16;

/// Adds the promises of `op` about its result `r` to the facts about the operand.
pub(super) fn assume(op: OpRef<'_>, r: Val<'_>, f: Fact) -> Fact {
    let value = operand(op, result_number(r));
    of_op(op).into_iter().filter_map(Promise::of).fold(f, |f, promise| promised(value, &promise, f))
}

/// Returns the predicates of an `assume` of either level, in the order in which they hold.
pub fn of_op(op: OpRef<'_>) -> Vec<Attribute<'_>> {
    let one = AssumeOp::cast(op).map(|x| vec![x.predicate()]);
    let several = || nv_tileas::AssumeOp::cast(op).map(|x| array_attr(x.predicates()));
    one.or_else(several).unwrap_or_default()
}

/// Adds a promise about `value` to its facts.
fn promised(value: Val<'_>, promise: &Promise, mut f: Fact) -> Fact {
    if promise.contradicts(&f) || dense_constant(value).is_some_and(|c| !promise.holds_of(&c)) {
        return f;
    }
    match promise {
        Promise::Groups { divisor, every, along } => {
            let (divisor, every, along) = (*divisor, *every, *along);
            if along < f.contiguity.len() && every.is_power_of_two() && every >= f.contiguity[along] {
                f.contiguity[along] = every;
                f.divisor[along] = divisor;
            }
        }
        // Without groups, every element is a multiple.
        Promise::Multiple { divisor } => {
            for d in 0..f.divisor.len() {
                if f.contiguity[d] == 1 {
                    f.divisor[d] = f.divisor[d].max(*divisor);
                }
            }
        }
        Promise::Same(groups) => {
            for (d, &g) in groups.iter().enumerate().take(f.constancy.len()) {
                if g > 0 && (g as u64).is_power_of_two() {
                    f.constancy[d] = f.constancy[d].max(g as u64);
                }
            }
        }
        Promise::Between { low, high } => {
            let old = f.range.unwrap_or((i64::MIN, i64::MAX));
            f.range = Some(((*low).max(old.0), (*high).min(old.1)));
        }
    }
    f
}

/// Returns the divisor that a predicate promises for a whole value.
pub fn divisor_of(predicate: Attribute<'_>) -> Option<u64> {
    cuda_tile::DivByAttr::cast(predicate).filter(|p| p.every().is_none()).map(|p| p.divisor() as u64)
}

enum Promise {
    Multiple {
        divisor: u64,
    },
    Groups {
        divisor: u64,
        every: u64,
        along: usize,
    },
    Same(Vec<i64>),
    /// Inclusive.
    Between {
        low: i64,
        high: i64,
    },
}

impl Promise {
    fn of(predicate: Attribute<'_>) -> Option<Promise> {
        if let Some(p) = cuda_tile::DivByAttr::cast(predicate) {
            let divisor = (p.divisor() as u64).clamp(1, TOP);
            return Some(match (p.every(), p.along()) {
                (Some(every), Some(along)) => Promise::Groups { divisor, every: every as u64, along: along as usize },
                _ => Promise::Multiple { divisor },
            });
        }
        if let Some(p) = cuda_tile::SameElementsAttr::cast(predicate) {
            return Some(Promise::Same(p.values().to_vec()));
        }
        let p = cuda_tile::BoundedAttr::cast(predicate)?;
        Some(Promise::Between { low: p.lb().unwrap_or(i64::MIN), high: p.ub().unwrap_or(i64::MAX) })
    }

    /// Whether no value with these facts satisfies the promise.
    fn contradicts(&self, f: &Fact) -> bool {
        let (low, high) = f.range.unwrap_or((i64::MIN, i64::MAX));
        // Whether the range contains a multiple and the numbers that count up from it.
        let has_multiple = |divisor: u64, count: u64| {
            let last = i128::from(high) - (i128::from(count.max(1)) - 1);
            let divisor = i128::from(divisor);
            last.div_euclid(divisor) * divisor >= i128::from(low)
        };
        match self {
            Promise::Multiple { divisor } => !has_multiple(*divisor, 1),
            Promise::Groups { divisor, every, .. } => !has_multiple(*divisor, *every),
            Promise::Same(groups) => groups.iter().zip(&f.contiguity).any(|(&g, &c)| g > 1 && c > 1),
            Promise::Between { low: least, high: most } => high < *least || low > *most,
        }
    }

    /// Whether a constant satisfies the promise.
    fn holds_of(&self, c: &Dense) -> bool {
        let multiple = |value: i64, divisor: u64| i128::from(value).rem_euclid(i128::from(divisor)) == 0;
        let Some(values) = &c.values else { return false };
        values.iter().enumerate().all(|(i, &value)| match self {
            Promise::Multiple { divisor } => multiple(value, *divisor),
            Promise::Groups { divisor, every, along } => {
                let within = c.coordinate(i, *along) % (*every).max(1);
                value.checked_sub(within as i64).is_some_and(|first| multiple(first, *divisor))
            }
            Promise::Same(groups) => {
                let back = groups.iter().enumerate().map(|(d, &g)| {
                    let within = c.coordinate(i, d) % (g.max(1) as u64);
                    within as usize * c.volume_after(d)
                });
                values[i - back.sum::<usize>()] == value
            }
            Promise::Between { low, high } => (*low..=*high).contains(&value),
        })
    }
}

/// A constant integer tensor with differing elements.
struct Dense {
    shape: Vec<i64>,
    /// `None` if there are too many.
    values: Option<Vec<i64>>,
}

impl Dense {
    fn volume_after(&self, d: usize) -> usize {
        self.shape.iter().skip(d + 1).product::<i64>() as usize
    }

    /// Returns the index of element `i` along dimension `d`.
    fn coordinate(&self, i: usize, d: usize) -> u64 {
        self.shape.get(d).map_or(0, |&extent| (i / self.volume_after(d)) as u64 % extent.max(1) as u64)
    }
}

/// Returns the constant that `v` is, ignoring promises. For a constant with equal elements, the range suffices.
fn dense_constant(mut v: Val<'_>) -> Option<Dense> {
    while let Some(assume) = defining_op(v).and_then(AssumeOp::cast) {
        v = assume.value();
    }
    let op = defining_op(v).filter(|op| Arith::of(*op) == Some(Arith::Constant))?;
    let Tensor { shape, element, .. } = Tensor::of_value(v)?;
    let raw = attr(op, "value")?.to_raw();
    // SAFETY: the attribute and its type are alive; their kinds and the element's width are checked before they are
    // read, within the attribute's length.
    unsafe {
        let is_integer = melior::ir::TypeLike::to_raw(&element);
        if !mlirTypeIsAInteger(is_integer) || !mlirAttributeIsADenseElements(raw) || mlirDenseElementsAttrIsSplat(raw) {
            return None;
        }
        let read: Option<unsafe fn(MlirAttribute, isize) -> i64> = match mlirIntegerTypeGetWidth(is_integer) {
            1 => Some(|a, i| mlirDenseElementsAttrGetBoolValue(a, i).into()),
            8 => Some(|a, i| mlirDenseElementsAttrGetInt8Value(a, i).into()),
            16 => Some(|a, i| mlirDenseElementsAttrGetInt16Value(a, i).into()),
            32 => Some(|a, i| mlirDenseElementsAttrGetInt32Value(a, i).into()),
            64 => Some(|a, i| mlirDenseElementsAttrGetInt64Value(a, i)),
            _ => None,
        };
        let count = mlirElementsAttrGetNumElements(raw) as usize;
        let read = read.filter(|_| count <= MOST_ELEMENTS);
        Some(Dense { shape, values: read.map(|read| (0..count as isize).map(|i| read(raw, i)).collect()) })
    }
}
