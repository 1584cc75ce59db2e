//! Calls of library functions on the simulated device: the golden cases, accesses, element types, scratch memory,
//! control flow, and the order of memory.

use melior::ir::Module as Mlir;
use ptx_sim::Module;
use std::fs;
use tile_interface::{CompileRequest, Compiler, InputKind};
use tile_targets::Target;
use tile_test_support::{
    Trial,
    device::{Run, configurations, schedules},
    functions, root,
};
use tileiras::{
    compile::InProcess,
    dialect,
    translate::{Profile, Version, export},
};

const HEADER: &str = ".version 7.0\n.target sm_80\n.address_size 64\n";

fn golden(name: &str) -> Vec<u8> {
    fs::read(root().join("tests/bytecode/tilelib").join(name)).unwrap()
}

/// Makes a library named `l` from the text of its records and the bodies of its functions.
fn library(interface: &str, catalogue: &str, code: &str) -> (String, Vec<u8>) {
    let part = |text: &str| format!("cuda_tile.module @l {{\n{text}\n}}");
    library_of("l", &part(interface), &part(catalogue), format!("{HEADER}{code}").as_bytes())
}

/// Makes a library from two modules and code of any kind.
pub fn library_of(name: &str, interface: &str, catalogue: &str, code: &[u8]) -> (String, Vec<u8>) {
    let context = dialect::context();
    let part = |text: &str| {
        let module = Mlir::parse(&context, text).expect("the text is valid");
        export(&module, Version::new(13, 5), Profile::Public).unwrap()
    };
    let file = tile_library::create(&part(interface), &[part(catalogue), code.to_vec()]);
    (name.into(), file.unwrap())
}

pub fn compile(
    input: &[u8],
    kind: InputKind,
    configuration: (&str, u8),
    library: &(String, Vec<u8>),
) -> Result<String, String> {
    compile_with(input, kind, configuration, std::slice::from_ref(library))
}

pub fn compile_with(
    input: &[u8],
    kind: InputKind,
    (target, level): (&str, u8),
    libraries: &[(String, Vec<u8>)],
) -> Result<String, String> {
    let mut said = String::new();
    let target = Target::by_name(target).unwrap();
    let request =
        CompileRequest { opt_level: level, preview: true, libraries, ..CompileRequest::new(input, kind, target) };
    let result = InProcess.compile(&request, &mut |d| said += &format!("{}\n", tile_diag::render::plain(&d)));
    result.map(|output| output.text).map_err(|e| format!("{said}{e}"))
}

/// Compiles a kernel with one pointer and runs it on floats in memory, in every configuration. With `races`, also under
/// adversarial schedules.
fn run(input: &[u8], kind: InputKind, library: &(String, Vec<u8>), before: &[f32], races: bool) -> Vec<Vec<f32>> {
    let mut all = vec![];
    for configuration in configurations() {
        let ptx = compile(input, kind, configuration, library).unwrap_or_else(|e| panic!("{configuration:?}: {e}"));
        let module = Module::parse(&ptx).unwrap_or_else(|e| panic!("{e}\n{ptx}"));
        for schedule in if races { schedules() } else { &[None] } {
            let mut run = Run::default();
            let bytes: Vec<u8> = before.iter().flat_map(|v| v.to_le_bytes()).collect();
            let memory = run.memory(&bytes);
            run.launch(&module, "k", 1, *schedule)
                .unwrap_or_else(|e| panic!("{configuration:?}, {schedule:?}: {e}\n{ptx}"));
            let after = run.read(memory, bytes.len());
            all.push(after.chunks(4).map(|c| f32::from_le_bytes(c.try_into().unwrap())).collect());
        }
    }
    all
}

/// A kernel on the elements of one pointer.
pub fn kernel(elements: usize, hints: &str, body: &str) -> String {
    format!(
        "cuda_tile.module @m {{ entry @k(%p: tile<ptr<f32>>) {hints} {{
           %i = iota : tile<{elements}xi32>
           %b = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>
           %c = broadcast %b : tile<1xptr<f32>> -> tile<{elements}xptr<f32>>
           %a = offset %c, %i : tile<{elements}xptr<f32>>, tile<{elements}xi32> -> tile<{elements}xptr<f32>>
           %x, %t = load_ptr_tko weak %a : tile<{elements}xptr<f32>> -> tile<{elements}xf32>, token
           {body}
           %s = store_ptr_tko weak %a, %y token=%u : tile<{elements}xptr<f32>>, tile<{elements}xf32> -> token
           return
         }} }}"
    )
}

