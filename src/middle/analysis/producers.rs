//! What a producer can do on its own: loads of product operands, and the part of a program that leads to them.
//!
//! A producer is a second program of the kernel that runs beside the one that multiplies. It goes through the same
//! loops and branches and starts the same loads, so everything that their addresses and the control flow around them
//! depend on is computed twice. A [`Slice`] is that part of a program; it exists if none of it has effects.

use super::{
    access::{View, fast_dimension},
    carried::sources,
    clones::clone_op,
    layouts::default_layout,
    layouts::moved_dimension,
    tile_programs::may_be_repeated,
};
use crate::dialect::{
    behaviour::{self, LayoutRelation},
    dots::ACC,
    layouts::{Tensor, f32_beside, retype_constant, storage_bits, tf32_beside},
    nv_tileaa,
    nv_tileas::{self, MemDescType, ProduceOneOp},
    pass::{Failed, fail},
    rt::*,
    shared_memory::{ALIGNMENT, aligned_storage_type},
    upstream::Scf,
};
use melior::{Context, ir::Type};
use rustc_hash::{FxHashMap, FxHashSet};
use tile_layout::{HardwareLayout, Shape};

/// Where an operand of a product of warpgroups comes from.
pub enum Source<'c> {
    /// A tile that is loaded for products alone, next to them: tensor copies keep a ring of such tiles filled.
    Loaded(LoadedOperand<'c>),
    /// A tile that warps of the producer make and store to a ring.
    ProducerComputed(ProduceOneOp<'c>),
    /// What is there before the loop or branch around the product: it goes to shared memory where it is computed.
    Resident,
    /// What is computed next to the product. A left operand can be taken from registers.
    Computed,
}

impl<'c> Source<'c> {
    pub fn of(v: Val<'c>, dot: OpRef<'c>) -> Self {
        if let Some(loaded) = LoadedOperand::of(v).filter(|l| block_of(l.load) == block_of(dot)) {
            return Self::Loaded(loaded);
        }
        let made = behind_conversions(v);
        if home_of(made) != block_of(dot) {
            return Self::Resident;
        }
        defining_op(made).and_then(ProduceOneOp::cast).map_or(Self::Computed, Self::ProducerComputed)
    }
}

/// Whether a value is computed from the result of a product in the same block.
pub fn comes_from_product(v: Val<'_>) -> bool {
    let (mut work, mut seen) = (vec![v], FxHashSet::default());
    let home = home_of(v);
    while let Some(v) = work.pop() {
        let Some(op) = defining_op(v).filter(|op| block_of(*op) == home && seen.insert(op_key(*op))) else { continue };
        if nv_tileaa::DotOp::cast(op).is_some() || nv_tileas::DotOp::cast(op).is_some() {
            return true;
        }
        work.extend(operands(op));
    }
    false
}

/// The value that conversions of layouts lead to `v`.
pub fn behind_conversions(mut v: Val<'_>) -> Val<'_> {
    while let Some(convert) = defining_op(v).and_then(nv_tileas::ConvertLayoutOp::cast) {
        v = convert.source();
    }
    v
}

/// An operand of a product that is a tile of a view.
pub struct LoadedOperand<'c> {
    /// `tiled_load`, of either dialect.
    pub load: OpRef<'c>,
    /// What rounds the elements that are loaded to tf32: copies do that.
    pub rounded: Option<OpRef<'c>>,
    /// Ops that compute something of each element, from there to the product.
    pub computed: Vec<OpRef<'c>>,
    /// Ops that give the tile another shape, likewise. They and the others can change places.
    pub moved: Vec<OpRef<'c>>,
    /// Whether it is an operand more than once: of products that go through its ring together, or both of one.
    pub shared: bool,
}

impl<'c> LoadedOperand<'c> {
    /// None when `v` is anything else, is used for something else too, or has elements of another width than those in
    /// memory. A tile that several products multiply must be in one place when they do, unchanged ([`go_together`]).
    pub fn of(mut v: Val<'c>) -> Option<Self> {
        let (mut computed, mut moved) = (vec![], vec![]);
        let bits = |v| Tensor::of_value(v).map(|t| storage_bits(t.element));
        let wanted = bits(v)?;
        let mut shared = false;
        loop {
            let op = defining_op(v)?;
            shared |= uses(v).len() > 1;
            if is_tiled_load(op) {
                if shared && !(computed.is_empty() && products_of(v).is_some_and(|of| go_together(&of))) {
                    return None;
                }
                computed.reverse();
                moved.reverse();
                let rounded = computed.first().copied().filter(|op| rounds_to_tf32(*op));
                computed.drain(..usize::from(rounded.is_some()));
                return (bits(v) == Some(wanted)).then_some(Self { load: op, rounded, computed, moved, shared });
            }
            if matches!(behaviour::layout_relation(op), LayoutRelation::Reshape | LayoutRelation::Permute) {
                moved.push(op);
            } else if is_of_one_tile(op) {
                computed.push(op);
            } else if nv_tileas::ConvertLayoutOp::cast(op).is_none() {
                return None;
            }
            v = operand(op, 0);
        }
    }

    /// The stage that copies fill.
    pub fn stage(&self, view: &View<'c>) -> Result<MemDescType<'c>, String> {
        let element = view.memref.element_type();
        stage_of(self.load, view, if self.rounded.is_some() { tf32_beside(element) } else { element })
    }

    /// Ops between the load and the product.
    pub fn ops(&self) -> impl Iterator<Item = OpRef<'c>> {
        self.rounded.iter().chain(&self.computed).chain(&self.moved).copied()
    }

    /// The dimension of the operand along which it is contiguous in memory.
    pub fn contiguous_dimension(&self, view: &View<'c>) -> Option<usize> {
        moved_dimension(Shape::new(view.ty.tile()).ok()?, fast_dimension(view), &self.moved)
    }

    /// Whether threads must turn the tile before warpgroups multiply it: instructions read elements that are
    /// contiguous along K, dimension `depth` of the operand, and only those of 16 bits otherwise too.
    pub fn must_be_transposed(&self, view: &View<'c>, depth: usize) -> bool {
        storage_bits(view.memref.element_type()) != 16 && self.contiguous_dimension(view) != Some(depth)
    }
}

/// The products of which a tile is an operand, in another shape perhaps; none if it is used for anything else.
fn products_of(tile: Val<'_>) -> Option<Vec<OpRef<'_>>> {
    let (mut work, mut products) = (vec![tile], vec![]);
    while let Some(v) = work.pop() {
        for (user, at) in uses(v) {
            if is_product(user) && at < ACC {
                if !products.contains(&user) {
                    products.push(user);
                }
            } else if matches!(behaviour::layout_relation(user), LayoutRelation::Reshape | LayoutRelation::Permute)
                || nv_tileas::ConvertLayoutOp::cast(user).is_some()
            {
                work.extend(results(user));
            } else {
                return None;
            }
        }
    }
    Some(products)
}

/// Whether products can be started one right behind the other: each adds to sums that the loop around it carries and
/// does nothing else with, so that it may stand anywhere in an iteration. One product always can.
fn go_together(products: &[OpRef<'_>]) -> bool {
    let home = |op: &OpRef<'_>| block_of(*op);
    let [first, others @ ..] = products else { return false };
    others.is_empty() || others.iter().all(|o| home(o) == home(first)) && products.iter().all(|o| only_adds_up(*o))
}

/// Whether all that a loop does with the sums of a product is to have the product add to them.
fn only_adds_up(product: OpRef<'_>) -> bool {
    let Some(around) = parent_op(product).filter(|o| Scf::of(*o) == Some(Scf::For)) else { return false };
    let last = entry_block(region(around, 0)).and_then(|body| ops_of(body).last());
    let mut sums = result(product, 0);
    let index = loop {
        match uses(sums)[..] {
            [(user, _)] if nv_tileas::ConvertLayoutOp::cast(user).is_some() => sums = result(user, 0),
            [(user, index)] if Some(user) == last => break index,
            _ => return false,
        }
    };
    let mut added = operand(product, ACC);
    while let Some(op) = defining_op(added).and_then(nv_tileas::ConvertLayoutOp::cast) {
        if uses(added).len() != 1 {
            return false;
        }
        added = op.source();
    }
    let carried = entry_block(region(around, 0)).and_then(|body| args(body).nth(index + 1));
    carried == Some(added) && uses(added).len() == 1
}

fn is_product(op: OpRef<'_>) -> bool {
    nv_tileaa::DotOp::cast(op).is_some() || nv_tileas::DotOp::cast(op).is_some()
}

/// Products that share loaded tiles, and so their stages, by number: a group for each that shares none. `tiles` has the
/// keys of the loads of each.
pub fn groups_by_tiles(tiles: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = vec![];
    for (product, own) in tiles.iter().enumerate() {
        let shares = |group: &Vec<usize>| group.iter().any(|other| own.iter().any(|t| tiles[*other].contains(t)));
        let (with, without): (Vec<_>, Vec<_>) = groups.into_iter().partition(shares);
        let mut joined: Vec<usize> = with.into_iter().flatten().chain([product]).collect();
        joined.sort_unstable();
        groups = without;
        groups.push(joined);
    }
    groups.sort_unstable();
    groups
}

/// Brings products that go together to the last of them. What converts their sums goes to the end of the block.
pub fn bring_together(products: &[OpRef<'_>]) {
    let Some((last, others)) = products.split_last() else { return };
    let Some(end) = block_around(*last).and_then(|block| ops_of(block).last()) else { return };
    for product in others {
        move_before(*product, *last);
        let mut sums = result(*product, 0);
        while let [(convert, _)] = uses(sums)[..] {
            let Some(next) = nv_tileas::ConvertLayoutOp::cast(convert) else { break };
            move_before(convert, end);
            sums = next.result();
        }
    }
}

/// Whether an op computes each element of its only operand, a tensor, from that element alone.
fn is_of_one_tile(op: OpRef<'_>) -> bool {
    operand_count(op) == 1
        && result_count(op) == 1
        && behaviour::layout_relation(op) == LayoutRelation::Same
        && behaviour::computes_speculatively(op)
        && Tensor::of_value(operand(op, 0)).is_some()
}

/// Whether an op rounds f32 to tf32 as tensor copies do.
fn rounds_to_tf32(op: OpRef<'_>) -> bool {
    let Some(cast) = nv_tileaa::FpCastOp::cast(op) else { return false };
    let [from, to] = [cast.source(), cast.result()].map(|v| Tensor::of_value(v).map(|t| t.element));
    cast.rounding() == nv_tileaa::Rounding::NearestEven
        && from.is_some_and(|f| f == f32_beside(f) && to == Some(tf32_beside(f)))
}

fn is_tiled_load(op: OpRef<'_>) -> bool {
    nv_tileaa::TiledLoadOp::cast(op).is_some() || nv_tileas::TiledLoadOp::cast(op).is_some()
}

/// Storage in which a tile of `view` lies, with elements of `element`, as tensor copies write it with the fewest boxes
/// and, where its elements are contiguous along the right dimension, as warpgroup products take it. `op` is where it is
/// used; the error says why there is none.
pub fn stage_of<'c>(op: OpRef<'c>, view: &View<'c>, element: Type<'c>) -> Result<MemDescType<'c>, String> {
    let (fast, lines) = dimensions(view)?;
    let layout = arrangement(view, fast, lines)?;
    // Elements that may have to be turned stay where they are.
    let transposed = arrangement(view, lines, fast).ok().filter(|_| storage_bits(view.memref.element_type()) != 16);
    let alignment = layout.alignment().max(transposed.map_or(0, |t| t.alignment()));
    storage(op, view.ty.tile(), element, &layout, alignment.into())
}

/// Storage in which threads leave a tile for a product, contiguous along `fast`. `op` is where it is used.
pub fn computed_stage<'c>(op: OpRef<'c>, tile: Val<'c>, fast: usize) -> Result<MemDescType<'c>, String> {
    let tensor = Tensor::of_value(tile).ok_or("operand is no tensor")?;
    let layout = HardwareLayout::panels(&tensor.tile_shape(), (fast, 1 - fast), storage_bits(tensor.element));
    let layout = layout.map_err(|e| e.to_string())?;
    storage(op, &tensor.shape, tensor.element, &layout, layout.alignment().into())
}

/// The storage of [`stage_of`] once threads have changed it: with elements of `element`, and turned so that the other
/// dimension is contiguous if `turned`.
pub fn converted_stage_of<'c>(
    op: OpRef<'c>,
    view: &View<'c>,
    element: Type<'c>,
    transposed: bool,
) -> Result<MemDescType<'c>, String> {
    let (fast, lines) = dimensions(view)?;
    let layout = if transposed { arrangement(view, lines, fast)? } else { arrangement(view, fast, lines)? };
    storage(op, view.ty.tile(), element, &layout, layout.alignment().into())
}

