/* Every status of every function, with its message and word; ownership; calls in the wrong order. */
#include "check.h"
#include <sys/stat.h>

struct heard {
  int count;
  int remarks;
  unsigned word;
  unsigned line, first_line;
  char file[256], first_file[256];
  char message[512];
  char all[4096];
};

static void hear(const TileirasDiagnostic *d, void *user) {
  struct heard *h = (struct heard *)user;
  CHECK(d->size == sizeof *d);
  h->count++;
  h->remarks += d->severity == 2;
  h->word = d->word;
  h->line = d->line;
  snprintf(h->file, sizeof h->file, "%s", d->file);
  if (h->count == 1) {
    h->first_line = d->line;
    snprintf(h->first_file, sizeof h->first_file, "%s", d->file);
  }
  snprintf(h->message, sizeof h->message, "%s", d->message);
  strncat(h->all, d->message, sizeof h->all - strlen(h->all) - 2);
  strcat(h->all, "\n");
}

static struct heard heard;

/* The last call returned `code` and said `message` with `word`. */
#define SAID(call, code, expected, number)                                                        \
  do {                                                                                            \
    memset(&heard, 0, sizeof heard);                                                              \
    CHECK((call) == (code));                                                                      \
    if (strcmp(heard.message, expected) != 0) fprintf(stderr, "said: %s\n", heard.all);           \
    CHECK(strcmp(heard.message, expected) == 0);                                                  \
    CHECK(heard.word == (number));                                                                \
  } while (0)

static int scopes;
static char scope_text[256];
static void scope(const char *name, int begin, void *user) {
  CHECK(user == &scopes);
  scopes++;
  strcat(scope_text, begin ? "+" : "-");
  strcat(scope_text, name);
}

