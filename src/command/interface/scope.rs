//! Scopes: named time spans of a compilation that an embedder can observe.
//!
//! The names are part of the interface. `CompileNVVM` covers the passes from Tile IR to NVVM and LLVM's optimizer.
//! `SerializeGPUModule` covers the translation to PTX and, separately, each tool that runs after it. Code that does
//! such work holds a [`Scope`]. The observer is called at both ends on the thread that does the work. `--mlir-timing`
//! prints the totals.

use std::cell::RefCell;
use std::ffi::CStr;
use std::sync::{PoisonError, RwLock};
use std::time::{Duration, Instant};

pub const COMPILE_NVVM: &CStr = c"CompileNVVM";
pub const SERIALIZE_GPU_MODULE: &CStr = c"SerializeGPUModule";

/// Called with the name of a scope, and `true` when it begins or `false` when it ends.
pub type Observer = dyn Fn(&'static CStr, bool) + Send + Sync;

static OBSERVER: RwLock<Option<Box<Observer>>> = RwLock::new(None);

thread_local! {
    static TIMES: RefCell<Vec<(&'static CStr, Duration)>> = const { RefCell::new(Vec::new()) };
}

/// Sets the observer of the process, replacing the previous one.
pub fn observe(observer: Option<Box<Observer>>) {
    *OBSERVER.write().unwrap_or_else(PoisonError::into_inner) = observer;
}

/// An open scope, closed on drop.
#[must_use]
pub struct Scope {
    name: &'static CStr,
    started: Instant,
}

/// Opens a scope.
pub fn enter(name: &'static CStr) -> Scope {
    notify(name, true);
    Scope { name, started: Instant::now() }
}

impl Drop for Scope {
    fn drop(&mut self) {
        let spent = self.started.elapsed();
        TIMES.with_borrow_mut(|times| match times.iter_mut().find(|(name, _)| *name == self.name) {
            Some((_, sum)) => *sum += spent,
            None => times.push((self.name, spent)),
        });
        notify(self.name, false);
    }
}

fn notify(name: &'static CStr, begin: bool) {
    if let Some(observer) = OBSERVER.read().unwrap_or_else(PoisonError::into_inner).as_ref() {
        observer(name, begin);
    }
}

/// Takes the time that this thread has spent in each scope since the last call, in order of first use.
pub fn take_times() -> Vec<(&'static CStr, Duration)> {
    TIMES.take()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    #[test]
    fn both_ends_are_heard_and_times_add_up() {
        let heard = Arc::new(Mutex::new(vec![]));
        let ear = heard.clone();
        let me = std::thread::current().id();
        observe(Some(Box::new(move |name, begin| {
            if std::thread::current().id() == me {
                ear.lock().unwrap().push((name.to_str().unwrap(), begin));
            }
        })));
        take_times();
        for _ in 0..2 {
            let _outer = enter(COMPILE_NVVM);
            drop(enter(SERIALIZE_GPU_MODULE));
        }
        observe(None);
        drop(enter(COMPILE_NVVM));
        let once = [
            ("CompileNVVM", true),
            ("SerializeGPUModule", true),
            ("SerializeGPUModule", false),
            ("CompileNVVM", false),
        ];
        assert_eq!(*heard.lock().unwrap(), [once, once].concat());
        let times = take_times();
        assert_eq!(times.iter().map(|t| t.0).collect::<Vec<_>>(), [SERIALIZE_GPU_MODULE, COMPILE_NVVM]);
        assert!(times[0].1 <= times[1].1 && take_times().is_empty());
    }
}
