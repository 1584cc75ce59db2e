//! The machine that runs one launch: all state that instructions read and change.
//!
//! Units add instructions through their traits; this module depends on none of them.

use super::coverage::Coverage;
use super::error::{SimError, SimErrorKind};
use super::in_flight::AsyncEngine;
use super::memory::{Bytes, GlobalMemory};
use super::options::{Config, RunOptions};
use super::program::Program;
use super::race::Race;
use super::record::Recorder;
use super::rng::Rng;
use super::stats::Stats;
use super::tensor::TmemState;
use super::warp::{Wait, Warp};
use rustc_hash::FxHashSet;
use std::time::Instant;

/// The failure of one instruction, with the lane if known.
#[derive(Debug)]
pub(crate) struct Fail {
    pub kind: Box<SimErrorKind>,
    pub lane: Option<usize>,
}

impl From<SimErrorKind> for Fail {
    fn from(kind: SimErrorKind) -> Fail {
        Fail { kind: Box::new(kind), lane: None }
    }
}

impl Fail {
    pub fn at(kind: SimErrorKind, lane: usize) -> Fail {
        Fail { kind: Box::new(kind), lane: Some(lane) }
    }

    /// Turns the error of a completed operation into an error of the instruction that waited for it.
    pub fn of_operation(e: SimError) -> Fail {
        let at = e.at.as_ref().map(|s| format!(" (issued at line {}: `{}`)", s.line, s.text)).unwrap_or_default();
        match e.kind {
            SimErrorKind::AsyncCopy(what) => SimErrorKind::AsyncCopy(format!("{what}{at}")).into(),
            kind => kind.into(),
        }
    }
}

/// How execution continues after an instruction.
#[derive(Debug)]
pub(crate) enum Flow {
    Next,
    /// The instruction has set the program counter of the part, or changed the set of parts.
    Moved,
    /// Execute the instruction again once the wait is over; the handler finds the wait in `Machine::resumed`.
    Wait(Wait),
}

pub(crate) type StepResult = Result<Flow, Fail>;

/// A named barrier of a CTA.
#[derive(Clone, Debug, Default)]
pub(crate) struct Barrier {
    pub arrived: u32,
    /// Explicit thread count; 0 for the whole CTA.
    pub expected: u32,
    pub generation: u64,
    /// Reduction in progress: lanes with a true predicate, and all lanes that supplied one.
    pub ones: u32,
    pub voters: u32,
    /// Result of the last generation.
    pub last_ones: u32,
    pub last_voters: u32,
}

pub(crate) struct Cta {
    pub id: [u32; 3],
    /// Number of the CTA, in order of admission.
    pub uid: u32,
    /// Cluster slot.
    pub cluster: usize,
    pub rank: u32,
    pub shared: Bytes,
    pub warps: Vec<Option<Box<Warp>>>,
    pub live_threads: u32,
    pub barriers: Vec<Barrier>,
    /// Whether a CTA occupies the slot.
    pub active: bool,
    pub tmem: TmemState,
    /// Whether a thread has seen the refusal of a `clusterlaunchcontrol` request.
    pub refused: bool,
}

/// State shared by the CTAs of a cluster.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cluster {
    pub active: bool,
    pub arrived: u32,
    pub generation: u64,
    /// In a record, the cluster that it took over last, at first itself.
    pub last: u64,
}

/// The extents of a launch.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub cluster: [u32; 3],
    pub explicit_cluster: bool,
    pub dynamic_shared: u32,
    pub entry: u32,
}

impl Shape {
    pub fn threads(&self) -> u32 {
        self.block.iter().product()
    }

    pub fn cluster_size(&self) -> usize {
        self.cluster.iter().product::<u32>() as usize
    }

    pub fn cluster_grid(&self) -> [u32; 3] {
        std::array::from_fn(|i| self.grid[i] / self.cluster[i].max(1))
    }
}

