/* A device that goes while the program uses it: each thread that waits learns of it, and all ends. Says "ready" when it may go. It has
 * everything open until there is the file that it is told, if any. */
#include "checks.h"

#include <pthread.h>
#include <unistd.h>

static char memory[4096];
static struct ibv_mr* mr;

static struct ibv_cq* make_cq(struct ibv_comp_channel* channel) {
  struct ibv_cq* const cq = ibv_create_cq(context, 16, NULL, channel, 0);
  CHECK(cq);
  return cq;
}

static struct ibv_qp* make_qp(struct ibv_cq* cq, struct ibv_srq* srq) {
  struct ibv_qp_init_attr init = {.send_cq = cq,
                                  .recv_cq = cq,
                                  .srq = srq,
                                  .cap = {.max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1},
                                  .qp_type = IBV_QPT_RC};
  return ibv_create_qp(pd, &init);
}

static int receive(struct ibv_qp* qp, struct ibv_srq* srq) {
  struct ibv_sge sge = {(uintptr_t)memory + 1024, 64, mr->lkey};
  struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1};
  struct ibv_recv_wr* bad = NULL;
  const int error = qp ? ibv_post_recv(qp, &wr, &bad) : ibv_post_srq_recv(srq, &wr, &bad);
  CHECK(!error == (bad != &wr));
  return error;
}

static int write_to(struct ibv_qp* qp) {
  struct ibv_sge sge = {(uintptr_t)memory, 8, mr->lkey};
  return post(qp, (struct ibv_send_wr){.sg_list = &sge,
                                       .num_sge = 1,
                                       .opcode = IBV_WR_RDMA_WRITE,
                                       .wr.rdma = {(uintptr_t)memory + 512, mr->rkey}});
}

/* Waits for an event of a channel, as often as it takes until the queue says that nothing comes any more. */
static void* wait_at_channel(void* argument) {
  struct ibv_comp_channel* const channel = argument;
  for (;;) {
    struct ibv_cq* cq = NULL;
    void* user = NULL;
    CHECK(ibv_get_cq_event(channel, &cq, &user) == 0);
    ibv_ack_cq_events(cq, 1);
    const int error = ibv_req_notify_cq(cq, 0);
    struct ibv_wc wc;
    const int count = ibv_poll_cq(cq, 1, &wc);
    if (count < 0) {
      CHECK(count == -EIO && error == EIO);
      return NULL;
    }
  }
}

static void* wait_for_fatal(void* argument) {
  struct ibv_async_event event;
  CHECK(ibv_get_async_event(context, &event) == 0 && event.event_type == IBV_EVENT_DEVICE_FATAL);
  ibv_ack_async_event(&event);
  return NULL;
}

int main(int arguments_count, char** arguments) {
  open_device();
  CHECK((mr = ibv_reg_mr(pd, memory, sizeof memory, everything)));
  struct ibv_comp_channel* const channel = ibv_create_comp_channel(context);
  struct ibv_cq* const waited = make_cq(channel);
  struct ibv_cq* const polled = make_cq(NULL);
  struct ibv_srq_init_attr srq_init = {.attr = {.max_wr = 16, .max_sge = 1}};
  struct ibv_srq* const srq = ibv_create_srq(pd, &srq_init);
  struct ibv_qp* const qp = make_qp(polled, NULL);
  struct ibv_qp* const peer = make_qp(waited, srq);
  CHECK(channel && srq && qp && peer);
  struct ibv_cq_init_attr_ex extended_init = {.cqe = 16};
  struct ibv_cq_ex* const extended = ibv_create_cq_ex(context, &extended_init);
  CHECK(extended);
  connect_qp(qp, peer);
  connect_qp(peer, qp);
  CHECK(receive(qp, NULL) == 0 && receive(NULL, srq) == 0 && ibv_req_notify_cq(waited, 0) == 0);
  CHECK(write_to(qp) == 0 && wait_for(polled).status == IBV_WC_SUCCESS);
  pthread_t threads[2];
  CHECK(pthread_create(&threads[0], NULL, wait_at_channel, channel) == 0);
  CHECK(pthread_create(&threads[1], NULL, wait_for_fatal, NULL) == 0);
  puts("ready");
  fflush(stdout);

  /* Work goes on until it is refused. */
  int posted = 0;
  struct ibv_wc wc;
  int count = 0;
  while (count >= 0) {
    if (write_to(qp) == 0)
      ++posted;
    count = ibv_poll_cq(polled, 1, &wc);
  }
  CHECK(count == -EIO);
  OK("polls end, when all that came was taken");
  for (int thread = 0; thread < 2; ++thread)
    CHECK(pthread_join(threads[thread], NULL) == 0);
  OK("who waits for events learns of it");

  struct ibv_poll_cq_attr poll_attr = {};
  CHECK(ibv_poll_cq(polled, 1, &wc) == -EIO && ibv_poll_cq(waited, 1, &wc) == -EIO);
  CHECK(ibv_start_poll(extended, &poll_attr) == EIO && ibv_req_notify_cq(polled, 0) == EIO);
  CHECK(write_to(qp) == EIO && write_to(peer) == EIO);
  CHECK(receive(qp, NULL) == EIO && receive(NULL, srq) == EIO);
  OK("posts are refused");

  struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
  struct ibv_device_attr device;
  struct ibv_srq_attr srq_attr = {.srq_limit = 1};
  CHECK(ibv_modify_qp(qp, &attr, IBV_QP_STATE) == EIO && ibv_modify_srq(srq, &srq_attr, IBV_SRQ_LIMIT) == EIO);
  CHECK(ibv_query_port(context, 1, &port) == EIO && ibv_query_device(context, &device) == EIO);
  CHECK(ibv_resize_cq(polled, 64) == EIO);
  CHECK(make_qp(polled, NULL) == NULL && errno == EIO);
  CHECK(ibv_create_cq(context, 16, NULL, NULL, 0) == NULL && errno == EIO);
  CHECK(ibv_create_srq(pd, &srq_init) == NULL && errno == EIO);
  CHECK(ibv_alloc_pd(context) == NULL && errno == EIO);
  CHECK(ibv_reg_mr(pd, memory, sizeof memory, everything) == NULL && errno == EIO);
  OK("verbs are refused");
  fflush(stdout);
  while (arguments_count == 2 && access(arguments[1], F_OK) != 0)
    usleep(10000);

  CHECK(ibv_destroy_qp(qp) == 0 && ibv_destroy_qp(peer) == 0 && ibv_destroy_srq(srq) == 0);
  CHECK(ibv_destroy_cq(waited) == 0 && ibv_destroy_cq(polled) == 0);
  CHECK(ibv_destroy_cq(ibv_cq_ex_to_cq(extended)) == 0 && ibv_destroy_comp_channel(channel) == 0);
  CHECK(ibv_dereg_mr(mr) == 0 && ibv_dealloc_pd(pd) == 0 && ibv_close_device(context) == 0);
  memory[0] = 1;
  OK("all");
  return 0;
}
