//! The command with a remote cache, whose server runs in this process and has faults.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use libtest_mimic::{Failed, Trial};
use tile_remote_tests::{Fake, Fault};

use crate::fixture::{Bench, Outcome, cuda_root, place_program};

pub fn trials() -> Vec<Trial> {
    let trial = |name: &str, test: fn()| {
        Trial::test(name, move || {
            test();
            Ok::<(), Failed>(())
        })
    };
    vec![
        trial("the remote cache", a_hit_and_a_miss),
        trial("the remote cache with a local one", both_caches),
        trial("the remote cache and the core", front_and_core),
        trial("the remote cache by the environment", the_environment),
        trial("a remote cache that does wrong", faults),
        trial("a remote cache that is slow", slowness),
        trial("a remote cache and a batch", batches),
        trial("a remote cache with a certificate", certificates),
        trial("invalid settings of the remote cache", wrong_settings),
    ]
}

/// More time than any machine needs, so that only tests of timing depend on it.
const PATIENCE: &str = "--remote-cache-timeout=20000";

/// A bench whose ptxas records its calls.
fn counting() -> Bench {
    let bench = Bench::new();
    bench.put("ptxas.log", b"");
    let ptxas = bench.at("cuda/bin/ptxas");
    std::fs::create_dir_all(ptxas.parent().unwrap()).unwrap();
    let script = format!("#!/bin/sh\necho run >> ptxas.log; exec {}/bin/ptxas \"$@\"\n", cuda_root().display());
    std::fs::write(&ptxas, script).unwrap();
    std::fs::set_permissions(&ptxas, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    bench
}

fn assemblies(bench: &Bench) -> usize {
    bench.get("ptxas.log").len() / 4
}

fn command(bench: &Bench, arguments: &[&str]) -> Command {
    let mut command = bench.command(arguments);
    command.env("CUDA_HOME", bench.at("cuda")).env("PATH", "/usr/bin:/bin");
    command
}

fn run(bench: &Bench, arguments: &[&str]) -> Outcome {
    bench.finish(command(bench, arguments))
}

/// The output without a cache.
fn plain(bench: &Bench) -> Vec<u8> {
    let outcome = run(bench, &["ok", "-o", "plain"]);
    assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(0), ""));
    bench.get("plain")
}

fn remote(fake: &Fake) -> String {
    format!("--remote-cache={}", fake.address())
}

#[track_caller]
fn silent(outcome: &Outcome) {
    assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(0), ""));
}

