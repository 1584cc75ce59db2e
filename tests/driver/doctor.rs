//! Tests of `tileiras doctor` with installations that lack something.

use std::path::{Path, PathBuf};
use std::time::Duration;

use libtest_mimic::{Failed, Trial};
use tile_driver::doctor::{Finding, Installation, PythonPackage, Verdict, examine, text};
use tile_driver::toolchain::Surroundings;

use crate::behaviour::script;
use crate::fixture::{Bench, cuda_root};

const VERSION: &str = "tileiras 0.0.0 (revision r, sources s, LLVM 21.1.8)";
/// A core that answers `--version` and compiles any module to PTX.
const CORE: &str = "case \"$1\" in --version) echo 'tileiras 0.0.0 (revision r, sources s, LLVM 21.1.8)';; \
                    *) echo '.visible .entry doctor()';; esac";

/// A working installation in its own directory.
fn healthy(dir: &Path) -> Installation {
    script(&dir.join("bin/tileiras"), "exit 0");
    script(&dir.join("bin/tileiras-core"), CORE);
    std::fs::create_dir(dir.join("tmp")).unwrap();
    Installation {
        program: Some(dir.join("bin/tileiras")),
        core: Some("tileiras-core".into()),
        version: VERSION.into(),
        surroundings: Surroundings {
            cuda_variables: vec![("CUDA_HOME", cuda_root().into())],
            path: Some(std::env::join_paths([dir.join("bin")]).unwrap()),
            program: Some(dir.join("bin/tileiras")),
        },
        package: None,
        scratch: dir.join("tmp"),
        timeout: Duration::from_secs(20),
    }
}

struct Fixture {
    name: &'static str,
    /// Breaks the installation.
    harm: fn(&mut Installation, &Path),
    verdict: Verdict,
    subject: &'static str,
    /// Parts of the message and of the fix. `DIR` is the installation's directory.
    says: &'static str,
    fix: &'static str,
}

/// Makes a ptxas in `DIR/cuda` the only one.
fn other_ptxas(i: &mut Installation, dir: &Path, body: &str) {
    script(&dir.join("cuda/bin/ptxas"), body);
    i.surroundings.cuda_variables = vec![("CUDA_PATH", dir.join("cuda").into())];
}

use Verdict::{Bad, Doubtful};

