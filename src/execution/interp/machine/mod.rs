//! Runs programs.
//!
//! A tile block runs its ops in their order, and tile blocks run one after another, but for those that wait for others
//! ([`turns`]): one of the executions that the language allows, whatever the tokens say. A value is a tile of
//! [`Scalar`]s, a view or a token, and an op computes its results element by element. What has no meaning ends the run
//! with an [`Error`] that names the op.

mod access;
mod aggregate;
mod control;
mod elementwise;
mod matrix;
mod promises;
mod shape;
#[cfg(test)]
mod tests;
mod turns;

use self::aggregate::Bound;
use self::promises::Breaches;
pub use self::promises::{BrokenPromise, Promises};
use crate::memory::{Fault, Memory, Place};
use crate::program::{Entry, Op, OpKind, Program, Value};
use crate::race::{Past, Races};
use crate::scalar::{Scalar, State};
use crate::types::{Element, Number, TileType, Type};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Elements of a tile, row by row.
pub type Elements = Rc<Vec<Scalar>>;

/// A tensor in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    pub base: u64,
    pub shape: Vec<u64>,
    /// In elements.
    pub strides: Vec<u64>,
}

/// What a value is at run time.
#[derive(Clone, Debug, PartialEq)]
enum Datum {
    /// Not computed yet.
    Unset,
    Tile(Elements),
    /// Also of views: how they cut the tensor is in their type.
    Tensor(Rc<Tensor>),
    Token(Past),
}

/// Why a run ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The program does what the language leaves undefined.
    Undefined(String),
    /// A tile that lies wholly outside of its view, which is undefined too.
    Outside { index: u64, dim: usize, space: u64 },
    /// A wild access.
    Fault(Fault),
    /// The run was too long.
    Limit(String),
    /// The launch does not fit the program, or the program is not one that the verifier accepts.
    Malformed(String),
}

/// An error, with the op and the tile block that it happened in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{location}: '{op}' in tile block ({}, {}, {}): {}", .block[0], .block[1], .block[2], describe(.cause))]
pub struct Error {
    pub cause: Cause,
    pub op: String,
    pub location: Arc<str>,
    pub block: [u32; 3],
}

fn describe(cause: &Cause) -> String {
    match cause {
        Cause::Undefined(text) => format!("undefined behaviour: {text}"),
        Cause::Outside { index, dim, space } => format!(
            "undefined behaviour: index {index} along dimension {dim}, whose index space has {space}: a tile that sticks \
             out of its view is padded and masked, but not one that is wholly outside"
        ),
        Cause::Fault(fault) => fault.to_string(),
        Cause::Limit(text) | Cause::Malformed(text) => text.clone(),
    }
}

/// How long a program may run, and what it may not do.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// The most ops, each op in a loop counted as often as it runs.
    pub ops: Option<u64>,
    pub time: Option<Duration>,
    /// Accesses that conflict and that no token orders end the run, also those of different tile blocks.
    pub races: bool,
    pub promises: Promises,
    pub outside: Outside,
}

/// What an index outside of the index space of a view is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Outside {
    /// Undefined behaviour, as in the language.
    #[default]
    Undefined,
    /// That of a tile without elements in the view: loads give the padding, and stores do nothing.
    Masked,
}

/// What a run leaves besides memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// What was printed.
    pub output: String,
    /// Messages of assertions that failed.
    pub failed_assertions: Vec<String>,
    /// Ops that ran.
    pub ops: u64,
    /// Something was decided by an element that may have other values: where, and what. A compiled program may decide
    /// otherwise, so that nothing can be said about its results.
    pub guess: Option<String>,
}

/// A program with its memory.
pub struct Machine<'p> {
    program: &'p Program,
    pub memory: Memory,
    /// With [`Promises::Report`], one for each place in the source.
    pub broken_promises: Vec<BrokenPromise>,
    globals: FxHashMap<&'p str, u64>,
    sums: Sums,
}

/// Elements that atomic sums went into: the last one, and what was added up.
type Sums = FxHashMap<Place, (Scalar, Bound)>;

