//! Accesses of global memory.
//!
//! A tile of a view starts at `base + sum(index[d] * step[d] * stride[d])`, computed once in 64 bits. Each thread adds the
//! offset of its coordinates, each register a constant. What is left of the view from the start of the tile is clamped to the
//! tile's extent, so that bounds are checked with 32-bit compares of coordinates:
//!
//! ```text
//! inside(d) = coordinate[d] < min(extent[d] - index[d] * step[d], tile[d])
//! ```
//!
//! Unmasked accesses are plain LLVM loads and stores. Masked ones are predicated inline PTX: LLVM has no predicated
//! accesses for this target, and a branch for each would hide from ptxas that they can be in flight together.

use super::{Lower, groups::singles, llvm::Cmp, shape::shape_of};
use crate::{
    analysis::access::View,
    dialect::{
        layouts::{Tensor, storage_bits},
        nv_tileaa::{Ordering, Padding, Scope},
        nv_tileas::{Bounds, LoadOp, StoreOp, TiledLoadOp, TiledStoreOp},
        pass::{Failed, fail},
        rt::*,
    },
};
use melior::ir::{AttributeLike, Type, TypeLike};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use tile_layout::{Coordinate, InputMasks, Layout};

/// Words of one access: how many, of which width, and the register class of inline PTX.
#[derive(Clone, Copy)]
pub(super) struct Words<'c> {
    pub count: u64,
    pub ty: Type<'c>,
    pub bits: u64,
    pub class: char,
}

/// A tile of a view, ready for addresses and bounds of registers.
pub(super) struct Tile<'c> {
    base: Val<'c>,
    coordinates: Vec<Coordinate>,
    /// The thread's part of each coordinate.
    thread: Vec<Val<'c>>,
    /// Bytes from one element to the next along each dimension.
    strides: Vec<Stride<'c>>,
    /// Elements inside the view along each dimension; none where all are.
    pub left: Vec<Option<Val<'c>>>,
    /// Address of the thread's first element, when registers add to it.
    thread_base: Option<Val<'c>>,
    /// Products of run-time strides and register coordinates.
    products: RefCell<FxHashMap<(usize, u64), Val<'c>>>,
    sparse: Option<Rows<'c>>,
}
enum Stride<'c> {
    Bytes(i64),
    Dynamic(Val<'c>),
}

/// The places of a tile's registers along its sparse dimension.
struct Rows<'c> {
    dim: usize,
    /// Bytes from the tile's base.
    offsets: Vec<Val<'c>>,
    /// Whether they are inside the view; empty when no check is needed.
    inside: Vec<Val<'c>>,
}

/// How an access keeps its order: qualifiers of each instruction, and fences around all of them.
pub(super) struct Strength {
    pub qualifier: String,
    pub before: Option<String>,
    pub after: Option<String>,
}

