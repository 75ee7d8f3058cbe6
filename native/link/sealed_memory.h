#pragma once

#include "link/descriptor.h"

#include <cstddef>
#include <optional>

namespace fpga_verbs::link {

// Memory that processes share by a descriptor, and its mapping here. Its size is sealed: no process that has
// the descriptor can shrink it under another that reads it.
class SealedMemory {
public:
  // Rights of others that have the descriptor.
  enum class Others : bool { read, write };

  // New, zeroed. `name` is shown in /proc. None: there is none; errno says why.
  static std::optional<SealedMemory> make(const char* name, size_t bytes, Others others = Others::write);
  // The memory behind a descriptor of another process. None: it is not of this size, or not sealed.
  static std::optional<SealedMemory> adopt(Descriptor descriptor, size_t bytes);
  // The same, only to be read.
  static std::optional<SealedMemory> adopt_to_read(Descriptor descriptor, size_t bytes);

  SealedMemory(SealedMemory&& other) noexcept;
  SealedMemory& operator=(SealedMemory&& other) noexcept;
  ~SealedMemory();

  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  int descriptor() const { return descriptor_.get(); } // -1: dropped
  // The mapping stays, and the memory is not given to another owner.
  void drop_descriptor() { descriptor_ = {}; }

private:
  SealedMemory(Descriptor descriptor, void* data, size_t bytes)
      : descriptor_(std::move(descriptor)), data_(data), bytes_(bytes) {}
  static bool is_sealed(const Descriptor& descriptor, size_t bytes);
  static std::optional<SealedMemory> map(Descriptor descriptor, size_t bytes, int rights);

  Descriptor descriptor_;
  void* data_;
  size_t bytes_;
};

} // namespace fpga_verbs::link
