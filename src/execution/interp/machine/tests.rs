//! Tests: tile blocks that wait for each other, promises about strides, tiles outside their views, and bodies that
//! round.

use super::{Cause, Error, HostCall, Limits, Machine, Outside, Promises};
use crate::program::{
    AccessOrder, Block, Constant, Entry, FloatMode, Op, OpKind, Order, Overflow, Predicate, Program, Promise, Scope,
    Signedness, Update, Value,
};
use crate::types::{Element, Number, Padding, TensorType, TileType, Tiling, Type, ViewType};
use std::rc::Rc;

/// An entry under construction, with one open region.
struct EntryBuilder {
    entry: Entry,
    ops: Vec<Op>,
}

impl EntryBuilder {
    fn new(parameters: &[Type]) -> (EntryBuilder, Vec<Value>) {
        let mut entry = Entry { name: "k".into(), ..Entry::default() };
        let values: Vec<Value> = parameters.iter().map(|t| entry.value(t.clone())).collect();
        entry.body.arguments = values.clone();
        (EntryBuilder { entry, ops: vec![] }, values)
    }

    fn op_at(&mut self, location: &str, kind: OpKind, operands: &[Value], results: &[Type]) -> Vec<Value> {
        let results: Vec<Value> = results.iter().map(|t| self.entry.value(t.clone())).collect();
        let (operands, given) = (operands.to_vec(), results.clone());
        self.ops.push(Op { kind, operands, results, regions: vec![], location: location.into() });
        given
    }

    fn op(&mut self, kind: OpKind, operands: &[Value], results: &[Type]) -> Vec<Value> {
        self.op_at("here", kind, operands, results)
    }

    fn int(&mut self, value: i32) -> Value {
        self.op(OpKind::Constant([value as u32 as u64].into()), &[], &[int()])[0]
    }

    fn region(&mut self, fill: impl FnOnce(&mut EntryBuilder)) -> Block {
        let outer = std::mem::take(&mut self.ops);
        fill(self);
        Block { arguments: vec![], ops: std::mem::replace(&mut self.ops, outer) }
    }

    fn with_regions(&mut self, kind: OpKind, operands: &[Value], regions: Vec<Block>) {
        self.op(kind, operands, &[]);
        self.ops.last_mut().unwrap().regions = regions;
    }

    fn program(mut self) -> Program {
        self.op(OpKind::Return, &[], &[]);
        self.entry.body.ops = self.ops;
        Program { name: "m".into(), globals: vec![], entries: vec![self.entry] }
    }
}

fn int() -> Type {
    TileType::scalar(Number::I32).into()
}

fn pointer() -> Type {
    TileType::new(&[], Element::Pointer(Number::I32)).into()
}

/// How a tile block reads the flag.
#[derive(Clone, Copy)]
enum Look {
    Atomic,
    Relaxed,
    Weak,
}

const RELAXED: AccessOrder = AccessOrder { order: Order::Relaxed, scope: Some(Scope::Device) };

/// Tile block `x` waits until the flag is `last - x`, prints its number and adds one.
fn chain(last: i32, look: Look) -> Program {
    let (mut b, p) = EntryBuilder::new(&[pointer()]);
    let x = b.op(OpKind::GetTileBlockId, &[], &[int(), int(), int()])[0];
    let last = b.int(last);
    let wanted = b.op(OpKind::SubI(Overflow::default()), &[last, x], &[int()])[0];
    let (zero, one) = (b.int(0), b.int(1));
    let body = b.region(|b| {
        let load = |access| OpKind::LoadPtr { access, mask: false, padding: false, token: false };
        let update = OpKind::AtomicRmw { access: RELAXED, update: Update::Add, mask: false, token: false };
        let seen = match look {
            Look::Atomic => b.op(update, &[p[0], zero], &[int(), Type::Token]),
            Look::Relaxed => b.op(load(RELAXED), &[p[0]], &[int(), Type::Token]),
            Look::Weak => b.op(load(AccessOrder::WEAK), &[p[0]], &[int(), Type::Token]),
        };
        let equal = OpKind::CmpI { predicate: Predicate::Equal, signedness: Signedness::Signed };
        let go = b.op(equal, &[seen[0], wanted], &[TileType::scalar(Number::I1).into()]);
        let leave = b.region(|b| _ = b.op(OpKind::Break, &[], &[]));
        let stay = b.region(|b| _ = b.op(OpKind::Yield, &[], &[]));
        b.with_regions(OpKind::If, &go, vec![leave, stay]);
        b.op(OpKind::Continue, &[], &[]);
    });
    b.with_regions(OpKind::Loop, &[], vec![body]);
    b.op(OpKind::Print { format: "%i ".into(), token: false }, &[x], &[Type::Token]);
    let update = OpKind::AtomicRmw { access: RELAXED, update: Update::Add, mask: false, token: false };
    b.op(update, &[p[0], one], &[int(), Type::Token]);
    b.program()
}

