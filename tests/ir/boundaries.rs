//! Every boundary between passes can be fed back: compiling the program that a pass leaves gives the same PTX as
//! compiling in one go.
//!
//! By default a sample of the corpus for sm_90 at -O3. `TILEIRAS_TEST_FULL=1` takes all readable programs, four
//! targets, and levels 0 and 3.

use super::levels::{NAME, kind_of, without_places};
use tile_interface::{Boundary, CompileError, CompileOutput, CompileRequest, Compiler, InputKind};
use tile_launch::corpus;
use tile_targets::Target;
use tile_test_support::{Failed, Trial, listed, root};
use tileiras::compile::Session;

/// Programs that differ in the ops and plans that must survive printing.
const SAMPLE: [&str; 30] = [
    "acquire_flag.13.1",
    "adam_step_f32.13.1",
    "atomic_zoo.13.1",
    "attention_split.13.1",
    "bitonic_sort.13.1",
    "bytes_swap.13.3",
    "casts_fp8.13.1",
    "conv1d_causal_bf16.13.1",
    "copy_pad_nan.13.1",
    "csr_matvec_f32.13.1",
    "cumsum_rows.13.1",
    "dependent_sum.13.4",
    "diagonal_blocks.13.4",
    "early_return.13.1",
    "fmha_f16_causal.13.1",
    "gather_rows.13.1",
    "half_checked.13.4",
    "histogram.13.1",
    "insert_tiles.13.4",
    "layernorm.13.1",
    "matmul_bf16.13.1",
    "matmul_e4m3.13.1",
    "matmul_f64.13.1",
    "matmul_persistent.13.1",
    "matmul_splitk.13.1",
    "matmul_tf32.13.1",
    "matmul_w4.13.1",
    "softmax_f16.13.1",
    "softmax_online.13.1",
    "vadd_f32.13.1",
];

pub fn trials() -> Vec<Trial> {
    let full = tile_test_support::full();
    let (targets, levels): (&'static [&'static str], &'static [u8]) =
        if full { (&["sm_80", "sm_90", "sm_100", "sm_120"], &[0, 3]) } else { (&["sm_90"], &[3]) };
    let mut trials = vec![
        Trial::test("boundaries/labels", labels),
        Trial::test("boundaries/what_does_not_fit", what_does_not_fit),
        Trial::test("boundaries/the_sample_is_in_the_corpus", the_sample_is_in_the_corpus),
    ];
    let programs = corpus::programs(root()).map(|programs| {
        let wanted = |p: &corpus::Program| if full { p.is_readable() } else { SAMPLE.contains(&p.name.as_str()) };
        let wanted = programs.into_iter().filter(wanted);
        let trial = |program: corpus::Program| {
            Trial::test(format!("boundaries/{}", program.name), move || {
                let bytes = std::fs::read(&program.file)?;
                for name in targets {
                    let target = Target::by_name(name).ok_or("no such target")?;
                    levels.iter().try_for_each(|&level| same_from_each_boundary(&bytes, target, level))?;
                }
                Ok(())
            })
        };
        wanted.map(trial).collect()
    });
    trials.extend(listed("boundaries", programs));
    trials
}

fn the_sample_is_in_the_corpus() -> Result<(), Failed> {
    let programs = corpus::programs(root())?;
    match SAMPLE.into_iter().find(|name| programs.iter().all(|p| p.name != *name || !p.is_readable())) {
        Some(name) => Err(format!("the corpus has no program {name}").into()),
        None => Ok(()),
    }
}

fn compile(session: &Session, request: &CompileRequest<'_>) -> Result<CompileOutput, Failed> {
    let mut said = String::new();
    let result = session.compile(request, &mut |d| said.push_str(&format!("{}\n", d.message)));
    result.map_err(|e| format!("{e}\n{said}").into())
}

