//! The description of a launch: kernel, entry, grid and arguments; and its JSON format.
//!
//! ```json
//! {
//!   "kernel": "saxpy.tileirbc",
//!   "entry": "saxpy",
//!   "grid": [6, 1, 1],
//!   "args": [
//!     { "f32": 1.5 },
//!     { "array": "x.npy" },
//!     { "array": "y.npy", "dtype": "bf16", "index": "i64" },
//!     { "list": [ { "array": "a.npy" }, { "array": "b.npy" } ] },
//!     { "multicast": [ { "array": "a.npy" }, { "array": "b.npy" } ] }
//!   ],
//!   "expect": [ { "arg": 2, "value": "want.npy", "rtol": 1e-5, "atol": 1e-6, "bad": 0.0 } ],
//!   "stdout": [ "block 0 sum 7" ]
//! }
//! ```
//!
//! Files are relative to the description's folder. `dtype` is the element type of an array where NumPy lacks the
//! type: bf16 and the 8-bit floats. `index` is the type of extents and strides. `strides`, a list in elements,
//! replaces the array's strides. `extents`, a list, passes only a part of the array; the memory between and after the
//! part is uninitialized. A scalar is a number, or a string as on the command line (`"inf"`, `"0x7fc00000"`).
//! `expect` has one `value` for each array: a list of files for a list. A multicast object has arrays of one shape
//! and type as its members; the kernel receives it like one array, at an address that maps to all members.
//!
//! Kernels that do not follow the tile convention take other arguments:
//!
//! | argument | parameter |
//! |---|---|
//!  `{"buffer": "a.npy", "dtype": "bf16"}` | only a pointer to the array |
//!  `{"unwritten": [64, 3], "dtype": "f32"}` | a pointer to an uninitialized array of this shape |
//!  `{"bytes": "0a1b2c"}` | a structure by value, in hexadecimal |
//!  `{"tensor_map": "a.npy", ...}` | a tensor map of the array, by value: see [`MapParams`] |
//!
//! Further fields: `block`, `cluster`, `dynamic_shared` in bytes; `launches`, the number of consecutive launches on
//! the same memory; `note`, a comment.

use crate::element::Element;
use crate::npy::{self, Array};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use tile_interp::scalar::Scalar;

/// A launch, with the contents of its arrays.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    pub kernel: Option<PathBuf>,
    /// By default, the only entry of the kernel.
    pub entry: Option<String>,
    /// Tile blocks along x, y, z.
    pub grid: [u32; 3],
    /// Threads of a CTA; `None` uses the image's own extents.
    pub block: Option<[u32; 3]>,
    /// CTAs of a cluster; `None` uses the image's own extents.
    pub cluster: Option<[u32; 3]>,
    /// In bytes.
    pub dynamic_shared: u32,
    /// Number of launches on the same memory, at least one.
    pub launches: u32,
    pub args: Vec<Argument>,
    pub expect: Vec<Expect>,
    /// Lines that the kernel prints, in any order.
    pub stdout: Option<Vec<String>>,
    pub note: Option<String>,
}

impl Default for Launch {
    /// One block without arguments.
    fn default() -> Launch {
        Launch {
            kernel: None,
            entry: None,
            grid: [1; 3],
            block: None,
            cluster: None,
            dynamic_shared: 0,
            launches: 1,
            args: vec![],
            expect: vec![],
            stdout: None,
            note: None,
        }
    }
}

/// An argument of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    Scalar {
        element: Element,
        bytes: Vec<u8>,
    },
    Array(ArrayArgument),
    List(Vec<ArrayArgument>),
    /// The members of a multicast object: at least one, all of one shape and type.
    Multicast(Vec<ArrayArgument>),
    /// Passed as its address alone.
    Buffer(ArrayArgument),
    /// A structure by value.
    Bytes(Vec<u8>),
    TensorMap {
        of: ArrayArgument,
        params: MapParams,
    },
}

