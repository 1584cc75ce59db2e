//! State spaces, widths and asynchronous element copies.

use super::harness::{Random, run};

#[test]
fn transposition_through_shared_memory() {
    run("shared_transpose", |k| {
        let a: Vec<f32> = (0..32 * 32).map(|i| i as f32).collect();
        k.input(&a);
        let out = k.output::<f32>(32 * 32);
        k.scalar::<i32>(32);
        k.launch_3d([2, 2, 1], [16, 16, 1], 0);
        k.expect(out, &(0..1024).map(|i| a[i % 32 * 32 + i / 32]).collect::<Vec<_>>());
    });
}

#[test]
fn dynamic_shared_memory() {
    run("dynamic_shared", |k| {
        let a = Random::new(1).words(64, |x| x as i32 % 10_000);
        k.input(&a);
        let out = k.output::<i32>(64);
        k.launch_3d([1, 1, 1], [64, 1, 1], 64 * 6);
        k.expect(out, &(0..64).map(|i| a[63 - i] + i32::from((a[63 - i] * 3) as i16)).collect::<Vec<_>>());
    });
}

#[test]
fn constant_memory() {
    run("constant_table", |k| {
        let a = Random::new(2).words(32, |x| x as i32);
        k.input(&a);
        let out = k.output::<f64>(32);
        k.launch(1, 32);
        let table = [3, 1, 4, 1, 5, 9, 2, 6];
        k.expect(out, &a.iter().map(|x| f64::from(table[(x & 7) as usize]) * 0.5).collect::<Vec<_>>());
    });
}

#[test]
fn local_memory() {
    run("local_array", |k| {
        let a = Random::new(3).words(64, |x| x as i32 & 0xff);
        k.input(&a);
        let out = k.output::<i32>(128);
        k.launch(1, 64);
        let expected: Vec<i32> = (0..64)
            .flat_map(|i| {
                let mut seen = [0i32; 16];
                (0..64).for_each(|k| seen[((a[k] + i) & 15) as usize] += k as i32);
                let best = (1..16).fold(0, |b, k| if seen[k] > seen[b] { k } else { b });
                [best as i32, seen[best]]
            })
            .collect();
        k.expect(out, &expected);
    });
}

#[test]
fn vector_loads_and_stores() {
    run("vector_access", |k| {
        let a: Vec<f32> = (0..128).map(|i| i as f32 * 0.5).collect();
        let b: Vec<f64> = (0..64).map(|i| f64::from(i) * -1.5).collect();
        k.input(&a);
        k.input(&b);
        let c = k.output::<f32>(128);
        let d = k.output::<i32>(64);
        k.launch(1, 32);
        k.expect(c, &(0..128).map(|i| a[i / 4 * 4 + 3 - i % 4]).collect::<Vec<_>>());
        k.expect(d, &b.iter().map(|x| *x as i32).collect::<Vec<_>>());
    });
}

/// Variables keep their values from one launch to the next.
#[test]
fn module_variables() {
    run("global_state", |k| {
        let out = k.output::<i32>(7);
        k.launch(1, 32);
        k.expect(out, &[10, 21, 32, 43, 20, 30, 40]);
        k.launch(1, 32);
        k.expect(out, &[20, 42, 64, 86, 20, 30, 40]);
    });
}

#[test]
fn generic_addresses() {
    run("generic_pointer", |k| {
        let out = k.output::<i32>(32);
        k.launch(1, 32);
        let expected: Vec<i32> = (0..32)
            .map(|i| match i % 3 {
                0 => 31 - i + 1000,
                1 => 100 + 31 - i + 2000,
                _ => 7 * i + 4000,
            })
            .collect();
        k.expect(out, &expected);
    });
}

#[test]
fn bytes_and_halves() {
    run("narrow_access", |k| {
        let mut random = Random::new(5);
        let a = random.words(32, |x| x as i8);
        let b = random.words(32, |x| x as u8);
        let c = random.words(32, |x| x as i16);
        k.input(&a);
        k.input(&b);
        k.input(&c);
        let out = k.output::<i32>(32);
        let bytes = k.input(&[0u8; 128]);
        k.launch(1, 32);
        let wide = |i: usize| i32::from(a[i]) * 1000 + i32::from(b[i]) + i32::from(c[i]);
        k.expect(out, &(0..32).map(wide).collect::<Vec<_>>());
        let mut expected = vec![0u8; 128];
        for i in 0..32 {
            expected[i] = (i32::from(a[i]) + i32::from(b[i])) as u8;
            expected[64 + 2 * i..66 + 2 * i].copy_from_slice(&c[i].wrapping_mul(3).to_le_bytes());
        }
        k.expect(bytes, &expected);
    });
}

#[test]
fn asynchronous_element_copies() {
    run("async_copy", |k| {
        let n = 450;
        let a = Random::new(7).floats(n, 9.0);
        k.input(&a);
        let out = k.output::<f32>(512);
        k.scalar(n as i32);
        k.launch(1, 32);
        let at = |i: usize| a.get(i).copied().unwrap_or(0.0);
        k.expect(out, &(0..512).map(|i| at(i / 128 * 128 + 127 - i % 128)).collect::<Vec<_>>());
    });
}

#[test]
fn copies_counted_on_barriers() {
    run("cp_async_mbar", |k| {
        let a: Vec<i32> = (0..256).map(|i| i * 3).collect();
        k.input(&a);
        let out = k.output::<i32>(64);
        k.launch(1, 32);
        let expected: Vec<i32> = (0..32).flat_map(|i| [a[4 * (31 - i) + 2], a[4 * (32 + 31 - i) + 1]]).collect();
        k.expect(out, &expected);
    });
}
