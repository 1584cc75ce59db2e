//! The processes of one call: ptxas, started early or told to instrument, and the copy that compiles.

use std::io::Read;
use std::process::Stdio;
use std::time::{Duration, Instant};

use libtest_mimic::{Failed, Trial};

use crate::behaviour::{is_running, script, wait_for};
use crate::fixture::{Bench, cuda_root, sm_of};

pub fn trials() -> Vec<Trial> {
    let tests: [(&str, fn()); 4] = [
        ("ptxas is started early", ptxas_is_started_early),
        ("a sanitizer", a_sanitizer),
        ("a copy of the process", a_copy_of_the_process),
        ("a copy of the process that crashes", a_copy_that_crashes),
    ];
    let trial = |(name, test): (&str, fn())| {
        Trial::test(name.to_owned(), move || {
            test();
            Ok::<(), Failed>(())
        })
    };
    tests.into_iter().map(trial).collect()
}

/// ptxas is there before the compiler is done, and gone when there is nothing for it to do.
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
    // The same words and bytes as from one that is given a file, as with debug information.
    assert_eq!(run(&["ok", "-o", "y", "--lineinfo"]).status, Some(0));
    assert_eq!(started(), 2);
    let early = run(&["wrong"]);
    let late = run(&["wrong", "--lineinfo"]);
    assert_eq!((early.status, late.status), (Some(5), Some(5)));
    assert!(early.stderr.contains("bogus"), "{}", early.stderr);
    assert_eq!(early.stderr.lines().count(), late.stderr.lines().count(), "{}{}", early.stderr, late.stderr);
    // A failing module leaves none waiting: the command would not end.
    let begin = Instant::now();
    assert_eq!(run(&["failing"]).status, Some(5));
    assert!(begin.elapsed() < Duration::from_secs(20));
}

/// ptxas puts the checks in, and says so in the image.
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
        "warning: --sanitize changes nothing here: it is ptxas that puts the checks into the code\n"
    );
}

fn copying(bench: &Bench, arguments: &[&str]) -> std::process::Command {
    let mut command = bench.command(arguments);
    command.env("TILEIRAS_FIXTURE", "copy");
    command
}

fn a_copy_of_the_process() {
    let bench = Bench::new();
    let run = |arguments: &[&str]| bench.finish(copying(&bench, arguments));
    let outcome = run(&["ok", "-o", "x"]);
    assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(0), ""));
    assert_eq!((sm_of(&bench.get("x")), &bench.new_files()[..]), (100, &["x".to_owned()][..]));
    // Status, words and standard output are those of the copy, once.
    let outcome = run(&["failing"]);
    let words = "loc(\"k.py\":3:4): error: tile is too large\nerror: failed to compile Tile IR program\n";
    assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(5), words));
    let outcome = run(&["ok", "--emit=ptx", "-o", "-"]);
    assert_eq!((outcome.status, outcome.stdout), (Some(0), bench.run(&["ok", "--emit=ptx"]).stdout));
    let full = std::fs::File::create("/dev/full").unwrap();
    let mut command = copying(&bench, &["ok", "--emit=ptx"]);
    let status = command.stdout(full).stderr(Stdio::null()).status().unwrap();
    assert_eq!(status.code(), Some(1));
    // A hit in the cache needs no copy.
    for _ in 0..2 {
        assert_eq!(run(&["ok", "--cache-dir=cache", "-o", "y"]).status, Some(0));
        assert_eq!(bench.get("y"), bench.get("x"));
    }
}

fn a_copy_that_crashes() {
    let bench = Bench::new();
    let outcome = bench.finish(copying(&bench, &["abort", "-o", "x", "--crash-dir=crashes"]));
    assert_eq!(outcome.status, Some(70));
    assert!(outcome.stderr.contains("error: internal error: stopped by SIGABRT (signal 6)\n"), "{}", outcome.stderr);
    assert_eq!(std::fs::read_dir(bench.at("crashes")).unwrap().count(), 1);
    assert!(!bench.at("x").exists());
    let outcome = bench.finish(copying(&bench, &["panic"]));
    assert_eq!(outcome.status, Some(70));
    assert!(outcome.stderr.contains("error: internal error: index out of bounds"), "{}", outcome.stderr);

    // The copy dies with the command, and holds no pipe open.
    let mut command = copying(&bench, &["sleep"]);
    let mut running = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let children = format!("/proc/{0}/task/{0}/children", running.id());
    let read = || std::fs::read_to_string(&children).unwrap_or_default().trim().to_owned();
    wait_for("the copy to start", || !read().is_empty());
    let child = read();
    running.kill().unwrap();
    running.wait().unwrap();
    running.stdout.take().unwrap().read_to_end(&mut Vec::new()).unwrap();
    wait_for("the copy to die", || !is_running(&child));
}
