//! The abstract program: agents, their operations, barriers and stages.

use std::ops::{Add, Div, Mul, Not, Range, Rem, Sub};

use crate::code::{flatten, needed_parameters};
use crate::run::Run;
use crate::violation::Violation;

/// An integer variable. Each agent has its own copy, which starts at zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Var(pub(crate) usize);

/// An integer expression of variables and trip counts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Expr {
    Constant(i64),
    Variable(Var),
    /// A parameter of the program, by its number.
    Parameter(usize),
    Add(Box<Expr>, Box<Expr>),
    Sub(Box<Expr>, Box<Expr>),
    Mul(Box<Expr>, Box<Expr>),
    /// Division by a positive constant, rounding down.
    Div(Box<Expr>, i64),
    /// Remainder of that division, never negative.
    Rem(Box<Expr>, i64),
    /// 1 if the first operand is less than the second, else 0.
    Less(Box<Expr>, Box<Expr>),
    /// 1 if the operand is 0, else 0; inverts a parity.
    Not(Box<Expr>),
}

impl Expr {
    pub fn less(self, than: impl Into<Self>) -> Self {
        Self::Less(Box::new(self), Box::new(than.into()))
    }

    pub(crate) fn eval(&self, variables: &[i64], parameters: &[i64]) -> i64 {
        let of = |e: &Self| e.eval(variables, parameters);
        match self {
            Self::Constant(value) => *value,
            Self::Variable(var) => variables[var.0],
            Self::Parameter(index) => parameters[*index],
            Self::Add(a, b) => of(a).wrapping_add(of(b)),
            Self::Sub(a, b) => of(a).wrapping_sub(of(b)),
            Self::Mul(a, b) => of(a).wrapping_mul(of(b)),
            Self::Div(a, by) => of(a).div_euclid(*by),
            Self::Rem(a, by) => of(a).rem_euclid(*by),
            Self::Less(a, b) => i64::from(of(a) < of(b)),
            Self::Not(a) => i64::from(of(a) == 0),
        }
    }

    /// Decides a condition for parameters within a range of values.
    ///
    /// # Errors
    ///
    /// The number of a parameter that the condition depends on.
    pub(crate) fn decide(&self, variables: &[i64], least: &[i64], most: &[i64]) -> Result<bool, usize> {
        if let Self::Less(a, b) = self
            && let (Some(a), Some(b)) = (a.range(variables, least, most), b.range(variables, least, most))
            && (a.1 < b.0 || a.0 >= b.1)
        {
            return Ok(a.1 < b.0);
        }
        let mut parameters = vec![];
        self.parameters(&mut parameters);
        match parameters.into_iter().find(|&i| least[i] < most[i]) {
            Some(open) => Err(open),
            None => Ok(self.eval(variables, least) != 0),
        }
    }

    /// The minimum and maximum value, if they are simple to determine.
    fn range(&self, variables: &[i64], least: &[i64], most: &[i64]) -> Option<(i64, i64)> {
        match self {
            Self::Constant(value) => Some((*value, *value)),
            Self::Variable(var) => Some((variables[var.0], variables[var.0])),
            Self::Parameter(index) => Some((least[*index], most[*index])),
            Self::Add(a, b) => {
                let (a, b) = (a.range(variables, least, most)?, b.range(variables, least, most)?);
                Some((a.0.checked_add(b.0)?, a.1.checked_add(b.1)?))
            }
            _ => None,
        }
    }

    /// Adds the parameters that the expression depends on to a list.
    pub(crate) fn parameters(&self, list: &mut Vec<usize>) {
        match self {
            Self::Constant(_) | Self::Variable(_) => {}
            Self::Parameter(index) => list.push(*index),
            Self::Add(a, b) | Self::Sub(a, b) | Self::Mul(a, b) | Self::Less(a, b) => {
                a.parameters(list);
                b.parameters(list);
            }
            Self::Div(a, _) | Self::Rem(a, _) | Self::Not(a) => a.parameters(list),
        }
    }
}

