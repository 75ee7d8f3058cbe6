/* Queue pairs that are reset and connected again, by the same numbers and by others. */
#include "checks.h"

enum { new_number = 1 << 26 };

static char data[64];
static struct ibv_mr* mr;

static void reset(struct ibv_qp* qp, int mask) {
  struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};
  CHECK(ibv_modify_qp(qp, &attr, IBV_QP_STATE | mask) == 0);
}

static void talk(struct ibv_qp* from, struct ibv_qp* to, char byte) {
  connect_qp(from, to);
  connect_qp(to, from);
  data[0] = byte;
  struct ibv_sge sent = {(uintptr_t)data, 1, mr->lkey}, received = {(uintptr_t)data + 32, 1, mr->lkey};
  struct ibv_recv_wr want = {.wr_id = 1, .sg_list = &received, .num_sge = 1}, *bad;
  CHECK(ibv_post_recv(to, &want, &bad) == 0);
  CHECK(post(from, (struct ibv_send_wr){.sg_list = &sent, .num_sge = 1, .opcode = IBV_WR_SEND}) == 0);
  struct ibv_wc wc = wait_for(from->send_cq);
  CHECK(wc.status == IBV_WC_SUCCESS && wc.qp_num == from->qp_num);
  wc = wait_for(to->recv_cq);
  CHECK(wc.status == IBV_WC_SUCCESS && wc.qp_num == to->qp_num && data[32] == byte);
}

int main(void) {
  open_device();
  CHECK((mr = ibv_reg_mr(pd, data, sizeof data, everything)));
  struct ibv_cq *sends = ibv_create_cq(context, 16, NULL, NULL, 0),
                *receives = ibv_create_cq(context, 16, NULL, NULL, 0);
  struct ibv_qp_init_attr init = {
      .send_cq = sends, .recv_cq = receives, .cap = {4, 4, 1, 1, 0}, .qp_type = IBV_QPT_RC};
  struct ibv_qp *a = ibv_create_qp(pd, &init), *b = ibv_create_qp(pd, &init);
  CHECK(a && b);
  const uint32_t numbers[] = {a->qp_num, b->qp_num};
  talk(a, b, 1);
  reset(a, 0);
  reset(b, 0);
  CHECK(a->qp_num == numbers[0] && b->qp_num == numbers[1]);
  talk(a, b, 2);
  OK("the same numbers, to the same peer");

  reset(a, new_number);
  reset(b, new_number);
  CHECK(a->qp_num != numbers[0] && b->qp_num != numbers[1]);
  talk(a, b, 3);
  OK("other numbers");
  CHECK(ibv_destroy_qp(a) == 0 && ibv_destroy_qp(b) == 0);
  CHECK(ibv_destroy_cq(sends) == 0 && ibv_destroy_cq(receives) == 0 && ibv_dereg_mr(mr) == 0);
  CHECK(ibv_dealloc_pd(pd) == 0 && ibv_close_device(context) == 0);
  return 0;
}
