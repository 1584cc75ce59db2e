//! Behavior of the tools that a `RUN:` line cannot express: exit status, raw bytes, the language server protocol.

use lsp::Server;
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};
use tile_driver::toolchain::{self, Surroundings};
use tile_test_support::{Trial, functions, lsp, sass};

fn corpus(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(name)
}

/// Writes a file with these bytes to the scratch folder.
fn scratch(name: &str, bytes: &[u8]) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, bytes).unwrap();
    path
}

fn disassemble(arguments: &[&dyn AsRef<std::ffi::OsStr>]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tileirdisasm"));
    arguments.iter().for_each(|a| _ = command.arg(a));
    command.output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Schedules as text and as a page; a program without schedules, and one that does not compile.
fn schedules_are_explained() {
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tileiras"));
        command.arg("explain-schedule").args(arguments).output().unwrap()
    };
    let product = corpus("matmul_f16.13.1.tileirbc");
    let text = run(&[&product.to_string_lossy(), "--gpu-name=sm_80"]);
    assert!(text.status.success(), "{}", stderr(&text));
    for expected in
        ["compiled: ", "matmul_f16, loop 0\n", "interval ", "because ", "nv_tileas.dot is from ", "kernels.py:"]
    {
        assert!(stdout(&text).contains(expected), "{}", stdout(&text));
    }
    let page = Path::new(env!("CARGO_TARGET_TMPDIR")).join("schedules.html");
    let output = run(&[&product.to_string_lossy(), "--gpu-name=sm_80", "-o", &page.to_string_lossy()]);
    assert!(output.status.success() && output.stdout.is_empty(), "{}", stderr(&output));
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("<html") && page.contains("matmul_f16, loop 0"), "{page}");
    // Agents have separate lanes.
    let agents = run(&[&product.to_string_lossy(), "--gpu-name=sm_90"]);
    let is_done_by = |agent: &str, op: &str| stdout(&agents).lines().any(|l| l.contains(agent) && l.contains(op));
    assert!(is_done_by("producer", "nv_tileas.tiled_load"), "{}", stdout(&agents));
    assert!(is_done_by("consumers", "nv_tileas.dot"), "{}", stdout(&agents));
    let sum = corpus("vadd_f32.13.1.tileirbc");
    let none = run(&[&sum.to_string_lossy(), "--gpu-name=sm_90"]);
    assert!(none.status.success() && stdout(&none).starts_with("no loop was scheduled"), "{}", stdout(&none));
    let wrong = run(&[&scratch("wrong.mlir", b"cuda_tile.module {").to_string_lossy()]);
    assert!(!wrong.status.success() && wrong.stdout.is_empty() && !wrong.stderr.is_empty());
}

