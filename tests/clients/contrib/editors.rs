//! `contrib/editors`: Neovim opens files with its settings; the server named by the VS Code setting is driven like VS
//! Code does.
//!
//! Neovim is searched on `PATH`; its tests are skipped without it. Continuous integration provides it and sets
//! `TILEIRAS_NEOVIM=required`, so that the tests cannot be skipped there.

use super::{folder, on_path, path_variable, programs, run, text};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};
use tile_test_support::{Trial, functions, lsp, root};

/// Returns the text of an example with an undefined operand, and its line.
fn broken() -> String {
    let program = fs::read_to_string(root().join("examples/twice.mlir")).unwrap();
    let broken = program.replace("addf %a, %a", "addf %a, %q");
    assert_ne!(program, broken);
    broken
}

/// Returns the first code block in a language from the page.
fn block(language: &str) -> String {
    let page = fs::read_to_string(root().join("contrib/editors/README.md")).unwrap();
    let (_, block) = page.split_once(&format!("```{language}\n")).unwrap_or_else(|| panic!("no block of {language}"));
    block.split("```").next().unwrap().to_owned()
}

fn neovim() -> Option<PathBuf> {
    let required = std::env::var_os("TILEIRAS_NEOVIM").is_some_and(|v| v == "required");
    let found = on_path("nvim");
    assert!(found.is_some() || !required, "there is no nvim on PATH");
    if found.is_none() {
        eprintln!("no nvim on PATH: its settings are not tried");
    }
    found
}

/// Returns Neovim's state after opening a file with only the settings of `contrib/editors/neovim`.
fn opened(nvim: &Path, file: &Path, position: &str) -> serde_json::Value {
    waited(nvim, file, position, 60)
}

/// Like `opened`, after a number of seconds without any activity.
fn waited(nvim: &Path, file: &Path, position: &str, seconds: u32) -> serde_json::Value {
    let home = folder(&format!("neovim-home-{}", file.file_stem().unwrap().to_string_lossy()));
    let mut command = Command::new(nvim);
    command.args(["--headless", "--clean", "--cmd"]);
    let setting = block("lua").replace("/path/to/tileiras", &root().display().to_string());
    command.arg(format!("lua {}", setting.trim()));
    command.arg("-c").arg(format!("luafile {}", root().join("tests/clients/contrib/neovim.lua").display())).arg(file);
    command.env("PATH", path_variable()).env("POSITION", position).env("WAIT", (seconds * 1000).to_string());
    for variable in ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"] {
        command.env(variable, &home);
    }
    let output = run(&mut command);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{}\n{out}{err}", output.status);
    serde_json::from_str(out.trim()).unwrap_or_else(|e| panic!("{e}\n{out}{err}"))
}

fn neovim_shows_what_is_wrong() {
    let Some(nvim) = neovim() else { return };
    let folder = folder("neovim-broken");
    let file = folder.join("broken.mlir");
    fs::write(&file, broken()).unwrap();
    let report = opened(&nvim, &file, "1:1");
    assert_eq!((&report["filetype"], &report["server"]), (&"mlir".into(), &"tileiras".into()), "{report}");
    let diagnostics = report["diagnostics"].as_array().unwrap();
    assert_eq!(diagnostics.len(), 1, "{report}");
    let expected = serde_json::json!({
        "line": 8, "column": 19, "severity": "ERROR", "message": "use of undeclared SSA value name"
    });
    assert_eq!(diagnostics[0], expected);
}

fn neovim_knows_operations_and_values() {
    let Some(nvim) = neovim() else { return };
    let file = folder("neovim-good").join("good.mlir");
    fs::copy(root().join("examples/twice.mlir"), &file).unwrap();
    // The operation in line 8, and its operand, defined in line 7.
    let on_operation = opened(&nvim, &file, "8:11");
    assert_eq!(on_operation["diagnostics"], serde_json::json!([]), "{on_operation}");
    assert!(on_operation["hover"].as_str().unwrap().contains("cuda_tile.addf"), "{on_operation}");
    let on_value = opened(&nvim, &file, "8:16");
    assert_eq!(on_value["definition"], 7, "{on_value}");
}

/// Bytecode is shown as text that the server understands and is read-only.
fn neovim_shows_bytecode_as_text() {
    let Some(nvim) = neovim() else { return };
    let report = opened(&nvim, &root().join("tests/corpus/vadd_f32.13.1.tileirbc"), "5:13");
    assert_eq!((&report["filetype"], &report["modifiable"]), (&"mlir".into(), &false.into()), "{report}");
    assert!(report["lines"].as_u64().unwrap() > 10, "{report}");
    assert_eq!(report["diagnostics"], serde_json::json!([]), "{report}");
    assert!(report["hover"].as_str().unwrap().contains("cuda_tile.make_token"), "{report}");
    let damaged = folder("neovim-damaged").join("damaged.tileirbc");
    let whole = fs::read(root().join("tests/corpus/vadd_f32.13.1.tileirbc")).unwrap();
    fs::write(&damaged, &whole[..whole.len() / 2]).unwrap();
    // Wait in vain for a server.
    let report = waited(&nvim, &damaged, "1:1", 1);
    assert_eq!((&report["filetype"], &report["server"]), (&"".into(), &serde_json::Value::Null), "{report}");
}

/// Starts the program named by the setting and talks to it like the MLIR extension of VS Code: no arguments, the
/// requests of its client, a file of the language `mlir`.
fn vs_code_finds_its_server() {
    let settings = fs::read_to_string(root().join("contrib/editors/vscode/settings.json")).unwrap();
    assert_eq!(settings, block("json"), "the page shows the file");
    let settings: serde_json::Value = serde_json::from_str(&settings).unwrap();
    let server = Path::new(settings["mlir.server_path"].as_str().unwrap());
    // The extension searches relative paths in the workspace, never on PATH.
    assert!(server.is_absolute(), "{settings}");
    let mut server = lsp::Server::start(&programs().join(server.file_name().unwrap()));
    let initialize = fs::read_to_string(root().join("tests/clients/contrib/vscode-initialize.json")).unwrap();
    let answer = server.call("initialize", initialize.trim());
    assert!(answer.contains("\"hoverProvider\":true"), "{answer}");
    server.notify("initialized", "{}");
    let open = |name: &str, text: &str| {
        serde_json::json!({"textDocument": {
            "uri": format!("file:///kernels/{name}"), "languageId": "mlir", "version": 1, "text": text
        }})
        .to_string()
    };
    server.notify("textDocument/didOpen", &open("broken.mlir", &broken()));
    let diagnostics = server.receive("textDocument/publishDiagnostics");
    assert!(diagnostics.contains("use of undeclared SSA value name"), "{diagnostics}");
    let good = fs::read_to_string(root().join("examples/twice.mlir")).unwrap();
    server.notify("textDocument/didOpen", &open("good.mlir", &good));
    assert!(server.receive("good.mlir").contains("\"diagnostics\":[]"));
    let position = r#"{"textDocument":{"uri":"file:///kernels/good.mlir"},"position":{"line":7,"character":10}}"#;
    assert!(server.call("textDocument/hover", position).contains("cuda_tile.addf"));
    server.call("shutdown", "null");
    server.notify("exit", "null");
    assert!(server.child.wait().unwrap().success());
}

pub fn trials() -> Vec<Trial> {
    functions![
        neovim_shows_what_is_wrong,
        neovim_knows_operations_and_values,
        neovim_shows_bytecode_as_text,
        vs_code_finds_its_server
    ]
}
