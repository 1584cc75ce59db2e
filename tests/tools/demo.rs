//! `make demo`: the script, with the programs of this build.

use std::{path::Path, process::Command};
use tile_test_support::{Trial, functions, root};

/// The script names every program and ends with the plan of a product, its predicted time, and pages that exist.
fn it_ends_with_something_to_see() {
    let programs = Path::new(env!("CARGO_BIN_EXE_tileiras")).parent().unwrap();
    // The script looks for the programs of a development build.
    let build = Path::new(env!("CARGO_TARGET_TMPDIR")).join("demo-build");
    let _ = std::fs::remove_dir_all(&build);
    std::fs::create_dir_all(&build).unwrap();
    std::os::unix::fs::symlink(programs, build.join("debug")).unwrap();
    let mut demo = Command::new(root().join("scripts/demo.sh"));
    let output = demo.arg("sm_90").current_dir("/").env("CARGO_TARGET_DIR", &build).output().unwrap();
    let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}{errors}");
    for entry in std::fs::read_dir(root().join("examples")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.ends_with(".mlir") || name.ends_with(".tileirbc") {
            assert!(said.contains(&format!("examples/{name} (")), "{name} is missing:\n{said}");
        }
    }
    let plan = said.find("line 26  Product: 128x256x64 of bf16, summed in f32: wgmma m64n256k16");
    let time = said.find("predicted on sm_90: ");
    assert!(plan.is_some_and(|plan| time.is_some_and(|time| plan < time)), "{said}");
    for (page, part) in [("timing.html", "<h1>matmul: "), ("explore.html", "matmul_bf16.mlir")] {
        let file = build.join("demo").join(page);
        assert!(said.contains(&file.display().to_string()), "{said}");
        assert!(std::fs::read_to_string(&file).unwrap().contains(part), "{page}");
    }
}

/// The commands after the demo in the README need no program that the demo does not build.
fn it_builds_what_the_page_names_next() {
    let makefile = std::fs::read_to_string(root().join("Makefile")).unwrap();
    let recipe = makefile.split_once("\ndemo: setup\n").unwrap().1.split_once("\n\n").unwrap().0;
    let built: Vec<&str> = recipe.split("--bin ").skip(1).filter_map(|rest| rest.split_whitespace().next()).collect();
    let page = std::fs::read_to_string(root().join("README.md")).unwrap();
    let start = page.split_once("## Start\n").unwrap().1.split_once("\n## ").unwrap().0;
    let blocks: Vec<&str> = start.split("```").skip(1).step_by(2).collect();
    assert_eq!(blocks.len(), 2, "{start}");
    for line in blocks[1].lines().filter(|line| !line.is_empty()) {
        let program = line.split_whitespace().next().unwrap();
        assert!(built.contains(&program), "'make demo' does not build {program}: {line}");
        let mut words = line.split_whitespace().skip(1).map(str::to_owned).collect::<Vec<_>>();
        // Output goes to the folder of the test.
        let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("demo.cubin").display().to_string();
        words.iter_mut().filter(|word| *word == "twice.cubin").for_each(|word| word.clone_from(&scratch));
        let path = Path::new(env!("CARGO_BIN_EXE_tileiras")).with_file_name(program);
        let output = Command::new(path).args(words).current_dir(root()).output().unwrap();
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

pub fn trials() -> Vec<Trial> {
    functions![it_ends_with_something_to_see, it_builds_what_the_page_names_next]
}
