//! Rings of asynchronous copies on sm_80 to sm_89 that use all the shared memory of a block: tests the number of
//! stages, that ptxas accepts them if it is told to, and the results, also of stages that are rounded in place.

use product_kind::{Kind, RAGGED};
use std::time::Duration;
use tile_fuzz::case::Case;
use tile_interface::{CompileRequest, Compiler, DebugInfo, InputKind};
use tile_interp::{machine::Limits, types::Number};
use tile_targets::Target;
use tile_test_support::{Trial, cubin, exact, functions, product_kind};
use tileiras::compile::{self, InProcess};

/// C = A B with tiles of 16 KiB.
const PRODUCT: &str = "cuda_tile.module @m {
  entry @product(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>) {
    %pa = assume div_by<16>, %a : tile<ptr<f16>>
    %pb = assume div_by<16>, %b : tile<ptr<f16>>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %six = constant <i32: 6> : tile<i32>
    %init = constant <f32: 0.0> : tile<128x128xf32>
    %ta = make_tensor_view %pa, shape = [128, 384], strides = [384, 1] : tensor_view<128x384xf16, strides=[384,1]>
    %tb = make_tensor_view %pb, shape = [384, 128], strides = [128, 1] : tensor_view<384x128xf16, strides=[128,1]>
    %tc = make_tensor_view %c, shape = [128, 128], strides = [128, 1] : tensor_view<128x128xf32, strides=[128,1]>
    %va = make_partition_view %ta : partition_view<tile=(128x64), tensor_view<128x384xf16, strides=[384,1]>>
    %vb = make_partition_view %tb : partition_view<tile=(64x128), tensor_view<384x128xf16, strides=[128,1]>>
    %vc = make_partition_view %tc : partition_view<tile=(128x128), tensor_view<128x128xf32, strides=[128,1]>>
    %sum = for %k in (%zero to %six, step %one) : tile<i32> iter_values(%acc = %init) -> (tile<128x128xf32>) {
      %x, %kx = load_view_tko weak %va[%zero, %k] : partition_view<tile=(128x64), tensor_view<128x384xf16, strides=[384,1]>>, tile<i32> -> tile<128x64xf16>, token
      %y, %ky = load_view_tko weak %vb[%k, %zero] : partition_view<tile=(64x128), tensor_view<384x128xf16, strides=[128,1]>>, tile<i32> -> tile<64x128xf16>, token
      %next = mmaf %x, %y, %acc : tile<128x64xf16>, tile<64x128xf16>, tile<128x128xf32>
      continue %next : tile<128x128xf32>
    }
    %done = store_view_tko weak %sum, %vc[%zero, %zero] : tile<128x128xf32>, partition_view<tile=(128x128), tensor_view<128x128xf32, strides=[128,1]>>, tile<i32> -> token
    return
  }
}";

const STAGE: u32 = 32 << 10;

fn compiled(target: &'static Target, extended: bool) -> String {
    let options = [("extended-smem".to_string(), extended.to_string())];
    let request = CompileRequest {
        pipeline_options: &options,
        ..CompileRequest::new(PRODUCT.as_bytes(), InputKind::Text, target)
    };
    InProcess.compile(&request, &mut |d| panic!("{}", tile_diag::render::plain(&d))).expect("it compiles").text
}

fn rings_take_what_a_block_has() {
    let mut numbers = exact::Numbers::default();
    let mut buffer = |count, number| numbers.buffer(count, number, 2, 1.0);
    let parameters =
        vec![buffer(128 * 384, Number::F16), buffer(384 * 128, Number::F16), buffer(128 * 128, Number::F32)];
    let program = compile::program(PRODUCT.as_bytes(), InputKind::Text, &mut |_| {}).expect("it is read");
    let case = Case { program, grid: [1, 1, 1], parameters };
    let limits = Limits { ops: Some(1_000_000), time: Some(Duration::from_secs(60)), races: true, ..Limits::default() };
    let meaning = case.meaning(limits).expect("it has a meaning");
    for (name, stages) in [("sm_80", 4), ("sm_86", 3), ("sm_89", 3)] {
        let target = Target::by_name(name).expect("a target");
        let ptx = compiled(target, true);
        let resources = cubin::assemble_with(&ptx, target, 3, DebugInfo::None, true).expect("ptxas takes it").resources;
        assert_eq!(resources[0].shared_memory, u64::from(stages * STAGE), "{name}");
        assert_eq!(resources[0].spill_stores, 0, "{name}");
        let refused = cubin::assemble(&ptx, target, 3, DebugInfo::None).expect_err("it takes more than PTX promises");
        assert!(refused.contains("uses too much shared data"), "{refused}");
        // All stages but one are in flight.
        assert!(ptx.contains(&format!("cp.async.wait_group \t{};", stages - 2)), "{ptx}");
        for seed in [None, Some(1), Some(2)] {
            let outcome = case.simulate(&ptx, seed, Duration::from_secs(120)).expect("it runs");
            assert_eq!(case.difference(&meaning, &outcome).map(|d| d.to_string()), None, "{name}, seed {seed:?}");
        }
        // The amount that PTX guarantees does not hold two stages, so tiles are sliced.
        let less = compiled(target, false);
        let resources = cubin::assemble(&less, target, 3, DebugInfo::None).expect("ptxas takes it").resources;
        assert!(resources[0].shared_memory <= 48 << 10, "{name}");
    }
}

/// In each order of both operands, in tiles of several extents, with rows and columns outside of the tensors.
fn stages_are_rounded_in_place() {
    let words = Kind { element: Number::F32, rounded: true, outside: [5, 3, 8], ..RAGGED };
    for turned in [[true, false], [false, true], [true, true], [false, false]] {
        for (target, m, n, k, trips) in
            [("sm_80", 64, 64, 32, 4), ("sm_86", 128, 64, 32, 3), ("sm_89", 64, 128, 64, 1), ("sm_80", 128, 128, 32, 0)]
        {
            let kind = Kind { turned, m, n, k, trips, ..words };
            kind.rounded_in_stages(target, &kind.usual());
        }
    }
}

pub fn trials() -> Vec<Trial> {
    functions![rings_take_what_a_block_has, stages_are_rounded_in_place]
}
