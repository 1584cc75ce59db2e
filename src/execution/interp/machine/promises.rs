//! `assume`: checks promises.
//!
//! A broken promise is undefined behavior, with one exception. Front ends promise a divisor for all strides,
//! including the stride of a dimension with one element. No address depends on that stride, so it may be any number.
//! So if a value is used only as a stride of tensor views, its promise is checked where the views are made, and only
//! for views with several elements along the dimension.

use super::{Cause, Executor, Outcome, Tensor, coordinates, index, number_of};
use crate::int;
use crate::program::{Block, Entry, Op, OpKind, Promise, Signedness, Value};
use crate::text;
use crate::types::{Element, Number, TileType, Type};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// How broken promises are handled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Promises {
    /// Promises are not checked.
    Trust,
    /// A broken promise ends the run.
    #[default]
    Check,
    /// Broken promises are recorded in [`super::Machine::broken_promises`], and the run continues.
    Report,
}

/// A broken promise about a value that is only used as a stride.
#[derive(Clone, Debug)]
pub(super) struct Breach {
    text: String,
    location: Arc<str>,
}

/// Broken promises, by the promised value.
pub(super) type Breaches = FxHashMap<Value, Breach>;

/// Computes which values are used only as strides of tensor views, directly or after further promises.
pub(super) fn stride_only(entry: &Entry) -> Vec<bool> {
    let none = vec![false; entry.types.len()];
    let mut uses = Uses { entry, stride: none.clone(), other: none };
    uses.block(&entry.body);
    uses.stride.iter().zip(&uses.other).map(|(stride, other)| *stride && !other).collect()
}

struct Uses<'p> {
    entry: &'p Entry,
    stride: Vec<bool>,
    other: Vec<bool>,
}

impl Uses<'_> {
    /// Visits ops backward, because uses come after definitions: all uses of a promise's result are known before the
    /// promise.
    fn block(&mut self, block: &Block) {
        for op in block.ops.iter().rev() {
            op.regions.iter().rev().for_each(|region| self.block(region));
            match (&op.kind, &op.operands[..], &op.results[..]) {
                (OpKind::Assume(_), [v], [result]) => {
                    let (stride, other) = (self.stride[result.index()], self.other[result.index()]);
                    self.stride[v.index()] |= stride;
                    self.other[v.index()] |= other || !stride;
                }
                (OpKind::MakeTensorView, operands, [result]) => {
                    let strides = stride_operands(self.entry.ty(*result), operands);
                    operands[..operands.len() - strides.len()].iter().for_each(|v| self.other[v.index()] = true);
                    strides.iter().for_each(|(_, v)| self.stride[v.index()] = true);
                }
                (_, operands, _) => operands.iter().for_each(|v| self.other[v.index()] = true),
            }
        }
    }
}

/// The operands of `make_tensor_view` that are strides, with their dimensions. They are the last operands.
fn stride_operands(made: &Type, operands: &[Value]) -> Vec<(usize, Value)> {
    let Type::Tensor(t) = made else { return vec![] };
    let dims: Vec<usize> = t.strides.iter().enumerate().filter(|(_, s)| s.is_none()).map(|(d, _)| d).collect();
    let first = operands.len().saturating_sub(dims.len());
    dims.into_iter().zip(operands[first..].iter().copied()).collect()
}

