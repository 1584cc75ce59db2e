//! Tensors with too many registers: in passes over a few of them.
//!
//! A *big* tensor gives a thread more than 128 words. Its ops are emitted as loops, each pass of which works on the registers
//! whose numbers end (from the top) in the number of the pass. The layout algebra makes that simple: a register bit is a
//! bit of the place like any other, so the bits that number the passes can as well be bits of the warp's number. In a pass a warp
//! plays one of many *virtual warps*, whose layout has few registers. [`Lower::layout`] and `Lower::warp` say so while a
//! pass is emitted, and the code of every op that stays within a warp works unchanged.
//!
//! Ops that follow each other share one loop, a *group*, as long as each takes from another what the same pass has made. What
//! lives past the loop is an array in local memory ([`super::array`]), written in its pass and read in the same pass of another
//! loop. So load, compute, store goes through registers alone:
//!
//! ```text
//! %x = load; %y = exp %x; store %y             for pass { x = load part; y = exp x; store y }
//!
//! %x = load; %m = reduce %x; ...               for pass { x = load part; array[pass] = x; partial[pass] = reduce x }
//! %e = exp(%x - %m); store %e                  ...
//!                                              for pass { x = array[pass]; e = exp(x - m); store e }
//! ```
//!
//! * *Aligned.* An op can be in a group when pass `k` of its results needs nothing but pass `k` of its operands.
//! * *Gathering.* Ops that only rename registers read others from arrays: at a number that is a linear function of the pass.
//! * *Lazy.* What is cheap to compute from nothing (ranges, splats, arithmetic on them) is emitted in every loop that uses it.
//!
//! Accesses of global memory keep their order within a thread where a token asks for it: an access never shares a loop with one
//! whose token it depends on when either writes. An op that is not part of a group and does not need its results is emitted
//! before the group's loop; others end the group.

use super::{Lower, Lowered, array::Array};
use crate::{
    analysis::{
        layouts::project,
        registers::{PASS_REGISTERS, register_bits},
    },
    dialect::{
        behaviour::{LayoutRelation, is_cheap, layout_relation},
        layouts::Tensor,
        nv_tileaa::{self, MemTokenType},
        nv_tileas::{AnyOp, InsertSliceOp},
        pass::{Failed, fail},
        rt::*,
        upstream::{Scf, Ub},
    },
};
use rustc_hash::{FxHashMap, FxHashSet};
use tile_layout::{LinearExpr, LinearMap, register_map};

/// log2 of the registers that a tensor may take in one pass.
const LIMIT: u32 = 7;
/// Lazy ops that are emitted at most for one value.
const LAZY_LIMIT: u32 = 12;

/// The pass that is being emitted.
#[derive(Clone, Copy)]
pub(super) struct Pass<'c> {
    /// log2 of the number of passes.
    pub bits: u32,
    pub number: Val<'c>,
}

/// How an op with a big tensor is done.
enum Role {
    /// No big tensor, or its own business: as always.
    Plain,
    Lazy(u32),
    /// In passes.
    Passes,
}

/// Ops that will share a loop.
#[derive(Default)]
struct Group<'c> {
    ops: Vec<OpRef<'c>>,
    members: FxHashSet<usize>,
    bits: u32,
}

impl<'c> Group<'c> {
    fn made(&self, v: Val<'c>) -> bool {
        defining_op(v).is_some_and(|op| self.members.contains(&op_key(op)))
    }
    fn push(&mut self, op: OpRef<'c>, bits: u32) {
        self.bits = bits;
        self.members.insert(op_key(op));
        self.ops.push(op);
    }
}

/// What `values` held before a loop, for keys that the loop binds.
type Scope<'c> = Vec<(usize, Option<Lowered<'c>>)>;

