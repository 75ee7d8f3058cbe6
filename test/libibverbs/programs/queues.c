/* As checks.c: windows of type 2, multicast groups, shared receive queues that change, sizes of completion queues. */
#include "checks.h"

static char data[4096];
static struct ibv_mr* mr;

/* A pair that is connected to each other; both use one completion queue. */
struct two {
  struct ibv_cq* cq;
  struct ibv_qp *a, *b;
};

static struct two make_two(struct ibv_srq* srq) {
  struct two made = {.cq = ibv_create_cq(context, 64, NULL, NULL, 0)};
  struct ibv_qp_init_attr init = {
      .send_cq = made.cq, .recv_cq = made.cq, .srq = srq, .cap = {32, 8, 2, 1, 0}, .qp_type = IBV_QPT_RC};
  CHECK((made.a = ibv_create_qp(pd, &init)) && (made.b = ibv_create_qp(pd, &init)));
  connect_qp(made.a, made.b);
  connect_qp(made.b, made.a);
  return made;
}

static void free_two(struct two two) {
  CHECK(ibv_destroy_qp(two.a) == 0 && ibv_destroy_qp(two.b) == 0 && ibv_destroy_cq(two.cq) == 0);
}

static struct ibv_sge piece(size_t offset, uint32_t length) {
  return (struct ibv_sge){(uintptr_t)data + offset, length, mr->lkey};
}

/* Writes "new" through a key to offset 1024. */
static enum ibv_wc_status write_through(struct two two, uint32_t rkey) {
  memcpy(data, "new", 4);
  memset(data + 1024, 0, 4);
  struct ibv_sge sge = piece(0, 4);
  struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE};
  wr.wr.rdma.remote_addr = (uintptr_t)data + 1024;
  wr.wr.rdma.rkey = rkey;
  CHECK(post(two.a, wr) == 0);
  return wait_for(two.cq).status;
}

static void bind_window(struct two two, struct ibv_mw* window, uint32_t rkey) {
  struct ibv_send_wr wr = {.wr_id = 3, .opcode = IBV_WR_BIND_MW};
  wr.bind_mw.mw = window;
  wr.bind_mw.rkey = rkey;
  wr.bind_mw.bind_info = (struct ibv_mw_bind_info){mr, (uintptr_t)data + 1024, 64, IBV_ACCESS_REMOTE_WRITE};
  CHECK(post(two.b, wr) == 0);
  struct ibv_wc wc = wait_for(two.cq);
  CHECK(wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_BIND_MW && wc.wr_id == 3);
}

static void windows_of_type_2(void) {
  struct two two = make_two(NULL);
  struct ibv_mw* window = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
  CHECK(window && window->type == IBV_MW_TYPE_2);
  uint32_t rkey = ibv_inc_rkey(window->rkey);
  bind_window(two, window, rkey);
  CHECK(write_through(two, rkey) == IBV_WC_SUCCESS && strcmp(data + 1024, "new") == 0);
  OK("a window of type 2, whose key the program chooses");

  struct ibv_send_wr local = {.opcode = IBV_WR_LOCAL_INV, .invalidate_rkey = rkey};
  CHECK(post(two.b, local) == 0);
  struct ibv_wc wc = wait_for(two.cq);
  CHECK(wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_LOCAL_INV);
  rkey = ibv_inc_rkey(rkey);
  bind_window(two, window, rkey);
  CHECK(write_through(two, rkey) == IBV_WC_SUCCESS && strcmp(data + 1024, "new") == 0);
  OK("it is invalidated, and bound again under another key");

  struct ibv_sge to = piece(2048, 64), from = piece(0, 4);
  struct ibv_recv_wr want = {.wr_id = 8, .sg_list = &to, .num_sge = 1}, *bad;
  CHECK(ibv_post_recv(two.b, &want, &bad) == 0);
  struct ibv_send_wr send = {
      .sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND_WITH_INV, .invalidate_rkey = rkey};
  CHECK(post(two.a, send) == 0);
  int invalidated = 0;
  for (int i = 0; i < 2; ++i) {
    wc = wait_for(two.cq);
    CHECK(wc.status == IBV_WC_SUCCESS);
    if (wc.opcode != IBV_WC_RECV)
      continue;
    invalidated = 1;
    CHECK(wc.wr_id == 8 && (wc.wc_flags & IBV_WC_WITH_INV) && wc.invalidated_rkey == rkey);
  }
  CHECK(invalidated);
  CHECK(write_through(two, rkey) == IBV_WC_REM_ACCESS_ERR && data[1024] == 0);
  struct ibv_async_event event;
  CHECK(ibv_get_async_event(context, &event) == 0 && event.event_type == IBV_EVENT_QP_ACCESS_ERR &&
        event.element.qp == two.b);
  ibv_ack_async_event(&event);
  OK("the peer invalidates it, and reaches nothing through it afterwards");
  CHECK(ibv_dealloc_mw(window) == 0);
  free_two(two);
}

