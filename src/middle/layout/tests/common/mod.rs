//! Random layouts, and interpreters for every kind of plan. A plan is correct if executing it for all threads of a
//! cluster puts the right elements into the right registers. The interpreters do not depend on how plans are built.
#![allow(dead_code, reason = "every test file uses its own part")]

use std::collections::BTreeMap;

use proptest::prelude::*;
use tile_layout::*;

pub fn shape(extents: &[i64]) -> Shape {
    Shape::new(extents).expect("power-of-two extents")
}

pub fn layout(register: &[u64], lane: &[u64], warp: &[u64]) -> Layout {
    Layout::new(register.to_vec(), lane.to_vec(), warp.to_vec(), vec![]).expect("five lanes")
}

/// The element index in every slot of a layout: `[block][warp][lane][register]`.
pub type Registers = BTreeMap<Thread, Vec<u64>>;

pub fn filled(layout: &Layout) -> Registers {
    layout.all_threads().map(|t| (t, layout.elements_of(t).collect())).collect()
}

fn threads_of(a: &Layout, b: &Layout) -> Vec<Thread> {
    let blocks = a.blocks().max(b.blocks());
    let warps = a.warps().max(b.warps());
    let all = (0..blocks).flat_map(|block| (0..warps).map(move |warp| (block, warp)));
    all.flat_map(|(block, warp)| (0..32).map(move |lane| Thread { lane, warp, block })).collect()
}

/// Runs a conversion and checks that every register of every thread has the element of the target layout.
pub fn check_conversion(src: &Layout, dst: &Layout, conversion: &Conversion, elem_bits: u32) {
    let threads = threads_of(src, dst);
    // Threads beyond a layout's warps hold replicas: missing bits have zero vectors.
    let before: Registers = threads.iter().map(|&t| (t, src.elements_of(t).collect())).collect();
    let after: Registers = match conversion {
        Conversion::Identity => before,
        Conversion::RegisterPermute { source } => {
            let permuted = |held: &Vec<u64>| source.iter().map(|&s| held[s as usize]).collect();
            before.iter().map(|(&t, held)| (t, permuted(held))).collect()
        }
        Conversion::WarpShuffle(plan) => run_shuffle(plan, &before),
        Conversion::SharedMemory(plan) => run_shared(plan, &before, dst.registers(), elem_bits),
    };
    for t in threads {
        let wanted: Vec<u64> = dst.elements_of(t).collect();
        assert_eq!(after[&t], wanted, "thread {t:?} of\n  {src}\n  {dst}\n  {conversion:?}");
    }
}

/// Executes a shuffle plan as documented, lane by lane.
pub fn run_shuffle(plan: &ShufflePlan, before: &Registers) -> Registers {
    let rotated: Registers = before
        .iter()
        .map(|(&t, held)| {
            let by = plan.rotation.eval(t.lane, t.warp, t.block) as usize;
            (t, (0..held.len()).map(|r| held[r ^ by]).collect())
        })
        .collect();
    let mut after = Registers::new();
    for &t in before.keys() {
        let count = plan.rounds.iter().map(|r| r.receive.len()).sum();
        let mut received: Vec<Option<u64>> = vec![None; count];
        for round in &plan.rounds {
            assert_eq!(round.publish.len(), round.receive.len());
            let lane = match round.exchange {
                Exchange::Stay => t.lane,
                Exchange::Butterfly { xor_lane } => {
                    assert!(xor_lane != 0 && xor_lane < 32);
                    t.lane ^ xor_lane
                }
                Exchange::Indexed { xor_lane } => plan.source.eval(t.lane, t.warp, t.block) as u32 ^ xor_lane,
            };
            assert!(lane < 32);
            for (&from, &to) in round.publish.iter().zip(&round.receive) {
                let value = rotated[&Thread { lane, ..t }][from as usize];
                assert_eq!(received[to as usize].replace(value), None, "register {to} received twice");
            }
        }
        let by = plan.placement.eval(t.lane, t.warp, t.block) as usize;
        let placed = |r: &u32| received[*r as usize ^ by].expect("all registers received");
        after.insert(t, plan.result.iter().map(placed).collect());
    }
    after
}

