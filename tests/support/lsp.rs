//! A language server, and the messages between it and a client.

use std::{
    io::{BufRead, BufReader, Read, Write},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
};

/// A language server process and its streams.
pub struct Server {
    pub child: Child,
    output: BufReader<ChildStdout>,
    next: u32,
}

impl Server {
    pub fn start(program: &Path) -> Self {
        let mut child =
            Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Server { child, output, next: 1 }
    }

    fn send(&mut self, body: &str) {
        let input = self.child.stdin.as_mut().unwrap();
        write!(input, "Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        input.flush().unwrap();
    }

    pub fn notify(&mut self, method: &str, params: &str) {
        self.send(&format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#));
    }

    /// Sends a request and waits for its response.
    pub fn call(&mut self, method: &str, params: &str) -> String {
        let id = self.next;
        self.next += 1;
        self.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#));
        self.receive(&format!("\"id\":{id}"))
    }

    /// Returns the next message that contains this text.
    pub fn receive(&mut self, text: &str) -> String {
        loop {
            let mut length = 0;
            loop {
                let mut line = String::new();
                assert!(self.output.read_line(&mut line).unwrap() > 0, "the server has gone before it sent {text}");
                if line.trim().is_empty() {
                    break;
                }
                if let Some(n) = line.strip_prefix("Content-Length:") {
                    length = n.trim().parse().unwrap();
                }
            }
            let mut body = vec![0; length];
            self.output.read_exact(&mut body).unwrap();
            let body = String::from_utf8(body).unwrap();
            if body.contains(text) {
                return body;
            }
        }
    }
}
