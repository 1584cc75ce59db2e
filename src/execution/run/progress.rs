//! A progress bar on a terminal.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Shows the number of finished blocks on standard error until it is dropped. Does nothing if standard error is not a
/// terminal.
pub struct Bar {
    worker: Option<(Arc<Stop>, JoinHandle<()>)>,
}

#[derive(Default)]
struct Stop {
    flag: AtomicBool,
    lock: Mutex<()>,
    wake: Condvar,
}

const WIDTH: u64 = 40;

impl Bar {
    /// `done` counts up to `total`.
    pub fn start(done: Arc<AtomicU64>, total: u64, wanted: bool) -> Bar {
        if !wanted || !std::io::stderr().is_terminal() {
            return Bar { worker: None };
        }
        let stop = Arc::new(Stop::default());
        let seen = stop.clone();
        let worker = thread::spawn(move || {
            // A short launch does not show a bar.
            let mut drawn = false;
            let mut guard = seen.lock.lock().unwrap_or_else(|e| e.into_inner());
            loop {
                guard = match seen.wake.wait_timeout(guard, Duration::from_millis(200)) {
                    Ok((guard, _)) => guard,
                    Err(e) => e.into_inner().0,
                };
                if seen.flag.load(Ordering::Acquire) {
                    break;
                }
                eprint!("\r{}", draw(done.load(Ordering::Relaxed), total));
                // A closed terminal is not a reason to stop.
                let _ = std::io::stderr().flush();
                drawn = true;
            }
            if drawn {
                eprint!("\r\x1b[K");
            }
        });
        Bar { worker: Some((stop, worker)) }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some((stop, worker)) = self.worker.take() {
            stop.flag.store(true, Ordering::Release);
            stop.wake.notify_all();
            let _ = worker.join();
        }
    }
}

fn draw(done: u64, total: u64) -> String {
    let full = (done.min(total) * WIDTH / total.max(1)) as usize;
    format!("[{}{}] {done}/{total} blocks", "#".repeat(full), "-".repeat(WIDTH as usize - full))
}

#[cfg(test)]
mod tests {
    use super::draw;

    #[test]
    fn bar() {
        assert_eq!(draw(5, 20), format!("[{}{}] 5/20 blocks", "#".repeat(10), "-".repeat(30)));
        assert_eq!(draw(0, 0), format!("[{}] 0/0 blocks", "-".repeat(40)));
        assert_eq!(draw(9, 8), format!("[{}] 9/8 blocks", "#".repeat(40)));
    }
}
