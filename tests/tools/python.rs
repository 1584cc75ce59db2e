//! The Python package: its module with the programs of this build, and the wheel in a separate environment.

use std::{
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};
use tile_test_support::{Trial, functions, root};

fn programs() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_tileiras")).parent().unwrap()
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}\n{out}{err}");
    out.into_owned()
}

fn the_module_does_what_it_says() {
    let paths = [root().join("python/src"), root().join(".tools/python")];
    let mut command = Command::new("python3");
    command.args(["-B", "-m", "unittest", "-q", "python/tests/test_tileiras.py"]).current_dir(root());
    command.env("TILEIRAS_BIN", programs()).env("PYTHONPATH", std::env::join_paths(paths).unwrap());
    run(&mut command);
}

/// Kernels of cuTile Python run, compile and are analyzed without a GPU, its driver and signatures.
fn cutile_kernels_need_no_gpu() {
    let fetched = Command::new(root().join("scripts/fetch-cutile.sh")).output().unwrap();
    if !fetched.status.success() {
        println!("skipped: cuda-tile cannot be had: {}", String::from_utf8_lossy(&fetched.stderr));
        return;
    }
    let packages = PathBuf::from(String::from_utf8(fetched.stdout).unwrap().trim());
    for version in ["1.7.0", "1.4.0"] {
        let paths = [root().join("python/src"), packages.join(version)];
        let mut command = Command::new("python3");
        command.args(["-B", "-m", "unittest", "-q", "python/tests/test_cutile.py"]).current_dir(root());
        command.env("TILEIRAS_BIN", programs()).env("PYTHONPATH", std::env::join_paths(paths).unwrap());
        run(&mut command);
    }
}

fn the_module_has_the_version_of_the_compiler() {
    let text = std::fs::read_to_string(root().join("python/src/tileiras/_version.py")).unwrap();
    assert_eq!(text.trim(), format!("__version__ = \"{}\"", env!("CARGO_PKG_VERSION")));
}

/// The first program of the page, as a user copies it, except that the packages come from this checkout.
fn the_readme_begins_with_a_program_that_works() {
    let fetched = Command::new(root().join("scripts/fetch-cutile.sh")).output().unwrap();
    if !fetched.status.success() {
        println!("skipped: cuda-tile cannot be had: {}", String::from_utf8_lossy(&fetched.stderr));
        return;
    }
    let packages = PathBuf::from(String::from_utf8(fetched.stdout).unwrap().trim());
    let page = std::fs::read_to_string(root().join("python/README.md")).unwrap();
    let mut blocks = page.split("```").skip(1).step_by(2);
    let (install, script) = (blocks.next().unwrap(), blocks.next().unwrap());
    assert!(install.starts_with("sh\n") && install.lines().all(|l| l == "sh" || l.starts_with("pip install ")));
    let script = script.strip_prefix("python\n").unwrap();
    let lines = install.lines().count() - 1 + script.lines().filter(|l| !l.trim().is_empty()).count();
    assert!(lines <= 12, "{lines} lines before the first success");
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("readme");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    // cuTile reads the kernel's source.
    std::fs::write(folder.join("first.py"), script).unwrap();
    let paths = [root().join("python/src"), packages.join("1.7.0")];
    let mut command = Command::new("python3");
    command.args(["-B", "first.py"]).current_dir(&folder).env("TILEIRAS_BIN", programs());
    let said = run(command.env("PYTHONPATH", std::env::join_paths(paths).unwrap()));
    assert!(said.starts_with("[0. 2. 4. 6.]\npredicted on sm_"), "{said}");
}

/// A wheel in a separate, otherwise empty environment.
struct Environment {
    folder: PathBuf,
    python: PathBuf,
}

impl Environment {
    fn new(wheel: &Path, name: &str) -> Environment {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("wheel").join(name);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        let python = folder.join("env/bin/python");
        let begin = Instant::now();
        run(Command::new("python3").args(["-m", "venv", "--without-pip", "env"]).current_dir(&folder));
        let mut install = Command::new("python3");
        install.args(["-m", "pip", "--python"]).arg(&python).args(["install", "--quiet", "--no-index"]);
        run(install.args(["--no-deps", "--disable-pip-version-check"]).arg(wheel));
        let environment = Environment { folder, python };
        // The first compilation of a user who has only Python.
        let kernel = root().join("tests/corpus/vadd_f32.13.1.tileirbc");
        let arguments = ["--gpu-name=sm_90", "--emit=ptx", "-o", "-"];
        let ptx = run(environment.tool("tileiras").arg(&kernel).args(arguments));
        let took = begin.elapsed();
        assert!(took < Duration::from_secs(60), "installed and compiled in {took:?}");
        assert_eq!(ptx, run(Command::new(env!("CARGO_BIN_EXE_tileiras")).arg(&kernel).args(arguments)));
        environment
    }

