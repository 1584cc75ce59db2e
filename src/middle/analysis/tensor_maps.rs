//! Tensor maps of views: whether TMA can copy a tile, and the type of the map.
//!
//! The algebra plans a copy from known properties of the view ([`plan_tensor_copy`]). This module proves them from
//! types and [`Facts`]. A copy is impossible if a property is not proved, with two exceptions. The code that builds
//! the map handles extents of zero and of 2^31 or more. The address and the strides of the view can be tested at run
//! time ([`Planned`]).

use super::{
    access::{Place, View, places, tiled_access},
    facts::{Facts, TOP},
};
use crate::dialect::{
    layouts::{f32_beside, memory_bits, storage_bits, tf32_beside},
    nv_tileaa::{Ordering, Padding, PtrType, TiledViewType},
    nv_tileas::{MemDescType, MemorySpace, TiledLoadOp, TmaDescType, TmaFill},
    rt::*,
    shared_memory::shared_layout,
    types,
};
use melior::ir::{Location, Type};
use tile_layout::{
    Condition, Direction, GlobalView, HardwareSwizzle, Known, MAP_UNIT, Outside, Pairs, Shape, TensorCopyPlan,
    TensorElement, TensorMapPlan, TileCopy, TileDim, ViewDim, plan_tensor_copy,
};

/// A copy, with the properties of its view that are not proved.
pub struct Planned {
    pub plan: TensorCopyPlan,
    /// The unproved properties of address and strides, which `tma_ready` tests.
    pub unproved: Vec<String>,
}

impl Planned {
    /// Returns the copy if it needs no test.
    fn proved(self) -> Result<TensorCopyPlan, String> {
        if self.unproved.is_empty() { Ok(self.plan) } else { Err(self.unproved.join(", and ")) }
    }
}

/// Returns the map with which TMA can copy `load` to `dest` and the number of bytes that arrive, or the reason
/// against it.
pub fn plan<'c>(load: TiledLoadOp<'c>, dest: MemDescType<'c>, facts: &Facts) -> Result<(TmaDescType<'c>, u32), String> {
    with_map(load, dest, facts, Planned::proved)
}

/// The same, provided that `tma_ready` holds for the view.
pub fn plan_if_ready<'c>(
    load: TiledLoadOp<'c>,
    dest: MemDescType<'c>,
    facts: &Facts,
) -> Result<(TmaDescType<'c>, u32), String> {
    with_map(load, dest, facts, |planned| Ok(planned.plan))
}

fn with_map<'c>(
    load: TiledLoadOp<'c>,
    dest: MemDescType<'c>,
    facts: &Facts,
    proof: impl FnOnce(Planned) -> Result<TensorCopyPlan, String>,
) -> Result<(TmaDescType<'c>, u32), String> {
    if load.ordering() != Ordering::Weak {
        return Err("the load is ordered with other accesses".into());
    }
    let view = View::of(load.view()).ok_or("the view is not created in this function")?;
    let indices: Vec<Val<'c>> = load.indices().collect();
    let plan = proof(plan_copy(&view, &indices, &places(load.op()), dest, facts)?)?;
    let desc = desc_type(load.op().location(), view.memref.element_type(), &plan.map);
    Ok((desc.ok_or("the map type is invalid")?, plan.bytes))
}

/// A TMA store.
pub struct PlannedStore<'c> {
    pub map: TmaDescType<'c>,
    /// An extent that must be a multiple of this number of elements, if that is not proved.
    pub whole: Option<(Val<'c>, u64)>,
}

