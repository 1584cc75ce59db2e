//! Reductions within warps.
//!
//! A thread first combines its own elements, as a balanced tree over the registers in coordinate order. The tree has
//! as many operations as a chain but leaves independent operations to overlap. Each lane bit along the dimension then
//! takes one butterfly exchange. If the reduction covers a whole warp and the hardware supports it, one `redux.sync`
//! replaces the five exchanges.
//!
//! All threads that hold an element of the result must hold the same bits, because control flow may depend on it. A
//! butterfly combines `a, b` in one lane and `b, a` in the other. If the body is not visibly symmetric, the lane with
//! zeros in the dimension's bits, which combined everything in order, broadcasts its result to the others.
//!
//! A reduction in the canonical order follows the steps of [`Layout::canonical_reduction`]. While a thread has several
//! values left, an exchange between lanes also divides the values: each lane of a pair keeps one half of them, receives
//! the other lane's part of that half, and the bit that numbered the halves moves into the lane number.

use super::{Lower, combine::From, llvm::Cmp};
use crate::analysis::combiners::{is_symmetric, simple_ops};
use crate::dialect::{
    attributes::CANONICAL,
    layouts::Tensor,
    nv_tileaa::{FpKind, FpOp},
    nv_tileas::{PickOp, ReduceOp},
    pass::{Failed, fail},
    rt::*,
    upstream::Arith,
};
use tile_layout::{Layout, LinearMap, Reduction, Step, combine};
use tile_targets::Feature;

const EVERY_LANE: u64 = 31;

/// The values that a reduction in the canonical order has left.
struct Left<'c> {
    /// For each register of the result, rows with a value of each operand, by ascending coordinate.
    rows: Vec<Vec<Vec<Val<'c>>>>,
    /// The bits of the numbers of the rows as planned, from the lowest: the lane bit to which a bit has moved, if lanes
    /// have divided the rows by it.
    bits: Vec<Option<u32>>,
}

impl Left<'_> {
    /// The number of planned bits below `bit` that still number rows.
    fn held_below(&self, bit: u32) -> u32 {
        self.bits[..bit as usize].iter().filter(|b| b.is_none()).count() as u32
    }
}

/// How `redux.sync` implements a body.
struct Redux {
    /// The suffix of the intrinsic's name.
    name: &'static str,
    signed: bool,
    /// Whether counting an element twice leaves the result unchanged.
    idempotent: bool,
}

