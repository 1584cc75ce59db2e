//! Checks that the PTX of a program contains the memory orders that the program requires.
//!
//! An atomic update, or an ordered load or store, specifies what it acquires and releases, and in which scope. A
//! launch reveals a lost order only if another block happens to depend on it. This check does not need a launch: it
//! compares the operations of a module with the instructions of the same source line.
//!
//!  the operations of a line | the instructions of the line |
//! ---|---|
//!  relaxed or stronger, in a scope | all that are not weak have at least this scope |
//!  release after an access | each of them releases, or a fence of the line precedes it |
//!  release after an access of another thread | additionally, a block barrier is between the two |
//!  acquire, with an observer | each of them acquires, a fence of the line follows it, or no access comes after |
//!
//! If the operations of a line differ, only their common requirements are checked. Code without line information is
//! not checked.

use ptx_sim::ir::{BarKind, BitOp, Cmp, Function, Imm, Inst, Op, Operand, RegId, Scope, Sem, Space, Special, Type};
use ptx_sim::timing::LineTable;
use std::collections::{BTreeMap, HashMap, HashSet};
use tile_bytecode::{AttrValue, Body, DebugAttr, DebugId, OpId, ReadError, ReadOptions, ValueId};

/// The requirements of a line's operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    pub acquire: bool,
    pub release: bool,
    pub scope: Scope,
}

/// The common requirements of each source line with such operations, by file and line.
pub type Orders = BTreeMap<(String, u32), Order>;

/// The requirements of a module in bytecode.
pub fn asked_for(bytecode: &[u8]) -> Result<Orders, ReadError> {
    let module = tile_bytecode::read(bytecode, &ReadOptions::default())?;
    let mut orders = Orders::new();
    for body in module.functions.iter().map(|f| &f.body) {
        add_orders(&module, body, &mut orders);
    }
    Ok(orders)
}

fn add_orders(module: &tile_bytecode::Module, body: &Body, orders: &mut Orders) {
    let used: HashSet<ValueId> = body.all_ops().flat_map(|op| op.operands().collect::<Vec<_>>()).collect();
    // The operation that defines each value. Other values are block arguments.
    let mut makers = HashMap::new();
    for op in body.all_ops() {
        makers.extend(op.results().map(|value| (value, op.id)));
        let value = |name: &str| {
            let index = op.spec.attrs.iter().position(|a| a.name == name)?;
            match op.attr(index)? {
                AttrValue::Enum(value) => Some(value),
                _ => None,
            }
        };
        let Some(semantics) = value("memory_ordering_semantics") else { continue };
        let place = op.location().and_then(|location| source_line(module, location));
        let (Some(mut order), Some(place)) = (order(semantics, value("memory_scope")), place) else { continue };
        order.acquire &= op.results().any(|result| used.contains(&result));
        // The token is the last operand.
        let group = op.spec.operands.iter().position(|o| o.name == "token");
        let token = group.filter(|group| op.group_len(*group) > 0).and_then(|_| op.operands().last());
        order.release &= token.is_some_and(|token| publishes(body, &makers, token));
        let all = orders.entry(place).or_insert(order);
        *all = Order {
            acquire: all.acquire && order.acquire,
            release: all.release && order.release,
            scope: all.scope.min(order.scope),
        };
    }
}

/// Whether a token may be ordered after an access.
fn publishes(body: &Body, makers: &HashMap<ValueId, OpId>, token: ValueId) -> bool {
    let (mut next, mut seen) = (vec![token], HashSet::new());
    while let Some(token) = next.pop() {
        if !seen.insert(token) {
            continue;
        }
        match makers.get(&token).map(|id| body.op(*id)) {
            Some(op) if op.spec.name == "make_token" => {}
            Some(op) if op.spec.name == "join_tokens" => next.extend(op.operands()),
            _ => return true,
        }
    }
    false
}

