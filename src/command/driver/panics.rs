//! Captures panic messages for error reports instead of printing them.

use std::sync::Mutex;

static LAST_PANIC: Mutex<Option<String>> = Mutex::new(None);

/// Stores panic messages for [`last_panic`] instead of printing them. Only the first call has an effect.
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

/// The message and location of the last panic, from any thread if several panic at once.
pub fn last_panic() -> String {
    LAST_PANIC.lock().ok().and_then(|mut last| last.take()).unwrap_or_else(|| "panic".to_owned())
}
