#include "addon/command_writer.h"

#include "addon/addon_data.h"

#include <array>
#include <utility>

namespace fpga_verbs::addon {

namespace {

struct Writer {
  std::shared_ptr<DirectCalls> calls;
  uint32_t number = 0;
};

napi_value write(napi_env env, napi_callback_info info) {
  size_t count = 3;
  std::array<napi_value, 3> arguments{};
  void* data = nullptr;
  napi_get_cb_info(env, info, &count, arguments.data(), nullptr, &data);
  std::array<uint32_t, 3> numbers{};
  for (size_t at = 0; at < numbers.size(); ++at)
    if (napi_get_value_uint32(env, arguments[at], &numbers[at]) != napi_ok) {
      napi_throw_type_error(env, nullptr, "write takes three numbers: vcbOffset, sourceOffset, length");
      return nullptr;
    }
  const auto& [calls, number] = *static_cast<const Writer*>(data);
  calls->write_command(env, {number, numbers[0], numbers[1], numbers[2]});
  return nullptr;
}

} // namespace

Napi::Object make_command_writer(Napi::Env env, const std::shared_ptr<Allocation>& memory, unsigned bar) {
  const AddonData& data = AddonData::of(env);
  auto* const writer = new Writer{data.calls, data.calls->add(DirectCalls::Writer{memory, bar})};
  const auto forget = [](napi_env, void* given, void*) {
    const std::unique_ptr<Writer> forgotten(static_cast<Writer*>(given));
    forgotten->calls->remove_writer(forgotten->number);
  };
  napi_value function = nullptr;
  const uint32_t number = writer->number;
  if (napi_create_function(env, "write", NAPI_AUTO_LENGTH, write, writer, &function) != napi_ok ||
      napi_add_finalizer(env, function, writer, forget, nullptr, nullptr) != napi_ok) {
    forget(env, writer, nullptr);
    throw Napi::Error::New(env);
  }
  Napi::Object object = Napi::Object::New(env);
  object.Set("write", Napi::Value(env, function));
  object.Set("number", number);
  object.Set("calls", data.calls_object.Value());
  return object;
}

} // namespace fpga_verbs::addon
