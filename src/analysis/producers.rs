//! What a producer can do on its own: loads of product operands, and the part of a program that leads to them.
//!
//! A producer is a second program of the kernel that runs beside the one that multiplies. It goes through the same
//! loops and branches and starts the same loads, so everything that their addresses and the control flow around them
//! depend on is computed twice. A [`Slice`] is that part of a program; it exists if none of it has effects.

use super::access::{View, fast_dimension};
use crate::dialect::{
    behaviour::{self, LayoutRelation},
    layouts::storage_bits,
    nv_tileaa,
    nv_tileas::{self, MemDescType},
    pass::{Failed, fail},
    rt::*,
    shared_memory::{ALIGNMENT, aligned_storage_type},
    upstream::Scf,
};
use rustc_hash::{FxHashMap, FxHashSet};
use tile_layout::{HardwareLayout, Shape};

/// An operand of a product that is a tile of a view.
pub struct LoadedOperand<'c> {
    /// `tiled_load`, of either dialect.
    pub load: OpRef<'c>,
    /// Ops that give it another shape, from the load to the product.
    pub chain: Vec<OpRef<'c>>,
}

impl<'c> LoadedOperand<'c> {
    /// None when `v` is anything else, or is used for something else too.
    pub fn of(mut v: Val<'c>) -> Option<Self> {
        let mut chain = vec![];
        loop {
            let op = defining_op(v).filter(|_| uses(v).len() == 1)?;
            if is_tiled_load(op) {
                chain.reverse();
                return Some(Self { load: op, chain });
            }
            let moves = matches!(behaviour::layout_relation(op), LayoutRelation::Reshape | LayoutRelation::Permute);
            if nv_tileas::ConvertLayoutOp::cast(op).is_none() {
                if !moves {
                    return None;
                }
                chain.push(op);
            }
            v = operand(op, 0);
        }
    }
}

fn is_tiled_load(op: OpRef<'_>) -> bool {
    nv_tileaa::TiledLoadOp::cast(op).is_some() || nv_tileas::TiledLoadOp::cast(op).is_some()
}

/// Storage in which a tile of `view` lies as warpgroup products take it and tensor copies write it with the fewest
/// boxes. `op` is where it is used; the error says why there is none.
pub fn stage_of<'c>(op: OpRef<'c>, view: &View<'c>) -> Result<MemDescType<'c>, String> {
    let element = view.memref.element_type();
    let shape = Shape::new(view.ty.tile()).map_err(|e| e.to_string())?;
    let fast = fast_dimension(view);
    let lines = (0..shape.rank()).rev().find(|&d| d != fast && shape.log2()[d] > 0);
    let lines = lines.ok_or("the tile has one dimension")?;
    let layout = HardwareLayout::panels(&shape, (fast, lines), storage_bits(element)).map_err(|e| e.to_string())?;
    let bases = layout.shared_layout().map_err(|e| e.to_string())?;
    let alignment = i64::from(layout.alignment()).max(ALIGNMENT);
    aligned_storage_type(op, view.ty.tile(), element, bases.bases(), alignment).map_err(|e| e.to_string())
}

/// Writes an op of a slice itself, given what values have become; false if it is an op like any other.
pub type WriteRoot<'a, 'c> = dyn FnMut(OpRef<'c>, &mut FxHashMap<usize, Val<'c>>) -> Result<bool, Failed> + 'a;

/// The ops and values of a program that some of its ops need.
pub struct Slice<'c> {
    function: OpRef<'c>,
    ops: FxHashSet<usize>,
    values: FxHashSet<usize>,
}

