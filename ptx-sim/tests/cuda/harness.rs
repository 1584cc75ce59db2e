//! Loads a kernel, gives it buffers, launches it, and reads the results.

use std::path::PathBuf;

use ptx_sim::units::{ElementType, Fill, TensorMap, TileParams};
use ptx_sim::{Arg, Config, Device, DevicePtr, LaunchConfig, Module, Report, RunOptions};

/// Seeds of the schedules that every kernel runs under; `None` is the plain one.
const SCHEDULES: [Option<u64>; 3] = [None, Some(1), Some(7)];

/// A number that lies in memory as little-endian bytes.
pub trait Plain: Copy {
    const SIZE: usize;
    fn put(self, out: &mut Vec<u8>);
    fn get(bytes: &[u8]) -> Self;
}

macro_rules! plain {
    ($($t:ty),*) => {$(
        impl Plain for $t {
            const SIZE: usize = size_of::<$t>();
            fn put(self, out: &mut Vec<u8>) {
                out.extend(self.to_le_bytes());
            }
            fn get(bytes: &[u8]) -> Self {
                Self::from_le_bytes(bytes.try_into().unwrap())
            }
        }
    )*};
}

plain!(u8, i8, u16, i16, u32, i32, u64, i64, f32, f64);

/// A device allocation.
#[derive(Clone, Copy)]
pub struct Buffer {
    pub pointer: DevicePtr,
    bytes: usize,
}

/// One kernel on a fresh device.
pub struct Kernel {
    device: Device,
    module: Module,
    args: Vec<Arg>,
    name: String,
    schedule: Option<u64>,
}

/// Runs `test` once for each schedule.
pub fn run(name: &str, test: impl Fn(&mut Kernel)) {
    let path = folder().join("ptx").join(format!("{name}.ptx"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    for schedule in SCHEDULES {
        let module = Module::parse(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
        let device = Device::new(Config::default());
        test(&mut Kernel { device, module, args: Vec::new(), name: name.into(), schedule });
    }
}

/// The folder of the kernels.
pub fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cuda")
}

impl Kernel {
    /// Whether this run is not adversarial.
    pub fn is_plain(&self) -> bool {
        self.schedule.is_none()
    }

    /// A buffer with contents; it becomes the next argument.
    pub fn input<T: Plain>(&mut self, data: &[T]) -> Buffer {
        let buffer = self.hidden(data);
        self.args.push(Arg::Ptr(buffer.pointer));
        buffer
    }

    /// A buffer with contents that is no argument.
    pub fn hidden<T: Plain>(&mut self, data: &[T]) -> Buffer {
        let mut bytes = Vec::new();
        data.iter().for_each(|x| x.put(&mut bytes));
        Buffer { pointer: self.device.alloc_from(&bytes), bytes: bytes.len() }
    }

    /// An unwritten buffer of `n` elements; it becomes the next argument.
    /// Reading back an element that the kernel did not write fails.
    pub fn output<T: Plain>(&mut self, n: usize) -> Buffer {
        let bytes = n * T::SIZE;
        let buffer = Buffer { pointer: self.device.alloc(bytes as u64), bytes };
        self.args.push(Arg::Ptr(buffer.pointer));
        buffer
    }

    pub fn arg(&mut self, arg: Arg) {
        self.args.push(arg);
    }

    /// A tensor map of `buffer` as the next argument.
    pub fn map(&mut self, buffer: Buffer, map: &Tile<'_>) {
        let params = TileParams {
            element: map.element,
            address: buffer.pointer.0,
            dims: map.dims,
            strides: map.strides,
            box_dims: map.box_dims,
            element_strides: if map.steps.is_empty() { &[1; 5][..map.dims.len()] } else { map.steps },
            interleave: 0,
            swizzle: map.swizzle,
            fill: map.fill,
        };
        let map = TensorMap::tiled(&params).unwrap();
        self.args.push(Arg::Bytes(map.encode().to_vec()));
    }

    /// Launches with one-dimensional extents.
    pub fn launch(&mut self, grid: u32, block: u32) -> Report {
        self.launch_3d([grid, 1, 1], [block, 1, 1], 0)
    }

    pub fn launch_3d(&mut self, grid: [u32; 3], block: [u32; 3], dynamic_shared: u32) -> Report {
        let config = LaunchConfig { grid, block: Some(block), cluster: None, dynamic_shared, args: &self.args };
        let options =
            RunOptions { adversarial: self.schedule, max_instructions: Some(20_000_000), ..RunOptions::default() };
        self.device
            .launch(&self.module, "kernel", &config, &options)
            .unwrap_or_else(|e| panic!("{} under schedule {:?}: {e}", self.name, self.schedule))
    }

    /// The contents of a buffer.
    pub fn read<T: Plain>(&self, buffer: Buffer) -> Vec<T> {
        let mut bytes = vec![0; buffer.bytes];
        self.device
            .read(buffer.pointer, &mut bytes)
            .unwrap_or_else(|e| panic!("{} under schedule {:?}: {e}", self.name, self.schedule));
        bytes.chunks(T::SIZE).map(T::get).collect()
    }

    /// Compares a buffer with the expected contents.
    pub fn expect<T: Plain + PartialEq + std::fmt::Debug>(&self, buffer: Buffer, expected: &[T]) {
        let found = self.read::<T>(buffer);
        assert_eq!(found.len(), expected.len(), "{}: length", self.name);
        for (i, (f, e)) in found.iter().zip(expected).enumerate() {
            assert!(f == e, "{} under schedule {:?}: element {i} is {f:?}, expected {e:?}", self.name, self.schedule);
        }
    }

    /// Compares bit patterns, so that NaNs and zeros count.
    pub fn expect_bits(&self, buffer: Buffer, expected: &[f32]) {
        let bits: Vec<u32> = expected.iter().map(|x| x.to_bits()).collect();
        self.expect(buffer, &bits);
    }

    /// Compares with a relative tolerance, absolute below 1.
    pub fn expect_near(&self, buffer: Buffer, expected: &[f64], tolerance: f64) {
        let found = self.read::<f32>(buffer);
        assert_eq!(found.len(), expected.len(), "{}: length", self.name);
        for (i, (f, e)) in found.iter().zip(expected).enumerate() {
            let near = (f64::from(*f) - e).abs() <= tolerance * e.abs().max(1.0);
            assert!(near || f.is_nan() && e.is_nan(), "{}: element {i} is {f}, expected {e}", self.name);
        }
    }
}

/// A tiled tensor map, apart from its address.
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

    /// Small whole numbers, exact in every format with two exponent bits or more.
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
