//! The 128-byte tensor map.
//!
//! The real encoding is private to the driver; programs only pass maps on, or change single fields with
//! `tensormap.replace`. The encoding here is specific to the simulator. Zeroed bytes in which every field has been
//! replaced are a valid map, as programs that build maps on the device expect.
//!
//! | bytes | field |
//! |---|---|
//! | 0..8 | global address |
//! | 8 | rank - 1 |
//! | 9 | element type, code of `tensormap.replace.elemtype` |
//! | 10 | interleave layout |
//! | 11 | swizzle mode |
//! | 12 | swizzle atomicity |
//! | 13 | fill mode |
//! | 14 | 0 tiled, 1 im2col |
//! | 16..36 | sizes of dimensions 0..5, u32, 0 for 2^32 |
//! | 40..72 | strides of dimensions 1..5 in bytes, u64 |
//! | 72..92 | box sizes, u32 |
//! | 92..97 | element strides, u8 |
//! | 98..104, 104..110 | im2col lower and upper corners, i16 |
//! | 110..114 | pixels per column, channels per pixel, u16 |
//! | 114 | which of [`NEEDED`] were set, one bit each: the driver's meaning of zero is unknown |
//!
//! Zeros in the element type, layout and fill mode mean the same as replacing the field by zero. Triton's kernels
//! leave these fields out, and give correct results on an H100.

use super::error::TmaError;

/// Element types, numbered as in `tensormap.replace.elemtype`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ElementType {
    U8 = 0,
    U16 = 1,
    U32 = 2,
    S32 = 3,
    U64 = 4,
    S64 = 5,
    F16 = 6,
    F32 = 7,
    F32Ftz = 8,
    F64 = 9,
    Bf16 = 10,
    Tf32 = 11,
    Tf32Ftz = 12,
    B4x16 = 13,
    B4x16P64 = 14,
    /// `.b6x16_p32` on loads, `.b6p2x16` on stores.
    B6x16P32 = 15,
}

/// All types in the order of their codes.
const TYPES: [ElementType; 16] = [
    ElementType::U8,
    ElementType::U16,
    ElementType::U32,
    ElementType::S32,
    ElementType::U64,
    ElementType::S64,
    ElementType::F16,
    ElementType::F32,
    ElementType::F32Ftz,
    ElementType::F64,
    ElementType::Bf16,
    ElementType::Tf32,
    ElementType::Tf32Ftz,
    ElementType::B4x16,
    ElementType::B4x16P64,
    ElementType::B6x16P32,
];

impl ElementType {
    /// The type for a `tensormap.replace` code.
    pub fn from_code(code: u32) -> Option<Self> {
        TYPES.get(code as usize).copied()
    }

    /// The type for a `CUtensorMapDataType` value, which uses other numbers.
    pub fn from_driver(value: u32) -> Option<Self> {
        use ElementType::{B4x16, B4x16P64, B6x16P32, Bf16, F32Ftz, F64, Tf32, Tf32Ftz};
        const REST: [ElementType; 8] = [F64, Bf16, F32Ftz, Tf32, Tf32Ftz, B4x16, B4x16P64, B6x16P32];
        match value {
            0..=7 => Self::from_code(value),
            _ => REST.get(value as usize - 8).copied(),
        }
    }

    /// Number of elements in the smallest copied unit, and the bytes of the unit in global and in shared memory.
    pub const fn unit(self) -> (u32, u32, u32) {
        match self {
            ElementType::U8 => (1, 1, 1),
            ElementType::U16 | ElementType::F16 | ElementType::Bf16 => (1, 2, 2),
            ElementType::U64 | ElementType::S64 | ElementType::F64 => (1, 8, 8),
            ElementType::B4x16 => (16, 8, 8),
            ElementType::B4x16P64 => (16, 8, 16),
            ElementType::B6x16P32 => (16, 12, 16),
            _ => (1, 4, 4),
        }
    }

    pub const fn is_float(self) -> bool {
        matches!(
            self,
            ElementType::F16
                | ElementType::Bf16
                | ElementType::F32
                | ElementType::F32Ftz
                | ElementType::F64
                | ElementType::Tf32
                | ElementType::Tf32Ftz
        )
    }
}

/// The value of elements outside the tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fill {
    Zero,
    /// A NaN, as for `CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA`.
    Nan,
}

/// Larger than the shared memory of any CTA.
const MAX_BOX_BYTES: u64 = 256 * 1024;