fn a_hit_and_a_miss() {
    let (bench, fake) = (counting(), Fake::start());
    let expected = plain(&bench);
    let remote = remote(&fake);
    silent(&run(&bench, &["ok", "-o", "a", &remote, PATIENCE]));
    assert_eq!((assemblies(&bench), fake.results()), (2, 1));
    silent(&run(&bench, &["ok", "-o", "b", &remote, PATIENCE]));
    assert_eq!((assemblies(&bench), fake.results()), (2, 1));
    assert!(bench.get("a") == expected && bench.get("b") == expected);
    // Every option that can change the output changes the entry. ptxas counts by its bytes, which differ here.
    silent(&run(&bench, &["ok", "-o", "c", &remote, PATIENCE, "-O1"]));
    assert_eq!((assemblies(&bench), fake.results()), (3, 2));
    let ptxas = bench.at("cuda/bin/ptxas");
    let script = std::fs::read_to_string(&ptxas).unwrap();
    std::fs::write(&ptxas, format!("{script}#\n")).unwrap();
    silent(&run(&bench, &["ok", "-o", "d", &remote, PATIENCE]));
    assert_eq!((assemblies(&bench), fake.results()), (4, 3));
    // With the original bytes in another location and at another time, the old entry is found.
    let there = bench.at("elsewhere/bin/ptxas");
    std::fs::create_dir_all(there.parent().unwrap()).unwrap();
    std::fs::write(&there, &script).unwrap();
    std::fs::set_permissions(&there, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut moved = command(&bench, &["ok", "-o", "e", &remote, PATIENCE]);
    moved.env("CUDA_HOME", bench.at("elsewhere"));
    silent(&bench.finish(moved));
    assert_eq!((assemblies(&bench), fake.results()), (4, 3));
    assert_eq!(bench.get("e"), expected);
    // A hit replays the stored diagnostics. Failures are not cached.
    let outcome = run(&bench, &["failing", "-o", "f", &remote, PATIENCE]);
    assert_eq!((outcome.status, fake.results()), (Some(5), 3));
    // Compilations with additional outputs do not use the cache, and do not call the server.
    let (before, calls) = (assemblies(&bench), fake.all_calls());
    silent(&run(&bench, &["ok", "-o", "g", &remote, PATIENCE, "--save-temps"]));
    assert_eq!((assemblies(&bench), fake.all_calls()), (before + 1, calls));
}

/// Both caches use the same key. A hit in one is copied to the other, and the local cache is searched first.
fn both_caches() {
    let (bench, fake) = (counting(), Fake::start());
    let expected = plain(&bench);
    let remote = remote(&fake);
    silent(&run(&bench, &["ok", "-o", "a", &remote, PATIENCE, "--cache-dir=one"]));
    assert_eq!((assemblies(&bench), fake.results()), (2, 1));
    // The local cache alone, and a local cache that is filled from the remote one.
    silent(&run(&bench, &["ok", "-o", "b", "--cache-dir=one"]));
    silent(&run(&bench, &["ok", "-o", "c", &remote, PATIENCE, "--cache-dir=two"]));
    let calls = fake.all_calls();
    silent(&run(&bench, &["ok", "-o", "d", "--cache-dir=two"]));
    silent(&run(&bench, &["ok", "-o", "e", &remote, PATIENCE, "--cache-dir=two"]));
    assert_eq!((assemblies(&bench), fake.all_calls()), (2, calls));
    for output in ["a", "b", "c", "d", "e"] {
        assert_eq!(bench.get(output), expected, "{output}");
    }
    // Both contain the same bytes.
    let entries = |d: &Path| -> Vec<Vec<u8>> {
        let list = |d: &Path| std::fs::read_dir(d).unwrap().map(|e| e.unwrap().path()).collect::<Vec<_>>();
        let mut files: Vec<_> = list(d).iter().flat_map(|d| list(d)).map(|f| std::fs::read(f).unwrap()).collect();
        // Except for digests of tools.
        files.retain(|f| f.len() > 120);
        files
    };
    assert_eq!((entries(&bench.at("one")).len(), entries(&bench.at("one"))), (1, entries(&bench.at("two"))));
}

/// The front program looks up, and the core stores; neither repeats the other's work.
fn front_and_core() {
    let (bench, fake) = (counting(), Fake::start());
    std::os::unix::fs::symlink(std::env::current_exe().unwrap(), bench.at("link")).unwrap();
    place_program(&bench.at("tileiras-core"));
    // The front must be in the same directory.
    std::fs::remove_file(bench.at("tileiras")).unwrap();
    std::fs::hard_link(bench.at("tileiras-core"), bench.at("tileiras")).unwrap();
    let front = |arguments: &[&str]| {
        let mut command = command(&bench, arguments);
        command.env("TILEIRAS_FIXTURE", "front");
        bench.finish(command)
    };
    let remote = remote(&fake);
    silent(&front(&["ok", "-o", "a", &remote, PATIENCE]));
    let calls = |name| fake.calls(name);
    assert_eq!((calls("GetActionResult"), calls("UpdateActionResult"), assemblies(&bench)), (1, 1, 1));
    // On a hit the core is not needed.
    std::fs::rename(bench.at("tileiras-core"), bench.at("away")).unwrap();
    silent(&front(&["ok", "-o", "b", &remote, PATIENCE]));
    assert_eq!((calls("GetActionResult"), calls("UpdateActionResult"), assemblies(&bench)), (2, 1, 1));
    assert_eq!(bench.get("a"), bench.get("b"));
    std::fs::rename(bench.at("away"), bench.at("tileiras-core")).unwrap();
    // A failure of the server in the front is not repeated or reported again by the core.
    fake.fail(Fault::Refuses);
    let before = fake.all_calls();
    let outcome = front(&["ok", "-o", "c", &remote, PATIENCE]);
    let text = format!(
        "warning: the remote cache '{}' cannot be used: PermissionDenied: not you?[31m; compiling without it\n",
        fake.address()
    );
    assert_eq!((outcome.status, outcome.stderr), (Some(0), text));
    // Both calls of the lookup, and none after that.
    assert_eq!(fake.all_calls(), before + 2);
    assert_eq!(bench.get("c"), bench.get("a"));
}

fn the_environment() {
    let (bench, fake) = (counting(), Fake::start());
    let with = |arguments: &[&str], milliseconds: &str| {
        let mut command = command(&bench, arguments);
        command.env("TILEIRAS_REMOTE_CACHE", fake.address()).env("TILEIRAS_REMOTE_CACHE_TIMEOUT", milliseconds);
        bench.finish(command)
    };
    silent(&with(&["ok", "-o", "a"], "20000"));
    silent(&with(&["ok", "-o", "b"], "20000"));
    assert_eq!((assemblies(&bench), fake.results()), (1, 1));
    // An option overrides the variable, and an empty value disables the cache.
    let calls = fake.all_calls();
    silent(&with(&["ok", "-o", "c", "--remote-cache="], "20000"));
    assert_eq!((assemblies(&bench), fake.all_calls()), (2, calls));
    let outcome = with(&["ok", "-o", "d"], "soon");
    let text = "error: the timeout of the remote cache must be from 1 to 600000 milliseconds, not 'soon'\n";
    assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(2), text));
}

