#pragma once

#include "bench.h"
#include "hca/collect/collect_buffer.h"
#include "hca/collect/doorbell_checksum.h"
#include "hca/collect/scoreboard.h"
#include "spec/queues.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <vector>

// The surroundings of collect_buffer in its bench: queue pairs, and the commands that the host writes.
namespace fpga_verbs::bench {

constexpr uint32_t beat_bytes = BEAT_BYTES;
constexpr uint32_t functions = UNDERLYING_FUNCTIONS;
constexpr uint32_t vcbs = VIRTUAL_COLLECT_BUFFERS;
constexpr uint32_t pcbs = PHYSICAL_COLLECT_BUFFERS;
constexpr uint32_t dedicated = DEDICATED_PHYSICAL_COLLECT_BUFFERS;
constexpr uint32_t management = MANAGEMENT_PHYSICAL_COLLECT_BUFFERS;
constexpr uint32_t page_bytes = 4096;
// Depends on the seed: the direct variant if it is even.
inline spec::ScoreboardVariant scoreboard_variant = spec::ScoreboardVariant::masked;
// Maximum clocks from the completing beat to the kick: the kick may wait behind control commands, for room
// for data units, and for checksums of other commands.
constexpr uint32_t longest_wait = 200;

class TestClock final : public hca::Clock {
public:
  uint64_t now() const override { return ticks; }
  uint64_t ticks = 0;
};

// Records the RTL's outputs for kick records. It accepts each at once.
class RecordHost final : public hca::HostPort {
public:
  void turn_on(hca::KickRecords& kick_records) {
    spec::underlying_function::KickRecordControl control;
    control.set_enable(1);
    control.set_entries_log2(3);
    for (unsigned function = 0; function < functions; ++function)
      kick_records.set_control(function, control);
  }
  hca::DmaStatus read(unsigned function, uint64_t, void* data, size_t) override {
    spec::RingHead head;
    head.set_head(written_[function]);
    std::memcpy(data, &head, sizeof(head));
    return hca::DmaStatus::ok;
  }
  hca::DmaStatus write(unsigned function, uint64_t, const void* data, size_t) override {
    ++written_[function];
    spec::KickRecord whole;
    std::memcpy(whole.dwords.data(), data, sizeof(whole));
    spec::KickRecord told;
    told.set_underlying_function(whole.underlying_function());
    told.set_origin(whole.origin());
    told.set_kick_number(whole.kick_number());
    told.set_virtual_collect_buffer(whole.virtual_collect_buffer());
    told.set_opcode(whole.opcode());
    told.set_queue_pair_number(whole.queue_pair_number());
    told.set_length(whole.length());
    told.set_begin(whole.begin());
    records.push_back(told);
    return hca::DmaStatus::ok;
  }
  void interrupt(unsigned, unsigned) override { std::abort(); }
  std::deque<spec::KickRecord> records;

private:
  std::array<uint32_t, functions> written_{};
};

// A data unit as it appears at a port of the RTL.
template <class Unit, class Port> Unit spec_unit(const Port& port) {
  Unit unit;
  std::memcpy(unit.dwords.data(), &port, sizeof(unit));
  return unit;
}

class KeptEvents final : public hca::EventPort {
public:
  void report(const spec::EventUnit& event) override { events.push_back(event); }
  std::deque<spec::EventUnit> events;
};

// Queue pair n of 1 to 15 belongs to function n modulo the number of functions; n also determines its level
// and secret.
class QueuePairs final : public hca::QueuePairPort {
public:
  static constexpr uint32_t count = 16;
  const spec::QueuePairControl* find_control(unsigned function, uint32_t number) override {
    if (number == 0 || number >= count || number % functions != function)
      return nullptr;
    control_ = {};
    control_.set_quality_of_service_level(level(number));
    control_.set_checksum_secret(number * 0x9e3779b9U);
    return &control_;
  }
  static spec::QualityOfServiceLevel level(uint32_t number) {
    return static_cast<spec::QualityOfServiceLevel>(number / 2 % 2);
  }

private:
  spec::QueuePairControl control_;
};

struct Beat {
  uint32_t address = 0;
  uint8_t user = 0;
  uint64_t strobes = 0;
  std::array<uint8_t, 64> data{};
  bool last = false;
};

// Consecutive beats of one burst; `single`: the host leaves gaps.
struct Burst {
  std::vector<Beat> beats;
  uint8_t size = 0; // log2 of the bytes of a beat
};

// Sets the checksum, so that the sum of the command and its queue pair's secret is all ones.
inline void make_checksum(std::array<uint8_t, spec::command_bytes>& bytes, uint32_t number, uint32_t length) {
  spec::CommandHeader header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  header.set_checksum(0);
  std::memcpy(bytes.data(), &header, sizeof(header));
  uint64_t sum = number * 0x9e3779b9U;
  sum += hca::dword_sum(bytes.data(), hca::segments_needed(length) * spec::segment_bytes);
  sum = (sum & 0xffffffffU) + (sum >> 32);
  sum = (sum & 0xffffffffU) + (sum >> 32);
  header.set_checksum(~static_cast<uint32_t>(sum));
  std::memcpy(bytes.data(), &header, sizeof(header));
}

// A management command, sometimes with a field that must be refused.
inline std::array<uint8_t, spec::command_bytes> make_management_command(Random& random, uint32_t& length) {
  std::array<uint8_t, spec::command_bytes> bytes{};
  for (uint8_t& byte : bytes)
    byte = static_cast<uint8_t>(random.bits());
  spec::CommandHeader header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  header.dwords[0] = header.dwords[1] = 0;
  length = random.once(3) ? 0 : random.below(257);
  header.set_queue_pair_number(random.once(20) ? 1 : 0);
  header.set_send_queue_sequence_number(static_cast<uint32_t>(random.below(65536)));
  header.set_length(length);
  header.set_version(random.once(30) ? 2 : spec::command_version);
  header.set_quality_of_service_level(static_cast<spec::QualityOfServiceLevel>(random.once(30) ? 1 : 0));
  std::memcpy(bytes.data(), &header, sizeof(header));
  return bytes;
}

// A command of the function, sometimes with a field that must be refused.
inline std::array<uint8_t, spec::command_bytes> make_command(Random& random, uint32_t function,
                                                             uint32_t& length) {
  std::array<uint8_t, spec::command_bytes> bytes{};
  for (uint8_t& byte : bytes)
    byte = static_cast<uint8_t>(random.bits());
  spec::CommandHeader header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  header.dwords[0] = header.dwords[1] = 0;
  uint32_t number = random.below(QueuePairs::count);
  if (!random.once(12))
    while (number % functions != function || number == 0)
      number = random.below(QueuePairs::count);
  length = random.once(3) ? 0 : random.once(20) ? 257 + random.below(255) : random.below(257);
  header.set_opcode(static_cast<spec::Opcode>(random.below(4)));
  header.set_queue_pair_number(number);
  header.set_send_queue_sequence_number(static_cast<uint32_t>(random.below(65536)));
  header.set_length(length);
  header.set_version(random.once(20) ? 2 : spec::command_version);
  header.set_quality_of_service_level(QueuePairs::level(number));
  if (random.once(20))
    header.dwords[1] ^= 1U << 31; // reserved, or another level
  if (random.once(20))
    header.dwords[1] ^= 1U << 25;
  const bool checked = random.once(2);
  header.set_checksum_enable(checked);
  std::memcpy(bytes.data(), &header, sizeof(header));
  if (checked && !random.once(6))
    make_checksum(bytes, number, std::min(length, spec::command_payload_bytes));
  return bytes;
}

} // namespace fpga_verbs::bench
