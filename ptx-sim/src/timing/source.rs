//! Lines of the tile program, from the line table that the compiler writes into the PTX.

use std::collections::BTreeMap;

/// Maps lines of a PTX text to files and lines.
#[derive(Debug, Default)]
pub struct LineTable {
    files: BTreeMap<u32, String>,
    /// For each location, the first PTX line that it applies to, in order. `None` ends a location.
    starts: Vec<(u32, Option<(u32, u32)>)>,
}

impl LineTable {
    /// Reads the `.file` and `.loc` directives of a text. Malformed directives are ignored, because the text has
    /// already been parsed.
    pub fn of(text: &str) -> LineTable {
        let mut table = LineTable::default();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim_start();
            if let Some(rest) = line.strip_prefix(".loc") {
                table.starts.push((number, place(rest)));
            } else if let Some(rest) = line.strip_prefix(".file")
                && let Some((index, name)) = rest.trim_start().split_once(char::is_whitespace)
                && let (Ok(index), Some(name)) = (index.parse(), name.split('"').nth(1))
            {
                table.files.insert(index, name.to_owned());
            } else if line.contains(".entry") || line.contains(".func") {
                table.starts.push((number, None));
            }
        }
        table
    }

    /// File and line of the instruction on a line of the PTX.
    pub fn at(&self, ptx_line: u32) -> Option<(&str, u32)> {
        let behind = self.starts.partition_point(|(from, _)| *from <= ptx_line);
        let (file, line) = self.starts[..behind].last()?.1?;
        Some((self.files.get(&file)?, line))
    }
}

/// The location that a `.loc` names: the innermost one with a line number, because compilers assign line 0 to code
/// that belongs to no line of its function.
fn place(rest: &str) -> Option<(u32, u32)> {
    let pair = |text: &str| -> Option<(u32, u32)> {
        let mut words = text.split_whitespace().map(str::parse);
        match (words.next()?, words.next()?) {
            (Ok(file), Ok(line)) if line > 0 => Some((file, line)),
            _ => None,
        }
    };
    let (own, call) = rest.split_once(',').map_or((rest, ""), |(own, call)| (own, call));
    pair(own).or_else(|| pair(call.split_once("inlined_at")?.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_instructions() {
        let text = "\
.visible .entry a()
{
\tmov.u32 %r1, 0;
\t.loc\t1 7 3
\tadd.s32 %r1, %r1, 1;
\tadd.s32 %r1, %r1, 2;
\t.loc\t1 0 9, function_name $L__name0, inlined_at 2 12 5
\tadd.s32 %r1, %r1, 3;
\t.loc\t2 4 9, function_name $L__name0, inlined_at 1 12 5
\tadd.s32 %r1, %r1, 4;
\t.loc\t1 0 0
\tret;
}
.visible .entry b()
{
\tret;
}
\t.file\t1 \"dir/one.py\"
\t.file\t2 \"two.py\", 1, 2
";
        let table = LineTable::of(text);
        let places: Vec<_> = [3, 5, 6, 8, 10, 12, 16].iter().map(|line| table.at(*line)).collect();
        let one = |line| Some(("dir/one.py", line));
        let two = |line| Some(("two.py", line));
        assert_eq!(places, [None, one(7), one(7), two(12), two(4), None, None]);
    }
}
