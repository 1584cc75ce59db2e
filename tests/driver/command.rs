//! The command as users see it: a process with arguments, environment, files and an exit status.
//!
//! This binary has two roles. Started by cargo it is a test. Started by a test with `TILEIRAS_FIXTURE` set, it is the
//! command, with a compiler whose behavior is given by the input. This tests the whole driver, including ptxas,
//! without MLIR.

mod batch;
mod behaviour;
mod doctor;
mod fixture;
mod libraries;
mod objects;
mod probes;
mod process;
#[cfg(feature = "remote-cache")]
mod remote;
#[cfg(not(feature = "remote-cache"))]
#[path = "no_remote.rs"]
mod remote;
mod shared_memory;

fn main() -> std::process::ExitCode {
    if let Some(mode) = std::env::var_os("TILEIRAS_FIXTURE") {
        return fixture::play(&mode.to_string_lossy());
    }
    let arguments = libtest_mimic::Arguments::from_args();
    let mut trials = probes::trials();
    trials.extend(batch::trials());
    trials.extend(behaviour::trials());
    trials.extend(doctor::trials());
    trials.extend(libraries::trials());
    trials.extend(objects::trials());
    trials.extend(process::trials());
    trials.extend(remote::trials());
    trials.extend(shared_memory::trials());
    libtest_mimic::run(&arguments, trials).exit_code()
}
