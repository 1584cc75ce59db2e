//! Whole programs that a compiler wrote: `tests/ptx/llvm_mixed.ptx` is clang 21's output (-O2, sm_90) for the three
//! CUDA kernels whose C++ source is repeated in Rust below.

use ptx_sim::{Arg, Config, Device, LaunchConfig, Module, Report, RunOptions};

fn launch(device: &mut Device, entry: &str, grid: u32, block: u32, args: &[Arg], seed: Option<u64>) -> Report {
    let module = Module::parse(include_str!("ptx/llvm_mixed.ptx")).unwrap_or_else(|e| panic!("{e}"));
    let launch = LaunchConfig { grid: [grid, 1, 1], block: Some([block, 1, 1]), args, ..LaunchConfig::default() };
    let options = RunOptions { adversarial: seed, ..RunOptions::default() };
    device.launch(&module, entry, &launch, &options).unwrap_or_else(|e| panic!("{e}"))
}

fn floats(device: &Device, p: ptx_sim::DevicePtr, n: usize) -> Vec<f32> {
    let mut raw = vec![0; 4 * n];
    device.read(p, &mut raw).unwrap();
    raw.chunks(4).map(|c| f32::from_le_bytes(c.try_into().unwrap())).collect()
}

#[test]
fn switches_local_arrays_and_printf() {
    let mut device = Device::new(Config::default());
    let b: Vec<f32> = (0..64).map(|i| 1.0 + i as f32 * 0.5).collect();
    let pb = device.alloc_from(&b.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>());
    let pa = device.alloc_from(&[0; 256]);
    let report = launch(&mut device, "mixed", 2, 32, &[Arg::Ptr(pa), Arg::Ptr(pb), Arg::I32(61)], None);
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
    for (i, v) in floats(&device, pa, 64).into_iter().enumerate() {
        assert_eq!(v, want(i), "{i}");
    }
    assert_eq!(report.output, format!("hello 3 {:.6}\n", want(3)));
}

#[test]
fn block_reduction() {
    for seed in [None, Some(1), Some(2)] {
        let mut device = Device::new(Config::default());
        let x: Vec<f32> = (0..1000).map(|i| ((i * 7919) % 997) as f32).collect();
        let px = device.alloc_from(&x.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>());
        let (out, at, count) = (device.alloc_from(&[0; 4]), device.alloc_from(&[0; 8]), device.alloc_from(&[0; 4]));
        let args = [Arg::Ptr(px), Arg::Ptr(out), Arg::Ptr(at), Arg::Ptr(count), Arg::I32(1000)];
        launch(&mut device, "argmax", 1, 128, &args, seed);
        let best = x.iter().copied().fold(f32::MIN, f32::max);
        let index = x.iter().position(|v| *v == best).unwrap();
        let mut raw = [0; 8];
        device.read(at, &mut raw).unwrap();
        assert_eq!((floats(&device, out, 1)[0], i64::from_le_bytes(raw)), (best, index as i64));
        let mut raw = [0; 4];
        device.read(count, &mut raw).unwrap();
        assert_eq!(u32::from_le_bytes(raw), 1);
    }
}

#[test]
fn integer_expressions() {
    let mut device = Device::new(Config::default());
    let x: Vec<i64> = (0..32).map(|i: i64| i.wrapping_mul(0x1234_5678_9abc_def1).wrapping_sub(77)).collect();
    let px = device.alloc_from(&x.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>());
    let po = device.alloc_from(&[0; 256]);
    let q = [7i32, -3, 100_000, 11];
    let bytes = q.iter().flat_map(|v| v.to_le_bytes()).collect();
    launch(&mut device, "ints", 1, 32, &[Arg::Ptr(po), Arg::Ptr(px), Arg::I32(0), Arg::Bytes(bytes)], None);
    let mut raw = vec![0; 256];
    device.read(po, &mut raw).unwrap();
    for (i, got) in raw.chunks(8).map(|c| i64::from_le_bytes(c.try_into().unwrap())).enumerate() {
        let (v, u) = (x[i], x[i] as u64);
        let mut r = v / 7;
        r ^= (u % 1_000_003) as i64;
        // The compiler relies on the square not overflowing, so its shift is that of an unsigned number.
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
