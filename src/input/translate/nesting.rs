//! Limits on the nesting depth of a text.
//!
//! MLIR's parser, printer, verifiers and passes recurse into nested constructs, so a text of a few kilobytes could
//! overflow any stack. The checks here scan the characters of the text before the parser runs. All tools that read
//! text have the same limits, and the limit for regions is that of the bytecode reader.
//!
//! Three things count as nesting: open brackets; the use of an alias, which has the depth of its definition; and each
//! operator in an affine expression, because it becomes a level of the expression tree.

use crate::dialect::rt::*;
use rustc_hash::FxHashMap;

/// Maximum number of open brackets, including the ones in the definitions of aliases.
pub const MAX_BRACKETS: usize = 512;
/// Maximum nesting depth of regions below an entry.
pub const MAX_REGIONS: usize = tile_bytecode::MAX_REGIONS as usize;
/// Number of regions around an entry's body: two for the modules and one for the entry.
const AROUND: usize = 3;

/// Stack size in bytes for recursion within the limits: several times what parsing, passes and printing need in a
/// build without optimization. The system commits memory only for the part that is used.
const STACK: usize = 128 << 20;

/// Calls `work` with enough stack for any program within the limits, on any thread.
pub fn with_stack<T>(work: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(STACK / 2, STACK, work)
}

/// The position at which a text nests too deeply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} nested more than {limit} deep")]
pub struct TooDeep {
    what: &'static str,
    limit: usize,
    /// From 1.
    pub line: u32,
    /// From 1, in bytes.
    pub column: u32,
}

/// Checks a text before it is parsed.
///
/// # Errors
///
/// Returns the first position that is nested too deeply.
pub fn check(text: &str) -> Result<(), TooDeep> {
    Scan { text: text.as_bytes(), ..Scan::default() }.run()
}

/// Returns the first op, in program order, that is nested in more than [`MAX_REGIONS`] regions of an entry. The
/// program must be within the limit on brackets.
pub fn deep_region<'c>(root: OpRef<'c>) -> Option<OpRef<'c>> {
    fn look<'c>(op: OpRef<'c>, depth: usize) -> Option<OpRef<'c>> {
        if depth > MAX_REGIONS + AROUND {
            return Some(op);
        }
        (0..region_count(op)).find_map(|i| {
            let mut block = entry_block(region(op, i));
            while let Some(b) = block {
                if let Some(deep) = ops_of(b).into_iter().find_map(|inner| look(inner, depth + 1)) {
                    return Some(deep);
                }
                block = next_block(b);
            }
            None
        })
    }
    look(root, 0)
}

/// The message for a region that is nested too deeply.
pub fn region_message() -> String {
    format!("regions nested more than {MAX_REGIONS} deep")
}

#[derive(Default)]
struct Scan<'t> {
    text: &'t [u8],
    at: usize,
    /// The stack of open brackets.
    open: Vec<u8>,
    /// The nesting depth of each alias's definition.
    aliases: FxHashMap<&'t [u8], usize>,
    /// The alias that is being defined, its depth so far, and whether its value has begun.
    defined: Option<(&'t [u8], usize, bool)>,
    /// The last word.
    word: &'t [u8],
    /// The number of brackets that were open before the current affine map or set, and its number of operators so
    /// far.
    affine: Option<(usize, usize)>,
}