/* The functions of version 7: other outputs, text, remarks, resources, ptxas, pipeline options, a directory of outputs. */
static void settings(TileirasConfig good, const char *text, const char *directory) {
  TileirasProgram *p;
  TileirasByteView view, again;
  SAID(tileirasProgramSetEmit(NULL, 1), 4, "program is null", 2563);
  SAID(tileirasProgramSetInputName(NULL, "x", 1), 4, "program is null", 2563);
  SAID(tileirasProgramSetRemarks(NULL, "all", 3), 4, "program is null", 2563);
  SAID(tileirasProgramSetResources(NULL, 1), 4, "program is null", 2563);
  SAID(tileirasProgramGetResources(NULL, &view), 4, "program is null", 2563);
  SAID(tileirasProgramSetPtxas(NULL, "x", 1), 4, "program is null", 2563);
  SAID(tileirasProgramSetPipelineOption(NULL, "x=1", 3), 4, "program is null", 2563);
  SAID(tileirasProgramSetCacheDirectory(NULL, "x", 1), 4, "program is null", 2563);

  /* Each level has its text, and none of them needs ptxas. */
  static const char *const parts[] = {"", ".visible .entry", "define", "nv_tileas", "nv_tileaa", "cuda_tile.module"};
  for (int level = 1; level < 6; level++) {
    CHECK(tileirasProgramCreate(&p, &good) == 0);
    SAID(tileirasProgramSetEmit(p, 6), 2, "invalid configuration", 2563);
    CHECK(strstr(heard.all, "level is 6, but must be from 0 to 5\n") == heard.all);
    SAID(tileirasProgramSetEmit(p, -1), 2, "invalid configuration", 2563);
    CHECK(tileirasProgramSetPtxas(p, "/nowhere", 8) == 0);
    CHECK(tileirasProgramSetEmit(p, level) == 0 && tileirasProgramCompile(p) == 0);
    CHECK(tileirasProgramGetOutput(p, &view) == 0);
    CHECK(memmem(view.data, view.length, parts[level], strlen(parts[level])) != NULL);
    SAID(tileirasProgramGetHostObject(p, &again), 2, "invalid configuration", 2563);
    SAID(tileirasProgramGetResources(p, &again), 4, "program has not been compiled", 2563);
    CHECK(tileirasProgramRelease(p) == 0);
  }

  /* A cubin needs ptxas. The message is about functions of the library. */
  CHECK(tileirasProgramCreate(&p, &good) == 0 && tileirasProgramSetPtxas(p, "/nowhere", 8) == 0);
  SAID(tileirasProgramCompile(p), 5, "failed to compile Tile IR program", 259);
  CHECK(strstr(heard.all, "looked for '/nowhere' (tileirasProgramSetPtxas)") != NULL);
  CHECK(strstr(heard.all, "PTX needs no ptxas: tileirasProgramSetEmit") != NULL && strstr(heard.all, "--") == NULL);
  CHECK(tileirasProgramSetPtxas(p, NULL, 0) == 0 && tileirasProgramSetResources(p, 1) == 0);
  SAID(tileirasProgramSetResources(p, 2), 2, "invalid configuration", 2563);
  SAID(tileirasProgramGetResources(p, NULL), 4, "output pointer is null", 2563);
  CHECK(tileirasProgramCompile(p) == 0 && tileirasProgramGetResources(p, &view) == 0);
  CHECK(memmem(view.data, view.length, "\"registers\"", 11) != NULL);
  CHECK(tileirasProgramRelease(p) == 0);

  /* Text, with its name in locations. */
  size_t size;
  TileirasConfig c = good;
  unsigned char *source = read_file(text, &size);
  c.input_buffer_data = source;
  c.input_buffer_size = size;
  CHECK(tileirasProgramCreate(&p, &c) == 0 && tileirasProgramSetInputName(p, "twice.mlir", 10) == 0);
  CHECK(tileirasProgramSetEmit(p, TILEIRAS_EMIT_PTX) == 0);
  SAID(tileirasProgramSetRemarks(p, "some", 4), 2, "invalid configuration", 2563);
  CHECK(tileirasProgramSetRemarks(p, "all", 3) == 0);
  memset(&heard, 0, sizeof heard);
  CHECK(tileirasProgramCompile(p) == 0 && heard.remarks == 2 && heard.count == 2);
  CHECK(strcmp(heard.file, "twice.mlir") == 0 && heard.line == 9 && strstr(heard.all, "Load: 512xf32: ") == heard.all);
  CHECK(tileirasProgramRelease(p) == 0);

  /* An error in text has a place. */
  c.input_buffer_data = "cuda_tile.module @m {\n  nonsense\n}\n";
  c.input_buffer_size = strlen((const char *)c.input_buffer_data);
  CHECK(tileirasProgramCreate(&p, &c) == 0 && tileirasProgramSetInputName(p, "bad.mlir", 8) == 0);
  memset(&heard, 0, sizeof heard);
  CHECK(tileirasProgramCompile(p) == 5 && strcmp(heard.first_file, "bad.mlir") == 0 && heard.first_line == 2);
  CHECK(tileirasProgramRelease(p) == 0);

  /* Options of the pipeline. */
  c.input_buffer_data = source;
  c.input_buffer_size = size;
  CHECK(tileirasProgramCreate(&p, &c) == 0 && tileirasProgramSetEmit(p, TILEIRAS_EMIT_PTX) == 0);
  SAID(tileirasProgramSetPipelineOption(p, "num-warps", 9), 2, "invalid configuration", 2563);
  SAID(tileirasProgramSetPipelineOption(p, "unheard-of=1", 12), 2, "invalid configuration", 2563);
  CHECK(strstr(heard.all, "pipeline option 'unheard-of' is unknown\n") == heard.all);
  CHECK(tileirasProgramSetPipelineOption(p, "num-warps=2", 11) == 0 && tileirasProgramCompile(p) == 0);
  CHECK(tileirasProgramGetOutput(p, &view) == 0 && memmem(view.data, view.length, ".reqntid 64", 11) != NULL);
  CHECK(tileirasProgramRelease(p) == 0);
  CHECK(tileirasProgramCreate(&p, &c) == 0 && tileirasProgramSetEmit(p, TILEIRAS_EMIT_PTX) == 0);
  CHECK(tileirasProgramSetPipelineOption(p, "num-warps=2", 11) == 0);
  CHECK(tileirasProgramSetPipelineOption(p, NULL, 0) == 0 && tileirasProgramCompile(p) == 0);
  CHECK(tileirasProgramGetOutput(p, &view) == 0 && memmem(view.data, view.length, ".reqntid 128", 12) != NULL);
  CHECK(tileirasProgramRelease(p) == 0);
  free(source);

  /* The second compilation takes its output from the directory: no scope begins. */
  TileirasProgram *q;
  CHECK(tileirasProgramCreate(&p, &good) == 0 && tileirasProgramSetCacheDirectory(p, directory, strlen(directory)) == 0);
  CHECK(tileirasProgramCompile(p) == 0 && tileirasProgramGetOutput(p, &view) == 0);
  scopes = 0;
  tileirasSetScopeCallback(scope, &scopes);
  CHECK(tileirasProgramCreate(&q, &good) == 0 && tileirasProgramSetCacheDirectory(q, directory, strlen(directory)) == 0);
  CHECK(tileirasProgramCompile(q) == 0 && scopes == 0 && tileirasProgramGetOutput(q, &again) == 0);
  tileirasSetScopeCallback(NULL, NULL);
  CHECK(view.length == again.length && memcmp(view.data, again.data, view.length) == 0);
  CHECK(tileirasProgramRelease(p) == 0 && tileirasProgramRelease(q) == 0);
  CHECK(chmod(directory, 0777) == 0);
  CHECK(tileirasProgramCreate(&p, &good) == 0 && tileirasProgramSetCacheDirectory(p, directory, strlen(directory)) == 0);
  SAID(tileirasProgramCompile(p), 5, "failed to compile Tile IR program", 259);
  CHECK(strstr(heard.all, directory) != NULL);
  CHECK(tileirasProgramRelease(p) == 0);
}

