//! Describes operations in words, with the values that they have in a run.

use crate::code::Cursor;
use crate::program::{Engine, Op, Place, Program, StageAccess};

impl Program {
    /// The name of a barrier of either kind, as `name[slot]`.
    pub(crate) fn slot_name(&self, slot: usize) -> String {
        let mut arrays =
            self.barriers.iter().map(|b| (&b.slots, &b.name)).chain(self.named.iter().map(|n| (&n.slots, &n.name)));
        arrays
            .find(|(slots, _)| slots.contains(&slot))
            .map_or_else(String::new, |(slots, name)| format!("{name}[{}]", slot - slots.start))
    }

    /// Formats `name[slot]`.
    fn member(&self, name: &str, place: &Place, cursor: &Cursor, parameters: &[i64]) -> String {
        format!("{name}[{}]", place.slot.eval(&cursor.variables, parameters))
    }

    pub(crate) fn describe(&self, op: &Op, cursor: &Cursor, parameters: &[i64]) -> String {
        let value = |e: &crate::Expr| e.eval(&cursor.variables, parameters);
        let barrier = |p: &Place| self.member(&self.barriers[p.array.0].name, p, cursor, parameters);
        let named = |p: &Place| self.member(&self.named[p.array.0].name, p, cursor, parameters);
        let stage = |p: &Place| self.member(&self.storages[p.array.0].name, p, cursor, parameters);
        match op {
            Op::Wait { barrier: b, parity } => format!("waits for parity {} of {}", value(parity), barrier(b)),
            Op::Arrive { barrier: b, count: 1 } => format!("arrives at {}", barrier(b)),
            Op::Arrive { barrier: b, count } => format!("arrives {count} times at {}", barrier(b)),
            Op::ArriveAfter { engine, barrier: b, count } => {
                format!("will arrive {count} times at {}, after its {}", barrier(b), group(*engine))
            }
            Op::Expect { barrier: b, bytes } => format!("announces {bytes} bytes to {}", barrier(b)),
            Op::Copy { into, tag, bytes, barrier: b } => {
                format!(
                    "starts a copy of {bytes} bytes for {} into {}, counted by {}",
                    value(tag),
                    stage(into),
                    barrier(b)
                )
            }
            Op::Begin { engine, access, place, tag } => {
                let what = match (engine, access) {
                    (Engine::Dot, _) => "a dot",
                    (Engine::Copy, _) => "an asynchronous copy",
                    (Engine::Store, _) => "a bulk store",
                };
                let how = match access {
                    StageAccess::Read | StageAccess::ReadInOrder => "reads",
                    StageAccess::Write => "writes",
                    StageAccess::Accumulate => "adds to",
                };
                format!("starts {what} that {how} {} for {}", stage(place), value(tag))
            }
            Op::Commit(engine) => format!("commits its {}", group(*engine)),
            Op::WaitGroups { engine, pending } => {
                format!("waits until at most {pending} groups of its {} are in flight", group(*engine))
            }
            Op::Read { from, tag } => format!("reads {} for {}", stage(from), value(tag)),
            Op::Write { into, tag } => format!("writes {} for {}", stage(into), value(tag)),
            Op::Fence => "fences the asynchronous proxy".to_owned(),
            Op::Sync(place) => format!("synchronizes at {}", named(place)),
            Op::Post(place) => format!("arrives at {}", named(place)),
            Op::Set(..) | Op::Loop { .. } | Op::If { .. } => "computes".to_owned(),
        }
    }
}

fn group(engine: Engine) -> &'static str {
    match engine {
        Engine::Dot => "dots",
        Engine::Copy => "copies",
        Engine::Store => "stores",
    }
}
