//! Whole products on tcgen05 as a compiler for sm_100 would write them, of up to 700 lines: agents for loads, products
//! and the epilogue, rings of stages, accumulators in tensor memory, persistence. They run on the plain schedule and
//! five seeds. Orders that are left out and layouts that do not exist are found.
//!
//! `tests/prototypes/` holds the kernels, which this project's generator of prototypes wrote:
//!
//! | kernel | tiles |
//! |---|---|
//! | `static` | bf16 128x256, persistent with a fixed order, two accumulators |
//! | `pair_clc` | bf16 256x256 by pairs of CTAs, persistent by cluster launch control, two accumulators |
//! | `tf32_turned` | tf32 128x256, A and B along M and N |

use ptx_sim::units::{ElementType, Fill, TensorMap, TileParams};
use ptx_sim::{Arg, Config, Device, LaunchConfig, Module, RunOptions, SimError};

/// A prototype with its launch: D = A B of M x K and N x K, or of K x M and K x N.
struct Prototype {
    text: &'static str,
    extents: [usize; 3],
    grid: u32,
    shared: u32,
    element: ElementType,
    /// Whether A and B are stored by K.
    turned: bool,
    /// Boxes of A, B and D.
    boxes: [[u32; 2]; 3],
}

const STATIC: Prototype = Prototype {
    text: include_str!("prototypes/static.ptx"),
    extents: [384, 768, 320],
    grid: 2,
    shared: 229_648,
    element: ElementType::Bf16,
    turned: false,
    boxes: [[64, 128], [64, 256], [64, 32]],
};

const PAIR: Prototype = Prototype {
    text: include_str!("prototypes/pair_clc.ptx"),
    extents: [512, 512, 256],
    grid: 8,
    shared: 229_696,
    element: ElementType::Bf16,
    turned: false,
    boxes: [[64, 128], [64, 128], [64, 32]],
};

const TF32: Prototype = Prototype {
    text: include_str!("prototypes/tf32_turned.ptx"),
    extents: [128, 256, 96],
    grid: 1,
    shared: 229_648,
    element: ElementType::F32,
    turned: true,
    boxes: [[32, 32], [32, 32], [32, 32]],
};

/// Small multiples of a quarter, so that sums are exact.
fn value(row: usize, k: usize, salt: usize) -> f32 {
    let hash = (row * 131 + k * 31 + salt * 17) ^ (row * k + 7);
    (hash % 17) as f32 / 4.0 - 2.0
}

fn bytes_of(element: ElementType, v: f32) -> Vec<u8> {
    match element {
        ElementType::Bf16 => half::bf16::from_f32(v).to_le_bytes().to_vec(),
        _ => v.to_le_bytes().to_vec(),
    }
}

/// Runs a prototype, and returns D if the launch succeeds.
fn run(p: &Prototype, text: &str, seed: Option<u64>, strict: bool) -> Result<Vec<u8>, SimError> {
    let [m, n, k] = p.extents;
    let module = Module::parse(text).unwrap_or_else(|e| panic!("{e}"));
    let mut device = Device::new(Config::default());
    let size = if p.element == ElementType::Bf16 { 2 } else { 4 };
    let operand = |rows: usize, salt: usize| -> Vec<u8> {
        let (outer, inner) = if p.turned { (k, rows) } else { (rows, k) };
        let at = |i: usize, j: usize| if p.turned { value(j, i, salt) } else { value(i, j, salt) };
        (0..outer)
            .flat_map(|i| (0..inner).map(move |j| (i, j)))
            .flat_map(|(i, j)| bytes_of(p.element, at(i, j)))
            .collect()
    };
    let (a, b, d) =
        (device.alloc_from(&operand(m, 1)), device.alloc_from(&operand(n, 2)), device.alloc((m * n * size) as u64));
    let map = |address: u64, inner: usize, outer: usize, box_dims: [u32; 2], swizzle: u32| {
        let params = TileParams {
            element: p.element,
            address,
            dims: &[inner as u64, outer as u64],
            strides: &[(inner * size) as u64],
            box_dims: &box_dims,
            element_strides: &[1, 1],
            interleave: 0,
            swizzle,
            fill: Fill::Zero,
        };
        Arg::Bytes(TensorMap::tiled(&params).unwrap().encode().to_vec())
    };
    let of = |rows: usize| if p.turned { (rows, k) } else { (k, rows) };
    let swizzle = if p.turned { 4 } else { 3 };
    let args = [
        map(a.0, of(m).0, of(m).1, p.boxes[0], swizzle),
        map(b.0, of(n).0, of(n).1, p.boxes[1], swizzle),
        map(d.0, n, m, p.boxes[2], 3),
        Arg::U32(m as u32),
        Arg::U32(n as u32),
        Arg::U32(k as u32),
    ];
    let launch =
        LaunchConfig { grid: [p.grid, 1, 1], dynamic_shared: p.shared, args: &args, ..LaunchConfig::default() };
    device.launch(&module, "k", &launch, &RunOptions { adversarial: seed, strict, ..RunOptions::default() })?;
    let mut out = vec![0; m * n * size];
    device.read(d, &mut out)?;
    Ok(out)
}

