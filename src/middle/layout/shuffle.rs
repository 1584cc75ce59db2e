//! Layout conversion inside a warp.
//!
//! Suppose the target needs, in register `d` of lane `l` of warp `w`, an element that the source holds in register
//! `s` of lane `l'` of the same warp. If every slot has such a holder, there is a linear choice of holders:
//!
//! ```text
//! l' = L d + M l + N w          s = P d + Q l + R w
//! ```
//!
//! In one shuffle instruction every lane publishes one value and receives one. Let round `D` deliver to lane `l` its
//! register `d = D + A l + B w`, for matrices `A` and `B` that we may choose; over all `D`, every slot is served
//! once. By substitution, the source lane is `l' = L D + M' l + N' w` with `M' = M + L A` and `N' = N + L B`, and the
//! published register is `s = P D + Q' l + R' w`. The publisher must be able to compute `s` from its own lane: `Q'`
//! must equal `U M'` for some `U`, which is always possible if `M'` is invertible. If `M'` is the identity, the round
//! is a butterfly (`shfl.bfly` by the constant `L D`), and rounds with `L D = 0` stay within the lane. `A` is
//! therefore chosen to make `M'` the identity in as many columns as possible, and to make the other columns
//! independent.
//!
//! In terms of the publisher `l'`, `s = (P D + U L D) + U l' + (R' + U N') w`. The part that depends on the thread is
//! the same in all rounds. A plan therefore has three steps:
//!
//! 1. *rotate* the source registers: `a[r] = src[r ^ rotation(lane, warp)]`, with one conditional swap of all
//!    registers per bit;
//! 2. *rounds*: `v[D] = shfl(a[publish(D)], lane(D))`, or a plain copy;
//! 3. *place*: `dst[d] = v[d ^ placement(lane, warp)]`, again with one conditional swap per bit.
//!
//! Target registers that repeat an element of the thread are excluded from these steps and copied at the end.
//!
//! *Worked example.* Lane bit 0 and register bit 0 are exchanged: `L = e0`, `Q = e0`, and `M` is the identity except
//! for `M e0 = 0`. `A e0 = e0` makes `M'` the identity. The rotation swaps the two registers in odd lanes, round 0
//! copies `a[0]`, round 1 is a butterfly by 1 of `a[1]`, and the placement swaps again in odd lanes. This takes half
//! as many shuffles as there are registers.

use crate::access::ThreadBases;
use crate::layout::{Input, LANE_BITS, Layout};
use crate::map::{LinearMap, combine};
use crate::subspace::Subspace;

/// How the lanes of a round find their source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Exchange {
    /// Every lane keeps its own value.
    Stay,
    /// `shfl.bfly`: lane `l` receives from `l ^ xor_lane`.
    Butterfly { xor_lane: u32 },
    /// `shfl.idx`: lane `l` receives from `source(l, warp, block) ^ xor_lane`, with [`ShufflePlan::source`].
    Indexed { xor_lane: u32 },
}

/// One round. Several registers travel together, so that elements narrower than 32 bits can share a shuffle.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ShuffleRound {
    pub exchange: Exchange,
    /// The registers of the rotated source that each lane publishes.
    pub publish: Vec<u32>,
    /// The registers, before the placement, that receive them.
    pub receive: Vec<u32>,
}

/// A conversion inside warps, in the three steps of the module's documentation.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ShufflePlan {
    /// `a[r] = src[r ^ rotation]`: the XOR of the register number that each bit of the thread contributes.
    pub rotation: ThreadBases,
    pub rounds: Vec<ShuffleRound>,
    /// The source lane of [`Exchange::Indexed`], before the round's constant.
    pub source: ThreadBases,
    /// `w[d] = v[d ^ placement]`.
    pub placement: ThreadBases,
    /// `dst[r] = w[result[r]]`: the identity unless the target repeats elements within a thread.
    pub result: Vec<u32>,
    /// The 32-bit shuffles per round: more than one for elements wider than a word.
    pub words: u32,
    source_registers: u32,
    target_registers: u32,
}

impl ShufflePlan {
    /// The number of shuffle instructions per warp.
    pub fn shuffles(&self) -> u32 {
        self.words * self.rounds.iter().filter(|r| r.exchange != Exchange::Stay).count() as u32
    }