/// How the box is traversed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Tile,
    /// Corners in the order W, H, D; only the first rank - 2 are used.
    Im2col {
        lower: [i16; 3],
        upper: [i16; 3],
        pixels: u32,
        channels: u32,
    },
}

/// Fields that must be set in a map built on the device, with the error for a missing one. For fields with one value
/// per dimension, zero values are rejected instead.
pub const NEEDED: [(TensorMapField, &str); 3] = [
    (TensorMapField::GlobalAddress, "the global address was never set"),
    (TensorMapField::Rank, "the rank was never set"),
    (TensorMapField::SwizzleMode, "the swizzle mode was never set"),
];

/// The fields that `tensormap.replace` can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TensorMapField {
    GlobalAddress,
    /// The value is the rank minus one.
    Rank,
    BoxDim,
    GlobalDim,
    /// Ordinal 0 is the stride of dimension 1, in bytes.
    GlobalStride,
    ElementStride,
    ElementType,
    InterleaveLayout,
    SwizzleMode,
    SwizzleAtomicity,
    FillMode,
}

/// Host parameters of a tiled map, as in `cuTensorMapEncodeTiled`.
#[derive(Clone, Debug)]
pub struct TileParams<'a> {
    pub element: ElementType,
    pub address: u64,
    /// Sizes, innermost dimension first; the length is the rank.
    pub dims: &'a [u64],
    /// Strides of dimensions 1 and up, in bytes.
    pub strides: &'a [u64],
    pub box_dims: &'a [u32],
    pub element_strides: &'a [u32],
    /// `CUtensorMapInterleave`.
    pub interleave: u32,
    /// `CUtensorMapSwizzle`.
    pub swizzle: u32,
    pub fill: Fill,
}

/// A decoded map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorMap {
    pub element: ElementType,
    pub address: u64,
    pub rank: usize,
    pub dims: [u64; 5],
    /// Strides in bytes; entry 0 is for dimension 1.
    pub strides: [u64; 4],
    pub box_dims: [u32; 5],
    pub element_strides: [u32; 5],
    /// Code of `tensormap.replace.swizzle_mode`.
    pub swizzle_mode: u8,
    /// Code of `tensormap.replace.swizzle_atomicity`.
    pub swizzle_atomicity: u8,
    pub fill: Fill,
    pub mode: Mode,
}

impl TensorMap {
    /// Builds a tiled map from host parameters.
    ///
    /// # Errors
    ///
    /// A parameter that violates a rule of the driver's encoder.
    pub fn tiled(params: &TileParams<'_>) -> Result<Self, TmaError> {
        let rank = params.dims.len();
        if !(1..=5).contains(&rank)
            || params.strides.len() + 1 != rank
            || params.box_dims.len() != rank
            || params.element_strides.len() != rank
        {
            return Err(TmaError::Map("rank is 1 to 5, with one stride less than dimensions"));
        }
        if params.interleave != 0 {
            return Err(TmaError::Map("interleaved layouts are not supported"));
        }
        let (swizzle_mode, swizzle_atomicity) = match params.swizzle {
            mode @ 0..=3 => (mode as u8, 0),
            atom @ 4..=6 => (3, atom as u8 - 3),
            _ => return Err(TmaError::Map("swizzle code does not exist")),
        };
        let mut map = Self {
            element: params.element,
            address: params.address,
            rank,
            dims: [1; 5],
            strides: [0; 4],
            box_dims: [1; 5],
            element_strides: [1; 5],
            swizzle_mode,
            swizzle_atomicity,
            fill: params.fill,
            mode: Mode::Tile,
        };
        map.dims[..rank].copy_from_slice(params.dims);
        map.strides[..rank - 1].copy_from_slice(params.strides);
        map.box_dims[..rank].copy_from_slice(params.box_dims);
        map.element_strides[..rank].copy_from_slice(params.element_strides);
        map.validate()?;
        Ok(map)
    }

