//! Expected values in tables of the checkout. `cargo xtask bless` updates them.

use crate::root;
use std::{
    collections::BTreeMap,
    env,
    fs::OpenOptions,
    io::{Read, Seek, Write},
};

/// Whether tests write the values that they find instead of comparing them: `TILEIRAS_RENEW` is set to anything but
/// `0`.
pub fn renews() -> bool {
    env::var_os("TILEIRAS_RENEW").is_some_and(|v| v != "0")
}

/// Compares a value with the row of a table that begins with `key` and a tab, or writes that row. `None` is the value
/// of a key without a row. `table` is a path from the root of the checkout; `kind` is its name for `cargo xtask
/// bless`.
///
/// Comments, which begin with `#`, remain at the top, and rows are sorted by key.
pub fn compare_row(table: &str, kind: &str, key: &str, value: Option<&str>) -> Result<(), String> {
    let told = |e: std::io::Error| format!("{table}: {e}");
    let renews = renews();
    let mut file = OpenOptions::new().read(true).write(renews).open(root().join(table)).map_err(told)?;
    if renews {
        // Tests run concurrently in separate processes.
        file.lock().map_err(told)?;
    }
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(told)?;
    let (comments, rows): (Vec<&str>, Vec<&str>) = text.lines().partition(|l| l.starts_with('#'));
    let mut rows: BTreeMap<&str, &str> = rows.iter().filter_map(|l| l.split_once('\t')).collect();
    let before = rows.get(key).copied();
    if before == value {
        return Ok(());
    }
    if !renews {
        let show = |v: Option<&str>| v.map_or("no row".to_string(), |v| format!("'{}'", v.replace('\t', " ")));
        return Err(format!(
            "{table} has {} for {key}, and now it is {}; if the change is meant: cargo xtask bless {kind}",
            show(before),
            show(value)
        ));
    }
    match value {
        Some(value) => _ = rows.insert(key, value),
        None => _ = rows.remove(key),
    }
    let rows = rows.iter().map(|(key, value)| format!("{key}\t{value}"));
    let text: String = comments.into_iter().map(String::from).chain(rows).map(|line| line + "\n").collect();
    file.set_len(0).map_err(told)?;
    file.rewind().map_err(told)?;
    file.write_all(text.as_bytes()).map_err(told)
}

/// Compares a text with a file of the checkout, or writes the file.
pub fn compare_file(path: &str, kind: &str, now: &str) -> Result<(), String> {
    let full = root().join(path);
    let told = |e: std::io::Error| format!("{path}: {e}");
    if renews() {
        return std::fs::write(full, now).map_err(told);
    }
    let before = std::fs::read_to_string(full).map_err(told)?;
    if before == now {
        return Ok(());
    }
    let differs = before.lines().zip(now.lines()).find(|(a, b)| a != b);
    let (a, b) = differs.unwrap_or(("another number of lines", ""));
    Err(format!("{path} differs:\n  {a}\n  {b}\nif the change is meant: cargo xtask bless {kind}"))
}

const GATES: &str = "tests/timing/gates.tsv";

/// Checks a number of instructions against the bound in a row of `tests/timing/gates.tsv`. Fewer than the row's last
/// number is not a failure. Updating the table keeps the bounds.
pub fn gate(name: &str, found: usize) -> Result<(), String> {
    let text = std::fs::read_to_string(root().join(GATES)).map_err(|e| format!("{GATES}: {e}"))?;
    let row = text.lines().find_map(|l| l.strip_prefix(name)?.strip_prefix('\t'));
    let most = row.and_then(|r| r.split('\t').next()?.parse::<usize>().ok());
    let most = most.ok_or_else(|| format!("{GATES} has no row '{name}' with a bound"))?;
    if renews() {
        return compare_row(GATES, "gates", name, Some(&format!("{most}\t{found}")));
    }
    if found <= most {
        return Ok(());
    }
    let before = row.and_then(|r| r.split('\t').nth(1)).unwrap_or_default();
    Err(format!("{name}: {found} instructions in an iteration, at most {most} are allowed, and {before} there were"))
}
