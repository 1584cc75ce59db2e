//! Remarks say what was chosen: on no program of the corpus do they repeat a line, and they name the unit of every
//! product.
//!
//! By default each program with products is compiled for one of four targets, and one in six of the others.
//! `TILEIRAS_TEST_FULL=1` takes all of them, for four targets.

use std::{collections::BTreeSet, fs, path::PathBuf};
use tile_driver::remarks;
use tile_interface::{Choice, CompileRequest, Compiler, InputKind, Remark, RemarkSubject};
use tile_launch::corpus::{self, Lists, Program};
use tile_targets::Target;
use tile_test_support::{Trial, functions};
use tileiras::{compile::Session, locations};

pub fn trials() -> Vec<Trial> {
    functions![remarks_name_the_unit_of_every_product, pairs_of_ctas_are_named, reasons_against_tma_are_listed]
}

const TARGETS: [&str; 4] = ["sm_80", "sm_90", "sm_100", "sm_120"];
const PRODUCTS: [&str; 3] = ["cuda_tile.mmaf", "cuda_tile.mmai", "cuda_tile.mmaf_scaled"];
const UNITS: [&str; 6] =
    ["FMA", "mma.sync", "mma.sync with block scales", "wgmma", "tcgen05", "tcgen05 by pairs of CTAs"];

fn compiled(session: &Session, input: &[u8], kind: InputKind, target: &str) -> Result<Vec<Remark>, String> {
    let target = Target::by_name(target).ok_or("an unknown target")?;
    let request = CompileRequest { remarks: true, ..CompileRequest::new(input, kind, target) };
    let mut messages = String::new();
    let output = session.compile(&request, &mut |d| messages += &tile_diag::render::plain(&d));
    output.map(|o| o.remarks).map_err(|e| format!("{e}\n{messages}"))
}

fn remarks_name_the_unit_of_every_product() -> Result<(), Box<dyn std::error::Error>> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let (full, lists) = (tile_test_support::full(), Lists::read(&root)?);
    let session = Session::new();
    let (mut wrong, mut units) = (String::new(), BTreeSet::new());
    let mut number = 0;
    for (i, program) in corpus::programs(&root)?.into_iter().filter(Program::is_readable).enumerate() {
        let input = fs::read(&program.file)?;
        let products = locations::of_ops(&input, InputKind::PublicBytecode, &PRODUCTS)?;
        if !full && products.is_empty() && i % 6 != 0 {
            continue;
        }
        number += 1;
        for (n, target) in TARGETS.into_iter().enumerate() {
            if !full && n != number % TARGETS.len() || lists.pending_on(&program.name, target).is_some() {
                continue;
            }
            let all = compiled(&session, &input, InputKind::PublicBytecode, target)?;
            let shown: Vec<&Remark> = all.iter().filter(|r| r.subject != RemarkSubject::Detail).collect();
            let mut lines = BTreeSet::new();
            for line in remarks::diagnostics(&shown).iter().map(tile_diag::render::plain) {
                if !lines.insert(line.clone()) {
                    wrong += &format!("{} for {target} repeats: {line}", program.name);
                }
            }
            let chosen = |r: &&Remark| {
                if let Some(Choice::Product(p)) = &r.choice { Some((r.location.clone(), p.unit)) } else { None }
            };
            let chosen: Vec<_> = shown.iter().filter_map(chosen).collect();
            assert!(chosen.iter().all(|(_, unit)| UNITS.contains(unit)), "{chosen:?}");
            units.extend(chosen.iter().map(|(_, unit)| *unit));
            for place in &products {
                if !chosen.iter().any(|(at, _)| at.as_ref() == Some(place)) {
                    wrong += &format!("{} for {target}: no unit for the product at {place:?}\n", program.name);
                }
            }
        }
    }
    assert!(["FMA", "mma.sync", "wgmma", "tcgen05"].iter().all(|unit| units.contains(unit)), "{units:?}");
    if wrong.is_empty() { Ok(()) } else { Err(wrong.into()) }
}