impl From<i64> for Expr {
    fn from(value: i64) -> Self {
        Self::Constant(value)
    }
}

impl From<Var> for Expr {
    fn from(var: Var) -> Self {
        Self::Variable(var)
    }
}

impl<T: Into<Expr>> Add<T> for Expr {
    type Output = Self;
    fn add(self, other: T) -> Self {
        Self::Add(Box::new(self), Box::new(other.into()))
    }
}

impl<T: Into<Expr>> Sub<T> for Expr {
    type Output = Self;
    fn sub(self, other: T) -> Self {
        Self::Sub(Box::new(self), Box::new(other.into()))
    }
}

impl<T: Into<Expr>> Mul<T> for Expr {
    type Output = Self;
    fn mul(self, other: T) -> Self {
        Self::Mul(Box::new(self), Box::new(other.into()))
    }
}

impl Div<i64> for Expr {
    type Output = Self;
    fn div(self, by: i64) -> Self {
        Self::Div(Box::new(self), by.max(1))
    }
}

impl Rem<i64> for Expr {
    type Output = Self;
    fn rem(self, by: i64) -> Self {
        Self::Rem(Box::new(self), by.max(1))
    }
}

impl Not for Expr {
    type Output = Self;
    fn not(self) -> Self {
        Self::Not(Box::new(self))
    }
}

/// An array of barriers or of stages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Array(pub(crate) usize);

impl Array {
    /// The member with the given number.
    pub fn at(self, slot: &Expr) -> Place {
        Place { array: self, slot: slot.clone() }
    }
}

/// A member of an array.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Place {
    pub array: Array,
    pub slot: Expr,
}

/// The unit that executes operations which are committed in groups and waited for by group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Engine {
    /// `wgmma` and `tcgen05.mma`: read through the asynchronous proxy.
    Dot,
    /// `cp.async`: writes through the generic proxy, like ordinary stores.
    Copy,
    /// Bulk and tensor stores: read through the asynchronous proxy.
    Store,
}

impl Engine {
    pub const ALL: [Self; 3] = [Self::Dot, Self::Copy, Self::Store];
}

/// The kind of access to a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StageAccess {
    Read,
    Write,
    /// A write that follows earlier ones by the same agent and engine, which may be in flight: the engine executes them
    /// in order.
    Accumulate,
    /// A read that follows a write by the same agent and engine, which may be in flight: the engine executes them in
    /// order.
    ReadInOrder,
}

impl StageAccess {
    pub(crate) fn reads(self) -> bool {
        matches!(self, Self::Read | Self::ReadInOrder)
    }
}

/// One operation of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Op {
    Set(Var, Expr),
    /// Runs `body` with `var` counting from 0 to `trips`.
    Loop {
        var: Var,
        trips: Expr,
        body: Vec<Op>,
    },
    If {
        condition: Expr,
        then: Vec<Op>,
        otherwise: Vec<Op>,
    },
    /// Waits until the phase of the given parity is complete: `mbarrier.try_wait.parity` in a loop.
    Wait {
        barrier: Place,
        parity: Expr,
    },
    Arrive {
        barrier: Place,
        count: u32,
    },
    /// Arrives on its own when all operations of the engine that the agent has started are done, like
    /// `cp.async.mbarrier.arrive.noinc` and `tcgen05.commit`. The arrival follows everything that the agent did before.
    /// It does not publish the agent's own stores, which is not checked here.
    ArriveAfter {
        engine: Engine,
        barrier: Place,
        count: u32,
    },
    /// Adds bytes to the bytes that the current phase waits for. `arrive.expect_tx` is this followed by [`Op::Arrive`].
    Expect {
        barrier: Place,
        bytes: u32,
    },
    /// A copy that reports its bytes to an mbarrier when it is done.
    Copy {
        into: Place,
        tag: Expr,
        bytes: u32,
        barrier: Place,
    },
    /// Starts an operation that is waited for by group.
    Begin {
        engine: Engine,
        access: StageAccess,
        place: Place,
        tag: Expr,
    },
    Commit(Engine),
    /// Waits until at most `pending` of the committed groups are in flight.
    WaitGroups {
        engine: Engine,
        pending: u32,
    },
    /// An ordinary access.
    Read {
        from: Place,
        tag: Expr,
    },
    Write {
        into: Place,
        tag: Expr,
    },
    /// `fence.proxy.async`: lets asynchronous operations read the writes known so far.
    Fence,
    /// `bar.sync` and `bar.arrive` by all threads of the agent.
    Sync(Place),
    Post(Place),
}

