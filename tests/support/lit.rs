//! Runs the `RUN:` lines of a file.
//!
//! The lines have the syntax of LLVM's lit without a shell: commands joined by `|`, quoted arguments, and `\` at the
//! end of a line that continues. `%s` is the file, `%S` its folder, `%t` a separate path for scratch files. `not`
//! before a command expects it to fail with an exit status rather than a signal. `2>&1` after it adds its standard
//! error to the input of the next command.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
};

/// Returns the program for a name in a `RUN:` line, or an error about the name. It may change the arguments.
pub type Tool<'a> = &'a dyn Fn(&str, &mut Vec<String>) -> Result<Command, String>;

/// In a `RUN:` line, keeps aliases of attributes and types in the output.
const ALIASES: &str = "--with-aliases";

/// Asks `tileiras-opt` to spell attributes out, so that the lines of a file do not depend on the numbers of aliases. A
/// reproducer would lose its pipeline.
pub fn spell_out(arguments: &mut Vec<String>) {
    let keeps = |a: &String| a == ALIASES || a.contains("reproducer");
    if !arguments.iter().any(keeps) {
        arguments.push("--mlir-print-local-scope".to_owned());
    }
    arguments.retain(|a| a != ALIASES);
}

/// Runs the lines of a file. A file without lines fails.
pub fn run_file(file: &Path, tmp: &Path, tool: Tool<'_>) -> Result<(), String> {
    let text = fs::read_to_string(file).map_err(|e| e.to_string())?;
    let lines = run_lines(&text)?;
    if lines.is_empty() {
        return Err("no RUN: line".into());
    }
    let scratch = scratch(file, tmp);
    for line in lines {
        pipeline(&line, file, &scratch, tool).map_err(|e| format!("RUN: {line}\n{e}"))?;
    }
    Ok(())
}

/// Updates the FileCheck lines of a file for each `RUN:` line that ends in `FileCheck %s --check-prefix=PREFIX`. They
/// contain the whole output of the preceding commands: the first line and lines after an empty one as `PREFIX`, the
/// others as `PREFIX-NEXT`. A pattern `NAME{{.*}}` is kept: it matches options of upstream passes.
#[allow(dead_code, reason = "tests of plugins include this file, and renew nothing")]
pub fn renew(file: &Path, tmp: &Path, tool: Tool<'_>) -> Result<(), String> {
    let text = fs::read_to_string(file).map_err(|e| e.to_string())?;
    let scratch = scratch(file, tmp);
    let mut listings = vec![];
    for line in run_lines(&text)? {
        let (commands, prefix) = line
            .rsplit_once(" | FileCheck %s --check-prefix=")
            .filter(|(_, prefix)| !prefix.contains(' '))
            .ok_or_else(|| format!("RUN: {line}\nit does not end in FileCheck with a prefix"))?;
        let printed = pipeline(commands, file, &scratch, tool).map_err(|e| format!("RUN: {line}\n{e}"))?;
        let printed = String::from_utf8(printed).map_err(|e| e.to_string())?;
        let lines: Vec<&str> = printed.lines().map(str::trim_start).collect();
        let kind = |i: usize| if i == 0 || lines[i - 1].is_empty() { "" } else { "-NEXT" };
        let lines = lines.iter().enumerate().filter(|(_, l)| !l.is_empty());
        let lines = lines.map(|(i, l)| (kind(i), l)).map(|(kind, l)| match l.split_once('{') {
            Some((name, _)) if text.contains(&format!(" {name}{{{{.*}}}}")) => {
                let comma = if l.ends_with(',') { "," } else { "" };
                Ok(format!("// {prefix}{kind}: {name}{{{{.*}}}}{comma}\n"))
            }
            _ if l.contains("{{") || l.contains("[[") => {
                Err(format!("RUN: {line}\nit prints what FileCheck takes for a pattern: {l}"))
            }
            _ => Ok(format!("// {prefix}{kind}: {l}\n")),
        });
        listings.push((prefix.to_string(), lines.collect::<Result<String, String>>()?));
    }
    let is_check = |l: &str| listings.iter().any(|(p, _)| [":", "-NEXT:"].iter().any(|k| has_prefix(l, p, k)));
    let kept: String = text.lines().filter(|l| !is_check(l)).map(|l| format!("{l}\n")).collect();
    let listings: Vec<String> = listings.into_iter().map(|(_, lines)| lines).collect();
    fs::write(file, format!("{}\n\n{}", kept.trim_end(), listings.join("\n"))).map_err(|e| e.to_string())
}

#[allow(dead_code, reason = "as above")]
fn has_prefix(line: &str, prefix: &str, kind: &str) -> bool {
    line.strip_prefix("// ").and_then(|l| l.strip_prefix(prefix)).is_some_and(|l| l.starts_with(kind))
}

fn scratch(file: &Path, tmp: &Path) -> PathBuf {
    let name: String = file.to_string_lossy().chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
    tmp.join(name)
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

/// Splits at spaces outside quotes and at `|`, which becomes `None`.
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

/// Runs the commands of a pipeline. Returns the output of the last one.
fn pipeline(line: &str, file: &Path, scratch: &Path, tool: Tool<'_>) -> Result<Vec<u8>, String> {
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
        if arguments.is_empty() {
            return Err("empty command".into());
        }
        let name = arguments.remove(0);
        let command = tool(&name, &mut arguments)?;
        let output = execute(command, &arguments, input)?;
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
    Ok(input)
}

fn substitute(word: &str, file: &Path, scratch: &Path) -> String {
    let folder = file.parent().expect("a file has a folder");
    word.replace("%s", &file.to_string_lossy())
        .replace("%S", &folder.to_string_lossy())
        .replace("%t", &scratch.to_string_lossy())
}

fn execute(mut command: Command, arguments: &[String], input: Vec<u8>) -> Result<std::process::Output, String> {
    let mut child = command
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| format!("{command:?}: {e}"))?;
    let mut stdin = child.stdin.take().expect("piped");
    // A child that does not read all of its input closes the pipe, which is not an error.
    let writer = thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().map_err(|e| e.to_string())?;
    writer.join().map_err(|_| "writer panicked".to_string())?;
    Ok(output)
}
