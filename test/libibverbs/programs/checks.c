/* A program in C, as users write it: compiled with Debian's <infiniband/verbs.h> against Debian's library, and run with that
 * of this package. One board looped back; each line "ok NAME" is a check that held, the first that does not ends it. */
#include "checks.h"

#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static void memory_of_any_kind(void) {
  char* unaligned = (char*)malloc(100000) + 13;
  char stack[64];
  static char zeroed[4096];
  struct ibv_mr* mr;
  CHECK((mr = ibv_reg_mr(pd, unaligned, 99900, everything)) && mr->addr == unaligned && ibv_dereg_mr(mr) == 0);
  CHECK((mr = ibv_reg_mr(pd, stack, sizeof stack, everything)) && ibv_dereg_mr(mr) == 0);
  CHECK((mr = ibv_reg_mr(pd, zeroed, sizeof zeroed, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_RELAXED_ORDERING)) &&
        ibv_dereg_mr(mr) == 0);
  char* hole = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(munmap(hole + 4096, 4096) == 0);
  CHECK(ibv_reg_mr(pd, hole, 3 * 4096, everything) == NULL && errno == EFAULT);
  CHECK(mprotect(hole, 4096, PROT_READ) == 0);
  CHECK(ibv_reg_mr(pd, hole, 4096, IBV_ACCESS_LOCAL_WRITE) == NULL && errno == EFAULT);
  CHECK((mr = ibv_reg_mr(pd, hole, 4096, IBV_ACCESS_REMOTE_READ)) && ibv_dereg_mr(mr) == 0);
  CHECK(ibv_reg_mr(pd, unaligned, 100, IBV_ACCESS_REMOTE_WRITE) == NULL && errno == EINVAL);
  CHECK(ibv_reg_mr(pd, unaligned, 100, IBV_ACCESS_ON_DEMAND) == NULL && errno == EOPNOTSUPP);
  CHECK(ibv_reg_mr(pd, unaligned, 0, IBV_ACCESS_LOCAL_WRITE) == NULL && errno == EINVAL);
  OK("memory of any kind, and what is refused");
}