/// The dimension of a view's tile that is contiguous in memory, and the next one that has an extent.
fn dimensions(view: &View<'_>) -> Result<(usize, usize), String> {
    let shape = Shape::new(view.ty.tile()).map_err(|e| e.to_string())?;
    let fast = fast_dimension(view);
    let lines = (0..shape.rank()).rev().find(|&d| d != fast && shape.log2()[d] > 0);
    Ok((fast, lines.ok_or("the tile has one dimension")?))
}

fn arrangement(view: &View<'_>, fast: usize, lines: usize) -> Result<HardwareLayout, String> {
    let shape = Shape::new(view.ty.tile()).map_err(|e| e.to_string())?;
    let bits = storage_bits(view.memref.element_type());
    HardwareLayout::panels(&shape, (fast, lines), bits).map_err(|e| e.to_string())
}

fn storage<'c>(
    op: OpRef<'c>,
    shape: &[i64],
    element: Type<'c>,
    layout: &HardwareLayout,
    alignment: i64,
) -> Result<MemDescType<'c>, String> {
    let bases = layout.shared_layout().map_err(|e| e.to_string())?;
    let alignment = alignment.max(ALIGNMENT);
    aligned_storage_type(op, shape, element, bases.bases(), alignment).map_err(|e| e.to_string())
}

