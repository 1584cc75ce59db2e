//! Starts a program without waiting until it is loaded.
//!
//! The standard library blocks until exec has succeeded. The scheduler then sees an idle processor and runs the
//! program there, where it shares the processor with its parent even if others are idle. On a busy machine the parent
//! waits until the program is first scheduled. Here the parent continues immediately, and learns later whether exec
//! failed.
//!
//! The program dies with the thread that started it (`PR_SET_PDEATHSIG`). It leads a new process group, so that it
//! can be killed together with its children.

use std::ffi::{CString, OsString, c_char, c_int};
use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};

/// A started process. It must be waited for.
#[derive(Debug)]
pub struct Process {
    id: libc::pid_t,
    /// Receives the error number if exec fails, and end of file otherwise.
    refusal: Option<PipeReader>,
}

impl Process {
    /// Starts the program, which must be a path, with the arguments and the environment of `command`. Its standard
    /// input is empty and both outputs go to `output`. In addition it inherits `files`.
    ///
    /// # Errors
    /// No process could be created, or a string contains a zero byte. [`Process::loaded`] reports a failing exec.
    pub fn start(command: &Command, output: &PipeWriter, files: &[RawFd]) -> io::Result<Process> {
        let plan = ExecPlan::new(command, output, files)?;
        let (refusal, told) = io::pipe()?;
        let told = OwnedFd::from(told);
        // SAFETY: the child only executes the plan.
        match unsafe { libc::fork() } {
            // SAFETY: this is the child.
            0 => unsafe { plan.follow(told.as_raw_fd()) },
            id if id > 0 => {
                // Both processes make this call, so that the group exists when this function returns, whichever runs
                // first. The second call has no effect.
                // SAFETY: the call takes integers.
                unsafe { libc::setpgid(id, id) };
                Ok(Process { id, refusal: Some(refusal) })
            }
            _ => Err(io::Error::last_os_error()),
        }
    }

    pub fn id(&self) -> libc::pid_t {
        self.id
    }

    /// Waits until the program is loaded. Fails if exec failed.
    pub fn loaded(&mut self) -> io::Result<()> {
        let Some(mut refusal) = self.refusal.take() else { return Ok(()) };
        let mut number = [0; 4];
        match refusal.read_exact(&mut number) {
            Ok(()) => {
                self.wait()?;
                Err(io::Error::from_raw_os_error(i32::from_ne_bytes(number)))
            }
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => Ok(()),
            Err(e) => Err(e),
        }
    }

    /// Kills the process group. Must not be called after [`Process::wait`].
    pub fn kill(&self) {
        // SAFETY: the process leads its group and has not been reaped, so its ID cannot have been reused.
        unsafe { libc::kill(-self.id, libc::SIGKILL) };
    }

    /// Waits for the process to exit and kills the rest of its group. Does not reap the process, so that its ID and
    /// that of the group stay reserved.
    pub fn wait_and_kill_rest(&self) -> io::Result<()> {
        loop {
            // SAFETY: a zeroed `siginfo_t` is valid, and it outlives the call.
            let result = unsafe {
                let mut information: libc::siginfo_t = std::mem::zeroed();
                libc::waitid(libc::P_PID, self.id as libc::id_t, &mut information, libc::WEXITED | libc::WNOWAIT)
            };
            match result {
                0 => break,
                _ => match io::Error::last_os_error() {
                    e if e.kind() == io::ErrorKind::Interrupted => {}
                    e => return Err(e),
                },
            }
        }
        self.kill();
        Ok(())
    }

    /// Waits for the process to exit, and reaps it.
    pub fn wait(&mut self) -> io::Result<ExitStatus> {
        let mut status = 0;
        loop {
            // SAFETY: the status outlives the call.
            match unsafe { libc::waitpid(self.id, &mut status, 0) } {
                -1 => match io::Error::last_os_error() {
                    e if e.kind() == io::ErrorKind::Interrupted => {}
                    e => return Err(e),
                },
                _ => return Ok(ExitStatus::from_raw(status)),
            }
        }
    }
}

/// All data that the child needs between fork and exec, where it cannot allocate.
struct ExecPlan {
    /// The first argument is the program.
    arguments: CStrings,
    environment: CStrings,
    input: OwnedFd,
    output: OwnedFd,
    files: Vec<RawFd>,
    starter: libc::pid_t,
}