pub const INOUT: &str = "{cuda_tile.preview$access = #cuda_tile<preview$access<inout>>}";
const IN: &str = "{cuda_tile.preview$access = #cuda_tile<preview$access<in>>}";
const OUT: &str = "{cuda_tile.preview$access = #cuda_tile<preview$access<out>>}";

/// A fragment in local memory.
pub fn local(shape: &str, map: &str) -> String {
    let count: usize =
        shape.trim_end_matches(|c: char| c != 'x').split('x').filter_map(|d| d.parse::<usize>().ok()).product();
    format!("preview$fragment<{shape}, local, mem_layout = <({count}):(1)>, fragmap = <{map}>>")
}

/// The function of the golden maps: stores `1000 * tid + j` into element `j`.
fn mapping(symbol: &str, elements: usize, shared: bool, has_scratch: bool) -> String {
    let (ty, space) = if shared { ("b32", ".shared") } else { ("b64", "") };
    let scratch = if has_scratch { ", .param .b32 scratch" } else { "" };
    let stores: String = (0..elements)
        .map(|j| format!("add.s32 %r2, %r1, {j};\ncvt.rn.f32.s32 %f1, %r2;\nst{space}.f32 [%a+{}], %f1;\n", 4 * j))
        .collect();
    format!(
        ".visible .func {symbol}(.param .{ty} p{scratch})\n{{\n.reg .{ty} %a;\n.reg .b32 %r<3>;\n.reg .f32 %f<2>;\n\
         ld.param.{ty} %a, [p];\nmov.u32 %r1, %tid.x;\nmul.lo.s32 %r1, %r1, 1000;\n{stores}ret;\n}}\n"
    )
}

fn golden_maps() {
    let cases = [
        ("local1", 1),
        ("local32", 1),
        ("local4", 4),
        ("local4s", 4),
        ("colmajor", 4),
        ("nested", 4),
        ("frag2d", 4),
        ("frag2dc", 4),
        ("invoc4", 1),
        ("shared", 128),
        ("sharedrm", 128),
    ];
    for (case, elements) in cases {
        let map = String::from_utf8(golden(&format!("map_{case}.txt"))).unwrap();
        let expected: Vec<f32> = map.split_whitespace().map(|v| v.parse().unwrap()).collect();
        let [interface, catalogue] = ["iface", "impl"].map(|part| golden(&format!("{part}_{case}.tilebc")));
        let shared = case.starts_with("shared");
        let code = format!("{HEADER}{}", mapping("sym", elements, shared, false)).into_bytes();
        let library = ("l".to_owned(), tile_library::create(&interface, &[catalogue, code]).unwrap());
        let input = golden(&format!("call_{case}.tilebc"));
        let before = vec![-1.0; expected.len()];
        // All threads write one copy in shared memory, so only the element counts, and there are races.
        let normal = |v: &[f32]| v.iter().map(|v| if shared { v % 1000.0 } else { *v }).collect::<Vec<_>>();
        for after in run(&input, InputKind::PublicBytecode, &library, &before, !shared) {
            assert_eq!(normal(&after), normal(&expected), "{case}");
        }
    }
}

/// Eight invocations of a warp on four warps, a symbolic size, and scratch memory that the function ignores.
fn other_golden_cases() {
    let library = |case: &str, code: String| {
        let [interface, catalogue] = ["iface", "impl"].map(|part| golden(&format!("{part}_{case}.tilebc")));
        ("l".to_owned(), tile_library::create(&interface, &[catalogue, (HEADER.to_owned() + &code).into()]).unwrap())
    };
    let thread = |i: usize| (i % 128) as f32 * 1000.0;
    let eight = library("invoc8", mapping("sym", 1, false, false));
    for after in run(&golden("call_invoc8.tilebc"), InputKind::PublicBytecode, &eight, &[0.0; 256], true) {
        assert_eq!(after, (0..256).map(thread).collect::<Vec<_>>());
    }
    let symbolic = library("symbolic", mapping("sym__N4", 4, false, false));
    for after in run(&golden("call_symbolic4.tilebc"), InputKind::PublicBytecode, &symbolic, &[0.0; 512], true) {
        assert_eq!(after, (0..512).map(|i| thread(i / 4) + (i % 4) as f32).collect::<Vec<_>>());
    }
    let scratch = library("scratch", mapping("sym", 1, false, true));
    for after in run(&golden("call_scratch.tilebc"), InputKind::PublicBytecode, &scratch, &[0.0; 128], true) {
        assert_eq!(after, (0..128).map(thread).collect::<Vec<_>>());
    }
}

