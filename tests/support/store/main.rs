//! Fills the store of results that tests share: see `tile_test_support::store`.
//!
//! One worker process for each processor compiles many programs. If a worker dies, the program that it was compiling
//! is reported, and another worker continues with the next. The exit status is zero then, because the tests of the
//! program find no entry, compile it themselves, and fail.

use std::env;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use tile_test_support::store::{self, Work};
use tileiras::compile::Session;

/// A context keeps every type and attribute, so a worker renews it.
const COMPILED_IN_A_CONTEXT: usize = 100;

/// The maximum size of the store in bytes. The oldest entries go first.
const LARGEST: u64 = 1 << 30;

fn main() -> ExitCode {
    let jobs = match store::jobs() {
        Ok(jobs) => jobs,
        Err(e) => {
            eprintln!("error: {e}");
            return ExitCode::FAILURE;
        }
    };
    if env::args().nth(1).as_deref() == Some("worker") {
        return work(&jobs).map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS);
    }
    let started = Instant::now();
    let removed = store::prune(LARGEST);
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| supervise(&jobs, &next));
        }
    });
    let folder = store::directory().display();
    let seconds = started.elapsed().as_secs_f64();
    println!("{folder}: {} results in {seconds:.1} s; {removed} old entries removed", jobs.len());
    ExitCode::SUCCESS
}

/// Reads numbers of jobs, and answers each with a line: empty, or the error.
fn work(jobs: &[Work]) -> io::Result<()> {
    let mut stdout = io::stdout();
    let mut session = Session::new();
    for (count, line) in io::stdin().lock().lines().enumerate() {
        let Some(job) = line?.parse().ok().and_then(|n: usize| jobs.get(n)) else { break };
        if count % COMPILED_IN_A_CONTEXT == COMPILED_IN_A_CONTEXT - 1 {
            session = Session::new();
        }
        let answer = job.run(&session).err().unwrap_or_default();
        writeln!(stdout, "{}", answer.replace('\n', " "))?;
        stdout.flush()?;
    }
    Ok(())
}

/// Hands jobs to a worker, and replaces it if it dies.
fn supervise(jobs: &[Work], next: &AtomicUsize) {
    let mut worker = None;
    while let n = next.fetch_add(1, Ordering::Relaxed)
        && let Some(job) = jobs.get(n)
    {
        let answer = worker.take().map_or_else(Worker::start, Ok).and_then(|mut running: Worker| {
            let answer = running.ask(n)?;
            worker = Some(running);
            Ok(answer)
        });
        match answer {
            Ok(error) if error.is_empty() => {}
            Ok(error) => eprintln!("{job}: {error}"),
            Err(e) => eprintln!("{job}: the compiler died: {e}"),
        }
    }
    if let Some(worker) = worker {
        worker.end();
    }
}

struct Worker {
    process: Child,
    answers: BufReader<ChildStdout>,
}

impl Worker {
    fn start() -> io::Result<Worker> {
        let mut command = Command::new(env::current_exe()?);
        let mut process = command.arg("worker").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let answers = BufReader::new(process.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?);
        Ok(Worker { process, answers })
    }

    /// The error of a job.
    fn ask(&mut self, job: usize) -> io::Result<String> {
        let stdin = self.process.stdin.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        let mut answer = String::new();
        let asked = writeln!(stdin, "{job}").and_then(|()| self.answers.read_line(&mut answer));
        if asked.is_ok() && answer.ends_with('\n') {
            return Ok(answer.trim_end().to_string());
        }
        Err(io::Error::other(self.process.wait()?.to_string()))
    }

    fn end(mut self) {
        drop(self.process.stdin.take());
        // Its last answer has arrived.
        let _ = self.process.wait();
    }
}
