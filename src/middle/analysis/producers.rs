//! Finds operands that a producer can load or compute, and clones the part of a program that this needs.
//!
//! A *producer* runs concurrently with the consumers, which issue the dots. It executes the same loops and branches
//! and issues the loads of operands. All scalars on which addresses and control flow depend are therefore computed
//! twice. The part of a program that computes them is a [`Slice`]. For example, the slice for the loads of `a` and
//! `b` in
//!
//! ```text
//! base = load p
//! for i: x = base + i;  a = load A[x];  b = load B[i];  acc = dot(a, b, acc)
//! ```
//!
//! consists of the first load, the loop without `acc`, and `x`.
//!
//! # Operands
//!
//! [`Source`] classifies an operand of a `wgmma` dot: loaded by TMA, *producer-computed*, *resident* in shared
//! memory, or computed by the consumers. Dots may share a loaded tile if they can be issued back to back: each only
//! adds to an accumulator that the loop carries.
//!
//! # Assumptions
//!
//! * An op of a slice has no effects, or is a weak load that may be repeated (`tile_programs`).
//! * An op of a slice produces scalars or single elements. Larger tensors are distributed over threads differently in
//!   each agent; `tile_programs` handles these.
//!
//! # Bound on the work
//!
//! A slice visits each op and value once. The search for shared tiles follows each use once per operand.

use super::{
    access::{View, fast_dimension},
    carried::sources,
    clones::{clone_op, mapped},
    layouts::default_layout,
    layouts::moved_dimension,
    operand_stages::stage_of,
    tile_programs::may_be_repeated,
};
use crate::dialect::{
    behaviour::{self, LayoutRelation},
    dot_plan::CONVERTER,
    dots::{ACC, AnyDot, LHS, TileDot},
    layouts::{Tensor, f32_beside, retype_constant, storage_bits, tf32_beside},
    nv_tileaa,
    nv_tileas::{self, MemDescType, ProduceOneOp},
    pass::{Failed, fail},
    rt::*,
    upstream::Scf,
};
use melior::Context;
use rustc_hash::{FxHashMap, FxHashSet};
use tile_layout::Shape;
use tile_mma::{Major, Unit};