/// The function reverses a tile through scratch memory and a barrier of the CTA.
fn scratch_memory_and_barriers() {
    let library = library(
        &format!("preview$func extern @reverse(%a: tile<128xf32> {INOUT}) -> tile<128xf32>"),
        &format!(
            "preview$extern_impl @rev implements @reverse (%a: {} {INOUT}) synchronization = \
             #cuda_tile<preview$synchronization<cta>> scratch {{smem.size = #cuda_tile<preview$expr_int<512>>, \
             smem.alignment = #cuda_tile<preview$expr_int<256>>}}",
            local("1xf32", "(1, 128, 1):(0, 1, 0)")
        ),
        ".visible .func rev(.param .b64 p, .param .b32 s)\n{\n.reg .b64 %a;\n.reg .b32 %r<6>;\n.reg .pred %q;\n\
         ld.param.b64 %a, [p];\nld.param.b32 %r1, [s];\nmov.u32 %r2, %tid.x;\nshl.b32 %r3, %r2, 2;\n\
         add.s32 %r4, %r1, %r3;\nld.b32 %r5, [%a];\nst.shared.b32 [%r4], %r5;\nbar.sync 0;\nsub.s32 %r3, 508, %r3;\n\
         add.s32 %r4, %r1, %r3;\nld.shared.b32 %r5, [%r4];\nand.b32 %r1, %r1, 255;\nsetp.ne.u32 %q, %r1, 0;\n\
         @%q trap;\nst.b32 [%a], %r5;\nret;\n}\n",
    );
    let text = kernel(
        128,
        "",
        "%y, %u = preview$call @reverse(%x, %t) : (!cuda_tile.tile<128xf32>, !cuda_tile.token) -> \
         (!cuda_tile.tile<128xf32>, !cuda_tile.token)",
    );
    let before: Vec<f32> = (0..128).map(|i| i as f32).collect();
    for after in run(text.as_bytes(), InputKind::Text, &library, &before, true) {
        assert_eq!(after, before.iter().rev().copied().collect::<Vec<_>>());
    }
}

/// `add(inout tile, in scalar, out scalar)`: every thread has the scalars, and the first thread's result counts.
fn accesses() -> (String, Vec<u8>) {
    library(
        &format!(
            "preview$func extern @add(%a: tile<128xf32> {INOUT}, %b: tile<f32> {IN}, %c: tile<f32> {OUT}) -> \
             (tile<128xf32>, tile<f32>)"
        ),
        &format!(
            "preview$extern_impl @add implements @add (%a: {} {INOUT}, %b: {scalar} {IN}, %c: {scalar} {OUT})",
            local("1xf32", "(1, 128, 1):(0, 1, 0)"),
            scalar = local("1xf32", "(1, 128, 1):(0, 0, 0)")
        ),
        ".visible .func add(.param .b64 a, .param .b64 b, .param .b64 c)\n{\n.reg .b64 %p<4>;\n.reg .f32 %f<4>;\n\
         .reg .b32 %r<2>;\nld.param.b64 %p1, [a];\nld.param.b64 %p2, [b];\nld.param.b64 %p3, [c];\nld.f32 %f1, [%p1];\n\
         ld.f32 %f2, [%p2];\nadd.f32 %f1, %f1, %f2;\nst.f32 [%p1], %f1;\nmov.u32 %r1, %tid.x;\nadd.s32 %r1, %r1, 7;\n\
         cvt.rn.f32.u32 %f3, %r1;\nst.f32 [%p3], %f3;\nret;\n}\n",
    )
}

const ADD: &str = "(!cuda_tile.tile<128xf32>, !cuda_tile.tile<f32>, !cuda_tile.tile<f32>) -> \
                   (!cuda_tile.tile<128xf32>, !cuda_tile.tile<f32>)";

fn scalars_and_several_results() {
    let text = kernel(
        128,
        "",
        &format!(
            "%two = constant <f32: 2.0> : tile<f32>
             %zero = constant <f32: 0.0> : tile<f32>
             %r, %first = preview$call @add(%x, %two, %zero) : {ADD}
             %f1 = reshape %first : tile<f32> -> tile<1xf32>
             %f2 = broadcast %f1 : tile<1xf32> -> tile<128xf32>
             %y = mulf %r, %f2 rounding<nearest_even> : tile<128xf32>
             %u = make_token : token"
        ),
    );
    let before: Vec<f32> = (0..128).map(|i| i as f32).collect();
    for after in run(text.as_bytes(), InputKind::Text, &accesses(), &before, true) {
        assert_eq!(after, before.iter().map(|v| (v + 2.0) * 7.0).collect::<Vec<_>>());
    }
}