pub(crate) struct Machine<'a> {
    pub prog: &'a Program,
    pub mem: &'a mut GlobalMemory,
    pub shape: Shape,
    pub config: &'a Config,
    pub options: &'a RunOptions,
    pub ctas: Vec<Cta>,
    pub clusters: Vec<Cluster>,
    pub next_cluster: u64,
    /// Clusters that another one has taken over before they started.
    pub canceled: FxHashSet<u64>,
    pub executed: u64,
    /// Value of `executed` at the last effect on memory or barriers.
    pub progress: u64,
    pub stall_rounds: u32,
    /// Polls of memory that found no change: strong loads, failed compare-and-swaps, tests of barriers.
    pub spin_hints: u64,
    pub stats: Stats,
    pub output: String,
    pub trace: Vec<String>,
    pub rng: Rng,
    pub race: Option<Race>,
    pub recorder: Option<Recorder>,
    pub coverage: Option<Coverage>,
    pub engine: AsyncEngine,
    /// The warp that is executing an instruction, by its race-detection number.
    pub running: Option<u32>,
    /// The wait that suspended the instruction now being executed again.
    pub resumed: Option<Wait>,
    pub next_agent: u32,
    pub heap: Vec<u64>,
    pub started: Instant,
    /// Whether some CTA may have exited since the last round and must be retired.
    pub exited: bool,
    pub grid_id: u64,
}

impl<'a> Machine<'a> {
    pub fn new(
        prog: &'a Program,
        mem: &'a mut GlobalMemory,
        shape: Shape,
        config: &'a Config,
        options: &'a RunOptions,
        grid_id: u64,
    ) -> Self {
        let seed = options.adversarial;
        Machine {
            prog,
            mem,
            shape,
            config,
            options,
            ctas: Vec::new(),
            clusters: Vec::new(),
            next_cluster: 0,
            canceled: FxHashSet::default(),
            executed: 0,
            progress: 0,
            stall_rounds: 0,
            spin_hints: 0,
            stats: Stats::default(),
            output: String::new(),
            trace: Vec::new(),
            rng: Rng::new(seed.unwrap_or(0)),
            recorder: options.record.clone().map(Recorder::new),
            coverage: options.coverage.then(|| Coverage::new(prog)),
            race: seed.map(|_| Race::new(options.strict)),
            engine: AsyncEngine::new(seed.is_some()),
            running: None,
            resumed: None,
            next_agent: 0,
            heap: Vec::new(),
            started: Instant::now(),
            exited: false,
            grid_id,
        }
    }

    /// Records an effect that other threads can observe.
    #[inline]
    pub fn mark_progress(&mut self) {
        self.progress = self.executed;
        self.stall_rounds = 0;
    }

    /// The number of clusters that start, unless they are canceled.
    pub fn total_clusters(&self) -> u64 {
        match &self.recorder {
            Some(recorder) => recorder.options.clusters.len() as u64,
            None => self.shape.cluster_grid().iter().map(|n| u64::from(*n)).product(),
        }
    }

    /// The index of a cluster in the grid of clusters.
    pub fn cluster_id(&self, index: u64) -> [u32; 3] {
        let grid = self.shape.cluster_grid();
        let (gx, gy) = (u64::from(grid[0]), u64::from(grid[1]));
        [(index % gx) as u32, (index / gx % gy) as u32, (index / gx / gy) as u32]
    }

    pub fn check_time(&self) -> Result<(), SimError> {
        if let Some(limit) = self.options.max_time
            && self.started.elapsed() > limit
        {
            return Err(SimError::new(SimErrorKind::TimeLimit));
        }
        Ok(())
    }

    /// Makes the next round look for CTAs to retire.
    pub fn recheck_exits(&mut self) {
        self.exited |= self.ctas.iter().any(|c| c.active && c.live_threads == 0);
    }

    /// Requires all live lanes of the warp, as `.aligned` instructions do; otherwise the part waits for the others.
    pub fn converged(&self, w: &Warp, mask: u32) -> Option<Flow> {
        (mask != w.live).then_some(Flow::Wait(Wait::Converge))
    }

    /// Requires all live lanes of the warp, and all 32 lanes live, as matrix instructions do.
    pub fn whole_warp(&self, w: &Warp, mask: u32) -> Result<Option<Flow>, Fail> {
        if mask != w.live {
            return Ok(Some(Flow::Wait(Wait::Converge)));
        }
        if mask != u32::MAX {
            return Err(SimErrorKind::Tensor("a matrix instruction needs all 32 lanes of the warp".into()).into());
        }
        Ok(None)
    }

    /// Records a synchronization with threads outside the warp, which also orders the warp's lanes.
    pub fn all_lanes_meet(&mut self, w: &Warp) {
        if let Some(race) = &mut self.race {
            race.lanes_meet(w.agent, u32::MAX, w.live, w.steps);
        }
    }
}
