//! The command with its real callers: cuTile Python, the probes of other clients, and many concurrent compilations.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tile_test_support::{Trial, full, functions, root};

use tile_bytecode::{Module, Profile, Version};

fn tileiras() -> Command {
    Command::new(env!("CARGO_BIN_EXE_tileiras"))
}

/// A directory that is removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }
    fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
    fn files(&self) -> BTreeSet<String> {
        let names = std::fs::read_dir(&self.0).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned());
        names.collect()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Leftovers are in the build's own directory.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Clients determine the newest bytecode version by compiling modules without functions, newest version first.
fn modules_without_functions() {
    let scratch = Scratch::new("empty");
    for minor in 1..=6 {
        let version = Version { major: 13, minor: minor.min(5), tag: 0 };
        let mut bytes = tile_bytecode::write(&Module::new(version), Profile::Public, version).unwrap();
        bytes[9] = minor;
        let input = scratch.at("probe.bc");
        std::fs::write(&input, &bytes).unwrap();
        for target in ["sm_100", "sm_120"] {
            let output = scratch.at("out.cubin");
            // The file already exists and is empty.
            std::fs::write(&output, b"").unwrap();
            let out = tileiras().arg(&input).arg("-o").arg(&output).args(["--gpu-name", target]).output().unwrap();
            let stderr = String::from_utf8(out.stderr).unwrap();
            let image = std::fs::read(&output).unwrap();
            assert!(out.stdout.is_empty());
            if minor <= 5 {
                assert_eq!((out.status.code(), stderr.as_str()), (Some(0), ""), "13.{minor} {target}");
                assert!(image.starts_with(b"\x7fELF"), "13.{minor} {target}");
            } else {
                assert_eq!(out.status.code(), Some(3), "{stderr}");
                assert!(stderr.contains("unsupported Tile version 13.6.0"), "{stderr}");
                assert!(image.is_empty());
            }
        }
    }
}

/// An entry with a loop, a view and a token, as another client probes.
fn a_representative_module() {
    let scratch = Scratch::new("probe");
    for target in ["sm_80", "sm_90", "sm_100", "sm_120"] {
        let output = scratch.at("out.cubin");
        let input = root().join("tests/corpus/saxpy_grid_stride.13.1.tileirbc");
        let out = tileiras().args(["--gpu-name", target, "--opt-level", "3", "-o"]).arg(&output).arg(input).output();
        let out = out.unwrap();
        assert_eq!((out.status.code(), out.stdout.len(), out.stderr.len()), (Some(0), 0, 0), "{target}");
        assert!(std::fs::read(&output).unwrap().starts_with(b"\x7fELF"));
    }
}

/// The output is byte-identical in other directories and under load.
fn the_same_bytes_everywhere() {
    let scratch = Scratch::new("same");
    let compile = |directory: &Path, emit: &str| {
        std::fs::create_dir_all(directory).unwrap();
        let input = directory.join("kernel.tileirbc");
        std::fs::copy(root().join("tests/corpus/softmax_f16.13.1.tileirbc"), &input).unwrap();
        let output = directory.join("out");
        let out = tileiras()
            .args(["kernel.tileirbc", "--gpu-name=sm_90", "--lineinfo", &format!("--emit={emit}"), "-o", "out"])
            .current_dir(directory)
            .output()
            .unwrap();
        assert_eq!(String::from_utf8(out.stderr).unwrap(), "");
        std::fs::read(&output).unwrap()
    };
    for emit in ["ptx", "cubin"] {
        let first = compile(&scratch.at("a"), emit);
        for directory in ["a", "b/c"] {
            assert_eq!(compile(&scratch.at(directory), emit), first, "{emit} in {directory}");
        }
        std::thread::scope(|s| {
            for i in 0..16 {
                let (scratch, first, compile) = (&scratch, &first, &compile);
                s.spawn(move || assert!(compile(&scratch.at(&format!("t{i}")), emit) == *first));
            }
        });
    }
}

