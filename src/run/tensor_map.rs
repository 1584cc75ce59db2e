//! Tensor maps as arguments: what the driver's `cuTensorMapEncodeTiled` is told, and its form in JSON.
//!
//! ```json
//! { "tensor_map": 2, "dtype": "bf16", "dims": [4096, 512], "strides": [8192], "box": [64, 128], "swizzle": 128 }
//! ```
//!
//! `tensor_map` is the number of the argument whose array it describes. Extents and boxes count elements, the innermost
//! dimension first; `strides` are those of the other dimensions, in bytes. `swizzle` is the span in bytes (32, 64, 128; 0
//! for none). Further fields: `steps` (element strides, 1 each unless given), `fill` (`zero` or `nan`).

use crate::element::Element;
use crate::launch::{Error, Fields, element, string, wrong};
use ptx_sim::DevicePtr;
use ptx_sim::units::{ElementType, Fill, TensorMap, TileParams, TmaError};
use serde_json::Value;

/// A tiled tensor map of one argument's array.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorMapArgument {
    /// The number of the argument that holds the array.
    pub of: usize,
    pub element: Element,
    pub dims: Vec<u64>,
    pub strides: Vec<u64>,
    pub box_dims: Vec<u32>,
    pub steps: Vec<u32>,
    /// As the driver numbers it.
    pub swizzle: u32,
    pub fill: Fill,
}

impl TensorMapArgument {
    /// From the fields of a JSON object.
    pub(crate) fn parse(what: &str, value: &Value) -> Result<TensorMapArgument, Error> {
        let mut fields = Fields::new(what, value)?;
        let of = fields.take("tensor_map").and_then(Value::as_u64).and_then(|n| n.try_into().ok());
        let of = of.ok_or_else(|| wrong(what, "'tensor_map' with an argument's number"))?;
        let name = fields.take("dtype").ok_or_else(|| wrong(what, "'dtype'"))?;
        let element = element(what, &string(what, name)?)?;
        let dims: Vec<u64> = numbers(&format!("{what}.dims"), fields.take("dims"))?;
        let strides = numbers(&format!("{what}.strides"), fields.take("strides"))?;
        let box_dims = numbers(&format!("{what}.box"), fields.take("box"))?;
        let steps = match fields.take("steps") {
            None => vec![1; dims.len()],
            given => numbers(&format!("{what}.steps"), given)?,
        };
        let swizzle = match fields.take("swizzle").map(Value::as_u64) {
            None | Some(Some(0)) => 0,
            Some(Some(32)) => 1,
            Some(Some(64)) => 2,
            Some(Some(128)) => 3,
            _ => return Err(wrong(&format!("{what}.swizzle"), "0, 32, 64 or 128")),
        };
        let fill = match fields.take("fill").map(Value::as_str) {
            None | Some(Some("zero")) => Fill::Zero,
            Some(Some("nan")) => Fill::Nan,
            _ => return Err(wrong(&format!("{what}.fill"), "'zero' or 'nan'")),
        };
        fields.end()?;
        Ok(TensorMapArgument { of, element, dims, strides, box_dims, steps, swizzle, fill })
    }

    /// The bytes that are passed when the array lies at `address`.
    pub fn encode(&self, address: DevicePtr) -> Result<Vec<u8>, TmaError> {
        let map = TensorMap::tiled(&TileParams {
            element: data_type(self.element),
            address: address.0,
            dims: &self.dims,
            strides: &self.strides,
            box_dims: &self.box_dims,
            element_strides: &self.steps,
            interleave: 0,
            swizzle: self.swizzle,
            fill: self.fill,
        })?;
        Ok(map.encode().to_vec())
    }
}

/// The copy engine knows sizes and, for reductions and fills, arithmetic: eight-bit floats are bytes to it.
fn data_type(element: Element) -> ElementType {
    match element {
        Element::I8 | Element::U8 | Element::E4m3 | Element::E5m2 | Element::E8m0 => ElementType::U8,
        Element::I16 | Element::U16 => ElementType::U16,
        Element::I32 => ElementType::S32,
        Element::U32 => ElementType::U32,
        Element::I64 => ElementType::S64,
        Element::U64 => ElementType::U64,
        Element::F16 => ElementType::F16,
        Element::Bf16 => ElementType::Bf16,
        Element::F32 => ElementType::F32,
        Element::F64 => ElementType::F64,
    }
}

fn numbers<T: TryFrom<u64>>(what: &str, value: Option<&Value>) -> Result<Vec<T>, Error> {
    let bad = || wrong(what, "a list of numbers");
    let list = value.and_then(Value::as_array).ok_or_else(bad)?;
    list.iter().map(|v| v.as_u64().and_then(|n| T::try_from(n).ok()).ok_or_else(bad)).collect()
}