impl<'c> Lower<'c, '_> {
    pub(super) fn tiled_load(&mut self, op: TiledLoadOp<'c>) -> Result<(), Failed> {
        let indices: Vec<Val<'c>> = op.indices().collect();
        let (view, layout) = (self.view(op.op(), op.view())?, self.layout(op.op(), op.result())?);
        let element = view.memref.element_type();
        let bounds = self.in_bounds(op.op(), indices.len(), op.bounds());
        let tile = self.tile(op.op(), &view, &indices, &layout, op.result(), &bounds)?;
        let strong = op.ordering() != Ordering::Weak;
        let groups = self.groups(op.op(), &view, &layout, op.result(), op.vector() as u64, strong)?;
        let singles = singles(&groups);
        let count = if op.bounds() == Bounds::Split { singles.len() } else { groups.len() };
        let strength = self.strength(op.op(), op.ordering(), op.scope(), count)?;
        let owner = if strong { self.owner(&layout) } else { None };
        let padding = self.padding(op.op(), element, view.ty.padding())?;
        let registers = layout.registers() as usize;
        let read = |this: &Self, g: &[u32], mask| {
            let address = this.address(&tile, &layout, g[0]);
            this.read(address, element, g.len() as u64, mask, padding.clone(), &strength.qualifier)
        };
        let unmasked = |this: &Self| this.gather(&layout, &groups, |g| read(this, g, owner));
        let masked = |this: &Self, groups: &[Vec<u32>]| {
            this.gather(&layout, groups, |g| read(this, g, this.both(this.inside(&tile, g[0]), owner)))
        };
        let values = match op.bounds() {
            Bounds::None => unmasked(self),
            Bounds::Vector => masked(self, &groups),
            Bounds::Split => {
                let whole = self.whole(&view, &tile);
                let types = vec![self.element_of(op.op(), op.result())?; registers];
                self.l.either(whole, &types, || unmasked(self), || masked(self, &singles))
            }
        };
        self.fence(&strength.after);
        self.set_all(op.result(), values);
        Ok(())
    }

    pub(super) fn tiled_store(&mut self, op: TiledStoreOp<'c>) -> Result<(), Failed> {
        let indices: Vec<Val<'c>> = op.indices().collect();
        let (view, layout) = (self.view(op.op(), op.view())?, self.layout(op.op(), op.value())?);
        let element = view.memref.element_type();
        let bounds = self.in_bounds(op.op(), indices.len(), op.bounds());
        let tile = self.tile(op.op(), &view, &indices, &layout, op.value(), &bounds)?;
        let groups = self.groups(op.op(), &view, &layout, op.value(), op.vector() as u64, false)?;
        let singles = singles(&groups);
        let count = if op.bounds() == Bounds::Split { singles.len() } else { groups.len() };
        let Strength { qualifier, before, .. } = self.strength(op.op(), op.ordering(), op.scope(), count)?;
        let values = self.fragment(op.op(), op.value())?;
        let owner = self.storer(&layout);
        let group = |g: &[u32]| -> Vec<Val<'c>> { g.iter().map(|&r| values[r as usize]).collect() };
        self.fence(&before);
        let plain = |owner: Option<Val<'c>>| {
            for g in &groups {
                let address = self.address(&tile, &layout, g[0]);
                self.write(address, element, &group(g), owner, &qualifier);
            }
        };
        let masked = |groups: &[Vec<u32>]| {
            for g in groups {
                let address = self.address(&tile, &layout, g[0]);
                let mask = self.both(self.inside(&tile, g[0]), owner);
                self.write(address, element, &group(g), mask, &qualifier);
            }
        };
        match op.bounds() {
            Bounds::None => plain(owner),
            Bounds::Vector => masked(&groups),
            Bounds::Split => {
                let whole = self.whole(&view, &tile);
                self.l.either(
                    whole,
                    &[],
                    || {
                        plain(owner);
                        vec![]
                    },
                    || {
                        masked(&singles);
                        vec![]
                    },
                );
            }
        }
        Ok(())
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
            // A scalar is every thread's; one of them stores it.
            None => Some(self.l.icmp(Cmp::Eq, self.thread, self.l.i32c(0))),
        };
        for g in &groups {
            let mask = masks.as_ref().map(|m| if m.len() == 1 { m[0] } else { m[g[0] as usize] });
            let elements: Vec<Val<'c>> = g.iter().map(|&r| values[r as usize]).collect();
            self.write(pointers[g[0] as usize], pointee(op.ptr()), &elements, self.both(mask, owner), &qualifier);
        }
        Ok(())
    }

    //===-- addresses and bounds --------------------------------------------===//

    pub(super) fn view(&self, op: OpRef<'c>, v: Val<'c>) -> Result<View<'c>, Failed> {
        View::of(v).ok_or_else(|| fail(op, "view is not made in this function"))
    }

    /// Dimensions that need no check.
    pub(super) fn in_bounds(&self, op: OpRef<'c>, rank: usize, bounds: Bounds) -> Vec<bool> {
        let list = attr(op, "inBounds");
        (0..rank)
            .map(|d| {
                bounds == Bounds::None
                    || list.is_some_and(|a| {
                        // SAFETY: the attribute is a DenseBoolArrayAttr, read within its length.
                        unsafe {
                            (d as isize) < mlir_sys::mlirDenseArrayGetNumElements(a.to_raw())
                                && mlir_sys::mlirDenseBoolArrayGetElement(a.to_raw(), d as isize)
                        }
                    })
            })
            .collect()
    }

    pub(super) fn tile(
        &self,
        op: OpRef<'c>,
        view: &View<'c>,
        indices: &[Val<'c>],
        layout: &Layout,
        value: Val<'c>,
        in_bounds: &[bool],
    ) -> Result<Tile<'c>, Failed> {
        let shape = shape_of(value).ok_or_else(|| fail(op, "tile is not a tensor"))?;
        self.tile_of_shape(op, view, indices, layout, &shape, in_bounds)
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
        let (mut start_offset, mut strides, mut left, mut sparse) = (None, vec![], vec![], None);
        for d in 0..rank {
            let m = view.ty.dim_map()[d] as usize;
            if view.ty.sparse_dim() == Some(d as i64) {
                sparse = Some(self.rows(op, view, d, indices[d], bytes, in_bounds[d])?);
                strides.push(Stride::Bytes(0));
                left.push(None);
                continue;
            }
            let index = l.zext64(self.scalar(op, indices[d])?);
            let step = view.ty.steps()[d];
            let start = if step == 1 { index } else { l.mul(index, l.i64c(step)) };
            let stride = match view.stride(m) {
                Ok(s) => Stride::Bytes(s * bytes),
                Err(v) => Stride::Dynamic(l.mul(l.zext64(self.scalar(op, v)?), l.i64c(bytes))),
            };
            let offset = match stride {
                Stride::Bytes(s) => l.mul(start, l.i64c(s)),
                Stride::Dynamic(s) => l.mul(start, s),
            };
            start_offset = Some(start_offset.map_or(offset, |sum| l.add(sum, offset)));
            left.push(if in_bounds[d] {
                None
            } else {
                let extent = match view.extent(m) {
                    Ok(e) => l.i64c(e),
                    Err(v) => l.zext64(self.scalar(op, v)?),
                };
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
            (0..rank).fold(base, |p, d| {
                let constant = coordinates[d].thread.is_zero() || matches!(strides[d], Stride::Bytes(0));
                if constant { p } else { self.along(p, thread[d], &strides[d]) }
            })
        });
        Ok(Tile { base, coordinates, thread, strides, left, thread_base, products: RefCell::default(), sparse })
    }

    /// Where the rows of the index `v` of dimension `d` lie, once for each that differs.
    fn rows(
        &self,
        op: OpRef<'c>,
        view: &View<'c>,
        d: usize,
        v: Val<'c>,
        bytes: i64,
        in_bounds: bool,
    ) -> Result<Rows<'c>, Failed> {
        let l = &self.l;
        let m = view.ty.dim_map()[d] as usize;
        let stride = match view.stride(m) {
            Ok(s) => l.i64c(s * bytes),
            Err(v) => l.mul(l.zext64(self.scalar(op, v)?), l.i64c(bytes)),
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
                // A row outside is not accessed, whatever its offset.
                (l.mul(wide, stride), inside)
            });
            rows.offsets.push(offset);
            rows.inside.extend(inside);
        }
        Ok(rows)
    }

    /// `p` moved by `coordinate` elements of a dimension.
    fn along(&self, p: Val<'c>, coordinate: Val<'c>, stride: &Stride<'c>) -> Val<'c> {
        let l = &self.l;
        let wide = l.zext64(coordinate);
        let offset = match *stride {
            Stride::Bytes(1) => wide,
            Stride::Bytes(s) => l.mul(wide, l.i64c(s)),
            Stride::Dynamic(s) => l.mul(wide, s),
        };
        l.byte_offset(p, offset)
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
            return (0..tile.strides.len())
                .filter(dense)
                .fold(sparse(tile.base), |p, d| self.along(p, self.coordinate(tile, d, register), &tile.strides[d]));
        };
        let mut p = sparse(p);
        let mut constant = 0;
        for (d, stride) in tile.strides.iter().enumerate() {
            let r = tile.coordinates[d].registers[register as usize];
            match *stride {
                Stride::Bytes(s) => constant += r as i64 * s,
                Stride::Dynamic(_) if r == 0 => {}
                Stride::Dynamic(s) => {
                    // One product for each distinct coordinate. A product made in one arm of a branch must not be used
                    // in the other, so only the current block's are shared.
                    let block = melior::ir::BlockLike::to_raw(&l.b.block()).ptr as u64;
                    let at = (d, r ^ block.rotate_left(32));
                    let product = *tile.products.borrow_mut().entry(at).or_insert_with(|| l.mul(s, l.i64c(r as i64)));
                    p = l.byte_offset(p, product);
                }
            }
        }
        l.const_offset(p, constant)
    }

    /// Whether the register's element is inside the view; none when it always is.
    pub(super) fn inside(&self, tile: &Tile<'c>, register: u32) -> Option<Val<'c>> {
        let row = tile.sparse.as_ref().and_then(|rows| rows.inside.get(register as usize).copied());
        (0..tile.left.len()).fold(row, |all, d| match tile.left[d] {
            Some(left) => self.both(all, Some(self.l.icmp(Cmp::Ult, self.coordinate(tile, d, register), left))),
            None => all,
        })
    }

    /// Whether the whole tile is inside the view, as far as the thread has part in it.
    pub(super) fn whole(&self, view: &View<'c>, tile: &Tile<'c>) -> Val<'c> {
        let checks = tile
            .left
            .iter()
            .zip(view.ty.tile())
            .filter_map(|(left, extent)| left.map(|left| self.l.icmp(Cmp::Eq, left, self.l.i32c(*extent))));
        let mut rows: Vec<Val<'c>> = tile.sparse.iter().flat_map(|rows| &rows.inside).copied().collect();
        rows.dedup();
        checks.chain(rows).reduce(|a, b| self.l.bin("and", a, b)).unwrap_or_else(|| self.l.int(self.l.i1, 1))
    }

    pub(super) fn both(&self, a: Option<Val<'c>>, b: Option<Val<'c>>) -> Option<Val<'c>> {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.l.bin("and", a, b)),
            (a, b) => a.or(b),
        }
    }

    /// True in the threads that own elements; none when every thread does. They do so in the registers of [`Layout::owned`].
    pub(super) fn owner(&self, layout: &Layout) -> Option<Val<'c>> {
        self.where_zero(layout.free_variables())
    }

    /// True in the threads that store. Of a thread's registers as many as possible take part, which makes vectors wide; the
    /// others store nothing that these do not.
    fn storer(&self, layout: &Layout) -> Option<Val<'c>> {
        self.where_zero(layout.free_threads())
    }

    fn where_zero(&self, bits: InputMasks) -> Option<Val<'c>> {
        let zero = |v: Val<'c>, mask: u32| {
            (mask != 0).then(|| {
                let bits = self.l.bin("and", v, self.l.i32c(mask.into()));
                self.l.icmp(Cmp::Eq, bits, self.l.i32c(0))
            })
        };
        self.both(zero(self.lane, bits.lane as u32), zero(self.warp, bits.warp as u32))
    }

    //===-- instructions ----------------------------------------------------===//

    /// Words that `count` elements of `element` travel in.
    pub(super) fn words(&self, element: Type<'c>, count: u64) -> Words<'c> {
        let l = &self.l;
        let bits = u64::from(storage_bits(element)) * count;
        let (ty, width, class) = match bits {
            8 => (l.i8, 8, 'h'),
            16 => (l.i16, 16, 'h'),
            _ if storage_bits(element) == 64 => (l.i64, 64, 'l'),
            _ => (l.i32, 32, 'r'),
        };
        Words { count: bits / width, ty, bits: width, class }
    }

    fn read(
        &self,
        address: Val<'c>,
        element: Type<'c>,
        count: u64,
        mask: Option<Val<'c>>,
        fill: Fill<'c>,
        qualifier: &str,
    ) -> Vec<Val<'c>> {
        let l = &self.l;
        let words = self.words(element, count);
        let bytes = words.count * words.bits / 8;
        let loaded = if mask.is_none() && qualifier.is_empty() {
            let t = if words.count == 1 { words.ty } else { l.vector(words.count, words.ty) };
            let v = l.load(t, address, bytes);
            if words.count == 1 {
                vec![v]
            } else {
                (0..words.count).map(|i| l.extract(v, words.ty, i as usize)).collect()
            }
        } else {
            self.predicated_read(address, words, mask, &self.fill_words(element, words, count, fill), qualifier)
        };
        self.unpack_words(element, words, &loaded, count)
    }

    /// Stores neighbours at `address`, in program order only.
    pub(super) fn write_plain(&self, address: Val<'c>, element: Type<'c>, values: &[Val<'c>]) {
        self.write(address, element, values, None, "");
    }

    /// Neighbours at `address`, in program order only.
    pub(super) fn read_plain(&self, address: Val<'c>, element: Type<'c>, count: u64) -> Vec<Val<'c>> {
        self.read(address, element, count, None, Fill::Values(vec![]), "")
    }

    fn predicated_read(
        &self,
        address: Val<'c>,
        words: Words<'c>,
        mask: Option<Val<'c>>,
        fill: &[Val<'c>],
        qualifier: &str,
    ) -> Vec<Val<'c>> {
        let l = &self.l;
        let n = words.count as usize;
        // 8-bit words travel in 16-bit registers.
        let carrier = if words.bits == 8 { l.i16 } else { words.ty };
        let guard = if mask.is_some() { format!("@${} ", n + 1) } else { String::new() };
        let list: Vec<String> = (0..n).map(|i| format!("${i}")).collect();
        let (vector, operands) = if n == 1 {
            (String::new(), list[0].clone())
        } else {
            (format!(".v{n}"), format!("{{{}}}", list.join(", ")))
        };
        let text = format!("{guard}ld{qualifier}.global{vector}.b{} {operands}, [${n}];", words.bits);
        let mut constraints = vec![format!("={}", words.class); n];
        constraints.push("l".into());
        let mut args = vec![address];
        if let Some(m) = mask {
            constraints.push("b".into());
            args.push(m);
            for (i, f) in fill.iter().enumerate() {
                constraints.push(i.to_string());
                args.push(l.cast("zext", *f, carrier));
            }
        }
        let result = if n == 1 { carrier } else { l.structure(&vec![carrier; n]) };
        let v = l.asm(&text, &constraints.join(","), Some(result), &args, false).expect("asm with a result");
        let fields: Vec<Val<'c>> =
            if n == 1 { vec![v] } else { (0..n).map(|i| l.field(v, carrier, i as i64)).collect() };
        fields.into_iter().map(|f| l.cast("trunc", f, words.ty)).collect()
    }

    fn write(&self, address: Val<'c>, element: Type<'c>, values: &[Val<'c>], mask: Option<Val<'c>>, qualifier: &str) {
        let l = &self.l;
        let words = self.words(element, values.len() as u64);
        let bytes = words.count * words.bits / 8;
        let out = self.pack_words(element, words, values);
        if mask.is_none() && qualifier.is_empty() {
            let v = if out.len() == 1 {
                out[0]
            } else {
                let empty = l.poison(l.vector(words.count, words.ty));
                out.iter().enumerate().fold(empty, |vector, (i, w)| l.insert(vector, *w, i))
            };
            l.store(v, address, bytes);
            return;
        }
        let n = out.len();
        let carrier = if words.bits == 8 { l.i16 } else { words.ty };
        let first = 1 + usize::from(mask.is_some());
        let guard = if mask.is_some() { "@$1 " } else { "" };
        let list: Vec<String> = (0..n).map(|i| format!("${}", first + i)).collect();
        let (vector, operands) = if n == 1 {
            (String::new(), list[0].clone())
        } else {
            (format!(".v{n}"), format!("{{{}}}", list.join(", ")))
        };
        let text = format!("{guard}st{qualifier}.global{vector}.b{} [$0], {operands};", words.bits);
        let mut constraints = vec!["l".to_string()];
        let mut args = vec![address];
        if let Some(m) = mask {
            constraints.push("b".into());
            args.push(m);
        }
        for w in out {
            constraints.push(words.class.to_string());
            args.push(l.cast("zext", w, carrier));
        }
        l.asm(&text, &constraints.join(","), None, &args, false);
    }

    /// Elements out of words.
    pub(super) fn unpack_words(
        &self,
        element: Type<'c>,
        words: Words<'c>,
        loaded: &[Val<'c>],
        count: u64,
    ) -> Vec<Val<'c>> {
        let l = &self.l;
        let to = super::element_type(l.context(), element).expect("checked with the tensor");
        let memory = self.memory_type(element);
        let per_word = count / words.count;
        loaded
            .iter()
            .flat_map(|&w| -> Vec<Val<'c>> {
                if per_word == 1 {
                    return vec![self.register_form(self.reinterpret(w, memory), to)];
                }
                let vector = l.cast("bitcast", w, l.vector(per_word, memory));
                (0..per_word)
                    .map(|i| {
                        let element = l.extract(vector, memory, i as usize);
                        self.note_origin(element, w, i as u32);
                        self.register_form(element, to)
                    })
                    .collect()
            })
            .collect()
    }

    pub(super) fn pack_words(&self, element: Type<'c>, words: Words<'c>, values: &[Val<'c>]) -> Vec<Val<'c>> {
        let l = &self.l;
        let memory = self.memory_type(element);
        let per_word = values.len() / words.count as usize;
        values
            .chunks(per_word)
            .map(|chunk| {
                let elements: Vec<Val<'c>> = chunk.iter().map(|v| self.memory_form(*v, memory)).collect();
                if per_word == 1 {
                    return self.reinterpret(elements[0], words.ty);
                }
                if let Some(word) = self.common_word(&elements, words.ty) {
                    return word;
                }
                let empty = l.poison(l.vector(per_word as u64, memory));
                let vector = elements.iter().enumerate().fold(empty, |vector, (i, e)| l.insert(vector, *e, i));
                l.cast("bitcast", vector, words.ty)
            })
            .collect()
    }

    /// Type of an element in memory: that of its register, but a byte for integers below eight bits.
    fn memory_type(&self, element: Type<'c>) -> Type<'c> {
        let to = super::element_type(self.l.context(), element).expect("checked with the tensor");
        if self.is_narrow_int(to) { self.l.i8 } else { to }
    }
    fn register_form(&self, v: Val<'c>, to: Type<'c>) -> Val<'c> {
        match to {
            // Any non-zero byte is true.
            _ if to == self.l.i1 => self.l.icmp_raw(1, v, self.l.int(self.l.i8, 0)),
            _ if self.is_narrow_int(to) => self.l.cast("trunc", v, to),
            _ => v,
        }
    }
    fn memory_form(&self, v: Val<'c>, memory: Type<'c>) -> Val<'c> {
        if self.is_narrow_int(ty(v)) { self.l.cast("zext", v, memory) } else { v }
    }
    pub(super) fn is_narrow_int(&self, t: Type<'c>) -> bool {
        // SAFETY: the type is alive.
        unsafe { mlir_sys::mlirTypeIsAInteger(t.to_raw()) && mlir_sys::mlirIntegerTypeGetWidth(t.to_raw()) < 8 }
    }
    /// Same bits in another type of the same width.
    pub(super) fn reinterpret(&self, v: Val<'c>, to: Type<'c>) -> Val<'c> {
        let l = &self.l;
        let is_pointer = |t: Type<'c>| {
            // SAFETY: the type is alive.
            unsafe { mlir_sys::mlirTypeIsALLVMPointerType(t.to_raw()) }
        };
        match () {
            _ if ty(v) == to => v,
            _ if is_pointer(to) => l.cast("inttoptr", v, to),
            _ if is_pointer(ty(v)) => l.cast("ptrtoint", v, to),
            _ => l.cast("bitcast", v, to),
        }
    }

    fn fill_words(&self, element: Type<'c>, words: Words<'c>, count: u64, fill: Fill<'c>) -> Vec<Val<'c>> {
        match fill {
            Fill::Value(v) => self.pack_words(element, words, &vec![v; count as usize]),
            Fill::Values(list) => self.pack_words(element, words, &list),
        }
    }

    /// Value of elements outside a view; zero when any will do.
    fn padding(&self, op: OpRef<'c>, element: Type<'c>, padding: Option<Padding>) -> Result<Fill<'c>, Failed> {
        let l = &self.l;
        let to = super::element_type(l.context(), element).ok_or_else(|| fail(op, "element has no LLVM form"))?;
        // SAFETY: the type is alive.
        let (is_float, is_pointer) =
            unsafe { (mlir_sys::mlirTypeIsAFloat(to.to_raw()), mlir_sys::mlirTypeIsALLVMPointerType(to.to_raw())) };
        let value = match padding.unwrap_or(Padding::Zero) {
            _ if is_pointer => l.b.value("llvm.mlir.zero", to, &[], &[]),
            Padding::Zero if is_float => l.float(to, 0.0),
            Padding::Zero => l.int(to, 0),
            special if is_float => l.float(
                to,
                match special {
                    Padding::NegZero => -0.0,
                    Padding::Nan => f64::NAN,
                    Padding::PosInf => f64::INFINITY,
                    _ => f64::NEG_INFINITY,
                },
            ),
            special => l.int(
                to,
                narrow_bits(element, special)
                    .ok_or_else(|| fail(op, format!("padding {} is not a value of {element}", special.keyword())))?,
            ),
        };
        Ok(Fill::Value(value))
    }

    /// How `instructions` loads or stores of a thread keep an order; weak accesses have none. The order of several is kept by
    /// one fence: it costs what that of each of them would.
    fn strength(
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
            self.l.asm(text, "~{memory}", None, &[], false);
        }
    }
}