/// Whatever the server does, the output is the same as without it, and one line reports the fault.
fn faults() {
    let (bench, mut fake) = (counting(), Fake::start());
    let expected = plain(&bench);
    let remote = remote(&fake);
    silent(&run(&bench, &["ok", "-o", "a", &remote, PATIENCE]));
    let warns = |what: &str| {
        let before = assemblies(&bench);
        let outcome = run(&bench, &["ok", "-o", "out", &remote, PATIENCE]);
        let text =
            format!("warning: the remote cache '{}' {what}; compiling without it\n", remote.split_once('=').unwrap().1);
        assert_eq!((outcome.status, outcome.stderr), (Some(0), text));
        assert_eq!((assemblies(&bench), bench.get("out") == expected), (before + 1, true), "{what}");
        std::fs::remove_file(bench.at("out")).unwrap();
    };
    for (fault, what) in [
        (Fault::WrongBytes, "cannot be trusted: its entry does not match the digest"),
        (Fault::WrongDigest, "cannot be trusted: the digest of its entry is malformed"),
        (Fault::Size(1 << 40), "cannot be trusted: its entry has a size of 1099511627776 bytes"),
        (Fault::Size(-5), "cannot be trusted: its entry has a size of -5 bytes"),
        (Fault::NoEntry, "cannot be trusted: its result does not contain the entry"),
        (Fault::OtherBlobs, "cannot be trusted: it returned other blobs than the requested ones"),
        // The bytes match their digest but are not an entry.
        (Fault::OtherEntry, "cannot be trusted: it returned a different entry than the requested one"),
        (Fault::Refuses, "cannot be used: PermissionDenied: not you?[31m"),
        (Fault::OtherDigests, "cannot be used: the server does not support SHA-256 digests"),
    ] {
        fake.fail(fault);
        warns(what);
    }
    // An intact entry of another compilation is rejected.
    fake.fail(Fault::None);
    silent(&run(&bench, &["ok", "-o", "other", &remote, PATIENCE, "-O1", "--cache-dir=of-other"]));
    let folder = std::fs::read_dir(bench.at("of-other")).unwrap().map(|e| e.unwrap().path());
    let files = folder.flat_map(|d| std::fs::read_dir(d).unwrap().map(|e| std::fs::read(e.unwrap().path()).unwrap()));
    let entry = files.into_iter().find(|f| f.len() > 120).expect("the entry of the other compilation");
    fake.replace_entries(&entry);
    warns("cannot be trusted: it returned a different entry than the requested one");
    // Lost blobs are only a miss, and are stored again.
    fake.fail(Fault::LostBlobs);
    silent(&run(&bench, &["ok", "-o", "b", &remote, PATIENCE]));
    fake.fail(Fault::ReadOnly);
    silent(&run(&bench, &["ok", "-o", "c", &remote, PATIENCE, "-O2"]));
    fake.kill();
    warns("cannot be reached: Connection refused");
    fake.revive();
    // A faulty cache does not change the outcome of a failing compilation.
    fake.fail(Fault::Refuses);
    let outcome = run(&bench, &["failing", "-o", "x", &remote, PATIENCE]);
    assert_eq!(outcome.status, Some(5));
}

/// The time limit holds for lookups and stores.
fn slowness() {
    let (bench, fake) = (counting(), Fake::start());
    let expected = plain(&bench);
    let remote = remote(&fake);
    fake.fail(Fault::Slow(Duration::from_secs(120)));
    let started = Instant::now();
    let outcome = run(&bench, &["ok", "-o", "a", &remote, "--remote-cache-timeout=300"]);
    let spent = started.elapsed();
    let text =
        format!("warning: the remote cache '{}' did not answer within 300 ms; compiling without it\n", fake.address());
    assert_eq!((outcome.status, outcome.stderr), (Some(0), text));
    assert_eq!(bench.get("a"), expected);
    // Far less than the server would take, and enough for a busy machine.
    assert!(spent < Duration::from_secs(30), "{spent:?}");
    // After a failure the server is not called again: the lookup made all the calls.
    assert!(fake.all_calls() <= 2);
}

