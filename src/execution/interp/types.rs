//! Types of the language.

use std::fmt;

/// A number type: the element type of a tile or tensor that does not hold pointers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Number {
    I1,
    I4,
    I8,
    I16,
    I32,
    I64,
    F16,
    Bf16,
    Tf32,
    F32,
    F64,
    E4m3,
    E5m2,
    E5m3,
    E8m0,
    E2m1,
}

impl Number {
    pub const ALL: [Number; 16] = [
        Number::I1,
        Number::I4,
        Number::I8,
        Number::I16,
        Number::I32,
        Number::I64,
        Number::F16,
        Number::Bf16,
        Number::Tf32,
        Number::F32,
        Number::F64,
        Number::E4m3,
        Number::E5m2,
        Number::E5m3,
        Number::E8m0,
        Number::E2m1,
    ];

    /// The keyword in the assembly format.
    pub fn keyword(self) -> &'static str {
        match self {
            Number::I1 => "i1",
            Number::I4 => "i4",
            Number::I8 => "i8",
            Number::I16 => "i16",
            Number::I32 => "i32",
            Number::I64 => "i64",
            Number::F16 => "f16",
            Number::Bf16 => "bf16",
            Number::Tf32 => "tf32",
            Number::F32 => "f32",
            Number::F64 => "f64",
            Number::E4m3 => "f8E4M3FN",
            Number::E5m2 => "f8E5M2",
            Number::E5m3 => "fnv8E5M3FNU",
            Number::E8m0 => "f8E8M0FNU",
            Number::E2m1 => "f4E2M1FN",
        }
    }

    /// Width of a value in bits, as for `bitcast`.
    pub fn width(self) -> u32 {
        match self {
            Number::I1 => 1,
            Number::I4 | Number::E2m1 => 4,
            Number::I8 | Number::E4m3 | Number::E5m2 | Number::E5m3 | Number::E8m0 => 8,
            Number::I16 | Number::F16 | Number::Bf16 => 16,
            Number::Tf32 => 19,
            Number::I32 | Number::F32 => 32,
            Number::I64 | Number::F64 => 64,
        }
    }

    /// Bits that a value occupies after `pack`: as [`Number::width`], but 32 for tf32.
    pub fn packed_width(self) -> u32 {
        if self == Number::Tf32 { 32 } else { self.width() }
    }

    /// Bits in memory. An i1 takes a byte; two e2m1 values share one.
    pub fn stored_bits(self) -> u32 {
        match self {
            Number::I1 => 8,
            _ => self.packed_width(),
        }
    }

    pub fn is_integer(self) -> bool {
        self <= Number::I64
    }

    pub fn is_float(self) -> bool {
        !self.is_integer()
    }

    /// A mask of all bits of a value.
    pub fn mask(self) -> u64 {
        u64::MAX >> (64 - self.width())
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.keyword())
    }
}

/// The element type of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Element {
    Number(Number),
    /// A pointer to numbers.
    Pointer(Number),
}

impl Element {
    /// The number type; `None` for pointers.
    pub fn number(self) -> Option<Number> {
        match self {
            Element::Number(n) => Some(n),
            Element::Pointer(_) => None,
        }
    }

    pub fn width(self) -> u32 {
        match self {
            Element::Number(n) => n.width(),
            Element::Pointer(_) => 64,
        }
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Element::Number(n) => n.fmt(f),
            Element::Pointer(n) => write!(f, "ptr<{n}>"),
        }
    }
}

/// Extents, outermost first. Elements are in row-major order.
pub type Shape = Vec<usize>;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TileType {
    pub shape: Shape,
    pub element: Element,
}

impl TileType {
    pub fn new(shape: &[usize], element: Element) -> TileType {
        TileType { shape: shape.to_vec(), element }
    }

    pub fn scalar(number: Number) -> TileType {
        TileType { shape: vec![], element: Element::Number(number) }
    }

    pub fn of(shape: &[usize], number: Number) -> TileType {
        TileType::new(shape, Element::Number(number))
    }

    /// The same shape with another element type.
    pub fn with(&self, element: Element) -> TileType {
        TileType { shape: self.shape.clone(), element }
    }

    /// Number of elements.
    pub fn count(&self) -> usize {
        self.shape.iter().product()
    }
}

impl fmt::Display for TileType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("tile<")?;
        for d in &self.shape {
            write!(f, "{d}x")?;
        }
        write!(f, "{}>", self.element)
    }
}

