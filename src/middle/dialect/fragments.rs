//! Fragments of calls of library functions, as numbers.
//!
//! A mode is a list of extents and strides; a coordinate counts through the extents, the first one fastest, and adds
//! the strides. The map of a fragment has three modes. Participant `p` of invocation `i` finds element `j` of its
//! fragment at the column-major number `invocation(i) + participant(p) + footprint(j)` of the tile.

use super::{cuda_tile as ct, ffi, rt::*};
use melior::ir::{Attribute, AttributeLike};
use mlir_sys::*;

/// Extents and strides, the fastest first.
pub type Mode = Vec<(i64, i64)>;

/// A fragment without symbols.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fragment {
    pub shared: bool,
    pub invocation: Mode,
    pub participant: Mode,
    pub footprint: Mode,
    /// Offsets of the elements of the footprint.
    pub memory: Mode,
    /// In elements.
    pub alignment: i64,
}

/// The number of coordinates of a mode.
pub fn size(mode: &Mode) -> i64 {
    mode.iter().map(|(extent, _)| extent).product()
}

/// The number that a mode maps a coordinate to.
pub fn apply(mode: &Mode, mut coordinate: i64) -> i64 {
    let mut sum = 0;
    for (extent, stride) in mode {
        sum += coordinate % extent * stride;
        coordinate /= extent;
    }
    sum
}

/// The numbers that the bits of a coordinate of a mode add; `None` if an extent is not a power of two.
fn bits(mode: &Mode) -> Option<Vec<i64>> {
    let mut list = vec![];
    for (extent, stride) in mode {
        let extent = u64::try_from(*extent).ok().filter(|e| e.is_power_of_two())?;
        list.extend((0..extent.ilog2()).map(|bit| stride << bit));
    }
    Some(list)
}

/// Accesses of parameters.
pub const IN: i32 = 0;
pub const OUT: i32 = 1;

impl Fragment {
    /// Whether a call with this access needs another storage for the result. Several threads hold an element. All of
    /// them read it before their call, and the first one writes the result after its own.
    pub fn needs_result(&self, access: i32) -> bool {
        let is_shared_by_threads = self.invocation.iter().chain(&self.participant).any(|(e, s)| *e > 1 && *s == 0);
        !self.shared && access != IN && access != OUT && is_shared_by_threads
    }

    /// The fragments of a call, from an array of types; `None` if one has symbols.
    pub fn list(types: Attribute<'_>) -> Option<Vec<Fragment>> {
        elements(types)?.into_iter().map(|a| Fragment::of(ct::FragmentType::cast(held_type(a))?)).collect()
    }

    fn of(t: ct::FragmentType<'_>) -> Option<Fragment> {
        let map = modes(t.fragmap()?)?;
        let [invocation, participant, footprint] = <[Mode; 3]>::try_from(map).ok()?;
        let memory = modes(t.mem_layout()?)?.concat();
        let alignment = integer(t.alignment()?)?;
        let shared = t.space() == ct::PreviewSpace::Shared;
        Some(Fragment { shared, invocation, participant, footprint, memory, alignment })
    }

    /// The column-major number of the element at each offset that is a power of two, in a fragment in shared memory of
    /// this many elements. `None` if the map or the memory layout is not linear in the bits.
    pub fn shared_numbers(&self, elements: i64) -> Option<Vec<i64>> {
        let (numbers, offsets) = (bits(&self.footprint)?, bits(&self.memory)?);
        let find = |offset: i64| offsets.iter().position(|o| *o == offset);
        let count = u64::try_from(elements).ok().filter(|n| n.is_power_of_two())?.ilog2();
        if numbers.len() != count as usize || offsets.len() != count as usize {
            return None;
        }
        let found = (0..count).map(|bit| find(1 << bit).map(|k| numbers[k])).collect::<Option<Vec<i64>>>()?;
        found.iter().all(|n| (*n as u64).is_power_of_two()).then_some(found)
    }
}

fn elements<'c>(array: Attribute<'c>) -> Option<Vec<Attribute<'c>>> {
    // SAFETY: the attribute is alive, and elements are read from arrays only.
    unsafe {
        mlirAttributeIsAArray(array.to_raw()).then(|| {
            let n = mlirArrayAttrGetNumElements(array.to_raw());
            (0..n).map(|i| Attribute::from_raw(mlirArrayAttrGetElement(array.to_raw(), i))).collect()
        })
    }
}

fn integer(a: Attribute<'_>) -> Option<i64> {
    Some(ct::ExprIntAttr::cast(a)?.value())
}

/// The modes of a layout with numbers.
fn modes(layout: Attribute<'_>) -> Option<Vec<Mode>> {
    let layout = ct::LayoutAttr::cast(layout)?;
    let tuple = |a: Attribute<'_>| -> Option<MlirAttribute> { ct::ExprTupleAttr::cast(a).map(|_| a.to_raw()) };
    let (shapes, strides) = (layout.shapes()?, layout.strides()?);
    tuple(shapes)?;
    tuple(strides)?;
    let (shapes, strides) = (tuple_elements(shapes)?, tuple_elements(strides)?);
    shapes.into_iter().zip(strides).map(|(e, s)| leaves(e, s)).collect()
}

fn tuple_elements<'c>(tuple: Attribute<'c>) -> Option<Vec<Attribute<'c>>> {
    ct::ExprTupleAttr::cast(tuple)?;
    // SAFETY: the attribute is alive and a tuple.
    let array = unsafe { Attribute::from_raw(ffi::tileir_cuda_tile_ExprTupleAttr_elements(tuple.to_raw())) };
    elements(array)
}

fn leaves(extent: Attribute<'_>, stride: Attribute<'_>) -> Option<Mode> {
    if let (Some(extent), Some(stride)) = (integer(extent), integer(stride)) {
        return Some(vec![(extent, stride)]);
    }
    let parts = tuple_elements(extent)?.into_iter().zip(tuple_elements(stride)?);
    parts.map(|(e, s)| leaves(e, s)).collect::<Option<Vec<Mode>>>().map(|parts| parts.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_count_the_first_extent_fastest() {
        let nested = vec![(8, 16), (4, 4)];
        assert_eq!((0..10).map(|p| apply(&nested, p)).collect::<Vec<_>>(), [0, 16, 32, 48, 64, 80, 96, 112, 4, 20]);
        assert_eq!(size(&nested), 32);
    }

    #[test]
    fn linear_fragments_in_shared_memory() {
        let fragment = |footprint: Mode, memory: Mode| Fragment {
            shared: true,
            invocation: vec![(1, 0)],
            participant: vec![(128, 0)],
            footprint,
            memory,
            alignment: 1,
        };
        // A row-major copy of an 8x16 tile.
        let rows = fragment(vec![(8, 1), (16, 8)], vec![(8, 16), (16, 1)]);
        assert_eq!(rows.shared_numbers(128), Some(vec![8, 16, 32, 64, 1, 2, 4]));
        assert_eq!(fragment(vec![(128, 1)], vec![(128, 1)]).shared_numbers(128), Some(vec![1, 2, 4, 8, 16, 32, 64]));
        assert_eq!(fragment(vec![(96, 1)], vec![(96, 1)]).shared_numbers(96), None);
        assert_eq!(fragment(vec![(4, 0), (2, 1)], vec![(8, 1)]).shared_numbers(8), None);
    }
}
