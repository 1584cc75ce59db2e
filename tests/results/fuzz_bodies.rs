//! Runs the bodies of the fuzz targets that need MLIR on corpus files and texts of the tests, with a fixed sequence
//! of mutations, and on inputs that fuzzing has found. `scripts/fuzz.sh` runs the same bodies guided by coverage,
//! which takes hours.

use std::{fs, path::Path};
use tile_bytecode::fuzzing::INSTRUCTIONS;
use tile_fuzz::rng::Rng;
use tile_interface::{CompileRequest, Compiler, InputKind};
use tile_targets::Target;
use tile_test_support::{Trial, functions};
use tileiras::{
    compile::InProcess,
    fuzz::{mutate, text, whole},
};

/// The maximum size in bytes of a file that is mutated, because large files take long.
const SMALL: usize = 1000;

/// The number of runs of each body. `TILEIR_FUZZ_RUNS` sets another number.
fn runs() -> usize {
    std::env::var("TILEIR_FUZZ_RUNS").map_or(250, |n| n.parse().expect("a number"))
}

/// The files in a folder whose names have this ending, in the same order on every machine.
fn files(folder: &str, ending: &str) -> Vec<Vec<u8>> {
    let mut found = vec![];
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false if path.to_string_lossy().ends_with(ending) => found.push(path),
                false => {}
            }
        }
    }
    found.sort();
    found.into_iter().map(|path| fs::read(path).unwrap()).collect()
}

fn damaged_bytecode_through_the_whole_compiler() {
    let mut files = files("tests/corpus", ".tileirbc");
    files.retain(|f| f.len() <= SMALL);
    assert!(files.len() > 20);
    let mut rng = Rng::new(1);
    for _ in 0..runs() {
        let mut input = files[rng.below(files.len())].clone();
        input.extend(rng.bits().to_le_bytes().into_iter().take(INSTRUCTIONS));
        input.push(rng.bits().to_le_bytes()[0]);
        whole::bytecode(&input);
    }
}

fn changed_text_through_the_whole_compiler() {
    let texts: Vec<String> = files("tests/ir/cuda_tile", ".mlir")
        .into_iter()
        .flat_map(|f| String::from_utf8(f).unwrap().split("// -----").map(str::to_owned).collect::<Vec<_>>())
        .filter(|t| t.len() <= SMALL)
        .collect();
    assert!(texts.len() > 100);
    let mut rng = Rng::new(2);
    for _ in 0..runs() {
        let text = mutate::program(&texts[rng.below(texts.len())], rng.bits());
        let choice = rng.bits().to_le_bytes()[0];
        whole::text(&[&[choice], text.as_bytes()].concat());
    }
}

/// The printed text parses again and survives a round trip through bytecode.
fn pieces_of_text_through_the_parser() {
    for file in files("tests/ir/cuda_tile", ".mlir") {
        let text = String::from_utf8(file).unwrap();
        text.split("// -----").filter(|t| t.len() <= SMALL).for_each(|t| text::text(t.as_bytes()));
    }
}

/// Strides whose byte counts do not fit into 64 bits: addresses are computed modulo 2^64, and the compiler must not
/// overflow.
fn strides_beyond_all_memory() {
    for stride in [i64::MAX, i64::MAX / 4 + 1, 1 << 60] {
        let view = format!("tensor_view<16x16xf32, strides=[{stride}, 1]>");
        for (view, index) in [
            (format!("partition_view<tile=(4x8), {view}>"), "tile<i32>, tile<i32>"),
            (
                format!("strided_view<tile=(4x8), traversal_strides=[2,3], {view}, dim_map=[0, 1]>"),
                "tile<i32>, tile<i32>",
            ),
            (format!("gather_scatter_view<tile=(4x8), {view}, sparse_dim=0>"), "tile<4xi32>, tile<i32>"),
        ] {
            let kind = view.split('<').next().unwrap();
            let rows = if kind.starts_with("gather") { "%g" } else { "%i" };
            let text = format!(
                "cuda_tile.module @m {{ entry @k(%p: tile<ptr<f32>>, %i: tile<i32>) {{
                %t = make_tensor_view %p, shape = [16, 16], strides = [{stride}, 1] : tensor_view<16x16xf32, strides=[{stride}, 1]>
                %g = iota : tile<4xi32>
                %v = make_{kind} %t : {view}
                %x, %a = load_view_tko weak %v[{rows}, %i] : {view}, {index} -> tile<4x8xf32>, token
                %b = store_view_tko weak %x, %v[{rows}, %i] token = %a : tile<4x8xf32>, {view}, {index} -> token
                return }} }}"
            );
            let target = Target::by_name("sm_90").unwrap();
            let request = CompileRequest::new(text.as_bytes(), InputKind::Text, target);
            let made = InProcess.compile(&request, &mut |d| panic!("{kind}, {stride}: {d:?}"));
            assert!(made.unwrap().text.contains(".entry k("), "{kind}, {stride}");
        }
    }
}

/// Inputs that once failed, as the fuzzer left them: names in debug information that are not valid text, in the
/// message about an operation that does not verify; an enumeration value that is newer than its file's version; and a
/// dimension that does not fit into 32 bits. The last two could not be written.
fn inputs_that_failed() {
    let inputs = files("tests/fuzz", ".whole_bytecode");
    assert!(!inputs.is_empty());
    inputs.iter().for_each(|input| whole::bytecode(input));
    let inputs = files("tests/fuzz", ".round_trip");
    assert!(!inputs.is_empty());
    inputs.iter().for_each(|input| tile_bytecode::fuzzing::round_trip(input));
}

pub fn trials() -> Vec<Trial> {
    functions![
        damaged_bytecode_through_the_whole_compiler,
        changed_text_through_the_whole_compiler,
        pieces_of_text_through_the_parser,
        strides_beyond_all_memory,
        inputs_that_failed
    ]
}
