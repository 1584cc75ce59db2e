//! Operations across the lanes of a warp and the warps of a CTA.

use super::harness::{Random, run};

#[test]
fn butterfly_sum() {
    run("shuffle_reduce", |k| {
        let a: Vec<f32> = (0..128).map(|i| (i * i % 37) as f32).collect();
        k.input(&a);
        let out = k.output::<f32>(128);
        k.launch(2, 64);
        let expected: Vec<f32> = (0..128)
            .map(|i| {
                let warp = i / 32 * 32;
                a[warp..warp + 32].iter().sum::<f32>() + a[warp + 5]
            })
            .collect();
        k.expect(out, &expected);
    });
}

#[test]
fn shuffles() {
    run("shuffle_kinds", |k| {
        let a: Vec<i32> = (0..32).map(|i| i * 10).collect();
        k.input(&a);
        let out = k.output::<i32>(192);
        k.launch(1, 32);
        let expected: Vec<i32> = (0..32usize)
            .flat_map(|i| {
                let pick = |ok: bool, j: usize| if ok { a[j] } else { a[i] };
                [
                    pick(i >= 3, i.wrapping_sub(3)),
                    pick(i + 3 < 32, i + 3),
                    pick(i % 8 >= 2, i.wrapping_sub(2)),
                    pick(i % 16 + 5 < 16, i + 5),
                    a[i / 8 * 8 + i * 5 % 8],
                    // A lane outside its segment of 16 would read its own value.
                    a[i ^ 9],
                ]
            })
            .collect();
        k.expect(out, &expected);
    });
}

fn mask(lanes: impl Fn(usize) -> bool) -> u32 {
    (0..32).filter(|&i| lanes(i)).fold(0, |m, i| m | 1 << i)
}

#[test]
fn votes() {
    for shift in [0, 200] {
        run("votes", |k| {
            let a = Random::new(2).words(32, |x| (x % 200) as i32 - 100 + shift);
            k.input(&a);
            let out = k.output::<u32>(160);
            k.launch(1, 32);
            let positive = mask(|i| a[i] > 0);
            let uniform = u32::from(positive == 0 || positive == u32::MAX);
            let expected: Vec<u32> = (0..32)
                .flat_map(|i| {
                    [
                        positive,
                        u32::from(a.iter().any(|x| *x > 90)),
                        u32::from(a.iter().all(|x| *x > -100)),
                        if i < 20 { mask(|j| j < 20 && a[j] & 1 == 1) } else { 0 },
                        uniform,
                    ]
                })
                .collect();
            k.expect(out, &expected);
        });
    }
}

#[test]
fn matches() {
    for wide in [false, true] {
        run("matching", |k| {
            let a = Random::new(3).words(32, |x| (x % 5) as i32 + if wide { (x >> 33 & 0x100) as i32 } else { 0x700 });
            k.input(&a);
            let out = k.output::<u32>(96);
            k.launch(1, 32);
            let same = a.iter().all(|x| x >> 8 == a[0] >> 8);
            let expected: Vec<u32> = (0..32)
                .flat_map(|i| [mask(|j| a[j] == a[i]), if same { u32::MAX } else { 0 }, u32::from(same)])
                .collect();
            k.expect(out, &expected);
        });
    }
}

#[test]
fn reductions() {
    run("redux", |k| {
        let a = Random::new(4).words(32, |x| x as i32);
        k.input(&a);
        let out = k.output::<i32>(256);
        k.launch(1, 32);
        let unsigned = || a.iter().map(|x| *x as u32);
        let row = [
            a.iter().fold(0i32, |s, x| s.wrapping_add(*x)),
            *a.iter().min().unwrap(),
            *a.iter().max().unwrap(),
            unsigned().max().unwrap() as i32,
            a.iter().fold(-1, |s, x| s & x),
            a.iter().fold(0, |s, x| s | x),
            a.iter().fold(0, |s, x| s ^ x),
            unsigned().min().unwrap() as i32,
        ];
        k.expect(out, &row.repeat(32));
    });
}

#[test]
fn scan() {
    run("warp_scan", |k| {
        let a = Random::new(5).words(256, |x| x as i32 % 1000);
        k.input(&a);
        let out = k.output::<i32>(256);
        k.launch(1, 256);
        let sums = a.iter().scan(0, |s, x| {
            *s += x;
            Some(*s)
        });
        k.expect(out, &sums.collect::<Vec<_>>());
    });
}

/// One leader per mask: the same for all lanes of the mask, and one of them.
#[test]
fn election() {
    run("elect", |k| {
        let out = k.output::<u32>(64);
        k.launch(1, 32);
        k.note("which lane of each half is elected is open");
        let found = k.read::<u32>(out);
        for half in [0..16usize, 16..32] {
            let leader = found[2 * half.start];
            assert!(half.contains(&(leader as usize)));
            for i in half {
                assert_eq!(found[2 * i], leader);
                assert_eq!(found[2 * i + 1], u32::from(i == leader as usize));
            }
        }
    });
}

/// The odd lanes find out which lanes are active with them. Under the plain schedule these are all odd lanes; in
/// general any set of odd lanes that includes the executing one.
#[test]
fn cooperative_tiles() {
    run("tiled_groups", |k| {
        let a = Random::new(6).words(64, |x| (x % 100) as i32);
        k.input(&a);
        let out = k.output::<i32>(192);
        k.launch(1, 64);
        k.note("which lanes are active together is open");
        for (i, found) in k.read::<i32>(out).chunks(3).enumerate() {
            let tile = i / 8 * 8;
            assert_eq!(found[0], a[tile..tile + 8].iter().sum::<i32>(), "thread {i}");
            assert_eq!(found[1], (i / 8) as i32, "thread {i}");
            let warp = i / 32 * 32;
            let odd = |r: std::ops::Range<usize>| r.filter(|&j| a[j] & 1 == 1).count() as i32;
            let (rank, size) = (found[2] / 100, found[2] % 100);
            if a[i] & 1 == 0 {
                assert_eq!(found[2], -1, "thread {i}");
            } else if k.is_plain() {
                assert_eq!((rank, size), (odd(warp..i), odd(warp..warp + 32)), "thread {i}");
            } else {
                assert!(rank <= odd(warp..i) && rank < size && size <= odd(warp..warp + 32), "thread {i}");
            }
        }
    });
}

#[test]
fn block_reduction() {
    run("block_reduce", |k| {
        let a = Random::new(7).words(512, |x| x as i32 % 1000);
        k.input(&a);
        let out = k.output::<i32>(2);
        k.launch(2, 256);
        k.expect(out, &[a[..256].iter().sum(), a[256..].iter().sum::<i32>()]);
    });
}

#[test]
fn barrier_votes() {
    run("barrier_votes", |k| {
        let a = Random::new(8).words(96, |x| (x % 120) as i32 - 40);
        k.input(&a);
        let out = k.output::<i32>(288);
        k.launch(1, 96);
        let row = [
            a.iter().filter(|x| **x > 0).count() as i32,
            i32::from(a.iter().all(|x| *x > -50)),
            i32::from(a.iter().any(|x| *x > 99)),
        ];
        k.expect(out, &row.repeat(96));
    });
}

#[test]
fn named_barriers() {
    run("named_barriers", |k| {
        let out = k.output::<i32>(160);
        k.launch(1, 64);
        k.expect(out, &(0..160).map(|i| i / 32 * 100 + 31 - i % 32).collect::<Vec<_>>());
    });
}