/// The threads that an ordered access synchronises with, in PTX.
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

/// What masked lanes give.
#[derive(Clone)]
enum Fill<'c> {
    Value(Val<'c>),
    Values(Vec<Val<'c>>),
}

/// Bits of a special value in a format of eight bits or less; none where the format has no such value.
fn narrow_bits(element: Type<'_>, padding: Padding) -> Option<i64> {
    // SAFETY: the type is alive.
    let (e4m3, e5m2) = unsafe {
        (mlir_sys::mlirTypeIsAFloat8E4M3FN(element.to_raw()), mlir_sys::mlirTypeIsAFloat8E5M2(element.to_raw()))
    };
    match padding {
        Padding::Zero => Some(0),
        Padding::NegZero if e4m3 || e5m2 => Some(0x80),
        Padding::Nan if e4m3 => Some(0x7f),
        Padding::Nan if e5m2 => Some(0x7e),
        Padding::PosInf if e5m2 => Some(0x7c),
        Padding::NegInf if e5m2 => Some(0xfc),
        _ => None,
    }
}

pub(super) fn pointee<'c>(ptr: Val<'c>) -> Type<'c> {
    let element = Tensor::of_value(ptr).map_or(ty(ptr), |t| t.element);
    crate::dialect::nv_tileaa::PtrType::cast(element).map_or(element, |p| p.pointee())
}
