#pragma once

#include "test/device_links.h"
#include "test/hosted_port.h"

#include <napi.h>

#include <cstring>
#include <optional>
#include <string>

namespace fpga_verbs::test {

// Methods of a port that access any link and block of its device by name, which is the first argument.

template <class Use> void with_named_link(const Napi::CallbackInfo& info, hca::HcaBlocks& blocks, Use use) {
  const std::string name = info[0].As<Napi::String>();
  if (!with_link(blocks, name, use))
    throw Napi::RangeError::New(info.Env(), "the device has no link " + name);
}

inline void push_unit(const Napi::CallbackInfo& info, hca::HcaBlocks& blocks) {
  with_named_link(info, blocks, [&]<class Unit>(hca::DataLink<Unit>& link) {
    if (!link.has_credit())
      throw Napi::RangeError::New(info.Env(), "the link has no credit");
    link.push(format_of<Unit>(info[1]));
  });
}

// Bytes of the first data unit; null: the link is empty.
inline Napi::Value pop_unit(const Napi::CallbackInfo& info, hca::HcaBlocks& blocks) {
  Napi::Value value = info.Env().Null();
  with_named_link(info, blocks, [&]<class Unit>(hca::DataLink<Unit>& link) {
    if (link.empty())
      return;
    auto bytes = Napi::Uint8Array::New(info.Env(), Unit::bytes);
    std::memcpy(bytes.Data(), &link.front(), Unit::bytes);
    link.pop();
    value = bytes;
  });
  return value;
}

inline Napi::Value link_credits(const Napi::CallbackInfo& info, hca::HcaBlocks& blocks) {
  double credits = 0;
  with_named_link(info, blocks, [&](const auto& link) { credits = static_cast<double>(link.credits()); });
  return Napi::Number::New(info.Env(), credits);
}

inline NamedBlock named_block(const Napi::CallbackInfo& info, hca::HcaBlocks& blocks) {
  const std::string name = info[0].As<Napi::String>();
  const std::optional<NamedBlock> found = block_of(blocks, name);
  if (!found)
    throw Napi::RangeError::New(info.Env(), "the device has no block " + name + " that steps");
  return *found;
}

// As the device does: lets a block step if it is awake, and puts it to sleep if it has nothing to do. Returns
// false if it sleeps.
inline bool take_turn(hca::HcaBlocks& blocks, const NamedBlock& named) {
  if (!blocks.ready.is_awake(named.number))
    return false;
  blocks.ready.sleep(named.number);
  if (named.block.step())
    blocks.ready.wake(named.number);
  return true;
}

} // namespace fpga_verbs::test
