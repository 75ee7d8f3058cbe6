// Attributes of a device and its ports.
#include "driver/explanation.h"
#include "libibverbs/exported.h"
#include "libibverbs/objects.h"
#include "libibverbs/private_versions.h"
#include "spec/registers.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace fpga_verbs::verbs {

namespace {

// Capabilities: bits of ibv_device_cap_flags.
constexpr unsigned bad_pkey_counter = 1u << 1;
constexpr unsigned bad_qkey_counter = 1u << 2;
constexpr unsigned current_state_modify = 1u << 7;
constexpr unsigned port_active_event = 1u << 10;
constexpr unsigned system_image_guid = 1u << 11;
constexpr unsigned receiver_not_ready = 1u << 12;
constexpr unsigned shared_queue_resize = 1u << 13;
constexpr unsigned memory_window = 1u << 17;
constexpr unsigned memory_management = 1u << 21;
constexpr unsigned memory_window_2b = 1u << 24;

constexpr int atomic_by_device = 1;

int port_of(Context* context, unsigned port, driver::PortFacts& facts) {
  return driver_of(context).query_port(port, facts);
}

bool is_none(const spec::GidEntry& entry) {
  return std::ranges::all_of(entry.gid(), [](uint8_t byte) { return byte == 0; });
}

void fill(const driver::PortFacts& facts, PortAttributes& attributes) {
  const spec::QueryPortOutput& from = facts.attributes;
  attributes = {};
  attributes.state = static_cast<int>(from.state());
  attributes.max_mtu = static_cast<int>(from.maximum_mtu());
  attributes.active_mtu = static_cast<int>(from.active_mtu());
  attributes.gid_tbl_len = static_cast<int>(from.gid_table_entries());
  attributes.port_cap_flags = from.capabilities();
  attributes.max_msg_sz = from.maximum_message_bytes();
  attributes.bad_pkey_cntr = from.bad_partition_keys();
  attributes.qkey_viol_cntr = from.bad_queue_keys();
  attributes.pkey_tbl_len = static_cast<uint16_t>(from.partition_key_table_entries());
  attributes.lid = static_cast<uint16_t>(from.local_identifier());
  attributes.sm_lid = static_cast<uint16_t>(from.subnet_manager_local_identifier());
  attributes.lmc = static_cast<uint8_t>(from.local_identifier_mask_control());
  attributes.max_vl_num = static_cast<uint8_t>(from.virtual_lanes());
  attributes.active_width = static_cast<uint8_t>(from.active_width());
  attributes.active_speed = static_cast<uint8_t>(from.active_speed());
  attributes.phys_state = static_cast<uint8_t>(from.physical_state());
  attributes.link_layer = static_cast<uint8_t>(from.link_layer());
}

} // namespace

VERBS_EXPORT int ibv_query_device(Context* context, DeviceAttributes* attributes) {
  driver::Driver& driver = driver_of(context);
  if (driver.function().is_lost())
    return driver.function().explain_loss();
  const spec::QueryFunctionOutput& limits = driver.limits();
  const auto limit = [](uint32_t value) { return static_cast<int>(value); };
  *attributes = {};
  const spec::identity::Version version{driver.function().read_identity(spec::identity::version)};
  const spec::identity::Device design{driver.function().read_identity(spec::identity::device)};
  std::snprintf(attributes->fw_ver, sizeof attributes->fw_ver, "%u.%u.%u", version.major(), version.minor(),
                design.revision());
  attributes->node_guid = OwnContext::of(context).adapter->node_guid();
  attributes->sys_image_guid = attributes->node_guid;
  attributes->max_mr_size = uint64_t{1} << 48;
  attributes->page_size_cap = ~uint64_t{spec::page_bytes - 1} & 0xffffffff;
  const driver::PciIdentity identity = driver.function().backend().identity();
  attributes->vendor_id = identity.vendor;
  attributes->vendor_part_id = identity.device;
  attributes->hw_ver = design.design();
  attributes->max_qp = limit(limits.queue_pairs());
  attributes->max_qp_wr = limit(limits.queue_entries_maximum());
  attributes->device_cap_flags = bad_pkey_counter | bad_qkey_counter | current_state_modify |
                                 port_active_event | system_image_guid | receiver_not_ready |
                                 shared_queue_resize | memory_window | memory_management | memory_window_2b;
  attributes->max_sge = limit(spec::gather_entries);
  attributes->max_sge_rd = limit(spec::gather_entries);
  attributes->max_cq = limit(limits.completion_queues());
  attributes->max_cqe = limit(limits.queue_entries_maximum());
  attributes->max_mr = limit(limits.memory_keys());
  attributes->max_pd = limit(limits.queue_pairs());
  attributes->max_qp_rd_atom = limit(spec::read_atomic_maximum);
  attributes->max_res_rd_atom = limit(spec::read_atomic_maximum * limits.queue_pairs());
  attributes->max_qp_init_rd_atom = limit(spec::read_atomic_maximum);
  attributes->atomic_cap = atomic_by_device;
  attributes->max_mw = limit(limits.memory_keys());
  attributes->max_mcast_grp = limit(spec::multicast_members);
  attributes->max_mcast_qp_attach = limit(spec::multicast_members);
  attributes->max_total_mcast_qp_attach = limit(spec::multicast_members);
  attributes->max_ah = limit(spec::address_handles);
  attributes->max_srq = limit(spec::shared_receive_queues);
  attributes->max_srq_wr = limit(limits.queue_entries_maximum());
  attributes->max_srq_sge = limit(spec::gather_entries);
  attributes->max_pkeys = spec::partition_key_table_entries;
  attributes->local_ca_ack_delay = static_cast<uint8_t>(limits.target_ack_delay());
  attributes->phys_port_cnt = static_cast<uint8_t>(driver.function().read_identity(spec::identity::ports));
  return 0;
}

