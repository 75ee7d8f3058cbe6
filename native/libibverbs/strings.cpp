// Names, rates, and conversions of what the kernel's interface has.
#include "libibverbs/abi.h"
#include "libibverbs/exported.h"
#include "libibverbs/private_versions.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace fpga_verbs::verbs {

namespace {

template <size_t count>
const char* name_of(const std::array<const char*, count>& names, int index, const char* unknown) {
  return index >= 0 && static_cast<size_t>(index) < count ? names[static_cast<size_t>(index)] : unknown;
}

// Rates of a link by their number in address vectors (InfiniBand volume 1, 9.11.1): multiples of 2.5 Gb/s,
// and Mb/s.
struct Rate {
  int number;
  int multiple; // 0: none
  int megabits;
};
constexpr std::array<Rate, 23> rates{{
    {2, 1, 2500},      {5, 2, 5000},      {3, 4, 10000},      {6, 8, 20000},    {4, 12, 30000},
    {7, 16, 40000},    {8, 24, 60000},    {9, 32, 80000},     {10, 48, 120000}, {11, 5, 14062},
    {12, 20, 56250},   {13, 40, 112500},  {14, 60, 168750},   {15, 10, 25781},  {16, 40, 103125},
    {17, 80, 206250},  {18, 0, 28125},    {19, 0, 53125},     {20, 0, 106250},  {21, 160, 425000},
    {22, 240, 637500}, {23, 320, 850000}, {24, 480, 1275000},
}};

template <class IsMeant> const Rate* find(IsMeant&& is_meant) {
  const auto* const found = std::ranges::find_if(rates, is_meant);
  return found == rates.end() ? nullptr : found;
}

} // namespace

// <infiniband/verbs.h> declares it, but it is in the private nodes.
VERBS_EXPORT const char* own_ibv_wr_opcode_str(int opcode) {
  static constexpr std::array<const char*, 14> names{"rdma-write",
                                                     "rdma-write-with-imm",
                                                     "send",
                                                     "send-with-imm",
                                                     "rdma-read",
                                                     "atomic-cmp-and-swp",
                                                     "atomic-fetch-and-add",
                                                     "local-inv",
                                                     "bind-mw",
                                                     "send-with-inv",
                                                     "tso",
                                                     "driver1",
                                                     "flush",
                                                     "atomic-write"};
  return name_of(names, opcode, "unknown");
}
IN_PRIVATE_NODES(ibv_wr_opcode_str, own_ibv_wr_opcode_str)

VERBS_EXPORT const char* ibv_node_type_str(int type) {
  constexpr std::array<const char*, 8> names{"unknown",           "InfiniBand channel adapter",
                                             "InfiniBand switch", "InfiniBand router",
                                             "iWARP NIC",         "usNIC",
                                             "usNIC UDP",         "unspecified"};
  return name_of(names, type, "unknown");
}

VERBS_EXPORT const char* ibv_port_state_str(int state) {
  constexpr std::array<const char*, 6> names{"no state change (NOP)", "down", "init", "armed", "active",
                                             "active defer"};
  return name_of(names, state, "unknown");
}

VERBS_EXPORT const char* ibv_event_type_str(int type) {
  constexpr std::array<const char*, 20> names{"CQ error",
                                              "local work queue catastrophic error",
                                              "invalid request local work queue error",
                                              "local access violation work queue error",
                                              "communication established",
                                              "send queue drained",
                                              "path migrated",
                                              "path migration request error",
                                              "local catastrophic error",
                                              "port active",
                                              "port error",
                                              "LID change",
                                              "P_Key change",
                                              "SM change",
                                              "SRQ catastrophic error",
                                              "SRQ limit reached",
                                              "last WQE reached",
                                              "client reregistration",
                                              "GID table change",
                                              "WQ fatal"};
  return name_of(names, type, "unknown");
}

VERBS_EXPORT const char* ibv_wc_status_str(int status) {
  constexpr std::array<const char*, 24> names{"success",
                                              "local length error",
                                              "local QP operation error",
                                              "local EE context operation error",
                                              "local protection error",
                                              "Work Request Flushed Error",
                                              "memory management operation error",
                                              "bad response error",
                                              "local access error",
                                              "remote invalid request error",
                                              "remote access error",
                                              "remote operation error",
                                              "transport retry counter exceeded",
                                              "RNR retry counter exceeded",
                                              "local RDD violation error",
                                              "remote invalid RD request",
                                              "aborted error",
                                              "invalid EE context number",
                                              "invalid EE context state",
                                              "fatal error",
                                              "response timeout error",
                                              "general error",
                                              "TM error",
                                              "TM software rendezvous"};
  return name_of(names, status, "unknown");
}

VERBS_EXPORT int ibv_rate_to_mult(int rate) {
  const Rate* const found = find([=](const Rate& each) { return each.number == rate; });
  return found == nullptr || found->multiple == 0 ? -1 : found->multiple;
}

VERBS_EXPORT int mult_to_ibv_rate(int multiple) {
  const Rate* const found =
      find([=](const Rate& each) { return each.multiple == multiple && multiple != 0; });
  return found == nullptr ? 0 : found->number;
}

VERBS_EXPORT int ibv_rate_to_mbps(int rate) {
  const Rate* const found = find([=](const Rate& each) { return each.number == rate; });
  return found == nullptr ? -1 : found->megabits;
}

VERBS_EXPORT int mbps_to_ibv_rate(int megabits) {
  const Rate* const found = find([=](const Rate& each) { return each.megabits == megabits; });
  return found == nullptr ? 0 : found->number;
}

} // namespace fpga_verbs::verbs