impl Op {
    /// The operands of the operation, without nested operations.
    pub(crate) fn exprs(&self) -> Vec<&Expr> {
        match self {
            Self::Set(_, value) => vec![value],
            Self::Loop { trips, .. } => vec![trips],
            Self::If { condition, .. } => vec![condition],
            Self::Wait { barrier, parity } => vec![&barrier.slot, parity],
            Self::Arrive { barrier, .. } | Self::ArriveAfter { barrier, .. } | Self::Expect { barrier, .. } => {
                vec![&barrier.slot]
            }
            Self::Copy { into, tag, barrier, .. } => vec![&into.slot, tag, &barrier.slot],
            Self::Begin { place, tag, .. } | Self::Read { from: place, tag } | Self::Write { into: place, tag } => {
                vec![&place.slot, tag]
            }
            Self::Commit(_) | Self::WaitGroups { .. } | Self::Fence => vec![],
            Self::Sync(place) | Self::Post(place) => vec![&place.slot],
        }
    }
}

/// A sequence of operations that a group of warps executes together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    pub name: String,
    pub threads: u32,
    pub body: Vec<Op>,
}

/// An array of mbarriers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Barrier {
    pub name: String,
    /// Number of arrivals that complete a phase.
    pub count: u32,
    pub(crate) slots: Range<usize>,
}

impl Barrier {
    /// The number of members of the array.
    #[expect(clippy::len_without_is_empty, reason = "an array of barriers is never empty")]
    pub fn len(&self) -> usize {
        self.slots.len()
    }
}

/// An array of named barriers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    pub name: String,
    /// Number of threads that complete it.
    pub threads: u32,
    pub(crate) slots: Range<usize>,
}

/// An array of stages in shared memory. Stages with common memory share cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Storage {
    pub name: String,
    pub(crate) cells: Vec<Range<usize>>,
}

/// An unknown trip count, checked for 0 to `max`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    pub name: String,
    pub max: i64,
}

/// A kernel's protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    pub name: String,
    pub agents: Vec<Agent>,
    pub barriers: Vec<Barrier>,
    pub named: Vec<Named>,
    pub storages: Vec<Storage>,
    pub parameters: Vec<Parameter>,
    pub(crate) variables: usize,
    pub(crate) slots: usize,
    pub(crate) cells: usize,
}

