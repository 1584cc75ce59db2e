//! The Python package: its module with the programs of this build, and the wheel in an environment of its own.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn programs() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_tileiras")).parent().unwrap()
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}\n{out}{err}");
    out.into_owned()
}

#[test]
fn the_module_does_what_it_says() {
    let paths = [root().join("python/src"), root().join(".tools/python")];
    let mut command = Command::new("python3");
    command.args(["-B", "-m", "unittest", "-q", "python/tests/test_tileiras.py"]).current_dir(root());
    command.env("TILEIRAS_BIN", programs()).env("PYTHONPATH", std::env::join_paths(paths).unwrap());
    run(&mut command);
}

#[test]
fn the_module_has_the_version_of_the_compiler() {
    let text = std::fs::read_to_string(root().join("python/src/tileiras/_version.py")).unwrap();
    assert_eq!(text.trim(), format!("__version__ = \"{}\"", env!("CARGO_PKG_VERSION")));
}

/// The wheel brings the commands and the module, and needs nothing of the checkout. One of a development build is
/// made, with a tool that comes from PyPI: part of the full run alone.
#[test]
fn the_wheel_is_enough() {
    if std::env::var_os("TILEIRAS_TEST_FULL").is_none() {
        return;
    }
    let built = run(Command::new(root().join("scripts/wheel.sh")).arg("--from").arg(programs()).current_dir(root()));
    let wheel = root().join(built.trim());
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("wheel");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    run(Command::new("python3").args(["-m", "venv", "env"]).current_dir(&folder));
    let python = folder.join("env/bin/python");
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    run(Command::new(&python).args(install).arg(format!("{}[run]", wheel.display())));
    std::fs::copy(root().join("examples/twice.mlir"), folder.join("twice.mlir")).unwrap();
    let script = "import numpy, tileiras\n\
                  assert '.entry twice' in tileiras.compile('twice.mlir', target='sm_90', emit='ptx').text\n\
                  x = numpy.arange(4096, dtype=numpy.float32)\n\
                  tileiras.run('twice.mlir', grid=8, args=[x], target='sm_90')\n\
                  assert (x == 2 * numpy.arange(4096)).all()\n";
    // Nothing of this process's environment: no checkout, no PATH but the system's.
    let clean = |program: &Path| {
        let mut command = Command::new(program);
        command.env_clear().env("PATH", "/usr/bin:/bin").current_dir(&folder);
        command
    };
    run(clean(&python).args(["-c", script]));
    let ptx =
        run(clean(&folder.join("env/bin/tileiras")).args(["twice.mlir", "--gpu-name=sm_90", "--emit=ptx", "-o", "-"]));
    assert!(ptx.contains(".entry twice"), "{ptx}");
    run(clean(&folder.join("env/bin/tile-run")).args(["twice.mlir", "--quiet", "--grid", "8", "zeros:f32:4096:ptr"]));
}
