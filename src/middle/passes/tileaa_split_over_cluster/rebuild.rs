//! Rewrites a function with the parts of each value that a CTA needs.

use super::demand::{Demands, Origin, Part, is_token};
use crate::{
    analysis::{
        facts::Facts,
        tile_parts::{index_of_part, view_of_parts},
    },
    dialect::{
        arith::IntPredicate,
        behaviour::is_constant,
        layouts::{Tensor, retype_constant},
        nv_tileaa::{
            self, AnyOp, CreateMemTokenOp, ExtractSliceOp, GetCtaRankOp, JoinMemTokenOp, MakeTiledViewOp, TiledViewType,
        },
        pass::{Failed, fail},
        rt::*,
        upstream::Scf,
    },
};
use melior::{
    Context,
    ir::{Region, RegionLike, Type, operation::OperationLike, r#type::IntegerType},
};
use mlir_sys::*;
use rustc_hash::FxHashMap;

pub(super) fn rebuild<'c>(
    function: nv_tileaa::FuncOp<'c>,
    demands: &Demands<'c>,
    facts: &Facts,
    context: &'c Context,
) -> Result<(), Failed> {
    let op = function.op();
    let old = take_body(op);
    let Some(source) = old.first_block().map(|b| {
        // SAFETY: the block lives as long as the region, which is dropped after its last use.
        unsafe { Blk::from_raw(b.to_raw()) }
    }) else {
        return Ok(());
    };
    let arguments: Vec<_> = args(source).map(|a| (ty(a), op.location())).collect();
    let block = melior::ir::Block::new(&arguments);
    // SAFETY: the function owns the region, which owns the block from now on.
    let entry = unsafe {
        let raw = block.into_raw();
        mlirRegionAppendOwnedBlock(region(op, 0).to_raw(), raw);
        Blk::from_raw(raw)
    };
    let b = Builder::at_end(context, entry, op.location());
    let i32_type: Type<'c> = IntegerType::new(context, 32).into();
    let rank = GetCtaRankOp::build(&b, i32_type).map_err(|e| fail(op, e.to_string()))?.result();
    let mut new = Rebuild { b, demands, facts, values: FxHashMap::default(), views: vec![], rank };
    new.bind_arguments(source, entry);
    new.block(source)?;
    // Erase views that sliced views replace.
    for view in new.views {
        if !has_uses(view) {
            erase(defining_op(view).expect("a view is made"));
        }
    }
    Ok(())
}

struct Rebuild<'a, 'c> {
    b: Builder<'c>,
    demands: &'a Demands<'c>,
    facts: &'a Facts,
    /// The new values, by the original value and part.
    values: FxHashMap<(usize, Part), Val<'c>>,
    views: Vec<Val<'c>>,
    /// The rank of this CTA in its cluster.
    rank: Val<'c>,
}

