//! Every level can be fed back: compiling from a printed stage gives the same PTX as compiling in one go.
//!
//! One test for each readable program of the corpus. By default sm_90 at -O3, whose kernels carry the most
//! information; `TILEIRAS_TEST_FULL=1` takes four targets, and levels 0, 2 and 3.

use std::path::Path;
use tile_interface::{CompileError, CompileRequest, Compiler, Emit, InputKind, Level};
use tile_launch::corpus;
use tile_targets::Target;
use tile_test_support::{Failed, Trial, listed, root, store, store::Stored};
use tileiras::compile::{InProcess, Session};

/// The file name in the programs that are fed back. It is not a substring of any name in the corpus.
pub(super) const NAME: &str = "printed-level";

/// The program whose test compiles everything itself.
const AFRESH: &str = "vadd_f32.13.1";

pub fn trials() -> Vec<Trial> {
    let full = tile_test_support::full();
    let (targets, levels): (&'static [&'static str], &'static [u8]) =
        if full { (&["sm_80", "sm_90", "sm_100", "sm_120"], &[0, 2, 3]) } else { (&["sm_90"], &[3]) };
    let mut trials = vec![
        Trial::test("levels/what_does_not_fit", what_does_not_fit),
        Trial::test("levels/edited_llvm_ir", edited_llvm_ir),
        Trial::test("levels/bad_llvm_ir", bad_llvm_ir),
    ];
    let programs = corpus::programs(root()).map(|programs| {
        programs
            .into_iter()
            .filter(|p| p.is_readable())
            .map(|program| {
                Trial::test(format!("levels/{}", program.name), move || {
                    if program.name == AFRESH {
                        store::leave_out();
                    }
                    let bytes = std::fs::read(&program.file)?;
                    for name in targets {
                        let target = Target::by_name(name).ok_or("no such target")?;
                        levels.iter().try_for_each(|&level| same_from_everywhere(&bytes, target, level))?;
                    }
                    Ok(())
                })
            })
            .collect()
    });
    trials.extend(listed("levels", programs));
    trials
}

/// The input, its kind, and its declared level.
type Input<'a> = (&'a [u8], InputKind, Option<Level>);

fn try_compile(
    compiler: &dyn Compiler,
    input: Input<'_>,
    target: &'static Target,
    level: u8,
    emit: Emit,
) -> Result<String, (CompileError, String)> {
    let (input, kind, start_from) = input;
    let request = CompileRequest {
        start_from,
        input_name: NAME,
        opt_level: level,
        emit,
        ..CompileRequest::new(input, kind, target)
    };
    let mut said = String::new();
    let result = compiler.compile(&request, &mut |d| said.push_str(&format!("{}\n", d.message)));
    result.map(|output| output.text).map_err(|e| (e, said))
}

fn compile(input: Input<'_>, target: &'static Target, level: u8, emit: Emit) -> Result<String, Failed> {
    compile_by(&InProcess, input, target, level, emit)
}

fn compile_by(
    compiler: &dyn Compiler,
    input: Input<'_>,
    target: &'static Target,
    level: u8,
    emit: Emit,
) -> Result<String, Failed> {
    try_compile(compiler, input, target, level, emit).map_err(|(e, said)| Failed::from(format!("{e}\n{said}")))
}

/// Returns the kind of a program in bytecode or in text, as the command detects it.
pub(super) fn kind_of(input: &[u8]) -> InputKind {
    tile_interface::input_kind(Path::new(""), input).unwrap_or(InputKind::Text)
}

fn same_from_everywhere(bytes: &[u8], target: &'static Target, level: u8) -> Result<(), Failed> {
    let whole: Input<'_> = (bytes, kind_of(bytes), None);
    // The context that reads a text is not the one that printed it.
    let (printer, reader) = (Session::new(), Session::new());
    let once = without_places(&compile_by(&Stored, whole, target, level, Emit::Ptx)?);
    for start in Level::ALL {
        let at = format!("{} -O{level} from {}", target.name, start.emit().name());
        let wrong = |e: Failed| Failed::from(format!("{at}: {}", e.message().unwrap_or_default()));
        let text = compile_by(&printer, whole, target, level, start.emit()).map_err(wrong)?;
        for said in [None, Some(*start)] {
            let input = (text.as_bytes(), kind_of(text.as_bytes()), said);
            let again = without_places(&compile_by(&reader, input, target, level, Emit::Ptx).map_err(wrong)?);
            if let Some((a, b)) = once.iter().zip(&again).find(|(a, b)| a != b) {
                return Err(format!("{at}: the PTX differs:\n  {a}\n  {b}").into());
            }
            if once.len() != again.len() {
                return Err(format!("{at}: {} lines of PTX and {}", once.len(), again.len()).into());
            }
            // Printing it again changes nothing, except that LLVM renumbers attributes.
            if *start != Level::Llvm && compile_by(&reader, input, target, level, start.emit()).map_err(wrong)? != text
            {
                return Err(format!("{at}: the text changes when it is read and printed").into());
            }
        }
    }
    Ok(())
}