/// Matching operations are listed with their locations; other input than text is rejected.
fn queries_find_operations() {
    let run = |file: &Path, commands: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tileiras-query"));
        command.arg(file);
        commands.iter().for_each(|c| _ = command.args(["-c", c]));
        command.output().unwrap()
    };
    let relu = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/relu_f32.mlir");
    for (query, expected) in [
        (r#"match hasOpName("cuda_tile.maxf")"#, 1),
        (r#"match isConstantOp()"#, 1),
        (r#"match isOfDialect("cuda_tile")"#, 15),
        (r#"match hasTypeWith("partition_view<tile=(2048)")"#, 4),
        (r#"match allOf(hasTypeWith("token"), hasTypeWith("partition_view"))"#, 2),
        // Several definitions by one operation are one match.
        (r#"match getDefinitions(hasOpName("cuda_tile.maxf"), 1, false, false, false)"#, 1),
    ] {
        let output = run(&relu, &[query]);
        let said = stdout(&output);
        assert!(output.status.success(), "{query}: {}", stderr(&output));
        let matches = if expected == 1 { "1 match.".to_owned() } else { format!("{expected} matches.") };
        assert!(said.contains(&matches), "{query}: {said}");
    }
    // Locations refer to the text.
    let output = run(&relu, &[r#"m hasOpName("cuda_tile.maxf")"#]);
    assert!(stdout(&output).contains("relu_f32.mlir:17:10: note: \"root\" binds here"), "{}", stdout(&output));
    let output = run(&relu, &["match hasLayout()"]);
    assert!(stdout(&output).contains("Matcher not found: hasLayout"), "{}", stdout(&output));
    let output = run(&corpus("vadd_f32.13.1.tileirbc"), &["help"]);
    assert!(
        !output.status.success() && stderr(&output).contains("is Tile IR bytecode, not text"),
        "{}",
        stderr(&output)
    );
}

/// Reduces a program with a shell test that receives the file as `$1` and the folder of the tools.
fn reduce(name: &str, input: &Path, test: &str) -> Output {
    use std::os::unix::fs::PermissionsExt;
    let tools = Path::new(env!("CARGO_BIN_EXE_tileiras-reduce")).parent().unwrap();
    let script =
        scratch(&format!("{name}.sh"), format!("#!/bin/sh\nPATH=$PATH:{}\n{test}\n", tools.display()).as_bytes());
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let output = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.small.mlir"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_tileiras-reduce"));
    command.arg(input).arg(format!("--tile-reduce=test={}", script.display())).arg("-o").arg(&output);
    command.output().unwrap()
}

fn small(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.small.mlir"))).unwrap()
}

/// Entries, loops, accesses and their operands are removed if a test needs a single operation.
fn programs_are_reduced() {
    let input = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tools/reduce.mlir");
    let test = r#"tileiras-opt "$1" > /dev/null 2>&1 && grep -q maxf "$1" && exit 1; exit 0"#;
    let output = reduce("reduce-maxf", &input, test);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = small("reduce-maxf");
    // module, cuda_tile.module, entry, two constants, maxf, return
    assert!(text.contains("maxf") && text.lines().filter(|l| l.trim() != "}").count() <= 7, "{text}");

    let output = reduce("reduce-nothing", &input, "exit 0");
    assert!(!output.status.success() && stderr(&output).contains("so there is nothing to keep"), "{}", stderr(&output));
    let output = reduce("reduce-bytecode", &corpus("vadd_f32.13.1.tileirbc"), "exit 1");
    assert!(
        !output.status.success() && stderr(&output).contains("is Tile IR bytecode, not text"),
        "{}",
        stderr(&output)
    );
}

/// Reduces a program to the operation that the target has no instructions for.
fn programs_that_do_not_compile_are_reduced() {
    let input = scratch(
        "fails.mlir",
        b"cuda_tile.module @m {
  entry @fine(%p: tile<ptr<f32>>) {
    return
  }
  entry @k(%p: tile<ptr<f16, <multicast>>>, %i: tile<i32>) {
    %t = make_tensor_view %p, shape = [64, 64], strides = [64, 1] : tile<ptr<f16, <multicast>>> -> tensor_view<64x64xf16, strides=[64,1], <multicast>>
    %v = make_partition_view %t : partition_view<tile=(4x8), tensor_view<64x64xf16, strides=[64,1], <multicast>>>
    %x, %a = multimem_load_reduce_view_tko weak %v[%i, %i] : partition_view<tile=(4x8), tensor_view<64x64xf16, strides=[64,1], <multicast>>>, tile<i32> -> tile<4x8xf16>, token
    %y = addf %x, %x : tile<4x8xf16>
    %c = multimem_store_view_tko weak %v, %y[%i, %i] token = %a : partition_view<tile=(4x8), tensor_view<64x64xf16, strides=[64,1], <multicast>>>, tile<4x8xf16>, tile<i32>, token -> token
    return
  }
}
",
    );
    let test = "exec tile-interesting --fails --message 'needs sm_90 or newer' --gpu-name sm_80 \"$1\"";
    let output = reduce("reduce-fails", &input, test);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = small("reduce-fails");
    assert_eq!(text.matches("multimem").count(), 1, "{text}");
    assert!(!text.contains("@fine") && !text.contains("addf"), "{text}");
}

/// A plugin with a separate copy of our dialects would match none of our ops and report that there are none.
fn n04_plugins_with_our_dialects() {
    let text = scratch("n04.mlir", b"module {}\n");
    let run = |plugin: &Path, kind: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tileiras-opt"));
        command.arg(format!("--load-{kind}-plugin={}", plugin.display())).arg(&text).output().unwrap()
    };
    let ours = scratch("ours.so", b"..cuda_tile.get_num_tile_blocks..cuda_tile.mmaf_scaled..");
    for kind in ["pass", "dialect"] {
        let output = run(&ours, kind);
        assert!(!output.status.success());
        let expected = format!("'{}' contains a different version of this tool's dialects", ours.display());
        assert!(stderr(&output).contains(&expected), "{}", stderr(&output));
        assert!(stderr(&output).contains("mlir-opt-21 --load-dialect-plugin="));
    }
    // MLIR loads other libraries.
    let other = run(&scratch("other.so", b"..cuda_tile.mmaf_scaled.."), "pass");
    assert!(stderr(&other).contains("Failed to load passes"), "{}", stderr(&other));
}

/// Remarks of passes reach the user: as YAML for tools, with pass, name, location and kernel, and as messages.
fn remarks() {
    let text = "cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>) {
    %i = constant <i32: 0> : tile<i32>
    %t = make_tensor_view %p, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
    %v = make_partition_view %t : partition_view<tile=(1024), tensor_view<?xf32, strides=[1]>>
    %x, %k = load_view_tko weak %v[%i] : partition_view<tile=(1024), tensor_view<?xf32, strides=[1]>>, tile<i32> -> tile<1024xf32>, token
    %q = reshape %x : tile<1024xf32> -> tile<32x32xf32>
    %y = mmaf %q, %q, %q : tile<32x32xf32>, tile<32x32xf32>, tile<32x32xf32>
    %r = reshape %y : tile<32x32xf32> -> tile<1024xf32>
    %l = store_view_tko weak %r, %v[%i] token = %k : tile<1024xf32>, partition_view<tile=(1024), tensor_view<?xf32, strides=[1]>>, tile<i32> -> token
    return
  }
}
";
    let input = scratch("remarks.mlir", text.as_bytes());
    let yaml = Path::new(env!("CARGO_TARGET_TMPDIR")).join("remarks.yaml");
    let ptx = Path::new(env!("CARGO_TARGET_TMPDIR")).join("remarks.ptx");
    let compile = |options: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tileiras"));
        let output =
            command.arg(&input).args(["--gpu-name=sm_90", "--emit=ptx", "-o"]).arg(&ptx).args(options).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        stderr(&output)
    };
    compile(&["--remarks=all", "--remark-format=yaml", &format!("--remarks-output-file={}", yaml.display())]);
    let all = fs::read_to_string(&yaml).unwrap();
    let one = |name: &str| {
        let found = all.split("--- ").find(|r| r.contains(&format!("Name:            \"{name}\"\n")));
        found.unwrap_or_else(|| panic!("no {name} in {all}")).to_string()
    };
    let product = one("NoTensorCore");
    assert!(product.starts_with("!Missed\nPass:            \"convert-tileas-to-llvm\"\n"), "{product}");
    assert!(product.contains("Line: 8, Column: ") && product.contains("Function:        \"k\"\n"), "{product}");
    assert!(product.contains("round the operands to tf32") && product.ends_with("\n...\n"), "{product}");
    assert!(one("NarrowAccess").contains("promise its alignment with assume div_by<16>"));
    let chosen = one("Product");
    assert!(chosen.contains("  - Unit:            \"FMA\"\n"), "{chosen}");
    assert!(one("Load").contains("  - AgainstTMA:      \"the kernel has no agents: "), "{all}");
    // Details are only told if asked for, and once per view.
    assert!(!all.contains("WideOffsets"), "{all}");
    let verbose = compile(&["--remarks=verbose"]);
    assert_eq!(verbose.matches("remark: WideOffsets: ").count(), 1, "{verbose}");
    assert!(verbose.lines().all(|l| l.starts_with(input.to_str().unwrap())), "{verbose}");

    let told = compile(&["--remarks=tensorcore"]);
    assert!(told.contains(":8:") && told.contains("no matrix instruction for operands of type f32"), "{told}");
    assert!(!told.contains("at a time instead of 16"), "{told}");
    assert_eq!(compile(&[]), "");
}

