//! Filters for the input and output of the language server: they hide documents with too deep nesting from its
//! parser, add the documentation of ops to hover texts, and name this server.
//!
//! MLIR's server parses documents recursively, and overflows its stack if one is nested too deeply. A thread
//! therefore checks the documents on standard input. It replaces one that is too deep by an unknown op, at the
//! location in question and with the error message as its name, so that the editor shows the message there.
//!
//! The server's hover text for an op is its name and generic form. The filter inserts the op's section of
//! `docs/reference/dialects` after the name.
//!
//! The answer to `initialize` names MLIR's server; the filter replaces that name and version by this server's.
//!
//! A stream that does not start with the protocol's header, as in MLIR's own tests, is passed through unchanged.

use crate::translate::nesting;
use serde_json::{Value, json};
use std::{
    io::{self, BufRead, BufReader, Read, Write},
    thread,
};
use tile_driver::child;

const HEADER: &str = "Content-Length:";
/// The maximum length of a message. Editors send no longer ones.
const LONGEST: usize = 1 << 30;

/// The generated reference pages, by dialect.
const PAGES: [(&str, &str); 3] = [
    ("cuda_tile", include_str!("../../../docs/reference/dialects/cuda_tile.md")),
    ("nv_tileaa", include_str!("../../../docs/reference/dialects/nv_tileaa.md")),
    ("nv_tileas", include_str!("../../../docs/reference/dialects/nv_tileas.md")),
];

/// The documentation of an op: its section, without the heading.
fn documentation(name: &str) -> Option<&'static str> {
    let (dialect, _) = name.split_once('.')?;
    let (_, page) = PAGES.iter().find(|(d, _)| *d == dialect)?;
    let (_, section) = page.split_once(&format!("\n### `{name}`\n"))?;
    let end = section.find("\n## ").into_iter().chain(section.find("\n### ")).min();
    Some(section[..end.unwrap_or(section.len())].trim())
}

/// Adds the documentation of an op to a message of the server about it, and this server's name and version to its
/// first answer.
fn documented(body: Vec<u8>) -> Vec<u8> {
    let Ok(mut message) = serde_json::from_slice::<Value>(&body) else { return body };
    if let Some(server) = message.pointer_mut("/result/serverInfo") {
        *server = json!({"name": "tileiras-lsp-server", "version": tile_version::IDENTITY.version});
        return message.to_string().into_bytes();
    }
    let Some(Value::String(text)) = message.pointer_mut("/result/contents/value") else { return body };
    let Some((name, rest)) = text.strip_prefix('"').and_then(|t| t.split_once("\"\n")) else { return body };
    let Some(section) = documentation(name) else { return body };
    *text = format!("\"{name}\"\n\n{section}\n{rest}");
    message.to_string().into_bytes()
}

/// A filter between the server and standard output. Active until dropped.
pub struct Output(Option<thread::JoinHandle<()>>);

impl Output {
    /// Filters the standard output of this process from now on.
    ///
    /// # Errors
    ///
    /// A pipe or thread could not be created.
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
        // The thread ends when it has forwarded everything.
        if child::end_stdout().is_ok()
            && let Some(thread) = self.0.take()
        {
            let _ = thread.join();
        }
    }
}

/// Filters the standard input of this process from now on.
///
/// # Errors
///
/// A pipe or thread could not be created.
pub fn install() -> io::Result<()> {
    let (reader, mut writer) = io::pipe()?;
    let input = child::replace_stdin(reader)?;
    thread::Builder::new().spawn(move || {
        // The filter ends when either side is closed.
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

/// Replaces documents that are nested too deeply.
fn checked(body: Vec<u8>) -> Vec<u8> {
    // A body that is invalid or nested too deeply itself is not part of the protocol. The server reports it.
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
    fn the_server_has_its_own_name() {
        let answer =
            r#"{"id":1,"result":{"capabilities":{},"serverInfo":{"name":"mlir-lsp-server","version":"0.0.0"}}}"#;
        let told: Value = serde_json::from_slice(&documented(answer.into())).unwrap();
        assert_eq!(told["result"]["serverInfo"]["name"], "tileiras-lsp-server");
        assert_eq!(told["result"]["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
        assert!(told["result"]["capabilities"].is_object());
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
    fn too_deep_documents_are_replaced() {
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
