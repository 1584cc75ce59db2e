//! The assembled image of a kernel, if available, and the machine code of each basic block in it.
//!
//! The disassembler's listing is split into basic blocks. Instructions that exist on both sides (memory accesses,
//! MMAs, barriers, copy groups) are *anchors*. A block of the image matches a block of the PTX if both have the same
//! anchors, and matching preserves the order of blocks. A matched block is replaced by the image's instructions, in
//! the image's order and with its registers. Its anchors take the events recorded from the PTX, in order for each
//! kind. Spills, conversions, unrolled arithmetic and the assembler's order then have their actual cost. Unmatched
//! blocks are scheduled from the PTX.

use super::costs::{Bridge, Control, Costs, Effect, InstCost, Order, PREDICATES, Pipe};
use crate::exec::state::program::{DArg, Func};
use crate::exec::state::record::Event;
use crate::ir::*;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::ops::Range;

/// Kinds of anchors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Anchor {
    Matrix,
    MatrixLoad,
    MatrixStore,
    SharedLoad,
    SharedStore,
    LocalLoad,
    LocalStore,
    GlobalLoad,
    GlobalStore,
    Copy,
    Commit,
    Wait,
    Barrier,
    Exchange,
    Reduction,
    Product,
    ProductCommit,
    ProductWait,
    PhaseInit,
    PhaseArrive,
    PhaseWait,
    CopyArrive,
    BulkLoad,
    BulkStore,
    BulkCommit,
    Registers,
}

const ANCHORS: usize = Anchor::Registers as usize + 1;

type Counts = [u32; ANCHORS];

/// The replacement of a PTX block: slots of the image, each with its PTX anchor as a distance from the first
/// instruction of the block.
struct Piece {
    /// Number of instructions in the PTX block.
    length: usize,
    slots: Range<usize>,
}

/// The image of a function.
pub(crate) struct Image {
    /// By instruction. Their registers are numbered after the PTX registers.
    pub slots: Vec<InstCost>,
    /// The PTX instruction that each one corresponds to, or the nearest before it.
    pub origin: Vec<u32>,
    /// Where the event of each instruction comes from.
    events: Vec<EventSource>,
    pieces: FxHashMap<u32, Piece>,
}

/// The source of an instruction's event.
#[derive(Clone, Copy, Debug)]
enum EventSource {
    /// The event of the PTX instruction at this distance.
    Ptx(u32),
    /// A spill: bytes per lane, and offset.
    Spill(u32, u32),
    None,
}

/// An instruction of the listing.
struct ListedInst<'a> {
    name: &'a str,
    guard: &'a str,
    operands: Vec<&'a str>,
    control: Option<Control>,
}

/// Registers of the image: general, uniform, predicates, uniform predicates.
pub(crate) const REGISTERS: u32 = GENERAL + 64 + 8 + 8;
const GENERAL: u32 = 256;

impl Image {
    /// Matches the blocks of `func` with a listing. Registers are numbered from `base`.
    pub fn of(listing: &str, func: &Func, ptx: &[InstCost], costs: &Costs, base: u32) -> Image {
        let blocks = read(listing);
        let mut image =
            Image { slots: Vec::new(), origin: Vec::new(), events: Vec::new(), pieces: FxHashMap::default() };
        let sources: Vec<Range<usize>> = ptx_blocks(func);
        let wanted: Vec<(usize, Counts)> = sources
            .iter()
            .enumerate()
            .map(|(i, range)| (i, counts(range.clone().filter_map(|pc| anchor_of(&func.code[pc].op)))))
            .filter(|(_, c)| c.iter().any(|n| *n > 0))
            .collect();
        let found: Vec<(usize, Counts)> = blocks
            .iter()
            .enumerate()
            .map(|(i, lines)| (i, counts(lines.iter().flat_map(anchors_named))))
            .filter(|(_, c)| c.iter().any(|n| *n > 0))
            .collect();
        for (p, s) in align(&wanted, &found) {
            let in_listing = counts(blocks[s].iter().flat_map(anchors_named));
            let in_ptx = counts(sources[p].clone().filter_map(|pc| anchor_of(&func.code[pc].op)));
            let told = blocks[s].iter().all(|l| l.control.is_some());
            let known = sources[p].clone().all(|pc| replaceable(&func.code[pc].op, &ptx[pc]));
            if known && (told || differs(&in_ptx, &in_listing)) {
                image.add(sources[p].clone(), &blocks[s], func, ptx, costs, base);
            }
        }
        image
    }

