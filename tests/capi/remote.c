/* remote INPUT ROOT ADDRESS TIMES: compiles TIMES times with the remote cache ADDRESS, or the one of the environment for "-", and
 * writes the cubin to standard output. It must be the same each time. */
#include "check.h"

int main(int argc, char **argv) {
  CHECK(argc == 5);
  size_t size;
  unsigned char *input = read_file(argv[1], &size);
  const char *address = strcmp(argv[3], "-") == 0 ? NULL : argv[3];
  unsigned char *first = NULL;
  size_t length = 0;
  for (int i = 0; i < atoi(argv[4]); i++) {
    TileirasConfig c = config_for(input, size, argv[2]);
    TileirasProgram *p;
    TileirasByteView view;
    CHECK(tileirasProgramCreate(&p, &c) == 0);
    CHECK(tileirasProgramSetRemoteCache(p, address, address != NULL ? strlen(address) : 0) == 0);
    int status = tileirasProgramCompile(p);
    if (status != 0) return status;
    CHECK(tileirasProgramGetOutput(p, &view) == 0);
    if (first == NULL) {
      first = (unsigned char *)malloc(view.length);
      CHECK(first != NULL);
      length = view.length;
      memcpy(first, view.data, length);
    }
    CHECK(view.length == length && memcmp(view.data, first, length) == 0);
    CHECK(tileirasProgramRelease(p) == 0);
  }
  CHECK(fwrite(first, 1, length, stdout) == length);
  free(first);
  free(input);
  return 0;
}
