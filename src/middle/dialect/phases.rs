//! The phases of a pipeline's stages, and the ops that wait for a phase or arrive at one.
//!
//! A pipeline has any number of phases, named by its `create_pipeline`. An op of a pipeline refers to one of them by
//! name, or by default to the phase in which such an op usually takes part.

use super::{
    nv_tileas::{
        ConsumerReleaseOp, ConsumerWaitOp, CreatePipelineOp, NextTileBlockOp, ProducerAcquireOp, ProducerCommitOp,
    },
    rt::*,
};

/// The phase that copies and stores of the producer complete.
pub const FULL: &str = "full";
/// The phase that the last readers of a stage complete.
pub const EMPTY: &str = "empty";
/// The phase that warps complete that convert a stage for the dots.
pub const CONVERTED: &str = "converted";
/// The phase that copies of scale factors complete, if each CTA of a pair counts its own.
pub const SCALES: &str = "scales";

/// An op that waits for a phase of a stage or arrives at one.
#[derive(Clone, Copy)]
pub enum Handover<'c> {
    Acquire(ProducerAcquireOp<'c>),
    Commit(ProducerCommitOp<'c>),
    Wait(ConsumerWaitOp<'c>),
    Release(ConsumerReleaseOp<'c>),
    /// Waits for [`FULL`], and then arrives at [`EMPTY`].
    Next(NextTileBlockOp<'c>),
}

impl<'c> Handover<'c> {
    pub fn cast(op: OpRef<'c>) -> Option<Self> {
        let acquire = ProducerAcquireOp::cast(op).map(Self::Acquire);
        let commit = || ProducerCommitOp::cast(op).map(Self::Commit);
        let wait = || ConsumerWaitOp::cast(op).map(Self::Wait);
        let release = || ConsumerReleaseOp::cast(op).map(Self::Release);
        let next = || NextTileBlockOp::cast(op).filter(|x| x.pipeline().is_some()).map(Self::Next);
        acquire.or_else(commit).or_else(wait).or_else(release).or_else(next)
    }

    pub fn op(self) -> OpRef<'c> {
        match self {
            Self::Acquire(x) => x.op(),
            Self::Commit(x) => x.op(),
            Self::Wait(x) => x.op(),
            Self::Release(x) => x.op(),
            Self::Next(x) => x.op(),
        }
    }

    pub fn pipeline(self) -> Val<'c> {
        match self {
            Self::Acquire(x) => x.pipeline(),
            Self::Commit(x) => x.pipeline(),
            Self::Wait(x) => x.pipeline(),
            Self::Release(x) => x.pipeline(),
            Self::Next(x) => x.pipeline().expect("`cast` has checked it"),
        }
    }

    pub fn iterator(self) -> Val<'c> {
        match self {
            Self::Acquire(x) => x.iterator(),
            Self::Commit(x) => x.iterator(),
            Self::Wait(x) => x.iterator(),
            Self::Release(x) => x.iterator(),
            Self::Next(x) => x.iterator().expect("the verifier has checked it"),
        }
    }

    /// The warpgroup whose barriers the op means, if it names one.
    pub fn warpgroup(self) -> Option<i64> {
        match self {
            Self::Acquire(x) => x.warpgroup(),
            Self::Commit(x) => x.warpgroup(),
            Self::Wait(x) => x.warpgroup(),
            Self::Release(x) => x.warpgroup(),
            Self::Next(_) => None,
        }
    }

    /// The phase for which the op waits or at which it arrives. An acquire that announces bytes also arrives at
    /// [`filled`].
    pub fn phase(self) -> &'c str {
        match self {
            Self::Acquire(x) => x.phase().unwrap_or(EMPTY),
            Self::Commit(x) => x.phase().unwrap_or(FULL),
            Self::Wait(x) => x.phase().unwrap_or(FULL),
            Self::Release(x) => x.phase().unwrap_or(EMPTY),
            Self::Next(_) => FULL,
        }
    }
}

/// The phase at which the copies arrive whose bytes an acquire announces.
pub fn filled(acquire: ProducerAcquireOp<'_>) -> &str {
    acquire.fills().unwrap_or(FULL)
}

/// Whether the two CTAs of a cluster share a pipeline.
pub fn is_shared(pipeline: Val<'_>) -> bool {
    defining_op(pipeline).and_then(CreatePipelineOp::cast).is_some_and(|created| created.leader().is_some())
}

/// The number of warpgroups that have barriers of their own for each phase of a pipeline; `None` if they share them.
pub fn warpgroups(pipeline: Val<'_>) -> Option<i64> {
    defining_op(pipeline).and_then(CreatePipelineOp::cast).and_then(|created| created.warpgroups())
}

/// Whether the leader of a pair of CTAs counts a phase of a pipeline for both.
pub fn is_by_leader(pipeline: Val<'_>, phase: &str) -> bool {
    let created = defining_op(pipeline).and_then(CreatePipelineOp::cast);
    created.and_then(|created| created.leader()).is_some_and(|names| names.contains(&phase))
}

/// The number of phases of a pipeline; zero if it is not created in this function.
pub fn count(pipeline: Val<'_>) -> usize {
    defining_op(pipeline).and_then(CreatePipelineOp::cast).map_or(0, |created| created.phases().len())
}

/// The number of a phase of a pipeline, or `None` if the pipeline does not have it or is not created in this function.
pub fn number(pipeline: Val<'_>, phase: &str) -> Option<usize> {
    let created = defining_op(pipeline).and_then(CreatePipelineOp::cast)?;
    created.phases().into_iter().position(|name| name == phase)
}