/// A strided tensor in memory. `None` is an extent or stride that is only known at run time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TensorType {
    pub element: Number,
    pub shape: Vec<Option<u64>>,
    /// In elements.
    pub strides: Vec<Option<u64>>,
}

impl fmt::Display for TensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = |d: &Option<u64>| d.map_or("?".to_string(), |d| d.to_string());
        f.write_str("tensor_view<")?;
        for d in &self.shape {
            write!(f, "{}x", size(d))?;
        }
        write!(f, "{}", self.element)?;
        if !self.shape.is_empty() {
            write!(f, ", strides=[{}]", self.strides.iter().map(size).collect::<Vec<_>>().join(","))?;
        }
        f.write_str(">")
    }
}

/// The value of elements that are in the tile but outside the tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Padding {
    Zero,
    NegZero,
    Nan,
    PosInf,
    NegInf,
}

impl Padding {
    pub const ALL: [Padding; 5] = [Padding::Zero, Padding::NegZero, Padding::Nan, Padding::PosInf, Padding::NegInf];

    pub fn keyword(self) -> &'static str {
        match self {
            Padding::Zero => "zero",
            Padding::NegZero => "neg_zero",
            Padding::Nan => "nan",
            Padding::PosInf => "pos_inf",
            Padding::NegInf => "neg_inf",
        }
    }
}

/// How a view divides its tensor into tiles.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tiling {
    /// Adjacent tiles.
    Partition { dim_map: Vec<usize> },
    /// Tiles whose origins are `steps` elements apart.
    Strided { steps: Vec<u64>, dim_map: Vec<usize> },
    /// Tiles whose rows along `sparse_dim` are selected individually.
    GatherScatter { sparse_dim: usize },
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ViewType {
    pub tile: Shape,
    pub tensor: TensorType,
    pub tiling: Tiling,
    pub padding: Option<Padding>,
}

impl ViewType {
    /// The type that a load returns.
    pub fn tile_type(&self) -> TileType {
        TileType::of(&self.tile, self.tensor.element)
    }

    /// The tensor dimension that dimension `d` of the tile maps to.
    pub fn dim(&self, d: usize) -> usize {
        match &self.tiling {
            Tiling::Partition { dim_map } | Tiling::Strided { dim_map, .. } => dim_map[d],
            Tiling::GatherScatter { .. } => d,
        }
    }

    /// Distance in elements between the origins of tiles with consecutive indices along dimension `d` of the tile. A
    /// gather/scatter view is indexed by element.
    pub fn step(&self, d: usize) -> u64 {
        match &self.tiling {
            Tiling::Strided { steps, .. } => steps[d],
            Tiling::Partition { .. } => self.tile[d] as u64,
            Tiling::GatherScatter { .. } => 1,
        }
    }
}

fn list<T: ToString>(items: &[T], separator: &str) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(separator)
}

impl fmt::Display for ViewType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tile = list(&self.tile, "x");
        let padding = self.padding.map_or(String::new(), |p| format!("padding_value = {}, ", p.keyword()));
        let map = |m: &[usize]| {
            if m.iter().enumerate().all(|(i, d)| i == *d) {
                String::new()
            } else {
                format!(", dim_map=[{}]", list(m, ", "))
            }
        };
        match &self.tiling {
            Tiling::Partition { dim_map } => {
                write!(f, "partition_view<tile=({tile}), {padding}{}{}>", self.tensor, map(dim_map))
            }
            Tiling::Strided { steps, dim_map } => write!(
                f,
                "strided_view<tile=({tile}), traversal_strides=[{}], {padding}{}{}>",
                list(steps, ","),
                self.tensor,
                map(dim_map)
            ),
            Tiling::GatherScatter { sparse_dim } => {
                write!(f, "gather_scatter_view<tile=({tile}), {padding}{}, sparse_dim={sparse_dim}>", self.tensor)
            }
        }
    }
}

/// Type of a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Type {
    Tile(TileType),
    Tensor(TensorType),
    View(ViewType),
    Token,
}

impl Type {
    pub fn tile(&self) -> Option<&TileType> {
        match self {
            Type::Tile(t) => Some(t),
            _ => None,
        }
    }
}

impl From<TileType> for Type {
    fn from(t: TileType) -> Type {
        Type::Tile(t)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Tile(t) => t.fmt(f),
            Type::Tensor(t) => t.fmt(f),
            Type::View(t) => t.fmt(f),
            Type::Token => f.write_str("token"),
        }
    }
}