/// Remarks do not change the compiled program.
fn remarks_change_nothing() {
    for program in ["matmul_f16.13.1", "matmul_i8.13.1", "vadd_f32.13.1"] {
        let ptx = |options: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_tileiras"));
            command.arg(corpus(&format!("{program}.tileirbc"))).args(["--gpu-name=sm_80", "--emit=ptx", "-o", "-"]);
            let output = command.args(options).output().unwrap();
            assert!(output.status.success(), "{}", stderr(&output));
            (stdout(&output), stderr(&output))
        };
        let ((plain, silence), (remarked, remarks)) = (ptx(&[]), ptx(&["--remarks=all"]));
        assert_eq!((plain, silence), (remarked, String::new()), "{program}");
        assert!(remarks.contains(": remark: "), "{program}");
    }
}

/// Remarks on real programs, and similar programs without the reason for a remark.
fn remarks_on_real_programs() {
    let without_ldmatrix = "an operand of 8-bit elements is read from shared memory without ldmatrix";
    let one_at_a_time = "elements are updated one at a time although one instruction could update";
    for (program, target, says, expected) in [
        ("matmul_i8.13.1", "sm_80", without_ldmatrix, true),
        ("matmul_f16.13.1", "sm_80", "without ldmatrix", false),
        // 64-bit elements cannot be loaded as matrices.
        ("matmul_f64.13.1", "sm_80", "without ldmatrix", false),
        ("atomic_sum_f32.13.1", "sm_90", one_at_a_time, true),
        // This target cannot add several floats to global memory with one instruction.
        ("atomic_sum_f32.13.1", "sm_80", one_at_a_time, false),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tileiras"));
        command.arg(corpus(&format!("{program}.tileirbc"))).args(["--emit=ptx", "--remarks=all", "-o", "-"]);
        let output = command.arg(format!("--gpu-name={target}")).output().unwrap();
        let told = stderr(&output);
        assert!(output.status.success(), "{told}");
        assert_eq!(told.contains(says), expected, "{program} for {target}: {told}");
    }
}

