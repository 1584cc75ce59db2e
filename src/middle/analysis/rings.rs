//! Iterators of rings: their pipeline, the readers of its stages, and the stages that they may denote.
//!
//! The stage of an iterator is known to the extent that it is the same in all iterations of the surrounding loops.
//! For example, a loop that advances twice per iteration through a ring of four stages starts each iteration at a
//! stage of the same parity. Only one of its two advances can therefore wrap around; the other needs no test.
//!
//! A stage is represented as a residue: `stage = residue (mod modulus)`, where the modulus divides the number of
//! stages. A new iterator has residue zero modulo the number of stages, an advance adds one, and at a join of values,
//! in a loop or after a branch, the modulus becomes a common divisor. The analysis starts optimistically and weakens
//! residues until a fixed point.

use crate::analysis::carried::sources;
use crate::dialect::{
    nv_tileas::{AnyOp, CreateIteratorOp, IncIterOp, PipelineIteratorType, PipelineType, StageOp},
    phases::Handover,
    rt::*,
    thread_scope::ThreadScope,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// Whether an advance goes from the last stage to the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wraps {
    Never,
    Always,
    Sometimes,
}

/// A stage, represented by its residue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Residue {
    value: i64,
    modulus: i64,
    stages: i64,
}

impl Residue {
    fn stepped(self) -> Self {
        Residue { value: (self.value + 1) % self.modulus, ..self }
    }

    /// Returns the join of two residues.
    fn or(self, other: Self) -> Self {
        let modulus = gcd(gcd(self.modulus, other.modulus), (self.value - other.value).abs());
        Residue { value: self.value % modulus, modulus, ..self }
    }

    /// Whether the advance from this stage wraps around.
    fn step(self) -> Wraps {
        match (self.value + 1) % self.modulus {
            0 if self.modulus == self.stages => Wraps::Always,
            0 => Wraps::Sometimes,
            _ => Wraps::Never,
        }
    }
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The possible stages of the iterators of a function.
#[derive(Default)]
pub struct RingPositions(FxHashMap<usize, Residue>);

impl RingPositions {
    pub fn of(function: OpRef<'_>) -> Self {
        let mut iterators = vec![];
        walk(function, &mut |op| {
            let inside = (0..region_count(op)).filter_map(|i| entry_block(region(op, i))).flat_map(args);
            iterators.extend(results(op).chain(inside).filter(|v| PipelineIteratorType::cast(ty(*v)).is_some()));
        });
        let mut known = FxHashMap::default();
        // A residue only ever loses factors of its modulus.
        let mut changes = true;
        while changes {
            changes = false;
            for v in &iterators {
                let Some(now) = residue(*v, &known) else { continue };
                changes |= known.insert(key(*v), now) != Some(now);
            }
        }
        RingPositions(known)
    }

    /// Whether the advance from an iterator wraps around.
    pub fn step_from(&self, iterator: Val<'_>) -> Wraps {
        self.0.get(&key(iterator)).map_or(Wraps::Sometimes, |r| r.step())
    }
}

/// Returns the pipeline of an iterator.
pub fn pipeline_of<'c>(iterator: Val<'c>) -> Option<Val<'c>> {
    let of = |v: Val<'c>| {
        let made = defining_op(v)?;
        let step = || IncIterOp::cast(made).map(|step| step.pipeline());
        step().or_else(|| CreateIteratorOp::cast(made).map(|first| first.pipeline()))
    };
    let mut sources_of_v = vec![iterator];
    // Follows the first source, which is always further up in the program. Most loops advance the iterators that they
    // carry, so that the others rarely need to be followed through all loops before.
    loop {
        if let Some(pipeline) = sources_of_v.iter().find_map(|v| of(*v)) {
            return Some(pipeline);
        }
        sources_of_v = sources(*sources_of_v.first()?);
    }
}

/// The ways in which agents use pipelines. An agent is an op and the index of a region.
#[derive(Default)]
pub struct RingUses {
    /// Agents and pipelines for which they wait or at which they arrive.
    handed_over: FxHashSet<((usize, usize), usize)>,
    /// Agents and pipelines with stages that something else than dots reads.
    read: FxHashSet<((usize, usize), usize)>,
}

impl RingUses {
    pub fn of(function: OpRef<'_>) -> Self {
        let mut all = Self::default();
        walk(function, &mut |op| {
            if let Some(x) = Handover::cast(op) {
                all.handed_over.extend(agents_around(op).map(|agent| (agent, key(x.pipeline()))));
            }
            let stage = StageOp::cast(op).filter(|stage| !multiplied(stage.index()));
            if let Some(pipeline) = stage.and_then(|stage| pipeline_of(stage.iterator())) {
                all.read.extend(agents_around(op).map(|agent| (agent, key(pipeline))));
            }
        });
        all
    }

