//! The text of `nv_tileas` is short enough to read: bounds on lines and columns, names and aliases.

use tile_interface::{CompileRequest, Compiler, Emit, InputKind};
use tile_targets::Target;
use tile_test_support::{Trial, functions, root};
use tileiras::compile::InProcess;

pub fn trials() -> Vec<Trial> {
    functions![printed_programs_are_short, names_survive]
}

/// The most columns of a line.
const COLUMNS: usize = 160;

/// A program of the corpus, and the most lines of its `nv_tileas` for sm_90. Before layouts and promises were stated
/// once, they had 160 lines of at most 583 columns, 382 of 780, and 362 of 774. The product had 90 lines before its
/// agents looped over tile blocks.
const PROGRAMS: [(&str, usize); 3] = [("matmul_bf16.13.1", 102), ("fmha_f16_causal.13.1", 257), ("fmha_f16.13.1", 240)];

fn tileas(input: &[u8], kind: InputKind) -> Result<String, String> {
    let target = Target::by_name("sm_90").ok_or("no such target")?;
    let request = CompileRequest { emit: Emit::TileAs, ..CompileRequest::new(input, kind, target) };
    InProcess.compile(&request, &mut |_| ()).map(|output| output.text).map_err(|e| e.to_string())
}

fn printed_programs_are_short() -> Result<(), String> {
    for (name, most) in PROGRAMS {
        let file = root().join("tests/corpus").join(format!("{name}.tileirbc"));
        let bytes = std::fs::read(file).map_err(|e| e.to_string())?;
        let text = tileas(&bytes, InputKind::PublicBytecode)?;
        let (lines, columns) = (text.lines().count(), text.lines().map(str::len).max().unwrap_or_default());
        if lines > most || columns > COLUMNS {
            return Err(format!("{name}: {lines} lines of at most {columns} columns, not {most} of {COLUMNS}\n{text}"));
        }
    }
    Ok(())
}

const SUM: &str = "cuda_tile.module @m { entry @k(%rows: tile<ptr<f32>>, %n: tile<i32>) {
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %start = constant <f32: 0.0> : tile<f32>
  %total = for %k in (%zero to %n, step %one) : tile<i32> iter_values(%sum = %start) -> (tile<f32>) {
    %at = offset %rows, %k : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
    %value, %read = load_ptr_tko weak %at : tile<ptr<f32>> -> tile<f32>, token
    %more = addf %sum, %value : tile<f32>
    continue %more : tile<f32>
  }
  %done = store_ptr_tko weak %rows, %total : tile<ptr<f32>>, tile<f32> -> token
  return
} }";

/// The names of a program in text reach the last readable level.
fn names_survive() -> Result<(), String> {
    let text = tileas(SUM.as_bytes(), InputKind::Text)?;
    let expected = [
        "@k(%rows: !nv_tileaa.ptr<f32>, %n: i32)",
        "%total = scf.for %k = ",
        "iter_args(%sum = ",
        "%at = nv_tileaa.addptr %rows, %k",
        "%value, %value_0 = nv_tileas.load",
        "%more = arith.addf %sum, %value",
    ];
    match expected.into_iter().find(|part| !text.contains(part)) {
        Some(part) => Err(format!("no '{part}' in\n{text}")),
        None => Ok(()),
    }
}
