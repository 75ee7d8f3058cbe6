#pragma once

#include "link/descriptor.h"

#include <cstddef>
#include <optional>

namespace fpga_verbs::link {

// Memory that processes share through a descriptor, and its mapping in this process. Its size is sealed: no
// process with the descriptor can shrink it while another reads it.
class SealedMemory {
public:
  // Rights of other processes that have the descriptor.
  enum class Others : bool { read, write };

  // Creates zeroed memory. `name` appears in /proc. None: failed; errno has the reason.
  static std::optional<SealedMemory> make(const char* name, size_t bytes, Others others = Others::write);
  // Maps the memory behind a descriptor from another process. None: its size differs, or it is not sealed.
  static std::optional<SealedMemory> adopt(Descriptor descriptor, size_t bytes);
  // The same, read-only.
  static std::optional<SealedMemory> adopt_to_read(Descriptor descriptor, size_t bytes);

  SealedMemory(SealedMemory&& other) noexcept;
  SealedMemory& operator=(SealedMemory&& other) noexcept;
  ~SealedMemory();

  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  int descriptor() const { return descriptor_.get(); } // -1: dropped
  // Keeps the mapping; the memory can then not be passed to another owner.
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