    /// Emits the image's events for the block that begins at `pc`, whose PTX events are `events`. Returns `None` if
    /// the block was not matched.
    pub fn replace(&self, number: u32, pc: u32, events: &[Event], out: &mut Vec<Event>) -> Option<usize> {
        let piece = self.pieces.get(&pc)?;
        let events = events.get(..piece.length)?;
        if !events.iter().zip(pc..).all(|(e, at)| e.func == events[0].func && e.pc == at) {
            return None;
        }
        for at in piece.slots.clone() {
            let plain = Event { func: number, pc: at as u32, lanes: u32::MAX, a: 0, b: 0, c: 0 };
            out.push(match self.events[at] {
                EventSource::Ptx(distance) => Event { func: number, pc: at as u32, ..events[distance as usize] },
                EventSource::Spill(bytes, place) => Event { b: bytes, c: place, ..plain },
                EventSource::None => plain,
            });
        }
        Some(piece.length)
    }

    fn add(
        &mut self,
        range: Range<usize>,
        lines: &[ListedInst<'_>],
        func: &Func,
        ptx: &[InstCost],
        costs: &Costs,
        base: u32,
    ) {
        // The anchors of each kind, in PTX order, and how many of them the image has consumed.
        let mut anchors: [Vec<usize>; ANCHORS] = Default::default();
        for pc in range.clone() {
            if let Some(a) = anchor_of(&func.code[pc].op) {
                anchors[a as usize].push(pc);
            }
        }
        let listed = counts(lines.iter().flat_map(anchors_named));
        let mut taken: Counts = [0; ANCHORS];
        let first = self.slots.len();
        let mut origin = range.start;
        let mut before = None;
        let mut needs = read_from_outside(&ptx[range.clone()]);
        for line in lines {
            let (reads, writes) = registers(line, base);
            let mut results = vec![];
            let mut source = EventSource::None;
            let mut slot = plain(line, costs);
            if let Some(a) = anchor_named(line) {
                let n = anchors[a as usize].len() as u32;
                let all = listed[a as usize];
                let k = taken[a as usize];
                taken[a as usize] += 1;
                let spilled = matches!(a, Anchor::LocalLoad | Anchor::LocalStore) && all > n;
                if spilled && (n == 0 || is_stack(line) && k >= n) {
                    let load = a == Anchor::LocalLoad;
                    slot.effect = Effect::Memory { load, atomic: false };
                    source = EventSource::Spill(4 * width(line.name), SPILLS + stack_place(line));
                } else if n > 0 {
                    // One PTX MMA may become several in the image.
                    let at = anchors[a as usize][((k * n / all.max(1)).min(n - 1)) as usize];
                    origin = at;
                    source = EventSource::Ptx((at - range.start) as u32);
                    results = ptx[at].writes.to_vec();
                    if a != Anchor::Matrix {
                        slot = InstCost { reads: SmallVec::new(), writes: SmallVec::new(), ..ptx[at].clone() };
                    }
                }
            }
            (slot.reads, slot.writes) = (reads, writes);
            slot.control = line.control;
            let bridge = Bridge { needs: std::mem::take(&mut needs), results };
            let any = line.control.is_some() && bridge != Bridge::default();
            slot.bridge = any.then(|| Box::new(bridge));
            slot.ports = if line.control.is_some() { port_clocks(line, before) } else { 0.0 };
            before = Some(line);
            self.slots.push(slot);
            self.origin.push(origin as u32);
            self.events.push(source);
            if commits(line) {
                // One instruction of the image starts a `wgmma` and commits its group.
                let groups = &mut taken[Anchor::ProductCommit as usize];
                let at = anchors[Anchor::ProductCommit as usize][*groups as usize];
                *groups += 1;
                self.slots.push(InstCost {
                    issues: 0.0,
                    control: line.control.map(|_| Control::SILENT),
                    bridge: None,
                    ..ptx[at].clone()
                });
                self.origin.push(at as u32);
                self.events.push(EventSource::Ptx((at - range.start) as u32));
            }
        }
        let piece = Piece { length: range.len(), slots: first..self.slots.len() };
        self.pieces.insert(range.start as u32, piece);
    }
}

/// The registers that a block of the PTX reads before it writes them.
fn read_from_outside(block: &[InstCost]) -> Vec<u32> {
    let (mut written, mut needs) = (rustc_hash::FxHashSet::default(), vec![]);
    for slot in block {
        needs.extend(slot.reads.iter().filter(|r| !written.contains(*r)));
        written.extend(slot.writes.iter().copied());
    }
    needs.sort_unstable();
    needs.dedup();
    needs
}

/// Offset of spilled registers, above everything that the PTX keeps in local memory.
const SPILLS: u32 = 1 << 20;

fn counts(anchors: impl Iterator<Item = Anchor>) -> Counts {
    let mut found = [0; ANCHORS];
    anchors.for_each(|a| found[a as usize] += 1);
    found
}

/// The basic blocks of the PTX. As in the image, which retries elsewhere, a wait that is retried until it succeeds
/// ends its block.
fn ptx_blocks(func: &Func) -> Vec<Range<usize>> {
    let tried_again = |i: usize| {
        matches!(func.code[i].op, Op::Mbarrier(MbarrierOp::Wait { .. }))
            && func
                .code
                .get(i + 1)
                .is_some_and(|next| next.args.iter().any(|a| matches!(a, DArg::Target(to) if *to as usize == i)))
    };
    let begins = |i: &usize| *i == 0 || func.code[*i].leader && !tried_again(*i);
    let mut starts: Vec<usize> = (0..func.code.len()).filter(begins).collect();
    starts.push(func.code.len());
    starts.windows(2).map(|w| w[0]..w[1]).collect()
}

/// Matches blocks with the same anchors, in order, maximizing the number of matched anchors.
fn align(wanted: &[(usize, Counts)], found: &[(usize, Counts)]) -> Vec<(usize, usize)> {
    let weight = |w: &Counts, f: &Counts| if same(w, f) { w.iter().sum::<u32>() } else { 0 };
    let (n, m) = (wanted.len(), found.len());
    let mut best = vec![vec![0u32; m + 1]; n + 1];
    for i in (0..n).rev() {
        for j in (0..m).rev() {
            let here = weight(&wanted[i].1, &found[j].1);
            let pair = if here > 0 { here + best[i + 1][j + 1] } else { 0 };
            best[i][j] = pair.max(best[i + 1][j]).max(best[i][j + 1]);
        }
    }
    let (mut i, mut j, mut pairs) = (0, 0, Vec::new());
    while i < n && j < m {
        let here = weight(&wanted[i].1, &found[j].1);
        if here > 0 && best[i][j] == here + best[i + 1][j + 1] {
            pairs.push((wanted[i].0, found[j].0));
            (i, j) = (i + 1, j + 1);
        } else if best[i][j] == best[i + 1][j] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

/// Whether a block of the image can match a block of the PTX. It may have several MMAs for each one, and spills.
fn same(ptx: &Counts, image: &Counts) -> bool {
    (0..ANCHORS).all(|k| {
        let (p, s) = (ptx[k], image[k]);
        if k == Anchor::Matrix as usize {
            (p == 0) == (s == 0) && s.is_multiple_of(p.max(1))
        } else if k == Anchor::LocalLoad as usize || k == Anchor::LocalStore as usize {
            s >= p
        } else if k == Anchor::Exchange as usize {
            // Warp-uniform values are in uniform registers and need no exchange.
            s <= p
        } else {
            s == p
        }
    })
}

/// Whether the PTX misses part of a block's cost: MMAs that became several, spills, and arrays in local memory, whose
/// loads the assembler may hoist. For other blocks the model of the assembler orders instructions better, because it
/// uses the latencies of the replay.
fn differs(ptx: &Counts, image: &Counts) -> bool {
    image[Anchor::Matrix as usize] > ptx[Anchor::Matrix as usize]
        || image[Anchor::LocalLoad as usize] + image[Anchor::LocalStore as usize] > 0
}

/// Whether the anchors cover all effects of an instruction other than computing. A replaced block loses other effects,
/// and warps would wait for them forever.
fn replaceable(op: &Op, slot: &InstCost) -> bool {
    anchor_of(op).is_some() || matches!(slot.effect, Effect::Compute | Effect::Alias | Effect::Control)
}

fn anchor_of(op: &Op) -> Option<Anchor> {
    use super::costs::is_shared;
    Some(match op {
        Op::Mma(_) => Anchor::Matrix,
        Op::Ldmatrix(_) => Anchor::MatrixLoad,
        Op::Stmatrix(_) => Anchor::MatrixStore,
        Op::Ld(a) if is_shared(a.space) => Anchor::SharedLoad,
        Op::St(a) if is_shared(a.space) => Anchor::SharedStore,
        Op::Ld(a) if a.space == Space::Local => Anchor::LocalLoad,
        Op::St(a) if a.space == Space::Local => Anchor::LocalStore,
        Op::Ld(a) if a.space == Space::Global => Anchor::GlobalLoad,
        Op::St(a) if a.space == Space::Global => Anchor::GlobalStore,
        Op::CpAsync { .. } => Anchor::Copy,
        Op::CpAsyncCommit => Anchor::Commit,
        Op::CpAsyncWait { .. } | Op::BulkWait { .. } => Anchor::Wait,
        Op::Bar { .. } => Anchor::Barrier,
        Op::Shfl { .. } => Anchor::Exchange,
        Op::Redux { .. } => Anchor::Reduction,
        Op::Wgmma(_) => Anchor::Product,
        Op::WgmmaCommit => Anchor::ProductCommit,
        Op::WgmmaWait => Anchor::ProductWait,
        Op::Mbarrier(MbarrierOp::Init { .. }) => Anchor::PhaseInit,
        Op::Mbarrier(MbarrierOp::Arrive { .. } | MbarrierOp::ExpectTx { .. }) => Anchor::PhaseArrive,
        Op::Mbarrier(MbarrierOp::Wait { .. }) => Anchor::PhaseWait,
        Op::CpAsyncMbarrierArrive { .. } => Anchor::CopyArrive,
        Op::CpBulk(m) if !m.prefetch && m.dst == Space::Global => Anchor::BulkStore,
        Op::CpBulk(m) if !m.prefetch => Anchor::BulkLoad,
        Op::CpTensor(m) if m.kind == TensorCopyKind::Load => Anchor::BulkLoad,
        Op::CpTensor(m) if m.kind != TensorCopyKind::Prefetch => Anchor::BulkStore,
        Op::BulkCommit => Anchor::BulkCommit,
        Op::Setmaxnreg { .. } => Anchor::Registers,
        _ => return None,
    })
}

/// Whether a `wgmma` is the last of its group.
fn commits(line: &ListedInst<'_>) -> bool {
    anchor_named(line) == Some(Anchor::Product) && line.operands.iter().any(|o| o.starts_with("gsb"))
}

/// The anchors of a line, at most two.
fn anchors_named<'a>(line: &ListedInst<'a>) -> impl Iterator<Item = Anchor> + use<'a> {
    anchor_named(line).into_iter().chain(commits(line).then_some(Anchor::ProductCommit))
}

fn anchor_named(line: &ListedInst<'_>) -> Option<Anchor> {
    let mut parts = line.name.split('.');
    let (name, what) = (parts.next()?, parts.next().unwrap_or_default());
    Some(match name {
        "HMMA" | "IMMA" | "DMMA" | "BMMA" | "QMMA" => Anchor::Matrix,
        "LDSM" => Anchor::MatrixLoad,
        "STSM" => Anchor::MatrixStore,
        "LDS" => Anchor::SharedLoad,
        "STS" => Anchor::SharedStore,
        "LDL" => Anchor::LocalLoad,
        "STL" => Anchor::LocalStore,
        "LDG" => Anchor::GlobalLoad,
        "STG" => Anchor::GlobalStore,
        "LDGSTS" => Anchor::Copy,
        "LDGDEPBAR" => Anchor::Commit,
        // With a list of boards it waits for results, not for groups.
        "DEPBAR" if !line.operands.first()?.starts_with('{') => Anchor::Wait,
        "BAR" => Anchor::Barrier,
        "SHFL" => Anchor::Exchange,
        "REDUX" | "CREDUX" => Anchor::Reduction,
        "HGMMA" | "IGMMA" | "QGMMA" | "BGMMA" => Anchor::Product,
        "WARPGROUP" if what == "DEPBAR" => Anchor::ProductWait,
        "SYNCS" if what == "EXCH" => Anchor::PhaseInit,
        "SYNCS" if what == "ARRIVE" => Anchor::PhaseArrive,
        "SYNCS" if what == "PHASECHK" => Anchor::PhaseWait,
        "ARRIVES" => Anchor::CopyArrive,
        "UTMALDG" | "UBLKCP" => Anchor::BulkLoad,
        "UTMASTG" | "UTMAREDG" => Anchor::BulkStore,
        "UTMACMDFLUSH" => Anchor::BulkCommit,
        "USETMAXREG" => Anchor::Registers,
        _ => return None,
    })
}

/// Parses a listing into basic blocks, without instructions that do nothing.
fn read(listing: &str) -> Vec<Vec<ListedInst<'_>>> {
    let mut blocks: Vec<Vec<ListedInst<'_>>> = vec![Vec::new()];
    let mut read_to = 0;
    for text in listing.lines() {
        let text = text.trim();
        if text.starts_with(".L") && text.ends_with(':') {
            blocks.push(Vec::new());
        }
        // An instruction has two words, the second on its own line.
        if let Some(word) = text.strip_prefix("/* 0x").and_then(|t| t.strip_suffix(" */")) {
            if let (Ok(word), Some(line)) = (u64::from_str_radix(word, 16), blocks[read_to].last_mut()) {
                line.control = Some(Control::of(word));
            }
            continue;
        }
        let Some((place, rest)) = text.strip_prefix("/*").and_then(|t| t.split_once("*/")) else { continue };
        let Some(body) = rest.trim().split(';').next().filter(|_| place.chars().all(|c| c.is_ascii_hexdigit())) else {
            continue;
        };
        let (guard, body) = match body.strip_prefix('@').and_then(|b| b.split_once(' ')) {
            Some((guard, body)) => (guard, body.trim()),
            None => ("", body),
        };
        let (name, operands) = body.split_once(' ').unwrap_or((body, ""));
        if name.is_empty() {
            continue;
        }
        // Never executed, or padding: it only takes an issue slot.
        let nothing = guard == "!UPT" || guard == "!PT" || name == "NOP";
        let (name, guard, operands) = if nothing { ("NOP", "", "") } else { (name, guard, operands) };
        let operands = operands.split(',').map(str::trim).filter(|o| !o.is_empty()).collect();
        let ends = matches!(name.split('.').next(), Some("BRA" | "EXIT" | "RET" | "BRX"));
        if let Some(block) = blocks.last_mut() {
            block.push(ListedInst { name, guard, operands, control: None });
        }
        read_to = blocks.len() - 1;
        if ends {
            blocks.push(Vec::new());
        }
    }
    blocks
}

