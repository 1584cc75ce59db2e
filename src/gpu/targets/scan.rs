//! Finds the parts of a PTX text: header lines, entries with their launch directives, instructions.
//!
//! This is not a PTX parser. It knows just enough of the grammar to find statements reliably in anything that LLVM or
//! a person writes. Comments and strings are skipped. Braces are either blocks or operand vectors. A predicate or a
//! label may precede an instruction, and several statements may share a line (in inline assembly). `.loc` and `.file`
//! end at the end of the line; everything else ends at `;`.
//!
//! Example: in
//! ```text
//! @%p1 bra L; mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1, %f2}, {%r1}; // mma.bogus
//! ```
//! the mnemonics are `bra` and `mma.sync...`: the first brace follows an operand position, so it opens a vector, and
//! the comment is not an instruction.

use std::ops::Range;

use crate::version::PtxVersion;

/// The contents of a PTX text. All ranges are byte ranges of the text.
#[derive(Debug, Clone)]
pub struct Module {
    pub version: Value<PtxVersion>,
    /// The first word of `.target`, e.g. `sm_90a`; options such as `debug` follow it in the text.
    pub target: Value<String>,
    pub address_size: Value<u32>,
    pub entries: Vec<Entry>,
    /// Every instruction of every function, in order.
    pub instructions: Vec<Instruction>,
    /// Whether a `.loc` has the attribute `inlined_at`.
    pub has_inlined_lines: bool,
}

/// The value of a header directive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value<T> {
    pub value: T,
    /// The range of the value alone, `8.8` in `.version 8.8`.
    pub range: Range<usize>,
}

/// A kernel.
#[derive(Debug, Clone)]
pub struct Entry {
    pub name: String,
    pub line: usize,
    pub parameters: usize,
    /// The launch directives between the parameter list and the body, in order: name with its dot, arguments.
    pub directives: Vec<(String, Vec<u32>)>,
    /// The position of the body's `{`; `None` for a declaration, which ends with `;`.
    pub body: Option<usize>,
}

/// An instruction in the body of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instruction {
    /// The dotted name, e.g. `ld.global.v4.b32`.
    pub mnemonic: String,
    /// Line number, from 1.
    pub line: usize,
}

/// An error in PTX text, with its line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {kind}")]
pub struct ScanError {
    /// Line number, from 1.
    pub line: usize,
    pub kind: ScanErrorKind,
}

