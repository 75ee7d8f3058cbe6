#pragma once

#include "addon/open_function.h"
#include "board/dma_memory.h"

#include <napi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace fpga_verbs::addon {

// Memory of an open function, given back when it is freed or when neither its object nor its buffer is left.
struct Allocation {
  std::shared_ptr<OpenFunction> owner;
  board::DmaMemory memory;
  uint64_t address = 0;
  bool mapped = false;

  ~Allocation() { unmap(); }
  void unmap();
};

// An Error with the code ENOMEM: `failure`, for so many bytes.
Napi::Error out_of(Napi::Env env, const std::string& failure, size_t bytes);

// DmaMemory in JavaScript; see lib/board/addon.ts.
class DmaMemory final : public Napi::ObjectWrap<DmaMemory>, public Child {
public:
  static Napi::Function define(Napi::Env env);

  // Called with an Allocation in an External.
  explicit DmaMemory(const Napi::CallbackInfo& info);
  ~DmaMemory() override;

  static Napi::Value allocate(Napi::Env env, const std::shared_ptr<OpenFunction>& owner, size_t bytes);

  // TypeError: `value` is none.
  static DmaMemory& of(const Napi::Value& value);

  const std::shared_ptr<Allocation>& allocation() const { return allocation_; }
  void close() override;

private:
  Napi::Value buffer(const Napi::CallbackInfo& info);
  Napi::Value address_low(const Napi::CallbackInfo& info);
  Napi::Value address_high(const Napi::CallbackInfo& info);
  Napi::Value address(const Napi::CallbackInfo& info);
  void free(const Napi::CallbackInfo& info);

  std::shared_ptr<Allocation> allocation_;
  Napi::Reference<Napi::ArrayBuffer> buffer_;
};

} // namespace fpga_verbs::addon