impl<'c> Rebuild<'_, 'c> {
    fn get(&self, op: OpRef<'c>, v: Val<'c>, part: Part) -> Result<Val<'c>, Failed> {
        let missing = || fail(op, format!("the {part:?} of an operand of '{}' has not been built", op_name(op)));
        self.values.get(&(key(v), part)).copied().ok_or_else(missing)
    }

    fn bind(&mut self, old: Val<'c>, part: Part, new: Val<'c>) {
        self.values.insert((key(old), part), new);
    }

    /// Binds the arguments of a block that is not sliced.
    fn bind_arguments(&mut self, old: Blk<'c>, new: Blk<'c>) {
        for (old, new) in args(old).zip(args(new)) {
            self.bind(old, Part::Whole, new);
        }
    }

    fn part_type(&self, v: Val<'c>, part: Part) -> Type<'c> {
        match (part, Tensor::of_value(v)) {
            (Part::Slice(d), Some(mut t)) => {
                t.shape[d] /= self.demands.count;
                t.ty()
            }
            _ => ty(v),
        }
    }

    fn block(&mut self, source: Blk<'c>) -> Result<(), Failed> {
        ops_of(source).try_for_each(|op| self.op(op))
    }

    fn op(&mut self, op: OpRef<'c>) -> Result<(), Failed> {
        self.b.set_location(op.location());
        match Scf::of(op) {
            Some(Scf::Yield | Scf::Condition) => return Ok(()),
            Some(_) => return self.control(op),
            None => {}
        }
        if let Some(part) = self.demands.stored(op) {
            return self.store(op, part);
        }
        if self.demands.is_access(op) {
            return self.load(op);
        }
        let mut parts: Vec<Part> = results(op).flat_map(|r| self.demands.parts(r)).collect();
        if result_count(op) == 0 {
            parts.push(Part::Whole);
        }
        parts.sort_unstable();
        parts.dedup();
        for part in parts {
            match part {
                Part::Whole => {
                    let new = self.copy(op, &vec![Part::Whole; operand_count(op)])?;
                    for (old, new) in results(op).zip(results(new)) {
                        self.bind(old, Part::Whole, new);
                    }
                    if MakeTiledViewOp::cast(op).is_some() {
                        self.views.push(result(new, 0));
                    }
                }
                Part::Slice(d) => self.slice(op, d)?,
            }
        }
        Ok(())
    }

    /// Copies an op with these parts of its operands.
    fn copy(&mut self, op: OpRef<'c>, parts: &[Part]) -> Result<OpRef<'c>, Failed> {
        let new = clone_detached(op);
        self.b.insert_op(new);
        for (i, part) in parts.iter().enumerate() {
            let v = operand(op, i);
            let part = if is_token(v) { Part::Whole } else { *part };
            set_operand(new, i, self.get(op, v, part)?);
        }
        // Remap values that regions use from outside.
        let mut inner = vec![];
        (0..region_count(new)).filter_map(|i| entry_block(region(new, i))).flat_map(ops_of).for_each(|o| inner.push(o));
        for o in inner {
            for i in 0..operand_count(o) {
                if let Some(outside) = self.values.get(&(key(operand(o, i)), Part::Whole)) {
                    set_operand(o, i, *outside);
                }
            }
        }
        Ok(new)
    }

    /// Builds the slices of the results along dimension `d`.
    fn slice(&mut self, op: OpRef<'c>, d: usize) -> Result<(), Failed> {
        let error = |e: BuildError| fail(op, e.to_string());
        let v = result(op, 0);
        let origin = self.demands.sliced(op, v, d, self.facts).map_err(|(at, reason)| fail(at, reason))?;
        let part = Part::Slice(d);
        let operands = match origin {
            Origin::Operands(operands) => operands,
            Origin::Whole => {
                for r in results(op) {
                    let rank = Tensor::of_value(r).map_or(0, |t| t.shape.len());
                    let indices: Vec<Val<'c>> = (0..rank)
                        .map(|i| if i == d { self.rank } else { self.b.int_constant(ty(self.rank), 0) })
                        .collect();
                    let whole = self.get(op, r, Part::Whole)?;
                    let taken = ExtractSliceOp::build(&self.b, self.part_type(r, part), whole, &indices);
                    let taken = taken.map_err(error)?.result();
                    self.bind(r, part, taken);
                }
                return Ok(());
            }
        };
        match AnyOp::cast(op) {
            Some(AnyOp::AssumeOp(x)) => {
                let promised = self.get(op, x.value(), part)?;
                self.bind(v, part, promised);
                return Ok(());
            }
            Some(AnyOp::MakeRangeOp(_)) => {
                let t = self.part_type(v, part);
                let range = nv_tileaa::MakeRangeOp::build(&self.b, t).map_err(error)?.result();
                let Some(tensor) = Tensor::of(t) else { return Err(fail(op, "a range is not a tensor")) };
                let extent = self.b.int_constant(ty(self.rank), tensor.shape[0]);
                let start = self.b.muli(self.rank, extent);
                let start = self.b.resized(start, tensor.element, true);
                let start = nv_tileaa::SplatOp::build(&self.b, t, start).map_err(error)?.result();
                let sum = self.b.addi(range, start);
                self.bind(v, part, sum);
                return Ok(());
            }
            _ => {}
        }
        let mut parts = vec![Part::Whole; operand_count(op)];
        operands.into_iter().for_each(|(i, p)| parts[i] = p);
        let new = self.copy(op, &parts)?;
        for (old, new) in results(op).zip(results(new)) {
            set_ty(new, self.part_type(old, part));
            self.bind(old, part, new);
        }
        if is_constant(op) {
            retype_constant(new);
        }
        Ok(())
    }

    //===-- memory ----------------------------------------------------------===//

    fn load(&mut self, op: OpRef<'c>) -> Result<(), Failed> {
        let (value, token) = (result(op, 0), result(op, 1));
        let mut tokens = vec![];
        for part in self.demands.parts(value) {
            let new = self.access(op, part)?;
            set_ty(result(new, 0), self.part_type(value, part));
            self.bind(value, part, result(new, 0));
            tokens.push(result(new, 1));
        }
        let joined = match tokens[..] {
            // The token is not used.
            [] => return Ok(()),
            [one] => one,
            [one, ..] if !has_uses(token) => one,
            _ => JoinMemTokenOp::build(&self.b, ty(token), &tokens).map_err(|e| fail(op, e.to_string()))?.result(),
        };
        self.bind(token, Part::Whole, joined);
        Ok(())
    }

    fn store(&mut self, op: OpRef<'c>, part: Part) -> Result<(), Failed> {
        let token = result(op, 0);
        if part != Part::Whole {
            let new = self.access(op, part)?;
            self.bind(token, Part::Whole, result(new, 0));
            return Ok(());
        }
        // All ranks have the value; rank 0 writes it.
        let error = |e: BuildError| fail(op, e.to_string());
        let first = self.b.cmpi(IntPredicate::Eq, self.rank, self.b.int_constant(ty(self.rank), 0));
        let [then, other] = [Region::new(), Region::new()];
        let blocks = [&then, &other].map(|r| append_block(r, &[], op.location()));
        let mut state = self.b.state("scf.if");
        state.results(&[ty(token)]);
        state.operands(&[first]);
        state.region(then);
        state.region(other);
        let branch = self.b.insert(state).map_err(error)?;
        self.b.set_end(blocks[0]);
        let stored = self.access(op, part)?;
        self.b.create("scf.yield", &[], &[result(stored, 0)], &[]);
        self.b.set_end(blocks[1]);
        let before = match operands(op).find(|v| is_token(*v)) {
            Some(before) => self.get(op, before, Part::Whole)?,
            None => CreateMemTokenOp::build(&self.b, ty(token)).map_err(error)?.result(),
        };
        self.b.create("scf.yield", &[], &[before], &[]);
        self.b.set_after(branch);
        self.bind(token, Part::Whole, result(branch, 0));
        Ok(())
    }

    /// Builds the access to a part of a tile. A load's result still has the type of the whole tile.
    fn access(&mut self, op: OpRef<'c>, part: Part) -> Result<OpRef<'c>, Failed> {
        let found = self.demands.access_operands(op, part, self.facts).map_err(|(at, reason)| fail(at, reason))?;
        let mut parts = vec![Part::Whole; operand_count(op)];
        found.into_iter().for_each(|(i, p)| parts[i] = p);
        let tiled = match AnyOp::cast(op) {
            Some(AnyOp::TiledLoadOp(x)) => Some((x.view(), 0)),
            Some(AnyOp::TiledStoreOp(x)) => Some((x.view(), 1)),
            _ => None,
        };
        let (Part::Slice(d), Some((view, at))) = (part, tiled) else { return self.copy(op, &parts) };
        let unknown = || fail(op, "the form of the tile's view is not supported");
        let old = TiledViewType::cast(ty(view)).ok_or_else(unknown)?;
        let memref = defining_op(view).and_then(MakeTiledViewOp::cast).ok_or_else(unknown)?.memref();
        let memref = self.get(op, memref, Part::Whole)?;
        let view = view_of_parts(&self.b, old, memref, (d, self.demands.count)).ok_or_else(unknown)?;
        let view = view.map_err(|e| fail(op, e.to_string()))?;
        // Slices of a list of rows are slices of the list.
        let index = match old.sparse_dim() {
            Some(sparse) if sparse as usize == d => None,
            _ => {
                let old = operand(op, at + 1 + d);
                let new = self.get(op, old, Part::Whole)?;
                Some(index_of_part(&self.b, (new, old), (self.rank, self.demands.count), self.facts))
            }
        };
        let new = self.copy(op, &parts)?;
        set_operand(new, at, view);
        if let Some(index) = index {
            set_operand(new, at + 1 + d, index);
        }
        Ok(new)
    }

    //===-- control flow ----------------------------------------------------===//

    /// Lists the values of a loop or branch with each of their parts, by number.
    fn slots(&self, values: impl Iterator<Item = Val<'c>>) -> Vec<(usize, Val<'c>, Part)> {
        let parts = |(i, v): (usize, Val<'c>)| self.demands.parts(v).into_iter().map(move |p| (i, v, p));
        values.enumerate().flat_map(parts).collect()
    }

    fn control(&mut self, op: OpRef<'c>) -> Result<(), Failed> {
        let kind = Scf::of(op);
        // The number of operands before the loop-carried ones; arguments and terminators have the same offset.
        let (fixed, inits) = match kind {
            Some(Scf::For) => (3, self.slots(results(op))),
            Some(Scf::If) => (1, vec![]),
            _ => (0, self.slots(args(entry_block(region(op, 0)).expect("a loop has a body")))),
        };
        let out = self.slots(results(op));
        let mut state = self.b.state(op_name(op));
        for (name, value) in named_attrs(op) {
            state.attr(name, value);
        }
        let mut all = vec![];
        for i in 0..fixed {
            all.push(self.get(op, operand(op, i), Part::Whole)?);
        }
        for (i, _, part) in &inits {
            all.push(self.get(op, operand(op, fixed + i), *part)?);
        }
        state.operands(&all);
        state.results(&out.iter().map(|(_, v, part)| self.part_type(*v, *part)).collect::<Vec<_>>());
        // The new blocks, each with the values that its terminator passes on.
        let mut blocks = vec![];
        for i in 0..region_count(op) {
            let new = Region::new();
            if let Some(old) = entry_block(region(op, i)) {
                let counters = usize::from(kind == Some(Scf::For));
                let arguments = self.slots(args(old).skip(counters));
                let types: Vec<Type<'c>> = (args(old).take(counters).map(ty))
                    .chain(arguments.iter().map(|(_, v, part)| self.part_type(*v, *part)))
                    .collect();
                let block = append_block(&new, &types, op.location());
                args(old).take(counters).zip(args(block)).for_each(|(old, new)| self.bind(old, Part::Whole, new));
                for ((_, v, part), new) in arguments.iter().zip(args(block).skip(counters)) {
                    self.bind(*v, *part, new);
                }
                let handed = if kind == Some(Scf::While) && i == 1 { &inits } else { &out };
                blocks.push((old, block, handed.clone()));
            }
            state.region(new);
        }
        let new = self.b.insert(state).map_err(|e| fail(op, e.to_string()))?;
        for (old, block, handed) in blocks {
            self.b.set_end(block);
            self.block(old)?;
            let last = ops_of(old).last().ok_or_else(|| fail(op, "a block has no terminator"))?;
            self.b.set_location(last.location());
            let condition = usize::from(Scf::of(last) == Some(Scf::Condition));
            let mut values = vec![];
            for i in 0..condition {
                values.push(self.get(last, operand(last, i), Part::Whole)?);
            }
            for (i, _, part) in handed {
                values.push(self.get(last, operand(last, condition + i), part)?);
            }
            self.b.create(op_name(last), &[], &values, &[]);
        }
        self.b.set_after(new);
        for ((_, v, part), new) in out.into_iter().zip(results(new)) {
            self.bind(v, part, new);
        }
        Ok(())
    }
}
