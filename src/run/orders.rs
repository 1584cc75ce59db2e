//! Whether the orders that a program asks for arrive in its PTX.
//!
//! An atomic update, or a load or store with an order, says what it acquires and releases, and for whom. A launch does
//! not show that an order is lost unless another block depends on it just then. This check needs no launch: it compares
//! the operations of a module with the instructions of the same source line.
//!
//! | the operations of a line | the instructions of the line |
//! |---|---|
//! | relaxed or stronger, in a scope | all that are not weak name at least this scope |
//! | release behind an access | each of them releases, or a fence of the line stands before it |
//! | acquire, seen by anyone | each of them acquires, a fence of the line is behind it, or no access comes after |
//!
//! Where operations of a line differ, what all of them ask for is compared. Code that tells no lines is not checked.

use ptx_sim::ir::{Function, Inst, Op, Operand, Scope, Sem, Space};
use ptx_sim::timing::LineTable;
use std::collections::{BTreeMap, HashMap, HashSet};
use tile_bytecode::{AttrValue, Body, DebugAttr, DebugId, OpId, ReadError, ReadOptions, ValueId};

/// What the operations of a line ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    pub acquire: bool,
    pub release: bool,
    pub scope: Scope,
}

/// Of each file and line of the source with such operations, what all of them ask for.
pub type Orders = BTreeMap<(String, u32), Order>;

/// The orders of a module in bytecode.
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
    // What makes each value; values that no operation makes are arguments of blocks.
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
        let place = op.location().and_then(|location| place(module, location));
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

/// Whether an access may be behind a token.
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

/// By the numbers of the schema; none for a weak access.
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

/// The file's name and the line of a location: of inlined code, where it was written.
fn place(module: &tile_bytecode::Module, location: DebugId) -> Option<(String, u32)> {
    let name_of = |file: DebugId| match module.debug.get(file.index())? {
        DebugAttr::File { name, .. } => Some(module.text(*name)),
        _ => None,
    };
    let (file, line) = match module.debug.get(location.index())? {
        DebugAttr::Loc { file, line, .. } => (module.text(*file), *line),
        DebugAttr::SpecLoc { file, line, .. } => (name_of((*file)?)?, *line),
        DebugAttr::CallSite { callee, .. } | DebugAttr::SpecCallSite { callee, .. } => {
            return place(module, (*callee)?);
        }
        _ => return None,
    };
    Some((base_name(&file).into(), line.try_into().ok()?))
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// What an instruction does for the order of memory.
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

/// What is missing in PTX that tells the lines of the module that the orders are of.
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

/// What an access lacks.
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
    if order.acquire && !has.acquire && !fence(&|n| n > at) && followed_by_access(function, at, effects) {
        return Some("does not acquire");
    }
    None
}

/// Whether an access of memory that others see may be executed after an instruction, beside those of its line, which
/// may be other elements of the same update.
fn followed_by_access(function: &Function, from: usize, line: &[(usize, Effect)]) -> bool {
    let target = |inst: &Inst| {
        inst.args.iter().find_map(|a| match a {
            Operand::Label(label) => Some(function.labels[label.0 as usize].at as usize),
            _ => None,
        })
    };
    let global = |space| matches!(space, Space::Global | Space::Generic);
    let (mut seen, mut next) = (vec![false; function.body.len()], vec![from + 1]);
    while let Some(at) = next.pop() {
        let Some(inst) = function.body.get(at) else { continue };
        if std::mem::replace(&mut seen[at], true) {
            continue;
        }
        let access = match &inst.op {
            Op::Ld(m) | Op::St(m) => global(m.space),
            Op::Atom(m) | Op::Red(m) => global(m.space),
            Op::CpAsync { .. } | Op::CpBulk(_) | Op::Call | Op::BrxIdx => true,
            _ => false,
        };
        if access && line.iter().all(|(n, _)| *n != at) {
            return true;
        }
        match &inst.op {
            Op::Bra { .. } => {
                next.extend(target(inst));
                if inst.guard.is_some() {
                    next.push(at + 1);
                }
            }
            Op::Ret | Op::Exit if inst.guard.is_none() => {}
            _ => next.push(at + 1),
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptx_sim::Module;

    const ACQUIRE_RELEASE: Order = Order { acquire: true, release: true, scope: Scope::Gpu };

    /// What is missing of an order of line 7 in a function with these instructions.
    fn check(order: Order, body: &str) -> Vec<String> {
        let text = format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {{\n.reg .b32 %r<9>;\n\
             .reg .b64 %rd<9>;\nld.param.b64 %rd1, [p];\n.loc 1 7 2\n{body}\n.loc 1 8 2\nret;\n}}\n.file 1 \"d/a.py\"\n"
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

    /// Nothing can be acquired where nothing is accessed any more.
    #[test]
    fn the_last_access_need_not_acquire() {
        let last = "red.release.gpu.global.add.u32 [%rd1], 1;";
        assert!(check(ACQUIRE_RELEASE, last).is_empty());
        assert!(check(ACQUIRE_RELEASE, &format!("fence.acq_rel.gpu;\n{last}\n{last}")).is_empty());
        let again = format!("L: {last}\n.loc 1 8 2\nld.global.b32 %r1, [%rd1];\nbra L;");
        assert_eq!(check(ACQUIRE_RELEASE, &again).len(), 1);
    }
}
