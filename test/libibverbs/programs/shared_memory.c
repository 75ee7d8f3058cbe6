/* On a board that another process holds: memory of the program is made shared with that process, page by page, while the program goes
 * on using it. */
#include "checks.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { page = 4096 };
static struct ibv_cq* cq;
static struct ibv_qp* qp;

static struct ibv_mr* offer(void* memory, size_t bytes) {
  struct ibv_mr* mr = ibv_reg_mr(pd, memory, bytes, everything);
  CHECK(mr);
  return mr;
}

/* Copies by RDMA WRITE within the process. */
static void copy(struct ibv_mr* from, void* source, struct ibv_mr* to, void* target, uint32_t bytes) {
  struct ibv_sge sge = {(uintptr_t)source, bytes, from->lkey};
  struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE};
  wr.wr.rdma.remote_addr = (uintptr_t)target;
  wr.wr.rdma.rkey = to->rkey;
  CHECK(post(qp, wr) == 0 && wait_for(cq).status == IBV_WC_SUCCESS);
}

static char* new_pages(size_t count) {
  char* made = mmap(NULL, count * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(made != MAP_FAILED);
  return made;
}

/* Regions that begin and end within pages, and have pages in common. */
static void regions_with_pages_in_common(void) {
  char* memory = new_pages(8);
  for (int i = 0; i < 8 * page; ++i)
    memory[i] = (char)(i * 7 + i / 251);
  char before[8 * page];
  memcpy(before, memory, sizeof before);
  struct ibv_mr* middle = offer(memory + 2 * page + 100, 2 * page);
  struct ibv_mr* around = offer(memory + 50, 7 * page);
  struct ibv_mr* end = offer(memory + 6 * page + 3000, 2 * page - 3000);
  CHECK(memcmp(memory, before, sizeof before) == 0);
  copy(around, memory + 60, end, memory + 6 * page + 3000, 2 * page - 3000);
  CHECK(memcmp(memory + 60, memory + 6 * page + 3000, 2 * page - 3000) == 0);
  /* Over the bounds of what was shared earlier and later. */
  memset(memory + 60, 'x', page);
  copy(around, memory + 60, around, memory + 2 * page - 10, page);
  CHECK(memory[2 * page - 11] != 'x' && memory[2 * page - 10] == 'x' && memory[3 * page - 11] == 'x');
  copy(around, memory + 60, middle, memory + 3 * page + 500, 100);
  CHECK(memory[3 * page + 500] == 'x');
  CHECK(ibv_dereg_mr(middle) == 0 && ibv_dereg_mr(around) == 0);
  copy(end, memory + 7 * page, end, memory + 6 * page + 3000, 64);
  CHECK(memcmp(memory + 7 * page, memory + 6 * page + 3000, 64) == 0 && ibv_dereg_mr(end) == 0);
  OK("regions that have pages in common");
  struct ibv_mr* again = offer(memory, 8 * page);
  copy(again, memory + 60, again, memory + 5 * page, 64);
  CHECK(memory[5 * page] == 'x' && memory[2 * page - 10] == 'x' && ibv_dereg_mr(again) == 0);
  OK("pages that are registered again keep their content");
  CHECK(munmap(memory, 8 * page) == 0);
  char* other = mmap(memory, 8 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  CHECK(other == memory && other[60] == 0);
  other[60] = 'y';
  again = offer(other, 8 * page);
  copy(again, other + 60, again, other + 5 * page, 1);
  CHECK(other[5 * page] == 'y' && ibv_dereg_mr(again) == 0 && munmap(other, 8 * page) == 0);
  OK("new memory at an old address");
}

static atomic_int stop;
static _Atomic uint64_t* counter;

static void* count_up(void* unused) {
  (void)unused;
  uint64_t own = 0;
  while (!stop) {
    ++own;
    if (atomic_fetch_add(counter, 1) + 1 != own)
      return (void*)1;
  }
  return NULL;
}

/* A thread counts in a page while the page is replaced again and again: no count is lost. */
static void a_thread_that_writes_meanwhile(void) {
  enum { pages = 32, rounds = 100 };
  char* memory = new_pages(pages);
  counter = (_Atomic uint64_t*)(memory + 17 * page + 8);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, count_up, NULL) == 0);
  for (int i = 0; i < rounds; ++i) {
    uint64_t before = *counter;
    struct ibv_mr* mr = offer(memory, pages * page);
    CHECK(ibv_dereg_mr(mr) == 0);
    while (i % 50 == 0 && *counter == before)
      sched_yield();
  }
  stop = 1;
  void* lost;
  CHECK(pthread_join(thread, &lost) == 0 && lost == NULL);
  CHECK(munmap(memory, pages * page) == 0);
  OK("a thread that writes while pages are replaced loses nothing");
}

static volatile long* ticks;
static void count_tick(int unused) {
  (void)unused;
  ++*ticks;
}

/* A signal's handler writes in the page, on the thread that replaces it. */
static void a_handler_that_writes_meanwhile(void) {
  enum { pages = 64, most = 100000, wanted = 100 };
  char* memory = new_pages(pages);
  ticks = (volatile long*)(memory + 5 * page);
  struct sigaction action = {.sa_handler = count_tick, .sa_flags = SA_RESTART};
  struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
  CHECK(sigaction(SIGALRM, &action, NULL) == 0 && setitimer(ITIMER_REAL, &often, NULL) == 0);
  for (int i = 0; i < most && (i < wanted || *ticks < wanted); ++i) {
    struct ibv_mr* mr = offer(memory, pages * page);
    CHECK(ibv_dereg_mr(mr) == 0);
  }
  CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0 && *ticks >= wanted && munmap(memory, pages * page) == 0);
  OK("a handler that writes while pages are replaced waits for nothing");
}

