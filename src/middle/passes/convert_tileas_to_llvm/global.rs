//! Accesses to global memory.
//!
//! A tile of a view starts at `base + sum(index[d] * step[d] * stride[d])`, computed once in 64 bits. Each thread
//! adds the offset of its coordinates, and each register a constant. The part of the view that remains from the start
//! of the tile is clamped to the tile's extent, so bounds checks are 32-bit compares of coordinates:
//!
//! ```text
//! inside(d) = coordinate[d] < min(extent[d] - index[d] * step[d], tile[d])
//! ```
//!
//! Unmasked accesses are plain LLVM loads and stores. Masked accesses are predicated inline PTX: LLVM does not have
//! predicated accesses for this target, and a branch around each access would keep ptxas from overlapping them.

use super::{
    Lower,
    llvm::Cmp,
    nibble::{Nibbles, is_nibble},
    shape::shape_of,
    transfer::Fill,
};
use crate::{
    analysis::access::View,
    dialect::{
        attributes::CHECKED_ONLY,
        layouts::{Tensor, storage_bits},
        nv_tileaa::{Ordering, Scope},
        nv_tileas::{Bounds, LoadOp, StoreOp, TiledLoadOp, TiledStoreOp},
        pass::{Failed, fail},
        rt::*,
    },
};
use melior::ir::Type;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use tile_layout::{Coordinate, Layout};

/// A tile of a view, prepared to compute addresses and bounds of registers.
pub(super) struct Tile<'c> {
    base: Val<'c>,
    coordinates: Vec<Coordinate>,
    /// The thread's contribution to each coordinate.
    thread: Vec<Val<'c>>,
    /// The distance in bytes between neighboring elements along each dimension.
    strides: Vec<Stride<'c>>,
    /// The number of elements inside the view along each dimension; `None` if no check is needed.
    pub left: Vec<Option<Val<'c>>>,
    /// The address of the thread's first element, if registers only add to it.
    thread_base: Option<Val<'c>>,
    /// Products of dynamic strides and register coordinates.
    products: RefCell<FxHashMap<(usize, u64), Val<'c>>>,
    sparse: Option<Rows<'c>>,
    /// Whether offsets along each dimension are below 2^32 bytes for all elements inside the view.
    narrow: bool,
}
enum Stride<'c> {
    Bytes(i64),
    Dynamic(Val<'c>),
}

/// The positions of a tile's registers along its sparse dimension.
struct Rows<'c> {
    dim: usize,
    /// The offsets in bytes from the tile's base.
    offsets: Vec<Val<'c>>,
    /// Whether each row is inside the view; empty if no check is needed.
    inside: Vec<Val<'c>>,
}

/// How an access enforces its ordering: a qualifier for each instruction, and fences around all of them.
pub(super) struct Strength {
    pub qualifier: String,
    pub before: Option<String>,
    pub after: Option<String>,
}

/// An access to a tile of a view, in one thread.
pub(super) struct TileAccess<'c> {
    pub view: View<'c>,
    pub tile: Tile<'c>,
    pub layout: Layout,
    bounds: Bounds,
    /// Groups of neighbors, each accessed by one instruction.
    pub groups: Vec<Vec<u32>>,
    /// The same elements in groups of one, for checks of each element.
    pub singles: Vec<Vec<u32>>,
    /// Whether each element is checked even if the whole tile is inside the view.
    checked_only: bool,
}

impl TileAccess<'_> {
    /// Returns the groups of the form with the most instructions.
    pub fn most(&self) -> &[Vec<u32>] {
        if self.bounds == Bounds::Split { &self.singles } else { &self.groups }
    }
}

