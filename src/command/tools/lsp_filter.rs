//! What goes into the language server and out of it: keeps documents that nest too deeply from its parser, and adds
//! the documentation of operations to what it shows of them.
//!
//! MLIR's server parses what its client sends, on one stack, and ends when that does. What comes on standard input
//! therefore goes through a thread that looks at the documents in it: one that is too deep is replaced by an operation
//! that nobody has, at the place in question and with the message as its name, so that the editor shows it there.
//!
//! What the server answers about an operation is its name and its generic form; behind the name, its section of
//! `docs/reference/dialects` is put in.
//!
//! A stream that does not begin with the protocol's header, as MLIR's own tests have it, is passed on as it is.

use crate::translate::nesting;
use serde_json::Value;
use std::{
    io::{self, BufRead, BufReader, Read, Write},
    thread,
};
use tile_driver::child;

const HEADER: &str = "Content-Length:";
/// Longer messages are nothing that an editor sends.
const LONGEST: usize = 1 << 30;

/// The generated pages, by dialect.
const PAGES: [(&str, &str); 3] = [
    ("cuda_tile", include_str!("../../../docs/reference/dialects/cuda_tile.md")),
    ("nv_tileaa", include_str!("../../../docs/reference/dialects/nv_tileaa.md")),
    ("nv_tileas", include_str!("../../../docs/reference/dialects/nv_tileas.md")),
];

/// What is documented of an operation: its section, without the heading.
fn documentation(name: &str) -> Option<&'static str> {
    let (dialect, _) = name.split_once('.')?;
    let (_, page) = PAGES.iter().find(|(d, _)| *d == dialect)?;
    let (_, section) = page.split_once(&format!("\n### `{name}`\n"))?;
    let end = section.find("\n## ").into_iter().chain(section.find("\n### ")).min();
    Some(section[..end.unwrap_or(section.len())].trim())
}

/// The server's message, with the documentation of the operation that it is about.
fn documented(body: Vec<u8>) -> Vec<u8> {
    let Ok(mut message) = serde_json::from_slice::<Value>(&body) else { return body };
    let Some(Value::String(text)) = message.pointer_mut("/result/contents/value") else { return body };
    let Some((name, rest)) = text.strip_prefix('"').and_then(|t| t.split_once("\"\n")) else { return body };
    let Some(section) = documentation(name) else { return body };
    *text = format!("\"{name}\"\n\n{section}\n{rest}");
    message.to_string().into_bytes()
}

/// Stands between the server and standard output until it is dropped.
pub struct Output(Option<thread::JoinHandle<()>>);

impl Output {
    /// From now on, what this process writes is documented.
    ///
    /// # Errors
    ///
    /// What the system says when it refuses a pipe or a thread.
    pub fn install() -> io::Result<Output> {
        let (reader, writer) = io::pipe()?;
        let mut output = child::replace_stdout(writer)?;
        let thread = thread::Builder::new().spawn(move || {
            let _ = filter(BufReader::new(reader), &mut output, documented);
        })?;
        Ok(Output(Some(thread)))
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        // The thread ends when it has passed on everything.
        if child::end_stdout().is_ok()
            && let Some(thread) = self.0.take()
        {
            let _ = thread.join();
        }
    }
}

/// From now on, this process reads what the filter lets through.
///
/// # Errors
///
/// What the system says when it refuses a pipe or a thread.
pub fn install() -> io::Result<()> {
    let (reader, mut writer) = io::pipe()?;
    let input = child::replace_stdin(reader)?;
    thread::Builder::new().spawn(move || {
        // The end of either side is the end of both.
        let _ = filter(BufReader::new(input), &mut writer, checked);
    })?;
    Ok(())
}

