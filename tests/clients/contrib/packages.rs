//! The Debian package: dpkg installs it into a separate root, where it works, and removes it without leftovers.

use super::{folder, on_path, programs, run, said, text};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};
use tile_test_support::{Trial, functions, root};

/// dpkg with a separate root, in which the packages of this machine count as installed, so that the package's
/// dependencies can be satisfied.
struct Root(PathBuf);

impl Root {
    fn new() -> Root {
        let root = folder("debian-root");
        let data = root.join("var/lib/dpkg");
        for directory in ["info", "updates", "triggers"] {
            fs::create_dir_all(data.join(directory)).unwrap();
        }
        fs::copy("/var/lib/dpkg/status", data.join("status")).unwrap();
        Root(root)
    }

    fn dpkg(&self, arguments: &[&str]) -> Command {
        // A non-root user becomes root in a user namespace.
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "dpkg", "--force-script-chrootless"]);
        // Locks and scripts are confined to the root; PATH must contain root's directories.
        command.arg(format!("--root={}", self.0.display())).args(arguments);
        command.env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
        command
    }

    /// Returns a program of the package, in an empty environment.
    fn program(&self, name: &str) -> Command {
        let mut command = Command::new(self.0.join("usr/bin").join(name));
        command.env_clear().env("PATH", "/usr/bin:/bin").current_dir(&self.0);
        command
    }

    fn files(&self) -> Vec<PathBuf> {
        fn below(folder: &Path, files: &mut Vec<PathBuf>) {
            for entry in fs::read_dir(folder).into_iter().flatten().map(Result::unwrap) {
                if entry.file_type().unwrap().is_dir() {
                    below(&entry.path(), files);
                } else {
                    files.push(entry.path());
                }
            }
        }
        let mut files = vec![];
        below(&self.0.join("usr"), &mut files);
        files
    }
}

/// Builds a tree like that of `scripts/dist.sh`: one program under all names, and the library. It is linked like this
/// build.
fn release() -> PathBuf {
    let tree = folder("release");
    let mut install = Command::new(root().join("scripts/install.sh"));
    said(install.arg(&tree).arg("--from").arg(programs()).current_dir(root()));
    let bin = tree.join("bin");
    fs::remove_dir_all(&bin).unwrap();
    fs::create_dir(&bin).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_tileiras-standalone"), bin.join("tileiras")).unwrap();
    for name in ["tileirdisasm", "tile-run", "tileiras-lsp-server"] {
        std::os::unix::fs::symlink("tileiras", bin.join(name)).unwrap();
    }
    // The package generates these.
    fs::remove_dir_all(tree.join("share")).unwrap();
    tree
}

