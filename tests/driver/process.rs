//! The processes of one call: ptxas, started early or instrumenting, and the compiler itself when it crashes.

use std::io::Read;
use std::process::Stdio;
use std::time::{Duration, Instant};

use libtest_mimic::{Failed, Trial};

use crate::behaviour::{is_running, script, wait_for};
use crate::fixture::{Bench, cuda_root, sm_of};

pub fn trials() -> Vec<Trial> {
    let tests: [(&str, fn()); 6] = [
        ("ptxas is started early", ptxas_is_started_early),
        ("ptxas that cannot be loaded", ptxas_cannot_be_loaded),
        ("a sanitizer", a_sanitizer),
        ("a compiler with a guard", a_guarded_compiler),
        ("a compiler with a guard that crashes", a_guarded_compiler_that_crashes),
        ("what a crash leaves of ptxas", a_crash_ends_ptxas),
    ];
    let trial = |(name, test): (&str, fn())| {
        Trial::test(name.to_owned(), move || {
            test();
            Ok::<(), Failed>(())
        })
    };
    tests.into_iter().map(trial).collect()
}

/// ptxas is started before the compiler is done, and is stopped if it is not needed.
fn ptxas_is_started_early() {
    let bench = Bench::new();
    bench.put("log", b"");
    script(
        &bench.at("cuda/bin/ptxas"),
        &format!("echo started >> log; exec {}/bin/ptxas \"$@\"", cuda_root().display()),
    );
    let run = |arguments: &[&str]| {
        let mut command = bench.command(arguments);
        command.env("CUDA_HOME", bench.at("cuda")).env("PATH", "/usr/bin:/bin");
        bench.finish(command)
    };
    let started = || String::from_utf8(bench.get("log")).unwrap().lines().count();
    assert_eq!(run(&["ok", "-o", "x"]).status, Some(0));
    assert_eq!(started(), 1);
    // The messages and bytes equal those of a ptxas that reads a file, as with debug information.
    assert_eq!(run(&["ok", "-o", "y", "--lineinfo"]).status, Some(0));
    assert_eq!(started(), 2);
    let early = run(&["wrong"]);
    let late = run(&["wrong", "--lineinfo"]);
    assert_eq!((early.status, late.status), (Some(5), Some(5)));
    assert!(early.stderr.contains("bogus"), "{}", early.stderr);
    assert_eq!(early.stderr.lines().count(), late.stderr.lines().count(), "{}{}", early.stderr, late.stderr);
    // After a failing module no ptxas is left waiting; otherwise the command would not end.
    let begin = Instant::now();
    assert_eq!(run(&["failing"]).status, Some(5));
    assert!(begin.elapsed() < Duration::from_secs(20));
}

/// The failure is only noticed when the PTX is complete, and is reported as if ptxas had been started then.
fn ptxas_cannot_be_loaded() {
    let bench = Bench::new();
    script(&bench.at("cuda/bin/ptxas"), "");
    std::fs::write(bench.at("cuda/bin/ptxas"), "\x7fELF, but no program").unwrap();
    for arguments in [&["ok", "-o", "x"][..], &["ok", "-o", "x", "--lineinfo"]] {
        let mut command = bench.command(arguments);
        command.env("CUDA_HOME", bench.at("cuda")).env("PATH", "/usr/bin:/bin");
        let outcome = bench.finish(command);
        let first = "error: 'DIR/cuda/bin/ptxas' cannot be started: Exec format error\n";
        assert_eq!(outcome.status, Some(5), "{}", outcome.stderr);
        assert!(outcome.stderr.starts_with(first), "{}", outcome.stderr);
    }
    assert_eq!(bench.new_files(), ["cuda"]);
}

/// ptxas inserts the checks and records that in the image.
fn a_sanitizer() {
    let bench = Bench::new();
    let told = |image: &[u8], word: &str| image.windows(word.len()).any(|w| w == word.as_bytes());
    for (target, tensor_memory) in [("sm_80", false), ("sm_90", false), ("sm_100", true)] {
        let target = format!("--gpu-name={target}");
        for (arguments, expected) in [(&["--sanitize=memcheck"][..], true), (&[], false)] {
            let outcome = bench.run(&[&["ok", &target, "-o", "x"], arguments].concat());
            assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(0), ""));
            assert_eq!(told(&bench.get("x"), "-sanitize memcheck"), expected, "{target} {arguments:?}");
            assert_eq!(told(&bench.get("x"), "-g-tmem-access-check"), expected && tensor_memory, "{target}");
        }
    }
    let outcome = bench.run(&["ok", "--sanitize=memcheck", "--emit=ptx", "-o", "x.ptx"]);
    assert_eq!(outcome.status, Some(0));
    assert_eq!(
        outcome.stderr,
        "warning: --sanitize has no effect here: ptxas inserts the checks, and this stage does not run it\n"
    );
}

fn guarded(bench: &Bench, arguments: &[&str]) -> std::process::Command {
    let mut command = bench.command(arguments);
    command.env("TILEIRAS_FIXTURE", "guarded");
    command
}

