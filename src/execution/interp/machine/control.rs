//! Control flow. The regions around the current op are a stack of frames, so a tile block can be suspended between
//! any two ops and resumed later, after other tile blocks have run.

use super::{Cause, Datum, Error, Executor, Flow, malformed};
use crate::int;
use crate::program::{Block, Op, OpKind, Signedness};
use crate::scalar::Scalar;
use crate::types::Number;
use std::rc::Rc;
use std::time::Instant;

/// An active region.
pub(super) struct Frame<'p> {
    block: &'p Block,
    /// Index of the next op.
    next: usize,
    /// Addresses of scratch memory that lives until the current iteration of the region ends.
    scratch: Vec<u64>,
    parent: Parent<'p>,
}

/// The op that a region belongs to.
enum Parent<'p> {
    Nothing,
    If(&'p Op),
    For { op: &'p Op, variable: Number, at: i128, high: i128, step: i128 },
    Loop(&'p Op),
}

impl<'p> Frame<'p> {
    /// A region without an enclosing control-flow op: the body of an entry or of an aggregate.
    pub(super) fn outermost(block: &'p Block) -> Frame<'p> {
        Frame::of(block, Parent::Nothing)
    }

    /// The last op that ran.
    pub(super) fn last_op(&self) -> Option<&'p Op> {
        self.block.ops.get(self.next.checked_sub(1)?)
    }

    fn of(block: &'p Block, parent: Parent<'p>) -> Frame<'p> {
        Frame { block, next: 0, scratch: vec![], parent }
    }
}

/// How a time slice of a tile block ended.
pub(super) enum SliceEnd {
    /// The tile block has finished.
    Done(Flow),
    /// The slice reached its maximum number of ops.
    Stopped,
    /// An access returned the same value as the last time it ran, so the tile block may be waiting for another one.
    Waiting,
}

/// What to run after an op.
enum Next<'p> {
    Op,
    Enter(Frame<'p>),
    Leave(Flow),
}

impl Executor<'_> {
    /// Runs a region to its end.
    pub(super) fn region(&mut self, block: &Block) -> Result<Flow, Error> {
        let mut stack = vec![Frame::outermost(block)];
        loop {
            match self.run_slice(&mut stack, u64::MAX) {
                Ok(SliceEnd::Done(flow)) => return Ok(flow),
                Ok(SliceEnd::Stopped | SliceEnd::Waiting) => {}
                Err(e) => {
                    self.leave_all(stack);
                    return Err(e);
                }
            }
        }
    }

    /// Runs the innermost region and the enclosing ones for at most `ops` ops.
    pub(super) fn run_slice(&mut self, stack: &mut Vec<Frame<'_>>, ops: u64) -> Result<SliceEnd, Error> {
        for _ in 0..ops {
            let Some(frame) = stack.last_mut() else { return Ok(SliceEnd::Done(Flow::Yield(vec![]))) };
            let block = frame.block;
            let next = match block.ops.get(frame.next) {
                Some(op) => {
                    frame.next += 1;
                    self.op(op, &mut frame.scratch)?
                }
                None => Next::Leave(Flow::Yield(vec![])),
            };
            match next {
                Next::Op => {}
                Next::Enter(frame) => stack.push(frame),
                Next::Leave(flow) => {
                    if let Some(flow) = self.leave(stack, flow)? {
                        return Ok(SliceEnd::Done(flow));
                    }
                }
            }
            if std::mem::take(&mut self.waits) {
                return Ok(SliceEnd::Waiting);
            }
        }
        Ok(SliceEnd::Stopped)
    }

    /// Frees the scratch memory of regions that are abandoned.
    pub(super) fn leave_all(&mut self, stack: Vec<Frame<'_>>) {
        stack.into_iter().for_each(|frame| self.release(frame.scratch));
    }

    fn release(&mut self, scratch: Vec<u64>) {
        for address in scratch {
            let size = self.memory.contents(address).map_or(0, |(bytes, _)| bytes.len() as u64);
            if let Some(races) = &mut self.races {
                races.release(address, size);
            }
            self.memory.release(address);
        }
    }

    /// Leaves the innermost region and every enclosing one that the flow passes through. Returns the flow if it
    /// leaves the outermost region.
    fn leave(&mut self, stack: &mut Vec<Frame<'_>>, mut flow: Flow) -> Result<Option<Flow>, Error> {
        while let Some(mut frame) = stack.pop() {
            self.release(std::mem::take(&mut frame.scratch));
            frame.next = 0;
            match (frame.parent, flow) {
                (Parent::Nothing, out) => return Ok(Some(out)),
                (Parent::If(op), Flow::Yield(data)) => {
                    self.assign(&op.results, data).map_err(|c| self.error(op, c))?;
                    return Ok(None);
                }
                (Parent::If(_), out) => flow = out,
                (Parent::For { op, variable, at, high, step }, Flow::Continue(data) | Flow::Yield(data)) => {
                    let parent = Parent::For { op, variable, at: at + step, high, step };
                    let again = self.iterate(Frame { parent, ..frame }, data)?;
                    stack.extend(again);
                    return Ok(None);
                }
                (Parent::For { op, .. }, out) => return Err(self.error(op, out.misplaced("for"))),
                (Parent::Loop(op), Flow::Continue(data) | Flow::Yield(data)) => {
                    self.assign(&frame.block.arguments, data).map_err(|c| self.error(op, c))?;
                    stack.push(Frame { parent: Parent::Loop(op), ..frame });
                    return Ok(None);
                }
                (Parent::Loop(op), Flow::Break(data)) => {
                    self.assign(&op.results, data).map_err(|c| self.error(op, c))?;
                    return Ok(None);
                }
                (Parent::Loop(op), out) => return Err(self.error(op, out.misplaced("loop"))),
            }
        }
        Ok(Some(flow))
    }

    /// Starts the next iteration of a counted loop. At the end, assigns the carried values to the results and returns
    /// `None`.
    fn iterate<'p>(&mut self, frame: Frame<'p>, mut carried: Vec<Datum>) -> Result<Option<Frame<'p>>, Error> {
        let Parent::For { op, variable, at, high, .. } = frame.parent else { return Ok(Some(frame)) };
        if at >= high {
            self.assign(&op.results, carried).map_err(|c| self.error(op, c))?;
            return Ok(None);
        }
        let mut arguments = vec![Datum::Tile(Rc::new(vec![Scalar::exact(int::wrap(at, variable))]))];
        arguments.append(&mut carried);
        self.assign(&frame.block.arguments, arguments).map_err(|c| self.error(op, c))?;
        Ok(Some(frame))
    }

    /// Runs one op without its regions. `scratch` collects memory that lives as long as the enclosing region.
    fn op<'p>(&mut self, op: &'p Op, scratch: &mut Vec<u64>) -> Result<Next<'p>, Error> {
        self.report.ops += 1;
        self.location = op.location.clone();
        if self.limits.ops.is_some_and(|n| self.report.ops > n) {
            return Err(self.error(op, Cause::Limit("the op limit was reached".into())));
        }
        if self.report.ops.is_multiple_of(64) && self.deadline.is_some_and(|d| Instant::now() > d) {
            return Err(self.error(op, Cause::Limit("the time limit was reached".into())));
        }
        let results = match &op.kind {
            OpKind::Yield => return Ok(Next::Leave(Flow::Yield(self.data(&op.operands)))),
            OpKind::Break => return Ok(Next::Leave(Flow::Break(self.data(&op.operands)))),
            OpKind::Continue => return Ok(Next::Leave(Flow::Continue(self.data(&op.operands)))),
            OpKind::Return => return Ok(Next::Leave(Flow::Return)),
            OpKind::If => return self.branch(op),
            OpKind::For { unsigned } => return self.count(op, *unsigned),
            OpKind::Loop => {
                let body = self.body(op)?;
                let carried = self.data(&op.operands);
                self.assign(&body.arguments, carried).map_err(|c| self.error(op, c))?;
                return Ok(Next::Enter(Frame::of(body, Parent::Loop(op))));
            }
            OpKind::Reduce { dim, identities } => self.reduce(op, *dim, identities)?,
            OpKind::Scan { dim, reverse, identities } => self.scan(op, *dim, *reverse, identities)?,
            OpKind::Alloca { count, alignment, .. } => {
                let address = self.alloca(op, *count, *alignment).map_err(|c| self.error(op, c))?;
                scratch.push(address);
                vec![Datum::Tile(Rc::new(vec![Scalar::exact(address)]))]
            }
            _ => self.evaluate(op).map_err(|c| self.error(op, c))?,
        };
        self.waits = op.kind.observes_others() && self.is_as_before(op, &results);
        self.assign(&op.results, results).map_err(|c| self.error(op, c))?;
        Ok(Next::Op)
    }

    /// Whether an access returned the same value as the last time this tile block ran it.
    fn is_as_before(&self, op: &Op, results: &[Datum]) -> bool {
        let before = op.results.first().map(|v| &self.values[v.index()]);
        matches!((before, results.first()), (Some(Datum::Tile(a)), Some(Datum::Tile(b))) if a == b)
    }

    fn body<'p>(&self, op: &'p Op) -> Result<&'p Block, Error> {
        match &op.regions[..] {
            [body] => Ok(body),
            _ => Err(self.error(op, malformed("a loop has one region"))),
        }
    }

    fn branch<'p>(&mut self, op: &'p Op) -> Result<Next<'p>, Error> {
        let condition = self.scalar(op.operands[0], "the condition").map_err(|c| self.error(op, c))?;
        let region = op.regions.get(usize::from(condition == 0));
        Ok(region.map_or(Next::Op, |region| Next::Enter(Frame::of(region, Parent::If(op)))))
    }

    fn count<'p>(&mut self, op: &'p Op, unsigned: bool) -> Result<Next<'p>, Error> {
        let bound = |run: &mut Self, i: usize| -> Result<i128, Cause> {
            let n = run.number(op.operands[i])?;
            let bits = run.scalar(op.operands[i], "a bound of the loop")?;
            Ok(int::value(bits, n, if unsigned { Signedness::Unsigned } else { Signedness::Signed }))
        };
        let mut bounds = [0; 3];
        for (i, value) in bounds.iter_mut().enumerate() {
            *value = bound(self, i).map_err(|c| self.error(op, c))?;
        }
        let [at, high, step] = bounds;
        let variable = self.number(op.operands[0]).map_err(|c| self.error(op, c))?;
        if step <= 0 {
            return Err(self.error(op, Cause::Undefined("the step of a loop is not positive".into())));
        }
        let body = self.body(op)?;
        let carried = self.data(&op.operands[3..]);
        let first = self.iterate(Frame::of(body, Parent::For { op, variable, at, high, step }), carried)?;
        Ok(first.map_or(Next::Op, Next::Enter))
    }
}

impl Flow {
    fn misplaced(&self, inside: &str) -> Cause {
        let name = match self {
            Flow::Yield(_) => "yield",
            Flow::Break(_) => "break",
            Flow::Continue(_) => "continue",
            Flow::Return => "return",
        };
        Cause::Malformed(format!("'{name}' inside '{inside}'"))
    }
}