    /// Decodes a map from its 128 bytes.
    ///
    /// # Errors
    ///
    /// Fields that were never set, undefined codes, and violations of the rules of [`TensorMap::tiled`].
    pub fn decode(bytes: &[u8; 128]) -> Result<Self, TmaError> {
        let u16_at = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let u32_at = |at: usize| u32::from(u16_at(at)) | u32::from(u16_at(at + 2)) << 16;
        let u64_at = |at: usize| u64::from(u32_at(at)) | u64::from(u32_at(at + 4)) << 32;
        if bytes[10] != 0 {
            return Err(TmaError::Map("interleaved layouts are not supported"));
        }
        if let Some((_, missing)) = (0..).zip(NEEDED).find(|(bit, _)| bytes[114] >> bit & 1 == 0) {
            return Err(TmaError::Map(missing.1));
        }
        let rank = usize::from(bytes[8]) + 1;
        if rank > 5 {
            return Err(TmaError::Map("rank is 1 to 5"));
        }
        let corner = |base: usize| std::array::from_fn(|i| u16_at(base + 2 * i) as i16);
        let map = Self {
            element: ElementType::from_code(bytes[9].into()).ok_or(TmaError::Map("element type does not exist"))?,
            address: u64_at(0),
            rank,
            dims: std::array::from_fn(|i| match u32_at(16 + 4 * i) {
                _ if i >= rank => 1,
                0 => 1 << 32,
                size => size.into(),
            }),
            strides: std::array::from_fn(|i| if i + 1 < rank { u64_at(40 + 8 * i) } else { 0 }),
            box_dims: std::array::from_fn(|i| if i < rank { u32_at(72 + 4 * i) } else { 1 }),
            element_strides: std::array::from_fn(|i| if i < rank { bytes[92 + i].into() } else { 1 }),
            swizzle_mode: bytes[11],
            swizzle_atomicity: bytes[12],
            fill: if bytes[13] == 1 { Fill::Nan } else { Fill::Zero },
            mode: match bytes[14] {
                0 => Mode::Tile,
                1 => Mode::Im2col {
                    lower: corner(98),
                    upper: corner(104),
                    pixels: u16_at(110).into(),
                    channels: u16_at(112).into(),
                },
                _ => return Err(TmaError::Map("mode does not exist")),
            },
        };
        map.validate()?;
        Ok(map)
    }

    /// The 128 bytes of the map.
    pub fn encode(&self) -> [u8; 128] {
        let mut bytes = [0; 128];
        bytes[..8].copy_from_slice(&self.address.to_le_bytes());
        bytes[114] = (1 << NEEDED.len()) - 1;
        bytes[8] = self.rank as u8 - 1;
        bytes[9] = self.element as u8;
        bytes[11] = self.swizzle_mode;
        bytes[12] = self.swizzle_atomicity;
        bytes[13] = u8::from(self.fill == Fill::Nan);
        for i in 0..self.rank {
            bytes[16 + 4 * i..][..4].copy_from_slice(&(self.dims[i] as u32).to_le_bytes());
            bytes[72 + 4 * i..][..4].copy_from_slice(&self.box_dims[i].to_le_bytes());
            bytes[92 + i] = self.element_strides[i] as u8;
        }
        for (i, stride) in self.strides.iter().enumerate() {
            bytes[40 + 8 * i..][..8].copy_from_slice(&stride.to_le_bytes());
        }
        if let Mode::Im2col { lower, upper, pixels, channels } = self.mode {
            bytes[14] = 1;
            for i in 0..3 {
                bytes[98 + 2 * i..][..2].copy_from_slice(&lower[i].to_le_bytes());
                bytes[104 + 2 * i..][..2].copy_from_slice(&upper[i].to_le_bytes());
            }
            bytes[110..112].copy_from_slice(&(pixels as u16).to_le_bytes());
            bytes[112..114].copy_from_slice(&(channels as u16).to_le_bytes());
        }
        bytes
    }

    /// `tensormap.replace.tile.<field>`. `ordinal` selects the dimension of a field with one value per dimension. The
    /// map as a whole is checked when it is used.
    ///
    /// # Errors
    ///
    /// An ordinal or code out of range.
    pub fn replace(bytes: &mut [u8; 128], field: TensorMapField, ordinal: usize, value: u64) -> Result<(), TmaError> {
        let code = |limit: u64| {
            if value <= limit { Ok(value as u8) } else { Err(TmaError::Map("tensormap.replace value out of range")) }
        };
        let place = |base: usize, size: usize, count: usize| {
            if ordinal < count {
                Ok(base + size * ordinal)
            } else {
                Err(TmaError::Map("tensormap.replace ordinal out of range"))
            }
        };
        match field {
            TensorMapField::GlobalAddress => bytes[..8].copy_from_slice(&value.to_le_bytes()),
            TensorMapField::Rank => bytes[8] = code(4)?,
            TensorMapField::GlobalDim => {
                let at = place(16, 4, 5)?;
                bytes[at..at + 4].copy_from_slice(&(value as u32).to_le_bytes());
            }
            TensorMapField::GlobalStride => {
                let at = place(40, 8, 4)?;
                bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
            }
            TensorMapField::BoxDim => {
                let at = place(72, 4, 5)?;
                bytes[at..at + 4].copy_from_slice(&(value as u32).to_le_bytes());
            }
            TensorMapField::ElementStride => bytes[place(92, 1, 5)?] = code(8)?,
            TensorMapField::ElementType => bytes[9] = code(15)?,
            TensorMapField::InterleaveLayout => bytes[10] = code(2)?,
            TensorMapField::SwizzleMode => bytes[11] = code(4)?,
            TensorMapField::SwizzleAtomicity => bytes[12] = code(3)?,
            TensorMapField::FillMode => bytes[13] = code(1)?,
        }
        if let Some(bit) = NEEDED.iter().position(|(needed, _)| *needed == field) {
            bytes[114] |= 1 << bit;
        }
        Ok(())
    }

