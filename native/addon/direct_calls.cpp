#include "addon/direct_calls.h"

#include "spec/parameters.h"

#include <array>
#include <tuple>

namespace fpga_verbs::addon {

namespace {

bool fits(const Allocation& memory, uint32_t offset, uint32_t source_offset, uint32_t length) {
  constexpr uint32_t line = 64;
  constexpr uint32_t segment = spec::segment_bytes;
  const uint32_t read = (length + segment - 1) / segment * segment;
  return offset % line == 0 && source_offset % segment == 0 && length % 4 == 0 && length != 0 &&
         length <= spec::command_bytes && source_offset <= memory.memory.bytes() &&
         read <= memory.memory.bytes() - source_offset;
}

DirectCalls& of(napi_env env, napi_callback_info info) {
  void* data = nullptr;
  napi_get_cb_info(env, info, nullptr, nullptr, nullptr, &data);
  return **static_cast<std::shared_ptr<DirectCalls>*>(data);
}

napi_value write_command(napi_env env, napi_callback_info info) {
  of(env, info).write_command(env);
  return nullptr;
}

napi_value advance(napi_env env, napi_callback_info info) {
  of(env, info).advance(env);
  return nullptr;
}

void set_function(Napi::Object object, const char* name, napi_callback function,
                  const std::shared_ptr<DirectCalls>& kept) {
  auto* const data = new std::shared_ptr(kept);
  napi_value made = nullptr;
  const auto forget = [](napi_env, void* given, void*) {
    delete static_cast<std::shared_ptr<DirectCalls>*>(given);
  };
  const napi_env env = object.Env();
  if (napi_create_function(env, name, NAPI_AUTO_LENGTH, function, data, &made) != napi_ok ||
      napi_add_finalizer(env, made, data, forget, nullptr, nullptr) != napi_ok) {
    delete data;
    throw Napi::Error::New(env);
  }
  object.Set(name, Napi::Value(env, made));
}

} // namespace

Napi::Object DirectCalls::make(Napi::Env env, const std::shared_ptr<DirectCalls>& kept) {
  Napi::Uint32Array array = Napi::Uint32Array::New(env, std::tuple_size_v<Words>);
  kept->words_ = array.Data();
  Napi::Object object = Napi::Object::New(env);
  object.Set("words", array);
  set_function(object, "writeCommand", addon::write_command, kept);
  set_function(object, "advance", addon::advance, kept);
  return object;
}

void DirectCalls::write_command(napi_env env, const Words& words) const {
  const auto [number, offset, source_offset, length] = words;
  if (number >= writers_.size() || is_free(writers_[number]) || !writers_[number].memory->mapped ||
      writers_[number].memory->owner->function == nullptr) {
    napi_throw_error(env, "ERR_CLOSED", "the memory of the command writer is freed");
    return;
  }
  const auto& [memory, bar] = writers_[number];
  if (!fits(*memory, offset, source_offset, length)) {
    napi_throw_range_error(
        env, nullptr,
        "a command is 4 to 320 B, a multiple of 4, at a multiple of 8 within the memory, and goes "
        "to a multiple of 64");
    return;
  }
  memory->owner->function->write_command(
      bar, offset, static_cast<const uint8_t*>(memory->memory.data()) + source_offset, length);
}

void DirectCalls::advance(napi_env env) {
  const uint32_t number = words_[0];
  if (number >= functions_.size() || is_free(functions_[number]) || functions_[number]->function == nullptr) {
    napi_throw_error(env, "ERR_CLOSED", "the function of the board is closed");
    return;
  }
  words_[0] = functions_[number]->function->advance() ? 1 : 0;
}

} // namespace fpga_verbs::addon
