//! Code of tile libraries in LLVM bitcode and LLVM IR: the example libraries in C and in Rust, as PTX and inlined, and
//! code that cannot be linked.

use crate::tile_libraries::{INOUT, compile, compile_with, kernel, library_of, local};
use ptx_sim::Module;
use std::{
    path::Path,
    process::Command,
    sync::atomic::{AtomicU32, Ordering},
};
use tile_interface::InputKind;
use tile_test_support::{
    Trial,
    device::{Numbers, Run, configurations, schedules},
    full, functions, root,
};

/// A library with a name, its interface, its catalogue and code.
type Library = (String, Vec<u8>);

/// A form of a library's code, and the compiler that makes it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    /// By clang.
    Ptx,
    Bitcode,
    Text,
    /// By rustc.
    RustPtx,
    RustText,
    RustBitcode,
}

const FORMS: [Form; 6] = [Form::Ptx, Form::Bitcode, Form::Text, Form::RustPtx, Form::RustText, Form::RustBitcode];

fn example(name: &str, file: &str) -> String {
    std::fs::read_to_string(root().join("examples/tile-libraries").join(name).join(file)).unwrap()
}

/// Compiles the source of an example. A file of its own receives the code, because tests run at the same time.
fn code(name: &str, form: Form) -> Vec<u8> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let folder = root().join("examples/tile-libraries").join(name);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let output = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}-{number}", std::process::id()));
    let mut command = match form {
        Form::Ptx | Form::Bitcode | Form::Text => {
            let mut clang = Command::new(Path::new(env!("MLIR_SYS_210_PREFIX")).join("bin/clang"));
            clang.args(["--target=nvptx64-nvidia-cuda", "-march=sm_80", "-Xclang", "-target-feature", "-Xclang"]);
            clang.args(["+ptx70", "-O2", "-Wall", "-Werror"]).args(match form {
                Form::Ptx => &["-S"][..],
                Form::Bitcode => &["-c", "-emit-llvm"],
                _ => &["-S", "-emit-llvm"],
            });
            clang.arg(folder.join(format!("{name}.c"))).arg("-o").arg(&output);
            clang
        }
        Form::RustPtx | Form::RustText | Form::RustBitcode => {
            let kind = match form {
                Form::RustPtx => "asm",
                Form::RustText => "llvm-ir",
                _ => "llvm-bc",
            };
            let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
            rustc.args(["--edition=2024", "--crate-type=lib", "--target=nvptx64-nvidia-cuda", "-Ctarget-cpu=sm_80"]);
            rustc.args(["-Copt-level=3", "-Cpanic=abort", "-Ainternal_features", "-Adead_code"]);
            rustc.arg(format!("--emit={kind}={}", output.display())).arg(folder.join(format!("{name}.rs")));
            // The libraries replace the crate `core`, which needs unstable features.
            rustc.env("RUSTC_BOOTSTRAP", "1");
            rustc
        }
    };
    let done = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(done.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&done.stderr));
    let code = std::fs::read(&output).unwrap();
    std::fs::remove_file(&output).unwrap();
    code
}

fn example_library(name: &str, form: Form) -> Library {
    library_of(name, &example(name, "interface.mlir"), &example(name, "catalogue.mlir"), &code(name, form))
}

/// Runs the kernel of an example on arrays of words, in each form of its code, configuration and schedule. Checks the
/// last array.
fn run(name: &str, entry: &str, arrays: &[Vec<u32>], mut check: impl FnMut(&[u32])) {
    let kernel = example(name, "kernel.mlir");
    for form in FORMS {
        let library = example_library(name, form);
        for configuration in example_configurations() {
            let ptx = compile(kernel.as_bytes(), InputKind::Text, configuration, &library)
                .unwrap_or_else(|e| panic!("{name}, {form:?}, {configuration:?}: {e}"));
            let is_inlined = !matches!(form, Form::Ptx | Form::RustPtx);
            assert_eq!(!ptx.contains("call.uni") && !ptx.contains(".func"), is_inlined, "{name}, {form:?}\n{ptx}");
            let module = Module::parse(&ptx).unwrap_or_else(|e| panic!("{e}\n{ptx}"));
            for schedule in schedules() {
                let mut run = Run::default();
                let bytes = |words: &[u32]| -> Vec<u8> { words.iter().flat_map(|w| w.to_le_bytes()).collect() };
                let memory: Vec<_> = arrays.iter().map(|words| run.memory(&bytes(words))).collect();
                run.launch(&module, entry, 4, *schedule)
                    .unwrap_or_else(|e| panic!("{name}, {form:?}, {configuration:?}, {schedule:?}: {e}\n{ptx}"));
                let size = 4 * arrays[arrays.len() - 1].len();
                let after = run.read(memory[memory.len() - 1], size);
                let words: Vec<u32> = after.chunks(4).map(|c| u32::from_le_bytes(c.try_into().unwrap())).collect();
                check(&words);
            }
        }
    }
}

