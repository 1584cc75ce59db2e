//! Calls of functions of tile libraries, which a host function computes.
//!
//! A library defines a function by code for threads, which this interpreter does not run. The caller registers a host
//! function under the name of the function's declaration instead. It sees whole tiles, so it also defines the meaning
//! of the library's code: elements are in row-major order, as the bits of their type.
//!
//! Tokens order a call and do not reach the function. Its accesses to memory take part in no search for races.
//! Results are exact if all elements of the operands are; otherwise nothing is known about them.

use super::{Cause, Datum, Executor, Outcome, malformed};
use crate::memory::Memory;
use crate::program::{Constant, Op};
use crate::race::EventSet;
use crate::scalar::{Certainty, Scalar};
use crate::types::{TileType, Type};
use std::rc::Rc;

/// A tile as a host function sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct HostTile {
    pub ty: TileType,
    /// The bits of the elements in row-major order.
    pub elements: Vec<u64>,
}

/// A call of a function.
pub struct HostCall<'c> {
    /// The name of the declaration.
    pub callee: &'c str,
    /// The constant arguments in order.
    pub constants: &'c [Constant],
    /// The operands without tokens: one for each parameter, also for parameters that the function only writes.
    pub operands: &'c [HostTile],
    /// Results without tokens: the parameters that the function writes. Their elements are zero before the call.
    pub results: &'c mut [HostTile],
    pub memory: &'c mut Memory,
    /// The number of the tile block.
    pub block: [u32; 3],
}

/// Computes the results of a call. An error ends the run with its text.
pub type HostFunction = Rc<dyn Fn(&mut HostCall<'_>) -> Result<(), String>>;

impl Executor<'_> {
    pub(super) fn foreign_call(&mut self, op: &Op, callee: &str, constants: &[Constant]) -> Outcome {
        let Some(function) = self.host.get(callee).cloned() else {
            return Err(Cause::Malformed(format!(
                "no host function is registered for the function '@{callee}' of a tile library"
            )));
        };
        let (mut operands, mut past, mut is_exact) = (vec![], EventSet::default(), true);
        for v in &op.operands {
            if let Datum::Token(token) = &self.values[v.index()] {
                past = past.join(token);
                continue;
            }
            let elements = self.elements(*v)?;
            is_exact &= elements.iter().all(|e| e.certainty == Certainty::Exact);
            let elements = elements.iter().map(|e| e.bits).collect();
            operands.push(HostTile { ty: self.tile_type(*v)?.clone(), elements });
        }
        let mut results = vec![];
        for v in op.results.iter().filter(|v| !matches!(self.entry.ty(**v), Type::Token)) {
            let ty = self.tile_type(*v)?.clone();
            let elements = vec![0; ty.count()];
            results.push(HostTile { ty, elements });
        }
        let mut call = HostCall {
            callee,
            constants,
            operands: &operands,
            results: &mut results,
            memory: self.memory,
            block: self.block,
        };
        function(&mut call)
            .map_err(|text| Cause::Undefined(format!("the host function of '@{callee}' failed: {text}")))?;
        let scalar = |bits: u64| if is_exact { Scalar::exact(bits) } else { Scalar::unknown(bits) };
        let mut results = results.into_iter();
        let mut data = vec![];
        for v in &op.results {
            data.push(match self.entry.ty(*v) {
                Type::Token => Datum::Token(past.clone()),
                _ => {
                    let tile = results.next().ok_or_else(|| malformed("a call lacks a result"))?;
                    Datum::Tile(Rc::new(tile.elements.into_iter().map(scalar).collect()))
                }
            });
        }
        Ok(data)
    }
}