impl<'c> Lower<'c, '_> {
    pub(super) fn tiled_load(&mut self, op: TiledLoadOp<'c>) -> Result<(), Failed> {
        let strong = op.ordering() != Ordering::Weak;
        let indices: Vec<Val<'c>> = op.indices().collect();
        let what = (op.view(), op.result(), op.vector() as u64, strong);
        let access = self.tile_access(op.op(), what, &indices, op.bounds())?;
        let element = access.view.memref.element_type();
        let strength = self.strength(op.op(), op.ordering(), op.scope(), access.most().len())?;
        let owner = if strong { self.owner(&access.layout) } else { None };
        let padding = self.padding(op.op(), element, access.view.ty.padding())?;
        let origin = self.scalar(op.op(), access.view.make.base())?;
        let read = |g: &[u32], mask| {
            let address = self.address(&access.tile, &access.layout, g[0]);
            if is_nibble(element) {
                let at = Nibbles { origin, element: address, mask, qualifier: &strength.qualifier };
                let Fill::Value(fill) = padding else { unreachable!("a view has one padding") };
                return self.read_nibbles(&at, g.len() as u64, fill);
            }
            self.read(address, element, g.len() as u64, mask, padding.clone(), &strength.qualifier)
        };
        let types = vec![self.element_of(op.op(), op.result())?; access.layout.registers() as usize];
        let values = self.by_bounds(&access, &types, |groups, checked| {
            self.gather(&access.layout, groups, |g| read(g, self.both(self.checked(&access, g, checked), owner)))
        });
        self.fence(&strength.after);
        self.set_all(op.result(), values);
        Ok(())
    }

    pub(super) fn tiled_store(&mut self, op: TiledStoreOp<'c>) -> Result<(), Failed> {
        let indices: Vec<Val<'c>> = op.indices().collect();
        let what = (op.view(), op.value(), op.vector() as u64, false);
        let access = self.tile_access(op.op(), what, &indices, op.bounds())?;
        let element = access.view.memref.element_type();
        let Strength { qualifier, before, .. } =
            self.strength(op.op(), op.ordering(), op.scope(), access.most().len())?;
        let values = self.fragment(op.op(), op.value())?;
        let owner = self.storer(&access.layout);
        let origin = self.scalar(op.op(), access.view.make.base())?;
        self.fence(&before);
        let write = |g: &[u32], mask: Option<Val<'c>>| {
            let address = self.address(&access.tile, &access.layout, g[0]);
            let elements: Vec<Val<'c>> = g.iter().map(|&r| values[r as usize]).collect();
            if is_nibble(element) {
                let at = Nibbles { origin, element: address, mask, qualifier: &qualifier };
                return self.write_nibbles(&at, &elements);
            }
            self.write(address, element, &elements, mask, &qualifier);
        };
        self.by_bounds(&access, &[], |groups, checked| {
            groups.iter().for_each(|g| write(g, self.both(self.checked(&access, g, checked), owner)));
            vec![]
        });
        Ok(())
    }

    /// Prepares an access to the tile of `view` at `indices`, whose elements `moved` has in registers. `width` is the
    /// largest number of elements of an instruction. With `owned`, each element is accessed by one thread.
    pub(super) fn tile_access(
        &self,
        op: OpRef<'c>,
        (view, moved, width, owned): (Val<'c>, Val<'c>, u64, bool),
        indices: &[Val<'c>],
        bounds: Bounds,
    ) -> Result<TileAccess<'c>, Failed> {
        let (view, layout) = (self.view(op, view)?, self.layout(op, moved)?);
        let in_bounds = self.in_bounds(op, indices.len(), bounds);
        let shape = shape_of(moved).ok_or_else(|| fail(op, "tile is not a tensor"))?;
        let tile = self.tile_of_shape(op, &view, indices, &layout, &shape, &in_bounds)?;
        let groups = self.groups(op, &view, &layout, moved, width, owned)?;
        let singles = groups.iter().flatten().map(|&r| vec![r]).collect();
        Ok(TileAccess { view, tile, layout, bounds, groups, singles, checked_only: CHECKED_ONLY.is_on(op) })
    }

    /// Emits an access by `run`, with or without checks. If elements are checked one by one, tiles that are entirely
    /// inside the view have a fast path without checks. The results have these types.
    pub(super) fn by_bounds(
        &self,
        access: &TileAccess<'c>,
        types: &[Type<'c>],
        run: impl Fn(&[Vec<u32>], bool) -> Vec<Val<'c>>,
    ) -> Vec<Val<'c>> {
        let TileAccess { groups, singles, .. } = access;
        match access.bounds {
            Bounds::None => run(groups, false),
            Bounds::Vector => run(groups, true),
            Bounds::Split if access.checked_only && groups.len() == singles.len() => run(singles, true),
            Bounds::Split => {
                let whole = self.whole(&access.view, &access.tile);
                self.l.either(whole, types, || run(groups, false), || run(singles, true))
            }
        }
    }

    /// Returns the check of a group, if it is checked.
    pub(super) fn checked(&self, access: &TileAccess<'c>, group: &[u32], checked: bool) -> Option<Val<'c>> {
        if checked { self.inside(&access.tile, group[0]) } else { None }
    }

    pub(super) fn pointer_load(&mut self, op: LoadOp<'c>) -> Result<(), Failed> {
        let pointers = self.fragment(op.op(), op.ptr())?;
        let element = pointee(op.ptr());
        let masks = op.mask().map(|m| self.fragment(op.op(), m)).transpose()?;
        let others = op.other().map(|o| self.fragment(op.op(), o)).transpose()?;
        let padding = self.padding(op.op(), element, None)?;
        let strong = op.ordering() != Ordering::Weak;
        let along = op.along().unwrap_or(0) as usize;
        let groups = self.pointer_groups(op.op(), op.ptr(), op.vector() as u64, along, strong)?;
        let Strength { qualifier, after, .. } = self.strength(op.op(), op.ordering(), op.scope(), groups.len())?;
        let layout = Tensor::of_value(op.ptr()).map(|_| self.layout(op.op(), op.ptr())).transpose()?;
        let owner = match &layout {
            Some(layout) if strong => self.owner(layout),
            None if strong => {
                return Err(fail(op.op(), "a scalar load must be weak: threads could read different values"));
            }
            _ => None,
        };
        let pick = |list: &Option<Vec<Val<'c>>>, r: u32| {
            list.as_ref().map(|l| if l.len() == 1 { l[0] } else { l[r as usize] })
        };
        let read = |g: &[u32]| {
            let mask = self.both(pick(&masks, g[0]), owner);
            if is_nibble(element) {
                let fill = pick(&others, g[0]).unwrap_or_else(|| self.l.int(self.l.i8, 0));
                return vec![self.read_low_half(pointers[g[0] as usize], mask, fill, &qualifier)];
            }
            let fill = match &others {
                Some(_) => Fill::Values(g.iter().map(|&r| pick(&others, r).expect("present")).collect()),
                None => padding.clone(),
            };
            self.read(pointers[g[0] as usize], element, g.len() as u64, mask, fill, &qualifier)
        };
        let values = match &layout {
            Some(layout) => self.gather(layout, &groups, read),
            None => read(&[0]),
        };
        self.fence(&after);
        self.set_all(op.result(), values);
        Ok(())
    }

    pub(super) fn pointer_store(&mut self, op: StoreOp<'c>) -> Result<(), Failed> {
        let pointers = self.fragment(op.op(), op.ptr())?;
        let values = self.fragment(op.op(), op.value())?;
        let masks = op.mask().map(|m| self.fragment(op.op(), m)).transpose()?;
        let along = op.along().unwrap_or(0) as usize;
        let groups = self.pointer_groups(op.op(), op.ptr(), op.vector() as u64, along, false)?;
        let Strength { qualifier, before, .. } = self.strength(op.op(), op.ordering(), op.scope(), groups.len())?;
        self.fence(&before);
        let owner = match Tensor::of_value(op.ptr()) {
            Some(_) => self.storer(&self.layout(op.op(), op.ptr())?),
            // All threads have the scalar; one of them stores it.
            None => Some(self.l.icmp(Cmp::Eq, self.threads.thread, self.l.i32c(0))),
        };
        for g in &groups {
            let mask = masks.as_ref().map(|m| if m.len() == 1 { m[0] } else { m[g[0] as usize] });
            let elements: Vec<Val<'c>> = g.iter().map(|&r| values[r as usize]).collect();
            let (p, mask) = (pointers[g[0] as usize], self.both(mask, owner));
            if is_nibble(pointee(op.ptr())) {
                self.write_low_half(p, elements[0], mask, &qualifier)
            } else {
                self.write(p, pointee(op.ptr()), &elements, mask, &qualifier)
            }
        }
        Ok(())
    }

    //===-- addresses and bounds --------------------------------------------===//

    pub(super) fn view(&self, op: OpRef<'c>, v: Val<'c>) -> Result<View<'c>, Failed> {
        View::of(v).ok_or_else(|| fail(op, "view is not created in this function"))
    }

    /// Returns the dimensions that need no check.
    pub(super) fn in_bounds(&self, op: OpRef<'c>, rank: usize, bounds: Bounds) -> Vec<bool> {
        let list = bool_list(attr(op, "inBounds"));
        (0..rank).map(|d| bounds == Bounds::None || list.get(d) == Some(&true)).collect()
    }

    pub(super) fn tile_of_shape(
        &self,
        op: OpRef<'c>,
        view: &View<'c>,
        indices: &[Val<'c>],
        layout: &Layout,
        shape: &tile_layout::Shape,
        in_bounds: &[bool],
    ) -> Result<Tile<'c>, Failed> {
        let l = &self.l;
        let bytes = i64::from(storage_bits(view.memref.element_type()) / 8);
        let rank = view.ty.tile().len();
        let narrow = view.has_narrow_offsets(self.function.index_bits);
        let (mut start_offset, mut strides, mut left, mut sparse) = (None, vec![], vec![], None);
        for d in 0..rank {
            let m = view.ty.dim_map()[d] as usize;
            if view.ty.sparse_dim() == Some(d as i64) {
                sparse = Some(self.rows(op, view, d, indices[d], (bytes, narrow), in_bounds[d])?);
                strides.push(Stride::Bytes(0));
                left.push(None);
                continue;
            }
            let index = l.zext64(self.scalar(op, indices[d])?);
            let step = view.ty.steps()[d];
            let start = if step == 1 { index } else { l.mul(index, l.i64c(step)) };
            let stride = self.byte_stride(op, view, m, bytes)?;
            let offset = match stride {
                Stride::Bytes(s) => self.product(start, l.i64c(s), narrow),
                Stride::Dynamic(s) => self.product(start, s, narrow),
            };
            start_offset = Some(start_offset.map_or(offset, |sum| l.add(sum, offset)));
            left.push(if in_bounds[d] {
                None
            } else {
                let extent = match view.extent(m) {
                    Ok(e) => l.i64c(e),
                    Err(v) => l.zext64(self.scalar(op, v)?),
                };
                // If the tile starts past the end, like a slice of the last tile, the remainder is negative.
                let rest = l.bin("sub", extent, start);
                let clamped = l.bin("intr.smin", rest, l.i64c(view.ty.tile()[d]));
                Some(l.cast("trunc", clamped, l.i32))
            });
            strides.push(stride);
        }
        let origin = self.scalar(op, view.make.base())?;
        let base = start_offset.map_or(origin, |o| l.byte_offset(origin, o));
        let coordinates: Vec<Coordinate> = (0..rank)
            .map(|d| layout.coordinate_expr(shape, d).map_err(|e| fail(op, e.to_string())))
            .collect::<Result<_, _>>()?;
        let thread: Vec<Val<'c>> = coordinates.iter().map(|c| self.linear(&c.thread)).collect();
        let disjoint = coordinates.iter().all(|c| c.disjoint);
        let thread_base = disjoint.then(|| {
            let p = (0..rank).fold(base, |p, d| {
                let constant = coordinates[d].thread.is_zero() || matches!(strides[d], Stride::Bytes(0));
                if constant { p } else { self.along(p, thread[d], &strides[d], narrow) }
            });
            // The registers' offsets are the same in all threads. Hide the thread's part so that LLVM does not hoist
            // the sums.
            self.hide_from_licm(op, p)
        });
        Ok(Tile { base, coordinates, thread, strides, left, thread_base, products: RefCell::default(), sparse, narrow })
    }

    /// Returns a view dimension's stride in bytes, given the element size. The stride wraps modulo 2^64, as addresses
    /// do. Elements cannot actually be that far apart, but a program may describe such a view.
    fn byte_stride(&self, op: OpRef<'c>, view: &View<'c>, dim: usize, bytes: i64) -> Result<Stride<'c>, Failed> {
        let l = &self.l;
        Ok(match view.stride(dim) {
            Ok(s) => Stride::Bytes(s.wrapping_mul(bytes)),
            Err(v) => Stride::Dynamic(l.mul(l.zext64(self.scalar(op, v)?), l.i64c(bytes))),
        })
    }

    /// Computes the offsets of the rows selected by the index `v` of dimension `d`, once for each distinct row.
    fn rows(
        &self,
        op: OpRef<'c>,
        view: &View<'c>,
        d: usize,
        v: Val<'c>,
        (bytes, narrow): (i64, bool),
        in_bounds: bool,
    ) -> Result<Rows<'c>, Failed> {
        let l = &self.l;
        let m = view.ty.dim_map()[d] as usize;
        let stride = match self.byte_stride(op, view, m, bytes)? {
            Stride::Bytes(s) => l.i64c(s),
            Stride::Dynamic(s) => s,
        };
        let extent = match view.extent(m) {
            Ok(e) => l.i64c(e),
            Err(v) => l.zext64(self.scalar(op, v)?),
        };
        let mut known: FxHashMap<usize, (Val<'c>, Option<Val<'c>>)> = FxHashMap::default();
        let mut rows = Rows { dim: d, offsets: vec![], inside: vec![] };
        for row in self.fragment(op, v)? {
            let (offset, inside) = *known.entry(key(row)).or_insert_with(|| {
                let wide = l.zext64(row);
                let inside = (!in_bounds).then(|| l.icmp(Cmp::Ult, wide, extent));
                // A row outside the view is not accessed, so its offset does not matter.
                (self.product(wide, stride, narrow), inside)
            });
            rows.offsets.push(offset);
            rows.inside.extend(inside);
        }
        Ok(rows)
    }

    /// Advances `p` by `coordinate` elements along a dimension.
    fn along(&self, p: Val<'c>, coordinate: Val<'c>, stride: &Stride<'c>, narrow: bool) -> Val<'c> {
        let l = &self.l;
        let wide = l.zext64(coordinate);
        let offset = match *stride {
            Stride::Bytes(1) => wide,
            Stride::Bytes(s) => self.product(wide, l.i64c(s), narrow),
            Stride::Dynamic(s) => self.product(wide, s, narrow),
        };
        l.byte_offset(p, offset)
    }

    /// Multiplies 64-bit numbers. If `narrow`, the product is known to fit 32 bits and is computed in 32 bits.
    fn product(&self, a: Val<'c>, b: Val<'c>, narrow: bool) -> Val<'c> {
        let l = &self.l;
        if !narrow {
            return l.mul(a, b);
        }
        l.zext64(l.mul(l.cast("trunc", a, l.i32), l.cast("trunc", b, l.i32)))
    }

    pub(super) fn coordinate(&self, tile: &Tile<'c>, d: usize, register: u32) -> Val<'c> {
        let c = &tile.coordinates[d];
        match c.registers[register as usize] {
            0 => tile.thread[d],
            r if c.disjoint => self.or_disjoint(tile.thread[d], self.l.i32c(r as i64)),
            r => self.l.bin("xor", tile.thread[d], self.l.i32c(r as i64)),
        }
    }

    pub(super) fn address(&self, tile: &Tile<'c>, layout: &Layout, register: u32) -> Val<'c> {
        debug_assert!(register < layout.registers());
        let l = &self.l;
        let sparse = |p| match &tile.sparse {
            Some(rows) => l.byte_offset(p, rows.offsets[register as usize]),
            None => p,
        };
        let Some(p) = tile.thread_base else {
            let dense = |d: &usize| tile.sparse.as_ref().is_none_or(|rows| rows.dim != *d);
            return (0..tile.strides.len()).filter(dense).fold(sparse(tile.base), |p, d| {
                self.along(p, self.coordinate(tile, d, register), &tile.strides[d], tile.narrow)
            });
        };
        let mut p = sparse(p);
        let mut constant = 0_i64;
        for (d, stride) in tile.strides.iter().enumerate() {
            let r = tile.coordinates[d].registers[register as usize];
            match *stride {
                Stride::Bytes(s) => constant = constant.wrapping_add(s.wrapping_mul(r as i64)),
                Stride::Dynamic(_) if r == 0 => {}
                Stride::Dynamic(s) => {
                    // Compute each distinct product once. A product computed in one arm of a branch must not be used
                    // in the other, so share only products of the current block.
                    let block = melior::ir::BlockLike::to_raw(&l.b.block()).ptr as u64;
                    let at = (d, r ^ block.rotate_left(32));
                    let product = *tile
                        .products
                        .borrow_mut()
                        .entry(at)
                        .or_insert_with(|| self.product(s, l.i64c(r as i64), tile.narrow));
                    p = l.byte_offset(p, product);
                }
            }
        }
        l.const_offset(p, constant)
    }

    /// Whether the register's element is inside the view; `None` if it always is.
    pub(super) fn inside(&self, tile: &Tile<'c>, register: u32) -> Option<Val<'c>> {
        let row = tile.sparse.as_ref().and_then(|rows| rows.inside.get(register as usize).copied());
        (0..tile.left.len()).fold(row, |all, d| match tile.left[d] {
            Some(left) => self.both(all, Some(self.l.icmp(Cmp::Slt, self.coordinate(tile, d, register), left))),
            None => all,
        })
    }

    /// Whether all elements of the tile that the thread holds are inside the view.
    fn whole(&self, view: &View<'c>, tile: &Tile<'c>) -> Val<'c> {
        let checks = tile
            .left
            .iter()
            .zip(view.ty.tile())
            .filter_map(|(left, extent)| left.map(|left| self.l.icmp(Cmp::Eq, left, self.l.i32c(*extent))));
        let mut rows: Vec<Val<'c>> = tile.sparse.iter().flat_map(|rows| &rows.inside).copied().collect();
        rows.dedup();
        checks.chain(rows).reduce(|a, b| self.l.bin("and", a, b)).unwrap_or_else(|| self.l.int(self.l.i1, 1))
    }

    //===-- order -----------------------------------------------------------===//

    /// Returns the qualifiers and fences that enforce the ordering of `instructions` loads or stores in a thread;
    /// weak accesses need none. Several instructions share one fence, which costs as much as ordering one of them.
    pub(super) fn strength(
        &self,
        op: OpRef<'c>,
        ordering: Ordering,
        scope: Option<Scope>,
        instructions: usize,
    ) -> Result<Strength, Failed> {
        let none = Strength { qualifier: String::new(), before: None, after: None };
        let scope = match (ordering, scope) {
            (Ordering::Weak, _) => return Ok(none),
            (_, Some(scope)) => scope_name(scope),
            (_, None) => return Err(fail(op, "an ordered access needs a scope")),
        };
        let order = match (ordering, instructions > 1) {
            (Ordering::AcqRel, _) => return Err(fail(op, "a load or store is not both acquire and release")),
            (Ordering::Acquire, false) => "acquire",
            (Ordering::Release, false) => "release",
            _ => "relaxed",
        };
        let fence = |o| (ordering == o && instructions > 1).then(|| fence_text(scope));
        let (before, after) = (fence(Ordering::Release), fence(Ordering::Acquire));
        Ok(Strength { qualifier: format!(".{order}.{scope}"), before, after })
    }

    pub(super) fn fence(&self, text: &Option<String>) {
        if let Some(text) = text {
            self.l.order(text);
        }
    }
}

/// Returns the PTX scope of an ordered access.
pub(super) fn scope_name(scope: Scope) -> &'static str {
    match scope {
        Scope::Block => "cta",
        Scope::Device => "gpu",
        Scope::System => "sys",
    }
}

pub(super) fn fence_text(scope: &str) -> String {
    format!("fence.acq_rel.{scope};")
}

pub(super) fn pointee<'c>(ptr: Val<'c>) -> Type<'c> {
    let element = Tensor::of_value(ptr).map_or(ty(ptr), |t| t.element);
    crate::dialect::nv_tileaa::PtrType::cast(element).map_or(element, |p| p.pointee())
}
