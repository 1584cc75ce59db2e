//! Builds loops over chunks: their bodies, and the arrays that they read and write.

use super::{Group, RegisterLoops, TensorState, aligned, arrays::Array, gather_map, is_token, varying};
use crate::{
    analysis::registers::{PASS_REGISTERS, register_bits},
    dialect::{
        behaviour::is_constant,
        layouts::{Tensor, retype_constant},
        nv_tileaa::MemTokenType,
        nv_tileas::{AnyOp, ArrayCatOp, ArrayLoadOp, ArrayStoreOp, GatherRegistersOp, RegisterLoopOp, YieldOp},
        pass::{Failed, fail},
        rt::*,
    },
};
use melior::ir::{Region, Type, r#type::IntegerType};
use rustc_hash::{FxHashMap, FxHashSet};

/// The body of a loop under construction.
struct Chunk<'c> {
    /// The builder in the body.
    b: Builder<'c>,
    number: Val<'c>,
    /// Log2 of the number of chunks.
    bits: u32,
    region: Region<'c>,
    /// The chunks of tensors, and the tokens, by original value.
    bound: FxHashMap<usize, Val<'c>>,
    /// Arrays of tensors that are not arrays outside the loop.
    arrays: FxHashMap<usize, Array<'c>>,
}

impl<'c> RegisterLoops<'c> {
    fn begin(&self, op: OpRef<'c>, bits: u32) -> Chunk<'c> {
        let region = Region::new();
        let i32: Type<'c> = IntegerType::new(self.context, 32).into();
        let block = append_block(&region, &[i32], op.location());
        let b = Builder::at_end(self.context, block, op.location());
        Chunk { b, number: arg(block, 0), bits, region, bound: FxHashMap::default(), arrays: FxHashMap::default() }
    }

    /// Builds the loop. Returns its tokens, one for each of `tokens` of the body.
    fn end(
        &mut self,
        b: &Builder<'c>,
        op: OpRef<'c>,
        chunk: Chunk<'c>,
        tokens: &[Val<'c>],
    ) -> Result<Vec<Val<'c>>, Failed> {
        let error = |e: BuildError| fail(op, e.to_string());
        YieldOp::build(&chunk.b, tokens).map_err(error)?;
        let types: Vec<Type<'c>> = tokens.iter().map(|v| ty(*v)).collect();
        let chunks = i64_attr(self.context, 1 << chunk.bits);
        self.loops += 1;
        Ok(RegisterLoopOp::build(b, &types, chunks, chunk.region).map_err(error)?.tokens().collect())
    }

    /// Returns the type of a chunk of a tensor like `v`.
    fn chunk_type(&self, op: OpRef<'c>, v: Val<'c>, bits: u32) -> Result<Type<'c>, Failed> {
        let tensor = Tensor::of_value(v).ok_or_else(|| fail(op, "value is not a tensor"))?;
        let layout = tensor.layout().ok_or_else(|| fail(op, "tensor has no layout"))?;
        Ok(tensor.with_layout(self.context, &layout.registers_as_warps(bits as usize, self.warp_bits as usize)))
    }

