#pragma once

#include "hca/base/bit_mask.h"
#include "hca/collect/collect_buffer_port.h"
#include "hca/collect/half_written_list.h"
#include "hca/collect/virtual_collect_buffer.h"
#include "spec/data_units.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace fpga_verbs::hca {

// collect_buffer of the device model.
class CollectBuffer final : public CollectBufferPort {
public:
  explicit CollectBuffer(const Ports& ports);

  bool can_accept_write() const override { return ports_.can_accept_write(); }
  void write(const BarWrite& write) override;
  bool write_burst(const BarWrite& burst) override;
  void write_management_page(unsigned underlying_function, const BarWrite& write) override;

  // Reports one half-written command that has exceeded the limit.
  bool step() override;
  uint64_t next_deadline() const override;
  void set_half_written_limit(uint64_t ticks) override { half_written_limit_ = ticks; }
  uint64_t half_written_limit() const override { return half_written_limit_; }

  void release(uint16_t buffer) override;
  std::optional<uint16_t> take_dedicated() override;
  std::optional<uint16_t> take_management() override;
  bool has_dedicated_to_spare() const override;
  void on_dedicated_freed(Waker dedicated_freed) override { dedicated_freed_ = dedicated_freed; }
  void fetched(uint16_t) override {}
  uint32_t take_kick_number() override { return kick_number_++; }

  std::optional<uint16_t> management_lock(unsigned underlying_function) const override;
  std::optional<uint16_t> lock_management(unsigned underlying_function) override;
  void unlock_management(unsigned underlying_function) override;

  Inspection inspect(unsigned virtual_collect_buffer) const override;
  void cancel(unsigned virtual_collect_buffer) override;
  void close(unsigned virtual_collect_buffer) override;
  void open(unsigned virtual_collect_buffer) override;

  bool set_bar(unsigned underlying_function, const VirtualCollectBufferBar& bar) override;
  void set_bars(const std::array<VirtualCollectBufferBar, spec::underlying_functions>& bars) override;
  const VirtualCollectBufferBar& bar(unsigned underlying_function) const override {
    return functions_.bar(underlying_function);
  }
  bool set_allotment(unsigned underlying_function, const CollectAllotment& allotment) override {
    return groups_.set_allotment(underlying_function, allotment);
  }
  void keep_guarantees() override;
  const CollectGroupTable& groups() const override { return groups_; }

  const char* verify() const override;

private:
  // The part of a 64 B line that a write contains.
  struct Portion {
    uint32_t line = 0;
    uint32_t dwords = 0;  // 16 bits, bit i = DWORD i of the line
    uint32_t first = 0;   // the DWORD of the line that `data` begins with
    bool partial = false; // it holds part of a DWORD
    const uint8_t* data = nullptr;
  };
  // Result of the check of segment 0.
  struct Admission {
    spec::Refusal refusal = spec::Refusal::none;
    uint32_t checksum_secret = 0;
  };
  struct Progress {
    spec::Refusal refusal = spec::Refusal::none;
    bool complete = false;
  };

  static Portion portion_of(const BarWrite& write, uint32_t offset);
  static uint32_t copy_segment(const Portion& portion, uint32_t segment, uint32_t* target);

  void write_command(uint16_t buffer, const Portion& portion, uint32_t offset);
  void write_slots(uint16_t buffer, const Portion& portion, uint32_t offset);
  spec::Refusal ring_slot(spec::DoorbellSlot slot, unsigned underlying_function,
                          const spec::DoorbellSlotWrite& value);

  inline bool may_write(const BarWrite& write) const;
  void bind(uint16_t buffer);
  // Takes a free PCB for a VCB of this owner; no_buffer: none is available, and nothing has changed.
  inline uint16_t take_free(const UnderlyingFunctionTable::Owner& owner);
  Progress collect(PhysicalCollectBuffer& pcb, const Portion& portion);
  Progress extract(VirtualCollectBuffer& vcb, unsigned underlying_function, const Portion& portion);

  static inline spec::Refusal check_format(const spec::CommandHeader& segment_0);
  inline Admission admit(unsigned underlying_function, const spec::CommandHeader& segment_0);
  static Admission admit_management(const spec::CommandHeader& segment_0);