fn run(program: &Program, grid: u32, flag: i32, limits: Limits) -> (Result<String, Error>, i32) {
    let mut machine = Machine::new(program);
    let address = machine.memory.allocate("flag", flag.to_le_bytes().to_vec());
    let result = machine.launch("k", [grid, 1, 1], &[address], limits).map(|report| report.output);
    let flag = machine.array(address, Number::I32, 1)[0].bits as u32 as i32;
    (result, flag)
}

#[test]
fn tile_blocks_wait_for_later_ones() {
    for (look, grid) in [(Look::Atomic, 40), (Look::Relaxed, 40), (Look::Weak, 3)] {
        let program = chain(grid - 1, look);
        let (printed, flag) = run(&program, grid as u32, 0, Limits::default());
        let order: Vec<String> = (0..grid).rev().map(|x| x.to_string()).collect();
        assert_eq!(printed.unwrap().trim_end(), order.join(" "));
        assert_eq!(flag, grid);
    }
}

#[test]
fn waiting_for_nothing_ends() {
    // The flag starts one too high, so the last tile block never proceeds.
    let program = chain(4, Look::Relaxed);
    let (result, _) = run(&program, 5, 7, Limits::default());
    let error = result.unwrap_err();
    assert!(
        matches!(&error.cause, Cause::Limit(text) if text.contains("waits for a write that no tile block performs")),
        "{error}"
    );
    assert_eq!(error.op, "load_ptr_tko");
    // A weak read of the flag never counts as waiting, so only a limit ends this program.
    let (result, _) = run(&chain(0, Look::Weak), 1, 7, Limits { ops: Some(100_000), ..Limits::default() });
    assert!(matches!(result.unwrap_err().cause, Cause::Limit(_)));
}

/// Makes a view of two rows, or of one, whose stride may break its promise. With `uses`, the stride is also used
/// elsewhere.
fn strided(uses: bool) -> Program {
    let (mut b, p) = EntryBuilder::new(&[pointer(), int(), int()]);
    let by_8 = OpKind::Assume(Promise::DivBy { divisor: 8, groups: None });
    let first = b.op_at("promise", by_8, &[p[2]], &[int()])[0];
    let second = b.op(OpKind::Assume(Promise::Bounded { low: Some(0), high: None }), &[first], &[int()])[0];
    let tensor = TensorType { element: Number::I32, shape: vec![None, Some(4)], strides: vec![None, Some(1)] };
    b.op_at("view", OpKind::MakeTensorView, &[p[0], p[1], second], &[Type::Tensor(tensor)]);
    if uses {
        b.op(OpKind::Print { format: "%i".into(), token: false }, &[second], &[Type::Token]);
    }
    b.program()
}