int query_device_ex(Context* context, const void*, DeviceAttributesEx* attributes, size_t bytes) {
  DeviceAttributesEx all{};
  if (bytes < sizeof all.orig_attr)
    return EINVAL;
  if (const int error = ibv_query_device(context, &all.orig_attr))
    return error;
  all.completion_timestamp_mask = ~uint64_t{0};
  constexpr uint64_t kilo = 1000;
  all.hca_core_clock = driver_of(context).function().read64_identity(spec::identity::clock_frequency) / kilo;
  all.cq_mod_caps = {UINT16_MAX, UINT16_MAX}; // completions, and microseconds
  all.device_cap_flags_ex = all.orig_attr.device_cap_flags;
  all.phys_port_cnt_ex = all.orig_attr.phys_port_cnt;
  std::memset(attributes, 0, bytes);
  std::memcpy(attributes, &all, std::min(bytes, sizeof all));
  return 0;
}

int query_rt_values(Context* context, TimeValues* values) {
  constexpr uint32_t raw_clock = 1;
  const uint32_t wanted = std::exchange(values->comp_mask, 0);
  if ((wanted & raw_clock) == 0)
    return 0;
  if (driver_of(context).function().is_lost())
    return driver_of(context).function().explain_loss();
  values->comp_mask = raw_clock;
  values->raw_clock = {
      0, static_cast<int64_t>(driver_of(context).function().read64(spec::underlying_function::clock))};
  return 0;
}

int query_port(Context* context, uint8_t port, PortAttributes* attributes, size_t bytes) {
  driver::PortFacts facts;
  if (const int error = port_of(context, port, facts))
    return error;
  PortAttributes all;
  fill(facts, all);
  std::memset(attributes, 0, bytes);
  std::memcpy(attributes, &all, std::min(bytes, sizeof all));
  return 0;
}

// Programs that were compiled before the extended context: without the last members.
VERBS_EXPORT int ibv_query_port(Context* context, uint8_t port, PortAttributes* attributes) {
  return query_port(context, port, attributes, offsetof(PortAttributes, port_cap_flags2));
}

VERBS_EXPORT int ibv_query_gid(Context* context, uint8_t port, int index, Gid* gid) {
  driver::PortFacts facts;
  int error = port_of(context, port, facts);
  if (error == 0 && (index < 0 || static_cast<size_t>(index) >= facts.gids.size()))
    error = EINVAL;
  if (error != 0) {
    errno = error;
    return -1;
  }
  std::ranges::copy(facts.gids[static_cast<size_t>(index)].gid(), gid->raw);
  return 0;
}

namespace {

// As ibv_gid_type: over InfiniBand, or RoCEv2.
uint32_t gid_type_of(const driver::PortFacts& facts) {
  constexpr uint32_t infiniband = 0;
  constexpr uint32_t rocev2 = 2;
  return facts.attributes.link_layer() == spec::LinkLayer::ethernet ? rocev2 : infiniband;
}

GidEntry gid_entry(const driver::PortFacts& facts, unsigned port, size_t index) {
  GidEntry entry{};
  std::ranges::copy(facts.gids[index].gid(), entry.gid.raw);
  entry.gid_index = static_cast<uint32_t>(index);
  entry.port_num = port;
  entry.gid_type = gid_type_of(facts);
  return entry;
}

} // namespace