impl<'c> Lower<'c, '_> {
    /// Whether `v` is worked on in passes.
    pub(super) fn is_big(&self, v: Val<'c>) -> bool {
        self.limit.is_exceeded(v)
    }

    /// Emits ops of one block in order, those on big tensors in loops.
    pub(super) fn ops(&mut self, ops: &[OpRef<'c>]) -> Result<(), Failed> {
        let mut group = Group::default();
        for &op in ops {
            match self.role(op)? {
                Role::Lazy(cost) => {
                    let v = result(op, 0);
                    self.values.insert(key(v), Lowered::Lazy(op, cost));
                }
                Role::Passes => {
                    if !group.ops.is_empty() && !self.joins(op, &group) {
                        self.flush(&mut group, ops)?;
                    }
                    let bits = if group.ops.is_empty() { passes_of(op) } else { group.bits };
                    group.push(op, bits);
                }
                Role::Plain => {
                    if !group.ops.is_empty() && !may_pass(op, &group) {
                        self.flush(&mut group, ops)?;
                    }
                    self.op(op)?;
                }
            }
            if group.ops.is_empty() {
                self.release(op);
            }
        }
        self.flush(&mut group, ops)
    }

    fn role(&self, op: OpRef<'c>) -> Result<Role, Failed> {
        let tensors = || operands(op).chain(results(op));
        if !tensors().any(|v| self.is_big(v)) || Scf::of(op).is_some() {
            return Ok(Role::Plain);
        }
        if let Some(cost) = self.lazy_cost(op) {
            return Ok(Role::Lazy(cost));
        }
        match AnyOp::cast(op) {
            Some(AnyOp::ExchangeOp(_) | AnyOp::InsertSliceOp(_) | AnyOp::PrintOp(_)) => return Ok(Role::Plain),
            // Renaming registers of a big tensor to few: these are read from its array.
            Some(AnyOp::ConvertLayoutOp(_) | AnyOp::ExtractSliceOp(_)) if !self.is_big(result(op, 0)) => {
                return Ok(Role::Plain);
            }
            _ => {}
        }
        if self.aligned(op, passes_of(op)) || gathers(op) {
            return Ok(Role::Passes);
        }
        let bits = tensors().filter_map(register_bits).max().unwrap_or(0);
        let name = op_name(op);
        Err(fail(
            op,
            format!("tile is too large: {} elements a thread, and '{name}' cannot work in parts", 1u64 << bits),
        ))
    }

    /// What it costs to emit `op` where its result is needed; none when it must be emitted once, where it stands.
    fn lazy_cost(&self, op: OpRef<'c>) -> Option<u32> {
        if Ub::of(op) == Some(Ub::Poison) {
            return Some(0);
        }
        if !is_cheap(op) {
            return None;
        }
        let broadcast = layout_relation(op) == LayoutRelation::Broadcast;
        let mut cost = 1;
        for v in operands(op).filter(|v| Tensor::of_value(*v).is_some()) {
            match self.values.get(&key(v)) {
                Some(Lowered::Lazy(_, c)) if broadcast => {
                    let identity = |(i, c): (usize, &u64)| *c == 1 << i;
                    if !gather_map(op, v)?.iter().enumerate().all(identity) {
                        return None;
                    }
                    cost += c;
                }
                Some(Lowered::Lazy(_, c)) => cost += c,
                // The same registers in every pass.
                Some(Lowered::Fragment(_)) if broadcast => {
                    if varying(op, &gather_map(op, v)?, passes_of(op)) != 0 {
                        return None;
                    }
                }
                _ => return None,
            }
        }
        (cost <= LAZY_LIMIT).then_some(cost)
    }

    /// Whether pass `k` of `2^bits` of the results needs only pass `k` of the operands.
    fn aligned(&self, op: OpRef<'c>, bits: u32) -> bool {
        let all: Vec<u32> = operands(op).chain(results(op)).filter_map(register_bits).collect();
        if all.iter().any(|&b| b < bits || b - bits > LIMIT) {
            return false;
        }
        let equal = all.windows(2).all(|w| w[0] == w[1]);
        // The last register bits of an operand, and those of the result that they become.
        let last = |v: Val<'c>, project: &dyn Fn(u64) -> u64| -> Option<Vec<u64>> {
            let layout = Tensor::of_value(v)?.layout()?;
            Some(layout.register()[layout.register().len() - bits as usize..].iter().map(|&b| project(b)).collect())
        };
        match AnyOp::cast(op) {
            None => equal,
            Some(AnyOp::BroadcastOp(_) | AnyOp::ConvertLayoutOp(_)) => {
                let (from, to) = (operand(op, 0), result(op, 0));
                let Some(columns) = gather_map(op, from) else { return false };
                let (m, n) = (register_bits(from).unwrap_or(0) - bits, register_bits(to).unwrap_or(0) - bits);
                let within = columns[..n as usize].iter().all(|c| c >> m == 0);
                let same = columns[n as usize..].iter().enumerate().all(|(i, &c)| c == 1 << (m as usize + i));
                within && same
            }
            Some(AnyOp::CatOp(x)) => {
                let Some(layout) = Tensor::of_value(x.result()).and_then(|t| t.layout()) else { return false };
                let Some(at) = cat_bit(x.result(), x.dim() as usize) else { return false };
                let inner = layout.register().len() - bits as usize;
                layout.half_register(at).is_none_or(|r| r < inner)
            }
            Some(AnyOp::PackOp(_) | AnyOp::UnpackOp(_)) => true,
            Some(AnyOp::ReduceOp(x)) => results(op).all(|r| {
                let operand = operand(op, 0);
                let Some(t) = Tensor::of_value(operand) else { return false };
                let Ok((low, width)) = t.tile_shape().field(x.dim() as usize) else { return false };
                let kept = x.kept().unwrap_or(0) as u64;
                last(r, &|b| b) == last(operand, &|b| forget(b, low, width, kept))
            }),
            Some(
                AnyOp::MakeRangeOp(_)
                | AnyOp::SplatOp(_)
                | AnyOp::ViewOp(_)
                | AnyOp::PermuteOp(_)
                | AnyOp::TiledLoadOp(_)
                | AnyOp::TiledStoreOp(_)
                | AnyOp::LoadOp(_)
                | AnyOp::StoreOp(_)
                | AnyOp::AtomicRmwOp(_)
                | AnyOp::AtomicCasOp(_)
                | AnyOp::TiledAtomicRmwOp(_)
                | AnyOp::ReplicateOp(_)
                | AnyOp::ShuffleOp(_)
                | AnyOp::LocalStoreOp(_)
                | AnyOp::LocalLoadOp(_)
                | AnyOp::LocalLoadSliceOp(_),
            ) => equal,
            _ => false,
        }
    }

    //===-- groups ----------------------------------------------------------===//

    fn joins(&self, op: OpRef<'c>, group: &Group<'c>) -> bool {
        let aligned = self.aligned(op, group.bits);
        let fits =
            aligned || register_bits(result_or_operand(op)).is_some_and(|b| b >= group.bits && b - group.bits <= LIMIT);
        // What is read from arrays must be there before the loop.
        let from_arrays = !aligned && operands(op).any(|v| group.made(v) && !is_token(v));
        fits && !from_arrays && !ordered_behind(op, group)
    }

    /// Emits the group's loop.
    fn flush(&mut self, group: &mut Group<'c>, block: &[OpRef<'c>]) -> Result<(), Failed> {
        let Group { ops, members, bits } = std::mem::take(group);
        let Some(&last) = ops.last() else { return Ok(()) };
        // What is needed behind the loop.
        let outside = |v: Val<'c>| uses(v).iter().any(|(user, _)| !members.contains(&op_key(*user)));
        let mut kept: FxHashMap<usize, (Val<'c>, Array<'c>)> = FxHashMap::default();
        let mut order = vec![];
        for &op in &ops {
            for r in results(op).filter(|r| register_bits(*r).is_some() && outside(*r)) {
                let array = self.new_array(op, r)?;
                if self.is_big(r) {
                    self.remark_on_array(op, r);
                }
                kept.insert(key(r), (r, array));
                order.push(key(r));
            }
        }
        // Tensors that are not big, of which a pass takes a part.
        let mut temporary = vec![];
        let mut scope: Scope<'c> = vec![];
        for &op in &ops {
            let aligned = self.aligned(op, bits);
            for v in operands(op).filter(|v| register_bits(*v).is_some()) {
                let from_array = match self.values.get(&key(v)) {
                    Some(Lowered::Fragment(_)) => {
                        aligned || gather_map(op, v).is_none_or(|columns| varying(op, &columns, bits) != 0)
                    }
                    Some(Lowered::Lazy(..)) => !aligned,
                    _ => false,
                };
                if from_array {
                    let array = self.array_of(op, v)?;
                    temporary.push(array);
                    self.bind_in(&mut scope, v, Lowered::Array(array));
                }
            }
        }
        let bits_of_warps = self.warp_bits;
        self.counted(bits, |this, number| {
            let outer = (this.warp, this.pass);
            let shifted = this.l.bin("shl", number, this.l.i32c(bits_of_warps.into()));
            this.warp = this.or_disjoint(outer.0, shifted);
            this.pass = Some(Pass { bits, number });
            for &op in &ops {
                this.in_pass(op, &mut scope)?;
                for r in results(op) {
                    if let Some((v, array)) = kept.get(&key(r)) {
                        let registers = this.fragment(op, *v)?;
                        let first = this.first_register(array.bits);
                        this.write_array(*array, Some(first), &registers);
                    }
                }
            }
            (this.warp, this.pass) = outer;
            Ok(())
        })?;
        for (k, before) in scope.into_iter().rev() {
            match before {
                Some(v) => self.values.insert(k, v),
                None => self.values.remove(&k),
            };
        }
        for array in temporary {
            self.free_array(array);
        }
        for k in order {
            let (v, array) = kept[&k];
            if self.is_big(v) {
                self.values.insert(k, Lowered::Array(array));
            } else {
                let registers = self.read_array(array, None, array.bits);
                self.set_all(v, registers);
                self.free_array(array);
            }
        }
        let upto = block.iter().position(|o| op_key(*o) == op_key(last)).unwrap_or(0);
        block[..=upto].iter().for_each(|o| self.release(*o));
        Ok(())
    }

    /// Emits `op` for the present pass.
    fn in_pass(&mut self, op: OpRef<'c>, scope: &mut Scope<'c>) -> Result<(), Failed> {
        let bits = self.pass.map_or(0, |p| p.bits);
        let aligned = self.aligned(op, bits);
        for r in results(op) {
            scope.push((key(r), self.values.get(&key(r)).cloned()));
        }
        if !aligned {
            return self.rename(op);
        }
        for v in operands(op) {
            self.fetch(op, v, scope)?;
        }
        self.op(op)
    }

    /// Brings a tensor's part of the present pass into registers.
    fn fetch(&mut self, op: OpRef<'c>, v: Val<'c>, scope: &mut Scope<'c>) -> Result<(), Failed> {
        match self.values.get(&key(v)).cloned() {
            Some(Lowered::Array(array)) => {
                let bits = self.pass.map_or(0, |p| p.bits);
                let inner = array.bits.checked_sub(bits).ok_or_else(|| fail(op, "fewer registers than passes"))?;
                let first = self.first_register(array.bits);
                let registers = self.read_array(array, Some(first), inner);
                self.bind_in(scope, v, Lowered::Fragment(registers));
            }
            Some(Lowered::Lazy(maker, _)) => self.in_pass(maker, scope)?,
            _ => {}
        }
        Ok(())
    }

    fn bind_in(&mut self, scope: &mut Scope<'c>, v: Val<'c>, lowered: Lowered<'c>) {
        let before = self.values.insert(key(v), lowered);
        scope.push((key(v), before));
    }

    /// Number of the first register of the present pass in a tensor with `2^bits` registers.
    fn first_register(&self, bits: u32) -> Val<'c> {
        let Some(pass) = self.pass else { return self.l.i32c(0) };
        match bits - pass.bits {
            0 => pass.number,
            inner => self.l.bin("shl", pass.number, self.l.i32c(inner.into())),
        }
    }

    //===-- renamed registers -----------------------------------------------===//

    /// An op that renames registers, in the present pass.
    fn rename(&mut self, op: OpRef<'c>) -> Result<(), Failed> {
        let to = result(op, 0);
        let registers = match AnyOp::cast(op) {
            Some(AnyOp::CatOp(x)) => self.gather_halves(op, x.lhs(), x.rhs(), x.dim() as usize)?,
            Some(AnyOp::ExtractSliceOp(x)) => {
                let slice = self.slice_number(op, x.indices(), x.source(), x.result())?;
                self.gathered(op, x.source(), Some(slice))?
            }
            _ => self.gathered(op, operand(op, 0), None)?,
        };
        self.values.insert(key(to), Lowered::Fragment(registers));
        Ok(())
    }

    /// The registers of operand `v` that the present pass, or without passes the whole result, takes.
    fn gathered(&mut self, op: OpRef<'c>, v: Val<'c>, slice: Option<Val<'c>>) -> Result<Vec<Val<'c>>, Failed> {
        let not_there = || fail(op, "elements cross threads; run tileas-materialize-convert-layout first");
        let columns = gather_map(op, v).ok_or_else(not_there)?;
        let n = register_bits(result(op, 0)).unwrap_or(0);
        let passes = self.pass.map_or(0, |p| p.bits);
        let inner = n - passes;
        let number = |r: u64| tile_layout::combine(&columns[..inner as usize], r);
        let array = match self.values.get(&key(v)).cloned() {
            Some(Lowered::Fragment(values)) if slice.is_none() && varying(op, &columns, passes) == 0 => {
                return Ok((0..1u64 << inner).map(|r| values[number(r) as usize]).collect());
            }
            Some(Lowered::Array(array)) => array,
            _ => return Err(fail(op, "operand is no array here")),
        };
        let mut parts = vec![];
        if let Some(pass) = self.pass {
            parts.push((pass.number, &columns[inner as usize..n as usize]));
        }
        if let Some(slice) = slice {
            parts.push((slice, &columns[n as usize..]));
        }
        let reach = parts.iter().flat_map(|(_, c)| c.iter()).fold(0, |all, c| all | c);
        let disjoint = columns[..inner as usize].iter().all(|c| c & reach == 0);
        let first = self.sum_of(&parts);
        Ok((0..1u64 << inner).map(|r| self.read_element(array, first, number(r), disjoint)).collect())
    }

    /// XOR of linear functions of numbers.
    fn sum_of(&self, parts: &[(Val<'c>, &[u64])]) -> Val<'c> {
        let terms = parts.iter().map(|(number, columns)| {
            let expr = LinearExpr::new(&[], &[], columns);
            self.linear_in_block(&expr, Some(*number))
        });
        terms.reduce(|a, b| self.l.bin("xor", a, b)).unwrap_or_else(|| self.l.i32c(0))
    }

    fn gather_halves(&mut self, op: OpRef<'c>, lhs: Val<'c>, rhs: Val<'c>, dim: usize) -> Result<Vec<Val<'c>>, Failed> {
        let columns = gather_map(op, lhs).ok_or_else(|| fail(op, "operands have other layouts"))?;
        let to = result(op, 0);
        let layout = Tensor::of_value(to).and_then(|t| t.layout()).ok_or_else(|| fail(op, "tensor has no layout"))?;
        let at = cat_bit(to, dim).ok_or_else(|| fail(op, "no such dimension"))?;
        let pass = self.pass.ok_or_else(|| fail(op, "a big tensor outside of a pass"))?;
        let inner = layout.register().len() - pass.bits as usize;
        let arrays = [lhs, rhs].map(|v| match self.values.get(&key(v)) {
            Some(Lowered::Array(array)) => Some(*array),
            _ => None,
        });
        let [Some(left), Some(right)] = arrays else { return Err(fail(op, "operand is no array here")) };
        // Which half a place belongs to: by the thread, by the pass, and by the register.
        let half = |bases: &[u64]| bases.iter().map(|b| b >> at & 1).collect::<Vec<u64>>();
        let virtual_warps = layout.registers_as_warps(pass.bits as usize, self.warp_bits as usize);
        let place = self.linear(&LinearExpr::new(&half(virtual_warps.lane()), &half(virtual_warps.warp()), &[]));
        let second = self.l.cast("trunc", place, self.l.i1);
        let of_register = half(&layout.register()[..inner]);
        let first = self.sum_of(&[(pass.number, &columns[inner..])]);
        let reach = columns[inner..].iter().fold(0, |all, c| all | c);
        let disjoint = columns[..inner].iter().all(|c| c & reach == 0);
        Ok((0..1u64 << inner)
            .map(|r| {
                let number = tile_layout::combine(&columns[..inner], r);
                let mut both = [left, right].map(|a| self.read_element(a, first, number, disjoint));
                if tile_layout::combine(&of_register, r) == 1 {
                    both.swap(0, 1);
                }
                self.l.select(second, both[1], both[0])
            })
            .collect())
    }

    /// An op that takes few registers of a big tensor.
    pub(super) fn few_of_many(&mut self, op: OpRef<'c>) -> Result<(), Failed> {
        let source = operand(op, 0);
        let made = match self.values.get(&key(source)) {
            Some(Lowered::Array(_)) => None,
            _ => Some(self.array_of(op, source)?),
        };
        let before = self.values.get(&key(source)).cloned();
        if let Some(array) = made {
            self.values.insert(key(source), Lowered::Array(array));
        }
        let slice = match AnyOp::cast(op) {
            Some(AnyOp::ExtractSliceOp(x)) => Some(self.slice_number(op, x.indices(), x.source(), x.result())?),
            _ => None,
        };
        let registers = self.gathered(op, source, slice)?;
        if let (Some(array), Some(before)) = (made, before) {
            self.values.insert(key(source), before);
            self.free_array(array);
        }
        self.set_all(result(op, 0), registers);
        Ok(())
    }

    /// A big tensor with a slice replaced: where it is, when nothing else uses it.
    pub(super) fn insert_into_many(&mut self, x: InsertSliceOp<'c>) -> Result<(), Failed> {
        let op = x.op();
        let columns = insert_map(x).ok_or_else(|| fail(op, "slices cross threads"))?;
        let alone = uses(x.dest()).len() == 1 && home_of(x.dest()) == block_of(op);
        let array = match self.values.get(&key(x.dest())).cloned() {
            Some(Lowered::Array(array)) if alone => {
                self.values.remove(&key(x.dest()));
                array
            }
            _ => self.array_of(op, x.dest())?,
        };
        let slice = self.slice_number(op, x.indices(), x.dest(), x.slice())?;
        let registers = self.fragment(op, x.slice())?;
        let inner = registers.len().ilog2() as usize;
        let first = self.sum_of(&[(slice, &columns[inner..])]);
        let reach = columns[inner..].iter().fold(0, |all, c| all | c);
        let disjoint = columns[..inner].iter().all(|c| c & reach == 0);
        for (r, v) in registers.into_iter().enumerate() {
            let number = tile_layout::combine(&columns[..inner], r as u64);
            self.write_element(array, first, number, disjoint, v);
        }
        self.values.insert(key(x.result()), Lowered::Array(array));
        Ok(())
    }

    //===-- whole tensors ---------------------------------------------------===//

    /// The registers of `v`, whatever it is, in a new array.
    pub(super) fn array_of(&mut self, op: OpRef<'c>, v: Val<'c>) -> Result<Array<'c>, Failed> {
        let array = self.new_array(op, v)?;
        self.fill(op, v, array)?;
        Ok(array)
    }

    /// Copies `v` to `to`.
    fn fill(&mut self, op: OpRef<'c>, v: Val<'c>, to: Array<'c>) -> Result<(), Failed> {
        match self.values.get(&key(v)).cloned() {
            Some(Lowered::Fragment(registers)) => {
                self.write_array(to, None, &registers);
                Ok(())
            }
            Some(_) => self.copy(op, &[(v, to)]),
            None => Err(fail(op, "operand holds no values here")),
        }
    }

    /// Copies big tensors to arrays, side by side: each pass reads all before it writes any, so that arrays may change
    /// places. All have as many registers.
    pub(super) fn copy(&mut self, op: OpRef<'c>, pairs: &[(Val<'c>, Array<'c>)]) -> Result<(), Failed> {
        let there = |(v, to): &(Val<'c>, Array<'c>)| matches!(self.values.get(&key(*v)), Some(Lowered::Array(from)) if from.is(to));
        let mut left: Vec<(Val<'c>, Array<'c>)> = pairs.iter().copied().filter(|p| !there(p)).collect();
        while let Some(&(_, Array { bits, .. })) = left.first() {
            let (now, rest): (Vec<_>, Vec<_>) = left.into_iter().partition(|(_, a)| a.bits == bits);
            left = rest;
            let mut scope: Scope<'c> = vec![];
            let passes = bits.saturating_sub(PASS_REGISTERS);
            let warps = self.warp_bits;
            self.counted(passes, |this, number| {
                let outer = (this.warp, this.pass);
                let shifted = this.l.bin("shl", number, this.l.i32c(warps.into()));
                this.warp = this.or_disjoint(outer.0, shifted);
                this.pass = Some(Pass { bits: passes, number });
                let mut read = vec![];
                for (v, _) in &now {
                    this.fetch(op, *v, &mut scope)?;
                    read.push(this.fragment(op, *v)?);
                }
                let first = this.first_register(bits);
                for ((_, array), registers) in now.iter().zip(read) {
                    this.write_array(*array, Some(first), &registers);
                }
                (this.warp, this.pass) = outer;
                Ok(())
            })?;
            for (k, before) in scope.into_iter().rev() {
                match before {
                    Some(v) => self.values.insert(k, v),
                    None => self.values.remove(&k),
                };
            }
        }
        Ok(())
    }

    /// Gives back arrays of tensors that nothing behind `op` uses.
    pub(super) fn release(&mut self, op: OpRef<'c>) {
        self.done.insert(op_key(op));
        if self.pool.is_idle() {
            return;
        }
        let mut used: Vec<Val<'c>> = operands(op).chain(results(op)).collect();
        if region_count(op) > 0 {
            walk(op, &mut |o| used.extend(operands(o)));
        }
        for v in used {
            if let Some(Lowered::Array(array)) = self.values.get(&key(v)).cloned()
                && self.is_last_use(v, op)
            {
                self.values.remove(&key(v));
                self.free_array(array);
            }
        }
    }

    /// Whether `v` is a value of the block of `op` and all its uses are emitted.
    fn is_last_use(&self, v: Val<'c>, op: OpRef<'c>) -> bool {
        // A value from outside of the block may be used again when the block is run again.
        let own = defining_op(v).is_some_and(|maker| block_of(maker) == block_of(op));
        own && uses(v).iter().all(|(user, _)| {
            let mut at = *user;
            while block_of(at) != block_of(op) {
                let Some(parent) = parent_op(at) else { return false };
                at = parent;
            }
            self.done.contains(&op_key(at))
        })
    }
}

/// log2 of the passes that an op on its own takes.
fn passes_of(op: OpRef<'_>) -> u32 {
    let registers = operands(op).chain(results(op)).filter_map(register_bits).max().unwrap_or(0);
    registers.saturating_sub(PASS_REGISTERS)
}

/// For an op that renames registers: the register of operand `v` that each register bit of the result contributes, then
/// those of the bits of a slice's number.
fn gather_map<'c>(op: OpRef<'c>, v: Val<'c>) -> Option<Vec<u64>> {
    let layout = |v| Tensor::of_value(v)?.layout();
    let to = result(op, 0);
    let whole = layout(to)?;
    let map: LinearMap = match AnyOp::cast(op)? {
        AnyOp::BroadcastOp(_) => {
            let wanted = project(&whole, &Tensor::of_value(to)?.shape, &Tensor::of_value(v)?.shape);
            register_map(&layout(v)?, &wanted)?
        }
        AnyOp::ConvertLayoutOp(_) => register_map(&layout(v)?, &whole)?,
        AnyOp::ExtractSliceOp(_) => {
            let (part, all) = (Tensor::of_value(to)?, Tensor::of_value(v)?);
            register_map(&layout(v)?, &whole.over_registers(&part.tile_shape(), &all.tile_shape()).ok()?)?
        }
        AnyOp::CatOp(x) => {
            let left_out = whole.half_register(cat_bit(to, x.dim() as usize)?);
            let kept = (0..whole.register().len()).scan(0, |next, i| {
                let column = if left_out == Some(i) { 0 } else { 1 << *next };
                *next += u32::from(left_out != Some(i));
                Some(column)
            });
            LinearMap::new(kept.collect(), 64).ok()?
        }
        _ => return None,
    };
    Some(map.columns().to_vec())
}

/// For the replacement of a slice: the register of the whole that each register bit of the slice contributes, then those of
/// the bits of the slice's number.
pub(super) fn insert_map(x: InsertSliceOp<'_>) -> Option<Vec<u64>> {
    let (part, whole) = (Tensor::of_value(x.slice())?, Tensor::of_value(x.dest())?);
    let all = part.layout()?.over_registers(&part.tile_shape(), &whole.tile_shape()).ok()?;
    Some(register_map(&whole.layout()?, &all)?.columns().to_vec())
}

/// The bits of an operand's register number that depend on the pass.
fn varying(op: OpRef<'_>, columns: &[u64], passes: u32) -> u64 {
    let n = register_bits(result(op, 0)).unwrap_or(0) as usize;
    columns[n - passes as usize..n].iter().fold(0, |all, c| all | c)
}

/// Ops that only rename registers.
fn gathers(op: OpRef<'_>) -> bool {
    matches!(
        AnyOp::cast(op),
        Some(AnyOp::BroadcastOp(_) | AnyOp::ConvertLayoutOp(_) | AnyOp::ExtractSliceOp(_) | AnyOp::CatOp(_))
    )
}

fn result_or_operand<'c>(op: OpRef<'c>) -> Val<'c> {
    if result_count(op) > 0 { result(op, 0) } else { operand(op, 0) }
}