/// Returns the map with which TMA can copy the tile of `view` at `indices` from `source`, or the reason against it.
/// `store` is the store of the tile, which no other access is ordered with.
///
/// Along the contiguous dimension, stores write units of 16 bytes. If the extent cut a unit, the rest of the unit
/// would be written too; H200s do that for rows of 62 16-bit elements with a stride of 64.
pub fn plan_store<'c>(
    store: OpRef<'c>,
    (view, indices): (&View<'c>, &[Val<'c>]),
    source: MemDescType<'c>,
    facts: &Facts,
) -> Result<PlannedStore<'c>, String> {
    let plan = plan_moving(view, indices, source, facts, (Direction::Store, Outside::Anything))?.proved()?;
    if plan.map.element_strides.iter().any(|&step| step != 1) {
        return Err("its elements are not contiguous".into());
    }
    let map = desc_type(store.location(), view.memref.element_type(), &plan.map).ok_or("the map type is invalid")?;
    let dim = plan.map.dims[0];
    let access = tiled_access(facts, view, indices, &places(store));
    let is_inside = view.ty.dim_map().iter().zip(&access.in_bounds).any(|(&d, &inside)| d as usize == dim && inside);
    let unit = MAP_UNIT >> plan.map.element.log2_bytes();
    let whole = match view.extent(dim) {
        _ if is_inside => None,
        Ok(extent) if (extent as u64).is_multiple_of(unit) => None,
        Ok(extent) => return Err(format!("a store writes {unit} elements at a time, but rows have {extent}")),
        Err(v) => Some((v, unit)).filter(|_| !facts.get(v).scalar_divisor().is_multiple_of(unit)),
    };
    Ok(PlannedStore { map, whole })
}

/// Plans the copy of the tile of `view` at `indices` to `dest`, or returns the reason against it. `places` are those
/// of [`tiled_access`].
pub fn plan_copy<'c>(
    view: &View<'c>,
    indices: &[Val<'c>],
    places: &[Place],
    dest: MemDescType<'c>,
    facts: &Facts,
) -> Result<Planned, String> {
    let access = tiled_access(facts, view, indices, places);
    let outside = match view.ty.padding() {
        _ if access.in_bounds.iter().all(|&inside| inside) => Outside::Anything,
        None => Outside::Anything,
        Some(Padding::Zero) => Outside::Zero,
        Some(Padding::Nan) => Outside::Nan,
        Some(_) => Outside::Other,
    };
    plan_moving(view, indices, dest, facts, (Direction::Load, outside))
}

/// Plans the copy of the tile of `view` at `indices` from or to `storage`, or returns the reason against it.
fn plan_moving<'c>(
    view: &View<'c>,
    indices: &[Val<'c>],
    storage: MemDescType<'c>,
    facts: &Facts,
    how: (Direction, Outside),
) -> Result<Planned, String> {
    let known = |x: Result<i64, Val<'c>>| match x {
        Ok(constant) => Known::Constant(constant as u64),
        Err(v) => Known::Multiple(facts.get(v).scalar_divisor()),
    };
    let rank = view.memref.shape().len();
    let dims = (0..rank).map(|d| ViewDim { extent: known(view.extent(d)), stride: known(view.stride(d)) }).collect();
    let alignment = facts.get(view.make.base()).scalar_divisor();
    let origins = indices.iter().zip(view.ty.steps()).map(|(&index, step)| {
        let multiple = facts.get(index).scalar_divisor().saturating_mul(1 << step.trailing_zeros().min(62));
        Known::Multiple(multiple.min(TOP))
    });
    let plan = plan_with(view.ty, alignment, dims, &origins.collect::<Vec<_>>(), storage, how)?;
    let all = |of_elements: bool| -> Vec<String> {
        let alike = plan.conditions.iter().filter(|c| matches!(c, Condition::UnitStride { .. }) == of_elements);
        alike.filter_map(|condition| unproved(view, facts, condition)).collect()
    };
    // The plan of the fallback by threads depends on the contiguous dimension too, so no run-time test can replace
    // that proof.
    match all(true) {
        of_elements if of_elements.is_empty() => Ok(Planned { unproved: all(false), plan }),
        of_elements => Err([of_elements, all(false)].concat().join(", and ")),
    }
}