/// One target of each generation with the full tests.
fn example_configurations() -> Vec<(&'static str, u8)> {
    if full() { configurations() } else { vec![("sm_80", 3), ("sm_100", 3), ("sm_90", 0)] }
}

fn words(seed: u64, count: usize) -> Vec<u32> {
    let mut numbers = Numbers(seed);
    (0..count).map(|_| numbers.draw() as u32).collect()
}

fn rows_are_sorted() {
    let keys = words(1, 512);
    let mut expected: Vec<i32> = keys.iter().map(|k| *k as i32).collect();
    expected.chunks_mut(32).for_each(<[i32]>::sort);
    run("sort", "sort", &[keys], |after| {
        assert_eq!(after.iter().map(|k| *k as i32).collect::<Vec<_>>(), expected);
    });
}

/// The generator in plain Rust.
fn philox(counter: u32, key: [u32; 2]) -> [u32; 4] {
    let mut x = [counter, 0, 0, 0];
    let mut k = key;
    for _ in 0..10 {
        let p = u64::from(x[0]) * 0xD251_1F53;
        let q = u64::from(x[2]) * 0xCD9E_8D57;
        x = [(q >> 32) as u32 ^ x[1] ^ k[0], q as u32, (p >> 32) as u32 ^ x[3] ^ k[1], p as u32];
        k = [k[0].wrapping_add(0x9E37_79B9), k[1].wrapping_add(0xBB67_AE85)];
    }
    x
}

fn random_words() {
    // The answer that the authors of the generator publish for zeros.
    assert_eq!(philox(0, [0, 0]), [0x6627_E8D5, 0xE169_C58D, 0xBC57_AC4C, 0x9B00_DBD8]);
    let key = words(2, 2);
    let expected: Vec<u32> = (0..512).flat_map(|i| philox(i, [key[0], key[1]])).collect();
    run("philox", "random", &[key, vec![0; 2048]], |after| assert_eq!(after, expected));
}

fn bytes_are_counted() {
    let values = words(3, 4096);
    let mut expected = vec![0; 4 * 256];
    values.iter().enumerate().for_each(|(i, v)| expected[i / 1024 * 256 + (v & 255) as usize] += 1);
    run("histogram", "count", &[values, vec![7; 1024]], |after| assert_eq!(after, expected));
}

/// Fragments of the inlined generator are registers.
fn the_generator_has_no_stack() {
    let kernel = example("philox", "kernel.mlir");
    for form in [Form::Bitcode, Form::Text, Form::RustText, Form::RustBitcode] {
        let library = example_library("philox", form);
        for target in ["sm_80", "sm_90", "sm_100", "sm_120"] {
            let ptx = compile(kernel.as_bytes(), InputKind::Text, (target, 3), &library).unwrap();
            for word in ["call", ".local", ".func", "SPL"] {
                assert!(!ptx.contains(word), "{form:?} on {target} has '{word}'\n{ptx}");
            }
        }
    }
    let ptx = compile(kernel.as_bytes(), InputKind::Text, ("sm_90", 3), &example_library("philox", Form::Ptx)).unwrap();
    assert!(ptx.contains("call") && ptx.contains(".local"), "a call of PTX passes fragments in local memory\n{ptx}");
}

