//! A prediction for programs: JSON, and the timeline of a block in the trace format that Perfetto reads.

use super::report::main_reason;
use super::{Prediction, Reason};
use serde_json::{Value, json};

impl Prediction {
    pub fn json(&self) -> Value {
        let lines: Vec<Value> = self
            .lines
            .iter()
            .map(|l| {
                let waits: serde_json::Map<String, Value> = Reason::ALL
                    .into_iter()
                    .filter(|r| l.cost.waits[*r as usize] > 0.0)
                    .map(|r| (r.name().to_string(), json!(l.cost.waits[r as usize].round())))
                    .collect();
                json!({
                    "function": l.function, "line": l.line, "text": l.text, "issued": l.cost.issued,
                    "reason": main_reason(&l.cost).name(), "waits": waits,
                })
            })
            .collect();
        let busy: serde_json::Map<String, Value> = self.busy.iter().map(|(n, x)| (n.to_string(), json!(x))).collect();
        let waits: serde_json::Map<String, Value> =
            self.waits.iter().map(|(r, x)| (r.name().to_string(), json!(x))).collect();
        json!({
            "machine": self.machine, "clocks": self.clocks, "mhz": self.mhz, "us": self.microseconds,
            "blocks": self.blocks, "resident": self.resident, "limited_by": self.limited_by,
            "registers": self.registers, "blocks_per_sm": self.blocks_per_sm, "first_share": self.first_share,
            "busy": busy, "waits": waits, "lines": lines,
        })
    }

    /// The first block in time, one row for each warp. Clocks are shown as nanoseconds of the machine's own clock.
    pub fn perfetto(&self) -> Value {
        let us = |clocks: f64| clocks / self.mhz;
        let spans = self.spans.iter().map(|s| {
            json!({"ph": "X", "pid": 0, "tid": s.row, "name": s.name, "ts": us(s.start), "dur": us(s.end - s.start)})
        });
        let mut rows: Vec<u32> = self.spans.iter().map(|s| s.row).collect();
        rows.sort_unstable();
        rows.dedup();
        let names = rows.iter().map(|row| {
            let args = json!({"name": format!("warp {row}")});
            json!({"ph": "M", "pid": 0, "tid": row, "name": "thread_name", "args": args})
        });
        json!({"traceEvents": names.chain(spans).collect::<Vec<Value>>(), "displayTimeUnit": "ns"})
    }
}
