#include "board/transaction.h"
#include "spec/commands.h"
#include "spec/registers.h"
#include "test/fuzz/fuzz_board.h"
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzz_targets.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

namespace fpga_verbs::test {

namespace {

constexpr unsigned double_word = 4;
constexpr unsigned transaction_bytes = 64;
constexpr unsigned operations_maximum = 200;

// A hostile function, whose actions the input decides.
class HostileFunction {
public:
  HostileFunction(FuzzBoard& board, FuzzFunction& function, FuzzInput& input)
      : board_(board), function_(function), host_(function.driver().function()), input_(input) {}

  void act() {
    switch (input_.below(12)) {
    case 0:
      return store_to_collect_buffer();
    case 1:
      return store(place_in(spec::RegionType::underlying_function), register_offset());
    case 2:
      return store(place_in(spec::RegionType::control), register_offset());
    case 3:
      return store({input_.below(8), 0}, input_.take<uint64_t>());
    case 4:
      return begin_command();
    case 5:
    case 6:
      return store_piece();
    case 7:
      return host_.write_slot(collect_buffer(), static_cast<spec::DoorbellSlot>(input_.below(3)),
                              queue_pair().number() ^ input_.below(2), input_.take<uint16_t>());
    case 8:
      return read();
    case 9:
      return board_.step(input_.byte());
    case 10:
      // enough for endless retransmissions to take effect
      return board_.advance(uint64_t{1} << input_.below(25));
    case 11:
      return post_receive();
    }
  }

private:
  HostQueuePair& queue_pair() { return function_.queue_pair(input_.below(2)); }

  // Usually one of the function's own.
  unsigned collect_buffer() {
    const unsigned number = input_.below(16);
    return number < FuzzBoard::virtual_collect_buffers ? number : host_.first_collect_buffer();
  }

  HostFunction::Place place_in(spec::RegionType region) {
    const bool own = region == spec::RegionType::underlying_function && input_.below(4) != 0;
    const unsigned pages =
        region == spec::RegionType::underlying_function ? FuzzBoard::underlying_functions : 1;
    return host_.place(region, own ? host_.underlying_function() : input_.below(pages));
  }

  uint64_t register_offset() {
    const auto offset = input_.take<uint16_t>();
    return input_.below(2) == 0 ? offset % 0x400u : offset;
  }

  // One permitted transaction, with bytes from the input.
  void store(HostFunction::Place place, uint64_t offset) {
    board::Transaction write;
    write.underlying_function = static_cast<uint8_t>(host_.underlying_function());
    write.bar = static_cast<uint8_t>(place.bar);
    write.offset = (place.offset + offset) / double_word * double_word;
    const auto room = static_cast<unsigned>(transaction_bytes - write.offset % transaction_bytes);
    const unsigned double_words = std::min(room / double_word, 1 + input_.below(16));
    write.length = static_cast<uint8_t>(double_words * double_word);
    write.byte_enables = ~uint64_t{0} >> (transaction_bytes - write.length);
    if (const uint8_t partial = input_.byte(); partial >= 0xc0) {
      write.byte_enables &= ~uint64_t{partial & 0x7u};                              // in the first DWORD
      write.byte_enables &= ~(uint64_t{partial >> 3 & 0x7u} << (write.length - 3)); // in the last
    }
    const std::span<const uint8_t> data = input_.take_bytes(write.length);
    std::copy(data.begin(), data.end(), write.data.begin());
    board_.board().post(write);
  }

  void store_to_collect_buffer() {
    const HostFunction::Place place = host_.place(spec::RegionType::virtual_collect_buffer, collect_buffer());
    const auto offset = input_.take<uint16_t>();
    store(place, offset % (offset < 0xc000 ? uint64_t{spec::command_bytes} : uint64_t{spec::page_bytes}));
  }