/// Libraries of several kinds in one program: each call is linked in its own way.
fn kinds_are_mixed() {
    let text = "cuda_tile.module @m { entry @k(%p: tile<ptr<f32>>) {
           %i = iota : tile<128xi32>
           %b = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>
           %c = broadcast %b : tile<1xptr<f32>> -> tile<128xptr<f32>>
           %a = offset %c, %i : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>
           %x, %t = load_ptr_tko weak %a : tile<128xptr<f32>> -> tile<128xf32>, token
           %y = preview$call @f(%x) : (!cuda_tile.tile<128xf32>) -> !cuda_tile.tile<128xf32>
           %z = preview$call @g(%y) : (!cuda_tile.tile<128xf32>) -> !cuda_tile.tile<128xf32>
           %s = store_ptr_tko weak %a, %z token=%t : tile<128xptr<f32>>, tile<128xf32> -> token
           return
         } }";
    let of = |name: &str, code: &str| {
        let (interface, catalogue) = records(name);
        library_of(name, &interface, &catalogue, code.as_bytes())
    };
    let f = of(
        "f",
        &module(
            "define void @f(ptr %p) {\n  %v = load float, ptr %p\n  %w = fadd float %v, 1.0\n  store float %w, ptr %p\n  ret void\n}\n",
        ),
    );
    let ptx = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .func g(.param .b64 p)\n{\n.reg .b64 %a;\n\
               .reg .f32 %f;\nld.param.b64 %a, [p];\nld.f32 %f, [%a];\nadd.f32 %f, %f, %f;\nst.f32 [%a], %f;\nret;\n}\n";
    let g = of("g", ptx);
    for configuration in [("sm_80", 3), ("sm_90", 0)] {
        let ptx = compile_with(text.as_bytes(), InputKind::Text, configuration, &[f.clone(), g.clone()]).unwrap();
        assert!(ptx.contains(".func g(") && !ptx.contains(".func f"), "{ptx}");
        let mut run = Run::default();
        let before: Vec<u8> = (0..128).flat_map(|i| (i as f32).to_le_bytes()).collect();
        let memory = run.memory(&before);
        run.launch(&Module::parse(&ptx).unwrap(), "k", 1, None).unwrap();
        let after = run.read(memory, 512);
        let after: Vec<f32> = after.chunks(4).map(|c| f32::from_le_bytes(c.try_into().unwrap())).collect();
        assert_eq!(after, (0..128).map(|i| 2.0 * (i as f32 + 1.0)).collect::<Vec<_>>());
    }
}

/// The interface and the catalogue of a function on a tile of 128 floats, which has the name of the library.
fn records(name: &str) -> (String, String) {
    let fragment = local("1xf32", "(1, 128, 1):(0, 1, 0)");
    (
        format!("cuda_tile.module @l {{ preview$func extern @{name}(%a: tile<128xf32> {INOUT}) -> tile<128xf32> }}"),
        format!("cuda_tile.module @l {{ preview$extern_impl @{name} implements @{name} (%a: {fragment} {INOUT}) }}"),
    )
}

const LAYOUT: &str = "e-p6:32:32-i64:64-i128:128-v16:16-v32:32-n16:32:64";

/// A module of LLVM IR as clang writes it.
fn module(body: &str) -> String {
    format!("target datalayout = \"{LAYOUT}\"\ntarget triple = \"nvptx64-nvidia-cuda\"\n\n{body}")
}

/// The message of a compilation with a library `l.tilelib` whose code is wrong.
fn error(code: &[u8]) -> String {
    let (interface, catalogue) = records("f");
    let library = library_of("l.tilelib", &interface, &catalogue, code);
    let body = "%y = preview$call @f(%x) : (!cuda_tile.tile<128xf32>) -> !cuda_tile.tile<128xf32>
         %u = make_token : token";
    match compile(kernel(128, "", body).as_bytes(), InputKind::Text, ("sm_90", 3), &library) {
        Ok(ptx) => format!("compiled: {ptx}"),
        Err(text) => text,
    }
}

const GOOD: &str = "define void @f(ptr %p) {\n  store float 1.0, ptr %p\n  ret void\n}\n";

