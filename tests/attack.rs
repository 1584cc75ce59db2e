//! What an attacker tried: programs and surroundings that were made to lead the compiler astray. Each test is a way
//! that once worked.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

/// A folder of its own for a test, empty.
fn folder(test: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("attack").join(test);
    if path.exists() {
        fs::remove_dir_all(&path).unwrap();
    }
    fs::create_dir_all(&path).unwrap();
    path
}

/// The command in a folder, with arguments that a blank separates.
fn tileiras(folder: &Path, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tileiras"));
    command.current_dir(folder).args(arguments.split_whitespace()).stdin(Stdio::null());
    command
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// PTX of a text, or status and messages.
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
#[test]
fn n01_no_entry_is_lost() {
    let folder = folder("n01");
    for (name, said) in [("\"\"", "entry op must have a name"), ("\"\\FFb\"", "is not UTF-8")] {
        let (status, text) = ptx(&folder, entry_named(name).as_bytes()).unwrap_err();
        assert_eq!(status, 3, "{name}: {text}");
        assert!(text.contains(said), "{name}: {text}");
    }
    // Two globals whose names look alike where bytes that are no text are left out.
    let twins = "cuda_tile.module @m {\n  global @\"\\FEg\" <i32: 1> : tile<1xi32>\n  global @\"\\FFg\" <i32: 2> : \
                 tile<1xi32>\n  entry @k() {\n    return\n  }\n}\n";
    let (status, text) = ptx(&folder, twins.as_bytes()).unwrap_err();
    assert!(status == 3 && text.contains("is not UTF-8"), "{status}: {text}");
    let text = ptx(&folder, entry_named("after").as_bytes()).unwrap();
    for name in ["before", "after"] {
        assert!(text.contains(&format!(".entry {name}(")), "{text}");
    }
}

/// A name that PTX cannot spell is an error where callers need it and is spelt in another way where they do not.
#[test]
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

/// What nests too deeply is an error at its place before any stack ends.
#[test]
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
            // Regions have a limit where code or bytecode is made of them; MLIR's optimizer has stack for all of them.
            let is_text = what == "400 ifs" && tool.ends_with("opt");
            let expected = i32::from(!is_text);
            assert_eq!(output.status.code(), Some(expected), "{tool}: {what}: {}", stderr(&output));
        }
    }
    // At the limit, and on a thread with little stack, there is code.
    let limit = ifs(256);
    assert!(ptx(&folder, limit.as_bytes()).unwrap().contains(".entry k("));
    let compiled = std::thread::Builder::new().stack_size(256 << 10).spawn(move || {
        use tile_interface::Compiler;
        let request = tile_interface::CompileRequest {
            input: limit.as_bytes(),
            kind: tile_interface::InputKind::Text,
            input_name: "",
            target: tile_targets::Target::by_name("sm_90").unwrap(),
            opt_level: 3,
            emit: tile_interface::Emit::Ptx,
            debug: tile_interface::DebugInfo::None,
            pipeline_options: &[],
            backend: tile_interface::Backend::Llvm,
            instrumentation: tile_interface::Instrumentation::default(),
            keep_stages: false,
            remarks: false,
        };
        tileiras::compile::InProcess.compile(&request, &mut |d| panic!("{d:?}")).map(|output| output.text.len())
    });
    assert!(compiled.unwrap().join().unwrap().unwrap() > 0);
}

/// The language server shows the message at its place and goes on.
#[test]
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
