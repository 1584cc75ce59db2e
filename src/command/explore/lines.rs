//! Maps the lines of LLVM IR, PTX and SASS to source lines.
//!
//! All three contain line information for the same file: LLVM IR as metadata, PTX in `.loc` directives, and SASS in
//! comments by nvdisasm. Locations in other files, such as library functions, are ignored.

use std::collections::HashMap;

use crate::Listing;

/// LLVM IR: the `!dbg` location of an instruction or function definition.
pub fn of_llvm(text: &str, source: &str) -> Listing {
    let mut nodes: HashMap<&str, &str> = HashMap::new();
    for line in text.lines().filter(|l| l.starts_with('!')) {
        if let Some((name, node)) = line.split_once(" = ") {
            nodes.insert(name, node.trim_start_matches("distinct "));
        }
    }
    let field = |node: &str, name: &str| -> Option<String> {
        let (_, rest) = node.split_once(&format!("{name}: "))?;
        let end = rest.find([',', ')']).unwrap_or(rest.len());
        Some(rest[..end].to_owned())
    };
    let is_of_source = |node: &str| {
        // A location refers to its scope and a scope to its file. Scopes in between refer to an outer scope.
        let mut at = node.to_owned();
        for _ in 0..nodes.len() {
            if let Some(file) = field(&at, "file").and_then(|f| nodes.get(f.as_str()).copied()) {
                return field(file, "filename").is_some_and(|f| is_same(f.trim_matches('"'), source));
            }
            match field(&at, "scope").and_then(|s| nodes.get(s.as_str()).copied()) {
                Some(scope) => scope.clone_into(&mut at),
                None => return false,
            }
        }
        false
    };
    let mut known: HashMap<&str, u32> = HashMap::new();
    let lines = text.lines().map(|line| {
        let place = line.rsplit_once("!dbg ").and_then(|(_, rest)| rest.split([' ', ',']).next());
        let Some(name) = place else { return 0 };
        *known.entry(name).or_insert_with(|| {
            let node = nodes.get(name).copied().filter(|n| is_of_source(n));
            node.and_then(|n| field(n, "line")?.parse().ok()).unwrap_or(0)
        })
    });
    Listing { lines: lines.collect(), text: text.to_owned() }
}

/// PTX: a `.loc` applies up to the next one or the end of the function.
pub fn of_ptx(text: &str, source: &str) -> Listing {
    let files = text.lines().filter_map(|line| {
        let (number, name) = line.trim().strip_prefix(".file")?.trim().split_once(char::is_whitespace)?;
        is_same(name.split('"').nth(1)?, source).then_some(number)
    });
    let files: Vec<&str> = files.collect();
    let mut at = 0;
    let line_of = |line: &str| {
        let words = line.trim();
        if let Some(place) = words.strip_prefix(".loc") {
            let mut place = place.split_whitespace();
            let is_known = place.next().is_some_and(|file| files.contains(&file));
            at = place.next().filter(|_| is_known).and_then(|l| l.parse().ok()).unwrap_or(0);
            return 0;
        }
        if words == "}" || words == ")" {
            at = 0;
        }
        // A line of inline assembly, in braces, may contain several instructions.
        let is_instruction = words.contains(';') && !words.starts_with(['.', '/']);
        if is_instruction { at } else { 0 }
    };
    let lines = text.lines().map(line_of).collect();
    Listing { text: text.to_owned(), lines }
}

