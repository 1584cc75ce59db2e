//! Tests of `tileiras batch`.

use libtest_mimic::{Failed, Trial};

use crate::behaviour::text;
use crate::fixture::{Bench, sm_of};

pub fn trials() -> Vec<Trial> {
    let trial = |name: &str, test: fn()| {
        Trial::test(name, move || {
            test();
            Ok::<(), Failed>(())
        })
    };
    vec![trial("a batch", a_batch), trial("a batch does not wait for pipes", a_batch_does_not_wait_for_pipes)]
}

fn a_batch() {
    let bench = Bench::new();
    std::fs::create_dir(bench.at("sub")).unwrap();
    std::fs::rename(bench.at("ok"), bench.at("sub/ok")).unwrap();
    std::fs::rename(bench.at("failing"), bench.at("sub/failing")).unwrap();
    std::fs::rename(bench.at("abort"), bench.at("sub/abort")).unwrap();
    bench.put(
        "sub/manifest.json",
        br#"{"args": ["--gpu-name=sm_90"], "items": [
            {"input": "ok", "output": "a.cubin"}, {"input": "failing", "output": "b.cubin"},
            {"input": "abort", "output": "c.cubin"}, {"input": "ok", "output": "d.cubin", "args": ["--gpu-name=sm_120"]},
            {"input": "missing", "output": "e.cubin"}]}"#,
    );
    let outcome = bench.run(&["batch", "sub/manifest.json", "-j", "3"]);
    assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(5), "error: 3 of 5 compilations failed\n"));
    let mut lines: Vec<serde_json::Value> =
        text(&outcome.stdout).lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    lines.sort_by_key(|l| l["index"].as_u64());
    let statuses: Vec<i64> = lines.iter().map(|l| l["status"].as_i64().unwrap()).collect();
    assert_eq!(statuses, [0, 5, 70, 0, 1]);
    assert_eq!(
        lines[1]["messages"],
        "loc(\"k.py\":3:4): error: tile is too large\nerror: failed to compile Tile IR program\n"
    );
    assert_eq!((lines[0]["input"].as_str(), lines[0]["output"].as_str()), (Some("ok"), Some("a.cubin")));
    assert_eq!((sm_of(&bench.get("sub/a.cubin")), sm_of(&bench.get("sub/d.cubin"))), (90, 120));
    assert!(!bench.at("sub/b.cubin").exists() && !bench.at("sub/c.cubin").exists());

    bench.put("good.json", br#"{"items": [{"input": "sub/ok", "output": "x.cubin"}]}"#);
    assert_eq!(bench.run(&["batch", "good.json"]).status, Some(0));
    // Folders of outputs are created.
    bench.put("folders.json", br#"{"items": [{"input": "sub/ok", "output": "new/er/x.cubin"}]}"#);
    assert_eq!(bench.run(&["batch", "folders.json"]).status, Some(0));
    assert!(bench.at("new/er/x.cubin").is_file());
    for (arguments, status, words) in [
        (["batch", "gone.json"], 1, "error: unable to read input file 'gone.json': No such file or directory\n"),
        (["batch", "sub/ok"], 2, "error: the manifest 'sub/ok': "),
        (["batch", "-j0"], 1, "tileiras: batch: -j must be a number from 1 to 4096, not '0'\n"),
    ] {
        let outcome = bench.run(&arguments);
        assert_eq!(outcome.status, Some(status), "{}", outcome.stderr);
        assert!(outcome.stderr.starts_with(words), "{}", outcome.stderr);
    }
}

fn a_batch_does_not_wait_for_pipes() {
    let bench = Bench::new();
    // Nothing writes to the pipes or reads from them.
    assert!(std::process::Command::new("mkfifo").arg(bench.at("pipe")).status().unwrap().success());
    bench.put(
        "waits.json",
        br#"{"items": [{"input": "pipe", "output": "x"}, {"input": "/dev/zero", "output": "x"},
            {"input": "ok", "output": "pipe"}, {"input": "ok", "output": "/dev/null"}]}"#,
    );
    let outcome = bench.run(&["batch", "waits.json", "-j", "1"]);
    assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(5), "error: 3 of 4 compilations failed\n"));
    let lines: Vec<serde_json::Value> =
        text(&outcome.stdout).lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let said: Vec<_> = lines.iter().map(|l| (l["status"].as_i64().unwrap(), l["messages"].as_str().unwrap())).collect();
    let expected = [
        (
            1,
            "error: unable to read input file 'pipe': it is not a regular file, and opening it could block the batch\n",
        ),
        (
            1,
            "error: unable to read input file '/dev/zero': it is not a regular file, and opening it could block the batch\n",
        ),
        (2, "error: cannot open output file 'pipe': it is a pipe, and opening it could block the batch\n"),
        (0, ""),
    ];
    assert_eq!(said, expected);
}