static void operations(struct ibv_qp* qp, struct ibv_qp* peer, struct ibv_cq* cq) {
  enum { bytes = 300007 };
  unsigned char* from = (unsigned char*)malloc(bytes + 1) + 1;
  unsigned char* to = (unsigned char*)malloc(bytes + 3) + 3;
  for (int i = 0; i < bytes; ++i)
    from[i] = (unsigned char)(i * 7 + i / 256);
  memset(to, 0, bytes);
  struct ibv_mr* local = ibv_reg_mr(pd, from, bytes, everything);
  struct ibv_mr* remote = ibv_reg_mr_iova(pd, to, bytes, 0x1234000, everything);
  CHECK(local && remote);
  struct ibv_sge sge = {.addr = (uintptr_t)from, .length = bytes, .lkey = local->lkey};
  struct ibv_send_wr wr = {.wr_id = ~0ull - 4, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE};
  wr.wr.rdma.remote_addr = 0x1234000;
  wr.wr.rdma.rkey = remote->rkey;
  CHECK(post(qp, wr) == 0);
  struct ibv_wc wc = wait_for(cq);
  CHECK(wc.status == IBV_WC_SUCCESS && wc.wr_id == ~0ull - 4 && wc.opcode == IBV_WC_RDMA_WRITE &&
        wc.qp_num == qp->qp_num);
  CHECK(memcmp(from, to, bytes) == 0);
  OK("RDMA WRITE into memory of an address of its own");

  memset(from, 0, bytes);
  wr.opcode = IBV_WR_RDMA_READ;
  CHECK(post(qp, wr) == 0 && wait_for(cq).status == IBV_WC_SUCCESS && memcmp(from, to, bytes) == 0);
  OK("RDMA READ");

  uint64_t cell = 40, old = 0;
  struct ibv_mr* atomic = ibv_reg_mr(pd, &cell, sizeof cell, everything);
  struct ibv_mr* result = ibv_reg_mr(pd, &old, sizeof old, IBV_ACCESS_LOCAL_WRITE);
  struct ibv_sge back = {.addr = (uintptr_t)&old, .length = sizeof old, .lkey = result->lkey};
  struct ibv_send_wr add = {.sg_list = &back, .num_sge = 1, .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD};
  add.wr.atomic.remote_addr = (uintptr_t)&cell;
  add.wr.atomic.rkey = atomic->rkey;
  add.wr.atomic.compare_add = 2;
  CHECK(post(qp, add) == 0 && wait_for(cq).status == IBV_WC_SUCCESS && old == 40 && cell == 42);
  add.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
  add.wr.atomic.compare_add = 42;
  add.wr.atomic.swap = 7;
  CHECK(post(qp, add) == 0 && wait_for(cq).status == IBV_WC_SUCCESS && old == 42 && cell == 7);
  OK("atomics");

  char got[300] = "";
  struct ibv_mr* receive = ibv_reg_mr(pd, got, sizeof got, IBV_ACCESS_LOCAL_WRITE);
  struct ibv_sge pieces[2] = {{(uintptr_t)got, 3, receive->lkey}, {(uintptr_t)got + 100, 100, receive->lkey}};
  struct ibv_recv_wr want = {.wr_id = 5, .sg_list = pieces, .num_sge = 2}, *bad;
  CHECK(ibv_post_recv(peer, &want, &bad) == 0);
  char inline_data[] = "inline and in two pieces";
  struct ibv_sge parts[2] = {{(uintptr_t)inline_data, 6, 0}, {(uintptr_t)inline_data + 6, sizeof inline_data - 6, 0}};
  struct ibv_send_wr send = {.sg_list = parts, .num_sge = 2, .opcode = IBV_WR_SEND_WITH_IMM,
                             .send_flags = IBV_SEND_INLINE, .imm_data = htobe32(0x12345678)};
  CHECK(post(qp, send) == 0);
  int received = 0;
  for (int i = 0; i < 2; ++i) {
    wc = wait_for(cq);
    CHECK(wc.status == IBV_WC_SUCCESS);
    if (wc.opcode != IBV_WC_RECV)
      continue;
    received = 1;
    CHECK(wc.wr_id == 5 && wc.byte_len == sizeof inline_data && (wc.wc_flags & IBV_WC_WITH_IMM) &&
          wc.imm_data == htobe32(0x12345678));
  }
  CHECK(received && memcmp(got, "inl", 3) == 0 && strcmp(got + 100, inline_data + 3) == 0);
  OK("SEND with inline data and immediate data, received in pieces");

  struct ibv_send_wr long_inline = send;
  struct ibv_sge too_long = {(uintptr_t)from, 257, 0};
  long_inline.sg_list = &too_long;
  long_inline.num_sge = 1;
  CHECK(post(qp, long_inline) == EINVAL);
  struct ibv_mr* changed = result;
  CHECK(ibv_rereg_mr(changed, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, got, sizeof got, 0) == 0 &&
        changed->addr == got && changed->length == sizeof got);
  OK("errors of posts, and a region changed");

  struct ibv_mw* window = ibv_alloc_mw(pd, IBV_MW_TYPE_1);
  struct ibv_mr* bindable = ibv_reg_mr(pd, got, sizeof got, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
  CHECK(window && bindable);
  struct ibv_mw_bind bind = {.wr_id = 9, .send_flags = IBV_SEND_SIGNALED,
                             .bind_info = {bindable, (uintptr_t)got, 16, IBV_ACCESS_REMOTE_WRITE}};
  CHECK(ibv_bind_mw(peer, window, &bind) == 0);
  wc = wait_for(cq);
  CHECK(wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_BIND_MW);
  sge.length = 16;
  from[0] = 99;
  wr.opcode = IBV_WR_RDMA_WRITE;
  wr.wr.rdma.remote_addr = (uintptr_t)got;
  wr.wr.rdma.rkey = window->rkey;
  CHECK(post(qp, wr) == 0 && wait_for(cq).status == IBV_WC_SUCCESS && got[0] == 99);
  OK("a memory window");
  CHECK(ibv_dereg_mr(bindable) == EBUSY && ibv_dealloc_mw(window) == 0 && ibv_dereg_mr(bindable) == 0);
  CHECK(ibv_dealloc_pd(pd) == EBUSY);
  OK("what is in use stays");

  wr.wr.rdma.rkey = window == NULL ? 0 : 0xdead00;
  CHECK(post(qp, wr) == 0);
  wc = wait_for(cq);
  CHECK(wc.status == IBV_WC_REM_ACCESS_ERR);
  CHECK(strcmp(ibv_wc_status_str(wc.status), "remote access error") == 0);
  CHECK(post(qp, wr) == 0 && wait_for(cq).status == IBV_WC_WR_FLUSH_ERR);
  struct ibv_async_event event;
  CHECK(ibv_get_async_event(context, &event) == 0 && event.event_type == IBV_EVENT_QP_ACCESS_ERR &&
        event.element.qp == peer);
  ibv_ack_async_event(&event);
  OK("an error at the peer, flushed work, and its asynchronous event");
}

static void events(struct ibv_qp* qp, struct ibv_qp* peer, struct ibv_comp_channel* channel, struct ibv_cq* cq) {
  char data[64] = "";
  struct ibv_mr* mr = ibv_reg_mr(pd, data, sizeof data, everything);
  struct ibv_sge sge = {(uintptr_t)data, 8, mr->lkey};
  struct pollfd polled = {channel->fd, POLLIN, 0};
  struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE};
  wr.wr.rdma.remote_addr = (uintptr_t)data + 32;
  wr.wr.rdma.rkey = mr->rkey;
  (void)peer;
  for (int i = 0; i < 3; ++i) {
    CHECK(poll(&polled, 1, 0) == 0);
    CHECK(ibv_req_notify_cq(cq, 0) == 0);
    CHECK(post(qp, wr) == 0);
    CHECK(poll(&polled, 1, 20000) == 1);
    struct ibv_cq* which;
    void* user;
    CHECK(ibv_get_cq_event(channel, &which, &user) == 0 && which == cq && user == &port);
    ibv_ack_cq_events(cq, 1);
    CHECK(wait_for(cq).status == IBV_WC_SUCCESS);
  }
  OK("completion events on a descriptor");

  /* A completion that lies there when an event is asked for gives none: the program takes it. */
  struct ibv_cq* which;
  void* user;
  CHECK(ibv_req_notify_cq(cq, 0) == 0 && post(qp, wr) == 0);
  CHECK(ibv_get_cq_event(channel, &which, &user) == 0);
  CHECK(ibv_req_notify_cq(cq, 0) == 0 && poll(&polled, 1, 100) == 0);
  CHECK(post(qp, wr) == 0 && ibv_get_cq_event(channel, &which, &user) == 0);
  ibv_ack_cq_events(cq, 2);
  CHECK(wait_for(cq).status == IBV_WC_SUCCESS && wait_for(cq).status == IBV_WC_SUCCESS);
  OK("no event for what lies there");

  struct ibv_cq* other = ibv_create_cq(context, 4, NULL, channel, 0);
  struct ibv_qp_init_attr init = {.send_cq = other, .recv_cq = other, .cap = {4, 4, 1, 1, 0}, .qp_type = IBV_QPT_RC};
  struct ibv_qp* looped = ibv_create_qp(pd, &init);
  connect_qp(looped, looped);
  CHECK(ibv_req_notify_cq(other, 0) == 0 && post(looped, wr) == 0 && poll(&polled, 1, 20000) == 1);
  CHECK(ibv_destroy_qp(looped) == 0 && ibv_destroy_cq(other) == 0 && poll(&polled, 1, 0) == 0);
  OK("an event goes with its queue");
  CHECK(ibv_dereg_mr(mr) == 0);
}

