//! TMA copies.

use ptx_sim::units::{ElementType, Fill};

use super::harness::{Kernel, Random, Tile, run};

const PLAIN: Tile<'_> = Tile {
    element: ElementType::S32,
    dims: &[],
    strides: &[],
    box_dims: &[],
    steps: &[],
    swizzle: 0,
    fill: Fill::Zero,
};

#[test]
fn a_tile() {
    run("tma_plain", |k| {
        let a: Vec<f32> = (0..64 * 40).map(|i| i as f32).collect();
        let tile = Tile { element: ElementType::F32, dims: &[64, 40], strides: &[256], box_dims: &[32, 8], ..PLAIN };
        k.map(&a, &tile);
        let out = k.output::<f32>(256);
        k.scalar::<i32>(16);
        k.scalar::<i32>(20);
        k.launch(1, 32);
        k.expect(out, &(0..256).map(|i| a[(20 + i / 32) * 64 + 16 + i % 32]).collect::<Vec<_>>());
    });
}

/// The image of each swizzle, from the published chunk patterns: in a line of 128 bytes, chunk `c` goes to `c` XOR the
/// masked line number.
#[test]
fn swizzles() {
    for (swizzle, width, flip) in [
        (1, 16usize, [0usize, 1, 0, 1, 0, 1, 0, 1]),
        (2, 32, [0, 1, 2, 3, 0, 1, 2, 3]),
        (3, 64, [0, 1, 2, 3, 4, 5, 6, 7]),
        (4, 64, [0, 2, 4, 6, 0, 2, 4, 6]),
    ] {
        // Only newer machines have larger units.
        run(if swizzle < 4 { "tma_swizzle" } else { "tma_swizzle_units" }, |k: &mut Kernel| {
            let a: Vec<u16> = (0..16 * 64).collect();
            let (dims, box_dims) = ([64, 16], [width as u32, 16]);
            let tile =
                Tile { element: ElementType::U16, dims: &dims, strides: &[128], box_dims: &box_dims, swizzle, ..PLAIN };
            k.map(&a, &tile);
            let count = 16 * width;
            let out = k.output::<u16>(count);
            k.scalar(2 * count as i32);
            k.launch(1, 32);
            let mut expected = vec![0; count];
            for i in 0..count {
                let (line, chunk, rest) = (i / 64, i / 8 % 8, i % 8);
                let at = line * 64 + (chunk ^ flip[line % 8]) * 8 + rest;
                expected[at] = a[i / width * 64 + i % width];
            }
            k.expect(out, &expected);
        });
    }
}

#[test]
fn boxes_over_the_border() {
    for fill in [Fill::Zero, Fill::Nan] {
        run("tma_bounds", |k| {
            let a: Vec<f32> = (0..20 * 10).map(|i| 1.0 + i as f32).collect();
            let tile =
                Tile { element: ElementType::F32, dims: &[20, 10], strides: &[80], box_dims: &[8, 8], fill, ..PLAIN };
            k.map(&a, &tile);
            let out = k.output::<u32>(256);
            k.launch(1, 32);
            let outside = if fill == Fill::Zero { 0 } else { 0x7ff7_7ff7 };
            let corners = [(-4, -2), (16, 7), (4, 3), (100, 0)];
            let expected: Vec<u32> = (0..256)
                .map(|i| {
                    let (x, y) = (corners[i / 64].0 + i as i32 % 8, corners[i / 64].1 + i as i32 / 8 % 8);
                    let inside = (0..20).contains(&x) && (0..10).contains(&y);
                    if inside { a[(y * 20 + x) as usize].to_bits() } else { outside }
                })
                .collect();
            k.expect(out, &expected);
        });
    }
}

#[test]
fn multicast() {
    run("tma_multicast", |k| {
        let a: Vec<i32> = (0..32 * 8).collect();
        k.map(&a, &Tile { dims: &[32, 8], strides: &[128], box_dims: &[32, 4], ..PLAIN });
        let out = k.output::<i32>(512);
        k.launch(2, 32);
        k.expect(out, &(0..512).map(|i| i % 256 + i / 256 * 1000).collect::<Vec<_>>());
    });
}

