#include "driver/device_function.h"

#include "driver/explanation.h"
#include "spec/parameters.h"
#include "spec/registers.h"

#include <algorithm>
#include <cerrno>

namespace fpga_verbs::driver {

namespace {

constexpr uint32_t all_ones = ~uint32_t{0};

} // namespace

std::unique_ptr<DeviceFunction> DeviceFunction::make(Backend& backend, int& error) {
  std::string failure;
  std::shared_ptr<board::BoardFunction> function = backend.open(failure);
  if (function == nullptr) {
    error = explain(ENODEV, failure);
    return nullptr;
  }
  std::unique_ptr<DeviceFunction> made(new DeviceFunction(backend, std::move(function)));
  error = made->identify();
  return error == 0 ? std::move(made) : nullptr;
}

DeviceFunction::~DeviceFunction() {
  for (const auto& [address, memory] : memory_)
    function_->unmap_dma(address);
}

int DeviceFunction::identify() {
  const uint32_t magic = read_identity(spec::identity::magic);
  if (magic == all_ones)
    return explain(ENODEV, "the device is gone: its registers read all ones");
  if (magic != spec::identity::magic_reset)
    return explain(ENOTSUP, "not an fpga-verbs HCA: BAR 0 does not begin with its magic number");
  const spec::identity::Version version{read_identity(spec::identity::version)};
  const spec::identity::Version known{spec::identity::version_reset};
  if (version.major() != known.major())
    return explain(ENOTSUP, "its programming interface has major version " + std::to_string(version.major()) +
                                ", not " + std::to_string(known.major()));
  regions_ = read_regions(*function_);
  read_board_name();
  const std::optional<unsigned> own = find_own_number(*function_, regions_);
  if (!own)
    return explain(ENODEV, "no register page of the board is this function's");
  underlying_function_ = *own;
  return 0;
}

void DeviceFunction::read_board_name() {
  namespace identity = spec::identity;
  for (uint32_t index = 0; index < identity::board_name_count; ++index) {
    const uint32_t dword = read_identity(identity::board_name + index * identity::board_name_stride);
    board_name_.append(reinterpret_cast<const char*>(&dword), sizeof dword);
  }
  board_name_.resize(std::min(board_name_.size(), board_name_.find('\0')));
}

DeviceFunction::Place DeviceFunction::place(spec::RegionType region, unsigned page) const {
  const BoardRegion& found = region_of(regions_, region);
  return {found.bar, found.offset + uint64_t{page} * found.stride};
}

int DeviceFunction::explain_loss() const {
  return explain(EIO, std::string("the device is gone: ") + loss());
}

// A function whose control function was closed or killed is reset and has no memory.
void DeviceFunction::look() {
  namespace registers = spec::underlying_function;
  const registers::Status status{read(registers::status)};
  if (status.bits == all_ones && read_identity(spec::identity::magic) == all_ones)
    lose("all ones are read back from its registers");
  else if (status.enabled() == 0 && read64(registers::management_completion_queue_address) == 0)
    lose("it was reset by its control function");
}

int DeviceFunction::removal_event() {
  const std::scoped_lock lock(mutex_);
  return function_->removal_event();
}

const char* DeviceFunction::removal_reason() {
  const std::scoped_lock lock(mutex_);
  const char* const reason = function_->loss();
  return reason == nullptr ? "the process that holds the board has ended" : reason;
}

void DeviceFunction::give_up() {
  const std::scoped_lock lock(mutex_);
  function_->give_up();
}

DeviceMemory DeviceFunction::allocate(size_t bytes) {
  if (is_lost()) {
    explain_loss();
    return {};
  }
  const std::scoped_lock lock(mutex_);
  uint64_t address = 0;
  std::string failure;
  board::DmaMemory memory = function_->allocate_dma(bytes, address, failure);
  if (!memory) {
    explain(ENOMEM, std::to_string(bytes) + " B of memory for the device: " + failure);
    return {};
  }
  const DeviceMemory made{static_cast<uint8_t*>(memory.data()), memory.bytes(), address};
  memory_.emplace(address, std::move(memory));
  return made;
}

int DeviceFunction::allocation_error() const { return is_lost() ? EIO : ENOMEM; }

void DeviceFunction::free(const DeviceMemory& memory) {
  if (!memory)
    return;
  const std::scoped_lock lock(mutex_);
  function_->unmap_dma(memory.address);
  memory_.erase(memory.address);
}

int DeviceFunction::map(void* memory, size_t bytes, board::DmaRights rights, std::vector<DmaPiece>& pieces,
                        uint64_t& mapping) {
  if (is_lost())
    return explain_loss();
  if (ProgramMemory* const own = backend_.program_memory()) {
    std::string failure;
    const int error = own->map(memory, bytes, pieces, mapping, failure);
    return error == 0 ? 0 : explain(error, failure);
  }
  const std::scoped_lock lock(mutex_);
  if (const char* const refusal = function_->foreign_memory_refusal())
    return explain(EOPNOTSUPP, refusal);
  const std::optional<uint64_t> address = function_->map_dma(memory, bytes, rights);
  if (!address)
    return explain(ENOMEM, function_->mapping_failure());
  pieces = {{*address, bytes}};
  mapping = *address;
  return 0;
}

void DeviceFunction::unmap(uint64_t mapping) {
  if (ProgramMemory* const own = backend_.program_memory())
    return own->unmap(mapping);
  const std::scoped_lock lock(mutex_);
  function_->unmap_dma(mapping);
}

uint32_t DeviceFunction::read_at(Place page, uint32_t offset) {
  const std::scoped_lock lock(mutex_);
  return function_->read32(page.bar, page.offset + offset);
}

// The read of the low half latches the high half for the next read.
uint64_t DeviceFunction::read64_at(Place page, uint32_t offset) {
  const std::scoped_lock lock(mutex_);
  const uint32_t low = function_->read32(page.bar, page.offset + offset);
  const uint32_t high = function_->read32(page.bar, page.offset + offset + sizeof low);
  return uint64_t{high} << 32 | low;
}

void DeviceFunction::write(uint32_t offset, uint32_t value) {
  const Place page = place(spec::RegionType::underlying_function);
  const std::scoped_lock lock(mutex_);
  function_->write32(page.bar, page.offset + offset, value);
}

void DeviceFunction::write64(uint32_t offset, uint64_t value) {
  const Place page = place(spec::RegionType::underlying_function);
  const std::scoped_lock lock(mutex_);
  function_->write64(page.bar, page.offset + offset, value);
}

void DeviceFunction::write_control(uint32_t offset, uint32_t value) {
  const Place page = place(spec::RegionType::control);
  const std::scoped_lock lock(mutex_);
  function_->write32(page.bar, page.offset + offset, value);
}

void DeviceFunction::write64_control(uint32_t offset, uint64_t value) {
  const Place page = place(spec::RegionType::control);
  const std::scoped_lock lock(mutex_);
  function_->write64(page.bar, page.offset + offset, value);
}

bool DeviceFunction::has_interrupts() {
  const std::scoped_lock lock(mutex_);
  return function_->facts().interrupt_vectors != 0;
}

int DeviceFunction::interrupt_event(unsigned vector) {
  const std::scoped_lock lock(mutex_);
  return function_->interrupt_event(vector);
}

} // namespace fpga_verbs::driver
