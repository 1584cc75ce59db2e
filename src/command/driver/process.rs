//! Starting a program without waiting for it.
//!
//! The standard library waits until the program is loaded, asleep. A scheduler then sees a processor with nothing to do
//! and loads the program there, beside its starter, where the two take turns although other processors are idle; and on
//! a busy machine the starter waits for the program's first turn. Here the starter goes on at once, and learns later if
//! the program could not be loaded.
//!
//! The program dies with the thread that started it (`PR_SET_PDEATHSIG`). It leads a process group of its own, in which
//! it can be killed with what it started.

use std::ffi::{CString, OsString, c_char, c_int};
use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};

/// A process that was started. It must be waited for.
#[derive(Debug)]
pub struct Process {
    id: libc::pid_t,
    /// What the system says if the program cannot be loaded: the number of the error, or nothing.
    refusal: Option<PipeReader>,
}

impl Process {
    /// Starts the program, whose name is a path, with the arguments and the environment of `command`, in which no text
    /// has a zero. It has nothing to read, writes to `output` only, and inherits `files` besides.
    ///
    /// # Errors
    /// There can be no further process. That the program cannot be loaded is told by [`Process::loaded`].
    pub fn start(command: &Command, output: &PipeWriter, files: &[RawFd]) -> io::Result<Process> {
        let plan = Plan::new(command, output, files)?;
        let (refusal, told) = io::pipe()?;
        let told = OwnedFd::from(told);
        // SAFETY: the new process does nothing but follow the plan.
        match unsafe { libc::fork() } {
            // SAFETY: this is the new process.
            0 => unsafe { plan.follow(told.as_raw_fd()) },
            id if id > 0 => {
                // Here as well as there: whoever comes first, the group is there when this returns. The other one may
                // have been first.
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

    /// Waits until the program is loaded, or says why it cannot be.
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

    /// Kills it and the rest of its group. Not after it was waited for.
    pub fn kill(&self) {
        // SAFETY: the process leads its group and has not been waited for, so the number cannot have passed to another
        // one.
        unsafe { libc::kill(-self.id, libc::SIGKILL) };
    }

    /// Waits for its end and kills what is left of its group. It must still be waited for: until then, its number and
    /// that of the group belong to nobody else.
    pub fn wait_and_kill_rest(&self) -> io::Result<()> {
        loop {
            // SAFETY: zeroed, the structure holds no information, and it is valid during the call.
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

    /// Waits for its end.
    pub fn wait(&mut self) -> io::Result<ExitStatus> {
        let mut status = 0;
        loop {
            // SAFETY: the status is valid during the call.
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

/// All that the new process needs, since it can make nothing.
struct Plan {
    /// The program is the first argument.
    arguments: Texts,
    environment: Texts,
    input: OwnedFd,
    output: OwnedFd,
    files: Vec<RawFd>,
    starter: libc::pid_t,
}

impl Plan {
    fn new(command: &Command, output: &PipeWriter, files: &[RawFd]) -> io::Result<Plan> {
        debug_assert!(command.get_current_dir().is_none(), "the program starts where this one is");
        let arguments = [command.get_program()].into_iter().chain(command.get_args());
        let changed = |name: &OsString| command.get_envs().any(|(other, _)| other == name);
        let kept = std::env::vars_os().filter(|(name, _)| !changed(name));
        let set = command.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())));
        let variable = |(name, value): (OsString, OsString)| [name.as_bytes(), b"=", value.as_bytes()].concat();
        Ok(Plan {
            arguments: Texts::new(arguments.map(|a| a.as_bytes().to_vec()))?,
            environment: Texts::new(kept.chain(set).map(variable))?,
            input: above_standard(&File::open("/dev/null")?)?,
            output: above_standard(output)?,
            files: files.to_vec(),
            // SAFETY: the call takes nothing and cannot fail.
            starter: unsafe { libc::getpid() },
        })
    }

    /// Becomes the program, or writes the number of the error to `told` and ends.
    ///
    /// # Safety
    /// For a process that has just been forked. Nothing is allocated, and all calls are async-signal-safe.
    unsafe fn follow(&self, told: RawFd) -> ! {
        // SAFETY: the caller's promise.
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

    /// `None` where a call failed.
    ///
    /// # Safety
    /// As [`Plan::follow`].
    unsafe fn prepare(&self) -> Option<()> {
        let done = |result: c_int| (result != -1).then_some(());
        // SAFETY: the caller's promise; the numbers are of descriptors that this process inherited.
        unsafe {
            crate::child::end_with(self.starter).ok()?;
            done(libc::setpgid(0, 0))?;
            for (from, to) in [(&self.input, 0), (&self.output, 1), (&self.output, 2)] {
                done(libc::dup2(from.as_raw_fd(), to))?;
            }
            // What a signal does is inherited only as far as it is blocked or ignored. Rust ignores this one.
            let mut none: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&mut none);
            libc::sigprocmask(libc::SIG_SETMASK, &none, std::ptr::null_mut());
            libc::signal(libc::SIGPIPE, libc::SIG_DFL);
            #[cfg(target_os = "linux")]
            {
                // Marked rather than closed: the descriptor that tells of a failure must live until the program is
                // loaded.
                let marked = libc::syscall(libc::SYS_close_range, 3u32, u32::MAX, libc::CLOSE_RANGE_CLOEXEC);
                if marked != 0 {
                    // A kernel before 5.11: go through the numbers that are likely.
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

/// Texts as the system takes them.
struct Texts {
    /// Ends with null. Points into the other field.
    list: Vec<*const c_char>,
    _texts: Vec<CString>,
}

impl Texts {
    fn new(texts: impl Iterator<Item = Vec<u8>>) -> io::Result<Texts> {
        let texts: Vec<CString> = texts.map(CString::new).collect::<Result<_, _>>()?;
        Ok(Texts { list: texts.iter().map(|t| t.as_ptr()).chain([std::ptr::null()]).collect(), _texts: texts })
    }
}

/// The same file under a number that is none of the standard ones, which the new process gives to others.
fn above_standard(file: &impl AsRawFd) -> io::Result<OwnedFd> {
    // SAFETY: fcntl on a descriptor that is open; nothing else owns the new one.
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

    /// However soon: the group is there from the beginning.
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
