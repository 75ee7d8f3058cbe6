#pragma once

#include "libibverbs/abi_attributes.h"

#include <pthread.h>

#include <cstddef>
#include <cstdint>

// Objects of the binary interface of libibverbs, as abi_attributes.h says.
namespace fpga_verbs::verbs {

struct ProtectionDomain {
  Context* context;
  uint32_t handle;
};

struct MemoryRegion {
  Context* context;
  ProtectionDomain* pd;
  void* addr;
  size_t length;
  uint32_t handle;
  uint32_t lkey;
  uint32_t rkey;
};

struct MemoryWindow {
  Context* context;
  ProtectionDomain* pd;
  uint32_t rkey;
  uint32_t handle;
  int type;
};

struct AddressHandle {
  Context* context;
  ProtectionDomain* pd;
  uint32_t handle;
};

struct Channel {
  Context* context;
  int fd;
  int refcnt;
};

struct SharedReceiveQueue {
  Context* context;
  void* srq_context;
  ProtectionDomain* pd;
  uint32_t handle;
  pthread_mutex_t mutex;
  pthread_cond_t cond;
  uint32_t events_completed;
};

struct QueuePair {
  Context* context;
  void* qp_context;
  ProtectionDomain* pd;
  CompletionQueue* send_cq;
  CompletionQueue* recv_cq;
  SharedReceiveQueue* srq;
  uint32_t handle;
  uint32_t qp_num;
  int state;
  int qp_type;
  pthread_mutex_t mutex;
  pthread_cond_t cond;
  uint32_t events_completed;
};

struct QueuePairEx {
  QueuePair qp_base;
  uint64_t comp_mask;
  uint64_t wr_id;
  unsigned wr_flags;
  void (*wr_atomic_cmp_swp)(QueuePairEx*, uint32_t rkey, uint64_t remote, uint64_t compare, uint64_t swap);
  void (*wr_atomic_fetch_add)(QueuePairEx*, uint32_t rkey, uint64_t remote, uint64_t add);
  void (*wr_bind_mw)(QueuePairEx*, MemoryWindow*, uint32_t rkey, const BindInfo*);
  void (*wr_local_inv)(QueuePairEx*, uint32_t rkey);
  void (*wr_rdma_read)(QueuePairEx*, uint32_t rkey, uint64_t remote);
  void (*wr_rdma_write)(QueuePairEx*, uint32_t rkey, uint64_t remote);
  void (*wr_rdma_write_imm)(QueuePairEx*, uint32_t rkey, uint64_t remote, uint32_t imm_data);
  void (*wr_send)(QueuePairEx*);
  void (*wr_send_imm)(QueuePairEx*, uint32_t imm_data);
  void (*wr_send_inv)(QueuePairEx*, uint32_t rkey);
  void (*wr_send_tso)(QueuePairEx*, void* header, uint16_t bytes, uint16_t mss);
  void (*wr_set_ud_addr)(QueuePairEx*, AddressHandle*, uint32_t remote_qpn, uint32_t remote_qkey);
  void (*wr_set_xrc_srqn)(QueuePairEx*, uint32_t remote_srqn);
  void (*wr_set_inline_data)(QueuePairEx*, void* data, size_t bytes);
  void (*wr_set_inline_data_list)(QueuePairEx*, size_t count, const DataBuffer*);
  void (*wr_set_sge)(QueuePairEx*, uint32_t lkey, uint64_t address, uint32_t bytes);
  void (*wr_set_sge_list)(QueuePairEx*, size_t count, const ScatterGatherEntry*);
  void (*wr_start)(QueuePairEx*);
  int (*wr_complete)(QueuePairEx*);
  void (*wr_abort)(QueuePairEx*);
  void (*wr_atomic_write)(QueuePairEx*, uint32_t rkey, uint64_t remote, const void* value);
};

struct CompletionQueue {
  Context* context;
  Channel* channel;
  void* cq_context;
  uint32_t handle;
  int cqe;
  pthread_mutex_t mutex;
  pthread_cond_t cond;
  uint32_t comp_events_completed;
  uint32_t async_events_completed;
};

struct PollAttributes {
  uint32_t comp_mask;
};

struct CompletionQueueEx {
  CompletionQueue base;
  uint32_t comp_mask;
  int status;
  uint64_t wr_id;
  int (*start_poll)(CompletionQueueEx*, PollAttributes*);
  int (*next_poll)(CompletionQueueEx*);
  void (*end_poll)(CompletionQueueEx*);
  int (*read_opcode)(CompletionQueueEx*);
  uint32_t (*read_vendor_err)(CompletionQueueEx*);
  uint32_t (*read_byte_len)(CompletionQueueEx*);
  uint32_t (*read_imm_data)(CompletionQueueEx*);
  uint32_t (*read_qp_num)(CompletionQueueEx*);
  uint32_t (*read_src_qp)(CompletionQueueEx*);
  unsigned (*read_wc_flags)(CompletionQueueEx*);
  uint32_t (*read_slid)(CompletionQueueEx*);
  uint8_t (*read_sl)(CompletionQueueEx*);
  uint8_t (*read_dlid_path_bits)(CompletionQueueEx*);
  uint64_t (*read_completion_ts)(CompletionQueueEx*);
  uint16_t (*read_cvlan)(CompletionQueueEx*);
  uint32_t (*read_flow_tag)(CompletionQueueEx*);
  void (*read_tm_info)(CompletionQueueEx*, void* info);
  uint64_t (*read_completion_wallclock_ns)(CompletionQueueEx*);
};

struct CompletionQueueInitEx {
  uint32_t cqe;
  void* cq_context;
  Channel* channel;
  uint32_t comp_vector;
  uint64_t wc_flags;
  uint32_t comp_mask;
  uint32_t flags;
  ProtectionDomain* parent_domain;
};

// Bits of wc_flags that can be read of a completion: all standard ones and the time stamp.
inline constexpr uint64_t readable_fields = 0xff;

struct Device {
  void* _dummy1; // of ibv_device_ops
  void* _dummy2;
  int node_type;
  int transport_type;
  char name[64];
  char dev_name[64];
  char dev_path[256];
  char ibdev_path[256];
};

struct ContextOps {
  void* compat_before[7]; // query_device to dereg_mr: called through exported functions alone
  MemoryWindow* (*alloc_mw)(ProtectionDomain*, int type);
  int (*bind_mw)(QueuePair*, MemoryWindow*, Bind*);
  int (*dealloc_mw)(MemoryWindow*);
  void* compat_create_cq;
  int (*poll_cq)(CompletionQueue*, int, WorkCompletion*);
  int (*req_notify_cq)(CompletionQueue*, int solicited_only);
  void* compat_between[7]; // cq_event to destroy_srq
  int (*post_srq_recv)(SharedReceiveQueue*, ReceiveRequest*, ReceiveRequest** bad);
  void* compat_queue_pair[4]; // create_qp to destroy_qp
  int (*post_send)(QueuePair*, SendRequest*, SendRequest** bad);
  int (*post_recv)(QueuePair*, ReceiveRequest*, ReceiveRequest** bad);
  void* compat_after[5]; // create_ah to async_event
};

struct Context {
  Device* device;
  ContextOps ops;
  int cmd_fd;
  int async_fd;
  int num_comp_vectors;
  pthread_mutex_t mutex;
  void* abi_compat; // all ones: an ExtendedContext lies around it
};

struct TimeValues {
  uint32_t comp_mask; // 1: raw_clock
  struct {
    int64_t seconds;
    int64_t nanoseconds;
  } raw_clock;
};

struct ModifyCompletionQueue {
  uint32_t attr_mask; // 1: moderation
  uint16_t cq_count;
  uint16_t cq_period;
};

struct ParentDomainInit {
  ProtectionDomain* pd;
  void* td;
  uint32_t comp_mask;
  void* alloc;
  void* free;
  void* pd_context;
};

struct ThreadDomain {
  Context* context;
};

// Functions that programs reach through a context whose abi_compat says so. New members go to its begin: `sz`
// says how much of it there is. Null: the inline function of the header gives EOPNOTSUPP.
struct ExtendedContext {
  int (*query_port)(Context*, uint8_t port, PortAttributes*, size_t bytes);
  int (*advise_mr)(ProtectionDomain*, int advice, uint32_t flags, ScatterGatherEntry*, uint32_t count);
  MemoryRegion* (*alloc_null_mr)(ProtectionDomain*);
  void* counters[4];
  void* device_memory[3];
  void* flow_action[3];
  void* modify_qp_rate_limit;
  ProtectionDomain* (*alloc_parent_domain)(Context*, ParentDomainInit*);
  int (*dealloc_td)(ThreadDomain*);
  ThreadDomain* (*alloc_td)(Context*, void* attributes);
  int (*modify_cq)(CompletionQueue*, ModifyCompletionQueue*);
  void* post_srq_ops;
  void* receive_side_scaling[5]; // destroy_rwq_ind_table to create_wq
  int (*query_rt_values)(Context*, TimeValues*);
  CompletionQueueEx* (*create_cq_ex)(Context*, CompletionQueueInitEx*);
  void* priv;
  int (*query_device_ex)(Context*, const void* input, DeviceAttributesEx*, size_t bytes);
  void* destroy_flow;
  void* placeholder2;
  void* create_flow;
  void* placeholder1;
  void* open_qp;
  QueuePair* (*create_qp_ex)(Context*, QueuePairInitEx*);
  int (*get_srq_num)(SharedReceiveQueue*, uint32_t*);
  SharedReceiveQueue* (*create_srq_ex)(Context*, SharedReceiveQueueInitEx*);
  void* open_xrcd;
  void* close_xrcd;
  uint64_t placeholder3;
  size_t sz;
  Context context; // last
};

} // namespace fpga_verbs::verbs