/// Decodes the schema's numbers; `None` for a weak access.
fn order(semantics: u32, scope: Option<u32>) -> Option<Order> {
    let (acquire, release) = match semantics {
        1 => (false, false),
        2 => (true, false),
        3 => (false, true),
        4 => (true, true),
        _ => return None,
    };
    let scope = match scope? {
        0 => Scope::Cta,
        1 => Scope::Gpu,
        _ => Scope::Sys,
    };
    Some(Order { acquire, release, scope })
}

/// File name and line of a location. Inlined code has its original location.
fn source_line(module: &tile_bytecode::Module, location: DebugId) -> Option<(String, u32)> {
    let name_of = |file: DebugId| match module.debug.get(file.index())? {
        DebugAttr::File { name, .. } => Some(module.text(*name)),
        _ => None,
    };
    let (file, line) = match module.debug.get(location.index())? {
        DebugAttr::Loc { file, line, .. } => (module.text(*file), *line),
        DebugAttr::SpecLoc { file, line, .. } => (name_of((*file)?)?, *line),
        DebugAttr::CallSite { callee, .. } | DebugAttr::SpecCallSite { callee, .. } => {
            return source_line(module, (*callee)?);
        }
        _ => return None,
    };
    Some((base_name(&file).into(), line.try_into().ok()?))
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The effect of an instruction on memory order.
enum Effect {
    Access(Order),
    Fence(Order),
}

fn effect(op: &Op) -> Option<Effect> {
    let order = |sem: Sem, scope: Scope| Order {
        acquire: matches!(sem, Sem::Acquire | Sem::AcqRel | Sem::Sc),
        release: matches!(sem, Sem::Release | Sem::AcqRel | Sem::Sc),
        scope,
    };
    match op {
        Op::Fence { sem, scope } => Some(Effect::Fence(order(*sem, *scope))),
        Op::Atom(m) | Op::Red(m) => Some(Effect::Access(order(m.sem, m.scope))),
        Op::Ld(m) | Op::St(m) if m.sem != Sem::Weak => Some(Effect::Access(order(m.sem, m.scope))),
        _ => None,
    }
}

/// Returns the orders that are missing in PTX with the line information of the module.
pub fn missing(orders: &Orders, module: &ptx_sim::Module) -> Vec<String> {
    let table = LineTable::of(&module.source);
    let mut missing = vec![];
    for function in &module.functions {
        let place = |inst: &Inst| table.at(inst.line).map(|(file, line)| (base_name(file).to_owned(), line));
        let mut found: BTreeMap<(String, u32), Vec<(usize, Effect)>> = BTreeMap::new();
        for (at, inst) in function.body.iter().enumerate() {
            if let (Some(effect), Some(place)) = (effect(&inst.op), place(inst)) {
                found.entry(place).or_default().push((at, effect));
            }
        }
        for (place, effects) in &found {
            let Some(order) = orders.get(place) else { continue };
            for (at, effect) in effects {
                let Effect::Access(has) = effect else { continue };
                if let Some(what) = lacks(order, has, *at, effects, function) {
                    let text = module.text_of(&function.body[*at]);
                    missing.push(format!("{}:{}: `{text}` {what}", place.0, place.1));
                }
            }
        }
    }
    missing
}

/// Describes what an access lacks.
fn lacks(
    order: &Order,
    has: &Order,
    at: usize,
    effects: &[(usize, Effect)],
    function: &Function,
) -> Option<&'static str> {
    let fence = |side: &dyn Fn(usize) -> bool| {
        let fences = effects.iter().filter(|(n, _)| side(*n));
        fences
            .filter_map(|(_, e)| if let Effect::Fence(o) = e { Some(o) } else { None })
            .any(|o| o.scope >= order.scope)
    };
    if has.scope < order.scope {
        return Some("has a smaller scope");
    }
    if order.release && !has.release && !fence(&|n| n < at) {
        return Some("does not release");
    }
    if order.release && follows_other_threads(function, at, effects) {
        return Some("does not release what other threads have accessed: no barrier is before it");
    }
    if order.acquire && !has.acquire && !fence(&|n| n > at) && followed_by_access(function, at, effects) {
        return Some("does not acquire");
    }
    None
}

