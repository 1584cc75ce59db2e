//! The scanner: a position in the text, whitespace and comments, names, numbers and punctuation.

use super::error::{ParseError, ParseErrorKind, Result};
use crate::ir::Imm;

/// A position in PTX text.
pub(crate) struct Cursor<'s> {
    text: &'s str,
    bytes: &'s [u8],
    pos: usize,
    line: u32,
}

fn is_name_start(c: u8) -> bool {
    c.is_ascii_alphabetic() || c == b'_' || c == b'$' || c == b'%'
}

fn is_name_byte(c: u8) -> bool {
    c.is_ascii_alphanumeric() || c == b'_' || c == b'$'
}

impl<'s> Cursor<'s> {
    pub fn new(text: &'s str) -> Cursor<'s> {
        Cursor { text, bytes: text.as_bytes(), pos: 0, line: 1 }
    }

    pub fn pos(&self) -> usize {
        self.pos
    }

    pub fn line(&self) -> u32 {
        self.line
    }

    /// Returns an error at byte `at`.
    pub fn error_at(&self, at: usize, kind: ParseErrorKind) -> ParseError {
        let at = at.min(self.bytes.len());
        let before = &self.bytes[..at];
        let line = 1 + before.iter().filter(|b| **b == b'\n').count() as u32;
        let start = before.iter().rposition(|b| *b == b'\n').map_or(0, |p| p + 1);
        ParseError { line, column: (at - start) as u32 + 1, kind }
    }

    /// Returns an error at the current position.
    pub fn error(&self, kind: ParseErrorKind) -> ParseError {
        self.error_at(self.pos, kind)
    }

    /// Returns the error "expected X, found Y" at the current position.
    pub fn expected<T>(&mut self, what: &str) -> Result<T> {
        self.skip_space();
        let found = self.describe();
        Err(self.error(ParseErrorKind::Expected { expected: what.into(), found }))
    }

    /// The token at the current position, for messages.
    fn describe(&self) -> String {
        let rest = &self.bytes[self.pos.min(self.bytes.len())..];
        if rest.is_empty() {
            return "the end of the file".into();
        }
        let mut end = rest.iter().position(|c| !is_name_byte(*c) && *c != b'.' && *c != b'%').unwrap_or(rest.len());
        end = end.clamp(1, 40);
        format!("'{}'", String::from_utf8_lossy(&rest[..end]))
    }

    /// Skips whitespace and comments. The end of the text ends an unterminated block comment.
    pub fn skip_space(&mut self) {
        while let Some(&c) = self.bytes.get(self.pos) {
            match c {
                b'\n' => {
                    self.line += 1;
                    self.pos += 1;
                }
                b' ' | b'\t' | b'\r' => self.pos += 1,
                b'/' if self.bytes.get(self.pos + 1) == Some(&b'/') => self.skip_line(),
                b'/' if self.bytes.get(self.pos + 1) == Some(&b'*') => {
                    self.pos += 2;
                    while self.pos < self.bytes.len() && !self.bytes[self.pos..].starts_with(b"*/") {
                        if self.bytes[self.pos] == b'\n' {
                            self.line += 1;
                        }
                        self.pos += 1;
                    }
                    self.pos = (self.pos + 2).min(self.bytes.len());
                }
                _ => break,
            }
        }
    }

    /// Skips to the end of the line, without the newline.
    pub fn skip_line(&mut self) {
        while self.pos < self.bytes.len() && self.bytes[self.pos] != b'\n' {
            self.pos += 1;
        }
    }

    /// The next significant byte, or 0 at the end.
    pub fn peek(&mut self) -> u8 {
        self.skip_space();
        self.bytes.get(self.pos).copied().unwrap_or(0)
    }

    pub fn at_end(&mut self) -> bool {
        self.skip_space();
        self.pos >= self.bytes.len()
    }

    /// Consumes `c` if it is the next significant byte.
    pub fn eat(&mut self, c: u8) -> bool {
        if self.peek() == c && self.pos < self.bytes.len() {
            self.pos += 1;
            true
        } else {
            false
        }
    }

    pub fn expect(&mut self, c: u8) -> Result<()> {
        if self.eat(c) { Ok(()) } else { self.expected(&format!("'{}'", c as char)) }
    }

    /// Parses a name: letters, digits, `_`, `$`, and `%` as the first character only.
    pub fn try_name(&mut self) -> Option<&'s str> {
        if !is_name_start(self.peek()) {
            return None;
        }
        let start = self.pos;
        self.pos += 1;
        while self.pos < self.bytes.len() && is_name_byte(self.bytes[self.pos]) {
            self.pos += 1;
        }
        Some(&self.text[start..self.pos])
    }

