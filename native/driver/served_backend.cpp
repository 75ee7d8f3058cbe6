#include "driver/served_backend.h"

#include "driver/shared_memory.h"
#include "served/served_function.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

namespace fpga_verbs::driver {

namespace {

// A server gives a function to one client: all threads of the program use it in turn.
class SharedFunction final : public board::BoardFunction {
public:
  explicit SharedFunction(std::shared_ptr<served::ServedFunction> function)
      : function_(std::move(function)) {}

  const board::BoardFacts& facts() const override { return function_->facts(); }
  uint32_t read32(unsigned bar, uint64_t offset) override {
    const std::scoped_lock lock(mutex_);
    return function_->read32(bar, offset);
  }
  void write32(unsigned bar, uint64_t offset, uint32_t value) override {
    const std::scoped_lock lock(mutex_);
    function_->write32(bar, offset, value);
  }
  void write64(unsigned bar, uint64_t offset, uint64_t value) override {
    const std::scoped_lock lock(mutex_);
    function_->write64(bar, offset, value);
  }
  void write_command(unsigned bar, uint64_t offset, const void* source, size_t bytes) override {
    const std::scoped_lock lock(mutex_);
    function_->write_command(bar, offset, source, bytes);
  }
  void store_command(unsigned bar, uint64_t offset, const void* source, size_t bytes) override {
    const std::scoped_lock lock(mutex_);
    function_->store_command(bar, offset, source, bytes);
  }
  void fence() override {
    const std::scoped_lock lock(mutex_);
    function_->fence();
  }
  bool advance() override { return false; }
  board::DmaMemory allocate_dma(size_t bytes, uint64_t& address, std::string& failure) override {
    const std::scoped_lock lock(mutex_);
    return function_->allocate_dma(bytes, address, failure);
  }
  const char* foreign_memory_refusal() const override { return function_->foreign_memory_refusal(); }
  std::optional<uint64_t> map_dma(void*, size_t, board::DmaRights) override { return std::nullopt; }
  bool unmap_dma(uint64_t address) override {
    const std::scoped_lock lock(mutex_);
    return function_->unmap_dma(address);
  }
  int interrupt_event(unsigned vector) override {
    const std::scoped_lock lock(mutex_);
    return function_->interrupt_event(vector);
  }
  int removal_event() override { return function_->removal_event(); }

private:
  std::mutex mutex_;
  std::shared_ptr<served::ServedFunction> function_;
};

class ServedBackend final : public Backend {
public:
  explicit ServedBackend(std::shared_ptr<served::ServedFunction> function)
      : function_(std::make_shared<SharedFunction>(std::move(function))), memory_(*function_) {}

  std::shared_ptr<board::BoardFunction> open(std::string&) override { return function_; }
  bool advance() override { return false; }
  short removal_condition() const override { return POLLRDHUP; } // answers come there too
  ProgramMemory* program_memory() override { return &memory_; }

private:
  std::shared_ptr<SharedFunction> function_;
  SharedMemory memory_;
};

int error_of(std::string_view code) {
  static const std::map<std::string_view, int> errors{
      {"EBUSY", EBUSY}, {"EINVAL", EINVAL}, {"ENOMEM", ENOMEM}, {"ETIMEDOUT", ETIMEDOUT}};
  const auto found = errors.find(code);
  return found == errors.end() ? ENODEV : found->second;
}

} // namespace

std::unique_ptr<Backend> open_served(const std::string& place, int& error, std::string& failure) {
  constexpr size_t most_digits = 3;
  std::string path = place;
  uint32_t number = served::any_function;
  error = EINVAL;
  const size_t slash = place.rfind('/');
  const std::string_view last = std::string_view(place).substr(slash == std::string::npos ? 0 : slash + 1);
  if (slash != std::string::npos && !last.empty() &&
      std::ranges::all_of(last, [](char each) { return each >= '0' && each <= '9'; })) {
    if (last.size() > most_digits) {
      failure = "underlying function \"" + std::string(last) + "\"; expected: a whole number";
      return nullptr;
    }
    std::from_chars(last.data(), last.data() + last.size(), number);
    path.resize(slash);
  }
  failure = "\"" + place + "\" is no path; expected: serve:PATH/UF, or hca run, which knows boards by name";
  if (path.find('/') == std::string::npos)
    return nullptr;
  served::OpenFailure refusal;
  std::shared_ptr<served::ServedFunction> function = served::ServedFunction::open(path, number, refusal);
  if (function == nullptr) {
    error = error_of(refusal.code);
    failure = refusal.text;
    return nullptr;
  }
  error = 0;
  return std::make_unique<ServedBackend>(std::move(function));
}

} // namespace fpga_verbs::driver
