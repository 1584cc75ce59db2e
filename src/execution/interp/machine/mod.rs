//! Runs programs.
//!
//! Tile blocks run one after another, except that a tile block that waits for others is suspended ([`scheduler`]). Each
//! runs its ops in program order. This is one of the executions that the language allows, whatever the tokens are. A
//! value is a tile of [`Scalar`]s, a view or a token, and an op computes its results element by element. Undefined
//! behavior ends the run with an [`Error`] that names the op.

mod access;
mod aggregate;
mod control;
mod elementwise;
mod foreign;
mod matrix;
mod promises;
mod scheduler;
mod shape;
#[cfg(test)]
mod tests;

use self::aggregate::Bound;
pub use self::foreign::{HostCall, HostFunction, HostTile};
use self::promises::Breaches;
pub use self::promises::{BrokenPromise, Promises};
use crate::memory::{ElementAddress, Fault, Memory};
use crate::program::{Entry, Op, OpKind, Program, Value};
use crate::race::{EventSet, Races};
use crate::scalar::{Certainty, Scalar};
use crate::types::{Element, Number, TileType, Type};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Elements of a tile in row-major order.
pub type Elements = Rc<Vec<Scalar>>;

/// A tensor in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    pub base: u64,
    pub shape: Vec<u64>,
    /// In elements.
    pub strides: Vec<u64>,
}

/// A value at run time.
#[derive(Clone, Debug, PartialEq)]
enum Datum {
    /// Not computed yet.
    Unset,
    Tile(Elements),
    /// Also used for views: their type says how they tile the tensor.
    Tensor(Rc<Tensor>),
    Token(EventSet),
}

/// Why a run ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The program has behavior that the language leaves undefined.
    Undefined(String),
    /// A tile that is entirely outside its view, which is also undefined behavior.
    Outside { index: u64, dim: usize, space: u64 },
    /// An invalid memory access.
    Fault(Fault),
    /// The run reached a limit.
    Limit(String),
    /// The launch does not match the program, or the verifier would reject the program.
    Malformed(String),
}

/// An error, with the op and the tile block in which it occurred.
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
        Cause::Undefined(text) => format!("undefined behavior: {text}"),
        Cause::Outside { index, dim, space } => format!(
            "undefined behavior: index {index} is out of bounds: dimension {dim} of the index space has size \
             {space}; only a tile that is partly inside its view is padded and masked"
        ),
        Cause::Fault(fault) => fault.to_string(),
        Cause::Limit(text) | Cause::Malformed(text) => text.clone(),
    }
}

/// Limits on the run, and the checks to perform.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// Maximum number of executed ops.
    pub ops: Option<u64>,
    pub time: Option<Duration>,
    /// Report conflicting accesses that no token orders as errors, including accesses of different tile blocks.
    pub races: bool,
    pub promises: Promises,
    pub outside: Outside,
    /// Combine the elements of reductions and scans in the canonical order of `docs/numerics.md`, as compiled code does
    /// with `numerics=pinned`. Their results are then as exact as their elements.
    pub canonical: bool,
    /// Compute the functions of [`portable`](crate::portable) as compiled code does with `numerics=portable`. Their
    /// results are then exact.
    pub portable: bool,
}

/// How an index outside the index space of a view behaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Outside {
    /// Undefined behavior, as in the language.
    #[default]
    Undefined,
    /// As a tile without elements in the view: a load returns the padding, a store does nothing.
    Masked,
}

/// The results of a run besides memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The printed text.
    pub output: String,
    /// Messages of the assertions that failed.
    pub failed_assertions: Vec<String>,
    /// Number of executed ops.
    pub ops: u64,
    /// Set if the control flow, an address or an output depended on an element that may have other values: the
    /// location and the kind of decision. A compiled program may decide differently, so its results cannot be
    /// compared.
    pub guess: Option<String>,
}

/// A program with its memory.
pub struct Machine<'p> {
    program: &'p Program,
    pub memory: Memory,
    /// Filled with [`Promises::Report`]: one entry for each location in the source.
    pub broken_promises: Vec<BrokenPromise>,
    globals: FxHashMap<&'p str, u64>,
    sums: Sums,
    /// The functions that stand for functions of tile libraries, by the names of their declarations.
    host: FxHashMap<String, HostFunction>,
}

/// Elements that were the target of atomic sums: the last value, and the bound for the summands.
type Sums = FxHashMap<ElementAddress, (Scalar, Bound)>;

