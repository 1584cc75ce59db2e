//! TMA loads and stores: the boxes of a plan, executed by the simulator's copy engine, move every element of the tile
//! to its position in the shared-memory layout, and back.

use std::collections::HashSet;
use std::fmt::Write as _;

use proptest::prelude::*;
use ptx_sim::units::{Coordinates, ElementType, Fill, TensorMap, TileParams, TmaError};
use ptx_sim::{Arg, Config, Device, LaunchConfig, Module, RunOptions};
use tile_layout::*;

/// An array in memory. The test knows its strides; the plan does not.
#[derive(Debug, Clone)]
struct Array {
    element: TensorElement,
    /// Slowest dimension first, as in views.
    extents: Vec<u64>,
    /// In elements.
    strides: Vec<u64>,
}

impl Array {
    /// Row-major. Rows are padded to 16 bytes, plus another 16 bytes if `gap` is set.
    fn new(element: TensorElement, extents: &[u64], gap: bool) -> Self {
        let unit = 16 >> element.log2_bytes();
        let mut strides = vec![1; extents.len()];
        for d in (0..extents.len() - 1).rev() {
            strides[d] = (strides[d + 1] * extents[d + 1]).next_multiple_of(unit) + if gap { unit } else { 0 };
        }
        Self { element, extents: extents.to_vec(), strides }
    }

    fn view(&self, constant: bool) -> GlobalView {
        let unit = 16 >> self.element.log2_bytes();
        let dims = self.extents.iter().zip(&self.strides).map(|(&extent, &stride)| match (constant, stride) {
            (true, _) | (_, 1) => ViewDim { extent: Known::Constant(extent), stride: Known::Constant(stride) },
            _ => ViewDim { extent: Known::Multiple(1), stride: Known::Multiple(unit) },
        });
        GlobalView { element: self.element, alignment: 16, dims: dims.collect() }
    }

    fn map(&self, plan: &TensorMapPlan, address: u64) -> TensorMap {
        let of = |values: &[u64], bytes: u64| plan.dims.iter().map(|&d| values[d] * bytes).collect::<Vec<_>>();
        let element = ElementType::from_code(plan.element.code()).expect("a code of the instruction set");
        TensorMap::tiled(&TileParams {
            element,
            address,
            dims: &of(&self.extents, 1),
            strides: &of(&self.strides, 1 << self.element.log2_bytes())[1..],
            box_dims: &plan.box_dims,
            element_strides: &plan.element_strides,
            interleave: 0,
            // The codes of `CUtensorMapSwizzle`.
            swizzle: plan.swizzle.tensor_map_code() + plan.swizzle.atomicity_code(),
            fill: if plan.nan { Fill::Nan } else { Fill::Zero },
        })
        .expect("a plan that the encoder takes")
    }

    fn elements(&self) -> u64 {
        self.extents.iter().zip(&self.strides).map(|(e, s)| (e - 1) * s).sum::<u64>() + 1
    }
}

/// The coordinates of a box in the map's order, for a tile with the first coordinates `origin` in the order of the
/// view.
fn coordinates(plan: &TensorCopyPlan, part: &TensorBox, origin: &[i64]) -> Vec<i32> {
    let at = plan.map.dims.iter().zip(&part.coordinates);
    at.map(|(&dim, &offset)| (origin[dim] + offset as i64) as i32).collect()
}