fn wrong_code_is_named() {
    assert!(error(module(GOOD).as_bytes()).starts_with("compiled"), "{}", error(module(GOOD).as_bytes()));
    let body = |head: &str, inner: &str| format!("{head}define void @f(ptr %p) {{\n{inner}  ret void\n}}\n");
    let texts: [(String, &[&str]); 24] = [
        (module("define void @f(ptr %p) {\n"), &["'l.tilelib' cannot be read by LLVM 21"]),
        (module(&body("", "  store i32 1, ptr %p, align 3\n")), &["'l.tilelib' cannot be read by LLVM 21"]),
        (module(&body("", "  %x = add i32 %x, 1\n")), &["'l.tilelib' is not valid LLVM IR", "Only PHI nodes"]),
        (module(GOOD).replace("nvptx64-nvidia-cuda", "x86_64-linux-gnu"), &["is for 'x86_64-linux-gnu'"]),
        (module(GOOD).replace("e-p6", "E-p6"), &["has the data layout 'E-p6", "the most significant byte"]),
        (module(GOOD).replace("e-p6", "e-p:32:32-p6"), &["a pointer has 32 bits instead of 64"]),
        (module(GOOD).replace("i64:64", "i64:32"), &["i64 is aligned to 4 bytes instead of 8"]),
        (module(&GOOD.replace("@f", "@g")), &["no library defines the function 'f'", "'l.tilelib'"]),
        (module("declare void @f(ptr)\n"), &["no library defines the function 'f'", "'l.tilelib'"]),
        (module(&GOOD.replace("ptr %p)", "ptr %p, i32 %q)")), &["'f' of the library 'l.tilelib'", "(ptr, i32)"]),
        (module("define void @f(ptr addrspace(5) %p) {\n  ret void\n}\n"), &["'f'", "(ptr addrspace(5))"]),
        (module("define void @f(i32 %p) {\n  ret void\n}\n"), &["'f'", "(i32) but", "passed as (ptr)"]),
        (module("define void @f(ptr byval(i32) %p) {\n  ret void\n}\n"), &["'f'", "by value"]),
        (module("define i32 @f(ptr %p) {\n  ret i32 1\n}\n"), &["'f'", "returns i32"]),
        (module(&GOOD.replace("void @f", "ptx_kernel void @f")), &["'f'", "is a kernel"]),
        (module(&body("declare void @other()\n", "  call void @other()\n")), &["'l.tilelib' uses 'other'"]),
        (
            module(&body("@v = external global i32\n", "  store i32 1, ptr @v\n")),
            &["'l.tilelib' uses 'v', which nothing defines"],
        ),
        (
            module(&body("declare float @__nv_erff(float)\n", "  %x = call float @__nv_erff(float 1.0)\n")),
            &["'l.tilelib' uses '__nv_erff' of libdevice", "--libdevice"],
        ),
        (
            module(&body("declare float @__nv_sinf(double)\n", "  %x = call float @__nv_sinf(double 1.0)\n")),
            &["'__nv_sinf' of the library 'l.tilelib' is declared with other types"],
        ),
        (module(&format!("{GOOD}define void @k() {{\n  ret void\n}}\n")), &["both the program and", "define 'k'"]),
        (module(&format!("module asm \".global .u32 x;\"\n{GOOD}")), &["'l.tilelib' has module-level assembly"]),
        (module(&format!("{GOOD}@g = alias void (ptr), ptr @f\n")), &["'l.tilelib' has the alias 'g'"]),
        (
            module(&GOOD.replace(") {", ") \"target-cpu\"=\"sm_100\" {")),
            &["'l.tilelib' is for sm_100, which does not run on sm_90"],
        ),
        (
            module(&body("", "  br label %b\nb:\n  indirectbr ptr %p, [label %b]\nc:\n")),
            &["'l.tilelib' has the function 'f', which jumps to a computed address"],
        ),
    ];
    for (text, parts) in texts {
        let message = error(text.as_bytes());
        for part in parts {
            assert!(message.contains(part), "{text}\n{message}\nlacks {part}");
        }
    }
}

