/* Helpers of the C test programs. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tileiras.h>

#define CHECK(condition)                                                                          \
  do {                                                                                            \
    if (!(condition)) {                                                                           \
      fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);                     \
      exit(1);                                                                                    \
    }                                                                                             \
  } while (0)

static inline unsigned char *read_file(const char *path, size_t *size) {
  FILE *f = fopen(path, "rb");
  CHECK(f != NULL);
  CHECK(fseek(f, 0, SEEK_END) == 0);
  *size = (size_t)ftell(f);
  rewind(f);
  unsigned char *data = (unsigned char *)malloc(*size + 1);
  CHECK(data != NULL && fread(data, 1, *size, f) == *size);
  fclose(f);
  return data;
}

static inline TileirasConfig config_for(const void *data, size_t size, const char *root) {
  TileirasConfig c;
  memset(&c, 0, sizeof c);
  c.input_buffer_data = data;
  c.input_buffer_size = size;
  c.gpu_id = 90;
  c.opt_level = 3;
  c.cuda_root = root;
  c.cuda_root_len = root ? strlen(root) : 0;
  return c;
}

#endif
