//! Runs a tool and cleans up after it.
//!
//! * The tool dies with this process (`PR_SET_PDEATHSIG`), even if this process is killed.
//! * It inherits an empty standard input, one pipe for both outputs, and the files named in the call. No other
//!   descriptor is inherited, so a caller that waits for the end of one of its own pipes does not wait for the tool.
//! * It runs in its own process group. The group is killed on a timeout and when the tool exits, so processes that
//!   the tool started do not outlive it.
//! * At most [`MOST_OUTPUT`] bytes of its output are kept.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use crate::parent::end_with;
pub use crate::parent::end_with_parent;
use crate::process::Process;

/// The number of output bytes to keep: more than a user reads, and enough for the messages of ptxas about the largest
/// modules.
pub const MOST_OUTPUT: usize = 4 << 20;

/// The first [`MOST_OUTPUT`] bytes of an output.
#[derive(Default)]
struct Bounded {
    bytes: Vec<u8>,
    left_out: u64,
}

impl Bounded {
    fn add(&mut self, more: &[u8]) {
        let room = MOST_OUTPUT - self.bytes.len();
        let (kept, rest) = more.split_at(room.min(more.len()));
        self.bytes.extend_from_slice(kept);
        self.left_out += rest.len() as u64;
    }

    /// Appends a note on the omitted bytes.
    fn cut(&mut self) {
        if self.left_out > 0 {
            self.bytes.extend(format!("\n... and {} more bytes\n", self.left_out).into_bytes());
        }
    }
}

/// The result of a run.
#[derive(Debug)]
pub struct Finished {
    pub status: ExitStatus,
    /// Standard output and standard error, interleaved as written.
    pub output: Vec<u8>,
    /// Whether the tool was killed on a timeout.
    pub timed_out: bool,
}

/// Runs the command to completion. `files` are descriptors that it inherits under the same numbers.
pub fn run(command: Command, files: &[RawFd], timeout: Option<Duration>) -> io::Result<Finished> {
    Running::start(&command, files)?.finish(timeout)
}

/// A running tool. Killed on drop.
#[derive(Debug)]
pub struct Running {
    process: Process,
    reader: io::PipeReader,
    waited_for: bool,
}

impl Running {
    /// Starts the command, whose program must be a path; see [`run`]. Does not wait until the program is loaded:
    /// [`Running::finish`] reports a failure to load it.
    pub fn start(command: &Command, files: &[RawFd]) -> io::Result<Running> {
        let (reader, writer) = io::pipe()?;
        // The writer is dropped at the end of this function; otherwise the reader would never see end of file.
        let process = Process::start(command, &writer, files)?;
        Ok(Running { process, reader, waited_for: false })
    }

    /// Waits for the tool to exit. The timeout starts now.
    pub fn finish(mut self, timeout: Option<Duration>) -> io::Result<Finished> {
        if let Err(e) = self.process.loaded() {
            self.waited_for = true;
            return Err(e);
        }
        let deadline = timeout.filter(|t| !t.is_zero()).map(|t| Instant::now() + t);
        let mut output = Bounded::default();
        let finished = read_until_end(&mut self.reader, self.process.id(), deadline, &mut output);
        let timed_out = !matches!(finished, Ok(true));
        if timed_out {
            self.process.kill();
        }
        self.process.wait_and_kill_rest()?;
        let status = self.process.wait()?;
        self.waited_for = true;
        finished?;
        output.cut();
        let output = output.bytes;
        Ok(Finished { status, output, timed_out })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.waited_for {
            self.process.kill();
            // The status of a killed process is not interesting.
            let _ = self.process.wait();
        }
    }
}

/// A pipe and its capacity. Writes of up to that many bytes never block. `capacity` is a request to the system.
pub fn pipe_with_capacity(capacity: usize) -> io::Result<(io::PipeReader, io::PipeWriter, usize)> {
    let (reader, writer) = io::pipe()?;
    #[cfg(target_os = "linux")]
    // SAFETY: fcntl on a descriptor that is open, with integers.
    let size = unsafe {
        libc::fcntl(writer.as_raw_fd(), libc::F_SETPIPE_SZ, capacity as libc::c_int);
        libc::fcntl(writer.as_raw_fd(), libc::F_GETPIPE_SZ)
    };
    #[cfg(not(target_os = "linux"))]
    let size = {
        let _ = capacity;
        4096
    };
    Ok((reader, writer, usize::try_from(size).unwrap_or_default()))
}

/// Runs the command with the same descriptors and process group as this process. It dies with this process.
pub fn run_as_part(mut command: Command) -> io::Result<ExitStatus> {
    kill_when_parent_exits(&mut command);
    command.spawn()?.wait()
}

