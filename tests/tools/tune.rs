//! `tileiras tune` with the compiler and the simulator: what is compiled and timed, how often, and what is reported.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tile_test_support::{Trial, functions};

/// Doubles tiles of `T` numbers; `NOTE` does not change the code.
const TWICE: &str = "\
// ${NOTE}
cuda_tile.module @kernels {
  entry @twice(%x: tile<ptr<f32>>) {
    %p = assume div_by<16>, %x : tile<ptr<f32>>
    %v = make_tensor_view %p, shape = [4096], strides = [1] : tensor_view<4096xf32, strides=[1]>
    %tiles = make_partition_view %v : partition_view<tile=(${T}), tensor_view<4096xf32, strides=[1]>>
    %i, %j, %k = get_tile_block_id : tile<i32>
    %a, %read = load_view_tko weak %tiles[%i] : partition_view<tile=(${T}), tensor_view<4096xf32, strides=[1]>>, tile<i32> -> tile<${T}xf32>, token
    %b = addf %a, %a : tile<${T}xf32>
    %done = store_view_tko weak %b, %tiles[%i] : tile<${T}xf32>, partition_view<tile=(${T}), tensor_view<4096xf32, strides=[1]>>, tile<i32> -> token
    return
  }
}
";
const LAUNCH: &str = "--grid ${ceil(4096 / T)} zeros:f32:4096:ptr";

/// Creates a folder with the program.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tune").join(name);
    _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("twice.mlir.in"), TWICE).unwrap();
    folder
}

fn tune(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tileiras"));
    command.arg("tune").args(arguments).current_dir(folder).output().unwrap()
}

/// Runs a search of the program. Returns its output and its table.
fn searched(folder: &Path, arguments: &[&str]) -> (String, Value) {
    let fixed = ["twice.mlir.in", "--gpu-name=sm_90", "-j2", "-o", "table.json"];
    let output = tune(folder, &[&fixed, arguments].concat());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    let table = std::fs::read(folder.join("table.json")).unwrap();
    (String::from_utf8(output.stdout).unwrap(), serde_json::from_slice(&table).unwrap())
}

fn count(folder: &Path) -> usize {
    std::fs::read_dir(folder).map_or(0, |entries| entries.count())
}

fn variants_are_predicted_and_ordered() {
    let folder = folder("predicted");
    // A tile cannot have 96 elements.
    let parameters = ["--set", "T=64,96,128:512:*2", "--set", "NOTE=n", "--launch", LAUNCH, "--picture", "p.svg"];
    let (text, table) = searched(&folder, &parameters);
    let variants = table["variants"].as_array().unwrap();
    assert_eq!((variants.len(), &table["unit"], &table["programs"]), (5, &"us".into(), &5.into()));
    let times: Vec<f64> = variants[..4].iter().map(|v| v["time"].as_f64().unwrap()).collect();
    assert!(times.is_sorted() && times[0] > 0.5, "{times:?}");
    assert_eq!((&variants[4]["parameters"]["T"], &variants[4]["failed_in"]), (&"96".into(), &"compile".into()));
    let reason = variants[4]["reason"].as_str().unwrap();
    // The location in the program, without a folder name.
    assert!(reason.starts_with("loc(\"program\":6:") && reason.contains("power of two"), "{reason}");
    assert!(variants[0]["prediction"]["clocks"].as_f64().unwrap() > 100.0);
    let best = variants[0]["parameters"]["T"].as_str().unwrap();
    assert!(text.contains(&format!("best: T={best} NOTE=n with ")), "{text}");
    assert!(text.contains("\n5 variants, 1 failed; 5 distinct programs, 4 distinct PTX files, 4 timings\n"), "{text}");
    let (_, said) = text.split_once("\nthe compiler on the best variant:\n").expect("its choices");
    assert!(said.contains(&format!("  program:8:17: remark: Load: {best}xf32: ld.global of ")), "{text}");
    let picture = std::fs::read_to_string(folder.join("p.svg")).unwrap();
    assert_eq!(picture.matches("<g><title>").count(), 4);
    // The same result with one process at a time.
    let (again, _) = searched(&folder, &[&parameters[..], &["-j1"]].concat());
    assert_eq!(again, text);
}

fn nothing_is_done_twice() {
    let folder = folder("twice");
    let log = folder.join("log");
    let benchmark =
        "echo $T >> log; test $T != 64 || { echo error: too small >&2; exit 3; }; echo noise; echo $((1024 / T))";
    let parameters = ["--set", "T=64,128,256", "--set", "NOTE=a,b,c", "--benchmark", benchmark, "--dir", "kept"];
    let (text, table) = searched(&folder, &parameters);
    let numbers = ["programs", "images", "judgements"].map(|key| table[key].as_u64().unwrap());
    assert_eq!(numbers, [9, 3, 3], "{text}");
    assert_eq!(std::fs::read_to_string(&log).unwrap().lines().count(), 3);
    let variants = table["variants"].as_array().unwrap();
    let of = |n: usize, key: &str| variants[n]["parameters"][key].as_str().unwrap();
    assert_eq!((of(0, "T"), of(0, "NOTE"), &variants[0]["time"]), ("256", "a", &4.0.into()));
    assert_eq!(variants[1]["same_as"], "T=256 NOTE=a");
    assert_eq!((of(8, "T"), &variants[8]["reason"]), ("64", &"too small".into()));
    assert!(text.contains("timing: too small"), "{text}");
    // The programs are kept with their PTX; the cache contains all compilations.
    let kept = folder.join("kept");
    assert_eq!([count(&kept.join("programs")), count(&kept.join("ptx"))], [9, 3]);
    let file = kept.join(variants[0]["program"].as_str().unwrap());
    assert!(std::fs::read_to_string(file).unwrap().starts_with("// a\ncuda_tile.module"));
    let cached = || walk(&kept.join("cache"));
    let before = cached();
    assert_eq!(before.len(), 9);
    searched(&folder, &parameters);
    assert_eq!(cached(), before);
}