impl Argument {
    /// The arrays of the argument, in order.
    pub fn arrays(&self) -> &[ArrayArgument] {
        match self {
            Argument::Scalar { .. } | Argument::Bytes(_) => &[],
            Argument::Array(a) | Argument::Buffer(a) | Argument::TensorMap { of: a, .. } => std::slice::from_ref(a),
            Argument::List(l) | Argument::Multicast(l) => l,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct ArrayArgument {
    /// The file name without its folder. Results are written under this name.
    pub name: String,
    pub array: Array,
    pub element: Element,
    /// Whether extents and strides are passed as 64-bit integers.
    pub wide_index: bool,
    /// The passed strides, in elements; by default the strides of the array in memory. Other strides may make elements
    /// overlap or skip some.
    pub strides: Option<Vec<u64>>,
    /// The passed extents, if only a part of the array is passed. The memory between and after the elements of the
    /// part is uninitialized.
    pub extents: Option<Vec<u64>>,
    /// Whether the memory is uninitialized; `array` then holds zeros.
    pub unwritten: bool,
}

/// A tiled tensor map without its address: the parameters of `cuTensorMapEncodeTiled`, with its codes.
///
/// ```json
/// { "tensor_map": "a.npy", "element": "bf16", "dims": [320, 128], "strides": [640], "box": [64, 64],
///   "steps": [1, 1], "swizzle": 3, "fill": "zero" }
/// ```
///
/// Dimension 0 is innermost. `strides` are in bytes and start with dimension 1. `steps` are the element strides
/// (default 1). `swizzle` is the number of a `CUtensorMapSwizzle`, `fill` is `zero` or `nan`. [`MapParams::ELEMENTS`]
/// lists the element types in the order of `CUtensorMapDataType`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapParams {
    /// Value of a `CUtensorMapDataType`.
    pub element: u32,
    pub dims: Vec<u64>,
    pub strides: Vec<u64>,
    pub box_dims: Vec<u32>,
    pub steps: Vec<u32>,
    pub swizzle: u32,
    pub fill_nan: bool,
}

impl MapParams {
    pub const ELEMENTS: [&str; 16] = [
        "u8",
        "u16",
        "u32",
        "s32",
        "u64",
        "s64",
        "f16",
        "f32",
        "f64",
        "bf16",
        "f32_ftz",
        "tf32",
        "tf32_ftz",
        "b4x16",
        "b4x16_p64",
        "b6x16_p32",
    ];

    /// The type of the elements of a map whose element type, by name, is a float.
    pub fn float(element: &str) -> Option<Element> {
        Some(match element {
            "f16" => Element::F16,
            "bf16" => Element::Bf16,
            "f32" | "f32_ftz" | "tf32" | "tf32_ftz" => Element::F32,
            "f64" => Element::F64,
            _ => return None,
        })
    }
}

/// The expected contents of an argument.
#[derive(Clone, Debug, PartialEq)]
pub struct Expect {
    /// Index of the argument, from 0.
    pub arg: usize,
    /// Numbers for [`Match::Value`]: integers for integer arrays, `f8` otherwise. Stored bits for the other kinds.
    /// One array for each array of the argument.
    pub values: Vec<Array>,
    pub how: Match,
    /// For [`Match::Value`]: the rows (indices of the first dimension) that the tolerance applies to. The others must
    /// be exact: equal numbers, zeros with the same sign, or NaNs. `None` applies it to all.
    pub loose: Option<Vec<u64>>,
    pub source: Source,
}

/// The source of an expectation.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Source {
    /// The description. It applies to the whole array, including elements that are not passed.
    #[default]
    Description,
    /// The reference interpreter. It applies to the elements that are passed.
    Interpreter,
    /// The reference interpreter, with the precision that the language promises for each element in place of the
    /// tolerance.
    Promised(Vec<Vec<Scalar>>),
}

/// The criterion for an array; `match` in a description.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Match {
    /// `"value"`: as numbers, within a tolerance. Zeros of both signs are equal, and so are all NaNs.
    Value(Tolerance),
    /// `"bits"`: every bit.
    Bits,
    /// `"bits_or_nan"`: every bit, except that any two NaNs of the array's type are equal.
    BitsOrNan,
    /// `"sorted"`: the same integers in any order.
    Sorted,
}

