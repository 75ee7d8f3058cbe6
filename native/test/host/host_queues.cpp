#include "test/host/host_queues.h"

#include "hca/port/port_attributes.h"
#include "spec/registers.h"

#include <cstring>
#include <initializer_list>

namespace fpga_verbs::test {

namespace {

// Alignment of a send or receive entry; a page holds as many as fit.
constexpr size_t entry_bytes = spec::command_bytes;
constexpr size_t entries_per_page = spec::page_bytes / entry_bytes;

size_t place_of(size_t slot) {
  return slot / entries_per_page * spec::page_bytes + slot % entries_per_page * entry_bytes;
}

size_t area_bytes(unsigned entries_log2) {
  return ((size_t{1} << entries_log2) + entries_per_page - 1) / entries_per_page * spec::page_bytes;
}

void put_reference(HostMemory& references, size_t slot, uint16_t sequence_number, size_t length) {
  spec::WorkQueueReference reference;
  reference.set_offset(static_cast<uint32_t>(place_of(slot)));
  reference.set_sequence_number(sequence_number);
  reference.set_length(static_cast<uint32_t>(length));
  std::memcpy(references.at(slot * sizeof reference), &reference, sizeof reference);
}

constexpr uint32_t mask_of(std::initializer_list<spec::QueuePairAttribute> attributes) {
  uint32_t mask = 0;
  for (const spec::QueuePairAttribute attribute : attributes)
    mask |= 1u << static_cast<unsigned>(attribute);
  return mask;
}

template <class Structure> std::span<const uint8_t> bytes_of(const Structure& structure) {
  return {reinterpret_cast<const uint8_t*>(&structure), sizeof structure};
}

uint32_t pages_of(const HostMemory& memory) { return static_cast<uint32_t>(memory.bytes / spec::page_bytes); }

bool modify(HostDriver& driver, uint32_t number, const spec::QueuePairAttributes& attributes) {
  const auto answer = driver.execute(spec::ManagementOpcode::modify_queue_pair, number, bytes_of(attributes));
  return answer && answer->status() == spec::ManagementStatus::success;
}

} // namespace

HostCompletionQueue::HostCompletionQueue(HostDriver& driver, unsigned entries_log2)
    : entries_log2_(entries_log2),
      ring_(driver.function().allocate(sizeof(spec::CompletionQueueEntry) << entries_log2)),
      head_(driver.function().allocate(sizeof(spec::RingHead))) {
  spec::CreateCompletionQueueInput input;
  input.set_entries_log2(entries_log2);
  input.set_pages(pages_of(ring_));
  input.set_head_address(head_.address);
  number_ = driver
                .make(spec::ManagementOpcode::create_completion_queue,
                      MailboxContent().add(input).add_pages(ring_).bytes())
                .value_or(0);
}

std::optional<spec::CompletionQueueEntry> HostCompletionQueue::poll() {
  const size_t at = (taken_ & ((1u << entries_log2_) - 1)) * sizeof(spec::CompletionQueueEntry);
  const auto entry = ring_.entry<spec::CompletionQueueEntry>(at, ((taken_ >> entries_log2_) & 1) ^ 1);
  if (!entry)
    return std::nullopt;
  ++taken_;
  head_.record().store(taken_, std::memory_order_release);
  return entry;
}

void HostCompletionQueue::arm(HostFunction& through) {
  spec::underlying_function::CompletionQueueArm arm;
  arm.set_completion_queue(number_);
  arm.set_head(taken_);
  through.write64(spec::underlying_function::completion_queue_arm, arm.bits);
}

HostQueuePair::HostQueuePair(HostDriver& driver, const HostQueuePairOptions& options)
    : entries_log2_(options.entries_log2), service_type_(options.service_type),
      send_references_(driver.function().allocate(sizeof(spec::WorkQueueReference) << entries_log2_)),
      send_entries_(driver.function().allocate(area_bytes(entries_log2_))),
      receive_references_(driver.function().allocate(sizeof(spec::WorkQueueReference) << entries_log2_)),
      receive_entries_(driver.function().allocate(area_bytes(entries_log2_))),
      receive_tail_(driver.function().allocate(sizeof(spec::ReceiveQueueTail))) {
  if (options.shares)
    shared_receive_queue_ = make_shared_receive_queue(driver, options.protection_domain);
  spec::CreateQueuePairInput input;
  input.set_service_type(service_type_);
  input.set_send_queue_log2(entries_log2_);
  input.set_receive_queue_log2(entries_log2_);
  input.set_protection_domain(options.protection_domain);
  input.set_send_completion_queue(options.completion_queue);
  input.set_receive_completion_queue(options.completion_queue);
  input.set_send_queue_pages(pages_of(send_references_));
  input.set_send_entry_pages(pages_of(send_entries_));
  if (options.shares) {
    input.set_shared_receive_queue(shared_receive_queue_);
  } else {
    input.set_receive_queue_pages(pages_of(receive_references_));
    input.set_receive_entry_pages(pages_of(receive_entries_));
    input.set_receive_tail_address(receive_tail_.address);
  }
  MailboxContent content;
  content.add(input).add_pages(send_references_).add_pages(send_entries_);
  if (!options.shares)
    content.add_pages(receive_references_).add_pages(receive_entries_);
  number_ = driver.make(spec::ManagementOpcode::create_queue_pair, content.bytes()).value_or(0);
}

uint32_t HostQueuePair::make_shared_receive_queue(HostDriver& driver, uint32_t protection_domain) {
  spec::CreateSharedReceiveQueueInput input;
  input.set_queue_log2(entries_log2_);
  input.set_protection_domain(protection_domain);
  input.set_queue_pages(pages_of(receive_references_));
  input.set_entry_pages(pages_of(receive_entries_));
  input.set_tail_address(receive_tail_.address);
  MailboxContent content;
  content.add(input).add_pages(receive_references_).add_pages(receive_entries_);
  return driver.make(spec::ManagementOpcode::create_shared_receive_queue, content.bytes()).value_or(0);
}

bool HostQueuePair::connect(HostDriver& driver, const HostPeer& peer) {
  using enum spec::QueuePairAttribute;
  constexpr unsigned every_right = 0b1111; // local write, remote write, read and atomics
  spec::QueuePairAttributes attributes;
  attributes.set_attribute_mask(
      mask_of({spec::QueuePairAttribute::state, access_flags, partition_key_index, port}));
  attributes.set_state(spec::QueuePairState::init);
  attributes.set_access_flags(every_right);
  attributes.set_port(1);
  if (!modify(driver, number_, attributes))
    return false;
  attributes = {};
  constexpr uint32_t to_receive = mask_of(
      {spec::QueuePairAttribute::state, address_vector, path_mtu, destination_queue_pair, receive_psn});
  constexpr uint32_t to_answer = mask_of({max_destination_read_atomic, min_receiver_not_ready_timer});
  attributes.set_attribute_mask(to_receive | (is_reliable() ? to_answer : 0));
  attributes.set_state(spec::QueuePairState::ready_to_receive);
  attributes.set_address_vector(
      std::span<const uint8_t, sizeof peer.address>(bytes_of(peer.address).data(), sizeof peer.address));
  attributes.set_path_mtu(peer.path_mtu);
  attributes.set_destination_queue_pair(peer.queue_pair_number);
  attributes.set_receive_psn(peer.receive_psn);
  attributes.set_max_destination_read_atomic(spec::read_atomic_maximum);
  attributes.set_min_receiver_not_ready_timer(1); // 10 µs
  if (!modify(driver, number_, attributes))
    return false;
  attributes = {};
  constexpr uint32_t to_send = mask_of({spec::QueuePairAttribute::state, send_psn});
  constexpr uint32_t to_retry = mask_of({timeout, retry_count, receiver_not_ready_retry, max_read_atomic});
  attributes.set_attribute_mask(to_send | (is_reliable() ? to_retry : 0));
  attributes.set_state(spec::QueuePairState::ready_to_send);
  attributes.set_timeout(peer.timeout);
  attributes.set_retry_count(7);
  attributes.set_receiver_not_ready_retry(7);
  attributes.set_send_psn(peer.send_psn);
  attributes.set_max_read_atomic(spec::read_atomic_maximum);
  return modify(driver, number_, attributes);
}

bool HostQueuePair::set_state(HostDriver& driver, spec::QueuePairState state) {
  spec::QueuePairAttributes attributes;
  attributes.set_attribute_mask(mask_of({spec::QueuePairAttribute::state}));
  attributes.set_state(state);
  return modify(driver, number_, attributes);
}

bool HostQueuePair::destroy(HostDriver& driver) {
  using enum spec::ManagementOpcode;
  return driver.unmake(destroy_queue_pair, number_) &&
         (shared_receive_queue_ == 0 || driver.unmake(destroy_shared_receive_queue, shared_receive_queue_));
}

std::span<const uint8_t> HostQueuePair::put(spec::CommandHeader header, std::span<const uint8_t> payload) {
  const size_t slot = send_next_ & ((size_t{1} << entries_log2_) - 1);
  header.set_queue_pair_number(number_);
  header.set_send_queue_sequence_number(send_next_);
  header.set_version(spec::command_version);
  header.set_length(static_cast<uint32_t>(payload.size()));
  uint8_t* const entry = send_entries_.at(place_of(slot));
  std::memcpy(entry, &header, sizeof header);
  std::memset(entry + sizeof header, 0, entry_bytes - sizeof header);
  if (!payload.empty())
    std::memcpy(entry + sizeof header, payload.data(), payload.size());
  const size_t length = sizeof header + payload.size();
  put_reference(send_references_, slot, send_next_, length);
  ++send_next_;
  return {entry, length};
}

void HostQueuePair::post(HostFunction& through, unsigned virtual_collect_buffer,
                         const spec::CommandHeader& header, std::span<const uint8_t> payload) {
  store(through, virtual_collect_buffer, header, payload);
  through.fence();
}

void HostQueuePair::store(HostFunction& through, unsigned virtual_collect_buffer,
                          const spec::CommandHeader& header, std::span<const uint8_t> payload) {
  const std::span<const uint8_t> command = put(header, payload);
  constexpr size_t unit = spec::segment_bytes;
  through.store_command(virtual_collect_buffer, command.data(), (command.size() + unit - 1) / unit * unit);
}

void HostQueuePair::post_receive(std::span<const spec::GatherEntry> scatter) {
  const size_t slot = receive_next_ & ((size_t{1} << entries_log2_) - 1);
  spec::ReceiveEntryHeader header;
  header.set_scatter_count(static_cast<uint32_t>(scatter.size()));
  header.set_sequence_number(receive_next_);
  uint8_t* const entry = receive_entries_.at(place_of(slot));
  std::memcpy(entry, &header, sizeof header);
  if (!scatter.empty())
    std::memcpy(entry + sizeof header, scatter.data(), scatter.size_bytes());
  put_reference(receive_references_, slot, receive_next_, sizeof header + scatter.size_bytes());
  ++receive_next_;
  spec::ReceiveQueueTail tail;
  tail.set_tail(receive_next_);
  receive_tail_.record().store(tail.dwords[0], std::memory_order_release);
}

spec::AddressVector address_of(spec::LinkLayer link_layer, unsigned board_number,
                               unsigned underlying_function) {
  hca::HcaParameters parameters;
  parameters.link_layer = link_layer;
  parameters.board_number = board_number;
  const hca::PortAttributes port(parameters);
  constexpr unsigned number = 1;
  spec::AddressVector address;
  address.set_port(number);
  address.set_is_global(1);
  address.set_hop_limit(64);
  address.set_destination_local_identifier(port.local_identifier(number, underlying_function));
  const wire::MacAddress mac = port.mac(number, underlying_function);
  uint32_t low = 0;
  uint16_t high = 0;
  std::memcpy(&low, mac.data(), sizeof low);
  std::memcpy(&high, mac.data() + sizeof low, sizeof high);
  address.set_destination_mac_low(low);
  address.set_destination_mac_high(high);
  address.set_destination_gid(port.gids(number, underlying_function)[0]);
  return address;
}

} // namespace fpga_verbs::test
