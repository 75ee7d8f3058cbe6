#pragma once

#include "served/served_page.h"

#include <array>
#include <cstdint>

namespace fpga_verbs::served {

// A transaction of a client: a copy with all fields checked.
struct ServedTransaction {
  board::MessageKind kind = board::MessageKind::write; // or read
  uint8_t bar = 0;
  uint16_t length = 0;
  uint64_t offset = 0;
  alignas(64) std::array<uint8_t, 384> data; // only `length` bytes have a meaning
};

enum class Taken : uint8_t { none, one, malformed };

// The server's end of a served BAR. It takes complete transactions, reads each field once, and checks the
// copy: a client that changes a line afterwards affects only itself.
class ServedConsumer {
public:
  ServedConsumer(ServedPage& page, unsigned underlying_function)
      : page_(page), underlying_function_(underlying_function) {}

  // malformed: the client violates the protocol, and nothing more is taken from it.
  Taken take(ServedTransaction& transaction);

  // Answers the oldest read that was taken and not answered.
  void answer(uint32_t value);

  // Announces that the server will sleep; returns whether it may: there is nothing to take or refuse.
  bool announce_sleep();
  void call_off_sleep() { page_.server_sleeps.store(0, std::memory_order_relaxed); }

  // The fault of a malformed line; "": none.
  const char* malformed() const { return malformed_; }

private:
  bool arrived(uint64_t position) const {
    return page_.ring[position % ServedPage::lines].sequence.load(std::memory_order_seq_cst) ==
           board::TransactionLine::sequence_at(position);
  }
  // Checks for complete lines, and copies the first.
  Taken look(board::TransactionLine& first);
  const char* check(const board::TransactionLine& first, uint64_t where) const;

  ServedPage& page_;
  unsigned underlying_function_;
  uint64_t head_ = 0;
  uint32_t answered_ = 0;
  const char* malformed_ = "";
};

} // namespace fpga_verbs::served
