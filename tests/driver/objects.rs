//! `--emit=obj`: objects that linkers accept, with a cubin that CUDA's tools find.

use std::path::Path;
use std::process::Command;

use libtest_mimic::{Failed, Trial};

use crate::fixture::{Bench, cuda_root};

pub fn trials() -> Vec<Trial> {
    let tests: [(&str, fn()); 4] = [
        ("objects: a program for this host", linked_and_run),
        ("objects: other hosts", other_hosts),
        ("objects: two in one program", two_in_one_program),
        ("objects: unsupported requests", refusals),
    ];
    let trial = |(name, test): (&str, fn())| {
        Trial::test(name.to_owned(), move || {
            test();
            Ok::<(), Failed>(())
        })
    };
    tests.into_iter().map(trial).collect()
}

fn make(bench: &Bench, arguments: &[&str]) {
    let outcome = bench.run(arguments);
    assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(0), ""), "{arguments:?}");
}

fn call(bench: &Bench, program: impl AsRef<Path>, arguments: &[&str]) -> String {
    let out = Command::new(program.as_ref()).args(arguments).current_dir(bench.dir.path()).output();
    let out = out.unwrap_or_else(|e| panic!("{}: {e}", program.as_ref().display()));
    let text = format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(out.status.success(), "{} {arguments:?}: {text}", program.as_ref().display());
    text
}

fn llvm(tool: &str) -> String {
    let prefix = std::env::var("LLVM_PREFIX").unwrap_or_else(|_| "/usr/lib/llvm-21".into());
    format!("{prefix}/bin/{tool}")
}

/// The program compares the linked cubin with a file and checks the wrapper.
const PROGRAM: &str = r#"
#include <stdint.h>
#include <stdio.h>
#include <string.h>
extern const unsigned char my_kernel_cubin[];
extern const uint64_t my_kernel_cubin_size;
extern const struct { uint32_t magic, version; const unsigned char *data; void *rest; } my_kernel_fatbin;
int main(void) {
  static unsigned char file[1 << 20];
  FILE *f = fopen("my-kernel.cubin", "rb");
  size_t n = fread(file, 1, sizeof file, f);
  if (n != my_kernel_cubin_size || memcmp(file, my_kernel_cubin, n) != 0) return 1;
  if (my_kernel_fatbin.magic != 0x466243b1 || my_kernel_fatbin.version != 1) return 2;
  if (my_kernel_fatbin.data + 80 != my_kernel_cubin || my_kernel_fatbin.rest != 0) return 3;
  if (((uintptr_t)my_kernel_cubin & 15) != 0) return 4;
  puts("same");
  return 0;
}
"#;

fn linked_and_run() {
    let bench = Bench::new();
    make(&bench, &["ok", "--gpu-name=sm_90", "-o", "my-kernel.cubin"]);
    make(&bench, &["ok", "--gpu-name=sm_90", "-o", "my-kernel.o", "--emit=obj"]);
    bench.put("main.c", PROGRAM.as_bytes());
    let lld = format!("-B{}", llvm(""));
    let ways: [&[&str]; 4] = [
        &["-fuse-ld=bfd"],
        &["-fuse-ld=lld", &lld],
        &["-fuse-ld=bfd", "-no-pie"],
        &["-fuse-ld=bfd", "-pie", "-Wl,-z,relro,-z,now", "-Wl,--fatal-warnings"],
    ];
    for flags in ways {
        call(&bench, "gcc", &[flags, &["main.c", "my-kernel.o", "-o", "main"]].concat());
        assert_eq!(call(&bench, bench.at("main"), &[]), "same\n", "{flags:?}");
    }
    // NVIDIA's tool finds the cubin in the object and in the program, and extracts it unchanged.
    let cuobjdump = cuda_root().join("bin/cuobjdump");
    for file in ["my-kernel.o", "main"] {
        let listed = call(&bench, &cuobjdump, &["--list-elf", file]);
        assert!(listed.contains("sm_90") && listed.contains(".cubin"), "{listed}");
        let name = listed.split_whitespace().find(|w| w.ends_with(".cubin")).unwrap();
        call(&bench, &cuobjdump, &["--extract-elf", "all", file]);
        assert_eq!(bench.get(name), bench.get("my-kernel.cubin"));
        std::fs::remove_file(bench.at(name)).unwrap();
    }
}

fn other_hosts() {
    let bench = Bench::new();
    let cases: [(&[&str], &str, &str); 4] = [
        (&["--host-arch=aarch64"], "elf64-littleaarch64", "R_AARCH64_ABS64"),
        (&["--host-os=windows"], "COFF-x86-64", "IMAGE_REL_AMD64_ADDR64"),
        (&["--host-os=windows", "--host-arch=aarch64"], "COFF-ARM64", "IMAGE_REL_ARM64_ADDR64"),
        (&["--host-os=windows", "--host-arch=arm64ec"], "COFF-ARM64EC", "IMAGE_REL_ARM64_ADDR64"),
    ];
    for (flags, format, relocation) in cases {
        let outcome = bench.run(&[&["ok", "-o", "k.o", "--emit=obj"], flags].concat());
        assert_eq!(outcome.status, Some(0), "{flags:?}: {}", outcome.stderr);
        let is_ec = format == "COFF-ARM64EC";
        assert_eq!(outcome.stderr.contains("warning: the object for arm64ec has no launch functions"), is_ec);
        let text =
            call(&bench, llvm("llvm-readobj"), &["--file-headers", "--sections", "--relocations", "--symbols", "k.o"]);
        assert!(text.contains(&format!("Format: {format}\n")), "{text}");
        for part in [".nv_fatbin", relocation, "Name: k_cubin", "Name: k_fatbin", "Name: k_cubin_size"] {
            assert!(text.contains(part), "{flags:?}: no {part} in {text}");
        }
    }
    make(&bench, &["ok", "-o", "k.o", "--emit=obj", "--host-arch=aarch64"]);
    call(&bench, llvm("ld.lld"), &["-m", "aarch64linux", "-shared", "k.o", "-o", "k.so"]);
    make(&bench, &["ok", "-o", "k.obj", "--emit=obj", "--host-os=windows"]);
    call(&bench, llvm("lld-link"), &["/dll", "/noentry", "/out:k.dll", "/export:k_cubin,data", "k.obj"]);
}

fn two_in_one_program() {
    let bench = Bench::new();
    for name in ["one.o", "two.o"] {
        make(&bench, &["ok", "-o", name, "--emit=obj"]);
    }
    bench.put(
        "main.c",
        b"extern const unsigned char one_cubin[], two_cubin[];\nint main(void) { return one_cubin == two_cubin; }\n",
    );
    call(&bench, "gcc", &["main.c", "one.o", "two.o", "-o", "main"]);
    call(&bench, bench.at("main"), &[]);
    let listed = call(&bench, cuda_root().join("bin/cuobjdump"), &["--list-elf", "main"]);
    assert_eq!(listed.matches(".cubin").count(), 2, "{listed}");
}

fn refusals() {
    let bench = Bench::new();
    let outcome = bench.run(&["ok", "-o", "k.o", "--emit=obj", "--host-arch=arm64ec"]);
    assert_eq!(outcome.status, Some(2));
    assert_eq!(outcome.stderr, "error: unsupported host architecture\nnote: arm64ec requires --host-os=windows\n");
    assert!(!bench.at("k.o").exists());
}
