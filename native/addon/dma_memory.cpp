#include "addon/dma_memory.h"

#include "addon/addon_data.h"

#include <utility>

namespace fpga_verbs::addon {

namespace {

constexpr napi_type_tag type_tag = {0x66706761'2d766572, 0x62732d64'6d616d65};

} // namespace

Napi::Error out_of(Napi::Env env, const std::string& failure, size_t bytes) {
  const Napi::Error error = Napi::Error::New(env, failure + " for " + std::to_string(bytes) + " B");
  error.Value().Set("code", Napi::String::New(env, "ENOMEM"));
  return error;
}

void Allocation::unmap() {
  if (std::exchange(mapped, false) && owner->function != nullptr)
    owner->function->unmap_dma(address);
}

Napi::Function DmaMemory::define(Napi::Env env) {
  return DefineClass(env, "DmaMemory",
                     {
                         InstanceAccessor<&DmaMemory::buffer>("buffer"),
                         InstanceAccessor<&DmaMemory::address_low>("addressLow"),
                         InstanceAccessor<&DmaMemory::address_high>("addressHigh"),
                         InstanceAccessor<&DmaMemory::address>("address"),
                         InstanceMethod<&DmaMemory::free>("free"),
                     });
}

Napi::Value DmaMemory::allocate(Napi::Env env, const std::shared_ptr<OpenFunction>& owner, size_t bytes) {
  auto allocation = std::make_shared<Allocation>();
  allocation->owner = owner;
  std::string failure;
  allocation->memory = owner->function->allocate_dma(bytes, allocation->address, failure);
  if (!allocation->memory)
    throw out_of(env, failure, bytes);
  allocation->mapped = true;
  return AddonData::make(&AddonData::dma_memory, env, allocation);
}

DmaMemory::DmaMemory(const Napi::CallbackInfo& info) : ObjectWrap(info) {
  allocation_ = AddonData::given<std::shared_ptr<Allocation>>(info.Env(), "DmaMemory", "allocateMemory");
  Value().TypeTag(&type_tag);
  // The buffer keeps the memory alive, as the object does.
  auto* const kept = new std::shared_ptr<Allocation>(allocation_);
  buffer_ = Napi::Persistent(Napi::ArrayBuffer::New(
      info.Env(), allocation_->memory.data(), allocation_->memory.bytes(),
      [](Napi::Env, void*, std::shared_ptr<Allocation>* allocation) { delete allocation; }, kept));
  allocation_->owner->children.insert(this);
}

DmaMemory::~DmaMemory() { allocation_->owner->children.erase(this); }

// Recognized by a tag that JavaScript cannot set, because JavaScript can change the prototype.
DmaMemory& DmaMemory::of(const Napi::Value& value) {
  if (!value.IsObject() || !value.As<Napi::Object>().CheckTypeTag(&type_tag))
    throw Napi::TypeError::New(value.Env(), "memory must be a DmaMemory of allocateMemory");
  return *Unwrap(value.As<Napi::Object>());
}

// Detaches, so that a late access throws instead of reaching freed memory. A buffer whose memory moved to
// another one (ECMAScript 2024, ArrayBuffer.prototype.transfer) leaves it to that one.
void DmaMemory::close() {
  if (!allocation_->mapped)
    return;
  Napi::HandleScope scope(Env());
  allocation_->unmap();
  if (Napi::ArrayBuffer buffer = buffer_.Value(); !buffer.IsDetached()) {
    buffer.Detach();
    allocation_->memory = {};
  }
  allocation_->owner->children.erase(this);
}

Napi::Value DmaMemory::buffer(const Napi::CallbackInfo&) { return buffer_.Value(); }

Napi::Value DmaMemory::address_low(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<uint32_t>(allocation_->address));
}

Napi::Value DmaMemory::address_high(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<uint32_t>(allocation_->address >> 32));
}

Napi::Value DmaMemory::address(const Napi::CallbackInfo& info) {
  return Napi::BigInt::New(info.Env(), allocation_->address);
}

void DmaMemory::free(const Napi::CallbackInfo&) { close(); }

} // namespace fpga_verbs::addon