/// Words per lane that an instruction moves.
fn width(name: &str) -> u32 {
    let has = |part: &str| name.split('.').any(|p| p == part);
    if has("128") { 4 } else { 1 + u32::from(has("64") || has("WIDE")) }
}

fn is_stack(line: &ListedInst<'_>) -> bool {
    line.operands.iter().any(|o| o.starts_with("[R1+") || *o == "[R1]")
}

/// The stack offset that an access names.
fn stack_place(line: &ListedInst<'_>) -> u32 {
    let text = line.operands.iter().find_map(|o| o.strip_prefix('[')).unwrap_or_default();
    let offset = text.trim_end_matches(']').rsplit("0x").next().unwrap_or_default();
    u32::from_str_radix(offset, 16).unwrap_or(0) & (SPILLS - 1)
}

/// The cost of an instruction that is not an anchor, or of an MMA.
fn plain(line: &ListedInst<'_>, costs: &Costs) -> InstCost {
    let name = line.name.split('.').next().unwrap_or_default();
    let (pipe, interval, latency) = match name {
        "FADD" | "FMUL" | "FFMA" | "FADD32I" | "FMUL32I" | "FFMA32I" => (Pipe::Fma, costs.fma, costs.latency_fma),
        "HADD2" | "HMUL2" | "HFMA2" => (Pipe::Fma, costs.fma_half, costs.latency_fma),
        "DADD" | "DMUL" | "DFMA" => (Pipe::Fma, costs.fma_double, costs.latency_wide),
        "IMAD" | "IDP" => (Pipe::Fma, costs.imad, costs.latency_alu),
        "F2FP" => (Pipe::Pack, costs.pack, costs.latency_alu),
        "MUFU" => (Pipe::Mufu, costs.mufu, costs.latency_mufu),
        "F2F" | "F2I" | "I2F" | "FRND" | "POPC" | "FLO" | "BREV" => {
            (Pipe::Convert, costs.convert, costs.latency_convert)
        }
        "S2R" | "S2UR" | "LDC" | "ULDC" | "CS2R" => (Pipe::Alu, costs.alu, costs.latency_special),
        "ISETP" | "FSETP" | "PLOP3" | "UISETP" => (Pipe::Alu, costs.alu, costs.latency_predicate),
        "HMMA" if line.name.contains("TF32") => (Pipe::Tensor, costs.mma_tf32, costs.mma_latency),
        "HMMA" => (Pipe::Tensor, costs.mma_f16, costs.mma_latency),
        "IMMA" => (Pipe::Tensor, costs.mma_i8, costs.mma_latency),
        "DMMA" => (Pipe::Tensor, costs.mma_f64, costs.mma_latency),
        "NOP" | "BRA" | "EXIT" | "BSSY" | "BSYNC" | "WARPSYNC" | "WARPGROUP" | "DEPBAR" | "YIELD" => {
            (Pipe::None, 0.0, 0.0)
        }
        // The uniform datapath is a separate unit.
        n if n.starts_with('U') => (Pipe::None, 0.0, costs.latency_alu),
        _ => (Pipe::Alu, costs.alu, costs.latency_alu),
    };
    InstCost {
        pipe,
        issues: 1.0,
        interval,
        latency,
        effect: Effect::Compute,
        order: Order::Fixed,
        bytes: 0,
        reads: SmallVec::new(),
        writes: SmallVec::new(),
        ports: 0.0,
        control: None,
        bridge: None,
    }
}