/// An element is correct if it differs by at most `atol + rtol * |expected|`. The fraction `bad` of all elements may
/// be wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tolerance {
    pub rtol: f64,
    pub atol: f64,
    pub bad: f64,
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{path}: {error}")]
    Io { path: String, error: std::io::Error },
    #[error("{path}: {error}")]
    Npy { path: String, error: npy::Error },
    #[error("{path}: {message}")]
    Description { path: String, message: String },
    #[error("{0}")]
    Argument(String),
}

impl Launch {
    /// Reads a description and its arrays.
    pub fn read(path: &Path) -> Result<Launch, Error> {
        let shown = path.display().to_string();
        let text = tile_driver::files::read(path).map_err(|error| Error::Io { path: shown.clone(), error })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        Launch::parse(&text, folder).map_err(|e| match e {
            Error::Argument(message) => Error::Description { path: shown, message },
            other => other,
        })
    }

    /// Parses a description whose files are relative to `folder`.
    pub fn parse(text: &[u8], folder: &Path) -> Result<Launch, Error> {
        let root: Value = serde_json::from_slice(text).map_err(|e| Error::Argument(e.to_string()))?;
        let mut fields = Fields::new("the description", &root)?;
        let mut launch = Launch {
            kernel: fields.take("kernel").map(|v| string("kernel", v)).transpose()?.map(|k| folder.join(k)),
            entry: fields.take("entry").map(|v| string("entry", v)).transpose()?,
            grid: fields.take("grid").map(|v| extents("grid", v)).transpose()?.unwrap_or([1; 3]),
            block: fields.take("block").map(|v| extents("block", v)).transpose()?,
            cluster: fields.take("cluster").map(|v| extents("cluster", v)).transpose()?,
            launches: match fields.take("launches").map(|v| whole("launches", v)).transpose()? {
                Some(0) => return Err(wrong("launches", "a positive number")),
                n => n.unwrap_or(1),
            },
            note: fields.take("note").map(|v| string("note", v)).transpose()?,
            dynamic_shared: match fields.take("dynamic_shared") {
                Some(v) => {
                    v.as_u64().and_then(|n| n.try_into().ok()).ok_or_else(|| wrong("dynamic_shared", "a size"))?
                }
                None => 0,
            },
            ..Launch::default()
        };
        for (i, v) in fields.list("args")?.iter().enumerate() {
            launch.args.push(argument(&format!("args[{i}]"), v, folder)?);
        }
        for (i, v) in fields.list("expect")?.iter().enumerate() {
            let e = expect(&format!("expect[{i}]"), v, folder)?;
            let arrays = launch.args.get(e.arg).map_or(0, |a| a.arrays().len());
            if arrays != e.values.len() {
                return Err(Error::Argument(format!(
                    "expect[{i}]: {} values for argument {} with {arrays} arrays",
                    e.values.len(),
                    e.arg
                )));
            }
            launch.expect.push(e);
        }
        if let Some(v) = fields.take("stdout") {
            let lines = v.as_array().ok_or_else(|| wrong("stdout", "a list of lines"))?;
            launch.stdout = Some(lines.iter().map(|l| string("stdout", l)).collect::<Result<_, _>>()?);
        }
        fields.end()?;
        Ok(launch)
    }
}

fn wrong(what: &str, expected: &str) -> Error {
    Error::Argument(format!("{what}: expected {expected}"))
}

/// The fields of an object, taken one by one. A remaining field is an error.
struct Fields<'a> {
    what: String,
    map: &'a Map<String, Value>,
    taken: Vec<&'a str>,
}