fn the_debian_package_installs_works_and_goes() {
    let needed = ["dpkg-deb", "dpkg-shlibdeps", "unshare"];
    if let Some(absent) = needed.into_iter().find(|tool| on_path(tool).is_none()) {
        eprintln!("no {absent}: the package is not built");
        return;
    }
    let mut build = Command::new(root().join("scripts/deb.sh"));
    let package = said(build.arg("--dist").arg(release()).current_dir(root()));
    let package = root().join(package.trim());
    let field = |name: &str| said(Command::new("dpkg-deb").arg("-f").arg(&package).arg(name)).trim().to_owned();
    assert_eq!((field("Package").as_str(), field("Version").as_str()), ("tileiras", env!("CARGO_PKG_VERSION")));
    let depends = field("Depends");
    for library in ["libc6 (>= ", "libmlir-21", "libllvm21"] {
        assert!(depends.contains(library), "a build with shared libraries of MLIR and LLVM: {depends}");
    }

    let here = Root::new();
    let installed = run(here.dpkg(&["--install"]).arg(&package));
    assert!(installed.status.success(), "{}", text(&installed.stderr));
    assert_eq!(said(&mut here.dpkg(&["--verify", "tileiras"])), "", "files are those of the list of sums");
    let owned = said(&mut here.dpkg(&["--listfiles", "tileiras"]));
    for file in ["/usr/bin/tileiras-lsp-server", "/usr/lib/libtileiras.so.0", "/usr/share/doc/tileiras/copyright"] {
        assert!(owned.lines().any(|l| l == file), "{file} is not among\n{owned}");
    }

    // The commands.
    let input = root().join("tests/corpus/vadd_f32.13.1.tileirbc");
    let arguments = ["--gpu-name=sm_90", "--emit=ptx", "-o", "-"];
    let expected = said(Command::new(env!("CARGO_BIN_EXE_tileiras")).arg(&input).args(arguments));
    assert_eq!(said(here.program("tileiras").arg(&input).args(arguments)), expected);
    assert!(said(here.program("tileiras").arg("--version")).starts_with("tileiras "));
    assert!(said(here.program("tileirdisasm").arg(&input)).contains("entry @vadd_f32"));
    assert!(said(here.program("tileiras-lsp-server").arg("--version")).contains("tileiras"));
    let twice = root().join("examples/twice.mlir");
    said(here.program("tile-run").arg(twice).args(["--quiet", "--grid", "8", "zeros:f32:4096:ptr"]));
    if root().join(".tools/cuda/bin/ptxas").exists() {
        let image = here.0.join("kernel.cubin");
        let ptxas = root().join(".tools/cuda/bin");
        said(here.program("tileiras").arg(&input).arg("--gpu-name=sm_90").arg("-o").arg(&image).env("PATH", ptxas));
        assert!(fs::read(image).unwrap().starts_with(b"\x7fELF"));
    } else {
        eprintln!("no ptxas in .tools/cuda: no cubin is made");
    }

    // The library, found by its package file.
    let program = here.0.join("version");
    fs::write(here.0.join("version.c"), VERSION).unwrap();
    let mut find = Command::new("pkg-config");
    find.args(["--cflags", "--libs", "tileiras"]).env("PKG_CONFIG_LIBDIR", here.0.join("usr/lib/pkgconfig"));
    let flags = said(find.env("PKG_CONFIG_SYSROOT_DIR", &here.0));
    let mut compiler = Command::new("cc");
    compiler.arg("-o").arg(&program).arg(here.0.join("version.c")).args(flags.split_whitespace());
    // The library's own dependencies are resolved when it is loaded.
    said(compiler.arg("-Wl,--allow-shlib-undefined"));
    let version = said(Command::new(&program).env("LD_LIBRARY_PATH", here.0.join("usr/lib")));
    assert!(version.starts_with(&format!("tileiras {}", env!("CARGO_PKG_VERSION"))), "{version}");

    // No file contains the path of the tree that the package was built from.
    for file in ["pkgconfig/tileiras.pc", "cmake/Tileiras/TileirasConfig.cmake"] {
        let text = fs::read_to_string(here.0.join("usr/lib").join(file)).unwrap();
        assert!(!text.contains("contrib/release"), "{file}: {text}");
    }

    // The files that shells and man read.
    let completions = here.0.join("usr/share/bash-completion/completions/tileiras");
    let script = format!("source '{}'; complete -p tileiras", completions.display());
    assert!(said(Command::new("bash").args(["-euc", &script])).contains("-F _tileiras"));
    assert!(
        fs::read_to_string(here.0.join("usr/share/zsh/vendor-completions/_tileiras")).unwrap().starts_with("#compdef")
    );
    let page = said(Command::new("gzip").arg("-dc").arg(here.0.join("usr/share/man/man1/tileiras.1.gz")));
    assert!(page.starts_with(".TH TILEIRAS 1"), "{page}");

    builds_an_image(&package);

    let removed = run(&mut here.dpkg(&["--purge", "tileiras"]));
    assert!(removed.status.success(), "{}", text(&removed.stderr));
    assert_eq!(here.files(), Vec::<PathBuf>::new());
}

