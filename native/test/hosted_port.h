#pragma once

#include "test/test_host.h"

#include <napi.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace fpga_verbs::test {

// Arguments of a port's methods, as vitest passes them.
inline uint32_t number(const Napi::CallbackInfo& info, size_t index) {
  return info[index].As<Napi::Number>().Uint32Value();
}
inline uint64_t big_number(const Napi::Value& value) {
  bool lossless = false;
  return value.As<Napi::BigInt>().Uint64Value(&lossless);
}

// A data unit, mailbox or queue entry from its bytes.
template <class Format> Format format_of(const Napi::Value& value) {
  const auto bytes = value.As<Napi::Uint8Array>();
  if (bytes.ByteLength() != Format::bytes)
    throw Napi::RangeError::New(value.Env(), std::to_string(bytes.ByteLength()) +
                                                 " B were given; the format has " +
                                                 std::to_string(Format::bytes));
  Format format;
  std::memcpy(&format, bytes.Data(), Format::bytes);
  return format;
}

// A port on a TestHost and a TestClock, with the methods that access them. The first argument of its
// constructor is an object with `memoryBytes`.
template <class Port> class HostedPort : public Napi::ObjectWrap<Port> {
public:
  explicit HostedPort(const Napi::CallbackInfo& info)
      : Napi::ObjectWrap<Port>(info),
        host_(info[0].As<Napi::Object>().Get("memoryBytes").As<Napi::Number>().Uint32Value()) {}

protected:
  using Wrap = Napi::ObjectWrap<Port>;
  using Descriptors = std::vector<typename Wrap::PropertyDescriptor>;

  // `methods`, and the methods of the host.
  static Descriptors with_host_methods(Descriptors methods) {
    methods.push_back(Wrap::InstanceMethod("setTime", &Port::set_time));
    methods.push_back(Wrap::InstanceMethod("interrupts", &Port::interrupts));
    methods.push_back(Wrap::InstanceMethod("accessesOf", &Port::accesses_of));
    methods.push_back(Wrap::InstanceMethod("setFaults", &Port::set_faults));
    methods.push_back(Wrap::InstanceMethod("faultAccess", &Port::fault_access));
    methods.push_back(Wrap::InstanceAccessor("memory", &Port::memory, nullptr));
    methods.push_back(Wrap::InstanceAccessor("base", &Port::base, nullptr));
    return methods;
  }

  void set_time(const Napi::CallbackInfo& info) { clock_.set(big_number(info[0])); }

  Napi::Value interrupts(const Napi::CallbackInfo& info) {
    return Napi::Number::New(info.Env(),
                             static_cast<double>(host_.interrupts(number(info, 0), number(info, 1))));
  }

  Napi::Value accesses_of(const Napi::CallbackInfo& info) {
    return Napi::Number::New(info.Env(), static_cast<double>(host_.accesses_of(number(info, 0))));
  }

  void set_faults(const Napi::CallbackInfo& info) {
    const auto ranges = info[0].As<Napi::Array>();
    std::vector<TestHost::FaultRange> faults;
    for (uint32_t index = 0; index < ranges.Length(); ++index) {
      const auto range = ranges.Get(index).As<Napi::Object>();
      faults.push_back(
          {.underlying_function = range.Get("underlyingFunction").As<Napi::Number>().Uint32Value(),
           .begin = big_number(range.Get("begin")),
           .end = big_number(range.Get("end"))});
    }
    host_.set_faults(std::move(faults));
  }

  void fault_access(const Napi::CallbackInfo& info) { host_.fault_access(number(info, 0)); }

  // The host's memory; it lives as long as the port.
  Napi::Value memory(const Napi::CallbackInfo& info) {
    if (memory_.IsEmpty())
      memory_ = Napi::Persistent(Napi::ArrayBuffer::New(info.Env(), host_.memory(), host_.bytes()));
    return memory_.Value();
  }

  Napi::Value base(const Napi::CallbackInfo& info) { return Napi::BigInt::New(info.Env(), TestHost::base); }

  TestHost host_;
  TestClock clock_;

private:
  Napi::Reference<Napi::ArrayBuffer> memory_;
};

} // namespace fpga_verbs::test