    /// Builds the group's loop before `anchor`.
    pub(super) fn flush(
        &mut self,
        group: &mut Group<'c>,
        block: &[OpRef<'c>],
        anchor: OpRef<'c>,
    ) -> Result<(), Failed> {
        let Group { ops, members, bits, joins } = std::mem::take(group);
        let (Some(&first), Some(&last)) = (ops.first(), ops.last()) else { return Ok(()) };
        self.pending.clear();
        let b = Builder::before(self.context, anchor);
        b.set_location(first.location());
        // Keep the values that are used after the loop.
        let outside = |v: Val<'c>| uses(v).iter().any(|(user, _)| !members.contains(&op_key(*user)));
        let mut kept: Vec<(Val<'c>, Array<'c>)> = vec![];
        for &op in &ops {
            for r in results(op).filter(|r| register_bits(*r).is_some() && outside(*r)) {
                kept.push((r, self.new_array(&b, op, r)?));
                if self.is_big(r) {
                    self.remark_on_array(op, r);
                }
            }
        }
        let mut chunk = self.begin(first, bits);
        let temporary = self.arrays_for(&b, &ops, &members, &mut chunk)?;
        for &op in &ops {
            self.in_chunk(&mut chunk, op, &joins)?;
            for r in results(op) {
                if let Some((_, array)) = kept.iter().find(|(v, _)| key(*v) == key(r)) {
                    self.store(&chunk, op, chunk.bound[&key(r)], *array)?;
                }
            }
        }
        let made: Vec<Val<'c>> =
            ops.iter().flat_map(|op| results(*op)).filter(|r| is_token(*r) && outside(*r)).collect();
        let inside: Vec<Val<'c>> = made.iter().map(|t| chunk.bound[&key(*t)]).collect();
        let tokens = self.end(&b, first, chunk, &inside)?;
        for (inside, token) in made.into_iter().zip(tokens) {
            replace_all_uses(inside, token);
        }
        joins.iter().for_each(|join| move_before(*join, anchor));
        temporary.into_iter().for_each(|array| self.free_array(array));
        for (v, array) in kept {
            self.settle(&b, first, v, array)?;
        }
        let upto = block.iter().position(|o| op_key(*o) == op_key(last)).unwrap_or(0);
        block[..=upto].iter().for_each(|o| self.release(*o));
        Ok(())
    }

    /// Creates arrays of tensors in registers that chunks read parts of, and of lazy tensors that are gathered from.
    fn arrays_for(
        &mut self,
        b: &Builder<'c>,
        ops: &[OpRef<'c>],
        members: &FxHashSet<usize>,
        chunk: &mut Chunk<'c>,
    ) -> Result<Vec<Array<'c>>, Failed> {
        let mut made = vec![];
        for &op in ops {
            let aligned = aligned(op, chunk.bits);
            for v in operands(op).filter(|v| register_bits(*v).is_some()) {
                let of_group = defining_op(v).is_some_and(|maker| members.contains(&op_key(maker)));
                if of_group || chunk.arrays.contains_key(&key(v)) {
                    continue;
                }
                let parted = || gather_map(op, v).is_none_or(|columns| varying(op, &columns, chunk.bits) != 0);
                let from_array = match self.state(v) {
                    TensorState::Registers => aligned || parted(),
                    TensorState::Lazy(..) => !aligned,
                    TensorState::Array(_) | TensorState::Pending => false,
                };
                if from_array {
                    let array = self.array_of(b, op, v)?;
                    made.push(array);
                    chunk.arrays.insert(key(v), array);
                }
            }
        }
        Ok(made)
    }

    /// Clones `op` for the chunk.
    fn in_chunk(&self, chunk: &mut Chunk<'c>, op: OpRef<'c>, joins: &[OpRef<'c>]) -> Result<(), Failed> {
        if !aligned(op, chunk.bits) {
            return self.rename(chunk, op);
        }
        let mut inputs = vec![];
        for v in operands(op) {
            inputs.push(match Tensor::of_value(v) {
                Some(_) => self.fetch(chunk, op, v)?,
                None if is_token(v) => self.token(chunk, v, joins),
                None => v,
            });
        }
        chunk.b.set_location(op.location());
        let copy = clone_detached(op);
        inputs.into_iter().enumerate().for_each(|(i, v)| set_operand(copy, i, v));
        for (old, new) in results(op).zip(results(copy)) {
            if Tensor::of_value(old).is_some() {
                set_ty(new, self.chunk_type(op, old, chunk.bits)?);
            }
            chunk.bound.insert(key(old), new);
        }
        if is_constant(op) {
            retype_constant(copy);
        }
        chunk.b.insert_op(copy);
        Ok(())
    }

    /// Returns the chunk of a tensor from outside the loop or from an op of the loop.
    fn fetch(&self, chunk: &mut Chunk<'c>, op: OpRef<'c>, v: Val<'c>) -> Result<Val<'c>, Failed> {
        if let Some(here) = chunk.bound.get(&key(v)) {
            return Ok(*here);
        }
        let array = match (chunk.arrays.get(&key(v)).copied(), self.state(v)) {
            (Some(array), _) | (None, TensorState::Array(array)) => array,
            (None, TensorState::Lazy(maker, _)) => {
                self.in_chunk(chunk, maker, &[])?;
                return Ok(chunk.bound[&key(v)]);
            }
            (None, TensorState::Registers | TensorState::Pending) => {
                return Err(fail(op, "operand cannot be read in chunks here"));
            }
        };
        if array.bits < chunk.bits {
            return Err(fail(op, "fewer registers than chunks"));
        }
        chunk.b.set_location(op.location());
        let part = self.chunk_type(op, v, chunk.bits)?;
        let loaded = ArrayLoadOp::build(&chunk.b, part, array.value, Some(chunk.number));
        let loaded = loaded.map_err(|e| fail(op, e.to_string()))?.result();
        chunk.bound.insert(key(v), loaded);
        Ok(loaded)
    }

    /// Returns a token in the chunk: tokens of the group's ops, and joins of them, are replaced by the chunk's
    /// tokens.
    fn token(&self, chunk: &mut Chunk<'c>, v: Val<'c>, joins: &[OpRef<'c>]) -> Val<'c> {
        if let Some(here) = chunk.bound.get(&key(v)) {
            return *here;
        }
        let Some(join) = joins.iter().find(|j| defining_op(v).is_some_and(|op| op_key(**j) == op_key(op))) else {
            return v;
        };
        let copy = clone_detached(*join);
        for (i, t) in operands(*join).enumerate() {
            let t = if MemTokenType::cast(ty(t)).is_some() { self.token(chunk, t, joins) } else { t };
            set_operand(copy, i, t);
        }
        chunk.b.insert_op(copy);
        for (old, new) in results(*join).zip(results(copy)) {
            chunk.bound.insert(key(old), new);
        }
        chunk.bound.get(&key(v)).copied().unwrap_or(v)
    }

    /// Rebuilds an op that renames registers in the chunk.
    fn rename(&self, chunk: &mut Chunk<'c>, op: OpRef<'c>) -> Result<(), Failed> {
        let to = self.chunk_type(op, result(op, 0), chunk.bits)?;
        let array = |v: Val<'c>| match (chunk.arrays.get(&key(v)).copied(), self.state(v)) {
            (Some(array), _) | (None, TensorState::Array(array)) => Some(array.value),
            _ => None,
        };
        let missing = || fail(op, "operand is not an array here");
        chunk.b.set_location(op.location());
        let source = operand(op, 0);
        let renamed = match AnyOp::cast(op) {
            Some(AnyOp::CatOp(x)) => {
                let (lhs, rhs) = (array(x.lhs()).ok_or_else(missing)?, array(x.rhs()).ok_or_else(missing)?);
                let dim = i64_attr(self.context, x.dim());
                ArrayCatOp::build(&chunk.b, to, lhs, rhs, chunk.number, dim).map(|x| x.result())
            }
            _ => {
                let columns = gather_map(op, source)
                    .ok_or_else(|| fail(op, "elements cross threads; run tileas-materialize-convert-layout first"))?;
                let same = || {
                    let whole = matches!(self.state(source), TensorState::Registers) && operand_count(op) == 1;
                    (whole && varying(op, &columns, chunk.bits) == 0).then_some(source)
                };
                let from = array(source).or_else(same).ok_or_else(missing)?;
                let indices: Vec<Val<'c>> = operands(op).skip(1).collect();
                GatherRegistersOp::build(&chunk.b, to, from, Some(chunk.number), &indices).map(|x| x.result())
            }
        };
        chunk.bound.insert(key(result(op, 0)), renamed.map_err(|e| fail(op, e.to_string()))?);
        Ok(())
    }

    fn store(&self, chunk: &Chunk<'c>, op: OpRef<'c>, v: Val<'c>, to: Array<'c>) -> Result<(), Failed> {
        ArrayStoreOp::build(&chunk.b, v, to.value, Some(chunk.number)).map_err(|e| fail(op, e.to_string()))?;
        Ok(())
    }

    //===-- whole tensors ---------------------------------------------------===//

    /// Copies the registers of `v` to a new array.
    pub(super) fn array_of(&mut self, b: &Builder<'c>, op: OpRef<'c>, v: Val<'c>) -> Result<Array<'c>, Failed> {
        let array = self.new_array(b, op, v)?;
        match self.state(v) {
            TensorState::Registers => {
                ArrayStoreOp::build(b, v, array.value, None).map_err(|e| fail(op, e.to_string()))?;
            }
            _ => self.copy(b, op, &[(v, array)])?,
        }
        Ok(array)
    }

    /// Copies big tensors to arrays in parallel: each chunk reads all sources before it writes any destination, so
    /// arrays may be swapped.
    pub(super) fn copy(
        &mut self,
        b: &Builder<'c>,
        op: OpRef<'c>,
        pairs: &[(Val<'c>, Array<'c>)],
    ) -> Result<(), Failed> {
        let there = |(v, to): &(Val<'c>, Array<'c>)| matches!(self.state(*v), TensorState::Array(from) if from.is(to));
        let mut left: Vec<(Val<'c>, Array<'c>)> = pairs.iter().copied().filter(|p| !there(p)).collect();
        while let Some(&(_, Array { bits, .. })) = left.first() {
            // Tensors with equal numbers of registers share a loop.
            let (now, rest): (Vec<_>, Vec<_>) = left.into_iter().partition(|(_, a)| a.bits == bits);
            left = rest;
            let mut chunk = self.begin(op, bits.saturating_sub(PASS_REGISTERS));
            let mut read = vec![];
            for (v, _) in &now {
                read.push(self.fetch(&mut chunk, op, *v)?);
            }
            for ((_, array), v) in now.iter().zip(read) {
                self.store(&chunk, op, v, *array)?;
            }
            self.end(b, op, chunk, &[])?;
        }
        Ok(())
    }
}