    /// The number of conditional selects per thread, in elements, for the rotation and the placement.
    pub fn selects(&self) -> u32 {
        let bits = |bases: &ThreadBases| {
            let all = bases.lane.iter().chain(&bases.warp).chain(&bases.block);
            all.filter(|&&b| b != 0).count() as u32
        };
        bits(&self.rotation) * self.source_registers + bits(&self.placement) * self.target_registers
    }

    /// Plans a conversion between layouts of elements of `elem_bits` bits. Returns `None` if some element has no
    /// holder in the warp that needs it, or if replicas make the published register depend on the reader.
    pub fn new(src: &Layout, dst: &Layout, elem_bits: u32) -> Option<Self> {
        let (squeezed, renumber) = dst.squeeze_registers();
        let mut plan = Problem::new(src, &squeezed)?.plan(elem_bits)?;
        plan.result = (0..u64::from(dst.registers())).map(|r| renumber.apply(r) as u32).collect();
        Some(plan)
    }
}

/// A source slot within the warp: the register number and lane of the holder of an element.
#[derive(Clone, Copy, Default)]
struct Holder {
    register: u64,
    lane: u64,
}

impl Holder {
    fn add(self, other: Self) -> Self {
        Self { register: self.register ^ other.register, lane: self.lane ^ other.lane }
    }
}

fn sum(list: &[Holder], bits: u64) -> Holder {
    let chosen = list.iter().enumerate().filter(|&(i, _)| bits >> i & 1 == 1);
    chosen.fold(Holder::default(), |total, (_, &s)| total.add(s))
}

/// The linear choice of holders for each bit of the target slot.
struct Problem {
    /// Columns of P and L.
    register: Vec<Holder>,
    /// Columns of Q and M.
    lane: Vec<Holder>,
    /// Columns of R and N, for warps and blocks.
    outer: Vec<Holder>,
    warp_bits: usize,
    /// Changes of the source slot that do not change the element.
    replicas: Vec<Holder>,
    source_registers: u32,
    target_registers: u32,
}

impl Problem {
    fn new(src: &Layout, dst: &Layout) -> Option<Self> {
        let registers = LinearMap::new(src.register().to_vec(), 64).ok()?;
        let places = registers.concat(&LinearMap::new(src.lane().to_vec(), 64).ok()?).ok()?;
        let n = registers.in_bits();
        let split = |x: u64| Holder { register: x & crate::map::low_mask(n), lane: x >> n };
        // Prefer a holder in the same lane.
        let find = |element: u64| match registers.solve(element) {
            Some(register) => Some(Holder { register, lane: 0 }),
            None => places.solve(element).map(split),
        };
        let register = dst.register().iter().map(|&e| find(e)).collect::<Option<_>>()?;
        let lane = dst.lane().iter().zip(src.lane()).enumerate().map(|(i, (&to, &from))| {
            let own = Holder { register: 0, lane: 1 << i };
            // The same lane, if the difference is within its registers.
            registers.solve(to ^ from).map(|register| Holder { register, ..own }).or_else(|| find(to))
        });
        let lane = lane.collect::<Option<_>>()?;
        let at = |bases: &[u64], i: usize| bases.get(i).copied().unwrap_or(0);
        let outer = |input| {
            let (to, from): (&[u64], &[u64]) = (dst.bases(input), src.bases(input));
            (0..to.len().max(from.len())).map(|i| find(at(to, i) ^ at(from, i))).collect::<Option<Vec<_>>>()
        };
        let (mut warp, block) = (outer(Input::Warp)?, outer(Input::Block)?);
        let warp_bits = warp.len();
        warp.extend(block);
        Some(Self {
            register,
            lane,
            outer: warp,
            warp_bits,
            replicas: places.kernel().into_iter().map(split).collect(),
            source_registers: src.registers(),
            target_registers: dst.registers(),
        })
    }

    /// The ways to change the source of a slot: another target register, or another holder. `target[i]` is the change
    /// of the target register for `moves[i]`.
    fn moves(&self) -> (Vec<Holder>, Vec<u64>) {
        let by_register = self.register.iter().enumerate().map(|(i, &s)| (s, 1 << i));
        by_register.chain(self.replicas.iter().map(|&s| (s, 0))).unzip()
    }

