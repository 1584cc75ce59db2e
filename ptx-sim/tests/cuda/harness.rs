//! Loads a kernel, allocates its buffers, launches it, and compares the results.
//!
//! A kernel's launch is a `tile-launch` description that includes the expected results, so it can be written out and
//! run elsewhere (see [`super::cases`]).

use std::path::PathBuf;

use ptx_sim::units::{ElementType, Fill};
use ptx_sim::{Module, Report, RunOptions};
use tile_launch::compare::compare;
pub use tile_launch::element::Element;
use tile_launch::execute::{Outcome, execute};
use tile_launch::launch::{Argument, ArrayArgument, Expect, Launch, MapParams, Match, Source, Tolerance};
use tile_launch::npy::Array;

use super::cases;

/// Seeds of the schedules for every kernel; `None` is the plain schedule.
const SCHEDULES: [Option<u64>; 3] = [None, Some(1), Some(7)];

/// A number stored as little-endian bytes.
pub trait Plain: Copy {
    const ELEMENT: Element;
    fn put(self, out: &mut Vec<u8>);
    fn get(bytes: &[u8]) -> Self;
}

macro_rules! plain {
    ($($t:ty: $element:ident),*) => {$(
        impl Plain for $t {
            const ELEMENT: Element = Element::$element;
            fn put(self, out: &mut Vec<u8>) {
                out.extend(self.to_le_bytes());
            }
            fn get(bytes: &[u8]) -> Self {
                Self::from_le_bytes(bytes.try_into().unwrap())
            }
        }
    )*};
}

plain!(u8: U8, i8: I8, u16: U16, i16: I16, u32: U32, i32: I32, u64: U64, i64: I64, f32: F32, f64: F64);

fn array<T: Plain>(data: &[T]) -> Array {
    let mut bytes = Vec::new();
    data.iter().for_each(|x| x.put(&mut bytes));
    Array { descr: T::ELEMENT.descr().into(), shape: vec![data.len() as u64], fortran: false, data: bytes }
}

fn contents<T: Plain>(data: &[T]) -> ArrayArgument {
    let name = "contents.npy".into();
    let (array, element) = (array(data), T::ELEMENT);
    ArrayArgument { name, array, element, wide_index: false, strides: None, extents: None, unwritten: false }
}

/// Memory passed as an argument, identified by the argument's number.
#[derive(Clone, Copy)]
pub struct Buffer(usize);

/// One kernel on a fresh device.
pub struct Kernel {
    module: Module,
    ptx: String,
    launch: Launch,
    outcome: Option<Outcome>,
    name: String,
    schedule: Option<u64>,
}

/// Runs `test` once for each schedule.
pub fn run(name: &str, test: impl Fn(&mut Kernel)) {
    let path = folder().join("ptx").join(format!("{name}.ptx"));
    let ptx = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    for schedule in SCHEDULES {
        let module = Module::parse(&ptx).unwrap_or_else(|e| panic!("{name}: {e}"));
        let launch = Launch { entry: Some("kernel".into()), ..Launch::default() };
        let (ptx, name) = (ptx.clone(), name.into());
        let mut kernel = Kernel { module, ptx, launch, outcome: None, name, schedule };
        test(&mut kernel);
        kernel.record();
    }
}

/// The folder of the kernels.
pub fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cuda")
}

impl Kernel {
    /// Whether this run uses the plain schedule.
    pub fn is_plain(&self) -> bool {
        self.schedule.is_none()
    }

    /// Adds a buffer with contents as the next argument.
    pub fn input<T: Plain>(&mut self, data: &[T]) -> Buffer {
        self.push(Argument::Buffer(contents(data)))
    }

    /// Adds an unwritten buffer of `n` elements as the next argument. Reading an element that the kernel did not write
    /// fails.
    pub fn output<T: Plain>(&mut self, n: usize) -> Buffer {
        let buffer = ArrayArgument::unwritten(vec![n as u64], T::ELEMENT).unwrap();
        self.push(Argument::Buffer(buffer))
    }

