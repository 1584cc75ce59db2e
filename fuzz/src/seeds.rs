//! Writes the seed files for fuzzing: `seeds OUT TEXT-FOLDER CORPUS-FOLDER...`.
//!
//! Each bytecode file of the corpus is written in every version and container that can represent it, with the bytes
//! that the target expects before or after it. Each text file is split at `// -----`. `text.dict` contains the words
//! of the language.

use std::{
    collections::BTreeSet,
    env, fs,
    path::{Path, PathBuf},
};
use tile_bytecode::{Profile, ReadOptions, Version, fuzzing::INSTRUCTIONS, read, schema, write};

fn main() -> std::io::Result<()> {
    let arguments: Vec<PathBuf> = env::args_os().skip(1).map(PathBuf::from).collect();
    let [out, texts, corpora @ ..] = &arguments[..] else {
        eprintln!("usage: seeds OUT TEXT-FOLDER CORPUS-FOLDER...");
        std::process::exit(1);
    };
    for target in ["raw", "round_trip", "section_aware", "version_swap", "text", "whole_bytecode", "whole_text"] {
        fs::create_dir_all(out.join(target))?;
    }
    let programs: Result<Vec<_>, _> = corpora.iter().map(|folder| files(folder, "tileirbc")).collect();
    for path in programs?.concat() {
        let data = fs::read(&path)?;
        let Ok(module) = read(&data, &ReadOptions::default()) else { continue };
        let mut forms = vec![("as-it-is".to_owned(), data)];
        for minor in 1..=Profile::Public.wire().max.minor {
            let written = write(&module, Profile::Public, Version::new(13, minor));
            forms.extend(written.map(|bytes| (format!("13.{minor}"), bytes)));
        }
        let written = write(&module, Profile::Specification, schema::V13_1);
        forms.extend(written.map(|bytes| ("specification".to_owned(), bytes)));
        let name = path.file_stem().expect("a file").to_string_lossy();
        for (form, bytes) in forms {
            let name = format!("{name}.{form}");
            fs::write(out.join("raw").join(&name), &bytes)?;
            fs::write(out.join("round_trip").join(&name), &bytes)?;
            fs::write(out.join("section_aware").join(&name), [&bytes[..], &[0; INSTRUCTIONS]].concat())?;
            fs::write(out.join("version_swap").join(&name), [&[2], &bytes[..]].concat())?;
            if bytes.len() <= WHOLE {
                let choice = spread(&name);
                fs::write(out.join("whole_bytecode").join(&name), [&bytes[..], &[0; INSTRUCTIONS], &[choice]].concat())?;
                fs::write(out.join("whole_text").join(&name), [&[choice], &bytes[..]].concat())?;
            }
        }
    }

    let mut words: BTreeSet<String> = schema::OPS.iter().map(|op| op.name.to_owned()).collect();
    for path in files(texts, "mlir")? {
        let text = fs::read_to_string(&path)?;
        let name = path.file_stem().expect("a file").to_string_lossy();
        for (i, piece) in text.split("// -----").enumerate() {
            // Comments do not help to exercise the parser.
            let lines: Vec<&str> = piece.lines().filter(|l| !l.trim_start().starts_with("//")).collect();
            let piece = lines.join("\n");
            let is_word = |c: char| c.is_alphanumeric() || "_$.<>#!@%".contains(c);
            words.extend(piece.split(|c| !is_word(c)).filter(|w| (3..40).contains(&w.len())).map(str::to_owned));
            let name = format!("{name}.{i}");
            if piece.len() <= WHOLE {
                fs::write(out.join("whole_text").join(&name), [&[spread(&name)], piece.as_bytes()].concat())?;
            }
            fs::write(out.join("text").join(name), piece)?;
        }
    }
    let dictionary: String = words.iter().map(|w| format!("\"{w}\"\n")).collect();
    fs::write(out.join("text.dict"), dictionary)
}

/// Maximum size in bytes of a file for the whole compiler; longer ones take too long.
const WHOLE: usize = 1500;

/// A number derived from the name that spreads the seeds over targets and levels.
fn spread(name: &str) -> u8 {
    name.bytes().fold(0, |n, b| n.wrapping_mul(31).wrapping_add(b))
}

fn files(folder: &Path, extension: &str) -> std::io::Result<Vec<PathBuf>> {
    let entries: Result<Vec<_>, _> = fs::read_dir(folder)?.map(|e| Ok::<_, std::io::Error>(e?.path())).collect();
    let mut files = entries?;
    files.retain(|p| p.extension().is_some_and(|x| x == extension));
    files.sort();
    Ok(files)
}
