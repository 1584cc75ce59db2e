//! Runs a launch: admission of CTAs, scheduling of warps and of their parts, stall detection.

use super::state::error::{SimError, SimErrorKind, Site};
use super::state::machine::{Barrier, Cluster, Cta, Fail, Flow, Machine};
use super::state::memory::Bytes;
use super::state::program::{Class, DInst, Func, SHARED_START};
use super::state::race::Home;
use super::state::record::{BlockTrace, Event};
use super::state::tensor::TmemState;
use super::state::warp::{Env, LaneGroups, Split, Wait, Warp};
use super::step::Dispatch;
use super::units::completion::Operations;
use super::units::observe::Observe;
use super::units::report::Reports;
use super::units::tcgen05::TensorMemoryOps;
use super::units::warp_exec::WarpOps;
use super::{state::undefined::Undefined, units::defined};
use smallvec::SmallVec;
use std::cell::Cell;

/// Number of warp instructions after which further CTAs are admitted although none has finished.
const ADMIT_AFTER: u64 = 300_000;

/// Number of warp instructions without effect after which the launch counts as hung.
const LIVELOCK: u64 = 50_000_000;

/// Warp instructions in a time slice.
const SLICE: u64 = 20_000;

/// The clusters that start at once under an adversarial seed.
const AT_START: usize = 8;
/// The same for kernels that take over clusters, by the remainder of the seed: others must be left to take over, unless
/// all requests are refused (`cancel_cluster`).
const AT_START_OF_TAKEOVERS: [usize; 4] = [1, 2, 3, AT_START];
/// How many times timed waits may give up while nothing else happens.
const STALL_ROUNDS: u32 = 8;

/// Runs a launch.
pub(crate) trait Executor {
    /// Runs the launch to completion.
    fn run(&mut self) -> Result<(), SimError>;

    /// Describes the waits of all threads, one line for each distinct situation in a CTA.
    fn wait_graph(&self) -> String;
}

impl Executor for Machine<'_> {
    fn run(&mut self) -> Result<(), SimError> {
        let adversarial = self.options.adversarial.is_some();
        let max_resident = (self.config.max_resident_ctas as usize / self.shape.cluster_size().max(1)).max(1);
        let mut resident_target = self.clusters_at_start().min(max_resident);
        let mut admitted_at = 0u64;
        loop {
            self.retire();
            while self.clusters.iter().filter(|c| c.active).count() < resident_target {
                if !self.admit() {
                    break;
                }
                admitted_at = self.executed;
            }
            if !self.clusters.iter().any(|c| c.active) {
                self.engine_drain()?;
                return Ok(());
            }
            let before = self.executed;
            if adversarial {
                self.round_random()?
            } else {
                self.round()?
            }
            self.check_limits()?;
            self.abandon_after_budget(admitted_at);
            if self.executed != before || self.exited {
                if !self.exited && self.executed - admitted_at > ADMIT_AFTER {
                    // No CTA has finished, so the running ones may be waiting for others.
                    admitted_at = self.executed;
                    resident_target = (resident_target * 2).min(max_resident);
                }
                continue;
            }
            if self.engine_advance(true)? {
                continue;
            }
            if resident_target < max_resident && self.next_cluster < self.total_clusters() {
                resident_target = (resident_target * 2).min(max_resident);
                continue;
            }
            if !self.give_up_timed_waits() {
                return Err(SimError::new(SimErrorKind::Deadlock(self.wait_graph())));
            }
        }
    }

    fn wait_graph(&self) -> String {
        let mut lines: Vec<(String, Vec<String>)> = Vec::new();
        for cta in self.ctas.iter().filter(|c| c.active) {
            for w in cta.warps.iter().flatten() {
                for s in &w.splits {
                    let func = &self.prog.funcs[s.func as usize];
                    let inst = &func.code[s.pc as usize];
                    let what = self.describe_wait(w, s);
                    let [x, y, z] = cta.id;
                    let text = self.prog.text(inst);
                    let key = format!("CTA ({x},{y},{z}) at line {} `{text}`: {what}", inst.line);
                    let who = if s.mask == u32::MAX {
                        format!("warp {}", w.index)
                    } else {
                        format!("warp {} lanes {:#x}", w.index, s.mask)
                    };
                    match lines.iter_mut().find(|(k, _)| *k == key) {
                        Some((_, list)) => list.push(who),
                        None => lines.push((key, vec![who])),
                    }
                }
            }
        }
        let mut out: Vec<String> =
            lines.into_iter().map(|(key, who)| format!("  {key} [{}]", who.join(", "))).collect();
        out.extend(self.engine.describe_pending().into_iter().map(|l| format!("  {l}")));
        for wait in self.engine.phases.repeated() {
            out.push(format!("  {}: a {}: wrong parity?", self.warp_name(wait.origin.warp), self.passed_wait(&wait)));
        }
        out.join("\n")
    }
}