static struct ibv_qp* make_datagrams(struct ibv_cq* cq) {
  struct ibv_qp_init_attr init = {.send_cq = cq, .recv_cq = cq, .cap = {8, 8, 1, 1, 0}, .qp_type = IBV_QPT_UD};
  struct ibv_qp* qp = ibv_create_qp(pd, &init);
  CHECK(qp);
  struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 0x2222};
  CHECK(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY) == 0);
  attr.qp_state = IBV_QPS_RTR;
  CHECK(ibv_modify_qp(qp, &attr, IBV_QP_STATE) == 0);
  attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS};
  CHECK(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN) == 0);
  return qp;
}

/* Sends one byte to an address, and waits until it has left. */
static void send_datagram(struct ibv_qp* qp, struct ibv_cq* cq, struct ibv_ah* ah, uint32_t number, char byte) {
  data[0] = byte;
  struct ibv_sge from = piece(0, 1);
  struct ibv_send_wr wr = {.sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND};
  wr.wr.ud.ah = ah;
  wr.wr.ud.remote_qpn = number;
  wr.wr.ud.remote_qkey = 0x2222;
  CHECK(post(qp, wr) == 0 && wait_for(cq).status == IBV_WC_SUCCESS);
}

static void multicast(void) {
  enum { members = 2, group_lid = 0xc012, everybody = 0xffffff, header = 40 };
  struct ibv_cq *sends = ibv_create_cq(context, 16, NULL, NULL, 0), *receives[members];
  struct ibv_qp *sender = make_datagrams(sends), *member[members];
  union ibv_gid group = {.raw = {0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4}};
  struct ibv_ah_attr address = {
      .is_global = 1, .grh = {.dgid = group, .hop_limit = 1}, .dlid = group_lid, .port_num = 1};
  struct ibv_ah* to_group = ibv_create_ah(pd, &address);
  struct ibv_ah_attr own = {.dlid = port.lid, .port_num = 1};
  struct ibv_ah* to_own = ibv_create_ah(pd, &own);
  CHECK(to_group && to_own);
  for (int i = 0; i < members; ++i) {
    receives[i] = ibv_create_cq(context, 16, NULL, NULL, 0);
    member[i] = make_datagrams(receives[i]);
    for (int k = 0; k < 2; ++k) {
      struct ibv_sge to = piece(1024 + 256 * (size_t)(2 * i + k), 64);
      struct ibv_recv_wr want = {.wr_id = (uint64_t)k, .sg_list = &to, .num_sge = 1}, *bad;
      CHECK(ibv_post_recv(member[i], &want, &bad) == 0);
    }
    CHECK(ibv_attach_mcast(member[i], &group, group_lid) == 0);
  }
  send_datagram(sender, sends, to_group, everybody, 'm');
  for (int i = 0; i < members; ++i) {
    struct ibv_wc wc = wait_for(receives[i]);
    CHECK(wc.status == IBV_WC_SUCCESS && wc.byte_len == header + 1 && (wc.wc_flags & IBV_WC_GRH) &&
          wc.src_qp == sender->qp_num && data[1024 + 512 * i + header] == 'm');
    CHECK(memcmp(data + 1024 + 512 * i + 24, group.raw, sizeof group) == 0);
  }
  OK("a datagram to a multicast group comes to each member");

  CHECK(ibv_detach_mcast(member[1], &group, group_lid) == 0);
  CHECK(ibv_detach_mcast(member[1], &group, group_lid) != 0);
  send_datagram(sender, sends, to_group, everybody, 'n');
  send_datagram(sender, sends, to_own, member[1]->qp_num, 'u');
  CHECK(wait_for(receives[0]).status == IBV_WC_SUCCESS && data[1024 + 256 + header] == 'n');
  CHECK(wait_for(receives[1]).status == IBV_WC_SUCCESS && data[1024 + 768 + header] == 'u');
  OK("to those alone that are members");
  CHECK(ibv_destroy_ah(to_group) == 0 && ibv_destroy_ah(to_own) == 0 && ibv_destroy_qp(sender) == 0 &&
        ibv_destroy_cq(sends) == 0);
  for (int i = 0; i < members; ++i)
    CHECK(ibv_destroy_qp(member[i]) == 0 && ibv_destroy_cq(receives[i]) == 0);
}

