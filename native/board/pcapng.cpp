#include "board/pcapng.h"

#include <array>
#include <cstring>
#include <tuple>

namespace fpga_verbs::board {

enum class PcapngBlocks::BlockType : uint32_t {
  interface_description = 1,
  enhanced_packet = 6,
  section_header = 0x0a0d0d0a,
};

// Their meaning depends on the block that contains them.
enum class PcapngBlocks::Option : uint16_t {
  end = 0,
  comment = 1,
  interface_name = 2,
  packet_flags = 2,
  application = 4,
  time_resolution = 9,
};

namespace {

constexpr size_t alignment = 4;
constexpr uint16_t link_type_ethernet = 1;
constexpr uint16_t link_type_extensible_record = 197;
constexpr uint8_t nanoseconds = 9; // as a power of 10
constexpr uint32_t inbound = 1;
constexpr uint32_t outbound = 2;

// Header of an InfiniBand packet in the extensible record format; its time is that of the block.
std::array<uint8_t, 16> infiniband_record(size_t packet_bytes) {
  constexpr uint8_t type_infiniband = 21;
  constexpr uint8_t varying_length = 4;
  std::array<uint8_t, 16> record{};
  const size_t record_bytes = record.size() + packet_bytes;
  record[8] = type_infiniband;
  record[9] = varying_length;
  record[10] = static_cast<uint8_t>(record_bytes >> 8);
  record[11] = static_cast<uint8_t>(record_bytes);
  record[14] = static_cast<uint8_t>(packet_bytes >> 8);
  record[15] = static_cast<uint8_t>(packet_bytes);
  return record;
}

} // namespace

void PcapngBlocks::section(std::string_view application) {
  constexpr uint32_t byte_order_magic = 0x1a2b3c4d;
  constexpr uint16_t major_version = 1;
  constexpr uint16_t minor_version = 0;
  constexpr uint64_t unknown_length = ~uint64_t{0};
  const size_t block = begin(BlockType::section_header);
  put(byte_order_magic);
  put(major_version);
  put(minor_version);
  put(unknown_length);
  put_option(Option::application, application);
  put_option(Option::end, std::span<const uint8_t>{});
  end(block);
}

void PcapngBlocks::interface(spec::LinkLayer link_layer, std::string_view name) {
  constexpr uint16_t reserved = 0;
  constexpr uint32_t no_limit = 0;
  const size_t block = begin(BlockType::interface_description);
  put(link_layer == spec::LinkLayer::ethernet ? link_type_ethernet : link_type_extensible_record);
  put(reserved);
  put(no_limit);
  put_option(Option::interface_name, name);
  put_option(Option::time_resolution, std::span(&nanoseconds, 1));
  put_option(Option::end, std::span<const uint8_t>{});
  end(block);
}

void PcapngBlocks::packet(spec::LinkLayer link_layer, uint32_t interface_number, uint64_t time,
                          hca::PacketDirection direction, std::span<const uint8_t> bytes,
                          std::string_view comment) {
  const uint32_t flags = direction == hca::PacketDirection::in ? inbound : outbound;
  std::array<uint8_t, sizeof flags> flag_bytes;
  std::memcpy(flag_bytes.data(), &flags, sizeof flags);
  const size_t block = begin(BlockType::enhanced_packet);
  put(interface_number);
  put(static_cast<uint32_t>(time >> 32));
  put(static_cast<uint32_t>(time));
  const size_t record_bytes =
      link_layer == spec::LinkLayer::ethernet ? 0 : std::tuple_size_v<decltype(infiniband_record(0))>;
  put(static_cast<uint32_t>(record_bytes + bytes.size())); // captured
  put(static_cast<uint32_t>(record_bytes + bytes.size())); // on the wire
  if (record_bytes != 0)
    put_bytes(infiniband_record(bytes.size()));
  put_bytes(bytes);
  put_option(Option::packet_flags, flag_bytes);
  if (!comment.empty())
    put_option(Option::comment, comment);
  put_option(Option::end, std::span<const uint8_t>{});
  end(block);
}

// The length of a block follows its type and stands again at its end.
size_t PcapngBlocks::begin(BlockType type) {
  const size_t block = bytes_.size();
  put(static_cast<uint32_t>(type));
  put(uint32_t{0});
  return block;
}

void PcapngBlocks::end(size_t block) {
  const auto length = static_cast<uint32_t>(bytes_.size() - block + sizeof(uint32_t));
  std::memcpy(bytes_.data() + block + sizeof(uint32_t), &length, sizeof length);
  put(length);
}

template <class Number> void PcapngBlocks::put(Number number) {
  const size_t at = bytes_.size();
  bytes_.resize(at + sizeof number);
  std::memcpy(bytes_.data() + at, &number, sizeof number);
}

void PcapngBlocks::put_bytes(std::span<const uint8_t> bytes) {
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  bytes_.resize((bytes_.size() + alignment - 1) / alignment * alignment);
}

void PcapngBlocks::put_option(Option option, std::span<const uint8_t> value) {
  put(static_cast<uint16_t>(option));
  put(static_cast<uint16_t>(value.size()));
  put_bytes(value);
}

void PcapngBlocks::put_option(Option option, std::string_view text) {
  put_option(option, std::span(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
}

} // namespace fpga_verbs::board
