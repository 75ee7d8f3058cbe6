#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string_view>
#include <vector>

namespace fpga_verbs::test {

// A format of the specification by name, for tests of all formats. Its elements are the values of its fields
// in order: one for a number, one per element of an array, one per byte of a byte array.
struct SpecFormat {
  std::vector<uint8_t> (*encode)(std::span<const uint64_t> elements); // with the setters
  std::vector<uint64_t> (*decode)(std::span<const uint8_t> bytes);    // with the getters
  bool (*reserved_is_zero)(std::span<const uint8_t> bytes);
};

// All formats, by their names in the specification.
const std::map<std::string_view, SpecFormat>& spec_formats();

// Visits the fields of a structure in order: writes elements to it, or reads them from it into `got`.
struct SpecMove {
  bool sets;
  std::span<const uint64_t> left;
  std::vector<uint64_t> got{};

  uint64_t take() {
    const uint64_t element = left.front();
    left = left.subspan(1);
    return element;
  }
};

#define SPEC_NUMBER(name)                                                                                    \
  if (move.sets)                                                                                             \
    format.set_##name(static_cast<decltype(format.name())>(move.take()));                                    \
  else                                                                                                       \
    move.got.push_back(static_cast<uint64_t>(format.name()));

#define SPEC_ARRAY(name, count)                                                                              \
  for (unsigned index = 0; index < count; ++index)                                                           \
    if (move.sets)                                                                                           \
      format.set_##name(index, static_cast<decltype(format.name(index))>(move.take()));                      \
    else                                                                                                     \
      move.got.push_back(static_cast<uint64_t>(format.name(index)));

#define SPEC_BYTES(name, count)                                                                              \
  if (move.sets) {                                                                                           \
    uint8_t bytes[count];                                                                                    \
    for (uint8_t& byte : bytes)                                                                              \
      byte = static_cast<uint8_t>(move.take());                                                              \
    format.set_##name(bytes);                                                                                \
  } else {                                                                                                   \
    for (const uint8_t byte : format.name())                                                                 \
      move.got.push_back(byte);                                                                              \
  }

template <class Format> Format spec_structure(std::span<const uint8_t> bytes) {
  Format format;
  std::memcpy(format.dwords.data(), bytes.data(), std::min<size_t>(bytes.size(), Format::bytes));
  return format;
}

template <class Format, void (*move_fields)(SpecMove& move, Format& format)> SpecFormat spec_format() {
  return {[](std::span<const uint64_t> elements) {
            SpecMove move{.sets = true, .left = elements};
            Format format;
            move_fields(move, format);
            std::vector<uint8_t> bytes(Format::bytes);
            std::memcpy(bytes.data(), format.dwords.data(), bytes.size());
            return bytes;
          },
          [](std::span<const uint8_t> bytes) {
            SpecMove move{.sets = false, .left = {}};
            auto format = spec_structure<Format>(bytes);
            move_fields(move, format);
            return move.got;
          },
          [](std::span<const uint8_t> bytes) { return spec_structure<Format>(bytes).reserved_is_zero(); }};
}

} // namespace fpga_verbs::test
