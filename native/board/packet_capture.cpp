#include "board/packet_capture.h"

#include "board/pcapng.h"
#include "board/watches.h"

#include <cerrno>
#include <utility>

namespace fpga_verbs::board {

namespace {

std::string describe(const wire::PacketCause& cause) {
  const std::string queue_pair = "queue pair " + std::to_string(cause.queue_pair_number);
  switch (cause.origin) {
  case wire::PacketOrigin::link:
    return {};
  case wire::PacketOrigin::command:
    return queue_pair + ", command " + std::to_string(cause.send_queue_sequence_number) + ": " +
           spec::name(cause.opcode) + ", packet " + std::to_string(cause.packet);
  case wire::PacketOrigin::request:
    return queue_pair + " answers";
  }
  return {};
}

} // namespace

int PacketCapture::start(const std::string& path, const Source& source) {
  stop();
  source_ = source;
  file_.reset(std::fopen(path.c_str(), "we"));
  if (file_ == nullptr)
    return errno;
  on_ = true;
  write(head(source));
  return 0;
}

std::vector<uint8_t> PacketCapture::head(const Source& source) {
  PcapngBlocks blocks;
  blocks.section("fpga-verbs");
  for (unsigned port = 1; port <= source.ports; ++port)
    blocks.interface(source.link_layer,
                     "board " + std::to_string(source.board_number) + " port " + std::to_string(port));
  return {blocks.bytes().begin(), blocks.bytes().end()};
}

void PacketCapture::watch(Watches* watches, const Source& source) {
  watches_ = watches;
  if (!has_file())
    source_ = source;
  on_ = has_file() || watches_ != nullptr;
}

int PacketCapture::stop() {
  int failure = std::exchange(failure_, 0);
  if (file_ != nullptr && std::fclose(file_.release()) != 0 && failure == 0)
    failure = errno;
  on_ = watches_ != nullptr;
  return failure;
}

void PacketCapture::take(hca::PacketDirection direction, unsigned port, std::span<const uint8_t> bytes,
                         const wire::PacketCause& cause) {
  const double nanoseconds_per_tick = 1e9 / static_cast<double>(source_.clock_frequency);
  const auto since_begin = static_cast<uint64_t>(static_cast<double>(clock_.now()) * nanoseconds_per_tick);
  PcapngBlocks blocks;
  blocks.packet(source_.link_layer, port - 1, source_.begin + since_begin, direction, bytes, describe(cause));
  if (has_file())
    write(blocks.bytes());
  if (watches_ != nullptr)
    watches_->packet(blocks.bytes());
}

void PacketCapture::write(std::span<const uint8_t> bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size() && failure_ == 0)
    failure_ = errno;
}

} // namespace fpga_verbs::board