const FIXTURES: &[Fixture] = &[
    Fixture {
        name: "no core",
        harm: |_, dir| std::fs::remove_file(dir.join("bin/tileiras-core")).unwrap(),
        verdict: Bad,
        subject: "compiler",
        says: "'DIR/bin/tileiras-core' is missing",
        fix: "reinstall tileiras",
    },
    Fixture {
        name: "a core of another version",
        harm: |_, dir| script(&dir.join("bin/tileiras-core"), "echo tileiras 0.0.1"),
        verdict: Bad,
        subject: "compiler",
        says: "'DIR/bin/tileiras-core' has version 'tileiras 0.0.1', but this is 'tileiras 0.0.0 ",
        fix: "must be of one version",
    },
    Fixture {
        name: "a core without its libraries",
        harm: |_, dir| {
            script(
                &dir.join("bin/tileiras-core"),
                "echo 'tileiras-core: error while loading shared libraries: libMLIR.so.21.1: cannot open' >&2; exit 127",
            );
        },
        verdict: Bad,
        subject: "compiler",
        says: "libMLIR.so.21.1",
        fix: "install LLVM and MLIR 21.1",
    },
    Fixture {
        name: "a core that hangs",
        harm: |i, dir| {
            script(&dir.join("bin/tileiras-core"), "sleep 60");
            i.timeout = Duration::from_millis(300);
        },
        verdict: Bad,
        subject: "compiler",
        says: "does not respond",
        fix: "reinstall tileiras",
    },
    Fixture {
        name: "a core that does not compile",
        harm: |_, dir| {
            let text = CORE.replace("*) echo '.visible .entry doctor()'", "*) echo 'error: odd' >&2; exit 70");
            script(&dir.join("bin/tileiras-core"), &text);
        },
        verdict: Bad,
        subject: "compilation",
        says: "a small module does not compile (exit status: 70): error: odd",
        fix: "please report this",
    },
    Fixture {
        name: "no place for temporary files",
        harm: |_, dir| std::fs::remove_dir(dir.join("tmp")).unwrap(),
        verdict: Bad,
        subject: "TMPDIR",
        says: "'DIR/tmp' cannot be used: No such file or directory",
        fix: "set TMPDIR to a writable directory",
    },
    Fixture {
        name: "a variable that names no directory",
        harm: |i, dir| i.surroundings.cuda_variables.insert(0, ("CUDA_ROOT", dir.join("gone").into())),
        verdict: Doubtful,
        subject: "CUDA_ROOT",
        says: "'DIR/gone' is not a directory",
        fix: "or unset it",
    },
    Fixture {
        name: "a variable that names no toolkit",
        harm: |i, dir| i.surroundings.cuda_variables.insert(0, ("CUDA_PATH", dir.join("bin").into())),
        verdict: Doubtful,
        subject: "CUDA_PATH",
        says: "'DIR/bin' does not contain bin/ptxas",
        fix: "or unset it",
    },
    Fixture {
        name: "no ptxas",
        harm: |i, _| i.surroundings.cuda_variables.clear(),
        verdict: Bad,
        subject: "ptxas",
        says: "not found; looked for 'DIR/bin/ptxas' (next to the compiler)",
        fix: "install a CUDA toolkit of release 13.0 or newer",
    },
    Fixture {
        name: "a ptxas that may not be executed",
        harm: |i, dir| {
            use std::os::unix::fs::PermissionsExt;
            other_ptxas(i, dir, "exit 0");
            std::fs::set_permissions(dir.join("cuda/bin/ptxas"), std::fs::Permissions::from_mode(0o644)).unwrap();
        },
        verdict: Doubtful,
        subject: "ptxas",
        says: "'DIR/cuda/bin/ptxas' (CUDA_PATH) is not executable",
        fix: "chmod +x 'DIR/cuda/bin/ptxas'",
    },
    Fixture {
        name: "a ptxas for another machine",
        harm: |i, dir| {
            other_ptxas(i, dir, "exit 0");
            std::fs::write(dir.join("cuda/bin/ptxas"), b"\x7fELF\x02\x01\x01 nothing that runs here").unwrap();
        },
        verdict: Bad,
        subject: "ptxas",
        says: "none of the installed ptxas works",
        fix: "install a CUDA toolkit",
    },
    Fixture {
        name: "an old ptxas",
        harm: |i, dir| {
            other_ptxas(
                i,
                dir,
                "case \"$1\" in --version) echo 'release 12.4, V12.4.131';; \
                 *) echo \"ptxas fatal   : Unsupported .version 8.8; current version is '8.4'\" >&2; exit 255;; esac",
            );
        },
        verdict: Doubtful,
        subject: "ptxas",
        says: "'DIR/cuda/bin/ptxas' is release 12.4.131, too old for some targets",
        fix: "install a CUDA toolkit of release 13.0",
    },
    Fixture {
        name: "a ptxas that fails",
        harm: |i, dir| {
            other_ptxas(
                i,
                dir,
                "case \"$1\" in --version) echo 'release 13.4, V13.4.92';; *) echo 'ptxas fatal: no memory' >&2; exit 1;; esac",
            );
        },
        verdict: Bad,
        subject: "assembly",
        says: "ptxas fails for all targets: ptxas fatal: no memory",
        fix: "install a CUDA toolkit",
    },
    Fixture {
        name: "not on PATH",
        harm: |i, dir| i.surroundings.path = Some(dir.join("tmp").into()),
        verdict: Doubtful,
        subject: "PATH",
        says: "tileiras is not on PATH",
        fix: "put 'DIR/bin' on PATH",
    },
    Fixture {
        name: "another tileiras first on PATH",
        harm: |i, dir| {
            script(&dir.join("other/tileiras"), "exit 0");
            i.surroundings.path = Some(std::env::join_paths([dir.join("other"), dir.join("bin")]).unwrap());
        },
        verdict: Doubtful,
        subject: "PATH",
        says: "'tileiras' is 'DIR/other/tileiras', not this program 'DIR/bin/tileiras'",
        fix: "put this program's directory first on PATH",
    },
    Fixture {
        name: "the vendor's Python packages",
        harm: |_, dir| script(&dir.join("bin/python3"), "echo shadowed"),
        verdict: Doubtful,
        subject: "cuTile Python",
        says: "the environment of 'DIR/bin/python3' contains NVIDIA's tileiras",
        fix: "pip uninstall nvidia-cuda-tileiras', or, with the Python package of this compiler, run scripts with \
              'python -m tileiras.cutile",
    },
    Fixture {
        name: "the vendor's packages where this package is, and not on PATH",
        harm: |i, dir| {
            packaged(i, dir);
            script(&dir.join("env/bin/python"), "echo shadowed");
        },
        verdict: Doubtful,
        subject: "cuTile Python",
        says: "the environment of 'DIR/env/bin/python' contains NVIDIA's tileiras",
        fix: "python -m tileiras.cutile SCRIPT",
    },
    Fixture {
        name: "a package whose environment is not on PATH",
        harm: |i, dir| {
            packaged(i, dir);
            i.surroundings.path = Some(dir.join("tmp").into());
        },
        verdict: Doubtful,
        subject: "PATH",
        says: "tileiras is not on PATH",
        fix: "put 'DIR/env/bin' on PATH",
    },
];

