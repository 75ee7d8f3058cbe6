#include "addon/command_writer.h"

#include "spec/parameters.h"

#include <array>

namespace fpga_verbs::addon {

namespace {

struct Writer {
  std::shared_ptr<Allocation> memory;
  unsigned bar = 0;
};

bool fits(const Allocation& memory, uint32_t offset, uint32_t source_offset, uint32_t length) {
  constexpr uint32_t line = 64;
  constexpr uint32_t segment = spec::segment_bytes;
  const uint32_t read = (length + segment - 1) / segment * segment;
  return offset % line == 0 && source_offset % segment == 0 && length % 4 == 0 && length != 0 &&
         length <= spec::command_bytes && source_offset <= memory.memory.bytes() &&
         read <= memory.memory.bytes() - source_offset;
}

napi_value write(napi_env env, napi_callback_info info) {
  size_t count = 3;
  std::array<napi_value, 3> arguments{};
  void* data = nullptr;
  napi_get_cb_info(env, info, &count, arguments.data(), nullptr, &data);
  uint32_t offset = 0;
  uint32_t source_offset = 0;
  uint32_t length = 0;
  if (napi_get_value_uint32(env, arguments[0], &offset) != napi_ok ||
      napi_get_value_uint32(env, arguments[1], &source_offset) != napi_ok ||
      napi_get_value_uint32(env, arguments[2], &length) != napi_ok) {
    napi_throw_type_error(env, nullptr, "write takes three numbers: vcbOffset, sourceOffset, length");
    return nullptr;
  }
  const auto& writer = *static_cast<const Writer*>(data);
  const Allocation& memory = *writer.memory;
  board::BoardFunction* const function = memory.owner->function.get();
  if (!memory.mapped || function == nullptr) {
    napi_throw_error(env, "ERR_CLOSED", "the memory of the command writer is freed");
    return nullptr;
  }
  if (!fits(memory, offset, source_offset, length)) {
    napi_throw_range_error(
        env, nullptr,
        "a command is 4 to 320 B, a multiple of 4, at a multiple of 8 within the memory, and goes "
        "to a multiple of 64");
    return nullptr;
  }
  function->write_command(writer.bar, offset,
                          static_cast<const uint8_t*>(memory.memory.data()) + source_offset, length);
  return nullptr;
}

} // namespace

Napi::Object make_command_writer(Napi::Env env, const std::shared_ptr<Allocation>& memory, unsigned bar) {
  auto* const writer = new Writer{memory, bar};
  napi_value function = nullptr;
  const napi_status made = napi_create_function(env, "write", NAPI_AUTO_LENGTH, write, writer, &function);
  if (made != napi_ok ||
      napi_add_finalizer(
          env, function, writer, [](napi_env, void* data, void*) { delete static_cast<Writer*>(data); },
          nullptr, nullptr) != napi_ok) {
    delete writer;
    throw Napi::Error::New(env);
  }
  Napi::Object object = Napi::Object::New(env);
  object.Set("write", Napi::Value(env, function));
  return object;
}

} // namespace fpga_verbs::addon
