/* Offers its memory to a peer, and calls no verb while that uses it: it waits for the end of its input. Says where it is and what it
 * offers, and takes where the peer is, in one line each; at the end it says what its memory holds. */
#include "checks.h"

int main(void) {
  static struct {
    uint64_t count;
    char text[56];
  } memory = {40, "offered"};
  open_device();
  struct ibv_cq* cq = ibv_create_cq(context, 4, NULL, NULL, 0);
  struct ibv_qp_init_attr init = {.send_cq = cq, .recv_cq = cq, .cap = {4, 4, 1, 1, 0}, .qp_type = IBV_QPT_RC};
  struct ibv_qp* qp = ibv_create_qp(pd, &init);
  struct ibv_mr* mr = ibv_reg_mr(pd, &memory, sizeof memory, everything);
  CHECK(qp && mr);
  union ibv_gid gid;
  CHECK(ibv_query_gid(context, 1, 0, &gid) == 0);
  printf("{\"gid\": \"");
  for (size_t i = 0; i < sizeof gid; ++i)
    printf("%02x", gid.raw[i]);
  printf("\", \"localIdentifier\": %u, \"queuePairNumber\": %u, \"address\": \"%llu\", \"key\": %u, \"length\": %zu}\n",
         port.lid, qp->qp_num, (unsigned long long)(uintptr_t)&memory, mr->rkey, sizeof memory);
  fflush(stdout);
  unsigned lid, number, psn;
  CHECK(scanf("%u %u %u ", &lid, &number, &psn) == 3);
  for (size_t i = 0; i < sizeof gid; ++i)
    CHECK(scanf("%2hhx", &gid.raw[i]) == 1);
  struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = everything};
  CHECK(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0);
  attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
                              .path_mtu = IBV_MTU_1024,
                              .dest_qp_num = number,
                              .rq_psn = psn,
                              .max_dest_rd_atomic = 4,
                              .min_rnr_timer = 1,
                              .ah_attr = {.is_global = 1, .grh = {.dgid = gid, .hop_limit = 1}, .dlid = (uint16_t)lid, .port_num = 1}};
  CHECK(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                     IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0);
  puts("ready");
  fflush(stdout);
  while (getchar() != EOF)
    ;
  printf("%llu %s\n", (unsigned long long)memory.count, memory.text);
  return 0;
}
