//! The kinds of code that a library can have, judging by its first bytes.
//!
//! | kind | begins with |
//! |---|---|
//! | PTX text | `.version`, after comments |
//! | LLVM bitcode | `BC C0 DE`, or the magic of its wrapper, `DE C0 17 0B` |
//! | LLVM IR as text | a word of its grammar such as `source_filename`, `target` or `define`, after comments |
//! | LTO-IR, fatbin, ELF | their magic |

/// The kind of a library's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeKind {
    Ptx,
    Bitcode,
    /// LLVM IR as text.
    Assembly,
    LtoIr,
    Fatbin,
    Elf,
    Unknown,
}

/// The words with which a statement of LLVM IR can begin.
const WORDS: [&str; 7] = ["source_filename", "target", "define", "declare", "attributes", "module", "uselistorder"];
/// The other beginnings: variables, types, metadata, comdats and summaries.
const SIGILS: [char; 5] = ['@', '%', '!', '$', '^'];

impl CodeKind {
    /// The kind of some code.
    pub fn of(bytes: &[u8]) -> CodeKind {
        match bytes {
            [0xED, 0x43, 0x4E, 0x7F, ..] => CodeKind::LtoIr,
            [0x50, 0xED, 0x55, 0xBA, ..] => CodeKind::Fatbin,
            [0x7F, b'E', b'L', b'F', ..] => CodeKind::Elf,
            [b'B', b'C', 0xC0, 0xDE, ..] | [0xDE, 0xC0, 0x17, 0x0B, ..] => CodeKind::Bitcode,
            _ => std::str::from_utf8(bytes).map_or(CodeKind::Unknown, of_text),
        }
    }

    /// Whether LLVM links the code before it optimizes the kernel.
    pub fn is_llvm(self) -> bool {
        matches!(self, CodeKind::Bitcode | CodeKind::Assembly)
    }

    /// The words for a message, if the code cannot be linked.
    pub fn rejected(self) -> Option<&'static str> {
        match self {
            CodeKind::Ptx | CodeKind::Bitcode | CodeKind::Assembly => None,
            CodeKind::LtoIr => Some("LTO-IR"),
            CodeKind::Fatbin => Some("a fatbin"),
            CodeKind::Elf => Some("an ELF object, perhaps a cubin"),
            CodeKind::Unknown => Some("of an unknown kind"),
        }
    }
}

fn of_text(text: &str) -> CodeKind {
    if text.contains(".version") && text.contains(".target") {
        // Directives begin with a period, which no statement of LLVM IR does.
        let first = text.lines().map(str::trim_start).find(|line| line.starts_with('.') || is_llvm(line));
        if first.is_none_or(|line| line.starts_with('.')) {
            return CodeKind::Ptx;
        }
    }
    let mut lines = text.lines().map(str::trim_start).filter(|line| !line.is_empty() && !line.starts_with(';'));
    if lines.next().is_some_and(is_llvm) { CodeKind::Assembly } else { CodeKind::Unknown }
}

/// Whether a line begins a statement of LLVM IR.
fn is_llvm(line: &str) -> bool {
    let word = line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next().unwrap_or_default();
    line.starts_with(SIGILS) || WORDS.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_told_apart() {
        let texts = [
            ("// by clang\n.version 8.3\n.target sm_90\n", CodeKind::Ptx),
            ("/* @f define */\n\n  .version 8.3 .target sm_90", CodeKind::Ptx),
            ("; ModuleID = 'a.c'\nsource_filename = \"a.c\"\n", CodeKind::Assembly),
            ("\n  define void @f() {\n  ret void\n}\n", CodeKind::Assembly),
            ("@.str = private constant [20 x i8] c\".version .target....\"\n", CodeKind::Assembly),
            ("target triple = \"nvptx64-nvidia-cuda\"", CodeKind::Assembly),
            ("", CodeKind::Unknown),
            ("x", CodeKind::Unknown),
            ("int main() { return 0; }", CodeKind::Unknown),
            ("targets", CodeKind::Unknown),
        ];
        for (text, kind) in texts {
            assert_eq!(CodeKind::of(text.as_bytes()), kind, "{text}");
        }
        let bytes: [(&[u8], CodeKind); 6] = [
            (b"BC\xC0\xDE", CodeKind::Bitcode),
            (b"\xDE\xC0\x17\x0B rest", CodeKind::Bitcode),
            (b"BC\xC0", CodeKind::Unknown),
            (b"\x7fELF...", CodeKind::Elf),
            (&[0xED, 0x43, 0x4E, 0x7F, 0], CodeKind::LtoIr),
            (&[0x50, 0xED, 0x55, 0xBA], CodeKind::Fatbin),
        ];
        for (bytes, kind) in bytes {
            assert_eq!(CodeKind::of(bytes), kind, "{bytes:?}");
        }
        assert!(CodeKind::Bitcode.is_llvm() && CodeKind::Assembly.is_llvm() && !CodeKind::Ptx.is_llvm());
    }
}
