//! Fallbacks for a kernel or a loop that could not be compiled as planned.
//!
//! Rings, agents and schedules make kernels fast. If a pass cannot carry them through, or a checker rejects the
//! result, compilation restarts from the input. The kernel or loop at fault then carries an attribute that says what
//! to give up, which the deciding passes query. The last fallback uses only the means of the lowest level: dots of
//! single warps, synchronous loads, and a barrier wherever memory is shared.

use super::{
    attributes::FALLBACK, cuda_tile::EntryOp, loops::loops_around, nv_tileaa::FuncOp, rt::*, upstream::is_llvm_func,
};
use std::fmt;

/// The levels of fallback, each of which gives up more than the previous ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fallback {
    /// Gives up nothing.
    #[default]
    None,
    /// Gives up rings of more than two stages, and schedules.
    TwoStages,
    /// Gives up agents, and with them warpgroup dots. Rings may be deep again, because other passes build them.
    NoAgents,
    /// Gives up both.
    NoAgentsTwoStages,
    /// Gives up rings: loads wait for memory.
    Synchronous,
}

impl Fallback {
    const ALL: [Self; 5] = [Self::None, Self::TwoStages, Self::NoAgents, Self::NoAgentsTwoStages, Self::Synchronous];

    /// Returns the fallback for `op`: the highest level of `op` and the ops that contain it.
    pub fn around(op: OpRef<'_>) -> Self {
        let ops = std::iter::successors(Some(op), |o| parent_op(*o));
        ops.filter_map(Self::said_by).max().unwrap_or_default()
    }

    /// Returns the fallback for decisions about a whole function: the highest level of any op in it.
    pub fn within(function: OpRef<'_>) -> Self {
        let mut most = Self::around(function);
        walk(function, &mut |op| most = most.max(Self::said_by(op).unwrap_or_default()));
        most
    }

    fn said_by(op: OpRef<'_>) -> Option<Self> {
        let number = FALLBACK.get(op)?;
        Some(usize::try_from(number).ok().and_then(|n| Self::ALL.get(n).copied()).unwrap_or(Self::Synchronous))
    }

    /// Attaches the level to an op.
    pub fn attach(self, op: OpRef<'_>) {
        let number = Self::ALL.iter().position(|f| *f == self).unwrap_or_default();
        FALLBACK.set(op, number as i64);
    }

    /// Copies the level of `from` to `to`, which is built from `from`.
    pub fn hand_on(from: OpRef<'_>, to: OpRef<'_>) {
        FALLBACK.copy(from, to);
    }

    /// Returns the next level, or `None` if nothing is left to give up. Skips the levels that only affect agents if
    /// there are none.
    pub fn next(self, has_agents: bool) -> Option<Self> {
        match self {
            Self::None if has_agents => Some(Self::TwoStages),
            Self::TwoStages if has_agents => Some(Self::NoAgents),
            Self::None | Self::NoAgents => Some(Self::NoAgentsTwoStages),
            Self::TwoStages | Self::NoAgentsTwoStages => Some(Self::Synchronous),
            Self::Synchronous => None,
        }
    }

    /// Whether kernels may be split into agents and use warpgroup dots.
    pub fn allows_agents(self) -> bool {
        self < Self::NoAgents
    }

    /// Whether loops may be scheduled.
    pub fn allows_schedules(self) -> bool {
        self == Self::None
    }

    /// Limits the number of stages of a ring; one stage means no ring.
    pub fn stages<N: Ord + From<u8>>(self, stages: N) -> N {
        match self {
            Self::None | Self::NoAgents => stages,
            Self::TwoStages | Self::NoAgentsTwoStages => stages.min(2.into()),
            Self::Synchronous => 1.into(),
        }
    }
}

/// `with rings of at most two stages`.
impl fmt::Display for Fallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "as planned",
            Self::TwoStages => "with rings of at most two stages",
            Self::NoAgents => "without agents",
            Self::NoAgentsTwoStages => "without agents and with rings of at most two stages",
            Self::Synchronous => "with synchronous loads",
        })
    }
}

/// The location of a pass failure, in terms of the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blame {
    /// The kernel.
    pub function: String,
    /// The location of the outermost loop that contains the op.
    pub outermost_loop: Option<String>,
}

impl Blame {
    /// Returns the kernel and the loop that contain an op, or `None` for an op outside of functions.
    pub fn of(op: OpRef<'_>) -> Option<Self> {
        let function = std::iter::successors(Some(op), |o| parent_op(*o)).find(|o| is_function(*o))?;
        let name = attr(function, "sym_name").map(string_attr)?;
        let outermost = loops_around(op).last().map(|o| shown(&o.location()));
        Some(Self { function: name.to_owned(), outermost_loop: outermost.filter(|place| is_place(place)) })
    }
}

/// Whether the text of a location distinguishes loops.
pub fn is_place(location: &str) -> bool {
    location != "loc(unknown)" && location.contains(':')
}

/// Whether an op is a kernel or a function, at any level.
pub fn is_function(op: OpRef<'_>) -> bool {
    EntryOp::cast(op).is_some() || FuncOp::cast(op).is_some() || is_llvm_func(op)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given_up(has_agents: bool) -> Vec<(Fallback, u32)> {
        let steps = std::iter::successors(Fallback::None.next(has_agents), |f| f.next(has_agents));
        steps.map(|f| (f, f.stages(4))).collect()
    }

    #[test]
    fn each_step_gives_up_more() {
        use Fallback::*;
        let with_agents = [(TwoStages, 2), (NoAgents, 4), (NoAgentsTwoStages, 2), (Synchronous, 1)];
        assert_eq!(given_up(true), with_agents);
        assert_eq!(given_up(false), [(NoAgentsTwoStages, 2), (Synchronous, 1)]);
        assert!(Fallback::ALL.is_sorted());
        let allowed = |f: &Fallback| (f.allows_schedules(), f.allows_agents());
        let expected = [(true, true), (false, true), (false, false), (false, false), (false, false)];
        assert_eq!(Fallback::ALL.iter().map(allowed).collect::<Vec<_>>(), expected);
    }
}