    /// Runs a program without this process's environment: no checkout, only the system's `PATH`.
    fn clean(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command.env_clear().env("PATH", "/usr/bin:/bin").current_dir(&self.folder);
        command
    }

    /// Returns a command that the wheel installed in the environment.
    fn tool(&self, name: &str) -> Command {
        self.clean(self.folder.join("env/bin").join(name))
    }

    /// Returns the folder of the environment's modules.
    fn packages(&self) -> PathBuf {
        let script = "import sysconfig; print(sysconfig.get_path('purelib'))";
        PathBuf::from(run(self.clean(&self.python).args(["-c", script])).trim())
    }
}

/// Builds a wheel of this build and tests all its documented uses. No registry is queried, because `scripts/setup.sh`
/// has installed the build tool.
fn the_wheel_is_enough() {
    let wheel = |how: &str, folder: &Path| {
        let mut build = Command::new(root().join("scripts/wheel.sh"));
        // Pip must not query an index for missing packages.
        build.arg(how).arg(folder).current_dir(root()).env("PIP_NO_INDEX", "1");
        root().join(run(&mut build).trim())
    };
    commands_and_module(&Environment::new(&wheel("--from", programs()), "programs"));
    // A release has one program under all names; this one is linked like this build.
    let release = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("wheel-release");
    std::fs::create_dir_all(release.join("bin")).unwrap();
    std::fs::copy(env!("CARGO_BIN_EXE_tileiras-standalone"), release.join("bin/tileiras")).unwrap();
    run(Command::new("strip").arg(release.join("bin/tileiras")));
    let wheel = wheel("--dist", &release);
    commands_and_module(&Environment::new(&wheel, "release"));
    cutile_in_the_same_environment(&wheel);
}

/// The wheel contains the commands and the module, and needs nothing from the checkout.
fn commands_and_module(here: &Environment) {
    std::fs::copy(root().join("examples/twice.mlir"), here.folder.join("twice.mlir")).unwrap();
    let script = "import numpy, tileiras\n\
                  assert '.entry twice' in tileiras.compile('twice.mlir', target='sm_90', emit='ptx').text\n\
                  x = numpy.arange(4096, dtype=numpy.float32)\n\
                  tileiras.run('twice.mlir', grid=8, args=[x], target='sm_90')\n\
                  assert (x == 2 * numpy.arange(4096)).all()\n";
    // The machine's or the checkout's NumPy replaces the dependency of the extra `run`.
    let numpy = run(Command::new("python3")
        .args(["-c", "import numpy, pathlib; print(pathlib.Path(numpy.__file__).parent.parent)"])
        .env("PYTHONPATH", root().join(".tools/python")));
    run(here.clean(&here.python).args(["-c", script]).env("PYTHONPATH", numpy.trim()));
    run(here.tool("tile-run").args(["twice.mlir", "--quiet", "--grid", "8", "zeros:f32:4096:ptr"]));
    assert!(run(here.tool("tileiras-lsp-server").arg("--version")).contains("tileiras"));
    let kernel = root().join("tests/corpus/vadd_f32.13.1.tileirbc");
    assert!(run(here.tool("tileirdisasm").arg(&kernel)).contains("entry @vadd_f32"));
    if root().join(".tools/cuda/bin/ptxas").exists() {
        let cubin = |mut command: Command, name: &str| {
            let file = here.folder.join(name);
            run(command
                .arg(&kernel)
                .args(["--gpu-name=sm_90", "-o"])
                .arg(&file)
                .env("CUDA_HOME", root().join(".tools/cuda")));
            std::fs::read(file).unwrap()
        };
        let ours = cubin(here.tool("tileiras"), "wheel.cubin");
        assert!(ours.starts_with(b"\x7fELF"));
        assert!(ours == cubin(Command::new(env!("CARGO_BIN_EXE_tileiras")), "command.cubin"), "the cubins differ");
        // The doctor finds the environment's script and does not mistake it for another compiler.
        let environment = here.folder.join("env/bin");
        let path = std::env::join_paths([environment.clone(), "/usr/bin".into(), "/bin".into()]).unwrap();
        let report =
            run(here.tool("tileiras").arg("doctor").env("PATH", path).env("CUDA_HOME", root().join(".tools/cuda")));
        let script = environment.join("tileiras");
        assert!(report.contains(&format!("ok    PATH         'tileiras' is '{}'", script.display())), "{report}");
        assert!(report.ends_with("This installation works.\n"), "{report}");
    } else {
        eprintln!("no ptxas in .tools/cuda: no cubin is made");
    }
}

