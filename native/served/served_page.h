#pragma once

#include "board/transaction_line.h"

#include <array>
#include <atomic>
#include <cstdint>

namespace fpga_verbs::served {

// The memory that a client and its server share for a BAR: a ring of transactions that the client fills, and
// the answer to its read. Each field has one writer, and the server checks everything that the client writes.
struct ServedPage {
  static constexpr uint64_t lines = 512;     // more than any burst of commands of one function
  static constexpr uint32_t most_reads = 64; // that wait for their answers
  static constexpr uint64_t expected_magic = 0x3265'7672'6573'7666; // "fvserve2"

  alignas(64) std::array<board::TransactionLine, lines> ring; // the client's
  // Written by the server.
  alignas(64) std::atomic<uint64_t> head;     // lines that it has taken
  std::atomic<uint32_t> server_sleeps;        // it wants a message on the socket; the sender clears this
  alignas(64) std::atomic<uint32_t> answered; // reads that it has answered; a client may sleep on it
  std::array<uint32_t, most_reads> answers;   // of the last reads, by their number modulo that
  // Set by a client that sleeps on `answered`, cleared by the server that wakes it.
  std::atomic<uint32_t> client_sleeps;
};
static_assert(std::atomic<uint64_t>::is_always_lock_free && std::atomic<uint32_t>::is_always_lock_free);

} // namespace fpga_verbs::served
