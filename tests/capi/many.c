/* many INPUT ROOT THREADS COUNT: runs COUNT compilations in THREADS threads, and prints the resident memory in kilobytes after a tenth
 * of them and at the end. All outputs must be equal. */
#include "check.h"
#include <pthread.h>
#include <unistd.h>

static unsigned char *input;
static size_t size;
static const char *root;
static int per_thread;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned char *first;
static size_t first_length;

static long resident_kilobytes(void) {
  long pages = 0, resident = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  CHECK(f != NULL && fscanf(f, "%ld %ld", &pages, &resident) == 2);
  fclose(f);
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static void *work(void *unused) {
  (void)unused;
  for (int i = 0; i < per_thread; i++) {
    TileirasConfig c = config_for(input, size, root);
    TileirasProgram *p;
    TileirasByteView view;
    CHECK(tileirasProgramCreate(&p, &c) == 0);
    CHECK(tileirasProgramCompile(p) == 0);
    CHECK(tileirasProgramGetOutput(p, &view) == 0);
    pthread_mutex_lock(&lock);
    if (first == NULL) {
      first = (unsigned char *)malloc(view.length);
      first_length = view.length;
      memcpy(first, view.data, view.length);
    }
    CHECK(view.length == first_length && memcmp(view.data, first, first_length) == 0);
    pthread_mutex_unlock(&lock);
    CHECK(tileirasProgramRelease(p) == 0);
  }
  return NULL;
}

static void run(int threads, int count) {
  pthread_t *ids = (pthread_t *)malloc(sizeof *ids * (size_t)threads);
  per_thread = count / threads > 0 ? count / threads : 1;
  for (int i = 0; i < threads; i++) CHECK(pthread_create(&ids[i], NULL, work, NULL) == 0);
  for (int i = 0; i < threads; i++) CHECK(pthread_join(ids[i], NULL) == 0);
  free(ids);
}

int main(int argc, char **argv) {
  CHECK(argc == 5);
  input = read_file(argv[1], &size);
  root = argv[2];
  int threads = atoi(argv[3]), count = atoi(argv[4]);
  run(threads, count / 10);
  long before = resident_kilobytes();
  run(threads, count - count / 10);
  printf("%ld %ld\n", before, resident_kilobytes());
  return 0;
}