impl<'p> Machine<'p> {
    /// Allocates and initializes the globals.
    pub fn new(program: &'p Program) -> Machine<'p> {
        let mut memory = Memory::default();
        let mut globals = FxHashMap::default();
        for g in &program.globals {
            let n = g.element;
            let size = (g.values.len() as u64 * u64::from(n.stored_bits())).div_ceil(8);
            let address = memory.allocate_unknown(&format!("@{}", g.name), size, g.alignment.max(1));
            for (i, bits) in g.values.iter().enumerate() {
                // The allocation has room for all elements.
                let _ = memory.write(element_address(address, i as u64, n), n, Scalar::exact(*bits));
            }
            if g.constant {
                memory.protect(address);
            }
            globals.insert(g.name.as_str(), address);
        }
        Machine { program, memory, broken_promises: vec![], globals, sums: Sums::default(), host: FxHashMap::default() }
    }

    /// Lets a function compute the calls of `@name`, a function of a tile library. It replaces an earlier one.
    pub fn register(&mut self, name: &str, function: HostFunction) {
        self.host.insert(name.to_owned(), function);
    }

    /// Address of a global.
    pub fn global(&self, name: &str) -> Option<u64> {
        self.globals.get(name).copied()
    }

    /// The first `count` elements of an array of numbers in memory. Elements outside of allocations are unknown.
    pub fn array(&mut self, address: u64, n: Number, count: usize) -> Vec<Scalar> {
        let element = |m: &mut Memory, i| m.read(element_address(address, i, n), n).unwrap_or(Scalar::unknown(0));
        (0..count as u64).map(|i| element(&mut self.memory, i)).collect()
    }

    /// Runs all tile blocks of a launch. The arguments are the bits of the entry's parameters.
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

/// The address of element `index` of an array of numbers.
fn element_address(base: u64, index: u64, n: Number) -> ElementAddress {
    match n {
        Number::E2m1 => ElementAddress { address: base.wrapping_add(index / 2), high_nibble: index % 2 == 1 },
        _ => ElementAddress::at(base.wrapping_add(index.wrapping_mul(u64::from(n.stored_bits() / 8)))),
    }
}

/// How control leaves a block.
enum Flow {
    Yield(Vec<Datum>),
    Break(Vec<Datum>),
    Continue(Vec<Datum>),
    Return,
}

/// The state of a tile block while it runs.
struct Executor<'r> {
    entry: &'r Entry,
    memory: &'r mut Memory,
    races: Option<&'r mut Races>,
    globals: &'r FxHashMap<&'r str, u64>,
    sums: &'r mut Sums,
    host: &'r FxHashMap<String, HostFunction>,
    values: Vec<Datum>,
    breaches: Breaches,
    broken_promises: &'r mut Vec<BrokenPromise>,
    /// For each value, whether it is used only as a stride.
    stride_only: &'r [bool],
    /// Whether the last op may be waiting for another tile block.
    waits: bool,
    /// While the body of an aggregate runs: whether one of its ops has rounded.
    rounded: Option<bool>,
    /// The location of the current op.
    location: Arc<str>,
    block: [u32; 3],
    grid: [u32; 3],
    limits: Limits,
    deadline: Option<Instant>,
    report: &'r mut Report,
}

/// The results of an op, or the reason for which it failed.
type Outcome = Result<Vec<Datum>, Cause>;

fn malformed(text: &str) -> Cause {
    Cause::Malformed(text.into())
}

fn one(elements: Vec<Scalar>) -> Outcome {
    Ok(vec![Datum::Tile(Rc::new(elements))])
}

impl Executor<'_> {
    fn error(&self, op: &Op, cause: Cause) -> Error {
        Error { cause, op: op.kind.mnemonic().into(), location: op.location.clone(), block: self.block }
    }

    //===-- values ----------------------------------------------------------//

    fn tile_type(&self, v: Value) -> Result<&TileType, Cause> {
        self.entry.ty(v).tile().ok_or_else(|| malformed("expected a tile"))
    }

    fn number(&self, v: Value) -> Result<Number, Cause> {
        self.tile_type(v)?.element.number().ok_or_else(|| malformed("expected a tile of numbers"))
    }

    fn elements(&self, v: Value) -> Result<Elements, Cause> {
        match &self.values[v.index()] {
            Datum::Tile(t) => Ok(t.clone()),
            _ => Err(malformed("expected a computed tile")),
        }
    }

    fn tensor(&self, v: Value) -> Result<Rc<Tensor>, Cause> {
        match &self.values[v.index()] {
            Datum::Tensor(t) => Ok(t.clone()),
            _ => Err(malformed("expected a computed view")),
        }
    }

    /// Returns the bits of an element that a decision depends on, and records a guess if they are not exact.
    fn decide(&mut self, x: Scalar, what: &str) -> u64 {
        if x.certainty != Certainty::Exact && self.report.guess.is_none() {
            self.report.guess = Some(format!("{}: {what}", self.location));
        }
        x.bits
    }

    /// As [`Self::decide`], for the only element of a scalar.
    fn scalar(&mut self, v: Value, what: &str) -> Result<u64, Cause> {
        let elements = self.elements(v)?;
        let first = *elements.first().ok_or_else(|| malformed("expected a scalar"))?;
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

    /// Runs an op without regions.
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
            OpKind::ForeignCall { callee, constants } => self.foreign_call(op, callee, constants),
            OpKind::MakeToken => Ok(vec![Datum::Token(EventSet::default())]),
            // There are no dependent launches and no aliases of addresses here, so tokens alone order accesses.
            OpKind::JoinTokens | OpKind::LaunchDependents | OpKind::WaitForGrids | OpKind::FenceAlias => {
                let mut all = EventSet::default();
                for v in &op.operands {
                    match &self.values[v.index()] {
                        Datum::Token(past) => all = all.join(past),
                        _ => return Err(malformed("expected a computed token")),
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
                    self.decide(e, "a printed value");
                }
                let text = crate::print::format(format, &arguments).map_err(Cause::Undefined)?;
                self.report.output += &text;
                let after = match op.operands.last().filter(|_| *token).map(|v| &self.values[v.index()]) {
                    Some(Datum::Token(past)) => past.clone(),
                    _ => EventSet::default(),
                };
                // Before 13.2 the op did not return a token.
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

/// The coordinates of element `i`.
fn coordinates(mut i: usize, shape: &[usize]) -> Vec<usize> {
    let mut at = vec![0; shape.len()];
    for (d, n) in shape.iter().enumerate().rev() {
        at[d] = i % n;
        i /= n;
    }
    at
}

/// The index of the element at coordinates `at`.
fn index(at: &[usize], shape: &[usize]) -> usize {
    at.iter().zip(shape).fold(0, |i, (a, n)| i * n + a)
}

/// The number type of an element; an error for a pointer.
fn number_of(e: Element) -> Result<Number, Cause> {
    e.number().ok_or_else(|| malformed("expected numbers, not pointers"))
}
