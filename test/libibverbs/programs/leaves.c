/* Leaves main with everything open and work under way; `exec`: becomes another program in its place; `reopens`: closes its device and
 * opens it again, some times. */
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char data[128];

static struct ibv_context* begin(void) {
  struct ibv_device** list = ibv_get_device_list(NULL);
  struct ibv_context* context = ibv_open_device(list[0]);
  ibv_free_device_list(list);
  struct ibv_port_attr port;
  if (context == NULL || ibv_query_port(context, 1, &port) != 0)
    exit(1);
  struct ibv_pd* pd = ibv_alloc_pd(context);
  struct ibv_cq* cq = ibv_create_cq(context, 64, NULL, NULL, 0);
  struct ibv_qp_init_attr init = {.send_cq = cq, .recv_cq = cq, .cap = {64, 1, 1, 1, 0}, .qp_type = IBV_QPT_RC};
  struct ibv_qp* qp = ibv_create_qp(pd, &init);
  struct ibv_mr* mr = ibv_reg_mr(pd, data, sizeof data, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  if (qp == NULL || mr == NULL)
    exit(1);
  struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};
  ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
  attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = qp->qp_num,
                              .max_dest_rd_atomic = 1, .ah_attr = {.dlid = port.lid, .port_num = 1}};
  ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                               IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
  attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .max_rd_atomic = 1};
  ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                               IBV_QP_MAX_QP_RD_ATOMIC);
  for (int i = 0; i < 60; ++i) {
    struct ibv_sge sge = {(uintptr_t)data, 64, mr->lkey};
    struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED}, *bad;
    wr.wr.rdma.remote_addr = (uintptr_t)data + 64;
    wr.wr.rdma.rkey = mr->rkey;
    if (ibv_post_send(qp, &wr, &bad) != 0)
      exit(1);
  }
  return context;
}

int main(int count, char** words) {
  const char* way = count > 1 ? words[1] : "";
  if (strcmp(way, "reopens") == 0) {
    for (int i = 0; i < 10; ++i)
      if (ibv_close_device(begin()) != 0)
        return 1;
  } else {
    begin();
  }
  puts("left");
  fflush(stdout);
  if (strcmp(way, "exec") == 0)
    execl("/bin/sh", "sh", "-c", "echo another", NULL);
  return 0;
}
