//! The reader is fast and its memory use is bounded: peak memory relative to the input's size, and throughput.
//!
//! Run with `--release --nocapture` for meaningful figures; throughput is only checked there. It is measured in
//! processor time, so other load on the machine does not matter.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{LazyLock, Mutex};
use std::time::{Duration, Instant};
use tile_bytecode::*;

/// Counts live bytes and records the peak.
struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is forwarded to the system allocator unchanged; only counters are updated in addition.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, l: Layout) -> *mut u8 {
        PEAK.fetch_max(LIVE.fetch_add(l.size(), Relaxed) + l.size(), Relaxed);
        // SAFETY: the caller guarantees a valid layout.
        unsafe { System.alloc(l) }
    }

    unsafe fn dealloc(&self, p: *mut u8, l: Layout) {
        LIVE.fetch_sub(l.size(), Relaxed);
        // SAFETY: the pointer came from `alloc` above, so from the system allocator with this layout.
        unsafe { System.dealloc(p, l) }
    }

    unsafe fn realloc(&self, p: *mut u8, l: Layout, size: usize) -> *mut u8 {
        // A shrinking block stays in place. A growing one may move and briefly exists twice.
        if size <= l.size() {
            LIVE.fetch_sub(l.size() - size, Relaxed);
        } else {
            PEAK.fetch_max(LIVE.fetch_add(size, Relaxed) + size, Relaxed);
            LIVE.fetch_sub(l.size(), Relaxed);
        }
        // SAFETY: as for `dealloc`.
        unsafe { System.realloc(p, l, size) }
    }
}

/// Only one test at a time may use the counters.
static TURN: Mutex<()> = Mutex::new(());

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Processor time of this thread, or elapsed time if the system does not provide it.
fn cpu_time() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let known = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = known.as_ref().and_then(|s| s.split_whitespace().next()?.parse().ok());
    nanoseconds.map_or_else(|| START.elapsed(), Duration::from_nanos)
}

/// The cost of reading a file.
struct Cost {
    /// Megabytes per second.
    speed: f64,
    /// Peak memory, and memory of the module, per byte of the file.
    peak: f64,
    kept: f64,
}

fn measure(data: &[u8]) -> (Module, Cost) {
    let before = LIVE.load(Relaxed);
    PEAK.store(before, Relaxed);
    let start = cpu_time();
    let module = read(data, &ReadOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    let speed = megabytes(data.len()) / (cpu_time() - start).as_secs_f64();
    let factor = |bytes: usize| (bytes - before) as f64 / data.len() as f64;
    (module, Cost { speed, peak: factor(PEAK.load(Relaxed)), kept: factor(LIVE.load(Relaxed)) })
}

fn megabytes(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}

/// Repeats the functions of a corpus file until the file has about `target` bytes.
fn inflate(name: &str, target: usize, locations: bool) -> Vec<u8> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/corpus").join(name);
    let data = std::fs::read(path).unwrap();
    let mut m = read(&data, &ReadOptions::default()).unwrap();
    let mut f = m.functions[0].clone();
    if !locations {
        m.debug.clear();
        f = f.without_locations();
    }
    m.functions = vec![f.clone()];
    let one = write(&m, Profile::Public, m.version).unwrap().len();
    m.functions = vec![f.clone(), f.clone()];
    let two = write(&m, Profile::Public, m.version).unwrap().len();
    m.functions = vec![f; target / (two - one)];
    write(&m, Profile::Public, m.version).unwrap()
}

#[test]
fn large_modules() {
    let _turn = TURN.lock();
    let size = if cfg!(debug_assertions) { 4_000_000 } else { 20_000_000 };
    for (name, locations) in [
        ("int_zoo.13.1.tileirbc", false),
        ("int_zoo.13.1.tileirbc", true),
        ("fmha_f16.13.3.tileirbc", false),
        ("bitonic_sort.13.1.tileirbc", false),
        ("saxpy_f32.13.1.tileirbc", false),
    ] {
        let data = inflate(name, size, locations);
        let (module, Cost { speed, peak, kept }) = measure(&data);
        println!(
            "{name:30} locations {locations:5}: {:.1} MB, {speed:.0} MB/s, peak {peak:.2} x input, kept {kept:.2} x",
            megabytes(data.len())
        );
        assert!(peak < 12.0, "{name}: peak memory is {peak:.2} times the input");
        if !cfg!(debug_assertions) {
            assert!(speed > 50.0, "{name}: {speed:.0} MB/s");
        }
        let start = cpu_time();
        assert_eq!(write(&module, Profile::Public, module.version).unwrap().len(), data.len());
        println!("{:30} written at {:.0} MB/s", "", megabytes(data.len()) / (cpu_time() - start).as_secs_f64());
    }
}

const RETURN: &[u8] = &[0x5C, 0, 0];

/// The bytes of a function record `k: (tile<i1>) -> ()` with this body.
fn function(body: &[u8]) -> Vec<u8> {
    let mut record = vec![0, 3, 2, 0];
    varint::Encode::put_varint(&mut record, body.len() as u64);
    record.extend(body);
    record
}

fn repeated(record: &[u8]) -> Vec<u8> {
    let count = 2_000_000 / record.len();
    let mut body = record.repeat(count);
    body.extend(RETURN);
    [vec![1], function(&body)].concat()
}

