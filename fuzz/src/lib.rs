//! Shared code of all targets.

/// Runs the body of a target, which must finish within a second.
pub fn within_a_second(body: impl FnOnce()) {
    within(1, body);
}

/// Runs the body of a target, which must finish within this many seconds of CPU time.
///
/// libFuzzer's own limit is wall-clock time, which depends on the load of the machine.
pub fn within(seconds: i64, body: impl FnOnce()) {
    let start = thread_time();
    body();
    let taken = thread_time() - start;
    assert!(taken < seconds * 1_000_000_000, "the input took {} ms on the processor", taken / 1_000_000);
}

/// The CPU time of this thread, in nanoseconds.
fn thread_time() -> i64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a live value.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    assert_eq!(status, 0, "the system knows the time of a thread");
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}