fn a_guarded_compiler() {
    let bench = Bench::new();
    let run = |arguments: &[&str]| bench.finish(guarded(&bench, arguments));
    let outcome = run(&["ok", "-o", "x"]);
    assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(0), ""));
    assert_eq!((sm_of(&bench.get("x")), &bench.new_files()[..]), (100, &["x".to_owned()][..]));
    let outcome = run(&["failing"]);
    let words = "loc(\"k.py\":3:4): error: tile is too large\nerror: failed to compile Tile IR program\n";
    assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(5), words));
    let outcome = run(&["ok", "--emit=ptx", "-o", "-"]);
    assert_eq!((outcome.status, outcome.stdout), (Some(0), bench.run(&["ok", "--emit=ptx"]).stdout));
    // No output is lost at exit, and output that cannot be written is an error.
    for arguments in [&["ok", "--emit=ptx", "-o", "-"][..], &["--version"], &["--help"]] {
        let full = std::fs::File::create("/dev/full").unwrap();
        let mut command = guarded(&bench, arguments);
        let status = command.stdout(full).stderr(Stdio::null()).status().unwrap();
        assert_eq!(status.code(), Some(1), "{arguments:?}");
    }
    assert_eq!(run(&["--version"]).stdout, bench.run(&["--version"]).stdout);
    for _ in 0..2 {
        assert_eq!(run(&["ok", "--cache-dir=cache", "-o", "y"]).status, Some(0));
        assert_eq!(bench.get("y"), bench.get("x"));
    }
}

fn a_guarded_compiler_that_crashes() {
    let bench = Bench::new();
    for (n, (order, signal)) in
        [("abort", "SIGABRT (signal 6)"), ("overflow", "SIGSEGV (signal 11)")].iter().enumerate()
    {
        let outcome = bench.finish(guarded(&bench, &[order, "-o", "x", "--crash-dir=crashes"]));
        assert_eq!(outcome.status, Some(70), "{outcome:?}");
        let words = format!("error: internal error: stopped by {signal}\n");
        assert_eq!(outcome.stderr.matches(&words).count(), 1, "{}", outcome.stderr);
        // The reproducer contains the arguments and the input of the command as it was called.
        let file = format!("crashes/tileiras-crash-{}.json", n + 1);
        assert!(outcome.stderr.contains(&format!("a reproducer was written to '{file}'")), "{}", outcome.stderr);
        let reproducer: serde_json::Value = serde_json::from_slice(&bench.get(&file)).unwrap();
        assert_eq!((reproducer["input_name"].as_str(), reproducer["status"].as_u64()), (Some(*order), Some(70)));
        assert_eq!(reproducer["ended"], format!("internal error: stopped by {signal}"));
        let replayed = bench.finish(guarded(&bench, &["replay", &file]));
        assert_eq!(replayed.status, Some(70), "{replayed:?}");
        assert!(String::from_utf8_lossy(&replayed.stdout).starts_with("reproduced: status 70"), "{replayed:?}");
    }
    assert!(!bench.at("x").exists());
    let outcome = bench.finish(guarded(&bench, &["panic"]));
    assert_eq!(outcome.status, Some(70));
    assert!(outcome.stderr.contains("error: internal error: index out of bounds"), "{}", outcome.stderr);

    // Every signal that a defect or an exceeded limit raises. The process keeps its ID.
    for signal in ["ABRT", "BUS", "FPE", "ILL", "SEGV", "SYS", "TRAP", "XCPU", "XFSZ"] {
        let mut command = guarded(&bench, &["sleep"]);
        let mut running = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        wait_for("ptxas to start", || !children(running.id()).is_empty());
        let kill = std::process::Command::new("kill").args(["-s", signal, &running.id().to_string()]).status().unwrap();
        assert!(kill.success());
        let mut words = String::new();
        running.stderr.take().unwrap().read_to_string(&mut words).unwrap();
        assert_eq!(running.wait().unwrap().code(), Some(70), "{signal}: {words}");
        assert!(words.starts_with(&format!("error: internal error: stopped by SIG{signal} (signal ")), "{words}");
        assert_eq!(words.contains("ulimit"), signal.starts_with('X'), "{words}");
    }
    // An inherited variable of another process is ignored.
    let mut command = guarded(&bench, &["ok", "-o", "x"]);
    command.env("TILEIRAS_STOPPED_BY", "1:11");
    assert_eq!(bench.finish(command).status, Some(0));
}

fn children(process: u32) -> Vec<String> {
    let list = std::fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap_or_default();
    list.split_whitespace().map(str::to_owned).collect()
}

/// A command that is killed or crashes leaves no ptxas and no open pipe.
fn a_crash_ends_ptxas() {
    let bench = Bench::new();
    script(&bench.at("slow/bin/ptxas"), "exec sleep 60");
    for signal in ["KILL", "SEGV"] {
        let mut command = guarded(&bench, &["sleep"]);
        command.env("CUDA_HOME", bench.at("slow")).env("PATH", "/usr/bin:/bin");
        let mut running = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        wait_for("ptxas to start", || !children(running.id()).is_empty());
        let tools = children(running.id());
        let kill = std::process::Command::new("kill").args(["-s", signal, &running.id().to_string()]).status().unwrap();
        assert!(kill.success());
        running.stdout.take().unwrap().read_to_end(&mut Vec::new()).unwrap();
        let status = running.wait().unwrap();
        assert_eq!(status.code(), if signal == "KILL" { None } else { Some(70) });
        for tool in tools {
            wait_for("ptxas to die", || !is_running(&tool));
        }
    }
}
