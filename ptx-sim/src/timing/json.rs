//! A prediction as JSON, and the timeline of a CTA in the trace format of Perfetto.

use super::prediction::Prediction;
use super::report::main_reason;
use super::waits::Reason;
use serde_json::{Value, json};

impl Prediction {
    pub fn json(&self) -> Value {
        let lines: Vec<Value> = self
            .lines
            .iter()
            .map(|l| {
                json!({
                    "function": l.function, "line": l.line, "text": l.text, "issued": l.cost.issued,
                    "reason": main_reason(&l.cost).name(), "waits": clocks(&l.cost.waits),
                    "caused": clocks(&l.cost.caused),
                })
            })
            .collect();
        let sources: Vec<Value> = self
            .costliest(usize::MAX)
            .map(|(s, share)| {
                json!({
                    "file": s.file, "line": s.line, "text": s.text, "issued": s.cost.issued, "share": share,
                    "used": s.cost.used_share(),
                    "reason": s.main_reason().0.name(), "waits": clocks(&s.cost.waits),
                    "caused": clocks(&s.cost.caused),
                })
            })
            .collect();
        let agents: Vec<Value> = self
            .agents
            .iter()
            .map(|a| {
                json!({
                    "name": a.name, "first_warp": a.warps.start, "warps": a.warps.len(), "issued": a.cost.issued,
                    "waits": clocks(&a.cost.waits),
                })
            })
            .collect();
        let busy: serde_json::Map<String, Value> = self.busy.iter().map(|(n, x)| (n.to_string(), json!(x))).collect();
        let waits: serde_json::Map<String, Value> =
            self.waits.iter().map(|(r, x)| (r.name().to_string(), json!(x))).collect();
        let power = self
            .power
            .map(|p| json!({"watts": p.watts, "demand": p.demand, "limit": p.limit, "sustained_mhz": p.sustained}));
        json!({
            "machine": self.machine, "clocks": self.clocks, "mhz": self.mhz, "us": self.microseconds, "power": power,
            "blocks": self.blocks, "resident": self.resident, "limited_by": self.limited_by,
            "registers": self.registers, "blocks_per_sm": self.blocks_per_sm, "first_share": self.first_share,
            "busy": busy, "waits": waits, "agents": agents, "sources": sources, "lines": lines,
            "notes": self.notes.json(),
        })
    }

    /// The timeline of the first CTA, with one row for each warp. Times are in microseconds at the predicted clock.
    pub fn perfetto(&self) -> Value {
        let us = |clocks: f64| clocks / self.mhz;
        let spans = self.spans.iter().map(|s| {
            json!({"ph": "X", "pid": 0, "tid": s.row, "name": s.name, "ts": us(s.start), "dur": us(s.end - s.start)})
        });
        let mut rows: Vec<u32> = self.spans.iter().map(|s| s.row).collect();
        rows.sort_unstable();
        rows.dedup();
        let names = rows.iter().map(|row| {
            let agent = self.agents.iter().find(|a| a.warps.contains(row));
            let agent = agent.map_or(String::new(), |a| format!("{}, ", a.name));
            let args = json!({"name": format!("{agent}warp {row}")});
            json!({"ph": "M", "pid": 0, "tid": row, "name": "thread_name", "args": args})
        });
        json!({"traceEvents": names.chain(spans).collect::<Vec<Value>>(), "displayTimeUnit": "ns"})
    }
}

/// Clocks by reason, without zeros.
fn clocks(by_reason: &[f64; Reason::ALL.len()]) -> serde_json::Map<String, Value> {
    let some = Reason::ALL.into_iter().filter(|r| by_reason[*r as usize] > 0.0);
    some.map(|r| (r.name().to_string(), json!(by_reason[r as usize].round()))).collect()
}