/// Returns the boxes that copy a tile of a view to or from `dest` by a map of type `desc`, or an error if the map
/// does not fit the storage.
pub fn boxes(view: TiledViewType<'_>, desc: TmaDescType<'_>, dest: MemDescType<'_>) -> Result<TensorCopyPlan, String> {
    let map = map_of(desc).ok_or("tensor maps do not support the elements")?;
    let any = Known::Multiple(TOP);
    let rank = view.tile().len();
    let outside = if map.nan { Outside::Nan } else { Outside::Zero };
    let dims = vec![ViewDim { extent: any, stride: any }; rank];
    let plan = plan_with(view, TOP, dims, &vec![any; rank], dest, (Direction::Load, outside))?;
    if plan.map != map {
        return Err(format!("the destination needs boxes {:?}, but the map has {:?}", plan.map, map));
    }
    Ok(plan)
}

/// Plans the copy of a tile that starts at the element coordinates `origins`.
fn plan_with(
    view: TiledViewType<'_>,
    alignment: u64,
    dims: Vec<ViewDim>,
    origins: &[Known],
    dest: MemDescType<'_>,
    (direction, outside): (Direction, Outside),
) -> Result<TensorCopyPlan, String> {
    if let Some(dim) = view.sparse_dim() {
        return Err(format!("dimension {dim} of the tile is indexed by a tensor"));
    }
    if dest.space() != MemorySpace::Shared {
        return Err("the destination is not in shared memory".into());
    }
    let memref = crate::dialect::nv_tileaa::StridedMemRefType::cast(view.memref()).ok_or("the view has no memref")?;
    let element = copied_element(memref.element_type(), dest.element_type())
        .ok_or_else(|| format!("tensor maps do not support elements of type {}", memref.element_type()))?;
    let mut shape = Shape::new(view.tile()).map_err(|e| e.to_string())?;
    let mut shared = shared_layout(dest).ok_or("the destination's layout is invalid")?;
    let (mut dims, mut origins) = (dims, origins.to_vec());
    if dest.packed() {
        let pairs = Pairs::of(&shape, &shared).map_err(|e| e.to_string())?;
        let of_view = view.dim_map()[pairs.dim] as usize;
        in_pairs(&mut dims, of_view)?;
        origins[pairs.dim] = half(origins[pairs.dim]).ok_or("a tile may start with the second element of a byte")?;
        (shape, shared) = (pairs.shape, pairs.shared);
    } else if memory_bits(memref.element_type()) < 8 {
        return Err(format!("tensor maps do not spread elements of type {}", memref.element_type()));
    }
    let tile_dims: Vec<TileDim> = (view.dim_map().iter().zip(&origins))
        .map(|(&dim, &origin)| TileDim { view: dim as usize, step: 1, origin })
        .collect();
    let tile = TileCopy { shape: &shape, dims: &tile_dims, shared: &shared, direction, outside, nonnegative: true };
    let plan = plan_tensor_copy(&GlobalView { element, alignment, dims }, &tile).map_err(|e| e.to_string())?;
    let (needed, given) = (i64::from(plan.alignment), dest.alignment());
    if given % needed != 0 {
        return Err(format!("the destination is aligned to {given} bytes, but its swizzle needs {needed}"));
    }
    Ok(plan)
}

/// Counts pairs of packed elements, which are neighbors along dimension `fast` of a view.
fn in_pairs(dims: &mut [ViewDim], fast: usize) -> Result<(), String> {
    for (d, dim) in dims.iter_mut().enumerate() {
        let odd = |what: &str| format!("{what} of dimension {d} may be an odd number of elements of 4 bits");
        if d == fast {
            dim.extent = half(dim.extent).ok_or_else(|| odd("the extent"))?;
        } else {
            dim.stride = half(dim.stride).ok_or_else(|| odd("the stride"))?;
        }
    }
    Ok(())
}

/// Half of a number, if it is even.
fn half(number: Known) -> Option<Known> {
    match number {
        Known::Constant(number) => (number % 2 == 0).then_some(Known::Constant(number / 2)),
        Known::Multiple(divisor) => (divisor % 2 == 0).then_some(Known::Multiple(divisor / 2)),
    }
}

