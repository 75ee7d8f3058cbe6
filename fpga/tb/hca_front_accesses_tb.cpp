// hca_front with a host that executes the accesses of a file, and prints the result of each in a line. No
// queue pair exists. Argument: the file. Its lines, with numbers in hexadecimal, and what each prints:
//
// w ADDRESS DATA STROBES   writes a register: the response
// r ADDRESS                reads a register: its value
// b ADDRESS BYTES          writes to a VCB page in one beat: nothing
// o ADDRESS BYTES w…       the same, with the register write of a line w in the middle: the write's response
// h HELD                   holds or resumes the stream of management commands: nothing
// d FUNCTIONS              sets the functions without DMA in flight, a bit each: nothing
// s CLOCKS                 waits: nothing
// m                        management commands since the last m: PCB, function, number and bytes of each
//
// The shape (BEAT_BYTES and the other parameters) is passed to Verilator and, by the same names, to this
// file.
#include "Vhca_front.h"
#include "axi_host.h"
#include "bench.h"
#include "hca_front_surroundings.h"
#include "spec/data_units.h"

#include <verilated.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace fpga_verbs::bench {
namespace {

class Bench : public AxiHost<Bench> {
public:
  Bench() {
    surround(rtl_);
    begin();
  }

  int run(const char* path) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
      std::istringstream words(line);
      char what = 0;
      words >> what >> std::hex;
      act(what, words);
      ++place_.seed; // Messages about a difference name this line.
    }
    return 0;
  }

  Vhca_front& rtl() { return rtl_; }
  const Place& place() const { return place_; }

  void begin_clock() {
    rtl_.clock = 0;
    rtl_.eval();
  }

  void end_clock() {
    if (rtl_.management_tvalid && rtl_.management_tready)
      take_beat();
    // Without a queue pair no command is kicked, and without a ring no record is written.
    expect(place_, "a command in the stream", rtl_.command_tvalid, 0);
    expect(place_, "an access to host memory", rtl_.memory_awvalid || rtl_.memory_arvalid, 0);
    rtl_.clock = 1;
    rtl_.eval();
    ++place_.clock;
  }

private:
  static constexpr uint32_t settled = 24; // clocks

  void act(char what, std::istringstream& words) {
    uint32_t first = 0;
    uint32_t second = 0;
    uint32_t third = 0;
    switch (what) {
    case 'w':
      words >> first >> second >> third;
      std::printf("%x\n", write(first, second, static_cast<uint8_t>(third)));
      break;
    case 'r':
      words >> first;
      std::printf("%x\n", read(first));
      break;
    case 'b':
      words >> first;
      write_beat(first, words);
      break;
    case 'o':
      words >> first;
      write_during_burst(first, words);
      break;
    case 'h':
      words >> first;
      rtl_.management_tready = first == 0;
      break;
    case 'd':
      words >> first;
      rtl_.function_drained = static_cast<uint8_t>(first);
      break;
    case 's':
      words >> first;
      steps(first);
      break;
    default:
      std::printf("%s\n", commands_.c_str());
      commands_.clear();
    }
  }

  static std::vector<uint8_t> bytes_of(std::istringstream& words) {
    std::string digits;
    words >> digits;
    std::vector<uint8_t> bytes;
    for (size_t at = 0; at < digits.size(); at += 2)
      bytes.push_back(static_cast<uint8_t>(std::stoul(digits.substr(at, 2), nullptr, 16)));
    return bytes;
  }

  // Writes the register once the burst has begun; its beat follows.
  void write_during_burst(uint32_t address, std::istringstream& words) {
    const std::vector<uint8_t> bytes = bytes_of(words);
    uint32_t data = 0;
    uint32_t strobes = 0;
    uint32_t register_address = 0;
    words >> register_address >> data >> strobes;
    rtl_.register_awaddr = register_address;
    rtl_.register_wdata = data;
    rtl_.register_wstrb = static_cast<uint8_t>(strobes);
    begin_burst(address, 1, static_cast<uint32_t>(bytes.size()));
    rtl_.register_awvalid = rtl_.register_wvalid = 1;
    until("register_awready", [&] { return rtl_.register_awready && rtl_.register_wready; });
    rtl_.register_awvalid = rtl_.register_wvalid = 0;
    steps(4);
    send_beat(address, bytes.data(), bytes.size(), true);
    std::printf("%x\n", take_response());
    steps(settled);
  }

  void write_beat(uint32_t address, std::istringstream& words) {
    const std::vector<uint8_t> bytes = bytes_of(words);
    write_burst(address, bytes.data(), bytes.size(), static_cast<uint32_t>(bytes.size()));
    steps(settled); // A beat can touch three doorbell slots, and a PCB returns some clocks after it.
  }

  void take_beat() {
    if (!in_command_) {
      spec::ManagementUnit unit;
      std::memcpy(&unit, &rtl_.management_tuser, sizeof(unit));
      std::array<char, 64> text{};
      std::snprintf(text.data(), text.size(), "%s%x %x %x ", commands_.empty() ? "" : " ",
                    unit.physical_collect_buffer(), unit.underlying_function(),
                    unit.send_queue_sequence_number());
      commands_ += text.data();
    }
    for (const uint8_t byte : kept_bytes(rtl_.management_tdata, rtl_.management_tkeep)) {
      std::array<char, 3> text{};
      std::snprintf(text.data(), text.size(), "%02x", byte);
      commands_ += text.data();
    }
    in_command_ = rtl_.management_tlast == 0;
  }

  Vhca_front rtl_;
  Place place_;
  std::string commands_;
  bool in_command_ = false;
};

} // namespace
} // namespace fpga_verbs::bench

int main(int count, char** arguments) {
  if (count < 2)
    return 1;
  fpga_verbs::bench::Bench bench;
  const fpga_verbs::bench::Coverage coverage;
  return bench.run(arguments[1]);
}
