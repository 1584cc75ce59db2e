//! The settings of `docs/clients.md`: each is taken from the page, finds the compiler as the front end does, and
//! calls it as the front end does.

use super::{folder, programs, run, said, text};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};
use tile_test_support::{Trial, functions, root};

/// A folder `bin` with the commands of this build, in place of the folder in the page, and a working folder.
struct Place {
    prefix: PathBuf,
    work: PathBuf,
}

impl Place {
    fn new(name: &str) -> Place {
        let prefix = folder(name);
        let place = Place { work: prefix.join("work"), prefix };
        fs::create_dir_all(place.prefix.join("bin")).unwrap();
        fs::create_dir_all(&place.work).unwrap();
        for program in ["tileiras", "tileiras-core", "tileirdisasm"] {
            fs::copy(programs().join(program), place.prefix.join("bin").join(program)).unwrap();
        }
        fs::copy(root().join("tests/corpus/vadd_f32.13.1.tileirbc"), place.work.join("kernel.bc")).unwrap();
        place
    }

    /// Returns the block with this name from the page, with the folder of the commands filled in.
    fn setting(&self, name: &str) -> String {
        let page = fs::read_to_string(root().join("docs/clients.md")).unwrap();
        let (_, block) = page.split_once(&format!(" file={name}\n")).unwrap_or_else(|| panic!("no block of {name}"));
        let block = block.split("```").next().unwrap();
        assert!(block.contains("/usr/bin"), "{block}");
        block.replace("/usr/bin", &self.prefix.join("bin").display().to_string())
    }

    /// Returns a shell's environment after such a block.
    fn variables(&self, name: &str) -> BTreeMap<String, String> {
        let script = format!("{}\nenv -0", self.setting(name));
        let environment = said(Command::new("/bin/bash").args(["-euc", &script]).env_clear());
        let pairs = environment.split('\0').filter_map(|pair| pair.split_once('='));
        pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    /// Builds a call in the working folder, with ptxas on `PATH` and these variables.
    fn call(&self, program: &Path, variables: &[(&str, &Path)]) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.work).env_clear().envs(variables.iter().copied());
        command.env("PATH", std::env::join_paths([root().join(".tools/cuda/bin"), "/usr/bin".into()]).unwrap());
        command
    }

    fn makes_a_cubin(&self, command: &mut Command) -> String {
        let output = run(command);
        assert!(output.status.success() && output.stdout.is_empty(), "{command:?}: {}", text(&output.stderr));
        let image = fs::read(self.work.join("kernel.cubin")).unwrap();
        assert!(image.starts_with(b"\x7fELF"), "{command:?}");
        text(&output.stderr)
    }
}

fn have_ptxas() -> bool {
    let found = root().join(".tools/cuda/bin/ptxas").exists();
    if !found {
        eprintln!("no ptxas in .tools/cuda: the calls of front ends are not made");
    }
    found
}

fn cutile_rust() {
    let place = Place::new("clients-rust");
    let variables = place.variables("cutile-rust");
    let program = Path::new(&variables["CUTILE_TILEIRAS_PATH"]);
    // The key of its cache, and the versions that it may write.
    assert!(said(place.call(program, &[]).arg("--version")).starts_with("tileiras "));
    assert_eq!(said(place.call(program, &[]).arg("--list-versions")).lines().last(), Some("13.5"));
    if have_ptxas() {
        let arguments = ["--gpu-name", "sm_90", "--opt-level", "3", "-o", "kernel.cubin", "kernel.bc"];
        assert_eq!(place.makes_a_cubin(place.call(program, &[]).args(arguments)), "");
    }
}

fn cutile_jl() {
    let place = Place::new("clients-julia");
    let preferences = place.setting("LocalPreferences.toml");
    let value = preferences.strip_prefix("[cuTile]\ntileiras = \"").and_then(|v| v.strip_suffix("\"\n"));
    let program = Path::new(value.expect("one preference of the package"));
    let toolkit = program.parent().unwrap().parent().unwrap();
    let variables = [("CUDA_ROOT", toolkit)];
    let numbers = |text: &str| {
        let word = text.split_whitespace().filter_map(|w| w.strip_prefix('V')).find(|w| w.starts_with("13."));
        word.unwrap_or_else(|| panic!("no version in: {text}")).to_owned()
    };
    assert!(numbers(&said(place.call(program, &variables).arg("--version"))).starts_with("13.5."));
    let disassembler = program.with_file_name("tileirdisasm");
    numbers(&said(place.call(&disassembler, &[]).arg("--version")));
    assert!(said(place.call(&disassembler, &[]).args(["--print-debug-info", "kernel.bc"])).contains("entry @vadd_f32"));
    if have_ptxas() {
        let arguments = ["kernel.bc", "-o", "kernel.cubin", "--gpu-name", "sm_90", "-O3", "--lineinfo"];
        let warning = place.makes_a_cubin(place.call(program, &variables).args(arguments));
        assert!(warning.contains("CUDA_ROOT") && warning.lines().count() == 1, "as the page says: {warning}");
    }
}

fn triton() {
    let place = Place::new("clients-triton");
    let variables = place.variables("triton");
    let program = Path::new(&variables["TRITON_TILEIRAS_PATH"]).join("tileiras");
    if have_ptxas() {
        let arguments = ["--gpu-name=sm_90", "--opt-level=3", "kernel.bc", "-o", "kernel.cubin"];
        assert_eq!(place.makes_a_cubin(place.call(&program, &[]).args(arguments)), "");
    }
}

pub fn trials() -> Vec<Trial> {
    functions![cutile_rust, cutile_jl, triton]
}