/// Checks one tile: a load, element by element, then a store into a second array.
fn check_tile(
    array: &Array,
    shape: &Shape,
    dims: &[TileDim],
    shared: &SharedLayout,
    origin: &[i64],
    nan: bool,
) -> usize {
    let size = 1usize << array.element.log2_bytes();
    let outside = if nan { Outside::Nan } else { Outside::Zero };
    let copy = |direction| TileCopy { shape, dims, shared, direction, outside, nonnegative: true };
    let plan =
        plan_tensor_copy(&array.view(true), &copy(Direction::Load)).unwrap_or_else(|e| panic!("{e}: {shared:?}"));
    assert!(plan.conditions.is_empty());
    assert_eq!(plan.bytes as u64, shape.elements() * size as u64);
    assert_eq!(plan.boxes.len() as u32 * plan.box_bytes, plan.bytes);
    let map = array.map(&plan.map, 1 << 20);
    let value = |i: u64| (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes()[..size].to_vec();
    let base = 3 * plan.alignment;
    let mut memory = vec![None; (base + plan.bytes) as usize];
    let mut total = 0;
    for part in &plan.boxes {
        let at = coordinates(&plan, part, origin);
        let read = |address: u64, buffer: &mut [u8]| {
            for (i, byte) in buffer.iter_mut().enumerate() {
                let offset = address - (1 << 20) + i as u64;
                *byte = value(offset / size as u64)[offset as usize % size];
            }
            Ok::<(), TmaError>(())
        };
        let write = |address: u32, bytes: &[u8]| {
            for (i, &byte) in bytes.iter().enumerate() {
                assert_eq!(memory[address as usize + i].replace(byte), None, "a byte is written twice");
            }
            Ok(())
        };
        total += map.load(&Coordinates::Tile(&at), base + part.offset as u32, read, write).unwrap();
    }
    assert_eq!(total, plan.bytes);
    let inside = |element: u64| {
        let point = shape.unflatten(element);
        let mut at = vec![0; dims.len()];
        for (dim, &x) in dims.iter().zip(&point) {
            at[dim.view] = origin[dim.view] + (x * u64::from(dim.step)) as i64;
        }
        let bounds = at.iter().zip(&array.extents).all(|(&x, &e)| (0..e as i64).contains(&x));
        bounds.then(|| at.iter().zip(&array.strides).map(|(&x, &s)| x as u64 * s).sum::<u64>())
    };
    for element in 0..shape.elements() {
        let at = base as usize + shared.offset(element) as usize * size;
        let found: Vec<u8> = memory[at..at + size].iter().map(|b| b.expect("every byte is written")).collect();
        match inside(element) {
            Some(index) => assert_eq!(found, value(index), "element {element} of {shape:?}"),
            None if nan => assert_eq!(found[..2], 0x7ff7u16.to_le_bytes()),
            None => assert!(found.iter().all(|&b| b == 0)),
        }
    }
    let plan = plan_tensor_copy(&array.view(true), &copy(Direction::Store)).unwrap();
    // A store writes units of 16 bytes, including the rest of a unit after the end of a row.
    let unit = (16 / size) as u64;
    let mut written = vec![None; (array.elements().next_multiple_of(unit)) as usize * size];
    for part in &plan.boxes {
        let at = coordinates(&plan, part, origin);
        let read = |address: u32, buffer: &mut [u8]| {
            for (i, byte) in buffer.iter_mut().enumerate() {
                *byte = memory[address as usize + i].unwrap_or(0);
            }
            Ok::<(), TmaError>(())
        };
        let write = |address: u64, bytes: &[u8]| {
            for (i, &byte) in bytes.iter().enumerate() {
                assert_eq!(written[(address - (1 << 20)) as usize + i].replace(byte), None);
            }
            Ok(())
        };
        map.store(&Coordinates::Tile(&at), base + part.offset as u32, read, write).unwrap();
    }
    let stored: HashSet<u64> = (0..shape.elements()).filter_map(inside).collect();
    for (i, bytes) in (0..).zip(written.chunks(size)).filter(|(_, bytes)| bytes[0].is_some()) {
        let bytes: Vec<u8> = bytes.iter().flatten().copied().collect();
        if stored.contains(&i) {
            assert_eq!(bytes, value(i));
        } else {
            let begin = i - i % unit;
            assert!((begin..i).any(|before| stored.contains(&before)), "element {i} is not in a unit of a row");
        }
    }
    assert!(stored.iter().all(|&i| written[i as usize * size].is_some()));
    plan.boxes.len()
}

const ELEMENTS: [TensorElement; 8] = [
    TensorElement::U8,
    TensorElement::U16,
    TensorElement::U32,
    TensorElement::U64,
    TensorElement::F16,
    TensorElement::Bf16,
    TensorElement::F32,
    TensorElement::F64,
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Hardware layouts with a random order of atoms, in views of up to five dimensions, including tiles that leave
    /// them.
    #[test]
    fn arrangements(
        element in 0usize..8,
        swizzle in 0usize..5,
        (extra, lines, others) in (0u32..3, 3u32..6, proptest::collection::vec(0u32..2, 0..4)),
        (order, shift) in (any::<u64>(), proptest::collection::vec(0i64..3, 5)),
        (gap, nan, transposed) in (any::<bool>(), any::<bool>(), any::<bool>()),
        steps in proptest::collection::vec(1u32..4, 5),
    ) {
        let (element, swizzle) = (ELEMENTS[element], HardwareSwizzle::ALL[swizzle]);
        let lines_of_atom = (swizzle.atom_bytes() / swizzle.span()).ilog2();
        let inner = swizzle.span().ilog2() - element.log2_bytes() + extra;
        let rank = others.len() + 2;
        let mut log2: Vec<u32> = others.clone();
        let (contiguous, line_dim) = if transposed { (rank - 2, rank - 1) } else { (rank - 1, rank - 2) };
        log2.extend(if transposed { [inner, lines] } else { [lines, inner] });
        let shape = Shape::from_log2(log2.clone()).unwrap();
        let mut atoms: Vec<usize> = std::iter::repeat_n(contiguous, extra as usize)
            .chain(std::iter::repeat_n(line_dim, lines as usize - lines_of_atom as usize))
            .chain(others.iter().enumerate().flat_map(|(d, &n)| std::iter::repeat_n(d, n as usize)))
            .collect();
        for i in 1..atoms.len() {
            atoms.swap(i, (order >> (4 * i) & 15) as usize % (i + 1));
        }
        let bits = 8 << element.log2_bytes();
        let layout = HardwareLayout::new(&shape, (contiguous, line_dim), bits, swizzle, atoms).unwrap();
        // The contiguous dimension of the tile is the last one of the view.
        let to_view = |d: usize| if transposed && d >= rank - 2 { 2 * rank - 3 - d } else { d };
        let mut dims = Vec::new();
        let mut extents = vec![0; rank];
        let mut origin = vec![0; rank];
        for d in 0..rank {
            let step = if d == contiguous { 1 } else { steps[d] };
            let (view, tile) = (to_view(d), 1u64 << log2[d]);
            // Up to two tiles before, and the last tile extends beyond the view by some elements.
            extents[view] = (2 * tile + 1) * u64::from(step);
            origin[view] = shift[d] * tile as i64 * i64::from(step);
            dims.push(TileDim { view, step, origin: Known::Multiple(tile) });
        }
        let array = Array::new(element, &extents, gap);
        let shared = layout.shared_layout().unwrap();
        let boxes = check_tile(&array, &shape, &dims, &shared, &origin, nan && element.is_float());
        // A box is at least an atom.
        prop_assert!(boxes as u64 * u64::from(swizzle.atom_bytes()) <= layout.bytes());
    }

    /// Plain storage in any order of dimensions that keeps the last one innermost.
    #[test]
    fn dense_tiles(
        element in 0usize..8,
        log2 in proptest::collection::vec(0u32..5, 0..4),
        inner in 4u32..10,
        swap in any::<u64>(),
    ) {
        let element = ELEMENTS[element];
        let shape = Shape::from_log2(log2.iter().copied().chain([inner]).collect()).unwrap();
        prop_assume!(shape.bits() + element.log2_bytes() <= 16);
        let rank = shape.rank();
        let mut order: Vec<usize> = (0..rank).rev().collect();
        for i in 2..rank {
            order.swap(i, 1 + (swap >> (8 * i)) as usize % i);
        }
        let shared = SharedLayout::strided(&shape, &order).unwrap();
        let extents: Vec<u64> = shape.extents().iter().map(|e| e + 3).collect();
        let dims: Vec<TileDim> =
            (0..rank).map(|view| TileDim { view, step: 1, origin: Known::Multiple(1 << shape.log2()[view]) }).collect();
        let boxes = check_tile(&Array::new(element, &extents, false), &shape, &dims, &shared, &vec![0; rank], false);
        // Rows of more than 256 elements are split: every piece is a separate box.
        prop_assert_eq!(boxes, if inner > 8 { 1 << (shape.bits() - 8) } else { 1 });
    }
}

fn rows(extents: &[i64], bits: u32) -> (Shape, SharedLayout, Vec<TileDim>) {
    let shape = Shape::new(extents).unwrap();
    let shared = HardwareLayout::panels(&shape, (1, 0), bits).unwrap().shared_layout().unwrap();
    let dims = (0..2).map(|view| TileDim { view, step: 1, origin: Known::Multiple(extents[view] as u64) }).collect();
    (shape, shared, dims)
}

/// A kernel that loads a tile with all its boxes on one mbarrier, and stores it elsewhere with the same boxes.
#[test]
fn kernel_of_boxes() {
    for (extents, array) in [([128, 128], [300, 136]), ([64, 256], [64, 512]), ([256, 32], [256, 40])] {
        let array = Array::new(TensorElement::Bf16, &array, false);
        let (shape, shared, dims) = rows(&extents, 16);
        let copy = |direction| TileCopy {
            shape: &shape,
            dims: &dims,
            shared: &shared,
            direction,
            outside: Outside::Zero,
            nonnegative: true,
        };
        let plan = plan_tensor_copy(&array.view(true), &copy(Direction::Load)).unwrap();
        let bytes = plan.bytes;
        let mut text = format!(
            ".version 8.8\n.target sm_90a\n.address_size 64
.shared .align {} .b8 s[{bytes}]; .shared .align 8 .b64 full;
.visible .entry k(.param .align 64 .b8 from[128], .param .align 64 .b8 to[128]) .reqntid 1 {{
.reg .b64 %rd<4>; .reg .b32 %r<8>; .reg .pred %p<2>;
mov.b64 %rd1, from; cvta.param.u64 %rd1, %rd1; mov.b64 %rd2, to; cvta.param.u64 %rd2, %rd2;
mov.b32 %r1, s; mov.b32 %r2, full;
mbarrier.init.shared::cta.b64 [%r2], 1; fence.mbarrier_init.release.cluster;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], {bytes};\n",
            plan.alignment
        );
        for part in &plan.boxes {
            let at = &part.coordinates;
            writeln!(
                text,
                "add.u32 %r3, %r1, {}; \
                 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes \
                 [%r3], [%rd1, {{{}, {}}}], [%r2];",
                part.offset, at[0], at[1]
            )
            .unwrap();
        }
        text += "again: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], 0; @!%p1 bra again;\n";
        for part in &plan.boxes {
            let at = &part.coordinates;
            writeln!(
                text,
                "add.u32 %r3, %r1, {}; \
                 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd2, {{{}, {}}}], [%r3];",
                part.offset, at[0], at[1]
            )
            .unwrap();
        }
        text += "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ret; }\n";
        let module = Module::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let mut device = Device::new(Config::default());
        let words: Vec<u8> = (0..array.elements()).flat_map(|i| (i as u16).to_le_bytes()).collect();
        let (from, to) = (device.alloc_from(&words), device.alloc_from(&vec![0; words.len()]));
        let map = |address| Arg::Bytes(array.map(&plan.map, address).encode().to_vec());
        let args = [map(from.0), map(to.0)];
        let launch = LaunchConfig { grid: [1, 1, 1], args: &args, ..LaunchConfig::default() };
        let options = RunOptions { adversarial: Some(3), ..RunOptions::default() };
        device.launch(&module, "k", &launch, &options).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let mut result = vec![0; words.len()];
        device.read(to, &mut result).unwrap();
        for (i, word) in result.chunks(2).enumerate() {
            let (row, column) = (i as u64 / array.strides[0], i as u64 % array.strides[0]);
            let copied = row < extents[0] as u64 && column < (extents[1] as u64).min(array.extents[1]);
            let wanted = if copied { i as u16 } else { 0 };
            assert_eq!(u16::from_le_bytes([word[0], word[1]]), wanted, "row {row}, column {column}");
        }
    }
}

/// The full plan of the example in the module documentation.
#[test]
fn literal_plan() {
    let (shape, shared, dims) = rows(&[128, 128], 16);
    let dim = |extent, stride| ViewDim { extent, stride };
    let view = GlobalView {
        element: TensorElement::Bf16,
        alignment: 4,
        dims: vec![dim(Known::Multiple(1), Known::Multiple(4)), dim(Known::Constant(4096), Known::Multiple(1))],
    };
    let copy = TileCopy {
        shape: &shape,
        dims: &dims,
        shared: &shared,
        direction: Direction::Load,
        outside: Outside::Zero,
        nonnegative: false,
    };
    let plan = plan_tensor_copy(&view, &copy).unwrap();
    let map = TensorMapPlan {
        element: TensorElement::Bf16,
        dims: vec![1, 0],
        box_dims: vec![64, 128],
        element_strides: vec![1, 1],
        swizzle: HardwareSwizzle::Bytes128,
        nan: false,
    };
    assert_eq!(plan.map, map);
    let part = |column, offset| TensorBox { coordinates: vec![column, 0], offset };
    assert_eq!(plan.boxes, [part(0, 0), part(64, 16384)]);
    assert_eq!((plan.box_bytes, plan.bytes, plan.alignment), (16384, 32768, 1024));
    let conditions = [
        Condition::Base,
        Condition::Extent { dim: 0 },
        Condition::Stride { dim: 0, multiple: 8 },
        Condition::StrideBelow { dim: 0, limit: 1 << 39 },
        Condition::UnitStride { dim: 1 },
    ];
    assert_eq!(plan.conditions, conditions);
}

#[test]
fn reasons() {
    let (shape, shared, dims) = rows(&[128, 64], 16);
    let good = Array::new(TensorElement::Bf16, &[1024, 1024], false).view(true);
    let copy = TileCopy {
        shape: &shape,
        dims: &dims,
        shared: &shared,
        direction: Direction::Load,
        outside: Outside::Zero,
        nonnegative: true,
    };
    let why = |view: &GlobalView, copy: &TileCopy| plan_tensor_copy(view, copy).unwrap_err().to_string();
    let with = |change: &dyn Fn(&mut GlobalView)| {
        let mut view = good.clone();
        change(&mut view);
        why(&view, &copy)
    };
    assert!(plan_tensor_copy(&good, &copy).is_ok());
    assert_eq!(
        with(&|v| v.dims[1].stride = Known::Constant(2)),
        "dimension 1 of the view, which the tile stores contiguously, has stride 2 instead of 1"
    );
    assert_eq!(
        with(&|v| v.dims[0].stride = Known::Constant(1001)),
        "dimension 0 of the view has a stride of 2002 bytes, which is not a multiple of 16"
    );
    // No address uses the stride of a dimension with one element.
    for stride in [Known::Constant(1001), Known::Constant(1 << 39), Known::Multiple(1)] {
        let mut view = good.clone();
        view.dims[0] = ViewDim { extent: Known::Constant(1), stride };
        let plan = plan_tensor_copy(&view, &copy).unwrap();
        assert!(plan.conditions.iter().all(|c| !matches!(c, Condition::Stride { .. } | Condition::StrideBelow { .. })));
    }
    assert_eq!(
        with(&|v| v.dims[0].stride = Known::Constant(1 << 39)),
        "dimension 0 of the view has a stride of 1099511627776 bytes, but strides must be less than 2^40"
    );
    assert_eq!(
        with(&|v| v.dims[0].extent = Known::Constant(1 << 31)),
        "dimension 0 of the view has extent 2147483648, but extents must be from 1 to 2^31 - 1"
    );
    assert_eq!(
        with(&|v| v.dims[0].extent = Known::Constant(0)),
        "dimension 0 of the view has extent 0, but extents must be from 1 to 2^31 - 1"
    );
    assert_eq!(with(&|v| v.dims = vec![v.dims[0]; 6]), "the view has 6 dimensions, but a tensor map has 1 to 5");
    assert_eq!(
        why(&good, &TileCopy { outside: Outside::Other, ..copy }),
        "elements outside of the view have a value that tensor maps cannot fill with"
    );
    let bytes = GlobalView { element: TensorElement::U16, ..good.clone() };
    assert!(plan_tensor_copy(&bytes, &TileCopy { outside: Outside::Nan, ..copy }).is_err());
    assert!(plan_tensor_copy(&good, &TileCopy { outside: Outside::Nan, ..copy }).is_ok());
    let store = TileCopy { direction: Direction::Store, nonnegative: false, ..copy };
    assert_eq!(why(&good, &store), "a store may start before the view, which the hardware rejects");
    // Elements outside the view do not matter to a store.
    let store = TileCopy { direction: Direction::Store, outside: Outside::Other, ..copy };
    assert!(plan_tensor_copy(&good, &store).is_ok());
    let shifted = [dims[0], TileDim { origin: Known::Multiple(4), ..dims[1] }];
    assert_eq!(
        why(&good, &TileCopy { dims: &shifted, ..copy }),
        "tiles do not start at multiples of 16 bytes along the contiguous dimension 1"
    );
    let stepped = [dims[0], TileDim { step: 2, ..dims[1] }];
    assert_eq!(
        why(&good, &TileCopy { dims: &stepped, ..copy }),
        "the step along dimension 1 is 2, but it must be at most 8, and 1 along the contiguous dimension"
    );
    let swapped = SharedLayout::strided(&shape, &[0, 1]).unwrap();
    assert_eq!(
        why(&good, &TileCopy { shared: &swapped, ..copy }),
        "dimension 0 of the view, which the tile stores contiguously, has stride 1024 instead of 1"
    );
    let narrow = Shape::new(&[128, 4]).unwrap();
    let plain = SharedLayout::strided(&narrow, &[1, 0]).unwrap();
    assert_eq!(
        why(&good, &TileCopy { shape: &narrow, shared: &plain, ..copy }),
        "only 8 bytes are contiguous in shared memory, but a box needs at least 16"
    );
    // A swizzle of another unit: 64-byte pieces.
    let mut bases = SharedLayout::strided(&shape, &[1, 0]).unwrap().bases().to_vec();
    bases[6] ^= 1 << 5;
    let odd = SharedLayout::new(bases, shape.bits()).unwrap();
    assert_eq!(
        why(&good, &TileCopy { shared: &odd, ..copy }),
        "bit 7 of the byte offset in shared memory does not fit a box with any swizzle"
    );
    let huge = Shape::new(&[1 << 13, 64]).unwrap();
    let panels = HardwareLayout::panels(&huge, (1, 0), 16).unwrap().shared_layout().unwrap();
    assert_eq!(
        why(&good, &TileCopy { shape: &huge, shared: &panels, ..copy }),
        "the tile has 1048576 bytes, more than an mbarrier can count"
    );
}