/// A register spill by ptxas gives a remark at the kernel's location; ptxas's statistics are not printed.
fn remarks_on_spills() {
    let cubin = Path::new(env!("CARGO_TARGET_TMPDIR")).join("spills.cubin");
    let limit: &[&str] = &["--ptxas-option=--maxrregcount=64", "--ptxas-option=--override-directive-values"];
    for (limit, spills) in [(limit, true), (&[], false)] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tileiras"));
        command
            .arg(corpus("matmul_f16.13.1.tileirbc"))
            .args(["--gpu-name=sm_80", "--remarks-missed=memory"])
            .args(limit);
        let output = command.arg("-o").arg(&cubin).output().unwrap();
        let told = stderr(&output);
        assert!(output.status.success(), "{told}");
        let remark = told.lines().find(|l| l.contains("remark: Spilled: 64 registers for each of "));
        assert_eq!(remark.is_some(), spills, "{told}");
        assert!(
            remark.is_none_or(|l| l.contains("kernels.py:") && l.contains(" bytes of stores to local memory")),
            "{told}"
        );
        assert!(!told.contains("Compiling entry function") && !told.contains("Used "), "{told}");
    }
}

/// Errors of a launch name the argument, its types, the line of the source and the element.
fn launches_are_explained() {
    let twice = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/twice.mlir");
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tile-run"));
        let output = command.arg(&twice).args(["--gpu-name", "sm_90", "--grid", "8"]).args(arguments).output().unwrap();
        (output.status.code(), stderr(&output))
    };
    assert_eq!(run(&["zeros:f32:4096:ptr"]), (Some(0), String::new()));
    for engine in ["--engine=sim", "--engine=reference"] {
        let (status, told) = run(&["zeros:f64:4096:ptr", engine]);
        let message = "argument 0 (zeros.npy) is f64, but the parameter is ptr<f32>; convert the array to f32";
        assert_eq!((status, told), (Some(6), format!("error: {message}\n")));
    }
    let (status, told) = run(&["zeros:f32:1000:ptr"]);
    assert_eq!(status, Some(6));
    let place = format!("  in {}:7: %a, %read = load_view_tko weak", twice.display());
    assert!(told.contains(&place), "{told}");
    assert!(told.contains("  at argument 0 (zeros.npy): element 1000 of 1000, beyond its end"), "{told}");
}

/// A prediction says what the compiler chose, the roof of a faster unit, and what the missed optimizations cost.
fn timing_says_what_was_chosen() {
    let mut run = Command::new(env!("CARGO_BIN_EXE_tile-run"));
    run.args(["--timing", "--gpu-name", "sm_90", "--grid", "8,8"]).arg(corpus("matmul_f32.13.1.tileirbc"));
    let files = ["json", "html"].map(|end| Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("chosen.{end}")));
    run.arg("--timing-json").arg(&files[0]).arg("--timing-html").arg(&files[1]);
    let output = run.args(["zeros:f32:512x512"; 3]).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let told = stdout(&output);
    assert!(told.contains("  Product: 64x64x16 of f32, summed in f32: FMA; not wgmma: "), "{told}");
    assert!(told.contains("  Load: 64x16xf32: cp.async of 16 bytes, ring of 4 stages; not TMA: "), "{told}");
    // The line after the FMA pipe.
    let roof = told.lines().skip_while(|l| !l.starts_with("  fma ")).nth(1).unwrap_or_default();
    assert!(roof.starts_with("    could be wgmma of tf32 ") && roof.ends_with(" us"), "{told}");
    let missed = told.lines().find(|l| l.contains("  NoTensorCore: ")).unwrap_or_default();
    assert!(missed.contains("kernels.py:507:14") && missed.ends_with("[docs/remarks.md#notensorcore]"), "{told}");
    let json: serde_json::Value = serde_json::from_str(&fs::read_to_string(&files[0]).unwrap()).unwrap();
    let notes = &json["notes"];
    let shares: Vec<f64> = notes["missed"].as_array().unwrap().iter().filter_map(|m| m["share"].as_f64()).collect();
    assert!(shares.is_sorted_by(|a, b| a >= b) && shares.first().is_some_and(|s| *s > 0.2), "{shares:?}");
    assert_eq!(notes["roofs"][0]["unit"], "fma");
    let page = fs::read_to_string(&files[1]).unwrap();
    assert!(page.contains("Chosen by the compiler") && page.contains("wgmma of tf32 could take"), "{page}");
}