/// A call in a loop with another value each time, and one in a branch.
fn loops_and_branches() {
    let text = kernel(
        128,
        "",
        &format!(
            "%zero = constant <f32: 0.0> : tile<f32>
             %one = constant <f32: 1.0> : tile<f32>
             %c0 = constant <i32: 0> : tile<i32>
             %c1 = constant <i32: 1> : tile<i32>
             %c5 = constant <i32: 5> : tile<i32>
             %sum = for %j in (%c0 to %c5, step %c1) : tile<i32> iter_values(%v = %x) -> (tile<128xf32>) {{
               %f = itof %j signed : tile<i32> -> tile<f32>
               %r, %n = preview$call @add(%v, %f, %zero) : {ADD}
               continue %r : tile<128xf32>
             }}
             %big = cmpi greater_than %c5, %c1, signed : tile<i32> -> tile<i1>
             %y = if %big -> (tile<128xf32>) {{
               %r, %n = preview$call @add(%sum, %one, %zero) : {ADD}
               yield %r : tile<128xf32>
             }} else {{
               yield %sum : tile<128xf32>
             }}
             %u = make_token : token"
        ),
    );
    let before: Vec<f32> = (0..128).map(|i| i as f32).collect();
    for after in run(text.as_bytes(), InputKind::Text, &accesses(), &before, true) {
        assert_eq!(after, before.iter().map(|v| v + 11.0).collect::<Vec<_>>());
    }
}

/// The function doubles another thread's element in global memory: tokens order it with stores and loads of all
/// threads.
fn tokens_order_accesses_of_functions() {
    let library = library(
        &format!("preview$func extern @double(%a: tile<ptr<f32>> {IN})"),
        &format!(
            "preview$extern_impl @dbl implements @double (%a: {} {IN})",
            local("1xptr<f32>", "(1, 128, 1):(0, 0, 0)")
        ),
        ".visible .func dbl(.param .b64 a)\n{\n.reg .b64 %p<4>;\n.reg .f32 %f;\n.reg .b32 %r<2>;\nld.param.b64 %p1, [a];\n\
         ld.b64 %p1, [%p1];\nmov.u32 %r1, %tid.x;\nsub.s32 %r1, 127, %r1;\nmul.wide.u32 %p2, %r1, 4;\n\
         add.s64 %p1, %p1, %p2;\nld.f32 %f, [%p1];\nadd.f32 %f, %f, %f;\nst.f32 [%p1], %f;\nret;\n}\n",
    );
    let text = kernel(
        128,
        "",
        "%h = constant <f32: 0.5> : tile<128xf32>
         %z = addf %x, %h rounding<nearest_even> : tile<128xf32>
         %t1 = store_ptr_tko weak %a, %z token=%t : tile<128xptr<f32>>, tile<128xf32> -> token
         %t2 = preview$call @double(%p, %t1) : (!cuda_tile.tile<ptr<f32>>, !cuda_tile.token) -> !cuda_tile.token
         %w, %u = load_ptr_tko weak %a token=%t2 : tile<128xptr<f32>> -> tile<128xf32>, token
         %y = negf %w : tile<128xf32>",
    );
    let before: Vec<f32> = (0..128).map(|i| i as f32).collect();
    for after in run(text.as_bytes(), InputKind::Text, &library, &before, true) {
        assert_eq!(after, before.iter().map(|v| -2.0 * (v + 0.5)).collect::<Vec<_>>());
    }
}

