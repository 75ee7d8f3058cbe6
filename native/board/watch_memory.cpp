#include "board/watch_memory.h"

#include <algorithm>
#include <array>
#include <new>

namespace fpga_verbs::board {

namespace {

constexpr size_t header_bytes = 4096;

struct Header {
  WatchRingHeader ring;
  uint64_t preamble_bytes = 0;
  std::array<uint8_t, WatchMemory::longest_preamble> preamble{};
};
static_assert(sizeof(Header) <= header_bytes);

// Words: 58,000 kick records, 1,300 events, 32 MiB of packets, 58,000 completions.
constexpr std::array<size_t, watch_kinds> words_of{size_t{1} << 19, size_t{1} << 13, size_t{1} << 22,
                                                   size_t{1} << 19};

size_t bytes_of(WatchKind kind) {
  return header_bytes + words_of[static_cast<size_t>(kind)] * WatchMessage::word_bytes;
}

} // namespace

std::optional<WatchMemory> WatchMemory::make(WatchKind kind, std::span<const uint8_t> preamble) {
  std::optional<link::SealedMemory> memory =
      link::SealedMemory::make("fpga-verbs-watch", bytes_of(kind), link::SealedMemory::Others::read);
  if (!memory || preamble.size() > longest_preamble)
    return std::nullopt;
  Header& header = *new (memory->data()) Header; // the words are zero, as they begin
  header.preamble_bytes = preamble.size();
  std::ranges::copy(preamble, header.preamble.begin());
  return WatchMemory(std::move(*memory));
}

std::optional<WatchMemory> WatchMemory::adopt(link::Descriptor descriptor, WatchKind kind) {
  std::optional<link::SealedMemory> memory =
      link::SealedMemory::adopt_to_read(std::move(descriptor), bytes_of(kind));
  if (!memory)
    return std::nullopt;
  memory->drop_descriptor();
  return WatchMemory(std::move(*memory));
}

std::span<const uint8_t> WatchMemory::preamble() const {
  const Header& header = *static_cast<const Header*>(memory_.data());
  return {header.preamble.data(), std::min<uint64_t>(header.preamble_bytes, longest_preamble)};
}

WatchWords WatchMemory::words() const {
  auto* const first =
      reinterpret_cast<WatchWords::element_type*>(static_cast<uint8_t*>(memory_.data()) + header_bytes);
  return {first, (memory_.bytes() - header_bytes) / WatchMessage::word_bytes};
}

} // namespace fpga_verbs::board
