//! Files of real producers: they can be read, match an independent decoder's output, and are written back to the same
//! bytes.

use crate::dump::dump;
use std::path::PathBuf;
use tile_bytecode::*;

/// All files of the corpus, by name.
pub fn files() -> Vec<(String, Vec<u8>)> {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../tests/corpus");
    let mut files: Vec<_> = std::fs::read_dir(dir)
        .expect("the corpus is part of the repository")
        .map(|e| e.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "tileirbc"))
        .map(|p| (p.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(&p).unwrap()))
        .collect();
    files.sort();
    assert!(files.len() > 100, "only {} files", files.len());
    files
}

/// Files of versions that the reader supports.
pub fn supported() -> Vec<(String, Vec<u8>)> {
    files()
}

pub fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(0xCBF2_9CE4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01B3))
}

#[test]
fn agrees_with_the_independent_decoder() {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../tests/corpus");
    let expected = std::fs::read_to_string(dir.join("decode.tsv")).unwrap();
    let mut compared = 0;
    for (name, data) in files() {
        let row = expected
            .lines()
            .find(|l| l.split('\t').next() == Some(&name))
            .unwrap_or_else(|| panic!("{name} has no digest"));
        let columns: Vec<&str> = row.split('\t').collect();
        let module = read(&data, &ReadOptions { strict: true, ..ReadOptions::default() })
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        let text = dump(&module);
        if let Ok(dir) = std::env::var("TILEIR_DUMP_DIR") {
            std::fs::write(PathBuf::from(dir).join(&name), &text).unwrap();
        }
        assert_eq!(
            (text.lines().count().to_string(), format!("{:016x}", fnv1a(&text))),
            (columns[1].to_owned(), columns[2].to_owned()),
            "{name}: compare with tests/tools/decode.py -v (TILEIR_DUMP_DIR=<folder> writes this dump)"
        );
        compared += 1;
    }
    assert!(compared > 100);
}

#[test]
fn writes_back_the_same_bytes() {
    let different: Vec<String> = supported()
        .iter()
        .filter(|(_, data)| {
            let m = read(data, &ReadOptions::default()).unwrap();
            write(&m, Profile::Public, m.version).unwrap() != *data
        })
        .map(|(name, _)| name.clone())
        .collect();
    assert!(different.is_empty(), "{different:?}");
}
