#include "test/fuzz/fuzz_board.h"

#include "spec/parameters.h"

#include <array>
#include <atomic>
#include <cstring>

namespace fpga_verbs::test {

namespace {

constexpr unsigned queue_entries_log2 = 3;
constexpr unsigned completion_entries_log2 = 6;

hca::HcaParameters parameters_of(spec::LinkLayer link_layer) {
  hca::HcaParameters parameters;
  parameters.link_layer = link_layer;
  parameters.underlying_functions = FuzzBoard::underlying_functions;
  parameters.virtual_collect_buffers = FuzzBoard::virtual_collect_buffers;
  parameters.physical_collect_buffers = 5;
  parameters.dedicated_physical_collect_buffers = 3;
  parameters.management_physical_collect_buffers = 1;
  parameters.transmit_virtual_lanes = 4;
  parameters.execution_credits_per_lane = 1;
  parameters.completion_credits_per_lane = 1;
  parameters.shared_execution_credits = 2;
  parameters.shared_completion_credits = 2;
  parameters.queue_pair_contexts_cached = 3;
  parameters.queue_pairs = 12;
  parameters.completion_queues = 8;
  parameters.page_table_entries = 256;
  parameters.memory_keys = 16;
  return parameters;
}

} // namespace

FuzzBoard::FuzzBoard(spec::LinkLayer link_layer) {
  static std::atomic<unsigned> made{0};
  fabric_ = "fuzz " + std::to_string(made++);
  board::EmulatedBoardOptions options;
  options.progress = board::ProgressMode::stepped;
  options.underlying_functions = underlying_functions;
  options.ports.fabric = fabric_;
  options.ports.link_layer = link_layer;
  const board::DeviceFactory make_device = [this, link_layer](const board::DeviceSlot& slot) {
    auto device = std::make_unique<board::HcaDevice>(parameters_of(link_layer), slot);
    device_ = device.get();
    return device;
  };
  std::string failure;
  board_ = board::EmulatedBoard::make(options, make_device, failure);
}

std::string FuzzBoard::check() const {
  const char* const wrong = device_->verify();
  return wrong == nullptr ? std::string() : std::string(wrong) + " does not add up";
}

std::string FuzzBoard::run_until_idle() {
  constexpr uint64_t timeout = 200'000;
  if (board_->stepped()->step(timeout) == timeout)
    return "the board does not come to rest";
  return check();
}

FuzzFunction::FuzzFunction(FuzzBoard& board, unsigned underlying_function, spec::LinkLayer link_layer)
    : driver_(board.board(), underlying_function),
      protection_domain_(driver_.make(spec::ManagementOpcode::create_protection_domain).value_or(0)),
      memory_(driver_.function().allocate(spec::page_bytes)),
      key_(driver_.register_memory(memory_, protection_domain_, every_right).value_or(0)),
      completion_queue_(driver_, completion_entries_log2),
      first_(driver_, {.protection_domain = protection_domain_,
                       .completion_queue = completion_queue_.number(),
                       .entries_log2 = queue_entries_log2}),
      second_(driver_, {.protection_domain = protection_domain_,
                        .completion_queue = completion_queue_.number(),
                        .entries_log2 = queue_entries_log2}) {
  const spec::AddressVector own = address_of(link_layer, board.board().board_number(), underlying_function);
  connected_ = first_.connect(driver_, {.queue_pair_number = second_.number(), .address = own}) &&
               second_.connect(driver_, {.queue_pair_number = first_.number(), .address = own});
}

bool FuzzFunction::ready() const { return driver_.ready() && key_ != 0 && connected_; }

spec::GatherEntry FuzzFunction::entry(uint32_t offset, uint32_t length) const {
  spec::GatherEntry entry;
  entry.set_address(memory_.address + offset);
  entry.set_length(length);
  entry.set_local_key(key_);
  return entry;
}

std::string FuzzFunction::send_message() {
  constexpr std::array<uint8_t, 13> message{'s', 't', 'i', 'l', 'l', ' ', 'w', 'o', 'r', 'k', 'i', 'n', 'g'};
  constexpr uint32_t place = 100;
  std::memset(memory_.at(), 0, memory_.bytes);
  const std::array scatter{entry(place, message.size())};
  second_.post_receive(scatter);
  spec::CommandHeader header;
  header.set_opcode(spec::Opcode::send);
  header.set_inline_data(1);
  header.set_signaled(1);
  first_.post(driver_.function(), driver_.function().first_collect_buffer(), header, message);
  constexpr unsigned timeout = 10'000;
  unsigned completions = 0;
  for (unsigned i = 0; i < timeout && completions < 2; ++i) {
    const auto completion = completion_queue_.poll();
    if (!completion) {
      driver_.function().wait_a_little();
      continue;
    }
    if (completion->status() != spec::CompletionStatus::success)
      return std::string("a message ends with ") + spec::name(completion->status());
    ++completions;
  }
  if (completions < 2)
    return "a message is not completed";
  return std::memcmp(memory_.at(place), message.data(), message.size()) == 0
             ? std::string()
             : std::string("a message arrives with wrong bytes");
}

} // namespace fpga_verbs::test