#[test]
fn stores_are_clipped() {
    run("tma_store", |k| {
        let data = k.map(&[7i32; 20 * 10], &Tile { dims: &[20, 10], strides: &[80], box_dims: &[8, 8], ..PLAIN });
        k.scalar::<i32>(16);
        k.scalar::<i32>(5);
        k.launch(1, 32);
        let expected: Vec<i32> = (0..200)
            .map(|i| {
                let (x, y) = (i % 20 - 16, i / 20 - 5);
                if (0..8).contains(&x) && (0..8).contains(&y) { 100 + y * 8 + x } else { 7 }
            })
            .collect();
        k.expect(data, &expected);
    });
}

#[test]
fn tensor_reductions() {
    run("tma_reduce", |k| {
        let start: Vec<i32> = (0..16 * 12).map(|i| i % 50).collect();
        let data = k.map(&start, &Tile { dims: &[16, 12], strides: &[64], box_dims: &[8, 8], ..PLAIN });
        k.launch(1, 32);
        let expected: Vec<i32> = (0..16 * 12)
            .map(|i| {
                let (x, y, old) = (i % 16, i / 16, start[i as usize]);
                if x < 8 && y < 8 {
                    old + y * 8 + x
                } else if x >= 8 && y >= 8 {
                    old.max((y - 8) * 8 + x - 8)
                } else {
                    old
                }
            })
            .collect();
        k.expect(data, &expected);
    });
}

#[test]
fn five_dimensions_with_steps() {
    run("tma_5d", |k| {
        let dims = [24u64, 5, 4, 3, 4];
        let strides = [48u64, 240, 960, 2880];
        let (box_dims, steps) = ([8u32, 3, 3, 2, 3], [1u32, 1, 2, 1, 2]);
        let a: Vec<i16> = Random::new(5).words((2880 * 4) / 2, |x| x as i16);
        let tile = Tile {
            element: ElementType::U16,
            dims: &dims,
            strides: &strides,
            box_dims: &box_dims,
            steps: &steps,
            ..PLAIN
        };
        k.map(&a, &tile);
        let extent: Vec<u32> = (0..5).map(|i| box_dims[i].div_ceil(steps[i])).collect();
        let count: u32 = extent.iter().product();
        let out = k.output::<i16>(count as usize);
        k.scalar(count as i32);
        k.launch(1, 32);
        let base = [8i64, 1, -1, 0, 1];
        let expected: Vec<i16> = (0..count)
            .map(|mut rest| {
                let (mut at, mut inside) = (0, true);
                for i in 0..5 {
                    let c = base[i] + i64::from(rest % extent[i] * steps[i]);
                    rest /= extent[i];
                    inside &= (0..dims[i] as i64).contains(&c);
                    at += c * if i == 0 { 1 } else { strides[i - 1] as i64 / 2 };
                }
                if inside { a[at as usize] } else { 0 }
            })
            .collect();
        k.expect(out, &expected);
    });
}

#[test]
fn gathered_rows() {
    run("tma_gather", |k| {
        let a: Vec<i32> = (0..32 * 20).collect();
        k.map(&a, &Tile { dims: &[32, 20], strides: &[128], box_dims: &[16, 1], ..PLAIN });
        let out = k.output::<i32>(64);
        let rows = [7, 0, 19, 25];
        rows.into_iter().for_each(|r| k.scalar(r));
        k.launch(1, 32);
        let expected: Vec<i32> =
            (0..64).map(|i| if rows[i / 16] < 20 { rows[i / 16] * 32 + 8 + i as i32 % 16 } else { 0 }).collect();
        k.expect(out, &expected);
    });
}

#[test]
fn maps_built_on_the_device() {
    run("tensormap_build", |k| {
        k.input(&[0u64; 16]);
        let a: Vec<i32> = (0..24 * 10).collect();
        k.input(&a);
        let out = k.output::<i32>(32);
        k.launch(1, 32);
        let expected: Vec<i32> = (0..32)
            .map(|i| {
                let (x, y) = (16 + i % 8, 7 + i / 8);
                if x < 20 && y < 10 { y * 24 + x } else { 0 }
            })
            .collect();
        k.expect(out, &expected);
    });
}
