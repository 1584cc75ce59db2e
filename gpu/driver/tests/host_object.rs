//! A C program that links a host object, calls its launch function, and runs the kernel on this library.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Launches a vector addition by the function of the object, with the driver functions of the library.
const PROGRAM: &str = r#"
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
typedef int CUresult;
typedef void *Handle;
extern const unsigned char vadd_cubin[];
extern const unsigned long long vadd_cubin_size;
extern CUresult vadd_f32_launch(Handle kernel, unsigned x, unsigned y, unsigned z, Handle stream, uint64_t a,
                                int32_t an, int32_t as, uint64_t b, int32_t bn, int32_t bs, uint64_t c, int32_t cn,
                                int32_t cs);
static CUresult (*look_up)(const char *, void **, int, uint64_t, int *);
static void *function(const char *name) {
  void *f = NULL;
  if (look_up(name, &f, 13000, 0, NULL)) exit(2);
  return f;
}
static int calls;
/* The only symbol of the driver that the object needs. */
CUresult cuLaunchKernel(Handle f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                        unsigned shared, Handle stream, void **parameters, void **extra) {
  calls++;
  return ((CUresult (*)(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle, void **,
                        void **))function("cuLaunchKernel"))(f, gx, gy, gz, bx, by, bz, shared, stream, parameters,
                                                             extra);
}
#define DO(call) do { CUresult r = (call); if (r) { fprintf(stderr, "%s: %d\n", #call, r); return 1; } } while (0)
int main(int argc, char **argv) {
  enum { N = 3000 };
  static float a[N], b[N], c[N];
  static char ptx[1 << 20];
  FILE *file = fopen(argv[2], "r");
  if (argc != 3 || !file || !fread(ptx, 1, sizeof ptx - 1, file)) return 3;
  if (vadd_cubin_size < 64 || vadd_cubin[0] != 0x7f) return 4;
  look_up = (CUresult (*)(const char *, void **, int, uint64_t, int *))dlsym(dlopen(argv[1], RTLD_NOW),
                                                                              "cuGetProcAddress_v2");
  int device;
  Handle context, module, kernel;
  uint64_t p[3];
  DO(((CUresult (*)(unsigned))function("cuInit"))(0));
  DO(((CUresult (*)(int *, int))function("cuDeviceGet"))(&device, 0));
  DO(((CUresult (*)(Handle *, int))function("cuDevicePrimaryCtxRetain"))(&context, device));
  DO(((CUresult (*)(Handle))function("cuCtxSetCurrent"))(context));
  DO(((CUresult (*)(Handle *, const void *))function("cuModuleLoadData"))(&module, ptx));
  DO(((CUresult (*)(Handle *, Handle, const char *))function("cuModuleGetFunction"))(&kernel, module, "vadd_f32"));
  for (int i = 0; i < N; i++) a[i] = i, b[i] = 2 * i;
  float *host[] = {a, b, c};
  for (int i = 0; i < 3; i++) {
    DO(((CUresult (*)(uint64_t *, size_t))function("cuMemAlloc"))(&p[i], sizeof a));
    DO(((CUresult (*)(uint64_t, const void *, size_t))function("cuMemcpyHtoD"))(p[i], host[i], sizeof a));
  }
  DO(vadd_f32_launch(kernel, 3, 1, 1, NULL, p[0], N, 1, p[1], N, 1, p[2], N, 1));
  DO(((CUresult (*)(void))function("cuCtxSynchronize"))());
  DO(((CUresult (*)(void *, uint64_t, size_t))function("cuMemcpyDtoH"))(c, p[2], sizeof c));
  for (int i = 0; i < N; i++)
    if (c[i] != 3.0f * i) { fprintf(stderr, "c[%d] is %g\n", i, c[i]); return 1; }
  printf("%d launch, %d sums\n", calls, N);
  return 0;
}
"#;

/// A file next to this test, as built by cargo.
fn built(name: &str) -> PathBuf {
    let here = std::env::current_exe().expect("a running program has a path");
    let found = here.ancestors().skip(1).map(|folder| folder.join(name)).find(|path| path.is_file());
    found.unwrap_or_else(|| panic!("no {name} beside {}: cargo build --workspace --bins", here.display()))
}

fn call(program: &Path, arguments: &[&std::ffi::OsStr]) -> String {
    let output = Command::new(program).args(arguments).output();
    let output = output.unwrap_or_else(|e| panic!("{}: {e}", program.display()));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{} {arguments:?}: {said}", program.display());
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_c_program_launches_by_the_function_of_the_object() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("host-object");
    std::fs::create_dir_all(&folder).expect("a folder for tests can be created");
    let file = |name: &str| folder.join(name);
    let (object, ptx, main) = (file("vadd.o"), file("vadd.ptx"), file("main.c"));
    std::fs::write(&main, PROGRAM).expect("a file can be written");
    let kernel = root.join("tests/corpus/vadd_f32.13.1.tileirbc");
    let tileiras = built("tileiras");
    for (emit, output) in [("--emit=obj", &object), ("--emit=ptx", &ptx)] {
        call(&tileiras, &[kernel.as_ref(), "--gpu-name=sm_90".as_ref(), emit.as_ref(), "-o".as_ref(), output.as_ref()]);
    }
    let library = built(&format!("{}sim_cuda{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX));
    for (mode, name) in [("-pie", "pie"), ("-no-pie", "fixed")] {
        let program = file(name);
        let sources: [&std::ffi::OsStr; 6] =
            [mode.as_ref(), main.as_ref(), object.as_ref(), "-ldl".as_ref(), "-o".as_ref(), program.as_ref()];
        call(Path::new("gcc"), &sources);
        assert_eq!(call(&program, &[library.as_ref(), ptx.as_ref()]), "1 launch, 3000 sums\n", "{mode}");
    }
    // PTX and cubin have nothing of the wrapper.
    let text = std::fs::read_to_string(&ptx).expect("the compiler has written it");
    assert!(!text.contains("_launch") && !text.contains("cuLaunchKernel"));

    // Other hosts get the function, and needs nothing else of the driver.
    for (arch, os) in [("aarch64", "linux"), ("x86_64", "windows"), ("aarch64", "windows")] {
        let output = file(&format!("{arch}-{os}.o"));
        let (arch, os) = (format!("--host-arch={arch}"), format!("--host-os={os}"));
        let arguments: [&std::ffi::OsStr; 7] = [
            kernel.as_ref(),
            "--gpu-name=sm_90".as_ref(),
            "--emit=obj".as_ref(),
            arch.as_ref(),
            os.as_ref(),
            "-o".as_ref(),
            output.as_ref(),
        ];
        call(&tileiras, &arguments);
        let bytes = std::fs::read(&output).expect("the compiler has written it");
        for symbol in ["vadd_f32_launch", "cuLaunchKernel"] {
            assert!(bytes.windows(symbol.len()).any(|w| w == symbol.as_bytes()), "{arch} {os}: no {symbol}");
        }
    }
}