fn expected(p: &Prototype) -> Vec<u8> {
    let [m, n, k] = p.extents;
    let dot = |row: usize, col: usize| (0..k).map(|i| value(row, i, 1) * value(col, i, 2)).sum::<f32>();
    (0..m).flat_map(|r| (0..n).map(move |c| (r, c))).flat_map(|(r, c)| bytes_of(p.element, dot(r, c))).collect()
}

fn is_right(p: &Prototype) {
    let want = expected(p);
    for seed in std::iter::once(None).chain((1..=5).map(Some)) {
        for strict in [false, true] {
            let found = run(p, p.text, seed, strict).unwrap_or_else(|e| panic!("{seed:?}: {e}"));
            assert!(found == want, "{seed:?} strict {strict}: wrong result");
        }
    }
}

#[test]
fn persistent_with_a_fixed_order() {
    is_right(&STATIC);
}

#[test]
fn pairs_by_cluster_launch_control() {
    is_right(&PAIR);
}

#[test]
fn tf32_along_m_and_n() {
    is_right(&TF32);
}

/// Replaces a part of a prototype; on some schedule the change is reported, or the result is wrong.
#[track_caller]
fn found(p: &Prototype, part: &str, by: &str, report: &str) {
    let text = p.text.replace(part, by);
    assert_ne!(text, p.text, "no '{part}'");
    let want = expected(p);
    let mut all = Vec::new();
    for seed in std::iter::once(None).chain((1..=5).map(Some)) {
        match run(p, &text, seed, false) {
            Ok(out) if out == want => {}
            Ok(_) => all.push("wrong result".to_owned()),
            Err(e) => all.push(e.to_string()),
        }
        if all.iter().any(|e| e.contains(report)) {
            return;
        }
    }
    panic!("'{report}' is not among {all:#?}");
}

#[test]
fn planted_faults_are_found() {
    let barrier = "\tbarrier.cluster.arrive.relaxed.aligned;\n\tbarrier.cluster.wait.aligned;\n";
    found(&PAIR, barrier, "", "nothing says that the other CTA has started");
    // The next product of an accumulator overtakes the loads of the last.
    found(&STATIC, "tcgen05.wait::ld.sync.aligned;", "", "in flight");
    // The load agent goes on after a refusal.
    found(&PAIR, "@%pmore bra $load_1;\n\tbra $end;", "bra $load_1;", "an earlier request was refused");
    // The plain swizzle, and groups of eight lines.
    let (units, plain, eight) = ("2305913515413602304", "4611756524627296256", "2305913652852555776");
    found(&TF32, units, plain, "an MN-major tf32 matrix needs");
    found(&TF32, units, eight, "");
    // The product overtakes the copies of its stage.
    let wait = "mbarrier.try_wait.parity.shared::cta.b64 %pw, [%t10], %par;\n";
    found(&STATIC, wait, "setp.eq.b32 %pw, 0, 0;\n", "is still being written by the asynchronous");
}
