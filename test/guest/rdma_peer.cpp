// A libibverbs peer for operations that its ping-pong programs lack: executes commands over TCP, a line each,
// and answers each with a line. Arguments: address and TCP port of the test.
//   hello QPN PSN GID            its queue pair is connected; the answer to nothing: QPN PSN GID ADDRESS KEY
//   fill SEED | same SEED AT BYTES      its memory gets a pattern, or is compared with one
//   receive AT BYTES             posts a receive
//   send | send_immediate | write | write_immediate | read AT BYTES ADDRESS KEY IMMEDIATE
//   add | swap AT ADDRESS KEY COMPARE_OR_ADD SWAP
//   wait                         for a completion: STATUS OPCODE BYTES IMMEDIATE
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr uint8_t gid_index = 1;
constexpr uint8_t timer = 18;            // 1.07 s: nothing here depends on it
constexpr uint32_t first_psn = 0xfffffe; // it wraps soon
constexpr int rights =
    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

std::vector<uint8_t> memory(1 << 18);

template <class Value> Value need(Value value, const char* what) {
  if (!value) {
    std::perror(what);
    std::exit(1);
  }
  return value;
}

void need_zero(int result, const char* what) { need(result == 0, what); }

uint8_t pattern(unsigned seed, size_t at) { return static_cast<uint8_t>(seed + at * 7 + (at >> 8) * 13); }

