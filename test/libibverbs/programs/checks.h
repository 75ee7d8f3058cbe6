/*
 * For programs that check the library: a device, connected queue pairs, and CHECK, which ends the program if
 * a condition does not hold.
 */
#pragma once

#include <errno.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                                     \
  do {                                                                                                       \
    if (!(condition)) {                                                                                      \
      printf("line %d: %s does not hold (%s)\n", __LINE__, #condition, strerror(errno));                     \
      exit(1);                                                                                               \
    }                                                                                                        \
  } while (0)
#define OK(name) puts("ok " name)

enum {
  everything =
      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC
};

static struct ibv_context* context;
static struct ibv_pd* pd;
static struct ibv_port_attr port;

static inline struct ibv_qp* connect_qp(struct ibv_qp* a, struct ibv_qp* b) {
  struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = everything};
  CHECK(ibv_modify_qp(a, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0);
  attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
                              .path_mtu = IBV_MTU_1024,
                              .dest_qp_num = b->qp_num,
                              .max_dest_rd_atomic = 4,
                              .min_rnr_timer = 1,
                              .ah_attr = {.dlid = port.lid, .port_num = 1}};
  CHECK(ibv_modify_qp(a, &attr,
                      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                          IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0);
  attr = (struct ibv_qp_attr){
      .qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = 4};
  CHECK(ibv_modify_qp(a, &attr,
                      IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                          IBV_QP_MAX_QP_RD_ATOMIC) == 0);
  return a;
}

static inline struct ibv_wc wait_for(struct ibv_cq* cq) {
  struct ibv_wc wc;
  int count = 0;
  while (count == 0)
    count = ibv_poll_cq(cq, 1, &wc);
  CHECK(count == 1);
  return wc;
}

static inline int post(struct ibv_qp* qp, struct ibv_send_wr wr) {
  struct ibv_send_wr* bad = NULL;
  wr.send_flags |= IBV_SEND_SIGNALED;
  return ibv_post_send(qp, &wr, &bad);
}

static void open_device(void) {
  int count = 0;
  struct ibv_device** list = ibv_get_device_list(&count);
  CHECK(list && count == 1 && list[1] == NULL && strcmp(ibv_get_device_name(list[0]), "fpga0") == 0);
  CHECK((context = ibv_open_device(list[0])));
  ibv_free_device_list(list);
  CHECK(ibv_query_port(context, 1, &port) == 0 && port.lid != 0 && port.state == IBV_PORT_ACTIVE);
  CHECK((pd = ibv_alloc_pd(context)));
}
