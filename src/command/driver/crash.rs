//! A crash of a compiler in this very process: a message and an exit status all the same.
//!
//! After a fatal signal nothing in the process can be relied on, so it executes its own program anew, with the same
//! arguments and a word in the environment that names the signal. The new program has the old one's process id, so
//! whoever waits for the command gets its status; it reports what happened and compiles nothing. Files that were open
//! are closed on the way; a ptxas that was started early loses its input by that and dies, at the latest, with this
//! process.
//!
//! `SIGKILL` cannot be caught: a process that is killed from outside is killed.

use std::ffi::{CString, OsString, c_char, c_int};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::sync::atomic::{AtomicPtr, Ordering};

/// `PID:SIGNAL` of the program that this one follows. With the process id, which stays the same, it means nothing to a
/// process that inherits it by accident.
const STOPPED_BY: &str = "TILEIRAS_STOPPED_BY";

/// Signals that end a process that does something wrong or exceeds a limit.
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

/// What the new program is called with; made beforehand, since a handler of signals can make nothing.
struct Successor {
    program: CString,
    arguments: Vec<*const c_char>,
    environment: Vec<*const c_char>,
    /// The two digits of the signal in the environment.
    digits: *mut u8,
}

static SUCCESSOR: AtomicPtr<Successor> = AtomicPtr::new(std::ptr::null_mut());

/// The signal that ended the program that this one follows in the same process, if there was one.
pub fn forerunner() -> Option<i32> {
    let word = std::env::var(STOPPED_BY).ok()?;
    let (process, signal) = word.split_once(':')?;
    (process.parse() == Ok(std::process::id())).then(|| signal.parse().ok())?
}

/// From now on, a fatal signal ends in this program called with `arguments`, where [`forerunner`] tells the signal.
/// Once a process.
///
/// # Errors
/// An argument with a zero in it, or what the system says when it refuses.
pub fn guard(arguments: &[OsString]) -> io::Result<()> {
    let program = if cfg!(target_os = "linux") {
        // Also after the file was replaced.
        "/proc/self/exe".into()
    } else {
        std::env::current_exe()?.into_os_string()
    };
    // Kept to the end of the process.
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
        // SAFETY: the text ends with two digits, at least.
        digits: unsafe { word.cast::<u8>().add(length - 2) },
    };
    SUCCESSOR.store(Box::into_raw(Box::new(successor)), Ordering::Release);

    // A stack that has overflowed has no room for the handler.
    const STACK: usize = 64 * 1024;
    let stack = libc::stack_t { ss_sp: Vec::leak(vec![0u8; STACK]).as_mut_ptr().cast(), ss_flags: 0, ss_size: STACK };
    // SAFETY: the stack lives as long as the process.
    if unsafe { libc::sigaltstack(&stack, std::ptr::null_mut()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: zeroed, a `sigaction` has no flags, an empty mask and the default action, and sigaction copies it.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = follow as extern "C" fn(c_int) as usize;
        // Should the handler crash, the default action ends the process.
        action.sa_flags = libc::SA_ONSTACK | libc::SA_RESETHAND | libc::SA_NODEFER;
        for signal in FATAL {
            if libc::sigaction(*signal, &action, std::ptr::null_mut()) != 0 {
                return Err(io::Error::last_os_error());
            }
        }
    }
    Ok(())
}

/// The handler. Makes async-signal-safe calls only, on memory that was prepared.
extern "C" fn follow(signal: c_int) {
    let successor = SUCCESSOR.load(Ordering::Acquire);
    // SAFETY: `guard` stored a successor that is never freed before it installed this handler; what it points to ends
    // with null where lists must. No other code uses the digits.
    unsafe {
        *(*successor).digits = b'0' + (signal / 10) as u8;
        *(*successor).digits.add(1) = b'0' + (signal % 10) as u8;
        // A mask outlives the call of another program; abort() sets one.
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &none, std::ptr::null_mut());
        let Successor { program, arguments, environment, .. } = &*successor;
        libc::execve(program.as_ptr(), arguments.as_ptr(), environment.as_ptr());
        // There is no such program any more, or no memory: the signal has its default action by now.
        libc::raise(signal);
        libc::_exit(70);
    }
}

/// As the system calls it, with its number.
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
