#pragma once

#include "context_host.h"
#include "released_buffers.h"
#include "set_clock.h"
#include "wire_packets.h"

#include "hca/base/data_link.h"
#include "hca/base/packet_sequence_number.h"
#include "hca/base/parameters.h"
#include "hca/collect/kick_records.h"
#include "hca/port/packet_memory.h"
#include "hca/port/port_attributes.h"
#include "hca/queue_pair/queue_pair_state_cache.h"
#include "hca/send_queue/send_work_request.h"
#include "hca/transmit/packet_builder.h"
#include "hca/transmit/packet_templates.h"
#include "spec/operations.h"
#include "wire/packet_parse.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

namespace fpga_verbs::bench {

// A link that gives packets their UDP source port, or none.
class SourceLink final : public link::Link {
public:
  explicit SourceLink(uint16_t udp_port) : udp_port_(udp_port) {}
  void attach(link::LinkReceiver&) override {}
  void detach() override {}
  link::SendResult send(link::Lane, std::span<const uint8_t>) override { std::abort(); }
  std::span<const uint8_t> front(link::Lane) override { return {}; }
  void pop(link::Lane) override { std::abort(); }
  std::optional<Source> source() const override {
    if (udp_port_ == 0)
      return std::nullopt;
    return Source{.address = 0x020011223344, .network_address = {}, .udp_port = udp_port_};
  }

private:
  uint16_t udp_port_;
};

// packet_builder of the device model with its surroundings: PCBs, queue pairs of all services, and the
// addresses of ports. It works on one packet in each step.
class PacketBuilderModel {
public:
  static constexpr uint32_t queue_pair_count = 12;
  static constexpr unsigned ports = spec::ports;
  static constexpr unsigned functions = spec::underlying_functions;

  struct QueuePair {
    uint32_t number = 0; // the last number belongs to no queue pair
    unsigned function = 0;
    spec::ServiceType service = spec::ServiceType::reliable_connection;
    uint32_t mtu = 0; // bytes
  };
  // A packet of dma, as packet_builder gets it, without a buffer.
  struct Gathered {
    bool has_packet = false;
    bool last = false;
    uint32_t buffer = 0;
    uint32_t number = 0;
    std::vector<uint8_t> payload;
    spec::CompletionStatus status = spec::CompletionStatus::success; // with the last one
  };
  // The end of a command.
  struct End {
    spec::FinishUnit finish;
    spec::MessageUnit message;
    spec::KickRecord record;
    bool is_sent = false; // counted as such; otherwise as failed
  };
  struct Step {
    std::optional<std::vector<uint8_t>> packet; // up to its ICRC
    uint32_t port = 0;
    wire::ParsedPacket parsed;
    std::optional<uint32_t> built_psn;
    std::optional<End> end;
  };

  PacketBuilderModel(Random& random, bool is_infiniband, uint16_t udp_port)
      : random_(random), is_infiniband_(is_infiniband), link_(udp_port) {
    if (context_memory_.bytes_needed() > context_bytes || !context_memory_.open(0, context_bytes))
      std::abort();
    records_.watch(&watch_, (1U << functions) - 1);
    write_addresses();
    for (uint32_t which = 0; which < queue_pair_count; ++which)
      create_queue_pair(which);
  }

  std::vector<QueuePair> queue_pairs;

  hca::PhysicalCollectBuffer& pcb(uint32_t buffer) { return buffers_[buffer]; }
  hca::PortAttributes& attributes() { return attributes_; }
  bool is_infiniband() const { return is_infiniband_; }
  // Null: there is no such queue pair.
  hca::QueuePairParts* parts(uint32_t which) {
    return cache_.parts(queue_pairs[which].function, queue_pairs[which].number);
  }

  // New GIDs and P_Keys.
  void write_addresses() {
    for (unsigned port = 1; port <= ports; ++port) {
      for (unsigned function = 0; function < functions; ++function)
        for (unsigned index = 0; index < spec::gid_table_entries; ++index)
          attributes_.set_gid(port, function, index, some_gid(random_, random_.once(2)));
      for (unsigned index = 0; index < spec::partition_key_table_entries; ++index)
        attributes_.set_partition_key(port, index, static_cast<uint16_t>(random_.bits()));
    }
  }