/// A prediction from machine code has the registers that ptxas gives, and errors name the tool.
fn timing_reads_machine_code() {
    let found = toolchain::search("ptxas", None, &Surroundings::of_process()).found;
    let ptxas = found.first().expect("scripts/setup.sh installs ptxas");
    let cubin = sass::assemble("vadd_f32.13.1", "sm_90").unwrap();
    let predict = |arguments: &[&std::ffi::OsStr]| {
        let mut run = Command::new(env!("CARGO_BIN_EXE_tile-run"));
        run.args(["--timing", "--gpu-name", "sm_90", "--grid", "64"]).arg(corpus("vadd_f32.13.1.tileirbc"));
        run.args(["zeros:f32:65536"; 3]).args(arguments).output().unwrap()
    };
    let predicted = predict(&["--timing-ptxas".as_ref(), ptxas.as_os_str()]);
    assert!(predicted.status.success(), "{}", stderr(&predicted));
    let (told, registers) = (stdout(&predicted), format!("about {} registers", cubin.resources[0].registers));
    assert!(told.contains(&registers), "{told}{registers}");
    assert_ne!(told, stdout(&predict(&[])));
    let refused = predict(&["--timing-ptxas=/nonexistent/ptxas".as_ref()]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(stderr(&refused).contains("'/nonexistent/ptxas' cannot be started"), "{}", stderr(&refused));
    let refused = predict(&["--registers=8".as_ref(), "--timing-ptxas".as_ref(), ptxas.as_os_str()]);
    assert!(stderr(&refused).contains("it excludes --registers"), "{}", stderr(&refused));
}

fn disassembly() {
    let file = corpus("vadd_f32.13.1.tileirbc");
    let plain = disassemble(&[&file]);
    assert!(plain.status.success(), "{}", stderr(&plain));
    let text = stdout(&plain);
    assert!(text.starts_with("entry @vadd_f32(%arg0: tile<ptr<f32>>, "), "{text}");
    assert!(text.ends_with("  return\n}\n"), "{text}");
    assert!(text.contains("\n  %1 = addf %tile, %tile_10  : tile<1024xf32>\n") && !text.contains("loc("), "{text}");

    for option in ["-g", "--print-debug-info", "-print-debug-info=1"] {
        let debug = stdout(&disassemble(&[&option, &file]));
        let names_the_function =
            "#di_subprogram = #cuda_tile.di_subprogram<file = #di_file, line = 22, name = \"vadd\"";
        assert!(debug.contains("addf %tile, %tile_10  : tile<1024xf32> loc(#loc"), "{debug}");
        assert!(debug.lines().last().unwrap().starts_with("#loc") && debug.contains(names_the_function), "{debug}");
        // Without the locations, the text is the same.
        let without: String = debug
            .lines()
            .filter(|l| !l.starts_with('#'))
            .flat_map(|l| [l.split(" loc(").next().unwrap(), "\n"])
            .collect();
        assert_eq!(without, text);
    }

    // All entries, in order.
    let entries = stdout(&disassemble(&[&corpus("vadd_multi.13.1.tileirbc")]));
    let heads: Vec<&str> = entries.lines().filter(|l| l.starts_with("entry")).collect();
    assert_eq!(heads.len(), 2, "{entries}");
}

fn disassembler_errors() {
    let vadd = fs::read(corpus("vadd_f32.13.1.tileirbc")).unwrap();
    let not_tile_ir = "error: input does not correspond to Tile IR bytecode\n";
    let cases: [(&str, &[u8], i32, &str); 5] = [
        ("empty", b"", 3, not_tile_ir),
        ("garbage", b"garbage", 3, not_tile_ir),
        (
            "mlir",
            b"ML\xEFR....",
            3,
            "error: input does not correspond to Tile IR bytecode (it looks like MLIR bytecode instead)\n",
        ),
        (
            "truncated",
            &vadd[..500],
            3,
            "error: error at offset 488: section length 116 exceeds remaining data size 12\n\
             error: failed to read provided Tile IR bytecode\n",
        ),
        (
            "future",
            b"\x7FTileIR\0\x0D\x09\0\0\0",
            3,
            "error: error at offset 12: unsupported Tile version 13.9.0, this reader supports versions [13.1 - 13.5]\n\
             error: error at offset 12: failed to parse bytecode header\n\
             error: failed to read provided Tile IR bytecode\n",
        ),
    ];
    for (name, bytes, status, text) in cases {
        let output = disassemble(&[&scratch(&format!("disassembler-{name}"), bytes)]);
        assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(status), text), "{name}");
        assert!(output.stdout.is_empty());
    }
    let missing = disassemble(&[&"nowhere"]);
    assert_eq!(missing.status.code(), Some(2));
    assert_eq!(stderr(&missing), "error: unable to read input file 'nowhere': No such file or directory\n");
    let none = disassemble(&[]);
    assert_eq!((none.status.code(), stderr(&none).as_str()), (Some(2), "error: no input file provided\n"));
    assert!(stdout(&none).contains("USAGE: tileirdisasm [options] <tile bytecode file>"));
    let unknown = disassemble(&[&"--print-debug-inof", &"x"]);
    assert_eq!(unknown.status.code(), Some(1));
    assert!(stderr(&unknown).contains("Did you mean '--print-debug-info'?"), "{}", stderr(&unknown));
    let two = disassemble(&[&"a", &"b"]);
    assert!(two.status.code() == Some(1) && stderr(&two).contains("Too many positional arguments"));
    for option in ["--help", "--help-list", "--version"] {
        assert!(disassemble(&[&option]).status.success());
    }
    assert!(stdout(&disassemble(&[&"--version"])).contains("release 13.5, V13.5.0"));
}