/// Makes the allocator request memory rarely and in large pieces, and return none. For a short-lived process.
///
/// The first piece may consist of huge pages, each of which takes one page fault instead of 512.
pub fn use_large_allocations() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: mallopt sets numbers of the allocator, which ignores invalid ones. The advice concerns memory between
    // the end of the allocations and the end of the heap, and changes no contents.
    unsafe {
        libc::mallopt(libc::M_TRIM_THRESHOLD, 1 << 30);
        libc::mallopt(libc::M_MMAP_THRESHOLD, 16 << 20);
        libc::mallopt(libc::M_TOP_PAD, 8 << 20);
        // Allocate a block up to the first possible huge page. It makes the heap grow and is never touched.
        const HUGE: usize = 2 << 20;
        let end = libc::sbrk(0) as usize;
        let first = (end + HUGE / 8).next_multiple_of(HUGE);
        std::hint::black_box(libc::malloc(first - end));
        let pages = (libc::sbrk(0) as usize).saturating_sub(first) / HUGE;
        if pages > 0 {
            libc::madvise(first as *mut libc::c_void, pages * HUGE, libc::MADV_HUGEPAGE);
        }
    }
}

/// The equivalent of [`use_large_allocations`] for a tool with glibc's allocator, set by an environment variable.
/// Other tools ignore the variable. A value set by the user is kept.
pub fn request_large_allocations(command: &mut Command) {
    const TUNABLES: &str = "GLIBC_TUNABLES";
    if std::env::var_os(TUNABLES).is_none() {
        let numbers =
            [("hugetlb", 1), ("top_pad", 16 << 20), ("mmap_threshold", 16 << 20), ("trim_threshold", 1 << 30)];
        let words: Vec<String> = numbers.iter().map(|(name, value)| format!("glibc.malloc.{name}={value}")).collect();
        command.env(TUNABLES, words.join(":"));
    }
}

/// Makes the pipe the standard input of this process, and returns the previous one.
///
/// # Errors
/// The system's error.
pub fn replace_stdin(reader: io::PipeReader) -> io::Result<File> {
    use std::os::fd::AsFd;
    let stdin = io::stdin().as_fd().try_clone_to_owned()?;
    // SAFETY: both descriptors are open, and the standard one belongs to no object that would close it.
    if unsafe { libc::dup2(reader.as_raw_fd(), 0) } == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(File::from(stdin))
}

/// Makes the pipe the standard output of this process, and returns the previous one.
///
/// # Errors
/// The system's error.
pub fn replace_stdout(writer: io::PipeWriter) -> io::Result<File> {
    use std::os::fd::AsFd;
    let stdout = io::stdout().as_fd().try_clone_to_owned()?;
    // SAFETY: both descriptors are open, and the standard one belongs to no object that would close it.
    if unsafe { libc::dup2(writer.as_raw_fd(), 1) } == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(File::from(stdout))
}

/// Closes the standard output of this process, so that its readers see end of file.
///
/// # Errors
/// The system's error.
pub fn end_stdout() -> io::Result<()> {
    let nowhere = File::options().write(true).open("/dev/null")?;
    // SAFETY: both descriptors are open.
    if unsafe { libc::dup2(nowhere.as_raw_fd(), 1) } == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// The effective user ID of this process.
pub fn user() -> u32 {
    // SAFETY: the call takes nothing and cannot fail.
    unsafe { libc::geteuid() }
}

/// Exits without running exit handlers: destructors of static objects would free memory that the system reclaims
/// anyway.
pub fn end(status: u8) -> ! {
    // SAFETY: the call ends the process; skipping the exit handlers is intended.
    unsafe { libc::_exit(status.into()) }
}

fn kill_when_parent_exits(command: &mut Command) {
    let parent = std::process::id() as libc::pid_t;
    // SAFETY: `end_with` may be called between fork and exec.
    unsafe { command.pre_exec(move || end_with(parent)) };
}

/// Reads the pipe until it ends, or the child has exited and the pipe is empty, or the deadline has passed (`false`).
fn read_until_end(
    reader: &mut io::PipeReader,
    child: libc::pid_t,
    deadline: Option<Instant>,
    output: &mut Bounded,
) -> io::Result<bool> {
    let ended = open_pidfd(child);
    let mut child_ended = false;
    loop {
        let wait = match deadline {
            _ if child_ended => 0,
            None => -1,
            Some(d) => {
                let left = d.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return Ok(false);
                }
                // Rounded up, so that the last iteration does not spin.
                i32::try_from(left.as_millis() + 1).unwrap_or(i32::MAX)
            }
        };
        let watch = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        let mut polled = [watch(reader.as_raw_fd()), watch(ended.as_ref().map_or(-1, AsRawFd::as_raw_fd))];
        // SAFETY: the array is valid for its length for the whole call; poll ignores negative descriptors.
        let ready = unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, wait) };
        if ready < 0 {
            let error = io::Error::last_os_error();
            if error.kind() == io::ErrorKind::Interrupted {
                continue;
            }
            return Err(error);
        }
        if polled[0].revents != 0 {
            let mut buffer = [0; 16 * 1024];
            match reader.read(&mut buffer) {
                Ok(0) => return Ok(true),
                Ok(n) => output.add(&buffer[..n]),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        } else if child_ended {
            // A process that the tool started may still hold the pipe open. Do not wait for it.
            return Ok(true);
        }
        child_ended |= polled[1].revents != 0;
    }
}