/// Compiles from the program after each pass that changes it.
fn same_from_each_boundary(bytes: &[u8], target: &'static Target, level: u8) -> Result<(), Failed> {
    let session = Session::new();
    let whole = CompileRequest {
        opt_level: level,
        input_name: NAME,
        keep_snapshots: true,
        ..CompileRequest::new(bytes, kind_of(bytes), target)
    };
    let whole = compile(&session, &whole)?;
    let expected = without_places(&whole.text);
    let mut count = 0;
    for snapshot in &whole.snapshots {
        let (Some(boundary), Some(program)) = (&snapshot.boundary, &snapshot.program) else { continue };
        let at = format!("{} -O{level} after {boundary}", target.name);
        let resumed = CompileRequest {
            opt_level: level,
            input_name: NAME,
            start_after: Some(boundary.clone()),
            ..CompileRequest::new(program.text.as_bytes(), InputKind::Text, target)
        };
        let resumed = compile(&session, &resumed);
        let resumed = resumed.map_err(|e| format!("{at}: {}", e.message().unwrap_or_default()))?;
        let resumed = without_places(&resumed.text);
        if let Some((a, b)) = expected.iter().zip(&resumed).find(|(a, b)| a != b) {
            return Err(format!("{at}: the PTX differs:\n  {a}\n  {b}").into());
        }
        if expected.len() != resumed.len() {
            return Err(format!("{at}: {} lines of PTX and {}", expected.len(), resumed.len()).into());
        }
        count += 1;
    }
    if count < 5 { Err(format!("only {count} passes changed the program").into()) } else { Ok(()) }
}

const KERNEL: &str = "cuda_tile.module @m { entry @k(%p: tile<ptr<i32>>) {
  %c = constant <i32: 7> : tile<i32>
  %t = store_ptr_tko weak %p, %c : tile<ptr<i32>>, tile<i32> -> token
  return
} }";

fn sm_90(text: &str) -> CompileRequest<'_> {
    CompileRequest::new(text.as_bytes(), InputKind::Text, Target::by_name("sm_90").expect("a target of the table"))
}

fn boundary(text: &str) -> Option<Boundary> {
    text.parse().ok()
}

/// A printed boundary says where it is from, and the next compilation stops and resumes from there.
fn labels() -> Result<(), Failed> {
    let session = Session::new();
    let whole = compile(&session, &sm_90(KERNEL))?.text;
    let first = compile(&session, &CompileRequest { print_after: boundary("tileas-slicing"), ..sm_90(KERNEL) })?.text;
    let label = |pass: &str| format!("module attributes {{nv_tileaa.after = \"{pass}\"}} {{\n");
    if !first.starts_with(&label("tileas-slicing")) {
        return Err(format!("the module has no label:\n{first}").into());
    }
    let second = compile(&session, &CompileRequest { print_after: boundary("cse#2"), ..sm_90(&first) })?.text;
    if !second.starts_with(&label("cse#2")) || compile(&session, &sm_90(&second))?.text != whole {
        return Err(format!("resumed twice, the program is another:\n{second}").into());
    }
    Ok(())
}

/// A boundary that the pipeline, the input or another option contradicts is an error.
fn what_does_not_fit() -> Result<(), Failed> {
    let session = Session::new();
    let late = CompileRequest { print_after: boundary("tileas-slicing"), ..sm_90(KERNEL) };
    let late = compile(&session, &late)?.text;
    let unknown = CompileRequest { start_after: boundary("inline"), ..sm_90(KERNEL) };
    let rerun = CompileRequest { print_after: boundary("tileas-slicing#2"), ..sm_90(KERNEL) };
    let early = CompileRequest { start_after: boundary("tileas-slicing"), ..sm_90(KERNEL) };
    let backward = CompileRequest { print_after: boundary("canonicalize"), ..sm_90(&late) };
    let emitted = CompileRequest { emit: tile_interface::Emit::TileAa, ..sm_90(&late) };
    let level = CompileRequest { start_from: Some(tile_interface::Level::TileAa), ..sm_90(&late) };
    let cases = [
        (unknown, "--start-after=inline: the pipeline has no pass 'inline'"),
        (rerun, "--print-after=tileas-slicing#2: the pipeline has no pass 'tileas-slicing#2'"),
        (early, "--start-after=tileas-slicing does not match the input, which contains 'cuda_tile."),
        (backward, "the boundary of --print-after precedes the input"),
        (emitted, "--emit=tileaa precedes the level of the input, which is tileas"),
        (level, "--start-from=tileaa does not match the boundary 'tileas-slicing' of level tileas"),
    ];
    for (request, expected) in cases {
        match session.compile(&request, &mut |_| ()) {
            Err(CompileError::Configuration(text)) if text.starts_with(expected) => {}
            other => return Err(format!("expected '{expected}', got {other:?}").into()),
        }
    }
    Ok(())
}