/// Makes the program part of a Python package. Its environment has a launcher script, cuTile Python, and two names
/// for its Python.
fn packaged(i: &mut Installation, dir: &Path) {
    script(&dir.join("env/bin/tileiras"), "exit 0");
    script(&dir.join("env/bin/python"), "echo free");
    std::os::unix::fs::symlink("python", dir.join("env/bin/python3")).unwrap();
    i.package = Some(PythonPackage { launcher: dir.join("env/bin/tileiras"), python: dir.join("env/bin/python") });
    i.surroundings.path = Some(dir.join("env/bin").into());
}

/// The launcher script of the package is not another tileiras, and its environment is examined once.
fn a_package() {
    let dir = tempfile::tempdir().unwrap();
    let mut installation = healthy(dir.path());
    packaged(&mut installation, dir.path());
    let findings = examine(&installation);
    let report = text(&findings);
    assert!(findings.iter().all(|f| f.verdict == Verdict::Good), "{report}");
    let said: Vec<&str> = findings.iter().filter(|f| f.subject == "cuTile Python").map(|f| f.text.as_str()).collect();
    let python = dir.path().join("env/bin/python");
    assert_eq!(said, [format!("'{}' uses the first tileiras on PATH", python.display())]);
}

pub fn trials() -> Vec<Trial> {
    let mut trials = vec![
        trial("doctor: a healthy installation", health),
        trial("doctor: a Python package", a_package),
        trial("doctor: the subcommands of the command", subcommands),
    ];
    trials.extend(FIXTURES.iter().map(|f| trial(&format!("doctor: {}", f.name), move || broken(f))));
    trials
}

fn trial(name: &str, test: impl FnOnce() + Send + 'static) -> Trial {
    Trial::test(name.to_owned(), move || {
        test();
        Ok::<(), Failed>(())
    })
}

fn health() {
    let dir = tempfile::tempdir().unwrap();
    let findings = examine(&healthy(dir.path()));
    let report = text(&findings);
    assert!(findings.iter().all(|f| f.verdict == Verdict::Good), "{report}");
    let subjects: Vec<&str> = findings.iter().map(|f| f.subject).collect();
    assert_eq!(subjects, ["compiler", "TMPDIR", "compilation", "CUDA_HOME", "ptxas", "assembly", "PATH"]);
    assert!(report.ends_with("This installation works.\n"), "{report}");
    let left: Vec<PathBuf> = std::fs::read_dir(dir.path().join("tmp")).unwrap().map(|e| e.unwrap().path()).collect();
    assert!(left.is_empty(), "{left:?}");
}

fn broken(fixture: &Fixture) {
    let dir = tempfile::tempdir().unwrap();
    let mut installation = healthy(dir.path());
    (fixture.harm)(&mut installation, dir.path());
    let place = |s: &str| s.replace(&dir.path().display().to_string(), "DIR");
    let findings: Vec<Finding> =
        examine(&installation).into_iter().map(|f| Finding { text: place(&f.text), fix: place(&f.fix), ..f }).collect();
    let hit = |f: &&Finding| {
        f.verdict == fixture.verdict
            && f.subject == fixture.subject
            && f.text.contains(fixture.says)
            && f.fix.contains(fixture.fix)
    };
    assert!(findings.iter().any(|f| hit(&f)), "{}", text(&findings));
    let worst = findings.iter().map(|f| f.verdict).max().unwrap();
    assert!(worst >= fixture.verdict);
    assert!(!text(&findings).contains("This installation works.\n"));
}

fn subcommands() {
    let bench = Bench::new();
    // A subcommand word is the first argument; a file of that name is an input.
    let outcome = bench.run(&["doctor", "now"]);
    assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(1), "tileiras: usage: tileiras doctor\n"));
    let outcome = bench.run(&["explain"]);
    assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(1), "tileiras: usage: tileiras explain CODE\n"));
    let outcome = bench.run(&["explain", "t0401"]);
    assert_eq!(outcome.status, Some(0));
    assert_eq!(outcome.stdout, bench.run(&["--explain=T0401"]).stdout);
    for (name, says) in
        [("batch", "\"items\": ["), ("doctor", "Exit status: 0"), ("replay", "--crash-dir"), ("explain", "T0401")]
    {
        for option in ["--help", "-h"] {
            let outcome = bench.run(&[name, option]);
            let text = String::from_utf8(outcome.stdout).unwrap();
            assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(0), ""));
            assert!(text.starts_with(&format!("USAGE: tileiras {name}")) && text.contains(says), "{text}");
        }
    }
    bench.put("doctor", &bench.get("ok"));
    let outcome = bench.run(&["doctor", "-o", "x"]);
    assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(0), ""));
    std::fs::remove_file(bench.at("doctor")).unwrap();
    // A compiler that fails on the doctor's module is a faulty installation.
    let outcome = bench.run(&["doctor"]);
    let report = String::from_utf8(outcome.stdout).unwrap();
    assert_eq!(outcome.status, Some(4), "{report}");
    assert!(report.contains("FAIL  compilation  a small module does not compile (exit status: 70)"), "{report}");
    assert!(report.ends_with("This installation does not work: 1 failure.\n"), "{report}");
}