    /// Whether the agent of `op` waits for a pipeline or arrives at it. If not, it needs no iterators of the pipeline.
    pub fn is_used_by_agent<'c>(&self, op: OpRef<'c>, pipeline: Val<'c>) -> bool {
        agents_around(op).next().is_none_or(|agent| self.handed_over.contains(&(agent, key(pipeline))))
    }

    /// Whether, in the agent of `op`, only warpgroup dots read the stages of a pipeline.
    pub fn only_multiplied<'c>(&self, op: OpRef<'c>, pipeline: Val<'c>) -> bool {
        agents_around(op).next().is_some_and(|agent| !self.read.contains(&(agent, key(pipeline))))
    }
}

/// The agents that contain an op, from the inside out.
fn agents_around(op: OpRef<'_>) -> impl Iterator<Item = (usize, usize)> {
    let scopes = std::iter::successors(ThreadScope::of(op), |scope| ThreadScope::of(scope.op));
    scopes.map(|scope| (op_key(scope.op), scope.region))
}

/// Whether only TMA loads fill memory, or the stage with this number, and only dots read it.
fn multiplied(v: Val<'_>) -> bool {
    uses(v).into_iter().all(|(user, _)| match AnyOp::cast(user) {
        Some(AnyOp::AsyncDotOp(_) | AnyOp::PromotedDotOp(_) | AnyOp::AsyncTiledTmaLoadOp(_)) => true,
        Some(AnyOp::AsyncBulkLoadOp(_) | AnyOp::TmemCopyOp(_)) => true,
        Some(
            AnyOp::MemDescSlotOp(_)
            | AnyOp::MemDescViewOp(_)
            | AnyOp::MemDescPermuteOp(_)
            | AnyOp::MemDescReinterpretOp(_),
        ) => results(user).all(multiplied),
        _ => false,
    })
}

/// Returns the residue of an iterator from the known residues of its sources, or `None` if none is known yet.
fn residue(v: Val<'_>, known: &FxHashMap<usize, Residue>) -> Option<Residue> {
    let of = |v: Val<'_>| known.get(&key(v)).copied();
    let made = defining_op(v);
    if let Some(first) = made.and_then(CreateIteratorOp::cast) {
        let stages = PipelineType::cast(ty(first.pipeline()))?.stages();
        return Some(Residue { value: 0, modulus: stages, stages });
    }
    if let Some(step) = made.and_then(IncIterOp::cast) {
        return of(step.iterator()).map(Residue::stepped);
    }
    sources(v).into_iter().filter_map(of).reduce(Residue::or)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(value: i64, modulus: i64, stages: i64) -> Residue {
        Residue { value, modulus, stages }
    }

    #[test]
    fn steps_of_known_residues() {
        for (residue, wraps) in [
            (at(0, 4, 4), Wraps::Never),
            (at(3, 4, 4), Wraps::Always),
            (at(0, 2, 4), Wraps::Never),
            (at(1, 2, 4), Wraps::Sometimes),
            (at(0, 1, 4), Wraps::Sometimes),
            (at(0, 1, 1), Wraps::Always),
            (at(1, 3, 6), Wraps::Never),
            (at(2, 3, 6), Wraps::Sometimes),
        ] {
            assert_eq!(residue.step(), wraps, "{residue:?}");
        }
    }

    #[test]
    fn what_meets_has_a_common_divisor() {
        assert_eq!(at(0, 6, 6).or(at(2, 6, 6)), at(0, 2, 6));
        assert_eq!(at(1, 6, 6).or(at(4, 6, 6)), at(1, 3, 6));
        assert_eq!(at(5, 6, 6).or(at(5, 6, 6)), at(5, 6, 6));
        assert_eq!(at(0, 4, 4).or(at(1, 2, 4)), at(0, 1, 4));
        // An iteration with `steps` advances, repeated until a fixed point.
        for (stages, steps, modulus) in [(4, 2, 2), (5, 2, 1), (8, 4, 4), (6, 4, 2), (3, 3, 3), (8, 3, 1)] {
            let mut inside = at(0, stages, stages);
            loop {
                let next = inside.or((0..steps).fold(inside, |r, _| r.stepped()));
                if next == inside {
                    break;
                }
                inside = next;
            }
            assert_eq!(inside, at(0, modulus, stages), "{steps} steps through {stages}");
        }
    }
}