impl<'a> Fields<'a> {
    fn new(what: &str, value: &'a Value) -> Result<Fields<'a>, Error> {
        let map = value.as_object().ok_or_else(|| wrong(what, "an object"))?;
        Ok(Fields { what: what.into(), map, taken: vec![] })
    }

    fn take(&mut self, key: &'a str) -> Option<&'a Value> {
        self.taken.push(key);
        self.map.get(key)
    }

    fn list(&mut self, key: &'a str) -> Result<&'a [Value], Error> {
        match self.take(key) {
            None => Ok(&[]),
            Some(v) => v.as_array().map(Vec::as_slice).ok_or_else(|| wrong(key, "a list")),
        }
    }

    fn number(&mut self, key: &'a str) -> Result<f64, Error> {
        match self.take(key) {
            None => Ok(0.0),
            Some(v) => v.as_f64().filter(|n| *n >= 0.0).ok_or_else(|| wrong(key, "a non-negative number")),
        }
    }

    fn end(self) -> Result<(), Error> {
        match self.map.keys().find(|k| !self.taken.contains(&k.as_str())) {
            Some(key) => Err(Error::Argument(format!("{}: unknown field '{key}'", self.what))),
            None => Ok(()),
        }
    }
}

fn string(what: &str, value: &Value) -> Result<String, Error> {
    value.as_str().map(str::to_string).ok_or_else(|| wrong(what, "a string"))
}

/// Up to three positive numbers; missing ones are 1.
fn extents(what: &str, value: &Value) -> Result<[u32; 3], Error> {
    let bad = || wrong(what, "one to three positive numbers");
    let list = value.as_array().ok_or_else(bad)?;
    if list.is_empty() || list.len() > 3 {
        return Err(bad());
    }
    let mut out = [1; 3];
    for (o, v) in out.iter_mut().zip(list) {
        *o = v.as_u64().and_then(|n| u32::try_from(n).ok()).filter(|n| *n > 0).ok_or_else(bad)?;
    }
    Ok(out)
}

fn argument(what: &str, value: &Value, folder: &Path) -> Result<Argument, Error> {
    let object = value.as_object().ok_or_else(|| wrong(what, "an object"))?;
    if object.contains_key("array") {
        return Ok(Argument::Array(array(what, value, folder)?));
    }
    if object.contains_key("buffer") || object.contains_key("unwritten") {
        return Ok(Argument::Buffer(buffer(what, value, folder)?));
    }
    if object.contains_key("tensor_map") {
        return tensor_map(what, value, folder);
    }
    if let Some(text) = object.get("bytes") {
        let mut fields = Fields::new(what, value)?;
        fields.take("bytes");
        fields.end()?;
        let bytes = text.as_str().and_then(unhex).ok_or_else(|| wrong(what, "bytes in hexadecimal"))?;
        return Ok(Argument::Bytes(bytes));
    }
    if let Some(items) = object.get("list") {
        let mut fields = Fields::new(what, value)?;
        fields.take("list");
        fields.end()?;
        let items = items.as_array().ok_or_else(|| wrong(what, "a list of arrays"))?;
        let arrays = items.iter().enumerate().map(|(i, v)| array(&format!("{what}.list[{i}]"), v, folder));
        return Ok(Argument::List(arrays.collect::<Result<_, _>>()?));
    }
    if let Some(items) = object.get("multicast") {
        let mut fields = Fields::new(what, value)?;
        fields.take("multicast");
        fields.end()?;
        let items = items.as_array().ok_or_else(|| wrong(what, "a list of arrays"))?;
        let arrays = items.iter().enumerate().map(|(i, v)| array(&format!("{what}.multicast[{i}]"), v, folder));
        let arrays: Vec<ArrayArgument> = arrays.collect::<Result<_, _>>()?;
        let (Some(first), rest) = (arrays.first(), arrays.iter().skip(1)) else {
            return Err(wrong(what, "at least one member"));
        };
        let alike = |a: &ArrayArgument| {
            a.array.shape == first.array.shape
                && (a.element, a.wide_index, &a.strides) == (first.element, first.wide_index, &first.strides)
        };
        if !rest.into_iter().all(alike) {
            return Err(wrong(what, "members of one shape and type"));
        }
        return Ok(Argument::Multicast(arrays));
    }
    let mut fields = object.iter();
    let (Some((name, value)), None) = (fields.next(), fields.next()) else {
        return Err(wrong(
            what,
            "'array', 'list', 'multicast', 'buffer', 'unwritten', 'tensor_map', 'bytes', or one type with its value",
        ));
    };
    let element = element(what, name)?;
    let text = match value {
        Value::String(s) => s.clone(),
        Value::Number(n) => n.to_string(),
        _ => return Err(wrong(what, "a number or a string as the value")),
    };
    let bytes = element.parse(&text).map_err(|e| Error::Argument(format!("{what}: {e}")))?;
    Ok(Argument::Scalar { element, bytes })
}

fn element(what: &str, name: &str) -> Result<Element, Error> {
    Element::by_name(name)
        .ok_or_else(|| Error::Argument(format!("{what}: unknown type '{name}' (known types: {})", Element::names())))
}

fn array(what: &str, value: &Value, folder: &Path) -> Result<ArrayArgument, Error> {
    let mut fields = Fields::new(what, value)?;
    let path = fields.take("array").ok_or_else(|| wrong(what, "'array' with a file's name"))?;
    let path = folder.join(string(what, path)?);
    let element = fields.take("dtype").map(|v| element(what, &string(what, v)?)).transpose()?;
    let wide_index = match fields.take("index").map(|v| string(what, v)).transpose()?.as_deref() {
        None | Some("i32") => false,
        Some("i64") => true,
        Some(other) => return Err(Error::Argument(format!("{what}: index type '{other}' (expected i32 or i64)"))),
    };
    let mut list =
        |key: &'static str| fields.take(key).map(|v| numbers::<u64>(&format!("{what}.{key}"), v)).transpose();
    let (strides, extents) = (list("strides")?, list("extents")?);
    fields.end()?;
    let array = ArrayArgument { strides, extents, ..load(&path, element, wide_index)? };
    if array.reaches_only_its_own() {
        return Ok(array);
    }
    let which = if array.strides.is_some() { "strides" } else { "extents" };
    Err(wrong(&format!("{what}.{which}"), "one for each dimension, with all elements inside the array"))
}

/// An array that is passed as a pointer, initialized or not.
fn buffer(what: &str, value: &Value, folder: &Path) -> Result<ArrayArgument, Error> {
    let mut fields = Fields::new(what, value)?;
    let element = fields.take("dtype").map(|v| element(what, &string(what, v)?)).transpose()?;
    let array = match (fields.take("buffer"), fields.take("unwritten")) {
        (Some(file), None) => {
            // Only the address is passed, so extents of any size are possible.
            load(&folder.join(string(what, file)?), element, true)?
        }
        (None, Some(shape)) => {
            let element = element.ok_or_else(|| wrong(what, "'dtype' with 'unwritten'"))?;
            let shape: Vec<u64> = numbers(what, shape)?;
            ArrayArgument::unwritten(shape, element).ok_or_else(|| wrong(what, "a smaller array"))?
        }
        _ => return Err(wrong(what, "either 'buffer' or 'unwritten'")),
    };
    fields.end()?;
    Ok(ArrayArgument { wide_index: false, ..array })
}

fn tensor_map(what: &str, value: &Value, folder: &Path) -> Result<Argument, Error> {
    let mut fields = Fields::new(what, value)?;
    let file = fields.take("tensor_map").ok_or_else(|| wrong(what, "'tensor_map' with a file's name"))?;
    let dtype = fields.take("dtype").map(|v| element(what, &string(what, v)?)).transpose()?;
    let path = folder.join(string(what, file)?);
    let name = string(&format!("{what}.element"), fields.take("element").unwrap_or(&Value::Null))?;
    let element = MapParams::ELEMENTS.iter().position(|n| *n == name).ok_or_else(|| {
        Error::Argument(format!(
            "{what}: unknown element type '{name}' (known types: {})",
            MapParams::ELEMENTS.join(", ")
        ))
    })?;
    let mut of = load(&path, dtype, true)?;
    // NumPy stores bf16 as integers; the map says what they are.
    let of_map = MapParams::float(&name).filter(|e| dtype.is_none() && e.size() == of.element.size());
    of.element = of_map.unwrap_or(of.element);
    let mut wide = |key: &'static str| {
        let list = fields.take(key).ok_or_else(|| wrong(what, &format!("'{key}', a list of numbers")))?;
        numbers::<u64>(&format!("{what}.{key}"), list)
    };
    let (dims, strides) = (wide("dims")?, wide("strides")?);
    let mut narrow =
        |key: &'static str| fields.take(key).map(|list| numbers::<u32>(&format!("{what}.{key}"), list)).transpose();
    let box_dims = narrow("box")?.ok_or_else(|| wrong(what, "'box', a list of numbers"))?;
    let steps = narrow("steps")?.unwrap_or_else(|| vec![1; dims.len()]);
    let swizzle = fields.take("swizzle").map(|v| whole(&format!("{what}.swizzle"), v)).transpose()?.unwrap_or(0);
    let fill_nan = match fields.take("fill").map(|v| string(what, v)).transpose()?.as_deref() {
        None | Some("zero") => false,
        Some("nan") => true,
        Some(other) => return Err(Error::Argument(format!("{what}: fill '{other}' (expected zero or nan)"))),
    };
    fields.end()?;
    let params = MapParams { element: element as u32, dims, strides, box_dims, steps, swizzle, fill_nan };
    Ok(Argument::TensorMap { of: ArrayArgument { wide_index: false, ..of }, params })
}

/// A list of integers.
fn numbers<T: TryFrom<u64>>(what: &str, value: &Value) -> Result<Vec<T>, Error> {
    let list = value.as_array().ok_or_else(|| wrong(what, "a list of numbers"))?;
    let number = |v: &Value| v.as_u64().and_then(|n| n.try_into().ok()).ok_or_else(|| wrong(what, "integers"));
    list.iter().map(number).collect()
}

fn whole(what: &str, value: &Value) -> Result<u32, Error> {
    value.as_u64().and_then(|n| n.try_into().ok()).ok_or_else(|| wrong(what, "an integer"))
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = text.chars().map(|c| c.to_digit(16).map(|d| d as u8)).collect();
    let digits = digits.filter(|d| d.len().is_multiple_of(2))?;
    Some(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

impl ArrayArgument {
    /// An uninitialized array; `None` if it is larger than memory can be.
    pub fn unwritten(shape: Vec<u64>, element: Element) -> Option<ArrayArgument> {
        let count = shape.iter().try_fold(1u64, |n, extent| n.checked_mul(*extent))?;
        let bytes = count.checked_mul(element.size() as u64).filter(|n| *n <= MAX_UNWRITTEN)?;
        let array = Array { descr: element.descr().into(), shape, fortran: false, data: vec![0; bytes as usize] };
        let name = "unwritten.npy".into();
        Some(ArrayArgument { name, array, element, wide_index: false, strides: None, extents: None, unwritten: true })
    }

    /// The extents that are passed.
    pub fn passed_extents(&self) -> Vec<u64> {
        self.extents.clone().unwrap_or_else(|| self.array.shape.clone())
    }

    /// The strides that are passed.
    pub fn passed_strides(&self) -> Vec<u64> {
        self.strides.clone().unwrap_or_else(|| self.array.strides())
    }

    /// Whether the passed extents and strides only reach elements of the array.
    pub(crate) fn reaches_only_its_own(&self) -> bool {
        let (extents, strides) = (self.passed_extents(), self.passed_strides());
        let distance = |(extent, stride): (&u64, &u64)| extent.saturating_sub(1).checked_mul(*stride);
        let last = extents.iter().zip(&strides).map(distance).try_fold(0u64, |sum, n| sum.checked_add(n?));
        let inside = last.is_some_and(|last| (last as usize) < self.array.len()) || extents.contains(&0);
        let shape = &self.array.shape;
        let part = extents.iter().zip(shape).all(|(n, of)| n <= of);
        strides.len() == shape.len() && extents.len() == shape.len() && part && inside
    }

    /// The indices in memory of the elements of the passed part.
    pub(crate) fn passed_elements(&self) -> impl Iterator<Item = usize> {
        let (extents, strides) = (self.passed_extents(), self.passed_strides());
        let count: u64 = extents.iter().product();
        (0..count).map(move |n| {
            let place =
                |(rest, at): (u64, u64), (extent, stride): (&u64, &u64)| (rest / extent, at + rest % extent * stride);
            extents.iter().zip(&strides).rev().fold((n, 0), place).1 as usize
        })
    }
}

/// In bytes. The machine that simulates could not allocate more.
const MAX_UNWRITTEN: u64 = 1 << 32;

/// Reads the file of an array argument. The element type is the file's own unless another of the same size is given.
pub fn load(path: &Path, element: Option<Element>, wide_index: bool) -> Result<ArrayArgument, Error> {
    let array = read(path)?;
    let element = element.unwrap_or(array.element());
    if element.size() != array.item_size() {
        return Err(Error::Argument(format!(
            "{}: elements of {} bytes cannot be of type {}",
            path.display(),
            array.item_size(),
            element.name()
        )));
    }
    let limit = i32::MAX as u64;
    if !wide_index && array.shape.iter().chain(&array.strides()).any(|n| *n > limit) {
        return Err(Error::Argument(format!("{}: shape {:?} needs index type i64", path.display(), array.shape)));
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(ArrayArgument { name, array, element, wide_index, strides: None, extents: None, unwritten: false })
}

fn read(path: &Path) -> Result<Array, Error> {
    Array::read(path).map_err(|error| Error::Npy { path: path.display().to_string(), error })
}

fn expect(what: &str, value: &Value, folder: &Path) -> Result<Expect, Error> {
    let mut fields = Fields::new(what, value)?;
    let arg = fields.take("arg").and_then(Value::as_u64).ok_or_else(|| wrong(what, "'arg', an argument's number"))?;
    let files: Vec<&Value> = match fields.take("value") {
        Some(Value::Array(list)) => list.iter().collect(),
        Some(one) => vec![one],
        None => return Err(wrong(what, "'value' with a file's name")),
    };
    let values = files.into_iter().map(|f| read(&folder.join(string(what, f)?))).collect::<Result<_, _>>()?;
    let tolerance =
        Tolerance { rtol: fields.number("rtol")?, atol: fields.number("atol")?, bad: fields.number("bad")? };
    let how = match fields.take("match").map(|v| string(what, v)).transpose()?.as_deref() {
        None | Some("value") => Match::Value(tolerance),
        Some(_) if tolerance != Tolerance::default() => return Err(wrong(what, "a tolerance with 'value' only")),
        Some("bits") => Match::Bits,
        Some("bits_or_nan") => Match::BitsOrNan,
        Some("sorted") => Match::Sorted,
        Some(other) => {
            let possible = "expected value, bits, bits_or_nan or sorted";
            return Err(Error::Argument(format!("{what}: match '{other}' ({possible})")));
        }
    };
    let loose = fields.take("loose").map(|v| numbers(&format!("{what}.loose"), v)).transpose()?;
    if loose.is_some() && !matches!(how, Match::Value(_)) {
        return Err(wrong(what, "'loose' with 'value' only"));
    }
    fields.end()?;
    Ok(Expect { arg: arg as usize, values, how, loose, source: Source::Description })
}