/// Successful, failing and killed compilations, 16 at a time: correct exit statuses, complete outputs, no leftovers.
fn mixed_compilations() {
    let count = if full() { 1000 } else { 120 };
    let scratch = Scratch::new("mixed");
    let temporary = Scratch::new("mixed-tmp");
    let corpus = root().join("tests/corpus");
    let good = ["vadd_f32", "softmax_f16", "transpose_f32", "reduce_axis1_f32"]
        .map(|n| corpus.join(format!("{n}.13.1.tileirbc")));
    let bad = scratch.at("bad.bc");
    let whole = std::fs::read(&good[0]).unwrap();
    std::fs::write(&bad, &whole[..whole.len() / 2]).unwrap();
    let expected: Vec<Vec<u8>> = good
        .iter()
        .map(|input| {
            let output = scratch.at("expected");
            let status = tileiras().arg(input).arg("--gpu-name=sm_90").arg("-o").arg(&output).status().unwrap();
            assert!(status.success());
            std::fs::read(&output).unwrap()
        })
        .collect();
    let next = AtomicUsize::new(0);
    std::thread::scope(|s| {
        for _ in 0..16 {
            s.spawn(|| {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    if i >= count {
                        break;
                    }
                    let output = scratch.at(&format!("out{i}"));
                    let input = if i % 5 == 3 { &bad } else { &good[i % 4] };
                    let mut child = tileiras()
                        .arg(input)
                        .arg("--gpu-name=sm_90")
                        .arg("-o")
                        .arg(&output)
                        .env("TMPDIR", &temporary.0)
                        .stdout(Stdio::null())
                        .stderr(Stdio::null())
                        .spawn()
                        .unwrap();
                    if i % 5 == 4 {
                        std::thread::sleep(Duration::from_millis(1 + (i as u64 * 37) % 200));
                        // It may have ended already.
                        let _ = child.kill();
                    }
                    let status = child.wait().unwrap();
                    match (i % 5, status.code()) {
                        (3, code) => assert_eq!(code, Some(3), "{i}"),
                        (4, None) => {}
                        (_, code) => assert_eq!(code, Some(0), "{i}"),
                    }
                    match std::fs::read(&output) {
                        Ok(image) => assert!(image == expected[i % 4], "{i}: a wrong or partial output"),
                        Err(_) => assert_ne!(status.code(), Some(0), "{i}: no output"),
                    }
                }
            });
        }
    });
    // A killed command leaves no process and no file, except a partial output under a temporary name next to the
    // output.
    assert_eq!(temporary.files(), BTreeSet::new());
    let names = scratch.files();
    let ours = |n: &String| n.starts_with("out") || n == "bad.bc" || n == "expected";
    let left: Vec<&String> = names.iter().filter(|n| !ours(n)).collect();
    assert!(left.len() <= count / 50, "{left:?}");
}

/// At least twenty kernels that cuTile Python also exports for the releases here.
const KERNELS: &[&str] = &[
    "vadd_f32",
    "saxpy_f32",
    "saxpy_grid_stride",
    "gelu_silu_bf16",
    "swiglu_f16",
    "int_zoo",
    "transpose_f32",
    "softmax_f32",
    "softmax_f16",
    "layernorm",
    "rmsnorm_bf16",
    "reduce_axis1_f32",
    "reduce_int",
    "cumsum_rows",
    "histogram",
    "matmul_f16",
    "matmul_bf16",
    "matmul_i8",
    "bmm_f16",
    "fmha_f16",
    "gather_masked",
    "bitonic_sort",
    "welford",
    "mandelbrot",
    "cross_entropy_f16",
];

fn cutile_python() {
    let fetched = Command::new(root().join("scripts/fetch-cutile.sh")).output().unwrap();
    if !fetched.status.success() {
        println!("skipped: cuda-tile cannot be had: {}", String::from_utf8_lossy(&fetched.stderr));
        return;
    }
    let packages = PathBuf::from(String::from_utf8(fetched.stdout).unwrap().trim());
    let bin = Path::new(env!("CARGO_BIN_EXE_tileiras")).parent().unwrap();
    let path = std::env::join_paths(
        std::iter::once(bin.to_owned()).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    )
    .unwrap();
    for version in ["1.7.0", "1.4.0"] {
        let scratch = Scratch::new(&format!("cutile-{version}"));
        let run = |names: &[&str], more: Option<(&str, &str)>| -> Vec<serde_json::Value> {
            let mut command = Command::new("python3");
            command.arg(root().join("tests/clients/cutile.py")).arg(root().join("tests/corpus/kernels.py"));
            command.arg(&scratch.0).args(names).env("PATH", &path).env("PYTHONPATH", packages.join(version));
            // Disable results of earlier runs.
            command.env("CUDA_TILE_CACHE_DIR", "0").env("HOME", &scratch.0).envs(more);
            let out = command.output().unwrap();
            assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
            let text = String::from_utf8(out.stdout).unwrap();
            text.lines().map(|l| serde_json::from_str(l).unwrap()).collect()
        };
        let lines = run(KERNELS, None);
        assert_eq!(lines.len(), KERNELS.len());
        for line in &lines {
            assert!(line["bytes"].as_u64().is_some_and(|n| n > 1000), "cuda-tile {version}: {line}");
            let name = line["name"].as_str().unwrap();
            let image = std::fs::read(scratch.at(&format!("{name}.cubin"))).unwrap();
            assert!(image.starts_with(b"\x7fELF") && image.windows(name.len()).any(|w| w == name.as_bytes()), "{name}");
        }
        // Errors reach the client in the compiler's wording.
        let lines = run(&["vadd_f32"], Some(("TILEIRAS_PTXAS_TIMEOUT", "soon")));
        let message = lines[0]["message"].as_str().unwrap_or_default();
        assert!(message.contains("TILEIRAS_PTXAS_TIMEOUT is 'soon', which is not a number of seconds"), "{}", lines[0]);
    }
}

pub fn trials() -> Vec<Trial> {
    functions![
        modules_without_functions,
        a_representative_module,
        the_same_bytes_everywhere,
        mixed_compilations,
        cutile_python
    ]
}