fn translate(arguments: &[&dyn AsRef<std::ffi::OsStr>]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tileiras-translate"));
    arguments.iter().for_each(|a| _ = command.arg(a));
    command.output().unwrap()
}

/// The wrong file, or no mode.
fn mistaken_inputs() {
    let vadd = corpus("vadd_f32.13.1.tileirbc");
    let text = scratch("mistaken.mlir", b"cuda_tile.module @m {}\n");
    let fails = |output: &Output| {
        assert!(output.status.code() == Some(1) && output.stdout.is_empty(), "{output:?}");
        stderr(output)
    };
    let not_text = "is Tile IR bytecode, not text: convert it with tileiras-translate --tileirbc-to-mlir\n";
    let error = fails(&translate(&[&"--mlir-to-tileirbc", &vadd]));
    assert!(error.starts_with("tileiras-translate: error: '") && error.ends_with(not_text), "{error}");
    let opt = Command::new(env!("CARGO_BIN_EXE_tileiras-opt")).arg("--fuse-fma").arg(&vadd).output().unwrap();
    assert!(fails(&opt).ends_with(not_text), "{}", stderr(&opt));

    // One error, where MLIR would print one for each registered translation.
    for none in [translate(&[]), translate(&[&vadd]), translate(&[&"-o", &"x", &text])] {
        let error = fails(&none);
        assert!(error.contains("no translation is given: use --tileirbc-to-mlir, --mlir-to-tileirbc"), "{error}");
        assert_eq!(error.lines().count(), 1);
    }
    // Input that is not bytecode is named.
    let error = fails(&translate(&[&"--tileirbc-to-mlir", &text]));
    assert!(error.contains("mistaken.mlir:0:0: error: error at offset 0: invalid magic number"), "{error}");

    // A file that will be overwritten is not accepted as input.
    let old = scratch("mistaken.tileirbc", &fs::read(&vadd).unwrap());
    let output = translate(&[&"--mlir-to-tileirbc", &text, &"-o", &old]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(fs::read(&old).unwrap().len() < 100);
}

/// `--help` lists the tool's options; `--help-hidden` lists the options of all LLVM targets.
fn help_is_about_the_tool() {
    for (tool, option) in [
        (env!("CARGO_BIN_EXE_tileiras-translate"), "--mlir-to-tileirbc"),
        (env!("CARGO_BIN_EXE_tileiras-opt"), "--pass-pipeline"),
        (env!("CARGO_BIN_EXE_tileiras-lsp-server"), "--log"),
    ] {
        let help = stdout(&Command::new(tool).arg("--help").output().unwrap());
        assert!(help.contains(option) && help.contains("--version") && !help.contains("amdgpu"), "{help}");
        let hidden = stdout(&Command::new(tool).arg("--help-hidden").output().unwrap());
        assert!(hidden.contains(option) && hidden.lines().count() > help.lines().count());
    }
}

/// Every tool has a version, that of the compiler, and the help of our own tools has examples.
fn tools_have_a_version_and_examples() {
    let run = |tool: &str, option: &str| stdout(&Command::new(tool).arg(option).output().unwrap());
    let expected = run(env!("CARGO_BIN_EXE_tileiras"), "--version");
    assert!(expected.starts_with("tileiras "), "{expected}");
    let own = [
        env!("CARGO_BIN_EXE_tile-run"),
        env!("CARGO_BIN_EXE_tile-fuzz"),
        env!("CARGO_BIN_EXE_tile-interesting"),
        env!("CARGO_BIN_EXE_tileiras"),
    ];
    for tool in own {
        assert_eq!(run(tool, "--version"), expected, "{tool}");
        assert!(run(tool, "--help").to_lowercase().contains("example"), "{tool}");
    }
    for tool in [
        env!("CARGO_BIN_EXE_tileiras-opt"),
        env!("CARGO_BIN_EXE_tileiras-translate"),
        env!("CARGO_BIN_EXE_tileiras-reduce"),
        env!("CARGO_BIN_EXE_tileiras-query"),
        env!("CARGO_BIN_EXE_tileiras-lsp-server"),
        env!("CARGO_BIN_EXE_tileirdisasm"),
        env!("CARGO_BIN_EXE_tileiras-standalone"),
    ] {
        assert!(run(tool, "--version").contains(expected.lines().next().unwrap()), "{tool}");
    }
}

/// Overlong integers are accepted unless `--strict` is given.
fn strict_reading() {
    // The empty module, with the length of its last section in two bytes instead of one.
    let mut data = b"\x7FTileIR\0\x0D\x01\0\0".to_vec();
    data.extend([0x82, 8, 8, 0xCB, 0, 0xCB, 0xCB, 0xCB, 0xCB, 0xCB, 0xCB, 0xCB]);
    data.extend([0x85, 4, 4, 0xCB, 0, 0xCB, 0xCB, 0xCB]);
    data.extend([0x81, 0x84, 0, 4, 0, 0xCB, 0xCB, 0xCB, 0]);
    let file = scratch("overlong", &data);
    let run = |strict: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_tileiras-translate"))
            .arg("--cudatilebc-to-mlir")
            .args(strict)
            .arg(&file)
            .output()
            .unwrap()
    };
    let lenient = run(&[]);
    assert!(lenient.status.success(), "{}", stderr(&lenient));
    assert!(stdout(&lenient).contains("cuda_tile.module @kernels"));
    let strict = run(&["--strict"]);
    assert!(!strict.status.success() && stderr(&strict).contains("non-canonical VarInt"), "{}", stderr(&strict));
}