    /// Adds a number as the next argument.
    pub fn scalar<T: Plain>(&mut self, value: T) {
        let mut bytes = vec![];
        value.put(&mut bytes);
        self.push(Argument::Scalar { element: T::ELEMENT, bytes });
    }

    /// Adds a structure by value as the next argument.
    pub fn structure(&mut self, bytes: Vec<u8>) {
        self.push(Argument::Bytes(bytes));
    }

    /// Adds a tensor map of a buffer with contents as the next argument.
    pub fn map<T: Plain>(&mut self, data: &[T], map: &Tile<'_>) -> Buffer {
        let params = MapParams {
            element: (0..16).find(|n| ElementType::from_driver(*n) == Some(map.element)).unwrap(),
            dims: map.dims.into(),
            strides: map.strides.into(),
            box_dims: map.box_dims.into(),
            steps: if map.steps.is_empty() { vec![1; map.dims.len()] } else { map.steps.into() },
            swizzle: map.swizzle,
            fill_nan: map.fill == Fill::Nan,
        };
        self.push(Argument::TensorMap { of: contents(data), params })
    }

    fn push(&mut self, argument: Argument) -> Buffer {
        self.launch.args.push(argument);
        Buffer(self.launch.args.len() - 1)
    }

    /// Launches a one-dimensional grid and block.
    pub fn launch(&mut self, grid: u32, block: u32) -> Report {
        self.launch_3d([grid, 1, 1], [block, 1, 1], 0)
    }

    /// Launches the kernel; a repeated launch continues with the memory as it is.
    pub fn launch_3d(&mut self, grid: [u32; 3], block: [u32; 3], dynamic_shared: u32) -> Report {
        if self.outcome.is_some() {
            self.record();
            assert_eq!((self.launch.grid, self.launch.block), (grid, Some(block)), "{}: another launch", self.name);
            self.launch.launches += 1;
            self.launch.expect.clear();
        }
        self.launch.grid = grid;
        self.launch.block = Some(block);
        self.launch.dynamic_shared = dynamic_shared;
        let options =
            RunOptions { adversarial: self.schedule, max_instructions: Some(20_000_000), ..RunOptions::default() };
        let outcome = execute(&self.module, &self.launch, &options)
            .unwrap_or_else(|e| panic!("{} under schedule {:?}: {e}", self.name, self.schedule));
        self.outcome.insert(outcome).report.clone()
    }

    /// Documents which results are unspecified, if the expectations do not cover all of them.
    pub fn note(&mut self, text: &str) {
        self.launch.note = Some(text.into());
    }

    /// Expects the kernel to print these lines, in any order.
    pub fn expect_lines(&mut self, lines: &[String]) {
        let complaint = tile_launch::compare::compare_lines(&self.outcome().report.output, lines);
        assert_eq!(complaint, None, "{} under schedule {:?}", self.name, self.schedule);
        self.launch.stdout = Some(lines.to_vec());
    }

    fn outcome(&self) -> &Outcome {
        self.outcome.as_ref().unwrap_or_else(|| panic!("{} has not been launched", self.name))
    }

    /// Reads the contents of a buffer.
    pub fn read<T: Plain>(&self, buffer: Buffer) -> Vec<T> {
        self.outcome().arrays[buffer.0][0].data.chunks(T::ELEMENT.size()).map(T::get).collect()
    }

    fn check<T: Plain>(&mut self, buffer: Buffer, expected: &[T], element: Element, how: Match) {
        let mut want = array(expected);
        let got = &self.outcome().arrays[buffer.0][0];
        // Bits are compared as elements of the buffer's type, whatever their given type.
        if !matches!(how, Match::Value(_)) {
            assert_eq!(want.data.len(), got.data.len(), "{}: length", self.name);
            (want.descr, want.shape) = (got.descr.clone(), got.shape.clone());
        }
        let name = format!("{} under schedule {:?}: argument {}", self.name, self.schedule, buffer.0);
        if let Some(complaint) = compare(&name, got, element, &want, how) {
            panic!("{complaint}");
        }
        self.launch.expect.push(Expect {
            arg: buffer.0,
            values: vec![want],
            how,
            loose: None,
            source: Source::Description,
        });
    }

