/* Completion queues that get another size under traffic, and events that are moderated. */
#include "checks.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { window = 16, messages = 1000, period = 65535 };

static struct ibv_mr* mr;
static char memory[64];

struct line {
  struct ibv_comp_channel* channel;
  struct ibv_cq* cq;
  struct ibv_cq* other;
  struct ibv_qp* qp;
  struct ibv_qp* peer;
};

/* A queue pair that writes to its peer, and completes into a queue of so many entries. */
static struct line make_line(int cqe) {
  struct line made = {.channel = ibv_create_comp_channel(context)};
  CHECK((made.cq = ibv_create_cq(context, cqe, NULL, made.channel, 0)));
  CHECK((made.other = ibv_create_cq(context, 1, NULL, NULL, 0)));
  struct ibv_qp_init_attr init = {.send_cq = made.cq,
                                  .recv_cq = made.other,
                                  .cap = {.max_send_wr = 1024, .max_send_sge = 1},
                                  .qp_type = IBV_QPT_RC};
  CHECK((made.qp = ibv_create_qp(pd, &init)));
  init.send_cq = made.other;
  CHECK((made.peer = ibv_create_qp(pd, &init)));
  connect_qp(made.qp, made.peer);
  connect_qp(made.peer, made.qp);
  return made;
}

static void end_line(struct line* line) {
  CHECK(ibv_destroy_qp(line->qp) == 0 && ibv_destroy_qp(line->peer) == 0);
  CHECK(ibv_destroy_cq(line->cq) == 0 && ibv_destroy_cq(line->other) == 0);
  CHECK(ibv_destroy_comp_channel(line->channel) == 0);
}

static void write_one(struct line* line, uint64_t id) {
  struct ibv_sge sge = {(uintptr_t)memory, 8, mr->lkey};
  CHECK(post(line->qp, (struct ibv_send_wr){.wr_id = id,
                                            .sg_list = &sge,
                                            .num_sge = 1,
                                            .opcode = IBV_WR_RDMA_WRITE,
                                            .wr.rdma = {(uintptr_t)memory + 32, mr->rkey}}) == 0);
}

/* One event of the channel, which has to come. */
static void expect_event(struct line* line) {
  struct ibv_cq* told = NULL;
  void* user = NULL;
  CHECK(ibv_get_cq_event(line->channel, &told, &user) == 0 && told == line->cq);
  ibv_ack_cq_events(told, 1);
}

/* Completions that lie in the queue and are not taken. */
static void fill(struct line* line, uint64_t count) {
  for (uint64_t id = 0; id < count; ++id) {
    CHECK(ibv_req_notify_cq(line->cq, 0) == 0);
    write_one(line, id);
    expect_event(line);
  }
}

static void take(struct line* line, uint64_t first, uint64_t count) {
  for (uint64_t id = first; id < first + count; ++id) {
    const struct ibv_wc wc = wait_for(line->cq);
    CHECK(wc.status == IBV_WC_SUCCESS && wc.wr_id == id);
  }
}

static void another_size(void) {
  struct line line = make_line(4);
  CHECK(line.cq->cqe == 4);
  fill(&line, 3);
  CHECK(ibv_resize_cq(line.cq, 33) == 0 && line.cq->cqe == 64);
  for (uint64_t id = 0; id < 60; ++id)
    write_one(&line, 100 + id);
  take(&line, 0, 3);
  take(&line, 100, 60);
  fill(&line, 9);
  CHECK(ibv_resize_cq(line.cq, 8) == EINVAL && line.cq->cqe == 64);
  take(&line, 0, 1);
  CHECK(ibv_resize_cq(line.cq, 8) == 0 && line.cq->cqe == 8);
  take(&line, 1, 8);
  CHECK(ibv_resize_cq(line.cq, 0) == EINVAL && ibv_resize_cq(line.cq, -1) == EINVAL);
  CHECK(ibv_resize_cq(line.cq, 32769) == EINVAL && line.cq->cqe == 8);
  CHECK(ibv_resize_cq(line.cq, 32768) == 0 && line.cq->cqe == 32768);
  write_one(&line, 5);
  take(&line, 5, 1);
  end_line(&line);
  OK("a completion queue of another size");
}

static atomic_ullong posted, polled;
static atomic_uint changes; // of the queue's size, at least six while work goes on
static atomic_bool all_posted;

static void* poster(void* argument) {
  for (uint64_t id = 0; id < messages || changes < 6; ++id) {
    while (id - polled >= window)
      sched_yield();
    write_one(argument, id);
    posted = id + 1;
  }
  all_posted = true;
  return NULL;
}

static void* poller(void* argument) {
  struct line* const line = argument;
  while (!all_posted || polled < posted) {
    struct ibv_wc wc[5];
    const int count = ibv_poll_cq(line->cq, 5, wc);
    CHECK(count >= 0);
    for (int index = 0; index < count; ++index)
      CHECK(wc[index].status == IBV_WC_SUCCESS && wc[index].wr_id == polled + index);
    polled += count;
  }
  return NULL;
}