/// The kinds of errors in PTX text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScanErrorKind {
    #[error("the comment is not closed")]
    OpenComment,
    #[error("the string is not closed")]
    OpenString,
    #[error("'{0}' is never closed")]
    OpenBracket(char),
    #[error("'{0}' has no matching bracket")]
    StrayBracket(char),
    #[error("the statement is not finished")]
    UnfinishedStatement,
    #[error("no '{0}' line before the first declaration")]
    MissingHeader(&'static str),
    #[error("a second '{0}' line")]
    DuplicateHeader(&'static str),
    #[error("'{0}' has no valid value")]
    BadHeaderValue(&'static str),
    #[error("the entry has no name")]
    NamelessEntry,
    #[error("entry '{0}' is defined twice")]
    DuplicateEntry(String),
    #[error("the arguments of '{0}' are not numbers")]
    BadDirectiveArguments(String),
}

/// Reads a whole PTX text.
pub fn scan(text: &str) -> Result<Module, ScanError> {
    let mut tokens = Tokens::new(text);
    let mut header = Header::default();
    let mut entries: Vec<Entry> = Vec::new();
    let mut instructions = Vec::new();

    while let Some(token) = tokens.peek()? {
        match token.kind {
            TokenKind::Word if token.text == ".version" => header.version(&mut tokens)?,
            TokenKind::Word if token.text == ".target" => header.target(&mut tokens)?,
            TokenKind::Word if token.text == ".address_size" => header.address_size(&mut tokens)?,
            TokenKind::Word if matches!(token.text, ".file" | ".loc") => tokens.skip_line(),
            TokenKind::Punct(';') => {
                tokens.next()?;
            }
            _ => {
                header.complete(token.line)?;
                if let Some(entry) = declaration(&mut tokens, &mut instructions)? {
                    if entry.body.is_some() && entries.iter().any(|e| e.name == entry.name && e.body.is_some()) {
                        return Err(ScanError { line: entry.line, kind: ScanErrorKind::DuplicateEntry(entry.name) });
                    }
                    entries.push(entry);
                }
            }
        }
    }
    let (version, target, address_size) = header.complete(tokens.line)?;
    let has_inlined_lines = tokens.inlined_lines;
    Ok(Module { version, target, address_size, entries, instructions, has_inlined_lines })
}

#[derive(Default)]
struct Header {
    version: Option<Value<PtxVersion>>,
    target: Option<Value<String>>,
    address_size: Option<Value<u32>>,
}

impl Header {
    fn version(&mut self, tokens: &mut Tokens) -> Result<(), ScanError> {
        Self::once(tokens, ".version", &mut self.version, |t| t.parse().ok())
    }

    fn target(&mut self, tokens: &mut Tokens) -> Result<(), ScanError> {
        Self::once(tokens, ".target", &mut self.target, |t| t.starts_with("sm_").then(|| t.to_owned()))?;
        // Options follow the architecture after commas.
        while tokens.peek()?.is_some_and(|t| t.kind == TokenKind::Punct(',')) {
            tokens.next()?;
            tokens.next()?;
        }
        Ok(())
    }

    fn address_size(&mut self, tokens: &mut Tokens) -> Result<(), ScanError> {
        Self::once(tokens, ".address_size", &mut self.address_size, |t| t.parse().ok())
    }

    fn once<T>(
        tokens: &mut Tokens,
        name: &'static str,
        slot: &mut Option<Value<T>>,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<(), ScanError> {
        let line = tokens.next()?.map_or(tokens.line, |t| t.line);
        let error = |kind| Err(ScanError { line, kind });
        if slot.is_some() {
            return error(ScanErrorKind::DuplicateHeader(name));
        }
        let Some(token) = tokens.next()? else { return error(ScanErrorKind::BadHeaderValue(name)) };
        let Some(value) = parse(token.text) else { return error(ScanErrorKind::BadHeaderValue(name)) };
        *slot = Some(Value { value, range: token.range });
        Ok(())
    }

    #[allow(clippy::type_complexity, reason = "the three header values, each with its place")]
    fn complete(&self, line: usize) -> Result<(Value<PtxVersion>, Value<String>, Value<u32>), ScanError> {
        let missing = |name| ScanError { line, kind: ScanErrorKind::MissingHeader(name) };
        Ok((
            self.version.clone().ok_or_else(|| missing(".version"))?,
            self.target.clone().ok_or_else(|| missing(".target"))?,
            self.address_size.clone().ok_or_else(|| missing(".address_size"))?,
        ))
    }
}

/// Reads one declaration or definition at module scope. Returns the entry if it is one.
fn declaration(tokens: &mut Tokens, instructions: &mut Vec<Instruction>) -> Result<Option<Entry>, ScanError> {
    let mut first_line = None;
    let mut has_body = false;
    let mut entry: Option<Entry> = None;
    let mut expect_name = false;
    while let Some(token) = tokens.next()? {
        first_line.get_or_insert(token.line);
        if expect_name {
            if token.kind != TokenKind::Word {
                return Err(ScanError { line: token.line, kind: ScanErrorKind::NamelessEntry });
            }
            entry = Some(Entry {
                name: token.text.to_owned(),
                line: token.line,
                parameters: 0,
                directives: Vec::new(),
                body: None,
            });
            expect_name = false;
            continue;
        }
        match token.kind {
            TokenKind::Punct(';') => return Ok(entry),
            TokenKind::Punct('(') => {
                let parameters = skip_parentheses(tokens, token.line)?;
                if let Some(e) = &mut entry {
                    e.parameters = parameters;
                }
            }
            TokenKind::Punct('{') if has_body => {
                if let Some(e) = &mut entry {
                    e.body = Some(token.range.start);
                }
                body(tokens, token.line, instructions)?;
                return Ok(entry);
            }
            // The initializer of a variable.
            TokenKind::Punct('{') => skip_braces(tokens, token.line)?,
            TokenKind::Punct(c @ (')' | '}')) => {
                return Err(ScanError { line: token.line, kind: ScanErrorKind::StrayBracket(c) });
            }
            TokenKind::Word if token.text == ".entry" => {
                has_body = true;
                expect_name = true;
            }
            TokenKind::Word if token.text == ".func" => has_body = true,
            TokenKind::Word if token.text == ".section" => {
                // Debug sections hold data directives, not instructions.
                while let Some(t) = tokens.next()? {
                    if t.kind == TokenKind::Punct('{') {
                        skip_braces(tokens, t.line)?;
                        return Ok(None);
                    }
                }
            }
            TokenKind::Word if entry.is_some() && token.text.starts_with('.') => {
                let arguments = directive_arguments(tokens, token.text)?;
                if let Some(e) = &mut entry {
                    e.directives.push((token.text.to_owned(), arguments));
                }
            }
            _ => {}
        }
    }
    Err(ScanError { line: first_line.unwrap_or(tokens.line), kind: ScanErrorKind::UnfinishedStatement })
}

/// Reads the comma-separated numbers after a launch directive. A string argument (of `.pragma`) is skipped.
fn directive_arguments(tokens: &mut Tokens, name: &str) -> Result<Vec<u32>, ScanError> {
    let mut arguments = Vec::new();
    loop {
        match tokens.peek()? {
            Some(t) if t.kind == TokenKind::Str => {
                tokens.next()?;
                if tokens.peek()?.is_some_and(|t| t.kind == TokenKind::Punct(';')) {
                    tokens.next()?;
                }
                return Ok(arguments);
            }
            Some(t) if t.kind == TokenKind::Word && !t.text.starts_with('.') => {
                let number = parse_number(t.text).ok_or_else(|| ScanError {
                    line: t.line,
                    kind: ScanErrorKind::BadDirectiveArguments(name.to_owned()),
                })?;
                arguments.push(number);
                tokens.next()?;
                if !tokens.peek()?.is_some_and(|t| t.kind == TokenKind::Punct(',')) {
                    return Ok(arguments);
                }
                tokens.next()?;
            }
            _ => return Ok(arguments),
        }
    }
}

fn parse_number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Skips to the matching `)` and returns the number of `.param` words.
fn skip_parentheses(tokens: &mut Tokens, line: usize) -> Result<usize, ScanError> {
    let mut depth = 1;
    let mut parameters = 0;
    while let Some(token) = tokens.next()? {
        match token.kind {
            TokenKind::Punct('(') => depth += 1,
            TokenKind::Punct(')') => {
                depth -= 1;
                if depth == 0 {
                    return Ok(parameters);
                }
            }
            TokenKind::Word if token.text == ".param" => parameters += 1,
            _ => {}
        }
    }
    Err(ScanError { line, kind: ScanErrorKind::OpenBracket('(') })
}

fn skip_braces(tokens: &mut Tokens, line: usize) -> Result<(), ScanError> {
    let mut depth = 1;
    while let Some(token) = tokens.next()? {
        match token.kind {
            TokenKind::Punct('{') => depth += 1,
            TokenKind::Punct('}') => {
                depth -= 1;
                if depth == 0 {
                    return Ok(());
                }
            }
            _ => {}
        }
    }
    Err(ScanError { line, kind: ScanErrorKind::OpenBracket('{') })
}

/// Reads the statements of a function, from after its `{` to its `}`.
fn body(tokens: &mut Tokens, line: usize, instructions: &mut Vec<Instruction>) -> Result<(), ScanError> {
    let mut open = vec![line];
    while let Some(token) = tokens.next()? {
        match token.kind {
            TokenKind::Punct('{') => open.push(token.line),
            TokenKind::Punct('}') => {
                open.pop();
                if open.is_empty() {
                    return Ok(());
                }
            }
            TokenKind::Punct(';') => {}
            TokenKind::Punct('@') => {
                // A guard: `@p` or `@!p`. The next word is the predicate, and the instruction follows.
                if tokens.peek()?.is_some_and(|t| t.kind == TokenKind::Punct('!')) {
                    tokens.next()?;
                }
                tokens.next()?;
            }
            TokenKind::Word if matches!(token.text, ".loc" | ".file") => tokens.skip_line(),
            TokenKind::Word => {
                if tokens.peek()?.is_some_and(|t| t.kind == TokenKind::Punct(':')) {
                    tokens.next()?;
                    continue;
                }
                if !token.text.starts_with('.') {
                    instructions.push(Instruction { mnemonic: token.text.to_owned(), line: token.line });
                }
                rest_of_statement(tokens, token.line)?;
            }
            TokenKind::Punct(_) | TokenKind::Str => rest_of_statement(tokens, token.line)?,
        }
    }
    Err(ScanError { line: open.pop().unwrap_or(line), kind: ScanErrorKind::OpenBracket('{') })
}

/// Skips the operands up to and including `;`. Braces here are vectors.
fn rest_of_statement(tokens: &mut Tokens, line: usize) -> Result<(), ScanError> {
    let mut depth = 0usize;
    while let Some(token) = tokens.next()? {
        match token.kind {
            TokenKind::Punct(';') if depth == 0 => return Ok(()),
            TokenKind::Punct('{') => depth += 1,
            TokenKind::Punct('}') if depth == 0 => {
                return Err(ScanError { line, kind: ScanErrorKind::UnfinishedStatement });
            }
            TokenKind::Punct('}') => depth -= 1,
            _ => {}
        }
    }
    Err(ScanError { line, kind: ScanErrorKind::UnfinishedStatement })
}

/// The mnemonics of a run of statements outside a function, for tests of the tables.
#[cfg(test)]
pub(crate) fn mnemonics_of_body(text: &str) -> Vec<String> {
    let mut instructions = Vec::new();
    let closed = format!("{text}}}");
    let mut tokens = Tokens::new(&closed);
    assert_eq!(body(&mut tokens, 1, &mut instructions), Ok(()), "{text}");
    instructions.into_iter().map(|i| i.mnemonic).collect()
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum TokenKind {
    /// Letters, digits and `_ $ % .`, with `::` inside.
    Word,
    Str,
    Punct(char),
}

#[derive(Clone, Debug)]
struct Token<'a> {
    kind: TokenKind,
    text: &'a str,
    range: Range<usize>,
    line: usize,
}

struct Tokens<'a> {
    text: &'a str,
    at: usize,
    line: usize,
    peeked: Option<Token<'a>>,
    /// Whether a skipped line has the attribute `inlined_at`.
    inlined_lines: bool,
}

impl<'a> Tokens<'a> {
    fn new(text: &'a str) -> Self {
        Tokens { text, at: 0, line: 1, peeked: None, inlined_lines: false }
    }

    fn peek(&mut self) -> Result<Option<Token<'a>>, ScanError> {
        if self.peeked.is_none() {
            self.peeked = self.read()?;
        }
        Ok(self.peeked.clone())
    }

    fn next(&mut self) -> Result<Option<Token<'a>>, ScanError> {
        match self.peeked.take() {
            Some(token) => Ok(Some(token)),
            None => self.read(),
        }
    }

    /// Skips to the end of the line of the next token, or of the last one.
    fn skip_line(&mut self) {
        if let Some(token) = self.peeked.take() {
            self.at = token.range.end;
            self.line = token.line;
        }
        let rest = &self.text[self.at..];
        let end = rest.find('\n').unwrap_or(rest.len());
        self.inlined_lines |= rest[..end].contains(", inlined_at ");
        self.at += end;
    }

    fn read(&mut self) -> Result<Option<Token<'a>>, ScanError> {
        self.skip_blank()?;
        let rest = &self.text[self.at..];
        let Some(first) = rest.chars().next() else { return Ok(None) };
        let (kind, length) = if is_word(first) {
            (TokenKind::Word, word_length(rest))
        } else if first == '"' {
            let Some(end) = string_end(rest) else {
                return Err(ScanError { line: self.line, kind: ScanErrorKind::OpenString });
            };
            (TokenKind::Str, end)
        } else {
            (TokenKind::Punct(first), first.len_utf8())
        };
        let token = Token { kind, text: &rest[..length], range: self.at..self.at + length, line: self.line };
        self.line += token.text.matches('\n').count();
        self.at += length;
        Ok(Some(token))
    }

    fn skip_blank(&mut self) -> Result<(), ScanError> {
        loop {
            let rest = &self.text[self.at..];
            let blank = rest.len() - rest.trim_start().len();
            self.line += rest[..blank].matches('\n').count();
            self.at += blank;
            let rest = &rest[blank..];
            if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                let Some(end) = rest.find("*/") else {
                    return Err(ScanError { line: self.line, kind: ScanErrorKind::OpenComment });
                };
                self.line += rest[..end].matches('\n').count();
                self.at += end + 2;
            } else {
                return Ok(());
            }
        }
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%' | '.') || !c.is_ascii()
}

