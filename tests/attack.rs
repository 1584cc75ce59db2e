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