  // A queue pair is connected to another peer.
  void connect(uint32_t which) {
    QueuePair& queue_pair = queue_pairs[which];
    hca::QueuePairParts& parts = *this->parts(which);
    const uint32_t path_mtu = 1 + random_.below(5);
    queue_pair.mtu = hca::path_mtu_bytes(path_mtu);
    spec::AddressVector address = some_vector();
    if (random_.once(3))
      carry_last(address, queue_pair.function);
    std::array<uint8_t, spec::AddressVector::bytes> bytes{};
    std::memcpy(bytes.data(), &address, bytes.size());
    parts.control.set_address_vector(bytes);
    parts.control.set_path_mtu(static_cast<spec::PathMtu>(path_mtu));
    parts.control.set_port(1 + random_.below(ports));
    parts.control.set_partition_key_index(random_.below(spec::partition_key_table_entries));
    parts.control.set_queue_key(static_cast<uint32_t>(random_.bits()));
    parts.control.set_virtual_queue_pair(random_.below(1 << 24));
    parts.control.set_destination_queue_pair(random_.below(1 << 24));
    templates_.forget(queue_pair.number);
  }

  // An address vector within the tables of the ports.
  spec::AddressVector some_vector() {
    spec::AddressVector address = some_address(random_);
    address.set_destination_gid(some_gid(random_, random_.once(2)));
    address.set_port(1 + random_.below(ports));
    address.set_gid_index(random_.below(spec::gid_table_entries));
    if (random_.once(2))
      address.set_udp_source_port(0);
    return address;
  }

  // Works on a packet of a queue pair. Corrupted: it cannot be read from its list.
  Step step(uint32_t which, const Gathered& gathered, unsigned function, bool is_corrupted) {
    spec::PacketUnit unit;
    unit.set_packet(hca::no_packet);
    unit.set_physical_collect_buffer(gathered.buffer);
    unit.set_underlying_function(function);
    unit.set_queue_pair_number(queue_pairs[which].number);
    unit.set_last(gathered.last);
    if (gathered.has_packet) {
      const uint16_t handle = packets_.allocate(hca::PacketUse::request).value();
      hca::Packet& packet = packets_[handle];
      packet.payload = spec::packet_headroom;
      packet.payload_bytes = static_cast<uint16_t>(gathered.payload.size());
      packet.number = gathered.number;
      std::memcpy(packets_.bytes(handle) + packet.payload, gathered.payload.data(), gathered.payload.size());
      unit.set_packet(handle);
    }
    if (gathered.last)
      pcb(gathered.buffer).execution.kick.set_status(gathered.status);
    hca::QueuePairParts* const found = parts(which);
    const uint32_t unwritten = random_.below(1 << 24);
    if (found != nullptr)
      found->transport().requester().set_built_psn(unwritten);
    hand_over(unit, is_corrupted);
    return result(found, unwritten);
  }

private:
  static constexpr uint64_t context_bytes = 2 << 20;

  class Records final : public hca::WatchPort {
  public:
    std::vector<spec::KickRecord> records;
    void kick_record(const spec::KickRecord& record) override { records.push_back(record); }
    void event(unsigned, const spec::EventQueueEntry&) override { std::abort(); }
    void completion(unsigned, const spec::CompletionQueueEntry&) override { std::abort(); }
  };

  static hca::HcaParameters make_parameters(bool is_infiniband) {
    hca::HcaParameters parameters;
    parameters.queue_pairs = 32;
    parameters.page_table_entries = 2048;
    parameters.memory_keys = 64;
    parameters.physical_collect_buffers = BUFFERS;
    parameters.dedicated_physical_collect_buffers = 0;
    parameters.link_layer = is_infiniband ? spec::LinkLayer::infiniband : spec::LinkLayer::ethernet;
    return parameters;
  }

  // Between IPv4 addresses: the words of the header add up to a number whose low half is all ones, so that
  // its halves have a carry.
  void carry_last(spec::AddressVector& address, unsigned function) {
    const wire::Gid& source =
        attributes_.gids(static_cast<unsigned>(address.port()), function)[address.gid_index()];
    if (!wire::is_ipv4(source))
      return;
    const uint32_t from = wire::ipv4_address(source);
    const uint32_t high = random_.below(0x10000);
    const auto sum =
        static_cast<uint32_t>(0x4500 + address.traffic_class() + 0x4000 + (address.hop_limit() << 8) + 17 +
                              (from >> 16) + (from & 0xffff) + high);
    address.set_destination_gid(wire::ipv4_gid(high << 16 | (0xffff - (sum & 0xffff))));
  }