/// The length of the word at the start. `::` belongs to the word if a word character follows; a label's `:` does not.
fn word_length(text: &str) -> usize {
    let mut length = 0;
    loop {
        length += text[length..].find(|c| !is_word(c)).unwrap_or(text.len() - length);
        let rest = &text[length..];
        if rest.starts_with("::") && rest[2..].starts_with(is_word) {
            length += 2;
        } else {
            return length;
        }
    }
}

/// The length of the string literal at the start, including both quotes.
fn string_end(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = ".version 8.3\n.target sm_90a, debug\n.address_size 64\n";

    fn mnemonics(body: &str) -> Vec<String> {
        mnemonics_of_body(body)
    }

    #[test]
    fn instructions_among_everything_else() {
        assert_eq!(mnemonics("ret;"), ["ret"]);
        assert_eq!(mnemonics("@%p1 bra $L__BB0_2;\n@!p exit;"), ["bra", "exit"]);
        assert_eq!(mnemonics("$L__BB0_2: // comment\n\tadd.s32 %r1, %r2, -3;"), ["add.s32"]);
        assert_eq!(mnemonics("{ .reg .pred p; L: @p bra L; }"), ["bra"]);
        assert_eq!(
            mnemonics("ld.v4.b32 {%r1, %r2, %r3, %r4}, [%rd1+16]; mov.b64 %rd1, {%r1, %r2};"),
            ["ld.v4.b32", "mov.b64"]
        );
        assert_eq!(mnemonics("/* add; */ .loc 1 2 3, function_name $L, inlined_at 1 2 3\nret;"), ["ret"]);
        assert_eq!(mnemonics("{ // callseq 0, 0\n.param .b64 p0; call.uni (r), f, (p0); }"), ["call.uni"]);
        assert_eq!(mnemonics(".pragma \"nounroll; {\";\nret;"), ["ret"]);
        assert_eq!(mnemonics("mov.f32 %f1, 0f3F800000; .branchtargets a, b; brx.idx %r1, t;"), ["mov.f32", "brx.idx"]);
        assert_eq!(
            mnemonics("fence.proxy.tensormap::generic.acquire.gpu [%rd1], 128;"),
            ["fence.proxy.tensormap::generic.acquire.gpu"]
        );
    }

    #[test]
    fn entries_and_directives() {
        let text = format!(
            "//\n{HEADER}\n.global .align 4 .b8 t[4] = {{1, 2, 3, 4}};\n.extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n\
             .visible .entry k(\n .param .u64 .ptr .global .align 1 k_param_0,\n .param .align 64 .b8 m[128]\n)\n.reqntid 128, 1, 1\n.maxnreg 0x80\n\
             .explicitcluster\n{{\nret;\n}}\n.visible .func f() .noreturn {{ trap; }}\n.entry e\n{{ }}\n\
             .section .debug_abbrev {{\n.b8 1\n.b8 17 // ret;\n}}\n"
        );
        let module = scan(&text).unwrap();
        assert_eq!(module.version.value.to_string(), "8.3");
        assert_eq!(&text[module.target.range.clone()], "sm_90a");
        assert_eq!(module.address_size.value, 64);
        let k = &module.entries[0];
        assert_eq!((k.name.as_str(), k.parameters), ("k", 2));
        assert_eq!(
            k.directives,
            [(".reqntid".into(), vec![128, 1, 1]), (".maxnreg".into(), vec![128]), (".explicitcluster".into(), vec![])]
        );
        assert!(text[k.body.unwrap()..].starts_with("{\nret"));
        assert_eq!(module.entries[1].name, "e");
        assert_eq!(module.instructions.iter().map(|i| i.mnemonic.as_str()).collect::<Vec<_>>(), ["ret", "trap"]);
    }

    #[test]
    fn malformed_texts_have_typed_errors_with_lines() {
        use ScanErrorKind::*;
        let cases: &[(&str, usize, ScanErrorKind)] = &[
            ("", 1, MissingHeader(".version")),
            (".version 8.3\n.target sm_90\n", 3, MissingHeader(".address_size")),
            (".version 8\n", 1, BadHeaderValue(".version")),
            (".version", 1, BadHeaderValue(".version")),
            (".version 8.3\n.version 8.3\n", 2, DuplicateHeader(".version")),
            (".version 8.3\n.target compute_90\n", 2, BadHeaderValue(".target")),
            (".version 8.3\n.visible .entry k() { }", 2, MissingHeader(".target")),
        ];
        for (text, line, kind) in cases {
            assert_eq!(scan(text).unwrap_err(), ScanError { line: *line, kind: kind.clone() }, "{text:?}");
        }
        let cases: &[(&str, usize, ScanErrorKind)] = &[
            (".entry k() {", 4, OpenBracket('{')),
            (".entry k() { { ret; }", 4, OpenBracket('{')),
            (".entry k(", 4, OpenBracket('(')),
            (".entry () { }", 4, NamelessEntry),
            (".entry k() { ret }", 4, UnfinishedStatement),
            (".entry k() {\n add.s32 %r1", 5, UnfinishedStatement),
            (".global .b8 x", 4, UnfinishedStatement),
            ("}", 4, StrayBracket('}')),
            (".entry k() { }\n.entry k() { }", 5, DuplicateEntry("k".into())),
            (".entry k() .reqntid x { }", 4, BadDirectiveArguments(".reqntid".into())),
            ("\n/* a\n", 5, OpenComment),
            (".file 1 \"a\"\n.entry k() { .pragma \"a", 5, OpenString),
        ];
        for (text, line, kind) in cases {
            let text = format!("{HEADER}{text}");
            assert_eq!(scan(&text).unwrap_err(), ScanError { line: *line, kind: kind.clone() }, "{text:?}");
        }
    }
}