impl<'c> Lower<'c, '_> {
    pub(super) fn reduce(&mut self, x: ReduceOp<'c>) -> Result<(), Failed> {
        let op = x.op();
        let operands: Vec<Val<'c>> = x.operands().collect();
        let tensor = self.tensor(op, operands[0])?;
        let layout = self.layout(op, operands[0])?;
        if CANONICAL.is_on(op) {
            return self.canonical_reduce(x, &layout, &tensor);
        }
        let kept = x.kept().unwrap_or(0) as u64;
        let plan = plan(op, &layout, &tensor, x.dim() as usize, kept)?;
        let inputs: Vec<Vec<Val<'c>>> = operands.iter().map(|v| self.fragment(op, *v)).collect::<Result<_, _>>()?;

        let mut found: Vec<Vec<Val<'c>>> = vec![];
        for registers in &plan.registers {
            found.push(self.in_thread(op, &inputs, registers)?);
        }
        if plan.across.lane != 0 {
            found = self.across_lanes(op, &layout, &plan, found)?;
        }
        for (i, r) in results(op).enumerate() {
            let values: Vec<Val<'c>> = found.iter().map(|v| v[i]).collect();
            self.set_reduced(op, r, &plan.layout, &values)?;
        }
        Ok(())
    }

    fn canonical_reduce(&mut self, x: ReduceOp<'c>, layout: &Layout, tensor: &Tensor<'c>) -> Result<(), Failed> {
        let op = x.op();
        let (first, kept) = (CANONICAL.get(op).unwrap_or(0), x.kept().unwrap_or(0) as u64);
        let canonical =
            layout.canonical_reduction(&tensor.tile_shape(), x.dim() as usize, first.clamp(0, 63) as u32, kept);
        let canonical = canonical.map_err(|e| fail(op, e.to_string()))?.ok_or_else(|| across_warps(op))?;
        let inputs: Vec<Vec<Val<'c>>> = x.operands().map(|v| self.fragment(op, v)).collect::<Result<_, _>>()?;
        let row = |r: &u32| inputs.iter().map(|i| i[*r as usize]).collect();
        let lists = &canonical.plan.registers;
        let rows: Vec<Vec<Vec<Val<'c>>>> = lists.iter().map(|list| list.iter().map(row).collect()).collect();
        let symmetric = is_symmetric(op);
        let bits = lists.first().map_or(0, |list| list.len().ilog2());
        let mut left = Left { rows, bits: vec![None; bits as usize] };
        for step in &canonical.steps {
            let lane = match step {
                Step::Lane(lane) => Some(*lane),
                Step::Register(bit) => left.bits.remove(*bit as usize),
            };
            match (lane, step) {
                (Some(lane), _) => self.canonical_exchange(op, lane, symmetric, &mut left)?,
                (None, Step::Register(bit)) => self.combine_pairs(op, left.held_below(*bit), &mut left)?,
                (None, Step::Lane(_)) => {}
            }
        }
        let mut found: Vec<Vec<Val<'c>>> = left.rows.into_iter().flatten().collect();
        let across = canonical.plan.across.lane;
        if !symmetric && across != 0 {
            let leader = self.l.bin("and", self.threads.lane, self.l.i32c(!across as i32 as i64));
            found = self.rows_from_lane(&found, From::Lane(leader));
        }
        for (i, r) in results(op).enumerate() {
            let values: Vec<Val<'c>> = found.iter().map(|v| v[i]).collect();
            self.set_reduced(op, r, &canonical.plan.layout, &values)?;
        }
        Ok(())
    }

    /// Combines the rows whose numbers differ in `bit`.
    fn combine_pairs(&mut self, op: OpRef<'c>, bit: u32, left: &mut Left<'c>) -> Result<(), Failed> {
        for list in &mut left.rows {
            let mut combined = vec![];
            for i in (0..list.len()).filter(|i| i >> bit & 1 == 0) {
                combined.push(self.combine(op, &list[i], &list[i | 1 << bit])?);
            }
            *list = combined;
        }
        Ok(())
    }

    /// Combines what is left with the lane that differs in one bit, and divides it between the two if possible. Lanes
    /// on the upper side then combine in the opposite order, so only symmetric bodies are divided.
    fn canonical_exchange(
        &mut self,
        op: OpRef<'c>,
        lane: u32,
        symmetric: bool,
        left: &mut Left<'c>,
    ) -> Result<(), Failed> {
        let each = left.rows.first().map_or(0, Vec::len);
        if symmetric && each > 1 {
            let bit = self.l.bin("and", self.threads.lane, self.l.i32c(1 << lane));
            let upper = self.l.icmp(Cmp::Ne, bit, self.l.i32c(0));
            let pick = |this: &Self, taken: &[Val<'c>], other: &[Val<'c>]| -> Vec<Val<'c>> {
                taken.iter().zip(other).map(|(t, o)| this.l.select(upper, *t, *o)).collect()
            };
            // The lowest bit moves: along the order, it is among the last that are combined.
            let mut sent = vec![];
            for list in &mut left.rows {
                for pair in list.chunks(2) {
                    sent.push(pick(self, &pair[0], &pair[1]));
                }
                *list = list.chunks(2).map(|pair| pick(self, &pair[1], &pair[0])).collect();
            }
            if let Some(held) = left.bits.iter_mut().find(|b| b.is_none()) {
                *held = Some(lane);
            }
            return self.exchange_with(op, 1 << lane, sent, left);
        }
        let sent = left.rows.iter().flatten().cloned().collect();
        self.exchange_with(op, 1 << lane, sent, left)
    }

    /// Combines each value with the value that the lane across `flip` sends. All exchanges come before the
    /// combinations, so that they overlap.
    fn exchange_with(
        &mut self,
        op: OpRef<'c>,
        flip: u32,
        sent: Vec<Vec<Val<'c>>>,
        left: &mut Left<'c>,
    ) -> Result<(), Failed> {
        let received = self.rows_from_lane(&sent, From::Flip(flip));
        for (mine, other) in left.rows.iter_mut().flatten().zip(received) {
            *mine = self.combine(op, mine, &other)?;
        }
        Ok(())
    }

    /// Combines all operands at `registers` as a balanced tree, so that operations do not wait for each other.
    fn in_thread(&mut self, op: OpRef<'c>, inputs: &[Vec<Val<'c>>], registers: &[u32]) -> Result<Vec<Val<'c>>, Failed> {
        match registers {
            [r] => Ok(inputs.iter().map(|i| i[*r as usize]).collect()),
            _ => {
                let (low, high) = registers.split_at(registers.len() / 2);
                let low = self.in_thread(op, inputs, low)?;
                let high = self.in_thread(op, inputs, high)?;
                self.combine(op, &low, &high)
            }
        }
    }

    fn across_lanes(
        &mut self,
        op: OpRef<'c>,
        layout: &Layout,
        plan: &Reduction,
        found: Vec<Vec<Val<'c>>>,
    ) -> Result<Vec<Vec<Val<'c>>>, Failed> {
        let replicas = layout.zero_bits().lane;
        let redux: Option<Vec<Redux>> = simple_ops(op).and_then(|ops| {
            let whole = |r: &Redux| plan.across.lane | if r.idempotent { replicas } else { 0 } == EVERY_LANE;
            ops.iter().zip(&found[0]).map(|(o, v)| self.redux(*o, *v).filter(whole)).collect()
        });
        if let Some(redux) = redux {
            let each = |values: &Vec<Val<'c>>| values.iter().zip(&redux).map(|(v, r)| self.redux_sync(*v, r)).collect();
            return Ok(found.iter().map(each).collect());
        }
        let bits: Vec<u32> = (0..5).filter(|i| plan.across.lane >> i & 1 == 1).map(|i| 1 << i).collect();
        let mut found = found;
        for bit in bits {
            // Emit all exchanges of a step before its combinations, so that they overlap.
            let others = self.rows_from_lane(&found, From::Flip(bit));
            for (mine, other) in found.iter_mut().zip(others) {
                *mine = self.combine(op, mine, &other)?;
            }
        }
        if !is_symmetric(op) {
            let leader = self.l.bin("and", self.threads.lane, self.l.i32c(!plan.across.lane as i32 as i64));
            found = self.rows_from_lane(&found, From::Lane(leader));
        }
        Ok(found)
    }

    /// Returns the instruction that reduces values like `v` with the binary `op`, if the target has one.
    fn redux(&self, op: OpRef<'c>, v: Val<'c>) -> Option<Redux> {
        let l = &self.l;
        let (name, signed, idempotent) = match Arith::of(op) {
            Some(Arith::AddI) => ("add", false, false),
            Some(Arith::AndI) => ("and", false, true),
            Some(Arith::OrI) => ("or", false, true),
            Some(Arith::XOrI) => ("xor", false, false),
            Some(Arith::MaxSI) => ("max", true, true),
            Some(Arith::MinSI) => ("min", true, true),
            Some(Arith::MaxUI) => ("umax", false, true),
            Some(Arith::MinUI) => ("umin", false, true),
            _ if ty(v) == l.f32 && self.function.target.has(Feature::ReduxF32) => {
                let name = match Arith::of(op) {
                    Some(Arith::MaxNumF) => "fmax",
                    Some(Arith::MinNumF) => "fmin",
                    Some(Arith::MaximumF) => "fmax.NaN",
                    Some(Arith::MinimumF) => "fmin.NaN",
                    None if FpOp::cast(op).is_some_and(|fp| !fp.ftz()) => match FpOp::wrap(op).kind() {
                        FpKind::Max => "fmax",
                        FpKind::Min => "fmin",
                        FpKind::MaxNan => "fmax.NaN",
                        FpKind::MinNan => "fmin.NaN",
                        _ => return None,
                    },
                    _ => return None,
                };
                return Some(Redux { name, signed: false, idempotent: true });
            }
            _ => return None,
        };
        (self.register_bits(ty(v)) <= 32).then_some(Redux { name, signed, idempotent })
    }

    fn redux_sync(&self, v: Val<'c>, redux: &Redux) -> Val<'c> {
        let l = &self.l;
        let t = ty(v);
        let word = if t == l.f32 { v } else { l.cast(if redux.signed { "sext" } else { "zext" }, v, l.i32) };
        let name = format!("llvm.nvvm.redux.sync.{}", redux.name);
        let all = l.intrinsic(&name, ty(word), &[word, l.i32c(-1)]);
        l.cast("trunc", all, t)
    }

    /// Binds `to` to values distributed by `layout`.
    fn set_reduced(&mut self, op: OpRef<'c>, to: Val<'c>, layout: &Layout, values: &[Val<'c>]) -> Result<(), Failed> {
        if Tensor::of_value(to).is_none() {
            self.set_all(to, vec![values[0]]);
            return Ok(());
        }
        let wanted = self.layout(op, to)?;
        let order = tile_layout::register_permutation(layout, &wanted)
            .ok_or_else(|| fail(op, "layout of the result is not the operand's without the dimension"))?;
        self.set_all(to, order.into_iter().map(|r| values[r as usize]).collect());
        Ok(())
    }

    /// Broadcasts the value at one coordinate to all lanes along the dimension.
    pub(super) fn pick(&mut self, x: PickOp<'c>) -> Result<(), Failed> {
        let op = x.op();
        let tensor = self.tensor(op, x.source())?;
        let layout = self.layout(op, x.source())?;
        let dim = x.dim() as usize;
        let plan = plan(op, &layout, &tensor, dim, 0)?;
        let shape = tensor.tile_shape();
        let (low, width) = shape.field(dim).map_err(|e| fail(op, e.to_string()))?;
        let field = ((1u64 << width) - 1) << low;
        let wanted = (x.at() as u64) << low;
        let lanes: Vec<u64> = (0..5).filter(|i| plan.across.lane >> i & 1 == 1).collect();
        let bases = lanes.iter().map(|&i| layout.lane()[i as usize]).collect();
        let along = LinearMap::new(bases, 64).map_err(|e| fail(op, e.to_string()))?;
        let values = self.fragment(op, x.source())?;
        let (mut found, mut holder) = (vec![], 0);
        for registers in &plan.registers {
            let held = registers.iter().find_map(|&r| {
                let rest = combine(layout.register(), r.into()) & field ^ wanted;
                along.solve(rest).map(|lane| (r, lane))
            });
            let (register, solution) = held.ok_or_else(|| fail(op, "no thread of the warp holds the coordinate"))?;
            // All registers of the result come from the same lanes: they differ in other coordinates.
            holder = lanes.iter().enumerate().filter(|(k, _)| solution >> k & 1 == 1).fold(0, |m, (_, i)| m | 1 << i);
            found.push(vec![values[register as usize]]);
        }
        if plan.across.lane != 0 {
            let others = self.l.bin("and", self.threads.lane, self.l.i32c(!plan.across.lane as i32 as i64));
            let lane = self.or_disjoint(others, self.l.i32c(holder));
            found = self.rows_from_lane(&found, From::Lane(lane));
        }
        let found: Vec<Val<'c>> = found.into_iter().flatten().collect();
        self.set_reduced(op, x.result(), &plan.layout, &found)
    }
}

/// Plans a reduction within a warp.
fn plan(op: OpRef<'_>, layout: &Layout, tensor: &Tensor<'_>, dim: usize, kept: u64) -> Result<Reduction, Failed> {
    let plan = layout.reduction(&tensor.tile_shape(), dim, kept).map_err(|e| fail(op, e.to_string()))?;
    match plan {
        Some(plan) if plan.across.warp == 0 && plan.across.block == 0 => Ok(plan),
        _ => Err(across_warps(op)),
    }
}

fn across_warps(op: OpRef<'_>) -> Failed {
    fail(op, format!("'{}' reduces across warps; run tileas-materialize-reductions first", op_name(op)))
}
