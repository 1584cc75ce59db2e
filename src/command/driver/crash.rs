//! Reports crashes of a compiler that runs in this process.
//!
//! After a fatal signal nothing in the process can be relied on. The handler therefore executes the same program
//! again, with the same arguments and an environment variable that holds the signal. The new program keeps the
//! process ID, so callers that wait for the command get its status; it reports the crash and compiles nothing. Open
//! files are closed on exec, so a ptxas that was started early loses its input. It dies with this process at the
//! latest.
//!
//! `SIGKILL` cannot be caught: a process killed that way reports nothing.

use std::ffi::{CString, OsString, c_char, c_int};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::sync::atomic::{AtomicPtr, Ordering};

/// Environment variable `PID:SIGNAL` for the program executed after a crash. The process ID does not change on exec,
/// so a process that inherits the variable by accident ignores it.
const STOPPED_BY: &str = "TILEIRAS_STOPPED_BY";

/// Signals raised by defects and exceeded limits.
const FATAL: &[c_int] = &[
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

/// The arguments of execve, prepared in advance because a signal handler cannot allocate.
struct Successor {
    program: CString,
    arguments: Vec<*const c_char>,
    environment: Vec<*const c_char>,
    /// The two digits of the signal number in the environment.
    digits: *mut u8,
}

static SUCCESSOR: AtomicPtr<Successor> = AtomicPtr::new(std::ptr::null_mut());

/// The signal that ended the previous program of this process, if there was one.
pub fn forerunner() -> Option<i32> {
    let word = std::env::var(STOPPED_BY).ok()?;
    let (process, signal) = word.split_once(':')?;
    (process.parse() == Ok(std::process::id())).then(|| signal.parse().ok())?
}

/// From now on, a fatal signal executes this program with `arguments`; its [`forerunner`] is the signal. Call once
/// per process.
///
/// # Errors
/// An argument contains a zero byte, or a system call failed.
pub fn guard(arguments: &[OsString]) -> io::Result<()> {
    let program = if cfg!(target_os = "linux") {
        // Refers to this program even if its file has been replaced.
        "/proc/self/exe".into()
    } else {
        std::env::current_exe()?.into_os_string()
    };
    // Never freed.
    let keep = |text: Vec<u8>| CString::new(text).map(CString::into_raw);
    let list = |texts: Vec<Vec<u8>>| -> io::Result<Vec<*mut c_char>> {
        Ok(texts.into_iter().map(keep).collect::<Result<_, _>>()?)
    };
    let ended = |list: &[*mut c_char]| -> Vec<*const c_char> {
        list.iter().map(|t| t.cast_const()).chain([std::ptr::null()]).collect()
    };
    let arguments = list(arguments.iter().map(|a| a.as_bytes().to_vec()).collect())?;
    let set = std::env::vars_os().filter(|(name, _)| name != STOPPED_BY);
    let mut environment =
        list(set.map(|(name, value)| [name.into_vec(), b"=".to_vec(), value.into_vec()].concat()).collect())?;
    let word = format!("{STOPPED_BY}={}:00", std::process::id());
    let length = word.len();
    let word = keep(word.into_bytes())?;
    environment.push(word);
    let successor = Successor {
        program: CString::new(program.into_vec())?,
        arguments: ended(&arguments),
        environment: ended(&environment),
        // SAFETY: the string ends with at least two digits.
        digits: unsafe { word.cast::<u8>().add(length - 2) },
    };
    SUCCESSOR.store(Box::into_raw(Box::new(successor)), Ordering::Release);

    // After a stack overflow the handler needs a stack of its own.
    const STACK: usize = 64 * 1024;
    let stack = libc::stack_t { ss_sp: Vec::leak(vec![0u8; STACK]).as_mut_ptr().cast(), ss_flags: 0, ss_size: STACK };
    // SAFETY: the stack is never freed.
    if unsafe { libc::sigaltstack(&stack, std::ptr::null_mut()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a zeroed `sigaction` has no flags, an empty mask and the default action. sigaction copies it.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = follow as extern "C" fn(c_int) as usize;
        // If the handler itself crashes, the default action ends the process.
        action.sa_flags = libc::SA_ONSTACK | libc::SA_RESETHAND | libc::SA_NODEFER;
        for signal in FATAL {
            if libc::sigaction(*signal, &action, std::ptr::null_mut()) != 0 {
                return Err(io::Error::last_os_error());
            }
        }
    }
    Ok(())
}

/// The signal handler. Makes only async-signal-safe calls, on memory prepared by [`guard`].
extern "C" fn follow(signal: c_int) {
    let successor = SUCCESSOR.load(Ordering::Acquire);
    // SAFETY: before installing this handler, `guard` stored a successor that is never freed. Its lists are
    // terminated by null, and no other code uses the digits.
    unsafe {
        *(*successor).digits = b'0' + (signal / 10) as u8;
        *(*successor).digits.add(1) = b'0' + (signal % 10) as u8;
        // The signal mask survives exec, and abort() sets one.
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &none, std::ptr::null_mut());
        let Successor { program, arguments, environment, .. } = &*successor;
        libc::execve(program.as_ptr(), arguments.as_ptr(), environment.as_ptr());
        // execve failed, for example for lack of memory. The signal has its default action again.
        libc::raise(signal);
        libc::_exit(70);
    }
}

/// The system's name for a signal, with its number.
pub fn signal_name(signal: i32) -> String {
    let name = match signal {
        libc::SIGABRT => "SIGABRT",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGILL => "SIGILL",
        libc::SIGKILL => "SIGKILL",
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGSYS => "SIGSYS",
        libc::SIGTRAP => "SIGTRAP",
        libc::SIGTERM => "SIGTERM",
        libc::SIGXCPU => "SIGXCPU",
        libc::SIGXFSZ => "SIGXFSZ",
        other => return format!("signal {other}"),
    };
    format!("{name} (signal {signal})")
}