/// Elements at their natural size; each function adds one to its four elements, through a tile of two dimensions.
fn element_types() {
    let cases = [
        ("f16", "ftof", "b16", 2, "add.f16 %v, %v, %one;", "mov.b16 %one, 0x3C00;"),
        ("f64", "ftof", "f64", 8, "add.f64 %v, %v, %one;", "mov.f64 %one, 0d3FF0000000000000;"),
        ("i8", "ftoi", "u16", 1, "add.u16 %v, %v, %one;", "mov.u16 %one, 1;"),
        ("i64", "ftoi", "u64", 8, "add.u64 %v, %v, %one;", "mov.u64 %one, 1;"),
    ];
    for (element, convert, register, bytes, add, one) in cases {
        let access = if bytes == 1 { "u8" } else { register };
        let steps: String = (0..4)
            .map(|j| format!("ld.{access} %v, [%a+{}];\n{add}\nst.{access} [%a+{}], %v;\n", j * bytes, j * bytes))
            .collect();
        let library = library(
            &format!("preview$func extern @inc(%a: tile<8x16x{element}> {INOUT}) -> tile<8x16x{element}>"),
            &format!(
                "preview$extern_impl @inc implements @inc (%a: {} {INOUT})",
                local(&format!("4x{element}"), "(1, 32, 4):(0, 4, 1)")
            ),
            &format!(
                ".visible .func inc(.param .b64 p)\n{{\n.reg .b64 %a;\n.reg .{register} %v;\n.reg .{register} %one;\n\
                 ld.param.b64 %a, [p];\n{one}\n{steps}ret;\n}}\n"
            ),
        );
        let (signed, back) = match convert {
            "ftoi" => (" signed", format!("itof %r signed : tile<8x16x{element}> -> tile<8x16xf32>")),
            _ => ("", format!("ftof %r : tile<8x16x{element}> -> tile<8x16xf32>")),
        };
        let text = kernel(
            128,
            "",
            &format!(
                "%x2 = reshape %x : tile<128xf32> -> tile<8x16xf32>
                 %n = {convert} %x2{signed} : tile<8x16xf32> -> tile<8x16x{element}>
                 %r = preview$call @inc(%n) : (!cuda_tile.tile<8x16x{element}>) -> !cuda_tile.tile<8x16x{element}>
                 %w = {back}
                 %y = reshape %w : tile<8x16xf32> -> tile<128xf32>
                 %u = make_token : token"
            ),
        );
        let before: Vec<f32> = (0..128).map(|i| (i % 100) as f32).collect();
        for after in run(text.as_bytes(), InputKind::Text, &library, &before, true) {
            assert_eq!(after, before.iter().map(|v| v + 1.0).collect::<Vec<_>>(), "{element}");
        }
    }
}

/// 16 of 128 threads, 256 threads by a hint, and a map whose numbers are not powers of two.
fn numbers_of_threads() {
    let of = |elements: usize, shape: &str, map: &str, count: usize, hints: &str| {
        let library = library(
            &format!("preview$func extern @f(%a: tile<{elements}xf32> {INOUT}) -> tile<{elements}xf32>"),
            &format!("preview$extern_impl @sym implements @f (%a: {} {INOUT})", local(shape, map)),
            &mapping("sym", count, false, false),
        );
        let text = kernel(
            elements,
            hints,
            &format!(
                "%y = preview$call @f(%x) : (!cuda_tile.tile<{elements}xf32>) -> !cuda_tile.tile<{elements}xf32>
                 %u = make_token : token"
            ),
        );
        let expected: Vec<f32> = (0..elements).map(|i| (1000 * (i / count) + i % count) as f32).collect();
        for after in run(text.as_bytes(), InputKind::Text, &library, &vec![0.0; elements], true) {
            assert_eq!(after, expected, "{map}");
        }
    };
    of(16, "1xf32", "(1, 16, 1):(0, 1, 0)", 1, "");
    let hints = "optimization_hints=<default = {num_worker_warps_per_cta = 8}>";
    of(256, "1xf32", "(1, 256, 1):(0, 1, 0)", 1, hints);
    of(1024, "32xf32", "(1, 32, 32):(0, 32, 1)", 32, "");
}