/// The source of an operand of a `wgmma` dot.
pub enum Source<'c> {
    /// A tile that is loaded in the block of the dot and used by dots only. TMA loads it to a ring.
    Loaded(LoadedOperand<'c>),
    /// A producer-computed tile, which producer warps store to a ring.
    ProducerComputed(ProduceOneOp<'c>),
    /// A tile that warps of the converter compute and store to tensor memory.
    ConverterComputed(ProduceOneOp<'c>),
    /// A value from outside of the loop or branch around the dot. It is stored to shared memory where it is computed.
    Resident,
    /// A value computed in the block of the dot. A left operand can be read from registers.
    Computed,
}

impl<'c> Source<'c> {
    /// Classifies the operand `v` of `dot`.
    pub fn of(v: Val<'c>, dot: OpRef<'c>) -> Self {
        if let Some(loaded) = LoadedOperand::of(v).filter(|l| block_of(l.load) == block_of(dot)) {
            return Self::Loaded(loaded);
        }
        let source = skip_conversions(v);
        if home_of(source) != block_of(dot) {
            return Self::Resident;
        }
        match defining_op(source).and_then(ProduceOneOp::cast) {
            Some(by) if by.agent() == Some(CONVERTER) => Self::ConverterComputed(by),
            Some(by) => Self::ProducerComputed(by),
            None => Self::Computed,
        }
    }
}

/// Whether a value is computed from the result of a dot in the same block.
pub fn is_computed_from_dot(v: Val<'_>) -> bool {
    is_computed_from(v, &is_product)
}

/// Whether a value is computed from the result of such an op in the same block.
pub fn is_computed_from<'c>(v: Val<'c>, is_such: &dyn Fn(OpRef<'c>) -> bool) -> bool {
    let (mut work, mut seen) = (vec![v], FxHashSet::default());
    let home = home_of(v);
    while let Some(v) = work.pop() {
        let Some(op) = defining_op(v).filter(|op| block_of(*op) == home && seen.insert(op_key(*op))) else { continue };
        if is_such(op) {
            return true;
        }
        work.extend(operands(op));
    }
    false
}

/// The source of the chain of layout conversions that ends in `v`.
pub fn skip_conversions(mut v: Val<'_>) -> Val<'_> {
    while let Some(convert) = defining_op(v).and_then(nv_tileas::ConvertLayoutOp::cast) {
        v = convert.source();
    }
    v
}

/// An operand of a dot that is a tile of a view.
pub struct LoadedOperand<'c> {
    /// The `tiled_load`, of either dialect.
    pub load: OpRef<'c>,
    /// The op that rounds the loaded elements to tf32, which TMA does.
    pub rounded: Option<OpRef<'c>>,
    /// Element-wise ops between the load and the dot, in program order.
    pub computed: Vec<OpRef<'c>>,
    /// Reshapes and permutations between the load and the dot, in program order. They commute with `computed`.
    pub moved: Vec<OpRef<'c>>,
    /// Whether the tile is more than one operand: of several dots that read its stage together, or both operands of
    /// one dot.
    pub shared: bool,
}

impl<'c> LoadedOperand<'c> {
    /// The tile of a load as it is.
    pub fn plain(load: OpRef<'c>) -> Self {
        Self { load, rounded: None, computed: vec![], moved: vec![], shared: false }
    }

    /// Returns `None` if `v` is not a loaded tile, has other users, or has elements of another width than in memory.
    /// Dots may share a tile only if they all read it unchanged and can be issued back to back ([`go_together`]).
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

    /// The type of the stage that TMA fills, for dots of the unit whose operand has its depth along `depth`.
    pub fn stage(&self, view: &View<'c>, depth: usize, unit: Unit) -> Result<MemDescType<'c>, String> {
        let element = view.memref.element_type();
        let element = if self.rounded.is_some() { tf32_beside(element) } else { element };
        stage_of(self.load, view, element, self.is_in_units(view, depth, unit))
    }

    /// Whether dots of the unit read the tile in units of 32 bytes, as its 32-bit elements are not contiguous along
    /// `depth`.
    pub fn is_in_units(&self, view: &View<'c>, depth: usize, unit: Unit) -> bool {
        let bits = storage_bits(view.memref.element_type());
        bits == 32 && reads_mn_major(unit, bits) && self.contiguous_dimension(view) != Some(depth)
    }

    /// The ops between the load and the dot.
    pub fn ops(&self) -> impl Iterator<Item = OpRef<'c>> {
        self.rounded.iter().chain(&self.computed).chain(&self.moved).copied()
    }

    /// The dimension of the operand along which it is contiguous in memory.
    pub fn contiguous_dimension(&self, view: &View<'c>) -> Option<usize> {
        moved_dimension(Shape::new(view.ty.tile()).ok()?, fast_dimension(view), &self.moved)
    }

    /// The dimension of the view's tile that becomes dimension `of` of the operand, with the same extent. Returns
    /// `None` if reshapes combine or divide it.
    pub fn dimension(&self, view: &View<'c>, of: usize) -> Option<usize> {
        let shape = Shape::new(view.ty.tile()).ok()?;
        let last = self.moved.last().map_or(result(self.load, 0), |op| result(*op, 0));
        let extent = Tensor::of_value(last)?.shape[of];
        let becomes = |d: &usize| self.dimension_after(view, *d, self.moved.len()) == Some(of);
        (0..shape.rank()).filter(|d| view.ty.tile()[*d] == extent).find(becomes)
    }

    /// The dimension that dimension `d` of the view's tile becomes after the first `count` reshapes and permutations.
    pub fn dimension_after(&self, view: &View<'c>, d: usize, count: usize) -> Option<usize> {
        moved_dimension(Shape::new(view.ty.tile()).ok()?, d, &self.moved[..count])
    }

    /// Whether the tile must be transposed in its stage before a dot of the unit. All units read operands that are
    /// contiguous along K, which is dimension `depth`.
    pub fn must_be_transposed(&self, view: &View<'c>, depth: usize, unit: Unit) -> bool {
        let bits = storage_bits(view.memref.element_type());
        !reads_mn_major(unit, bits) && self.contiguous_dimension(view) != Some(depth)
    }
}

/// A loaded tile that is the left operand of dots in other blocks, and is not used otherwise.
pub struct ResidentTile<'c> {
    pub load: OpRef<'c>,
    /// The dots, each with the reshapes and permutations between the load and the dot, in program order.
    pub dots: Vec<(OpRef<'c>, Vec<OpRef<'c>>)>,
}

impl<'c> ResidentTile<'c> {
    /// Returns the tile of which an operand is a reshape.
    pub fn of(mut v: Val<'c>) -> Option<Self> {
        loop {
            let op = defining_op(v)?;
            if is_tiled_load(op) {
                return Self::of_load(op);
            }
            if !moves(op) {
                return None;
            }
            v = operand(op, 0);
        }
    }

    pub fn of_load(load: OpRef<'c>) -> Option<Self> {
        let (mut work, mut dots) = (vec![(result(load, 0), vec![])], vec![]);
        while let Some((v, moved)) = work.pop() {
            for (user, at) in uses(v) {
                if is_product(user) && at == LHS && block_of(user) != block_of(load) {
                    dots.push((user, moved.clone()));
                } else if moves(user) {
                    let is_conversion = nv_tileas::ConvertLayoutOp::cast(user).is_some();
                    let own = (!is_conversion).then_some(user);
                    work.push((result(user, 0), moved.iter().copied().chain(own).collect()));
                } else {
                    return None;
                }
            }
        }
        (!dots.is_empty()).then_some(Self { load, dots })
    }

    /// The tile as an operand that passes through a stage.
    pub fn loaded(&self) -> LoadedOperand<'c> {
        LoadedOperand::plain(self.load)
    }
}