static void extended(void) {
  struct ibv_cq_init_attr_ex cq_attr = {.cqe = 16,
                                        .wc_flags = IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP};
  struct ibv_cq_ex* cq = ibv_create_cq_ex(context, &cq_attr);
  CHECK(cq);
  struct ibv_qp_init_attr_ex attr = {
      .send_cq = ibv_cq_ex_to_cq(cq),
      .recv_cq = ibv_cq_ex_to_cq(cq),
      .cap = {16, 16, 4, 4, 64},
      .qp_type = IBV_QPT_RC,
      .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
      .pd = pd,
      .send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM};
  struct ibv_qp* qp = ibv_create_qp_ex(context, &attr);
  CHECK(qp && ibv_qp_to_qp_ex(qp));
  connect_qp(qp, qp); /* with itself */
  char data[128] = "extended";
  struct ibv_mr* mr = ibv_reg_mr(pd, data, sizeof data, everything);
  struct ibv_qp_ex* ex = ibv_qp_to_qp_ex(qp);
  ibv_wr_start(ex);
  ex->wr_id = 77;
  ex->wr_flags = IBV_SEND_SIGNALED;
  ibv_wr_rdma_write(ex, mr->rkey, (uintptr_t)data + 64);
  ibv_wr_set_sge(ex, mr->lkey, (uintptr_t)data, 9);
  CHECK(ibv_wr_complete(ex) == 0);
  struct ibv_poll_cq_attr poll_attr = {0};
  int error;
  while ((error = ibv_start_poll(cq, &poll_attr)) == ENOENT)
    ;
  CHECK(error == 0 && cq->wr_id == 77 && cq->status == IBV_WC_SUCCESS);
  CHECK(ibv_wc_read_opcode(cq) == IBV_WC_RDMA_WRITE && ibv_wc_read_qp_num(cq) == qp->qp_num);
  uint64_t stamp = ibv_wc_read_completion_ts(cq);
  CHECK(ibv_next_poll(cq) == ENOENT);
  ibv_end_poll(cq);
  CHECK(strcmp(data + 64, "extended") == 0);
  struct ibv_values_ex values = {.comp_mask = IBV_VALUES_MASK_RAW_CLOCK};
  CHECK(ibv_query_rt_values_ex(context, &values) == 0 && (uint64_t)values.raw_clock.tv_nsec > stamp);
  ibv_wr_start(ex);
  ibv_wr_send(ex);
  ibv_wr_set_inline_data(ex, data, 65);
  CHECK(ibv_wr_complete(ex) == EINVAL);
  ibv_wr_start(ex);
  ibv_wr_send(ex);
  ibv_wr_abort(ex);
  CHECK(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(ibv_cq_ex_to_cq(cq)) == 0 && ibv_dereg_mr(mr) == 0);
  OK("ibv_wr_* and extended completion queues");
}

