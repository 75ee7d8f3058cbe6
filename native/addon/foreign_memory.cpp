#include "addon/foreign_memory.h"

#include "addon/addon_data.h"

#include <cstdint>

namespace fpga_verbs::addon {

namespace {

// The memory of a view as the engine knows it. The caller can change the properties of the view.
ForeignMemory memory_of_view(const Napi::Value& value) {
  const napi_env env = value.Env();
  ForeignMemory memory;
  napi_value buffer = nullptr;
  napi_status told = napi_ok;
  if (value.IsTypedArray()) {
    napi_typedarray_type type{};
    size_t elements = 0;
    told = napi_get_typedarray_info(env, value, &type, &elements, &memory.data, &buffer, nullptr);
    memory.bytes = value.As<Napi::TypedArray>().ByteLength();
  } else {
    told = napi_get_dataview_info(env, value, &memory.bytes, &memory.data, &buffer, nullptr);
  }
  if (told != napi_ok)
    throw Napi::TypeError::New(env, "the view is not on the memory of its ArrayBuffer any more");
  const Napi::Value under(env, buffer);
  if (!under.IsArrayBuffer()) // N-API does not know a SharedArrayBuffer
    throw Napi::TypeError::New(
        env, "the view is on a SharedArrayBuffer, which cannot be mapped; allocateMemory gives "
             "memory that can");
  memory.buffer = under.As<Napi::Object>();
  return memory;
}

} // namespace

Napi::FunctionReference resizable_getter(Napi::Env env) {
  const auto object = env.Global().Get("Object").As<Napi::Object>();
  const auto prototype = env.Global().Get("ArrayBuffer").As<Napi::Object>().Get("prototype");
  const Napi::Value property = object.Get("getOwnPropertyDescriptor")
                                   .As<Napi::Function>()
                                   .Call({prototype, Napi::String::New(env, "resizable")});
  if (!property.IsObject()) // an engine without resizable ones
    return {};
  return Napi::Persistent(property.As<Napi::Object>().Get("get").As<Napi::Function>());
}

ForeignMemory foreign_memory(const Napi::Value& value) {
  const Napi::Env env = value.Env();
  ForeignMemory memory;
  if (value.IsArrayBuffer()) {
    memory.buffer = value.As<Napi::Object>();
    memory.data = value.As<Napi::ArrayBuffer>().Data();
    memory.bytes = value.As<Napi::ArrayBuffer>().ByteLength();
  } else if (value.IsTypedArray() || value.IsDataView()) {
    memory = memory_of_view(value);
  } else {
    throw Napi::TypeError::New(env, "memory must be an ArrayBuffer or a view on one");
  }
  const Napi::FunctionReference& resizable = AddonData::of(env).resizable;
  if (!resizable.IsEmpty() && resizable.Call(memory.buffer, {}).ToBoolean())
    throw Napi::TypeError::New(env, "the ArrayBuffer is resizable: its memory may go while it is mapped");
  if (memory.bytes == 0)
    throw Napi::TypeError::New(env, "the memory is empty or detached");
  return memory;
}

} // namespace fpga_verbs::addon
