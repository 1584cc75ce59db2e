/* Compiles a tile program with the C library, to PTX or to a cubin:
 *
 *   compile FILE GPU OUTPUT [CACHE]      compile twice.mlir 90 twice.ptx
 *
 * FILE is bytecode or text. OUTPUT ends in .ptx for PTX, which needs none of NVIDIA's tools, or in .cubin. The program
 * prints the compiler's messages and remarks: what it chose for each load, store and product. CACHE is a directory that
 * keeps outputs; with it there are no remarks, because a cache has only outputs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tileiras.h>

/* Prints a message as compilers do: place, severity, text. */
static void print(const TileirasDiagnostic *d, void *user_data) {
  static const char *const severities[] = {"error", "warning", "remark", "note"};
  FILE *to = (FILE *)user_data;
  if (d->file[0] != '\0') fprintf(to, "%s:%u:%u: ", d->file, d->line, d->column);
  fprintf(to, "%s: %s", severities[d->severity], d->message);
  if (d->code[0] != '\0') fprintf(to, " [%s]", d->code);
  fputc('\n', to);
}

/* Returns the contents of a file, to be freed by the caller; null if it cannot be read. */
static char *contents(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return NULL;
  char *data = NULL;
  size_t capacity = 0;
  *size = 0;
  do {
    if (*size == capacity) {
      capacity = capacity == 0 ? 4096 : 2 * capacity;
      char *larger = realloc(data, capacity);
      if (larger == NULL) {
        free(data);
        fclose(file);
        return NULL;
      }
      data = larger;
    }
    *size += fread(data + *size, 1, capacity - *size, file);
  } while (!feof(file) && !ferror(file));
  int failed = ferror(file);
  fclose(file);
  if (failed) {
    free(data);
    return NULL;
  }
  return data;
}

static int ends_in(const char *text, const char *end) {
  size_t length = strlen(text), own = strlen(end);
  return length >= own && strcmp(text + length - own, end) == 0;
}

/* Compiles a program and writes the output. Returns 0 on success. */
static int compile(TileirasProgram *program, const char *name, const char *output, const char *cache) {
  if (tileirasProgramSetInputName(program, name, strlen(name)) != TILEIRAS_SUCCESS) return 1;
  if (ends_in(output, ".ptx") && tileirasProgramSetEmit(program, TILEIRAS_EMIT_PTX) != TILEIRAS_SUCCESS) return 1;
  if (cache != NULL) {
    if (tileirasProgramSetCacheDirectory(program, cache, strlen(cache)) != TILEIRAS_SUCCESS) return 1;
  } else if (tileirasProgramSetRemarks(program, "all", 3) != TILEIRAS_SUCCESS) {
    return 1;
  }
  if (tileirasProgramCompile(program) != TILEIRAS_SUCCESS) return 1;
  TileirasByteView view;
  if (tileirasProgramGetOutput(program, &view) != TILEIRAS_SUCCESS) return 1;
  FILE *file = fopen(output, "wb");
  if (file == NULL || fwrite(view.data, 1, view.length, file) != view.length || fclose(file) != 0) {
    perror(output);
    return 1;
  }
  printf("%s: %zu bytes\n", output, view.length);
  return 0;
}

int main(int argc, char **argv) {
  if (argc < 4 || argc > 5) {
    fprintf(stderr, "usage: %s FILE GPU OUTPUT [CACHE]\n", argv[0]);
    return 2;
  }
  if (tileirasApiVersion() < 7) {
    fprintf(stderr, "%s is too old: this program needs version 7 of the interface\n", tileirasVersionString());
    return 2;
  }
  size_t size;
  char *input = contents(argv[1], &size);
  if (input == NULL) {
    perror(argv[1]);
    return 2;
  }
  tileirasSetDiagnosticCallback(print, stderr);

  /* Unused fields are zero. */
  TileirasConfig config = {0};
  config.input_buffer_data = input;
  config.input_buffer_size = size;
  config.gpu_id = atoi(argv[2]);
  config.opt_level = 3;

  TileirasProgram *program;
  int failed = tileirasProgramCreate(&program, &config) != TILEIRAS_SUCCESS;
  if (!failed) {
    failed = compile(program, argv[1], argv[3], argc == 5 ? argv[4] : NULL);
    tileirasProgramRelease(program);
  }
  free(input);
  return failed;
}
