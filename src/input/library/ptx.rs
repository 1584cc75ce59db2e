//! Links the code of libraries, which is PTX text, into generated PTX.
//!
//! The functions and variables of a library are inserted after the header, and the declarations of its functions are
//! removed. Names must be unique: PTX has one scope for all of them.

use crate::code::CodeKind;
use std::collections::{BTreeMap, BTreeSet};

/// Functions of the driver, which no library defines.
pub const SYSTEM: [&str; 4] = ["vprintf", "__assertfail", "malloc", "free"];

/// The reasons for which code cannot be linked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    #[error("the code of the library '{library}' is {kind}; only PTX, LLVM bitcode and LLVM IR can be linked")]
    Kind { library: String, kind: &'static str },
    #[error("the code of the library '{library}' is not well-formed PTX: {reason}")]
    Malformed { library: String, reason: &'static str },
    #[error("no library defines the function '{symbol}', which the catalogue of '{library}' names")]
    Undefined { library: String, symbol: String },
    #[error("the code of the library '{library}' is for {code}, which does not run on {target}")]
    Target { library: String, code: String, target: String },
    #[error("both {first} and the library '{library}' define '{symbol}'")]
    Clash { first: String, library: String, symbol: String },
    #[error(
        "the function '{symbol}' of the library '{library}' has the parameters ({own}), but its fragments are passed as ({needed})"
    )]
    Parameters { library: String, symbol: String, own: String, needed: String },
}

/// Code of a library with its name.
#[derive(Clone, Copy, Debug)]
pub struct Code<'a> {
    pub library: &'a str,
    pub bytes: &'a [u8],
}

/// A statement at module scope: its text and its first words.
struct Statement<'t> {
    text: &'t str,
    /// The start of the text in the module.
    start: usize,
}

/// Splits a module into statements: directives of a line, declarations up to `;`, definitions up to `}`.
fn statements(text: &str) -> Result<Vec<Statement<'_>>, &'static str> {
    let bytes = text.as_bytes();
    let mut list = vec![];
    let mut at = 0;
    while at < bytes.len() {
        at = skip_blank(bytes, at)?;
        if at >= bytes.len() {
            break;
        }
        let start = at;
        let line = text[start..].lines().next().unwrap_or_default();
        let of_a_line = [".version", ".target", ".address_size", ".file", ".loc"];
        if of_a_line.iter().any(|word| line.starts_with(word)) {
            at = start + line.len();
        } else {
            at = end_of_statement(bytes, start)?;
        }
        list.push(Statement { text: &text[start..at], start });
    }
    Ok(list)
}

fn skip_blank(bytes: &[u8], mut at: usize) -> Result<usize, &'static str> {
    loop {
        while at < bytes.len() && bytes[at].is_ascii_whitespace() {
            at += 1;
        }
        at = match skip_comment(bytes, at)? {
            Some(end) => end,
            None => return Ok(at),
        };
    }
}

/// The end of the comment at a position.
fn skip_comment(bytes: &[u8], at: usize) -> Result<Option<usize>, &'static str> {
    let rest = &bytes[at..];
    if rest.starts_with(b"//") {
        return Ok(Some(at + rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len())));
    }
    if rest.starts_with(b"/*") {
        let end = rest.windows(2).skip(2).position(|w| w == b"*/").ok_or("a comment does not end")?;
        return Ok(Some(at + end + 4));
    }
    Ok(None)
}

/// The position after a statement: after `;`, or after the `}` of a body.
fn end_of_statement(bytes: &[u8], mut at: usize) -> Result<usize, &'static str> {
    let mut depth = 0u32;
    let mut is_initializer = false;
    while at < bytes.len() {
        if let Some(end) = skip_comment(bytes, at)? {
            at = end;
            continue;
        }
        match bytes[at] {
            b'"' => {
                let end = bytes[at + 1..].iter().position(|b| *b == b'"').ok_or("a string does not end")?;
                at += end + 1;
            }
            b'=' if depth == 0 => is_initializer = true,
            b'{' => depth += 1,
            b'}' => {
                depth = depth.checked_sub(1).ok_or("a brace closes nothing")?;
                if depth == 0 && !is_initializer {
                    return Ok(at + 1);
                }
            }
            b';' if depth == 0 => return Ok(at + 1),
            _ => {}
        }
        at += 1;
    }
    Err("a statement does not end")
}