/// The number of registers that an operand's register name covers.
fn words(line: &ListedInst<'_>, operand: usize) -> u32 {
    let name = line.name.split('.').next().unwrap_or_default();
    match (name, operand) {
        ("HMMA" | "IMMA" | "DMMA", 0 | 3) if line.name.contains(".F16") && !line.name.contains("F32") => 2,
        ("HMMA" | "IMMA" | "DMMA", 0 | 3) | ("HMMA" | "IMMA", 1) => 4,
        ("HMMA" | "IMMA" | "DMMA", 2) => 2,
        ("LDSM", 0) => line.name.rsplit('.').next().and_then(|n| n.parse().ok()).filter(|n| *n <= 4).unwrap_or(1),
        ("CS2R", 0) if !line.name.ends_with(".32") => 2,
        ("LDG" | "LDS" | "LDL" | "LDC" | "ULDC" | "IMAD" | "CS2R", 0) | ("IMAD", 3) => width(line.name),
        // Data of stores. Two-word addresses are marked.
        ("STG" | "STS" | "STL" | "STSM", 1) => width(line.name),
        _ => 1,
    }
}

/// The number of leading operands that are written.
fn written(line: &ListedInst<'_>) -> usize {
    let name = line.name.split('.').next().unwrap_or_default();
    let first_is_predicate =
        line.operands.first().is_some_and(|o| o.trim_start_matches('U').starts_with('P') && !o.starts_with("PT["));
    let carries = matches!(name, "IADD3" | "UIADD3" | "LEA" | "ULEA" | "IMAD" | "VIADD");
    match name {
        "STG" | "STS" | "STL" | "STSM" | "LDGSTS" | "BAR" | "DEPBAR" | "LDGDEPBAR" | "BRA" | "EXIT" | "RED" => 0,
        _ if first_is_predicate => 2,
        _ if carries && line.operands.get(1).is_some_and(|o| o.starts_with('P') || o.starts_with("UP")) => 2,
        _ => 1,
    }
}

