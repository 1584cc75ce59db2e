//! Response files: an argument `@FILE` is replaced by the arguments in FILE.
//!
//! Arguments in the file are separated by blanks. Quotation marks of either kind group words, and a backslash escapes
//! the next character. Files may name further files, relative to the current directory. An `@FILE` that cannot be
//! read is left unchanged and becomes the name of an input.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// The maximum number of files that one command line may expand to. Exceeding it means that a file includes itself.
const LIMIT: usize = 20;

/// Replaces each response file by its arguments, except in the program's name.
pub fn expand(arguments: Vec<OsString>) -> Result<Vec<OsString>, TooManyFiles> {
    let mut files = 0;
    let mut done = Vec::with_capacity(arguments.len());
    let mut waiting: Vec<OsString> = arguments.into_iter().rev().collect();
    done.extend(waiting.pop());
    while let Some(argument) = waiting.pop() {
        let text = match argument.as_bytes().strip_prefix(b"@") {
            Some(name) if !name.is_empty() => crate::files::read(OsStr::from_bytes(name).as_ref()).ok(),
            _ => None,
        };
        match text {
            None => done.push(argument),
            Some(text) => {
                files += 1;
                if files > LIMIT {
                    return Err(TooManyFiles(argument.to_string_lossy().into_owned()));
                }
                waiting.extend(tokens(&text).into_iter().rev());
            }
        }
    }
    Ok(done)
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("recursive expansion of: '{0}'")]
pub struct TooManyFiles(String);

fn tokens(text: &[u8]) -> Vec<OsString> {
    let mut out = Vec::new();
    let mut token: Option<Vec<u8>> = None;
    let mut quote = None;
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        match (byte, quote) {
            (b'\\', _) => token.get_or_insert_default().extend(bytes.next()),
            (b'"' | b'\'', None) => {
                quote = Some(byte);
                token.get_or_insert_default();
            }
            (_, Some(open)) if byte == open => quote = None,
            (b' ' | b'\t' | b'\n' | b'\r', None) => out.extend(token.take().map(OsString::from_vec)),
            _ => token.get_or_insert_default().push(byte),
        }
    }
    out.extend(token.map(OsString::from_vec));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoting() {
        assert_eq!(tokens(b"a  b\n\tc\r\n"), ["a", "b", "c"]);
        assert_eq!(tokens(br#"'a b' "c d" e\ f "g\"h" '' i'j k'l"#), ["a b", "c d", "e f", "g\"h", "", "ij kl"]);
        assert_eq!(tokens(b""), Vec::<OsString>::new());
        assert_eq!(tokens(b"open 'quote"), ["open", "quote"]);
    }

    #[test]
    fn files_expand_in_place_and_recursion_ends() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name).into_os_string().into_string().unwrap();
        std::fs::write(path("a"), format!("1 '@{}' 4", path("b"))).unwrap();
        std::fs::write(path("b"), "2 3").unwrap();
        std::fs::write(path("loop"), format!("@{}", path("loop"))).unwrap();
        let run = |args: &[String]| expand(args.iter().map(Into::into).collect());
        assert_eq!(
            run(&["@x".into(), format!("@{}", path("a")), "5".into()]).unwrap(),
            ["@x", "1", "2", "3", "4", "5"]
        );
        assert_eq!(run(&["p".into(), "@missing".into(), "@".into()]).unwrap(), ["p", "@missing", "@"]);
        assert!(run(&["p".into(), format!("@{}", path("loop"))]).is_err());
    }
}
