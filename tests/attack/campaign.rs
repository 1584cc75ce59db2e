//! Attacks on the compiler: programs and environments designed to mislead it. Each test covers an attack that once
//! succeeded.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};
use tile_test_support::{Trial, functions};

/// Returns an empty folder for a test.
fn folder(test: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("attack").join(test);
    if path.exists() {
        fs::remove_dir_all(&path).unwrap();
    }
    fs::create_dir_all(&path).unwrap();
    path
}

/// Builds a call of the command in a folder, with space-separated arguments.
fn tileiras(folder: &Path, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tileiras"));
    command.current_dir(folder).args(arguments.split_whitespace()).stdin(Stdio::null());
    command
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Returns the PTX of a text, or the status and messages.
fn ptx(folder: &Path, text: &[u8]) -> Result<String, (i32, String)> {
    fs::write(folder.join("in.mlir"), text).unwrap();
    let output = tileiras(folder, "--gpu-name=sm_90 --emit=ptx -o - in.mlir").output().unwrap();
    match output.status.code() {
        Some(0) => Ok(String::from_utf8(output.stdout).unwrap()),
        code => Err((code.unwrap_or(-1), stderr(&output))),
    }
}

fn entry_named(name: &str) -> String {
    format!(
        "cuda_tile.module @m {{\n  entry @\"before\"() {{\n    return\n  }}\n  entry @{name}() {{\n    return\n  }}\n}}\n"
    )
}

/// An entry is in the output under its name, or there is no output.
fn n01_no_entry_is_lost() {
    let folder = folder("n01");
    for (name, said) in [("\"\"", "entry op must have a name"), ("\"\\FFb\"", "is not UTF-8")] {
        let (status, text) = ptx(&folder, entry_named(name).as_bytes()).unwrap_err();
        assert_eq!(status, 3, "{name}: {text}");
        assert!(text.contains(said), "{name}: {text}");
    }
    // Two globals with names that are equal if invalid UTF-8 bytes are dropped.
    let twins = "cuda_tile.module @m {\n  global @\"\\FEg\" <i32: 1> : tile<1xi32>\n  global @\"\\FFg\" <i32: 2> : \
                 tile<1xi32>\n  entry @k() {\n    return\n  }\n}\n";
    let (status, text) = ptx(&folder, twins.as_bytes()).unwrap_err();
    assert!(status == 3 && text.contains("is not UTF-8"), "{status}: {text}");
    let text = ptx(&folder, entry_named("after").as_bytes()).unwrap();
    for name in ["before", "after"] {
        assert!(text.contains(&format!(".entry {name}(")), "{text}");
    }
}

/// A name that PTX cannot spell is an error if callers need it, and is mangled otherwise.
fn n02_names_that_ptx_cannot_spell() {
    let folder = folder("n02");
    for name in ["\"a b\"", "\"a-b\"", "\"ü\"", "\"%\"", "\"a\\00b\"", "\"\\01a\"", "\"a.b\"", "\"1a\"", "\"_\""] {
        let (status, text) = ptx(&folder, entry_named(name).as_bytes()).unwrap_err();
        assert_eq!(status, 5, "{name}: {text}");
        assert!(
            text.starts_with("loc(\"in.mlir\":5:3): error: PTX cannot spell the name of the entry "),
            "{name}: {text}"
        );
    }
    for name in ["\"g h\"", "\"ü\"", "\"a\\00b\"", "\"\\01a\"", "\"a.b\"", "\"\"", "\"WARP_SZ\""] {
        let program = format!(
            "cuda_tile.module @m {{\n  global @{name} <i32: 7> : tile<1xi32>\n  entry @k(%p: tile<ptr<i32>>) {{\n    \
             %g = get_global @{name} : tile<ptr<i32>>\n    \
             %x, %t = load_ptr_tko weak %g : tile<ptr<i32>> -> tile<i32>, token\n    \
             %u = store_ptr_tko weak %p, %x token=%t : tile<ptr<i32>>, tile<i32> -> token\n    return\n  }}\n}}\n"
        );
        let text = ptx(&folder, program.as_bytes()).unwrap_or_else(|e| panic!("{name}: {e:?}"));
        let assembled = tileiras(&folder, "--gpu-name=sm_90 -o out.cubin in.mlir").output().unwrap();
        assert!(assembled.status.success(), "{name}: {}\n{text}", stderr(&assembled));
    }
}

/// LLVM-level text that would crash the code generator is an error instead.
fn n02_what_has_no_code() {
    let folder = folder("n02code");
    let kernel = |arguments: &str, body: &str| {
        format!(
            "llvm.func @k({arguments}) attributes {{nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>}} {{\n{body}\n  \
             llvm.return\n}}"
        )
    };
    let global = |name: &str, space: u32, value: &str| {
        format!(
            "llvm.mlir.global external @{name}() {{addr_space = {space} : i32}} : !llvm.ptr<1> {{\n  {value}\n  \
             llvm.return %0 : !llvm.ptr<1>\n}}\n"
        )
    };
    let address = |name: &str| format!("%0 = llvm.mlir.addressof @{name} : !llvm.ptr<1>");
    let store =
        |ty: &str| kernel(&format!("%p: !llvm.ptr<1>, %x: {ty}"), &format!("llvm.store %x, %p : {ty}, !llvm.ptr<1>"));
    let asm =
        |text: &str| kernel("%x: i32", &format!("llvm.inline_asm has_side_effects \"{text}\", \"r\" %x : (i32) -> ()"));
    let shared = "llvm.mlir.global internal @s(7 : i32) {addr_space = 3 : i32} : i32\n".to_owned();
    let read = "%0 = llvm.mlir.addressof @s : !llvm.ptr<3>\n%1 = llvm.load volatile %0 : !llvm.ptr<3> -> i32";
    let circle = global("a", 1, &address("b")) + &global("b", 1, &address("a")) + &kernel("", "");
    let chain = global("a", 1, &address("b")) + &global("b", 1, "%0 = llvm.mlir.zero : !llvm.ptr<1>") + &kernel("", "");
    for (body, said) in [
        (store("f80"), "floating-point numbers of more than 64 bits"),
        (store("f128"), "floating-point numbers of more than 64 bits"),
        (store("!llvm.array<2 x f128>"), "floating-point numbers of more than 64 bits"),
        (store("vector<[4]xi32>"), "scalable vectors are not supported"),
        (shared + &kernel("", read), "the variable 's' in memory space 3 cannot have an initial value"),
        (circle, "refers to itself"),
        (asm("foo $9;"), "inline PTX uses the operand '$9' but has only 1: 'foo $9;'"),
        (asm("foo ${1:h};"), "inline PTX uses the operand '${1'"),
        (asm("mov.b32 $0, $0;"), ""),
        (chain, ""),
        (store("i256"), "integers of more than 128 bits"),
        (store("i100"), "an integer of 100 bits cannot be passed"),
        (store("!llvm.array<2 x i65>"), "an integer of 65 bits cannot be passed"),
        (store("vector<2xi128>"), "a vector of integers of more than 64 bits cannot be passed"),
        (store("!llvm.struct<()>"), "a value without a size cannot be passed"),
        (store("i128"), ""),
        (store("!llvm.struct<(i33, i128)>"), ""),
    ] {
        let text = format!("gpu.module @m {{\n{body}\n}}\n");
        match (ptx(&folder, text.as_bytes()), said) {
            (Ok(_), "") => {}
            (Err((5, messages)), said) if !said.is_empty() && messages.contains(said) => {}
            (result, _) => panic!("{text}: {result:?}"),
        }
    }
}

/// Excessive nesting is an error at its location, before any stack overflows.
fn n09_depth() {
    let folder = folder("n09");
    let ifs = |n: usize| {
        format!(
            "cuda_tile.module @m {{\n  entry @k(%c: tile<i1>, %p: tile<ptr<i32>>, %x: tile<i32>) {{\n{}\
             %t = store_ptr_tko weak %p, %x : tile<ptr<i32>>, tile<i32> -> token\n{}    return\n  }}\n}}\n",
            "if %c {\n".repeat(n),
            "}\n".repeat(n)
        )
    };
    let aliases: String = (1..50_000).map(|i| format!("#a{i} = [#a{}]\n", i - 1)).collect();
    let minus = format!("module attributes {{x.y = affine_map<(d0) -> ({}d0)>}} {{}}", "-".repeat(200_000));
    for (what, text, said) in [
        ("4000 ifs", ifs(4000), "loc(\"in.mlir\":513:7): error: brackets are nested more than 512 deep"),
        ("400 ifs", ifs(400), "error: regions nested more than 256 deep"),
        (
            "20 000 modules",
            "module {\n".repeat(20_000) + &"}\n".repeat(20_000),
            "loc(\"in.mlir\":513:8): error: brackets",
        ),
        ("aliases", format!("#a0 = [1]\n{aliases}module {{}}"), "error: brackets are nested more than 512 deep"),
        ("an expression", minus, "operators of an affine expression are nested more than 512 deep"),
    ] {
        for emit in ["cuda-tile", "ptx"] {
            fs::write(folder.join("in.mlir"), &text).unwrap();
            let output = tileiras(&folder, "--gpu-name=sm_90 -o out in.mlir --emit").arg(emit).output().unwrap();
            let messages = stderr(&output);
            assert!(output.status.code() == Some(3) && messages.contains(said), "{what}: {messages}");
        }
        for tool in [env!("CARGO_BIN_EXE_tileiras-opt"), env!("CARGO_BIN_EXE_tileiras-translate")] {
            let mut command = Command::new(tool);
            if tool.ends_with("translate") {
                command.arg("--mlir-to-tileirbc");
            }
            let output = command.arg("in.mlir").current_dir(&folder).output().unwrap();
            // The nesting of regions is limited where code or bytecode is generated; MLIR's optimizer has stack for
            // all of these.
            let is_text = what == "400 ifs" && tool.ends_with("opt");
            let expected = i32::from(!is_text);
            assert_eq!(output.status.code(), Some(expected), "{tool}: {what}: {}", stderr(&output));
        }
    }
    // At the limit, on a thread with a small stack, compilation succeeds.
    let limit = ifs(256);
    assert!(ptx(&folder, limit.as_bytes()).unwrap().contains(".entry k("));
    let compiled = std::thread::Builder::new().stack_size(256 << 10).spawn(move || {
        use tile_interface::Compiler;
        let request = tile_interface::CompileRequest::new(
            limit.as_bytes(),
            tile_interface::InputKind::Text,
            tile_targets::Target::by_name("sm_90").unwrap(),
        );
        tileiras::compile::InProcess.compile(&request, &mut |d| panic!("{d:?}")).map(|output| output.text.len())
    });
    assert!(compiled.unwrap().join().unwrap().unwrap() > 0);
}

/// The language server shows the message at its location and keeps running.
fn n09_depth_in_the_language_server() {
    use std::io::{Read, Write};
    let mut server = Command::new(env!("CARGO_BIN_EXE_tileiras-lsp-server"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = server.stdin.take().unwrap();
    let mut send = |body: &str| write!(input, "Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    let text = "module {\\n".repeat(20_000);
    send(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":1,"rootUri":null,"capabilities":{}}}"#);
    send(&format!(
        r#"{{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{{"textDocument":{{"uri":"test:///a.mlir","languageId":"mlir","version":1,"text":"{text}"}}}}}}"#
    ));
    send(r#"{"jsonrpc":"2.0","id":2,"method":"shutdown","params":null}"#);
    send(r#"{"jsonrpc":"2.0","method":"exit","params":null}"#);
    let mut said = String::new();
    server.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(said.contains("brackets_are_nested_more_than_512_deep") && said.contains("\"line\":512"), "{said}");
    assert!(server.wait().unwrap().success(), "{said}");
}

/// Writes an executable script.
fn script(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

const EMPTY: &[u8] = b"cuda_tile.module @m {\n  entry @k() {\n    return\n  }\n}\n";

/// Files and programs named by a reproducer are not run, loaded or written, and the user is told.
fn n06_a_reproducer_is_not_trusted() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder("n06");
    script(&folder.join("evil"), "touch was-run");
    // "cuda_tile.module @m {}" in base 64.
    let file = |arguments: &str| {
        format!(
            r#"{{"compiler": "", "arguments": [{arguments}], "input_name": "/x/../k.mlir", "input": "Y3VkYV90aWxlLm1vZHVsZSBAbSB7fQ==", "status": 70, "ended": ""}}"#
        )
    };
    // Files that others may have placed at a predictable name.
    let scratch = folder.join("tmp");
    fs::create_dir(&scratch).unwrap();
    fs::set_permissions(&scratch, fs::Permissions::from_mode(0o777)).unwrap();
    let replay = |arguments: &str| {
        fs::write(folder.join("r.json"), file(arguments)).unwrap();
        let mut command = tileiras(&folder, "replay r.json");
        let output = command.env("TMPDIR", &scratch).output().unwrap();
        assert_eq!(fs::read_dir(&scratch).unwrap().count(), 0, "nothing is left");
        stderr(&output)
    };
    for argument in [
        "--ptxas-path=./evil",
        "--backend=libnvvm\", \"--libnvvm-path=./evil",
        "-o\", \"written",
        "--resource-usage-file=written",
        "--cache-dir=written",
        "--crash-dir=written",
        "--save-temps",
        "--pipeline-option=snapshot-file=written",
        "--pipeline-option=dump-host=written",
        "@r.json",
    ] {
        let said = replay(&format!("\"--gpu-name=sm_90\", \"{argument}\""));
        assert!(
            said.contains("warning: ignored, because a replay only uses options that affect code: "),
            "{argument}: {said}"
        );
    }
    let mut names: Vec<_> = fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["evil", "r.json", "tmp"]);
    let said = replay("\"--gpu-name=sm_90\", \"-O1\", \"--pipeline-option=num-warps=8\"");
    assert!(!said.contains("not used"), "{said}");
}

/// A cache that others can write is rejected; in a trusted cache, only valid entries are touched.
fn n07_what_others_put_into_a_cache() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = folder("n07");
    fs::write(folder.join("in.mlir"), EMPTY).unwrap();
    let compile = |more: &str| {
        let line = format!("--gpu-name=sm_90 --emit=ptx -o out --cache-dir=cache in.mlir {more}");
        let output = tileiras(&folder, &line).output().unwrap();
        (output.status.code(), stderr(&output))
    };
    let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    let (cache, out) = (folder.join("cache"), folder.join("out"));
    assert_eq!(compile(""), (Some(0), String::new()));
    assert_eq!(fs::metadata(&cache).unwrap().permissions().mode() & 0o777, 0o700);
    let made = fs::read(&out).unwrap();
    let within = fs::read_dir(&cache).unwrap().next().unwrap().unwrap().path();
    let entry = fs::read_dir(&within).unwrap().next().unwrap().unwrap().path();
    let sound = fs::read(&entry).unwrap();

    mode(&cache, 0o777);
    let (status, said) = compile("");
    assert!(status == Some(2) && said.contains("the cache directory 'cache' can be written by others"), "{said}");
    assert_eq!(compile("--shared-cache").0, Some(0));
    mode(&cache, 0o700);

    // A forged entry that is valid except for the entry name, which is part of the hash.
    let victim = folder.join("victim");
    fs::write(&victim, "precious").unwrap();
    let fifo = |path: &Path| assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    let cases: [(&str, &dyn Fn()); 5] = [
        ("a pipe", &|| fifo(&entry)),
        ("an endless device", &|| symlink("/dev/zero", &entry).unwrap()),
        ("a link", &|| symlink(&victim, &entry).unwrap()),
        ("a file that others can write", &|| {
            fs::write(&entry, &sound).unwrap();
            mode(&entry, 0o666);
        }),
        ("a damaged file", &|| fs::write(&entry, [&sound[..sound.len() - 1], b"!"].concat()).unwrap()),
    ];
    for shared in ["", "--shared-cache"] {
        for (what, put) in &cases {
            fs::remove_file(&entry).unwrap();
            put();
            fs::remove_file(&out).unwrap();
            assert_eq!(compile(shared), (Some(0), String::new()), "{what}");
            assert_eq!(fs::read(&out).unwrap(), made, "{what}");
            assert_eq!(fs::read_to_string(&victim).unwrap(), "precious", "{what}");
            assert!(fs::symlink_metadata(&entry).unwrap().is_file(), "{what}: the entry is repaired");
            assert_eq!(fs::read(&entry).unwrap(), sound, "{what}");
        }
    }
    // A symbolic link to another folder is not followed.
    fs::remove_dir_all(&within).unwrap();
    let elsewhere = folder.join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, &within).unwrap();
    let (status, said) = compile("");
    assert!(status == Some(0) && said.starts_with("warning: cannot write to the cache: "), "{status:?} {said}");
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
}

/// A tool that lies, prints without end, sends terminal escapes, or leaves processes behind.
fn n18_tools_that_misbehave() {
    let folder = folder("n18");
    fs::write(folder.join("in.mlir"), EMPTY).unwrap();
    let with = |text: &str, more: &str| {
        let find = "while [ $# -gt 0 ]; do [ \"$1\" = -o ] && out=$2; shift; done\n";
        script(&folder.join("ptxas"), &format!("{find}{text}"));
        let mut command = tileiras(&folder, &format!("--gpu-name=sm_90 -o out --ptxas-path=./ptxas in.mlir {more}"));
        let output = command.output().unwrap();
        (output.status.code(), output.stderr)
    };
    let header = "printf '\\177ELF\\002\\001\\001' > \"$out\"";
    for image in [":", "echo text > \"$out\"", header, "/bin/cat /bin/sh > \"$out\""] {
        let (status, said) = with(image, "");
        let said = String::from_utf8_lossy(&said).into_owned();
        assert!(status == Some(5) && said.contains("ptxas failed with success, but "), "{image}: {said}");
        assert!(!folder.join("out").exists(), "{image}");
    }
    let (status, said) = with("printf '\\033[31mred\\007\\n' >&2; exit 1", "");
    assert!(status == Some(5) && !said.contains(&0x1b) && !said.contains(&7), "{}", String::from_utf8_lossy(&said));
    assert!(String::from_utf8_lossy(&said).contains("\\u{1b}[31mred"), "{}", String::from_utf8_lossy(&said));
    let (status, said) = with("/bin/yes | /usr/bin/head -c 50000000 >&2; exit 1", "");
    assert!(status == Some(5) && said.len() < 6 << 20, "{} bytes", said.len());
    assert!(String::from_utf8_lossy(&said).contains(" more bytes\n"));
    // A process started by the tool does not outlive the call.
    let pid = folder.join("pid");
    let (status, _) = with("/bin/sleep 600 >/dev/null 2>&1 & echo $! > pid; exit 1", "");
    assert_eq!(status, Some(5));
    let process = PathBuf::from("/proc").join(fs::read_to_string(&pid).unwrap().trim());
    let is_alive = || fs::read_to_string(process.join("stat")).is_ok_and(|s| !s.contains(") Z "));
    for _ in 0..100 {
        if !is_alive() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert!(!is_alive(), "the tool's child is alive");
}

/// A cache hit replays the stored diagnostics.
fn n18_a_cache_hit_warns_as_a_miss_does() {
    let folder = folder("n18hit");
    fs::write(folder.join("in.mlir"), EMPTY).unwrap();
    let real = Path::new(env!("CARGO_MANIFEST_DIR")).join(".tools/cuda/bin/ptxas");
    script(&folder.join("ptxas"), &format!("echo 'ptxas warning : beware'; exec {} \"$@\"", real.display()));
    for format in ["plain", "json"] {
        let compile = || {
            let line = "--gpu-name=sm_90 -o out --ptxas-path=./ptxas in.mlir --cache-dir";
            let output = tileiras(&folder, line)
                .args([format, "--diagnostic-format", format])
                .env("CUDA_HOME", "/nonexistent")
                .output()
                .unwrap();
            assert!(output.status.success(), "{}", stderr(&output));
            stderr(&output)
        };
        let (miss, hit) = (compile(), compile());
        assert!(miss.contains("ptxas warning : beware"), "{miss}");
        assert_eq!(miss, hit);
    }
}

/// Expected unsigned numbers keep their upper half.
fn n15_expectations_without_a_sign() {
    let program = "import pathlib, sys, types\nsys.path.insert(0, 'scripts')\nimport corpus_cases as c\nnp = c.np\n\
                   a = types.SimpleNamespace(value=np.zeros(2, np.uint64))\nfolder = pathlib.Path(sys.argv[1])\n\
                   c.want(folder, 'w', a, np.array([2**63, 2**64 - 1], np.uint64))\n\
                   print(*(int(x) for x in np.load(folder / 'w.npy')))\n";
    let mut python = Command::new("python3");
    python.args(["-c", program]).arg(folder("n15")).current_dir(env!("CARGO_MANIFEST_DIR"));
    let output = python.output().unwrap();
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "9223372036854775808 18446744073709551615\n",
        "{}",
        stderr(&output)
    );
}

/// Dots in a loop whose rings would fill shared memory, next to reductions and scans that need some of it later.
fn n12_rings_leave_room() {
    let folder = folder("n12");
    let program = |element: &str, depth: u32, rows: u32, columns: u32, scan: bool| {
        let view = |shape: &str, padding: &str, of: &str| format!("partition_view<tile=({shape}){padding}, {of}>");
        let dynamic = |element: &str| format!("tensor_view<?x?x{element}, strides=[?,1]>");
        let zero = ", padding_value = zero";
        let [q, w] = [(depth, zero, element), (1, "", "f32")]
            .map(|(n, padding, e)| view(&format!("{rows}x{n}"), padding, &dynamic(e)));
        let k = view(&format!("{depth}x{columns}"), zero, &format!("{}, dim_map=[1, 0]", dynamic(element)));
        let (left, right) = (format!("{rows}x{depth}x{element}"), format!("{depth}x{columns}x{element}"));
        let (scores, row) = (format!("{rows}x{columns}xf32"), format!("{rows}x1xf32"));
        let scanned = if scan {
            format!(
                "%t = scan %s dim=1 reverse=false identities=[0.0 : f32] : tile<{scores}> -> tile<{scores}> \
                 (%a1: tile<f32>, %b1: tile<f32>) {{\n %c1 = addf %a1, %b1 : tile<f32>\n yield %c1 : tile<f32>\n}}\n"
            )
        } else {
            format!("%t = absf %s : tile<{scores}>\n")
        };
        let tensor = |name: &str, element: &str| {
            let ty = dynamic(element);
            format!(
                "%{name}p = assume div_by<16>, %{name} : tile<ptr<{element}>>\n\
                 %{name}t = make_tensor_view %{name}p, shape = [%n, %d], strides = [%d, 1] : tile<i32> -> {ty}\n"
            )
        };
        let tensors = tensor("q", element) + &tensor("k", element) + &tensor("w", "f32");
        format!(
            "cuda_tile.module @m {{\n\
             entry @k(%q: tile<ptr<{element}>>, %k: tile<ptr<{element}>>, %w: tile<ptr<f32>>, %n: tile<i32>, %e: tile<i32>) {{\n\
             %d = assume div_by<16>, %e : tile<i32>\n{tensors}\
             %z = constant <i32: 0> : tile<i32>\n%o = constant <i32: 1> : tile<i32>\n\
             %qv = make_partition_view %qt : {q}\n%kv = make_partition_view %kt : {k}\n\
             %wv = make_partition_view %wt : {w}\n\
             %x, %xk = load_view_tko weak %qv[%z, %z] : {q}, tile<i32> -> tile<{left}>, token\n\
             %m0 = constant <f32: 0.0> : tile<{row}>\n%s0 = constant <f32: 0.0> : tile<{scores}>\n\
             %f = for %i in (%z to %n, step %o) : tile<i32> iter_values(%m = %m0) -> (tile<{row}>) {{\n\
             %y, %yk = load_view_tko weak %kv[%z, %i] : {k}, tile<i32> -> tile<{right}>, token\n\
             %s = mmaf %x, %y, %s0 : tile<{left}>, tile<{right}>, tile<{scores}>\n{scanned}\
             %r = reduce %t dim=1 identities=[0xFF800000 : f32] : tile<{scores}> -> tile<{rows}xf32> \
             (%a: tile<f32>, %b: tile<f32>) {{\n %c = maxf %a, %b : tile<f32>\n yield %c : tile<f32>\n}}\n\
             %l = reshape %r : tile<{rows}xf32> -> tile<{row}>\n%m2 = maxf %m, %l : tile<{row}>\n\
             continue %m2 : tile<{row}>\n}}\n\
             %wk = store_view_tko weak %f, %wv[%z, %z] : tile<{row}>, {w}, tile<i32> -> token\nreturn\n}}\n}}\n"
        )
    };
    let elements = [("f16", 16), ("f16", 16), ("bf16", 16), ("f8E4M3FN", 8), ("f8E4M3FN", 8), ("tf32", 32)];
    for ((element, bits), depth) in elements.into_iter().zip([64, 128, 128, 64, 128, 64]) {
        for (rows, columns) in [(16, 64), (32, 128), (64, 64), (32, 256)] {
            for scan in [false, true] {
                let text = program(element, depth, rows, columns, scan);
                fs::write(folder.join("in.mlir"), &text).unwrap();
                for target in ["sm_80", "sm_90"] {
                    let line = format!("--gpu-name={target} --emit=ptx -o out.ptx in.mlir");
                    let output = tileiras(&folder, &line).output().unwrap();
                    assert!(output.status.success(), "{target}: {}\n{text}", stderr(&output));
                    let ptx = fs::read_to_string(folder.join("out.ptx")).unwrap();
                    let is_pipelined = ptx.contains("cp.async");
                    // 48 KB hold three stages of 16 KB and nothing else, or two stages and the later uses.
                    let must = target == "sm_80" && depth * columns * bits / 8 <= 16 << 10;
                    assert!(is_pipelined || !must, "{target}: no copy starts early\n{text}");
                }
            }
        }
    }
}

/// Text is recognized by its content, also from standard input; messages have its location and show the line.
fn n17_text_from_anywhere() {
    use std::io::Write;
    let folder = folder("n17");
    let comment = [b"// A kernel.\n\n".as_slice(), EMPTY].concat();
    fs::write(folder.join("kernel"), &comment).unwrap();
    let from = |text: &[u8], line: &str| {
        let mut child = tileiras(&folder, line)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(text).unwrap();
        child.wait_with_output().unwrap()
    };
    let bytecode = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/vadd_f32_div16.tileirbc")).unwrap();
    for (text, input, entry) in [(&comment, "kernel", "k"), (&comment, "-", "k"), (&bytecode, "-", "")] {
        let output = from(text, &format!("--gpu-name=sm_90 --emit=ptx -o - {input}"));
        assert!(output.status.success(), "{input}: {}", stderr(&output));
        assert!(String::from_utf8_lossy(&output.stdout).contains(&format!(".visible .entry {entry}")));
    }
    let output = from(b"module {\n  oops\n}\n", "--gpu-name=sm_90 --diagnostic-format=caret -");
    let said = stderr(&output);
    assert!(output.status.code() == Some(3) && said.contains("--> -:2:3") && said.contains("|   oops"), "{said}");
    for text in ["modules of text\n", "not a kernel\n", ""] {
        assert_eq!(from(text.as_bytes(), "--gpu-name=sm_90 -").status.code(), Some(3), "{text}");
    }
}

/// Types that NVIDIA's compiler rejects for a target are rejected on request only.
fn n16_types_that_are_refused_on_demand() {
    let folder = folder("n16");
    for (element, targets) in tile_targets::STRICT_TYPES {
        let global = format!(
            "cuda_tile.module @m {{\n  global @g <{element}: [1.0, 1.0]> : tile<2x{element}>\n  entry @k() {{\n    return\n  \
             }}\n}}\n"
        );
        let moved = format!(
            "cuda_tile.module @m {{\n  entry @k(%p: tile<ptr<{element}>>) {{\n    \
             %x, %t = load_ptr_tko weak %p : tile<ptr<{element}>> -> tile<{element}>, token\n    \
             %u = store_ptr_tko weak %p, %x token=%t : tile<ptr<{element}>>, tile<{element}> -> token\n    return\n  \
             }}\n}}\n"
        );
        let constant = format!(
            "cuda_tile.module @m {{\n  entry @k() {{\n    %x = constant <{element}: 1.0> : tile<4x{element}>\n    \
             return\n  }}\n}}\n"
        );
        let texts = [("global", global), ("moved", moved), ("constant", constant)];
        for (what, text) in texts.iter().filter(|(what, _)| *element != "f4E2M1FN" || *what == "constant") {
            fs::write(folder.join("in.mlir"), text).unwrap();
            for target in tile_targets::TARGETS {
                let place = format!("{what} of {element} for {}", target.name);
                let compile = |more: &str| {
                    let line = format!("--gpu-name={} --emit=ptx -o out.ptx in.mlir {more}", target.name);
                    let output = tileiras(&folder, &line).output().unwrap();
                    (output.status.code(), stderr(&output))
                };
                assert_eq!(compile(""), (Some(0), String::new()), "{place}");
                for option in ["--strict-types", "--pipeline-option=strict-types=true"] {
                    let (status, said) = compile(option);
                    if targets.contains(&target.sm) {
                        assert_eq!((status, said), (Some(0), String::new()), "{place}");
                        continue;
                    }
                    let text =
                        format!("Incompatibility with architecture '{}': unsupported type '{element}'\n", target.name);
                    assert!(status == Some(5) && said.contains(&text), "{place}: {said}");
                }
            }
        }
    }
}

/// The set-up on Debian 12 lists its changes to the system and makes none without consent.
fn n08_setup_asks() {
    use std::io::Write;
    let folder = folder("n08");
    for name in ["bin", "scripts", "etc/apt/sources.list.d", "etc/apt/preferences.d"] {
        fs::create_dir_all(folder.join(name)).unwrap();
    }
    // Simulates the system of the test.
    let here = folder.display().to_string();
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/setup.sh")).unwrap();
    let text = text.replace("/etc/", &format!("{here}/etc/")).replace("=/etc", &format!("={here}/etc"));
    let text = text.replace("/usr/lib/llvm-21", &format!("{here}/llvm"));
    script(&folder.join("scripts/setup.sh"), "");
    fs::write(folder.join("scripts/setup.sh"), text).unwrap();
    let progress = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/progress.sh");
    fs::copy(progress, folder.join("scripts/progress.sh")).unwrap();
    fs::write(folder.join("etc/os-release"), "ID=debian\nVERSION_ID=\"12\"\n").unwrap();
    script(&folder.join("bin/sudo"), "exec \"$@\"");
    script(
        &folder.join("bin/apt-get"),
        &format!(
            "log={here}/log\n{}",
            "echo \"$*\" >> $log\n[ \"$1\" = -s ] || exit 0\necho 'Inst libc6 [2.36-9] (2.41-12 Debian:13.1/stable [amd64])'\n\
         echo 'Inst base-files [12.4] (13.8 Debian:13.1/stable [amd64])'\necho 'Inst llvm-21 (21.1.8 Debian [amd64])'\n\
         echo 'Remv old-thing [1.0]'"
        ),
    );
    let path = format!("{here}/bin:{}", std::env::var("PATH").unwrap());
    let list = folder.join("etc/apt/sources.list.d/llvm-21-trixie.list");
    // Returns the output, the calls of apt-get, and whether the sources were added.
    let run = |arguments: &str, answers: Option<&str>| {
        let _ = fs::remove_file(folder.join("log"));
        let _ = fs::remove_file(&list);
        let line = format!("scripts/setup.sh {arguments}");
        let mut command = match answers {
            Some(_) => Command::new("script"),
            None => Command::new("bash"),
        };
        match answers {
            Some(_) => command.args(["-qec", &format!("bash {line}"), "/dev/null"]),
            None => command.args(line.split_whitespace()),
        };
        command.current_dir(&folder).env("PATH", &path).env_remove("LLVM_PREFIX").env_remove("CI");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(answers.unwrap_or_default().as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &stderr(&output);
        let calls = fs::read_to_string(folder.join("log")).unwrap_or_default();
        (said, calls, list.exists())
    };
    let installs = |calls: &str| calls.lines().any(|l| l.starts_with("install -y"));
    let plan = [
        "new packages: 1",
        "libc6 2.36-9 -> 2.41-12",
        "base-files 12.4 -> 13.8",
        "packages that are removed: 1",
        "old-thing",
    ];

    // Non-interactive: there is no user to ask.
    let (said, calls, added) = run("", None);
    assert!(installs(&calls) && added && plan.iter().all(|p| said.contains(p)), "{said}{calls}");
    // The user declines at once, or after seeing the packages.
    let (said, calls, added) = run("", Some("n\n"));
    assert!(calls.is_empty() && !added && said.contains("nothing was changed"), "{said}{calls}");
    assert!(said.contains("os-release will call this system Debian 13") && said.contains("LLVM_PREFIX="), "{said}");
    let (said, calls, added) = run("", Some("y\nn\n"));
    assert!(!installs(&calls) && !added && plan.iter().all(|p| said.contains(p)), "{said}{calls}");
    let (said, calls, added) = run("", Some("y\ny\n"));
    assert!(installs(&calls) && added, "{said}{calls}");
    let (said, calls, _) = run("--yes", Some(""));
    assert!(installs(&calls) && plan.iter().all(|p| said.contains(p)), "{said}{calls}");
    // `--plan` changes nothing.
    let (said, calls, added) = run("--plan", None);
    assert!(
        !added && calls.lines().all(|l| l.starts_with("-s ")) && plan.iter().all(|p| said.contains(p)),
        "{said}{calls}"
    );
    let (said, calls, _) = run("--often", None);
    assert!(calls.is_empty() && said.contains("unknown argument '--often'"), "{said}");
}

/// The compile time of long programs is roughly proportional to their length; `tests/ir/scaling.rs` counts work.
fn n13_long_programs() {
    let folder = folder("n13");
    let mut python = Command::new("python3");
    python.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/scaling.py"));
    python.args(["--tileiras", env!("CARGO_BIN_EXE_tileiras"), "--least", "1000", "--doublings", "2", "ifs"]);
    let output = python.current_dir(&folder).output().unwrap();
    let table = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{}", stderr(&output));
    let exponents: Vec<&str> = table.lines().skip(2).map(|l| l.split('|').nth(5).unwrap_or_default().trim()).collect();
    assert_eq!(exponents.len(), 3, "{table}");
    for exponent in &exponents[1..] {
        // 1 is linear; the worst value was 1.7.
        assert!(exponent.parse::<f64>().unwrap() < 1.58, "{table}");
    }
}

/// The kernel of the front page runs from the command line, on both engines. If the `:ptr` suffix of a plain pointer
/// argument is missing, the message says how to write it.
fn n17_the_front_page_runs() {
    let run = |line: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tile-run"));
        command.current_dir(env!("CARGO_MANIFEST_DIR")).args(line.split_whitespace()).stdin(Stdio::null());
        command.output().unwrap()
    };
    for engine in ["sim", "reference"] {
        let line = format!("examples/twice.mlir --gpu-name sm_90 --grid 8 --engine {engine} zeros:f32:4096");
        let output = run(&line);
        assert!(!output.status.success() && stderr(&output).contains("zeros:TYPE:NxM:ptr"), "{}", stderr(&output));
        let output = run(&format!("{line}:ptr"));
        assert!(output.status.success(), "{engine}: {}", stderr(&output));
    }
}

/// The command can print everything that MLIR's tools print, by options or environment variables; statistics are not
/// empty.
fn n17_what_is_printed_on_demand() {
    let folder = folder("n17p");
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/twice.mlir");
    for (option, variable, said) in [
        ("--mlir-print-ir-after-all", "TILEIRAS_MLIR_DUMP", "IR Dump After ConvertCudaTileToTileAA"),
        ("--print-ir-after-all", "TILEIRAS_MLIR_DUMP", "IR Dump After ConvertCudaTileToTileAA"),
        ("--mlir-timing", "TILEIRAS_TIMING", "Execution time report"),
        ("--mlir-pass-statistics", "TILEIRAS_STATISTICS", "num-ops - "),
        ("--print-llvm-ir", "TILEIRAS_LLVM_DUMP", "; LLVM IR as optimized"),
    ] {
        let compile = |argument: Option<&str>, value: &str| {
            let mut command = tileiras(&folder, "--gpu-name=sm_90 --emit=ptx -o out");
            command.args(argument).arg(&example).env(variable, value);
            let output = command.output().unwrap();
            assert!(output.status.success(), "{}", stderr(&output));
            stderr(&output)
        };
        assert_eq!(compile(None, "0"), "");
        for messages in [compile(Some(option), "0"), compile(None, "1")] {
            assert!(messages.contains(said), "{option}: {messages}");
        }
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_tileiras-opt"));
    command.arg(&example).args([
        "--pass-pipeline=builtin.module(tileir{opt-level=3})",
        "--mlir-pass-statistics",
        "-o",
        "/dev/null",
    ]);
    let said = stderr(&command.output().unwrap());
    assert!(said.contains("tileir-verify-ops-analysis\n  (S) ") && said.contains("num-ops"), "{said}");
}

/// A fixed slice of the campaign of `scripts/attack.py`, which runs for a given time.
fn a_slice_of_the_campaign() {
    let folder = folder("campaign");
    let mut python = Command::new("python3");
    python.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/attack.py"));
    let tool = Path::new(env!("CARGO_BIN_EXE_tileiras"));
    python.args(["--slice", "--seed", "1", "--work"]).arg(&folder).arg("--tools").arg(tool.parent().unwrap());
    let output = python.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &stderr(&output);
    assert!(output.status.success() && said.contains("0 findings"), "{said}");
    for attack in ["damaged", "mutated", "nests", "kills", "many", "full", "paths"] {
        assert!(said.lines().any(|l| l.starts_with(attack)), "{attack}: {said}");
    }
}

/// The language server shows the documentation of an operation.
fn n17_hover_shows_documentation() {
    use std::io::{Read, Write};
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/twice.mlir")).unwrap();
    let (line, column) = text.lines().enumerate().find_map(|(i, l)| Some((i, l.find("addf")?))).unwrap();
    let mut server = Command::new(env!("CARGO_BIN_EXE_tileiras-lsp-server"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = server.stdin.take().unwrap();
    let mut send = |message: serde_json::Value| {
        let body = message.to_string();
        write!(input, "Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    };
    let message = |id: Option<u32>, method: &str, params: serde_json::Value| {
        let mut message = serde_json::json!({"jsonrpc": "2.0", "method": method, "params": params});
        if let Some(id) = id {
            message["id"] = id.into();
        }
        message
    };
    let document = serde_json::json!({"uri": "test:///a.mlir", "languageId": "mlir", "version": 1, "text": text});
    let position = serde_json::json!({"line": line, "character": column + 1});
    send(message(Some(1), "initialize", serde_json::json!({"processId": 1, "rootUri": null, "capabilities": {}})));
    send(message(None, "textDocument/didOpen", serde_json::json!({"textDocument": document})));
    let place = serde_json::json!({"textDocument": {"uri": "test:///a.mlir"}, "position": position});
    send(message(Some(2), "textDocument/hover", place));
    send(message(Some(3), "shutdown", serde_json::Value::Null));
    send(message(None, "exit", serde_json::Value::Null));
    drop(input);
    let mut said = String::new();
    server.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(server.wait().unwrap().success(), "{said}");
    for part in ["Floating-point sum.", "`addf` $lhs", "Generic Form:", "\"id\":3"] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

pub fn trials() -> Vec<Trial> {
    functions![
        n01_no_entry_is_lost,
        n02_names_that_ptx_cannot_spell,
        n02_what_has_no_code,
        n09_depth,
        n09_depth_in_the_language_server,
        n06_a_reproducer_is_not_trusted,
        n07_what_others_put_into_a_cache,
        n18_tools_that_misbehave,
        n18_a_cache_hit_warns_as_a_miss_does,
        n15_expectations_without_a_sign,
        n12_rings_leave_room,
        n17_text_from_anywhere,
        n16_types_that_are_refused_on_demand,
        n08_setup_asks,
        n13_long_programs,
        n17_the_front_page_runs,
        n17_what_is_printed_on_demand,
        a_slice_of_the_campaign,
        n17_hover_shows_documentation
    ]
}