/// Code that is damaged in any way ends in an error that names the library. LLVM's reader crashes on some of it.
fn damaged_bitcode_is_named() {
    let bitcode = code("philox", Form::Bitcode);
    let (interface, catalogue) = records("philox4x32");
    let body = "%y = preview$call @philox4x32(%x) : (!cuda_tile.tile<128xf32>) -> !cuda_tile.tile<128xf32>
         %u = make_token : token";
    let text = kernel(128, "", body);
    let compiled = |code: &[u8]| {
        let library = library_of("l.tilelib", &interface, &catalogue, code);
        compile(text.as_bytes(), InputKind::Text, ("sm_90", 3), &library)
    };
    // The function has more parameters than the fragments of this catalogue, so intact code is wrong too.
    let message = compiled(&bitcode).unwrap_err();
    assert!(
        message.contains("'philox4x32' of the library 'l.tilelib' has the parameters (ptr, ptr, ptr)"),
        "{message}"
    );
    let mut numbers = Numbers(4);
    let wrapper = [0x0B17_C0DEu32, 0, 20, bitcode.len() as u32, 7].into_iter().flat_map(|w| w.to_le_bytes());
    let wrapped: Vec<u8> = wrapper.chain(bitcode.iter().copied()).collect();
    assert!(compiled(&wrapped).unwrap_err().contains("has the parameters (ptr, ptr, ptr)"));
    let rounds = if full() { 2000 } else { 60 };
    let mut crashes = 0;
    for round in 0..rounds {
        let mut damaged = bitcode.clone();
        if round % 4 == 0 {
            damaged.truncate(4 + numbers.below(bitcode.len() as u64 - 4) as usize);
        }
        for _ in 0..round % 4 {
            let at = 4 + numbers.below(damaged.len() as u64 - 4) as usize;
            damaged[at] ^= 1 << numbers.below(8);
        }
        let message = compiled(&damaged).map_or_else(|e| e, |_| "compiled".into());
        crashes += usize::from(message.contains("the reader is stopped by"));
        assert!(message.contains("'l.tilelib'"), "round {round}: {message}");
    }
    eprintln!("the reader crashed {crashes} times in {rounds} rounds");
}

/// LTO-IR, fatbins and ELF objects are named as such.
fn other_kinds_are_named() {
    let kinds: [(&[u8], &str); 4] = [
        (&[0xED, 0x43, 0x4E, 0x7F, 0], "LTO-IR"),
        (&[0x50, 0xED, 0x55, 0xBA, 0], "a fatbin"),
        (b"\x7fELF\x02\x01\x01", "an ELF object"),
        (b"hello", "of an unknown kind"),
    ];
    for (code, kind) in kinds {
        let message = error(code);
        assert!(message.contains(&format!("the code of the library 'l.tilelib' is {kind}")), "{message}");
    }
}

/// Two libraries that define one symbol, and local symbols that may be equal.
fn symbols_of_two_libraries() {
    let text = kernel(
        128,
        "",
        "%v = preview$call @f(%x) : (!cuda_tile.tile<128xf32>) -> !cuda_tile.tile<128xf32>
         %y = preview$call @g(%v) : (!cuda_tile.tile<128xf32>) -> !cuda_tile.tile<128xf32>
         %u = make_token : token",
    );
    let of = |name: &str, linkage: &str| {
        let (interface, catalogue) = records(name);
        let code = format!(
            "define {linkage} void @helper(ptr %p) noinline {{\n  store float 1.0, ptr %p\n  ret void\n}}\n\
             define void @{name}(ptr %p) {{\n  call void @helper(ptr %p)\n  ret void\n}}\n"
        );
        library_of(&format!("{name}.tilelib"), &interface, &catalogue, module(&code).as_bytes())
    };
    let compiled = |linkage: &str| {
        compile_with(text.as_bytes(), InputKind::Text, ("sm_90", 3), &[of("f", linkage), of("g", linkage)])
    };
    let message = compiled("").unwrap_err();
    let expected = "both the library 'f.tilelib' and the library 'g.tilelib' define 'helper'";
    assert!(message.contains(expected), "{message}");
    for linkage in ["internal", "linkonce_odr", "weak"] {
        let ptx = compiled(linkage).unwrap();
        assert!(ptx.contains("call"), "the helpers are not inlined\n{ptx}");
        assert!(Module::parse(&ptx).is_ok(), "{ptx}");
    }
}

/// Modules in the form that libNVVM reads, of other front ends, and without a triple.
fn other_front_ends() {
    let nvvm = "target datalayout = \"e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-f32:32:32-f64:64:64-\
                v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64\"\ntarget triple = \"nvptx64-nvidia-cuda\"\n";
    let version = "!nvvmir.version = !{!0}\n!0 = !{i32 2, i32 0, i32 3, i32 2}\n";
    let expected = error(module(GOOD).as_bytes());
    for text in [
        format!("{nvvm}{GOOD}{version}"),
        format!("; no triple\n{GOOD}"),
        module(GOOD).replace("nvptx64-nvidia-cuda", "nvptx64-nvidia-gpulibs"),
        module(GOOD).replace("-i128:128", "-p3:32:32-p5:32:32"),
    ] {
        assert_eq!(error(text.as_bytes()), expected, "{text}");
    }
    assert!(expected.starts_with("compiled: "), "{expected}");
}