fn filter(mut input: impl BufRead, output: &mut impl Write, change: impl Fn(Vec<u8>) -> Vec<u8>) -> io::Result<()> {
    if !input.fill_buf()?.starts_with(&HEADER.as_bytes()[..1]) {
        return io::copy(&mut input, output).map(|_| ());
    }
    loop {
        let mut length = None;
        loop {
            let mut line = String::new();
            if input.by_ref().take(1 << 16).read_line(&mut line)? == 0 {
                return Ok(());
            }
            match line.trim() {
                "" => break,
                line => length = line.strip_prefix(HEADER).and_then(|n| n.trim().parse().ok()).or(length),
            }
        }
        let Some(length) = length.filter(|n| *n <= LONGEST) else { continue };
        let mut body = vec![];
        if input.by_ref().take(length as u64).read_to_end(&mut body)? < length {
            return Ok(());
        }
        let body = change(body);
        write!(output, "{HEADER} {}\r\n\r\n", body.len())?;
        output.write_all(&body)?;
        output.flush()?;
    }
}

/// The message, with other documents in the place of those that are too deep.
fn checked(body: Vec<u8>) -> Vec<u8> {
    // What does not parse, or nests too deeply itself, is none of the protocol's, and the server says so.
    let Ok(mut message) = serde_json::from_slice::<Value>(&body) else { return b"?".to_vec() };
    let Some(params) = message.get_mut("params") else { return body };
    let mut is_changed = false;
    let mut check = |document: &mut Value| {
        if let Some(Value::String(text)) = document.get_mut("text")
            && let Err(deep) = nesting::check(text)
        {
            let place = "\n".repeat(deep.line as usize - 1) + &" ".repeat(deep.column as usize - 1);
            *text = format!("{place}{}\n", deep.to_string().replace(' ', "_"));
            is_changed = true;
        }
    };
    if let Some(document) = params.get_mut("textDocument") {
        check(document);
    }
    params.get_mut("contentChanges").and_then(Value::as_array_mut).into_iter().flatten().for_each(check);
    if is_changed { message.to_string().into_bytes() } else { body }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(input: &str) -> String {
        let mut output = vec![];
        filter(input.as_bytes(), &mut output, checked).unwrap();
        String::from_utf8(output).unwrap()
    }

    fn framed(body: &str) -> String {
        format!("{HEADER} {}\r\n\r\n{body}", body.len())
    }

    #[test]
    fn every_operation_is_documented() {
        for (dialect, page) in PAGES {
            let names: Vec<&str> = page
                .lines()
                .filter_map(|l| l.strip_prefix("### `")?.strip_suffix('`'))
                .filter(|n| n.starts_with(dialect))
                .collect();
            assert!(names.len() > 10, "{dialect}: {names:?}");
            for name in names {
                let section = documentation(name).unwrap();
                assert!(section.len() > 20 && !section.contains("\n#"), "{name}: {section}");
            }
        }
        assert_eq!(documentation("arith.addf"), None);
        assert_eq!(documentation("cuda_tile.nothing"), None);
    }

    #[test]
    fn documents_that_are_too_deep_are_replaced() {
        let deep = format!("\\n {}", "{".repeat(600));
        let open = format!(r#"{{"method":"textDocument/didOpen","params":{{"textDocument":{{"text":"{deep}"}}}}}}"#);
        let change = format!(r#"{{"params":{{"contentChanges":[{{"text":"{{}}"}},{{"text":"{deep}"}}]}}}}"#);
        let place = format!("\"text\":\"\\n{}", " ".repeat(513));
        for body in [&open, &change] {
            let text = through(&framed(body));
            assert!(text.contains(&format!("{place}brackets_are_nested_more_than_512_deep\\n")), "{text}");
            assert!(!text.contains("{{"), "{text}");
        }
        let harmless = r#"{"method":"initialize","params":{"text":"{"},"id":1}"#;
        let two = framed(harmless) + &framed(harmless);
        assert_eq!(through(&two), two);
        assert_eq!(through(&framed(&"[".repeat(100_000))), framed("?"));
        assert_eq!(through("// -----\n{"), "// -----\n{");
    }
}
