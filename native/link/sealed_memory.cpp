#include "link/sealed_memory.h"

#include <cstdint>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

namespace fpga_verbs::link {

namespace {

constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW;
#ifdef F_SEAL_FUTURE_WRITE
constexpr int seal_others_read = F_SEAL_FUTURE_WRITE;
#else
constexpr int seal_others_read = 0x0010; // linux/fcntl.h, since Linux 5.1
#endif
constexpr int read_write = PROT_READ | PROT_WRITE;

} // namespace

// Memory that others may not write must be mapped here before it is sealed.
std::optional<SealedMemory> SealedMemory::make(const char* name, size_t bytes, Others others) {
  Descriptor descriptor(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!descriptor || ftruncate(descriptor.get(), static_cast<off_t>(bytes)) != 0)
    return std::nullopt;
  std::optional<SealedMemory> made = map(std::move(descriptor), bytes, read_write);
  const int added = seals | F_SEAL_SEAL | (others == Others::read ? seal_others_read : 0);
  if (made && fcntl(made->descriptor(), F_ADD_SEALS, added) != 0)
    return std::nullopt;
  return made;
}

std::optional<SealedMemory> SealedMemory::adopt(Descriptor descriptor, size_t bytes) {
  return is_sealed(descriptor, bytes) ? map(std::move(descriptor), bytes, read_write) : std::nullopt;
}

std::optional<SealedMemory> SealedMemory::adopt_to_read(Descriptor descriptor, size_t bytes) {
  return is_sealed(descriptor, bytes) ? map(std::move(descriptor), bytes, PROT_READ) : std::nullopt;
}

bool SealedMemory::is_sealed(const Descriptor& descriptor, size_t bytes) {
  struct stat state = {};
  if (!descriptor || fstat(descriptor.get(), &state) != 0 || static_cast<size_t>(state.st_size) != bytes)
    return false;
  const int found = fcntl(descriptor.get(), F_GET_SEALS);
  return found >= 0 && (found & seals) == seals;
}

std::optional<SealedMemory> SealedMemory::map(Descriptor descriptor, size_t bytes, int rights) {
  void* const at = mmap(nullptr, bytes, rights, MAP_SHARED, descriptor.get(), 0);
  if (at == MAP_FAILED)
    return std::nullopt;
  return SealedMemory(std::move(descriptor), at, bytes);
}

SealedMemory::SealedMemory(SealedMemory&& other) noexcept
    : descriptor_(std::move(other.descriptor_)), data_(std::exchange(other.data_, nullptr)),
      bytes_(other.bytes_) {}

SealedMemory& SealedMemory::operator=(SealedMemory&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

// In pieces: a thread that maps memory meanwhile waits for one of them only.
SealedMemory::~SealedMemory() {
  constexpr size_t piece = size_t{64} << 20;
  for (size_t left = data_ == nullptr ? 0 : bytes_; left != 0;) {
    const size_t from = (left - 1) / piece * piece;
    munmap(static_cast<uint8_t*>(data_) + from, left - from);
    left = from;
  }
}

} // namespace fpga_verbs::link