/// A descriptor that becomes readable when the child exits, if the system supports it.
fn open_pidfd(child: libc::pid_t) -> Option<OwnedFd> {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: pidfd_open takes a process id and flags and touches no memory of ours.
        let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, child, 0) };
        if fd >= 0 {
            // SAFETY: the call just returned this descriptor and nothing else owns it.
            return Some(unsafe { OwnedFd::from_raw_fd(fd as RawFd) });
        }
    }
    let _ = child;
    None
}

/// Creates an empty, unnamed file: in memory if the system supports it, otherwise in `directory`. A directory that is
/// not writable is an error in both cases, so that the requirements of a call do not depend on the system.
///
/// A file on a disk, even a short-lived one, costs journal writes.
pub fn memory_file(directory: &Path) -> io::Result<File> {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::ffi::OsStrExt;
        let name = std::ffi::CString::new(directory.as_os_str().as_bytes())?;
        // SAFETY: the name is zero-terminated and outlives the call.
        let usable = unsafe { libc::access(name.as_ptr(), libc::W_OK | libc::X_OK) } == 0 && directory.is_dir();
        if usable {
            // SAFETY: as above; nothing else owns the descriptor that the call returns.
            match unsafe { libc::memfd_create(c"tileiras".as_ptr(), libc::MFD_CLOEXEC) } {
                -1 => {}
                fd => return Ok(unsafe { File::from_raw_fd(fd) }),
            }
        }
    }
    unnamed_file(directory)
}

/// The path by which a process that inherits the descriptor can open the file.
pub fn descriptor_path(file: &impl AsRawFd) -> String {
    let directory = if cfg!(target_os = "linux") { "/proc/self/fd" } else { "/dev/fd" };
    format!("{directory}/{}", file.as_raw_fd())
}

/// Creates an empty, unnamed file in `directory`. It vanishes with its last descriptor, however the process ends.
pub fn unnamed_file(directory: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = File::options();
    options.read(true).write(true).mode(0o600);
    #[cfg(target_os = "linux")]
    match options.clone().custom_flags(libc::O_TMPFILE).open(directory) {
        // Some file systems do not support unnamed files.
        Err(e) if matches!(e.raw_os_error(), Some(libc::EOPNOTSUPP | libc::EISDIR | libc::EINVAL)) => {}
        result => return result,
    }
    for attempt in 0..1000u32 {
        let path = directory.join(format!("tileiras-{}-{attempt}.tmp", std::process::id()));
        match options.clone().create_new(true).open(&path) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(e) => return Err(e),
            Ok(file) => {
                std::fs::remove_file(&path)?;
                return Ok(file);
            }
        }
    }
    Err(io::Error::from(io::ErrorKind::AlreadyExists))
}