  // Puts a nearly valid command into a send queue; store_piece() writes it to a VCB.
  void begin_command() {
    spec::CommandHeader header;
    header.set_opcode(static_cast<spec::Opcode>(input_.below(13)));
    header.set_remote_address(function_.memory().address + input_.take<uint16_t>() % 5000);
    header.set_remote_key(function_.key() ^ input_.below(2));
    const uint8_t flags = input_.byte();
    header.set_signaled(flags & 1);
    header.set_fence(flags >> 1 & 1);
    header.set_solicited(flags >> 2 & 1);
    header.set_inline_data(flags >> 3 & 1);
    header.set_checksum_enable(flags >> 4 & 1);
    HostQueuePair& from = queue_pair();
    if (header.inline_data() != 0) {
      command_ = from.put(header, input_.take_bytes(input_.byte()));
    } else {
      std::array<spec::GatherEntry, spec::gather_entries> gather;
      const unsigned count = input_.below(spec::gather_entries + 1);
      for (unsigned i = 0; i < count; ++i)
        gather[i] = function_.entry(input_.byte() * 16u, input_.byte());
      header.set_gather_count(count);
      command_ = from.put(
          header, {reinterpret_cast<const uint8_t*>(gather.data()), count * sizeof(spec::GatherEntry)});
    }
    if (flags < 0x80)
      host_.write_command(collect_buffer(), command_.data(), command_.size() / double_word * double_word);
  }

  // Segments of the last begun command.
  void store_piece() {
    const HostFunction::Place place = host_.place(spec::RegionType::virtual_collect_buffer, collect_buffer());
    const size_t offset = size_t{input_.below(spec::segments)} * spec::segment_bytes;
    if (offset >= command_.size())
      return;
    board::Transaction write;
    write.underlying_function = static_cast<uint8_t>(host_.underlying_function());
    write.bar = static_cast<uint8_t>(place.bar);
    write.offset = place.offset + offset;
    const size_t bytes = std::min({command_.size() - offset, transaction_bytes - offset % transaction_bytes,
                                   size_t{1 + input_.below(8)} * spec::segment_bytes});
    write.length = static_cast<uint8_t>(bytes / double_word * double_word);
    if (write.length == 0)
      return;
    write.byte_enables = ~uint64_t{0} >> (transaction_bytes - write.length);
    std::memcpy(write.data.data(), command_.data() + offset, write.length);
    board_.board().post(write);
  }

  void read() {
    const auto offset = static_cast<uint32_t>(register_offset() / double_word * double_word);
    switch (input_.below(3)) {
    case 0:
      host_.read(offset);
      return;
    case 1:
      host_.read_control(offset);
      return;
    case 2:
      host_.read_identity(offset);
      return;
    }
  }

  void post_receive() {
    const std::array scatter{function_.entry(input_.byte() * 16u, input_.byte())};
    queue_pair().post_receive(scatter);
  }

  FuzzBoard& board_;
  FuzzFunction& function_;
  HostFunction& host_;
  FuzzInput& input_;
  std::span<const uint8_t> command_; // in the send queue
};

} // namespace

std::string fuzz_bar_transactions(std::span<const uint8_t> bytes) {
  FuzzInput input(bytes);
  const unsigned hostile_function = input.below(2);
  FuzzBoard board;
  auto control = std::make_unique<FuzzFunction>(board, 0);
  auto guest = std::make_unique<FuzzFunction>(board, 1);
  if (!control->ready() || !guest->ready())
    return "the functions do not come up";
  HostileFunction hostile(board, hostile_function == 0 ? *control : *guest, input);
  const auto act = [&hostile] { hostile.act(); };
  if (std::string wrong = board.act_and_check(input, operations_maximum, act); !wrong.empty())
    return wrong;
  // A guest must not disturb the control function.
  if (hostile_function != 0)
    return control->send_message();
  // A reset of the device repairs whatever the control function has done.
  guest.reset();
  control.reset();
  {
    HostFunction host(board.board(), 0);
    spec::control::Control request;
    request.set_reset(1);
    host.write_control(spec::control::control, request.bits);
  }
  FuzzFunction again(board, 0);
  return again.ready() ? again.send_message() : "the device does not come up after its reset";
}

} // namespace fpga_verbs::test