/// A kernel with a call has no agents, and shares of the launch stay as the function expects.
fn no_agents_with_calls() {
    let text = |call: bool| {
        let body = if call {
            "%r = preview$call @f(%d) : (!cuda_tile.tile<128x128xf32>) -> !cuda_tile.tile<128x128xf32>"
        } else {
            "%r = addf %d, %d rounding<nearest_even> : tile<128x128xf32>"
        };
        format!(
            "cuda_tile.module @m {{ entry @k(%p: tile<ptr<f16>>, %q: tile<ptr<f32>>) {{
               %av = make_tensor_view %p, shape = [128, 1024], strides = [1024, 1] : tile<ptr<f16>> -> tensor_view<128x1024xf16, strides=[1024,1]>
               %bv = make_tensor_view %p, shape = [1024, 128], strides = [128, 1] : tile<ptr<f16>> -> tensor_view<1024x128xf16, strides=[128,1]>
               %cv = make_tensor_view %q, shape = [128, 128], strides = [128, 1] : tile<ptr<f32>> -> tensor_view<128x128xf32, strides=[128,1]>
               %a = make_partition_view %av : partition_view<tile=(128x64), tensor_view<128x1024xf16, strides=[1024,1]>>
               %b = make_partition_view %bv : partition_view<tile=(64x128), tensor_view<1024x128xf16, strides=[128,1]>>
               %c = make_partition_view %cv : partition_view<tile=(128x128), tensor_view<128x128xf32, strides=[128,1]>>
               %zero = constant <f32: 0.0> : tile<128x128xf32>
               %c0 = constant <i32: 0> : tile<i32>
               %c1 = constant <i32: 1> : tile<i32>
               %n = constant <i32: 16> : tile<i32>
               %d = for %j in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<128x128xf32>) {{
                 %l, %t1 = load_view_tko weak %a[%c0, %j] : partition_view<tile=(128x64), tensor_view<128x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<128x64xf16>, token
                 %r, %t2 = load_view_tko weak %b[%j, %c0] : partition_view<tile=(64x128), tensor_view<1024x128xf16, strides=[128,1]>>, tile<i32> -> tile<64x128xf16>, token
                 %s = mmaf %l, %r, %acc : tile<128x64xf16>, tile<64x128xf16>, tile<128x128xf32>
                 continue %s : tile<128x128xf32>
               }}
               {body}
               %t = store_view_tko weak %r, %c[%c0, %c0] : tile<128x128xf32>, partition_view<tile=(128x128), tensor_view<128x128xf32, strides=[128,1]>>, tile<i32> -> token
               return
             }} }}"
        )
    };
    let library = library(
        &format!("preview$func extern @f(%a: tile<128x128xf32> {INOUT}) -> tile<128x128xf32>"),
        &format!(
            "preview$extern_impl @sym implements @f (%a: {} {INOUT})",
            local("128xf32", "(1, 128, 128):(0, 128, 1)")
        ),
        &mapping("sym", 1, false, false),
    );
    let plain = compile(text(false).as_bytes(), InputKind::Text, ("sm_90", 3), &library).unwrap();
    assert!(plain.contains("setmaxnreg"), "the product alone has agents");
    let with = compile(text(true).as_bytes(), InputKind::Text, ("sm_90", 3), &library).unwrap();
    assert!(!with.contains("setmaxnreg") && with.contains(".reqntid 128"), "{with}");
    assert!(Module::parse(&with).is_ok());
}

/// All threads have an `inout` scalar. Each adds its number, and the first thread's result counts.
fn a_scalar_that_all_threads_change() {
    let library = library(
        &format!("preview$func extern @f(%a: tile<f32> {INOUT}) -> tile<f32>"),
        &format!("preview$extern_impl @sym implements @f (%a: {} {INOUT})", local("1xf32", "(1, 128, 1):(0, 0, 0)")),
        ".visible .func sym(.param .b64 a)\n{\n.reg .b64 %p;\n.reg .f32 %f<3>;\n.reg .b32 %r;\nld.param.b64 %p, [a];\n\
         mov.u32 %r, %tid.x;\nadd.u32 %r, %r, 5;\ncvt.rn.f32.u32 %f1, %r;\nld.f32 %f2, [%p];\nadd.f32 %f1, %f1, %f2;\n\
         st.f32 [%p], %f1;\nret;\n}\n",
    );
    let text = kernel(
        128,
        "",
        "%v = constant <f32: 37.0> : tile<f32>
         %r = preview$call @f(%v) : (!cuda_tile.tile<f32>) -> !cuda_tile.tile<f32>
         %r1 = reshape %r : tile<f32> -> tile<1xf32>
         %y = broadcast %r1 : tile<1xf32> -> tile<128xf32>
         %u = make_token : token",
    );
    for after in run(text.as_bytes(), InputKind::Text, &library, &[0.0; 128], true) {
        assert_eq!(after, [42.0; 128]);
    }
}

pub fn trials() -> Vec<Trial> {
    functions![
        golden_maps,
        other_golden_cases,
        scratch_memory_and_barriers,
        scalars_and_several_results,
        loops_and_branches,
        tokens_order_accesses_of_functions,
        element_types,
        numbers_of_threads,
        a_scalar_that_all_threads_change,
        no_agents_with_calls
    ]
}
