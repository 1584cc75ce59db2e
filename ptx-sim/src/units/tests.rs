//! TMA copies compared with element-by-element references, and the published swizzle patterns as literal tables.

use proptest::prelude::*;

use super::*;

/// Global and shared memory of a test.
struct Memory {
    global: Vec<u8>,
    shared: Vec<u8>,
}

const BASE: u64 = 0x1_0000;

impl Memory {
    fn new() -> Self {
        let global = (0..1u32 << 18).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        Self { global, shared: vec![0xcc; 1 << 17] }
    }

    fn load(&mut self, map: &TensorMap, at: &Coordinates<'_>, shared: u32) -> Result<u32, TmaError> {
        let (global, target) = (&self.global, &mut self.shared);
        map.load(
            at,
            shared,
            |address, buffer| {
                let start = (address - BASE) as usize;
                buffer.copy_from_slice(&global[start..start + buffer.len()]);
                Ok(())
            },
            |address, bytes| {
                target[address as usize..][..bytes.len()].copy_from_slice(bytes);
                Ok(())
            },
        )
    }

    fn store(&mut self, map: &TensorMap, at: &Coordinates<'_>, shared: u32) -> Result<(), TmaError> {
        let (source, global) = (&self.shared, &mut self.global);
        map.store(
            at,
            shared,
            |address, buffer| {
                buffer.copy_from_slice(&source[address as usize..][..buffer.len()]);
                Ok(())
            },
            |address, bytes| {
                global[(address - BASE) as usize..][..bytes.len()].copy_from_slice(bytes);
                Ok(())
            },
        )
    }

    fn half(&self, address: u64) -> u16 {
        let at = (address - BASE) as usize;
        u16::from_le_bytes([self.global[at], self.global[at + 1]])
    }

    fn shared_half(&self, address: u32) -> u16 {
        u16::from_le_bytes([self.shared[address as usize], self.shared[address as usize + 1]])
    }
}

fn params<'a>(
    element: ElementType,
    dims: &'a [u64],
    strides: &'a [u64],
    box_dims: &'a [u32],
    element_strides: &'a [u32],
    swizzle: u32,
) -> TileParams<'a> {
    TileParams {
        element,
        address: BASE,
        dims,
        strides,
        box_dims,
        element_strides,
        interleave: 0,
        swizzle,
        fill: Fill::Zero,
    }
}

/// The source 16-byte chunk at each destination, 8 to a line of 128 bytes.
#[test]
fn swizzle_patterns() {
    type Table = [[u8; 8]; 8];
    const NONE: [u8; 8] = [0, 1, 2, 3, 4, 5, 6, 7];
    const FLIP1: [u8; 8] = [1, 0, 3, 2, 5, 4, 7, 6];
    const FLIP2: [u8; 8] = [2, 3, 0, 1, 6, 7, 4, 5];
    const FLIP3: [u8; 8] = [3, 2, 1, 0, 7, 6, 5, 4];
    const FLIP4: [u8; 8] = [4, 5, 6, 7, 0, 1, 2, 3];
    const FLIP5: [u8; 8] = [5, 4, 7, 6, 1, 0, 3, 2];
    const FLIP6: [u8; 8] = [6, 7, 4, 5, 2, 3, 0, 1];
    const FLIP7: [u8; 8] = [7, 6, 5, 4, 3, 2, 1, 0];
    let tables: [(u32, u32, Table); 7] = [
        (0, 16, [NONE; 8]),
        (1, 16, [NONE, FLIP1, NONE, FLIP1, NONE, FLIP1, NONE, FLIP1]),
        (2, 32, [NONE, FLIP1, FLIP2, FLIP3, NONE, FLIP1, FLIP2, FLIP3]),
        (3, 64, [NONE, FLIP1, FLIP2, FLIP3, FLIP4, FLIP5, FLIP6, FLIP7]),
        (4, 64, [NONE, FLIP2, FLIP4, FLIP6, NONE, FLIP2, FLIP4, FLIP6]),
        (5, 64, [NONE, FLIP2, FLIP4, FLIP6, NONE, FLIP2, FLIP4, FLIP6]),
        (6, 64, [NONE, FLIP4, NONE, FLIP4, NONE, FLIP4, NONE, FLIP4]),
    ];
    for (swizzle, inner, table) in tables {
        // One box of 1024 bytes, stored densely, whose chunk number i contains i.
        let rows = 512 / inner;
        let (dims, strides) = ([u64::from(inner), u64::from(rows)], [u64::from(inner) * 2]);
        let box_dims = [inner, rows];
        let map = TensorMap::tiled(&params(ElementType::U16, &dims, &strides, &box_dims, &[1, 1], swizzle)).unwrap();
        let mut memory = Memory::new();
        (0..1024).for_each(|i| memory.global[i] = (i / 8) as u8);
        assert_eq!(memory.load(&map, &Coordinates::Tile(&[0, 0]), 0x400), Ok(1024));
        for (line, row) in (0u32..).zip(table) {
            for (chunk, source) in (0u32..).zip(row) {
                let at = (0x400 + line * 128 + chunk * 16) as usize;
                let first = 2 * (line as u8 * 8 + source);
                // The flip mode swaps the 8-byte halves in odd lines.
                let flip = u8::from(swizzle == 5 && line % 2 == 1);
                assert_eq!(memory.shared[at], first + flip, "swizzle {swizzle} line {line} chunk {chunk}");
                assert_eq!(memory.shared[at + 8], first + (1 - flip));
            }
        }
    }
}

