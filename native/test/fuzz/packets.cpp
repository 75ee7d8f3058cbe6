#include "board/board_fabric.h"
#include "hca/port/port_attributes.h"
#include "link/address.h"
#include "spec/packet_opcodes.h"
#include "spec/parameters.h"
#include "test/fuzz/fuzz_board.h"
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzz_targets.h"
#include "wire/packet_headers.h"
#include "wire/packet_template.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

namespace fpga_verbs::test {

namespace {

constexpr unsigned peer_board = 9; // number from which the other end's addresses are derived
constexpr uint32_t peer_queue_pair = 0x123456;
constexpr unsigned operations_maximum = 150;
constexpr uint8_t untouched = 0x5a;

// The other end of the link: the peer of one queue pair. It sends packets as the input decides.
class HostilePeer {
public:
  HostilePeer(FuzzBoard& board, spec::LinkLayer link_layer, FuzzFunction& function, HostQueuePair& queue_pair,
              spec::PacketOpcode first_opcode, FuzzInput& input)
      : board_(board), link_layer_(link_layer), function_(function), queue_pair_(queue_pair),
        first_opcode_(static_cast<unsigned>(first_opcode)), input_(input),
        fabric_(board::BoardFabric::share(board.fabric())),
        port_(fabric_->ports().take(link_layer, link::first_address(link_layer, peer_board))) {
    hca::HcaParameters parameters;
    parameters.link_layer = link_layer;
    parameters.board_number = peer_board;
    source_ = hca::PortAttributes(parameters).source(0, address_of(link_layer, peer_board, 0), 0);
  }
  ~HostilePeer() { fabric_->ports().give_back(*port_); }
  HostilePeer(const HostilePeer&) = delete;
  HostilePeer& operator=(const HostilePeer&) = delete;

  // Memory that a peer may reach, and memory that no peer may: of another domain, read-only, or without a
  // key.
  struct Target {
    uint64_t address = 0;
    uint32_t key = 0;
  };
  void add_target(const Target& target) { targets_[target_count_++] = target; }

  void act() {
    switch (input_.below(8)) {
    case 0:
    case 1:
    case 2:
      return send_packet();
    case 3:
      return send_bytes();
    case 4:
      return post_send();
    case 5:
      return post_receive();
    case 6:
      board_.step(input_.byte());
      return drain();
    case 7:
      return board_.advance(uint64_t{1} << input_.below(26));
    }
  }

  // Takes the packets that the board has sent.
  void drain() {
    for (const link::Lane lane : {link::Lane::responses, link::Lane::requests})
      while (!port_->front(lane).empty())
        port_->pop(lane);
  }

private:
  const Target& target() { return targets_[input_.below(target_count_)]; }

  // A packet as a peer builds it, with fields from the input; in one of four, one or more bits are wrong.
  void send_packet() {
    spec::AddressVector to = address_of(link_layer_, board_.board().board_number(), input_.below(2));
    const uint32_t number = input_.below(4) == 0 ? function_.queue_pair(input_.below(2)).number() ^
                                                       (input_.below(2) * input_.take<uint16_t>())
                                                 : queue_pair_.number();
    to.set_is_global(input_.below(8) != 0);
    wire::PacketTemplate made = wire::make_packet_template(to, source_, peer_queue_pair, number);
    wire::PacketFields fields;
    // Usually of the queue pair's own service.
    fields.opcode = static_cast<spec::PacketOpcode>(input_.below(8) == 0 ? input_.byte()
                                                                         : first_opcode_ + input_.below(24));
    const spec::PacketOpcodeTraits& traits = spec::traits_of(fields.opcode);
    if (!traits.is_known)
      return;
    fields.acknowledge_request = input_.below(2) != 0;
    uint32_t& psn = traits.is_response() ? response_psn_ : request_psn_;
    const uint8_t gap = input_.byte();
    fields.packet_sequence_number = (psn + (gap < 0xc0 ? 0u : gap - 0xe0u)) & 0xffffffu;
    const Target& place = target();
    fields.virtual_address = place.address + input_.byte() * (input_.below(8) == 0 ? 17u : 8u);
    fields.remote_key = place.key;
    fields.compare = input_.byte();
    fields.swap_add = input_.byte();
    fields.syndrome = input_.byte();
    fields.message_sequence_number = input_.byte();
    fields.immediate_data = fields.remote_key;
    std::array<uint8_t, spec::packet_buffer_bytes> buffer{};
    // A middle packet fills the path MTU; the others have any length.
    const bool fills = traits.has_payload && !traits.ends_message() && input_.below(8) != 0;
    const uint32_t payload = !traits.has_payload ? 0 : fills ? path_mtu_bytes : input_.take<uint16_t>() % 300;
    // A message usually has the length that it announces.
    fields.dma_length = payload + (fills ? input_.take<uint16_t>() % 600 : 0);
    if (const uint8_t length = input_.byte(); length >= 0xc0 || !traits.has_payload)
      fields.dma_length = length < 0xf8 ? input_.take<uint16_t>() % 4200 : input_.take<uint32_t>();
    const std::span<uint8_t> packet =
        wire::build_packet(buffer.data() + spec::packet_headroom, made, fields, payload);
    if (gap < 0xc0)
      psn = (psn + 1) & 0xffffffu;
    if (input_.below(4) == 0)
      for (unsigned i = 1 + input_.below(3); i != 0; --i)
        packet[input_.take<uint16_t>() % std::min<size_t>(packet.size(), 128)] ^= input_.byte();
    send(traits.is_response(), packet.first(packet.size() - (input_.below(16) == 0 ? input_.below(8) : 0)));
  }