impl ExecPlan {
    fn new(command: &Command, output: &PipeWriter, files: &[RawFd]) -> io::Result<ExecPlan> {
        debug_assert!(command.get_current_dir().is_none(), "the child keeps the current directory");
        let arguments = [command.get_program()].into_iter().chain(command.get_args());
        let changed = |name: &OsString| command.get_envs().any(|(other, _)| other == name);
        let kept = std::env::vars_os().filter(|(name, _)| !changed(name));
        let set = command.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())));
        let variable = |(name, value): (OsString, OsString)| [name.as_bytes(), b"=", value.as_bytes()].concat();
        Ok(ExecPlan {
            arguments: CStrings::new(arguments.map(|a| a.as_bytes().to_vec()))?,
            environment: CStrings::new(kept.chain(set).map(variable))?,
            input: above_standard(&File::open("/dev/null")?)?,
            output: above_standard(output)?,
            files: files.to_vec(),
            // SAFETY: the call takes nothing and cannot fail.
            starter: unsafe { libc::getpid() },
        })
    }

    /// Executes the program. On failure, writes the error number to `told` and exits.
    ///
    /// # Safety
    /// Must be called in a newly forked child. Allocates nothing, and all calls are async-signal-safe.
    unsafe fn follow(&self, told: RawFd) -> ! {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let _: Option<()> = self.prepare().and_then(|()| {
                libc::execve(self.arguments.list[0], self.arguments.list.as_ptr(), self.environment.list.as_ptr());
                None
            });
            let number = io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL).to_ne_bytes();
            libc::write(told, number.as_ptr().cast(), number.len());
            libc::_exit(127)
        }
    }

    /// Prepares the child for exec. `None` if a call failed.
    ///
    /// # Safety
    /// See [`ExecPlan::follow`].
    unsafe fn prepare(&self) -> Option<()> {
        let done = |result: c_int| (result != -1).then_some(());
        // SAFETY: guaranteed by the caller; the descriptors are inherited from the parent.
        unsafe {
            crate::parent::end_with(self.starter).ok()?;
            done(libc::setpgid(0, 0))?;
            for (from, to) in [(&self.input, 0), (&self.output, 1), (&self.output, 2)] {
                done(libc::dup2(from.as_raw_fd(), to))?;
            }
            // Blocked and ignored signals stay so across exec. Rust ignores SIGPIPE.
            let mut none: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&mut none);
            libc::sigprocmask(libc::SIG_SETMASK, &none, std::ptr::null_mut());
            libc::signal(libc::SIGPIPE, libc::SIG_DFL);
            #[cfg(target_os = "linux")]
            {
                // Marked close-on-exec instead of closed: the descriptor that reports a failure is needed until exec.
                let marked = libc::syscall(libc::SYS_close_range, 3u32, u32::MAX, libc::CLOSE_RANGE_CLOEXEC);
                if marked != 0 {
                    // On kernels before 5.11, mark the likely descriptor numbers.
                    for fd in 3..1024 {
                        libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC);
                    }
                }
            }
            for fd in &self.files {
                done(libc::fcntl(*fd, libc::F_SETFD, 0))?;
            }
        }
        Some(())
    }
}

/// A null-terminated array of C strings.
struct CStrings {
    /// Ends with null. Points into `_texts`.
    list: Vec<*const c_char>,
    _texts: Vec<CString>,
}

impl CStrings {
    fn new(texts: impl Iterator<Item = Vec<u8>>) -> io::Result<CStrings> {
        let texts: Vec<CString> = texts.map(CString::new).collect::<Result<_, _>>()?;
        Ok(CStrings { list: texts.iter().map(|t| t.as_ptr()).chain([std::ptr::null()]).collect(), _texts: texts })
    }
}

/// Duplicates a file to a descriptor above the standard ones, which the child overwrites.
fn above_standard(file: &impl AsRawFd) -> io::Result<OwnedFd> {
    // SAFETY: fcntl on an open descriptor; nothing else owns the new one.
    match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_DUPFD_CLOEXEC, 3) } {
        -1 => Err(io::Error::last_os_error()),
        // SAFETY: as above.
        fd => Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(command: &Command) -> (Process, PipeReader) {
        let (reader, writer) = io::pipe().unwrap();
        (Process::start(command, &writer, &[]).unwrap(), reader)
    }

    #[test]
    fn arguments_environment_and_status() {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "echo \"$0 $1 $ADDED ${HOME-none} $PATH\"; read x; exit 3", "zero", "o n e"]);
        command.env("ADDED", "new").env_remove("HOME");
        let (mut process, mut reader) = start(&command);
        process.loaded().unwrap();
        assert_eq!(process.wait().unwrap().code(), Some(3));
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, format!("zero o n e new none {}\n", std::env::var("PATH").unwrap()));
    }

    #[test]
    fn what_cannot_be_loaded() {
        let directory = tempfile::tempdir().unwrap();
        let text = directory.path().join("text");
        std::fs::write(&text, "no program").unwrap();
        for (program, number) in
            [("/nonexistent".as_ref(), libc::ENOENT), (directory.path(), libc::EACCES), (&text, libc::EACCES)]
        {
            let (mut process, mut reader) = start(&Command::new(program));
            assert_eq!(process.loaded().unwrap_err().raw_os_error(), Some(number), "{program:?}");
            assert_eq!(reader.read_to_end(&mut Vec::new()).unwrap(), 0);
        }
    }

    /// The group exists from the start, so that even an immediate kill works.
    #[test]
    fn killed_at_once() {
        for _ in 0..50 {
            let mut command = Command::new("/bin/sh");
            command.args(["-c", "sleep 60"]);
            let (mut process, mut reader) = start(&command);
            process.kill();
            assert_eq!(process.wait().unwrap().signal(), Some(libc::SIGKILL));
            assert_eq!(reader.read_to_end(&mut Vec::new()).unwrap(), 0);
        }
    }
}
