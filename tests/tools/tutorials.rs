//! Follows the tutorials of `docs/tutorials`, and other listed pages, in empty folders: writes the files that they
//! show, runs their commands in order, and compares the output with the page.
//!
//! A fence `cpp file=NAME` (in any language) is a file. In a fence `console`, a line after `$ ` is a bash command
//! that must succeed, and the lines up to the next command are its output, including standard error. `...` matches
//! any text within a line and, alone on a line, any number of lines. `$CHECKOUT` is the folder of the checkout.
//!
//! Commands that take minutes are in fences `console full`, which only run with `TILEIRAS_TEST_FULL=1`.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use tile_test_support::{Failed, Trial, root};

/// Other pages that are followed.
const PAGES: [&str; 1] = ["docs/tuning.md"];

/// A step of a tutorial, with its line number.
#[derive(Debug, PartialEq)]
enum Step {
    File { name: String, text: String },
    Run { line: usize, command: String, output: Vec<String>, is_long: bool },
}

pub fn trials() -> Vec<Trial> {
    let folder = root().join("docs/tutorials");
    let files = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path());
    let mut files: Vec<PathBuf> = files.filter(|p| p.extension().is_some_and(|x| x == "md")).collect();
    files.extend(PAGES.iter().map(|page| root().join(page)));
    files.sort();
    let walk = |path: PathBuf| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Trial::test(format!("tutorials/{name}"), move || walk(&path).map_err(Failed::from))
    };
    let mut trials: Vec<Trial> = files.into_iter().filter(|p| !p.ends_with("README.md")).map(walk).collect();
    trials.push(Trial::test("tutorials/what_is_shown_is_compared", || {
        compares();
        Ok(())
    }));
    trials
}

fn steps(text: &str) -> Vec<Step> {
    let mut steps = vec![];
    let mut lines = text.lines().enumerate().map(|(n, line)| (n + 1, line));
    while let Some((_, line)) = lines.next() {
        let Some(fence) = line.strip_prefix("```") else { continue };
        let block: Vec<(usize, &str)> = lines.by_ref().take_while(|(_, line)| *line != "```").collect();
        if let Some((_, name)) = fence.split_once(" file=") {
            let text = block.iter().map(|(_, line)| format!("{line}\n")).collect();
            steps.push(Step::File { name: name.into(), text });
        } else if matches!(fence, "console" | "console full") {
            let is_long = fence == "console full";
            for (line, text) in block {
                match (text.strip_prefix("$ "), steps.last_mut()) {
                    (Some(command), _) => {
                        steps.push(Step::Run { line, command: command.into(), output: vec![], is_long });
                    }
                    (None, Some(Step::Run { output, .. })) => output.push(text.into()),
                    (None, _) => panic!("line {line}: output of no command"),
                }
            }
        }
    }
    steps
}

fn walk(path: &Path) -> Result<(), String> {
    let name = path.file_stem().unwrap_or_default();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tutorials").join(name);
    let io = |e: std::io::Error| e.to_string();
    _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).map_err(io)?;
    std::fs::copy(root().join("examples/transpose_f32.tileirbc"), folder.join("transpose_f32.tileirbc")).map_err(io)?;
    let tools = Path::new(env!("CARGO_BIN_EXE_tileiras")).parent().ok_or("the tools are in no folder")?;
    let llvm = std::env::var_os("MLIR_SYS_210_PREFIX").map_or_else(|| "/usr/lib/llvm-21".into(), PathBuf::from);
    let others = std::env::var_os("PATH").unwrap_or_default();
    let assembler = root().join(".tools/cuda/bin");
    let places = [tools.to_owned(), llvm.join("bin")].into_iter().chain(std::env::split_paths(&others));
    let places = places.chain([assembler]);
    let full = tile_test_support::full();
    let path_variable = std::env::join_paths(places).map_err(|e| e.to_string())?;
    let text = std::fs::read_to_string(path).map_err(io)?;
    let steps = steps(&text);
    if !steps.iter().any(|s| matches!(s, Step::Run { .. })) {
        return Err("it has no commands".into());
    }
    for step in steps {
        match step {
            Step::File { name, text } => std::fs::write(folder.join(name), text).map_err(io)?,
            Step::Run { is_long: true, .. } if !full => {}
            Step::Run { line, command, output, .. } => {
                let place = format!("{}:{line}: {command}", path.display());
                let run = Command::new("bash")
                    .args(["-c", &format!("exec 2>&1\n{command}")])
                    .current_dir(&folder)
                    .env("PATH", &path_variable)
                    .env("PYTHONPATH", root().join(".tools/python"))
                    .env("CHECKOUT", root())
                    .output()
                    .map_err(|e| format!("{place}: {e}"))?;
                let printed = String::from_utf8_lossy(&run.stdout);
                let printed: Vec<&str> = printed.lines().collect();
                if !run.status.success() {
                    return Err(format!("{place}\n{}\n{}", run.status, printed.join("\n")));
                }
                let shown: Vec<&str> = output.iter().map(String::as_str).collect();
                if !fits(&shown, &printed) {
                    let mut message = format!("{place}\nprints\n");
                    printed.iter().for_each(|line| _ = writeln!(message, "  {line}"));
                    message += "but shown is\n";
                    shown.iter().for_each(|line| _ = writeln!(message, "  {line}"));
                    return Err(message);
                }
            }
        }
    }
    Ok(())
}

/// Whether printed lines match the shown ones.
fn fits(shown: &[&str], printed: &[&str]) -> bool {
    match shown {
        [] => printed.is_empty(),
        ["...", rest @ ..] => (0..=printed.len()).any(|n| fits(rest, &printed[n..])),
        [line, rest @ ..] => printed.split_first().is_some_and(|(first, others)| {
            let parts: Vec<&str> = line.split("...").collect();
            line_fits(&parts, first) && fits(rest, others)
        }),
    }
}

/// Whether a line consists of these parts with any text between them.
fn line_fits(parts: &[&str], line: &str) -> bool {
    let [first, middle @ .., last] = parts else { return parts == [line] };
    let Some(mut rest) = line.strip_prefix(first) else { return false };
    for part in middle {
        let Some((_, behind)) = rest.split_once(part) else { return false };
        rest = behind;
    }
    rest.ends_with(last)
}

fn compares() {
    for (shown, printed, expected) in [
        ("a\nb", "a\nb", true),
        ("a", "a\nb", false),
        ("a\n...", "a\nb\nc", true),
        ("...\nc", "a\nb\nc", true),
        ("...", "", true),
        ("", "a", false),
        ("error: ...x... (y)", "error: 1 x 2 (y)", true),
        ("error: ...x", "error: x y", false),
        ("a...a", "a", false),
    ] {
        let lines = |text: &'static str| text.lines().collect::<Vec<_>>();
        assert_eq!(fits(&lines(shown), &lines(printed)), expected, "{shown:?} {printed:?}");
    }
    let text = "x\n```cpp file=a.cpp\nint a;\n```\n```console\n$ run\nout\n$ more\n```\n```\n$ no\n```\n```console full\n$ long\n```\n";
    let run = |line, command: &str, output: &[&str], is_long| Step::Run {
        line,
        command: command.into(),
        output: output.iter().map(|s| s.to_string()).collect(),
        is_long,
    };
    let file = Step::File { name: "a.cpp".into(), text: "int a;\n".into() };
    assert_eq!(
        steps(text),
        [file, run(6, "run", &["out"], false), run(8, "more", &[], false), run(14, "long", &[], true)]
    );
}