    fn plan(&self, elem_bits: u32) -> Option<ShufflePlan> {
        let (moves, targets) = self.moves();
        let move_lanes = LinearMap::new(moves.iter().map(|m| m.lane).collect(), LANE_BITS).ok()?;
        // Adds the moves of the set `x` to `s`. Returns the change of the target register with it.
        let shift = |s: Holder, x: u64| (s.add(sum(&moves, x)), combine(&targets, x));

        // First make lanes the identity where possible, then choose the others so that M' is invertible.
        let mut lanes: Vec<Option<(Holder, u64)>> = self
            .lane
            .iter()
            .enumerate()
            .map(|(i, &s)| move_lanes.solve(s.lane ^ 1 << i).map(|x| shift(s, x)))
            .collect();
        let mut seen: Subspace = lanes.iter().flatten().map(|(s, _)| s.lane).collect();
        for (entry, &s) in lanes.iter_mut().zip(&self.lane) {
            if entry.is_none() {
                let options = std::iter::once(0).chain((0..moves.len()).map(|i| 1 << i));
                let chosen = options.map(|x| shift(s, x)).find(|(s, _)| seen.insert(s.lane));
                *entry = Some(chosen.unwrap_or((s, 0)));
            }
        }
        let lanes: Vec<(Holder, u64)> = lanes.into_iter().flatten().collect();
        let outer: Vec<(Holder, u64)> =
            self.outer.iter().map(|&s| move_lanes.solve(s.lane).map_or((s, 0), |x| shift(s, x))).collect();

        // Solve U M' = Q': the published register as a function of the publisher.
        let m = LinearMap::new(lanes.iter().map(|(s, _)| s.lane).collect(), LANE_BITS).ok()?;
        let q: Vec<u64> = lanes.iter().map(|(s, _)| s.register).collect();
        if m.kernel().iter().any(|&k| combine(&q, k) != 0) {
            return None;
        }
        let back = m.pseudo_inverse();
        let u: Vec<u64> = (0..LANE_BITS).map(|i| combine(&q, back.apply(1 << i))).collect();

        let threads = |lane: Vec<u64>, outer: Vec<u64>| {
            let (warp, block) = outer.split_at(self.warp_bits);
            ThreadBases { lane, warp: warp.to_vec(), block: block.to_vec() }
        };
        let outer_rotation = outer.iter().map(|(s, _)| s.register ^ combine(&u, s.lane)).collect();
        let source = threads(m.columns().to_vec(), outer.iter().map(|(s, _)| s.lane).collect());
        let own_lane = m == LinearMap::identity(LANE_BITS) && source.warp.iter().chain(&source.block).all(|&b| b == 0);

        // Elements that share a 32-bit word: target register bits that do not change the source lane.
        let pack_bits = 32u32.checked_div(elem_bits.max(1)).unwrap_or(1).max(1).ilog2() as usize;
        let quiet = |&&i: &&u32| self.register[i as usize].lane == 0;
        let bits: Vec<u32> = (0..self.register.len() as u32).collect();
        let pack: Vec<u32> = bits.iter().filter(quiet).take(pack_bits).copied().collect();
        let rest: Vec<u64> = bits.iter().filter(|i| !pack.contains(i)).map(|&i| 1 << i).collect();
        let pack: Vec<u64> = pack.into_iter().map(|i| 1 << i).collect();
        let publish = |d: u64| {
            let s = sum(&self.register, d);
            s.register ^ combine(&u, s.lane)
        };
        let mut rounds: Vec<ShuffleRound> = Vec::with_capacity(1 << rest.len());
        for group in (0..1u64 << rest.len()).map(|g| combine(&rest, g)) {
            let receive: Vec<u64> = (0..1u64 << pack.len()).map(|e| group ^ combine(&pack, e)).collect();
            let xor_lane = sum(&self.register, group).lane as u32;
            let exchange = match xor_lane {
                _ if !own_lane => Exchange::Indexed { xor_lane },
                0 => Exchange::Stay,
                _ => Exchange::Butterfly { xor_lane },
            };
            rounds.push(ShuffleRound {
                exchange,
                publish: receive.iter().map(|&d| publish(d) as u32).collect(),
                receive: receive.iter().map(|&d| d as u32).collect(),
            });
        }
        Some(ShufflePlan {
            rotation: threads(u, outer_rotation),
            rounds,
            source,
            placement: threads(lanes.iter().map(|(_, d)| *d).collect(), outer.iter().map(|(_, d)| *d).collect()),
            result: Vec::new(),
            words: elem_bits.div_ceil(32).max(1),
            source_registers: self.source_registers,
            target_registers: self.target_registers,
        })
    }
}