/* The function of version 8: tile libraries, in this process and in another one. */
static void libraries(TileirasConfig good, const char *call, const char *library, const char *core) {
  TileirasProgram *p;
  TileirasByteView view;
  size_t size;
  char *data = (char *)read_file(library, &size);
  TileirasConfig c = good;
  c.input_buffer_data = read_file(call, &c.input_buffer_size);
  SAID(tileirasProgramAddLibrary(NULL, "l", 1, data, size), 4, "program is null", 2563);
  for (int i = 0; i < 2; i++) {
    CHECK(tileirasProgramCreate(&p, &c) == 0 && tileirasProgramSetEmit(p, TILEIRAS_EMIT_PTX) == 0);
    CHECK(i == 0 || tileirasProgramSetCore(p, core, strlen(core)) == 0);
    SAID(tileirasProgramCompile(p), 5, "failed to compile Tile IR program", 259);
    CHECK(strstr(heard.all, "preview") != NULL);
    CHECK(tileirasProgramAddLibrary(p, "l.tilelib", 9, data, 3) == 0);
    SAID(tileirasProgramCompile(p), 5, "failed to compile Tile IR program", 259);
    CHECK(strstr(heard.all, "failed to open tile library") != NULL);
    CHECK(tileirasProgramAddLibrary(p, NULL, 0, NULL, 0) == 0);
    CHECK(tileirasProgramAddLibrary(p, "l.tilelib", 9, data, size) == 0 && tileirasProgramCompile(p) == 0);
    CHECK(tileirasProgramGetOutput(p, &view) == 0 && memmem(view.data, view.length, ".func sym(", 10) != NULL);
    CHECK(tileirasProgramRelease(p) == 0);
  }
  free(data);
  free((void *)c.input_buffer_data);
}

