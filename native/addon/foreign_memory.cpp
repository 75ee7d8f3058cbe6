#include "addon/foreign_memory.h"

#include <cstdint>

namespace fpga_verbs::addon {

ForeignMemory foreign_memory(const Napi::Value& value) {
  const Napi::Env env = value.Env();
  ForeignMemory memory;
  if (value.IsArrayBuffer()) {
    memory.buffer = value.As<Napi::Object>();
    memory.data = value.As<Napi::ArrayBuffer>().Data();
    memory.bytes = value.As<Napi::ArrayBuffer>().ByteLength();
  } else if (value.IsTypedArray() || value.IsDataView()) {
    // Asked by name: the view may lie on a SharedArrayBuffer, which N-API does not know.
    const Napi::Value buffer = value.As<Napi::Object>().Get("buffer");
    if (!buffer.IsArrayBuffer())
      throw Napi::TypeError::New(
          env, "the view is on a SharedArrayBuffer, which cannot be mapped; allocateMemory gives "
               "memory that can");
    memory.buffer = buffer.As<Napi::Object>();
    const size_t offset = value.IsTypedArray() ? value.As<Napi::TypedArray>().ByteOffset()
                                               : value.As<Napi::DataView>().ByteOffset();
    memory.data = static_cast<uint8_t*>(buffer.As<Napi::ArrayBuffer>().Data()) + offset;
    memory.bytes = value.IsTypedArray() ? value.As<Napi::TypedArray>().ByteLength()
                                        : value.As<Napi::DataView>().ByteLength();
  } else {
    throw Napi::TypeError::New(env, "memory must be an ArrayBuffer or a view on one");
  }
  if (memory.buffer.Get("resizable").ToBoolean())
    throw Napi::TypeError::New(env, "the ArrayBuffer is resizable: its memory may go while it is mapped");
  if (memory.bytes == 0)
    throw Napi::TypeError::New(env, "the memory is empty or detached");
  return memory;
}

} // namespace fpga_verbs::addon