/// Returns PTX without comments and without the locations of assertions, because text without locations gets the
/// locations of its own lines. They appear in the message, which is data bytes like the file name, and in the
/// following argument.
pub(super) fn without_places(ptx: &str) -> Vec<String> {
    let asserts = ptx.contains("__assertfail");
    let lines = ptx.lines().filter(|l| !l.starts_with("//"));
    let lines = lines.map(|line| {
        let data = line.split_once("= {").filter(|_| asserts && line.contains("__tileir_data_"));
        let text = data.map(|(_, rest)| {
            let bytes = rest.trim_end_matches("};").split(',').filter_map(|b| b.trim().parse::<u8>().ok());
            String::from_utf8_lossy(&bytes.collect::<Vec<u8>>()).into_owned()
        });
        match text {
            Some(text) if text.contains(NAME) || text.contains("kernels.py") => {
                let message = text.split_once(": ").map_or("", |(_, message)| message);
                let symbol = line.split_once("__tileir_data_").map_or("", |(_, rest)| rest);
                format!("{}: {message}", symbol.split('[').next().unwrap_or_default())
            }
            _ if asserts && line.trim_start().starts_with("st.param.b32 \t[param2], ") => "line".into(),
            _ => line.to_string(),
        }
    });
    lines.collect()
}

const KERNEL: &str = "cuda_tile.module @m { entry @k(%p: tile<ptr<i32>>) {
  %c = constant <i32: 7> : tile<i32>
  %t = store_ptr_tko weak %p, %c : tile<ptr<i32>>, tile<i32> -> token
  return
} }";

fn sm_90() -> &'static Target {
    Target::by_name("sm_90").expect("a target of the table")
}

/// A level that the input cannot have, or that is after the requested output, is an error that says so.
fn what_does_not_fit() -> Result<(), Failed> {
    let text = |emit| compile((KERNEL.as_bytes(), InputKind::Text, None), sm_90(), 3, emit);
    let (tileaa, tileas, llvm) = (text(Emit::TileAa)?, text(Emit::TileAs)?, text(Emit::Llvm)?);
    let cases = [
        (
            KERNEL,
            Some(Level::TileAa),
            Emit::Ptx,
            "--start-from=tileaa does not match the input, which contains 'cuda_tile.",
        ),
        (
            &tileaa,
            Some(Level::TileAs),
            Emit::Ptx,
            "--start-from=tileas does not match the input, which contains 'nv_tileaa.",
        ),
        (&tileas, None, Emit::TileAa, "--emit=tileaa precedes the level of the input, which is tileas"),
        (&llvm, None, Emit::TileAs, "--emit=tileas precedes the level of the input, which is llvm"),
    ];
    for (input, start, emit, expected) in cases {
        match try_compile(&InProcess, (input.as_bytes(), kind_of(input.as_bytes()), start), sm_90(), 3, emit) {
            Err((CompileError::Configuration(text), _)) if text.starts_with(expected) => {}
            other => return Err(format!("expected '{expected}', got {other:?}").into()),
        }
    }
    Ok(())
}

/// Edits of the LLVM IR reach the PTX.
fn edited_llvm_ir() -> Result<(), Failed> {
    let llvm = compile((KERNEL.as_bytes(), InputKind::Text, None), sm_90(), 3, Emit::Llvm)?;
    let edited = llvm.replacen("i32 7", "i32 8", 1);
    let ptx = compile((edited.as_bytes(), InputKind::LlvmIr, None), sm_90(), 3, Emit::Ptx)?;
    if llvm == edited || !ptx.contains(".entry k") || !ptx.contains(", 8;") {
        return Err(format!("the edit is not in the PTX:\n{edited}\n{ptx}").into());
    }
    Ok(())
}

/// Invalid LLVM IR is an error and does not crash the process.
fn bad_llvm_ir() -> Result<(), Failed> {
    let cases = [
        ("define void @k() {", "found end of file"),
        ("define ptx_kernel void @\"a b\"() { ret void }", "PTX cannot spell the name of the entry \"a b\""),
        ("define ptx_kernel i32 @k() { %a = add i32 %a, 1 ret i32 %a }", "invalid LLVM IR"),
        (
            "target triple = \"x86_64-linux-gnu\"\ndefine void @k() { ret void }",
            "the LLVM IR is for 'x86_64-linux-gnu'",
        ),
        ("define void @k() { ret void }\0", "NUL byte"),
    ];
    for (text, expected) in cases {
        match try_compile(&InProcess, (text.as_bytes(), InputKind::LlvmIr, None), sm_90(), 3, Emit::Ptx) {
            Err((_, said)) if said.contains(expected) => {}
            other => return Err(format!("{text}: expected '{expected}', got {other:?}").into()),
        }
    }
    Ok(())
}
