#pragma once

#include "parsed_packets.h"
#include "receive_queue_pairs.h"

#include "hca/respond/negative_acknowledge.h"

#include <array>
#include <cstdint>

namespace fpga_verbs::bench {

// Compares receive records of RTL with those of the model.
class ReceiveRecords {
public:
  static constexpr uint32_t never_answered = ~0U; // PSN of an answer that the model has not set

  explicit ReceiveRecords(const Place& place) : place_(place) {}

  uint64_t kept = 0;
  uint64_t repeated = 0;
  uint64_t not_ready = 0;
  uint64_t invalid = 0;
  uint64_t out_of_sequence = 0;

  // The record of an accepted packet, which a reader has read.
  template <class Record>
  void compare(const Record& record, const ReceivingQueuePair::Accepted& accepted, uint32_t reader) {
    std::array<uint32_t, record_words + 1> words{};
    for (uint32_t bit = 0; bit < record_bits; ++bit) {
      const uint32_t from = reader * record_bits + bit;
      words[bit / 32] |= (record[from / 32] >> from % 32 & 1) << bit % 32;
    }
    Members members(words.data());
    const hca::Packet& model = accepted.record;
    const wire::ParsedPacket& parsed = model.parsed;
    const bool is_refused = accepted.action == spec::ReceiveAction::refuse;
    const bool is_acknowledged = accepted.action == spec::ReceiveAction::acknowledge;
    const bool is_executed = !is_refused && !model.duplicate;
    const bool takes = is_executed && (parsed.traits().operation == spec::PacketOperation::send ||
                                       parsed.traits().completes_receive());
    const bool is_placed = !is_refused && !is_acknowledged;
    const auto compare = [&](const char* what, uint32_t bits, uint64_t value, bool is_defined) {
      const uint64_t rtl = members.take(bits);
      if (is_defined)
        expect(place_, what, rtl, value);
    };
    compare("length of the receive entry", 10, model.receive_entry_length, takes);
    compare("offset of the receive entry", 32, model.receive_entry_offset, takes);
    compare("number of the receive work request", 16, model.receive_sequence_number, takes);
    compare("remote key", 32, model.remote_key, is_placed);
    compare("remote address", 64, model.remote_address, is_placed);
    compare("message length", 32, model.message_length, is_placed);
    compare("message offset", 32, model.message_offset, is_executed);
    compare("exposed", 1, model.payload_bytes != parsed.payload_bytes, true);
    compare("receive work request kept", 1, model.receive_kept, is_executed);
    compare("duplicate", 1, model.duplicate, true);
    compare("last", 1, model.last, !is_refused);
    compare("first", 1, model.first, !is_refused);
    compare("syndrome", 8, model.syndrome, is_refused);
    compare("MSN", 24, model.message_sequence_number, !is_passed(accepted));
    compare("PSN of the answer", 24, model.answer_psn, !is_passed(accepted));
    kept += is_executed && model.receive_kept;
    repeated += is_placed && model.duplicate;
    if (is_refused)
      ++(hca::is_receiver_not_ready(model.syndrome)                                ? not_ready
         : model.syndrome == static_cast<uint8_t>(spec::Syndrome::invalid_request) ? invalid
                                                                                   : out_of_sequence);
  }
  // Executed or not, a queue pair that has failed took the entry from a shared queue.
  static bool is_passed(const ReceivingQueuePair::Accepted& accepted) {
    return accepted.record.answer_psn == never_answered;
  }

private:
  static constexpr uint32_t record_bits = 279;
  static constexpr uint32_t record_words = (record_bits + 31) / 32;

  const Place& place_;
};

} // namespace fpga_verbs::bench
