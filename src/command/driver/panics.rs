//! The words of a panic, kept for the report that is written about it instead of printed at once.

use std::sync::Mutex;

static LAST_PANIC: Mutex<Option<String>> = Mutex::new(None);

/// Keeps the words of a panic for [`last_panic`] instead of printing them. Once a process; later calls do nothing.
pub fn install_panic_hook() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(set_panic_hook);
}

fn set_panic_hook() {
    std::panic::set_hook(Box::new(|info| {
        let text = info.payload_as_str().unwrap_or("panic");
        let place = info.location().map(|l| format!(" at {}:{}", l.file(), l.line())).unwrap_or_default();
        if let Ok(mut last) = LAST_PANIC.lock() {
            *last = Some(format!("{text}{place}"));
        }
    }));
}

/// The words and the place of the last panic; of any thread's, if several panic at once.
pub fn last_panic() -> String {
    LAST_PANIC.lock().ok().and_then(|mut last| last.take()).unwrap_or_else(|| "panic".to_owned())
}