static void datagrams(void) {
  struct ibv_cq* cq = ibv_create_cq(context, 16, NULL, NULL, 0);
  struct ibv_qp_init_attr init = {.send_cq = cq, .recv_cq = cq, .cap = {8, 8, 1, 1, 0}, .qp_type = IBV_QPT_UD};
  struct ibv_qp* qp = ibv_create_qp(pd, &init);
  CHECK(qp);
  struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 0x1111};
  CHECK(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY) == 0);
  attr.qp_state = IBV_QPS_RTR;
  CHECK(ibv_modify_qp(qp, &attr, IBV_QP_STATE) == 0);
  attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS};
  CHECK(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN) == 0);
  char data[128] = "datagram";
  struct ibv_mr* mr = ibv_reg_mr(pd, data, sizeof data, IBV_ACCESS_LOCAL_WRITE);
  struct ibv_sge to = {(uintptr_t)data + 64, 64, mr->lkey}, from = {(uintptr_t)data, 9, mr->lkey};
  struct ibv_recv_wr want = {.sg_list = &to, .num_sge = 1}, *bad;
  CHECK(ibv_post_recv(qp, &want, &bad) == 0);
  struct ibv_ah_attr address = {.dlid = port.lid, .port_num = 1};
  struct ibv_ah* ah = ibv_create_ah(pd, &address);
  CHECK(ah);
  struct ibv_pd* second = ibv_alloc_pd(context);
  struct ibv_ah* of_second = ibv_create_ah(second, &address);
  CHECK(ibv_dealloc_pd(second) == EBUSY && ibv_destroy_ah(of_second) == 0);
  struct ibv_parent_domain_init_attr parent = {.pd = second};
  struct ibv_pd* child = ibv_alloc_parent_domain(context, &parent);
  CHECK(child && ibv_dealloc_pd(second) == EBUSY && ibv_dealloc_pd(child) == 0 && ibv_dealloc_pd(second) == 0);
  struct ibv_send_wr wr = {.sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND};
  wr.wr.ud.ah = ah;
  wr.wr.ud.remote_qpn = qp->qp_num;
  wr.wr.ud.remote_qkey = 0x1111;
  CHECK(post(qp, wr) == 0);
  for (int i = 0; i < 2; ++i) {
    struct ibv_wc wc = wait_for(cq);
    CHECK(wc.status == IBV_WC_SUCCESS);
    if (wc.opcode == IBV_WC_RECV)
      CHECK(wc.byte_len == 49 && wc.src_qp == qp->qp_num && wc.slid == port.lid);
  }
  CHECK(strcmp(data + 104, "datagram") == 0);
  OK("a datagram, 40 B of GRH before it");
  CHECK(ibv_destroy_ah(ah) == 0 && ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(cq) == 0 && ibv_dereg_mr(mr) == 0);
}

#ifndef POSTS
#define POSTS 2000
#endif
enum { posts = POSTS };
struct thread_of {
  struct ibv_qp* qp;
  struct ibv_cq* cq;
  struct ibv_mr* mr;
  char* data;
};