  // Random bytes, with an address of the board so that they arrive.
  void send_bytes() {
    std::array<uint8_t, spec::packet_buffer_bytes> buffer{};
    const size_t length = input_.below(2) == 0 ? input_.below(160) : input_.take<uint16_t>() % buffer.size();
    const std::span<const uint8_t> bytes = input_.take_bytes(std::min<size_t>(length, 100));
    std::copy(bytes.begin(), bytes.end(), buffer.begin());
    const link::Address address =
        link::first_address(link_layer_, board_.board().board_number()) + input_.below(16);
    const link::MacAddress mac = link::mac_address(address);
    if (link_layer_ == spec::LinkLayer::ethernet)
      std::copy(mac.begin(), mac.end(), buffer.begin());
    else
      std::copy(mac.end() - 2, mac.end(), buffer.begin() + 2);
    send(input_.below(2) != 0, std::span(buffer).first(length));
  }

  void send(bool response, std::span<const uint8_t> packet) {
    port_->send(response ? link::Lane::responses : link::Lane::requests, packet);
  }

  void post_send() {
    if (function_.completion_queue().poll())
      --on_their_way_;
    if (on_their_way_ >= 8)
      return;
    ++on_their_way_;
    spec::CommandHeader header;
    header.set_opcode(static_cast<spec::Opcode>(1 + input_.below(8)));
    header.set_signaled(1);
    header.set_fence(input_.below(4) == 0);
    header.set_remote_address(function_.memory().address);
    header.set_remote_key(function_.key());
    header.set_gather_count(1);
    const bool atomic = header.opcode() == spec::Opcode::atomic_compare_and_swap ||
                        header.opcode() == spec::Opcode::atomic_fetch_and_add;
    const std::array gather{function_.entry(8, atomic ? 8 : input_.take<uint16_t>() % 2000)};
    queue_pair_.post(function_.driver().function(), function_.driver().function().first_collect_buffer(),
                     header, {reinterpret_cast<const uint8_t*>(gather.data()), sizeof gather});
  }

  void post_receive() {
    std::array<spec::GatherEntry, 3> scatter;
    const unsigned count = input_.below(scatter.size() + 1);
    for (unsigned i = 0; i < count; ++i)
      scatter[i] = function_.entry(input_.byte() * 8u, input_.byte());
    queue_pair_.post_receive(std::span(scatter).first(count));
  }

  static constexpr uint32_t path_mtu_bytes = 256;

