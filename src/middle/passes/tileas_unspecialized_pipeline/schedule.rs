//! How deep a loop is pipelined: how many iterations ahead of its own each copy starts.
//!
//! The expansion takes a [`Schedule`] and asks nothing else, so that a scheduler which knows latencies can give it
//! another than [`Schedule::choose`] does: a load that carries [`AHEAD`] has been scheduled, and a loop with such loads
//! is expanded as they say, as far as the rings of inner loops leave room. Loads of it that carry none stay where they
//! are.

use crate::analysis::ring_loads::{Candidates, taken_beside};
use crate::dialect::{
    pass::{Failed, fail},
    remark::{self, remark},
    rt::*,
    shared_memory::padded_bytes,
};
use melior::ir::{Attribute, AttributeLike};

/// Discardable attribute of a load in a loop: iterations from the start of its copy to its own.
pub const AHEAD: &str = "nv_tileas.ahead";

/// What the expansion of a loop does with its candidates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// For each load, how many iterations ahead of its own the copy starts, which takes one stage more than that. A
    /// load with 0 stays where it is.
    pub ahead: Vec<i64>,
    /// Whether left operands that may stay in shared memory do.
    pub residents: bool,
}

impl Schedule {
    /// The schedule that the loads carry; otherwise all copies start equally early, in as many stages as fit and at
    /// most `most`, into so many bytes of shared memory. Left operands stay in shared memory if that leaves two stages.
    pub fn choose(found: &Candidates<'_>, shared: u64, most: i64) -> Result<Self, Failed> {
        if let Some(given) = Self::given(found) {
            return given.checked(found, shared);
        }
        let resident = found.residents.iter().map(|r| padded_bytes(r.desc)).sum();
        let stages = stages_beside(found, resident, shared, most);
        if stages >= 2 || resident == 0 {
            return Ok(Self::uniform(found, stages, resident > 0));
        }
        Ok(Self::uniform(found, stages_beside(found, 0, shared, most), false))
    }

    /// Every ring has `stages` stages.
    fn uniform(found: &Candidates<'_>, stages: i64, residents: bool) -> Self {
        Self { ahead: vec![(stages - 1).max(0); found.loads.len()], residents }
    }

    fn given(found: &Candidates<'_>) -> Option<Self> {
        let distance = |op| discardable_attr(op, AHEAD).filter(|a| is_integer(*a)).map(int_attr);
        let ahead: Vec<Option<i64>> = found.loads.iter().map(|l| distance(l.op)).collect();
        let given = ahead.iter().any(Option::is_some);
        given.then(|| Self { ahead: ahead.into_iter().map(|a| a.unwrap_or(0)).collect(), residents: false })
    }

    /// The schedule, if it can be carried out. The scheduler takes each loop by itself, so where inner loops have rings
    /// already, copies start less early until all rings fit.
    fn checked(mut self, found: &Candidates<'_>, shared: u64) -> Result<Self, Failed> {
        if let Some((load, ahead)) = found.loads.iter().zip(&self.ahead).find(|(_, a)| **a < 0) {
            return Err(fail(load.op, format!("a copy cannot start {ahead} iterations ahead")));
        }
        let taken = found.own_bytes(&self.ahead);
        if taken > shared {
            return Err(fail(found.op, format!("the schedule takes {taken} of {shared} bytes of shared memory")));
        }
        while found.bytes(&self.ahead) > shared
            && let Some(deepest) = self.ahead.iter_mut().max().filter(|a| **a > 0)
        {
            *deepest -= 1;
        }
        Ok(self)
    }

    /// Whether it starts any copy early.
    pub fn is_pipelined(&self) -> bool {
        self.ahead.iter().any(|&a| a > 0)
    }

    /// Tells why rings have fewer stages than they may, or why there is none.
    pub fn remark_on_stages(&self, found: &Candidates<'_>, shared: u64, most: i64) {
        let stages = self.ahead.iter().max().map_or(1, |a| a + 1);
        if stages >= most || most < 2 || Self::given(found).is_some() {
            return;
        }
        let stage: u64 = found.loads.iter().map(|l| padded_bytes(l.desc)).sum();
        let suggestion = "take smaller tiles";
        if stages < 2 {
            let reason = format!("no load is started ahead: a stage takes {stage} of {shared} bytes of shared memory");
            remark(found.op, remark::NOT_PIPELINED, reason, suggestion);
        } else {
            let reason =
                format!("{stages} stages instead of {most}: each takes {stage} of {shared} bytes of shared memory");
            remark(found.op, remark::FEWER_STAGES, reason, suggestion);
        }
    }
}

fn is_integer(a: Attribute<'_>) -> bool {
    // SAFETY: the attribute is alive.
    unsafe { mlir_sys::mlirAttributeIsAInteger(a.to_raw()) }
}

/// As many stages as fit beside what else the body keeps in shared memory.
fn stages_beside(found: &Candidates<'_>, resident: u64, shared: u64, most: i64) -> i64 {
    let stage: u64 = found.loads.iter().map(|l| padded_bytes(l.desc)).sum();
    let left = shared.saturating_sub(taken_beside(found, resident));
    most.min((left / stage.max(1)) as i64)
}