impl<'t> Statement<'t> {
    fn words(&self) -> impl Iterator<Item = &'t str> {
        let head = self.text.split(['{', '=', ';']).next().unwrap_or_default();
        head.split(|c: char| c.is_ascii_whitespace() || "(),[]".contains(c)).filter(|w| !w.is_empty())
    }

    fn is_function(&self) -> bool {
        self.words().take(4).any(|w| w == ".func" || w == ".entry")
    }

    /// Whether the statement only declares a function or variable of another module.
    fn is_declaration(&self) -> bool {
        self.words().next() == Some(".extern") || (self.is_function() && !self.text.contains('{'))
    }

    /// The name of a function and the text after it.
    fn signature(&self) -> Option<(&'t str, &'t str)> {
        let after = self.text.split_once(".func").or_else(|| self.text.split_once(".entry"))?.1.trim_start();
        // A result precedes the name.
        let after = match after.strip_prefix('(') {
            Some(rest) => rest.split_once(')')?.1.trim_start(),
            None => after,
        };
        let end = after.find(|c: char| c.is_ascii_whitespace() || "(;{".contains(c)).unwrap_or(after.len());
        (end > 0).then(|| after.split_at(end))
    }

    /// The name that a function or variable has; `None` for directives.
    fn name(&self) -> Option<&'t str> {
        if self.is_function() {
            return self.signature().map(|(name, _)| name);
        }
        const SPACES: [&str; 4] = [".global", ".const", ".shared", ".texref"];
        if !self.words().take(3).any(|w| SPACES.contains(&w)) {
            return None;
        }
        let head = self.text.split(['[', '=', ';']).next().unwrap_or_default();
        head.split_ascii_whitespace().last()
    }

    /// Sizes of the parameters of a function in order, as `b64, b32`.
    fn parameters(&self) -> String {
        let after = self.signature().map_or("", |(_, rest)| rest);
        let list = after.trim_start().strip_prefix('(').and_then(|rest| rest.split_once(')')).map_or("", |(l, _)| l);
        let size = |parameter: &str| {
            let mut words = parameter.split_ascii_whitespace().skip_while(|w| *w == ".param");
            let word = words.find(|w| !matches!(*w, ".align" | ".ptr") && w.starts_with('.')).unwrap_or(".b0");
            format!("b{}", word.trim_start_matches(|c: char| !c.is_ascii_digit()))
        };
        let sizes: Vec<String> = list.split(',').filter(|p| !p.trim().is_empty()).map(size).collect();
        sizes.join(", ")
    }
}

/// The number and the suffix of `sm_90a`.
fn architecture(name: &str) -> Option<(u32, &str)> {
    let rest = name.strip_prefix("sm_")?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    Some((rest[..end].parse().ok()?, &rest[end..]))
}