/// Lists files with their modification times.
fn walk(folder: &Path) -> Vec<(PathBuf, std::time::SystemTime)> {
    let mut found = vec![];
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            found.extend(walk(&entry.path()));
        } else {
            found.push((entry.path(), entry.metadata().unwrap().modified().unwrap()));
        }
    }
    found.sort();
    found
}

fn predictions_are_kept() {
    let folder = folder("kept");
    let parameters = ["--set", "T=128,256", "--set", "NOTE=n", "--launch", LAUNCH, "--dir", "kept"];
    let (text, _) = searched(&folder, &parameters);
    let before = walk(&folder.join("kept/judged"));
    assert_eq!(before.len(), 2);
    assert_eq!(searched(&folder, &parameters).0, text);
    assert_eq!(walk(&folder.join("kept/judged")), before);
}

fn commands_make_programs() {
    let folder = folder("generated");
    std::fs::write(folder.join("make.sh"), "sed \"s/\\${NOTE}/x/; s/\\${T}/$1/g\" twice.mlir.in\n").unwrap();
    let output = tune(
        &folder,
        &[
            "--generate",
            "test $T != 512 || exit 1; sh make.sh $T",
            "--set=T=128,256,512",
            "--launch",
            LAUNCH,
            "--gpu-name=sm_90",
        ],
    );
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("program: exit status: 1"), "{text}");
    assert!(text.contains("\n3 variants, 1 failed; 2 distinct programs, 2 distinct PTX files, 2 timings\n"), "{text}");
}

fn results_are_checked() {
    let folder = folder("checked");
    // With one CTA too many, the interpreter finds an out-of-bounds access.
    let check = "--grid ${ceil(4096 / T) + EXTRA} zeros:f32:4096:ptr";
    let parameters = ["--set", "T=128,256", "--set", "EXTRA=0,1", "--set", "NOTE=n"];
    let (text, table) = searched(&folder, &[&parameters[..], &["--launch", LAUNCH, "--check", check]].concat());
    let variants = table["variants"].as_array().unwrap();
    let checked: Vec<bool> = variants.iter().filter_map(|v| v["checked"].as_bool()).collect();
    assert_eq!((checked, variants.len()), (vec![true, true], 4), "{text}");
    for failed in &variants[2..] {
        assert_eq!((&failed["failed_in"], &failed["parameters"]["EXTRA"]), (&"check".into(), &"1".into()));
        assert!(failed["reason"].as_str().unwrap().contains("undefined behavior"), "{failed}");
    }
}

fn options_of_the_compilation_vary() {
    let folder = folder("options");
    let parameters = ["--set", "T=1024", "--set", "NOTE=n", "--set", "WARPS=1,8", "--launch", LAUNCH];
    let (_, table) = searched(&folder, &[&parameters[..], &["--pipeline-option", "num-warps=${WARPS}"]].concat());
    assert_eq!((&table["programs"], &table["images"]), (&2.into(), &2.into()));
}

/// A release has a single program, which also contains the simulator.
fn one_program_is_all_of_them() {
    let folder = folder("standalone");
    let run = |program: &str| {
        let mut command = Command::new(program);
        command.args(["tune", "twice.mlir.in", "--gpu-name=sm_90", "--set=T=128,256", "--set=NOTE=n"]);
        let output = command.args(["--launch", LAUNCH]).current_dir(&folder).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(run(env!("CARGO_BIN_EXE_tileiras-standalone")), run(env!("CARGO_BIN_EXE_tileiras")));
}

fn what_is_wrong_is_said() {
    let folder = folder("wrong");
    let set = ["twice.mlir.in", "--set", "T=96", "--set", "NOTE=n"];
    for (arguments, status, expected) in [
        (&["--launch", LAUNCH, "--gpu-name=sm_90"][..], 5, "error: no variant has a time: all of them failed"),
        (
            &["--launch", LAUNCH, "--machine=sm_75"],
            2,
            "unknown machine 'sm_75'; known machines: sm_80, sm_86, sm_87, sm_89, sm_90, sm_100, sm_103, sm_110, sm_120,",
        ),
        (&["--launch", LAUNCH, "--set", "X=1"], 1, "tileiras: tune: unused parameter X"),
        (&["--launch", "--grid ${Y}"], 1, "tileiras: tune: unknown parameter Y: define it with --set Y=..."),
        (&["--benchmark", "x", "--where", "T < 0"], 1, "tileiras: tune: no variant satisfies the conditions"),
        (&["--judge", "x", "--where", "T < 0"], 1, "note: '--judge' is deprecated; use '--benchmark'\n"),
        (&["--benchmark", "x", "-o", "none/t.json"], 2, "cannot open output file 'none/t.json'"),
    ] {
        let output = tune(&folder, &[&set, arguments].concat());
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), said.contains(expected)), (Some(status), true), "{said}");
    }
    std::fs::write(folder.join("open.mlir.in"), "a\n${T").unwrap();
    let output = tune(&folder, &["open.mlir.in", "--set", "T=1", "--benchmark", "x"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("the program 'open.mlir.in': line 2: '${' without '}'"), "{said}");
}

pub fn trials() -> Vec<Trial> {
    functions![
        variants_are_predicted_and_ordered,
        nothing_is_done_twice,
        predictions_are_kept,
        commands_make_programs,
        results_are_checked,
        options_of_the_compilation_vary,
        one_program_is_all_of_them,
        what_is_wrong_is_said
    ]
}