/// Executes a plan through shared memory, byte by byte and block by block. Checks alignment, bounds, that no round
/// reads bytes that it did not write, that no two threads write different data to one byte, and the conflict degrees.
pub fn run_shared(plan: &SharedPlan, before: &Registers, target_registers: u32, elem_bits: u32) -> Registers {
    let bytes = u64::from(elem_bits.max(8) / 8);
    let mut after: BTreeMap<Thread, Vec<Option<u64>>> =
        before.keys().map(|&t| (t, vec![None; target_registers as usize])).collect();
    let blocks: std::collections::BTreeSet<u32> = before.keys().map(|t| t.block).collect();
    for block in blocks {
        for round in 0..plan.rounds {
            let mut memory: Vec<Option<u64>> = vec![None; (plan.bytes / bytes) as usize];
            for (&t, held) in before.iter().filter(|(t, _)| t.block == block) {
                for (address, register) in element_accesses(&plan.store, t, round, bytes, plan.bytes) {
                    let value = held[register as usize];
                    if let Some(old) = memory[(address / bytes) as usize].replace(value) {
                        assert_eq!(old, value, "two elements at byte {address}");
                        panic!("element {value} is stored twice");
                    }
                }
            }
            for (&t, held) in after.iter_mut().filter(|(t, _)| t.block == block) {
                for (address, register) in element_accesses(&plan.load, t, round, bytes, plan.bytes) {
                    let value = memory[(address / bytes) as usize];
                    assert!(
                        value.is_some(),
                        "round {round} of {} reads byte {address}, which was not written",
                        plan.rounds
                    );
                    held[register as usize] = value;
                }
            }
        }
    }
    let warps: std::collections::BTreeSet<(u32, u32)> = before.keys().map(|t| (t.block, t.warp)).collect();
    for access in [&plan.store, &plan.load] {
        check_degree(access, &warps, plan.rounds, bytes);
    }
    after
        .into_iter()
        .map(|(t, mut held)| {
            for &(to, from) in &plan.load.copies {
                held[to as usize] = held[from as usize];
            }
            (t, held.into_iter().map(|v| v.expect("all registers loaded")).collect())
        })
        .collect()
}

fn takes_part(access: &SharedAccess, t: Thread) -> bool {
    u64::from(t.lane) & access.guard.lane == 0 && u64::from(t.warp) & access.guard.warp == 0
}

/// The (byte address, register) of every element that a thread moves in a round.
fn element_accesses(access: &SharedAccess, t: Thread, round: u32, bytes: u64, size: u64) -> Vec<(u64, u32)> {
    let mut result = Vec::new();
    for i in &access.instructions {
        assert_eq!(i.xor & i.add, 0);
        let at = |lane: u32| {
            let thread = access.address.eval(lane, t.warp, t.block);
            assert_eq!(thread & i.add, 0, "a thread reaches bits of an immediate");
            (thread ^ i.xor) + i.add
        };
        match access.mode {
            AccessMode::Vector { elements } => {
                assert_eq!(i.registers.len(), elements as usize);
                if !takes_part(access, t) || i.round ^ access.round.eval(t.lane, t.warp, t.block) as u32 != round {
                    continue;
                }
                let start = at(t.lane);
                assert_eq!(start % (bytes * u64::from(elements)).min(16), 0, "misaligned");
                let slots = i.registers.iter().enumerate();
                result.extend(slots.map(|(e, &r)| (start + e as u64 * bytes, r)));
            }
            AccessMode::Matrix { matrices, elements, transposed } => {
                assert_eq!(access.guard.lane, 0);
                let rows = access.mode.matrix_rows().expect("matrices");
                let words = rows / 8;
                assert_eq!(i.registers.len(), (matrices * words * elements) as usize);
                assert_eq!(u64::from(elements) * bytes, 4);
                if !takes_part(access, t) || i.round ^ access.round.eval(0, t.warp, t.block) as u32 != round {
                    continue;
                }
                for (m, word) in i.registers.chunks(elements as usize).enumerate() {
                    for (e, &r) in word.iter().enumerate() {
                        // The fragment of the instruction: lane l has word l % 4 of row l / 4; transposed, element e of
                        // lane l is column l / 4 of row 2 (l % 4) + e. Of bytes, it is row 4 (l % 4) + e, and the
                        // second word of a matrix is eight columns on.
                        let (m, second) = (m as u32 / words, m as u32 % words);
                        let (row, byte) = if transposed {
                            (elements * (t.lane % 4) + e as u32, u64::from(t.lane / 4 + 8 * second) * bytes)
                        } else {
                            (t.lane / 4, u64::from(t.lane % 4) * 4 + e as u64 * bytes)
                        };
                        let start = at(rows * m + row);
                        assert_eq!(start % 16, 0, "a matrix row is misaligned");
                        result.push((start + byte, r));
                    }
                }
            }
        }
    }
    for &(address, _) in &result {
        assert!(address + bytes <= size, "byte {address} is outside the buffer of {size}");
    }
    result
}

