//! Ops that create tiles or move elements.

use super::{Cause, Executor, Outcome, coordinates, index, malformed, one};
use crate::program::{Op, OpKind};
use crate::scalar::{Certainty, Scalar};
use crate::types::Number;

impl Executor<'_> {
    pub(super) fn shape(&mut self, op: &Op) -> Outcome {
        let result = self.tile_type(*op.results.first().ok_or_else(|| malformed("the op has a result"))?)?.clone();
        let count = result.count();
        let shape = &result.shape;
        if let OpKind::Constant(bits) = &op.kind {
            return match bits.len() {
                1 => one(vec![Scalar::exact(bits[0]); count]),
                _ => one(bits.iter().copied().map(Scalar::exact).collect()),
            };
        }
        if op.kind == OpKind::Iota {
            return one((0..count as u64).map(Scalar::exact).collect());
        }
        let source = self.elements(op.operands[0])?;
        let from = self.tile_type(op.operands[0])?.shape.clone();
        let pick = |f: &dyn Fn(Vec<usize>) -> Scalar| one((0..count).map(|i| f(coordinates(i, shape))).collect());
        match &op.kind {
            OpKind::Reshape => one(source.to_vec()),
            OpKind::Broadcast => pick(&|mut at| {
                for (a, n) in at.iter_mut().zip(&from) {
                    *a %= n;
                }
                source[index(&at, &from)]
            }),
            OpKind::Permute(permutation) => pick(&|at| {
                let mut there = vec![0; at.len()];
                for (a, p) in at.iter().zip(permutation) {
                    there[*p] = *a;
                }
                source[index(&there, &from)]
            }),
            OpKind::Cat { dim } => {
                let right = self.elements(op.operands[1])?;
                let right_shape = self.tile_type(op.operands[1])?.shape.clone();
                pick(&|mut at| {
                    if at[*dim] < from[*dim] {
                        return source[index(&at, &from)];
                    }
                    at[*dim] -= from[*dim];
                    right[index(&at, &right_shape)]
                })
            }
            OpKind::Extract => {
                let mut origin = vec![];
                for (d, v) in op.operands[1..].iter().enumerate() {
                    let slice = self.scalar(*v, "an index")?;
                    let slices = from[d] / shape[d];
                    if slice >= slices as u64 {
                        return Err(Cause::Undefined(format!(
                            "slice {slice} is out of bounds: dimension {d} has {slices} slices"
                        )));
                    }
                    origin.push(slice as usize * shape[d]);
                }
                pick(&|at| {
                    let there: Vec<usize> = at.iter().zip(&origin).map(|(a, o)| a + o).collect();
                    source[index(&there, &from)]
                })
            }
            OpKind::Insert => {
                let destination = self.elements(op.operands[1])?;
                let mut chosen = vec![];
                for (d, v) in op.operands[2..].iter().enumerate() {
                    let slice = self.scalar(*v, "an index")?;
                    let slices = shape[d] / from[d];
                    if slice >= slices as u64 {
                        return Err(Cause::Undefined(format!(
                            "slice {slice} is out of bounds: dimension {d} has {slices} slices"
                        )));
                    }
                    chosen.push(slice as usize);
                }
                pick(&|at| {
                    let is_there = at.iter().zip(&from).zip(&chosen).all(|((a, n), slice)| a / n == *slice);
                    let inside: Vec<usize> = at.iter().zip(&from).map(|(a, n)| a % n).collect();
                    if is_there { source[index(&inside, &from)] } else { destination[index(&at, shape)] }
                })
            }
            OpKind::Pack | OpKind::Unpack => {
                let (n, to) = (self.number(op.operands[0])?, self.number(op.results[0])?);
                one(repack(&source, n, to, count))
            }
            _ => Err(malformed("the op does not move elements")),
        }
    }
}

/// The same bits, lowest first, split into elements of another width. An element is known if all its bits are known.
fn repack(source: &[Scalar], from: Number, to: Number, count: usize) -> Vec<Scalar> {
    let (width, target) = (from.packed_width() as usize, to.packed_width() as usize);
    // tf32 occupies the high bits of its word.
    let pad = |n: Number| n.packed_width() - n.width();
    let mut out = Vec::with_capacity(count);
    for i in 0..count {
        let mut element = Scalar::exact(0);
        for bit in 0..target {
            let at = i * target + bit;
            let Some(part) = source.get(at / width) else { break };
            let word = part.bits << pad(from);
            element.bits |= (word >> (at % width) & 1) << bit;
            if part.certainty != Certainty::Exact {
                element.certainty = Certainty::Unknown;
            }
        }
        element.bits >>= pad(to);
        out.push(element);
    }
    out
}
