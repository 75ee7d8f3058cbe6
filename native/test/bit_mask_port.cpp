#include "test/bit_mask_port.h"

namespace fpga_verbs::test {
namespace {

size_t number(const Napi::CallbackInfo& info, size_t argument) {
  return info[argument].As<Napi::Number>().Uint32Value();
}

Napi::Value bit_value(Napi::Env env, size_t bit) {
  return bit == hca::BitMask::none ? env.Null()
                                   : Napi::Value(Napi::Number::New(env, static_cast<double>(bit)));
}

} // namespace

Napi::Function BitMaskPort::define(Napi::Env env) {
  return DefineClass(env, "BitMaskPort",
                     {
                         InstanceMethod<&BitMaskPort::any>("any"),
                         InstanceMethod<&BitMaskPort::test>("test"),
                         InstanceMethod<&BitMaskPort::set>("set"),
                         InstanceMethod<&BitMaskPort::clear>("clear"),
                         InstanceMethod<&BitMaskPort::find_first>("findFirst"),
                         InstanceMethod<&BitMaskPort::find_next>("findNext"),
                         InstanceMethod<&BitMaskPort::take_first>("takeFirst"),
                     });
}

// new BitMaskPort(size, value)
BitMaskPort::BitMaskPort(const Napi::CallbackInfo& info)
    : Napi::ObjectWrap<BitMaskPort>(info), mask_(number(info, 0), info[1].As<Napi::Boolean>()) {}

Napi::Value BitMaskPort::any(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), mask_.any());
}

Napi::Value BitMaskPort::test(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), mask_.test(number(info, 0)));
}

void BitMaskPort::set(const Napi::CallbackInfo& info) { mask_.set(number(info, 0)); }

void BitMaskPort::clear(const Napi::CallbackInfo& info) { mask_.clear(number(info, 0)); }

Napi::Value BitMaskPort::find_first(const Napi::CallbackInfo& info) {
  return bit_value(info.Env(), mask_.find_first());
}

Napi::Value BitMaskPort::find_next(const Napi::CallbackInfo& info) {
  return bit_value(info.Env(), mask_.find_next(number(info, 0)));
}

Napi::Value BitMaskPort::take_first(const Napi::CallbackInfo& info) {
  return bit_value(info.Env(), mask_.any() ? mask_.take_first() : hca::BitMask::none);
}

} // namespace fpga_verbs::test