fn version(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.trim().split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Checks that code is of a kind that can be linked.
///
/// # Errors
///
/// The name of the kind.
pub fn check_kind(code: &Code) -> Result<CodeKind, LinkError> {
    let kind = CodeKind::of(code.bytes);
    match kind.rejected() {
        Some(name) => Err(LinkError::Kind { library: code.library.into(), kind: name }),
        None => Ok(kind),
    }
}

/// Links the functions of libraries that `ptx` declares. Without libraries, or if it declares none of their
/// functions, the text does not change. `needed` has the name of the library of each called function.
///
/// # Errors
///
/// A called function is not defined, or code does not fit.
pub fn link(ptx: &str, target: &str, codes: &[Code], needed: &BTreeMap<String, String>) -> Result<String, LinkError> {
    let own = |reason| LinkError::Malformed { library: "the generated code".into(), reason };
    let statements_of_kernels = statements(ptx).map_err(own)?;
    let mut wanted: BTreeMap<&str, &Statement> = BTreeMap::new();
    for s in statements_of_kernels.iter().filter(|s| s.is_declaration() && s.is_function()) {
        wanted.extend(s.name().filter(|name| !SYSTEM.contains(name)).map(|name| (name, s)));
    }
    wanted.retain(|name, _| needed.contains_key(*name));
    if wanted.is_empty() {
        return Ok(ptx.to_owned());
    }
    let mut owners: BTreeMap<String, String> = BTreeMap::new();
    for s in statements_of_kernels.iter().filter(|s| !s.is_declaration()) {
        owners.extend(s.name().map(|name| (name.to_owned(), "the program".to_owned())));
    }
    let (mut inserted, mut resolved, mut newest) = (String::new(), BTreeSet::new(), (0, 0));
    for code in codes.iter().filter(|c| needed.values().any(|library| library == c.library)) {
        let library = code.library.to_owned();
        check_kind(code)?;
        let text = std::str::from_utf8(code.bytes).unwrap_or_default();
        let malformed = |reason| LinkError::Malformed { library: library.clone(), reason };
        for s in statements(text).map_err(malformed)? {
            if let Some(rest) = s.text.strip_prefix(".version") {
                newest = newest.max(version(rest).ok_or_else(|| malformed("the version is not a number"))?);
            } else if let Some(rest) = s.text.strip_prefix(".target") {
                check_target(rest, target, &library)?;
            } else if s.is_declaration() {
                // Functions of the driver may be declared already.
                let is_system = s.name().is_some_and(|name| SYSTEM.contains(&name));
                let is_known = statements_of_kernels.iter().any(|k| k.name() == s.name() && k.is_function());
                if is_system && !is_known && !inserted.contains(s.text) {
                    inserted += &format!("{}\n", s.text);
                }
            } else if let Some(name) = s.name() {
                if let Some(first) = owners.insert(name.to_owned(), format!("the library '{library}'")) {
                    return Err(LinkError::Clash { first, library, symbol: name.to_owned() });
                }
                if let Some(declared) = wanted.get(name) {
                    let (own, needed) = (s.parameters(), declared.parameters());
                    if own != needed {
                        return Err(LinkError::Parameters { library, symbol: name.to_owned(), own, needed });
                    }
                    resolved.insert(name.to_owned());
                }
                inserted += &format!("{}\n", s.text);
            }
        }
    }
    if let Some((name, _)) = wanted.iter().find(|(name, _)| !resolved.contains(**name)) {
        return Err(LinkError::Undefined { library: needed[*name].clone(), symbol: (*name).to_owned() });
    }
    Ok(rewritten(ptx, &statements_of_kernels, &wanted, &inserted, newest))
}

/// Whether code for some architecture, such as `sm_80`, runs on the target.
pub fn runs_on(code: &str, target: &str) -> bool {
    match (architecture(code), architecture(target)) {
        (Some((own, "")), Some((number, _))) => own <= number,
        // Code for one architecture or one family runs nowhere else.
        _ => code == target,
    }
}

/// Checks that code for some architecture runs on the target.
fn check_target(list: &str, target: &str, library: &str) -> Result<(), LinkError> {
    let code = list.split([',', '/']).next().unwrap_or_default().trim();
    if !runs_on(code, target) {
        return Err(LinkError::Target { library: library.into(), code: code.into(), target: target.into() });
    }
    Ok(())
}

/// The program with a newer version if necessary, without declarations of linked functions, and with their code.
fn rewritten(
    ptx: &str,
    all: &[Statement],
    removed: &BTreeMap<&str, &Statement>,
    inserted: &str,
    newest: (u32, u32),
) -> String {
    let mut out = String::with_capacity(ptx.len() + inserted.len());
    let mut at = 0;
    for s in all {
        let end = s.start + s.text.len();
        if let Some(rest) = s.text.strip_prefix(".version")
            && version(rest).is_some_and(|own| own < newest)
        {
            out += &ptx[at..s.start];
            out += &format!(".version {}.{}", newest.0, newest.1);
            at = end;
        } else if s.is_declaration() && s.name().is_some_and(|name| removed.contains_key(name)) {
            out += &ptx[at..s.start];
            at = end;
        } else if s.text.starts_with(".address_size") {
            out += &ptx[at..end];
            out += &format!("\n\n{inserted}");
            at = end;
        }
    }
    out + &ptx[at..]
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: &str = ".version 8.0\n.target sm_90a\n.address_size 64\n\n\t// .globl k\n.extern .func f\n(\n\t.param .b64 f_param_0\n)\n;\n.extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n.visible .entry k(.param .u64 p)\n{\n\tret;\n}\n";
    const LIBRARY: &str = "// a library\n.version 8.3\n.target sm_80\n.address_size 64\n.global .align 4 .u32 table[2] = {1, 2};\n.func helper() { ret; }\n.visible .func f(\n\t.param .b64 f_param_0\n)\n{\n\tcall helper; // }\n\tret;\n}\n";

    fn needed() -> BTreeMap<String, String> {
        [("f".to_owned(), "l".to_owned())].into()
    }

    fn linked(program: &str, library: &str) -> Result<String, LinkError> {
        link(program, "sm_90a", &[Code { library: "l", bytes: library.as_bytes() }], &needed())
    }

    #[test]
    fn functions_replace_their_declarations() {
        let text = linked(PROGRAM, LIBRARY).unwrap();
        assert!(text.starts_with(".version 8.3\n.target sm_90a\n.address_size 64\n\n.global .align 4 .u32 table[2]"));
        assert!(!text.contains(".extern .func f\n") && text.contains(".visible .func f("), "{text}");
        assert!(text.contains("vprintf") && text.contains(".entry k("));
        assert_eq!(text.matches(".version").count(), 1);
        // A program that calls nothing does not change.
        let plain = PROGRAM.replace(".extern .func f\n(\n\t.param .b64 f_param_0\n)\n;\n", "");
        assert_eq!(linked(&plain, LIBRARY).unwrap(), plain);
    }

    #[test]
    fn wrong_code_is_named() {
        let error = |library: &str| linked(PROGRAM, library).unwrap_err().to_string();
        assert_eq!(
            error("x"),
            "the code of the library 'l' is of an unknown kind; only PTX, LLVM bitcode and LLVM IR can be linked"
        );
        let lacks = LIBRARY.replace("func f(", "func g(");
        assert_eq!(error(&lacks), "no library defines the function 'f', which the catalogue of 'l' names");
        let newer = LIBRARY.replace("sm_80", "sm_100");
        assert_eq!(error(&newer), "the code of the library 'l' is for sm_100, which does not run on sm_90a");
        assert_eq!(linked(PROGRAM, &LIBRARY.replace("sm_80", "sm_90a")).map(|_| ()), Ok(()));
        assert!(error(&LIBRARY.replace("sm_80", "sm_80a")).contains("is for sm_80a"));
        let clash = LIBRARY.replace("helper", "k");
        assert_eq!(error(&clash), "both the program and the library 'l' define 'k'");
        let narrow = LIBRARY.replace(".param .b64 f", ".param .u32 f");
        assert!(error(&narrow).contains("has the parameters (b32), but its fragments are passed as (b64)"));
        assert!(error(&LIBRARY.replace("ret;\n}", "ret;\n")).contains("a statement does not end"));
        let kinds: [(&[u8], &str); 3] = [
            (&[0xED, 0x43, 0x4E, 0x7F, 0], "LTO-IR"),
            (&[0x50, 0xED, 0x55, 0xBA], "a fatbin"),
            (b"\x7fELF...", "an ELF object, perhaps a cubin"),
        ];
        for (bytes, name) in kinds {
            let result = link(PROGRAM, "sm_90a", &[Code { library: "l", bytes }], &needed());
            assert_eq!(result, Err(LinkError::Kind { library: "l".into(), kind: name }));
        }
    }
}