/// Checks the arguments of the image builder with a fake one, because a real builder may not reach a registry.
fn builds_an_image(package: &Path) {
    let seen = folder("image");
    let builder = seen.join("builder");
    // The last argument is the folder that the builder sees.
    let script = format!(
        "#!/bin/bash\nset -e\nprintf '%s\\n' \"$@\" > '{0}/arguments'\ncp \"${{@: -1}}/tileiras.deb\" '{0}'\n",
        seen.display()
    );
    fs::write(&builder, script).unwrap();
    said(Command::new("chmod").arg("755").arg(&builder));
    let mut build = Command::new(root().join("scripts/image.sh"));
    build.arg("--deb").arg(package).env("BUILDER", &builder).env("BASE", "localhost/debian").current_dir(root());
    let name = format!("tileiras:{}", env!("CARGO_PKG_VERSION"));
    assert_eq!(said(&mut build).trim(), name);
    let arguments = fs::read_to_string(seen.join("arguments")).unwrap();
    let arguments: Vec<&str> = arguments.lines().collect();
    let (context, options) = arguments.split_last().unwrap();
    let file = "contrib/container/Containerfile";
    assert_eq!(options, ["build", "--build-arg", "BASE=localhost/debian", "-t", &name, "-f", file]);
    assert!(!Path::new(context).exists(), "{context} is left");
    assert!(fs::read(seen.join("tileiras.deb")).unwrap() == fs::read(package).unwrap());
    let recipe = fs::read_to_string(root().join(file)).unwrap();
    assert!(recipe.contains("source=tileiras.deb") && recipe.contains("ARG BASE="), "{recipe}");
}

const VERSION: &str = "#include <stdio.h>\n#include <tileiras.h>\n\
                       int main(void) { puts(tileirasVersionString()); return 0; }\n";

/// Failing scripts say why they fail.
fn scripts_of_packages_refuse_what_is_wrong() {
    for (script, arguments, says) in [
        ("deb.sh", ["--from", "/no/such/folder"], "'/no/such/folder' does not contain tileiras and tileiras-core"),
        ("deb.sh", ["--to", "x"], "usage: scripts/deb.sh [--from DIR | --dist DIR]"),
        ("deb.sh", ["--dist", "/no/such/folder"], "'/no/such/folder' does not contain a release"),
        ("wheel.sh", ["--dist", "/no/such/folder"], "'/no/such/folder' does not contain a release"),
        ("wheel.sh", ["--from", "/no/such/folder"], "'/no/such/folder' does not contain tileiras"),
        ("image.sh", ["--deb", "/no/such/package.deb"], "package '/no/such/package.deb' does not exist"),
        ("image.sh", ["--to", "x"], "usage: scripts/image.sh [--deb FILE]"),
    ] {
        let mut command = Command::new(root().join("scripts").join(script));
        let output = run(command.args(arguments).current_dir(root()).env("BUILDER", "true"));
        assert!(!output.status.success());
        let error = text(&output.stderr);
        assert!(error.contains(says), "{script}: {error}");
    }
    // docker without a daemon does not count as a builder.
    let bin = folder("no-daemon");
    fs::write(bin.join("docker"), "#!/bin/sh\nexit 1\n").unwrap();
    said(Command::new("chmod").arg("755").arg(bin.join("docker")));
    for tool in ["bash", "dirname", "env"] {
        std::os::unix::fs::symlink(on_path(tool).unwrap(), bin.join(tool)).unwrap();
    }
    let mut command = Command::new(root().join("scripts/image.sh"));
    let output = run(command.args(["--deb", "x"]).env("PATH", &bin).env_remove("BUILDER"));
    assert!(text(&output.stderr).contains("found no docker with a daemon"), "{}", text(&output.stderr));
}

pub fn trials() -> Vec<Trial> {
    functions![the_debian_package_installs_works_and_goes, scripts_of_packages_refuse_what_is_wrong]
}
