#pragma once

#include "Vhca_front.h"
#include "axi_host.h"
#include "bench.h"
#include "hca_front_stream.h"
#include "hca_front_surroundings.h"
#include "host_memory_slave.h"
#include "kick_record_rings.h"
#include "spec/commands.h"
#include "spec/data_units.h"
#include "spec/enums.h"
#include "spec/parameters.h"
#include "spec/registers.h"

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

// hca_front between a host, which writes registers, commands and its own memory, and the blocks behind it.
namespace fpga_verbs::bench {

namespace function_page = spec::underlying_function;

constexpr uint32_t vcbs_each = VIRTUAL_COLLECT_BUFFERS / UNDERLYING_FUNCTIONS;

class HcaFrontBench : public AxiHost<HcaFrontBench> {
public:
  explicit HcaFrontBench(uint64_t seed) : random_(seed), place_{.seed = seed} {
    surround(rtl_);
    rtl_.queue_pair_found = 1;
    rtl_.queue_pair_quality_of_service_level = static_cast<uint8_t>(spec::QualityOfServiceLevel::low);
    begin();
  }

  Vhca_front& rtl() { return rtl_; }
  Random& random() { return random_; }
  const Place& place() const { return place_; }
  HostMemory& memory() { return memory_; }
  HostMemorySlave<Vhca_front>& slave() { return slave_; }
  KickRecordRings& rings() { return rings_; }
  CommandStream& stream() { return stream_; }
  // Bytes received on the stream of management commands.
  const Bytes& management() const { return management_; }
  uint32_t refusals() const { return refusals_; }
  // Number of DMA events, and the last one.
  uint32_t faults() const { return faults_; }
  const spec::EventUnit& last_fault() const { return last_fault_; }

  // Begins the rings as a driver does.
  void find_regions() {
    expect(place_, "magic", read(spec::identity::magic), spec::identity::magic_reset);
    expect(place_, "design", spec::identity::Device{read(spec::identity::device)}.design(), 2);
    const uint32_t regions = read(spec::identity::regions);
    for (uint32_t number = 0; number < regions; ++number) {
      const uint32_t at = number * spec::identity::region_stride;
      const spec::identity::Region region{read(spec::identity::region + at)};
      const uint32_t offset = read(spec::identity::region_offset + at);
      const uint32_t entries = read(spec::identity::region_entries + at);
      const uint32_t stride = read(spec::identity::region_page_stride + at);
      expect(place_, "size of a region", read(spec::identity::region_size + at), entries * stride);
      if (region.type() == spec::RegionType::control)
        control_ = offset;
      if (region.type() == spec::RegionType::underlying_function) {
        functions_ = offset;
        function_stride_ = stride;
        expect(place_, "functions", entries, UNDERLYING_FUNCTIONS);
      }
      if (region.type() == spec::RegionType::virtual_collect_buffer) {
        vcb_stride_ = stride;
        expect(place_, "VCBs", entries, VIRTUAL_COLLECT_BUFFERS);
        expect(place_, "prefetchable", region.prefetchable(), 1);
      } else {
        expect(place_, "prefetchable", region.prefetchable(), 0);
      }
    }
    expect(place_, "regions", control_ != 0 && functions_ != 0 && vcb_stride_ != 0, 1);
  }
  uint32_t control() const { return control_; }
  uint32_t page(uint32_t function) const { return functions_ + function * function_stride_; }
  uint32_t vcb(uint32_t number) const { return number * vcb_stride_; }

  void enable() {
    spec::control::Control control;
    control.set_enable(1);
    expect(place_, "enable", write(control_ + spec::control::control, control.bits), okay);
  }

  // Resets the device, and forgets the commands sent. Returns whether no access to host memory was in flight
  // in the last clock.
  bool reset() {
    spec::control::Control control;
    control.set_reset(1);
    expect(place_, "reset", write(control_ + spec::control::control, control.bits), okay);
    bool is_quiet = false;
    until("the end of the reset", [&] {
      is_quiet = slave_.is_quiet();
      return rtl_.device_reset != 0;
    });
    forget();
    return is_quiet;
  }
  void forget() {
    stream_.forget();
    rings_.forget();
  }

  void begin_ring(uint32_t function) {
    const auto put = [&](uint32_t offset, uint64_t data) {
      expect(place_, "high half", write_64(page(function) + offset, data), okay);
      expect(place_, "both", read_64(page(function) + offset), data);
    };
    expect(place_, "unaligned", write(page(function) + function_page::kick_record_address, 64), slave_error);
    put(function_page::kick_record_address, KickRecordRings::ring(function));
    put(function_page::kick_record_head_address, KickRecordRings::head(function));
    function_page::KickRecordControl control;
    control.set_enable(1);
    control.set_entries_log2(KickRecordRings::entries_log2);
    expect(place_, "ring", write(page(function) + function_page::kick_record_control, control.bits), okay);
    expect(place_, "ring", read(page(function) + function_page::kick_record_control), control.bits);
    rings_.begin(function);
  }
  void begin_rings() {
    for (uint32_t function = 0; function < UNDERLYING_FUNCTIONS; ++function)
      begin_ring(function);
  }