/// The conflict degree by enumeration of every instruction of every warp.
fn check_degree(access: &SharedAccess, warps: &std::collections::BTreeSet<(u32, u32)>, rounds: u32, bytes: u64) {
    let mut worst = 0;
    let mut total = 0;
    for &(block, warp) in warps {
        let mut wavefronts_of_warp = 0u64;
        for i in &access.instructions {
            for round in 0..rounds {
                let (width, lanes) = match access.mode {
                    AccessMode::Vector { elements } => (u64::from(elements) * bytes, 32),
                    AccessMode::Matrix { matrices, .. } => (16, access.mode.matrix_rows().unwrap_or(0) * matrices),
                };
                let active = |lane: u32| {
                    let t = Thread { lane, warp, block };
                    let lane = if matches!(access.mode, AccessMode::Matrix { .. }) { 0 } else { lane };
                    takes_part(access, t) && i.round ^ access.round.eval(lane, warp, block) as u32 == round
                };
                let at = |lane| (access.address.eval(lane, warp, block) ^ i.xor) + i.add;
                let addresses: Vec<Option<u64>> = (0..lanes).map(|l| active(l).then(|| at(l))).collect();
                let turns = phase_wavefronts(&addresses, width.min(16)).expect("a legal width");
                worst = worst.max(turns.iter().copied().max().unwrap_or(0));
                wavefronts_of_warp += turns.iter().map(|&t| u64::from(t)).sum::<u64>();
            }
        }
        total = total.max(wavefronts_of_warp);
    }
    assert_eq!(access.conflict_degree, worst.max(1), "{access:?}");
    assert!(total <= access.wavefronts, "{total} turns, {} claimed", access.wavefronts);
}

/// A layout that covers a tile of `bits` index bits, with random invertible bases and some replicas.
pub fn any_layout(bits: u32, warp_bits: usize, max_replicas: usize) -> impl Strategy<Value = Layout> {
    let vectors = proptest::collection::vec(0u64..1 << bits, 64);
    (vectors, any::<u64>(), 0..=max_replicas).prop_map(move |(vectors, shuffle, replicas)| {
        // A random basis: unit vectors through random row additions would do; independent random vectors are simpler.
        let mut span = Subspace::default();
        let mut basis: Vec<u64> = vectors.into_iter().filter(|&v| span.insert(v)).collect();
        basis.extend(span.extend((0..bits).map(|i| 1 << i)));
        deal(basis, shuffle, replicas, warp_bits)
    })
}

/// A layout with single-bit vectors, like most real layouts.
pub fn any_permuted_layout(bits: u32, warp_bits: usize, max_replicas: usize) -> impl Strategy<Value = Layout> {
    let order = Just((0..bits).map(|i| 1u64 << i).collect::<Vec<_>>()).prop_shuffle();
    (order, any::<u64>(), 0..=max_replicas)
        .prop_map(move |(basis, shuffle, replicas)| deal(basis, shuffle, replicas, warp_bits))
}

fn deal(basis: Vec<u64>, mut random: u64, replicas: usize, warp_bits: usize) -> Layout {
    let mut next = |n: usize| {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (random >> 33) as usize % n
    };
    let threads = 5 + warp_bits;
    // Thread bits that are replicas, with a zero vector or a sum of others.
    let mut slots: Vec<Option<u64>> = vec![None; threads];
    let (mut free, mut extra) = (basis, Vec::new());
    for _ in 0..replicas.min(threads) {
        let sum = if next(2) == 0 { 0 } else { free[next(free.len())] ^ free[next(free.len())] };
        match next(threads + 2) {
            // Or a register that repeats others of the thread or of other threads.
            slot if slot >= threads => extra.push(sum),
            slot => slots[slot] = Some(sum),
        }
    }
    for slot in &mut slots {
        if slot.is_none() {
            *slot = Some(if free.is_empty() { 0 } else { free.remove(next(free.len())) });
        }
    }
    let slots: Vec<u64> = slots.into_iter().flatten().collect();
    let (lane, warp) = slots.split_at(5);
    for sum in extra {
        free.insert(next(free.len() + 1), sum);
    }
    Layout::new(free, lane.to_vec(), warp.to_vec(), vec![]).expect("five lanes")
}