    /// Bytes within which the swizzle permutes; `None` without swizzle.
    pub const fn swizzle_span(&self) -> Option<u32> {
        match self.swizzle_mode {
            1 => Some(32),
            2 => Some(64),
            3 => Some(128),
            4 => Some(96),
            _ => None,
        }
    }

    fn validate(&self) -> Result<(), TmaError> {
        let fail = |why| Err(TmaError::Map(why));
        let (unit, unit_global, unit_shared) = self.element.unit();
        let alignment = if unit_global == unit_shared { 16 } else { 32 };
        if !self.address.is_multiple_of(alignment) {
            return fail("global address is not aligned to 16 bytes (32 for padded types)");
        }
        if self.swizzle_mode > 4 || self.swizzle_atomicity > 3 || self.swizzle_atomicity > 0 && self.swizzle_mode != 3 {
            return fail("invalid combination of swizzle mode and atomicity");
        }
        if self.fill == Fill::Nan && !self.element.is_float() {
            return fail("NaN fill needs a floating-point element");
        }
        for i in 0..self.rank {
            if self.dims[i] == 0 || self.dims[i] > 1 << 32 {
                return fail("a dimension is outside 1..=2^32");
            }
            if !(1..=8).contains(&self.element_strides[i]) {
                return fail("an element stride is outside 1..=8");
            }
            if self.mode == Mode::Tile && !(1..=256).contains(&self.box_dims[i]) {
                return fail("a box dimension is outside 1..=256");
            }
            if i > 0 && (!self.strides[i - 1].is_multiple_of(16) || self.strides[i - 1] >= 1 << 40) {
                return fail("a stride is not a multiple of 16 below 2^40");
            }
        }
        if self.element_strides[0] != 1 {
            return fail("the element stride of dimension 0 must be 1 without interleave");
        }
        if !self.dims[0].is_multiple_of(unit.into()) && unit > 1 {
            return fail("dimension 0 is not a whole number of packed groups");
        }
        // `cuTensorMapEncodeTiled` refuses these.
        if unit_global != unit_shared {
            if !self.dims[0].is_multiple_of(128) {
                return fail("dimension 0 of padded elements is not a multiple of 128");
            }
            if self.strides[..self.rank - 1].iter().any(|stride| !stride.is_multiple_of(32)) {
                return fail("a stride of padded elements is not a multiple of 32");
            }
        }
        let inner = match self.mode {
            Mode::Tile => self.box_dims[0],
            Mode::Im2col { channels, pixels, .. } => {
                if self.rank < 3 {
                    return fail("im2col needs rank 3 to 5");
                }
                if !(1..=256).contains(&channels) || !(1..=1024).contains(&pixels) {
                    return fail("channels per pixel are 1..=256, pixels per column 1..=1024");
                }
                channels
            }
        };
        if !inner.is_multiple_of(unit) || !(inner / unit * unit_shared).is_multiple_of(16) {
            return fail("the inner box is not a multiple of 16 bytes");
        }
        // No CTA has room for more, and the sizes stay far from overflow. Elements skipped by strides are not copied.
        let lines = (1..self.rank).map(|i| u64::from(self.extent(i))).product::<u64>();
        if self.mode == Mode::Tile && lines * u64::from(inner / unit * unit_shared) > MAX_BOX_BYTES {
            return fail("the box is larger than shared memory");
        }
        match self.swizzle_span() {
            Some(span) if inner / unit * unit_shared > span => fail("the inner box is wider than the swizzle"),
            _ => Ok(()),
        }
    }
}