/// cuTile Python finds the wheel's command if NVIDIA's packages are absent. If they are present, cuTile calls
/// NVIDIA's, the doctor says so, and `python -m tileiras.cutile` makes it call ours. A program that leaves a marker
/// stands in for NVIDIA's compiler.
fn cutile_in_the_same_environment(wheel: &Path) {
    let fetched = Command::new(root().join("scripts/fetch-cutile.sh")).output().unwrap();
    if !fetched.status.success() {
        println!("skipped: cuda-tile cannot be had: {}", String::from_utf8_lossy(&fetched.stderr));
        return;
    }
    let here = Environment::new(wheel, "cutile");
    let cutile = PathBuf::from(String::from_utf8(fetched.stdout).unwrap().trim()).join("1.7.0");
    let packages = here.packages();
    // As if it were installed there.
    std::fs::write(packages.join("cutile.pth"), format!("{}\n", cutile.display())).unwrap();
    let exporter = root().join("tests/clients/cutile.py");
    let export = |launcher: &[&str]| {
        let mut command = here.clean(&here.python);
        command.args(launcher).arg(&exporter).arg(root().join("tests/corpus/kernels.py")).arg(&here.folder);
        let path = [here.folder.join("env/bin"), root().join(".tools/cuda/bin"), "/usr/bin".into(), "/bin".into()];
        command.arg("vadd_f32").env("PATH", std::env::join_paths(path).unwrap());
        command.env("CUDA_TILE_CACHE_DIR", "0").env("HOME", &here.folder);
        run(&mut command)
    };
    let doctor = || {
        // Not on PATH, as when called without activating the environment.
        let mut command = here.tool("tileiras");
        command.arg("doctor").env("CUDA_HOME", root().join(".tools/cuda"));
        let output = command.output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let python = here.python.display();
    assert!(export(&[]).contains("\"bytes\""), "{}", export(&[]));
    assert!(
        doctor().contains(&format!("ok    cuTile Python '{python}' uses the first tileiras on PATH")),
        "{}",
        doctor()
    );

    let theirs = packages.join("nvidia/cu13/bin");
    std::fs::create_dir_all(&theirs).unwrap();
    let mark = here.folder.join("called");
    let program = theirs.join("tileiras");
    std::fs::write(&program, format!("#!/bin/sh\ntouch '{}'\nexit 1\n", mark.display())).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    for name in ["nvidia-cuda-tileiras", "nvidia-cuda-nvcc", "nvidia-nvvm"] {
        let info = packages.join(format!("{}-13.4.92.dist-info", name.replace('-', "_")));
        std::fs::create_dir_all(&info).unwrap();
        let text = format!("Metadata-Version: 2.1\nName: {name}\nVersion: 13.4.92\n");
        std::fs::write(info.join("METADATA"), text).unwrap();
    }
    let said = export(&[]);
    assert!(mark.exists() && said.contains("\"error\""), "cuTile called another than that of its packages: {said}");
    let report = doctor();
    let wins = format!(
        "warn  cuTile Python the environment of '{python}' contains NVIDIA's tileiras, which cuTile prefers over PATH"
    );
    assert!(
        report.contains(&wins) && report.contains("run scripts with 'python -m tileiras.cutile SCRIPT'"),
        "{report}"
    );
    std::fs::remove_file(&mark).unwrap();
    let said = export(&["-m", "tileiras.cutile"]);
    assert!(said.contains("\"bytes\"") && !mark.exists(), "{said}");
}

pub fn trials() -> Vec<Trial> {
    functions![
        the_module_does_what_it_says,
        cutile_kernels_need_no_gpu,
        the_readme_begins_with_a_program_that_works,
        the_module_has_the_version_of_the_compiler,
        the_wheel_is_enough
    ]
}