/// Whether an access to memory that other threads observe may execute after an instruction. Accesses of the same line
/// do not count, because they may be other elements of the same update.
fn followed_by_access(function: &Function, from: usize, line: &[(usize, Effect)]) -> bool {
    let (mut seen, mut next) = (vec![false; function.body.len()], vec![from + 1]);
    while let Some(at) = next.pop() {
        let Some(inst) = function.body.get(at) else { continue };
        if std::mem::replace(&mut seen[at], true) {
            continue;
        }
        let unknown = matches!(inst.op, Op::CpAsync { .. } | Op::CpBulk(_) | Op::Call | Op::BrxIdx);
        if (unknown || accesses(inst)) && line.iter().all(|(n, _)| *n != at) {
            return true;
        }
        next.extend(successors(function, at));
    }
    false
}

/// Whether other threads may have accessed memory since the last barrier before an instruction. The guards show
/// whether the same single thread did both.
fn follows_other_threads(function: &Function, from: usize, line: &[(usize, Effect)]) -> bool {
    let mut before = vec![vec![]; function.body.len()];
    for at in 0..function.body.len() {
        for next in successors(function, at).filter(|next| *next < function.body.len()) {
            before[next].push(at);
        }
    }
    let guards = Guards::of(function);
    let thread = guards.single_thread(&function.body[from]);
    let (mut seen, mut next) = (vec![false; function.body.len()], before[from].clone());
    while let Some(at) = next.pop() {
        let inst = &function.body[at];
        let is_barrier = matches!(inst.op, Op::Bar { kind, .. } if kind != BarKind::Arrive);
        if is_barrier || std::mem::replace(&mut seen[at], true) {
            continue;
        }
        if accesses(inst)
            && line.iter().all(|(n, _)| *n != at)
            && (thread.is_none() || guards.single_thread(inst) != thread)
        {
            return true;
        }
        next.extend(&before[at]);
    }
    false
}

/// The registers of a destination.
fn registers(destination: &Operand) -> Vec<RegId> {
    match destination {
        Operand::Reg(register) => vec![*register],
        Operand::Vec(items) => items.iter().flat_map(registers).collect(),
        _ => vec![],
    }
}

/// Determines from the guards which threads of a block execute instructions.
struct Guards<'a> {
    function: &'a Function,
    /// The instruction that writes a register, if there is only one.
    written: HashMap<RegId, Option<usize>>,
}