int main(int argc, char **argv) {
  CHECK(argc == 9);
  const char *core = argv[3];
  size_t size;
  unsigned char *input = read_file(argv[1], &size);
  const char *root = argv[2];
  CHECK(sizeof(TileirasConfig) == 80);
  CHECK(tileirasApiVersion() == TILEIRAS_API_VERSION);
  CHECK(strncmp(tileirasVersionString(), "tileiras ", 9) == 0);
  tileirasSetDiagnosticCallback(hear, &heard);

  TileirasConfig good = config_for(input, size, root);
  TileirasProgram *p = (TileirasProgram *)&good;
  SAID(tileirasProgramCreate(NULL, &good), 4, "program is null", 2563);
  SAID(tileirasProgramCreate(&p, NULL), 2, "configuration is null", 2563);
  CHECK(p == NULL);

  TileirasConfig c = good;
  /* Everything is invalid. The checks run in order, and each fix exposes the next error. */
  unsigned char mlir[] = {0x4d, 0x4c, 0xef, 0x52, 1, 2, 3, 4, 5, 6};
  c.input_buffer_data = NULL;
  c.gpu_id = 75;
  c.opt_level = 4;
  c.device_debug = 1;
  c.host_arch = 3;
  c.host_os = 2;
  SAID(tileirasProgramCreate(&p, &c), 2, "input buffer is null", 2563);
  c.input_buffer_data = mlir;
  c.input_buffer_size = sizeof mlir;
  SAID(tileirasProgramCreate(&p, &c), 3, "failed to parse IR bytecode (it looks like MLIR bytecode instead)", 260);
  c.input_buffer_data = "not bytecode at all";
  c.input_buffer_size = 19;
  SAID(tileirasProgramCreate(&p, &c), 3, "input does not correspond to Tile IR bytecode", 260);
  c.input_buffer_size = 0;
  SAID(tileirasProgramCreate(&p, &c), 3, "input does not correspond to Tile IR bytecode", 260);
  c.input_buffer_data = input;
  c.input_buffer_size = size;
  SAID(tileirasProgramCreate(&p, &c), 2, "unsupported GPU target", 2563);
  /* The cause precedes the message. */
  CHECK(heard.count == 2 && strstr(heard.all, "gpu_id is 75, but must be one of 80, 86, ") == heard.all);
  c.gpu_id = -1;
  SAID(tileirasProgramCreate(&p, &c), 2, "unsupported GPU target", 2563);
  c.gpu_id = 90;
  SAID(tileirasProgramCreate(&p, &c), 2, "invalid optimization level", 2563);
  c.opt_level = -1;
  SAID(tileirasProgramCreate(&p, &c), 2, "invalid optimization level", 2563);
  c.opt_level = 1;
  SAID(tileirasProgramCreate(&p, &c), 2,
       "optimized debugging is not supported, change optimization level to 0 or disable full debug info", 2563);
  c.device_debug = 0;
  SAID(tileirasProgramCreate(&p, &c), 2, "unsupported host architecture", 2563);
  c.host_arch = 2;
  SAID(tileirasProgramCreate(&p, &c), 2, "unsupported host operating system", 2563);
  c.host_os = 0;
  SAID(tileirasProgramCreate(&p, &c), 2, "unsupported host architecture", 2563); /* arm64ec on linux */
  c.host_os = 1;
  c.device_debug = 2;
  SAID(tileirasProgramCreate(&p, &c), 2, "invalid configuration", 2563);
  c.device_debug = 0;
  c.lineinfo = -1;
  SAID(tileirasProgramCreate(&p, &c), 2, "invalid configuration", 2563);
  c.lineinfo = 0;
  c.sanitize = 7;
  SAID(tileirasProgramCreate(&p, &c), 2, "invalid configuration", 2563);
  c.sanitize = 0;
  c.reserved = 1;
  SAID(tileirasProgramCreate(&p, &c), 2, "invalid configuration", 2563);
  CHECK(strstr(heard.all, "reserved is 1, but must be 0\n") == heard.all);
  c.reserved = 0;
  c.output_name = "name";
  c.output_name_len = (size_t)-1;
  SAID(tileirasProgramCreate(&p, &c), 2, "invalid configuration", 2563);
  c.output_name = NULL;
  c.output_name_len = 0;
  c.input_buffer_size = (size_t)-1;
  SAID(tileirasProgramCreate(&p, &c), 2, "invalid configuration", 2563);
  c.input_buffer_size = size;
  memset(&heard, 0, sizeof heard);
  CHECK(tileirasProgramCreate(&p, &c) == 0 && p != NULL && heard.count == 0);
  CHECK(tileirasProgramRelease(p) == 0); /* never compiled: there is only the handle to free */
  static const int gpus[] = {80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121};
  for (size_t i = 0; i < sizeof gpus / sizeof *gpus; i++) {
    c.gpu_id = gpus[i];
    CHECK(tileirasProgramCreate(&p, &c) == 0 && tileirasProgramRelease(p) == 0);
  }

  TileirasByteView view = {NULL, 0};
  SAID(tileirasProgramCompile(NULL), 4, "program is null", 2563);
  SAID(tileirasProgramGetOutput(NULL, &view), 4, "program is null", 2563);
  SAID(tileirasProgramRelease(NULL), 4, "program is null", 2563);

  tileirasSetScopeCallback(scope, &scopes);
  CHECK(tileirasProgramCreate(&p, &good) == 0);
  SAID(tileirasProgramGetOutput(p, &view), 4, "program has not been compiled", 2563);
  SAID(tileirasProgramGetOutput(p, NULL), 4, "output pointer is null", 2563);
  memset(&heard, 0, sizeof heard);
  CHECK(tileirasProgramCompile(p) == 0);
  CHECK(strcmp(scope_text, "+CompileNVVM-CompileNVVM"
                            "+SerializeGPUModule-SerializeGPUModule+SerializeGPUModule-SerializeGPUModule") == 0);
  CHECK(tileirasProgramCompile(p) == 0 && scopes == 6); /* already compiled */
  tileirasSetScopeCallback(NULL, NULL);
  CHECK(tileirasProgramGetOutput(p, &view) == 0 && view.length > 64 && memcmp(view.data, "\x7f" "ELF", 4) == 0);
  SAID(tileirasProgramGetOutput(p, NULL), 4, "output pointer is null", 2563);
  TileirasByteView again;
  CHECK(tileirasProgramGetOutput(p, &again) == 0 && again.data == view.data && again.length == view.length);
  CHECK(tileirasProgramRelease(p) == 0);
  SAID(tileirasProgramRelease(p), 4, "program is null", 2563);
  CHECK(strstr(heard.all, "the handle was released, or tileirasProgramCreate did not return it\n") == heard.all);
  SAID(tileirasProgramCompile(p), 4, "program is null", 2563);
  SAID(tileirasProgramGetOutput(p, &view), 4, "program is null", 2563);

  /* A module that is damaged after its first bytes: it is not parsed, and the cause is reported first. */
  c = good;
  c.gpu_id = 75; /* The input is checked before the target. */
  static const size_t cuts[] = {9, 13, 40};
  for (size_t i = 0; i <= sizeof cuts / sizeof *cuts; i++) {
    c.input_buffer_size = i < sizeof cuts / sizeof *cuts ? cuts[i] : size / 2;
    SAID(tileirasProgramCreate(&p, &c), 3, "input does not correspond to Tile IR bytecode", 260);
    CHECK(p == NULL && heard.count >= 2 && strncmp(heard.all, "error at offset ", 16) == 0);
  }
  c = good;
  unsigned char *almost = (unsigned char *)malloc(size);
  CHECK(almost != NULL);
  memcpy(almost, input, size);
  almost[6] = 'S';
  c.input_buffer_data = almost;
  SAID(tileirasProgramCreate(&p, &c), 3, "input does not correspond to Tile IR bytecode", 260);
  CHECK(strstr(heard.all, "invalid magic number at position 6, got 7F 54 69 6C 65 49 53 00 expected 7F 54 69 6C 65 49 52 00\n"));
  free(almost);

  /* A module that can be read but does not verify is no valid input either. */
  c = good;
  c.input_buffer_data = read_file(argv[6], &c.input_buffer_size);
  SAID(tileirasProgramCreate(&p, &c), 3, "input does not correspond to Tile IR bytecode", 260);
  CHECK(p == NULL && strcmp(heard.all,
      "'cuda_tile.assume' op failed to verify that all of {value, result} have same type\n"
      "error at offset 30: failed to create operation 'cuda_tile.assume' due to verification error.\n"
      "input does not correspond to Tile IR bytecode\n") == 0);

  /* A compilation that fails. */
  c = good;
  CHECK(tileirasProgramCreate(&p, &c) == 0);
  CHECK(tileirasProgramSetLibNvvm(p, "/nowhere", 8) == 0);
  SAID(tileirasProgramCompile(p), 5, "failed to compile Tile IR program", 259);
  SAID(tileirasProgramGetOutput(p, &view), 4, "program has not been compiled", 2563);
  CHECK(tileirasProgramRelease(p) == 0);

  /* The output's name distinguishes the messages of several compilations. It need not outlive the call. */
  char name[] = "kernels/first.o";
  c.output_name = name;
  c.output_name_len = strlen(name);
  CHECK(tileirasProgramCreate(&p, &c) == 0);
  CHECK(tileirasProgramSetLibNvvm(p, "/nowhere", 8) == 0);
  memset(name, 'x', sizeof name - 1);
  memset(&heard, 0, sizeof heard);
  CHECK(tileirasProgramCompile(p) == 5);
  CHECK(strstr(heard.all, "while compiling 'kernels/first.o'") != NULL);
  CHECK(tileirasProgramRelease(p) == 0);

  /* The host's architecture and operating system determine the object: the machine of an ELF or COFF file. */
  static const struct { int arch, os; unsigned machine; } hosts[] = {
      {0, 0, 62}, {1, 0, 183}, {0, 1, 0x8664}, {1, 1, 0xaa64}, {2, 1, 0xa641}};
  for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
    c = good;
    c.host_arch = hosts[i].arch;
    c.host_os = hosts[i].os;
    c.output_name = "first.o";
    c.output_name_len = 7;
    TileirasByteView object;
    SAID(tileirasProgramGetHostObject(NULL, &object), 4, "program is null", 2563);
    CHECK(tileirasProgramCreate(&p, &c) == 0);
    SAID(tileirasProgramGetHostObject(p, &object), 4, "program has not been compiled", 2563);
    CHECK(tileirasProgramCompile(p) == 0);
    SAID(tileirasProgramGetHostObject(p, NULL), 4, "output pointer is null", 2563);
    memset(&heard, 0, sizeof heard);
    CHECK(tileirasProgramGetHostObject(p, &object) == 0 && object.length > 64);
    /* Each kernel has a launch function, except in objects for arm64ec. */
    int ec = hosts[i].arch == 2, launches = 0;
    for (size_t k = 0; k + 7 <= object.length; k++) launches |= memcmp(object.data + k, "_launch", 7) == 0;
    CHECK(launches == !ec && heard.count == ec);
    CHECK(!ec || strstr(heard.all, "the object for arm64ec has no launch functions") != NULL);
    int elf = memcmp(object.data, "\x7f" "ELF", 4) == 0;
    const unsigned char *machine = object.data + (elf ? 18 : 0);
    CHECK(elf == (hosts[i].os == 0) && (machine[0] | machine[1] << 8) == (int)hosts[i].machine);
    int named = 0;
    for (size_t k = 0; k + 5 <= object.length; k++) named |= memcmp(object.data + k, "first", 5) == 0;
    CHECK(named);
    TileirasByteView same;
    CHECK(tileirasProgramGetHostObject(p, &same) == 0 && same.data == object.data);
    CHECK(tileirasProgramGetOutput(p, &view) == 0 && memcmp(view.data, "\x7f" "ELF", 4) == 0);
    CHECK(tileirasProgramRelease(p) == 0);
  }

  /* libNVVM, given by its file: a missing file is reported when it is needed. */
  SAID(tileirasProgramSetLibNvvm(NULL, "x", 1), 4, "program is null", 2563);
  CHECK(tileirasProgramCreate(&p, &good) == 0);
  CHECK(tileirasProgramSetLibNvvm(p, "/nonexistent/libnvvm.so", 23) == 0);
  memset(&heard, 0, sizeof heard);
  CHECK(tileirasProgramCompile(p) == 5 && strstr(heard.all, "/nonexistent/libnvvm.so") != NULL);
  CHECK(tileirasProgramSetLibNvvm(p, NULL, 0) == 0 && tileirasProgramCompile(p) == 0);
  CHECK(tileirasProgramRelease(p) == 0);

  /* On request, types that NVIDIA's compiler rejects are rejected; this input contains none. */
  SAID(tileirasProgramSetStrictTypes(NULL, 1), 4, "program is null", 2563);
  SAID(tileirasProgramSetRemoteCache(NULL, NULL, 0), 4, "program is null", 2563);
  CHECK(tileirasProgramCreate(&p, &good) == 0);
  SAID(tileirasProgramSetStrictTypes(p, 2), 2, "invalid configuration", 2563);
  CHECK(tileirasProgramSetStrictTypes(p, 1) == 0 && tileirasProgramCompile(p) == 0);
  CHECK(tileirasProgramSetStrictTypes(p, 0) == 0 && tileirasProgramCompile(p) == 0);
  CHECK(tileirasProgramRelease(p) == 0);

  /* The order of reductions can be pinned; this input contains none. */
  SAID(tileirasProgramSetNumerics(NULL, 1), 4, "program is null", 2563);
  CHECK(tileirasProgramCreate(&p, &good) == 0);
  SAID(tileirasProgramSetNumerics(p, 3), 2, "invalid configuration", 2563);
  SAID(tileirasProgramSetNumerics(p, -1), 2, "invalid configuration", 2563);
  CHECK(tileirasProgramSetNumerics(p, 1) == 0 && tileirasProgramCompile(p) == 0);
  CHECK(tileirasProgramSetNumerics(p, 2) == 0 && tileirasProgramCompile(p) == 0);
  CHECK(tileirasProgramSetNumerics(p, 0) == 0 && tileirasProgramCompile(p) == 0);
  CHECK(tileirasProgramRelease(p) == 0);

  /* In a child process: the same image, the same messages, and a crash of the process is a failed compilation. */
  SAID(tileirasProgramSetCore(NULL, core, strlen(core)), 4, "program is null", 2563);
  CHECK(tileirasProgramCreate(&p, &good) == 0 && tileirasProgramCompile(p) == 0);
  TileirasProgram *q;
  CHECK(tileirasProgramCreate(&q, &good) == 0);
  CHECK(tileirasProgramSetCore(q, "/nonexistent/tileiras-core", 26) == 0);
  memset(&heard, 0, sizeof heard);
  CHECK(tileirasProgramCompile(q) == 5 && strstr(heard.all, "/nonexistent/tileiras-core") != NULL);
  char fatal[512];
  snprintf(fatal, sizeof fatal, "%s.fatal", core);
  FILE *script = fopen(fatal, "w");
  CHECK(script != NULL && fputs("#!/bin/sh\necho 'LLVM ERROR: impossible' >&2\nkill -ABRT $$\n", script) >= 0);
  CHECK(fclose(script) == 0 && chmod(fatal, 0755) == 0);
  CHECK(tileirasProgramSetCore(q, fatal, strlen(fatal)) == 0);
  memset(&heard, 0, sizeof heard);
  CHECK(tileirasProgramCompile(q) == 5 && strstr(heard.all, "LLVM ERROR: impossible") != NULL);
  CHECK(strstr(heard.all, "stopped by SIGABRT") != NULL);
  CHECK(tileirasProgramSetCore(q, core, strlen(core)) == 0);
  memset(&heard, 0, sizeof heard);
  CHECK(tileirasProgramCompile(q) == 0 && heard.count == 0);
  CHECK(tileirasProgramGetOutput(p, &view) == 0 && tileirasProgramGetOutput(q, &again) == 0);
  CHECK(view.length == again.length && memcmp(view.data, again.data, view.length) == 0);
  CHECK(tileirasProgramRelease(p) == 0 && tileirasProgramRelease(q) == 0);
  c = good;
  CHECK(tileirasProgramCreate(&q, &c) == 0 && tileirasProgramSetCore(q, core, strlen(core)) == 0);
  CHECK(tileirasProgramSetLibNvvm(q, "/nowhere", 8) == 0);
  SAID(tileirasProgramCompile(q), 5, "failed to compile Tile IR program", 259);
  CHECK(heard.count >= 2 && strstr(heard.all, "/nowhere") != NULL);
  CHECK(tileirasProgramRelease(q) == 0);

  /* With the sanitizer, the image says that it contains checks. */
  c = good;
  c.sanitize = 1;
  CHECK(tileirasProgramCreate(&p, &c) == 0);
  CHECK(tileirasProgramCompile(p) == 0 && tileirasProgramGetOutput(p, &view) == 0);
  int found = 0;
  for (size_t i = 0; i + 18 <= view.length; i++) found |= memcmp(view.data + i, "-sanitize memcheck", 18) == 0;
  CHECK(found);
  CHECK(tileirasProgramRelease(p) == 0);

  settings(good, argv[4], argv[5]);
  libraries(good, argv[7], argv[8], core);

  /* Back to standard error, where the test expects this line. */
  tileirasSetDiagnosticCallback(NULL, NULL);
  CHECK(tileirasProgramRelease(NULL) == 4);
  free(input);
  puts("ok");
  return 0;
}