impl Machine<'_> {
    fn check_limits(&self) -> Result<(), SimError> {
        if let Some(limit) = self.options.max_instructions
            && self.executed > limit
        {
            return Err(SimError::new(SimErrorKind::InstructionLimit(limit)));
        }
        self.check_time()?;
        let idle = self.executed - self.progress;
        if idle > LIVELOCK {
            let waits = self.wait_graph();
            return Err(SimError::new(SimErrorKind::Livelock { instructions: idle, waits }));
        }
        Ok(())
    }

    /// Ends clusters whose start has been recorded.
    fn abandon_after_budget(&mut self, admitted_at: u64) {
        let Some(budget) = self.recorder.as_ref().and_then(|r| r.options.budget) else { return };
        let warps = u64::from(self.shape.threads().div_ceil(32)) * self.shape.cluster_size() as u64;
        if self.executed - admitted_at < budget * warps {
            return;
        }
        for cta in self.ctas.iter_mut().filter(|c| c.active) {
            cta.live_threads = 0;
            cta.warps.clear();
        }
        self.exited = true;
    }

    /// Gives every warp one time slice.
    fn round(&mut self) -> Result<(), SimError> {
        let budget = self.recorder.as_ref().and_then(|r| r.options.budget);
        let slice = budget.unwrap_or(SLICE).min(SLICE);
        for cta in 0..self.ctas.len() {
            for warp in 0..self.ctas[cta].warps.len() {
                self.run_slice(cta, warp, slice)?;
                self.check_limits()?;
            }
        }
        Ok(())
    }

    /// Gives warps short time slices in random order, with asynchronous operations completing in between.
    fn round_random(&mut self) -> Result<(), SimError> {
        let candidates: Vec<(usize, usize)> = (0..self.ctas.len())
            .flat_map(|c| (0..self.ctas[c].warps.len()).map(move |w| (c, w)))
            .filter(|(c, w)| self.ctas[*c].warps[*w].as_ref().is_some_and(|w| w.live != 0))
            .collect();
        if candidates.is_empty() {
            return Ok(());
        }
        // A warp may be favored or starved for a whole round.
        for _ in 0..candidates.len() {
            let (c, w) = candidates[self.rng.below(candidates.len() as u64) as usize];
            let spread = 1 << self.rng.below(9);
            let budget = 1 + self.rng.below(spread);
            self.run_slice(c, w, budget)?;
            if self.rng.below(64) == 0 {
                self.engine_advance(false)?;
            }
        }
        for (c, w) in candidates {
            self.run_slice(c, w, 1)?;
        }
        Ok(())
    }

    /// Runs a warp for at most `budget` instructions.
    fn run_slice(&mut self, cta: usize, index: usize, budget: u64) -> Result<(), SimError> {
        let Some(mut warp) = self.ctas[cta].warps[index].take() else { return Ok(()) };
        self.running = Some(warp.agent);
        let result = if warp.live != 0 { self.run_warp(&mut warp, budget) } else { Ok(()) };
        self.running = None;
        self.ctas[cta].warps[index] = Some(warp);
        result
    }

    /// Whether the part's wait is over.
    fn ready(&self, w: &Warp, s: &Split) -> bool {
        match &s.wait {
            None | Some(Wait::Yield) => true,
            Some(Wait::Converge) => s.mask == w.live,
            Some(Wait::Lanes(m)) => m & w.live & !s.mask == 0,
            Some(Wait::WarpBarrier(m)) => {
                let there = w.splits.iter().filter(|o| matches!(o.wait, Some(Wait::WarpBarrier(n)) if n == *m));
                there.fold(0, |acc, o| acc | o.mask) & m & w.live == m & w.live
            }
            Some(Wait::Barrier { id, generation }) => self.ctas[w.cta].barriers[*id as usize].generation != *generation,
            Some(Wait::Cluster { generation }) => self.clusters[self.ctas[w.cta].cluster].generation > *generation,
            Some(Wait::TimedOut) => true,
            Some(Wait::Mbarrier { cta, offset, parity, .. }) => self.mbarrier_ready(*cta, *offset, *parity),
            Some(Wait::TmemAlloc { columns }) => self.tmem_available(w.cta, *columns),
        }
    }

    fn run_warp(&mut self, w: &mut Warp, budget: u64) -> Result<(), SimError> {
        let mut left = budget;
        while left > 0 && w.live != 0 {
            if w.splits.len() > 1 {
                w.merge();
            }
            let Some(si) = self.pick(w) else { return Ok(()) };
            if let Some(Wait::WarpBarrier(m)) = w.splits[si].wait {
                // The whole group passes at once.
                for s in &mut w.splits {
                    if s.wait == Some(Wait::WarpBarrier(m)) {
                        s.wait = None;
                        s.pc += 1;
                    }
                }
                self.warp_synchronised(w, m);
                continue;
            }
            let hints = self.spin_hints;
            let used = self.run_split(w, si, left)?;
            left = left.saturating_sub(used.max(1));
            if w.splits.len() > 1
                && let Some(s) = w.splits.get_mut(si)
            {
                // A part that polls memory yields soon, because it may be waiting for its siblings. A part that
                // computes keeps running, so that the others wait for it at the reconvergence point.
                s.spent += used + 300 * (self.spin_hints - hints);
                if s.spent >= 5000 {
                    s.spent = 0;
                    s.penalty += 1;
                }
            }
        }
        Ok(())
    }

    /// Returns the ready part that comes first in the convergence order.
    fn pick(&mut self, w: &Warp) -> Option<usize> {
        if w.splits.len() == 1 {
            return self.ready(w, &w.splits[0]).then_some(0);
        }
        let mut ready: SmallVec<[usize; 8]> = (0..w.splits.len()).filter(|i| self.ready(w, &w.splits[*i])).collect();
        if ready.is_empty() {
            return None;
        }
        if self.options.adversarial.is_some() && self.rng.below(32) == 0 {
            let i = self.rng.below(ready.len() as u64) as usize;
            return Some(ready[i]);
        }
        ready.sort_by(|a, b| schedule_order(&w.splits[*a], &w.splits[*b]).then(a.cmp(b)));
        Some(ready[0])
    }

    /// Runs one part until it waits, diverges or uses up its budget. Returns the number of instructions executed.
    fn run_split(&mut self, w: &mut Warp, si: usize, budget: u64) -> Result<u64, SimError> {
        let prog = self.prog;
        self.resumed = w.splits[si].wait.take();
        let mut func: &Func = &prog.funcs[w.splits[si].func as usize];
        w.splits[si].order = func.code[w.splits[si].pc as usize].order;
        let mut used = 0u64;
        let alone = w.splits.len() == 1;
        // Other parts are waiting, so reschedule soon.
        let budget = if alone { budget } else { budget.min(1000) };
        while used < budget {
            let s = &w.splits[si];
            let pc = s.pc as usize;
            let inst = &func.code[pc];
            if inst.leader && used > 0 && w.splits.len() > 1 {
                w.splits[si].order = inst.order;
                return Ok(used);
            }
            let s = &w.splits[si];
            let mask = match inst.guard {
                None => s.mask,
                Some((p, negated)) => {
                    let p = w.frames[s.frame as usize].preds[p as usize];
                    s.mask & if negated { !p } else { p }
                }
            };
            used += 1;
            self.executed += 1;
            w.clock += 1;
            w.steps = w.steps.wrapping_add(1);
            self.stats.count(inst.class, mask);
            // One matrix instruction may take as long to simulate as thousands of others.
            if self.executed.is_multiple_of(1024) || inst.class == Class::Tensor {
                self.check_time()?;
            }
            if let Some(coverage) = &mut self.coverage {
                coverage.reach(w.splits[si].func, w.splits[si].pc, w.index, mask);
            }
            if self.options.trace {
                self.trace_line(w, inst, mask);
            }
            if w.undefined.is_some() {
                let (frame, lanes) = (w.splits[si].frame, w.splits[si].mask);
                let watch = self.watch(w.splits[si].func, w.splits[si].pc);
                if let Err(fail) = defined::check(w, frame, inst, lanes, mask, watch) {
                    return Err(self.locate(w, func, inst, lanes, fail));
                }
            }
            if mask == 0 {
                if self.recorder.is_some() {
                    let s = &w.splits[si];
                    w.events.push(Event { func: s.func, pc: s.pc, lanes: 0, a: 0, b: 0, c: 0 });
                }
                w.splits[si].pc += 1;
                continue;
            }
            let event = self.recorder.is_some().then(|| self.observe(w, si, inst, mask));
            let result = self.step(w, si, inst, mask);
            if let (Some(event), Ok(Flow::Next | Flow::Moved)) = (event, &result) {
                w.events.push(event);
            }
            match result {
                Ok(Flow::Next) => {
                    if let Some(coverage) = &mut self.coverage {
                        let s = &w.splits[si];
                        coverage.result(w, s.func, s.pc, s.frame, inst, mask);
                    }
                    w.splits[si].pc += 1;
                }
                Ok(Flow::Moved) => {
                    if !alone || w.splits.len() != 1 {
                        return Ok(used);
                    }
                    func = &prog.funcs[w.splits[si].func as usize];
                }
                Ok(Flow::Wait(wait)) => {
                    w.splits[si].wait = Some(wait);
                    return Ok(used);
                }
                Err(fail) => return Err(self.locate(w, func, inst, mask, fail)),
            }
            self.resumed = None;
        }
        Ok(used)
    }

    /// Which undefined registers to track at an instruction.
    fn watch(&self, function: u32, at: u32) -> defined::Watch {
        match self.options.arbitrary {
            None => defined::Watch::Unwritten,
            Some(a) => {
                let here = (a.function, a.at) == (function as usize, at as usize);
                defined::Watch::Arbitrary { here: here.then_some(a.lanes) }
            }
        }
    }

    fn locate(&self, w: &Warp, func: &Func, inst: &DInst, mask: u32, fail: Fail) -> SimError {
        let lane = fail.lane.unwrap_or(mask.trailing_zeros().min(31) as usize);
        let site = Site {
            function: func.name.clone(),
            line: inst.line,
            text: self.prog.text(inst),
            cta: w.env.ctaid,
            thread: std::array::from_fn(|i| w.env.tid[i][lane]),
        };
        SimError { kind: *fail.kind, at: Some(Box::new(site)) }
    }

    fn trace_line(&mut self, w: &Warp, inst: &DInst, mask: u32) {
        if self.trace.len() < self.options.trace_limit {
            let [x, y, z] = w.env.ctaid;
            let text = self.prog.text(inst);
            self.trace.push(format!("cta ({x},{y},{z}) warp {} {mask:08x} {}: {text}", w.index, inst.line));
        }
    }

    /// The number of clusters that start before any of them runs.
    fn clusters_at_start(&self) -> usize {
        match self.options.adversarial {
            None => 1,
            Some(seed) if self.prog.takes_over() => AT_START_OF_TAKEOVERS[(seed % 4) as usize],
            Some(_) => AT_START,
        }
    }

    /// Starts the next cluster; returns false if the grid is exhausted.
    fn admit(&mut self) -> bool {
        while self.canceled.remove(&self.next_cluster) {
            self.next_cluster += 1;
        }
        if self.next_cluster >= self.total_clusters() {
            return false;
        }
        let index = match &self.recorder {
            Some(recorder) => recorder.options.clusters[self.next_cluster as usize],
            None => self.next_cluster,
        };
        self.next_cluster += 1;
        let size = self.shape.cluster_size();
        let slot = match self.clusters.iter().position(|c| !c.active) {
            Some(slot) => slot,
            None => {
                self.clusters.push(Cluster::default());
                self.clusters.len() - 1
            }
        };
        self.clusters[slot] = Cluster { active: true, last: index, ..Cluster::default() };
        let clusterid = self.cluster_id(index);
        for rank in 0..size {
            let cta = self.new_cta(slot, slot * size + rank, clusterid, rank as u32);
            if slot * size + rank < self.ctas.len() {
                self.ctas[slot * size + rank] = cta;
            } else {
                self.ctas.push(cta);
            }
        }
        true
    }

    /// The number of SMs: few under an adversarial schedule, so that kernels that divide their work by it do so in
    /// small launches too.
    fn sms(&self) -> u32 {
        let most = self.options.adversarial.map_or(u32::MAX, |seed| 1 + (seed % 4) as u32);
        self.config.sms.clamp(1, most)
    }

    fn new_cta(&mut self, cluster: usize, slot: usize, clusterid: [u32; 3], rank: u32) -> Cta {
        let shape = &self.shape;
        let c = shape.cluster;
        let in_cluster = [rank % c[0], rank / c[0] % c[1], rank / c[0] / c[1]];
        let id: [u32; 3] = std::array::from_fn(|i| clusterid[i] * c[i] + in_cluster[i]);
        let threads = shape.threads();
        let warps = threads.div_ceil(32);
        let shared_bytes = SHARED_START + self.prog.shared_bytes + shape.dynamic_shared;
        let linear = (u64::from(id[2]) * u64::from(shape.grid[1]) + u64::from(id[1])) * u64::from(shape.grid[0])
            + u64::from(id[0]);
        let env = Env {
            ntid: shape.block,
            ctaid: id,
            nctaid: shape.grid,
            nwarps: warps,
            smid: (linear % u64::from(self.sms())) as u32,
            nsm: self.sms(),
            gridid: self.grid_id,
            clusterid,
            nclusterid: shape.cluster_grid(),
            cluster_ctaid: in_cluster,
            cluster_nctaid: c,
            rank,
            explicit_cluster: shape.explicit_cluster,
            dynamic_shared: shape.dynamic_shared,
            total_shared: shared_bytes,
            ..Env::default()
        };
        let uid = self.next_agent / warps.max(1);
        // The CTAs of a cluster have consecutive numbers.
        let home = Home { cta: uid, cluster: uid - rank };
        let list = (0..warps).map(|i| Some(Box::new(self.new_warp(slot, home, i, threads, env.clone())))).collect();
        Cta {
            id,
            uid,
            cluster,
            rank,
            shared: Bytes::new(shared_bytes as usize),
            warps: list,
            live_threads: threads,
            barriers: vec![Barrier::default(); 16],
            active: true,
            tmem: TmemState::new(self.config.trap_uninitialised),
            refused: false,
        }
    }

    fn new_warp(&mut self, cta: usize, home: Home, index: u32, threads: u32, mut env: Env) -> Warp {
        let func = &self.prog.funcs[self.shape.entry as usize];
        let count = (threads - 32 * index).min(32);
        let live = if count == 32 { u32::MAX } else { (1 << count) - 1 };
        let [bx, by, _] = self.shape.block;
        env.warpid = index;
        for lane in 0..32u32 {
            let t = 32 * index + lane;
            env.tid[0][lane as usize] = t % bx;
            env.tid[1][lane as usize] = t / bx % by;
            env.tid[2][lane as usize] = t / bx / by;
        }
        let fill = if self.options.adversarial.is_some() { self.rng.next() as u32 } else { 0 };
        let agent = self.next_agent;
        self.next_agent += 1;
        if let Some(race) = &mut self.race {
            race.new_agent(agent, home);
        }
        let clocks = self.options.clocks.as_ref().and_then(|reads| reads.of(env.ctaid, index));
        let mut warp = Warp {
            cta,
            index,
            live,
            splits: vec![Split {
                mask: live,
                pc: 0,
                func: self.shape.entry,
                frame: 0,
                stack: SmallVec::new(),
                order: 0,
                penalty: 0,
                spent: 0,
                wait: None,
            }],
            frames: Vec::new(),
            local: vec![Bytes::default(); 32],
            local_top: 0,
            kernel_local: func.local_bytes,
            env,
            clock: 0,
            clock_reads: clocks.map(|readings| (readings, Cell::new(0))),
            steps: 0,
            maxnreg: None,
            setmaxnreg_count: 0,
            cp_async: vec![LaneGroups::default(); 32],
            bulk: vec![LaneGroups::default(); 32],
            wgmma: Default::default(),
            agent,
            cluster_phase: [0; 32],
            undefined: match self.options.arbitrary {
                Some(_) => Some(Box::new(Undefined::nothing(func.planes, func.preds))),
                None => (self.race.is_some() && self.options.undefined)
                    .then(|| Box::new(Undefined::new(func.planes, func.preds))),
            },
            events: Vec::new(),
        };
        // Decoding rejects functions whose first frame would be too large.
        warp.new_frame(func.planes, func.preds, func.local_bytes, fill);
        warp
    }

    /// Frees clusters whose threads have all exited.
    fn retire(&mut self) {
        if !std::mem::take(&mut self.exited) {
            return;
        }
        let size = self.shape.cluster_size();
        for slot in 0..self.clusters.len() {
            if !self.clusters[slot].active {
                continue;
            }
            let range = slot * size..(slot + 1) * size;
            if self.ctas[range.clone()].iter().all(|c| c.live_threads == 0) && !self.engine.uses_ctas(&range) {
                self.clusters[slot].active = false;
                for cta in &mut self.ctas[range] {
                    cta.active = false;
                    if let Some(recorder) = self.recorder.as_mut().filter(|r| r.options.instructions) {
                        let warps = cta.warps.iter_mut().flatten().map(|w| std::mem::take(&mut w.events)).collect();
                        recorder.blocks.push(BlockTrace { id: cta.id, warps });
                    }
                    cta.warps.clear();
                    cta.shared = Bytes::default();
                }
                self.stats.ctas += size as u64;
                if let Some(finished) = &self.options.finished {
                    finished.fetch_add(size as u64, std::sync::atomic::Ordering::Relaxed);
                }
            }
        }
    }

    /// When all warps are stalled, makes timed waits report failure. Returns false after a few attempts.
    fn give_up_timed_waits(&mut self) -> bool {
        self.stall_rounds += 1;
        if self.stall_rounds > STALL_ROUNDS {
            return false;
        }
        let mut any = false;
        for w in self.ctas.iter_mut().flat_map(|c| c.warps.iter_mut().flatten()) {
            for s in &mut w.splits {
                if matches!(s.wait, Some(Wait::Mbarrier { timed: true, .. })) {
                    s.wait = Some(Wait::TimedOut);
                    any = true;
                }
            }
        }
        any
    }

    fn describe_wait(&self, w: &Warp, s: &Split) -> String {
        match &s.wait {
            None | Some(Wait::Yield | Wait::TimedOut) => "running".into(),
            Some(Wait::Converge) => {
                format!("waits for the rest of its warp (lanes {:#x}) at an aligned instruction", w.live & !s.mask)
            }
            Some(Wait::Lanes(m) | Wait::WarpBarrier(m)) => {
                format!("waits for lanes {:#x} of its warp (member mask {m:#x})", m & w.live & !s.mask)
            }
            Some(Wait::Barrier { id, .. }) => {
                let b = &self.ctas[w.cta].barriers[*id as usize];
                let expected = if b.expected == 0 { self.ctas[w.cta].live_threads } else { b.expected };
                format!("waits on barrier {id}: {} of {expected} threads have arrived", b.arrived)
            }
            Some(Wait::Cluster { .. }) => {
                let cluster = self.ctas[w.cta].cluster;
                let live: u32 =
                    self.ctas.iter().filter(|c| c.active && c.cluster == cluster).map(|c| c.live_threads).sum();
                let c = &self.clusters[cluster];
                format!("waits on the cluster barrier: {} of {live} threads have arrived", c.arrived)
            }
            Some(Wait::Mbarrier { cta, offset, parity, .. }) => self.describe_mbarrier(*cta, *offset, *parity),
            Some(Wait::TmemAlloc { columns }) => format!("waits for {columns} free columns of tensor memory"),
        }
    }
}

/// The scheduling order of two parts: by penalty, then convergence order through the call stacks. If one call stack
/// contains the other, the deeper one comes first.
fn schedule_order(a: &Split, b: &Split) -> std::cmp::Ordering {
    let orders = |s: &Split| -> SmallVec<[u32; 4]> { s.stack.iter().map(|r| r.order).chain([s.order]).collect() };
    a.penalty.cmp(&b.penalty).then_with(|| {
        let (x, y) = (orders(a), orders(b));
        for (p, q) in x.iter().zip(&y) {
            if p != q {
                return p.cmp(q);
            }
        }
        y.len().cmp(&x.len())
    })
}
