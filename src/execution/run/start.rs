//! Starts `tile-run`, or does the same in the calling process.

use crate::command::{self, Tools};
use std::ffi::OsString;
use std::io::{self, Read};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Stack of a thread that does the work of `tile-run`, as large as that of a process.
const STACK: usize = 8 << 20;

/// How to run `tile-run`.
#[derive(Clone, Debug)]
pub enum TileRun {
    /// The executable.
    Program(PathBuf),
    /// In the calling process, with these tools. A crash ends the caller.
    Here(fn() -> Tools<'static>),
}

impl TileRun {
    /// Runs it to its end, without a progress bar. A program that takes longer than `limit` fails; in the calling
    /// process the limit is that of the simulation. `Err` holds the command's messages.
    pub fn run(&self, mut arguments: Vec<OsString>, limit: Option<Duration>) -> Result<(), String> {
        arguments.push("--quiet".into());
        match self {
            TileRun::Program(program) => {
                let mut command = Command::new(program);
                command.args(arguments);
                run_program(command, limit)
            }
            TileRun::Here(tools) => {
                if let Some(limit) = limit {
                    arguments.extend(["--max-time".into(), limit.as_secs().to_string().into()]);
                }
                run_here(&arguments, *tools)
            }
        }
    }
}

fn run_here(arguments: &[OsString], tools: fn() -> Tools<'static>) -> Result<(), String> {
    let (status, said) = thread::scope(|scope| {
        let work = || {
            let mut said = vec![];
            (command::run(arguments, tools(), &mut io::sink(), &mut said), said)
        };
        let thread = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        let thread = thread.map_err(|e| format!("error: cannot start a thread: {e}"))?;
        thread.join().map_err(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or_default();
            format!("error: panicked: {text}")
        })
    })?;
    if status == 0 { Ok(()) } else { Err(String::from_utf8_lossy(&said).into_owned()) }
}

fn run_program(mut command: Command, limit: Option<Duration>) -> Result<(), String> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| format!("error: cannot start {}: {e}", command.get_program().display()))?;
    let pipe = child.stderr.take();
    let reader = thread::spawn(move || {
        let mut bytes = vec![];
        if let Some(mut pipe) = pipe {
            // Output that was read before a failure is still useful.
            let _ = pipe.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let started = Instant::now();
    let status = loop {
        match child.try_wait() {
            Err(e) => return Err(format!("error: cannot wait: {e}")),
            Ok(Some(status)) => break Some(status),
            Ok(None) if limit.is_some_and(|limit| started.elapsed() > limit) => {
                // The process may just have ended.
                let _ = child.kill();
                let _ = child.wait();
                break None;
            }
            Ok(None) => thread::sleep(Duration::from_millis(10)),
        }
    };
    let said = reader.join().unwrap_or_default();
    match status {
        Some(status) if status.success() => Ok(()),
        Some(status) if status.code().is_some() && !said.is_empty() => Err(said),
        Some(status) => Err(format!("{said}\nerror: {status}")),
        None => Err(format!("{said}\nerror: not finished after {} s", limit.unwrap_or_default().as_secs())),
    }
}
