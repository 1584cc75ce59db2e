//! Branches, loops, calls, parameters and geometry.

use super::harness::{Random, run};

#[test]
fn vector_addition() {
    run("vadd", |k| {
        let mut random = Random::new(1);
        let (a, b) = (random.floats(1000, 10.0), random.floats(1000, 10.0));
        k.input(&a);
        k.input(&b);
        let out = k.output::<f32>(1000);
        k.scalar::<i32>(1000);
        k.launch(8, 128);
        k.expect_bits(out, &a.iter().zip(&b).map(|(x, y)| x + y).collect::<Vec<_>>());
    });
}

#[test]
fn grid_stride_loop() {
    run("grid_stride", |k| {
        let mut random = Random::new(2);
        let (a, b) = (random.floats(777, 3.0), random.floats(777, 3.0));
        k.scalar(1.25f32);
        k.input(&a);
        let out = k.input(&b);
        k.scalar(777i64);
        k.launch(3, 64);
        k.expect_bits(out, &a.iter().zip(&b).map(|(x, y)| 1.25f32.mul_add(*x, *y)).collect::<Vec<_>>());
    });
}

#[test]
fn switch_becomes_a_branch_table() {
    run("switch_table", |k| {
        let a = Random::new(4).words(128, |x| (x % 11) as i32 - 1);
        k.input(&a);
        let out = k.output::<i32>(128);
        k.launch(2, 64);
        let expected: Vec<i32> = a
            .iter()
            .zip(0i32..)
            .map(|(&x, i)| match x {
                0 => i * 3,
                1 => i ^ 0x55,
                2 => -i,
                3 => i << 4,
                4 => i / 3,
                5 => i % 7,
                6 => i.count_ones() as i32,
                7 => i.reverse_bits(),
                _ => 1000 + x,
            })
            .collect();
        k.expect(out, &expected);
    });
}

#[test]
fn divergent_loops() {
    run("collatz", |k| {
        let mut a = Random::new(6).words(60, |x| (x % 5000) as u32 + 1);
        a.extend([1, 2, 27, 113_383]);
        k.input(&a);
        let out = k.output::<u32>(128);
        k.launch(1, 64);
        let expected: Vec<u32> = a
            .iter()
            .flat_map(|&start| {
                let (mut x, mut steps, mut top) = (start, 0, 0);
                while x != 1 {
                    if x & 1 == 1 {
                        if x > 100_000_000 {
                            break;
                        }
                        x = 3 * x + 1;
                    } else {
                        x >>= 1;
                    }
                    top = top.max(x);
                    steps += 1;
                }
                [steps, top]
            })
            .collect();
        k.expect(out, &expected);
    });
}

#[test]
fn calls_and_function_pointers() {
    for pick in [0, 1] {
        run("device_call", |k| {
            let a = Random::new(8).words(32, |x| x as i32 % 30_000);
            k.input(&a);
            let out = k.output::<i64>(96);
            k.scalar::<i32>(pick);
            k.launch(1, 32);
            let expected: Vec<i64> = a
                .iter()
                .zip(0i64..)
                .flat_map(|(&x, i)| {
                    let x = i64::from(x);
                    [2 * x, i + x, if pick == 1 { x * x } else { 2 * x }]
                })
                .collect();
            k.expect(out, &expected);
        });
    }
}

#[test]
fn recursion() {
    fn ackermann(m: u32, n: u32) -> u32 {
        match (m, n) {
            (0, n) => n + 1,
            (m, 0) => ackermann(m - 1, 1),
            (m, n) => ackermann(m - 1, ackermann(m, n - 1)),
        }
    }
    run("recursion", |k| {
        let out = k.output::<u32>(12);
        k.launch(1, 12);
        k.expect(out, &(0..12).map(|i| ackermann(i % 3, i / 3)).collect::<Vec<_>>());
    });
}

#[test]
fn structure_parameters() {
    run("struct_param", |k| {
        let table = [7i16, -3, 0, 12, -30000];
        let mut bytes = vec![0u8; 32];
        bytes[0] = 65;
        bytes[8..16].copy_from_slice(&2.5f64.to_le_bytes());
        for (i, x) in table.iter().enumerate() {
            bytes[16 + 2 * i..18 + 2 * i].copy_from_slice(&x.to_le_bytes());
        }
        bytes[28..32].copy_from_slice(&0.75f32.to_le_bytes());
        k.structure(bytes);
        let out = k.output::<f64>(32);
        k.launch(1, 32);
        k.expect(out, &(0..32).map(|i| 2.5 * f64::from(table[i % 5]) + 0.75 + 65.0).collect::<Vec<_>>());
    });
}

#[test]
fn lanes_that_leave_early() {
    run("early_exit", |k| {
        let out = k.output::<i32>(32);
        k.launch(1, 32);
        let sum: i32 = (0..32).filter(|i| i % 4 != 3).sum();
        k.expect(out, &(0..32).map(|i| if i % 4 == 3 { -1 } else { sum }).collect::<Vec<_>>());
    });
}

#[test]
fn three_dimensional_geometry() {
    run("grid_3d", |k| {
        let out = k.output::<i32>(12 * 6 * 6);
        k.launch_3d([3, 2, 3], [4, 3, 2], 0);
        let expected: Vec<i32> =
            (0..6).flat_map(|z| (0..6).flat_map(move |y| (0..12).map(move |x| x + 100 * y + 10_000 * z))).collect();
        k.expect(out, &expected);
    });
}

#[test]
fn matrix_product() {
    run("matmul_naive", |k| {
        let mut random = Random::new(10);
        let n = 16;
        let (a, b) = (random.floats(n * n, 2.0), random.floats(n * n, 2.0));
        k.input(&a);
        k.input(&b);
        let out = k.output::<f32>(n * n);
        k.scalar(n as i32);
        k.launch_3d([2, 2, 1], [8, 8, 1], 0);
        let expected: Vec<f32> =
            (0..n * n).map(|i| (0..n).fold(0.0f32, |s, j| a[i / n * n + j].mul_add(b[j * n + i % n], s))).collect();
        k.expect_bits(out, &expected);
    });
}

#[test]
fn printing() {
    run("print", |k| {
        let a: Vec<f32> = (0..32).map(|i| i as f32 * 1.5).collect();
        k.input(&a);
        k.launch(1, 32);
        let line = |i: usize| format!("lane {i}: {:5.2}|text  |0000beef z -5%", a[i]);
        k.expect_lines(&[line(19), line(3)]);
    });
}

#[test]
fn special_registers() {
    run("special_registers", |k| {
        let out = k.output::<u32>(4 * 96);
        k.launch(2, 48);
        let expected: Vec<u32> = (0..96u32)
            .flat_map(|i| {
                let lane = i % 48 % 32;
                [lane, (1 << lane) - 1, u32::MAX << lane, 2048]
            })
            .collect();
        k.expect(out, &expected);
    });
}