VERBS_EXPORT int _ibv_query_gid_ex(Context* context, uint32_t port, uint32_t index, GidEntry* entry,
                                   uint32_t flags, size_t bytes) {
  driver::PortFacts facts;
  if (flags != 0 || bytes < sizeof *entry)
    return EOPNOTSUPP;
  if (const int error = port_of(context, port, facts))
    return error;
  if (index >= facts.gids.size())
    return EINVAL;
  if (is_none(facts.gids[index]))
    return ENODATA;
  std::memset(static_cast<void*>(entry), 0, bytes);
  *entry = gid_entry(facts, port, index);
  return 0;
}

VERBS_EXPORT ssize_t _ibv_query_gid_table(Context* context, GidEntry* entries, size_t most, uint32_t flags,
                                          size_t bytes) {
  if (flags != 0 || bytes < sizeof *entries)
    return -EOPNOTSUPP;
  size_t count = 0;
  const uint32_t ports = driver_of(context).function().read_identity(spec::identity::ports);
  for (uint32_t port = 1; port <= ports; ++port) {
    driver::PortFacts facts;
    if (const int error = port_of(context, port, facts))
      return -error;
    for (size_t index = 0; index < facts.gids.size() && count < most; ++index) {
      if (is_none(facts.gids[index]))
        continue;
      auto* const at = reinterpret_cast<uint8_t*>(entries) + count++ * bytes;
      const GidEntry entry = gid_entry(facts, port, index);
      std::memset(at, 0, bytes);
      std::memcpy(at, &entry, sizeof entry);
    }
  }
  return static_cast<ssize_t>(count);
}

// Of the private node, which ibv_devinfo uses: as sysfs tells RoCEv2 from all else.
extern "C" int own_query_gid_type(Context* context, uint8_t port, unsigned index, int* type) {
  driver::PortFacts facts;
  if (port_of(context, port, facts) != 0 || index >= facts.gids.size())
    return -1;
  *type = gid_type_of(facts) == 2 ? 1 : 0;
  return 0;
}
IN_PRIVATE_NODES(ibv_query_gid_type, own_query_gid_type)

VERBS_EXPORT int ibv_query_pkey(Context* context, uint8_t port, int index, uint16_t* key) {
  driver::PortFacts facts;
  int error = port_of(context, port, facts);
  if (error == 0 && (index < 0 || static_cast<size_t>(index) >= facts.partition_keys.size()))
    error = EINVAL;
  if (error != 0) {
    errno = error;
    return -1;
  }
  const uint32_t value = facts.partition_keys[static_cast<size_t>(index)].partition_key();
  *key = static_cast<uint16_t>(value >> 8 | value << 8); // in network byte order
  return 0;
}

VERBS_EXPORT int ibv_get_pkey_index(Context* context, uint8_t port, uint16_t key) {
  for (int index = 0; index < static_cast<int>(spec::partition_key_table_entries); ++index) {
    uint16_t found = 0;
    if (ibv_query_pkey(context, port, index, &found) != 0)
      return -1;
    if (found == key)
      return index;
  }
  errno = EINVAL;
  return -1;
}

// Files that sysfs has of an adapter that the kernel knows. The board is none: what programs read of it is
// answered here, the rest is not there.
VERBS_EXPORT int ibv_read_sysfs_file(const char* directory, const char* file, char* buffer, size_t room) {
  const std::string path = std::string(directory) + "/" + file;
  std::string content;
  if (path.find("/infiniband/fpga0") != std::string::npos && path.ends_with("/board_id"))
    content = "fpga-verbs";
  else if (path.find("/infiniband/fpga0") != std::string::npos && path.ends_with("/node_type"))
    content = "1: CA";
  if (content.empty()) {
    std::FILE* const found = std::fopen(path.c_str(), "re");
    if (found == nullptr)
      return -1;
    const size_t bytes = std::fread(buffer, 1, room, found);
    std::fclose(found);
    content.assign(buffer, bytes);
    if (content.ends_with('\n'))
      content.pop_back();
  }
  const size_t bytes = std::min(content.size(), room);
  std::memcpy(buffer, content.data(), bytes);
  if (bytes < room)
    buffer[bytes] = 0;
  return static_cast<int>(bytes);
}

VERBS_EXPORT const char* ibv_get_sysfs_path() { return "/sys"; }

} // namespace fpga_verbs::verbs