/// Clocks during which an instruction occupies the ports through which the warps of a scheduler read registers. Even
/// and odd registers are in two banks, each of which delivers one register per clock. An operand that the previous
/// instruction marked for reuse is still available.
fn port_clocks(line: &ListedInst<'_>, before: Option<&ListedInst<'_>>) -> f64 {
    let mut banks = [0u32; 2];
    for (i, operand) in line.operands.iter().enumerate().skip(written(line)) {
        let kept = before.and_then(|b| b.operands.get(i)).and_then(|o| o.strip_suffix(".reuse"));
        if kept == Some(operand.strip_suffix(".reuse").unwrap_or(operand)) {
            continue;
        }
        for (r, marked) in named(operand).into_iter().filter(|(r, _)| *r < GENERAL) {
            (0..words(line, i).max(1 + u32::from(marked))).for_each(|k| banks[((r + k) % 2) as usize] += 1);
        }
    }
    f64::from(banks[0].max(banks[1]))
}

/// The registers that an instruction reads and writes.
fn registers(line: &ListedInst<'_>, base: u32) -> (SmallVec<[u32; 8]>, SmallVec<[u32; 4]>) {
    let (mut reads, mut writes) = (SmallVec::new(), SmallVec::new());
    let written = written(line);
    for (i, operand) in line.operands.iter().enumerate() {
        let words = words(line, i);
        for (r, marked) in named(operand) {
            let words = words.max(1 + u32::from(marked));
            if i < written {
                writes.extend((0..words).map(|k| base + r + k));
            } else {
                reads.extend((0..words).map(|k| base + r + k));
            }
        }
    }
    for (r, _) in named(line.guard) {
        reads.push(base + r);
    }
    debug_assert!(reads.iter().chain(&writes).all(|r| *r < PREDICATES));
    (reads, writes)
}

/// The registers that an operand names, each with whether it is marked as a pair.
fn named(operand: &str) -> SmallVec<[(u32, bool); 2]> {
    let mut found = SmallVec::new();
    let words = operand.split(|c: char| !(c.is_ascii_alphanumeric() || c == '.'));
    for word in words.filter(|w| !w.is_empty()) {
        let (name, marks) = word.split_once('.').unwrap_or((word, ""));
        let (bank, number) = if let Some(n) = name.strip_prefix("UR") {
            (256, n)
        } else if let Some(n) = name.strip_prefix("UP") {
            (256 + 64 + 8, n)
        } else if let Some(n) = name.strip_prefix('R') {
            (0, n)
        } else if let Some(n) = name.strip_prefix('P') {
            (256 + 64, n)
        } else {
            continue;
        };
        // `RZ`, `PT` and similar names are not registers.
        if let Ok(n) = number.parse::<u32>() {
            found.push((bank + n, marks.split('.').any(|m| m == "64")));
        }
    }
    found
}
