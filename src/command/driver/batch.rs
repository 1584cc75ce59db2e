//! `tileiras batch MANIFEST -j N`: many compilations, each in its own process.
//!
//! The manifest is a JSON object: `{"args": [...], "items": [{"input": ..., "output": ..., "args": [...]}, ...]}`.
//! The arguments at the top apply to every item and precede the item's own. Relative names are relative to the
//! manifest's directory. Folders of outputs are created.
//!
//! Each finished item prints one line of JSON on standard output: `{"index": 3, "input": ..., "output": ...,
//! "status": 0, "seconds": 0.07, "messages": ""}`. The status is the exit status of the compiler. A failed item does
//! not affect others. An input that is not a regular file, or an output that is a pipe, fails its item.
//!
//! Compilations share a directory, [`COMMON`], for findings that later ones reuse: digests of tools, which take time
//! to compute, and failures of a remote cache.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Instant;

use serde_json::{Value, json};
use tile_diag::{Code, Diagnostic, render};

use crate::progress::Progress;
use crate::{child, files, io_text};

/// Environment variable that gives each compilation of a batch the batch's shared directory.
pub const COMMON: &str = "TILEIRAS_BATCH";

/// One compilation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    pub input: String,
    pub output: String,
    pub args: Vec<String>,
}

/// The parsed arguments of `batch`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    pub manifest: PathBuf,
    /// The number of concurrent compilations.
    pub jobs: usize,
}

/// Parses `MANIFEST [-j N]`.
pub fn call(arguments: &[OsString]) -> Result<Call, String> {
    let mut manifest = None;
    let mut jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let text = argument.to_string_lossy();
        if let Some(glued) = text.strip_prefix("-j") {
            let value = match glued.strip_prefix('=').unwrap_or(glued) {
                "" => rest.next().map(|v| v.to_string_lossy().into_owned()).unwrap_or_default(),
                value => value.to_owned(),
            };
            jobs = match value.parse() {
                Ok(n @ 1..=4096) => n,
                _ => return Err(format!("-j must be a number from 1 to 4096, not '{value}'")),
            };
        } else if text.starts_with('-') && text != "-" {
            return Err(format!("unknown option '{text}'"));
        } else if manifest.replace(PathBuf::from(argument)).is_some() {
            return Err("more than one manifest".to_owned());
        }
    }
    Ok(Call { manifest: manifest.ok_or("missing manifest")?, jobs })
}

/// Parses a manifest.
pub fn parse(text: &str) -> Result<Vec<Item>, String> {
    let value: Value = serde_json::from_str(text).map_err(|e| e.to_string())?;
    let object = value.as_object().ok_or("the manifest is not an object ('tileiras batch --help' shows one)")?;
    check_keys(object, &["args", "items"], "the manifest")?;
    let common = strings(object.get("args"), "args")?;
    let items = object.get("items").and_then(Value::as_array).ok_or("'items' is missing or not a list")?;
    items
        .iter()
        .enumerate()
        .map(|(i, item)| {
            let at = |text: String| format!("items[{i}]: {text}");
            let object = item.as_object().ok_or_else(|| at("not an object".into()))?;
            check_keys(object, &["input", "output", "args"], "an item").map_err(at)?;
            let text = |key: &str| match object.get(key).and_then(Value::as_str) {
                Some(s) if !s.is_empty() && !s.contains('\0') => Ok(s.to_owned()),
                _ => Err(at(format!("'{key}' is missing or not a string"))),
            };
            let own = strings(object.get("args"), "args").map_err(at)?;
            Ok(Item { input: text("input")?, output: text("output")?, args: [common.clone(), own].concat() })
        })
        .collect()
}

fn check_keys(object: &serde_json::Map<String, Value>, known: &[&str], whose: &str) -> Result<(), String> {
    match object.keys().find(|k| !known.contains(&k.as_str())) {
        Some(key) => Err(format!("{whose} cannot have the key '{key}'; the keys are {}", known.join(", "))),
        None => Ok(()),
    }
}

fn strings(value: Option<&Value>, name: &str) -> Result<Vec<String>, String> {
    let wrong = || format!("'{name}' is not a list of strings");
    match value {
        None => Ok(Vec::new()),
        Some(v) => {
            // A program argument cannot contain a zero byte.
            let text = |s: &Value| s.as_str().filter(|s| !s.contains('\0')).map(str::to_owned).ok_or_else(wrong);
            v.as_array().ok_or_else(wrong)?.iter().map(text).collect()
        }
    }
}