/* realloc() has the kernel move large memory and make it longer, where it can. */
static void memory_that_grows(void) {
  size_t bytes = 1 << 20;
  char* memory = malloc(bytes);
  memset(memory, 'm', bytes);
  char* begin = memory - (uintptr_t)memory % page;
  size_t whole = ((uintptr_t)memory % page + bytes + page - 1) / page * page;
  struct ibv_mr* mr = offer(begin, whole);
  CHECK(ibv_dereg_mr(mr) == 0);
  memory = realloc(memory, 4 * bytes);
  CHECK(memory && memory[0] == 'm' && memory[bytes - 1] == 'm');
  memset(memory + bytes, 'n', 3 * bytes);
  CHECK(memory[4 * bytes - 1] == 'n');
  free(memory);
  OK("memory that grows when it was registered");
}

static void a_child(void) {
  char* memory = new_pages(2);
  strcpy(memory, "parent");
  struct ibv_mr* mr = offer(memory, 2 * page);
  pid_t child = fork();
  if (child == 0) {
    int right = strcmp(memory, "parent") == 0;
    strcpy(memory, "child");
    _exit(right && strcmp(memory, "child") == 0 ? 0 : 1);
  }
  int status;
  CHECK(waitpid(child, &status, 0) == child && status == 0 && strcmp(memory, "parent") == 0);
  copy(mr, memory, mr, memory + page, 7);
  CHECK(strcmp(memory + page, "parent") == 0 && ibv_dereg_mr(mr) == 0);
  OK("a child has copies of its own");
}

static const char constant[3 * page] = "constant";

static void what_is_refused(void) {
  char on_stack[64];
  CHECK(ibv_reg_mr(pd, on_stack, sizeof on_stack, IBV_ACCESS_LOCAL_WRITE) == NULL && errno == EOPNOTSUPP);
  char* shared = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(ibv_reg_mr(pd, shared, page, IBV_ACCESS_LOCAL_WRITE) == NULL && errno == EOPNOTSUPP);
  strcpy(shared, "untouched");
  CHECK(strcmp(shared, "untouched") == 0 && munmap(shared, page) == 0);
  OK("stacks, and memory that is shared with others, are refused");
  const char* inner = constant + page - (uintptr_t)constant % page;
  struct ibv_mr* from = ibv_reg_mr(pd, (void*)(uintptr_t)inner, page, IBV_ACCESS_REMOTE_READ);
  static char target[64];
  struct ibv_mr* to = offer(target, sizeof target);
  CHECK(from);
  struct ibv_sge sge = {(uintptr_t)target, 32, to->lkey};
  struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_READ};
  wr.wr.rdma.remote_addr = (uintptr_t)inner;
  wr.wr.rdma.rkey = from->rkey;
  target[5] = 'z';
  CHECK(post(qp, wr) == 0 && wait_for(cq).status == IBV_WC_SUCCESS && memcmp(target, inner, 32) == 0);
  CHECK(ibv_dereg_mr(from) == 0 && ibv_dereg_mr(to) == 0);
  OK("memory that cannot be written is read");
}

static sigjmp_buf after_fault;
static int older_calls, newer_calls;
static struct sigaction replaced_by_newer;

static void older_handler(int signal, siginfo_t* info, void* context) {
  (void)signal, (void)info, (void)context;
  ++older_calls;
  siglongjmp(after_fault, 1);
}

static void newer_handler(int signal, siginfo_t* info, void* context) {
  ++newer_calls;
  replaced_by_newer.sa_sigaction(signal, info, context);
}

static void write_to(volatile char* place) {
  if (sigsetjmp(after_fault, 1) == 0)
    *place = 1;
}

/* The library has a handler of SIGSEGV below and above those of the program. */
static void faults_of_the_program(void) {
  char* memory = new_pages(3); /* to register; to write to in vain; to register */
  CHECK(mprotect(memory + page, page, PROT_READ) == 0);
  struct sigaction before, older = {.sa_sigaction = older_handler, .sa_flags = SA_SIGINFO};
  struct sigaction newer = {.sa_sigaction = newer_handler, .sa_flags = SA_SIGINFO};
  CHECK(sigaction(SIGSEGV, &older, &before) == 0);
  CHECK(ibv_dereg_mr(offer(memory, page)) == 0);
  for (int i = 1; i <= 3; ++i) {
    write_to(memory + page);
    CHECK(older_calls == i);
  }
  CHECK(sigaction(SIGSEGV, &newer, &replaced_by_newer) == 0);
  for (int i = 1; i <= 3; ++i) {
    write_to(memory + page);
    CHECK(newer_calls >= i && older_calls == 3 + i);
  }
  CHECK(ibv_dereg_mr(offer(memory + 2 * page, page)) == 0);
  newer_calls = 0;
  for (int i = 1; i <= 3; ++i) {
    write_to(memory + page);
    CHECK(newer_calls == i && older_calls == 6 + i);
  }
  CHECK(memory[page] == 0 && sigaction(SIGSEGV, &before, NULL) == 0 && munmap(memory, 3 * page) == 0);
  OK("faults of the program reach its handlers");
}

int main(void) {
  open_device();
  cq = ibv_create_cq(context, 16, NULL, NULL, 0);
  struct ibv_qp_init_attr init = {.send_cq = cq, .recv_cq = cq, .cap = {8, 8, 1, 1, 0}, .qp_type = IBV_QPT_RC};
  CHECK((qp = ibv_create_qp(pd, &init)));
  connect_qp(qp, qp);
  regions_with_pages_in_common();
  a_thread_that_writes_meanwhile();
  a_handler_that_writes_meanwhile();
  memory_that_grows();
  a_child();
  what_is_refused();
  faults_of_the_program();
  OK("all");
  return 0;
}