/// The bit of the index that tells the halves of a concatenation apart.
fn cat_bit(result: Val<'_>, dim: usize) -> Option<u32> {
    let (low, width) = Tensor::of_value(result)?.tile_shape().field(dim).ok()?;
    (low + width).checked_sub(1)
}

/// An index without the bits of a field but those in `kept`, a mask of the coordinate; what is left moves together.
fn forget(index: u64, low: u32, width: u32, kept: u64) -> u64 {
    let mut out = index & ((1 << low) - 1);
    let mut at = low;
    for i in (0..width).filter(|i| kept >> i & 1 == 1) {
        out |= (index >> (low + i) & 1) << at;
        at += 1;
    }
    out | index >> (low + width) << at
}

fn is_token(v: Val<'_>) -> bool {
    MemTokenType::cast(ty(v)).is_some()
}

/// Whether an op can be emitted before the loop of a group that stands before it.
fn may_pass<'c>(op: OpRef<'c>, group: &Group<'c>) -> bool {
    // SAFETY: `op` is alive.
    let movable = unsafe {
        crate::dialect::ffi::mlirxOperationIsPure(op.to_raw())
            && !crate::dialect::ffi::mlirxOperationIsTerminatorTrait(op.to_raw())
    };
    movable && region_count(op) == 0 && operands(op).all(|v| is_token(v) || !group.made(v))
}

/// Whether an access must not share a loop with those whose token it depends on.
fn ordered_behind<'c>(op: OpRef<'c>, group: &Group<'c>) -> bool {
    let mut work: Vec<Val<'c>> = operands(op).filter(|v| is_token(*v)).collect();
    let mut seen = FxHashSet::default();
    while let Some(token) = work.pop() {
        let Some(maker) = defining_op(token).filter(|_| seen.insert(key(token))) else { continue };
        match nv_tileaa::AnyOp::cast(maker) {
            Some(nv_tileaa::AnyOp::JoinMemTokenOp(_)) => work.extend(operands(maker)),
            _ if !group.members.contains(&op_key(maker)) => {}
            _ if !reads_only(op) || !reads_only(maker) => return true,
            _ => work.extend(operands(maker).filter(|v| is_token(*v))),
        }
    }
    false
}

fn reads_only(op: OpRef<'_>) -> bool {
    matches!(AnyOp::cast(op), Some(AnyOp::TiledLoadOp(_) | AnyOp::LoadOp(_)))
}
