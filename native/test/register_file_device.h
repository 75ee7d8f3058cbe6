#pragma once

#include "board/device.h"

#include <array>
#include <cstdint>
#include <deque>

namespace fpga_verbs::test {

// The simplest device that a board can be tested with: its register pages and VCB pages are memory that reads
// back what was written, and each register page drives a DMA engine.
//
// Registers of the engine, in the page of a function (all 32 bits):
//   start      writing a Job begins it; it is done in a later step
//   address    DMA address, two DWORDs
//   bytes      length of the DMA, at most a page
//   page       VCB page that the data come from or go to; for an interrupt: the vector
//   faults     DMAs of the function that the host refused
//   sent       packets that the link at port 1 has taken; a page is sent as one
//   received   packets that have arrived at port 1; the newest lies in the last VCB page
//   bursts     bursts that were taken whole: those to the start of a VCB page
//   deadline   clock tick, two DWORDs; when it comes, vector 1 is signalled; writing the high one sets it
class RegisterFileDevice final : public board::Device {
public:
  enum class Job : uint32_t { none, write_host, read_host, interrupt, send_packet };
  static constexpr uint32_t start = 0x1000;
  static constexpr uint32_t address = 0x1008;
  static constexpr uint32_t bytes = 0x1010;
  static constexpr uint32_t page = 0x1014;
  static constexpr uint32_t faults = 0x1018;
  static constexpr uint32_t deadline = 0x1020;
  static constexpr uint32_t sent = 0x1028;
  static constexpr uint32_t received = 0x102c;
  static constexpr uint32_t bursts = 0x1030;

  static constexpr unsigned functions = 2;
  static constexpr unsigned virtual_collect_buffers = 16;

  explicit RegisterFileDevice(const board::DeviceSlot& slot);

  bool can_accept_write() const override { return jobs_.size() < jobs_at_once; }
  void write(const hca::BarWrite& write) override;
  bool write_burst(const hca::BarWrite& burst) override;
  uint32_t read(spec::RegionType region, unsigned number, uint32_t offset) override;
  unsigned run(unsigned limit) override;
  void notify_port() override { paused_ = false; }
  uint64_t next_deadline() const override;

private:
  bool step();
  static constexpr size_t jobs_at_once = 4;
  static constexpr size_t page_bytes = 4096;
  static constexpr size_t registers_bytes = 65536;

  // A job with its registers as they were when it was started.
  struct Requested {
    Job job = Job::none;
    unsigned function = 0;
    uint64_t host_address = 0;
    size_t length = 0;
    uint32_t number = 0; // page or vector
  };

  uint8_t* memory(spec::RegionType region, unsigned number);
  uint32_t& register_at(unsigned function, uint32_t offset);
  uint64_t wide_register_at(unsigned function, uint32_t offset);
  void carry_out(const Requested& requested);
  bool send_packet(const Requested& requested);
  bool receive_packet();

  hca::HostPort& host_;
  const hca::Clock& clock_;
  const hca::PortAttachments& ports_;
  link::PacketBuffer buffer_ = link::make_packet_buffer();
  bool paused_ = false;
  std::deque<Requested> jobs_;
  std::array<std::array<uint32_t, registers_bytes / 4>, functions> registers_{};
  std::array<uint64_t, functions> deadlines_;
  std::array<std::array<uint32_t, page_bytes / 4>, virtual_collect_buffers> pages_{};
};

} // namespace fpga_verbs::test