/// Whether an op only gives its operand another shape or layout.
fn moves(op: OpRef<'_>) -> bool {
    matches!(behaviour::layout_relation(op), LayoutRelation::Reshape | LayoutRelation::Permute)
        || nv_tileas::ConvertLayoutOp::cast(op).is_some()
}

/// Whether instructions of a unit read operands of `bits` bits that are contiguous along M or N, in a layout that TMA
/// writes. `ldmatrix` transposes 16-bit elements for `mma.sync`, and 8-bit elements on targets that the plan checks
/// (`SyncKernel::byte_matrices`). Elements of 32 bits are words of a fragment, which warps read one by one.
pub fn reads_mn_major(unit: Unit, bits: u32) -> bool {
    if unit == Unit::Sync {
        return matches!(bits, 8 | 16 | 32);
    }
    let mut rows = tile_mma::ROWS.iter().filter(|r| r.unit == unit && r.container == bits && r.lowering.is_some());
    rows.any(|r| r.majors.contains(&Major::Mn))
}

/// The dots that use a tile, possibly through reshapes and conversions. Returns `None` if other ops use it.
fn products_of(tile: Val<'_>) -> Option<Vec<OpRef<'_>>> {
    let (mut work, mut products) = (vec![tile], vec![]);
    while let Some(v) = work.pop() {
        for (user, at) in uses(v) {
            if is_product(user) && at < ACC {
                if !products.contains(&user) {
                    products.push(user);
                }
            } else if moves(user) {
                work.extend(results(user));
            } else {
                return None;
            }
        }
    }
    Some(products)
}

/// Whether dots can be issued back to back: each of them only adds to a loop-carried accumulator of its own, so it
/// can move within the iteration. A single dot always qualifies.
fn go_together(products: &[OpRef<'_>]) -> bool {
    let home = |op: &OpRef<'_>| block_of(*op);
    let [first, others @ ..] = products else { return false };
    others.is_empty()
        || others.iter().all(|o| home(o) == home(first)) && products.iter().all(|o| own_accumulation(*o).is_some())
}

/// The loop that only adds to the accumulator of a dot, and the number of the accumulator among the loop's results.
/// Dots may add to it one after another in an iteration.
pub fn accumulation(product: OpRef<'_>) -> Option<(OpRef<'_>, usize)> {
    let chain = accumulation_chain(product);
    let (first, last) = (*chain.first()?, *chain.last()?);
    let around = parent_op(product).filter(|o| Scf::of(*o) == Some(Scf::For))?;
    let index = carried_number(last, around)?;
    (carried_start(first, around)? == index).then_some((around, index))
}

/// The dots of a block that add to the same accumulator one after another, among them `product`: nothing else uses the
/// results between them.
pub fn accumulation_chain(product: OpRef<'_>) -> Vec<OpRef<'_>> {
    let home = block_of(product);
    let is_next = |user: &OpRef<'_>| is_product(*user) && block_of(*user) == home;
    let before = |dot| {
        let source = defining_op(only_source(operand(dot, ACC))?);
        source.filter(|from| is_next(from))
    };
    let after = |dot| match only_use(result(dot, 0))? {
        (user, ACC) if is_next(&user) => Some(user),
        _ => None,
    };
    let mut chain: Vec<OpRef<'_>> = std::iter::successors(before(product), |dot| before(*dot)).collect();
    chain.reverse();
    chain.extend(std::iter::successors(Some(product), |dot| after(*dot)));
    chain
}

/// The source of the chain of layout conversions that ends in `v`, if each value of the chain has one use.
fn only_source(mut v: Val<'_>) -> Option<Val<'_>> {
    loop {
        if uses(v).len() != 1 {
            return None;
        }
        let Some(convert) = defining_op(v).and_then(nv_tileas::ConvertLayoutOp::cast) else { return Some(v) };
        v = convert.source();
    }
}

/// The only use of a value, after layout conversions.
fn only_use(mut v: Val<'_>) -> Option<(OpRef<'_>, usize)> {
    loop {
        match uses(v)[..] {
            [(user, _)] if nv_tileas::ConvertLayoutOp::cast(user).is_some() => v = result(user, 0),
            [one] => return Some(one),
            _ => return None,
        }
    }
}

/// The number, among the results of the loop `around` a dot, of the carried value to which the dot adds, if nothing
/// else uses it.
fn carried_start<'c>(product: OpRef<'c>, around: OpRef<'c>) -> Option<usize> {
    let added = only_source(operand(product, ACC))?;
    let body = entry_block(region(around, 0))?;
    args(body).skip(1).position(|arg| arg == added)
}

/// The same for a dot that is the only one to add to the accumulator.
pub fn own_accumulation(product: OpRef<'_>) -> Option<(OpRef<'_>, usize)> {
    let around = parent_op(product).filter(|o| Scf::of(*o) == Some(Scf::For))?;
    let index = carried_number(product, around)?;
    (carried_start(product, around)? == index).then_some((around, index))
}

/// The number, among the results of the loop `around` a dot, of the dot's result, if the end of the iteration is its
/// only use.
pub fn carried_number<'c>(product: OpRef<'c>, around: OpRef<'c>) -> Option<usize> {
    let last = entry_block(region(around, 0)).and_then(|body| ops_of(body).last());
    only_use(result(product, 0)).filter(|(user, _)| Some(*user) == last).map(|(_, index)| index)
}

/// Whether an op is a dot of either dialect, with or without scales.
pub fn is_product(op: OpRef<'_>) -> bool {
    TileDot::cast(op).is_some() || AnyDot::cast(op).is_some()
}

/// Partitions dots, by index, into groups that share loaded tiles and therefore stages. `tiles[i]` has the keys of
/// the loads of dot `i`. A dot that shares no tile is a group by itself.
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

/// Moves the dots of a group to the last of them, and the layout conversions of their results to the end of the
/// block.
pub fn bring_together(products: &[OpRef<'_>]) {
    let Some((last, others)) = products.split_last() else { return };
    let Some(end) = block_around(*last).and_then(|block| ops_of(block).last()) else { return };
    for product in others {
        move_before(*product, *last);
        let mut accumulated = result(*product, 0);
        while let [(convert, _)] = uses(accumulated)[..] {
            let Some(next) = nv_tileas::ConvertLayoutOp::cast(convert) else { break };
            move_before(convert, end);
            accumulated = next.result();
        }
    }
}

/// Whether an op computes each element of its result from the same element of its only operand, a tensor.
fn is_of_one_tile(op: OpRef<'_>) -> bool {
    operand_count(op) == 1
        && result_count(op) == 1
        && behaviour::layout_relation(op) == LayoutRelation::Same
        && behaviour::computes_speculatively(op)
        && Tensor::of_value(operand(op, 0)).is_some()
}

/// Whether an op rounds f32 to tf32 as TMA does.
pub fn rounds_to_tf32(op: OpRef<'_>) -> bool {
    let Some(cast) = nv_tileaa::FpCastOp::cast(op) else { return false };
    let [from, to] = [cast.source(), cast.result()].map(|v| Tensor::of_value(v).map(|t| t.element));
    cast.rounding() == nv_tileaa::Rounding::NearestEven
        && from.is_some_and(|f| f == f32_beside(f) && to == Some(tf32_beside(f)))
}

fn is_tiled_load(op: OpRef<'_>) -> bool {
    nv_tileaa::TiledLoadOp::cast(op).is_some() || nv_tileas::TiledLoadOp::cast(op).is_some()
}

/// Writes an op of a slice in a special way, with its operands mapped. Returns false if the op should simply be
/// cloned.
pub type WriteRoot<'a, 'c> = dyn FnMut(OpRef<'c>, &mut FxHashMap<usize, Val<'c>>) -> Result<bool, Failed> + 'a;

/// The ops and values that some ops of a program depend on.
pub struct Slice<'c> {
    function: OpRef<'c>,
    ops: FxHashSet<usize>,
    values: FxHashSet<usize>,
    /// The warps of the agent for which the slice is written, if tensors have layouts.
    warps: Option<u64>,
    /// Branch conditions that are decided, so only one side is written.
    decided: FxHashMap<usize, bool>,
}

impl<'c> Slice<'c> {
    /// The slice that `roots` of `function` depend on, except ops that `given` provides and operands that `skip`
    /// excludes.
    ///
    /// Errors: an op that cannot be repeated, with the reason.
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
                        // The body of an `elect` and other regions belong to the slice as a whole.
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
                return Err((op, format!("'{}' cannot be repeated by another agent", op_name(op))));
            }
            work.push(op);
        }
    }

    /// Whether the slice contains an op.
    pub fn contains(&self, op: OpRef<'c>) -> bool {
        self.ops.contains(&op_key(op))
    }

    /// Sets the number of warps of the agent for which the slice is written.
    pub fn for_warps(self, warps: u64) -> Self {
        Self { warps: Some(warps), ..self }
    }

    /// The slice for a known outcome of `condition`. The branches on it must not have results.
    pub fn deciding(mut self, condition: Val<'c>, holds: bool) -> Self {
        self.decided.insert(key(condition), holds);
        self
    }

    fn has(&self, v: Val<'c>) -> bool {
        self.values.contains(&key(v))
    }

    /// Writes the slice of a block at the insertion point. `map` maps old to new values. `root` is called for each op
    /// first; if it returns true, it has written the op.
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
        let kept: Vec<usize> =
            (0..result_count(op)).filter(|&i| self.has(arg(body, i + 1)) || self.has(result(op, i))).collect();
        let mut inits: Vec<Val<'c>> = operands(op).take(3).map(|v| mapped(map, v)).collect();
        inits.extend(kept.iter().map(|&i| mapped(map, operand(op, 3 + i))));
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
        let inits: Vec<Val<'c>> = carried.iter().map(|&i| mapped(map, operand(op, i))).collect();
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
        // The condition, then the results.
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
        state.operands(&[mapped(map, operand(op, 0))]);
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
        let values: Vec<Val<'c>> = kept.iter().map(|&i| mapped(map, operand(last, i))).collect();
        b.set_location(last.location());
        let mut state = b.state(op_name(last));
        state.operands(&values);
        b.insert(state).map_err(|e| fail(last, e.to_string()))?;
        Ok(())
    }
}

/// The terminator that decides whether a `while` loop continues, and passes on its values.
pub fn condition(op: OpRef<'_>) -> Option<OpRef<'_>> {
    entry_block(region(op, 0)).and_then(|before| ops_of(before).last())
}

/// Whether a clone of the op gives the same result and has no other effect.
fn repeats<'c>(op: OpRef<'c>, function: OpRef<'c>) -> bool {
    // Agents distribute the elements of larger tensors over their threads differently.
    let single = results(op).all(|r| Tensor::of_value(r).is_none_or(|t| t.elements() == 1));
    let has_no_effects = || behaviour::effects(op).is_some_and(|list| list.is_empty());
    // Every agent reads the coordinates of its next tile block.
    let is_next = nv_tileas::NextTileBlockOp::cast(op).is_some();
    single && (has_no_effects() || may_be_repeated(op, function) || is_next)
}

/// Gives a cloned op on single elements the layouts for `warps` warps, in which each thread holds the element.
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