/// Runs `program` for every item. Its processes share the directory `common`. Returns the number of failed items.
pub fn run(
    program: &Path,
    (base, common): (&Path, Option<&Path>),
    items: &[Item],
    jobs: usize,
    stdout: &mut dyn Write,
) -> io::Result<usize> {
    let next = AtomicUsize::new(0);
    let (results, inbox) = mpsc::channel();
    let mut failed = 0;
    std::thread::scope(|threads| {
        for _ in 0..jobs.min(items.len()) {
            let (results, next) = (results.clone(), &next);
            threads.spawn(move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(index) else { break };
                    // The receiver is dropped when standard output fails: stop.
                    if results.send(compile(program, (base, common), index, item)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(results);
        let progress = Progress::start("batch", items.len() as u64, true);
        let written: io::Result<()> = inbox.iter().try_for_each(|(status, line)| {
            failed += usize::from(status != 0);
            progress.aside(|| writeln!(stdout, "{line}").and_then(|()| stdout.flush()))?;
            progress.advance(&if failed > 0 { format!("{failed} failed") } else { String::new() });
            Ok(())
        });
        drop(inbox);
        written
    })?;
    Ok(failed)
}

fn compile(program: &Path, (base, common): (&Path, Option<&Path>), index: usize, item: &Item) -> (i32, Value) {
    let started = Instant::now();
    let (input, output) = (base.join(&item.input), base.join(&item.output));
    // The compiler reports an output in a folder that cannot be created.
    let _ = output.parent().map(std::fs::create_dir_all);
    let (status, messages) = match path_error(&input, &output) {
        Some(refused) => (refused.code.map_or(70, Code::exit_status).into(), render::plain(&refused)),
        None => {
            let mut command = Command::new(program);
            command.args(&item.args).arg("-o").arg(&output).arg("--").arg(&input);
            command.envs(common.map(|directory| (COMMON, directory)));
            match child::run(command, &[], None) {
                // The compiler reports signals of its core, so a signal here hit the compiler itself.
                Ok(done) => (done.status.code().unwrap_or(70), String::from_utf8_lossy(&done.output).into_owned()),
                Err(e) => (70, format!("'{}' cannot be started: {}", program.display(), io_text(&e))),
            }
        }
    };
    let seconds = (started.elapsed().as_secs_f64() * 1e3).round() / 1e3;
    let line = json!({
        "index": index, "input": item.input, "output": item.output, "status": status, "seconds": seconds,
        "messages": messages,
    });
    (status, line)
}

/// The reason to reject an item. Opening a pipe would block until its other end is opened, perhaps forever.
fn path_error(input: &Path, output: &Path) -> Option<Diagnostic> {
    let unreadable = |why| {
        let text =
            format!("unable to read input file '{}': {why}, and opening it could block the batch", input.display());
        Diagnostic::error(Code::UnreadableInput, text)
    };
    let unopenable = |why| {
        let text =
            format!("cannot open output file '{}': {why}, and opening it could block the batch", output.display());
        Diagnostic::error(Code::UnopenableOutput, text)
    };
    files::read_may_block(input).map(unreadable).or_else(|| files::write_may_block(output).map(unopenable))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls() {
        let of = |line: &str| call(&line.split_whitespace().map(OsString::from).collect::<Vec<_>>());
        for line in ["m.json -j 3", "-j3 m.json", "-j=3 m.json"] {
            assert_eq!(of(line), Ok(Call { manifest: "m.json".into(), jobs: 3 }), "{line}");
        }
        assert!(of("m.json").unwrap().jobs >= 1);
        for (line, text) in [
            ("", "missing manifest"),
            ("a b", "more than one manifest"),
            ("a -j0", "-j must be a number from 1 to 4096, not '0'"),
            ("a -j", "-j must be a number from 1 to 4096, not ''"),
            ("a -x", "unknown option '-x'"),
        ] {
            assert_eq!(of(line).unwrap_err(), text, "{line}");
        }
    }

    #[test]
    fn manifests() {
        let items = parse(r#"{"args": ["-O3"], "items": [{"input": "a", "output": "b", "args": ["-O0"]}]}"#).unwrap();
        assert_eq!(items, [Item { input: "a".into(), output: "b".into(), args: vec!["-O3".into(), "-O0".into()] }]);
        assert_eq!(parse(r#"{"items": []}"#), Ok(vec![]));
        for (text, error) in [
            ("[]", "the manifest is not an object ('tileiras batch --help' shows one)"),
            ("{}", "'items' is missing or not a list"),
            (r#"{"items": [], "jobs": 1}"#, "the manifest cannot have the key 'jobs'; the keys are args, items"),
            (r#"{"items": [1]}"#, "items[0]: not an object"),
            (r#"{"items": [{"input": "a"}]}"#, "items[0]: 'output' is missing or not a string"),
            (r#"{"items": [{"input": "a", "output": ""}]}"#, "items[0]: 'output' is missing or not a string"),
            (r#"{"items": [{"input": "a", "output": "b", "args": "x"}]}"#, "items[0]: 'args' is not a list of strings"),
            (r#"{"items": [], "args": ["a\u0000b"]}"#, "'args' is not a list of strings"),
            (r#"{"items": [{"input": "a\u0000", "output": "b"}]}"#, "items[0]: 'input' is missing or not a string"),
            (
                r#"{"items": [{"in": "a"}]}"#,
                "items[0]: an item cannot have the key 'in'; the keys are input, output, args",
            ),
        ] {
            assert_eq!(parse(text).unwrap_err(), error, "{text}");
        }
        assert!(parse("{").unwrap_err().contains("EOF"));
    }
}
