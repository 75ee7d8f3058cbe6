#include "test/counts/station.h"

#include "board/function_view.h"
#include "board/hca_board.h"

#include <algorithm>
#include <span>
#include <string>

namespace fpga_verbs::test {

namespace {

constexpr unsigned every_right = 0b1111; // bits of spec::AccessFlag
constexpr unsigned entries_log2 = 6;
constexpr unsigned kick_records_log2 = 7;
constexpr size_t region_bytes = size_t{1} << 20;

std::span<const uint8_t> bytes_of(const spec::GatherEntry& entry) {
  return {reinterpret_cast<const uint8_t*>(&entry), sizeof entry};
}

} // namespace

Station::Station() {
  board::HcaBoardOptions options;
  options.board.ports.fabric = "counts";
  std::string failure;
  board_ = board::make_hca_board(options, failure);
  if (board_ == nullptr)
    return;
  driver_ = std::make_unique<HostDriver>(*board_, 0);
  const uint32_t protection_domain =
      driver_->make(spec::ManagementOpcode::create_protection_domain).value_or(0);
  sent_ = make_region(protection_domain);
  received_ = make_region(protection_domain);
  completion_queue_ = std::make_unique<HostCompletionQueue>(*driver_, entries_log2 + 1);
  queue_pair_ = std::make_unique<HostQueuePair>(
      *driver_, HostQueuePairOptions{.protection_domain = protection_domain,
                                     .completion_queue = completion_queue_->number(),
                                     .entries_log2 = entries_log2});
}

Station::Region Station::make_region(uint32_t protection_domain) {
  const HostMemory memory = driver_->function().allocate(region_bytes);
  return {memory, driver_->register_memory(memory, protection_domain, every_right).value_or(0)};
}

bool Station::connect(const Station& peer) {
  const HostPeer end{.queue_pair_number = peer.queue_pair_->number(),
                     .address = address_of(spec::LinkLayer::ethernet, peer.board_->board_number(), 0),
                     .path_mtu = spec::PathMtu::mtu_4096};
  return queue_pair_->connect(*driver_, end);
}

void Station::post_receive(uint32_t bytes) {
  spec::GatherEntry entry;
  entry.set_address(received_.memory.address);
  entry.set_length(bytes);
  entry.set_local_key(received_.key);
  queue_pair_->post_receive({&entry, 1});
}

void Station::store(spec::Opcode opcode, const Station& peer, uint32_t bytes, bool signaled) {
  spec::CommandHeader header;
  header.set_opcode(opcode);
  header.set_gather_count(1);
  spec::GatherEntry entry;
  entry.set_address(sent_.memory.address);
  entry.set_length(bytes);
  entry.set_local_key(sent_.key);
  store(header, peer, signaled, bytes_of(entry));
}

void Station::store_inline(spec::Opcode opcode, const Station& peer, uint32_t bytes, bool signaled) {
  spec::CommandHeader header;
  header.set_opcode(opcode);
  header.set_inline_data(1);
  store(header, peer, signaled, {sent_.memory.at(), bytes});
}

void Station::store(spec::CommandHeader& header, const Station& peer, bool signaled,
                    std::span<const uint8_t> payload) {
  header.set_signaled(signaled ? 1 : 0);
  if (header.opcode() != spec::Opcode::send) {
    header.set_remote_address(peer.received_.memory.address);
    header.set_remote_key(peer.received_.key);
  }
  HostFunction& function = driver_->function();
  queue_pair_->store(function, function.first_collect_buffer() + next_collect_buffer_, header, payload);
  next_collect_buffer_ = (next_collect_buffer_ + 1) % function.collect_buffers();
}

void Station::ring() { driver_->function().fence(); }

void Station::record_kicks() {
  HostFunction& function = driver_->function();
  kick_records_ = function.allocate(sizeof(spec::KickRecord) << kick_records_log2);
  kick_record_head_ = function.allocate(sizeof(spec::RingHead));
  spec::underlying_function::KickRecordControl control;
  control.set_enable(1);
  control.set_entries_log2(kick_records_log2);
  function.write64(spec::underlying_function::kick_record_address, kick_records_.address);
  function.write64(spec::underlying_function::kick_record_head_address, kick_record_head_.address);
  function.write(spec::underlying_function::kick_record_control, control.bits);
}

bool Station::take_kick_records(unsigned commands) {
  kick_records_taken_ += 2 * commands; // two per command: kicked and sent
  const uint32_t newest = kick_records_taken_ - 1;
  const size_t at = (newest & ((1u << kick_records_log2) - 1)) * sizeof(spec::KickRecord);
  kick_record_head_.record().store(kick_records_taken_, std::memory_order_release);
  return kick_records_.entry<spec::KickRecord>(at, ~(newest >> kick_records_log2) & 1).has_value();
}

bool Station::be_watched() {
  using board::WatchKind;
  board::FunctionView view(board_, 0);
  for (const WatchKind kind : {WatchKind::kicks, WatchKind::kicks, WatchKind::completions, WatchKind::events})
    watches_.push_back(view.watch(kind));
  return std::ranges::none_of(watches_, [](const auto& watch) { return watch == nullptr; });
}

bool Station::complete() {
  for (;;) {
    if (const auto completion = completion_queue_->poll())
      return completion->status() == spec::CompletionStatus::success;
    driver_->function().advance();
  }
}

} // namespace fpga_verbs::test