/// A module with these records of the Function section.
fn module(functions: Vec<u8>) -> Vec<u8> {
    // i1, token, tile<i1>, (tile<i1>) -> ()
    let types = [
        &[4, 0xCB, 0xCB, 0xCB][..],
        &[0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 5, 0, 0, 0],
        &[0, 17, 13, 0, 0, 16, 1, 2, 0],
    ];
    public(&[(2, 8, functions), (5, 4, types.concat()), (1, 4, vec![1, 0xCB, 0xCB, 0xCB, 0, 0, 0, 0, b'k'])])
}

/// Checks that the worst of some files is below the limit.
fn worst<'a>(limit: f64, files: impl IntoIterator<Item = (&'a str, Vec<u8>)>) {
    let mut largest = (0.0, "");
    for (what, functions) in files {
        let (module, Cost { speed, peak, kept }) = measure(&module(functions));
        println!("{what:18} {speed:4.0} MB/s, peak {peak:5.2} x input, kept {kept:5.2} x");
        assert!(!module.functions.is_empty());
        if peak > largest.0 {
            largest = (peak, what);
        }
    }
    assert!(largest.0 < limit, "{}: peak memory is {:.2} times the input", largest.1, largest.0);
}

/// Files of the shortest possible records, which use the most memory per byte.
#[test]
fn short_records() {
    let _turn = TURN.lock();
    let many_functions = {
        let mut section = vec![];
        varint::Encode::put_varint(&mut section, 300_000);
        section.extend(function(RETURN).repeat(300_000));
        section
    };
    // A loop with one operation, and an operation after it: values inside a region make wire numbers and values
    // diverge.
    let for_loop = [0x29, 0, 3, 0, 0, 0, 1, 1, 1, 2, 2, 0x44, 1, 0x11, 0, 0, 0x44, 1];
    worst(
        12.0,
        [
            ("make_token", repeated(&[0x44, 1])),
            ("iota", repeated(&[0x3A, 2])),
            ("negi", repeated(&[0x50, 2, 0])),
            ("get_num_tile_blocks", repeated(&[0x2E, 2, 2, 2])),
            ("empty if", repeated(&[0x32, 0, 0, 2, 0, 0])),
            ("if", repeated(&[0x32, 0, 0, 2, 1, 0, 1, 0x6D, 0, 0, 0])),
            ("for", repeated(&for_loop)),
            ("return", repeated(RETURN)),
            ("functions", many_functions),
        ],
    );
}

/// Distinct attributes need more memory: they are stored as trees and in a table for interning.
#[test]
fn distinct_attributes() {
    let _turn = TURN.lock();
    let body = |record: &dyn Fn(u32) -> Vec<u8>| {
        let mut body: Vec<u8> = (0..200_000).flat_map(record).collect();
        body.extend(RETURN);
        [vec![1], function(&body)].concat()
    };
    let count_up = |n: u32| [n as u8 | 0x80, (n >> 7) as u8 | 0x80, (n >> 14) as u8 & 0x7F | 0x20];
    worst(
        20.0,
        [
            ("div_by", body(&|n| [&[0x06, 2, 8][..], &count_up(n), &[0, 0]].concat())),
            ("bounded", body(&|n| [&[0x06, 2, 12, 1][..], &count_up(n), &[0]].concat())),
            (
                "array of bools",
                body(&|n| [&[0x06, 2, 6, 17][..], &[3, 1].repeat(16), &[8], &count_up(n), &[0, 0]].concat()),
            ),
        ],
    );
}

/// Every prefix and every flipped byte (three values) of the shorter files of the corpus: the reader must not
/// allocate for a count that damage has made huge.
#[test]
fn damaged_files() {
    const SMALL: usize = 1000;
    const MARGIN: usize = 1 << 10;
    let _turn = TURN.lock();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/corpus");
    let paths = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
    let bytecode = paths.filter(|p| p.extension().is_some_and(|x| x == "tileirbc"));
    let mut files: Vec<_> = bytecode.map(|p| (std::fs::read(&p).unwrap(), p)).collect();
    files.retain(|(data, _)| data.len() <= SMALL);
    assert!(files.len() >= 20);
    let mut most = 0;
    for (data, path) in &files {
        let mut check = |input: &[u8], at: usize| {
            let before = LIVE.load(Relaxed);
            PEAK.store(before, Relaxed);
            drop(read(input, &ReadOptions::default()));
            let used = PEAK.load(Relaxed) - before;
            most = most.max(used);
            assert!(used < 12 * data.len() + MARGIN, "{} at {at}: {used} bytes", path.display());
        };
        let mut damaged = data.clone();
        for at in 0..data.len() {
            check(&data[..at], at);
            for flip in [0x01, 0x80, 0xFF] {
                damaged[at] ^= flip;
                check(&damaged, at);
                damaged[at] = data[at];
            }
        }
    }
    println!("{} files, at most {most} bytes", files.len());
}

fn public(sections: &[(u8, usize, Vec<u8>)]) -> Vec<u8> {
    use varint::Encode;
    let mut out = b"\x7FTileIR\0\x0D\x01\0\0".to_vec();
    for (id, align, payload) in sections {
        out.push(id | 0x80);
        out.put_varint(payload.len() as u64);
        out.put_varint(*align as u64);
        out.put_padding(*align, 0xCB);
        out.extend(payload);
    }
    out.push(0);
    out
}
