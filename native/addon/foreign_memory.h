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

// TypeError: it is neither, or empty, detached or resizable, or its ArrayBuffer is shared.
ForeignMemory foreign_memory(const Napi::Value& value);

} // namespace fpga_verbs::addon
