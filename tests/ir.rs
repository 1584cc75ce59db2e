//! Runs the `.mlir` files under `tests/ir/`, one test each, by their `RUN:` lines.
//!
//! The lines are what LLVM's lit runs, without a shell: commands joined by `|`, arguments in quotes, `\` at the end of a
//! line to go on. `%s` is the file, `%S` its folder, `%t` a path of its own for scratch files. A command is one of
//! `tileiras-opt`, `tileiras-translate` (ours), `FileCheck`, `split-file` (LLVM's); `not` before it asks for
//! failure, with an exit status and not a signal; `2>&1` after it adds its standard error to what the next one reads.
//! A file without a `RUN:` line fails.

use libtest_mimic::{Arguments, Failed, Trial};
use std::{
    env, fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
    thread,
};

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ir");
    let mut files = vec![];
    find(&root, &mut files);
    files.sort();
    let trials = files
        .into_iter()
        .map(|file| {
            let name = file.strip_prefix(&root).expect("found below it").display().to_string();
            Trial::test(name, move || run_file(&file).map_err(Failed::from))
        })
        .collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn find(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            find(&path, files);
        } else if path.extension().is_some_and(|x| x == "mlir") {
            files.push(path);
        }
    }
}

fn run_file(file: &Path) -> Result<(), String> {
    let text = fs::read_to_string(file).map_err(|e| e.to_string())?;
    let lines = run_lines(&text)?;
    if lines.is_empty() {
        return Err("no RUN: line".into());
    }
    let stem: String = file.to_string_lossy().chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join(stem);
    for line in lines {
        pipeline(&line, file, &scratch).map_err(|e| format!("RUN: {line}\n{e}"))?;
    }
    Ok(())
}

/// The text after each `RUN:`, with continued lines joined.
fn run_lines(text: &str) -> Result<Vec<String>, String> {
    let mut lines: Vec<String> = vec![];
    let mut open = false;
    for line in text.lines() {
        let Some((_, command)) = line.split_once("RUN:") else { continue };
        let (command, continues) = match command.trim().strip_suffix('\\') {
            Some(c) => (c.trim_end(), true),
            None => (command.trim(), false),
        };
        match lines.last_mut().filter(|_| open) {
            Some(last) => {
                last.push(' ');
                last.push_str(command);
            }
            None => lines.push(command.to_string()),
        }
        open = continues;
    }
    if open { Err("the last RUN: line ends in a backslash".into()) } else { Ok(lines) }
}

/// Splits at blanks outside of quotes and at `|`; an empty word separates commands.
fn words(line: &str) -> Result<Vec<Option<String>>, String> {
    let mut list = vec![];
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    for c in line.chars() {
        match quote {
            Some(q) if c == q => quote = None,
            Some(_) => word.get_or_insert_default().push(c),
            None if c == '\'' || c == '"' => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            None if c.is_whitespace() || c == '|' => {
                list.extend(word.take().map(Some));
                if c == '|' {
                    list.push(None);
                }
            }
            None => word.get_or_insert_default().push(c),
        }
    }
    if quote.is_some() {
        return Err("unbalanced quote".into());
    }
    list.extend(word.map(Some));
    Ok(list)
}

fn pipeline(line: &str, file: &Path, scratch: &Path) -> Result<(), String> {
    let mut input = vec![];
    let all = words(line)?;
    let commands: Vec<&[Option<String>]> = all.split(|w| w.is_none()).collect();
    for command in &commands {
        let mut arguments: Vec<String> = command.iter().flatten().map(|w| substitute(w, file, scratch)).collect();
        let both = arguments.iter().position(|a| a == "2>&1").map(|i| arguments.remove(i)).is_some();
        if let Some(redirection) = arguments.iter().find(|a| a.starts_with(['<', '>']) || a.starts_with("2>")) {
            return Err(format!("redirection '{redirection}' is not supported"));
        }
        let fails = arguments.first().is_some_and(|a| a == "not");
        if fails {
            arguments.remove(0);
        }
        let Some((name, arguments)) = arguments.split_first() else { return Err("empty command".into()) };
        let output = execute(&tool(name)?, arguments, input)?;
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        match output.status.code() {
            None => return Err(format!("'{name}' died of a signal\n{errors}")),
            Some(0) if fails => return Err(format!("'{name}' succeeded, but failure was expected")),
            Some(code) if code != 0 && !fails => return Err(format!("'{name}' exited with {code}\n{errors}")),
            Some(_) => {}
        }
        input = output.stdout;
        if both {
            input.extend(output.stderr);
        }
    }
    Ok(())
}

fn substitute(word: &str, file: &Path, scratch: &Path) -> String {
    let folder = file.parent().expect("a file has a folder");
    word.replace("%s", &file.to_string_lossy())
        .replace("%S", &folder.to_string_lossy())
        .replace("%t", &scratch.to_string_lossy())
}

fn tool(name: &str) -> Result<PathBuf, String> {
    let llvm = || Path::new(env!("MLIR_SYS_210_PREFIX")).join("bin").join(name);
    match name {
        "tileiras-opt" => Ok(env!("CARGO_BIN_EXE_tileiras-opt").into()),
        "tileiras-translate" => match option_env!("CARGO_BIN_EXE_tileiras-translate") {
            Some(path) => Ok(path.into()),
            None => Err("tileiras-translate is not built".into()),
        },
        "FileCheck" | "split-file" => Ok(llvm()),
        _ => Err(format!("unknown command '{name}'")),
    }
}

fn execute(program: &Path, arguments: &[String], input: Vec<u8>) -> Result<std::process::Output, String> {
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| format!("{}: {e}", program.display()))?;
    let mut stdin = child.stdin.take().expect("piped");
    // A child that does not read to the end closes the pipe; that is its right.
    let writer = thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().map_err(|e| e.to_string())?;
    writer.join().map_err(|_| "writer panicked".to_string())?;
    Ok(output)
}
