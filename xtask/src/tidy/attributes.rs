//! Checks that discardable attributes are named in one place only.
//!
//! `src/middle/dialect/attributes.rs` lists them as typed keys. No other Rust file contains one of their names as a
//! string literal, except tests, which search for names in printed programs.

pub const KEYS: &str = "src/middle/dialect/attributes.rs";

/// Returns the names of the dialects' own keys.
pub fn names(keys: &str) -> Vec<String> {
    let name = |line: &str| line.split_once(" = \"")?.1.strip_suffix("\";").map(str::to_owned);
    keys.lines().filter_map(name).filter(|n| n.starts_with("nv_tile")).collect()
}

/// Reports the names of attributes in a file.
pub fn check(file: &str, lines: &[&str], names: &[String], report: &mut impl FnMut(usize, &str)) {
    if file == KEYS || file.starts_with("tests/") {
        return;
    }
    for (i, line) in lines.iter().enumerate() {
        for name in names.iter().filter(|n| line.contains(&format!("\"{n}\""))) {
            report(i + 1, &format!("access the attribute '{name}' through its key in {KEYS}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_outside_of_the_keys() {
        let keys = "    /// Doc.\n    A: I64 = \"nv_tileas.a_b\";\n    B: Unit = \"sym_visibility\";\n    let x = 1;\n";
        let names = names(keys);
        assert_eq!(names, ["nv_tileas.a_b"]);
        let found = |file: &str, line: &str| {
            let mut found = 0;
            check(file, &[line], &names, &mut |_, _| found += 1);
            found
        };
        assert_eq!(found("src/a.rs", "    attr(op, \"nv_tileas.a_b\")"), 1);
        assert_eq!(found("src/a.rs", "    fail(op, \"no 'nv_tileas.a_b'\"); text(\"{nv_tileas.a_b = 1}\")"), 0);
        assert_eq!(found("tests/a.rs", "    text.contains(\"nv_tileas.a_b\")"), 0);
        assert_eq!(found(KEYS, "    A: I64 = \"nv_tileas.a_b\";"), 0);
    }
}