impl Program {
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            agents: Vec::new(),
            barriers: Vec::new(),
            named: Vec::new(),
            storages: Vec::new(),
            parameters: Vec::new(),
            variables: 0,
            slots: 0,
            cells: 0,
        }
    }

    /// Adds a trip count. For a ring of `S` stages, `max` should be `2 S + 2`, after which the behavior repeats.
    pub fn parameter(&mut self, name: &str, max: i64) -> Expr {
        self.parameters.push(Parameter { name: name.to_owned(), max });
        Expr::Parameter(self.parameters.len() - 1)
    }

    pub fn variable(&mut self) -> Var {
        self.variables += 1;
        Var(self.variables - 1)
    }

    /// Adds `n` mbarriers whose phases complete after `count` arrivals.
    pub fn barrier(&mut self, name: &str, n: usize, count: u32) -> Array {
        let slots = self.new_slots(n);
        self.barriers.push(Barrier { name: name.to_owned(), count, slots });
        Array(self.barriers.len() - 1)
    }

    /// Adds `n` named barriers, each for `threads` threads.
    pub fn named(&mut self, name: &str, n: usize, threads: u32) -> Array {
        let slots = self.new_slots(n);
        self.named.push(Named { name: name.to_owned(), threads, slots });
        Array(self.named.len() - 1)
    }

    fn new_slots(&mut self, n: usize) -> Range<usize> {
        self.slots += n;
        self.slots - n..self.slots
    }

    /// Adds `n` stages with separate memory.
    pub fn storage(&mut self, name: &str, n: usize) -> Array {
        self.cells += n;
        let first = self.cells - n;
        self.storages.push(Storage { name: name.to_owned(), cells: (first..self.cells).map(|c| c..c + 1).collect() });
        Array(self.storages.len() - 1)
    }

    /// Adds `n` stages that alias others: stage `i` covers `per` stages of `of`, starting with number `i * per`.
    pub fn storage_inside(&mut self, name: &str, n: usize, of: Array, per: usize) -> Array {
        let whole = &self.storages[of.0].cells;
        let end = whole.len();
        let range = |i: usize| {
            let covered = &whole[(i * per).min(end)..((i + 1) * per).min(end)];
            covered.first().map_or(0..0, |f| f.start..covered.last().map_or(f.end, |l| l.end))
        };
        let cells = (0..n).map(range).collect();
        self.storages.push(Storage { name: name.to_owned(), cells });
        Array(self.storages.len() - 1)
    }

    pub fn agent(&mut self, name: &str, threads: u32, body: Vec<Op>) {
        self.agents.push(Agent { name: name.to_owned(), threads, body });
    }

    /// Checks all interleavings for all values of the parameters, from the smallest; or for a sample of the values if
    /// there are more than [`MOST_COMBINATIONS`].
    ///
    /// A parameter that only affects jumps is not fixed until a jump depends on it. The operations before that jump,
    /// such as the iterations common to all trip counts of a loop, run only once.
    pub fn check(&self) -> Result<(), Box<Violation>> {
        let code: Vec<_> = self.agents.iter().map(|a| flatten(&a.body)).collect();
        let needed = needed_parameters(&code);
        self.boxes().iter().try_for_each(|(from, to)| {
            let chosen: Vec<i64> = (0..to.len()).map(|i| if needed.contains(&i) { to[i] } else { from[i] }).collect();
            for_all(from, &chosen, |least| {
                let most = (0..to.len()).map(|i| if needed.contains(&i) { least[i] } else { to[i] }).collect();
                Run::new(self, &code, least.to_vec(), most).check()
            })
        })
    }

    /// The number of combinations of parameter values.
    pub fn combinations(&self) -> u64 {
        self.parameters.iter().fold(1, |product: u64, p| product.saturating_mul(p.max.unsigned_abs() + 1))
    }

    /// The number of ranges of parameter values that [`Program::check`] checks.
    pub fn ranges(&self) -> usize {
        self.boxes().len()
    }

    /// The number of operations that all agents execute at the largest values of the parameters.
    pub fn longest_run(&self) -> u64 {
        let most: Vec<i64> = self.parameters.iter().map(|p| p.max).collect();
        self.agents.iter().fold(0, |sum: u64, agent| sum.saturating_add(self.length(&agent.body, &most)))
    }

    fn length(&self, ops: &[Op], parameters: &[i64]) -> u64 {
        let of = |op: &Op| match op {
            Op::Loop { trips, body, .. } => {
                let trips = trips.eval(&vec![0; self.variables], parameters);
                self.length(body, parameters).saturating_add(1).saturating_mul(u64::try_from(trips).unwrap_or(0))
            }
            Op::If { then, otherwise, .. } => self.length(then, parameters).max(self.length(otherwise, parameters)),
            _ => 1,
        };
        ops.iter().fold(0, |sum: u64, op| sum.saturating_add(of(op)))
    }

    /// The minimum and maximum values of the parameters in each check.
    ///
    /// A single check covers all values unless there are too many. The behavior of a loop depends most on the
    /// neighboring loops, in which a ring is filled before and after. The sample therefore contains all small values
    /// of every two neighbors while the other parameters are 0, 1 or 2, and all values of each parameter while the
    /// others are 1. The size of this sample is linear in the number of parameters, as is the length of a run.
    ///
    /// If that is too much, every third parameter has the same value. All small values of these three groups are
    /// combined, so that every three neighbors have all of them. The size of this sample does not depend on the number
    /// of parameters.
    fn boxes(&self) -> Vec<(Vec<i64>, Vec<i64>)> {
        let most: Vec<i64> = self.parameters.iter().map(|p| p.max).collect();
        if self.combinations() <= MOST_COMBINATIONS {
            return vec![(vec![0; most.len()], most)];
        }
        let length = self.longest_run().saturating_mul(most.len() as u64);
        if length.saturating_mul((SMALL + 1) as u64) > MOST_OPERATIONS {
            return in_groups(&most);
        }
        let mut boxes = vec![];
        for others in 0..=SMALL {
            let base: Vec<i64> = most.iter().map(|m| others.min(*m)).collect();
            for first in 0..most.len() {
                let (mut from, mut to) = (base.clone(), base.clone());
                for i in first..most.len().min(first + 2) {
                    (from[i], to[i]) = (0, SMALL.min(most[i]));
                }
                boxes.push((from, to));
                if others == 1 {
                    let (mut from, mut to) = (base.clone(), base.clone());
                    (from[first], to[first]) = (0, most[first]);
                    boxes.push((from, to));
                }
            }
        }
        boxes
    }

    pub(crate) fn for_all_parameters<E>(&self, check: impl FnMut(&[i64]) -> Result<(), E>) -> Result<(), E> {
        let most: Vec<i64> = self.parameters.iter().map(|p| p.max).collect();
        for_all(&vec![0; most.len()], &most, check)
    }
}