  FuzzBoard& board_;
  spec::LinkLayer link_layer_;
  FuzzFunction& function_;
  HostQueuePair& queue_pair_;
  unsigned first_opcode_; // of the service of the queue pair
  FuzzInput& input_;
  std::shared_ptr<board::BoardFabric> fabric_;
  link::FabricPort* port_;
  wire::PacketSource source_;
  std::array<Target, 5> targets_;
  unsigned target_count_ = 0;
  uint32_t request_psn_ = 0;
  uint32_t response_psn_ = 0;
  unsigned on_their_way_ = 0;
};

bool is_untouched(const HostMemory& memory, size_t from = 0) {
  return std::all_of(memory.at(from), memory.at(memory.bytes),
                     [](uint8_t byte) { return byte == untouched; });
}

// Binds a window of type 2 to the lower half of a memory without other remote rights. Returns its key.
std::optional<uint32_t> bind_window(FuzzFunction& function, HostQueuePair& queue_pair,
                                    const HostMemory& memory) {
  HostDriver& driver = function.driver();
  constexpr unsigned rights = 1u << static_cast<unsigned>(spec::AccessFlag::local_write) |
                              1u << static_cast<unsigned>(spec::AccessFlag::memory_window_bind);
  const auto region = driver.register_memory(memory, function.protection_domain(), rights);
  spec::CreateMemoryWindowInput input;
  input.set_window_type(2);
  input.set_protection_domain(function.protection_domain());
  const auto made =
      driver.make(spec::ManagementOpcode::create_memory_window, MailboxContent().add(input).bytes());
  if (!region || !made)
    return std::nullopt;
  const uint32_t key = *made ^ 1; // another variant
  spec::BindEntry bind;
  bind.set_address(memory.address);
  bind.set_length(memory.bytes / 2);
  bind.set_region_key(*region);
  bind.set_access_flags(every_right & ~(1u << static_cast<unsigned>(spec::AccessFlag::local_write)));
  spec::CommandHeader header;
  header.set_opcode(spec::Opcode::bind_memory_window);
  header.set_signaled(1);
  header.set_remote_key(key);
  queue_pair.post(driver.function(), driver.function().first_collect_buffer(), header,
                  {reinterpret_cast<const uint8_t*>(&bind), sizeof bind});
  return key;
}

} // namespace

std::string fuzz_packets(std::span<const uint8_t> bytes) {
  FuzzInput input(bytes);
  const auto link_layer = input.below(2) == 0 ? spec::LinkLayer::ethernet : spec::LinkLayer::infiniband;
  FuzzBoard board(link_layer);
  FuzzFunction function(board, 0, link_layer);
  HostDriver& driver = function.driver();
  const auto service_type =
      input.below(4) == 0 ? spec::ServiceType::unreliable_connection : spec::ServiceType::reliable_connection;
  HostQueuePair queue_pair(driver, {.protection_domain = function.protection_domain(),
                                    .completion_queue = function.completion_queue().number(),
                                    .entries_log2 = 4,
                                    .service_type = service_type,
                                    .shares = input.below(4) == 0});
  const HostPeer connection{.queue_pair_number = peer_queue_pair,
                            .address = address_of(link_layer, peer_board, 0),
                            .path_mtu = spec::PathMtu::mtu_256,
                            .timeout = input.below(16)};
  if (!function.ready() || !queue_pair.connect(driver, connection))
    return "the function does not come up";

  constexpr unsigned right_to_read = 1u << static_cast<unsigned>(spec::AccessFlag::remote_read);
  const auto other_domain = driver.make(spec::ManagementOpcode::create_protection_domain);
  const HostMemory of_other_domain = driver.function().allocate(spec::page_bytes);
  const HostMemory to_be_read = driver.function().allocate(spec::page_bytes);
  const HostMemory without_key = driver.function().allocate(spec::page_bytes);
  const std::array outside{&of_other_domain, &to_be_read, &without_key};
  for (const HostMemory* memory : outside)
    std::memset(memory->at(), untouched, memory->bytes);
  const auto key_of_other_domain =
      driver.register_memory(of_other_domain, other_domain.value_or(0), every_right);
  const auto key_to_read = driver.register_memory(to_be_read, function.protection_domain(), right_to_read);
  if (!key_of_other_domain || !key_to_read)
    return "a memory region could not be made";

  // The lower half of a page that only a window gives access to.
  const HostMemory windowed = driver.function().allocate(spec::page_bytes);
  std::memset(windowed.at(), untouched, windowed.bytes);
  const auto window = bind_window(function, queue_pair, windowed);
  if (std::string wrong = board.run_until_idle(); !wrong.empty())
    return wrong;
  const auto bound = function.completion_queue().poll();
  if (!window || !bound || bound->status() != spec::CompletionStatus::success)
    return "a memory window could not be bound";

  {
    HostilePeer peer(board, link_layer, function, queue_pair,
                     service_type == spec::ServiceType::reliable_connection
                         ? spec::PacketOpcode::reliable_connection_send_first
                         : spec::PacketOpcode::unreliable_connection_send_first,
                     input);
    peer.add_target({function.memory().address, function.key()});
    peer.add_target({of_other_domain.address, *key_of_other_domain});
    peer.add_target({to_be_read.address, *key_to_read});
    peer.add_target({without_key.address, function.key()});
    peer.add_target({windowed.address, *window});
    const auto act = [&peer] { peer.act(); };
    if (std::string wrong = board.act_and_check(input, operations_maximum, act); !wrong.empty())
      return wrong;
    peer.drain();
  }
  if (std::string wrong = board.run_until_idle(); !wrong.empty())
    return wrong;
  if (!std::all_of(outside.begin(), outside.end(),
                   [](const HostMemory* each) { return is_untouched(*each); }))
    return "memory outside of what the peer may write was written";
  if (!is_untouched(windowed, windowed.bytes / 2))
    return "memory beside the window was written";
  if (!queue_pair.destroy(driver))
    return "the queue pair cannot be destroyed";
  while (function.completion_queue().poll()) {
  }
  return function.send_message();
}

} // namespace fpga_verbs::test