/// The language server: diagnostics of a file, and the operation under the cursor.
fn language_server() {
    let mut server = Server::start(Path::new(env!("CARGO_BIN_EXE_tileiras-lsp-server")));
    let capabilities = server.call("initialize", r#"{"processId":null,"rootUri":null,"capabilities":{}}"#);
    assert!(capabilities.contains("\"hoverProvider\":true") && capabilities.contains("\"definitionProvider\":true"));
    server.notify("initialized", "{}");

    let program = |operation: &str| {
        let text =
            format!("cuda_tile.module @m {{\n  entry @k(%x: tile<i32>) {{\n    {operation}\n    return\n  }}\n}}\n");
        let text = text.replace('\n', "\\n");
        format!(r#"{{"textDocument":{{"uri":"file:///k.mlir","languageId":"mlir","version":1,"text":"{text}"}}}}"#)
    };
    server.notify("textDocument/didOpen", &program("%y = divi %x, %x unsigned rounding<negative_inf> : tile<i32>"));
    let diagnostics = server.receive("textDocument/publishDiagnostics");
    assert!(diagnostics.contains("rounding mode 'negative_inf' is not allowed with 'unsigned' flag"), "{diagnostics}");

    server.notify("textDocument/didOpen", &program("%y = addi %x, %x : tile<i32>").replace("k.mlir", "good.mlir"));
    let diagnostics = server.receive("textDocument/publishDiagnostics");
    assert!(diagnostics.contains("\"diagnostics\":[]"), "{diagnostics}");
    let hover = server.call(
        "textDocument/hover",
        r#"{"textDocument":{"uri":"file:///good.mlir"},"position":{"line":2,"character":10}}"#,
    );
    assert!(hover.contains("cuda_tile.addi"), "{hover}");
    let definition = server.call(
        "textDocument/definition",
        r#"{"textDocument":{"uri":"file:///good.mlir"},"position":{"line":2,"character":15}}"#,
    );
    assert!(definition.contains("\"line\":1"), "the argument is defined a line above: {definition}");
    server.call("shutdown", "null");
    server.notify("exit", "null");
    assert!(server.child.wait().unwrap().success());
}

/// Returns the first block of `language` after `heading` in a Markdown page.
fn code_block<'a>(page: &'a str, heading: &str, language: &str) -> &'a str {
    let section = page.split(heading).nth(1).unwrap_or_else(|| panic!("no {heading}"));
    let block = section.split(&format!("```{language}\n")).nth(1).unwrap_or_else(|| panic!("no block of {language}"));
    block.split("```").next().expect("a text has a first part")
}

/// The kernel in the README is the example that it names, and the README shows its body in PTX.
fn readme() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("README.md")).unwrap();
    let example = root.join("examples/twice.mlir");
    assert_eq!(code_block(&page, "## A kernel", "mlir"), fs::read_to_string(&example).unwrap());

    let options = ["--gpu-name=sm_90", "--emit=ptx", "-o", "-"];
    let command = format!("`tileiras examples/twice.mlir {}`", options.join(" "));
    assert!(page.contains(&command), "the README says how: {command}");
    let output = Command::new(env!("CARGO_BIN_EXE_tileiras")).arg(&example).args(options).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let ptx = stdout(&output);
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_instruction = |line: &String| line.ends_with(';') && !line.starts_with('.');
    let body: Vec<String> = ptx.lines().map(words).filter(is_instruction).collect();
    let shown: Vec<String> = code_block(&page, &command, "").lines().map(words).collect();
    assert_eq!(shown, body);
}