fn manifest(bench: &Bench, count: usize, more: &str) {
    let items: Vec<String> =
        (0..count).map(|n| format!(r#"{{"input": "ok", "output": "out{n}", "args": ["-O{}"]}}"#, n % 4)).collect();
    let text = format!(r#"{{"args": [{more}], "items": [{}]}}"#, items.join(", "));
    bench.put("manifest.json", text.as_bytes());
}

/// Many compilations share one server, and one warning.
fn batches() {
    let (bench, mut fake) = (counting(), Fake::start());
    let outputs = |count: usize| -> Vec<Vec<u8>> { (0..count).map(|n| bench.get(&format!("out{n}"))).collect() };
    let batch = |milliseconds: &str, address: &str| {
        manifest(&bench, 12, &format!(r#""--remote-cache={address}", "--remote-cache-timeout={milliseconds}""#));
        let outcome = run(&bench, &["batch", "manifest.json", "-j", "4"]);
        assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(0), ""));
        let lines = String::from_utf8(outcome.stdout).unwrap();
        let messages: Vec<String> = lines
            .lines()
            .map(|l| serde_json::from_str::<serde_json::Value>(l).unwrap()["messages"].as_str().unwrap().to_owned())
            .filter(|m| !m.is_empty())
            .collect();
        messages
    };
    manifest(&bench, 12, "");
    silent(&run(&bench, &["batch", "manifest.json", "-j", "4"]));
    let expected = outputs(12);
    assert_eq!(batch("20000", &fake.address()), Vec::<String>::new());
    assert_eq!((outputs(12) == expected, fake.results()), (true, 4));
    let before = assemblies(&bench);
    assert_eq!(batch("20000", &fake.address()), Vec::<String>::new());
    assert_eq!((outputs(12) == expected, assemblies(&bench)), (true, before));
    // A slow server is reported once, and only delays the compilations in progress.
    fake.fail(Fault::Slow(Duration::from_secs(120)));
    let started = Instant::now();
    let said = batch("1500", &fake.address());
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("did not answer within 1500 ms; compiling without it"), "{said:?}");
    assert_eq!((outputs(12) == expected, assemblies(&bench)), (true, before + 12));
    assert!(started.elapsed() < Duration::from_secs(60));
    assert!(fake.calls("UpdateActionResult") <= 12);
    fake.kill();
    let said = batch("20000", &fake.address());
    assert_eq!(said.len(), 1, "{said:?}");
    assert_eq!(outputs(12), expected);
    // Nothing is left behind.
    let left = std::fs::read_dir(bench.dir.path()).unwrap().map(|e| e.unwrap().file_name());
    assert!(left.into_iter().all(|name| !name.to_string_lossy().starts_with("tileiras-")), "a common directory");
}

/// TLS connections to a server whose certificate is trusted, and to one whose certificate is unknown.
fn certificates() {
    let (bench, fake) = (counting(), Fake::start_secure());
    bench.put("known.pem", fake.certificate().expect("a certificate").as_bytes());
    let remote = remote(&fake);
    let known = |output: &str| {
        let mut command = command(&bench, &["ok", "-o", output, &remote, PATIENCE]);
        command.env("SSL_CERT_FILE", bench.at("known.pem"));
        bench.finish(command)
    };
    silent(&known("a"));
    silent(&known("b"));
    assert_eq!((assemblies(&bench), fake.results()), (1, 1));
    let outcome = run(&bench, &["ok", "-o", "c", &remote, PATIENCE]);
    let start = format!("warning: the remote cache '{}' cannot be reached: invalid peer certificate", fake.address());
    assert_eq!((outcome.status, outcome.stderr.starts_with(&start)), (Some(0), true), "{}", outcome.stderr);
    assert_eq!((bench.get("c") == bench.get("a"), assemblies(&bench)), (true, 2));
    // The server rejects unencrypted connections.
    let clear = remote.replace("grpcs://", "grpc://");
    let outcome = run(&bench, &["ok", "-o", "d", &clear, PATIENCE]);
    assert_eq!((outcome.status, outcome.stderr.lines().count()), (Some(0), 1), "{}", outcome.stderr);
}

fn wrong_settings() {
    let bench = counting();
    for (argument, text) in [
        ("--remote-cache=cache:80", "the remote cache 'cache:80' is not of the form grpc://host:port/instance"),
        ("--remote-cache=http://h:80", "the remote cache 'http://h:80' has the scheme 'http' instead of grpc or grpcs"),
        ("--remote-cache=grpc://h", "the remote cache 'grpc://h' lacks a port"),
    ] {
        // Even if the cache would not be used.
        for more in ["-O3", "--save-temps"] {
            let outcome = run(&bench, &["ok", "-o", "a", argument, more]);
            assert_eq!((outcome.status, outcome.stderr), (Some(2), format!("error: {text}\n")), "{argument} {more}");
        }
    }
    for time in ["0", "-1", "600001", "1s"] {
        let outcome = run(&bench, &["ok", "-o", "a", "--remote-cache=grpc://h:1", "--remote-cache-timeout", time]);
        let text =
            format!("error: the timeout of the remote cache must be from 1 to 600000 milliseconds, not '{time}'\n");
        assert_eq!((outcome.status, outcome.stderr), (Some(2), text));
    }
    assert_eq!(assemblies(&bench), 0);
}