  void create_queue_pair(uint32_t which) {
    using spec::ServiceType;
    QueuePair queue_pair{.function = which % functions,
                         .service = which < 6   ? ServiceType::reliable_connection
                                    : which < 9 ? ServiceType::unreliable_connection
                                                : ServiceType::unreliable_datagram,
                         .mtu = 256};
    spec::QueuePairControl control;
    control.set_state(spec::QueuePairState::ready_to_send);
    control.set_service_type(queue_pair.service);
    const bool exists = which + 1 != queue_pair_count;
    queue_pair.number = exists ? cache_.create(queue_pair.function, control).value() : 0x5a0007;
    queue_pairs.push_back(queue_pair);
    if (exists)
      connect(which);
  }

  void hand_over(const spec::PacketUnit& unit, bool is_corrupted) {
    gathered_.push(unit);
    if (!is_corrupted) {
      builder_.step();
      return;
    }
    // Without a credit the packet waits in the queue.
    messages_.push({});
    builder_.step();
    hca::ScrubbedQueue& queue = *builder_.scrubbed_queue();
    queue.flip_held(0, 0, 1);
    queue.flip_held(0, 0, 2);
    messages_.pop();
    builder_.step();
  }

  Step result(const hca::QueuePairParts* found, uint32_t unwritten) {
    Step step;
    if (!built_.empty()) {
      const auto handle = static_cast<uint16_t>(built_.front().packet());
      const std::span<const uint8_t> bytes = packets_.wire(handle);
      const size_t check_bytes = is_infiniband_ ? spec::vcrc_bytes : 0;
      step.packet = std::vector<uint8_t>(bytes.begin(), bytes.end() - static_cast<ptrdiff_t>(check_bytes));
      step.port = packets_[handle].port;
      if (wire::parse_copy(parameters_.link_layer, bytes, step.parsed) != spec::PacketDrop::none)
        std::abort();
      packets_.release(handle);
      built_.pop();
    }
    if (found != nullptr) {
      const auto psn = static_cast<uint32_t>(found->transport().requester().built_psn());
      if (psn != unwritten)
        step.built_psn = psn;
    }
    if (!messages_.empty()) {
      if (finishes_.size() != 1 || watch_.records.size() != 1 || buffers_released_.released.size() != 1)
        std::abort();
      uint64_t sent = 0;
      for (const hca::FunctionCounters& each : counters_.function)
        sent += each.commands_sent;
      step.end = {.finish = finishes_.front(),
                  .message = messages_.front(),
                  .record = watch_.records.front(),
                  .is_sent = sent != sent_};
      sent_ = sent;
      finishes_.pop();
      messages_.pop();
      watch_.records.clear();
      buffers_released_.released.clear();
    }
    if (packets_.verify_at_rest() != nullptr)
      std::abort();
    return step;
  }

  Random& random_;
  bool is_infiniband_;
  hca::HcaParameters parameters_ = make_parameters(is_infiniband_);
  SourceLink link_;
  hca::Counters counters_;
  ContextHost context_host_{context_bytes};
  NoEvents no_events_;
  SetClock clock_;
  Records watch_;
  hca::ContextMemory context_memory_{parameters_, counters_, context_host_, no_events_};
  hca::QueuePairStateCache cache_{parameters_, counters_, context_memory_};
  hca::PhysicalCollectBuffers buffers_{parameters_};
  hca::PortAttributes attributes_{parameters_, &link_};
  hca::PacketTemplates templates_{attributes_};
  hca::PacketMemory packets_;
  hca::KickRecords records_{counters_, context_host_, clock_, no_events_};
  ReleasedBuffers buffers_released_;
  hca::DataLink<spec::PacketUnit> gathered_{1};
  hca::DataLink<spec::PacketUnit> built_{1};
  hca::DataLink<spec::MessageUnit> messages_{1};
  hca::DataLink<spec::FinishUnit> finishes_{1};
  hca::PacketBuilder builder_{parameters_, counters_, buffers_released_, buffers_, cache_,    records_,
                              templates_,  packets_,  gathered_,         built_,   messages_, finishes_};
  uint64_t sent_ = 0;
};

} // namespace fpga_verbs::bench
