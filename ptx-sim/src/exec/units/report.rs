//! Text for reports: the accesses involved, why a byte is unwritten, and the synchronization that is missing.

use crate::exec::state::error::{AccessReport, RaceReport, SimErrorKind};
use crate::exec::state::location::Location;
use crate::exec::state::machine::Machine;
use crate::exec::state::phases::PassedWait;
use crate::exec::state::race::{AccessKind, Missing, Origin};

/// Text for reports of races and waits.
pub(crate) trait Reports {
    /// The error for two accesses to one location that lack some synchronization.
    #[allow(clippy::too_many_arguments, reason = "all that a report consists of")]
    fn race_error(
        &self,
        space: &'static str,
        address: u64,
        name: String,
        first: (Origin, AccessKind),
        second: (Origin, AccessKind),
        missing: Missing,
        hint: Option<String>,
    ) -> SimErrorKind;

    /// Explains why a byte is unwritten, with the asynchronous copy that will write it, if any.
    fn why_unwritten(&self, target: Location) -> String;

    /// Describes a wait that passed.
    fn passed_wait(&self, wait: &PassedWait) -> String;

    /// Compares the waits of a warp with the phase that an operation completes.
    fn phase_hint(&self, operation: u32, warp: u32) -> Option<String>;

    fn quote(&self, origin: Origin) -> &str;

    fn warp_name(&self, agent: u32) -> String;
}

impl Reports for Machine<'_> {
    #[allow(clippy::too_many_arguments, reason = "all that a report consists of")]
    fn race_error(
        &self,
        space: &'static str,
        address: u64,
        name: String,
        first: (Origin, AccessKind),
        second: (Origin, AccessKind),
        missing: Missing,
        hint: Option<String>,
    ) -> SimErrorKind {
        let access = |(origin, how): (Origin, AccessKind)| {
            let what = match (how.write, how.strong) {
                (true, true) => "atomic",
                (false, true) => "strong read",
                (true, false) => "write",
                (false, false) => "read",
            };
            let proxy = if how.asynchronous { " (asynchronous)" } else { "" };
            AccessReport {
                what: format!("{what}{proxy}"),
                line: origin.line,
                text: self.quote(origin).into(),
                warp: match (missing, origin.lane) {
                    (Missing::LaneOrder | Missing::OneWriter, Some(lane)) => {
                        format!("lane {lane} of {}", self.warp_name(origin.warp))
                    }
                    _ => self.warp_name(origin.warp),
                },
            }
        };
        let advice = match missing {
            Missing::ProxyFence => "a fence.proxy.async is needed between the ordinary access and the asynchronous one",
            Missing::MapFence => {
                "a fence.proxy.tensormap::generic.acquire of this tensor map is needed between its write and the copy"
            }
            Missing::TensorFence => {
                "a tcgen05.fence::before_thread_sync is needed after the first, and a tcgen05.fence::after_thread_sync before the \
                 second, with the synchronization between them"
            }
            Missing::LaneOrder => "nothing orders the lanes of a warp: a bar.warp.sync (__syncwarp) is missing",
            Missing::OneWriter => "it is unspecified which lane wins",
            Missing::Scope => {
                "one is outside the other's scope: strong accesses race unless each scope includes both threads"
            }
            Missing::Order if space == "shared" => "no barrier orders them",
            Missing::Order => "no synchronization orders them",
        };
        let advice = hint.map_or(advice.to_string(), |hint| format!("{advice}; {hint}"));
        let (first, second) = (access(first), access(second));
        let report = Box::new(RaceReport { space, address, name, first, second, advice });
        match missing {
            Missing::ProxyFence | Missing::MapFence => SimErrorKind::MissingProxyFence(report),
            Missing::TensorFence => SimErrorKind::MissingTensorFence(report),
            _ => SimErrorKind::Race(report),
        }
    }

    fn why_unwritten(&self, target: Location) -> String {
        let reader = self.running;
        match self.engine.writer(target) {
            Some(op) => {
                let hint = op.race_agent.zip(reader).and_then(|(op, reader)| self.phase_hint(op, reader));
                let hint = hint.map(|h| format!("; {h}")).unwrap_or_default();
                let (text, line) = (self.quote(op.origin), op.origin.line);
                format!("is still being written by the asynchronous `{text}` of line {line}{hint}")
            }
            None => match reader.and_then(|w| self.engine.phases.last(w)).filter(|w| w.is_suspicious()) {
                Some(wait) => format!("was never written; the last {}: wrong parity?", self.passed_wait(wait)),
                None => "was never written".into(),
            },
        }
    }

    fn passed_wait(&self, wait: &PassedWait) -> String {
        let text = self.quote(wait.origin);
        let (offset, name) = (wait.barrier.1, self.prog.shared_name(wait.barrier.1));
        format!("wait, `{text}` at line {}, passed on {} of mbarrier {offset:#x}{name}", wait.origin.line, wait.phase())
    }

    fn phase_hint(&self, operation: u32, warp: u32) -> Option<String> {
        let c = self.engine.phases.completion(operation)?;
        let name = self.prog.shared_name(c.barrier.1);
        let copy = format!("the copy completes phase {} of mbarrier {:#x}{name}", c.phase, c.barrier.1);
        let wait = self.engine.phases.wait_on(warp, c.barrier);
        if let Some(wait) = wait.filter(|w| w.is_suspicious() && w.completed <= c.phase) {
            return Some(format!("{copy}, but the {}: wrong parity?", self.passed_wait(wait)));
        }
        if let Some(wait) = c.issuer.filter(|w| w.again) {
            return Some(format!("before the copy was issued, the {}: wrong parity?", self.passed_wait(&wait)));
        }
        match wait {
            None => Some(format!("{copy}, on which {} has not waited", self.warp_name(warp))),
            Some(wait) if wait.completed <= c.phase => Some(format!("{copy}, and the last {}", self.passed_wait(wait))),
            Some(_) => None,
        }
    }

    fn quote(&self, origin: Origin) -> &str {
        self.prog.source.get(origin.span.0 as usize..origin.span.1 as usize).unwrap_or("").trim()
    }

    fn warp_name(&self, agent: u32) -> String {
        let per_cta = self.shape.threads().div_ceil(32).max(1);
        let cta = self.ctas.iter().find(|c| c.active && c.uid == agent / per_cta);
        match cta {
            Some(c) => format!("warp {} of CTA ({},{},{})", agent % per_cta, c.id[0], c.id[1], c.id[2]),
            None => format!("warp {} of an earlier CTA", agent % per_cta),
        }
    }
}
