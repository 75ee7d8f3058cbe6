#include "test/pci_port.h"

#include "addon/arguments.h"
#include "pci/address_allocator.h"
#include "pci/command_store.h"
#include "pci/dma_guard.h"

#include <atomic>
#include <csignal>
#include <fcntl.h>
#include <memory>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace fpga_verbs::test {

namespace {

// Stores a command in the way of this name. Returns false if this processor does not have it.
Napi::Value store_command(const Napi::CallbackInfo& info) {
  const std::string name = info[0].ToString().Utf8Value();
  auto destination = info[1].As<Napi::Uint8Array>();
  const auto source = info[2].As<Napi::Uint8Array>();
  for (const pci::CommandStore& each : pci::command_stores()) {
    if (each.name != name)
      continue;
    each.store(destination.Data(), source.Data(), source.ByteLength());
    return Napi::Boolean::New(info.Env(), true);
  }
  return Napi::Boolean::New(info.Env(), false);
}

Napi::Value address_in_line(const Napi::CallbackInfo& info) {
  constexpr uintptr_t line = 64;
  const auto address = reinterpret_cast<uintptr_t>(info[0].As<Napi::ArrayBuffer>().Data());
  return Napi::Number::New(info.Env(), static_cast<double>(address % line));
}

class AddressAllocatorPort final : public Napi::ObjectWrap<AddressAllocatorPort> {
public:
  static Napi::Function define(Napi::Env env) {
    return DefineClass(env, "AddressAllocatorPort",
                       {
                           InstanceMethod<&AddressAllocatorPort::take>("take"),
                           InstanceMethod<&AddressAllocatorPort::take_any>("takeAny"),
                           InstanceMethod<&AddressAllocatorPort::give_back>("giveBack"),
                       });
  }

  // ([[first, last], …], pageBytes)
  explicit AddressAllocatorPort(const Napi::CallbackInfo& info)
      : ObjectWrap(info), allocator_(ranges(info[0].As<Napi::Array>()), number(info[1])) {}

private:
  static uint64_t number(const Napi::Value& value) { return addon::big_number(value, "number"); }

  static std::vector<pci::AddressRange> ranges(const Napi::Array& list) {
    std::vector<pci::AddressRange> result;
    for (uint32_t i = 0; i < list.Length(); ++i) {
      const auto pair = list.Get(i).As<Napi::Array>();
      result.push_back({number(pair.Get(0U)), number(pair.Get(1U))});
    }
    return result;
  }

  Napi::Value take(const Napi::CallbackInfo& info) {
    return Napi::Boolean::New(info.Env(), allocator_.take(number(info[0]), number(info[1])));
  }
  Napi::Value take_any(const Napi::CallbackInfo& info) {
    const auto address = allocator_.take_any(number(info[0]));
    return address ? Napi::Value(Napi::BigInt::New(info.Env(), *address)) : info.Env().Undefined();
  }
  Napi::Value give_back(const Napi::CallbackInfo& info) {
    return Napi::BigInt::New(info.Env(), allocator_.give_back(number(info[0])));
  }

  pci::AddressAllocator allocator_;
};

// Another library of the process handles a SIGBUS: it maps a page of zeros there, and counts.
std::atomic<int> bus_errors = 0;

void count_bus_error(int, siginfo_t* signal, void*) {
  const auto address = reinterpret_cast<uintptr_t>(signal->si_addr);
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  mmap(reinterpret_cast<void*>(address - address % page), page, PROT_READ | PROT_WRITE,
       MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, -1, 0);
  ++bus_errors;
}

void handle_bus_errors(const Napi::CallbackInfo&) {
  struct sigaction action{};
  action.sa_sigaction = count_bus_error;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &action, nullptr);
}

// Reads behind the end of a file, which causes a SIGBUS outside of all BARs. Returns how many were handled so
// far.
Napi::Value read_behind_file(const Napi::CallbackInfo& info) {
  const int file = memfd_create("empty", MFD_CLOEXEC);
  void* const memory = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file, 0);
  close(file);
  const volatile uint8_t byte = *static_cast<const volatile uint8_t*>(memory);
  static_cast<void>(byte);
  munmap(memory, 4096);
  return Napi::Number::New(info.Env(), bus_errors.load());
}

// (configuration, memory): paths of files. Starts the guard of a function's DMA, which lives as long as the
// process.
void start_dma_guard(const Napi::CallbackInfo& info) {
  const auto file = [](const Napi::Value& path) {
    return open(path.As<Napi::String>().Utf8Value().c_str(), O_RDWR | O_CLOEXEC);
  };
  std::string failure;
  std::unique_ptr<pci::DmaGuard> guard = pci::DmaGuard::start({file(info[0]), file(info[1]), -1}, failure);
  if (guard == nullptr)
    throw Napi::Error::New(info.Env(), failure);
  static_cast<void>(guard.release());
}

} // namespace

void define_pci_port(Napi::Env env, Napi::Object exports) {
  exports.Set("storeCommand", Napi::Function::New<store_command>(env, "storeCommand"));
  exports.Set("addressInLine", Napi::Function::New<address_in_line>(env, "addressInLine"));
  exports.Set("handleBusErrors", Napi::Function::New<handle_bus_errors>(env, "handleBusErrors"));
  exports.Set("readBehindFile", Napi::Function::New<read_behind_file>(env, "readBehindFile"));
  exports.Set("startDmaGuard", Napi::Function::New<start_dma_guard>(env, "startDmaGuard"));
  exports.Set("AddressAllocatorPort", AddressAllocatorPort::define(env));
}

} // namespace fpga_verbs::test