/// Returns the reason why a condition is not proved, if it is not.
fn unproved<'c>(view: &View<'c>, facts: &Facts, condition: &Condition) -> Option<String> {
    match *condition {
        Condition::Base => Some("the base address is not known to be a multiple of 16 bytes".into()),
        Condition::UnitStride { dim } => Some(format!("the stride of dimension {dim} is not known to be 1")),
        Condition::Stride { dim, multiple } => {
            Some(format!("the stride of dimension {dim} is not known to be a multiple of {multiple} elements"))
        }
        Condition::StrideBelow { dim, limit } => {
            let Err(v) = view.stride(dim) else { return None };
            let below = match facts.get(v).range {
                Some((low, high)) if low >= 0 => (high as u64) < limit,
                _ => false,
            };
            // Strides are unsigned, and strides of at most 32 bits are always below the limit.
            let proved = below || int_width(ty(v)).is_some_and(|width| width <= 32);
            (!proved).then(|| format!("the stride of dimension {dim} is not known to be less than {limit} elements"))
        }
        Condition::Extent { .. } => None,
    }
}

/// Returns the type of a map of a view with elements of `of_view`.
pub fn desc_type<'c>(location: Location<'c>, of_view: Type<'c>, map: &TensorMapPlan) -> Option<TmaDescType<'c>> {
    let element = match map.element {
        TensorElement::Tf32 => tf32_beside(of_view),
        TensorElement::F32 => f32_beside(of_view),
        _ => of_view,
    };
    let dims: Vec<i64> = map.dims.iter().map(|&d| d as i64).collect();
    let wide = |list: &[u32]| list.iter().map(|&x| i64::from(x)).collect::<Vec<_>>();
    let (extents, steps) = (wide(&map.box_dims), wide(&map.element_strides));
    let fill = if map.nan { TmaFill::Nan } else { TmaFill::Zero };
    let (span, unit) = (i64::from(map.swizzle.span()), i64::from(map.swizzle.unit()));
    TmaDescType::get(location, element, &dims, &extents, &steps, span, unit, fill)
}

/// Returns the map that a type describes, or `None` for elements that maps do not support.
pub fn map_of(desc: TmaDescType<'_>) -> Option<TensorMapPlan> {
    let narrow = |list: &[i64]| list.iter().map(|&x| x as u32).collect();
    Some(TensorMapPlan {
        element: element_of(desc.element_type())?,
        dims: desc.dims().iter().map(|&d| d as usize).collect(),
        box_dims: narrow(desc.r#box()),
        element_strides: narrow(desc.steps()),
        swizzle: HardwareSwizzle::ALL
            .into_iter()
            .find(|s| (i64::from(s.span()), i64::from(s.unit())) == (desc.swizzle(), desc.unit()))?,
        nan: desc.fill() == TmaFill::Nan,
    })
}

/// Returns the element of a map that copies elements of a view to storage.
fn copied_element(of_view: Type<'_>, stored: Type<'_>) -> Option<TensorElement> {
    let element = element_of(of_view)?;
    Some(match (element, element_of(stored)) {
        // tf32 elements in memory are copied unchanged.
        (TensorElement::Tf32, _) => TensorElement::F32,
        (TensorElement::F32, Some(TensorElement::Tf32)) => TensorElement::Tf32,
        _ => element,
    })
}

/// Returns the map element for an element type: of packed elements, a pair.
fn element_of(element: Type<'_>) -> Option<TensorElement> {
    if PtrType::cast(element).is_some() {
        return None;
    }
    let (is_float, is_bf16) = (types::is_float(element), types::is_bf16(element));
    match storage_bits(element) {
        8 => Some(TensorElement::U8),
        16 if is_bf16 => Some(TensorElement::Bf16),
        16 => Some(if is_float { TensorElement::F16 } else { TensorElement::U16 }),
        32 if element == tf32_beside(element) => Some(TensorElement::Tf32),
        32 => Some(if is_float { TensorElement::F32 } else { TensorElement::U32 }),
        64 => Some(if is_float { TensorElement::F64 } else { TensorElement::U64 }),
        _ => None,
    }
}

/// Returns the width of an integer type.
fn int_width(t: Type<'_>) -> Option<u32> {
    types::is_integer(t).then(|| types::integer_width(t))
}