/// Atomically creates the file `target` in `directory`, which must not contain it: however this process ends, either
/// the file does not exist or it contains all of `bytes`. Fails with `Unsupported` if the file system cannot do that.
pub fn create_whole(target: &Path, directory: &Path, bytes: &[u8]) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use std::io::Write;
        use std::os::unix::{ffi::OsStrExt, fs::OpenOptionsExt};
        let mut options = File::options();
        options.write(true).mode(0o666).custom_flags(libc::O_TMPFILE);
        let mut file = options.open(directory).map_err(|_| io::ErrorKind::Unsupported)?;
        file.write_all(bytes)?;
        let source = std::ffi::CString::new(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
        let name = std::ffi::CString::new(target.as_os_str().as_bytes())?;
        let follow = libc::AT_SYMLINK_FOLLOW;
        // SAFETY: both strings are zero-terminated and outlive the call.
        match unsafe { libc::linkat(libc::AT_FDCWD, source.as_ptr(), libc::AT_FDCWD, name.as_ptr(), follow) } {
            0 => Ok(()),
            _ => Err(match io::Error::last_os_error() {
                // Without /proc there is no path to link from.
                e if e.kind() == io::ErrorKind::NotFound => io::ErrorKind::Unsupported.into(),
                e => e,
            }),
        }
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (target, directory, bytes);
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn output_and_status() {
        let done = run(shell("echo out; echo err >&2; exit 3"), &[], None).unwrap();
        assert_eq!((done.status.code(), done.timed_out), (Some(3), false));
        assert_eq!(String::from_utf8(done.output).unwrap(), "out\nerr\n");
        assert!(run(Command::new("/nonexistent"), &[], None).is_err());
    }

    /// Allocations from before and after the call stay intact, including after a second call.
    #[test]
    fn memory_in_large_pieces_is_memory() {
        let fill = |n: usize| (0..n).map(|i| vec![i; 100]).collect::<Vec<_>>();
        let before = fill(500);
        use_large_allocations();
        let between = fill(20_000);
        use_large_allocations();
        for many in [before, between, fill(20_000)] {
            assert!(many.iter().enumerate().all(|(i, v)| *v == vec![i; 100]));
        }
    }

    #[test]
    fn much_output_is_read_completely() {
        let done =
            run(shell("i=0; while [ $i -lt 20000 ]; do echo 0123456789abcdef; i=$((i+1)); done"), &[], None).unwrap();
        assert_eq!(done.output.len(), 20000 * 17);
    }

    #[test]
    fn a_tool_that_hangs_is_killed_with_its_children() {
        let start = Instant::now();
        let done = run(shell("sleep 60 & echo $!; sleep 60"), &[], Some(Duration::from_millis(200))).unwrap();
        assert!(done.timed_out && start.elapsed() < Duration::from_secs(20));
        let grandchild = String::from_utf8(done.output).unwrap();
        let state = || std::fs::read_to_string(format!("/proc/{}/stat", grandchild.trim())).unwrap_or_default();
        // The system removes a killed process with some delay.
        while !state().is_empty() && !state().contains(") Z") {
            assert!(start.elapsed() < Duration::from_secs(20), "{}", state());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn a_tool_that_is_dropped_is_killed() {
        let (reader, mut writer, capacity) = pipe_with_capacity(1 << 17).unwrap();
        assert!(capacity >= 4096);
        let mut command = shell("cat <&$FD; sleep 60");
        command.env("FD", reader.as_raw_fd().to_string());
        let running = Running::start(&command, &[reader.as_raw_fd()]).unwrap();
        writer.write_all(b"text").unwrap();
        let id = running.process.id();
        let start = Instant::now();
        drop(running);
        assert!(start.elapsed() < Duration::from_secs(20) && !Path::new(&format!("/proc/{id}")).exists());
    }

    #[test]
    fn a_process_left_behind_is_not_awaited() {
        let start = Instant::now();
        let done = run(shell("(sleep 3) & echo done"), &[], None).unwrap();
        assert_eq!((done.output.as_slice(), done.timed_out), (b"done\n".as_slice(), false));
        assert!(start.elapsed() < Duration::from_secs(2));
    }

    #[test]
    fn only_named_descriptors_pass() {
        let directory = std::env::temp_dir();
        let mut given = unnamed_file(&directory).unwrap();
        let source = unnamed_file(&directory).unwrap();
        // A descriptor without close-on-exec, as other programs may leak it, with a number that nothing else uses.
        // SAFETY: fcntl duplicates a descriptor that this test owns, and nothing else owns the result.
        let kept = unsafe { OwnedFd::from_raw_fd(libc::fcntl(source.as_raw_fd(), libc::F_DUPFD, 200)) };
        let script = format!("ls /proc/self/fd; echo written > /proc/self/fd/{}", given.as_raw_fd());
        let done = run(shell(&script), &[given.as_raw_fd()], None).unwrap();
        let listed = String::from_utf8(done.output).unwrap();
        let numbers: Vec<i32> = listed.lines().map(|l| l.parse().unwrap()).collect();
        assert!(numbers.contains(&given.as_raw_fd()) && !numbers.contains(&kept.as_raw_fd()), "{numbers:?}");
        given.flush().unwrap();
        let mut text = String::new();
        io::Seek::rewind(&mut given).unwrap();
        given.read_to_string(&mut text).unwrap();
        assert_eq!(text, "written\n");
    }

    #[test]
    fn nameless_files_need_a_directory() {
        for make in [unnamed_file, memory_file] {
            for directory in ["/nonexistent", "/dev/null", "/bin/sh"] {
                assert!(make(Path::new(directory)).is_err(), "{directory}");
            }
            assert_eq!(make(&std::env::temp_dir()).unwrap().metadata().unwrap().len(), 0);
        }
    }

    /// A tool can open one by the path of its descriptor.
    #[test]
    fn fleeting_files_are_files() {
        let directory = tempfile::tempdir().unwrap();
        let mut file = memory_file(directory.path()).unwrap();
        file.write_all(b"longer than what follows").unwrap();
        let script = format!("echo text > /proc/self/fd/{}", file.as_raw_fd());
        assert!(run(shell(&script), &[file.as_raw_fd()], None).unwrap().status.success());
        let mut text = String::new();
        io::Seek::rewind(&mut file).unwrap();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, "text\n");
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