  // `begin`: time of the first write in clock ticks; nothing: this write also completes the command.
  // `record_place`: the result of an earlier KickRecords::expect(); null: not called yet.
  void kick(uint16_t buffer, std::optional<uint64_t> begin, uint8_t* record_place);
  // Passes on the complete command in a PCB.
  inline spec::KickUnit pass_on(uint16_t physical_collect_buffer, PhysicalCollectBuffer& pcb,
                                std::optional<uint64_t> begin, uint8_t* record_place);
  static inline spec::KickUnit kick_unit(spec::KickOrigin origin, unsigned underlying_function,
                                         const spec::CommandHeader& header, uint32_t kick_number);
  void kick_send_queue_mode(uint16_t buffer, std::optional<uint64_t> begin);
  bool may_complete(const VirtualCollectBuffer& vcb, const Portion& portion) const;
  void kick_management(unsigned underlying_function);
  void push_notice(spec::DoorbellSlot slot, unsigned underlying_function, spec::QualityOfServiceLevel level,
                   uint32_t queue_pair_number, uint32_t sequence_number);

  void refuse(uint16_t buffer, spec::Refusal refusal, uint32_t offset);
  [[gnu::cold]] void refuse_burst(const BarWrite& burst, uint16_t physical_collect_buffer,
                                  spec::Refusal refusal);
  void refuse_management(unsigned underlying_function, spec::Refusal refusal, uint32_t offset);
  void report(spec::EventType type, unsigned underlying_function, uint32_t object,
              const spec::CommandHeader& segment_0, spec::Refusal refusal, uint32_t offset);
  spec::CommandHeader segment_0_of(uint16_t buffer) const;
  uint16_t newest_that_repays() const;
  std::optional<uint16_t> take_from(unsigned first, unsigned end, spec::PhysicalCollectBufferState state);

  // Binds a VCB to a PCB that was taken for it.
  void collect_in(uint16_t buffer, uint16_t physical_collect_buffer);
  static inline void hold(PhysicalCollectBuffer& pcb, uint16_t buffer,
                          const UnderlyingFunctionTable::Owner& owner);
  void enter_send_queue_mode(uint16_t buffer);
  // Moves a collecting VCB to send queue mode and frees its PCB.
  void hand_over(uint16_t buffer);
  // Starts to time a command that its first write did not complete.
  void await_rest(uint16_t buffer);
  void unbind(uint16_t buffer);
  void take(uint16_t buffer, spec::PhysicalCollectBufferState state);

  const Ports ports_;
  const HcaParameters& parameters_ = ports_.parameters;
  Counters& counters_ = ports_.counters;
  const Clock& clock_ = ports_.clock;
  PhysicalCollectBuffers& buffers_ = ports_.buffers;
  QueuePairPort& queue_pairs_ = ports_.queue_pairs;
  KickRecords& kick_records_ = ports_.kick_records;
  DataLink<spec::KickUnit>& kicks_collected_ = ports_.kicks_collected;
  DataLink<spec::PostNotice>& post_notices_ = ports_.post_notices;
  DataLink<spec::ManagementUnit>& management_units_ = ports_.management_units;

  UnderlyingFunctionTable functions_;
  CollectGroupTable groups_;
  std::vector<VirtualCollectBuffer> virtual_;
  HalfWrittenList half_written_;
  std::array<uint16_t, spec::underlying_functions>
      management_lock_{};           // by function: dedicated PCB or no_buffer
  BitMask free_;                    // free PCB list: a set bit is a free PCB
  uint64_t half_written_limit_ = 0; // clock ticks; 0: never
  uint32_t kick_number_ = 0;
  Waker dedicated_freed_;
};

inline void CollectBuffer::enter_send_queue_mode(uint16_t buffer) {
  VirtualCollectBuffer& vcb = virtual_[buffer];
  vcb.state = spec::VirtualCollectBufferState::send_queue_mode;
  vcb.received = {};
}

inline void CollectBuffer::hold(PhysicalCollectBuffer& pcb, uint16_t buffer,
                                const UnderlyingFunctionTable::Owner& owner) {
  pcb.virtual_collect_buffer = buffer;
  pcb.underlying_function = owner.underlying_function;
  pcb.group = owner.part;
}

inline void CollectBuffer::collect_in(uint16_t buffer, uint16_t physical_collect_buffer) {
  VirtualCollectBuffer& vcb = virtual_[buffer];
  vcb.state = spec::VirtualCollectBufferState::collecting;
  vcb.physical_collect_buffer = physical_collect_buffer;
  PhysicalCollectBuffer& pcb = buffers_[physical_collect_buffer];
  pcb.state = spec::PhysicalCollectBufferState::collecting;
  hold(pcb, buffer, functions_.owner(buffer));
  pcb.begin_collecting();
}

// Stops collecting a command; its VCB is free. The caller frees or passes on the PCB.
inline void CollectBuffer::unbind(uint16_t buffer) {
  VirtualCollectBuffer& vcb = virtual_[buffer];
  half_written_.remove(buffer);
  vcb.state = spec::VirtualCollectBufferState::free;
  vcb.refusal = spec::Refusal::none;
  vcb.physical_collect_buffer = no_buffer;
}

} // namespace fpga_verbs::hca