/// The pattern depends on the address, not on the start of the box.
#[test]
fn swizzle_depends_on_the_address() {
    let map = TensorMap::tiled(&params(ElementType::U16, &[64, 8], &[128], &[64, 8], &[1, 1], 3)).unwrap();
    let mut memory = Memory::new();
    memory.load(&map, &Coordinates::Tile(&[0, 0]), 0x480).unwrap();
    // The first row is stored in line 1 of the pattern, so its chunk 0 is at position 1.
    assert_eq!(memory.shared[0x490..0x4a0], memory.global[..16]);
}

/// The reference: copies one element at a time, by the definition of the box.
fn reference_load(memory: &Memory, map: &TensorMap, at: &[i32], fill: u16) -> Vec<u16> {
    let extent = |i: usize| map.box_dims[i].div_ceil(map.element_strides[i]);
    let total: u32 = (0..map.rank).map(extent).product();
    (0..total)
        .map(|index| {
            let (mut rest, mut address, mut inside) = (index, BASE, true);
            for (i, start) in at.iter().enumerate() {
                let step = rest % extent(i) * map.element_strides[i];
                rest /= extent(i);
                let c = i64::from(*start) + i64::from(step);
                inside &= c >= 0 && c < map.dims[i] as i64;
                let stride = if i == 0 { 2 } else { map.strides[i - 1] };
                address = address.wrapping_add_signed(c * stride as i64);
            }
            if inside { memory.half(address) } else { fill }
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn tiles_match_the_reference(
        rank in 1usize..=5,
        sizes in prop::array::uniform5(1u64..12),
        boxes in prop::array::uniform5(1u32..5),
        steps in prop::array::uniform5(1u32..4),
        mut at in prop::array::uniform5(-6i32..12),
        swizzle in 0u32..7,
        nan in any::<bool>(),
    ) {
        let mut dims = sizes;
        dims[0] = sizes[0] * 3 + 5;
        // Boxes begin at multiples of 16 bytes.
        at[0] *= 8;
        let mut box_dims = boxes;
        // Dimension 0 of the box is a whole number of chunks within the span.
        let chunks = [8, 2, 4, 8, 8, 8, 8][swizzle as usize];
        box_dims[0] = 8 * (1 + boxes[0] % chunks);
        let mut element_strides = steps;
        element_strides[0] = 1;
        let mut strides = [0u64; 4];
        let mut pitch = (dims[0] * 2).next_multiple_of(16);
        for i in 0..4 {
            strides[i] = pitch;
            pitch = pitch * dims[i + 1] / if dims[i + 1] > 6 { 2 } else { 1 };
            pitch = pitch.next_multiple_of(16);
        }
        let mut p = params(
            ElementType::F16,
            &dims[..rank],
            &strides[..rank - 1],
            &box_dims[..rank],
            &element_strides[..rank],
            swizzle,
        );
        p.fill = if nan { Fill::Nan } else { Fill::Zero };
        let map = TensorMap::tiled(&p).unwrap();
        let map = TensorMap::decode(&map.encode()).unwrap();
        let mut memory = Memory::new();
        // Excludes large strides that could leave the test memory.
        let reach: u64 = (1..rank).map(|i| strides[i - 1] * dims[i]).sum::<u64>() + dims[0] * 2;
        prop_assume!(reach < 1 << 18);
        let expected = reference_load(&memory, &map, &at[..rank], if nan { 0x7ff7 } else { 0 });
        let bytes = memory.load(&map, &Coordinates::Tile(&at[..rank]), 0x800).unwrap();
        prop_assert_eq!(bytes as usize, expected.len() * 2);
        for (i, want) in (0u32..).zip(&expected) {
            prop_assert_eq!(memory.shared_half(map.swizzled(0x800 + 2 * i)), *want, "element {}", i);
        }
        // Storing the box to another memory changes exactly the elements inside.
        let mut target = Memory::new();
        target.global.fill(0);
        target.shared.clone_from(&memory.shared);
        let stored = target.store(&map, &Coordinates::Tile(&at[..rank]), 0x800);
        if at[..rank].iter().any(|c| *c < 0) {
            prop_assert_eq!(stored, Err(TmaError::Copy("a store or reduction begins before the tensor")));
            prop_assert!(target.global.iter().all(|b| *b == 0));
            return Ok(());
        }
        prop_assert_eq!(stored, Ok(()));
        let back = reference_load(&target, &map, &at[..rank], if nan { 0x7ff7 } else { 0 });
        prop_assert_eq!(&back, &expected);
    }
}

#[test]
fn reductions_update_elements_inside() {
    let map = TensorMap::tiled(&params(ElementType::S32, &[6, 2], &[32], &[8, 4], &[1, 1], 0)).unwrap();
    let shared = |address: u32, buffer: &mut [u8]| {
        buffer.chunks_mut(4).zip(0..).for_each(|(c, i)| c.copy_from_slice(&(address + 4 * i).to_le_bytes()));
        Ok::<_, TmaError>(())
    };
    let mut seen = Vec::new();
    map.reduce(&Coordinates::Tile(&[4, 1]), 0x100, ReduceOp::Add, shared, |address, ty, value| {
        seen.push((address - BASE, ty, value));
        Ok(())
    })
    .unwrap();
    let s32 = ReduceType::S32;
    assert_eq!(seen, [(48, s32, 0x100), (52, s32, 0x104)]);
    let never = |_, _, _| Ok(());
    let error = map.reduce(&Coordinates::Tile(&[4, -1]), 0x100, ReduceOp::Add, shared, never).unwrap_err();
    assert_eq!(error, TmaError::Copy("a store or reduction begins before the tensor"));
    let float = TensorMap::tiled(&params(ElementType::F32, &[8], &[], &[8], &[1], 0)).unwrap();
    let error = float.reduce(&Coordinates::Tile(&[0]), 0, ReduceOp::Xor, shared, never).unwrap_err();
    assert_eq!(error, TmaError::Copy("element type does not support this reduction"));
}

/// As measured on an H100: a box may skip only whole 16-byte chunks of a row, on either side.
#[test]
fn boxes_begin_at_chunks() {
    let mut memory = Memory::new();
    for (element, chunk) in [(ElementType::U8, 16), (ElementType::F16, 8), (ElementType::F32, 4), (ElementType::U64, 2)]
    {
        let map = TensorMap::tiled(&params(element, &[64, 8], &[512], &[16, 4], &[1, 1], 0)).unwrap();
        for x in -40..80 {
            let at = Coordinates::Tile(&[x, -1]);
            let good = x % chunk == 0;
            assert_eq!(memory.load(&map, &at, 0).is_ok(), good, "{element:?} {x}");
            let at = [x, 7];
            assert_eq!(memory.store(&map, &Coordinates::Tile(&at), 0).is_ok(), good && x >= 0, "{element:?} {x}");
        }
    }
}

#[test]
fn gather_and_scatter_rows() {
    let map = TensorMap::tiled(&params(ElementType::U16, &[64, 16], &[128], &[16, 1], &[1, 1], 0)).unwrap();
    let mut memory = Memory::new();
    let at = Coordinates::Rows4 { column: 8, rows: [2, 5, 0, 99] };
    assert_eq!(memory.load(&map, &at, 0), Ok(128));
    for (i, row) in [2, 5, 0].into_iter().enumerate() {
        assert_eq!(memory.shared[i * 32..][..32], memory.global[row * 128 + 16..][..32]);
    }
    assert_eq!(memory.shared[96..128], [0; 32]);
    memory.shared[..128].fill(7);
    memory.store(&map, &at, 0).unwrap();
    assert_eq!(memory.global[5 * 128 + 16..][..32], [7; 32]);
    assert_eq!(memory.global.iter().filter(|b| **b == 7).count(), {
        let fresh = Memory::new();
        let outside = |i: &usize| ![2, 5, 0].iter().any(|r| (r * 128 + 16..r * 128 + 48).contains(i));
        96 + (0..fresh.global.len()).filter(outside).filter(|i| fresh.global[*i] == 7).count()
    });
}

/// As observed on an H200: a store also writes the rest of the last 16 bytes of a row.
#[test]
fn stores_write_whole_units() {
    for (element, bytes, extent) in [(ElementType::Bf16, 2, 62), (ElementType::U8, 1, 125), (ElementType::F32, 4, 31)] {
        let (dims, box_dims) = ([extent, 2], [128 / bytes, 2]);
        let map = TensorMap::tiled(&params(element, &dims, &[128], &box_dims, &[1, 1], 0)).unwrap();
        let mut memory = Memory::new();
        let before = memory.global.clone();
        memory.shared[..256].fill(7);
        memory.store(&map, &Coordinates::Tile(&[0, 0]), 0).unwrap();
        assert_eq!(memory.global[..256], [7; 256], "{element:?}");
        assert_eq!(memory.global[256..], before[256..], "{element:?}");
    }
}

/// The columns of a 3x3 convolution over an NHWC image, compared with nested loops.
#[test]
fn im2col_walks_the_bounding_box() {
    let (c, w, h, n) = (16u64, 9u64, 5u64, 3u64);
    for (lower, upper, step) in [(-1i16, -1i16, 1u32), (0, -2, 1), (-1, -1, 2)] {
        let (dims, strides) = ([c, w, h, n], [2 * c, 2 * c * w, 2 * c * w * h]);
        let steps = [1, step, step, 1];
        let tiled = params(ElementType::U16, &dims, &strides, &[16, 1, 1, 1], &steps, 0);
        let mut map = TensorMap::tiled(&tiled).unwrap();
        map.mode = Mode::Im2col { lower: [lower; 3], upper: [upper; 3], pixels: 40, channels: 8 };
        let map = TensorMap::decode(&map.encode()).unwrap();
        let mut memory = Memory::new();
        for offsets in [[0u16, 0], [1, 2], [2, 2]] {
            // The base is filter position (x0, y0) of image 1, channel 4.
            let (x0, y0) = (i32::from(lower) + step as i32, i32::from(lower));
            let at = Coordinates::Im2col { base: &[4, x0, y0, 1], offsets: &offsets };
            assert_eq!(memory.load(&map, &at, 0), Ok(40 * 16));
            let positions = (0..100i64).flat_map(|image| {
                let line = move |size: u64| (i64::from(lower)..size as i64 + i64::from(upper)).step_by(step as usize);
                line(h).flat_map(move |y| line(w).map(move |x| (image, y, x)))
            });
            let start = (1, i64::from(y0), i64::from(x0));
            for (pixel, (image, y, x)) in positions.skip_while(|p| *p != start).take(40).enumerate() {
                let (x, y) = (x + i64::from(offsets[0]), y + i64::from(offsets[1]));
                let inside = x >= 0 && x < w as i64 && y >= 0 && y < h as i64 && image < n as i64;
                for channel in 0..8 {
                    let index = ((image * h as i64 + y) * w as i64 + x) * c as i64 + 4 + channel;
                    let want = if inside { memory.half(BASE + 2 * index as u64) } else { 0 };
                    let got = memory.shared_half((pixel as u32 * 8 + channel as u32) * 2);
                    assert_eq!(got, want, "pixel {pixel} channel {channel}");
                }
            }
        }
    }
}

#[test]
fn packed_elements_gain_and_lose_padding() {
    let mut memory = Memory::new();
    let map = TensorMap::tiled(&params(ElementType::B4x16P64, &[128, 2], &[64], &[32, 2], &[1, 1], 0)).unwrap();
    // Two lines of 32 elements: 64 bytes with padding, of which the mbarrier counts 32.
    assert_eq!(memory.load(&map, &Coordinates::Tile(&[16, 0]), 0), Ok(32));
    assert_eq!(map.box_bytes(&Coordinates::Tile(&[16, 0])), 64);
    assert_eq!(memory.shared[..8], memory.global[8..16]);
    assert_eq!(memory.shared[16..24], memory.global[16..24]);
    assert_eq!(memory.shared[32..40], memory.global[72..80]);
    assert!(memory.store(&map, &Coordinates::Tile(&[0, 0]), 0).is_err());
    assert!(memory.load(&map, &Coordinates::Tile(&[8, 0]), 0).is_err());
    let ragged = [(320, 160), (128, 80)];
    for (k, stride) in ragged {
        assert!(TensorMap::tiled(&params(ElementType::B4x16P64, &[k, 2], &[stride], &[32, 2], &[1, 1], 0)).is_err());
    }
    // Packed elements have no such limits.
    assert!(TensorMap::tiled(&params(ElementType::B4x16, &[320, 2], &[160], &[32, 2], &[1, 1], 0)).is_ok());
    // Six bits: a load expands 12 bytes to 16, and a store packs 6-bit bytes into 12.
    let map = TensorMap::tiled(&params(ElementType::B6x16P32, &[128], &[], &[16], &[1], 0)).unwrap();
    assert_eq!(memory.load(&map, &Coordinates::Tile(&[16]), 0), Ok(12));
    assert_eq!(memory.shared[..12], memory.global[12..24]);
    (0..16).for_each(|i| memory.shared[i] = i as u8 + 40);
    memory.store(&map, &Coordinates::Tile(&[0]), 0).unwrap();
    let mut word = [0; 16];
    word[..12].copy_from_slice(&memory.global[..12]);
    let word = u128::from_le_bytes(word);
    assert!((0..16).all(|i| word >> (6 * i) & 63 == i + 40));
}

/// As observed on an H200: 65 536 words of all exponents, copied through maps of each type.
#[test]
fn element_types_that_round() {
    const WORDS: [[u32; 2]; 12] = [
        [0x3f80_1000, 0x3f80_0000],
        [0x3f80_1001, 0x3f80_2000],
        [0x3f80_3000, 0x3f80_4000],
        [0x0000_0001, 0],
        [0x8000_1001, 0x8000_2000],
        [0x007f_ffff, 0x0080_0000],
        [0x7f7f_ffff, 0x7f80_0000],
        [0x7f80_0000, 0x7f80_0000],
        [0xff80_0000, 0xff80_0000],
        [0x7f80_0001, 0x7fff_e000],
        [0xffff_ffff, 0x7fff_e000],
        [0xff7f_ffff, 0xff80_0000],
    ];
    let mut memory = Memory::new();
    for (i, [bits, _]) in WORDS.into_iter().enumerate() {
        memory.global[4 * i..][..4].copy_from_slice(&bits.to_le_bytes());
    }
    let mut run = |element| -> [u32; 12] {
        let map = TensorMap::tiled(&params(element, &[12], &[], &[12], &[1], 0)).unwrap();
        memory.load(&map, &Coordinates::Tile(&[0]), 0).unwrap();
        std::array::from_fn(|i| u32::from_le_bytes(std::array::from_fn(|b| memory.shared[4 * i + b])))
    };
    for element in [ElementType::F32, ElementType::F32Ftz] {
        assert_eq!(run(element), WORDS.map(|[bits, _]| bits), "{element:?}");
    }
    for element in [ElementType::Tf32, ElementType::Tf32Ftz] {
        assert_eq!(run(element), WORDS.map(|[_, rounded]| rounded), "{element:?}");
    }
}

/// A map built on the device: zeros, then every field replaced.
#[test]
fn replacing_every_field_builds_a_map() {
    let tiled = params(ElementType::Bf16, &[100, 40, 7], &[208, 8320], &[64, 4, 2], &[1, 2, 1], 3);
    let wanted = TensorMap::tiled(&tiled).unwrap();
    let mut bytes = [0; 128];
    let mut set = |field, ordinal, value| TensorMap::replace(&mut bytes, field, ordinal, value).unwrap();
    set(TensorMapField::GlobalAddress, 0, BASE);
    set(TensorMapField::Rank, 0, 2);
    for i in 0..3 {
        set(TensorMapField::GlobalDim, i, tiled.dims[i]);
        set(TensorMapField::BoxDim, i, tiled.box_dims[i].into());
        set(TensorMapField::ElementStride, i, tiled.element_strides[i].into());
    }
    set(TensorMapField::GlobalStride, 0, 208);
    set(TensorMapField::GlobalStride, 1, 8320);
    set(TensorMapField::ElementType, 0, 10);
    assert_eq!(TensorMap::decode(&bytes), Err(TmaError::Map("the swizzle mode was never set")));
    TensorMap::replace(&mut bytes, TensorMapField::SwizzleMode, 0, 3).unwrap();
    // Interleave and zero fill may be omitted.
    assert_eq!(TensorMap::decode(&bytes), Ok(wanted));
    TensorMap::replace(&mut bytes, TensorMapField::InterleaveLayout, 0, 0).unwrap();
    TensorMap::replace(&mut bytes, TensorMapField::FillMode, 0, 0).unwrap();
    assert_eq!(wanted.encode(), bytes);
    assert!(TensorMap::replace(&mut bytes, TensorMapField::BoxDim, 5, 1).is_err());
    assert!(TensorMap::replace(&mut bytes, TensorMapField::ElementType, 0, 16).is_err());
}

#[test]
fn maps_that_the_encoder_refuses() {
    let good = params(ElementType::F16, &[64, 8], &[128], &[64, 8], &[1, 1], 3);
    assert!(TensorMap::tiled(&good).is_ok());
    let bad = [
        TileParams { address: BASE + 8, ..good.clone() },
        TileParams { strides: &[120], ..good.clone() },
        TileParams { strides: &[1 << 40], ..good.clone() },
        TileParams { strides: &[], ..good.clone() },
        TileParams { dims: &[0, 8], ..good.clone() },
        TileParams { box_dims: &[128, 8], ..good.clone() },
        TileParams { box_dims: &[64, 257], ..good.clone() },
        TileParams { box_dims: &[4, 8], ..good.clone() },
        TileParams {
            dims: &[64; 5],
            strides: &[128; 4],
            box_dims: &[64, 256, 256, 256, 256],
            element_strides: &[1; 5],
            ..good.clone()
        },
        TileParams { element_strides: &[1, 9], ..good.clone() },
        TileParams { element_strides: &[2, 1], ..good.clone() },
        TileParams { interleave: 1, ..good.clone() },
        TileParams { swizzle: 7, ..good.clone() },
        TileParams { element: ElementType::U16, fill: Fill::Nan, ..good.clone() },
    ];
    for (i, p) in bad.iter().enumerate() {
        assert!(matches!(TensorMap::tiled(p), Err(TmaError::Map(_))), "case {i}");
    }
    // A box may span more than shared memory holds if only little of it is copied.
    let sparse = params(ElementType::F16, &[64; 4], &[128; 3], &[64, 40, 40, 40], &[1, 8, 8, 8], 3);
    assert!(TensorMap::tiled(&sparse).is_ok());
    assert!(TensorMap::tiled(&TileParams { element_strides: &[1; 4], ..sparse }).is_err());
    let map = TensorMap::tiled(&good).unwrap();
    let mut memory = Memory::new();
    let error = memory.load(&map, &Coordinates::Tile(&[0, 0]), 64).unwrap_err();
    assert_eq!(error, TmaError::SharedAlignment { address: 64, alignment: 128 });
    assert!(memory.load(&map, &Coordinates::Tile(&[0]), 0).is_err());
    assert!(memory.load(&map, &Coordinates::Rows4 { column: 0, rows: [0; 4] }, 0).is_err());
}

/// Coordinates and strides at the end of their ranges produce addresses, not overflow.
#[test]
fn extreme_coordinates() {
    let dims = [1 << 32, 1 << 32, 1 << 32];
    let strides = [(1 << 40) - 16; 2];
    let mut p = params(ElementType::U64, &dims, &strides, &[8, 1, 1], &[1; 3], 0);
    p.address = u64::MAX - 15;
    let map = TensorMap::decode(&TensorMap::tiled(&p).unwrap().encode()).unwrap();
    let mut reads = 0;
    for at in [[i32::MAX - 1; 3], [i32::MIN; 3], [0, i32::MAX, i32::MAX], [-4, 7, 7]] {
        map.load(
            &Coordinates::Tile(&at),
            0,
            |_, buffer| {
                reads += 1;
                buffer.fill(1);
                Ok::<_, TmaError>(())
            },
            |_, _| Ok(()),
        )
        .unwrap();
    }
    assert_eq!(reads, 3);
}

#[test]
fn driver_type_numbers() {
    let rows = [(0, ElementType::U8), (7, ElementType::F32), (8, ElementType::F64), (9, ElementType::Bf16)];
    for (value, expected) in rows {
        assert_eq!(ElementType::from_driver(value), Some(expected));
    }
    assert_eq!(ElementType::from_driver(15), Some(ElementType::B6x16P32));
    assert_eq!(ElementType::from_driver(16), None);
}
