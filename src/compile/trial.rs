//! Reads code of libraries in a child process first.
//!
//! LLVM's readers end the process on some malformed input, or crash. Damaged bitcode of a library must end in an error
//! that names the library, also where the compiler is a part of another program. A copy of the process therefore reads
//! the code first. It writes a byte to a pipe when it is done; a pipe that is closed without it shows a crash.
//!
//! The copy has one thread. It calls only LLVM, on a context of its own, and never returns from [`attempt`]. Locks of
//! other threads stay locked in it, so it may wait forever, if rarely; it is then stopped and tried once more.

use std::{
    os::fd::AsRawFd,
    time::{Duration, Instant},
};

/// The time after which a child that does not answer is stopped, and the processor time that it may use.
const PATIENCE: Duration = Duration::from_secs(60);
const PROCESSOR_SECONDS: u64 = 30;
const ATTEMPTS: usize = 2;

/// Signals that a compiler may handle, which end the child.
const SIGNALS: [libc::c_int; 9] = [
    libc::SIGABRT,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGILL,
    libc::SIGSEGV,
    libc::SIGSYS,
    libc::SIGTRAP,
    libc::SIGXCPU,
    libc::SIGXFSZ,
];

/// Does `work` in a child process.
///
/// # Errors
///
/// Why the child did not finish. If no child can be started, there is no error, and nothing is known.
pub fn attempt(work: impl Fn()) -> Result<(), String> {
    for _ in 0..ATTEMPTS {
        match once(&work) {
            Outcome::Finished | Outcome::NotStarted => return Ok(()),
            Outcome::Stopped(how) => return Err(how),
            Outcome::Late => {}
        }
    }
    Err(format!("does not finish within {} s", PATIENCE.as_secs()))
}

enum Outcome {
    Finished,
    NotStarted,
    Stopped(String),
    Late,
}

fn once(work: &impl Fn()) -> Outcome {
    let Ok((reading, writing)) = std::io::pipe() else { return Outcome::NotStarted };
    // SAFETY: the child only calls `child`, which never returns.
    let process = unsafe { libc::fork() };
    match process {
        0 => child(work, writing.as_raw_fd()),
        -1 => Outcome::NotStarted,
        process => {
            // Only the child can write now, so its end is the end of the pipe.
            drop(writing);
            watch(process, reading.as_raw_fd())
        }
    }
}

/// Works in the child, silently and with the default reaction to signals.
fn child(work: &impl Fn(), writing: libc::c_int) -> ! {
    // SAFETY: plain system calls of a process with one thread; the paths and limits are valid.
    unsafe {
        for signal in SIGNALS {
            libc::signal(signal, libc::SIG_DFL);
        }
        let limit = |resource, value| {
            libc::setrlimit(resource, &libc::rlimit { rlim_cur: value, rlim_max: value });
        };
        limit(libc::RLIMIT_CORE, 0);
        limit(libc::RLIMIT_CPU, PROCESSOR_SECONDS);
        let null = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR);
        if null >= 0 {
            (0..3).for_each(|standard| {
                libc::dup2(null, standard);
            });
        }
    }
    crate::codegen::messages::silence();
    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    let byte = u8::from(done.is_ok());
    // SAFETY: one byte of this frame; the process then ends without running destructors.
    unsafe {
        if byte == 1 {
            libc::write(writing, (&raw const byte).cast(), 1);
        }
        libc::_exit(0)
    }
}

/// Waits for the child's byte or its end.
fn watch(process: libc::pid_t, reading: libc::c_int) -> Outcome {
    let started = Instant::now();
    let mut ready = libc::pollfd { fd: reading, events: libc::POLLIN, revents: 0 };
    let has_answer = loop {
        let left = PATIENCE.saturating_sub(started.elapsed());
        // SAFETY: one descriptor, which is open.
        let count = unsafe { libc::poll(&mut ready, 1, left.as_millis() as libc::c_int) };
        // A signal may interrupt the call.
        if count > 0 || left.is_zero() {
            break count > 0;
        }
    };
    let mut byte = 0u8;
    // SAFETY: one byte of this frame; the child is this process's, and has not been waited for.
    let (is_done, status) = unsafe {
        if !has_answer {
            libc::kill(process, libc::SIGKILL);
        }
        let is_done = has_answer && libc::read(reading, (&raw mut byte).cast(), 1) == 1;
        let mut status = 0;
        while libc::waitpid(process, &mut status, 0) < 0
            && std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted
        {}
        (is_done, status)
    };
    match (has_answer, is_done) {
        (false, _) => Outcome::Late,
        (true, true) => Outcome::Finished,
        (true, false) if libc::WIFSIGNALED(status) => {
            Outcome::Stopped(format!("is stopped by signal {}", libc::WTERMSIG(status)))
        }
        (true, false) => Outcome::Stopped("ends early".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crashes_are_noticed_and_do_not_end_the_process() {
        assert_eq!(attempt(|| {}), Ok(()));
        let stopped = attempt(|| std::process::abort());
        assert_eq!(stopped, Err(format!("is stopped by signal {}", libc::SIGABRT)));
        // SAFETY: the child exits as LLVM does on some errors.
        assert_eq!(attempt(|| unsafe { libc::_exit(1) }), Err("ends early".into()));
        assert_eq!(attempt(|| panic!("in the child")), Err("ends early".into()));
    }
}