    /// Parses letters and digits, for version numbers.
    pub fn name_or_digits(&mut self, what: &str) -> Result<&'s str> {
        let start = self.pos;
        while self.bytes.get(self.pos).is_some_and(|c| is_name_byte(*c)) {
            self.pos += 1;
        }
        if self.pos == start { self.expected(what) } else { Ok(&self.text[start..self.pos]) }
    }

    pub fn name(&mut self, what: &str) -> Result<&'s str> {
        match self.try_name() {
            Some(name) => Ok(name),
            None => self.expected(what),
        }
    }

    /// Parses `.word` at the current position, without skipping space before it. The word may contain `::`.
    pub fn try_modifier(&mut self) -> Option<&'s str> {
        if self.bytes.get(self.pos) != Some(&b'.') {
            return None;
        }
        let start = self.pos + 1;
        let mut end = start;
        while let Some(&c) = self.bytes.get(end) {
            if is_name_byte(c) {
                end += 1;
            } else if c == b':' && self.bytes.get(end + 1) == Some(&b':') {
                end += 2;
            } else {
                break;
            }
        }
        if end == start {
            return None;
        }
        self.pos = end;
        Some(&self.text[start..end])
    }

    /// Parses a directive `.word` after optional space.
    pub fn try_directive(&mut self) -> Option<&'s str> {
        self.skip_space();
        self.try_modifier()
    }

    /// Consumes `.word` if it is the next directive.
    pub fn eat_directive(&mut self, word: &str) -> bool {
        let saved = (self.pos, {
            self.skip_space();
            self.line
        });
        if self.try_modifier() == Some(word) {
            return true;
        }
        (self.pos, self.line) = saved;
        self.skip_space();
        false
    }

    /// Returns to a position saved by [`Cursor::save`].
    pub fn restore(&mut self, saved: (usize, u32)) {
        (self.pos, self.line) = saved;
    }

    pub fn save(&self) -> (usize, u32) {
        (self.pos, self.line)
    }

    /// Parses a quoted string, without interpreting escapes.
    pub fn string(&mut self) -> Result<&'s str> {
        self.expect(b'"')?;
        let start = self.pos;
        while self.pos < self.bytes.len() && self.bytes[self.pos] != b'"' && self.bytes[self.pos] != b'\n' {
            self.pos += 1;
        }
        if self.bytes.get(self.pos) != Some(&b'"') {
            return self.expected("closing '\"'");
        }
        self.pos += 1;
        Ok(&self.text[start..self.pos - 1])
    }

    /// Whether an immediate starts here.
    pub fn at_number(&mut self) -> bool {
        let c = self.peek();
        c.is_ascii_digit()
            || (c == b'-' || c == b'+')
                && self.bytes.get(self.pos + 1).is_some_and(|d| d.is_ascii_digit() || *d == b'.')
            || c == b'.' && self.bytes.get(self.pos + 1).is_some_and(u8::is_ascii_digit)
    }

    /// Parses an immediate: an integer in base 2, 8, 10 or 16, a `0f`/`0d` bit pattern, or a decimal float (as f64).
    pub fn number(&mut self) -> Result<Imm> {
        self.skip_space();
        let start = self.pos;
        let negative = match self.bytes.get(self.pos) {
            Some(b'-') => {
                self.pos += 1;
                true
            }
            Some(b'+') => {
                self.pos += 1;
                false
            }
            _ => false,
        };
        let word = self.pos;
        let mut is_float = false;
        while let Some(&c) = self.bytes.get(self.pos) {
            let hex = self.bytes[word..].starts_with(b"0x") || self.bytes[word..].starts_with(b"0X");
            let exponent_sign = (c == b'-' || c == b'+') && is_float && matches!(self.bytes[self.pos - 1], b'e' | b'E');
            if c == b'.' && !is_float && !hex {
                is_float = true;
            } else if !c.is_ascii_alphanumeric() && !exponent_sign {
                break;
            }
            self.pos += 1;
        }
        let digits = &self.text[word..self.pos];
        let bad = |this: &Self| {
            let text = this.text[start..this.pos].to_string();
            Err(this.error_at(start, ParseErrorKind::BadNumber(text)))
        };
        let lower = digits.as_bytes();
        if lower.len() >= 2 && lower[0] == b'0' {
            let body = &digits[2..];
            let all_hex = !body.is_empty() && body.bytes().all(|c| c.is_ascii_hexdigit());
            match lower[1] {
                b'f' | b'F' if all_hex && body.len() == 8 => {
                    return match u32::from_str_radix(body, 16) {
                        Ok(v) => Ok(Imm::F32(if negative { v ^ 0x8000_0000 } else { v })),
                        Err(_) => bad(self),
                    };
                }
                b'd' | b'D' if all_hex && body.len() == 16 => {
                    return match u64::from_str_radix(body, 16) {
                        Ok(v) => Ok(Imm::F64(if negative { v ^ (1 << 63) } else { v })),
                        Err(_) => bad(self),
                    };
                }
                b'f' | b'F' | b'd' | b'D' => return bad(self),
                _ => {}
            }
        }
        if is_float {
            return match digits.parse::<f64>() {
                Ok(v) => Ok(Imm::F64(if negative { -v } else { v }.to_bits())),
                Err(_) => bad(self),
            };
        }
        let digits = digits.strip_suffix(['U', 'u']).unwrap_or(digits);
        let (body, radix) = if let Some(h) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
            (h, 16)
        } else if let Some(b) = digits.strip_prefix("0b").or_else(|| digits.strip_prefix("0B")) {
            (b, 2)
        } else if digits.len() > 1 && digits.starts_with('0') {
            (&digits[1..], 8)
        } else {
            (digits, 10)
        };
        match u64::from_str_radix(body, radix) {
            Ok(v) => Ok(Imm::Int(if negative { v.wrapping_neg() } else { v })),
            Err(_) => bad(self),
        }
    }

    /// Parses a non-negative integer that fits 32 bits.
    pub fn small(&mut self, what: &str) -> Result<u32> {
        if !self.at_number() {
            return self.expected(what);
        }
        let at = self.pos;
        match self.number()? {
            Imm::Int(v) if v <= u64::from(u32::MAX) => Ok(v as u32),
            _ => Err(self.error_at(at, ParseErrorKind::BadValue(format!("{what} out of range")))),
        }
    }

    /// Skips a balanced `{ ... }`; the opening brace must be next.
    pub fn skip_braces(&mut self) -> Result<()> {
        self.expect(b'{')?;
        let mut depth = 1usize;
        while depth > 0 {
            if self.at_end() {
                return self.expected("'}'");
            }
            match self.bytes[self.pos] {
                b'{' => depth += 1,
                b'}' => depth -= 1,
                b'"' => {
                    self.string()?;
                    continue;
                }
                _ => {}
            }
            self.pos += 1;
        }
        Ok(())
    }
}
