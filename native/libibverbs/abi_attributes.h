#pragma once

#include <cstddef>
#include <cstdint>

// Attributes, requests and completions of the binary interface of libibverbs, as programs that were compiled
// with <infiniband/verbs.h> of rdma-core use it: layouts and numbers alone. test/libibverbs compares them
// with that header, where it is installed. An enumeration of that header is an int here.
namespace fpga_verbs::verbs {

union Gid {
  uint8_t raw[16];
  struct {
    uint64_t subnet_prefix;
    uint64_t interface_id;
  } global;
};

struct GidEntry {
  Gid gid;
  uint32_t gid_index;
  uint32_t port_num;
  uint32_t gid_type; // 0: InfiniBand, 1: RoCEv1, 2: RoCEv2
  uint32_t ndev_ifindex;
};

struct Context;
struct ProtectionDomain;
struct CompletionQueue;
struct CompletionQueueEx;
struct QueuePair;
struct QueuePairEx;
struct SharedReceiveQueue;
struct Channel;
struct MemoryRegion;
struct MemoryWindow;
struct AddressHandle;
struct Device;

struct DeviceAttributes {
  char fw_ver[64];
  uint64_t node_guid;
  uint64_t sys_image_guid;
  uint64_t max_mr_size;
  uint64_t page_size_cap;
  uint32_t vendor_id;
  uint32_t vendor_part_id;
  uint32_t hw_ver;
  int max_qp;
  int max_qp_wr;
  unsigned device_cap_flags;
  int max_sge;
  int max_sge_rd;
  int max_cq;
  int max_cqe;
  int max_mr;
  int max_pd;
  int max_qp_rd_atom;
  int max_ee_rd_atom;
  int max_res_rd_atom;
  int max_qp_init_rd_atom;
  int max_ee_init_rd_atom;
  int atomic_cap;
  int max_ee;
  int max_rdd;
  int max_mw;
  int max_raw_ipv6_qp;
  int max_raw_ethy_qp;
  int max_mcast_grp;
  int max_mcast_qp_attach;
  int max_total_mcast_qp_attach;
  int max_ah;
  int max_fmr;
  int max_map_per_fmr;
  int max_srq;
  int max_srq_wr;
  int max_srq_sge;
  uint16_t max_pkeys;
  uint8_t local_ca_ack_delay;
  uint8_t phys_port_cnt;
};

struct DeviceAttributesEx {
  DeviceAttributes orig_attr;
  uint32_t comp_mask;
  struct {
    uint64_t general_caps;
    uint32_t rc_odp_caps;
    uint32_t uc_odp_caps;
    uint32_t ud_odp_caps;
  } odp_caps;
  uint64_t completion_timestamp_mask;
  uint64_t hca_core_clock; // kilohertz
  uint64_t device_cap_flags_ex;
  struct {
    uint32_t max_tso;
    uint32_t supported_qpts;
  } tso_caps;
  struct {
    uint32_t supported_qpts;
    uint32_t max_rwq_indirection_tables;
    uint32_t max_rwq_indirection_table_size;
    uint64_t rx_hash_fields_mask;
    uint8_t rx_hash_function;
  } rss_caps;
  uint32_t max_wq_type_rq;
  struct {
    uint32_t qp_rate_limit_min;
    uint32_t qp_rate_limit_max;
    uint32_t supported_qpts;
  } packet_pacing_caps;
  uint32_t raw_packet_caps;
  struct {
    uint32_t max_rndv_hdr_size;
    uint32_t max_num_tags;
    uint32_t flags;
    uint32_t max_ops;
    uint32_t max_sge;
  } tm_caps;
  struct {
    uint16_t max_cq_count;
    uint16_t max_cq_period;
  } cq_mod_caps;
  uint64_t max_dm_size;
  struct {
    uint16_t fetch_add;
    uint16_t swap;
    uint16_t compare_swap;
  } pci_atomic_caps;
  uint32_t xrc_odp_caps;
  uint32_t phys_port_cnt_ex;
};

struct PortAttributes {
  int state;
  int max_mtu;
  int active_mtu;
  int gid_tbl_len;
  uint32_t port_cap_flags;
  uint32_t max_msg_sz;
  uint32_t bad_pkey_cntr;
  uint32_t qkey_viol_cntr;
  uint16_t pkey_tbl_len;
  uint16_t lid;
  uint16_t sm_lid;
  uint8_t lmc;
  uint8_t max_vl_num;
  uint8_t sm_sl;
  uint8_t subnet_timeout;
  uint8_t init_type_reply;
  uint8_t active_width;
  uint8_t active_speed;
  uint8_t phys_state;
  uint8_t link_layer;
  uint8_t flags;
  uint16_t port_cap_flags2; // not in what IBVERBS_1.1 fills
};

enum NodeType : int { node_ca = 1 };
enum TransportType : int { transport_ib = 0 };

struct AsyncEvent {
  union {
    CompletionQueue* cq;
    QueuePair* qp;
    SharedReceiveQueue* srq;
    int port_num;
  } element;
  int event_type;
};

struct WorkCompletion {
  uint64_t wr_id;
  int status;
  int opcode;
  uint32_t vendor_err;
  uint32_t byte_len;
  uint32_t imm_data; // in network byte order; or the key that was invalidated
  uint32_t qp_num;
  uint32_t src_qp;
  unsigned wc_flags;
  uint16_t pkey_index;
  uint16_t slid;
  uint8_t sl;
  uint8_t dlid_path_bits;
};

enum CompletionFlag : unsigned { wc_grh = 1, wc_with_imm = 2, wc_with_inv = 8 };

// Of ibv_access_flags those that are not bits of spec::AccessFlag.
inline constexpr unsigned access_own = 0x3f; // that are
inline constexpr unsigned access_on_demand = 0x40;
inline constexpr unsigned access_hugetlb = 0x80;
inline constexpr unsigned access_optional = 0x3ff00000; // ignored by devices that do not know them
inline constexpr unsigned access_zero_based = 0x20;

struct GlobalRoute {
  Gid dgid;
  uint32_t flow_label;
  uint8_t sgid_index;
  uint8_t hop_limit;
  uint8_t traffic_class;
};

struct GlobalRouteHeader { // on the wire
  uint32_t version_tclass_flow;
  uint16_t paylen;
  uint8_t next_hdr;
  uint8_t hop_limit;
  Gid sgid;
  Gid dgid;
};

struct AddressAttributes {
  GlobalRoute grh;
  uint16_t dlid;
  uint8_t sl;
  uint8_t src_path_bits;
  uint8_t static_rate;
  uint8_t is_global;
  uint8_t port_num;
};

struct SharedReceiveQueueAttributes {
  uint32_t max_wr;
  uint32_t max_sge;
  uint32_t srq_limit;
};

struct SharedReceiveQueueInit {
  void* srq_context;
  SharedReceiveQueueAttributes attr;
};

struct SharedReceiveQueueInitEx {
  void* srq_context;
  SharedReceiveQueueAttributes attr;
  uint32_t comp_mask;
  int srq_type; // 0: basic
  ProtectionDomain* pd;
  void* xrcd;
  CompletionQueue* cq;
  struct {
    uint32_t max_num_tags;
    uint32_t max_ops;
  } tm_cap;
};

enum QueuePairType : int { qpt_rc = 2, qpt_uc = 3, qpt_ud = 4 };

struct QueuePairCapabilities {
  uint32_t max_send_wr;
  uint32_t max_recv_wr;
  uint32_t max_send_sge;
  uint32_t max_recv_sge;
  uint32_t max_inline_data;
};

struct QueuePairInit {
  void* qp_context;
  CompletionQueue* send_cq;
  CompletionQueue* recv_cq;
  SharedReceiveQueue* srq;
  QueuePairCapabilities cap;
  int qp_type;
  int sq_sig_all;
};

enum QueuePairInitMask : uint32_t {
  qp_init_pd = 1,
  qp_init_create_flags = 1 << 2,
  qp_init_send_ops_flags = 1 << 6,
};

struct QueuePairInitEx {
  void* qp_context;
  CompletionQueue* send_cq;
  CompletionQueue* recv_cq;
  SharedReceiveQueue* srq;
  QueuePairCapabilities cap;
  int qp_type;
  int sq_sig_all;
  uint32_t comp_mask;
  ProtectionDomain* pd;
  void* xrcd;
  uint32_t create_flags;
  uint16_t max_tso_header;
  void* rwq_ind_tbl;
  struct {
    uint8_t rx_hash_function;
    uint8_t rx_hash_key_len;
    uint8_t* rx_hash_key;
    uint64_t rx_hash_fields_mask;
  } rx_hash_conf;
  uint32_t source_qpn;
  uint64_t send_ops_flags;
};

struct QueuePairAttributes {
  int qp_state;
  int cur_qp_state;
  int path_mtu;
  int path_mig_state;
  uint32_t qkey;
  uint32_t rq_psn;
  uint32_t sq_psn;
  uint32_t dest_qp_num;
  unsigned qp_access_flags;
  QueuePairCapabilities cap;
  AddressAttributes ah_attr;
  AddressAttributes alt_ah_attr;
  uint16_t pkey_index;
  uint16_t alt_pkey_index;
  uint8_t en_sqd_async_notify;
  uint8_t sq_draining;
  uint8_t max_rd_atomic;
  uint8_t max_dest_rd_atomic;
  uint8_t min_rnr_timer;
  uint8_t port_num;
  uint8_t timeout;
  uint8_t retry_cnt;
  uint8_t rnr_retry;
  uint8_t alt_port_num;
  uint8_t alt_timeout;
  uint32_t rate_limit;
};

enum SendOpcode : int {
  wr_rdma_write,
  wr_rdma_write_with_imm,
  wr_send,
  wr_send_with_imm,
  wr_rdma_read,
  wr_atomic_cmp_and_swp,
  wr_atomic_fetch_and_add,
  wr_local_inv,
  wr_bind_mw,
  wr_send_with_inv,
};

enum SendFlag : unsigned { send_fence = 1, send_signaled = 2, send_solicited = 4, send_inline = 8 };

struct ScatterGatherEntry {
  uint64_t addr;
  uint32_t length;
  uint32_t lkey;
};

struct DataBuffer {
  void* addr;
  size_t length;
};

struct BindInfo {
  MemoryRegion* mr;
  uint64_t addr;
  uint64_t length;
  unsigned mw_access_flags;
};

struct Bind {
  uint64_t wr_id;
  unsigned send_flags;
  BindInfo bind_info;
};

struct SendRequest {
  uint64_t wr_id;
  SendRequest* next;
  ScatterGatherEntry* sg_list;
  int num_sge;
  int opcode;
  unsigned send_flags;
  uint32_t imm_data; // in network byte order; or the key to invalidate
  union {
    struct {
      uint64_t remote_addr;
      uint32_t rkey;
    } rdma;
    struct {
      uint64_t remote_addr;
      uint64_t compare_add;
      uint64_t swap;
      uint32_t rkey;
    } atomic;
    struct {
      AddressHandle* ah;
      uint32_t remote_qpn;
      uint32_t remote_qkey;
    } ud;
  } wr;
  union {
    struct {
      uint32_t remote_srqn;
    } xrc;
  } qp_type;
  union {
    struct {
      MemoryWindow* mw;
      uint32_t rkey;
      BindInfo bind_info;
    } bind_mw;
    struct {
      void* hdr;
      uint16_t hdr_sz;
      uint16_t mss;
    } tso;
  } more;
};

struct ReceiveRequest {
  uint64_t wr_id;
  ReceiveRequest* next;
  ScatterGatherEntry* sg_list;
  int num_sge;
};

} // namespace fpga_verbs::verbs