class Peer {
public:
  Peer() {
    ibv_device** const devices = need(ibv_get_device_list(nullptr), "ibv_get_device_list");
    context_ = need(ibv_open_device(need(devices[0], "no RDMA device")), "ibv_open_device");
    ibv_free_device_list(devices);
    ibv_pd* const domain = need(ibv_alloc_pd(context_), "ibv_alloc_pd");
    region_ = need(ibv_reg_mr(domain, memory.data(), memory.size(), rights), "ibv_reg_mr");
    queue_ = need(ibv_create_cq(context_, 16, nullptr, nullptr, 0), "ibv_create_cq");
    ibv_qp_init_attr wanted = {};
    wanted.send_cq = wanted.recv_cq = queue_;
    wanted.cap = {
        .max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
    wanted.qp_type = IBV_QPT_RC;
    wanted.sq_sig_all = 1;
    pair_ = need(ibv_create_qp(domain, &wanted), "ibv_create_qp");
    ibv_qp_attr attributes = {};
    attributes.qp_state = IBV_QPS_INIT;
    attributes.port_num = 1;
    attributes.qp_access_flags = rights;
    need_zero(ibv_modify_qp(pair_, &attributes,
                            IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
              "INIT");
  }

  std::string place() const {
    ibv_gid gid;
    need_zero(ibv_query_gid(context_, 1, gid_index, &gid), "ibv_query_gid");
    std::string digits;
    for (const uint8_t byte : gid.raw) {
      char pair[3];
      std::snprintf(pair, sizeof pair, "%02x", byte);
      digits += pair;
    }
    std::ostringstream line;
    line << pair_->qp_num << ' ' << first_psn << ' ' << digits << ' '
         << reinterpret_cast<uintptr_t>(memory.data()) << ' ' << region_->rkey;
    return line.str();
  }

  std::string answer(std::istream& words) {
    std::string order;
    words >> order;
    if (order == "hello")
      connect(words);
    else if (order == "fill")
      fill(words);
    else if (order == "same")
      return same(words);
    else if (order == "receive")
      receive(words);
    else if (order == "wait")
      return wait();
    else if (order == "add" || order == "swap")
      post_atomic(order, words);
    else
      post(order, words);
    return "done";
  }

private:
  void connect(std::istream& words) {
    ibv_qp_attr attributes = {};
    std::string gid;
    words >> attributes.dest_qp_num >> attributes.rq_psn >> gid;
    attributes.qp_state = IBV_QPS_RTR;
    attributes.path_mtu = IBV_MTU_1024;
    attributes.max_dest_rd_atomic = 4;
    attributes.min_rnr_timer = 1;
    attributes.ah_attr.is_global = 1;
    attributes.ah_attr.port_num = 1;
    attributes.ah_attr.grh.hop_limit = 64;
    attributes.ah_attr.grh.sgid_index = gid_index;
    for (size_t byte = 0; byte < sizeof attributes.ah_attr.grh.dgid.raw; ++byte)
      attributes.ah_attr.grh.dgid.raw[byte] =
          static_cast<uint8_t>(std::stoul(gid.substr(2 * byte, 2), nullptr, 16));
    need_zero(ibv_modify_qp(pair_, &attributes,
                            IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
              "RTR");
    attributes.qp_state = IBV_QPS_RTS;
    attributes.sq_psn = first_psn;
    attributes.timeout = timer;
    attributes.retry_cnt = attributes.rnr_retry = 7;
    attributes.max_rd_atomic = 4;
    need_zero(ibv_modify_qp(pair_, &attributes,
                            IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                                IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC),
              "RTS");
  }

  static void fill(std::istream& words) {
    unsigned seed = 0;
    words >> seed;
    for (size_t at = 0; at < memory.size(); ++at)
      memory[at] = pattern(seed, at);
  }

  static std::string same(std::istream& words) {
    unsigned seed = 0;
    size_t begin = 0, bytes = 0;
    words >> seed >> begin >> bytes;
    for (size_t at = 0; at < bytes; ++at)
      if (memory[begin + at] != pattern(seed, at))
        return "differs at " + std::to_string(begin + at);
    return "same";
  }

  ibv_sge piece(std::istream& words) const {
    size_t at = 0;
    uint32_t bytes = 0;
    words >> at >> bytes;
    return {.addr = reinterpret_cast<uintptr_t>(memory.data()) + at, .length = bytes, .lkey = region_->lkey};
  }

  void receive(std::istream& words) {
    ibv_sge entry = piece(words);
    ibv_recv_wr request = {.wr_id = 2, .next = nullptr, .sg_list = &entry, .num_sge = 1};
    ibv_recv_wr* bad = nullptr;
    need_zero(ibv_post_recv(pair_, &request, &bad), "ibv_post_recv");
  }

  void post(const std::string& order, std::istream& words) {
    ibv_sge entry = piece(words);
    ibv_send_wr request = {};
    uint32_t immediate = 0;
    words >> request.wr.rdma.remote_addr >> request.wr.rdma.rkey >> immediate;
    request.imm_data = immediate; // opaque: the bytes on the wire
    request.opcode = order == "send"              ? IBV_WR_SEND
                     : order == "send_immediate"  ? IBV_WR_SEND_WITH_IMM
                     : order == "write"           ? IBV_WR_RDMA_WRITE
                     : order == "write_immediate" ? IBV_WR_RDMA_WRITE_WITH_IMM
                                                  : IBV_WR_RDMA_READ;
    post(request, entry);
  }

  void post_atomic(const std::string& order, std::istream& words) {
    size_t at = 0;
    ibv_send_wr request = {};
    auto& atomic = request.wr.atomic;
    words >> at >> atomic.remote_addr >> atomic.rkey >> atomic.compare_add >> atomic.swap;
    request.opcode = order == "add" ? IBV_WR_ATOMIC_FETCH_AND_ADD : IBV_WR_ATOMIC_CMP_AND_SWP;
    ibv_sge entry = {
        .addr = reinterpret_cast<uintptr_t>(memory.data()) + at, .length = 8, .lkey = region_->lkey};
    post(request, entry);
  }

  void post(ibv_send_wr& request, ibv_sge& entry) {
    request.sg_list = &entry;
    request.num_sge = 1;
    ibv_send_wr* bad = nullptr;
    need_zero(ibv_post_send(pair_, &request, &bad), "ibv_post_send");
  }

  std::string wait() {
    ibv_wc completion = {};
    while (ibv_poll_cq(queue_, 1, &completion) == 0) {
    }
    std::ostringstream line;
    line << ibv_wc_status_str(completion.status) << ", " << completion.opcode << ", " << completion.byte_len
         << ", " << ((completion.wc_flags & IBV_WC_WITH_IMM) != 0 ? completion.imm_data : 0);
    return line.str();
  }

  ibv_context* context_ = nullptr;
  ibv_mr* region_ = nullptr;
  ibv_cq* queue_ = nullptr;
  ibv_qp* pair_ = nullptr;
};

} // namespace

int main(int, char** arguments) {
  sockaddr_in there = {};
  there.sin_family = AF_INET;
  there.sin_port = htons(static_cast<uint16_t>(std::atoi(arguments[2])));
  inet_pton(AF_INET, arguments[1], &there.sin_addr);
  const int socket_number = socket(AF_INET, SOCK_STREAM, 0);
  need_zero(connect(socket_number, reinterpret_cast<const sockaddr*>(&there), sizeof there), "connect");
  FILE* const stream = need(fdopen(socket_number, "r+"), "fdopen");
  Peer peer;
  const auto say = [&](const std::string& line) {
    need(dprintf(socket_number, "%s\n", line.c_str()) > 0, "write");
  };
  say(peer.place());
  char line[256];
  while (std::fgets(line, sizeof line, stream) != nullptr) {
    std::istringstream words(line);
    say(peer.answer(words));
  }
  return 0;
}