impl Guards<'_> {
    fn of(function: &Function) -> Guards<'_> {
        let mut written = HashMap::new();
        for (at, inst) in function.body.iter().enumerate() {
            let given = inst.args.iter().enumerate().filter(|(n, _)| inst.defs >> n & 1 != 0);
            for register in given.flat_map(|(_, arg)| registers(arg)) {
                written.entry(register).and_modify(|w| *w = None).or_insert(Some(at));
            }
        }
        Guards { function, written }
    }

    /// The instruction that writes a register, and its other operands, if it comes before an instruction.
    fn writer(&self, register: RegId, before: usize) -> Option<(usize, &Op, &[Operand])> {
        let at = (*self.written.get(&register)?).filter(|at| *at < before)?;
        let inst = &self.function.body[at];
        Some((at, &inst.op, &inst.args[1..]))
    }

    /// The thread that alone executes an instruction, if there is one.
    fn single_thread(&self, inst: &Inst) -> Option<u32> {
        let threads = self.function.directives.reqntid.map_or(1024, |extents| extents.iter().product());
        let guard = inst.guard.filter(|guard| !guard.negated)?;
        let mut next = vec![(guard.reg, self.function.body.len())];
        while let Some((register, before)) = next.pop() {
            match self.writer(register, before) {
                Some((at, Op::Bits { op: BitOp::And, ty: Type::Pred }, [Operand::Reg(a), Operand::Reg(b)])) => {
                    next.extend([(*a, at), (*b, at)]);
                }
                Some((at, Op::Setp { cmp: Cmp::Eq, .. }, [.., Operand::Reg(compared), Operand::Imm(Imm::Int(n))])) => {
                    let is = |thread: &u32| self.of_thread(*compared, at, *thread) == Some(*n as u32);
                    let mut all = (0..threads).filter(is);
                    if let (Some(one), None) = (all.next(), all.next()) {
                        return Some(one);
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// The value of a register in a thread before an instruction, if it follows from `%tid.x`.
    fn of_thread(&self, register: RegId, before: usize, thread: u32) -> Option<u32> {
        let (at, op, operands) = self.writer(register, before)?;
        let value = |operand: &Operand| match operand {
            Operand::Reg(register) => self.of_thread(*register, at, thread),
            Operand::Imm(Imm::Int(number)) => Some(*number as u32),
            Operand::Special(Special::Tid(0)) => Some(thread),
            _ => None,
        };
        match (op, operands) {
            (Op::Mov { .. }, [a]) => value(a),
            (Op::Bits { op: BitOp::And, .. }, [a, b]) => Some(value(a)? & value(b)?),
            (Op::Bits { op: BitOp::Or, .. }, [a, b]) => Some(value(a)? | value(b)?),
            (Op::Bits { op: BitOp::Shr, ty: Type::B32 | Type::U32 }, [a, b]) => value(a)?.checked_shr(value(b)?),
            _ => None,
        }
    }
}

/// Whether an instruction accesses memory that other threads observe.
fn accesses(inst: &Inst) -> bool {
    let global = |space| matches!(space, Space::Global | Space::Generic);
    match &inst.op {
        Op::Ld(m) | Op::St(m) => global(m.space),
        Op::Atom(m) | Op::Red(m) => global(m.space),
        _ => false,
    }
}

/// The instructions that may execute next; none after the last.
fn successors(function: &Function, at: usize) -> impl Iterator<Item = usize> {
    let inst = &function.body[at];
    let target = inst.args.iter().find_map(|a| match a {
        Operand::Label(label) => Some(function.labels[label.0 as usize].at as usize),
        _ => None,
    });
    let leaves = matches!(inst.op, Op::Bra { .. } | Op::Ret | Op::Exit) && inst.guard.is_none();
    let target = target.filter(|_| matches!(inst.op, Op::Bra { .. }));
    target.into_iter().chain((!leaves).then_some(at + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptx_sim::Module;

    const ACQUIRE_RELEASE: Order = Order { acquire: true, release: true, scope: Scope::Gpu };

    /// The missing parts of an order of line 7 in a function with these instructions.
    fn check(order: Order, body: &str) -> Vec<String> {
        let text = format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {{\n.reg .b32 %r<9>;\n\
             .reg .b64 %rd<9>;\n.reg .pred %p<9>;\nld.param.b64 %rd1, [p];\n.loc 1 7 2\n{body}\n.loc 1 8 2\nret;\n}}\n.file 1 \"d/a.py\"\n"
        );
        let orders = Orders::from([(("a.py".into(), 7), order)]);
        missing(&orders, &Module::parse(&text).unwrap())
    }

    #[test]
    fn orders_of_a_line() {
        let relaxed = Order { acquire: false, release: false, ..ACQUIRE_RELEASE };
        let after = "\n.loc 1 8 2\nst.global.b32 [%rd1], 1;";
        let table = [
            (ACQUIRE_RELEASE, "atom.acq_rel.gpu.global.add.u32 %r1, [%rd1], 1;", None),
            (ACQUIRE_RELEASE, "atom.acq_rel.sys.global.add.u32 %r1, [%rd1], 1;", None),
            (ACQUIRE_RELEASE, "atom.acq_rel.cta.global.add.u32 %r1, [%rd1], 1;", Some("has a smaller scope")),
            (ACQUIRE_RELEASE, "atom.acquire.gpu.global.add.u32 %r1, [%rd1], 1;", Some("does not release")),
            (ACQUIRE_RELEASE, "atom.release.gpu.global.add.u32 %r1, [%rd1], 1;", Some("does not acquire")),
            (ACQUIRE_RELEASE, "fence.acq_rel.gpu;\natom.acquire.gpu.global.add.u32 %r1, [%rd1], 1;", None),
            (
                ACQUIRE_RELEASE,
                "fence.acq_rel.cta;\natom.acquire.gpu.global.add.u32 %r1, [%rd1], 1;",
                Some("not release"),
            ),
            (ACQUIRE_RELEASE, "atom.release.gpu.global.add.u32 %r1, [%rd1], 1;\nfence.acq_rel.gpu;", None),
            (relaxed, "atom.relaxed.gpu.global.add.u32 %r1, [%rd1], 1;", None),
            (relaxed, "ld.global.b32 %r1, [%rd1];\nred.relaxed.cta.global.add.u32 [%rd1], 1;", Some("smaller scope")),
        ];
        for (order, body, expected) in table {
            let found = check(order, &format!("{body}{after}"));
            let right = match expected {
                Some(what) => found.len() == 1 && found[0].starts_with("a.py:7: `") && found[0].contains(what),
                None => found.is_empty(),
            };
            assert!(right, "{body}: {found:?}");
        }
    }

    /// A thread releases the accesses of other threads only after a barrier.
    #[test]
    fn releases_of_other_threads() {
        let release = Order { acquire: false, ..ACQUIRE_RELEASE };
        let store = "st.release.gpu.global.b32 [%rd1], 1;";
        let first = "mov.u32 %r2, %tid.x;\nsetp.eq.b32 %p1, %r2, 0;\nsetp.eq.b32 %p2, %r2, 1;\n\
                     and.pred %p3, %p1, %p4;\nand.b32 %r3, %r2, 31;\nshr.u32 %r4, %r2, 5;\nor.b32 %r5, %r3, %r4;\n\
                     setp.eq.b32 %p5, %r5, 0;\nsetp.eq.b32 %p6, %r3, 0;";
        let table = [
            ("st.global.b32 [%rd1], %r1;\nbar.sync 0;", "", true),
            ("st.global.b32 [%rd1], %r1;\nbar.arrive 1, 256;", "", false),
            ("ld.global.b32 %r1, [%rd1];", "", false),
            ("st.shared.b32 [%r1], %r1;", "", true),
            ("bar.sync 0;\n@%p4 bra L;\nst.global.b32 [%rd1], %r1;\nL:", "", false),
            ("@%p4 bra L;\nst.global.b32 [%rd1], %r1;\nL: bar.sync 0;", "", true),
            ("bar.sync 0;\nL:", "\n.loc 1 8 2\nld.global.b32 %r1, [%rd1];\n@%p4 bra L;", false),
            ("@%p1 st.global.b32 [%rd1], %r1;", "@%p1 ", true),
            ("@%p1 st.global.b32 [%rd1], %r1;", "@%p3 ", true),
            ("@!%p1 st.global.b32 [%rd1], %r1;", "@%p1 ", false),
            ("@%p2 st.global.b32 [%rd1], %r1;", "@%p1 ", false),
            ("@%p4 st.global.b32 [%rd1], %r1;", "@%p4 ", false),
            ("@%p5 st.global.b32 [%rd1], %r1;", "@%p1 ", true),
            ("@%p6 st.global.b32 [%rd1], %r1;", "@%p6 ", false),
        ];
        for (before, with, is_right) in table {
            let (guard, after) = if with.starts_with('@') { (with, "") } else { ("", with) };
            let body = format!(".loc 1 6 2\n{first}\n{before}\n.loc 1 7 2\n{guard}{store}{after}");
            let found = check(release, &body);
            assert_eq!(found.is_empty(), is_right, "{body}: {found:?}");
            assert!(found.iter().all(|what| what.contains("no barrier is before it")), "{found:?}");
        }
    }

    /// An acquire has no effect if no access follows.
    #[test]
    fn the_last_access_need_not_acquire() {
        let last = "red.release.gpu.global.add.u32 [%rd1], 1;";
        assert!(check(ACQUIRE_RELEASE, last).is_empty());
        assert!(check(ACQUIRE_RELEASE, &format!("fence.acq_rel.gpu;\n{last}\n{last}")).is_empty());
        let again = format!("L: {last}\n.loc 1 8 2\nld.global.b32 %r1, [%rd1];\nbra L;");
        assert_eq!(check(ACQUIRE_RELEASE, &again).len(), 1);
    }
}
