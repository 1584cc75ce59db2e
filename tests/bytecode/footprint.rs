//! Reading stays small and fast: peak memory against the size of the input, and throughput.
//!
//! Run with `--release --nocapture` for figures that mean something; throughput is only asserted there.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;
use tile_bytecode::*;

/// Counts live bytes and remembers the most.
struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on to the system allocator unchanged; only counters are kept besides.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, l: Layout) -> *mut u8 {
        PEAK.fetch_max(LIVE.fetch_add(l.size(), Relaxed) + l.size(), Relaxed);
        // SAFETY: the caller's promise about the layout is handed on.
        unsafe { System.alloc(l) }
    }

    unsafe fn dealloc(&self, p: *mut u8, l: Layout) {
        LIVE.fetch_sub(l.size(), Relaxed);
        // SAFETY: the pointer came from `alloc` above, hence from the system allocator, with this layout.
        unsafe { System.dealloc(p, l) }
    }

    unsafe fn realloc(&self, p: *mut u8, l: Layout, size: usize) -> *mut u8 {
        PEAK.fetch_max(LIVE.fetch_add(size, Relaxed) + size - l.size(), Relaxed);
        LIVE.fetch_sub(l.size(), Relaxed);
        // SAFETY: as for `dealloc`.
        unsafe { System.realloc(p, l, size) }
    }
}

/// The counters belong to one test at a time.
static TURN: Mutex<()> = Mutex::new(());

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn megabytes(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}

/// Repeats the functions of a corpus file until the file has about `target` bytes.
fn inflate(name: &str, target: usize, locations: bool) -> Vec<u8> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus").join(name);
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
        let before = LIVE.load(Relaxed);
        PEAK.store(before, Relaxed);
        let start = Instant::now();
        let module = read(&data, &ReadOptions::default()).unwrap();
        let seconds = start.elapsed().as_secs_f64();
        let peak = PEAK.load(Relaxed) - before;
        let speed = megabytes(data.len()) / seconds;
        let factor = peak as f64 / data.len() as f64;
        println!(
            "{name:30} locations {locations:5}: {:.1} MB, {speed:.0} MB/s, peak {factor:.2} x input",
            megabytes(data.len())
        );
        assert!(factor < 12.0, "{name}: peak memory is {factor:.2} times the input");
        if !cfg!(debug_assertions) {
            assert!(speed > 50.0, "{name}: {speed:.0} MB/s");
        }
        let start = Instant::now();
        assert_eq!(write(&module, Profile::Public, module.version).unwrap().len(), data.len());
        println!("{:30} written at {:.0} MB/s", "", megabytes(data.len()) / start.elapsed().as_secs_f64());
    }
}

/// One function as large as the file, of the shortest records there are.
#[test]
fn short_records() {
    let _turn = TURN.lock();
    for (record, what) in
        [(&[0x44, 1][..], "make_token"), (&[0x32, 0, 0, 2, 0, 0][..], "empty if"), (&[0x5C, 0, 0], "return")]
    {
        let n = 1_000_000;
        let mut body = record.repeat(n);
        body.extend([0x5C, 0, 0]);
        let mut func = vec![1, 0, 3, 2, 0];
        varint::Encode::put_varint(&mut func, body.len() as u64);
        func.extend(body);
        let data = public(&[
            (2, 8, func),
            // i1, token, tile<i1>, (tile<i1>) -> ()
            (
                5,
                4,
                [
                    &[4, 0xCB, 0xCB, 0xCB][..],
                    &[0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 5, 0, 0, 0],
                    &[0, 17, 13, 0, 0, 16, 1, 2, 0],
                ]
                .concat(),
            ),
            (1, 4, vec![1, 0xCB, 0xCB, 0xCB, 0, 0, 0, 0, b'k']),
        ]);
        let before = LIVE.load(Relaxed);
        PEAK.store(before, Relaxed);
        let module = read(&data, &ReadOptions::default()).unwrap();
        let factor = (PEAK.load(Relaxed) - before) as f64 / data.len() as f64;
        println!("{what:12} peak {factor:.2} x input");
        assert_eq!(module.functions[0].body.len(), n + 1);
        assert!(factor < 16.0, "{what}: peak memory is {factor:.2} times the input");
    }
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