impl<'p> Machine<'p> {
    /// Lays out the globals.
    pub fn new(program: &'p Program) -> Machine<'p> {
        let mut memory = Memory::default();
        let mut globals = FxHashMap::default();
        for g in &program.globals {
            let n = g.element;
            let size = (g.values.len() as u64 * u64::from(n.stored_bits())).div_ceil(8);
            let address = memory.allocate_unknown(&format!("@{}", g.name), size, g.alignment.max(1));
            for (i, bits) in g.values.iter().enumerate() {
                // The allocation has room for each of them.
                let _ = memory.write(place(address, i as u64, n), n, Scalar::exact(*bits));
            }
            if g.constant {
                memory.protect(address);
            }
            globals.insert(g.name.as_str(), address);
        }
        Machine { program, memory, broken_promises: vec![], globals, sums: Sums::default() }
    }

    /// Address of a global.
    pub fn global(&self, name: &str) -> Option<u64> {
        self.globals.get(name).copied()
    }

    /// The first elements of an array of numbers in memory. Those that are not there are unknown.
    pub fn array(&mut self, address: u64, n: Number, count: usize) -> Vec<Scalar> {
        let element = |m: &mut Memory, i| m.read(place(address, i, n), n).unwrap_or(Scalar::unknown(0));
        (0..count as u64).map(|i| element(&mut self.memory, i)).collect()
    }

    /// Runs all tile blocks of a launch. Arguments are the bits of the entry's parameters.
    pub fn launch(&mut self, entry: &str, grid: [u32; 3], args: &[u64], limits: Limits) -> Result<Report, Error> {
        let program = self.program;
        let malformed = |text: String| Error {
            cause: Cause::Malformed(text),
            op: "entry".into(),
            location: entry.into(),
            block: [0; 3],
        };
        let Some(found) = program.entries.iter().find(|e| e.name == entry) else {
            return Err(malformed(format!("the program has no entry '{entry}'")));
        };
        let parameters = &found.body.arguments;
        if parameters.len() != args.len() {
            return Err(malformed(format!("{} arguments for {} parameters", args.len(), parameters.len())));
        }
        let mut report = Report::default();
        self.run_all(found, grid, args, limits, &mut report)?;
        Ok(report)
    }
}

/// Where element `index` of an array of numbers lies.
fn place(base: u64, index: u64, n: Number) -> Place {
    match n {
        Number::E2m1 => Place { address: base.wrapping_add(index / 2), high_nibble: index % 2 == 1 },
        _ => Place::at(base.wrapping_add(index.wrapping_mul(u64::from(n.stored_bits() / 8)))),
    }
}

/// How a block was left.
enum Flow {
    Yield(Vec<Datum>),
    Break(Vec<Datum>),
    Continue(Vec<Datum>),
    Return,
}

/// One tile block at work.
struct Run<'r> {
    entry: &'r Entry,
    memory: &'r mut Memory,
    races: Option<&'r mut Races>,
    globals: &'r FxHashMap<&'r str, u64>,
    sums: &'r mut Sums,
    values: Vec<Datum>,
    breaches: Breaches,
    broken_promises: &'r mut Vec<BrokenPromise>,
    /// By value, whether it is a stride and nothing else.
    stride_only: &'r [bool],
    /// Whether the op that has run may be waiting for another tile block.
    waits: bool,
    /// While the body of an aggregate runs, whether an op of it has rounded.
    rounded: Option<bool>,
    /// Of the op that runs.
    location: Arc<str>,
    block: [u32; 3],
    grid: [u32; 3],
    limits: Limits,
    deadline: Option<Instant>,
    report: &'r mut Report,
}

/// An op's results or the reason why there are none.
type Outcome = Result<Vec<Datum>, Cause>;

fn malformed(text: &str) -> Cause {
    Cause::Malformed(text.into())
}

fn one(elements: Vec<Scalar>) -> Outcome {
    Ok(vec![Datum::Tile(Rc::new(elements))])
}

