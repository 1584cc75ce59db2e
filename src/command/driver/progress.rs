//! Progress of long work.
//!
//! Work that takes minutes reports its progress and remaining time on standard error: as a bar on a terminal,
//! otherwise as a line from time to time, so that logs stay readable. Short work writes nothing to a log. Standard
//! output is never used.

use std::io::{self, IsTerminal, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Environment variable: seconds between lines if standard error is not a terminal. Zero disables all progress
/// output.
pub const VARIABLE: &str = "TILEIRAS_PROGRESS";
const USUAL: Duration = Duration::from_secs(10);

/// Work in progress. Removes its bar on drop.
pub struct Progress {
    what: String,
    total: u64,
    started: Instant,
    bar: ProgressBar,
    lines: Option<Mutex<Lines>>,
}

struct Lines {
    done: u64,
    interval: Duration,
    last: Instant,
}

impl Progress {
    /// Starts work of `total` parts. Shows nothing unless `wanted`.
    pub fn start(what: &str, total: u64, wanted: bool) -> Progress {
        let terminal = io::stderr().is_terminal();
        let interval = match std::env::var(VARIABLE).ok().and_then(|text| text.parse::<f64>().ok()) {
            Some(seconds) => Duration::try_from_secs_f64(seconds).unwrap_or(USUAL),
            None => USUAL,
        };
        let started = Instant::now();
        let wanted = wanted && !interval.is_zero();
        let bar = if wanted && terminal {
            let target = ProgressDrawTarget::stderr();
            let bar = ProgressBar::with_draw_target(Some(total), target).with_message(what.to_owned());
            // The template is constant and valid; without it the bar would have the default style.
            if let Ok(style) = ProgressStyle::with_template("{msg} [{bar:30}] {pos}/{len} {prefix}{eta} left") {
                bar.set_style(style.progress_chars("=> "));
            }
            bar.enable_steady_tick(Duration::from_millis(500));
            bar
        } else {
            ProgressBar::hidden()
        };
        let lines = (wanted && !terminal).then(|| Mutex::new(Lines { done: 0, interval, last: started }));
        Progress { what: what.to_owned(), total, started, bar, lines }
    }

    /// Records one more finished part. `note` is shown in addition, for example `2 failed`.
    pub fn advance(&self, note: &str) {
        if self.bar.is_hidden() {
            self.line(note);
            return;
        }
        self.bar.set_prefix(if note.is_empty() { String::new() } else { format!("{note}, ") });
        self.bar.inc(1);
    }

    /// Calls `write` while the bar is hidden, so that its output does not mix with the bar.
    pub fn aside<R>(&self, write: impl FnOnce() -> R) -> R {
        self.bar.suspend(write)
    }

    fn line(&self, note: &str) {
        let Some(lines) = &self.lines else { return };
        let mut lines = lines.lock().unwrap_or_else(|e| e.into_inner());
        lines.done += 1;
        // The caller reports the end of the work.
        if lines.done < self.total && lines.last.elapsed() >= lines.interval {
            lines.last = Instant::now();
            let text = line(&self.what, lines.done, self.total, self.started.elapsed(), note);
            // A failing standard error is ignored: there is nowhere left to report it.
            let _ = writeln!(io::stderr(), "{text}");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// `batch: 120 of 1000, 3 failed; about 2 min left`.
fn line(what: &str, done: u64, total: u64, spent: Duration, note: &str) -> String {
    let left = spent.as_secs_f64() / done.max(1) as f64 * total.saturating_sub(done) as f64;
    let note = if note.is_empty() { String::new() } else { format!(", {note}") };
    format!("{what}: {done} of {total}{note}; about {} left", rough(left))
}

/// A duration in rounded, readable form.
fn rough(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{:.0} s", s.ceil()),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_say_what_is_left() {
        let spent = Duration::from_secs(60);
        assert_eq!(line("batch", 120, 1000, spent, "3 failed"), "batch: 120 of 1000, 3 failed; about 7 min left");
        assert_eq!(line("tune: timing", 5, 10, spent, ""), "tune: timing: 5 of 10; about 60 s left");
        assert_eq!(line("corpus", 0, 0, spent, ""), "corpus: 0 of 0; about 0 s left");
    }

    #[test]
    fn times_are_rough() {
        assert_eq!([0.2, 89.0, 90.0, 5000.0, 9000.0].map(rough), ["1 s", "89 s", "2 min", "83 min", "2.5 h"]);
    }

    #[test]
    fn nothing_is_shown_where_nothing_is_wanted() {
        let progress = Progress::start("x", 3, false);
        progress.advance("");
        assert!(progress.lines.is_none() && progress.bar.is_hidden());
        assert_eq!(progress.aside(|| 7), 7);
    }
}