impl<'c> Slice<'c> {
    /// What `roots` of `function` need, besides what `given` provides. `skip` names operands that are not needed.
    ///
    /// Errors: an op that cannot be done twice, with why.
    pub fn of(
        function: OpRef<'c>,
        roots: &[OpRef<'c>],
        given: &dyn Fn(OpRef<'c>) -> bool,
        skip: &dyn Fn(Val<'c>) -> bool,
    ) -> Result<Self, (OpRef<'c>, String)> {
        let mut slice = Slice { function, ops: FxHashSet::default(), values: FxHashSet::default() };
        let mut work: Vec<OpRef<'c>> = roots.to_vec();
        let mut values: Vec<Val<'c>> = vec![];
        loop {
            if let Some(op) = work.pop() {
                if op == function || !slice.ops.insert(op_key(op)) {
                    continue;
                }
                work.extend(parent_op(op));
                match Scf::of(op) {
                    Some(Scf::For) => values.extend(operands(op).take(3)),
                    Some(Scf::If) => values.push(operand(op, 0)),
                    Some(Scf::While) => return Err((op, "a loop without a count".into())),
                    _ if is_inside_elect(op) || region_count(op) > 0 => {
                        // Programs of one thread are needed as a whole.
                        walk(op, &mut |inner| {
                            slice.ops.insert(op_key(inner));
                            values.extend(operands(inner).filter(|v| !skip(*v)));
                        });
                    }
                    _ => values.extend(operands(op).filter(|v| !skip(*v))),
                }
                continue;
            }
            let Some(v) = values.pop() else { return Ok(slice) };
            if !slice.values.insert(key(v)) {
                continue;
            }
            let Some(op) = defining_op(v) else {
                values.extend(slice.carried(v));
                continue;
            };
            if given(op) || slice.ops.contains(&op_key(op)) && region_count(op) == 0 {
                continue;
            }
            if Scf::of(op).is_some() {
                let i = results(op).position(|r| r == v).expect("a result of its op");
                values.extend(given_by(op, i));
                work.push(op);
                continue;
            }
            if region_count(op) > 0 || !repeats(op) {
                return Err((op, format!("'{}' cannot be done twice", op_name(op))));
            }
            work.push(op);
        }
    }

    /// What a block argument is a copy of.
    fn carried(&self, v: Val<'c>) -> Vec<Val<'c>> {
        let block = owner_of(v);
        let Some(op) = parent_of_block(block).filter(|o| *o != self.function) else { return vec![] };
        let i = args(block).position(|a| a == v).expect("an argument of its block");
        match Scf::of(op) {
            Some(Scf::For) if i > 0 => given_by(op, i - 1),
            _ => vec![],
        }
    }

    fn has(&self, v: Val<'c>) -> bool {
        self.values.contains(&key(v))
    }

    /// Writes the slice of a block at the insertion point. `map` says what values became; `root` is asked for each op
    /// first, and writes it itself if it returns true.
    pub fn write(
        &self,
        b: &Builder<'c>,
        block: Blk<'c>,
        map: &mut FxHashMap<usize, Val<'c>>,
        root: &mut WriteRoot<'_, 'c>,
    ) -> Result<(), Failed> {
        for op in ops_of(block) {
            if !self.ops.contains(&op_key(op)) || root(op, map)? {
                continue;
            }
            match Scf::of(op) {
                Some(Scf::For) => self.write_for(b, op, map, root)?,
                Some(Scf::If) => self.write_if(b, op, map, root)?,
                _ => clone_op(b, op, map),
            }
        }
        Ok(())
    }

    fn write_for(
        &self,
        b: &Builder<'c>,
        op: OpRef<'c>,
        map: &mut FxHashMap<usize, Val<'c>>,
        root: &mut WriteRoot<'_, 'c>,
    ) -> Result<(), Failed> {
        let body = entry_block(region(op, 0)).ok_or_else(|| fail(op, "loop has no body"))?;
        let of = |map: &FxHashMap<usize, Val<'c>>, v: Val<'c>| map.get(&key(v)).copied().unwrap_or(v);
        let kept: Vec<usize> =
            (0..result_count(op)).filter(|&i| self.has(arg(body, i + 1)) || self.has(result(op, i))).collect();
        let mut inits: Vec<Val<'c>> = operands(op).take(3).map(|v| of(map, v)).collect();
        inits.extend(kept.iter().map(|&i| of(map, operand(op, 3 + i))));
        let types: Vec<_> = kept.iter().map(|&i| ty(result(op, i))).collect();
        b.set_location(op.location());
        let mut state = b.state("scf.for");
        state.results(&types);
        state.operands(&inits);
        if attr(op, "unsignedCmp").is_some() {
            state.attr("unsignedCmp", b.unit());
        }
        let inside = melior::ir::Region::new();
        let mut args_of = vec![ty(arg(body, 0))];
        args_of.extend(&types);
        let new_body = append_block(&inside, &args_of, op.location());
        state.region(inside);
        let new = b.insert(state).map_err(|e| fail(op, e.to_string()))?;
        map.insert(key(arg(body, 0)), arg(new_body, 0));
        for (n, &i) in kept.iter().enumerate() {
            map.insert(key(arg(body, i + 1)), arg(new_body, n + 1));
            map.insert(key(result(op, i)), result(new, n));
        }
        b.set_end(new_body);
        self.write(b, body, map, root)?;
        self.write_yield(b, body, &kept, map)?;
        b.set_after(new);
        Ok(())
    }

    fn write_if(
        &self,
        b: &Builder<'c>,
        op: OpRef<'c>,
        map: &mut FxHashMap<usize, Val<'c>>,
        root: &mut WriteRoot<'_, 'c>,
    ) -> Result<(), Failed> {
        let kept: Vec<usize> = (0..result_count(op)).filter(|&i| self.has(result(op, i))).collect();
        let types: Vec<_> = kept.iter().map(|&i| ty(result(op, i))).collect();
        b.set_location(op.location());
        let mut state = b.state("scf.if");
        state.results(&types);
        state.operands(&[map.get(&key(operand(op, 0))).copied().unwrap_or(operand(op, 0))]);
        let mut blocks = vec![];
        for i in 0..2 {
            let branch = melior::ir::Region::new();
            if entry_block(region(op, i)).is_some() {
                blocks.push(append_block(&branch, &[], op.location()));
            }
            state.region(branch);
        }
        let new = b.insert(state).map_err(|e| fail(op, e.to_string()))?;
        for (n, &i) in kept.iter().enumerate() {
            map.insert(key(result(op, i)), result(new, n));
        }
        for (i, block) in blocks.into_iter().enumerate() {
            let source = entry_block(region(op, i)).ok_or_else(|| fail(op, "branch has no block"))?;
            b.set_end(block);
            self.write(b, source, map, root)?;
            self.write_yield(b, source, &kept, map)?;
        }
        b.set_after(new);
        Ok(())
    }

    fn write_yield(
        &self,
        b: &Builder<'c>,
        source: Blk<'c>,
        kept: &[usize],
        map: &FxHashMap<usize, Val<'c>>,
    ) -> Result<(), Failed> {
        let Some(last) = ops_of(source).last() else { return Ok(()) };
        let values: Vec<Val<'c>> =
            kept.iter().map(|&i| operand(last, i)).map(|v| map.get(&key(v)).copied().unwrap_or(v)).collect();
        b.set_location(last.location());
        let mut state = b.state("scf.yield");
        state.operands(&values);
        b.insert(state).map_err(|e| fail(last, e.to_string()))?;
        Ok(())
    }
}

/// A copy of an op without regions, at the insertion point.
pub fn clone_op<'c>(b: &Builder<'c>, op: OpRef<'c>, map: &mut FxHashMap<usize, Val<'c>>) {
    let copy = clone_detached(op);
    for i in 0..operand_count(copy) {
        if let Some(&v) = map.get(&key(operand(op, i))) {
            set_operand(copy, i, v);
        }
    }
    b.insert_op(copy);
    for (old, new) in results(op).zip(results(copy)) {
        map.insert(key(old), new);
    }
}

/// Whether a second copy of the op gives the same and does nothing else.
fn repeats(op: OpRef<'_>) -> bool {
    behaviour::effects(op).is_some_and(|list| list.is_empty())
}

fn is_inside_elect(op: OpRef<'_>) -> bool {
    nv_tileas::ElectOp::cast(op).is_some()
}

/// What result or carried value `i` of a loop or branch is a copy of.
fn given_by<'c>(op: OpRef<'c>, i: usize) -> Vec<Val<'c>> {
    let yielded = |r: usize| {
        let block = entry_block(region(op, r))?;
        let last = ops_of(block).last()?;
        (operand_count(last) > i).then(|| operand(last, i))
    };
    let mut values: Vec<Val<'c>> = (0..region_count(op)).filter_map(yielded).collect();
    if Scf::of(op) == Some(Scf::For) {
        values.push(operand(op, 3 + i));
    }
    values
}