#[test]
fn promises_about_strides_that_no_address_uses_hold() {
    /// Whether the stride is used elsewhere, the number of rows, the stride, and where the broken promise is
    /// reported.
    type Row = (bool, u64, u64, Option<&'static str>);
    let table: [Row; 7] = [
        (false, 2, 8, None),
        (false, 2, 3, Some("view: 'make_tensor_view'")),
        (false, 1, 3, None),
        (false, 0, 3, None),
        (true, 1, 8, None),
        (true, 1, 3, Some("promise: 'assume'")),
        (true, 2, 3, Some("promise: 'assume'")),
    ];
    for (uses, rows, stride, broken) in table {
        let program = strided(uses);
        let mut machine = Machine::new(&program);
        let address = machine.memory.allocate("x", vec![0; 64]);
        let mut with = |promises| {
            let result =
                machine.launch("k", [3, 1, 1], &[address, rows, stride], Limits { promises, ..Limits::default() });
            (result.map(drop).map_err(|e| e.to_string()), std::mem::take(&mut machine.broken_promises))
        };
        let what = format!("{uses} {rows} {stride}");
        assert_eq!(with(Promises::Trust), (Ok(()), vec![]), "{what}");
        match (broken, with(Promises::Check).0) {
            (None, result) => assert_eq!(result, Ok(()), "{what}"),
            (Some(place), Err(text)) => {
                assert!(text.starts_with(place), "{what}: {text}");
                assert!(text.contains("element 0 is 0x3, which breaks the promise div_by<8>"), "{what}: {text}");
            }
            (Some(_), Ok(())) => panic!("{what}: nothing was found"),
        }
        let (result, notes) = with(Promises::Report);
        assert_eq!((result, notes.len()), (Ok(()), usize::from(broken.is_some())), "{what}");
        for note in notes {
            assert_eq!((&*note.location, note.block, note.count), ("promise", [0; 3], 3), "{what}");
            assert!(note.to_string().ends_with("(and 2 more times)"), "{note}");
        }
    }
}

#[test]
fn tiles_outside_are_undefined_or_masked() {
    let tensor = TensorType { element: Number::I32, shape: vec![Some(4)], strides: vec![Some(1)] };
    let tiling = Tiling::Partition { dim_map: vec![0] };
    let view = ViewType { tile: vec![4], tensor: tensor.clone(), tiling, padding: Some(Padding::Zero) };
    let tile = Type::Tile(TileType::of(&[4], Number::I32));
    let (mut b, p) = EntryBuilder::new(&[pointer(), int()]);
    let made = b.op(OpKind::MakeTensorView, &[p[0]], &[Type::Tensor(tensor)]);
    let made = b.op(OpKind::MakeView, &made, &[Type::View(view)])[0];
    let load = OpKind::LoadView { access: AccessOrder::WEAK, token: false, inbounds: vec![] };
    let x = b.op(load, &[made, p[1]], &[tile, Type::Token])[0];
    b.op(OpKind::Print { format: "%i".into(), token: false }, &[x], &[Type::Token]);
    let store = OpKind::StoreView { access: AccessOrder::WEAK, token: false, inbounds: vec![] };
    b.op(store, &[x, made, p[1]], &[Type::Token]);
    let program = b.program();
    let mut machine = Machine::new(&program);
    let address = machine.memory.allocate("x", [5, 0, 0, 0].repeat(4));
    let mut with = |index: i32, outside| {
        let limits = Limits { outside, ..Limits::default() };
        machine.launch("k", [1; 3], &[address, index as u32 as u64], limits).map(|r| r.output)
    };
    assert_eq!(with(0, Outside::Undefined).unwrap(), "[5, 5, 5, 5]");
    for index in [1, -1] {
        let error = with(index, Outside::Undefined).unwrap_err().to_string();
        assert!(error.contains("dimension 0 of the index space has size 1; only a tile"), "{error}");
        assert_eq!(with(index, Outside::Masked).unwrap(), "[0, 0, 0, 0]");
    }
    assert_eq!(with(0, Outside::Masked).unwrap(), "[5, 5, 5, 5]");
}

/// If a body rounds, another grouping may round differently, so the agreement of the interpreter's groupings proves
/// nothing.
#[test]
fn bodies_that_round_promise_nothing() {
    let float = Type::from(TileType::scalar(Number::F32));
    let add = OpKind::AddF(FloatMode::default());
    for (scans, values, known) in [
        (false, [1.0f32, 2.0, 3.0, 4.0], true),
        (false, [1.0, 1e-9, -1e-9, 1e-9], false),
        (true, [1.0, 2.0, 3.0, 4.0], true),
        (true, [1.0, 1e-9, -1e-9, 1e-9], false),
    ] {
        let (mut b, _) = EntryBuilder::new(&[]);
        let tile = Type::Tile(TileType::of(&[4], Number::F32));
        let bits: Vec<u64> = values.iter().map(|v| v.to_bits().into()).collect();
        let x = b.op(OpKind::Constant(bits.into()), &[], std::slice::from_ref(&tile));
        // Two ops, because a body with a single sum would be recognized and bounded.
        let arguments = vec![b.entry.value(float.clone()), b.entry.value(float.clone())];
        let mut body = b.region(|b| {
            let s = b.op(add.clone(), &arguments, std::slice::from_ref(&float));
            let t = b.op(OpKind::NegF, &s, std::slice::from_ref(&float));
            let t = b.op(OpKind::NegF, &t, std::slice::from_ref(&float));
            b.op(OpKind::Yield, &t, &[]);
        });
        body.arguments = arguments;
        let kind = if scans {
            OpKind::Scan { dim: 0, reverse: false, identities: vec![0] }
        } else {
            OpKind::Reduce { dim: 0, identities: vec![0] }
        };
        let result = if scans { tile } else { float.clone() };
        let r = b.op(kind, &x, &[result])[0];
        b.ops.last_mut().unwrap().regions = vec![body];
        b.op(OpKind::Print { format: "%f".into(), token: false }, &[r], &[Type::Token]);
        let program = b.program();
        // Printing an unknown value is a guess.
        let report = Machine::new(&program).launch("k", [1; 3], &[], Limits::default()).unwrap();
        assert_eq!(report.guess.is_none(), known, "{scans} {values:?}");
    }
}

/// A host function gets operands without tokens, constants and memory, and computes results without tokens.
#[test]
fn host_functions_compute_calls() {
    let pair = || Type::from(TileType::new(&[2], Element::Number(Number::I32)));
    let pointer = || Type::from(TileType::new(&[], Element::Pointer(Number::I32)));
    let (mut b, parameters) = EntryBuilder::new(&[pointer()]);
    let indices = b.op(OpKind::Iota, &[], &[pair()])[0];
    let token = b.op(OpKind::MakeToken, &[], &[Type::Token])[0];
    let kind = OpKind::ForeignCall { callee: "f".into(), constants: vec![Constant::Int(5)] };
    let results = b.op(kind, &[token, indices, parameters[0]], &[pair(), Type::Token, int()]);
    let store = OpKind::StorePtr { access: AccessOrder::WEAK, mask: false, token: true };
    b.op(store, &[parameters[0], results[2], results[1]], &[Type::Token]);
    let program = b.program();
    let text = crate::text::print(&program);
    assert!(text.contains("preview$call @f<[5]>("), "{text}");

    let mut machine = Machine::new(&program);
    let address = machine.memory.allocate("buffer", 7u32.to_le_bytes().to_vec());
    let error = machine.launch("k", [1; 3], &[address], Limits::default()).unwrap_err();
    assert!(error.to_string().contains("no host function is registered for the function '@f'"), "{error}");
    let function = move |call: &mut HostCall<'_>| {
        let [Constant::Int(constant)] = call.constants else { return Err("one constant".into()) };
        assert_eq!((call.callee, call.operands.len(), call.results.len()), ("f", 2, 2));
        assert_eq!((&call.operands[0].elements[..], &call.operands[1].elements[..]), (&[0, 1][..], &[address][..]));
        let stored = call.memory.contents(address).map(|(bytes, _)| u64::from(bytes[0]));
        call.results[1].elements[0] = stored.ok_or("no memory")? + *constant as u64;
        Ok(())
    };
    machine.register("f", Rc::new(function));
    machine.launch("k", [1; 3], &[address], Limits::default()).unwrap();
    assert_eq!(machine.array(address, Number::I32, 1)[0].bits, 12);
    machine.register("f", Rc::new(|_: &mut HostCall<'_>| Err("it cannot".into())));
    let error = machine.launch("k", [1; 3], &[address], Limits::default()).unwrap_err();
    assert!(error.to_string().contains("the host function of '@f' failed: it cannot"), "{error}");
}
