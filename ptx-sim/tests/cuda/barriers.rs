//! mbarriers, clusters and bulk copies.

use super::harness::{Random, run};

#[test]
fn waiting_on_a_state() {
    run("mbar_state", |k| {
        let out = k.output::<i32>(256);
        k.launch(1, 64);
        k.expect(out, &(0..256).map(|i| i / 64 * 1000 + 63 - i % 64).collect::<Vec<_>>());
    });
}

/// Pending counts before each recorded arrival. The tenth arrival ends the phase, so the next one sees the lowered
/// count.
#[test]
fn counts_and_drops() {
    run("mbar_counts", |k| {
        let out = k.output::<u32>(4);
        k.launch(1, 1);
        k.expect(out, &[10, 6, 5, 9]);
    });
}

#[test]
fn producer_and_consumer_ring() {
    run("mbar_ring", |k| {
        let a = Random::new(1).words(11 * 32, |x| x as i32 % 1000);
        k.input(&a);
        let out = k.output::<i32>(11 * 32);
        k.scalar::<i32>(11);
        k.launch(1, 64);
        k.expect(out, &(0..352).map(|i| 2 * a[i / 32 * 32 + 31 - i % 32]).collect::<Vec<_>>());
    });
}

#[test]
fn transaction_counts() {
    run("mbar_tx", |k| {
        let out = k.output::<i32>(64);
        k.launch(1, 64);
        k.expect(out, &(0..64).map(|i| 42 + i).collect::<Vec<_>>());
    });
}

#[test]
fn remote_arrivals() {
    run("mbar_remote", |k| {
        let out = k.output::<i32>(16);
        k.launch(4, 32);
        k.expect(out, &(0..16).map(|i| i % 4 * 10 + i / 4).collect::<Vec<_>>());
    });
}

#[test]
fn distributed_shared_memory() {
    run("cluster_sum", |k| {
        let a = Random::new(2).words(4 * 4 * 32, |x| x as i32 % 1000);
        k.input(&a);
        let out = k.output::<i32>(4 * 4 * 32);
        k.launch_3d([4, 4, 1], [32, 1, 1], 0);
        let expected: Vec<i32> = (0..512)
            .map(|i| {
                let (x, y, lane) = (i / 32 % 4, i / 128, i % 32);
                let member = |r: usize| (y / 2 * 2 + r / 2) * 4 + x / 2 * 2 + r % 2;
                let sum: i32 = (0..4).map(|r| a[member(r) * 32 + (lane + r) % 32]).sum();
                sum * 10 + (y % 2 * 2 + x % 2) as i32
            })
            .collect();
        k.expect(out, &expected);
    });
}

#[test]
fn bulk_copies() {
    run("bulk_copy", |k| {
        let a = Random::new(3).words(256, |x| x as i32 % 1000);
        k.input(&a);
        let out = k.input(&[5i32; 256]);
        k.launch(1, 64);
        let expected: Vec<i32> = (0..256).map(|i| a[i] + i as i32 + if i >= 128 { 5 } else { 0 }).collect();
        k.expect(out, &expected);
    });
}