static int post_shared(struct ibv_srq* srq, uint64_t id) {
  struct ibv_sge to = piece(1024 + 64 * (size_t)id, 64);
  struct ibv_recv_wr want = {.wr_id = id, .sg_list = &to, .num_sge = 1}, *bad;
  return ibv_post_srq_recv(srq, &want, &bad);
}

/* Sends a number, and gives what the receive was called that got it. */
static uint64_t send_shared(struct two two, char number) {
  data[0] = number;
  struct ibv_sge from = piece(0, 1);
  struct ibv_send_wr wr = {.wr_id = 99, .sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND};
  CHECK(post(two.a, wr) == 0);
  uint64_t id = 99;
  for (int i = 0; i < 2; ++i) {
    struct ibv_wc wc = wait_for(two.cq);
    CHECK(wc.status == IBV_WC_SUCCESS);
    if (wc.opcode == IBV_WC_RECV)
      id = wc.wr_id;
  }
  CHECK(id != 99 && data[1024 + 64 * id] == number);
  return id;
}

static void shared_receive_queues(void) {
  struct ibv_srq_init_attr init = {.attr = {.max_wr = 4, .max_sge = 1}};
  struct ibv_srq* srq = ibv_create_srq(pd, &init);
  CHECK(srq && init.attr.max_wr >= 4);
  struct two two = make_two(srq);
  for (uint64_t id = 0; id < 4; ++id)
    CHECK(post_shared(srq, id) == 0);
  CHECK(post_shared(srq, 4) == ENOMEM);
  struct ibv_srq_attr attr = {.srq_limit = 3};
  CHECK(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT) == 0 && ibv_query_srq(srq, &attr) == 0 && attr.srq_limit == 3);
  CHECK(send_shared(two, 10) == 0 && send_shared(two, 11) == 1);
  struct ibv_async_event event;
  CHECK(ibv_get_async_event(context, &event) == 0 && event.event_type == IBV_EVENT_SRQ_LIMIT_REACHED &&
        event.element.srq == srq);
  ibv_ack_async_event(&event);
  CHECK(ibv_query_srq(srq, &attr) == 0 && attr.srq_limit == 0);
  OK("an event when fewer receives are left than the limit, once");

  attr.max_wr = 16;
  CHECK(ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR) == 0 && ibv_query_srq(srq, &attr) == 0 && attr.max_wr >= 16);
  for (uint64_t id = 4; id < 18; ++id)
    CHECK(post_shared(srq, id) == 0);
  CHECK(post_shared(srq, 18) == ENOMEM);
  for (uint64_t id = 2; id < 18; ++id)
    CHECK(send_shared(two, (char)(id + 20)) == id);
  OK("a shared receive queue grows, and keeps what is posted");
  attr.max_wr = 1 << 20;
  CHECK(ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR) == EINVAL);
  CHECK(ibv_destroy_srq(srq) == EBUSY);
  free_two(two);
  CHECK(ibv_destroy_srq(srq) == 0);
}

int main(void) {
  open_device();
  CHECK((mr = ibv_reg_mr(pd, data, sizeof data, everything | IBV_ACCESS_MW_BIND)));
  windows_of_type_2();
  multicast();
  shared_receive_queues();
  CHECK(ibv_dereg_mr(mr) == 0 && ibv_dealloc_pd(pd) == 0 && ibv_close_device(context) == 0);
  OK("all");
  return 0;
}