/// Mathematical functions of libdevice, shared memory as a pointer, and the calling convention of a device.
fn other_types_are_converted() {
    let interface =
        format!("cuda_tile.module @l {{ preview$func extern @f(%a: tile<128xf32> {INOUT}) -> tile<128xf32> }}");
    let catalogue = format!(
        "cuda_tile.module @l {{ preview$extern_impl @f implements @f (%a: {} {INOUT}) synchronization = \
         #cuda_tile<preview$synchronization<cta>> scratch {{smem.size = #cuda_tile<preview$expr_int<512>>, \
         smem.alignment = #cuda_tile<preview$expr_int<16>>}} }}",
        local("1xf32", "(1, 128, 1):(0, 1, 0)")
    );
    // The address of the fragment as a number, and the scratch memory as a pointer.
    let code = module(
        "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n\
         declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)\n\
         declare float @__nv_expf(float)\n\
         define ptx_device void @f(i64 %a, ptr addrspace(3) %s) {\n  %p = inttoptr i64 %a to ptr\n  \
         %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n  %q = getelementptr float, ptr addrspace(3) %s, i32 %t\n  \
         %v = load float, ptr %p\n  %e = call float @__nv_expf(float %v)\n  store float %e, ptr addrspace(3) %q\n  \
         call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n  %o = xor i32 %t, 1\n  \
         %r = getelementptr float, ptr addrspace(3) %s, i32 %o\n  %w = load float, ptr addrspace(3) %r\n  \
         store float %w, ptr %p\n  ret void\n}\n",
    );
    let library = library_of("l", &interface, &catalogue, code.as_bytes());
    let body = "%y = preview$call @f(%x) : (!cuda_tile.tile<128xf32>) -> !cuda_tile.tile<128xf32>
         %u = make_token : token";
    for configuration in configurations() {
        let ptx = compile(kernel(128, "", body).as_bytes(), InputKind::Text, configuration, &library).unwrap();
        assert!(!ptx.contains("__nv_expf"), "{ptx}");
        for schedule in schedules() {
            let mut run = Run::default();
            let before: Vec<u8> = (0..128).flat_map(|i| (i as f32 / 64.0).to_le_bytes()).collect();
            let memory = run.memory(&before);
            run.launch(&Module::parse(&ptx).unwrap(), "k", 1, *schedule).unwrap_or_else(|e| panic!("{e}\n{ptx}"));
            for (i, bytes) in run.read(memory, 512).chunks(4).enumerate() {
                let found = f64::from(f32::from_le_bytes(bytes.try_into().unwrap()));
                let expected = ((i ^ 1) as f64 / 64.0).exp();
                assert!((found - expected).abs() < 1e-6 * expected, "{i}: {found} instead of {expected}");
            }
        }
    }
}

/// A library's flags, annotations and debug information do not reach the kernel.
fn the_kernel_is_not_changed() {
    let marked = format!(
        "{GOOD}define void @unused() {{\n  ret void\n}}\n@llvm.used = appending global [1 x ptr] [ptr @unused], section \
         \"llvm.metadata\"\n!llvm.module.flags = !{{!0, !1}}\n!nvvm.annotations = !{{!2}}\n!0 = !{{i32 1, !\"wchar_size\", \
         i32 8}}\n!1 = !{{i32 4, !\"nvvm-reflect-ftz\", i32 1}}\n!2 = !{{ptr @unused, !\"kernel\", i32 1}}\n"
    );
    let [plain, marked] = [module(GOOD), module(&marked)].map(|code| error(code.as_bytes()));
    assert!(plain.starts_with("compiled: "), "{plain}");
    assert_eq!(plain, marked);
}

pub fn trials() -> Vec<Trial> {
    functions![
        rows_are_sorted,
        random_words,
        bytes_are_counted,
        the_generator_has_no_stack,
        kinds_are_mixed,
        wrong_code_is_named,
        damaged_bitcode_is_named,
        other_kinds_are_named,
        symbols_of_two_libraries,
        other_front_ends,
        other_types_are_converted,
        the_kernel_is_not_changed
    ]
}
