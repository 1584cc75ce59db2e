//! Whole programs compiled by clang: `tests/ptx/llvm_mixed.ptx` is clang 21's output (-O2, sm_90) for three CUDA
//! kernels, whose C++ source is repeated in Rust below.

#[path = "common/cases.rs"]
mod cases;

use cases::Given;
use ptx_sim::{Arg, Config, Device, DevicePtr, LaunchConfig, Module, Report, RunOptions};

use tile_launch::element::Element;

const PTX: &str = include_str!("ptx/llvm_mixed.ptx");

/// An argument: memory with its contents, or a value.
enum Input {
    Memory(Element, Vec<u8>),
    Word(u32),
    Structure(Vec<u8>),
}

use Input::{Memory, Structure, Word};

/// Launches an entry on a fresh device; returns the final contents of each memory argument.
fn launch(entry: &str, grid: u32, block: u32, inputs: &[Input], seed: Option<u64>) -> (Vec<Vec<u8>>, Report) {
    let module = Module::parse(PTX).unwrap_or_else(|e| panic!("{e}"));
    let mut device = Device::new(Config::default());
    let pointers: Vec<Option<DevicePtr>> = inputs
        .iter()
        .map(|i| match i {
            Memory(_, bytes) => Some(device.alloc_from(bytes)),
            _ => None,
        })
        .collect();
    let args: Vec<Arg> = inputs
        .iter()
        .zip(&pointers)
        .map(|(input, pointer)| match (input, pointer) {
            (Word(value), _) => Arg::U32(*value),
            (Structure(bytes), _) => Arg::Bytes(bytes.clone()),
            (Memory(..), pointer) => Arg::Ptr(pointer.unwrap()),
        })
        .collect();
    let launch =
        LaunchConfig { grid: [grid, 1, 1], block: Some([block, 1, 1]), args: &args, ..LaunchConfig::default() };
    let options = RunOptions { adversarial: seed, ..RunOptions::default() };
    let report = device.launch(&module, entry, &launch, &options).unwrap_or_else(|e| panic!("{e}"));
    let after: Vec<Vec<u8>> = inputs
        .iter()
        .zip(&pointers)
        .map(|(input, pointer)| {
            let Memory(_, before) = input else { return vec![] };
            let mut bytes = vec![0; before.len()];
            device.read(pointer.unwrap(), &mut bytes).unwrap();
            bytes
        })
        .collect();
    if seed.is_none() {
        let given: Vec<Given<'_>> = inputs
            .iter()
            .zip(&after)
            .map(|(input, after)| match input {
                Memory(element, before) => Given::Memory(*element, before, after),
                Word(value) => Given::Word(*value),
                Structure(bytes) => Given::Structure(bytes),
            })
            .collect();
        cases::record_run(PTX, entry, &launch, &given, &report);
    }
    (after, report)
}

fn bytes<const N: usize>(values: impl IntoIterator<Item = [u8; N]>) -> Vec<u8> {
    values.into_iter().flatten().collect()
}

fn floats(raw: &[u8]) -> Vec<f32> {
    raw.chunks(4).map(|c| f32::from_le_bytes(c.try_into().unwrap())).collect()
}

fn float_memory(values: &[f32]) -> Input {
    Memory(Element::F32, bytes(values.iter().map(|v| v.to_le_bytes())))
}

#[test]
fn switches_local_arrays_and_printf() {
    let b: Vec<f32> = (0..64).map(|i| 1.0 + i as f32 * 0.5).collect();
    let (after, report) = launch("mixed", 2, 32, &[float_memory(&[0.0; 64]), float_memory(&b), Word(61)], None);
    let want = |i: usize| {
        if i >= 61 {
            return 0.0;
        }
        let base = b[i].mul_add(2.0, b[i] * 5.0);
        match i % 7 {
            0 => 1.0,
            1 => base + 3.0,
            2 => base / 3.0,
            3 => b[i] - 1.0,
            4 => b[i].sqrt(),
            _ => base,
        }
    };
    for (i, v) in floats(&after[0]).into_iter().enumerate() {
        assert_eq!(v, want(i), "{i}");
    }
    assert_eq!(report.output, format!("hello 3 {:.6}\n", want(3)));
}

#[test]
fn block_reduction() {
    for seed in [None, Some(1), Some(2)] {
        let x: Vec<f32> = (0..1000).map(|i| ((i * 7919) % 997) as f32).collect();
        let inputs = [
            float_memory(&x),
            float_memory(&[0.0]),
            Memory(Element::I64, vec![0; 8]),
            Memory(Element::U32, vec![0; 4]),
            Word(1000),
        ];
        let (after, _) = launch("argmax", 1, 128, &inputs, seed);
        let best = x.iter().copied().fold(f32::MIN, f32::max);
        let index = x.iter().position(|v| *v == best).unwrap();
        assert_eq!(floats(&after[1]), [best]);
        assert_eq!(after[2], (index as i64).to_le_bytes());
        assert_eq!(after[3], 1u32.to_le_bytes());
    }
}

#[test]
fn integer_expressions() {
    let x: Vec<i64> = (0..32).map(|i: i64| i.wrapping_mul(0x1234_5678_9abc_def1).wrapping_sub(77)).collect();
    let q = [7i32, -3, 100_000, 11];
    let inputs = [
        Memory(Element::I64, vec![0; 256]),
        Memory(Element::I64, bytes(x.iter().map(|v| v.to_le_bytes()))),
        Word(0),
        Structure(bytes(q.iter().map(|v| v.to_le_bytes()))),
    ];
    let (after, _) = launch("ints", 1, 32, &inputs, None);
    for (i, got) in after[0].chunks(8).map(|c| i64::from_le_bytes(c.try_into().unwrap())).enumerate() {
        let (v, u) = (x[i], x[i] as u64);
        let mut r = v / 7;
        r ^= (u % 1_000_003) as i64;
        // The compiler assumes that the square does not overflow, so its shift is unsigned.
        r = r.wrapping_add((u.wrapping_mul(u) >> 3) as i64);
        r = r.wrapping_add(i64::from(u.count_ones())).wrapping_add(i64::from((u | 1).leading_zeros()));
        r ^= u.rotate_left(13) as i64;
        r = r.wrapping_add(i64::from(q[0]) + i64::from(q[1]) * i64::from(q[2]) - i64::from(q[3]));
        r = r.wrapping_add(i64::from(i32::from(v as i16) * i32::from((v >> 5) as i8)));
        r = r.wrapping_add(((u128::from(u) * u128::from(u)) >> 64) as i64);
        r = r.wrapping_sub(v as f64 as i64).wrapping_add(i64::from((i as i32 * 3) as f32 as u32));
        assert_eq!(got, r, "{i}");
    }
}
