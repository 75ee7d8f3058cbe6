/* On a PCI function without an IOMMU: memory of the program, of any kind, keeps its place in physical memory while it is registered, and
 * the device writes there. The argument is a file. */
#define _GNU_SOURCE
#include "checks.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { page = 4096, huge_page = 2 << 20 };
static struct ibv_cq* cq;
static struct ibv_qp* qp;
static char initialized[3 * page] = "initialized";
static char zeroed[3 * page];
static const char constant[page] = "constant";

static void copy(struct ibv_mr* from, const void* source, struct ibv_mr* to, void* target, uint32_t bytes) {
  struct ibv_sge sge = {(uintptr_t)source, bytes, from->lkey};
  struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE};
  wr.wr.rdma.remote_addr = (uintptr_t)target;
  wr.wr.rdma.rkey = to->rkey;
  CHECK(post(qp, wr) == 0 && wait_for(cq).status == IBV_WC_SUCCESS);
}

/* Copies each byte of `memory` there and back. */
static void moves(char* memory, size_t bytes) {
  char* other = malloc(bytes);
  char* wanted = malloc(bytes);
  for (size_t i = 0; i < bytes; ++i)
    wanted[i] = memory[i] = (char)(i * 7 + i / 251);
  memset(other, 0, bytes);
  struct ibv_mr* mr = ibv_reg_mr(pd, memory, bytes, everything);
  struct ibv_mr* there = ibv_reg_mr(pd, other, bytes, everything);
  CHECK(mr && there);
  copy(mr, memory, there, other, (uint32_t)bytes);
  CHECK(memcmp(other, wanted, bytes) == 0);
  memset(memory, 0, bytes);
  copy(there, other, mr, memory, (uint32_t)bytes);
  CHECK(memcmp(memory, wanted, bytes) == 0);
  CHECK(ibv_dereg_mr(mr) == 0 && ibv_dereg_mr(there) == 0);
  free(other);
  free(wanted);
}

static char* mapped(size_t bytes, int flags, int file) {
  char* made = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, file, 0);
  CHECK(made != MAP_FAILED);
  return made;
}

static void memory_of_any_kind(void) {
  char* heap = malloc(5 * page);
  moves(heap + 13, 3 * page);
  OK("malloc");
  char stack[3 * page];
  moves(stack + 5, sizeof stack - 5);
  OK("a stack");
  CHECK(strcmp(initialized, "initialized") == 0);
  moves(initialized, sizeof initialized);
  moves(zeroed, sizeof zeroed);
  OK("static memory");
  int file = memfd_create("memory", 0);
  CHECK(file >= 0 && ftruncate(file, 5 * page) == 0);
  moves(mapped(5 * page, MAP_SHARED, file), 5 * page);
  moves(mapped(5 * page, MAP_SHARED | MAP_ANONYMOUS, -1), 5 * page);
  OK("shared memory");
  char* huge = mapped(2 * huge_page, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1);
  moves(huge + 100, 2 * huge_page - 100);
  CHECK(munmap(huge, 2 * huge_page) == 0);
  OK("hugepages");
  enum { many = 10 }; /* more than the device has entries for, were they pages of 4 KiB */
  huge = mapped(many * huge_page, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1);
  struct ibv_mr* mr = ibv_reg_mr(pd, huge + 8, many * huge_page - 8, everything);
  CHECK(mr);
  for (int i = 0; i < many; ++i)
    strcpy(huge + i * huge_page + 8, "from here");
  for (int i = 1; i < many; ++i) {
    char* target = huge + i * huge_page - 5; /* over the end of a page */
    copy(mr, huge + (i - 1) * huge_page + 8, mr, target, 10);
    CHECK(strcmp(target, "from here") == 0);
  }
  CHECK(ibv_dereg_mr(mr) == 0 && munmap(huge, many * huge_page) == 0);
  OK("many hugepages");

  struct ibv_mr* read_only = ibv_reg_mr(pd, (void*)constant, sizeof constant, IBV_ACCESS_REMOTE_READ);
  struct ibv_mr* writable = ibv_reg_mr(pd, heap, page, everything);
  CHECK(read_only && writable);
  copy(read_only, constant, writable, heap, sizeof constant);
  CHECK(strcmp(heap, "constant") == 0 && ibv_dereg_mr(read_only) == 0 && ibv_dereg_mr(writable) == 0);
  int pipe_ends[2];
  CHECK(pipe(pipe_ends) == 0 && write(pipe_ends[1], "x", 1) == 1);
  CHECK(read(pipe_ends[0], (void*)constant, 1) == -1 && errno == EFAULT);
  OK("memory that may only be read, and stays so");
  free(heap);
}

