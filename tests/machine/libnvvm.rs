//! Programs of the corpus through NVIDIA's libNVVM: the command compiles them to PTX with it, and the simulator runs
//! the PTX.
//!
//! By default a handful; `TILEIRAS_TEST_FULL=1` takes all supported programs.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};
use tile_launch::corpus::{self, Lists, Program};
use tile_test_support::{Failed, Trial, listed, root};

/// Memory, control flow, mathematics, dots, and reductions through shared memory.
const SLICE: &[&str] = &[
    "vadd_f32.13.1",
    "collatz.13.1",
    "gelu_silu_bf16.13.1",
    "matmul_f16.13.1",
    "softmax_f32.13.1",
    "transpose_f32.13.1",
];
/// The first target for which libNVVM reads the IR of a recent enough LLVM.
const TARGET: &str = "sm_100";

pub fn trials() -> Vec<Trial> {
    let mut trials = vec![Trial::test("libnvvm/refusals", refusals), Trial::test("libnvvm/intermediate", intermediate)];
    let both = |program: Program| {
        [0, 3].map(|level| {
            let program = program.clone();
            Trial::test(format!("libnvvm/{}/O{level}", program.name), move || run(&program, level))
        })
    };
    trials.extend(listed("libnvvm", programs().map(|programs| programs.into_iter().flat_map(both).collect())));
    trials
}

fn programs() -> Result<Vec<Program>, corpus::Error> {
    let full = tile_test_support::full();
    let lists = Lists::read(root())?;
    let chosen = |p: &Program| {
        if full {
            p.is_readable() && lists.pending_on(&p.name, TARGET).is_none()
        } else {
            SLICE.contains(&p.name.as_str())
        }
    };
    let programs: Vec<Program> = corpus::programs(root())?.into_iter().filter(chosen).collect();
    assert!(full || programs.len() == SLICE.len(), "a program of the slice is missing");
    Ok(programs)
}

fn scratch() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
}

/// Runs the command with the library of the checkout.
fn tileiras(arguments: &[&str]) -> Result<Output, Failed> {
    let library = root().join(".tools/nvvm/lib/libnvvm.so.4");
    if !library.is_file() {
        return Err("no libNVVM: run scripts/setup.sh".into());
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_tileiras"));
    command.arg("--backend=libnvvm").arg("--libnvvm-path").arg(library).args(arguments);
    command.output().map_err(|e| e.to_string().into())
}

fn words(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn expect(condition: bool, text: impl Into<String>) -> Result<(), Failed> {
    if condition { Ok(()) } else { Err(text.into().into()) }
}

fn file(name: &str) -> String {
    root().join("tests/corpus").join(name).display().to_string()
}

fn run(program: &Program, level: u8) -> Result<(), Failed> {
    let cases = corpus::cases(root(), scratch().parent().unwrap_or(root())).map_err(|e| e.to_string())?;
    let ptx: PathBuf = scratch().join(format!("libnvvm-{}-O{level}.ptx", program.name));
    let (target, level) = (format!("--gpu-name={TARGET}"), format!("-O{level}"));
    let input = program.file.display().to_string();
    let made = tileiras(&[&input, "--emit=ptx", &target, &level, "-o", &ptx.display().to_string()])?;
    expect(made.status.success(), words(&made))?;
    let text = std::fs::read_to_string(&ptx)?;
    expect(text.contains("NVVM"), "the PTX does not come from libNVVM")?;
    let ran = Command::new(env!("CARGO_BIN_EXE_tile-run"))
        .args(["--quiet", "--gpu-name", TARGET, "--adversarial", "plain,1", "--launch"])
        .arg(cases.join(&program.entry).join("launch.json"))
        .arg(&ptx)
        .output()?;
    expect(ran.status.success(), words(&ran))
}

/// Checks the IR that the library receives: its data layout, unoptimized.
fn intermediate() -> Result<(), Failed> {
    let out = tileiras(&[&file("vadd_f32.13.1.tileirbc"), "--emit=llvm", "-o", "-"])?;
    let layout = "target datalayout = \"e-p:64:64:64-p3:32:32:32-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-\
                  i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64\"";
    expect(out.status.success() && words(&out).contains(layout), words(&out))
}

fn refusals() -> Result<(), Failed> {
    let input = file("vadd_f32.13.1.tileirbc");
    let output = scratch().join("libnvvm-refused.cubin").display().to_string();
    // No library reads our IR for this target today.
    let old = tileiras(&[&input, "--gpu-name=sm_80", "-o", &output])?;
    let text = words(&old);
    expect(old.status.code() == Some(2), text.clone())?;
    expect(text.contains("reads the IR of LLVM 7 for compute_80") && text.contains("--backend=llvm"), text)?;
    // A file that is not a library.
    let mut command = Command::new(env!("CARGO_BIN_EXE_tileiras"));
    let wrong = command.args(["--backend=libnvvm", "--libnvvm-path", &input, &input, "-o", &output]).output()?;
    let text = words(&wrong);
    expect(wrong.status.code() == Some(2) && text.contains("error: libNVVM cannot be loaded: "), text)?;
    expect(!Path::new(&output).exists(), "an output was written")
}
