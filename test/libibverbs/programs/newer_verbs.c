/* Every verb that rdma-core has, by the version that it has there: those that the header of this system does not know yet too. */
#define _GNU_SOURCE
#include "checks.h"

#include <dlfcn.h>
#include <fcntl.h>

static void* find(const char* name, const char* version) {
  void* const found = dlvsym(RTLD_DEFAULT, name, version);
  if (!found)
    printf("%s@%s is not there\n", name, version);
  return found;
}

/* As ibv_mr_init_attr, and its masks. */
struct region_init {
  size_t length;
  int access;
  uint64_t comp_mask;
  uint64_t iova;
  void* addr;
  int fd;
  uint64_t fd_offset;
  void* dmah;
  void* buf;
};
enum { has_iova = 1, has_addr = 2, has_fd = 4, has_dmah = 16, has_buf = 32 };

static struct ibv_mr* (*reg_mr_ex)(struct ibv_pd*, struct region_init*);

static int refused(struct region_init init) {
  errno = 0;
  CHECK(reg_mr_ex(pd, &init) == NULL);
  return errno;
}

static void registration(void) {
  static char memory[8192];
  struct region_init init = {.length = 4096, .access = everything, .comp_mask = has_addr, .addr = memory};
  struct ibv_mr* mr = reg_mr_ex(pd, &init);
  CHECK(mr && mr->addr == memory && mr->length == 4096 && ibv_dereg_mr(mr) == 0);
  init.comp_mask |= has_iova;
  init.iova = 0x10000;
  CHECK((mr = reg_mr_ex(pd, &init)) && ibv_dereg_mr(mr) == 0);
  CHECK(refused((struct region_init){.length = 1, .comp_mask = has_iova}) == EINVAL);
  CHECK(refused((struct region_init){.length = 1, .comp_mask = has_fd}) == EOPNOTSUPP);
  CHECK(refused((struct region_init){.length = 1, .comp_mask = has_addr | has_dmah, .addr = memory}) == EOPNOTSUPP);
  CHECK(refused((struct region_init){.length = 0, .comp_mask = has_addr, .addr = memory}) == EINVAL);
  OK("registration by a structure");
}

static void buffers(void) {
  void* (*alloc_buf)(struct ibv_pd*, size_t, void**) = find("ibv_alloc_buf", "IBVERBS_1.17");
  void (*free_buf)(void*) = find("ibv_free_buf", "IBVERBS_1.17");
  struct ibv_mr* (*reg_buf_mr)(struct ibv_pd*, void*, void*, size_t, int) = find("ibv_reg_buf_mr", "IBVERBS_1.17");
  int (*export_fd)(void*) = find("ibv_export_buf_dmabuf_fd", "IBVERBS_1.18");
  CHECK(alloc_buf && free_buf && reg_buf_mr && export_fd);
  void* buf = NULL;
  CHECK(alloc_buf(pd, 0, &buf) == NULL && errno == EINVAL);
  char* const memory = alloc_buf(pd, 8192, &buf);
  CHECK(memory && buf);
  memset(memory, 1, 8192);
  struct ibv_mr* const mr = reg_buf_mr(pd, buf, memory + 100, 8092, everything);
  CHECK(mr && mr->addr == memory + 100 && mr->length == 8092 && ibv_dereg_mr(mr) == 0);
  CHECK(reg_buf_mr(pd, buf, memory + 100, 8093, everything) == NULL && errno == EINVAL);
  CHECK(reg_buf_mr(pd, buf, memory - 1, 10, everything) == NULL && errno == EINVAL);
  struct ibv_pd* const other = ibv_alloc_pd(context);
  CHECK(reg_buf_mr(other, buf, memory, 10, everything) == NULL && errno == EINVAL);
  CHECK(refused((struct region_init){.length = 1, .comp_mask = has_buf | has_fd, .buf = buf}) == EINVAL);
  CHECK(ibv_dealloc_pd(other) == 0 && export_fd(buf) == -1 && errno == ENODATA);
  free_buf(buf);
  OK("buffers of the library");
}

static void speed_of_port(void) {
  int (*query_speed)(struct ibv_context*, uint32_t, uint64_t*) = find("ibv_query_port_speed", "IBVERBS_1.16");
  uint64_t speed = 0;
  CHECK(query_speed && query_speed(context, 1, &speed) == 0 && speed == 1000); /* four lanes of 25 Gb/s */
  CHECK(query_speed(context, 9, &speed) == EINVAL && query_speed(context, 257, &speed) == EINVAL);
  OK("the speed of a port");
}

/* Verbs that are not there, which give an error number: of any arguments. */
static void refusals(void) {
  static const char* const numbers[] = {"ibv_destroy_comp_cntr",     "ibv_qp_attach_comp_cntr", "ibv_set_comp_cntr",
                                        "ibv_set_err_comp_cntr",     "ibv_inc_comp_cntr",       "ibv_inc_err_comp_cntr",
                                        "ibv_read_comp_cntr",        "ibv_read_err_comp_cntr",  "_ibv_query_comp_cntr_caps"};
  for (size_t index = 0; index < sizeof numbers / sizeof *numbers; ++index) {
    int (*verb)(void*, void*, void*) = find(numbers[index], "IBVERBS_1.18");
    CHECK(verb && verb(context, NULL, NULL) == EOPNOTSUPP);
  }
  static const struct {
    const char *name, *version;
  } objects[] = {{"ibv_create_comp_cntr", "IBVERBS_1.18"}, {"ibv_alloc_dmah", "IBVERBS_1.15"},
                 {"ibv_import_pd", "IBVERBS_1.10"},        {"ibv_import_mr", "IBVERBS_1.10"},
                 {"ibv_import_dm", "IBVERBS_1.13"}};
  for (size_t index = 0; index < sizeof objects / sizeof *objects; ++index) {
    void* (*verb)(void*, void*) = find(objects[index].name, objects[index].version);
    errno = 0;
    CHECK(verb && verb(context, NULL) == NULL && errno == EOPNOTSUPP);
  }
  int (*dealloc_dmah)(void*) = find("ibv_dealloc_dmah", "IBVERBS_1.15");
  int (*export_memory)(void*) = find("ibv_dm_export_dmabuf_fd", "IBVERBS_1.16");
  CHECK(dealloc_dmah && dealloc_dmah(NULL) == EOPNOTSUPP && export_memory);
  errno = 0;
  CHECK(export_memory(NULL) == -1 && errno == EOPNOTSUPP);
  CHECK(ibv_import_device(0) == NULL && errno == EOPNOTSUPP);
  CHECK(ibv_reg_dmabuf_mr(pd, 0, 1, 0, 0, 0) == NULL && errno == EOPNOTSUPP);
  struct ibv_ece ece = {};
  CHECK(ibv_query_ece(NULL, &ece) == EOPNOTSUPP && ibv_set_ece(NULL, &ece) == EOPNOTSUPP);
  OK("refusals, with the errors that libibverbs documents");
}

int main(void) {
  open_device();
  CHECK((reg_mr_ex = find("ibv_reg_mr_ex", "IBVERBS_1.15")));
  registration();
  buffers();
  speed_of_port();
  refusals();
  CHECK(ibv_dealloc_pd(pd) == 0 && ibv_close_device(context) == 0);
  OK("all");
  return 0;
}