/// Two CTAs that split a tile by rows multiply together. No program of the corpus does this.
fn pairs_of_ctas_are_named() -> Result<(), Box<dyn std::error::Error>> {
    let text = "cuda_tile.module @m {
  entry @k(%a0: tile<ptr<bf16>>, %b0: tile<ptr<bf16>>, %c0: tile<ptr<bf16>>) optimization_hints=<sm_100 = {num_cta_in_cga = 2}> {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %eight = constant <i32: 8> : tile<i32>
    %start = constant <f32: 0.0> : tile<256x128xf32>
    %a = assume div_by<16>, %a0 : tile<ptr<bf16>>
    %b = assume div_by<16>, %b0 : tile<ptr<bf16>>
    %c = assume div_by<16>, %c0 : tile<ptr<bf16>>
    %ta = make_tensor_view %a, shape = [256, 512], strides = [512, 1] : tensor_view<256x512xbf16, strides=[512,1]>
    %tb = make_tensor_view %b, shape = [512, 128], strides = [128, 1] : tensor_view<512x128xbf16, strides=[128,1]>
    %tc = make_tensor_view %c, shape = [256, 128], strides = [128, 1] : tensor_view<256x128xbf16, strides=[128,1]>
    %va = make_partition_view %ta : partition_view<tile=(256x64), tensor_view<256x512xbf16, strides=[512,1]>>
    %vb = make_partition_view %tb : partition_view<tile=(64x128), tensor_view<512x128xbf16, strides=[128,1]>>
    %vc = make_partition_view %tc : partition_view<tile=(256x128), tensor_view<256x128xbf16, strides=[128,1]>>
    %sums = for %i in (%zero to %eight, step %one) : tile<i32> iter_values(%sum = %start) -> (tile<256x128xf32>) {
      %l, %t0 = load_view_tko weak %va[%zero, %i] : partition_view<tile=(256x64), tensor_view<256x512xbf16, strides=[512,1]>>, tile<i32> -> tile<256x64xbf16>, token
      %r, %t1 = load_view_tko weak %vb[%i, %zero] : partition_view<tile=(64x128), tensor_view<512x128xbf16, strides=[128,1]>>, tile<i32> -> tile<64x128xbf16>, token
      %next = mmaf %l, %r, %sum : tile<256x64xbf16>, tile<64x128xbf16>, tile<256x128xf32>
      continue %next : tile<256x128xf32>
    }
    %rounded = ftof %sums : tile<256x128xf32> -> tile<256x128xbf16>
    %done = store_view_tko weak %rounded, %vc[%zero, %zero] : tile<256x128xbf16>, partition_view<tile=(256x128), tensor_view<256x128xbf16, strides=[128,1]>>, tile<i32> -> token
    return
  }
}
";
    let of = |r: &Remark| match &r.choice {
        Some(Choice::Product(p)) => Some((p.unit, p.instruction, p.extents.clone())),
        _ => None,
    };
    let products = |target| -> Result<Vec<_>, String> {
        Ok(compiled(&Session::new(), text.as_bytes(), InputKind::Text, target)?.iter().filter_map(of).collect())
    };
    assert_eq!(products("sm_100")?, [("tcgen05 by pairs of CTAs", Some([256, 128, 16]), vec![128, 128, 64])]);
    assert_eq!(products("sm_90")?.iter().map(|(unit, ..)| *unit).collect::<Vec<_>>(), ["wgmma"]);
    Ok(())
}

/// The left operand of a product has no promises, and the right one lacks only the alignment of its address.
fn reasons_against_tma_are_listed() -> Result<(), Box<dyn std::error::Error>> {
    let text = "cuda_tile.module @m {
  entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>, %n: tile<i64>, %s: tile<i64>, %m: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %start = constant <f32: 0.0> : tile<64x64xf32>
    %ta = make_tensor_view %a, shape = [%n, %n], strides = [%s, 1] : tile<i64> -> tensor_view<?x?xf16, strides=[?,1]>
    %tb = make_tensor_view %b, shape = [%n, 256], strides = [256, 1] : tile<i64> -> tensor_view<?x256xf16, strides=[256,1]>
    %tc = make_tensor_view %c, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
    %va = make_partition_view %ta : partition_view<tile=(64x64), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>
    %vb = make_partition_view %tb : partition_view<tile=(64x64), padding_value = zero, tensor_view<?x256xf16, strides=[256,1]>>
    %vc = make_partition_view %tc : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>
    %sum = for %i in (%zero to %m, step %one) : tile<i32> iter_values(%acc = %start) -> (tile<64x64xf32>) {
      %x, %k0 = load_view_tko weak %va[%zero, %i] : partition_view<tile=(64x64), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>, tile<i32> -> tile<64x64xf16>, token
      %y, %k1 = load_view_tko weak %vb[%i, %zero] : partition_view<tile=(64x64), padding_value = zero, tensor_view<?x256xf16, strides=[256,1]>>, tile<i32> -> tile<64x64xf16>, token
      %next = mmaf %x, %y, %acc : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
      continue %next : tile<64x64xf32>
    }
    %l = store_view_tko weak %sum, %vc[%zero, %zero] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
    return
  }
}
";
    let all = compiled(&Session::new(), text.as_bytes(), InputKind::Text, "sm_90")?;
    let transfer = |line: u32| {
        let of = |r: &Remark| match &r.choice {
            Some(Choice::Transfer(t)) if r.location.as_ref().is_some_and(|l| l.line == line) => Some(t.clone()),
            _ => None,
        };
        all.iter().find_map(of).ok_or_else(|| format!("no transfer in line {line}: {all:#?}"))
    };
    let against = transfer(13)?.against_tma;
    assert!(against.iter().any(|r| r.contains("base address")), "{against:?}");
    assert!(against.iter().any(|r| r.contains("multiple of 8 elements")), "{against:?}");
    assert!(against.iter().any(|r| r.contains("less than")), "{against:?}");
    // One operand lacks only the alignment of its address.
    assert_eq!(transfer(14)?.against_tma, ["the base address is not known to be a multiple of 16 bytes"]);
    // The loop is where the source has it, and is one loop of all agents.
    let is_loop = |r: &&Remark| matches!(r.choice, Some(Choice::Loop(_)));
    let loops: Vec<u32> = all.iter().filter(is_loop).filter_map(|r| r.location.as_ref()).map(|l| l.line).collect();
    assert_eq!(loops, [12]);
    Ok(())
}