static void refused(const char* path) {
  int file = open(path, O_RDONLY);
  char* of_file = mmap(NULL, page, PROT_READ, MAP_SHARED, file, 0);
  CHECK(file >= 0 && of_file != MAP_FAILED);
  CHECK(ibv_reg_mr(pd, of_file, page, IBV_ACCESS_REMOTE_READ) == NULL && errno == EOPNOTSUPP);
  CHECK(ibv_reg_mr(pd, (void*)(uintptr_t)&refused, 1, IBV_ACCESS_REMOTE_READ) == NULL && errno == EOPNOTSUPP);
  moves(mapped(page, MAP_PRIVATE, file), page);
  OK("files and code are refused");
}

/* Static memory that a thread counts in while its pages of the program's file are replaced. */
static atomic_int stop;
static struct {
  char before[page];
  _Atomic uint64_t counter;
  char after[page];
} counted = {.counter = 5};

static void* count_up(void* counts) {
  uint64_t mine = 0;
  while (!atomic_load(&stop)) {
    atomic_fetch_add(&counted.counter, 1);
    ++mine;
  }
  *(uint64_t*)counts = mine;
  return NULL;
}

static void while_a_thread_writes(void) {
  pthread_t thread;
  uint64_t counts = 0;
  CHECK(pthread_create(&thread, NULL, count_up, &counts) == 0);
  while (atomic_load(&counted.counter) < 1000)
    ;
  struct ibv_mr* mr = ibv_reg_mr(pd, &counted, sizeof counted, everything);
  CHECK(mr);
  uint64_t now = atomic_load(&counted.counter);
  while (atomic_load(&counted.counter) < now + 1000)
    ;
  atomic_store(&stop, 1);
  CHECK(pthread_join(thread, NULL) == 0 && atomic_load(&counted.counter) == counts + 5 && ibv_dereg_mr(mr) == 0);
  OK("a thread that writes loses nothing");
}

static uint64_t frame_of(const void* memory) {
  uint64_t entry;
  int file = open("/proc/self/pagemap", O_RDONLY);
  CHECK(file >= 0 && pread(file, &entry, sizeof entry, (off_t)((uintptr_t)memory / page * sizeof entry)) == sizeof entry);
  close(file);
  CHECK(entry >> 63);
  return entry & ((1ull << 55) - 1);
}

static void write_to(const char* path) {
  int file = open(path, O_WRONLY);
  CHECK(file >= 0 && write(file, "1", 1) == 1);
  close(file);
}

/* The kernel moves pages when it makes room for large ones, and a page that was shared with a child is another after a write. */
static void pages_stay(void) {
  enum { pages = 128 };
  char* scattered[pages];
  for (int i = 0; i < pages; ++i) { /* between pages that are free again: what the kernel would move together */
    scattered[i] = mapped(2 * page, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    memset(scattered[i], i, 2 * page);
  }
  struct ibv_mr* mrs[pages];
  uint64_t frames[pages];
  for (int i = 0; i < pages; ++i) {
    CHECK((mrs[i] = ibv_reg_mr(pd, scattered[i], page, everything)));
    frames[i] = frame_of(scattered[i]);
    CHECK(munmap(scattered[i] + page, page) == 0);
  }
  write_to("/proc/sys/vm/compact_memory");
  pid_t child = fork();
  if (child == 0) {
    int seen = 0;
    for (int i = 0; i < pages; ++i)
      seen += scattered[i][1] == (char)i;
    _exit(seen == pages ? 0 : 1);
  }
  for (int i = 0; i < pages; ++i)
    scattered[i][0] = 'p';
  int status;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  for (int i = 0; i < pages; ++i)
    CHECK(frame_of(scattered[i]) == frames[i]);
  for (int i = 1; i < pages; ++i) {
    copy(mrs[0], scattered[0], mrs[i], scattered[i] + 8, 1);
    CHECK(scattered[i][8] == 'p');
  }
  for (int i = 0; i < pages; ++i)
    CHECK(ibv_dereg_mr(mrs[i]) == 0);
  OK("pages stay where they are");
}

/* Holds memory registered until it is killed. */
static void hold(void) {
  enum { bytes = 1 << 20 };
  CHECK(ibv_reg_mr(pd, malloc(bytes), bytes, everything));
  OK("held");
  for (;;)
    pause();
}

int main(int count, char** words) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  open_device();
  cq = ibv_create_cq(context, 16, NULL, NULL, 0);
  struct ibv_qp_init_attr init = {.send_cq = cq, .recv_cq = cq, .cap = {4, 4, 1, 1, 0}, .qp_type = IBV_QPT_RC};
  qp = ibv_create_qp(pd, &init);
  CHECK(qp);
  connect_qp(qp, qp);
  if (count == 1)
    hold();
  memory_of_any_kind();
  refused(words[1]);
  while_a_thread_writes();
  pages_stay();
  CHECK(wait(NULL) == -1 && errno == ECHILD);
  OK("no child but the program's own");
  CHECK(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(cq) == 0 && ibv_dealloc_pd(pd) == 0 && ibv_close_device(context) == 0);
  OK("all");
  return 0;
}