impl<'t> Scan<'t> {
    fn run(mut self) -> Result<(), TooDeep> {
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b'"' => self.string(),
                b'/' if self.next() == Some(b'/') => self.skip_while(|b| b != b'\n'),
                b'\n' => {
                    if self.open.is_empty() && self.defined.is_some_and(|(_, _, begun)| begun) {
                        self.end_definition();
                    }
                    self.at += 1;
                }
                b'{' | b'(' | b'[' | b'<' => self.opened(byte)?,
                b'}' | b')' | b']' => self.closed(byte),
                b'-' if self.next() == Some(b'>') => self.at += 2,
                b'>' => {
                    if self.open.last() == Some(&b'<') {
                        self.pop();
                    }
                    self.at += 1;
                }
                b'+' | b'-' | b'*' => {
                    self.operator()?;
                    self.at += 1;
                }
                b'#' | b'!' => self.alias()?,
                b if is_word(b) => {
                    self.word = self.take_word();
                    if matches!(self.word, b"mod" | b"floordiv" | b"ceildiv" | b"and") {
                        self.operator()?;
                    }
                }
                _ => self.at += 1,
            }
            if !byte.is_ascii_whitespace()
                && let Some((_, _, begun)) = &mut self.defined
            {
                *begun = true;
            }
        }
        Ok(())
    }

    fn next(&self) -> Option<u8> {
        self.text.get(self.at + 1).copied()
    }

    fn skip_while(&mut self, wanted: impl Fn(u8) -> bool) {
        while self.text.get(self.at).is_some_and(|b| wanted(*b)) {
            self.at += 1;
        }
    }

    fn take_word(&mut self) -> &'t [u8] {
        let from = self.at;
        self.skip_while(is_word);
        &self.text[from..self.at]
    }

    /// Skips to the end of a string or of its line, because a string does not span lines.
    fn string(&mut self) {
        self.at += 1;
        while let Some(&b) = self.text.get(self.at) {
            match b {
                b'\n' => return,
                b'\\' => self.at += 2,
                b'"' => {
                    self.at += 1;
                    return;
                }
                _ => self.at += 1,
            }
        }
    }

    fn too_deep<T>(&self, what: &'static str, limit: usize) -> Result<T, TooDeep> {
        let before = &self.text[..self.at];
        let line = before.iter().filter(|b| **b == b'\n').count() + 1;
        let column = before.iter().rev().take_while(|b| **b != b'\n').count() + 1;
        let number = |n| u32::try_from(n).unwrap_or(u32::MAX);
        Err(TooDeep { what, limit, line: number(line), column: number(column) })
    }

    fn opened(&mut self, bracket: u8) -> Result<(), TooDeep> {
        if bracket == b'<' && self.affine.is_none() && matches!(self.word, b"affine_map" | b"affine_set") {
            self.affine = Some((self.open.len(), 0));
        }
        self.open.push(bracket);
        self.word = b"";
        self.deep(self.open.len())?;
        self.at += 1;
        Ok(())
    }

    /// Records that the current position has the given depth.
    fn deep(&mut self, depth: usize) -> Result<(), TooDeep> {
        if depth > MAX_BRACKETS {
            return self.too_deep("brackets are", MAX_BRACKETS);
        }
        if let Some((_, deepest, _)) = &mut self.defined {
            *deepest = depth.max(*deepest);
        }
        Ok(())
    }

    fn closed(&mut self, bracket: u8) {
        let opening = match bracket {
            b'}' => b'{',
            b')' => b'(',
            _ => b'[',
        };
        // A `<` may be an operator in a syntax that this scanner does not know.
        while self.open.last() == Some(&b'<') {
            self.pop();
        }
        if self.open.last() == Some(&opening) {
            self.pop();
        }
        self.at += 1;
    }

    fn pop(&mut self) {
        self.open.pop();
        self.affine = self.affine.filter(|(before, _)| self.open.len() > *before);
    }

    fn operator(&mut self) -> Result<(), TooDeep> {
        match &mut self.affine {
            Some((_, operators)) if *operators == MAX_BRACKETS => {
                self.too_deep("operators of an affine expression are", MAX_BRACKETS)
            }
            Some((_, operators)) => {
                *operators += 1;
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Handles the use of an alias, or the beginning of its definition.
    fn alias(&mut self) -> Result<(), TooDeep> {
        let from = self.at;
        self.at += 1;
        self.take_word();
        let name = &self.text[from..self.at];
        let rest = self.text[self.at..].iter().find(|b| !matches!(b, b' ' | b'\t'));
        if self.open.is_empty() && rest == Some(&b'=') {
            self.end_definition();
            self.skip_while(|b| b != b'=');
            self.at += 1;
            self.defined = Some((name, 0, false));
            return Ok(());
        }
        match self.aliases.get(name) {
            Some(depth) => self.deep(self.open.len() + depth),
            None => Ok(()),
        }
    }

    fn end_definition(&mut self) {
        if let Some((name, depth, _)) = self.defined.take() {
            self.aliases.insert(name, depth + 1);
        }
    }
}

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(text: &str) -> Option<(u32, u32)> {
        check(text).err().map(|e| (e.line, e.column))
    }

    #[test]
    fn brackets() {
        let nest = |open: &str, close: &str, n: usize| format!("{}\n{}", open.repeat(n), close.repeat(n));
        for (open, close) in [("{", "}"), ("(", ")"), ("[", "]"), ("tuple<", ">"), ("a<b -> ", ">"), ("if %c {\n", "}")]
        {
            assert_eq!(place(&nest(open, close, MAX_BRACKETS)), None, "{open}");
            assert!(place(&nest(open, close, MAX_BRACKETS + 1)).is_some(), "{open}");
            // Brackets in sequence do not nest.
            assert_eq!(place(&format!("{open}{close}").repeat(5000)), None, "{open}");
        }
        assert_eq!(place(&("module {\n".repeat(MAX_BRACKETS) + " x {")), Some((MAX_BRACKETS as u32 + 1, 4)));
    }

    #[test]
    fn what_is_no_bracket() {
        for text in ["\"{[(\" \"\\\"{\" ", "// {{{\n", "(d0) -> (d0) ", "affine_set<(d0) : (d0 >= 0)> ", "\"{\n"] {
            assert_eq!(place(&text.repeat(2 * MAX_BRACKETS)), None, "{text}");
        }
    }

    #[test]
    fn aliases_and_expressions() {
        let chain = |n: usize| (1..n).fold("#a0 = [1]\n".to_owned(), |t, i| format!("{t}#a{i} = [#a{}]\n", i - 1));
        assert_eq!(place(&chain(200)), None);
        assert!(place(&chain(600)).is_some());
        // A definition ends with its line, so the brackets after it do not count.
        let deep =
            "#a = 1\n".to_owned() + &"(".repeat(400) + &")".repeat(400) + "\n#b = [#a]\n" + &"(".repeat(300) + "#b";
        assert_eq!(place(&deep), None);
        let map = |n: usize| format!("affine_map<(d0) -> ({}d0)>", "-".repeat(n));
        assert_eq!((place(&map(MAX_BRACKETS)), place(&map(MAX_BRACKETS + 1)).is_some()), (None, true));
        assert_eq!(place(&map(MAX_BRACKETS).repeat(3)), None);
    }
}