  // Reads a VCB through the inspect window. The selected PCB stays selected.
  spec::control::InspectVirtualCollectBuffer inspect(spec::control::InspectSelect select) {
    expect(place_, "select", write(control_ + spec::control::inspect_select, select.bits), okay);
    return spec::control::InspectVirtualCollectBuffer{
        read(control_ + spec::control::inspect_virtual_collect_buffer)};
  }

  void send(uint32_t vcb, uint32_t number) {
    const uint32_t length = random_.below(spec::command_payload_bytes + 1);
    const Bytes bytes = command(number, length);
    const uint32_t queue_pair_number = header_of(bytes).queue_pair_number();
    rings_.tell(static_cast<uint16_t>(number),
                {.virtual_collect_buffer = vcb, .queue_pair_number = queue_pair_number, .length = length});
    stream_.await(static_cast<uint16_t>(number),
                  {bytes.begin(), bytes.begin() + spec::CommandHeader::bytes + length});
    write_command(vcb, bytes);
    stream_.note_write();
  }
  // Waits until a command that was sent has arrived.
  void wait() {
    const size_t before = stream_.awaited();
    for (unsigned clock = 0; clock < clock_limit; ++clock) {
      step();
      if (stream_.awaited() < before)
        return;
    }
    differ(place_, "commands not started", before, 0);
  }
  void wait_for_all() {
    while (stream_.awaited() != 0)
      wait();
  }

  // Header and payload, in whole segments.
  Bytes command(uint32_t number, uint32_t length) {
    Bytes bytes(spec::CommandHeader::bytes + (length + 7) / 8 * 8);
    for (uint8_t& byte : bytes)
      byte = static_cast<uint8_t>(random_.bits());
    spec::CommandHeader header;
    header.set_queue_pair_number(random_.below(QUEUE_PAIRS));
    header.set_quality_of_service_level(
        static_cast<spec::QualityOfServiceLevel>(rtl_.queue_pair_quality_of_service_level));
    header.set_send_queue_sequence_number(static_cast<uint16_t>(number));
    header.set_length(length);
    header.set_version(spec::command_version);
    header.set_opcode(spec::Opcode::send);
    header.set_immediate_data(static_cast<uint32_t>(random_.bits()));
    set_header(bytes, header);
    return bytes;
  }
  static spec::CommandHeader header_of(const Bytes& command) {
    spec::CommandHeader header;
    std::memcpy(&header, command.data(), sizeof(header));
    return header;
  }
  static void set_header(Bytes& command, const spec::CommandHeader& header) {
    std::memcpy(command.data(), &header, sizeof(header));
  }

  // Writes a command in one burst, or as DWORDs and segments in any order.
  void write_command(uint32_t number, const Bytes& bytes) {
    if (random_.once(2)) {
      write_burst(vcb(number), bytes.data(), bytes.size(), BEAT_BYTES);
      return;
    }
    std::vector<uint32_t> places;
    for (uint32_t at = 0; at < bytes.size(); at += 8)
      places.push_back(at);
    for (size_t left = places.size(); left > 1; --left)
      std::swap(places[left - 1], places[random_.below(static_cast<uint32_t>(left))]);
    for (const uint32_t at : places) {
      if (random_.once(2)) {
        write_burst(vcb(number) + at, bytes.data() + at, 8, 8);
      } else {
        write_burst(vcb(number) + at + 4, bytes.data() + at + 4, 4, 4);
        write_burst(vcb(number) + at, bytes.data() + at, 4, 4);
      }
    }
  }
  // Writes one segment: the VCB keeps collecting.
  void write_half(uint32_t vcb_number, uint32_t number) {
    write_burst(vcb(vcb_number), command(number, 0).data(), 8, 8);
  }

  void begin_clock() {
    stream_.drive();
    slave_.drive();
    rtl_.clock = 0;
    rtl_.eval();
  }

  void end_clock() {
    refusals_ += rtl_.refused;
    if (rtl_.fault) {
      ++faults_;
      std::memcpy(&last_fault_, &rtl_.fault_event, sizeof(last_fault_));
    }
    if (rtl_.management_tvalid && rtl_.management_tready) {
      const Bytes beat = kept_bytes(rtl_.management_tdata, rtl_.management_tkeep);
      management_.insert(management_.end(), beat.begin(), beat.end());
    }
    slave_.take([](uint64_t, uint32_t) {});
    stream_.take();
    rtl_.clock = 1;
    rtl_.eval();
    slave_.settle();
    ++place_.clock;
    stream_.settle();
  }

private:
  Vhca_front rtl_;
  Random random_;
  Place place_;
  HostMemory memory_;
  HostMemorySlave<Vhca_front> slave_{rtl_, memory_, random_, place_};
  KickRecordRings rings_{memory_, place_};
  CommandStream stream_{rtl_, random_, place_};
  uint32_t control_ = 0;
  uint32_t functions_ = 0;
  uint32_t function_stride_ = 0;
  uint32_t vcb_stride_ = 0;
  Bytes management_;
  uint32_t refusals_ = 0;
  uint32_t faults_ = 0;
  spec::EventUnit last_fault_;
};

} // namespace fpga_verbs::bench