impl Run<'_> {
    fn error(&self, op: &Op, cause: Cause) -> Error {
        Error { cause, op: op.kind.mnemonic().into(), location: op.location.clone(), block: self.block }
    }

    //===-- values ----------------------------------------------------------//

    fn tile_type(&self, v: Value) -> Result<&TileType, Cause> {
        self.entry.ty(v).tile().ok_or_else(|| malformed("a tile was expected"))
    }

    fn number(&self, v: Value) -> Result<Number, Cause> {
        self.tile_type(v)?.element.number().ok_or_else(|| malformed("a tile of numbers was expected"))
    }

    fn elements(&self, v: Value) -> Result<Elements, Cause> {
        match &self.values[v.index()] {
            Datum::Tile(t) => Ok(t.clone()),
            _ => Err(malformed("a tile that was computed was expected")),
        }
    }

    fn tensor(&self, v: Value) -> Result<Rc<Tensor>, Cause> {
        match &self.values[v.index()] {
            Datum::Tensor(t) => Ok(t.clone()),
            _ => Err(malformed("a view that was computed was expected")),
        }
    }

    /// The bits of an element that something is decided by.
    fn decide(&mut self, x: Scalar, what: &str) -> u64 {
        if x.state != State::Exact && self.report.guess.is_none() {
            self.report.guess = Some(format!("{}: {what}", self.location));
        }
        x.bits
    }

    /// The only element of a scalar, which something is decided by.
    fn scalar(&mut self, v: Value, what: &str) -> Result<u64, Cause> {
        let elements = self.elements(v)?;
        let first = *elements.first().ok_or_else(|| malformed("a scalar was expected"))?;
        Ok(self.decide(first, what))
    }

    fn data(&self, values: &[Value]) -> Vec<Datum> {
        values.iter().map(|v| self.values[v.index()].clone()).collect()
    }

    fn assign(&mut self, values: &[Value], data: Vec<Datum>) -> Result<(), Cause> {
        if values.len() != data.len() {
            return Err(Cause::Malformed(format!("{} values for {} results", data.len(), values.len())));
        }
        for (v, d) in values.iter().zip(data) {
            if let (Datum::Tile(e), Type::Tile(t)) = (&d, self.entry.ty(*v))
                && e.len() != t.count()
            {
                return Err(Cause::Malformed(format!("{} elements for a {t}", e.len())));
            }
            self.values[v.index()] = d;
        }
        Ok(())
    }

    //===-- ops -------------------------------------------------------------//

    /// Ops without regions.
    fn evaluate(&mut self, op: &Op) -> Outcome {
        match &op.kind {
            OpKind::Constant(_)
            | OpKind::Iota
            | OpKind::Broadcast
            | OpKind::Reshape
            | OpKind::Permute(_)
            | OpKind::Cat { .. }
            | OpKind::Extract
            | OpKind::Insert
            | OpKind::Pack
            | OpKind::Unpack => self.shape(op),
            OpKind::MmaF { .. } | OpKind::MmaI { .. } | OpKind::MmaFScaled => self.matrix(op),
            OpKind::LoadPtr { .. }
            | OpKind::StorePtr { .. }
            | OpKind::AtomicCas { .. }
            | OpKind::AtomicRmw { .. }
            | OpKind::GetGlobal(_)
            | OpKind::MakeTensorView
            | OpKind::MakeView
            | OpKind::LoadView { .. }
            | OpKind::StoreView { .. }
            | OpKind::AtomicRedView { .. }
            | OpKind::MultimemLoadReduce { .. }
            | OpKind::MultimemReduce { .. }
            | OpKind::MultimemStore { .. }
            | OpKind::GetTensorShape
            | OpKind::GetIndexSpaceShape => self.access(op),
            OpKind::Offset => self.offset(op),
            OpKind::MakeToken => Ok(vec![Datum::Token(Past::default())]),
            // The launch stands alone, and addresses have no aliases here: what is ordered is what tokens order.
            OpKind::JoinTokens | OpKind::LaunchDependents | OpKind::WaitForGrids | OpKind::FenceAlias => {
                let mut all = Past::default();
                for v in &op.operands {
                    match &self.values[v.index()] {
                        Datum::Token(past) => all = all.join(past),
                        _ => return Err(malformed("a token that was computed was expected")),
                    }
                }
                Ok(vec![Datum::Token(all)])
            }
            OpKind::GetTileBlockId => Ok(self.grid_position(self.block)),
            OpKind::GetNumTileBlocks => Ok(self.grid_position(self.grid)),
            OpKind::Assert(message) => self.assert(op, message),
            OpKind::Assume(promise) => self.assume(op, promise),
            OpKind::Print { format, token } => {
                let count = op.operands.len() - usize::from(*token);
                let mut arguments = vec![];
                for v in &op.operands[..count] {
                    arguments.push((self.tile_type(*v)?.clone(), self.elements(*v)?));
                }
                for e in arguments.iter().flat_map(|(_, e)| e.to_vec()) {
                    self.decide(e, "what is printed");
                }
                let text = crate::print::format(format, &arguments).map_err(Cause::Undefined)?;
                self.report.output += &text;
                let after = match op.operands.last().filter(|_| *token).map(|v| &self.values[v.index()]) {
                    Some(Datum::Token(past)) => past.clone(),
                    _ => Past::default(),
                };
                // Before 13.2 the op had no token.
                Ok(vec![Datum::Token(after); op.results.len()])
            }
            _ => self.elementwise(op),
        }
    }

    fn grid_position(&self, of: [u32; 3]) -> Vec<Datum> {
        of.iter().map(|n| Datum::Tile(Rc::new(vec![Scalar::exact((*n).into())]))).collect()
    }

    fn assert(&mut self, op: &Op, message: &str) -> Outcome {
        let elements = self.elements(op.operands[0])?;
        for (i, e) in elements.iter().enumerate() {
            if self.decide(*e, "an asserted condition") == 0 {
                self.report.failed_assertions.push(format!("{}: {message} (element {i})", op.location));
            }
        }
        Ok(vec![])
    }
}

/// Index along every dimension of element `i`.
fn coordinates(mut i: usize, shape: &[usize]) -> Vec<usize> {
    let mut at = vec![0; shape.len()];
    for (d, n) in shape.iter().enumerate().rev() {
        at[d] = i % n;
        i /= n;
    }
    at
}

/// The number of the element at `at`.
fn index(at: &[usize], shape: &[usize]) -> usize {
    at.iter().zip(shape).fold(0, |i, (a, n)| i * n + a)
}

/// Whether an element may stand where only numbers may.
fn number_of(e: Element) -> Result<Number, Cause> {
    e.number().ok_or_else(|| malformed("numbers were expected, not pointers"))
}