/// Writes an op of a slice itself, given what values have become; false if it is an op like any other.
pub type WriteRoot<'a, 'c> = dyn FnMut(OpRef<'c>, &mut FxHashMap<usize, Val<'c>>) -> Result<bool, Failed> + 'a;

/// The ops and values of a program that some of its ops need.
pub struct Slice<'c> {
    function: OpRef<'c>,
    ops: FxHashSet<usize>,
    values: FxHashSet<usize>,
    /// Warps of the agent that it is written for, where tensors have layouts.
    warps: Option<u64>,
    /// Conditions of branches of which one side is written.
    decided: FxHashMap<usize, bool>,
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
        let mut slice = Slice {
            function,
            ops: FxHashSet::default(),
            values: FxHashSet::default(),
            warps: None,
            decided: FxHashMap::default(),
        };
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
                    Some(Scf::While) => values.extend(condition(op).map(|last| operand(last, 0))),
                    _ if nv_tileas::ElectOp::cast(op).is_some() || region_count(op) > 0 => {
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
                values.extend(sources(v));
                continue;
            };
            if given(op) || slice.ops.contains(&op_key(op)) && Scf::of(op).is_none() {
                continue;
            }
            if Scf::of(op).is_some() {
                values.extend(sources(v));
                work.push(op);
                continue;
            }
            if region_count(op) > 0 || !repeats(op, slice.function) {
                return Err((op, format!("'{}' cannot be done twice", op_name(op))));
            }
            work.push(op);
        }
    }

    /// The slice as the program of an agent of so many warps.
    pub fn for_warps(self, warps: u64) -> Self {
        Self { warps: Some(warps), ..self }
    }

    /// The slice as it is where a condition holds, or does not. The branches on it give nothing.
    pub fn deciding(mut self, condition: Val<'c>, holds: bool) -> Self {
        self.decided.insert(key(condition), holds);
        self
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
                Some(Scf::While) => self.write_while(b, op, map, root)?,
                _ => {
                    let copy = clone_op(b, op, map);
                    if let Some(warps) = self.warps {
                        relayout_single(b.context(), copy, warps);
                    }
                }
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

    fn write_while(
        &self,
        b: &Builder<'c>,
        op: OpRef<'c>,
        map: &mut FxHashMap<usize, Val<'c>>,
        root: &mut WriteRoot<'_, 'c>,
    ) -> Result<(), Failed> {
        let no_block = || fail(op, "loop has no block");
        let [before, after] = [0, 1].map(|i| entry_block(region(op, i)).ok_or_else(no_block));
        let (before, after) = (before?, after?);
        let carried: Vec<usize> = (0..arg_count(before)).filter(|&i| self.has(arg(before, i))).collect();
        let given: Vec<usize> =
            (0..result_count(op)).filter(|&i| self.has(arg(after, i)) || self.has(result(op, i))).collect();
        let inits: Vec<Val<'c>> =
            carried.iter().map(|&i| operand(op, i)).map(|v| map.get(&key(v)).copied().unwrap_or(v)).collect();
        let of_carried: Vec<_> = carried.iter().map(|&i| ty(arg(before, i))).collect();
        let of_given: Vec<_> = given.iter().map(|&i| ty(result(op, i))).collect();
        b.set_location(op.location());
        let mut state = b.state("scf.while");
        state.results(&of_given);
        state.operands(&inits);
        let parts = [melior::ir::Region::new(), melior::ir::Region::new()];
        let new_before = append_block(&parts[0], &of_carried, op.location());
        let new_after = append_block(&parts[1], &of_given, op.location());
        parts.into_iter().for_each(|part| state.region(part));
        let new = b.insert(state).map_err(|e| fail(op, e.to_string()))?;
        for (n, &i) in carried.iter().enumerate() {
            map.insert(key(arg(before, i)), arg(new_before, n));
        }
        for (n, &i) in given.iter().enumerate() {
            map.insert(key(arg(after, i)), arg(new_after, n));
            map.insert(key(result(op, i)), result(new, n));
        }
        b.set_end(new_before);
        self.write(b, before, map, root)?;
        // The truth value, then what is given.
        let given: Vec<usize> = std::iter::once(0).chain(given.iter().map(|i| i + 1)).collect();
        self.write_yield(b, before, &given, map)?;
        b.set_end(new_after);
        self.write(b, after, map, root)?;
        self.write_yield(b, after, &carried, map)?;
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
        if let Some(&holds) = self.decided.get(&key(operand(op, 0))) {
            return entry_block(region(op, usize::from(!holds))).map_or(Ok(()), |side| self.write(b, side, map, root));
        }
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
        let mut state = b.state(op_name(last));
        state.operands(&values);
        b.insert(state).map_err(|e| fail(last, e.to_string()))?;
        Ok(())
    }
}

/// The terminator that says whether a loop goes on, and what it gives.
pub fn condition(op: OpRef<'_>) -> Option<OpRef<'_>> {
    entry_block(region(op, 0)).and_then(|before| ops_of(before).last())
}

/// Whether a second copy of the op gives the same and does nothing else.
fn repeats<'c>(op: OpRef<'c>, function: OpRef<'c>) -> bool {
    // Which thread has which element of a larger tensor differs between agents.
    let single = results(op).all(|r| Tensor::of_value(r).is_none_or(|t| t.elements() == 1));
    let has_no_effects = || behaviour::effects(op).is_some_and(|list| list.is_empty());
    single && (has_no_effects() || may_be_repeated(op, function))
}

/// Gives a copied op that works on single elements the layouts of so many warps: each thread has the element.
fn relayout_single<'c>(context: &'c Context, op: OpRef<'c>, warps: u64) {
    for r in results(op) {
        if let Some(t) = Tensor::of_value(r).filter(|t| t.encoding.is_some() && t.elements() == 1) {
            let layout = default_layout(&t.tile_shape(), warps);
            set_ty(r, t.with_layout(context, &layout));
        }
    }
    if behaviour::is_constant(op) {
        retype_constant(op);
    }
}