/// SASS as `nvdisasm -g` prints it. The location comments are removed.
pub fn of_sass(text: &str, source: &str) -> Listing {
    let mut listing = Listing::default();
    let (mut at, mut in_comments) = (0, false);
    for line in text.lines() {
        if let Some((_, place)) = line.split_once("//## File ") {
            // For an inlined call, the location in the callee comes first, followed by the call site.
            if !std::mem::replace(&mut in_comments, true) {
                at = 0;
            }
            let file = place.split('"').nth(1).unwrap_or_default();
            let number = place.split_once(", line ").and_then(|(_, l)| l.split(' ').next()?.parse().ok());
            if at == 0 && is_same(file, source) {
                at = number.unwrap_or(0);
            }
            continue;
        }
        in_comments = false;
        if line.trim_start().starts_with(".section") || line.starts_with(".text.") {
            at = 0;
        }
        // Remove the columns between the address and the instruction.
        let instruction = line.trim_start().strip_prefix("/*").and_then(|rest| rest.split_once("*/"));
        let is_instruction = instruction.is_some();
        match instruction {
            Some((address, what)) => listing.text += &format!("/*{address}*/ {}", what.trim()),
            None => listing.text += line,
        }
        listing.text.push('\n');
        listing.lines.push(if is_instruction { at } else { 0 });
    }
    listing
}

/// Compares file names without directories, which debug information may store in front of the name or separately. PTX
/// replaces quotes in names by apostrophes, and LLVM IR escapes them.
fn is_same(file: &str, source: &str) -> bool {
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().replace("\\22", "'").replace('"', "'");
    name(file) == name(source)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn llvm_ir_names_its_lines() {
        let text = "\
define void @k() !dbg !3 {
  %1 = add i32 0, 1, !dbg !6
  %2 = add i32 0, 1, !dbg !7, !other !9
  %3 = add i32 0, 1, !dbg !8
  ret void
}
!1 = !DIFile(filename: \"d/k.mlir\", directory: \"/x\")
!2 = !DIFile(filename: \"lib.c\", directory: \"\")
!3 = distinct !DISubprogram(name: \"k\", scope: !1, file: !1, line: 4, type: !4)
!5 = distinct !DILexicalBlockFile(scope: !3, file: !2, discriminator: 0)
!6 = !DILocation(line: 7, column: 5, scope: !3)
!7 = !DILocation(line: 9, column: 5, scope: !10, inlinedAt: !6)
!8 = !DILocation(line: 11, column: 5, scope: !5)
!10 = distinct !DILexicalBlock(scope: !3, line: 8)
";
        assert_eq!(of_llvm(text, "/y/k.mlir").lines[..6], [4, 7, 9, 0, 0, 0]);
    }

    #[test]
    fn names_with_quotes() {
        for (file, source, same) in [
            ("/t/a'b.mlir", "a\"b.mlir", true),
            ("a\\22b.mlir", "/t/a\"b.mlir", true),
            ("/t/a'b.mlir", "a_b.mlir", false),
        ] {
            assert_eq!(is_same(file, source), same, "{file} {source}");
        }
    }

    #[test]
    fn ptx_names_its_lines() {
        let text = "\
.visible .entry k()
{
\t.reg .b32 %r<3>;
\t.loc\t1 3 0
\tmov.u32 %r1, 1;
$L1:
\t.loc\t2 8 1
\tmov.u32 %r2, 1;
\t.loc\t1 5 2, function_name $L__info_string0, inlined_at 1 3 0
\t// begin inline asm
\t{ .reg .pred p; setp.ne.b32 p, 1, 0; }
\tret;
}
\t.file\t1 \"/t/k.mlir\"
\t.file\t2 \"/t/lib.c\"
";
        assert_eq!(of_ptx(text, "k.mlir").lines, [0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 5, 5, 0, 0, 0]);
    }

    #[test]
    fn machine_code_names_its_lines() {
        let text = "\
k:
.text.k:
\t//## File \"/t/k.mlir\", line 3
        /*0000*/                   LDC R1, c[0x0][0x28] ;
\t//## File \"/t/lib.c\", line 9
\t//## File \"/t/k.mlir\", line 4 inlined at \"/t/k.mlir\", line 7
        /*0010*/                   S2UR UR6, SR_CTAID.X ;
.L_x_1:
";
        let listing = of_sass(text, "k.mlir");
        assert_eq!(listing.lines, [0, 0, 3, 4, 0]);
        assert!(!listing.text.contains("//##") && listing.text.contains("\n/*0010*/ S2UR UR6, SR_CTAID.X ;\n"));
    }
}