/// Up to this number, all combinations of parameter values are checked.
pub const MOST_COMBINATIONS: u64 = 20_000;

/// The number of groups of parameters in a sample of constant size.
const GROUPS: usize = 3;

/// Up to about this number of operations, a sample has values for every two neighboring parameters.
const MOST_OPERATIONS: u64 = 1_000_000;

/// Maximum value of a parameter that is combined with others in a sample.
const SMALL: i64 = 2;

/// A sample in which every third parameter has the same value, as far as its maximum allows: all small values, and each
/// value of one group while the others are 1.
fn in_groups(most: &[i64]) -> Vec<(Vec<i64>, Vec<i64>)> {
    let mut groups = vec![];
    let most_small = [SMALL; GROUPS];
    let _ = for_all(&[0; GROUPS], &most_small, |values| {
        groups.push(values.to_vec());
        Ok::<(), ()>(())
    });
    for value in SMALL + 1..=most.iter().copied().max().unwrap_or(0) {
        groups.extend((0..GROUPS).map(|at| (0..GROUPS).map(|i| if i == at { value } else { 1 }).collect()));
    }
    let values = |group: Vec<i64>| most.iter().enumerate().map(|(i, most)| group[i % GROUPS].min(*most)).collect();
    groups.into_iter().map(values).map(|values: Vec<i64>| (values.clone(), values)).collect()
}

/// Calls `check` for all lists of numbers between `least` and `most`, inclusive.
fn for_all<E>(least: &[i64], most: &[i64], mut check: impl FnMut(&[i64]) -> Result<(), E>) -> Result<(), E> {
    let mut values = least.to_vec();
    loop {
        check(&values)?;
        // Counts up, the first number fastest.
        let Some(at) = (0..values.len()).find(|&i| values[i] < most[i]) else { return Ok(()) };
        values[..at].copy_from_slice(&least[..at]);
        values[at] += 1;
    }
}