impl Executor<'_> {
    pub(super) fn assume(&mut self, op: &Op, promise: &Promise) -> Outcome {
        let (v, data) = (op.operands[0], vec![self.values[op.operands[0].index()].clone()]);
        let Some(result) = op.results.first().filter(|_| self.limits.promises != Promises::Trust) else {
            return Ok(data);
        };
        let broken = self.broken(v, promise)?.map(|what| Breach {
            text: format!("{what}, which breaks the promise {}", text::promise(promise)),
            location: op.location.clone(),
        });
        if !self.stride_only[result.index()] {
            broken.map_or(Ok(()), |breach| self.note(breach))?;
            return Ok(data);
        }
        match self.breaches.get(&v).cloned().or(broken) {
            Some(breach) => self.breaches.insert(*result, breach),
            None => self.breaches.remove(result),
        };
        Ok(data)
    }

    /// Checks the promises about the strides of a view that `op` makes.
    pub(super) fn check_strides(&mut self, op: &Op, made: &Tensor) -> Result<(), Cause> {
        let entry = self.entry;
        let Some(result) = op.results.first().filter(|_| !made.shape.contains(&0)) else { return Ok(()) };
        for (d, v) in stride_operands(entry.ty(*result), &op.operands) {
            let Some(Breach { text, location }) = self.breaches.get(&v).filter(|_| made.shape[d] > 1).cloned() else {
                continue;
            };
            let text = format!("the stride of dimension {d}: {text} at {location}");
            self.note(Breach { text, location })?;
        }
        Ok(())
    }

    /// Reports a broken promise.
    fn note(&mut self, breach: Breach) -> Result<(), Cause> {
        if self.limits.promises == Promises::Check {
            return Err(Cause::Undefined(breach.text));
        }
        let Breach { text, location } = breach;
        let known = self.broken_promises.iter_mut().find(|b| b.location == location);
        match known {
            Some(known) => known.count += 1,
            None => self.broken_promises.push(BrokenPromise { location, block: self.block, text, count: 1 }),
        }
        Ok(())
    }

    /// Describes how a value breaks a promise; `None` if it does not.
    fn broken(&self, v: Value, promise: &Promise) -> Result<Option<String>, Cause> {
        match (self.entry.ty(v), promise) {
            (Type::Tensor(_) | Type::View(_), Promise::DivBy { divisor, .. }) => {
                let base = self.tensor(v)?.base;
                Ok((base % divisor != 0).then(|| format!("the base address is {base:#x}")))
            }
            (Type::Tile(t), _) => self.broken_of_tile(v, t, promise),
            _ => Ok(None),
        }
    }

    fn broken_of_tile(&self, v: Value, t: &TileType, promise: &Promise) -> Result<Option<String>, Cause> {
        let elements = self.elements(v)?;
        let shape = &t.shape;
        for (i, e) in elements.iter().enumerate() {
            // An unknown element may have a value that keeps the promise.
            if e.is_unknown() {
                continue;
            }
            let bits = e.bits;
            let at = coordinates(i, shape);
            let holds = match promise {
                Promise::DivBy { divisor, groups } => {
                    let step = match t.element {
                        Element::Number(_) => 1,
                        Element::Pointer(n) => u64::from(n.stored_bits() / 8),
                    };
                    let within = match groups {
                        Some((every, along)) => at.get(*along as usize).map_or(0, |a| a % (*every).max(1) as usize),
                        None => 0,
                    };
                    let first = bits.wrapping_sub(step * within as u64) & mask(t.element);
                    first.is_multiple_of(*divisor)
                }
                Promise::SameElements(group) => {
                    let start: Vec<usize> = at.iter().zip(group).map(|(a, g)| a - a % (*g).max(1) as usize).collect();
                    let first = elements[index(&start, shape)];
                    first.is_unknown() || first.bits == bits
                }
                Promise::Bounded { low, high } => {
                    let value = int::value(bits, number_of(t.element)?, Signedness::Signed);
                    low.is_none_or(|l| value >= l.into()) && high.is_none_or(|h| value <= h.into())
                }
            };
            if !holds {
                return Ok(Some(format!("element {i} is {bits:#x}")));
            }
        }
        Ok(None)
    }
}

fn mask(e: Element) -> u64 {
    e.number().map_or(u64::MAX, Number::mask)
}

/// A broken promise that did not end the run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{location}: in tile block ({}, {}, {}): {text}{}", .block[0], .block[1], .block[2], again(*.count))]
pub struct BrokenPromise {
    pub location: Arc<str>,
    /// The tile block in which it was first seen.
    pub block: [u32; 3],
    pub text: String,
    /// Number of times it was seen.
    pub count: u64,
}

fn again(count: u64) -> String {
    if count > 1 { format!(" (and {} more times)", count - 1) } else { String::new() }
}
