//! `contrib/compiler-explorer`: what its server starts, in the way it does, and what it makes of the answers.

use super::{folder, path_variable, programs, run, said, text};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};
use tile_test_support::{Trial, functions, root};

/// The file of properties as its reader understands it, with the checkout filled in.
fn properties() -> BTreeMap<String, String> {
    // By the command of the page.
    let page = fs::read_to_string(root().join("contrib/compiler-explorer/README.md")).unwrap();
    let command = page.lines().find(|l| l.starts_with("sed ")).and_then(|l| l.split(" > ").next()).unwrap();
    let file = said(Command::new("bash").args(["-euc", command]).current_dir(root()));
    let lines = file.lines().filter(|l| !l.is_empty() && !l.starts_with('#'));
    let pair = |line: &str| {
        let (name, value) = line.split_once('=').unwrap_or_else(|| panic!("no property: {line}"));
        (name.to_owned(), value.to_owned())
    };
    let pairs: Vec<_> = lines.map(pair).collect();
    let all: BTreeMap<_, _> = pairs.iter().cloned().collect();
    assert_eq!(all.len(), pairs.len(), "a property is there twice");
    assert!(!all.values().any(|v| v.contains("TILEIRAS_CHECKOUT")), "{all:?}");
    all
}

/// Calls a compiler with arguments that Compiler Explorer puts before those of the user, in the folder of the input.
fn call(program: &Path, folder: &Path, arguments: &[&str]) -> Output {
    run(Command::new(program).args(arguments).current_dir(folder).env("PATH", path_variable()))
}

fn explored() -> PathBuf {
    root().join("contrib/compiler-explorer/tileiras-explored")
}

/// Each compiler of each group is there, answers for its version, and takes its options.
fn every_compiler_of_the_properties_works() {
    let all = properties();
    let of = |name: &str| all.get(name).unwrap_or_else(|| panic!("{name} is not set")).as_str();
    let mut known = BTreeSet::new();
    for group in of("compilers").split(':').map(|g| g.strip_prefix('&').expect("groups alone")) {
        let kind = of(&format!("group.{group}.compilerType"));
        for id in of(&format!("group.{group}.compilers")).split(':') {
            known.insert(id);
            let folder = folder(&format!("explored-{id}"));
            fs::copy(root().join("examples/twice.mlir"), folder.join("example.mlir")).unwrap();
            // A checkout's programs are those of this build, wherever that is.
            let exe = PathBuf::from(of(&format!("compiler.{id}.exe")));
            let exe = match exe.strip_prefix(root().join("target/debug")) {
                Ok(name) => programs().join(name),
                Err(_) => exe,
            };
            let version = said(Command::new(&exe).arg("--version").env("PATH", path_variable()));
            assert!(version.contains("tileiras "), "{id}: {version}");
            let options = of(&format!("compiler.{id}.options")).split(' ');
            let own: &[&str] = match kind {
                "triton" => &["-I", "triton_wrapper.py", "--output_file", "output.s"],
                "mlir" => &["-o", "output.s"],
                other => panic!("{id}: the arguments of a compiler of type {other} are not known"),
            };
            let arguments: Vec<&str> = own.iter().copied().chain(options).chain(["example.mlir"]).collect();
            let output = call(&exe, &folder, &arguments);
            assert!(output.status.success() && output.stderr.is_empty(), "{id}: {}", text(&output.stderr));
            let made = fs::read_to_string(folder.join("output.s")).unwrap();
            let expected = if kind == "triton" { ".visible .entry twice(" } else { "cuda_tile.module @kernels" };
            assert!(made.contains(expected), "{id}: {made}");
        }
    }
    assert!(known.contains(of("defaultCompiler")));
    let settings = all.keys().filter_map(|k| k.strip_prefix("compiler.")?.split('.').next());
    assert_eq!(settings.collect::<BTreeSet<_>>(), known, "compilers with settings are compilers of a group");
    let expression = of("group.triton_nvidia.versionRe").strip_prefix('^').and_then(|e| e.strip_suffix(".*"));
    let version = said(Command::new(explored()).arg("--version").env("PATH", path_variable()));
    assert!(version.starts_with(expression.expect("the form ^WORDS.*")), "{version}");
}