static void* write_often(void* argument) {
  struct thread_of* own = argument;
  for (int i = 0; i < posts; ++i) {
    struct ibv_sge sge = {(uintptr_t)own->data, 64, own->mr->lkey};
    struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE};
    wr.wr.rdma.remote_addr = (uintptr_t)own->data + 64;
    wr.wr.rdma.rkey = own->mr->rkey;
    own->data[0] = (char)i;
    CHECK(post(own->qp, wr) == 0 && wait_for(own->cq).status == IBV_WC_SUCCESS && own->data[64] == (char)i);
  }
  return NULL;
}

static void threads(void) {
  struct thread_of owns[4];
  pthread_t ids[4];
  for (int i = 0; i < 4; ++i) {
    owns[i].cq = ibv_create_cq(context, 4, NULL, NULL, 0);
    struct ibv_qp_init_attr init = {
        .send_cq = owns[i].cq, .recv_cq = owns[i].cq, .cap = {4, 4, 1, 1, 0}, .qp_type = IBV_QPT_RC};
    CHECK((owns[i].qp = ibv_create_qp(pd, &init)));
    connect_qp(owns[i].qp, owns[i].qp);
    owns[i].data = calloc(1, 128);
    CHECK((owns[i].mr = ibv_reg_mr(pd, owns[i].data, 128, everything)));
    CHECK(pthread_create(&ids[i], NULL, write_often, &owns[i]) == 0);
  }
  for (int i = 0; i < 4; ++i) {
    CHECK(pthread_join(ids[i], NULL) == 0);
    CHECK(ibv_destroy_qp(owns[i].qp) == 0 && ibv_destroy_cq(owns[i].cq) == 0 && ibv_dereg_mr(owns[i].mr) == 0);
    free(owns[i].data);
  }
  OK("four threads");
}

static void forks(void) {
  CHECK(ibv_fork_init() == 0);
  char* data = calloc(1, 8192);
  struct ibv_mr* mr = ibv_reg_mr(pd, data, 8192, everything);
  pid_t child = fork();
  if (child == 0)
    _exit(0);
  int status;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  CHECK(ibv_dereg_mr(mr) == 0);
  free(data);
  OK("a child that does nothing of verbs");
}

int main(void) {
  open_device();
  CHECK(ibv_get_device_guid(context->device) != 0);
  CHECK(ibv_query_port(context, 9, &port) == EINVAL && ibv_query_port(context, 1, &port) == 0);
  struct ibv_device_attr_ex attr;
  CHECK(ibv_query_device_ex(context, NULL, &attr) == 0 && attr.orig_attr.max_qp > 1000 && attr.hca_core_clock != 0);
  OK("a device");
  memory_of_any_kind();
  struct ibv_comp_channel* channel = ibv_create_comp_channel(context);
  struct ibv_cq* cq = ibv_create_cq(context, 100, &port, channel, 0);
  CHECK(cq && cq->cqe >= 100 && ibv_create_cq(context, 100, NULL, NULL, 7) == NULL && errno == EINVAL);
  CHECK(ibv_destroy_comp_channel(channel) == EBUSY);
  struct ibv_qp_init_attr init = {
      .send_cq = cq, .recv_cq = cq, .cap = {16, 16, 4, 4, 256}, .qp_type = IBV_QPT_RC};
  struct ibv_qp* qp = ibv_create_qp(pd, &init);
  struct ibv_qp* peer = ibv_create_qp(pd, &init);
  CHECK(qp && peer && init.cap.max_inline_data >= 256);
  struct ibv_qp_attr none = {.qp_state = IBV_QPS_RTS};
  CHECK(ibv_modify_qp(qp, &none, IBV_QP_STATE) == EINVAL);
  struct ibv_send_wr early = {.opcode = IBV_WR_SEND};
  CHECK(post(qp, early) == EINVAL);
  connect_qp(qp, peer);
  connect_qp(peer, qp);
  struct ibv_qp_attr found;
  CHECK(ibv_query_qp(qp, &found, IBV_QP_STATE, &init) == 0 && found.qp_state == IBV_QPS_RTS &&
        found.dest_qp_num == peer->qp_num && found.ah_attr.dlid == port.lid && found.timeout == 14);
  OK("queue pairs");
  events(qp, peer, channel, cq);
  extended();
  datagrams();
  threads();
  forks();
  operations(qp, peer, cq);
  CHECK(ibv_destroy_qp(qp) == 0 && ibv_destroy_qp(peer) == 0 && ibv_destroy_cq(cq) == 0 &&
        ibv_destroy_comp_channel(channel) == 0);
  CHECK(ibv_close_device(context) == 0);
  OK("all");
  return 0;
}
