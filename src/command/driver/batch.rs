//! `tileiras batch MANIFEST -j N`: many compilations, a process each.
//!
//! The manifest is a JSON object: `{"args": [...], "items": [{"input": ..., "output": ..., "args": [...]}, ...]}`. The
//! arguments at the top are those of every item; an item's own come after them. Relative names are relative to the
//! manifest's directory.
//!
//! Each item that ends gives one line of JSON on standard output:
//! `{"index": 3, "input": ..., "output": ..., "status": 0, "seconds": 0.07, "messages": ""}`. The status is the
//! command's exit status. A bad item stops nothing but itself; an input that is no regular file, and an output that is
//! a pipe, are bad.
//!
//! Compilations have a directory in common, [`COMMON`], in which they leave each other notes: the digests of tools,
//! which take time to compute, and that a remote cache is of no use.

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

/// Names to each compilation of a batch a directory that is theirs alone.
pub const COMMON: &str = "TILEIRAS_BATCH";

/// One compilation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    pub input: String,
    pub output: String,
    pub args: Vec<String>,
}

/// What a batch is called with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    pub manifest: PathBuf,
    /// Compilations at a time.
    pub jobs: usize,
}

/// Reads `MANIFEST [-j N]`.
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
                _ => return Err(format!("-j takes a number from 1 to 4096, not '{value}'")),
            };
        } else if text.starts_with('-') && text != "-" {
            return Err(format!("unknown option '{text}'"));
        } else if manifest.replace(PathBuf::from(argument)).is_some() {
            return Err("more than one manifest".to_owned());
        }
    }
    Ok(Call { manifest: manifest.ok_or("no manifest")?, jobs })
}

/// Reads a manifest.
pub fn parse(text: &str) -> Result<Vec<Item>, String> {
    let value: Value = serde_json::from_str(text).map_err(|e| e.to_string())?;
    let object = value.as_object().ok_or("the manifest is no object ('tileiras batch --help' shows one)")?;
    only(object, &["args", "items"], "the manifest")?;
    let common = strings(object.get("args"), "args")?;
    let items = object.get("items").and_then(Value::as_array).ok_or("'items' is missing or no list")?;
    items
        .iter()
        .enumerate()
        .map(|(i, item)| {
            let at = |text: String| format!("items[{i}]: {text}");
            let object = item.as_object().ok_or_else(|| at("no object".into()))?;
            only(object, &["input", "output", "args"], "an item").map_err(at)?;
            let text = |key: &str| match object.get(key).and_then(Value::as_str) {
                Some(s) if !s.is_empty() && !s.contains('\0') => Ok(s.to_owned()),
                _ => Err(at(format!("'{key}' is missing or no text"))),
            };
            let own = strings(object.get("args"), "args").map_err(at)?;
            Ok(Item { input: text("input")?, output: text("output")?, args: [common.clone(), own].concat() })
        })
        .collect()
}

fn only(object: &serde_json::Map<String, Value>, known: &[&str], whose: &str) -> Result<(), String> {
    match object.keys().find(|k| !known.contains(&k.as_str())) {
        Some(key) => Err(format!("{whose} has no '{key}'; there are {}", known.join(", "))),
        None => Ok(()),
    }
}

fn strings(value: Option<&Value>, name: &str) -> Result<Vec<String>, String> {
    let wrong = || format!("'{name}' is no list of texts");
    match value {
        None => Ok(Vec::new()),
        Some(v) => {
            // A zero ends the argument of a program.
            let text = |s: &Value| s.as_str().filter(|s| !s.contains('\0')).map(str::to_owned).ok_or_else(wrong);
            v.as_array().ok_or_else(wrong)?.iter().map(text).collect()
        }
    }
}

/// Runs all items with `program`, whose processes may leave notes in the directory `common`. Returns how many failed.
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
                    // A receiver that is gone has seen standard output fail: stop.
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
    let (status, messages) = match refusal(&input, &output) {
        Some(refused) => (refused.code.map_or(70, Code::exit_status).into(), render::plain(&refused)),
        None => {
            let mut command = Command::new(program);
            command.args(&item.args).arg("-o").arg(&output).arg("--").arg(&input);
            command.envs(common.map(|directory| (COMMON, directory)));
            match child::run(command, &[], None) {
                // Ended by a signal: the command answers for its core, so this one was killed itself.
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

/// Why an item is not tried: whoever opens a pipe waits for the other end, and nobody is there for an item of many.
fn refusal(input: &Path, output: &Path) -> Option<Diagnostic> {
    let unreadable = |why| {
        let text = format!("unable to read input file '{}': {why}, and a batch would wait for it", input.display());
        Diagnostic::error(Code::UnreadableInput, text)
    };
    let unopenable = |why| {
        let text = format!("cannot open output file '{}': {why}, and a batch would wait for it", output.display());
        Diagnostic::error(Code::UnopenableOutput, text)
    };
    files::waits_to_read(input).map(unreadable).or_else(|| files::waits_to_write(output).map(unopenable))
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
            ("", "no manifest"),
            ("a b", "more than one manifest"),
            ("a -j0", "-j takes a number from 1 to 4096, not '0'"),
            ("a -j", "-j takes a number from 1 to 4096, not ''"),
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
            ("[]", "the manifest is no object ('tileiras batch --help' shows one)"),
            ("{}", "'items' is missing or no list"),
            (r#"{"items": [], "jobs": 1}"#, "the manifest has no 'jobs'; there are args, items"),
            (r#"{"items": [1]}"#, "items[0]: no object"),
            (r#"{"items": [{"input": "a"}]}"#, "items[0]: 'output' is missing or no text"),
            (r#"{"items": [{"input": "a", "output": ""}]}"#, "items[0]: 'output' is missing or no text"),
            (r#"{"items": [{"input": "a", "output": "b", "args": "x"}]}"#, "items[0]: 'args' is no list of texts"),
            (r#"{"items": [], "args": ["a\u0000b"]}"#, "'args' is no list of texts"),
            (r#"{"items": [{"input": "a\u0000", "output": "b"}]}"#, "items[0]: 'input' is missing or no text"),
            (r#"{"items": [{"in": "a"}]}"#, "items[0]: an item has no 'in'; there are input, output, args"),
        ] {
            assert_eq!(parse(text).unwrap_err(), error, "{text}");
        }
        assert!(parse("{").unwrap_err().contains("EOF"));
    }
}