/// PTX with lines, and beside it the files that the view of device code shows by the ends of their names.
fn a_program_is_shown_at_every_level() {
    let folder = folder("explored-levels");
    fs::copy(root().join("examples/twice.mlir"), folder.join("example.mlir")).unwrap();
    let arguments = ["-I", "x", "--output_file", "output.s", "--gpu-name=sm_90", "example.mlir"];
    let output = call(&explored(), &folder, &arguments);
    assert!(output.status.success() && output.stderr.is_empty(), "{}", text(&output.stderr));
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    let ptx = read("output.s");
    assert!(ptx.contains(".visible .entry twice(") && ptx.contains("\"example.mlir\"") && ptx.contains("\t.loc\t"));
    assert_eq!(read("kernel.ptx"), ptx);
    for (file, part) in [
        ("cuda_tile.source", "load_view_tko"),
        ("nv_tileaa.source", "nv_tileaa."),
        ("nv_tileas.source", "#nv_tileas."),
        ("llvm.llir", "define "),
    ] {
        assert!(read(file).contains(part), "{file}");
    }
    if root().join(".tools/cuda/bin/nvdisasm").exists() {
        let code = read("kernel.sass");
        assert!(code.contains("twice:") && code.contains("//## File") && code.contains("EXIT"), "{code}");
    } else {
        eprintln!("no nvdisasm in .tools/cuda: machine code is not looked at");
    }
    let left = fs::read_dir(&folder).unwrap().count();
    assert!(left <= 8, "{left} files: nothing but what is shown is left");

    // A level that is asked for takes the place of PTX.
    let arguments = ["-I", "x", "--output_file", "output.s", "--emit=tileas", "example.mlir"];
    assert!(call(&explored(), &folder, &arguments).status.success());
    assert!(read("output.s").contains("#nv_tileas."));
}

/// Messages begin as Compiler Explorer wants them for a mark in its editor: `FILE:LINE:COLUMN: error: `.
fn messages_have_marks() {
    let folder = folder("explored-wrong");
    let program = fs::read_to_string(root().join("examples/twice.mlir")).unwrap().replace("addf %a, %a", "addf %a, %q");
    fs::write(folder.join("example.mlir"), program).unwrap();
    let output = call(&explored(), &folder, &["-I", "x", "--output_file", "output.s", "example.mlir"]);
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{message}");
    assert!(message.starts_with("example.mlir:8:19: error: use of undeclared SSA value name"), "{message}");
    let output = call(&explored(), &folder, &["example.mlir"]);
    assert!(!output.status.success() && text(&output.stderr).contains("--output_file is missing"));
    let absent = Command::new(explored()).arg("--version").env("TILEIRAS", "/no/such/tileiras").output().unwrap();
    assert!(text(&absent.stderr).contains("there is no '/no/such/tileiras'"), "{}", text(&absent.stderr));
}

/// One side of a pass: its name with the operation, and the program.
type Side<'a> = (&'a str, Vec<&'a str>);

/// The pass view pairs a program before a pass with one behind it by the words of their headings, and takes for a
/// heading what has exactly this form.
fn passes_are_shown_with_both_sides() {
    let folder = folder("explored-passes");
    fs::copy(root().join("examples/twice.mlir"), folder.join("example.mlir")).unwrap();
    let arguments =
        ["-I", "x", "--output_file", "output.s", "--gpu-name=sm_90", "example.mlir", "--opt_pipeline_file", "p.txt"];
    let output = call(&explored(), &folder, &arguments);
    assert!(output.status.success(), "{}", text(&output.stderr));
    // Another call writes it at the same time.
    assert!(!folder.join("output.s").exists());
    let dump = fs::read_to_string(folder.join("p.txt")).unwrap();
    let (mut before, mut after): (Vec<Side<'_>>, Vec<Side<'_>>) = (vec![], vec![]);
    let mut last: Option<(&str, usize)> = None;
    for line in dump.lines() {
        let heading = line.strip_prefix("// -----// IR Dump ").and_then(|l| l.strip_suffix(" //----- //"));
        match heading.map(|h| h.split_once(' ').unwrap()) {
            Some(("Before", name)) => {
                before.push((name, vec![]));
                last = Some(("before", before.len()));
            }
            Some(("After", name)) => {
                after.push((name, vec![]));
                last = Some(("after", after.len()));
            }
            Some(other) => panic!("{other:?}"),
            None => {
                assert!(!line.contains("IR Dump"), "a heading of another form: {line}");
                match last.expect("nothing stands before the first heading").0 {
                    "before" => before.last_mut().unwrap().1.push(line),
                    _ => after.last_mut().unwrap().1.push(line),
                }
            }
        }
    }
    let names = |sides: &[Side<'_>]| sides.iter().map(|(name, _)| (*name).to_owned()).collect::<Vec<_>>();
    assert_eq!(names(&before), names(&after));
    assert!(before.len() > 30, "{}", before.len());
    assert!(before.iter().any(|(name, _)| name.starts_with("ConvertTileASToLLVM (convert-tileas-to-llvm) (")));
    assert!(before[0].1.iter().any(|l| l.contains("cuda_tile.module @kernels")));
    assert!(after.last().unwrap().1.iter().any(|l| l.contains("llvm.func @twice")));
    // What is before a pass is what was behind the one before it.
    for (n, ((name, now), (_, was))) in before.iter().skip(1).zip(&after).enumerate() {
        assert!(now.iter().eq(was), "{n}: {name}");
    }
    let changed = before.iter().zip(&after).filter(|(b, a)| b.1 != a.1).count();
    assert!((4..before.len()).contains(&changed), "{changed} of {} passes change the program", before.len());
}

pub fn trials() -> Vec<Trial> {
    functions![
        every_compiler_of_the_properties_works,
        a_program_is_shown_at_every_level,
        messages_have_marks,
        passes_are_shown_with_both_sides
    ]
}