static void under_traffic(void) {
  struct line line = make_line(window);
  pthread_t threads[2];
  CHECK(pthread_create(&threads[0], NULL, poster, &line) == 0);
  CHECK(pthread_create(&threads[1], NULL, poller, &line) == 0);
  for (int size = window; !all_posted; size = size == 1024 ? window : size * 2, ++changes) {
    const unsigned long long seen = polled;
    CHECK(ibv_resize_cq(line.cq, size) == 0 && line.cq->cqe == size);
    while (polled == seen && !all_posted)
      sched_yield();
  }
  for (int thread = 0; thread < 2; ++thread)
    pthread_join(threads[thread], NULL);
  struct ibv_wc wc;
  CHECK(ibv_poll_cq(line.cq, 1, &wc) == 0);
  end_line(&line);
  OK("other sizes under traffic");
}

static void armed(void) {
  struct line line = make_line(4);
  CHECK(ibv_req_notify_cq(line.cq, 0) == 0 && ibv_resize_cq(line.cq, 64) == 0);
  write_one(&line, 1);
  expect_event(&line);
  take(&line, 1, 1);
  end_line(&line);
  OK("an armed queue of another size gives its event");
}

static void extended(void) {
  struct ibv_cq_init_attr_ex init = {.cqe = 2, .wc_flags = IBV_WC_STANDARD_FLAGS};
  struct ibv_cq_ex* const cq = ibv_create_cq_ex(context, &init);
  CHECK(cq && ibv_resize_cq(ibv_cq_ex_to_cq(cq), 16) == 0 && ibv_cq_ex_to_cq(cq)->cqe == 16);
  struct ibv_poll_cq_attr attr = {};
  CHECK(ibv_start_poll(cq, &attr) == ENOENT);
  CHECK(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)) == 0);
  OK("an extended queue of another size");
}

static uint64_t device_clock(void) {
  struct ibv_values_ex values = {.comp_mask = IBV_VALUES_MASK_RAW_CLOCK};
  CHECK(ibv_query_rt_values_ex(context, &values) == 0);
  return values.raw_clock.tv_nsec;
}

static void moderated(void) {
  struct ibv_device_attr_ex device;
  CHECK(ibv_query_device_ex(context, NULL, &device) == 0);
  CHECK(device.cq_mod_caps.max_cq_count == 65535 && device.cq_mod_caps.max_cq_period == 65535);
  const uint64_t period_ticks = device.hca_core_clock * period / 1000;
  struct line line = make_line(64);
  struct ibv_modify_cq_attr attr = {.attr_mask = 2};
  CHECK(ibv_modify_cq(line.cq, &attr) == EINVAL);
  attr = (struct ibv_modify_cq_attr){IBV_CQ_ATTR_MODERATE, {.cq_count = 3, .cq_period = period}};
  CHECK(ibv_modify_cq(line.cq, &attr) == 0);
  struct pollfd readable = {.fd = line.channel->fd, .events = POLLIN};
  int is_certain = 0;
  /* A machine that is busy may let the period pass meanwhile; the device's clock says so. */
  for (int turn = 0; turn < 50 && !is_certain; ++turn) {
    CHECK(ibv_req_notify_cq(line.cq, 0) == 0);
    const uint64_t begin = device_clock();
    write_one(&line, 1);
    write_one(&line, 2);
    take(&line, 1, 2);
    const int is_told = poll(&readable, 1, 0);
    is_certain = device_clock() - begin < period_ticks;
    CHECK(!is_certain || is_told == 0);
    /* It comes with the third, or with the end of the period. */
    if (turn % 2 == 0) {
      write_one(&line, 3);
      take(&line, 3, 1);
    }
    expect_event(&line);
  }
  CHECK(is_certain);
  CHECK(ibv_req_notify_cq(line.cq, 0) == 0);
  write_one(&line, 4);
  expect_event(&line);
  take(&line, 4, 1);
  attr.moderate.cq_count = 0;
  CHECK(ibv_modify_cq(line.cq, &attr) == 0 && ibv_req_notify_cq(line.cq, 0) == 0);
  write_one(&line, 5);
  expect_event(&line);
  take(&line, 5, 1);
  end_line(&line);
  OK("events that are moderated");
}

int main(void) {
  open_device();
  CHECK((mr = ibv_reg_mr(pd, memory, sizeof memory, everything)));
  another_size();
  under_traffic();
  armed();
  extended();
  moderated();
  CHECK(ibv_dereg_mr(mr) == 0 && ibv_dealloc_pd(pd) == 0 && ibv_close_device(context) == 0);
  OK("all");
  return 0;
}