    fn element(&self, buffer: Buffer) -> Element {
        self.launch.args[buffer.0].arrays()[0].element
    }

    /// Compares a buffer with the expected contents: numbers if both are floats, and bits otherwise.
    pub fn expect<T: Plain>(&mut self, buffer: Buffer, expected: &[T]) {
        let element = self.element(buffer);
        let how = if element == T::ELEMENT && !element.is_integer() {
            Match::Value(Tolerance::default())
        } else {
            Match::Bits
        };
        self.check(buffer, expected, element, how);
    }

    /// Compares bit patterns, so that NaNs and signs of zeros matter.
    pub fn expect_bits(&mut self, buffer: Buffer, expected: &[f32]) {
        self.check(buffer, expected, Element::F32, Match::Bits);
    }

    /// Compares bit patterns of floats of the given type, treating all NaNs as equal.
    pub fn expect_bits_or_nan<T: Plain>(&mut self, buffer: Buffer, expected: &[T], element: Element) {
        // The description stores the element type with the argument.
        if let Argument::Buffer(a) = &mut self.launch.args[buffer.0] {
            a.element = element;
        }
        self.check(buffer, expected, element, Match::BitsOrNan);
    }

    /// Compares with a relative tolerance, which is absolute below 1.
    pub fn expect_near(&mut self, buffer: Buffer, expected: &[f64], tolerance: f64) {
        let how = Match::Value(Tolerance { rtol: tolerance, atol: tolerance, bad: 0.0 });
        self.check(buffer, expected, self.element(buffer), how);
    }

    /// Compares without regard to the order of the elements.
    pub fn expect_sorted<T: Plain>(&mut self, buffer: Buffer, expected: &[T]) {
        self.check(buffer, expected, self.element(buffer), Match::Sorted);
    }

    /// Writes the case if requested.
    fn record(&self) {
        if self.is_plain() && self.outcome.is_some() {
            cases::record(&self.name, &self.ptx, &self.launch);
        }
    }
}

/// A tiled tensor map, without its address.
pub struct Tile<'a> {
    pub element: ElementType,
    pub dims: &'a [u64],
    pub strides: &'a [u64],
    pub box_dims: &'a [u32],
    /// Element strides; empty means all 1.
    pub steps: &'a [u32],
    pub swizzle: u32,
    pub fill: Fill,
}

/// Deterministic pseudo-random words.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub fn words<T>(&mut self, n: usize, f: impl Fn(u64) -> T) -> Vec<T> {
        (0..n).map(|_| f(self.next())).collect()
    }

    /// Floats between -limit and limit with a few significant bits.
    pub fn floats(&mut self, n: usize, limit: f32) -> Vec<f32> {
        self.words(n, |x| ((x >> 40) as f32 / (1u32 << 23) as f32 - 1.0) * limit)
    }

    /// Small integers, exact in every format with at least two exponent bits.
    pub fn whole(&mut self, n: usize, low: i32, high: i32) -> Vec<f32> {
        self.words(n, |x| (low + (x >> 20) as i32 % (high - low + 1)).clamp(low, high) as f32)
    }
}

/// Interesting single-precision patterns.
pub fn special_floats() -> Vec<f32> {
    vec![
        0.0,
        -0.0,
        1.0,
        -1.0,
        1.5,
        -2.5,
        0.5,
        3.0,
        1e-40,
        -1e-40,
        1.175_494_4e-38,
        -3.402_823_5e38,
        3.402_823_5e38,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        1e-20,
        1e20,
        0.1,
        -0.7,
        1.999_999_9,
        16_777_217.0,
        2_147_483_648.0,
        -2_147_483_648.0,
        4_294_967_296.0,
        1e19,
        -5.5,
        6.5,
        255.5,
        0.499_999_97,
        65504.0,
        1_234.567,
    ]
}
