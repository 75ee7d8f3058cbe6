#include "test/pci_port.h"

#include "addon/arguments.h"
#include "pci/address_allocator.h"
#include "pci/command_store.h"

#include <memory>
#include <string>
#include <vector>

namespace fpga_verbs::test {

namespace {

// Stores a command by the way of this name; false: this processor does not have it.
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

} // namespace

void define_pci_port(Napi::Env env, Napi::Object exports) {
  exports.Set("storeCommand", Napi::Function::New<store_command>(env, "storeCommand"));
  exports.Set("addressInLine", Napi::Function::New<address_in_line>(env, "addressInLine"));
  exports.Set("AddressAllocatorPort", AddressAllocatorPort::define(env));
}

} // namespace fpga_verbs::test
