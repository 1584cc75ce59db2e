//! Lets a process die with its parent.

use std::io;

/// Asks the system to kill this process when the thread that started it exits. Does nothing on systems without the
/// feature.
///
/// # Errors
/// The system's error.
pub fn end_with_parent() -> io::Result<()> {
    // SAFETY: the call takes integers and changes an attribute of this process only.
    #[cfg(target_os = "linux")]
    if unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// [`end_with_parent`] for a process just forked by `parent`, which may have exited before this call. Safe between
/// fork and exec: it only makes system calls with integer arguments and allocates nothing.
pub fn end_with(parent: libc::pid_t) -> io::Result<()> {
    end_with_parent()?;
    // SAFETY: the call takes nothing and cannot fail.
    if cfg!(target_os = "linux") && unsafe { libc::getppid() } != parent {
        return Err(io::Error::from_raw_os_error(libc::ECHILD));
    }
    Ok(())
}
