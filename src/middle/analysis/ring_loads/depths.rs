//! The depths of a loop's rings: how many iterations ahead each copy starts.
//!
//! ```text
//! ahead = [3, 1]     the first load has a ring of 4 stages, the second of 2
//! ahead = [2, 0]     the second load is not pipelined
//! ```
//!
//! The expansion depends only on [`Depths`]. The modulo scheduler attaches [`AHEAD`] to loads; a loop with such loads
//! follows these attributes, as far as the rings of inner loops leave room. Its loads without the attribute are not
//! pipelined. Without a schedule, [`Depths::choose`] gives all copies the same lead, or lets all loads share one ring.

use super::{Candidates, taken_beside};
use crate::dialect::{
    attributes::AHEAD,
    pass::{Failed, fail},
    remark::{self, remark},
    shared_memory::padded_bytes,
};
use tile_interface::Advice;

/// The decisions for the candidates of a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Depths {
    /// For each load, the number of iterations by which its copy starts ahead. The ring has one stage more. A load
    /// with 0 is not pipelined.
    pub ahead: Vec<i64>,
    /// Whether left operands that can be resident in shared memory are.
    pub residents: bool,
    /// The stages of the ring that all loads share, or zero if each load has its own ring.
    pub shared: i64,
}

impl Depths {
    /// Returns the schedule that the loads carry. Without one, all copies start equally far ahead, with as many stages
    /// as fit into `shared` bytes and at most `most`. Left operands are resident in shared memory if that leaves two
    /// stages.
    pub fn choose(found: &Candidates<'_>, shared: u64, most: i64) -> Result<Self, Failed> {
        Ok(Self::scheduled(found, shared)?.unwrap_or_else(|| Self::choose_freely(found, shared, most)))
    }

    fn choose_freely(found: &Candidates<'_>, shared: u64, most: i64) -> Self {
        let resident = found.residents.iter().map(|r| padded_bytes(r.desc)).sum();
        let stages = stages_beside(found, resident, shared, most);
        if stages >= 2 {
            return Self::uniform(found, stages, resident > 0);
        }
        let sharing = |stages: i64, residents: bool| {
            let ahead = vec![0; found.loads.len()];
            Self { ahead, residents, shared: stages }
        };
        let is_needed = found.residents.iter().any(|r| r.needed);
        if let Some(stages) = found.shared_stages(shared, resident).filter(|_| most >= 2 && is_needed) {
            return sharing(stages, true);
        }
        let stages = stages_beside(found, 0, shared, most);
        if let Some(stages) = found.shared_stages(shared, 0).filter(|_| most >= 2 && stages < 2) {
            return sharing(stages, false);
        }
        Self::uniform(found, stages, false)
    }

    /// Gives every ring `stages` stages.
    fn uniform(found: &Candidates<'_>, stages: i64, residents: bool) -> Self {
        Self { ahead: vec![(stages - 1).max(0); found.loads.len()], residents, shared: 0 }
    }

    /// The depths that a schedule gives, unless they cannot be followed.
    pub fn scheduled(found: &Candidates<'_>, shared: u64) -> Result<Option<Self>, Failed> {
        Self::given(found).map(|given| given.checked(found, shared)).transpose()
    }

    fn given(found: &Candidates<'_>) -> Option<Self> {
        let ahead: Vec<Option<i64>> = found.loads.iter().map(|l| AHEAD.get(l.op)).collect();
        let given = ahead.iter().any(Option::is_some);
        given.then(|| Self { ahead: ahead.into_iter().map(|a| a.unwrap_or(0)).collect(), residents: false, shared: 0 })
    }

    /// Returns the schedule, or an error if it cannot be followed. The scheduler considers each loop separately. If
    /// inner loops already have rings, the deepest copies start later until all rings fit.
    fn checked(mut self, found: &Candidates<'_>, shared: u64) -> Result<Self, Failed> {
        if let Some((load, ahead)) = found.loads.iter().zip(&self.ahead).find(|(_, a)| **a < 0) {
            return Err(fail(load.op, format!("a copy cannot start {ahead} iterations ahead")));
        }
        let taken = found.own_bytes(&self.ahead);
        if taken > shared {
            return Err(fail(
                found.op,
                format!("the schedule needs {taken} bytes of shared memory, but only {shared} are available"),
            ));
        }
        while found.bytes(&self.ahead) > shared
            && let Some(deepest) = self.ahead.iter_mut().max().filter(|a| **a > 0)
        {
            *deepest -= 1;
        }
        Ok(self)
    }

    /// Whether any copy starts ahead.
    pub fn is_pipelined(&self) -> bool {
        self.shared > 0 || self.ahead.iter().any(|&a| a > 0)
    }

    /// Reports why the rings have fewer stages than allowed, or why the loop is not pipelined.
    pub fn remark_on_stages(&self, found: &Candidates<'_>, shared: u64, most: i64) {
        let stages = self.ahead.iter().max().map_or(1, |a| a + 1);
        if stages >= most || most < 2 || self.shared > 0 || Self::given(found).is_some() {
            return;
        }
        let stage: u64 = found.loads.iter().map(|l| padded_bytes(l.desc)).sum();
        let advice = Advice::SmallerTiles;
        if stages < 2 {
            let reason = format!("no load is started ahead: a stage takes {stage} of {shared} bytes of shared memory");
            remark(found.op, remark::NOT_PIPELINED, reason, advice);
        } else {
            let reason =
                format!("{stages} stages instead of {most}: each takes {stage} of {shared} bytes of shared memory");
            remark(found.op, remark::FEWER_STAGES, reason, advice);
        }
    }
}

impl Candidates<'_> {
    /// Whether the loads share a ring unless a schedule says otherwise.
    pub fn is_shared(&self, shared: u64) -> bool {
        Depths::choose_freely(self, shared, 2).shared > 0
    }
}

/// The number of stages that fit next to the body's other uses of shared memory.
fn stages_beside(found: &Candidates<'_>, resident: u64, shared: u64, most: i64) -> i64 {
    let stage: u64 = found.loads.iter().map(|l| padded_bytes(l.desc)).sum();
    let left = shared.saturating_sub(taken_beside(found, resident));
    most.min((left / stage.max(1)) as i64)
}
