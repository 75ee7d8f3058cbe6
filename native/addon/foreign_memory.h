#pragma once

#include <napi.h>

#include <cstddef>

namespace fpga_verbs::addon {

// The memory of an ArrayBuffer or of a view on one.
struct ForeignMemory {
  Napi::Object buffer;
  void* data = nullptr;
  size_t bytes = 0;
};

// As the engine knows it, whatever properties the object has; runs no code of the caller. TypeError: it is
// neither, or empty, detached or resizable, or its ArrayBuffer is shared.
ForeignMemory foreign_memory(const Napi::Value& value);

// The getter of ArrayBuffer.prototype.resizable, for AddonData: N-API has no call for it. Empty: there is
// none.
Napi::FunctionReference resizable_getter(Napi::Env env);

} // namespace fpga_verbs::addon