/// The page on slow kernels: its commands run, their output matches the page up to numbers, and the tool blames the
/// line that the page blames.
fn slow_kernels() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("docs/slow-kernels.md")).unwrap();
    let commands: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("tile-run ")).collect();
    assert_eq!(commands.len(), 2, "{commands:?}");
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    // Numbers change with the compiler; locations do not, and the text of a line may be truncated.
    let form = |line: &str| {
        let place = line.split_whitespace().find(|w| w.contains(".mlir:")).unwrap_or_default();
        let shown: String = words(line).chars().map(|c| if c.is_ascii_digit() { '#' } else { c }).collect();
        let mut pieces: Vec<&str> = shown.split('#').filter(|p| !p.is_empty() && *p != ".").collect();
        pieces.truncate(6);
        (place.to_owned(), pieces.join("#"))
    };
    let mut said = vec![];
    let mut reports = vec![];
    for (i, command) in commands.iter().enumerate() {
        let json = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("slow-{i}.json"));
        let mut run = Command::new(env!("CARGO_BIN_EXE_tile-run"));
        let output = run.args(command.split(' ')).arg("--timing-json").arg(&json).current_dir(root).output().unwrap();
        assert!(output.status.success(), "{command}: {}", stderr(&output));
        said.extend(stdout(&output).lines().map(form));
        reports.push(serde_json::from_str::<serde_json::Value>(&fs::read_to_string(&json).unwrap()).unwrap());
    }
    let blocks: Vec<&str> = page.split("```").skip(1).step_by(2).filter(|b| b.starts_with('\n')).collect();
    assert!(blocks.len() >= 4);
    for line in blocks.iter().flat_map(|b| b.lines()).filter(|l| !l.trim().is_empty()) {
        let (place, shown) = form(line);
        let found = said.iter().any(|(p, s)| *p == place && (s.starts_with(&shown) || shown.starts_with(s.as_str())));
        assert!(found, "the page shows what nobody said: {line}");
    }
    let [slow, fast] = &reports[..] else { unreachable!() };
    let blamed = &slow["sources"][0];
    assert_eq!(
        (blamed["file"].as_str(), blamed["reason"].as_str()),
        (Some("examples/column_sums.mlir"), Some("global memory"))
    );
    assert!(blamed["text"].as_str().unwrap().contains("load_view_tko"), "{blamed}");
    assert!(page.contains(&format!("examples/column_sums.mlir:{}", blamed["line"])), "{blamed}");
    assert_eq!(blamed["used"], 0.125);
    assert_eq!(fast["sources"][0]["used"], 1.0);
    let us = |report: &serde_json::Value| report["us"].as_f64().unwrap();
    assert!(us(slow) > 1.5 * us(fast), "{} {}", us(slow), us(fast));
}

/// Every program of a slice of the corpus keeps its plan, and the report names the instructions that it uses.
fn plans_are_counted() {
    let program = corpus("matmul_f16.13.1.tileirbc");
    let mut command = Command::new(env!("CARGO_BIN_EXE_tile-fuzz"));
    let output = command.args(["--jobs", "1", "--targets", "sm_80,sm_90", "--plans"]).arg(&program).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let expected = |target: &str, warpgroups, warps, copies| {
        format!(
            "{target} -O3: 1 programs, 0 plans given up, 0 rejected, 0 slow; 1 loops with dots: {warpgroups} use wgmma, \
             {warps} use mma, 1 wait for rings, {copies} load by TMA\n"
        )
    };
    assert_eq!(stdout(&output), expected("sm_80", 0, 1, 0) + &expected("sm_90", 1, 0, 1));
    let broken = scratch("broken.mlir", b"cuda_tile.module @m {");
    let mut command = Command::new(env!("CARGO_BIN_EXE_tile-fuzz"));
    let output = command.args(["--jobs", "1", "--targets", "sm_80", "--plans"]).arg(&broken).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("1 rejected"), "{}", stdout(&output));
}

pub fn trials() -> Vec<Trial> {
    functions![
        schedules_are_explained,
        queries_find_operations,
        programs_are_reduced,
        programs_that_do_not_compile_are_reduced,
        n04_plugins_with_our_dialects,
        remarks,
        remarks_change_nothing,
        remarks_on_real_programs,
        remarks_on_spills,
        launches_are_explained,
        timing_says_what_was_chosen,
        timing_reads_machine_code,
        disassembly,
        disassembler_errors,
        mistaken_inputs,
        help_is_about_the_tool,
        tools_have_a_version_and_examples,
        strict_reading,
        language_server,
        readme,
        slow_kernels,
        plans_are_counted
    ]
}
